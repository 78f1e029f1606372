//! Spurious oscillations of the multiplier λ₁ in the transient phase [ArnoldCardonaBruls2015, Fig. 7].
//!
//! The index-3 integrator with the trivial starting values. On SO(3)×R³ the amplitude depends linearly on h,
//! and the oscillation is damped out after about 50 steps; on SE(3) there is none.

use super::super::heavy_top::{GROUPS, Moment, TopRun, group_name, oscillation, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::report::figure::{FigureStyle, Panel};

const STEPS: [f64; 2] = [1e-3, 5e-4];

/// The interval of the figure.
const END: f64 = 0.1;

/// Runs both groups with both step sizes.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let panels = STEPS.map(|h| Panel::linear(format!("h = {h:e}")));
    let table = Table::new(["h", "group", "oscillation", "after 50 steps", "after 75 steps"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    let error = |moment: &Moment| moment.multiplier_error(0);
    let mut amplitudes = Vec::new();
    for (panel, step) in STEPS.into_iter().enumerate() {
        let mut of_groups = Vec::new();
        for group in GROUPS {
            let history = TopRun::new(group, INDEX3, step)?.starting(Start::Trivial).until(END).run()?;
            let moments = history.all();
            let after = |steps: usize| oscillation(&moments[steps..], error);
            of_groups.push([after(0), after(50), after(75)]);
            let cells = of_groups[of_groups.len() - 1].map(number);
            outcome.table.row([number(step), group_name(group).to_owned()].into_iter().chain(cells));
            let lambda = |moment: &Moment| moment.multipliers[0];
            outcome.curve(over_time(group_name(group), moments, lambda, "multiplier λ₁ [N]").in_panel(panel));
            progress.advance();
        }
        let [product, semidirect] = [of_groups[0], of_groups[1]];
        let name = |what: &str| format!("{what}, h = {step:e}");
        // |c_n| of Eq. (53) is 0.20 of its maximum at n = 50 and 0.04 at n = 75.
        outcome.check(Check::at_most(name("part left after 50 steps"), 0.25, product[1] / product[0]));
        outcome.check(Check::at_most(name("part left after 75 steps"), 0.06, product[2] / product[0]));
        // Less than the width of a line in the figure.
        outcome.check(Check::at_most(
            name("oscillation on SE(3) against SO(3)×R³"),
            0.01,
            semidirect[0] / product[0],
        ));
        amplitudes.push(product[0]);
    }
    // Linear in h up to terms of second order.
    outcome.check(Check::near(
        "amplitude for h = 1e-3 against 5e-4",
        2.0,
        amplitudes[0] / amplitudes[1],
        0.1,
    ));
    Ok(outcome)
}
