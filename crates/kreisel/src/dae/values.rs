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

    /// Takes over other values, without allocation where they have the same sizes.
    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        for (to, from) in self.vectors_mut().into_iter().zip(other.vectors()) {
            to.clone_from(from);
        }
    }

    /// All vectors, in the order of the fields.
    pub(crate) fn vectors(&self) -> [&Vec<f64>; 8] {
        [
            &self.configuration,
            &self.velocity,
            &self.acceleration,
            &self.multipliers,
            &self.nonholonomic_multipliers,
            &self.internal_states,
            &self.internal_rates,
            &self.memory,
        ]
    }

    /// All vectors, in the order of the fields.
    pub(crate) fn vectors_mut(&mut self) -> [&mut Vec<f64>; 8] {
        [
            &mut self.configuration,
            &mut self.velocity,
            &mut self.acceleration,
            &mut self.multipliers,
            &mut self.nonholonomic_multipliers,
            &mut self.internal_states,
            &mut self.internal_rates,
            &mut self.memory,
        ]
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

    /// The point with another time, configuration and velocity.
    pub(crate) fn point_at<'a>(
        &'a self,
        time: f64,
        configuration: &'a [f64],
        velocity: &'a [f64],
    ) -> Point<'a> {
        Point { time, configuration, velocity, ..self.point() }
    }
}

impl From<&Point<'_>> for Values {
    /// The values of a point, to be changed; rates of internal states are zero.
    fn from(at: &Point) -> Self {
        Self {
            time: at.time,
            configuration: at.configuration.to_vec(),
            velocity: at.velocity.to_vec(),
            acceleration: at.acceleration.to_vec(),
            multipliers: at.multipliers.to_vec(),
            nonholonomic_multipliers: at.nonholonomic_multipliers.to_vec(),
            internal_states: at.internal_states.to_vec(),
            internal_rates: vec![0.0; at.internal_states.len()],
            memory: at.memory.to_vec(),
        }
    }
}
