//! Few directions: a basis of the free ones, reduced matrices, and the state space.

use nalgebra::{Cholesky, Complex, DMatrix, DVector, Dyn};

use super::eigen::{general, symmetric};
use super::{Linearized, ModesError};

/// Eigenvalues s with their shapes in all velocity coordinates.
pub(super) type Pairs = Vec<(Complex<f64>, Vec<Complex<f64>>)>;

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

/// Singular values of B below this part of the largest belong to dependent constraints.
const DEPENDENT: f64 = 1e-6;

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

    /// All eigenpairs; `None` where a free direction has no mass.
    pub(super) fn dense_pairs(&self) -> Result<Option<Pairs>, ModesError> {
        let reduced = self.reduced(self.free_basis()?);
        let Some(mass) = definite(&reduced) else { return Ok(None) };
        if self.is_conservative() {
            return Ok(Some(conservative_pairs(&reduced, &mass)));
        }
        let free = reduced.mass.nrows();
        let mut state = DMatrix::zeros(2 * free, 2 * free);
        state.view_mut((0, free), (free, free)).fill_with_identity();
        state.view_mut((free, 0), (free, free)).copy_from(&-mass.solve(&reduced.stiffness));
        state.view_mut((free, free), (free, free)).copy_from(&-mass.solve(&reduced.damping));
        let Some((values, vectors)) = general(&state) else {
            return Err(ModesError::NotConverged { found: 0, wanted: free });
        };
        let basis = reduced.basis.map(|value| Complex::new(value, 0.0));
        let shape = |column: usize| (&basis * vectors.view((0, column), (free, 1))).as_slice().to_vec();
        Ok(Some(values.into_iter().enumerate().map(|(column, s)| (s, shape(column))).collect()))
    }

    /// An orthonormal basis of ker B in scaled coordinates, as columns in plain ones.
    pub(super) fn free_basis(&self) -> Result<DMatrix<f64>, ModesError> {
        let count = self.velocity_count();
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
        let (squares, vectors) = symmetric(gradient.tr_mul(&gradient));
        let largest = squares.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let free = squares.iter().take_while(|square| **square <= DEPENDENT * DEPENDENT * largest).count();
        if free == 0 {
            return Err(ModesError::NoFreedom);
        }
        let mut basis = vectors.columns(0, free).into_owned();
        for (mut row, scale) in basis.row_iter_mut().zip(&self.coordinate_scales) {
            row *= *scale;
        }
        debug_assert_eq!(basis.nrows(), count);
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

/// Pivots of the mass below this part of the largest are missing masses.
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

/// λ = −s² of the symmetric problem K x = λ M x.
fn conservative_pairs(reduced: &Reduced, mass: &Cholesky<f64, Dyn>) -> Pairs {
    let lower = mass.l();
    let half = |matrix: &DMatrix<f64>| lower.solve_lower_triangular(matrix).expect("the mass is definite");
    let stiffness = 0.5 * (&reduced.stiffness + reduced.stiffness.transpose());
    let scaled = half(&half(&stiffness).transpose());
    let (values, vectors) = symmetric(0.5 * (&scaled + scaled.transpose()));
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let back = lower.transpose().solve_upper_triangular(&vectors).expect("the mass is definite");
    let shapes = &reduced.basis * back;
    (values.iter().enumerate())
        .map(|(column, &value)| {
            let shape = shapes.column(column).iter().map(|x| Complex::new(*x, 0.0)).collect();
            (undamped(value, 1e-13 * largest), shape)
        })
        .collect()
}

/// s of s² = −λ; below round-off λ is zero.
pub(super) fn undamped(value: f64, round_off: f64) -> Complex<f64> {
    if value.abs() <= round_off {
        Complex::new(0.0, 0.0)
    } else if value > 0.0 {
        Complex::new(0.0, value.sqrt())
    } else {
        Complex::new((-value).sqrt(), 0.0)
    }
}
