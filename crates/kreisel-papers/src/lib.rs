//! The papers that Kreisel follows, as programs that any user of the library could have written.
//!
//! [`problem`] holds their academic problems, written as equations, and what these are compared with. [`figure`] says what
//! their figures show.

pub mod figure;
pub mod problem;
