//! The experiments of the papers: what one is, what comes out of it, and how many are run at once.
//!
//! An experiment is one file that reads like the paper's description: problem, method, ladder of step sizes,
//! checks. It returns an [`Outcome`] and prints nothing. A new one gets a line in `registry.rs`; the command
//! line, the list, JSON, figures and the tests that hold for every experiment follow from that line.

mod cam;
mod check;
mod equal_error;
mod heavy_top;
mod ladder;
mod lie_algebra;
mod lie_group;
mod motion;
#[cfg(test)]
mod mutations;
mod named_accuracy;
mod progress;
mod projection;
mod registry;
mod run;
mod scaling;
mod slope;
mod soi2;
mod step_control;
mod step_sizes;
mod table;
mod validation;

pub use check::{Check, Expected, Measured};
pub use progress::Progress;
pub use registry::{EXPERIMENTS, markdown_table};
pub use run::{Finished, run_all};
pub use slope::log_log_slope;
pub use step_sizes::markdown_table as step_sizes_table;
pub use table::{Table, number};
pub use validation::markdown_table as validation_table;

use kreisel::report::figure::{FigureStyle, Series};
use motion::run_into;
use std::error::Error;

/// One experiment of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name on the command line: the paper's word and the place in the paper.
    pub id: &'static str,
    /// What is shown, in one line.
    pub title: &'static str,
    /// Where it was published.
    pub paper: Paper,
    /// How long it takes.
    pub run_time: RunTime,
    /// Computes it; an error is reported as a check that failed.
    pub run: fn(&Progress) -> Result<Outcome, ExperimentError>,
}

/// Why an experiment could not be computed: any error of the library.
pub type ExperimentError = Box<dyn Error + Send + Sync>;

/// The papers whose results are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Order reduction caused by velocity projection.
    Projection,
    /// A Lie algebra approach to time integration.
    LieAlgebra,
    /// Lie group generalized-α time integration of flexible systems.
    LieGroup,
    /// Time-step-size-independent conditioning of index three equations.
    Scaling,
    /// A second order extension of the generalized-α method.
    Soi2,
    /// No paper's figure: what step sizes by the error achieve.
    StepControl,
    /// No paper's figure: other programs, closed forms and experiments.
    Validation,
}

impl Paper {
    /// Every paper, in the order of the list.
    pub const ALL: [Self; 7] = [
        Self::LieAlgebra,
        Self::LieGroup,
        Self::Projection,
        Self::Scaling,
        Self::Soi2,
        Self::StepControl,
        Self::Validation,
    ];

    /// The word that begins the paper's ids and stands for all of them.
    pub fn word(self) -> &'static str {
        match self {
            Self::Projection => "projection",
            Self::LieAlgebra => "lie-algebra",
            Self::LieGroup => "lie-group",
            Self::Scaling => "scaling",
            Self::Soi2 => "soi2",
            Self::StepControl => "step-control",
            Self::Validation => "validation",
        }
    }

    /// The key in `references.bib`, or where its sources stand.
    pub fn key(self) -> &'static str {
        match self {
            Self::Projection => "ArnoldCardonaBruls2015Projection",
            Self::LieAlgebra => "ArnoldCardonaBruls2015",
            Self::LieGroup => "BrulsCardonaArnold2012",
            Self::Scaling => "BottassoBauchauCardona2007",
            Self::Soi2 => "JayNegrut2008",
            Self::StepControl => "Soderlind2003",
            Self::Validation => "validation/references.toml",
        }
    }
}

/// How long an experiment takes on one core in release mode, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTime {
    /// Less than a second.
    Instant,
    /// Up to ten seconds.
    Seconds,
    /// Up to a minute.
    TensOfSeconds,
    /// More than a minute.
    Minutes,
}

impl RunTime {
    /// The class in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Instant => "under a second",
            Self::Seconds => "seconds",
            Self::TensOfSeconds => "tens of seconds",
            Self::Minutes => "minutes",
        }
    }
}

/// What an experiment shows.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The table a paper would print.
    pub table: Table,
    /// What must hold.
    pub checks: Vec<Check>,
    /// Whether the table shows every check already, so that a report names only those that fail.
    pub checks_are_in_the_table: bool,
    /// The curves of the figure.
    pub series: Vec<Series>,
    /// How the figure is drawn.
    pub figure: FigureStyle,
}

impl Outcome {
    /// An outcome with a table, and no checks and curves yet.
    pub fn new(table: Table, figure: FigureStyle) -> Self {
        Self { table, checks: Vec::new(), checks_are_in_the_table: false, series: Vec::new(), figure }
    }

    /// The outcome of an experiment that could not be computed.
    fn failed(error: &ExperimentError) -> Self {
        let mut outcome = Self::new(Table::new::<&str>([]), FigureStyle::linear());
        outcome.check(Check::text("computation", "completes", error.to_string()));
        outcome
    }

    /// Adds a check.
    pub fn check(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Adds a curve.
    pub fn curve(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Whether every check holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}
