//! Order of the index-3 integrator beyond the transient phase, on [0.5, 1] [ArnoldCardonaBruls2015, Fig. 8].
//!
//! Once the transient phase is over, the multipliers are of second order on both groups.

use super::super::heavy_top::{GROUPS, TopRun, group_name};
use super::super::ladder::{Ladder, STEPS, outcome};
use super::super::{ExperimentError, Outcome, Progress};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;

/// Runs the ladder on both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let mut outcome = outcome([("SO(3)×R³", &[2.0]), ("SE(3)", &[2.0])]);
    for (panel, group) in GROUPS.into_iter().enumerate() {
        let run = |h| TopRun::new(group, INDEX3, h)?.starting(Start::Trivial).run();
        let ladder = Ladder::climb(group_name(group), &STEPS, [0.5, 1.0], progress, run)?;
        ladder.show(&mut outcome, panel);
        // At h = 4e-3 the run on SO(3)×R³ is nearly unstable, and Newton's iteration fails soon after t = 1.
        let judged = ladder.part(|h| group == Group::Se3 || h < 4e-3);
        judged.check_orders(&mut outcome, [2.0, 2.0, 2.0]);
    }
    Ok(outcome)
}
