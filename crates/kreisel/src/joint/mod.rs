//! What holds: joints keep constraints between the nodes they touch.
//!
//! Joints that lock relative coordinates are data, not types: [`CoordinateJoint`] holds rows Σ c_k x_k − f(t)
//! = 0 of
//! [`Coordinate`](crate::kinematics::Coordinate)s between frames, and [`lower_pair`] has the named ones (revolute, prismatic, …). New types are for
//! new equations: they implement [`Joint`]. A joint may also hold velocities ([`Rolling`], [`KnifeEdge`],
//! [`VelocityCoupling`]) by nonholonomic equations.

#[cfg(test)]
mod contract;
mod coordinate_joint;
mod guided_body;
mod knife_edge;
mod lock;
pub mod lower_pair;
mod rolling;
mod velocity_coupling;

pub(crate) use coordinate_joint::KnownRows;
pub use coordinate_joint::{CoordinateJoint, CoupledCoordinate, Row, RowTarget, Term, TimeLaw};
pub use guided_body::{Guide, GuidedBody, Turn};
pub use knife_edge::KnifeEdge;
pub use lock::Lock;
pub use rolling::{Rolling, Wheel};
pub use velocity_coupling::{Rate, RateTerm, VelocityCoupling};

use crate::kinematics::{LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeId};
use crate::lie::{Pose, Vector6};

/// What holds: equations between nodes that reactions keep.
///
/// The derivatives have defaults by differences of [`Joint::violation`] and [`Joint::gradient`].
pub trait Joint: Send + Sync {
    /// Nodes in the order of this joint's local columns, [`MAX_NODES`] at most; the ground is no node.
    fn nodes(&self) -> &[NodeId];

    /// Number of equations, [`MAX_ROWS`] at most.
    fn size(&self) -> usize;

    /// Violation Φ of each equation.
    fn violation(&self, at: &Motion, out: &mut [f64]);

    /// Derivative B of the violation along body twists.
    fn gradient(&self, at: &Motion, out: &mut LocalGradient);

    /// Adds D(Bᵀλ): how the reaction wrenches change with the configuration.
    fn add_reaction_stiffness(&self, at: &Motion, multipliers: &[f64], out: &mut LocalTangent) {
        let gradient = |at: &Motion, out: &mut LocalGradient| self.gradient(at, out);
        differences::add_reaction_stiffness(gradient, at, multipliers, out);
    }

    /// Writes the violation Φ and adds the reaction wrenches Bᵀλ; a joint may do both in one pass.
    fn evaluate(&self, at: &Motion, multipliers: &[f64], violation: &mut [f64], wrenches: &mut [Vector6]) {
        evaluate_apart(self, at, multipliers, violation, wrenches);
    }

    /// Adds the rate B V of each equation at fixed time.
    fn add_rates(&self, at: &Motion, out: &mut [f64]) {
        let mut gradient = LocalGradient::zeros();
        self.gradient(at, &mut gradient);
        gradient.multiply_add(at.nodes, out);
    }

    /// Adds the gradient B and D(Bᵀλ); a joint may do both in one pass.
    fn linearize(
        &self,
        at: &Motion,
        multipliers: &[f64],
        gradient: &mut LocalGradient,
        stiffness: &mut LocalTangent,
    ) {
        self.gradient(at, gradient);
        self.add_reaction_stiffness(at, multipliers, stiffness);
    }

    /// [`Joint::linearize`], and writes the violation Φ; a joint may do both in one pass.
    fn linearize_with_violation(
        &self,
        at: &Motion,
        multipliers: &[f64],
        violation: &mut [f64],
        gradient: &mut LocalGradient,
        stiffness: &mut LocalTangent,
    ) {
        self.violation(at, violation);
        self.linearize(at, multipliers, gradient, stiffness);
    }

