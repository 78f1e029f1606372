//! Factors of shifted matrices with the constraints, and the count of their negative eigenvalues.
//!
//! ```text
//! | K + γC + ηM   Bᵀ |
//! | B             −δ |
//! ```
//!
//! Rows and columns are scaled alike, so that the diagonal of the first block and the norms of the rows of B
//! are about 1 whatever the units. The small δ makes the matrix regular where constraints depend on others; a
//! solution is refined against δ = 0, which takes one or two rounds, because the constraints may always be
//! met (x = 0 meets them).
//!
//! For a symmetric first block A the number of negative eigenvalues of the whole is that of A on the
//! motions which the constraints leave free, and one for each constraint: by Sylvester's law of inertia it
//! counts the negative eigenvalues of A + BᵀB/δ and of −δ.

use std::sync::Arc;

use super::Linearized;
use crate::constrained::{CopyIndex, RowKind};
use crate::solve::block::BlockMatrix;
use crate::solve::sparse_lu::{SparseLu, SparseLuError};

/// Compliance δ of scaled constraints: well above the round-off of pivots, and squared below it.
const COMPLIANCE: f64 = 1e-9;
/// Most refinements of a solution.
const REFINEMENTS: usize = 3;
/// A refinement that changes less than this part ends them: a few ε.
const REFINED: f64 = 1e-15;

/// Ratio of stiffness to mass, beside the largest one, that counts as none.
const NO_STIFFNESS: f64 = 1e-6;

/// K + γC + ηM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifted {
    /// γ.
    pub damping: f64,
    /// η.
    pub mass: f64,
    /// Whether the symmetric part is meant.
    pub symmetric: bool,
}

/// Factors of a shifted matrix.
pub(super) struct ShiftedFactors {
    factors: SparseLu,
    /// The scaled matrix with δ = 0.
    matrix: BlockMatrix,
    scales: Vec<f64>,
    coordinates: usize,
}

impl ShiftedFactors {
    /// Factors of a shifted matrix; the unknown that it does not determine otherwise.
    pub fn new(linearized: &Linearized, shifted: Shifted) -> Result<Self, usize> {
        let mut matrix = linearized.shifted(shifted);
        let scales = scales(&matrix, &linearized.least_stiffness());
        scale(&mut matrix, &scales);
        let mut compliant = matrix.clone();
        let pattern = Arc::clone(matrix.pattern());
        let nodes = linearized.node_count();
        for (block, row, column) in pattern.blocks().filter(|(_, row, _)| *row >= nodes) {
            if row == column {
                let mut view = compliant.block_mut(block);
                (0..view.nrows()).for_each(|i| view[(i, i)] -= COMPLIANCE);
            }
        }
        let mut factors =
            SparseLu::new(Arc::clone(&pattern), &linearized.layout.roles).map_err(|_| 0_usize)?;
        factors.adapt_and_factor(&compliant).map_err(|error| match error {
            SparseLuError::Singular { group, row, .. } => pattern.row_range(group).start + row,
            SparseLuError::NotFinite { row_group, .. } => pattern.row_range(row_group).start,
            _ => 0,
        })?;
        Ok(Self { factors, matrix, scales, coordinates: linearized.velocity_count() })
    }

    /// Number of negative eigenvalues of the first block on the motions that the constraints leave free;
    /// `None` if the factors do not tell.
    pub fn negative(&self) -> Option<usize> {
        let constraints = self.scales.len() - self.coordinates;
        self.factors.negative_eigenvalues()?.checked_sub(constraints)
    }

    /// x with (K + γC + ηM) x + Bᵀμ = force, B x = 0.
    pub fn solve(&mut self, force: &[f64]) -> Vec<f64> {
        let mut unknowns = self.unknowns(force);
        unknowns.truncate(self.coordinates);
        unknowns.iter_mut().zip(&self.scales).for_each(|(value, scale)| *value *= scale);
        unknowns
    }

    /// The same with the force less Bᵀμ. Away from rest reactions may be far larger than what moves the
    /// machine, and what round-off leaves of B x must not meet them in products.
    pub fn solve_without_reactions(&mut self, force: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut unknowns = self.unknowns(force);
        let mut multipliers = unknowns.clone();
        multipliers[..self.coordinates].fill(0.0);
        let mut reaction = vec![0.0; self.scales.len()];
        self.matrix.multiply_add(1.0, &multipliers, &mut reaction);
        let rest = force.iter().zip(&reaction).zip(&self.scales);
        let rest = rest.map(|((force, reaction), scale)| force - reaction / scale).collect();
        unknowns.truncate(self.coordinates);
        unknowns.iter_mut().zip(&self.scales).for_each(|(value, scale)| *value *= scale);
        (unknowns, rest)
    }

