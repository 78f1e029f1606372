//! Motion of the nodes, found once for all parts that meet at a node.
//!
//! A body, its joints and its springs see the same node; rotation matrix and body twist of it take as long as a
//! simple force. So a visit of all parts finds the motions first, those of a round of parts when it comes to it.

use std::cell::RefCell;
use std::slice;

use super::System;
use crate::dae::Point;
use crate::kinematics::{MAX_NODES, NodeId, NodeMotion};

thread_local! {
    static FOUND: RefCell<Vec<NodeMotion>> = const { RefCell::new(Vec::new()) };
}

/// Lends the array of this thread, empty: it keeps its room from visit to visit.
pub(super) fn with_room<R>(action: impl FnOnce(&mut Vec<NodeMotion>) -> R) -> R {
    FOUND.with(|found| match found.try_borrow_mut() {
        Ok(mut found) => {
            found.clear();
            action(&mut found)
        }
        // A part that holds a system of its own asks for it within a visit.
        Err(_) => action(&mut Vec::new()),
    })
}

/// A point, and the motion there of all nodes that are met.
#[derive(Clone, Copy)]
pub(super) struct Seen<'s> {
    pub at: &'s Point<'s>,
    pub motions: &'s [NodeMotion],
}

impl Seen<'_> {
    /// Does something with the motion of some nodes, side by side. Most parts have one node, or two of which one
    /// follows the other.
    #[inline]
    pub fn with_nodes<R>(&self, nodes: &[NodeId], action: impl FnOnce(&[NodeMotion]) -> R) -> R {
        match *nodes {
            [] => action(&[]),
            [only] => action(slice::from_ref(&self.motions[only.0])),
            [first, second] if second.0 == first.0 + 1 => action(&self.motions[first.0..=second.0]),
            [first, second] => action(&[self.motions[first.0], self.motions[second.0]]),
            [.., last] => {
                let motions: [NodeMotion; MAX_NODES] =
                    std::array::from_fn(|index| self.motions[nodes.get(index).unwrap_or(&last).0]);
                action(&motions[..nodes.len()])
            }
        }
    }
}

impl System {
    /// Finds the motions of the nodes before an end that are not found yet.
    pub(super) fn find_motions(&self, end: usize, at: &Point, found: &mut Vec<NodeMotion>) {
        found.extend((found.len()..end).map(|node| self.motion(NodeId(node), at)));
    }

    /// Does something with the motion of all nodes.
    pub(super) fn with_all_seen<R>(&self, at: &Point, action: impl FnOnce(Seen) -> R) -> R {
        with_room(|motions| {
            self.find_motions(self.nodes.len(), at, motions);
            action(Seen { at, motions })
        })
    }
}
