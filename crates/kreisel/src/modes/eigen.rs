//! Eigenvalues and null spaces of small dense matrices.

use faer::{Mat, Side, c64};
use nalgebra::{Complex, DMatrix, DVector};

/// Eigenvalues with eigenvectors (as columns) of a general matrix.
pub(super) struct Eigenpairs {
    pub values: Vec<Complex<f64>>,
    pub vectors: DMatrix<Complex<f64>>,
    /// ‖A y − θ y‖ / (‖A‖ ‖y‖) of each pair, in the balanced coordinates in which they were found.
    pub residuals: Vec<f64>,
}

/// Residual of [`Eigenpairs`] above which a pair is not one: half of all digits.
pub(super) const WRONG: f64 = 1e-8;

/// Eigenvalues and eigenvectors of any real matrix; `None` if the iteration fails.
///
/// The matrix is balanced first, so that the result does not depend on units: coordinates are scaled by
/// powers of two until rows and columns are alike [BaiDemmelDongarraRuheVanDerVorst2000, §7.2.2]. It goes to
/// faer as a complex one: for repeated complex pairs of a real matrix faer 0.24 returns vectors that are no
/// eigenvectors.
pub(super) fn general(matrix: &DMatrix<f64>) -> Option<Eigenpairs> {
    let size = matrix.nrows();
    if size == 0 || matrix.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (balanced, scales) = balance(matrix);
    let copy = Mat::from_fn(size, size, |i, j| c64::new(balanced[(i, j)], 0.0));
    let eigen = copy.eigen().ok()?;
    let values: Vec<_> = (0..size).map(|i| from_faer(eigen.S().column_vector()[i])).collect();
    let mut vectors = DMatrix::from_fn(size, size, |i, j| from_faer(eigen.U()[(i, j)]));
    let norm = balanced.norm().max(f64::MIN_POSITIVE);
    let complex = balanced.map(|value| Complex::new(value, 0.0));
    let images = &complex * &vectors;
    let residuals = (0..size)
        .map(|i| {
            let vector = vectors.column(i);
            (images.column(i) - vector * values[i]).norm() / (norm * vector.norm().max(f64::MIN_POSITIVE))
        })
        .collect();
    for (mut row, scale) in vectors.row_iter_mut().zip(&scales) {
        row *= Complex::new(*scale, 0.0);
    }
    Some(Eigenpairs { values, vectors, residuals })
}

fn from_faer(value: c64) -> Complex<f64> {
    Complex::new(value.re, value.im)
}

