//! The generalized-α family: its past, first guess, change of step size and local error
//! [ArnoldCardonaBruls2015, Eqs. (37), (56)].
//!
//! ```text
//! q_{n+1} = q_n ∘ exp(h Δq̃_n)
//! Δq_n    = v_n + (½ − β) h a_n + β h a_{n+1}
//! v_{n+1} = v_n + (1 − γ) h a_n + γ h a_{n+1}
//! (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) v̇_{n+1} + α_f v̇_n
//! ```
//!
//! What a method of the family does with constraints is its [`Formulation`].

use super::super::control::ErrorControl;
use super::super::error::{StartError, StateError, StepError};
use super::super::integration::{KnownError, is_same_step};
use super::super::interval::Ends;
use super::super::judge::ErrorSize;
use super::super::saved::{read_history, write_history};
use super::super::settings::{Predictor, Settings, Start};
use super::super::state::{Clock, State};
use super::first_order::{RateHistory, StateParameters};
use super::guess::{Guess, GuessErrors};
use super::implicit::{NewtonStep, Room, StepEquations, kkt_error};
use super::parameters::Parameters;
use super::past_multipliers::PastMultipliers;
use super::start::Slopes;
use super::work::Workspace;
use super::{Item, Next, Scheme, StartPoint, Tools, Trial};
use crate::constrained::KktFailure;
use crate::dae::{Couplings, Values};
use crate::lie::Space;
use crate::solve::newton::{NewtonFailure, NonlinearSystem};

/// The error of a step shrinks with this power of its size.
const ERROR_ORDER: u32 = 3;

/// A first acceleration that changes by less than this part is settled, and no more than this many times: the
/// tolerance of Newton's iteration, with which each of them is found.
const SETTLED: f64 = 1e-10;
const MAX_REPETITIONS: usize = 50;

/// Coordinates whose values are passed on while they are in the cache.
const AT_A_TIME: usize = 1024;

/// A formulation of the constrained equations that the family discretises.
pub(super) trait Formulation: StepEquations + Sized + 'static {
    /// Whether velocity constraints are left to a residual B v ≈ h² B r, which the method then needs.
    const LEAVES_HIDDEN_RESIDUAL: bool;
    /// Whether the past consists of values: starting values are then always those of the exact solution.
    const HAS_PAST_VALUES: bool = false;
    /// Whether starting values need v⃛ and c⃛.
    const NEEDS_THIRD_DERIVATIVES: bool = false;

    /// Whether it can integrate a system.
    fn check(on: &Tools) -> Result<(), StartError> {
        let _ = on;
        Ok(())
    }

    /// Makes room for a system with these couplings.
    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self);

    /// Begins anew where further derivatives are known, if starting values need them.
    fn start(&mut self, on: &Tools, state: &State, step: f64, slopes: Option<&Slopes>) {
        let _ = (on, state, step, slopes);
    }

    /// Evaluates what is known before a step.
    fn prepare(&mut self, on: &Tools, base: &Base, step: f64) {
        let _ = (on, base, step);
    }

    /// a at the end of a step, if it does not follow from v̇.
    fn algorithmic_acceleration(&self) -> Option<&[f64]> {
        None
    }

    /// Takes what the next step needs of one that was computed; `next` is a at its end.
    fn accept(&mut self, base: &Base, step: f64, trial: &Trial, next: &[f64]) {
        let _ = (base, step, trial, next);
    }

    /// Names what it carries.
    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let _ = each;
    }

    /// How much larger the residual of the hidden constraints is to be where a step of a size follows one of
    /// the size `prepared`; absent if it is right as it is.
    fn residual_growth(&self, clock: &Clock, prepared: f64, step: f64) -> Option<f64> {
        let ratio = step / prepared;
        let changes = Self::LEAVES_HIDDEN_RESIDUAL && !is_same_step(step, prepared) && clock.step > 0.0;
        changes.then_some(ratio * ratio)
    }

    /// Adds `factor` times the difference between the third derivative of the local coordinates and v̈.
    fn add_jerk_excess(
        settings: &Settings,
        space: &Space,
        factor: f64,
        (velocity, acceleration): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        let _ = (settings, space, factor, velocity, acceleration, out);
    }

    /// Constant C_q of the local error C_q h³ v̈ in q.
    fn position_error_constant(parameters: &Parameters) -> f64 {
        parameters.position_error_constant()
    }

    /// What the local error in q has beside C_q h³ v̈, divided by h³: v̂ v̇/12 [ArnoldCardonaBruls2015, Eq.
    /// (69)].
    fn curvature_error(
        settings: &Settings,
        space: &Space,
        (velocity, acceleration): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        let _ = settings;
        space.hat_multiply(velocity, acceleration, out);
        out.iter_mut().for_each(|value| *value *= 1.0 / 12.0);
    }

    /// How much larger the local error of a step is than that of one after a step of the same size.
    fn error_growth(step: f64, before: f64) -> f64 {
        let _ = (step, before);
        1.0
    }

    /// How much of its local error, divided by h, a method adds to v₀ [ArnoldCardonaBruls2015, Table 2]; with
    /// third derivatives how much of the fourth one of the local coordinates.
    fn perturbation(step: f64) -> f64 {
        step * step
    }

    /// The local error of a method that is not of second order, and the power of the step with which it shrinks;
    /// `velocity` is the one at the end.
    fn own_error(
        &mut self,
        space: &Space,
        base: &Base,
        step: f64,
        velocity: &[f64],
        out: &mut [f64],
    ) -> Option<u32> {
        let _ = (space, base, step, velocity, out);
        None
    }
}

