//! Rows that lock displacements and cosines: all that most joints are made of, in the bodies' own axes.
//!
//! The general way from a coordinate to the nodes leads through both frames; for these two kinds of rows the frames
//! drop out. With the rotation R = R₁ᵀR₂ of the bodies, the second frame's origin at r in axes of the first body and at
//! p in those of the second, the axis a of the first frame in body axes and b of the second,
//!
//! ```text
//! x = a·(r − p₁)    ∇x = (a × r, −a; p × f, f)         with f = Rᵀa
//! x = a·R b         ∇x = (a × R b, 0; b × Rᵀa, 0)
//! ```
//!
//! and, from δr = r̃ δΘ₁ − δX₁ + R (δX₂ − p̃ δΘ₂) and δR = −δΘ̃₁ R + R δΘ̃₂, the derivatives of these gradients below.

use super::coordinate::Coordinate;
use super::coordinate_joint::FramePair;
use crate::element::{LocalTangent, Motion};
use crate::lie::{Matrix3, Matrix6, Vector3, Vector6, skew};
use crate::system::{join, split};

/// Two bodies (or the ground) as one pair of frames sees them.
pub(super) struct PlainPair<'a> {
    pair: &'a FramePair,
    /// R: first body from second.
    rotation: Matrix3,
    /// r: the second frame's origin in axes of the first body.
    point: Vector3,
    /// p: the second frame's origin in axes of the second body.
    arm: Vector3,
}

impl<'a> PlainPair<'a> {
    #[inline]
    pub fn new(pair: &'a FramePair, at: &Motion) -> Self {
        let place = |side: usize| match pair.nodes[side] {
            Some(node) => (at.nodes[node].rotation, at.nodes[node].pose.position),
            None => (Matrix3::identity(), Vector3::zeros()),
        };
        let ((first, first_position), (second, second_position)) = (place(0), place(1));
        let arm = pair.frames[1].offset.position;
        Self {
            pair,
            rotation: first.tr_mul(&second),
            point: first.tr_mul(&(second_position + second * arm - first_position)),
            arm,
        }
    }

    #[inline]
    fn axis(&self, side: usize, index: usize) -> Vector3 {
        self.pair.frames[side].axis(index)
    }

    /// Value of a displacement or cosine.
    #[inline]
    pub fn value(&self, coordinate: Coordinate) -> f64 {
        match coordinate {
            Coordinate::Direction(i, j) => self.axis(0, i).dot(&(self.rotation * self.axis(1, j))),
            Coordinate::Translation(i) => {
                self.axis(0, i).dot(&(self.point - self.pair.frames[0].offset.position))
            }
            _ => f64::NAN,
        }
    }

    /// Adds the gradient of a weighted sum of rows to the twists of the nodes.
    #[inline]
    pub fn add_gradient(&self, rows: impl Iterator<Item = (Coordinate, f64)>, out: &mut [Vector6]) {
        let (mut force, mut torques) = (Vector3::zeros(), [Vector3::zeros(); 2]);
        for (coordinate, weight) in rows {
            match coordinate {
                Coordinate::Translation(i) => force += weight * self.axis(0, i),
                Coordinate::Direction(i, j) => {
                    let (a, b) = (weight * self.axis(0, i), self.axis(1, j));
                    torques[0] += a.cross(&(self.rotation * b));
                    torques[1] += b.cross(&self.rotation.tr_mul(&a));
                }
                _ => {}
            }
        }
        let on_second = self.rotation.tr_mul(&force);
        torques[0] += force.cross(&self.point);
        torques[1] += self.arm.cross(&on_second);
        for (side, force) in [-force, on_second].iter().enumerate() {
            if let Some(node) = self.pair.nodes[side] {
                out[node] += join(&torques[side], force);
            }
        }
    }

