//! Scalar coordinates of a relative motion: what joints lock, drives lead, springs resist and sensors show.
//!
//! Each is a function of the relative displacement d and rotation R of two frames, with exact first and
//! second derivatives. A function F of the primitives φ (components of d, entries of R) has
//!
//! ```text
//! ∇F = Σ F_a ∇φ_a,   D(∇F) = Σ F_a D(∇φ_a) + Σ F_ab ∇φ_a ∇φ_bᵀ.
//! ```

use std::f64::consts::TAU;

use super::frame::{PairMatrix, PairVector, Relative};
use crate::lie::{Vector3, skew};

/// A scalar coordinate of the motion of a second frame relative to a first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Displacement along axis 0, 1 or 2 of the first frame, in m.
    Translation(usize),
    /// Cosine between axis `.0` of the first and axis `.1` of the second frame.
    Direction(usize, usize),
    /// Angle about the common z axis from the first to the second frame's x axis, in rad, full turns counted.
    Angle,
    /// Angle of a universal joint, in rad, full turns counted: 0 is the turn of the cross about the first
    /// frame's x axis, 1 that of the second frame about the cross's y axis, which is its own.
    UniversalAngle(usize),
    /// Distance of the origins in m.
    Distance,
    /// Component of the rotation vector from the first to the second frame, in rad; up to half a turn.
    RotationVector(usize),
    /// Component of the relative angular velocity, in axes of the first frame. It is a rate, in rad/s, and of no
    /// coordinate: the value is 0.
    AngularVelocity(usize),
}

/// Derivatives of a function of R's skew part s and of its trace, for the rotation vector.
struct RotationVectorTerms {
    /// Twice the skew part: s = sin θ · axis.
    sine: Vector3,
    /// φ = θ/sin θ as a function of c = cos θ, with its first and second derivative by c.
    factor: [f64; 3],
}

impl Coordinate {
    /// Whether full turns are counted, so that a value near to another must be picked.
    pub fn counts_turns(self) -> bool {
        self.turning_entries().is_some()
    }

