//! A sweep as it is asked for, checked against its model.

use super::journal::{Identity, Journal, JournalError};
use super::measure::{Measure, MeasureError};
use super::run::{Build, SweepPlan, SweepRow};
use super::sample::{Sampling, points};
use super::vary::{Variation, VaryError};
use crate::machine::Machine;
use crate::memory::has_room;
use crate::model::{Document, name};
use crate::results::ModelIdentity;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

/// Most runs of one sweep: a table of this length still fits into memory.
pub const MAX_RUNS: usize = 10_000_000;
/// Memory that the point of a run takes beside its numbers, twice: points are made from parts of the ranges.
const RUN_BYTES: usize = 2 * 48;

/// What is asked for, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What varies: `mass=10:20:8`.
    pub variations: Vec<String>,
    /// What is measured: `peak = max(top.position.z)`.
    pub measures: Vec<String>,
    /// How points are chosen.
    pub sampling: Sampling,
    /// What is changed in the model from outside, a text each; it is part of what the sweep is.
    pub settings: Vec<String>,
}

/// A sweep of a model that has the parameters and sensors it names.
#[derive(Clone, Debug)]
pub struct Study {
    /// What varies.
    pub variations: Vec<Variation>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// How points are chosen.
    pub sampling: Sampling,
    /// What the sweep is; the model with all files that it includes.
    pub identity: Identity,
}

