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

use super::super::settings::Settings;
use super::parameters::Parameters;
use super::work::{Coefficients, Workspace};
use super::{Item, Trial};
use crate::constrained::StateScaling;
use crate::dae::{TangentOperators, Values};
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

impl Workspace {
    /// Writes the equations of the states; needs their rates, evaluated last.
    pub fn state_rows(&self, trial: &Trial, coefficients: &Coefficients, out: &mut [f64]) {
        let scaling = coefficients.state_scaling();
        let first = self.layout.first_state();
        for (i, (out, rate)) in out[first..].iter_mut().zip(&self.residual.internal_rates).enumerate() {
            *out = if self.algebraic[i] {
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
        if self.residual.internal_rates.is_empty() {
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
            let change = part * scaling.unknown[usize::from(self.algebraic[i])] * value;
            trial.values.internal_states[i] += change;
            if !self.algebraic[i] {
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
        let (rtol, atol) = (settings.newton_rtol, settings.newton_atol.max(self.sizes.round_off));
        let first = self.layout.first_state();
        for (i, out) in out[first..].iter_mut().enumerate() {
            let bearable =
                atol * self.sizes.internal_states[i] + rtol * trial.values.internal_states[i].abs();
            *out = bearable / scaling.unknown[usize::from(self.algebraic[i])];
        }
    }
}

/// Rates of the states in the steps behind.
#[derive(Clone, Debug, Default)]
pub(super) struct RateHistory {
    /// ċ before the last step.
    pub previous: Vec<f64>,
    /// Algorithmic rates w_n.
    pub algorithmic: Vec<f64>,
    /// Those before the last step, for a change of step size.
    pub previous_algorithmic: Vec<f64>,
}

impl RateHistory {
    /// Makes room for states.
    pub fn fit(&mut self, count: usize) {
        for values in [&mut self.previous, &mut self.algorithmic, &mut self.previous_algorithmic] {
            values.resize(count, 0.0);
        }
    }

    /// Takes the rates of another.
    pub fn copy_from(&mut self, other: &Self) {
        self.previous.clone_from(&other.previous);
        self.algorithmic.clone_from(&other.algorithmic);
        self.previous_algorithmic.clone_from(&other.previous_algorithmic);
    }

    /// Starting values: w₀ ≈ ċ(t₀ + Δ h) from the second derivative c̈₀.
    pub fn start(
        &mut self,
        rates: &[f64],
        second_derivatives: Option<&[f64]>,
        parameters: &Parameters,
        step: f64,
    ) {
        let offset = StateParameters::new(parameters).offset() * step;
        self.algorithmic.copy_from_slice(rates);
        // As they would have been a step earlier: the estimate of the error differences them.
        self.previous.copy_from_slice(rates);
        for (i, second) in second_derivatives.unwrap_or_default().iter().enumerate() {
            self.algorithmic[i] += offset * second;
            self.previous[i] -= step * second;
        }
        self.previous_algorithmic.copy_from_slice(&self.algorithmic);
    }

    /// First guess of the states: rates go on along their line; algebraic states stay.
    ///
    /// `algorithmic` are w_n as they are for this step, `ahead` says how far the line through the last two is
    /// followed.
    pub fn predict(
        &self,
        algorithmic: &[f64],
        algebraic: &[bool],
        parameters: &Parameters,
        (ahead, step): (f64, f64),
        (now, next): (&Values, &mut Values),
    ) {
        let scheme = StateParameters::new(parameters);
        for i in 0..next.internal_states.len() {
            next.internal_states[i] = now.internal_states[i];
            next.internal_rates[i] = 0.0;
            if algebraic[i] {
                continue;
            }
            let (rate, w) = (now.internal_rates[i], algorithmic[i]);
            let w_next = w + ahead * (w - self.previous_algorithmic[i]);
            next.internal_states[i] += step * ((1.0 - scheme.delta) * w + scheme.delta * w_next);
            next.internal_rates[i] = scheme.next_rate(w_next, rate, w);
        }
    }

    /// w₀ = (1 − Δ) ċ₀ + Δ ċ₁ with the ċ₁ of a first step that is repeated.
    pub fn settle(out: &mut [f64], rates: &[f64], next_rates: &[f64], parameters: &Parameters) {
        let offset = StateParameters::new(parameters).offset();
        for ((out, rate), next) in out.iter_mut().zip(rates).zip(next_rates) {
            *out = (1.0 - offset) * rate + offset * next;
        }
    }

    /// Takes over the rates at the ends of a solved step.
    pub fn accept(&mut self, rates: &[f64], next_rates: &[f64], parameters: &Parameters) {
        let scheme = StateParameters::new(parameters);
        self.previous.copy_from_slice(rates);
        self.previous_algorithmic.copy_from_slice(&self.algorithmic);
        for (i, &next) in next_rates.iter().enumerate() {
            self.algorithmic[i] = scheme.next_algorithmic(next, rates[i], self.algorithmic[i]);
        }
    }

    /// Local error of the states in a pending step, one after the other: C h³ c⃛ with c⃛
    /// from the rates at the last three times, `before` the size of the step before.
    pub fn errors<'a>(
        &'a self,
        now: &'a Values,
        next: &'a Values,
        algebraic: &'a [bool],
        parameters: &Parameters,
        (step, before): (f64, f64),
    ) -> impl Iterator<Item = f64> + 'a {
        let constant = StateParameters::new(parameters).error_constant();
        let width = 0.5 * (step + before);
        (0..next.internal_states.len()).map(move |i| {
            if algebraic[i] {
                return 0.0;
            }
            let slope = (next.internal_rates[i] - now.internal_rates[i]) / step;
            let slope_before = (now.internal_rates[i] - self.previous[i]) / before;
            constant * step * step * step * (slope - slope_before) / width
        })
    }

    pub fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("previous rates of states", Item::Numbers(&mut self.previous));
        each("algorithmic rates of states", Item::Numbers(&mut self.algorithmic));
        each("previous algorithmic rates of states", Item::Numbers(&mut self.previous_algorithmic));
    }
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
        // A few roundings.
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
            // The recursion forgets its start within 200 steps; rates are up to 200, known to 1e-14 of that.
            assert!((error - scheme.error_constant() * h.powi(3)).abs() < 1e-12, "{radius}: {error}");
        }
    }
}
