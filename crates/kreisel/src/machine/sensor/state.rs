//! Sensors of states and of inputs from outside.

use super::{Reading, Sensor, number};
use crate::element::StateId;
use crate::results::Channel;

/// Shows a state.
pub struct StateSensor {
    /// The state.
    pub state: StateId,
    /// Unit of the value.
    pub unit: String,
}

impl Sensor for StateSensor {
    fn channels(&self) -> Vec<Channel> {
        number(&self.unit)
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.push(at.point.internal_states[self.state.0]);
    }
}

/// Shows an input from outside.
pub struct InputSensor {
    /// The element that holds how much it differs from its initial value.
    pub element: usize,
    /// Its initial value.
    pub initial: f64,
}

impl Sensor for InputSensor {
    fn channels(&self) -> Vec<Channel> {
        number("1")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.push(self.initial + at.point.memory[at.system.element_memory(self.element).start]);
    }
}
