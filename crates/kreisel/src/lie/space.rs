//! Configuration spaces: direct products of groups, on flat slices of numbers.
//!
//! A configuration holds k numbers for R^k, a quaternion w, x, y, z for SO(3), and a quaternion followed
//! by a position for SO(3)×R³ and SE(3), one factor after the other. Velocities and increments
//! hold [`Group::dimension`] numbers each. Every operation works factor by factor
//! [ArnoldCardonaBruls2015, Example 2.1c, Remark 2.8d] and allocates nothing.
//!
//! Slices must have the length of the space: coordinates [`Space::coordinate_count`], velocities
//! [`Space::dimension`]. Anything else is a mistake of the caller and panics.

use std::ops::Range;

use nalgebra::Quaternion;

use super::{Group, LieError, Matrix3, Pose, UnitQuaternion, Vector3, Vector6, se3, so3};

/// Largest deviation of a given quaternion's norm from one that [`Space::validate`] accepts: numbers with
/// seven digits pass, what is no rotation does not.
const NORM_TOLERANCE: f64 = 1e-6;

/// Rotation stored as w, x, y, z at the start of a slice.
#[inline]
pub fn quaternion(q: &[f64]) -> UnitQuaternion {
    let &[w, x, y, z] = q[..4].as_array().expect("the slice has four entries");
    UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
}

/// Vector stored at the start of a slice.
#[inline]
pub fn vector3(q: &[f64]) -> Vector3 {
    let &[x, y, z] = q[..3].as_array().expect("the slice has three entries");
    Vector3::new(x, y, z)
}

/// Pose stored as quaternion and position at the start of a slice.
#[inline]
pub fn pose(q: &[f64]) -> Pose {
    Pose { rotation: quaternion(q), position: vector3(&q[4..]) }
}

#[inline]
fn vector6(v: &[f64]) -> Vector6 {
    let &[a, b, c, d, e, f] = v[..6].as_array().expect("the slice has six entries");
    Vector6::new(a, b, c, d, e, f)
}

/// Writes a rotation as w, x, y, z to the start of a slice.
#[inline]
pub fn write_quaternion(rotation: &UnitQuaternion, out: &mut [f64]) {
    out[..4].copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
}

/// Writes a vector to the start of a slice.
#[inline]
pub fn write_vector3(vector: &Vector3, out: &mut [f64]) {
    out[..3].copy_from_slice(vector.as_slice());
}

/// Writes a pose as quaternion and position to the start of a slice.
#[inline]
pub fn write_pose(pose: &Pose, out: &mut [f64]) {
    write_quaternion(&pose.rotation, out);
    write_vector3(&pose.position, &mut out[4..]);
}

/// Direct product of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    groups: Vec<Group>,
    /// Where the velocity of each factor begins, and the dimension of the whole.
    velocity_offsets: Vec<usize>,
    /// Where the coordinates of each factor begin, and their count.
    coordinate_offsets: Vec<usize>,
}

/// Coordinates of a factor that share a norm: a rotation, a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormBlock {
    /// The factor.
    pub factor: usize,
    /// Where its velocities stand.
    pub velocities: Range<usize>,
    /// Where its coordinates stand: a quaternion, or numbers.
    pub coordinates: Range<usize>,
    /// Whether it is a rotation.
    pub is_rotation: bool,
}

