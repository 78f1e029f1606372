//! A test problem whose forces are nonlinear in both kinds of multipliers [JayNegrut2008, Eqs. (15)].
//!
//! Its mass matrix is neither constant nor symmetric, one constraint is holonomic and one is not, and the
//! solution is known: y = (eᵗ, e⁻²ᵗ), λ = e⁻ᵗ, ψ = eᵗ.

use kreisel::dae::{Dae, Initial, Point, Residual, Shape, Tangent, TangentWeights, Wanted};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// The problem [JayNegrut2008, Eqs. (15)].
#[derive(Clone, Copy, Debug, Default)]
pub struct NonlinearReactions;

impl NonlinearReactions {
    /// Consistent initial values at t = 0, with λ(0) = ψ(0) = 1 as first guesses.
    pub fn initial(&self) -> Initial {
        let [y, z, _] = self.motion(0.0);
        Initial { multipliers: vec![1.0], nonholonomic_multipliers: vec![1.0], ..Initial::new(0.0, y, z) }
    }

    /// Position, velocity and acceleration of the solution.
    pub fn motion(&self, time: f64) -> [[f64; 2]; 3] {
        let (first, second) = (time.exp(), (-2.0 * time).exp());
        [[first, second], [first, -2.0 * second], [first, 4.0 * second]]
    }

    /// λ and ψ of the solution.
    pub fn multipliers(&self, time: f64) -> [f64; 2] {
        [(-time).exp(), time.exp()]
    }
}

impl Dae for NonlinearReactions {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(2)).with_constraints([1]).with_nonholonomic([1]).with_general_reactions()
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let ([y1, y2], [z1, z2], [a1, a2]) = (two(at.configuration), two(at.velocity), two(at.acceleration));
        let (lambda, psi, t) = (at.multipliers[0], at.nonholonomic_multipliers[0], at.time);
        #[cfg(test)]
        let psi = super::mutation::reaction(psi);
        let e = t.exp();
        let first = e * (y1 * z2 + 2.0 * y2 * z1) + e * e * y1 * lambda - y1 * z2 * psi - 2.0;
        let second = (0.5 * y2 * z2 - 2.0 * y1 * z1 * y2 * z2 + y2 * lambda * lambda) / e
            - y1 * y2 * z1 * psi.powi(3)
            + e.powi(3);
        out.equilibrium[0] = y1 * a1 + (y2 - (-2.0 * t).exp()) * a2 - first;
        out.equilibrium[1] = (y1 - e).sin() * a1 + y1 * y2 * a2 - second;
        out.violation[0] = y1 * y1 * y2 - 1.0;
        out.nonholonomic[0] = y1 * z1 * z2 + 2.0;
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        let [y1, y2] = two(at.configuration);
        out.values_mut().copy_from_slice(&[2.0 * y1 * y2, y1 * y1]);
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        let ([y1, y2], [z1, z2]) = (two(at.configuration), two(at.velocity));
        if let Some(out) = wanted.curvature.take() {
            out[0] = 2.0 * y2 * z1 * z1 + 4.0 * y1 * z1 * z2;
        }
        if let Some(out) = wanted.nonholonomic_gradient.take() {
            out.values_mut().copy_from_slice(&[y1 * z2, y1 * z1]);
        }
        if let Some(out) = wanted.nonholonomic_curvature.take() {
            out[0] = z1 * z1 * z2;
        }
        if let Some((weights, out)) = wanted.tangent.take() {
            self.tangent(at, weights, out);
        }
    }
}

impl NonlinearReactions {
    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        let ([y1, y2], [z1, z2], [a1, a2]) = (two(at.configuration), two(at.velocity), two(at.acceleration));
        let (lambda, psi, t) = (at.multipliers[0], at.nonholonomic_multipliers[0], at.time);
        let (e, cube) = (t.exp(), psi.powi(3));
        let mass = [y1, (y1 - e).sin(), y2 - (-2.0 * t).exp(), y1 * y2];
        let damping = [
            -2.0 * e * y2,
            2.0 * y1 * y2 * z2 / e + y1 * y2 * cube,
            -e * y1 + y1 * psi,
            (2.0 * y1 * z1 * y2 - 0.5 * y2) / e,
        ];
        for ((value, mass), damping) in out.dynamic.values_mut().iter_mut().zip(mass).zip(damping) {
            *value = weights.mass * mass + weights.damping * damping;
        }
        self.gradient(at, &mut out.gradient);
        out.nonholonomic.values_mut().copy_from_slice(&[y1 * z2, y1 * z1]);
        out.reaction.values_mut().copy_from_slice(&[-e * e * y1, -2.0 * y2 * lambda / e]);
        out.nonholonomic_reaction.values_mut().copy_from_slice(&[y1 * z2, 3.0 * y1 * y2 * z1 * psi * psi]);
        if weights.stiffness {
            out.stiffness.values_mut().copy_from_slice(&[
                a1 - e * z2 - e * e * lambda + z2 * psi,
                (y1 - e).cos() * a1 + y2 * a2 + 2.0 * z1 * y2 * z2 / e + y2 * z1 * cube,
                a2 - 2.0 * e * z1,
                y1 * a2 - (0.5 * z2 - 2.0 * y1 * z1 * z2 + lambda * lambda) / e + y1 * z1 * cube,
            ]);
            out.gradient_rate.values_mut().copy_from_slice(&[2.0 * y2 * z1 + 2.0 * y1 * z2, 2.0 * y1 * z1]);
            out.nonholonomic_stiffness.values_mut().copy_from_slice(&[z1 * z2, 0.0]);
        }
    }
}

fn two(values: &[f64]) -> [f64; 2] {
    [values[0], values[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_solution_satisfies_the_equations() {
        for time in [0.0, 0.4, 1.0] {
            let ([y, z, a], [lambda, psi]) =
                (NonlinearReactions.motion(time), NonlinearReactions.multipliers(time));
            let (mut equilibrium, mut violation, mut nonholonomic) = ([0.0; 2], [0.0], [0.0]);
            NonlinearReactions.residual(
                &Point {
                    time,
                    configuration: &y,
                    velocity: &z,
                    acceleration: &a,
                    multipliers: &[lambda],
                    nonholonomic_multipliers: &[psi],
                    internal_states: &[],
                    memory: &[],
                },
                &mut Residual {
                    equilibrium: &mut equilibrium,
                    violation: &mut violation,
                    nonholonomic: &mut nonholonomic,
                    internal_rates: &mut [],
                },
            );
            let all = equilibrium.iter().chain(&violation).chain(&nonholonomic);
            // Terms of size e³ with a few roundings each.
            assert!(
                all.into_iter().all(|value| value.abs() < 1e-13),
                "{equilibrium:?} {violation:?} {nonholonomic:?}"
            );
        }
    }
}
