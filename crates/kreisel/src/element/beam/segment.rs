//! Inertia, weight and load of a piece of a beam that moves with a node.
//!
//! With the mass matrix M of the piece about its node and the twist V, the residual in body axes is
//!
//! ```text
//! M (V̇ − (0, Rᵀγ)) − V̂ᵀ M V + α M V                  [SonnevilleCardonaBruls2014, Sec. 2]
//! ```
//!
//! the rate of the momentum M V seen from the moving node, the weight, and a damping in proportion to the
//! mass.

use crate::element::{Axes, Element, ElementFacts, Forces, MAX_SIGNALS, Quantity};
use crate::kinematics::{LocalTangent, Motion, NodeId, join, split};
use crate::lie::{Matrix3, Matrix6, Vector3, Vector6, skew};

/// A rigid piece of a beam around a node.
#[derive(Clone, Debug)]
pub struct Segment {
    node: [NodeId; 1],
    mass: Matrix6,
    gravity: Vector3,
    /// α in 1/s.
    damping: f64,
}

impl Segment {
    /// A piece with its mass matrix about the node in body axes, under gravity in m/s², damped by α M V.
    pub fn new(node: NodeId, mass: Matrix6, gravity: Vector3, damping: f64) -> Self {
        Self { node: [node], mass, gravity, damping }
    }

    /// −V̂ᵀ p: how a momentum seen from a moving node changes.
    fn carried(velocity: &Vector6, momentum: &Vector6) -> Vector6 {
        let ((omega, u), (spin, push)) = (split(velocity), split(momentum));
        join(&(omega.cross(&spin) + u.cross(&push)), &omega.cross(&push))
    }

    /// Derivative of −V̂ᵀ M V + α M V by the twist.
    fn add_damping(&self, velocity: &Vector6, momentum: &Vector6, out: &mut Matrix6) {
        let ((omega, u), (spin, push)) = (split(velocity), split(momentum));
        let (omega, u, spin, push) = (skew(&omega), skew(&u), skew(&spin), skew(&push));
        let mass = |i: usize, j: usize| self.mass.fixed_view::<3, 3>(i, j);
        let mut add = |i: usize, j: usize, part: Matrix3| {
            let mut block = out.fixed_view_mut::<3, 3>(i, j);
            block += part + self.damping * mass(i, j);
        };
        add(0, 0, omega * mass(0, 0) + u * mass(3, 0) - spin);
        add(0, 3, omega * mass(0, 3) + u * mass(3, 3) - push);
        add(3, 0, omega * mass(3, 0) - push);
        add(3, 3, omega * mass(3, 3));
    }

    /// The weight seen from the node turns against it: δ(Rᵀγ) = (Rᵀγ)~ δΘ.
    fn add_weight_stiffness(&self, weight: &Vector3, out: &mut LocalTangent) {
        let turned = skew(weight);
        for row in [0, 3] {
            let mut block = out.stiffness(0, 0).fixed_view_mut::<3, 3>(row, 0);
            block -= self.mass.fixed_view::<3, 3>(row, 3) * turned;
        }
    }
}

impl Element for Segment {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts::on(&self.node)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let node = &at.nodes[0];
        let (momentum, weight) = (self.mass * node.velocity, node.rotation.tr_mul(&self.gravity));
        if let Some(wrenches) = out.wrenches.take() {
            let rate = node.acceleration - join(&Vector3::zeros(), &weight);
            wrenches[0] +=
                self.mass * rate + Self::carried(&node.velocity, &momentum) + self.damping * momentum;
        }
        if let Some(tangent) = out.tangent.take() {
            *tangent.mass(0, 0) += self.mass;
            self.add_damping(&node.velocity, &momentum, tangent.damping(0, 0));
            if out.weights.stiffness {
                self.add_weight_stiffness(&weight, tangent);
            }
        }
        if let Some(load) = out.load.take() {
            load[0] -= self.mass * join(&Vector3::zeros(), &weight);
        }
        if let Some(stiffness) = out.load_stiffness.take() {
            self.add_weight_stiffness(&weight, stiffness);
        }
        if let Some(energies) = out.energies.take() {
            let whole = self.mass.fixed_view::<3, 3>(3, 3) * weight;
            // The lower left block is −s̃ with the first moment s.
            let moment = Vector3::new(self.mass[(4, 2)], self.mass[(5, 0)], self.mass[(3, 1)]);
            energies.kinetic = 0.5 * node.velocity.dot(&momentum);
            energies.potential = -(node.rotation * whole).dot(&node.pose.position) - moment.dot(&weight);
        }
        if let Some(power) = out.power.take() {
            power.dissipated = self.damping * node.velocity.dot(&momentum);
        }
    }
}

