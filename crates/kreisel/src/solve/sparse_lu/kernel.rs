//! Dense work inside one large front: LU with row exchanges among the pivot rows, then the Schur complement.
//! Small ones:
//! [`super::small`].
//!
//! All matrices are stored column by column. Loops run down columns in plain slices, which the compiler
//! turns into vector instructions.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns eliminated at a time; the packed factors of a block stay in registers and first-level cache.
const BLOCK: usize = 16;

/// Columns of a block that are factored one by one.
const FEW: usize = 8;

/// Products of more multiplications than this are left to faer, which packs them and uses wider vectors.
const LARGE: usize = 4000;

/// A primary takes its pivots from its own rows unless these are smaller than others by this factor.
/// Multiplier rows then remain for multiplier columns, so that a redundant one shows as a vanishing pivot.
const OWN_ROWS_FIRST: f64 = 1e-8;

/// The three parts of a front, see [`super::symbolic::Front`].
pub(super) struct FrontMut<'a> {
    pub pivots: usize,
    pub border: usize,
    pub panel: &'a mut [f64],
    pub right: &'a mut [f64],
    pub schur: &'a mut [f64],
    /// For each pivot, the end of the rows that are searched first.
    pub search_ends: &'a [u32],
    /// For each pivot, the row that was exchanged with it.
    pub swaps: &'a mut [u32],
}

impl FrontMut<'_> {
    /// Eliminates the pivots block by block: leaves `L` and `U` in `panel` and `right`, and writes minus the
    /// product of the border's part of both to `schur`.
    ///
    /// A pivot of exactly zero leaves its column as it is; the caller sees it on the diagonal.
    #[inline(always)]
    pub fn eliminate(&mut self) {
        let (pivots, height) = (self.pivots, self.pivots + self.border);
        for (index, first) in (0..pivots).step_by(BLOCK).enumerate() {
            let end = (first + BLOCK).min(pivots);
            self.factor_block(first..end);
            // The order of a recursion that halves the columns: as many blocks as the largest power of two in
            // the number of those done are eliminated from as many that follow. Most of the work is then in
            // products of large matrices.
            let blocks = index + 1;
            let width = (blocks & blocks.wrapping_neg()) * BLOCK;
            let (done, rest) = self.panel.split_at_mut(end * height);
            let columns = width.min(pivots - end);
            eliminate_from_panel(
                done,
                height,
                pivots,
                end.saturating_sub(width)..end,
                &mut rest[..columns * height],
            );
        }
        if self.border == 0 || pivots == 0 {
            return self.schur.fill(0.0);
        }
        self.exchange_right();
        if pivots * self.border * height > LARGE {
            return eliminate_from_large_right(self.panel, height, pivots, self.right, self.schur);
        }
        self.schur.fill(0.0);
        let mut first = 0;
        while first < pivots {
            let block = first..(first + BLOCK).min(pivots);
            eliminate_from_right(self.panel, height, pivots, block.clone(), self.right, self.schur);
            first = block.end;
        }
    }

    /// Exchanges the rows of the right part as those of the panel.
    #[inline(always)]
    fn exchange_right(&mut self) {
        if self.swaps.iter().enumerate().all(|(row, &other)| row == other as usize) {
            return;
        }
        for column in self.right.chunks_exact_mut(self.pivots) {
            for (row, &other) in self.swaps.iter().enumerate() {
                column.swap(row, other as usize);
            }
        }
    }

    /// LU of some columns of the panel that earlier columns are already eliminated from: a few at a time,
    /// which are then eliminated from the others at once.
    #[inline(always)]
    fn factor_block(&mut self, block: Range<usize>) {
        let (pivots, height) = (self.pivots, self.pivots + self.border);
        let mut first = block.start;
        while first < block.end {
            let few = first..(first + FEW).min(block.end);
            self.factor_columns(few.clone());
            let (done, rest) = self.panel.split_at_mut(few.end * height);
            let rest = &mut rest[..(block.end - few.end) * height];
            eliminate_from_columns(done, height, pivots, few.clone(), rest);
            first = few.end;
        }
    }

    #[inline(always)]
    fn factor_columns(&mut self, few: Range<usize>) {
        let height = self.pivots + self.border;
        for k in few.clone() {
            let candidates = &self.panel[k * height..][..self.pivots];
            let row = pivot_row(candidates, k, self.search_ends[k] as usize);
            self.swaps[k] = row as u32;
            if row != k {
                self.panel.chunks_exact_mut(height).for_each(|column| column.swap(k, row));
            }
            let (done, rest) = self.panel.split_at_mut((k + 1) * height);
            let column = &mut done[k * height + k..];
            let pivot = column[0];
            if pivot == 0.0 {
                continue;
            }
            let inverse = 1.0 / pivot;
            let column = &mut column[1..];
            column.iter_mut().for_each(|value| *value *= inverse);
            let rest = &mut rest[..(few.end - k - 1) * height];
            for target in rest.chunks_exact_mut(height) {
                let target = &mut target[k..];
                let factor = target[0];
                subtract(&mut target[1..], column, factor);
            }
        }
    }
}

