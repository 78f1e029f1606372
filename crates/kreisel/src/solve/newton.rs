//! Newton's method with a kept matrix and Armijo's line search.
//!
//! Takes any [`NonlinearSystem`]; the factored matrix is kept as long as it pays, also from one time step to
//! the next. Convergence is judged on the increments: with the rate θ at which they shrink, θ/(1−θ)‖δ‖
//! estimates the error that remains after the last correction, and it must be below the tolerance in every
//! unknown, with a matrix of an earlier solve far below. How θ is known: [`super::contraction`].

use std::sync::Arc;

use super::block::{BlockMatrix, BlockPattern};
use super::contraction::Contraction;
pub use super::contraction::ContractionHistory;
use super::linear::{LinearSolver, Role};

/// Equations F(x) = 0 together with the unknowns they are asked at.
pub trait NonlinearSystem {
    /// F and F' at the present unknowns, as far as they are wanted; all of F', since `matrix` holds another
    /// one.
    fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>);
    /// Adds `fraction · increment` to the unknowns.
    fn correct(&mut self, increment: &[f64], fraction: f64);
    /// Size of an error in each unknown that can be borne.
    fn tolerances(&self, out: &mut [f64]);
    /// Size of an increment in units of the tolerances.
    fn size(&mut self, increment: &[f64], tolerances: &[f64]) -> f64 {
        largest_ratio(increment, tolerances)
    }
}

/// Largest of some values in units of their tolerances; infinite or not a number if a value is.
pub fn largest_ratio(values: &[f64], tolerances: &[f64]) -> f64 {
    let mut norm = 0.0_f64;
    for (value, tolerance) in values.iter().zip(tolerances) {
        // A product tells of most values that they are not the largest; a division takes longer.
        if value.abs() <= norm * tolerance {
            continue;
        }
        let ratio = value.abs() / tolerance;
        if !ratio.is_finite() {
            return ratio;
        }
        norm = norm.max(ratio);
    }
    norm
}

/// When the matrix is evaluated and factored anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// In every iteration.
    EveryIteration,
    /// At the start of every step, and when the iteration does not contract well.
    ///
    /// Most steps then need one iteration, which leaves an error far below the tolerance: multipliers of
    /// the index-3 formulation magnify what is left by 1/h².
    EveryStep,
    /// At the start of a step if that costs less than further iterations with the old one, and when the
    /// iteration does not contract well; in every step where derivatives and factors are cheap, as those of
    /// rigid bodies are.
    #[default]
    WhenCheaper,
    /// When the iteration no longer contracts well: for systems in which a factorisation costs many
    /// iterations, or whose matrix hardly changes.
    WhenSlow,
}

/// When the iteration is good enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// When the error that is left after a correction is below the tolerance, by the rate at which increments
    /// shrink.
    #[default]
    EstimatedError,
    /// When a correction itself is below the tolerance: one iteration more, as a rule.
    SmallIncrement,
    /// When the residual is small, looked at before a correction: its norm over the equations of primary
    /// unknowns and that over all others, each against its [limit](NewtonSettings::residual_limits)
    /// [BrulsCardonaArnold2012, Table 1].
    SmallResidual,
}

/// How the linear equations of an iteration are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elimination {
    /// With pivots that are chosen and judged, in balanced equations where that is needed.
    #[default]
    Careful,
    /// With pivots as they come, primary unknowns first, and nothing else: to see what a scaling is worth.
    Plain,
}

