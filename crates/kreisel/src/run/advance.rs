//! Runs a machine from its start to its end, from corner to corner of the inputs and from event to event.

use thiserror::Error;

use super::recorder::{Recorder, Trajectory};
use super::{CheckpointError, Extremes, Job};
use crate::bytes::{Reader, Writer};
use crate::constrained::{ConsistencyError, blame};
use crate::dae::{Control, Values};
use crate::integrate::{
    Integration, Integrator, Interval, Observer, ResumeError, Saved, Settings, StartError, StateError,
    Statistics, StepError, Task,
};
use crate::machine::event::{EventRecord, EventWatch};
use crate::machine::sensor::{ConditionSensor, NamedSensor};
use crate::machine::variant::Variants;
use crate::machine::{InputEntry, Machine, Refusal};
use crate::machine::{RunPlan, SettingsError};
use crate::results::WriteError;
use crate::system::System;

/// A run under way.
pub struct Run<'m> {
    machine: &'m Machine,
    system: &'m System,
    integration: Integration<'m>,
    end_time: f64,
    /// Times strictly inside the run at which inputs are not smooth, the earliest last.
    corners: Vec<f64>,
    /// Times at which velocities are projected, the earliest last.
    projections: Vec<f64>,
    /// Whether the inputs have a corner where the run starts, and where it ends.
    corner_at_ends: [bool; 2],
    /// Times that differ by less are the same, in s.
    slack: f64,
    /// Whether it has been announced that the run starts.
    begun: bool,
    events: EventWatch<'m>,
    variants: &'m Variants,
    /// Work before a checkpoint from which the run went on.
    earlier: Statistics,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnding {
    /// At its end time.
    Done,
    /// By an event that stops the run.
    Event(EventRecord),
    /// Because an observer asked for it.
    Stopped,
    /// By a step that failed; the state is the one before.
    Failed(StepError),
    /// Because the machine asks for what cannot be; the state may be the one after it was asked for.
    Refused(Refusal),
}

/// Why a run came to nothing.
#[derive(Error)]
#[non_exhaustive]
pub enum RunError {
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The start failed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The machine asks for what cannot be.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no equilibrium.
    #[error(transparent)]
    Statics(#[from] crate::statics::StaticsError),
    /// There are no modes.
    #[error(transparent)]
    Modes(crate::modes::ModesError),
    /// A record could not be kept.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The run cannot go on from a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

shown_by_message!(RunError);

impl Machine {
    /// Starts the machine with settings of the integrator, without a plan for a run: makes the initial values
    /// consistent and finds the starting values.
    pub fn start_with(&self, settings: Settings) -> Result<Integration<'_>, StartError> {
        let settings = Settings { has_no_past: self.signals().ask_outside_by_time(), ..settings };
        let started = Integrator::with(settings).start(&self.system, self.starting_values()?);
        started.map_err(|error| self.with_culprit(error))
    }

    /// Starts a run.
    pub fn start(&self, plan: &RunPlan) -> Result<Run<'_>, StartError> {
        let mut run = Run {
            machine: self,
            system: &self.system,
            integration: self.start_with(plan.integration)?,
            end_time: plan.end_time,
            corners: Vec::new(),
            projections: Vec::new(),
            corner_at_ends: [false; 2],
            slack: SAME_TIME * plan.integration.step,
            begun: false,
            events: EventWatch::new(&self.system, self.events()),
            variants: self.variants(),
            earlier: Statistics::default(),
        };
        let start = run.integration.values().time + run.slack;
        run.plan_projections(plan);
        run.projections.retain(|time| *time > start);
        run.extend(plan.end_time);
        Ok(run)
    }

