//! Small fronts: those of chains, trees and beams.
//!
//! They are added up and eliminated in a local matrix whose columns have a length known to the compiler, so
//! that a column is a few vectors and no loop is short. Numbers pass through memory once: from the matrix and
//! the children in, factors and Schur complement out.

use super::kernel::pivot_row;
use super::symbolic::{FrontBlock, RowRange};

/// Rows of the largest front that is small.
pub(super) const MAX_SIZE: usize = 48;

/// A front column by column; rows behind its height are zero.
pub(super) struct SmallFront<const H: usize> {
    columns: [[f64; H]; H],
    /// What the diagonal entries were added up from, in magnitudes.
    pub magnitude: [f64; H],
}

impl<const H: usize> SmallFront<H> {
    #[inline(always)]
    pub fn zeros() -> Self {
        // A number that the compiler does not know: a call that clears memory takes longer than stores.
        let zero = std::hint::black_box(0.0);
        Self { columns: [[zero; H]; H], magnitude: [0.0; H] }
    }

    #[inline(always)]
    pub fn diagonal(&mut self, k: usize) -> &mut f64 {
        &mut self.columns[k][k]
    }

    /// Writes a block of the matrix to its place.
    #[inline(always)]
    pub fn set(&mut self, entry: FrontBlock<usize>, values: &[f64]) {
        let block = &values[entry.value..][..entry.rows * entry.columns];
        let columns = &mut self.columns[entry.column..][..entry.columns];
        match entry.rows {
            1 => set_columns::<H, 1>(columns, entry.row, block),
            3 => set_columns::<H, 3>(columns, entry.row, block),
            5 => set_columns::<H, 5>(columns, entry.row, block),
            6 => set_columns::<H, 6>(columns, entry.row, block),
            10 => set_columns::<H, 10>(columns, entry.row, block),
            rows => {
                for (column, source) in columns.iter_mut().zip(block.chunks_exact(rows.max(1))) {
                    column[entry.row..][..rows].copy_from_slice(source);
                }
            }
        }
    }

    /// Largest of the first entries of the diagonal; those that are not numbers are passed over.
    #[inline(always)]
    pub fn largest_diagonal(&self, pivots: usize) -> f64 {
        let diagonal = self.columns[..pivots].iter().enumerate().map(|(k, column)| column[k].abs());
        diagonal.fold(0.0, |largest, entry| if entry > largest { entry } else { largest })
    }

    /// Adds the Schur complement of a child whose border has `size` unknowns.
    #[inline(always)]
    pub fn add_schur(&mut self, row_ranges: &[RowRange], schur: &[f64], size: usize) {
        for across in row_ranges.iter().map(|run| run.wide()) {
            let sources = schur[across.from * size..].chunks_exact(size.max(1));
            for (column, source) in self.columns[across.to..][..across.len].iter_mut().zip(sources) {
                for run in row_ranges.iter().map(|run| run.wide()) {
                    match run.len {
                        3 => add::<3>(&mut column[run.to..], &source[run.from..]),
                        6 => add::<6>(&mut column[run.to..], &source[run.from..]),
                        len => {
                            let pairs = column[run.to..][..len].iter_mut().zip(&source[run.from..]);
                            pairs.for_each(|(target, value)| *target += value);
                        }
                    }
                }
            }
        }
    }

    /// Eliminates the first `search_ends.len()` unknowns of `height` and gives the inverses of the pivots and
    /// the rows that were exchanged.
    ///
    /// A pivot of exactly zero leaves its column as it is; its inverse is infinite.
    #[inline(always)]
    pub fn eliminate(
        &mut self,
        height: usize,
        search_ends: &[u32],
        swaps: &mut [u32],
        inverse_pivots: &mut [f64],
    ) {
        let pivots = search_ends.len();
        let columns = &mut self.columns[..height];
        for (magnitude, k) in self.magnitude.iter_mut().zip(0..pivots) {
            *magnitude += columns[k][k].abs();
        }
        let (mut terms, mut exchanged) = ([0.0; H], 0_u64);
        for (k, (swap, inverse)) in swaps.iter_mut().zip(inverse_pivots).enumerate() {
            let row = pivot_row(&columns[k][..pivots], k, search_ends[k] as usize);
            *swap = row as u32;
            if row != k {
                exchanged |= 1 << k | 1 << row;
                columns.iter_mut().for_each(|column| column.swap(k, row));
            }
            *inverse = 1.0 / columns[k][k];
            if inverse.is_finite() {
                eliminate_column(&mut columns[k..], k, *inverse, &mut terms);
            }
        }
        // Exchanged rows met other columns on the way than in the end.
        while exchanged != 0 {
            let j = exchanged.trailing_zeros() as usize;
            exchanged &= exchanged - 1;
            let upper = columns[j][..j.min(pivots)].iter();
            terms[j] = upper.zip(&*columns).map(|(upper, lower)| (upper * lower[j]).abs()).sum::<f64>();
        }
        self.magnitude.iter_mut().zip(&terms).for_each(|(magnitude, terms)| *magnitude += terms);
    }

    /// Writes the factors of `pivots` unknowns, which take as much as the panel and the right part of the
    /// front, and may write beyond their end as long as there is room: the next front comes later.
    #[inline(always)]
    pub fn store_factors(&self, pivots: usize, height: usize, factors: &mut [f64]) {
        let (left, right) = self.columns[..height].split_at(pivots);
        for (k, column) in left.iter().enumerate() {
            factors[k * height..][..H].copy_from_slice(column);
        }
        let factors = &mut factors[pivots * height..];
        for (k, column) in right.iter().enumerate() {
            factors[k * pivots..][..H].copy_from_slice(column);
        }
    }

