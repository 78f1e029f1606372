//! Order of the index-3 integrator on [0, 1] with the trivial starting values [ArnoldCardonaBruls2015, Fig.
//! 6].
//!
//! Second order in q and v on both groups. The multipliers lose an order in the transient phase on SO(3)×R³
//! and keep it on SE(3).

use super::super::heavy_top::{GROUPS, TopRun, group_name};
use super::super::ladder::{Ladder, STEPS, outcome};
use super::super::{ExperimentError, Outcome, Progress};
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::Group;

/// Runs the ladder on both groups.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let mut outcome = outcome([("SO(3)×R³", &[1.0, 2.0]), ("SE(3)", &[2.0])]);
    for (panel, group) in GROUPS.into_iter().enumerate() {
        let run = |h| TopRun::new(group, INDEX3, h)?.starting(Start::Trivial).run();
        let ladder = Ladder::climb(group_name(group), &STEPS, [0.0, 1.0], progress, run)?;
        ladder.show(&mut outcome, panel);
        if group == Group::So3xR3 {
            // At h = 4e-3 the run is nearly unstable, and Newton's iteration fails soon after t = 1.
            ladder.part(|h| h < 4e-3).check_orders(&mut outcome, [2.0, 2.0, 1.0]);
        } else {
            ladder.check_orders(&mut outcome, [2.0, 2.0, 2.0]);
        }
    }
    Ok(outcome)
}