    /// Goes as far as the first step of a run, with nobody watching: what this refuses no run takes, and
    /// nothing else is refused before the first step.
    pub fn begin(&self, plan: &RunPlan) -> Result<Run<'_>, RunError> {
        let mut run = self.start(plan)?;
        run.begin(&mut ())?;
        run.events.refusal().map_or(Ok(run), |refusal| Err(refusal.into()))
    }

    /// An error at the start with the name of the part that gives numbers that are not finite.
    fn with_culprit(&self, error: StartError) -> StartError {
        use crate::dae::Dae;
        if let StartError::CannotDo { method, task, part: None, instead } = error {
            return StartError::CannotDo { method, task, part: self.part_with(task), instead };
        }
        let StartError::Initial(ConsistencyError::NotFinite { equation, time }) = error else { return error };
        let initial = &self.initial;
        let rest = Values {
            internal_states: initial.internal_states.clone(),
            ..Values::zeros(&self.system.shape())
        };
        // A law may be finite a moment later, or only at the start itself.
        let part = [time, time.next_up()].into_iter().find_map(|time| {
            self.system.blame(&rest.point_at(time, &initial.configuration, &initial.velocity))
        });
        let equation = blame(equation, part);
        ConsistencyError::NotFinite { equation, time }.into()
    }

    /// The first part that asks for what a method cannot do, where the equations do not tell.
    fn part_with(&self, task: Task) -> Option<String> {
        match task {
            Task::Beams => self.frames().beams().first().map(|beam| format!("beam `{}`", beam.name)),
            Task::ReactionFriction => self.system.reader_of_reactions().map(|name| format!("`{name}`")),
            _ => None,
        }
    }

    /// Lets runs of a plan report the condition number of the iteration matrix, as the signal
    /// `solver.condition` and in their statistics.
    pub fn report_condition(&mut self, plan: &mut RunPlan) {
        plan.integration.report_condition = true;
        let sensor = NamedSensor::new("solver.condition", ConditionSensor).of_the_past();
        self.signals_mut().record_also(sensor);
    }

    /// Runs the machine with its own settings and keeps every signal in memory.
    pub fn simulate(&self) -> Result<Trajectory, RunError> {
        let plan = self.settings.plan()?;
        let (trajectory, outcome) = Job::new(self, &plan).record(Trajectory::new(self))?;
        match outcome.ending {
            RunEnding::Failed(error) => Err(error.into()),
            RunEnding::Refused(error) => Err(error.into()),
            RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => Ok(trajectory),
        }
    }
}

/// Times that differ by less than this part of a step are the same.
const SAME_TIME: f64 = 1e-6;

