//! A tyre that rolls, slips and springs on a road: one point of contact with a brush behind it.
//!
//! The wheel is a thin disc with the axis s. At its contact the road has the normal n; with c = |s × n| the wheel
//! runs along f = (s × n)/c, and l = n × f points to its left. The contact lies below the centre, in the plane of
//! the wheel, at the loaded radius ρ = p/c, p being the height of the centre. The tyre is pressed in by
//! δ = R − ρ, and the load follows from the power of a spring along ρ:
//!
//! ```text
//! N = (k δ + d δ̇)/c,
//! ```
//!
//! never negative. It rolls at V_r = (R − δ/3) s·ω, and slips at V_s = (f·v − V_r, l·v_C). A carcass bends along
//! and across by u before it slips [Pacejka2012, Ch. 7], and a brush of even pressure and stiffness carries
//! [Pacejka2012, Ch. 3]
//!
//! ```text
//! u̇ = −V_s − (|V_r|/σ) u,   F̂ = C (u + τ u̇)/σ,   g = |F̂|/(3 μ N),
//! F = φ F̂,   φ = 1 − g + g²/3 up to g = 1, 1/(3 g) above,
//! M = −t F_l,   t = (a/3) (1 − g)³/φ,
//! ```
//!
//! so that steady rolling has the brush's curve F(C V_s/V_r). What the carcass bends beyond g = 1, when the whole
//! contact slides, ends by itself: u̇ has a term −(g − 1)² |V_s| u/L more, where L is the deflection at g = 1.
//! Along f the force acts at the rolling radius, so that its power is that of slip.

use super::{Element, ElementFacts, EndStop, ForceLaw, Forces, OfferedSignal, StateId};
use crate::kinematics::frame::PairVector;
use crate::kinematics::{FramePair, Motion, NodeId, Relative, pair_between};
use crate::lie::{Pose, Vector3};
use nalgebra::Vector2;
use std::fmt::Debug;

/// The height of a road over the way along it, and its slope.
pub trait RoadProfile: Send + Sync + Debug {
    /// Height and slope.
    fn height(&self, way: f64) -> [f64; 2];
}

/// What a tyre is like.
#[derive(Clone, Copy, Debug)]
pub struct TyreData {
    /// R: radius without load.
    pub radius: f64,
    /// k: stiffness against the load.
    pub vertical_stiffness: f64,
    /// d: damping against the load.
    pub vertical_damping: f64,
    /// μ: friction.
    pub friction: f64,
    /// C along and across: force by slip, at the nominal load if there is one.
    pub slip_stiffness: [f64; 2],
    /// The load at which the slip stiffnesses are those, to which they are in proportion.
    pub nominal_load: Option<f64>,
    /// σ: way along which forces build up.
    pub relaxation_length: f64,
    /// τ: damping of the carcass in parts of its stiffness.
    pub damping_time: f64,
    /// 2 a: length of the contact; the chord of the circle if not given.
    pub contact_length: Option<f64>,
    /// Resistance against rolling, in parts of the load.
    pub rolling_resistance: f64,
}

/// A tyre between a road and a wheel.
#[derive(Debug)]
pub struct Tyre {
    nodes: Vec<NodeId>,
    /// The road with z along its normal and x along its profile, and the wheel with z along its axis.
    pair: FramePair,
    states: [StateId; 2],
    data: TyreData,
    profile: Option<Box<dyn RoadProfile>>,
}

/// The speed in m/s at which three quarters of the resistance against rolling act: walking pace is far above.
const RESISTANCE_SPEED: f64 = 0.1;
/// The least c: a wheel that lies within 6° of the road has no contact.
const FLAT: f64 = 0.1;
/// Deflection, in radii, whose load counts at least where the carcass of an unloaded tyre straightens.
const LIGHT: f64 = 1e-2;
/// Time in s over which the deflection's rate is taken for the energy: far below that of any motion, and far above rounding.
const MOMENT: f64 = 1e-6;

/// Where a wheel meets the road, in the road's axes.
struct Meeting {
    /// n, f, l.
    normal: Vector3,
    forward: Vector3,
    left: Vector3,
    /// s.
    axis: Vector3,
    /// c.
    cosine: f64,
    /// From the centre to the contact: its direction and ρ.
    down: Vector3,
    loaded_radius: f64,
    /// δ.
    deflection: f64,
}

/// What a tyre does at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TyreResult {
    /// N, in N.
    pub load: f64,
    /// δ, in m; negative for the gap.
    pub deflection: f64,
    /// Slip along and tangent of the slip angle, as the carcass has them.
    pub slip: [f64; 2],
    /// Force along f and l.
    pub force: [f64; 2],
    /// Torque about the normal.
    pub aligning_torque: f64,
    /// Rates of the carcass.
    rates: [f64; 2],
}