fn offsets(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let ends = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

impl Space {
    /// Product of the given groups, in this order.
    pub fn new(factors: impl IntoIterator<Item = Group>) -> Self {
        let groups: Vec<Group> = factors.into_iter().collect();
        let velocity_offsets = offsets(groups.iter().map(|group| group.dimension()));
        let coordinate_offsets = offsets(groups.iter().map(|group| group.coordinate_count()));
        Self { groups, velocity_offsets, coordinate_offsets }
    }

    /// The linear space R^k, one factor.
    pub fn vector(k: usize) -> Self {
        Self::new([Group::Vector(k)])
    }

    /// Number of factors.
    #[inline]
    pub fn factor_count(&self) -> usize {
        self.groups.len()
    }

    /// Group of a factor.
    #[inline]
    pub fn group(&self, factor: usize) -> Group {
        self.groups[factor]
    }

    /// Numbers in a velocity.
    #[inline]
    pub fn dimension(&self) -> usize {
        self.velocity_offsets[self.groups.len()]
    }

    /// Numbers in a configuration.
    #[inline]
    pub fn coordinate_count(&self) -> usize {
        self.coordinate_offsets[self.groups.len()]
    }

    /// Where a factor stands in a velocity.
    #[inline]
    pub fn velocity_range(&self, factor: usize) -> Range<usize> {
        self.velocity_offsets[factor]..self.velocity_offsets[factor + 1]
    }

    /// Where a factor stands in a configuration.
    #[inline]
    pub fn coordinate_range(&self, factor: usize) -> Range<usize> {
        self.coordinate_offsets[factor]..self.coordinate_offsets[factor + 1]
    }

    /// Rotations and positions of all factors, one after the other.
    pub fn norm_blocks(&self) -> impl Iterator<Item = NormBlock> + '_ {
        (0..self.factor_count()).flat_map(|factor| {
            let (v, q) = (self.velocity_range(factor), self.coordinate_range(factor));
            let block = |velocities, coordinates, is_rotation| {
                Some(NormBlock { factor, velocities, coordinates, is_rotation })
            };
            match self.group(factor) {
                Group::Vector(_) => [block(v, q, false), None],
                Group::So3 => [block(v, q, true), None],
                Group::So3xR3 | Group::Se3 => {
                    let (turn, way) = (v.start..v.start + 3, v.start + 3..v.end);
                    [block(turn, q.start..q.end - 3, true), block(way, q.end - 3..q.end, false)]
                }
            }
            .into_iter()
            .flatten()
        })
    }

    /// Group, coordinates and velocity of each factor.
    #[inline]
    fn factors(&self) -> impl Iterator<Item = (Group, Range<usize>, Range<usize>)> {
        self.groups
            .iter()
            .enumerate()
            .map(|(i, group)| (*group, self.coordinate_range(i), self.velocity_range(i)))
    }

    /// Writes the neutral element e.
    pub fn identity(&self, q: &mut [f64]) {
        q[..self.coordinate_count()].fill(0.0);
        for (group, coordinates, _) in self.factors() {
            if !matches!(group, Group::Vector(_)) {
                q[coordinates.start] = 1.0;
            }
        }
    }

    /// Writes a ∘ b.
    pub fn compose(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        for (group, range, _) in self.factors() {
            let (a, b, out) = (&a[range.clone()], &b[range.clone()], &mut out[range]);
            match group {
                Group::Vector(_) => add(a, b, out),
                Group::So3 => write_quaternion(&so3::compose(&quaternion(a), &quaternion(b)), out),
                Group::So3xR3 => {
                    write_quaternion(&so3::compose(&quaternion(a), &quaternion(b)), out);
                    add(&a[4..], &b[4..], &mut out[4..]);
                }
                Group::Se3 => write_pose(&pose(a).compose(&pose(b)), out),
            }
        }
    }

    /// Writes q⁻¹.
    pub fn inverse(&self, q: &[f64], out: &mut [f64]) {
        for (group, range, _) in self.factors() {
            let (q, out) = (&q[range.clone()], &mut out[range]);
            match group {
                Group::Vector(_) => negate(q, out),
                Group::So3 => write_quaternion(&quaternion(q).inverse(), out),
                Group::So3xR3 => {
                    write_quaternion(&quaternion(q).inverse(), out);
                    negate(&q[4..], &mut out[4..]);
                }
                Group::Se3 => write_pose(&pose(q).inverse(), out),
            }
        }
    }

    /// Writes exp(x̃).
    pub fn exp(&self, x: &[f64], out: &mut [f64]) {
        for (group, coordinates, velocities) in self.factors() {
            let (x, out) = (&x[velocities], &mut out[coordinates]);
            match group {
                Group::Vector(_) => out.copy_from_slice(x),
                Group::So3 => write_quaternion(&so3::exp(&vector3(x)), out),
                Group::So3xR3 => {
                    write_quaternion(&so3::exp(&vector3(x)), out);
                    out[4..].copy_from_slice(&x[3..]);
                }
                Group::Se3 => write_pose(&se3::exp(&vector6(x)), out),
            }
        }
    }

    /// Writes the increment x with exp(x̃) = q and rotation angles of at most π.
    pub fn log(&self, q: &[f64], out: &mut [f64]) -> Result<(), LieError> {
        for (group, coordinates, velocities) in self.factors() {
            let (q, out) = (&q[coordinates], &mut out[velocities]);
            match group {
                Group::Vector(_) => out.copy_from_slice(q),
                Group::So3 => write_vector3(&so3::log(&quaternion(q)), out),
                Group::So3xR3 => {
                    write_vector3(&so3::log(&quaternion(q)), out);
                    out[3..].copy_from_slice(&q[4..]);
                }
                Group::Se3 => out.copy_from_slice(se3::log(&pose(q))?.as_slice()),
            }
        }
        Ok(())
    }

    /// Writes q ∘ exp(x̃), the step of every integrator [ArnoldCardonaBruls2015, Eq. (9)].
    pub fn compose_exp(&self, q: &[f64], x: &[f64], out: &mut [f64]) {
        for (group, coordinates, velocities) in self.factors() {
            let (q, x, out) = (&q[coordinates.clone()], &x[velocities], &mut out[coordinates]);
            match group {
                Group::Vector(_) => add(q, x, out),
                Group::So3 => write_quaternion(&so3::compose(&quaternion(q), &so3::exp(&vector3(x))), out),
                Group::So3xR3 => {
                    write_quaternion(&so3::compose(&quaternion(q), &so3::exp(&vector3(x))), out);
                    add(&q[4..], &x[3..], &mut out[4..]);
                }
                Group::Se3 => write_pose(&pose(q).compose(&se3::exp(&vector6(x))), out),
            }
        }
    }

    /// Writes the increment x with `from` ∘ exp(x̃) = `to`: log(from⁻¹ ∘ to).
    pub fn difference(&self, from: &[f64], to: &[f64], out: &mut [f64]) -> Result<(), LieError> {
        for (group, coordinates, velocities) in self.factors() {
            let (from, to) = (&from[coordinates.clone()], &to[coordinates]);
            let out = &mut out[velocities];
            match group {
                Group::Vector(_) => subtract(to, from, out),
                Group::So3 => write_vector3(&rotation_difference(from, to), out),
                Group::So3xR3 => {
                    write_vector3(&rotation_difference(from, to), out);
                    subtract(&to[4..], &from[4..], &mut out[3..]);
                }
                Group::Se3 => out.copy_from_slice(se3::log(&relative_pose(from, to))?.as_slice()),
            }
        }
        Ok(())
    }

    /// Writes the Lie bracket v̂ w [ArnoldCardonaBruls2015, Eq. (29)].
    pub fn hat_multiply(&self, v: &[f64], w: &[f64], out: &mut [f64]) {
        for (group, _, range) in self.factors() {
            let (v, w, out) = (&v[range.clone()], &w[range.clone()], &mut out[range]);
            match group {
                Group::Vector(_) => out.fill(0.0),
                Group::So3 => write_vector3(&vector3(v).cross(&vector3(w)), out),
                Group::So3xR3 => {
                    write_vector3(&vector3(v).cross(&vector3(w)), out);
                    out[3..].fill(0.0);
                }
                Group::Se3 => {
                    out.copy_from_slice(se3::hat_multiply(&vector6(v), &vector6(w)).as_slice());
                }
            }
        }
    }

    /// Writes T(x) w [ArnoldCardonaBruls2015, Eq. (30)].
    pub fn tangent_multiply(&self, x: &[f64], w: &[f64], out: &mut [f64]) {
        for (group, _, range) in self.factors() {
            let (x, w, out) = (&x[range.clone()], &w[range.clone()], &mut out[range]);
            match group {
                Group::Vector(_) => out.copy_from_slice(w),
                Group::So3 => write_vector3(&so3::tangent_multiply(&vector3(x), &vector3(w)), out),
                Group::So3xR3 => {
                    write_vector3(&so3::tangent_multiply(&vector3(x), &vector3(w)), out);
                    out[3..].copy_from_slice(&w[3..]);
                }
                Group::Se3 => {
                    out.copy_from_slice(se3::tangent_multiply(&vector6(x), &vector6(w)).as_slice());
                }
            }
        }
    }

    /// Writes T⁻¹(x) w; an error where a rotation angle in x is 2π, 4π, ….
    pub fn inverse_tangent_multiply(&self, x: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), LieError> {
        for (group, _, range) in self.factors() {
            let (x, w, out) = (&x[range.clone()], &w[range.clone()], &mut out[range]);
            match group {
                Group::Vector(_) => out.copy_from_slice(w),
                Group::So3 => {
                    write_vector3(&so3::inverse_tangent_multiply(&vector3(x), &vector3(w))?, out);
                }
                Group::So3xR3 => {
                    write_vector3(&so3::inverse_tangent_multiply(&vector3(x), &vector3(w))?, out);
                    out[3..].copy_from_slice(&w[3..]);
                }
                Group::Se3 => {
                    let product = se3::inverse_tangent_multiply(&vector6(x), &vector6(w))?;
                    out.copy_from_slice(product.as_slice());
                }
            }
        }
        Ok(())
    }

    /// Writes T⁻ᵀ(x) p; an error where a rotation angle in x is 2π, 4π, ….
    pub fn inverse_tangent_transpose_multiply(
        &self,
        x: &[f64],
        p: &[f64],
        out: &mut [f64],
    ) -> Result<(), LieError> {
        let mut operator = [0.0; 36];
        for (factor, (group, _, range)) in self.factors().enumerate() {
            let (x, p, out) = (&x[range.clone()], &p[range.clone()], &mut out[range]);
            if matches!(group, Group::Vector(_)) {
                out.copy_from_slice(p);
                continue;
            }
            let operator = &mut operator[..p.len() * p.len()];
            self.inverse_tangent_operator(factor, x, operator)?;
            for (out, column) in out.iter_mut().zip(operator.chunks_exact(p.len())) {
                *out = column.iter().zip(p).map(|(entry, p)| entry * p).sum();
            }
        }
        Ok(())
    }

    /// Adds v̂ᵀ p.
    pub fn hat_transpose_multiply_add(&self, v: &[f64], p: &[f64], out: &mut [f64]) {
        for (group, _, range) in self.factors() {
            let (v, p, out) = (&v[range.clone()], &p[range.clone()], &mut out[range]);
            if matches!(group, Group::Vector(_)) {
                continue;
            }
            // v̂ᵀ of a rotation is −v̂; a motion also turns its force by its velocity.
            let turned = vector3(p).cross(&vector3(v));
            out[..3].iter_mut().zip(turned.iter()).for_each(|(out, value)| *out += value);
            if group == Group::Se3 {
                let (velocity, force) = (vector3(&v[3..]), vector3(&p[3..]));
                let torque = force.cross(&velocity);
                out[..3].iter_mut().zip(torque.iter()).for_each(|(out, value)| *out += value);
                let turned = force.cross(&vector3(v));
                out[3..].iter_mut().zip(turned.iter()).for_each(|(out, value)| *out += value);
            }
        }
    }

    /// Writes the matrix T(x) of one factor, as many of its first columns as there is room for; `x` is that
    /// factor's part.
    pub fn tangent_operator(&self, factor: usize, x: &[f64], out: &mut [f64]) {
        match self.groups[factor] {
            Group::Vector(k) => write_identity(k, out),
            Group::So3 => write_first(so3::tangent_operator(&vector3(x)).as_slice(), out),
            Group::So3xR3 => write_rotational(&so3::tangent_operator(&vector3(x)), out),
            Group::Se3 => write_first(se3::tangent_operator(&vector6(x)).as_slice(), out),
        }
    }

    /// Writes the matrix T⁻¹(x) of one factor, as many of its first columns as there is room for; an error
    /// where the rotation angle is 2π, 4π, ….
    pub fn inverse_tangent_operator(
        &self,
        factor: usize,
        x: &[f64],
        out: &mut [f64],
    ) -> Result<(), LieError> {
        match self.groups[factor] {
            Group::Vector(k) => write_identity(k, out),
            Group::So3 => write_first(so3::inverse_tangent_operator(&vector3(x))?.as_slice(), out),
            Group::So3xR3 => write_rotational(&so3::inverse_tangent_operator(&vector3(x))?, out),
            Group::Se3 => write_first(se3::inverse_tangent_operator(&vector6(x))?.as_slice(), out),
        }
        Ok(())
    }

    /// Writes the matrix ∂(T(x) w)/∂x of one factor, column by column; `x` and `w` are that factor's parts.
    pub fn tangent_derivative(&self, factor: usize, x: &[f64], w: &[f64], out: &mut [f64]) {
        match self.groups[factor] {
            Group::Vector(_) => out.fill(0.0),
            Group::So3 => out.copy_from_slice(so3::tangent_derivative(&vector3(x), &vector3(w)).as_slice()),
            Group::So3xR3 => {
                out.fill(0.0);
                let rotational = so3::tangent_derivative(&vector3(x), &vector3(w));
                for (column, values) in out.chunks_exact_mut(6).take(3).enumerate() {
                    values[..3].copy_from_slice(rotational.column(column).as_slice());
                }
            }
            Group::Se3 => out.copy_from_slice(se3::tangent_derivative(&vector6(x), &vector6(w)).as_slice()),
        }
    }

    /// Puts every quaternion of a configuration to norm one.
    pub fn normalize(&self, q: &mut [f64]) {
        for (group, coordinates, _) in self.factors() {
            if !matches!(group, Group::Vector(_)) {
                let q = &mut q[coordinates];
                let rotation = UnitQuaternion::new_normalize(*quaternion(q).as_ref());
                write_quaternion(&rotation, q);
            }
        }
    }

    /// Checks that a configuration has the right length, finite numbers, and unit quaternions to 1e-6.
    pub fn validate(&self, q: &[f64]) -> Result<(), LieError> {
        if q.len() != self.coordinate_count() {
            return Err(LieError::WrongLength { expected: self.coordinate_count(), found: q.len() });
        }
        if let Some((index, value)) = q.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(LieError::NotFinite { index, value: *value });
        }
        for (factor, (group, coordinates, _)) in self.factors().enumerate() {
            if matches!(group, Group::Vector(_)) {
                continue;
            }
            let norm = quaternion(&q[coordinates]).as_ref().norm();
            if (norm - 1.0).abs() > NORM_TOLERANCE {
                return Err(LieError::NotUnit { factor, norm });
            }
        }
        Ok(())
    }
}

