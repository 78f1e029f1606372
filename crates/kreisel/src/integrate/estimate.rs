//! How large the error of a step is, and how large the first step may be.
//!
//! The local error in q is C_q h³ v̈ + h³ v̂ v̇/12 [ArnoldCardonaBruls2015, Eq. (69)]; v̈ is the difference
//! of the algorithmic accelerations at the ends of the step over h. Errors in v and λ are of the same order,
//! and shrink with it.

use super::control::ErrorControl;
use super::first_order::{StateParameters, state_error_rates};
use super::integration::Integration;
use super::scheme::Workspace;
use super::settings::{Method, Settings};
use super::start::{Jerks, Side, jerk, jerk_distance};
use crate::constrained::KktFailure;
use crate::dae::{Equation, Shape, Values};
use crate::lie::{Group, Space};

/// An error in units of the tolerance, and the equation of the coordinate or state where it is largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Error {
    pub size: f64,
    pub worst: Equation,
}

impl Error {
    const NONE: Self = Self { size: 0.0, worst: Equation::Equilibrium(0) };

    /// Takes up another error if it is larger; what is not a number is the largest.
    fn consider(&mut self, size: f64, worst: impl FnOnce() -> Equation) {
        if size.is_nan() || size > self.size {
            *self = Self { size, worst: worst() };
        }
    }
}

/// Coordinates that share a norm: a rotation, a position.
struct Block {
    velocities: std::ops::Range<usize>,
    /// Where its values stand in the configuration, for positions.
    coordinates: Option<std::ops::Range<usize>>,
}

fn blocks(shape: &Shape) -> impl Iterator<Item = Block> + '_ {
    (0..shape.space.factor_count()).flat_map(|node| {
        let (v, q) = (shape.space.velocity_range(node), shape.space.coordinate_range(node));
        let rotation = |end: usize| Block { velocities: v.start..end, coordinates: None };
        match shape.space.group(node) {
            Group::Vector(_) => [Some(Block { velocities: v, coordinates: Some(q) }), None],
            Group::So3 => [Some(rotation(v.end)), None],
            Group::So3xR3 | Group::Se3 => {
                let position = Block { velocities: v.start + 3..v.end, coordinates: Some(q.end - 3..q.end) };
                [Some(rotation(v.start + 3)), Some(position)]
            }
        }
        .into_iter()
        .flatten()
    })
}

/// Constant of h³ x⃛ in the local error h² (h + h_{n−1})/(6 α₀) x⃛ of `bdf2` with equal steps.
const BDF2_ERROR: f64 = 2.0 / 9.0;

/// How much larger the local error of `bdf2` is where a step is `ratio` times as long as the one before.
fn bdf2_growth(ratio: f64) -> f64 {
    (1.0 + ratio) * (1.0 + ratio) / (6.0 * ratio * (1.0 + 2.0 * ratio)) / BDF2_ERROR
}

/// Constant C_q of the local error C_q h³ v̈ in q.
pub(super) fn position_error_constant(settings: &Settings) -> f64 {
    match settings.method {
        Method::Bdf2 => BDF2_ERROR,
        _ => settings.parameters.position_error_constant(),
    }
}

