//! A weighted sum of rates that is kept at a value: κ = Σ c_k u_k − f(t) = 0.
//!
//! The rates are those of joint coordinates, and components of velocities and angular velocities in world
//! axes or in the axes of the frame itself. Sums of the latter follow from no condition on positions.

use std::sync::Arc;

use super::coordinate_joint::TimeLaw;
use super::{Joint, JointFacts, Rows};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Coordinate, FramePair, Motion, NodeId, Relative};
use crate::lie::{Pose, Vector3, skew};

/// What changes at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// A coordinate between the frames; `Translation` from the ground is a velocity in world axes.
    Coordinate(Coordinate),
    /// Component of the second frame's velocity along its own axis.
    OwnVelocity(usize),
    /// Component of the second frame's angular velocity along its own axis.
    OwnAngularVelocity(usize),
    /// Component of the second frame's angular velocity along an axis of the first.
    AngularVelocity(usize),
}

impl Rate {
    fn gradient(self, relative: &Relative) -> PairVector {
        let mut row = PairVector::zeros();
        match self {
            Self::Coordinate(coordinate) => return coordinate.gradient(relative),
            Self::OwnVelocity(axis) => row[9 + axis] = 1.0,
            Self::OwnAngularVelocity(axis) => row[6 + axis] = 1.0,
            Self::AngularVelocity(axis) => {
                row[axis] = -1.0;
                row.fixed_rows_mut::<3>(6).copy_from(&relative.rotation.row(axis).transpose());
            }
        }
        row
    }

    /// Adds `weight` times the derivative of the gradient.
    fn add_matrix(self, relative: &Relative, weight: f64, out: &mut PairMatrix) {
        match self {
            Self::Coordinate(coordinate) => coordinate.add_hessian(relative, weight, out),
            Self::OwnVelocity(_) | Self::OwnAngularVelocity(_) => {}
            Self::AngularVelocity(axis) => {
                // δ(Rᵀe) = −Rᵀẽ δΘ₁ + (Rᵀe)~ δΘ₂.
                let own: Vector3 = relative.rotation.row(axis).transpose();
                let mut first = out.fixed_view_mut::<3, 3>(6, 0);
                first -= weight * relative.rotation.tr_mul(&skew(&Vector3::ith(axis, 1.0)));
                let mut second = out.fixed_view_mut::<3, 3>(6, 6);
                second += weight * skew(&own);
            }
        }
    }

    fn is_angular(self) -> bool {
        match self {
            Self::Coordinate(coordinate) => {
                !matches!(coordinate, Coordinate::Translation(_) | Coordinate::Distance)
            }
            Self::OwnVelocity(_) => false,
            Self::OwnAngularVelocity(_) | Self::AngularVelocity(_) => true,
        }
    }
}

/// One rate in the sum.
#[derive(Clone, Copy, Debug)]
pub struct RateTerm {
    /// Nodes of the first and second frame; `None` is the ground.
    pub nodes: [Option<NodeId>; 2],
    /// Frames in body axes, or in the world on the ground.
    pub offsets: [Pose; 2],
    /// The rate.
    pub rate: Rate,
    /// Factor c_k.
    pub factor: f64,
}

/// A weighted sum of rates that is kept at a value.
#[derive(Clone, Debug)]
pub struct VelocityCoupling {
    nodes: Vec<NodeId>,
    terms: Vec<(FramePair, Rate, f64)>,
    target: Arc<dyn TimeLaw>,
}

impl VelocityCoupling {
    /// Keeps Σ c_k u_k at a function of time.
    pub fn new(terms: &[RateTerm], target: Arc<dyn TimeLaw>) -> Self {
        let mut nodes = Vec::new();
        let terms = (terms.iter())
            .map(|term| (FramePair::new(term.nodes, term.offsets, &mut nodes), term.rate, term.factor))
            .collect();
        Self { nodes, terms, target }
    }
}

impl Joint for VelocityCoupling {
    fn facts(&self) -> JointFacts<'_> {
        let mut facts = JointFacts { nonholonomic_rows: 1, ..JointFacts::new(&self.nodes, 0) };
        facts.nonholonomic_torques[0] = self.terms.iter().all(|(_, rate, _)| rate.is_angular());
        let first = self.terms.first();
        facts.reaction_frame = first.map_or((None, Pose::identity()), |(pair, _, _)| pair.second_frame());
        facts
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let rows = &mut out.nonholonomic;
        if let Some([value, rate]) = rows.by_time.take() {
            let target = self.target.at(at.time);
            (value[0], rate[0]) = (-target[0], -target[1]);
        }
        let (mut gradient, mut stiffness, mut rate_gradient) =
            (rows.gradient.take(), rows.stiffness.take(), rows.rate_gradient.take());
        for (pair, rate, factor) in &self.terms {
            let relative = pair.relative(at);
            let matrix = |weight: f64| {
                let mut matrix = PairMatrix::zeros();
                rate.add_matrix(&relative, weight, &mut matrix);
                matrix
            };
            if let Some(gradient) = &mut gradient {
                pair.add_to_nodes(*factor, &rate.gradient(&relative), &mut gradient.rows[0]);
            }
            if let Some(stiffness) = &mut stiffness {
                pair.add_to_blocks(&matrix(rows.multipliers[0] * factor), stiffness);
            }
            if let Some(rate_gradient) = &mut rate_gradient {
                let row = matrix(*factor).tr_mul(&relative.twist());
                pair.add_to_nodes(1.0, &row, &mut rate_gradient.rows[0]);
            }
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.target.corners(from, to)
    }
}
