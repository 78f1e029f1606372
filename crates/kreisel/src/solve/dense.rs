//! Dense LU with partial pivoting, in place and without allocation after construction.
//!
//! Meant for systems of up to a few dozen unknowns, where a general library's dispatch costs more
//! than the arithmetic. Sizes that small machines have (6 per body, 3 to 6 per joint) take the same path with
//! the size known to the compiler, in about two thirds of the time.

/// Factors of a square matrix.
#[derive(Clone, Debug)]
pub struct DenseLu {
    size: usize,
    /// L below the diagonal (unit diagonal not stored) and U, column by column.
    factors: Vec<f64>,
    /// Reciprocals of U's diagonal.
    inverse_pivots: Vec<f64>,
    /// Row that was exchanged with row k in step k.
    exchanges: Vec<usize>,
    /// Sum of the absolute values of the column with the largest sum.
    norm: f64,
}

/// A column without a pivot: the matrix is singular to working precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZeroPivot {
    /// Column, and thereby unknown, that has no pivot of its own.
    pub column: usize,
}

/// Pivots below this part of their column's original size count as zero.
///
/// Round-off of the elimination is some ε times the column; a true pivot of a well scaled system is far
/// larger.
const ZERO_PIVOT: f64 = 1e-14;

impl DenseLu {
    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Room for a matrix of this size.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            factors: vec![0.0; size * size],
            inverse_pivots: vec![0.0; size],
            exchanges: vec![0; size],
            norm: 0.0,
        }
    }

    /// The matrix to be factored, column by column; written before [`DenseLu::factor`].
    pub fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.factors
    }

    /// Factors the matrix; the smallest ratio of a pivot to its column tells how close it was to singular.
    pub fn factor(&mut self) -> Result<f64, ZeroPivot> {
        match self.size {
            3 => self.factor_sized::<3>(),
            6 => self.factor_sized::<6>(),
            7 => self.factor_sized::<7>(),
            9 => self.factor_sized::<9>(),
            11 => self.factor_sized::<11>(),
            12 => self.factor_sized::<12>(),
            _ => self.factor_any(),
        }
    }

    fn factor_any(&mut self) -> Result<f64, ZeroPivot> {
        let n = self.size;
        self.norm = 0.0;
        for (k, column) in self.factors.chunks_exact(n.max(1)).enumerate() {
            let sum: f64 = column.iter().map(|value| value.abs()).sum();
            self.norm = self.norm.max(sum);
            // Kept until column k is eliminated, then replaced by the reciprocal pivot.
            self.inverse_pivots[k] = sum;
        }
        let mut smallest_ratio = f64::INFINITY;
        for k in 0..n {
            let ratio = self.eliminate(k)?;
            smallest_ratio = smallest_ratio.min(ratio);
        }
        Ok(smallest_ratio)
    }

    /// [`DenseLu::factor_any`] for a size known to the compiler: whole columns are updated, with multipliers
    /// of zero for the rows that are done.
    fn factor_sized<const N: usize>(&mut self) -> Result<f64, ZeroPivot> {
        let (columns, _) = self.factors.as_chunks_mut::<N>();
        let columns: &mut [[f64; N]; N] = columns.as_mut_array().expect("the matrix is square");
        let sums = columns.each_ref().map(|column| column.iter().map(|value| value.abs()).sum::<f64>());
        self.norm = sums.iter().fold(0.0, |norm, &sum| norm.max(sum));
        let mut smallest_ratio = f64::INFINITY;
        for k in 0..N {
            let (pivot_row, pivot_size) = largest_from(&columns[k], k);
            if pivot_size.is_nan() || pivot_size <= ZERO_PIVOT * sums[k] {
                return Err(ZeroPivot { column: k });
            }
            smallest_ratio = smallest_ratio.min(pivot_size / sums[k]);
            self.exchanges[k] = pivot_row;
            if pivot_row != k {
                columns.iter_mut().for_each(|column| column.swap(k, pivot_row));
            }
            let inverse = 1.0 / columns[k][k];
            self.inverse_pivots[k] = inverse;
            let mut multipliers = [0.0; N];
            for (row, value) in columns[k].iter_mut().enumerate() {
                // A choice of values, not of paths: the compiler makes vector operations of it.
                let scaled = *value * inverse;
                multipliers[row] = if row > k { scaled } else { 0.0 };
                *value = if row > k { scaled } else { *value };
            }
            for column in &mut columns[k + 1..] {
                let factor = column[k];
                for (value, multiplier) in column.iter_mut().zip(&multipliers) {
                    *value -= factor * multiplier;
                }
            }
        }
        Ok(smallest_ratio)
    }

    fn eliminate(&mut self, k: usize) -> Result<f64, ZeroPivot> {
        let n = self.size;
        let (done, rest) = self.factors.split_at_mut((k + 1) * n);
        let column = &mut done[k * n..];
        let (pivot_row, pivot_size) = largest_from(column, k);
        let original = self.inverse_pivots[k];
        if pivot_size.is_nan() || pivot_size <= ZERO_PIVOT * original {
            return Err(ZeroPivot { column: k });
        }
        self.exchanges[k] = pivot_row;
        column.swap(k, pivot_row);
        let inverse = 1.0 / column[k];
        self.inverse_pivots[k] = inverse;
        let multipliers = &mut column[k + 1..];
        multipliers.iter_mut().for_each(|value| *value *= inverse);
        for target in rest.chunks_exact_mut(n) {
            target.swap(k, pivot_row);
            let (head, tail) = target.split_at_mut(k + 1);
            let factor = head[k];
            if factor != 0.0 {
                for (value, multiplier) in tail.iter_mut().zip(multipliers.iter()) {
                    *value -= factor * multiplier;
                }
            }
        }
        // Rows of L move with later exchanges, so that a solve can exchange first and eliminate after.
        if pivot_row != k {
            for earlier in done[..k * n].chunks_exact_mut(n) {
                earlier.swap(k, pivot_row);
            }
        }
        Ok(pivot_size / original)
    }

    /// Solves A x = b in place.
    pub fn solve(&self, rhs: &mut [f64]) {
        match self.size {
            3 => self.solve_sized::<3>(rhs),
            6 => self.solve_sized::<6>(rhs),
            7 => self.solve_sized::<7>(rhs),
            9 => self.solve_sized::<9>(rhs),
            11 => self.solve_sized::<11>(rhs),
            12 => self.solve_sized::<12>(rhs),
            _ => self.solve_any(rhs),
        }
    }

    /// [`DenseLu::solve_any`] for a size known to the compiler, which writes the loops out.
    fn solve_sized<const N: usize>(&self, rhs: &mut [f64]) {
        let (columns, _) = self.factors.as_chunks::<N>();
        let columns: &[[f64; N]; N] = columns.as_array().expect("the matrix is square");
        let x: &mut [f64; N] = rhs.first_chunk_mut().expect("the right side has the size of the matrix");
        for (k, &row) in self.exchanges.iter().enumerate() {
            x.swap(k, row);
        }
        for k in 0..N {
            for row in k + 1..N {
                x[row] -= x[k] * columns[k][row];
            }
        }
        for k in (0..N).rev() {
            x[k] *= self.inverse_pivots[k];
            for row in 0..k {
                x[row] -= x[k] * columns[k][row];
            }
        }
    }

    fn solve_any(&self, rhs: &mut [f64]) {
        let n = self.size;
        for (k, &row) in self.exchanges.iter().enumerate() {
            rhs.swap(k, row);
        }
        for (k, column) in self.factors.chunks_exact(n.max(1)).enumerate() {
            let (head, tail) = rhs.split_at_mut(k + 1);
            let factor = head[k];
            for (value, multiplier) in tail.iter_mut().zip(&column[k + 1..]) {
                *value -= factor * multiplier;
            }
        }
        for (k, column) in self.factors.chunks_exact(n.max(1)).enumerate().rev() {
            let (head, tail) = rhs.split_at_mut(k);
            let value = tail[0] * self.inverse_pivots[k];
            tail[0] = value;
            for (entry, upper) in head.iter_mut().zip(column) {
                *entry -= value * upper;
            }
        }
    }

    /// Solves Aᵀ x = b in place.
    pub fn solve_transposed(&self, rhs: &mut [f64]) {
        let n = self.size;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (k, column) in self.factors.chunks_exact(n.max(1)).enumerate() {
            rhs[k] = (rhs[k] - dot(&rhs[..k], &column[..k])) * self.inverse_pivots[k];
        }
        for (k, column) in self.factors.chunks_exact(n.max(1)).enumerate().rev() {
            rhs[k] -= dot(&rhs[k + 1..], &column[k + 1..]);
        }
        for (k, &row) in self.exchanges.iter().enumerate().rev() {
            rhs.swap(k, row);
        }
    }

    /// Estimate of the condition number ‖A‖₁‖A⁻¹‖₁ from below, by Hager's power method on the 1-norm.
    pub fn condition_estimate(&self) -> f64 {
        let n = self.size;
        if n == 0 {
            return 1.0;
        }
        let mut x = vec![1.0 / n as f64; n];
        let mut estimate = 0.0_f64;
        // Five rounds: the method nearly always stops after two or three.
        for _ in 0..5 {
            self.solve(&mut x);
            let norm: f64 = x.iter().map(|value| value.abs()).sum();
            if norm <= estimate {
                break;
            }
            estimate = norm;
            x.iter_mut().for_each(|value| *value = if *value < 0.0 { -1.0 } else { 1.0 });
            self.solve_transposed(&mut x);
            let Some((index, _)) = x.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
                break;
            };
            x.fill(0.0);
            x[index] = 1.0;
        }
        estimate * self.norm
    }
}

