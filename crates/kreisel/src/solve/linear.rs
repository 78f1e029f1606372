//! The linear solve behind Newton: a pattern of groups in; factors, solutions and a health report out.
//!
//! Small systems are factored as dense matrices, where the bookkeeping of a sparse one costs more than the
//! arithmetic; all others by the block multifrontal LU of [`super::sparse_lu`]. A matrix that looks singular
//! is tried once more with factors for its rows and columns: very light parts beside very heavy ones are not
//! nothing.

use std::sync::Arc;

use super::balance::Balanced;
use super::block::{BlockMatrix, BlockPattern};
use super::dense::DenseLu;
use super::dropped::DroppedBlockSolver;
use super::kernel::{self, BlockTarget, DenseBlock};
use super::plain::PlainLu;
use super::sparse_lu::{SparseLu, SparseLuError};

/// What a group of unknowns is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Unknowns with a diagonal block of their own: a body, a node, a state.
    Primary,
    /// Unknowns whose diagonal block is zero or tiny (the multipliers of a joint); they are eliminated with
    /// or after a primary they touch.
    Multiplier,
    /// Unknowns that belong to a multiplier, the first one they meet, and have a diagonal block of their own:
    /// stabilizers.
    Paired,
}

/// How good the factors are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// Smallest ratio of a pivot to what it was added up from: near round-off means nearly singular.
    pub smallest_pivot_ratio: f64,
    /// Whether the general sparse LU had to take over because the block LU lost too many digits.
    pub fallback_used: bool,
}

impl From<super::sparse_lu::SparseLuHealth> for Health {
    fn from(health: super::sparse_lu::SparseLuHealth) -> Self {
        let super::sparse_lu::SparseLuHealth { smallest_pivot_ratio, fallback_used, .. } = health;
        Self { smallest_pivot_ratio, fallback_used }
    }
}

/// What a factorisation takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FactorWork {
    /// Multiplications.
    pub multiplications: f64,
    /// Multiplications as the pattern was analysed, before parts that are singular by themselves joined
    /// others.
    pub analysed: f64,
    /// Whether the general sparse LU made the last factors, whose multiplications nobody counts.
    pub general: bool,
}

impl FactorWork {
    pub(super) fn of_fronts(lu: &SparseLu) -> Self {
        Self { multiplications: lu.factor_work(), analysed: lu.analysed_work(), general: lu.uses_fallback() }
    }
}

/// A group of unknowns that the equations do not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularMatrix {
    /// Scalar unknown without a pivot.
    pub unknown: usize,
}

/// Factors of a sparse block matrix.
#[derive(Clone, Debug)]
pub struct LinearSolver {
    kind: LuFactors,
    /// Largest sum of absolute values in a column of the matrix that was factored last.
    norm: f64,
    /// The matrix that was factored instead of the given one, if that one looked singular.
    balanced: Option<Box<Balanced>>,
}

#[derive(Clone, Debug)]
enum LuFactors {
    Dense(DenseLu),
    Sparse { lu: Box<SparseLu>, adapted: Adapted },
    Dropped(Box<DroppedBlockSolver>),
    Plain(Box<PlainLu>),
}

/// Whether parts that are singular by themselves (massless ones) have joined their neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adapted {
    NotYet,
    /// The matrix was singular: parts said nothing.
    Vainly,
    Done,
}

/// Largest number of unknowns for which dense factors are faster, by measurement on chains.
const MAX_DENSE: usize = 24;
/// Dropped blocks from which on iteration is faster than filled factors: a heap of about twenty balls.
const MANY_DROPPED: usize = 100;

/// Below this pivot ratio dense factors, which are not refined, have lost too many digits.
const DOUBTFUL_RATIO: f64 = 1e-10;

impl LinearSolver {
    /// Analyses a square pattern whose groups have these roles.
    pub fn new(pattern: &Arc<BlockPattern>, roles: &[Role]) -> Self {
        let size = pattern.row_count();
        if size > MAX_DENSE
            && let Ok(lu) = SparseLu::new(Arc::clone(pattern), roles)
        {
            return Self {
                kind: LuFactors::Sparse { lu: Box::new(lu), adapted: Adapted::NotYet },
                norm: 0.0,
                balanced: None,
            };
        }
        Self { kind: LuFactors::Dense(DenseLu::new(size)), norm: 0.0, balanced: None }
    }

    /// The same where dropped blocks may be met by iteration, if there are many of them: for time steps, in
    /// which inertia outweighs them as a rule.
    pub fn with_dropped_blocks(pattern: &Arc<BlockPattern>, roles: &[Role]) -> Self {
        if pattern.dropped_count() >= MANY_DROPPED
            && let Ok(solver) = DroppedBlockSolver::new(pattern, roles)
        {
            return Self { kind: LuFactors::Dropped(Box::new(solver)), norm: 0.0, balanced: None };
        }
        Self::new(pattern, roles)
    }

