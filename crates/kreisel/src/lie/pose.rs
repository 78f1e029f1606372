//! Placement of a body: where its frame is and how it is turned.

use std::ops::Mul;

use super::{UnitQuaternion, Vector3, so3};

/// Rigid motion that takes body coordinates to world coordinates, an element of SE(3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation from body axes to world axes.
    pub rotation: UnitQuaternion,
    /// Origin of the body frame in world axes, in m.
    pub position: Vector3,
}

impl Pose {
    /// Pose with the given rotation and position.
    #[inline]
    pub fn new(rotation: UnitQuaternion, position: Vector3) -> Self {
        Self { rotation, position }
    }

    /// Pose of a body frame that lies on the world frame.
    #[inline]
    pub fn identity() -> Self {
        Self { rotation: UnitQuaternion::identity(), position: Vector3::zeros() }
    }

    /// Motion that undoes this one: (Rᵀ, −Rᵀ x).
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self { rotation, position: -(rotation * self.position) }
    }

    /// Composition in SE(3): (R₁ R₂, R₁ x₂ + x₁), with the quaternion kept at norm one.
    #[inline]
    pub fn compose(&self, other: &Self) -> Self {
        Self {
            rotation: so3::compose(&self.rotation, &other.rotation),
            position: self.rotation * other.position + self.position,
        }
    }

    /// World coordinates of a point given in body coordinates.
    #[inline]
    pub fn transform_point(&self, point_body: &Vector3) -> Vector3 {
        self.rotation * point_body + self.position
    }

    /// World components of a vector given in body axes.
    #[inline]
    pub fn transform_vector(&self, vector_body: &Vector3) -> Vector3 {
        self.rotation * vector_body
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::identity()
    }
}

impl Mul for Pose {
    type Output = Pose;

    #[inline]
    fn mul(self, other: Pose) -> Pose {
        self.compose(&other)
    }
}

impl Mul<&Pose> for &Pose {
    type Output = Pose;

    #[inline]
    fn mul(self, other: &Pose) -> Pose {
        self.compose(other)
    }
}