/// What a method of the family carries from step to step.
#[derive(Default)]
pub(super) struct Past {
    /// Size of the step for which a_n holds.
    pub step: f64,
    /// Algorithmic accelerations a_n ≈ v̇(t_n + Δ_α h), and those of the steps before.
    pub a: [Vec<f64>; 4],
    pub multipliers: PastMultipliers,
    /// How the next step is guessed.
    pub guess: Guess,
    pub rates: RateHistory,
}

/// What a change of step size makes of the past, for the step that is computed.
#[derive(Default)]
struct Prepared {
    /// Whether a and w are other than those of the past.
    moved: bool,
    /// By how many steps a was moved along its line.
    shift: Option<f64>,
    a: Vec<f64>,
    state_rates: Vec<f64>,
    /// Whether v was rescaled.
    rescaled: bool,
    velocity: Vec<f64>,
}

/// Where a step begins: the state and the past, as they are prepared for it.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub state: &'a State,
    /// v_n.
    pub velocity: &'a [f64],
    /// Whether the residual of the hidden constraints in v_n was rescaled for this step.
    pub rescaled: bool,
    /// a_n.
    pub a: &'a [f64],
    /// w_n of the states.
    state_rates: &'a [f64],
    /// By how many steps a_n was moved along its line.
    pub shift: Option<f64>,
}

impl<'a> Base<'a> {
    fn new(past: &'a Past, prepared: &'a Prepared, state: &'a State) -> Self {
        let Prepared { moved, rescaled, shift, .. } = *prepared;
        Self {
            state,
            velocity: if rescaled { &prepared.velocity } else { state.base_velocity() },
            rescaled,
            a: if moved { &prepared.a } else { &past.a[0] },
            state_rates: if moved { &prepared.state_rates } else { &past.rates.algorithmic },
            shift,
        }
    }
}

impl Past {
    /// Takes the values of another past of the same sizes.
    pub fn copy_from(&mut self, other: &Self) {
        (self.step, self.guess) = (other.step, other.guess);
        self.a.iter_mut().zip(&other.a).for_each(|(to, from)| to.clone_from(from));
        self.multipliers.copy_from(&other.multipliers);
        self.rates.copy_from(&other.rates);
    }

