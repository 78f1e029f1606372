//! A system of one's own: the spherical pendulum, written down as a DAE and integrated.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

// ANCHOR: system
use kreisel::dae::{Dae, Initial, Point, Residual, Shape};
use kreisel::integrate::{INDEX2, Integrator};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// A mass of 2 kg on a rod of 1.5 m that swings in space.
struct SphericalPendulum;

const MASS: f64 = 2.0;
const LENGTH: f64 = 1.5;
const GRAVITY: f64 = 9.81;

impl Dae for SphericalPendulum {
    /// Three coordinates in space, one constraint.
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(3)).with_constraints([1])
    }

    /// Equilibrium M v̇ + g + Bᵀλ = 0 and the constraint (|q|² − L²)/2 = 0.
    fn residual(&self, at: &Point, out: &mut Residual) {
        let (q, a, lambda) = (at.configuration, at.acceleration, at.multipliers[0]);
        for i in 0..3 {
            out.equilibrium[i] = MASS * a[i] + q[i] * lambda;
        }
        out.equilibrium[2] += MASS * GRAVITY;
        out.violation[0] = 0.5 * (q.iter().map(|q| q * q).sum::<f64>() - LENGTH * LENGTH);
    }

    /// B = qᵀ: one constraint, one node.
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        out.values_mut().copy_from_slice(at.configuration);
    }
}
// ANCHOR_END: system

// ANCHOR: run
/// Lets the pendulum run on a horizontal circle and gives the error in its height after ten turns.
pub fn run() -> Result<f64, Box<dyn std::error::Error>> {
    // Steady circling at 45°: ω² = g / (L cos 45°).
    let angle = std::f64::consts::FRAC_PI_4;
    let (radius, height) = (LENGTH * angle.sin(), -LENGTH * angle.cos());
    let omega = (GRAVITY / -height).sqrt();
    let initial = Initial::new(0.0, [radius, 0.0, height], [0.0, radius * omega, 0.0]);

    let mut run = Integrator::new(INDEX2, 0.9, 1e-3)?.start(&SphericalPendulum, initial)?;
    run.advance(10.0 * std::f64::consts::TAU / omega)?;
    Ok((run.values().configuration[2] - height).abs())
}
// ANCHOR_END: run

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("height after ten turns is kept to {:.1e} m", run()?);
    Ok(())
}
