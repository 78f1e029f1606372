//! The small shift on the diagonal of multipliers that makes redundant equations harmless.

use super::Role;
use super::symbolic::Symbolic;
use crate::solve::block::BlockPattern;

/// A diagonal entry smaller than this fraction of the largest counts as that fraction, so that a
/// massless body does not blow up the scale of the shift.
const MIN_DIAGONAL: f64 = 1e-12;

/// How redundant equations are met.
///
/// Every multiplier row gets −ε σ wⱼ² on its diagonal, with σ the typical size of B M⁻¹ Bᵀ; solutions are
/// refined against the matrix without it. As ε → 0 the multipliers tend to those of least Σ (wⱼ λⱼ)².
#[derive(Clone, Debug, PartialEq)]
pub struct Regularization {
    /// ε; the primary unknowns gain about −log₁₀ ε digits a refinement, the shared part of redundant
    /// multipliers keeps about 16 + log₁₀ ε digits.
    pub epsilon: f64,
    /// wⱼ of every unknown (those of primary unknowns are not used); all 1 if empty.
    pub weights: Vec<f64>,
    /// Largest number of refinements in a solve.
    pub refinements: usize,
}

impl Default for Regularization {
    fn default() -> Self {
        Self { epsilon: 1e-8, weights: Vec::new(), refinements: 4 }
    }
}

/// A block of B: the rows of a multiplier against the columns of a primary.
#[derive(Clone, Debug)]
struct GradientBlock {
    values: std::ops::Range<usize>,
    /// Place of its first row in elimination order.
    place: usize,
    rows: usize,
    /// First unknown of its columns.
    column: usize,
}

/// Finds the shift of a matrix without allocating.
#[derive(Clone, Debug)]
pub(super) struct Shifter {
    /// For each place in elimination order: the weight of a multiplier, 0 for a primary unknown.
    weights: Vec<f64>,
    /// Blocks (multiplier, primary).
    blocks: Vec<GradientBlock>,
    /// Place of the diagonal entry of each unknown in the block values.
    diagonal: Vec<Option<usize>>,
    scale: Vec<f64>,
    pub shift: Vec<f64>,
}

impl Shifter {
    pub fn new(pattern: &BlockPattern, roles: &[Role], symbolic: &Symbolic, weights: &[f64]) -> Self {
        let size = pattern.row_count();
        let mut place_of = vec![0; size];
        let mut placed_weights = vec![0.0; size];
        for (place, (&unknown, &group)) in symbolic.unknown_at.iter().zip(&symbolic.group_at).enumerate() {
            place_of[unknown as usize] = place;
            if roles[group as usize] == Role::Multiplier {
                placed_weights[place] = weights.get(unknown as usize).copied().unwrap_or(1.0);
            }
        }
        let mut blocks = Vec::new();
        let mut diagonal = vec![None; size];
        for (block, row, column) in pattern.blocks() {
            let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
            let values = pattern.value_range(block);
            if row == column {
                let step = rows.len() + 1;
                rows.clone().for_each(|unknown| {
                    diagonal[unknown] = Some(values.start + (unknown - rows.start) * step)
                });
            } else if roles[row] == Role::Multiplier && roles[column] == Role::Primary && !rows.is_empty() {
                let place = place_of[rows.start];
                blocks.push(GradientBlock { values, place, rows: rows.len(), column: columns.start });
            }
        }
        Self { weights: placed_weights, blocks, diagonal, scale: vec![0.0; size], shift: vec![0.0; size] }
    }

    /// Sets the shift to ε σ wⱼ², σ the geometric mean of (B D⁻¹ Bᵀ)ⱼⱼ / wⱼ² with D the diagonal of M.
    pub fn update(&mut self, values: &[f64], epsilon: f64) {
        let diagonal_of = |unknown: usize| self.diagonal[unknown].map_or(0.0, |place| values[place].abs());
        let floor = MIN_DIAGONAL * (0..self.diagonal.len()).map(diagonal_of).fold(0.0, f64::max);
        self.scale.fill(0.0);
        for block in &self.blocks {
            for (column, entries) in values[block.values.clone()].chunks_exact(block.rows).enumerate() {
                let diagonal = diagonal_of(block.column + column).max(floor);
                for (scale, entry) in self.scale[block.place..][..block.rows].iter_mut().zip(entries) {
                    *scale += entry * entry / diagonal;
                }
            }
        }
        let (mut sum, mut count) = (0.0, 0usize);
        for (scale, weight) in self.scale.iter().zip(&self.weights) {
            if *weight != 0.0 && *scale > 0.0 && scale.is_finite() {
                sum += (scale / (weight * weight)).ln();
                count += 1;
            }
        }
        let typical = if count == 0 { 1.0 } else { (sum / count as f64).exp() };
        for (shift, weight) in self.shift.iter_mut().zip(&self.weights) {
            *shift = epsilon * typical * weight * weight;
        }
    }
}
