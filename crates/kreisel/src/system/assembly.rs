//! Local parts of elements and joints → rows and blocks of the system.

use super::{System, SystemElement, SystemJoint};
use crate::dae::{ForceMatrix, GradientPlace, Merged, Point, Tangent, TangentWeights};
use crate::element::Forces;
use crate::joint::RowValues;
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId, NodeMotion, STIFFNESS_ONLY,
    TwistDerivatives, add_force, add_force_by_configuration, by_coordinates, on_coordinates,
};
use crate::lie::{Group, Vector6};
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

    /// Writes a joint's rows of B: with their transpose to the matrix of all derivatives of forces, and by
    /// themselves where they are wanted.
    pub(super) fn write_gradient(&self, part: &RowBlocks, gradient: &LocalGradient, out: &mut TangentParts) {
        if let Some(out) = out.gradient.as_deref_mut() {
            self.write_rows(part, gradient, out);
        }
        let ForceMatrix::Merged { all: Merged { matrix, rows: Some(places), .. }, .. } = &mut out.forces
        else {
            return;
        };
        for (index, block) in part.blocks.iter().enumerate() {
            let places = places[block.index()];
            let node = self.joint_node(part, gradient, index);
            match part.count {
                1 if part.adds => add_row(&node, places, matrix),
                1 => set_rows::<1>(&node, places, matrix),
                2 => set_rows::<2>(&node, places, matrix),
                3 => set_rows::<3>(&node, places, matrix),
                4 => set_rows::<4>(&node, places, matrix),
                5 => set_rows::<5>(&node, places, matrix),
                _ => set_rows::<MAX_ROWS>(&node, places, matrix),
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

    pub(super) fn assemble_load_stiffness(&self, at: &Point, out: &mut BlockMatrix) {
        let mut tangent = LocalTangent::zeros(0);
        let found = self.candidate_pairs(at.memory);
        let places = self.places_in(found.as_ref(), out.pattern());
        let places = places.as_deref();
        let mut forces = ForceMatrix::Apart { dynamic: None, stiffness: out };
        for entry in self.active_elements(at) {
            let nodes = &entry.nodes[..];
            self.with_element(entry, at, |motion| {
                tangent.reset(nodes.len());
                let load_stiffness = Some(&mut tangent);
                entry.element.ask(motion, Forces { load_stiffness, ..Forces::default() });
                let load = || entry.load(motion);
                let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
                self.add_tangent(&part, &tangent, load, STIFFNESS_ONLY, &mut forces);
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
        out: &mut ForceMatrix,
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
                out.add(part.block(index), part.nodes[j].0, dynamic.as_ref(), stiffness);
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
                out.add(part.block(i * n + j), part.nodes[j].0, dynamic.as_ref(), stiffness.as_ref());
            }
        }
    }
}

/// All derivatives, each where it goes.
pub(super) struct TangentParts<'a> {
    pub forces: ForceMatrix<'a>,
    /// B by itself, if it is wanted so.
    pub gradient: Option<&'a mut BlockMatrix>,
    pub gradient_rate: Option<&'a mut BlockMatrix>,
    pub reaction: &'a mut BlockMatrix,
    pub nonholonomic: &'a mut BlockMatrix,
    pub nonholonomic_stiffness: &'a mut BlockMatrix,
    pub nonholonomic_reaction: &'a mut BlockMatrix,
    pub state_force: &'a mut BlockMatrix,
    pub state_damping: &'a mut BlockMatrix,
    pub state_stiffness: &'a mut BlockMatrix,
    pub state_state: &'a mut BlockMatrix,
    pub state_reaction: &'a mut BlockMatrix,
}

impl<'a> TangentParts<'a> {
    pub fn new(out: &'a mut Tangent, merged: Option<Merged<'a>>) -> Self {
        let wanted = out.hidden_wanted;
        let has_rows = merged.as_ref().is_some_and(|merged| merged.rows.is_some());
        Self {
            forces: match merged {
                None => ForceMatrix::Apart { dynamic: Some(&mut out.dynamic), stiffness: &mut out.stiffness },
                Some(all) => ForceMatrix::Merged { dynamic: wanted.then_some(&mut out.dynamic), all },
            },
            gradient: (wanted || !has_rows).then_some(&mut out.gradient),
            gradient_rate: wanted.then_some(&mut out.gradient_rate),
            reaction: &mut out.reaction,
            nonholonomic: &mut out.nonholonomic,
            nonholonomic_stiffness: &mut out.nonholonomic_stiffness,
            nonholonomic_reaction: &mut out.nonholonomic_reaction,
            state_force: &mut out.state_force,
            state_damping: &mut out.state_damping,
            state_stiffness: &mut out.state_stiffness,
            state_state: &mut out.state_state,
            state_reaction: &mut out.state_reaction,
        }
    }
}

/// Equations of a joint: its nodes, their motion, and their blocks in a pattern of constraints.
pub(super) struct RowBlocks<'a> {
    pub nodes: &'a [NodeId],
    pub motions: &'a [NodeMotion],
    pub blocks: &'a [BlockId],
    pub count: usize,
    /// Whether they are added to those of another joint, which has one row then.
    pub adds: bool,
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

/// Adds the only row of a joint and its transpose to a matrix.
fn add_row(node: &JointNode, places: GradientPlace, out: &mut BlockMatrix) {
    let [row] = node.rows::<1>();
    for place in [places.row, places.column] {
        out.block_values_mut(place).iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
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
        let (blocks, count) = (&self.gradient_blocks, self.rows.len());
        RowBlocks { nodes: &self.nodes, motions, blocks, count, adds: self.continues }
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
