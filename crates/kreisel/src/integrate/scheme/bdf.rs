//! Equations of a step of backward differentiation formulas of two and three steps, with scalings of equations
//! and unknowns.
//!
//! Each step works in exponential local coordinates about q_n, q = q_n ∘ exp(x̃), where q_n is x = 0 and
//! q_{n−1} is x_{n−1} = −(increment of the step before); on R^k the one of two steps is the method of
//! [BottassoBauchauCardona2007, Eqs. (1), (2)]. With ω = h/h_{n−1}, α₀ = (1 + 2ω)/(1 + ω), α₁ = 1 + ω and α₂
//! = ω²/(1 + ω) (3/2, 2 and 1/2 where steps are equal):
//!
//! ```text
//! h v = T(x) (α₀ x + α₂ x_{n−1}),   h v̇ = α₀ v − α₁ v_n + α₂ v_{n−1},   r(q, v, v̇, c, λ) = 0,   Φ(q) = 0
//! ```
//!
//! With three steps x_{n−2} = log(q_n⁻¹ ∘ q_{n−2}) and v_{n−2} come in, and the numbers are those of the
//! derivative of a cubic (11/6, 3, 3/2 and 1/3 where steps are equal). In these coordinates a formula for R^k
//! keeps its order.
//!
//! The three-field form has x, v and λ as unknowns [BottassoBauchauCardona2007, Eq. (4)], the two-field form
//! x and λ [BottassoBauchauCardona2007, Eq. (37)]. First-order states are those of [`super::first_order`]
//! with ρ∞ = 0: there w_{n+1} is (c_{n+1} − c_n)/h, and 3/2 w_{n+1} − 1/2 w_n = ċ_{n+1} is the same formula.
//! With three steps it is written down for c as it is for v.
//!
//! Where constraints hold, v_n differs from the velocity by −h (h + h_{n−1})/6 x⃛ with two steps and by
//! −h (h + h_{n−1})(h + h_{n−1} + h_{n−2})/24 x⁗ with three, and so do the velocities before: the differences
//! cancel in v̇. Where step sizes change, the residual B v of all of them is rescaled to what the next step will
//! have, or λ would lose an order.

use super::super::integration::is_same_step;
use super::super::settings::{IterationMatrix, Settings};
use super::super::state::{Clock, State};
use super::alpha::{Alpha, Base, Formulation};
use super::implicit::{Room, Step, StepEquations, TwoParts};
use super::option::{MethodOption, option};
use super::parameters::Parameters;
use super::start::Slopes;
use super::work::Coefficients;
use super::{Family, Item, Method, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, CopyIndex, Layout, RowKind, comply};
use crate::dae::{Couplings, TangentOperators, TangentWeights};
use crate::lie::{Group, Space};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::{NonlinearSystem, Refresh};

/// Index-3 DAE by the two-step backward differentiation formula in local coordinates about the start of each
/// step; on R^k the method of [BottassoBauchauCardona2007, Eqs. (1), (2)].
pub const BDF2: Method = Method(&SchemeEntry {
    word: "bdf2",
    doc: "is the two-step backward differentiation formula, which damps more: always with a `spectral-radius` of 0",
    family: Family::Fixed,
    leaves_hidden_residual: Backward::<2>::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(Backward::<2>::position_error_constant),
    max_turn: 1.5,
    max_turn_se3: 0.45,
    one_size: false,
    options: &[Form::ENTRY, Scaling::ENTRY],
    suit,
    new: Alpha::<Backward<2>>::boxed,
});

/// The same with three steps, of third order.
pub const BDF3: Method = Method(&SchemeEntry {
    word: "bdf3",
    doc: "is the one of three steps, of third order, for machines whose vibrations are damped",
    family: Family::Fixed,
    leaves_hidden_residual: Backward::<3>::LEAVES_HIDDEN_RESIDUAL,
    order: 3,
    error_constant: None,
    max_turn: 1.5,
    max_turn_se3: 0.7,
    one_size: false,
    options: &[],
    suit,
    new: Alpha::<Backward<3>>::boxed,
});

fn suit(settings: &mut Settings) {
    // First-order states of ρ∞ = 0 obey the formula of two steps. The matrix depends on the past, so that it is
    // of no use in another step.
    settings.parameters = Parameters::chung_hulbert(0.0).unwrap_or(settings.parameters);
    if settings.newton.refresh != Refresh::EveryIteration {
        settings.newton.refresh = Refresh::EveryStep;
    }
}