impl TyreResult {
    /// How a tyre offers it to sensors.
    pub(crate) const SIGNAL: OfferedSignal = OfferedSignal { name: "tyre", size: 7 };

    /// What an element measures by the place of this signal.
    pub(crate) fn measured(element: &dyn Element, at: &Motion, signal: usize) -> Self {
        let mut numbers = [0.0; 7];
        element.measure(at, signal, &mut numbers);
        let [load, deflection, along, across, forward, left, aligning_torque] = numbers;
        let (slip, force) = ([along, across], [forward, left]);
        Self { load, deflection, slip, force, aligning_torque, rates: [0.0; 2] }
    }

    fn numbers(&self) -> [f64; 7] {
        let ([along, across], [forward, left]) = (self.slip, self.force);
        [self.load, self.deflection, along, across, forward, left, self.aligning_torque]
    }
}

/// Force and trail of the brush, in parts: φ and 3 t/a at a force F̂ in parts of 3 μ N.
fn brush(part: f64) -> [f64; 2] {
    if part >= 1.0 {
        return [1.0 / (3.0 * part), 0.0];
    }
    let share = 1.0 - part + part * part / 3.0;
    [share, (1.0 - part).powi(3) / share]
}

impl Tyre {
    /// A tyre between a road and a wheel, in frames on nodes or on the ground, with the two states of its carcass.
    pub fn new(
        nodes: [Option<NodeId>; 2],
        offsets: [Pose; 2],
        states: [StateId; 2],
        data: TyreData,
        profile: Option<Box<dyn RoadProfile>>,
    ) -> Self {
        let (nodes, pair) = pair_between(nodes, offsets);
        Self { nodes, pair, states, data, profile }
    }

    /// Where a wheel meets the road, with its centre and axis in the road's axes; nothing if it lies flat.
    fn meet(&self, centre: &Vector3, axis: Vector3) -> Option<Meeting> {
        let [height, slope] = self.profile.as_ref().map_or([0.0; 2], |profile| profile.height(centre.x));
        let normal = Vector3::new(-slope, 0.0, 1.0) / slope.hypot(1.0);
        let along = axis.cross(&normal);
        let cosine = along.norm();
        if cosine < FLAT {
            return None;
        }
        let forward = along / cosine;
        let loaded_radius = (centre.z - height) * normal.z / cosine;
        Some(Meeting {
            normal,
            forward,
            left: normal.cross(&forward),
            axis,
            cosine,
            down: axis.cross(&forward),
            loaded_radius,
            deflection: self.data.radius - loaded_radius,
        })
    }

    /// The load as a spring that pushes only.
    fn spring(&self) -> EndStop {
        let TyreData { radius, vertical_stiffness: stiffness, vertical_damping: damping, .. } = self.data;
        // Damping begins within a thousandth of the radius.
        EndStop { bounds: [f64::NEG_INFINITY, 0.0], stiffness, damping, transition: 1e-3 * radius }
    }

    fn result(&self, relative: &Relative, meeting: &Meeting, states: &[f64]) -> TyreResult {
        let data = &self.data;
        let (velocity, omega) = (relative.displacement_rate(), relative.angular_rate());
        let touching = velocity + omega.cross(&(meeting.loaded_radius * meeting.down));
        let closing = -meeting.normal.dot(&touching) / meeting.cosine;
        let load = self.spring().at(meeting.deflection, closing, 0.0).force / meeting.cosine;
        let rolling = self.rolling_radius(meeting) * meeting.axis.dot(&omega);
        let slipping = Vector2::new(meeting.forward.dot(&velocity) - rolling, meeting.left.dot(&touching));
        let bent = Vector2::new(states[0], states[1]);
        let capacity = 3.0 * data.friction * load;
        let light = LIGHT * data.radius * data.vertical_stiffness;
        let stiffness = data.slip_stiffness.map(|stiffness| {
            stiffness * data.nominal_load.map_or(1.0, |nominal| load.max(light) / nominal)
                / data.relaxation_length
        });
        let stiffness = Vector2::from(stiffness);
        let straightening = rolling.abs() / data.relaxation_length;
        let sliding = {
            let most = 3.0 * data.friction * load.max(light);
            let beyond = (stiffness.component_mul(&bent).norm() / most - 1.0).max(0.0);
            beyond * beyond * slipping.norm() * stiffness.amax() / most
        };
        let rates = -slipping - (straightening + sliding) * bent;
        let mut force = stiffness.component_mul(&(bent + data.damping_time * rates));
        let mut trail = 0.0;
        if load > 0.0 {
            let [share, lever] = brush(force.norm() / capacity);
            force *= share;
            trail = self.half_length(meeting) / 3.0 * lever;
        } else {
            force = Vector2::zeros();
        }
        TyreResult {
            load,
            deflection: meeting.deflection,
            slip: (bent / data.relaxation_length).into(),
            force: force.into(),
            aligning_torque: -trail * force.y,
            rates: rates.into(),
        }
    }

