//! `kreisel run`: runs a model and writes its results.

use super::flag::{Every, Json, Model, Period, json_text};
use super::{CommandError, Ending, counted, say};
use crate::output::Printer;
use indicatif::{ProgressBar, ProgressStyle};
use kreisel::dae::{Control, Values};
use kreisel::integrate::{Interval, Observer};
use kreisel::machine::{Machine, Mobility, RunPlan};
use kreisel::report;
use kreisel::results::{EndStatus, ModelIdentity, OutputFolder, RunSummary};
use kreisel::run::{
    Checkpoint, CheckpointHeader, Recorder, ResultFiles, Run as MachineRun, RunEnding, RunStatistics, Sink,
};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Run a model and write its results.
///
/// Writes `report.html` (the moving machine, plots and facts; open it in a browser), `trajectory.csv` (every sensor
/// at the output times), `trajectory.vtkhdf` (every body and signal, for ParaView and h5py), `scene.json` and
/// `run.json`. Ctrl-C ends the run after the present step and keeps the results so far. With `--checkpoint` a run that was
/// killed goes on later, and its results are those of a run that was not, byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel run models/heavy-top.toml
  kreisel run models/heavy-top.toml --end-time \"200 ms\" --step \"0.1 ms\" --out results/short
  kreisel run pendulum.toml --set length=\"50 cm\" --json
  kreisel run models/heavy-top.toml --checkpoint 60s
  kreisel run --resume results/heavy-top")]
pub struct Run {
    #[command(flatten)]
    model: Option<Model>,

    /// Write the results into the folder DIR; `results/<model>` if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the folder even if it holds something else than results of this model
    #[arg(long)]
    force: bool,

    /// Write a checkpoint every so often, from which `--resume` goes on: `60s`, `10min`, `2h` or `500steps`
    #[arg(long, value_name = "EVERY", value_parser = Every::parse)]
    checkpoint: Option<Every>,

    /// Go on from the last checkpoint of the run in the folder DIR, with the model and settings that it was begun with
    #[arg(long, value_name = "DIR", conflicts_with_all = ["Model", "out", "force", "condition"])]
    resume: Option<PathBuf>,

    /// Write no `report.html`; `kreisel report DIR` makes it later
    #[arg(long)]
    no_report: bool,

    /// Report the condition number of the iteration matrix of each step: the signal `solver.condition`, and its smallest
    /// and largest value in `run.json`
    #[arg(long)]
    condition: bool,

    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    json: Json,
}

/// What a run was asked for, as its checkpoints keep it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Asked<M> {
    model: M,
    condition: bool,
    checkpoint: Option<Every>,
}

impl Asked<&Model> {
    /// The machine and its plan.
    fn read(&self) -> Result<(Machine, RunPlan), CommandError> {
        let mut machine = self.model.read()?;
        let mut plan = machine.plan()?;
        if self.condition {
            machine.report_condition(&mut plan);
        }
        Ok((machine, plan))
    }
}

