//! An integration under way: one step at a time, interpolation between steps, changes of step size.

use super::error::{StartError, StateError, StepError};
use super::index2::{Index2, StabilizerProducts};
use super::index3::Index3;
use super::kkt::{Kkt, KktFailure};
use super::layout::Layout;
use super::observer::{Control, Observer};
use super::parameters::Stability;
use super::redundancy::Redundancy;
use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{Initial, Method, Settings};
use super::start::{Side, StartReport, assembled, check_initial, starting_state, starting_values};
use super::state::{MatrixPoint, State};
use super::updated_lagrangian::{LocalCoordinates, UpdatedLagrangian, node_without_coordinates};
use super::{GeneralizedAlpha, Sample};
use crate::dae::{Dae, Equation, Shape};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::{Newton, NewtonFailure};

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
}

/// What one step took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Step size.
    pub step: f64,
    /// Newton iterations.
    pub iterations: usize,
}

/// An integration of a system, between two steps.
pub struct Integration<'d, D: ?Sized> {
    dae: &'d D,
    settings: Settings,
    state: State,
    /// The state before the last step, for interpolation.
    previous: State,
    /// Increment h Δq of the last step, for interpolation.
    last_increment: Vec<f64>,
    trial: Trial,
    work: Workspace,
    products: Option<StabilizerProducts>,
    local: Option<LocalCoordinates>,
    newton: Newton,
    kkt: Kkt,
    mass_scale: f64,
    stiffness_scale: f64,
    start_report: StartReport,
    redundancy: Redundancy,
    steps: u64,
}

/// Compliance of redundant constraints against scaled multipliers. A reaction λ opens them by this part of λ h²/m, the way a
/// step would take without them: far below the error of the method, and still far above round-off in the pivots.
const COMPLIANCE: f64 = 1e-9;

/// Part of a step by which a sum of millions of steps may miss its end through rounding: a step so small would only
/// magnify it.
const SLIVER: f64 = 1e-6;

/// Steps that differ by less than this part are the same step.
const SAME_STEP: f64 = 1e-12;

/// How much earlier than a corner the inputs of the step that leads there are evaluated, in steps, if rounding of the
/// time allows: without effect on anything smooth.
const EARLY: f64 = 1e-12;

impl GeneralizedAlpha {
    /// Makes the initial values consistent and finds the method's starting values.
    pub fn start<'d, D: Dae + ?Sized>(
        &self,
        dae: &'d D,
        initial: Initial,
    ) -> Result<Integration<'d, D>, StartError> {
        let mut integration = self.prepare(dae)?;
        check_initial(dae, &integration.work.shape, &initial)?;
        integration.set_redundancy(Redundancy::find(dae, initial.time, &initial.configuration));
        let (shape, kkt) = (&integration.work.shape, &mut integration.kkt);
        let (configuration, mut report) = assembled(dae, shape, &initial, kkt)?;
        if report.position_change.iter().any(|change| *change != 0.0) {
            // Which constraints depend on others may differ where the machine fits together.
            integration.set_redundancy(Redundancy::find(dae, initial.time, &configuration));
        }
        let (shape, kkt) = (&integration.work.shape, &mut integration.kkt);
        let mut state =
            starting_state(dae, shape, &integration.settings, &initial, configuration, &mut report, kkt)?;
        state.compliance = integration.work.compliance.clone();
        integration.previous = state.clone();
        integration.state = state;
        integration.start_report = report;
        Ok(integration)
    }

    /// Goes on from a saved state, to the same bits as without interruption.
    pub fn resume<'d, D: Dae + ?Sized>(
        &self,
        dae: &'d D,
        state: State,
    ) -> Result<Integration<'d, D>, ResumeError> {
        let mut integration = self.prepare(dae)?;
        check_sizes(&integration.work.shape, &state)?;
        integration.kkt.set_states(&state.states, &state.memory);
        integration.kkt.set_compliance(&state.compliance);
        integration.work.compliance = state.compliance.clone();
        integration.previous = state.clone();
        integration.state = state;
        integration.restore_factors();
        Ok(integration)
    }

    fn prepare<'d, D: Dae + ?Sized>(&self, dae: &'d D) -> Result<Integration<'d, D>, StartError> {
        let settings = *self.settings();
        let (shape, couplings, scales) = (dae.shape(), dae.couplings(), dae.scales());
        check_settings(&settings, &shape)?;
        check_groups(&settings, dae, &shape)?;
        let mass_scale = settings.mass_scale.unwrap_or(scales.mass);
        let stiffness_scale = settings.stiffness_scale.unwrap_or(scales.stiffness);
        let (layout, products) = match settings.method {
            Method::Index3 | Method::UpdatedLagrangian => (Layout::new(&shape, &couplings, 1, []), None),
            Method::Index2 => {
                let (layout, products) = StabilizerProducts::new(&shape, &couplings);
                (layout, Some(products))
            }
        };
        let local = (settings.method == Method::UpdatedLagrangian)
            .then(|| LocalCoordinates::new(settings.parametrization, &shape, &couplings));
        Ok(Integration {
            dae,
            settings,
            state: State::default(),
            previous: State::default(),
            last_increment: vec![0.0; shape.velocity_count()],
            trial: Trial::new(&shape),
            newton: Newton::new(layout.pattern.clone(), &layout.roles),
            kkt: Kkt::new(dae, mass_scale),
            work: Workspace::new(dae, shape, &couplings, layout),
            products,
            local,
            mass_scale,
            stiffness_scale,
            start_report: StartReport::default(),
            redundancy: Redundancy::default(),
            steps: 0,
        })
    }
}

