//! Who watches accepted steps: recorders, progress bars, live views.

use super::integration::Integration;
use crate::dae::Control;

/// Watches accepted steps; the integrator itself has no output code.
pub trait Observer<D: ?Sized> {
    /// Called after every accepted step.
    fn accepted(&mut self, integration: &Integration<'_, D>) -> Control;

    /// Called before a step is accepted: the time at which it is to end instead, to land on an event.
    ///
    /// [`Integration::interpolate_pending`] shows the step. A time after its end makes it longer: after a shorter
    /// step that ended before the event. It is called again for the step that ends there.
    fn landing(&mut self, integration: &Integration<'_, D>) -> Option<f64> {
        let _ = integration;
        None
    }

    /// Called where the method starts, and starts anew at a corner of the inputs: forces may jump here.
    fn started(&mut self, integration: &Integration<'_, D>) {
        let _ = integration;
    }
}

/// Nobody watches.
impl<D: ?Sized> Observer<D> for () {
    fn accepted(&mut self, _: &Integration<'_, D>) -> Control {
        Control::Continue
    }
}

/// A closure that watches.
impl<D: ?Sized, F: FnMut(&Integration<'_, D>) -> Control> Observer<D> for F {
    fn accepted(&mut self, integration: &Integration<'_, D>) -> Control {
        self(integration)
    }
}
