//! Order of the index-3 integrator on [0, 1] with the starting values of Table 2 [ArnoldCardonaBruls2015,
//! Fig. 21].
//!
//! The perturbed starting values give second order in all components on SO(3)×R³.

use super::super::heavy_top::TopRun;
use super::super::ladder::{Ladder, STEPS, outcome};
use super::super::{ExperimentError, Outcome, Progress};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;

/// Runs the ladder with classical and with modified starting values.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 * STEPS.len());
    let (classical, modified) = ("classical starting values", "starting values of Table 2");
    let mut outcome = outcome([(classical, &[1.0, 2.0]), (modified, &[2.0])]);
    let runs = [(classical, Start::Trivial, 1.0), (modified, Start::OrderPreserving, 2.0)];
    for (panel, (name, start, order_of_multipliers)) in runs.into_iter().enumerate() {
        let run = |h| TopRun::new(Group::So3xR3, INDEX3, h)?.starting(start).run();
        let ladder = Ladder::climb(name, &STEPS, [0.0, 1.0], progress, run)?;
        ladder.show(&mut outcome, panel);
        // At h = 4e-3 the run is nearly unstable, and Newton's iteration fails soon after t = 1.
        ladder.part(|h| h < 4e-3).check_orders(&mut outcome, [2.0, 2.0, order_of_multipliers]);
    }
    Ok(outcome)
}