    /// First guess: values at t_n + h that satisfy the linear update formulas.
    fn predict(
        &self,
        base: &Base,
        parameters: &Parameters,
        predictor: Predictor,
        step: f64,
        algebraic: &[bool],
        trial: &mut Trial,
    ) {
        let Clock { step: last_step, .. } = base.state.clock;
        let now = &base.state.now;
        let line_ahead = match predictor {
            Predictor::LinearAcceleration | Predictor::Adaptive if last_step > 0.0 => step / last_step,
            _ => 0.0,
        };
        let values = &mut trial.values;
        self.rates.predict(base.state_rates, algebraic, parameters, (line_ahead, step), (now, values));
        let guess = self.guess.next(&base.state.clock, predictor, step);
        let ahead = step / last_step.max(f64::MIN_POSITIVE);
        let with_multipliers = predictor != Predictor::ZeroAcceleration;
        let [previous, earlier, earliest] = &self.multipliers.holonomic;
        for (i, lambda) in values.multipliers.iter_mut().enumerate() {
            let last = [now.multipliers[i], previous[i], earlier[i], earliest[i]];
            *lambda = if with_multipliers { guess.follow(last, ahead) } else { 0.0 };
        }
        for (psi, last) in values.nonholonomic_multipliers.iter_mut().zip(&now.nonholonomic_multipliers) {
            *psi = if with_multipliers { *last } else { 0.0 };
        }
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let (beta, gamma) = (parameters.beta(), parameters.gamma());
        let [_, previous, earlier, earliest] = &self.a;
        for i in 0..trial.increment.len() {
            let (v, a, v_dot) = (base.velocity[i], base.a[i], now.acceleration[i]);
            let (a_next, v_dot_next) = if guess == Guess::Zero {
                ((alpha_f * v_dot - alpha_m * a) / (1.0 - alpha_m), 0.0)
            } else {
                let a_next = guess.follow([a, previous[i], earlier[i], earliest[i]], ahead);
                (a_next, ((1.0 - alpha_m) * a_next + alpha_m * a - alpha_f * v_dot) / (1.0 - alpha_f))
            };
            trial.increment[i] = step * (v + step * ((0.5 - beta) * a + beta * a_next));
            values.velocity[i] = v + step * ((1.0 - gamma) * a + gamma * a_next);
            values.acceleration[i] = v_dot_next;
        }
    }

    /// Finds a at the end of a step, and the guess that would have been best for it.
    fn next_acceleration(
        &self,
        own: Option<&[f64]>,
        parameters: &Parameters,
        now: &Values,
        trial: &Trial,
        next: &mut [f64],
    ) -> Guess {
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let mut errors = GuessErrors::new(parameters);
        for first in (0..next.len()).step_by(AT_A_TIME) {
            let places = first..(first + AT_A_TIME).min(next.len());
            let (v_dot, last) =
                (&trial.values.acceleration[places.clone()], &now.acceleration[places.clone()]);
            let a = &self.a[0][places.clone()];
            let next = &mut next[places.clone()];
            match own {
                Some(own) => next.copy_from_slice(&own[places.clone()]),
                None => {
                    for (i, next) in next.iter_mut().enumerate() {
                        let force_level = (1.0 - alpha_f) * v_dot[i] + alpha_f * last[i];
                        *next = (force_level - alpha_m * a[i]) / (1.0 - alpha_m);
                    }
                }
            }
            errors.add(v_dot, next, self.a.each_ref().map(|values| &values[places.clone()]));
        }
        errors.best_guess()
    }
}

/// A method of the family.
pub(super) struct Alpha<F> {
    past: Past,
    prepared: Prepared,
    newton: NewtonStep,
    form: F,
    /// The local error, one per velocity coordinate.
    errors: Vec<f64>,
}

impl<F: Formulation> Alpha<F> {
    /// The method for a system with these couplings.
    pub fn boxed(on: &Tools, couplings: &Couplings) -> Result<Box<dyn Scheme>, StartError> {
        Ok(Box::new(Self::new(on, couplings)?))
    }

    /// The past, for a method that goes back to it.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Goes back to a past; what was computed since is of no use, unless the last step was taken.
    pub fn go_back(&mut self, to: &Past, is_taken: bool) {
        self.past.copy_from(to);
        if !is_taken {
            self.newton.newton.forget();
        }
    }