/// Unknowns of a step of [`BDF2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Positions, velocities and multipliers [BottassoBauchauCardona2007, Eq. (4)].
    ThreeField,
    /// Positions and multipliers; velocities are eliminated [BottassoBauchauCardona2007, Eq. (37)].
    TwoField,
}

option! {
    Form,
    "form",
    "Unknowns of a step of `bdf2`: positions and multipliers, or velocities as well.",
    "Unknowns of `bdf2` in place of the model's",
    TwoField = "two-field",
    ThreeField = "three-field",
}

/// Scaling of equations and unknowns of [`BDF2`], with s = k_ave + m_ave/h² in place of h⁻²
/// [BottassoBauchauCardona2007, Eq. (28)].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// None.
    Unscaled,
    /// Constraints divided by h [BottassoBauchauCardona2007, Eqs. (16), (44)].
    Left,
    /// Equilibrium divided by h s besides, and multipliers by s [BottassoBauchauCardona2007, Eqs. (23), (24),
    /// (48), (49)].
    LeftRight,
    /// Velocities multiplied by h besides [BottassoBauchauCardona2007, Eq. (29)]; in the two-field form as
    /// [`Scaling::LeftRight`].
    LeftRightVelocities,
}

option! {
    Scaling,
    "scaling",
    "Scaling of equations and unknowns of `bdf2`, to study: only the first (with two fields the first two) makes round-off \
     independent of the step.",
    "Scaling of `bdf2` in place of the model's",
    LeftRightVelocities = "left-right-velocities",
    LeftRight = "left-right",
    Left = "left",
    Unscaled = "unscaled",
}

/// Constant of h³ x⃛ in the local error h² (h + h_{n−1})/(6 α₀) x⃛ with equal steps.
const ERROR_CONSTANT: f64 = 2.0 / 9.0;

/// Values before the present one that formulas use: two at most.
const MOST_PAST: usize = 2;

/// α₀ of the formula, and what stands before x_{n−1}, x_{n−2}; what stands before x_n is minus their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Formula {
    leading: f64,
    past: [f64; MOST_PAST],
}

impl Formula {
    /// The formula of an order for a step and the sizes of the steps before it, the last one first.
    fn new(order: usize, step: f64, before: [f64; MOST_PAST]) -> Self {
        if order == 2 {
            let ratio = step / before[0];
            let last = ratio * ratio / (1.0 + ratio);
            return Self { leading: (1.0 + 2.0 * ratio) / (1.0 + ratio), past: [last, 0.0] };
        }
        // Distances of the values from the end of the step; derivatives of Lagrange's polynomials there.
        let [a, b, c] = distances(step, before);
        Self {
            leading: step * (1.0 / a + 1.0 / b + 1.0 / c),
            past: [-step * a * c / (b * (a - b) * (c - b)), -step * a * b / (c * (a - c) * (b - c))],
        }
    }

    /// What stands before the value at the start of the step.
    fn present(&self) -> f64 {
        -(self.leading + self.past[0] + self.past[1])
    }
}

/// How far the starts of a step and of those before it are from its end.
fn distances(step: f64, [last, earlier]: [f64; MOST_PAST]) -> [f64; 3] {
    [step, step + last, step + last + earlier]
}

/// Turns of two steps together from which on the logarithm could have gone another way round, in rad: a little
/// less than half a turn. Sums of increments, which are exact where a part spins steadily, take its place.
const HALF_A_TURN: f64 = 3.0;

/// Factors of the rows (kinematics apart, which have 1) and of the unknowns beside those of [`Coefficients`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factors {
    constraint: f64,
    /// Change of v per change of its unknown.
    velocity: f64,
}