    /// Eliminates without exchange of rows and without balancing, primary unknowns first: for studies.
    pub fn plain(is_primary: &[bool]) -> Self {
        Self { kind: LuFactors::Plain(Box::new(PlainLu::new(is_primary))), norm: 0.0, balanced: None }
    }

    /// Whether it does.
    pub fn is_plain(&self) -> bool {
        matches!(self.kind, LuFactors::Plain(_))
    }

    /// Factors a matrix of the pattern; allocates only the first time, and where the matrix looks singular.
    ///
    /// Such a matrix is balanced and factored again. The factors depend on nothing but the matrix.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<Health, SingularMatrix> {
        self.balanced = None;
        let plain = self.factor_given(matrix);
        let dense = matches!(self.kind, LuFactors::Dense(_));
        if self.is_plain() {
            return plain;
        }
        if plain.is_ok_and(|health| !dense || health.smallest_pivot_ratio >= DOUBTFUL_RATIO) {
            return plain;
        }
        let Some(balanced) = Balanced::new(matrix) else { return plain };
        match self.factor_given(&balanced.matrix) {
            Ok(health) => {
                self.balanced = Some(Box::new(balanced));
                Ok(health)
            }
            // What is missing is said by the matrix as it was given.
            Err(_) if plain.is_err() => plain,
            Err(_) => self.factor_given(matrix),
        }
    }

    /// Factors a matrix as [`Self::factor`] does and solves with the factors, in place.
    pub fn factor_and_solve(
        &mut self,
        matrix: &BlockMatrix,
        rhs: &mut [f64],
    ) -> Result<Health, SingularMatrix> {
        if let LuFactors::Sparse { lu, adapted: Adapted::Done } = &mut self.kind
            && let Ok(health) = lu.factor_and_solve(matrix, rhs)
        {
            self.balanced = None;
            return Ok(health.into());
        }
        let health = self.factor(matrix)?;
        self.solve(rhs);
        Ok(health)
    }

    fn factor_given(&mut self, matrix: &BlockMatrix) -> Result<Health, SingularMatrix> {
        match &mut self.kind {
            LuFactors::Dense(lu) => factor_dense(lu, matrix),
            LuFactors::Plain(lu) => lu.factor(matrix),
            LuFactors::Dropped(solver) => solver.factor(matrix).map_err(|error| singular(error, matrix)),
            LuFactors::Sparse { lu, adapted } => {
                let mut factored = match *adapted {
                    Adapted::NotYet => lu.adapt_and_factor(matrix),
                    Adapted::Vainly | Adapted::Done => lu.factor(matrix),
                };
                // A sound matrix that the fronts cannot factor, after a singular one: now parts may join.
                if *adapted == Adapted::Vainly && factored.as_ref().is_ok_and(|health| health.fallback_used) {
                    factored = lu.adapt_and_factor(matrix);
                }
                match factored {
                    Ok(_) => *adapted = Adapted::Done,
                    Err(_) if *adapted == Adapted::NotYet => *adapted = Adapted::Vainly,
                    Err(_) => {}
                }
                factored.map(Health::from).map_err(|error| singular(error, matrix))
            }
        }
    }

    /// Parts that joined their neighbours because they are singular by themselves; absent before the first
    /// factorisation and for dense factors.
    pub fn merged(&self) -> Option<Vec<usize>> {
        match &self.kind {
            LuFactors::Sparse { lu, adapted: Adapted::Done } => Some(lu.merged()),
            LuFactors::Dropped(solver) => solver.merged(),
            _ => None,
        }
    }

    /// Lets the same parts join their neighbours as in another solver of the same pattern; false if there are
    /// no such parts.
    pub fn merge(&mut self, parts: &[usize]) -> bool {
        match &mut self.kind {
            LuFactors::Sparse { lu, adapted } => {
                *adapted = Adapted::Done;
                lu.merge(parts).unwrap_or(false)
            }
            LuFactors::Dropped(solver) => solver.merge(parts),
            LuFactors::Dense(_) | LuFactors::Plain(_) => parts.is_empty(),
        }
    }

    /// Solves with the factors, in place.
    pub fn solve(&mut self, rhs: &mut [f64]) {
        if let Some(balanced) = &self.balanced {
            balanced.scale_right_side(rhs);
        }
        match &mut self.kind {
            LuFactors::Dense(lu) => lu.solve(rhs),
            LuFactors::Sparse { lu, .. } => lu.solve(rhs),
            LuFactors::Dropped(solver) => solver.solve(rhs),
            LuFactors::Plain(lu) => lu.solve(rhs),
        }
        if let Some(balanced) = &self.balanced {
            balanced.scale_solution(rhs);
        }
    }

    /// Iterations over dropped blocks that the last solve took; none if all blocks are in the factors.
    pub fn iterations(&self) -> usize {
        match &self.kind {
            LuFactors::Dropped(solver) => solver.iterations,
            _ => 0,
        }
    }

    /// How many solutions a factorisation costs, counted in multiplications; dense factors of n unknowns cost
    /// less than the n/3 that this would be, because they run over whole columns.
    pub fn factor_price(&self) -> f64 {
        match &self.kind {
            LuFactors::Dense(lu) => lu.size() as f64 / 5.0,
            LuFactors::Sparse { lu, .. } => lu.factor_work() / lu.factor_value_count().max(1) as f64,
            // Each iteration solves with the factors, which costs more than to make them.
            LuFactors::Dropped(_) => 1.0,
            // A new matrix in every step, as without factors that are kept.
            LuFactors::Plain(_) => 1.0,
        }
    }

    /// How often a matrix with dropped blocks was factored as a whole because iterations were too slow.
    pub fn whole_count(&self) -> u64 {
        match &self.kind {
            LuFactors::Dropped(solver) => solver.whole_count,
            _ => 0,
        }
    }

    /// What a factorisation takes; of a matrix with dropped blocks that of the rest, and that of the whole if the
    /// last one was solved so.
    pub fn factor_work(&self) -> FactorWork {
        let whole = |size: usize| {
            let work = (size as f64).powi(3) / 3.0;
            FactorWork { multiplications: work, analysed: work, general: false }
        };
        match &self.kind {
            LuFactors::Dense(lu) => whole(lu.size()),
            LuFactors::Plain(lu) => whole(lu.size()),
            LuFactors::Sparse { lu, .. } => FactorWork::of_fronts(lu),
            LuFactors::Dropped(solver) => {
                let mut work = solver.core_work();
                if let Some(whole) = solver.whole_lu() {
                    work.multiplications += whole.factor_work();
                    work.general |= whole.uses_fallback();
                }
                work
            }
        }
    }

    /// Estimate from below of the condition number of the factored matrix in the 1-norm, balanced if it had
    /// to be.
    pub fn condition_estimate(&mut self, matrix: &BlockMatrix) -> f64 {
        self.norm = column_norm(self.balanced.as_ref().map_or(matrix, |balanced| &balanced.matrix));
        let size = matrix.pattern().row_count();
        match &mut self.kind {
            LuFactors::Dense(lu) => lu.condition_estimate(),
            LuFactors::Sparse { lu, .. } => self.norm * inverse_norm(|x| lu.solve(x), size),
            LuFactors::Dropped(solver) => self.norm * inverse_norm(|x| solver.solve(x), size),
            LuFactors::Plain(lu) => self.norm * inverse_norm(|x| lu.solve(x), size),
        }
    }
}

