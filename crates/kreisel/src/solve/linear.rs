//! The linear solve behind Newton: a pattern of groups in; factors, solutions and a health report out.

use std::sync::Arc;

use super::block::{BlockMatrix, BlockPattern};
use super::dense::DenseLu;
use super::kernel::{self, Block, Target};

/// What a group of unknowns is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Has a diagonal block of its own (the motion of a body).
    Primary,
    /// Has none or a tiny one (the multipliers of a joint) and is eliminated with or after a primary it touches.
    Multiplier,
}

/// How good the factors are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// Smallest ratio of a pivot to its column: near round-off means nearly singular.
    pub smallest_pivot_ratio: f64,
}

/// A group of unknowns that the equations do not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularMatrix {
    /// Scalar unknown without a pivot.
    pub unknown: usize,
}

/// Factors of a sparse block matrix.
#[derive(Clone, Debug)]
pub struct LinearSolver {
    lu: DenseLu,
    size: usize,
}

impl LinearSolver {
    /// Makes room for matrices of a square pattern.
    pub fn new(pattern: &Arc<BlockPattern>, _roles: &[Role]) -> Self {
        let size = pattern.row_count();
        Self { lu: DenseLu::new(size), size }
    }

    /// Factors a matrix of the pattern.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<Health, SingularMatrix> {
        let (pattern, size) = (matrix.pattern(), self.size);
        let dense = self.lu.matrix_mut();
        dense.fill(0.0);
        for (block, row, column) in pattern.blocks() {
            let rows = pattern.row_range(row);
            if rows.is_empty() {
                continue;
            }
            let block = Block { values: &matrix.values()[pattern.value_range(block)], rows: rows.len() };
            let first = pattern.column_range(column).start * size + rows.start;
            kernel::copy(Target { values: &mut dense[first..], stride: size }, block);
        }
        match self.lu.factor() {
            Ok(smallest_pivot_ratio) => Ok(Health { smallest_pivot_ratio }),
            Err(singular) => Err(SingularMatrix { unknown: singular.column }),
        }
    }

    /// Solves with the factors, in place.
    pub fn solve(&mut self, rhs: &mut [f64]) {
        self.lu.solve(rhs);
    }

    /// Estimate of the condition number of the factored matrix in the 1-norm.
    pub fn condition_estimate(&self) -> f64 {
        self.lu.condition_estimate()
    }
}
