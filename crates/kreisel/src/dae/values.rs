//! Values of a solution at one time.

use super::{Point, Shape};

/// Values of all quantities of a solution at one time.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Values {
    /// Time t in s.
    pub time: f64,
    /// Configuration q, in the flat form of [`crate::lie::Space`].
    pub configuration: Vec<f64>,
    /// Velocity v (left-invariant).
    pub velocity: Vec<f64>,
    /// Acceleration v̇.
    pub acceleration: Vec<f64>,
    /// Multipliers λ of the holonomic constraints.
    pub multipliers: Vec<f64>,
    /// Multipliers ψ of the nonholonomic constraints.
    pub nonholonomic_multipliers: Vec<f64>,
    /// First-order (and algebraic) internal states c.
    pub internal_states: Vec<f64>,
    /// Their rates ċ; zero for algebraic ones.
    pub internal_rates: Vec<f64>,
    /// What the system remembers of the last accepted step.
    pub memory: Vec<f64>,
}

impl Values {
    /// Zeros of the sizes of a system.
    pub fn zeros(shape: &Shape) -> Self {
        let zeros = |count: usize| vec![0.0; count];
        Self {
            time: 0.0,
            configuration: zeros(shape.space.coordinate_count()),
            velocity: zeros(shape.velocity_count()),
            acceleration: zeros(shape.velocity_count()),
            multipliers: zeros(shape.constraint_count()),
            nonholonomic_multipliers: zeros(shape.nonholonomic_count()),
            internal_states: zeros(shape.state_count()),
            internal_rates: zeros(shape.state_count()),
            memory: zeros(shape.memory),
        }
    }

    /// The point at which the equations hold.
    pub fn point(&self) -> Point<'_> {
        Point {
            time: self.time,
            configuration: &self.configuration,
            velocity: &self.velocity,
            acceleration: &self.acceleration,
            multipliers: &self.multipliers,
            nonholonomic_multipliers: &self.nonholonomic_multipliers,
            internal_states: &self.internal_states,
            memory: &self.memory,
        }
    }
}
