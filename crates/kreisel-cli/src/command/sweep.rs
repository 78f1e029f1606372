//! `kreisel sweep`: many runs of one model with other parameters.

use super::flag::{Json, Model, json_text};
use super::{CommandError, Ending, counted, say, say_warning};
use crate::output::{Printer, write_whole};
use crate::signals::interrupt_flag;
use crate::sweep_page;
use indicatif::{ProgressBar, ProgressStyle};
use kreisel::results::make_folder;
use kreisel::sweep::study::MAX_RUNS;
use kreisel::sweep::{
    Journal, Outcome, Request, SWEEP_SUMMARY, Sampling, Study, SweepError, SweepSummary, table,
};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run a model many times with other parameters, on all cores.
///
/// Writes `sweep.csv` (a line for each run: parameters, measures, how it ended), `sweep.html` (responses; open
/// it in a browser) and `sweep.json` (the checksums of both, for `kreisel verify`). Ctrl-C ends it and keeps
/// the finished runs; the same command goes on where it stopped. Numbers and their order do not depend on the
/// number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel sweep models/heavy-top.toml --vary mass=10:20:8 \\
    --measure \"lowest = min(top.position.z)\" --out results/mass
  kreisel sweep models/active-suspension.toml --vary \"skyhook=log(300,30000,5)\" \\
    --vary lag=0.01,0.05 --measure \"rms(body-guide.displacement)\"
  kreisel sweep models/active-suspension.toml --vary skyhook=300:30000 \\
    --sample 20 --sampling sobol --measure \"peak = max(body-guide.displacement)\" --out results/sobol")]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_RUNS as u64))]
    sample: Option<u64>,

    /// How samples are taken
    #[arg(long, value_enum, default_value_t, requires = "sample")]
    sampling: Kind,

    /// Start of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sample")]
    seed: u64,

    /// Write the table into the folder DIR; `results/<model>-sweep` if not given
    #[arg(help_heading = "Results", long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Number of threads; one for each core if not given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Print nothing but errors
    #[arg(help_heading = "Results", long, short)]
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
    warnings: Vec<String>,
}

/// What is told of a measure that does not show what varies.
fn unchanged(measure: &str, value: f64) -> String {
    format!("the measure `{measure}` is the same in all runs, {value}: nothing that varies changes it")
}

impl Sweep {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let study = self.study()?;
        let points = study.points()?;
        let identity = &study.identity;
        let folder = self.folder();
        make_folder(&folder)?;
        let began = Instant::now();
        let journal = Journal::open(&folder.join("sweep.journal"), identity, points.len());
        let (journal, mut rows) = journal.map_err(SweepError::from)?;
        let taken_over = rows.len();
        let build = |parameters: &[(&str, &str)]| self.model.read_varied(parameters);
        let plan = study.plan(&build, &points);
        let bar = self.progress(points.len() - taken_over);
        let stop = interrupt_flag().map_err(CommandError::NoInterrupt)?;
        let is_done = plan.run_missing(Some(journal), &mut rows, self.threads, &stop, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let interrupted = !is_done;
        if self.study()?.identity.model != identity.model {
            return Err(CommandError::ModelChanged(self.model.path().to_owned()));
        }
        rows.sort_unstable_by_key(|row| row.run);
        let failed = rows.iter().filter(|row| row.outcome != Outcome::Done).count();
        if !interrupted {
            let page = sweep_page::page(self.model.path(), &plan, &rows, identity);
            let files = [("sweep.csv", table(&plan, &rows)), ("sweep.html", page)];
            let mut written = SweepSummary::new(identity, rows.len(), failed);
            for (name, text) in files {
                write_whole(&folder.join(name), text.as_bytes())?;
                written = written.with_file(name, text.as_bytes());
            }
            write_whole(&folder.join(SWEEP_SUMMARY), written.to_json().as_bytes())?;
        }
        let warnings: Vec<String> =
            plan.constant_measures(&rows).map(|(measure, value)| unchanged(measure, value)).collect();
        if !self.quiet {
            warnings.iter().for_each(|warning| say_warning(warning));
        }
        let done = rows.len() - failed;
        let wall_time = began.elapsed().as_secs_f64();
        let runs = points.len();
        let summary = Summary { folder, runs, done, failed, taken_over, wall_time, interrupted, warnings };
        self.deliver(&summary)?;
        Ok(if interrupted { Ending::Interrupted } else { Ending::Done })
    }

    fn study(&self) -> Result<Study, CommandError> {
        let document = self.model.document()?;
        let request = Request {
            variations: self.variations.clone(),
            measures: self.measures.clone(),
            sampling: self.sampling(),
            settings: self.model.changes(),
        };
        Ok(Study::new(&document, &self.model.read()?, request)?)
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
