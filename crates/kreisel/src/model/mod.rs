//! What the user says: the model file, its numbers, units, expressions and names, with every mistake
//! pointed out at its place.
//!
//! This is the language layer and knows no mechanics. [`source`] keeps the text, [`error`] the messages,
//! [`quantity`] the units, [`expression`] the formulas,
//! [`law`] and [`table`] the functions of time and of points.

pub mod error;
pub mod expression;
pub mod law;
pub mod name;
pub mod quantity;
pub mod source;
pub mod table;

pub use error::{ExpressionMistake, Mistake, ModelError, ModelErrors};
pub use expression::Expression;
pub use law::{Law, LawValue};
pub use quantity::{Dimension, Unit};
pub use source::{Place, SourceFile, Text};
pub use table::Table;
