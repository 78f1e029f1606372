//! What beams give to know in a state of the machine: pulls beyond what their sections bear, meshes that are
//! coarse.

use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Note, NoteKind, Notes, Point, Values};
use crate::kinematics::{Motion, NodeMotion};
use crate::lie::Pose;
use crate::machine::beam::{BeamElement, BeamEntry};
use crate::machine::{Machine, RunPlan};
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
        let mut notes = self.pull_notes(at);
        notes.extend(self.mesh_notes(at, self.slowest_rate(), &mut Vec::new()));
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
    let pulls = beam.elements.iter().enumerate().flat_map(|(index, element)| {
        let (nodes, touched) = element_nodes(system, element, at);
        let motion = Motion::new(at.time, &nodes[..touched]);
        let places = element.points().iter().enumerate();
        let pulls: Vec<Pull> = places
            .map(|(point, part)| Pull {
                force: element.strain(point, &motion).force[3],
                place: (index as f64 + part) / count,
            })
            .collect();
        pulls
    });
    pulls.max_by(|a, b| a.force.total_cmp(&b.force))
}

/// Looks at the beams of a run now and then.
pub(super) struct BeamWatch {
    notes: Notes,
    /// How many of them were told at the start.
    told: usize,
    /// When pulls and when meshes are looked at again, and after how long.
    next: [f64; 2],
    pauses: [f64; 2],
    /// Largest way of each beam so far.
    ways: Vec<f64>,
}

impl BeamWatch {
    /// Of a run by a plan, from its start or from values on its way.
    pub fn new(machine: &Machine, plan: &RunPlan, start: &Values) -> Self {
        let notes = machine.beam_notes(&start.point());
        let pauses = [LOOKS, MESH_LOOKS].map(|looks| (plan.end_time - plan.start_time) / looks);
        // Times are rounded.
        let next = pauses.map(|pause| start.time + (1.0 - 1e-6) * pause);
        Self { told: (&notes).into_iter().count(), notes, next, pauses, ways: Vec::new() }
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
            self.notes.extend(machine.mesh_notes(&at.point(), machine.slowest_rate(), &mut self.ways));
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
        out.numbers(&self.ways);
        out.whole(self.told as u64);
        let notes: Vec<&Note> = (&self.notes).into_iter().collect();
        out.section(&serde_json::to_vec(&notes).expect("all keys of a note are text"));
    }

    /// Takes it up again.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        self.next = reader.numbers()?.try_into().map_err(|_| Damaged)?;
        self.ways = reader.numbers()?;
        self.told = usize::try_from(reader.whole()?).map_err(|_| Damaged)?;
        let notes: Vec<Note> = serde_json::from_slice(reader.section()?).map_err(|_| Damaged)?;
        self.notes = Notes::default();
        self.notes.extend(notes);
        Ok(())
    }
}
