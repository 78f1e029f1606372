//! The stabilizing multipliers η of the index-2 integrator [ArnoldCardonaBruls2015, Fig. 14].
//!
//! η_n = O(h²) on SO(3)×R³. On SE(3) both integrators give the same solution, and η_n vanishes.

use super::super::heavy_top::{GROUPS, Moment, TopRun, group_name, largest, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX2, Start};
use kreisel::lie::Group;
use kreisel::report::figure::{FigureStyle, Panel};

const STEPS: [f64; 2] = [1e-3, 5e-4];

/// Increments of size one that are exact to round-off, divided by h, make errors of 1e-12 in η.
const ROUND_OFF: f64 = 1e-11;

/// Runs both groups with both step sizes.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let panels = STEPS.map(|h| Panel::linear(format!("SO(3)×R³, h = {h:e}")));
    let mut outcome = Outcome::new(Table::new(["group", "h", "max ‖η‖"]), FigureStyle::side_by_side(panels));
    for group in GROUPS {
        let mut amplitudes = Vec::new();
        for (panel, step) in STEPS.into_iter().enumerate() {
            let history = TopRun::new(group, INDEX2, step)?.starting(Start::Trivial).run()?;
            amplitudes.push(largest(history.all(), |moment| moment.stabilizers.norm()));
            outcome.table.row([group_name(group).to_owned(), number(step), number(amplitudes[panel])]);
            if group == Group::So3xR3 {
                draw(&mut outcome, history.all(), panel);
            } else {
                let name = format!("max ‖η‖, SE(3), h = {step:e}");
                outcome.check(Check::at_most(name, ROUND_OFF, amplitudes[panel]));
            }
            progress.advance();
        }
        if group == Group::So3xR3 {
            let ratio = amplitudes[0] / amplitudes[1];
            outcome.check(Check::near("amplitude for h = 1e-3 against 5e-4, SO(3)×R³", 4.0, ratio, 0.05));
        }
    }
    Ok(outcome)
}

fn draw(outcome: &mut Outcome, moments: &[Moment], panel: usize) {
    for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
        let of = |moment: &Moment| moment.stabilizers[component];
        outcome
            .curve(over_time(&format!("η{digit}"), moments, of, "stabilizing multipliers η").in_panel(panel));
    }
}
