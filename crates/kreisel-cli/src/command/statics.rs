//! `kreisel static`: finds the equilibrium of a model and writes it.

use super::flag::{Json, Model, Results, json_text};
use super::run::value;
use super::summary::{Summary as Lines, rounded, verdict_words};
use super::{CommandError, Ending, counted, say, say_notes};
use crate::output::{Printer, brief};
use kreisel::dae::Control;
use kreisel::kinematics::split;
use kreisel::machine::Machine;
use kreisel::report::STATIC_FILE;
use kreisel::results::{Computation, EndStatus, RunSummary};
use kreisel::run::{ResultFiles, StaticOutcome, StaticRecorder};
use kreisel::statics::{self, Equilibrium, PathSettings, StaticSettings, StaticsError};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Find the equilibrium of a model under its loads.
///
/// The loads at the start time grow from zero: forces, moments and gravity are multiplied by a load factor,
/// springs and drives are not. A machine that is drawn under its loads is tried under all of them first.
/// Writes `static.html` (the machine moving along the path, every sensor over the load factor; open it in a
/// browser), `static.csv` (every sensor over the load factor), `static.vtkhdf` (every body, with the load
/// factor as time), `static-scene.json` and `static.json`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel static models/cantilever-roll.toml
  kreisel static models/princeton-beam.toml --factor 1.5 --load-steps 10
  kreisel static models/lee-frame.toml --arc-length --points 150

A run starts from the equilibrium if its model says `start = \"static\"` in `[simulation]`.")]
pub struct Static {
    #[command(flatten)]
    model: Model<false>,

    /// Load factor to be reached: 1 means the loads as the model gives them
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, allow_hyphen_values = true)]
    factor: f64,

    /// Number of load steps; more are taken where they are needed
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    load_steps: usize,

    /// Follow the path of equilibria by its arc length, past limit points, until the load factor is reached
    #[arg(long)]
    arc_length: bool,

    /// Most points on the path
    #[arg(long, value_name = "N", default_value_t = PathSettings::default().max_points, requires = "arc_length", allow_negative_numbers = true)]
    points: usize,

    /// Longest step along the path: no part moves by more, in lengths of the machine, or turns by more, in
    /// rad
    #[arg(long, value_name = "NUMBER", requires = "arc_length", allow_negative_numbers = true)]
    path_step: Option<f64>,

    #[command(flatten)]
    results: Results,

    #[command(flatten)]
    json: Json,
}

impl Static {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let machine = self.model.read()?;
        let folder = self.results.folder(self.model.path(), Computation::Static)?;
        let began = Instant::now();
        let settings = self.settings();
        let mut waiting = Some(|| {
            ResultFiles::begin_static(&folder, self.model.identity()?, self.results.force, &machine)
                .map_err(CommandError::from)
        });
        // The folder is taken when there is something to put into it.
        let mut recorder: Option<StaticRecorder<ResultFiles>> = None;
        let mut failure = None;
        let outcome = machine.find_equilibrium(&settings, |at| {
            if let Some(begin) = waiting.take() {
                match begin() {
                    Ok(files) => recorder = Some(StaticRecorder::new(&machine, files)),
                    Err(error) => {
                        failure = Some(error);
                        return Control::Stop;
                    }
                }
            }
            recorder.as_mut().map_or(Control::Stop, |recorder| recorder.record(at))
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let Some(recorder) = recorder else {
            return Err(outcome.solution.err().map_or(StaticsError::NoSteps, |error| error).into());
        };
        let report = StaticReport::new(&machine, &outcome);
        let notes = machine.static_notes(&outcome);
        if !self.results.quiet {
            say_notes(&notes);
        }
        let mut summary = RunSummary::new(self.model.identity()?);
        summary.status = match &outcome.solution {
            Ok(_) => EndStatus::Done,
            Err(error) => EndStatus::Failed { message: error.to_string() },
        };
        summary.wall_time = began.elapsed().as_secs_f64();
        summary.settings = value(&self.setting_words());
        summary.statistics = value(&report);
        summary.add_notes(&notes);
        summary.judge();
        let paths = recorder.finish()?.finish(&mut summary, true)?;
        self.deliver(&report, &summary, &folder, &paths)?;
        match outcome.solution {
            Ok(_) => Ok(Ending::Done),
            Err(error) => {
                say(&format!("error: {error}\nthe equilibria up to the last good load step are on disk\n"));
                Ok(Ending::CheckFailed)
            }
        }
    }

    fn settings(&self) -> StaticSettings {
        StaticSettings {
            target: self.factor,
            load_steps: self.load_steps,
            path: self
                .arc_length
                .then_some(PathSettings { max_points: self.points, max_step: self.path_step }),
            ..StaticSettings::default()
        }
    }

    fn setting_words(&self) -> SettingWords {
        SettingWords {
            factor: self.factor,
            load_steps: self.load_steps,
            arc_length: self.arc_length,
            points: self.arc_length.then_some(self.points),
            path_step: self.path_step,
        }
    }

    fn deliver(
        &self,
        report: &StaticReport,
        summary: &RunSummary,
        folder: &Path,
        paths: &[PathBuf],
    ) -> Result<(), CommandError> {
        let whole = WholeReport { folder, summary };
        self.json.write(&whole)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&json_text(&whole))?;
        } else if !self.results.quiet {
            printer.print(&match self.results.verbose {
                true => report.long_text(summary, paths),
                false => report.short_text(summary, (folder, paths)),
            })?;
        }
        Ok(())
    }
}

/// Settings as `static.json` keeps them.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SettingWords {
    factor: f64,
    load_steps: usize,
    arc_length: bool,
    points: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_step: Option<f64>,
}

