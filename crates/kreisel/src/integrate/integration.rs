//! An integration under way: what it knows, and the acceptance of a step.

use super::error::StepError;
use super::interval::Scratch;
use super::saved::Saved;
use super::scheme::{Item, Method, Next, Scheme, Side, StartPoint, Tools, Trial, kkt_error};
use super::settings::Settings;
use super::state::State;
use crate::constrained::{KktFailure, Redundancy, StartReport, compliance};
use crate::dae::{Dae, Notes, Point, ResidualValues, Values, Wanted, ask};
use crate::solve::block::BlockMatrix;
use crate::solve::linear::FactorWork;
use crate::solve::newton::NewtonCounts;

/// Work of an integration so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Newton iterations.
    pub iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Evaluations of the iteration matrix.
    pub matrices: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// Corrections halved by the line search.
    pub line_search_cuts: u64,
    /// Steps taken back because their error was too large.
    pub rejections: u64,
    /// Steps taken back because they could not be computed.
    pub failures: u64,
    /// Requests that the system left open and that were answered by differences.
    pub differenced: u64,
}

impl Statistics {
    /// How many counts there are.
    pub(crate) const COUNTS: usize = 9;

    /// All counts, in the order of the fields.
    pub(crate) fn counts(&self) -> [u64; Self::COUNTS] {
        let Self { steps, iterations, residuals, matrices, factorisations, .. } = *self;
        let Self { line_search_cuts, rejections, failures, differenced, .. } = *self;
        [
            steps,
            iterations,
            residuals,
            matrices,
            factorisations,
            line_search_cuts,
            rejections,
            failures,
            differenced,
        ]
    }

    /// The statistics with these counts.
    pub(crate) fn from_counts(counts: [u64; Self::COUNTS]) -> Self {
        let [steps, iterations, residuals, matrices, factorisations, ..] = counts;
        let [.., line_search_cuts, rejections, failures, differenced] = counts;
        let of_newton = Self { iterations, residuals, matrices, factorisations, ..Self::default() };
        Self { steps, line_search_cuts, rejections, failures, differenced, ..of_newton }
    }

    /// Work of this and another part of a run. Counts wrap, so that a part may also be taken away.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let others = other.counts();
        Self::from_counts(std::array::from_fn(|at| self.counts()[at].wrapping_add(others[at])))
    }

    /// Work of this run without that of a part.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let others = other.counts();
        Self::from_counts(std::array::from_fn(|at| self.counts()[at].wrapping_sub(others[at])))
    }
}

/// What a method of high order knows of its own error in q: of positions in lengths of the machine, and of
/// angles in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnownError {
    /// What the step added.
    Step([f64; 2]),
    /// What came together since the method started.
    Run([f64; 2]),
}

/// What one step took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Step size.
    pub step: f64,
    /// Newton iterations, those of steps taken back not counted.
    pub iterations: usize,
    /// Error of the step in units of the tolerance; 0 without error control.
    pub error: f64,
    /// Steps taken back before this one: too large an error, or not computed.
    pub rejections: usize,
    /// Condition number of the scaled iteration matrix in use; 0 unless [`Settings::report_condition`] asks
    /// for it.
    pub condition: f64,
    /// C_q of the local error C_q h³ v̈ in q of the method that took it; absent for methods of another order
    /// than two.
    pub error_constant: Option<f64>,
    /// Order of that method.
    pub order: u32,
    /// What that method knows of its own error.
    pub known_error: Option<KnownError>,
    /// Into how many pieces it is to be cut for a rule of second order to be as good as the motion: methods
    /// of high order take large steps. 0 for a step that nobody watches.
    pub pieces: u32,
}

/// An integration of a system, between two steps.
pub struct Integration<'d> {
    pub(super) tools: Tools<'d>,
    pub(super) scheme: Box<dyn Scheme>,
    pub(super) state: State,
    /// The step that is computed.
    pub(super) trial: Trial,
    /// Values before the last step, for interpolation.
    pub(super) previous: Values,
    /// Increment h Δq of the last step, for interpolation.
    pub(super) last_increment: Vec<f64>,
    /// Arrays of the interpolation.
    pub(super) scratch: Scratch,
    pub(super) start_report: StartReport,
    pub(super) redundancy: Redundancy,
    pub(super) last_report: StepReport,
    pub(super) work: Work,
}

/// Work so far, beside that of Newton's iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub steps: u64,
    pub rejections: u64,
    pub failures: u64,
    pub newton: NewtonCounts,
    pub differenced: u64,
}

/// Unknowns up to which a condition number is found by singular values.
const MAX_EXACT: usize = 60;

