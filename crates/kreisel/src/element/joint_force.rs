//! A force or torque along a coordinate between two frames: an actuator in a joint.
//!
//! A force f(t, signals) along the coordinate x adds −f ∇x to the residual: it pushes the second frame
//! forward and the first one back, and does the power f ẋ.

use super::signal::Signals;
use super::{Element, ElementFacts, Forces, LocalStateTangent, Quantity, Signal};
use crate::dae::TangentWeights;
use crate::kinematics::frame::PairMatrix;
use crate::kinematics::{
    Coordinate, FramePair, LocalTangent, MAX_NODES, Motion, NodeId, Relative, STIFFNESS_ONLY,
};
use crate::lie::Vector6;

/// A force along a coordinate, by a function of time and of measured quantities.
#[derive(Clone, Debug)]
pub struct JointForce {
    nodes: Vec<NodeId>,
    pair: FramePair,
    coordinate: Coordinate,
    force: Quantity,
    signals: Signals,
}

impl JointForce {
    /// A force along a coordinate between two frames on local nodes; the other nodes are those of the
    /// signals.
    pub fn new(
        nodes: Vec<NodeId>,
        pair: FramePair,
        coordinate: Coordinate,
        force: Quantity,
        signals: Vec<Signal>,
    ) -> Self {
        Self { nodes, pair, coordinate, force, signals: Signals::new(signals) }
    }

    /// The same with inputs from outside, by their initial values: functions see input k at `MAX_SIGNALS` − 1
    /// − k.
    pub fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        self.signals = self.signals.with_inputs(inputs);
        self
    }

    /// Force without its derivatives.
    fn value(&self, at: &Motion) -> f64 {
        let signals = self.signals.measure(at, at.memory);
        self.force.value(at.time, &signals[..self.signals.count()])
    }

    /// Force and its derivatives by the signals.
    fn value_and_slopes(&self, at: &Motion) -> (f64, [f64; super::MAX_SIGNALS]) {
        let signals = self.signals.measure(at, at.memory);
        self.force.evaluate(at.time, &signals[..self.signals.count()])
    }

    fn add_tangent(&self, at: &Motion, relative: &Relative, weights: TangentWeights, out: &mut LocalTangent) {
        let (force, slopes) = self.value_and_slopes(at);
        if weights.stiffness {
            let mut hessian = PairMatrix::zeros();
            self.coordinate.add_hessian(relative, -force, &mut hessian);
            self.pair.add_to_blocks(&hessian, out);
        }
        let gradient = self.coordinate.gradient(relative);
        for (signal, slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
            let mut wrenches = [Vector6::zeros(); MAX_NODES];
            self.pair.add_to_nodes(-slope, &gradient, &mut wrenches);
            self.signals.add_tangent(at, signal, &wrenches, weights, out);
        }
    }

    fn add_internal_tangent(&self, at: &Motion, relative: &Relative, out: &mut LocalStateTangent) {
        let (_, slopes) = self.value_and_slopes(at);
        let gradient = self.coordinate.gradient(relative);
        for (signal, slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
            if let Some(state) = self.signals.state_of(signal) {
                self.pair.add_to_nodes(-slope, &gradient, &mut out.force_by_state[state]);
            }
        }
    }
}

impl Element for JointForce {
    fn facts(&self) -> ElementFacts<'_> {
        self.signals.facts(&self.nodes)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let relative = self.pair.relative(at);
        for wrenches in [out.wrenches.take(), out.load.take()].into_iter().flatten() {
            self.pair.add_to_nodes(-self.value(at), &self.coordinate.gradient(&relative), wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            self.add_tangent(at, &relative, out.weights, tangent);
        }
        if let Some(stiffness) = out.load_stiffness.take() {
            self.add_tangent(at, &relative, STIFFNESS_ONLY, stiffness);
        }
        if let Some(tangent) = out.internal_tangent.take() {
            self.add_internal_tangent(at, &relative, tangent);
        }
        if let Some(power) = out.power.take() {
            power.applied = self.value(at) * self.coordinate.rate(&relative);
        }
    }

    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        self.signals.remember(at, memory);
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.force.corners(from, to)
    }
}
