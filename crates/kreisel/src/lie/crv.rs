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

/// Rotation vector θ = 4 arctan(|c|/4) c/|c| of a conformal rotation vector: exp(θ) = map(c), |θ| < 2π.
#[inline]
pub fn rotation_vector(c: &Vector3) -> Vector3 {
    let quarter = 0.25 * c.norm();
    if quarter == 0.0 { *c } else { c * (quarter.atan() / quarter) }
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

/// Derivative of ∂(T(c) w)/∂c in the direction u; this matrix times u′ is the same with u and u′ exchanged.
pub fn tangent_second_derivative(c: &Vector3, w: &Vector3, u: &Vector3) -> Matrix3 {
    let denominator = 4.0 - c0(c);
    let scale = 2.0 / (denominator * denominator);
    // With d = 4 − c₀, ∂d/∂c = cᵀ/4: the scale s = 2/d² changes by −(s/2d) cᵀu, and twice by
    // (3s/8d²)(cᵀu)(cᵀu′) − (s/2d) uᵀu′.
    let scale_slope = -0.5 * scale / denominator;
    let (along_c, along_u) = (c.dot(u), u.dot(w));
    let value = scaled_rotation(c) * w;
    let slope = |u: &Vector3| 0.25 * (c.dot(w) * u + u.dot(w) * c - c.dot(u) * w) - u.cross(w);
    let slope_matrix = Matrix3::from_columns(&[Vector3::x(), Vector3::y(), Vector3::z()].map(|e| slope(&e)));
    let scale_curvature = 0.375 * scale / (denominator * denominator) * along_c * c + scale_slope * u;
    let value_curvature =
        0.25 * (u * w.transpose() - w * u.transpose() + Matrix3::from_diagonal_element(along_u));
    value * scale_curvature.transpose()
        + scale_slope * (along_c * slope_matrix + slope(u) * c.transpose())
        + scale * value_curvature
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use num_dual::{Dual2_64, Dual64, DualNum};
    use proptest::prelude::*;

    use super::super::reference::{rotations, vectors};
    use super::super::so3;
    use super::*;

    const EPSILON: f64 = f64::EPSILON;

    /// Rotation matrix as printed in [BrulsCardonaArnold2012, Eq. (81)], with its derivative along w.
    fn printed_matrix(c: &Vector3, w: &Vector3) -> [[Dual64; 3]; 3] {
        let c: [Dual64; 3] = std::array::from_fn(|i| Dual64::new(c[i], w[i]));
        let c0 = (-(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + 16.0) / 8.0;
        let zero = Dual64::from(0.0);
        let tilde = [[zero, -c[2], c[1]], [c[2], zero, -c[0]], [-c[1], c[0], zero]];
        let denominator = (-c0 + 4.0) * (-c0 + 4.0);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let diagonal = if i == j { c0 * c0 + c0 * 8.0 - 16.0 } else { zero };
                (diagonal + c[i] * c[j] * 2.0 + c0 * tilde[i][j] * 2.0) / denominator
            })
        })
    }

    /// Conformal rotation vector of a rotation, |c| ≤ 4; the inverse of [`map`] for angles up to π.
    fn from_rotation(rotation: &UnitQuaternion) -> Vector3 {
        let sign = if rotation.w < 0.0 { -1.0 } else { 1.0 };
        rotation.imag() * (4.0 * sign / (1.0 + rotation.w.abs()))
    }

    #[test]
    fn quarter_of_the_angle_gives_the_length() {
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        for angle in [1e-9, 0.3, 1.0, 2.0, 3.0] {
            let c = axis * (4.0 * (0.25_f64 * angle).tan());
            assert!(map(&c).angle_to(&so3::exp(&(axis * angle))) < 8.0 * EPSILON);
        }
        let half_turn = from_rotation(&so3::exp(&(axis * PI)));
        assert!((half_turn.norm() - 4.0).abs() < 8.0 * EPSILON);
    }

    proptest! {
        #[test]
        fn map_is_the_printed_rotation_matrix(c in vectors(5.0)) {
            let printed = printed_matrix(&c, &Vector3::zeros());
            let printed = Matrix3::from_fn(|i, j| printed[i][j].re);
            let rotation = map(&c).to_rotation_matrix().into_inner();
            // c₀² + 8 c₀ − 16 cancels; |c₀| ≤ 8 and the denominator is at least 4
            prop_assert!((rotation - printed).norm() < 64.0 * EPSILON);
            prop_assert!((rotation.transpose() * rotation - Matrix3::identity()).norm() < 16.0 * EPSILON);
            prop_assert!((rotation.determinant() - 1.0).abs() < 16.0 * EPSILON);
        }

        #[test]
        fn from_rotation_inverts_map(rotation in rotations()) {
            let c = from_rotation(&rotation);
            prop_assert!(c.norm() <= 4.0 + 8.0 * EPSILON);
            prop_assert!(map(&c).angle_to(&rotation) < 16.0 * EPSILON);
        }

        /// The derivative of the rotation matrix R(c) along w is R(c) (T(c) w)~.
        #[test]
        fn tangent_operator_is_the_derivative_of_map(c in vectors(5.0), w in vectors(1.0)) {
            let printed = printed_matrix(&c, &w);
            let slope = Matrix3::from_fn(|i, j| printed[i][j].eps);
            let expected = map(&c).to_rotation_matrix().into_inner() * skew(&(tangent_operator(&c) * w));
            prop_assert!((slope - expected).norm() < 128.0 * EPSILON);
        }

        #[test]
        fn inverse_tangent_operator_is_an_inverse(c in vectors(5.0)) {
            let product = tangent_operator(&c) * inverse_tangent_operator(&c);
            prop_assert!((product - Matrix3::identity()).norm() < 64.0 * EPSILON);
        }

        #[test]
        fn rotation_vector_gives_the_same_rotation(c in vectors(5.0)) {
            prop_assert!(so3::exp(&rotation_vector(&c)).angle_to(&map(&c)) < 16.0 * EPSILON);
        }

        /// Along one direction; the symmetry in the directions gives the rest.
        #[test]
        fn second_derivative_agrees_with_dual_numbers(
            c in vectors(5.0), w in vectors(1.0), u in vectors(1.0), other in vectors(1.0),
        ) {
            let dual: [Dual2_64; 3] = std::array::from_fn(|i| Dual2_64::new(c[i], u[i], 0.0));
            let dot = dual[0] * w[0] + dual[1] * w[1] + dual[2] * w[2];
            let square = dual[0] * dual[0] + dual[1] * dual[1] + dual[2] * dual[2];
            let c0 = (-square + 16.0) / 8.0;
            let scale = ((-c0 + 4.0) * (-c0 + 4.0)).recip() * 2.0;
            let exact = Vector3::from_fn(|i, _| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let cross = dual[j] * w[k] - dual[k] * w[j];
                ((c0 * w[i] + dual[i] * dot / 4.0 - cross) * scale).v2
            });
            prop_assert!((tangent_second_derivative(&c, &w, &u) * u - exact).norm() < 128.0 * EPSILON);
            let forth = tangent_second_derivative(&c, &w, &u) * other;
            let back = tangent_second_derivative(&c, &w, &other) * u;
            prop_assert!((forth - back).norm() < 64.0 * EPSILON);
        }

        #[test]
        fn tangent_derivative_agrees_with_dual_numbers(c in vectors(5.0), w in vectors(1.0), u in vectors(1.0)) {
            let dual: [Dual64; 3] = std::array::from_fn(|i| Dual64::new(c[i], u[i]));
            let dot = dual[0] * w[0] + dual[1] * w[1] + dual[2] * w[2];
            let square = dual[0] * dual[0] + dual[1] * dual[1] + dual[2] * dual[2];
            let c0 = (-square + 16.0) / 8.0;
            let scale = ((-c0 + 4.0) * (-c0 + 4.0)).recip() * 2.0;
            let exact = Vector3::from_fn(|i, _| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let cross = dual[j] * w[k] - dual[k] * w[j];
                ((c0 * w[i] + dual[i] * dot / 4.0 - cross) * scale).eps
            });
            prop_assert!((tangent_derivative(&c, &w) * u - exact).norm() < 64.0 * EPSILON);
        }
    }
}
