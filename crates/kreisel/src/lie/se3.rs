//! Rigid motions, SE(3), with twists v = (Ω, U) in body axes as local coordinates.
//!
//! Rotation and translation belong together: exp(v) is the screw motion with the constant twist v.
//! Every operator here is that of SO(3) at the dual vector Ω + ε U, ε² = 0, so the lower left blocks
//! are derivatives of the SO(3) operators and share their coefficients.

use super::coefficients::{self, OperatorCoefficients};
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

fn operator([value, slope]: [OperatorCoefficients; 2], v: &Vector6) -> Matrix6 {
    let (omega, u) = halves(v);
    block_lower(&radial::matrix(value, &omega), &radial::slope_matrix(value, slope, &omega, &u))
}

#[inline]
fn operator_multiply([value, slope]: [OperatorCoefficients; 2], v: &Vector6, w: &Vector6) -> Vector6 {
    let ((omega, u), (w1, w2)) = (halves(v), halves(w));
    let translational =
        radial::slope_multiply(value, slope, &omega, &u, &w1) + radial::multiply(value, &omega, &w2);
    join(&radial::multiply(value, &omega, &w1), &translational)
}

/// Derivative of (P(Ω) w₁, ∂(P(Ω) w₁)/∂Ω·U + P(Ω) w₂) by v = (Ω, U).
fn operator_derivative(jet: [OperatorCoefficients; 3], v: &Vector6, w: &Vector6) -> Matrix6 {
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

/// T⁻¹(v) at one twist, with its transpose and the derivatives of both, sharing their coefficients.
///
/// T⁻ᵀ of SO(3) has the odd coefficient with the other sign, and for (a, b) = T⁻ᵀ (w₁, w₂) the pair (b, a) is
/// what the transposed SO(3) operator at the dual vector Ω + ε U makes of w₂ + ε w₁.
#[derive(Clone, Copy, Debug)]
pub struct InverseTangent {
    twist: Vector6,
    jet: [OperatorCoefficients; 3],
}

impl InverseTangent {
    /// The operator at a twist; an error at |Ω| = 2π, 4π, ….
    #[inline]
    pub fn at(v: &Vector6) -> Result<Self, LieError> {
        Ok(Self { twist: *v, jet: coefficients::inverse_tangent_jet(rotation_square(v))? })
    }

    /// T⁻¹(v).
    #[inline]
    pub fn matrix(&self) -> Matrix6 {
        operator([self.jet[0], self.jet[1]], &self.twist)
    }

    /// T⁻¹(v) w.
    #[inline]
    pub fn multiply(&self, w: &Vector6) -> Vector6 {
        operator_multiply([self.jet[0], self.jet[1]], &self.twist, w)
    }

    /// ∂(T⁻¹(v) w)/∂v.
    #[inline]
    pub fn derivative(&self, w: &Vector6) -> Matrix6 {
        operator_derivative(self.jet, &self.twist, w)
    }

    /// T⁻ᵀ(v) w.
    #[inline]
    pub fn transpose_multiply(&self, w: &Vector6) -> Vector6 {
        let [value, slope, _] = self.jet.map(OperatorCoefficients::transposed);
        exchanged(&operator_multiply([value, slope], &self.twist, &exchanged(w)))
    }

    /// ∂(T⁻ᵀ(v) w)/∂v.
    #[inline]
    pub fn transpose_derivative(&self, w: &Vector6) -> Matrix6 {
        let jet = self.jet.map(OperatorCoefficients::transposed);
        let swapped = operator_derivative(jet, &self.twist, &exchanged(w));
        Matrix6::from_fn(|row, column| swapped[((row + 3) % 6, column)])
    }
}

/// T(v) at one twist, with its transpose and derivatives up to the second, sharing their coefficients.
#[derive(Clone, Copy, Debug)]
pub struct TangentOperator {
    twist: Vector6,
    jet: [OperatorCoefficients; 4],
}

impl TangentOperator {
    /// The operator at a twist.
    #[inline]
    pub fn at(v: &Vector6) -> Self {
        Self { twist: *v, jet: coefficients::tangent_long_jet(rotation_square(v)) }
    }

    /// Value, slope and curvature of the coefficients.
    #[inline]
    fn short_jet(&self) -> [OperatorCoefficients; 3] {
        [self.jet[0], self.jet[1], self.jet[2]]
    }

    /// T(v).
    #[inline]
    pub fn matrix(&self) -> Matrix6 {
        operator([self.jet[0], self.jet[1]], &self.twist)
    }

    /// T(v) w.
    #[inline]
    pub fn multiply(&self, w: &Vector6) -> Vector6 {
        operator_multiply([self.jet[0], self.jet[1]], &self.twist, w)
    }

    /// ∂(T(v) w)/∂v.
    #[inline]
    pub fn derivative(&self, w: &Vector6) -> Matrix6 {
        operator_derivative(self.short_jet(), &self.twist, w)
    }

    /// ∂(Tᵀ(v) n)/∂v.
    #[inline]
    pub fn transpose_derivative(&self, n: &Vector6) -> Matrix6 {
        let jet = self.short_jet().map(OperatorCoefficients::transposed);
        let swapped = operator_derivative(jet, &self.twist, &exchanged(n));
        Matrix6::from_fn(|row, column| swapped[((row + 3) % 6, column)])
    }

    /// Second derivative ∂²(nᵀ T(v) w)/∂v².
    ///
    /// nᵀ T w is n₁·P w₁ + n₂·P w₂ and the derivative of n₂·P w₁ in the direction U, with P that of SO(3) at
    /// Ω.
    pub fn hessian(&self, w: &Vector6, n: &Vector6) -> Matrix6 {
        let ((omega, u), (w1, w2), (n1, n2)) = (halves(&self.twist), halves(w), halves(n));
        let jet = self.short_jet();
        let mixed = radial::form_hessian(jet, &omega, &n2, &w1);
        let rotational = radial::form_hessian(jet, &omega, &n1, &w1)
            + radial::form_hessian(jet, &omega, &n2, &w2)
            + radial::form_third(self.jet, &omega, [&n2, &w1], &u);
        let mut out = Matrix6::zeros();
        out.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotational);
        out.fixed_view_mut::<3, 3>(0, 3).copy_from(&mixed);
        out.fixed_view_mut::<3, 3>(3, 0).copy_from(&mixed);
        out
    }
}

