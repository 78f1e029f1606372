//! Redundant constraints give way a little, so that their multipliers are unique.

use super::redundancy::Redundancy;
use crate::dae::Dae;

/// Compliance of redundant constraints against scaled multipliers. A reaction λ opens them by this part of λ
/// h²/m, the way a step would take without them: far below the error of the method, and still far above
/// round-off in the pivots.
const COMPLIANCE: f64 = 1e-9;
/// Least square of a weight: with less, round-off would decide on the torques of machines of more than 10 m.
const MIN_SQUARE: f64 = 1e-2;

/// Compliance of a constraint of this weight.
pub(crate) fn compliance_of(weight: f64) -> f64 {
    COMPLIANCE * (weight * weight).max(MIN_SQUARE)
}

/// Compliance of each constraint against scaled multipliers, the holonomic ones first; empty if none depends
/// on others.
pub(crate) fn compliance(dae: &dyn Dae, redundancy: &Redundancy) -> Vec<f64> {
    if redundancy.is_none() {
        return Vec::new();
    }
    let shape = dae.shape();
    let first_nonholonomic = shape.constraint_count();
    let weights = shape.weights_of_multipliers();
    let mut compliance = vec![0.0; weights.len()];
    let nonholonomic = redundancy.shared_nonholonomic.iter().map(|row| first_nonholonomic + row);
    for row in redundancy.shared.iter().copied().chain(nonholonomic) {
        compliance[row] = compliance_of(weights[row]);
    }
    // Nothing but its own compliance is left of a constraint that is switched off: its multiplier vanishes.
    redundancy.idle.iter().for_each(|&row| compliance[row] = 1.0);
    compliance
}

/// The same for a machine that is asked about far from where its constraints were looked at: there others may
/// depend on each other, so that all give way if any does.
pub(crate) fn compliance_anywhere(dae: &dyn Dae, redundancy: &Redundancy) -> Vec<f64> {
    let mut compliance = compliance(dae, redundancy);
    for (compliance, weight) in compliance.iter_mut().zip(dae.shape().weights_of_multipliers()) {
        if *compliance == 0.0 {
            *compliance = compliance_of(weight);
        }
    }
    compliance
}

/// Subtracts compliance times multipliers from the violation of redundant constraints: of all multipliers
/// that keep the motion, the smallest remain. `factor` scales the multipliers like the unknowns.
pub(crate) fn comply(compliance: &[f64], multipliers: &[f64], factor: f64, violation: &mut [f64]) {
    for ((violation, compliance), multiplier) in violation.iter_mut().zip(compliance).zip(multipliers) {
        *violation -= compliance * factor * multiplier;
    }
}
