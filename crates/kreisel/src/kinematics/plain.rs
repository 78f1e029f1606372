//! Rows that lock displacements and cosines, or lead an angle: all that most joints are made of, in the
//! bodies' own axes.
//!
//! The general way from a coordinate to the nodes leads through both frames; for these kinds of rows the
//! frames drop out. With the rotation R = R₁ᵀR₂ of the bodies, the second frame's origin at r in axes of the
//! first body and at p in those of the second, the axis a of the first frame in body axes and b of the
//! second,
//!
//! ```text
//! x = a·(r − p₁)    ∇x = (a × r, −a; p × f, f)         with f = Rᵀa
//! x = a·R b         ∇x = (a × R b, 0; b × Rᵀa, 0)
//! ```
//!
//! and, from δr = r̃ δΘ₁ − δX₁ + R (δX₂ − p̃ δΘ₂) and δR = −δΘ̃₁ R + R δΘ̃₂, the derivatives of these
//! gradients below.

use super::coordinate::{Coordinate, nearest_angle};
use super::{FramePair, LocalTangent, Motion};
use super::{join, split};
use crate::lie::{Matrix3, Matrix6, Vector3, Vector6, skew};

/// Two bodies (or the ground) as one pair of frames sees them.
pub(crate) struct PlainPair<'a> {
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

    /// Value of a displacement or cosine, or of the angle nearest to `near`.
    #[inline]
    pub fn value(&self, coordinate: Coordinate, near: f64) -> f64 {
        match (coordinate, coordinate.turning_entries()) {
            (Coordinate::Direction(i, j), _) => self.cosine((i, j)),
            (Coordinate::Translation(i), _) => {
                self.axis(0, i).dot(&(self.point - self.pair.frames[0].offset.position))
            }
            (_, Some([sine, cosine])) => nearest_angle(self.cosine(sine), self.cosine(cosine), near),
            _ => f64::NAN,
        }
    }

    /// Cosine between an axis of the first and one of the second frame.
    #[inline]
    fn cosine(&self, (i, j): (usize, usize)) -> f64 {
        self.axis(0, i).dot(&(self.rotation * self.axis(1, j)))
    }

    /// Derivatives of a cosine by the turns of both bodies.
    #[inline]
    fn cosine_gradient(&self, (i, j): (usize, usize)) -> [Vector3; 2] {
        let (a, b) = (self.axis(0, i), self.axis(1, j));
        [a.cross(&(self.rotation * b)), b.cross(&self.rotation.tr_mul(&a))]
    }

    /// Adds the second derivative of a weighted cosine by turns to the blocks (1,1), (1,2) and (2,2).
    #[inline]
    fn add_cosine_hessian(&self, (i, j): (usize, usize), weight: f64, out: &mut [Matrix3; 3]) {
        let (a, b) = (weight * self.axis(0, i), self.axis(1, j));
        out[0] += double_cross(&a, &(self.rotation * b));
        out[1] -= skew(&a) * self.rotation * skew(&b);
        out[2] += double_cross(&b, &self.rotation.tr_mul(&a));
    }

    #[inline]
    fn turn(&self, entries: [(usize, usize); 2]) -> CosineAngle {
        let [s, c] = entries.map(|entry| self.cosine(entry));
        let square = s * s + c * c;
        CosineAngle {
            entries,
            first: [c / square, -s / square],
            pure: 2.0 * s * c / (square * square),
            mixed: (s * s - c * c) / (square * square),
        }
    }

    /// Adds the gradient of a weighted sum of rows to the twists of the nodes.
    #[inline]
    pub fn add_gradient(&self, rows: impl Iterator<Item = (Coordinate, f64)>, out: &mut [Vector6]) {
        let (mut force, mut torques) = (Vector3::zeros(), [Vector3::zeros(); 2]);
        let mut add_cosine = |entry: (usize, usize), weight: f64| {
            let gradient = self.cosine_gradient(entry);
            torques.iter_mut().zip(gradient).for_each(|(torque, part)| *torque += weight * part);
        };
        for (coordinate, weight) in rows {
            match (coordinate, coordinate.turning_entries()) {
                (Coordinate::Translation(i), _) => force += weight * self.axis(0, i),
                (Coordinate::Direction(i, j), _) => add_cosine((i, j), weight),
                (_, Some(entries)) => {
                    let turn = self.turn(entries);
                    entries
                        .iter()
                        .zip(turn.first)
                        .for_each(|(&entry, part)| add_cosine(entry, weight * part));
                }
                _ => {}
            }
        }
        if force == Vector3::zeros() {
            for (side, torque) in torques.iter().enumerate() {
                if let Some(node) = self.pair.nodes[side] {
                    let mut turns = out[node].fixed_rows_mut::<3>(0);
                    turns += torque;
                }
            }
            return;
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
            match (coordinate, coordinate.turning_entries()) {
                (Coordinate::Translation(i), _) => force += weight * self.axis(0, i),
                (Coordinate::Direction(i, j), _) => self.add_cosine_hessian((i, j), weight, &mut rotations),
                (_, Some(entries)) => self.turn(entries).add_hessian(self, weight, &mut rotations),
                _ => {}
            }
        }
        let on_second = self.rotation.tr_mul(&force);
        let turned = skew(&force) * self.rotation;
        rotations[0] += double_cross(&force, &self.point);
        rotations[1] -= turned * skew(&self.arm);
        rotations[2] += double_cross(&self.arm, &on_second);
        let mut add = |sides: [usize; 2], row: usize, column: usize, part: &Matrix3| {
            if let (Some(i), Some(j)) = (self.pair.nodes[sides[0]], self.pair.nodes[sides[1]]) {
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
        if let Some(entries) = coordinate.turning_entries() {
            return self.turn(entries).add_rate_gradient(self, weight, at, out);
        }
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

/// An angle θ = atan2(s, c) of two cosines, with its derivatives by them.
struct CosineAngle {
    entries: [(usize, usize); 2],
    /// ∂θ/∂s and ∂θ/∂c.
    first: [f64; 2],
    /// ∂²θ/∂c² = −∂²θ/∂s².
    pure: f64,
    /// ∂²θ/∂s∂c.
    mixed: f64,
}

impl CosineAngle {
    /// D(∇θ) = θ_s D(∇s) + θ_c D(∇c) + θ_ss ∇s∇sᵀ + θ_cc ∇c∇cᵀ + θ_sc (∇s∇cᵀ + ∇c∇sᵀ), in the blocks (1,1),
    /// (1,2) and (2,2) of turns.
    #[inline]
    fn add_hessian(&self, pair: &PlainPair, weight: f64, out: &mut [Matrix3; 3]) {
        for (&entry, part) in self.entries.iter().zip(self.first) {
            pair.add_cosine_hessian(entry, weight * part, out);
        }
        let [sine, cosine] = self.entries.map(|entry| pair.cosine_gradient(entry));
        for (out, [i, j]) in out.iter_mut().zip([[0, 0], [0, 1], [1, 1]]) {
            let by_sine = weight * (self.mixed * cosine[j] - self.pure * sine[j]);
            let by_cosine = weight * (self.mixed * sine[j] + self.pure * cosine[j]);
            *out += sine[i] * by_sine.transpose() + cosine[i] * by_cosine.transpose();
        }
    }

    /// The same, transposed, times the twists.
    fn add_rate_gradient(&self, pair: &PlainPair, weight: f64, at: &Motion, out: &mut [Vector6]) {
        let rates = pair.rates(at);
        let directions = self.entries.map(|(i, j)| Coordinate::Direction(i, j));
        for (direction, part) in directions.into_iter().zip(self.first) {
            pair.add_rate_gradient(direction, weight * part, at, out);
        }
        let [sine_rate, cosine_rate] = directions.map(|direction| rates.of(direction));
        let [sine, cosine] = self.entries.map(|entry| pair.cosine_gradient(entry));
        let by_sine = weight * (self.mixed * cosine_rate - self.pure * sine_rate);
        let by_cosine = weight * (self.mixed * sine_rate + self.pure * cosine_rate);
        for (side, node) in pair.pair.nodes.iter().enumerate() {
            if let Some(node) = *node {
                out[node] += join(&(by_sine * sine[side] + by_cosine * cosine[side]), &Vector3::zeros());
            }
        }
    }
}

/// Velocities of a pair in axes of its first body.
pub(crate) struct PlainRates<'a> {
    pair: &'a PlainPair<'a>,
    /// ṙ.
    velocity: Vector3,
    /// Angular velocity of the second body relative to the first.
    turning: Vector3,
}

impl PlainRates<'_> {
    /// Rate of a displacement, cosine or angle.
    #[inline]
    pub fn of(&self, coordinate: Coordinate) -> f64 {
        match (coordinate, coordinate.turning_entries()) {
            (Coordinate::Translation(i), _) => self.pair.axis(0, i).dot(&self.velocity),
            (Coordinate::Direction(i, j), _) => self.of_cosine((i, j)),
            (_, Some(entries)) => {
                let turn = self.pair.turn(entries);
                entries.iter().zip(turn.first).map(|(&entry, part)| part * self.of_cosine(entry)).sum()
            }
            _ => f64::NAN,
        }
    }

    #[inline]
    fn of_cosine(&self, (i, j): (usize, usize)) -> f64 {
        let turned = self.pair.rotation * self.pair.axis(1, j);
        self.pair.axis(0, i).dot(&self.turning.cross(&turned))
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
