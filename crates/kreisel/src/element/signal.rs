//! Measured quantities, and forces as functions of them.

use std::fmt::Debug;
use std::sync::Arc;

use super::{ElementFacts, StateId};
use crate::dae::TangentWeights;
use crate::kinematics::{Coordinate, FramePair, LocalTangent, MAX_NODES, Motion, NodeId};
use crate::lie::Vector6;

/// A measured quantity.
#[derive(Clone, Debug)]
pub enum Signal {
    /// A coordinate between two frames, or its rate.
    Motion(Box<MotionSignal>),
    /// A state.
    State(StateId),
}

/// A coordinate between two frames, or its rate.
#[derive(Clone, Debug)]
pub struct MotionSignal {
    /// The frames, by local node.
    pub pair: FramePair,
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Whether its rate is meant.
    pub rate: bool,
}

/// A function of time and of signals, with its derivatives by the signals.
pub trait SignalFunction: Send + Sync + Debug {
    /// Value; derivatives by the signals are written into `slopes`.
    fn evaluate(&self, time: f64, signals: &[f64], slopes: &mut [f64]) -> f64;
    /// The same where derivatives by some of the signals alone are wanted; the default finds all.
    fn evaluate_some(&self, time: f64, signals: &[f64], wanted: &[bool], slopes: &mut [f64]) -> f64 {
        let _ = wanted;
        self.evaluate(time, signals, slopes)
    }
    /// Value alone; the default computes the derivatives too.
    fn value(&self, time: f64, signals: &[f64]) -> f64 {
        let mut slopes = [0.0; MAX_SIGNALS + 1];
        self.evaluate(time, signals, &mut slopes[..signals.len()])
    }
    /// Times between two others at which the function is not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}

/// One component of a force.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// A number.
    Constant(f64),
    /// A function of time and of the element's signals.
    Function(Arc<dyn SignalFunction>),
}

/// Most signals that one force may use: more than positions, velocities and joints of [`MAX_NODES`] bodies.
pub const MAX_SIGNALS: usize = 32;

impl Quantity {
    /// Value, and derivatives by the signals.
    pub(in crate::element) fn evaluate(&self, time: f64, signals: &[f64]) -> (f64, [f64; MAX_SIGNALS]) {
        let mut slopes = [0.0; MAX_SIGNALS];
        let value = match self {
            Self::Constant(value) => *value,
            Self::Function(function) => function.evaluate(time, signals, &mut slopes[..signals.len()]),
        };
        (value, slopes)
    }

    /// Value alone.
    pub(in crate::element) fn value(&self, time: f64, signals: &[f64]) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Function(function) => function.value(time, signals),
        }
    }

    /// Times between two others at which the quantity is not smooth.
    pub(in crate::element) fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Function(function) => function.corners(from, to),
        }
    }
}

/// The signals of an element, and its inputs, which are set from outside.
///
/// Functions see signals from the first place on and inputs from the last one down: input k at `MAX_SIGNALS`
/// − 1 − k. The element remembers the full turns of angles, and of each input how much it differs from its
/// initial value.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    sources: Vec<SignalSource>,
    /// The states that are read: an element's own, then those of signals.
    internal_states: Vec<StateId>,
    /// Initial values of the inputs.
    inputs: Vec<f64>,
}

/// Where the value of a signal comes from.
#[derive(Clone, Debug)]
enum SignalSource {
    Motion(Box<MotionSignal>),
    /// A state, by its place among those of the element.
    State(usize),
}

impl Signals {
    pub(super) fn new(signals: Vec<Signal>) -> Self {
        Self::after(Vec::new(), signals)
    }

    /// Signals of an element with states of its own.
    pub(super) fn after(mut internal_states: Vec<StateId>, signals: Vec<Signal>) -> Self {
        debug_assert!(signals.len() <= MAX_SIGNALS, "at most {MAX_SIGNALS} signals");
        let source = |signal| match signal {
            Signal::Motion(signal) => SignalSource::Motion(signal),
            Signal::State(state) => {
                let known = internal_states.iter().position(|known| *known == state);
                SignalSource::State(known.unwrap_or_else(|| {
                    internal_states.push(state);
                    internal_states.len() - 1
                }))
            }
        };
        let sources = signals.into_iter().map(source).collect();
        Self { sources, internal_states, inputs: Vec::new() }
    }

