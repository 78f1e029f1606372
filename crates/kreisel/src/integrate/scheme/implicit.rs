//! Steps that Newton's iteration solves for, and what is tried where it fails.
//!
//! Where constraints lose rank (all bars of a linkage on one line) the multipliers that keep the motion on
//! its branch grow like 1/δ with the distance δ to the position, and rounding errors grow like 1/δ² in them.
//! A step that fails there is tried again with all constraints a little compliant: multipliers stay bounded,
//! and the motion goes straight on, off its branch by no more than it would fall in one step. The next step
//! is an ordinary one and returns to the branch.
//!
//! Where constraints contradict each other compliant ones give way without bound, and the others never meet:
//! both are found and named.

use std::sync::Arc;

use super::super::error::{StateError, StepError};
use super::super::settings::{Predictor, Settings};
use super::super::state::State;
use super::work::{Coefficients, Workspace};
use super::{Item, Tools, Trial};
use crate::constrained::{
    ClosureFailure, ClosureGoal, KktFailure, Layout, Miss, compliance_of, misses, named,
};
use crate::dae::{Couplings, Dae, Point};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::{
    ContractionHistory, Newton, NewtonCounts, NewtonFailure, NewtonSettings, NonlinearSystem, Refresh,
};

/// Redundant constraints that give way by more than this part of the machine's length contradict each other:
/// reactions would have to throw it ten times as far in one step.
const CONTRADICTION: f64 = 1e-8;
/// As much for a step through a singular position, where a motion that leaves its branch by e violates
/// constraints by e².
const OFF_BRANCH: f64 = 1e-6;

/// The step that is solved for.
pub(super) struct Step<'a> {
    pub dae: &'a dyn Dae,
    pub settings: &'a Settings,
    pub coefficients: Coefficients,
    /// t_n.
    pub time: f64,
    /// q_n.
    pub base: &'a [f64],
    pub trial: &'a mut Trial,
    pub work: &'a mut Workspace,
    /// Where the matrix is evaluated, if that is to be noted.
    pub point: Option<&'a mut MatrixPoint>,
}

impl Step<'_> {
    /// [`Workspace::merge_forces`] of this step.
    pub fn merge_forces(&mut self, residual_too: bool, out: &mut BlockMatrix) -> bool {
        let Self { dae, settings, coefficients, trial, work, .. } = self;
        work.merge_forces(*dae, trial, coefficients, settings.iteration_matrix, residual_too, out)
    }

    /// Notes where a matrix was evaluated, with what the equations hold beside the trial values.
    pub fn note(&mut self, extras: &[&[f64]]) {
        let Some(point) = self.point.as_deref_mut() else { return };
        point.step = self.coefficients.step;
        point.base.copy_from_slice(self.base);
        point.trial.values.copy_from(&self.trial.values);
        point.trial.increment.copy_from_slice(&self.trial.increment);
        point.extras.iter_mut().zip(extras).for_each(|(to, from)| to.copy_from_slice(from));
    }
}

/// Arguments of the iteration matrix in use.
#[derive(Clone, Debug)]
pub(super) struct MatrixPoint {
    /// Step size.
    pub step: f64,
    /// Configuration at the start of that step.
    pub base: Vec<f64>,
    pub trial: Trial,
    /// What the equations hold beside the trial values and the matrix depends on.
    pub extras: Vec<Vec<f64>>,
}

/// The equations of a method's steps, with what they hold beside the trial values.
pub(super) trait StepEquations: Send + Sync {
    /// Shows the equations of a step to `visit`.
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem));

    /// Sets to zero what the equations hold beside the trial values, before an iteration.
    fn clear(&mut self) {}

    /// Turns the solution of a step into values on the group.
    fn settle(&mut self, on: &Tools, trial: &mut Trial) {
        let _ = (on, trial);
    }

    /// Raises scaled multipliers to those that belong to the same violations besides.
    fn raise_multipliers(&self, scale: f64, holonomic: &mut [f64], nonholonomic: &mut [f64]) {
        let _ = (scale, holonomic, nonholonomic);
    }

    /// Takes up what was noted with a matrix.
    fn restore(&mut self, on: &Tools, point: &MatrixPoint) {
        let _ = (on, point);
    }
}

