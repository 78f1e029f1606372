//! The papers that Kreisel follows, as programs that any user of the library could have written.
//!
//! [`problem`] holds their academic problems, written as equations, and what these are compared with.
//! [`experiment`] computes their results and checks them; an experiment prints nothing.

pub mod experiment;
pub mod problem;