    /// Whether it is linear in the displacement or the rotation matrix, or the angle of two entries of that.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Translation(_) | Self::Direction(..)) || self.counts_turns()
    }

    /// Whether the value is an angle in rad.
    pub fn is_angle(self) -> bool {
        self.counts_turns() || matches!(self, Self::RotationVector(_) | Self::AngularVelocity(_))
    }

    /// Entries of R that are proportional to the sine and cosine of an angle that counts turns.
    ///
    /// A universal joint has R = R_x(α) R_y(β): its second column is (0, cos α, sin α) and its first row
    /// (cos β, 0, sin β).
    pub(super) fn turning_entries(self) -> Option<[(usize, usize); 2]> {
        match self {
            Self::Angle => Some([(1, 0), (0, 0)]),
            Self::UniversalAngle(0) => Some([(2, 1), (1, 1)]),
            Self::UniversalAngle(_) => Some([(0, 2), (0, 0)]),
            _ => None,
        }
    }

    /// Entries of R whose quotient is the tangent of an angle; those of the plain angle for other
    /// coordinates.
    fn sine_and_cosine(self) -> [(usize, usize); 2] {
        self.turning_entries().unwrap_or([(1, 0), (0, 0)])
    }

    /// Value; an angle is the one nearest to `near` among those that differ by full turns.
    pub fn value(self, at: &Relative, near: f64) -> f64 {
        match self {
            Self::Translation(i) => at.displacement[i],
            Self::Direction(i, j) => at.rotation[(i, j)],
            Self::Angle | Self::UniversalAngle(_) => {
                let [sine, cosine] = self.sine_and_cosine();
                nearest_angle(at.rotation[sine], at.rotation[cosine], near)
            }
            Self::Distance => at.displacement.norm(),
            Self::RotationVector(i) => {
                let terms = RotationVectorTerms::new(at);
                terms.sine[i] * terms.factor[0]
            }
            Self::AngularVelocity(_) => 0.0,
        }
    }

    /// Derivative with respect to the twists of both frames.
    pub fn gradient(self, at: &Relative) -> PairVector {
        match self {
            Self::Translation(i) => at.translation_gradient(i),
            Self::Direction(i, j) => at.direction_gradient(i, j),
            Self::Angle | Self::UniversalAngle(_) => angle_gradient(at, self.sine_and_cosine()),
            Self::Distance => {
                let along = unit(&at.displacement);
                along.x * at.translation_gradient(0)
                    + along.y * at.translation_gradient(1)
                    + along.z * at.translation_gradient(2)
            }
            Self::RotationVector(i) => {
                let terms = RotationVectorTerms::new(at);
                terms.factor[0] * sine_gradient(at, i) + terms.sine[i] * terms.factor[1] * cosine_gradient(at)
            }
            Self::AngularVelocity(i) => {
                let mut gradient = PairVector::zeros();
                gradient[i] = -1.0;
                gradient.fixed_rows_mut::<3>(6).tr_copy_from(&at.rotation.row(i));
                gradient
            }
        }
    }

    /// Rate along the present twists.
    pub fn rate(self, at: &Relative) -> f64 {
        match self {
            Self::Translation(i) => at.displacement_rate()[i],
            Self::AngularVelocity(i) => at.angular_rate()[i],
            _ => self.gradient(at).dot(&at.twist()),
        }
    }

    /// Adds `weight` times the derivative of the gradient.
    pub fn add_hessian(self, at: &Relative, weight: f64, out: &mut PairMatrix) {
        match self {
            Self::Translation(i) => at.add_translation_hessian(&Vector3::ith(i, weight), out),
            Self::Direction(i, j) => at.add_direction_hessian(i, j, weight, out),
            Self::Angle | Self::UniversalAngle(_) => {
                add_angle_hessian(at, self.sine_and_cosine(), weight, out);
            }
            Self::Distance => add_distance_hessian(at, weight, out),
            Self::RotationVector(i) => add_rotation_vector_hessian(at, i, weight, out),
            Self::AngularVelocity(i) => add_angular_velocity_hessian(at, i, weight, out),
        }
    }

    /// Derivative of the rate by the configuration at fixed twists: (D∇)ᵀ applied to the twists.
    pub fn rate_gradient(self, at: &Relative) -> PairVector {
        let mut hessian = PairMatrix::zeros();
        self.add_hessian(at, 1.0, &mut hessian);
        hessian.tr_mul(&at.twist())
    }
}

/// The angle of a sine and a cosine, or of multiples of them, that is nearest to another one.
pub(super) fn nearest_angle(sine: f64, cosine: f64, near: f64) -> f64 {
    let angle = sine.atan2(cosine);
    angle + TAU * ((near - angle) / TAU).round()
}

fn unit(vector: &Vector3) -> Vector3 {
    let length = vector.norm();
    // Coinciding points have no direction; any unit vector keeps the numbers finite.
    if length > 0.0 { vector / length } else { Vector3::x() }
}

/// θ = atan2(s, c) with two entries of R.
fn angle_gradient(at: &Relative, [sine, cosine]: [(usize, usize); 2]) -> PairVector {
    let (s, c) = (at.rotation[sine], at.rotation[cosine]);
    let square = s * s + c * c;
    (c * at.direction_gradient(sine.0, sine.1) - s * at.direction_gradient(cosine.0, cosine.1)) / square
}

fn add_angle_hessian(at: &Relative, entries: [(usize, usize); 2], weight: f64, out: &mut PairMatrix) {
    let [s, c] = entries.map(|entry| at.rotation[entry]);
    let square = s * s + c * c;
    let [(si, sj), (ci, cj)] = entries;
    at.add_direction_hessian(si, sj, weight * c / square, out);
    at.add_direction_hessian(ci, cj, -weight * s / square, out);
    let [sine, cosine] = entries.map(|(i, j)| at.direction_gradient(i, j));
    let (pure, mixed) = (2.0 * s * c / (square * square), (s * s - c * c) / (square * square));
    add_outer(out, -weight * pure, &sine, &sine);
    add_outer(out, weight * pure, &cosine, &cosine);
    add_outer(out, weight * mixed, &sine, &cosine);
    add_outer(out, weight * mixed, &cosine, &sine);
}