    /// The method for a system with these couplings.
    pub fn new(on: &Tools, couplings: &Couplings) -> Result<Self, StartError> {
        F::check(on)?;
        let (room, form) = F::new(on, couplings);
        let zeros = |count: usize| vec![0.0; count];
        let velocities = on.shape.velocity_count();
        let mut past = Past {
            a: std::array::from_fn(|_| zeros(velocities)),
            multipliers: PastMultipliers::new(&on.shape),
            ..Past::default()
        };
        past.rates.fit(on.shape.state_count());
        Ok(Self {
            past,
            prepared: Prepared::default(),
            newton: NewtonStep::new(on, couplings, room),
            form,
            errors: zeros(velocities),
        })
    }

    /// Prepares for a step, of another size than the last perhaps.
    ///
    /// a_n approximates v̇ at t_n + Δ_α h and is moved along its line, M a likewise [JayNegrut2008, Eqs.
    /// (14)]. With `index3` the residual B v_n ≈ h² B r carries the error that keeps λ accurate and is
    /// rescaled by (h_new/h_old)².
    fn prepare(&mut self, on: &mut Tools, state: &State, step: f64, trial: &Trial) -> Result<(), StepError> {
        let Self { past, prepared, newton, form, .. } = self;
        (prepared.moved, prepared.shift, prepared.rescaled) = (false, None, false);
        if !is_same_step(step, past.step) {
            newton.newton.forget();
            if on.settings.step_change.adjust_acceleration {
                prepared.change_step::<F>(past, on, state, step);
            }
        }
        let rescales = on.shape.constraint_count() > 0 && on.settings.step_change.rescale_residual;
        let growth = if rescales { form.residual_growth(&state.clock, past.step, step) } else { None };
        if let Some(factor) = growth {
            prepared.rescaled = true;
            prepared.velocity.clear();
            prepared.velocity.extend_from_slice(state.base_velocity());
            on.kkt.set_states(&state.now.internal_states, &state.now.memory);
            let Values { time, configuration, .. } = &state.now;
            let velocity = &mut prepared.velocity;
            let outcome = on.kkt.scale_hidden_residual(on.dae, *time, configuration, velocity, factor);
            outcome.map_err(|failure| kkt_error(on.dae, failure, state, step, trial))?;
        }
        form.prepare(on, &Base::new(past, prepared, state), step);
        Ok(())
    }

    /// Repeats the first step until a₀ = (1 − Δ_α) v̇₀ + Δ_α v̇₁ with its own v̇₁ [JayNegrut2008, Eq. (8)].
    ///
    /// Where M is constant this is the paper's M a_α = (1 − α) f₀ + α f₁. A change of a₀ comes back
    /// multiplied by 1/3 at most, the value for ρ∞ = 0.
    fn settle_first_acceleration(
        &mut self,
        on: &Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        let Self { past, prepared, newton, form, .. } = self;
        let (parameters, now) = (&on.settings.parameters, &state.now);
        let alpha = parameters.offset();
        if !prepared.moved {
            prepared.moved = true;
            prepared.a.clone_from(&past.a[0]);
            prepared.state_rates.clone_from(&past.rates.algorithmic);
        }
        let mut iterations = 0;
        for _ in 0..MAX_REPETITIONS {
            let (mut change, mut size) = (0.0_f64, 1.0_f64);
            for (i, a) in prepared.a.iter_mut().enumerate() {
                let wanted = (1.0 - alpha) * now.acceleration[i] + alpha * trial.values.acceleration[i];
                change = change.max((wanted - *a).abs());
                size = size.max(wanted.abs());
                *a = wanted;
            }
            let next_rates = &trial.values.internal_rates;
            RateHistory::settle(&mut prepared.state_rates, &now.internal_rates, next_rates, parameters);
            let base = Base::new(past, prepared, state);
            form.prepare(on, &base, step);
            let guess = &mut |work: &Workspace, predictor: Predictor, trial: &mut Trial| {
                past.predict(&base, parameters, predictor, step, &work.algebraic, trial);
            };
            iterations += newton.solve_once(form, on, &on.settings, state, step, trial, guess)?;
            if change <= SETTLED * size {
                break;
            }
        }
        Ok(iterations)
    }
}

