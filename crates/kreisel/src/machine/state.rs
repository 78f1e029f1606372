//! States of a model: whether their equations determine them, where they are steady, and whether their names
//! are their own.

use nalgebra::{DMatrix, DVector};

use super::entry::StateSignal;
use crate::dae::{Dae, Initial, ResidualValues, Tangent, TangentWeights, Values};
use crate::element::StateId;
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

/// States that start where their rates vanish, for the motion of the start.
#[derive(Clone, Debug)]
pub struct SteadyStates {
    /// The states.
    pub states: Vec<StateId>,
    /// Norm of their rates from which on they do: bristles that rest have no direction to bend to.
    pub min_rate: f64,
}

/// What came of the search for a steady start.
pub(crate) enum SteadyStart {
    /// States at which those that are to start steady do so, and algebraic unknowns are found.
    Found(Vec<f64>),
    /// What is to start steady does not move.
    Unneeded,
    /// There is none, or it was not found: the state that changes fastest without it, and its rate.
    Missing { state: usize, rate: f64 },
}

/// Looks for states of a start at which those that are to start steady do so, and algebraic unknowns are
/// found.
pub(super) fn steady(
    system: &System,
    start: &Values,
    states: &[StateSignal],
    groups: &[SteadyStates],
) -> SteadyStart {
    let (shape, mut found) = (system.shape(), start.internal_states.clone());
    let mut sought: Vec<usize> =
        states.iter().filter(|state| state.algebraic).map(|state| state.state.0).collect();
    let algebraic = sought.len();
    let mut missing = SteadyStart::Unneeded;
    let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: false, remembered_forces: false };
    // Blocks are linear, so that one round is enough unless their inputs are bent functions of states.
    for round in 0..MAX_ROUNDS {
        let values = Values { internal_states: found.clone(), ..start.clone() };
        let at = values.point();
        let rates = ResidualValues::at(system, &shape, &at).internal_rates;
        if round == 0 {
            let rate = |group: &SteadyStates| {
                group.states.iter().map(|state| rates[state.0].powi(2)).sum::<f64>().sqrt()
            };
            let moving = groups.iter().filter(|group| rate(group) >= group.min_rate);
            sought.extend(moving.flat_map(|group| &group.states).map(|state| state.0));
            let fastest =
                sought[algebraic..].iter().max_by(|&&a, &&b| rates[a].abs().total_cmp(&rates[b].abs()));
            let Some(&state) = fastest else { break };
            missing = SteadyStart::Missing { state, rate: rates[state] };
        }
        let tangent = Tangent::at(system, &system.couplings(None), &at, weights);
        let all = tangent.state_state.to_dense();
        let matrix = DMatrix::from_fn(sought.len(), sought.len(), |i, j| all[(sought[i], sought[j])]);
        let right = DVector::from_fn(sought.len(), |i, _| -rates[sought[i]]);
        let change = matrix.full_piv_lu().solve(&right);
        let Some(change) = change.filter(|change| change.iter().all(|x| x.is_finite())) else { break };
        sought.iter().zip(&change).for_each(|(&state, change)| found[state] += change);
        let settled =
            |(&state, change): (&usize, &f64)| change.abs() <= SETTLED * found[state].abs().max(1.0);
        if sought.iter().zip(&change).all(settled) {
            return SteadyStart::Found(found);
        }
    }
    missing
}

/// Rounds after which a steady start is given up.
const MAX_ROUNDS: usize = 50;
/// Relative change below which a steady start is found: Newton's iteration squares its errors, so that the
/// next change would be rounding.
const SETTLED: f64 = 1e-12;

/// The error of a state whose signal has the name of another sensor's.
pub fn same_name(state: &StateSignal, other: &str) -> ModelError {
    let (what, found) = (format!("the state's signal `{}`", state.name), format!("that of {other}"));
    ModelError::unsuitable(what, "a name of its own", found, &state.place)
        .with_hint("give the state another name")
}