impl<'d> Integration<'d> {
    /// The system.
    pub fn dae(&self) -> &'d dyn Dae {
        self.tools.dae
    }

    /// The settings in use.
    pub fn settings(&self) -> &Settings {
        &self.tools.settings
    }

    /// The solution after the last accepted step.
    pub fn values(&self) -> &Values {
        &self.state.now
    }

    /// Velocity v_n of the method: at the start it may differ from the one that is shown, by the correction
    /// that keeps the order.
    pub fn base_velocity(&self) -> &[f64] {
        self.state.base_velocity()
    }

    /// Everything that is needed to go on from here.
    pub fn save(&mut self) -> Saved {
        Saved::new(self.tools.settings.method.word(), &self.state, &mut *self.scheme)
    }

    /// Numbers that the method carries from step to step, by the name it gives them: `algorithmic
    /// acceleration`, `stabilizers`.
    pub fn carried(&mut self, name: &str) -> Option<Vec<f64>> {
        let mut found = None;
        self.scheme.history(&mut |what, item| match item {
            Item::Numbers(values) if what == name => found = Some(values.clone()),
            _ => {}
        });
        found
    }

    /// Constraints that were found redundant at the start.
    pub fn redundancy(&self) -> &Redundancy {
        &self.redundancy
    }

    /// Constraints that share their reactions give way a little to them, so that the smallest ones are found.
    pub(super) fn set_redundancy(&mut self, redundancy: Redundancy) {
        self.state.compliance = compliance(self.tools.dae, &redundancy);
        self.tools.kkt.set_compliance(&self.state.compliance);
        self.redundancy = redundancy;
    }

    /// What the user should know of the steps so far.
    pub fn notes(&self) -> &Notes {
        &self.tools.notes
    }

    /// Which method takes the steps and why, where the one of the settings chooses: what was chosen at the
    /// start.
    pub fn choice(&self) -> Option<&str> {
        self.tools.choice.as_deref()
    }

    /// The method that takes the steps now.
    pub fn stepper(&self) -> Method {
        self.tools.stepper
    }

    /// What was changed in the user's initial values.
    pub fn start_report(&self) -> &StartReport {
        &self.start_report
    }

    /// Takes over what was found at the start of the same integration.
    pub(crate) fn started_as(&mut self, start: &Self) {
        self.start_report.clone_from(&start.start_report);
        self.redundancy.clone_from(&start.redundancy);
    }

    /// Iterations of the linear solver over couplings that come and go, so far; zero while all of them are in
    /// the factors.
    pub fn dropped_block_iterations(&self) -> u64 {
        self.work.newton.dropped_block_iterations
    }

    /// Matrices with couplings that come and go that were factored with all of them so far, because iterations
    /// were too slow.
    pub fn whole_factorisations(&self) -> u64 {
        self.work.newton.whole_factorisations
    }

    /// What a factorisation of the iteration matrix takes; nothing for methods without one.
    pub fn factor_work(&mut self) -> Option<FactorWork> {
        self.scheme.newton().map(|step| step.iteration().solver_mut().factor_work())
    }

    /// Work so far.
    pub fn statistics(&self) -> Statistics {
        let Work { steps, rejections, failures, newton, differenced } = self.work;
        Statistics {
            steps,
            iterations: newton.iterations,
            residuals: newton.residuals,
            matrices: newton.matrices,
            factorisations: newton.matrices,
            line_search_cuts: newton.cuts,
            rejections,
            failures,
            differenced,
        }
    }

    /// Counts what Newton's iteration did, or what the equations of accelerations took without one.
    pub(super) fn count_work(&mut self) {
        let system = &self.tools.kkt.system;
        let (counts, differenced) = match self.scheme.newton() {
            Some(step) => (step.iteration().counts(), step.differenced()),
            None => {
                let (residuals, matrices) = (system.evaluations, system.factorisations);
                (NewtonCounts { residuals, matrices, ..NewtonCounts::default() }, 0)
            }
        };
        self.work.newton = counts.plus(&self.tools.counts);
        self.work.differenced = differenced + system.differenced;
    }

    /// What the last accepted step took; zeros before the first.
    pub fn last_report(&self) -> StepReport {
        self.last_report
    }

    /// The scaled iteration matrix that was factored last, of methods that have one.
    pub fn iteration_matrix(&mut self) -> Option<&BlockMatrix> {
        self.scheme.newton().map(|step| step.iteration().matrix())
    }

    /// Estimate of the condition number of the scaled iteration matrix that was factored last, in the 1-norm;
    /// 1 for methods without one.
    pub fn condition_estimate(&mut self) -> f64 {
        self.scheme.newton().map_or(1.0, |step| step.iteration().condition_estimate())
    }

    /// Condition number of the scaled iteration matrix that was factored last: of the 2-norm by singular
    /// values for small systems, otherwise the estimate in the 1-norm.
    pub fn condition(&mut self) -> f64 {
        match self.iteration_matrix() {
            Some(matrix) if matrix.pattern().row_count() <= MAX_EXACT => {
                let values = matrix.to_dense().singular_values();
                if values.is_empty() { 1.0 } else { values.max() / values.min() }
            }
            _ => self.condition_estimate(),
        }
    }

    /// What a step reports of the condition.
    pub(super) fn reported_condition(&mut self) -> f64 {
        if self.tools.settings.report_condition { self.condition() } else { 0.0 }
    }

    /// Largest violation of the holonomic constraints at the present state.
    pub fn position_residual(&self) -> f64 {
        norm(&self.residual_at(&self.method_point()).violation)
    }

    /// Violation κ of the nonholonomic constraints at the present state.
    pub fn nonholonomic_residual(&self) -> Vec<f64> {
        self.residual_at(&self.method_point()).nonholonomic
    }

    /// Residual B v + Φ_t of the hidden constraints at the present state.
    pub fn velocity_residual(&self) -> Vec<f64> {
        let (Tools { dae, shape, .. }, point) = (&self.tools, self.method_point());
        let mut rates = vec![0.0; shape.constraint_count()];
        if shape.rheonomic {
            ask(*dae, &point, Wanted { violation_rate: Some(&mut rates), ..Wanted::default() });
        }
        let mut gradient = BlockMatrix::zeros(dae.couplings(None).constraint_node);
        dae.gradient(&point, &mut gradient);
        gradient.multiply_add(1.0, point.velocity, &mut rates);
        rates
    }

    /// The present state with the velocity of the method.
    fn method_point(&self) -> Point<'_> {
        Point { velocity: self.state.base_velocity(), ..self.state.now.point() }
    }

    /// The equations at a point.
    pub(super) fn residual_at(&self, at: &Point) -> ResidualValues {
        ResidualValues::at(self.tools.dae, &self.tools.shape, at)
    }

    /// What constraints and stiffness leave of a change of the configuration after a step of a size, at given
    /// values of the same system.
    pub(crate) fn lasting_part(
        &mut self,
        at: &Values,
        step: f64,
        change: &[f64],
        out: &mut [f64],
    ) -> Result<(), StepError> {
        let Tools { kkt, dae, .. } = &mut self.tools;
        kkt.set_states(&at.internal_states, &at.memory);
        let found = kkt.lasting_part(*dae, at, step, change, out);
        found.map_err(|failure| self.kkt_error(failure, step))
    }

    pub(super) fn kkt_error(&self, failure: KktFailure, step: f64) -> StepError {
        kkt_error(self.tools.dae, failure, &self.state, step, &self.trial)
    }

    /// Computes a step without taking it; the state stays as it is.
    pub(super) fn attempt(&mut self, step: f64) -> Result<usize, StepError> {
        self.fit_step(step)?;
        self.tools.known_error = None;
        let outcome = self.scheme.attempt(&mut self.tools, &self.state, step, &mut self.trial);
        self.count_work();
        outcome
    }

    /// Starts again for a first step of another size than the method started for.
    pub(super) fn fit_step(&mut self, step: f64) -> Result<(), StepError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(StepError::Step(step));
        }
        let clock = &self.state.clock;
        if clock.step > 0.0 || is_same_step(step, clock.first_step) {
            return Ok(());
        }
        let now = &self.state.now;
        let at = match clock.after_corner {
            true => StartPoint { time: now.time.next_up(), side: Side::After },
            false => StartPoint { time: now.time, side: self.tools.settings.first_side() },
        };
        self.tools.kkt.set_states(&now.internal_states, &now.memory);
        self.start_method(step, at).map_err(|failure| self.kkt_error(failure, step))
    }

    /// Lets the method start from the present positions and velocities, for a first step of a size.
    pub(super) fn start_method(&mut self, step: f64, at: StartPoint) -> Result<(), KktFailure> {
        let Self { tools, scheme, state, .. } = self;
        scheme.start(tools, state, step, at)?;
        state.clock.first_step = step;
        Ok(())
    }

    /// Takes the trial values as the new state.
    pub(super) fn accept(&mut self, step: f64) -> Next {
        let Self { tools, scheme, state, trial, previous, last_increment, .. } = self;
        let next = scheme.accept(tools, state, step, trial);
        state.take(tools.dae, &tools.shape.space, step, trial, previous);
        std::mem::swap(last_increment, &mut trial.increment);
        let renewed = tools.dae.couplings_differ(&trial.values.memory, &state.now.memory);
        self.work.steps += 1;
        if renewed {
            self.renew_couplings();
        }
        next
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Steps that differ by less than this part are the same step: differences of times that were added up carry
/// some hundred ε.
const SAME_STEP: f64 = 1e-12;

pub(super) fn is_same_step(step: f64, before: f64) -> bool {
    (step / before - 1.0).abs() <= SAME_STEP
}