#[derive(Serialize)]
struct WholeReport<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    summary: &'a RunSummary,
}

/// What was found, in numbers.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StaticReport {
    load_factor: f64,
    ending: String,
    load_steps: usize,
    rejected_steps: usize,
    newton_iterations: usize,
    line_search_cuts: usize,
    limit_points: Vec<f64>,
    most_displaced: Option<String>,
    largest_displacement: f64,
    reactions: Vec<Reaction>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Reaction {
    joint: String,
    force: [f64; 3],
    torque: [f64; 3],
}

impl StaticReport {
    fn new(machine: &Machine, outcome: &StaticOutcome) -> Self {
        let solution = outcome.solution.as_ref().ok();
        let statistics = outcome.statistics;
        let last = outcome.last.as_ref();
        let displaced = last.and_then(|at| machine.largest_displacement(at));
        let reaction = |(joint, wrench)| {
            let (torque, force) = split(&wrench);
            Reaction { joint, force: force.into(), torque: torque.into() }
        };
        let reactions = |at: &Equilibrium| machine.reactions(at).into_iter().map(reaction).collect();
        Self {
            load_factor: last.map_or(0.0, |at| at.load_factor),
            ending: match &outcome.solution {
                Ok(solution) => match solution.ending {
                    statics::Ending::Reached => "the load factor was reached".to_owned(),
                    statics::Ending::MostPoints => "as many points were found as were asked for".to_owned(),
                    statics::Ending::Stopped => "it was stopped".to_owned(),
                },
                Err(error) => error.to_string(),
            },
            load_steps: statistics.steps,
            rejected_steps: statistics.rejected,
            newton_iterations: statistics.iterations,
            line_search_cuts: statistics.cuts,
            limit_points: solution.map_or_else(Vec::new, |solution| {
                solution.limit_points.iter().map(|point| point.load_factor).collect()
            }),
            largest_displacement: displaced.as_ref().map_or(0.0, |(_, distance)| *distance),
            most_displaced: displaced.map(|(name, _)| name),
            reactions: last.map_or_else(Vec::new, reactions),
        }
    }

    /// Where the loads and the machine are, and what holds it: seven lines at most.
    fn short_text(&self, summary: &RunSummary, (folder, paths): (&Path, &[PathBuf])) -> String {
        let mut text = Lines::default();
        text.line(
            "load factor",
            format!(
                "{} ({}) in {}, computed in {} s",
                brief(self.load_factor),
                self.ending,
                counted(self.load_steps as u64, "load step", "load steps"),
                brief(summary.wall_time)
            ),
        );
        /// Limit points that are named, at most.
        const NAMED: usize = 4;
        if !self.limit_points.is_empty() {
            let mut named: Vec<String> = self.limit_points.iter().take(NAMED).map(|&at| brief(at)).collect();
            if self.limit_points.len() > NAMED {
                named.push(format!("and {} more", self.limit_points.len() - NAMED));
            }
            text.line("limit points", format!("at the load factor {}", named.join(", ")));
        }
        if let Some(name) = &self.most_displaced {
            text.line("displacement", format!("{} m at most, of `{name}`", brief(self.largest_displacement)));
        }
        let size = |reaction: &Reaction| reaction.force.iter().map(|x| x * x).sum::<f64>();
        if let Some(largest) = self.reactions.iter().max_by(|a, b| size(a).total_cmp(&size(b))) {
            let among = match self.reactions.len() {
                1 => String::new(),
                count => format!(", the largest of {count}"),
            };
            text.line("reaction", self.words(largest) + &among);
        }
        text.line("verdict", verdict_words(summary));
        text.files(folder, paths, STATIC_FILE);
        text.text()
    }

    /// The forces and torques of a joint, 0 where they are round-off beside those of others.
    fn words(&self, Reaction { joint, force, torque }: &Reaction) -> String {
        let largest = |part: fn(&Reaction) -> &[f64; 3]| {
            self.reactions.iter().flat_map(part).fold(0.0_f64, |most, x| most.max(x.abs()))
        };
        let (forces, torques) = (largest(|one| &one.force), largest(|one| &one.torque));
        let triple = |v: &[f64; 3], beside: f64| v.map(|x| rounded(x, beside)).join(", ");
        // An arm of 1 m makes of a force a torque, so that joints without one show none.
        let (force, torque) = (triple(force, forces), triple(torque, torques.max(forces)));
        format!("`{joint}`: force ({force}) N, torque ({torque}) Nm")
    }

    /// A line for each reaction and each file.
    fn long_text(&self, summary: &RunSummary, paths: &[PathBuf]) -> String {
        let mut text = Lines::default();
        text.line("load factor", format!("{} ({})", brief(self.load_factor), self.ending));
        text.line(
            "work",
            format!(
                "{} ({} rejected), {}, {}",
                counted(self.load_steps as u64, "load step", "load steps"),
                self.rejected_steps,
                counted(self.newton_iterations as u64, "Newton iteration", "Newton iterations"),
                counted(self.line_search_cuts as u64, "line search cut", "line search cuts"),
            ),
        );
        text.line("wall time", format!("{} s", brief(summary.wall_time)));
        for &factor in &self.limit_points {
            text.line("limit point", format!("at the load factor {}", brief(factor)));
        }
        if let Some(name) = &self.most_displaced {
            text.line("displacement", format!("{} m at most, of `{name}`", brief(self.largest_displacement)));
        }
        self.reactions.iter().for_each(|reaction| text.line("reaction", self.words(reaction)));
        text.line("verdict", verdict_words(summary));
        text.every_file(paths, STATIC_FILE);
        text.text()
    }
}
