//! A run from start to end, into a folder or into any sink: what Rust, the command and Python call.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::accuracy::{Accuracy, AccuracyWatch, PassWork, Target};
use super::advance::{Run, RunEnding, RunError, RunStatistics};
use super::checkpoint::{Checkpoint, CheckpointHeader};
use super::files::ResultFiles;
use super::passes::{Held, PassSink};
use super::recorder::{Moment, Recorder, Sink};
use crate::dae::{Control, Note, NoteKind, Notes, Values};
use crate::integrate::{Interval, Observer};
use crate::machine::{EventRecord, Machine, Mobility, Refusal, RunPlan};
use crate::results::{Computation, EndStatus, ModelIdentity, RunSummary};

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

    /// The results have their place, and the first step comes next.
    fn begun(&mut self) {}

    /// The run is made again with smaller steps, since that is how an accuracy is found: this is the number
    /// of the next one. The last one is the result.
    fn begun_anew(&mut self, number: usize) {
        let _ = number;
    }

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

    /// Hands the records to a sink beside the files of a folder, too: of a run that goes on, those from
    /// there.
    pub fn also(self, sink: &'a mut dyn Sink) -> Self {
        Self { also: Some(sink), ..self }
    }

    /// Runs with records to a sink, and gives it back; with an accuracy it gets all of them at the end.
    pub fn record<S: Sink>(mut self, sink: S) -> Result<(S, JobOutcome), RunError> {
        let (run, target) = self.start()?;
        let notes = self.machine.start_notes(&run);
        let summary = self.started(&run, &notes);
        let sink = Held::new(sink, target.is_some());
        let recorder = Recorder::new(self.machine, self.plan.output_step, sink);
        let mut underway = self.begin(run, target, recorder, summary);
        loop {
            let ending = underway.run.advance(&mut underway.watch);
            let outcome;
            (underway, outcome) = underway.conclude(ending)?;
            if let Some(outcome) = outcome {
                return Ok((underway.watch.recorder.into_sink().release()?, outcome));
            }
        }
    }

    /// Runs with records to the files of a folder, which is made if need be.
    pub fn run_into(mut self, folder: &Path) -> Result<JobOutcome, RunError> {
        let (run, target) = self.start()?;
        let notes = self.machine.start_notes(&run);
        let summary = self.started(&run, &notes);
        let arguments = self.arguments.take().unwrap_or_default();
        let mut header = CheckpointHeader::new(summary.model.clone(), self.machine, arguments);
        header.notes = notes.into_iter().collect();
        header.assumptions.clone_from(&summary.assumptions);
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
        let mut notes = Notes::default();
        notes.extend(header.notes.clone());
        let mut summary = self.started(&run, &notes);
        // What the start chose by; a method that changed later is told.
        summary.assumptions.clone_from(&header.assumptions);
        if let Some(arguments) = self.arguments.take() {
            header.arguments = arguments;
        }
        let complete = target
            .as_ref()
            .filter(|target| target.has_complete())
            .and_then(|_| Computation::Run.summary(folder));
        let recorder = Recorder::resume(self.machine, &self.plan, folder, checkpoint)?;
        let is_there = |summary: &RunSummary| summary.files.iter().all(|name| folder.join(name).exists());
        let complete = complete.filter(is_there);
        self.write(header, (run, target), recorder, summary, Some((checkpoint, complete)))
    }

    /// Runs to the end, pausing for checkpoints, and finishes the files. A job that goes on does so from a
    /// checkpoint, and has the summary of the last complete run, if there is one.
    fn write(
        mut self,
        mut header: CheckpointHeader,
        (run, target): (Run<'a>, Option<Target>),
        mut recorder: Recorder<'a, ResultFiles<'a>>,
        summary: RunSummary,
        from: Option<(&Checkpoint, Option<RunSummary>)>,
    ) -> Result<JobOutcome, RunError> {
        if let Some(sink) = self.also.take() {
            recorder.sink_mut().also(sink, target.is_some());
        }
        let (period, with_report) = (self.checkpoint.map(Period::new), self.with_report);
        let mut underway = self.begin(run, target, recorder, summary);
        if let Some((checkpoint, complete)) = from {
            checkpoint.restore_accuracy(underway.machine, &underway.run, &mut underway.watch.accuracy)?;
            underway.complete = complete.map(|summary| underway.outcome_of(summary));
        }
        underway.watch.period = period;
        underway.earlier = header.wall_time;
        let mut outcome = loop {
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
            let outcome;
            (underway, outcome) = underway.conclude(ending)?;
            if let Some(outcome) = outcome {
                break outcome;
            }
        };
        outcome.paths = underway.watch.recorder.into_sink().finish(&mut outcome.summary, with_report)?;
        Ok(outcome)
    }

    /// Tells the observer that the machine has started, and begins the summary.
    fn started(&mut self, run: &Run, notes: &Notes) -> RunSummary {
        let machine = self.machine;
        if let Some(observer) = &mut self.observer {
            observer.started(notes);
        }
        let first_text = || machine.sources().first().cloned();
        let model = self.model.take().or_else(first_text).unwrap_or_else(|| ModelIdentity::new("", b""));
        let mut summary = RunSummary::new(model);
        summary.add_notes(notes);
        summary.assumptions = [machine.assumptions().to_vec(), self.plan.assumptions.clone()].concat();
        summary.assumptions.extend(run.integration().choice().map(str::to_owned));
        summary
    }

    /// Starts the run, or the first of several by which an accuracy is reached.
    fn start(&mut self) -> Result<(Run<'a>, Option<Target>), RunError> {
        let Some(mut target) = Target::new(&self.plan) else {
            return Ok((self.machine.start(&self.plan)?, None));
        };
        let plan = target.plan(&self.plan);
        let mut run = self.machine.start(&plan)?;
        if target.suit(run.integration().stepper()) {
            run = self.machine.start(&target.plan(&self.plan))?;
        }
        self.plan = target.plan(&self.plan);
        Ok((run, Some(target)))
    }

    fn begin<S: PassSink>(
        mut self,
        run: Run<'a>,
        target: Option<Target>,
        recorder: Recorder<'a, S>,
        mut summary: RunSummary,
    ) -> Underway<'a, S> {
        summary.settings = self.machine.settings.words(&self.plan).into();
        let number = target.as_ref().map_or(1, Target::number);
        if let Some(observer) = &mut self.observer {
            observer.begun();
            if number > 1 {
                observer.begun_anew(number);
            }
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
        Underway { machine, plan, run, watch, summary, complete: None, began: self.began, earlier: 0.0 }
    }
}

