//! Forces along the displacement of a joint.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::integrate::{INDEX2, Integrator, Parameters, Settings};
use kreisel::machine::Machine;

/// Displacement of a block of 2 kg on a slide along x after a run.
fn slide(velocity: f64, rest: &str, step: f64, end: f64) -> f64 {
    let text = format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = \"block\"
        mass = 2
        inertia = [1, 1, 1]
        velocity = [{velocity}, 0, 0]
        [[prismatic]]
        name = \"slide\"
        bodies = [\"ground\", \"block\"]
        point = [0, 0, 0]
        axis = [1, 0, 0]
        {rest}"
    );
    let machine = Machine::from_text("test.toml", &text).map_err(|errors| errors.render(false)).unwrap();
    let settings = Settings::new(INDEX2, Parameters::chung_hulbert(1.0).unwrap(), step);
    let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(end).unwrap();
    // The block does not turn, so its configuration is a unit quaternion and the position.
    run.values().configuration[4]
}

#[test]
fn a_spring_in_a_slide_swings_about_its_free_displacement() {
    let spring = "[[spring-damper]]\njoint = \"slide\"\nstiffness = 50\nfree-length = -0.1";
    // x = 0.1 (cos 5t − 1); the trapezoidal rule turns slower by (ωh)²/12.
    let exact = 0.1 * (5f64.cos() - 1.0);
    let found = slide(0.0, spring, 1e-3, 1.0);
    assert!((found - exact).abs() < 1.1e-6, "{found} {exact}");
}

#[test]
fn friction_in_a_slide_stops_the_block_after_its_closed_form_way() {
    let friction = "[[joint-friction]]\njoint = \"slide.displacement\"\nforce = 4\ntransition-speed = 0.05";
    // m/F (v²/2 + π² v₀²/12).
    let exact = 0.5 * (0.5 + std::f64::consts::PI.powi(2) * 0.05 * 0.05 / 12.0);
    let found = slide(1.0, friction, 1e-3, 1.0);
    // Second order in a step of a fortieth of the decay time m v₀/F.
    assert!((found - exact).abs() < 1e-5, "{found} {exact}");
}

#[test]
fn a_stop_in_a_slide_throws_the_block_back() {
    let stop = "[[end-stop]]\njoint = \"slide\"\nupper = \"50 mm\"\nstiffness = \"20 N/mm\"";
    // Half a swing of √(m/k) = 0.01 s takes 31 ms; then the block returns with the same speed.
    let exact = 0.05 - (0.2 - 0.05 - 0.01 * std::f64::consts::PI);
    let found = slide(1.0, stop, 1e-4, 0.2);
    // The contact begins within a step: 1e-4 s at 1 m/s.
    assert!((found - exact).abs() < 1e-4, "{found} {exact}");
}

#[test]
fn an_actuator_in_a_slide_pushes_by_its_law() {
    // F/m t²/2, exact for constant accelerations.
    let found = slide(0.0, "[[joint-force]]\njoint = \"slide\"\nforce = \"3 N\"", 0.01, 1.0);
    assert!((found - 0.75).abs() < 1e-10, "{found}");
}
