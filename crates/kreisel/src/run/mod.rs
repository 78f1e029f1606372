//! Machines are run: from start to end, recorded, saved and taken up again, stepped from outside, brought to
//! rest and made to vibrate; what is found gets its names back.

mod accuracy;
mod advance;
mod checkpoint;
mod driving;
mod dynamics;
mod explanation;
mod files;
mod job;
mod modes;
mod output;
mod passes;
mod recorder;
mod statics;
mod steady;
mod stepper;
mod turns;

pub use crate::memory::let_grow;
pub use accuracy::{Accuracy, ErrorEstimate, FilteredErrors, PassWork};
pub use advance::{Run, RunEnding, RunError, RunStatistics};
pub use checkpoint::{Checkpoint, CheckpointError, CheckpointHeader};
pub use driving::{DrivingForces, LedMotionError};
pub use dynamics::{Dynamics, DynamicsError, Evaluator, Inverse};
pub use files::ResultFiles;
pub use job::{Every, Job, JobObserver, JobOutcome};
pub use modes::{About, LinearizedMachine, MachineModes};
pub use recorder::{Extremes, Moment, Record, Recorder, Sink, Snapshot, Trajectory};
pub use statics::{StaticOutcome, StaticRecorder};
pub use stepper::{Stepper, StepperCopyError, StepperState, StepperStateError};
