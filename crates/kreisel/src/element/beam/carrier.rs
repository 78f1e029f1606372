//! The sections to which an element is tied, and the nodes that carry them.

use crate::kinematics::{Motion, NodeId};
use crate::lie::{Matrix6, Pose, Vector6, se3};

/// Where an end of an element is: on a node, on a body some way off its node, or on the ground.
#[derive(Clone, Copy, Debug)]
pub struct BeamEnd {
    /// Node that carries the end; `None` is the ground.
    pub node: Option<NodeId>,
    /// Frame of the section in body axes, or in the world on the ground.
    pub offset: Option<Pose>,
}

impl BeamEnd {
    /// An end whose section is the node itself.
    pub fn on(node: NodeId) -> Self {
        Self { node: Some(node), offset: None }
    }
}

/// A section as the element works with it.
#[derive(Clone, Debug)]
struct Carrier {
    /// Place of the node among the element's nodes.
    local: Option<usize>,
    offset: Option<Pose>,
    /// Twist of the section from that of the node, if they differ.
    carried: Option<Matrix6>,
}

/// The sections of an element.
#[derive(Clone, Debug)]
pub(super) struct Carriers<const N: usize> {
    nodes: Vec<NodeId>,
    sections: [Carrier; N],
}

impl<const N: usize> Carriers<N> {
    pub fn new(ends: [BeamEnd; N]) -> Self {
        let mut nodes: Vec<NodeId> = Vec::with_capacity(N);
        let sections = ends.map(|end| {
            let local = end.node.map(|node| {
                nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                    nodes.push(node);
                    nodes.len() - 1
                })
            });
            let carried = end.offset.as_ref().map(|offset| se3::adjoint(&offset.inverse()));
            Carrier { local, offset: end.offset, carried }
        });
        Self { nodes, sections }
    }

    /// Nodes in the order of the element's local rows.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Poses of the sections.
    pub fn frames(&self, at: &Motion) -> [Pose; N] {
        std::array::from_fn(|side| {
            let Carrier { local, offset, .. } = &self.sections[side];
            match (local.map(|local| &at.nodes[local].pose), offset) {
                (Some(node), None) => *node,
                (Some(node), Some(offset)) => node.compose(offset),
                (None, offset) => offset.unwrap_or_default(),
            }
        })
    }

    /// Twists of the sections.
    pub fn velocities(&self, at: &Motion) -> [Vector6; N] {
        self.carried(|local| &at.nodes[local].velocity)
    }

    /// Hands wrenches on the sections to their nodes.
    pub fn add_wrenches(&self, wrenches: &[Vector6; N], out: &mut [Vector6]) {
        for (section, wrench) in self.sections.iter().zip(wrenches) {
            match (section.local, &section.carried) {
                (None, _) => {}
                (Some(local), None) => out[local] += wrench,
                (Some(local), Some(carried)) => out[local] += carried.tr_mul(wrench),
            }
        }
    }

    /// Hands on a block of derivatives in the twists of two sections, as one in the twists of their nodes.
    pub fn add_block(
        &self,
        rows: usize,
        columns: usize,
        block: &Matrix6,
        mut add: impl FnMut(usize, usize, &Matrix6),
    ) {
        let (row, column) = (&self.sections[rows], &self.sections[columns]);
        let (Some(i), Some(j)) = (row.local, column.local) else { return };
        match (&row.carried, &column.carried) {
            (None, None) => add(i, j, block),
            (Some(left), None) => add(i, j, &left.tr_mul(block)),
            (None, Some(right)) => add(i, j, &(block * right)),
            (Some(left), Some(right)) => add(i, j, &(left.tr_mul(block) * right)),
        }
    }

    /// How far each section moved, from how far each node did.
    pub fn moved(&self, moves: &[Vector6]) -> [Vector6; N] {
        self.carried(|local| &moves[local])
    }

    /// Twists of the sections from those of the nodes.
    fn carried<'a>(&self, twist: impl Fn(usize) -> &'a Vector6) -> [Vector6; N] {
        std::array::from_fn(|side| {
            let Carrier { local, carried, .. } = &self.sections[side];
            match (local.map(&twist), carried) {
                (Some(twist), None) => *twist,
                (Some(twist), Some(carried)) => carried * twist,
                (None, _) => Vector6::zeros(),
            }
        })
    }
}
