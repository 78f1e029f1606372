//! Equations of states: ċ = A c + b u(t, signals), or 0 = … where a state is algebraic.
//!
//! A single state with a rate of its own is the case A = 0, b = 1; a transfer function, a block in state space and a
//! controller are linear ones with an algebraic output.

use super::signal::Signals;
use super::{
    Element, LocalForces, LocalStateTangent, LocalTangent, Motion, NodeId, Quantity, Signal, StateId,
};
use crate::dae::TangentWeights;

/// Equations of some states.
#[derive(Clone, Debug)]
pub struct StateEquations {
    nodes: Vec<NodeId>,
    count: usize,
    /// A, row by row.
    matrix: Vec<f64>,
    /// b.
    input: Vec<f64>,
    quantity: Quantity,
    signals: Signals,
}

impl StateEquations {
    /// Equations of these states with the matrix A (row by row), the column b and the input u; nodes are those of the signals.
    pub fn new(
        nodes: Vec<NodeId>,
        states: Vec<StateId>,
        matrix: Vec<f64>,
        input: Vec<f64>,
        quantity: Quantity,
        signals: Vec<Signal>,
    ) -> Self {
        let count = states.len();
        debug_assert_eq!(
            (matrix.len(), input.len()),
            (count * count, count),
            "A and b have the states' size"
        );
        Self { nodes, count, matrix, input, quantity, signals: Signals::after(states, signals) }
    }

    /// The same with inputs from outside, by their initial values: functions see input k at `MOST_SIGNALS` − 1 − k.
    pub fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        self.signals = self.signals.with_inputs(inputs);
        self
    }

    fn evaluate(&self, at: &Motion) -> (f64, [f64; super::MOST_SIGNALS]) {
        let signals = self.signals.measure(at, at.memory);
        self.quantity.evaluate(at.time, &signals[..self.signals.count()])
    }
}

impl Element for StateEquations {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn residual(&self, _: &Motion, _: &mut LocalForces) {}

    fn tangent(&self, _: &Motion, _: TangentWeights, _: &mut LocalTangent) {}

    fn states(&self) -> &[StateId] {
        self.signals.states()
    }

    fn rate_count(&self) -> usize {
        self.count
    }

    fn rates(&self, at: &Motion, out: &mut [f64]) {
        let signals = self.signals.measure(at, at.memory);
        let u = self.quantity.value(at.time, &signals[..self.signals.count()]);
        for ((out, row), input) in out.iter_mut().zip(self.matrix.chunks(self.count)).zip(&self.input) {
            *out = input * u + row.iter().zip(at.states).map(|(a, c)| a * c).sum::<f64>();
        }
    }

    fn state_tangent(&self, at: &Motion, _: TangentWeights, out: &mut LocalStateTangent) {
        let (_, slopes) = self.evaluate(at);
        for (i, row) in self.matrix.chunks(self.count).enumerate() {
            out.rate_by_state[i][..self.count].copy_from_slice(row);
        }
        for (signal, &slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
            match self.signals.state_of(signal) {
                Some(state) => {
                    for (i, input) in self.input.iter().enumerate() {
                        out.rate_by_state[i][state] += input * slope;
                    }
                }
                None => {
                    let (by_configuration, by_velocity) = self.signals.gradients(at, signal);
                    for (i, input) in self.input.iter().enumerate() {
                        for node in 0..at.nodes.len() {
                            out.rate_by_configuration[i][node] += input * slope * by_configuration[node];
                            out.rate_by_velocity[i][node] += input * slope * by_velocity[node];
                        }
                    }
                }
            }
        }
    }

    fn memory_count(&self) -> usize {
        self.signals.memory_count()
    }

    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        self.signals.remember(at, memory);
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.quantity.corners(from, to)
    }
}