/// Why a sweep makes no sense, or came to no end.
#[derive(Error)]
#[non_exhaustive]
pub enum SweepError {
    /// Values that cannot vary.
    #[error(transparent)]
    Vary(#[from] VaryError),
    /// A parameter that the model does not have.
    #[error("the model has no parameter `{name}`{}", hint(nearest.as_deref(), names))]
    UnknownParameter {
        /// What was asked for.
        name: String,
        /// The one that may be meant.
        nearest: Option<String>,
        /// All that there are.
        names: Vec<String>,
    },
    /// A parameter that varies twice.
    #[error("`{0}` varies twice")]
    VariesTwice(String),
    /// Nothing to do.
    #[error("a sweep needs a parameter that varies and a measure")]
    Nothing,
    /// Two columns of one name.
    #[error("two columns of the table are called `{0}`; name measures, as in `peak = max(…)`")]
    NamedTwice(String),
    /// A parameter with the name of a column that every table has.
    #[error("the table has a column `{0}` of its own; give the parameter another name")]
    TakenName(String),
    /// Too many runs for one table.
    #[error("{count} runs are more than the {most} of one sweep")]
    TooManyRuns {
        /// Asked for.
        count: usize,
        /// Allowed.
        most: usize,
    },
    /// Too many runs for this computer, or for the memory that it grants.
    #[error("there is no memory for {count} runs")]
    NoMemory {
        /// Asked for.
        count: usize,
    },
    /// A measure that makes no sense.
    #[error("measure: {0}")]
    Measure(#[from] MeasureError),
    /// Finished runs that cannot be kept or taken over.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Threads that cannot be had.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

shown_by_message!(SweepError);

impl Study {
    /// Checks a request against a model: `document` without what is given from outside, `machine` as it is
    /// run.
    pub fn new(document: &Document, machine: &Machine, request: Request) -> Result<Self, SweepError> {
        if request.variations.is_empty() || request.measures.is_empty() {
            return Err(SweepError::Nothing);
        }
        let variations = variations(document, &request.variations)?;
        let signals: Vec<String> = machine.channels().into_iter().map(|channel| channel.name).collect();
        let parse = |text: &String| Measure::parse(text, &signals);
        let measures: Vec<Measure> = request.measures.iter().map(parse).collect::<Result<_, _>>()?;
        unique_columns(&variations, &measures)?;
        let texts: Vec<&str> = document.sources().iter().map(|source| source.text()).collect();
        let identity = Identity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: ModelIdentity::new(String::new(), texts.join("\0").as_bytes()).sha256,
            settings: request.settings,
            variations: request.variations,
            sampling: format!("{:?}", request.sampling),
            measures: request.measures,
        };
        Ok(Self { variations, measures, sampling: request.sampling, identity })
    }

    /// A value for each variation, run by run.
    pub fn points(&self) -> Result<Vec<Vec<f64>>, SweepError> {
        let count = match self.sampling {
            Sampling::Grid => {
                let counts = self.variations.iter().map(Variation::count);
                counts.collect::<Result<Vec<_>, _>>()?.into_iter().fold(1, usize::saturating_mul)
            }
            Sampling::Random { count, .. }
            | Sampling::LatinHypercube { count, .. }
            | Sampling::Sobol { count, .. } => count,
        };
        if count > MAX_RUNS {
            return Err(SweepError::TooManyRuns { count, most: MAX_RUNS });
        }
        if !has_room(count * (RUN_BYTES + 2 * size_of::<f64>() * self.variations.len())) {
            return Err(SweepError::NoMemory { count });
        }
        Ok(points(&self.variations, self.sampling)?)
    }

    /// The runs at some points.
    pub fn plan<'a>(&'a self, build: &'a Build<'a>, points: &'a [Vec<f64>]) -> SweepPlan<'a> {
        SweepPlan { build, variations: &self.variations, points, measures: &self.measures }
    }
}

impl SweepPlan<'_> {
    /// Runs what is not among `rows` yet and adds it, to the journal first; tells whether all is done.
    ///
    /// `each` is called after each run. Rows are in the order in which their runs came to their end.
    pub fn run_missing(
        &self,
        journal: Option<Journal>,
        rows: &mut Vec<SweepRow>,
        threads: usize,
        stop: &AtomicBool,
        each: &(dyn Fn() + Sync),
    ) -> Result<bool, SweepError> {
        let mut is_done = vec![false; self.points.len()];
        rows.iter().for_each(|row| is_done[row.run] = true);
        let missing: Vec<usize> = (0..self.points.len()).filter(|run| !is_done[*run]).collect();
        let kept = Mutex::new((journal, rows, None));
        self.run(&missing, threads, stop, &|row| {
            let Ok(mut guard) = kept.lock() else { return };
            let (journal, rows, failure) = &mut *guard;
            if failure.is_some() {
                return;
            }
            match journal.as_mut().map_or(Ok(()), |journal| journal.push(&row)) {
                Ok(()) => rows.push(row),
                Err(error) => {
                    *failure = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            each();
        })?;
        // A poisoned lock has a thread that panicked while it held it, which the pool has told already.
        let Ok((_, rows, failure)) = kept.into_inner() else { return Ok(false) };
        failure.map_or(Ok(rows.len() == self.points.len()), |error| Err(error.into()))
    }
}

fn variations(document: &Document, texts: &[String]) -> Result<Vec<Variation>, SweepError> {
    let variations: Vec<Variation> =
        texts.iter().map(|text| Variation::parse(text)).collect::<Result<_, _>>()?;
    let names: Vec<&str> = document.parameters().keys().map(String::as_str).collect();
    for (place, variation) in variations.iter().enumerate() {
        let wanted = variation.name.as_str();
        if !names.contains(&wanted) {
            return Err(SweepError::UnknownParameter {
                name: wanted.to_owned(),
                nearest: name::nearest(wanted, names.iter().copied()).map(str::to_owned),
                names: names.iter().map(|name| (*name).to_owned()).collect(),
            });
        }
        if variations[..place].iter().any(|other| other.name == wanted) {
            return Err(SweepError::VariesTwice(wanted.to_owned()));
        }
    }
    Ok(variations)
}

/// A table is read by the names of its columns.
fn unique_columns(variations: &[Variation], measures: &[Measure]) -> Result<(), SweepError> {
    let own = ["run", "status", "reason"];
    if let Some(taken) = variations.iter().find(|one| own.contains(&one.name.as_str())) {
        return Err(SweepError::TakenName(taken.name.clone()));
    }
    let mut names: Vec<&str> =
        own.into_iter().chain(variations.iter().map(|one| one.name.as_str())).collect();
    for measure in measures {
        if names.contains(&measure.name.as_str()) {
            return Err(SweepError::NamedTwice(measure.name.clone()));
        }
        names.push(&measure.name);
    }
    Ok(())
}

/// What to try in place of a parameter that there is not.
fn hint(nearest: Option<&str>, names: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if names.is_empty() => "; it has none: give it a `[parameters]` table".to_owned(),
        None => format!("; it has {}", names.join(", ")),
    }
}
