//! Local parts of elements and joints → rows and blocks of the system.

use super::motion::{
    TwistDerivatives, add_force, add_force_by_configuration, by_coordinates, on_coordinates,
};
use super::{JointEntry, NodeMotion, System};
use crate::dae::{Point, Tangent, TangentWeights};
use crate::element::{LocalForces, LocalTangent, MOST_NODES, Motion, NodeId, STIFFNESS_ONLY};
use crate::joint::{LocalGradient, MOST_ROWS};
use crate::lie::{Group, Matrix6, Vector6};
use crate::solve::block::{BlockId, BlockMatrix};

impl System {
    /// Adds wrenches in body axes to the rows of their nodes.
    pub(super) fn add_forces(
        &self,
        nodes: &[NodeId],
        motions: &[NodeMotion],
        wrenches: &[Vector6],
        out: &mut [f64],
    ) {
        for ((node, motion), wrench) in nodes.iter().zip(motions).zip(wrenches) {
            let node = &self.nodes[node.0];
            add_force(node.group, motion, wrench, &mut out[node.velocities.clone()]);
        }
    }

    /// Adds a joint's rows, given by body twists, to blocks in the coordinates of its nodes.
    pub(super) fn write_rows(&self, part: &Rows, gradient: &LocalGradient, out: &mut BlockMatrix) {
        let row_count = part.count;
        for (index, (node, &block)) in part.nodes.iter().zip(part.blocks).enumerate() {
            let group = self.nodes[node.0].group;
            let target = out.block_values_mut(block);
            for (r, row) in gradient.rows.iter().take(row_count).enumerate() {
                let mut values = [0.0; 6];
                // A row times P is Pᵀ times the row's transpose: the same as for a wrench.
                let count = group.dimension();
                add_force(group, &part.motions[index], &row[index], &mut values[..count]);
                for (target, value) in target[r..].iter_mut().step_by(row_count).zip(&values[..count]) {
                    *target += value;
                }
            }
        }
    }

    /// Writes a joint's rows of B: by themselves, or with their transpose to where the derivatives of forces are folded.
    pub(super) fn write_gradient(&self, part: &Rows, gradient: &LocalGradient, out: &mut Tangent) {
        let places = match &out.fold {
            Some(fold) if !fold.gradient.is_empty() => &fold.gradient,
            _ => return self.write_rows(part, gradient, &mut out.gradient),
        };
        for (index, (node, block)) in part.nodes.iter().zip(part.blocks).enumerate() {
            let group = self.nodes[node.0].group;
            let (count, place) = (group.dimension(), places[block.index()]);
            let mut values = [[0.0; 6]; MOST_ROWS];
            for (values, row) in values.iter_mut().zip(&gradient.rows).take(part.count) {
                add_force(group, &part.motions[index], &row[index], &mut values[..count]);
            }
            let values = &values[..part.count];
            let columns = out.stiffness.block_values_mut(place.row).chunks_exact_mut(part.count.max(1));
            for (c, column) in columns.enumerate() {
                column.iter_mut().zip(values).for_each(|(target, row)| *target = row[c]);
            }
            let transposed = out.stiffness.block_values_mut(place.column).chunks_exact_mut(count.max(1));
            transposed.zip(values).for_each(|(column, row)| column.copy_from_slice(&row[..count]));
        }
    }

    /// d/dt (B v + Φ_t) − B v̇ of one joint.
    pub(super) fn joint_curvature(&self, entry: &JointEntry, at: &Point, out: &mut [f64]) {
        let nodes = &entry.nodes[..];
        self.with_motion(nodes, at, &entry.memory, |motion| {
            let (mut rate_gradient, mut gradient) = (LocalGradient::zeros(), LocalGradient::zeros());
            entry.joint.rate_gradient(motion, &mut rate_gradient);
            entry.joint.gradient(motion, &mut gradient);
            let (_, second) = entry.joint.time_derivatives(motion);
            for (r, out) in out.iter_mut().enumerate() {
                *out = second[r];
                for (n, &node) in nodes.iter().enumerate() {
                    *out += rate_gradient.rows[r][n].dot(&motion.nodes[n].velocity);
                    // V̇ at v̇ = 0 is not zero where twists depend on the rotation.
                    *out += gradient.rows[r][n].dot(&self.twist_rate_at_rest(node, at));
                }
            }
        });
    }

