//! What is measured while a machine runs, under the names of the result files.
//!
//! A [`Sensor`] turns the motion at one time into one or more numbers, each a [`Channel`]; a [`NamedSensor`]
//! gives it the name of its signals. One file a family; [`SENSORS`] are those that a `[[sensor]]` may ask for
//! of any frame, section of a beam, joint or machine, and parts offer more of their own.

mod contact;
mod coordinate;
mod energy;
mod expression;
mod frame;
mod momentum;
mod section;
mod section_force;
mod state;
mod table;
mod tyre;
mod wrench;

pub use contact::{ContactSensor, GroupSensor};
pub use coordinate::CoordinateSensor;
pub(crate) use energy::{ConditionSensor, of_machine};
pub use energy::{EnergySensor, ResidualSensor, SolverSensor};
pub use expression::{ExpressionInput, ExpressionSensor};
pub(super) use frame::angle_about;
pub use frame::{FrameQuantity, FrameSensor};
pub use momentum::BodyMomentum;
pub use state::{InputSensor, StateSensor};
pub use table::{SENSORS, SensorEntry, SensorOf, SensorRequest};
pub use tyre::TyreSensor;
pub use wrench::{AppliedPower, AppliedWrench, ConnectionWrench, ForceAlong, Reaction, Sign, WrenchPart};

use std::fmt;
use std::sync::Arc;

use super::MeasuredCoordinate;
use super::balance::EnergyBalance;
use crate::dae::Point;
use crate::kinematics::{Coordinate, Energies, Frame, NodeId, NodeMotion, Relative};
use crate::lie::{Pose, Vector3};
use crate::results::Channel;
use crate::results::scene::ArrowKind;
use crate::system::System;

/// What measures.
pub trait Sensor: Send + Sync {
    /// Its components with their units, by the name that each adds to that of the sensor; a number alone adds
    /// none.
    fn channels(&self) -> Vec<Channel>;

    /// Adds the values at a moment, one for each channel.
    fn read(&self, at: &Reading, out: &mut Vec<f64>);
}

/// A sensor under a name, with what others need to know of it.
#[derive(Clone)]
pub struct NamedSensor {
    /// Name of its signals without the component: `top.position`, `crank.angle`.
    pub name: String,
    /// What measures.
    pub sensor: Arc<dyn Sensor>,
    /// The coordinate that it shows, if it shows one: forces may use it.
    pub coordinate: Option<MeasuredCoordinate>,
    /// Angles that it reads and whose full turns are counted.
    pub angles: Vec<MeasuredCoordinate>,
    /// The arrow by which it is drawn, if it is a vector in world axes.
    pub arrow: Option<Arrow>,
    /// Whether it shows the motion of a moment and nothing of the past, so that events may use it.
    pub of_moment: bool,
}

/// An arrow by which a vector is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Arrow {
    /// What it is.
    pub kind: ArrowKind,
    /// The frame at whose origin it stands.
    pub at: SensorFrame,
}

impl fmt::Debug for NamedSensor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("NamedSensor").field(&self.name).finish()
    }
}

impl NamedSensor {
    /// A sensor of the motion at a moment, without an arrow.
    pub fn new(name: impl Into<String>, sensor: impl Sensor + 'static) -> Self {
        Self {
            name: name.into(),
            sensor: Arc::new(sensor),
            coordinate: None,
            angles: Vec::new(),
            arrow: None,
            of_moment: true,
        }
    }

    /// A sensor of a coordinate.
    pub fn of_coordinate(name: impl Into<String>, coordinate: MeasuredCoordinate) -> Self {
        let angles = if coordinate.counts_turns() { vec![coordinate] } else { Vec::new() };
        Self { coordinate: Some(coordinate), angles, ..Self::new(name, CoordinateSensor::new(&coordinate)) }
    }

    /// The same, drawn as an arrow.
    #[must_use]
    pub fn with_arrow(self, kind: ArrowKind, at: SensorFrame) -> Self {
        Self { arrow: Some(Arrow { kind, at }), ..self }
    }

    /// The same, shut to events because it shows more than the motion of a moment.
    #[must_use]
    pub fn of_the_past(self) -> Self {
        Self { of_moment: false, ..self }
    }

    /// Its signals, with names and units.
    pub fn channels(&self) -> Vec<Channel> {
        let named = |channel: Channel| match channel.name.as_str() {
            "" => Channel::new(&self.name, channel.unit),
            component => Channel::new(format!("{}.{component}", self.name), channel.unit),
        };
        self.sensor.channels().into_iter().map(named).collect()
    }

    /// Adds the values at a moment; each of its angles is nearest to one of `near`.
    pub fn read(&self, at: &Reading, near: &[f64], out: &mut Vec<f64>) {
        self.sensor.read(&Reading { near, ..*at }, out);
    }

    /// Its angles at a moment, each nearest to what is guessed for it.
    pub fn angles(&self, at: &Reading, mut near: impl FnMut(usize) -> f64) -> Vec<f64> {
        let value = |(index, angle): (usize, &MeasuredCoordinate)| {
            angle.coordinate.value(&of_frames(at, angle), near(index))
        };
        self.angles.iter().enumerate().map(value).collect()
    }

    /// Rates of its angles at a moment.
    pub fn angle_rates<'s>(&'s self, at: &'s Reading) -> impl Iterator<Item = f64> + 's {
        self.angles.iter().map(|angle| angle.coordinate.rate(&of_frames(at, angle)))
    }

    /// Shows each of its angles at a moment.
    pub(crate) fn turn(&self, at: &Reading, mut each: impl FnMut(&AngleNow)) {
        for angle in &self.angles {
            each(&AngleNow { coordinate: angle.coordinate, relative: of_frames(at, angle) });
        }
    }
}

