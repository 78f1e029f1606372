//! Starting value a₀ of the stabilized index-2 integrator [ArnoldCardonaBruls2015, Fig. 16].
//!
//! Relative error in λ₁ on SO(3)×R³. With a₀ = v̇(t₀) it has an oscillating first-order term; with
//! a₀ ≈ v̇(t₀ + Δ_α h) of Table 1 the term disappears.

use super::super::heavy_top::{Moment, TopRun, oscillation, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

/// The paper's step size, and half of it to see the order of what is left.
const STEPS: [f64; 2] = [1e-3, 5e-4];

/// The interval of the figure.
const END: f64 = 0.1;

/// Runs both starting values.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let starts = [("a₀ = v̇(t₀)", Start::Trivial), ("a₀ of Table 1", Start::ImprovedAcceleration)];
    progress.expect(starts.len() * STEPS.len());
    let panels = starts.map(|(name, _)| Panel::linear(format!("{name}, h = 1e-3")));
    let table = Table::new(["start", "h", "oscillation / h"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let error = |moment: &Moment| moment.multiplier_error(0);
    let mut amplitudes = [[0.0; 2]; 2];
    for (panel, (name, start)) in starts.into_iter().enumerate() {
        for (place, step) in STEPS.into_iter().enumerate() {
            let history = TopRun::new(Group::So3xR3, INDEX2, step)?.starting(start).until(END).run()?;
            let amplitude = oscillation(history.all(), error);
            outcome.table.row([name.to_owned(), number(step), number(amplitude / step)]);
            amplitudes[panel][place] = amplitude;
            if place == 0 {
                outcome.curve(over_time("λ₁", history.all(), error, "relative error in λ₁").in_panel(panel));
            }
            progress.advance();
        }
    }
    let [trivial, improved] = amplitudes;
    outcome.check(Check::near("oscillation / h for a₀ = v̇(t₀)", 0.64, trivial[0] / STEPS[0], 0.1));
    // What is left is smaller by a factor that a figure shows, and of second order at least.
    outcome.check(Check::at_most("oscillation of Table 1 against a₀ = v̇(t₀)", 0.1, improved[0] / trivial[0]));
    outcome.check(Check::at_least(
        "oscillation of Table 1 for h = 1e-3 against 5e-4",
        3.8,
        improved[0] / improved[1],
    ));
    Ok(outcome)
}
