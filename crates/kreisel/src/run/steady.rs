//! The start of blocks that are steady at first: filters, transfer functions, the derivative of a controller.

use crate::dae::Initial;
use crate::integrate::{INDEX2, Integrator, Parameters, Settings};
use crate::machine::Machine;

/// Spectral radius and step of a method that is started and makes no step: positions and velocities do not
/// depend on them.
const STARTED: (f64, f64) = (0.9, 1e-3);

impl Machine {
    /// States at the start, once it is known how the machine fits together: then the inputs of the blocks are.
    /// Nothing if it does not fit, which the start itself tells, or if there is no steady state.
    pub(super) fn steady_start(&self, initial: &Initial) -> Option<Vec<f64>> {
        let (radius, step) = STARTED;
        let settings = Settings::new(INDEX2, Parameters::chung_hulbert(radius).ok()?, step);
        let start = Integrator::with(settings).start(&self.system, initial.clone()).ok()?;
        self.steady_states(start.values())
    }
}