/// An angle at a moment: the motion of its frames was found once.
pub(crate) struct AngleNow {
    coordinate: Coordinate,
    relative: Relative,
}

impl AngleNow {
    pub fn rate(&self) -> f64 {
        self.coordinate.rate(&self.relative)
    }

    /// Its value with the turns nearest to a guess.
    pub fn value(&self, near: f64) -> f64 {
        self.coordinate.value(&self.relative, near)
    }
}

/// Handle of a signal: one value of one sensor of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalId {
    pub(crate) sensor: usize,
    pub(crate) component: usize,
}

/// The moment at which sensors read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The equations of the machine.
    pub system: &'a System,
    /// The motion.
    pub point: Point<'a>,
    /// Work and losses up to here.
    pub balance: &'a EnergyBalance,
    /// What the solver did.
    pub solver: SolverNumbers,
    /// What the angles of the sensor that reads are nearest to; 0 where it says nothing.
    pub near: &'a [f64],
    /// By how much applied loads are multiplied: 1, but on the way to an equilibrium.
    pub load_factor: f64,
    /// What was found there before.
    pub(crate) known: Option<KnownNumbers>,
}

/// Energies and residuals of the constraints at a moment.
pub(crate) type KnownNumbers = (Energies, [f64; 2]);

impl<'a> Reading<'a> {
    /// A moment of which nothing is known of the solver.
    pub fn new(system: &'a System, point: Point<'a>, balance: &'a EnergyBalance) -> Self {
        let solver = SolverNumbers::default();
        Self { system, point, balance, solver, near: &[], load_factor: 1.0, known: None }
    }

    /// Stored energies.
    pub fn energies(&self) -> Energies {
        self.known.map_or_else(|| self.system.energies(&self.point), |(energies, _)| energies)
    }

    /// Norms of the constraints' residuals at position and velocity level.
    pub fn constraint_residuals(&self) -> [f64; 2] {
        self.known.map_or_else(|| self.system.constraint_residuals(&self.point), |(_, residuals)| residuals)
    }

    /// Motion of a node; the ground rests.
    pub fn node(&self, node: Option<NodeId>) -> NodeMotion {
        match node {
            Some(node) => self.system.motion(node, &self.point),
            None => NodeMotion::at_rest(Pose::identity()),
        }
    }
}

/// What the solver did up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverNumbers {
    /// Size of the step that contains the moment, in s.
    pub step: f64,
    /// Newton iterations since the last record.
    pub iterations: f64,
    /// Steps taken back since the last record.
    pub rejections: f64,
    /// Condition number of the iteration matrix; 0 where it is not known.
    pub condition: f64,
}

impl SolverNumbers {
    /// All of them, to be saved.
    pub(crate) fn numbers(&self) -> [f64; 4] {
        [self.step, self.iterations, self.rejections, self.condition]
    }

    /// Those that were saved.
    pub(crate) fn from_numbers([step, iterations, rejections, condition]: [f64; 4]) -> Self {
        Self { step, iterations, rejections, condition }
    }
}

/// A frame on a node, or on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SensorFrame {
    /// Node, or `None` for the ground.
    pub node: Option<NodeId>,
    /// The frame in body axes, or in the world on the ground.
    pub offset: Pose,
}

impl SensorFrame {
    /// Where the frame is, as if it rested.
    pub(crate) fn place(&self, at: &Reading) -> FrameMotion {
        let zero = Vector3::zeros();
        FrameMotion {
            pose: at.node(self.node).pose.compose(&self.offset),
            velocity: zero,
            angular_velocity: zero,
            acceleration: zero,
            angular_acceleration: zero,
        }
    }

    /// Motion of the frame.
    pub fn motion(&self, at: &Reading) -> FrameMotion {
        let node = at.node(self.node);
        let angular_acceleration: Vector3 = node.acceleration.fixed_rows::<3>(0).into();
        FrameMotion {
            pose: node.pose.compose(&self.offset),
            velocity: node.point_velocity(&self.offset.position),
            angular_velocity: node.rotation * node.angular_velocity(),
            acceleration: node.point_acceleration(&self.offset.position),
            // d/dt (R Ω) = R Ω̇, because Ω × Ω = 0.
            angular_acceleration: node.rotation * angular_acceleration,
        }
    }
}

/// Motion of a frame in world axes.
#[derive(Clone, Copy, Debug)]
pub struct FrameMotion {
    /// Where it is.
    pub pose: Pose,
    /// Velocity of the origin in m/s.
    pub velocity: Vector3,
    /// Angular velocity in rad/s.
    pub angular_velocity: Vector3,
    /// Acceleration of the origin in m/s².
    pub acceleration: Vector3,
    /// Angular acceleration in rad/s².
    pub angular_acceleration: Vector3,
}

/// Components of a vector with their unit.
pub fn xyz(unit: &str) -> Vec<Channel> {
    components(&["x", "y", "z"], unit)
}

/// A number alone with its unit.
pub fn number(unit: &str) -> Vec<Channel> {
    components(&[""], unit)
}

/// Components of one unit.
pub fn components(names: &[&str], unit: &str) -> Vec<Channel> {
    names.iter().map(|name| Channel::new(*name, unit)).collect()
}

/// The relative motion of the frames of a coordinate.
fn of_frames(at: &Reading, measured: &MeasuredCoordinate) -> Relative {
    relative(at, &measured.nodes, &measured.offsets.map(Frame::new))
}

fn relative(at: &Reading, nodes: &[Option<NodeId>; 2], frames: &[Frame; 2]) -> Relative {
    let motions = nodes.map(|node| at.node(node));
    Relative::new(frames, [&motions[0], &motions[1]])
}
