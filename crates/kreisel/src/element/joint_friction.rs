//! Friction in a joint, driven by the joint's own reaction.
//!
//! The multipliers λ of locked displacements are the force in the joint, those of locked directions its
//! moment; with the length l of the bearing, whose ends take a moment M as two forces M/l, the surfaces press
//! with
//!
//! ```text
//! N = √(|F|² + ε²) − ε + 2 (√(|M|² + (ε l)²) − ε l)/l
//! ```
//!
//! and friction is φ(v, z) N at the arm r: against the displacement (r = 1), the angle or the angular
//! velocity of the joint, with the sliding velocity v = r ω and the laws φ of contacts: regularised Coulomb
//! friction, or LuGre's with bristles z. λ belongs to the unknowns of the step, so that friction and reaction
//! agree within Newton's iteration. ε is far below any force of a machine and only makes N smooth where
//! nothing presses.

use std::ops::Range;

use nalgebra::SMatrix;

use super::contact::{Friction, FrictionForce, motion_by_twists};
use super::{Element, ElementFacts, Forces, LocalStateTangent, StateId};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Coordinate, FramePair, Motion, NodeId, Relative, pair_between};
use crate::lie::{Pose, Vector3, skew};

/// Against what a joint's friction acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlidingMotion {
    /// A displacement or an angle.
    Along(Coordinate),
    /// The angular velocity in a ball joint.
    AllAround,
}

impl SlidingMotion {
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
    sliding_motion: SlidingMotion,
    bearing: Bearing,
    bristles: Vec<StateId>,
}

/// Derivatives of a vector by the twists of both frames.
type ByTwists = SMatrix<f64, 3, 12>;

/// ε in N: far below any load of a bearing, and enough for the root to have a slope without load.
const SMOOTH: f64 = 1e-6;

