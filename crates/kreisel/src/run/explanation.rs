//! What looks like a mistake in a machine but is not one.

use super::Run;
use crate::constrained::{ConsistencyError, StartReport};
use crate::dae::{Dae, Note, NoteKind, Notes};
use crate::integrate::StartError;
use crate::machine::{BodyEntry, Machine, Mobility};

/// Violations of the user's initial values below this part of the machine's size are rounding: places typed
/// with six digits.
const ROUNDING: f64 = 1e-6;

/// Radii of gyration so many times larger, or smaller, than the machine lose half of all digits where masses
/// and inertias are added.
const MAX_GYRATION: f64 = 1e4;

/// Most names in one note.
const MAX_NAMES: usize = 8;

/// Most bodies in the report of assembly.
const MAX_MOVED: usize = 5;

impl Machine {
    /// The machine's size in m, against which lengths are judged.
    pub fn characteristic_length(&self) -> f64 {
        self.system.scales().length
    }

    /// What the model and the start of a run of it give to know.
    pub fn start_notes(&self, run: &Run) -> Notes {
        let integration = run.integration();
        let mut notes = self.notes().clone();
        notes.extend(self.consistency_notes(integration.start_report()));
        notes.extend(self.steady_note());
        notes.extend(self.unstable_start(run));
        notes.extend(self.mobility_notes(&Mobility::from_redundancy(&self.system, integration.redundancy())));
        notes.extend(self.beam_notes(&integration.values().point()));
        notes
    }

    /// Where the model says the parts that an error at the start names: `model.toml:12:1: blade`.
    pub fn places_of(&self, error: &StartError) -> Vec<String> {
        let misses = match error {
            StartError::Initial(
                ConsistencyError::Position { misses, .. }
                | ConsistencyError::Contradiction { misses, .. }
                | ConsistencyError::Velocities { misses, .. },
            ) => misses.as_slice(),
            _ => &[],
        };
        let part = match error {
            StartError::CannotDo { part, .. } => part.as_deref(),
            _ => None,
        };
        // Parts are in words, the name between backticks; what a part has beside it follows a dot.
        let words = misses.iter().take(MAX_NAMES).map(|miss| &*miss.name).chain(part);
        let names = words.filter_map(|words| words.split('`').nth(1));
        let place = |name| self.place(name).or_else(|| self.place(name.rsplit_once('.')?.0));
        let places = names.filter_map(|name| place(name).map(|place| (name, place)));
        places.map(|(name, place)| format!("{place}: `{name}`")).collect()
    }

    /// Why the machine cannot be started, with the lines of the parts that are to blame.
    pub fn start_message(&self, error: &StartError) -> String {
        let places = self.places_of(error).into_iter().map(|place| format!("\n  --> {place}"));
        let odd = match error {
            StartError::Initial(ConsistencyError::Singular { .. }) => self.odd_masses(),
            _ => None,
        };
        format!("{error}{}{}", odd.unwrap_or_default(), places.collect::<String>())
    }

    /// About the body whose mass and inertia fit least, where they leave no digits for sums of both.
    fn odd_masses(&self) -> Option<String> {
        let size = self.characteristic_length();
        let gyration = |body: &&BodyEntry| (body.inertia.amax() / body.mass).sqrt();
        let oddness = |body: &&BodyEntry| (gyration(body) / size).log10().abs();
        let bodies =
            self.frames().bodies().iter().filter(|body| body.mass > 0.0 && body.inertia.amax() > 0.0);
        let body = bodies.max_by(|a, b| oddness(a).total_cmp(&oddness(b)))?;
        (oddness(&body) > MAX_GYRATION.log10()).then(|| {
            let (mass, inertia, radius) = (body.mass, body.inertia.amax(), gyration(&body));
            let place = self.place(&body.name).map(|place| format!("\n  --> {place}")).unwrap_or_default();
            format!(
                "; `{}` has {mass:e} kg and {inertia:e} kg m², as if it reached {radius:.1e} m far in a machine of {size:.1e} m: sums of both keep no digits of the smaller{place}",
                body.name
            )
        })
    }

    /// About initial values that had to be changed.
    pub fn consistency_notes(&self, report: &StartReport) -> Notes {
        let mut notes = Notes::default();
        let mut add = |kind: NoteKind, violation: f64, text: String| {
            notes.add(Note::new(kind, text).at(self.initial.time).number(violation));
        };
        let length = self.characteristic_length();
        let violation = report.position_violation;
        if violation > ROUNDING * length {
            let moved = self.moved(&report.position_change);
            let text = format!(
                "the initial positions violate the joints by up to {violation:.2e}; assembly moved {moved}"
            );
            add(NoteKind::PositionsChanged, violation, text);
        }
        // Velocities that are not stated follow from the others, which is no news.
        if let Some(text) = report.contradiction() {
            add(NoteKind::VelocitiesChanged, report.velocity_violation, text);
        }
        notes
    }

