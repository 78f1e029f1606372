//! An integration under way: what it knows, one step, its acceptance.

use super::error::{StateError, StepError};
use super::formulation::{Formulation, Step};
use super::guess::{Guess, GuessErrors};
use super::interval::Scratch;
use super::prepare::Unprepared;
use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{Method, Settings};
use super::state::State;
use crate::constrained::{Kkt, KktFailure, Redundancy, StartReport, compliance};
use crate::dae::{Dae, Point, Values};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::{Newton, NewtonFailure, NonlinearSystem};

/// Work of an integration so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Newton iterations.
    pub iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Evaluations of the iteration matrix.
    pub matrices: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// Corrections halved by the line search.
    pub line_search_cuts: u64,
    /// Steps taken back because their error was too large.
    pub rejections: u64,
    /// Steps taken back because they could not be computed.
    pub failures: u64,
}

impl Statistics {
    /// How many counts there are.
    pub(crate) const COUNTS: usize = 8;

    /// All counts, in the order of the fields.
    pub(crate) fn counts(&self) -> [u64; Self::COUNTS] {
        let Self { steps, iterations, residuals, matrices, .. } = *self;
        let Self { factorisations, line_search_cuts, rejections, failures, .. } = *self;
        [steps, iterations, residuals, matrices, factorisations, line_search_cuts, rejections, failures]
    }

    /// The statistics with these counts.
    pub(crate) fn from_counts(counts: [u64; Self::COUNTS]) -> Self {
        let [steps, iterations, residuals, matrices, factorisations, line_search_cuts, rejections, failures] =
            counts;
        Self {
            steps,
            iterations,
            residuals,
            matrices,
            factorisations,
            line_search_cuts,
            rejections,
            failures,
        }
    }

    /// Work of this and another part of a run. Counts wrap, so that a part may also be taken away.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let others = other.counts();
        Self::from_counts(std::array::from_fn(|at| self.counts()[at].wrapping_add(others[at])))
    }

    /// Work of this run without that of a part.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let others = other.counts();
        Self::from_counts(std::array::from_fn(|at| self.counts()[at].wrapping_sub(others[at])))
    }
}

/// What one step took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Step size.
    pub step: f64,
    /// Newton iterations, those of steps taken back not counted.
    pub iterations: usize,
    /// Error of the step in units of the tolerance; 0 without error control.
    pub error: f64,
    /// Steps taken back before this one: too large an error, or not computed.
    pub rejections: usize,
    /// Condition number of the scaled iteration matrix in use; 0 unless [`Settings::report_condition`] asks
    /// for it.
    pub condition: f64,
}

/// An integration of a system, between two steps.
pub struct Integration<'d> {
    pub(super) dae: &'d dyn Dae,
    pub(super) settings: Settings,
    pub(super) state: State,
    /// Values before the last step, for interpolation.
    pub(super) previous: Values,
    /// Increment h Δq of the last step, for interpolation.
    pub(super) last_increment: Vec<f64>,
    /// Arrays of the interpolation.
    pub(super) scratch: Scratch,
    pub(super) trial: Trial,
    pub(super) work: Workspace,
    pub(super) formulation: Formulation,
    pub(super) newton: Newton,
    pub(super) kkt: Kkt,
    pub(super) mass_scale: f64,
    pub(super) stiffness_scale: f64,
    pub(super) start_report: StartReport,
    pub(super) redundancy: Redundancy,
    /// What a pending step changed in the state, as it was before.
    pub(super) before: Unprepared,
    /// Rates of the local error, one per velocity coordinate.
    pub(super) error_rates: Vec<f64>,
    pub(super) last_report: StepReport,
    pub(super) steps: u64,
    pub(super) rejections: u64,
    pub(super) failures: u64,
}

/// Unknowns up to which a condition number is found by singular values.
const MAX_EXACT: usize = 60;

/// Coordinates whose values are passed on while they are in the cache.
const AT_A_TIME: usize = 1024;