    /// V̇ of a node for v̇ = 0.
    pub(super) fn twist_rate_at_rest(&self, node: NodeId, at: &Point) -> Vector6 {
        let node = &self.nodes[node.0];
        let zero = [0.0; 6];
        NodeMotion::new(
            node.group,
            &at.configuration[node.coordinates.clone()],
            &at.velocity[node.velocities.clone()],
            &zero[..node.velocities.len()],
        )
        .acceleration
    }

    pub(super) fn assemble_load_stiffness(&self, at: &Point, out: &mut Tangent) {
        let mut tangent = LocalTangent::zeros(0);
        let found = self.found(at.memory);
        let places = self.places_in(found.as_ref(), out.dynamic.pattern());
        let places = places.as_deref();
        for entry in self.elements_on(at) {
            let nodes = &entry.nodes[..];
            self.with_element(entry, at, |motion| {
                tangent.reset(nodes.len());
                entry.element.load_stiffness(motion, &mut tangent);
                let load = || {
                    let mut forces = LocalForces::zeros();
                    entry.element.load(motion, &mut forces);
                    forces.wrenches
                };
                let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
                self.add_tangent(&part, &tangent, load, STIFFNESS_ONLY, out);
            });
        }
    }

    /// Adds the derivative by q of a gradient times velocities: the joint's own, and the change of twists with the rotation.
    pub(super) fn add_rate_gradient(
        &self,
        part: &Rows,
        [gradient, rate]: [&LocalGradient; 2],
        out: &mut BlockMatrix,
    ) {
        self.write_rows(part, rate, out);
        let row_count = part.count;
        for (index, node) in part.nodes.iter().enumerate() {
            let group = self.nodes[node.0].group;
            let Some(derivatives) = TwistDerivatives::new(group, &part.motions[index]) else { continue };
            let target = out.block_values_mut(part.blocks[index]);
            for (r, row) in gradient.rows.iter().take(row_count).enumerate() {
                let change = derivatives.velocity_by_configuration_transposed(&row[index]);
                for (target, value) in target[r..].iter_mut().step_by(row_count).zip(change.iter()) {
                    *target += value;
                }
            }
        }
    }

    fn all_on_se3(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().all(|node| self.nodes[node.0].group == Group::Se3)
    }

    /// Adds local derivatives in body twists as blocks in the coordinates of the nodes.
    pub(super) fn add_tangent(
        &self,
        part: &LocalPart,
        tangent: &LocalTangent,
        wrenches: impl FnOnce() -> [Vector6; MOST_NODES],
        weights: TangentWeights,
        out: &mut Tangent,
    ) {
        let n = part.nodes.len();
        let dynamic = |i, j| {
            let (mass, damping, _) = tangent.block(i, j);
            weights.mass * mass + weights.damping * damping
        };
        if self.all_on_se3(part.nodes) {
            for index in 0..part.blocks.len() {
                let (i, j) = (index / n, index % n);
                let stiffness = weights.stiffness.then_some(tangent.block(i, j).2);
                let dynamic = tangent.is_dynamic().then(|| dynamic(i, j));
                add_derivatives(part.block(index), part.nodes[j], dynamic.as_ref(), stiffness, out);
            }
            return;
        }
        let wrenches = wrenches();
        for (j, motion) in part.motions.iter().enumerate() {
            let column = self.nodes[part.nodes[j].0].group;
            let derivatives = TwistDerivatives::new(column, motion).filter(|_| tangent.is_dynamic());
            for (i, (at_row, wrench)) in part.motions.iter().zip(&wrenches).enumerate() {
                let row = self.nodes[part.nodes[i].0].group;
                let (mass, damping, stiffness) = tangent.block(i, j);
                let dynamic = tangent.is_dynamic().then(|| {
                    let mut dynamic = by_coordinates(column, motion, &dynamic(i, j));
                    if let Some(derivatives) = &derivatives {
                        derivatives.add_acceleration_by_velocity(&(weights.damping * mass), &mut dynamic);
                    }
                    on_coordinates(row, at_row, &dynamic)
                });
                let stiffness = weights.stiffness.then(|| {
                    let mut stiffness = by_coordinates(column, motion, stiffness);
                    if let Some(derivatives) = &derivatives {
                        derivatives.add_acceleration_by_configuration(mass, &mut stiffness);
                        derivatives.add_velocity_by_configuration(damping, &mut stiffness);
                    }
                    let mut stiffness = on_coordinates(row, at_row, &stiffness);
                    if i == j {
                        add_force_by_configuration(row, motion, wrench, &mut stiffness);
                    }
                    stiffness
                });
                let (block, column) = (part.block(i * n + j), part.nodes[j]);
                add_derivatives(block, column, dynamic.as_ref(), stiffness.as_ref(), out);
            }
        }
    }
}

