//! Parts get their places: rows, memory, blocks.

use std::ops::Range;

use smallvec::SmallVec;

use super::contact_group::SystemContactGroup;
use super::state::Links;
use super::switch::Switch;
use super::{SwitchId, SystemElement, SystemJoint, SystemNode};
use crate::dae::{Couplings, Shape};
use crate::element::contact::ContactGroup;
use crate::element::{Element, ElementFacts, StateId};
use crate::joint::Joint;
use crate::kinematics::NodeId;
use crate::lie::Group;
use crate::solve::block::{BlockId, BlockPattern};

/// Counts what parts have taken so far, in the order in which they are added.
pub(super) struct Counting<'a> {
    shape: &'a Shape,
    couplings: &'a Couplings,
    /// Names of switchable parts, and whether they are on at the start.
    switches: Vec<(String, bool)>,
    /// Rows of every joint, which elements may read.
    joint_rows: Vec<Range<usize>>,
    elements: usize,
    joints: usize,
    nonholonomic_rows: usize,
    nonholonomic_groups: usize,
    memory: usize,
}

impl<'a> Counting<'a> {
    pub fn new(shape: &'a Shape, couplings: &'a Couplings, switches: Vec<(String, bool)>) -> Self {
        let mut rows = 0;
        let joint_rows = shape.constraints.iter().map(|&size| next(&mut rows, size)).collect();
        Self {
            shape,
            couplings,
            switches,
            joint_rows,
            elements: 0,
            joints: 0,
            nonholonomic_rows: 0,
            nonholonomic_groups: 0,
            memory: 0,
        }
    }

    /// Places in the memory.
    pub fn remember(&mut self, count: usize) -> Range<usize> {
        next(&mut self.memory, count)
    }

    /// How much is remembered so far.
    pub fn memory(&self) -> usize {
        self.memory
    }

    pub fn node(&self, index: usize, name: String, group: Group) -> SystemNode {
        let space = &self.shape.space;
        let (coordinates, velocities) = (space.coordinate_range(index), space.velocity_range(index));
        SystemNode { name, group, coordinates, velocities }
    }

    pub fn element(&mut self, name: String, element: Box<dyn Element>) -> SystemElement {
        let facts = element.facts();
        self.elements += 1;
        SystemElement {
            switch: self.switch_of(&name),
            variant: None,
            original: self.elements - 1,
            memory: self.remember(facts.memory),
            follows: facts.follows,
            nodes: facts.nodes.iter().copied().collect(),
            blocks: self.force_blocks(facts.nodes),
            links: self.links(&facts),
            name,
            element,
        }
    }

    /// An element that takes the place of another one in a variant.
    pub fn version(
        &self,
        original: &mut SystemElement,
        variant: usize,
        element: Box<dyn Element>,
    ) -> SystemElement {
        original.variant = Some(0);
        let facts = element.facts();
        SystemElement {
            variant: Some(variant),
            name: original.name.clone(),
            memory: original.memory.clone(),
            follows: facts.follows,
            nodes: original.nodes.clone(),
            blocks: original.blocks.clone(),
            links: self.links(&facts),
            element,
            ..*original
        }
    }

    pub fn joint(&mut self, name: String, joint: Box<dyn Joint>) -> SystemJoint {
        let (facts, index) = (joint.facts(), self.joints);
        self.joints += 1;
        let mut nonholonomic_blocks = Vec::new();
        if facts.nonholonomic_rows > 0 {
            let group = self.nonholonomic_groups;
            self.nonholonomic_groups += 1;
            nonholonomic_blocks.extend(row_blocks(&self.couplings.nonholonomic_node, group, facts.nodes));
        }
        SystemJoint {
            switch: self.switch_of(&name),
            memory: self.remember(facts.memory),
            nodes: facts.nodes.iter().copied().collect(),
            rows: self.joint_rows[index].clone(),
            time_dependent: facts.time_dependent,
            blocks: self.force_blocks(facts.nodes),
            gradient_blocks: row_blocks(&self.couplings.constraint_node, index, facts.nodes).collect(),
            nonholonomic: next(&mut self.nonholonomic_rows, facts.nonholonomic_rows),
            nonholonomic_blocks,
            continues: false,
            name,
            joint,
        }
    }

    /// What continues the equation of a joint with an index.
    pub fn continued_joint(
        &mut self,
        index: usize,
        first: &SystemJoint,
        joint: Box<dyn Joint>,
    ) -> SystemJoint {
        let facts = joint.facts();
        SystemJoint {
            switch: first.switch,
            memory: self.remember(facts.memory),
            nodes: facts.nodes.iter().copied().collect(),
            rows: first.rows.clone(),
            time_dependent: facts.time_dependent,
            blocks: self.force_blocks(facts.nodes),
            gradient_blocks: row_blocks(&self.couplings.constraint_node, index, facts.nodes).collect(),
            nonholonomic: 0..0,
            nonholonomic_blocks: Vec::new(),
            continues: true,
            name: first.name.clone(),
            joint,
        }
    }

