//! Inverse dynamics over time: the forces that drive a motion, and what joints transmit meanwhile.

use super::dynamics::{Dynamics, DynamicsError, Inverse};
use crate::machine::LedMotion;
use crate::results::Channel;
use thiserror::Error;

/// Forces that drive a motion, and what joints transmit then: a column each.
#[derive(Clone, Debug, PartialEq)]
pub struct DrivingForces {
    /// Name and unit of each column.
    pub channels: Vec<Channel>,
    /// Numbers at each time.
    pub rows: Vec<Vec<f64>>,
    /// Columns before this one drive coordinates, one each in their order; then come powers, one each.
    pub coordinates: usize,
}

/// A motion that a machine cannot make.
#[derive(Clone, Error)]
#[error("at t = {time} s (line {line} of the table): {error}")]
pub struct LedMotionError {
    /// When.
    pub time: f64,
    /// Where that stands.
    pub line: usize,
    /// Why.
    pub error: DynamicsError,
}

shown_by_message!(LedMotionError);

impl Dynamics {
    /// Forces that drive a motion of the coordinates in which the machine is led.
    pub fn driving_forces(&self, motion: &LedMotion) -> Result<DrivingForces, LedMotionError> {
        let mut at = self.evaluator();
        let mut rows = Vec::with_capacity(motion.times().len());
        for (place, (&time, &line)) in motion.times().iter().zip(motion.lines()).enumerate() {
            let [values, rates, accelerations] = [0, 1, 2].map(|order| motion.row(place, order));
            let found = at.go_on(time, &values, &rates).and_then(|()| at.inverse(&accelerations));
            let Inverse { forces, reactions } =
                found.map_err(|error| LedMotionError { time, line, error })?;
            let powers: Vec<f64> = forces.iter().zip(&rates).map(|(force, rate)| force * rate).collect();
            rows.push(forces.into_iter().chain(powers).chain(reactions.into_iter().flatten()).collect());
        }
        Ok(DrivingForces { channels: channels(self), rows, coordinates: motion.coordinates().len() })
    }
}

/// Columns of the forces that drive a machine: forces and powers of its coordinates, then reactions.
fn channels(dynamics: &Dynamics) -> Vec<Channel> {
    let led = dynamics.led().coordinates();
    let alone = |joint: &str| {
        led.iter().filter(|other| other.name.rsplit_once('.').is_some_and(|(name, _)| name == joint)).count()
            == 1
    };
    // `elbow.drive-torque`; of joints with several coordinates `ball.drive-torque.angle-1`.
    let named = |word: &str, name: &str| match name.rsplit_once('.') {
        Some((joint, _)) if alone(joint) => format!("{joint}.drive-{word}"),
        Some((joint, coordinate)) => format!("{joint}.drive-{word}.{coordinate}"),
        None => format!("{name}.drive-{word}"),
    };
    let is_length = |unit: &str| unit == "m";
    let forces = led.iter().map(|led| match is_length(led.measured.unit) {
        true => Channel::new(named("force", &led.name), "N"),
        false => Channel::new(named("torque", &led.name), "Nm"),
    });
    let powers = led.iter().map(|led| Channel::new(named("power", &led.name), "W"));
    let joints = dynamics.joint_names();
    let reactions = joints.iter().flat_map(|joint| {
        let axes = |word: &'static str, unit: &'static str| {
            ["x", "y", "z"].map(|axis| Channel::new(format!("{joint}.{word}.{axis}"), unit))
        };
        [axes("torque", "Nm"), axes("force", "N")].into_iter().flatten()
    });
    forces.chain(powers).chain(reactions).collect()
}
