//! Load steps that fit themselves to the iteration.

use super::newton::{Failure, Solved};
use super::problem::Problem;
use super::{Ending, Equilibrium, LoadingResult, StaticSettings, StaticsError};
use crate::dae::Control;

/// Smallest load step, in units of the target. A choice of patience: a hundred thousand steps would follow,
/// and a limit point is near.
const MIN_STEP: f64 = 1e-5;
/// A step that turned a node by more, in rad, may have jumped to another equilibrium and is shortened.
const MAX_TURN: f64 = 1.5;
/// A step that took no more iterations lets the next one grow.
const FEW_ITERATIONS: usize = 6;
/// Displacements per load have grown to this multiple of those at first where a limit point is near. A
/// choice: they grow without bound there, and structures that stiffen have less than before.
const LIMIT_GROWTH: f64 = 5.0;

/// Motions below this, in lengths of the system and rad, leave a machine where it is: places typed with six
/// digits move by as much.
const NEAR: f64 = 1e-6;
/// Smallest step in which forces that do not balance are let go, in parts of them. A choice of patience, as
/// for load steps; there is no record to keep of these.
const MIN_RELEASE: f64 = 1e-3;

/// Brings the machine to the target: at once where it is drawn under its loads, or in steps from where it
/// rests without.
pub(super) fn load(
    problem: &mut Problem,
    start: Equilibrium,
    settings: &StaticSettings,
    watch: &mut impl FnMut(&Equilibrium) -> Control,
) -> Result<LoadingResult, StaticsError> {
    if let Err(equation) = problem.evaluate(&start) {
        let equation = problem.culprit(equation, &start);
        return Err(StaticsError::NotFinite { load_factor: 0.0, equation });
    }
    // Without loads there is nothing to ramp. Where the unloaded machine is free (a pendulum) the loads hold
    // it.
    let is_loaded = problem.is_loaded();
    let unloaded = if is_loaded { unloaded(problem, &start, settings).ok() } else { None };
    let slope = problem.norm(&problem.load_correction[..problem.shape.velocity_count()]);
    let rests = unloaded.as_ref().is_some_and(|solved| problem.largest(&solved.motion) <= NEAR);
    if is_loaded && !rests && settings.load_steps == 1 {
        // Preloads may carry the loads: the machine stands near its equilibrium, and far from one without
        // loads.
        let guess = Equilibrium { load_factor: settings.target, ..start.clone() };
        match problem.settled(&guess, settings) {
            Ok(solved) if problem.largest_turn(&solved.motion) <= MAX_TURN => {
                return Ok(finish(problem, solved, watch));
            }
            _ => problem.statistics.rejected += 1,
        }
    }
    let ramp = Ramp { is_loaded, first_slope: unloaded.is_some().then_some(slope) };
    let failure = match ramp.follow(problem, &start, unloaded, settings, watch) {
        Err(
            failure @ (StaticsError::NotConverged { .. }
            | StaticsError::FreeDirection { .. }
            | StaticsError::LostDigits { .. }),
        ) => failure,
        other => return other,
    };
    if is_loaded
        && !rests
        && let Ok(solved) = problem.release(&start, settings)
    {
        return Ok(finish(problem, solved, watch));
    }
    // What nothing but its loads holds, such as a rope, glides to where it hangs.
    if failure.is_at_start() {
        let guess = Equilibrium { load_factor: settings.target, ..start };
        let glided = problem.relax(&guess, settings);
        if let Ok(solved) = glided.and_then(|solved| problem.with_new_couplings(solved, settings)) {
            return Ok(finish(problem, solved, watch));
        }
    }
    Err(failure)
}

/// Takes an equilibrium at the target as what was looked for.
fn finish(
    problem: &mut Problem,
    solved: Solved,
    watch: &mut impl FnMut(&Equilibrium) -> Control,
) -> LoadingResult {
    problem.statistics.steps += 1;
    let solved = accept(problem, solved);
    watch(&solved.equilibrium);
    found(solved.equilibrium, Ending::Reached, solved.corrections)
}

/// Loads that grow step by step.
struct Ramp {
    is_loaded: bool,
    /// Displacement per load of the unloaded machine.
    first_slope: Option<f64>,
}

