//! Remembers how far parts turn in a step, to tell of turns that no step follows.

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Dae, Note, NoteKind};
use crate::integrate::{Ends, NodeTurn, TurningNodes};
use crate::kinematics::NodeId;
use crate::machine::{Machine, RunPlan};
use crate::system::System;

/// What the advice aims at, in rad a step.
const GOOD_TURN: f64 = 0.5;
/// A turn that no force explains says nothing about the step that would do: a tenth is advised at most.
const MIN_CUT: f64 = 0.1;

/// Remembers the largest turn of a run that was not steady.
pub(super) struct TurnWatch {
    nodes: TurningNodes,
    /// The largest turn that the method follows, in rad.
    most: f64,
    largest: Option<LargeTurn>,
}

#[derive(Clone, Copy, Debug)]
struct LargeTurn {
    turn: NodeTurn,
    /// Where the step ended and how long it was, in s.
    time: f64,
    step: f64,
}

impl TurnWatch {
    pub fn new(system: &System, plan: &RunPlan) -> Self {
        let (nodes, most) = (TurningNodes::new(&system.shape().space), plan.integration.max_turn());
        Self { nodes, most, largest: None }
    }

    pub fn accepted(&mut self, ends: &Ends) {
        let most = self.largest.map_or(self.most, |largest| largest.turn.angle);
        if let Some(turn) = self.nodes.largest_unsteady(ends, most) {
            let time = ends.to.time;
            self.largest = Some(LargeTurn { turn, time, step: time - ends.from.time });
        }
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.flag(self.largest.is_some());
        if let Some(LargeTurn { turn: NodeTurn { node, angle }, time, step }) = self.largest {
            out.whole(node as u64);
            out.numbers(&[angle, time, step]);
        }
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.largest = None;
        if reader.flag()? {
            let node = usize::try_from(reader.whole()?).map_err(|_| Damaged)?;
            let [angle, time, step] = reader.numbers()?.try_into().map_err(|_| Damaged)?;
            if !self.nodes.contains(node) {
                return Err(Damaged);
            }
            self.largest = Some(LargeTurn { turn: NodeTurn { node, angle }, time, step });
        }
        Ok(())
    }

    /// What is worth telling of the turns.
    pub fn note(&self, machine: &Machine) -> Option<Note> {
        let LargeTurn { turn: NodeTurn { node, angle }, time, step } = self.largest?;
        let name = machine.system.node_name(NodeId(node));
        let smaller = step * (GOOD_TURN / angle).max(MIN_CUT);
        let advice = format!("take steps below {smaller:.1e} s, or `step = \"auto\"`");
        let text = format!(
            "`{name}` turns by {angle:.3} rad in one step of {step:.1e} s, which no step follows: the motion may be wrong; {advice}"
        );
        Some(Note::new(NoteKind::LargeTurn, text).at(time).about(name).number(angle).advice(advice))
    }
}
