//! Runs the points of a sweep on all cores.

use super::{Measure, Variation};
use crate::dae::Control;
use crate::machine::Machine;
use crate::model::ModelErrors;
use crate::run::{Job, Moment, RunEnding, Trajectory};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Builds a machine for given parameters, as name and expression.
pub type Build<'a> = dyn Fn(&[(&str, &str)]) -> Result<Machine, ModelErrors> + Sync + 'a;

/// The reason of a run that ended by a mistake of the program.
const MISTAKE: &str = "a mistake in Kreisel, please report it";

/// What is to be run.
pub struct SweepPlan<'a> {
    /// Builds the machine for given parameters, as name and expression.
    pub build: &'a Build<'a>,
    /// What varies.
    pub variations: &'a [Variation],
    /// A value for each variation, run by run.
    pub points: &'a [Vec<f64>],
    /// What is measured.
    pub measures: &'a [Measure],
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// Number of the run.
    pub run: usize,
    /// What the measures are; not numbers if the run failed.
    pub measures: Vec<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its end time, or at an event that ends it.
    Done,
    /// Before, and why.
    Failed(String),
}

impl SweepPlan<'_> {
    /// Runs the points of these numbers on `threads` threads (all cores if zero, never more than runs) and
    /// hands rows on as they come.
    ///
    /// A raised `stop` ends it after the present steps; runs that it cuts short are not handed on.
    pub fn run(
        &self,
        numbers: &[usize],
        threads: usize,
        stop: &AtomicBool,
        take: &(dyn Fn(SweepRow) + Sync),
    ) -> Result<(), rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(numbers.len().max(1))).build()?;
        // One at a time: runs may take very different times.
        let work = || {
            numbers.par_iter().with_max_len(1).for_each(|&run| {
                // A mistake of ours in one run must not take the others with it.
                let row = catch_unwind(AssertUnwindSafe(|| self.row(run, stop)));
                let mistake = |_| Some(self.failed(run, MISTAKE.to_owned()));
                if let Some(row) = row.unwrap_or_else(mistake) {
                    take(row);
                }
            });
        };
        pool.install(work);
        Ok(())
    }

    /// Measures that are the same in all runs that have them, two at least, but for rounding; each with its
    /// value.
    pub fn constant_measures(&self, rows: &[SweepRow]) -> impl Iterator<Item = (&str, f64)> {
        self.measures.iter().enumerate().filter_map(|(place, measure)| {
            let mut values = rows.iter().map(|row| row.measures[place]).filter(|value| value.is_finite());
            let first = values.next()?;
            let mut others = values.peekable();
            others.peek()?;
            // Numbers that differ by some thousand ε differ by rounding.
            let is_same = |value: f64| (value - first).abs() <= 1e-12 * first.abs();
            others.all(is_same).then_some((measure.name.as_str(), first))
        })
    }

    fn row(&self, run: usize, stop: &AtomicBool) -> Option<SweepRow> {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let texts: Vec<String> = (self.variations.iter().zip(&self.points[run]))
            .map(|(variation, value)| variation.text(*value))
            .collect();
        let parameters: Vec<(&str, &str)> = self
            .variations
            .iter()
            .zip(&texts)
            .map(|(one, text)| (one.name.as_str(), text.as_str()))
            .collect();
        let machine = match (self.build)(&parameters) {
            Ok(machine) => machine,
            Err(errors) => return Some(self.failed(run, first_line(&errors.to_string()))),
        };
        match run_point(&machine, stop) {
            Ok(Some(trajectory)) => {
                let measures = self.measures.iter().map(|measure| measure.of(&trajectory)).collect();
                Some(SweepRow { run, measures, outcome: Outcome::Done })
            }
            Ok(None) => None,
            // What stops a sweep may be what made the run fail.
            Err(_) if stop.load(Ordering::Relaxed) => None,
            Err(reason) => Some(self.failed(run, reason)),
        }
    }

    fn failed(&self, run: usize, reason: String) -> SweepRow {
        SweepRow { run, measures: vec![f64::NAN; self.measures.len()], outcome: Outcome::Failed(reason) }
    }
}

/// Runs a machine and keeps its signals; none if it was stopped, the reason if it failed.
pub fn run_point(machine: &Machine, stop: &AtomicBool) -> Result<Option<Trajectory>, String> {
    let plan = machine.plan().map_err(|errors| first_line(&errors.to_string()))?;
    let mut watch = |_: &Moment| if stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue };
    let job = Job::new(machine, &plan).observe(&mut watch);
    let done = job.record(Trajectory::new(machine)).map_err(|error| first_line(&error.to_string()))?;
    let (trajectory, outcome) = done;
    match outcome.ending {
        RunEnding::Done | RunEnding::Event(_) => Ok(Some(trajectory)),
        RunEnding::Stopped => Ok(None),
        RunEnding::Failed(error) => Err(first_line(&error.to_string())),
        RunEnding::Refused(error) => Err(first_line(&error.to_string())),
    }
}

/// A reason that fits into a table.
fn first_line(words: &str) -> String {
    words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
