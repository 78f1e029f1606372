//! States of a system: which elements read them, and where derivatives by them go.

use std::ops::Range;

use super::assembly::TangentParts;
use super::motions::Seen;
use super::{System, SystemElement};
use crate::dae::{Point, TangentWeights};
use crate::element::{Forces, LocalStateTangent, MAX_MULTIPLIERS, MAX_STATES};
use crate::kinematics::{Motion, TwistDerivatives, add_force};
use crate::lie::Vector6;
use crate::solve::block::{BlockId, BlockMatrix};

/// What ties an element to states and to the multipliers of joints.
pub(super) struct Links {
    pub internal_states: Vec<usize>,
    /// To how many of these states, from the first on, the element gives rates.
    pub rate_count: usize,
    /// Rows of the multipliers among all constraints, joint after joint.
    pub multipliers: Vec<usize>,
    /// Local multipliers of each joint.
    pub joints: Vec<Range<usize>>,
    /// Blocks (node i, state j) of the forces, at `i · internal_states + j`.
    pub force_state: Vec<BlockId>,
    /// Blocks (node i, joint j) of the forces, at `i · joints + j`.
    pub force_joint: Vec<BlockId>,
    /// Blocks (rate i, node j), at `i · nodes + j`.
    pub rate_node: Vec<BlockId>,
    /// Blocks (rate i, state j), at `i · internal_states + j`.
    pub rate_state: Vec<BlockId>,
    /// Blocks (rate i, joint j), at `i · joints + j`.
    pub rate_joint: Vec<BlockId>,
}

impl Links {
    /// Adds what an element reads, states and multipliers, to the motion of its nodes.
    fn with_read<R>(&self, at: &Point, motion: &Motion, action: impl FnOnce(&Motion) -> R) -> R {
        let (mut internal_states, mut multipliers) = ([0.0; MAX_STATES], [0.0; MAX_MULTIPLIERS]);
        internal_states
            .iter_mut()
            .zip(&self.internal_states)
            .for_each(|(to, &state)| *to = at.internal_states[state]);
        multipliers.iter_mut().zip(&self.multipliers).for_each(|(to, &row)| *to = at.multipliers[row]);
        action(&Motion {
            internal_states: &internal_states[..self.internal_states.len()],
            multipliers: &multipliers[..self.multipliers.len()],
            ..*motion
        })
    }
}

impl System {
    /// Does something with the motion of an element: its nodes, its states, and the multipliers it reads.
    #[inline]
    pub(super) fn with_element<R>(
        &self,
        entry: &SystemElement,
        at: &Point,
        action: impl FnOnce(&Motion) -> R,
    ) -> R {
        let nodes = &entry.nodes[..];
        let Some(links) = &entry.links else { return self.with_motion(nodes, at, &entry.memory, action) };
        self.with_motion(nodes, at, &entry.memory, |motion| links.with_read(at, motion, action))
    }

    /// The same with the motion of nodes as it was found.
    #[inline]
    pub(super) fn with_seen_element<R>(
        &self,
        entry: &SystemElement,
        seen: Seen,
        action: impl FnOnce(&Motion) -> R,
    ) -> R {
        let nodes = &entry.nodes[..];
        let Some(links) = &entry.links else { return self.with_seen(nodes, seen, &entry.memory, action) };
        self.with_seen(nodes, seen, &entry.memory, |motion| links.with_read(seen.at, motion, action))
    }

    /// Adds the rates that an element gives its states, and its derivatives of and by states and multipliers.
    pub(super) fn add_internal(
        &self,
        entry: &SystemElement,
        links: &Links,
        motion: &Motion,
        rates: Option<&mut [f64]>,
        derivatives: Option<(TangentWeights, &mut TangentParts)>,
    ) {
        let mut found = [0.0; MAX_STATES];
        let found = &mut found[..links.rate_count];
        let asked = Forces { rates: rates.is_some().then_some(&mut *found), ..Forces::default() };
        match derivatives {
            None => entry.element.ask(motion, asked),
            Some((weights, out)) => {
                self.add_internal_tangent(entry, links, motion, Forces { weights, ..asked }, out);
            }
        }
        if let Some(rates) = rates {
            links.internal_states.iter().zip(found).for_each(|(&state, rate)| rates[state] += *rate);
        }
    }

