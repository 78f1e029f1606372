//! Relative error in λ₁ of the stabilized index-2 integrator on SO(3)×R³ [ArnoldCardonaBruls2015, Fig. 13].
//!
//! The trivial starting value a₀ = v̇(t₀) leaves an oscillating first-order error of amplitude 0.64 h, which
//! is damped out rapidly. The error on [0, 1] is about 3.0e3 h².

use super::super::heavy_top::{Errors, Moment, TopRun, oscillation, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

const STEPS: [f64; 2] = [1e-3, 5e-4];

/// The interval of the figure.
const END: f64 = 0.1;

/// Runs both step sizes.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(STEPS.len());
    let panels = STEPS.map(|h| Panel::linear(format!("h = {h:e}")));
    let table = Table::new(["h", "oscillation / h", "error on [0, 1] / h²"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let error = |moment: &Moment| moment.multiplier_error(0);
    for (panel, step) in STEPS.into_iter().enumerate() {
        let history = TopRun::new(Group::So3xR3, INDEX2, step)?.starting(Start::Trivial).run()?;
        let amplitude = oscillation(history.between(0.0, END), error) / step;
        let constant = Errors::largest(history.all()).multipliers / (step * step);
        outcome.table.row([number(step), number(amplitude), number(constant)]);
        let name = |what: &str| format!("{what}, h = {step:e}");
        outcome.check(Check::near(name("amplitude of the oscillation / h"), 0.64, amplitude, 0.1));
        outcome.check(Check::near(name("error on [0, 1] / h²"), 3.0e3, constant, 0.05));
        let curve = over_time("λ₁", history.between(0.0, END), error, "relative error in λ₁");
        outcome.curve(curve.in_panel(panel));
        progress.advance();
    }
    Ok(outcome)
}
