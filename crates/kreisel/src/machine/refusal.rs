//! Why a run is not allowed to go on: the machine asks for what cannot be.

use thiserror::Error;

use super::prescribed::short;
use crate::model::Jump;
use crate::system::SwitchError;

/// Why a run ends where no step failed.
#[derive(Clone, Error, PartialEq)]
pub enum Refusal {
    /// An event switches on a joint that does not fit.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// A prescribed motion jumps.
    #[error(
        "{what} goes from {} to {} {unit} at once at t = {} s (in a step of {} s): nothing that has mass can follow a jump. Let it \
         move there in a finite time, and take steps that resolve it",
        short(jump.before), short(jump.after), short(jump.time), short(*step)
    )]
    Jump {
        /// The key and the part.
        what: String,
        /// Where it jumps.
        jump: Jump,
        /// Unit of the values.
        unit: &'static str,
        /// Size of the step in s.
        step: f64,
    },
    /// A step failed where the equations of a joint end.
    #[error("`{joint}` cannot go on at t = {} s: {reason}", short(*time))]
    Limit {
        /// The joint.
        joint: String,
        /// The time.
        time: f64,
        /// What ends there, and what to do.
        reason: String,
    },
    /// The expression of an event has no value.
    #[error(
        "`zero-of` of the event `{event}` is not a number at t = {} s: look at what it divides by or takes roots or logarithms of",
        short(*time)
    )]
    NoValue {
        /// The event.
        event: String,
        /// The time.
        time: f64,
    },
    /// More energy came from nowhere than there was.
    #[error(
        "{} came from nowhere, of {in_play:.1e} J that were ever in play: this is not the motion of the machine. Take smaller \
         steps, or a smaller `rtol` with `step = \"auto\"`",
        amount(*gain)
    )]
    EnergyFromNowhere {
        /// The largest defect of the energy balance, in J.
        gain: f64,
        /// Energy in play, in J.
        in_play: f64,
    },
}

shown_by_message!(Refusal);

/// An energy in words.
fn amount(energy: f64) -> String {
    if energy.is_finite() {
        format!("{energy:.1e} J")
    } else {
        "More energy than a number can hold".to_owned()
    }
}
