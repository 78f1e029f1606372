//! Extrapolation of `index2` over whole runs: of order 4 in q, v and λ, also with stiff springs.
//!
//! Three solutions of `index2` run beside each other, the columns, with one, two and four steps in each step
//! of the method. Each has its own past and is never mixed with the others, so that its error keeps the
//! expansion c₂(t) h² + c₃(t) h³ + … with the same coefficients. What is shown is the combination in which
//! the first two terms vanish,
//!
//! ```text
//! q = q_¼ ∘ exp((log(q_¼⁻¹ q_1) − 12 log(q_¼⁻¹ q_½))/21),   v = (v_1 − 12 v_½ + 32 v_¼)/21,   λ likewise,
//! ```
//!
//! moved onto the constraints. With two columns it is (4 v_½ − v_1)/3, of order 3. What the combination of
//! the last two columns differs from it by is an estimate of the error of the whole run so far.

use std::sync::Arc;

use super::super::control::ErrorControl;
use super::super::error::{StartError, StateError, StepError};
use super::super::integration::KnownError;
use super::super::interval::Ends;
use super::super::judge::ErrorSize;
use super::super::state::State;
use super::alpha::{Alpha, Past};
use super::index2::{INDEX2, Index2};
use super::option::{MethodOption, option};
use super::past_multipliers::PastMultipliers;
use super::{Family, Item, Method, Next, Scheme, SchemeEntry, StartPoint, Tools, Trial};
use crate::constrained::KktFailure;
use crate::dae::{Couplings, Equation, Values};
use crate::solve::newton::NewtonCounts;

/// `index2` extrapolated over the whole run, of order 4 or 3.
pub const EXTRAPOLATED: Method = Method(&SchemeEntry {
    word: "extrapolated",
    doc: "runs `index2` with three step sizes at once and shows what they tend to, of order 4: for stiff machines, such as those with \
          stiff springs, where much accuracy is wanted",
    family: Family::ChungHulbert,
    leaves_hidden_residual: false,
    order: 3,
    error_constant: None,
    max_turn: INDEX2.0.max_turn,
    max_turn_se3: INDEX2.0.max_turn_se3,
    one_size: false,
    options: &[Columns::ENTRY],
    suit: |_| {},
    new: |on, couplings| Ok(Box::new(Extrapolated::new(on, couplings)?)),
});

/// How many solutions [`EXTRAPOLATED`] combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Steps h, h/2 and h/4: order 4.
    Three,
    /// Steps h and h/2: order 3.
    Two,
}

option! {
    Columns,
    "columns",
    "Solutions that `extrapolated` combines: three, with steps h, h/2 and h/4, are of order 4, two of order 3.",
    "Solutions that `extrapolated` combines, in place of the model's",
    Three = "three",
    Two = "two",
}

impl Columns {
    /// Steps of each column in one of the method.
    fn parts(self) -> &'static [u32] {
        match self {
            Self::Three => &[1, 2, 4],
            Self::Two => &[1, 2],
        }
    }

    /// Weights of the columns, in the same order.
    fn weights(self) -> &'static [f64] {
        match self {
            Self::Three => &[1.0 / 21.0, -12.0 / 21.0, 32.0 / 21.0],
            Self::Two => &[-1.0 / 3.0, 4.0 / 3.0],
        }
    }

    /// Weights of one order less, by which the error is estimated.
    fn lower_weights(self) -> &'static [f64] {
        match self {
            Self::Three => &[0.0, -1.0 / 3.0, 4.0 / 3.0],
            Self::Two => &[0.0, 1.0],
        }
    }

    /// The tolerance of the columns: errors of second order are this power of those of the combination.
    fn power(self) -> f64 {
        match self {
            Self::Three => 0.5,
            Self::Two => 2.0 / 3.0,
        }
    }
}

