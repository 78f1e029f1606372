//! The start of blocks that are steady at first: filters, transfer functions, the derivative of a controller.

use crate::dae::{Note, NoteKind};
use crate::integrate::{INDEX2, Integrator, Parameters, Settings};
use crate::machine::{Machine, StartFrom, SteadyStart};

/// Spectral radius and step of a method that is started and makes no step: positions and velocities do not
/// depend on them.
const STARTED: (f64, f64) = (0.9, 1e-3);

impl Machine {
    /// States at the start, once it is known how the machine fits together: then the inputs of the blocks
    /// are. Nothing if it does not fit, which the start itself tells.
    pub(super) fn steady_start(&self) -> Option<SteadyStart> {
        let (radius, step) = STARTED;
        let settings = Settings::new(INDEX2, Parameters::chung_hulbert(radius).ok()?, step);
        let start = Integrator::with(settings).start(&self.system, self.initial.clone()).ok()?;
        Some(self.steady_states(start.values()))
    }

    /// About blocks that should start steady and do not. It looks for their start once more, so that a run
    /// that goes on from a checkpoint tells the same.
    pub fn steady_note(&self) -> Option<Note> {
        if self.settings.start == StartFrom::Static || !self.starts_steady() {
            return None;
        }
        let SteadyStart::Missing { state, rate } = self.steady_start()? else { return None };
        let name = self.system.state_name(state);
        let text = format!(
            "no steady start was found, so what should start steady starts at zero: `{name}` changes by {rate:.2e} per s"
        );
        let note = |text: String| {
            Note::new(NoteKind::NoSteadyStart, text).at(self.initial.time).about(name).number(rate)
        };
        // Bristles have no key for it.
        if !self.signals().states().iter().any(|signal| signal.state.0 == state) {
            return Some(note(text));
        }
        let advice = "give the block `initial` values";
        Some(note(format!("{text}; {advice}")).advice(advice))
    }
}
