//! Linear systems with dropped couplings: the rest is factored, the dropped blocks are met by iteration.
//!
//! Bodies that touch others on all sides fill the factors of a direct solve: with n of them in a heap its
//! work grows like n² and its memory like n^(4/3), because every cut through the heap becomes one dense
//! block. But in a time step inertia outweighs what bodies do to each other through contacts, and the fixed
//! parts of a machine (joints, beams, springs) are factored cheaply. So the matrix is split into A = C + E
//! with the dropped blocks E; C is factored by the block LU, and
//!
//! ```text
//! (I + C⁻¹E) x = C⁻¹b
//! ```
//!
//! is solved by the generalized minimal residual method, restarted [SaadSchultz1986, restarted algorithm].
//! Equations without dropped blocks, such as constraints, hold to round-off in every iterate. The residual is
//! in units of the unknowns. Where the iteration is too slow (contacts much stiffer than inertia over the
//! step) the whole matrix is factored after all.
//!
//! The outcome depends on the matrix and the right side alone, so that a run can be taken up again to the
//! same bits.

use std::sync::Arc;

use super::block::{BlockMatrix, BlockPattern};
use super::diagonal::DiagonalLu;
use super::linear::{FactorWork, Health, Role};
use super::sparse_lu::{SparseLu, SparseLuError};

/// Part of ‖C⁻¹b‖ to which the residual is reduced: Newton's increments then have six right digits, and its
/// iteration takes care of the rest.
const TOLERANCE: f64 = 1e-6;
/// Iterations between restarts.
const RESTART: usize = 40;
/// Iterations after which the whole matrix is factored instead.
const MAX_ITERATIONS: usize = 160;
/// Part of a Krylov vector below which nothing new is left of it: some ε.
const BREAKDOWN: f64 = 1e-14;

/// Consecutive values of the matrix that are consecutive in its core.
#[derive(Clone, Debug)]
struct ValueRange {
    from: usize,
    to: usize,
    len: usize,
}

/// A dropped block: where its values, rows and columns begin.
#[derive(Clone, Copy, Debug)]
struct DroppedBlock {
    value: usize,
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

/// Solves systems of a pattern with dropped blocks.
#[derive(Clone, Debug)]
pub(super) struct DroppedBlockSolver {
    roles: Vec<Role>,
    matrix: BlockMatrix,
    core: BlockMatrix,
    value_ranges: Vec<ValueRange>,
    core_lu: SparseLu,
    adapted: bool,
    /// Factors of a core with blocks on the diagonal alone, and whether they are those of the last matrix.
    diagonal: Option<DiagonalLu>,
    is_diagonal: bool,
    dropped: Vec<DroppedBlock>,
    /// Dropped blocks that are not zero.
    active: Vec<DroppedBlock>,
    /// The whole matrix, once an iteration was too slow.
    whole_lu: Option<SparseLu>,
    whole: Whole,
    krylov: Krylov,
    right_side: Vec<f64>,
    /// Iterations of the last solve.
    pub iterations: usize,
    /// How often the whole matrix was factored so far.
    pub whole_count: u64,
}

/// Whether the whole matrix has been factored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    NotYet,
    Factored,
    Singular,
}

