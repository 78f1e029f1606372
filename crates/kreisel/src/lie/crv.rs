//! Conformal rotation vector c = 4 tan(φ/4) n, a chart of SO(3) without trigonometry.
//!
//! Also known as Wiener–Milenković parameters; used by the updated Lagrangian method. With
//! c₀ = (16 − |c|²)/8 the rotation matrix is [BrulsCardonaArnold2012, Eq. (81)]; every finite c is a
//! rotation by less than a full turn, and T(c) is never singular there.

use nalgebra::Quaternion;

use super::{Matrix3, UnitQuaternion, Vector3, skew};

#[inline]
fn c0(c: &Vector3) -> f64 {
    (16.0 - c.norm_squared()) / 8.0
}

/// Rotation of a conformal rotation vector: the quaternion (c₀, c)/(4 − c₀) of
/// [BrulsCardonaArnold2012, Eq. (81)].
#[inline]
pub fn map(c: &Vector3) -> UnitQuaternion {
    let c0 = c0(c);
    let scale = 1.0 / (4.0 - c0);
    UnitQuaternion::new_unchecked(Quaternion::new(c0 * scale, c.x * scale, c.y * scale, c.z * scale))
}

/// Conformal rotation vector of a rotation, |c| ≤ 4; the inverse of [`map`] for angles up to π.
#[inline]
pub fn from_rotation(rotation: &UnitQuaternion) -> Vector3 {
    let sign = if rotation.w < 0.0 { -1.0 } else { 1.0 };
    rotation.imag() * (4.0 * sign / (1.0 + rotation.w.abs()))
}

/// c₀ I + c cᵀ/4 − c̃, which is (4 − c₀) times a rotation matrix.
#[inline]
fn scaled_rotation(c: &Vector3) -> Matrix3 {
    0.25 * c * c.transpose() - skew(c) + Matrix3::from_diagonal_element(c0(c))
}

/// Tangent operator T(c): map(c + δ) ≈ map(c) exp(T(c) δ) for small δ.
///
/// T(c) = 2/(4 − c₀)² (c₀ I + c cᵀ/4 − c̃)          [BrulsCardonaArnold2012, Eq. (82)]
#[inline]
pub fn tangent_operator(c: &Vector3) -> Matrix3 {
    let denominator = 4.0 - c0(c);
    scaled_rotation(c) * (2.0 / (denominator * denominator))
}

/// Inverse T⁻¹(c) = (c₀ I + c cᵀ/4 + c̃)/2 of [`tangent_operator`].
///
/// T is 2/(4 − c₀) times a rotation matrix, so its inverse is a multiple of its transpose.
#[inline]
pub fn inverse_tangent_operator(c: &Vector3) -> Matrix3 {
    scaled_rotation(c).transpose() * 0.5
}

/// Derivative ∂(T(c) w)/∂c of the tangent operator times a constant vector.
pub fn tangent_derivative(c: &Vector3, w: &Vector3) -> Matrix3 {
    let denominator = 4.0 - c0(c);
    let scale = 2.0 / (denominator * denominator);
    // ∂c₀/∂c = −cᵀ/4, hence ∂scale/∂c = −scale/(2 (4 − c₀)) cᵀ
    let scaled_rotation_slope = 0.25 * (c * w.transpose() - w * c.transpose())
        + skew(w)
        + Matrix3::from_diagonal_element(0.25 * c.dot(w));
    scale * scaled_rotation_slope - (scaled_rotation(c) * w) * c.transpose() * (0.5 * scale / denominator)
}
