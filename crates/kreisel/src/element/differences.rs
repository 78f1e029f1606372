//! Derivatives of elements that give none, by central differences.

use super::{Element, Forces};
use crate::dae::TangentWeights;
use crate::kinematics::{LocalTangent, MAX_NODES, Motion, NodeMotion, shift_pose};
use crate::lie::{Matrix6, Vector6};

/// Step of the central differences, as in the differences of a whole system.
const STEP: f64 = 6e-6;

/// Motions to be changed, with the last one again behind them; nothing without nodes.
pub(super) fn copied(nodes: &[NodeMotion]) -> Option<[NodeMotion; MAX_NODES]> {
    let last = nodes.last()?;
    Some(std::array::from_fn(|i| *nodes.get(i).unwrap_or(last)))
}

/// Derivatives by central differences, for elements that give none.
pub(super) fn difference_tangent(
    element: &dyn Element,
    at: &Motion,
    weights: TangentWeights,
    out: &mut LocalTangent,
) {
    let n = at.nodes.len();
    let Some(mut nodes) = copied(at.nodes) else { return };
    let wrenches = |nodes: &[NodeMotion]| {
        let mut wrenches = [Vector6::zeros(); MAX_NODES];
        let mut asked = Forces { wrenches: Some(&mut wrenches[..n]), ..Forces::default() };
        element.evaluate(&Motion { nodes: &nodes[..n], ..*at }, &mut asked);
        wrenches
    };
    for j in 0..n {
        for k in 0..6 {
            let mut column =
                |step: f64,
                 shift: &dyn Fn(&mut NodeMotion, f64),
                 which: fn(&mut LocalTangent, usize, usize) -> &mut Matrix6| {
                    let original = nodes[j];
                    shift(&mut nodes[j], step);
                    let forth = wrenches(&nodes);
                    nodes[j] = original;
                    shift(&mut nodes[j], -step);
                    let back = wrenches(&nodes);
                    nodes[j] = original;
                    for i in 0..n {
                        let slope = (forth[i] - back[i]) / (2.0 * step);
                        let mut target = which(out, i, j).column_mut(k);
                        target += slope;
                    }
                };
            if weights.mass != 0.0 {
                column(1.0, &|node, d| node.acceleration[k] += d, LocalTangent::mass);
            }
            let speed = STEP * at.nodes[j].velocity[k].abs().max(1.0);
            column(speed, &|node, d| node.velocity[k] += d, LocalTangent::damping);
            if weights.stiffness {
                column(STEP, &|node, d| shift_pose(node, k, d), LocalTangent::stiffness);
            }
        }
    }
}

/// Derivative of the loads by central differences.
pub(super) fn difference_load_stiffness(element: &dyn Element, at: &Motion, out: &mut LocalTangent) {
    let n = at.nodes.len();
    let Some(mut nodes) = copied(at.nodes) else { return };
    let load = |nodes: &[NodeMotion]| {
        let mut load = [Vector6::zeros(); MAX_NODES];
        let mut asked = Forces { load: Some(&mut load[..n]), ..Forces::default() };
        element.evaluate(&Motion { nodes: &nodes[..n], ..*at }, &mut asked);
        load
    };
    if load(&nodes)[..n].iter().all(|wrench| *wrench == Vector6::zeros()) {
        return;
    }
    for j in 0..n {
        for k in 0..6 {
            let original = nodes[j];
            let [forth, back] = [STEP, -STEP].map(|step| {
                nodes[j] = original;
                shift_pose(&mut nodes[j], k, step);
                load(&nodes)
            });
            nodes[j] = original;
            for i in 0..n {
                let slope = (forth[i] - back[i]) / (2.0 * STEP);
                let mut target = out.stiffness(i, j).column_mut(k);
                target += slope;
            }
        }
    }
}
