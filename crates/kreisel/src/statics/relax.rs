//! A first equilibrium where Newton's iteration has no hold: the machine glides downhill.
//!
//! A pendulum that starts at the horizontal meets no stiffness there, and far from rest a stiffness may push
//! uphill. With a shift σ that makes K + σD definite, D weighing lengths and angles, the step −(K + σD)⁻¹r
//! goes down in energy; as the steps shrink so does σ, and Newton's iteration takes over [KelleyKeyes1998,
//! Sec. 1].

use super::newton::{Failure, Solved};
use super::problem::Problem;
use super::{Equilibrium, StaticSettings};

/// First shift, in mean stiffnesses.
const FIRST_SHIFT: f64 = 1.0;
/// Smallest shift, in mean stiffnesses.
const MIN_SHIFT: f64 = 1e-4;
/// Longest step, in lengths of the system and rad.
const LONGEST: f64 = 0.3;
/// Steps this small let Newton's iteration try.
const SMALL: f64 = 0.03;
/// Most steps.
const MAX_STEPS: usize = 200;

impl Problem<'_> {
    /// Glides from a configuration to an equilibrium at its load factor.
    pub fn relax(&mut self, start: &Equilibrium, settings: &StaticSettings) -> Result<Solved, Failure> {
        let mut now = start.clone();
        let mut shift = FIRST_SHIFT;
        let mut last = f64::INFINITY;
        let count = self.shape.velocity_count();
        for _ in 0..MAX_STEPS {
            self.remember(&mut now);
            self.fit(&now.values.memory);
            self.evaluate(&now).map_err(Failure::NotFinite)?;
            self.shift = shift;
            let factored = self.factor(&now);
            self.shift = 0.0;
            factored?;
            let correction = self.correction();
            let size = self.largest(&correction[..count]);
            if !size.is_finite() {
                return Err(Failure::NotConverged { iterations: MAX_STEPS, correction: size });
            }
            now = self.moved(&now, &correction, 0.0, (LONGEST / size).min(1.0));
            if size < SMALL
                && let Ok(solved) = self.newton(&now, None, settings.tolerance, settings.max_iterations)
            {
                return Ok(solved);
            }
            // Steps that shrink show a valley; there the shift only delays.
            shift = if size < last { (0.7 * shift).max(MIN_SHIFT) } else { (2.0 * shift).min(FIRST_SHIFT) };
            last = size;
        }
        Err(Failure::NotConverged { iterations: MAX_STEPS, correction: last })
    }
}