/// Equations of a step whose residual and matrix are found apart, or at once where that is cheaper.
pub(super) trait TwoParts {
    fn residual(&mut self, out: &mut [f64]);
    fn matrix(&mut self, out: &mut BlockMatrix);

    /// Both.
    fn residual_and_matrix(&mut self, residual: &mut [f64], matrix: &mut BlockMatrix) {
        self.residual(residual);
        self.matrix(matrix);
    }

    /// What is wanted of them, for [`NonlinearSystem::evaluate`].
    fn evaluate_parts(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        match (residual, matrix) {
            (Some(residual), Some(matrix)) => self.residual_and_matrix(residual, matrix),
            (Some(residual), None) => self.residual(residual),
            (None, Some(matrix)) => self.matrix(matrix),
            (None, None) => {}
        }
    }
}

/// First guess of an iteration.
pub(super) type Guesser<'a> = dyn FnMut(&Workspace, Predictor, &mut Trial) + 'a;

/// Newton's iteration with all that it needs for a step.
pub(in crate::integrate) struct NewtonStep {
    pub(super) newton: Newton,
    pub(super) work: Workspace,
    /// Where the matrix in use was evaluated, if that was noted.
    point: MatrixPoint,
    has_point: bool,
    /// Parts of the matrix that are eliminated together with their neighbours because they are singular by
    /// themselves (massless bodies), which decides the rounding; absent before the first factorisation.
    merged: Option<Vec<usize>>,
}

/// Room for a step: the layout of its matrix and the sizes of what is noted beside the trial values.
pub(super) struct Room {
    pub layout: Layout,
    pub extras: Vec<usize>,
}

impl NewtonStep {
    pub(super) fn new(on: &Tools, couplings: &Couplings, room: Room) -> Self {
        let Room { layout, extras } = room;
        Self {
            newton: Newton::new(layout.pattern.clone(), &layout.roles),
            point: MatrixPoint {
                step: 0.0,
                base: vec![0.0; on.shape.space.coordinate_count()],
                trial: Trial::new(&on.shape),
                extras: extras.into_iter().map(|size| vec![0.0; size]).collect(),
            },
            has_point: false,
            merged: None,
            work: Workspace::new(Arc::clone(&on.shape), couplings, layout),
        }
    }

    /// The iteration itself.
    pub fn iteration(&mut self) -> &mut Newton {
        &mut self.newton
    }

    /// Where unknowns and equations stand.
    pub fn layout(&self) -> &Layout {
        &self.work.layout
    }

    /// Requests of the steps so far that were answered by differences.
    pub fn differenced(&self) -> u64 {
        self.work.differenced
    }

    /// Goes on counting from the work of another.
    pub(super) fn count_on(&mut self, counts: NewtonCounts, differenced: u64) {
        self.newton.count_on(counts);
        self.work.differenced = differenced;
    }

    /// Forgets matrix and factors: the next step has nothing to do with the last one.
    pub(super) fn forget(&mut self) {
        self.newton.forget();
        self.has_point = false;
    }

    /// Newton's iteration from a guess, and what may help where it fails.
    pub(super) fn solve_step<E: StepEquations>(
        &mut self,
        equations: &mut E,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
        guess: &mut Guesser,
    ) -> Result<usize, StepError> {
        let usual = on.settings;
        let error = match self.solve_or_comply(equations, on, &usual, state, step, trial, guess) {
            Ok(iterations) => return Ok(iterations),
            Err(error) => error,
        };
        // From v̇ = 0 with a fresh matrix in each iteration: where stiff motions shake, accelerations of the
        // last step are a bad guess. A step whose size the error decides on is cut instead.
        let may_help = matches!(error, StepError::NotConverged { .. } | StepError::NotFinite { .. });
        if !may_help || usual.error_control.is_some() {
            return Err(error);
        }
        let mut careful = Settings { predictor: Predictor::ZeroAcceleration, ..usual };
        careful.newton.refresh = Refresh::EveryIteration;
        self.solve_or_comply(equations, on, &careful, state, step, trial, guess).map_err(|_| error)
    }