/// Why a saved state cannot be taken up.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum ResumeError {
    /// The settings do not suit the system.
    #[error(transparent)]
    Settings(#[from] StartError),
    /// The state is not one of this system.
    #[error(transparent)]
    State(#[from] StateError),
}

impl<'d, D: Dae + ?Sized> Integration<'d, D> {
    /// The system.
    pub fn dae(&self) -> &'d D {
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

    /// State before the last accepted step.
    pub fn previous(&self) -> &State {
        &self.previous
    }

    /// Constraints that were found redundant at the start.
    pub fn redundancy(&self) -> &Redundancy {
        &self.redundancy
    }

    /// Constraints that share their reactions give way a little to them, so that the smallest ones are found.
    fn set_redundancy(&mut self, redundancy: Redundancy) {
        self.work.compliance.clear();
        if !redundancy.is_none() {
            let mut weights = vec![1.0; self.work.shape.constraint_count()];
            self.dae.multiplier_weights(&mut weights);
            self.work.compliance.resize(weights.len(), 0.0);
            for &row in &redundancy.shared {
                self.work.compliance[row] = COMPLIANCE * weights[row] * weights[row];
            }
        }
        self.kkt.set_compliance(&self.work.compliance);
        self.redundancy = redundancy;
    }

    /// What was changed in the user's initial values.
    pub fn start_report(&self) -> &StartReport {
        &self.start_report
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
        }
    }

    /// The scaled iteration matrix that was factored last.
    pub fn iteration_matrix(&self) -> &BlockMatrix {
        self.newton.matrix()
    }

    /// Estimate of the condition number of the scaled iteration matrix that was factored last, in the 1-norm.
    pub fn condition_estimate(&mut self) -> f64 {
        self.newton.condition_estimate()
    }

    /// Largest violation of the holonomic constraints at the present state.
    pub fn position_residual(&mut self) -> f64 {
        self.trial.increment.fill(0.0);
        self.copy_state_to_trial();
        self.work.evaluate(self.dae, &self.state.configuration, &mut self.trial);
        norm(&self.work.violation)
    }

    /// Residual B v + Φ_t of the hidden constraints at the present state.
    pub fn velocity_residual(&mut self) -> Vec<f64> {
        self.copy_state_to_trial();
        self.trial.configuration.copy_from_slice(&self.state.configuration);
        let point = self.trial.point();
        let mut residual = vec![0.0; self.work.shape.constraint_count()];
        if self.work.shape.rheonomic {
            self.dae.violation_rate(&point, &mut residual);
        }
        self.work.tangent.gradient.fill(0.0);
        self.dae.gradient(&point, &mut self.work.tangent.gradient);
        self.work.tangent.gradient.multiply_add(1.0, &self.state.velocity, &mut residual);
        residual
    }

    fn copy_state_to_trial(&mut self) {
        let (trial, state) = (&mut self.trial, &self.state);
        trial.time = state.time;
        trial.velocity.copy_from_slice(&state.velocity);
        trial.acceleration.copy_from_slice(&state.acceleration);
        trial.multipliers.copy_from_slice(&state.multipliers);
        trial.slip_multipliers.copy_from_slice(&state.slip_multipliers);
        trial.states.copy_from_slice(&state.states);
        trial.memory.copy_from_slice(&state.memory);
    }

    /// One step of the settings' size.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.step_by(self.settings.step)
    }

    /// One step of the given size; on a change of size the state is corrected so that no order is lost.
    pub fn step_by(&mut self, step: f64) -> Result<StepReport, StepError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(StepError::Step(step));
        }
        self.change_step(step)?;
        self.trial.predict(&self.state, &self.settings.parameters, self.settings.predictor, step);
        let iterations = self.correct(step)?;
        self.accept(step);
        Ok(StepReport { step, iterations })
    }

    /// Steps of the settings' size until the end time, the last one shortened if need be.
    pub fn advance(&mut self, end: f64) -> Result<(), StepError> {
        self.run(end, &mut ())
    }

    /// Steps until the end time, showing every accepted step to an observer.
    pub fn run(&mut self, end: f64, observer: &mut impl Observer<D>) -> Result<(), StepError> {
        self.run_until(end, 0.0, observer)
    }

    /// Steps until a corner or jump of the inputs, the last step with the inputs as they are just before it.
    ///
    /// Call [`Integration::restart`] next: it sees them as they are just after.
    pub fn run_to_corner(&mut self, corner: f64, observer: &mut impl Observer<D>) -> Result<(), StepError> {
        let early = (EARLY * self.settings.step).max(4.0 * f64::EPSILON * corner.abs());
        self.run_until(corner, early, observer)
    }

    fn run_until(&mut self, end: f64, early: f64, observer: &mut impl Observer<D>) -> Result<(), StepError> {
        if end < self.state.time {
            return Err(StepError::EndBeforeNow { end, time: self.state.time });
        }
        while self.remaining(end) > 0.0 {
            let (remaining, step) = (self.remaining(end), self.settings.step);
            let last = remaining <= step * (1.0 + SLIVER);
            let length = if last && remaining < step * (1.0 - SLIVER) { remaining } else { step };
            self.step_by(if last { length - early } else { length })?;
            if last {
                self.state.time = end;
            }
            if observer.accepted(self) == Control::Stop {
                break;
            }
        }
        Ok(())
    }

    /// Starts the method anew from the present position and velocity: after a corner or jump of an input, where
    /// the derivatives that the method carries along no longer hold.
    ///
    /// The velocity is projected onto the hidden constraints first, so a drive whose speed jumps moves the
    /// machine by the impulse that is smallest in the norm of the mass matrix.
    pub fn restart(&mut self) -> Result<(), StepError> {
        let step = self.settings.step;
        let (dae, state, kkt) = (self.dae, &mut self.state, &mut self.kkt);
        // Inputs that jump here must be seen after the jump.
        let time = state.time.next_up();
        kkt.set_states(&state.states, &state.memory);
        let outcome = kkt
            .scale_hidden_residual(dae, time, &state.configuration, &mut state.velocity, 0.0)
            .and_then(|_| {
                state.shown_velocity.copy_from_slice(&state.velocity);
                starting_values(dae, &self.work.shape, &self.settings, state, time, Side::After, kkt)
            });
        state.step = 0.0;
        state.stabilizers.fill(0.0);
        self.newton.forget();
        outcome.map_err(|failure| self.kkt_error(failure, step))
    }

    fn kkt_error(&self, failure: KktFailure, step: f64) -> StepError {
        let time = self.state.time;
        match failure {
            KktFailure::Singular(equation) => {
                StepError::Singular { time, step, unknown: self.dae.describe(equation) }
            }
            KktFailure::NotFinite(equation) => {
                StepError::NotFinite { time, step, equation: self.dae.describe(equation) }
            }
        }
    }

    /// Time left until the end; a sliver that sums of steps miss it by is none.
    fn remaining(&self, end: f64) -> f64 {
        let remaining = end - self.state.time;
        if remaining <= SLIVER * self.settings.step { 0.0 } else { remaining }
    }

    /// Projects the velocity onto the hidden constraints with the smallest change in the norm of the mass
    /// matrix [ArnoldCardonaBruls2015Projection, Eqs. (7)].
    ///
    /// With `index3` this costs an order in the multipliers for some hundred steps: the residual it removes
    /// is what keeps them accurate [ArnoldCardonaBruls2015Projection, §3].
    pub fn project_velocity(&mut self) -> Result<(), StepError> {
        self.scale_hidden_residual(0.0, self.settings.step)?;
        self.state.shown_velocity.copy_from_slice(&self.state.velocity);
        Ok(())
    }

    fn scale_hidden_residual(&mut self, factor: f64, step: f64) -> Result<(), StepError> {
        let state = &mut self.state;
        self.kkt.set_states(&state.states, &state.memory);
        self.kkt
            .scale_hidden_residual(self.dae, state.time, &state.configuration, &mut state.velocity, factor)
            .map(|_| ())
            .map_err(|failure| self.kkt_error(failure, step))
    }

    /// Corrections on a change of step size from h_old to h_new.
    ///
    /// a_n approximates v̇ at t_n + Δ_α h and is moved along its line [JayNegrut2008, Eq. (14a)]. With `index3`
    /// the residual B v_n ≈ h² B r carries the error that keeps λ accurate and is rescaled by (h_new/h_old)².
    fn change_step(&mut self, step: f64) -> Result<(), StepError> {
        let old = if self.state.step > 0.0 { self.state.step } else { self.settings.step };
        let ratio = step / old;
        if (ratio - 1.0).abs() <= SAME_STEP {
            return Ok(());
        }
        self.newton.forget();
        let shift = self.settings.parameters.offset() * (ratio - 1.0);
        let previous = &self.state.previous_algorithmic_acceleration;
        for (a, previous) in self.state.algorithmic_acceleration.iter_mut().zip(previous) {
            *a += shift * (*a - previous);
        }
        if self.settings.method == Method::UpdatedLagrangian {
            let State { velocity, acceleration, algorithmic_acceleration, .. } = &mut self.state;
            let (space, parametrization) = (&self.work.shape.space, self.settings.parametrization);
            let factor = shift * old;
            parametrization.add_jerk_excess(space, factor, velocity, acceleration, algorithmic_acceleration);
        }
        if self.settings.method.is_index3() && self.work.shape.constraint_count() > 0 {
            self.scale_hidden_residual(ratio * ratio, step)?;
        }
        Ok(())
    }

    fn coefficients(&self, step: f64) -> Coefficients {
        Coefficients::new(&self.settings.parameters, step, self.mass_scale, self.stiffness_scale)
    }

    /// Newton's iteration from the predicted values.
    fn correct(&mut self, step: f64) -> Result<usize, StepError> {
        let coefficients = self.coefficients(step);
        self.work.set_round_off(&self.state.configuration);
        let matrix_point = self.state.matrix_point.get_or_insert_default();
        let base = &self.state.configuration;
        let (dae, settings, trial, work) = (self.dae, &self.settings, &mut self.trial, &mut self.work);
        let outcome = match &self.products {
            None => {
                let mut linear = Index3 { dae, settings, coefficients, base, trial, work, matrix_point };
                match &mut self.local {
                    None => self.newton.solve(&mut linear, &settings.newton),
                    Some(local) => {
                        self.newton.solve(&mut UpdatedLagrangian { linear, local }, &settings.newton)
                    }
                }
            }
            Some(products) => {
                let mut equations =
                    Index2 { dae, settings, coefficients, base, trial, work, products, matrix_point };
                equations.set_base_gradient(self.state.time);
                self.newton.solve(&mut equations, &settings.newton)
            }
        };
        outcome.map_err(|failure| {
            self.newton.forget();
            self.step_error(failure, step)
        })
    }

    fn step_error(&self, failure: NewtonFailure, step: f64) -> StepError {
        let time = self.state.time + step;
        let name = |row: usize| self.dae.describe(self.work.layout.equation(row));
        match failure {
            NewtonFailure::NotConverged { iterations, norm, worst } => {
                StepError::NotConverged { time, step, iterations, norm, worst: name(worst) }
            }
            NewtonFailure::NotFinite { equation } => {
                StepError::NotFinite { time, step, equation: name(equation) }
            }
            NewtonFailure::Singular { unknown } => StepError::Singular { time, step, unknown: name(unknown) },
        }
    }

    /// Takes the trial values as the new state.
    fn accept(&mut self, step: f64) {
        let parameters = &self.settings.parameters;
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        copy_solution(&self.state, &mut self.previous);
        let (state, trial) = (&mut self.state, &mut self.trial);
        state.previous_algorithmic_acceleration.copy_from_slice(&state.algorithmic_acceleration);
        for (i, a) in state.algorithmic_acceleration.iter_mut().enumerate() {
            let force_level = (1.0 - alpha_f) * trial.acceleration[i] + alpha_f * state.acceleration[i];
            *a = (force_level - alpha_m * *a) / (1.0 - alpha_m);
        }
        if let Some(local) = &mut self.local {
            local.settle(&self.work.shape.space, trial, &mut state.algorithmic_acceleration);
        }
        self.work.shape.space.compose_exp(
            &self.previous.configuration,
            &trial.increment,
            &mut state.configuration,
        );
        self.last_increment.copy_from_slice(&trial.increment);
        state.velocity.copy_from_slice(&trial.velocity);
        state.shown_velocity.copy_from_slice(&trial.velocity);
        state.acceleration.copy_from_slice(&trial.acceleration);
        state.multipliers.copy_from_slice(&trial.multipliers);
        state.stabilizers.iter_mut().zip(&trial.stabilizers).for_each(|(eta, zeta)| *eta = zeta / step);
        if !state.memory.is_empty() {
            trial.configuration.copy_from_slice(&state.configuration);
            self.dae.remember(&trial.point(), &mut state.memory);
        }
        state.time = trial.time;
        state.step = step;
        state.newton_rate = self.newton.rate();
        self.steps += 1;
    }

    /// Makes the factors again that a saved state was using.
    fn restore_factors(&mut self) {
        let Some(point) = self.state.matrix_point.clone() else { return };
        let coefficients = self.coefficients(point.step);
        let trial = &mut self.trial;
        trial.time = point.time;
        trial.increment.copy_from_slice(&point.increment);
        self.work.shape.space.compose_exp(&point.base, &point.increment, &mut trial.configuration);
        trial.velocity.copy_from_slice(&point.velocity);
        trial.acceleration.copy_from_slice(&point.acceleration);
        trial.multipliers.copy_from_slice(&point.multipliers);
        trial.memory.copy_from_slice(&point.memory);
        let mut noted = MatrixPoint::default();
        let (dae, settings, work) = (self.dae, &self.settings, &mut self.work);
        let (base, matrix_point) = (&point.base, &mut noted);
        // Factors that cannot be made are made in the next step, which then says why it fails.
        let _ = match &self.products {
            None => {
                let mut linear = Index3 { dae, settings, coefficients, base, trial, work, matrix_point };
                match &mut self.local {
                    None => self.newton.restore(&mut linear, self.state.newton_rate),
                    Some(local) => {
                        self.newton.restore(&mut UpdatedLagrangian { linear, local }, self.state.newton_rate)
                    }
                }
            }
            Some(products) => {
                let mut equations =
                    Index2 { dae, settings, coefficients, base, trial, work, products, matrix_point };
                equations.set_base_gradient(point.time - point.step);
                self.newton.restore(&mut equations, self.state.newton_rate)
            }
        };
    }

    /// Values at a time within the last step: on the group along q_n ∘ exp(ϑ h Δq̃) [ArnoldCardonaBruls2015,
    /// Remark 2.2], otherwise linear; second order in q, v and λ.
    pub fn interpolate(&self, time: f64, out: &mut Sample) {
        let (from, to) = (&self.previous, &self.state);
        let length = to.time - from.time;
        let part = if length > 0.0 { ((time - from.time) / length).clamp(0.0, 1.0) } else { 1.0 };
        out.time = time;
        let linear = |from: &[f64], to: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(from.iter().zip(to).map(|(from, to)| from + part * (to - from)));
        };
        out.increment.clear();
        out.increment.resize(self.work.shape.velocity_count(), 0.0);
        out.configuration.resize(from.configuration.len(), 0.0);
        if part == 1.0 || length <= 0.0 {
            out.configuration.copy_from_slice(&to.configuration);
        } else {
            out.increment.iter_mut().zip(&self.last_increment).for_each(|(x, d)| *x = part * d);
            self.work.shape.space.compose_exp(&from.configuration, &out.increment, &mut out.configuration);
        }
        linear(&from.shown_velocity, &to.shown_velocity, &mut out.velocity);
        linear(&from.acceleration, &to.acceleration, &mut out.acceleration);
        linear(&from.multipliers, &to.multipliers, &mut out.multipliers);
        linear(&from.slip_multipliers, &to.slip_multipliers, &mut out.slip_multipliers);
        linear(&from.states, &to.states, &mut out.states);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Copies what interpolation needs.