/// Settings of the iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Most iterations in one solve.
    pub max_iterations: usize,
    /// When the matrix is renewed.
    pub refresh: Refresh,
    /// When the iteration ends.
    pub stop: Stop,
    /// Norms of the residual below which it ends by [`Stop::SmallResidual`]: of primary unknowns' equations,
    /// and of all others.
    pub residual_limits: [f64; 2],
    /// Whether corrections that lead uphill are cut; without it every correction is taken whole.
    pub line_search: bool,
    /// How linear equations are solved.
    pub elimination: Elimination,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self {
            max_iterations: 30,
            refresh: Refresh::default(),
            stop: Stop::default(),
            residual_limits: [0.0; 2],
            line_search: true,
            elimination: Elimination::default(),
        }
    }
}

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonCounts {
    /// Iterations: linear solves followed by a correction.
    pub iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Evaluations of the matrix, each followed by a factorisation.
    pub matrices: u64,
    /// Steps halved by the line search.
    pub cuts: u64,
    /// Iterations of the linear solver over dropped blocks.
    pub dropped_block_iterations: u64,
    /// Matrices with dropped blocks that were factored as a whole after all.
    pub whole_factorisations: u64,
}

impl NewtonCounts {
    /// The work of both.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            iterations: self.iterations + other.iterations,
            residuals: self.residuals + other.residuals,
            matrices: self.matrices + other.matrices,
            cuts: self.cuts + other.cuts,
            dropped_block_iterations: self.dropped_block_iterations + other.dropped_block_iterations,
            whole_factorisations: self.whole_factorisations + other.whole_factorisations,
        }
    }
}

/// Why a solve ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewtonFailure {
    /// The increments did not become small enough; `norm` is in units of the tolerances, `worst` the unknown.
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// Last increment in units of its tolerance.
        norm: f64,
        /// Equation with the largest residual.
        worst: usize,
    },
    /// A residual is infinite or not a number.
    NotFinite {
        /// Its equation.
        equation: usize,
    },
    /// The matrix is singular.
    Singular {
        /// An unknown that the equations do not determine.
        unknown: usize,
    },
}

impl NewtonFailure {
    /// The same with the number of iterations that were done.
    fn after(self, iterations: usize) -> Self {
        match self {
            Self::NotConverged { norm, worst, .. } => Self::NotConverged { iterations, norm, worst },
            other => other,
        }
    }
}

/// Increments must shrink to this part per iteration, or a kept matrix is renewed. A choice: at this rate
/// three digits take five iterations.
const SLOW: f64 = 0.25;
/// Increments that shrink no faster than this do so by chance.
const HOPELESS: f64 = 0.7;
/// Sufficient decrease of the residual's norm, the usual constant of Armijo's rule.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// After this many halvings a line search gives up.
const MAX_CUTS: u32 = 10;
/// Increments of fewer tolerances than this are near the solution.
const NEAR: f64 = 10.0;
/// A matrix that costs fewer iterations than this is renewed in every step: what is saved does not make up
/// for the larger error that an old matrix leaves.
const CHEAP: f64 = 4.0;

/// Where the factors for an increment come from.
#[derive(Clone, Copy, Debug)]
enum MatrixSource {
    /// They are those of an earlier matrix.
    Kept,
    /// The matrix was renewed with the residual.
    AtHand,
    /// The matrix is renewed for them.
    New,
}

/// The iteration with its factors and arrays.
#[derive(Clone, Debug)]
pub struct Newton {
    matrix: BlockMatrix,
    solver: LinearSolver,
    residual: Vec<f64>,
    increment: Vec<f64>,
    /// The next correction with the present matrix.
    next: Vec<f64>,
    tolerances: Vec<f64>,
    /// Which equations are those of primary unknowns.
    is_primary: Vec<bool>,
    has_factors: bool,
    history: ContractionHistory,
    counts: NewtonCounts,
}

impl Newton {
    /// Makes room for systems of a square pattern.
    pub fn new(pattern: Arc<BlockPattern>, roles: &[Role]) -> Self {
        let size = pattern.row_count();
        let mut is_primary = vec![true; size];
        for (group, role) in roles.iter().enumerate() {
            is_primary[pattern.row_range(group)].fill(*role == Role::Primary);
        }
        Self {
            is_primary,
            solver: LinearSolver::with_dropped_blocks(&pattern, roles),
            matrix: BlockMatrix::zeros(pattern),
            residual: vec![0.0; size],
            increment: vec![0.0; size],
            next: vec![0.0; size],
            tolerances: vec![0.0; size],
            has_factors: false,
            history: ContractionHistory::default(),
            counts: NewtonCounts::default(),
        }
    }

