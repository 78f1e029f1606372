//! Points at which a system is without accelerations and reactions.

use super::{Point, Shape};

/// Zeros, and the states and the memory, to make points of: what is without accelerations and reactions.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// Zeros, one for each velocity coordinate.
    pub velocity: Vec<f64>,
    multipliers: Vec<f64>,
    nonholonomic: Vec<f64>,
    pub states: Vec<f64>,
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
            states: zeros(shape.state_count()),
            memory: zeros(shape.memory),
        }
    }

    /// With other states.
    pub fn with_states(mut self, states: &[f64]) -> Self {
        self.states.copy_from_slice(states);
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
            states: &self.states,
            memory: &self.memory,
        }
    }
}