fn add_distance_hessian(at: &Relative, weight: f64, out: &mut PairMatrix) {
    let along = unit(&at.displacement);
    at.add_translation_hessian(&(weight * along), out);
    let length = at.displacement.norm();
    if length <= 0.0 {
        return;
    }
    let gradients: [PairVector; 3] = std::array::from_fn(|i| at.translation_gradient(i));
    for i in 0..3 {
        for j in 0..3 {
            let across = f64::from(i == j) - along[i] * along[j];
            add_outer(out, weight * across / length, &gradients[i], &gradients[j]);
        }
    }
}

/// θ_i = s_i φ(c).
fn add_rotation_vector_hessian(at: &Relative, i: usize, weight: f64, out: &mut PairMatrix) {
    let terms = RotationVectorTerms::new(at);
    let [factor, slope, curvature] = terms.factor;
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    at.add_direction_hessian(k, j, 0.5 * weight * factor, out);
    at.add_direction_hessian(j, k, -0.5 * weight * factor, out);
    for axis in 0..3 {
        at.add_direction_hessian(axis, axis, 0.5 * weight * terms.sine[i] * slope, out);
    }
    let (sine, cosine) = (sine_gradient(at, i), cosine_gradient(at));
    add_outer(out, weight * slope, &sine, &cosine);
    add_outer(out, weight * slope, &cosine, &sine);
    add_outer(out, weight * terms.sine[i] * curvature, &cosine, &cosine);
}

/// With e an axis of the first frame and u = Rᵀe the gradient is (−e, u), and δu = −Rᵀẽ δΘ₁ + ũ δΘ₂.
fn add_angular_velocity_hessian(at: &Relative, i: usize, weight: f64, out: &mut PairMatrix) {
    let u: Vector3 = at.rotation.row(i).transpose();
    let by_first = at.rotation.transpose() * skew(&Vector3::ith(i, 1.0));
    let mut first = out.fixed_view_mut::<3, 3>(6, 0);
    first -= weight * by_first;
    let mut second = out.fixed_view_mut::<3, 3>(6, 6);
    second += weight * skew(&u);
}

fn add_outer(out: &mut PairMatrix, factor: f64, left: &PairVector, right: &PairVector) {
    out.ger(factor, left, right, 1.0);
}

/// Gradient of s_i = (R_kj − R_jk)/2.
fn sine_gradient(at: &Relative, i: usize) -> PairVector {
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    0.5 * (at.direction_gradient(k, j) - at.direction_gradient(j, k))
}

/// Gradient of c = (tr R − 1)/2.
fn cosine_gradient(at: &Relative) -> PairVector {
    0.5 * (at.direction_gradient(0, 0) + at.direction_gradient(1, 1) + at.direction_gradient(2, 2))
}

impl RotationVectorTerms {
    fn new(at: &Relative) -> Self {
        let r = &at.rotation;
        let sine = 0.5 * Vector3::new(r[(2, 1)] - r[(1, 2)], r[(0, 2)] - r[(2, 0)], r[(1, 0)] - r[(0, 1)]);
        let cosine = 0.5 * (r.trace() - 1.0);
        let angle = sine.norm().atan2(cosine);
        Self { sine, factor: angle_over_sine(angle) }
    }
}