    /// R − δ/3: what a wheel rolls in a turn, over 2π.
    fn rolling_radius(&self, meeting: &Meeting) -> f64 {
        self.data.radius - meeting.deflection.max(0.0) / 3.0
    }

    /// a.
    fn half_length(&self, meeting: &Meeting) -> f64 {
        let radius = self.data.radius;
        let chord = || (radius * radius - meeting.loaded_radius * meeting.loaded_radius).max(0.0).sqrt();
        self.data.contact_length.map_or_else(chord, |length| 0.5 * length)
    }

    /// The residual by the frames' twists: what the wheel gets, with a minus, and the road.
    fn residual(&self, relative: &Relative, meeting: &Meeting, result: &TyreResult) -> PairVector {
        let [along, across] = result.force;
        let force = result.load * meeting.normal + across * meeting.left;
        let rolling = self.rolling_radius(meeting);
        let speed = rolling * meeting.axis.dot(&relative.angular_rate());
        let resistance =
            -self.data.rolling_resistance * result.load * rolling * (speed / RESISTANCE_SPEED).tanh();
        // About the centre.
        let torque = meeting.loaded_radius * meeting.down.cross(&force)
            + rolling * meeting.down.cross(&(along * meeting.forward))
            + result.aligning_torque * meeting.normal
            + resistance * meeting.axis;
        let force = force + along * meeting.forward;
        let mut out = PairVector::zeros();
        out.fixed_rows_mut::<3>(0).copy_from(&(torque + relative.displacement.cross(&force)));
        out.fixed_rows_mut::<3>(3).copy_from(&force);
        out.fixed_rows_mut::<3>(6).copy_from(&-relative.rotation.tr_mul(&torque));
        out.fixed_rows_mut::<3>(9).copy_from(&-relative.rotation.tr_mul(&force));
        out
    }

    /// Energy of the spring, with the centre and the axis moved on by some time.
    fn energy(&self, relative: &Relative, time: f64) -> f64 {
        let axis: Vector3 = relative.rotation.column(2).into();
        let axis = axis + time * relative.angular_rate().cross(&axis);
        let centre = relative.displacement + time * relative.displacement_rate();
        self.meet(&centre, axis.normalize()).map_or(0.0, |meeting| self.spring().energy(meeting.deflection))
    }

    fn meeting(&self, relative: &Relative) -> Option<Meeting> {
        self.meet(&relative.displacement, relative.rotation.column(2).into())
    }
}

impl Element for Tyre {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts {
            internal_states: &self.states,
            rate_count: 2,
            signals: &[TyreResult::SIGNAL],
            touches: true,
            ..ElementFacts::on(&self.nodes)
        }
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let relative = self.pair.relative(at);
        let Some(meeting) = self.meeting(&relative) else {
            // The carcass keeps its shape.
            (out.wrenches, out.rates, out.tangent, out.internal_tangent) = (None, None, None, None);
            return;
        };
        let result = self.result(&relative, &meeting, at.internal_states);
        let residual = self.residual(&relative, &meeting, &result);
        if let Some(wrenches) = out.wrenches.take() {
            self.pair.add_to_nodes(1.0, &residual, wrenches);
        }
        if let Some(rates) = out.rates.take() {
            rates.iter_mut().zip(result.rates).for_each(|(out, rate)| *out += rate);
        }
        if let Some(energies) = out.energies.take() {
            energies.strain = self.spring().energy(meeting.deflection);
        }
        if let Some(power) = out.power.take() {
            let stored = (self.energy(&relative, MOMENT) - self.energy(&relative, -MOMENT)) / (2.0 * MOMENT);
            power.dissipated = residual.dot(&relative.twist()) - stored;
        }
    }

    fn measure(&self, at: &Motion, _: usize, out: &mut [f64]) {
        let relative = self.pair.relative(at);
        let result =
            self.meeting(&relative).map(|meeting| self.result(&relative, &meeting, at.internal_states));
        out.copy_from_slice(&result.unwrap_or_default().numbers());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brush_has_the_cubic_of_theory_and_then_slides() {
        // Pure side slip, 3 μ N = 3: F = 3 θ (1 − θ + θ²/3), −M = a θ (1 − θ)³.
        for theta in [0.0, 0.2, 0.7, 1.0] {
            let [share, lever] = brush(theta);
            assert!((3.0 * theta * share - (1.0 - (1.0 - theta).powi(3))).abs() < 1e-15);
            assert!((3.0 * theta * share * lever / 3.0 - theta * (1.0 - theta).powi(3)).abs() < 1e-15);
        }
        assert_eq!(brush(4.0), [1.0 / 12.0, 0.0]);
    }
}