/// One solution.
struct Column {
    scheme: Alpha<Index2>,
    /// Steps in one of the method.
    parts: u32,
    /// Where the last step of the method led, with the past there.
    reached: State,
    past: Past,
    /// Where the step that is computed leads.
    state: State,
    trial: Trial,
    previous: Values,
    /// What the system remembered when its couplings were last asked for.
    fitted: Vec<f64>,
}

impl Column {
    fn new(on: &Tools, couplings: &Couplings, parts: u32) -> Result<Self, StartError> {
        let scheme = Alpha::new(on, couplings)?;
        let state = || State { now: Values::zeros(&on.shape), ..State::default() };
        let mut past = Past::default();
        past.copy_from(scheme.past());
        Ok(Self {
            scheme,
            parts,
            reached: state(),
            past,
            state: state(),
            trial: Trial::new(&on.shape),
            previous: Values::zeros(&on.shape),
            fitted: vec![0.0; on.shape.memory],
        })
    }

    /// Goes back to the end of the last step.
    fn begin(&mut self, from: &State, is_taken: bool) {
        self.state.now.copy_from(&self.reached.now);
        // A clock that was set to land on a time is that of all.
        self.state.now.time = from.now.time;
        self.state.clock = self.reached.clock;
        self.state.compliance.clone_from(&from.compliance);
        self.scheme.go_back(&self.past, is_taken);
    }

    /// Takes all of its steps but does not remember them.
    fn advance(&mut self, on: &mut Tools, step: f64, end: f64) -> Result<usize, StepError> {
        let (mut iterations, size, start) = (0, step / f64::from(self.parts), self.state.now.time);
        for part in 1..=self.parts {
            if on.dae.couplings_differ(&self.fitted, &self.state.now.memory) {
                self.scheme.fit(on, &on.dae.couplings(Some(&self.state.now.memory)));
                self.fitted.clone_from(&self.state.now.memory);
            }
            iterations += self.scheme.attempt(on, &self.state, size, &mut self.trial)?;
            if part < self.parts {
                self.take(on, size);
                self.state.set_time(start + f64::from(part) * size);
            }
        }
        self.trial.values.time = end;
        Ok(iterations)
    }

    /// Takes the step that was computed last.
    fn take(&mut self, on: &mut Tools, size: f64) {
        self.scheme.accept(on, &self.state, size, &self.trial);
        self.state.take(on.dae, &on.shape.space, size, &mut self.trial, &mut self.previous);
    }

    /// Remembers the steps that were taken.
    fn keep(&mut self) {
        self.past.copy_from(self.scheme.past());
        std::mem::swap(&mut self.reached.now, &mut self.state.now);
        self.reached.clock = self.state.clock;
    }
}

struct Extrapolated {
    columns: Vec<Column>,
    kind: Columns,
    /// Whether the step that was computed last was taken.
    is_taken: bool,
    /// Whether the driver asked for other couplings.
    is_fitted: bool,
    error: ErrorSize,
    /// Multipliers as they were shown.
    multipliers: PastMultipliers,
    /// As long as v.
    room: [Vec<f64>; 3],
}

impl Extrapolated {
    fn new(on: &Tools, couplings: &Couplings) -> Result<Self, StartError> {
        let kind: Columns = on.settings.option();
        let columns = kind.parts().iter().map(|parts| Column::new(on, couplings, *parts));
        let zeros = |count: usize| vec![0.0; count];
        Ok(Self {
            columns: columns.collect::<Result<_, _>>()?,
            kind,
            is_taken: false,
            is_fitted: false,
            error: ErrorSize { size: 0.0, worst: Equation::Equilibrium(0), order: 3 },
            multipliers: PastMultipliers::new(&on.shape),
            room: std::array::from_fn(|_| zeros(on.shape.velocity_count())),
        })
    }

    /// What the columns keep to, so that their combination keeps to the tolerance.
    fn column_control(&self, control: &ErrorControl) -> ErrorControl {
        let power = self.kind.power();
        ErrorControl { rtol: control.rtol.powf(power), atol: control.atol.powf(power), ..*control }
    }

