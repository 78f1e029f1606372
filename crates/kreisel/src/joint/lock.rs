//! A lock: holds a joint's coordinate where it was when the lock was switched on.

use std::f64::consts::TAU;

use super::coordinate_joint::{CoordinateJoint, Row};
use super::{Joint, JointFacts, RowValues, Rows};
use crate::kinematics::{Coordinate, Motion, NodeId};
use crate::lie::Pose;

/// Holds one coordinate between two frames: x − x₀ = 0, with x₀ the value where the lock was switched on.
///
/// Remembers what the coordinate itself remembers and, last, how far x₀ lies from the value at the start.
#[derive(Clone, Debug)]
pub struct Lock {
    joint: CoordinateJoint,
    /// Whether the coordinate is an angle, of which full turns do not count here.
    turns: bool,
}

impl Lock {
    /// A lock that holds `start` until it is switched.
    pub fn new(nodes: [Option<NodeId>; 2], offsets: [Pose; 2], coordinate: Coordinate, start: f64) -> Self {
        let joint = CoordinateJoint::between(nodes, offsets, vec![Row::keep(coordinate, start)]);
        Self { joint, turns: coordinate.counts_turns() }
    }

    /// Asks for values of x − x₀ without the shift.
    fn ask(&self, at: &Motion, holonomic: RowValues) {
        self.joint.evaluate(at, &mut Rows { holonomic, ..Rows::default() });
    }

    /// What the coordinate remembers, and the shift of x₀.
    fn inner<'a>(&self, at: &Motion<'a>) -> (Motion<'a>, f64) {
        match at.memory.split_last() {
            Some((shift, memory)) => (Motion { memory, ..*at }, *shift),
            None => (*at, 0.0),
        }
    }
}

impl Joint for Lock {
    fn facts(&self) -> JointFacts<'_> {
        let facts = self.joint.facts();
        JointFacts { memory: facts.memory + 1, ..facts }
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let ((motion, shift), rows) = (self.inner(at), &mut out.holonomic);
        if let Some(violation) = rows.violation.take() {
            self.ask(&motion, RowValues { violation: Some(&mut *violation), ..RowValues::default() });
            violation[0] -= shift;
            if self.turns {
                violation[0] -= TAU * (violation[0] / TAU).round();
            }
        }
        let (gradient, rate_gradient) = (rows.gradient.take(), rows.rate_gradient.take());
        let (multipliers, stiffness) = (rows.multipliers, rows.stiffness.take());
        let derivatives =
            RowValues { multipliers, gradient, stiffness, rate_gradient, ..RowValues::default() };
        self.ask(&motion, derivatives);
    }

    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        if let Some((_, memory)) = memory.split_last_mut() {
            self.joint.remember(&self.inner(at).0, memory);
        }
    }

    fn engage(&self, at: &Motion, memory: &mut [f64]) {
        let mut missing = [0.0];
        let violation = RowValues { violation: Some(&mut missing), ..RowValues::default() };
        self.evaluate(at, &mut Rows { holonomic: violation, ..Rows::default() });
        if let Some(shift) = memory.last_mut() {
            *shift += missing[0];
        }
    }
}
