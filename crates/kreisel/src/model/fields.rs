//! Values of a table read with their types: the layer between the tree and the parts.

use std::borrow::Cow;

use nalgebra::{Matrix3, Vector3};

use super::error::{Mistake, ModelError, ModelErrors};
use super::name;
use super::quantity::Dimension;
use super::scope::Context;
use super::source::Text;
use super::value::{Content, Entries, Entry, Value};

/// Largest whole number that a count may be.
const MAX_COUNT: f64 = 1e9;

/// Difference of two entries that ought to be equal, relative to the largest of the matrix.
const SYMMETRY_TOLERANCE: f64 = 1e-6;

/// A table, with the words for it in messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) entries: &'a Entries,
    pub(crate) context: &'a Context,
    pub(crate) part: &'a str,
}

impl<'a> Fields<'a> {
    /// Refuses keys that are not among the valid ones.
    pub(crate) fn check_keys(&self, valid: &[&str]) -> Result<(), ModelErrors> {
        let mut errors = ModelErrors::new();
        for entry in self.entries.iter().filter(|entry| !valid.contains(&entry.key.as_str())) {
            let shown = entry.key.chars().take(60).collect();
            let mistake = Mistake::UnknownKey { key: shown, part: self.part.into() };
            let error = ModelError::new(mistake, entry.key_place.clone());
            errors.push(error.with_nearest(&entry.key, valid.iter().copied()));
        }
        errors.into_result()
    }

    pub(crate) fn optional(&self, key: &str) -> Option<&'a Entry> {
        self.entries.get(key)
    }

    pub(crate) fn required(&self, key: &str) -> Result<&'a Entry, ModelError> {
        self.entries.get(key).ok_or_else(|| self.missing(key))
    }

    pub(crate) fn missing(&self, key: &str) -> ModelError {
        let mistake = Mistake::MissingKey { key: key.into(), part: self.part.into() };
        ModelError::new(mistake, self.entries.place().clone()).with_hint(format!("add `{key} = …`"))
    }

    /// The error of keys of which exactly one is wanted.
    pub(crate) fn ambiguous(&self, choices: &[&str], found: impl Into<String>) -> ModelError {
        let (part, choices) = (self.part.into(), name::list(choices));
        let mistake = Mistake::Ambiguous { part, choices, found: found.into() };
        ModelError::new(mistake, self.entries.place().clone())
    }

    /// The error of a key that has no effect beside the others.
    pub(crate) fn unused(&self, entry: &Entry) -> ModelError {
        let mistake = Mistake::UnusedKey { key: entry.key.clone(), part: self.part.into() };
        ModelError::new(mistake, entry.key_place.clone())
    }
}

/// A value with its key and context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a Value,
    pub(crate) context: &'a Context,
}

impl<'a> Field<'a> {
    pub(crate) fn new(entry: &'a Entry, context: &'a Context) -> Self {
        Self { key: &entry.key, value: &entry.value, context }
    }

    pub(crate) fn with_value(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    pub(crate) fn wrong_type(&self, expected: impl Into<String>) -> ModelError {
        let mistake = Mistake::WrongType {
            key: self.key.into(),
            expected: expected.into(),
            found: self.value.description(),
        };
        ModelError::new(mistake, self.value.place.clone())
    }

    pub(crate) fn unsuitable(&self, requirement: impl Into<String>, found: impl Into<String>) -> ModelError {
        ModelError::unsuitable(format!("`{}`", self.key), requirement, found.into(), &self.value.place)
    }

    pub(crate) fn number(self, dimension: Dimension) -> Result<f64, ModelError> {
        match &self.value.content {
            Content::Number(value) if value.is_finite() => Ok(*value),
            Content::Number(value) => {
                Err(ModelError::new(Mistake::NotFinite(*value), self.value.place.clone()))
            }
            Content::Text(text) => self.context.number(text, dimension),
            _ => Err(self.wrong_type("a number or an expression in quotes")),
        }
    }

    pub(crate) fn count(self) -> Result<u32, ModelError> {
        let value = self.number(Dimension::NONE)?;
        if value.fract() == 0.0 && (0.0..=MAX_COUNT).contains(&value) {
            return Ok(value as u32);
        }
        Err(self.unsuitable("a whole number from 0 to 10⁹", value.to_string()))
    }

    pub(crate) fn array(self) -> Result<&'a [Value], ModelError> {
        match &self.value.content {
            Content::Array(values) => Ok(values),
            _ => Err(self.wrong_type("an array in brackets")),
        }
    }

