//! Points at which a system is without accelerations and reactions.

use super::{Point, Shape};

/// Zeros, and the states and the memory, to make points of: what is without accelerations and reactions.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// Zeros, one for each velocity coordinate.
    pub velocity: Vec<f64>,
    multipliers: Vec<f64>,
    nonholonomic: Vec<f64>,
    pub internal_states: Vec<f64>,
    pub memory: Vec<f64>,
}

impl Rest {
    /// With states and a memory of zeros.
    pub fn new(shape: &Shape) -> Self {
        let zeros = |count: usize| vec![0.0; count];
        Self {
            velocity: zeros(shape.velocity_count()),
            multipliers: zeros(shape.constraint_count()),
            nonholonomic: zeros(shape.nonholonomic_count()),
            internal_states: zeros(shape.state_count()),
            memory: zeros(shape.memory),
        }
    }

    /// With other states.
    pub fn with_internal_states(mut self, internal_states: &[f64]) -> Self {
        self.internal_states.copy_from_slice(internal_states);
        self
    }

    pub fn point<'a>(&'a self, time: f64, configuration: &'a [f64], velocity: &'a [f64]) -> Point<'a> {
        Point {
            time,
            configuration,
            velocity,
            acceleration: &self.velocity,
            multipliers: &self.multipliers,
            nonholonomic_multipliers: &self.nonholonomic,
            internal_states: &self.internal_states,
            memory: &self.memory,
        }
    }
}