impl DroppedBlockSolver {
    /// Analyses a square pattern without its dropped blocks.
    pub fn new(pattern: &Arc<BlockPattern>, roles: &[Role]) -> Result<Self, SparseLuError> {
        let sizes: Vec<usize> = (0..roles.len()).map(|group| pattern.row_range(group).len()).collect();
        let tight = || pattern.blocks().filter(|(block, ..)| !pattern.is_dropped(*block));
        let core = Arc::new(BlockPattern::new(&sizes, &sizes, tight().map(|(_, row, column)| (row, column))));
        let mut value_ranges: Vec<ValueRange> = Vec::new();
        let mut to = 0;
        for (block, ..) in tight() {
            let range = pattern.value_range(block);
            match value_ranges.last_mut() {
                Some(run) if run.from + run.len == range.start => run.len += range.len(),
                _ => value_ranges.push(ValueRange { from: range.start, to, len: range.len() }),
            }
            to += range.len();
        }
        let dropped: Vec<DroppedBlock> = pattern
            .blocks()
            .filter(|(block, ..)| pattern.is_dropped(*block))
            .map(|(block, row, column)| DroppedBlock {
                value: pattern.value_range(block).start,
                row: pattern.row_range(row).start,
                column: pattern.column_range(column).start,
                rows: sizes[row],
                columns: sizes[column],
            })
            .collect();
        let size = pattern.row_count();
        Ok(Self {
            roles: roles.to_vec(),
            matrix: BlockMatrix::zeros(Arc::clone(pattern)),
            core_lu: SparseLu::new(Arc::clone(&core), roles)?,
            diagonal: DiagonalLu::new(&core, roles),
            is_diagonal: false,
            core: BlockMatrix::zeros(core),
            value_ranges,
            adapted: false,
            active: Vec::with_capacity(dropped.len()),
            dropped,
            whole_lu: None,
            whole: Whole::NotYet,
            krylov: Krylov::new(size),
            right_side: vec![0.0; size],
            iterations: 0,
            whole_count: 0,
        })
    }

    /// Factors what is not dropped; allocates only the first time.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<Health, SparseLuError> {
        self.matrix.values_mut().copy_from_slice(matrix.values());
        for run in &self.value_ranges {
            let source = &matrix.values()[run.from..run.from + run.len];
            self.core.values_mut()[run.to..run.to + run.len].copy_from_slice(source);
        }
        self.whole = Whole::NotYet;
        let health = self.factor_core()?;
        let values = self.matrix.values();
        let acts = |block: &&DroppedBlock| {
            values[block.value..block.value + block.rows * block.columns].iter().any(|value| *value != 0.0)
        };
        self.active.clear();
        self.active.extend(self.dropped.iter().filter(acts));
        Ok(health)
    }

    fn factor_core(&mut self) -> Result<Health, SparseLuError> {
        let ratio = self.diagonal.as_mut().and_then(|lu| lu.factor(&self.core));
        self.is_diagonal = ratio.is_some();
        if let Some(smallest_pivot_ratio) = ratio {
            return Ok(Health { smallest_pivot_ratio, fallback_used: false });
        }
        let health = match self.adapted {
            true => self.core_lu.factor(&self.core)?,
            false => self.core_lu.adapt_and_factor(&self.core)?,
        };
        self.adapted = true;
        Ok(health.into())
    }

    /// Factors of a core with blocks on the diagonal alone, if they are those of the last matrix.
    fn diagonal(&self) -> Option<&DiagonalLu> {
        self.diagonal.as_ref().filter(|_| self.is_diagonal)
    }

    /// Solves with the factors of the core.
    fn solve_core(&mut self, right_side: &mut [f64]) {
        match self.diagonal() {
            Some(lu) => lu.solve(right_side),
            None => self.core_lu.solve(right_side),
        }
    }

    /// Solves in place; gives numbers that are not finite if the matrix is singular.
    ///
    /// Every solve begins with the iteration, whatever became of the one before: a run that is taken up again
    /// does not know of it.
    pub fn solve(&mut self, right_side: &mut [f64]) {
        self.iterations = 0;
        if self.active.is_empty() {
            return self.solve_core(right_side);
        }
        self.right_side.copy_from_slice(right_side);
        if self.iterate(right_side) {
            return;
        }
        right_side.copy_from_slice(&self.right_side);
        if self.whole == Whole::NotYet {
            self.whole = self.factor_whole();
            self.whole_count += 1;
        }
        match &mut self.whole_lu {
            Some(lu) if self.whole == Whole::Factored => lu.solve(right_side),
            _ => right_side.fill(f64::NAN),
        }
    }

    fn factor_whole(&mut self) -> Whole {
        if self.whole_lu.is_none() {
            self.whole_lu = SparseLu::new(Arc::clone(self.matrix.pattern()), &self.roles).ok();
        }
        let lu = self.whole_lu.as_mut();
        match lu.map(|lu| lu.factor(&self.matrix)) {
            Some(Ok(_)) => Whole::Factored,
            _ => Whole::Singular,
        }
    }

    /// Turns b into x, if that takes few enough iterations.
    fn iterate(&mut self, solution: &mut [f64]) -> bool {
        self.solve_core(solution);
        let Self { krylov, core_lu, diagonal, is_diagonal, active, matrix, .. } = self;
        let diagonal = diagonal.as_ref().filter(|_| *is_diagonal);
        let values = matrix.values();
        // x = C⁻¹b is the first guess, r = C⁻¹(b − Ax) = −C⁻¹Ex.
        let mut product = |from: &[f64], to: &mut [f64]| {
            to.fill(0.0);
            active.iter().for_each(|block| block.multiply_add(values, from, to));
            match diagonal {
                Some(lu) => lu.solve(to),
                None => core_lu.solve(to),
            }
        };
        krylov.start.copy_from_slice(solution);
        let goal = TOLERANCE * norm(&krylov.start);
        let mut left = MAX_ITERATIONS;
        loop {
            let before = krylov.begin(solution, &mut product);
            if !before.is_finite() {
                return false;
            }
            let (iterations, after) = krylov.cycle(goal, before, &mut product);
            self.iterations += iterations;
            krylov.finish(iterations, solution);
            if after <= goal {
                return true;
            }
            left -= iterations.min(left);
            // Cycles that shrink the residual like this one must reach the goal in time; a breakdown shrinks
            // nothing.
            let cycles = (goal / after).ln() / (after / before).ln().min(-f64::MIN_POSITIVE);
            let in_time = cycles * RESTART as f64 <= left as f64;
            if !in_time {
                return false;
            }
        }
    }

    /// What the factors of what is not dropped take.
    pub fn core_work(&self) -> FactorWork {
        match self.diagonal() {
            Some(lu) => FactorWork { multiplications: lu.work(), analysed: lu.work(), general: false },
            None => FactorWork::of_fronts(&self.core_lu),
        }
    }

    /// Factors of the whole matrix, if the last solve needed them.
    pub fn whole_lu(&self) -> Option<&SparseLu> {
        self.whole_lu.as_ref().filter(|_| self.whole == Whole::Factored)
    }

    /// Parts that joined their neighbours because they are singular by themselves; absent before the first
    /// factorisation.
    pub fn merged(&self) -> Option<Vec<usize>> {
        self.adapted.then(|| self.core_lu.merged())
    }

    /// Lets the same parts join their neighbours as in another solver of the same pattern.
    pub fn merge(&mut self, parts: &[usize]) -> bool {
        self.adapted = true;
        self.core_lu.merge(parts).unwrap_or(false)
    }
}