    /// Newton's iteration, and a second one with compliant constraints if it fails.
    #[allow(clippy::too_many_arguments, reason = "a step and how it is solved for")]
    fn solve_or_comply<E: StepEquations>(
        &mut self,
        equations: &mut E,
        on: &mut Tools,
        settings: &Settings,
        state: &State,
        step: f64,
        trial: &mut Trial,
        guess: &mut Guesser,
    ) -> Result<usize, StepError> {
        self.work.compliance.clone_from(&state.compliance);
        let failure = match self.solve_once(equations, on, settings, state, step, trial, guess) {
            Ok(iterations) => {
                return self
                    .refuse_contradiction(equations, on, step, trial, CONTRADICTION)
                    .map(|()| iterations);
            }
            Err(failure @ (StepError::NotConverged { .. } | StepError::Singular { .. })) => failure,
            Err(failure) => return Err(failure),
        };
        if on.shape.constraint_count() == 0 {
            return Err(failure);
        }
        let weights = on.shape.weights_of_multipliers();
        self.work.compliance = weights.into_iter().map(compliance_of).collect();
        self.work.compliant_retry = true;
        let outcome =
            self.solve_once(equations, on, settings, state, step, trial, guess).and_then(|iterations| {
                self.refuse_contradiction(equations, on, step, trial, OFF_BRANCH).map(|()| iterations)
            });
        self.work.compliant_retry = false;
        self.work.compliance.clone_from(&state.compliance);
        // Factors of compliant constraints are of no use to the next step, nor to one after a restart.
        self.forget();
        outcome.map_err(|_| contradiction(on, state, step).unwrap_or(failure))
    }

    /// Newton's iteration from a guess.
    #[allow(clippy::too_many_arguments, reason = "a step and how it is solved for")]
    pub(super) fn solve_once<E: StepEquations>(
        &mut self,
        equations: &mut E,
        on: &Tools,
        settings: &Settings,
        state: &State,
        step: f64,
        trial: &mut Trial,
        guess: &mut Guesser,
    ) -> Result<usize, StepError> {
        let mut iterations = 0;
        let [balance, violation] = settings.residual_tolerances;
        let scale = Coefficients::new(settings, step).scale;
        let iteration = NewtonSettings { residual_limits: [balance / scale, violation], ..settings.newton };
        self.solve_by(equations, on, settings, state, step, trial, guess, &mut |equations, newton| {
            iterations = newton.solve(equations, &iteration)?;
            Ok(())
        })?;
        Ok(iterations)
    }

    /// Lets `solve` find the solution of a step from a guess.
    #[allow(clippy::too_many_arguments, reason = "a step and how it is solved for")]
    pub(super) fn solve_by<E: StepEquations>(
        &mut self,
        equations: &mut E,
        on: &Tools,
        settings: &Settings,
        state: &State,
        step: f64,
        trial: &mut Trial,
        guess: &mut Guesser,
        solve: &mut dyn FnMut(&mut dyn NonlinearSystem, &mut Newton) -> Result<(), NewtonFailure>,
    ) -> Result<(), StepError> {
        let Self { newton, work, point, has_point, .. } = self;
        equations.clear();
        work.begin();
        guess(work, settings.predictor, trial);
        trial.values.time = state.time_after(step);
        trial.values.memory.copy_from_slice(&state.now.memory);
        work.set_round_off(&state.now.configuration);
        if !*has_point {
            // Nobody could make these factors again from a saved state.
            newton.drop_factors();
        }
        *has_point = newton.may_keep(settings.newton.refresh);
        let step_data = Step {
            dae: on.dae,
            settings,
            coefficients: Coefficients::new(settings, step),
            time: state.now.time,
            base: &state.now.configuration,
            trial,
            work,
            point: has_point.then_some(point),
        };
        let mut outcome = Ok(());
        equations.show(step_data, &mut |equations| outcome = solve(equations, newton));
        if let Err(failure) = outcome {
            self.forget();
            return Err(self.step_error(on, failure, state, step, trial));
        }
        equations.settle(on, trial);
        Ok(())
    }

