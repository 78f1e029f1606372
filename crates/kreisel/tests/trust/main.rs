//! What users rely on without looking: long runs, hard machines, no allocation, as little work as before.

mod accuracy;
mod allocation;
#[path = "../common/mod.rs"]
mod common;
mod growth;
mod hard;
mod lengths;
mod machines;
mod models;
mod poses;
mod promises;
mod silence;
mod soak;
mod sparse_lu_allocation;
mod steps;
mod turns;
mod values;
mod vibrations;
mod work;
