//! `kreisel run`: runs a model and writes its results.

use super::flag::{Json, Model, json_text, parse_every};
use super::summary::{Summary as Lines, rounded, verdict_words};
use super::{
    CommandError, Ending, IN_SUMMARY, counted, say, say_notes, say_warning, told_of, warn_of_replacement,
};
use crate::output::{Printer, brief};
use crate::signals::interrupt_flag;
use indicatif::{ProgressBar, ProgressStyle};
use kreisel::dae::{Control, Notes};
use kreisel::integrate::CHOICE;
use kreisel::machine::{AccuracyOf, Machine, RunPlan};
use kreisel::report;
use kreisel::results::{Computation, OutputFolder, RunSummary, Verdict};
use kreisel::run::{Checkpoint, CheckpointHeader, Every, Job, JobObserver, JobOutcome, Moment, RunEnding};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Run a model and write its results.
///
/// Writes `report.html` (the moving machine, plots and facts; open it in a browser), `trajectory.csv` (every
/// sensor at the output times), `trajectory.vtkhdf` (every body and signal, for ParaView and h5py),
/// `scene.json` and `run.json`. Ctrl-C (or SIGTERM, SIGHUP) ends the run after the present step and keeps the
/// results so far. With `--checkpoint` a run that was killed goes on later, and its results are those of a
/// run that was not, byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel run models/heavy-top.toml
  kreisel run models/heavy-top.toml --end-time \"200 ms\" --step \"0.1 ms\" --out results/short
  kreisel run models/pendulum.toml --set length=\"50 cm\" --json
  kreisel run models/heavy-top.toml --checkpoint 60s   # to go on: kreisel run --resume DIR")]
pub struct Run {
    #[command(flatten)]
    model: Option<Model>,

    /// Write the results into the folder DIR; `results/<model>` if not given
    #[arg(help_heading = "Results", long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the folder even if it holds something else than results of this model
    #[arg(help_heading = "Results", long)]
    force: bool,

    /// Write a checkpoint every so often, from which `--resume` goes on: `60s`, `10min`, `2h` or `500steps`
    #[arg(help_heading = "Results", long, value_name = "EVERY", value_parser = parse_every)]
    checkpoint: Option<Every>,

    /// Go on from the last checkpoint of the run in the folder DIR, with the model and settings that it was
    /// begun with
    #[arg(help_heading = "Results", long, value_name = "DIR", conflicts_with_all = ["Model", "out", "force", "condition"])]
    resume: Option<PathBuf>,

    /// Write no `report.html`; `kreisel report DIR` makes it later
    #[arg(help_heading = "Results", long)]
    no_report: bool,

    /// Report the condition number of the iteration matrix of each step: the signal `solver.condition`, and
    /// its smallest and largest value in `run.json`
    #[arg(help_heading = "Results", long)]
    condition: bool,

    /// End with exit code 1 if something casts doubt on the result: the verdict is then `doubtful`
    #[arg(help_heading = "Results", long)]
    strict: bool,

    /// Print all that is known of the run: work, energies, assumptions, a line for each file
    #[arg(help_heading = "Results", long, short, conflicts_with = "quiet")]
    verbose: bool,

