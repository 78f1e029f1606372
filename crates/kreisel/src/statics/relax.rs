//! A first equilibrium where Newton's iteration has no hold: the machine glides downhill.
//!
//! A pendulum that starts at the horizontal meets no stiffness there, and far from rest a stiffness may push
//! uphill. With a shift σ that makes K + σD definite, D weighing lengths and angles, the step −(K + σD)⁻¹r
//! goes down in energy; as the steps shrink so does σ, and Newton's iteration takes over [KelleyKeyes1998,
//! Sec. 1].

use super::newton::{Failure, Solved};
use super::problem::Problem;
use super::{Equilibrium, StaticSettings};

/// First and largest shift, in mean stiffnesses.
const FIRST_SHIFT: f64 = 1.0;
const MAX_SHIFT: f64 = 1e3;
/// Smallest shift, in mean stiffnesses.
const MIN_SHIFT: f64 = 1e-12;
/// Longest step, in lengths of the system and rad: what turns is stretched by half the square of it, and a
/// rope must not be pulled by more than it carries.
const LONGEST: f64 = 0.03;
/// Steps this small let Newton's iteration try, every so many steps.
const SMALL: f64 = 0.02;
const TRIES: usize = 4;
/// A step is cut until the next correction by the same factors is at most this many times its own: what turns
/// is stretched, and where its bending stiffness is next to nothing the pull that this makes throws
/// everything about.
const MAX_GROWTH: f64 = 2.0;
/// Smallest part of a step that is tried.
const MIN_PART: f64 = 1e-3;
/// Most steps: a rope of 64 limp pieces that is drawn across its load takes some thousands.
const MAX_STEPS: usize = 8000;

impl Problem<'_> {
    /// Glides from a configuration to an equilibrium at its load factor.
    ///
    /// The shift falls from step to step; it rises where a step goes uphill, because K + σD is not definite,
    /// where it would be longer than allowed, where it had to be cut, and where it is much longer than the
    /// last.
    pub fn relax(&mut self, start: &Equilibrium, settings: &StaticSettings) -> Result<Solved, Failure> {
        let mut now = start.clone();
        let mut shift = FIRST_SHIFT;
        let mut last = f64::INFINITY;
        let count = self.shape.velocity_count();
        for step in 0..MAX_STEPS {
            self.remember(&mut now);
            self.fit(&now.values.memory);
            self.evaluate(&now).map_err(Failure::NotFinite)?;
            self.shift = shift;
            let factored = self.factor(&now);
            self.shift = 0.0;
            let correction = match factored {
                Ok(()) => self.correction(),
                Err(singular) if shift >= MAX_SHIFT => return Err(singular.into()),
                Err(_) => vec![f64::NAN; self.residual.len()],
            };
            let size = self.largest(&correction[..count]);
            // δᵀ (K + σD) δ of a step that keeps the constraints.
            let gain = -correction.iter().zip(&self.residual).take(count).map(|(x, r)| x * r).sum::<f64>();
            let is_downhill = gain > 0.0 || size <= settings.tolerance;
            if !size.is_finite() || !is_downhill {
                if shift >= MAX_SHIFT {
                    return Err(Failure::NotConverged { iterations: step, correction: size });
                }
                shift = (4.0 * shift).min(MAX_SHIFT);
                continue;
            }
            let first = (LONGEST / size).min(1.0);
            let part = self.bearable_part(&now, &correction, first);
            now = self.moved(&now, &correction, 0.0, part);
            if size < SMALL && step % TRIES == TRIES - 1 {
                match self.newton(&now, None, settings.tolerance, settings.max_iterations) {
                    Ok(solved) => return Ok(solved),
                    // It rests, and something is held by nothing.
                    Err(failure) if size <= settings.tolerance && shift < SMALL => return Err(failure),
                    Err(_) => {}
                }
            }
            shift = match size {
                _ if part < 0.5 * first => (4.0 * shift).min(MAX_SHIFT),
                size if size > LONGEST => (2.0 * shift).min(MAX_SHIFT),
                size if size > 4.0 * last => (2.0 * shift).min(MAX_SHIFT),
                _ => (0.5 * shift).max(MIN_SHIFT),
            };
            last = size;
        }
        Err(Failure::NotConverged { iterations: MAX_STEPS, correction: last })
    }

    /// The part of a correction, at most a first one, after which the factors ask for no much larger one.
    fn bearable_part(&mut self, now: &Equilibrium, correction: &[f64], first: f64) -> f64 {
        let count = self.shape.velocity_count();
        let most = MAX_GROWTH * self.largest(&correction[..count]);
        let mut part = first;
        while part > MIN_PART * first {
            let trial = self.moved(now, correction, 0.0, part);
            if self.evaluate(&trial).is_ok() {
                let next = self.correction();
                if self.largest(&next[..count]) <= most {
                    break;
                }
            }
            part *= 0.5;
        }
        part
    }
}
