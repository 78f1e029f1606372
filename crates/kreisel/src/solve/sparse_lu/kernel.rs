//! Dense work inside one front: LU with row exchanges among the pivot rows, then the Schur complement.
//!
//! All matrices are stored column by column. Loops run down columns in plain slices, which the compiler
//! turns into vector instructions.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns eliminated at a time; the packed factors of a block stay in registers and first-level cache.
const BLOCK: usize = 16;

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
    /// Eliminates the pivots: leaves `L` and `U` in `panel` and `right`, and subtracts their product from
    /// `schur`.
    ///
    /// A pivot of exactly zero leaves its column as it is; the caller sees it on the diagonal.
    #[inline(always)]
    pub fn eliminate(&mut self) {
        match self.pivots + self.border {
            0..=8 => self.eliminate_padded::<8>(),
            9..=12 => self.eliminate_padded::<12>(),
            13..=16 => self.eliminate_padded::<16>(),
            17..=20 => self.eliminate_padded::<20>(),
            21..=24 => self.eliminate_padded::<24>(),
            25..=32 => self.eliminate_padded::<32>(),
            33..=40 => self.eliminate_padded::<40>(),
            41..=48 => self.eliminate_padded::<48>(),
            _ => self.eliminate_large(),
        }
    }

    /// Elimination in a local matrix whose columns have `H` rows, those behind the front zero. A length
    /// known to the compiler and columns of L that are zero above the diagonal save all short loops; this
    /// halves the time of the fronts of chains, trees and beams.
    #[inline(always)]
    fn eliminate_padded<const H: usize>(&mut self) {
        let (pivots, border) = (self.pivots, self.border);
        let height = pivots + border;
        let mut front = [[0.0; H]; H];
        let front = &mut front[..height];
        let (left, right) = front.split_at_mut(pivots);
        for (local, column) in left.iter_mut().zip(self.panel.chunks_exact(height.max(1))) {
            copy(&mut local[..height], column);
        }
        for (local, column) in right.iter_mut().zip(self.right.chunks_exact(pivots.max(1))) {
            copy(&mut local[..pivots], column);
        }
        for (local, column) in right.iter_mut().zip(self.schur.chunks_exact(border.max(1))) {
            copy(&mut local[pivots..height], column);
        }
        for k in 0..pivots {
            let row = pivot_row(&front[k][..pivots], k, self.search_ends[k] as usize);
            self.swaps[k] = row as u32;
            if row != k {
                front.iter_mut().for_each(|column| column.swap(k, row));
            }
            eliminate_padded_column(&mut front[k..], k);
        }
        let (left, right) = front.split_at(pivots);
        for (column, local) in self.panel.chunks_exact_mut(height.max(1)).zip(left) {
            copy(column, &local[..height]);
        }
        for (column, local) in self.right.chunks_exact_mut(pivots.max(1)).zip(right) {
            copy(column, &local[..pivots]);
        }
        for (column, local) in self.schur.chunks_exact_mut(border.max(1)).zip(right) {
            copy(column, &local[pivots..height]);
        }
    }

    /// Elimination in place, block by block.
    fn eliminate_large(&mut self) {
        let (pivots, height) = (self.pivots, self.pivots + self.border);
        let mut first = 0;
        while first < pivots {
            let block = first..(first + BLOCK).min(pivots);
            self.factor_block(block.clone());
            let (done, rest) = self.panel.split_at_mut(block.end * height);
            eliminate_from_panel(done, height, pivots, block.clone(), rest);
            first = block.end;
        }
        if self.border == 0 || pivots == 0 {
            return;
        }
        for column in self.right.chunks_exact_mut(pivots) {
            for (row, &other) in self.swaps.iter().enumerate() {
                column.swap(row, other as usize);
            }
        }
        if pivots * self.border * height > LARGE {
            return eliminate_from_large_right(self.panel, height, pivots, self.right, self.schur);
        }
        let mut first = 0;
        while first < pivots {
            let block = first..(first + BLOCK).min(pivots);
            eliminate_from_right(self.panel, height, pivots, block.clone(), self.right, self.schur);
            first = block.end;
        }
    }

    /// LU of some columns of the panel that earlier columns are already eliminated from.
    fn factor_block(&mut self, block: Range<usize>) {
        let height = self.pivots + self.border;
        for k in block.clone() {
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
            let rest = &mut rest[..(block.end - k - 1) * height];
            for target in rest.chunks_exact_mut(height) {
                let target = &mut target[k..];
                let factor = target[0];
                subtract(&mut target[1..], column, factor);
            }
        }
    }
}

