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
use crate::lie::{UnitQuaternion, Vector3, so3};
use crate::model::ModelErrors;
use crate::results::Channel;

/// The family's lines of the table.
pub(super) const LINES: &[SensorEntry] = &[
    SensorEntry::of_frame("position", |it| named(it, FrameQuantity::Position)),
    SensorEntry::of_frame("orientation", |it| named(it, FrameQuantity::Orientation)),
    SensorEntry::of_frame("rotation-vector", |it| named(it, FrameQuantity::RotationVector)),
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
        let motions = [&self.of, &self.relative_to, &self.axes].map(|frame| frame.motion(at));
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
