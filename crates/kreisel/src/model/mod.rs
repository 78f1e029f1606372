//! What the user says: the model file, its numbers, units, expressions and names, with every mistake
//! pointed out at its place.
//!
//! This is the language layer and knows no mechanics. From bottom to top: [`source`] keeps the text,
//! [`error`] the messages; [`quantity`] knows the units, [`expression`] the formulas, [`law`] and [`table`]
//! the functions of time and of points. [`value`] is the tree of a TOML file, [`document`] writes out its
//! parameters, includes and repetitions into a flat list of parts, and [`reader`] reads a part with the
//! types that its [`kind`] declares. [`schema`] makes the JSON Schema and the reference page from the same
//! tables.

pub(crate) mod const_text;
pub mod document;
pub mod error;
pub mod expression;
mod fields;
pub mod function;
pub mod kind;
pub mod law;
pub mod name;
mod orientation;
pub mod quantity;
pub mod reader;
pub mod schema;
pub mod scope;
pub mod source;
pub mod table;
mod tabulated;
pub mod types;
pub mod value;

pub use document::{Document, Part};
pub use error::{ExpressionMistake, Mistake, ModelError, ModelErrors, is_printable};
pub use expression::Expression;
pub use function::{Characteristic, OwnFormula, SignalLaw};
pub use kind::{Key, Need, Occurrence, PartKind, ValueKind};
pub use law::{Jump, Law, LawValue};
pub use quantity::{Dimension, Unit};
pub use reader::{PartReader, Reference};
pub use scope::{Context, GivenParameter, MeasuredExpression, Quantities, Scope};
pub use source::{Place, SourceFile, Text};
pub use table::Table;
pub use tabulated::TABLE;

#[cfg(test)]
pub(crate) mod kind_faults;
#[cfg(test)]
mod tests;
