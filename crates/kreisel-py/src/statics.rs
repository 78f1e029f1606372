//! The equilibrium of a machine.

use crate::error;
use crate::function::Failure;
use crate::run::{Interrupt, Kept, Outcome};
use kreisel::dae::Control;
use kreisel::machine::Machine;
use kreisel::results::{EndStatus, ModelIdentity, RunSummary};
use kreisel::run::StaticRecorder;
use kreisel::statics::{PathSettings, StaticSettings};
use pyo3::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// How an equilibrium is looked for.
pub struct StaticRequest {
    /// Load factor to be reached.
    pub factor: f64,
    /// Load steps to begin with.
    pub load_steps: usize,
    /// Whether the path is followed by its arc length.
    pub arc_length: bool,
    /// Most points on the path.
    pub points: usize,
    /// Longest step along the path.
    pub path_step: Option<f64>,
}

/// Arrays over the load factor, and the reaction (torque, force) of every joint at the last equilibrium.
pub type StaticOutcome = (Outcome, Vec<(String, [f64; 6])>);

/// Finds the equilibrium; what was found on the way is given back however the search ended.
pub fn find_equilibrium(
    py: Python<'_>,
    machine: &Arc<Machine>,
    identity: &ModelIdentity,
    request: &StaticRequest,
    functions: &Failure,
) -> PyResult<StaticOutcome> {
    let settings = StaticSettings {
        target: request.factor,
        load_steps: request.load_steps,
        path: request
            .arc_length
            .then_some(PathSettings { max_points: request.points, max_step: request.path_step }),
        ..StaticSettings::default()
    };
    let began = Instant::now();
    let (kept, outcome, interrupted) = error::detached(py, || -> PyResult<_> {
        let mut recorder = StaticRecorder::new(machine, Kept::new(machine, true));
        let (mut interrupt, mut interrupted) = (Interrupt::new(), None);
        let outcome = machine.find_equilibrium(&settings, |at| {
            interrupted = interrupt.check();
            if interrupted.is_some() { Control::Stop } else { recorder.record(at) }
        });
        Ok((recorder.finish().map_err(|error| error::write(&error))?, outcome, interrupted))
    })??;
    let failure = interrupted.or_else(|| functions.take());
    let failure =
        failure.or_else(|| outcome.solution.as_ref().err().map(|error| error::statics(machine, error)));
    let mut summary = RunSummary::new(identity.clone());
    summary.wall_time = began.elapsed().as_secs_f64();
    summary.status = match &failure {
        None => EndStatus::Done,
        Some(failure) => EndStatus::Failed { message: failure.to_string() },
    };
    summary.settings = json!({ "factor": request.factor, "load-steps": request.load_steps,
        "arc-length": request.arc_length, "points": request.points });
    if let Some(step) = request.path_step {
        summary.settings["path-step"] = json!(step);
    }
    let displacement = outcome.last.as_ref().and_then(|at| machine.largest_displacement(at));
    let limits = outcome
        .solution
        .as_ref()
        .map(|found| found.limit_points.iter().map(|point| point.load_factor).collect::<Vec<f64>>());
    summary.statistics = json!({
        "iterations": outcome.statistics.iterations,
        "load-steps": outcome.statistics.steps,
        "limit-points": limits.unwrap_or_default(),
        "largest-displacement": displacement.as_ref().map(|(_, size)| size),
        "most-displaced": displacement.as_ref().map(|(name, _)| name),
    });
    summary.add_notes(&machine.static_notes(&outcome));
    summary.judge();
    summary.assumptions = machine.assumptions().to_vec();
    let reactions = outcome.last.as_ref().map(|at| machine.reactions(at)).unwrap_or_default();
    let reactions = reactions.into_iter().map(|(name, wrench)| (name, wrench.into())).collect();
    Ok((kept.arrays(py, &summary, failure), reactions))
}