    /// Derivative of B v + Φ_t by the configuration at fixed twists.
    fn rate_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        let gradient = |at: &Motion, out: &mut LocalGradient| self.gradient(at, out);
        differences::rate_gradient(gradient, at, self.size(), out);
    }

    /// Whether the equations depend on time.
    fn is_rheonomic(&self) -> bool {
        false
    }

    /// Partial time derivatives of each equation: Φ_t, and that of B v + Φ_t at fixed q and v, which is Φ_tt
    /// where B does not depend on time.
    fn time_derivatives(&self, at: &Motion) -> ([f64; MAX_ROWS], [f64; MAX_ROWS]) {
        let _ = at;
        ([0.0; MAX_ROWS], [0.0; MAX_ROWS])
    }

    /// Number of nonholonomic equations, [`MAX_ROWS`] at most: conditions on velocities that no condition on
    /// positions implies.
    fn nonholonomic_count(&self) -> usize {
        0
    }

    /// Derivative A of the nonholonomic equations κ = A(q) V + b(t) by the body twists V, on which it does
    /// not depend.
    fn nonholonomic_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        let _ = (at, out);
        debug_assert_eq!(
            self.nonholonomic_count(),
            0,
            "a joint with nonholonomic equations must give their gradient"
        );
    }

    /// b and its time derivative in each nonholonomic equation κ = A(q) V + b(t).
    fn nonholonomic_targets(&self, at: &Motion) -> ([f64; MAX_ROWS], [f64; MAX_ROWS]) {
        let _ = at;
        ([0.0; MAX_ROWS], [0.0; MAX_ROWS])
    }

    /// Adds D(Aᵀψ): how the reaction wrenches change with the configuration.
    fn add_nonholonomic_reaction_stiffness(&self, at: &Motion, multipliers: &[f64], out: &mut LocalTangent) {
        let gradient = |at: &Motion, out: &mut LocalGradient| self.nonholonomic_gradient(at, out);
        differences::add_reaction_stiffness(gradient, at, multipliers, out);
    }

    /// Derivative of κ by the configuration at fixed twists.
    fn nonholonomic_rate_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        let gradient = |at: &Motion, out: &mut LocalGradient| self.nonholonomic_gradient(at, out);
        differences::rate_gradient(gradient, at, self.nonholonomic_count(), out);
    }

    /// Whether the multiplier of a nonholonomic equation is a torque rather than a force.
    fn is_nonholonomic_torque(&self, row: usize) -> bool {
        let _ = row;
        false
    }

    /// Whether the multiplier of an equation is a torque rather than a force.
    fn is_torque(&self, row: usize) -> bool {
        let _ = row;
        false
    }

    /// How many angles the joint remembers to count full turns.
    fn memory_count(&self) -> usize {
        0
    }

    /// Renews the remembered angles after an accepted step.
    fn remember(&self, at: &Motion, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Called when the joint is switched on while the machine runs: what it holds from now on may follow from
    /// where the machine is.
    fn engage(&self, at: &Motion, memory: &mut [f64]) {
        let _ = (at, memory);
    }

    /// Where the reaction is measured: the local index of the second body and the joint's frame on it, or the
    /// frame in the world if the ground is second.
    fn reaction_frame(&self) -> (Option<usize>, Pose) {
        (self.nodes().len().checked_sub(1), Pose::identity())
    }

    /// Times between two others at which the equations are not smooth.
    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }
}

/// Violation and reaction wrenches from [`Joint::violation`] and [`Joint::gradient`].
fn evaluate_apart<J: Joint + ?Sized>(
    joint: &J,
    at: &Motion,
    multipliers: &[f64],
    violation: &mut [f64],
    wrenches: &mut [Vector6],
) {
    joint.violation(at, violation);
    let mut gradient = LocalGradient::zeros();
    joint.gradient(at, &mut gradient);
    for (row, lambda) in gradient.rows.iter().zip(multipliers) {
        wrenches.iter_mut().zip(row).for_each(|(wrench, row)| *wrench += *lambda * row);
    }
}

mod differences {
    //! Derivatives by central differences, for joints that give none.

    use super::MAX_NODES;
    use crate::kinematics::LocalGradient;
    use crate::kinematics::{LocalTangent, Motion, NodeMotion, shift_pose};

    const STEP: f64 = 6e-6;

    /// Gradient with one node moved along one direction, forth minus back over the distance.
    fn gradient_slope(
        gradient_at: &impl Fn(&Motion, &mut LocalGradient),
        at: &Motion,
        node: usize,
        direction: usize,
    ) -> LocalGradient {
        let moved_gradient = |distance: f64| {
            let count = at.nodes.len();
            let mut nodes: [NodeMotion; MAX_NODES] = std::array::from_fn(|i| at.nodes[i.min(count - 1)]);
            shift_pose(&mut nodes[node], direction, distance);
            let mut gradient = LocalGradient::zeros();
            gradient_at(&Motion { nodes: &nodes[..count], ..*at }, &mut gradient);
            gradient
        };
        let (mut forth, back) = (moved_gradient(STEP), moved_gradient(-STEP));
        for (forth, back) in forth.rows.iter_mut().flatten().zip(back.rows.iter().flatten()) {
            *forth = (*forth - back) / (2.0 * STEP);
        }
        forth
    }

    pub fn add_reaction_stiffness(
        gradient_at: impl Fn(&Motion, &mut LocalGradient),
        at: &Motion,
        multipliers: &[f64],
        out: &mut LocalTangent,
    ) {
        for node in 0..at.nodes.len() {
            for direction in 0..6 {
                let slope = gradient_slope(&gradient_at, at, node, direction);
                for (row, lambda) in slope.rows.iter().zip(multipliers) {
                    for (i, change) in row[..at.nodes.len()].iter().enumerate() {
                        let mut column = out.stiffness(i, node).column_mut(direction);
                        column += *lambda * change;
                    }
                }
            }
        }
    }

    pub fn rate_gradient(
        gradient_at: impl Fn(&Motion, &mut LocalGradient),
        at: &Motion,
        size: usize,
        out: &mut LocalGradient,
    ) {
        for node in 0..at.nodes.len() {
            for direction in 0..6 {
                let slope = gradient_slope(&gradient_at, at, node, direction);
                for (row, target) in slope.rows.iter().zip(&mut out.rows).take(size) {
                    let rate: f64 = row.iter().zip(at.nodes).map(|(g, node)| g.dot(&node.velocity)).sum();
                    target[node][direction] += rate;
                }
            }
        }
    }
}
