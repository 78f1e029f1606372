//! Residuals of the hidden constraints with the stabilized index-2 integrator [ArnoldCardonaBruls2015, Fig.
//! 15].
//!
//! They are of the size of what Newton's iteration leaves, 2e-9 on SO(3)×R³ in the paper. On SE(3) the
//! constraint −X × Ω − U = 0 is linear, so that one iteration fulfils it to round-off, 2e-15 in the paper.

use super::super::heavy_top::{GROUPS, Moment, TopRun, group_name, largest, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, Start};
use kreisel::report::figure::{FigureStyle, Panel};

const STEP: f64 = 1e-3;

/// What is allowed. The paper finds 2e-9 on SO(3)×R³, what its iteration leaves; the last correction here is
/// below the tolerance and its square below round-off, so that three roundings of the 150 m/s that B v is the
/// difference of are left. On SE(3) it is the published number.
const ALLOWED: [f64; 2] = [3.0 * 150.0 * f64::EPSILON, 2e-15];

/// Runs both groups with the paper's tolerances of Newton's iteration.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len());
    let panels = GROUPS.map(|group| Panel::linear(group_name(group)));
    let mut outcome = Outcome::new(Table::new(["group", "max ‖B v‖"]), FigureStyle::side_by_side(panels));
    for (panel, (group, allowed)) in GROUPS.into_iter().zip(ALLOWED).enumerate() {
        let history = TopRun::new(group, INDEX2, STEP)?.starting(Start::Trivial).stopping_early().run()?;
        let residual = largest(history.all(), |moment| moment.hidden_residual.norm());
        outcome.table.row([group_name(group).to_owned(), number(residual)]);
        outcome.check(Check::at_most(format!("max ‖B v‖, {}", group_name(group)), allowed, residual));
        for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
            let of = |moment: &Moment| moment.hidden_residual[component];
            let curve = over_time(&format!("(B v){digit}"), history.all(), of, "residual B v [m/s]");
            outcome.curve(curve.in_panel(panel));
        }
        progress.advance();
    }
    Ok(outcome)
}