    /// Work done so far.
    pub fn counts(&self) -> NewtonCounts {
        self.counts
    }

    /// Goes on counting from the work of another.
    pub(crate) fn count_on(&mut self, counts: NewtonCounts) {
        self.counts = counts;
    }

    /// The matrix that was factored last.
    pub fn matrix(&self) -> &BlockMatrix {
        &self.matrix
    }

    /// Estimate of the condition number of the matrix that was factored last.
    pub fn condition_estimate(&mut self) -> f64 {
        if self.has_factors { self.solver.condition_estimate(&self.matrix) } else { 1.0 }
    }

    /// Forgets the factors: the equations are no longer those they were made for.
    pub fn forget(&mut self) {
        self.has_factors = false;
        self.history = ContractionHistory::default();
    }

    /// Forgets the factors alone: the next solve makes its own.
    pub fn drop_factors(&mut self) {
        self.has_factors = false;
    }

    /// The linear solver, to ask or tell how it orders its work.
    pub fn solver_mut(&mut self) -> &mut LinearSolver {
        &mut self.solver
    }

    /// What the next solve needs to know of the ones before.
    pub fn history(&self) -> ContractionHistory {
        self.history
    }

    /// Takes up what a saved state remembers.
    pub fn set_history(&mut self, history: ContractionHistory) {
        self.history = history;
    }

    /// Makes the factors that a saved state was using, and takes up its memory.
    pub fn restore<S: NonlinearSystem + ?Sized>(
        &mut self,
        system: &mut S,
        history: ContractionHistory,
    ) -> Result<(), NewtonFailure> {
        self.refresh(system)?;
        self.history = history;
        Ok(())
    }

    /// Renews the matrix and solves with it for what stands in the increment.
    fn refresh<S: NonlinearSystem + ?Sized>(&mut self, system: &mut S) -> Result<(), NewtonFailure> {
        self.has_factors = false;
        system.evaluate(None, Some(&mut self.matrix));
        self.counts.matrices += 1;
        self.factor()
    }

    /// Factors the matrix and solves with it for what stands in the increment.
    fn factor(&mut self) -> Result<(), NewtonFailure> {
        self.solver
            .factor_and_solve(&self.matrix, &mut self.increment)
            .map_err(|singular| NewtonFailure::Singular { unknown: singular.unknown })?;
        self.has_factors = true;
        Ok(())
    }

    fn evaluate<S: NonlinearSystem + ?Sized>(&mut self, system: &mut S) -> Result<f64, NewtonFailure> {
        system.evaluate(Some(&mut self.residual), None);
        self.merit()
    }

    /// Evaluates the residual and renews the matrix, which is not factored yet.
    fn evaluate_with_matrix<S: NonlinearSystem + ?Sized>(
        &mut self,
        system: &mut S,
    ) -> Result<f64, NewtonFailure> {
        self.has_factors = false;
        system.evaluate(Some(&mut self.residual), Some(&mut self.matrix));
        self.counts.matrices += 1;
        self.merit()
    }

    /// Norm of the residual that was evaluated last.
    fn merit(&mut self) -> Result<f64, NewtonFailure> {
        self.counts.residuals += 1;
        let square: f64 = self.residual.iter().map(|value| value * value).sum();
        if square.is_finite() {
            return Ok(square.sqrt());
        }
        let equation =
            self.residual.iter().position(|value| !value.is_finite()).unwrap_or_else(|| self.worst());
        Err(NewtonFailure::NotFinite { equation })
    }

    fn worst(&self) -> usize {
        let largest = self.residual.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        largest.map_or(0, |(index, _)| index)
    }

