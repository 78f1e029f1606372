//! A disc or a sphere that rolls without slipping on a plane.
//!
//! The plane is the x-y plane of the first frame, the wheel's centre the origin of the second, with the axis
//! of a disc along z. In axes of the first frame, with the displacement d of the centre, the disc's axis n =
//! R e_z and the way r from the centre to the point that touches,
//!
//! ```text
//! Φ = d_z + r_z = 0                                       it touches
//! κ = (ḋ + ω × r)·e_x, e_y = 0,   ω = R Ω₂ − Ω₁           the points that touch have the same velocity
//! sphere: r = −ρ e_z        disc: r = −ρ (e_z − n_z n)/s,   s = √(1 − n_z²)
//! ```
//!
//! The third component of the velocity is the rate of Φ. A disc that lies flat (s = 0) touches with its whole
//! rim and has no such point.

use super::{Joint, JointFacts, RowValues, Rows};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{FramePair, Motion, NodeId, Relative, pair_between};
use crate::lie::{Matrix3, Pose, Vector3, skew};

/// What rolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// A thin disc about the z axis of its frame.
    Disc,
    /// A sphere about the origin of its frame.
    Sphere,
}

/// A wheel on a plane.
#[derive(Clone, Debug)]
pub struct Rolling {
    nodes: Vec<NodeId>,
    pair: FramePair,
    wheel: Wheel,
    radius: f64,
}

/// Smallest sine of the angle between disc and plane, against division by zero where the disc lies flat.
const MIN_SINE: f64 = 1e-12;

/// Where the wheel touches, and how that changes.
struct RollingContact {
    /// r, from the centre to the point that touches.
    arm: Vector3,
    /// ∂r/∂n.
    arm_by_axis: Matrix3,
    /// n.
    axis: Vector3,
    /// s, the sine of the angle between a disc and the plane.
    sine: f64,
}

impl Rolling {
    /// A wheel of a radius between the plane's frame and its own; `None` is the ground.
    pub fn new(nodes: [Option<NodeId>; 2], offsets: [Pose; 2], wheel: Wheel, radius: f64) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, wheel, radius }
    }

    /// Where it touches, in axes of the plane's frame.
    pub fn contact_point(&self, at: &Motion) -> Vector3 {
        let relative = self.pair.relative(at);
        relative.displacement + self.contact(&relative).arm
    }

    fn contact(&self, relative: &Relative) -> RollingContact {
        let (axis, up): (Vector3, Vector3) = (relative.rotation.column(2).into(), Vector3::z());
        if self.wheel == Wheel::Sphere {
            return RollingContact { arm: -self.radius * up, arm_by_axis: Matrix3::zeros(), axis, sine: 1.0 };
        }
        // Entries of the same row of R, so that nothing cancels near a flat disc.
        let sine = relative.rotation[(2, 0)].hypot(relative.rotation[(2, 1)]).max(MIN_SINE);
        let uphill = up - axis.z * axis;
        let turned = (axis * up.transpose() + axis.z * Matrix3::identity()) / sine;
        let arm_by_axis = self.radius * (turned - axis.z / sine.powi(3) * uphill * up.transpose());
        RollingContact { arm: -self.radius / sine * uphill, arm_by_axis, axis, sine }
    }

    /// Gradient of κ along a direction in the plane: that of d, and (r × e)·ω.
    fn nonholonomic_row(relative: &Relative, contact: &RollingContact, direction: usize) -> PairVector {
        let mut row = relative.translation_gradient(direction);
        let lever = contact.arm.cross(&Vector3::ith(direction, 1.0));
        let mut first = row.fixed_rows_mut::<3>(0);
        first -= lever;
        let mut second = row.fixed_rows_mut::<3>(6);
        second += relative.rotation.tr_mul(&lever);
        row
    }

    /// Derivative of Aᵀw for weights w on the two directions, by the frames' twists.
    fn nonholonomic_matrix(relative: &Relative, contact: &RollingContact, weights: &Vector3) -> PairMatrix {
        let mut matrix = PairMatrix::zeros();
        relative.add_translation_hessian(weights, &mut matrix);
        let rotation = &relative.rotation;
        let lever = contact.arm.cross(weights);
        // δn = ñ δΘ₁ − R ẽ_z δΘ₂ and δ(r × w) = −w̃ δr.
        let by_axis = -skew(weights) * contact.arm_by_axis;
        let by_first = by_axis * skew(&contact.axis);
        let by_second = -by_axis * rotation * skew(&Vector3::z());
        add(&mut matrix, 0, 0, &-by_first);
        add(&mut matrix, 0, 6, &-by_second);
        add(&mut matrix, 6, 0, &rotation.tr_mul(&(by_first - skew(&lever))));
        add(&mut matrix, 6, 6, &(skew(&rotation.tr_mul(&lever)) + rotation.tr_mul(&by_second)));
        matrix
    }

    /// n_z/s of a disc: Φ = d_z − ρ s changes with n_z by ρ times it.
    fn tilt(contact: &RollingContact) -> f64 {
        contact.axis.z / contact.sine
    }
}

