//! Block multifrontal LU for matrices of bodies and multipliers.
//!
//! Takes a [`BlockPattern`] whose groups are *primaries* (unknowns with a diagonal block of their own),
//! *multipliers* (unknowns whose diagonal block is zero or tiny) and their *stabilizers*, analyses it once, and then factors and
//! solves any number of matrices of that pattern without allocating.
//!
//! # How it works
//!
//! 1. **Order.** The primaries form a graph in which two are neighbours if they share a block or a
//!    multiplier. Approximate minimum degree orders it.
//! 2. **Place of the multipliers.** A multiplier is eliminated together with the *last* of the primaries it
//!    meets, or, where that is cheaper and safe, *early* with the one that owns it; primary rows first.
//! 3. **Tree.** Eliminating a node connects the groups around it, its *border*; the first of them to be
//!    eliminated is in its parent. A node joins its parent where that saves work. All unknowns are numbered
//!    in elimination order, and every front has its place in one array.
//! 4. **Numbers.** A front adds up its blocks of the matrix and the Schur complements of its children,
//!    eliminates its pivots by LU with row exchanges among the pivot rows, and leaves a Schur complement.
//!
//! # Why the pivot blocks have full rank
//!
//! A step can fail only if a leading block of the matrix in elimination order is singular. That block is
//! `[[M', B'ᵀ], [B', 0]]` with the primaries and multipliers eliminated so far; it is regular if M' is
//! definite on the kernel of B' and the rows of B' are independent. Late multipliers have whole rows in B',
//! so these are independent if the rows of B are, however many loops close at one body. But a hub would
//! gather the multipliers of all its arms in one dense front, and in a lattice every joint would wait for
//! large fronts.
//!
//! So multipliers get owners: a maximum matching, found by augmenting paths, in which a primary owns at most
//! one multiplier, of not more rows than it has unknowns (those of a joint and its drive, which meet the same
//! primaries, count as one). Let R be the primaries of the multipliers without owner, together with the
//! primaries of every multiplier that a member of R owns (a loop closure, the bodies of its loop, the loops
//! these are in, …). Multipliers owned in R or by nobody meet primaries of R only; they stay late, and their
//! rows in B' are whole. Every other multiplier of two primaries may go early with its owner outside R. B' is
//! then block-triangular: the rows of R; and rows that each have a primary of their own outside R. Following
//! "owner → other primary of the multiplier" the latter form trees, on which B' is block-triangular again
//! with one joint's gradient at one body in each diagonal block, and closed rings, whose rows are whole once
//! the ring is eliminated. In both cases the rows are independent if those of B are and if no joint is
//! singular at one body alone. Early or late is then decided by the work in the two fronts: on chains late is
//! cheaper, because a joint has fewer rows than the body behind it.
//!
//! The *stabilizers* of `index2` have a diagonal block B Bᵀ of their own. Beside a multiplier that may go
//! early they are regular once their joint's rows are independent at one body, and are ordered like
//! primaries; beside one that waits they wait with it, because redundant constraints exchange their rows with
//! them.
//!
//! A dependent row shows up as one vanishing pivot at the multiplier that closes the dependency.
//!
//! # What can still go wrong, and what happens then
//!
//! Each pivot is compared with the magnitudes it was added up from, the diagonal of |A| + |L| |U|. If that
//! ratio is small, one system with a known solution is solved as a check. If the check fails, faer's sparse
//! LU with row exchanges over the whole matrix takes over; if that fails too, the matrix is reported as
//! singular, with the group and row of the smallest pivot. A primary that is singular by itself (a massless
//! part) is met by [`SparseLu::adapt`], which merges the fronts that fail into their parents, where more rows
//! are at hand. Redundant equations are met by compliance, which the matrix brings on the diagonal of their
//! multipliers or [`Regularization`] adds: a pivot as small as that is what it should be.