/// Row and size of the largest entry from row `first` on.
#[inline]
fn largest_from(column: &[f64], first: usize) -> (usize, f64) {
    let (mut largest_row, mut largest) = (first, column[first].abs());
    for (row, value) in column.iter().enumerate().skip(first + 1) {
        if value.abs() > largest {
            (largest_row, largest) = (row, value.abs());
        }
    }
    (largest_row, largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    fn factored(matrix: &DMatrix<f64>) -> Result<DenseLu, ZeroPivot> {
        let mut lu = DenseLu::new(matrix.nrows());
        lu.matrix_mut().copy_from_slice(matrix.as_slice());
        lu.factor()?;
        Ok(lu)
    }

    proptest! {
        #[test]
        fn solutions_satisfy_their_equations(n in 1usize..20, seed in proptest::collection::vec(-1.0..1.0, 420)) {
            let matrix = DMatrix::from_iterator(n, n, seed.iter().copied().take(n * n));
            let rhs = DVector::from_iterator(n, seed.iter().rev().copied().take(n));
            if let Ok(lu) = factored(&matrix) {
                let (mut x, mut y) = (rhs.clone(), rhs.clone());
                lu.solve(x.as_mut_slice());
                lu.solve_transposed(y.as_mut_slice());
                // Backward stable: the residual is some n ε ‖A‖ ‖x‖.
                let bound = 1e-13 * n as f64;
                prop_assert!((&matrix * &x - &rhs).amax() <= bound * (1.0 + x.amax()));
                prop_assert!((matrix.transpose() * &y - &rhs).amax() <= bound * (1.0 + y.amax()));
                let exact = matrix.clone().try_inverse().map(|inverse| {
                    let norm = |m: &DMatrix<f64>| m.column_iter().map(|c| c.lp_norm(1)).fold(0.0, f64::max);
                    norm(&matrix) * norm(&inverse)
                });
                if let Some(exact) = exact {
                    let estimate = lu.condition_estimate();
                    prop_assert!(estimate <= 1.001 * exact && estimate >= 0.1 * exact);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_size_known_to_the_compiler_changes_no_bit(seed in proptest::collection::vec(-1.0..1.0, 160)) {
            for n in [3, 6, 7, 9, 11, 12] {
                let mut sized = DenseLu::new(n);
                sized.matrix_mut().copy_from_slice(&seed[..n * n]);
                let mut general = sized.clone();
                prop_assert_eq!(sized.factor(), general.factor_any());
                prop_assert_eq!(&sized.factors, &general.factors);
                let (mut x, mut y) = (seed[..n].to_vec(), seed[..n].to_vec());
                sized.solve(&mut x);
                general.solve_any(&mut y);
                prop_assert_eq!(x, y);
            }
        }
    }

    #[test]
    fn a_singular_matrix_names_the_column_without_pivot() {
        let matrix = DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 3.0, 2.0, 4.0, 1.0, 1.0, 2.0, 5.0]);
        assert_eq!(factored(&matrix).unwrap_err(), ZeroPivot { column: 1 });
    }
}
