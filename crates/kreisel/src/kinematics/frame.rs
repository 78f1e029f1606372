//! Two frames on two nodes, and how one moves relative to the other.
//!
//! With the frames' poses (R₁, x₁) and (R₂, x₂) in the world the relative displacement and rotation, in axes
//! of the first frame, are
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

use super::{NodeMotion, join, split};
use crate::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6, skew};

/// One number per component of the two frames' twists: (Θ₁, X₁, Θ₂, X₂).
pub type PairVector = SVector<f64, 12>;
/// A matrix over the components of the two frames' twists.
pub type PairMatrix = SMatrix<f64, 12, 12>;

/// A frame fixed to a node.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Pose of the frame in the node's body axes.
    pub offset: Pose,
    /// Body from frame; products with it are left out where the frame is not turned.
    rotation: Option<Matrix3>,
}

impl Frame {
    /// A frame at a pose given in body axes.
    pub fn new(offset: Pose) -> Self {
        let rotation = offset.rotation.to_rotation_matrix().into_inner();
        let turned = rotation != Matrix3::identity();
        Self { offset, rotation: turned.then_some(rotation) }
    }

    /// Pose of the frame in the world.
    pub fn pose(&self, node: &NodeMotion) -> Pose {
        node.pose.compose(&self.offset)
    }

    /// One of the frame's axes in body axes.
    #[inline]
    pub fn axis(&self, index: usize) -> Vector3 {
        match &self.rotation {
            Some(rotation) => rotation.column(index).into(),
            None => Vector3::ith(index, 1.0),
        }
    }

    /// Position of the frame's origin in the world, and its rotation: world from frame.
    #[inline]
    fn placed(&self, node: &NodeMotion) -> (Vector3, Matrix3) {
        let rotation = self.rotation.map_or(node.rotation, |rotation| node.rotation * rotation);
        (node.pose.position + node.rotation * self.offset.position, rotation)
    }

    /// Twist of the frame in its own axes.
    #[inline]
    fn twist(&self, body_twist: &Vector6) -> Vector6 {
        let (omega, u) = split(body_twist);
        let u = u + omega.cross(&self.offset.position);
        match &self.rotation {
            Some(rotation) => join(&rotation.tr_mul(&omega), &rotation.tr_mul(&u)),
            None => join(&omega, &u),
        }
    }

    /// The same wrench about the body's origin in body axes, given in the frame's axes.
    #[inline]
    pub fn to_body(&self, torque: Vector3, force: Vector3) -> Vector6 {
        let (torque, force) = match &self.rotation {
            Some(rotation) => (rotation * torque, rotation * force),
            None => (torque, force),
        };
        join(&(torque + self.offset.position.cross(&force)), &force)
    }

    /// A matrix over the frame's twists becomes one over the body's, with zero parts left out.
    ///
    /// With Q = Rᵀ and the arm p of a frame its twist is (Q Ω, Q (U − p̃ Ω)), which gives for the parts A, B,
    /// C, D of the matrix, turned to body axes: A − B p̃_c + p̃_r (C − D p̃_c), B + p̃_r D, C − D p̃_c, D.
    #[inline]
    pub fn to_bodies(row: &Frame, column: &Frame, matrix: &Matrix6) -> Matrix6 {
        let turned = |first_row: usize, first_column: usize| {
            let mut part: Matrix3 = matrix.fixed_view::<3, 3>(first_row, first_column).into();
            if part == Matrix3::zeros() {
                return None;
            }
            if let Some(rotation) = &row.rotation {
                part = rotation * part;
            }
            if let Some(rotation) = &column.rotation {
                part *= rotation.transpose();
            }
            Some(part)
        };
        let (row_arm, column_arm) = (skew(&row.offset.position), skew(&column.offset.position));
        let mut out = Matrix6::zeros();
        let mut add_part = |i: usize, j: usize, part: &Matrix3| {
            let mut view = out.fixed_view_mut::<3, 3>(i, j);
            view += part;
        };
        if let Some(a) = turned(0, 0) {
            add_part(0, 0, &a);
        }
        if let Some(b) = turned(0, 3) {
            add_part(0, 3, &b);
            add_part(0, 0, &(-b * column_arm));
        }
        if let Some(c) = turned(3, 0) {
            add_part(3, 0, &c);
            add_part(0, 0, &(row_arm * c));
        }
        if let Some(d) = turned(3, 3) {
            let with_arm = d * column_arm;
            add_part(3, 3, &d);
            add_part(3, 0, &-with_arm);
            add_part(0, 3, &(row_arm * d));
            add_part(0, 0, &(-row_arm * with_arm));
        }
        out
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
        Self::from_placed(
            [frames[0].placed(nodes[0]), frames[1].placed(nodes[1])],
            [frames[0].twist(&nodes[0].velocity), frames[1].twist(&nodes[1].velocity)],
        )
    }

