//! How fast errors fall: the order of every method against solutions of another kind.

mod bdf2;
mod bdf3;
#[path = "../common/mod.rs"]
mod common;
mod explicit8;
mod integration;
mod methods;
mod newton;
mod order;
mod soi2;
mod updated_lagrangian;
mod variable_steps;
