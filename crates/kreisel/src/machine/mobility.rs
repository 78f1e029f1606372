//! Degrees of freedom of a machine, by the rank of its constraint gradient.

use nalgebra::DVector;

use crate::dae::{Dae, Point};
use crate::solve::block::BlockMatrix;
use crate::system::System;

/// Equations up to which the rank is computed; beyond, a dense method would take too long.
const MOST_EQUATIONS: usize = 1500;

/// A row whose part outside of the rows before it is smaller than this, of a row of length one, is implied by them.
const DEPENDENT: f64 = 1e-9;

/// How a machine can move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mobility {
    /// Number of velocity coordinates.
    pub velocity_coordinates: usize,
    /// Number of constraint equations.
    pub equations: usize,
    /// Number of independent equations; absent if there are too many to be analysed.
    pub independent: Option<usize>,
    /// Joints with equations that those before them imply, and how many.
    pub implied: Vec<(usize, usize)>,
}

impl Mobility {
    /// Degrees of freedom; without an analysis all equations count as independent.
    pub fn degrees_of_freedom(&self) -> usize {
        self.velocity_coordinates.saturating_sub(self.independent.unwrap_or(self.equations))
    }

    /// Analyses a machine at a configuration.
    ///
    /// Rows of B are made orthogonal one after the other (Gram and Schmidt, each twice); a row of which nothing is
    /// left is implied by those before it.
    pub fn new(system: &System, at: &Point) -> Self {
        let shape = system.shape();
        let (columns, rows) = (shape.velocity_count(), shape.constraint_count());
        let mut mobility =
            Self { velocity_coordinates: columns, equations: rows, independent: None, implied: Vec::new() };
        if rows > MOST_EQUATIONS {
            return mobility;
        }
        let mut gradient = BlockMatrix::zeros(system.couplings().constraint_node.clone());
        system.gradient(at, &mut gradient);
        let dense = gradient.to_dense();
        let mut basis: Vec<DVector<f64>> = Vec::new();
        for joint in 0..system.joint_count() {
            let before = basis.len();
            let joint_rows = system.joint_rows(joint);
            for row in joint_rows.clone() {
                let row: DVector<f64> = dense.row(row).transpose();
                basis.extend(outside_part(row, &basis));
            }
            let implied = joint_rows.len() - (basis.len() - before);
            if implied > 0 {
                mobility.implied.push((joint, implied));
            }
        }
        mobility.independent = Some(basis.len());
        mobility
    }
}

/// The part of a row that lies outside of an orthonormal basis, scaled to one; nothing if the row is implied.
fn outside_part(row: DVector<f64>, basis: &[DVector<f64>]) -> Option<DVector<f64>> {
    let mut rest = row.try_normalize(0.0)?;
    // Twice, because the first round leaves rounding errors as large as what it cancels.
    for _ in 0..2 {
        for direction in basis {
            let along = direction.dot(&rest);
            rest.axpy(-along, direction, 1.0);
        }
    }
    rest.try_normalize(DEPENDENT)
}