    /// Adds an element's derivatives of and by states and multipliers, and answers what else is asked.
    fn add_internal_tangent(
        &self,
        entry: &SystemElement,
        links: &Links,
        motion: &Motion,
        asked: Forces,
        out: &mut TangentParts,
    ) {
        let mut local = LocalStateTangent::zeros();
        entry.element.ask(motion, Forces { internal_tangent: Some(&mut local), ..asked });
        let (internal_states, joints) = (links.internal_states.len(), links.joints.len());
        for (i, node) in entry.nodes.iter().enumerate() {
            let group = self.nodes[node.0].group;
            let add = |matrix: &mut BlockMatrix, block: BlockId, column: usize, wrench: &Vector6| {
                let rows = group.dimension();
                let target = &mut matrix.block_values_mut(block)[column * rows..(column + 1) * rows];
                add_force(group, &motion.nodes[i], wrench, target);
            };
            for j in 0..internal_states {
                let wrench = &local.force_by_state[j][i];
                add(out.state_force, links.force_state[i * internal_states + j], 0, wrench);
            }
            for (j, rows) in links.joints.iter().enumerate() {
                for (column, multiplier) in rows.clone().enumerate() {
                    let wrench = &local.force_by_multiplier[multiplier][i];
                    add(out.reaction, links.force_joint[i * joints + j], column, wrench);
                }
            }
        }
        for rate in 0..links.rate_count {
            self.add_rate_tangent(entry, links, motion, &local, rate, out);
        }
    }

    fn add_rate_tangent(
        &self,
        entry: &SystemElement,
        links: &Links,
        motion: &Motion,
        local: &LocalStateTangent,
        rate: usize,
        out: &mut TangentParts,
    ) {
        let nodes = &entry.nodes[..];
        for (j, node) in nodes.iter().enumerate() {
            let (group, node) = (self.nodes[node.0].group, &motion.nodes[j]);
            let block = links.rate_node[rate * nodes.len() + j];
            let by_velocity = &local.rate_by_velocity[rate][j];
            // A row times P is Pᵀ times the row's transpose: the same as for a wrench.
            add_force(group, node, by_velocity, out.state_damping.block_values_mut(block));
            let stiffness = out.state_stiffness.block_values_mut(block);
            add_force(group, node, &local.rate_by_configuration[rate][j], stiffness);
            if let Some(derivatives) = TwistDerivatives::new(group, node) {
                let change = derivatives.velocity_by_configuration_transposed(by_velocity);
                stiffness.iter_mut().zip(change.iter()).for_each(|(to, value)| *to += value);
            }
        }
        for (j, value) in local.rate_by_state[rate][..links.internal_states.len()].iter().enumerate() {
            out.state_state.block_values_mut(links.rate_state[rate * links.internal_states.len() + j])[0] +=
                value;
        }
        for (j, rows) in links.joints.iter().enumerate() {
            let block = links.rate_joint[rate * links.joints.len() + j];
            let target = out.state_reaction.block_values_mut(block);
            for (to, multiplier) in target.iter_mut().zip(rows.clone()) {
                *to += local.rate_by_multiplier[rate][multiplier];
            }
        }
    }

    /// Adds Bᵀ and Aᵀ to the derivatives by multipliers, where elements read some of these.
    pub(super) fn add_reactions(&self, out: TangentParts) {
        let holonomic = out.gradient.map(|gradient| (gradient, out.reaction));
        for (gradient, reaction) in
            holonomic.into_iter().chain([(out.nonholonomic, out.nonholonomic_reaction)])
        {
            let pattern = gradient.pattern();
            for (block, row, column) in pattern.blocks() {
                let Some(place) = reaction.pattern().find(column, row) else { continue };
                let (rows, columns) = pattern.shape_of(block);
                let (source, target) = (gradient.block_values(block), reaction.block_values_mut(place));
                for j in 0..columns {
                    for i in 0..rows {
                        target[i * columns + j] += source[j * rows + i];
                    }
                }
            }
        }
    }

    /// Name of a state.
    pub fn state_name(&self, state: usize) -> &str {
        &self.state_names[state]
    }

    /// Names of all states.
    pub fn state_names(&self) -> Vec<String> {
        self.state_names.clone()
    }

    /// Number of states.
    pub fn state_count(&self) -> usize {
        self.state_names.len()
    }
}