    /// Print nothing but errors
    #[arg(help_heading = "Results", long, short)]
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
    #[serde(default)]
    no_report: bool,
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
            (None, Some(model)) => {
                let asked = Asked {
                    model,
                    condition: self.condition,
                    checkpoint: self.checkpoint,
                    no_report: self.no_report,
                };
                self.work(&asked, self.out.as_deref(), None)
            }
            (None, None) => Err(CommandError::NoModel),
        }
    }

    fn go_on(&self, folder: &Path) -> Result<Ending, CommandError> {
        let checkpoint = Checkpoint::read(folder)?;
        let asked: Asked<Model> = serde_json::from_value(checkpoint.header().arguments.clone())
            .map_err(|_| CommandError::UnknownRequest { folder: folder.to_owned() })?;
        let asked = Asked {
            model: &asked.model,
            condition: asked.condition,
            checkpoint: self.checkpoint.or(asked.checkpoint),
            no_report: self.no_report || asked.no_report,
        };
        self.work(&asked, Some(folder), Some(&checkpoint))
    }

    /// Runs into a folder, from the start or from a checkpoint, and delivers the results.
    fn work(
        &self,
        asked: &Asked<&Model>,
        folder: Option<&Path>,
        from: Option<&Checkpoint>,
    ) -> Result<Ending, CommandError> {
        let (machine, plan) = asked.read()?;
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => OutputFolder::default_path(asked.model.path())?,
        };
        if from.is_none() && !self.quiet {
            warn_of_replacement(&folder, Computation::Run, Some(&plan));
        }
        let mut watch = ProgressObserver::new(&plan, from.map(Checkpoint::header), self.quiet);
        let job = Job::new(&machine, &plan)
            .report(!asked.no_report)
            .checkpoint(asked.checkpoint)
            .arguments(value(asked))
            .observe(&mut watch);
        let outcome = match from {
            Some(checkpoint) => job.resume(&folder, checkpoint),
            None => job.model(asked.model.identity()?).force(self.force).run_into(&folder),
        };
        watch.progress.finish();
        watch.interrupt?;
        let outcome = outcome.map_err(|error| CommandError::of_run(&machine, error))?;
        if !self.quiet {
            let later = &outcome.summary.notes[watch.told..];
            let later: Vec<_> = later
                .iter()
                .filter_map(|note| Some((note["kind"].as_str()?, note["text"].as_str()?)))
                .collect();
            told_of(&later, IN_SUMMARY).iter().for_each(|warning| say_warning(warning));
        }
        let report = Report { folder: &folder, summary: &outcome.summary };
        self.deliver(&report, || match self.verbose {
            true => long_summary(&plan, &outcome),
            false => short_summary(&folder, &plan, &outcome),
        })?;
        let ending = conclude(&outcome.ending, asked.checkpoint.is_some().then_some(&folder));
        if self.strict && ending == Ending::Done && outcome.summary.verdict != Some(Verdict::Good) {
            say("error: the result is doubtful, and `--strict` asks for one that is not\n");
            return Ok(Ending::CheckFailed);
        }
        Ok(ending)
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
struct Report<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    summary: &'a RunSummary,
}

pub(super) fn value(content: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(content).expect("settings and statistics have text keys")
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

/// Tells what there is to know, shows progress and listens for signals.
struct ProgressObserver<'a> {
    quiet: bool,
    /// Where the run was when it was saved, if it goes on.
    header: Option<&'a CheckpointHeader>,
    /// How many notes were told.
    told: usize,
    progress: Progress,
    interrupt: Result<Arc<AtomicBool>, CommandError>,
}

impl<'a> ProgressObserver<'a> {
    fn new(plan: &RunPlan, header: Option<&'a CheckpointHeader>, quiet: bool) -> Self {
        let (progress, interrupt) = (Progress::new(plan, quiet), Ok(Arc::default()));
        Self { quiet, header, told: 0, progress, interrupt }
    }
}

impl JobObserver for ProgressObserver<'_> {
    fn started(&mut self, notes: &Notes) {
        self.told = notes.into_iter().count();
        if !self.quiet {
            say_notes(notes);
        }
    }

    fn begun(&mut self) {
        if let (Some(CheckpointHeader { time, steps, .. }), false) = (self.header, self.quiet) {
            say(&format!("going on at t = {time} s, after {steps} steps\n"));
        }
        self.interrupt = interrupt_flag().map_err(CommandError::NoInterrupt);
    }

    fn accepted(&mut self, now: &Moment) -> Control {
        self.progress.show(now.time());
        self.control()
    }

    fn begun_anew(&mut self, number: usize) {
        self.progress.number = number;
    }

    fn estimating(&mut self, part: f64) -> Control {
        self.progress.show_estimate(part);
        self.control()
    }
}

impl ProgressObserver<'_> {
    /// Whether a signal lets us go on.
    fn control(&self) -> Control {
        let goes_on = self.interrupt.as_ref().is_ok_and(|flag| !flag.load(Ordering::Relaxed));
        if goes_on { Control::Continue } else { Control::Stop }
    }
}

/// One line of progress with an estimate on a terminal, nothing into a pipe.
struct Progress {
    bar: ProgressBar,
    /// Which run it is, where one is made several times.
    number: usize,
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
            number: 1,
            start: plan.start_time,
            length: plan.end_time - plan.start_time,
            last: Instant::now(),
        }
    }

    fn show(&mut self, time: f64) {
        let number = self.number;
        self.show_part((time - self.start) / self.length, || match number {
            1 => format!("t = {time:.4} s"),
            _ => format!("run {number}, t = {time:.4} s"),
        });
    }

    fn show_estimate(&mut self, part: f64) {
        self.show_part(part, || "estimating the error".to_owned());
    }

    fn show_part(&mut self, part: f64, message: impl Fn() -> String) {
        if self.last.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.last = Instant::now();
        self.bar.set_message(message());
        self.bar.set_position((PARTS * part) as u64);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Most events that the summary names.
const MAX_EVENTS: usize = 10;

/// What moved, how long it took, what to think of it, and where it is: seven lines at most.
fn short_summary(folder: &Path, plan: &RunPlan, outcome: &JobOutcome) -> String {
    let JobOutcome { statistics, events, mobility, summary, paths, accuracy, .. } = outcome;
    let mut lines = Lines::default();
    let freedom = counted(mobility.degrees_of_freedom() as u64, "degree", "degrees");
    lines.line(
        "machine",
        format!("{}, {freedom} of freedom", counted(statistics.bodies as u64, "body", "bodies")),
    );
    // What nobody named is told with its reason.
    let choice = summary.assumptions.iter().find(|text| text.starts_with(CHOICE));
    lines.line(
        "time",
        format!(
            "{} s to {} s in {}, computed in {} s{}",
            brief(plan.start_time),
            brief(statistics.time),
            counted(statistics.steps, "step", "steps"),
            brief(summary.wall_time),
            choice.map(|text| format!("; {text}")).unwrap_or_default(),
        ),
    );
    if let Some(accuracy) = accuracy {
        lines.line("accuracy", accuracy.words());
    }
    lines.line("verdict", verdict_of_run(summary));
    if let Some(first) = events.first() {
        let more = match events.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more in run.json"),
        };
        lines.line("events", format!("`{}` at {} s{more}", first.event, brief(first.time)));
    }
    lines.files(folder, paths, report::FILE);
    lines.text()
}