/// What the local error in q has beside C_q h³ v̈, divided by h³: v̂ v̇/12 [ArnoldCardonaBruls2015, Eq.
/// (69)].
///
/// The methods with local coordinates have C_q h³ x⃛ in all, with the third derivative of the coordinates: v̈ + v̂ v̇/2 for
/// those of `bdf2`.
pub(super) fn curvature_error(
    settings: &Settings,
    space: &Space,
    velocity: &[f64],
    acceleration: &[f64],
    out: &mut [f64],
) {
    if settings.method == Method::UpdatedLagrangian {
        out.fill(0.0);
        let constant = settings.parameters.position_error_constant();
        settings.parametrization.add_jerk_excess(space, constant, velocity, acceleration, out);
    } else {
        space.hat_multiply(velocity, acceleration, out);
        let factor = if settings.method == Method::Bdf2 { 0.5 * BDF2_ERROR } else { 1.0 / 12.0 };
        out.iter_mut().for_each(|value| *value *= factor);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The largest rate of error, in units of the tolerance, of rates per velocity coordinate.
fn weighed(work: &Workspace, configuration: &[f64], control: &ErrorControl, rates: &[f64]) -> Error {
    let mut worst = Error::NONE;
    for block in blocks(&work.shape) {
        let scale = block.coordinates.as_ref().map_or(1.0, |_| work.length);
        let size = block.coordinates.map_or(1.0, |range| norm(&configuration[range]).max(work.length));
        let tolerance = (control.rtol * size + control.atol * scale) / control.horizon;
        let values = &rates[block.velocities.clone()];
        let error = norm(values) / tolerance;
        worst.consider(error, || {
            let largest = values.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            Equation::Equilibrium(block.velocities.start + largest.map_or(0, |(index, _)| index))
        });
    }
    worst
}

/// The error of states, given its rates, in units of the tolerance: relative to a state, or to its scale
/// where it is small.
fn weigh_states(
    work: &Workspace,
    internal_states: &[f64],
    control: &ErrorControl,
    rates: impl Iterator<Item = f64>,
    worst: &mut Error,
) {
    for (i, rate) in rates.enumerate().filter(|(i, _)| !work.fading_states[*i]) {
        let scale = work.state_scales[i];
        let tolerance =
            (control.rtol * internal_states[i].abs().max(scale) + control.atol * scale) / control.horizon;
        worst.consider(rate.abs() / tolerance, || Equation::State(i));
    }
}

/// Part of the time in which the motion changes by a scale that is used to difference accelerations.
const PROBE: f64 = 1e-3;
/// Part of the horizon that the first step does not exceed.
const MAX_START: f64 = 0.01;
/// Part of the step that its estimate allows: what happens next is not known yet.
const CAUTION: f64 = 0.5;

impl Integration<'_> {
    /// Error of the step that is pending, per unit of time and in units of the tolerance.
    pub(super) fn pending_error(&mut self, step: f64, control: &ErrorControl) -> Error {
        let parameters = &self.settings.parameters;
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let (state, trial) = (&self.state, &self.trial);
        let rates = &mut self.error_rates;
        curvature_error(
            &self.settings,
            &self.work.shape.space,
            &trial.values.velocity,
            &trial.values.acceleration,
            rates,
        );
        let constant = position_error_constant(&self.settings);
        for (i, rate) in rates.iter_mut().enumerate() {
            let a = state.algorithmic_acceleration[i];
            let force_level =
                (1.0 - alpha_f) * trial.values.acceleration[i] + alpha_f * state.now.acceleration[i];
            let next = (force_level - alpha_m * a) / (1.0 - alpha_m);
            *rate = step * (constant * (next - a) + step * *rate);
        }
        if self.settings.method == Method::Bdf2 && state.step > 0.0 {
            let growth = bdf2_growth(step / state.step);
            rates.iter_mut().for_each(|rate| *rate *= growth);
        }
        let mut error = weighed(&self.work, &state.now.configuration, control, &self.error_rates);
        let rates = state_error_rates(state, trial, parameters, step);
        weigh_states(&self.work, &trial.values.internal_states, control, rates, &mut error);
        error
    }

    /// Words for the part of the system where an error is largest.
    pub(super) fn describe_error(&self, error: Error) -> String {
        self.dae.describe(error.worst)
    }

    /// First step whose error is about the tolerance, from v̇ and v̈ at the present state.
    pub(super) fn choose_first_step(
        &mut self,
        control: &ErrorControl,
        time: f64,
        side: Side,
    ) -> Result<f64, KktFailure> {
        if let Some(step) = control.initial_step {
            return Ok(control.clamp(step));
        }
        let (dae, state) = (self.dae, &self.state);
        let mut now = Values { time, ..state.now.clone() };
        for guess in [
            &mut now.acceleration,
            &mut now.multipliers,
            &mut now.nonholonomic_multipliers,
            &mut now.internal_rates,
        ] {
            guess.fill(0.0);
        }
        self.kkt.accelerations(dae, &mut now)?;
        let speed = self.largest_rate(&state.now.velocity);
        let change = self.largest_rate(&now.acceleration).sqrt();
        let pace = self.largest_state_rate(&now.internal_rates, &now.internal_states);
        let distance = PROBE / speed.max(change).max(pace).max(PROBE / (MAX_START * control.horizon));
        let settings = Settings { step: jerk_distance(distance), ..self.settings };
        let (shape, state) = (&self.work.shape, &self.state);
        now.velocity.copy_from_slice(&state.base_velocity);
        let Jerks { velocity: jerk, internal_states } =
            jerk(dae, shape, &settings, &now, side, &mut self.kkt)?;
        let mut rates = vec![0.0; jerk.len()];
        curvature_error(&settings, &shape.space, &state.now.velocity, &now.acceleration, &mut rates);
        let constant = position_error_constant(&self.settings);
        rates.iter_mut().zip(&jerk).for_each(|(rate, jerk)| *rate += constant * jerk);
        let mut error = weighed(&self.work, &state.now.configuration, control, &rates);
        // Of the states the second derivative is known: their third is taken to be as much faster as that is.
        let constant = StateParameters::new(&self.settings.parameters).error_constant();
        let thirds = internal_states
            .iter()
            .zip(&now.internal_rates)
            .map(|(second, first)| if *first == 0.0 { 0.0 } else { constant * second * second / first });
        weigh_states(&self.work, &now.internal_states, control, thirds, &mut error);
        let error = error.size;
        let step = CAUTION / error.sqrt().max(CAUTION / (MAX_START * control.horizon));
        Ok(control.clamp(step))
    }

    /// Largest rate of a state in units of the state, or of its scale where it is small.
    fn largest_state_rate(&self, rates: &[f64], internal_states: &[f64]) -> f64 {
        let scales = internal_states.iter().zip(&self.work.state_scales);
        rates
            .iter()
            .zip(scales)
            .map(|(rate, (c, scale))| rate.abs() / c.abs().max(*scale))
            .fold(0.0, f64::max)
    }

    /// Largest component in units of the system's length and of 1 rad.
    fn largest_rate(&self, values: &[f64]) -> f64 {
        let scaled =
            values.iter().zip(&self.work.coordinate_scales).map(|(value, scale)| value.abs() / scale);
        scaled.fold(0.0, f64::max)
    }
}
