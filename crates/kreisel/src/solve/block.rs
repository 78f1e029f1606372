//! Sparse matrices made of small dense blocks.
//!
//! Unknowns and equations come in groups (the six of a body, the multipliers of a joint). A
//! [`BlockPattern`] says which pairs of groups meet; a [`BlockMatrix`] holds the numbers. The pattern
//! is made once, blocks are found once by [`BlockPattern::find`], and in the time loop a block is
//! addressed by its [`BlockId`] without any search.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut};

/// Handle of one block of a [`BlockPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(u32);

impl BlockId {
    /// Position of the block in column order, from 0 to [`BlockPattern::block_count`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which blocks of a matrix may be non-zero, in compressed columns of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPattern {
    row_offsets: Vec<usize>,
    column_offsets: Vec<usize>,
    /// Blocks of column group j are `column_starts[j]..column_starts[j + 1]`.
    column_starts: Vec<usize>,
    /// Row group of each block, ascending inside a column.
    rows: Vec<u32>,
    /// Column group of each block.
    columns: Vec<u32>,
    /// Where the values of each block begin.
    value_offsets: Vec<usize>,
    /// Which blocks are dropped; empty if none is.
    dropped: Vec<bool>,
}

fn offsets(sizes: &[usize]) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(sizes.len() + 1);
    let mut sum = 0;
    offsets.push(0);
    for size in sizes {
        sum += size;
        offsets.push(sum);
    }
    offsets
}

impl BlockPattern {
    /// Pattern with the given group sizes and non-zero blocks `(row group, column group)`; a block
    /// named twice is stored once.
    pub fn new(
        row_sizes: &[usize],
        column_sizes: &[usize],
        blocks: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        let mut by_column: Vec<(u32, u32)> = blocks
            .into_iter()
            .map(|(row, column)| {
                assert!(row < row_sizes.len() && column < column_sizes.len(), "group out of range");
                (column as u32, row as u32)
            })
            .collect();
        by_column.sort_unstable();
        by_column.dedup();
        let mut column_starts = vec![0; column_sizes.len() + 1];
        let mut value_offsets = Vec::with_capacity(by_column.len() + 1);
        let mut sum = 0;
        for &(column, row) in &by_column {
            column_starts[column as usize + 1] += 1;
            value_offsets.push(sum);
            sum += row_sizes[row as usize] * column_sizes[column as usize];
        }
        value_offsets.push(sum);
        for column in 0..column_sizes.len() {
            column_starts[column + 1] += column_starts[column];
        }
        Self {
            row_offsets: offsets(row_sizes),
            column_offsets: offsets(column_sizes),
            column_starts,
            rows: by_column.iter().map(|&(_, row)| row).collect(),
            columns: by_column.iter().map(|&(column, _)| column).collect(),
            value_offsets,
            dropped: Vec::new(),
        }
    }

    /// Marks blocks as dropped: of couplings that come and go, which a solver may meet by iteration.
    pub fn with_dropped(mut self, blocks: impl IntoIterator<Item = (usize, usize)>) -> Self {
        for (row, column) in blocks {
            if let Some(block) = self.find(row, column) {
                self.dropped.resize(self.rows.len(), false);
                self.dropped[block.index()] = true;
            }
        }
        self
    }

    /// Whether a block is dropped.
    pub fn is_dropped(&self, block: BlockId) -> bool {
        self.dropped.get(block.index()).copied().unwrap_or(false)
    }

    /// Number of dropped blocks.
    pub fn dropped_count(&self) -> usize {
        self.dropped.iter().filter(|dropped| **dropped).count()
    }

