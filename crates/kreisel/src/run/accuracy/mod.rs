//! Whether the numbers of a run can be trusted: every estimate, warning and verdict is made here, and
//! everything else reads it.
//!
//! A run is watched by what its steps show anyway: how far parts turn in a step, what local errors add up to,
//! what the energy balance is off by, what alternates from step to step, what beams bear and how fine their
//! meshes are. Whoever asks for it gets an estimate of the error by companions, runs with larger steps. What
//! casts doubt on the result is a [`Note`](crate::dae::Note) of a kind that is a doubt, and the verdict
//! follows from these and from how the run ended.

mod beams;
mod companion;
mod filter;
mod limits;
mod samples;
mod steps;
mod target;
mod turns;
mod vibrations;

pub use companion::{Accuracy, ErrorEstimate, FilteredErrors, PassWork};

use beams::BeamWatch;
use limits::LimitWatch;
use samples::Samples;
use steps::StepErrorWatch;
pub(super) use target::Target;
use turns::TurnWatch;
use vibrations::VibrationWatch;

use super::advance::Run;
use super::recorder::Extremes;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Control, Note, NoteKind, Notes, Values};
use crate::integrate::Interval;
use crate::machine::{EventRecord, Machine, Refusal, RunPlan};
use crate::results::{EndStatus, RunSummary, Verdict};

/// Methods of higher order take so few steps that their errors scatter.
const SMOOTH_ORDER: u32 = 2;
/// Methods of this order on follow vibrations with a few steps a period.
const HIGH_ORDER: u32 = 8;
/// Motions below this, in rad and in lengths of the machine, are none.
const REST: f64 = 1e-6;

/// Part of the largest energy, most of which may stand still, that is always in play: rounding.
const ROUNDING: f64 = 1e-5;
/// Defects of the energy balance above this part of the energy in play are told.
const MAX_ENERGY_LOST: f64 = 0.1;
/// The same for energy that is gained: methods that damp may lose some, none may gain any. Speeds are 1.5 % too
/// large then.
const MAX_ENERGY_GAINED: f64 = 0.03;
/// From this part on more energy came from nowhere than was ever there.
const ENERGY_FROM_NOWHERE: f64 = 0.5;

/// What makes a run more accurate.
#[derive(Clone, Copy)]
enum Remedy {
    /// Smaller steps, where they are fixed.
    Steps,
    /// A smaller tolerance, where the error decides on them.
    Tolerance,
    /// A smaller accuracy, where one was asked for.
    Accuracy,
}

impl Remedy {
    fn of(plan: &RunPlan) -> Self {
        match plan.integration.error_control() {
            None => Self::Steps,
            Some(_) if plan.accuracy.is_some() => Self::Accuracy,
            Some(_) => Self::Tolerance,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Steps => "take smaller steps, or `step = \"auto\"`",
            Self::Tolerance => "take a smaller `rtol`",
            Self::Accuracy => "take a smaller `accuracy`",
        }
    }
}

/// Watches a run for what casts doubt on it.
pub(super) struct AccuracyWatch {
    beams: BeamWatch,
    turns: TurnWatch,
    steps: StepErrorWatch,
    vibrations: VibrationWatch,
    limits: LimitWatch,
    remedy: Remedy,
    /// Energies below this, in J, are rounding: that of the machine's mass at a speed below which nothing
    /// moves.
    least_energy: f64,
    /// The motion, where its error is to be estimated.
    samples: Option<Samples>,
    /// The accuracy that it is to have, with the coarser runs before it.
    target: Option<Target>,
    /// Whether a method of high order took a step.
    scatter: bool,
}

