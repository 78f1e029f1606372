//! Reads one part of a model with the types that its kind declares.
//!
//! Every method takes the key alone: type, dimension and default stand in the kind's table. Asking for a
//! key that the table does not have, or as another type, is a fault of the program and panics; whatever
//! the user wrote gives an error at its place.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use nalgebra::{DMatrix, Isometry3, Matrix3, UnitQuaternion, Vector3};

use super::document::{Part, repetitions};
use super::error::{Mistake, ModelError, ModelErrors};
use super::fields::{Field, Fields};
use super::function::{
    Characteristic, SignalLaw, read_characteristic, read_curve, read_law, read_signal, read_signals,
    read_three,
};
use super::kind::{COMMON_KEYS, Key, Need, Occurrence, REPETITION_KEYS, ValueKind};
use super::law::Law;
use super::name::{self, GROUND};
use super::orientation;
use super::quantity::Dimension;
use super::scope::{Context, GivenParameter, given_parameters};
use super::source::{Place, SourceFile, Text};
use super::table::Table;
use super::value::{self, Content, Entries, Value};

/// The name of a part that another one refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Full name, with the prefix of an included file; perhaps with a marker after a dot.
    pub name: String,
    /// Where it is written.
    pub place: Place,
}

impl Reference {
    /// Whether this is the inertial frame itself.
    pub fn is_ground(&self) -> bool {
        self.name == GROUND
    }

    /// The error that nothing has this name, with the nearest of the names that would do.
    pub fn unknown<'n>(&self, what: &'static str, names: impl IntoIterator<Item = &'n str>) -> ModelError {
        let mistake = Mistake::UnknownName { what, name: self.name.clone() };
        ModelError::new(mistake, self.place.clone()).with_nearest(&self.name, names)
    }
}

/// A number or a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberOrWord {
    /// A number in base units.
    Number(f64),
    /// One of the words that the key allows.
    Word(&'static str),
}

/// Typed access to the keys of one part, or of a table inside it.
#[derive(Debug)]
pub struct PartReader<'a> {
    entries: &'a Entries,
    context: Context,
    description: String,
    keys: &'static [Key],
    used: RefCell<Vec<&'static str>>,
}

impl<'a> PartReader<'a> {
    /// Reader of a part; refuses keys that its kind does not have.
    pub fn new(part: &'a Part) -> Result<Self, ModelErrors> {
        let kind = part.kind();
        let description = match kind.occurrence {
            Occurrence::Many | Occurrence::ManyOn(_) => format!("the {} `{}`", kind.name, part.name()),
            Occurrence::Once => format!("`[{}]`", kind.name),
        };
        let common = if kind.occurrence != Occurrence::Once { COMMON_KEYS } else { &[] };
        Self::from_table(part.entries(), part.context().clone(), description, kind.keys, common)
    }

    fn from_table(
        entries: &'a Entries,
        context: Context,
        description: String,
        keys: &'static [Key],
        common: &'static [Key],
    ) -> Result<Self, ModelErrors> {
        let valid: Vec<&str> = keys.iter().chain(common).map(|key| key.name).collect();
        Fields { entries, context: &context, part: &description }.check_keys(&valid)?;
        let used = RefCell::new(common.iter().map(|key| key.name).collect());
        Ok(Self { entries, context, description, keys, used })
    }

    /// Words for the part in messages, such as "the body `top`".
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The header of the part in the file.
    pub fn place(&self) -> &Place {
        self.entries.place()
    }

    /// The place of the value of a key, or of the header if the key is not given.
    pub fn place_of(&self, key: &str) -> &Place {
        self.entries.get(key).map_or(self.entries.place(), |entry| &entry.value.place)
    }

    /// Whether the user wrote the key.
    pub fn has(&self, key: &str) -> bool {
        self.entries.get(key).is_some()
    }

    /// Names and counter that the part sees.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Where the world of the part's file lies in the world of the model.
    pub fn placement(&self) -> Isometry3<f64> {
        self.context.scope().placement
    }

    /// An error about the value of a key: "`key` must be …, not …".
    pub fn unsuitable(&self, key: &str, requirement: &str, found: impl ToString) -> ModelError {
        ModelError::unsuitable(self.description_of(key), requirement, found, self.place_of(key))
    }