fn copy_solution(from: &State, to: &mut State) {
    to.time = from.time;
    to.configuration.copy_from_slice(&from.configuration);
    to.velocity.copy_from_slice(&from.velocity);
    to.shown_velocity.copy_from_slice(&from.shown_velocity);
    to.acceleration.copy_from_slice(&from.acceleration);
    to.multipliers.copy_from_slice(&from.multipliers);
    to.slip_multipliers.copy_from_slice(&from.slip_multipliers);
    to.states.copy_from_slice(&from.states);
}

fn check_settings(settings: &Settings, shape: &Shape) -> Result<(), StartError> {
    if !(settings.step > 0.0 && settings.step.is_finite()) {
        return Err(StartError::Step(settings.step));
    }
    let scales = [("mass-scale", settings.mass_scale.unwrap_or(1.0))];
    let tolerances = [("newton-rtol", settings.newton_rtol), ("newton-atol", settings.newton_atol)];
    for (name, value) in tolerances.into_iter().chain(scales) {
        if !(value > 0.0 && value.is_finite()) {
            return Err(StartError::Tolerance { name, value });
        }
    }
    if shape.slip_count() > 0 {
        return Err(StartError::Unsupported("nonholonomic constraints"));
    }
    if shape.state_count() > 0 {
        return Err(StartError::Unsupported("first-order states"));
    }
    let constrained = shape.constraint_count() > 0;
    match settings.parameters.stability() {
        _ if settings.allow_unstable => Ok(()),
        Stability::Unstable => Err(StartError::Unstable),
        Stability::Limit if constrained && settings.method.is_index3() => {
            Err(StartError::UndampedMultipliers)
        }
        Stability::Damped | Stability::Limit => Ok(()),
    }
}

