//! How fast a machine can vibrate or settle: what bounds the steps of an explicit method, whatever its
//! tolerance.
//!
//! Along a motion the largest rates of ∂v̇/∂q, ∂v̇/∂v and ∂ċ/∂c are found by power iteration, one of them in
//! each step: a direction w is kept, the equations are evaluated at a small distance along it with the
//! factors of the end of the step, and the change of v̇ (or ċ) is the next direction. A few steps find the
//! fastest motion: ω = √(|Δv̇|/|Δq|), or
//! |Δv̇|/|Δv|.

use super::super::error::StepError;
use super::super::state::State;
use super::{Item, Tools};
use crate::dae::{Equation, Note, NoteKind, Point, Shape, Values};

/// Distance of the second evaluation, in rad and in lengths of the machine: about √ε, where truncation and
/// rounding of a forward difference are alike.
const DISTANCE: f64 = 1e-7;
/// Steps times rate above this are near the limit of stability of the method, 6: multipliers are wrong before
/// positions are.
const NEAR_LIMIT: f64 = 5.0;
/// Limit of stability of |rate| h, on the imaginary axis and on the real one.
const LIMIT: f64 = 6.0;
/// Steps near the limit from which on it is told: one may be an impact.
const TOLD_AFTER: u8 = 3;
/// Steps of a run beyond which it is refused, if stability alone asks for them.
const MAX_STEPS: f64 = 1e6;

/// Looks along each direction that find the fastest motion to some percent.
const LOOKS: usize = 6;

/// What is moved.
const KINDS: usize = 3;
const POSITION: usize = 0;
const VELOCITY: usize = 1;
const STATE: usize = 2;

/// The fastest motions found so far.
pub(super) struct Stiffness {
    /// Directions of positions, velocities and states, of size one, and the rates found along them in 1/s.
    directions: [Vec<f64>; KINDS],
    rates: Vec<f64>,
    /// Which is looked at next.
    turn: u8,
    /// Steps near the limit so far, at most [`TOLD_AFTER`].
    near_limit: u8,
    /// Whether another method takes over near the limit, so that nobody needs to be told.
    pub hands_over: bool,
    /// What was found in the step that was computed last.
    found: Vec<f64>,
    found_rate: Option<f64>,
    /// The point at a small distance.
    there: Values,
    change: Vec<f64>,
    state_change: Vec<f64>,
}

impl Stiffness {
    pub fn new(shape: &Shape) -> Self {
        let (count, states) = (shape.velocity_count(), shape.state_count());
        // No motion of a machine is orthogonal to numbers without a pattern.
        let first = |count: usize| (0..count).map(|i| (1.0 + 2.0 * i as f64).sin()).collect::<Vec<_>>();
        let mut of_states = first(states);
        clear_algebraic(shape, &mut of_states);
        Self {
            directions: [first(count), first(count), of_states],
            rates: vec![0.0; KINDS],
            turn: 0,
            near_limit: 0,
            hands_over: false,
            found: Vec::with_capacity(count.max(states)),
            found_rate: None,
            there: Values::zeros(shape),
            change: vec![0.0; count],
            state_change: vec![0.0; states],
        }
    }

    /// Looks along one direction from the end of a step, with the factors at hand.
    pub fn look(&mut self, on: &mut Tools, step: f64, end: &Values) {
        let kind = usize::from(self.turn) % KINDS;
        self.found_rate = None;
        let direction = &self.directions[kind];
        self.there.copy_from(end);
        // Velocities by which parts move this distance in a step.
        let distance = if kind == VELOCITY { DISTANCE / step } else { DISTANCE };
        match kind {
            POSITION => {
                let scaled = self.change.iter_mut().zip(direction);
                scaled.for_each(|(out, w)| *out = distance * w);
                on.shape.space.compose_exp(&end.configuration, &self.change, &mut self.there.configuration);
            }
            VELOCITY => {
                let moved = self.there.velocity.iter_mut().zip(direction);
                moved.for_each(|(v, w)| *v += distance * w);
            }
            _ => {
                let moved = self.there.internal_states.iter_mut().zip(direction);
                moved.for_each(|(c, w)| *c += distance * w);
            }
        }
        let point = Point { time: end.time, ..self.there.point() };
        let (change, rates) = (&mut self.change, &mut self.state_change);
        if on.kkt.change_of_accelerations(on.dae, &point, change, rates).is_err() {
            return;
        }
        let (next, size) = if kind == STATE {
            rates.iter_mut().zip(&end.internal_rates).for_each(|(rate, before)| *rate -= before);
            clear_algebraic(&on.shape, rates);
            (&*rates, largest(rates))
        } else {
            (&*change, on.judge.speed(&on.shape, change))
        };
        if size > 0.0 && size.is_finite() {
            let rate = size / distance;
            self.found_rate = Some(if kind == POSITION { rate.sqrt() } else { rate });
            self.found.clear();
            self.found.extend(next.iter().map(|value| value / size));
        }
    }

    /// Looks along all directions from values that satisfy the equations and whose factors are at hand, until
    /// the fastest motions are known.
    pub fn look_around(&mut self, on: &mut Tools, step: f64, at: &Values) {
        for _ in 0..LOOKS * KINDS {
            self.look(on, step, at);
            self.take_up();
        }
    }

