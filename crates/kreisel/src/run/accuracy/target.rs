//! A run that is as accurate as was asked for: the tolerance of its steps is found from coarser runs.
//!
//! Errors are proportional to the tolerance, with a factor that only runs tell. Two runs with large
//! tolerances come first. From their difference follows the error of the finer one, and from that the
//! tolerance of the next, which is then compared with them: what is claimed is what was seen. Where a large
//! step in the tolerance is needed, it is taken in bites. All runs have steps of their own, which follow
//! their own impacts and events. The last complete one is the result.
//!
//! Of methods of high order the error of the run before is claimed (see [`super::companion`]): the first run
//! is to have the accuracy already, and the second, with a sixteenth of its tolerance and 1.4 times its
//! steps, shows that it has. Measured with `explicit8` on 16 models, accuracies 1e-3 to 1e-5 and tolerances
//! of the first run from 4 to 1/64 of the accuracy, a sixteenth took the fewest steps in all.

use super::SMOOTH_ORDER;
use super::companion::{Accuracy, ErrorEstimate, Falls, MIN_QUOTIENT, PassWork, SCATTERED, SINGULAR, Units};
use super::samples::Samples;
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Note, NoteKind};
use crate::integrate::{ErrorControl, Method};
use crate::machine::{AccuracyOf, EventRecord, Machine, RunPlan};

/// Tolerance of the first run, in units of the accuracy, and the largest there is.
const FIRST: f64 = 16.0;
const LARGEST: f64 = 0.1;
/// Tolerance of the second run, in units of that of the first.
const SECOND: f64 = 0.25;
/// Tolerance of the first run of a method of high order, in units of the accuracy, and of each further one at
/// most, in units of the one before.
const FIRST_SCATTERED: f64 = 1.0 / 16.0;
const NIBBLE_SCATTERED: f64 = 1.0 / SCATTERED;
/// A tolerance falls by this factor at most from one run of such a method to the next, which triples its
/// steps.
const BITE_SCATTERED: f64 = 1e-4;
/// Tolerances below this are rounding to such a method.
const LEAST_SCATTERED: f64 = 1e-13;
/// An estimate below this part of the accuracy is one that is met: estimates are good to a factor of two.
const MET: f64 = 0.5;
/// Part of the accuracy that is aimed at.
const AIM: f64 = 0.35;
/// A tolerance falls by this factor at most from one run to the next, and by this at least, so that runs
/// differ.
const BITE: f64 = 0.1;
const NIBBLE: f64 = 0.5;
/// Most runs, the one that is shown among them.
const MAX_RUNS: usize = 5;
/// Below this part of the accuracy it is told what kept the steps so small.
const SHARP: f64 = 0.1;
/// So many runs may fail, one after the other.
const MAX_FAILURES: usize = 3;
/// Errors of this many times the accuracy that do not fall are given up.
const HOPELESS: f64 = 10.0;

/// A run that is complete.
#[derive(Clone)]
struct Pass {
    rtol: f64,
    samples: Samples,
    events: Vec<EventRecord>,
}

/// Something that an accuracy is of.
struct Aim {
    /// Its error: of positions in lengths of the machine or of its way, of angles in rad, of others in parts
    /// of the largest.
    error: f64,
    /// By how much that falls.
    quotient: Option<f64>,
    /// How far it is off.
    words: String,
}

/// An accuracy that is to be reached, and the runs so far.
#[derive(Clone)]
pub(crate) struct Target {
    accuracy: f64,
    /// What is to have it.
    of: AccuracyOf,
    /// Largest step that was asked for, in s.
    max_step: f64,
    /// Complete runs, the finest last.
    passes: Vec<Pass>,
    /// Tolerance of the present run.
    rtol: f64,
    /// Order of the method that takes the steps.
    order: u32,
    /// Runs before it, those that failed among them, and their work.
    count: usize,
    work: PassWork,
    /// Why the last run failed, if it did.
    failure: Option<String>,
}

impl Target {
    /// Before the first run by a plan, if it asks for an accuracy.
    pub fn new(plan: &RunPlan) -> Option<Self> {
        let accuracy = plan.accuracy?;
        let max_step = plan.integration.error_control()?.max_step;
        let (order, work) = (SMOOTH_ORDER, PassWork::default());
        let rtol = Self::first_tolerance(accuracy, order);
        let of = plan.accuracy_of;
        Some(Self { accuracy, of, max_step, passes: Vec::new(), rtol, order, count: 0, work, failure: None })
    }

