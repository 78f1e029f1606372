//! `kreisel run`: runs a model and writes its results.

use super::flag::{Json, Model, json_text};
use super::{CommandError, Ending, counted, say};
use crate::output::Printer;
use indicatif::{ProgressBar, ProgressStyle};
use kreisel::integrate::{Control, Integration, Observer};
use kreisel::machine::{
    Machine, Mobility, Recorder, ResultFiles, Run as MachineRun, RunEnding, RunPlan, RunStatistics, Sink,
};
use kreisel::report;
use kreisel::results::{EndStatus, ModelIdentity, OutputFolder, RunSummary};
use kreisel::system::System;
use serde::Serialize;
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
/// `run.json`. Ctrl-C ends the run after the present step and keeps the results so far.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel run models/heavy-top.toml
  kreisel run models/heavy-top.toml --end-time \"200 ms\" --step \"0.1 ms\" --out results/short
  kreisel run pendulum.toml --set length=\"50 cm\" --json")]
pub struct Run {
    #[command(flatten)]
    model: Model,

    /// Write the results into the folder DIR; `results/<model>` if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the folder even if it holds something else than results of this model
    #[arg(long)]
    force: bool,

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

impl Run {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let mut machine = self.model.read()?;
        let mut plan = machine.plan()?;
        if self.condition {
            machine.report_condition(&mut plan);
        }
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => OutputFolder::default_path(self.model.path())?,
        };
        let began = Instant::now();
        let mut run = machine.start(&plan).map_err(|error| {
            let places = machine.places_of(&error);
            CommandError::StartAt { error, places }
        })?;
        let warnings = [machine.warnings.clone(), machine.start_warnings(&run)].concat();
        self.say_warnings(&warnings);
        let files = ResultFiles::begin(&folder, identity(self.model.path())?, self.force, &machine)?;
        let interrupt = interrupt_flag()?;
        let mut watch = Watch {
            recorder: Recorder::new(&machine, plan.output_step, files),
            progress: Progress::new(&plan, self.quiet),
            interrupt,
        };
        let ending = run.advance(&mut watch);
        watch.progress.finish();
        watch.recorder.close(run.integration())?;
        let statistics = RunStatistics::new(&machine, &run, &watch.recorder);
        let files = watch.recorder.finish(run.integration())?;
        let mut summary = RunSummary::new(identity(self.model.path())?);
        summary.status = status(&ending);
        summary.wall_time = began.elapsed().as_secs_f64();
        summary.settings = value(&machine.settings.words(&plan));
        summary.statistics = value(&statistics);
        let warning_count = warnings.len();
        summary.events = run.events().iter().map(value).collect();
        summary.warnings = warnings;
        summary.assumptions = [machine.assumptions.clone(), plan.assumptions.clone()].concat();
        let paths = files.finish(&mut summary, !self.no_report)?;
        self.say_warnings(&summary.warnings[warning_count..]);
        summary.files = file_names(&paths);
        self.deliver(&Report { folder: folder.clone(), summary }, || {
            text_summary(&machine, &plan, &run, &statistics, began.elapsed(), &paths)
        })?;
        Ok(conclude(&ending))
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

fn conclude(ending: &RunEnding) -> Ending {
    match ending {
        RunEnding::Done | RunEnding::Event(_) => Ending::Done,
        RunEnding::Stopped => {
            say("interrupted: the results up to here are on disk\n");
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
struct Watch<'m, S> {
    recorder: Recorder<'m, S>,
    progress: Progress,
    interrupt: Arc<AtomicBool>,
}

impl<S: Sink> Observer<System> for Watch<'_, S> {
    fn started(&mut self, integration: &Integration<'_, System>) {
        self.recorder.started(integration);
    }

    fn accepted(&mut self, integration: &Integration<'_, System>) -> Control {
        let control = self.recorder.accepted(integration);
        self.progress.show(integration.state().time);
        if self.interrupt.load(Ordering::Relaxed) { Control::Stop } else { control }
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
const MOST_EVENTS: usize = 10;

fn text_summary(
    machine: &Machine,
    plan: &RunPlan,
    run: &MachineRun,
    statistics: &RunStatistics,
    wall_time: Duration,
    paths: &[PathBuf],
) -> String {
    let mobility = Mobility::of(&machine.system, run.integration().redundancy());
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
    let (shown, events) = (MOST_EVENTS.min(run.events().len()), run.events());
    for event in &events[..shown] {
        line("event", format!("`{}` at {} s", event.event, event.time));
    }
    if events.len() > shown {
        line("events", format!("{} more, see run.json", events.len() - shown));
    }
    for assumption in machine.assumptions.iter().chain(&plan.assumptions) {
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
