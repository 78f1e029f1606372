//! A run from start to end, into a folder or into any sink: what Rust, the command and Python call.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::accuracy::{Accuracy, AccuracyWatch, Target};
use super::advance::{Run, RunEnding, RunError, RunStatistics};
use super::checkpoint::{Checkpoint, CheckpointHeader};
use super::files::ResultFiles;
use super::recorder::{Moment, Recorder, Sink};
use crate::dae::{Control, Notes, Values};
use crate::integrate::{Interval, Observer};
use crate::machine::{EventRecord, Machine, Mobility, RunPlan};
use crate::results::{EndStatus, ModelIdentity, RunSummary};

/// A machine that is to be run by a plan, and how.
///
/// ```
/// use kreisel::machine::Machine;
/// use kreisel::run::{Job, RunEnding};
///
/// let machine = Machine::from_text("ball.toml", r#"
///     [simulation]
///     end-time = "1 s"
///     step = "10 ms"
///     [[body]]
///     name = "ball"
///     mass = 1
///     inertia = [1, 1, 1]
/// "#)?;
/// # let results = tempfile::tempdir()?;
/// # let results = results.path();
/// let outcome = Job::new(&machine, &machine.plan()?).run_into(&results.join("ball"))?;
/// assert_eq!(outcome.ending, RunEnding::Done);
/// assert_eq!(outcome.statistics.steps, 100);
/// assert!(results.join("ball/trajectory.csv").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Job<'a> {
    machine: &'a Machine,
    plan: RunPlan,
    model: Option<ModelIdentity>,
    force: bool,
    with_report: bool,
    checkpoint: Option<Every>,
    arguments: Option<Value>,
    observer: Option<&'a mut dyn JobObserver>,
    also: Option<&'a mut dyn Sink>,
    began: Instant,
}

/// How often something is done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    /// After so many seconds of wall time.
    Seconds(f64),
    /// After so many steps.
    Steps(u64),
}

/// Watches a job; a closure that is asked after each step is one, too.
pub trait JobObserver {
    /// The machine has started, and nothing is written yet; `notes` are all that there is to know so far.
    fn started(&mut self, notes: &Notes) {
        let _ = notes;
    }

    /// The tolerance that an accuracy needs is looked for: so much of the coarse run of this number is over; tells whether to
    /// go on.
    fn searching(&mut self, number: usize, part: f64) -> Control {
        let _ = (number, part);
        Control::Continue
    }

    /// The results have their place, and the first step comes next.
    fn begun(&mut self) {}

    /// A step was accepted; tells whether to go on.
    fn accepted(&mut self, now: &Moment) -> Control;

    /// The run is over, and so much of the runs that estimate its error; tells whether to go on with them.
    fn estimating(&mut self, part: f64) -> Control {
        let _ = part;
        Control::Continue
    }

    /// The run is over; what `run.json` is to say about that, where the observer knows better than the run.
    fn ended(&mut self) -> Option<EndStatus> {
        None
    }
}

impl<F: FnMut(&Moment) -> Control> JobObserver for F {
    fn accepted(&mut self, now: &Moment) -> Control {
        self(now)
    }
}

/// What a job came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobOutcome {
    /// How the run ended.
    pub ending: RunEnding,
    /// What `run.json` says.
    pub summary: RunSummary,
    /// What the run did, in numbers.
    pub statistics: RunStatistics,
    /// Events in order of time.
    pub events: Vec<EventRecord>,
    /// How the machine can move.
    pub mobility: Mobility,
    /// How accurate the result is, if that was to be estimated and could be.
    pub accuracy: Option<Accuracy>,
    /// The files that were written.
    pub paths: Vec<PathBuf>,
}

impl<'a> Job<'a> {
    /// A job whose clock starts now.
    pub fn new(machine: &'a Machine, plan: &RunPlan) -> Self {
        Self {
            machine,
            plan: plan.clone(),
            model: None,
            force: false,
            with_report: true,
            checkpoint: None,
            arguments: None,
            observer: None,
            also: None,
            began: Instant::now(),
        }
    }

    /// Names the model in `run.json`; without, it is the first text that the machine was read from.
    pub fn model(self, model: ModelIdentity) -> Self {
        Self { model: Some(model), ..self }
    }

