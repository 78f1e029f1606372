//! What an element sees and what it fills: a few nodes in body twists.

use super::{MAX_NODES, NodeMotion};
use crate::dae::TangentWeights;
use crate::lie::{Matrix6, Vector6, se3};

/// Time and the motion of an element's nodes, in the element's order.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Time in s.
    pub time: f64,
    /// Motion of each node.
    pub nodes: &'a [NodeMotion],
    /// What the part remembers: joint angles at the last accepted step, by which full turns are counted, or
    /// section forces.
    pub memory: &'a [f64],
    /// States that the part reads, in its order.
    pub internal_states: &'a [f64],
    /// Multipliers of the joints that the part reads, joint after joint.
    pub multipliers: &'a [f64],
}

impl<'a> Motion<'a> {
    /// The motion of a part that remembers and reads nothing.
    pub fn new(time: f64, nodes: &'a [NodeMotion]) -> Self {
        Self { time, nodes, memory: &[], internal_states: &[], multipliers: &[] }
    }
}

/// Derivatives of an element's wrenches with respect to the body twists of its nodes.
#[derive(Clone, Debug)]
pub struct LocalTangent {
    node_count: usize,
    /// Whether mass or damping were asked for: otherwise they hold zeros.
    dynamic: bool,
    /// ∂r/∂q at fixed twists.
    stiffness: [Matrix6; MAX_NODES * MAX_NODES],
    /// ∂r/∂V̇; block (i, j) at `i · n + j`.
    mass: [Matrix6; MAX_NODES * MAX_NODES],
    damping: [Matrix6; MAX_NODES * MAX_NODES],
}

impl LocalTangent {
    /// Zero derivatives for a number of nodes.
    pub fn zeros(node_count: usize) -> Self {
        let zeros = [Matrix6::zeros(); MAX_NODES * MAX_NODES];
        Self { node_count, dynamic: false, stiffness: zeros, mass: zeros, damping: zeros }
    }

    /// Zero derivatives again, for another number of nodes.
    pub fn reset(&mut self, node_count: usize) {
        if self.dynamic {
            let count = self.node_count * self.node_count;
            for blocks in [&mut self.mass, &mut self.damping] {
                blocks[..count].fill(Matrix6::zeros());
            }
        }
        self.dynamic = false;
        self.node_count = node_count;
        self.stiffness[..node_count * node_count].fill(Matrix6::zeros());
    }

    /// Whether forces may depend on velocities and accelerations.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// ∂r_i/∂V̇_j, to be added to.
    pub fn mass(&mut self, i: usize, j: usize) -> &mut Matrix6 {
        self.dynamic = true;
        &mut self.mass[i * self.node_count + j]
    }

    /// ∂r_i/∂V_j, to be added to.
    pub fn damping(&mut self, i: usize, j: usize) -> &mut Matrix6 {
        self.dynamic = true;
        &mut self.damping[i * self.node_count + j]
    }

    /// ∂r_i/∂q_j at fixed twists, to be added to.
    pub fn stiffness(&mut self, i: usize, j: usize) -> &mut Matrix6 {
        &mut self.stiffness[i * self.node_count + j]
    }

    /// All derivatives of block (i, j): mass, damping, stiffness.
    pub fn block(&self, i: usize, j: usize) -> (&Matrix6, &Matrix6, &Matrix6) {
        let index = i * self.node_count + j;
        (&self.mass[index], &self.damping[index], &self.stiffness[index])
    }
}

/// Most equations that one joint may have.
pub const MAX_ROWS: usize = 6;

/// Derivatives of a joint's equations with respect to the body twists of its nodes: rows × nodes.
#[derive(Clone, Debug)]
pub struct LocalGradient {
    /// `rows[r][n]` is the derivative of equation r by the twist of node n.
    pub rows: [[Vector6; MAX_NODES]; MAX_ROWS],
}

impl LocalGradient {
    /// Zero derivatives.
    pub fn zeros() -> Self {
        Self { rows: [[Vector6::zeros(); MAX_NODES]; MAX_ROWS] }
    }

    /// Zero derivatives again in the first rows and nodes.
    pub fn reset(&mut self, row_count: usize, node_count: usize) {
        self.rows[..row_count].iter_mut().for_each(|row| row[..node_count].fill(Vector6::zeros()));
    }

    /// Adds the products of multipliers with their rows: a wrench per node.
    #[inline]
    pub fn transpose_multiply_add(&self, multipliers: &[f64], out: &mut [Vector6]) {
        for (row, lambda) in self.rows.iter().zip(multipliers) {
            out.iter_mut().zip(row).for_each(|(wrench, row)| *wrench += *lambda * row);
        }
    }

    /// Adds the products of the rows with the twists of the nodes.
    pub fn multiply_add(&self, nodes: &[NodeMotion], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(&self.rows) {
            *out += row.iter().zip(nodes).map(|(row, node)| row.dot(&node.velocity)).sum::<f64>();
        }
    }
}

/// Stored energies in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy of gravity.
    pub potential: f64,
    /// Energy stored in springs and flexible parts.
    pub strain: f64,
}

impl Energies {
    /// Sum of all.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential + self.strain
    }
}

impl std::ops::AddAssign for Energies {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.potential += other.potential;
        self.strain += other.strain;
    }
}

/// Power in W.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// Put into the machine by applied forces and drives.
    pub applied: f64,
    /// Lost in dampers and friction; never negative for a true damper.
    pub dissipated: f64,
}

impl std::ops::AddAssign for Power {
    fn add_assign(&mut self, other: Self) {
        self.applied += other.applied;
        self.dissipated += other.dissipated;
    }
}

/// Only derivatives by the configuration.
pub(crate) const STIFFNESS_ONLY: TangentWeights =
    TangentWeights { mass: 0.0, damping: 0.0, stiffness: true, remembered_forces: false };

/// Moves a node's pose along one direction of its body twist.
pub(crate) fn shift_pose(node: &mut NodeMotion, direction: usize, distance: f64) {
    let mut twist = Vector6::zeros();
    twist[direction] = distance;
    node.pose = node.pose.compose(&se3::exp(&twist));
    node.rotation = node.pose.rotation.to_rotation_matrix().into_inner();
}
