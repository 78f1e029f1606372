//! What pushes: elements add forces to the nodes they touch. One file each.

pub mod beam;
mod body;
mod bushing;
pub mod contact;
mod differences;
mod held_input;
mod joint_force;
mod joint_friction;
mod marker_force;
mod signal;
mod spring;
mod state;
mod state_equations;

pub use body::Body;
pub use bushing::Bushing;
pub use held_input::HeldInput;
pub use joint_force::JointForce;
pub use joint_friction::{Bearing, JointFriction, SlidingMotion};
pub use marker_force::{Axes, MarkerForce};
pub use signal::{MAX_SIGNALS, MotionSignal, Quantity, Signal, SignalFunction};
pub use spring::{CoordinateForce, EndStop, ForceLaw, ForceValue, LinearSpring, RegularizedFriction};

pub use state::{LocalStateTangent, MAX_MULTIPLIERS, MAX_STATES, StateId};
pub use state_equations::StateEquations;

use crate::dae::TangentWeights;
use crate::kinematics::{Energies, LocalForces, LocalTangent, Motion, NodeId, Power};
use crate::lie::Vector6;

/// What pushes: adds forces to the nodes it touches.
///
/// Everything is in body twists (see [`crate::kinematics::NodeMotion`]); the system turns it into the
/// coordinates of the node's group. Forces have the sign of the equilibrium M v̇ + g = 0: what pushes a node
/// forward is negative.
pub trait Element: Send + Sync {
    /// Nodes in the order of this element's local rows, [`crate::kinematics::MAX_NODES`] at most.
    fn nodes(&self) -> &[NodeId];

    /// Adds the residual: one wrench (torque, force) in body axes per node.
    fn residual(&self, at: &Motion, out: &mut LocalForces);

    /// Adds the residual as [`Element::tangent`] with remembered forces sees it: with those forces in place
    /// of the ones that the motion makes.
    fn remembered_residual(&self, at: &Motion, out: &mut LocalForces) {
        self.residual(at, out);
    }

    /// Adds the residual's derivatives; the default takes differences.
    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        differences::difference_tangent(self, at, weights, out);
    }

    /// States that the element reads, [`MAX_STATES`] at most; those it gives rates come first.
    fn internal_states(&self) -> &[StateId] {
        &[]
    }

    /// Joints, by index, whose holonomic multipliers the element reads: [`MAX_MULTIPLIERS`] numbers at most.
    fn joints(&self) -> &[usize] {
        &[]
    }

    /// To how many of its states, from the first on, the element gives rates.
    fn rate_count(&self) -> usize {
        0
    }

    /// Rates of the first states; the rates that several elements give a state add up. An algebraic state is
    /// found where its rate vanishes.
    fn rates(&self, at: &Motion, out: &mut [f64]) {
        let _ = (at, out);
    }

    /// Derivatives of wrenches and rates by states and multipliers, and of rates by the motion; the default
    /// takes differences. Asked only of elements with states or joints.
    fn state_tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalStateTangent) {
        state::difference_state_tangent(self, at, weights, out);
    }

    /// Adds the part of the residual that applied loads make (forces, moments, gravity): statics multiplies
    /// it by a load factor. Springs and other parts of the machine itself have none.
    fn load(&self, at: &Motion, out: &mut LocalForces) {
        let _ = (at, out);
    }

    /// Adds the derivative of [`Element::load`] by the configuration; the default takes differences.
    fn load_stiffness(&self, at: &Motion, out: &mut LocalTangent) {
        differences::difference_load_stiffness(self, at, out);
    }

    /// Stored energies, for conservation tests and energy plots.
    fn energies(&self, at: &Motion) -> Energies {
        let _ = at;
        Energies::default()
    }

    /// Power that enters or leaves the machine through this element.
    fn power(&self, at: &Motion) -> Power {
        let _ = at;
        Power::default()
    }

    /// What a contact does: depth, forces, place; nothing for other elements.
    fn contact(&self, at: &Motion) -> Option<contact::ContactResult> {
        let _ = at;
        None
    }

    /// How many numbers the element remembers: angles to count full turns, section forces of beams.
    fn memory_count(&self) -> usize {
        0
    }

    /// Renews the remembered numbers after an accepted step.
    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Whether the derivatives cost far more than the forces.
    fn has_costly_tangent(&self) -> bool {
        false
    }

    /// Moves remembered section forces on within a step, along the tangent at the motion before; `moves` say
    /// how far each node went since, as a twist in its body axes then.
    fn follow(&self, before: &Motion, moves: &[Vector6], memory: &mut [f64]) {
        let _ = (before, moves, memory);
    }

    /// Times between two others at which the forces are not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}
