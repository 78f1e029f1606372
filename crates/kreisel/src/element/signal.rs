//! Measured quantities, and forces as functions of them.

use std::fmt::Debug;
use std::sync::Arc;

use super::{LocalTangent, MOST_NODES, Motion};
use crate::dae::TangentWeights;
use crate::joint::{Coordinate, FramePair};
use crate::lie::Vector6;

/// A measured quantity: a coordinate between two frames, or its rate.
#[derive(Clone, Debug)]
pub struct Signal {
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
    /// Value alone; the default computes the derivatives too.
    fn value(&self, time: f64, signals: &[f64]) -> f64 {
        let mut slopes = [0.0; MOST_SIGNALS + 1];
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

/// Most signals that one force may use.
pub const MOST_SIGNALS: usize = 8;

impl Quantity {
    /// Value, and derivatives by the signals.
    pub(in crate::element) fn evaluate(&self, time: f64, signals: &[f64]) -> (f64, [f64; MOST_SIGNALS]) {
        let mut slopes = [0.0; MOST_SIGNALS];
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
/// Functions see signals from the first place on and inputs from the last one down: input k at `MOST_SIGNALS` − 1 − k.
/// The element remembers the full turns of angles, and of each input how much it differs from its initial value.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    measured: Vec<Signal>,
    /// Initial values of the inputs.
    inputs: Vec<f64>,
}

impl Signals {
    pub(super) fn new(measured: Vec<Signal>) -> Self {
        debug_assert!(measured.len() <= MOST_SIGNALS, "at most {MOST_SIGNALS} signals");
        Self { measured, inputs: Vec::new() }
    }

    pub(super) fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        debug_assert!(self.measured.len() + inputs.len() <= MOST_SIGNALS, "at most {MOST_SIGNALS} signals");
        self.inputs = inputs;
        self
    }

    /// Number of values that functions of the signals take.
    pub(super) fn count(&self) -> usize {
        if self.inputs.is_empty() { self.measured.len() } else { MOST_SIGNALS }
    }

    /// Number of signals that depend on the motion; they come first.
    pub(super) fn measured_count(&self) -> usize {
        self.measured.len()
    }

    /// Value of each signal; `memory` holds the angles of the last accepted step and the changes of the inputs.
    pub(super) fn measure(&self, at: &Motion, memory: &[f64]) -> [f64; MOST_SIGNALS] {
        let mut values = [0.0; MOST_SIGNALS];
        let mut turning = 0;
        for (value, signal) in values.iter_mut().zip(&self.measured) {
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
            values[MOST_SIGNALS - 1 - index] = initial + change;
        }
        values
    }

    /// Adds ∂r/∂signal ⊗ ∂signal for the derivative of an element's wrenches by one of its signals.
    pub(super) fn add_tangent(
        &self,
        at: &Motion,
        signal: usize,
        wrenches: &[Vector6; MOST_NODES],
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        let signal = &self.measured[signal];
        let relative = signal.pair.relative(at);
        let mut by_configuration = [Vector6::zeros(); MOST_NODES];
        let mut by_velocity = by_configuration;
        let gradient = signal.coordinate.gradient(&relative);
        if signal.rate {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_velocity);
            signal.pair.add_to_nodes(1.0, &signal.coordinate.rate_gradient(&relative), &mut by_configuration);
        } else {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_configuration);
        }
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

    pub(super) fn memory_count(&self) -> usize {
        self.turning().count() + self.inputs.len()
    }

    pub(super) fn remember(&self, at: &Motion, memory: &mut [f64]) {
        for (signal, angle) in self.turning().zip(memory) {
            *angle = signal.coordinate.value(&signal.pair.relative(at), *angle);
        }
    }

    fn turning(&self) -> impl Iterator<Item = &Signal> {
        self.measured.iter().filter(|signal| signal.coordinate.counts_turns())
    }
}