/// Equations of a joint: its nodes, their motion, and their blocks in a pattern of constraints.
pub(super) struct Rows<'a> {
    pub nodes: &'a [NodeId],
    pub motions: &'a [NodeMotion],
    pub blocks: &'a [BlockId],
    pub count: usize,
}

impl JointEntry {
    pub(super) fn holonomic_rows<'a>(&'a self, motions: &'a [NodeMotion]) -> Rows<'a> {
        Rows { nodes: &self.nodes, motions, blocks: &self.gradient_blocks, count: self.rows.len() }
    }

    /// Writes Φ_t, over zeros.
    pub(super) fn write_time_rates(&self, motion: &Motion, out: &mut [f64]) {
        if self.joint.is_rheonomic() {
            let (rates, _) = self.joint.time_derivatives(motion);
            out.copy_from_slice(&rates[..out.len()]);
        }
    }
}

/// Wrenches of multipliers on the nodes of their joint, with the sign of the equations of motion.
pub(super) fn reaction(gradient: &LocalGradient, multipliers: &[f64], nodes: usize) -> [Vector6; MOST_NODES] {
    let mut wrenches = [Vector6::zeros(); MOST_NODES];
    for (row, lambda) in gradient.rows.iter().zip(multipliers) {
        for (wrench, row) in wrenches.iter_mut().zip(row).take(nodes) {
            *wrench += *lambda * row;
        }
    }
    wrenches
}

/// The nodes of an element or joint, their motion, and their blocks in the pattern of forces.
pub(super) struct LocalPart<'a> {
    pub nodes: &'a [NodeId],
    pub motions: &'a [NodeMotion],
    pub blocks: &'a [BlockId],
    /// Where the blocks are if the pattern has those of pairs that touch besides.
    pub places: Option<&'a [BlockId]>,
}

impl LocalPart<'_> {
    /// Block (i, j) at `i · n + j`.
    fn block(&self, index: usize) -> BlockId {
        let block = self.blocks[index];
        self.places.map_or(block, |places| places[block.index()])
    }
}

/// Adds derivatives of a node's forces by the coordinates of another one.
#[inline]
fn add_derivatives(
    block: BlockId,
    column: NodeId,
    dynamic: Option<&Matrix6>,
    stiffness: Option<&Matrix6>,
    out: &mut Tangent,
) {
    let Some(fold) = &out.fold else {
        for (matrix, values) in [(&mut out.dynamic, dynamic), (&mut out.stiffness, stiffness)] {
            if let Some(values) = values {
                add_block(matrix, block, values);
            }
        }
        return;
    };
    if let Some(dynamic) = dynamic.filter(|_| fold.dynamic_wanted) {
        add_block(&mut out.dynamic, block, dynamic);
    }
    let (place, matrix) = (fold.places[block.index()], &mut out.stiffness);
    match matrix.block_values_mut(place).as_mut_array::<36>() {
        // Known sizes make a few vector operations of the loops.
        Some(target) => fold.add(column.0, dynamic, stiffness, 6, target),
        None => {
            let rows = matrix.pattern().shape_of(place).0;
            fold.add(column.0, dynamic, stiffness, rows, matrix.block_values_mut(place));
        }
    }
}

/// Adds the leading part of a matrix to a block, which is smaller for nodes with fewer coordinates.
fn add_block(matrix: &mut BlockMatrix, block: BlockId, values: &Matrix6) {
    if let Some(target) = matrix.block_values_mut(block).as_mut_array::<36>() {
        target.iter_mut().zip(values.as_slice()).for_each(|(target, value)| *target += value);
        return;
    }
    let (rows, _) = matrix.pattern().shape_of(block);
    let target = matrix.block_values_mut(block);
    for (target, column) in target.chunks_exact_mut(rows.max(1)).zip(values.column_iter()) {
        target.iter_mut().zip(column.iter()).for_each(|(target, value)| *target += value);
    }
}
