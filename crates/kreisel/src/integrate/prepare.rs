//! Prepares the state for a step of a certain size: at the start, after a corner, where the size changes.

use super::control::ControlHistory;
use super::error::StepError;
use super::first_order::StateParameters;
use super::integration::Integration;
use super::settings::{Method, Predictor, Settings, Start};
use super::start::{Side, starting_values};
use super::state::State;
use crate::constrained::KktFailure;
use crate::solve::newton::Refresh;

/// Steps that differ by less than this part are the same step.
const SAME_STEP: f64 = 1e-12;

/// A first acceleration that changes by less than this part is settled, and no more than this many times.
const SETTLED: f64 = 1e-10;
const MAX_REPETITIONS: usize = 50;

/// Values of the state that are prepared for a step of a certain size.
#[derive(Default)]
pub(super) struct Unprepared {
    step: f64,
    /// Whether the values below were kept: a further step of the same size changes none of them.
    kept: bool,
    velocity: Vec<f64>,
    algorithmic_acceleration: Vec<f64>,
    previous_algorithmic_acceleration: Vec<f64>,
    inertia_force: Vec<f64>,
    previous_inertia_force: Vec<f64>,
    algorithmic_state_rates: Vec<f64>,
    previous_algorithmic_state_rates: Vec<f64>,
    /// What the starting values of another step size change besides.
    internal_states: Vec<f64>,
    internal_rates: Vec<f64>,
    previous_state_rates: Vec<f64>,
    previous_velocity: Vec<f64>,
    previous_increment: Vec<f64>,
}