impl Prepared {
    /// Moves a and w along their lines.
    fn change_step<F: Formulation>(&mut self, past: &Past, on: &Tools, state: &State, step: f64) {
        let (settings, change) = (&on.settings, step / past.step - 1.0);
        let shift = settings.parameters.offset() * change;
        (self.moved, self.shift) = (true, Some(shift));
        move_along(&past.a[0], &past.a[1], shift, &mut self.a);
        let state_shift = StateParameters::new(&settings.parameters).offset() * change;
        let rates = &past.rates;
        move_along(&rates.algorithmic, &rates.previous_algorithmic, state_shift, &mut self.state_rates);
        let motion = (state.base_velocity(), state.now.acceleration.as_slice());
        F::add_jerk_excess(settings, &on.shape.space, shift * past.step, motion, &mut self.a);
    }
}

impl<F: Formulation> Scheme for Alpha<F> {
    fn fit(&mut self, on: &Tools, couplings: &Couplings) {
        let carried = write_history(|each| self.form.history(each));
        let (room, form) = F::new(on, couplings);
        let (counts, differenced) = (self.newton.iteration().counts(), self.newton.differenced());
        self.form = form;
        self.newton = NewtonStep::new(on, couplings, room);
        self.newton.count_on(counts, differenced);
        // Sizes are those of the system, which stay.
        let _ = read_history(&carried, |each| self.form.history(each));
    }

