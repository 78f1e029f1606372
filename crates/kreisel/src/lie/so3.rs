//! Rotations, SO(3), as unit quaternions with rotation vectors θ as local coordinates.
//!
//! Only φ² = |θ|² enters the coefficients, so nothing here divides by a small angle.

use nalgebra::Quaternion;

use super::{LieError, Matrix3, UnitQuaternion, Vector3, coefficients, radial};

/// Rotation about the axis θ/|θ| by the angle |θ|: exp(θ̃).
///
/// The quaternion (cos φ/2, sin(φ/2)/φ θ) of the matrix of [ArnoldCardonaBruls2015, Eq. (10)].
#[inline]
pub fn exp(rotation_vector: &Vector3) -> UnitQuaternion {
    let (cosine, sine_over_angle) = coefficients::half_angle(rotation_vector.norm_squared());
    let v = sine_over_angle * rotation_vector;
    UnitQuaternion::new_unchecked(Quaternion::new(cosine, v.x, v.y, v.z))
}

/// Rotation vector θ of a rotation, |θ| ≤ π; the inverse of [`exp`].
///
/// Both signs of a quaternion give the same θ, except for half turns, where θ and −θ are equally
/// right. The angle is 2·atan2(|sin φ/2|, cos φ/2), accurate near 0 and near π.
#[inline]
pub fn log(rotation: &UnitQuaternion) -> Vector3 {
    let v = rotation.imag();
    let sine = v.norm();
    let (v, cosine) = if rotation.w < 0.0 { (-v, -rotation.w) } else { (v, rotation.w) };
    if sine == 0.0 {
        return 2.0 * v;
    }
    v * (2.0 * sine.atan2(cosine) / sine)
}

/// Rotation b followed by rotation a, with the norm of the product put back to one.
///
/// One Newton step for 1/√x at x = |a b|² ≈ 1 is enough: it turns a relative deviation d of the norm
/// into 3d²/2, so the norm does not drift however many products are formed.
#[inline]
pub fn compose(a: &UnitQuaternion, b: &UnitQuaternion) -> UnitQuaternion {
    let product = a.as_ref() * b.as_ref();
    let scale = 1.5 - 0.5 * product.norm_squared();
    UnitQuaternion::new_unchecked(product * scale)
}

/// Tangent operator T(θ): exp(θ + δ) ≈ exp(θ) exp(T(θ) δ) for small δ.
///
/// T(θ) = I − (1 − cos φ)/φ² θ̃ + (φ − sin φ)/φ³ θ̃²          [ArnoldCardonaBruls2015, Eq. (33)]
#[inline]
pub fn tangent_operator(rotation_vector: &Vector3) -> Matrix3 {
    radial::matrix(coefficients::tangent_value(rotation_vector.norm_squared()), rotation_vector)
}

/// T(θ) w without forming the matrix.
#[inline]
pub fn tangent_multiply(rotation_vector: &Vector3, w: &Vector3) -> Vector3 {
    radial::multiply(coefficients::tangent_value(rotation_vector.norm_squared()), rotation_vector, w)
}

/// Inverse T⁻¹(θ) = I + θ̃/2 + (1 − φ/2 cot φ/2)/φ² θ̃², the inverse of [`tangent_operator`].
///
/// An error at φ = 2π, 4π, …, where T is singular.
#[inline]
pub fn inverse_tangent_operator(rotation_vector: &Vector3) -> Result<Matrix3, LieError> {
    let value = coefficients::inverse_tangent_value(rotation_vector.norm_squared())?;
    Ok(radial::matrix(value, rotation_vector))
}

/// T⁻¹(θ) w without forming the matrix; an error at φ = 2π, 4π, ….
#[inline]
pub fn inverse_tangent_multiply(rotation_vector: &Vector3, w: &Vector3) -> Result<Vector3, LieError> {
    let value = coefficients::inverse_tangent_value(rotation_vector.norm_squared())?;
    Ok(radial::multiply(value, rotation_vector, w))
}

/// Derivative ∂(T(θ) w)/∂θ of the tangent operator times a constant vector.
pub fn tangent_derivative(rotation_vector: &Vector3, w: &Vector3) -> Matrix3 {
    let square = rotation_vector.norm_squared();
    let value = coefficients::tangent_value(square);
    radial::derivative(value, coefficients::tangent_slope(square), rotation_vector, w)
}

/// Derivative of ∂(T(θ) w)/∂θ in the direction u; symmetric in the sense that this matrix times u′
/// is the same with u and u′ exchanged.
pub fn tangent_second_derivative(rotation_vector: &Vector3, w: &Vector3, u: &Vector3) -> Matrix3 {
    let jet = coefficients::tangent_jet(rotation_vector.norm_squared());
    radial::second_derivative(jet, rotation_vector, w, u)
}

/// Derivative ∂(T⁻¹(θ) w)/∂θ; an error at φ = 2π, 4π, ….
pub fn inverse_tangent_derivative(rotation_vector: &Vector3, w: &Vector3) -> Result<Matrix3, LieError> {
    let [value, slope, _] = coefficients::inverse_tangent_jet(rotation_vector.norm_squared())?;
    Ok(radial::derivative(value, slope, rotation_vector, w))
}
