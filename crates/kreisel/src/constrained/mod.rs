//! Constrained systems at one time: the layout of their unknowns, consistent positions, velocities,
//! accelerations and multipliers, the closure of loops, and constraints that follow from others.

mod closure;
mod compliance;
mod consistent;
mod error;
mod follow;
mod functions;
mod index1;
mod kkt;
mod layout;
mod led;
mod redundancy;
mod scales;
mod stated;

pub(crate) use closure::{ClosureFailure, ClosureGoal, misses, named};
pub(crate) use compliance::{compliance, compliance_anywhere, compliance_of, comply};
pub use consistent::StartReport;
pub(crate) use consistent::{
    check_initial, closed, fit_together, moving_nearly, moving_together, refuse, start_velocity,
};
pub use error::{ConsistencyError, Miss, StatedChange};
pub(crate) use error::{blame, in_words};
pub(crate) use follow::{FollowError, ROUNDING, Way};
pub use functions::At;
pub(crate) use kkt::{Kkt, KktFailure, largest};
pub(crate) use layout::{Copies, CopyIndex, Layout, RowKind, StateScaling, place_values, view};
pub(crate) use led::Led;
pub use redundancy::Redundancy;
pub(crate) use redundancy::{IndependentRows, implied_positions, independent_rows};
pub(crate) use scales::coordinate_scales;
pub(crate) use stated::REFUSED_CHANGE;
