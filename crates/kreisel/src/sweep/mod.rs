//! Many runs of one model: parameters vary, measures of the motion are kept.
//!
//! [`vary`] reads what varies, [`sample`] makes points of it, [`measure`] reads what is measured, [`study`]
//! checks them against a model, [`run`] runs the points on all cores. A run depends on its point alone, so
//! that a table holds the same bits whatever the number of threads and in whatever order the runs came to
//! their end. [`journal`] keeps finished runs on disk while others are under way: a sweep that was
//! interrupted goes on where it stopped. `summary` says in the end what it was, with checksums of its files.

pub mod journal;
pub mod measure;
pub mod run;
pub mod sample;
pub mod study;
mod summary;
mod table;
pub mod vary;

pub use journal::{Journal, JournalError};
pub use measure::{Measure, MeasureError};
pub use run::{Outcome, SweepPlan, SweepRow, run_point};
pub use sample::{Sampling, points};
pub use study::{Request, Study, SweepError};
pub use summary::{SWEEP_SUMMARY, SweepSummary};
pub use table::{head, lines, table};
pub use vary::{Spread, Variation, VaryError};