    pub(super) fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        debug_assert!(self.sources.len() + inputs.len() <= MAX_SIGNALS, "at most {MAX_SIGNALS} signals");
        self.inputs = inputs;
        self
    }

    /// Number of values that functions of the signals take.
    pub(super) fn count(&self) -> usize {
        if self.inputs.is_empty() { self.sources.len() } else { MAX_SIGNALS }
    }

    /// What an element on these nodes is that reads the signals.
    pub(super) fn facts<'a>(&'a self, nodes: &'a [NodeId]) -> ElementFacts<'a> {
        let (internal_states, memory) = (self.internal_states.as_slice(), self.memory_count());
        ElementFacts { internal_states, memory, ..ElementFacts::on(nodes) }
    }

    /// The state that a signal shows, by its place among those of the element.
    pub(super) fn state_of(&self, signal: usize) -> Option<usize> {
        match self.sources[signal] {
            SignalSource::State(state) => Some(state),
            SignalSource::Motion(_) => None,
        }
    }

    /// Number of signals that depend on motion and states; they come first.
    pub(super) fn measured_count(&self) -> usize {
        self.sources.len()
    }

    /// Value of each signal; `memory` holds the angles of the last accepted step and the changes of the
    /// inputs.
    pub(super) fn measure(&self, at: &Motion, memory: &[f64]) -> [f64; MAX_SIGNALS] {
        let mut values = [0.0; MAX_SIGNALS];
        let mut turning = 0;
        for (value, source) in values.iter_mut().zip(&self.sources) {
            let signal = match source {
                SignalSource::Motion(signal) => signal,
                SignalSource::State(state) => {
                    *value = at.internal_states[*state];
                    continue;
                }
            };
            let relative = signal.pair.relative(at);
            let mut near = 0.0;
            if signal.coordinate.counts_turns() {
                near = memory.get(turning).copied().unwrap_or(0.0);
                turning += 1;
            }
            *value = if signal.rate {
                signal.coordinate.rate(&relative)
            } else {
                signal.coordinate.value(&relative, near)
            };
        }
        for (index, initial) in self.inputs.iter().enumerate() {
            let change = memory.get(turning + index).copied().unwrap_or(0.0);
            values[MAX_SIGNALS - 1 - index] = initial + change;
        }
        values
    }

    /// Adds ∂r/∂signal ⊗ ∂signal for the derivative of an element's wrenches by one of its signals.
    pub(super) fn add_tangent(
        &self,
        at: &Motion,
        signal: usize,
        wrenches: &[Vector6; MAX_NODES],
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        if self.state_of(signal).is_some() {
            return;
        }
        let (by_configuration, by_velocity) = self.gradients(at, signal);
        let count = at.nodes.len();
        for (i, wrench) in wrenches[..count].iter().enumerate() {
            for j in 0..count {
                out.damping(i, j).ger(1.0, wrench, &by_velocity[j], 1.0);
                if weights.stiffness {
                    out.stiffness(i, j).ger(1.0, wrench, &by_configuration[j], 1.0);
                }
            }
        }
    }

    /// Derivatives of a signal by the configuration and by the twists of the nodes; zeros for a state.
    pub(super) fn gradients(
        &self,
        at: &Motion,
        signal: usize,
    ) -> ([Vector6; MAX_NODES], [Vector6; MAX_NODES]) {
        let mut by_configuration = [Vector6::zeros(); MAX_NODES];
        let mut by_velocity = by_configuration;
        let SignalSource::Motion(signal) = &self.sources[signal] else {
            return (by_configuration, by_velocity);
        };
        let relative = signal.pair.relative(at);
        let gradient = signal.coordinate.gradient(&relative);
        if signal.rate {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_velocity);
            signal.pair.add_to_nodes(1.0, &signal.coordinate.rate_gradient(&relative), &mut by_configuration);
        } else {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_configuration);
        }
        (by_configuration, by_velocity)
    }

    fn memory_count(&self) -> usize {
        self.turning().count() + self.inputs.len()
    }

    pub(super) fn remember(&self, at: &Motion, memory: &mut [f64]) {
        for (signal, angle) in self.turning().zip(memory) {
            *angle = signal.coordinate.value(&signal.pair.relative(at), *angle);
        }
    }

    fn turning(&self) -> impl Iterator<Item = &MotionSignal> {
        let motions = self.sources.iter().filter_map(|source| match source {
            SignalSource::Motion(signal) => Some(signal.as_ref()),
            SignalSource::State(_) => None,
        });
        motions.filter(|signal| signal.coordinate.counts_turns())
    }
}
