//! What an element does with states: it reads them, lets them change, and reads the multipliers of joints.

use super::differences::copied;
use super::{Element, Forces};
use crate::dae::TangentWeights;
use crate::kinematics::{MAX_NODES, Motion, NodeMotion, shift_pose};
use crate::lie::Vector6;

/// Handle of a first-order or algebraic state of a [`crate::system::System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub usize);

/// Most states that one element may read.
pub const MAX_STATES: usize = 16;
/// Most multipliers that one element may read: those of two joints.
pub const MAX_MULTIPLIERS: usize = 12;

/// Derivatives of an element's wrenches and rates that have to do with states and multipliers; zeros on
/// entry.
#[derive(Clone, Debug)]
pub struct LocalStateTangent {
    /// ∂r/∂c: by state, then by node.
    pub force_by_state: [[Vector6; MAX_NODES]; MAX_STATES],
    /// ∂r/∂λ: by multiplier, then by node.
    pub force_by_multiplier: [[Vector6; MAX_NODES]; MAX_MULTIPLIERS],
    /// ∂h/∂V with the body twist V of a node: by rate, then by node.
    pub rate_by_velocity: [[Vector6; MAX_NODES]; MAX_STATES],
    /// ∂h/∂q at fixed twists: by rate, then by node.
    pub rate_by_configuration: [[Vector6; MAX_NODES]; MAX_STATES],
    /// ∂h/∂c: by rate, then by state.
    pub rate_by_state: [[f64; MAX_STATES]; MAX_STATES],
    /// ∂h/∂λ: by rate, then by multiplier.
    pub rate_by_multiplier: [[f64; MAX_MULTIPLIERS]; MAX_STATES],
}

impl LocalStateTangent {
    /// Zero derivatives.
    pub fn zeros() -> Self {
        let by_node = [Vector6::zeros(); MAX_NODES];
        Self {
            force_by_state: [by_node; MAX_STATES],
            force_by_multiplier: [by_node; MAX_MULTIPLIERS],
            rate_by_velocity: [by_node; MAX_STATES],
            rate_by_configuration: [by_node; MAX_STATES],
            rate_by_state: [[0.0; MAX_STATES]; MAX_STATES],
            rate_by_multiplier: [[0.0; MAX_MULTIPLIERS]; MAX_STATES],
        }
    }
}

/// Step of the central differences, as in the differences of a whole system.
const STEP: f64 = 6e-6;

/// Wrenches and rates of an element.
struct StateValues {
    wrenches: [Vector6; MAX_NODES],
    rates: [f64; MAX_STATES],
}

fn values(element: &dyn Element, at: &Motion, rate_count: usize) -> StateValues {
    let mut values = StateValues { wrenches: [Vector6::zeros(); MAX_NODES], rates: [0.0; MAX_STATES] };
    let (wrenches, rates) = (&mut values.wrenches[..at.nodes.len()], &mut values.rates[..rate_count]);
    let (wrenches, rates) = (Some(wrenches), Some(rates));
    element.evaluate(at, &mut Forces { wrenches, rates, ..Forces::default() });
    values
}

/// Difference quotient between two points.
fn quotient(forth: &StateValues, back: &StateValues, width: f64) -> StateValues {
    StateValues {
        wrenches: std::array::from_fn(|i| (forth.wrenches[i] - back.wrenches[i]) / width),
        rates: std::array::from_fn(|i| (forth.rates[i] - back.rates[i]) / width),
    }
}

/// Derivatives by one of at most `MAX` numbers on which the values depend.
fn slope_by<const MAX: usize>(
    numbers: &[f64],
    j: usize,
    values: impl Fn(&[f64]) -> StateValues,
) -> StateValues {
    let mut moved = [0.0; MAX];
    let moved = &mut moved[..numbers.len()];
    moved.copy_from_slice(numbers);
    let step = STEP * numbers[j].abs().max(1.0);
    let mut at_distance = |distance: f64| {
        moved[j] = numbers[j] + distance;
        values(moved)
    };
    quotient(&at_distance(step), &at_distance(-step), 2.0 * step)
}

/// Derivatives by central differences, for elements that give none.
pub(super) fn difference_internal_tangent(
    element: &dyn Element,
    at: &Motion,
    weights: TangentWeights,
    out: &mut LocalStateTangent,
) {
    let rate_count = element.facts().rate_count;
    let by_states = |internal_states: &[f64]| values(element, &Motion { internal_states, ..*at }, rate_count);
    for j in 0..at.internal_states.len() {
        let slope = slope_by::<MAX_STATES>(at.internal_states, j, by_states);
        out.force_by_state[j] = slope.wrenches;
        (0..rate_count).for_each(|i| out.rate_by_state[i][j] = slope.rates[i]);
    }
    let by_multipliers = |multipliers: &[f64]| values(element, &Motion { multipliers, ..*at }, rate_count);
    for j in 0..at.multipliers.len() {
        let slope = slope_by::<MAX_MULTIPLIERS>(at.multipliers, j, by_multipliers);
        out.force_by_multiplier[j] = slope.wrenches;
        (0..rate_count).for_each(|i| out.rate_by_multiplier[i][j] = slope.rates[i]);
    }
    if rate_count > 0 {
        difference_rates(element, at, rate_count, weights, out);
    }
}

/// Derivatives of rates by the motion of nodes.
fn difference_rates(
    element: &dyn Element,
    at: &Motion,
    rate_count: usize,
    weights: TangentWeights,
    out: &mut LocalStateTangent,
) {
    let n = at.nodes.len();
    let Some(mut nodes) = copied(at.nodes) else { return };
    let rates = |nodes: &[NodeMotion]| {
        let mut rates = [0.0; MAX_STATES];
        let mut asked = Forces { rates: Some(&mut rates[..rate_count]), ..Forces::default() };
        element.evaluate(&Motion { nodes: &nodes[..n], ..*at }, &mut asked);
        rates
    };
    for j in 0..n {
        for k in 0..6 {
            let original = nodes[j];
            let step = STEP * original.velocity[k].abs().max(1.0);
            let [forth, back] = [step, -step].map(|step| {
                nodes[j].velocity[k] = original.velocity[k] + step;
                rates(&nodes)
            });
            nodes[j] = original;
            (0..rate_count).for_each(|i| out.rate_by_velocity[i][j][k] = (forth[i] - back[i]) / (2.0 * step));
            if !weights.stiffness {
                continue;
            }
            let [forth, back] = [STEP, -STEP].map(|step| {
                nodes[j] = original;
                shift_pose(&mut nodes[j], k, step);
                rates(&nodes)
            });
            nodes[j] = original;
            (0..rate_count)
                .for_each(|i| out.rate_by_configuration[i][j][k] = (forth[i] - back[i]) / (2.0 * STEP));
        }
    }
}