impl<'m> Run<'m> {
    /// The integration as it stands.
    pub fn integration(&self) -> &Integration<'m> {
        &self.integration
    }

    /// What constraints and stiffness leave of a change of the configuration after a step; tells whether it
    /// was found.
    pub(super) fn lasting_part(&mut self, at: &Values, step: f64, change: &[f64], out: &mut [f64]) -> bool {
        self.integration.lasting_part(at, step, change, out).is_ok()
    }

    /// Work so far.
    pub fn statistics(&self) -> Statistics {
        self.earlier.plus(&self.integration.statistics())
    }

    /// Saves all that the run needs to go on, except the machine.
    pub(super) fn save(&mut self, out: &mut Writer) {
        out.section(&self.integration.save().to_bytes());
        self.statistics().counts().into_iter().for_each(|count| out.whole(count));
        out.flag(self.begun);
        out.numbers(&self.corners);
        self.events.save(out);
    }

    /// Goes on where a run of the same machine and plan was saved.
    pub(super) fn restore(&mut self, reader: &mut Reader) -> Result<(), ResumeError> {
        let saved = Saved::from_bytes(reader.section().map_err(StateError::from)?)?;
        let method = Integrator::with(*self.integration.settings());
        let mut integration = method.resume(self.system, &saved)?;
        integration.started_as(&self.integration);
        self.integration = integration;
        let mut counts = [0; Statistics::COUNTS];
        for count in &mut counts {
            *count = reader.whole().map_err(StateError::from)?;
        }
        // To take the state up again is no work of the run.
        self.earlier = Statistics::from_counts(counts).minus(&self.integration.statistics());
        self.begun = reader.flag().map_err(StateError::from)?;
        self.corners = reader.numbers().map_err(StateError::from)?;
        self.events.restore(reader).map_err(StateError::from)?;
        // A run that is saved has done all that was to be done at its time.
        let done = self.integration.values().time + self.slack;
        self.projections.retain(|time| *time > done);
        Ok(())
    }

    /// Saves how far corners of the inputs were looked for, which no plan says of a run without an end.
    pub(super) fn save_window(&self, out: &mut Writer) {
        out.number(self.end_time);
        self.corner_at_ends.into_iter().for_each(|corner| out.flag(corner));
    }

    /// Goes back, or ahead, to where a run of the same machine and plan was saved with its window.
    pub(super) fn go_to(
        &mut self,
        plan: &RunPlan,
        window: &mut Reader,
        run: &mut Reader,
    ) -> Result<(), ResumeError> {
        self.plan_projections(plan);
        self.restore(run)?;
        self.end_time = window.number().map_err(StateError::from)?;
        for corner in &mut self.corner_at_ends {
            *corner = window.flag().map_err(StateError::from)?;
        }
        Ok(())
    }

    /// Takes up the times at which velocities are projected, from now on.
    fn plan_projections(&mut self, plan: &RunPlan) {
        self.projections.clone_from(&plan.velocity_projection);
        self.projections.sort_by(|a, b| b.total_cmp(a));
    }

    /// Events so far, in order of time.
    pub fn events(&self) -> &[EventRecord] {
        &self.events.records
    }

    /// Sets the end, and finds where inputs are not smooth from the present time until then.
    pub fn extend(&mut self, end: f64) {
        let (start, slack, step) = (self.integration.values().time, self.slack, self.slack / SAME_TIME);
        let mut corners = self.system.corners(start - step, end + step);
        self.corner_at_ends =
            [start, end].map(|time| corners.iter().any(|corner| (corner - time).abs() <= slack));
        corners.retain(|&corner| corner > start + slack && corner < end - slack);
        corners.dedup_by(|next, last| *next - *last <= slack);
        corners.reverse();
        self.corners = corners;
        self.end_time = end;
    }

    /// When the run ends, in s.
    pub fn end_time(&self) -> f64 {
        self.end_time
    }

    /// Runs to the end; steps land on corners of the inputs and on events, and the method starts anew at
    /// corners and where the machine is changed.
    pub fn advance(&mut self, observer: &mut dyn Observer) -> RunEnding {
        self.advance_to(self.end_time, observer)
    }

    /// Begins, if the run has not begun: the observer sees the start.
    pub fn begin(&mut self, observer: &mut dyn Observer) -> Result<(), StepError> {
        if self.begun {
            return Ok(());
        }
        let [corner_at_start, _] = self.corner_at_ends;
        if corner_at_start {
            self.integration.restart()?;
        }
        self.begun = true;
        self.announce(observer);
        Ok(())
    }

    /// Runs to a time before the end, or to the end, and is done there; it can go on later.
    pub fn advance_to(&mut self, time: f64, observer: &mut dyn Observer) -> RunEnding {
        if let Err(error) = self.begin(observer) {
            return RunEnding::Failed(error);
        }
        loop {
            match self.stretch(time, observer) {
                Ok(None) => self.announce(observer),
                Ok(Some(ending)) => return ending,
                Err(error) => return self.failed(error),
            }
        }
    }

    /// The ending by a step that failed: the end of what a joint can do is a better reason than what the step
    /// says.
    fn failed(&self, error: StepError) -> RunEnding {
        let (now, settings) = (self.integration.values(), self.integration.settings());
        let limit = self.machine.limit(&now.point(), settings.step);
        limit.map_or(RunEnding::Failed(error), RunEnding::Refused)
    }

    /// Sets inputs from outside to values; forces may jump, so the method starts anew, once for all of them.
    /// Values with which it does not start are not taken.
    pub fn set_inputs(
        &mut self,
        inputs: &[(&InputEntry, f64)],
        observer: &mut dyn Observer,
    ) -> Result<(), StepError> {
        let mut before = Vec::new();
        for (input, value) in inputs {
            for &slot in &input.slots {
                let (was, change) = (self.integration.values().memory[slot], value - input.value);
                if was != change {
                    before.push((slot, was));
                    self.integration.set_remembered(slot, change);
                }
            }
        }
        if before.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.integration.restart() {
            before.into_iter().rev().for_each(|(slot, was)| self.integration.set_remembered(slot, was));
            self.integration.restart()?;
            return Err(error);
        }
        if self.begun {
            self.announce(observer);
        }
        Ok(())
    }

    fn announce(&mut self, observer: &mut dyn Observer) {
        self.events.started(self.integration.values());
        observer.started(self.integration.values());
    }

    /// Runs to the next time at which the method starts anew, or to a time.
    fn stretch(&mut self, time: f64, observer: &mut dyn Observer) -> Result<Option<RunEnding>, StepError> {
        if let Some(refusal) = self.events.refusal() {
            return Ok(Some(RunEnding::Refused(refusal)));
        }
        let before = self.integration.values().time;
        if (time - before).abs() <= self.slack {
            return Ok(Some(RunEnding::Done));
        }
        let until =
            |times: &[f64], limit: f64| times.last().copied().filter(|next| *next <= limit + self.slack);
        let corner = until(&self.corners, time);
        let projection = until(&self.projections, corner.unwrap_or(time));
        let corner =
            corner.filter(|corner| projection.is_none_or(|time| (corner - time).abs() <= self.slack));
        let end = corner.or(projection).unwrap_or(time);
        let mut watch = StepWatch {
            machine: self.machine,
            observer,
            events: &mut self.events,
            stopped: false,
            refusal: None,
        };
        if corner.is_some() || (self.corner_at_ends[1] && end >= self.end_time) {
            self.integration.run_to_corner(end, &mut watch)?;
        } else {
            self.integration.run(end, &mut watch)?;
        }
        if let Some(refusal) = watch.refusal {
            return Ok(Some(RunEnding::Refused(refusal)));
        }
        let stopped = watch.stopped;
        let changed = self.events.changes();
        if let Some(ending) = self.act_on_events() {
            return Ok(Some(ending));
        }
        let now = self.integration.values().time;
        // A run that nothing stopped has arrived, though what is left may be less than a step that can be
        // taken.
        let arrived = now == end || !(stopped || changed);
        if arrived && corner.is_none() && projection.is_none() {
            return Ok(Some(if stopped { RunEnding::Stopped } else { RunEnding::Done }));
        }
        if arrived && corner.is_some() {
            self.corners.pop();
        }
        if arrived && projection.is_some() {
            self.projections.retain(|time| *time > end + self.slack);
            self.integration.project_velocity()?;
        }
        if arrived && corner.is_some() && !changed {
            self.integration.pass_corner()?
        } else if (arrived && corner.is_some()) || changed {
            self.integration.restart()?
        }
        if !stopped {
            return Ok(None);
        }
        // A run that was stopped can go on as if it had not been: nothing is left to be done at this time.
        if arrived || changed {
            self.announce(observer);
        }
        Ok(Some(RunEnding::Stopped))
    }

    /// Does what the events of the last step ask for; gives the ending if the run is over.
    fn act_on_events(&mut self) -> Option<RunEnding> {
        let time = self.integration.values().time;
        if let Some(event) = self.events.stopping() {
            return Some(RunEnding::Event(EventRecord { time, event: event.name.clone() }));
        }
        if !self.events.changes() {
            return None;
        }
        let (system, events, variants) = (self.system, &self.events, self.variants);
        let outcome = self.integration.change_memory(|at, memory| {
            events.last().try_for_each(|event| {
                for &setting in &event.settings {
                    let variant = variants.after(system.variant(memory), setting);
                    system.set_variant(variant, memory);
                }
                let mut switches = event.switches.iter();
                switches.try_for_each(|&(switch, on)| system.switch(switch, on, at, memory).map(|_| ()))
            })
        });
        outcome.err().map(|error| RunEnding::Refused(error.into()))
    }
}