    /// Refuses the value of a key unless it is as it must be.
    pub fn require(
        &self,
        holds: bool,
        key: &str,
        requirement: &str,
        found: impl ToString,
    ) -> Result<(), ModelError> {
        if holds { Ok(()) } else { Err(self.unsuitable(key, requirement, found)) }
    }

    /// An error about the part as a whole: "the bushing `mount` must be …, not …".
    pub fn unsuitable_part(&self, requirement: &str, found: impl ToString) -> ModelError {
        ModelError::unsuitable(self.description.as_str(), requirement, found, self.place())
    }

    /// The error of a key that is needed beside the others.
    pub fn missing(&self, key: &str, hint: impl Into<String>) -> ModelError {
        self.fields().missing(key).with_hint(hint)
    }

    /// The error of keys of which exactly one is wanted.
    pub fn ambiguous(&self, choices: &[&str], found: impl Into<String>) -> ModelError {
        self.fields().ambiguous(choices, found)
    }

    fn declared(&self, name: &str) -> &'static Key {
        let key = self.keys.iter().find(|key| key.name == name);
        key.unwrap_or_else(|| panic!("the table of {} has no key `{name}`", self.description))
    }

    /// Reads the value that the user wrote, or the default, with the type of the key.
    fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(ValueKind, Field<'_>) -> Result<T, ModelErrors>,
    ) -> Result<Option<T>, ModelErrors> {
        let key = self.declared(name);
        self.used.borrow_mut().push(key.name);
        if let Some(entry) = self.entries.get(name) {
            return read(key.value, Field::new(entry, &self.context)).map(Some);
        }
        match key.need {
            Need::Required => self.or_missing(name, None),
            Need::Optional => Ok(None),
            Need::Default(text) => {
                let value = default_value(key.name, text);
                read(key.value, Field { key: key.name, value: &value, context: &self.context }).map(Some)
            }
        }
    }

    fn or_missing<T>(&self, name: &str, value: Option<T>) -> Result<T, ModelErrors> {
        value.ok_or_else(|| self.fields().missing(name).into())
    }

    fn fields(&self) -> Fields<'_> {
        Fields { entries: self.entries, context: &self.context, part: &self.description }
    }

    fn mismatch(&self, name: &str, kind: ValueKind) -> ! {
        panic!("the key `{name}` of {} is declared as {kind:?}", self.description)
    }

    /// A number in base units that must be greater than zero.
    pub fn positive(&self, key: &str) -> Result<f64, ModelErrors> {
        let value = self.number(key)?;
        if value > 0.0 { Ok(value) } else { Err(self.unsuitable(key, "positive", value).into()) }
    }

    /// A number in base units that must be greater than zero, if given.
    pub fn optional_positive(&self, key: &str) -> Result<Option<f64>, ModelErrors> {
        self.has(key).then(|| self.positive(key)).transpose()
    }

    /// A number in base units that must not be less than zero.
    pub fn not_negative(&self, key: &str) -> Result<f64, ModelErrors> {
        let value = self.number(key)?;
        if value >= 0.0 { Ok(value) } else { Err(self.unsuitable(key, "zero or positive", value).into()) }
    }

    fn read_reference(&self, field: Field<'_>) -> Result<Reference, ModelError> {
        let text = field.text()?;
        if text.content().is_empty() {
            return Err(field.unsuitable("the name of a part", "empty"));
        }
        Ok(Reference { name: self.context.full_name(text.content()), place: text.place().clone() })
    }

    /// Reader of the table that a key holds, if given.
    pub fn table(&self, key: &str) -> Result<Option<PartReader<'a>>, ModelErrors> {
        let declared = self.declared(key);
        let ValueKind::Table(keys) = declared.value else { self.mismatch(key, declared.value) };
        self.used.borrow_mut().push(declared.name);
        let Some(entry) = self.entries.get(key) else { return Ok(None) };
        let entries = self.table_in(key, &entry.value)?;
        Self::from_table(entries, self.context.clone(), self.description_of(key), keys, &[]).map(Some)
    }

    /// Readers of the tables that a key holds; none if it is not given. Like parts they may be repeated,
    /// and then `i` is their own counter.
    pub fn tables(&self, key: &str) -> Result<Vec<PartReader<'a>>, ModelErrors> {
        let declared = self.declared(key);
        let ValueKind::Tables(keys) = declared.value else { self.mismatch(key, declared.value) };
        self.used.borrow_mut().push(declared.name);
        let Some(entry) = self.entries.get(key) else { return Ok(Vec::new()) };
        let Content::Array(values) = &entry.value.content else {
            let field = Field::new(entry, &self.context);
            return Err(field.wrong_type("an array of tables").into());
        };
        let mut readers = Vec::new();
        for value in values {
            let entries = self.table_in(key, value)?;
            for context in repetitions(entries, &self.context)? {
                let description = self.description_of(key);
                readers.push(Self::from_table(entries, context?, description, keys, REPETITION_KEYS)?);
            }
        }
        Ok(readers)
    }

    fn table_in(&self, key: &str, value: &'a Value) -> Result<&'a Entries, ModelError> {
        match &value.content {
            Content::Table(entries) => Ok(entries),
            _ => Err(Field { key, value, context: &self.context }.wrong_type("a table in braces")),
        }
    }

    fn description_of(&self, key: &str) -> String {
        format!("`{key}` of {}", self.description)
    }

    /// Ends reading: keys that were written but not asked for have no effect, which is a mistake.
    pub fn finish(self) -> Result<(), ModelErrors> {
        let used = self.used.borrow();
        let mut errors = ModelErrors::new();
        for entry in self.entries.iter().filter(|entry| !used.contains(&entry.key.as_str())) {
            errors.push(self.fields().unused(entry).with_hint("remove it, or the key that takes its place"));
        }
        errors.into_result()
    }
}

