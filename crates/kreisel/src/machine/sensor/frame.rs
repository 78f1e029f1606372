//! Sensors of the motion of frames.
//!
//! Positions, velocities and accelerations are those of a frame P as an observer in a frame F sees them; with
//! r from F's origin to P's,
//!
//! ```text
//! v_rel = v_P − v_F − ω_F × r
//! a_rel = a_P − a_F − ω̇_F × r − ω_F × (ω_F × r) − 2 ω_F × v_rel
//! ```
//!
//! and they are shown in the axes of a third frame, which is F if nothing else is asked for.

use super::{
    FrameMotion, NamedSensor, Reading, Sensor, SensorEntry, SensorFrame, SensorRequest, components, xyz,
};
use crate::kinematics::{Coordinate, NodeId};
use crate::lie::{Pose, UnitQuaternion, Vector3, so3};
use crate::machine::MeasuredCoordinate;
use crate::model::ModelErrors;
use crate::results::Channel;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry::of_frame("position", |it| named(it, FrameQuantity::Position)),
    SensorEntry::of_frame("orientation", |it| named(it, FrameQuantity::Orientation)),
    SensorEntry::of_frame("rotation-vector", |it| named(it, FrameQuantity::RotationVector)),
    SensorEntry::of_frame("angle-x", |it| angle(it, 0)),
    SensorEntry::of_frame("angle-y", |it| angle(it, 1)),
    SensorEntry::of_frame("angle-z", |it| angle(it, 2)),
    SensorEntry::of_frame("velocity", |it| named(it, FrameQuantity::Velocity)),
    SensorEntry::of_frame("angular-velocity", |it| named(it, FrameQuantity::AngularVelocity)),
    SensorEntry::of_frame("acceleration", |it| named(it, FrameQuantity::Acceleration)),
    SensorEntry::of_frame("angular-acceleration", |it| named(it, FrameQuantity::AngularAcceleration)),
];

/// What is measured of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameQuantity {
    /// Position of the origin in m.
    Position,
    /// Rotation as a unit quaternion w, x, y, z.
    Orientation,
    /// Rotation as a vector along its axis with its angle as length, in rad; up to half a turn.
    RotationVector,
    /// Velocity of the origin in m/s.
    Velocity,
    /// Angular velocity in rad/s.
    AngularVelocity,
    /// Acceleration v̇ of the origin in m/s².
    Acceleration,
    /// Angular acceleration in rad/s².
    AngularAcceleration,
}

/// Shows the motion of a frame relative to another, in the axes of a third.
pub struct FrameSensor {
    /// What of it.
    pub quantity: FrameQuantity,
    /// The frame that is measured.
    pub of: SensorFrame,
    /// The frame of the observer.
    pub relative_to: SensorFrame,
    /// The frame whose axes the components belong to.
    pub axes: SensorFrame,
}

/// The motion of the frame that is asked for.
fn named(request: &SensorRequest, quantity: FrameQuantity) -> Result<NamedSensor, ModelErrors> {
    let of = request.frame()?;
    let relative_to = request.relative_to()?;
    let turns = matches!(quantity, FrameQuantity::Orientation | FrameQuantity::RotationVector);
    // A rotation has no components to be turned: `axes` has no effect on it, and the reader says so.
    let axes = if turns { relative_to } else { request.axes()?.unwrap_or(relative_to) };
    Ok(NamedSensor::new(request.name(), FrameSensor { quantity, of, relative_to, axes }))
}

/// The angle by which a frame has turned about an axis of another.
fn angle(request: &SensorRequest, axis: usize) -> Result<NamedSensor, ModelErrors> {
    let (from, of) = (request.relative_to()?, request.frame()?);
    let angle = angle_about(axis, [from.node, of.node], [from.offset, of.offset]);
    Ok(NamedSensor::of_coordinate(request.name(), angle))
}

