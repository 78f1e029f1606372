//! The mathematical pendulum in Cartesian coordinates [ArnoldCardonaBruls2015, Example 3.2].

use super::ode;
use kreisel::dae::{Dae, Initial, Point, Residual, Shape, Wanted};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// A point mass of 1 kg on a massless rod of 1 m, with constraint (x² + y² − 1)/2 = 0.
#[derive(Clone, Copy, Debug)]
pub struct Pendulum {
    /// Acceleration of gravity in m/s², along −y.
    pub gravity: f64,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self { gravity: 9.81 }
    }
}

impl Pendulum {
    /// Consistent initial values at horizontal deviation x₀ with the total energy ½ − g of the example.
    pub fn initial(&self, x: f64) -> Initial {
        let y = -(1.0 - x * x).sqrt();
        // ½ |v|² + g y = ½ − g, and v along the circle.
        let speed = (1.0 - 2.0 * self.gravity * (1.0 + y)).sqrt();
        Initial::new(0.0, [x, y], [-y * speed, x * speed])
    }

    /// Multiplier at a position and velocity: λ = |v|² − g y for unit mass and length.
    pub fn multiplier(&self, q: &[f64], v: &[f64]) -> f64 {
        v[0] * v[0] + v[1] * v[1] - self.gravity * q[1]
    }

    /// Reference solution in the angle from the vertical: position and velocity after a time from an initial
    /// state.
    pub fn reference(&self, initial: &Initial, times: &[f64]) -> Vec<([f64; 2], [f64; 2])> {
        let (q, v) = (&initial.configuration, &initial.velocity);
        let mut state = [q[0].atan2(-q[1]), -v[0] * q[1] + v[1] * q[0]];
        let mut now = initial.time;
        let mut solution = Vec::with_capacity(times.len());
        for &time in times {
            // Steps of at most 0.02 s resolve a period of 2 s to round-off at order 16.
            let steps = ((time - now) / 0.02).ceil().max(1.0) as usize;
            ode::integrate(|_, y| [y[1], -self.gravity * y[0].sin()], now, time, steps, &mut state);
            now = time;
            let (sin, cos) = state[0].sin_cos();
            solution.push(([sin, -cos], [state[1] * cos, state[1] * sin]));
        }
        solution
    }
}

impl Dae for Pendulum {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(2)).with_constraints([1])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let (q, a, lambda) = (at.configuration, at.acceleration, at.multipliers[0]);
        out.equilibrium[0] = a[0] + q[0] * lambda;
        out.equilibrium[1] = a[1] + self.gravity + q[1] * lambda;
        out.violation[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        out.values_mut().copy_from_slice(at.configuration);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.curvature.take() {
            out[0] = at.velocity[0] * at.velocity[0] + at.velocity[1] * at.velocity[1];
        }
        if let Some((weights, out)) = wanted.tangent.take() {
            let lambda = at.multipliers[0];
            out.dynamic.values_mut().copy_from_slice(&[weights.mass, 0.0, 0.0, weights.mass]);
            out.stiffness.values_mut().copy_from_slice(&[lambda, 0.0, 0.0, lambda]);
            out.gradient.values_mut().copy_from_slice(at.configuration);
            out.gradient_rate.values_mut().copy_from_slice(at.velocity);
        }
    }
}
