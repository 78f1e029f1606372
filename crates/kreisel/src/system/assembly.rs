//! Local parts of elements and joints → rows and blocks of the system.

use super::{System, SystemElement, SystemJoint};
use crate::dae::{GradientPlace, Point, Tangent, TangentWeights};
use crate::element::Forces;
use crate::joint::RowValues;
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId, NodeMotion, STIFFNESS_ONLY,
    TwistDerivatives, add_force, add_force_by_configuration, by_coordinates, on_coordinates,
};
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
    pub(super) fn write_rows(&self, part: &RowBlocks, gradient: &LocalGradient, out: &mut BlockMatrix) {
        for (index, &block) in part.blocks.iter().enumerate() {
            let target = out.block_values_mut(block);
            let node = self.joint_node(part, gradient, index);
            match part.count {
                1 => add_rows::<1>(&node, target),
                2 => add_rows::<2>(&node, target),
                3 => add_rows::<3>(&node, target),
                4 => add_rows::<4>(&node, target),
                5 => add_rows::<5>(&node, target),
                _ => add_rows::<MAX_ROWS>(&node, target),
            }
        }
    }

    /// Writes a joint's rows of B: with their transpose to where the derivatives of forces are folded, and by
    /// themselves where they are wanted.
    pub(super) fn write_gradient(&self, part: &RowBlocks, gradient: &LocalGradient, out: &mut Tangent) {
        let Some(fold) = out.fold.as_ref().filter(|fold| !fold.gradient.is_empty()) else {
            return self.write_rows(part, gradient, &mut out.gradient);
        };
        if fold.parts_wanted {
            self.write_rows(part, gradient, &mut out.gradient);
        }
        for (index, block) in part.blocks.iter().enumerate() {
            let places = fold.gradient[block.index()];
            let node = self.joint_node(part, gradient, index);
            match part.count {
                1 => set_rows::<1>(&node, places, &mut out.stiffness),
                2 => set_rows::<2>(&node, places, &mut out.stiffness),
                3 => set_rows::<3>(&node, places, &mut out.stiffness),
                4 => set_rows::<4>(&node, places, &mut out.stiffness),
                5 => set_rows::<5>(&node, places, &mut out.stiffness),
                _ => set_rows::<MAX_ROWS>(&node, places, &mut out.stiffness),
            }
        }
    }

    fn joint_node<'a>(
        &self,
        part: &RowBlocks<'a>,
        gradient: &'a LocalGradient,
        index: usize,
    ) -> JointNode<'a> {
        let group = self.nodes[part.nodes[index].0].group;
        JointNode { group, motion: &part.motions[index], gradient, index }
    }

    /// d/dt (B v + Φ_t) − B v̇ of one joint.
    pub(super) fn joint_curvature(&self, entry: &SystemJoint, at: &Point, out: &mut [f64]) {
        let nodes = &entry.nodes[..];
        self.with_motion(nodes, at, &entry.memory, |motion| {
            let change = RateChange::of(|values| entry.joint.ask_holonomic(motion, values));
            self.write_curvature(&change, nodes, motion, at, out);
        });
    }

    /// d/dt of rates at v̇ = 0.
    pub(super) fn write_curvature(
        &self,
        change: &RateChange,
        nodes: &[NodeId],
        motion: &Motion,
        at: &Point,
        out: &mut [f64],
    ) {
        for (r, out) in out.iter_mut().enumerate() {
            *out = change.by_time[1][r];
            for (n, &node) in nodes.iter().enumerate() {
                *out += change.rate_gradient.rows[r][n].dot(&motion.nodes[n].velocity);
                // V̇ at v̇ = 0 is not zero where twists depend on the rotation.
                *out += change.gradient.rows[r][n].dot(&self.twist_rate_at_rest(node, at));
            }
        }
    }

    /// V̇ of a node for v̇ = 0.
    fn twist_rate_at_rest(&self, node: NodeId, at: &Point) -> Vector6 {
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
        let found = self.candidate_pairs(at.memory);
        let places = self.places_in(found.as_ref(), out.dynamic.pattern());
        let places = places.as_deref();
        for entry in self.active_elements(at) {
            let nodes = &entry.nodes[..];
            self.with_element(entry, at, |motion| {
                tangent.reset(nodes.len());
                let load_stiffness = Some(&mut tangent);
                entry.element.ask(motion, Forces { load_stiffness, ..Forces::default() });
                let load = || entry.load(motion);
                let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
                self.add_tangent(&part, &tangent, load, STIFFNESS_ONLY, out);
            });
        }
    }

    /// Adds the derivative by q of a gradient times velocities: the joint's own, and the change of twists
    /// with the rotation.
    pub(super) fn add_rate_gradient(
        &self,
        part: &RowBlocks,
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

    pub(super) fn all_on_se3(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().all(|node| self.nodes[node.0].group == Group::Se3)
    }

    /// Adds local derivatives in body twists as blocks in the coordinates of the nodes.
    pub(super) fn add_tangent(
        &self,
        part: &LocalPart,
        tangent: &LocalTangent,
        wrenches: impl FnOnce() -> [Vector6; MAX_NODES],
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
pub(super) struct RowBlocks<'a> {
    pub nodes: &'a [NodeId],
    pub motions: &'a [NodeMotion],
    pub blocks: &'a [BlockId],
    pub count: usize,
}

/// One of the nodes of a joint.
struct JointNode<'a> {
    group: Group,
    motion: &'a NodeMotion,
    gradient: &'a LocalGradient,
    index: usize,
}