impl<'d> Integration<'d> {
    /// The system.
    pub fn dae(&self) -> &'d dyn Dae {
        self.dae
    }

    /// The settings in use.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// State after the last accepted step.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The solution after the last accepted step.
    pub fn values(&self) -> &Values {
        &self.state.now
    }

    /// Constraints that were found redundant at the start.
    pub fn redundancy(&self) -> &Redundancy {
        &self.redundancy
    }

    /// Constraints that share their reactions give way a little to them, so that the smallest ones are found.
    pub(super) fn set_redundancy(&mut self, redundancy: Redundancy) {
        self.work.compliance = compliance(self.dae, &redundancy);
        self.kkt.set_compliance(&self.work.compliance);
        self.redundancy = redundancy;
    }

    /// What was changed in the user's initial values.
    pub fn start_report(&self) -> &StartReport {
        &self.start_report
    }

    /// Takes over what was found at the start of the same integration.
    pub(crate) fn started_as(&mut self, start: &Self) {
        self.start_report.clone_from(&start.start_report);
        self.redundancy.clone_from(&start.redundancy);
    }

    /// Iterations of the linear solver over couplings that come and go, so far; zero while all of them are in
    /// the factors.
    pub fn dropped_block_iterations(&self) -> u64 {
        self.newton.counts().dropped_block_iterations
    }

    /// Work so far.
    pub fn statistics(&self) -> Statistics {
        let counts = self.newton.counts();
        Statistics {
            steps: self.steps,
            iterations: counts.iterations,
            residuals: counts.residuals,
            matrices: counts.matrices,
            factorisations: counts.matrices,
            line_search_cuts: counts.cuts,
            rejections: self.rejections,
            failures: self.failures,
        }
    }

    /// What the last accepted step took; zeros before the first.
    pub fn last_report(&self) -> StepReport {
        self.last_report
    }

    /// The scaled iteration matrix that was factored last.
    pub fn iteration_matrix(&self) -> &BlockMatrix {
        self.newton.matrix()
    }

    /// Estimate of the condition number of the scaled iteration matrix that was factored last, in the 1-norm.
    pub fn condition_estimate(&mut self) -> f64 {
        self.newton.condition_estimate()
    }

    /// Condition number of the scaled iteration matrix that was factored last: of the 2-norm by singular
    /// values for small systems, otherwise the estimate in the 1-norm.
    pub fn condition(&mut self) -> f64 {
        if self.newton.matrix().pattern().row_count() > MAX_EXACT {
            return self.condition_estimate();
        }
        let values = self.newton.matrix().to_dense().singular_values();
        if values.is_empty() { 1.0 } else { values.max() / values.min() }
    }

    /// What a step reports of the condition.
    pub(super) fn reported_condition(&mut self) -> f64 {
        if self.settings.report_condition { self.condition() } else { 0.0 }
    }

    /// Largest violation of the holonomic constraints at the present state.
    pub fn position_residual(&mut self) -> f64 {
        self.trial.increment.fill(0.0);
        self.copy_state_to_trial();
        self.work.evaluate(self.dae, &self.state.now.configuration, &mut self.trial);
        norm(&self.work.violation)
    }

    /// Violation κ of the nonholonomic constraints at the present state.
    pub fn nonholonomic_residual(&mut self) -> Vec<f64> {
        self.trial.increment.fill(0.0);
        self.copy_state_to_trial();
        self.work.evaluate(self.dae, &self.state.now.configuration, &mut self.trial);
        self.work.nonholonomic.clone()
    }

    /// Residual B v + Φ_t of the hidden constraints at the present state.
    pub fn velocity_residual(&mut self) -> Vec<f64> {
        self.copy_state_to_trial();
        self.trial.values.configuration.copy_from_slice(&self.state.now.configuration);
        let point = self.trial.point();
        let mut residual = vec![0.0; self.work.shape.constraint_count()];
        if self.work.shape.rheonomic {
            self.dae.violation_rate(&point, &mut residual);
        }
        self.work.tangent.gradient.fill(0.0);
        self.dae.gradient(&point, &mut self.work.tangent.gradient);
        self.work.tangent.gradient.multiply_add(1.0, &self.state.base_velocity, &mut residual);
        residual
    }

    fn copy_state_to_trial(&mut self) {
        self.trial.values.copy_from(&self.state.now);
        self.trial.values.velocity.copy_from_slice(&self.state.base_velocity);
    }

    /// First guess of Newton's iteration.
    pub(super) fn predict(&mut self, step: f64) {
        self.trial.predict(&self.state, &self.settings.parameters, self.settings.predictor, step);
        self.trial.values.time = self.state.time_after(step);
    }

    pub(super) fn kkt_error(&self, failure: KktFailure, step: f64) -> StepError {
        let time = self.state.now.time;
        match failure {
            KktFailure::Singular(equation) => {
                StepError::Singular { time, step, unknown: self.dae.describe(equation) }
            }
            KktFailure::NotFinite(equation) => {
                let equation = self.blamed(self.dae.describe(equation));
                StepError::NotFinite { time, step, equation }
            }
        }
    }

    /// An equation that is not finite together with the part that made it so, if that can be found.
    fn blamed(&self, equation: String) -> String {
        let trial = self.trial.point();
        // The iteration may have spread what is not finite over the trial values: the last state is looked at
        // as well.
        let state = &self.state;
        let last = state.point(trial.time, &state.now.memory);
        let now = Point { time: state.now.time, ..last };
        let part = [trial, last, now].iter().find_map(|at| self.dae.part_not_finite(at));
        crate::constrained::blame(equation, part)
    }

    pub(super) fn coefficients(&self, step: f64) -> Coefficients {
        Coefficients::new(&self.settings.parameters, step, self.mass_scale, self.stiffness_scale)
    }

    /// Newton's iteration from the predicted values.
    pub(super) fn correct(&mut self, step: f64) -> Result<usize, StepError> {
        let settings = self.settings.newton;
        self.solve_with(step, |equations, newton| newton.solve(equations, &settings))
    }

    /// Lets `solve` find the solution of a step from the predicted values.
    pub(super) fn solve_with<R>(
        &mut self,
        step: f64,
        solve: impl FnOnce(&mut dyn NonlinearSystem, &mut Newton) -> Result<R, NewtonFailure>,
    ) -> Result<R, StepError> {
        let coefficients = self.coefficients(step);
        self.work.set_round_off(&self.state.now.configuration);
        let (dae, settings, trial, work) = (self.dae, &self.settings, &mut self.trial, &mut self.work);
        self.formulation.prepare(dae, &work.shape, settings, step, &mut self.state);
        let may_keep = self.newton.may_keep(settings.newton.refresh);
        if self.state.matrix_point.is_none() {
            // Nobody could make these factors again from a saved state.
            self.newton.drop_factors();
        }
        self.state.matrix_point.take_if(|_| !may_keep);
        let matrix_point = may_keep.then(|| self.state.matrix_point.get_or_insert_default());
        let (time, base) = (self.state.now.time, &self.state.now.configuration);
        let step_data = Step { dae, settings, coefficients, time, base, trial, work, matrix_point };
        let newton = &mut self.newton;
        let outcome = self.formulation.with_equations(step_data, |equations| solve(equations, newton));
        let solved = outcome.map_err(|failure| {
            self.newton.forget();
            self.step_error(failure, step)
        })?;
        self.formulation.settle(&self.work.shape, &self.settings, &self.state, &mut self.trial);
        Ok(solved)
    }

    fn step_error(&self, failure: NewtonFailure, step: f64) -> StepError {
        let time = self.state.now.time + step;
        let name = |row: usize| self.dae.describe(self.work.layout.equation(row));
        match failure {
            NewtonFailure::NotConverged { iterations, norm, worst } => {
                StepError::NotConverged { time, step, iterations, norm, worst: name(worst) }
            }
            NewtonFailure::NotFinite { equation } => {
                StepError::NotFinite { time, step, equation: self.blamed(name(equation)) }
            }
            NewtonFailure::Singular { unknown } => StepError::Singular { time, step, unknown: name(unknown) },
        }
    }

    /// Finds a at the end of a step, into the scratch space, and the guess that would have been best for it.
    fn next_algorithmic_acceleration(&mut self) -> Guess {
        let parameters = &self.settings.parameters;
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let (state, trial, next) = (&self.state, &self.trial, &mut self.work.scratch);
        let mut errors = GuessErrors::new(parameters);
        for first in (0..next.len()).step_by(AT_A_TIME) {
            let places = first..(first + AT_A_TIME).min(next.len());
            let (v_dot, last) =
                (&trial.values.acceleration[places.clone()], &state.now.acceleration[places.clone()]);
            let a = &state.algorithmic_acceleration[places.clone()];
            let next = &mut next[places.clone()];
            match self.formulation.algorithmic_acceleration() {
                Some(own) => next.copy_from_slice(&own[places.clone()]),
                None => {
                    for (i, next) in next.iter_mut().enumerate() {
                        let force_level = (1.0 - alpha_f) * v_dot[i] + alpha_f * last[i];
                        *next = (force_level - alpha_m * a[i]) / (1.0 - alpha_m);
                    }
                }
            }
            let before = [
                &state.algorithmic_acceleration,
                &state.previous_algorithmic_acceleration,
                &state.earlier_algorithmic_acceleration,
                &state.earliest_algorithmic_acceleration,
            ];
            errors.add(v_dot, next, before.map(|values| &values[places.clone()]));
        }
        errors.best_guess()
    }

    /// Takes the trial values as the new state.
    pub(super) fn accept(&mut self, step: f64) {
        self.state.guess = self.next_algorithmic_acceleration();
        let (state, trial, previous) = (&mut self.state, &mut self.trial, &mut self.previous);
        // Values change places wherever they can: large machines wait for memory, not for numbers.
        let now = &mut state.now;
        previous.time = now.time;
        std::mem::swap(&mut previous.configuration, &mut now.configuration);
        let space = &self.work.shape.space;
        space.compose_exp(&previous.configuration, &trial.increment, &mut now.configuration);
        pass_on([
            &mut state.earliest_algorithmic_acceleration,
            &mut state.earlier_algorithmic_acceleration,
            &mut state.previous_algorithmic_acceleration,
            &mut state.algorithmic_acceleration,
            &mut self.work.scratch,
        ]);
        if self.settings.method == Method::Bdf2 {
            state.accept_past(&trial.increment, step);
        }
        let State { now, base_velocity, .. } = &mut *state;
        std::mem::swap(&mut previous.velocity, &mut now.velocity);
        std::mem::swap(base_velocity, &mut trial.values.velocity);
        now.velocity.copy_from_slice(base_velocity);
        pass_on([&mut previous.acceleration, &mut now.acceleration, &mut trial.values.acceleration]);
        previous.multipliers.copy_from_slice(&now.multipliers);
        pass_on([
            &mut state.earliest_multipliers,
            &mut state.earlier_multipliers,
            &mut state.previous_multipliers,
            &mut state.now.multipliers,
            &mut trial.values.multipliers,
        ]);
        pass_on([
            &mut previous.nonholonomic_multipliers,
            &mut state.now.nonholonomic_multipliers,
            &mut trial.values.nonholonomic_multipliers,
        ]);
        previous.internal_states.copy_from_slice(&state.now.internal_states);
        previous.internal_rates.copy_from_slice(&state.now.internal_rates);
        state.accept_states(trial, &self.settings.parameters);
        self.formulation.accept(state);
        std::mem::swap(&mut self.last_increment, &mut trial.increment);
        // The state may be one of another method at first.
        if trial.changed || self.steps == 0 {
            state.stabilizers.iter_mut().zip(&trial.stabilizers).for_each(|(eta, zeta)| *eta = zeta / step);
        }
        if !state.now.memory.is_empty() {
            previous.memory.copy_from_slice(&state.now.memory);
            let mut memory = std::mem::take(&mut state.now.memory);
            self.dae.remember(&state.point(trial.values.time, &trial.values.memory), &mut memory);
            state.now.memory = memory;
        }
        let renewed = self.dae.couplings_differ(&trial.values.memory, &state.now.memory);
        state.count_step(step);
        state.after_corner = false;
        state.prepared_step = step;
        state.newton = self.newton.history();
        if state.merged.step.is_none() {
            state.merged.step = self.newton.solver_mut().merged();
        }
        self.steps += 1;
        if renewed {
            self.renew_couplings();
        }
    }

    /// Lets the linear solvers order their work as before a state was saved.
    pub(super) fn restore_merged(&mut self) -> Result<(), StateError> {
        let solvers = [
            (&self.state.merged.step, self.newton.solver_mut()),
            (&self.state.merged.start, &mut self.kkt.system.solver),
        ];
        for (parts, solver) in solvers {
            if parts.as_ref().is_some_and(|parts| !solver.merge(parts)) {
                return Err(StateError::Damaged);
            }
        }
        Ok(())
    }

    /// Makes the factors again that a saved state was using.
    pub(super) fn restore_factors(&mut self) {
        let Some(point) = self.state.matrix_point.clone() else {
            return self.newton.set_history(self.state.newton);
        };
        let coefficients = self.coefficients(point.step);
        let trial = &mut self.trial;
        trial.increment.copy_from_slice(&point.increment);
        trial.values.copy_from(&point.values);
        trial.changed = true;
        trial.correction.copy_from_slice(&point.correction);
        trial.multiplier_changes.copy_from_slice(&point.multiplier_changes);
        trial.nonholonomic_multiplier_changes.copy_from_slice(&point.nonholonomic_multiplier_changes);
        trial.has_matrix = false;
        let (dae, settings, work) = (self.dae, &self.settings, &mut self.work);
        let (base, matrix_point, time) = (&point.base, None, point.values.time - point.step);
        let step = Step { dae, settings, coefficients, time, base, trial, work, matrix_point };
        let (velocity, memory) = (&point.base_velocity, self.state.newton);
        // Factors that cannot be made are made in the next step, which then says why it fails.
        let _ = self.formulation.restore(&mut self.newton, step, velocity, memory);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Gives every buffer the values of the one behind it, and the last one those of the first.
fn pass_on<const N: usize>(mut buffers: [&mut Vec<f64>; N]) {
    for first in 1..N {
        let (front, behind) = buffers.split_at_mut(first);
        std::mem::swap(front[first - 1], behind[0]);
    }
}
