//! Multipliers of the stabilized index-2 integrator [ArnoldCardonaBruls2015, Fig. 12].
//!
//! With the hidden constraints taken into account no oscillation is visible, on either group.

use super::super::heavy_top::{GROUPS, Moment, TopRun, group_name, oscillation, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, Start};
use kreisel::report::figure::{FigureStyle, Panel};

const STEP: f64 = 1e-3;

/// The interval of the figure.
const END: f64 = 0.1;

/// A part of the multipliers that is less than a line's width in the figure.
const INVISIBLE: f64 = 2e-3;

/// Runs both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len());
    let panels = GROUPS.map(|group| Panel::linear(group_name(group)));
    let table = Table::new(["group", "λ₁", "λ₂", "λ₃"]);
    let mut outcome = Outcome::new(table, FigureStyle::side_by_side(panels));
    for (panel, group) in GROUPS.into_iter().enumerate() {
        let history = TopRun::new(group, INDEX2, STEP)?.starting(Start::Trivial).until(END).run()?;
        let moments = history.all();
        let mut amplitudes = [0.0; 3];
        for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
            amplitudes[component] = oscillation(moments, |moment| moment.multiplier_error(component));
            let name = format!("relative oscillation of λ{digit}, {}", group_name(group));
            outcome.check(Check::at_most(name, INVISIBLE, amplitudes[component]));
            let of = |moment: &Moment| moment.multipliers[component];
            let curve = over_time(&format!("λ{digit}"), moments, of, "multipliers λ [N]");
            outcome.curve(curve.in_panel(panel));
        }
        outcome.table.row([group_name(group).to_owned()].into_iter().chain(amplitudes.map(number)));
        progress.advance();
    }
    Ok(outcome)
}