/// A job between its first step and its last.
struct Underway<'a, S> {
    machine: &'a Machine,
    plan: RunPlan,
    run: Run<'a>,
    watch: RecordingObserver<'a, S>,
    summary: RunSummary,
    /// What the last complete run came to, where a finer one is under way.
    complete: Option<JobOutcome>,
    began: Instant,
    /// Wall time before a checkpoint from which the run went on, in s.
    earlier: f64,
}

impl<S: PassSink> Underway<'_, S> {
    fn wall_time(&self) -> f64 {
        self.earlier + self.began.elapsed().as_secs_f64()
    }

    /// What the job came to, if it is over with this ending of its run; otherwise it begins anew with smaller
    /// steps.
    fn conclude(mut self, ending: RunEnding) -> Result<(Self, Option<JobOutcome>), RunError> {
        let is_stopped = ending == RunEnding::Stopped;
        let mut outcome = self.judge(ending)?;
        let failure = outcome.failure();
        let work = PassWork::of(&outcome.statistics);
        let next = match (&outcome.ending, &failure) {
            (RunEnding::Done | RunEnding::Event(_), _) => {
                self.watch.accuracy.after_run(self.machine, &self.plan, &outcome.events, work)
            }
            (RunEnding::Failed(_) | RunEnding::Refused(Refusal::EnergyFromNowhere { .. }), Some(reason)) => {
                self.watch.accuracy.after_failure(reason.clone(), work)
            }
            // What the machine asks for cannot be, whatever the steps.
            _ => None,
        };
        if let Some(target) = next {
            let complete = failure.is_none().then_some(&mut outcome.summary);
            self.watch.recorder.sink_mut().begin_anew(self.machine, complete)?;
            if failure.is_none() {
                self.complete = Some(outcome);
            }
            return Ok((self.anew(target)?, None));
        }
        if (is_stopped || failure.is_some())
            && let Some(complete) = self.complete.take()
        {
            self.watch.recorder.sink_mut().take_back()?;
            outcome = complete.taken_back(is_stopped, failure);
        }
        let status = self.watch.observer.as_mut().and_then(|observer| observer.ended());
        outcome.summary.status = status.unwrap_or_else(|| outcome.ending.status());
        outcome.summary.judge();
        outcome.summary.wall_time = self.wall_time();
        Ok((self, Some(outcome)))
    }

    /// The job with the run of a target in place of the one before.
    fn anew(mut self, target: Target) -> Result<Self, RunError> {
        if let Some(observer) = &mut self.watch.observer {
            observer.begun_anew(target.number());
        }
        self.plan = target.plan(&self.plan);
        self.run = self.machine.start(&self.plan)?;
        self.watch.recorder = self.watch.recorder.anew();
        self.watch.period.iter_mut().for_each(Period::end);
        let start = self.run.integration().values();
        self.watch.accuracy = AccuracyWatch::new(self.machine, &self.plan, start, Some(target));
        self.summary.settings = self.machine.settings.words(&self.plan).into();
        Ok(self)
    }

    /// Records the last step, however the run ended, judges the result and completes the summary, but for how
    /// the job ends.
    fn judge(&mut self, mut ending: RunEnding) -> Result<JobOutcome, RunError> {
        self.watch.recorder.close(self.run.integration().values())?;
        let statistics = RunStatistics::new(self.machine, &self.run, &self.watch.recorder);
        let mut summary = self.summary.clone();
        let mut accuracy = None;
        if let RunEnding::Done | RunEnding::Event(_) = ending {
            accuracy = self.watch.estimate(&self.plan, PassWork::of(&statistics), &mut summary);
            let refusal = self.watch.accuracy.refusal(&statistics.extremes);
            ending = refusal.map_or(ending, RunEnding::Refused);
        }
        let (machine, run) = (self.machine, &mut self.run);
        summary.add_notes(&self.watch.accuracy.notes(machine, run, &statistics.extremes, accuracy.is_some()));
        summary.accuracy = json(&accuracy);
        if let Some(accuracy) = &accuracy {
            summary.accuracy["text"] = accuracy.words().into();
        }
        summary.statistics = json(&statistics);
        summary.events = run.events().iter().map(json).collect();
        let errors = self.watch.accuracy.event_errors(&self.plan, run.events());
        for (event, error) in summary.events.iter_mut().zip(errors.unwrap_or_default()) {
            event["error"] = error.into();
        }
        Ok(JobOutcome { ending, accuracy, ..self.outcome_of(summary) })
    }

    /// What the run came to so far, with a summary of it or of one before.
    fn outcome_of(&self, summary: RunSummary) -> JobOutcome {
        let Self { machine, run, watch, .. } = self;
        JobOutcome {
            ending: RunEnding::Stopped,
            summary,
            statistics: RunStatistics::new(machine, run, &watch.recorder),
            events: run.events().to_vec(),
            mobility: Mobility::from_redundancy(&machine.system, run.integration().redundancy()),
            accuracy: None,
            paths: Vec::new(),
        }
    }
}

