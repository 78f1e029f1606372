//! A run that is as accurate as was asked for: the tolerance of its steps is found from coarser runs.
//!
//! Errors are proportional to the tolerance, with a factor that only runs tell. Two runs with large tolerances come first. From
//! their difference follows the error of the finer one, and from that the tolerance of the run itself, which is then compared
//! with them: what is claimed is what was seen. Where a large step in the tolerance is needed, it is taken in bites. All runs
//! have steps of their own, which follow their own impacts and events.

use super::companion::{Accuracy, CompanionWatch, Falls, MIN_QUOTIENT, Obstacle, Units};
use super::samples::Samples;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Control, Note, NoteKind};
use crate::integrate::ErrorControl;
use crate::machine::{Machine, RunPlan};
use crate::system::System;

/// Tolerance of the first run, in units of the accuracy, and the largest there is.
const FIRST: f64 = 16.0;
const LARGEST: f64 = 0.1;
/// Tolerance of the second run, in units of that of the first.
const SECOND: f64 = 0.25;
/// Part of the accuracy that is aimed at.
const AIM: f64 = 0.5;
/// A tolerance falls by this factor at most from one run to the next, and by this at least, so that runs differ.
const BITE: f64 = 0.1;
const NIBBLE: f64 = 0.5;
/// Most runs, the one that is shown among them.
const MAX_RUNS: usize = 5;
/// Errors of this many times the accuracy that do not fall are given up.
const HOPELESS: f64 = 10.0;

/// A run that was made on the way.
#[derive(Clone)]
struct Pass {
    rtol: f64,
    samples: Samples,
}

/// The runs by which a tolerance was found.
#[derive(Clone)]
pub(crate) struct Target {
    accuracy: f64,
    passes: Vec<Pass>,
    /// Tolerance of the run that comes next.
    rtol: f64,
    /// Runs so far, those that failed among them.
    count: usize,
    /// Why the last run failed, if it did.
    failure: Option<String>,
}

impl Target {
    /// Makes coarse runs until the tolerance of the run itself is known; whoever is asked hears the number of the run and how
    /// much of it is over. Absent if it was stopped.
    pub fn find(
        machine: &Machine,
        plan: &RunPlan,
        accuracy: f64,
        ask: &mut dyn FnMut(usize, f64) -> Control,
    ) -> Option<Self> {
        let rtol = (FIRST * accuracy).min(LARGEST);
        let mut target = Self { accuracy, passes: Vec::new(), rtol, count: 0, failure: None };
        loop {
            target.run(machine, plan, ask)?;
            let is_last = target.count + 1 == MAX_RUNS;
            if target.choose(Units::new(machine, plan)) || is_last {
                return Some(target);
            }
        }
    }

    /// The target with a smaller tolerance after a run that missed it; absent where it was met, or where nothing more is to be
    /// gained.
    pub(super) fn after_miss(&self, machine: &Machine, plan: &RunPlan, samples: &Samples) -> Option<Self> {
        let units = Units::new(machine, plan);
        let found = self.estimate(samples, self.rtol, self.coarser(), units)?;
        let (error, quotient) = worst(&found, units);
        if error <= self.accuracy || self.count + 1 >= MAX_RUNS || self.is_hopeless(error, quotient) {
            return None;
        }
        let mut next = self.clone();
        next.count += 1;
        next.passes.truncate(self.coarser().len());
        next.passes.push(Pass { rtol: self.rtol, samples: samples.clone() });
        next.choose(units);
        Some(next)
    }

    /// The runs that are coarser than the one that comes next: the same may have been made before.
    fn coarser(&self) -> &[Pass] {
        match self.passes.as_slice() {
            [others @ .., last] if last.rtol == self.rtol => others,
            passes => passes,
        }
    }

    /// The plan of a run with the tolerance that was found.
    pub fn plan(&self, plan: &RunPlan) -> RunPlan {
        self.plan_at(plan, self.rtol, 1.0)
    }

    /// A plan with a tolerance, in which steps that a limit keeps small are larger by a factor.
    fn plan_at(&self, plan: &RunPlan, rtol: f64, factor: f64) -> RunPlan {
        // Fixed steps keep what they have.
        let Some(control) = plan.integration.error_control() else { return plan.clone() };
        let max_step = factor * control.max_step;
        // Errors are to fall with the tolerance, however small it is.
        let integration =
            plan.integration.with_error_control(ErrorControl { rtol, atol: 0.0, max_step, ..control });
        RunPlan { integration, ..plan.clone() }
    }

    /// Makes the run that comes next.
    fn run(
        &mut self,
        machine: &Machine,
        plan: &RunPlan,
        ask: &mut dyn FnMut(usize, f64) -> Control,
    ) -> Option<()> {
        self.count += 1;
        let number = self.count;
        let plan = self.plan_at(plan, self.rtol, (self.rtol / self.accuracy).max(1.0).sqrt());
        let mut ask = |part: f64| ask(number, part);
        let samples = Samples::new(&machine.system, &plan);
        let watch = CompanionWatch { machine, samples, plan: &plan, done: 0.0, share: 1.0, ask: &mut ask };
        match watch.run() {
            Ok(samples) => self.passes.push(Pass { rtol: self.rtol, samples }),
            Err(Obstacle::Stopped) => return None,
            Err(Obstacle::Failed(why)) => self.failure = Some(why),
        }
        Some(())
    }

