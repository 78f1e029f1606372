//! Two frames on the nodes of a part, and how derivatives by their twists become derivatives by the nodes'
//! twists.

use super::frame::{Frame, PairMatrix, PairVector, Relative};
use super::{LocalTangent, Motion, NodeId};
use crate::lie::{Matrix6, Pose, Vector3, Vector6};

/// A pair of frames: on which local nodes (`None` is the ground) and where.
#[derive(Clone, Debug)]
pub struct FramePair {
    /// Local node of the first and of the second frame.
    pub nodes: [Option<usize>; 2],
    /// The frames.
    pub frames: [Frame; 2],
}

impl FramePair {
    /// Frames on two nodes (`None` is the ground); nodes that are not yet in the list are added to it.
    pub fn new(nodes: [Option<NodeId>; 2], offsets: [Pose; 2], list: &mut Vec<NodeId>) -> Self {
        let local = nodes.map(|node| {
            node.map(|node| {
                list.iter().position(|&known| known == node).unwrap_or_else(|| {
                    list.push(node);
                    list.len() - 1
                })
            })
        });
        Self { nodes: local, frames: offsets.map(Frame::new) }
    }

    /// Local node of the second frame and the frame's place on it; in the world on the ground.
    pub fn second_frame(&self) -> (Option<usize>, Pose) {
        (self.nodes[1], self.frames[1].offset)
    }

    /// The relative motion.
    #[inline]
    pub fn relative(&self, at: &Motion) -> Relative {
        let motion = |side: usize| self.nodes[side].map(|node| &at.nodes[node]);
        Relative::between(&self.frames, [motion(0), motion(1)])
    }

    /// Adds a derivative by the frames' twists to derivatives by the nodes' twists.
    #[inline]
    pub fn add_to_nodes(&self, factor: f64, gradient: &PairVector, out: &mut [Vector6]) {
        for (side, node) in self.nodes.iter().enumerate() {
            if let Some(node) = *node {
                let part = |first: usize| -> Vector3 { factor * gradient.fixed_rows::<3>(6 * side + first) };
                out[node] += self.frames[side].to_body(part(0), part(3));
            }
        }
    }

    /// Adds a matrix over the frames' twists to the blocks of the nodes.
    pub fn add_to_blocks(&self, matrix: &PairMatrix, out: &mut LocalTangent) {
        self.add_blocks(matrix, |i, j, block| *out.stiffness(i, j) += block);
    }

    /// Gives each block of a matrix over the frames' twists to `add`, in the nodes' twists.
    pub fn add_blocks(&self, matrix: &PairMatrix, mut add: impl FnMut(usize, usize, Matrix6)) {
        for (row_side, row_node) in self.nodes.iter().enumerate() {
            for (column_side, column_node) in self.nodes.iter().enumerate() {
                if let (Some(i), Some(j)) = (*row_node, *column_node) {
                    let part: Matrix6 = matrix.fixed_view::<6, 6>(6 * row_side, 6 * column_side).into();
                    add(i, j, Frame::to_bodies(&self.frames[row_side], &self.frames[column_side], &part));
                }
            }
        }
    }
}

/// A pair of frames on two nodes, numbered as they come.
pub fn pair_between(nodes: [Option<NodeId>; 2], offsets: [Pose; 2]) -> (Vec<NodeId>, FramePair) {
    let mut list: Vec<NodeId> = Vec::with_capacity(2);
    let pair = FramePair::new(nodes, offsets, &mut list);
    (list, pair)
}