/// What a step knows of those before it, and what its trial values mean; `ORDER` is also the number of steps.
#[derive(Clone, Debug)]
pub(super) struct Backward<const ORDER: usize> {
    /// Sizes of the steps before the last one, the latest first; ORDER − 1 of them, as of the following.
    past_steps: Vec<f64>,
    /// Velocities v_{n−1}, v_{n−2}.
    past_velocities: Vec<Vec<f64>>,
    /// Coordinates of q_{n−1} about q_n, and of q_{n−2} about q_{n−1}.
    past_increments: Vec<Vec<f64>>,
    /// States c_{n−1}, c_{n−2}; none with two steps.
    past_states: Vec<Vec<f64>>,
    form: Form,
    scaling: Scaling,
    step: f64,
    formula: Formula,
    /// What x_{n−1}, x_{n−2} add to h ẋ.
    known_increment: Vec<f64>,
    /// What v_n, v_{n−1}, v_{n−2} add to h v̇.
    known_velocity: Vec<f64>,
    /// What c_n, c_{n−1}, c_{n−2} add to h ċ; none with two steps.
    known_states: Vec<f64>,
    /// h ẋ = α₀ x + what is known.
    difference: Vec<f64>,
    /// T(x) h ẋ.
    moved: Vec<f64>,
    /// T + ∂(T w)/∂x/α₀ of all nodes, with w = h ẋ held.
    velocity_operators: TangentOperators,
    /// Scratch: a matrix of the largest node.
    slope: Vec<f64>,
    /// Scratch: one number for each velocity coordinate.
    room: Vec<f64>,
    /// Scratch: q_{n−1} and q_{n−2}.
    configurations: [Vec<f64>; 2],
}

impl<const ORDER: usize> StepEquations for Backward<ORDER> {
    fn show(&mut self, mut step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        step.coefficients = self.coefficients(step.coefficients);
        let values = &mut step.trial.values;
        for (i, known) in self.known_states.iter().enumerate().filter(|(i, _)| !step.work.algebraic[*i]) {
            values.internal_rates[i] = (self.formula.leading * values.internal_states[i] + known) / self.step;
        }
        visit(&mut BackwardStep { step, steps: self });
    }

    fn settle(&mut self, on: &Tools, trial: &mut Trial) {
        self.map(&on.shape.space, self.step, trial);
    }
}

