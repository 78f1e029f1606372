//! A growing space of motions, orthonormal in energy, with the forces that its vectors need.
//!
//! The inner product is that of E = K + σ²M, which is definite. With each vector x its force E x is kept and
//! changes with it: a product with E would lose the digits by which the stiffness of a mesh exceeds that of
//! its slow modes.

use nalgebra::{Complex, DMatrix, DVector};

use super::Linearized;
use super::linearized::{Skew, entries};

/// A vector that loses all but this part to those before it is one of them. A choice: what is left has lost
/// six of sixteen digits.
const LOST: f64 = 1e-6;
/// Difference of the energy by the stored force from that by a product with E up to which a vector counts,
/// beyond the round-off of the product. Set after failures; sound vectors agree to many digits.
const CONSISTENT: f64 = 0.01;

/// Round-off of the energy of a motion and of the factors with which it was found, beside one product.
pub(super) const PRODUCT_ROUND_OFF: f64 = 1e3 * f64::EPSILON;

/// A vector x of the space and what is known of it.
struct BasisVector {
    x: Vec<f64>,
    /// E x.
    force: Vec<f64>,
    /// M x.
    momentum: Vec<f64>,
    /// C x.
    drag: Vec<f64>,
    /// N x with the skew part N of the stiffness.
    swirl: Vec<f64>,
}

/// A space of motions.
pub(super) struct Subspace<'l> {
    linearized: &'l Linearized,
    skew: &'l Skew,
    /// σ².
    square: f64,
    members: Vec<BasisVector>,
}

/// A motion x = V y of the space: real or complex parts of x, E x, M x, C x and N x.
pub(super) struct RitzMotion {
    pub x: Vec<Complex<f64>>,
    pub force: Vec<Complex<f64>>,
    pub momentum: Vec<Complex<f64>>,
    pub drag: Vec<Complex<f64>>,
    pub swirl: Vec<Complex<f64>>,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(factor: f64, a: &[f64], from: &mut [f64]) {
    from.iter_mut().zip(a).for_each(|(x, a)| *x -= factor * a);
}

impl<'l> Subspace<'l> {
    pub fn new(linearized: &'l Linearized, skew: &'l Skew, square: f64) -> Self {
        Self { linearized, skew, square, members: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Adds what is new in a vector with the force E x that it needs; tells whether there was something.
    pub fn add(&mut self, mut x: Vec<f64>, mut force: Vec<f64>) -> bool {
        let size = dot(&x, &force).max(0.0).sqrt();
        if !(size > 0.0 && size.is_finite()) {
            return false;
        }
        x.iter_mut().chain(&mut force).for_each(|value| *value /= size);
        let mut sizes = [0.0; 2];
        for size in &mut sizes {
            for member in &self.members {
                let part = dot(&x, &member.force);
                subtract(part, &member.x, &mut x);
                subtract(part, &member.force, &mut force);
            }
            *size = dot(&x, &force).max(0.0).sqrt();
        }
        // What the second round takes away as well was round-off.
        let [first, rest] = sizes;
        if !(rest > LOST && rest > 0.1 * first) {
            return false;
        }
        x.iter_mut().chain(&mut force).for_each(|value| *value /= rest);
        let product = |matrix: &crate::solve::block::BlockMatrix| {
            let mut product = vec![0.0; x.len()];
            matrix.multiply_add(1.0, &x, &mut product);
            product
        };
        let momentum = product(&self.linearized.mass);
        let drag = product(&self.linearized.damping);
        let swirl = self.skew.times(&x);
        // A vector that is round-off does not belong to its force.
        let mut energy = dot(&x, &product(&self.linearized.stiffness)) - dot(&x, &swirl);
        energy += self.square * dot(&x, &momentum);
        let mut round_off = 0.0;
        entries(&self.linearized.stiffness, |row, column, value| {
            round_off += PRODUCT_ROUND_OFF * (x[row] * value * x[column]).abs();
        });
        let consistent = (energy - 1.0).abs() < CONSISTENT + round_off;
        if !consistent {
            return false;
        }
        self.members.push(BasisVector { x, force, momentum, drag, swirl });
        true
    }

    fn projected(&self, of: fn(&BasisVector) -> &Vec<f64>) -> DMatrix<f64> {
        let size = self.members.len();
        DMatrix::from_fn(size, size, |i, j| dot(&self.members[i].x, of(&self.members[j])))
    }

    /// VᵀM V.
    pub fn mass(&self) -> DMatrix<f64> {
        self.projected(|member| &member.momentum)
    }

    /// VᵀC V.
    pub fn damping(&self) -> DMatrix<f64> {
        self.projected(|member| &member.drag)
    }

    /// VᵀN V.
    pub fn skew(&self) -> DMatrix<f64> {
        self.projected(|member| &member.swirl)
    }

    /// V y.
    pub fn motion(&self, y: &DVector<Complex<f64>>) -> RitzMotion {
        let combined = |of: fn(&BasisVector) -> &Vec<f64>| {
            let mut sum = vec![Complex::default(); self.linearized.velocity_count()];
            for (member, factor) in self.members.iter().zip(y.iter()) {
                sum.iter_mut().zip(of(member)).for_each(|(sum, value)| *sum += factor * value);
            }
            sum
        };
        RitzMotion {
            x: combined(|member| &member.x),
            force: combined(|member| &member.force),
            momentum: combined(|member| &member.momentum),
            drag: combined(|member| &member.drag),
            swirl: combined(|member| &member.swirl),
        }
    }

    /// Keeps the span of some orthonormal combinations (columns) only.
    pub fn restrict(&mut self, to: &DMatrix<f64>) {
        let combined = |of: fn(&BasisVector) -> &Vec<f64>, y: &[f64]| {
            let mut sum = vec![0.0; self.linearized.velocity_count()];
            for (member, factor) in self.members.iter().zip(y) {
                subtract(-factor, of(member), &mut sum);
            }
            sum
        };
        let columns = to.column_iter().map(|column| {
            let y = column.as_slice();
            BasisVector {
                x: combined(|member| &member.x, y),
                force: combined(|member| &member.force, y),
                momentum: combined(|member| &member.momentum, y),
                drag: combined(|member| &member.drag, y),
                swirl: combined(|member| &member.swirl, y),
            }
        });
        self.members = columns.collect();
    }
}

/// Numbers between −1 and 1 that no symmetry of a machine is orthogonal to; others for each index.
pub(super) fn random_numbers(length: usize, index: usize) -> Vec<f64> {
    let mut state = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(length).collect()
}
