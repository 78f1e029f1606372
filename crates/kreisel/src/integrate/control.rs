//! Step size from the local error.
//!
//! Each step may add the same error. The errors of a method of order p in N steps add up to N h^(p+1), so a
//! tolerance of the whole leaves a step about tolerance^((p+1)/p). Per step and not per unit of time: equal
//! errors take the fewest steps for a sum of errors, and a vibration has an error of twice its amplitude at
//! most however long it lasts, which a bound on the rate would count in every step anew, until it is
//! resolved.
//!
//! After a step whose error was r_n (in units of what it may add) and of order k in h, c_n = (θ/r_n)^(1/k)
//! would be the elementary change of step size. A digital filter [Soderlind2003, controller H211b] with b = 4
//! makes the sequence smooth,
//!
//! ```text
//! h_{n+1}/h_n = c_n^(1/4) c_{n−1}^(1/4) (h_n/h_{n−1})^(−1/4)
//! ```
//!
//! limited by 1 + arctan(ρ − 1) [SoderlindWang2006, arctangent limiter], so that no single estimate can throw
//! it off.

use super::error::StartError;

/// Largest spectral radius at infinite frequency with steps that the error chooses.
pub(crate) const MAX_RADIUS: f64 = 0.98;
/// Least relative tolerance, some fifty roundings: each step makes as many of them in every number, and no
/// step size makes them smaller.
pub(crate) const LEAST_TOLERANCE: f64 = 1e-14;
/// The least that a method of second order can keep to, by `rtol` and `atol` together: below it a step may
/// add less than four roundings, 0.3 tol^(3/2) < 4 ε, and errors are not seen.
pub(crate) const LEAST_OF_SECOND_ORDER: f64 = 2e-10;

/// The radii that are possible with such steps, and why.
pub(crate) fn possible_radii() -> String {
    format!(
        "at most {MAX_RADIUS} with steps by the error, since reactions would otherwise alternate from step to step without end \
         (a number for `step` allows up to 1)"
    )
}

/// Whether a spectral radius suits steps that the error chooses.
pub(crate) fn damps_enough(radius: f64) -> bool {
    // Rounding of a radius that was found from parameters.
    radius <= MAX_RADIUS + 1e-12
}

/// What a run with variable step size keeps to.
///
/// The local error that a step adds to positions and rotations stays below 0.3 tol^(3/2), with tol = `rtol` ·
/// size + `atol`, in rad and in lengths of the system. Rotations have size 1; positions have their distance
/// from the origin as size where it is larger than the length. Errors that cancel, or are bounded, as those
/// of vibrations, then stay near the tolerance; those that only add up grow with the length of the run (see
/// `accuracy` in model files for the error of a whole run).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorControl {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance, in rad and in units of the system's length.
    pub atol: f64,
    /// Smallest step size in s; where the tolerance would need a smaller one the run ends with an error.
    pub min_step: f64,
    /// Largest step size in s.
    pub max_step: f64,
    /// First step size in s; absent for a small part of the horizon. It is cut until its error is small
    /// enough.
    pub initial_step: Option<f64>,
    /// Time in s for which the motion is looked at, the length of a run: a first step is taken from it.
    pub horizon: f64,
    /// Largest turn of a step in parts of what the method follows: 1, or less for a run that is to have
    /// smaller errors than another, whatever limits its steps.
    pub turn_part: f64,
    /// Error that the whole run is to have, by which `auto` chooses a method: `rtol`, unless it is one of
    /// several runs by which an accuracy is reached.
    pub goal: f64,
}

impl ErrorControl {
    /// Control with relative and absolute tolerance alike, and any step size, of a motion that is looked at
    /// for `horizon` seconds.
    pub fn new(tolerance: f64, horizon: f64) -> Self {
        Self {
            rtol: tolerance,
            atol: tolerance,
            min_step: 0.0,
            max_step: f64::INFINITY,
            initial_step: None,
            horizon,
            turn_part: 1.0,
            goal: tolerance,
        }
    }

