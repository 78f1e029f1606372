//! Why no equilibrium was found.

use thiserror::Error;

use crate::constrained::ConsistencyError;

/// Why no equilibrium was found, or why the loads could not grow further.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum StaticsError {
    /// The initial configuration cannot be used or does not fit together.
    #[error(transparent)]
    Start(#[from] ConsistencyError),
    /// Something of which the state of rest is not defined here.
    #[error(
        "an equilibrium cannot be found for systems with {0}; let the machine come to rest in a run, with dampers"
    )]
    Unsupported(&'static str),
    /// The load factor to be reached is not a usable number.
    #[error("the load factor must be finite and not zero, not {0}")]
    Target(f64),
    /// The longest step along a path is not a usable number.
    #[error("the longest step along the path must be positive, not {0}")]
    PathStep(f64),
    /// No step is allowed.
    #[error("at least one load step is needed")]
    NoSteps,
    /// A path was asked for, but nothing loads the system.
    #[error("there is no load to follow: no force, moment or gravity acts on the system")]
    NoLoad,
    /// A direction in which nothing holds the system.
    #[error(
        "nothing holds the machine in one direction (load factor {load_factor}): {equation} meets no stiffness. \
         Hold it by a joint, a drive or a spring; what only its loads hold, such as a rope, may be drawn nearer to how it hangs, \
         and finds its way best as a beam with `order = 2`"
    )]
    FreeDirection {
        /// Load factor at which the direction was found.
        load_factor: f64,
        /// The balance that can be violated without resistance.
        equation: String,
    },
    /// Stiffnesses differ by so much that forces are lost in round-off.
    #[error(
        "no equilibrium was found beyond the load factor {load_factor:.6}: stiffnesses differ by a factor of {ratio:.0e}, so that \
         forces are lost in round-off, most in {equation}. Make the stiffest less stiff: often the shear or the stretch of \
         slender beams"
    )]
    LostDigits {
        /// Last load factor with an equilibrium.
        load_factor: f64,
        /// The largest stiffness beside the smallest.
        ratio: f64,
        /// The balance of the part that moves most easily.
        equation: String,
    },
    /// The loads cannot grow further.
    #[error(
        "the loads can grow to the load factor {load_factor:.6} and no further: a limit point lies just above, where displacements \
         grow without bound, most in {equation}. Follow the path by its arc length (--arc-length) to pass it"
    )]
    LimitPoint {
        /// Largest load factor with an equilibrium.
        load_factor: f64,
        /// The balance whose part moves most.
        equation: String,
    },
    /// The iteration does not converge.
    #[error(
        "no equilibrium was found beyond the load factor {load_factor:.6}: at a step of {step:.1e} Newton stopped after {iterations} \
         iterations with a correction of {correction:.1e}, the residual is largest in {worst}. Draw the machine nearer to its \
         equilibrium, or make stiffer what is next to limp; ropes find their way best as beams with `order = 2`"
    )]
    NotConverged {
        /// Last load factor with an equilibrium.
        load_factor: f64,
        /// Smallest step that was tried.
        step: f64,
        /// Iterations of the last attempt.
        iterations: usize,
        /// Last correction, in lengths of the system or rad.
        correction: f64,
        /// The equation with the largest residual.
        worst: String,
    },
    /// A force is not a finite number.
    #[error("{equation} is not a finite number at the load factor {load_factor:.6}")]
    NotFinite {
        /// Load factor.
        load_factor: f64,
        /// The equation.
        equation: String,
    },
}

shown_by_message!(StaticsError);

impl StaticsError {
    /// Whether no load could be borne at all.
    pub(super) fn is_at_start(&self) -> bool {
        match self {
            Self::NotConverged { load_factor, .. }
            | Self::FreeDirection { load_factor, .. }
            | Self::LostDigits { load_factor, .. } => *load_factor == 0.0,
            _ => false,
        }
    }
}