    /// Solves for the increment and gives its size in units of the tolerances.
    fn solve_increment<S: NonlinearSystem + ?Sized>(
        &mut self,
        system: &mut S,
        source: MatrixSource,
    ) -> Result<f64, NewtonFailure> {
        self.increment.iter_mut().zip(&self.residual).for_each(|(i, r)| *i = -r);
        let whole_before = self.solver.whole_count();
        match source {
            MatrixSource::Kept => self.solver.solve(&mut self.increment),
            MatrixSource::AtHand => self.factor()?,
            MatrixSource::New => self.refresh(system)?,
        }
        self.counts.dropped_block_iterations += self.solver.iterations() as u64;
        self.counts.whole_factorisations += self.solver.whole_count() - whole_before;
        system.tolerances(&mut self.tolerances);
        let norm = system.size(&self.increment, &self.tolerances);
        if norm.is_finite() {
            return Ok(norm);
        }
        Err(NewtonFailure::Singular { unknown: self.first_bad_increment() })
    }

    /// Whether a solve may begin with the factors of an earlier one.
    pub fn may_keep(&self, refresh: Refresh) -> bool {
        match refresh {
            Refresh::EveryIteration | Refresh::EveryStep => false,
            Refresh::WhenSlow => true,
            Refresh::WhenCheaper => self.solver.factor_price() >= CHEAP,
        }
    }

    /// Whether it does.
    fn keeps(&self, refresh: Refresh) -> bool {
        self.may_keep(refresh) && (refresh == Refresh::WhenSlow || self.history.is_worth_keeping())
    }

    /// Whether a matrix of another point is to be renewed after an increment that shrank at this rate.
    fn gives_up(&self, refresh: Refresh, contraction: &Contraction, norm: f64, rate: f64) -> bool {
        if refresh != Refresh::WhenCheaper || contraction.renewed {
            return rate > SLOW;
        }
        // Iterations until norm · rateᵏ is below the tolerance, against what a new matrix costs.
        rate > HOPELESS || norm * rate.powf(self.solver.factor_price()) > contraction.share()
    }

    /// Iterates from the system's present unknowns; gives the number of iterations.
    pub fn solve<S: NonlinearSystem + ?Sized>(
        &mut self,
        system: &mut S,
        settings: &NewtonSettings,
    ) -> Result<usize, NewtonFailure> {
        if settings.elimination == Elimination::Plain && !self.solver.is_plain() {
            self.solver = LinearSolver::plain(&self.is_primary);
            self.has_factors = false;
        }
        let kept = self.has_factors && self.keeps(settings.refresh);
        let mut stale = kept;
        let mut renew = !kept;
        let mut contraction = Contraction::default();
        let mut merit = if renew { self.evaluate_with_matrix(system)? } else { self.evaluate(system)? };
        let mut at_hand = renew;
        let mut iterations = 0;
        let mut norm = f64::INFINITY;
        while iterations < settings.max_iterations {
            if settings.stop == Stop::SmallResidual && self.is_solved(settings.residual_limits) {
                return Ok(iterations);
            }
            let fresh = renew;
            let source = match (renew, std::mem::take(&mut at_hand)) {
                (false, _) => MatrixSource::Kept,
                (true, true) => MatrixSource::AtHand,
                (true, false) => MatrixSource::New,
            };
            norm = self.solve_increment(system, source)?;
            if renew {
                contraction.renewed = true;
                (renew, stale) = (settings.refresh == Refresh::EveryIteration, false);
            }
            let rate = contraction.measure(norm, fresh);
            if stale && rate.is_some_and(|rate| self.gives_up(settings.refresh, &contraction, norm, rate)) {
                contraction.restart();
                renew = true;
                continue;
            }
            system.correct(&self.increment, 1.0);
            iterations += 1;
            self.counts.iterations += 1;
            let rate = match rate {
                Some(measured) => self.history.cautious_rate(measured, contraction.renewed),
                None => self.history.expected_rate(norm, contraction.renewed),
            };
            let converged = match settings.stop {
                Stop::EstimatedError => rate < 1.0 && norm * rate / (1.0 - rate) <= contraction.share(),
                Stop::SmallIncrement => norm <= contraction.share(),
                Stop::SmallResidual => false,
            };
            if converged {
                if self.history.doubts(&contraction, norm) && self.evaluate(system).is_ok() {
                    contraction.look_ahead(norm, self.size_of_next(system));
                }
                self.history.take(&contraction, iterations, kept, self.solver.factor_price());
                return Ok(iterations);
            }
            let outcome = if settings.line_search {
                self.search(system, merit, norm, stale).map_err(|failure| failure.after(iterations))?
            } else {
                Some((1.0, self.evaluate(system)?))
            };
            let Some((fraction, new_merit)) = outcome else {
                // A kept matrix led uphill: take the correction back and renew the matrix there.
                system.correct(&self.increment, -1.0);
                merit = self.evaluate(system)?;
                contraction.restart();
                renew = true;
                continue;
            };
            merit = new_merit;
            if fraction < 1.0 {
                contraction.restart();
            }
            stale = settings.refresh != Refresh::EveryIteration;
            // Two more iterations with the matrix of a point left behind would not do: a new one contracts
            // quadratically. Near the tolerance a rate that was not measured is no reason for one.
            let fresh = contraction.renewed && settings.refresh != Refresh::WhenSlow;
            renew |= fresh && norm > NEAR && norm * rate * rate > 1.0;
        }
        if settings.stop == Stop::SmallResidual && self.is_solved(settings.residual_limits) {
            return Ok(iterations);
        }
        Err(NewtonFailure::NotConverged { iterations, norm, worst: self.worst() })
    }