    pub(super) fn check(&self) -> Result<(), StartError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let first = self.initial_step.unwrap_or(1.0);
        let numbers = [
            ("rtol", self.rtol),
            ("horizon", self.horizon),
            ("initial-step", first),
            ("turn-part", self.turn_part),
            ("goal", self.goal),
        ];
        if let Some((name, value)) = numbers.into_iter().find(|(_, value)| !positive(*value)) {
            return Err(StartError::Tolerance { name, value });
        }
        if self.rtol < LEAST_TOLERANCE {
            return Err(StartError::BelowRounding { rtol: self.rtol, least: LEAST_TOLERANCE });
        }
        if !(self.atol >= 0.0 && self.atol.is_finite()) {
            return Err(StartError::Tolerance { name: "atol", value: self.atol });
        }
        // Written so that what is not a number is refused.
        let ordered = self.min_step >= 0.0 && self.min_step <= self.max_step && self.max_step > 0.0;
        if !ordered {
            return Err(StartError::StepLimits { min: self.min_step, max: self.max_step });
        }
        Ok(())
    }

    /// The tolerance with which a step of a method of second order may add an error, in rad and in lengths of
    /// the system.
    pub fn tolerance_of_a_step(error: f64) -> f64 {
        (error / PART_IN_A_STEP).powf(2.0 / 3.0)
    }

    /// The error that a step may add to a quantity of a size in its own units, where it shrinks with the
    /// power `order` of the step.
    pub(super) fn allowed_in_a_step(&self, size: f64, order: u32) -> f64 {
        let tolerance = self.rtol * size + self.atol;
        let power = f64::from(order) / f64::from(order - 1);
        PART_IN_A_STEP * if order == 3 { tolerance * tolerance.sqrt() } else { tolerance.powf(power) }
    }

    /// The first step that is tried.
    pub(crate) fn first_step(&self) -> f64 {
        self.clamp(self.initial_step.unwrap_or(FIRST_PART * self.horizon))
    }

    /// A step size within the limits.
    pub(super) fn clamp(&self, step: f64) -> f64 {
        step.max(self.min_step).min(self.max_step)
    }
}

/// What the controller remembers from step to step; part of the state that a restart needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlHistory {
    /// Step size that was proposed for the next step; 0 without error control.
    pub next_step: f64,
    /// Error of the last step in units of what it may add; 0 if there is none.
    pub last_error: f64,
    /// Ratio of the last proposal to the step before it.
    pub last_ratio: f64,
}

/// Part of the horizon that is tried as the first step: nothing is known of the motion yet but how long it is
/// looked at, and a step that is too large is cut in a few tries, whatever the reason. It is a hundredth less
/// the golden section, since motions are often looked at for a round number of periods: a force of 100 Hz
/// does not change at all in a hundredth of a second.
const FIRST_PART: f64 = 0.00618;
/// Part of tolerance^((p+1)/p) that a step may add: errors of some tens of steps that point the same way.
const PART_IN_A_STEP: f64 = 0.3;
/// Part θ of what is allowed that is aimed at. A choice: with more of it steps are taken back more often,
/// with less there are more of them.
const AIM: f64 = 0.7;
/// Smallest error that counts: below, the step grows as fast as it may.
const MIN_ERROR: f64 = 1e-4;
/// b of the filter H211b.
const FILTER: f64 = 4.0;
/// Changes of the step size within these bounds are not worth their cost (a correction of the state, new
/// factors).
const HELD: std::ops::Range<f64> = 0.8..1.25;
/// Errors of steps that shrink with a higher power than this are those of methods of high order.
const LOW_ORDER: u32 = 3;
/// Safety, exponents of the last error and of the one before, and limits of the proportional-integral
/// controller.
const PI_SAFETY: f64 = 0.9;
const PI_NOW: f64 = 0.7;
const PI_BEFORE: f64 = 0.4;
const PI_LIMITS: [f64; 2] = [0.3, 3.0];
/// Smallest error that counts for it.
const MIN_HIGH_ERROR: f64 = 1e-10;
/// Smallest and largest part to which a step with too large an error is cut: an error far outside says
/// nothing of the size, and a cut by less may be in vain.
const CUT: [f64; 2] = [0.1, 0.8];
/// Part to which a step is cut for which Newton's iteration failed. A choice: nothing is known of how far it
/// was off.
const FAILED_CUT: f64 = 0.25;

/// Part to which a step is cut whose error, of an order in its size, was too large.
pub(super) fn cut(error: f64, order: u32) -> f64 {
    if error.is_finite() { root(AIM / error, order).clamp(CUT[0], CUT[1]) } else { CUT[0] }
}

/// The change of a step that changes its error by a factor.
fn root(factor: f64, order: u32) -> f64 {
    if order == 3 { factor.cbrt() } else { factor.powf(1.0 / f64::from(order)) }
}

/// Part to which a step is cut that could not be computed.
pub(super) fn cut_after_failure() -> f64 {
    FAILED_CUT
}

impl ControlHistory {
    /// A start with a chosen step.
    pub(super) fn starting(step: f64) -> Self {
        Self { next_step: step, last_error: 0.0, last_ratio: 1.0 }
    }

    /// The change of step of the filter H211b, none where it is not worth its cost.
    fn filtered(&self, error: f64, order: u32) -> f64 {
        let change = |error: f64| root(AIM / error.max(MIN_ERROR), order);
        let before = if self.last_error > 0.0 { change(self.last_error) } else { change(error) };
        let last_ratio = if self.last_ratio > 0.0 { self.last_ratio } else { 1.0 };
        let ratio = (change(error) * before / last_ratio).powf(1.0 / FILTER);
        let ratio = 1.0 + (ratio - 1.0).atan();
        if HELD.contains(&ratio) { 1.0 } else { ratio }
    }

