//! Forces along a coordinate: springs, dampers, friction, end stops.
//!
//! A force f(x, ẋ, t) against the coordinate x between two frames adds f ∇x to the residual, so that it does
//! the power −f ẋ on the machine. Springs between points act along the distance, torsional ones along the
//! angle.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Element, ElementFacts, Forces};
use crate::dae::TangentWeights;
use crate::kinematics::frame::PairMatrix;
use crate::kinematics::{Coordinate, FramePair, LocalTangent, Motion, NodeId, Relative, pair_between};
use crate::lie::{Pose, Vector6};

/// Force against a coordinate and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceValue {
    /// The force, positive against the coordinate.
    pub force: f64,
    /// Derivative by the coordinate.
    pub by_value: f64,
    /// Derivative by the coordinate's rate.
    pub by_rate: f64,
    /// Part of the force that is lost (dampers, friction); the rest is stored or applied.
    pub dissipative: f64,
    /// Part of the force that an actuator applies.
    pub applied: f64,
}

/// How the force depends on the coordinate, its rate and time.
pub trait ForceLaw: Send + Sync + Debug {
    /// Force and derivatives at a value and rate of the coordinate.
    fn at(&self, value: f64, rate: f64, time: f64) -> ForceValue;
    /// Energy stored at a value of the coordinate.
    fn energy(&self, value: f64) -> f64 {
        let _ = value;
        0.0
    }
    /// Times between two others at which the law is not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}

/// A force along one coordinate between two frames.
#[derive(Clone, Debug)]
pub struct CoordinateForce {
    nodes: Vec<NodeId>,
    pair: FramePair,
    coordinate: Coordinate,
    laws: Vec<Arc<dyn ForceLaw>>,
}

impl CoordinateForce {
    /// Forces by these laws, which add up, along a coordinate between two frames on nodes or on the ground.
    pub fn new(
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
        coordinate: Coordinate,
        laws: Vec<Arc<dyn ForceLaw>>,
    ) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, coordinate, laws }
    }

    /// The coordinate, its rate and the force.
    fn motion_and_force(&self, at: &Motion, relative: &Relative) -> (f64, f64, ForceValue) {
        let near = at.memory.first().copied().unwrap_or(0.0);
        let (value, rate) = (self.coordinate.value(relative, near), self.coordinate.rate(relative));
        let mut sum = ForceValue::default();
        for law in &self.laws {
            let part = law.at(value, rate, at.time);
            sum.force += part.force;
            sum.by_value += part.by_value;
            sum.by_rate += part.by_rate;
            sum.dissipative += part.dissipative;
            sum.applied += part.applied;
        }
        (value, rate, sum)
    }

    fn add_tangent(
        &self,
        relative: &Relative,
        value: &ForceValue,
        weights: TangentWeights,
        out: &mut LocalTangent,
    ) {
        let gradient = self.coordinate.gradient(relative);
        let mut matrix = PairMatrix::zeros();
        matrix.ger(value.by_rate, &gradient, &gradient, 0.0);
        self.pair.add_blocks(&matrix, |i, j, block| *out.damping(i, j) += block);
        if weights.stiffness {
            let mut matrix = PairMatrix::zeros();
            self.coordinate.add_hessian(relative, value.force, &mut matrix);
            matrix.ger(value.by_value, &gradient, &gradient, 1.0);
            matrix.ger(value.by_rate, &gradient, &self.coordinate.rate_gradient(relative), 1.0);
            self.pair.add_to_blocks(&matrix, out);
        }
    }
}