/// Eliminates pivot `k` from the columns behind the first; leaves L below the diagonal of the first.
#[inline(always)]
fn eliminate_padded_column<const H: usize>(columns: &mut [[f64; H]], k: usize) {
    let Some((first, rest)) = columns.split_first_mut() else { return };
    let pivot = first[k];
    if pivot == 0.0 {
        return;
    }
    let inverse = 1.0 / pivot;
    let mut lower = [0.0; H];
    for i in 0..H {
        lower[i] = if i > k { first[i] * inverse } else { 0.0 };
    }
    for i in 0..H {
        first[i] = if i > k { lower[i] } else { first[i] };
    }
    for column in rest {
        let factor = column[k];
        for i in 0..H {
            column[i] -= factor * lower[i];
        }
    }
}

/// Copies a short column faster than a call would.
#[inline(always)]
fn copy(target: &mut [f64], source: &[f64]) {
    target.iter_mut().zip(source).for_each(|(target, value)| *target = *value);
}

/// The row from `k` on with the largest entry among those before `search_end`, unless these have next to
/// nothing.
#[inline(always)]
fn pivot_row(column: &[f64], k: usize, search_end: usize) -> usize {
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
fn eliminate_from_panel(done: &[f64], height: usize, pivots: usize, block: Range<usize>, rest: &mut [f64]) {
    let columns = rest.len() / height;
    if block.len() * columns * (height - block.end) > LARGE {
        rest.chunks_exact_mut(height)
            .for_each(|column| solve_unit_lower(done, height, block.clone(), column));
        let rest = MatMut::from_column_major_slice_mut(rest, height, columns);
        let (above, below) = rest.split_at_row_mut(block.end);
        let lower = MatRef::from_column_major_slice(&done[block.start * height..], height, block.len());
        let factors = above.subrows_mut(block.start, block.len());
        let lower = lower.subrows(block.end, height - block.end);
        return matmul(below, Accum::Add, lower, factors.as_ref(), -1.0, Par::Seq);
    }
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
    matmul(schur, Accum::Add, lower.subrows(pivots, border), upper.as_ref(), -1.0, Par::Seq);
}

/// Solves with the unit lower triangle of a block of factored columns.
fn solve_unit_lower(panel: &[f64], height: usize, block: Range<usize>, values: &mut [f64]) {
    for k in block.clone() {
        let (head, tail) = values.split_at_mut(k + 1);
        let column = &panel[k * height + k + 1..k * height + block.end];
        subtract(&mut tail[..column.len()], column, head[k]);
    }
}

/// Eliminates a block of factored columns from `[right; schur]`.
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
#[inline]
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
#[inline]
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
    fn schur_complement_agrees_with_the_inverse_of_the_pivot_block() {
        let mut random = Random::new(5);
        for (pivots, border) in [(1, 0), (3, 2), (9, 3), (11, 6), (17, 4), (40, 33), (64, 1)] {
            let height = pivots + border;
            let matrix = DMatrix::from_fn(height, height, |_, _| random.symmetric());
            let mut panel = matrix.columns(0, pivots).clone_owned();
            let mut right = matrix.view((0, pivots), (pivots, border)).clone_owned();
            let mut schur = matrix.view((pivots, pivots), (border, border)).clone_owned();
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
            let expected = matrix.view((pivots, pivots), (border, border))
                - matrix.view((pivots, 0), (border, pivots))
                    * block.lu().solve(&matrix.view((0, pivots), (pivots, border)).clone_owned()).unwrap();
            // Random pivot blocks of this size have condition numbers below 1e4.
            assert!((schur - &expected).amax() < 1e-10 * (1.0 + expected.amax()), "{pivots} {border}");
        }
    }
}
