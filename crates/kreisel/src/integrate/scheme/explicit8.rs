//! An explicit Runge–Kutta method of order 8 in local coordinates of the group.
//!
//! A step works in coordinates about q_n, q = q_n ∘ exp(θ̃), with θ = 0 at its start [MuntheKaas1999]:
//!
//! ```text
//! θ' = T⁻¹(θ) v,   v' and λ from | M  Bᵀ | | v' | = | −g |,   c' = h(q, v, c, λ, t)
//!                                | B  0  | | λ  |   | −γ |
//! ```
//!
//! by the tableau of [`super::dop853`]. Then q and v are moved onto the constraints, with the factors of the
//! end of the step, so that nothing drifts and no order is lost [HairerWanner1996, Section VII.2].
//! Multipliers are functions of q and v and have their order, since they are found after that. The same
//! factors serve for the accelerations there, which are the first stage of the next step: twelve
//! factorisations a step.
//!
//! Nothing is carried from step to step but the largest speed so far, against which errors of velocities are
//! judged, and what is known of [`super::stiffness`].

use super::super::control::ErrorControl;
use super::super::error::{StateError, StepError};
use super::super::integration::KnownError;
use super::super::interval::Ends;
use super::super::judge::ErrorSize;
use super::super::state::State;
use super::dop853::{A, ALL_STAGES, C, D, E3, E5, STAGES, StageWeights};
use super::implicit::{contradiction, kkt_error};
use super::lobatto::Lobatto;
use super::parameters::Parameters;
use super::stiffness::Stiffness;
use super::{Family, Item, Method, Next, Scheme, SchemeEntry, StartPoint, Tools, Trial};
use crate::constrained::{KktFailure, misses, named};
use crate::dae::{Equation, Values};

/// Explicit, of order 8 in q, v and λ: DOP853 in local coordinates, with accelerations from the index-1
/// equations and a projection after each step.
pub const EXPLICIT8: Method = Method(&SchemeEntry {
    word: "explicit8",
    doc: "is explicit and of order 8: for rigid machines without stiff parts, and the cheapest where much accuracy is wanted; it damps \
          nothing, and `spectral-radius` and the settings of Newton's iteration have no say",
    family: Family::Fixed,
    leaves_hidden_residual: false,
    max_turn: MAX_TURN,
    max_turn_se3: MAX_TURN,
    order: ORDER,
    error_constant: None,
    one_size: false,
    options: &[],
    suit: |settings| settings.parameters = Parameters::chung_hulbert(0.0).unwrap_or(settings.parameters),
    new: |on, _| Ok(Box::new(Explicit8::new(on))),
});

/// Largest turn in a step, in rad: T⁻¹ is singular at a whole one.
const MAX_TURN: f64 = 4.0;
/// Largest turn in a step where angles are counted from one step to the next, in rad: of two parts that turn
/// against each other each may take a quarter of a turn.
const MAX_COUNTED_TURN: f64 = 1.5;
/// Largest turn of a stage in units of that.
const STAGE_TURN: f64 = 1.375;

/// Order of the error in the size of the step.
const ORDER: u32 = 8;

/// Redundant constraints that miss by more than this part of the machine's length contradict each other.
const CONTRADICTION: f64 = 1e-8;

pub(super) struct Explicit8 {
    /// Rates of θ, v and c at all stages, one after the other.
    rates: Vec<f64>,
    /// Sum of rates with weights.
    sum: Vec<f64>,
    /// Values at a stage, with θ.
    stage: Trial,
    /// As long as v.
    room: Vec<f64>,
    /// The estimate of order 3.
    second_estimate: Vec<f64>,
    /// Error of the step that was computed last, if the error decides on its size.
    error: ErrorSize,
    /// Whether that step was brought onto the constraints: one that is too large is not.
    is_finished: bool,
    /// Largest turn in a step, in rad.
    max_turn: f64,
    /// Largest speed so far, in 1/s.
    speed: f64,
    dense: Dense,
    pub stiffness: Stiffness,
}

/// The polynomials of the last step.
struct Dense {
    /// Where it began, and its size.
    time: f64,
    step: f64,
    is_ready: bool,
    /// Seven coefficients of θ, v and c, one after the other.
    coefficients: Vec<f64>,
    /// What follows from these by the equations: v̇, λ, ċ and algebraic states. Large steps hold many output
    /// times.
    rest: Lobatto,
    /// Whether that is smooth within the step; the equations are solved at each time otherwise.
    is_smooth: bool,
}

