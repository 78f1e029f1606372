//! Degrees of freedom of a machine, by the rank of its constraint gradients: how many velocities can be
//! chosen freely.

use crate::constrained::Redundancy;
use crate::dae::Dae;
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
        Self::from_redundancy(system, &Redundancy::find(system, time, configuration))
    }

    /// Counts by joint what an analysis found.
    pub fn from_redundancy(system: &System, redundancy: &Redundancy) -> Self {
        let shape = system.shape();
        let (first_nonholonomic, idle) = (shape.constraint_count(), &redundancy.idle);
        // What is switched off follows from nothing; it only takes no freedom.
        let works = |row: &usize| idle.binary_search(row).is_err();
        let implied: Vec<usize> = redundancy.implied.iter().copied().filter(works).collect();
        let nonholonomic = redundancy.implied_nonholonomic.iter().copied();
        let implied_nonholonomic: Vec<usize> =
            nonholonomic.filter(|row| works(&(first_nonholonomic + row))).collect();
        Self {
            velocity_coordinates: shape.velocity_count(),
            equations: shape.constraint_count() + shape.nonholonomic_count(),
            independent: shape.constraint_count() - redundancy.implied.len() + shape.nonholonomic_count()
                - redundancy.implied_nonholonomic.len(),
            implied: by_joint(system, &implied, &implied_nonholonomic),
            shared: by_joint(system, &redundancy.shared, &redundancy.shared_nonholonomic),
        }
    }
}

/// How many of some equations each joint has; joints with none are left out.
fn by_joint(system: &System, equations: &[usize], nonholonomic: &[usize]) -> Vec<(usize, usize)> {
    let count = |rows: std::ops::Range<usize>, equations: &[usize]| {
        equations.partition_point(|&row| row < rows.end) - equations.partition_point(|&row| row < rows.start)
    };
    let counts = (0..system.joint_count()).map(|joint| {
        let holonomic = count(system.joint_rows(joint), equations);
        (joint, holonomic + count(system.joint_nonholonomic(joint), nonholonomic))
    });
    counts.filter(|(_, count)| *count > 0).collect()
}