/// φ = θ/sin θ with dφ/dc and d²φ/dc², c = cos θ.
///
/// From dθ/dc = −1/sin θ: φ' = (c φ − 1)/sin²θ and φ'' = (3 c φ' + φ)/sin²θ. Both quotients lose digits for
/// small θ, where the series in θ² serve.
fn angle_over_sine(angle: f64) -> [f64; 3] {
    let (sin, cos) = angle.sin_cos();
    // Where both forms are equally good: the closed ones lose ε/θ⁴, the series are cut off at θ¹⁰.
    if angle < 0.1 {
        let x = angle * angle;
        let series = |coefficients: [f64; 5]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        return [
            series([1.0, 1.0 / 6.0, 7.0 / 360.0, 31.0 / 15120.0, 127.0 / 604800.0]),
            -series([1.0 / 3.0, 2.0 / 15.0, 2.0 / 63.0, 4.0 / 675.0, 2.0 / 2079.0]),
            series([4.0 / 15.0, 6.0 / 35.0, 13.0 / 210.0, 1153.0 / 69300.0, 187619.0 / 50450400.0]),
        ];
    }
    let factor = angle / sin;
    let slope = (cos * factor - 1.0) / (sin * sin);
    [factor, slope, (3.0 * cos * slope + factor) / (sin * sin)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::{Frame, NodeMotion, join};
    use crate::lie::{Pose, UnitQuaternion, so3};

    #[test]
    fn a_relative_angular_velocity_has_the_components_and_derivatives_of_its_definition() {
        let frame = |turn: [f64; 3], place: [f64; 3]| {
            Pose::new(UnitQuaternion::from_scaled_axis(Vector3::from(turn)), Vector3::from(place))
        };
        let poses = [frame([0.3, -0.8, 1.1], [1.0, 2.0, 3.0]), frame([-1.2, 0.4, 0.2], [0.5, 0.1, -2.0])];
        let offsets = [frame([0.2, 0.1, 0.7], [0.1, 0.0, 0.3]), frame([-0.4, 0.9, 0.0], [0.0, -0.2, 0.1])];
        let spins = [Vector3::new(0.7, -1.3, 0.4), Vector3::new(2.0, 0.6, -0.9)];
        let frames = offsets.map(Frame::new);
        let relative = |turns: [Vector3; 2]| {
            let motions: [NodeMotion; 2] = std::array::from_fn(|side| {
                // The frames' own twists turn them: about their axes, carried to the body.
                let turn = offsets[side].rotation * turns[side];
                let pose = poses[side].compose(&Pose::new(so3::exp(&turn), Vector3::zeros()));
                NodeMotion {
                    velocity: join(&spins[side], &Vector3::new(0.3, 0.2, 0.1)),
                    ..NodeMotion::at_rest(pose)
                }
            });
            Relative::new(&frames, [&motions[0], &motions[1]])
        };
        let at = relative([Vector3::zeros(); 2]);
        let in_world = poses[1].rotation * spins[1] - poses[0].rotation * spins[0];
        let expected = (poses[0].rotation * offsets[0].rotation).inverse_transform_vector(&in_world);
        for i in 0..3 {
            let component = Coordinate::AngularVelocity(i);
            // A few roundings of numbers of size one.
            assert!((component.rate(&at) - expected[i]).abs() < 1e-14);
            let slope = component.rate_gradient(&at);
            for (side, first) in [(0, 0), (1, 6)] {
                for axis in 0..3 {
                    let turned = |angle: f64| {
                        let mut turns = [Vector3::zeros(); 2];
                        turns[side][axis] = angle;
                        component.rate(&relative_at_same_twists(&relative(turns), &at))
                    };
                    let h = 1e-5;
                    let difference = (turned(h) - turned(-h)) / (2.0 * h);
                    // Central differences: h² and ε/h.
                    assert!((slope[first + axis] - difference).abs() < 1e-9, "{i} {side} {axis}");
                }
            }
        }
    }

    /// The frames of one motion with the twists, in their own axes, of another.
    fn relative_at_same_twists(frames: &Relative, twists: &Relative) -> Relative {
        let (first_twist, second_twist) = (twists.first_twist, twists.second_twist);
        Relative { first_twist, second_twist, ..*frames }
    }
}
