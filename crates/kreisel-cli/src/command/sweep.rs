//! `kreisel sweep`: many runs of one model with other parameters.

use super::flag::{Json, Model, json_text};
use super::run::interrupt_flag;
use super::{CommandError, Ending, counted, say};
use crate::output::{Printer, WriteError, write_whole};
use crate::sweep_page;
use indicatif::{ProgressBar, ProgressStyle};
use kreisel::machine::part;
use kreisel::model::{Document, name};
use kreisel::results::ModelIdentity;
use kreisel::sweep::journal::Identity;
use kreisel::sweep::{Journal, Measure, Outcome, Plan, Row, Sampling, Variation, points, table};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Run a model many times with other parameters, on all cores.
///
/// Writes `sweep.csv` (a line for each run: parameters, measures, how it ended) and `sweep.html` (responses; open it in a
/// browser). Ctrl-C ends it and keeps the finished runs; the same command goes on where it stopped. Numbers and their order
/// do not depend on the number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel sweep models/heavy-top.toml --vary mass=10:20:8 --measure \"max(top.position.z)\" --out results/mass
  kreisel sweep car.toml --vary \"k=log(1e3,1e6,20)\" --vary tyres=2,4 --measure \"rms(seat.acceleration.z)\"
  kreisel sweep car.toml --vary k=1e3:1e6 --sample 500 --seed 1 --sampling sobol --measure \"peak = max(seat.position.z)\"")]
pub struct Sweep {
    #[command(flatten)]
    model: Model,

    /// A parameter and its values: NAME=FROM:TO:COUNT, NAME=log(FROM,TO,COUNT) or NAME=A,B,…; may be repeated
    #[arg(long = "vary", value_name = "NAME=VALUES", required = true)]
    variations: Vec<String>,

    /// What to measure: max, min, mean, rms, last, at(x, time), first(x, level) of sensors; may be repeated
    #[arg(long = "measure", value_name = "[NAME=]MEASURE", required = true)]
    measures: Vec<String>,

    /// Take so many samples of the ranges in place of all combinations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS as u64))]
    sample: Option<u64>,

    /// How samples are taken
    #[arg(long, value_enum, default_value_t, requires = "sample")]
    sampling: Kind,

    /// Start of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sample")]
    seed: u64,

    /// Write the table into the folder DIR; `results/<model>-sweep` if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Number of threads; one for each core if not given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    json: Json,
}

/// How samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Independent of each other
    #[default]
    Random,
    /// One in each of as many equal parts of each range
    LatinHypercube,
    /// Evenly, by Sobol's sequence with a random shift
    Sobol,
}

/// Most runs of one sweep: a table of this length still fits into memory.
const MOST_RUNS: usize = 10_000_000;

/// What a sweep came to.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Summary {
    folder: PathBuf,
    runs: usize,
    done: usize,
    failed: usize,
    taken_over: usize,
    wall_time: f64,
    interrupted: bool,
}