    /// Combines what the columns reached, and moves it onto the constraints. False where positions are too
    /// far apart for that.
    fn combine(&mut self, on: &mut Tools, state: &State, trial: &mut Trial) -> bool {
        let space = Arc::clone(&on.shape);
        let space = &space.space;
        let [change, lower, difference] = &mut self.room;
        change.fill(0.0);
        lower.fill(0.0);
        let (weights, lower_weights) = (self.kind.weights(), self.kind.lower_weights());
        let Some((finest, coarser)) = self.columns.split_last() else { return false };
        let finest = &finest.state.now;
        for (column, place) in coarser.iter().zip(0..) {
            let there = &column.state.now.configuration;
            if space.difference(&finest.configuration, there, difference).is_err() {
                return false;
            }
            for (i, value) in difference.iter().enumerate() {
                change[i] += weights[place] * value;
                lower[i] += lower_weights[place] * value;
            }
        }
        lower.iter_mut().zip(&*change).for_each(|(lower, change)| *lower -= change);
        let values = &mut trial.values;
        space.compose_exp(&finest.configuration, change, &mut values.configuration);
        if space.difference(&state.now.configuration, &values.configuration, &mut trial.increment).is_err() {
            return false;
        }
        // What the combination of one order less differs by.
        on.known_error = Some(KnownError::Run(on.judge.sizes(&on.shape, lower)));
        let columns = &self.columns;
        let sum = |weights: &[f64], of: &dyn Fn(&Values) -> f64| {
            columns.iter().zip(weights).map(|(column, weight)| weight * of(&column.state.now)).sum::<f64>()
        };
        for i in 0..values.velocity.len() {
            values.velocity[i] = sum(weights, &|now| now.velocity[i]);
            values.acceleration[i] = sum(weights, &|now| now.acceleration[i]);
        }
        for i in 0..values.multipliers.len() {
            values.multipliers[i] = sum(weights, &|now| now.multipliers[i]);
        }
        for i in 0..values.nonholonomic_multipliers.len() {
            values.nonholonomic_multipliers[i] = sum(weights, &|now| now.nonholonomic_multipliers[i]);
        }
        for i in 0..values.internal_states.len() {
            values.internal_states[i] = sum(weights, &|now| now.internal_states[i]);
            values.internal_rates[i] = sum(weights, &|now| now.internal_rates[i]);
        }
        values.memory.copy_from_slice(&state.now.memory);
        if on.shape.constraint_count() + on.shape.nonholonomic_count() > 0
            && on.kkt.factor_moving(on.dae, values).is_ok()
        {
            // Where that leads nowhere, at a singular position, values are a combination of such that are on
            // the constraints.
            self.room[0].copy_from_slice(&trial.increment);
            self.room[1].copy_from_slice(&values.velocity);
            let (base, room) = (&state.now.configuration, &mut self.room[2]);
            let found = on.kkt.project_nearby(on.dae, base, values, &mut trial.increment, room);
            if !matches!(found, Ok(true)) {
                trial.increment.copy_from_slice(&self.room[0]);
                values.velocity.copy_from_slice(&self.room[1]);
                space.compose_exp(base, &trial.increment, &mut values.configuration);
            }
        }
        true
    }

    fn count(&mut self, on: &mut Tools) {
        let mut sum = NewtonCounts::default();
        for column in &mut self.columns {
            if let Some(newton) = column.scheme.newton() {
                sum = sum.plus(&newton.iteration().counts());
            }
        }
        on.counts = sum;
    }
}

impl Scheme for Extrapolated {
    fn fit(&mut self, on: &Tools, couplings: &Couplings) {
        self.columns.iter_mut().for_each(|column| column.scheme.fit(on, couplings));
        self.is_fitted = true;
    }