impl Element for CoordinateForce {
    fn facts(&self) -> ElementFacts<'_> {
        let memory = usize::from(self.coordinate.counts_turns());
        ElementFacts { memory, ..ElementFacts::on(&self.nodes) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let relative = self.pair.relative(at);
        let (value, rate, force) = self.motion_and_force(at, &relative);
        if let Some(wrenches) = out.wrenches.take() {
            self.pair.add_to_nodes(force.force, &self.coordinate.gradient(&relative), wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            self.add_tangent(&relative, &force, out.weights, tangent);
        }
        if let Some(energies) = out.energies.take() {
            energies.strain = self.laws.iter().map(|law| law.energy(value)).sum();
        }
        if let Some(power) = out.power.take() {
            power.applied = -force.applied * rate;
            power.dissipated = force.dissipative * rate;
        }
    }

    fn remember(&self, at: &Motion, _: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        if let Some(angle) = memory.first_mut() {
            *angle = self.coordinate.value(&self.pair.relative(at), *angle);
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.laws.iter().flat_map(|law| law.corners(from, to)).collect()
    }
}

/// A linear spring and damper: f = k (x − x₀) + c ẋ + f₀.
#[derive(Clone, Copy, Debug)]
pub struct LinearSpring {
    /// Stiffness k.
    pub stiffness: f64,
    /// Damping c.
    pub damping: f64,
    /// Value x₀ at which the spring pulls with its preload only.
    pub free_value: f64,
    /// Preload f₀, positive against the coordinate.
    pub preload: f64,
}

impl ForceLaw for LinearSpring {
    fn at(&self, value: f64, rate: f64, _: f64) -> ForceValue {
        let stretch = value - self.free_value;
        ForceValue {
            force: self.stiffness * stretch + self.damping * rate + self.preload,
            by_value: self.stiffness,
            by_rate: self.damping,
            dissipative: self.damping * rate,
            applied: 0.0,
        }
    }

    fn energy(&self, value: f64) -> f64 {
        let stretch = value - self.free_value;
        (0.5 * self.stiffness * stretch + self.preload) * stretch
    }
}

/// Coulomb friction regularised by a hyperbolic tangent: f = F tanh(ẋ/v₀).
#[derive(Clone, Copy, Debug)]
pub struct RegularizedFriction {
    /// Force F of sliding.
    pub force: f64,
    /// Rate v₀ at which the force reaches 76 % of F.
    pub rate: f64,
}

impl ForceLaw for RegularizedFriction {
    fn at(&self, _: f64, rate: f64, _: f64) -> ForceValue {
        let part = (rate / self.rate).tanh();
        let force = self.force * part;
        ForceValue {
            force,
            by_rate: self.force * (1.0 - part * part) / self.rate,
            dissipative: force,
            ..ForceValue::default()
        }
    }
}

/// Springs and dampers that act only beyond a lower and an upper bound.
///
/// The damper is weighted with the depth p as d p/(p + w), so that the force begins without a jump. The stop
/// pushes back but does not pull: on a fast way out it lets go, and what was stored is lost.
#[derive(Clone, Copy, Debug)]
pub struct EndStop {
    /// Lower and upper bound; infinite where there is none.
    pub bounds: [f64; 2],
    /// Stiffness beyond a bound.
    pub stiffness: f64,
    /// Damping beyond a bound.
    pub damping: f64,
    /// Depth w at which half of the damping acts.
    pub transition: f64,
}

impl EndStop {
    /// By how much a value lies beyond the bounds, with its sign.
    fn depth(&self, value: f64) -> f64 {
        let [low, high] = self.bounds;
        if value > high {
            value - high
        } else if value < low {
            value - low
        } else {
            0.0
        }
    }
}

impl ForceLaw for EndStop {
    fn at(&self, value: f64, rate: f64, _: f64) -> ForceValue {
        let depth = self.depth(value);
        if depth == 0.0 {
            return ForceValue::default();
        }
        let size = depth.abs();
        let weight = size / (size + self.transition);
        let slope = self.transition / ((size + self.transition) * (size + self.transition));
        let elastic = self.stiffness * depth;
        let force = elastic + self.damping * weight * rate;
        if force * depth <= 0.0 {
            return ForceValue { dissipative: -elastic, ..ForceValue::default() };
        }
        ForceValue {
            force,
            by_value: self.stiffness + self.damping * slope * depth.signum() * rate,
            by_rate: self.damping * weight,
            dissipative: self.damping * weight * rate,
            applied: 0.0,
        }
    }

    fn energy(&self, value: f64) -> f64 {
        let depth = self.depth(value);
        0.5 * self.stiffness * depth * depth
    }
}
