//! What a machine knows of its parts by name: for those who measure, draw and explain them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::sensor::{NamedSensor, StateSensor};
use crate::dae::Point;
use crate::element::{SignalFunction, SlidingMotion, StateId};
use crate::kinematics::{Coordinate, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Group, Matrix3, Pose, Vector3};
use crate::model::{Mistake, Part, Place, Reference};
use crate::system::System;

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
    /// Initial pose of the body frame (at the centre of mass) in the world.
    pub pose: Pose,
    /// Where the model's own origin of the body stands, from the centre of mass in body axes.
    pub origin: Vector3,
    /// Markers: name and pose in body axes.
    pub markers: Vec<(String, Pose)>,
}

impl BodyEntry {
    /// A body without mass and markers; its node is known when it is added.
    pub fn new(name: &str, group: Group, pose: Pose) -> Self {
        Self {
            name: name.to_string(),
            node: NodeId(0),
            group,
            mass: 0.0,
            inertia: Matrix3::zeros(),
            pose,
            origin: Vector3::zeros(),
            markers: Vec::new(),
        }
    }
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
    pub friction: Option<FrictionForm>,
    /// How its displacement follows its angle, if it is a screw.
    pub thread: Option<Thread>,
    /// Whether it is a drive.
    pub is_drive: bool,
    /// Says where its equations end, if the frames stand or move so in the next moment, in s.
    pub limit: Option<fn(&Relative, f64) -> Option<String>>,
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
            thread: None,
            is_drive: false,
            limit: None,
        }
    }

    /// Words for its coordinates and their rates.
    pub fn coordinate_names(&self) -> Vec<String> {
        self.coordinates.iter().flat_map(|(name, _)| [name.to_string(), format!("{name}-rate")]).collect()
    }

    /// The word for a quantity everywhere: the rate of the only coordinate may be called `rate` alone.
    pub fn full_word<'q>(&self, quantity: &'q str) -> Cow<'q, str> {
        match (quantity, self.coordinates) {
            ("rate", [(name, _)]) => Cow::Owned(format!("{name}-rate")),
            _ => Cow::Borrowed(quantity),
        }
    }

    /// What `angle`, `displacement` and so on mean, each with its rate `angle-rate`.
    pub fn measured(&self, quantity: &str) -> Option<MeasuredCoordinate> {
        let quantity = &*self.full_word(quantity);
        self.coordinates.iter().find_map(|&(name, coordinate)| {
            let rate = quantity.strip_suffix("-rate") == Some(name);
            (rate || quantity == name).then(|| {
                let unit = match (coordinate, rate) {
                    (angle, false) if angle.is_angle() => "rad",
                    (angle, true) if angle.is_angle() => "rad/s",
                    (Coordinate::Direction(..), _) => "1",
                    (_, false) => "m",
                    (_, true) => "m/s",
                };
                MeasuredCoordinate { nodes: self.nodes, offsets: self.offsets, coordinate, rate, unit }
            })
        })
    }
}

/// How the displacement of a screw follows its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// Advance in m per rad.
    pub advance: f64,
    /// Angle and displacement as the model draws them.
    pub drawn: [f64; 2],
}

impl Thread {
    /// The displacement at an angle.
    pub fn displacement(&self, angle: f64) -> f64 {
        self.drawn[1] + self.advance * (angle - self.drawn[0])
    }

    /// The angle at a displacement.
    pub fn angle(&self, displacement: f64) -> f64 {
        self.drawn[0] + (displacement - self.drawn[1]) / self.advance
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

impl FrictionForm {
    /// The same where some of the rows of the joint are left.
    pub(crate) fn of_rows_left<T>(&self, rows: &[T], is_left: impl Fn(&T) -> bool) -> Self {
        let left = |before: usize| rows[..before].iter().filter(|row| is_left(row)).count();
        let range = |range: &Range<usize>| left(range.start)..left(range.end);
        Self { motion: self.motion, forces: range(&self.forces), moments: range(&self.moments) }
    }
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

/// A frame of a machine.
#[derive(Clone, Copy, Debug)]
pub struct NamedFrame {
    /// Node that it moves with, or `None` for the ground.
    pub node: Option<NodeId>,
    /// Its pose in body axes, or in the world on the ground.
    pub offset: Pose,
}

/// A name that is none of a frame.
#[derive(Clone, thiserror::Error, PartialEq)]
#[error("{mistake}{}", hint.iter().map(|hint| format!(" ({hint})")).collect::<String>())]
pub struct UnknownFrame {
    /// The name.
    pub name: String,
    /// What is wrong with it.
    pub mistake: Box<Mistake>,
    /// The nearest names.
    pub hint: Option<String>,
}

shown_by_message!(UnknownFrame);

/// Where a frame is and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct MovingFrame {
    /// Pose in the world.
    pub pose: Pose,
    /// Angular velocity in world axes.
    pub angular_velocity: Vector3,
    /// Velocity of its origin in world axes.
    pub velocity: Vector3,
}

impl NamedFrame {
    /// Its motion at a point.
    pub fn motion(&self, system: &System, at: &Point) -> MovingFrame {
        let rest = NodeMotion::at_rest(Pose::identity());
        let node = self.node.map_or(rest, |node| system.motion(node, at));
        MovingFrame {
            pose: node.pose.compose(&self.offset),
            angular_velocity: node.rotation * node.angular_velocity(),
            velocity: node.point_velocity(&self.offset.position),
        }
    }
}

impl MeasuredCoordinate {
    /// How the frames move relative to each other.
    pub fn relative(&self, system: &System, at: &Point) -> Relative {
        let ground = NodeMotion::at_rest(Pose::identity());
        let [first, second] = self.nodes.map(|node| node.map_or(ground, |node| system.motion(node, at)));
        Relative::new(&self.offsets.map(Frame::new), [&first, &second])
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

impl MeasuredCoordinate {
    /// Whether the value is an angle whose full turns are counted.
    pub fn counts_turns(&self) -> bool {
        !self.rate && self.coordinate.counts_turns()
    }
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

impl StateSignal {
    /// What shows it.
    pub fn sensor(&self) -> NamedSensor {
        NamedSensor::new(self.name.clone(), StateSensor { state: self.state, unit: self.unit.clone() })
    }
}
