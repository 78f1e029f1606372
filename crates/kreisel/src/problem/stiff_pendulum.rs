//! A rod on a hinge with a torsional spring and damper, in coordinates x, y, θ [JayNegrut2008, Eqs. (16)].

use super::ode;
use crate::dae::{Dae, Equations, Point, Shape, Tangent, TangentWeights};
use crate::integrate::Initial;
use crate::lie::Space;
use crate::solve::block::BlockMatrix;

/// The pendulum with its data; x = L cos θ and y = L sin θ are constraints.
#[derive(Clone, Copy, Debug)]
pub struct StiffPendulum {
    /// Mass m in kg.
    pub mass: f64,
    /// Distance L of the centre of mass from the hinge in m; the inertia about the centre is m L²/3.
    pub length: f64,
    /// Stiffness k of the torsional spring in Nm/rad, relaxed at θ = 3π/2.
    pub stiffness: f64,
    /// Damping c in Nm s/rad.
    pub damping: f64,
    /// Acceleration of gravity in m/s², along −y.
    pub gravity: f64,
}

impl Default for StiffPendulum {
    /// The data of [JayNegrut2008, Fig. 3].
    fn default() -> Self {
        Self { mass: 5.0, length: 2.0, stiffness: 3000.0, damping: 100.0, gravity: 9.81 }
    }
}

/// Angle at which the spring is relaxed: straight down.
const DOWN: f64 = 1.5 * std::f64::consts::PI;

/// Solution of the pendulum at one time.
#[derive(Clone, Copy, Debug)]
pub struct StiffPendulumSolution {
    /// x, y, θ.
    pub configuration: [f64; 3],
    /// Their rates.
    pub velocity: [f64; 3],
    /// Multipliers: the force on the hinge.
    pub multipliers: [f64; 2],
}

impl StiffPendulum {
    /// Consistent initial values at θ = 3π/2 and θ' = 10 rad/s.
    pub fn initial(&self) -> Initial {
        let at = self.solution([DOWN, 10.0]);
        Initial::new(0.0, at.configuration, at.velocity)
    }

    /// Angular acceleration: (m L²/3 + m L²) θ'' = −c θ' − k (θ − 3π/2) − m g L cos θ.
    fn angular_acceleration(&self, [angle, rate]: [f64; 2]) -> f64 {
        let inertia = 4.0 / 3.0 * self.mass * self.length * self.length;
        let gravity = self.mass * self.gravity * self.length * angle.cos();
        (-self.damping * rate - self.stiffness * (angle - DOWN) - gravity) / inertia
    }

    fn solution(&self, [angle, rate]: [f64; 2]) -> StiffPendulumSolution {
        let (sin, cos) = angle.sin_cos();
        let (l, alpha) = (self.length, self.angular_acceleration([angle, rate]));
        let x = l * (-sin * alpha - cos * rate * rate);
        let y = l * (cos * alpha - sin * rate * rate);
        StiffPendulumSolution {
            configuration: [l * cos, l * sin, angle],
            velocity: [-l * sin * rate, l * cos * rate, rate],
            multipliers: [-self.mass * x, -self.mass * (y + self.gravity)],
        }
    }

    /// Reference solution in the angle alone, at ascending times.
    pub fn reference(&self, times: &[f64]) -> Vec<StiffPendulumSolution> {
        let (mut state, mut now) = ([DOWN, 10.0], 0.0);
        let mut solution = Vec::with_capacity(times.len());
        for &time in times {
            // A period of half a second is resolved to round-off by steps of 0.01 s at order 16.
            let steps = ((time - now) / 0.01_f64).ceil().max(1.0) as usize;
            ode::integrate(|_, y| [y[1], self.angular_acceleration(*y)], now, time, steps, &mut state);
            now = time;
            solution.push(self.solution(state));
        }
        solution
    }
}

impl Dae for StiffPendulum {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(3)).with_constraints([2])
    }

    fn evaluate(&self, at: &Point, out: &mut Equations) {
        let ([q, v, a], lambda) = ([at.configuration, at.velocity, at.acceleration], at.multipliers);
        let (sin, cos) = q[2].sin_cos();
        let (m, l) = (self.mass, self.length);
        out.equilibrium[0] = m * a[0] + lambda[0];
        out.equilibrium[1] = m * (a[1] + self.gravity) + lambda[1];
        out.equilibrium[2] = m * l * l / 3.0 * a[2]
            + self.damping * v[2]
            + self.stiffness * (q[2] - DOWN)
            + l * (sin * lambda[0] - cos * lambda[1]);
        out.violation[0] = q[0] - l * cos;
        out.violation[1] = q[1] - l * sin;
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let (sin, cos) = at.configuration[2].sin_cos();
        let l = self.length;
        // By columns: x, y, θ.
        out.values_mut().copy_from_slice(&[1.0, 0.0, 0.0, 1.0, l * sin, -l * cos]);
    }

    fn curvature(&self, at: &Point, out: &mut [f64]) {
        let (sin, cos) = at.configuration[2].sin_cos();
        let square = at.velocity[2] * at.velocity[2];
        out[0] = self.length * cos * square;
        out[1] = self.length * sin * square;
    }

    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        let (sin, cos) = at.configuration[2].sin_cos();
        let (m, l, rate, lambda) = (self.mass, self.length, at.velocity[2], at.multipliers);
        let dynamic = out.dynamic.values_mut();
        dynamic[0] = m * weights.mass;
        dynamic[4] = m * weights.mass;
        dynamic[8] = m * l * l / 3.0 * weights.mass + self.damping * weights.damping;
        out.stiffness.values_mut()[8] = self.stiffness + l * (cos * lambda[0] + sin * lambda[1]);
        self.gradient(at, &mut out.gradient);
        let rate_gradient = out.gradient_rate.values_mut();
        rate_gradient[4] = l * cos * rate;
        rate_gradient[5] = l * sin * rate;
    }
}
