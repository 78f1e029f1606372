//! Directions in which nothing holds a system.

use super::Equilibrium;
use super::problem::Problem;
use crate::solve::linear::LinearSolver;

/// Shift of the stiffness, in units of its mean, that lets a singular matrix be factored: seven digits above
/// rounding, and nine below what carries.
const SHIFT: f64 = 1e-9;
/// A force that vanishes to this part of what it is added up from vanishes: some ε of the sum.
const ROUND_OFF: f64 = 1e-14;
/// Below this part not enough digits of a force are left to find an equilibrium by: sixteen less ten.
const FEW_DIGITS: f64 = 1e-10;
/// Solves that sharpen a random direction to the softest one.
const SOLVES: usize = 4;

/// A motion that the constraints allow and that hardly meets a force.
pub(super) struct SoftMotion {
    pub motion: Vec<f64>,
    /// The force beside what it is added up from.
    pub ratio: f64,
}

impl SoftMotion {
    /// Whether it meets no force at all.
    pub fn is_free(&self) -> bool {
        self.ratio <= ROUND_OFF
    }
}

impl Problem<'_> {
    /// The softest motion that the constraints allow, if next to nothing holds it.
    pub fn soft_motion(&mut self, at: &Equilibrium) -> Option<SoftMotion> {
        self.evaluate(at).ok()?;
        self.assemble(at);
        let plain = self.matrix.clone();
        let count = self.shape.velocity_count();
        self.shift = SHIFT;
        self.assemble(at);
        self.shift = 0.0;
        let mut solver = LinearSolver::new(&self.layout.pattern, &self.layout.roles);
        solver.factor(&self.matrix).ok()?;
        let mut x: Vec<f64> = (0..self.residual.len()).map(|i| 1.0 + (1.7 * i as f64).sin()).collect();
        for _ in 0..SOLVES {
            x[count..].fill(0.0);
            let norm = self.norm(&x[..count]);
            // (K + σD) x = D x has the free direction as its fixed point, whatever the units.
            x[..count].iter_mut().enumerate().for_each(|(i, value)| *value *= self.weight(i) / norm);
            solver.solve(&mut x);
        }
        let norm = self.norm(&x[..count]);
        x.iter_mut().for_each(|value| *value /= norm);
        let (mut force, mut magnitude) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        plain.multiply_add(1.0, &x, &mut force);
        let mut magnitudes = plain.clone();
        magnitudes.values_mut().iter_mut().for_each(|value| *value = value.abs());
        let sizes: Vec<f64> = x.iter().map(|value| value.abs()).collect();
        magnitudes.multiply_add(1.0, &sizes, &mut magnitude);
        let largest = magnitude.iter().fold(0.0_f64, |largest, value| largest.max(*value));
        let force = force[..count].iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let ratio = force / largest.max(SHIFT);
        (ratio <= FEW_DIGITS).then(|| SoftMotion { motion: x[..count].to_vec(), ratio })
    }
}
