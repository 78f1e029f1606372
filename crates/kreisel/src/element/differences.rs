//! Derivatives of elements that give none, by central differences.

use super::Element;
use crate::dae::TangentWeights;
use crate::kinematics::{LocalForces, LocalTangent, MAX_NODES, Motion, NodeMotion, shift_pose};
use crate::lie::{Matrix6, Vector6};

/// Step of the central differences, as in the differences of a whole system.
const STEP: f64 = 6e-6;

/// Derivatives by central differences, for elements that give none.
pub(super) fn difference_tangent<E: Element + ?Sized>(
    element: &E,
    at: &Motion,
    weights: TangentWeights,
    out: &mut LocalTangent,
) {
    let n = at.nodes.len();
    let mut nodes: [NodeMotion; MAX_NODES] = std::array::from_fn(|i| at.nodes[i.min(n.saturating_sub(1))]);
    let residual = |nodes: &[NodeMotion]| {
        let mut forces = LocalForces::zeros();
        element.residual(&Motion { nodes: &nodes[..n], ..*at }, &mut forces);
        forces
    };
    for j in 0..n {
        for k in 0..6 {
            let mut column =
                |step: f64,
                 shift: &dyn Fn(&mut NodeMotion, f64),
                 which: fn(&mut LocalTangent, usize, usize) -> &mut Matrix6| {
                    let original = nodes[j];
                    shift(&mut nodes[j], step);
                    let forth = residual(&nodes);
                    nodes[j] = original;
                    shift(&mut nodes[j], -step);
                    let back = residual(&nodes);
                    nodes[j] = original;
                    for i in 0..n {
                        let slope = (forth.wrenches[i] - back.wrenches[i]) / (2.0 * step);
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
pub(super) fn difference_load_stiffness<E: Element + ?Sized>(
    element: &E,
    at: &Motion,
    out: &mut LocalTangent,
) {
    let n = at.nodes.len();
    let mut nodes: [NodeMotion; MAX_NODES] = std::array::from_fn(|i| at.nodes[i.min(n.saturating_sub(1))]);
    let load = |nodes: &[NodeMotion]| {
        let mut forces = LocalForces::zeros();
        element.load(&Motion { nodes: &nodes[..n], ..*at }, &mut forces);
        forces
    };
    if load(&nodes).wrenches[..n].iter().all(|wrench| *wrench == Vector6::zeros()) {
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
                let slope = (forth.wrenches[i] - back.wrenches[i]) / (2.0 * STEP);
                let mut target = out.stiffness(i, j).column_mut(k);
                target += slope;
            }
        }
    }
}