    /// Writes the Schur complement.
    #[inline(always)]
    pub fn store_schur(&self, pivots: usize, height: usize, schur: &mut [f64]) {
        let size = height - pivots;
        for (target, column) in schur.chunks_exact_mut(size.max(1)).zip(&self.columns[pivots..height]) {
            let source = &column[pivots..height];
            match size {
                3 => set_run::<3>(target, source),
                6 => set_run::<6>(target, source),
                _ => target.iter_mut().zip(source).for_each(|(target, value)| *target = *value),
            }
        }
    }
}

/// Eliminates pivot `k` from the columns behind the first; leaves L below the diagonal of the first. Adds
/// what is subtracted from the diagonal to `terms`, in magnitudes.
#[inline(always)]
fn eliminate_column<const H: usize>(columns: &mut [[f64; H]], k: usize, inverse: f64, terms: &mut [f64; H]) {
    let Some((first, rest)) = columns.split_first_mut() else { return };
    let mut lower = [0.0; H];
    for i in 0..H {
        lower[i] = if i > k { first[i] * inverse } else { 0.0 };
    }
    for i in 0..H {
        first[i] = if i > k { lower[i] } else { first[i] };
    }
    let diagonal = first[k + 1..].iter().zip(&mut terms[k + 1..]);
    for (column, (lower_here, terms)) in rest.iter_mut().zip(diagonal) {
        let factor = column[k];
        *terms += (factor * lower_here).abs();
        // In wide fronts whole blocks are zero: bodies do not meet the stabilizers of the next joint.
        if H >= 24 && factor == 0.0 {
            continue;
        }
        for i in 0..H {
            column[i] -= factor * lower[i];
        }
    }
}

#[inline(always)]
fn set_columns<const H: usize, const ROWS: usize>(columns: &mut [[f64; H]], row: usize, block: &[f64]) {
    for (column, source) in columns.iter_mut().zip(block.as_chunks::<ROWS>().0) {
        column[row..][..ROWS].copy_from_slice(source);
    }
}

#[inline(always)]
fn add<const ROWS: usize>(target: &mut [f64], source: &[f64]) {
    let (target, source) = (&mut target[..ROWS], &source[..ROWS]);
    for i in 0..ROWS {
        target[i] += source[i];
    }
}

#[inline(always)]
fn set_run<const ROWS: usize>(target: &mut [f64], source: &[f64]) {
    target[..ROWS].copy_from_slice(&source[..ROWS]);
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::solve::sparse_lu::samples::Random;

    /// A front of random numbers, as a matrix and with its pivots eliminated; inverse pivots besides.
    fn eliminated<const H: usize>(
        pivots: usize,
        height: usize,
        random: &mut Random,
    ) -> (DMatrix<f64>, SmallFront<H>, Vec<f64>) {
        let matrix = DMatrix::from_fn(height, height, |_, _| random.symmetric());
        let mut front = SmallFront::zeros();
        let whole = FrontBlock { value: 0, rows: height, columns: height, row: 0, column: 0 };
        front.set(whole, matrix.as_slice());
        let mut inverse_pivots = vec![0.0; pivots];
        front.eliminate(height, &vec![pivots as u32; pivots], &mut vec![0; pivots], &mut inverse_pivots);
        (matrix, front, inverse_pivots)
    }

    #[test]
    fn schur_complement_agrees_with_the_inverse_of_the_pivot_block() {
        let mut random = Random::new(6);
        for (pivots, height) in [(1, 1), (3, 5), (9, 15), (12, 21), (6, 24), (23, 24)] {
            let (matrix, front, inverse_pivots) = eliminated::<24>(pivots, height, &mut random);
            let border = height - pivots;
            let mut schur = DMatrix::zeros(border, border);
            front.store_schur(pivots, height, schur.as_mut_slice());
            let block = matrix.view((0, 0), (pivots, pivots)).clone_owned();
            let determinant = block.determinant().abs();
            let expected = matrix.view((pivots, pivots), (border, border))
                - matrix.view((pivots, 0), (border, pivots))
                    * block.lu().solve(&matrix.view((0, pivots), (pivots, border)).clone_owned()).unwrap();
            // Random pivot blocks of this size have condition numbers below 1e4.
            let size = expected.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
            let difference =
                (schur - expected).iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            assert!(difference < 1e-10 * size, "{pivots} of {height}");
            let product: f64 = inverse_pivots.iter().map(|inverse| 1.0 / inverse.abs()).product();
            assert!((product - determinant).abs() < 1e-10 * determinant, "{pivots} of {height}");
        }
    }

    #[test]
    fn a_vanishing_pivot_leaves_its_column_and_shows_as_an_infinite_inverse() {
        let mut front = SmallFront::<8>::zeros();
        front.set(FrontBlock { value: 0, rows: 1, columns: 1, row: 1, column: 1 }, &[2.0]);
        let mut inverse_pivots = [0.0; 2];
        front.eliminate(2, &[1, 2], &mut [0; 2], &mut inverse_pivots);
        assert_eq!(inverse_pivots, [f64::INFINITY, 0.5]);
    }
}
