//! Local parts of elements and joints → rows and blocks of the system.

use super::motion::{TwistDerivatives, add_force, force_by_configuration, twist_from_velocity};
use super::{JointEntry, LocalMotion, System};
use crate::dae::{Point, Tangent, TangentWeights};
use crate::element::{LocalForces, LocalTangent, MOST_NODES, Motion, NodeId};
use crate::joint::{LocalGradient, MOST_ROWS};
use crate::lie::{Group, Matrix6, Vector6};
use crate::solve::block::{BlockId, BlockMatrix};

/// How a node's coordinates enter body twists at a point.
struct NodeChange {
    group: Group,
    /// V = P v.
    twist_from_velocity: Matrix6,
    derivatives: Option<TwistDerivatives>,
}

impl System {
    /// Adds wrenches in body axes to the rows of their nodes.
    pub(super) fn add_forces(
        &self,
        nodes: &[NodeId],
        local: &LocalMotion,
        wrenches: &[Vector6],
        out: &mut [f64],
    ) {
        for ((node, motion), wrench) in nodes.iter().zip(&local.nodes).zip(wrenches) {
            let node = &self.nodes[node.0];
            add_force(node.group, motion, wrench, &mut out[node.velocities.clone()]);
        }
    }

    /// Writes a joint's gradient B in the coordinates of its nodes.
    pub(super) fn write_gradient(
        &self,
        entry: &JointEntry,
        local: &LocalMotion,
        gradient: &LocalGradient,
        out: &mut BlockMatrix,
    ) {
        for (index, (node, &block)) in entry.joint.nodes().iter().zip(&entry.gradient_blocks).enumerate() {
            let group = self.nodes[node.0].group;
            let mut target = out.block_mut(block);
            for (r, row) in gradient.rows.iter().take(entry.rows.len()).enumerate() {
                let mut values = [0.0; 6];
                // A row times P is Pᵀ times the row's transpose: the same as for a wrench.
                let count = group.dimension();
                add_force(group, &local.nodes[index], &row[index], &mut values[..count]);
                for (c, value) in values[..count].iter().enumerate() {
                    target[(r, c)] += value;
                }
            }
        }
    }

    /// d/dt (B v + Φ_t) − B v̇ of one joint.
    pub(super) fn joint_curvature(&self, entry: &JointEntry, at: &Point, out: &mut [f64]) {
        let nodes = entry.joint.nodes();
        let local = self.local_motion(nodes, at);
        let motion = local.motion(at, &entry.memory);
        let (mut rate_gradient, mut gradient) = (LocalGradient::zeros(), LocalGradient::zeros());
        entry.joint.rate_gradient(&motion, &mut rate_gradient);
        entry.joint.gradient(&motion, &mut gradient);
        let (_, second) = entry.joint.time_derivatives(&motion);
        for (r, out) in out.iter_mut().enumerate() {
            *out = second[r];
            for (n, &node) in nodes.iter().enumerate() {
                *out += rate_gradient.rows[r][n].dot(&local.nodes[n].velocity);
                // V̇ at v̇ = 0 is not zero where twists depend on the rotation.
                *out += gradient.rows[r][n].dot(&self.twist_rate_at_rest(node, at));
            }
        }
    }

    /// V̇ of a node for v̇ = 0.
    fn twist_rate_at_rest(&self, node: NodeId, at: &Point) -> Vector6 {
        let node = &self.nodes[node.0];
        let zero = [0.0; 6];
        super::NodeMotion::new(
            node.group,
            &at.configuration[node.coordinates.clone()],
            &at.velocity[node.velocities.clone()],
            &zero[..node.velocities.len()],
        )
        .acceleration
    }

    fn node_changes(&self, nodes: &[NodeId], local: &LocalMotion) -> [Option<NodeChange>; MOST_NODES] {
        std::array::from_fn(|index| {
            let node = nodes.get(index)?;
            let (group, motion) = (self.nodes[node.0].group, &local.nodes[index]);
            Some(NodeChange {
                group,
                twist_from_velocity: twist_from_velocity(group, motion),
                derivatives: TwistDerivatives::new(group, motion),
            })
        })
    }