impl Ramp {
    fn follow(
        mut self,
        problem: &mut Problem,
        start: &Equilibrium,
        unloaded: Option<Solved>,
        settings: &StaticSettings,
        watch: &mut impl FnMut(&Equilibrium) -> Control,
    ) -> Result<LoadingResult, StaticsError> {
        let (mut now, mut is_equilibrium) = (start.clone(), false);
        if let Some(solved) = unloaded {
            now = accept(problem, solved).equilibrium;
            is_equilibrium = true;
            if watch(&now) == Control::Stop {
                return Ok(found(now, Ending::Stopped, Vec::new()));
            }
        }
        let target = settings.target;
        let count = if self.is_loaded { settings.load_steps } else { 1 };
        // As many steps are taken as were asked for; where one is too long it is cut, and what is left of it
        // grows again.
        let (mut done, mut reached, mut step) = (0, 0.0, 1.0);
        loop {
            let end = (done + 1) as f64 / count as f64;
            let goal = if reached + 1.001 * step / count as f64 >= end {
                end
            } else {
                reached + step / count as f64
            };
            let guess = Equilibrium { load_factor: goal * target, ..now.clone() };
            let outcome = problem.settled(&guess, settings);
            let turned = |solved: &Solved| is_equilibrium && problem.largest_turn(&solved.motion) > MAX_TURN;
            match outcome {
                Ok(solved) if !turned(&solved) => {
                    problem.statistics.steps += 1;
                    let quick = solved.corrections.len() <= FEW_ITERATIONS;
                    let solved = accept(problem, solved);
                    now = solved.equilibrium;
                    is_equilibrium = true;
                    if self.first_slope.is_none() {
                        self.first_slope = slope(problem, &now).map(|slope| slope.0);
                    }
                    let control = watch(&now);
                    done += usize::from(goal == end);
                    if done == count {
                        return Ok(found(now, Ending::Reached, solved.corrections));
                    }
                    if control == Control::Stop {
                        return Ok(found(now, Ending::Stopped, solved.corrections));
                    }
                    reached = goal;
                    step = if quick { (2.0 * step).min(1.0) } else { step };
                }
                outcome => {
                    problem.statistics.rejected += 1;
                    let shorter = (goal - reached) * 0.25;
                    step = shorter * count as f64;
                    if shorter < MIN_STEP || !self.is_loaded || !is_equilibrium {
                        let failure = outcome.err().unwrap_or(Failure::NotConverged {
                            iterations: settings.max_iterations,
                            correction: MAX_TURN,
                        });
                        return Err(explain(problem, &now, failure, self.first_slope, shorter * target));
                    }
                }
            }
        }
    }
}

impl Problem<'_> {
    /// The equilibrium near a guess, with the parts that touch there.
    fn settled(&mut self, guess: &Equilibrium, settings: &StaticSettings) -> Result<Solved, Failure> {
        self.newton(guess, None, settings.tolerance, settings.max_iterations)
            .and_then(|solved| self.with_new_couplings(solved, settings))
    }

    /// Brings the machine to its loads from a configuration whose forces do not balance: what is missing is
    /// added, and let go step by step. Loads and preloads then grow together.
    fn release(&mut self, start: &Equilibrium, settings: &StaticSettings) -> Result<Solved, Failure> {
        let mut now = Equilibrium { load_factor: settings.target, ..start.clone() };
        self.hold(&now)?;
        let (mut released, mut step, mut motion) = (0.0, 0.25, vec![0.0; self.shape.velocity_count()]);
        loop {
            let goal: f64 = if released + 1.001 * step >= 1.0 { 1.0 } else { released + step };
            self.held_part = 1.0 - goal;
            let outcome = self.settled(&now, settings);
            match outcome {
                Ok(mut solved) => {
                    motion.iter_mut().zip(&solved.motion).for_each(|(all, last)| *all += last);
                    if goal == 1.0 {
                        self.held_part = 0.0;
                        solved.motion = motion;
                        return Ok(solved);
                    }
                    let quick = solved.corrections.len() <= FEW_ITERATIONS;
                    now = accept(self, solved).equilibrium;
                    released = goal;
                    step *= if quick { 2.0 } else { 1.0 };
                }
                Err(failure) => {
                    self.statistics.rejected += 1;
                    step = 0.25 * (goal - released);
                    if step < MIN_RELEASE {
                        self.held_part = 0.0;
                        return Err(failure);
                    }
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
        return StaticsError::NotFinite { load_factor, equation: problem.culprit(equation, now) };
    }
    let attempt = Equilibrium { load_factor: load_factor + step, ..now.clone() };
    let soft = problem.soft_motion(&attempt);
    if let Some(soft) = soft.as_ref().filter(|soft| soft.is_free()) {
        return StaticsError::FreeDirection { load_factor, equation: problem.most_moved(&soft.motion) };
    }
    if let (Some(first), Some((last, motion))) = (first_slope, slope(problem, now))
        && last > LIMIT_GROWTH * first
        && first > 0.0
    {
        return StaticsError::LimitPoint { load_factor, equation: problem.most_moved(&motion) };
    }
    if let Some(soft) = soft {
        let equation = problem.most_moved(&soft.motion);
        return StaticsError::LostDigits { load_factor, ratio: 1.0 / soft.ratio, equation };
    }
    match failure {
        Failure::Singular(unknown) => StaticsError::FreeDirection {
            load_factor,
            equation: problem.dae.describe(problem.layout.equation(unknown)),
        },
        Failure::NotFinite(equation) => {
            StaticsError::NotFinite { load_factor, equation: problem.culprit(equation, now) }
        }
        Failure::NotConverged { iterations, correction } => {
            StaticsError::NotConverged { load_factor, step, iterations, correction, worst }
        }
    }
}
