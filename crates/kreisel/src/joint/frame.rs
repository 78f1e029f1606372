//! Two frames on two nodes, and how one moves relative to the other.
//!
//! With the frames' poses (R₁, x₁) and (R₂, x₂) in the world the relative displacement and rotation, in axes of the
//! first frame, are
//!
//! ```text
//! d = R₁ᵀ(x₂ − x₁),   R = R₁ᵀR₂
//! ```
//!
//! and with the twists (Ω₁, U₁), (Ω₂, U₂) of the frames in their own axes
//!
//! ```text
//! δd = d̃ δΘ₁ − δX₁ + R δX₂,   δR = −δΘ̃₁ R + R δΘ̃₂.
//! ```

use nalgebra::{SMatrix, SVector};

use crate::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6, skew};
use crate::system::{NodeMotion, split};

/// One number per component of the two frames' twists: (Θ₁, X₁, Θ₂, X₂).
pub type PairVector = SVector<f64, 12>;
/// A matrix over the components of the two frames' twists.
pub type PairMatrix = SMatrix<f64, 12, 12>;

/// A frame fixed to a node.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Pose of the frame in the node's body axes.
    pub offset: Pose,
    /// Twist of the frame in its own axes from the twist of the body.
    pub twist_from_body: Matrix6,
}

impl Frame {
    /// A frame at a pose given in body axes.
    pub fn new(offset: Pose) -> Self {
        let transposed = offset.rotation.to_rotation_matrix().into_inner().transpose();
        let mut twist_from_body = Matrix6::zeros();
        twist_from_body.fixed_view_mut::<3, 3>(0, 0).copy_from(&transposed);
        twist_from_body.fixed_view_mut::<3, 3>(3, 3).copy_from(&transposed);
        twist_from_body.fixed_view_mut::<3, 3>(3, 0).copy_from(&(-transposed * skew(&offset.position)));
        Self { offset, twist_from_body }
    }

    /// Pose of the frame in the world.
    pub fn pose(&self, node: &NodeMotion) -> Pose {
        node.pose.compose(&self.offset)
    }
}

/// Motion of a second frame relative to a first.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    /// d: displacement in axes of the first frame.
    pub displacement: Vector3,
    /// R: rotation, first frame from second.
    pub rotation: Matrix3,
    /// Twist of the first frame in its own axes.
    pub first_twist: Vector6,
    /// Twist of the second frame in its own axes.
    pub second_twist: Vector6,
}

impl Relative {
    /// The relative motion of two frames on two nodes.
    pub fn new(frames: &[Frame; 2], nodes: [&NodeMotion; 2]) -> Self {
        let (first, second) = (frames[0].pose(nodes[0]), frames[1].pose(nodes[1]));
        let first_rotation = first.rotation.to_rotation_matrix().into_inner();
        let second_rotation = second.rotation.to_rotation_matrix().into_inner();
        Self {
            displacement: first_rotation.tr_mul(&(second.position - first.position)),
            rotation: first_rotation.tr_mul(&second_rotation),
            first_twist: frames[0].twist_from_body * nodes[0].velocity,
            second_twist: frames[1].twist_from_body * nodes[1].velocity,
        }
    }

    /// Twists of both frames.
    pub fn twist(&self) -> PairVector {
        let mut twist = PairVector::zeros();
        twist.fixed_rows_mut::<6>(0).copy_from(&self.first_twist);
        twist.fixed_rows_mut::<6>(6).copy_from(&self.second_twist);
        twist
    }

    /// Rate of the displacement d: d × Ω₁ − U₁ + R U₂.
    pub fn displacement_rate(&self) -> Vector3 {
        let (omega, u) = split(&self.first_twist);
        let (_, second_u) = split(&self.second_twist);
        self.displacement.cross(&omega) - u + self.rotation * second_u
    }

    /// Angular velocity of the second frame relative to the first, in axes of the first.
    pub fn angular_rate(&self) -> Vector3 {
        self.rotation * split(&self.second_twist).0 - split(&self.first_twist).0
    }

    /// Derivative of the component of d along axis `i`.
    pub fn translation_gradient(&self, i: usize) -> PairVector {
        let mut gradient = PairVector::zeros();
        let axis = Vector3::ith(i, 1.0);
        gradient.fixed_rows_mut::<3>(0).copy_from(&axis.cross(&self.displacement));
        gradient[3 + i] = -1.0;
        gradient.fixed_rows_mut::<3>(9).copy_from(&self.rotation.row(i).transpose());
        gradient
    }

    /// Adds the derivative of Σ w_i ∇d_i for weights w on the components of d.
    pub fn add_translation_hessian(&self, weights: &Vector3, out: &mut PairMatrix) {
        let weights_skew = skew(weights);
        let turned = self.rotation.tr_mul(weights);
        add(out, 0, 0, &(weights_skew * skew(&self.displacement)));
        add(out, 0, 3, &-weights_skew);
        add(out, 0, 9, &(weights_skew * self.rotation));
        add(out, 9, 0, &-self.rotation.tr_mul(&weights_skew));
        add(out, 9, 6, &skew(&turned));
    }

    /// Derivative of the entry R_ij: the cosine between axis `i` of the first and axis `j` of the second frame.
    pub fn direction_gradient(&self, i: usize, j: usize) -> PairVector {
        let mut gradient = PairVector::zeros();
        let column: Vector3 = self.rotation.column(j).into();
        let row: Vector3 = self.rotation.row(i).transpose();
        gradient.fixed_rows_mut::<3>(0).copy_from(&Vector3::ith(i, 1.0).cross(&column));
        gradient.fixed_rows_mut::<3>(6).copy_from(&Vector3::ith(j, 1.0).cross(&row));
        gradient
    }

    /// Adds `weight` times the derivative of ∇R_ij.
    pub fn add_direction_hessian(&self, i: usize, j: usize, weight: f64, out: &mut PairMatrix) {
        let (first, second) = (skew(&Vector3::ith(i, weight)), skew(&Vector3::ith(j, 1.0)));
        let column: Vector3 = self.rotation.column(j).into();
        let row: Vector3 = self.rotation.row(i).transpose();
        add(out, 0, 0, &(first * skew(&column)));
        add(out, 0, 6, &(-first * self.rotation * second));
        add(out, 6, 0, &(-second * self.rotation.transpose() * first));
        add(out, 6, 6, &(weight * second * skew(&row)));
    }
}

fn add(matrix: &mut PairMatrix, row: usize, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(row, column);
    view += part;
}
