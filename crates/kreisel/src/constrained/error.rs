//! Why there are no consistent values.

use std::fmt;

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

/// A velocity that the user states and that was changed because others contradict it.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedChange {
    /// The node in the words of the system's author.
    pub name: String,
    /// Whether it is an angular velocity, in rad/s, and not one in m/s.
    pub angular: bool,
    /// Its size before.
    pub before: f64,
    /// Its size after.
    pub after: f64,
    /// The angle between both, in rad.
    pub turned: f64,
    /// Whether the change is too large to go on with.
    pub refused: bool,
}

/// Angles between velocities before and after from which on they are told, in rad: as many digits as the
/// words show.
const TURNED: f64 = 0.01;
/// Velocities below this part of those before are none.
const NONE_LEFT: f64 = 1e-9;

impl StatedChange {
    /// Sizes before and after in five digits.
    fn sizes(&self) -> [f64; 2] {
        let least = NONE_LEFT * self.before.max(self.after);
        [self.before, self.after].map(|value| match value < least {
            true => 0.0,
            false => format!("{value:.4e}").parse::<f64>().unwrap_or(value),
        })
    }

    fn turns(&self) -> bool {
        self.turned > TURNED && self.sizes().iter().all(|size| *size > 0.0)
    }

    /// Whether the words for it say of a change.
    fn shows(&self) -> bool {
        let [before, after] = self.sizes();
        before != after || self.turns()
    }
}

impl fmt::Display for StatedChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, unit) = if self.angular { ("angular velocity", "rad/s") } else { ("velocity", "m/s") };
        let [before, after] = self.sizes();
        write!(out, "the {kind} of {} from {before} {unit} to {after} {unit}", self.name)?;
        if self.turns() {
            write!(out, ", turned by {:.2} rad", self.turned)?;
        }
        Ok(())
    }
}

/// Most changes in one message.
const MAX_CHANGES: usize = 5;

/// Changes of stated velocities, and the joints that ask for them, as a part of a sentence.
pub(crate) fn changes_in_words(changes: &[StatedChange], misses: &[Miss], verb: &str) -> String {
    let list = |words: Vec<String>, count: usize| {
        let more = (count > words.len()).then(|| format!("and {} more", count - words.len()));
        words.into_iter().chain(more).collect::<Vec<_>>().join(", ")
    };
    let joints = misses.iter().take(MAX_MISSES).map(|miss| miss.name.clone()).collect();
    let shown: Vec<&StatedChange> = changes.iter().filter(|change| change.shows()).collect();
    let told = shown.iter().take(MAX_CHANGES).map(ToString::to_string).collect();
    format!("{} {verb} {}", list(joints, misses.len()), list(told, shown.len()))
}

/// Why initial values are not consistent and cannot be made so.
#[derive(Clone, Error, PartialEq)]
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
    #[error(
        "constraints contradict each other in their {level} at the start: {}, in {}; drives and bodies with `fixed = true` must not \
         ask for different ones: change one of them, or leave it out",
        in_words(misses),
        if *level == "velocities" { "m/s or rad/s" } else { "m/s² or rad/s²" }
    )]
    Contradiction {
        /// `velocities` or `accelerations`.
        level: &'static str,
        /// The constraints that conflict, worst first.
        misses: Vec<Miss>,
    },
    /// Velocities that the user states contradict each other.
    #[error(
        "the stated initial velocities contradict each other: {}; state only those that do not follow from others, and leave the rest out",
        changes_in_words(changes, misses, "would change")
    )]
    Velocities {
        /// Stated velocities that would have to be changed, the largest change first.
        changes: Vec<StatedChange>,
        /// The constraints that they violate, worst first.
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

shown_by_message!(ConsistencyError);

/// What is not finite: what a part gives, where one is known, since the first equation that it spoils need not be
/// one of its own.
pub(crate) fn blame(equation: String, part: Option<String>) -> String {
    part.map_or(equation, |part| format!("what `{part}` gives"))
}