/// All numbers of a state that the equations give, in one order.
fn solved(values: &mut Values) -> impl Iterator<Item = &mut f64> {
    let Values {
        acceleration, multipliers, nonholonomic_multipliers, internal_rates, internal_states, ..
    } = values;
    let parts = [acceleration, multipliers, nonholonomic_multipliers, internal_rates, internal_states];
    parts.into_iter().flatten()
}

impl Explicit8 {
    pub fn new(on: &Tools) -> Self {
        let shape = &on.shape;
        let size = 2 * shape.velocity_count() + shape.state_count();
        Self {
            rates: vec![0.0; ALL_STAGES * size],
            sum: vec![0.0; size],
            stage: Trial::new(shape),
            room: vec![0.0; shape.velocity_count()],
            second_estimate: vec![0.0; size],
            error: ErrorSize { size: 0.0, worst: Equation::Equilibrium(0), order: ORDER },
            is_finished: false,
            max_turn: {
                let follows = if shape.memory > 0 { MAX_COUNTED_TURN } else { MAX_TURN };
                follows * on.settings.error_control.map_or(1.0, |control| control.turn_part.min(1.0))
            },
            speed: 0.0,
            dense: Dense {
                time: f64::NAN,
                step: 0.0,
                is_ready: false,
                coefficients: vec![0.0; 7 * size],
                rest: Lobatto::new(solved(&mut Values::zeros(shape)).count()),
                is_smooth: false,
            },
            stiffness: Stiffness::new(shape),
        }
    }

    /// Finds the fastest motions at any values.
    pub fn look_around(&mut self, on: &mut Tools, step: f64, at: &Values) -> Result<(), KktFailure> {
        let values = &mut self.stage.values;
        values.copy_from(at);
        on.kkt.accelerate(on.dae, values)?;
        self.stiffness.look_around(on, step, values);
        Ok(())
    }

    /// Values of the stage at hand.
    pub fn values(&self) -> &Values {
        &self.stage.values
    }

    /// Takes the rates of a stage: T⁻¹(θ) v, v̇ and ċ. False where T⁻¹ does not exist.
    fn take_rates(&mut self, on: &Tools, index: usize, of: &Values, increment: &[f64]) -> bool {
        let (size, count) = (self.sum.len(), of.velocity.len());
        let rates = &mut self.rates[index * size..][..size];
        let (turns, rest) = rates.split_at_mut(count);
        let (accelerations, states) = rest.split_at_mut(count);
        accelerations.copy_from_slice(&of.acceleration);
        states.copy_from_slice(&of.internal_rates);
        on.shape.space.inverse_tangent_multiply(increment, &of.velocity, turns).is_ok()
    }