impl<const ORDER: usize> Formulation for Backward<ORDER> {
    const LEAVES_HIDDEN_RESIDUAL: bool = true;
    const HAS_PAST_VALUES: bool = true;
    const NEEDS_THIRD_DERIVATIVES: bool = ORDER == 3;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let (settings, shape) = (&on.settings, &on.shape);
        // What is to be studied is studied with two steps.
        let (form, scaling) = match ORDER {
            2 => (settings.option(), settings.option()),
            _ => (Form::TwoField, Scaling::LeftRightVelocities),
        };
        let copies = match form {
            Form::TwoField => Copies::ONE,
            Form::ThreeField => Copies::THREE_FIELDS,
        };
        let zeros = vec![0.0; shape.velocity_count()];
        let states = if ORDER == 3 { shape.state_count() } else { 0 };
        let coordinates = if ORDER == 3 { shape.space.coordinate_count() } else { 0 };
        let largest = shape.node_sizes().into_iter().max().unwrap_or(0);
        let steps = Self {
            past_steps: vec![settings.step; ORDER - 1],
            past_velocities: vec![zeros.clone(); ORDER - 1],
            past_increments: vec![zeros.clone(); ORDER - 1],
            past_states: vec![vec![0.0; states]; ORDER - 1],
            form,
            scaling,
            step: settings.step,
            formula: Formula::new(ORDER, 1.0, [1.0; MOST_PAST]),
            known_increment: zeros.clone(),
            known_velocity: zeros.clone(),
            known_states: vec![0.0; states],
            difference: zeros.clone(),
            moved: zeros.clone(),
            room: zeros,
            velocity_operators: TangentOperators::general(&shape.space),
            slope: vec![0.0; largest * largest],
            configurations: [vec![0.0; coordinates], vec![0.0; coordinates]],
        };
        (Room { layout: Layout::new(shape, couplings, copies, []), extras: Vec::new() }, steps)
    }

    /// Values before the start, by Taylor's formula with x⃛ = v̈ + v̂ v̇/2 and x⁗ = v⃛ + v̂ v̈.
    fn start(&mut self, on: &Tools, state: &State, step: f64, slopes: Option<&Slopes>) {
        let Some(slopes) = slopes else { return };
        let (now, space) = (state.values(), &on.shape.space);
        let (v, acceleration, jerk) = (&now.velocity, &now.acceleration, &slopes.velocity);
        let none = vec![0.0; v.len()];
        let (snap, third) = match &slopes.third {
            Some([velocity, states]) => (velocity, states.as_slice()),
            None => (&none, [].as_slice()),
        };
        let (mut bracket, mut later) = (none.clone(), none.clone());
        space.hat_multiply(v, acceleration, &mut bracket);
        if ORDER == 3 {
            space.hat_multiply(v, jerk, &mut later);
        }
        for back in 0..ORDER - 1 {
            let h = step * (back + 1) as f64;
            for (i, jerk) in jerk.iter().enumerate() {
                let a = acceleration[i];
                // What was added to v₀ for the sake of λ belongs to the velocities before as well.
                let added = state.base_velocity()[i] - v[i];
                let (of_velocity, of_place) = (h / 3.0 * snap[i], 0.25 * h * (snap[i] + later[i]));
                self.past_velocities[back][i] = v[i] - h * (a - 0.5 * h * (jerk - of_velocity)) + added;
                self.past_increments[back][i] =
                    -h * (v[i] - 0.5 * h * (a - h / 3.0 * (jerk + 0.5 * bracket[i] - of_place)));
            }
            for (i, value) in self.past_states[back].iter_mut().enumerate() {
                let (rate, second) = (now.internal_rates[i], slopes.internal_states[i]);
                *value = now.internal_states[i] - h * (rate - 0.5 * h * (second - h / 3.0 * third[i]));
            }
        }
        if let [first, second] = &mut self.past_increments[..] {
            // Both are about q₀ so far.
            let [one, two] = &mut self.configurations;
            space.compose_exp(&now.configuration, first, one);
            space.compose_exp(&now.configuration, second, two);
            second.iter_mut().zip(first.iter()).for_each(|(second, first)| *second -= first);
            follow_logarithm(space, one, two, &mut self.room, second);
        }
        self.past_steps.fill(step);
    }

    /// Takes up the past of a step.
    fn prepare(&mut self, on: &Tools, base: &Base, step: f64) {
        let before = base.state.clock.step;
        let sizes = self.sizes_before(before, step);
        self.step = step;
        self.formula = Formula::new(ORDER, step, sizes);
        let weights = self.formula.past;
        self.known_increment
            .iter_mut()
            .zip(&self.past_increments[0])
            .for_each(|(out, x)| *out = weights[0] * x);
        if let [last, earlier] = &self.past_increments[..] {
            let [one, two] = &mut self.configurations;
            let start = &base.state.now.configuration;
            on.shape.space.compose_exp(start, last, one);
            on.shape.space.compose_exp(one, earlier, two);
            // q_{n−2} about q_n; nothing is differenced yet.
            let both = &mut self.difference;
            both.iter_mut().zip(last.iter().zip(earlier)).for_each(|(out, (a, b))| *out = a + b);
            follow_logarithm(&on.shape.space, start, two, &mut self.room, both);
            self.known_increment.iter_mut().zip(both).for_each(|(out, x)| *out += weights[1] * *x);
        }
        let present = self.formula.present();
        for i in 0..self.known_velocity.len() {
            let past = self.past_velocities.iter().zip(weights);
            let known: f64 = past.map(|(values, weight)| weight * moved_with(base, values[i], i)).sum();
            self.known_velocity[i] = known + present * base.velocity[i];
        }
        for (i, out) in self.known_states.iter_mut().enumerate() {
            let past = self.past_states.iter().zip(weights);
            *out = past.map(|(values, weight)| weight * values[i]).sum::<f64>()
                + present * base.state.now.internal_states[i];
        }
    }

    fn accept(&mut self, base: &Base, step: f64, trial: &Trial, _: &[f64]) {
        let last_step = base.state.clock.step;
        let first = &mut self.past_velocities;
        if base.rescaled {
            for values in &mut *first {
                values.iter_mut().enumerate().for_each(|(i, value)| *value = moved_with(base, *value, i));
            }
        }
        first.rotate_right(1);
        first[0].copy_from_slice(base.velocity);
        self.past_increments.rotate_right(1);
        self.past_increments[0].iter_mut().zip(&trial.increment).for_each(|(out, x)| *out = -x);
        self.past_states.rotate_right(1);
        if ORDER == 3 {
            self.past_states[0].copy_from_slice(&base.state.now.internal_states);
        }
        self.past_steps.rotate_right(1);
        self.past_steps[0] = if last_step > 0.0 { last_step } else { step };
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        let names = ["previous step", "earlier step"];
        names.into_iter().zip(&mut self.past_steps).for_each(|(name, step)| each(name, Item::Number(step)));
        let lists: [([&'static str; MOST_PAST], &mut Vec<Vec<f64>>); 3] = [
            (["previous velocity", "earlier velocity"], &mut self.past_velocities),
            (["previous increment", "earlier increment"], &mut self.past_increments),
            (["previous states", "earlier states"], &mut self.past_states),
        ];
        let has_states = ORDER == 3;
        for (names, values) in lists.into_iter().take(if has_states { 3 } else { 2 }) {
            names.into_iter().zip(values).for_each(|(name, values)| each(name, Item::Numbers(values)));
        }
    }

    /// The residual of the hidden constraints in velocities depends on the last steps, and is rescaled to what
    /// the next step will have; a change of size therefore shows in as many steps.
    fn residual_growth(&self, clock: &Clock, _: f64, step: f64) -> Option<f64> {
        let last = clock.step;
        let growth = if ORDER == 2 {
            step * (step + last) / (last * (last + self.past_steps[0]))
        } else {
            let product = |[a, b, c]: [f64; 3]| a * b * c;
            let [previous, earlier] = [self.past_steps[0], self.past_steps[ORDER - 2]];
            product(distances(step, [last, previous])) / product(distances(last, [previous, earlier]))
        };
        (last > 0.0 && !is_same_step(growth, 1.0)).then_some(growth)
    }

    fn position_error_constant(_: &Parameters) -> f64 {
        ERROR_CONSTANT
    }

    /// C_q h³ x⃛ in all, with the third derivative v̈ + v̂ v̇/2 of the coordinates.
    fn curvature_error(
        _: &Settings,
        space: &Space,
        (velocity, acceleration): (&[f64], &[f64]),
        out: &mut [f64],
    ) {
        space.hat_multiply(velocity, acceleration, out);
        out.iter_mut().for_each(|value| *value *= 0.5 * ERROR_CONSTANT);
    }

    fn error_growth(step: f64, before: f64) -> f64 {
        let ratio = step / before;
        (1.0 + ratio) * (1.0 + ratio) / (6.0 * ratio * (1.0 + 2.0 * ratio)) / ERROR_CONSTANT
    }

    /// With two steps v of the formula lacks h² x⃛/3, of which the local error 2/9 h³ x⃛ is the 3/2-th part;
    /// with three it lacks h³ x⁗/4.
    fn perturbation(step: f64) -> f64 {
        if ORDER == 2 { -1.5 * step * step } else { -0.25 * step.powi(3) }
    }

    /// With three steps what v lacks, h (h + h_{n−1})(h + h_{n−1} + h_{n−2})/24 x⁗ with x⁗ = v⃛ + v̂ v̈ from the
    /// last four velocities, leaves x with h/α₀ of it.
    fn own_error(
        &mut self,
        space: &Space,
        base: &Base,
        step: f64,
        velocity: &[f64],
        out: &mut [f64],
    ) -> Option<u32> {
        let [previous, earlier] = &self.past_velocities[..] else { return None };
        let sizes @ [last, before] = self.sizes_before(base.state.clock.step, step);
        let [_, two, three] = distances(step, sizes);
        let slopes = |i: usize| {
            let [previous, earlier] = [previous, earlier].map(|values| moved_with(base, values[i], i));
            let present = base.velocity[i];
            let first = (velocity[i] - present) / step;
            let second = (present - previous) / last;
            let curved = (first - second) / two;
            let curved_before = (second - (previous - earlier) / before) / (last + before);
            [2.0 * curved, 6.0 * (curved - curved_before) / three]
        };
        let factor = step * step * two * three / (24.0 * self.formula.leading);
        self.room.iter_mut().enumerate().for_each(|(i, jerk)| *jerk = slopes(i)[0]);
        space.hat_multiply(velocity, &self.room, out);
        out.iter_mut().enumerate().for_each(|(i, out)| *out = factor * (slopes(i)[1] + *out));
        Some(ORDER as u32 + 1)
    }
}

impl<const ORDER: usize> Backward<ORDER> {
    /// Sizes of the steps before one, which at the start are as long as it is.
    fn sizes_before(&self, last: f64, step: f64) -> [f64; MOST_PAST] {
        if last > 0.0 { [last, self.past_steps[0]] } else { [step; MOST_PAST] }
    }

    /// Coefficients of the formula, with the scaling that is asked for.
    fn coefficients(&self, usual: Coefficients) -> Coefficients {
        let velocity = self.formula.leading / usual.step;
        let (force, multiplier) = match self.scaling {
            Scaling::Unscaled | Scaling::Left => (usual.step, 1.0),
            Scaling::LeftRight | Scaling::LeftRightVelocities => (usual.force, usual.multiplier),
        };
        let state_per_rate = if ORDER == 2 { usual.state_per_rate } else { 1.0 / velocity };
        Coefficients {
            velocity,
            acceleration: velocity * velocity,
            force,
            multiplier,
            state_per_rate,
            ..usual
        }
    }

    fn factors(&self, step: f64) -> Factors {
        Factors {
            constraint: if self.scaling == Scaling::Unscaled { step } else { 1.0 },
            velocity: if self.scaling == Scaling::LeftRightVelocities { 1.0 / step } else { 1.0 },
        }
    }

    /// Values that follow from x, and from v in the three-field form.
    fn map(&mut self, space: &Space, step: f64, trial: &mut Trial) {
        let leading = self.formula.leading;
        for (out, (x, past)) in
            self.difference.iter_mut().zip(trial.increment.iter().zip(&self.known_increment))
        {
            *out = leading * x + past;
        }
        space.tangent_multiply(&trial.increment, &self.difference, &mut self.moved);
        if self.form == Form::TwoField {
            trial.values.velocity.iter_mut().zip(&self.moved).for_each(|(v, moved)| *v = moved / step);
        }
        for (i, out) in trial.values.acceleration.iter_mut().enumerate() {
            *out = (leading * trial.values.velocity[i] + self.known_velocity[i]) / step;
        }
    }

    /// Derivatives of h v with respect to x, divided by α₀; needs [`Backward::map`].
    fn differentiate(&mut self, space: &Space, increment: &[f64]) {
        self.velocity_operators.evaluate(space, increment);
        for node in 0..space.factor_count() {
            let range = space.velocity_range(node);
            let slope = &mut self.slope[..range.len() * range.len()];
            space.tangent_derivative(node, &increment[range.clone()], &self.difference[range], slope);
            self.velocity_operators.add(node, 1.0 / self.formula.leading, slope);
        }
    }
}

/// A velocity before the present one, which moves as v_n does where the residual of the hidden constraints is
/// rescaled.
fn moved_with(base: &Base, value: f64, i: usize) -> f64 {
    if base.rescaled { (value - base.state.base_velocity()[i]) + base.velocity[i] } else { value }
}

/// Puts log(from⁻¹ ∘ to) in place of a guess, except for parts that turn by half a turn or so; `to` and `room` are
/// of no use after it.
fn follow_logarithm(space: &Space, from: &[f64], to: &mut [f64], room: &mut [f64], guess: &mut [f64]) {
    let turns_far = |node: usize, guess: &[f64]| {
        let first = space.velocity_range(node).start;
        let angle = |turn: &[f64]| turn.iter().map(|value| value * value).sum::<f64>().sqrt();
        !matches!(space.group(node), Group::Vector(_)) && angle(&guess[first..first + 3]) > HALF_A_TURN
    };
    for node in (0..space.factor_count()).filter(|node| turns_far(*node, guess)) {
        let range = space.coordinate_range(node);
        to[range.clone()].copy_from_slice(&from[range]);
    }
    // Not one of the turns is far from zero or near a whole turn.
    if space.difference(from, to, room).is_err() {
        return;
    }
    for node in 0..space.factor_count() {
        if !turns_far(node, guess) {
            let range = space.velocity_range(node);
            guess[range.clone()].copy_from_slice(&room[range]);
        }
    }
}

/// The equations of one step.
struct BackwardStep<'a, const ORDER: usize> {
    step: Step<'a>,
    steps: &'a mut Backward<ORDER>,
}