/// The two halves in the other order.
#[inline]
fn exchanged(v: &Vector6) -> Vector6 {
    Vector6::new(v[3], v[4], v[5], v[0], v[1], v[2])
}

#[inline]
fn rotation_square(v: &Vector6) -> f64 {
    v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::super::UnitQuaternion;
    use super::super::reference::{self, DoubleDouble, Dual, twists};
    use super::*;

    const EPSILON: f64 = f64::EPSILON;

    /// Twists of all angles, with translations much smaller and much larger than one.
    fn sweep() -> impl Iterator<Item = Vector6> {
        let translations = [1.0, 1e-6, 1e6].map(|scale| Vector3::new(0.7, -0.2, 1.1) * scale);
        let angles = reference::angles().into_iter();
        angles.flat_map(move |angle| {
            let axes = reference::axes().into_iter().take(2);
            axes.flat_map(move |axis| translations.map(|u| join(&(axis * angle), &u)))
        })
    }

    fn exact_hat(v: &Vector6) -> reference::Square<DoubleDouble, 6> {
        reference::hat6(std::array::from_fn(|i| v[i].into()))
    }

    /// Error of a 6×6 matrix whose lower left block is in other units than the rest: each of the two is
    /// compared with the size of its own entries.
    fn relative_error(computed: &Matrix6, exact: &reference::Square<DoubleDouble, 6>) -> f64 {
        let exact_rounded = reference::rounded(exact);
        let difference = Matrix6::from_fn(|i, j| (exact[i][j] - computed[(i, j)].into()).rounded());
        let block = |m: &Matrix6, i: usize, j: usize| m.fixed_view::<3, 3>(i, j).norm();
        [(0, 0), (3, 0), (3, 3)]
            .map(|(i, j)| block(&difference, i, j) / block(&exact_rounded, i, j).max(f64::MIN_POSITIVE))
            .into_iter()
            .fold(block(&difference, 0, 3), f64::max)
    }

    #[test]
    fn exp_is_accurate_at_every_angle() {
        for v in sweep() {
            let exact = reference::exp(&reference::tilde4(std::array::from_fn(|i| DoubleDouble::from(v[i]))));
            let position = exp(&v).position;
            let error = Vector3::from_fn(|i, _| (exact[i][3] - position[i].into()).rounded()).norm();
            // Two products per term, three terms, each at most |U|.
            assert!(error < 4.0 * EPSILON * halves(&v).1.norm(), "{v}: {error:e}");
            assert_eq!(exp(&v).rotation, so3::exp(&halves(&v).0));
        }
    }

    #[test]
    fn tangent_operator_agrees_with_its_series_at_every_angle() {
        for v in sweep() {
            let error = relative_error(&tangent_operator(&v), &reference::tangent(&exact_hat(&v)));
            // At φ = 13 the lower block is a fifth of its largest term.
            assert!(error < 8.0 * EPSILON, "{v}: {}", error / EPSILON);
        }
    }

    #[test]
    fn inverse_tangent_operator_is_as_accurate_as_its_condition_allows() {
        for v in sweep() {
            let computed = inverse_tangent_operator(&v).unwrap();
            let exact = reference::inverse(&reference::tangent(&exact_hat(&v)), &computed);
            let rotational = so3::inverse_tangent_operator(&halves(&v).0).unwrap().norm();
            // T⁻¹ has norm √3 at φ = 0 and magnifies the few ε of T by its norm.
            let error = relative_error(&computed, &exact);
            assert!(error < 16.0 * EPSILON * rotational, "{v}: {}", error / EPSILON);
        }
    }

    #[test]
    fn tangent_derivative_is_accurate_at_every_angle() {
        let w = Vector6::new(0.3, -1.1, 0.7, 0.5, 0.9, -0.4);
        for v in sweep() {
            let exact = reference::tangent_derivative(&v, &w, reference::hat6);
            let error = relative_error(&tangent_derivative(&v, &w), &exact);
            // A dozen terms per entry, each known to a few ε.
            assert!(error < 32.0 * EPSILON, "{v}: {}", error / EPSILON);
        }
    }

    #[test]
    fn inverse_tangent_derivative_is_accurate_at_every_angle() {
        let w = Vector6::new(0.3, -1.1, 0.7, 0.5, 0.9, -0.4);
        for v in sweep() {
            // ∂(T⁻¹ w) = −T⁻¹ ∂(T z) with z = T⁻¹ w held constant; all in high precision, except for z,
            // which is rounded once.
            let computed = inverse_tangent_operator(&v).unwrap();
            let inverse = reference::inverse(&reference::tangent(&exact_hat(&v)), &computed);
            let z = reference::rounded(&inverse) * w;
            let slope = reference::tangent_derivative(&v, &z, reference::hat6);
            let exact = reference::product(&inverse, &slope).map(|row| row.map(|entry| -entry));
            let error = relative_error(&InverseTangent::at(&v).unwrap().derivative(&w), &exact);
            let rotational = so3::inverse_tangent_operator(&halves(&v).0).unwrap().norm();
            assert!(error < 32.0 * EPSILON * rotational, "{v}: {}", error / EPSILON);
        }
    }

    #[test]
    fn transposed_inverse_and_its_derivative_agree_with_the_matrices() {
        let w = Vector6::new(0.3, -1.1, 0.7, 0.5, 0.9, -0.4);
        for v in sweep().filter(|v| v.norm() < 10.0) {
            let inverse = InverseTangent::at(&v).unwrap();
            let size = 64.0 * EPSILON * (1.0 + inverse.matrix().norm());
            assert!((inverse.transpose_multiply(&w) - inverse.matrix().tr_mul(&w)).norm() < size);
            let transposed = inverse.transpose_derivative(&w);
            for k in 0..6 {
                // eₖᵀ ∂(T⁻ᵀ w) = ∂(wᵀ T⁻¹ eₖ) = wᵀ ∂(T⁻¹ eₖ)
                let mut unit = Vector6::zeros();
                unit[k] = 1.0;
                let slopes = inverse.derivative(&unit);
                let expected = slopes.tr_mul(&w);
                let error = (transposed.row(k).transpose() - expected).norm();
                assert!(error < 64.0 * EPSILON * (1.0 + slopes.norm()), "{v}: {error}");
            }
        }
    }

    #[test]
    fn second_derivatives_of_the_tangent_operator_are_those_of_its_first() {
        let w = Vector6::new(0.3, -1.1, 0.7, 0.5, 0.9, -0.4);
        let n = Vector6::new(-0.8, 0.2, 0.6, 1.2, -0.3, 0.9);
        for v in sweep().filter(|v| v.norm() < 20.0) {
            let tangent = TangentOperator::at(&v);
            assert_eq!(tangent.matrix(), tangent_operator(&v));
            assert_eq!(tangent.derivative(&w), tangent_derivative(&v, &w));
            let (hessian, transposed) = (tangent.hessian(&w, &n), tangent.transpose_derivative(&n));
            let size = 1.0 + hessian.norm();
            assert!((hessian - hessian.transpose()).norm() < 8.0 * EPSILON * size);
            // Central differences of ∂(T w)/∂v, with an error of step² and ε/step.
            let step = 1e-4;
            for k in 0..6 {
                let mut there = Vector6::zeros();
                there[k] = step;
                let [forth, back] = [v + there, v - there].map(|v| tangent_derivative(&v, &w));
                let expected = (forth - back).tr_mul(&n) / (2.0 * step);
                let error = (hessian.column(k) - expected).norm();
                assert!(error < 1e-6 * size, "{v}: {error}");
                // nᵀ ∂(T eₖ)/∂v is row k of ∂(Tᵀ n)/∂v.
                let mut unit = Vector6::zeros();
                unit[k] = 1.0;
                let row = tangent.derivative(&unit).tr_mul(&n);
                assert!((transposed.row(k).transpose() - row).norm() < 64.0 * EPSILON * (1.0 + row.norm()));
            }
        }
    }

    #[test]
    fn full_turns_are_reported() {
        let v = Vector6::new(0.0, 2.0 * PI, 0.0, 1.0, 2.0, 3.0);
        assert!(matches!(inverse_tangent_operator(&v), Err(LieError::SingularTangent { .. })));
        assert!(inverse_tangent_multiply(&v, &v).is_err());
        assert!(InverseTangent::at(&v).is_err());
    }

    #[test]
    fn log_of_a_half_turn_is_a_screw() {
        // Half a turn about z while moving along it by 2, and a pure half turn about (0.5, 0, z).
        let half_turn = UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 1.0));
        let screw = log(&Pose::new(half_turn, Vector3::new(0.0, 0.0, 2.0))).unwrap();
        assert!((screw - Vector6::new(0.0, 0.0, PI, 0.0, 0.0, 2.0)).norm() < 8.0 * EPSILON);
        let turn = log(&Pose::new(half_turn, Vector3::new(1.0, 0.0, 0.0))).unwrap();
        // U = −Ω × (0.5, 0, 0)
        assert!((turn - Vector6::new(0.0, 0.0, PI, 0.0, -0.5 * PI, 0.0)).norm() < 8.0 * EPSILON);
    }

    proptest! {
        #[test]
        fn log_inverts_exp(v in twists(PI - 1e-6)) {
            // |U| ≤ 5.2, and T⁻¹ has norm below 3 up to half a turn
            prop_assert!((log(&exp(&v)).unwrap() - v).norm() < 64.0 * EPSILON);
        }

        #[test]
        fn poses_form_a_group(a in twists(3.0), b in twists(3.0), c in twists(3.0)) {
            let [a, b, c] = [exp(&a), exp(&b), exp(&c)];
            let [left, right] = [(a * b) * c, a * (b * c)];
            // positions add up to 16 at most
            prop_assert!((left.position - right.position).norm() < 64.0 * EPSILON);
            prop_assert!((left.rotation.as_ref() - right.rotation.as_ref()).norm() < 8.0 * EPSILON);
            let one = a * a.inverse();
            prop_assert!(one.position.norm() < 64.0 * EPSILON);
            prop_assert!(one.rotation.angle() < 8.0 * EPSILON);
            prop_assert_eq!((a * Pose::identity()).position, a.position);
            let p = Vector3::new(1.0, -2.0, 0.5);
            let twice = a.transform_point(&b.transform_point(&p));
            prop_assert!(((a * b).transform_point(&p) - twice).norm() < 64.0 * EPSILON);
            let difference = a.transform_point(&p) - a.transform_point(&Vector3::zeros());
            prop_assert!((difference - a.transform_vector(&p)).norm() < 64.0 * EPSILON);
        }

        /// [ArnoldCardonaBruls2015, Eq. (31)]: the derivative of exp(ṽ + s w̃) is exp(ṽ) (T(v) w)~.
        #[test]
        fn tangent_operator_is_the_derivative_of_exp(v in twists(7.0), w in twists(1.0)) {
            let seeded = std::array::from_fn(|i| Dual::new(v[i], w[i]));
            let h = reference::exp(&reference::tilde4(seeded));
            let product = tangent_operator(&v) * w;
            let tilde = reference::tilde4(std::array::from_fn(|i| DoubleDouble::from(product[i])));
            let moved = reference::product(&h.map(|row| row.map(|entry| entry.value)), &tilde);
            let slope = h.map(|row| row.map(|entry| entry.slope));
            let error = reference::error(&reference::rounded(&slope), &moved);
            // |T(v)| is below 8, |w| below 6, and both matrices are rounded.
            prop_assert!(error < 128.0 * EPSILON, "{}", error / EPSILON);
        }

        /// [ArnoldCardonaBruls2015, Remark 2.8a]
        #[test]
        fn tangent_operator_leaves_its_argument_alone(v in twists(13.0)) {
            prop_assert!((tangent_operator(&v) * v - v).norm() < 32.0 * EPSILON * v.norm());
        }

        /// Moving forth with T(v) and back with T(−v): T(−v) = Ad(exp(ṽ)) T(v).
        #[test]
        fn opposite_tangent_operators_differ_by_the_adjoint(v in twists(7.0)) {
            let expected = adjoint(&exp(&v)) * tangent_operator(&v);
            prop_assert!((tangent_operator(&-v) - expected).norm() < 256.0 * EPSILON);
        }

        #[test]
        fn adjoint_carries_twists_from_body_to_world(a in twists(3.0), v in twists(2.0)) {
            let h = exp(&a);
            let conjugated = h * exp(&v) * h.inverse();
            let carried = exp(&(adjoint(&h) * v));
            prop_assert!((conjugated.position - carried.position).norm() < 512.0 * EPSILON);
            prop_assert!(conjugated.rotation.angle_to(&carried.rotation) < 64.0 * EPSILON);
        }

        /// The identities of [ArnoldCardonaBruls2015, Remark 2.8b] from which T follows.
        #[test]
        fn skew_matrices_satisfy_the_identities_behind_the_closed_form(v in twists(3.0)) {
            let (o, u) = halves(&v);
            let (omega, tilde) = (skew(&o), skew(&u));
            let (square, scalar) = (o.norm_squared(), o.dot(&u));
            // Products of up to three entries of at most 3 and 5.2 in size.
            let tolerance = 1e3 * EPSILON;
            let zero = [
                omega * omega * omega + square * omega,
                tilde * omega + scalar * Matrix3::identity() - o * u.transpose(),
                tilde * omega * omega + omega * omega * tilde + square * tilde + scalar * omega,
                omega * tilde * omega + scalar * omega,
            ];
            for matrix in zero {
                prop_assert!(matrix.norm() < tolerance);
            }
        }

        /// The powers of v̂ in [ArnoldCardonaBruls2015, Remark 2.8b] for l = 0, 1, 2.
        #[test]
        fn powers_of_hat_have_their_closed_form(v in twists(2.0)) {
            let (o, u) = halves(&v);
            let (omega, tilde, scalar) = (skew(&o), skew(&u), o.dot(&u));
            let minus_square = -o.norm_squared();
            let mut odd = hat(&v);
            for l in 0..3 {
                let factor = minus_square.powi(l);
                let inner = if l == 0 { 0.0 } else { -2.0 * f64::from(l) * minus_square.powi(l - 1) * scalar };
                let lower = factor * tilde + inner * omega;
                prop_assert!((odd - block_lower(&(factor * omega), &lower)).norm() < 1e4 * EPSILON);
                let even = odd * hat(&v);
                let square = omega * omega;
                let lower = factor * (tilde * omega + omega * tilde) + inner * square;
                prop_assert!((even - block_lower(&(factor * square), &lower)).norm() < 1e4 * EPSILON);
                odd = even * hat(&v);
            }
        }

        #[test]
        fn products_need_no_matrices(v in twists(5.0), w in twists(3.0)) {
            prop_assert!((hat_multiply(&v, &w) - hat(&v) * w).norm() < 64.0 * EPSILON);
            let expected = tangent_operator(&v) * w;
            prop_assert!((tangent_multiply(&v, &w) - expected).norm() < 128.0 * EPSILON);
            let expected = inverse_tangent_operator(&v).unwrap() * w;
            let product = inverse_tangent_multiply(&v, &w).unwrap();
            prop_assert!((product - expected).norm() < 64.0 * EPSILON * (1.0 + expected.norm()));
        }
    }
}
