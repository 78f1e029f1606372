//! Factors for the rows and columns of a matrix whose entries differ by many orders of magnitude.
//!
//! A body of 1e-9 kg on one of 1e9 kg has rows of 1e-18 beside rows of 1: next to the round-off of the large
//! ones they look like nothing. Among all choices of one entry per row and column there is one with the
//! largest product; with the factors that belong to it each of its entries becomes 1 and no other entry is
//! larger [DuffKoster2001, §4]. Factors are powers of two, so that they round nothing.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::block::BlockMatrix;

/// Entries below this part of their row or column in the same block are round-off, some ε, and no choice for
/// a pivot.
const NOISE: f64 = 1e-14;

/// Factors of rows and columns, and the matrix with them.
#[derive(Clone, Debug)]
pub(super) struct Balanced {
    rows: Vec<f64>,
    columns: Vec<f64>,
    pub matrix: BlockMatrix,
}

impl Balanced {
    /// The factors of a matrix; `None` if it is singular whatever its numbers are, or an entry is not finite.
    pub fn new(matrix: &BlockMatrix) -> Option<Self> {
        if !matrix.values().iter().all(|value| value.is_finite()) {
            return None;
        }
        let costs = Costs::new(matrix);
        let duals = Matching::new(&costs).solve()?;
        let power = |exponent: f64| exponent.round().clamp(-1000.0, 1000.0).exp2();
        let rows: Vec<f64> = duals.rows.iter().map(|u| power(*u)).collect();
        let columns: Vec<f64> =
            duals.columns.iter().zip(&costs.largest).map(|(v, largest)| power(v - largest)).collect();
        let mut balanced = matrix.clone();
        let pattern = matrix.pattern();
        for (block, row, column) in pattern.blocks() {
            let (rows, columns) = (&rows[pattern.row_range(row)], &columns[pattern.column_range(column)]);
            let values = &mut balanced.values_mut()[pattern.value_range(block)];
            for (values, column) in values.chunks_exact_mut(rows.len().max(1)).zip(columns) {
                values.iter_mut().zip(rows).for_each(|(value, row)| *value *= row * column);
            }
        }
        Some(Self { rows, columns, matrix: balanced })
    }

    /// The right side of the balanced equations.
    pub fn scale_right_side(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.rows).for_each(|(value, factor)| *value *= factor);
    }

    /// The unknowns of the given equations.
    pub fn scale_solution(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.columns).for_each(|(value, factor)| *value *= factor);
    }
}

/// Entries by columns: their rows, and how many powers of two they are below the largest of the column.
struct Costs {
    starts: Vec<usize>,
    rows: Vec<usize>,
    costs: Vec<f64>,
    /// Exponent of the largest entry of each column.
    largest: Vec<f64>,
}

impl Costs {
    fn new(matrix: &BlockMatrix) -> Self {
        let pattern = matrix.pattern();
        let mut out = Self { starts: vec![0], rows: Vec::new(), costs: Vec::new(), largest: Vec::new() };
        let row_sizes: Vec<Vec<f64>> =
            pattern.blocks().map(|(block, ..)| largest_in_rows(matrix, block)).collect();
        for group in 0..pattern.column_group_count() {
            for local in 0..pattern.column_range(group).len() {
                let first = out.rows.len();
                for (block, row_group) in pattern.column_blocks(group) {
                    let rows = pattern.row_range(row_group);
                    let values = &matrix.block_values(block)[local * rows.len()..][..rows.len()];
                    let column_size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
                    for ((row, value), row_size) in rows.zip(values).zip(&row_sizes[block.index()]) {
                        if value.abs() > NOISE * row_size.max(column_size) {
                            out.rows.push(row);
                            out.costs.push(value.abs().log2());
                        }
                    }
                }
                let costs = &mut out.costs[first..];
                let largest = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                costs.iter_mut().for_each(|cost| *cost = largest - *cost);
                out.largest.push(largest);
                out.starts.push(out.rows.len());
            }
        }
        out
    }

    fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[column]..self.starts[column + 1];
        self.rows[range.clone()].iter().copied().zip(self.costs[range].iter().copied())
    }
}

fn largest_in_rows(matrix: &BlockMatrix, block: super::block::BlockId) -> Vec<f64> {
    let rows = matrix.pattern().shape_of(block).0;
    let mut sizes = vec![0.0_f64; rows];
    for column in matrix.block_values(block).chunks_exact(rows.max(1)) {
        sizes.iter_mut().zip(column).for_each(|(size, value)| *size = size.max(value.abs()));
    }
    sizes
}

/// Numbers u and v with u + v ≤ cost for all entries, and = for the chosen ones.
struct Duals {
    rows: Vec<f64>,
    columns: Vec<f64>,
}

const NONE: usize = usize::MAX;

