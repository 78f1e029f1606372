//! Sensors of forces and torques: what joints exert, and what forces of the model do.

use super::{
    NamedSensor, Reading, Sensor, SensorEntry, SensorFrame, SensorOf, SensorRequest, number, relative, xyz,
};
use crate::kinematics::{Coordinate, Frame, NodeId, join, split};
use crate::lie::{Pose, Vector3, Vector6};
use crate::machine::{JointEntry, MeasuredCoordinate};
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

/// Shows what an element exerts on a body, about a point of it, in world axes.
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
        let node = self.at.node;
        let wrench = node.map(|node| at.system.applied_wrench(self.element, node, &at.point, at.load_factor));
        let (torque, force) = split(&wrench.unwrap_or_default());
        // From the body's origin to the point.
        let torque = torque - (at.node(node).rotation * self.at.offset.position).cross(&force);
        let wanted = if self.part == WrenchPart::Force { force } else { torque };
        out.extend_from_slice(wanted.as_slice());
    }
}

/// Shows what an element between two frames exerts on the body of the second, about the origin of that frame,
/// in world axes.
pub struct ConnectionWrench {
    element: usize,
    part: WrenchPart,
    nodes: [Option<NodeId>; 2],
    second: Pose,
}

impl ConnectionWrench {
    /// Force and torque of an element between two frames.
    pub fn both(
        part: &str,
        element: usize,
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
    ) -> [NamedSensor; 2] {
        [("force", WrenchPart::Force), ("torque", WrenchPart::Torque)].map(|(word, of)| {
            let sensor = Self { element, part: of, nodes, second: offsets[1] };
            NamedSensor::new(format!("{part}.{word}"), sensor)
        })
    }
}

impl Sensor for ConnectionWrench {
    fn channels(&self) -> Vec<Channel> {
        self.part.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        // What acts on the ground is the opposite of what acts on the body.
        let (node, sign) = match self.nodes {
            [_, Some(second)] => (second, 1.0),
            [Some(first), None] => (first, -1.0),
            [None, None] => return out.extend([0.0; 3]),
        };
        let wrench = sign * at.system.applied_wrench(self.element, node, &at.point, at.load_factor);
        let (torque, force) = split(&wrench);
        let place = SensorFrame { node: self.nodes[1], offset: self.second }.motion(at).pose.position;
        let torque = torque - (place - at.node(Some(node)).pose.position).cross(&force);
        let wanted = if self.part == WrenchPart::Force { force } else { torque };
        out.extend_from_slice(wanted.as_slice());
    }
}

/// Shows the force or torque of an element that acts along a coordinate.
pub struct ForceAlong {
    element: usize,
    nodes: [Option<NodeId>; 2],
    frames: Box<[Frame; 2]>,
    coordinate: Coordinate,
    sign: Sign,
}

/// What counts as a positive force along a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// What makes the coordinate grow.
    Along,
    /// What resists its growth: a spring that pulls.
    Against,
}

impl ForceAlong {
    /// The sensor of a part: `force` along a displacement, `torque` about an angle.
    pub fn named(part: &str, element: usize, along: &MeasuredCoordinate, sign: Sign) -> NamedSensor {
        let frames = Box::new(along.offsets.map(Frame::new));
        let sensor = Self { element, nodes: along.nodes, frames, coordinate: along.coordinate, sign };
        NamedSensor::new(format!("{part}.{}", if sensor.is_torque() { "torque" } else { "force" }), sensor)
    }

    fn is_torque(&self) -> bool {
        self.coordinate.is_angle()
    }
}

impl Sensor for ForceAlong {
    fn channels(&self) -> Vec<Channel> {
        number(if self.is_torque() { "Nm" } else { "N" })
    }

    /// A force f along the coordinate x exerts f ∇x on each of its bodies, so that f = w·∇x/|∇x|² on any of
    /// them.
    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let gradient = self.coordinate.gradient(&relative(at, &self.nodes, &self.frames));
        let [first, second] = [0, 6].map(|row| gradient.fixed_rows::<6>(row).into_owned());
        let (node, side, own) = match self.nodes {
            [_, Some(node)] => (node, 1, second),
            [Some(node), None] => (node, 0, first),
            [None, None] => return out.push(0.0),
        };
        let (torque, force) = split(&own);
        let direction = self.frames[side].to_body(torque, force);
        let (torque, force) = split(&at.system.applied_wrench(self.element, node, &at.point, at.load_factor));
        let back = at.node(Some(node)).rotation.transpose();
        let along = join(&(back * torque), &(back * force)).dot(&direction) / direction.norm_squared();
        out.push(if self.sign == Sign::Along { along } else { -along });
    }
}

/// Shows the power that a part applies to the machine.
pub enum AppliedPower {
    /// Of an element, by its index in the system.
    Element(usize),
    /// Of a joint or drive, by its index.
    Joint(usize),
}

impl AppliedPower {
    /// The sensor of a part.
    pub fn named(self, part: &str) -> NamedSensor {
        NamedSensor::new(format!("{part}.power"), self)
    }
}

impl Sensor for AppliedPower {
    fn channels(&self) -> Vec<Channel> {
        number("W")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.push(match *self {
            Self::Element(element) => at.system.applied_power(element, &at.point),
            Self::Joint(joint) => at.system.reaction_power(joint, &at.point),
        });
    }
}
