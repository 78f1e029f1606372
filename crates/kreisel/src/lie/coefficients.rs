//! Scalar coefficients of exp, T and T⁻¹ as functions of s = φ², the squared rotation angle.
//!
//! T(θ) = I − α θ̃ + β θ̃² has α = (1 − cos φ)/φ² and β = (φ − sin φ)/φ³
//! [ArnoldCardonaBruls2015, Eq. (33)]; SE(3) also needs their slopes f₁ = f′(φ)/φ = 2 df/ds, which
//! are the coefficients of [ArnoldCardonaBruls2015, Eq. (35)], and derivatives of T the curvatures
//! f₂ = f₁′(φ)/φ. Written as in the papers they lose all digits as φ → 0: a numerator is the small
//! difference of large terms, already at φ ≈ 1 for f₂.
//!
//! All are entire functions of s with rapidly decreasing coefficients, so Taylor series serve up to
//! s = 10, just beyond a half turn. There the first terms still dominate (no cancellation worth
//! a digit), and beyond it the closed forms lose at most about a digit.

use std::f64::consts::PI;

use super::{LieError, Vector3};

/// The pair α, β of an operator I − α θ̃ + β θ̃², or of its derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperatorCoefficients {
    pub alpha: f64,
    pub beta: f64,
}

impl OperatorCoefficients {
    /// Those of the transposed operator: θ̃ is skew and θ̃² symmetric.
    #[inline]
    pub(super) fn transposed(self) -> Self {
        Self { alpha: -self.alpha, beta: self.beta }
    }
}

/// Terms of the longest series; the first neglected one at s = 10 is below 1e-18 of the sum.
const TERMS: usize = 14;

/// Largest s at which series are used.
const SERIES_LIMIT: f64 = 10.0;

/// Below this s, angles under 0.35 as in nearly every time step, [`SHORT`] terms are enough.
const SHORT_LIMIT: f64 = 0.125;

/// First neglected term at [`SHORT_LIMIT`]: s⁷·2/16! < 1e-19 for α, less for the others.
const SHORT: usize = 7;

/// Below this s, [`MEDIUM`] terms are enough: s¹⁰·2/22! < 1e-17.
const MEDIUM_LIMIT: f64 = 2.0;
const MEDIUM: usize = 10;

/// Taylor coefficients of f, f₁, f₂ or f₃ (`order` 0 to 3) for f = Σ (−s)^k/(2k + `offset`)!, where
/// f₁ = 2 df/ds. Factorials up to 22! are exact; the rounding of later ones is in negligible terms.
const fn taylor(offset: usize, order: usize) -> [f64; TERMS] {
    let mut table = [0.0; TERMS];
    let mut j = 0;
    while j < TERMS {
        let k = j + order;
        let mut numerator = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut i = 0;
        while i < order {
            numerator *= 2.0 * (k - i) as f64;
            i += 1;
        }
        table[j] = numerator / factorial(2 * k + offset);
        j += 1;
    }
    table
}

const fn factorial(n: usize) -> f64 {
    let mut product = 1.0;
    let mut i = 2;
    while i <= n {
        product *= i as f64;
        i += 1;
    }
    product
}

static COSINE: [f64; TERMS] = taylor(0, 0);
static SINE: [f64; TERMS] = taylor(1, 0);
static ALPHA: [[f64; TERMS]; 4] = [taylor(2, 0), taylor(2, 1), taylor(2, 2), taylor(2, 3)];
static BETA: [[f64; TERMS]; 4] = [taylor(3, 0), taylor(3, 1), taylor(3, 2), taylor(3, 3)];

#[inline]
fn polynomial<const N: usize>(table: &[f64; TERMS], s: f64) -> f64 {
    table[..N].iter().rev().fold(0.0, |sum, c| sum * s + c)
}

#[inline]
fn series(table: &[f64; TERMS], s: f64) -> f64 {
    if s < SHORT_LIMIT {
        polynomial::<SHORT>(table, s)
    } else if s < MEDIUM_LIMIT {
        polynomial::<MEDIUM>(table, s)
    } else {
        polynomial::<TERMS>(table, s)
    }
}