    fn start(
        &mut self,
        on: &mut Tools,
        state: &mut State,
        step: f64,
        at: StartPoint,
    ) -> Result<(), KktFailure> {
        self.newton.forget();
        super::start::starting_values(&mut self.past, &mut self.form, on, state, step, at)
    }

    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        self.prepare(on, state, step, trial)?;
        let Self { past, prepared, newton, form, errors } = self;
        let base = Base::new(past, prepared, state);
        let parameters = on.settings.parameters;
        let guess = &mut |work: &Workspace, predictor: Predictor, trial: &mut Trial| {
            past.predict(&base, &parameters, predictor, step, &work.algebraic, trial);
        };
        let iterations = newton.solve_step(form, on, state, step, trial, guess)?;
        let Tools { shape, judge, known_error, .. } = on;
        let velocity = &trial.values.velocity;
        if form.own_error(&shape.space, &base, step, velocity, errors).is_some() {
            *known_error = Some(KnownError::Step(judge.sizes(shape, errors)));
        }
        let settles = state.clock.step == 0.0 && on.settings.start == Start::Implicit && !F::HAS_PAST_VALUES;
        Ok(iterations + if settles { self.settle_first_acceleration(on, state, step, trial)? } else { 0 })
    }

    fn accept(&mut self, on: &mut Tools, state: &State, step: f64, trial: &Trial) -> Next {
        let Self { past, prepared, newton, form, .. } = self;
        let parameters = &on.settings.parameters;
        if std::mem::replace(&mut prepared.moved, false) {
            std::mem::swap(&mut past.a[0], &mut prepared.a);
            std::mem::swap(&mut past.rates.algorithmic, &mut prepared.state_rates);
            if state.clock.step == 0.0 {
                let [a, previous, ..] = &mut past.a;
                previous.copy_from_slice(a);
                past.rates.previous_algorithmic.copy_from_slice(&past.rates.algorithmic);
            }
        }
        let now = &state.now;
        let next = &mut newton.work.scratch.nodes;
        past.guess = past.next_acceleration(form.algorithmic_acceleration(), parameters, now, trial, next);
        form.accept(&Base::new(past, prepared, state), step, trial, next);
        // Values change places wherever they can: large machines wait for memory, not for numbers.
        past.a.rotate_right(1);
        std::mem::swap(&mut past.a[0], next);
        past.multipliers.accept(now, step, trial.values.time);
        past.rates.accept(&now.internal_rates, &trial.values.internal_rates, parameters);
        past.step = step;
        newton.accept();
        let is_lost = F::LEAVES_HIDDEN_RESIDUAL
            && on.shape.constraint_count() > 0
            && is_far_below(step, &on.settings)
            && newton.work.loses_accelerations(&now.acceleration, step, looked_at(&on.settings));
        if is_lost { Next::Start } else { Next::GoOn }
    }

    fn error(
        &mut self,
        on: &Tools,
        state: &State,
        step: f64,
        trial: &Trial,
        control: &ErrorControl,
    ) -> ErrorSize {
        let Self { past, prepared, newton, form, errors } = self;
        let Tools { settings, shape, judge, .. } = on;
        let parameters = &settings.parameters;
        let (base, values) = (Base::new(past, prepared, state), &trial.values);
        let before = state.clock.step;
        let mut growth = 1.0;
        let order =
            form.own_error(&shape.space, &base, step, &values.velocity, errors).unwrap_or_else(|| {
                let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
                F::curvature_error(settings, &shape.space, (&values.velocity, &values.acceleration), errors);
                let constant = F::position_error_constant(parameters);
                // What a step does not resolve alternates from step to step: v̈ over two steps hardly sees it.
                let (earlier, width) =
                    if before > 0.0 { (past.a[1].as_slice(), step + before) } else { (base.a, step) };
                for (i, error) in errors.iter_mut().enumerate() {
                    let force_level =
                        (1.0 - alpha_f) * values.acceleration[i] + alpha_f * state.now.acceleration[i];
                    let next = (force_level - alpha_m * base.a[i]) / (1.0 - alpha_m);
                    *error = step.powi(3) * (constant * (next - earlier[i]) / width + *error);
                }
                growth = if before > 0.0 { F::error_growth(step, before) } else { 1.0 };
                if growth != 1.0 {
                    errors.iter_mut().for_each(|error| *error *= growth);
                }
                ERROR_ORDER
            });
        let follows_positions = F::LEAVES_HIDDEN_RESIDUAL && shape.constraint_count() > 0;
        let floor = newton.work.sizes.error_floor(follows_positions);
        let (now, estimate) = (&state.now, (errors.as_slice(), order));
        let mut error =
            judge.motion_error(shape, &now.configuration, control, estimate, floor * growth.max(1.0));
        let before = if before > 0.0 { before } else { past.step };
        let algebraic = &newton.work.algebraic;
        let errors = past.rates.errors(now, values, algebraic, parameters, (step, before));
        judge.add_state_errors(&values.internal_states, control, (errors, floor), &mut error);
        error
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let Past { step, a, multipliers, guess, rates } = &mut self.past;
        each("step of the past", Item::Number(step));
        let names = [
            "algorithmic acceleration",
            "previous algorithmic acceleration",
            "earlier algorithmic acceleration",
            "earliest algorithmic acceleration",
        ];
        names.into_iter().zip(a).for_each(|(name, values)| each(name, Item::Numbers(values)));
        multipliers.history(each);
        let mut number = *guess as u8;
        each("guess", Item::Byte(&mut number));
        *guess = Guess::from_number(number);
        rates.history(each);
        self.form.history(each);
        self.newton.history(each);
    }

    fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
        self.past.multipliers.resume(state.now.time);
        self.newton.resume(&mut self.form, on, state)
    }

    fn solve_with(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
        solve: &mut dyn FnMut(&mut dyn NonlinearSystem) -> Result<(), NewtonFailure>,
    ) -> Option<Result<(), StepError>> {
        if let Err(error) = self.prepare(on, state, step, trial) {
            return Some(Err(error));
        }
        let Self { past, prepared, newton, form, .. } = self;
        let base = Base::new(past, prepared, state);
        let parameters = &on.settings.parameters;
        let guess = &mut |work: &Workspace, predictor: Predictor, trial: &mut Trial| {
            past.predict(&base, parameters, predictor, step, &work.algebraic, trial);
        };
        let solve = &mut |equations: &mut dyn NonlinearSystem, _: &mut _| solve(equations);
        Some(newton.solve_by(form, on, &on.settings, state, step, trial, guess, solve))
    }

    fn newton(&mut self) -> Option<&mut NewtonStep> {
        Some(&mut self.newton)
    }

    /// Multipliers by the cubic through the last four ends of steps: steps may be large where the motion is
    /// simple.
    fn interpolate(&mut self, _: &mut Tools, within: &Ends, time: f64, out: &mut Values) {
        self.past.multipliers.interpolate(within, time, out);
    }
}

