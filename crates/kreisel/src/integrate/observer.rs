//! Who watches accepted steps: recorders, progress bars, live views.

use super::interval::Interval;
use crate::dae::{Control, Values};

/// Watches accepted steps; the integrator itself has no output code.
pub trait Observer {
    /// Called where the method starts, and starts anew at a corner of the inputs: forces may jump here.
    fn started(&mut self, at: &Values) {
        let _ = at;
    }

    /// Called before a step is accepted: the time at which it is to end instead, to land on an event.
    ///
    /// A time after its end makes it longer: after a shorter step that ended before the event. It is called
    /// again for the step that ends there.
    fn landing(&mut self, pending: &mut dyn Interval) -> Option<f64> {
        let _ = pending;
        None
    }

    /// Called after every accepted step.
    fn accepted(&mut self, last: &mut dyn Interval) -> Control;
}

/// Nobody watches.
impl Observer for () {
    fn accepted(&mut self, _: &mut dyn Interval) -> Control {
        Control::Continue
    }
}

/// A closure that watches.
impl<F: FnMut(&mut dyn Interval) -> Control> Observer for F {
    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        self(last)
    }
}