/// The row from `k` on with the largest entry among those before `search_end`, unless these have next to
/// nothing.
#[inline(always)]
pub(super) fn pivot_row(column: &[f64], k: usize, search_end: usize) -> usize {
    // The usual case without a jump for each entry.
    let size = column[k].abs();
    let within = |rows: &[f64], limit: f64| rows.iter().fold(true, |all, value| all & (value.abs() <= limit));
    if within(&column[k..search_end], size) & within(&column[search_end..], size / OWN_ROWS_FIRST) {
        return k;
    }
    let (own, size) = largest(&column[k..search_end]);
    let limit = size / OWN_ROWS_FIRST;
    if column[search_end..].iter().all(|value| value.abs() <= limit) {
        return own + k;
    }
    largest(&column[k..]).0 + k
}

/// Index and size of the entry of largest magnitude, the first among equals.
#[inline(always)]
fn largest(values: &[f64]) -> (usize, f64) {
    let (mut index, mut size) = (0, 0.0);
    for (i, value) in values.iter().enumerate() {
        if value.abs() > size {
            (index, size) = (i, value.abs());
        }
    }
    (index, size)
}

/// `target −= factor · column`; in steps of four, because most columns are short.
#[inline(always)]
pub(super) fn subtract(target: &mut [f64], column: &[f64], factor: f64) {
    let (target4, target1) = target.as_chunks_mut::<4>();
    let (column4, column1) = column.as_chunks::<4>();
    for (target, column) in target4.iter_mut().zip(column4) {
        for i in 0..4 {
            target[i] -= factor * column[i];
        }
    }
    for (target, value) in target1.iter_mut().zip(column1) {
        *target -= factor * value;
    }
}

/// Eliminates a block of factored columns from the panel columns `rest` behind it.
#[inline(always)]
fn eliminate_from_panel(done: &[f64], height: usize, pivots: usize, block: Range<usize>, rest: &mut [f64]) {
    let columns = rest.len() / height;
    if block.len() > BLOCK || block.len() * columns * (height - block.end) > LARGE {
        if block.len() <= BLOCK {
            rest.chunks_exact_mut(height)
                .for_each(|column| solve_unit_lower(done, height, block.clone(), column));
        }
        let rest = MatMut::from_column_major_slice_mut(rest, height, columns);
        let (above, below) = rest.split_at_row_mut(block.end);
        let lower = MatRef::from_column_major_slice(&done[block.start * height..], height, block.len());
        let mut factors = above.subrows_mut(block.start, block.len());
        if block.len() > BLOCK {
            let triangle = lower.subrows(block.start, block.len());
            solve_unit_lower_triangular_in_place(triangle, factors.as_mut(), Par::Seq);
        }
        let lower = lower.subrows(block.end, height - block.end);
        return matmul(below, Accum::Add, lower, factors.as_ref(), -1.0, Par::Seq);
    }
    eliminate_from_columns(done, height, pivots, block, rest);
}

/// The same with loops down the columns.
#[inline(always)]
fn eliminate_from_columns(done: &[f64], height: usize, pivots: usize, block: Range<usize>, rest: &mut [f64]) {
    let mut pairs = rest.chunks_exact_mut(2 * height);
    for pair in &mut pairs {
        let (one, other) = pair.split_at_mut(height);
        let ((upper0, lower0), (upper1, lower1)) = (one.split_at_mut(pivots), other.split_at_mut(pivots));
        eliminate_from(done, height, block.clone(), [upper0, upper1], [lower0, lower1]);
    }
    let single = pairs.into_remainder();
    if !single.is_empty() {
        let (upper, lower) = single.split_at_mut(pivots);
        eliminate_from(done, height, block, [upper], [lower]);
    }
}

/// Eliminates all pivots from `[right; schur]` with products of large matrices.
#[inline(always)]
fn eliminate_from_large_right(
    panel: &[f64],
    height: usize,
    pivots: usize,
    right: &mut [f64],
    schur: &mut [f64],
) {
    let border = height - pivots;
    let lower = MatRef::from_column_major_slice(panel, height, pivots);
    let mut upper = MatMut::from_column_major_slice_mut(right, pivots, border);
    let triangle = lower.subrows(0, pivots);
    solve_unit_lower_triangular_in_place(triangle, upper.as_mut(), Par::Seq);
    let schur = MatMut::from_column_major_slice_mut(schur, border, border);
    matmul(schur, Accum::Replace, lower.subrows(pivots, border), upper.as_ref(), -1.0, Par::Seq);
}

/// Solves with the unit lower triangle of a block of factored columns.
#[inline(always)]
fn solve_unit_lower(panel: &[f64], height: usize, block: Range<usize>, values: &mut [f64]) {
    for k in block.clone() {
        let (head, tail) = values.split_at_mut(k + 1);
        let column = &panel[k * height + k + 1..k * height + block.end];
        subtract(&mut tail[..column.len()], column, head[k]);
    }
}

