//! Other spectral radii than the papers' 0.9: ρ∞ = 0.6 and 0.8.
//!
//! Second order in all components does not depend on ρ∞ [ArnoldCardonaBruls2015, Theorem 4.18]: errors of the
//! heavy top with the starting values of Table 2. The first-order transient in λ does: on the pendulum it is
//! e_n^λ = c_n h B v̈(t₀) with the constants of [ArnoldCardonaBruls2015, Eq. (53)], and B v̈ = −3 g x₀ ẋ₀ /
//! y₀ [ArnoldCardonaBruls2015, Example 3.2].

use super::super::heavy_top::{GROUPS, TopRun, group_name};
use super::super::ladder::{Ladder, outcome};
use super::super::{Check, ExperimentError, Outcome, Progress};
use super::eq53::error_constant;
use crate::problem::Pendulum;
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, Settings, Start};

/// ρ∞.
const RADII: [f64; 2] = [0.6, 0.8];

const METHODS: [(&str, Method); 2] = [("index 3", INDEX3), ("index 2", INDEX2)];

/// Steps with which the order is judged.
const STEPS: [f64; 3] = [1e-3, 5e-4, 2.5e-4];

/// Start, steps and step size of the pendulum. What follows the transient is of second order: with h = 1e-4
/// some 1e-2 of it.
const DEVIATION: f64 = 0.2;
const PENDULUM_STEPS: usize = 60;
const PENDULUM_STEP: f64 = 1e-4;
const PENDULUM_TOLERANCE: f64 = 0.03;

/// Orders on the heavy top, transients of the pendulum.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(RADII.len() * (1 + METHODS.len() * GROUPS.len() * STEPS.len()));
    let mut outcome = outcome([("SO(3)×R³", &[2.0]), ("SE(3)", &[2.0])]);
    for radius in RADII {
        for (word, method) in METHODS {
            for (panel, group) in GROUPS.into_iter().enumerate() {
                let name = format!("{}, {word}, ρ∞ = {radius}", group_name(group));
                let ladder = Ladder::climb(&name, &STEPS, [0.0, 1.0], progress, |step| {
                    TopRun::new(group, method, step)?.starting(Start::OrderPreserving).damping(radius)?.run()
                })?;
                ladder.show(&mut outcome, panel);
                ladder.check_orders(&mut outcome, [2.0; 3]);
            }
        }
        transient(&mut outcome, radius)?;
        progress.advance();
    }
    Ok(outcome)
}

/// The largest error in λ of the pendulum, and when it comes, against Eq. (53).
fn transient(outcome: &mut Outcome, radius: f64) -> Result<(), ExperimentError> {
    let pendulum = Pendulum::default();
    let initial = pendulum.initial(DEVIATION);
    let (x, y) = (initial.configuration[0], initial.configuration[1]);
    let jerk = -3.0 * pendulum.gravity * x * initial.velocity[0] / y;
    let times: Vec<f64> = (1..=PENDULUM_STEPS).map(|n| n as f64 * PENDULUM_STEP).collect();
    let exact = pendulum.reference(&initial, &times);
    let parameters = Parameters::chung_hulbert(radius)?;
    let settings = Settings::new(INDEX3, parameters, PENDULUM_STEP)
        .with_start(Start::ImprovedAcceleration)
        .with_newton_tolerances(1e-12, 1e-13);
    let mut integration = Integrator::with(settings).start(&pendulum, initial)?;
    let mut errors = Vec::new();
    for (q, v) in exact {
        integration.step()?;
        errors.push(pendulum.multiplier(&q, &v) - integration.values().multipliers[0]);
    }
    let unit = parameters.position_error_constant() * PENDULUM_STEP * jerk;
    let expected: Vec<f64> = (1..=PENDULUM_STEPS).map(|n| error_constant(radius, n) * unit).collect();
    let largest = |values: &[f64]| {
        let sizes = values.iter().map(|value| value.abs()).enumerate();
        sizes.fold((0, 0.0), |best, (n, size)| if size > best.1 { (n + 1, size) } else { best })
    };
    let ((step, size), (found_step, found)) = (largest(&expected), largest(&errors));
    let name = |what: &str| format!("{what} of the pendulum's error in λ, ρ∞ = {radius}");
    outcome.check(Check::near(name("maximum"), size, found, PENDULUM_TOLERANCE));
    outcome.check(Check::count(name("step n of the maximum"), step, found_step));
    Ok(())
}