impl Sweep {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let variations = self.variations()?;
        let measures = self.measures()?;
        let identity = self.identity()?;
        let points = self.points(&variations)?;
        let folder = self.folder();
        fs::create_dir_all(&folder).map_err(|source| WriteError::Folder { path: folder.clone(), source })?;
        let began = Instant::now();
        let (journal, mut rows) = Journal::open(&folder.join("sweep.journal"), &identity, points.len())?;
        let taken_over = rows.len();
        let build = |parameters: &[(&str, &str)]| self.model.read_varied(parameters);
        let plan = Plan { build: &build, variations: &variations, points: &points, measures: &measures };
        let interrupted = self.run_missing(&plan, journal, &mut rows)?;
        if self.identity()?.model != identity.model {
            return Err(CommandError::ModelChanged(self.model.path().to_owned()));
        }
        rows.sort_unstable_by_key(|row| row.run);
        let failed = rows.iter().filter(|row| row.outcome != Outcome::Done).count();
        if !interrupted {
            write_whole(&folder.join("sweep.csv"), table(&plan, &rows).as_bytes())?;
            let page = sweep_page::page(self.model.path(), &plan, &rows, &identity);
            write_whole(&folder.join("sweep.html"), page.as_bytes())?;
        }
        let done = rows.len() - failed;
        let wall_time = began.elapsed().as_secs_f64();
        let runs = points.len();
        self.deliver(&Summary { folder, runs, done, failed, taken_over, wall_time, interrupted })?;
        Ok(if interrupted { Ending::Interrupted } else { Ending::Done })
    }

    /// Runs what is not in the journal; tells whether it was interrupted.
    fn run_missing(&self, plan: &Plan, journal: Journal, rows: &mut Vec<Row>) -> Result<bool, CommandError> {
        let mut is_done = vec![false; plan.points.len()];
        rows.iter().for_each(|row| is_done[row.run] = true);
        let missing: Vec<usize> = (0..plan.points.len()).filter(|run| !is_done[*run]).collect();
        let bar = self.progress(missing.len());
        let stop = interrupt_flag()?;
        let kept = Mutex::new((journal, rows, None));
        plan.run(&missing, self.threads, &stop, &|row| {
            let Ok(mut guard) = kept.lock() else { return };
            let (journal, rows, failure) = &mut *guard;
            if failure.is_some() {
                return;
            }
            match journal.push(&row) {
                Ok(()) => rows.push(row),
                Err(error) => {
                    *failure = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            bar.inc(1);
        })
        .map_err(|error| CommandError::Threads(error.to_string()))?;
        bar.finish_and_clear();
        let Ok((_, rows, failure)) = kept.into_inner() else { return Ok(true) };
        failure.map_or(Ok(rows.len() < plan.points.len()), |error| Err(error.into()))
    }

    fn variations(&self) -> Result<Vec<Variation>, CommandError> {
        let variations: Vec<Variation> =
            self.variations.iter().map(|text| Variation::parse(text)).collect::<Result<_, _>>()?;
        let document = Document::read(self.model.path(), &part::kinds(), &[])?;
        let names: Vec<&str> = document.parameters().keys().map(String::as_str).collect();
        for (place, variation) in variations.iter().enumerate() {
            let wanted = variation.name.as_str();
            if !names.contains(&wanted) {
                return Err(CommandError::UnknownParameter {
                    name: wanted.to_owned(),
                    nearest: name::nearest(wanted, names.iter().copied()).map(str::to_owned),
                    names: names.iter().map(|name| (*name).to_owned()).collect(),
                });
            }
            if variations[..place].iter().any(|other| other.name == wanted) {
                return Err(CommandError::VariesTwice(wanted.to_owned()));
            }
        }
        Ok(variations)
    }

    fn measures(&self) -> Result<Vec<Measure>, CommandError> {
        let machine = self.model.read()?;
        let signals: Vec<String> = machine.channels().into_iter().map(|channel| channel.name).collect();
        let parse = |text: &String| Measure::parse(text, &signals);
        Ok(self.measures.iter().map(parse).collect::<Result<_, _>>()?)
    }

    fn sampling(&self) -> Sampling {
        let seed = self.seed;
        match (self.sample.map(|count| count as usize), self.sampling) {
            (None, _) => Sampling::Grid,
            (Some(count), Kind::Random) => Sampling::Random { count, seed },
            (Some(count), Kind::LatinHypercube) => Sampling::LatinHypercube { count, seed },
            (Some(count), Kind::Sobol) => Sampling::Sobol { count, seed },
        }
    }

    fn points(&self, variations: &[Variation]) -> Result<Vec<Vec<f64>>, CommandError> {
        if self.sample.is_none() {
            let counts = variations.iter().map(|one| one.grid().map(|values| values.len()));
            let count = counts.collect::<Result<Vec<_>, _>>()?.into_iter().fold(1, usize::saturating_mul);
            if count > MOST_RUNS {
                return Err(CommandError::TooManyRuns { count, most: MOST_RUNS });
            }
        }
        Ok(points(variations, self.sampling())?)
    }

    /// What the sweep is; the model with all files that it includes.
    fn identity(&self) -> Result<Identity, CommandError> {
        let document = Document::read(self.model.path(), &part::kinds(), &[])?;
        let texts: Vec<&str> = document.sources().iter().map(|source| source.text()).collect();
        Ok(Identity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: ModelIdentity::new(String::new(), texts.join("\0").as_bytes()).sha256,
            settings: self.model.changes(),
            variations: self.variations.clone(),
            sampling: format!("{:?}", self.sampling()),
            measures: self.measures.clone(),
        })
    }

    fn folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = self.model.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Path::new("results").join(format!("{name}-sweep"))
        })
    }

    fn progress(&self, count: usize) -> ProgressBar {
        let style =
            ProgressStyle::with_template("{bar:40} {pos} of {len} runs {elapsed} (still about {eta})")
                .expect("the template is one of indicatif's own form");
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(count as u64) };
        bar.with_style(style)
    }

    fn deliver(&self, summary: &Summary) -> Result<(), CommandError> {
        self.json.write(summary)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            return Ok(printer.print(&json_text(summary))?);
        }
        if summary.interrupted {
            let left = summary.runs - summary.done - summary.failed;
            say(&format!(
                "interrupted: {} still to do; the same command goes on where this one stopped\n",
                counted(left as u64, "run is", "runs are")
            ));
            return Ok(());
        }
        if self.quiet {
            return Ok(());
        }
        let taken_over = match summary.taken_over {
            0 => String::new(),
            count => format!(", {count} of them before"),
        };
        let failed = match summary.failed {
            0 => String::new(),
            count => format!(", {count} failed (the table says why)"),
        };
        printer.print(&format!(
            "runs              {} done{taken_over}{failed}\nwall time         {:.3} s\nwritten           {}\nreport            {} (open it in a browser)\n",
            summary.done,
            summary.wall_time,
            summary.folder.join("sweep.csv").display(),
            summary.folder.join("sweep.html").display(),
        ))?;
        Ok(())
    }
}