    /// Whether the residual that was evaluated last has norms below these: over the equations of primary
    /// unknowns, and over all others.
    fn is_solved(&self, limits: [f64; 2]) -> bool {
        let mut squares = [0.0; 2];
        for (value, is_primary) in self.residual.iter().zip(&self.is_primary) {
            squares[usize::from(!is_primary)] += value * value;
        }
        squares.iter().zip(limits).all(|(square, limit)| square.sqrt() < limit || *square == 0.0)
    }

    /// Size of the next correction with the present matrix, from the residual that was evaluated last.
    fn size_of_next<S: NonlinearSystem + ?Sized>(&mut self, system: &mut S) -> f64 {
        self.next.copy_from_slice(&self.residual);
        self.solver.solve(&mut self.next);
        system.size(&self.next, &self.tolerances)
    }

    /// Whether the next correction, with the present matrix, would be smaller than the last one: Deuflhard's
    /// test, which does not depend on how equations are scaled. Stiff beams that turn ask for it: a full
    /// correction stretches them, and the residual grows although the solution is nearer [Deuflhard2011, Sec.
    /// 3.1].
    fn corrects<S: NonlinearSystem + ?Sized>(&mut self, system: &mut S, fraction: f64, norm: f64) -> bool {
        self.size_of_next(system) <= (1.0 - 0.25 * fraction) * norm
    }

    fn first_bad_increment(&self) -> usize {
        self.increment.iter().position(|value| !value.is_finite()).unwrap_or(0)
    }

