//! Who watches accepted steps: recorders, progress bars, live views.

use super::integration::Integration;
use crate::dae::Control;

/// Watches accepted steps; the integrator itself has no output code.
pub trait Observer {
    /// Called after every accepted step.
    fn accepted(&mut self, integration: &Integration<'_>) -> Control;

    /// Called before a step is accepted: the time at which it is to end instead, to land on an event.
    ///
    /// [`Integration::interpolate_pending`] shows the step. A time after its end makes it longer: after a shorter
    /// step that ended before the event. It is called again for the step that ends there.
    fn landing(&mut self, integration: &Integration<'_>) -> Option<f64> {
        let _ = integration;
        None
    }

    /// Called where the method starts, and starts anew at a corner of the inputs: forces may jump here.
    fn started(&mut self, integration: &Integration<'_>) {
        let _ = integration;
    }
}

/// Nobody watches.
impl Observer for () {
    fn accepted(&mut self, _: &Integration<'_>) -> Control {
        Control::Continue
    }
}

/// A closure that watches.
impl<F: FnMut(&Integration<'_>) -> Control> Observer for F {
    fn accepted(&mut self, integration: &Integration<'_>) -> Control {
        self(integration)
    }
}
