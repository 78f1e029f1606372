//! LU of matrices whose blocks all stand on the diagonal: bodies that nothing but dropped couplings ties together.
//!
//! A heap of balls solves with such a matrix once an iteration. Its blocks of six rows need neither an order nor
//! fronts, and stay where they are.

use std::sync::Arc;

use super::block::{BlockMatrix, BlockPattern};
use super::linear::Role;

/// Largest block.
const MOST: usize = 6;
/// Below this ratio of a pivot to what it was added up from, the block has to be looked at with more care.
const DOUBTFUL_RATIO: f64 = 1e-10;

/// A block: its rows, and where its values and its exchanges of rows begin.
#[derive(Clone, Copy, Debug)]
struct DiagonalBlock {
    row: usize,
    size: usize,
    value: usize,
}

/// Factors of all blocks.
#[derive(Clone, Debug)]
pub(super) struct DiagonalLu {
    places: Vec<DiagonalBlock>,
    /// L below the diagonal, U above it, column by column, and 1/pivot on it.
    factors: Vec<f64>,
    /// With which row each row was exchanged, in turn.
    exchanges: Vec<u8>,
}

impl DiagonalLu {
    /// Room for the factors of a pattern; nothing if it has other blocks.
    pub fn new(pattern: &Arc<BlockPattern>, roles: &[Role]) -> Option<Self> {
        let mut places = Vec::with_capacity(roles.len());
        for (block, row, column) in pattern.blocks() {
            let (rows, values) = (pattern.row_range(row), pattern.value_range(block));
            if row != column || rows.is_empty() || rows.len() > MOST {
                return None;
            }
            places.push(DiagonalBlock { row: rows.start, size: rows.len(), value: values.start });
        }
        let is_whole = places.len() == roles.len() && roles.iter().all(|role| *role == Role::Primary);
        let values = places.iter().map(|place| place.size * place.size).sum();
        is_whole.then(|| Self { places, factors: vec![0.0; values], exchanges: vec![0; pattern.row_count()] })
    }

    /// Factors a matrix of the pattern and gives the smallest ratio of a pivot to what it was added up from;
    /// nothing where that is doubtful.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Option<f64> {
        self.factors.copy_from_slice(matrix.values());
        let mut smallest = f64::INFINITY;
        for place in &self.places {
            let values = &mut self.factors[place.value..place.value + place.size * place.size];
            let exchanges = &mut self.exchanges[place.row..place.row + place.size];
            let ratio = match place.size {
                1 => factor::<1>(values, exchanges),
                2 => factor::<2>(values, exchanges),
                3 => factor::<3>(values, exchanges),
                4 => factor::<4>(values, exchanges),
                5 => factor::<5>(values, exchanges),
                _ => factor::<MOST>(values, exchanges),
            };
            // A number that is none is doubtful, too.
            if ratio.is_nan() || ratio < DOUBTFUL_RATIO {
                return None;
            }
            smallest = smallest.min(ratio);
        }
        Some(smallest)
    }

    /// Solves with the factors, in place.
    pub fn solve(&self, right_side: &mut [f64]) {
        for place in &self.places {
            let values = &self.factors[place.value..place.value + place.size * place.size];
            let exchanges = &self.exchanges[place.row..place.row + place.size];
            let x = &mut right_side[place.row..place.row + place.size];
            match place.size {
                1 => solve::<1>(values, exchanges, x),
                2 => solve::<2>(values, exchanges, x),
                3 => solve::<3>(values, exchanges, x),
                4 => solve::<4>(values, exchanges, x),
                5 => solve::<5>(values, exchanges, x),
                _ => solve::<MOST>(values, exchanges, x),
            }
        }
    }

    /// Multiplications of a factorisation.
    pub fn work(&self) -> f64 {
        self.places.iter().map(|place| (place.size as f64).powi(3) / 3.0).sum()
    }
}

