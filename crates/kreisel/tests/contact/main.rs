//! Contact and friction: the forces of every pair of shapes, motions with closed forms, and wrong input.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

#[path = "../elements/answers.rs"]
mod answers;
mod contact_groups;
mod friction;
mod heaps;
mod joint_friction;
mod mistakes;
mod models;
mod motions;
#[path = "../elements/oracle.rs"]
#[allow(dead_code, reason = "shared with the tests of the other elements")]
mod numbers;
mod oracle;
mod pairs;
mod woodpecker;

use kreisel::machine::Machine;

fn read(text: &str) -> Result<Machine, String> {
    Machine::from_text("test.toml", text).map_err(|errors| errors.render(false))
}