    fn step_error(
        &self,
        on: &Tools,
        failure: NewtonFailure,
        state: &State,
        step: f64,
        trial: &Trial,
    ) -> StepError {
        let time = state.now.time + step;
        let name = |row: usize| on.dae.describe(self.work.layout.equation(row));
        match failure {
            NewtonFailure::NotConverged { iterations, norm, worst } => {
                StepError::NotConverged { time, step, iterations, norm, worst: name(worst) }
            }
            NewtonFailure::NotFinite { equation } => {
                let equation = with_culprit(on.dae, name(equation), state, trial);
                StepError::NotFinite { time, step, equation }
            }
            NewtonFailure::Singular { unknown } => StepError::Singular { time, step, unknown: name(unknown) },
        }
    }

    /// Whether compliant constraints gave way by more than a part of the machine's length: where the
    /// equations hold, a constraint is violated by its compliance times its scaled multiplier.
    fn refuse_contradiction<E: StepEquations>(
        &mut self,
        equations: &E,
        on: &Tools,
        step: f64,
        trial: &Trial,
        part: f64,
    ) -> Result<(), StepError> {
        let work = &mut self.work;
        if work.compliance.is_empty() {
            return Ok(());
        }
        let (scale, tolerance) = (Coefficients::new(&on.settings, step).scale, part * work.sizes.length);
        let (holonomic, nonholonomic) = (&mut work.scratch.constraints, &mut work.scratch.nonholonomic);
        let values = &trial.values;
        holonomic.iter_mut().zip(&values.multipliers).for_each(|(out, value)| *out = value.abs() / scale);
        let multipliers = &values.nonholonomic_multipliers;
        nonholonomic.iter_mut().zip(multipliers).for_each(|(out, value)| *out = value.abs() / scale);
        equations.raise_multipliers(scale, holonomic, nonholonomic);
        let gaps = holonomic.iter_mut().chain(nonholonomic.iter_mut());
        gaps.zip(&work.compliance).for_each(|(gap, compliance)| *gap *= compliance);
        if holonomic.iter().chain(&*nonholonomic).all(|gap| gap.abs() <= tolerance) {
            return Ok(());
        }
        let gaps = [holonomic.as_slice(), nonholonomic.as_slice()].concat();
        let misses = named(on.dae, &misses(&on.shape, &gaps, tolerance));
        Err(StepError::Contradiction { time: values.time, step, misses })
    }

    /// Notes how the linear solver orders its work, once that is known.
    pub(super) fn accept(&mut self) {
        if self.merged.is_none() {
            self.merged = self.newton.solver_mut().merged();
        }
    }

