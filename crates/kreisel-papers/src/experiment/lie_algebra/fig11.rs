//! Order of the stabilized index-2 integrator on [0, 1] [ArnoldCardonaBruls2015, Fig. 11].
//!
//! Second order in all components for h ≥ 2.5e-4. The trivial starting value a₀ = v̇(t₀) leaves a small
//! first-order error in λ on SO(3)×R³, which shows at smaller step sizes: at 2.5e-4 it is a fifth of the
//! whole already, so that second order in λ is judged above it.

use super::super::heavy_top::{GROUPS, TopRun, group_name};
use super::super::ladder::{Ladder, outcome};
use super::super::{ExperimentError, Outcome, Progress};
use kreisel::integrate::{INDEX2, Start};
use kreisel::lie::Group;

/// The paper's ladder, and two smaller step sizes at which the first-order error prevails.
const STEPS: [f64; 8] = [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5, 3.125e-5];

/// Runs the ladder on both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let mut outcome = outcome([("SO(3)×R³", &[1.0, 2.0]), ("SE(3)", &[2.0])]);
    for (panel, group) in GROUPS.into_iter().enumerate() {
        let run = |h| TopRun::new(group, INDEX2, h)?.starting(Start::Trivial).run();
        let ladder = Ladder::climb(group_name(group), &STEPS, [0.0, 1.0], progress, run)?;
        ladder.show(&mut outcome, panel);
        ladder.check_order(&mut outcome, "q", 2.0);
        ladder.check_order(&mut outcome, "v", 2.0);
        ladder.part(|h| h > 2.5e-4).check_order(&mut outcome, "λ", 2.0);
        let smallest = ladder.part(|h| h < 2.5e-4).named(&format!("{} for h < 2.5e-4", group_name(group)));
        let order = if group == Group::So3xR3 { 1.0 } else { 2.0 };
        smallest.check_order(&mut outcome, "λ", order);
    }
    Ok(outcome)
}
