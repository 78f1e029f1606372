//! Nonholonomic equations of joints: values, reactions and derivatives.

use super::assembly::{LocalPart, Rows, reaction};
use super::{JointEntry, System};
use crate::dae::{Equations, Point, Tangent, TangentWeights};
use crate::kinematics::{
    LocalGradient, LocalTangent, MOST_NODES, MOST_ROWS, Motion, NodeMotion, STIFFNESS_ONLY,
};
use crate::lie::Vector6;
use crate::solve::block::{BlockId, BlockMatrix};

impl JointEntry {
    fn slip_rows<'a>(&'a self, motions: &'a [NodeMotion]) -> Rows<'a> {
        Rows { nodes: &self.nodes, motions, blocks: &self.slip_blocks, count: self.slips.len() }
    }

    /// κ = A V + b.
    pub(super) fn slip_values(&self, motion: &Motion) -> [f64; MOST_ROWS] {
        let mut gradient = LocalGradient::zeros();
        self.joint.slip_gradient(motion, &mut gradient);
        let (mut values, _) = self.joint.slip_targets(motion);
        for (value, row) in values.iter_mut().zip(&gradient.rows) {
            *value += row.iter().zip(motion.nodes).map(|(row, node)| row.dot(&node.velocity)).sum::<f64>();
        }
        values
    }

    /// Aᵀ ψ.
    pub(super) fn slip_wrenches(&self, motion: &Motion, at: &Point) -> [Vector6; MOST_NODES] {
        let mut gradient = LocalGradient::zeros();
        self.joint.slip_gradient(motion, &mut gradient);
        reaction(&gradient, &at.slip_multipliers[self.slips.clone()], motion.nodes.len())
    }
}

impl System {
    /// Does something with every joint that has nonholonomic equations.
    fn for_slips(&self, at: &Point, mut action: impl FnMut(&JointEntry, &Motion)) {
        for entry in self.joints_on(at).filter(|entry| !entry.slips.is_empty()) {
            self.with_motion(&entry.nodes, at, &entry.memory, |motion| action(entry, motion));
        }
    }

    /// κ, and Aᵀψ in the equations of motion.
    pub(super) fn evaluate_slips(&self, at: &Point, out: &mut Equations) {
        self.for_slips(at, |entry, motion| {
            let values = entry.slip_values(motion);
            out.slip[entry.slips.clone()].copy_from_slice(&values[..entry.slips.len()]);
            let wrenches = entry.slip_wrenches(motion, at);
            self.add_forces(&entry.nodes, motion.nodes, &wrenches, out.equilibrium);
        });
    }

    /// A = ∂κ/∂v.
    pub(super) fn write_slip_gradients(&self, at: &Point, out: &mut BlockMatrix) {
        self.for_slips(at, |entry, motion| {
            let mut gradient = LocalGradient::zeros();
            entry.joint.slip_gradient(motion, &mut gradient);
            self.write_rows(&entry.slip_rows(motion.nodes), &gradient, out);
        });
    }

    /// dκ/dt − A v̇.
    pub(super) fn write_slip_curvatures(&self, at: &Point, out: &mut [f64]) {
        self.for_slips(at, |entry, motion| {
            let (mut rate_gradient, mut gradient) = (LocalGradient::zeros(), LocalGradient::zeros());
            entry.joint.slip_rate_gradient(motion, &mut rate_gradient);
            entry.joint.slip_gradient(motion, &mut gradient);
            let (_, target_rates) = entry.joint.slip_targets(motion);
            for (r, out) in out[entry.slips.clone()].iter_mut().enumerate() {
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
    pub(super) fn add_slip_tangents(
        &self,
        at: &Point,
        weights: TangentWeights,
        places: Option<&[BlockId]>,
        tangent: &mut LocalTangent,
        out: &mut Tangent,
    ) {
        self.for_slips(at, |entry, motion| {
            let nodes = &entry.nodes[..];
            let rows = entry.slip_rows(motion.nodes);
            let mut gradient = LocalGradient::zeros();
            entry.joint.slip_gradient(motion, &mut gradient);
            self.write_rows(&rows, &gradient, &mut out.slip);
            if !weights.stiffness {
                return;
            }
            let multipliers = &at.slip_multipliers[entry.slips.clone()];
            tangent.reset(nodes.len());
            entry.joint.add_slip_reaction_stiffness(motion, multipliers, tangent);
            let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
            let reaction = || reaction(&gradient, multipliers, nodes.len());
            self.add_tangent(&part, tangent, reaction, STIFFNESS_ONLY, out);
            let mut rate = LocalGradient::zeros();
            entry.joint.slip_rate_gradient(motion, &mut rate);
            self.add_rate_gradient(&rows, [&gradient, &rate], &mut out.slip_stiffness);
        });
    }
}
