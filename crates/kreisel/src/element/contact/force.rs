//! The force of one couple and its exact derivatives.
//!
//! All in axes of the surface's frame 1, for the feature's frame 2 at d, R with the rates w = ḋ and ω. The
//! contact point lies in the middle of the overlap,
//!
//! ```text
//! c = a − (r + g/2) n,   v = w + ω × (c − d),   ġ = n·v,   v_t = v − ġ n
//! F = N (n − φ(v_t, z))
//! ```
//!
//! with the friction φ per normal force and the deflection z of bristles, if there are any. F acts on the
//! feature's body at c, −F on the surface's body: action is reaction, and turning the world turns nothing
//! here. The residual of the frames in their own axes is (c × F, F) and −Rᵀ((c − d) × F, F).

use nalgebra::SMatrix;

use super::Couple;
use super::law::{Friction, FrictionForce, NormalForce, NormalLaw};
use super::nearest_points::{NearestPoints, nearest_points};
use crate::kinematics::frame::{PairMatrix, PairVector};
use crate::kinematics::{Relative, split};
use crate::lie::{Matrix3, Vector3, skew};

/// Derivatives of a vector by (d, θ, w, ω).
type ByMotion = SMatrix<f64, 3, 12>;
/// Derivatives of a number by (d, θ, w, ω).
type RowByMotion = SMatrix<f64, 1, 12>;

/// What a couple knows of the past.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    /// Speed at which it met.
    pub meeting_speed: f64,
    /// Deflection z of its bristles, in axes of the surface's frame.
    pub bristles: Vector3,
}

/// Derivatives of c, F and v_t by (d, θ, w, ω).
struct ContactDerivatives {
    point: ByMotion,
    force: ByMotion,
    sliding: ByMotion,
    gap: RowByMotion,
}

/// How a couple touches: nothing but the gap if it does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touching {
    nearest: NearestPoints,
    /// c.
    pub point: Vector3,
    /// ġ.
    pub gap_rate: f64,
    /// v.
    velocity: Vector3,
    /// v_t.
    sliding: Vector3,
    pub normal: NormalForce,
    /// φ.
    friction_force: FrictionForce,
    /// F on the feature's body.
    pub force: Vector3,
}

impl Couple {
    /// Nearest points, gap and its rate; nothing where centres fall together.
    pub(super) fn meet(&self, relative: &Relative) -> Option<(NearestPoints, Vector3, Vector3)> {
        let nearest = nearest_points(&self.feature, &self.surface, relative)?;
        let point = nearest.core - (nearest.radius + 0.5 * nearest.gap) * nearest.normal;
        let velocity =
            relative.displacement_rate() + relative.angular_rate().cross(&(point - relative.displacement));
        Some((nearest, point, velocity))
    }

    /// The force where the couple touches.
    pub(super) fn contact(
        &self,
        relative: &Relative,
        law: &NormalLaw,
        friction: &Friction,
        history: &History,
    ) -> Option<Touching> {
        let (nearest, point, velocity) = self.meet(relative)?;
        if nearest.gap >= 0.0 {
            return None;
        }
        let n = nearest.normal;
        let gap_rate = n.dot(&velocity);
        let sliding = velocity - gap_rate * n;
        let normal = law.at(-nearest.gap, -gap_rate, history.meeting_speed, self.radius);
        let friction_force = friction.force(&sliding, &n, &history.bristles);
        let force = normal.force * (n - friction_force.value);
        Some(Touching { nearest, point, gap_rate, velocity, sliding, normal, friction_force, force })
    }
}

impl Touching {
    /// Power that is lost: what of N is not stored, and friction.
    pub fn dissipated(&self) -> f64 {
        let friction = self.normal.force * self.friction_force.value.dot(&self.sliding);
        -(self.normal.force - self.normal.elastic) * self.gap_rate + friction
    }

