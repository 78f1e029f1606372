//! Why an integration could not start or go on.

use std::fmt;

use thiserror::Error;

use super::control::possible_radii;
use super::scheme::ParameterError;
use crate::constrained::{ConsistencyError, Miss, in_words};

/// Why an integration cannot start.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum StartError {
    /// The parameters of the method.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// No consistent values at the start.
    #[error(transparent)]
    Initial(#[from] ConsistencyError),
    /// The step size is not a positive number.
    #[error("the step size must be positive and finite, not {0}")]
    Step(f64),
    /// A tolerance is not a positive number.
    #[error("{name} must be positive and finite, not {value}")]
    Tolerance {
        /// Which tolerance.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A tolerance that rounding exceeds.
    #[error(
        "rtol = {rtol:e} is below {least:e}: a number has 16 digits, and a step rounds it some fifty times. No step is small enough for \
         that; take a larger `rtol`"
    )]
    BelowRounding {
        /// The tolerance.
        rtol: f64,
        /// The least that makes sense.
        least: f64,
    },
    /// The scaling k + m/h² of forces has no size.
    #[error(
        "mass-scale = {mass} and stiffness-scale = {stiffness} leave no scaling k + m/h² of forces; none may be negative, and one must be positive"
    )]
    NoScale {
        /// m.
        mass: f64,
        /// k, given or of the system at the start.
        stiffness: f64,
    },
    /// The limits of a variable step size leave nothing between them.
    #[error("min-step = {min} s and max-step = {max} s must be positive, and the second not below the first")]
    StepLimits {
        /// Smallest step.
        min: f64,
        /// Largest step.
        max: f64,
    },
    /// Parameters with α_m ≠ 0 for a method of the HHT family.
    #[error(
        "`hht-i3` and `hht-soi2` are the methods with α_m = 0, not {0}: give the α of the HHT method, or take `soi2`"
    )]
    NotHht(f64),
    /// Parameters without damping of the multipliers.
    #[error(
        "with constraints that hold for positions only (`index3`, `hht-i3`, `updated-lagrangian`) these parameters (ρ∞ = 1, the \
         trapezoidal rule or beyond) are unstable: the multipliers grow without bound. Take a spectral radius below 1 or the \
         method `index2`"
    )]
    UndampedMultipliers,
    /// Steps that the error chooses, with parameters that damp next to nothing.
    #[error("the spectral radius must be {radii}, not {0}", radii = possible_radii())]
    UndampedSteps(f64),
    /// Parameters beyond the limit of stability.
    #[error("these parameters violate α_m ≤ α_f ≤ 1/2 and γ ≤ 2β: the method is unstable")]
    Unstable,
    /// Something that a method cannot do, and what to do instead.
    #[error("`{method}` cannot do {task}{}; {instead}", part.as_ref().map(|part| format!(": {part}")).unwrap_or_default())]
    CannotDo {
        /// The word of the method.
        method: &'static str,
        /// What, and why not.
        task: Task,
        /// The first part that asks for it, in words with its name between backticks.
        part: Option<String>,
        /// What to do.
        instead: &'static str,
    },
    /// A node on SE(3), where the updated Lagrangian method has no local coordinates.
    #[error(
        "`updated-lagrangian` has no local coordinates on SE(3), where {equation} lives. Take the group `so3xr3`, or the \
         method `index3`"
    )]
    NoLocalCoordinates {
        /// The first equation of the node.
        equation: String,
    },
    /// The equilibrium from which the run is to start was not found.
    #[error("there is no equilibrium to start from: {reason}")]
    NoEquilibrium {
        /// Why.
        reason: String,
    },
}

shown_by_message!(StartError);
/// What not every method can do, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// Steps whose size the error chooses.
    StepsByError,
    /// Nonholonomic constraints.
    Nonholonomic,
    /// States of first order.
    States,
    /// Friction that depends on reactions.
    ReactionFriction,
    /// Beams.
    Beams,
}

impl fmt::Display for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::StepsByError => "steps by the error: its energy drifts where their size changes",
            Self::Nonholonomic => "nonholonomic constraints, which hold for velocities only",
            Self::States => "first-order states, which have no momenta",
            Self::ReactionFriction => "friction by reactions, which takes energy away",
            Self::Beams => "beams, whose mass depends on their shape",
        })
    }
}

