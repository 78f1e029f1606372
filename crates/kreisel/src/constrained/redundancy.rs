//! Constraints that follow from others.
//!
//! The rows of B and A, each scaled to length one in a metric that weighs angles with the system's length,
//! are compared by [`dependent_rows`]. With dependent rows the multipliers are not unique: N(Bᵀ) can be added
//! to them. The rows where that space does not vanish are those whose multipliers are shared.

use std::sync::Arc;

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
        let rows = dependent_rows(&scaled_rows(dae, &shape, time, configuration, velocity), DEPENDENT);
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

/// Rows of B, then of A, each of length one.
fn scaled_rows(
    dae: &dyn Dae,
    shape: &Shape,
    time: f64,
    configuration: &[f64],
    velocity: &[f64],
) -> BlockMatrix {
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
    let mut rows = above_each_other(&gradient, &nonholonomic);
    scale_rows(&mut rows, &lengths(shape, shape.scales.length));
    rows
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
