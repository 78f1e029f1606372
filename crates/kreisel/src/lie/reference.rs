//! What the closed forms are tested against: the defining power series in 106-bit arithmetic.
//!
//! exp and T are evaluated from [ArnoldCardonaBruls2015, Eqs. (8), (30)] as sums of matrix powers, so
//! no closed form, no switch and no cancellation that matters: at φ = 4π the terms reach e^φ ≈ 3e5,
//! which leaves about 26 of 31 digits. Dual numbers over the same arithmetic give derivatives.

use std::ops::{Add, Div, Mul, Neg, Sub};

use nalgebra::{SMatrix, SVector};
use proptest::prelude::*;

use super::{UnitQuaternion, Vector3, Vector6, so3};

/// Terms of a series: (4π)^100/100! < 1e-47.
const TERMS: usize = 100;

/// What a series needs of its numbers.
pub trait Scalar:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Div<f64, Output = Self>
{
}

/// Unevaluated sum of two numbers, good to about 1e-31.
#[derive(Clone, Copy, Debug)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// The nearest f64.
    pub fn rounded(self) -> f64 {
        self.high + self.low
    }
}

/// a + b and the rounding error of that sum.
fn exact_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_part = high - a;
    DoubleDouble { high, low: (a - (high - b_part)) + (b - b_part) }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = exact_sum(self.high, other.high);
        let low = exact_sum(self.low, other.low);
        let middle = exact_sum(high.high, high.low + low.high);
        exact_sum(middle.high, middle.low + low.low)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let error = self.high.mul_add(other.high, -high);
        exact_sum(high, error + (self.high * other.low + self.low * other.high))
    }
}

impl Div<f64> for DoubleDouble {
    type Output = Self;

    fn div(self, divisor: f64) -> Self {
        let first = self.high / divisor;
        let rest = self - Self::from(first) * Self::from(divisor);
        exact_sum(first, rest.rounded() / divisor)
    }
}

impl Scalar for DoubleDouble {}

/// Dual number: a value and its derivative.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    /// The value.
    pub value: DoubleDouble,
    /// Its derivative.
    pub slope: DoubleDouble,
}

impl Dual {
    /// Value and derivative given as ordinary numbers.
    pub fn new(value: f64, slope: f64) -> Self {
        Self { value: value.into(), slope: slope.into() }
    }
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self::new(value, 0.0)
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Neg for Dual {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.value * other.slope + self.slope * other.value }
    }
}

impl Div<f64> for Dual {
    type Output = Self;

    fn div(self, divisor: f64) -> Self {
        Self { value: self.value / divisor, slope: self.slope / divisor }
    }
}

impl Scalar for Dual {}

/// Square matrix, row by row.
pub type Square<S, const N: usize> = [[S; N]; N];

/// Identity matrix.
pub fn identity<S: Scalar, const N: usize>() -> Square<S, N> {
    std::array::from_fn(|i| std::array::from_fn(|j| S::from(if i == j { 1.0 } else { 0.0 })))
}

/// Matrix product.
pub fn product<S: Scalar, const N: usize>(a: &Square<S, N>, b: &Square<S, N>) -> Square<S, N> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..N).fold(S::from(0.0), |sum, k| sum + a[i][k] * b[k][j]))
    })
}

/// Σ f_i Aⁱ with f₀ = 1 and f_i = f_{i−1}/divisor(i).
fn power_series<S: Scalar, const N: usize>(a: &Square<S, N>, divisor: impl Fn(usize) -> f64) -> Square<S, N> {
    let mut term = identity();
    let mut sum = term;
    for i in 1..TERMS {
        term = product(&term, a).map(|row| row.map(|entry| entry / divisor(i)));
        for (sum, term) in sum.iter_mut().flatten().zip(term.iter().flatten()) {
            *sum = *sum + *term;
        }
    }
    sum
}

/// Matrix exponential [ArnoldCardonaBruls2015, Eq. (8)].
pub fn exp<S: Scalar, const N: usize>(a: &Square<S, N>) -> Square<S, N> {
    power_series(a, |i| i as f64)
}

/// Tangent operator from the hat matrix [ArnoldCardonaBruls2015, Eq. (30)].
pub fn tangent<S: Scalar, const N: usize>(hat: &Square<S, N>) -> Square<S, N> {
    power_series(hat, |i| -((i + 1) as f64))
}

/// Skew-symmetric matrix of a vector.
pub fn skew<S: Scalar>([x, y, z]: [S; 3]) -> Square<S, 3> {
    let zero = S::from(0.0);
    [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
}

/// Hat matrix of a twist [ArnoldCardonaBruls2015, Eq. (34)].
pub fn hat6<S: Scalar>([a, b, c, d, e, f]: [S; 6]) -> Square<S, 6> {
    let (omega, u) = (skew([a, b, c]), skew([d, e, f]));
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i / 3, j / 3) {
            (0, 0) | (1, 1) => omega[i % 3][j % 3],
            (1, 0) => u[i % 3][j % 3],
            _ => S::from(0.0),
        })
    })
}

/// Homogeneous matrix ṽ of a twist in se(3) [ArnoldCardonaBruls2015, Sec. 2.2].
pub fn tilde4<S: Scalar>([a, b, c, d, e, f]: [S; 6]) -> Square<S, 4> {
    let zero = S::from(0.0);
    [[zero, -c, b, d], [c, zero, -a, e], [-b, a, zero, f], [zero; 4]]
}