/// cos(φ/2) and sin(φ/2)/φ, the parts of the quaternion of a rotation vector.
#[inline]
pub(super) fn half_angle(theta: &Vector3) -> (f64, f64) {
    let s = theta.norm_squared();
    if s < SHORT_LIMIT {
        let quarter = 0.25 * s;
        // Arguments of at most 1/32: the first neglected terms are below 1e-17.
        (polynomial::<6>(&COSINE, quarter), 0.5 * polynomial::<6>(&SINE, quarter))
    } else {
        large_half_angle(theta)
    }
}

/// [`half_angle`] with the rounding error of φ taken back to first order.
///
/// A φ rounded to ε φ would turn the result by ε φ, several ε beyond a half turn.
fn large_half_angle(theta: &Vector3) -> (f64, f64) {
    let (s, s_error) = precise_square(theta);
    let angle = s.sqrt();
    // s − φ² without rounding: φ² is within a few ulps of s, so that this difference is exact.
    let square = angle * angle;
    let residual = (s - square) - angle.mul_add(angle, -square) + s_error;
    let half_correction = 0.25 * residual / angle;
    let (sine, cosine) = (0.5 * angle).sin_cos();
    // The derivatives of cos(φ/2) and sin(φ/2)/φ by φ/2
    (cosine - half_correction * sine, (sine + half_correction * (cosine - 2.0 * sine / angle)) / angle)
}

/// |θ|² and what rounding took from it.
fn precise_square(theta: &Vector3) -> (f64, f64) {
    let mut sum = 0.0;
    let mut error = 0.0;
    for x in theta.iter() {
        let square = x * x;
        let next = sum + square;
        let added = next - sum;
        error += (sum - (next - added)) + (square - added) + x.mul_add(*x, -square);
        sum = next;
    }
    (sum, error)
}

/// α and β of T.
#[inline]
pub(super) fn tangent_value(s: f64) -> OperatorCoefficients {
    if s < SHORT_LIMIT {
        return OperatorCoefficients {
            alpha: polynomial::<SHORT>(&ALPHA[0], s),
            beta: polynomial::<SHORT>(&BETA[0], s),
        };
    }
    let angle = s.sqrt();
    let half_sine = (0.5 * angle).sin();
    let alpha = 2.0 * half_sine * half_sine / s;
    let beta = if s < SERIES_LIMIT { series(&BETA[0], s) } else { (angle - angle.sin()) / (angle * s) };
    OperatorCoefficients { alpha, beta }
}

/// Slopes α₁ and β₁ of T.
#[inline]
pub(super) fn tangent_slope(s: f64) -> OperatorCoefficients {
    if s < SERIES_LIMIT {
        return OperatorCoefficients { alpha: series(&ALPHA[1], s), beta: series(&BETA[1], s) };
    }
    let OperatorCoefficients { alpha, beta } = tangent_value(s);
    let angle = s.sqrt();
    OperatorCoefficients { alpha: (angle.sin() / angle - 2.0 * alpha) / s, beta: (alpha - 3.0 * beta) / s }
}

/// Curvatures α₂ and β₂ of T.
fn tangent_curvature(s: f64) -> OperatorCoefficients {
    if s < SERIES_LIMIT {
        return OperatorCoefficients { alpha: series(&ALPHA[2], s), beta: series(&BETA[2], s) };
    }
    let slope = tangent_slope(s);
    let angle = s.sqrt();
    let (sine, cosine) = angle.sin_cos();
    let sinc_slope = (cosine - sine / angle) / s;
    OperatorCoefficients {
        alpha: (sinc_slope - 4.0 * slope.alpha) / s,
        beta: (slope.alpha - 5.0 * slope.beta) / s,
    }
}

/// α₃ and β₃ of T, with f₃ = f₂′(φ)/φ.
fn tangent_third(s: f64) -> OperatorCoefficients {
    if s < SERIES_LIMIT {
        return OperatorCoefficients { alpha: series(&ALPHA[3], s), beta: series(&BETA[3], s) };
    }
    let curvature = tangent_curvature(s);
    let angle = s.sqrt();
    let (sine, cosine) = angle.sin_cos();
    let sinc = sine / angle;
    let sinc_slope = (cosine - sinc) / s;
    let sinc_curvature = -(sinc + 3.0 * sinc_slope) / s;
    OperatorCoefficients {
        alpha: (sinc_curvature - 6.0 * curvature.alpha) / s,
        beta: (curvature.alpha - 7.0 * curvature.beta) / s,
    }
}

/// Value, slope, curvature and what follows of T's coefficients.
#[inline]
pub(super) fn tangent_long_jet(s: f64) -> [OperatorCoefficients; 4] {
    [tangent_value(s), tangent_slope(s), tangent_curvature(s), tangent_third(s)]
}

