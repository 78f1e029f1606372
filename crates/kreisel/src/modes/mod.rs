//! Small motions about a state: linearised matrices, frequencies, damping, shapes.
//!
//! Motions q ∘ exp(x̃) near a state with velocity v and acceleration v̇ satisfy, to first order and with the
//! state held as it is,
//!
//! ```text
//! M ẍ + (C + M v̂) ẋ + (K + C v̂ + M v̇^) x + Bᵀ δλ = 0,   B x = 0
//! ```
//!
//! with M = ∂r/∂v̇, C = ∂r/∂v, K = ∂r/∂q (the derivative of Bᵀλ included) and δv = ẋ + v̂ x. At rest v̂
//! vanishes. The coordinates x are those of the Lie algebra: in body axes, so that modes of what spins are
//! those that an observer on it sees.
//!
//! Few directions are treated as dense matrices on a basis of ker B; many by block Krylov spaces of the
//! shifted and inverted block system
//!
//! ```text
//! | K + σC + σ²M   Bᵀ |
//! | B              0  |
//! ```
//!
//! with the sparse LU of [`crate::solve`] [BaiDemmelDongarraRuheVanDerVorst2000, Chs. 4 and 7].
//!
//! First-order states make the whole a system of first order, ẏ = A y with the free coordinates, their rates
//! and the states in y; algebraic states are solved for.

mod dense;
mod eigen;
mod krylov;
mod linearized;
mod sparse;
mod states;

pub use dense::StateSpace;
pub use linearized::Linearized;
pub use states::StateTerms;

use nalgebra::Complex;
use thiserror::Error;

/// How many modes, and how they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSettings {
    /// Number of modes, the slowest first.
    pub count: usize,
    /// Most velocity coordinates for which dense matrices are used.
    pub max_dense: usize,
}

impl Default for ModeSettings {
    fn default() -> Self {
        Self { count: 10, max_dense: 150 }
    }
}

/// Why there are no modes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModesError {
    /// Something whose linearisation is not made here.
    #[error("modes cannot be found for systems with {0}")]
    Unsupported(&'static str),
    /// No mode was asked for.
    #[error("at least one mode must be asked for")]
    NoModes,
    /// The constraints leave nothing free.
    #[error("the machine cannot move: it has no modes")]
    NoFreedom,
    /// Dense matrices of first-order states would be too large.
    #[error(
        "modes of a machine with first-order states need dense matrices, which are too large for {0} velocity coordinates"
    )]
    TooLarge(usize),
    /// An algebraic unknown, or a motion, that the linearised equations do not determine.
    #[error("the linearised equations do not determine a motion without mass or an algebraic unknown")]
    Undetermined,
    /// A direction with neither mass nor stiffness.
    #[error("{equation} has neither mass nor stiffness: its motion is not determined")]
    Singular {
        /// The balance in question.
        equation: String,
    },
    /// The eigenvalues were not found.
    #[error("only {found} of {wanted} modes converged; ask for fewer")]
    NotConverged {
        /// Modes found.
        found: usize,
        /// Modes asked for.
        wanted: usize,
    },
    /// The matrices are not finite numbers.
    #[error("the linearised matrices are not finite numbers")]
    NotFinite,
}

/// One mode: x(t) = Re(shape · exp(s t)).
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Eigenvalue s in 1/s; of a conjugate pair the one with positive imaginary part.
    pub eigenvalue: Complex<f64>,
    /// Shape in the velocity coordinates; its largest entry, in lengths of the system and rad, is 1, unless
    /// only states move.
    pub shape: Vec<Complex<f64>>,
    /// First-order states in the mode, in their own units; zeros for algebraic ones.
    pub internal_states: Vec<Complex<f64>>,
    /// Part of the kinetic energy (of the motion, where there is no mass) in each node; they add up to 1, or
    /// are zero where only states change.
    pub shares: Vec<f64>,
}

impl Mode {
    /// Frequency in Hz at which the motion repeats; zero if it does not.
    pub fn frequency(&self) -> f64 {
        self.eigenvalue.im / std::f64::consts::TAU
    }

