//! The subcommands, one file each, and what they share: reading arguments, saying errors, exit codes.

pub mod check;
pub mod export;
pub mod flag;
pub mod import;
pub mod inverse;
pub mod modes;
pub mod new;
pub mod plot;
pub mod render;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod statics;
mod summary;
pub mod sweep;
pub mod verify;
pub mod view;
pub mod watch;

use crate::figure::PngError;
use crate::output::{WriteError, brief};
use crate::reproduce::UnknownName;
use crate::{output, signals};
use clap::{Parser, Subcommand};
use kreisel::constrained::ConsistencyError;
use kreisel::dae::Note;
use kreisel::integrate::StartError;
use kreisel::machine::{LedError, Machine, RunPlan};
use kreisel::model::ModelErrors;
use kreisel::modes::ModesError;
use kreisel::report::ReportError;
use kreisel::results::{self, Computation};
use kreisel::run::{CheckpointError, LedMotionError, RunError};
use kreisel::statics::StaticsError;
use kreisel::sweep::{JournalError, MeasureError, SweepError};
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Simulates machines made of rigid and flexible parts, on Lie groups.
///
/// Data goes to standard output, words to standard error. Exit code 0: done; 1: the computation failed or a
/// check did not hold; 2: the request made no sense; 130: interrupted.
#[derive(Debug, Parser)]
#[command(name = "kreisel", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    Watch(watch::Watch),
    Static(statics::Static),
    Modes(modes::Modes),
    Inverse(inverse::InverseDynamics),
    Sweep(sweep::Sweep),
    View(view::View),
    Report(report::Report),
    Plot(plot::Plot),
    Render(render::Render),
    Export(export::Export),
    Verify(verify::Verify),
    Check(check::Check),
    New(new::New),
    Import(import::Import),
    Schema(schema::Schema),
    Reproduce(reproduce::Reproduce),
}

/// How a subcommand that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything holds.
    Done,
    /// The work is done, and a check did not hold or a computation failed.
    CheckFailed,
    /// The user ended it; what was computed is kept.
    Interrupted,
}

