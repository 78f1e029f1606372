//! Functions of a system at a point: its matrices, forces and accelerations.

use nalgebra::DMatrix;

use super::compliance::compliance;
use super::error::ConsistencyError;
use super::kkt::{BlockSystem, Kkt, KktFailure};
use super::layout::RowKind;
use super::redundancy::Redundancy;
use crate::dae::{Dae, Point, ResidualValues, Tangent, TangentWeights, Values};
use crate::solve::block::BlockMatrix;

/// A system at a point, to be asked for what its equations hold there.
///
/// ```
/// use kreisel::constrained::At;
/// use kreisel::dae::{Dae, Values};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml");
/// let (system, initial) = kreisel::read(path)?.into_system();
/// let mut values = Values::zeros(&system.shape());
/// values.configuration.copy_from_slice(&initial.configuration);
/// let at = At::new(&system, &values);
/// assert_eq!(at.mass().to_dense().nrows(), system.shape().velocity_count());
/// // M v̇ + g + Bᵀλ = 0 and B v̇ + … = 0 together.
/// let moving = at.accelerations()?;
/// let left = At::new(&system, &moving).residual();
/// assert!(left.iter().all(|force| force.abs() < 1e-9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct At<'a> {
    dae: &'a dyn Dae,
    values: &'a Values,
}

/// Weights with which a tangent is the mass matrix alone.
const MASS: TangentWeights =
    TangentWeights { mass: 1.0, damping: 0.0, stiffness: false, remembered_forces: false };

impl<'a> At<'a> {
    /// A system at values of its sizes.
    pub fn new(dae: &'a dyn Dae, values: &'a Values) -> Self {
        Self { dae, values }
    }

    /// The mass matrix M = ∂r/∂v̇.
    pub fn mass(&self) -> BlockMatrix {
        self.tangent(MASS).dynamic
    }

    /// The constraint gradient B.
    pub fn gradient(&self) -> BlockMatrix {
        let mut gradient = BlockMatrix::zeros(self.dae.couplings(Some(&self.values.memory)).constraint_node);
        self.dae.gradient(&self.values.point(), &mut gradient);
        gradient
    }

    /// The equilibrium r = M v̇ + g + Bᵀλ + Aᵀψ.
    pub fn residual(&self) -> Vec<f64> {
        ResidualValues::at(self.dae, &self.dae.shape(), &self.values.point()).equilibrium
    }

    /// All derivatives.
    pub fn tangent(&self, weights: TangentWeights) -> Tangent {
        let couplings = self.dae.couplings(Some(&self.values.memory));
        Tangent::at(self.dae, &couplings, &self.values.point(), weights)
    }

    /// The values with the accelerations and multipliers that belong to position and velocity; of redundant
    /// multipliers the smallest.
    pub fn accelerations(&self) -> Result<Values, ConsistencyError> {
        let Values { time, configuration, velocity, .. } = self.values;
        let mut kkt = Kkt::new(self.dae, self.dae.shape().scales.mass);
        let found = Redundancy::find_moving(self.dae, *time, configuration, velocity);
        kkt.set_compliance(&compliance(self.dae, &found));
        kkt.set_states(&self.values.internal_states, &self.values.memory);
        let mut moving = self.values.clone();
        kkt.accelerate(self.dae, &mut moving).map_err(|failure| failure.at_start(self.dae, *time))?;
        Ok(moving)
    }

    /// The forces on all velocity coordinates that would give an acceleration, reactions left out: M v̇ + g.
    pub fn forces_for(&self, acceleration: &[f64]) -> Vec<f64> {
        let shape = self.dae.shape();
        let multipliers = vec![0.0; shape.constraint_count()];
        let nonholonomic_multipliers = vec![0.0; shape.nonholonomic_count()];
        let at = Point {
            acceleration,
            multipliers: &multipliers,
            nonholonomic_multipliers: &nonholonomic_multipliers,
            ..self.values.point()
        };
        ResidualValues::at(self.dae, &shape, &at).equilibrium
    }
}

/// Motions that drive one coordinate each, and what they weigh.
pub(crate) struct DrivenMotions {
    /// The velocity of each motion, a column each.
    pub velocities: DMatrix<f64>,
    /// Mass matrix of these motions.
    pub mass: DMatrix<f64>,
}

impl Kkt {
    /// The motions in which one of the constraints from `first` on has the rate 1 and all others hold.
    ///
    /// With M x + Bᵀμ = 0 the multipliers of such a motion are, with a minus, a column of the mass matrix.
    pub fn driven_motions(
        &mut self,
        dae: &dyn Dae,
        at: &Point,
        first: usize,
    ) -> Result<DrivenMotions, KktFailure> {
        let system: &mut BlockSystem = &mut self.system;
        system.factor(dae, at, None)?;
        let (size, rows) = (system.shape.velocity_count(), system.residual.violation.len());
        let count = rows - first;
        let (mut velocities, mut mass) = (DMatrix::zeros(size, count), DMatrix::zeros(count, count));
        for column in 0..count {
            system.residual.violation.fill(0.0);
            system.residual.nonholonomic.fill(0.0);
            system.residual.violation[first + column] = 1.0;
            system.unknowns.fill(0.0);
            system.constraint_rows(1.0);
            system.solve()?;
            velocities.column_mut(column).copy_from_slice(&system.unknowns[..size]);
            system.layout.gather(RowKind::Holonomic, 0, &system.unknowns, &mut system.residual.violation);
            let scale = -system.mass_scale;
            let multipliers = system.residual.violation[first..].iter().map(|multiplier| scale * multiplier);
            mass.column_mut(column).iter_mut().zip(multipliers).for_each(|(to, from)| *to = from);
        }
        // Rounding alone makes it unsymmetric.
        let mass = 0.5 * (&mass + mass.transpose());
        Ok(DrivenMotions { velocities, mass })
    }
}