    /// Damping ratio −Re s/|s|: 0 undamped, 1 overdamped, negative where the motion grows.
    pub fn damping_ratio(&self) -> f64 {
        let size = self.eigenvalue.norm();
        // No negative zero: an undamped mode is undamped, not growing.
        if size > 0.0 { 0.0 - self.eigenvalue.re / size } else { 0.0 }
    }

    /// The node that moves most.
    pub fn dominant_node(&self) -> usize {
        self.shares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(node, _)| node)
    }
}

/// Motions below this part of the states are none.
const STILL: f64 = 1e-12;

impl Linearized {
    /// The slowest modes, by |s|.
    pub fn modes(&self, settings: ModeSettings) -> Result<Vec<Mode>, ModesError> {
        if settings.count == 0 {
            return Err(ModesError::NoModes);
        }
        if !self.is_finite() {
            return Err(ModesError::NotFinite);
        }
        let small = self.velocity_count() <= settings.max_dense;
        let pairs = match &self.internal_states {
            Some(internal_states) => self.pairs_with(internal_states)?,
            None => match small.then(|| self.dense_pairs()).transpose()?.flatten() {
                Some(pairs) => pairs,
                None => self.sparse_pairs(settings.count)?,
            },
        };
        let mut pairs: Vec<_> = pairs.into_iter().filter(|(s, _)| s.im >= 0.0).collect();
        pairs.sort_by(|a, b| a.0.norm().total_cmp(&b.0.norm()));
        pairs.truncate(settings.count);
        Ok(pairs.into_iter().map(|(eigenvalue, shape)| self.mode(eigenvalue, shape)).collect())
    }

    /// The mode of an eigenvector: the shape in the velocity coordinates, then the states.
    fn mode(&self, eigenvalue: Complex<f64>, mut shape: Vec<Complex<f64>>) -> Mode {
        let mut internal_states = shape.split_off(self.velocity_count());
        let largest = |values: &mut dyn Iterator<Item = Complex<f64>>| {
            values.max_by(|a, b| a.norm().total_cmp(&b.norm())).unwrap_or_default()
        };
        let mut moved = shape.iter().zip(&self.coordinate_scales).map(|(value, scale)| value / scale);
        let (motion, state) = (largest(&mut moved), largest(&mut internal_states.iter().copied()));
        let by = if motion.norm() > STILL * state.norm() { motion } else { state };
        if by.norm() > 0.0 {
            shape.iter_mut().chain(&mut internal_states).for_each(|value| *value /= by);
        }
        let shares = self.shares(&shape);
        Mode { eigenvalue, shape, internal_states, shares }
    }

    /// Part of xᴴMx in each node, or of the motion where there is no mass.
    fn shares(&self, shape: &[Complex<f64>]) -> Vec<f64> {
        let mut shares = vec![0.0; self.space.factor_count()];
        for part in [|z: &Complex<f64>| z.re, |z: &Complex<f64>| z.im] {
            let x: Vec<f64> = shape.iter().map(part).collect();
            let mut momentum = vec![0.0; x.len()];
            self.mass.multiply_add(1.0, &x, &mut momentum);
            for (node, share) in shares.iter_mut().enumerate() {
                let range = self.space.velocity_range(node);
                *share += x[range.clone()].iter().zip(&momentum[range]).map(|(x, p)| x * p).sum::<f64>();
            }
        }
        let mut sum: f64 = shares.iter().sum();
        if sum <= 0.0 {
            for (node, share) in shares.iter_mut().enumerate() {
                let range = self.space.velocity_range(node);
                let scales = &self.coordinate_scales[range.clone()];
                *share = shape[range].iter().zip(scales).map(|(x, s)| x.norm_sqr() / (s * s)).sum();
            }
            sum = shares.iter().sum();
        }
        if sum > 0.0 {
            shares.iter_mut().for_each(|share| *share /= sum);
        }
        shares
    }
}