/// The angle from a first frame to a second about an axis of the first, full turns counted: that of the
/// second frame's next axis (y for x, z for y, x for z) in the plane across it.
pub(in crate::machine) fn angle_about(
    axis: usize,
    nodes: [Option<NodeId>; 2],
    offsets: [Pose; 2],
) -> MeasuredCoordinate {
    // The angle of two frames is that about z: axes are named anew, in their order.
    let turn = match axis {
        0 => third_of_a_turn(1.0),
        1 => third_of_a_turn(-1.0),
        _ => UnitQuaternion::identity(),
    };
    let offsets = offsets.map(|offset| offset.compose(&Pose::new(turn, Vector3::zeros())));
    MeasuredCoordinate { nodes, offsets, coordinate: Coordinate::Angle, rate: false, unit: "rad" }
}

/// A third of a turn about (1, 1, 1): x becomes y, y becomes z, z becomes x, or the other way.
fn third_of_a_turn(sign: f64) -> UnitQuaternion {
    let part = 0.5 * sign;
    UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(0.5, part, part, part))
}

impl FrameSensor {
    /// The position of a frame in the world.
    pub fn position(of: SensorFrame) -> Self {
        let (relative_to, axes) = (SensorFrame::default(), SensorFrame::default());
        Self { quantity: FrameQuantity::Position, of, relative_to, axes }
    }
}

impl Sensor for FrameSensor {
    fn channels(&self) -> Vec<Channel> {
        self.quantity.channels()
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let frames = [&self.of, &self.relative_to, &self.axes];
        let motions = match self.quantity {
            FrameQuantity::Position | FrameQuantity::Orientation | FrameQuantity::RotationVector => {
                frames.map(|frame| frame.place(at))
            }
            _ => frames.map(|frame| frame.motion(at)),
        };
        self.quantity.read(motions, out);
    }
}

impl FrameQuantity {
    /// Components with their units.
    pub(super) fn channels(self) -> Vec<Channel> {
        match self {
            Self::Position => xyz("m"),
            Self::Orientation => components(&["w", "x", "y", "z"], "1"),
            Self::RotationVector => xyz("rad"),
            Self::Velocity => xyz("m/s"),
            Self::AngularVelocity => xyz("rad/s"),
            Self::Acceleration => xyz("m/s^2"),
            Self::AngularAcceleration => xyz("rad/s^2"),
        }
    }

    /// Adds the values for a frame as another sees it, in the axes of a third.
    pub(super) fn read(self, [of, from, axes]: [FrameMotion; 3], out: &mut Vec<f64>) {
        let rotation = || so3::compose(&from.pose.rotation.inverse(), &of.pose.rotation);
        let vector = match self {
            Self::Orientation => {
                let q = positive(rotation());
                out.extend([q.w, q.i, q.j, q.k]);
                return;
            }
            Self::RotationVector => {
                out.extend_from_slice(so3::log(&positive(rotation())).as_slice());
                return;
            }
            Self::Position => of.pose.position - from.pose.position,
            Self::Velocity => relative_velocity(&of, &from),
            Self::AngularVelocity => of.angular_velocity - from.angular_velocity,
            Self::Acceleration => {
                let arm = of.pose.position - from.pose.position;
                let omega = from.angular_velocity;
                of.acceleration
                    - from.acceleration
                    - from.angular_acceleration.cross(&arm)
                    - omega.cross(&omega.cross(&arm))
                    - 2.0 * omega.cross(&relative_velocity(&of, &from))
            }
            Self::AngularAcceleration => {
                let omega = from.angular_velocity;
                of.angular_acceleration - from.angular_acceleration - omega.cross(&of.angular_velocity)
            }
        };
        out.extend_from_slice(axes.pose.rotation.inverse_transform_vector(&vector).as_slice());
    }
}

fn relative_velocity(of: &FrameMotion, from: &FrameMotion) -> Vector3 {
    let arm = of.pose.position - from.pose.position;
    of.velocity - from.velocity - from.angular_velocity.cross(&arm)
}

/// Of the two quaternions of a rotation the one with w ≥ 0, so that a result does not depend on its history.
fn positive(rotation: UnitQuaternion) -> UnitQuaternion {
    if rotation.w < 0.0 { UnitQuaternion::new_unchecked(-rotation.into_inner()) } else { rotation }
}
