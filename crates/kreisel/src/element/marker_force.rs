//! A force and a torque at a marker, constant or by functions of time and of measured quantities.

use super::signal::Signals;
use super::{Element, ElementFacts, Forces, LocalStateTangent, MAX_SIGNALS, Quantity, Signal};
use crate::dae::TangentWeights;
use crate::kinematics::{LocalTangent, MAX_NODES, Motion, NodeId, STIFFNESS_ONLY, join};
use crate::lie::{Matrix3, Matrix6, Pose, UnitQuaternion, Vector3, Vector6, skew};

/// In which axes the components of a force are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// World axes: a dead force.
    World,
    /// The marker's axes: a following force.
    Marker,
}

/// A wrench at a marker of the element's first node.
#[derive(Clone, Debug)]
pub struct MarkerForce {
    nodes: Vec<NodeId>,
    marker: Pose,
    axes: Axes,
    /// Torque and force components.
    components: [Quantity; 6],
    signals: Signals,
    /// World axes from the axes in which a dead force is given.
    world_from_given: Matrix3,
}

impl MarkerForce {
    /// A torque and a force at a marker of `nodes[0]`, given in body axes; the other nodes are those of the
    /// signals.
    pub fn new(
        nodes: Vec<NodeId>,
        marker: Pose,
        axes: Axes,
        components: [Quantity; 6],
        signals: Vec<Signal>,
    ) -> Self {
        let signals = Signals::new(signals);
        Self { nodes, marker, axes, components, signals, world_from_given: Matrix3::identity() }
    }

    /// The same with inputs from outside, by their initial values: functions see input k at `MAX_SIGNALS` − 1
    /// − k.
    pub fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        self.signals = self.signals.with_inputs(inputs);
        self
    }

    /// The same with the components of a dead force given in axes that are turned against the world's.
    pub fn in_axes_turned_by(mut self, world_from_given: &UnitQuaternion) -> Self {
        self.world_from_given = world_from_given.to_rotation_matrix().into_inner();
        self
    }

    /// Components (torque, force) in the chosen axes and their derivatives by each signal.
    fn components(&self, at: &Motion) -> (Vector6, [Vector6; MAX_SIGNALS]) {
        let signals = self.signals.measure(at, at.memory);
        let (mut values, mut slopes) = (Vector6::zeros(), [Vector6::zeros(); MAX_SIGNALS]);
        for (index, component) in self.components.iter().enumerate() {
            let (value, by_signal) = component.evaluate(at.time, &signals[..self.signals.count()]);
            values[index] = value;
            for (slope, by_signal) in slopes.iter_mut().zip(by_signal) {
                slope[index] = by_signal;
            }
        }
        (values, slopes)
    }

    /// Components without their derivatives.
    fn values(&self, at: &Motion) -> Vector6 {
        let signals = self.signals.measure(at, at.memory);
        let value = |component: &Quantity| component.value(at.time, &signals[..self.signals.count()]);
        Vector6::from_iterator(self.components.iter().map(value))
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

    fn add_tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
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
        for (signal, slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
            let mut wrenches = [Vector6::zeros(); MAX_NODES];
            wrenches[0] = -self.wrench(&to_body, slope);
            self.signals.add_tangent(at, signal, &wrenches, weights, out);
        }
    }

    fn add_internal_tangent(&self, at: &Motion, out: &mut LocalStateTangent) {
        let (_, slopes) = self.components(at);
        let to_body = self.to_body(at);
        for (signal, slope) in slopes[..self.signals.measured_count()].iter().enumerate() {
            if let Some(state) = self.signals.state_of(signal) {
                out.force_by_state[state][0] -= self.wrench(&to_body, slope);
            }
        }
    }
}

impl Element for MarkerForce {
    fn facts(&self) -> ElementFacts<'_> {
        self.signals.facts(&self.nodes)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let wrench = || self.wrench(&self.to_body(at), &self.values(at));
        for wrenches in [out.wrenches.take(), out.load.take()].into_iter().flatten() {
            wrenches[0] -= wrench();
        }
        if let Some(tangent) = out.tangent.take() {
            self.add_tangent(at, out.weights, tangent);
        }
        if let Some(stiffness) = out.load_stiffness.take() {
            self.add_tangent(at, STIFFNESS_ONLY, stiffness);
        }
        if let Some(tangent) = out.internal_tangent.take() {
            self.add_internal_tangent(at, tangent);
        }
        if let Some(power) = out.power.take() {
            power.applied = wrench().dot(&at.nodes[0].velocity);
        }
    }

    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        self.signals.remember(at, memory);
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.components.iter().flat_map(|component| component.corners(from, to)).collect()
    }
}
