//! Small motions with first-order and algebraic states.
//!
//! With the changes c of first-order and s of algebraic states the linearised equations are
//!
//! ```text
//! M ẍ + C ẋ + K x + Bᵀ δλ + F_c c + F_s s = 0,   B x = 0
//! ċ = H (x, ẋ, c, s, δλ),   0 = G (x, ẋ, c, s, δλ)
//! ```
//!
//! On the free directions x = N ξ the multipliers vanish from Nᵀ of the balance; where rates read them they
//! are the least-norm ones, δλ = −P (M ẍ + C ẋ + K x + F c + F s) with the pseudoinverse P of Bᵀ. What is
//! left is solved for ξ̈ and s.

use nalgebra::{Complex, DMatrix};

use super::eigen::{general, pseudoinverse};
use super::search::{Pair, without_round_off};
use super::state_space::DEPENDENT;
use super::{Linearized, ModesError};
use crate::dae::turning::add_turned;
use crate::dae::{Shape, Tangent};
use crate::solve::block::BlockMatrix;

/// Most velocity coordinates for which dense matrices are made.
const MAX_DENSE: usize = 600;

/// What states add to the linearised equations.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTerms {
    /// Which states are algebraic.
    pub algebraic: Vec<bool>,
    /// Forces by states.
    pub force: DMatrix<f64>,
    /// Rates by ẋ.
    pub by_rate: DMatrix<f64>,
    /// Rates by x.
    pub by_position: DMatrix<f64>,
    /// Rates by states.
    pub by_state: DMatrix<f64>,
    /// Rates by multipliers.
    pub by_multiplier: DMatrix<f64>,
}

/// ẏ = A y + E f on the free directions.
pub(super) struct FirstOrder {
    pub state: DMatrix<f64>,
    pub input: DMatrix<f64>,
}

impl StateTerms {
    /// Reads them from a tangent; the velocity turns what rates see of positions.
    pub(super) fn of(shape: &Shape, velocity: &[f64], tangent: &Tangent) -> Self {
        let mut by_position: BlockMatrix = tangent.state_stiffness.clone();
        add_turned(&shape.space, velocity, 1.0, &tangent.state_damping, &mut by_position);
        Self {
            algebraic: shape.algebraic_states().collect(),
            force: tangent.state_force.to_dense(),
            by_rate: tangent.state_damping.to_dense(),
            by_position: by_position.to_dense(),
            by_state: tangent.state_state.to_dense(),
            by_multiplier: tangent.state_reaction.to_dense(),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        [&self.force, &self.by_rate, &self.by_position, &self.by_state, &self.by_multiplier]
            .iter()
            .all(|matrix| matrix.iter().all(|value| value.is_finite()))
    }

    /// Which states are first-order ones.
    pub(super) fn differential(&self) -> Vec<usize> {
        (0..self.algebraic.len()).filter(|&state| !self.algebraic[state]).collect()
    }
}

impl Linearized {
    /// All eigenpairs: shapes in the velocity coordinates, followed by all states (zeros for algebraic ones).
    pub(super) fn pairs_with(&self, terms: &StateTerms) -> Result<Vec<Pair>, ModesError> {
        if self.velocity_count() > MAX_DENSE {
            return Err(ModesError::TooLarge(self.velocity_count()));
        }
        let basis = match self.free_basis() {
            // A machine that cannot move may still have states.
            Err(ModesError::NoFreedom) => DMatrix::zeros(self.velocity_count(), 0),
            basis => basis?,
        };
        let FirstOrder { state, .. } = self.first_order(terms, &basis)?;
        let (free, differential) = (basis.ncols(), terms.differential());
        if state.nrows() == 0 {
            return Err(ModesError::NoFreedom);
        }
        let found = general(&state).ok_or(ModesError::NotFinite)?;
        let vectors = &found.vectors;
        let basis = basis.map(|value| Complex::new(value, 0.0));
        let shape = |column: usize| {
            let mut shape = (&basis * vectors.view((0, column), (free, 1))).as_slice().to_vec();
            let first = shape.len();
            shape.resize(first + terms.algebraic.len(), Complex::default());
            for (i, &state) in differential.iter().enumerate() {
                shape[first + state] = vectors[(2 * free + i, column)];
            }
            shape
        };
        let pairs = found.values.iter().zip(&found.residuals).enumerate();
        Ok(pairs
            .map(|(column, (s, residual))| Pair {
                eigenvalue: without_round_off(*s),
                shape: shape(column),
                residual: *residual,
            })
            .collect())
    }