    /// Residual by the frames' twists.
    pub fn residual(&self, relative: &Relative) -> PairVector {
        let torque = self.point.cross(&self.force);
        let own = (self.point - relative.displacement).cross(&self.force);
        let mut out = PairVector::zeros();
        out.fixed_rows_mut::<3>(0).copy_from(&torque);
        out.fixed_rows_mut::<3>(3).copy_from(&self.force);
        out.fixed_rows_mut::<3>(6).copy_from(&-relative.rotation.tr_mul(&own));
        out.fixed_rows_mut::<3>(9).copy_from(&-relative.rotation.tr_mul(&self.force));
        out
    }

    fn derivatives(&self, relative: &Relative) -> ContactDerivatives {
        let NearestPoints { gap, normal: n, core, radius, normal_by, core_by } = self.nearest;
        let (normal_by, core_by) = (widened(&normal_by), widened(&core_by));
        let mut gap_by = RowByMotion::zeros();
        gap_by.fixed_view_mut::<1, 3>(0, 0).copy_from(&n.transpose());
        let lever = (core - relative.displacement).cross(&n);
        gap_by.fixed_view_mut::<1, 3>(0, 3).copy_from(&lever.transpose());
        let point_by = core_by - (radius + 0.5 * gap) * normal_by - 0.5 * n * gap_by;
        let omega = relative.angular_rate();
        let mut arm_by = point_by;
        add(&mut arm_by, 0, &-Matrix3::identity());
        let mut velocity_by = skew(&omega) * arm_by;
        add(&mut velocity_by, 6, &Matrix3::identity());
        add(&mut velocity_by, 9, &-skew(&(self.point - relative.displacement)));
        let rate_by = self.velocity.transpose() * normal_by + n.transpose() * velocity_by;
        let sliding_by = velocity_by - n * rate_by - self.gap_rate * normal_by;
        let force_by = -self.normal.by_depth * gap_by - self.normal.by_rate * rate_by;
        let turning = Matrix3::identity() - self.friction_force.by_normal;
        let total_by = (n - self.friction_force.value) * force_by
            + self.normal.force * (turning * normal_by - self.friction_force.by_sliding * sliding_by);
        ContactDerivatives { point: point_by, force: total_by, sliding: sliding_by, gap: gap_by }
    }

    /// Derivatives of the residual by the frames' twists: by the configuration, and by the velocities.
    ///
    /// Those of c and F by the twists come first, three rows each; all rows of the residual follow from them.
    pub fn tangent(&self, relative: &Relative) -> (PairMatrix, PairMatrix) {
        let ContactDerivatives { point, force, .. } = self.derivatives(relative);
        let (by_configuration, by_velocity) = motion_by_twists(relative);
        // c knows nothing of rates, and velocities change rates alone, which stand behind.
        let point_by: ByMotion = point.fixed_columns::<6>(0) * by_configuration.fixed_rows::<6>(0);
        let force_by_velocity: ByMotion = force.fixed_columns::<6>(6) * by_velocity.fixed_rows::<6>(6);
        let by_rates = self.rows_by(relative, &force_by_velocity);
        let mut by_twists = self.rows_by(relative, &(force * by_configuration));
        let displaced = by_configuration.fixed_rows::<3>(0);
        let turned = by_configuration.fixed_rows::<3>(3);
        let f = skew(&self.force);
        let own = skew(&(self.point - relative.displacement).cross(&self.force));
        let turn = relative.rotation.transpose();
        let mut torque = by_twists.fixed_rows_mut::<3>(0);
        torque -= f * point_by;
        // δ(Rᵀy) = Rᵀ(δy + y~ δθ).
        let mut own_torque = by_twists.fixed_rows_mut::<3>(6);
        own_torque -= turn * (f * (displaced - point_by) + own * turned);
        let mut own_force = by_twists.fixed_rows_mut::<3>(9);
        own_force -= (turn * f) * turned;
        (by_twists, by_rates)
    }

    /// Rows of the residual from those of F, with c and the frames kept.
    fn rows_by(&self, relative: &Relative, force_by: &ByMotion) -> PairMatrix {
        let turn = relative.rotation.transpose();
        let mut rows = PairMatrix::zeros();
        rows.fixed_rows_mut::<3>(0).copy_from(&(skew(&self.point) * force_by));
        rows.fixed_rows_mut::<3>(3).copy_from(force_by);
        let arm = turn * skew(&(self.point - relative.displacement));
        rows.fixed_rows_mut::<3>(6).copy_from(&(-arm * force_by));
        rows.fixed_rows_mut::<3>(9).copy_from(&(-turn * force_by));
        rows
    }
}

