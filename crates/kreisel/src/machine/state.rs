//! States of a model: whether their equations determine them, and whether their names are their own.

use nalgebra::DMatrix;

use super::entry::StateSignal;
use crate::dae::{Dae, Initial, Tangent, TangentWeights, Values};
use crate::model::error::ModelError;
use crate::system::System;

/// Refuses algebraic unknowns that their equations do not determine at the start.
pub fn check(system: &System, initial: &Initial, states: &[StateSignal]) -> Result<(), ModelError> {
    let unknown: Vec<&StateSignal> = states.iter().filter(|state| state.algebraic).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let shape = system.shape();
    let rest = Values { internal_states: initial.internal_states.clone(), ..Values::zeros(&shape) };
    let at = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
    let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: false, remembered_forces: false };
    let tangent = Tangent::at(system, &system.couplings(None), &at, weights);
    let all = tangent.state_state.to_dense();
    let matrix =
        DMatrix::from_fn(unknown.len(), unknown.len(), |i, j| all[(unknown[i].state.0, unknown[j].state.0)]);
    // Rows are compared with their own size: units differ.
    let factors = matrix.clone().full_piv_lu();
    let rows = factors.u();
    let singular = (0..unknown.len()).find(|&i| {
        let pivot = rows[(i, i)].abs();
        !pivot.is_finite() || pivot <= 1e-12 * matrix.amax().max(f64::MIN_POSITIVE)
    });
    if singular.is_none() {
        return Ok(());
    }
    // The unknown with the weakest equation is the one to look at first.
    let weakest = (0..unknown.len()).min_by(|&a, &b| matrix.row(a).amax().total_cmp(&matrix.row(b).amax()));
    let guilty = unknown[weakest.unwrap_or(0)];
    let what = format!("`{}`", guilty.name);
    let requirement =
        "determined by its equation: near the guess the expression must change with the unknown";
    let found = "an equation without a unique solution";
    let hint = "let the expression contain the unknown itself, or choose another `guess`";
    Err(ModelError::unsuitable(what, requirement, found, &guilty.place).with_hint(hint))
}

/// The error of a state whose signal has the name of another sensor's.
pub fn same_name(state: &StateSignal, other: &str) -> ModelError {
    let (what, found) = (format!("the state's signal `{}`", state.name), format!("that of {other}"));
    ModelError::unsuitable(what, "a name of its own", found, &state.place)
        .with_hint("give the state another name")
}