/// Why a step failed; the state is the one before the step.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// Newton's iteration did not converge.
    #[error(
        "Newton stopped after {iterations} iterations at t = {time} s (h = {step:e} s): the last correction was {norm:.1e} times \
         the tolerance, the residual is largest in {worst}. Try a smaller step; \
         where the machine passes a singular position (bars on one line) also a smaller spectral radius or a weak spring"
    )]
    NotConverged {
        /// Time at the end of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// Iterations done.
        iterations: usize,
        /// Last correction in units of the tolerance.
        norm: f64,
        /// The equation that is worst.
        worst: String,
    },
    /// A residual is infinite or not a number.
    #[error(
        "{equation} is not a finite number at t = {time} s (h = {step:e} s). Look at what it divides by or takes roots of; \
         where the motion ran away before, try a smaller step"
    )]
    NotFinite {
        /// Time at the end of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// The equation.
        equation: String,
    },
    /// The iteration matrix is singular.
    #[error(
        "the iteration matrix is singular at t = {time} s (h = {step:e} s): {unknown} is not determined. Where the machine \
         passes a singular position (bars on one line) try another step, a smaller spectral radius or a weak spring"
    )]
    Singular {
        /// Time at the end of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// The unknown without an equation.
        unknown: String,
    },
    /// The tolerance would need smaller steps than are allowed or can be resolved.
    #[error(
        "the tolerance needs steps below {least:.1e} s at t = {time} s: with h = {step:.1e} s the error is {error:.1e} times the \
         tolerance, largest in {worst}. Something changes suddenly there (an impact, a stiff stop, a force that jumps), or \
         the tolerance is too small: try a larger `rtol`, a smaller `min-step`, or an event where forces jump"
    )]
    ErrorTooLarge {
        /// Time at the start of the step.
        time: f64,
        /// The last step size tried.
        step: f64,
        /// Smallest step size.
        least: f64,
        /// Error in units of the tolerance.
        error: f64,
        /// Where the error is largest.
        worst: String,
    },
    /// A part turns so far in the smallest step that no step follows it.
    #[error(
        "a part turns by {angle:.3} rad in a step of {step:.1e} s at t = {time} s, the smallest allowed ({least:.1e} s): {part}. The \
         method follows no turns above {limit} rad; take a smaller `min-step`, or look for a part that resists turning by next to nothing"
    )]
    TurnTooLarge {
        /// Time at the start of the step.
        time: f64,
        /// The last step size tried.
        step: f64,
        /// Smallest step size.
        least: f64,
        /// The turn in rad.
        angle: f64,
        /// The largest turn that the method follows, in rad.
        limit: f64,
        /// What turns.
        part: String,
    },
    /// A part turns so far in a step that the method cannot follow it.
    #[error(
        "a part turns by {angle:.3} rad in a step of {step:.1e} s at t = {time} s: {part}. The method follows turns of up to {most} rad; \
         take a smaller `step`, or `step = \"auto\"`"
    )]
    TurnTooFar {
        /// Time at the start of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// The turn in rad.
        angle: f64,
        /// The largest turn that is followed, in rad.
        most: f64,
        /// What turns.
        part: String,
    },
    /// A motion is so fast that an explicit method would take more steps for it than anyone waits for.
    #[error(
        "{part} can move with {rate:.1e} /s at t = {time} s, which keeps explicit steps below {most:.1e} s: this run would take more than a \
         million of them. Take the method `index2`"
    )]
    Stiff {
        /// Time at the start of the step.
        time: f64,
        /// The rate in 1/s.
        rate: f64,
        /// The largest stable step in s.
        most: f64,
        /// What moves so fast.
        part: String,
    },
    /// A fixed step of an explicit method beyond its limit of stability.
    #[error(
        "{part} can move with {rate:.1e} /s at t = {time} s, and an explicit method is stable with steps below {most:.1e} s only, not with h = \
         {step:.1e} s. Take a smaller `step`, `step = \"auto\"`, or the method `index2`"
    )]
    UnstableStep {
        /// Time at the start of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// The rate in 1/s.
        rate: f64,
        /// The largest stable step in s.
        most: f64,
        /// What moves so fast.
        part: String,
    },
    /// A mass matrix that is not the same everywhere, with a method that needs that.
    #[error(
        "the masses change with the position at t = {time} s, and `symplectic` is for rigid bodies; take the method `explicit8` or `index2`"
    )]
    ChangingMass {
        /// Time at which they are not those of the start.
        time: f64,
    },
    /// No step, however small, could be computed.
    #[error("no step could be computed down to h = {step:.1e} s, the smallest allowed: {cause}")]
    NoStep {
        /// The last step size tried.
        step: f64,
        /// Why it failed.
        cause: Box<StepError>,
    },
    /// Constraints that cannot hold together any more.
    #[error(
        "the constraints cannot all hold at t = {time} s (h = {step:e} s): {}. Drives of the same motion must agree, and a \
         drive must not ask for more than the machine can reach",
        in_words(misses)
    )]
    Contradiction {
        /// Time at the end of the step.
        time: f64,
        /// Step size.
        step: f64,
        /// The constraints that conflict where they come closest, worst first.
        misses: Vec<Miss>,
    },
    /// The end of the run lies before the present time.
    #[error("the end time {end} s lies before the present time {time} s")]
    EndBeforeNow {
        /// Wanted end.
        end: f64,
        /// Present time.
        time: f64,
    },
    /// The step size is not a positive number.
    #[error("the step size must be positive and finite, not {0}")]
    Step(f64),
}

shown_by_message!(StepError);

/// Why bytes are not a state of this system.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes do not begin like a state.
    #[error("these bytes are not a saved state")]
    Unknown,
    /// Another version of the format.
    #[error("the state was saved in format {found}; this program reads format {expected}")]
    Version {
        /// Version found.
        found: u32,
        /// Version that can be read.
        expected: u32,
    },
    /// The bytes end too early or have more to them.
    #[error("the saved state is cut off or damaged")]
    Damaged,
    /// The state was saved by another method.
    #[error(
        "the state was saved by the method `{found}`, and `{expected}` cannot go on from it: take `{found}`, or start anew"
    )]
    OtherMethod {
        /// The method that saved it.
        found: String,
        /// The method that was to go on.
        expected: &'static str,
    },
    /// The state belongs to a system of another size.
    #[error("the saved state belongs to another system: it has {found} {what}, the system {expected}")]
    OtherSystem {
        /// What differs.
        what: &'static str,
        /// Number in the state.
        found: usize,
        /// Number in the system.
        expected: usize,
    },
}

shown_by_message!(StateError);
