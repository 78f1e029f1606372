//! Corners of the inputs: whether the method must start anew there.

use super::{Integration, StepError};
use crate::dae::Point;

/// Part of a step over which inputs are compared with what they are at once: short beside anything that steps
/// follow, long beside the rounding of the time.
const WIDE: f64 = 1e-3;
/// Part of the next step that the last one is at least, if what is carried over a corner is to hold for it. A
/// choice: an extrapolation by ten steps is none.
const EVEN: f64 = 0.1;
/// A change at once that is this part of the one over [`WIDE`] is a jump: the change of a kink over two
/// neighbouring times is 1e-10 of it or less.
const JUMP: f64 = 1e-3;

impl Integration<'_> {
    /// Goes on after a corner of the inputs that [`Integration::run_to_corner`] reached.
    ///
    /// The method starts anew as by [`Integration::restart`], except where nothing is constrained and the
    /// forces are continuous: positions and velocities keep their order through a mere kink, and the starting
    /// values of a stiff system would stir up its fastest motions. Multipliers would show the kink for some
    /// steps, so with constraints it starts anew, and so it does after a step far shorter than the next: what
    /// it carries would be moved on by the slopes before the kink.
    pub fn pass_corner(&mut self) -> Result<(), StepError> {
        let free = self.dae().shape().constraint_count() == 0;
        let is_even = self.state.clock.step > EVEN * self.usual_step();
        if free && is_even && !self.forces_jump() { Ok(()) } else { self.restart() }
    }

    /// Whether the forces change at once at the present time.
    fn forces_jump(&self) -> bool {
        let (time, wide) = (self.state.now.time, WIDE * self.settings().step);
        let change = |before: f64, after: f64| -> f64 {
            let (before, after) = (self.forces(before), self.forces(after));
            before.iter().zip(&after).fold(0.0, |largest, (a, b)| (b - a).abs().max(largest))
        };
        let (before, after) = (time.next_down(), time.next_up());
        // On each side: over both, the forces of a kink between equal slopes of opposite signs do not change
        // at all.
        change(before, after) > JUMP * change(time - wide, before).max(change(after, time + wide))
    }

    /// Equilibrium of the present motion with the inputs of a time.
    fn forces(&self, time: f64) -> Vec<f64> {
        let state = &self.state;
        let at = Point { time, velocity: state.base_velocity(), ..state.now.point() };
        let found = self.residual_at(&at);
        [found.equilibrium, found.internal_rates].concat()
    }
}
