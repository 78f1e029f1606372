//! What beams give to know in a state of the machine: pulls beyond what their sections bear, meshes that are
//! coarse.

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Note, NoteKind, Notes, Point, Values};
use crate::kinematics::{Motion, NodeMotion};
use crate::lie::Pose;
use crate::machine::beam::{BeamElement, BeamEntry};
use crate::machine::{Machine, MeshHistory, RunPlan};
use crate::system::System;

/// How often the pulls are looked at between the start and the end of a run, and how often the meshes.
const LOOKS: f64 = 100.0;
const MESH_LOOKS: f64 = 8.0;

/// A pull and where it acts.
#[derive(Clone, Copy, Debug)]
struct Pull {
    /// In N.
    force: f64,
    /// Part of the beam's length.
    place: f64,
}

impl Machine {
    /// What its beams give to know where a run starts.
    pub fn beam_notes(&self, at: &Point) -> Notes {
        self.beam_notes_again(at, &mut MeshHistory::default())
    }

    fn beam_notes_again(&self, at: &Point, history: &mut MeshHistory) -> Notes {
        let mut notes = self.pull_notes(at);
        notes.extend(self.mesh_notes(at, self.slowest_rate(), history));
        notes
    }

    /// Rate in 1/s of motions that take as long as a run.
    fn slowest_rate(&self) -> f64 {
        let duration = self.settings.end_time.map_or(1.0, |end| end - self.settings.start_time);
        if duration > 0.0 { 1.0 / duration } else { 1.0 }
    }

    /// Beams that are pulled by more than their shear stiffness.
    pub(in crate::run) fn pull_notes(&self, at: &Point) -> Notes {
        let mut notes = Notes::default();
        for beam in self.frames().beams() {
            let limit = beam.shear_limit();
            let Some(pull) = largest_pull(&self.system, beam, at).filter(|pull| pull.force > limit) else {
                continue;
            };
            let advice = "a beam with such a soft shear turns its sections over: give it the shear stiffness of its material, \
                          or one above its pull";
            let text = format!(
                "the beam `{}` is pulled by {:.3e} N at {:.2} of its length, beyond its shear stiffness of {limit:.3e} N; {advice}",
                beam.name, pull.force, pull.place
            );
            let note = Note::new(NoteKind::PullBeyondShear, text).at(at.time).about(&beam.name);
            notes.add(note.number(pull.force).advice(advice));
        }
        notes
    }
}

/// Motion of an element's nodes.
fn element_nodes(system: &System, element: &BeamElement, at: &Point) -> ([NodeMotion; 3], usize) {
    let mut nodes = [NodeMotion::at_rest(Pose::identity()); 3];
    let touched = element.nodes();
    for (motion, node) in nodes.iter_mut().zip(touched) {
        *motion = system.motion(*node, at);
    }
    (nodes, touched.len())
}

fn largest_pull(system: &System, beam: &BeamEntry, at: &Point) -> Option<Pull> {
    let count = beam.elements.len() as f64;
    let mut largest: Option<Pull> = None;
    for (index, element) in beam.elements.iter().enumerate() {
        let (nodes, touched) = element_nodes(system, element, at);
        let motion = Motion::new(at.time, &nodes[..touched]);
        for (part, force) in element.pulls(&motion) {
            if largest.is_none_or(|known| force.total_cmp(&known.force).is_ge()) {
                largest = Some(Pull { force, place: (index as f64 + part) / count });
            }
        }
    }
    largest
}

/// Looks at the beams of a run now and then.
pub(super) struct BeamWatch {
    notes: Notes,
    /// How many of them were told at the start.
    told: usize,
    /// When pulls and when meshes are looked at again, and after how long.
    next: [f64; 2],
    pauses: [f64; 2],
    /// Largest way of each beam so far, and what else looks at the meshes share.
    meshes: MeshHistory,
}

impl BeamWatch {
    /// Of a run by a plan, from its start or from values on its way.
    pub fn new(machine: &Machine, plan: &RunPlan, start: &Values) -> Self {
        let mut meshes = MeshHistory::default();
        let notes = machine.beam_notes_again(&start.point(), &mut meshes);
        // Ways count from the first look on.
        meshes.displacements.clear();
        let pauses = [LOOKS, MESH_LOOKS].map(|looks| (plan.end_time - plan.start_time) / looks);
        // Times are rounded.
        let next = pauses.map(|pause| start.time + (1.0 - 1e-6) * pause);
        Self { told: (&notes).into_iter().count(), notes, next, pauses, meshes }
    }

    /// Looks if it is time.
    pub fn accepted(&mut self, machine: &Machine, at: &Values) {
        if machine.frames().beams().is_empty() {
            return;
        }
        let due = [0, 1].map(|look| at.time >= self.next[look]);
        for look in [0, 1].into_iter().filter(|look| due[*look]) {
            self.next[look] += self.pauses[look];
        }
        if due[0] {
            self.notes.extend(machine.pull_notes(&at.point()));
        }
        if due[1] {
            self.notes.extend(machine.mesh_notes(&at.point(), machine.slowest_rate(), &mut self.meshes));
        }
    }

    /// What was seen after the start.
    pub fn news(&self) -> Notes {
        let mut news = Notes::default();
        news.extend((&self.notes).into_iter().skip(self.told).cloned());
        news
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        out.numbers(&self.next);
        out.numbers(&self.meshes.displacements);
        out.whole(self.told as u64);
        let notes: Vec<&Note> = (&self.notes).into_iter().collect();
        out.section(&serde_json::to_vec(&notes).expect("all keys of a note are text"));
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.next = reader.numbers()?.try_into().map_err(|_| Damaged)?;
        self.meshes.displacements = reader.numbers()?;
        self.told = usize::try_from(reader.whole()?).map_err(|_| Damaged)?;
        let notes: Vec<Note> = serde_json::from_slice(reader.section()?).map_err(|_| Damaged)?;
        self.notes = Notes::default();
        self.notes.extend(notes);
        Ok(())
    }
}