    /// Takes a folder whoever filled it.
    pub fn force(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// Whether the files end with a page.
    pub fn report(self, with_report: bool) -> Self {
        Self { with_report, ..self }
    }

    /// Writes a checkpoint into the folder every so often, and when the observer stops the run.
    pub fn checkpoint(self, every: impl Into<Option<Every>>) -> Self {
        Self { checkpoint: every.into(), ..self }
    }

    /// What the run was asked for, in the words of whoever asks; checkpoints keep it.
    pub fn arguments(self, arguments: Value) -> Self {
        Self { arguments: Some(arguments), ..self }
    }

    /// Lets someone watch, who may end the run.
    pub fn observe(self, observer: &'a mut dyn JobObserver) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Hands the records to a sink beside the files of a folder, too: of a run that goes on, those from there.
    pub fn also(self, sink: &'a mut dyn Sink) -> Self {
        Self { also: Some(sink), ..self }
    }

    /// Runs with records to a sink, and gives it back.
    pub fn record<S: Sink>(mut self, sink: S) -> Result<(S, JobOutcome), RunError> {
        let run = self.machine.start(&self.plan)?;
        let summary = self.started(&run);
        let (run, target) = self.aim(run)?;
        let recorder = Recorder::new(self.machine, self.plan.output_step, sink);
        let mut underway = self.begin(run, target, recorder, summary);
        loop {
            let ending = underway.run.advance(&mut underway.watch);
            let is_anew;
            (underway, is_anew) = underway.refined(&ending)?;
            if !is_anew {
                return underway.finish(ending);
            }
        }
    }

    /// Runs with records to the files of a folder, which is made if need be.
    pub fn run_into(mut self, folder: &Path) -> Result<JobOutcome, RunError> {
        let run = self.machine.start(&self.plan)?;
        let summary = self.started(&run);
        let (run, target) = self.aim(run)?;
        let arguments = self.arguments.take().unwrap_or_default();
        let header = CheckpointHeader::new(summary.model.clone(), self.machine, arguments);
        let files = ResultFiles::begin(folder, summary.model.clone(), self.force, self.machine)?;
        let recorder = Recorder::new(self.machine, self.plan.output_step, files);
        self.write(header, (run, target), recorder, summary, None)
    }

    /// Goes on in the folder of a run that did not end, to the same bytes as without interruption.
    pub fn resume(mut self, folder: &Path, checkpoint: &Checkpoint) -> Result<JobOutcome, RunError> {
        let mut header = checkpoint.header().clone();
        let target = checkpoint.target(self.machine, &self.plan)?;
        if let Some(target) = &target {
            self.plan = target.plan(&self.plan);
        }
        let run = self.machine.resume(&self.plan, checkpoint)?;
        self.model = Some(header.model.clone());
        let summary = self.started(&run);
        if let Some(arguments) = self.arguments.take() {
            header.arguments = arguments;
        }
        let recorder = Recorder::resume(self.machine, &self.plan, folder, checkpoint)?;
        self.write(header, (run, target), recorder, summary, Some(checkpoint))
    }

    /// Runs to the end, pausing for checkpoints, and finishes the files.
    fn write(
        mut self,
        mut header: CheckpointHeader,
        (run, target): (Run<'a>, Option<Target>),
        mut recorder: Recorder<'a, ResultFiles<'a>>,
        summary: RunSummary,
        from: Option<&Checkpoint>,
    ) -> Result<JobOutcome, RunError> {
        if let Some(sink) = self.also.take() {
            recorder.sink_mut().also(sink);
        }
        let (period, with_report) = (self.checkpoint.map(Period::new), self.with_report);
        let mut underway = self.begin(run, target, recorder, summary);
        if let Some(checkpoint) = from {
            checkpoint.restore_accuracy(underway.machine, &underway.run, &mut underway.watch.accuracy)?;
        }
        underway.watch.period = period;
        underway.earlier = header.wall_time;
        let ending = loop {
            let ending = underway.run.advance(&mut underway.watch);
            let watch = &underway.watch;
            let (is_due, is_stopped) = (watch.is_due, watch.is_stopped);
            let is_paused = ending == RunEnding::Stopped && !watch.recorder.has_failed();
            if is_paused && (is_due || is_stopped && watch.period.is_some()) {
                header.wall_time = underway.wall_time();
                let RecordingObserver { recorder, accuracy, .. } = &mut underway.watch;
                recorder.write_watched(&mut underway.run, Some(accuracy), &mut header)?;
            }
            if is_paused && !is_stopped {
                continue;
            }
            let is_anew;
            (underway, is_anew) = underway.refined(&ending)?;
            if !is_anew {
                break ending;
            }
        };
        let (files, mut outcome) = underway.finish(ending)?;
        outcome.paths = files.finish(&mut outcome.summary, with_report)?;
        Ok(outcome)
    }

    /// Tells the observer that the machine has started, and begins the summary.
    fn started(&mut self, run: &Run) -> RunSummary {
        let machine = self.machine;
        let notes = machine.start_notes(run);
        if let Some(observer) = &mut self.observer {
            observer.started(&notes);
        }
        let first_text = || machine.sources().first().cloned();
        let model = self.model.take().or_else(first_text).unwrap_or_else(|| ModelIdentity::new("", b""));
        let mut summary = RunSummary::new(model);
        summary.add_notes(&notes);
        summary.assumptions = [machine.assumptions().to_vec(), self.plan.assumptions.clone()].concat();
        summary.assumptions.extend(run.integration().choice().map(str::to_owned));
        summary
    }

    /// Finds the tolerance that the accuracy needs, if one is asked for, and starts with it.
    fn aim(&mut self, run: Run<'a>) -> Result<(Run<'a>, Option<Target>), RunError> {
        let Some(accuracy) = self.plan.accuracy else { return Ok((run, None)) };
        let observer = &mut self.observer;
        let mut ask = |number: usize, part: f64| {
            observer.as_mut().map_or(Control::Continue, |observer| observer.searching(number, part))
        };
        match Target::find(self.machine, &self.plan, accuracy, &mut ask) {
            Some(target) => {
                self.plan = target.plan(&self.plan);
                Ok((self.machine.start(&self.plan)?, Some(target)))
            }
            // Whoever stopped it stops the run at its first step.
            None => Ok((run, None)),
        }
    }

    fn begin<S: Sink>(
        mut self,
        run: Run<'a>,
        target: Option<Target>,
        recorder: Recorder<'a, S>,
        mut summary: RunSummary,
    ) -> Underway<'a, S> {
        summary.settings = self.machine.settings.words(&self.plan).into();
        if let Some(observer) = &mut self.observer {
            observer.begun();
        }
        let watch = RecordingObserver {
            recorder,
            observer: self.observer,
            machine: self.machine,
            accuracy: AccuracyWatch::new(self.machine, &self.plan, run.integration().values(), target),
            period: None,
            is_due: false,
            is_stopped: false,
        };
        let (machine, plan) = (self.machine, self.plan);
        Underway { machine, plan, run, watch, summary, began: self.began, earlier: 0.0 }
    }
}

/// A job between its first step and its last.
struct Underway<'a, S> {
    machine: &'a Machine,
    plan: RunPlan,
    run: Run<'a>,
    watch: RecordingObserver<'a, S>,
    summary: RunSummary,
    began: Instant,
    /// Wall time before a checkpoint from which the run went on, in s.
    earlier: f64,
}

impl<S: Sink> Underway<'_, S> {
    fn wall_time(&self) -> f64 {
        self.earlier + self.began.elapsed().as_secs_f64()
    }