mod compliance;
mod fallback;
mod kernel;
mod numeric;
mod ordering;
mod owner;
mod regularize;
#[doc(hidden)]
pub mod samples;
mod small;
mod symbolic;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use super::linear::Role;
pub use regularize::Regularization;
use thiserror::Error;

use self::compliance::Compliance;
use self::fallback::Fallback;
use self::numeric::Numeric;
use self::ordering::FrontPlan;
use self::regularize::Shifter;
use self::symbolic::{FrontOrigin, Symbolic};
use super::block::{BlockMatrix, BlockPattern};

/// Below this pivot ratio ten digits are gone, and the factors are checked.
const SUSPICIOUS_RATIO: f64 = 1e-10;
/// Above this growth the factors are checked.
const SUSPICIOUS_GROWTH: f64 = 1e10;
/// Largest residual of the check, relative to the right-hand side: a digit more than ten digits that are
/// gone.
const RESIDUAL_LIMIT: f64 = 1e-9;
/// Largest error of the check, relative to the known solution; a singular matrix gives about 1.
const ERROR_LIMIT: f64 = 1e-3;
/// Refinements of a solve whose factors were suspicious.
const REFINEMENTS: usize = 2;
/// A refinement that changes less than this, relatively, is the last.
const REFINED: f64 = 4.0 * f64::EPSILON;
/// Rounds of merging in [`SparseLu::adapt`].
const ADAPT_ROUNDS: usize = 24;
/// Pivots that are small on purpose keep a digit at least; Newton's iteration finds the others.
const MIN_COMPLIANT_RATIO: f64 = 2e-15;
/// Merging that multiplies the work by more than this has not found the rows that a front lacks, and ends.
const MAX_MERGED_WORK: f64 = 8.0;

/// Unknowns whose errors count in the check of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Nothing,
    Primaries,
    /// Primaries and multipliers.
    Multipliers,
}

/// Why a matrix could not be analysed or factored.
#[derive(Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SparseLuError {
    /// Row and column groups differ in size or number.
    #[error("the pattern is not square")]
    NotSquare,
    /// The number of roles is not that of groups.
    #[error("{groups} groups have {roles} roles")]
    RoleCount {
        /// Groups of the pattern.
        groups: usize,
        /// Roles given.
        roles: usize,
    },
    /// The number of weights is neither zero nor that of unknowns.
    #[error("{unknowns} unknowns have {weights} weights")]
    WeightCount {
        /// Unknowns of the pattern.
        unknowns: usize,
        /// Weights given.
        weights: usize,
    },
    /// The matrix has another pattern than the analysed one.
    #[error("the matrix does not have the analysed pattern")]
    OtherPattern,
    /// An entry is infinite or not a number.
    #[error("the matrix has an entry that is not finite, in block ({row_group}, {column_group})")]
    NotFinite {
        /// Row group of the entry.
        row_group: usize,
        /// Column group of the entry.
        column_group: usize,
    },
    /// The matrix is singular to working precision.
    #[error("the matrix is singular: pivot {row} of group {group} has lost all digits (ratio {ratio:.1e})")]
    Singular {
        /// Group of the smallest pivot.
        group: usize,
        /// Its row inside the group.
        row: usize,
        /// The pivot divided by the magnitudes it was added up from.
        ratio: f64,
    },
}

shown_by_message!(SparseLuError);

/// How well a factorisation went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseLuHealth {
    /// Smallest |pivot| divided by the magnitudes it was added up from; 10⁻ᵏ means k digits lost there.
    pub smallest_pivot_ratio: f64,
    /// Largest diagonal entry of |A| + |L| |U|, divided by the largest diagonal entry of A, or by its largest
    /// entry of all where that would be reason for a check.
    pub growth: f64,
    /// Relative residual of a system with known solution, if the pivots gave reason to solve one.
    pub residual: Option<f64>,
    /// Whether faer's LU had to take over.
    pub fallback_used: bool,
    /// Group of the smallest pivot ratio.
    pub worst_group: usize,
    /// Row of the smallest pivot ratio inside its group.
    pub worst_row: usize,
}