/// Value, slope and curvature of T's coefficients.
#[inline]
pub(super) fn tangent_jet(s: f64) -> [OperatorCoefficients; 3] {
    [tangent_value(s), tangent_slope(s), tangent_curvature(s)]
}

/// ζ(2k) − 1 for k = 1, 2, …, by Euler–Maclaurin summation in 40 digits.
const ZETA_MINUS_ONE: [f64; TERMS + 2] = [
    6.449_340_668_482_264e-1,
    8.232_323_371_113_819e-2,
    1.734_306_198_444_914e-2,
    4.077_356_197_944_34e-3,
    9.945_751_278_180_853e-4,
    2.460_865_533_080_483e-4,
    6.124_813_505_870_483e-5,
    1.528_225_940_865_187e-5,
    3.817_293_264_999_84e-6,
    9.539_620_338_727_96e-7,
    2.384_505_027_277_33e-7,
    5.960_818_905_125_948e-8,
    1.490_155_482_836_504e-8,
    3.725_334_024_788_457e-9,
    9.313_274_324_196_682e-10,
    2.328_311_833_676_505_5e-10,
];

/// 4π², the s of the first singularity of T.
const FULL_TURN: f64 = 4.0 * PI * PI;

/// Taylor coefficients of c (or c₁, c₂) without its pole at 4π², c = (1 − φ/2 cot φ/2)/φ².
///
/// φ/2 cot φ/2 = 1 − 2 Σ ζ(2k) (φ/2π)^2k gives c = 2 Σ ζ(2k + 2) s^k/(4π²)^(k+1). The 1 in each ζ sums
/// up to the pole 2/(4π² − s); the rest converges like (s/16π²)^k. All terms are positive.
const fn regular_part(order: usize) -> [f64; TERMS] {
    let mut table = [0.0; TERMS];
    let mut power = FULL_TURN;
    let mut k = 0;
    while k < TERMS + order {
        if k >= order {
            let mut factor = 2.0;
            let mut i = 0;
            while i < order {
                factor *= 2.0 * (k - i) as f64;
                i += 1;
            }
            table[k - order] = factor * ZETA_MINUS_ONE[k] / power;
        }
        power *= FULL_TURN;
        k += 1;
    }
    table
}

static INVERSE_BETA: [[f64; TERMS]; 3] = [regular_part(0), regular_part(1), regular_part(2)];

/// Distance to an angle 2πk below which T counts as singular: T⁻¹ has norm above 1e10 and six
/// digits left, its derivative none.
const SINGULAR_DISTANCE: f64 = 1e-10;

/// β of T⁻¹ beyond the series: (1 − φ/2 cot φ/2)/φ².
fn closed_inverse_beta(s: f64) -> Result<f64, LieError> {
    let angle = s.sqrt();
    let (sine, cosine) = (0.5 * angle).sin_cos();
    // |2 sin(φ/2)| is the distance to the nearest 2πk; φ itself is known to a few ε φ.
    if 2.0 * sine.abs() < SINGULAR_DISTANCE.max(4.0 * f64::EPSILON * angle) {
        return Err(LieError::SingularTangent { angle });
    }
    Ok((1.0 - 0.5 * angle * cosine / sine) / s)
}

/// α = −1/2 and β = (1 − φ/2 cot φ/2)/φ² of T⁻¹.
#[inline]
pub(super) fn inverse_tangent_value(s: f64) -> Result<OperatorCoefficients, LieError> {
    let beta = if s < SERIES_LIMIT {
        2.0 / (FULL_TURN - s) + series(&INVERSE_BETA[0], s)
    } else {
        closed_inverse_beta(s)?
    };
    Ok(OperatorCoefficients { alpha: -0.5, beta })
}