    /// The job from its start with a smaller tolerance, where its accuracy was missed and another run may reach it; tells
    /// whether it is.
    fn refined(self, ending: &RunEnding) -> Result<(Self, bool), RunError> {
        let machine = self.machine;
        let target = match ending {
            RunEnding::Done | RunEnding::Event(_) => self.watch.accuracy.after_miss(machine, &self.plan),
            _ => None,
        };
        let Some(target) = target else { return Ok((self, false)) };
        let Self { plan, run, mut watch, mut summary, .. } = self;
        if !watch.recorder.sink_mut().begin_anew(machine)? {
            return Ok((Self { plan, run, watch, summary, ..self }, false));
        }
        let plan = target.plan(&plan);
        let run = machine.start(&plan)?;
        watch.recorder = watch.recorder.anew();
        watch.accuracy = AccuracyWatch::new(machine, &plan, run.integration().values(), Some(target));
        summary.settings = machine.settings.words(&plan).into();
        Ok((Self { plan, run, watch, summary, ..self }, true))
    }

    /// Records the last step, however the run ended, judges the result and completes the summary.
    fn finish(mut self, mut ending: RunEnding) -> Result<(S, JobOutcome), RunError> {
        self.watch.recorder.close(self.run.integration().values())?;
        let statistics = RunStatistics::new(self.machine, &self.run, &self.watch.recorder);
        let mut accuracy = None;
        if let RunEnding::Done | RunEnding::Event(_) = ending {
            accuracy = self.watch.estimate(&self.plan, &mut self.summary);
            let refusal = self.watch.accuracy.refusal(&statistics.extremes);
            ending = refusal.map_or(ending, RunEnding::Refused);
        }
        let status = self.watch.observer.as_mut().and_then(|observer| observer.ended());
        let wall_time = self.wall_time();
        let Self { machine, mut run, watch, mut summary, .. } = self;
        summary.add_notes(&watch.accuracy.notes(machine, &mut run, &statistics.extremes, accuracy.is_some()));
        summary.status = status.unwrap_or_else(|| ending.status());
        summary.judge();
        summary.accuracy = json(&accuracy);
        summary.wall_time = wall_time;
        summary.statistics = json(&statistics);
        summary.events = run.events().iter().map(json).collect();
        let outcome = JobOutcome {
            ending,
            summary,
            statistics,
            events: run.events().to_vec(),
            mobility: Mobility::from_redundancy(&machine.system, run.integration().redundancy()),
            accuracy,
            paths: Vec::new(),
        };
        Ok((watch.recorder.finish(run.integration().values())?, outcome))
    }
}

