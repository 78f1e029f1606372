//! Sensors of momenta, in world axes: of a body about its centre of mass, of the machine about the origin.

use super::{NamedSensor, Reading, Sensor, SensorEntry, SensorOf, xyz};
use crate::kinematics::{NodeId, split};
use crate::lie::Matrix3;
use crate::results::Channel;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry {
        word: "momentum",
        of: SensorOf::Machine,
        make: |_| Ok(NamedSensor::new("momentum", MachineMomentum(Momentum::Linear))),
    },
    SensorEntry {
        word: "angular-momentum",
        of: SensorOf::Machine,
        make: |_| Ok(NamedSensor::new("angular-momentum", MachineMomentum(Momentum::Angular))),
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Momentum {
    /// In kg m/s.
    Linear,
    /// In kg m²/s.
    Angular,
}

impl Momentum {
    fn channels(self) -> Vec<Channel> {
        xyz(if self == Self::Linear { "kg*m/s" } else { "kg*m^2/s" })
    }
}

/// Shows the momentum of all parts, beams included.
struct MachineMomentum(Momentum);

impl Sensor for MachineMomentum {
    fn channels(&self) -> Vec<Channel> {
        self.0.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let (angular, linear) = split(&at.system.momentum(&at.point));
        out.extend_from_slice(if self.0 == Momentum::Linear { linear } else { angular }.as_slice());
    }
}

/// Shows the momentum of a body.
pub struct BodyMomentum {
    node: NodeId,
    mass: f64,
    inertia: Matrix3,
    of: Momentum,
}

impl BodyMomentum {
    /// Both momenta of a body with its mass in kg and its inertia about the centre of mass in body axes, in
    /// kg m².
    pub fn both(body: &str, node: NodeId, mass: f64, inertia: Matrix3) -> [NamedSensor; 2] {
        [("momentum", Momentum::Linear), ("angular-momentum", Momentum::Angular)]
            .map(|(word, of)| NamedSensor::new(format!("{body}.{word}"), Self { node, mass, inertia, of }))
    }
}

impl Sensor for BodyMomentum {
    fn channels(&self) -> Vec<Channel> {
        self.of.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let motion = at.node(Some(self.node));
        let (angular_velocity, velocity) = split(&motion.velocity);
        let own = match self.of {
            Momentum::Linear => self.mass * velocity,
            Momentum::Angular => self.inertia * angular_velocity,
        };
        out.extend_from_slice((motion.rotation * own).as_slice());
    }
}