impl DroppedBlock {
    fn multiply_add(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        let values = &values[self.value..self.value + self.rows * self.columns];
        let (x, y) = (&x[self.column..self.column + self.columns], &mut y[self.row..self.row + self.rows]);
        if let Ok(y) = <&mut [f64; 6]>::try_from(&mut *y) {
            for (x, values) in x.iter().zip(values.as_chunks::<6>().0) {
                (0..6).for_each(|i| y[i] += x * values[i]);
            }
            return;
        }
        for (x, values) in x.iter().zip(values.chunks_exact(self.rows.max(1))) {
            y.iter_mut().zip(values).for_each(|(y, value)| *y += x * value);
        }
    }
}

/// Basis and small matrices of one cycle.
#[derive(Clone, Debug)]
struct Krylov {
    size: usize,
    /// C⁻¹b.
    start: Vec<f64>,
    /// Orthonormal vectors, one after the other.
    basis: Vec<f64>,
    /// Upper triangle R of the least-squares problem, column by column.
    triangle: Vec<f64>,
    /// Cosines and sines of the rotations that made it.
    rotations: Vec<(f64, f64)>,
    /// Rotated right side.
    side: Vec<f64>,
}

impl Krylov {
    fn new(size: usize) -> Self {
        Self {
            size,
            start: vec![0.0; size],
            basis: vec![0.0; (RESTART + 1) * size],
            triangle: vec![0.0; RESTART * (RESTART + 1)],
            rotations: vec![(1.0, 0.0); RESTART],
            side: vec![0.0; RESTART + 1],
        }
    }