    /// Armijo's rule after a full correction; `None` if a kept matrix should be renewed instead.
    fn search<S: NonlinearSystem + ?Sized>(
        &mut self,
        system: &mut S,
        merit: f64,
        norm: f64,
        stale: bool,
    ) -> Result<Option<(f64, f64)>, NewtonFailure> {
        let mut fraction = 1.0;
        for cut in 0.. {
            let new_merit = match self.evaluate(system) {
                Ok(merit) => merit,
                Err(failure) if cut == MAX_CUTS => return Err(failure),
                Err(_) => f64::INFINITY,
            };
            // Increments near the tolerance are round-off to the residual: no descent can be asked of them.
            if new_merit <= (1.0 - SUFFICIENT_DECREASE * fraction) * merit
                || (norm <= NEAR && new_merit.is_finite())
            {
                return Ok(Some((fraction, new_merit)));
            }
            if new_merit.is_finite() && self.corrects(system, fraction, norm) {
                return Ok(Some((fraction, new_merit)));
            }
            if stale {
                return Ok(None);
            }
            if cut == MAX_CUTS {
                return Err(NewtonFailure::NotConverged { iterations: 0, norm, worst: self.worst() });
            }
            fraction *= 0.5;
            system.correct(&self.increment, -fraction);
            self.counts.cuts += 1;
        }
        unreachable!("the loop ends at the largest number of cuts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// arctan(x) = 0: Newton diverges from |x| > 1.39 without a line search.
    struct Arctangent {
        x: f64,
        tolerance: f64,
    }

    impl NonlinearSystem for Arctangent {
        fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
            if let Some(out) = residual {
                out[0] = self.x.atan();
            }
            if let Some(out) = matrix {
                out.values_mut()[0] = 1.0 / (1.0 + self.x * self.x);
            }
        }
        fn correct(&mut self, increment: &[f64], fraction: f64) {
            self.x += fraction * increment[0];
        }
        fn tolerances(&self, out: &mut [f64]) {
            out[0] = self.tolerance;
        }
    }

    fn newton() -> Newton {
        Newton::new(Arc::new(BlockPattern::dense(&[1], &[1])), &[Role::Primary])
    }

    #[test]
    fn the_line_search_saves_a_start_from_which_newton_diverges() {
        for refresh in [Refresh::EveryIteration, Refresh::EveryStep, Refresh::WhenSlow] {
            let mut newton = newton();
            let mut system = Arctangent { x: 20.0, tolerance: 1e-12 };
            newton.solve(&mut system, &NewtonSettings { refresh, ..Default::default() }).unwrap();
            // The tolerance asked for.
            assert!(system.x.abs() <= 1e-12, "{}", system.x);
            assert!(newton.counts().cuts > 0);
        }
    }

    #[test]
    fn the_largest_ratio_is_found_and_what_is_not_a_number_is_not_overlooked() {
        let infinite = f64::INFINITY;
        assert_eq!(largest_ratio(&[1.0, -6.0, 4.0], &[1.0, 2.0, 4.0]), 3.0);
        assert_eq!(largest_ratio(&[5.0, 0.0], &[infinite, 1.0]), 0.0);
        assert_eq!(largest_ratio(&[1.0, infinite, 2.0], &[1.0; 3]), infinite);
        assert!(largest_ratio(&[1.0, f64::NAN, 2.0], &[1.0; 3]).is_nan());
    }

    /// x² = 2.
    struct Root(f64);

    impl NonlinearSystem for Root {
        fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
            if let Some(out) = residual {
                out[0] = self.0 * self.0 - 2.0;
            }
            if let Some(out) = matrix {
                out.values_mut()[0] = 2.0 * self.0;
            }
        }
        fn correct(&mut self, increment: &[f64], fraction: f64) {
            self.0 += fraction * increment[0];
        }
        fn tolerances(&self, out: &mut [f64]) {
            out[0] = 1e-10;
        }
    }

    #[test]
    fn no_correction_is_spent_on_seeing_that_the_last_one_was_enough() {
        // From 1.5 the corrections are 8.3e-2, 2.5e-3, 2.1e-6 and 1.6e-12: the second and third tell of the
        // fourth.
        let settings = NewtonSettings { refresh: Refresh::EveryIteration, ..Default::default() };
        let mut root = Root(1.5);
        assert_eq!(newton().solve(&mut root, &settings), Ok(3));
        assert!((root.0 - 2.0_f64.sqrt()).abs() < 1e-10);
    }