/// Eliminates a block of factored columns from `[right; schur]`.
#[inline(always)]
fn eliminate_from_right(
    panel: &[f64],
    height: usize,
    pivots: usize,
    block: Range<usize>,
    right: &mut [f64],
    schur: &mut [f64],
) {
    let border = height - pivots;
    let mut uppers = right.chunks_exact_mut(2 * pivots);
    let mut lowers = schur.chunks_exact_mut(2 * border);
    for (upper, lower) in (&mut uppers).zip(&mut lowers) {
        let ((upper0, upper1), (lower0, lower1)) = (upper.split_at_mut(pivots), lower.split_at_mut(border));
        eliminate_from(panel, height, block.clone(), [upper0, upper1], [lower0, lower1]);
    }
    let (upper, lower) = (uppers.into_remainder(), lowers.into_remainder());
    if !upper.is_empty() {
        eliminate_from(panel, height, block, [upper], [lower]);
    }
}

/// Eliminates a block of factored panel columns from `C` columns, each given as the rows of the pivots
/// and the rows of the border.
#[inline(always)]
fn eliminate_from<const C: usize>(
    panel: &[f64],
    height: usize,
    block: Range<usize>,
    mut uppers: [&mut [f64]; C],
    mut lowers: [&mut [f64]; C],
) {
    let pivots = uppers[0].len();
    let mut factors = [[0.0; C]; BLOCK];
    for (k, factors) in block.clone().zip(&mut factors) {
        let column = &panel[k * height + k + 1..k * height + block.end];
        for c in 0..C {
            let (head, tail) = uppers[c].split_at_mut(k + 1);
            factors[c] = head[k];
            subtract(&mut tail[..column.len()], column, head[k]);
        }
    }
    let count = block.len();
    for (chunk, factors) in factors[..count].chunks(4).enumerate() {
        let first = (block.start + 4 * chunk) * height;
        let columns = &panel[first..first + factors.len() * height];
        let tails = uppers.each_mut().map(|upper| &mut upper[block.end..]);
        subtract_chunk(tails, columns, height, block.end..pivots, factors);
        subtract_chunk(lowers.each_mut().map(|lower| &mut **lower), columns, height, pivots..height, factors);
    }
}

/// `targets −= columns[rows] · factors` for up to four columns.
#[inline(always)]
fn subtract_chunk<const C: usize>(
    targets: [&mut [f64]; C],
    columns: &[f64],
    height: usize,
    rows: Range<usize>,
    factors: &[[f64; C]],
) {
    if rows.is_empty() {
        return;
    }
    let column = |k: usize| &columns[k * height + rows.start..k * height + rows.end];
    if let &[f0, f1, f2, f3] = factors {
        let (l0, l1, l2, l3) = (column(0), column(1), column(2), column(3));
        for (c, target) in targets.into_iter().enumerate() {
            let (f0, f1, f2, f3) = (f0[c], f1[c], f2[c], f3[c]);
            for ((((t, l0), l1), l2), l3) in target.iter_mut().zip(l0).zip(l1).zip(l2).zip(l3) {
                *t -= (f0 * l0 + f1 * l1) + (f2 * l2 + f3 * l3);
            }
        }
    } else {
        for (c, target) in targets.into_iter().enumerate() {
            for (k, factor) in factors.iter().enumerate() {
                subtract(target, column(k), factor[c]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::solve::sparse_lu::samples::Random;

    #[test]
    fn what_is_subtracted_agrees_with_the_inverse_of_the_pivot_block() {
        let mut random = Random::new(5);
        for (pivots, border) in [(1, 0), (3, 2), (9, 3), (11, 6), (17, 4), (40, 33), (64, 1), (83, 20)] {
            let height = pivots + border;
            let matrix = DMatrix::from_fn(height, height, |_, _| random.symmetric());
            let mut panel = matrix.columns(0, pivots).clone_owned();
            let mut right = matrix.view((0, pivots), (pivots, border)).clone_owned();
            // What was there before does not count.
            let mut schur = DMatrix::from_element(border, border, f64::NAN);
            let mut swaps = vec![0; pivots];
            FrontMut {
                pivots,
                border,
                panel: panel.as_mut_slice(),
                right: right.as_mut_slice(),
                schur: schur.as_mut_slice(),
                search_ends: &vec![pivots as u32; pivots],
                swaps: &mut swaps,
            }
            .eliminate();
            let block = matrix.view((0, 0), (pivots, pivots)).clone_owned();
            let right = matrix.view((0, pivots), (pivots, border)).clone_owned();
            let expected = -matrix.view((pivots, 0), (border, pivots)) * block.lu().solve(&right).unwrap();
            // Random pivot blocks of this size have condition numbers below 1e4.
            assert!((schur - &expected).amax() < 1e-10 * (1.0 + expected.amax()), "{pivots} {border}");
        }
    }
}
