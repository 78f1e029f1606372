//! The matrices of small motions.

use super::ModesError;
use super::states::StateTerms;
use crate::constrained::{Copies, Layout, coordinate_scales};
use crate::dae::turning::add_turned;
use crate::dae::{Dae, Equation, Point, Reactions, Shape, Tangent, TangentWeights};
use crate::lie::Space;
use crate::solve::block::BlockMatrix;

/// M ẍ + C ẋ + K x + Bᵀδλ = 0, B x = 0 about a state.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// M.
    pub mass: BlockMatrix,
    /// C, gyroscopic terms included.
    pub damping: BlockMatrix,
    /// K, the derivatives of reactions and gyroscopic terms included.
    pub stiffness: BlockMatrix,
    /// B.
    pub gradient: BlockMatrix,
    /// What first-order and algebraic states add; absent without them.
    pub internal_states: Option<StateTerms>,
    pub(super) space: Space,
    pub(super) shape: Shape,
    pub(super) layout: Layout,
    pub(super) coordinate_scales: Vec<f64>,
    /// Balance of each velocity coordinate in the words of the system's author.
    pub(super) equations: Vec<String>,
}

/// Part of the largest entry below which matrices count as symmetric, or as zero: round-off. More would hide
/// the damping and the turning of slow modes, whose stiffness may be 1e-9 of the largest entry.
const NEGLIGIBLE: f64 = 1e-13;

/// Round-off of a force beside one product of stiffness and size: some of it in each of the terms of a row.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;

impl Linearized {
    /// The matrices of a system at a point, whose velocity, acceleration and multipliers count.
    pub fn at(dae: &dyn Dae, at: &Point) -> Result<Self, ModesError> {
        let (shape, couplings) = (dae.shape(), dae.couplings(Some(at.memory)));
        let length = shape.scales.length;
        if shape.nonholonomic_count() > 0 {
            return Err(ModesError::Unsupported("nonholonomic constraints"));
        }
        if shape.reactions == Reactions::General {
            return Err(ModesError::Unsupported("forces that depend on reactions"));
        }
        let weights = TangentWeights { mass: 1.0, damping: 0.0, stiffness: true, remembered_forces: false };
        let Tangent { dynamic: mass, mut stiffness, gradient, .. } =
            Tangent::at(dae, &couplings, at, weights);
        let weights = TangentWeights { mass: 0.0, damping: 1.0, stiffness: false, remembered_forces: false };
        let tangent = Tangent::at(dae, &couplings, at, weights);
        let mut damping = tangent.dynamic.clone();
        let space = &shape.space;
        add_turned(space, at.velocity, 1.0, &damping, &mut stiffness);
        add_turned(space, at.acceleration, 1.0, &mass, &mut stiffness);
        add_turned(space, at.velocity, 1.0, &mass, &mut damping);
        let internal_states =
            (shape.state_count() > 0).then(|| StateTerms::of(&shape, at.velocity, &tangent));
        // Symmetric parts need the places of both halves.
        let mirrored = couplings.force_node.blocks().map(|(_, row, column)| (column, row));
        let layout = Layout::new(&shape, &couplings, Copies::ONE, mirrored);
        let equations = (0..shape.velocity_count()).map(|i| dae.describe(Equation::Equilibrium(i))).collect();
        Ok(Self {
            mass,
            damping,
            stiffness,
            gradient,
            internal_states,
            space: shape.space.clone(),
            coordinate_scales: coordinate_scales(&shape, length),
            equations,
            layout,
            shape,
        })
    }

    /// Number of velocity coordinates.
    pub fn velocity_count(&self) -> usize {
        self.space.dimension()
    }

    /// Number of constraints.
    pub fn constraint_count(&self) -> usize {
        self.shape.constraint_count()
    }

    /// Size of each velocity coordinate: 1 rad or the system's length.
    pub fn coordinate_scales(&self) -> &[f64] {
        &self.coordinate_scales
    }

    /// Balance of each velocity coordinate in the words of the system's author.
    pub fn equations(&self) -> &[String] {
        &self.equations
    }