    /// The bodies that an increment moves most, in words.
    fn moved(&self, change: &[f64]) -> String {
        let space = self.system.shape().space;
        let length = self.characteristic_length();
        let mut moved: Vec<(f64, String)> = (self.frames().bodies().iter())
            .filter_map(|body| {
                let change = &change[space.velocity_range(body.node.0)];
                let turns = if change.len() > 3 { norm(&change[..3]) } else { 0.0 };
                let shifts = norm(&change[change.len() - 3..]);
                let size = shifts.max(length * turns);
                // Rounding of bodies that stay where they are is not told.
                let parts = [(shifts, shifts, "m"), (turns, length * turns, "rad")];
                let words: Vec<String> = (parts.iter())
                    .filter(|(_, weight, _)| *weight > ROUNDING * size)
                    .map(|(value, _, unit)| format!("{value:.2e} {unit}"))
                    .collect();
                (size > ROUNDING * ROUNDING * length)
                    .then(|| (size, format!("`{}` by {}", body.name, words.join(" and "))))
            })
            .collect();
        moved.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = moved.len().saturating_sub(MAX_MOVED);
        let mut words: Vec<String> = moved.into_iter().take(MAX_MOVED).map(|(_, words)| words).collect();
        if more > 0 {
            words.push(format!("{more} more by less"));
        }
        words.join(", ")
    }

    /// Kind and name of a joint, by its index in the system.
    fn joint_words(&self, index: usize) -> String {
        let name = self.system.joint_name(index);
        format!("{} `{name}`", self.frames().joint_kind_at(index, name).unwrap_or("joint"))
    }

    /// About bodies that nothing holds, redundant joints and machines that cannot move.
    pub fn mobility_notes(&self, mobility: &Mobility) -> Notes {
        let mut notes = Notes::default();
        if !self.frames().joints().is_empty() {
            notes.extend(self.free_bodies());
        }
        for &(joint, count) in &mobility.implied {
            let (name, rows) = (self.joint_words(joint), self.system.joint_equation_count(joint));
            let verb = if count == 1 { "is" } else { "are" };
            let text = format!("{name}: {count} of {rows} equations {verb} implied by the others");
            let note = Note::new(NoteKind::RedundantConstraints, text);
            notes.add(note.about(self.system.joint_name(joint)).number(count as f64));
        }
        let quoted = |&(joint, _): &(usize, usize)| format!("`{}`", self.system.joint_name(joint));
        if !mobility.shared.is_empty() {
            let names: Vec<String> = mobility.shared.iter().take(MAX_NAMES).map(quoted).collect();
            let more = if mobility.shared.len() > MAX_NAMES { ", …" } else { "" };
            let text = format!(
                "reactions are shared arbitrarily among {}{more}; of all that give this motion the smallest are shown",
                names.join(", ")
            );
            notes.add(Note::new(NoteKind::SharedReactions, text).number(mobility.shared.len() as f64));
        }
        let is_drive = |index: usize| self.frames().joint_at(index).is_some_and(|joint| joint.is_drive);
        let drives: Vec<String> =
            mobility.shared.iter().filter(|(joint, _)| is_drive(*joint)).map(quoted).collect();
        if !drives.is_empty() {
            let text = format!(
                "locked by its drives: joints and other drives already decide what {} ask for; a run ends where they part",
                drives.join(", ")
            );
            notes.add(Note::new(NoteKind::LockedDrives, text).number(drives.len() as f64));
        }
        // What drives lead has no freedom left and moves all the same.
        let driven = self.system.shape().rheonomic;
        if mobility.degrees_of_freedom() == 0 && !driven {
            let text = "the machine cannot move: it has no degree of freedom";
            notes.add(Note::new(NoteKind::Immobile, text));
        }
        notes
    }

    /// A note for each body that nothing touches.
    fn free_bodies(&self) -> impl Iterator<Item = Note> {
        let counts = self.system.part_counts();
        let is_free = move |node: usize| {
            let (elements, joints) = counts[node];
            // The body itself is one element.
            joints == 0 && elements <= 1
        };
        self.frames().bodies().iter().filter(move |body| is_free(body.node.0)).map(|body| {
            let text = format!("no joint or force touches the body `{}`", body.name);
            Note::new(NoteKind::FreeBody, text).about(&body.name)
        })
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
