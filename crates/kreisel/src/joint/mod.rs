//! What holds: joints keep constraints between the nodes they touch.
//!
//! Joints that lock relative coordinates are data, not types: [`CoordinateJoint`] holds rows Σ c_k x_k − f(t)
//! = 0 of [`Coordinate`](crate::kinematics::Coordinate)s between frames, and [`lower_pair`] has the named
//! ones (revolute, prismatic, …). New types are for new equations: they implement [`Joint`]. A joint may also
//! hold velocities ([`Rolling`], [`KnifeEdge`], [`VelocityCoupling`]) by nonholonomic equations.

#[cfg(test)]
mod contract;
mod coordinate_joint;
mod guided_body;
mod knife_edge;
mod lock;
pub mod lower_pair;
mod rolling;
mod rows;
mod velocity_coupling;

pub(crate) use coordinate_joint::KnownRows;
pub use coordinate_joint::{CoordinateJoint, CoupledCoordinate, Row, RowTarget, Term, TimeLaw};
pub use guided_body::{Guide, GuidedBody, Turn};
pub use knife_edge::KnifeEdge;
pub use lock::Lock;
pub use rolling::{Rolling, Wheel};
pub use rows::{JointFacts, RowValues, Rows};
pub use velocity_coupling::{Rate, RateTerm, VelocityCoupling};

use crate::kinematics::Motion;

/// What holds: equations between nodes that reactions keep.
pub trait Joint: Send + Sync {
    /// What never changes: nodes, numbers of equations, memory.
    fn facts(&self) -> JointFacts<'_>;

    /// Answers what is asked in `out` by taking it: the violation and the gradient at least (see
    /// [`RowValues`]).
    fn evaluate(&self, at: &Motion, out: &mut Rows);

    /// Renews the remembered angles after an accepted step.
    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Called when the joint is switched on while the machine runs: what it holds from now on may follow from
    /// where the machine is.
    fn engage(&self, at: &Motion, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Times between two others at which the equations are not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}
