//! A blade that glides along itself and not sideways: skate, sleigh, a wheel whose turning does not matter.
//!
//! The blade's frame is the second one, with x along the blade and y across; the surface is that of the
//! first. With the displacement d and rotation R of the second frame in axes of the first, κ = (R e_y)·ḋ = 0.
//! Nothing keeps the blade on a surface: that is left to other joints.

use super::{Joint, JointFacts, Rows};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{FramePair, Motion, NodeId, Relative, pair_between};
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
    fn facts(&self) -> JointFacts<'_> {
        JointFacts {
            nonholonomic_rows: 1,
            reaction_frame: self.pair.second_frame(),
            ..JointFacts::new(&self.nodes, 0)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let relative = self.pair.relative(at);
        if let Some(gradient) = out.nonholonomic.gradient.take() {
            self.pair.add_to_nodes(1.0, &Self::row(&relative), &mut gradient.rows[0]);
        }
        if let Some(stiffness) = out.nonholonomic.stiffness.take() {
            let matrix = out.nonholonomic.multipliers[0] * Self::matrix(&relative);
            self.pair.add_to_blocks(&matrix, stiffness);
        }
        if let Some(rate_gradient) = out.nonholonomic.rate_gradient.take() {
            let row = Self::matrix(&relative).tr_mul(&relative.twist());
            self.pair.add_to_nodes(1.0, &row, &mut rate_gradient.rows[0]);
        }
    }
}