    /// Scaled x and μ.
    fn unknowns(&mut self, force: &[f64]) -> Vec<f64> {
        let mut right = vec![0.0; self.scales.len()];
        right.iter_mut().zip(force).zip(&self.scales).for_each(|((u, f), scale)| *u = scale * f);
        let mut unknowns = right.clone();
        self.factors.solve(&mut unknowns);
        let largest = |values: &[f64]| {
            values[..self.coordinates].iter().fold(0.0_f64, |largest, value| largest.max(value.abs()))
        };
        let mut last = f64::INFINITY;
        for _ in 0..if self.scales.len() > self.coordinates { REFINEMENTS } else { 0 } {
            let mut change = right.clone();
            self.matrix.multiply_add(-1.0, &unknowns, &mut change);
            self.factors.solve(&mut change);
            let size = largest(&change);
            // Noise that no longer shrinks is not added.
            let shrinks = size < 0.5 * last;
            if !shrinks {
                break;
            }
            unknowns.iter_mut().zip(&change).for_each(|(value, change)| *value += change);
            if size <= REFINED * largest(&unknowns) {
                break;
            }
            last = size;
        }
        unknowns
    }

    /// Force of which each coordinate has a share as large as its stiffness lets count.
    pub fn spread(&self, numbers: &[f64]) -> Vec<f64> {
        numbers.iter().zip(&self.scales).map(|(number, scale)| number / scale).collect()
    }
}

impl Linearized {
    /// Number of groups of velocity coordinates.
    fn node_count(&self) -> usize {
        self.shape.space.factor_count()
    }

    /// A stiffness for each coordinate below which it is as good as none: one that would be round-off must
    /// not be scaled to 1.
    fn least_stiffness(&self) -> Vec<f64> {
        let factor = NO_STIFFNESS * self.largest_square();
        let mut least = vec![0.0; self.velocity_count()];
        super::linearized::entries(&self.mass, |row, column, value| {
            if row == column {
                least[row] = factor * value.abs();
            }
        });
        least
    }

    /// [K + γC + ηM, Bᵀ; B, 0].
    fn shifted(&self, shifted: Shifted) -> BlockMatrix {
        let mut matrix = BlockMatrix::zeros(Arc::clone(&self.layout.pattern));
        let first = CopyIndex::FIRST;
        for (factor, part) in
            [(1.0, &self.stiffness), (shifted.damping, &self.damping), (shifted.mass, &self.mass)]
        {
            if factor != 0.0 {
                self.layout.add_nodes(part, None, factor, first, &mut matrix);
            }
        }
        if shifted.symmetric {
            symmetrise(&mut matrix, self.node_count());
        }
        self.layout.add_rows(RowKind::Holonomic, &self.gradient, None, 1.0, first, &mut matrix);
        self.layout.add_transposed_rows(RowKind::Holonomic, &self.gradient, 1.0, first, &mut matrix);
        matrix
    }
}

/// Takes the symmetric part of the blocks of some first groups.
fn symmetrise(matrix: &mut BlockMatrix, groups: usize) {
    let pattern = Arc::clone(matrix.pattern());
    for (block, row, column) in pattern.blocks().filter(|(_, row, column)| row <= column && *column < groups)
    {
        let Some(mirrored) = pattern.find(column, row) else { continue };
        let (rows, columns) = (pattern.row_range(row).len(), pattern.column_range(column).len());
        for i in 0..rows {
            for j in 0..columns {
                let mean = 0.5 * (matrix.block(block)[(i, j)] + matrix.block(mirrored)[(j, i)]);
                matrix.block_mut(block)[(i, j)] = mean;
                matrix.block_mut(mirrored)[(j, i)] = mean;
            }
        }
    }
}

/// Factors of rows and columns, powers of two: those of coordinates by the diagonal, or by the least
/// stiffness where that is larger, the others by the norm of their rows.
fn scales(matrix: &BlockMatrix, least: &[f64]) -> Vec<f64> {
    let coordinates = least.len();
    let power = |square: f64| match square > 0.0 && square.is_finite() {
        true => (-0.5 * square.log2()).round().exp2(),
        false => 1.0,
    };
    let size = matrix.pattern().row_count();
    let (mut diagonal, mut largest) = (least.to_vec(), vec![0.0_f64; size]);
    diagonal.resize(size, 0.0);
    super::linearized::entries(matrix, |row, column, value| {
        if row == column {
            diagonal[row] = diagonal[row].max(value.abs());
        }
        if row < coordinates && column < coordinates {
            largest[row] = largest[row].max(value.abs());
        }
    });
    let mut scales: Vec<f64> =
        (0..size).map(|row| power(if diagonal[row] > 0.0 { diagonal[row] } else { largest[row] })).collect();
    let mut squares = vec![0.0; size];
    super::linearized::entries(matrix, |row, column, value| {
        if row >= coordinates && column < coordinates {
            squares[row] += (value * scales[column]).powi(2);
        }
    });
    for row in coordinates..size {
        scales[row] = power(squares[row]);
    }
    scales
}

fn scale(matrix: &mut BlockMatrix, scales: &[f64]) {
    let pattern = Arc::clone(matrix.pattern());
    for (block, row, column) in pattern.blocks() {
        let (rows, columns) = (&scales[pattern.row_range(row)], &scales[pattern.column_range(column)]);
        let mut view = matrix.block_mut(block);
        for (j, right) in columns.iter().enumerate() {
            for (i, left) in rows.iter().enumerate() {
                view[(i, j)] *= left * right;
            }
        }
    }
}
