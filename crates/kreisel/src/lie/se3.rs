//! Rigid motions, SE(3), with twists v = (Ω, U) in body axes as local coordinates.
//!
//! Rotation and translation belong together: exp(v) is the screw motion with the constant twist v.
//! Every operator here is that of SO(3) at the dual vector Ω + ε U, ε² = 0, so the lower left blocks
//! are derivatives of the SO(3) operators and share their coefficients.

use super::coefficients::{self, Coefficients};
use super::{LieError, Matrix3, Matrix6, Pose, Vector3, Vector6, radial, skew, so3};

/// The rotational and the translational half of a twist.
#[inline]
fn halves(v: &Vector6) -> (Vector3, Vector3) {
    (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]))
}

#[inline]
fn join(rotational: &Vector3, translational: &Vector3) -> Vector6 {
    let (a, b) = (rotational, translational);
    Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}

/// Block matrix ((diagonal, 0), (lower, diagonal)).
#[inline]
fn block_lower(diagonal: &Matrix3, lower: &Matrix3) -> Matrix6 {
    let mut out = Matrix6::zeros();
    for column in 0..3 {
        for row in 0..3 {
            out[(row, column)] = diagonal[(row, column)];
            out[(row + 3, column + 3)] = diagonal[(row, column)];
            out[(row + 3, column)] = lower[(row, column)];
        }
    }
    out
}

/// Matrix v̂ of the Lie bracket, v̂ w = [v, w]          [ArnoldCardonaBruls2015, Eq. (34)].
#[inline]
pub fn hat(v: &Vector6) -> Matrix6 {
    let (omega, u) = halves(v);
    block_lower(&skew(&omega), &skew(&u))
}

/// Lie bracket v̂ w = (Ω × w₁, U × w₁ + Ω × w₂) without forming the matrix.
#[inline]
pub fn hat_multiply(v: &Vector6, w: &Vector6) -> Vector6 {
    let ((omega, u), (w1, w2)) = (halves(v), halves(w));
    join(&omega.cross(&w1), &(u.cross(&w1) + omega.cross(&w2)))
}

/// Screw motion exp(ṽ) = (exp(Ω̃), T_SO(3)ᵀ(Ω) U)          [ArnoldCardonaBruls2015, Eq. (11b)].
#[inline]
pub fn exp(v: &Vector6) -> Pose {
    let (omega, u) = halves(v);
    let value = coefficients::tangent_value(omega.norm_squared());
    Pose { rotation: so3::exp(&omega), position: radial::transpose_multiply(value, &omega, &u) }
}

/// Twist v with exp(ṽ) equal to the pose, |Ω| ≤ π; the inverse of [`exp`].
///
/// U = T_SO(3)⁻ᵀ(Ω) x, which exists because |Ω| ≤ π < 2π.
#[inline]
pub fn log(pose: &Pose) -> Result<Vector6, LieError> {
    let omega = so3::log(&pose.rotation);
    let value = coefficients::inverse_tangent_value(omega.norm_squared())?;
    Ok(join(&omega, &radial::transpose_multiply(value, &omega, &pose.position)))
}

/// Matrix Ad with (Ad v)~ = H ṽ H⁻¹: the twist v of the body frame seen from the world frame.
///
/// Ad = ((R, 0), (x̃ R, R)).
pub fn adjoint(pose: &Pose) -> Matrix6 {
    let rotation = pose.rotation.to_rotation_matrix().into_inner();
    block_lower(&rotation, &(skew(&pose.position) * rotation))
}

fn operator([value, slope]: [Coefficients; 2], v: &Vector6) -> Matrix6 {
    let (omega, u) = halves(v);
    block_lower(&radial::matrix(value, &omega), &radial::slope_matrix(value, slope, &omega, &u))
}

#[inline]
fn operator_multiply([value, slope]: [Coefficients; 2], v: &Vector6, w: &Vector6) -> Vector6 {
    let ((omega, u), (w1, w2)) = (halves(v), halves(w));
    let translational =
        radial::slope_multiply(value, slope, &omega, &u, &w1) + radial::multiply(value, &omega, &w2);
    join(&radial::multiply(value, &omega, &w1), &translational)
}

/// Derivative of (P(Ω) w₁, ∂(P(Ω) w₁)/∂Ω·U + P(Ω) w₂) by v = (Ω, U).
fn operator_derivative(jet: [Coefficients; 3], v: &Vector6, w: &Vector6) -> Matrix6 {
    let ((omega, u), (w1, w2)) = (halves(v), halves(w));
    let [value, slope, _] = jet;
    let lower =
        radial::second_derivative(jet, &omega, &w1, &u) + radial::derivative(value, slope, &omega, &w2);
    block_lower(&radial::derivative(value, slope, &omega, &w1), &lower)
}

/// Tangent operator T(v): exp(v + δ) ≈ exp(v) ∘ exp(T(v) δ) for small δ
/// [ArnoldCardonaBruls2015, Eq. (35), with T a function of Ω and U].
pub fn tangent_operator(v: &Vector6) -> Matrix6 {
    let square = rotation_square(v);
    operator([coefficients::tangent_value(square), coefficients::tangent_slope(square)], v)
}

/// T(v) w without forming the matrix.
#[inline]
pub fn tangent_multiply(v: &Vector6, w: &Vector6) -> Vector6 {
    let square = rotation_square(v);
    operator_multiply([coefficients::tangent_value(square), coefficients::tangent_slope(square)], v, w)
}

/// Inverse T⁻¹(v) of [`tangent_operator`]; an error at |Ω| = 2π, 4π, ….
pub fn inverse_tangent_operator(v: &Vector6) -> Result<Matrix6, LieError> {
    let [value, slope, _] = coefficients::inverse_tangent_jet(rotation_square(v))?;
    Ok(operator([value, slope], v))
}

/// T⁻¹(v) w without forming the matrix; an error at |Ω| = 2π, 4π, ….
#[inline]
pub fn inverse_tangent_multiply(v: &Vector6, w: &Vector6) -> Result<Vector6, LieError> {
    let [value, slope, _] = coefficients::inverse_tangent_jet(rotation_square(v))?;
    Ok(operator_multiply([value, slope], v, w))
}

/// Derivative ∂(T(v) w)/∂v of the tangent operator times a constant vector.
pub fn tangent_derivative(v: &Vector6, w: &Vector6) -> Matrix6 {
    operator_derivative(coefficients::tangent_jet(rotation_square(v)), v, w)
}

/// Derivative ∂(T⁻¹(v) w)/∂v; an error at |Ω| = 2π, 4π, ….
pub fn inverse_tangent_derivative(v: &Vector6, w: &Vector6) -> Result<Matrix6, LieError> {
    Ok(operator_derivative(coefficients::inverse_tangent_jet(rotation_square(v))?, v, w))
}

#[inline]
fn rotation_square(v: &Vector6) -> f64 {
    v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
}
