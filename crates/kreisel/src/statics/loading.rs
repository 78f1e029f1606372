//! Load steps that fit themselves to the iteration.

use super::newton::{Failure, Solved};
use super::problem::Problem;
use super::{Ending, Equilibrium, LoadingResult, StaticSettings, StaticsError};
use crate::dae::Control;

/// Smallest load step, in units of the target.
const MIN_STEP: f64 = 1e-5;
/// A step that turned a node by more, in rad, may have jumped to another equilibrium and is shortened.
const MAX_TURN: f64 = 1.5;
/// A step that took no more iterations lets the next one grow.
const FEW_ITERATIONS: usize = 6;
/// Displacements per load have grown to this multiple of those at first where a limit point is near.
const LIMIT_GROWTH: f64 = 5.0;

/// Lets the loads grow to the target.
pub(super) fn load(
    problem: &mut Problem,
    start: Equilibrium,
    settings: &StaticSettings,
    watch: &mut impl FnMut(&Equilibrium) -> Control,
) -> Result<LoadingResult, StaticsError> {
    let mut now = start;
    problem.evaluate(&now).map_err(|equation| StaticsError::NotFinite {
        load_factor: 0.0,
        equation: problem.dae.describe(equation),
    })?;
    let is_loaded = problem.is_loaded();
    let mut is_equilibrium = false;
    let mut first_slope = None;
    // Without loads there is nothing to ramp. Where the unloaded machine is free (a pendulum) the loads hold
    // it.
    if is_loaded && let Ok(solved) = unloaded(problem, &now, settings) {
        first_slope = Some(problem.norm(&problem.load_correction[..problem.shape.velocity_count()]));
        now = accept(problem, solved).equilibrium;
        is_equilibrium = true;
        if watch(&now) == Control::Stop {
            return Ok(found(now, Ending::Stopped, Vec::new()));
        }
    }
    let target = settings.target;
    let mut step = if is_loaded { 1.0 / settings.load_steps as f64 } else { 1.0 };
    let mut reached = 0.0;
    loop {
        let mut goal: f64 = if reached + 1.001 * step >= 1.0 { 1.0 } else { reached + step };
        let guess = Equilibrium { load_factor: goal * target, ..now.clone() };
        let mut outcome = problem
            .newton(&guess, None, settings.tolerance, settings.max_iterations)
            .and_then(|solved| problem.with_new_couplings(solved, settings));
        if outcome.is_err() && !is_equilibrium {
            // There is no equilibrium to start from: look for one at the full load.
            let guess = Equilibrium { load_factor: target, ..now.clone() };
            goal = 1.0;
            outcome = problem
                .relax(&guess, settings)
                .and_then(|solved| problem.with_new_couplings(solved, settings))
                .or(outcome);
        }
        let turned = |solved: &Solved| is_equilibrium && problem.largest_turn(&solved.motion) > MAX_TURN;
        match outcome {
            Ok(solved) if !turned(&solved) => {
                problem.statistics.steps += 1;
                let quick = solved.corrections.len() <= FEW_ITERATIONS;
                let solved = accept(problem, solved);
                now = solved.equilibrium;
                is_equilibrium = true;
                if first_slope.is_none() {
                    first_slope = slope(problem, &now).map(|slope| slope.0);
                }
                let control = watch(&now);
                if goal == 1.0 {
                    return Ok(found(now, Ending::Reached, solved.corrections));
                }
                if control == Control::Stop {
                    return Ok(found(now, Ending::Stopped, solved.corrections));
                }
                reached = goal;
                step *= if quick { 2.0 } else { 1.0 };
            }
            outcome => {
                problem.statistics.rejected += 1;
                step = (goal - reached) * 0.25;
                if step < MIN_STEP || !is_loaded || !is_equilibrium {
                    let failure = outcome.err().unwrap_or(Failure::NotConverged {
                        iterations: settings.max_iterations,
                        correction: MAX_TURN,
                    });
                    return Err(explain(problem, &now, failure, first_slope, step * target));
                }
            }
        }
    }
}

/// The equilibrium without loads.
fn unloaded(
    problem: &mut Problem,
    start: &Equilibrium,
    settings: &StaticSettings,
) -> Result<Solved, Failure> {
    problem.newton(start, None, settings.tolerance, settings.max_iterations)
}

pub(super) fn accept(problem: &Problem, mut solved: Solved) -> Solved {
    problem.remember(&mut solved.equilibrium);
    solved
}

fn found(equilibrium: Equilibrium, ending: Ending, corrections: Vec<f64>) -> LoadingResult {
    LoadingResult { equilibrium, ending, limit_points: Vec::new(), corrections }
}

/// Size and direction of the displacement per load at an equilibrium.
fn slope(problem: &mut Problem, at: &Equilibrium) -> Option<(f64, Vec<f64>)> {
    problem.evaluate(at).ok()?;
    problem.factor(at).ok()?;
    let motion = problem.load_correction[..problem.shape.velocity_count()].to_vec();
    Some((problem.norm(&motion), motion))
}

/// Why the loads could not grow further.
pub(super) fn explain(
    problem: &mut Problem,
    now: &Equilibrium,
    failure: Failure,
    first_slope: Option<f64>,
    step: f64,
) -> StaticsError {
    let load_factor = now.load_factor;
    let worst = problem.worst();
    if let Failure::NotFinite(equation) = failure {
        return StaticsError::NotFinite { load_factor, equation: problem.dae.describe(equation) };
    }
    let attempt = Equilibrium { load_factor: load_factor + step, ..now.clone() };
    if let Some(direction) = problem.free_direction(&attempt) {
        return StaticsError::FreeDirection { load_factor, equation: problem.most_moved(&direction) };
    }
    if let (Some(first), Some((last, motion))) = (first_slope, slope(problem, now))
        && last > LIMIT_GROWTH * first
        && first > 0.0
    {
        return StaticsError::LimitPoint { load_factor, equation: problem.most_moved(&motion) };
    }
    match failure {
        Failure::Singular(unknown) => StaticsError::FreeDirection {
            load_factor,
            equation: problem.dae.describe(problem.layout.equation(unknown)),
        },
        Failure::NotFinite(equation) => {
            StaticsError::NotFinite { load_factor, equation: problem.dae.describe(equation) }
        }
        Failure::NotConverged { iterations, correction } => {
            StaticsError::NotConverged { load_factor, step, iterations, correction, worst }
        }
    }
}
