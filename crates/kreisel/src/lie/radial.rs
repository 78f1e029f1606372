//! Operators P(θ) = I − α θ̃ + β θ̃² whose coefficients depend on φ = |θ| only.
//!
//! T and T⁻¹ of SO(3) are of this form, and those of SE(3) are made of it and its derivatives: the
//! lower left block of T(Ω, U) is the derivative of T(Ω) in the direction U, because (Ω, U) acts
//! as the dual vector Ω + ε U with ε² = 0. All formulas below are derivatives of
//! P(θ) w = w − α θ × w + β θ × (θ × w), and f₁ = f′(φ)/φ gives ∂f/∂θ = f₁ θᵀ.

use super::coefficients::OperatorCoefficients;
use super::{Matrix3, Vector3, skew};

/// P(θ) w.
#[inline]
pub(super) fn multiply(value: OperatorCoefficients, theta: &Vector3, w: &Vector3) -> Vector3 {
    let theta_w = theta.cross(w);
    w - value.alpha * theta_w + value.beta * theta.cross(&theta_w)
}

/// P(θ)ᵀ w = P(−θ) w.
#[inline]
pub(super) fn transpose_multiply(value: OperatorCoefficients, theta: &Vector3, w: &Vector3) -> Vector3 {
    let theta_w = theta.cross(w);
    w + value.alpha * theta_w + value.beta * theta.cross(&theta_w)
}

/// P(θ).
#[inline]
pub(super) fn matrix(value: OperatorCoefficients, theta: &Vector3) -> Matrix3 {
    let [x, y, z] = [theta.x, theta.y, theta.z];
    let OperatorCoefficients { alpha, beta } = value;
    // θ̃² = θ θᵀ − φ² I; its diagonal is written without the cancellation.
    let [xy, xz, yz] = [beta * x * y, beta * x * z, beta * y * z];
    Matrix3::new(
        1.0 - beta * (y * y + z * z),
        xy + alpha * z,
        xz - alpha * y,
        xy - alpha * z,
        1.0 - beta * (x * x + z * z),
        yz + alpha * x,
        xz + alpha * y,
        yz - alpha * x,
        1.0 - beta * (x * x + y * y),
    )
}

/// Derivative of P(θ) in the direction u, times w.
#[inline]
pub(super) fn slope_multiply(
    value: OperatorCoefficients,
    slope: OperatorCoefficients,
    theta: &Vector3,
    u: &Vector3,
    w: &Vector3,
) -> Vector3 {
    let theta_u = theta.dot(u);
    let theta_w = theta.cross(w);
    let u_w = u.cross(w);
    theta_u * (slope.beta * theta.cross(&theta_w) - slope.alpha * theta_w) - value.alpha * u_w
        + value.beta * (u.cross(&theta_w) + theta.cross(&u_w))
}

/// Derivative of P(θ) in the direction u:
/// −α ũ + β (ũ θ̃ + θ̃ ũ) + (θ·u) (−α₁ θ̃ + β₁ θ̃²).
#[inline]
pub(super) fn slope_matrix(
    value: OperatorCoefficients,
    slope: OperatorCoefficients,
    theta: &Vector3,
    u: &Vector3,
) -> Matrix3 {
    let theta_u = theta.dot(u);
    // ũ θ̃ + θ̃ ũ = θ uᵀ + u θᵀ − 2 (θ·u) I
    let mixed = theta * u.transpose();
    let square = theta * theta.transpose();
    let mut out = value.beta * (mixed + mixed.transpose()) + theta_u * slope.beta * square
        - skew(&(value.alpha * u + theta_u * slope.alpha * theta));
    let diagonal = theta_u * (2.0 * value.beta + slope.beta * theta.norm_squared());
    for i in 0..3 {
        out[(i, i)] -= diagonal;
    }
    out
}

/// ∂(P(θ) w)/∂θ.
#[inline]
pub(super) fn derivative(
    value: OperatorCoefficients,
    slope: OperatorCoefficients,
    theta: &Vector3,
    w: &Vector3,
) -> Matrix3 {
    let theta_w = theta.cross(w);
    let radial = slope.beta * theta.cross(&theta_w) - slope.alpha * theta_w - 2.0 * value.beta * w;
    let mut out = skew(&(value.alpha * w)) + radial * theta.transpose() + value.beta * theta * w.transpose();
    let diagonal = value.beta * theta.dot(w);
    for i in 0..3 {
        out[(i, i)] += diagonal;
    }
    out
}