/// Shows steps to an observer and to the events, and refuses those that cannot be.
struct StepWatch<'a, 'm> {
    machine: &'m Machine,
    observer: &'a mut dyn Observer,
    events: &'a mut EventWatch<'m>,
    /// Whether the observer ended the run.
    stopped: bool,
    /// Why the run cannot go on.
    refusal: Option<Refusal>,
}

impl Observer for StepWatch<'_, '_> {
    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        self.events.accepted(last);
        let (from, to) = (last.ends().from.time, last.ends().to.time);
        self.refusal = self.machine.refusal_of_laws(from, to).or_else(|| self.events.refusal());
        if self.refusal.is_some() {
            return Control::Stop;
        }
        self.stopped = self.observer.accepted(last) == Control::Stop;
        if self.stopped || self.events.interrupts() { Control::Stop } else { Control::Continue }
    }

    fn landing(&mut self, pending: &mut dyn Interval) -> Option<f64> {
        self.events.landing(pending)
    }
}

/// What a run did, in numbers, as `run.json` keeps it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct RunStatistics {
    /// Number of bodies.
    pub bodies: usize,
    /// Number of velocity coordinates.
    pub velocity_coordinates: usize,
    /// Number of constraint equations, those of velocities included.
    pub constraints: usize,
    /// Time that was reached, in s.
    pub time: f64,
    /// Accepted steps.
    pub steps: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Corrections halved by the line search.
    pub line_search_cuts: u64,
    /// Steps taken back because their error was too large.
    pub rejected_steps: u64,
    /// Steps taken back because they could not be computed.
    pub failed_steps: u64,
    /// Number of events.
    pub events: usize,
    /// Output times that were recorded.
    pub records: u64,
    /// Smallest and largest condition number of the iteration matrix, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<[f64; 2]>,
    /// How well energy and constraints were kept.
    #[serde(flatten)]
    pub extremes: Extremes,
}

impl RunStatistics {
    /// The numbers of a run and its recorder.
    pub fn new<S: super::recorder::Sink>(machine: &Machine, run: &Run, recorder: &Recorder<'_, S>) -> Self {
        use crate::dae::Dae;
        let shape = machine.system.shape();
        let counts = run.statistics();
        Self {
            bodies: machine.frames().bodies().len(),
            velocity_coordinates: shape.velocity_count(),
            constraints: shape.constraint_count() + shape.nonholonomic_count(),
            time: run.integration.values().time,
            steps: counts.steps,
            newton_iterations: counts.iterations,
            residuals: counts.residuals,
            factorisations: counts.factorisations,
            line_search_cuts: counts.line_search_cuts,
            rejected_steps: counts.rejections,
            failed_steps: counts.failures,
            events: run.events().len(),
            records: recorder.count(),
            condition: recorder.conditions(),
            extremes: recorder.extremes(),
        }
    }
}
