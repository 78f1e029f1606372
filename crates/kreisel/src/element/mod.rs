//! What pushes: elements add forces to the nodes they touch. One file each.

pub mod beam;
mod body;
mod bushing;
pub mod contact;
mod differences;
mod forces;
mod held_input;
mod joint_force;
mod joint_friction;
mod marker_force;
mod signal;
mod spring;
mod state;
mod state_equations;
mod tyre;

pub use body::Body;
pub use bushing::Bushing;
pub use forces::{ElementFacts, Forces, OfferedSignal};
pub use held_input::HeldInput;
pub use joint_force::JointForce;
pub use joint_friction::{Bearing, JointFriction, SlidingMotion};
pub use marker_force::{Axes, MarkerForce};
pub use signal::{MAX_SIGNALS, MotionSignal, Quantity, Signal, SignalFunction};
pub use spring::{CoordinateForce, EndStop, ForceLaw, ForceValue, LinearSpring, RegularizedFriction};

pub use state::{LocalStateTangent, MAX_MULTIPLIERS, MAX_STATES, StateId};
pub use state_equations::StateEquations;
pub use tyre::{RoadProfile, Tyre, TyreData, TyreResult};

use crate::kinematics::Motion;
use crate::lie::Vector6;

/// What pushes: adds forces to the nodes it touches.
///
/// Everything is in body twists (see [`crate::kinematics::NodeMotion`]); the system turns it into the
/// coordinates of the node's group.
pub trait Element: Send + Sync {
    /// What never changes: nodes, states, memory.
    fn facts(&self) -> ElementFacts<'_>;

    /// Answers what is asked in `out` by taking it: the wrenches at least (see [`Forces`]).
    fn evaluate(&self, at: &Motion, out: &mut Forces);

    /// Writes the numbers of a signal, by its place among those that the element offers.
    fn measure(&self, at: &Motion, signal: usize, out: &mut [f64]) {
        let _ = (at, signal, out);
    }

    /// Renews the remembered numbers after an accepted step. With `since` it moves them on within a step, if
    /// the element's follow: along the tangent at a motion before, from which each node went as far as a
    /// twist in its body axes then says.
    fn remember(&self, at: &Motion, since: Option<(&Motion, &[Vector6])>, memory: &mut [f64]) {
        let _ = (at, since, memory);
    }

    /// Times between two others at which the forces are not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}