/// D⁻¹ A D with the diagonal of D.
fn balance(matrix: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    /// A scaling that gains less than this is not worth while: the usual constant of balancing.
    const GAIN: f64 = 0.95;
    /// Rounds after which nothing changes any more, as a rule three or four.
    const ROUNDS: usize = 100;
    let size = matrix.nrows();
    let (mut balanced, mut scales) = (matrix.clone(), vec![1.0; size]);
    for _ in 0..ROUNDS {
        let mut changed = false;
        for i in 0..size {
            let off_diagonal = |norm: f64| (norm * norm - balanced[(i, i)].powi(2)).max(0.0).sqrt();
            let (column, row) =
                (off_diagonal(balanced.column(i).norm()), off_diagonal(balanced.row(i).norm()));
            if !(column > 0.0 && row > 0.0) {
                continue;
            }
            let factor = (0.5 * (row / column).log2()).round().clamp(-500.0, 500.0).exp2();
            if column * factor + row / factor < GAIN * (column + row) {
                balanced.column_mut(i).scale_mut(factor);
                balanced.row_mut(i).unscale_mut(factor);
                scales[i] *= factor;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    (balanced, scales)
}

/// Eigenvalues, ascending, and orthonormal eigenvectors (as columns) of a symmetric matrix, of which the
/// lower half is read; `None` if the iteration fails.
pub(super) fn symmetric(matrix: &DMatrix<f64>) -> Option<(Vec<f64>, DMatrix<f64>)> {
    let size = matrix.nrows();
    if matrix.iter().any(|value| !value.is_finite()) {
        return None;
    }
    if size == 0 {
        return Some((Vec::new(), DMatrix::zeros(0, 0)));
    }
    let eigen = to_faer(matrix).self_adjoint_eigen(Side::Lower).ok()?;
    let values = (0..size).map(|i| eigen.S().column_vector()[i]).collect();
    Some((values, DMatrix::from_fn(size, size, |i, j| eigen.U()[(i, j)])))
}

/// An orthonormal basis of the x with A x = 0 (as columns). Rows that are all but a part `dependent` of the
/// largest made up of others count as made up.
///
/// By QR of Aᵀ with exchanges of columns, which neither squares A nor iterates.
pub(super) fn null_space(matrix: &DMatrix<f64>, dependent: f64) -> DMatrix<f64> {
    let (rows, columns) = matrix.shape();
    if rows == 0 || columns == 0 {
        return DMatrix::identity(columns, columns);
    }
    let factors = Mat::from_fn(columns, rows, |i, j| matrix[(j, i)]).col_piv_qr();
    let pivot = |i: usize| factors.R()[(i, i)].abs();
    let rank = (0..rows.min(columns)).take_while(|&i| pivot(i) > dependent * pivot(0)).count();
    let all = factors.compute_Q();
    DMatrix::from_fn(columns, columns - rank, |i, j| all[(i, rank + j)])
}

/// The pseudoinverse of a matrix, without the singular values below a part `dependent` of the largest; `None`
/// if the iteration fails.
pub(super) fn pseudoinverse(matrix: &DMatrix<f64>, dependent: f64) -> Option<DMatrix<f64>> {
    let (rows, columns) = matrix.shape();
    if rows == 0 || columns == 0 {
        return Some(DMatrix::zeros(columns, rows));
    }
    let factors = to_faer(matrix).thin_svd().ok()?;
    let values: Vec<f64> = (0..rows.min(columns)).map(|i| factors.S().column_vector()[i]).collect();
    let limit = dependent * values.iter().fold(0.0, |largest: f64, value| largest.max(*value));
    let rank = values.iter().filter(|value| **value > limit).count();
    let left = DMatrix::from_fn(rows, rank, |i, j| factors.U()[(i, j)]);
    let right = DMatrix::from_fn(columns, rank, |i, j| factors.V()[(i, j)] / values[j]);
    Some(right * left.transpose())
}

fn to_faer(matrix: &DMatrix<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
}

/// A small quadratic problem (s² M + s C + K + N) y = 0 with symmetric M and K and skew N, in coordinates in
/// which K + ρM is the identity.
pub(super) struct Quadratic {
    pub mass: DMatrix<f64>,
    pub damping: DMatrix<f64>,
    pub skew: DMatrix<f64>,
    /// σ, near which s is looked for.
    pub shift: f64,
    /// ρ.
    pub square: f64,
}

/// An eigenvalue with its vector in the coordinates of a small problem.
pub(super) type RitzPair = (Complex<f64>, DVector<Complex<f64>>);

/// Eigenvalues 1/(s − σ) below this part of the largest belong to motions without mass: s is infinite.
const INFINITE: f64 = 1e-13;

impl Quadratic {
    /// All finite s with their vectors y; `None` if the iteration fails.
    ///
    /// In modal coordinates, M = diag(θ), and with τ = s − σ = 1/μ the equations are
    ///
    /// ```text
    /// μ² (1 + (σ² − ρ) M + σC + N) y + μ (C + 2σM) y + M y = 0
    /// ```
    ///
    /// With w = √θ y/μ and the inverse G of the first bracket they are of first order, μ (y, w) = P (y, w),
    ///
    /// ```text
    /// P = | −G (C + 2σM)   −G √θ |
    ///     | √θ              0    |
    /// ```
    ///
    /// The slowest motions have the largest entries, so that round-off of fast ones does not reach them; a
    /// light damping leaves P nearly skew, and its eigenvalues nearly as good as those of a symmetric matrix.
    pub fn solve(&self) -> Option<Vec<RitzPair>> {
        let size = self.mass.nrows();
        let (values, modes) = symmetric(&(0.5 * (&self.mass + self.mass.transpose())))?;
        let theta = DVector::from_iterator(size, values.iter().map(|value| value.max(0.0)));
        let damping = modes.tr_mul(&self.damping) * &modes;
        let skew = modes.tr_mul(&self.skew) * &modes;
        let roots = DMatrix::from_diagonal(&theta.map(f64::sqrt));
        let difference = self.shift * self.shift - self.square;
        let inner = DMatrix::from_diagonal(&theta.map(|theta| 1.0 + difference * theta))
            + self.shift * &damping
            + skew;
        let mut right = DMatrix::zeros(size, 2 * size);
        right
            .view_mut((0, 0), (size, size))
            .copy_from(&(damping + 2.0 * self.shift * DMatrix::from_diagonal(&theta)));
        right.view_mut((0, size), (size, size)).copy_from(&roots);
        let solved = inner.lu().solve(&right)?;
        let mut first_order = DMatrix::zeros(2 * size, 2 * size);
        first_order.view_mut((0, 0), (size, 2 * size)).copy_from(&-solved);
        first_order.view_mut((size, 0), (size, size)).copy_from(&roots);
        let pairs = general(&first_order)?;
        let largest = pairs.values.iter().fold(0.0_f64, |largest, value| largest.max(value.norm()));
        let modes = modes.map(|value| Complex::new(value, 0.0));
        let found = pairs.values.iter().enumerate().filter(|(_, mu)| mu.norm() > INFINITE * largest);
        Some(
            found
                .map(|(column, mu)| {
                    let y = &modes * pairs.vectors.view((0, column), (size, 1)).column(0);
                    (Complex::new(self.shift, 0.0) + mu.inv(), y)
                })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs ζ ± iω, each several times, in coordinates that mix them.
    fn repeated(pairs: &[(f64, f64)]) -> DMatrix<f64> {
        let size = 2 * pairs.len();
        let mut blocks = DMatrix::zeros(size, size);
        for (k, (re, im)) in pairs.iter().enumerate() {
            let mut block = blocks.view_mut((2 * k, 2 * k), (2, 2));
            (block[(0, 0)], block[(0, 1)], block[(1, 0)], block[(1, 1)]) = (*re, *im, -im, *re);
        }
        // Entries of a fixed pattern without symmetry, well conditioned by the diagonal.
        let mix = DMatrix::from_fn(size, size, |i, j| {
            ((7 * i + 13 * j + 5 * i * j) % 11) as f64 / 11.0 + if i == j { 2.0 } else { 0.0 }
        });
        let inverse = mix.clone().try_inverse().unwrap();
        mix * blocks * inverse
    }

    #[test]
    fn vectors_of_repeated_complex_pairs_are_eigenvectors() {
        for count in [2, 4, 20] {
            let pairs: Vec<_> = (0..count).map(|k| (-0.01, 1.0 + (k / 2) as f64)).collect();
            let matrix = repeated(&pairs);
            let found = general(&matrix).unwrap();
            let complex = matrix.map(|value| Complex::new(value, 0.0));
            for (i, value) in found.values.iter().enumerate() {
                let vector = found.vectors.column(i);
                let residual = (&complex * vector - vector * *value).norm() / vector.norm();
                // Round-off of a matrix of this norm.
                assert!(
                    residual < 1e-12 * matrix.norm() && found.residuals[i] < 1e-12,
                    "{value}: {residual}"
                );
            }
        }
    }

    #[test]
    fn eigenvalues_do_not_depend_on_units() {
        let matrix = repeated(&[(-0.1, 1.0), (-0.2, 3.0), (-1e-3, 7.0)]);
        let scale = |i: usize| 10.0_f64.powi([0, 9, -7, 4, -2, 6][i]);
        let scaled = DMatrix::from_fn(6, 6, |i, j| matrix[(i, j)] * scale(i) / scale(j));
        for value in general(&matrix).unwrap().values {
            let found = general(&scaled).unwrap().values;
            let nearest = found.iter().map(|other| (other - value).norm()).fold(f64::INFINITY, f64::min);
            // The condition of the eigenvalues is below 10.
            assert!(nearest < 1e-13 * matrix.norm(), "{value}: {nearest:e}");
        }
    }

    #[test]
    fn null_spaces_have_the_size_that_dependent_rows_leave() {
        let mut matrix =
            DMatrix::from_fn(5, 9, |i, j| ((3 * i + 7 * j + 2 * i * j) % 13) as f64 / 13.0 - 0.4);
        let sum = matrix.row(0) + 2.0 * matrix.row(1);
        matrix.set_row(4, &sum);
        let basis = null_space(&matrix, 1e-6);
        assert_eq!(basis.shape(), (9, 5));
        // Rounding of orthogonal transformations of numbers of size one.
        assert!((matrix * &basis).norm() < 1e-14);
        assert!((basis.tr_mul(&basis) - DMatrix::identity(5, 5)).norm() < 1e-14);
    }

    #[test]
    fn a_pseudoinverse_leaves_out_what_depends() {
        let matrix = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.0, 2.0, 0.0, 1e-9]);
        let inverse = pseudoinverse(&matrix, 1e-6).unwrap();
        // Rounding of numbers of size one.
        assert!((&inverse * &matrix - DMatrix::identity(2, 2)).norm() < 1e-14);
        let flat = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]);
        assert!((pseudoinverse(&flat, 1e-6).unwrap() - 0.25 * flat).norm() < 1e-14);
    }
}