    /// Puts the residual at a solution in front of the basis and gives its norm.
    fn begin(&mut self, solution: &[f64], product: &mut impl FnMut(&[f64], &mut [f64])) -> f64 {
        let first = &mut self.basis[..self.size];
        product(solution, first);
        for (r, (b, x)) in first.iter_mut().zip(self.start.iter().zip(solution)) {
            *r = b - x - *r;
        }
        let length = norm(first);
        if length > 0.0 {
            first.iter_mut().for_each(|value| *value /= length);
        }
        self.side.fill(0.0);
        self.side[0] = length;
        length
    }

    /// Widens the basis until the residual is small enough; gives the number of iterations and the norm of
    /// the residual.
    fn cycle(
        &mut self,
        goal: f64,
        mut residual: f64,
        product: &mut impl FnMut(&[f64], &mut [f64]),
    ) -> (usize, f64) {
        for k in 0..RESTART {
            if residual <= goal {
                return (k, residual);
            }
            let (basis, next) = self.basis.split_at_mut((k + 1) * self.size);
            let (last, next) = (&basis[k * self.size..], &mut next[..self.size]);
            product(last, next);
            next.iter_mut().zip(last).for_each(|(next, last)| *next += last);
            let before = norm(next);
            let column = &mut self.triangle[k * (RESTART + 1)..][..=RESTART];
            for (entry, vector) in column.iter_mut().zip(basis.chunks_exact(self.size)) {
                *entry = dot(vector, next);
                next.iter_mut().zip(vector).for_each(|(next, value)| *next -= *entry * value);
            }
            let length = norm(next);
            column[k + 1] = length;
            if length > 0.0 {
                next.iter_mut().for_each(|value| *value /= length);
            }
            residual = self.rotate(k);
            let widens = length > BREAKDOWN * before;
            if !widens {
                return (k + 1, residual);
            }
        }
        (RESTART, residual)
    }

    /// Makes column `k` upper triangular and gives the norm of the residual.
    fn rotate(&mut self, k: usize) -> f64 {
        let column = &mut self.triangle[k * (RESTART + 1)..][..=RESTART];
        for (i, &(cosine, sine)) in self.rotations[..k].iter().enumerate() {
            let (upper, lower) = (column[i], column[i + 1]);
            (column[i], column[i + 1]) = (cosine * upper + sine * lower, cosine * lower - sine * upper);
        }
        let (upper, lower) = (column[k], column[k + 1]);
        let length = upper.hypot(lower);
        let (cosine, sine) = if length > 0.0 { (upper / length, lower / length) } else { (1.0, 0.0) };
        self.rotations[k] = (cosine, sine);
        (column[k], column[k + 1]) = (length, 0.0);
        (self.side[k], self.side[k + 1]) = (cosine * self.side[k], -sine * self.side[k]);
        self.side[k + 1].abs()
    }

    /// Adds the best combination of the basis to the solution.
    fn finish(&mut self, iterations: usize, solution: &mut [f64]) {
        for k in (0..iterations).rev() {
            let column = &self.triangle[k * (RESTART + 1)..][..=k];
            let weight = self.side[k] / column[k];
            self.side[k] = weight;
            self.side[..k].iter_mut().zip(column).for_each(|(side, entry)| *side -= weight * entry);
        }
        for (weight, vector) in self.side[..iterations].iter().zip(self.basis.chunks_exact(self.size)) {
            solution.iter_mut().zip(vector).for_each(|(x, value)| *x += weight * value);
        }
    }
}

/// Scalar product, several lanes at a time in an order that does not depend on the processor.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (ones, one_rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    for (one, other) in ones.iter().zip(others) {
        (0..8).for_each(|i| lanes[i] += one[i] * other[i]);
    }
    let rest: f64 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    lanes.iter().sum::<f64>() + rest
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}