/// Factors one block, the largest entry of a column as pivot.
fn factor<const N: usize>(values: &mut [f64], exchanges: &mut [u8]) -> f64 {
    let columns = values.as_chunks_mut::<N>().0;
    // |A| + |L| |U|.
    let mut magnitudes = [[0.0; N]; N];
    for (magnitudes, column) in magnitudes.iter_mut().zip(columns.iter()) {
        (0..N).for_each(|i| magnitudes[i] = column[i].abs());
    }
    let mut smallest = f64::INFINITY;
    for k in 0..N {
        let pivot =
            (k + 1..N).fold(k, |best, i| if columns[k][i].abs() > columns[k][best].abs() { i } else { best });
        exchanges[k] = pivot as u8;
        if pivot != k {
            columns.iter_mut().for_each(|column| column.swap(k, pivot));
            magnitudes.iter_mut().for_each(|column| column.swap(k, pivot));
        }
        let ratio = columns[k][k].abs() / magnitudes[k][k];
        smallest = if ratio < smallest || ratio.is_nan() { ratio } else { smallest };
        let inverse = 1.0 / columns[k][k];
        columns[k][k] = inverse;
        (k + 1..N).for_each(|i| columns[k][i] *= inverse);
        let lower = columns[k];
        for j in k + 1..N {
            let upper = columns[j][k];
            for i in k + 1..N {
                columns[j][i] -= lower[i] * upper;
                magnitudes[j][i] += (lower[i] * upper).abs();
            }
        }
    }
    smallest
}

fn solve<const N: usize>(values: &[f64], exchanges: &[u8], right_side: &mut [f64]) {
    let columns = values.as_chunks::<N>().0;
    let Ok(x) = <&mut [f64; N]>::try_from(right_side) else { return };
    exchanges.iter().enumerate().for_each(|(k, &pivot)| x.swap(k, usize::from(pivot)));
    for (k, column) in columns.iter().enumerate() {
        (k + 1..N).for_each(|i| x[i] -= column[i] * x[k]);
    }
    for (k, column) in columns.iter().enumerate().rev() {
        x[k] *= column[k];
        (0..k).for_each(|i| x[i] -= column[i] * x[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    fn pattern(sizes: &[usize]) -> Arc<BlockPattern> {
        Arc::new(BlockPattern::new(sizes, sizes, (0..sizes.len()).map(|group| (group, group))))
    }

    /// Numbers between −1 and 1 without order.
    fn filled(pattern: &Arc<BlockPattern>) -> BlockMatrix {
        let mut matrix = BlockMatrix::zeros(Arc::clone(pattern));
        let numbers = (1..).map(|k| (f64::from(k) * f64::from(k) * 0.7).sin());
        matrix.values_mut().iter_mut().zip(numbers).for_each(|(value, number)| *value = number);
        matrix
    }

    #[test]
    fn blocks_of_all_sizes_are_solved_as_nalgebra_solves_them() {
        let sizes = [6, 3, 1, 2, 4, 5, 6, 6];
        let pattern = pattern(&sizes);
        let mut matrix = filled(&pattern);
        // A pivot of zero, so that rows have to be exchanged.
        matrix.values_mut()[0] = 0.0;
        let mut lu = DiagonalLu::new(&pattern, &[Role::Primary; 8]).unwrap();
        let ratio = lu.factor(&matrix).unwrap();
        assert!(ratio > 1e-6 && ratio <= 1.0, "{ratio}");
        let right: Vec<f64> = (0..pattern.row_count()).map(|k| 1.0 + k as f64).collect();
        let mut solution = right.clone();
        lu.solve(&mut solution);
        for (block, row, _) in pattern.blocks() {
            let (rows, values) = (pattern.row_range(row), &matrix.values()[pattern.value_range(block)]);
            let dense = DMatrix::from_column_slice(rows.len(), rows.len(), values);
            let expected =
                dense.lu().solve(&DMatrix::from_column_slice(rows.len(), 1, &right[rows.clone()])).unwrap();
            for (x, expected) in solution[rows].iter().zip(expected.iter()) {
                // Blocks of random numbers lose two or three digits.
                assert!((x - expected).abs() < 1e-11 * expected.abs().max(1.0), "{x} in place of {expected}");
            }
        }
    }

    #[test]
    fn singular_blocks_are_doubtful_and_other_patterns_are_not_taken() {
        let pattern = pattern(&[3, 3]);
        let mut matrix = filled(&pattern);
        // The last row of the second block is the sum of the others.
        for column in matrix.values_mut()[9..].as_chunks_mut::<3>().0 {
            column[2] = column[0] + column[1];
        }
        let mut lu = DiagonalLu::new(&pattern, &[Role::Primary; 2]).unwrap();
        assert!(lu.factor(&matrix).is_none());
        matrix.values_mut()[0] = f64::NAN;
        assert!(lu.factor(&matrix).is_none());
        let coupled = Arc::new(BlockPattern::new(&[3, 3], &[3, 3], [(0, 0), (0, 1), (1, 0), (1, 1)]));
        assert!(DiagonalLu::new(&coupled, &[Role::Primary; 2]).is_none());
        assert!(DiagonalLu::new(&pattern, &[Role::Primary, Role::Multiplier]).is_none());
    }
}