    pub(super) fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let mut numbers = self.newton.history().numbers().to_vec();
        each("contraction of the iteration", Item::Numbers(&mut numbers));
        if let Ok(numbers) = numbers.try_into() {
            self.newton.set_history(ContractionHistory::from_numbers(numbers));
        }
        each("merged parts of the matrix", Item::Indices(&mut self.merged));
        each("whether a matrix is kept", Item::Flag(&mut self.has_point));
        if !self.has_point {
            return;
        }
        let MatrixPoint { step, base, trial, extras } = &mut self.point;
        each("step of the matrix", Item::Number(step));
        each("time of the matrix", Item::Number(&mut trial.values.time));
        each("base of the matrix", Item::Numbers(base));
        each("increment of the matrix", Item::Numbers(&mut trial.increment));
        for values in trial.values.vectors_mut() {
            each("values of the matrix", Item::Numbers(values));
        }
        for values in extras {
            each("values of the matrix", Item::Numbers(values));
        }
    }

    /// Makes the factors again that were in use.
    pub(super) fn resume<E: StepEquations>(
        &mut self,
        equations: &mut E,
        on: &Tools,
        state: &State,
    ) -> Result<(), StateError> {
        if self.merged.as_ref().is_some_and(|parts| !self.newton.solver_mut().merge(parts)) {
            return Err(StateError::Damaged);
        }
        if !self.has_point {
            return Ok(());
        }
        let Self { newton, work, point, .. } = self;
        work.compliance.clone_from(&state.compliance);
        work.begin();
        equations.restore(on, point);
        let mut trial = point.trial.clone();
        let step = Step {
            dae: on.dae,
            settings: &on.settings,
            coefficients: Coefficients::new(&on.settings, point.step),
            time: point.trial.values.time - point.step,
            base: &point.base,
            trial: &mut trial,
            work,
            point: None,
        };
        // Factors that cannot be made are made in the next step, which then says why it fails.
        equations.show(step, &mut |equations| {
            let history = newton.history();
            let _ = newton.restore(equations, history);
        });
        Ok(())
    }
}

/// Constraints that no position near the state satisfies at the end of a step, as an error; or one step
/// later, for a step that failed at the very end of the machine's reach.
pub(super) fn contradiction(on: &mut Tools, state: &State, step: f64) -> Option<StepError> {
    [1.0, 2.0].into_iter().find_map(|steps| {
        let time = state.now.time + steps * step;
        let misses = missed_at(on, state, time);
        (!misses.is_empty()).then_some(StepError::Contradiction { time, step, misses })
    })
}

/// Constraints that miss where the machine comes closest to satisfying them at a time.
fn missed_at(on: &mut Tools, state: &State, time: f64) -> Vec<Miss> {
    let mut configuration = state.now.configuration.clone();
    let length = on.shape.scales.length;
    let extent = configuration.iter().fold(length, |extent, value| extent.max(value.abs()));
    let goal = ClosureGoal::new(time, extent, &[], &[]);
    let mut change = vec![0.0; on.shape.velocity_count()];
    on.kkt.set_states(&state.now.internal_states, &state.now.memory);
    let outcome = on.kkt.project_position(on.dae, goal, &mut configuration, &mut change);
    let Err(ClosureFailure::Missed { mut misses, .. }) = outcome else { return Vec::new() };
    // What misses by less may be a singular position that the projection did not get out of.
    misses.retain(|miss| miss.1 > OFF_BRANCH * length);
    named(on.dae, &misses)
}

/// A failure of starting values or projections as one of a step.
pub(in crate::integrate) fn kkt_error(
    dae: &dyn Dae,
    failure: KktFailure,
    state: &State,
    step: f64,
    trial: &Trial,
) -> StepError {
    let time = state.now.time;
    match failure {
        KktFailure::Singular(equation) => StepError::Singular { time, step, unknown: dae.describe(equation) },
        KktFailure::NotFinite(equation) => StepError::NotFinite {
            time,
            step,
            equation: with_culprit(dae, dae.describe(equation), state, trial),
        },
    }
}

/// An equation that is not finite together with the part that made it so, if that can be found.
fn with_culprit(dae: &dyn Dae, equation: String, state: &State, trial: &Trial) -> String {
    let trial = trial.values.point();
    // The iteration may have spread what is not finite over the trial values: the last state is looked at as
    // well.
    let now = Point { velocity: state.base_velocity(), ..state.now.point() };
    let last = Point { time: trial.time, ..now };
    let part = [trial, last, now].iter().find_map(|at| dae.blame(at));
    crate::constrained::blame(equation, part)
}