    pub(super) fn assemble_tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        let mut tangent = LocalTangent::zeros(0);
        for entry in &self.elements {
            let nodes = entry.element.nodes();
            let local = self.local_motion(nodes, at);
            let motion = local.motion(at, &entry.memory);
            tangent.reset(nodes.len());
            entry.element.tangent(&motion, weights, &mut tangent);
            let residual = |motion: &Motion| {
                let mut forces = LocalForces::zeros();
                entry.element.residual(motion, &mut forces);
                forces.wrenches
            };
            let part = LocalPart { nodes, local: &local, blocks: &entry.blocks };
            self.add_tangent(&part, &tangent, || residual(&motion), weights, out);
        }
        for entry in &self.joints {
            self.add_joint_tangent(entry, at, weights, &mut tangent, out);
        }
    }

    pub(super) fn assemble_load_stiffness(&self, at: &Point, out: &mut Tangent) {
        let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: true };
        let mut tangent = LocalTangent::zeros(0);
        for entry in &self.elements {
            let nodes = entry.element.nodes();
            let local = self.local_motion(nodes, at);
            let motion = local.motion(at, &entry.memory);
            tangent.reset(nodes.len());
            entry.element.load_stiffness(&motion, &mut tangent);
            let load = || {
                let mut forces = LocalForces::zeros();
                entry.element.load(&motion, &mut forces);
                forces.wrenches
            };
            let part = LocalPart { nodes, local: &local, blocks: &entry.blocks };
            self.add_tangent(&part, &tangent, load, weights, out);
        }
    }

    fn add_joint_tangent(
        &self,
        entry: &JointEntry,
        at: &Point,
        weights: TangentWeights,
        tangent: &mut LocalTangent,
        out: &mut Tangent,
    ) {
        let nodes = entry.joint.nodes();
        let local = self.local_motion(nodes, at);
        let motion = local.motion(at, &entry.memory);
        let mut gradient = LocalGradient::zeros();
        entry.joint.gradient(&motion, &mut gradient);
        self.write_gradient(entry, &local, &gradient, &mut out.gradient);
        if !weights.stiffness {
            return;
        }
        let multipliers = &at.multipliers[entry.rows.clone()];
        tangent.reset(nodes.len());
        entry.joint.add_reaction_stiffness(&motion, multipliers, tangent);
        let reaction = || {
            let mut wrenches = [Vector6::zeros(); MOST_NODES];
            for (row, lambda) in gradient.rows.iter().zip(multipliers) {
                for (wrench, row) in wrenches.iter_mut().zip(row).take(nodes.len()) {
                    *wrench += *lambda * row;
                }
            }
            wrenches
        };
        let part = LocalPart { nodes, local: &local, blocks: &entry.blocks };
        self.add_tangent(&part, tangent, reaction, weights, out);
        self.add_rate_gradient(entry, &local, &motion, &gradient, &mut out.gradient_rate);
    }

    /// Adds ∂(B v + Φ_t)/∂q: the joint's own, and the change of twists with the rotation.
    fn add_rate_gradient(
        &self,
        entry: &JointEntry,
        local: &LocalMotion,
        motion: &Motion,
        gradient: &LocalGradient,
        out: &mut BlockMatrix,
    ) {
        let mut rate = LocalGradient::zeros();
        entry.joint.rate_gradient(motion, &mut rate);
        self.write_gradient(entry, local, &rate, out);
        for (index, node) in entry.joint.nodes().iter().enumerate() {
            let group = self.nodes[node.0].group;
            let Some(derivatives) = TwistDerivatives::new(group, &local.nodes[index]) else { continue };
            let mut target = out.block_mut(entry.gradient_blocks[index]);
            for (r, row) in gradient.rows.iter().take(entry.rows.len().min(MOST_ROWS)).enumerate() {
                let change = derivatives.velocity_by_configuration.tr_mul(&row[index]);
                for (c, value) in change.iter().enumerate() {
                    target[(r, c)] += value;
                }
            }
        }
    }

    /// Adds local derivatives in body twists as blocks in the coordinates of the nodes.
    fn add_tangent(
        &self,
        part: &LocalPart,
        tangent: &LocalTangent,
        wrenches: impl Fn() -> [Vector6; MOST_NODES],
        weights: TangentWeights,
        out: &mut Tangent,
    ) {
        let n = part.nodes.len();
        if part.nodes.iter().all(|node| self.nodes[node.0].group == Group::Se3) {
            for i in 0..n {
                for j in 0..n {
                    let (mass, damping, stiffness) = tangent.block(i, j);
                    let block = part.blocks[i * n + j];
                    add_block(&mut out.dynamic, block, &(weights.mass * mass + weights.damping * damping));
                    if weights.stiffness {
                        add_block(&mut out.stiffness, block, stiffness);
                    }
                }
            }
            return;
        }
        let changes = self.node_changes(part.nodes, part.local);
        let wrenches = wrenches();
        for (i, row) in changes.iter().flatten().enumerate() {
            for (j, column) in changes.iter().flatten().enumerate() {
                let (mass, damping, stiffness) = tangent.block(i, j);
                let (dynamic, stiffness) = changed(mass, damping, stiffness, column, weights);
                let block = part.blocks[i * n + j];
                let left = &row.twist_from_velocity;
                add_block(&mut out.dynamic, block, &left.tr_mul(&dynamic));
                if weights.stiffness {
                    let mut stiffness = left.tr_mul(&stiffness);
                    if i == j {
                        let turning = force_by_configuration(row.group, &part.local.nodes[i], &wrenches[i]);
                        stiffness += turning.unwrap_or_else(Matrix6::zeros);
                    }
                    add_block(&mut out.stiffness, block, &stiffness);
                }
            }
        }
    }
}

/// The nodes of an element or joint, their motion, and their blocks in the pattern of forces.
struct LocalPart<'a> {
    nodes: &'a [NodeId],
    local: &'a LocalMotion,
    blocks: &'a [BlockId],
}

/// Derivatives by a node's coordinates from those by its body twist: dynamic and stiffness.
fn changed(
    mass: &Matrix6,
    damping: &Matrix6,
    stiffness: &Matrix6,
    column: &NodeChange,
    weights: TangentWeights,
) -> (Matrix6, Matrix6) {
    let right = &column.twist_from_velocity;
    let mut dynamic = (weights.mass * mass + weights.damping * damping) * right;
    let mut stiffness = stiffness * right;
    if let Some(derivatives) = &column.derivatives {
        dynamic += weights.damping * mass * derivatives.acceleration_by_velocity;
        stiffness += mass * derivatives.acceleration_by_configuration
            + damping * derivatives.velocity_by_configuration;
    }
    (dynamic, stiffness)
}

/// Adds the leading part of a matrix to a block, which is smaller for nodes with fewer coordinates.
fn add_block(matrix: &mut BlockMatrix, block: BlockId, values: &Matrix6) {
    let mut target = matrix.block_mut(block);
    let (rows, columns) = target.shape();
    for c in 0..columns {
        for r in 0..rows {
            target[(r, c)] += values[(r, c)];
        }
    }
}
