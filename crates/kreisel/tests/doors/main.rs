//! What users touch: machines from text, runs, steppers, files, examples, and the project itself.

#[path = "../common/mod.rs"]
mod common;
mod dynamics;
mod errors;
mod examples;
mod led_motion;
mod machine;
mod project;
mod results_folder;
mod results_memory;
mod results_vtkhdf;
mod run;
mod schema;
mod stepper;
mod study;
mod tutorials;
