//! The index-3 integrator with the starting values of Table 2 [ArnoldCardonaBruls2015, Fig. 18].
//!
//! Relative error in λ₁ on SO(3)×R³: the perturbed v₀ eliminates the first-order term, and the largest error
//! falls by four when h is halved.

use super::super::heavy_top::{Moment, TopRun, largest, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

const STEPS: [f64; 2] = [1e-3, 5e-4];

/// Runs both step sizes.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(STEPS.len());
    let panels = STEPS.map(|h| Panel::linear(format!("h = {h:e}")));
    let table = Table::new(["h", "max error in λ₁ on [0, 0.1]", "on [0, 1]"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let error = |moment: &Moment| moment.multiplier_error(0);
    let mut sizes = Vec::new();
    for (panel, step) in STEPS.into_iter().enumerate() {
        let history = TopRun::new(Group::So3xR3, INDEX3, step)?.starting(Start::OrderPreserving).run()?;
        let transient = history.between(0.0, 0.1);
        sizes.push([largest(transient, error), largest(history.all(), error)]);
        outcome.table.row([number(step), number(sizes[panel][0]), number(sizes[panel][1])]);
        outcome.curve(over_time("λ₁", transient, error, "relative error in λ₁").in_panel(panel));
        progress.advance();
    }
    for (place, interval) in ["[0, 0.1]", "[0, 1]"].iter().enumerate() {
        let name = format!("largest error on {interval} for h = 1e-3 against 5e-4");
        outcome.check(Check::near(name, 4.0, sizes[0][place] / sizes[1][place], 0.1));
    }
    Ok(outcome)
}