/// Sparse LU of block matrices with one pattern.
#[derive(Clone, Debug)]
pub struct SparseLu {
    pattern: Arc<BlockPattern>,
    roles: Vec<Role>,
    forced: Vec<bool>,
    symbolic: Symbolic,
    /// Multiplications without what was merged.
    analysed_work: f64,
    compliance: Compliance,
    numeric: Numeric,
    fallback: Option<Fallback>,
    fallback_used: bool,
    regularization: Option<(Regularization, Shifter)>,
    /// The matrix as it was given, if solutions are refined against it.
    matrix: BlockMatrix,
    refinements: usize,
    right_side: Vec<f64>,
    residual: Vec<f64>,
    check: Vec<f64>,
    check_side: Vec<f64>,
}

impl SparseLu {
    /// Analyses a square pattern whose groups have these roles.
    pub fn new(pattern: Arc<BlockPattern>, roles: &[Role]) -> Result<Self, SparseLuError> {
        let groups = pattern.row_group_count();
        let same_size = |group| pattern.row_range(group) == pattern.column_range(group);
        if groups != pattern.column_group_count() || !(0..groups).all(same_size) {
            return Err(SparseLuError::NotSquare);
        }
        if roles.len() != groups {
            return Err(SparseLuError::RoleCount { groups, roles: roles.len() });
        }
        let plan = FrontPlan::new(&pattern, roles);
        let forced = vec![false; plan.nodes.len()];
        let symbolic = Symbolic::new(&pattern, roles, &plan, &forced);
        let numeric = Numeric::new(&symbolic);
        let size = pattern.row_count();
        Ok(Self {
            roles: roles.to_vec(),
            forced,
            analysed_work: symbolic.work,
            compliance: Compliance::new(&pattern, roles),
            symbolic,
            numeric,
            fallback: None,
            fallback_used: false,
            regularization: None,
            matrix: BlockMatrix::zeros(pattern.clone()),
            refinements: 0,
            right_side: vec![0.0; size],
            residual: vec![0.0; size],
            check: vec![0.0; size],
            check_side: vec![0.0; size],
            pattern,
        })
    }

    /// Makes redundant equations harmless from the next factorisation on.
    pub fn regularize(&mut self, regularization: Regularization) -> Result<(), SparseLuError> {
        let (unknowns, weights) = (self.pattern.row_count(), regularization.weights.len());
        if weights != 0 && weights != unknowns {
            return Err(SparseLuError::WeightCount { unknowns, weights });
        }
        let shifter = Shifter::new(&self.pattern, &self.roles, &self.symbolic, &regularization.weights);
        self.regularization = Some((regularization, shifter));
        Ok(())
    }

    /// Number of values in the factors.
    pub fn factor_value_count(&self) -> usize {
        self.symbolic.factor_len
    }

    /// Multiplications of a factorisation.
    pub fn factor_work(&self) -> f64 {
        self.symbolic.work
    }

    /// Multiplications of a factorisation as it was analysed, before [`SparseLu::adapt`] merged fronts.
    pub fn analysed_work(&self) -> f64 {
        self.analysed_work
    }

    /// Whether faer's LU made the last factors.
    pub fn uses_fallback(&self) -> bool {
        self.fallback_used
    }

    /// Merges fronts whose pivots vanish into their parents until none is left that could be, and returns
    /// how many were merged.
    ///
    /// Meant to be called once, with a typical matrix, before the first factorisation: later
    /// factorisations use the merged fronts. Where merging does not help, because the matrix itself is
    /// singular, fronts stay as they were analysed. It allocates.
    pub fn adapt(&mut self, matrix: &BlockMatrix) -> Result<usize, SparseLuError> {
        let before = self.merged().len();
        self.adapt_fronts(matrix)?;
        Ok(self.merged().len() - before)
    }

