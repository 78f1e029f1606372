//! Sensors of forces and torques: what joints exert, and what forces of the model do.

use super::{NamedSensor, Reading, Sensor, SensorEntry, SensorFrame, SensorOf, SensorRequest, xyz};
use crate::kinematics::split;
use crate::lie::{Vector3, Vector6};
use crate::machine::JointEntry;
use crate::model::ModelErrors;
use crate::results::Channel;
use crate::results::scene::ArrowKind;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry { word: "force", of: SensorOf::Joint, make: |request| reaction(request, WrenchPart::Force) },
    SensorEntry {
        word: "torque",
        of: SensorOf::Joint,
        make: |request| reaction(request, WrenchPart::Torque),
    },
];

/// A force or a torque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrenchPart {
    /// Force in N.
    Force,
    /// Torque in Nm.
    Torque,
}

impl WrenchPart {
    fn channels(self) -> Vec<Channel> {
        xyz(if self == Self::Force { "N" } else { "Nm" })
    }

    fn of(self, wrench: &Vector6) -> Vector3 {
        let (torque, force) = split(wrench);
        if self == Self::Force { force } else { torque }
    }
}

/// The reaction of a joint in the axes that are asked for.
fn reaction(request: &SensorRequest, part: WrenchPart) -> Result<NamedSensor, ModelErrors> {
    let joint = request.joint()?;
    Ok(Reaction::named(joint, part, request.reaction_axes(joint)?))
}

/// Shows what a joint exerts on its second body at the joint's point.
pub struct Reaction {
    joint: usize,
    part: WrenchPart,
    axes: SensorFrame,
}

impl Reaction {
    /// The reaction of a joint, with components in the axes of a frame; a force in world axes is drawn.
    pub fn named(joint: &JointEntry, part: WrenchPart, axes: SensorFrame) -> NamedSensor {
        let word = if part == WrenchPart::Force { "force" } else { "torque" };
        let sensor = Self { joint: joint.index, part, axes };
        let named = NamedSensor::new(format!("{}.{word}", joint.name), sensor);
        if part == WrenchPart::Force && axes == SensorFrame::default() {
            let at = SensorFrame { node: joint.nodes[1], offset: joint.offsets[1] };
            return named.with_arrow(ArrowKind::Reaction, at);
        }
        named
    }
}

impl Sensor for Reaction {
    fn channels(&self) -> Vec<Channel> {
        self.part.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let wanted = self.part.of(&at.system.reaction(self.joint, &at.point));
        let rotation = self.axes.motion(at).pose.rotation;
        out.extend_from_slice(rotation.inverse_transform_vector(&wanted).as_slice());
    }
}

/// Shows what an element exerts on its first body, about a point of it, in world axes.
pub struct AppliedWrench {
    /// Index of the element in the system.
    pub element: usize,
    /// Force or torque.
    pub part: WrenchPart,
    /// Where it acts.
    pub at: SensorFrame,
}

impl AppliedWrench {
    /// The sensor of a force or torque of a part, drawn as an arrow.
    pub fn named(self, part: &str) -> NamedSensor {
        let (word, kind) = match self.part {
            WrenchPart::Force => ("force", ArrowKind::Force),
            WrenchPart::Torque => ("torque", ArrowKind::Torque),
        };
        let at = self.at;
        NamedSensor::new(format!("{part}.{word}"), self).with_arrow(kind, at)
    }
}

impl Sensor for AppliedWrench {
    fn channels(&self) -> Vec<Channel> {
        self.part.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let (torque, force) = split(&at.system.applied_wrench(self.element, &at.point, at.load_factor));
        let rotation = at.node(self.at.node).rotation;
        // From the body's origin to the point.
        let torque = torque - (rotation * self.at.offset.position).cross(&force);
        let wanted = if self.part == WrenchPart::Force { force } else { torque };
        out.extend_from_slice(wanted.as_slice());
    }
}
