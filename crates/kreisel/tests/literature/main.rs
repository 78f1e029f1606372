//! Other programs' and papers' numbers: trajectories of Adams, and every model of `models/`.

mod adams;
#[path = "../common/mod.rs"]
mod common;
mod models;
