//! Constraints that follow from others.
//!
//! The rows of B and A, each scaled to length one in a metric that weighs angles with the system's length,
//! are compared by [`dependent_rows`]. With dependent rows the multipliers are not unique: N(Bᵀ) can be added
//! to them. The rows where that space does not vanish are those whose multipliers are shared.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use crate::dae::{Dae, Point, Shape, Wanted, ask};
use crate::lie::Group;
use crate::solve::block::{BlockMatrix, BlockPattern};
use crate::solve::dependent::dependent_rows;

/// Rows at an angle of less than this, in rad, to the others follow from them.
const DEPENDENT: f64 = 1e-5;

/// Which constraints follow from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redundancy {
    /// Constraints that are implied by the others, ascending.
    pub implied: Vec<usize>,
    /// Constraints whose multipliers are not unique, ascending; the implied ones are among them, unless they
    /// are idle.
    pub shared: Vec<usize>,
    /// Nonholonomic constraints that are implied by the others, ascending.
    pub implied_nonholonomic: Vec<usize>,
    /// Nonholonomic constraints whose multipliers are not unique, ascending.
    pub shared_nonholonomic: Vec<usize>,
    /// Constraints that are switched off, ascending, nonholonomic ones counted after the others; they count
    /// as implied.
    pub idle: Vec<usize>,
}

impl Redundancy {
    /// Whether all constraints are independent.
    pub fn is_none(&self) -> bool {
        self.implied.is_empty() && self.implied_nonholonomic.is_empty()
    }

    /// Finds the dependent constraints of a system at a configuration, at rest.
    pub fn find(dae: &dyn Dae, time: f64, configuration: &[f64]) -> Self {
        Self::find_moving(dae, time, configuration, &vec![0.0; dae.shape().velocity_count()])
    }

    /// Finds the dependent constraints of a system at a configuration and a velocity, on which nonholonomic
    /// constraints may depend in any way.
    pub fn find_moving(dae: &dyn Dae, time: f64, configuration: &[f64], velocity: &[f64]) -> Self {
        let shape = dae.shape();
        if shape.constraint_count() + shape.nonholonomic_count() == 0 {
            return Self::default();
        }
        let (gradient, nonholonomic) = gradients(dae, &shape, time, configuration, velocity);
        let mut rows = above_each_other(&gradient, &nonholonomic);
        scale_rows(&mut rows, &lengths(&shape, shape.scales.length));
        let rows = dependent_rows(&rows, DEPENDENT);
        let count = shape.constraint_count();
        let mut idle = dae.idle_constraints(&vec![0.0; shape.memory]);
        idle.sort_unstable();
        // Both kinds of rows, the holonomic ones first.
        let apart = |mut rows: Vec<usize>| {
            rows.retain(|row| idle.binary_search(row).is_err());
            let nonholonomic = rows.split_off(rows.partition_point(|row| *row < count));
            (rows, nonholonomic.into_iter().map(|row| row - count).collect::<Vec<_>>())
        };
        let (implied, implied_nonholonomic) = apart(rows.implied);
        let (shared, shared_nonholonomic) = apart(rows.involved);
        let mut found = Self { implied, shared, implied_nonholonomic, shared_nonholonomic, idle };
        let (holonomic, nonholonomic) = found.idle.split_at(found.idle.partition_point(|row| *row < count));
        found.implied.extend(holonomic);
        found.implied_nonholonomic.extend(nonholonomic.iter().map(|row| row - count));
        found.implied.sort_unstable();
        found.implied_nonholonomic.sort_unstable();
        found
    }
}

/// Number of holonomic constraints that follow from other holonomic ones at a configuration: positions may
/// change along nonholonomic ones.
pub(crate) fn implied_positions(dae: &dyn Dae, time: f64, configuration: &[f64]) -> usize {
    dependent_rows(&scaled_gradient(dae, time, configuration), DEPENDENT).implied.len()
}

/// Which of the holonomic constraints from one on are independent of all others, or of those before them.
pub(crate) enum IndependentRows {
    /// These, counted from the first one asked about.
    Found(Vec<usize>),
    /// So many depend on each other that nobody waits for the answer.
    TooMany,
}

/// Most constraints that depend on each other among which the first independent ones are looked for: their rows are
/// compared one by one, with dense matrices of 72 MB.
const MAX_DENSE: usize = 3000;

/// Finds the constraints from `first` on that are independent of those before them.
pub(crate) fn independent_rows(
    dae: &dyn Dae,
    time: f64,
    configuration: &[f64],
    first: usize,
) -> IndependentRows {
    let gradient = scaled_gradient(dae, time, configuration);
    let count = gradient.pattern().row_count();
    // What takes part in no combination that vanishes is independent, in whatever order.
    let involved = dependent_rows(&gradient, DEPENDENT).involved;
    if involved.len() > MAX_DENSE {
        return IndependentRows::TooMany;
    }
    let mut independent: Vec<usize> =
        (first..count).filter(|row| involved.binary_search(row).is_err()).collect();
    let rows = dense_rows(&gradient, &involved);
    let mut basis: Vec<DVector<f64>> = Vec::new();
    for (&row, values) in involved.iter().zip(rows.row_iter()) {
        let mut left: DVector<f64> = values.transpose();
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            basis.iter().for_each(|known| left.axpy(-known.dot(&left), known, 1.0));
        }
        if left.norm() > DEPENDENT {
            left.unscale_mut(left.norm());
            basis.push(left);
            independent.extend((row >= first).then_some(row));
        }
    }
    independent.sort_unstable();
    independent.iter_mut().for_each(|row| *row -= first);
    IndependentRows::Found(independent)
}

