//! A basis of the free directions, reduced matrices, and the state space.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::eigen::null_space;
use super::{Linearized, ModesError};

/// Small motions as a system of first order: ẏ = A y + E f with y = (ξ, ξ̇, c) and x = N ξ.
///
/// The coordinates ξ are velocity coordinates of the machine, as many as are free; c are the first-order
/// states; f are generalised forces on all velocity coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// A: twice as many rows as free coordinates, and one per first-order state.
    pub state: DMatrix<f64>,
    /// E.
    pub input: DMatrix<f64>,
    /// N: all velocity coordinates from the free ones.
    pub basis: DMatrix<f64>,
    /// Which velocity coordinates the free ones are.
    pub coordinates: Vec<usize>,
    /// Which of the states are first-order ones, at the end of y.
    pub internal_states: Vec<usize>,
}

/// Rows of B that are made up of others but for this part are dependent constraints. A choice between
/// rounding, 1e-15, and rows that differ on purpose.
pub(super) const DEPENDENT: f64 = 1e-6;

/// Matrices on the free directions.
struct Reduced {
    mass: DMatrix<f64>,
    damping: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    basis: DMatrix<f64>,
}

impl Linearized {
    /// The state space on the free directions; `None` where a free direction has no mass.
    pub fn state_space(&self) -> Result<Option<StateSpace>, ModesError> {
        let (basis, coordinates) = self.named_basis()?;
        if let Some(terms) = &self.internal_states {
            let first_order = self.first_order(terms, &basis)?;
            let (internal_states, state, input) =
                (terms.differential(), first_order.state, first_order.input);
            return Ok(Some(StateSpace { state, input, basis, coordinates, internal_states }));
        }
        let reduced = self.reduced(basis);
        let free = coordinates.len();
        let Some(mass) = definite(&reduced) else { return Ok(None) };
        let mut state = DMatrix::zeros(2 * free, 2 * free);
        state.view_mut((0, free), (free, free)).fill_with_identity();
        state.view_mut((free, 0), (free, free)).copy_from(&-mass.solve(&reduced.stiffness));
        state.view_mut((free, free), (free, free)).copy_from(&-mass.solve(&reduced.damping));
        let mut input = DMatrix::zeros(2 * free, self.velocity_count());
        input
            .view_mut((free, 0), (free, self.velocity_count()))
            .copy_from(&mass.solve(&reduced.basis.transpose()));
        Ok(Some(StateSpace { state, input, basis: reduced.basis, coordinates, internal_states: Vec::new() }))
    }

    /// An orthonormal basis of ker B in scaled coordinates, as columns in plain ones.
    pub(super) fn free_basis(&self) -> Result<DMatrix<f64>, ModesError> {
        if self.constraint_count() == 0 {
            return Ok(DMatrix::from_diagonal(&DVector::from_row_slice(&self.coordinate_scales)));
        }
        let mut gradient = self.gradient.to_dense();
        for (mut column, scale) in gradient.column_iter_mut().zip(&self.coordinate_scales) {
            column *= *scale;
        }
        for mut row in gradient.row_iter_mut() {
            let norm = row.norm();
            if norm > 0.0 {
                row /= norm;
            }
        }
        let mut basis = null_space(&gradient, DEPENDENT);
        if basis.ncols() == 0 {
            return Err(ModesError::NoFreedom);
        }
        for (mut row, scale) in basis.row_iter_mut().zip(&self.coordinate_scales) {
            row *= *scale;
        }
        Ok(basis)
    }

    /// A basis of ker B whose coordinates are some of the velocity coordinates.
    fn named_basis(&self) -> Result<(DMatrix<f64>, Vec<usize>), ModesError> {
        let mut basis = self.free_basis()?;
        let free = basis.ncols();
        let mut chosen: Vec<usize> = Vec::with_capacity(free);
        for column in 0..free {
            // The row that is largest in its own unit leads; it becomes a row of the identity.
            let size = |row: usize| {
                let largest = basis.row(row).columns(column, free - column).amax();
                largest / self.coordinate_scales[row]
            };
            let rows = (0..basis.nrows()).filter(|row| !chosen.contains(row));
            let row = rows.max_by(|&a, &b| size(a).total_cmp(&size(b))).unwrap_or(0);
            let lead = (column..free)
                .max_by(|&a, &b| basis[(row, a)].abs().total_cmp(&basis[(row, b)].abs()))
                .unwrap_or(column);
            basis.swap_columns(column, lead);
            let inverse = 1.0 / basis[(row, column)];
            basis.column_mut(column).scale_mut(inverse);
            let leading = basis.column(column).into_owned();
            for other in (0..free).filter(|other| *other != column) {
                let factor = basis[(row, other)];
                basis.column_mut(other).axpy(-factor, &leading, 1.0);
            }
            chosen.push(row);
        }
        Ok((basis, chosen))
    }

    fn reduced(&self, basis: DMatrix<f64>) -> Reduced {
        let project = |matrix: &crate::solve::block::BlockMatrix| {
            let mut product = DMatrix::zeros(basis.nrows(), basis.ncols());
            for (x, mut y) in basis.column_iter().zip(product.column_iter_mut()) {
                let mut column = vec![0.0; x.len()];
                matrix.multiply_add(1.0, x.as_slice(), &mut column);
                y.copy_from_slice(&column);
            }
            basis.tr_mul(&product)
        };
        Reduced {
            mass: project(&self.mass),
            damping: project(&self.damping),
            stiffness: project(&self.stiffness),
            basis,
        }
    }
}

/// Pivots of the mass below this part of the largest are missing masses: some hundred ε.
const MASSLESS: f64 = 1e-13;

/// Factors of the mass, if it is definite.
fn definite(reduced: &Reduced) -> Option<Cholesky<f64, Dyn>> {
    let mass = 0.5 * (&reduced.mass + reduced.mass.transpose());
    let largest = mass.diagonal().amax();
    let factors = Cholesky::new(mass)?;
    let least =
        factors.l_dirty().diagonal().iter().fold(f64::INFINITY, |least, value| least.min(value * value));
    (least > MASSLESS * largest).then_some(factors)
}