impl AccuracyWatch {
    pub fn new(machine: &Machine, plan: &RunPlan, start: &Values, target: Option<Target>) -> Self {
        let scales = machine.system.scales();
        let scatters = target.as_ref().is_some_and(Target::scatters);
        let slow = REST * scales.length / (plan.end_time - plan.start_time);
        Self {
            beams: BeamWatch::new(machine, plan, start),
            turns: TurnWatch::new(&machine.system, plan.integration.method()),
            steps: StepErrorWatch::new(&machine.system, plan, start),
            vibrations: VibrationWatch::new(&machine.system),
            limits: LimitWatch::new(&machine.system, plan),
            remedy: Remedy::of(plan),
            least_energy: scales.mass * slow * slow,
            samples: (plan.error_estimate || target.is_some()).then(|| Samples::new(machine, plan, scatters)),
            target,
            scatter: false,
        }
    }

    /// The method starts, or starts anew.
    pub fn started(&mut self) {
        self.steps.started();
        self.vibrations.started();
        self.limits.started();
        self.samples.iter_mut().for_each(Samples::started);
    }

    /// Looks at a step.
    pub fn accepted(&mut self, machine: &Machine, last: &mut dyn Interval) {
        let report = last.report();
        self.scatter |= report.order > SMOOTH_ORDER;
        let ends = last.ends();
        self.beams.accepted(machine, ends.to);
        self.turns.accepted(&ends);
        self.steps.accepted(&ends, &report);
        // What alternates may be followed well by a method of high order, which knows how well.
        if report.order < HIGH_ORDER {
            self.vibrations.accepted(&ends);
        }
        self.limits.accepted(&ends, report.order);
        if let Some(samples) = &mut self.samples {
            samples.accepted(machine, last);
        }
    }

    /// What was seen after the start of a run that kept energy like this; where its error is known, nobody
    /// needs to add up local ones.
    pub fn notes(
        &self,
        machine: &Machine,
        run: &mut Run,
        extremes: &Extremes,
        error_is_known: bool,
    ) -> Notes {
        let mut notes = self.beams.news();
        notes.extend(self.turns.note(machine));
        notes.extend(run.integration().notes().clone());
        if !error_is_known {
            let mut lasting = |at: &Values, step: f64, change: &[f64], out: &mut [f64]| {
                run.lasting_part(at, step, change, out)
            };
            notes.extend(self.steps.note(&machine.system, self.remedy, &mut lasting));
        }
        notes.extend(self.vibrations.note(&machine.system, self.remedy, self.steps.ranges()));
        notes.extend(self.energy_note(extremes));
        notes
    }

    /// Compares with coarser runs, which are made where that was asked for, and tells what they show.
    pub fn estimate(
        &self,
        machine: &Machine,
        plan: &RunPlan,
        work: PassWork,
        ask: &mut dyn FnMut(f64) -> Control,
    ) -> (Option<Accuracy>, Option<Note>) {
        let (mut accuracy, note) = match (&self.samples, &self.target) {
            (Some(samples), Some(target)) => {
                target.judge(machine, plan, (samples, self.scatter), self.limits.words())
            }
            (Some(samples), None) => companion::estimate(machine, plan, samples, self.scatter, ask),
            (None, _) => (None, None),
        };
        if let Some(accuracy) = &mut accuracy {
            accuracy.work = accuracy.work.plus(work);
        }
        (accuracy, note)
    }

    /// The target of a finer run, if the accuracy was missed, or is not known yet, and another run may reach
    /// it.
    pub fn after_run(
        &self,
        machine: &Machine,
        plan: &RunPlan,
        events: &[EventRecord],
        work: PassWork,
    ) -> Option<Target> {
        let samples = (self.samples.as_ref()?, self.scatter);
        self.target.as_ref()?.after_run(machine, plan, samples, events, work)
    }

    /// Errors of the times of events, in s, if runs tell.
    pub fn event_errors(&self, plan: &RunPlan, events: &[EventRecord]) -> Option<Vec<f64>> {
        self.target.as_ref()?.event_errors(plan, self.scatter, events)
    }

