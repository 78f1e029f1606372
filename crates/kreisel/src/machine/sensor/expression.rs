//! Sensors of named expressions.

use std::sync::Arc;

use super::{NamedSensor, Reading, Sensor, number};
use crate::element::SignalFunction;
use crate::machine::MeasuredCoordinate;
use crate::model::Expression;
use crate::results::Channel;

/// Where the value of a variable of an expression comes from.
pub enum ExpressionInput {
    /// Time.
    Time,
    /// A value of a sensor.
    Signal(Box<NamedSensor>, usize),
    /// A function given from outside, with its arguments.
    Call(Arc<dyn SignalFunction>, Vec<ExpressionInput>),
}

impl ExpressionInput {
    /// Adds the angles whose turns are counted, in the order in which [`Self::value`] reads them.
    fn add_angles(&self, angles: &mut Vec<MeasuredCoordinate>) {
        match self {
            Self::Time => {}
            Self::Signal(sensor, _) => angles.extend(&sensor.angles),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.add_angles(angles)),
        }
    }

    /// The value at a moment; takes what its angles are nearest to off the front of `near`.
    fn value(&self, at: &Reading, near: &mut &[f64]) -> f64 {
        match self {
            Self::Time => at.point.time,
            Self::Signal(sensor, component) => {
                let (own, rest) = near.split_at(sensor.angles.len().min(near.len()));
                *near = rest;
                let mut values = Vec::new();
                sensor.read(at, own, &mut values);
                values[*component]
            }
            Self::Call(function, arguments) => {
                let values: Vec<f64> = arguments.iter().map(|argument| argument.value(at, near)).collect();
                function.value(at.point.time, &values)
            }
        }
    }
}

/// Shows an expression of time and of what other sensors show.
pub struct ExpressionSensor {
    /// The expression.
    pub expression: Expression,
    /// What each of its variables is.
    pub inputs: Vec<ExpressionInput>,
    /// Unit of the value.
    pub unit: String,
}

impl ExpressionSensor {
    /// The sensor under a name; it counts the turns of the angles that it reads.
    pub fn named(self, name: impl Into<String>) -> NamedSensor {
        let mut angles = Vec::new();
        self.inputs.iter().for_each(|input| input.add_angles(&mut angles));
        // Events name the expression itself.
        NamedSensor { angles, ..NamedSensor::new(name, self) }.of_the_past()
    }
}

impl Sensor for ExpressionSensor {
    fn channels(&self) -> Vec<Channel> {
        number(&self.unit)
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let mut near = at.near;
        let variables: Vec<f64> = self.inputs.iter().map(|input| input.value(at, &mut near)).collect();
        out.push(self.expression.value(&variables));
    }
}