    /// Puts the sum of rates with weights in its place.
    fn add_up(rates: &[f64], weights: StageWeights, sum: &mut [f64]) {
        sum.fill(0.0);
        for &(stage, weight) in weights {
            let rates = &rates[stage * sum.len()..][..sum.len()];
            sum.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += weight * rate);
        }
    }

    /// Moves to a stage of a step from given values; accelerations, multipliers and algebraic states stay as
    /// first guesses. Gives the largest turn in rad, with the node.
    fn move_to(&mut self, on: &Tools, from: &Values, index: usize, step: f64) -> (f64, usize) {
        Self::add_up(&self.rates, A[index], &mut self.sum);
        let Trial { values, increment } = &mut self.stage;
        let count = increment.len();
        let (turns, rest) = self.sum.split_at(count);
        let (accelerations, states) = rest.split_at(count);
        increment.iter_mut().zip(turns).for_each(|(x, rate)| *x = step * rate);
        let from_and_rate = from.velocity.iter().zip(accelerations);
        values.velocity.iter_mut().zip(from_and_rate).for_each(|(v, (from, rate))| *v = from + step * rate);
        let from_and_rate = from.internal_states.iter().zip(states);
        let differential = values.internal_states.iter_mut().zip(on.shape.algebraic_states());
        for ((c, algebraic), (from, rate)) in differential.zip(from_and_rate) {
            if !algebraic {
                *c = from + step * rate;
            }
        }
        values.time = from.time + C[index] * step;
        on.shape.space.compose_exp(&from.configuration, increment, &mut values.configuration);
        on.judge.turns.largest(increment)
    }

    /// Computes the stages of a step but the first. An early end is a turn that no step follows.
    fn compute_stages(
        &mut self,
        on: &mut Tools,
        from: &Values,
        stages: std::ops::Range<usize>,
        step: f64,
    ) -> Result<Option<(f64, usize)>, KktFailure> {
        for index in stages {
            let turn = self.move_to(on, from, index, step);
            if turn.0 > STAGE_TURN * self.max_turn {
                return Ok(Some(turn));
            }
            on.kkt.accelerate_unseen(on.dae, &mut self.stage.values)?;
            let stage = std::mem::take(&mut self.stage);
            let exists = self.take_rates(on, index, &stage.values, &stage.increment);
            self.stage = stage;
            if !exists {
                return Ok(Some(turn));
            }
        }
        Ok(None)
    }

    /// The error of a step whose stages are computed and whose end is the stage at hand
    /// [HairerNorsettWanner1993, Section II.10].
    fn estimate(&mut self, on: &Tools, step: f64, control: &ErrorControl) -> (ErrorSize, KnownError) {
        let Tools { shape, judge, .. } = on;
        Self::add_up(&self.rates, E5, &mut self.sum);
        Self::add_up(&self.rates, E3, &mut self.second_estimate);
        let end = &self.stage.values;
        // What is slower moves by less than the tolerance allows in the time that is looked at.
        let speed = self.speed.max(judge.speed(shape, &end.velocity)).max(1.0 / control.horizon);
        let size = |changes: &[f64]| {
            let (positions, rest) = changes.split_at(self.room.len());
            let (velocities, states) = rest.split_at(self.room.len());
            let changes = [positions, velocities, states];
            judge.largest_part(shape, changes, speed, &end.internal_states, ORDER)
        };
        let (fifth, third) = (size(&self.sum), size(&self.second_estimate).size);
        let both = (fifth.size * fifth.size + 0.01 * third * third).sqrt();
        // Squares of errors below 1e-154, as of a machine that a lock holds, are none.
        let estimate = if both > 0.0 { step * fifth.size * fifth.size / both } else { fifth.size };
        let part = if both > 0.0 { step * fifth.size / both } else { 0.0 };
        let known = judge.sizes(shape, &self.sum[..self.room.len()]).map(|size| part * size);
        (ErrorSize { size: estimate / control.rtol, ..fifth }, KnownError::Step(known))
    }

    /// Brings the end of a step onto the constraints, and finds accelerations and multipliers there.
    fn finish(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<(), StepError> {
        let Trial { values, increment } = trial;
        let is_free = on.shape.constraint_count() + on.shape.nonholonomic_count() == 0;
        let base = &state.now.configuration;
        let found = if is_free {
            on.kkt.accelerate(on.dae, values).map(|()| true)
        } else {
            on.kkt
                .factor_moving(on.dae, values)
                .and_then(|()| on.kkt.project_nearby(on.dae, base, values, increment, &mut self.room))
        };
        let failed = |failure: KktFailure, trial: &Trial| kkt_error(on.dae, failure, state, step, trial);
        match found {
            Ok(true) => {}
            Ok(false) => {
                let unknown = on.dae.describe(Equation::Constraint(on.kkt.worst_violation()));
                let lost = StepError::Singular { time: values.time, step, unknown };
                return Err(contradiction(on, state, step).unwrap_or(lost));
            }
            Err(failure) => return Err(failed(failure, trial)),
        }
        if is_free {
            return Ok(());
        }
        let tolerance = CONTRADICTION * on.shape.scales.length;
        let violation = on.kkt.yielding_violation(on.dae, values);
        if violation.iter().any(|gap| gap.abs() > tolerance) {
            let misses = named(on.dae, &misses(&on.shape, violation, tolerance));
            return Err(StepError::Contradiction { time: values.time, step, misses });
        }
        let found = on.kkt.accelerate_nearby(on.dae, values);
        found.map_err(|failure| kkt_error(on.dae, failure, state, step, trial))
    }

    /// A turn counts like an error that is 1 where it is too large, so that the next step does not turn
    /// further than it may.
    fn turn_error(&self, (angle, node): (f64, usize)) -> ErrorSize {
        let size = (angle / self.max_turn).powi(ORDER as i32);
        ErrorSize { size, worst: Equation::Node(node), order: ORDER }
    }

    /// Why a step could not be computed: a motion that is too fast for it, or what was found.
    fn failure(&self, on: &Tools, state: &State, step: f64, found: StepError) -> StepError {
        self.stiffness.failure(on, state, step).unwrap_or(found)
    }

    /// Coefficients of the polynomials within the last step [HairerNorsettWanner1993, Section II.6].
    fn prepare_dense(&mut self, on: &mut Tools, within: &Ends) -> bool {
        let step = self.dense.step;
        self.stage.values.copy_from(within.from);
        let stages = STAGES + 1..ALL_STAGES;
        if !matches!(self.compute_stages(on, within.from, stages, step), Ok(None)) {
            return false;
        }
        let (size, count) = (self.sum.len(), self.room.len());
        let (from, to) = (within.from, within.to);
        let change = |i: usize| match i {
            i if i < count => within.increment[i],
            i if i < 2 * count => to.velocity[i - count] - from.velocity[i - count],
            i => to.internal_states[i - 2 * count] - from.internal_states[i - 2 * count],
        };
        let (first, last) = (&self.rates[..size], &self.rates[STAGES * size..][..size]);
        let (ends, inner) = self.dense.coefficients.split_at_mut(3 * size);
        for i in 0..size {
            let (change, first, last) = (change(i), step * first[i], step * last[i]);
            ends[i] = change;
            ends[size + i] = first - change;
            ends[2 * size + i] = 2.0 * change - first - last;
        }
        for (weights, out) in D.into_iter().zip(inner.chunks_exact_mut(size)) {
            Self::add_up(&self.rates, weights, out);
            out.iter_mut().for_each(|value| *value *= step);
        }
        true
    }

    /// What follows from the polynomials at some times within the last step: at few of them where these show
    /// it as well as the step itself is known.
    fn prepare_rest(&mut self, on: &mut Tools, within: &Ends) {
        let mut values = std::mem::take(&mut self.stage.values);
        let mut rest = std::mem::replace(&mut self.dense.rest, Lobatto::new(0));
        for (point, end) in [(0, within.from), (Lobatto::LAST, within.to)] {
            values.copy_from(end);
            rest.at_mut(point).iter_mut().zip(solved(&mut values)).for_each(|(kept, value)| *kept = *value);
        }
        values.copy_from(within.from);
        let error = on.settings.error_control.map_or(0.0, |control| control.rtol);
        self.dense.is_smooth = self.solve_at(on, within, true, &mut values, &mut rest)
            && (rest.does_half(error)
                || self.solve_at(on, within, false, &mut values, &mut rest) && rest.is_resolved());
        self.dense.rest = rest;
        self.stage.values = values;
    }

    /// Solves the equations at the points of half the degree, or at the others; false where that fails.
    fn solve_at(
        &mut self,
        on: &mut Tools,
        within: &Ends,
        of_half: bool,
        values: &mut Values,
        rest: &mut Lobatto,
    ) -> bool {
        Lobatto::inner(of_half).all(|point| {
            let part = Lobatto::part(point);
            values.time = within.from.time + part * (within.to.time - within.from.time);
            self.move_within(on, within.from, part, values);
            let is_solved = on.kkt.accelerate(on.dae, values).is_ok();
            rest.at_mut(point).iter_mut().zip(solved(values)).for_each(|(kept, value)| *kept = *value);
            is_solved
        })
    }

    /// Moves to a part of the last step; what the equations give stays as it is.
    fn move_within(&mut self, on: &Tools, from: &Values, part: f64, out: &mut Values) {
        self.evaluate_dense(part);
        let count = self.room.len();
        let (increment, rest) = self.sum.split_at(count);
        let (velocities, states) = rest.split_at(count);
        on.shape.space.compose_exp(&from.configuration, increment, &mut out.configuration);
        let changed = from.velocity.iter().zip(velocities);
        out.velocity.iter_mut().zip(changed).for_each(|(v, (start, change))| *v = start + change);
        let changed = from.internal_states.iter().zip(states);
        let differential = out.internal_states.iter_mut().zip(on.shape.algebraic_states());
        for ((c, algebraic), (start, change)) in differential.zip(changed) {
            if !algebraic {
                *c = start + change;
            }
        }
        out.memory.clone_from(&from.memory);
    }

    /// Values of θ, v and c at a part of the last step, as changes since its start.
    fn evaluate_dense(&mut self, part: f64) {
        let size = self.sum.len();
        let (rest, coefficients) = (1.0 - part, &self.dense.coefficients);
        for (i, out) in self.sum.iter_mut().enumerate() {
            let mut value = 0.0;
            for place in (0..7).rev() {
                let factor = if place % 2 == 0 { part } else { rest };
                value = factor * (coefficients[place * size + i] + value);
            }
            *out = value;
        }
    }
}

