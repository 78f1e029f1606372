//! What the driver of an integration knows between two steps; what a method carries besides is its own.

use super::control::ControlHistory;
use super::scheme::Trial;
use crate::dae::{Dae, Point, Values};
use crate::lie::Space;

/// The solution and the clock of an integration between two steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) clock: Clock,
    /// The solution at t_n, with the velocity that is shown: at the start that of the user.
    pub(super) now: Values,
    /// Velocity v_0 of a method that starts with another one than is shown, for the sake of its order; absent
    /// after the first step.
    pub(super) base_velocity: Option<Vec<f64>>,
    /// What the control of the step size remembers.
    pub(super) control: ControlHistory,
    /// How far each constraint may give way to its multiplier because it is redundant; empty if none is.
    pub(super) compliance: Vec<f64>,
    /// Parts of the matrix of starting values that are eliminated together with their neighbours because they
    /// are singular by themselves (massless bodies); absent before the first factorisation.
    pub(super) merged_start: Option<Vec<usize>>,
}

/// Sizes of the steps behind, and where they are counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clock {
    /// Size of the step that led here; 0 at the start.
    pub step: f64,
    /// Size of the first step for which the method has started.
    pub first_step: f64,
    /// Time from which steps of the present size are counted.
    pub origin: f64,
    /// How many steps of the present size were taken from there.
    pub count: u64,
    /// How many steps of the last size were taken one after the other, wherever the clock was set in between.
    pub equal_steps: u64,
    /// Whether the method started here at a corner of the inputs, and has not taken a step since.
    pub after_corner: bool,
}

impl State {
    /// The solution as it is shown.
    pub fn values(&self) -> &Values {
        &self.now
    }

    /// Velocity v_n with which the next step begins.
    pub fn base_velocity(&self) -> &[f64] {
        self.base_velocity.as_deref().unwrap_or(&self.now.velocity)
    }

    /// Time after another step of a size.
    ///
    /// Steps of one size are counted from where the size began: sums of many steps would drift by rounding.
    pub(super) fn time_after(&self, step: f64) -> f64 {
        let Clock { count, origin, .. } = self.clock;
        if step == self.clock.step && count > 0 {
            origin + (count + 1) as f64 * step
        } else {
            self.now.time + step
        }
    }

    /// Moves the clock by a step.
    pub(super) fn count_step(&mut self, step: f64) {
        let time = self.time_after(step);
        let clock = &mut self.clock;
        clock.equal_steps = if step == clock.step { clock.equal_steps + 1 } else { 1 };
        if step == clock.step && clock.count > 0 {
            clock.count += 1;
        } else {
            (clock.origin, clock.count) = (self.now.time, 1);
        }
        clock.step = step;
        clock.after_corner = false;
        self.now.time = time;
    }

    /// Takes the values at the end of a step; `previous` gets those before it.
    pub(super) fn take(
        &mut self,
        dae: &dyn Dae,
        space: &Space,
        step: f64,
        trial: &mut Trial,
        previous: &mut Values,
    ) {
        // Values change places wherever they can: large machines wait for memory, not for numbers.
        let (now, values) = (&mut self.now, &mut trial.values);
        previous.time = now.time;
        std::mem::swap(&mut previous.configuration, &mut now.configuration);
        space.compose_exp(&previous.configuration, &trial.increment, &mut now.configuration);
        for [before, now, next] in [
            [&mut previous.velocity, &mut now.velocity, &mut values.velocity],
            [&mut previous.acceleration, &mut now.acceleration, &mut values.acceleration],
            [&mut previous.multipliers, &mut now.multipliers, &mut values.multipliers],
            [
                &mut previous.nonholonomic_multipliers,
                &mut now.nonholonomic_multipliers,
                &mut values.nonholonomic_multipliers,
            ],
            [&mut previous.internal_states, &mut now.internal_states, &mut values.internal_states],
            [&mut previous.internal_rates, &mut now.internal_rates, &mut values.internal_rates],
        ] {
            std::mem::swap(before, now);
            std::mem::swap(now, next);
        }
        self.base_velocity = None;
        if !now.memory.is_empty() {
            previous.memory.copy_from_slice(&now.memory);
            let mut memory = std::mem::take(&mut now.memory);
            let at = Point { time: values.time, memory: &values.memory, ..now.point() };
            dae.remember(&at, &mut memory);
            now.memory = memory;
        }
        self.count_step(step);
    }

    /// Sets the clock to a time that a sum of steps was to reach.
    pub(super) fn set_time(&mut self, time: f64) {
        if time != self.now.time {
            (self.now.time, self.clock.count) = (time, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_steps_of_one_size_end_without_rounding() {
        let mut state = State::default();
        state.now.time = 0.3;
        for _ in 0..1_000_000 {
            state.count_step(1e-3);
        }
        assert_eq!(state.now.time, 0.3 + 1e6 * 1e-3);
    }

    #[test]
    fn setting_the_clock_does_not_end_a_row_of_equal_steps() {
        let mut state = State::default();
        for _ in 0..3 {
            state.count_step(1e-3);
            state.set_time(state.now.time.next_up());
        }
        assert_eq!((state.clock.count, state.clock.equal_steps), (0, 3));
        state.count_step(2e-3);
        assert_eq!(state.clock.equal_steps, 1);
    }
}