    /// Pattern in which every pair of groups meets.
    pub fn dense(row_sizes: &[usize], column_sizes: &[usize]) -> Self {
        let (rows, columns) = (row_sizes.len(), column_sizes.len());
        Self::new(
            row_sizes,
            column_sizes,
            (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column))),
        )
    }

    /// Number of row groups.
    pub fn row_group_count(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Number of column groups.
    pub fn column_group_count(&self) -> usize {
        self.column_offsets.len() - 1
    }

    /// Number of scalar rows.
    pub fn row_count(&self) -> usize {
        self.row_offsets[self.row_group_count()]
    }

    /// Number of scalar columns.
    pub fn column_count(&self) -> usize {
        self.column_offsets[self.column_group_count()]
    }

    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.rows.len()
    }

    /// Number of stored values.
    pub fn value_count(&self) -> usize {
        self.value_offsets[self.block_count()]
    }

    /// Scalar rows of a row group.
    #[inline]
    pub fn row_range(&self, group: usize) -> Range<usize> {
        self.row_offsets[group]..self.row_offsets[group + 1]
    }

    /// Scalar columns of a column group.
    #[inline]
    pub fn column_range(&self, group: usize) -> Range<usize> {
        self.column_offsets[group]..self.column_offsets[group + 1]
    }

    /// The block where two groups meet, if it is stored.
    pub fn find(&self, row_group: usize, column_group: usize) -> Option<BlockId> {
        let range = self.column_starts[column_group]..self.column_starts[column_group + 1];
        let start = range.start;
        self.rows[range]
            .binary_search(&(row_group as u32))
            .ok()
            .map(|position| BlockId((start + position) as u32))
    }

    /// Every block as `(handle, row group, column group)`, column by column.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, usize, usize)> + '_ {
        self.rows
            .iter()
            .zip(&self.columns)
            .enumerate()
            .map(|(index, (&row, &column))| (BlockId(index as u32), row as usize, column as usize))
    }

    /// Blocks of one column group as `(handle, row group)`, rows ascending.
    pub fn column_blocks(&self, group: usize) -> impl Iterator<Item = (BlockId, usize)> + '_ {
        (self.column_starts[group]..self.column_starts[group + 1])
            .map(|index| (BlockId(index as u32), self.rows[index] as usize))
    }

    /// Where the values of a block stand in [`BlockMatrix::values`].
    #[inline]
    pub fn value_range(&self, block: BlockId) -> Range<usize> {
        self.value_offsets[block.index()]..self.value_offsets[block.index() + 1]
    }

    /// Row and column group of a block.
    #[inline]
    pub fn groups_of(&self, block: BlockId) -> (usize, usize) {
        (self.rows[block.index()] as usize, self.columns[block.index()] as usize)
    }

    /// Scalar rows and columns of a block.
    #[inline]
    pub fn shape_of(&self, block: BlockId) -> (usize, usize) {
        let (row, column) = self.groups_of(block);
        (self.row_range(row).len(), self.column_range(column).len())
    }
}

/// The numbers of a sparse matrix of blocks; each block is stored dense, column by column.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    values: Vec<f64>,
}

impl BlockMatrix {
    /// The zero matrix of a pattern.
    pub fn zeros(pattern: Arc<BlockPattern>) -> Self {
        let values = vec![0.0; pattern.value_count()];
        Self { pattern, values }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// All values, block after block.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, block after block, to be written.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets every value.
    pub fn fill(&mut self, value: f64) {
        self.values.fill(value);
    }

    /// Sets all values of some column groups to zero.
    pub fn clear_columns(&mut self, groups: Range<usize>) {
        let starts = &self.pattern.column_starts;
        let [from, to] = [groups.start, groups.end].map(|group| self.pattern.value_offsets[starts[group]]);
        self.values[from..to].fill(0.0);
    }

    /// One block.
    pub fn block(&self, block: BlockId) -> DMatrixView<'_, f64> {
        let (rows, columns) = self.pattern.shape_of(block);
        DMatrixView::from_slice(&self.values[self.pattern.value_range(block)], rows, columns)
    }