/// Rotation matrix of a quaternion, without rounding.
pub fn rotation_matrix(rotation: &UnitQuaternion) -> Square<DoubleDouble, 3> {
    let [w, x, y, z] = [rotation.w, rotation.i, rotation.j, rotation.k].map(DoubleDouble::from);
    let two = DoubleDouble::from(2.0);
    [
        [w * w + x * x - y * y - z * z, two * (x * y - w * z), two * (x * z + w * y)],
        [two * (x * y + w * z), w * w - x * x + y * y - z * z, two * (y * z - w * x)],
        [two * (x * z - w * y), two * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
}

/// Frobenius norm of the difference between a computed and an exact matrix.
pub fn error<const N: usize>(computed: &SMatrix<f64, N, N>, exact: &Square<DoubleDouble, N>) -> f64 {
    SMatrix::<f64, N, N>::from_fn(|i, j| (exact[i][j] - computed[(i, j)].into()).rounded()).norm()
}

/// Rounds to an ordinary matrix.
pub fn rounded<const N: usize>(a: &Square<DoubleDouble, N>) -> SMatrix<f64, N, N> {
    SMatrix::from_fn(|i, j| a[i][j].rounded())
}

/// Exact form of an ordinary matrix.
pub fn exact<const N: usize>(a: &SMatrix<f64, N, N>) -> Square<DoubleDouble, N> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[(i, j)].into()))
}

/// Inverse of `a`, by Newton's X ← X (2 I − A X) from an approximation good to a few digits.
pub fn inverse<const N: usize>(
    a: &Square<DoubleDouble, N>,
    approximation: &SMatrix<f64, N, N>,
) -> Square<DoubleDouble, N> {
    let mut x = exact(approximation);
    for _ in 0..4 {
        let ax = product(a, &x);
        let correction: Square<DoubleDouble, N> = std::array::from_fn(|i| {
            std::array::from_fn(|j| DoubleDouble::from(if i == j { 2.0 } else { 0.0 }) - ax[i][j])
        });
        x = product(&x, &correction);
    }
    x
}

/// ∂(T(v) w)/∂v, column by column from dual numbers.
pub fn tangent_derivative<const N: usize>(
    v: &SVector<f64, N>,
    w: &SVector<f64, N>,
    hat: impl Fn([Dual; N]) -> Square<Dual, N>,
) -> Square<DoubleDouble, N> {
    let columns: [Square<Dual, N>; N] = std::array::from_fn(|j| {
        tangent(&hat(std::array::from_fn(|i| Dual::new(v[i], if i == j { 1.0 } else { 0.0 }))))
    });
    let row_times_w = |row: &[Dual; N]| {
        row.iter().zip(w.iter()).fold(DoubleDouble::from(0.0), |sum, (t, w)| sum + t.slope * (*w).into())
    };
    std::array::from_fn(|i| std::array::from_fn(|j| row_times_w(&columns[j][i])))
}

/// Angles from zero to beyond two turns, on both sides of every switch between formulas.
pub fn angles() -> Vec<f64> {
    let switches = [0.125, 2.0, 10.0].map(f64::sqrt);
    let mut angles: Vec<f64> =
        switches.iter().flat_map(|a| [1.0 - 1e-12, 1.0 - 1e-15, 1.0, 1.0 + 1e-12].map(|f| f * a)).collect();
    angles.extend([0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.5, 0.7]);
    angles.extend([
        1.0,
        1.2,
        1.7,
        2.0,
        2.5,
        3.0,
        std::f64::consts::PI,
        3.5,
        4.0,
        5.0,
        6.0,
        7.0,
        8.0,
        8.9868,
        10.0,
        13.0,
    ]);
    angles
}

/// Axes along which the angles are laid.
pub fn axes() -> [Vector3; 4] {
    [
        Vector3::new(0.0, 0.0, 1.0),
        Vector3::new(1.0, 2.0, -2.0) / 3.0,
        Vector3::new(-0.48, 0.6, 0.64),
        Vector3::new(1.0, 1e-7, 1e-3).normalize(),
    ]
}

/// Vectors with entries of at most `bound`.
pub fn vectors(bound: f64) -> impl Strategy<Value = Vector3> {
    [-bound..bound, -bound..bound, -bound..bound].prop_map(Vector3::from)
}

/// Rotation vectors of angles up to `largest_angle`, all angles equally often.
pub fn rotation_vectors(largest_angle: f64) -> impl Strategy<Value = Vector3> {
    (vectors(1.0), 0.0..largest_angle)
        .prop_filter("an axis needs a length", |(axis, _)| axis.norm() > 0.1)
        .prop_map(|(axis, angle)| axis.normalize() * angle)
}

/// Twists with angles up to `largest_angle` and translations of order one.
pub fn twists(largest_angle: f64) -> impl Strategy<Value = Vector6> {
    (rotation_vectors(largest_angle), vectors(3.0))
        .prop_map(|(a, b)| Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z))
}

/// Rotations of every angle.
pub fn rotations() -> impl Strategy<Value = UnitQuaternion> {
    rotation_vectors(std::f64::consts::PI).prop_map(|theta| so3::exp(&theta))
}
