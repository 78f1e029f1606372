//! Friction in a joint, driven by the joint's own reaction.
//!
//! The multipliers λ of locked displacements are the force in the joint, those of locked directions its moment; with the
//! length l of the bearing, whose ends take a moment M as two forces M/l, the surfaces press with
//!
//! ```text
//! N = √(|F|² + ε²) − ε + 2 (√(|M|² + (ε l)²) − ε l)/l
//! ```
//!
//! and friction is φ(v, z) N at the arm r: against the displacement (r = 1), the angle or the angular velocity of the
//! joint, with the sliding velocity v = r ω and the laws φ of contacts: regularised Coulomb friction, or LuGre's with bristles z. λ belongs to the unknowns of the step, so that friction and reaction agree within Newton's iteration. ε is far below
//! any force of a machine and only makes N smooth where nothing presses.

use std::ops::Range;

use super::contact::{Friction, Rub};
use super::{Element, LocalForces, LocalTangent, Motion, NodeId, Power, StateId};
use crate::dae::TangentWeights;
use crate::joint::frame::{PairMatrix, PairVector};
use crate::joint::{Coordinate, FramePair, Relative, pair_between};
use crate::lie::{Pose, Vector3};

/// Against what a joint's friction acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rubbing {
    /// A displacement or an angle.
    Along(Coordinate),
    /// The angular velocity in a ball joint.
    AllAround,
}

impl Rubbing {
    /// Number of bristles.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Along(_) => 1,
            Self::AllAround => 3,
        }
    }
}

/// Law and geometry of a joint's friction.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearing {
    /// φ: friction per pressing force.
    pub friction: Friction,
    /// Arm r in m at which friction acts against a rotation; 1 for displacements.
    pub arm: f64,
    /// Length l in m of the bearing, if moments press too.
    pub length: Option<f64>,
    /// Which of the joint's multipliers are forces.
    pub forces: Range<usize>,
    /// Which of them are moments.
    pub moments: Range<usize>,
}

/// Friction in a joint by the force that the joint transmits.
#[derive(Clone, Debug)]
pub struct JointFriction {
    nodes: Vec<NodeId>,
    pair: FramePair,
    joint: [usize; 1],
    rubbing: Rubbing,
    bearing: Bearing,
    bristles: Vec<StateId>,
}

/// ε in N.
const SMOOTH: f64 = 1e-6;

impl JointFriction {
    /// Friction in a joint, by its index in the system, between frames on nodes or on the ground.
    pub fn new(
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
        joint: usize,
        rubbing: Rubbing,
        bearing: Bearing,
    ) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, joint: [joint], rubbing, bearing, bristles: Vec::new() }
    }

    /// N, the force with which the surfaces press.
    fn pressing(&self, at: &Motion) -> f64 {
        let square = |rows: &Range<usize>| -> f64 {
            at.multipliers.get(rows.clone()).unwrap_or(&[]).iter().map(|value| value * value).sum()
        };
        let smooth = |square: f64, small: f64| (square + small * small).sqrt() - small;
        let force = smooth(square(&self.bearing.forces), SMOOTH);
        let moment = self
            .bearing
            .length
            .map_or(0.0, |length| 2.0 * smooth(square(&self.bearing.moments), SMOOTH * length) / length);
        force + moment
    }

    /// The same with the states of its bristles, as many as friction has directions.
    pub fn with_bristles(mut self, bristles: Vec<StateId>) -> Self {
        self.bristles = bristles;
        self
    }

    /// Friction per pressing force at a rate: the first component along a coordinate, all three around a ball.
    fn rub(&self, rate: &Vector3, at: &Motion) -> Rub {
        let bristles = Vector3::from_fn(|i, _| at.states.get(i).copied().unwrap_or(0.0));
        self.bearing.friction.rub(&(self.bearing.arm * rate), &Vector3::zeros(), &bristles)
    }

    fn rate(&self, relative: &Relative) -> Vector3 {
        match self.rubbing {
            Rubbing::Along(coordinate) => Vector3::new(coordinate.rate(relative), 0.0, 0.0),
            Rubbing::AllAround => relative.angular_rate(),
        }
    }

    /// Residual by the frames' twists, and the power that is lost.
    fn evaluate(&self, relative: &Relative, at: &Motion) -> (PairVector, f64) {
        let rate = self.rate(relative);
        let force = self.pressing(at) * self.bearing.arm * self.rub(&rate, at).value;
        let residual = match self.rubbing {
            Rubbing::Along(coordinate) => force.x * coordinate.gradient(relative),
            Rubbing::AllAround => {
                let mut residual = PairVector::zeros();
                residual.fixed_rows_mut::<3>(0).copy_from(&-force);
                residual.fixed_rows_mut::<3>(6).copy_from(&relative.rotation.tr_mul(&force));
                residual
            }
        };
        (residual, force.dot(&rate))
    }
}

impl Element for JointFriction {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn joints(&self) -> &[usize] {
        &self.joint
    }

    fn states(&self) -> &[StateId] {
        &self.bristles
    }

    fn rate_count(&self) -> usize {
        self.bristles.len()
    }

    fn rates(&self, at: &Motion, out: &mut [f64]) {
        let rub = self.rub(&self.rate(&self.pair.relative(at)), at);
        out.iter_mut().zip(rub.rate.iter()).for_each(|(out, rate)| *out += rate);
    }

    fn residual(&self, at: &Motion, out: &mut LocalForces) {
        let (residual, _) = self.evaluate(&self.pair.relative(at), at);
        self.pair.add_to_nodes(1.0, &residual, &mut out.wrenches);
    }

    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        let Rubbing::Along(coordinate) = self.rubbing else {
            return super::local::difference_tangent(self, at, weights, out);
        };
        let relative = self.pair.relative(at);
        let rub = self.rub(&self.rate(&relative), at);
        let limit = self.pressing(at) * self.bearing.arm;
        let by_rate = limit * self.bearing.arm * rub.by_sliding[(0, 0)];
        let gradient = coordinate.gradient(&relative);
        let mut matrix = PairMatrix::zeros();
        matrix.ger(by_rate, &gradient, &gradient, 0.0);
        self.pair.add_blocks(&matrix, |i, j, block| *out.damping(i, j) += block);
        if weights.stiffness {
            let mut matrix = PairMatrix::zeros();
            coordinate.add_hessian(&relative, limit * rub.value.x, &mut matrix);
            matrix.ger(by_rate, &gradient, &coordinate.rate_gradient(&relative), 1.0);
            self.pair.add_to_blocks(&matrix, out);
        }
    }

    fn power(&self, at: &Motion) -> Power {
        Power { dissipated: self.evaluate(&self.pair.relative(at), at).1, ..Power::default() }
    }
}