    /// How fast the pair moves.
    #[inline]
    pub fn rates(&self, at: &Motion) -> PlainRates<'_> {
        let twist = |side: usize| match self.pair.nodes[side] {
            Some(node) => split(&at.nodes[node].velocity),
            None => (Vector3::zeros(), Vector3::zeros()),
        };
        let ((first_omega, first_u), (second_omega, second_u)) = (twist(0), twist(1));
        let drift = self.rotation * (second_u + second_omega.cross(&self.arm));
        PlainRates {
            pair: self,
            velocity: self.point.cross(&first_omega) - first_u + drift,
            turning: self.rotation * second_omega - first_omega,
        }
    }

    /// Adds the derivative of the gradient of a weighted sum of rows.
    #[inline]
    pub fn add_stiffness(&self, rows: impl Iterator<Item = (Coordinate, f64)>, out: &mut LocalTangent) {
        let mut force = Vector3::zeros();
        // Blocks of the rotations: (1,1), (1,2) and (2,2); (2,1) is the transpose of (1,2).
        let mut rotations = [Matrix3::zeros(); 3];
        for (coordinate, weight) in rows {
            match coordinate {
                Coordinate::Translation(i) => force += weight * self.axis(0, i),
                Coordinate::Direction(i, j) => {
                    let (a, b) = (weight * self.axis(0, i), self.axis(1, j));
                    rotations[0] += double_cross(&a, &(self.rotation * b));
                    rotations[1] -= skew(&a) * self.rotation * skew(&b);
                    rotations[2] += double_cross(&b, &self.rotation.tr_mul(&a));
                }
                _ => {}
            }
        }
        let on_second = self.rotation.tr_mul(&force);
        let turned = skew(&force) * self.rotation;
        rotations[0] += double_cross(&force, &self.point);
        rotations[1] -= turned * skew(&self.arm);
        rotations[2] += double_cross(&self.arm, &on_second);
        let mut add = |sides: [usize; 2], row: usize, column: usize, part: &Matrix3| {
            if let [Some(i), Some(j)] = sides.map(|side| self.pair.nodes[side]) {
                add_part(out.stiffness(i, j), row, column, part);
            }
        };
        add([0, 0], 0, 0, &rotations[0]);
        add([0, 1], 0, 0, &rotations[1]);
        add([1, 0], 0, 0, &rotations[1].transpose());
        add([1, 1], 0, 0, &rotations[2]);
        if force != Vector3::zeros() {
            add([0, 0], 0, 3, &-skew(&force));
            add([0, 1], 0, 3, &turned);
            add([1, 0], 3, 0, &turned.transpose());
            add([1, 1], 3, 0, &skew(&on_second));
        }
    }

    /// Adds the derivative of a row's rate at fixed twists.
    pub fn add_rate_gradient(&self, coordinate: Coordinate, weight: f64, at: &Motion, out: &mut [Vector6]) {
        let twist = |side: usize| match self.pair.nodes[side] {
            Some(node) => split(&at.nodes[node].velocity),
            None => (Vector3::zeros(), Vector3::zeros()),
        };
        let ((first_omega, _), (second_omega, second_u)) = (twist(0), twist(1));
        let parts = match coordinate {
            Coordinate::Translation(i) => {
                let a = self.axis(0, i);
                let turning = a.cross(&first_omega);
                let f = self.rotation.tr_mul(&a);
                let drift = second_u - self.arm.cross(&second_omega);
                let back = -self.rotation.tr_mul(&turning);
                let first = self.point.cross(&turning) + a.cross(&(self.rotation * drift));
                [(first, turning), (self.arm.cross(&back) - f.cross(&drift), back)]
            }
            Coordinate::Direction(i, j) => {
                let (a, b) = (self.axis(0, i), self.axis(1, j));
                let (first_turn, second_turn) = (a.cross(&first_omega), b.cross(&second_omega));
                let first = (self.rotation * b).cross(&first_turn) - a.cross(&(self.rotation * second_turn));
                let second = self.rotation.tr_mul(&a).cross(&second_turn)
                    - b.cross(&self.rotation.tr_mul(&first_turn));
                [(first, Vector3::zeros()), (second, Vector3::zeros())]
            }
            _ => return,
        };
        for (node, (rotation, translation)) in self.pair.nodes.iter().zip(parts) {
            if let Some(node) = *node {
                out[node] += weight * join(&rotation, &translation);
            }
        }
    }
}

/// Velocities of a pair in axes of its first body.
pub(super) struct PlainRates<'a> {
    pair: &'a PlainPair<'a>,
    /// ṙ.
    velocity: Vector3,
    /// Angular velocity of the second body relative to the first.
    turning: Vector3,
}

impl PlainRates<'_> {
    /// Rate of a displacement or cosine.
    #[inline]
    pub fn of(&self, coordinate: Coordinate) -> f64 {
        match coordinate {
            Coordinate::Translation(i) => self.pair.axis(0, i).dot(&self.velocity),
            Coordinate::Direction(i, j) => {
                let turned = self.pair.rotation * self.pair.axis(1, j);
                self.pair.axis(0, i).dot(&self.turning.cross(&turned))
            }
            _ => f64::NAN,
        }
    }
}

/// ã b̃ = b aᵀ − (a·b) I.
#[inline]
fn double_cross(a: &Vector3, b: &Vector3) -> Matrix3 {
    b * a.transpose() - Matrix3::from_diagonal_element(a.dot(b))
}

#[inline]
fn add_part(matrix: &mut Matrix6, row: usize, column: usize, part: &Matrix3) {
    for j in 0..3 {
        for i in 0..3 {
            matrix[(row + i, column + j)] += part[(i, j)];
        }
    }
}