/// Why a subcommand could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A name that stands for no experiment.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A file asked for by a flag has no folder to stand in.
    #[error("there is no folder {} to write {} into", folder.display(), file.display())]
    NoFolder {
        /// The folder that is missing.
        folder: PathBuf,
        /// The file asked for.
        file: PathBuf,
    },
    /// Several runs in one page that belongs to none of their folders.
    #[error("a page of several runs belongs to no folder; say where it goes, as in `-o both.html`")]
    NoPageName,
    /// More runs than one page shows.
    #[error("one page shows at most {0} runs")]
    TooManyRuns(usize),
    /// A model that cannot be saved again.
    #[error("there is no file to watch: standard input is read once")]
    NothingToWatch,
    /// No page for this computer.
    #[error("cannot serve a page to this computer: {0}")]
    NoServer(#[source] std::io::Error),
    /// Results could not be delivered.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Mistakes in a model file or in flags that speak its language.
    #[error(transparent)]
    Model(#[from] ModelErrors),
    /// A machine that cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A machine that cannot be started because of parts whose lines are known.
    #[error("{message}")]
    StartAt {
        /// Why it cannot.
        error: StartError,
        /// The same with the parts and their lines.
        message: String,
    },
    /// Coordinates that cannot be led.
    #[error(transparent)]
    Led(LedError),
    /// A motion that a machine cannot make.
    #[error(transparent)]
    LedMotion(#[from] LedMotionError),
    /// A machine without the equilibrium that was asked for.
    #[error(transparent)]
    Statics(#[from] StaticsError),
    /// A run that came to nothing, or a machine without the modes that were asked for.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The files of a run could not be written.
    #[error(transparent)]
    Results(#[from] results::WriteError),
    /// Results that cannot be shown.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A sensor that the results do not have.
    #[error("no signal is called `{pattern}`; there are {}, …", names.join(", "))]
    UnknownSensor {
        /// What was asked for.
        pattern: String,
        /// Signals with a similar name.
        names: Vec<String>,
    },
    /// A picture of a kind that cannot be drawn.
    #[error("cannot draw {}: a picture is `.svg` or `.png`", file.display())]
    UnknownPicture {
        /// The file asked for.
        file: PathBuf,
    },
    /// A picture of a machine that is not made of pixels.
    #[error("cannot render {}: a picture of a machine is `.png`", file.display())]
    NoPixels {
        /// The file asked for.
        file: PathBuf,
    },
    /// A size that is not two numbers.
    #[error("the size of a picture is two numbers, `--size 960,720`, not {given}")]
    PictureSize {
        /// How many were given.
        given: usize,
    },
    /// A time at which nothing is recorded.
    #[error("nothing is recorded at t = {time} s; the run goes from {start} s to {end} s")]
    TimeOutside {
        /// Asked for.
        time: f64,
        /// First time.
        start: f64,
        /// Last time.
        end: f64,
    },
    /// A sweep that makes no sense, or came to no end.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A model file that was changed while its runs were under way.
    #[error("{} was changed during the sweep; its runs belong to two models, run it again", .0.display())]
    ModelChanged(PathBuf),
    /// A figure that cannot be drawn in pixels.
    #[error(transparent)]
    Png(#[from] PngError),
    /// A sweep that left no checksums.
    #[error("{} holds a sweep without `sweep.json`, so that nothing can be checked: it did not come to its end, or that file was deleted; the same `kreisel sweep` again goes on", .0.display())]
    NoSweepSummary(PathBuf),
    /// Results without a file.
    #[error("the summary in {} names no file, so that nothing can be checked", .0.display())]
    NothingToVerify(PathBuf),
    /// Nothing to view.
    #[error("there is no run in `results` yet; `kreisel run` makes one, or name its folder")]
    NoRuns,
    /// The model file could be read a moment ago.
    #[error("cannot read {} again: {source}", path.display())]
    ModelGone {
        /// The model file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Neither a model nor a folder to go on with.
    #[error("name a model file, or a folder by --resume")]
    NoModel,
    /// A run that cannot go on.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A checkpoint that was not written by this command.
    #[error("the checkpoint in {} was not written by `kreisel run`; whoever wrote it must go on", folder.display())]
    UnknownRequest {
        /// The folder.
        folder: PathBuf,
    },
    /// Signals cannot be listened to.
    #[error("cannot listen for Ctrl-C and other signals: {0}")]
    NoInterrupt(std::io::Error),
    /// A file that is there already.
    #[error("{} is there already; choose another name", .0.display())]
    Exists(PathBuf),
    /// A model that does not come with the program.
    #[error("no model called `{name}` comes with the program; {} (`kreisel new --list` shows all)", hint.as_deref().unwrap_or("none has a name like it"))]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// The nearest.
        hint: Option<String>,
    },
    /// A word that cannot name a model.
    #[error("`{0}` cannot name a model: only letters, digits, `-` and `_` are allowed")]
    BadModelName(String),
}

/// Exit code of a request that made no sense.
const NO_SENSE: u8 = 2;

impl From<LedError> for CommandError {
    fn from(error: LedError) -> Self {
        match error {
            LedError::Model(errors) => Self::Model(errors),
            error => Self::Led(error),
        }
    }
}

impl CommandError {
    /// Why a run of a machine came to nothing, with the lines of the parts that are to blame.
    fn of_run(machine: &Machine, error: RunError) -> Self {
        match error {
            RunError::Start(error) => Self::StartAt { message: machine.start_message(&error), error },
            error => error.into(),
        }
    }

    /// The message with a final line break; mistakes in a model show their line.
    fn message(&self, colored: bool) -> String {
        match self {
            Self::Model(errors) => format!("{}\n", errors.render(colored)),
            Self::Sweep(SweepError::Measure(MeasureError::Expression(error))) => {
                format!("{}\n", error.render(colored))
            }
            error => format!("error: {error}\n"),
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownName(_) | Self::NoFolder { .. } | Self::NoPageName | Self::TooManyRuns(_) => 2,
            Self::UnknownSensor { .. } | Self::UnknownPicture { .. } | Self::Report(_) => 2,
            Self::Sweep(SweepError::Journal(JournalError::Io { .. }) | SweepError::Threads(_)) => 1,
            Self::Sweep(_) => 2,
            Self::ModelChanged(_) => 1,
            Self::NoPixels { .. } | Self::PictureSize { .. } | Self::TimeOutside { .. } => 2,
            Self::Png(_) => 1,
            Self::NoRuns | Self::NoSweepSummary(_) => 2,
            Self::NothingToVerify(_) => 1,
            Self::Model(_) | Self::Exists(_) | Self::BadModelName(_) | Self::UnknownModel { .. } => 2,
            Self::Led(_) => 2,
            Self::LedMotion(_) => 1,
            Self::Start(error) | Self::StartAt { error, .. } => start_exit_code(error),
            Self::Statics(error) => statics_exit_code(error),
            Self::Run(error) => run_exit_code(error),
            Self::Results(error) => results_exit_code(error),
            Self::NoModel | Self::NothingToWatch | Self::UnknownRequest { .. } => 2,
            Self::Checkpoint(error) => checkpoint_exit_code(error),
            Self::Write(_) | Self::ModelGone { .. } | Self::NoInterrupt(_) | Self::NoServer(_) => 1,
        }
    }
}

/// Settings that make no sense are the request's fault, everything else is found by computing.
fn start_exit_code(error: &StartError) -> u8 {
    match error {
        StartError::Initial(error) => consistency_exit_code(error),
        StartError::NoEquilibrium { .. } => 1,
        _ => 2,
    }
}

fn consistency_exit_code(error: &ConsistencyError) -> u8 {
    match error {
        ConsistencyError::Position { .. }
        | ConsistencyError::Contradiction { .. }
        | ConsistencyError::Singular { .. }
        | ConsistencyError::NotFinite { .. } => 1,
        _ => 2,
    }
}

fn statics_exit_code(error: &StaticsError) -> u8 {
    match error {
        StaticsError::Start(error) => consistency_exit_code(error),
        StaticsError::Unsupported(_)
        | StaticsError::Target(_)
        | StaticsError::NoSteps
        | StaticsError::PathStep(_)
        | StaticsError::NoLoad => 2,
        _ => 1,
    }
}

fn run_exit_code(error: &RunError) -> u8 {
    match error {
        RunError::Start(error) => start_exit_code(error),
        RunError::Statics(error) => statics_exit_code(error),
        RunError::Settings(_)
        | RunError::Modes(ModesError::NoModes | ModesError::NoFreedom | ModesError::Unsupported(_)) => 2,
        RunError::Write(error) => results_exit_code(error),
        RunError::Checkpoint(error) => checkpoint_exit_code(error),
        // A step, something refused on the way, modes: the machine's fault.
        _ => 1,
    }
}

/// A folder that is not to be had is the request's fault, a full disk is not.
fn results_exit_code(error: &results::WriteError) -> u8 {
    match error {
        results::WriteError::DiskFull { .. } | results::WriteError::Io { .. } => 1,
        _ => 2,
    }
}

fn checkpoint_exit_code(error: &CheckpointError) -> u8 {
    match error {
        CheckpointError::Start(error) => start_exit_code(error),
        CheckpointError::Write(error) => results_exit_code(error),
        CheckpointError::Io { .. } => 1,
        _ => 2,
    }
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs the command with these arguments, the program's name first; the exit code is that of the process.
///
/// Help and the version are printed, and arguments that cannot be read refused.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    signals::outlive_file_limit();
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(answer) => return answered(&answer),
    };
    let result = match arguments.command {
        Command::Run(command) => command.run(),
        Command::Watch(command) => command.run(),
        Command::Static(command) => command.run(),
        Command::Modes(command) => command.run(),
        Command::Inverse(command) => command.run(),
        Command::Sweep(command) => command.run(),
        Command::View(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Render(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::New(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Reproduce(command) => command.run(),
    };
    match result {
        Ok(Ending::Done) => 0,
        Ok(Ending::CheckFailed) => 1,
        Ok(Ending::Interrupted) => signals::exit_code(),
        Err(error) => {
            say(&error.message(is_colored()));
            error.exit_code()
        }
    }
}

/// Says what the reader of arguments answers in place of a command: help, or why it cannot read them. It quotes
/// arguments as they came, whatever is in them.
fn answered(answer: &clap::Error) -> u8 {
    let text = answer.render();
    let shown = |colored: bool| if colored { text.ansi().to_string() } else { text.to_string() };
    if answer.use_stderr() {
        say(&shown(is_colored()));
    } else {
        let colored = shows_colors(&std::io::stdout());
        // Who asks for help and leaves has had enough.
        let _ = std::io::stdout().write_all(output::harmless(&shown(colored), colored).as_bytes());
    }
    u8::try_from(answer.exit_code()).unwrap_or(NO_SENSE)
}

/// Whether standard error shows colours.
fn is_colored() -> bool {
    shows_colors(&std::io::stderr())
}

/// Whether a stream shows colours, and the user wants them (see no-color.org).
fn shows_colors(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Words for the user on standard error; a closed stream leaves nobody to tell.
fn say(words: &str) {
    let _ = std::io::stderr().write_all(output::harmless(words, is_colored()).as_bytes());
}

/// Warns before a computation takes the place of one that took long, and a run that of a longer one, as far as a
/// plan tells.
fn warn_of_replacement(folder: &Path, computation: Computation, plan: Option<&RunPlan>) {
    /// Seconds from which on a computation is worth a word.
    const LONG: f64 = 60.0;
    let Some(summary) = computation.summary(folder) else { return };
    let more = if summary.wall_time >= LONG {
        Some(format!("that took {:.0} s are replaced", summary.wall_time))
    } else {
        plan.and_then(|plan| longer_than(plan, &summary.settings))
    };
    if let Some(more) = more {
        let folder = folder.display();
        say_warning(&format!("results in `{folder}` {more} when this is done; `--out DIR` keeps them"));
    }
}

/// What the run with these settings has and the planned one has not: time, or output times.
fn longer_than(plan: &RunPlan, settings: &Value) -> Option<String> {
    /// Difference of two times, in parts of them, that is rounding.
    const ROUNDING: f64 = 1e-9;
    let number = |key: &str| settings[key].as_f64();
    let (end, start) = (number("end-time")?, number("start-time").unwrap_or(0.0));
    let (new, old) = (plan.end_time - plan.start_time, end - start);
    let is_less = |new: f64, old: f64| new < old * (1.0 - ROUNDING);
    if is_less(new, old) {
        return Some(format!("over {} s are replaced by {} s", brief(old), brief(new)));
    }
    let [old, new] = [(old, number("output-step")), (new, plan.output_step)]
        .map(|(length, step)| step.map(|step| (length / step).round() + 1.0));
    let (old, new) = (old?, new?);
    is_less(new, old).then(|| format!("at {old} times are replaced by {new}"))
}

/// What the user should know, a line each; of many alike the first ones, and how many more there are.
fn say_notes<'n>(notes: impl IntoIterator<Item = &'n Note>) {
    told(notes, IN_SUMMARY).iter().for_each(|line| say_warning(line));
}

/// Where all notes of a computation are.
const IN_SUMMARY: &str = "the summary in the folder has them all";

/// Lines for notes, in their order; `all` says where the others are.
fn told<'n>(notes: impl IntoIterator<Item = &'n Note>, all: &str) -> Vec<String> {
    let told = notes.into_iter().map(|note| (note.kind.word(), note.text.as_str()));
    told_of(&told.collect::<Vec<_>>(), all)
}

/// The same of kinds and texts.
fn told_of(notes: &[(&str, &str)], all: &str) -> Vec<String> {
    /// Notes of a kind that are told one by one.
    const MAX_ALIKE: usize = 3;
    let mut alike: HashMap<&str, usize> = HashMap::new();
    notes.iter().for_each(|(kind, _)| *alike.entry(kind).or_default() += 1);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let lines = notes.iter().filter_map(|(kind, text)| {
        let (count, before) = (alike[kind], seen.entry(kind).or_default());
        *before += 1;
        match *before - 1 {
            before if count <= MAX_ALIKE + 1 || before < MAX_ALIKE => Some((*text).to_owned()),
            MAX_ALIKE => Some(format!("{} more like these, of kind `{kind}`; {all}", count - MAX_ALIKE)),
            _ => None,
        }
    });
    lines.collect()
}

fn say_warning(warning: &str) {
    say(&format!("warning: {warning}\n"));
}

/// A number with the word for one or many.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;
    use kreisel::dae::NoteKind;

    #[test]
    fn of_many_notes_alike_three_are_told_and_the_others_counted() {
        let note = |kind, number: usize| Note::new(kind, format!("{number}")).about(number.to_string());
        let few: Vec<Note> = (0..4).map(|number| note(NoteKind::FreeBody, number)).collect();
        assert_eq!(told(&few, IN_SUMMARY), ["0", "1", "2", "3"]);
        let mut many: Vec<Note> = (0..50).map(|number| note(NoteKind::FreeBody, number)).collect();
        many.push(note(NoteKind::Immobile, 50));
        let lines = told(&many, IN_SUMMARY);
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert!(
            lines[3].starts_with("47 more like these, of kind `free-body`") && lines[4] == "50",
            "{lines:?}"
        );
        // A machine of many free bodies has a note for each; comparing each with each would take minutes.
        let very_many: Vec<Note> = (0..200_000).map(|number| note(NoteKind::FreeBody, number)).collect();
        assert_eq!(told(&very_many, IN_SUMMARY).len(), 4);
    }

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_help_text() {
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments().filter(|argument| argument.get_id() != "help") {
                assert!(argument.get_help().is_some(), "{} of {}", argument.get_id(), command.get_name());
            }
        }
    }

    #[test]
    fn a_run_that_goes_on_takes_nothing_that_changes_its_model() {
        for changes in [&["m.toml"][..], &["--step", "1"], &["--set", "a=1"], &["--allow-outside"]] {
            let arguments = [&["kreisel", "run", "--resume", "results"], changes].concat();
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{changes:?}");
        }
        assert!(Arguments::try_parse_from(["kreisel", "run", "--resume", "results"]).is_ok());
    }
}