fn add(matrix: &mut PairMatrix, row: usize, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(row, column);
    view += part;
}

impl Joint for Rolling {
    fn facts(&self) -> JointFacts<'_> {
        JointFacts {
            nonholonomic_rows: 2,
            reaction_frame: self.pair.second_frame(),
            ..JointFacts::new(&self.nodes, 1)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let relative = self.pair.relative(at);
        let contact = self.contact(&relative);
        self.evaluate_touch(&relative, &contact, &mut out.holonomic);
        self.evaluate_slip(&relative, &contact, &mut out.nonholonomic);
    }
}

impl Rolling {
    /// Φ and its derivatives.
    fn evaluate_touch(&self, relative: &Relative, contact: &RollingContact, out: &mut RowValues) {
        if let Some(violation) = out.violation.take() {
            violation[0] = relative.displacement.z - self.radius * contact.sine;
        }
        if let Some(gradient) = out.gradient.take() {
            let row = &mut gradient.rows[0];
            self.pair.add_to_nodes(1.0, &relative.translation_gradient(2), row);
            if self.wheel == Wheel::Disc {
                let factor = self.radius * Self::tilt(contact);
                self.pair.add_to_nodes(factor, &relative.direction_gradient(2, 2), row);
            }
        }
        if let Some(stiffness) = out.stiffness.take() {
            let matrix = out.multipliers[0] * self.hessian(relative, contact);
            self.pair.add_to_blocks(&matrix, stiffness);
        }
        if let Some(rate_gradient) = out.rate_gradient.take() {
            let row = self.hessian(relative, contact).tr_mul(&relative.twist());
            self.pair.add_to_nodes(1.0, &row, &mut rate_gradient.rows[0]);
        }
    }

    /// A and its derivatives.
    fn evaluate_slip(&self, relative: &Relative, contact: &RollingContact, out: &mut RowValues) {
        let matrix = |weights: &Vector3| Self::nonholonomic_matrix(relative, contact, weights);
        if let Some(gradient) = out.gradient.take() {
            for (direction, row) in gradient.rows.iter_mut().take(2).enumerate() {
                self.pair.add_to_nodes(1.0, &Self::nonholonomic_row(relative, contact, direction), row);
            }
        }
        if let Some(stiffness) = out.stiffness.take() {
            let weights = Vector3::new(out.multipliers[0], out.multipliers[1], 0.0);
            self.pair.add_to_blocks(&matrix(&weights), stiffness);
        }
        if let Some(rate_gradient) = out.rate_gradient.take() {
            for (direction, row) in rate_gradient.rows.iter_mut().take(2).enumerate() {
                let matrix = matrix(&Vector3::ith(direction, 1.0));
                self.pair.add_to_nodes(1.0, &matrix.tr_mul(&relative.twist()), row);
            }
        }
    }

    /// Derivative of the gradient of Φ.
    fn hessian(&self, relative: &Relative, contact: &RollingContact) -> PairMatrix {
        let mut matrix = PairMatrix::zeros();
        relative.add_translation_hessian(&Vector3::z(), &mut matrix);
        if self.wheel == Wheel::Disc {
            let gradient = relative.direction_gradient(2, 2);
            relative.add_direction_hessian(2, 2, self.radius * Self::tilt(contact), &mut matrix);
            // d(n_z/s) = dn_z/s³.
            matrix += self.radius / contact.sine.powi(3) * gradient * gradient.transpose();
        }
        matrix
    }
}