impl JointFriction {
    /// Friction in a joint, by its index in the system, between frames on nodes or on the ground.
    pub fn new(
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
        joint: usize,
        sliding_motion: SlidingMotion,
        bearing: Bearing,
    ) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, joint: [joint], sliding_motion, bearing, bristles: Vec::new() }
    }

    /// N, the force with which the surfaces press.
    fn pressing(&self, at: &Motion) -> f64 {
        self.pressing_parts(at).map(|(_, factor, root, small)| factor * (root - small)).sum()
    }

    /// Multipliers that press, what their part of N is multiplied by, its smooth root, and what is taken off
    /// it.
    fn pressing_parts(&self, at: &Motion) -> impl Iterator<Item = (Range<usize>, f64, f64, f64)> {
        let part = |rows: &Range<usize>, factor: f64, small: f64| {
            let values = at.multipliers.get(rows.clone()).unwrap_or(&[]);
            let square: f64 = values.iter().map(|value| value * value).sum();
            (rows.clone(), factor, (square + small * small).sqrt(), small)
        };
        let moment = self.bearing.length.map(|l| part(&self.bearing.moments, 2.0 / l, SMOOTH * l));
        std::iter::once(part(&self.bearing.forces, 1.0, SMOOTH)).chain(moment)
    }

    /// The same with the states of its bristles, as many as friction has directions.
    pub fn with_bristles(mut self, bristles: Vec<StateId>) -> Self {
        self.bristles = bristles;
        self
    }

    /// Friction per pressing force at a rate: the first component along a coordinate, all three around a
    /// ball.
    fn friction_force(&self, rate: &Vector3, at: &Motion) -> FrictionForce {
        let bristles = Vector3::from_fn(|i, _| at.internal_states.get(i).copied().unwrap_or(0.0));
        self.bearing.friction.force(&(self.bearing.arm * rate), &Vector3::zeros(), &bristles)
    }

    fn rate(&self, relative: &Relative) -> Vector3 {
        match self.sliding_motion {
            SlidingMotion::Along(coordinate) => Vector3::new(coordinate.rate(relative), 0.0, 0.0),
            SlidingMotion::AllAround => relative.angular_rate(),
        }
    }

    /// Residual by the frames' twists, and the power that is lost.
    fn residual_and_loss(&self, relative: &Relative, at: &Motion) -> (PairVector, f64) {
        let rate = self.rate(relative);
        let force = self.pressing(at) * self.bearing.arm * self.friction_force(&rate, at).value;
        (self.wrench(relative, &force), force.dot(&rate))
    }

    /// Residual by the frames' twists of a friction force or moment.
    fn wrench(&self, relative: &Relative, force: &Vector3) -> PairVector {
        match self.sliding_motion {
            SlidingMotion::Along(coordinate) => force.x * coordinate.gradient(relative),
            SlidingMotion::AllAround => {
                let mut residual = PairVector::zeros();
                residual.fixed_rows_mut::<3>(0).copy_from(&-force);
                residual.fixed_rows_mut::<3>(6).copy_from(&relative.rotation.tr_mul(force));
                residual
            }
        }
    }

    /// Derivatives of the rate by the frames' twists: by the configuration, and by the velocities.
    fn rate_by_twists(&self, relative: &Relative) -> (ByTwists, ByTwists) {
        match self.sliding_motion {
            SlidingMotion::Along(coordinate) => {
                let (mut by_configuration, mut by_velocity) = (ByTwists::zeros(), ByTwists::zeros());
                by_configuration.set_row(0, &coordinate.rate_gradient(relative).transpose());
                by_velocity.set_row(0, &coordinate.gradient(relative).transpose());
                (by_configuration, by_velocity)
            }
            SlidingMotion::AllAround => {
                let (by_configuration, by_velocity) = motion_by_twists(relative);
                (by_configuration.fixed_rows::<3>(9).into(), by_velocity.fixed_rows::<3>(9).into())
            }
        }
    }

    /// Derivatives of the residual by the frames' twists: by the configuration, and by the velocities.
    fn residual_by_twists(&self, relative: &Relative, at: &Motion) -> (PairMatrix, PairMatrix) {
        let friction_force = self.friction_force(&self.rate(relative), at);
        let limit = self.pressing(at) * self.bearing.arm;
        let force = limit * friction_force.value;
        let by_rate = limit * self.bearing.arm * friction_force.by_sliding;
        let (rate_by_configuration, rate_by_velocity) = self.rate_by_twists(relative);
        let (mut stiffness, mut damping) = (PairMatrix::zeros(), PairMatrix::zeros());
        match self.sliding_motion {
            SlidingMotion::Along(coordinate) => {
                let gradient = coordinate.gradient(relative);
                damping += by_rate[(0, 0)] * gradient * rate_by_velocity.row(0);
                coordinate.add_hessian(relative, force.x, &mut stiffness);
                stiffness += by_rate[(0, 0)] * gradient * rate_by_configuration.row(0);
            }
            SlidingMotion::AllAround => {
                let back = relative.rotation.transpose();
                let force_by: ByTwists = by_rate * rate_by_velocity;
                damping.fixed_rows_mut::<3>(0).copy_from(&-force_by);
                damping.fixed_rows_mut::<3>(6).copy_from(&(back * force_by));
                let force_by: ByTwists = by_rate * rate_by_configuration;
                stiffness.fixed_rows_mut::<3>(0).copy_from(&-force_by);
                // δ(Rᵀf) = Rᵀ(δf + f~ δθ).
                let (by_configuration, _) = motion_by_twists(relative);
                let turned: ByTwists = force_by + skew(&force) * by_configuration.fixed_rows::<3>(3);
                stiffness.fixed_rows_mut::<3>(6).copy_from(&(back * turned));
            }
        }
        (stiffness, damping)
    }

    fn add_internal_tangent(&self, relative: &Relative, at: &Motion, out: &mut LocalStateTangent) {
        let friction_force = self.friction_force(&self.rate(relative), at);
        let arm = self.bearing.arm;
        let friction = self.wrench(relative, &(arm * friction_force.value));
        for (rows, factor, root, _) in self.pressing_parts(at) {
            for row in rows {
                let by = at.multipliers.get(row).map_or(0.0, |value| factor * value / root);
                self.pair.add_to_nodes(by, &friction, &mut out.force_by_multiplier[row]);
            }
        }
        let limit = self.pressing(at) * arm;
        let (by_configuration, by_velocity) = self.rate_by_twists(relative);
        let sliding_by = arm * friction_force.rate_by_sliding;
        let (by_configuration, by_velocity) = (sliding_by * by_configuration, sliding_by * by_velocity);
        for i in 0..self.bristles.len() {
            let force: Vector3 = limit * friction_force.by_state.column(i);
            self.pair.add_to_nodes(1.0, &self.wrench(relative, &force), &mut out.force_by_state[i]);
            (0..self.bristles.len())
                .for_each(|j| out.rate_by_state[i][j] = friction_force.rate_by_state[(i, j)]);
            let row = by_configuration.row(i).transpose();
            self.pair.add_to_nodes(1.0, &row, &mut out.rate_by_configuration[i]);
            let row = by_velocity.row(i).transpose();
            self.pair.add_to_nodes(1.0, &row, &mut out.rate_by_velocity[i]);
        }
    }
}

impl Element for JointFriction {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts {
            joints: &self.joint,
            internal_states: &self.bristles,
            rate_count: self.bristles.len(),
            ..ElementFacts::on(&self.nodes)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let relative = self.pair.relative(at);
        if let Some(rates) = out.rates.take() {
            let rate = self.friction_force(&self.rate(&relative), at).rate;
            rates.iter_mut().zip(rate.iter()).for_each(|(out, rate)| *out += rate);
        }
        if let Some(wrenches) = out.wrenches.take() {
            self.pair.add_to_nodes(1.0, &self.residual_and_loss(&relative, at).0, wrenches);
        }
        if let Some(tangent) = out.tangent.take() {
            let (stiffness, damping) = self.residual_by_twists(&relative, at);
            self.pair.add_blocks(&damping, |i, j, block| *tangent.damping(i, j) += block);
            if out.weights.stiffness {
                self.pair.add_to_blocks(&stiffness, tangent);
            }
        }
        if let Some(tangent) = out.internal_tangent.take() {
            self.add_internal_tangent(&relative, at, tangent);
        }
        if let Some(power) = out.power.take() {
            power.dissipated = self.residual_and_loss(&relative, at).1;
        }
    }
}