    /// The target of a finer run in place of one that failed, if it may get through.
    pub fn after_failure(&self, reason: String, work: PassWork) -> Option<Target> {
        self.target.as_ref()?.after_failure(reason, work)
    }

    /// Saves what was seen.
    pub fn save(&self, out: &mut Writer) {
        self.beams.save(out);
        self.turns.save(out);
        self.steps.save(out);
        self.vibrations.save(out);
        self.limits.save(out);
        out.flag(self.scatter);
        if let Some(samples) = &self.samples {
            samples.save(out);
        }
    }

    /// Takes it up again, with values of the run that goes on.
    pub fn restore(&mut self, machine: &Machine, now: &Values, reader: &mut Reader) -> Result<(), Damaged> {
        self.beams.restore(reader)?;
        self.turns.restore(reader)?;
        self.steps.restore(now, reader)?;
        self.vibrations.restore(reader)?;
        self.limits.restore(reader)?;
        self.scatter = reader.flag()?;
        match &mut self.samples {
            Some(samples) => samples.restore(machine, reader),
            None => Ok(()),
        }
    }

    /// Saves the coarser runs by which the tolerance was found.
    pub fn save_target(&self, out: &mut Writer) {
        if let Some(target) = &self.target {
            target.save(out);
        }
    }

    /// An energy in parts of that in play.
    fn part_in_play(&self, energy: f64, extremes: &Extremes) -> f64 {
        if energy.is_infinite() {
            return energy;
        }
        energy / (extremes.energy_in_play + ROUNDING * extremes.largest_energy + self.least_energy)
    }

    /// The doubt that an energy balance casts.
    fn energy_note(&self, extremes: &Extremes) -> Option<Note> {
        let lost = self.part_in_play(extremes.largest_energy_balance, extremes);
        let gained = self.part_in_play(extremes.largest_energy_gain, extremes);
        // What is beyond all numbers is refused, in words of its own.
        if lost <= MAX_ENERGY_LOST && gained <= MAX_ENERGY_GAINED || lost.is_infinite() {
            return None;
        }
        let advice = self.remedy.words();
        // A loss that is allowed hides no gain.
        let (what, energy, part) = match lost > MAX_ENERGY_LOST {
            true => ("the energy balance is off by", extremes.largest_energy_balance, lost),
            false => ("the motion gains", extremes.largest_energy_gain, gained),
        };
        let text = format!("{what} {energy:.1e} J, {:.1} % of the energy in play; {advice}", 100.0 * part);
        Some(Note::new(NoteKind::EnergyLost, text).number(part).advice(advice))
    }

    /// Why a run that got through is none: more energy came from nowhere than there was.
    pub fn refusal(&self, extremes: &Extremes) -> Option<Refusal> {
        let (gain, in_play) = (extremes.largest_energy_gain, extremes.energy_in_play);
        let is_from_nowhere = self.part_in_play(gain, extremes) > ENERGY_FROM_NOWHERE;
        is_from_nowhere.then_some(Refusal::EnergyFromNowhere { gain, in_play })
    }
}

impl RunSummary {
    /// Adds what the user should know.
    pub fn add_notes<'n>(&mut self, notes: impl IntoIterator<Item = &'n Note>) {
        for note in notes {
            self.warnings.push(note.text.clone());
            self.notes.push(serde_json::to_value(note).expect("all keys of a note are text"));
        }
    }

    /// Says whether the result can be trusted, from how the run ended and from its notes.
    pub fn judge(&mut self) {
        let is_in_doubt = self.notes.iter().any(|note| note["doubt"] == true);
        self.verdict = match self.status {
            EndStatus::Running => None,
            EndStatus::Failed { .. } => Some(Verdict::Wrong),
            EndStatus::Done | EndStatus::Interrupted if is_in_doubt => Some(Verdict::Doubtful),
            EndStatus::Done | EndStatus::Interrupted => Some(Verdict::Good),
        };
    }
}