    /// Takes up what was found.
    fn take_up(&mut self) {
        let kind = usize::from(self.turn) % KINDS;
        if let Some(rate) = self.found_rate.take() {
            self.rates[kind] = rate;
            self.directions[kind].copy_from_slice(&self.found);
        }
        let kinds = if self.directions[STATE].is_empty() { STATE } else { KINDS };
        self.turn = ((kind + 1) % kinds) as u8;
    }

    /// Takes up what was found in the last step, and tells of it.
    pub fn accept(&mut self, on: &mut Tools, step: f64, time: f64) {
        self.take_up();
        if step * self.fastest().0 <= NEAR_LIMIT || self.near_limit == TOLD_AFTER {
            return;
        }
        self.near_limit += 1;
        if self.near_limit == TOLD_AFTER && !self.hands_over {
            on.notes.add(self.note(on, time));
        }
    }

    /// Whether steps are near the limit, one after the other.
    pub fn is_near_limit(&self) -> bool {
        self.near_limit == TOLD_AFTER
    }

    /// Forgets steps near the limit.
    pub fn forget_limit(&mut self) {
        self.near_limit = 0;
    }

    /// What is fastest, in words: `part` can vibrate with so much.
    pub fn words(&self, on: &Tools) -> String {
        let (rate, kind) = self.fastest();
        let what = if kind == POSITION { "vibrate" } else { "settle" };
        format!("{} can {what} with {rate:.1e} /s", self.part(on, kind))
    }

    /// Tells of it after a run was taken up again.
    pub fn tell_again(&self, on: &mut Tools, time: f64) {
        if self.near_limit == TOLD_AFTER && !self.hands_over {
            on.notes.add(self.note(on, time));
        }
    }

    /// The fastest rate in 1/s, and of what.
    pub fn fastest(&self) -> (f64, usize) {
        let rates = self.rates.iter().copied().zip(0..);
        rates.fold((0.0, POSITION), |fastest, next| if next.0 > fastest.0 { next } else { fastest })
    }

    /// Whether stability asks for more steps in the time that is looked at than anyone waits for.
    pub fn is_hopeless(&self, on: &Tools, step: f64) -> bool {
        let rate = self.fastest().0;
        let Some(control) = on.settings.error_control else { return false };
        let is_bound = !self.hands_over && self.near_limit == TOLD_AFTER && step * rate > NEAR_LIMIT;
        is_bound && rate * control.horizon > LIMIT * MAX_STEPS
    }

    /// What moves fastest, in words.
    fn part(&self, on: &Tools, kind: usize) -> String {
        let direction = &self.directions[kind];
        if kind == STATE {
            let place = direction.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            return on.dae.describe(Equation::State(place.map_or(0, |(place, _)| place)));
        }
        let (mut node, mut most) = (0, 0.0);
        for block in on.shape.space.norm_blocks() {
            let unit = if block.is_rotation { 1.0 } else { on.shape.scales.length };
            let size = largest(&direction[block.velocities]) / unit;
            if size > most {
                (node, most) = (block.factor, size);
            }
        }
        on.dae.describe(Equation::Node(node))
    }

    fn note(&self, on: &Tools, time: f64) -> Note {
        let (rate, kind) = self.fastest();
        let (part, words) = (self.part(on, kind), self.words(on));
        let price = match on.settings.error_control {
            Some(control) => format!("about {:.0e} factorisations in this run", 2.0 * rate * control.horizon),
            None => format!("about {:.0e} factorisations for each second", 2.0 * rate),
        };
        let advice = "take the method `index2`";
        let text = format!(
            "{words}, which keeps explicit steps below {:.1e} s at any tolerance, {price}; near that limit \
             reactions are wrong before positions are; {advice}",
            LIMIT / rate
        );
        Note::new(NoteKind::StiffMachine, text).at(time).about(part).number(rate).advice(advice)
    }

    /// The error of a run that stability alone would keep going for too long.
    pub fn error(&self, on: &Tools, state: &State) -> StepError {
        let (rate, kind) = self.fastest();
        StepError::Stiff { time: state.now.time, rate, most: LIMIT / rate, part: self.part(on, kind) }
    }

    /// The reason of a fixed step that could not be computed, if it was beyond the limit of stability.
    pub fn failure(&self, on: &Tools, state: &State, step: f64) -> Option<StepError> {
        let (rate, kind) = self.fastest();
        let is_beyond = on.settings.error_control.is_none() && step * rate > NEAR_LIMIT;
        is_beyond.then(|| {
            let (time, most, part) = (state.now.time, LIMIT / rate, self.part(on, kind));
            StepError::UnstableStep { time, step, rate, most, part }
        })
    }

    pub fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let names = ["fastest positions", "fastest velocities", "fastest states"];
        let directions = names.into_iter().zip(&mut self.directions);
        directions.for_each(|(name, direction)| each(name, Item::Numbers(direction)));
        each("fastest rates", Item::Numbers(&mut self.rates));
        each("what is looked at next", Item::Byte(&mut self.turn));
        each("steps near the limit of stability", Item::Byte(&mut self.near_limit));
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Algebraic states have no rate.
fn clear_algebraic(shape: &Shape, states: &mut [f64]) {
    for (value, algebraic) in states.iter_mut().zip(shape.algebraic_states()) {
        if algebraic {
            *value = 0.0;
        }
    }
}