    /// Accelerations that are round-off of the forces of positions as large as the machine, and of turns of
    /// 1 rad; for coordinates without stiffness the largest of the others with their unit.
    pub(crate) fn acceleration_round_off(&self) -> Vec<f64> {
        let mut forces = vec![0.0; self.velocity_count()];
        let mut masses = forces.clone();
        entries(&self.stiffness, |row, column, value| {
            forces[row] += ROUND_OFF * value.abs() * self.coordinate_scales[column];
        });
        entries(&self.mass, |row, column, value| {
            if row == column {
                masses[row] = value;
            }
        });
        let own: Vec<f64> =
            forces.iter().zip(&masses).map(|(f, m)| if *m > 0.0 { f / m } else { 0.0 }).collect();
        let of_unit = |scale: f64| {
            let alike = own.iter().zip(&self.coordinate_scales).filter(|(_, other)| **other == scale);
            alike.fold(0.0_f64, |largest, (value, _)| largest.max(*value))
        };
        let scales = own.iter().zip(&self.coordinate_scales);
        scales.map(|(own, scale)| if *own > 0.0 { *own } else { of_unit(*scale) }).collect()
    }

    pub(super) fn is_finite(&self) -> bool {
        [&self.mass, &self.damping, &self.stiffness, &self.gradient]
            .iter()
            .all(|matrix| matrix.values().iter().all(|value| value.is_finite()))
            && self.internal_states.as_ref().is_none_or(StateTerms::is_finite)
    }

    /// Whether nothing damps or turns and the forces have a potential: all s² are real.
    pub fn is_conservative(&self) -> bool {
        let scaled = |value: f64, row: usize, column: usize| {
            (value * self.coordinate_scales[row] * self.coordinate_scales[column]).abs()
        };
        let largest = |matrix: &BlockMatrix| {
            let mut largest = 0.0_f64;
            entries(matrix, |row, column, value| largest = largest.max(scaled(value, row, column)));
            largest
        };
        let (mass, damping, stiffness) =
            (largest(&self.mass), largest(&self.damping), largest(&self.stiffness));
        damping <= NEGLIGIBLE * (mass * stiffness).sqrt()
            && asymmetry(&self.stiffness, scaled) <= NEGLIGIBLE * stiffness
            && asymmetry(&self.mass, scaled) <= NEGLIGIBLE * mass
    }
}

/// Shows every stored entry of a matrix: row, column, value.
pub(super) fn entries(matrix: &BlockMatrix, mut show: impl FnMut(usize, usize, f64)) {
    let pattern = matrix.pattern();
    for (block, row, column) in pattern.blocks() {
        let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
        let view = matrix.block(block);
        for (j, column) in columns.enumerate() {
            for (i, row) in rows.clone().enumerate() {
                show(row, column, view[(i, j)]);
            }
        }
    }
}

/// Largest entry of A − Aᵀ.
fn asymmetry(matrix: &BlockMatrix, scaled: impl Fn(f64, usize, usize) -> f64) -> f64 {
    let mut largest = 0.0_f64;
    for_each_difference(matrix, |row, column, difference, _| {
        largest = largest.max(scaled(difference, row, column));
    });
    largest
}

/// Shows row, column and value of the entries of A − Aᵀ where A has an entry, and whether it has one
/// opposite.
fn for_each_difference(matrix: &BlockMatrix, mut show: impl FnMut(usize, usize, f64, bool)) {
    let pattern = matrix.pattern();
    for (block, row, column) in pattern.blocks() {
        let view = matrix.block(block);
        let mirrored = pattern.find(column, row).map(|block| matrix.block(block));
        let (rows, columns) = (pattern.row_range(row).start, pattern.column_range(column).start);
        for j in 0..view.ncols() {
            for i in 0..view.nrows() {
                let opposite = mirrored.as_ref().map_or(0.0, |view| view[(j, i)]);
                show(rows + i, columns + j, view[(i, j)] - opposite, mirrored.is_some());
            }
        }
    }
}

/// The skew part ½ (A − Aᵀ) of a matrix: row, column and value of what is not zero.
pub(super) struct Skew(Vec<(usize, usize, f64)>);

impl Skew {
    pub fn of(matrix: &BlockMatrix) -> Self {
        let mut parts = Vec::new();
        for_each_difference(matrix, |row, column, difference, has_opposite| {
            let half = 0.5 * difference;
            if half != 0.0 {
                parts.push((row, column, half));
                if !has_opposite {
                    parts.push((column, row, -half));
                }
            }
        });
        Self(parts)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// N x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        self.0.iter().for_each(|&(row, column, value)| product[row] += value * x[column]);
        product
    }
}
