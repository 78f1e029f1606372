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

use crate::dae::TangentWeights;
use crate::element::{Axes, Element, MAX_SIGNALS, Quantity};
use crate::kinematics::{Energies, LocalForces, LocalTangent, Motion, NodeId, Power, join, split};
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

    /// The weight seen from the node turns against it: δ(Rᵀγ) = (Rᵀγ)~ δΘ.
    fn add_weight_stiffness(&self, at: &Motion, out: &mut LocalTangent) {
        let turned = skew(&at.nodes[0].rotation.tr_mul(&self.gravity));
        for row in [0, 3] {
            let mut block = out.stiffness(0, 0).fixed_view_mut::<3, 3>(row, 0);
            block -= self.mass.fixed_view::<3, 3>(row, 3) * turned;
        }
    }
}

impl Element for Segment {
    fn nodes(&self) -> &[NodeId] {
        &self.node
    }

    fn residual(&self, at: &Motion, out: &mut LocalForces) {
        let node = &at.nodes[0];
        let momentum = self.mass * node.velocity;
        let weight = node.rotation.tr_mul(&self.gravity);
        let rate = node.acceleration - join(&Vector3::zeros(), &weight);
        out.wrenches[0] +=
            self.mass * rate + Self::carried(&node.velocity, &momentum) + self.damping * momentum;
    }

    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        let node = &at.nodes[0];
        *out.mass(0, 0) += self.mass;
        let (omega, u) = split(&node.velocity);
        let (spin, push) = split(&(self.mass * node.velocity));
        let (omega, u, spin, push) = (skew(&omega), skew(&u), skew(&spin), skew(&push));
        let mass = |i: usize, j: usize| self.mass.fixed_view::<3, 3>(i, j);
        let damping = out.damping(0, 0);
        let mut add = |i: usize, j: usize, part: Matrix3| {
            let mut block = damping.fixed_view_mut::<3, 3>(i, j);
            block += part + self.damping * mass(i, j);
        };
        add(0, 0, omega * mass(0, 0) + u * mass(3, 0) - spin);
        add(0, 3, omega * mass(0, 3) + u * mass(3, 3) - push);
        add(3, 0, omega * mass(3, 0) - push);
        add(3, 3, omega * mass(3, 3));
        if weights.stiffness {
            self.add_weight_stiffness(at, out);
        }
    }

    fn load(&self, at: &Motion, out: &mut LocalForces) {
        let weight = at.nodes[0].rotation.tr_mul(&self.gravity);
        out.wrenches[0] -= self.mass * join(&Vector3::zeros(), &weight);
    }

    fn load_stiffness(&self, at: &Motion, out: &mut LocalTangent) {
        self.add_weight_stiffness(at, out);
    }

    fn energies(&self, at: &Motion) -> Energies {
        let node = &at.nodes[0];
        let weight = node.rotation.tr_mul(&self.gravity);
        let whole = self.mass.fixed_view::<3, 3>(3, 3) * weight;
        // The lower left block is −s̃ with the first moment s.
        let moment = Vector3::new(self.mass[(4, 2)], self.mass[(5, 0)], self.mass[(3, 1)]);
        Energies {
            kinetic: 0.5 * node.velocity.dot(&(self.mass * node.velocity)),
            potential: -(node.rotation * whole).dot(&node.pose.position) - moment.dot(&weight),
            strain: 0.0,
        }
    }

    fn power(&self, at: &Motion) -> Power {
        let velocity = &at.nodes[0].velocity;
        Power { applied: 0.0, dissipated: self.damping * velocity.dot(&(self.mass * velocity)) }
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
}

impl Element for SegmentLoad {
    fn nodes(&self) -> &[NodeId] {
        &self.node
    }

    fn residual(&self, at: &Motion, out: &mut LocalForces) {
        out.wrenches[0] -= self.wrench * self.per_length(at);
    }

    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        if !weights.stiffness || self.axes == Axes::Marker {
            return;
        }
        // δ(Rᵀf) = (Rᵀf)~ δΘ.
        let (torque, force) = split(&self.per_length(at));
        let (torque, force) = (skew(&torque), skew(&force));
        for row in [0, 3] {
            let part = self.wrench.fixed_view::<3, 3>(row, 0) * torque
                + self.wrench.fixed_view::<3, 3>(row, 3) * force;
            let mut block = out.stiffness(0, 0).fixed_view_mut::<3, 3>(row, 0);
            block -= part;
        }
    }

    fn load(&self, at: &Motion, out: &mut LocalForces) {
        self.residual(at, out);
    }

    fn load_stiffness(&self, at: &Motion, out: &mut LocalTangent) {
        let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: true, remembered_forces: false };
        self.tangent(at, weights, out);
    }

    fn power(&self, at: &Motion) -> Power {
        let wrench = self.wrench * self.per_length(at);
        Power { applied: wrench.dot(&at.nodes[0].velocity), dissipated: 0.0 }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.components.iter().flat_map(|component| component.corners(from, to)).collect()
    }

    fn memory_count(&self) -> usize {
        self.inputs.len()
    }
}
