//! How far parts turn in a step: beyond some angle a step says nothing about the motion.
//!
//! A rotation is known by where it ends, so that a step of more than half a turn could as well have gone the
//! other way round, or once more: equations of a step have a solution for each. Parts that resist turning by
//! next to nothing, such as the sections of a thin wire, take any of them. Steady spin about an axis is exact
//! at any step.
//!
//! Before that a step becomes wrong: what a part does beside its spin turns in its axes, by as much as the
//! part turns. How far a method follows is measured by the heavy top, which spins at 150 rad/s and precesses,
//! as the turn at which the way of its centre in four steps has an error of 5 % (in rad, with ρ∞ = 0.9;
//! `crates/kreisel/tests/trust/turns.rs`):
//!
//! | | index2 | index3, hht-i3 | soi2, hht-soi2 | updated-lagrangian | bdf2 | bdf3 |
//! |---|---|---|---|---|---|---|
//! | SE(3) | 0.55 | 0.55, 0.54 | 0.55, 0.54 | – | 0.48 | 0.73 |
//! | SO(3)×R³ | 0.79 | 1.47 | 2.3, 2.3 | 2.8 | 1.55 | 1.65 |
//!
//! On SE(3) positions turn with the part, too. Limits are these, rounded down; beyond 2 rad, two thirds of
//! half a turn, none of them is trusted, and beyond 1.5 rad `bdf3` is not, which looks back over two steps.

use super::interval::Ends;
use super::scheme::Method;
use crate::lie::{Group, Space};

/// A turn is steady if the angular velocities of both ends give it to this, in rad. A choice: by then the
/// angular velocity changed by a tenth of a radian per step, and a missed whole turn would be 2π.
const STEADY: f64 = 0.1;

/// How far a node turned in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeTurn {
    pub node: usize,
    /// In rad.
    pub angle: f64,
    /// The largest that the method follows, in rad.
    pub limit: f64,
}

impl NodeTurn {
    /// The turn in parts of the largest that the method follows.
    pub fn part(&self) -> f64 {
        self.angle / self.limit
    }
}

/// A node that can turn.
struct TurningNode {
    node: usize,
    /// Where its angular velocity stands.
    place: usize,
    /// The largest turn of a step that the method follows, in rad.
    limit: f64,
}

/// The nodes that can turn.
pub(crate) struct TurningNodes(Vec<TurningNode>);

impl TurningNodes {
    /// Nodes of a space that a method moves.
    pub fn new(space: &Space, method: Method) -> Self {
        let turning = |node: usize| {
            let limit = match space.group(node) {
                Group::Se3 => method.0.max_turn_se3,
                Group::So3 | Group::So3xR3 => method.0.max_turn,
                _ => return None,
            };
            Some(TurningNode { node, place: space.velocity_range(node).start, limit })
        };
        Self((0..space.factor_count()).filter_map(turning).collect())
    }

    /// How far a node may turn in a step, in rad, if it can.
    pub fn limit(&self, node: usize) -> Option<f64> {
        self.0.iter().find(|known| known.node == node).map(|known| known.limit)
    }

    /// The largest turn of an increment, and the node that turns.
    pub fn largest(&self, increment: &[f64]) -> (f64, usize) {
        self.0.iter().fold((0.0, 0), |largest, &TurningNode { node, place, .. }| {
            let angle = size(increment[place..place + 3].iter().copied());
            if angle > largest.0 || angle.is_nan() { (angle, node) } else { largest }
        })
    }

    /// The largest turn of a step that is not steady and above a part of what the method follows.
    pub fn largest_unsteady(&self, ends: &Ends, above: f64) -> Option<NodeTurn> {
        let Ends { from, to, increment } = ends;
        let step = to.time - from.time;
        let mut largest: Option<NodeTurn> = None;
        for &TurningNode { node, place, limit } in &self.0 {
            let turn = &increment[place..place + 3];
            let angle = size(turn.iter().copied());
            if angle / limit <= largest.map_or(above, |turn| turn.part()) {
                continue;
            }
            let is_steady = [from, to].iter().all(|end| {
                let spin = &end.velocity[place..place + 3];
                size(turn.iter().zip(spin).map(|(turn, spin)| turn - step * spin)) <= STEADY
            });
            if !is_steady {
                largest = Some(NodeTurn { node, angle, limit });
            }
        }
        largest
    }
}

fn size(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|value| value * value).sum::<f64>().sqrt()
}