/// Fixed steps in the time in which a motion is looked at: a model without a step takes a thousandth of the
/// run.
const USUAL_STEPS: f64 = 1e3;
/// A step below this part of the one that was chosen was shortened to land on a time. Accelerations have the
/// round-off of an increment over h², so that down to here it grows by no more than 10⁴.
const SHORTENED: f64 = 1e-2;

/// Time in which a motion is looked at.
fn looked_at(settings: &Settings) -> f64 {
    settings.error_control.map_or(USUAL_STEPS * settings.step, |control| control.horizon)
}

/// Whether a step is far below those that a user chose: it was shortened to land on a time.
fn is_far_below(step: f64, settings: &Settings) -> bool {
    settings.error_control.is_some() || step < SHORTENED * settings.step
}

/// Values moved along the line from the previous ones.
fn move_along(values: &[f64], previous: &[f64], shift: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend(values.iter().zip(previous).map(|(value, previous)| value + shift * (value - previous)));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::dae::coupled::Coupled;
    use crate::dae::{Dae, Initial};
    use crate::integrate::{
        BDF2, Family, INDEX2, INDEX3, Integration, Integrator, Method, SCHEMES, SYMPLECTIC,
        UPDATED_LAGRANGIAN,
    };
    use crate::lie::Group;
    use crate::solve::block::{BlockMatrix, BlockPattern};

    fn parameters(method: Method) -> Parameters {
        if method.family() == Family::Hht {
            Parameters::hht(0.2).unwrap()
        } else {
            Parameters::chung_hulbert(0.4).unwrap()
        }
    }

    /// Largest difference between the iteration matrix and differences of the residual, relative to the
    /// matrix; zero for methods without one.
    fn deviation(dae: &dyn Dae, initial: Initial, method: Method) -> f64 {
        deviation_with(dae, initial, Settings::new(method, parameters(method), STEP))
    }

    /// A large step makes every term count.
    const STEP: f64 = 0.1;

    fn deviation_with(dae: &dyn Dae, initial: Initial, settings: Settings) -> f64 {
        let mut run = Integrator::with(settings).start(dae, initial).unwrap();
        run.tools.settings.mass_scale = Some(1.3);
        run.tools.settings.stiffness_scale = Some(0.7);
        let Some(newton) = run.scheme.newton() else { return 0.0 };
        let pattern = newton.layout().pattern.clone();
        let Integration { tools, scheme, state, trial, .. } = &mut run;
        let mut found = f64::NAN;
        scheme
            .solve_with(tools, state, STEP, trial, &mut |equations| {
                found = deviation_of(equations, &pattern);
                Ok(())
            })
            .unwrap()
            .unwrap();
        found
    }

    fn deviation_of(equations: &mut dyn NonlinearSystem, pattern: &Arc<BlockPattern>) -> f64 {
        let size = pattern.row_count();
        // Away from the predicted values, so that no multiplier and no correction is zero.
        let away: Vec<f64> = (0..size).map(|i| 0.02 * (1.0 + i as f64).sin()).collect();
        equations.correct(&away, 1.0);
        let mut residual = vec![0.0; size];
        equations.evaluate(Some(&mut residual), None);
        let mut matrix = BlockMatrix::zeros(Arc::clone(pattern));
        equations.evaluate(None, Some(&mut matrix));
        let (mut largest, mut entries) = (0.0_f64, 0.0_f64);
        for column in 0..size {
            let unit: Vec<f64> = (0..size).map(|i| f64::from(u8::from(i == column))).collect();
            let mut exact = vec![0.0; size];
            matrix.multiply_add(1.0, &unit, &mut exact);
            let distance = 1e-6;
            let mut at = |fraction: f64| {
                equations.correct(&unit, fraction);
                let mut values = vec![0.0; size];
                equations.evaluate(Some(&mut values), None);
                equations.correct(&unit, -fraction);
                values
            };
            let (forth, back) = (at(distance), at(-distance));
            for ((forth, back), exact) in forth.iter().zip(&back).zip(&exact) {
                let slope = (forth - back) / (2.0 * distance);
                largest = largest.max((slope - exact).abs());
                entries = entries.max(exact.abs());
            }
        }
        largest / entries
    }

    #[test]
    fn iteration_matrices_are_the_derivatives_of_the_equations_of_a_step() {
        // `updated-lagrangian` has neither local coordinates on SE(3) nor nonholonomic constraints,
        // `symplectic` not these either.
        let refuses = |method: Method, group: Group, general: bool| {
            method == UPDATED_LAGRANGIAN && (group == Group::Se3 || general)
                || method == SYMPLECTIC && general
        };
        for &method in SCHEMES {
            for group in [Group::Se3, Group::So3xR3] {
                let all = [Coupled::new(group), Coupled::general(group)].into_iter().zip([false, true]);
                for (coupled, _) in all.filter(|(_, general)| !refuses(method, group, *general)) {
                    let found = deviation(&coupled, coupled.initial(), method);
                    // Central differences over 1e-6 are good to nine digits.
                    assert!(found < 1e-7, "{method:?} on {coupled:?}: {found:e}");
                }
            }
        }
    }

    /// Two bodies, a hinge, a ball joint, and a damper that couples their velocities.
    const PENDULUM: &str = "
[simulation]
group = 'GROUP'
[[body]]
name = 'arm'
mass = 2
shape = { kind = 'box', size = [0.5, 0.1, 0.2] }
position = [0.25, 0, 0]
markers = [{ name = 'tip', position = [0.1, 0.2, 0.1] }]
[[body]]
name = 'bob'
mass = 3
shape = { kind = 'box', size = [0.4, 0.3, 0.1] }
position = [0.7, 0, 0]
markers = [{ name = 'side', position = [0.1, -0.3, 0.2] }]
[[revolute]]
name = 'hinge'
bodies = ['ground', 'arm']
point = [0, 0, 0]
axis = [0, 1, 0]
[[spherical]]
name = 'ball'
bodies = ['arm', 'bob']
point = [0.5, 0, 0]
[[spring-damper]]
name = 'damper'
bodies = ['arm.tip', 'bob.side']
stiffness = 40
damping = 7
";

    #[test]
    fn so_are_those_of_machines_which_merge_their_derivatives() {
        for method in [INDEX3, INDEX2] {
            for group in ["se3", "so3xr3"] {
                let text = PENDULUM.replace("GROUP", group);
                let machine = crate::machine::Machine::from_text("pendulum.toml", &text).unwrap();
                assert!(machine.system.shape().merges);
                let found = deviation(&machine.system, machine.initial.clone(), method);
                // Central differences, as above.
                assert!(found < 1e-7, "{method:?} on {group}: {found:e}");
            }
        }
    }

    #[test]
    fn so_are_those_of_every_form_and_scaling_of_bdf2() {
        use crate::integrate::{Form, Scaling};
        let scalings = [Scaling::Unscaled, Scaling::Left, Scaling::LeftRight, Scaling::LeftRightVelocities];
        for form in [Form::ThreeField, Form::TwoField] {
            for scaling in scalings {
                let usual = Settings::new(BDF2, parameters(BDF2), STEP);
                let settings = usual.with_option(form).with_option(scaling);
                let coupled = Coupled::general(Group::Se3);
                let found = deviation_with(&coupled, coupled.initial(), settings);
                // Central differences, as above.
                assert!(found < 1e-7, "{form:?} {scaling:?}: {found:e}");
            }
        }
    }
}
