//! faer's sparse LU with full row exchanges, for matrices that the fronts cannot factor.

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};

use crate::solve::block::BlockPattern;

/// The matrix in scalar columns, and its factors.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    starts: Vec<usize>,
    rows: Vec<usize>,
    /// Where each scalar entry stands in the block values; `usize::MAX` for a diagonal entry that no
    /// block holds.
    sources: Vec<usize>,
    values: Vec<f64>,
    symbolic: Option<SymbolicLu<usize>>,
    factors: Option<Lu<usize, f64>>,
}

impl Fallback {
    pub fn new(pattern: &BlockPattern) -> Self {
        let (mut starts, mut rows, mut sources) = (vec![0], Vec::new(), Vec::new());
        for group in 0..pattern.column_group_count() {
            for (local, column) in pattern.column_range(group).enumerate() {
                let first = rows.len();
                for (block, row_group) in pattern.column_blocks(group) {
                    let block_rows = pattern.row_range(row_group);
                    let source = pattern.value_range(block).start + local * block_rows.len();
                    sources.extend((0..block_rows.len()).map(|row| source + row));
                    rows.extend(block_rows);
                }
                // The diagonal is needed for the shift of multipliers.
                if let Err(place) = rows[first..].binary_search(&column) {
                    rows.insert(first + place, column);
                    sources.insert(first + place, usize::MAX);
                }
                starts.push(rows.len());
            }
        }
        let values = vec![0.0; rows.len()];
        Self { starts, rows, sources, values, symbolic: None, factors: None }
    }

    /// Factors the matrix with these block values, `shift` subtracted from the diagonal; false if that
    /// is impossible.
    pub fn factor(&mut self, block_values: &[f64], shift: impl Fn(usize) -> f64) -> bool {
        self.factors = None;
        for column in 0..self.starts.len() - 1 {
            for entry in self.starts[column]..self.starts[column + 1] {
                let value = block_values.get(self.sources[entry]).copied().unwrap_or(0.0);
                let on_diagonal = self.rows[entry] == column;
                self.values[entry] = if on_diagonal { value - shift(column) } else { value };
            }
        }
        let size = self.starts.len() - 1;
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &self.starts, None, &self.rows);
        if self.symbolic.is_none() {
            self.symbolic = SymbolicLu::try_new(pattern).ok();
        }
        let Some(symbolic) = self.symbolic.clone() else { return false };
        let matrix = SparseColMatRef::new(pattern, &self.values);
        self.factors = Lu::try_new_with_symbolic(symbolic, matrix).ok();
        self.factors.is_some()
    }

    pub fn solve(&self, values: &mut [f64]) {
        if let Some(factors) = &self.factors {
            factors.solve_in_place(faer::ColMut::from_slice_mut(values));
        }
    }
}
