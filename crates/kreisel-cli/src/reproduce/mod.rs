//! What `kreisel reproduce` says of the experiments of the papers: which are meant, how far they are, what
//! came out.

mod lines;
mod report;
mod select;

pub use lines::ProgressLines;
pub use report::{Summary, text_report};
pub use select::{Selection, UnknownName, select};