    fn first_tolerance(accuracy: f64, order: u32) -> f64 {
        if order > SMOOTH_ORDER {
            (FIRST_SCATTERED * accuracy).max(LEAST_SCATTERED)
        } else {
            (FIRST * accuracy).min(LARGEST)
        }
    }

    /// Takes up the method that takes the steps of the first run; tells whether the plan changes by that.
    pub fn suit(&mut self, stepper: Method) -> bool {
        let changes = stepper.order() != self.order;
        self.order = stepper.order();
        self.rtol = Self::first_tolerance(self.accuracy, self.order);
        changes
    }

    /// How many runs there are with the present one.
    pub fn number(&self) -> usize {
        self.count + 1
    }

    /// Whether a run is complete.
    pub fn has_complete(&self) -> bool {
        !self.passes.is_empty()
    }

    /// The target of a finer run after the present one, with these samples; absent where the accuracy is met,
    /// or where nothing more is to be gained.
    pub(super) fn after_run(
        &self,
        machine: &Machine,
        plan: &RunPlan,
        (samples, scatter): (&Samples, bool),
        events: &[EventRecord],
        work: PassWork,
    ) -> Option<Self> {
        let units = Units::new(machine, plan);
        let mut next = self.counting(work)?;
        next.failure = None;
        next.rtol *= match self.estimate((samples, scatter), units) {
            None => self.second(),
            Some(found) if self.is_scattered(scatter) => {
                let error = self.worst(&found, units);
                if error <= MET * self.accuracy || self.rtol * NIBBLE_SCATTERED < LEAST_SCATTERED {
                    return None;
                }
                // What is known is the error of the run before. The next one shows that of the present one.
                let near = self.passes.last().map_or(SCATTERED, |near| near.rtol / self.rtol);
                (AIM * self.accuracy * near / error).clamp(BITE_SCATTERED, NIBBLE_SCATTERED)
            }
            Some(found) => {
                // Something that no steps resolve does not keep the rest from being met.
                let open = self.aims(&found, units).filter(|aim| aim.error > MET * self.accuracy);
                let error =
                    open.filter(|aim| !self.is_hopeless(aim)).map(|aim| aim.error).reduce(f64::max)?;
                // Without a third run errors are taken to fall as they should.
                let guess = match self.passes.as_slice() {
                    [only] => error * Falls::without_guard(only.rtol / self.rtol),
                    _ => error,
                };
                (AIM * self.accuracy / guess).clamp(BITE, NIBBLE)
            }
        };
        next.rtol = next.rtol.max(LEAST_SCATTERED);
        next.passes.push(Pass { rtol: self.rtol, samples: samples.clone(), events: events.to_vec() });
        Some(next)
    }

    /// The target of a finer run in place of the present one, which failed; absent where a coarser one is
    /// complete, or there were too many.
    pub(super) fn after_failure(&self, reason: String, work: PassWork) -> Option<Self> {
        let mut next =
            self.counting(work).filter(|next| !self.has_complete() && next.count < MAX_FAILURES)?;
        next.rtol *= self.second();
        next.failure = Some(reason);
        Some(next)
    }

    /// The same with one more run, which took this work, if there may be one.
    fn counting(&self, work: PassWork) -> Option<Self> {
        let work = self.work.plus(work);
        (self.number() < MAX_RUNS).then(|| Self { count: self.number(), work, ..self.clone() })
    }

    /// Whether errors scatter from the first step on.
    pub fn scatters(&self) -> bool {
        self.order > SMOOTH_ORDER
    }

    /// Whether errors scatter, of the present run, which had steps of high order or not.
    fn is_scattered(&self, scatter: bool) -> bool {
        scatter || self.order > SMOOTH_ORDER
    }

    /// Tolerance of the second run in units of that of the first.
    fn second(&self) -> f64 {
        if self.order > SMOOTH_ORDER { NIBBLE_SCATTERED } else { SECOND }
    }

