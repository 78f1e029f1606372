//! A rigid body: inertia, and its weight.
//!
//! With the body frame at the centre of mass the residual in body twists is
//!
//! ```text
//! J Ω̇ + Ω × J Ω
//! m (U̇ + Ω × U) − m Rᵀγ                        [ArnoldCardonaBruls2015, Eqs. (22)]
//! ```

use super::{Element, ElementFacts, Forces};
use crate::kinematics::{Motion, NodeId, join, split};
use crate::lie::{Matrix3, Vector3, skew};

/// Inertia of a node whose frame stands at the centre of mass.
#[derive(Clone, Debug)]
pub struct Body {
    node: [NodeId; 1],
    mass: f64,
    inertia: Matrix3,
    gravity: Vector3,
}

impl Body {
    /// A body with its mass in kg, inertia about the centre of mass in body axes in kg m², and gravity in
    /// m/s².
    pub fn new(node: NodeId, mass: f64, inertia: Matrix3, gravity: Vector3) -> Self {
        Self { node: [node], mass, inertia, gravity }
    }

    /// Mass in kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }
}

impl Element for Body {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts::on(&self.node)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let node = &at.nodes[0];
        let (omega, u) = split(&node.velocity);
        let weight = || node.rotation.tr_mul(&self.gravity);
        if let Some(wrenches) = out.wrenches.take() {
            let (omega_dot, u_dot) = split(&node.acceleration);
            let torque = self.inertia * omega_dot + omega.cross(&(self.inertia * omega));
            let force = self.mass * (u_dot + omega.cross(&u) - weight());
            wrenches[0] += join(&torque, &force);
        }
        if let Some(tangent) = out.tangent.take() {
            let mass = tangent.mass(0, 0);
            add(mass, 0, 0, &self.inertia);
            add(mass, 3, 3, &(self.mass * Matrix3::identity()));
            let damping = tangent.damping(0, 0);
            add(damping, 0, 0, &(skew(&omega) * self.inertia - skew(&(self.inertia * omega))));
            add(damping, 3, 0, &(-self.mass * skew(&u)));
            add(damping, 3, 3, &(self.mass * skew(&omega)));
            if out.weights.stiffness {
                add(tangent.stiffness(0, 0), 3, 0, &(-self.mass * skew(&weight())));
            }
        }
        if let Some(load) = out.load.take() {
            load[0] -= join(&Vector3::zeros(), &(self.mass * weight()));
        }
        if let Some(stiffness) = out.load_stiffness.take() {
            add(stiffness.stiffness(0, 0), 3, 0, &(-self.mass * skew(&weight())));
        }
        if let Some(energies) = out.energies.take() {
            energies.kinetic = 0.5 * (omega.dot(&(self.inertia * omega)) + self.mass * u.norm_squared());
            energies.potential = -self.mass * self.gravity.dot(&node.pose.position);
        }
    }
}

fn add(matrix: &mut crate::lie::Matrix6, row: usize, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(row, column);
    view += part;
}
