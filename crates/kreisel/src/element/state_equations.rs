//! Equations of states: ċ = A c + B u(t, signals), or 0 = … where a state is algebraic.
//!
//! A single state with a rate of its own is the case A = 0, B = 1; a transfer function, a block in state
//! space and a controller are linear ones with algebraic outputs.

use super::signal::Signals;
use super::{Element, ElementFacts, Forces, LocalStateTangent, Quantity, Signal, StateId};
use crate::kinematics::{Motion, NodeId};
use crate::lie::Vector6;

/// Equations of some states.
#[derive(Clone, Debug)]
pub struct StateEquations {
    nodes: Vec<NodeId>,
    count: usize,
    /// A, row by row.
    matrix: Vec<f64>,
    /// B, row by row.
    input: Vec<f64>,
    /// u.
    quantities: Vec<Quantity>,
    signals: Signals,
}

impl StateEquations {
    /// Equations of these states with the matrices A and B (row by row) and the inputs u; nodes are those of
    /// the signals.
    pub fn new(
        nodes: Vec<NodeId>,
        internal_states: Vec<StateId>,
        matrix: Vec<f64>,
        input: Vec<f64>,
        quantities: Vec<Quantity>,
        signals: Vec<Signal>,
    ) -> Self {
        let count = internal_states.len();
        debug_assert_eq!(
            (matrix.len(), input.len()),
            (count * count, count * quantities.len()),
            "A and B have the sizes of states and inputs"
        );
        Self { nodes, count, matrix, input, quantities, signals: Signals::after(internal_states, signals) }
    }

    /// The same with inputs from outside, by their initial values: functions see input k at `MAX_SIGNALS` − 1
    /// − k.
    pub fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        self.signals = self.signals.with_inputs(inputs);
        self
    }

    /// Adds what the slope of input k by a signal means for the rates.
    fn add_slope(&self, at: &Motion, k: usize, signal: usize, slope: f64, out: &mut LocalStateTangent) {
        if let Some(state) = self.signals.state_of(signal) {
            self.column(k).for_each(|(i, input)| out.rate_by_state[i][state] += input * slope);
            return;
        }
        let (by_configuration, by_velocity) = self.signals.gradients(at, signal);
        for (i, input) in self.column(k) {
            for node in 0..at.nodes.len() {
                out.rate_by_configuration[i][node] += input * slope * by_configuration[node];
                out.rate_by_velocity[i][node] += input * slope * by_velocity[node];
            }
        }
    }

    fn write_rates(&self, at: &Motion, out: &mut [f64]) {
        let signals = self.signals.measure(at, at.memory);
        for (out, row) in out.iter_mut().zip(self.matrix.chunks(self.count)) {
            *out = row.iter().zip(at.internal_states).map(|(a, c)| a * c).sum::<f64>();
        }
        for (k, quantity) in self.quantities.iter().enumerate() {
            let u = quantity.value(at.time, &signals[..self.signals.count()]);
            self.column(k).for_each(|(i, input)| out[i] += input * u);
        }
    }

    fn add_internal_tangent(&self, at: &Motion, out: &mut LocalStateTangent) {
        for (i, row) in self.matrix.chunks(self.count).enumerate() {
            out.rate_by_state[i][..self.count].copy_from_slice(row);
        }
        let signals = self.signals.measure(at, at.memory);
        for (k, quantity) in self.quantities.iter().enumerate() {
            let (_, slopes) = quantity.evaluate(at.time, &signals[..self.signals.count()]);
            for (signal, &slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
                self.add_slope(at, k, signal, slope, out);
            }
        }
    }

    /// Column k of B.
    fn column(&self, k: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.input.chunks(self.quantities.len()).map(move |row| row[k]).enumerate()
    }
}

impl Element for StateEquations {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts { rate_count: self.count, ..self.signals.facts(&self.nodes) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        // Nothing pushes.
        out.tangent = None;
        if let Some(rates) = out.rates.take() {
            self.write_rates(at, rates);
        }
        if let Some(tangent) = out.internal_tangent.take() {
            self.add_internal_tangent(at, tangent);
        }
    }

    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        self.signals.remember(at, memory);
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.quantities.iter().flat_map(|quantity| quantity.corners(from, to)).collect()
    }
}
