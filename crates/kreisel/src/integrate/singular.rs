//! Singular positions and contradictions met on the way.
//!
//! Where constraints lose rank (all bars of a linkage on one line) the multipliers that keep the motion on
//! its branch grow like 1/δ with the distance δ to the position, and rounding errors grow like 1/δ² in them.
//! A step that fails there is tried again with all constraints a little compliant: multipliers stay bounded,
//! and the motion goes straight on, off its branch by no more than it would fall in one step. The next step
//! is an ordinary one and returns to the branch.
//!
//! Where constraints contradict each other compliant ones give way without bound, and the others never meet:
//! both are found and named.

use super::error::StepError;
use super::integration::Integration;
use super::settings::Method;
use crate::constrained::{COMPLIANCE, ClosureFailure, ClosureGoal, Miss, POSITION_TOLERANCE, misses, named};

/// Redundant constraints that give way by more than this part of the machine's length contradict each other:
/// reactions would have to throw it ten times as far in one step.
const CONTRADICTION: f64 = 1e-8;
/// As much for a step through a singular position, where a motion that leaves its branch by e violates
/// constraints by e².
const OFF_BRANCH: f64 = 1e-6;

impl Integration<'_> {
    /// Newton's iteration, and a second one with compliant constraints if it fails.
    pub(super) fn correct_or_yield(&mut self, step: f64) -> Result<usize, StepError> {
        let failure = match self.correct(step) {
            Ok(iterations) => return self.refuse_contradiction(step, CONTRADICTION).map(|()| iterations),
            Err(failure @ (StepError::NotConverged { .. } | StepError::Singular { .. })) => failure,
            Err(failure) => return Err(failure),
        };
        if self.work.shape.constraint_count() == 0 {
            return Err(failure);
        }
        match self.yielding(step) {
            Ok(iterations) => Ok(iterations),
            Err(_) => Err(self.contradiction(step).unwrap_or(failure)),
        }
    }

    /// A step in which all constraints give way a little to their reactions.
    fn yielding(&mut self, step: f64) -> Result<usize, StepError> {
        let shape = &self.work.shape;
        let weights = shape.weights_of_multipliers();
        let compliance = weights.iter().map(|weight| COMPLIANCE * weight * weight).collect();
        let kept = std::mem::replace(&mut self.work.compliance, compliance);
        self.work.yielding = true;
        self.predict(step);
        let outcome = self
            .correct(step)
            .and_then(|iterations| self.refuse_contradiction(step, OFF_BRANCH).map(|()| iterations));
        self.work.yielding = false;
        self.work.compliance = kept;
        // Factors of compliant constraints are of no use to the next step, nor to one after a restart.
        self.newton.forget();
        self.state.matrix_point = None;
        outcome
    }

    /// Whether compliant constraints gave way by more than a part of the machine's length: where the
    /// equations hold, a constraint is violated by its compliance times its scaled multiplier.
    fn refuse_contradiction(&mut self, step: f64, part: f64) -> Result<(), StepError> {
        if self.work.compliance.is_empty() {
            return Ok(());
        }
        let (scale, tolerance) = (self.coefficients(step).scale, part * self.work.length);
        let (work, trial) = (&mut self.work, &self.trial);
        // With `index2` λ belongs to the violation at velocity level, times the step, and ζ to that of the
        // positions; with `soi2` the change λ̃ − λ does.
        let stabilized = self.settings.method == Method::Index2;
        for (row, out) in work.constraint_scratch.iter_mut().enumerate() {
            let compliance = work.compliance[row];
            let scaled = trial.values.multipliers[row].abs().max(trial.multiplier_changes[row].abs()) / scale;
            let stabilizer = if stabilized { trial.stabilizers[row].abs() } else { 0.0 };
            *out = compliance * scaled.max(stabilizer);
        }
        // ψ belongs to the velocity constraints, times the step.
        let first = work.constraint_scratch.len();
        for (row, out) in work.nonholonomic_scratch.iter_mut().enumerate() {
            let multiplier = trial.values.nonholonomic_multipliers[row]
                .abs()
                .max(trial.nonholonomic_multiplier_changes[row].abs());
            *out = work.compliance[first + row] * multiplier / scale;
        }
        if work.constraint_scratch.iter().chain(&work.nonholonomic_scratch).all(|gap| gap.abs() <= tolerance)
        {
            return Ok(());
        }
        let gaps = [work.constraint_scratch.as_slice(), work.nonholonomic_scratch.as_slice()].concat();
        let misses = named(self.dae, &misses(&work.shape, &gaps, tolerance));
        Err(StepError::Contradiction { time: trial.values.time, step, misses })
    }

    /// Constraints that no position near the state satisfies at the end of a step, as an error; or one step
    /// later, for a step that failed at the very end of the machine's reach.
    fn contradiction(&mut self, step: f64) -> Option<StepError> {
        [1.0, 2.0].into_iter().find_map(|steps| {
            let time = self.state.now.time + steps * step;
            let misses = self.missed_at(time);
            (!misses.is_empty()).then_some(StepError::Contradiction { time, step, misses })
        })
    }

    /// Constraints that miss where the machine comes closest to satisfying them at a time.
    fn missed_at(&mut self, time: f64) -> Vec<Miss> {
        let mut configuration = self.state.now.configuration.clone();
        let extent = configuration.iter().fold(self.work.length, |extent, value| extent.max(value.abs()));
        let goal = ClosureGoal { time, tolerance: POSITION_TOLERANCE * extent, fixed: &[] };
        let mut change = vec![0.0; self.work.shape.velocity_count()];
        self.kkt.set_states(&self.state.now.internal_states, &self.state.now.memory);
        let outcome = self.kkt.project_position(self.dae, goal, &mut configuration, &mut change);
        let Err(ClosureFailure::Missed { mut misses, .. }) = outcome else { return Vec::new() };
        // What misses by less may be a singular position that the projection did not get out of.
        misses.retain(|miss| miss.1 > OFF_BRANCH * self.work.length);
        named(self.dae, &misses)
    }
}
