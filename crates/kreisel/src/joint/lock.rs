//! A lock: holds a joint's coordinate where it was when the lock was switched on.

use std::f64::consts::TAU;

use super::Joint;
use super::coordinate_joint::{CoordinateJoint, Row};
use crate::kinematics::{Coordinate, LocalGradient, LocalTangent, Motion, NodeId};
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

    /// What the coordinate remembers, and the shift of x₀.
    fn inner<'a>(&self, at: &Motion<'a>) -> (Motion<'a>, f64) {
        match at.memory.split_last() {
            Some((shift, memory)) => (Motion { memory, ..*at }, *shift),
            None => (*at, 0.0),
        }
    }
}

impl Joint for Lock {
    fn nodes(&self) -> &[NodeId] {
        self.joint.nodes()
    }

    fn size(&self) -> usize {
        1
    }

    fn violation(&self, at: &Motion, out: &mut [f64]) {
        let (motion, shift) = self.inner(at);
        self.joint.violation(&motion, out);
        out[0] -= shift;
        if self.turns {
            out[0] -= TAU * (out[0] / TAU).round();
        }
    }

    fn gradient(&self, at: &Motion, out: &mut LocalGradient) {
        self.joint.gradient(&self.inner(at).0, out);
    }

    fn add_reaction_stiffness(&self, at: &Motion, multipliers: &[f64], out: &mut LocalTangent) {
        self.joint.add_reaction_stiffness(&self.inner(at).0, multipliers, out);
    }

    fn rate_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        self.joint.rate_gradient(&self.inner(at).0, out);
    }

    fn is_torque(&self, row: usize) -> bool {
        self.joint.is_torque(row)
    }

    fn memory_count(&self) -> usize {
        self.joint.memory_count() + 1
    }

    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        if let Some((_, memory)) = memory.split_last_mut() {
            self.joint.remember(&self.inner(at).0, memory);
        }
    }

    fn engage(&self, at: &Motion, memory: &mut [f64]) {
        let mut missing = [0.0];
        self.violation(at, &mut missing);
        if let Some(shift) = memory.last_mut() {
            *shift += missing[0];
        }
    }

    fn reaction_frame(&self) -> (Option<usize>, Pose) {
        self.joint.reaction_frame()
    }
}