/// Some rows of a matrix, without the columns that none of them meets.
fn dense_rows(matrix: &BlockMatrix, rows: &[usize]) -> DMatrix<f64> {
    let pattern = matrix.pattern();
    let meets = |group: usize| pattern.row_range(group).any(|row| rows.binary_search(&row).is_ok());
    let blocks: Vec<_> = pattern.blocks().filter(|(_, row, _)| meets(*row)).collect();
    let (mut starts, mut width) = (vec![None; pattern.column_group_count()], 0);
    for (_, _, column) in &blocks {
        if starts[*column].is_none() {
            starts[*column] = Some(width);
            width += pattern.column_range(*column).len();
        }
    }
    let mut dense = DMatrix::zeros(rows.len(), width);
    for (block, row, column) in blocks {
        let (values, start) = (matrix.block(block), starts[column].unwrap_or_default());
        for (inside, row) in pattern.row_range(row).enumerate() {
            if let Ok(place) = rows.binary_search(&row) {
                dense.view_mut((place, start), (1, values.ncols())).copy_from(&values.row(inside));
            }
        }
    }
    dense
}

/// Rows of B, each of length one.
fn scaled_gradient(dae: &dyn Dae, time: f64, configuration: &[f64]) -> BlockMatrix {
    let shape = dae.shape();
    let rest = vec![0.0; shape.velocity_count()];
    let (mut gradient, _) = gradients(dae, &shape, time, configuration, &rest);
    scale_rows(&mut gradient, &lengths(&shape, shape.scales.length));
    gradient
}

/// B and A.
fn gradients(
    dae: &dyn Dae,
    shape: &Shape,
    time: f64,
    configuration: &[f64],
    velocity: &[f64],
) -> (BlockMatrix, BlockMatrix) {
    let couplings = dae.couplings(None);
    let mut gradient = BlockMatrix::zeros(couplings.constraint_node);
    let mut nonholonomic = BlockMatrix::zeros(couplings.nonholonomic_node);
    let at = Point {
        time,
        configuration,
        velocity,
        acceleration: &vec![0.0; shape.velocity_count()],
        multipliers: &vec![0.0; shape.constraint_count()],
        nonholonomic_multipliers: &vec![0.0; shape.nonholonomic_count()],
        internal_states: &vec![0.0; shape.state_count()],
        memory: &vec![0.0; shape.memory],
    };
    dae.gradient(&at, &mut gradient);
    if shape.nonholonomic_count() > 0 {
        let nonholonomic_gradient = Some(&mut nonholonomic);
        ask(dae, &at, Wanted { nonholonomic_gradient, ..Wanted::default() });
    }
    (gradient, nonholonomic)
}

/// Two matrices with the same columns as one.
fn above_each_other(first: &BlockMatrix, second: &BlockMatrix) -> BlockMatrix {
    let patterns = [first.pattern(), second.pattern()];
    let sizes = |pattern: &BlockPattern| -> Vec<usize> {
        (0..pattern.row_group_count()).map(|group| pattern.row_range(group).len()).collect()
    };
    let columns: Vec<usize> =
        (0..patterns[0].column_group_count()).map(|group| patterns[0].column_range(group).len()).collect();
    let before = patterns[0].row_group_count();
    let places = |pattern: &BlockPattern, before: usize| -> Vec<(usize, usize)> {
        pattern.blocks().map(|(_, row, column)| (before + row, column)).collect()
    };
    let all = [places(patterns[0], 0), places(patterns[1], before)].concat();
    let pattern = BlockPattern::new(&[sizes(patterns[0]), sizes(patterns[1])].concat(), &columns, all);
    let mut both = BlockMatrix::zeros(Arc::new(pattern));
    for (matrix, before) in [(first, 0), (second, before)] {
        for (block, row, column) in matrix.pattern().blocks() {
            if let Some(place) = both.pattern().find(before + row, column) {
                both.block_values_mut(place).copy_from_slice(matrix.block_values(block));
            }
        }
    }
    both
}

/// How far a coordinate moves points: 1 for a translation, the system's length for an angle.
pub(super) fn lengths(shape: &Shape, length: f64) -> Vec<f64> {
    let mut lengths = Vec::with_capacity(shape.velocity_count());
    for node in 0..shape.space.factor_count() {
        match shape.space.group(node) {
            Group::Vector(size) => lengths.extend(std::iter::repeat_n(1.0, size)),
            Group::So3 => lengths.extend([length; 3]),
            Group::So3xR3 | Group::Se3 => lengths.extend([length, length, length, 1.0, 1.0, 1.0]),
        }
    }
    lengths
}

/// Divides columns by lengths, and scales each row to length one.
fn scale_rows(matrix: &mut BlockMatrix, lengths: &[f64]) {
    let pattern = Arc::clone(matrix.pattern());
    let mut squares = vec![0.0; pattern.row_count()];
    for (block, row, column) in pattern.blocks() {
        let rows = pattern.row_range(row);
        let mut view = matrix.block_mut(block);
        for (mut values, length) in view.column_iter_mut().zip(&lengths[pattern.column_range(column)]) {
            values /= *length;
            for (square, value) in squares[rows.clone()].iter_mut().zip(values.iter()) {
                *square += value * value;
            }
        }
    }
    for (block, row, _) in pattern.blocks() {
        let mut view = matrix.block_mut(block);
        for (r, square) in squares[pattern.row_range(row)].iter().enumerate() {
            if *square > 0.0 {
                view.row_mut(r).scale_mut(1.0 / square.sqrt());
            }
        }
    }
}
