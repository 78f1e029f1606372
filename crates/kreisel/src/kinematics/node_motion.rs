//! Motion of a node as elements and joints see it: a pose and a body twist, whatever the node's group.
//!
//! Elements are written once, in body twists V = (Ω, U). A node on SO(3)×R³ has the velocity v = (Ω, u) with
//! u = R U, a point mass v = u alone. With V = P v the forces of a node are Pᵀ times those in body axes, and
//! the derivatives follow from
//!
//! ```text
//! U = Rᵀu,   U̇ = Rᵀu̇ − Ω × Rᵀu
//! ```

use crate::lie::{
    Group, Matrix3, Matrix6, Pose, Vector3, Vector6, pose, quaternion, se3, skew, so3, vector3,
};

/// Position, velocity and acceleration of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion {
    /// Pose of the body frame in the world.
    pub pose: Pose,
    /// Rotation matrix of the pose: world from body.
    pub rotation: Matrix3,
    /// Twist (Ω, U) in body axes.
    pub velocity: Vector6,
    /// Rate (Ω̇, U̇) of the twist's components.
    pub acceleration: Vector6,
}

impl NodeMotion {
    /// A node at rest.
    #[inline]
    pub fn at_rest(pose: Pose) -> Self {
        Self {
            pose,
            rotation: pose.rotation.to_rotation_matrix().into_inner(),
            velocity: Vector6::zeros(),
            acceleration: Vector6::zeros(),
        }
    }

    /// The motion of a node from its part of configuration, velocity and acceleration.
    #[inline]
    pub fn new(group: Group, configuration: &[f64], velocity: &[f64], acceleration: &[f64]) -> Self {
        let mut motion = Self::at_rest(node_pose(group, configuration));
        match group {
            Group::Se3 => {
                motion.velocity = Vector6::from_column_slice(velocity);
                motion.acceleration = Vector6::from_column_slice(acceleration);
            }
            Group::So3xR3 => {
                let (omega, omega_dot) = (vector3(velocity), vector3(acceleration));
                let u = motion.rotation.tr_mul(&vector3(&velocity[3..]));
                let u_dot = motion.rotation.tr_mul(&vector3(&acceleration[3..])) - omega.cross(&u);
                motion.velocity = join(&omega, &u);
                motion.acceleration = join(&omega_dot, &u_dot);
            }
            Group::So3 => {
                motion.velocity = join(&vector3(velocity), &Vector3::zeros());
                motion.acceleration = join(&vector3(acceleration), &Vector3::zeros());
            }
            Group::Vector(_) => {
                motion.velocity = join(&Vector3::zeros(), &vector3(velocity));
                motion.acceleration = join(&Vector3::zeros(), &vector3(acceleration));
            }
        }
        motion
    }

    /// Angular velocity Ω in body axes.
    pub fn angular_velocity(&self) -> Vector3 {
        self.velocity.fixed_rows::<3>(0).into()
    }

    /// Velocity U of the body frame's origin in body axes.
    pub fn linear_velocity(&self) -> Vector3 {
        self.velocity.fixed_rows::<3>(3).into()
    }

    /// Position in the world of a point given in body axes.
    pub fn point(&self, point_body: &Vector3) -> Vector3 {
        self.pose.position + self.rotation * point_body
    }

    /// Velocity in world axes of a point given in body axes.
    pub fn point_velocity(&self, point_body: &Vector3) -> Vector3 {
        self.rotation * (self.linear_velocity() + self.angular_velocity().cross(point_body))
    }

    /// Acceleration in world axes of a point given in body axes.
    pub fn point_acceleration(&self, point_body: &Vector3) -> Vector3 {
        let (omega, u) = (self.angular_velocity(), self.linear_velocity());
        let omega_dot: Vector3 = self.acceleration.fixed_rows::<3>(0).into();
        let u_dot: Vector3 = self.acceleration.fixed_rows::<3>(3).into();
        let at_origin = u_dot + omega.cross(&u);
        self.rotation * (at_origin + omega_dot.cross(point_body) + omega.cross(&omega.cross(point_body)))
    }
}

/// Pose of a node from its part of the configuration.
#[inline]
pub(crate) fn node_pose(group: Group, configuration: &[f64]) -> Pose {
    match group {
        Group::Se3 | Group::So3xR3 => pose(configuration),
        Group::So3 => Pose::new(quaternion(configuration), Vector3::zeros()),
        Group::Vector(_) => Pose::new(Default::default(), vector3(configuration)),
    }
}

/// One vector of six from two of three.
#[inline]
pub fn join(first: &Vector3, second: &Vector3) -> Vector6 {
    Vector6::new(first.x, first.y, first.z, second.x, second.y, second.z)
}

/// Torque and force, or angular and linear velocity, of a vector of six.
#[inline]
pub fn split(vector: &Vector6) -> (Vector3, Vector3) {
    (vector.fixed_rows::<3>(0).into(), vector.fixed_rows::<3>(3).into())
}

/// Adds Pᵀ f to a node's rows: a wrench in body axes becomes a force on the node's coordinates.
#[inline]
pub(crate) fn add_force(group: Group, motion: &NodeMotion, wrench: &Vector6, out: &mut [f64]) {
    let (torque, force) = split(wrench);
    let mut add = |first: usize, values: &Vector3| {
        out[first..first + 3].iter_mut().zip(values.iter()).for_each(|(out, value)| *out += value);
    };
    match group {
        Group::Se3 => {
            add(0, &torque);
            add(3, &force);
        }
        Group::So3xR3 => {
            add(0, &torque);
            add(3, &(motion.rotation * force));
        }
        Group::So3 => add(0, &torque),
        Group::Vector(_) => add(0, &force),
    }
}

