//! Nonholonomic equations of joints: values, reactions and derivatives.

use super::assembly::{LocalPart, Rows, reaction};
use super::{System, SystemJoint};
use crate::dae::{Equations, Point, Tangent, TangentWeights};
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeMotion, STIFFNESS_ONLY,
};
use crate::lie::Vector6;
use crate::solve::block::{BlockId, BlockMatrix};

impl SystemJoint {
    fn nonholonomic_rows<'a>(&'a self, motions: &'a [NodeMotion]) -> Rows<'a> {
        Rows {
            nodes: &self.nodes,
            motions,
            blocks: &self.nonholonomic_blocks,
            count: self.nonholonomic.len(),
        }
    }

    /// κ = A V + b.
    pub(super) fn nonholonomic_values(&self, motion: &Motion) -> [f64; MAX_ROWS] {
        let mut gradient = LocalGradient::zeros();
        self.joint.nonholonomic_gradient(motion, &mut gradient);
        let (mut values, _) = self.joint.nonholonomic_targets(motion);
        for (value, row) in values.iter_mut().zip(&gradient.rows) {
            *value += row.iter().zip(motion.nodes).map(|(row, node)| row.dot(&node.velocity)).sum::<f64>();
        }
        values
    }

    /// Aᵀ ψ.
    pub(super) fn nonholonomic_wrenches(&self, motion: &Motion, at: &Point) -> [Vector6; MAX_NODES] {
        let mut gradient = LocalGradient::zeros();
        self.joint.nonholonomic_gradient(motion, &mut gradient);
        reaction(&gradient, &at.nonholonomic_multipliers[self.nonholonomic.clone()], motion.nodes.len())
    }
}

impl System {
    /// Does something with every joint that has nonholonomic equations.
    fn for_nonholonomic(&self, at: &Point, mut action: impl FnMut(&SystemJoint, &Motion)) {
        for entry in self.active_joints(at).filter(|entry| !entry.nonholonomic.is_empty()) {
            self.with_motion(&entry.nodes, at, &entry.memory, |motion| action(entry, motion));
        }
    }

    /// κ, and Aᵀψ in the equations of motion.
    pub(super) fn evaluate_nonholonomic(&self, at: &Point, out: &mut Equations) {
        self.for_nonholonomic(at, |entry, motion| {
            let values = entry.nonholonomic_values(motion);
            out.nonholonomic[entry.nonholonomic.clone()].copy_from_slice(&values[..entry.nonholonomic.len()]);
            let wrenches = entry.nonholonomic_wrenches(motion, at);
            self.add_forces(&entry.nodes, motion.nodes, &wrenches, out.equilibrium);
        });
    }

    /// A = ∂κ/∂v.
    pub(super) fn write_nonholonomic_gradients(&self, at: &Point, out: &mut BlockMatrix) {
        self.for_nonholonomic(at, |entry, motion| {
            let mut gradient = LocalGradient::zeros();
            entry.joint.nonholonomic_gradient(motion, &mut gradient);
            self.write_rows(&entry.nonholonomic_rows(motion.nodes), &gradient, out);
        });
    }

    /// dκ/dt − A v̇.
    pub(super) fn write_nonholonomic_curvatures(&self, at: &Point, out: &mut [f64]) {
        self.for_nonholonomic(at, |entry, motion| {
            let (mut rate_gradient, mut gradient) = (LocalGradient::zeros(), LocalGradient::zeros());
            entry.joint.nonholonomic_rate_gradient(motion, &mut rate_gradient);
            entry.joint.nonholonomic_gradient(motion, &mut gradient);
            let (_, target_rates) = entry.joint.nonholonomic_targets(motion);
            for (r, out) in out[entry.nonholonomic.clone()].iter_mut().enumerate() {
                *out = target_rates[r];
                for (n, &node) in entry.nodes.iter().enumerate() {
                    *out += rate_gradient.rows[r][n].dot(&motion.nodes[n].velocity);
                    // V̇ at v̇ = 0 is not zero where twists depend on the rotation.
                    *out += gradient.rows[r][n].dot(&self.twist_rate_at_rest(node, at));
                }
            }
        });
    }

    /// A, ∂(Aᵀψ)/∂q and ∂κ/∂q.
    pub(super) fn add_nonholonomic_tangents(
        &self,
        at: &Point,
        weights: TangentWeights,
        places: Option<&[BlockId]>,
        tangent: &mut LocalTangent,
        out: &mut Tangent,
    ) {
        self.for_nonholonomic(at, |entry, motion| {
            let nodes = &entry.nodes[..];
            let rows = entry.nonholonomic_rows(motion.nodes);
            let mut gradient = LocalGradient::zeros();
            entry.joint.nonholonomic_gradient(motion, &mut gradient);
            self.write_rows(&rows, &gradient, &mut out.nonholonomic);
            if !weights.stiffness {
                return;
            }
            let multipliers = &at.nonholonomic_multipliers[entry.nonholonomic.clone()];
            tangent.reset(nodes.len());
            entry.joint.add_nonholonomic_reaction_stiffness(motion, multipliers, tangent);
            let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
            let reaction = || reaction(&gradient, multipliers, nodes.len());
            self.add_tangent(&part, tangent, reaction, STIFFNESS_ONLY, out);
            let mut rate = LocalGradient::zeros();
            entry.joint.nonholonomic_rate_gradient(motion, &mut rate);
            self.add_rate_gradient(&rows, [&gradient, &rate], &mut out.nonholonomic_stiffness);
        });
    }
}
