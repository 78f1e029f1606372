//! A heavy top with a motor: a rigid body, constraints, a first-order state and an algebraic one in both
//! directions.
//!
//! The motor is made up to couple everything: its state c lags behind the motion and the reaction, an
//! algebraic state s follows both, and both turn the top.
//!
//! ```text
//! torque k (c, 0, s)                          in body axes
//! ċ = −a c + b Ω_x + d λ_y
//! 0 = s + s³/10 − c − Ω_z/5
//! ```

use super::heavy_top::{HeavyTop, TopSolution};
use super::ode;
use kreisel::dae::{Dae, Initial, Point, Residual, Shape, StateGroup, Tangent, Wanted};
use kreisel::lie::{Group, UnitQuaternion, Vector3};
use kreisel::solve::block::BlockMatrix;

/// The top and its motor.
#[derive(Clone, Debug)]
pub struct DrivenTop {
    /// The top.
    pub top: HeavyTop,
    /// Torque k per unit of the states, in N m.
    pub torque: f64,
    /// a, b and d of the rate.
    pub rate: [f64; 3],
    /// c(0).
    pub initial_state: f64,
}

/// Solution at one time: the top's, and the states c and s.
#[derive(Clone, Copy, Debug)]
pub struct DrivenSolution {
    /// Motion and reaction.
    pub top: TopSolution,
    /// c and s.
    pub internal_states: [f64; 2],
}

impl DrivenTop {
    /// A top that turns at a moderate speed.
    pub fn new(group: Group) -> Self {
        let mut top = HeavyTop::new(group);
        top.angular_velocity = Vector3::new(0.5, 12.0, -2.0);
        Self { top, torque: 20.0, rate: [3.0, 0.8, 0.01], initial_state: 0.5 }
    }

    /// Consistent initial values.
    pub fn initial(&self) -> Initial {
        let mut initial = self.top.initial();
        // The algebraic state is a guess.
        initial.internal_states = vec![self.initial_state, 0.0];
        initial
    }

    /// Reference solution at a time, from the reduced equations about the fixed point.
    pub fn reference(&self, time: f64) -> DrivenSolution {
        let omega = self.top.angular_velocity;
        let mut y = [1.0, 0.0, 0.0, 0.0, omega.x, omega.y, omega.z, self.initial_state];
        let steps = ((time * (4.0 * omega.norm() + 100.0)).ceil() as usize).max(1);
        ode::integrate(|_, y| self.reduced_rate(y), 0.0, time, steps, &mut y);
        let s = algebraic(y[7], y[6]);
        let (rotation, omega) = split(&y);
        DrivenSolution {
            top: self.top.solution_with(&rotation, &omega, &self.torque(y[7], s)),
            internal_states: [y[7], s],
        }
    }

    fn torque(&self, c: f64, s: f64) -> Vector3 {
        self.torque * Vector3::new(c, 0.0, s)
    }

    fn reduced_rate(&self, y: &[f64; 8]) -> [f64; 8] {
        let (rotation, omega) = split(y);
        let torque = self.torque(y[7], algebraic(y[7], y[6]));
        let [w, i, j, k, x_dot, y_dot, z_dot] = self.top.rate_with(y, &torque);
        let lambda = self.top.solution_with(&rotation, &omega, &torque).multipliers;
        let [a, b, d] = self.rate;
        [w, i, j, k, x_dot, y_dot, z_dot, -a * y[7] + b * omega.x + d * lambda.y]
    }
}

fn split(y: &[f64; 8]) -> (UnitQuaternion, Vector3) {
    let rotation = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(y[0], y[1], y[2], y[3]));
    (rotation, Vector3::new(y[4], y[5], y[6]))
}

/// s with s + s³/10 = c + Ω_z/5: the only real root, by Newton's iteration.
fn algebraic(c: f64, omega_z: f64) -> f64 {
    let wanted = c + 0.2 * omega_z;
    let mut s = wanted;
    for _ in 0..60 {
        s -= (s + 0.1 * s * s * s - wanted) / (1.0 + 0.3 * s * s);
    }
    s
}

impl Dae for DrivenTop {
    fn shape(&self) -> Shape {
        let internal_states = [false, true].map(|algebraic| StateGroup { size: 1, algebraic });
        self.top.shape().with_internal_states(internal_states)
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        self.top.residual(at, out);
        let [c, s] = [at.internal_states[0], at.internal_states[1]];
        let torque = self.torque(c, s);
        out.equilibrium.iter_mut().zip(torque.iter()).for_each(|(r, torque)| *r -= torque);
        let [a, b, d] = self.rate;
        out.internal_rates[0] = -a * c + b * at.velocity[0] + d * at.multipliers[1];
        out.internal_rates[1] = s + 0.1 * s * s * s - c - 0.2 * at.velocity[2];
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.top.gradient(at, out);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        let tangent = wanted.tangent.take();
        self.top.answer(at, wanted);
        let Some((weights, out)) = tangent else { return };
        self.top.tangent(at, weights, out);
        let [a, b, d] = self.rate;
        let s = at.internal_states[1];
        // Each group is one state: blocks have one column, or one row.
        let mut set = |matrix: fn(&mut Tangent) -> &mut BlockMatrix,
                       row: usize,
                       column: usize,
                       at: usize,
                       value: f64| {
            let matrix = matrix(out);
            if let Some(block) = matrix.pattern().find(row, column) {
                matrix.block_values_mut(block)[at] = value;
            }
        };
        set(|t| &mut t.state_force, 0, 0, 0, -self.torque);
        set(|t| &mut t.state_force, 0, 1, 2, -self.torque);
        set(|t| &mut t.state_damping, 0, 0, 0, b);
        set(|t| &mut t.state_damping, 1, 0, 2, -0.2);
        set(|t| &mut t.state_state, 0, 0, 0, -a);
        set(|t| &mut t.state_state, 1, 0, 0, -1.0);
        set(|t| &mut t.state_state, 1, 1, 0, 1.0 + 0.3 * s * s);
        set(|t| &mut t.state_reaction, 0, 0, 1, d);
    }
}