/// X P of a node, V = P v: derivatives by its velocity coordinates from those by its twist. Columns beyond
/// the node's dimension are zero.
#[inline]
pub(crate) fn by_coordinates(group: Group, motion: &NodeMotion, by_twist: &Matrix6) -> Matrix6 {
    match group {
        Group::Se3 => *by_twist,
        Group::So3xR3 => {
            let mut out = *by_twist;
            out.fixed_view_mut::<6, 3>(0, 3).fill(0.0);
            add_product_of_translations(by_twist, &motion.rotation.transpose(), 3, &mut out);
            out
        }
        Group::So3 => {
            let mut out = *by_twist;
            out.fixed_view_mut::<6, 3>(0, 3).fill(0.0);
            out
        }
        Group::Vector(_) => {
            let mut out = Matrix6::zeros();
            out.fixed_view_mut::<6, 3>(0, 0).copy_from(&by_twist.fixed_view::<6, 3>(0, 3));
            out
        }
    }
}

/// Pᵀ X of a node: rows of forces on its coordinates from those of a wrench in body axes.
#[inline]
pub(crate) fn on_coordinates(group: Group, motion: &NodeMotion, on_body: &Matrix6) -> Matrix6 {
    let mut out = *on_body;
    for column in &mut out.data.0 {
        let mut force = [0.0; 6];
        add_force(group, motion, &Vector6::from_column_slice(column), &mut force[..group.dimension().min(6)]);
        *column = force;
    }
    out
}

/// Adds the three columns of X that belong to the translation, times a matrix, to three columns.
#[inline]
fn add_product_of_translations(x: &Matrix6, factor: &Matrix3, first: usize, out: &mut Matrix6) {
    for (target, factors) in out.data.0[first..first + 3].iter_mut().zip(&factor.data.0) {
        for (column, factor) in x.data.0[3..].iter().zip(factors) {
            target.iter_mut().zip(column).for_each(|(target, value)| *target += factor * value);
        }
    }
}

/// How twist and its rate change with the node's own configuration and velocity, beyond P: the rows of the
/// translation.
pub(crate) struct TwistDerivatives {
    /// ∂U/∂Θ at fixed v, and ∂U̇/∂Ω beyond P.
    velocity_by_rotation: Matrix3,
    /// ∂U̇/∂Θ at fixed v and v̇.
    acceleration_by_rotation: Matrix3,
    /// ∂U̇/∂u at fixed v̇.
    acceleration_by_velocity: Matrix3,
}

impl TwistDerivatives {
    /// `None` where twist and velocity are the same or the derivatives vanish.
    #[inline]
    pub fn new(group: Group, motion: &NodeMotion) -> Option<Self> {
        if group != Group::So3xR3 {
            return None;
        }
        let (omega, u) = split(&motion.velocity);
        let u_dot: Vector3 = motion.acceleration.fixed_rows::<3>(3).into();
        // Rᵀu̇ = U̇ + Ω × U.
        let rotated = u_dot + omega.cross(&u);
        let (omega_skew, u_skew) = (skew(&omega), skew(&u));
        Some(Self {
            velocity_by_rotation: u_skew,
            acceleration_by_rotation: skew(&rotated) - omega_skew * u_skew,
            acceleration_by_velocity: -omega_skew * motion.rotation.transpose(),
        })
    }

    /// Adds X ∂V/∂q.
    #[inline]
    pub fn add_velocity_by_configuration(&self, x: &Matrix6, out: &mut Matrix6) {
        add_product_of_translations(x, &self.velocity_by_rotation, 0, out);
    }

    /// Adds X ∂V̇/∂q.
    #[inline]
    pub fn add_acceleration_by_configuration(&self, x: &Matrix6, out: &mut Matrix6) {
        add_product_of_translations(x, &self.acceleration_by_rotation, 0, out);
    }

    /// Adds X ∂V̇/∂v beyond X P, which belongs to v̇.
    #[inline]
    pub fn add_acceleration_by_velocity(&self, x: &Matrix6, out: &mut Matrix6) {
        add_product_of_translations(x, &self.velocity_by_rotation, 0, out);
        add_product_of_translations(x, &self.acceleration_by_velocity, 3, out);
    }

    /// (∂V/∂q)ᵀ times a row: its part of the rotation.
    #[inline]
    pub fn velocity_by_configuration_transposed(&self, row: &Vector6) -> Vector3 {
        self.velocity_by_rotation.tr_mul(&split(row).1)
    }
}

/// The motion from one pose to another as a twist in body axes of the first, with which an increment in the
/// coordinates of the group begins: a step on SO(3)×R³ goes straight ahead while the body turns. `None` after
/// half a turn.
pub(crate) fn twist_between(group: Group, first: &Pose, second: &Pose) -> Option<Vector6> {
    if group != Group::So3xR3 {
        return se3::log(&first.inverse().compose(second)).ok();
    }
    let turn = so3::log(&so3::compose(&first.rotation.inverse(), &second.rotation));
    let offset = first.rotation.inverse_transform_vector(&(second.position - first.position));
    Some(join(&turn, &offset))
}

/// Adds ∂(Pᵀ f)/∂q at a fixed wrench f.
#[inline]
pub(crate) fn add_force_by_configuration(
    group: Group,
    motion: &NodeMotion,
    wrench: &Vector6,
    out: &mut Matrix6,
) {
    if group == Group::So3xR3 {
        let (_, force) = split(wrench);
        let mut view = out.fixed_view_mut::<3, 3>(3, 0);
        view -= motion.rotation * skew(&force);
    }
}