fn check_groups<D: Dae + ?Sized>(settings: &Settings, dae: &D, shape: &Shape) -> Result<(), StartError> {
    match node_without_coordinates(&shape.space) {
        Some(node) if settings.method == Method::UpdatedLagrangian => {
            let first = Equation::Equilibrium(shape.space.velocity_range(node).start);
            Err(StartError::NoLocalCoordinates { equation: dae.describe(first) })
        }
        _ => Ok(()),
    }
}

fn check_sizes(shape: &Shape, state: &State) -> Result<(), StateError> {
    let (k, m) = (shape.velocity_count(), shape.constraint_count());
    let mut sizes = vec![
        ("configuration coordinates", state.configuration.len(), shape.space.coordinate_count()),
        ("velocity coordinates", state.velocity.len(), k),
        ("velocity coordinates", state.shown_velocity.len(), k),
        ("velocity coordinates", state.acceleration.len(), k),
        ("velocity coordinates", state.algorithmic_acceleration.len(), k),
        ("velocity coordinates", state.previous_algorithmic_acceleration.len(), k),
        ("constraints", state.multipliers.len(), m),
        ("constraints", state.stabilizers.len(), m),
        ("nonholonomic constraints", state.slip_multipliers.len(), shape.slip_count()),
        ("states", state.states.len(), shape.state_count()),
        ("remembered numbers", state.memory.len(), shape.memory),
    ];
    if !state.compliance.is_empty() {
        sizes.push(("constraints", state.compliance.len(), m));
    }
    if let Some(point) = &state.matrix_point {
        sizes.extend([
            ("configuration coordinates", point.base.len(), shape.space.coordinate_count()),
            ("velocity coordinates", point.increment.len(), k),
            ("velocity coordinates", point.velocity.len(), k),
            ("velocity coordinates", point.acceleration.len(), k),
            ("constraints", point.multipliers.len(), m),
            ("remembered numbers", point.memory.len(), shape.memory),
        ]);
    }
    match sizes.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(StateError::OtherSystem { what, found, expected }),
        None => Ok(()),
    }
}
