//! Chores of the project: `cargo xtask test` runs everything that must hold.
fn main() {}
