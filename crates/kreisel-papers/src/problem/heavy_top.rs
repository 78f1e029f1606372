//! The heavy top, a rigid body that turns about a fixed point [ArnoldCardonaBruls2015, §2.4].
//!
//! Described by the position x of the centre of mass and the rotation R, with the constraint X − Rᵀx = 0,
//! on SO(3)×R³ [ArnoldCardonaBruls2015, Eqs. (21)] or SE(3) [ArnoldCardonaBruls2015, Eqs. (22)]. With ρ = Rᵀx
//! (= X where the constraint holds) B = (−ρ̃, −Rᵀ) and (−ρ̃, −I).

#[cfg(test)]
use super::mutation::{self, Mutation};
use super::ode;
use kreisel::dae::{Dae, Initial, Point, Residual, Scales, Shape, Tangent, TangentWeights, Wanted};
use kreisel::lie::{Group, Matrix3, Space, UnitQuaternion, Vector3, pose, skew, vector3};
use kreisel::solve::block::BlockMatrix;

/// The heavy top with its data.
#[derive(Clone, Debug)]
pub struct HeavyTop {
    /// Group of the configuration: [`Group::So3xR3`] or [`Group::Se3`].
    pub group: Group,
    /// Mass in kg.
    pub mass: f64,
    /// Principal moments of inertia about the centre of mass, in kg m².
    pub inertia: Vector3,
    /// Centre of mass in body axes from the fixed point, in m.
    pub centre: Vector3,
    /// Acceleration of gravity in m/s².
    pub gravity: Vector3,
    /// Initial angular velocity in body axes, in rad/s.
    pub angular_velocity: Vector3,
    /// m_ave of the scaling.
    pub mass_scale: f64,
}

/// Solution of the top at one time.
#[derive(Clone, Copy, Debug)]
pub struct TopSolution {
    /// Rotation R.
    pub rotation: UnitQuaternion,
    /// Position x of the centre of mass.
    pub position: Vector3,
    /// Angular velocity Ω in body axes.
    pub angular_velocity: Vector3,
    /// Velocity u of the centre of mass in world axes.
    pub velocity: Vector3,
    /// Multipliers λ: the reaction in body axes.
    pub multipliers: Vector3,
}

impl HeavyTop {
    /// The benchmark: Ω(0) = (0, 150, −4.61538) rad/s.
    pub fn new(group: Group) -> Self {
        Self {
            group,
            mass: 15.0,
            inertia: Vector3::new(0.234375, 0.46875, 0.234375),
            centre: Vector3::new(0.0, 1.0, 0.0),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            angular_velocity: Vector3::new(0.0, 150.0, -4.61538),
            mass_scale: 1.0,
        }
    }

    /// The slowly rotating top: Ω(0) reduced by a factor of 100 [ArnoldCardonaBruls2015, §3.3].
    pub fn slow(group: Group) -> Self {
        let mut top = Self::new(group);
        top.angular_velocity /= 100.0;
        top
    }

    /// Consistent initial values with R(0) = I.
    pub fn initial(&self) -> Initial {
        let (x, omega) = (self.centre, self.angular_velocity);
        // R = I: the velocity of the centre is the same in body and world axes.
        let u = omega.cross(&x);
        Initial::new(0.0, [1.0, 0.0, 0.0, 0.0, x.x, x.y, x.z], [omega.x, omega.y, omega.z, u.x, u.y, u.z])
    }

    /// Total energy at a configuration and velocity.
    pub fn energy(&self, configuration: &[f64], velocity: &[f64]) -> f64 {
        let (omega, u) = (vector3(velocity), vector3(&velocity[3..]));
        let position = vector3(&configuration[4..]);
        0.5 * (self.mass * u.norm_squared() + omega.dot(&self.inertia.component_mul(&omega)))
            - self.mass * self.gravity.dot(&position)
    }

    /// Reference solution at ascending times, from the reduced equations about the fixed point.
    pub fn reference(&self, times: &[f64]) -> Vec<TopSolution> {
        let omega = self.angular_velocity;
        let mut state = [1.0, 0.0, 0.0, 0.0, omega.x, omega.y, omega.z];
        // A fraction of a radian per step of order 16.
        let steps_per_second = 4.0 * omega.norm() + 100.0;
        let mut now = 0.0;
        let mut solution = Vec::with_capacity(times.len());
        for &time in times {
            let steps = ((time - now) * steps_per_second).ceil().max(1.0) as usize;
            if time > now {
                ode::integrate(|_, y| self.reduced_rate(y), now, time, steps, &mut state);
            }
            now = time;
            solution.push(self.solution(&state));
        }
        solution
    }

