//! Contact and friction: the forces of every pair of shapes, motions with closed forms, and wrong input.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

mod contact_groups;
mod friction;
mod heaps;
mod joint_friction;
mod mistakes;
mod models;
mod motions;
mod oracle;
mod pairs;
mod woodpecker;

use crate::elements::{answers, oracle as numbers};
use kreisel::machine::Machine;

fn read(text: &str) -> Result<Machine, String> {
    Machine::from_text("test.toml", text).map_err(|errors| errors.render(false))
}
