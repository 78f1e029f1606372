//! Reads one part of a model with the types that its kind declares.
//!
//! Every method takes the key alone: type, dimension and default stand in the kind's table. Asking for a
//! key that the table does not have, or as another type, is a fault of the program and panics; whatever
//! the user wrote gives an error at its place.

use std::cell::RefCell;
use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, UnitQuaternion, Vector3};

use super::document::Part;
use super::error::{Mistake, ModelError, ModelErrors};
use super::fields::{Field, Fields};
use super::kind::{
    COMMON_KEYS, CURVE_KEYS, INTERPOLATIONS, Key, LAW_KEYS, Need, OUTSIDES, Occurrence, ValueKind,
};
use super::law::{Law, SmoothStart};
use super::name::GROUND;
use super::orientation;
use super::quantity::Dimension;
use super::scope::{Context, MeasuredExpression};
use super::source::{Place, SourceFile, Text};
use super::table::{Interpolation, Outside, Table, TableMistake};
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
}

/// A number or a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberOrWord {
    /// A number in base units.
    Number(f64),
    /// One of the words that the key allows.
    Word(&'static str),
}

/// A function of time, or of time and measured quantities.
#[derive(Clone, Debug)]
pub enum Signal {
    /// Time alone decides.
    Law(Law),
    /// It must be compiled when all sensors are known.
    Measured(MeasuredExpression),
}

/// Typed access to the keys of one part, or of a table inside it.
#[derive(Debug)]
pub struct PartReader<'a> {
    entries: &'a Entries,
    context: &'a Context,
    description: String,
    keys: &'static [Key],
    used: RefCell<Vec<&'static str>>,
}

impl<'a> PartReader<'a> {
    /// Reader of a part; refuses keys that its kind does not have.
    pub fn new(part: &'a Part) -> Result<Self, ModelErrors> {
        let kind = part.kind();
        let description = match kind.occurrence {
            Occurrence::Many => format!("the {} `{}`", kind.name, part.name()),
            Occurrence::Once => format!("`[{}]`", kind.name),
        };
        let common = if kind.occurrence == Occurrence::Many { COMMON_KEYS } else { &[] };
        Self::of_table(part.entries(), part.context(), description, kind.keys, common)
    }

    fn of_table(
        entries: &'a Entries,
        context: &'a Context,
        description: String,
        keys: &'static [Key],
        common: &'static [Key],
    ) -> Result<Self, ModelErrors> {
        let valid: Vec<&str> = keys.iter().chain(common).map(|key| key.name).collect();
        Fields { entries, context, part: &description }.check_keys(&valid)?;
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
        self.context
    }

    /// Where the world of the part's file lies in the world of the model.
    pub fn placement(&self) -> Isometry3<f64> {
        self.context.scope().placement
    }

