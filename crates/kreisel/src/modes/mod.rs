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
//! The slowest modes are found in a growing space of motions, by products with the matrices and solutions of
//! the block system
//!
//! ```text
//! | K + σC + σ²M   Bᵀ |
//! | B              0  |
//! ```
//!
//! with the sparse LU of [`crate::solve`], and counted; see `search`.
//!
//! First-order states make the whole a system of first order, ẏ = A y with the free coordinates, their rates
//! and the states in y; algebraic states are solved for. Its matrix is dense.

mod eigen;
mod inverse;
mod linearized;
mod search;
mod state_space;
mod states;
mod subspace;

pub use linearized::Linearized;
pub use state_space::StateSpace;
pub use states::StateTerms;

use nalgebra::Complex;
use thiserror::Error;

use self::search::{Count, Found, Pair, is_overdamped};
use crate::dae::{Note, NoteKind, Notes};

/// How many modes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSettings {
    /// Number of modes, the slowest first, not counting overdamped ones.
    pub count: usize,
}

impl Default for ModeSettings {
    fn default() -> Self {
        Self { count: 10 }
    }
}

/// Why there are no modes.
#[derive(Clone, Error, PartialEq, Eq)]
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
    /// A direction without mass whose stiffness is not positive.
    #[error(
        "a direction without mass is not held by a positive stiffness: it would give way at once, and there are no modes"
    )]
    Unheld,
    /// The matrices are not finite numbers.
    #[error("the linearised matrices are not finite numbers")]
    NotFinite,
}

shown_by_message!(ModesError);

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
    /// How good the mode is: the size of its correction beside its own, in energy (with states, that of A y −
    /// s y beside A and y). The error of an undamped eigenvalue is the square of it.
    pub residual: f64,
}

/// Modes of small motions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modes {
    /// Those that oscillate, grow or stay where they are, slowest first.
    pub modes: Vec<Mode>,
    /// Those that decay without oscillation, slowest first: as far as they are no faster than the last of the
    /// others, and at most as many as were asked for.
    pub overdamped: Vec<Mode>,
    /// Doubts about them.
    pub notes: Notes,
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

/// Motions below this part of the states are not counted as motions: some thousand ε.
const STILL: f64 = 1e-12;

impl Linearized {
    /// The slowest modes, by |s|.
    pub fn modes(&self, settings: ModeSettings) -> Result<Modes, ModesError> {
        if settings.count == 0 {
            return Err(ModesError::NoModes);
        }
        if !self.is_finite() {
            return Err(ModesError::NotFinite);
        }
        let mut found = match &self.internal_states {
            Some(terms) => Found {
                pairs: self.pairs_with(terms)?,
                unlisted: 0,
                count: Count::Unneeded,
                limit: eigen::WRONG,
            },
            None => self.search(settings.count)?,
        };
        found.pairs.retain(|pair| pair.eigenvalue.im >= 0.0);
        found.pairs.sort_by(|a, b| a.eigenvalue.norm().total_cmp(&b.eigenvalue.norm()));
        let (mut overdamped, mut listed): (Vec<Pair>, Vec<Pair>) =
            std::mem::take(&mut found.pairs).into_iter().partition(|pair| is_overdamped(pair.eigenvalue));
        listed.truncate(settings.count);
        if let Some(last) = listed.get(settings.count - 1) {
            overdamped.retain(|pair| pair.eigenvalue.norm() <= last.eigenvalue.norm());
        }
        overdamped.truncate(settings.count);
        let notes = doubts(&found, &listed, &overdamped, settings.count);
        let modes = |pairs: Vec<Pair>| pairs.into_iter().map(|pair| self.mode(pair)).collect();
        Ok(Modes { modes: modes(listed), overdamped: modes(overdamped), notes })
    }

    /// The mode of an eigenvector: the shape in the velocity coordinates, then the states.
    fn mode(&self, pair: Pair) -> Mode {
        let Pair { eigenvalue, mut shape, residual } = pair;
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
        Mode { eigenvalue, shape, internal_states, shares, residual }
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

/// What the user should know about modes that were found.
fn doubts(found: &Found, listed: &[Pair], overdamped: &[Pair], wanted: usize) -> Notes {
    let mut notes = Notes::default();
    let worst = listed.iter().chain(overdamped).map(|pair| pair.residual).fold(0.0, f64::max);
    let converged = |pair: &&Pair| pair.residual <= found.limit;
    let poor = listed.len() + overdamped.len() - listed.iter().chain(overdamped).filter(converged).count();
    if poor > 0 {
        let text = format!(
            "{poor} of {} modes did not converge: their residual is up to {worst:.1e} and should be below {:.0e}; \
             see `residual` of each",
            listed.len() + overdamped.len(),
            found.limit
        );
        notes.add(Note::new(NoteKind::DoubtfulModes, text).number(worst));
    }
    match found.count {
        Count::Misses { found, counted, frequency } => {
            let text = format!(
                "{counted} modes without damping lie below {frequency:.6e} Hz by the signs of the pivots, but only \
                 {found} were found: some are missing"
            );
            notes.add(Note::new(NoteKind::MissingModes, text).number((counted - found) as f64));
        }
        Count::Unknown => {
            let text = "whether modes are missing is not known: the pivots of the stiffness were not good enough to \
                        count them";
            notes.add(Note::new(NoteKind::MissingModes, text));
        }
        Count::Agrees { modes, frequency } if listed.len() < wanted && modes > listed.len() => {
            let text = format!(
                "only {} of {wanted} modes oscillate or grow; without damping there are {modes} below {frequency:.6e} \
                 Hz",
                listed.len()
            );
            notes.add(Note::new(NoteKind::MissingModes, text).number((modes - listed.len()) as f64));
        }
        Count::Agrees { .. } | Count::Unneeded => {}
    }
    if found.unlisted > 0 {
        let text = format!(
            "{} more modes grow, faster than those listed: ask for more modes to see them",
            found.unlisted
        );
        notes.add(Note::new(NoteKind::MissingModes, text).number(found.unlisted as f64));
    }
    notes
}
