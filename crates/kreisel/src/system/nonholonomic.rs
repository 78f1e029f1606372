//! Nonholonomic equations of joints: values, reactions and derivatives.

use super::assembly::{LocalPart, RateChange, RowBlocks, TangentParts, reaction};
use super::{System, SystemJoint};
use crate::dae::{Point, Residual, TangentWeights};
use crate::joint::RowValues;
use crate::kinematics::{
    LocalGradient, LocalTangent, MAX_NODES, MAX_ROWS, Motion, NodeMotion, STIFFNESS_ONLY,
};
use crate::lie::Vector6;
use crate::solve::block::{BlockId, BlockMatrix};

impl SystemJoint {
    fn nonholonomic_row_blocks<'a>(&'a self, motions: &'a [NodeMotion]) -> RowBlocks<'a> {
        RowBlocks {
            nodes: &self.nodes,
            motions,
            blocks: &self.nonholonomic_blocks,
            count: self.nonholonomic.len(),
            adds: false,
        }
    }

    /// A, b and ḃ of κ = A V + b.
    pub(super) fn nonholonomic_parts(&self, motion: &Motion) -> (LocalGradient, [[f64; MAX_ROWS]; 2]) {
        let (mut gradient, mut by_time) = (LocalGradient::zeros(), [[0.0; MAX_ROWS]; 2]);
        let (asked, times) = (Some(&mut gradient), Some(&mut by_time));
        let values = RowValues { gradient: asked, by_time: times, ..RowValues::default() };
        self.joint.ask_nonholonomic(motion, values);
        (gradient, by_time)
    }

    /// κ.
    pub(super) fn nonholonomic_values(&self, motion: &Motion) -> [f64; MAX_ROWS] {
        let (gradient, [mut values, _]) = self.nonholonomic_parts(motion);
        gradient.multiply_add(motion.nodes, &mut values);
        values
    }

    /// Aᵀ ψ.
    pub(super) fn nonholonomic_wrenches(&self, motion: &Motion, at: &Point) -> [Vector6; MAX_NODES] {
        let (gradient, _) = self.nonholonomic_parts(motion);
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
    pub(super) fn evaluate_nonholonomic(&self, at: &Point, out: &mut Residual) {
        self.for_nonholonomic(at, |entry, motion| {
            let (gradient, [targets, _]) = entry.nonholonomic_parts(motion);
            let values = &mut out.nonholonomic[entry.nonholonomic.clone()];
            values.copy_from_slice(&targets[..values.len()]);
            gradient.multiply_add(motion.nodes, values);
            let multipliers = &at.nonholonomic_multipliers[entry.nonholonomic.clone()];
            let wrenches = reaction(&gradient, multipliers, motion.nodes.len());
            self.add_forces(&entry.nodes, motion.nodes, &wrenches, out.equilibrium);
        });
    }

    /// A = ∂κ/∂v.
    pub(super) fn write_nonholonomic_gradients(&self, at: &Point, out: &mut BlockMatrix) {
        self.for_nonholonomic(at, |entry, motion| {
            let (gradient, _) = entry.nonholonomic_parts(motion);
            self.write_rows(&entry.nonholonomic_row_blocks(motion.nodes), &gradient, out);
        });
    }

    /// dκ/dt − A v̇.
    pub(super) fn write_nonholonomic_curvatures(&self, at: &Point, out: &mut [f64]) {
        self.for_nonholonomic(at, |entry, motion| {
            let change = RateChange::of(|values| entry.joint.ask_nonholonomic(motion, values));
            let out = &mut out[entry.nonholonomic.clone()];
            self.write_curvature(&change, &entry.nodes, motion, at, out);
        });
    }

    /// A, ∂(Aᵀψ)/∂q and ∂κ/∂q.
    pub(super) fn add_nonholonomic_tangents(
        &self,
        at: &Point,
        weights: TangentWeights,
        places: Option<&[BlockId]>,
        tangent: &mut LocalTangent,
        out: &mut TangentParts,
    ) {
        self.for_nonholonomic(at, |entry, motion| {
            let nodes = &entry.nodes[..];
            let multipliers = &at.nonholonomic_multipliers[entry.nonholonomic.clone()];
            let (mut gradient, mut rate) = (LocalGradient::zeros(), LocalGradient::zeros());
            let mut asked = RowValues { multipliers, gradient: Some(&mut gradient), ..RowValues::default() };
            if weights.stiffness {
                tangent.reset(nodes.len());
                asked.stiffness = Some(&mut *tangent);
                asked.rate_gradient = Some(&mut rate);
            }
            entry.joint.ask_nonholonomic(motion, asked);
            let rows = entry.nonholonomic_row_blocks(motion.nodes);
            self.write_rows(&rows, &gradient, out.nonholonomic);
            if weights.stiffness {
                let part = LocalPart { nodes, motions: motion.nodes, blocks: &entry.blocks, places };
                let reaction = || reaction(&gradient, multipliers, nodes.len());
                self.add_tangent(&part, tangent, reaction, STIFFNESS_ONLY, &mut out.forces);
                self.add_rate_gradient(&rows, [&gradient, &rate], out.nonholonomic_stiffness);
            }
        });
    }
}