impl JointNode<'_> {
    /// The joint's rows by the coordinates of the node.
    #[inline(always)]
    fn rows<const R: usize>(&self) -> [[f64; 6]; R] {
        let mut rows = [[0.0; 6]; R];
        for (values, row) in rows.iter_mut().zip(&self.gradient.rows) {
            let row = &row[self.index];
            match self.group {
                Group::Se3 => *values = row.data.0[0],
                // A row times P is Pᵀ times the row's transpose: the same as for a wrench.
                group => add_force(group, self.motion, row, &mut values[..group.dimension()]),
            }
        }
        rows
    }
}

/// Adds the rows of a joint with `R` of them to a block.
#[inline]
fn add_rows<const R: usize>(node: &JointNode, target: &mut [f64]) {
    let rows = node.rows::<R>();
    for (c, column) in target.as_chunks_mut::<R>().0.iter_mut().enumerate() {
        for r in 0..R {
            column[r] += rows[r][c];
        }
    }
}

/// Writes the rows of a joint with `R` of them and their transpose to a matrix.
#[inline]
fn set_rows<const R: usize>(node: &JointNode, places: GradientPlace, out: &mut BlockMatrix) {
    let rows = node.rows::<R>();
    for (c, column) in out.block_values_mut(places.row).as_chunks_mut::<R>().0.iter_mut().enumerate() {
        for r in 0..R {
            column[r] = rows[r][c];
        }
    }
    let transposed = out.block_values_mut(places.column);
    match node.group.dimension() {
        6 => transposed.as_chunks_mut::<6>().0.iter_mut().zip(rows).for_each(|(column, row)| *column = row),
        count => {
            let columns = transposed.chunks_exact_mut(count.max(1));
            columns.zip(&rows).for_each(|(column, row)| column.copy_from_slice(&row[..count]));
        }
    }
}

impl SystemElement {
    /// Wrenches on the nodes.
    pub(super) fn wrenches(&self, motion: &Motion) -> [Vector6; MAX_NODES] {
        let mut wrenches = [Vector6::zeros(); MAX_NODES];
        let asked = Some(&mut wrenches[..motion.nodes.len()]);
        self.element.evaluate(motion, &mut Forces { wrenches: asked, ..Forces::default() });
        wrenches
    }

    /// The part of them that applied loads make.
    pub(super) fn load(&self, motion: &Motion) -> [Vector6; MAX_NODES] {
        let mut load = [Vector6::zeros(); MAX_NODES];
        let asked = Some(&mut load[..motion.nodes.len()]);
        self.element.evaluate(motion, &mut Forces { load: asked, ..Forces::default() });
        load
    }
}

impl SystemJoint {
    pub(super) fn holonomic_blocks<'a>(&'a self, motions: &'a [NodeMotion]) -> RowBlocks<'a> {
        RowBlocks { nodes: &self.nodes, motions, blocks: &self.gradient_blocks, count: self.rows.len() }
    }

    /// Φ_t of each equation.
    pub(super) fn rates_by_time(&self, motion: &Motion) -> [f64; MAX_ROWS] {
        let mut by_time = [[0.0; MAX_ROWS]; 2];
        self.joint.ask_holonomic(motion, RowValues { by_time: Some(&mut by_time), ..RowValues::default() });
        by_time[0]
    }
}

/// How the rates of a joint's equations change: with the twists, the configuration and time.
pub(super) struct RateChange {
    gradient: LocalGradient,
    rate_gradient: LocalGradient,
    by_time: [[f64; MAX_ROWS]; 2],
}

impl RateChange {
    pub fn of(ask: impl FnOnce(RowValues)) -> Self {
        let (zeros, by_time) = (LocalGradient::zeros(), [[0.0; MAX_ROWS]; 2]);
        let mut found = Self { gradient: zeros.clone(), rate_gradient: zeros, by_time };
        ask(RowValues {
            gradient: Some(&mut found.gradient),
            rate_gradient: Some(&mut found.rate_gradient),
            by_time: Some(&mut found.by_time),
            ..RowValues::default()
        });
        found
    }
}

/// Wrenches of multipliers on the nodes of their joint, with the sign of the equations of motion.
pub(super) fn reaction(gradient: &LocalGradient, multipliers: &[f64], nodes: usize) -> [Vector6; MAX_NODES] {
    let mut wrenches = [Vector6::zeros(); MAX_NODES];
    gradient.transpose_multiply_add(multipliers, &mut wrenches[..nodes]);
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
    if let Some(dynamic) = dynamic.filter(|_| fold.parts_wanted) {
        add_block(&mut out.dynamic, block, dynamic);
    }
    let (place, matrix) = (fold.places[block.index()], &mut out.stiffness);
    match matrix.block_values_mut(place).as_mut_array::<36>() {
        // Known sizes make a few vector operations of the loops.
        Some(target) => fold.add_six(column.0, dynamic, stiffness, target),
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