/// Makes two methods for each type of value: one for keys that always have a value, because they are
/// required or have a default (a missing key is then the user's mistake), and one for optional keys.
macro_rules! readers {
    ($($doc:literal, $name:ident, $optional:ident -> $type:ty:
        $pattern:pat => |$reader:ident, $field:ident| $read:expr;)*) => {
        impl PartReader<'_> {
            $(
                #[doc = concat!($doc, ".")]
                pub fn $name(&self, key: &str) -> Result<$type, ModelErrors> {
                    self.or_missing(key, self.$optional(key)?)
                }

                #[doc = concat!($doc, ", if given.")]
                pub fn $optional(&self, key: &str) -> Result<Option<$type>, ModelErrors> {
                    let $reader = self;
                    $reader.read(key, |kind, $field| match kind {
                        $pattern => $read,
                        _ => $reader.mismatch(key, kind),
                    })
                }
            )*
        }
    };
}

readers! {
    "A number in base units", number, optional_number -> f64:
        ValueKind::Number(dimension) => |reader, field| Ok(field.number(dimension)?);
    "A number in base units, or one of the words of the key",
        number_or_word, optional_number_or_word -> NumberOrWord:
        ValueKind::NumberOr(dimension, words) => |reader, field| Ok(read_number_or(field, dimension, words)?);
    "A whole number that is not negative", count, optional_count -> u32:
        ValueKind::Count => |reader, field| Ok(field.count()?);
    "Three numbers in base units", vector3, optional_vector3 -> Vector3<f64>:
        ValueKind::Vector3(dimension) => |reader, field| Ok(field.vector3(dimension)?);
    "Three pure numbers that are not all zero, scaled to length one",
        direction, optional_direction -> Vector3<f64>:
        ValueKind::Vector3(Dimension::NONE) => |reader, field| Ok(field.direction()?);
    "An array of numbers in base units", numbers, optional_numbers -> Vec<f64>:
        ValueKind::Numbers(dimension, lengths) => |reader, field| Ok(field.numbers(dimension, lengths)?);
    "A matrix in base units", matrix, optional_matrix -> DMatrix<f64>:
        ValueKind::Matrix(dimension, rows, columns) => |reader, field| {
            let numbers = field.matrix(dimension, rows, columns)?;
            let columns = numbers.first().map_or(columns, Vec::len);
            Ok(DMatrix::from_fn(numbers.len(), columns, |row, column| numbers[row][column]))
        };
    "A symmetric 3×3 matrix in base units", symmetric3, optional_symmetric3 -> Matrix3<f64>:
        ValueKind::Symmetric3(dimension) => |reader, field| Ok(field.symmetric3(dimension)?);
    "A text with its indices in braces replaced", text, optional_text -> Text:
        ValueKind::Text => |reader, field| Ok(field.text()?);
    "A truth value", boolean, optional_boolean -> bool:
        ValueKind::Boolean => |reader, field| Ok(field.boolean()?);
    "One of the words of the key", choice, optional_choice -> &'static str:
        ValueKind::Choice(choices) => |reader, field| Ok(field.choice(choices)?);
    "The part that the key names", reference, optional_reference -> Reference:
        ValueKind::Reference => |reader, field| Ok(reader.read_reference(field)?);
    "The parts that the key names", references, optional_references -> Vec<Reference>:
        ValueKind::References(lengths) => |reader, field| {
            let values = field.array()?;
            field.check_length(values.len(), lengths, "names")?;
            values.iter().map(|value| Ok(reader.read_reference(field.with_value(value))?)).collect()
        };
    "A rotation from part axes to the axes of the file's world",
        orientation, optional_orientation -> UnitQuaternion<f64>:
        ValueKind::Orientation => |reader, field| orientation::read(field);
    "A function of time", law, optional_law -> Law:
        ValueKind::Law(dimension) => |reader, field| read_law(field, dimension);
    "Three functions of time", law3, optional_law3 -> [Law; 3]:
        ValueKind::Law3(dimension) => |reader, field| read_three(field, |part| read_law(part, dimension));
    "A function of time and measured quantities", signal, optional_signal -> SignalLaw:
        ValueKind::Signal(dimension) => |reader, field| read_signal(field, dimension);
    "Three functions of time and measured quantities", signal3, optional_signal3 -> [SignalLaw; 3]:
        ValueKind::Signal3(dimension) => |reader, field| read_three(field, |part| read_signal(part, dimension));
    "Functions of time and measured quantities", signals, optional_signals -> Vec<SignalLaw>:
        ValueKind::Signals(dimension) => |reader, field| read_signals(field, dimension);
    "Parameters with their numbers; the names that these use are no uses of the part",
        parameters, optional_parameters -> Vec<GivenParameter>:
        ValueKind::Parameters => |reader, field| Ok(given_parameters(field.table()?, &reader.context.apart())?);
    "A function given by points", curve, optional_curve -> Table:
        ValueKind::Curve(argument, value) => |reader, field| read_curve(field, argument, value);
    "A function of names of its own, or given by points", characteristic, optional_characteristic -> Characteristic:
        ValueKind::Characteristic(argument, value, names) => |reader, field| {
            read_characteristic(field, argument, value, names)
        };
}