fn factor_dense(lu: &mut DenseLu, matrix: &BlockMatrix) -> Result<Health, SingularMatrix> {
    let pattern = matrix.pattern();
    let size = pattern.row_count();
    let dense = lu.matrix_mut();
    dense.fill(0.0);
    for (block, row, column) in pattern.blocks() {
        let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
        if rows.is_empty() || columns.is_empty() {
            continue;
        }
        let block = DenseBlock { values: &matrix.values()[pattern.value_range(block)], rows: rows.len() };
        let first = columns.start * size + rows.start;
        kernel::copy(BlockTarget { values: &mut dense[first..], stride: size }, block);
    }
    match lu.factor() {
        Ok(smallest_pivot_ratio) => Ok(Health { smallest_pivot_ratio, fallback_used: false }),
        Err(singular) => Err(SingularMatrix { unknown: singular.column }),
    }
}

fn singular(error: SparseLuError, matrix: &BlockMatrix) -> SingularMatrix {
    let unknown = match error {
        SparseLuError::Singular { group, row, .. } => matrix.pattern().row_range(group).start + row,
        SparseLuError::NotFinite { row_group, .. } => matrix.pattern().row_range(row_group).start,
        _ => 0,
    };
    SingularMatrix { unknown }
}

fn column_norm(matrix: &BlockMatrix) -> f64 {
    let pattern = matrix.pattern();
    let mut sums = vec![0.0; pattern.column_count()];
    for (block, row, column) in pattern.blocks() {
        let rows = pattern.row_range(row).len().max(1);
        let values = &matrix.values()[pattern.value_range(block)];
        for (sum, values) in sums[pattern.column_range(column)].iter_mut().zip(values.chunks_exact(rows)) {
            *sum += values.iter().map(|value| value.abs()).sum::<f64>();
        }
    }
    sums.into_iter().fold(0.0, f64::max)
}

/// ‖A⁻¹‖₁ from below: the largest growth among some vectors of alternating signs, each sharpened by one more
/// solve.
fn inverse_norm(mut solve: impl FnMut(&mut [f64]), size: usize) -> f64 {
    let norm = |x: &[f64]| x.iter().map(|value| value.abs()).sum::<f64>();
    let mut largest = 0.0_f64;
    for period in [1_usize, 2, 3, 5] {
        let mut x: Vec<f64> = (0..size).map(|i| if (i / period) % 2 == 0 { 1.0 } else { -1.0 }).collect();
        for _ in 0..2 {
            let before = norm(&x);
            solve(&mut x);
            largest = largest.max(norm(&x) / before);
        }
    }
    largest
}