impl Scheme for Explicit8 {
    fn start(&mut self, on: &mut Tools, state: &mut State, _: f64, at: StartPoint) -> Result<(), KktFailure> {
        state.base_velocity = None;
        let values = &mut self.stage.values;
        values.copy_from(&state.now);
        values.time = at.time;
        values.acceleration.fill(0.0);
        values.internal_rates.fill(0.0);
        on.kkt.accelerate(on.dae, values)?;
        let now = &mut state.now;
        let time = now.time;
        now.copy_from(values);
        now.time = time;
        Ok(())
    }

    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        let now = &state.now;
        self.is_finished = false;
        (self.dense.time, self.dense.step, self.dense.is_ready) = (now.time, step, false);
        self.stage.values.copy_from(now);
        self.stage.increment.fill(0.0);
        let stage = std::mem::take(&mut self.stage);
        self.take_rates(on, 0, &stage.values, &stage.increment);
        self.stage = stage;
        let mut turned = (0.0, 0);
        let mut turn = match self.compute_stages(on, now, 1..STAGES, step) {
            Ok(turn) => turn,
            Err(failure) => {
                let found = kkt_error(on.dae, failure, state, step, &self.stage);
                return Err(self.failure(on, state, step, found));
            }
        };
        if turn.is_none() {
            turned = self.move_to(on, now, STAGES, step);
            turn = (turned.0 > self.max_turn).then_some(turned);
            self.stage.values.time = state.time_after(step);
        }
        trial.values.copy_from(&self.stage.values);
        trial.increment.copy_from_slice(&self.stage.increment);
        let control = on.settings.error_control;
        if let Some((angle, node)) = turn {
            self.error = self.turn_error((angle, node));
            if control.is_none() {
                let part = on.dae.describe(Equation::Node(node));
                let found = StepError::TurnTooFar { time: now.time, step, angle, most: self.max_turn, part };
                return Err(self.failure(on, state, step, found));
            }
            return Ok(0);
        }
        // Without control only the error in q is looked at, which has no tolerance.
        let (error, known) = self.estimate(on, step, &control.unwrap_or(ErrorControl::new(1.0, step)));
        let turning = self.turn_error(turned);
        (self.error, on.known_error) = (if turning.size > error.size { turning } else { error }, Some(known));
        let is_good = control.is_none() || self.error.size <= 1.0;
        if !is_good {
            return Ok(0);
        }
        if let Err(found) = self.finish(on, state, step, trial) {
            return Err(self.failure(on, state, step, found));
        }
        self.is_finished = self.take_rates(on, STAGES, &trial.values, &trial.increment);
        self.stiffness.look(on, step, &trial.values);
        match self.stiffness.is_hopeless(on, step) {
            true => Err(self.stiffness.error(on, state)),
            false => Ok(0),
        }
    }

    fn accept(&mut self, on: &mut Tools, _: &State, step: f64, trial: &Trial) -> Next {
        self.speed = self.speed.max(on.judge.speed(&on.shape, &trial.values.velocity));
        self.stiffness.accept(on, step, trial.values.time);
        if self.is_finished { Next::GoOn } else { Next::Start }
    }

    fn error(&mut self, _: &Tools, _: &State, _: f64, _: &Trial, _: &ErrorControl) -> ErrorSize {
        self.error
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("largest speed", Item::Number(&mut self.speed));
        self.stiffness.history(each);
    }

    fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
        self.stiffness.tell_again(on, state.now.time);
        Ok(())
    }

    fn interpolate(&mut self, on: &mut Tools, within: &Ends, time: f64, out: &mut Values) {
        let (from, to) = (within.from, within.to);
        let length = to.time - from.time;
        if !(self.is_finished && self.dense.time == from.time && length > 0.0) {
            return;
        }
        let part = ((time - from.time) / length).clamp(0.0, 1.0);
        if part == 0.0 || part == 1.0 {
            out.copy_from(if part == 0.0 { from } else { to });
            out.time = time;
            return;
        }
        if !self.dense.is_ready {
            if !self.prepare_dense(on, within) {
                return;
            }
            self.prepare_rest(on, within);
            self.dense.is_ready = true;
        }
        if self.dense.is_smooth {
            // States of first order have polynomials of their own, of higher order.
            solved(out).zip(self.dense.rest.evaluate(part)).for_each(|(value, found)| *value = found);
            self.move_within(on, from, part, out);
        } else {
            self.move_within(on, from, part, out);
            // The equations hold at both ends, so that they fail hardly ever in between; straight lines stay
            // then.
            let _ = on.kkt.accelerate(on.dae, out);
        }
    }
}
