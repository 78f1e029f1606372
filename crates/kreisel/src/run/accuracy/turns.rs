//! How far parts turn in a step: beyond some angle a step says nothing about the motion.
//!
//! A rotation is known by where it ends, so that a step of more than half a turn could as well have gone the other way
//! round, or once more: equations of a step have a solution for each. Parts that resist turning by next to
//! nothing, such as the sections of a thin wire, take any of them. Steady spin about an axis is exact at any step and
//! no reason to warn.

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Dae, Note, NoteKind};
use crate::integrate::Ends;
use crate::kinematics::NodeId;
use crate::lie::Group;
use crate::machine::Machine;
use crate::system::System;

/// Turns in a step above this, in rad, are told: two thirds of half a turn.
const MAX_TURN: f64 = 2.0;
/// A turn is steady if the angular velocities of both ends give it to this, in rad.
const STEADY: f64 = 0.1;
/// What the advice aims at, in rad a step.
const GOOD_TURN: f64 = 0.5;
/// A turn that no force explains says nothing about the step that would do: a tenth is advised at most.
const MIN_CUT: f64 = 0.1;

/// Remembers the largest turn of a run that was not steady.
pub(super) struct TurnWatch {
    /// Nodes that can turn, each with the place of its angular velocity.
    nodes: Vec<(NodeId, usize)>,
    largest: Option<LargeTurn>,
}

#[derive(Clone, Copy, Debug)]
struct LargeTurn {
    node: NodeId,
    angle: f64,
    /// Where the step ended and how long it was, in s.
    time: f64,
    step: f64,
}

impl TurnWatch {
    pub fn new(system: &System) -> Self {
        let turns =
            |node: &NodeId| matches!(system.node_group(*node), Group::So3 | Group::So3xR3 | Group::Se3);
        let space = system.shape().space;
        let place = |node: NodeId| (node, space.velocity_range(node.0).start);
        Self { nodes: (0..system.node_count()).map(NodeId).filter(turns).map(place).collect(), largest: None }
    }

    pub fn accepted(&mut self, ends: &Ends) {
        let Ends { from, to, increment } = ends;
        let step = to.time - from.time;
        let mut most = self.largest.map_or(MAX_TURN, |turn| turn.angle);
        for &(node, place) in &self.nodes {
            let turn = &increment[place..place + 3];
            let angle = size(turn.iter().copied());
            if angle <= most {
                continue;
            }
            let is_steady = [from, to].iter().all(|end| {
                let spin = &end.velocity[place..place + 3];
                size(turn.iter().zip(spin).map(|(turn, spin)| turn - step * spin)) <= STEADY
            });
            if !is_steady {
                most = angle;
                self.largest = Some(LargeTurn { node, angle, time: to.time, step });
            }
        }
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.flag(self.largest.is_some());
        if let Some(LargeTurn { node, angle, time, step }) = self.largest {
            out.whole(node.0 as u64);
            out.numbers(&[angle, time, step]);
        }
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.largest = None;
        if reader.flag()? {
            let node = NodeId(usize::try_from(reader.whole()?).map_err(|_| Damaged)?);
            let [angle, time, step] = reader.numbers()?.try_into().map_err(|_| Damaged)?;
            if !self.nodes.iter().any(|(known, _)| *known == node) {
                return Err(Damaged);
            }
            self.largest = Some(LargeTurn { node, angle, time, step });
        }
        Ok(())
    }

    /// What is worth telling of the turns.
    pub fn note(&self, machine: &Machine) -> Option<Note> {
        let LargeTurn { node, angle, time, step } = self.largest?;
        let name = machine.system.node_name(node);
        let smaller = step * (GOOD_TURN / angle).max(MIN_CUT);
        let advice = format!("take steps below {smaller:.1e} s, or `step = \"auto\"`");
        let text = format!(
            "`{name}` turns by {angle:.3} rad in one step of {step:.1e} s, which no step follows: the motion may be wrong; {advice}"
        );
        Some(Note::new(NoteKind::LargeTurn, text).at(time).about(name).number(angle).advice(advice))
    }
}

fn size(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|value| value * value).sum::<f64>().sqrt()
}