    /// One block, to be written.
    pub fn block_mut(&mut self, block: BlockId) -> DMatrixViewMut<'_, f64> {
        let (rows, columns) = self.pattern.shape_of(block);
        let range = self.pattern.value_range(block);
        DMatrixViewMut::from_slice(&mut self.values[range], rows, columns)
    }

    /// Values of one block, column by column.
    #[inline]
    pub fn block_values(&self, block: BlockId) -> &[f64] {
        &self.values[self.pattern.value_range(block)]
    }

    /// Values of one block, column by column, to be written.
    #[inline]
    pub fn block_values_mut(&mut self, block: BlockId) -> &mut [f64] {
        let range = self.pattern.value_range(block);
        &mut self.values[range]
    }

    /// `y += factor · A x`.
    pub fn multiply_add(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for (block, row, column) in self.pattern.blocks() {
            let values = &self.values[self.pattern.value_range(block)];
            let y = &mut y[self.pattern.row_range(row)];
            let rows = y.len();
            for (x, values) in
                x[self.pattern.column_range(column)].iter().zip(values.chunks_exact(rows.max(1)))
            {
                let scaled = factor * x;
                y.iter_mut().zip(values).for_each(|(y, value)| *y += scaled * value);
            }
        }
    }

    /// `y += factor · Aᵀ x`.
    pub fn transpose_multiply_add(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for (block, row, column) in self.pattern.blocks() {
            let values = &self.values[self.pattern.value_range(block)];
            let x = &x[self.pattern.row_range(row)];
            let y = &mut y[self.pattern.column_range(column)];
            for (y, values) in y.iter_mut().zip(values.chunks_exact(x.len().max(1))) {
                *y += factor * x.iter().zip(values).map(|(x, value)| x * value).sum::<f64>();
            }
        }
    }

    /// The same matrix with every zero written out, for tests and small systems.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.pattern.row_count(), self.pattern.column_count());
        for (block, row, column) in self.pattern.blocks() {
            let (rows, columns) = (self.pattern.row_range(row), self.pattern.column_range(column));
            dense
                .view_mut((rows.start, columns.start), (rows.len(), columns.len()))
                .copy_from(&self.block(block));
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BlockMatrix {
        let pattern = BlockPattern::new(&[2, 1, 0], &[3, 1], [(0, 0), (1, 0), (0, 1), (0, 0), (2, 1)]);
        let mut matrix = BlockMatrix::zeros(Arc::new(pattern));
        matrix.values_mut().iter_mut().enumerate().for_each(|(i, value)| *value = i as f64 + 1.0);
        matrix
    }

    #[test]
    fn blocks_are_found_and_missing_ones_are_not() {
        let matrix = sample();
        assert_eq!(matrix.pattern().block_count(), 4);
        assert!(matrix.pattern().find(1, 1).is_none());
        let block = matrix.pattern().find(0, 1).unwrap();
        assert_eq!(matrix.block(block).shape(), (2, 1));
        assert_eq!(matrix.block(block)[(1, 0)], matrix.to_dense()[(1, 3)]);
    }

    #[test]
    fn columns_are_cleared_and_others_are_not() {
        let mut matrix = sample();
        let before = matrix.to_dense();
        matrix.clear_columns(1..2);
        let after = matrix.to_dense();
        assert_eq!(after.columns(0, 3), before.columns(0, 3));
        assert!(before.column(3).norm() > 0.0 && after.column(3).norm() == 0.0);
        matrix.clear_columns(2..2);
        assert_eq!(matrix.to_dense(), after);
    }

    #[test]
    fn products_agree_with_the_dense_matrix() {
        let matrix = sample();
        let dense = matrix.to_dense();
        let (x, y) = ([1.0, -2.0, 0.5, 4.0], [1.0, 2.0, -3.0]);
        let mut product = vec![0.0; 3];
        matrix.multiply_add(2.0, &x, &mut product);
        let expected = 2.0 * &dense * nalgebra::DVector::from_row_slice(&x);
        assert_eq!(product, expected.as_slice());
        let mut product = vec![0.0; 4];
        matrix.transpose_multiply_add(-1.0, &y, &mut product);
        let expected = -dense.transpose() * nalgebra::DVector::from_row_slice(&y);
        assert_eq!(product, expected.as_slice());
    }
}
