//! Residuals of the constraints at position level [ArnoldCardonaBruls2015, Fig. 9].
//!
//! The index-3 integrator with the paper's tolerances of Newton's iteration, RTOL = 1e-8 and ATOL = 1e-10:
//! the constraints hold far better than that.

use super::super::heavy_top::{GROUPS, TopRun, group_name, largest, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::report::figure::{FigureStyle, Panel};

const STEP: f64 = 1e-3;

/// "‖Φ(q_n)‖ ≪ 1e-10": a hundred roundings of a length of 1 m.
const FAR_BELOW: f64 = 100.0 * f64::EPSILON;

/// Runs both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len());
    let panels = GROUPS.map(|group| Panel::linear(group_name(group)));
    let mut outcome = Outcome::new(Table::new(["group", "max ‖Φ(q)‖"]), FigureStyle::side_by_side(panels));
    for (panel, group) in GROUPS.into_iter().enumerate() {
        let history = TopRun::new(group, INDEX3, STEP)?.starting(Start::Trivial).stopping_early().run()?;
        let residual = largest(history.all(), |moment| moment.violation);
        outcome.table.row([group_name(group).to_owned(), number(residual)]);
        outcome.check(Check::at_most(format!("max ‖Φ(q)‖, {}", group_name(group)), FAR_BELOW, residual));
        let curve = over_time("‖Φ(q)‖", history.all(), |moment| moment.violation, "residual ‖Φ(q)‖ [m]");
        outcome.curve(curve.in_panel(panel));
        progress.advance();
    }
    Ok(outcome)
}
