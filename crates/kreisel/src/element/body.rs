//! A rigid body: inertia, and its weight.
//!
//! With the body frame at the centre of mass the residual in body twists is
//!
//! ```text
//! J Ω̇ + Ω × J Ω
//! m (U̇ + Ω × U) − m Rᵀγ                        [ArnoldCardonaBruls2015, Eqs. (22)]
//! ```

use super::Element;
use crate::dae::TangentWeights;
use crate::kinematics::{Energies, LocalForces, LocalTangent, Motion, NodeId, join, split};
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
    fn nodes(&self) -> &[NodeId] {
        &self.node
    }

    fn residual(&self, at: &Motion, out: &mut LocalForces) {
        let node = &at.nodes[0];
        let (omega, u) = split(&node.velocity);
        let (omega_dot, u_dot) = split(&node.acceleration);
        let torque = self.inertia * omega_dot + omega.cross(&(self.inertia * omega));
        let weight = node.rotation.tr_mul(&self.gravity);
        let force = self.mass * (u_dot + omega.cross(&u) - weight);
        out.wrenches[0] += join(&torque, &force);
    }

    fn tangent(&self, at: &Motion, weights: TangentWeights, out: &mut LocalTangent) {
        let node = &at.nodes[0];
        let (omega, u) = split(&node.velocity);
        let mass = out.mass(0, 0);
        add(mass, 0, 0, &self.inertia);
        add(mass, 3, 3, &(self.mass * Matrix3::identity()));
        let damping = out.damping(0, 0);
        add(damping, 0, 0, &(skew(&omega) * self.inertia - skew(&(self.inertia * omega))));
        add(damping, 3, 0, &(-self.mass * skew(&u)));
        add(damping, 3, 3, &(self.mass * skew(&omega)));
        if weights.stiffness {
            let weight = node.rotation.tr_mul(&self.gravity);
            add(out.stiffness(0, 0), 3, 0, &(-self.mass * skew(&weight)));
        }
    }

    fn load(&self, at: &Motion, out: &mut LocalForces) {
        let weight = at.nodes[0].rotation.tr_mul(&self.gravity);
        out.wrenches[0] -= join(&Vector3::zeros(), &(self.mass * weight));
    }

    fn load_stiffness(&self, at: &Motion, out: &mut LocalTangent) {
        let weight = at.nodes[0].rotation.tr_mul(&self.gravity);
        add(out.stiffness(0, 0), 3, 0, &(-self.mass * skew(&weight)));
    }

    fn energies(&self, at: &Motion) -> Energies {
        let node = &at.nodes[0];
        let (omega, u) = split(&node.velocity);
        Energies {
            kinetic: 0.5 * (omega.dot(&(self.inertia * omega)) + self.mass * u.norm_squared()),
            potential: -self.mass * self.gravity.dot(&node.pose.position),
            strain: 0.0,
        }
    }
}

fn add(matrix: &mut crate::lie::Matrix6, row: usize, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(row, column);
    view += part;
}
