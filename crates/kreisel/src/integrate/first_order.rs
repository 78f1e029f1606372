//! First-order states in a step: ċ = h(q, v, c, λ, t), and algebraic ones with 0 = h.
//!
//! The generalized-α method for first-order systems [JansenWhitingHulbert2000, parameters by ρ∞], with h
//! taken at the ends of steps as v̇ is in the methods for motions:
//!
//! ```text
//! (1 − δ_m) w_{n+1} + δ_m w_n = (1 − δ_f) ċ_{n+1} + δ_f ċ_n,   ċ_{n+1} = h(q_{n+1}, v_{n+1}, c_{n+1}, λ_{n+1}, t_{n+1})
//! c_{n+1} = c_n + (1 − δ) h w_n + δ h w_{n+1}
//! ```
//!
//! with δ_m = (3ρ∞ − 1)/(2ρ∞ + 2), δ_f = ρ∞/(ρ∞ + 1), δ = ½ − δ_m + δ_f. The algorithmic rate w_n stands for
//! ċ at t_n + (δ_m − δ_f) h. Per change of c_{n+1} the rate ċ_{n+1} changes by 1/σ, σ = δ h (1 − δ_f)/(1 −
//! δ_m). Unknowns are h c and equations h σ (ċ − h), which neither grow nor vanish as h → 0, nor do their
//! couplings to λ; algebraic states are scaled like multipliers, by s.

use super::parameters::Parameters;
use super::scheme::{Coefficients, Trial, Workspace};
use super::settings::{Predictor, Settings};
use super::state::State;
use crate::constrained::StateScaling;
use crate::dae::TangentOperators;
use crate::solve::block::BlockMatrix;

/// Parameters of the method for states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StateParameters {
    delta_m: f64,
    delta_f: f64,
    delta: f64,
}

impl StateParameters {
    /// Those with the spectral radius that a method for motions has at infinite frequency.
    pub fn new(parameters: &Parameters) -> Self {
        let radius = parameters.spectral_radius();
        let delta_m = (3.0 * radius - 1.0) / (2.0 * radius + 2.0);
        let delta_f = radius / (radius + 1.0);
        Self { delta_m, delta_f, delta: 0.5 - delta_m + delta_f }
    }

    /// Offset δ_m − δ_f of the time to which w_n belongs, in steps.
    pub fn offset(&self) -> f64 {
        self.delta_m - self.delta_f
    }

    /// σ: change of a state per change of its rate.
    pub fn state_per_rate(&self, step: f64) -> f64 {
        self.delta * step * (1.0 - self.delta_f) / (1.0 - self.delta_m)
    }

    /// Constant C of the local error C h³ c⃛: with w_n = ċ + Δ h c̈ + W h² c⃛ the recursion gives
    /// W = (1 − δ_f)/2 − (1 − δ_m)(½ + Δ), and the update C = 1/6 − W − δ (½ + Δ).
    pub fn error_constant(&self) -> f64 {
        let half = 0.5 + self.offset();
        let second = 0.5 * (1.0 - self.delta_f) - (1.0 - self.delta_m) * half;
        1.0 / 6.0 - second - self.delta * half
    }

    /// w_{n+1} from the rates at the ends of a step.
    fn next_algorithmic(&self, next_rate: f64, rate: f64, algorithmic: f64) -> f64 {
        ((1.0 - self.delta_f) * next_rate + self.delta_f * rate - self.delta_m * algorithmic)
            / (1.0 - self.delta_m)
    }

    /// ċ_{n+1} from the algorithmic rates.
    fn next_rate(&self, next_algorithmic: f64, rate: f64, algorithmic: f64) -> f64 {
        ((1.0 - self.delta_m) * next_algorithmic + self.delta_m * algorithmic - self.delta_f * rate)
            / (1.0 - self.delta_f)
    }
}

impl Coefficients {
    /// Scaling of the states in the Newton matrix.
    pub fn state_scaling(&self) -> StateScaling {
        StateScaling {
            inertia: 1.0,
            rate: [-self.step * self.state_per_rate, 1.0 / self.scale],
            unknown: [1.0 / self.step, self.scale],
            force: self.force,
            multiplier: self.multiplier,
        }
    }
}

