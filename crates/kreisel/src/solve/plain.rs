//! Gaussian elimination without exchange of rows, balancing or refinement: for studies of what scaling is
//! worth.

use super::block::BlockMatrix;
use super::linear::{Health, SingularMatrix};

/// Factors of a dense matrix in a given order of pivots.
#[derive(Clone, Debug)]
pub(super) struct PlainLu {
    /// Unknown of each pivot: primary ones first, then the others, whose diagonal blocks may be zero.
    order: Vec<usize>,
    /// L below the diagonal, whose own is one, and U, row by row.
    factors: Vec<f64>,
    /// A right side in the order of the pivots.
    side: Vec<f64>,
}

impl PlainLu {
    /// Number of unknowns.
    pub(super) fn size(&self) -> usize {
        self.order.len()
    }

    pub(super) fn new(is_primary: &[bool]) -> Self {
        let of = |wanted: bool| (0..is_primary.len()).filter(move |&unknown| is_primary[unknown] == wanted);
        let size = is_primary.len();
        Self {
            order: of(true).chain(of(false)).collect(),
            factors: vec![0.0; size * size],
            side: vec![0.0; size],
        }
    }

    /// A pivot of zero, or none at all, is the only thing that is refused.
    pub(super) fn factor(&mut self, matrix: &BlockMatrix) -> Result<Health, SingularMatrix> {
        let (size, dense) = (self.order.len(), matrix.to_dense());
        for (i, &row) in self.order.iter().enumerate() {
            for (j, &column) in self.order.iter().enumerate() {
                self.factors[i * size + j] = dense[(row, column)];
            }
        }
        let mut smallest_pivot_ratio = f64::INFINITY;
        for k in 0..size {
            let (above, below) = self.factors.split_at_mut((k + 1) * size);
            let pivots = &above[k * size..];
            let (pivot, before) = (pivots[k], dense[(self.order[k], self.order[k])].abs());
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(SingularMatrix { unknown: self.order[k] });
            }
            smallest_pivot_ratio = smallest_pivot_ratio.min(pivot.abs() / before.max(pivot.abs()));
            for row in below.chunks_exact_mut(size) {
                let factor = row[k] / pivot;
                if factor != 0.0 {
                    row[k] = factor;
                    row[k + 1..].iter_mut().zip(&pivots[k + 1..]).for_each(|(a, b)| *a -= factor * b);
                }
            }
        }
        Ok(Health { smallest_pivot_ratio, fallback_used: false })
    }

    /// Solves with the factors, in place.
    pub(super) fn solve(&mut self, rhs: &mut [f64]) {
        let Self { order, factors, side } = self;
        let size = order.len();
        let row = |i: usize| &factors[i * size..(i + 1) * size];
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..size {
            side[i] = rhs[order[i]] - product(&row(i)[..i], &side[..i]);
        }
        for i in (0..size).rev() {
            side[i] = (side[i] - product(&row(i)[i + 1..], &side[i + 1..])) / row(i)[i];
        }
        order.iter().zip(side.iter()).for_each(|(&unknown, value)| rhs[unknown] = *value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::BlockPattern;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_matrix_with_a_multiplier_is_solved_in_the_order_of_its_roles() {
        // The multiplier, without a diagonal entry of its own, stands first.
        let pattern = Arc::new(BlockPattern::dense(&[1, 2], &[1, 2]));
        let mut matrix = BlockMatrix::zeros(Arc::clone(&pattern));
        let rows = [[0.0, 1.0, 2.0], [1.0, 4.0, 1.0], [2.0, 1.0, 3.0]];
        for (block, row, column) in pattern.blocks() {
            let (first_row, first_column) =
                (pattern.row_range(row).start, pattern.column_range(column).start);
            let mut values = matrix.block_mut(block);
            for i in 0..values.nrows() {
                for j in 0..values.ncols() {
                    values[(i, j)] = rows[first_row + i][first_column + j];
                }
            }
        }
        let mut plain = PlainLu::new(&[false, true, true]);
        plain.factor(&matrix).unwrap();
        let known = [1.0, -2.0, 0.5];
        let mut x: Vec<f64> =
            rows.iter().map(|row| row.iter().zip(known).map(|(a, x)| a * x).sum()).collect();
        plain.solve(&mut x);
        // A few roundings of numbers of size one.
        assert!(x.iter().zip(known).all(|(x, known)| (x - known).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn a_pivot_of_zero_is_refused() {
        let pattern = Arc::new(BlockPattern::dense(&[1], &[1]));
        let matrix = BlockMatrix::zeros(pattern);
        assert_eq!(PlainLu::new(&[true]).factor(&matrix), Err(SingularMatrix { unknown: 0 }));
    }
}
