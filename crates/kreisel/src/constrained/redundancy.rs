//! Constraints that follow from others, found by a sparse factorisation.
//!
//! The rows of B and A, each scaled to length one in a metric that weighs angles with the system's length,
//! are eliminated in the block system
//!
//! ```text
//! | D   Bᵀ |
//! | B  −ε  |                    (A beside B)
//! ```
//!
//! A row that depends on rows eliminated before it leaves a pivot of about ε. With dependent rows the
//! multipliers are not unique: N(Bᵀ) can be added to them. A vector of random numbers solved for twice keeps
//! only its part in N(Bᵀ), and the rows where that part does not vanish are those whose multipliers are
//! shared.

use std::sync::Arc;

use super::layout::{Copies, Layout, RowKind};
use crate::dae::{Couplings, Dae, Point, Shape, Tangent, Wanted, ask};
use crate::lie::Group;
use crate::solve::block::{BlockMatrix, BlockPattern};
use crate::solve::sparse_lu::{Regularization, SparseLu};

/// Shift ε that keeps the factorisation regular: far above round-off, far below the square of an angle that
/// matters.
const SHIFT: f64 = 1e-12;
/// Pivots below this count as vanished: rows at an angle of less than 1e-5 rad to the others.
const VANISHED: f64 = 1e-10;
/// Part of the largest entry above which a multiplier counts as shared.
const SHARED: f64 = 1e-6;

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
        let couplings = kinematic_couplings(dae, &shape);
        let layout = Layout::new(&shape, &couplings, Copies::ONE, []);
        let matrix = block_matrix(dae, &shape, &couplings, &layout, time, configuration, velocity);
        let Some(mut lu) = factored(&layout, &matrix) else { return Self::default() };
        let (first_group, groups) = (shape.node_sizes().len(), shape.constraints.len());
        let mut found = Self::default();
        for pivot in lu.weak_pivots(VANISHED).filter(|pivot| pivot.group >= first_group) {
            let group = pivot.group - first_group;
            if group < groups {
                found.implied.push(shape.constraints[..group].iter().sum::<usize>() + pivot.row);
            } else {
                let before: usize = shape.nonholonomic[..group - groups].iter().sum();
                found.implied_nonholonomic.push(before + pivot.row);
            }
        }
        let count = shape.constraint_count();
        found.idle = dae.idle_constraints(&vec![0.0; shape.memory]);
        found.idle.sort_unstable();
        let idle = found.idle.clone();
        let works = |row: usize| idle.binary_search(&row).is_err();
        found.implied.retain(|row| works(*row));
        found.implied_nonholonomic.retain(|row| works(count + row));
        if !found.is_none() {
            let mut rows = shared_rows(&mut lu, &layout, &shape);
            rows.retain(|row| works(*row));
            let nonholonomic = rows.split_off(rows.partition_point(|row| *row < count));
            found.shared = rows;
            found.shared_nonholonomic = nonholonomic.into_iter().map(|row| row - count).collect();
        }
        let (holonomic, nonholonomic) = idle.split_at(idle.partition_point(|row| *row < count));
        found.implied.extend(holonomic);
        found.implied_nonholonomic.extend(nonholonomic.iter().map(|row| row - count));
        found.implied.sort_unstable();
        found.implied_nonholonomic.sort_unstable();
        found
    }
}

/// Only B and A count: nodes meet themselves alone.
fn kinematic_couplings(dae: &dyn Dae, shape: &Shape) -> Couplings {
    let sizes = shape.node_sizes();
    let diagonal = BlockPattern::new(&sizes, &sizes, (0..sizes.len()).map(|node| (node, node)));
    let Couplings { constraint_node, nonholonomic_node, .. } = dae.couplings(None);
    Couplings {
        force_node: Arc::new(diagonal),
        constraint_node,
        nonholonomic_node,
        ..Couplings::dense(&Shape::new(crate::lie::Space::new([])))
    }
}