impl Trial {
    /// First guess of the states: rates go on along their line; algebraic states stay.
    ///
    /// `ahead` says how far the line through the last two algorithmic rates is followed.
    pub fn predict_states(&mut self, state: &State, parameters: &Parameters, ahead: f64, step: f64) {
        let scheme = StateParameters::new(parameters);
        for i in 0..self.values.internal_states.len() {
            self.values.internal_states[i] = state.now.internal_states[i];
            self.values.internal_rates[i] = 0.0;
            if self.algebraic[i] {
                continue;
            }
            let (rate, w) = (state.now.internal_rates[i], state.algorithmic_state_rates[i]);
            let next = w + ahead * (w - state.previous_algorithmic_state_rates[i]);
            self.values.internal_states[i] += step * ((1.0 - scheme.delta) * w + scheme.delta * next);
            self.values.internal_rates[i] = scheme.next_rate(next, rate, w);
        }
    }
}

/// How far a predictor follows the line through the last two values.
pub(super) fn ahead(state: &State, predictor: Predictor, step: f64) -> f64 {
    match predictor {
        Predictor::LinearAcceleration | Predictor::Adaptive if state.step > 0.0 => step / state.step,
        _ => 0.0,
    }
}

impl Workspace {
    /// Writes the equations of the states; needs their rates, evaluated last.
    pub fn state_rows(&self, trial: &Trial, coefficients: &Coefficients, out: &mut [f64]) {
        let scaling = coefficients.state_scaling();
        let first = self.layout.first_state();
        for (i, (out, rate)) in out[first..].iter_mut().zip(&self.internal_rates).enumerate() {
            *out = if trial.algebraic[i] {
                scaling.rate[1] * rate
            } else {
                scaling.rate[0] * (rate - trial.values.internal_rates[i])
            };
        }
    }

    /// Adds all derivatives of and by states where nodes have one unknown per coordinate.
    ///
    /// `velocity_operators` turn increments into velocities, divided by γ'; the identity if absent.
    pub fn add_states(
        &self,
        coefficients: &Coefficients,
        velocity_operators: Option<&TangentOperators>,
        out: &mut BlockMatrix,
    ) {
        if self.internal_rates.is_empty() {
            return;
        }
        let (layout, tangent, scaling) = (&self.layout, &self.tangent, coefficients.state_scaling());
        layout.add_states(tangent, &scaling, out);
        layout.add_state_forces(&tangent.state_force, 1.0, &scaling, 0, out);
        let damping = coefficients.velocity;
        layout.add_state_nodes(&tangent.state_damping, velocity_operators, damping, &scaling, 0, out);
        let operators = Some(&self.operators);
        layout.add_state_nodes(&tangent.state_stiffness, operators, 1.0, &scaling, 0, out);
    }

    /// Adds a change of the unknowns to the states.
    pub fn correct_states(
        &self,
        increment: &[f64],
        part: f64,
        coefficients: &Coefficients,
        trial: &mut Trial,
    ) {
        let scaling = coefficients.state_scaling();
        let first = self.layout.first_state();
        for (i, value) in increment[first..].iter().enumerate() {
            let change = part * scaling.unknown[usize::from(trial.algebraic[i])] * value;
            trial.values.internal_states[i] += change;
            if !trial.algebraic[i] {
                trial.values.internal_rates[i] += change / coefficients.state_per_rate;
            }
        }
    }

    /// Tolerances of the unknowns of states: relative to the states, or to their scales where they are small.
    pub fn state_tolerances(
        &self,
        settings: &Settings,
        trial: &Trial,
        coefficients: &Coefficients,
        out: &mut [f64],
    ) {
        let scaling = coefficients.state_scaling();
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.round_off));
        let first = self.layout.first_state();
        for (i, out) in out[first..].iter_mut().enumerate() {
            let bearable = atol * self.state_scales[i] + rtol * trial.values.internal_states[i].abs();
            *out = bearable / scaling.unknown[usize::from(trial.algebraic[i])];
        }
    }
}

impl State {
    /// Takes over the states of a solved step.
    pub(super) fn accept_states(&mut self, trial: &Trial, parameters: &Parameters) {
        let scheme = StateParameters::new(parameters);
        self.now.internal_states.copy_from_slice(&trial.values.internal_states);
        self.previous_state_rates.copy_from_slice(&self.now.internal_rates);
        self.previous_algorithmic_state_rates.copy_from_slice(&self.algorithmic_state_rates);
        for (i, &next) in trial.values.internal_rates.iter().enumerate() {
            let w = &mut self.algorithmic_state_rates[i];
            *w = scheme.next_algorithmic(next, self.now.internal_rates[i], *w);
            self.now.internal_rates[i] = next;
        }
    }

