//! Coulomb friction in a joint, driven by the joint's own reaction.
//!
//! The multipliers λ of locked displacements are the force in the joint, those of locked directions its moment; with the
//! length l of the bearing, whose ends take a moment M as two forces M/l, the surfaces press with
//!
//! ```text
//! N = √(|F|² + ε²) − ε + 2 (√(|M|² + (ε l)²) − ε l)/l
//! ```
//!
//! and friction is μ N tanh(v/v_t) at the arm r: against the displacement (r = 1), the angle or the angular velocity of the
//! joint. λ belongs to the unknowns of the step, so that friction and reaction agree within Newton's iteration. ε is far below
//! any force of a machine and only makes N smooth where nothing presses.

use std::ops::Range;

use super::{Element, LocalForces, LocalTangent, Motion, NodeId, Power};
use crate::dae::TangentWeights;
use crate::joint::frame::{PairMatrix, PairVector};
use crate::joint::{Coordinate, FramePair, Relative, pair_between};
use crate::lie::Pose;

/// Against what a joint's friction acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rubbing {
    /// A displacement or an angle.
    Along(Coordinate),
    /// The angular velocity in a ball joint.
    AllAround,
}

/// Coefficient and geometry of a joint's friction.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearing {
    /// Coefficient μ.
    pub coefficient: f64,
    /// Arm r in m at which friction acts against a rotation; 1 for displacements.
    pub arm: f64,
    /// Speed or angular speed at which 76 % of the friction act.
    pub transition: f64,
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
        Self { nodes, pair, joint: [joint], rubbing, bearing }
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

    /// The largest friction μ N r.
    fn limit(&self, at: &Motion) -> f64 {
        self.bearing.coefficient * self.bearing.arm * self.pressing(at)
    }

    /// tanh(v/v_t)/v.
    fn per_rate(&self, rate: f64) -> f64 {
        let scaled = rate / self.bearing.transition;
        if scaled.abs() < 1e-4 { 1.0 / self.bearing.transition } else { scaled.tanh() / rate }
    }

    /// Residual by the frames' twists, and the power that is lost.
    fn evaluate(&self, relative: &Relative, at: &Motion) -> (PairVector, f64) {
        let limit = self.limit(at);
        match self.rubbing {
            Rubbing::Along(coordinate) => {
                let rate = coordinate.rate(relative);
                let force = limit * self.per_rate(rate) * rate;
                (force * coordinate.gradient(relative), force * rate)
            }
            Rubbing::AllAround => {
                let spin = relative.angular_rate();
                let torque = limit * self.per_rate(spin.norm()) * spin;
                let mut residual = PairVector::zeros();
                residual.fixed_rows_mut::<3>(0).copy_from(&-torque);
                residual.fixed_rows_mut::<3>(6).copy_from(&relative.rotation.tr_mul(&torque));
                (residual, torque.dot(&spin))
            }
        }
    }
}

impl Element for JointFriction {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn joints(&self) -> &[usize] {
        &self.joint
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
        let (limit, rate) = (self.limit(at), coordinate.rate(&relative));
        let turn = (rate / self.bearing.transition).tanh();
        let by_rate = limit * (1.0 - turn * turn) / self.bearing.transition;
        let gradient = coordinate.gradient(&relative);
        let mut matrix = PairMatrix::zeros();
        matrix.ger(by_rate, &gradient, &gradient, 0.0);
        self.pair.add_blocks(&matrix, |i, j, block| *out.damping(i, j) += block);
        if weights.stiffness {
            let mut matrix = PairMatrix::zeros();
            coordinate.add_hessian(&relative, limit * turn, &mut matrix);
            matrix.ger(by_rate, &gradient, &coordinate.rate_gradient(&relative), 1.0);
            self.pair.add_to_blocks(&matrix, out);
        }
    }

    fn power(&self, at: &Motion) -> Power {
        Power { dissipated: self.evaluate(&self.pair.relative(at), at).1, ..Power::default() }
    }
}