impl<const ORDER: usize> BackwardStep<'_, ORDER> {
    fn factors(&self) -> Factors {
        self.steps.factors(self.step.coefficients.step)
    }

    /// Rows of the balance of forces among those of the nodes, and columns of velocities.
    fn second(&self) -> usize {
        usize::from(self.steps.form == Form::ThreeField)
    }

    /// Adds the derivatives of kinematics and forces.
    fn add_motion(&self, out: &mut BlockMatrix) {
        let (work, coefficients, steps) = (&*self.step.work, &self.step.coefficients, &*self.steps);
        let (layout, force, second) = (&work.layout, coefficients.force, self.second());
        let velocity_operators = Some(&steps.velocity_operators);
        match steps.form {
            Form::TwoField => {
                let factor = force * coefficients.velocity;
                layout.add_nodes(&work.tangent.dynamic, velocity_operators, factor, CopyIndex::FIRST, out);
            }
            Form::ThreeField => {
                let velocity = self.factors().velocity;
                layout.add_diagonal(velocity_operators, steps.formula.leading, CopyIndex::FIRST, out);
                layout.add_diagonal(None, -coefficients.step * velocity, CopyIndex::new(0, 1), out);
                layout.add_nodes(&work.tangent.dynamic, None, force * velocity, CopyIndex::new(1, 1), out);
            }
        }
        if self.step.settings.iteration_matrix.is_complete() {
            let part = CopyIndex::new(second, 0);
            layout.add_nodes(&work.tangent.stiffness, Some(&work.operators), force, part, out);
        }
        let factor = force * coefficients.multiplier;
        for kind in [RowKind::Holonomic, RowKind::Nonholonomic] {
            layout.add_columns(kind, &work.shape, &work.tangent, factor, CopyIndex::new(second, 0), out);
        }
    }

    /// Adds the derivatives of constraints.
    fn add_constraints(&self, out: &mut BlockMatrix) {
        let (work, h) = (&*self.step.work, self.step.coefficients.step);
        let (layout, operators, tangent) = (&work.layout, Some(&work.operators), &work.tangent);
        let Factors { constraint, velocity } = self.factors();
        layout.add_rows(RowKind::Holonomic, &tangent.gradient, operators, constraint, CopyIndex::FIRST, out);
        match self.steps.form {
            Form::TwoField => {
                let (by_velocity, factor) = (&self.steps.velocity_operators, self.steps.formula.leading);
                layout.add_rows(
                    RowKind::Nonholonomic,
                    &tangent.nonholonomic,
                    Some(by_velocity),
                    factor,
                    CopyIndex::FIRST,
                    out,
                );
            }
            Form::ThreeField => {
                layout.add_rows(
                    RowKind::Nonholonomic,
                    &tangent.nonholonomic,
                    None,
                    h * velocity,
                    CopyIndex::new(0, 1),
                    out,
                );
            }
        }
        if self.step.settings.iteration_matrix.is_complete() {
            layout.add_rows(
                RowKind::Nonholonomic,
                &tangent.nonholonomic_stiffness,
                operators,
                h,
                CopyIndex::FIRST,
                out,
            );
        }
        if !work.compliance.is_empty() {
            let unknown = self.step.coefficients.multiplier / self.step.coefficients.scale;
            let scaled = |values: &[f64], row: f64| -> Vec<f64> {
                values.iter().map(|value| row * unknown * value).collect()
            };
            let (holonomic, nonholonomic) =
                (scaled(&work.compliance, constraint), scaled(work.nonholonomic_compliance(), 1.0));
            layout.subtract_compliance(RowKind::Holonomic, &holonomic, CopyIndex::FIRST, out);
            layout.subtract_compliance(RowKind::Nonholonomic, &nonholonomic, CopyIndex::FIRST, out);
        }
    }

    /// Adds the derivatives of and by states.
    fn add_states(&self, out: &mut BlockMatrix) {
        let (work, coefficients) = (&*self.step.work, &self.step.coefficients);
        if self.steps.form == Form::TwoField {
            return work.add_states(coefficients, Some(&self.steps.velocity_operators), out);
        }
        let (layout, tangent, scaling) = (&work.layout, &work.tangent, coefficients.state_scaling());
        let velocity = self.factors().velocity;
        layout.add_states(tangent, &scaling, out);
        layout.add_state_forces(&tangent.state_force, 1.0, &scaling, 1, out);
        layout.add_state_nodes(&tangent.state_damping, None, velocity, &scaling, 1, out);
        layout.add_state_nodes(&tangent.state_stiffness, Some(&work.operators), 1.0, &scaling, 0, out);
    }
}

