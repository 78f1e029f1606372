//! An accuracy that is named for a whole run, against exact solutions: is it met, is it not met by far too
//! much work, and is what the run says of itself true? No paper's figure.
//!
//! The solutions are of another kind: a rod that swings in its angle, the heavy top in the reduced equations
//! on SO(3), both by extrapolation to round-off, and a mass on a spring in closed form.

use super::motion::{Poses, distance, in_parallel};
use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::problem::{HeavyTop, ode};
use kreisel::lie::space::quaternion;
use kreisel::lie::{Group, UnitQuaternion, Vector3};
use kreisel::machine::SettingTexts;
use kreisel::part::MachineReader;
use kreisel::report::figure::{FigureStyle, Panel, Series};
use kreisel::run::Job;

/// The accuracies that are named.
const ACCURACIES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

/// Smallest true error in parts of the accuracy: less would be work that nobody asked for.
const WASTED: f64 = 0.05;

/// Between these, in parts of the true error, is what a run says of its own: never half of it, nor far too
/// much.
const HONEST: [f64; 2] = [0.5, 3.0];

/// Times at which motions are compared.
const TIMES: usize = 100;

/// Position and rotation of a body.
type Pose = ([f64; 3], UnitQuaternion);

/// A machine of one body and its motion.
struct Case {
    name: &'static str,
    text: &'static str,
    method: &'static str,
    end: f64,
    exact: fn(times: &[f64]) -> Vec<Pose>,
}

/// A mass on a spring, ω = 10 rad/s, drawn out by a tenth of the distance to its anchor.
pub(super) const SPRING: &str = r#"
[gravity]
acceleration = [0, 0, 0]

[[body]]
name = "cart"
position = [1.1, 0, 0]
mass = 1
inertia = [1, 1, 1]

[[prismatic]]
name = "rail"
bodies = ["ground", "cart"]
point = [0, 0, 0]
axis = [1, 0, 0]

[[spring-damper]]
bodies = ["ground", "cart"]
stiffness = 100
free-length = 1
"#;

const CASES: [Case; 3] = [
    Case {
        name: "mass on a spring",
        text: SPRING,
        method: "index2",
        end: 5.0,
        exact: |times| {
            times
                .iter()
                .map(|t| ([1.0 + 0.1 * (10.0 * t).cos(), 0.0, 0.0], UnitQuaternion::identity()))
                .collect()
        },
    },
    Case {
        name: "rod that swings",
        text: include_str!("../../../../models/pendulum.toml"),
        method: "index2",
        end: 5.0,
        exact: swinging_rod,
    },
    Case {
        name: "heavy top",
        text: include_str!("../../../../models/heavy-top.toml"),
        method: "index3",
        end: 0.5,
        exact: |times| {
            let solution = HeavyTop::new(Group::So3xR3).reference(times);
            solution.iter().map(|exact| (exact.position.into(), exact.rotation)).collect()
        },
    },
];

/// A thin rod of 1 m on a pin, from the horizontal: θ̈ = 3g/(2l) cos θ with the angle θ below it.
fn swinging_rod(times: &[f64]) -> Vec<Pose> {
    const GRAVITY: f64 = 9.80665;
    let (mut now, mut state) = (0.0, [0.0, 0.0]);
    let at = |&time: &f64| {
        // Steps of at most 0.01 s resolve a period of 2 s to round-off.
        let steps = ((time - now) / 0.01).ceil().max(1.0) as usize;
        ode::integrate(|_, y| [y[1], 1.5 * GRAVITY * y[0].cos()], now, time, steps, &mut state);
        now = time;
        let (sin, cos) = state[0].sin_cos();
        let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, state[0], 0.0));
        ([0.5 * cos, 0.0, -0.5 * sin], rotation)
    };
    times.iter().map(at).collect()
}

/// What came of a run.
struct Found {
    steps: u64,
    /// The larger of the errors in positions, over the size of the machine or of its way, and angles, in
    /// parts of the accuracy.
    error: f64,
    /// What the run says of it.
    said: f64,
    /// Warnings of the run.
    doubts: usize,
}

impl Case {
    fn run(&self, accuracy: f64) -> Result<Found, ExperimentError> {
        let texts = SettingTexts::default()
            .with("method", self.method)
            .with("end-time", self.end)
            .with("accuracy", accuracy);
        let machine = MachineReader::new().with_settings(&texts).text(self.name, self.text)?;
        let mut plan = machine.plan()?;
        plan.output_step = Some(self.end / TIMES as f64);
        #[cfg(test)]
        {
            plan.accuracy = plan.accuracy.map(crate::problem::mutation::accuracy);
        }
        let (motion, outcome) = Job::new(&machine, &plan).record(Poses::default())?;
        let said = outcome.accuracy.ok_or("a run with an accuracy says what was reached")?;
        let times: Vec<f64> = (1..=TIMES).map(|n| self.end * n as f64 / TIMES as f64).collect();
        if motion.0.len() != TIMES + 1 {
            return Err(format!("{} records in place of {}", motion.0.len(), TIMES + 1).into());
        }
        let (mut position, mut angle) = (0.0_f64, 0.0_f64);
        for (nodes, (place, rotation)) in motion.0[1..].iter().zip((self.exact)(&times)) {
            let node = nodes.last().ok_or("the machine has a body")?;
            position = position.max(distance(&node.position, &place));
            angle = angle.max(quaternion(&node.rotation).angle_to(&rotation));
        }
        // The machine as it is drawn, or its way where that is longer.
        let size = machine.characteristic_length().max(motion.extent());
        Ok(Found {
            steps: outcome.statistics.steps,
            error: (position / size).max(angle) / accuracy,
            said: (said.positions.error / size).max(said.angles.error) / accuracy,
            doubts: outcome.summary.notes.len(),
        })
    }
}

/// Runs all machines with all accuracies.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let pairs: Vec<_> = CASES.iter().flat_map(|case| ACCURACIES.map(|accuracy| (case, accuracy))).collect();
    progress.expect(pairs.len());
    let headings = ["machine", "accuracy", "steps", "error/accuracy", "said/accuracy", "warnings"];
    let panel = Panel::log_log("true error over the accuracy");
    let mut outcome = Outcome::new(Table::new(headings), FigureStyle::side_by_side([panel]));
    let found = in_parallel(&pairs, |(case, accuracy)| {
        let found = case.run(*accuracy);
        progress.advance();
        found
    });
    let mut errors = Vec::new();
    for ((case, accuracy), found) in pairs.iter().zip(found) {
        let found = found?;
        let numbers = [*accuracy, found.steps as f64, found.error, found.said, found.doubts as f64];
        outcome.table.row([case.name.to_owned()].into_iter().chain(numbers.map(number)));
        let name = |what: &str| format!("{what}, {}, {accuracy:e}", case.name);
        outcome.check(Check::within(name("true error over the accuracy"), WASTED..=1.0, found.error));
        let [least, most] = HONEST;
        outcome.check(Check::within(
            name("error that is said over the true one"),
            least..=most,
            found.said / found.error,
        ));
        errors.push(found.error);
    }
    for (case, errors) in CASES.iter().zip(errors.chunks(ACCURACIES.len())) {
        let curve = Series::new(case.name, ACCURACIES.to_vec(), errors.to_vec());
        outcome.curve(curve.labelled("accuracy", "error over accuracy"));
    }
    Ok(outcome)
}