/// Defaults by key and text, each read once: parts that are repeated thousands of times ask for the same
/// ones.
static DEFAULTS: LazyLock<Mutex<HashMap<[&str; 2], Arc<Value>>>> = LazyLock::new(Mutex::default);

/// The value that a default in a kind's table means.
pub(crate) fn default_value(key: &'static str, text: &'static str) -> Arc<Value> {
    let mut known = DEFAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let file: Arc<SourceFile> = SourceFile::new(format!("the default of `{key}`"), text);
        value::parse_value(&file).unwrap_or_else(|error| panic!("a kind declares a wrong default: {error}"))
    };
    known.entry([key, text]).or_insert_with(|| Arc::new(read())).clone()
}

pub(super) fn read_number_or(
    field: Field<'_>,
    dimension: Dimension,
    words: &'static [&'static str],
) -> Result<NumberOrWord, ModelError> {
    if let Content::Text(text) = &field.value.content
        && let Some(word) = words.iter().find(|word| **word == text.content())
    {
        return Ok(NumberOrWord::Word(word));
    }
    let number = field.number(dimension);
    // A misspelt word looks like an unknown parameter: say what was meant.
    number.map(NumberOrWord::Number).map_err(|error| match error.mistake() {
        Mistake::UnknownName { .. } => error.with_hint(format!("a number or {}", name::list(words))),
        _ => error,
    })
}
