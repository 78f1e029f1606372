//! The examples of the book do what their texts say.

#![allow(
    clippy::unwrap_used,
    dead_code,
    unused_imports,
    reason = "the examples are whole programs of their own"
)]

#[path = "../examples/own_force.rs"]
mod own_force;
#[path = "../examples/own_joint.rs"]
mod own_joint;
#[path = "../examples/own_system.rs"]
mod own_system;

#[test]
fn a_system_of_ones_own_circles_steadily() {
    // Second order with h = 1e-3 over 20 s.
    let error = own_system::run().unwrap();
    assert!(error < 1e-5, "{error}");
}

#[test]
fn a_force_of_ones_own_reaches_the_closed_form() {
    let error = own_force::run().unwrap();
    assert!(error < 1e-5, "{error}");
}

#[test]
fn a_joint_of_ones_own_keeps_the_energy() {
    let error = own_joint::run().unwrap();
    assert!(error < 1e-5, "{error}");
}