    pub fn switches(&mut self) -> Vec<Switch> {
        let starts: Vec<bool> = self.switches.iter().map(|(_, on_at_start)| *on_at_start).collect();
        let switch = |on_at_start| Switch { slot: self.remember(1).start, on_at_start };
        starts.into_iter().map(switch).collect()
    }

    /// Members that a joint holds together do not touch.
    pub fn contact_group(
        &mut self,
        name: String,
        mut contact_group: ContactGroup,
        joined: &[(NodeId, NodeId)],
    ) -> SystemContactGroup {
        joined.iter().for_each(|&(first, second)| contact_group.join(first, second));
        let (switch, memory) = (self.switch_of(&name), self.remember(contact_group.memory_count()));
        SystemContactGroup { contact_group, name, switch, memory }
    }

    fn switch_of(&self, name: &str) -> Option<SwitchId> {
        self.switches.iter().position(|(known, _)| known == name).map(SwitchId)
    }

    /// Blocks between nodes in the pattern of forces.
    fn force_blocks(&self, nodes: &[NodeId]) -> SmallVec<[BlockId; 4]> {
        nodes.iter().flat_map(|row| row_blocks(&self.couplings.force_node, row.0, nodes)).collect()
    }

    /// What ties an element to states and to the multipliers of joints.
    fn links(&self, facts: &ElementFacts) -> Option<Box<Links>> {
        let reads = ElementReads::of(facts);
        if reads.internal_states.is_empty() && reads.joints.is_empty() {
            return None;
        }
        let (multipliers, joints) = multipliers_of(reads.joints, &self.joint_rows);
        let find = |pattern: &BlockPattern, pairs: Vec<(usize, usize)>| -> Vec<BlockId> {
            pairs.into_iter().map(|(row, column)| block(pattern, row, column)).collect()
        };
        let couplings = self.couplings;
        Some(Box::new(Links {
            internal_states: reads.internal_states.iter().map(|state| state.0).collect(),
            rate_count: reads.rated.len(),
            force_state: find(&couplings.force_state, reads.pairs(reads.nodes, reads.internal_states)),
            force_joint: find(&couplings.force_constraint, reads.pairs(reads.nodes, reads.joints)),
            rate_node: find(&couplings.state_node, reads.pairs(reads.rated, reads.nodes)),
            rate_state: find(&couplings.state_state, reads.pairs(reads.rated, reads.internal_states)),
            rate_joint: find(&couplings.state_constraint, reads.pairs(reads.rated, reads.joints)),
            multipliers,
            joints,
        }))
    }
}

/// The next places after those that are taken.
fn next(taken: &mut usize, count: usize) -> Range<usize> {
    *taken += count;
    *taken - count..*taken
}

fn block(pattern: &BlockPattern, row: usize, column: usize) -> BlockId {
    pattern.find(row, column).expect("the pattern was made of these parts")
}

/// Blocks of a row of a pattern at some nodes.
fn row_blocks(pattern: &BlockPattern, row: usize, nodes: &[NodeId]) -> impl Iterator<Item = BlockId> {
    nodes.iter().map(move |node| block(pattern, row, node.0))
}

/// What an element touches, by index.
pub(super) struct ElementReads<'a> {
    pub nodes: &'a [NodeId],
    pub internal_states: &'a [StateId],
    /// Those that it gives rates.
    pub rated: &'a [StateId],
    pub joints: &'a [usize],
}

/// A handle or index.
pub(super) trait Index: Copy {
    fn index(self) -> usize;
}

impl Index for NodeId {
    fn index(self) -> usize {
        self.0
    }
}

impl Index for StateId {
    fn index(self) -> usize {
        self.0
    }
}

impl Index for usize {
    fn index(self) -> usize {
        self
    }
}

impl<'a> ElementReads<'a> {
    pub fn of(facts: &ElementFacts<'a>) -> Self {
        let ElementFacts { nodes, internal_states, joints, rate_count, .. } = *facts;
        Self { nodes, internal_states, rated: &internal_states[..rate_count], joints }
    }

    /// Every pair of two lists, the first one outside.
    pub fn pairs<A: Index, B: Index>(&self, rows: &[A], columns: &[B]) -> Vec<(usize, usize)> {
        rows.iter().flat_map(|row| columns.iter().map(|column| (row.index(), column.index()))).collect()
    }
}

/// The multipliers that an element reads, joint after joint, given the rows of all joints.
fn multipliers_of(read: &[usize], rows: &[Range<usize>]) -> (Vec<usize>, Vec<Range<usize>>) {
    let (mut multipliers, mut joints) = (Vec::new(), Vec::new());
    for &joint in read {
        let first = multipliers.len();
        multipliers.extend(rows[joint].clone());
        joints.push(first..multipliers.len());
    }
    (multipliers, joints)
}