    /// Starting values of the method for states: ċ₀, and w₀ ≈ ċ(t₀ + Δ h) from the second derivative c̈₀.
    pub(super) fn start_states(
        &mut self,
        rates: Vec<f64>,
        second_derivatives: Option<&[f64]>,
        parameters: &Parameters,
        step: f64,
    ) {
        let offset = StateParameters::new(parameters).offset() * step;
        let mut algorithmic = rates.clone();
        // As they would have been a step earlier: the estimate of the error differences them.
        let mut earlier = rates.clone();
        for (i, second) in second_derivatives.unwrap_or_default().iter().enumerate() {
            algorithmic[i] += offset * second;
            earlier[i] -= step * second;
        }
        self.previous_state_rates = earlier;
        self.now.internal_rates = rates;
        self.previous_algorithmic_state_rates = algorithmic.clone();
        self.algorithmic_state_rates = algorithmic;
    }

    /// w₀ = (1 − Δ) ċ₀ + Δ ċ₁ with the ċ₁ of a first step that is repeated.
    pub(super) fn settle_first_rates(&mut self, next_rates: &[f64], parameters: &Parameters) {
        let offset = StateParameters::new(parameters).offset();
        for (i, next) in next_rates.iter().enumerate() {
            self.algorithmic_state_rates[i] = (1.0 - offset) * self.now.internal_rates[i] + offset * next;
        }
        self.previous_algorithmic_state_rates.copy_from_slice(&self.algorithmic_state_rates);
    }
}

/// Local error of the states in a pending step, per unit of time, one after the other: C h² c⃛ with c⃛ from
/// the rates at the last three times.
pub(super) fn state_error_rates<'a>(
    state: &'a State,
    trial: &'a Trial,
    parameters: &Parameters,
    step: f64,
) -> impl Iterator<Item = f64> + 'a {
    let constant = StateParameters::new(parameters).error_constant();
    let before = if state.step > 0.0 { state.step } else { state.prepared_step };
    let width = 0.5 * (step + before);
    (0..trial.values.internal_states.len()).map(move |i| {
        if trial.algebraic[i] {
            return 0.0;
        }
        let slope = (trial.values.internal_rates[i] - state.now.internal_rates[i]) / step;
        let slope_before = (state.now.internal_rates[i] - state.previous_state_rates[i]) / before;
        constant * step * step * (slope - slope_before) / width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinitely_fast_states_are_damped_by_the_spectral_radius() {
        for radius in [0.0, 0.3, 0.8, 1.0] {
            let scheme = StateParameters::new(&Parameters::chung_hulbert(radius).unwrap());
            // ċ = h = 0 at all ends of steps leaves c → (δ − 1)/δ c, and w → −δ_m/(1 − δ_m) w; with c held at
            // zero ċ obeys the recursion with the factor −δ_f/(1 − δ_f).
            assert!((-scheme.delta_f / (1.0 - scheme.delta_f) + radius).abs() < 1e-15);
            assert!(((scheme.delta - 1.0) / scheme.delta + radius).abs() < 1e-15);
        }
    }

    #[test]
    fn the_error_constant_is_that_of_the_trapezoidal_rule_without_damping() {
        let scheme = StateParameters::new(&Parameters::chung_hulbert(1.0).unwrap());
        assert_eq!(scheme.offset(), 0.0);
        assert!((scheme.error_constant() + 1.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn a_step_of_a_cubic_has_the_error_that_the_constant_says() {
        for radius in [0.0, 0.5, 0.9] {
            let scheme = StateParameters::new(&Parameters::chung_hulbert(radius).unwrap());
            // c = t³/6: ċ = t²/2, and w of the recursion from its own past.
            let h = 0.1;
            let rate = |n: i32| 0.5 * (h * f64::from(n)).powi(2);
            let mut w = rate(-200);
            for n in -200..0 {
                w = scheme.next_algorithmic(rate(n + 1), rate(n), w);
            }
            let next = scheme.next_algorithmic(rate(1), rate(0), w);
            let c = h * ((1.0 - scheme.delta) * w + scheme.delta * next);
            let error = h.powi(3) / 6.0 - c;
            assert!((error - scheme.error_constant() * h.powi(3)).abs() < 1e-12, "{radius}: {error}");
        }
    }
}