    fn start(
        &mut self,
        on: &mut Tools,
        state: &mut State,
        step: f64,
        at: StartPoint,
    ) -> Result<(), KktFailure> {
        for column in &mut self.columns {
            column.state.clone_from(state);
            column.state.clock.step = 0.0;
            column.scheme.start(on, &mut column.state, step / f64::from(column.parts), at)?;
            column.keep();
        }
        self.is_taken = true;
        if let Some(finest) = self.columns.last() {
            let time = state.now.time;
            state.now.copy_from(&finest.reached.now);
            state.now.time = time;
            state.base_velocity = None;
            self.multipliers.copy_from(&finest.scheme.past().multipliers);
        }
        Ok(())
    }

    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        if std::mem::replace(&mut self.is_fitted, false) {
            self.columns.iter_mut().for_each(|column| column.fitted.clone_from(&state.now.memory));
        }
        let (is_taken, end) = (std::mem::replace(&mut self.is_taken, false), state.time_after(step));
        let mut iterations = 0;
        for index in 0..self.columns.len() {
            let column = &mut self.columns[index];
            column.begin(state, is_taken);
            let outcome = column.advance(on, step, end);
            if outcome.is_err() {
                self.count(on);
            }
            iterations += outcome?;
            let control = on.settings.error_control.filter(|_| index == 0);
            if let Some(control) = control.map(|control| self.column_control(&control)) {
                let column = &mut self.columns[index];
                let size = step / f64::from(column.parts);
                self.error = column.scheme.error(on, &column.state, size, &column.trial, &control);
                let is_good = self.error.size <= 1.0;
                if !is_good {
                    trial.values.copy_from(&column.trial.values);
                    trial.increment.copy_from_slice(&column.trial.increment);
                    self.count(on);
                    return Ok(iterations);
                }
            }
            let column = &mut self.columns[index];
            let size = step / f64::from(column.parts);
            column.take(on, size);
            column.state.set_time(end);
        }
        self.count(on);
        trial.values.time = end;
        if self.combine(on, state, trial) {
            return Ok(iterations);
        }
        let (angle, node) = on.judge.turns.largest(&self.columns[0].trial.increment);
        let part = on.dae.describe(Equation::Node(node));
        let most = on.judge.turns.limit(node).unwrap_or(INDEX2.0.max_turn);
        Err(StepError::TurnTooFar { time: state.now.time, step, angle, most, part })
    }

    fn accept(&mut self, _: &mut Tools, state: &State, step: f64, trial: &Trial) -> Next {
        self.columns.iter_mut().for_each(Column::keep);
        self.is_taken = true;
        self.multipliers.accept(&state.now, step, trial.values.time);
        Next::GoOn
    }

    fn error(&mut self, _: &Tools, _: &State, _: f64, _: &Trial, _: &ErrorControl) -> ErrorSize {
        self.error
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("whether a step was taken", Item::Flag(&mut self.is_taken));
        self.multipliers.history(each);
        for column in &mut self.columns {
            let Column { reached, past, scheme, .. } = column;
            each("time of a column", Item::Number(&mut reached.now.time));
            each("step of a column", Item::Number(&mut reached.clock.step));
            let mut equal_steps = reached.clock.equal_steps as f64;
            each("equal steps of a column", Item::Number(&mut equal_steps));
            reached.clock.equal_steps = equal_steps as u64;
            reached
                .now
                .vectors_mut()
                .into_iter()
                .for_each(|values| each("values of a column", Item::Numbers(values)));
            scheme.history(each);
            past.copy_from(scheme.past());
        }
    }

    fn resume(&mut self, on: &mut Tools, state: &State) -> Result<(), StateError> {
        self.multipliers.resume(state.now.time);
        for column in &mut self.columns {
            column.reached.compliance.clone_from(&state.compliance);
            column.scheme.resume(on, &column.reached)?;
        }
        Ok(())
    }

    fn interpolate(&mut self, _: &mut Tools, within: &Ends, time: f64, out: &mut Values) {
        self.multipliers.interpolate(within, time, out);
    }
}