    /// The system of first order on the free directions.
    pub(super) fn first_order(
        &self,
        terms: &StateTerms,
        basis: &DMatrix<f64>,
    ) -> Result<FirstOrder, ModesError> {
        let [mass, damping, stiffness] =
            [&self.mass, &self.damping, &self.stiffness].map(BlockMatrix::to_dense);
        let (free, coordinates) = (basis.ncols(), self.velocity_count());
        let differential = terms.differential();
        let algebraic: Vec<usize> = (0..terms.algebraic.len()).filter(|&i| terms.algebraic[i]).collect();
        let count = 2 * free + differential.len();
        // Columns: y = (ξ, ξ̇, c), then f.
        let forces = side_by_side(&[
            &stiffness * basis,
            damping * basis,
            terms.force.select_columns(&differential),
            -DMatrix::identity(coordinates, coordinates),
        ]);
        let rates = side_by_side(&[
            &terms.by_position * basis,
            &terms.by_rate * basis,
            terms.by_state.select_columns(&differential),
            DMatrix::zeros(terms.algebraic.len(), coordinates),
        ]);
        // Multipliers: rates by them are rates by the forces that they balance.
        let by_force = -&terms.by_multiplier * self.pseudoinverse()?;
        let rates = rates + &by_force * &forces;
        let by_acceleration = &by_force * &mass * basis;
        let force_of_algebraic = terms.force.select_columns(&algebraic);
        let by_algebraic = terms.by_state.select_columns(&algebraic) + &by_force * &force_of_algebraic;
        // Unknowns: ξ̈ and s.
        let size = free + algebraic.len();
        let mut matrix = DMatrix::zeros(size, size);
        matrix.view_mut((0, 0), (free, free)).copy_from(&(basis.transpose() * &mass * basis));
        matrix.view_mut((0, free), (free, algebraic.len())).copy_from(&basis.tr_mul(&force_of_algebraic));
        matrix
            .view_mut((free, 0), (algebraic.len(), free))
            .copy_from(&by_acceleration.select_rows(&algebraic));
        matrix
            .view_mut((free, free), (algebraic.len(), algebraic.len()))
            .copy_from(&by_algebraic.select_rows(&algebraic));
        let mut right = DMatrix::zeros(size, count + coordinates);
        right.view_mut((0, 0), (free, count + coordinates)).copy_from(&-basis.tr_mul(&forces));
        right
            .view_mut((free, 0), (algebraic.len(), count + coordinates))
            .copy_from(&-rates.select_rows(&algebraic));
        let solved = solve(matrix, right)?;
        let (acceleration, outputs) = (solved.rows(0, free), solved.rows(free, algebraic.len()));
        let internal_rates = rates.select_rows(&differential)
            + by_acceleration.select_rows(&differential) * acceleration
            + by_algebraic.select_rows(&differential) * outputs;
        let mut whole = DMatrix::zeros(count, count + coordinates);
        whole.view_mut((0, free), (free, free)).fill_with_identity();
        whole.view_mut((free, 0), (free, count + coordinates)).copy_from(&acceleration);
        whole.rows_mut(2 * free, differential.len()).copy_from(&internal_rates);
        Ok(FirstOrder {
            state: whole.columns(0, count).into_owned(),
            input: whole.columns(count, coordinates).into_owned(),
        })
    }

    /// P with δλ = P g for the least-norm solution of Bᵀ δλ = g.
    fn pseudoinverse(&self) -> Result<DMatrix<f64>, ModesError> {
        if self.constraint_count() == 0 {
            return Ok(DMatrix::zeros(0, self.velocity_count()));
        }
        pseudoinverse(&self.gradient.to_dense().transpose(), DEPENDENT).ok_or(ModesError::NotFinite)
    }
}

/// Pivots below this part of the largest are those of a singular matrix: rows are scaled to one, and some
/// thousand ε are rounding.
const SINGULAR: f64 = 1e-12;

/// Solves equations of different units.
fn solve(mut matrix: DMatrix<f64>, mut right: DMatrix<f64>) -> Result<DMatrix<f64>, ModesError> {
    for row in 0..matrix.nrows() {
        let largest = matrix.row(row).amax();
        if largest <= 0.0 {
            return Err(ModesError::Undetermined);
        }
        matrix.row_mut(row).unscale_mut(largest);
        right.row_mut(row).unscale_mut(largest);
    }
    let factors = matrix.full_piv_lu();
    let pivots = factors.u().diagonal().abs();
    if !pivots.is_empty() && pivots.min() <= SINGULAR * pivots.max() {
        return Err(ModesError::Undetermined);
    }
    factors.solve(&right).ok_or(ModesError::Undetermined)
}

fn side_by_side(parts: &[DMatrix<f64>]) -> DMatrix<f64> {
    let rows = parts.first().map_or(0, DMatrix::nrows);
    let columns = parts.iter().map(DMatrix::ncols).sum();
    let mut whole = DMatrix::zeros(rows, columns);
    let mut first = 0;
    for part in parts {
        whole.columns_mut(first, part.ncols()).copy_from(part);
        first += part.ncols();
    }
    whole
}
