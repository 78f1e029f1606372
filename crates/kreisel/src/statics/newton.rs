//! Newton's iteration for one equilibrium, at a fixed load or at a fixed distance along a path.
//!
//! A correction δ is shortened to α δ until the correction δ̄ that the same factors give afterwards satisfies
//! ‖δ̄‖ ≤ (1 − α/4) ‖δ‖: the natural monotonicity test [Deuflhard2011, Sec. 3.3]. Unlike the norm of the
//! residual it does not mind that a bent beam is stretched a little on the way, which its large axial
//! stiffness would turn into a large force.
//!
//! For the same reason the matrix takes section forces not from where a correction has led but from where it
//! should have led: those of the first guess, and then as they follow the corrections to first order. That is
//! Newton's method for forces and motions as separate unknowns [MagisanoLeonettiGarcea2017, Sec. 3], as in
//! the steps of a motion.

use super::Equilibrium;
use super::problem::{Problem, Undetermined};
use crate::dae::Equation;

/// Where on the path a solution is looked for: Σ tᵢ Sᵢ = distance for the sum S of all corrections.
pub(super) struct Border<'a> {
    /// tᵢ, with the metric of the coordinates.
    pub direction: &'a [f64],
    pub distance: f64,
}

/// Why an iteration ended without a solution.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    Singular(usize),
    NotFinite(Equation),
    NotConverged { iterations: usize, correction: f64 },
}

impl From<Undetermined> for Failure {
    fn from(singular: Undetermined) -> Self {
        Self::Singular(singular.0)
    }
}

/// A solution and how it was found.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub equilibrium: Equilibrium,
    /// Sum of the corrections: the motion from the first guess, to first order.
    pub motion: Vec<f64>,
    /// Size of each correction.
    pub corrections: Vec<f64>,
}

/// Smallest part of a correction that the line search tries: ten halvings. Less would be no progress.
const MIN_PART: f64 = 1e-3;
/// No correction turns a node by more, in rad: beyond half a turn a rotation is mistaken for its opposite.
const MAX_TURN: f64 = 1.5;
/// Corrections below this size that do not shrink any more are round-off: the usual tolerance of 1e-8 is out
/// of reach where stiffnesses differ by ten digits.
const ROUND_OFF: f64 = 1e-6;

