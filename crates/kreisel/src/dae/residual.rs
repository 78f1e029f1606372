//! The equations at a point.

use super::{Dae, Point, Shape};

/// What [`Dae::residual`] fills; every slice holds zeros on entry.
#[derive(Debug)]
pub struct Residual<'a> {
    /// Equilibrium r = M v̇ + g + Bᵀλ + Aᵀψ.
    pub equilibrium: &'a mut [f64],
    /// Violation Φ of the holonomic constraints.
    pub violation: &'a mut [f64],
    /// Violation κ of the nonholonomic constraints.
    pub nonholonomic: &'a mut [f64],
    /// Rates h of the states (for an algebraic state: the residual that must vanish).
    pub internal_rates: &'a mut [f64],
}

/// The equations in arrays of their own.
#[derive(Clone, Debug)]
pub(crate) struct ResidualValues {
    pub equilibrium: Vec<f64>,
    pub violation: Vec<f64>,
    pub nonholonomic: Vec<f64>,
    pub internal_rates: Vec<f64>,
}

impl ResidualValues {
    /// Zeros of the sizes of a system.
    pub fn zeros(shape: &Shape) -> Self {
        Self {
            equilibrium: vec![0.0; shape.velocity_count()],
            violation: vec![0.0; shape.constraint_count()],
            nonholonomic: vec![0.0; shape.nonholonomic_count()],
            internal_rates: vec![0.0; shape.state_count()],
        }
    }

    /// The equations of a system at a point.
    pub fn at(dae: &dyn Dae, shape: &Shape, at: &Point) -> Self {
        let mut values = Self::zeros(shape);
        dae.residual(at, &mut values.cleared());
        values
    }

    /// Room for the equations, which holds zeros.
    pub fn cleared(&mut self) -> Residual<'_> {
        let Self { equilibrium, violation, nonholonomic, internal_rates } = self;
        for values in [&mut *equilibrium, violation, nonholonomic, internal_rates] {
            values.fill(0.0);
        }
        Residual { equilibrium, violation, nonholonomic, internal_rates }
    }
}