/// A load per length on a piece of a beam around a node.
#[derive(Clone, Debug)]
pub struct SegmentLoad {
    node: [NodeId; 1],
    axes: Axes,
    /// Torque and force per length.
    components: [Quantity; 6],
    /// Wrench on the node per load.
    wrench: Matrix6,
    /// World axes from the axes in which a dead load is given.
    world_from_given: Matrix3,
    /// Inputs from outside, by their initial values.
    inputs: Vec<f64>,
}

impl SegmentLoad {
    /// A load (torque, force) per length, dead or following, with the wrench on the node per load in body
    /// axes.
    ///
    /// The matrix is a sum of [`super::Span::half_dead_load`] or [`super::Span::half_following_load`].
    pub fn new(node: NodeId, axes: Axes, components: [Quantity; 6], wrench: Matrix6) -> Self {
        let (world_from_given, inputs) = (Matrix3::identity(), Vec::new());
        Self { node: [node], axes, components, wrench, world_from_given, inputs }
    }

    /// The same with inputs from outside, by their initial values: functions see input k at `MAX_SIGNALS` − 1
    /// − k.
    pub fn with_inputs(mut self, inputs: Vec<f64>) -> Self {
        self.inputs = inputs;
        self
    }

    /// The same with the components of a dead load given in axes that are turned against the world's.
    pub fn in_axes_turned_by(mut self, world_from_given: Matrix3) -> Self {
        self.world_from_given = world_from_given;
        self
    }

    /// Load per length in the axes that the matrix expects.
    fn per_length(&self, at: &Motion) -> Vector6 {
        let mut load = Vector6::zeros();
        let mut signals = [0.0; MAX_SIGNALS];
        for (index, initial) in self.inputs.iter().enumerate() {
            signals[MAX_SIGNALS - 1 - index] = initial + at.memory.get(index).copied().unwrap_or(0.0);
        }
        let count = if self.inputs.is_empty() { 0 } else { MAX_SIGNALS };
        for (value, component) in load.iter_mut().zip(&self.components) {
            *value = component.value(at.time, &signals[..count]);
        }
        if self.axes == Axes::Marker {
            return load;
        }
        let (torque, force) = split(&load);
        let to_body = at.nodes[0].rotation.tr_mul(&self.world_from_given);
        join(&(to_body * torque), &(to_body * force))
    }

    /// A dead load turns against the node: δ(Rᵀf) = (Rᵀf)~ δΘ.
    fn add_stiffness(&self, per_length: &Vector6, out: &mut Matrix6) {
        if self.axes == Axes::Marker {
            return;
        }
        let (torque, force) = split(per_length);
        let (torque, force) = (skew(&torque), skew(&force));
        for row in [0, 3] {
            let part = self.wrench.fixed_view::<3, 3>(row, 0) * torque
                + self.wrench.fixed_view::<3, 3>(row, 3) * force;
            let mut block = out.fixed_view_mut::<3, 3>(row, 0);
            block -= part;
        }
    }
}

impl Element for SegmentLoad {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts { memory: self.inputs.len(), ..ElementFacts::on(&self.node) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let per_length = self.per_length(at);
        for wrenches in [out.wrenches.take(), out.load.take()].into_iter().flatten() {
            wrenches[0] -= self.wrench * per_length;
        }
        let tangent = out.tangent.take().filter(|_| out.weights.stiffness);
        for stiffness in [tangent, out.load_stiffness.take()].into_iter().flatten() {
            self.add_stiffness(&per_length, stiffness.stiffness(0, 0));
        }
        if let Some(power) = out.power.take() {
            power.applied = (self.wrench * per_length).dot(&at.nodes[0].velocity);
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.components.iter().flat_map(|component| component.corners(from, to)).collect()
    }
}