impl Integration<'_> {
    /// Computes a step without taking it; [`Integration::accept`] or [`Integration::discard`] ends it.
    ///
    /// After an error the state is as it was.
    pub(super) fn attempt(&mut self, step: f64) -> Result<usize, StepError> {
        self.attempt_with(step, |integration| {
            let outcome = integration.correct_or_yield(step);
            let iterations = outcome.or_else(|error| integration.correct_carefully(step, error))?;
            let settle = integration.state.step == 0.0
                && integration.settings.start == Start::Implicit
                && integration.settings.method != Method::Bdf2;
            Ok(iterations + if settle { integration.settle_first_acceleration(step)? } else { 0 })
        })
    }

    /// The same with another way to solve the equations from the predicted values.
    pub(super) fn attempt_with<R>(
        &mut self,
        step: f64,
        solve: impl FnOnce(&mut Self) -> Result<R, StepError>,
    ) -> Result<R, StepError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(StepError::Step(step));
        }
        self.keep_unprepared(step);
        let outcome = self.change_step(step).and_then(|()| {
            self.predict(step);
            solve(self)
        });
        if outcome.is_err() {
            self.discard();
        }
        outcome
    }

    /// Tries a step again from v̇ = 0 with a fresh matrix in each iteration: where stiff motions shake,
    /// accelerations of the last step are a bad guess. A step whose size the error decides on is cut instead.
    fn correct_carefully(&mut self, step: f64, error: StepError) -> Result<usize, StepError> {
        let may_help = matches!(error, StepError::NotConverged { .. } | StepError::NotFinite { .. });
        if !may_help || self.settings.error_control.is_some() {
            return Err(error);
        }
        let usual = self.settings;
        self.settings.predictor = Predictor::ZeroAcceleration;
        self.settings.newton.refresh = Refresh::EveryIteration;
        self.predict(step);
        let outcome = self.correct_or_yield(step);
        self.settings = usual;
        outcome.map_err(|_| error)
    }

    fn keep_unprepared(&mut self, step: f64) {
        let (before, state) = (&mut self.before, &self.state);
        before.step = state.prepared_step;
        let carries_on = state.step != 0.0
            && is_same_step(step, state.prepared_step)
            && matches!(self.settings.method, Method::Index3 | Method::Index2);
        before.kept = !carries_on;
        if carries_on {
            return;
        }
        before.velocity.clone_from(&state.base_velocity);
        before.algorithmic_acceleration.clone_from(&state.algorithmic_acceleration);
        before.previous_algorithmic_acceleration.clone_from(&state.previous_algorithmic_acceleration);
        before.inertia_force.clone_from(&state.inertia_force);
        before.previous_inertia_force.clone_from(&state.previous_inertia_force);
        before.algorithmic_state_rates.clone_from(&state.algorithmic_state_rates);
        before.previous_algorithmic_state_rates.clone_from(&state.previous_algorithmic_state_rates);
        before.internal_states.clone_from(&state.now.internal_states);
        before.internal_rates.clone_from(&state.now.internal_rates);
        before.previous_state_rates.clone_from(&state.previous_state_rates);
        before.previous_velocity.clone_from(&state.previous_velocity);
        before.previous_increment.clone_from(&state.previous_increment);
    }

    /// Takes a pending step back.
    pub(super) fn discard(&mut self) {
        let (before, state) = (&self.before, &mut self.state);
        state.prepared_step = before.step;
        if !before.kept {
            return;
        }
        state.base_velocity.clone_from(&before.velocity);
        state.algorithmic_acceleration.clone_from(&before.algorithmic_acceleration);
        state.previous_algorithmic_acceleration.clone_from(&before.previous_algorithmic_acceleration);
        state.inertia_force.clone_from(&before.inertia_force);
        state.previous_inertia_force.clone_from(&before.previous_inertia_force);
        state.algorithmic_state_rates.clone_from(&before.algorithmic_state_rates);
        state.previous_algorithmic_state_rates.clone_from(&before.previous_algorithmic_state_rates);
        state.now.internal_states.clone_from(&before.internal_states);
        state.now.internal_rates.clone_from(&before.internal_rates);
        state.previous_state_rates.clone_from(&before.previous_state_rates);
        state.previous_velocity.clone_from(&before.previous_velocity);
        state.previous_increment.clone_from(&before.previous_increment);
    }

    /// Prepares the state for a step of another size than the last.
    ///
    /// a_n approximates v̇ at t_n + Δ_α h and is moved along its line, M a likewise [JayNegrut2008, Eqs.
    /// (14)]. With `index3` the residual B v_n ≈ h² B r carries the error that keeps λ accurate and is
    /// rescaled by (h_new/h_old)². Before the first step the starting values are found anew.
    fn change_step(&mut self, step: f64) -> Result<(), StepError> {
        let before = self.state.prepared_step;
        let ratio = step / before;
        if is_same_step(step, before) {
            return self.rescale_past(step);
        }
        self.newton.forget();
        if self.state.step == 0.0 {
            let (time, side) = match self.state.after_corner {
                true => (self.state.now.time.next_up(), Side::After),
                false => (self.state.now.time, Side::Both),
            };
            self.kkt.set_states(&self.state.now.internal_states, &self.state.now.memory);
            return self.prepare_start(step, time, side).map_err(|failure| self.kkt_error(failure, step));
        }
        if self.settings.step_change.adjust_acceleration {
            let shift = self.settings.parameters.offset() * (ratio - 1.0);
            let state = &mut self.state;
            move_along(&mut state.algorithmic_acceleration, &state.previous_algorithmic_acceleration, shift);
            move_along(&mut state.inertia_force, &state.previous_inertia_force, shift);
            let state_shift = StateParameters::new(&self.settings.parameters).offset() * (ratio - 1.0);
            move_along(
                &mut state.algorithmic_state_rates,
                &state.previous_algorithmic_state_rates,
                state_shift,
            );
            if self.settings.method == Method::UpdatedLagrangian {
                let State { now, base_velocity, algorithmic_acceleration: a, .. } = state;
                let (space, change) = (&self.work.shape.space, shift * before);
                let v_dot = &now.acceleration;
                self.settings.parametrization.add_jerk_excess(space, change, base_velocity, v_dot, a);
            }
        }
        if self.settings.method == Method::Bdf2 {
            self.rescale_past(step)?;
        } else if self.settings.method.leaves_hidden_residual() && self.rescales_residual() {
            self.scale_hidden_residual(ratio * ratio, step)?;
        }
        self.state.prepared_step = step;
        Ok(())
    }

    fn rescales_residual(&self) -> bool {
        self.work.shape.constraint_count() > 0 && self.settings.step_change.rescale_residual
    }

    /// With `bdf2` the residual of the hidden constraints in v_n and v_{n−1} depends on the last two steps,
    /// and is rescaled to what the next step will have; a change of size therefore shows in two steps.
    fn rescale_past(&mut self, step: f64) -> Result<(), StepError> {
        if self.settings.method != Method::Bdf2 || self.state.step == 0.0 || !self.rescales_residual() {
            return Ok(());
        }
        let growth = self.state.residual_growth(step);
        if (growth - 1.0).abs() <= SAME_STEP {
            return Ok(());
        }
        self.scale_hidden_residual(growth, step)
    }

    /// Repeats the first step until a₀ = (1 − Δ_α) v̇₀ + Δ_α v̇₁ with its own v̇₁ [JayNegrut2008, Eq. (8)].
    ///
    /// Where M is constant this is the paper's M a_α = (1 − α) f₀ + α f₁. A change of a₀ comes back
    /// multiplied by 1/3 at most, the value for ρ∞ = 0.
    fn settle_first_acceleration(&mut self, step: f64) -> Result<usize, StepError> {
        let alpha = self.settings.parameters.offset();
        let mut iterations = 0;
        for _ in 0..MAX_REPETITIONS {
            let mut change = 0.0_f64;
            let mut size = 1.0_f64;
            let state = &mut self.state;
            for (i, a) in state.algorithmic_acceleration.iter_mut().enumerate() {
                let wanted =
                    (1.0 - alpha) * state.now.acceleration[i] + alpha * self.trial.values.acceleration[i];
                change = change.max((wanted - *a).abs());
                size = size.max(wanted.abs());
                *a = wanted;
            }
            state.previous_algorithmic_acceleration.copy_from_slice(&state.algorithmic_acceleration);
            state.settle_first_rates(&self.trial.values.internal_rates, &self.settings.parameters);
            state.inertia_force.clear();
            state.previous_inertia_force.clear();
            self.predict(step);
            iterations += self.correct(step)?;
            if change <= SETTLED * size {
                break;
            }
        }
        Ok(iterations)
    }

    /// Starts the method anew from the present position and velocity: after a corner or jump of an input,
    /// where the derivatives that the method carries along no longer hold.
    ///
    /// The velocity is projected onto the hidden constraints first, so a drive whose speed jumps moves the
    /// machine by the impulse that is smallest in the norm of the mass matrix.
    pub fn restart(&mut self) -> Result<(), StepError> {
        let (dae, state, kkt) = (self.dae, &mut self.state, &mut self.kkt);
        // Inputs that jump here must be seen after the jump.
        let time = state.now.time.next_up();
        kkt.set_states(&state.now.internal_states, &state.now.memory);
        let outcome = kkt
            .scale_hidden_residual(dae, time, &state.now.configuration, &mut state.base_velocity, 0.0)
            .and_then(|_| {
                self.state.now.velocity.copy_from_slice(&self.state.base_velocity);
                self.choose_and_prepare(time, Side::After)
            });
        self.state.step = 0.0;
        self.state.after_corner = true;
        self.state.stabilizers.fill(0.0);
        self.state.matrix_point = None;
        self.newton.forget();
        self.state.newton = self.newton.history();
        outcome.map_err(|failure| self.kkt_error(failure, self.state.prepared_step))
    }

    /// Chooses the first step if the error decides, and finds the starting values for it.
    pub(super) fn choose_and_prepare(&mut self, time: f64, side: Side) -> Result<(), KktFailure> {
        let step = match self.settings.error_control {
            Some(control) => {
                let step = self.choose_first_step(&control, time, side)?;
                self.state.control = ControlHistory::starting(step);
                step
            }
            None => self.settings.step,
        };
        self.prepare_start(step, time, side)
    }

    /// Starting values for a step of a size, from the velocity that is shown.
    fn prepare_start(&mut self, step: f64, time: f64, side: Side) -> Result<(), KktFailure> {
        let settings = Settings { step, ..self.settings };
        let state = &mut self.state;
        state.base_velocity.copy_from_slice(&state.now.velocity);
        state.prepared_step = step;
        starting_values(self.dae, &self.work.shape, &settings, state, time, side, &mut self.kkt)
    }

    /// Projects the velocity onto the hidden constraints with the smallest change in the norm of the mass
    /// matrix [ArnoldCardonaBruls2015Projection, Eqs. (7)].
    ///
    /// With `index3` this costs an order in the multipliers for some hundred steps: the residual it removes
    /// is what keeps them accurate [ArnoldCardonaBruls2015Projection, §3].
    pub fn project_velocity(&mut self) -> Result<(), StepError> {
        self.scale_hidden_residual(0.0, self.state.prepared_step)?;
        self.state.now.velocity.copy_from_slice(&self.state.base_velocity);
        Ok(())
    }

    /// Multiplies the residual of the hidden constraints; the velocity before changes as the present one
    /// does.
    fn scale_hidden_residual(&mut self, factor: f64, step: f64) -> Result<(), StepError> {
        let state = &mut self.state;
        self.kkt.set_states(&state.now.internal_states, &state.now.memory);
        let change = |past: &mut [f64], velocity: &[f64], sign: f64| {
            past.iter_mut().zip(velocity).for_each(|(past, v)| *past += sign * v);
        };
        change(&mut state.previous_velocity, &state.base_velocity, -1.0);
        let (configuration, velocity) = (&state.now.configuration, &mut state.base_velocity);
        let outcome =
            self.kkt.scale_hidden_residual(self.dae, state.now.time, configuration, velocity, factor);
        change(&mut state.previous_velocity, &state.base_velocity, 1.0);
        outcome.map(|_| ()).map_err(|failure| self.kkt_error(failure, step))
    }
}

fn is_same_step(step: f64, before: f64) -> bool {
    (step / before - 1.0).abs() <= SAME_STEP
}

/// Moves values along the line from the previous ones.
fn move_along(values: &mut [f64], previous: &[f64], shift: f64) {
    values.iter_mut().zip(previous).for_each(|(value, previous)| *value += shift * (*value - previous));
}
