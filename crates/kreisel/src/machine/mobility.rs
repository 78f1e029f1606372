//! Degrees of freedom of a machine, by the rank of its constraint gradient.

use crate::dae::Dae;
use crate::integrate::Redundancy;
use crate::system::System;

/// How a machine can move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mobility {
    /// Number of velocity coordinates.
    pub velocity_coordinates: usize,
    /// Number of constraint equations.
    pub equations: usize,
    /// Number of independent equations.
    pub independent: usize,
    /// Joints with equations that others imply, and how many.
    pub implied: Vec<(usize, usize)>,
    /// Joints whose reactions are not unique, with the number of equations that share theirs.
    pub shared: Vec<(usize, usize)>,
}

impl Mobility {
    /// Degrees of freedom.
    pub fn degrees_of_freedom(&self) -> usize {
        self.velocity_coordinates.saturating_sub(self.independent)
    }

    /// Analyses a machine at a configuration.
    pub fn new(system: &System, time: f64, configuration: &[f64]) -> Self {
        Self::of(system, &Redundancy::find(system, time, configuration))
    }

    /// Counts by joint what an analysis found.
    pub fn of(system: &System, redundancy: &Redundancy) -> Self {
        let shape = system.shape();
        Self {
            velocity_coordinates: shape.velocity_count(),
            equations: shape.constraint_count(),
            independent: shape.constraint_count() - redundancy.implied.len(),
            implied: by_joint(system, &redundancy.implied),
            shared: by_joint(system, &redundancy.shared),
        }
    }
}

/// How many of some equations each joint has; joints with none are left out.
fn by_joint(system: &System, equations: &[usize]) -> Vec<(usize, usize)> {
    let mut rest = equations;
    let mut counts = Vec::new();
    for joint in 0..system.joint_count() {
        let end = system.joint_rows(joint).end;
        let count = rest.partition_point(|&equation| equation < end);
        if count > 0 {
            counts.push((joint, count));
        }
        rest = &rest[count..];
    }
    counts
}