impl JobOutcome {
    /// Why the run failed, if it did.
    fn failure(&self) -> Option<String> {
        match &self.ending {
            RunEnding::Failed(error) => Some(error.to_string()),
            RunEnding::Refused(error) => Some(error.to_string()),
            RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => None,
        }
    }

    /// The same as the result of a job whose finer run was stopped or failed.
    fn taken_back(mut self, is_stopped: bool, failure: Option<String>) -> Self {
        let text = match failure {
            Some(reason) => {
                format!("this is a coarser run than was to be, since a finer one fails: {reason}")
            }
            None => "this is a coarser run than was to be, since a finer one was stopped".to_owned(),
        };
        self.summary.add_notes([&Note::new(NoteKind::CoarserRun, text)]);
        if is_stopped {
            self.ending = RunEnding::Stopped;
        }
        self
    }
}

impl<S: Sink> RecordingObserver<'_, S> {
    /// Estimates the error, if it is to be.
    fn estimate(&mut self, plan: &RunPlan, work: PassWork, summary: &mut RunSummary) -> Option<Accuracy> {
        let mut ask = |part: f64| {
            self.observer.as_mut().map_or(Control::Continue, |observer| observer.estimating(part))
        };
        let (accuracy, note) = self.accuracy.estimate(self.machine, plan, work, &mut ask);
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
    is_ended: bool,
}

impl Period {
    /// A period that begins now.
    fn new(every: Every) -> Self {
        Self { every, since: Instant::now(), steps: 0, is_ended: false }
    }

    /// Makes it time with the next step.
    fn end(&mut self) {
        self.is_ended = true;
    }

    /// Counts a step; tells whether it is time, and then begins anew.
    fn is_over(&mut self) -> bool {
        self.steps += 1;
        let is_over = self.is_ended
            || match self.every {
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