fn block_matrix(
    dae: &dyn Dae,
    shape: &Shape,
    couplings: &Couplings,
    layout: &Layout,
    time: f64,
    configuration: &[f64],
    velocity: &[f64],
) -> BlockMatrix {
    let mut tangent = Tangent::zeros(couplings);
    let zeros = vec![0.0; shape.velocity_count()];
    let at = Point {
        time,
        configuration,
        velocity,
        acceleration: &zeros,
        multipliers: &vec![0.0; shape.constraint_count()],
        nonholonomic_multipliers: &vec![0.0; shape.nonholonomic_count()],
        internal_states: &vec![0.0; shape.state_count()],
        memory: &vec![0.0; shape.memory],
    };
    dae.gradient(&at, &mut tangent.gradient);
    let metric = metric(shape, shape.scales.length);
    scale_rows(&mut tangent.gradient, &metric);
    if shape.nonholonomic_count() > 0 {
        let nonholonomic_gradient = Some(&mut tangent.nonholonomic);
        ask(dae, &at, Wanted { nonholonomic_gradient, ..Wanted::default() });
        scale_rows(&mut tangent.nonholonomic, &metric);
    }
    write_diagonal(&mut tangent.dynamic, &metric);
    let mut plain = shape.clone();
    plain.reactions = crate::dae::Reactions::Gradient;
    let mut matrix = BlockMatrix::zeros(Arc::clone(&layout.pattern));
    layout.add_forces(&tangent, None, 1.0, &mut matrix);
    layout.add_gradient(&plain, &tangent, None, &mut matrix);
    layout.add_nonholonomic(&plain, &tangent, &mut matrix);
    matrix
}

/// Squares of lengths: 1 for a translation, L² for an angle.
fn metric(shape: &Shape, length: f64) -> Vec<f64> {
    let square = length * length;
    let mut metric = Vec::with_capacity(shape.velocity_count());
    for node in 0..shape.space.factor_count() {
        match shape.space.group(node) {
            Group::Vector(size) => metric.extend(std::iter::repeat_n(1.0, size)),
            Group::So3 => metric.extend([square; 3]),
            Group::So3xR3 | Group::Se3 => metric.extend([square, square, square, 1.0, 1.0, 1.0]),
        }
    }
    metric
}

/// Scales each row of B to length one.
fn scale_rows(gradient: &mut BlockMatrix, metric: &[f64]) {
    let pattern = Arc::clone(gradient.pattern());
    let mut squares = vec![0.0; pattern.row_count()];
    for (block, row, column) in pattern.blocks() {
        let (rows, metric) = (pattern.row_range(row), &metric[pattern.column_range(column)]);
        let view = gradient.block(block);
        for (c, weight) in metric.iter().enumerate() {
            for (r, square) in squares[rows.clone()].iter_mut().enumerate() {
                *square += view[(r, c)] * view[(r, c)] / weight;
            }
        }
    }
    for (block, row, _) in pattern.blocks() {
        let rows = pattern.row_range(row);
        let mut view = gradient.block_mut(block);
        for (r, square) in squares[rows].iter().enumerate() {
            if *square > 0.0 {
                view.row_mut(r).scale_mut(1.0 / square.sqrt());
            }
        }
    }
}

fn write_diagonal(matrix: &mut BlockMatrix, metric: &[f64]) {
    let pattern = Arc::clone(matrix.pattern());
    for (block, _, column) in pattern.blocks() {
        let mut view = matrix.block_mut(block);
        for (i, weight) in metric[pattern.column_range(column)].iter().enumerate() {
            view[(i, i)] = *weight;
        }
    }
}

fn factored(layout: &Layout, matrix: &BlockMatrix) -> Option<SparseLu> {
    let mut lu = SparseLu::new(Arc::clone(&layout.pattern), &layout.roles).ok()?;
    lu.regularize(Regularization { epsilon: SHIFT, weights: Vec::new(), refinements: 0 }).ok()?;
    lu.factor(matrix).ok()?;
    Some(lu)
}

/// Rows of B, then of A, where a random vector's part in the null space of their transpose does not vanish.
fn shared_rows(lu: &mut SparseLu, layout: &Layout, shape: &Shape) -> Vec<usize> {
    let holonomic = shape.constraint_count();
    let mut part = vec![0.0; holonomic + shape.nonholonomic_count()];
    let mut shared = vec![false; part.len()];
    for seed in 1..=2_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for value in &mut part {
            // A linear congruence is random enough: what counts is that no null vector is missed.
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *value = (state >> 33) as f64 / (1_u64 << 31) as f64 + 0.5;
        }
        for _ in 0..2 {
            let largest = part.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            part.iter_mut().for_each(|value| *value /= largest.max(f64::MIN_POSITIVE));
            let mut unknowns = vec![0.0; layout.pattern.row_count()];
            layout.scatter(RowKind::Holonomic, 0, &part[..holonomic], &mut unknowns);
            layout.scatter(RowKind::Nonholonomic, 0, &part[holonomic..], &mut unknowns);
            lu.solve(&mut unknowns);
            layout.gather(RowKind::Holonomic, 0, &unknowns, &mut part[..holonomic]);
            layout.gather(RowKind::Nonholonomic, 0, &unknowns, &mut part[holonomic..]);
        }
        let largest = part.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        for (shared, value) in shared.iter_mut().zip(&part) {
            *shared |= value.abs() > SHARED * largest;
        }
    }
    shared.iter().enumerate().filter(|(_, shared)| **shared).map(|(row, _)| row).collect()
}