    /// Adapts the fronts to a matrix and factors it.
    pub fn adapt_and_factor(&mut self, matrix: &BlockMatrix) -> Result<SparseLuHealth, SparseLuError> {
        let health = self.adapt_fronts(matrix)?;
        self.judge(matrix, health)
    }

    fn adapt_fronts(&mut self, matrix: &BlockMatrix) -> Result<SparseLuHealth, SparseLuError> {
        self.accept(matrix)?;
        let mut health = self.factor_fronts(matrix.values(), &[]);
        for _ in 0..ADAPT_ROUNDS {
            let failing = self.failing_nodes(matrix.values());
            if failing.is_empty() {
                break;
            }
            let before = self.forced.clone();
            failing.into_iter().for_each(|node| self.forced[node] = true);
            self.analyse_again()?;
            let hopeless = self.symbolic.work > MAX_MERGED_WORK * self.analysed_work;
            if hopeless {
                self.forced = before;
                self.analyse_again()?;
            }
            health = self.factor_fronts(matrix.values(), &[]);
            if hopeless {
                break;
            }
        }
        if self.undo_vain_merging(matrix.values()) {
            self.analyse_again()?;
            health = self.factor_fronts(matrix.values(), &[]);
        }
        Ok(health)
    }

    /// Takes back what was merged into fronts that still fail; false if there is none.
    fn undo_vain_merging(&mut self, values: &[f64]) -> bool {
        let mut fails = vec![false; self.forced.len()];
        for (front, origin) in self.symbolic.fronts.iter().zip(&self.symbolic.origins) {
            fails[origin.top_node] = front.pivot_range().any(|place| self.pivot_fails(place, values));
        }
        let mut undone = false;
        for (forced, &top) in self.forced.iter_mut().zip(&self.symbolic.top_of_node) {
            if *forced && fails[top as usize] {
                (*forced, undone) = (false, true);
            }
        }
        undone
    }

    /// Smallest ratio of all pivots that are not small on purpose, and its place.
    fn smallest_ratio(&self, values: &[f64]) -> (f64, usize) {
        let mut smallest = (f64::INFINITY, 0);
        for place in 0..self.symbolic.unknown_at.len() {
            let ratio = self.numeric.ratio(place);
            if ratio < smallest.0 && (ratio >= SUSPICIOUS_RATIO || self.pivot_fails(place, values)) {
                smallest = (ratio, place);
            }
        }
        smallest
    }

    /// Whether a pivot has lost its digits, and not because its row was given that little on purpose.
    fn pivot_fails(&self, place: usize, values: &[f64]) -> bool {
        let ratio = self.numeric.ratio(place);
        ratio < SUSPICIOUS_RATIO && !self.is_compliant(place, ratio, values)
    }

    /// Whether a pivot is as small as the compliance of its row makes it. The last of some dependent rows
    /// keeps the compliance of all of them: ε Σ nⱼ² with nᵀB = 0 and its own nⱼ = 1.
    fn is_compliant(&self, place: usize, ratio: f64, values: &[f64]) -> bool {
        let unknown = self.symbolic.unknown_at[place] as usize;
        let shift = self.regularization.as_ref().map_or(0.0, |(_, shifter)| shifter.shift[place]);
        let compliance = self.compliance.of(unknown, values).max(shift);
        ratio >= MIN_COMPLIANT_RATIO && compliance > 0.0 && self.numeric.pivot(place) >= 0.5 * compliance
    }

    /// Nodes whose fronts [`SparseLu::adapt`] merged into their parents, ascending.
    pub fn merged(&self) -> Vec<usize> {
        self.forced.iter().enumerate().filter(|(_, forced)| **forced).map(|(node, _)| node).collect()
    }

