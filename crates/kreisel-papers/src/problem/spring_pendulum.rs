//! A uniform bar that hangs on a pin with a torsional spring and damper, in the plane [JayNegrut2008, Eqs.
//! (16)].

use super::ode;
use kreisel::dae::{Dae, Initial, Point, Residual, Shape, Tangent, TangentWeights, Wanted};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// The pendulum in the coordinates x, y of its centre and its angle θ, with the data of [JayNegrut2008, Fig.
/// 3].
#[derive(Clone, Copy, Debug)]
pub struct SpringPendulum {
    /// Mass in kg.
    pub mass: f64,
    /// Distance L of the centre from the pin in m; the moment of inertia is m L²/3.
    pub length: f64,
    /// Stiffness of the spring in N m/rad; it is relaxed at θ = 3π/2.
    pub stiffness: f64,
    /// Damping in N m s/rad.
    pub damping: f64,
    /// Acceleration of gravity in m/s².
    pub gravity: f64,
}

/// Angle at which the pendulum hangs and the spring is relaxed.
const HANGING: f64 = 1.5 * std::f64::consts::PI;

/// Position, velocity, acceleration and multipliers at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendulumSolution {
    /// x, y, θ.
    pub position: [f64; 3],
    /// Their rates.
    pub velocity: [f64; 3],
    /// Their second derivatives.
    pub acceleration: [f64; 3],
    /// λ.
    pub multipliers: [f64; 2],
}

impl Default for SpringPendulum {
    fn default() -> Self {
        Self { mass: 5.0, length: 2.0, stiffness: 3000.0, damping: 100.0, gravity: 9.81 }
    }
}

impl SpringPendulum {
    /// Hanging, with θ' = 10 rad/s.
    pub fn initial(&self) -> Initial {
        let PendulumSolution { position, velocity, .. } = self.solution([HANGING, 10.0]);
        Initial::new(0.0, position, velocity)
    }

    /// Solution at a time, from the equation of motion in the angle alone.
    pub fn reference(&self, time: f64) -> PendulumSolution {
        let mut state = [HANGING, 10.0];
        // Steps of 10 ms resolve a frequency of 11 rad/s to round-off at order 16.
        let steps = (time / 0.01).ceil().max(1.0) as usize;
        ode::integrate(|_, y| [y[1], self.angular_acceleration(y)], 0.0, time, steps, &mut state);
        self.solution(state)
    }

    /// (4/3) m L² θ'' = −c θ' − k (θ − 3π/2) − m g L cos θ.
    fn angular_acceleration(&self, [angle, rate]: &[f64; 2]) -> f64 {
        let inertia = 4.0 / 3.0 * self.mass * self.length * self.length;
        let weight = self.mass * self.gravity * self.length * angle.cos();
        (-self.damping * rate - self.stiffness * (angle - HANGING) - weight) / inertia
    }

    fn solution(&self, state: [f64; 2]) -> PendulumSolution {
        let ([angle, rate], l) = (state, self.length);
        let angular = self.angular_acceleration(&state);
        let (sin, cos) = angle.sin_cos();
        let acceleration =
            [-l * (sin * angular + cos * rate * rate), l * (cos * angular - sin * rate * rate), angular];
        PendulumSolution {
            position: [l * cos, l * sin, angle],
            velocity: [-l * sin * rate, l * cos * rate, rate],
            acceleration,
            multipliers: [-self.mass * acceleration[0], -self.mass * (acceleration[1] + self.gravity)],
        }
    }

    fn inertias(&self) -> [f64; 3] {
        [self.mass, self.mass, self.mass * self.length * self.length / 3.0]
    }
}

impl Dae for SpringPendulum {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(3)).with_constraints([2])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let (q, l) = (at.configuration, self.length);
        let (sin, cos) = q[2].sin_cos();
        for ((out, inertia), a) in out.equilibrium.iter_mut().zip(self.inertias()).zip(at.acceleration) {
            *out = inertia * a;
        }
        let lambda = at.multipliers;
        out.equilibrium[0] += lambda[0];
        out.equilibrium[1] += self.mass * self.gravity + lambda[1];
        out.equilibrium[2] += self.damping * at.velocity[2]
            + self.stiffness * (q[2] - HANGING)
            + l * (sin * lambda[0] - cos * lambda[1]);
        out.violation.copy_from_slice(&[q[0] - l * cos, q[1] - l * sin]);
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let (sin, cos) = at.configuration[2].sin_cos();
        out.values_mut().copy_from_slice(&[1.0, 0.0, 0.0, 1.0, self.length * sin, -self.length * cos]);
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

impl SpringPendulum {
    fn curvature(&self, at: &Point, out: &mut [f64]) {
        let ((sin, cos), rate) = (at.configuration[2].sin_cos(), at.velocity[2]);
        out.copy_from_slice(&[self.length * cos * rate * rate, self.length * sin * rate * rate]);
    }

    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        let ((sin, cos), rate, l) = (at.configuration[2].sin_cos(), at.velocity[2], self.length);
        for (i, inertia) in self.inertias().into_iter().enumerate() {
            out.dynamic.values_mut()[4 * i] = weights.mass * inertia;
        }
        out.dynamic.values_mut()[8] += weights.damping * self.damping;
        self.gradient(at, &mut out.gradient);
        if weights.stiffness {
            let lambda = at.multipliers;
            out.stiffness.values_mut()[8] = self.stiffness + l * (cos * lambda[0] + sin * lambda[1]);
            out.gradient_rate.values_mut()[4..].copy_from_slice(&[l * cos * rate, l * sin * rate]);
        }
    }
}
