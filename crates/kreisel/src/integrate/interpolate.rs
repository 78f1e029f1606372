//! Values within a step, whether it was accepted or is still pending.

use super::Sample;
use super::integration::Integration;

/// Values at one end of a step.
struct End<'a> {
    time: f64,
    velocity: &'a [f64],
    acceleration: &'a [f64],
    multipliers: &'a [f64],
    nonholonomic_multipliers: &'a [f64],
    internal_states: &'a [f64],
    internal_rates: &'a [f64],
}

macro_rules! end {
    ($values:expr, $velocity:ident) => {
        End {
            time: $values.time,
            velocity: &$values.$velocity,
            acceleration: &$values.acceleration,
            multipliers: &$values.multipliers,
            nonholonomic_multipliers: &$values.nonholonomic_multipliers,
            internal_states: &$values.internal_states,
            internal_rates: &$values.internal_rates,
        }
    };
}

impl Integration<'_> {
    /// Values at a time within the last step: on the group along q_n ∘ exp(x̃(ϑ)) [ArnoldCardonaBruls2015,
    /// Remark 2.2], with the cubic x that has the velocities at both ends; v and first-order states by the cubic
    /// with their rates, otherwise linear. No order is lost in q, v and λ, and steps may be large where the motion is simple.
    pub fn interpolate(&self, time: f64, out: &mut Sample) {
        let ends = [end!(self.previous, shown_velocity), end!(self.state, shown_velocity)];
        let base = &self.previous.configuration;
        let part = self.between(ends, time, base, &self.last_increment, out);
        if part == 1.0 {
            out.configuration.copy_from_slice(&self.state.configuration);
        }
    }

    /// Values at a time within the step that is about to be accepted; for [`super::Observer::landing`].
    pub fn interpolate_pending(&self, time: f64, out: &mut Sample) {
        let ends = [end!(self.state, shown_velocity), end!(self.trial, velocity)];
        self.between(ends, time, &self.state.configuration, &self.trial.increment, out);
    }

    /// Time at the end of the step that is about to be accepted; for [`super::Observer::landing`].
    pub fn pending_time(&self) -> f64 {
        self.trial.time
    }

    fn between(&self, ends: [End; 2], time: f64, base: &[f64], increment: &[f64], out: &mut Sample) -> f64 {
        let [from, to] = ends;
        let length = to.time - from.time;
        let part = if length > 0.0 { ((time - from.time) / length).clamp(0.0, 1.0) } else { 1.0 };
        out.time = time;
        let space = &self.work.shape.space;
        let cubic = Cubic::at(part, length);
        out.rate.resize(increment.len(), 0.0);
        out.increment.clear();
        // ẋ = T⁻¹(x) v; T is singular only where a step turns a body by a whole turn.
        match space.inverse_tangent_multiply(increment, to.velocity, &mut out.rate) {
            Ok(()) => {
                let values = increment.iter().zip(from.velocity).zip(&out.rate);
                out.increment.extend(values.map(|((x, v), rate)| cubic.value([0.0, *x], [*v, *rate])));
            }
            Err(_) => out.increment.extend(increment.iter().map(|x| part * x)),
        }
        out.configuration.resize(base.len(), 0.0);
        space.compose_exp(base, &out.increment, &mut out.configuration);
        out.velocity.clear();
        let velocities = from.velocity.iter().zip(to.velocity);
        let accelerations = from.acceleration.iter().zip(to.acceleration);
        out.velocity.extend(
            velocities.zip(accelerations).map(|((v0, v1), (a0, a1))| cubic.value([*v0, *v1], [*a0, *a1])),
        );
        let linear = |from: &[f64], to: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(from.iter().zip(to).map(|(from, to)| from + part * (to - from)));
        };
        linear(from.acceleration, to.acceleration, &mut out.acceleration);
        linear(from.multipliers, to.multipliers, &mut out.multipliers);
        linear(from.nonholonomic_multipliers, to.nonholonomic_multipliers, &mut out.nonholonomic_multipliers);
        out.internal_states.clear();
        for (i, algebraic) in self.trial.algebraic.iter().enumerate() {
            let values = [from.internal_states[i], to.internal_states[i]];
            out.internal_states.push(if *algebraic {
                values[0] + part * (values[1] - values[0])
            } else {
                cubic.value(values, [from.internal_rates[i], to.internal_rates[i]])
            });
        }
        part
    }
}

/// The cubic through two values with two slopes, at one place.
struct Cubic {
    values: [f64; 2],
    slopes: [f64; 2],
}

impl Cubic {
    /// Weights at a part of an interval of a length.
    fn at(part: f64, length: f64) -> Self {
        let (square, rest) = (part * part, 1.0 - part);
        let late = square * (3.0 - 2.0 * part);
        Self { values: [1.0 - late, late], slopes: [length * part * rest * rest, -length * square * rest] }
    }

    fn value(&self, values: [f64; 2], slopes: [f64; 2]) -> f64 {
        let [first, last] = [0, 1].map(|end| self.values[end] * values[end] + self.slopes[end] * slopes[end]);
        first + last
    }
}