    /// Chooses the next tolerance; tells whether the run with it is likely to be accurate enough, or no other would be.
    fn choose(&mut self, units: Units) -> bool {
        let [.., before, last] = self.passes.as_slice() else {
            self.rtol *= SECOND;
            return false;
        };
        let found = self.estimate(&last.samples, last.rtol, &self.passes[..self.passes.len() - 1], units);
        let Some(found) = found else { return false };
        let (error, quotient) = worst(&found, units);
        // Without a third run errors are taken to fall as they should.
        let guess =
            if self.passes.len() > 2 { error } else { error * Falls::without_guard(before.rtol / last.rtol) };
        let factor = AIM * self.accuracy / guess;
        if error <= self.accuracy && factor >= 1.0 {
            self.rtol = last.rtol;
            return true;
        }
        self.rtol = last.rtol * factor.clamp(BITE, NIBBLE);
        factor >= BITE || self.is_hopeless(error, quotient)
    }

    /// Whether finer steps gain nothing: errors are large and do not fall.
    fn is_hopeless(&self, error: f64, quotient: Option<f64>) -> bool {
        error > HOPELESS * self.accuracy && quotient.is_some_and(|quotient| quotient < MIN_QUOTIENT)
    }

    /// What is known of a run with a tolerance by coarser ones, the finest last.
    fn estimate(&self, samples: &Samples, rtol: f64, coarser: &[Pass], units: Units) -> Option<Accuracy> {
        let [others @ .., near] = coarser else { return None };
        let far = others.last();
        let falls = Falls { far: far.map_or(1.0, |far| far.rtol / near.rtol), near: near.rtol / rtol };
        Some(Accuracy::new(samples, &near.samples, far.map(|far| &far.samples), falls, units))
    }

    /// What is known of the run that was made with the tolerance that was found, and the doubt that it casts.
    pub(super) fn judge(
        &self,
        machine: &Machine,
        plan: &RunPlan,
        samples: &Samples,
    ) -> (Option<Accuracy>, Option<Note>) {
        let units = Units::new(machine, plan);
        let coarser = self.coarser();
        let Some(mut found) = self.estimate(samples, self.rtol, coarser, units) else {
            let why = self.failure.as_deref().unwrap_or("there is nothing to compare it with");
            let text = format!(
                "how accurate the result is could not be found, a run with larger steps fails: {why}"
            );
            return (None, Some(Note::new(NoteKind::NoErrorEstimate, text)));
        };
        found.wanted = Some(self.accuracy);
        let limits = [self.accuracy * found.positions.size.max(units.length), self.accuracy];
        found.resolve(limits, samples, &coarser[coarser.len() - 1].samples);
        let (error, _) = worst(&found, units);
        (Some(found), (error > self.accuracy).then(|| self.miss(&found, error)))
    }

    /// The note that the accuracy was not reached.
    fn miss(&self, found: &Accuracy, error: f64) -> Note {
        let until = match found.resolved_until {
            Some(time) => format!("the motion is resolved until t = {time:.4} s, then "),
            None => String::new(),
        };
        let text = format!(
            "the accuracy {:.0e} was not reached in {} runs: {until}positions are off by up to {:.1e} m, angles by {:.1e} rad",
            self.accuracy,
            self.count + 1,
            found.positions.error,
            found.angles.error
        );
        let note = Note::new(NoteKind::AccuracyMissed, text).number(error);
        match found.resolved_until {
            Some(time) => note.at(time),
            None => note,
        }
    }

    /// Saves it.
    pub fn save(&self, out: &mut Writer) {
        out.number(self.rtol);
        out.whole(self.count as u64);
        out.whole(self.passes.len() as u64);
        for Pass { rtol, samples } in &self.passes {
            out.number(*rtol);
            samples.save(out);
        }
    }

    /// Takes up again what was saved of a run by a plan.
    pub fn restore(
        system: &System,
        plan: &RunPlan,
        accuracy: f64,
        reader: &mut Reader,
    ) -> Result<Self, Damaged> {
        let rtol = reader.number()?;
        let count = usize::try_from(reader.whole()?).map_err(|_| Damaged)?;
        let mut passes = Vec::new();
        for _ in 0..reader.whole()? {
            let rtol = reader.number()?;
            let mut samples = Samples::new(system, plan);
            samples.restore(system, reader)?;
            passes.push(Pass { rtol, samples });
        }
        Ok(Self { accuracy, passes, rtol, count, failure: None })
    }
}

/// The larger of the errors of positions, in lengths of the machine or of its way, and of angles, in rad; and by how much it
/// falls.
fn worst(found: &Accuracy, units: Units) -> (f64, Option<f64>) {
    let Accuracy { positions, angles, .. } = found;
    let position = positions.error / positions.size.max(units.length);
    if position > angles.error { (position, positions.quotient) } else { (angles.error, angles.quotient) }
}