    /// The plan of the present run.
    pub fn plan(&self, plan: &RunPlan) -> RunPlan {
        // Fixed steps keep what they have.
        let Some(control) = plan.integration.error_control() else { return plan.clone() };
        // Errors are to fall with the tolerance, however small it is, and whatever limits the steps. With
        // methods of second order the first run is none that is shown: it alone may take larger steps.
        let first = Self::first_tolerance(self.accuracy, self.order);
        let reference = if self.order > SMOOTH_ORDER { first } else { SECOND * first };
        let part = (self.rtol / reference).powf(1.0 / f64::from(self.order));
        let max_step = (self.max_step * part).max(control.min_step);
        let control = ErrorControl { rtol: self.rtol, atol: 0.0, max_step, turn_part: part, ..control };
        let integration = plan.integration.with_error_control(control);
        RunPlan { integration, ..plan.clone() }
    }

    /// Whether finer steps gain nothing: errors are large and do not fall.
    fn is_hopeless(&self, aim: &Aim) -> bool {
        let does_not_fall = aim.quotient.is_some_and(|quotient| quotient < MIN_QUOTIENT);
        aim.error > HOPELESS * self.accuracy && does_not_fall
    }

    /// All that the accuracy is of.
    fn aims(&self, found: &Accuracy, units: Units) -> impl Iterator<Item = Aim> {
        let Accuracy { positions, angles, velocities, angular_velocities, forces, torques, .. } = *found;
        let of_largest = |what: &str, pair: [ErrorEstimate; 2]| {
            let worse = if pair[0].relative() >= pair[1].relative() { pair[0] } else { pair[1] };
            let error = worse.relative();
            let words = format!("{what} are off by up to {error:.1e} of the largest");
            Aim { error, quotient: worse.quotient, words }
        };
        let position = Aim {
            error: positions.error / positions.size.max(units.length),
            quotient: positions.quotient,
            words: format!("positions are off by up to {:.1e} m", positions.error),
        };
        let angle = Aim {
            error: angles.error,
            quotient: angles.quotient,
            words: format!("angles are off by up to {:.1e} rad", angles.error),
        };
        let velocity = of_largest("velocities", [velocities, angular_velocities]);
        let reaction = of_largest("reactions", [forces, torques]);
        let velocity = self.of.names_velocities().then_some(velocity);
        let reaction = self.of.names_reactions().then_some(reaction);
        [Some(position), Some(angle), velocity, reaction].into_iter().flatten()
    }

    /// The largest error of what the accuracy is of.
    fn worst(&self, found: &Accuracy, units: Units) -> f64 {
        self.aims(found, units).map(|aim| aim.error).fold(0.0, f64::max)
    }

    /// What is known of the present run, with these samples, by the coarser ones.
    fn estimate(&self, (samples, scatter): (&Samples, bool), units: Units) -> Option<Accuracy> {
        let [others @ .., near] = self.passes.as_slice() else { return None };
        let far = others.last();
        let falls = self.falls(near, far, scatter);
        let mut found = Accuracy::new(
            samples,
            &near.samples,
            far.map(|far| &far.samples),
            falls,
            units,
            Some(self.accuracy),
        );
        found.runs = self.number();
        found.work = self.work;
        let limits = [self.accuracy * found.positions.size.max(units.length), self.accuracy];
        found.resolve(limits, samples, &near.samples, falls);
        Some(found)
    }

    /// By how much errors are to fall from one run to the next.
    fn falls(&self, near: &Pass, far: Option<&Pass>, scatter: bool) -> Falls {
        Falls {
            far: far.map_or(1.0, |far| far.rtol / near.rtol),
            near: near.rtol / self.rtol,
            scatter: self.is_scattered(scatter),
        }
    }

    /// Errors of the times of events of the present run, in s; none where the run before had others.
    pub(super) fn event_errors(
        &self,
        plan: &RunPlan,
        scatter: bool,
        events: &[EventRecord],
    ) -> Option<Vec<f64>> {
        let [others @ .., near] = self.passes.as_slice() else { return None };
        let is_same = |pass: &&Pass| {
            let names =
                |events: &[EventRecord]| -> Vec<String> { events.iter().map(|e| e.event.clone()).collect() };
            names(&pass.events) == names(events)
        };
        Some(near).filter(is_same)?;
        let far = others.last().filter(is_same);
        let (falls, length) = (self.falls(near, far, scatter), plan.end_time - plan.start_time);
        let error = |(index, event): (usize, &EventRecord)| {
            let before = near.events[index].time;
            let coarser = far.map(|far| (far.events[index].time - before).abs());
            ErrorEstimate::new(length, (event.time - before).abs(), coarser, falls).error
        };
        Some(events.iter().enumerate().map(error).collect())
    }

