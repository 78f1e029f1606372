//! Energy of driven and damped machines: work and losses are booked to second order, across corners and
//! jumps.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::ROD_ON_PIN;
use kreisel::machine::Machine;

/// Largest error of the energy's balance over a run with these parts and this step.
fn imbalance(parts: &str, step: f64) -> f64 {
    let text = format!("[simulation]\nend-time = 2\nstep = {step}\n{ROD_ON_PIN}{parts}");
    let machine = Machine::from_text("test.toml", &text).map_err(|errors| errors.render(false)).unwrap();
    let run = machine.simulate().unwrap();
    run.signal("energy.balance").unwrap().iter().fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

/// Asserts that the error falls fourfold when the step is halved.
fn assert_second_order(parts: &str) {
    let (coarse, fine) = (imbalance(parts, 0.01), imbalance(parts, 0.005));
    assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}

#[test]
fn a_drive_whose_speed_jumps_works_by_impulses_too() {
    assert_second_order(
        "[[drive]]
        joint = 'pin'
        angle = { points = [[0, 0], [0.5, 1], [1, 1], [1.5, -2], [2, 9]], interpolation = 'linear' }",
    );
}

#[test]
fn a_damper_and_a_force_that_jumps_are_booked() {
    assert_second_order(
        "[[torsional-spring-damper]]
        joint = 'pin'
        stiffness = 10
        damping = 0.5
        [[force]]
        body = 'rod'
        force = ['if(t > 0.733, 5, 0)', 0, 1]",
    );
}