    /// An error about the value of a key: "`key` must be …, not …".
    pub fn unsuitable(&self, key: &str, requirement: &str, found: impl ToString) -> ModelError {
        let mistake = Mistake::Unsuitable {
            what: format!("`{key}` of {}", self.description),
            requirement: requirement.into(),
            found: found.to_string(),
        };
        ModelError::new(mistake, self.place_of(key).clone())
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
            return read(key.value, Field::new(entry, self.context)).map(Some);
        }
        match key.need {
            Need::Required => self.or_missing(name, None),
            Need::Optional => Ok(None),
            Need::Default(text) => {
                let value = default_value(key.name, text);
                read(key.value, Field { key: key.name, value: &value, context: self.context }).map(Some)
            }
        }
    }

    fn or_missing<T>(&self, name: &str, value: Option<T>) -> Result<T, ModelErrors> {
        let fields = Fields { entries: self.entries, context: self.context, part: &self.description };
        value.ok_or_else(|| fields.missing(name).into())
    }

    fn mismatch(&self, name: &str, kind: ValueKind) -> ! {
        panic!("the key `{name}` of {} is declared as {kind:?}", self.description)
    }

    /// A number in base units.
    pub fn number(&self, key: &str) -> Result<f64, ModelErrors> {
        self.or_missing(key, self.optional_number(key)?)
    }

    /// A number in base units, if given.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Number(dimension) => Ok(field.number(dimension)?),
            _ => self.mismatch(key, kind),
        })
    }

    /// A number in base units that must be greater than zero.
    pub fn positive(&self, key: &str) -> Result<f64, ModelErrors> {
        let value = self.number(key)?;
        if value > 0.0 { Ok(value) } else { Err(self.unsuitable(key, "positive", value).into()) }
    }

    /// A number in base units that must not be less than zero.
    pub fn not_negative(&self, key: &str) -> Result<f64, ModelErrors> {
        let value = self.number(key)?;
        if value >= 0.0 { Ok(value) } else { Err(self.unsuitable(key, "zero or positive", value).into()) }
    }

    /// A number or one of the words of the key.
    pub fn number_or_word(&self, key: &str) -> Result<Option<NumberOrWord>, ModelErrors> {
        self.read(key, |kind, field| match (kind, &field.value.content) {
            (ValueKind::NumberOr(dimension, words), content) => {
                if let Content::Text(text) = content
                    && let Some(word) = words.iter().find(|word| **word == text.content())
                {
                    return Ok(NumberOrWord::Word(word));
                }
                Ok(NumberOrWord::Number(field.number(dimension)?))
            }
            _ => self.mismatch(key, kind),
        })
    }

    /// A whole number, if given.
    pub fn count(&self, key: &str) -> Result<Option<u32>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Count => Ok(field.count()?),
            _ => self.mismatch(key, kind),
        })
    }

    /// Three numbers in base units.
    pub fn vector3(&self, key: &str) -> Result<Vector3<f64>, ModelErrors> {
        self.or_missing(key, self.optional_vector3(key)?)
    }

    /// Three numbers in base units, if given.
    pub fn optional_vector3(&self, key: &str) -> Result<Option<Vector3<f64>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Vector3(dimension) => Ok(field.vector3(dimension)?),
            _ => self.mismatch(key, kind),
        })
    }

    /// Three numbers that are not all zero, scaled to length one, if given.
    pub fn direction(&self, key: &str) -> Result<Option<Vector3<f64>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Vector3(Dimension::NONE) => Ok(field.direction()?),
            _ => self.mismatch(key, kind),
        })
    }

    /// An array of numbers in base units, if given.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Numbers(dimension, lengths) => Ok(field.numbers(dimension, lengths)?),
            _ => self.mismatch(key, kind),
        })
    }

    /// Rows of numbers in base units, if given.
    pub fn matrix(&self, key: &str) -> Result<Option<DMatrix<f64>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Matrix(dimension, rows, columns) => {
                let numbers = field.matrix(dimension, rows, columns)?;
                Ok(DMatrix::from_fn(rows, columns, |row, column| numbers[row][column]))
            }
            _ => self.mismatch(key, kind),
        })
    }

    /// A text with its indices replaced, if given.
    pub fn text(&self, key: &str) -> Result<Option<Text>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Text => Ok(field.text()?),
            _ => self.mismatch(key, kind),
        })
    }

    /// A truth value, if given.
    pub fn boolean(&self, key: &str) -> Result<Option<bool>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Boolean => Ok(field.boolean()?),
            _ => self.mismatch(key, kind),
        })
    }

    /// One of the words of the key, if given.
    pub fn choice(&self, key: &str) -> Result<Option<&'static str>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Choice(choices) => Ok(field.choice(choices)?),
            _ => self.mismatch(key, kind),
        })
    }

    /// The part that a key names.
    pub fn reference(&self, key: &str) -> Result<Reference, ModelErrors> {
        self.or_missing(key, self.optional_reference(key)?)
    }

    /// The part that a key names, if given.
    pub fn optional_reference(&self, key: &str) -> Result<Option<Reference>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Reference => Ok(self.read_reference(field)?),
            _ => self.mismatch(key, kind),
        })
    }

    /// The parts that a key names, if given.
    pub fn references(&self, key: &str) -> Result<Option<Vec<Reference>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::References(lengths) => {
                let values = field.array()?;
                field.check_length(values.len(), lengths, "names")?;
                let read = |value| Ok(self.read_reference(field.with_value(value))?);
                values.iter().map(read).collect()
            }
            _ => self.mismatch(key, kind),
        })
    }

    fn read_reference(&self, field: Field<'_>) -> Result<Reference, ModelError> {
        let text = field.text()?;
        if text.content().is_empty() {
            return Err(field.unsuitable("the name of a part", "empty"));
        }
        Ok(Reference { name: self.context.full_name(text.content()), place: text.place().clone() })
    }

    /// A rotation from part axes to the axes of its file's world, if given.
    pub fn orientation(&self, key: &str) -> Result<Option<UnitQuaternion<f64>>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Orientation => orientation::read(field),
            _ => self.mismatch(key, kind),
        })
    }

    /// A function of time, if given.
    pub fn law(&self, key: &str) -> Result<Option<Law>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Law(dimension) => read_law(field, dimension),
            _ => self.mismatch(key, kind),
        })
    }

    /// A function of time and measured quantities, if given.
    pub fn signal(&self, key: &str) -> Result<Option<Signal>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Signal(dimension) => read_signal(field, dimension),
            _ => self.mismatch(key, kind),
        })
    }

    /// A function given by points, if given.
    pub fn curve(&self, key: &str) -> Result<Option<Table>, ModelErrors> {
        self.read(key, |kind, field| match kind {
            ValueKind::Curve(argument, value) => {
                let part = format!("the curve `{key}`");
                let fields = Fields { entries: field.table()?, context: field.context, part: &part };
                fields.check_keys(CURVE_KEYS)?;
                read_points(fields, argument, value)
            }
            _ => self.mismatch(key, kind),
        })
    }

    /// Reader of the table that a key holds, if given.
    pub fn table(&self, key: &str) -> Result<Option<PartReader<'a>>, ModelErrors> {
        let ValueKind::Table(keys) = self.declared(key).value else {
            self.mismatch(key, self.declared(key).value)
        };
        self.used.borrow_mut().push(self.declared(key).name);
        let Some(entry) = self.entries.get(key) else { return Ok(None) };
        let entries = Field::new(entry, self.context).table()?;
        let description = format!("`{key}` of {}", self.description);
        Self::of_table(entries, self.context, description, keys, &[]).map(Some)
    }

    /// Readers of the tables that a key holds; none if it is not given.
    pub fn tables(&self, key: &str) -> Result<Vec<PartReader<'a>>, ModelErrors> {
        let ValueKind::Tables(keys) = self.declared(key).value else {
            self.mismatch(key, self.declared(key).value)
        };
        self.used.borrow_mut().push(self.declared(key).name);
        let Some(entry) = self.entries.get(key) else { return Ok(Vec::new()) };
        let field = Field::new(entry, self.context);
        let read = |value| {
            let entries = field.with_value(value).table()?;
            let description = format!("`{key}` of {}", self.description);
            Self::of_table(entries, self.context, description, keys, &[])
        };
        field.array()?.iter().map(read).collect()
    }

    /// Ends reading: keys that were written but not asked for have no effect, which is a mistake.
    pub fn finish(self) -> Result<(), ModelErrors> {
        let used = self.used.into_inner();
        let mut errors = ModelErrors::new();
        for entry in self.entries.iter().filter(|entry| !used.contains(&entry.key.as_str())) {
            let mistake = Mistake::UnusedKey { key: entry.key.clone(), part: self.description.clone() };
            errors.push(
                ModelError::new(mistake, entry.key_place.clone())
                    .with_hint("remove it, or the key that takes its place"),
            );
        }
        errors.into_result()
    }
}