    /// Numbers in brackets; the length must be one of `lengths`, unless that is empty.
    pub(crate) fn numbers(self, dimension: Dimension, lengths: &[usize]) -> Result<Vec<f64>, ModelError> {
        let values = self.array()?;
        self.check_length(values.len(), lengths, "numbers")?;
        values.iter().map(|value| self.with_value(value).number(dimension)).collect()
    }

    pub(crate) fn check_length(
        &self,
        found: usize,
        lengths: &[usize],
        things: &str,
    ) -> Result<(), ModelError> {
        if lengths.is_empty() || lengths.contains(&found) {
            return Ok(());
        }
        let expected: Vec<String> = lengths.iter().map(usize::to_string).collect();
        Err(self.unsuitable(format!("an array of {} {things}", expected.join(" or ")), format!("of {found}")))
    }

    pub(crate) fn vector3(self, dimension: Dimension) -> Result<Vector3<f64>, ModelError> {
        let numbers = self.numbers(dimension, &[3])?;
        Ok(Vector3::new(numbers[0], numbers[1], numbers[2]))
    }

    /// Three numbers that are not all zero, scaled to length one.
    pub(crate) fn direction(self) -> Result<Vector3<f64>, ModelError> {
        let vector = self.vector3(Dimension::NONE)?;
        let largest = vector.amax();
        if largest == 0.0 {
            return Err(self.unsuitable("a direction", "of length zero"));
        }
        // Divided first, so that the squares can neither overflow nor vanish.
        Ok((vector / largest).normalize())
    }

    /// Rows of numbers.
    pub(crate) fn matrix(
        self,
        dimension: Dimension,
        rows: usize,
        columns: usize,
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let values = self.array()?;
        if rows > 0 {
            self.check_length(values.len(), &[rows], "rows")?;
        }
        let columns = match (columns, values.first()) {
            (0, Some(first)) => self.with_value(first).array()?.len(),
            _ => columns,
        };
        values.iter().map(|row| self.with_value(row).numbers(dimension, &[columns])).collect()
    }

    /// A symmetric matrix: xx, yy, zz; or xx, yy, zz, xy, xz, yz; or three rows.
    pub(crate) fn symmetric3(self, dimension: Dimension) -> Result<Matrix3<f64>, ModelError> {
        let values = self.array()?;
        if !values.iter().any(|value| matches!(value.content, Content::Array(_))) {
            let n = self.numbers(dimension, &[3, 6])?;
            let [xy, xz, yz] = if n.len() == 6 { [n[3], n[4], n[5]] } else { [0.0; 3] };
            return Ok(Matrix3::new(n[0], xy, xz, xy, n[1], yz, xz, yz, n[2]));
        }
        let rows = self.matrix(dimension, 3, 3)?;
        let matrix = Matrix3::from_fn(|row, column| rows[row][column]);
        // Entries copied from elsewhere may differ in their last digits; the mean is taken.
        let difference = (matrix - matrix.transpose()).amax();
        if difference > SYMMETRY_TOLERANCE * matrix.amax() {
            return Err(self.unsuitable("a symmetric matrix", format!("one that differs by {difference}")));
        }
        Ok(0.5 * (matrix + matrix.transpose()))
    }

    pub(crate) fn raw_text(self) -> Result<&'a Text, ModelError> {
        match &self.value.content {
            Content::Text(text) => Ok(text),
            _ => Err(self.wrong_type("a text in quotes")),
        }
    }

    /// A text with its indices in braces replaced.
    pub(crate) fn text(self) -> Result<Text, ModelError> {
        self.context.substitute(self.raw_text()?).map(Cow::into_owned)
    }

    pub(crate) fn boolean(self) -> Result<bool, ModelError> {
        match &self.value.content {
            Content::Boolean(value) => Ok(*value),
            _ => Err(self.wrong_type("`true` or `false`")),
        }
    }

    pub(crate) fn choice(self, choices: &[&'static str]) -> Result<&'static str, ModelError> {
        let text = self.text()?;
        choices.iter().copied().find(|choice| *choice == text.content()).ok_or_else(|| {
            self.unsuitable(format!("one of {}", name::list(choices)), self.value.description())
                .with_nearest(text.content(), choices.iter().copied())
        })
    }

    pub(crate) fn table(self) -> Result<&'a Entries, ModelError> {
        match &self.value.content {
            Content::Table(entries) => Ok(entries),
            _ => Err(self.wrong_type("a table in braces")),
        }
    }

    /// A condition: a truth value or an expression that is true if it is not zero.
    pub(crate) fn condition(self) -> Result<bool, ModelError> {
        match &self.value.content {
            Content::Boolean(value) => Ok(*value),
            _ => Ok(self.number(Dimension::NONE)? != 0.0),
        }
    }
}