/// Value, slope and curvature of the coefficients of T⁻¹.
#[inline]
pub(super) fn inverse_tangent_jet(s: f64) -> Result<[OperatorCoefficients; 3], LieError> {
    let [value, slope, curvature] = if s < SERIES_LIMIT {
        let pole = 2.0 / (FULL_TURN - s);
        [
            pole + series(&INVERSE_BETA[0], s),
            pole * pole + series(&INVERSE_BETA[1], s),
            2.0 * pole * pole * pole + series(&INVERSE_BETA[2], s),
        ]
    } else {
        // γ = φ/2 cot φ/2 = 1 − c s has γ₁ = γ c − 1/4; differentiate c s = 1 − γ twice.
        let c = closed_inverse_beta(s)?;
        let c1 = (0.25 - 3.0 * c + c * c * s) / s;
        [c, c1, (2.0 * c * c + c1 * (2.0 * c * s - 5.0)) / s]
    };
    Ok([
        OperatorCoefficients { alpha: -0.5, beta: value },
        OperatorCoefficients { alpha: 0.0, beta: slope },
        OperatorCoefficients { alpha: 0.0, beta: curvature },
    ])
}

#[cfg(test)]
mod tests {
    use super::super::reference::{self, DoubleDouble};
    use super::*;

    /// f, f₁, f₂ and f₃ of f = Σ (−s)^k/(2k + offset)! in high precision.
    fn exact_jet(offset: usize, s: f64) -> [DoubleDouble; 4] {
        std::array::from_fn(|order| {
            let mut sum = DoubleDouble::from(0.0);
            let mut power = DoubleDouble::from(1.0);
            for k in order..60 {
                let falling: f64 = (0..order).map(|i| 2.0 * (k - i) as f64).product();
                let sign = if k % 2 == 0 { falling } else { -falling };
                let term = (1..=2 * k + offset).fold(power * sign.into(), |term, i| term / i as f64);
                sum = sum + term;
                power = power * s.into();
            }
            sum
        })
    }

    fn relative_error(computed: f64, exact: DoubleDouble) -> f64 {
        ((exact - computed.into()).rounded() / exact.rounded()).abs()
    }

    fn squares() -> impl Iterator<Item = f64> {
        reference::angles().into_iter().map(|angle| angle * angle)
    }

    #[test]
    fn coefficients_of_the_tangent_operator_keep_their_digits_up_to_a_half_turn() {
        for s in squares().filter(|s| *s < 11.0) {
            let (alpha, beta) = (exact_jet(2, s), exact_jet(3, s));
            for (order, computed) in tangent_long_jet(s).into_iter().enumerate() {
                // Horner's rule and the table round a few times; closed forms lose a digit beyond s = 10, the
                // third two.
                let closed = if order < 3 { 60.0 } else { 200.0 };
                let allowed = if s < 10.0 { 6.0 } else { closed } * f64::EPSILON;
                assert!(relative_error(computed.alpha, alpha[order]) < allowed, "α{order} at {s}");
                assert!(relative_error(computed.beta, beta[order]) < allowed, "β{order} at {s}");
            }
        }
    }

    #[test]
    fn coefficient_of_the_inverse_keeps_its_digits_up_to_a_half_turn() {
        for s in squares().filter(|s| (1e-10..11.0).contains(s)) {
            // c = (1 − sin φ/(2 φ α))/s, that is 2 α s c = 2 α − 1 + β s
            let (alpha, beta) = (exact_jet(2, s)[0], exact_jet(3, s)[0]);
            let exact = alpha + alpha - DoubleDouble::from(1.0) + beta * s.into();
            let value = inverse_tangent_value(s).unwrap();
            let jet = inverse_tangent_jet(s).unwrap();
            let computed = DoubleDouble::from(value.beta) * (alpha + alpha) * s.into();
            assert!(((computed - exact).rounded() / exact.rounded()).abs() < 4.0 * f64::EPSILON, "{s}");
            assert_eq!(jet[0].beta, value.beta);
        }
    }

    #[test]
    fn coefficients_at_zero_are_the_limits() {
        let [value, slope, curvature] = tangent_jet(0.0);
        assert_eq!([value.alpha, value.beta], [1.0 / 2.0, 1.0 / 6.0]);
        assert_eq!([slope.alpha, slope.beta], [-1.0 / 12.0, -1.0 / 60.0]);
        assert_eq!([curvature.alpha, curvature.beta], [1.0 / 90.0, 1.0 / 630.0]);
        // Bernoulli numbers: c = 1/12 + s/720 + s²/30240 + …
        let [value, slope, curvature] = inverse_tangent_jet(0.0).unwrap();
        let limits = [1.0 / 12.0, 2.0 / 720.0, 8.0 / 30240.0];
        for (computed, limit) in [value, slope, curvature].into_iter().zip(limits) {
            assert!((computed.beta - limit).abs() < 4.0 * f64::EPSILON * limit);
        }
    }
}