/// The choice of one entry per row and column with the least sum of costs, found column by column along
/// shortest paths.
struct Matching<'a> {
    costs: &'a Costs,
    duals: Duals,
    /// Column that chose a row, and row that a column chose.
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// Shortest distance of each row in the present search, the column before it, and whether it is final.
    distance: Vec<f64>,
    before: Vec<usize>,
    done: Vec<bool>,
    /// Rows that the present search has come to.
    touched: Vec<usize>,
}

/// A row at a distance, the nearest first.
struct Reached(f64, usize);

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

impl<'a> Matching<'a> {
    fn new(costs: &'a Costs) -> Self {
        let size = costs.largest.len();
        Self {
            costs,
            duals: Duals { rows: vec![0.0; size], columns: vec![0.0; size] },
            column_of: vec![NONE; size],
            row_of: vec![NONE; size],
            distance: vec![f64::INFINITY; size],
            before: vec![NONE; size],
            done: vec![false; size],
            touched: Vec::new(),
        }
    }

    fn solve(mut self) -> Option<Duals> {
        for column in 0..self.row_of.len() {
            let (end, length) = self.search(column)?;
            self.move_duals(column, length);
            self.augment(end, column);
        }
        Some(self.duals)
    }

    /// The nearest row that no column has chosen, along entries that may be exchanged, and its distance.
    fn search(&mut self, start: usize) -> Option<(usize, f64)> {
        // A search is short as a rule: only what the last one touched is cleaned.
        for row in self.touched.drain(..) {
            (self.distance[row], self.done[row]) = (f64::INFINITY, false);
        }
        let mut heap = BinaryHeap::new();
        let (mut column, mut length) = (start, 0.0);
        loop {
            for (row, cost) in self.costs.column(column) {
                // Duals keep these reduced costs from being negative, up to rounding.
                let reduced = (cost - self.duals.rows[row] - self.duals.columns[column]).max(0.0);
                if !self.done[row] && length + reduced < self.distance[row] {
                    if self.distance[row] == f64::INFINITY {
                        self.touched.push(row);
                    }
                    self.distance[row] = length + reduced;
                    self.before[row] = column;
                    heap.push(Reached(length + reduced, row));
                }
            }
            let Reached(distance, row) = loop {
                let nearest = heap.pop()?;
                if !self.done[nearest.1] {
                    break nearest;
                }
            };
            if self.column_of[row] == NONE {
                return Some((row, distance));
            }
            self.done[row] = true;
            (column, length) = (self.column_of[row], distance);
        }
    }

    fn move_duals(&mut self, start: usize, length: f64) {
        self.duals.columns[start] += length;
        for &row in self.touched.iter().filter(|row| self.done[**row]) {
            let less = length - self.distance[row];
            self.duals.rows[row] -= less;
            self.duals.columns[self.column_of[row]] += less;
        }
    }

    fn augment(&mut self, end: usize, start: usize) {
        let mut row = end;
        loop {
            let column = self.before[row];
            self.column_of[row] = column;
            let next = std::mem::replace(&mut self.row_of[column], row);
            if column == start {
                return;
            }
            row = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::block::BlockPattern;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn matrix(n: usize, values: &[f64]) -> BlockMatrix {
        let mut matrix = BlockMatrix::zeros(Arc::new(BlockPattern::dense(&vec![1; n], &vec![1; n])));
        matrix.values_mut().copy_from_slice(values);
        matrix
    }

    /// Largest sum of exponents of one entry per row and column, by trying all.
    fn best(values: &[f64], n: usize, column: usize, used: u32) -> f64 {
        if column == n {
            return 0.0;
        }
        let free = (0..n).filter(|row| used & (1 << row) == 0);
        free.map(|row| values[column * n + row].abs().log2() + best(values, n, column + 1, used | (1 << row)))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    proptest! {
        #[test]
        fn no_entry_exceeds_one_and_the_largest_product_becomes_one(
            n in 1usize..6,
            exponents in proptest::collection::vec(-60.0..60.0_f64, 25),
            zeros in proptest::collection::vec(0u8..4, 25),
        ) {
            let entries = exponents.iter().zip(&zeros).take(n * n);
            let values: Vec<f64> = entries.map(|(e, zero)| if *zero == 0 { 0.0 } else { e.exp2() }).collect();
            let best = best(&values, n, 0, 0);
            let balanced = Balanced::new(&matrix(n, &values));
            prop_assert_eq!(balanced.is_some(), best.is_finite());
            if let Some(balanced) = balanced {
                // Factors are rounded to powers of two: half a power each.
                prop_assert!(balanced.matrix.values().iter().all(|value| *value <= 2.0001));
                let factors = balanced.rows.iter().chain(&balanced.columns);
                let sum = best + factors.map(|factor| factor.log2()).sum::<f64>();
                prop_assert!(sum.abs() <= n as f64 + 1e-6);
            }
        }
    }
}
