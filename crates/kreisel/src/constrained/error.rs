//! Why there are no consistent values.

use thiserror::Error;

/// A constraint that is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The constraint in the words of the system's author.
    pub name: String,
    /// Norm of its equations: m, rad, or both.
    pub size: f64,
}

/// Most misses in one message.
const MAX_MISSES: usize = 5;

/// Misses as a part of a sentence.
pub(crate) fn in_words(misses: &[Miss]) -> String {
    let shown = misses.iter().take(MAX_MISSES).enumerate();
    let mut words: Vec<String> = shown
        .map(|(index, Miss { name, size })| {
            let verb = if index == 0 { " misses" } else { "" };
            format!("{name}{verb} by {size:.1e}")
        })
        .collect();
    if misses.len() > MAX_MISSES {
        words.push(format!("and {} more", misses.len() - MAX_MISSES));
    }
    words.join(", ")
}

/// Why initial values are not consistent and cannot be made so.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConsistencyError {
    /// A number of initial values does not fit the system.
    #[error("the system has {expected} {what}, but {given} initial values were given")]
    Count {
        /// What was counted.
        what: &'static str,
        /// What the system has.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// Initial values that are no configuration.
    #[error("the initial values are not usable: {0}")]
    Values(String),
    /// Constraints that change with time although the shape says otherwise.
    #[error("{equation} changes with time: the system's shape must say that its constraints are rheonomic")]
    UndeclaredTime {
        /// The constraint.
        equation: String,
    },
    /// Constraints without a gradient.
    #[error("{equation} has no gradient: a system with constraints must write `Dae::gradient`")]
    NoGradient {
        /// The first constraint.
        equation: String,
    },
    /// Positions that satisfy the constraints were not found.
    #[error(
        "the machine does not fit together at the start: {} after {iterations} iterations",
        in_words(misses)
    )]
    Position {
        /// The constraints that conflict where they come closest, worst first.
        misses: Vec<Miss>,
        /// Iterations done.
        iterations: usize,
    },
    /// Constraints ask for different velocities or accelerations.
    #[error("constraints contradict each other in their {level} at the start: {}", in_words(misses))]
    Contradiction {
        /// `velocities` or `accelerations`.
        level: &'static str,
        /// The constraints that conflict, worst first.
        misses: Vec<Miss>,
    },
    /// Mass matrix and constraints do not determine accelerations and multipliers.
    #[error(
        "accelerations and multipliers are not determined at the start: {equation} is redundant, or has no mass and nothing holds it"
    )]
    Singular {
        /// The equation or unknown that is not determined.
        equation: String,
    },
    /// Something is infinite or not a number.
    #[error("{equation} is not a finite number at the start (t = {time} s)")]
    NotFinite {
        /// The equation.
        equation: String,
        /// Initial time.
        time: f64,
    },
}

/// The name of an equation that is not finite with that of the part which made it so.
pub(crate) fn blame(equation: String, part: Option<String>) -> String {
    match part {
        Some(part) => format!("{equation}, by what `{part}` gives,"),
        None => equation,
    }
}