impl Touching {
    /// Rate of the bristles: they begin to bend over a short depth. None straightens while surfaces touch:
    /// what rests so lightly that it is not engaged as a whole would creep.
    pub fn bristle_rate(&self) -> Vector3 {
        self.engagement().0 * self.friction_force.rate
    }

    /// Part of the bristles that is engaged, and its derivative by the depth.
    fn engagement(&self) -> (f64, f64) {
        let part = (-self.nearest.gap / self.friction_force.engagement).min(1.0);
        (part * part * (3.0 - 2.0 * part), 6.0 * part * (1.0 - part) / self.friction_force.engagement)
    }

    /// Derivative of the bristles' rate by the bristles.
    pub fn bristle_rate_by_bristles(&self) -> Matrix3 {
        self.engagement().0 * self.friction_force.rate_by_state
    }

    /// Derivatives of the bristles' rate by the frames' twists: by the configuration, and by the velocities.
    pub fn bristle_rate_by_twists(&self, relative: &Relative) -> (ByMotion, ByMotion) {
        let (engaged, engaged_by) = self.engagement();
        let ContactDerivatives { sliding, gap, .. } = self.derivatives(relative);
        let FrictionForce { rate, rate_by_sliding, .. } = self.friction_force;
        let by_motion = engaged * rate_by_sliding * sliding - engaged_by * rate * gap;
        let (by_configuration, by_velocity) = motion_by_twists(relative);
        (by_motion * by_configuration, by_motion * by_velocity)
    }

    /// Derivative of the residual by component `k` of the bristles.
    pub fn residual_by_bristle(&self, relative: &Relative, k: usize) -> PairVector {
        let force: Vector3 = -self.normal.force * self.friction_force.by_state.column(k);
        Self { force, ..*self }.residual(relative)
    }
}

/// Derivatives of (d, θ, w, ω) by the twists of both frames as changes of the configuration, and as
/// velocities.
///
/// δd = d̃ δΘ₁ − δX₁ + R δX₂, δθ = R δΘ₂ − δΘ₁; w = d × Ω₁ − U₁ + R U₂ and ω = R Ω₂ − Ω₁ change with d and R
/// as well.
pub(crate) fn motion_by_twists(relative: &Relative) -> (PairMatrix, PairMatrix) {
    let rotation = &relative.rotation;
    let mut displacement = ByMotion::zeros();
    add(&mut displacement, 0, &skew(&relative.displacement));
    add(&mut displacement, 3, &-Matrix3::identity());
    add(&mut displacement, 9, rotation);
    let mut turn = ByMotion::zeros();
    add(&mut turn, 0, &-Matrix3::identity());
    add(&mut turn, 6, rotation);
    let (omega, _) = split(&relative.first_twist);
    let (second_omega, second_u) = split(&relative.second_twist);
    let rate = -skew(&omega) * displacement - skew(&(rotation * second_u)) * turn;
    let spin = -skew(&(rotation * second_omega)) * turn;
    let (mut by_configuration, mut by_velocity) = (PairMatrix::zeros(), PairMatrix::zeros());
    for (first, rows) in [displacement, turn, rate, spin].iter().enumerate() {
        by_configuration.fixed_rows_mut::<3>(3 * first).copy_from(rows);
    }
    by_velocity.fixed_rows_mut::<3>(6).copy_from(&displacement);
    by_velocity.fixed_rows_mut::<3>(9).copy_from(&turn);
    (by_configuration, by_velocity)
}

fn widened(by_pose: &SMatrix<f64, 3, 6>) -> ByMotion {
    let mut out = ByMotion::zeros();
    out.fixed_view_mut::<3, 6>(0, 0).copy_from(by_pose);
    out
}

fn add(matrix: &mut ByMotion, column: usize, part: &Matrix3) {
    let mut view = matrix.fixed_view_mut::<3, 3>(0, column);
    view += part;
}
