//! Block Krylov spaces with full orthogonalisation.
//!
//! The space is spanned by a block of start vectors, the operator applied to it once, twice, … A block as
//! wide as an eigenvalue is often finds all its vectors. Both the basis V and T V are kept, so that a Ritz
//! pair's residual T V y − θ V y is computed, not estimated.

use nalgebra::{Complex, DMatrix, DVector};

/// Vectors in a block: the six rigid motions of a free body and some more.
pub(super) const BLOCK: usize = 8;
/// A vector that loses this much to those before it is one of them.
const LOST: f64 = 1e-11;

/// Product of a vector with W.
type Weigh<'w> = dyn Fn(&[f64]) -> Vec<f64> + 'w;

/// An orthonormal basis V with T V and VᵀWT V.
pub(super) struct Basis<'w> {
    weigh: Box<Weigh<'w>>,
    pub vectors: Vec<Vec<f64>>,
    /// W v of each vector.
    weighted: Vec<Vec<f64>>,
    pub images: Vec<Vec<f64>>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(factor: f64, a: &[f64], from: &mut [f64]) {
    from.iter_mut().zip(a).for_each(|(x, a)| *x -= factor * a);
}

impl<'w> Basis<'w> {
    /// An empty basis for the inner product (x, y) = xᵀ W y.
    pub fn new(weigh: impl Fn(&[f64]) -> Vec<f64> + 'w) -> Self {
        Self { weigh: Box::new(weigh), vectors: Vec::new(), weighted: Vec::new(), images: Vec::new() }
    }

    /// Adds what is new in a vector; tells whether there was something.
    pub fn add(&mut self, mut vector: Vec<f64>) -> bool {
        let size = dot(&vector, &(self.weigh)(&vector)).max(0.0).sqrt();
        if size == 0.0 || !size.is_finite() {
            return false;
        }
        vector.iter_mut().for_each(|value| *value /= size);
        for _ in 0..2 {
            for (known, weighted) in self.vectors.iter().zip(&self.weighted) {
                let part = dot(&vector, weighted);
                subtract(part, known, &mut vector);
            }
        }
        let mut weighted = (self.weigh)(&vector);
        let rest = dot(&vector, &weighted).max(0.0).sqrt();
        if rest <= LOST {
            return false;
        }
        vector.iter_mut().chain(&mut weighted).for_each(|value| *value /= rest);
        self.vectors.push(vector);
        self.weighted.push(weighted);
        true
    }

    /// VᵀWTV.
    pub fn projected(&self) -> DMatrix<f64> {
        let size = self.images.len();
        DMatrix::from_fn(size, size, |i, j| dot(&self.weighted[i], &self.images[j]))
    }

    /// V y.
    pub fn combine(&self, y: &DVector<Complex<f64>>) -> Vec<Complex<f64>> {
        combine(&self.vectors, y)
    }

    /// ‖T V y − θ V y‖ / ‖θ V y‖.
    pub fn residual(&self, theta: Complex<f64>, y: &DVector<Complex<f64>>) -> f64 {
        let (image, vector) = (combine(&self.images, y), combine(&self.vectors, y));
        let difference: Vec<Complex<f64>> = image.iter().zip(&vector).map(|(t, v)| t - theta * v).collect();
        self.norm(&difference) / (theta.norm() * self.norm(&vector))
    }

    fn norm(&self, vector: &[Complex<f64>]) -> f64 {
        let part = |of: fn(&Complex<f64>) -> f64| {
            let part: Vec<f64> = vector.iter().map(of).collect();
            dot(&part, &(self.weigh)(&part)).max(0.0)
        };
        (part(|z| z.re) + part(|z| z.im)).sqrt()
    }
}

fn combine(columns: &[Vec<f64>], y: &DVector<Complex<f64>>) -> Vec<Complex<f64>> {
    let mut sum = vec![Complex::new(0.0, 0.0); columns.first().map_or(0, Vec::len)];
    for (column, factor) in columns.iter().zip(y.iter()) {
        sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
    }
    sum
}

/// Start vectors that no symmetry of a machine is orthogonal to.
pub(super) fn start_vector(length: usize, index: usize) -> Vec<f64> {
    let mut state = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(length).collect()
}
