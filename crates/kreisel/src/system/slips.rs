//! Nonholonomic equations κ = A V + b of joints, as rows and blocks of the system.

use super::assembly::LocalPart;
use super::{JointEntry, System};
use crate::dae::{Equations, Point, Tangent, TangentWeights};
use crate::element::{LocalTangent, MOST_NODES, Motion};
use crate::joint::{LocalGradient, MOST_ROWS};
use crate::lie::Vector6;
use crate::solve::block::BlockMatrix;

impl JointEntry {
    fn slip_gradient(&self, motion: &Motion) -> LocalGradient {
        let mut gradient = LocalGradient::zeros();
        self.joint.slip_gradient(motion, &mut gradient);
        gradient
    }

    /// κ of each equation.
    fn slips_at(&self, motion: &Motion, gradient: &LocalGradient) -> [f64; MOST_ROWS] {
        let (mut values, _) = self.joint.slip_targets(motion);
        for (value, row) in values.iter_mut().zip(&gradient.rows) {
            *value += row.iter().zip(motion.nodes).map(|(row, node)| row.dot(&node.velocity)).sum::<f64>();
        }
        values
    }

    /// Aᵀψ as wrenches on the joint's nodes.
    pub(super) fn slip_wrenches(
        &self,
        gradient: &LocalGradient,
        multipliers: &[f64],
    ) -> [Vector6; MOST_NODES] {
        let mut wrenches = [Vector6::zeros(); MOST_NODES];
        for (row, psi) in gradient.rows.iter().zip(multipliers) {
            wrenches.iter_mut().zip(row).for_each(|(wrench, row)| *wrench += *psi * row);
        }
        wrenches
    }

    /// Aᵀψ at a motion; zero without nonholonomic equations.
    pub(super) fn slip_reaction(&self, motion: &Motion, at: &Point) -> [Vector6; MOST_NODES] {
        if self.slips.is_empty() {
            return [Vector6::zeros(); MOST_NODES];
        }
        self.slip_wrenches(&self.slip_gradient(motion), &at.slip_multipliers[self.slips.clone()])
    }
}

impl System {
    fn with_slips(&self, at: &Point, mut action: impl FnMut(&JointEntry, &Motion)) {
        for entry in self.joints.iter().filter(|entry| !entry.slips.is_empty()) {
            self.with_motion(entry.joint.nodes(), at, &entry.memory, |motion| action(entry, motion));
        }
    }

    /// Writes κ and adds Aᵀψ.
    pub(super) fn evaluate_slips(&self, at: &Point, out: &mut Equations) {
        self.with_slips(at, |entry, motion| {
            let gradient = entry.slip_gradient(motion);
            let slips = entry.slips_at(motion, &gradient);
            out.slip[entry.slips.clone()].copy_from_slice(&slips[..entry.slips.len()]);
            let wrenches = entry.slip_wrenches(&gradient, &at.slip_multipliers[entry.slips.clone()]);
            self.add_forces(entry.joint.nodes(), motion.nodes, &wrenches, out.equilibrium);
        });
    }

    /// Adds A in the coordinates of the nodes.
    pub(super) fn add_slip_gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.with_slips(at, |entry, motion| {
            let (gradient, rows) = (entry.slip_gradient(motion), entry.slips.len());
            self.write_rows(entry.joint.nodes(), &entry.slip_blocks, rows, motion.nodes, &gradient, out);
        });
    }

    /// dκ/dt − A v̇.
    pub(super) fn write_slip_curvature(&self, at: &Point, out: &mut [f64]) {
        self.with_slips(at, |entry, motion| {
            let gradient = entry.slip_gradient(motion);
            let mut rate_gradient = LocalGradient::zeros();
            entry.joint.slip_rate_gradient(motion, &mut rate_gradient);
            let (_, target_rates) = entry.joint.slip_targets(motion);
            for (r, out) in out[entry.slips.clone()].iter_mut().enumerate() {
                *out = target_rates[r];
                for (n, &node) in entry.joint.nodes().iter().enumerate() {
                    *out += rate_gradient.rows[r][n].dot(&motion.nodes[n].velocity);
                    // V̇ at v̇ = 0 is not zero where twists depend on the rotation.
                    *out += gradient.rows[r][n].dot(&self.twist_rate_at_rest(node, at));
                }
            }
        });
    }

    /// Adds A and, if wanted, ∂(Aᵀψ)/∂q and ∂κ/∂q.
    pub(super) fn add_slip_tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        self.with_slips(at, |entry, motion| {
            let (nodes, rows) = (entry.joint.nodes(), entry.slips.len());
            let gradient = entry.slip_gradient(motion);
            self.write_rows(nodes, &entry.slip_blocks, rows, motion.nodes, &gradient, &mut out.slip);
            if !weights.stiffness {
                return;
            }
            let multipliers = &at.slip_multipliers[entry.slips.clone()];
            let mut tangent = LocalTangent::zeros(nodes.len());
            entry.joint.add_slip_reaction_stiffness(motion, multipliers, &mut tangent);
            let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks };
            self.add_stiffness(&part, &tangent, || entry.slip_wrenches(&gradient, multipliers), out);
            let mut rate = LocalGradient::zeros();
            entry.joint.slip_rate_gradient(motion, &mut rate);
            let blocks = &entry.slip_blocks;
            let gradients = [&gradient, &rate];
            self.add_rate_rows(nodes, blocks, rows, motion.nodes, gradients, &mut out.slip_stiffness);
        });
    }

    /// Σ κ² over all joints.
    pub(super) fn slip_square(&self, at: &Point) -> f64 {
        let mut sum = 0.0;
        self.with_slips(at, |entry, motion| {
            let slips = entry.slips_at(motion, &entry.slip_gradient(motion));
            sum += slips[..entry.slips.len()].iter().map(|slip| slip * slip).sum::<f64>();
        });
        sum
    }

    /// Power of laws of time in nonholonomic equations: −Aᵀψ does −ψᵀA V = ψᵀb.
    pub(super) fn slip_power(&self, at: &Point) -> f64 {
        let mut sum = 0.0;
        self.with_slips(at, |entry, motion| {
            let (targets, _) = entry.joint.slip_targets(motion);
            let multipliers = &at.slip_multipliers[entry.slips.clone()];
            sum += multipliers.iter().zip(targets).map(|(psi, target)| psi * target).sum::<f64>();
        });
        sum
    }

    pub(super) fn describe_slip(&self, index: usize) -> String {
        match self.joints.iter().find(|entry| entry.slips.contains(&index)) {
            Some(entry) => {
                let (row, count) = (index - entry.slips.start + 1, entry.slips.len());
                format!("joint `{}` (equation {row} of {count} on velocities)", entry.name)
            }
            None => format!("nonholonomic constraint {index}"),
        }
    }
}