/// All that is known of a run, a line each.
fn long_summary(plan: &RunPlan, outcome: &JobOutcome) -> String {
    let JobOutcome { statistics, events, mobility, summary, paths, accuracy, .. } = outcome;
    let mut lines = Lines::default();
    let per_step = statistics.newton_iterations as f64 / statistics.steps.max(1) as f64;
    let extremes = &statistics.extremes;
    lines.line(
        "machine",
        format!(
            "{}, {}, {} of freedom",
            counted(statistics.bodies as u64, "body", "bodies"),
            counted(statistics.constraints as u64, "constraint equation", "constraint equations"),
            counted(mobility.degrees_of_freedom() as u64, "degree", "degrees"),
        ),
    );
    let step = match (plan.accuracy, plan.integration.error_control()) {
        (Some(accuracy), _) => format!("steps for an accuracy of {accuracy:e}{}", named(plan.accuracy_of)),
        (None, None) => format!("step {} s", plan.integration.step()),
        (None, Some(control)) => format!("steps by the error, rtol {}, atol {}", control.rtol, control.atol),
    };
    lines.line("time", format!("{} s to {} s, {step}", brief(plan.start_time), brief(statistics.time)));
    let taken_back = match statistics.rejected_steps + statistics.failed_steps {
        0 => String::new(),
        count => format!(" and {count} taken back"),
    };
    lines.line(
        "work",
        format!(
            "{}{taken_back}, {} Newton iterations per step, {}",
            counted(statistics.steps, "step", "steps"),
            brief(per_step),
            counted(statistics.factorisations, "factorisation", "factorisations"),
        ),
    );
    lines.line("wall time", format!("{} s", brief(summary.wall_time)));
    lines.line(
        "energy balance",
        format!(
            "off by {} J at most, of {} J",
            rounded(extremes.largest_energy_balance, extremes.largest_energy),
            brief(extremes.largest_energy)
        ),
    );
    lines.line(
        "constraints",
        format!(
            "off by {} (position) and {} (velocity) at most",
            rounded(extremes.largest_position_residual, 1.0),
            rounded(extremes.largest_velocity_residual, 1.0)
        ),
    );
    if let Some(accuracy) = accuracy {
        lines.line("accuracy", accuracy.words());
    }
    lines.line("verdict", verdict_of_run(summary));
    let shown = MAX_EVENTS.min(events.len());
    for (event, told) in events[..shown].iter().zip(&summary.events) {
        let error = told["error"].as_f64().map_or(String::new(), |error| format!(" ± {error:.1e} s"));
        lines.line("event", format!("`{}` at {} s{error}", event.event, event.time));
    }
    if events.len() > shown {
        lines.line("events", format!("{} more, see run.json", events.len() - shown));
    }
    for assumption in &summary.assumptions {
        lines.line("assumed", assumption.clone());
    }
    lines.every_file(paths, report::FILE);
    lines.text()
}

/// What an accuracy is of beside positions and angles.
fn named(of: AccuracyOf) -> &'static str {
    match (of.names_velocities(), of.names_reactions()) {
        (false, false) => "",
        (true, false) => ", of velocities too",
        (false, true) => ", of reactions too",
        (true, true) => ", of velocities and reactions too",
    }
}

/// The same with what tells more, where nothing casts doubt on it.
fn verdict_of_run(summary: &RunSummary) -> String {
    let words = verdict_words(summary);
    let is_unknown = summary.verdict == Some(Verdict::Good) && summary.accuracy.is_null();
    if is_unknown { words + " (`--error-estimate` tells how accurate it is)" } else { words }
}