    /// The relative motion of two frames of which either may stand on the ground (`None`).
    #[inline]
    pub fn between(frames: &[Frame; 2], nodes: [Option<&NodeMotion>; 2]) -> Self {
        let placed = |side: usize| match nodes[side] {
            Some(node) => (frames[side].placed(node), frames[side].twist(&node.velocity)),
            None => {
                let frame = &frames[side];
                let rotation = frame.rotation.unwrap_or_else(Matrix3::identity);
                ((frame.offset.position, rotation), Vector6::zeros())
            }
        };
        let ((first, first_twist), (second, second_twist)) = (placed(0), placed(1));
        Self::from_placed([first, second], [first_twist, second_twist])
    }

    #[inline]
    fn from_placed(
        [first, second]: [(Vector3, Matrix3); 2],
        [first_twist, second_twist]: [Vector6; 2],
    ) -> Self {
        Self {
            displacement: first.1.tr_mul(&(second.0 - first.0)),
            rotation: first.1.tr_mul(&second.1),
            first_twist,
            second_twist,
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
    #[inline]
    pub fn translation_gradient(&self, i: usize) -> PairVector {
        let mut gradient = PairVector::zeros();
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        // e_i × d.
        gradient[j] = -self.displacement[k];
        gradient[k] = self.displacement[j];
        gradient[3 + i] = -1.0;
        for axis in 0..3 {
            gradient[9 + axis] = self.rotation[(i, axis)];
        }
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

    /// Derivative of the entry R_ij: the cosine between axis `i` of the first and axis `j` of the second
    /// frame.
    #[inline]
    pub fn direction_gradient(&self, i: usize, j: usize) -> PairVector {
        let mut gradient = PairVector::zeros();
        let next = |axis: usize| [(axis + 1) % 3, (axis + 2) % 3];
        // e_i × column j, and e_j × row i.
        let [a, b] = next(i);
        gradient[a] = -self.rotation[(b, j)];
        gradient[b] = self.rotation[(a, j)];
        let [a, b] = next(j);
        gradient[6 + a] = -self.rotation[(i, b)];
        gradient[6 + b] = self.rotation[(i, a)];
        gradient
    }

    /// Adds `weight` times the derivative of ∇R_ij.
    pub fn add_direction_hessian(&self, i: usize, j: usize, weight: f64, out: &mut PairMatrix) {
        let column: Vector3 = self.rotation.column(j).into();
        let row: Vector3 = self.rotation.row(i).transpose();
        let cosine = weight * self.rotation[(i, j)];
        // ẽ_i c̃ = c e_iᵀ − (e_i·c) I with the column c, and likewise with the row.
        for axis in 0..3 {
            out[(axis, i)] += weight * column[axis];
            out[(axis, axis)] -= cosine;
            out[(6 + axis, 6 + j)] += weight * row[axis];
            out[(6 + axis, 6 + axis)] -= cosine;
        }
        // −ẽ_i R ẽ_j has four entries, those of R in the other rows and columns; the part (6, 0) is its
        // transpose.
        let others = |axis: usize| [((axis + 1) % 3, 1.0), ((axis + 2) % 3, -1.0)];
        for ((a, sign_a), (b, _)) in others(i).into_iter().zip(others(i).into_iter().rev()) {
            for ((c, sign_c), (d, _)) in others(j).into_iter().zip(others(j).into_iter().rev()) {
                // Row a of ẽ_i picks row b of R with the sign −sign_a; column c of ẽ_j picks column d with
                // sign_c.
                let value = weight * sign_a * sign_c * self.rotation[(b, d)];
                out[(a, 6 + c)] += value;
                out[(6 + c, a)] += value;
            }
        }
    }
}

fn add(matrix: &mut PairMatrix, row: usize, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(row, column);
    view += part;
}
