//! Rotations and rigid motions: exp, log, tangent operator.
//!
//! A configuration lives on a direct product of R^k, SO(3), SO(3)×R³ and SE(3), a [`Space`]. Its
//! velocity v is left-invariant, q̇ = DL_q(e)·ṽ [ArnoldCardonaBruls2015, Eq. (6)], so angular
//! velocities are in body axes. Velocities of a body are v = (Ω, U) or (Ω, u), rotation first.
//!
//! The tangent operator T is the derivative of the exponential map,
//! exp(v + δ) ≈ exp(v) ∘ exp(T(v) δ) [ArnoldCardonaBruls2015, Eqs. (30), (31)].
//!
//! * [`so3`], [`se3`]: one group each, on small typed values.
//! * [`crv`]: the conformal rotation vector, the other chart of SO(3).
//! * [`space`]: products of any number of groups, on flat slices.

mod coefficients;
pub mod crv;
pub mod group;
mod pose;
mod radial;
#[cfg(test)]
mod reference;
pub mod se3;
pub mod so3;
pub mod space;

pub use group::Group;
pub use pose::Pose;
pub use space::{NormBlock, Space, pose, quaternion, vector3, write_pose, write_quaternion, write_vector3};

/// Vector of three numbers.
pub type Vector3 = nalgebra::Vector3<f64>;
/// Matrix of three by three numbers.
pub type Matrix3 = nalgebra::Matrix3<f64>;
/// Vector of six numbers, rotation first.
pub type Vector6 = nalgebra::Vector6<f64>;
/// Matrix of six by six numbers, rotation first.
pub type Matrix6 = nalgebra::Matrix6<f64>;
/// Rotation as a quaternion of norm one.
pub type UnitQuaternion = nalgebra::UnitQuaternion<f64>;

/// What can go wrong on a Lie group.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LieError {
    /// The tangent operator has no inverse at rotation angles 2π, 4π, ….
    #[error("the tangent operator is singular at the rotation angle {angle} rad, a multiple of 2π")]
    SingularTangent {
        /// Rotation angle in rad.
        angle: f64,
    },
    /// A coordinate is infinite or not a number.
    #[error("coordinate {index} is {value}, not a finite number")]
    NotFinite {
        /// Place in the flat configuration.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// The four numbers of a rotation are not a unit quaternion.
    #[error("the quaternion of factor {factor} has norm {norm}, not one")]
    NotUnit {
        /// Which factor of the space.
        factor: usize,
        /// Norm of the quaternion.
        norm: f64,
    },
    /// A flat configuration has the wrong number of coordinates.
    #[error("{found} coordinates instead of {expected}")]
    WrongLength {
        /// Coordinates of the space.
        expected: usize,
        /// Coordinates given.
        found: usize,
    },
}

shown_by_message!(LieError);

/// Skew-symmetric matrix ã with ã b = a × b [ArnoldCardonaBruls2015, Eq. (2)].
#[inline]
pub fn skew(a: &Vector3) -> Matrix3 {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}