    /// The change of step of methods of high order, whose error a few per cent of the step double: a
    /// proportional-integral controller [HairerWanner1996, Section IV.2], which keeps further away from
    /// rejections.
    fn proportional_integral(&self, error: f64, order: u32) -> f64 {
        let power = |error: f64, exponent: f64| error.max(MIN_HIGH_ERROR).powf(exponent / f64::from(order));
        let before = if self.last_error > 0.0 { power(self.last_error, PI_BEFORE) } else { 1.0 };
        (PI_SAFETY * before / power(error, PI_NOW)).clamp(PI_LIMITS[0], PI_LIMITS[1])
    }

    /// Proposes the next step after an accepted one.
    ///
    /// A step that was shortened to land on a time says nothing against the size that it would have had.
    /// After a rejection the step does not grow at once.
    pub(super) fn propose(
        &mut self,
        step: f64,
        (error, order): (f64, u32),
        unshortened: Option<f64>,
        rejected: bool,
        limits: &ErrorControl,
    ) {
        let mut ratio = if order > LOW_ORDER {
            self.proportional_integral(error, order)
        } else {
            self.filtered(error, order)
        };
        if rejected {
            ratio = ratio.min(1.0);
        }
        let mut next = step * ratio;
        if let Some(unshortened) = unshortened {
            // The filter knows steps of the proposed size, not the shortened one.
            (next, ratio) = (next.max(unshortened), 1.0);
        } else {
            self.last_error = error.max(if order > LOW_ORDER { MIN_HIGH_ERROR } else { MIN_ERROR });
        }
        self.last_ratio = ratio;
        self.next_step = limits.clamp(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a model whose error is (h/h*)³ with h* = 1, from a given first step.
    fn steps(first: f64, count: usize) -> Vec<f64> {
        let control = ErrorControl::new(1e-3, 1.0);
        let mut memory = ControlHistory::starting(first);
        let mut steps = Vec::new();
        for _ in 0..count {
            let (mut step, mut rejected) = (memory.next_step, false);
            while step > 1.0 {
                (step, rejected) = (step * cut(step.powi(3), 3), true);
            }
            memory.propose(step, (step.powi(3), 3), None, rejected, &control);
            steps.push(step);
        }
        steps
    }

    #[test]
    fn the_step_finds_the_tolerance_from_below_and_from_above() {
        for first in [1e-6, 0.1, 1e4] {
            let steps = steps(first, 60);
            let last = steps[steps.len() - 1];
            // It settles where the held changes begin: while (c c)^(1/4) = √c of the best change c is below
            // 1.25, so at ∛θ/1.25² = 0.57 at least.
            assert!((0.56..=1.0).contains(&last), "{first}: {last}");
            let settled = steps[40..].iter().all(|step| (step / last - 1.0).abs() < 0.2);
            assert!(settled, "{first}: {:?}", &steps[40..]);
        }
    }

    #[test]
    fn a_step_shortened_to_land_does_not_make_the_next_one_small() {
        let control = ErrorControl::new(1e-3, 1.0);
        let mut memory = ControlHistory::starting(0.8);
        memory.propose(0.8, (0.512, 3), None, false, &control);
        let proposed = memory.next_step;
        memory.propose(1e-5, (1e-15, 3), Some(proposed), false, &control);
        assert_eq!(memory.next_step, proposed);
        // Nor does one that was cut before it was shortened.
        memory.propose(1e-5, (1e-15, 3), Some(0.5 * proposed), true, &control);
        assert_eq!(memory.next_step, 0.5 * proposed);
    }

    #[test]
    fn a_tolerance_leaves_a_step_the_error_that_it_was_made_for() {
        let control =
            ErrorControl { atol: 0.0, ..ErrorControl::new(ErrorControl::tolerance_of_a_step(1e-7), 1.0) };
        // Up to the rounding of two powers.
        assert!((control.allowed_in_a_step(1.0, 3) / 1e-7 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn below_the_least_tolerance_of_second_order_a_step_may_add_less_than_rounding() {
        let allowed = |tolerance: f64| {
            ErrorControl { atol: 0.0, ..ErrorControl::new(tolerance, 1.0) }.allowed_in_a_step(1.0, 3)
        };
        assert!(allowed(LEAST_OF_SECOND_ORDER) < 4.0 * f64::EPSILON);
        assert!(allowed(1.05 * LEAST_OF_SECOND_ORDER) > 4.0 * f64::EPSILON);
    }

    #[test]
    fn limits_hold_and_nonsense_is_refused() {
        let control = ErrorControl { min_step: 0.1, max_step: 0.2, ..ErrorControl::new(1e-3, 1.0) };
        assert!(control.check().is_ok());
        assert_eq!((control.clamp(1e-3), control.clamp(5.0)), (0.1, 0.2));
        let good = ErrorControl::new(1e-3, 1.0);
        for bad in [
            ErrorControl { rtol: 0.0, ..good },
            ErrorControl { rtol: f64::NAN, ..good },
            ErrorControl { rtol: 1e-17, ..good },
            ErrorControl { atol: -1.0, ..good },
            ErrorControl { min_step: 2.0, max_step: 1.0, ..good },
            ErrorControl { max_step: 0.0, ..good },
            ErrorControl { initial_step: Some(0.0), ..good },
            ErrorControl { horizon: f64::INFINITY, ..good },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