/// The value that a default in a kind's table means.
pub(crate) fn default_value(key: &str, text: &'static str) -> Value {
    let file: Arc<SourceFile> = SourceFile::new(format!("the default of `{key}`"), text);
    value::parse_value(&file).unwrap_or_else(|error| panic!("a kind declares a wrong default: {error}"))
}

/// A law: a number, an expression of `t`, or a table that gives speed or points.
fn read_law(field: Field<'_>, dimension: Dimension) -> Result<Law, ModelErrors> {
    match &field.value.content {
        Content::Number(_) => Ok(Law::Constant(field.number(dimension)?)),
        Content::Text(text) => Ok(field.context.law(text, dimension)?),
        Content::Table(entries) => {
            let part = format!("the law `{}`", field.key);
            let fields = Fields { entries, context: field.context, part: &part };
            fields.check_keys(LAW_KEYS)?;
            read_law_table(fields, dimension)
        }
        _ => Err(field.wrong_type("a number, an expression of `t` or a table in braces").into()),
    }
}

fn read_law_table(fields: Fields<'_>, dimension: Dimension) -> Result<Law, ModelErrors> {
    let number = |key: &str, dimension| match fields.optional(key) {
        Some(entry) => Field::new(entry, fields.context).number(dimension).map(Some),
        None => Ok(None),
    };
    let allowed: &[&str] = match (fields.optional("points"), fields.optional("speed")) {
        (Some(_), None) => CURVE_KEYS,
        (None, Some(_)) if fields.optional("smooth-start").is_some() => {
            &["speed", "start", "smooth-start", "start-time"]
        }
        (None, Some(_)) => &["speed", "start"],
        (points, _) => {
            let found = if points.is_some() { "both are given" } else { "none is given" };
            let mistake = Mistake::Ambiguous {
                part: fields.part.into(),
                choices: "`speed`, `points`".into(),
                found: found.into(),
            };
            return Err(ModelError::new(mistake, fields.entries.place().clone()).into());
        }
    };
    if let Some(entry) = fields.entries.iter().find(|entry| !allowed.contains(&entry.key.as_str())) {
        let mistake = Mistake::UnusedKey { key: entry.key.clone(), part: fields.part.into() };
        return Err(ModelError::new(mistake, entry.key_place.clone()).into());
    }
    let Some(speed) = number("speed", dimension.per_time())? else {
        return Ok(Law::Table(Arc::new(read_points(fields, Dimension::TIME, dimension)?)));
    };
    let start = number("start", dimension)?.unwrap_or(0.0);
    let Some(duration) = number("smooth-start", Dimension::TIME)? else {
        return Ok(Law::ConstantSpeed { start, speed });
    };
    if duration <= 0.0 {
        let field = Field::new(fields.required("smooth-start")?, fields.context);
        return Err(field.unsuitable("a positive time", duration.to_string()).into());
    }
    let start_time = number("start-time", Dimension::TIME)?.unwrap_or(0.0);
    Ok(Law::SmoothStart(SmoothStart { start, start_time, speed, duration }))
}