impl Run {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        match (&self.resume, &self.model) {
            (Some(folder), _) => self.go_on(folder),
            (None, Some(model)) => self.begin(model),
            (None, None) => Err(CommandError::NoModel),
        }
    }

    fn begin(&self, model: &Model) -> Result<Ending, CommandError> {
        let asked = Asked { model, condition: self.condition, checkpoint: self.checkpoint };
        let (machine, plan) = asked.read()?;
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => OutputFolder::default_path(model.path())?,
        };
        let began = Instant::now();
        let run = machine.start(&plan).map_err(|error| {
            let places = machine.places_of(&error);
            CommandError::StartAt { error, places }
        })?;
        let identity = identity(model.path())?;
        let warnings = self.warn(&machine, &run);
        let header = CheckpointHeader::new(identity.clone(), &machine, value(&asked));
        let files = ResultFiles::begin(&folder, identity, self.force, &machine)?;
        let recorder = Recorder::new(&machine, plan.output_step, files);
        let job = Job { machine: &machine, plan: &plan, folder: &folder, began, warnings, header };
        self.finish(job, run, recorder, self.checkpoint)
    }

    fn go_on(&self, folder: &Path) -> Result<Ending, CommandError> {
        let checkpoint = Checkpoint::read(folder)?;
        let mut header = checkpoint.header().clone();
        let asked: Asked<Model> = serde_json::from_value(header.arguments.clone())
            .map_err(|_| CommandError::UnknownRequest { folder: folder.to_owned() })?;
        let every = self.checkpoint.or(asked.checkpoint);
        let asked = Asked { model: &asked.model, condition: asked.condition, checkpoint: every };
        let (machine, plan) = asked.read()?;
        header.arguments = value(&asked);
        let began = Instant::now();
        let run = machine.resume(&plan, &checkpoint)?;
        let warnings = self.warn(&machine, &run);
        let recorder = Recorder::resume(&machine, &plan, folder, &checkpoint)?;
        if !self.quiet {
            say(&format!("going on at t = {} s, after {} steps\n", header.time, header.steps));
        }
        let job = Job { machine: &machine, plan: &plan, folder, began, warnings, header };
        self.finish(job, run, recorder, every)
    }

    /// Runs to the end, pausing for checkpoints, and delivers the results.
    fn finish(
        &self,
        mut job: Job,
        mut run: MachineRun,
        recorder: Recorder<'_, ResultFiles>,
        every: Option<Every>,
    ) -> Result<Ending, CommandError> {
        let Job { machine, plan, folder, began, ref warnings, .. } = job;
        let mut watch = ProgressObserver {
            recorder,
            progress: Progress::new(plan, self.quiet),
            interrupt: interrupt_flag()?,
            checkpoint: every.map(Period::new),
            is_due: false,
        };
        let earlier = job.header.wall_time;
        let wall_time = || earlier + began.elapsed().as_secs_f64();
        let ending = loop {
            let ending = run.advance(&mut watch);
            let is_interrupted = watch.interrupt.load(Ordering::Relaxed);
            let stopped = matches!(ending, RunEnding::Stopped) && !watch.recorder.has_failed();
            if stopped && (watch.is_due || (is_interrupted && watch.checkpoint.is_some())) {
                job.header.wall_time = wall_time();
                watch.is_due = false;
                watch.recorder.write_checkpoint(&run, &mut job.header)?;
            }
            if !stopped || is_interrupted {
                break ending;
            }
        };
        watch.progress.finish();
        watch.recorder.close(run.integration().values())?;
        let statistics = RunStatistics::new(machine, &run, &watch.recorder);
        let files = watch.recorder.finish(run.integration().values())?;
        let mut summary = RunSummary::new(job.header.model.clone());
        summary.status = status(&ending);
        summary.wall_time = wall_time();
        summary.settings = machine.settings.words(plan).into();
        summary.statistics = value(&statistics);
        let warning_count = warnings.len();
        summary.events = run.events().iter().map(value).collect();
        summary.warnings.clone_from(warnings);
        summary.assumptions = [machine.assumptions().to_vec(), plan.assumptions.clone()].concat();
        let paths = files.finish(&mut summary, !self.no_report)?;
        self.say_warnings(&summary.warnings[warning_count..]);
        summary.files = file_names(&paths);
        let wall_time = Duration::try_from_secs_f64(wall_time()).unwrap_or_default();
        self.deliver(&Report { folder: folder.to_owned(), summary }, || {
            text_summary(machine, plan, &run, &statistics, wall_time, &paths)
        })?;
        Ok(conclude(&ending, every.is_some().then_some(folder)))
    }

    /// Tells what looks like a mistake but is none.
    fn warn(&self, machine: &Machine, run: &MachineRun) -> Vec<String> {
        let warnings = [machine.warnings().to_vec(), machine.start_warnings(run)].concat();
        self.say_warnings(&warnings);
        warnings
    }

    fn say_warnings(&self, warnings: &[String]) {
        if !self.quiet {
            warnings.iter().for_each(|warning| say(&format!("warning: {warning}\n")));
        }
    }

    fn deliver(&self, report: &Report, text: impl FnOnce() -> String) -> Result<(), CommandError> {
        self.json.write(report)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&json_text(report))?;
        } else if !self.quiet {
            printer.print(&text())?;
        }
        Ok(())
    }
}

/// A run under way: what it is made from and where its results go.
struct Job<'a> {
    machine: &'a Machine,
    plan: &'a RunPlan,
    folder: &'a Path,
    began: Instant,
    warnings: Vec<String>,
    header: CheckpointHeader,
}

/// The summary of a run with the folder that holds its files.
#[derive(Serialize)]
struct Report {
    folder: PathBuf,
    #[serde(flatten)]
    summary: RunSummary,
}

/// Names of the files beside `run.json`.
pub(super) fn file_names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
    names.filter(|name| *name != "run.json").map(str::to_owned).collect()
}

pub(super) fn value(content: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(content).expect("settings and statistics have text keys")
}

pub(super) fn identity(path: &Path) -> Result<ModelIdentity, CommandError> {
    let unreadable = |source| CommandError::ModelGone { path: path.to_owned(), source };
    let content = std::fs::read(path).map_err(unreadable)?;
    let absolute = std::path::absolute(path).map_err(unreadable)?;
    Ok(ModelIdentity::new(absolute.display().to_string(), &content))
}

fn status(ending: &RunEnding) -> EndStatus {
    match ending {
        RunEnding::Done | RunEnding::Event(_) => EndStatus::Done,
        RunEnding::Stopped => EndStatus::Interrupted,
        RunEnding::Failed(error) => EndStatus::Failed { message: error.to_string() },
        RunEnding::Refused(error) => EndStatus::Failed { message: error.to_string() },
    }
}