impl<const ORDER: usize> TwoParts for BackwardStep<'_, ORDER> {
    fn residual(&mut self, out: &mut [f64]) {
        let (second, factors, h) = (self.second(), self.factors(), self.step.coefficients.step);
        let (work, trial, coefficients) =
            (&mut *self.step.work, &mut *self.step.trial, &self.step.coefficients);
        self.steps.map(&work.shape.space, h, trial);
        work.evaluate(self.step.dae, self.step.base, trial);
        if self.steps.form == Form::ThreeField {
            for (i, out) in work.scratch.nodes.iter_mut().enumerate() {
                *out = self.steps.moved[i] - h * trial.values.velocity[i];
            }
            work.layout.scatter_nodes(0, &work.scratch.nodes, out);
        }
        work.residual.equilibrium.iter_mut().for_each(|value| *value *= coefficients.force);
        work.layout.scatter_nodes(second, &work.residual.equilibrium, out);
        let compliance = &work.compliance;
        comply(compliance, &trial.values.multipliers, 1.0 / coefficients.scale, &mut work.residual.violation);
        work.residual.violation.iter_mut().for_each(|value| *value *= factors.constraint);
        work.layout.scatter(RowKind::Holonomic, 0, &work.residual.violation, out);
        work.nonholonomic_rows(0, &trial.values.nonholonomic_multipliers, coefficients, out);
        work.state_rows(trial, coefficients, out);
    }

    fn matrix(&mut self, out: &mut BlockMatrix) {
        let exact = self.step.settings.iteration_matrix.is_complete();
        out.fill(0.0);
        let (work, trial) = (&mut *self.step.work, &mut *self.step.trial);
        self.steps.map(&work.shape.space, self.step.coefficients.step, trial);
        self.steps.differentiate(&work.shape.space, &trial.increment);
        let weights = TangentWeights {
            mass: self.step.coefficients.velocity,
            damping: f64::from(u8::from(exact)),
            stiffness: exact,
            remembered_forces: self.step.settings.iteration_matrix == IterationMatrix::Mixed,
        };
        work.follow(self.step.dae, trial, self.step.settings.iteration_matrix);
        work.tangent.hidden_wanted = false;
        work.differentiate_at(self.step.dae, &trial.values.point(), weights);
        work.operators.evaluate(&work.shape.space, &trial.increment);
        self.add_motion(out);
        self.add_constraints(out);
        self.add_states(out);
        self.step.note(&[]);
    }
}