    /// Rates of the quaternion and of Ω: J_f Ω̇ + Ω × J_f Ω = X × m Rᵀγ about the fixed point.
    fn reduced_rate(&self, y: &[f64; 7]) -> [f64; 7] {
        self.rate_with(y, &Vector3::zeros())
    }

    /// The same with a further torque in body axes; `y` begins with the quaternion and Ω.
    pub(super) fn rate_with(&self, y: &[f64], torque: &Vector3) -> [f64; 7] {
        let quaternion = nalgebra::Quaternion::new(y[0], y[1], y[2], y[3]);
        let omega = Vector3::new(y[4], y[5], y[6]);
        let rate = 0.5 * quaternion * nalgebra::Quaternion::from_imag(omega);
        let rotation = UnitQuaternion::new_normalize(quaternion);
        let omega_dot = self.angular_acceleration(&rotation, &omega, torque);
        [rate.w, rate.i, rate.j, rate.k, omega_dot.x, omega_dot.y, omega_dot.z]
    }

    fn angular_acceleration(&self, rotation: &UnitQuaternion, omega: &Vector3, applied: &Vector3) -> Vector3 {
        let x = self.centre;
        let about_point = Matrix3::from_diagonal(&self.inertia) - self.mass * skew(&x) * skew(&x);
        let torque = self.mass * x.cross(&rotation.inverse_transform_vector(&self.gravity))
            - omega.cross(&(about_point * omega))
            + applied;
        about_point.cholesky().map_or_else(Vector3::zeros, |factors| factors.solve(&torque))
    }

    fn solution(&self, y: &[f64; 7]) -> TopSolution {
        let rotation = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(y[0], y[1], y[2], y[3]));
        self.solution_with(&rotation, &Vector3::new(y[4], y[5], y[6]), &Vector3::zeros())
    }

    /// Solution with a rotation, an angular velocity and a further torque in body axes.
    pub(super) fn solution_with(
        &self,
        rotation: &UnitQuaternion,
        omega: &Vector3,
        torque: &Vector3,
    ) -> TopSolution {
        let (rotation, omega) = (*rotation, *omega);
        let omega_dot = self.angular_acceleration(&rotation, &omega, torque);
        let velocity_body = omega.cross(&self.centre);
        let acceleration_body = omega_dot.cross(&self.centre) + omega.cross(&velocity_body);
        TopSolution {
            rotation,
            position: rotation * self.centre,
            angular_velocity: omega,
            velocity: rotation * velocity_body,
            multipliers: self.mass * (acceleration_body - rotation.inverse_transform_vector(&self.gravity)),
        }
    }
}

impl Dae for HeavyTop {
    fn shape(&self) -> Shape {
        let scales = Scales { mass: self.mass_scale, ..Scales::default() };
        Shape::new(Space::new([self.group])).with_constraints([3]).with_scales(scales)
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let top = pose(at.configuration);
        let (omega, u) = (vector3(at.velocity), vector3(&at.velocity[3..]));
        let (omega_dot, u_dot) = (vector3(at.acceleration), vector3(&at.acceleration[3..]));
        let lambda = vector3(at.multipliers);
        let rho = top.rotation.inverse_transform_vector(&top.position);
        let torque = self.inertia.component_mul(&omega_dot)
            + omega.cross(&self.inertia.component_mul(&omega))
            + rho.cross(&lambda);
        let force = if self.group == Group::Se3 {
            let gravity_body = top.rotation.inverse_transform_vector(&self.gravity);
            self.mass * (u_dot + omega.cross(&u) - gravity_body) - lambda
        } else {
            self.mass * (u_dot - self.gravity) - top.rotation * lambda
        };
        #[cfg(test)]
        let force = if mutation::is_active(Mutation::Weight) && self.group != Group::Se3 {
            force + self.mass * self.gravity
        } else {
            force
        };
        #[cfg(test)]
        let torque = torque + mutation::torque(&self.inertia, &omega, &omega_dot, &rho.cross(&lambda));
        out.equilibrium[..3].copy_from_slice(torque.as_slice());
        out.equilibrium[3..].copy_from_slice(force.as_slice());
        out.violation.copy_from_slice((self.centre - rho).as_slice());
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let top = pose(at.configuration);
        let rho = top.rotation.inverse_transform_vector(&top.position);
        write_gradient(self.group, &rho, &top.rotation, out);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.curvature.take() {
            self.curvature(at, out);
        }
        if let Some((weights, out)) = wanted.tangent.take() {
            self.tangent(at, weights, out);
        }
    }
}

