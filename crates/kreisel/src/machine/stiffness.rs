//! How stiff a machine is at the start, for the scaling of forces.

use crate::constrained::coordinate_scales;
use crate::dae::{Dae, Initial, Tangent, TangentWeights, Values};
use crate::system::System;

/// k_ave of [BottassoBauchauCardona2007, Eq. (28)]: the mean diagonal entry of the stiffness at the initial
/// state, without reactions; torques and angles count as forces and displacements at the machine's length.
pub(super) fn mean_stiffness(system: &System, initial: &Initial) -> f64 {
    let shape = system.shape();
    let rest = Values { internal_states: initial.internal_states.clone(), ..Values::zeros(&shape) };
    let at = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
    let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: true, remembered_forces: false };
    let tangent = Tangent::at(system, &system.couplings(None), &at, weights);
    let length = shape.scales.length;
    let scales = coordinate_scales(&shape, length);
    let (pattern, mut sum) = (tangent.stiffness.pattern(), 0.0);
    for node in 0..shape.space.factor_count() {
        let Some(block) = pattern.find(node, node) else { continue };
        let view = tangent.stiffness.block(block);
        for (i, scale) in scales[shape.space.velocity_range(node)].iter().enumerate() {
            let part = scale / length;
            sum += view[(i, i)].abs() * part * part;
        }
    }
    let mean = sum / scales.len().max(1) as f64;
    if mean.is_finite() { mean } else { 0.0 }
}
