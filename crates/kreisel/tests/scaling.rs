//! Condition and round-off of the iteration over many step sizes: neither may depend on h.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::integrate::{GeneralizedAlpha, Method, Parameters, Settings};
use kreisel::machine::Machine;

const STEPS: [f64; 7] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Three links on hinges and ball joints.
const LINKS: &str = "
    [[body]]
    name = 'link-{i}'
    repeat = 3
    mass = 1
    inertia = [0.1, 0.1, 0.1]
    position = ['0.48*(i + 0.5)', '0.6*(i + 0.5)', '0.64*(i + 0.5)']
    [[revolute]]
    name = 'anchor'
    bodies = ['ground', 'link-0']
    point = [0, 0, 0]
    axis = [0, 1, 0]
    [[spherical]]
    name = 'joint-{i}'
    repeat = 2
    bodies = ['link-{i}', 'link-{i+1}']
    point = ['0.48*(i + 1)', '0.6*(i + 1)', '0.64*(i + 1)']
";

/// A soft beam on a ball joint.
const BEAM: &str = "
    [[beam]]
    name = 'beam'
    from = [0, 0, 0]
    to = [0.48, 0.6, 0.64]
    elements = 2
    section.axial-stiffness = 100
    section.shear-stiffness = [50, 50]
    section.torsional-stiffness = 1
    section.bending-stiffness = [1, 1]
    section.mass-per-length = 1
    section.inertia-per-length = [0.02, 0.01, 0.01]
    [[spherical]]
    name = 'anchor'
    bodies = ['ground', 'beam.start']
";

/// Condition number after some steps of a size, and how far the multipliers of these steps are from those at the start, relatively.
fn measure(machine: &Machine, method: Method, step: f64) -> (f64, f64) {
    let mut settings = Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), step);
    settings.report_condition = true;
    let mut run = GeneralizedAlpha::with(settings).start(&machine.system, machine.initial.clone()).unwrap();
    let first = run.state().multipliers.clone();
    let size = first.iter().fold(0.0_f64, |size, lambda| size.max(lambda.abs()));
    let (mut condition, mut error) = (0.0_f64, 0.0_f64);
    for _ in 0..10 {
        condition = condition.max(run.step().unwrap().condition);
        let pairs = run.state().multipliers.iter().zip(&first);
        error = pairs.fold(error, |error, (now, then)| error.max((now - then).abs() / size));
    }
    (condition, error)
}

#[test]
fn condition_numbers_do_not_depend_on_the_step() {
    for (name, text) in [("links", LINKS), ("beam", BEAM)] {
        let machine = Machine::from_text("model.toml", text).map_err(|errors| errors.render(false)).unwrap();
        for method in [Method::Index3, Method::Index2] {
            let measured = STEPS.map(|step| measure(&machine, method, step));
            let low = measured.iter().fold(f64::INFINITY, |low, (condition, _)| low.min(*condition));
            let high = measured.iter().fold(0.0_f64, |high, (condition, _)| high.max(*condition));
            assert!(high < 2.0 * low, "{name} {method:?}: {measured:?}");
        }
    }
}

/// Rounding of some ε in positions of size one is ε m/h² in the multipliers of `index3`; `index2` finds them at the level of
/// velocities.
#[test]
fn multipliers_carry_the_round_off_they_must_and_no_more() {
    let machine = Machine::from_text("model.toml", LINKS).map_err(|errors| errors.render(false)).unwrap();
    for step in STEPS {
        let (_, error) = measure(&machine, Method::Index3, step);
        // What ten steps change in the multipliers of the motion: 1.2e3 h², relatively, with both methods.
        let motion = 1.5e3 * step * step;
        assert!(error < motion + 20.0 * f64::EPSILON / (step * step), "index3, h = {step:e}: {error:e}");
        let (_, error) = measure(&machine, Method::Index2, step);
        assert!(error < motion + 20.0 * f64::EPSILON / step, "index2, h = {step:e}: {error:e}");
    }
}