fn conclude(ending: &RunEnding, resumable: Option<&Path>) -> Ending {
    match ending {
        RunEnding::Done | RunEnding::Event(_) => Ending::Done,
        RunEnding::Stopped => {
            say("interrupted: the results up to here are on disk\n");
            if let Some(folder) = resumable {
                say(&format!("go on by `kreisel run --resume {}`\n", folder.display()));
            }
            Ending::Interrupted
        }
        RunEnding::Failed(error) => failed(error),
        RunEnding::Refused(error) => failed(error),
    }
}

fn failed(error: &impl std::error::Error) -> Ending {
    say(&format!("error: {error}\nthe results up to the last good step are on disk\n"));
    Ending::CheckFailed
}

/// A flag that Ctrl-C raises; a second Ctrl-C ends the program at once.
pub(super) fn interrupt_flag() -> Result<Arc<AtomicBool>, CommandError> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| CommandError::NoInterrupt(error.to_string()))?;
    Ok(flag)
}

/// Records, shows progress and listens for Ctrl-C.
struct ProgressObserver<'m, S> {
    recorder: Recorder<'m, S>,
    progress: Progress,
    interrupt: Arc<AtomicBool>,
    checkpoint: Option<Period>,
    /// Whether the run was stopped to write a checkpoint.
    is_due: bool,
}

impl<S: Sink> Observer for ProgressObserver<'_, S> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let control = self.recorder.accepted(last);
        self.progress.show(last.ends().to.time);
        self.is_due = self.checkpoint.as_mut().is_some_and(Period::is_over);
        if self.is_due || self.interrupt.load(Ordering::Relaxed) { Control::Stop } else { control }
    }
}

/// One line of progress with an estimate on a terminal, nothing into a pipe.
struct Progress {
    bar: ProgressBar,
    start: f64,
    length: f64,
    last: Instant,
}

/// Parts into which the bar divides a run.
const PARTS: f64 = 1000.0;

impl Progress {
    fn new(plan: &RunPlan, quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {percent}% {msg} {elapsed} (still about {eta})")
            .expect("the template is one of indicatif's own form");
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(PARTS as u64) };
        Self {
            bar: bar.with_style(style),
            start: plan.start_time,
            length: plan.end_time - plan.start_time,
            last: Instant::now(),
        }
    }

    fn show(&mut self, time: f64) {
        if self.last.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.last = Instant::now();
        self.bar.set_message(format!("t = {time:.4} s"));
        self.bar.set_position((PARTS * (time - self.start) / self.length) as u64);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Most events that the summary names.
const MAX_EVENTS: usize = 10;

fn text_summary(
    machine: &Machine,
    plan: &RunPlan,
    run: &MachineRun,
    statistics: &RunStatistics,
    wall_time: Duration,
    paths: &[PathBuf],
) -> String {
    let mobility = Mobility::from_redundancy(&machine.system, run.integration().redundancy());
    let mut text = String::new();
    let mut line = |name: &str, words: String| {
        let _ = writeln!(text, "{name:<18}{words}");
    };
    let per_step = statistics.newton_iterations as f64 / statistics.steps.max(1) as f64;
    let extremes = &statistics.extremes;
    line(
        "machine",
        format!(
            "{}, {}, {} of freedom",
            counted(statistics.bodies as u64, "body", "bodies"),
            counted(statistics.constraints as u64, "constraint equation", "constraint equations"),
            counted(mobility.degrees_of_freedom() as u64, "degree", "degrees"),
        ),
    );
    let step = match plan.integration.error_control {
        None => format!("step {} s", plan.integration.step),
        Some(control) => format!("steps by the error, rtol {}, atol {}", control.rtol, control.atol),
    };
    line("time", format!("{} s to {} s, {step}", plan.start_time, statistics.time));
    let taken_back = match statistics.rejected_steps + statistics.failed_steps {
        0 => String::new(),
        count => format!(" and {count} taken back"),
    };
    line(
        "work",
        format!(
            "{}{taken_back}, {per_step:.2} Newton iterations per step, {}",
            counted(statistics.steps, "step", "steps"),
            counted(statistics.factorisations, "factorisation", "factorisations"),
        ),
    );
    line("wall time", format!("{:.3} s", wall_time.as_secs_f64()));
    line(
        "energy balance",
        format!(
            "off by {:.2e} J at most, of {:.4e} J",
            extremes.largest_energy_balance, extremes.largest_energy
        ),
    );
    line(
        "constraints",
        format!(
            "off by {:.2e} (position) and {:.2e} (velocity) at most",
            extremes.largest_position_residual, extremes.largest_velocity_residual
        ),
    );
    let (shown, events) = (MAX_EVENTS.min(run.events().len()), run.events());
    for event in &events[..shown] {
        line("event", format!("`{}` at {} s", event.event, event.time));
    }
    if events.len() > shown {
        line("events", format!("{} more, see run.json", events.len() - shown));
    }
    for assumption in machine.assumptions().iter().chain(&plan.assumptions) {
        line("assumed", assumption.clone());
    }
    let (reports, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.ends_with(report::FILE));
    for path in others {
        line("written", path.display().to_string());
    }
    for path in reports {
        line("report", format!("{} (open it in a browser)", path.display()));
    }
    text
}
