//! New starts in the course of an integration.

use super::control::ControlHistory;
use super::error::StepError;
use super::integration::Integration;
use super::scheme::{Next, Side, StartPoint};

impl Integration<'_> {
    /// Starts the method anew from the present position and velocity: after a corner or jump of an input,
    /// where the derivatives that the method carries along no longer hold.
    ///
    /// The velocity is projected onto the hidden constraints first, so a drive whose speed jumps moves the
    /// machine by the impulse that is smallest in the norm of the mass matrix.
    pub fn restart(&mut self) -> Result<(), StepError> {
        // Inputs that jump here must be seen after the jump.
        let time = self.state.now.time.next_up();
        let projected = self.project_velocity_at(time);
        self.state.clock.step = 0.0;
        self.state.clock.after_corner = true;
        projected?;
        self.start_at(StartPoint { time, side: Side::After })
    }

    /// Does what the method asked for after a step, which may have led to a corner of the inputs.
    pub(super) fn go_on(&mut self, next: Next, to_corner: bool) -> Result<(), StepError> {
        if next == Next::GoOn {
            return Ok(());
        }
        let now = &self.state.now;
        let time = if to_corner { now.time.next_down() } else { now.time };
        let at = StartPoint { time, side: Side::Both };
        self.tools.kkt.set_states(&now.internal_states, &now.memory);
        self.state.clock.step = 0.0;
        self.start_at(at)
    }

    /// Starts with the step that would have come next: what happened before says nothing about its error, but
    /// more about its size than anything else does.
    fn start_at(&mut self, at: StartPoint) -> Result<(), StepError> {
        let step = self.usual_step();
        if self.tools.settings.error_control.is_some() {
            self.state.control = ControlHistory::starting(step);
        }
        self.start_method(step, at).map_err(|failure| self.kkt_error(failure, step))
    }

    /// Projects the velocity onto the hidden constraints with the smallest change in the norm of the mass
    /// matrix [ArnoldCardonaBruls2015Projection, Eqs. (7)].
    ///
    /// With `index3` this costs an order in the multipliers for some hundred steps: the residual it removes
    /// is what keeps them accurate [ArnoldCardonaBruls2015Projection, §3]. `bdf2` has a past that does not
    /// follow: start anew after it.
    pub fn project_velocity(&mut self) -> Result<(), StepError> {
        self.project_velocity_at(self.state.now.time)
    }

    fn project_velocity_at(&mut self, time: f64) -> Result<(), StepError> {
        let Self { tools, state, .. } = self;
        tools.kkt.set_states(&state.now.internal_states, &state.now.memory);
        if let Some(velocity) = state.base_velocity.take() {
            state.now.velocity = velocity;
        }
        let (configuration, velocity) = (&state.now.configuration, &mut state.now.velocity);
        let outcome = tools.kkt.scale_hidden_residual(tools.dae, time, configuration, velocity, 0.0);
        outcome.map(|_| ()).map_err(|failure| self.kkt_error(failure, self.state.clock.step))
    }
}
