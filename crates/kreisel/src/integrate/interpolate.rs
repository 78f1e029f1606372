//! Values within a step, whether it was accepted or is still pending.

use super::Sample;
use super::integration::Integration;
use crate::dae::Dae;

/// Values at one end of a step.
struct End<'a> {
    time: f64,
    velocity: &'a [f64],
    acceleration: &'a [f64],
    multipliers: &'a [f64],
    slip_multipliers: &'a [f64],
    states: &'a [f64],
}

macro_rules! end {
    ($values:expr, $velocity:ident) => {
        End {
            time: $values.time,
            velocity: &$values.$velocity,
            acceleration: &$values.acceleration,
            multipliers: &$values.multipliers,
            slip_multipliers: &$values.slip_multipliers,
            states: &$values.states,
        }
    };
}

impl<D: Dae + ?Sized> Integration<'_, D> {
    /// Values at a time within the last step: on the group along q_n ∘ exp(ϑ h Δq̃) [ArnoldCardonaBruls2015,
    /// Remark 2.2], otherwise linear; second order in q, v and λ.
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
        out.increment.clear();
        out.increment.extend(increment.iter().map(|x| part * x));
        out.configuration.resize(base.len(), 0.0);
        self.work.shape.space.compose_exp(base, &out.increment, &mut out.configuration);
        let linear = |from: &[f64], to: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(from.iter().zip(to).map(|(from, to)| from + part * (to - from)));
        };
        linear(from.velocity, to.velocity, &mut out.velocity);
        linear(from.acceleration, to.acceleration, &mut out.acceleration);
        linear(from.multipliers, to.multipliers, &mut out.multipliers);
        linear(from.slip_multipliers, to.slip_multipliers, &mut out.slip_multipliers);
        linear(from.states, to.states, &mut out.states);
        part
    }
}