#[inline]
fn add(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a + b;
    }
}

#[inline]
fn subtract(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a - b;
    }
}

#[inline]
fn negate(a: &[f64], out: &mut [f64]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = -a;
    }
}

#[inline]
fn rotation_difference(from: &[f64], to: &[f64]) -> Vector3 {
    so3::log(&(quaternion(from).inverse() * quaternion(to)))
}

/// from⁻¹ ∘ to, with the positions subtracted before they are rotated: no digits are lost far from
/// the origin.
#[inline]
fn relative_pose(from: &[f64], to: &[f64]) -> Pose {
    let (from, to) = (pose(from), pose(to));
    let body_from_world = from.rotation.inverse();
    Pose {
        rotation: body_from_world * to.rotation,
        position: body_from_world * (to.position - from.position),
    }
}

/// Writes an operator of SO(3)×R³ that leaves positions as they are.
fn write_rotational(rotation: &Matrix3, out: &mut [f64]) {
    write_identity(6, out);
    for (column, values) in out.chunks_exact_mut(6).take(3).enumerate() {
        values[..3].copy_from_slice(rotation.column(column).as_slice());
    }
}

fn write_first(values: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
}

fn write_identity(k: usize, out: &mut [f64]) {
    out.fill(0.0);
    out.iter_mut().step_by(k + 1).for_each(|entry| *entry = 1.0);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reference::{rotation_vectors, vectors};
    use super::*;

    const EPSILON: f64 = f64::EPSILON;

    fn every_group() -> Space {
        Space::new([Group::So3, Group::Vector(2), Group::Se3, Group::Vector(0), Group::So3xR3, Group::Se3])
    }

    /// Increments of [`every_group`] with angles up to `largest_angle`.
    fn increments(largest_angle: f64) -> impl Strategy<Value = Vec<f64>> {
        let factor = move || (rotation_vectors(largest_angle), vectors(3.0));
        (factor(), factor(), factor(), factor()).prop_map(|(a, b, c, d)| {
            let planar = [a.1.x, a.1.y];
            let [a, b0, b1, c0, c1, d0, d1] = [a.0, b.0, b.1, c.0, c.1, d.0, d.1].map(<[f64; 3]>::from);
            [&a[..], &planar, &b0, &b1, &c0, &c1, &d0, &d1].concat()
        })
    }

    fn configurations() -> impl Strategy<Value = Vec<f64>> {
        increments(3.0).prop_map(|x| {
            let space = every_group();
            let mut q = vec![0.0; space.coordinate_count()];
            space.exp(&x, &mut q);
            q
        })
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// Positions reach 16 after two compositions; a dozen roundings of that size.
    const TOLERANCE: f64 = 256.0 * EPSILON;

    #[test]
    fn factors_follow_one_another() {
        let space = every_group();
        assert_eq!(space.factor_count(), 6);
        assert_eq!(space.dimension(), 3 + 2 + 6 + 6 + 6);
        assert_eq!(space.coordinate_count(), 4 + 2 + 7 + 7 + 7);
        assert_eq!(space.velocity_range(2), 5..11);
        assert_eq!(space.coordinate_range(2), 6..13);
        assert_eq!(space.velocity_range(3), 11..11);
        assert_eq!(space.group(4), Group::So3xR3);
        assert_eq!(Space::vector(3), Space::new([Group::Vector(3)]));
        assert_eq!(Space::new([]).dimension(), 0);
    }

    #[test]
    fn products_of_rotation_and_translation_differ_between_the_two_groups() {
        // A quarter turn about z, then a step along the body's x axis or the world's.
        let h = std::f64::consts::FRAC_1_SQRT_2;
        let q = [h, 0.0, 0.0, h, 1.0, 2.0, 3.0];
        let x = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let mut out = [0.0; 7];
        Space::new([Group::Se3]).compose_exp(&q, &x, &mut out);
        assert!(distance(&out, &[h, 0.0, 0.0, h, 1.0, 3.0, 3.0]) < 8.0 * EPSILON);
        Space::new([Group::So3xR3]).compose_exp(&q, &x, &mut out);
        assert!(distance(&out, &[h, 0.0, 0.0, h, 2.0, 2.0, 3.0]) < 8.0 * EPSILON);
    }

    #[test]
    fn difference_keeps_small_steps_far_from_the_origin() {
        let space = Space::new([Group::Se3]);
        let x = [1e-3, -2e-3, 1e-3, 0.5, 0.25, 0.125];
        let mut from = [0.0; 7];
        space.exp(&[0.3, 1.0, -0.4, 0.0, 0.0, 0.0], &mut from);
        from[4..].copy_from_slice(&[1e6, -2e6, 3e6]);
        let (mut to, mut back) = ([0.0; 7], [0.0; 6]);
        space.compose_exp(&from, &x, &mut to);
        space.difference(&from, &to, &mut back).unwrap();
        // The position `to` itself is rounded to ε/2 of 3e6; nothing is added to that.
        assert!(distance(&back, &x) < 4e6 * EPSILON);
    }

    #[test]
    fn validate_names_what_is_wrong() {
        let space = Space::new([Group::Vector(1), Group::So3]);
        assert_eq!(space.validate(&[7.0, 1.0, 0.0, 0.0, 0.0]), Ok(()));
        assert_eq!(space.validate(&[7.0, 1.0 + 5e-7, 0.0, 0.0, 0.0]), Ok(()));
        assert_eq!(space.validate(&[7.0]), Err(LieError::WrongLength { expected: 5, found: 1 }));
        assert_eq!(
            space.validate(&[7.0, 2.0, 0.0, 0.0, 0.0]),
            Err(LieError::NotUnit { factor: 1, norm: 2.0 })
        );
        let infinite = space.validate(&[7.0, 1.0, 0.0, f64::INFINITY, 0.0]);
        assert_eq!(infinite, Err(LieError::NotFinite { index: 3, value: f64::INFINITY }));
    }

    #[test]
    fn normalize_scales_quaternions_only() {
        let space = Space::new([Group::Vector(1), Group::Se3]);
        let mut q = [7.0, 2.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0];
        space.normalize(&mut q);
        assert_eq!(q, [7.0, 1.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn inverse_tangent_reports_a_full_turn() {
        let x = [0.0, 0.0, 2.0 * std::f64::consts::PI];
        let mut out = [0.0; 3];
        let result = Space::new([Group::So3]).inverse_tangent_multiply(&x, &x, &mut out);
        assert!(matches!(result, Err(LieError::SingularTangent { .. })));
    }

    proptest! {
        #[test]
        fn composition_is_associative(a in configurations(), b in configurations(), c in configurations()) {
            let space = every_group();
            let mut out = [(); 4].map(|()| vec![0.0; space.coordinate_count()]);
            let [ab, bc, left, right] = &mut out;
            space.compose(&a, &b, ab);
            space.compose(ab, &c, left);
            space.compose(&b, &c, bc);
            space.compose(&a, bc, right);
            prop_assert!(distance(left, right) < TOLERANCE);
        }

        #[test]
        fn identity_is_neutral_and_inverse_undoes(q in configurations()) {
            let space = every_group();
            let mut out = [(); 4].map(|()| vec![0.0; space.coordinate_count()]);
            let [identity, inverse, left, right] = &mut out;
            space.identity(identity);
            space.compose(&q, identity, left);
            space.compose(identity, &q, right);
            prop_assert!(distance(left, &q) < TOLERANCE && distance(right, &q) < TOLERANCE);
            space.inverse(&q, inverse);
            space.compose(&q, inverse, left);
            space.compose(inverse, &q, right);
            prop_assert!(distance(left, identity) < TOLERANCE && distance(right, identity) < TOLERANCE);
            prop_assert_eq!(space.validate(&q), Ok(()));
        }

        #[test]
        fn compose_exp_composes_with_exp(q in configurations(), x in increments(7.0)) {
            let space = every_group();
            let mut out = [(); 3].map(|()| vec![0.0; space.coordinate_count()]);
            let [step, separate, together] = &mut out;
            space.exp(&x, step);
            space.compose(&q, step, separate);
            space.compose_exp(&q, &x, together);
            prop_assert_eq!(separate, together);
        }

        #[test]
        fn log_and_difference_find_the_increment(q in configurations(), x in increments(3.0)) {
            let space = every_group();
            let mut next = vec![0.0; space.coordinate_count()];
            let mut found = vec![0.0; space.dimension()];
            space.compose_exp(&q, &x, &mut next);
            space.difference(&q, &next, &mut found).unwrap();
            prop_assert!(distance(&found, &x) < TOLERANCE);
            space.exp(&x, &mut next);
            space.log(&next, &mut found).unwrap();
            prop_assert!(distance(&found, &x) < TOLERANCE);
        }

        #[test]
        fn tangent_products_agree_with_the_matrices(x in increments(5.0), w in increments(3.0)) {
            let space = every_group();
            let mut product = vec![0.0; space.dimension()];
            space.tangent_multiply(&x, &w, &mut product);
            for factor in 0..space.factor_count() {
                let range = space.velocity_range(factor);
                let k = range.len();
                let mut matrix = vec![0.0; k * k];
                space.tangent_operator(factor, &x[range.clone()], &mut matrix);
                for row in 0..k {
                    let expected: f64 = (0..k).map(|j| matrix[row + j * k] * w[range.start + j]).sum();
                    prop_assert!((product[range.start + row] - expected).abs() < TOLERANCE);
                }
                space.inverse_tangent_operator(factor, &x[range.clone()], &mut matrix).unwrap();
                for row in 0..k {
                    let found: f64 = (0..k).map(|j| matrix[row + j * k] * product[range.start + j]).sum();
                    // T⁻¹ has norm below 30 at φ = 5 and |U| ≤ 5.2
                    prop_assert!((found - w[range.start + row]).abs() < 30.0 * TOLERANCE);
                }
            }
            let mut back = vec![0.0; space.dimension()];
            space.inverse_tangent_multiply(&x, &product, &mut back).unwrap();
            // T⁻¹ has norm below 30 at φ = 5 and |U| ≤ 5.2
            prop_assert!(distance(&back, &w) < 30.0 * TOLERANCE);
        }

        /// v̂ v = 0 and v̂ w = −ŵ v; [ArnoldCardonaBruls2015, Eq. (29)] with the antisymmetry of the bracket.
        #[test]
        fn hat_is_a_bracket(v in increments(3.0), w in increments(3.0)) {
            let space = every_group();
            let mut out = [(); 3].map(|()| vec![0.0; space.dimension()]);
            let [forth, back, own] = &mut out;
            space.hat_multiply(&v, &w, forth);
            space.hat_multiply(&w, &v, back);
            space.hat_multiply(&v, &v, own);
            negate(&back.clone(), back);
            prop_assert!(distance(forth, back) < TOLERANCE);
            prop_assert!(own.iter().all(|entry| entry.abs() < TOLERANCE));
        }
    }
}
