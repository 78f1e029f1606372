//! How far parts turn in a step: beyond some angle a step says nothing about the motion.
//!
//! A rotation is known by where it ends, so that a step of more than half a turn could as well have gone the
//! other way round, or once more: equations of a step have a solution for each. Parts that resist turning by
//! next to nothing, such as the sections of a thin wire, take any of them. Steady spin about an axis is exact
//! at any step.

use super::interval::Ends;
use crate::lie::{Group, Space};

/// Turns in a step above this, in rad, are too large unless they are steady: two thirds of half a turn.
pub(crate) const MAX_TURN: f64 = 2.0;
/// A turn is steady if the angular velocities of both ends give it to this, in rad.
const STEADY: f64 = 0.1;

/// How far a node turned in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeTurn {
    pub node: usize,
    /// In rad.
    pub angle: f64,
}

/// The nodes that can turn, each with the place of its angular velocity.
pub(crate) struct TurningNodes(Vec<(usize, usize)>);

impl TurningNodes {
    pub fn new(space: &Space) -> Self {
        let turns = |node: &usize| matches!(space.group(*node), Group::So3 | Group::So3xR3 | Group::Se3);
        let place = |node: usize| (node, space.velocity_range(node).start);
        Self((0..space.factor_count()).filter(turns).map(place).collect())
    }

    /// Whether a node can turn.
    pub fn contains(&self, node: usize) -> bool {
        self.0.iter().any(|(known, _)| *known == node)
    }

    /// The largest turn of an increment, and the node that turns.
    pub fn largest(&self, increment: &[f64]) -> (f64, usize) {
        self.0.iter().fold((0.0, 0), |largest, &(node, place)| {
            let angle = size(increment[place..place + 3].iter().copied());
            if angle > largest.0 || angle.is_nan() { (angle, node) } else { largest }
        })
    }

    /// The largest turn of a step above an angle that is not steady.
    pub fn largest_unsteady(&self, ends: &Ends, above: f64) -> Option<NodeTurn> {
        let Ends { from, to, increment } = ends;
        let step = to.time - from.time;
        let mut largest: Option<NodeTurn> = None;
        for &(node, place) in &self.0 {
            let turn = &increment[place..place + 3];
            let angle = size(turn.iter().copied());
            if angle <= largest.map_or(above, |turn| turn.angle) {
                continue;
            }
            let is_steady = [from, to].iter().all(|end| {
                let spin = &end.velocity[place..place + 3];
                size(turn.iter().zip(spin).map(|(turn, spin)| turn - step * spin)) <= STEADY
            });
            if !is_steady {
                largest = Some(NodeTurn { node, angle });
            }
        }
        largest
    }
}

fn size(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|value| value * value).sum::<f64>().sqrt()
}
