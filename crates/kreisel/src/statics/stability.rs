//! Whether an equilibrium is stable.
//!
//! Conservative forces have a symmetric stiffness K in equilibrium. The machine stays where it is if K is
//! positive on the motions that the constraints leave free: the matrix [K Bᵀ; B −δ] then has one negative
//! eigenvalue for each constraint and no more, by Sylvester's law of inertia. Every further one is a
//! direction in which a small push lets the machine move away. Where K is not symmetric (forces that follow)
//! or states and spin take part, K alone does not decide, and nothing is said.

use std::sync::Arc;

use super::problem::Problem;
use super::{Equilibrium, Instability, StaticSettings};
use crate::lie::Vector6;
use crate::solve::block::BlockMatrix;
use crate::solve::sparse_lu::SparseLu;

/// Stiffness beside the mean below which a direction counts as neutral: round-off of pivots, some thousand ε.
const NEUTRAL: f64 = 1e-12;
/// Part of the largest entry by which a matrix that is symmetric may fail to be: forces that follow a part
/// give far more, derivatives by differences less.
const ASYMMETRY: f64 = 1e-6;
/// Compliance of the constraints: above the round-off of pivots, and far below that of springs.
const COMPLIANCE: f64 = 1e-9;
/// How often the range of load factors in which stability is lost is halved.
const MAX_HALVINGS: usize = 14;
/// Shifts that are tried to enclose the lowest eigenvalue, and solves that sharpen its direction.
const SHIFTS: usize = 8;
const SOLVES: usize = 20;

impl Problem<'_> {
    /// Judges the last of some equilibria that were found one after the other.
    pub fn instability(&mut self, visited: &[Equilibrium], settings: &StaticSettings) -> Option<Instability> {
        if self.spins() || self.shape.state_count() > 0 {
            return None;
        }
        let last = visited.last()?;
        let directions = self.unstable_directions(last).filter(|count| *count > 0)?;
        let motion = self.lowest_direction(last);
        // Back to where it was stable.
        let mut since = visited.len() - 1;
        while since > 0 && self.unstable_directions(&visited[since - 1]).is_some_and(|count| count > 0) {
            since -= 1;
        }
        let unstable = visited[since].load_factor;
        let load_factor = match since.checked_sub(1) {
            Some(before) if settings.path.is_none() => {
                self.loss_of_stability(&visited[before], unstable, settings)
            }
            _ => unstable,
        };
        let equation = motion.map(|motion| self.most_moved(&motion)).unwrap_or_default();
        Some(Instability { directions, load_factor, from_start: since == 0, equation })
    }

    /// Number of directions in which energy falls; `None` if K does not decide or the factors do not tell.
    fn unstable_directions(&mut self, at: &Equilibrium) -> Option<usize> {
        self.factor_symmetric(at, NEUTRAL).map(|(count, _)| count)
    }

    /// Negative eigenvalues of K + σD on the motions that are left free, and its factors.
    fn factor_symmetric(&mut self, at: &Equilibrium, shift: f64) -> Option<(usize, SparseLu)> {
        self.fit(&at.values.memory);
        self.evaluate(at).ok()?;
        self.shift = shift;
        self.assemble(at);
        self.shift = 0.0;
        let (pattern, count) = (Arc::clone(&self.layout.pattern), self.shape.velocity_count());
        let mut matrix = symmetric_part(&self.matrix)?;
        for (block, row, column) in pattern.blocks().filter(|(_, row, column)| row == column) {
            if pattern.row_range(row).start >= count {
                let mut view = matrix.block_mut(block);
                (0..pattern.column_range(column).len()).for_each(|i| view[(i, i)] -= COMPLIANCE);
            }
        }
        let mut factors = SparseLu::new(pattern, &self.layout.roles).ok()?;
        factors.adapt_and_factor(&matrix).ok()?;
        let negative = factors.negative_eigenvalues()?.checked_sub(self.shape.constraint_count())?;
        Some((negative, factors))
    }

    /// The direction in which energy falls most, by inverse iteration with a shift just beyond its
    /// eigenvalue.
    fn lowest_direction(&mut self, at: &Equilibrium) -> Option<Vec<f64>> {
        let (mut low, mut high) = (NEUTRAL, 1.0);
        for _ in 0..SHIFTS {
            let middle = (low * high).sqrt();
            match self.factor_symmetric(at, middle)?.0 {
                0 => high = middle,
                _ => low = middle,
            }
        }
        let (_, mut factors) = self.factor_symmetric(at, high)?;
        let count = self.shape.velocity_count();
        let mut x: Vec<f64> = (0..self.residual.len()).map(|i| 1.0 + (1.7 * i as f64).sin()).collect();
        for _ in 0..SOLVES {
            x[count..].fill(0.0);
            let norm = self.norm(&x[..count]);
            x[..count].iter_mut().enumerate().for_each(|(i, value)| *value *= self.weight(i) / norm);
            factors.solve(&mut x);
        }
        x.truncate(count);
        x.iter().all(|value| value.is_finite()).then_some(x)
    }

    /// The load factor between a stable equilibrium and an unstable one at which stability was lost.
    fn loss_of_stability(&mut self, stable: &Equilibrium, unstable: f64, settings: &StaticSettings) -> f64 {
        let (mut stable, mut high) = (stable.clone(), unstable);
        for _ in 0..MAX_HALVINGS {
            let load_factor = 0.5 * (stable.load_factor + high);
            let guess = Equilibrium { load_factor, ..stable.clone() };
            // Where stability is lost the iteration may fail.
            let solved = self.newton(&guess, None, settings.tolerance, settings.max_iterations).ok();
            match solved.map(|solved| (self.unstable_directions(&solved.equilibrium), solved.equilibrium)) {
                Some((Some(0), found)) => stable = found,
                _ => high = load_factor,
            }
        }
        high
    }

    fn spins(&self) -> bool {
        self.spin != Vector6::zeros()
    }
}

/// (A + Aᵀ)/2, if A is nearly that.
fn symmetric_part(matrix: &BlockMatrix) -> Option<BlockMatrix> {
    let pattern = Arc::clone(matrix.pattern());
    let largest = matrix.values().iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let mut out = matrix.clone();
    for (block, row, column) in pattern.blocks() {
        let other = matrix.block(pattern.find(column, row)?).transpose();
        let difference = matrix.block(block) - &other;
        if difference.amax() > ASYMMETRY * largest {
            return None;
        }
        out.block_mut(block).copy_from(&(matrix.block(block) - 0.5 * difference));
    }
    Some(out)
}
