//! A force and a torque at a marker, constant or by functions of time and of measured quantities.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Element, LocalForces, LocalTangent, Motion, NodeId, Power};
use crate::dae::TangentWeights;
use crate::joint::{Coordinate, FramePair};
use crate::lie::{Matrix3, Matrix6, Pose, UnitQuaternion, Vector3, Vector6, skew};
use crate::system::join;

/// In which axes the components of a force are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// World axes: a dead force.
    World,
    /// The marker's axes: a following force.
    Marker,
}

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

/// A wrench at a marker of the element's first node.
#[derive(Clone, Debug)]
pub struct MarkerForce {
    nodes: Vec<NodeId>,
    marker: Pose,
    axes: Axes,
    /// Torque and force components.
    components: [Quantity; 6],
    signals: Vec<Signal>,
    /// World axes from the axes in which a dead force is given.
    world_from_given: Matrix3,
}

impl MarkerForce {
    /// A torque and a force at a marker of `nodes[0]`, given in body axes; the other nodes are those of the signals.
    pub fn new(
        nodes: Vec<NodeId>,
        marker: Pose,
        axes: Axes,
        components: [Quantity; 6],
        signals: Vec<Signal>,
    ) -> Self {
        debug_assert!(signals.len() <= MOST_SIGNALS, "at most {MOST_SIGNALS} signals");
        Self { nodes, marker, axes, components, signals, world_from_given: Matrix3::identity() }
    }

    /// The same with the components of a dead force given in axes that are turned against the world's.
    pub fn in_axes_turned_by(mut self, world_from_given: &UnitQuaternion) -> Self {
        self.world_from_given = world_from_given.to_rotation_matrix().into_inner();
        self
    }

    fn measure(&self, at: &Motion) -> [f64; MOST_SIGNALS] {
        let mut values = [0.0; MOST_SIGNALS];
        let mut turning = 0;
        for (value, signal) in values.iter_mut().zip(&self.signals) {
            let relative = signal.pair.relative(at);
            let mut near = 0.0;
            if signal.coordinate.counts_turns() {
                near = at.memory.get(turning).copied().unwrap_or(0.0);
                turning += 1;
            }
            *value = if signal.rate {
                signal.coordinate.rate(&relative)
            } else {
                signal.coordinate.value(&relative, near)
            };
        }
        values
    }

    /// Components (torque, force) in the chosen axes and their derivatives by each signal.
    fn components(&self, at: &Motion) -> (Vector6, [Vector6; MOST_SIGNALS]) {
        let signals = self.measure(at);
        let count = self.signals.len();
        let (mut values, mut slopes) = (Vector6::zeros(), [Vector6::zeros(); MOST_SIGNALS]);
        for (index, component) in self.components.iter().enumerate() {
            values[index] = match component {
                Quantity::Constant(value) => *value,
                Quantity::Function(function) => {
                    let mut by_signal = [0.0; MOST_SIGNALS];
                    let value = function.evaluate(at.time, &signals[..count], &mut by_signal[..count]);
                    for (slope, by_signal) in slopes.iter_mut().zip(by_signal) {
                        slope[index] = by_signal;
                    }
                    value
                }
            };
        }
        (values, slopes)
    }

    /// Rotation from the chosen axes to body axes.
    fn to_body(&self, at: &Motion) -> Matrix3 {
        match self.axes {
            Axes::World => at.nodes[0].rotation.tr_mul(&self.world_from_given),
            Axes::Marker => self.marker.rotation.to_rotation_matrix().into_inner(),
        }
    }

    /// Wrench at the body's origin in body axes.
    fn wrench(&self, to_body: &Matrix3, components: &Vector6) -> Vector6 {
        let torque: Vector3 = to_body * components.fixed_rows::<3>(0);
        let force: Vector3 = to_body * components.fixed_rows::<3>(3);
        join(&(torque + self.marker.position.cross(&force)), &force)
    }
}

impl Element for MarkerForce {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn residual(&self, at: &Motion, out: &mut LocalForces) {
        let (components, _) = self.components(at);
        out.wrenches[0] -= self.wrench(&self.to_body(at), &components);
    }

    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        let (components, slopes) = self.components(at);
        let to_body = self.to_body(at);
        if weights.stiffness && self.axes == Axes::World {
            // δ(Rᵀf) = (Rᵀf)~ δΘ.
            let torque: Vector3 = to_body * components.fixed_rows::<3>(0);
            let force: Vector3 = to_body * components.fixed_rows::<3>(3);
            let (turned_torque, turned_force) = (skew(&torque), skew(&force));
            let mut by_rotation = Matrix6::zeros();
            by_rotation
                .fixed_view_mut::<3, 3>(0, 0)
                .copy_from(&(turned_torque + skew(&self.marker.position) * turned_force));
            by_rotation.fixed_view_mut::<3, 3>(3, 0).copy_from(&turned_force);
            *out.stiffness(0, 0) -= by_rotation;
        }
        for (signal, slope) in self.signals.iter().zip(&slopes) {
            let wrench = self.wrench(&to_body, slope);
            self.add_signal(at, signal, &wrench, weights, out);
        }
    }

    fn power(&self, at: &Motion) -> Power {
        let (components, _) = self.components(at);
        let wrench = self.wrench(&self.to_body(at), &components);
        Power { applied: wrench.dot(&at.nodes[0].velocity), dissipated: 0.0 }
    }

    fn memory_count(&self) -> usize {
        self.signals.iter().filter(|signal| signal.coordinate.counts_turns()).count()
    }

    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        let turning = self.signals.iter().filter(|signal| signal.coordinate.counts_turns());
        for (signal, angle) in turning.zip(memory) {
            *angle = signal.coordinate.value(&signal.pair.relative(at), *angle);
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let functions = self.components.iter().filter_map(|component| match component {
            Quantity::Function(function) => Some(function),
            Quantity::Constant(_) => None,
        });
        functions.flat_map(|function| function.corners(from, to)).collect()
    }
}

impl MarkerForce {
    /// Adds −wrench ⊗ ∂signal.
    fn add_signal(
        &self,
        at: &Motion,
        signal: &Signal,
        wrench: &Vector6,
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        let relative = signal.pair.relative(at);
        let mut by_configuration = [Vector6::zeros(); super::MOST_NODES];
        let mut by_velocity = by_configuration;
        let gradient = signal.coordinate.gradient(&relative);
        if signal.rate {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_velocity);
            signal.pair.add_to_nodes(1.0, &signal.coordinate.rate_gradient(&relative), &mut by_configuration);
        } else {
            signal.pair.add_to_nodes(1.0, &gradient, &mut by_configuration);
        }
        for j in 0..at.nodes.len() {
            out.damping(0, j).ger(-1.0, wrench, &by_velocity[j], 1.0);
            if weights.stiffness {
                out.stiffness(0, j).ger(-1.0, wrench, &by_configuration[j], 1.0);
            }
        }
    }
}
