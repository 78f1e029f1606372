//! Transient error in λ of the mathematical pendulum [ArnoldCardonaBruls2015, Example 3.2 and Fig. 5].
//!
//! The index-3 integrator with v₀ = v(t₀) and a₀ ≈ v̇(t₀ + Δ_α h). The first-order error is c_n h B v̈(t₀)
//! with B v̈ = −3 g x₀ ẋ₀ / y₀: it vanishes for a start in the equilibrium position x₀ = 0.

use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::problem::Pendulum;
use kreisel::integrate::{INDEX3, Integrator, Parameters, Settings, Start};
use kreisel::report::figure::{FigureStyle, Panel, Series};

/// Step sizes, and the largest errors that the paper prints for x₀ = 0.2.
const RUNS: [(f64, &str); 2] = [(2e-2, "2.48e-1"), (1e-2, "1.23e-1")];

/// The transient errors are damped out after about 100 steps.
const STEPS: usize = 100;

/// A ratio that is nearer to 100 than to 10 or 1000 is of two orders of magnitude.
const HALF_AN_ORDER: f64 = 0.5;

/// Runs both starts with both step sizes.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 * RUNS.len());
    let panels = RUNS.map(|(step, _)| Panel::linear(format!("h = {step:e}")));
    let table = Table::new(["h", "max error, x₀ = 0.2", "max error, x₀ = 0", "ratio"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let mut in_equilibrium = Vec::new();
    for (panel, (step, printed)) in RUNS.into_iter().enumerate() {
        let mut largest = [0.0; 2];
        for (largest, x) in largest.iter_mut().zip([0.2, 0.0]) {
            let (times, errors) = multiplier_errors(x, step)?;
            *largest = errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs()));
            let curve = Series::new(format!("x₀ = {x}"), times, errors);
            outcome.curve(curve.labelled("t [s]", "error in λ [N/m]").in_panel(panel));
            progress.advance();
        }
        let ratio = largest[0] / largest[1];
        outcome.table.row([number(step), number(largest[0]), number(largest[1]), number(ratio)]);
        outcome.check(Check::printed(format!("max error for x₀ = 0.2, h = {step:e}"), printed, largest[0]));
        let name = format!("orders of magnitude less for x₀ = 0, h = {step:e}");
        outcome.check(Check::close(name, 2.0, ratio.log10(), HALF_AN_ORDER));
        in_equilibrium.push(largest[1]);
    }
    // No first-order term is left, so the error is of second order.
    let ratio = in_equilibrium[0] / in_equilibrium[1];
    outcome.check(Check::near("max error for x₀ = 0, h = 2e-2 against 1e-2", 4.0, ratio, 0.05));
    Ok(outcome)
}

/// λ(t_n) − λ_n against the pendulum in its angle.
fn multiplier_errors(x: f64, step: f64) -> Result<(Vec<f64>, Vec<f64>), ExperimentError> {
    let pendulum = Pendulum::default();
    let initial = pendulum.initial(x);
    let times: Vec<f64> = (1..=STEPS).map(|n| n as f64 * step).collect();
    let exact = pendulum.reference(&initial, &times);
    let settings = Settings::new(INDEX3, Parameters::chung_hulbert(0.9)?, step)
        .with_start(Start::ImprovedAcceleration)
        .with_newton_tolerances(1e-12, 1e-13);
    let mut integration = Integrator::with(settings).start(&pendulum, initial)?;
    let mut errors = Vec::with_capacity(STEPS);
    for (q, v) in exact {
        integration.step()?;
        errors.push(pendulum.multiplier(&q, &v) - integration.values().multipliers[0]);
    }
    Ok((times, errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_errors_come_out() {
        let outcome = run(&Progress::hidden()).unwrap();
        assert!(outcome.passed(), "{:#?}", outcome.checks);
    }
}