    #[test]
    fn a_small_residual_is_seen_before_the_next_correction() {
        // From 1.5 residuals of x² = 2 are 0.25, 6.9e-3, 6.0e-6 and 4.5e-12.
        let settings = |limit: f64| NewtonSettings {
            refresh: Refresh::EveryIteration,
            stop: Stop::SmallResidual,
            residual_limits: [limit, 0.0],
            ..Default::default()
        };
        for (limit, iterations) in [(0.3, 0), (0.2, 1), (1e-4, 2), (1e-8, 3)] {
            assert_eq!(newton().solve(&mut Root(1.5), &settings(limit)), Ok(iterations), "{limit}");
        }
        // Below round-off there is no end.
        let failure = newton().solve(&mut Root(1.5), &settings(1e-20));
        assert!(matches!(failure, Err(NewtonFailure::NotConverged { .. })), "{failure:?}");
        let few = NewtonSettings { max_iterations: 2, ..settings(1e-4) };
        assert_eq!(newton().solve(&mut Root(1.5), &few), Ok(2));
    }

    #[test]
    fn a_kept_matrix_is_renewed_when_it_no_longer_fits() {
        let settings = NewtonSettings { refresh: Refresh::WhenSlow, ..Default::default() };
        let mut newton = newton();
        newton.solve(&mut Arctangent { x: 0.1, tolerance: 1e-12 }, &settings).unwrap();
        let before = newton.counts().matrices;
        let mut system = Arctangent { x: 1.3, tolerance: 1e-12 };
        newton.solve(&mut system, &settings).unwrap();
        assert!(newton.counts().matrices > before);
        // The tolerance asked for.
        assert!(system.x.abs() <= 1e-12);
    }

    /// Two unknowns for which an old matrix, the unit matrix, leaves a part of 1e-4 and of 0.1 behind.
    struct TwoRates([f64; 2]);

    impl NonlinearSystem for TwoRates {
        fn evaluate(&mut self, residual: Option<&mut [f64]>, matrix: Option<&mut BlockMatrix>) {
            if let Some(out) = residual {
                out.copy_from_slice(&[(1.0 - 1e-4) * self.0[0], 0.9 * self.0[1]]);
            }
            if let Some(out) = matrix {
                out.values_mut().copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
            }
        }
        fn correct(&mut self, increment: &[f64], fraction: f64) {
            self.0.iter_mut().zip(increment).for_each(|(x, change)| *x += fraction * change);
        }
        fn tolerances(&self, out: &mut [f64]) {
            out.fill(1e-8);
        }
    }

    /// Increments shrink from 1e8 to 1e4 and 90 tolerances while the first unknown leads: their ratio
    /// promises that less than one remains, and it is ten.
    #[test]
    fn what_shrinks_slowly_is_not_hidden_by_what_shrinks_fast() {
        let settings = NewtonSettings { refresh: Refresh::WhenSlow, ..Default::default() };
        let mut newton = Newton::new(Arc::new(BlockPattern::dense(&[2], &[2])), &[Role::Primary]);
        newton.solve(&mut TwoRates([1e-9, 0.0]), &settings).unwrap();
        for _ in 0..30 {
            let mut system = TwoRates([1.0, 1e-4]);
            newton.solve(&mut system, &settings).unwrap();
            assert!(system.0.iter().all(|x| x.abs() <= 1e-8), "{:?}", system.0);
        }
        assert_eq!(newton.counts().matrices, 1);
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        let failure =
            newton().solve(&mut Arctangent { x: f64::NAN, tolerance: 1.0 }, &NewtonSettings::default());
        assert_eq!(failure, Err(NewtonFailure::NotFinite { equation: 0 }));
    }

    #[test]
    fn too_few_iterations_are_an_error() {
        let settings = NewtonSettings { max_iterations: 1, ..Default::default() };
        let failure = newton().solve(&mut Arctangent { x: 1.0, tolerance: 1e-12 }, &settings);
        assert!(matches!(failure, Err(NewtonFailure::NotConverged { iterations: 1, .. })));
    }
}
