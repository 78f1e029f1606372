//! Runs a machine from its start to its end, corner by corner.

use thiserror::Error;

use super::recorder::{Recorder, Trajectory};
use super::settings::{RunPlan, SettingsError};
use super::{Extremes, Machine};
use crate::integrate::{GeneralizedAlpha, Integration, Observer, StartError, Statistics, StepError};
use crate::results::WriteError;
use crate::system::System;

/// A run under way.
pub struct Run<'m> {
    integration: Integration<'m, System>,
    end_time: f64,
    /// Times strictly inside the run at which inputs are not smooth, the earliest last.
    corners: Vec<f64>,
    /// Whether the inputs have a corner where the run starts, and where it ends.
    corner_at_ends: [bool; 2],
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnding {
    /// At its end time.
    Done,
    /// Because an observer asked for it.
    Stopped,
    /// By a step that failed; the state is the one before.
    Failed(StepError),
}

/// Why a run in memory came to nothing.
#[derive(Debug, Error)]
pub enum RunError {
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The start failed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A record could not be kept.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Machine {
    /// Makes the initial values consistent and finds the starting values.
    pub fn start(&self, plan: &RunPlan) -> Result<Run<'_>, StartError> {
        let integration =
            GeneralizedAlpha::with(plan.integration).start(&self.system, self.initial.clone())?;
        let (start, end, step) = (plan.start_time, plan.end_time, plan.integration.step);
        let slack = SAME_TIME * step;
        let mut corners = self.system.corners(start - step, end + step);
        let corner_at_ends =
            [start, end].map(|time| corners.iter().any(|corner| (corner - time).abs() <= slack));
        corners.retain(|&corner| corner > start + slack && corner < end - slack);
        corners.dedup_by(|next, last| *next - *last <= slack);
        corners.reverse();
        Ok(Run { integration, end_time: end, corners, corner_at_ends })
    }

    /// Runs the machine with its own settings and keeps every signal in memory.
    pub fn simulate(&self) -> Result<Trajectory, RunError> {
        let plan = self.settings.plan()?;
        let mut run = self.start(&plan)?;
        let mut recorder = Recorder::new(self, plan.output_step, Trajectory::new(self));
        let ending = run.advance(&mut recorder);
        let trajectory = recorder.finish(run.integration())?;
        match ending {
            RunEnding::Failed(error) => Err(error.into()),
            RunEnding::Done | RunEnding::Stopped => Ok(trajectory),
        }
    }
}

/// Times that differ by less than this part of a step are the same.
const SAME_TIME: f64 = 1e-6;

impl<'m> Run<'m> {
    /// The integration as it stands.
    pub fn integration(&self) -> &Integration<'m, System> {
        &self.integration
    }

    /// Work so far.
    pub fn statistics(&self) -> Statistics {
        self.integration.statistics()
    }

    /// Runs to the end; steps land on corners of the inputs, where the method starts anew.
    pub fn advance(&mut self, observer: &mut impl Observer<System>) -> RunEnding {
        let [corner_at_start, corner_at_end] = self.corner_at_ends;
        if corner_at_start && let Err(error) = self.integration.restart() {
            return RunEnding::Failed(error);
        }
        observer.started(&self.integration);
        loop {
            let corner = self.corners.pop();
            let end = corner.unwrap_or(self.end_time);
            let outcome = if corner.is_some() || corner_at_end {
                self.integration.run_to_corner(end, observer)
            } else {
                self.integration.run(end, observer)
            };
            if let Err(error) = outcome {
                return RunEnding::Failed(error);
            }
            if self.integration.state().time != end {
                return RunEnding::Stopped;
            }
            if corner.is_none() {
                return RunEnding::Done;
            }
            if let Err(error) = self.integration.pass_corner() {
                return RunEnding::Failed(error);
            }
            observer.started(&self.integration);
        }
    }
}

/// What a run did, in numbers, as `run.json` keeps it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunStatistics {
    /// Number of bodies.
    pub bodies: usize,
    /// Number of velocity coordinates.
    pub velocity_coordinates: usize,
    /// Number of constraint equations.
    pub constraints: usize,
    /// Time that was reached, in s.
    pub time: f64,
    /// Accepted steps.
    pub steps: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Corrections halved by the line search.
    pub line_search_cuts: u64,
    /// Output times that were recorded.
    pub records: u64,
    /// How well energy and constraints were kept.
    #[serde(flatten)]
    pub extremes: Extremes,
}

impl RunStatistics {
    /// The numbers of a run and its recorder.
    pub fn new<S: super::recorder::Sink>(machine: &Machine, run: &Run, recorder: &Recorder<'_, S>) -> Self {
        use crate::dae::Dae;
        let shape = machine.system.shape();
        let counts = run.statistics();
        Self {
            bodies: machine.bodies.len(),
            velocity_coordinates: shape.velocity_count(),
            constraints: shape.constraint_count(),
            time: run.integration.state().time,
            steps: counts.steps,
            newton_iterations: counts.iterations,
            residuals: counts.residuals,
            factorisations: counts.factorisations,
            line_search_cuts: counts.line_search_cuts,
            records: recorder.count(),
            extremes: recorder.extremes(),
        }
    }
}