impl<const ORDER: usize> NonlinearSystem for BackwardStep<'_, ORDER> {
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
        self.evaluate_parts(residual, matrix);
    }

    fn correct(&mut self, increment: &[f64], fraction: f64) {
        let factors = self.factors();
        let (trial, coefficients, work) =
            (&mut *self.step.trial, &self.step.coefficients, &mut *self.step.work);
        work.layout.gather_nodes(0, increment, &mut work.scratch.nodes);
        trial.increment.iter_mut().zip(&work.scratch.nodes).for_each(|(x, z)| *x += fraction * z);
        if self.steps.form == Form::ThreeField {
            work.layout.gather_nodes(1, increment, &mut work.scratch.nodes);
            let factor = fraction * factors.velocity;
            trial.values.velocity.iter_mut().zip(&work.scratch.nodes).for_each(|(v, z)| *v += factor * z);
        }
        let factor = fraction * coefficients.multiplier;
        work.layout.gather(RowKind::Holonomic, 0, increment, &mut work.scratch.constraints);
        let changes = &work.scratch.constraints;
        trial.values.multipliers.iter_mut().zip(changes).for_each(|(lambda, z)| *lambda += factor * z);
        work.correct_nonholonomic(0, increment, factor, &mut trial.values.nonholonomic_multipliers);
        work.correct_states(increment, fraction, coefficients, trial);
    }

    fn tolerances(&self, out: &mut [f64]) {
        self.step.work.tolerances(self.step.settings, self.step.trial, &self.step.coefficients, out);
        let layout = &self.step.work.layout;
        if self.steps.form == Form::ThreeField {
            let factor = 1.0 / (self.step.coefficients.step * self.factors().velocity);
            for (start, size) in layout.node_starts(1) {
                out[start..start + size].iter_mut().for_each(|value| *value *= factor);
            }
        }
        let factor = self.step.coefficients.scale / self.step.coefficients.multiplier;
        for kind in [RowKind::Holonomic, RowKind::Nonholonomic] {
            for (start, size) in layout.multiplier_starts(kind, 0) {
                out[start..start + size].iter_mut().for_each(|value| *value *= factor);
            }
        }
    }
}
