//! A slowly rotating top: Ω(0) reduced by a factor of 100 [ArnoldCardonaBruls2015, §3.3, remark on Fig. 6].
//!
//! The fast top favours SO(3)×R³. On the slow one SE(3) has about half the error in q and a fiftieth of it in
//! λ.

use super::super::heavy_top::{Errors, GROUPS, Moment, TopRun, group_name, largest};
use super::super::ladder::{Ladder, outcome};
use super::super::{Check, ExperimentError, Outcome, Progress};
use crate::problem::HeavyTop;
use kreisel::integrate::{INDEX3, Start};
use kreisel::lie::UnitQuaternion;

/// Step sizes about the one that is judged.
const STEPS: [f64; 5] = [2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3];

/// The step size that is judged.
const JUDGED: f64 = 1e-2;

/// Errors in q and λ on SO(3)×R³ and on SE(3) from an independent implementation.
const INDEPENDENT: [[&str; 2]; 2] = [["2.4e-3", "6.3e-2"], ["1.2e-3", "1.1e-3"]];

/// Runs the ladder on both groups with the starting values of Table 2.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let mut outcome = outcome([("SO(3)×R³", &[2.0]), ("SE(3)", &[2.0])]);
    let mut judged = Vec::new();
    for (panel, (group, independent)) in GROUPS.into_iter().zip(INDEPENDENT).enumerate() {
        let mut ladder = Ladder::new(group_name(group));
        for step in STEPS {
            let run = TopRun::new(group, INDEX3, step)?.starting(Start::OrderPreserving);
            let history = run.of(HeavyTop::slow(group)).run()?;
            ladder.push(step, history.all());
            if step == JUDGED {
                let name =
                    |component: &str| format!("error in {component} at h = 1e-2, {}", group_name(group));
                let in_q = largest(history.all(), matrix_error);
                let in_multipliers = Errors::largest(history.all()).multipliers;
                outcome.check(Check::rounds_to(name("q"), independent[0], in_q));
                outcome.check(Check::rounds_to(name("λ"), independent[1], in_multipliers));
                judged.push([in_q, in_multipliers]);
            }
            progress.advance();
        }
        ladder.show(&mut outcome, panel);
        ladder.check_orders(&mut outcome, [2.0, 2.0, 2.0]);
    }
    let [in_q, in_multipliers] = [0, 1].map(|component| judged[1][component] / judged[0][component]);
    // "About half" and "about 1/50".
    outcome.check(Check::near("error in q on SE(3) against SO(3)×R³", 0.5, in_q, 0.2));
    outcome.check(Check::near("error in λ on SE(3) against SO(3)×R³", 1.0 / 50.0, in_multipliers, 0.2));
    Ok(outcome)
}

/// ‖R − R_n‖ + ‖x − x_n‖ in the norm of Frobenius, the measure of the numbers to compare with.
fn matrix_error(moment: &Moment) -> f64 {
    let matrix = |rotation: UnitQuaternion| rotation.to_rotation_matrix().into_inner();
    let in_rotation = (matrix(moment.exact.rotation) - matrix(moment.rotation)).norm();
    in_rotation + (moment.exact.position - moment.position).norm()
}