    /// Merges the fronts of these nodes into their parents, and no others: what [`SparseLu::adapt`] found for
    /// another matrix. Gives false, and does nothing, if there is no such node.
    pub fn merge(&mut self, nodes: &[usize]) -> Result<bool, SparseLuError> {
        if nodes.iter().any(|&node| node >= self.forced.len()) {
            return Ok(false);
        }
        self.forced.fill(false);
        nodes.iter().for_each(|&node| self.forced[node] = true);
        self.analyse_again()?;
        Ok(true)
    }

    fn analyse_again(&mut self) -> Result<(), SparseLuError> {
        let plan = FrontPlan::new(&self.pattern, &self.roles);
        self.symbolic = Symbolic::new(&self.pattern, &self.roles, &plan, &self.forced);
        self.numeric = Numeric::new(&self.symbolic);
        match self.regularization.take() {
            Some((regularization, _)) => self.regularize(regularization),
            None => Ok(()),
        }
    }

    /// Top nodes of the fronts with a vanishing pivot and a parent, lowest ones only: what comes above a
    /// failing front says nothing.
    fn failing_nodes(&self, values: &[f64]) -> Vec<usize> {
        let mut doubtful = vec![false; self.symbolic.fronts.len()];
        let mut nodes = Vec::new();
        for (index, front) in self.symbolic.fronts.iter().enumerate() {
            let fails = front.pivot_range().any(|place| self.pivot_fails(place, values));
            let FrontOrigin { top_node, parent: Some(parent) } = self.symbolic.origins[index] else {
                continue;
            };
            if fails && !doubtful[index] {
                nodes.push(top_node);
            }
            doubtful[parent] |= fails || doubtful[index];
        }
        nodes
    }

