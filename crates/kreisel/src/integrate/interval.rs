//! A step as those see it who watch: its ends, and the values within.

use super::integration::{Integration, StepReport};
use crate::dae::{Shape, Values};

/// The ends of a step.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Values at its start, as they are shown.
    pub from: &'a Values,
    /// Values at its end.
    pub to: &'a Values,
    /// Increment h Δq from the one to the other.
    pub increment: &'a [f64],
}

/// A step, pending or taken.
pub trait Interval {
    /// Its ends. The configuration at the end of a pending step is that of the last iteration.
    fn ends(&self) -> Ends<'_>;

    /// Values at a time within the step: on the group along q_n ∘ exp(x̃(ϑ)) [ArnoldCardonaBruls2015, Remark
    /// 2.2], with the cubic x that has the velocities at both ends; v and first-order internal states by the
    /// cubic with their rates, accelerations and rates linear, and multipliers as the method knows them. No
    /// order is lost in q, v and λ, and steps may be large where the motion is simple.
    fn at(&mut self, time: f64, out: &mut Values);

    /// What the step took; zeros while it is pending.
    fn report(&self) -> StepReport;
}

/// Pieces of a step of high order: the error of a rule of second order is then a 64th.
const PIECES: u32 = 8;

/// The last step that was accepted.
pub(super) struct Taken<'i, 'd>(pub &'i mut Integration<'d>);

/// The step that is about to be accepted.
pub(super) struct Pending<'i, 'd>(pub &'i mut Integration<'d>);

impl Interval for Taken<'_, '_> {
    fn ends(&self) -> Ends<'_> {
        self.0.last_ends()
    }

    fn at(&mut self, time: f64, out: &mut Values) {
        self.0.interpolate(time, out);
    }

    fn report(&self) -> StepReport {
        let report = self.0.last_report();
        StepReport { pieces: if report.error_constant.is_some() { 1 } else { PIECES }, ..report }
    }
}

impl Interval for Pending<'_, '_> {
    fn ends(&self) -> Ends<'_> {
        let Integration { state, trial, .. } = &*self.0;
        Ends { from: &state.now, to: &trial.values, increment: &trial.increment }
    }

    fn at(&mut self, time: f64, out: &mut Values) {
        let Integration { state, trial, tools, scheme, scratch, .. } = &mut *self.0;
        let ends = Ends { from: &state.now, to: &trial.values, increment: &trial.increment };
        between(&tools.shape, ends, time, scratch, out);
        scheme.interpolate(tools, &ends, time, out);
        out.memory.clone_from(&state.now.memory);
    }

    fn report(&self) -> StepReport {
        StepReport::default()
    }
}

impl Integration<'_> {
    /// The ends of the last accepted step; at the start both are there.
    pub fn last_ends(&self) -> Ends<'_> {
        Ends { from: &self.previous, to: &self.state.now, increment: &self.last_increment }
    }

    /// Values at a time within the last step, as by [`Interval::at`].
    pub fn interpolate(&mut self, time: f64, out: &mut Values) {
        let Self { previous, state, last_increment, tools, scheme, scratch, .. } = self;
        let ends = Ends { from: previous, to: &state.now, increment: last_increment };
        if between(&tools.shape, ends, time, scratch, out) == 1.0 {
            out.configuration.copy_from_slice(&state.now.configuration);
        } else {
            scheme.interpolate(tools, &ends, time, out);
        }
        out.memory.clone_from(&state.now.memory);
        self.count_work();
    }
}

/// Arrays of the interpolation.
#[derive(Default)]
pub(super) struct Scratch {
    /// Increment from the start of the step.
    increment: Vec<f64>,
    /// Rate of the increment at the end of the step.
    rate: Vec<f64>,
}

/// Everything but the memory; gives the part of the step.
fn between(shape: &Shape, ends: Ends, time: f64, scratch: &mut Scratch, out: &mut Values) -> f64 {
    let Ends { from, to, increment } = ends;
    let length = to.time - from.time;
    let part = if length > 0.0 { ((time - from.time) / length).clamp(0.0, 1.0) } else { 1.0 };
    out.time = time;
    let cubic = Cubic::at(part, length);
    scratch.rate.resize(increment.len(), 0.0);
    scratch.increment.clear();
    // ẋ = T⁻¹(x) v; T is singular only where a step turns a body by a whole turn.
    match shape.space.inverse_tangent_multiply(increment, &to.velocity, &mut scratch.rate) {
        Ok(()) => {
            let values = increment.iter().zip(&from.velocity).zip(&scratch.rate);
            scratch.increment.extend(values.map(|((x, v), rate)| cubic.value([0.0, *x], [*v, *rate])));
        }
        Err(_) => scratch.increment.extend(increment.iter().map(|x| part * x)),
    }
    out.configuration.resize(from.configuration.len(), 0.0);
    shape.space.compose_exp(&from.configuration, &scratch.increment, &mut out.configuration);
    out.velocity.clear();
    let velocities = from.velocity.iter().zip(&to.velocity);
    let accelerations = from.acceleration.iter().zip(&to.acceleration);
    out.velocity.extend(
        velocities.zip(accelerations).map(|((v0, v1), (a0, a1))| cubic.value([*v0, *v1], [*a0, *a1])),
    );
    let linear = |from: &[f64], to: &[f64], out: &mut Vec<f64>| {
        out.clear();
        out.extend(from.iter().zip(to).map(|(from, to)| from + part * (to - from)));
    };
    linear(&from.acceleration, &to.acceleration, &mut out.acceleration);
    linear(&from.multipliers, &to.multipliers, &mut out.multipliers);
    linear(&from.nonholonomic_multipliers, &to.nonholonomic_multipliers, &mut out.nonholonomic_multipliers);
    linear(&from.internal_rates, &to.internal_rates, &mut out.internal_rates);
    out.internal_states.clear();
    for (i, algebraic) in shape.algebraic_states().enumerate() {
        let values = [from.internal_states[i], to.internal_states[i]];
        out.internal_states.push(if algebraic {
            values[0] + part * (values[1] - values[0])
        } else {
            cubic.value(values, [from.internal_rates[i], to.internal_rates[i]])
        });
    }
    part
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
