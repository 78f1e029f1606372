//! Kinds of parts as data: each key is declared once, with its type, dimension, default and meaning.
//!
//! From these tables come the check for unknown keys, the reader's types, the JSON Schema and the
//! reference page of the book. A new kind of part is one [`PartKind`] and one function that reads it with a
//! [`PartReader`](super::reader::PartReader).

use super::quantity::Dimension;

/// A kind of part: the name of its tables and its keys.
#[derive(Debug, PartialEq)]
pub struct PartKind {
    /// Name of the table in the model file.
    pub name: &'static str,
    /// One sentence for schema and book.
    pub doc: &'static str,
    /// How often it may occur.
    pub occurrence: Occurrence,
    /// Its own keys; `name`, `repeat` and `when` are common to all parts.
    pub keys: &'static [Key],
}

/// How often a kind of part may occur in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Any number, as `[[name]]`, each with its own name.
    Many,
    /// The same, but names are unique only on the part that this key names.
    ManyOn(&'static str),
    /// At most one, as `[name]`. In an included file it is left out: it belongs to running that file alone.
    Once,
}

/// One key of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What its value is.
    pub value: ValueKind,
    /// Whether it must be given.
    pub need: Need,
    /// One sentence for schema and book.
    pub doc: &'static str,
}

impl Key {
    /// A key; [`Key::doc`] says what it means.
    pub const fn new(name: &'static str, value: ValueKind, need: Need) -> Self {
        Self { name, value, need, doc: "" }
    }

    /// The key with its meaning, one sentence for schema and book.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// Whether a key must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// It may be left out, and then means nothing.
    Optional,
    /// It may be left out, and then has this value, written as in a model file.
    Default(&'static str),
}

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// A number.
    Number(Dimension),
    /// A number or one of some words, such as `step = "auto"`.
    NumberOr(Dimension, &'static [&'static str]),
    /// A whole number that is not negative.
    Count,
    /// Three numbers.
    Vector3(Dimension),
    /// An array of numbers; its length is one of these, or any if there are none.
    Numbers(Dimension, &'static [usize]),
    /// Rows of numbers: how many rows (any number of them if zero), and how many numbers in each (as many as
    /// in the first if zero).
    Matrix(Dimension, usize, usize),
    /// A symmetric 3×3 matrix: three numbers xx, yy, zz; six numbers xx, yy, zz, xy, xz, yz; or its rows.
    Symmetric3(Dimension),
    /// A text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// The name of a part, perhaps with a marker: `top`, `top.tip`, `ground`.
    Reference,
    /// An array of such names; its length is one of these, or any if there are none.
    References(&'static [usize]),
    /// A rotation in one of its forms.
    Orientation,
    /// A function of time.
    Law(Dimension),
    /// Three functions of time, such as the path of a point.
    Law3(Dimension),
    /// A function of time and of measured quantities.
    Signal(Dimension),
    /// Three functions of time and of measured quantities, such as a force.
    Signal3(Dimension),
    /// An array of functions of time and of measured quantities.
    Signals(Dimension),
    /// A function given by points: dimensions of argument and value.
    Curve(Dimension, Dimension),
    /// A function of names of its own, by an expression of them, or of the first of them by points: dimensions
    /// of that and of the value.
    Characteristic(Dimension, Dimension, &'static [&'static str]),
    /// An inline table of parameters of the model with numbers for them.
    Parameters,
    /// An inline table with keys of its own.
    Table(&'static [Key]),
    /// An array of tables with keys of their own.
    Tables(&'static [Key]),
}

const REPEAT: Key = Key::new("repeat", ValueKind::Count, Need::Optional)
    .doc("Makes this many of it; `i` counts them from 0.");

const WHEN: Key = Key::new("when", ValueKind::Number(Dimension::NONE), Need::Optional)
    .doc("Condition: it exists only if this is not 0.");

/// Keys of everything that can be repeated, such as tables inside a part.
pub const REPETITION_KEYS: &[Key] = &[REPEAT, WHEN];

/// Keys that every part has.
pub const COMMON_KEYS: &[Key] = &[
    Key::new("name", ValueKind::Text, Need::Optional)
        .doc("Name of the part: letters, digits, `-`, `_`, and `{i}` if it is repeated."),
    REPEAT,
    WHEN,
];

/// Keys of the table form of a law.
pub(crate) const LAW_KEYS: &[&str] =
    &["speed", "start", "smooth-start", "start-time", "points", "interpolation", "outside"];
/// Keys of a curve, which the table form of a law shares.
pub(crate) const CURVE_KEYS: &[&str] = &["points", "interpolation", "outside"];
/// Values of `interpolation`.
pub(crate) const INTERPOLATIONS: &[&str] = &["smooth", "linear"];
/// Values of `outside`.
pub(crate) const EXTRAPOLATIONS: &[&str] = &["hold", "continue", "repeat"];
/// Keys of an orientation.
pub(crate) const ORIENTATION_KEYS: &[&str] =
    &["quaternion", "axis", "angle", "euler", "sequence", "matrix", "z-axis", "x-axis", "y-axis"];

impl ValueKind {
    /// The dimension of its numbers, where all have the same.
    pub fn dimension(&self) -> Option<Dimension> {
        match self {
            Self::Number(dimension)
            | Self::NumberOr(dimension, _)
            | Self::Vector3(dimension)
            | Self::Numbers(dimension, _)
            | Self::Matrix(dimension, ..)
            | Self::Symmetric3(dimension)
            | Self::Law(dimension)
            | Self::Law3(dimension)
            | Self::Signal(dimension)
            | Self::Signal3(dimension)
            | Self::Signals(dimension) => Some(*dimension),
            _ => None,
        }
    }
}

impl PartKind {
    /// The key with a name, common keys included.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        let common = if self.occurrence != Occurrence::Once { COMMON_KEYS } else { &[] };
        self.keys.iter().chain(common).find(|key| key.name == name)
    }

    /// How the table is written in a model file.
    pub fn header(&self) -> String {
        match self.occurrence {
            Occurrence::Many | Occurrence::ManyOn(_) => format!("[[{}]]", self.name),
            Occurrence::Once => format!("[{}]", self.name),
        }
    }
}
