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
    let (cosine, sine_over_angle) = coefficients::half_angle(rotation_vector);
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

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::super::reference::{self, DoubleDouble, rotation_vectors, rotations, vectors};
    use super::super::skew;
    use super::*;

    const EPSILON: f64 = f64::EPSILON;

    fn sweep() -> impl Iterator<Item = Vector3> {
        reference::axes().into_iter().flat_map(|axis| reference::angles().into_iter().map(move |a| axis * a))
    }

    fn exact_skew(theta: &Vector3) -> reference::Square<DoubleDouble, 3> {
        reference::skew([theta.x, theta.y, theta.z].map(DoubleDouble::from))
    }

    #[test]
    fn exp_is_accurate_at_every_angle() {
        for theta in sweep() {
            let exact = reference::rounded(&reference::exp(&exact_skew(&theta)));
            let error = reference::error(&exact, &reference::rotation_matrix(&exp(&theta)));
            // Half an ε in each of the quaternion's numbers counts twice in the matrix; `exact` is rounded.
            assert!(error < 4.0 * EPSILON, "{theta}: {}", error / EPSILON);
        }
    }

    #[test]
    fn tangent_operator_is_accurate_at_every_angle() {
        for theta in sweep() {
            let exact = reference::tangent(&exact_skew(&theta));
            let error = reference::error(&tangent_operator(&theta), &exact);
            assert!(error < 4.0 * EPSILON, "{theta}: {}", error / EPSILON);
        }
    }

    #[test]
    fn inverse_tangent_operator_is_as_accurate_as_its_condition_allows() {
        let near_singular = [1e-3, -1e-3, 1e-6, -1e-6].map(|d| Vector3::new(0.6, 0.0, -0.8) * (2.0 * PI + d));
        for theta in sweep().chain(near_singular) {
            let tangent = reference::tangent(&exact_skew(&theta));
            let computed = inverse_tangent_operator(&theta).unwrap();
            let error = reference::error(&computed, &reference::inverse(&tangent, &computed));
            // T and φ are known to a few ε; an inverse magnifies that by its norm squared.
            let allowed =
                4.0 * EPSILON * computed.norm() * (computed.norm() * tangent_operator(&theta).norm());
            assert!(error < allowed, "{theta}: {} of {}", error / EPSILON, allowed / EPSILON);
        }
    }

    #[test]
    fn inverse_tangent_operator_reports_full_turns() {
        for turns in 1..=4 {
            for axis in reference::axes() {
                let theta = axis * (2.0 * PI * f64::from(turns));
                let singular = inverse_tangent_operator(&theta);
                assert!(matches!(singular, Err(LieError::SingularTangent { .. })), "{theta}");
                assert!(inverse_tangent_multiply(&theta, &axis).is_err());
                assert!(inverse_tangent_operator(&(theta * 1.001)).is_ok());
            }
        }
    }

    #[test]
    fn tangent_derivative_is_accurate_at_every_angle() {
        let w = Vector3::new(0.3, -1.1, 0.7);
        for theta in sweep() {
            let exact = reference::tangent_derivative(&theta, &w, reference::skew);
            let error = reference::error(&tangent_derivative(&theta, &w), &exact);
            // Entries are sums of six terms, none much larger than the matrix.
            let allowed = 8.0 * EPSILON * reference::rounded(&exact).norm();
            assert!(error < allowed, "{theta}: {} of {}", error / EPSILON, allowed / EPSILON);
        }
    }

    #[test]
    fn log_is_accurate_near_half_turns() {
        for axis in reference::axes() {
            for distance in [1e-1, 1e-4, 1e-8, 1e-12, 1e-15] {
                let theta = axis * (PI - distance);
                // A few ε from exp, and the angle's rounding in log.
                assert!((log(&exp(&theta)) - theta).norm() < 3.0 * EPSILON * PI, "{theta}");
            }
            let half_turn = log(&UnitQuaternion::new_unchecked(Quaternion::new(0.0, axis.x, axis.y, axis.z)));
            assert!((half_turn - axis * PI).norm() < 3.0 * EPSILON * PI);
        }
    }

    #[test]
    fn log_keeps_all_digits_of_small_angles() {
        for axis in reference::axes() {
            for angle in [1e-300, 1e-200, 1e-160, 1e-100, 1e-12, 1e-8, 1e-4] {
                let theta = axis * angle;
                assert!((log(&exp(&theta)) - theta).amax() <= 4.0 * EPSILON * angle, "{theta}");
            }
        }
        assert_eq!(log(&UnitQuaternion::identity()), Vector3::zeros());
    }

    #[test]
    fn log_of_both_signs_of_a_quaternion_is_the_short_way() {
        let theta = Vector3::new(0.4, -0.8, 2.1);
        let negative = UnitQuaternion::new_unchecked(-exp(&theta).into_inner());
        assert_eq!(log(&negative), log(&exp(&theta)));
    }

    #[test]
    fn ten_million_compositions_keep_the_norm() {
        let step = exp(&Vector3::new(1e-3, 2e-3, -0.7e-3));
        let turned = (0..10_000_000).fold(UnitQuaternion::identity(), |turned, _| compose(&turned, &step));
        // The last product and its scaling round to a few ε; nothing is inherited.
        assert!((turned.as_ref().norm() - 1.0).abs() < 4.0 * EPSILON);
    }

    #[test]
    fn composition_repairs_a_slightly_wrong_norm() {
        let wrong = UnitQuaternion::new_unchecked(*exp(&Vector3::new(1.0, 2.0, 0.5)).as_ref() * (1.0 + 1e-6));
        let norm = compose(&wrong, &UnitQuaternion::identity()).as_ref().norm();
        // 3/2 (1e-6)²
        assert!((norm - 1.0).abs() < 1.6e-12, "{norm}");
    }

    proptest! {
        #[test]
        fn log_inverts_exp(theta in rotation_vectors(PI - 1e-6)) {
            // A few roundings of the quaternion's numbers and of the angle.
            prop_assert!((log(&exp(&theta)) - theta).norm() < 8.0 * EPSILON * theta.norm());
        }

        #[test]
        fn exp_inverts_log(rotation in rotations()) {
            prop_assert!(exp(&log(&rotation)).angle_to(&rotation) < 16.0 * EPSILON);
        }

        #[test]
        fn composition_is_associative(a in rotations(), b in rotations(), c in rotations()) {
            let left = compose(&compose(&a, &b), &c);
            let right = compose(&a, &compose(&b, &c));
            prop_assert!((left.as_ref() - right.as_ref()).norm() < 8.0 * EPSILON);
        }

        /// [ArnoldCardonaBruls2015, Remark 2.8a]
        #[test]
        fn tangent_operator_leaves_its_argument_alone(theta in rotation_vectors(13.0)) {
            let error = (tangent_operator(&theta) * theta - theta).norm();
            prop_assert!(error < 8.0 * EPSILON * theta.norm());
        }

        /// [ArnoldCardonaBruls2015, Eq. (31)]: the derivative of exp(θ̃ + s w̃) is exp(θ̃) (T(θ) w)~.
        #[test]
        fn tangent_operator_is_the_derivative_of_exp(theta in rotation_vectors(7.0), w in vectors(1.0)) {
            let seeded = std::array::from_fn(|i| reference::Dual::new(theta[i], w[i]));
            let slope = reference::exp(&reference::skew(seeded)).map(|row| row.map(|entry| entry.slope));
            let rotation = exp(&theta).to_rotation_matrix().into_inner();
            let error = reference::error(&(rotation * skew(&(tangent_operator(&theta) * w))), &slope);
            // A few roundings in each of four factors.
            prop_assert!(error < 16.0 * EPSILON * w.norm().max(EPSILON));
        }

        #[test]
        fn products_need_no_matrices(theta in rotation_vectors(5.0), w in vectors(1.0)) {
            let tolerance = 16.0 * EPSILON;
            prop_assert!((tangent_multiply(&theta, &w) - tangent_operator(&theta) * w).norm() < tolerance);
            let expected = inverse_tangent_operator(&theta).unwrap() * w;
            let product = inverse_tangent_multiply(&theta, &w).unwrap();
            prop_assert!((product - expected).norm() < tolerance * (1.0 + expected.norm()));
        }

        #[test]
        fn second_derivative_is_symmetric_in_its_directions(
            theta in rotation_vectors(7.0), w in vectors(1.0), u in vectors(1.0), other in vectors(1.0),
        ) {
            let forth = tangent_second_derivative(&theta, &w, &u) * other;
            let back = tangent_second_derivative(&theta, &w, &other) * u;
            prop_assert!((forth - back).norm() < 64.0 * EPSILON);
        }
    }
}