impl HeavyTop {
    fn curvature(&self, at: &Point, out: &mut [f64]) {
        let top = pose(at.configuration);
        let rho = top.rotation.inverse_transform_vector(&top.position);
        let (omega, u) = (vector3(at.velocity), vector3(&at.velocity[3..]));
        let curvature = if self.group == Group::Se3 {
            omega.cross(&(rho.cross(&omega) + u))
        } else {
            omega.cross(&(rho.cross(&omega) + 2.0 * top.rotation.inverse_transform_vector(&u)))
        };
        #[cfg(test)]
        let curvature = if mutation::is_active(Mutation::Curvature) { Vector3::zeros() } else { curvature };
        out.copy_from_slice(curvature.as_slice());
    }

    /// All derivatives.
    pub(super) fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        let top = pose(at.configuration);
        let rotation = top.rotation.to_rotation_matrix().into_inner();
        let rho = top.rotation.inverse_transform_vector(&top.position);
        let (omega, u) = (vector3(at.velocity), vector3(&at.velocity[3..]));
        let (omega_skew, rho_skew) = (skew(&omega), skew(&rho));
        let lambda_skew = skew(&vector3(at.multipliers));
        let inertia = Matrix3::from_diagonal(&self.inertia);
        write_gradient(self.group, &rho, &top.rotation, &mut out.gradient);

        let gyroscopic = omega_skew * inertia - skew(&(inertia * omega));
        let rotational = weights.mass * inertia + weights.damping * gyroscopic;
        let translational = weights.mass * self.mass * Matrix3::identity();
        if self.group == Group::Se3 {
            let coupling = -weights.damping * self.mass * skew(&u);
            let transport = weights.damping * self.mass * omega_skew;
            write(&mut out.dynamic, [rotational, Matrix3::zeros(), coupling, translational + transport]);
        } else {
            write(&mut out.dynamic, [rotational, Matrix3::zeros(), Matrix3::zeros(), translational]);
        }
        if !weights.stiffness {
            return;
        }
        let torque_rotation = -lambda_skew * rho_skew;
        if self.group == Group::Se3 {
            let weight = -self.mass * skew(&top.rotation.inverse_transform_vector(&self.gravity));
            write(&mut out.stiffness, [torque_rotation, -lambda_skew, weight, Matrix3::zeros()]);
            write_rows(&mut out.gradient_rate, omega_skew * rho_skew, omega_skew);
        } else {
            let transposed = rotation.transpose();
            write(
                &mut out.stiffness,
                [torque_rotation, -lambda_skew * transposed, rotation * lambda_skew, Matrix3::zeros()],
            );
            write_rows(
                &mut out.gradient_rate,
                omega_skew * rho_skew - skew(&(transposed * u)),
                omega_skew * transposed,
            );
        }
    }
}

fn write_gradient(group: Group, rho: &Vector3, rotation: &UnitQuaternion, out: &mut BlockMatrix) {
    let translation = if group == Group::Se3 {
        -Matrix3::identity()
    } else {
        -rotation.to_rotation_matrix().into_inner().transpose()
    };
    write_rows(out, -skew(rho), translation);
}

/// Writes the 3 × 6 matrix of two parts.
fn write_rows(out: &mut BlockMatrix, left: Matrix3, right: Matrix3) {
    out.values_mut()[..9].copy_from_slice(left.as_slice());
    out.values_mut()[9..].copy_from_slice(right.as_slice());
}

/// Writes the 6 × 6 matrix of four parts, row by row.
fn write(out: &mut BlockMatrix, parts: [Matrix3; 4]) {
    let values = out.values_mut();
    for (index, part) in parts.iter().enumerate() {
        let first = 3 * (index / 2) + 18 * (index % 2);
        for (column, values) in part.as_slice().chunks_exact(3).zip(values[first..].chunks_mut(6)) {
            values[..3].copy_from_slice(column);
        }
    }
}