impl<S: Sink> RecordingObserver<'_, S> {
    /// Estimates the error, if it is to be.
    fn estimate(&mut self, plan: &RunPlan, summary: &mut RunSummary) -> Option<Accuracy> {
        let mut ask = |part: f64| {
            self.observer.as_mut().map_or(Control::Continue, |observer| observer.estimating(part))
        };
        let (accuracy, note) = self.accuracy.estimate(self.machine, plan, &mut ask);
        summary.add_notes(&note);
        accuracy
    }
}

fn json(content: &impl Serialize) -> Value {
    serde_json::to_value(content).expect("statistics and events have text keys")
}

impl RunEnding {
    /// How the run ended, as `run.json` says it.
    pub fn status(&self) -> EndStatus {
        match self {
            Self::Done | Self::Event(_) => EndStatus::Done,
            Self::Stopped => EndStatus::Interrupted,
            Self::Failed(error) => EndStatus::Failed { message: error.to_string() },
            Self::Refused(error) => EndStatus::Failed { message: error.to_string() },
        }
    }
}

/// Records every step, lets someone watch and tells when a checkpoint is due.
struct RecordingObserver<'a, S> {
    recorder: Recorder<'a, S>,
    observer: Option<&'a mut dyn JobObserver>,
    machine: &'a Machine,
    accuracy: AccuracyWatch,
    period: Option<Period>,
    is_due: bool,
    is_stopped: bool,
}

impl<S: Sink> Observer for RecordingObserver<'_, S> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
        self.accuracy.started();
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let recorded = self.recorder.accepted(last);
        self.accuracy.accepted(self.machine, last);
        let moment = self.recorder.moment(last.ends().to);
        let asked = self.observer.as_mut().map_or(Control::Continue, |observer| observer.accepted(&moment));
        self.is_stopped = asked == Control::Stop;
        self.is_due = self.period.as_mut().is_some_and(Period::is_over);
        if self.is_stopped || self.is_due { Control::Stop } else { recorded }
    }
}

/// Tells after each step whether it is time.
struct Period {
    every: Every,
    since: Instant,
    steps: u64,
}

impl Period {
    /// A period that begins now.
    fn new(every: Every) -> Self {
        Self { every, since: Instant::now(), steps: 0 }
    }

    /// Counts a step; tells whether it is time, and then begins anew.
    fn is_over(&mut self) -> bool {
        self.steps += 1;
        let is_over = match self.every {
            Every::Seconds(seconds) => {
                self.since.elapsed() >= Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            }
            Every::Steps(steps) => self.steps >= steps,
        };
        if is_over {
            *self = Self::new(self.every);
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_run_that_was_stopped_goes_on_to_the_same_bytes() {
        let model = "[simulation]\nend-time = 0.5\nstep = 0.01\n[[body]]\nname = 'ball'\nmass = 1\ninertia = [1, 1, 1]";
        let machine = Machine::from_text("ball.toml", model).unwrap();
        let plan = machine.plan().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
        let job = || Job::new(&machine, &plan).report(false);
        assert_eq!(job().run_into(&whole).unwrap().ending, RunEnding::Done);
        let mut stop = |now: &Moment| if now.time() < 0.2 { Control::Continue } else { Control::Stop };
        let stopped = job().checkpoint(Every::Steps(7)).observe(&mut stop).run_into(&parts).unwrap();
        assert_eq!(stopped.summary.status, EndStatus::Interrupted);
        let checkpoint = Checkpoint::read(&parts).unwrap();
        assert_eq!(checkpoint.header().steps, stopped.statistics.steps);
        let done = job().resume(&parts, &checkpoint).unwrap();
        assert_eq!((done.ending, done.statistics.steps), (RunEnding::Done, 50));
        let table = |folder: &Path| fs::read(folder.join("trajectory.csv")).unwrap();
        assert_eq!(table(&whole), table(&parts));
    }

    #[test]
    fn a_period_of_steps_ends_at_each_of_its_steps() {
        let mut period = Period::new(Every::Steps(3));
        let ends: Vec<bool> = (0..7).map(|_| period.is_over()).collect();
        assert_eq!(ends, [false, false, true, false, false, true, false]);
    }
}
