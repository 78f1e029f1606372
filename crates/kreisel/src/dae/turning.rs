//! Velocities as seen along a configuration that turns: products with v̂.
//!
//! Along q ∘ exp(x̃) the velocity of a motion with ẋ = 0 is v + v̂ x to first order, so that derivatives by
//! the velocity become derivatives by the configuration through v̂ [ArnoldCardonaBruls2015, Eq. (29)].

use std::sync::Arc;

use nalgebra::DMatrix;

use crate::lie::Space;
use crate::solve::block::BlockMatrix;

/// `out += factor · A v̂` for two matrices of one pattern with the nodes as columns.
pub(crate) fn add_turned(
    space: &Space,
    velocity: &[f64],
    factor: f64,
    a: &BlockMatrix,
    out: &mut BlockMatrix,
) {
    if velocity.iter().all(|v| *v == 0.0) {
        return;
    }
    let pattern = Arc::clone(a.pattern());
    let hats = hats(space, velocity);
    for (block, _, node) in pattern.blocks() {
        let product = a.block(block) * &hats[node];
        let mut target = out.block_mut(block);
        target.zip_apply(&product, |entry, value| *entry += factor * value);
    }
}

/// The matrix v̂ of each node.
fn hats(space: &Space, velocity: &[f64]) -> Vec<DMatrix<f64>> {
    let dimension = space.dimension();
    let ranges: Vec<_> = (0..space.factor_count()).map(|node| space.velocity_range(node)).collect();
    let mut hats: Vec<_> = ranges.iter().map(|range| DMatrix::zeros(range.len(), range.len())).collect();
    let largest = ranges.iter().map(|range| range.len()).max().unwrap_or(0);
    let (mut unit, mut column) = (vec![0.0; dimension], vec![0.0; dimension]);
    for local in 0..largest {
        unit.fill(0.0);
        ranges.iter().filter(|range| local < range.len()).for_each(|range| unit[range.start + local] = 1.0);
        space.hat_multiply(velocity, &unit, &mut column);
        for (hat, range) in hats.iter_mut().zip(&ranges).filter(|(_, range)| local < range.len()) {
            hat.column_mut(local).copy_from_slice(&column[range.clone()]);
        }
    }
    hats
}