    /// What is known of the present run, with these samples and what limited its steps, and the doubt that it
    /// casts.
    pub(super) fn judge(
        &self,
        machine: &Machine,
        plan: &RunPlan,
        samples: (&Samples, bool),
        limit: Option<&'static str>,
    ) -> (Option<Accuracy>, Option<Note>) {
        let units = Units::new(machine, plan);
        let Some(mut found) = self.estimate(samples, units) else {
            let why = match &self.failure {
                Some(why) => format!("a run with larger steps fails: {why}"),
                None => "there is no run to compare it with".to_owned(),
            };
            let text = format!("how accurate the result is could not be found, {why}");
            return (None, Some(Note::new(NoteKind::NoErrorEstimate, text)));
        };
        let error = self.worst(&found, units);
        found.limited_by = (error < SHARP * self.accuracy).then(|| limit.unwrap_or(self.tolerance_words()));
        (Some(found), (error > self.accuracy).then(|| self.miss(&found, error, units)))
    }

    /// Why the tolerance was smaller than need be, where nothing else kept steps small.
    fn tolerance_words(&self) -> &'static str {
        match (self.number(), self.scatters()) {
            (..=2, _) => "the tolerance of the first runs, which was small enough already",
            (_, true) => "a tolerance that followed from a bound of the error",
            (_, false) => "errors of single steps that do not add up",
        }
    }

    /// The note that the accuracy was not reached, and by what.
    fn miss(&self, found: &Accuracy, error: f64, units: Units) -> Note {
        let until = match found.resolved_until {
            Some(time) => format!("the motion is resolved until t = {time:.4} s, then "),
            None => String::new(),
        };
        let missed = self.aims(found, units).filter(|aim| aim.error > self.accuracy);
        let missed: Vec<String> = missed.map(|aim| aim.words).collect();
        let text = format!(
            "the accuracy {:e} was not reached in {} runs: {until}{}",
            self.accuracy,
            self.number(),
            missed.join(", ")
        );
        let why = if found.differences_grow.is_some() { format!("; {SINGULAR}") } else { String::new() };
        let text = text + &why;
        let note = Note::new(NoteKind::AccuracyMissed, text).number(error);
        match found.resolved_until {
            Some(time) => note.at(time),
            None => note,
        }
    }

    /// Saves it.
    pub fn save(&self, out: &mut Writer) {
        out.number(self.rtol);
        let PassWork { steps, residuals, factorisations } = self.work;
        [self.order.into(), self.count as u64, steps, residuals, factorisations]
            .iter()
            .for_each(|it| out.whole(*it));
        out.flag(self.failure.is_some());
        self.failure.iter().for_each(|reason| out.section(reason.as_bytes()));
        out.whole(self.passes.len() as u64);
        for Pass { rtol, samples, events } in &self.passes {
            out.number(*rtol);
            samples.save(out);
            out.whole(events.len() as u64);
            for EventRecord { time, event } in events {
                out.number(*time);
                out.section(event.as_bytes());
            }
        }
    }

    /// Takes up again what was saved before the first run by a plan.
    pub fn restore(self, machine: &Machine, plan: &RunPlan, reader: &mut Reader) -> Result<Self, Damaged> {
        let rtol = reader.number()?;
        let order = u32::try_from(reader.whole()?).map_err(|_| Damaged)?;
        let count = usize::try_from(reader.whole()?).map_err(|_| Damaged)?;
        let [steps, residuals, factorisations] = [reader.whole()?, reader.whole()?, reader.whole()?];
        let work = PassWork { steps, residuals, factorisations };
        let failure = match reader.flag()? {
            true => Some(text(reader)?),
            false => None,
        };
        let mut passes = Vec::new();
        for _ in 0..reader.whole()? {
            let rtol = reader.number()?;
            let mut samples = Samples::new(machine, plan, order > SMOOTH_ORDER);
            samples.restore(machine, reader)?;
            let mut events = Vec::new();
            for _ in 0..reader.whole()? {
                let time = reader.number()?;
                events.push(EventRecord { time, event: text(reader)? });
            }
            passes.push(Pass { rtol, samples, events });
        }
        Ok(Self { passes, rtol, order, count, work, failure, ..self })
    }
}

fn text(reader: &mut Reader) -> Result<String, Damaged> {
    String::from_utf8(reader.section()?.to_vec()).map_err(|_| Damaged)
}