/// Derivative of ∂(P(θ) w)/∂θ in the direction u.
pub(super) fn second_derivative(
    [value, slope, curvature]: [OperatorCoefficients; 3],
    theta: &Vector3,
    w: &Vector3,
    u: &Vector3,
) -> Matrix3 {
    let theta_u = theta.dot(u);
    let theta_w = theta.cross(w);
    let theta_theta_w = theta.cross(&theta_w);
    // `radial` of [`derivative`] and its own derivative in the direction u
    let radial = slope.beta * theta_theta_w - slope.alpha * theta_w - 2.0 * value.beta * w;
    let radial_rate = theta_u * (curvature.beta * theta_theta_w - curvature.alpha * theta_w)
        + slope.beta * (u.cross(&theta_w) + theta.cross(&u.cross(w)) - 2.0 * theta_u * w)
        - slope.alpha * u.cross(w);
    let beta_rate = theta_u * slope.beta;
    skew(&(theta_u * slope.alpha * w))
        + radial_rate * theta.transpose()
        + radial * u.transpose()
        + (beta_rate * theta + value.beta * u) * w.transpose()
        + Matrix3::from_diagonal_element(beta_rate * theta.dot(w) + value.beta * u.dot(w))
}

/// Second derivative by θ of the number a·P(θ) b.
///
/// With c = b × a and Q = a bᵀ + b aᵀ − 2 (a·b) I the number is a·b − α θ·c + β q, q = ½ θᵀ Q θ.
pub(super) fn form_hessian(
    [value, slope, curvature]: [OperatorCoefficients; 3],
    theta: &Vector3,
    a: &Vector3,
    b: &Vector3,
) -> Matrix3 {
    let RadialForm { c, q_matrix } = RadialForm::of(a, b);
    let (theta_c, q_theta) = (theta.dot(&c), q_matrix * theta);
    let q = 0.5 * theta.dot(&q_theta);
    // Half of each symmetric pair x yᵀ + y xᵀ with θ as one of the two.
    let beside = 0.5 * (curvature.beta * q - curvature.alpha * theta_c) * theta - slope.alpha * c
        + slope.beta * q_theta;
    let diagonal = slope.beta * q - slope.alpha * theta_c;
    pair(theta, &beside) + value.beta * q_matrix + Matrix3::from_diagonal_element(diagonal)
}

/// Derivative of [`form_hessian`] in the direction u.
pub(super) fn form_third(
    [_, slope, curvature, third]: [OperatorCoefficients; 4],
    theta: &Vector3,
    [a, b]: [&Vector3; 2],
    u: &Vector3,
) -> Matrix3 {
    let RadialForm { c, q_matrix } = RadialForm::of(a, b);
    let (theta_u, theta_c, u_c) = (theta.dot(u), theta.dot(&c), u.dot(&c));
    let (q_theta, q_u) = (q_matrix * theta, q_matrix * u);
    let (q, q_rate) = (0.5 * theta.dot(&q_theta), theta.dot(&q_u));
    let beside_theta = 0.5
        * (theta_u * (third.beta * q - third.alpha * theta_c) + curvature.beta * q_rate
            - curvature.alpha * u_c)
        * theta
        + theta_u * (curvature.beta * q_theta - curvature.alpha * c)
        + slope.beta * q_u;
    let beside_u =
        (curvature.beta * q - curvature.alpha * theta_c) * theta - slope.alpha * c + slope.beta * q_theta;
    let diagonal =
        theta_u * (curvature.beta * q - curvature.alpha * theta_c) + slope.beta * q_rate - slope.alpha * u_c;
    pair(theta, &beside_theta)
        + pair(u, &beside_u)
        + theta_u * slope.beta * q_matrix
        + Matrix3::from_diagonal_element(diagonal)
}

/// What a·P(θ) b is made of.
struct RadialForm {
    c: Vector3,
    q_matrix: Matrix3,
}

impl RadialForm {
    fn of(a: &Vector3, b: &Vector3) -> Self {
        let q_matrix = pair(a, b) - Matrix3::from_diagonal_element(2.0 * a.dot(b));
        Self { c: b.cross(a), q_matrix }
    }
}

/// x yᵀ + y xᵀ.
#[inline]
fn pair(x: &Vector3, y: &Vector3) -> Matrix3 {
    let product = x * y.transpose();
    product + product.transpose()
}