impl Problem<'_> {
    /// Iterates from a first guess.
    pub fn newton(
        &mut self,
        guess: &Equilibrium,
        border: Option<&Border>,
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<Solved, Failure> {
        let mut guess = guess.clone();
        self.remember(&mut guess);
        self.fit(&guess.values.memory);
        let count = self.shape.velocity_count();
        self.evaluate(&guess).map_err(Failure::NotFinite)?;
        let mut solved = Solved { equilibrium: guess, motion: vec![0.0; count], corrections: Vec::new() };
        let mut part = 1.0_f64;
        let mut last_matrix: Option<Vec<f64>> = None;
        for _ in 0..max_iterations {
            if let Some(configuration) = last_matrix.replace(solved.equilibrium.values.configuration.clone())
            {
                self.follow(&configuration, &mut solved.equilibrium);
            }
            self.factor_mixed(&solved.equilibrium)?;
            let (correction, load) = self.bordered(border, &solved.motion);
            let size = self.size(&correction);
            if !size.is_finite() {
                return Err(Failure::NotConverged { iterations: solved.corrections.len(), correction: size });
            }
            solved.corrections.push(size);
            let last = solved.corrections.len() >= 2 && size <= tolerance;
            part = if last { 1.0 } else { (4.0 * part).min(1.0) };
            match self.search(&mut solved, border, &correction, load, part) {
                Some(found) => part = found,
                None if size <= ROUND_OFF => return Ok(solved),
                None => {
                    let iterations = solved.corrections.len();
                    return Err(Failure::NotConverged { iterations, correction: size });
                }
            }
            if part == 1.0 && size <= tolerance {
                return Ok(solved);
            }
        }
        let correction = solved.corrections.last().copied().unwrap_or(f64::INFINITY);
        Err(Failure::NotConverged { iterations: max_iterations, correction })
    }

    /// Size of a correction: its motion, and the change of states.
    fn size(&self, correction: &[f64]) -> f64 {
        self.largest(&correction[..self.shape.velocity_count()]).max(self.largest_state_change(correction))
    }

    /// The correction with the last factors, and that of the load factor on a path.
    fn bordered(&mut self, border: Option<&Border>, motion: &[f64]) -> (Vec<f64>, f64) {
        let mut correction = self.correction();
        let Some(border) = border else { return (correction, 0.0) };
        let along = |x: &[f64]| -> f64 { border.direction.iter().zip(x).map(|(t, x)| t * x).sum() };
        let missing = border.distance - along(motion) - along(&correction);
        let load = missing / along(&self.load_correction);
        correction.iter_mut().zip(&self.load_correction).for_each(|(x, by_load)| *x += load * by_load);
        (correction, load)
    }

    /// Moves along a correction as far as the next one gets smaller; gives the part, or nothing if none is
    /// small enough.
    fn search(
        &mut self,
        solved: &mut Solved,
        border: Option<&Border>,
        correction: &[f64],
        load: f64,
        first: f64,
    ) -> Option<f64> {
        let count = self.shape.velocity_count();
        let norm = self.norm(&correction[..count]);
        let turn = self.largest_turn(&correction[..count]);
        let mut part = if turn * first > MAX_TURN { MAX_TURN / turn } else { first };
        let mut is_first = true;
        while part >= MIN_PART {
            let trial = self.moved(&solved.equilibrium, correction, load, part);
            if self.evaluate(&trial).is_ok() {
                let motion: Vec<f64> =
                    solved.motion.iter().zip(correction).map(|(sum, x)| sum + part * x).collect();
                let (next, _) = self.bordered(border, &motion);
                let next = self.norm(&next[..count]);
                // What is smaller than the last digits of the coordinates cannot be asked to shrink.
                if next <= (1.0 - 0.25 * part) * norm || next <= 1e-13 {
                    (solved.equilibrium, solved.motion) = (trial, motion);
                    return Some(part);
                }
                if std::mem::take(&mut is_first)
                    && self.next_matrix_agrees(solved, &trial, border, &motion, part * norm)
                {
                    (solved.equilibrium, solved.motion) = (trial, motion);
                    return Some(part);
                }
            }
            self.statistics.cuts += 1;
            part *= 0.5;
        }
        // The residual of the point that stays.
        let _ = self.evaluate(&solved.equilibrium);
        None
    }

    /// Factors the matrix with the section forces that a point remembers.
    fn factor_mixed(&mut self, at: &Equilibrium) -> Result<(), Undetermined> {
        self.takes_remembered_forces = true;
        let factored = self.factor(at);
        self.takes_remembered_forces = false;
        factored
    }

    /// Whether the correction at a trial is shorter with the matrix of the trial itself.
    ///
    /// Where a part is nearly rigid, a force that is left in it points a little aside of where the last
    /// matrix has its stiffness, and those factors find a large correction in what is soft.
    fn next_matrix_agrees(
        &mut self,
        solved: &Solved,
        trial: &Equilibrium,
        border: Option<&Border>,
        motion: &[f64],
        size: f64,
    ) -> bool {
        let mut trial = trial.clone();
        self.follow(&solved.equilibrium.values.configuration, &mut trial);
        let count = self.shape.velocity_count();
        let agrees = self.factor_mixed(&trial).is_ok() && {
            let (next, _) = self.bordered(border, motion);
            self.norm(&next[..count]) <= 0.5 * size
        };
        if !agrees {
            let _ = self.evaluate(&solved.equilibrium);
            let _ = self.factor_mixed(&solved.equilibrium);
        }
        agrees
    }
}