    /// Factors a matrix of the analysed pattern; without allocating, unless the fall-back is needed.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<SparseLuHealth, SparseLuError> {
        self.factor_with(matrix, &[])
    }

    /// The same together with a first solution, in place: factors are used while they are in the cache. A
    /// right-hand side whose matrix cannot be factored stays as it is.
    pub fn factor_and_solve(
        &mut self,
        matrix: &BlockMatrix,
        right_side: &mut [f64],
    ) -> Result<SparseLuHealth, SparseLuError> {
        let health = self.factor_with(matrix, right_side)?;
        if self.refinements == 0 && !self.fallback_used {
            self.numeric.finish(&self.symbolic, right_side);
        } else {
            self.solve(right_side);
        }
        Ok(health)
    }

    fn factor_with(
        &mut self,
        matrix: &BlockMatrix,
        right_side: &[f64],
    ) -> Result<SparseLuHealth, SparseLuError> {
        self.accept(matrix)?;
        let health = self.factor_fronts(matrix.values(), right_side);
        self.judge(matrix, health)
    }

    /// Checks the factors of a matrix where their pivots give reason to, and lets the fall-back take over if
    /// they fail.
    fn judge(
        &mut self,
        matrix: &BlockMatrix,
        mut health: SparseLuHealth,
    ) -> Result<SparseLuHealth, SparseLuError> {
        self.refinements = self.regularization.as_ref().map_or(0, |(chosen, _)| chosen.refinements);
        if self.refinements > 0 {
            self.matrix.values_mut().copy_from_slice(matrix.values());
        }
        let pivots_hold = health.smallest_pivot_ratio >= SUSPICIOUS_RATIO;
        if pivots_hold && health.growth <= SUSPICIOUS_GROWTH {
            return Ok(health);
        }
        let counted = if pivots_hold { Counted::Nothing } else { self.doubtful_kinds(matrix.values()) };
        self.matrix.values_mut().copy_from_slice(matrix.values());
        self.refuse_non_finite()?;
        self.refinements = self.refinements.max(REFINEMENTS);
        health.residual = self.checked(counted);
        if health.residual.is_some() {
            return Ok(health);
        }
        self.factor_fallback();
        health.fallback_used = true;
        health.residual = self.checked(counted);
        match health.residual {
            Some(_) => Ok(health),
            None => Err(SparseLuError::Singular {
                group: health.worst_group,
                row: health.worst_row,
                ratio: health.smallest_pivot_ratio,
            }),
        }
    }

    /// Solves with the last factorisation, in place; without allocating, unless the fall-back is in use.
    pub fn solve(&mut self, right_side: &mut [f64]) {
        if self.refinements == 0 {
            return self.solve_once(right_side);
        }
        self.right_side.copy_from_slice(right_side);
        self.solve_once(right_side);
        let mut last_change = f64::INFINITY;
        for _ in 0..self.refinements {
            let mut residual = std::mem::take(&mut self.residual);
            residual.copy_from_slice(&self.right_side);
            self.matrix.multiply_add(-1.0, right_side, &mut residual);
            self.solve_once(&mut residual);
            let change = self.largest_primary(&residual);
            // Noise that no longer shrinks is not added.
            let shrinks = change < last_change;
            if shrinks {
                right_side.iter_mut().zip(&residual).for_each(|(value, change)| *value += change);
            }
            self.residual = residual;
            if !shrinks || change <= REFINED * self.largest_primary(right_side) {
                break;
            }
            last_change = change;
        }
    }

    /// Number of negative eigenvalues of the symmetric matrix that was factored last, by Sylvester's law of
    /// inertia: the sum of those of the pivot blocks of all fronts. `None` if the fronts were not used.
    ///
    /// That the matrix is symmetric is not checked.
    pub fn negative_eigenvalues(&self) -> Option<usize> {
        if self.fallback_used { None } else { self.numeric.negative_eigenvalues(&self.symbolic) }
    }

    /// Group of a place in elimination order, and the row inside it; zeros for the empty matrix.
    fn group_and_row(&self, place: usize) -> (usize, usize) {
        match (self.symbolic.group_at.get(place), self.symbolic.unknown_at.get(place)) {
            (Some(&group), Some(&unknown)) => {
                let group = group as usize;
                (group, unknown as usize - self.pattern.row_range(group).start)
            }
            _ => (0, 0),
        }
    }

    fn accept(&self, matrix: &BlockMatrix) -> Result<(), SparseLuError> {
        let same = Arc::ptr_eq(matrix.pattern(), &self.pattern) || **matrix.pattern() == *self.pattern;
        if same { Ok(()) } else { Err(SparseLuError::OtherPattern) }
    }

    fn factor_fronts(&mut self, values: &[f64], right_side: &[f64]) -> SparseLuHealth {
        self.fallback_used = false;
        let shift: &[f64] = match &mut self.regularization {
            Some((regularization, shifter)) => {
                shifter.update(values, regularization.epsilon);
                &shifter.shift
            }
            None => &[],
        };
        let report = self.numeric.factor(&self.symbolic, values, shift, right_side);
        let (mut smallest_pivot_ratio, mut worst) = (report.smallest_ratio, report.worst);
        if smallest_pivot_ratio < SUSPICIOUS_RATIO {
            (smallest_pivot_ratio, worst) = self.smallest_ratio(values);
        }
        let (worst_group, worst_row) = self.group_and_row(worst);
        // The largest entry is usually on the diagonal, or not much larger: the others are looked at only
        // where that matters.
        let mut growth = report.largest_magnitude / report.largest_diagonal;
        if growth.is_nan() || growth > SUSPICIOUS_GROWTH {
            let entries = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            growth = if entries > 0.0 { report.largest_magnitude / entries } else { 1.0 };
        }
        SparseLuHealth {
            smallest_pivot_ratio,
            growth,
            residual: None,
            fallback_used: false,
            worst_group,
            worst_row,
        }
    }

    fn factor_fallback(&mut self) {
        let fallback = self.fallback.get_or_insert_with(|| Fallback::new(&self.pattern));
        let size = self.pattern.row_count();
        let mut shift = vec![0.0; size];
        if let Some((_, shifter)) = &self.regularization {
            for (value, &unknown) in shifter.shift.iter().zip(&self.symbolic.unknown_at) {
                shift[unknown as usize] = *value;
            }
        }
        fallback.factor(self.matrix.values(), |unknown| shift[unknown]);
        self.fallback_used = true;
    }

    fn solve_once(&mut self, values: &mut [f64]) {
        match &self.fallback {
            Some(fallback) if self.fallback_used => fallback.solve(values),
            _ => self.numeric.solve(&self.symbolic, values),
        }
    }

    /// Unknowns whose errors show whether pivots that lost digits spoilt the factors. Those of multipliers
    /// whose own pivots hold are errors of condition: the reactions of a chain of 10,000 driven hinges add up
    /// moments of moments, and are known to three digits where positions are to ten.
    fn doubtful_kinds(&self, values: &[f64]) -> Counted {
        let is_primary = |place: usize| self.roles[self.symbolic.group_at[place] as usize] == Role::Primary;
        let mut failing =
            (0..self.symbolic.unknown_at.len()).filter(|place| self.pivot_fails(*place, values));
        if failing.all(is_primary) { Counted::Primaries } else { Counted::Multipliers }
    }

    /// Solves a system with a known solution and returns its relative residual, if the residual and the
    /// errors that count are small. Where all pivots hold, the matrix is not singular, and an error is that
    /// of its condition: then the residual alone counts.
    fn checked(&mut self, counted: Counted) -> Option<f64> {
        let mut check = std::mem::take(&mut self.check);
        let known = |unknown: usize| 1.0 + 0.5 * ((unknown % 7) as f64 - 3.0);
        let mut right_side = std::mem::take(&mut self.check_side);
        right_side.fill(0.0);
        check.iter_mut().enumerate().for_each(|(unknown, value)| *value = known(unknown));
        self.matrix.multiply_add(1.0, &check, &mut right_side);
        let size = largest(&right_side);
        check.copy_from_slice(&right_side);
        self.solve(&mut check);
        self.matrix.multiply_add(-1.0, &check, &mut right_side);
        let residual = largest(&right_side) / size.max(f64::MIN_POSITIVE);
        check.iter_mut().enumerate().for_each(|(unknown, value)| *value -= known(unknown));
        // What is paired may be soft; the shared part of redundant multipliers is not unique.
        let with_multipliers = counted == Counted::Multipliers && self.regularization.is_none();
        let error = self.largest_of(&check, |role| match role {
            Role::Primary => counted != Counted::Nothing,
            Role::Multiplier => with_multipliers,
            Role::Paired => false,
        });
        (self.check, self.check_side) = (check, right_side);
        (residual <= RESIDUAL_LIMIT && error <= ERROR_LIMIT).then_some(residual)
    }

    fn largest_primary(&self, values: &[f64]) -> f64 {
        self.largest_of(values, |role| role == Role::Primary)
    }

    /// Largest value of the groups with some roles.
    fn largest_of(&self, values: &[f64], counts: impl Fn(Role) -> bool) -> f64 {
        let groups = self.roles.iter().enumerate().filter(|(_, role)| counts(**role));
        groups.fold(0.0, |size, (group, _)| maximum(size, largest(&values[self.pattern.row_range(group)])))
    }

    fn refuse_non_finite(&self) -> Result<(), SparseLuError> {
        for (block, row_group, column_group) in self.pattern.blocks() {
            let values = &self.matrix.values()[self.pattern.value_range(block)];
            if !values.iter().all(|value| value.is_finite()) {
                return Err(SparseLuError::NotFinite { row_group, column_group });
            }
        }
        Ok(())
    }
}

/// Larger of two magnitudes; a NaN wins, so that it is not overlooked.
fn maximum(one: f64, other: f64) -> f64 {
    if one >= other || one.is_nan() { one } else { other }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| maximum(largest, value.abs()))
}
