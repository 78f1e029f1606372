//! A body led along a path and through turns: all six coordinates are functions of time.
//!
//! The body is fixed to a guide, a frame (A(t), p(t)) that is treated like a node with a known motion. Then
//! the equations are those of a fixed joint between guide and body, their partial time derivative is the part
//! of the rate that the guide's twist V_g makes,
//!
//! ```text
//! Φ_t = ∇_g Φ · V_g,   ∂(B v + Φ_t)/∂t = Σ V_a D_b(∇_a Φ) V_b + ∇_g Φ · V̇_g   (a: both frames, b: the guide)
//! ```
//!
//! and nothing has to be differentiated twice by hand.

use std::sync::Arc;

use super::coordinate_joint::TimeLaw;
use super::{Joint, JointFacts, Rows, lower_pair};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Frame, Motion, NodeId, NodeMotion, Relative, join};
use crate::lie::{Matrix6, Pose, UnitQuaternion, Vector3, Vector6};

/// A turn about an axis by an angle that is a function of time.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Unit vector of the axis, in the axes that the turns before it have made.
    pub axis: Vector3,
    /// Angle in rad, any number of turns.
    pub angle: Arc<dyn TimeLaw>,
}

/// A frame whose motion is a function of time.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Frame in whose axes the path is given.
    pub base: Pose,
    /// Coordinates of the origin in m.
    pub path: [Arc<dyn TimeLaw>; 3],
    /// Turns that are made one after another, each about an axis carried along by those before it.
    pub turns: Vec<Turn>,
    /// Rotation when no turn is made: world from body.
    pub rotation: UnitQuaternion,
}

impl Guide {
    /// Pose, twist and its rate in the guide's own axes.
    pub fn motion(&self, time: f64) -> NodeMotion {
        let mut rotation = UnitQuaternion::identity();
        let (mut omega, mut omega_dot) = (Vector3::zeros(), Vector3::zeros());
        for Turn { axis, angle } in &self.turns {
            let [angle, rate, acceleration] = angle.at(time);
            let turn = UnitQuaternion::from_scaled_axis(angle * axis);
            // In the turned axes: Ω ← EᵀΩ + e θ̇, and with Ė = E ẽ θ̇ its rate.
            let carried = turn.inverse_transform_vector(&omega);
            omega_dot =
                turn.inverse_transform_vector(&omega_dot) + rate * carried.cross(axis) + acceleration * axis;
            omega = carried + rate * axis;
            rotation *= turn;
        }
        let to_body = |vector: &Vector3| self.rotation.inverse_transform_vector(vector);
        let (omega, omega_dot) = (to_body(&omega), to_body(&omega_dot));
        let path = self.path.each_ref().map(|law| law.at(time));
        let derivative = |order: usize| Vector3::from_fn(|axis, _| path[axis][order]);
        let rotation = rotation * self.rotation;
        let mut motion = NodeMotion::at_rest(Pose::new(rotation, self.base.transform_point(&derivative(0))));
        let world_to_body =
            |vector: Vector3| rotation.inverse_transform_vector(&self.base.transform_vector(&vector));
        let u = world_to_body(derivative(1));
        let u_dot = world_to_body(derivative(2)) - omega.cross(&u);
        motion.velocity = join(&omega, &u);
        motion.acceleration = join(&omega_dot, &u_dot);
        motion
    }

    fn laws(&self) -> impl Iterator<Item = &Arc<dyn TimeLaw>> {
        self.path.iter().chain(self.turns.iter().map(|turn| &turn.angle))
    }
}

/// A body that follows a guide.
#[derive(Clone, Debug)]
pub struct GuidedBody {
    nodes: [NodeId; 1],
    guide: Guide,
    frames: [Frame; 2],
}

impl GuidedBody {
    /// The body frame of a node follows a guide.
    pub fn new(node: NodeId, guide: Guide) -> Self {
        let frames = [Pose::identity(), Pose::identity()].map(Frame::new);
        Self { nodes: [node], guide, frames }
    }

    /// Motion of the body relative to the guide, and the guide's own.
    fn relative(&self, at: &Motion) -> (Relative, NodeMotion) {
        let guide = self.guide.motion(at.time);
        (Relative::new(&self.frames, [&guide, &at.nodes[0]]), guide)
    }
}

/// The guide's half of a vector over both frames.
fn guide_part(vector: &PairVector) -> Vector6 {
    vector.fixed_rows::<6>(0).into()
}

/// The body's half of a vector over both frames.
fn body_part(vector: &PairVector) -> Vector6 {
    vector.fixed_rows::<6>(6).into()
}

impl Joint for GuidedBody {
    fn facts(&self) -> JointFacts<'_> {
        JointFacts { time_dependent: true, ..JointFacts::new(&self.nodes, lower_pair::FIXED.len()) }
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let (relative, guide) = self.relative(at);
        let rows = &mut out.holonomic;
        if let Some(violation) = rows.violation.take() {
            for (coordinate, out) in lower_pair::FIXED.iter().zip(violation) {
                *out = coordinate.value(&relative, 0.0);
            }
        }
        if let Some(gradient) = rows.gradient.take() {
            for (coordinate, row) in lower_pair::FIXED.iter().zip(&mut gradient.rows) {
                row[0] += body_part(&coordinate.gradient(&relative));
            }
        }
        if let Some(stiffness) = rows.stiffness.take() {
            let mut hessian = PairMatrix::zeros();
            for (coordinate, lambda) in lower_pair::FIXED.iter().zip(rows.multipliers) {
                coordinate.add_hessian(&relative, *lambda, &mut hessian);
            }
            let part: Matrix6 = hessian.fixed_view::<6, 6>(6, 6).into();
            *stiffness.stiffness(0, 0) += part;
        }
        if let Some(rate_gradient) = rows.rate_gradient.take() {
            for (coordinate, row) in lower_pair::FIXED.iter().zip(&mut rate_gradient.rows) {
                row[0] += body_part(&coordinate.rate_gradient(&relative));
            }
        }
        if let Some([first, second]) = rows.by_time.take() {
            for (index, coordinate) in lower_pair::FIXED.iter().enumerate() {
                let gradient = guide_part(&coordinate.gradient(&relative));
                let change = guide_part(&coordinate.rate_gradient(&relative));
                first[index] = gradient.dot(&guide.velocity);
                second[index] = change.dot(&guide.velocity) + gradient.dot(&guide.acceleration);
            }
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.guide.laws().flat_map(|law| law.corners(from, to)).collect()
    }
}