/// Points with their interpolation.
fn read_points(fields: Fields<'_>, argument: Dimension, value: Dimension) -> Result<Table, ModelErrors> {
    let field = Field::new(fields.required("points")?, fields.context);
    let rows = field.array()?;
    let mut points = Vec::with_capacity(rows.len());
    for row in rows {
        let pair = field.with_value(row);
        let values = pair.array()?;
        pair.check_length(values.len(), &[2], "numbers")?;
        let read = |index: usize, dimension| field.with_value(&values[index]).number(dimension);
        points.push((read(0, argument)?, read(1, value)?));
    }
    let choice = |key: &str, choices: &[&'static str]| match fields.optional(key) {
        Some(entry) => Field::new(entry, fields.context).choice(choices),
        None => Ok(choices[0]),
    };
    let interpolation = match choice("interpolation", INTERPOLATIONS)? {
        "linear" => Interpolation::Linear,
        _ => Interpolation::Smooth,
    };
    let outside = match choice("outside", OUTSIDES)? {
        "continue" => Outside::Continue,
        _ => Outside::Hold,
    };
    Table::new(&points, interpolation, outside).map_err(|mistake| {
        match mistake {
            TableMistake::TooFew => field.unsuitable("at least two points", points.len().to_string()),
            TableMistake::NotAscending(index) => field
                .with_value(&rows[index])
                .unsuitable("ascending points", format!("{} after {}", points[index].0, points[index - 1].0)),
        }
        .into()
    })
}

/// A law if time alone decides, else an expression to be compiled later.
fn read_signal(field: Field<'_>, dimension: Dimension) -> Result<Signal, ModelErrors> {
    let Content::Text(text) = &field.value.content else {
        return read_law(field, dimension).map(Signal::Law);
    };
    match field.context.law(text, dimension) {
        Ok(law) => Ok(Signal::Law(law)),
        Err(error) if matches!(error.mistake(), Mistake::UnknownName { .. }) => {
            Ok(Signal::Measured(MeasuredExpression::new(text, field.context, dimension)?))
        }
        Err(error) => Err(error.into()),
    }
}
