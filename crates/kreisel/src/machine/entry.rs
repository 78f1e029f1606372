//! What a machine knows of its parts by name: for those who measure, draw and explain them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::sensor::SensorFrame;
use super::shape::Solid;
use crate::element::{SignalFunction, SlidingMotion, StateId};
use crate::kinematics::{Coordinate, NodeId};
use crate::lie::{Group, Matrix3, Pose, Vector3};
use crate::model::{Part, Place, Reference};

/// A body with its node and markers.
#[derive(Clone, Debug)]
pub struct BodyEntry {
    /// Name.
    pub name: String,
    /// Node that moves with it.
    pub node: NodeId,
    /// Lie group of the node; a point mass has no rotation.
    pub group: Group,
    /// Mass in kg.
    pub mass: f64,
    /// Inertia about the centre of mass in body axes, in kg m².
    pub inertia: Matrix3,
    /// What it looks like, if the model says so.
    pub shape: Option<Solid>,
    /// Initial pose of the body frame (at the centre of mass) in the world.
    pub pose: Pose,
    /// Markers: name and pose in body axes.
    pub markers: Vec<(String, Pose)>,
    /// Whether it is a node of a beam.
    pub beam_node: bool,
}

/// A joint with the frames it stands between.
#[derive(Clone, Debug)]
pub struct JointEntry {
    /// Name.
    pub name: String,
    /// Kind, as in the model file.
    pub kind: &'static str,
    /// Index in the system.
    pub index: usize,
    /// Nodes of the first and second frame; `None` is the ground.
    pub nodes: [Option<NodeId>; 2],
    /// Frames in body axes, or in the world on the ground.
    pub offsets: [Pose; 2],
    /// Free coordinates that can be measured, driven and coupled: name and coordinate.
    pub coordinates: &'static [(&'static str, Coordinate)],
    /// How friction follows from what it transmits, if it does.
    pub friction: Option<&'static FrictionForm>,
    /// Whether it is a drive.
    pub is_drive: bool,
}

impl JointEntry {
    /// A joint without coordinates; its index is known when it is added.
    pub fn new(part: &Part, nodes: [Option<NodeId>; 2], offsets: [Pose; 2]) -> Self {
        Self {
            name: part.name().to_string(),
            kind: part.kind().name,
            index: 0,
            nodes,
            offsets,
            coordinates: &[],
            friction: None,
            is_drive: false,
        }
    }
}

/// How friction in a joint follows from what the joint transmits.
#[derive(Clone, Debug)]
pub struct FrictionForm {
    /// What slides.
    pub motion: SlidingMotion,
    /// Multipliers that are forces.
    pub forces: Range<usize>,
    /// Multipliers that are moments.
    pub moments: Range<usize>,
}

/// A spring, damper or bushing between two points, for those who draw it.
#[derive(Clone, Debug)]
pub struct SpringEntry {
    /// Name.
    pub name: String,
    /// Nodes of its ends; `None` is the ground.
    pub nodes: [Option<NodeId>; 2],
    /// Its ends in body axes, or in the world on the ground.
    pub points: [Vector3; 2],
}

/// A force or torque on a body, for those who draw and measure it.
#[derive(Clone, Debug)]
pub struct ForceEntry {
    /// Name.
    pub name: String,
    /// Index of its element in the system.
    pub element: usize,
    /// Node on which it acts.
    pub node: NodeId,
    /// Where it acts, in body axes.
    pub point: Vector3,
    /// Whether the model gives a force.
    pub has_force: bool,
    /// Whether the model gives a torque.
    pub has_torque: bool,
}

/// A number that is set from outside while a machine runs.
#[derive(Clone, Debug, PartialEq)]
pub struct InputEntry {
    /// Name.
    pub name: String,
    /// Value until it is set.
    pub value: f64,
    /// Places in the memory of the system that hold how much it differs from that value: its own, then one
    /// for each force that uses it.
    pub slots: Vec<usize>,
    /// The element that holds it.
    pub(super) holder: usize,
}

/// A function that is given from outside of the model.
#[derive(Clone, Debug)]
pub struct FunctionEntry {
    /// Name.
    pub name: String,
    /// What it is given.
    pub arguments: Vec<Reference>,
    /// The function.
    pub function: Arc<dyn SignalFunction>,
}

/// Functions given from outside of a model, by the name of their `[[function]]`.
pub type Functions = HashMap<String, Arc<dyn SignalFunction>>;

/// A contact, for those who measure it.
#[derive(Clone, Debug)]
pub struct ContactEntry {
    /// Name.
    pub name: String,
    /// Indices of its elements in the system.
    pub elements: Vec<usize>,
    /// Where its force is shown: on the second body, or on the first if the second is the ground.
    pub shown_at: SensorFrame,
}

/// Where something is attached.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    /// Node, or `None` for the ground.
    pub node: Option<NodeId>,
    /// Initial pose of the node in the world (identity for the ground).
    pub body: Pose,
    /// Frame in body axes, if a marker was named.
    pub marker: Option<Pose>,
}

impl Attachment {
    /// Pose in body axes of a frame given in the world of the initial configuration.
    pub fn offset_of(&self, world: &Pose) -> Pose {
        self.body.inverse().compose(world)
    }
}

/// A scalar coordinate between two frames, or its rate.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCoordinate {
    /// Nodes of the frames.
    pub nodes: [Option<NodeId>; 2],
    /// Frames in body axes.
    pub offsets: [Pose; 2],
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Whether its rate is meant.
    pub rate: bool,
    /// Unit of the value.
    pub unit: &'static str,
}

/// A state of the model as a signal.
#[derive(Clone, Debug)]
pub struct StateSignal {
    /// Name of the signal: `charge.value`, `controller.output`.
    pub name: String,
    /// The state.
    pub state: StateId,
    /// Unit in result files.
    pub unit: String,
    /// Whether it is algebraic.
    pub algebraic: bool,
    /// Where the model says its part.
    pub place: Place,
}
