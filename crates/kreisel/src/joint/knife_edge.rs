//! A blade that glides along itself and not sideways: skate, sleigh, a wheel whose turning does not matter.
//!
//! The blade's frame is the second one, with x along the blade and y across; the surface is that of the
//! first. With the displacement d and rotation R of the second frame in axes of the first, κ = (R e_y)·ḋ = 0.
//! Nothing keeps the blade on a surface: that is left to other joints.

use super::Joint;
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{FramePair, LocalGradient, LocalTangent, Motion, NodeId, Relative, pair_between};
use crate::lie::{Matrix3, Pose, Vector3, skew};

/// A blade on a surface.
#[derive(Clone, Debug)]
pub struct KnifeEdge {
    nodes: Vec<NodeId>,
    pair: FramePair,
}

impl KnifeEdge {
    /// A blade between the surface's frame and its own; `None` is the ground.
    pub fn new(nodes: [Option<NodeId>; 2], offsets: [Pose; 2]) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair }
    }

    /// Gradient of κ = b·(d × Ω₁ − U₁) + e_y·U₂ with b = R e_y.
    fn row(relative: &Relative) -> PairVector {
        let across: Vector3 = relative.rotation.column(1).into();
        let mut row = PairVector::zeros();
        row.fixed_rows_mut::<3>(0).copy_from(&across.cross(&relative.displacement));
        row.fixed_rows_mut::<3>(3).copy_from(&-across);
        row[10] = 1.0;
        row
    }

    /// Derivative of the gradient, by δb = b̃ δΘ₁ − R ẽ_y δΘ₂ and δd = d̃ δΘ₁ − δX₁ + R δX₂.
    fn matrix(relative: &Relative) -> PairMatrix {
        let across: Vector3 = relative.rotation.column(1).into();
        let (across_skew, displacement_skew) = (skew(&across), skew(&relative.displacement));
        let by_second = -relative.rotation * skew(&Vector3::y());
        let mut matrix = PairMatrix::zeros();
        let mut set = |row: usize, column: usize, part: Matrix3| {
            matrix.fixed_view_mut::<3, 3>(row, column).copy_from(&part);
        };
        set(0, 0, across_skew * displacement_skew - displacement_skew * across_skew);
        set(0, 3, -across_skew);
        set(0, 6, -displacement_skew * by_second);
        set(0, 9, across_skew * relative.rotation);
        set(3, 0, -across_skew);
        set(3, 6, -by_second);
        matrix
    }
}

impl Joint for KnifeEdge {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn size(&self) -> usize {
        0
    }

    fn violation(&self, _: &Motion, _: &mut [f64]) {}

    fn gradient(&self, _: &Motion, _: &mut LocalGradient) {}

    fn add_reaction_stiffness(&self, _: &Motion, _: &[f64], _: &mut LocalTangent) {}

    fn rate_gradient(&self, _: &Motion, _: &mut LocalGradient) {}

    fn nonholonomic_count(&self) -> usize {
        1
    }

    fn nonholonomic_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        self.pair.add_to_nodes(1.0, &Self::row(&self.pair.relative(at)), &mut out.rows[0]);
    }

    fn add_nonholonomic_reaction_stiffness(&self, at: &Motion, multipliers: &[f64], out: &mut LocalTangent) {
        self.pair.add_to_blocks(&(multipliers[0] * Self::matrix(&self.pair.relative(at))), out);
    }

    fn nonholonomic_rate_gradient(&self, at: &Motion, out: &mut LocalGradient) {
        let relative = self.pair.relative(at);
        let row = Self::matrix(&relative).tr_mul(&relative.twist());
        self.pair.add_to_nodes(1.0, &row, &mut out.rows[0]);
    }

    fn reaction_frame(&self) -> (Option<usize>, Pose) {
        (self.pair.nodes[1], self.pair.frames[1].offset)
    }
}
