//! `[[joint-friction]]`: friction along a coordinate of a joint, given or by the force that the joint
//! transmits.

use std::sync::Arc;

use super::contact_law;
use super::joint_coordinate::{self, CoordinateChoice, JOINT};
use super::spring::add_force;
use crate::element::contact::Friction;
use crate::element::{Bearing, ForceLaw, ForceValue, JointFriction, RegularizedFriction, SlidingMotion};
use crate::machine::sensor::{ConnectionWrench, ForceAlong, Sign};
use crate::machine::{FrictionForm, MachineBuilder, MeasuredCoordinate, PartEntry, Rank};
use crate::model::error::{Mistake, ModelError};
use crate::model::{
    Characteristic, Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind,
};

/// The name in laws of friction.
const SPEED: &[&str] = &["speed"];

/// Keys of `[[joint-friction]]`.
static KIND: PartKind = PartKind {
    name: "joint-friction",
    doc: "Coulomb friction in a joint, made smooth around rest: force × tanh(speed / transition speed) against a displacement, or torque × tanh(rate / transition rate) against an angle. The force or torque is given, or follows from a coefficient of `friction` and the force that the joint transmits: in a prismatic, revolute or spherical joint. Then the laws of contacts are at hand, with static friction and bristles. Measures the `force` or `torque` against the motion; in a spherical joint the vector of the `torque` on the second body, in world axes.",
    occurrence: Occurrence::Many,
    keys: &[
        JOINT,
        Key::new("force", ValueKind::Characteristic(Dimension::SPEED, Dimension::FORCE, SPEED), Need::Optional)
            .doc("Force of sliding, against a displacement: a number, an expression of `speed` (never negative) such as `\"20 + 15*exp(-speed/0.02)\"`, or a curve over it."),
        Key::new("torque", ValueKind::Characteristic(Dimension::ANGULAR_SPEED, Dimension::TORQUE, SPEED), Need::Optional)
            .doc("Torque of sliding, against an angle: likewise, over the angular `speed`."),
        Key::new("friction", ValueKind::Number(Dimension::NONE), Need::Optional)
            .doc("Coefficient of friction, times the force that the joint transmits."),
        Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Optional)
            .doc("Radius of the pin or ball at which the coefficient of friction acts, in a revolute or spherical joint."),
        Key::new("bearing-length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
            .doc("Length of the bearing, which takes a moment as two forces at its ends; without it moments do not press."),
        Key::new("transition-speed", ValueKind::Number(Dimension::SPEED), Need::Default("1e-3"))
            .doc("Speed at which 76 % of the force act; below it the joint creeps."),
        Key::new("transition-rate", ValueKind::Number(Dimension::ANGULAR_SPEED), Need::Default("1e-2"))
            .doc("Angular speed at which 76 % of the torque act; below it the joint creeps."),
        contact_law::FRICTION_LAW,
        contact_law::STATIC_FRICTION,
        contact_law::STRIBECK_SPEED,
        contact_law::BRISTLE_STIFFNESS,
        contact_law::BRISTLE_DAMPING,
        contact_law::VISCOUS_FRICTION,
        contact_law::STRIBECK_EXPONENT,
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_hinge!("[[joint-friction]]\nname = 'friction'\njoint = 'hinge'\ntorque = 1\n"),
)
.changeable()];

/// Adds friction to a joint.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    if reader.has("friction") {
        add_by_reaction(part, &reader, builder)?;
        return reader.finish();
    }
    let (measure, force, rate) = match (reader.has("force"), reader.has("torque")) {
        (true, false) => (CoordinateChoice::Displacement, "force", "transition-speed"),
        (false, true) => (CoordinateChoice::Angle, "torque", "transition-rate"),
        (both, _) => {
            let found = if both { "both are given" } else { "none is given" };
            let error = reader.ambiguous(&["force", "torque", "friction"], found);
            return Err(error.with_hint("`force` along a displacement, `torque` about an angle").into());
        }
    };
    refuse_other_transition(&reader, rate)?;
    let along = joint_coordinate::read(&reader, builder, measure)?;
    let law = FrictionBySpeed { sliding: reader.characteristic(force)?, rate: reader.positive(rate)? };
    let speeds = std::iter::once(0.0).chain((0..=SAMPLES).map(|sample| {
        // Evenly in logarithms, over six decades.
        MAX_SPEED * 10.0_f64.powf(6.0 * (f64::from(sample) / f64::from(SAMPLES) - 1.0))
    }));
    for speed in speeds {
        let sliding = law.formula_at(speed)[0];
        if !(sliding >= 0.0 && sliding.is_finite()) {
            let error = reader.unsuitable(force, "zero or positive at every speed", sliding);
            let unit = if force == "force" { "m/s" } else { "rad/s" };
            let hint = format!(
                "it is {sliding:.3e} at {speed:.3e} {unit}; friction never drives: `max(…, 0)` keeps it from that"
            );
            return Err(error.with_hint(hint).into());
        }
    }
    add_force(builder, part.name(), &along, vec![Arc::new(law)]);
    reader.finish()
}

/// Friction with a force of sliding that depends on the speed.
#[derive(Debug)]
struct FrictionBySpeed {
    /// Force of sliding over the speed.
    sliding: Characteristic,
    /// Rate at which 76 % of it act.
    rate: f64,
}

/// Speeds up to which a force of sliding is looked at, in m/s or rad/s, and at how many. A choice: beyond them it
/// is zero where it would drive.
const MAX_SPEED: f64 = 1000.0;
const SAMPLES: u32 = 240;

impl FrictionBySpeed {
    /// The force of sliding at a speed, and its derivative. It never drives.
    fn sliding_at(&self, speed: f64) -> [f64; 2] {
        match self.formula_at(speed) {
            [force, _] if force < 0.0 => [0.0; 2],
            found => found,
        }
    }

    /// What the model says of it.
    fn formula_at(&self, speed: f64) -> [f64; 2] {
        match &self.sliding {
            Characteristic::Table(table) => {
                let [force, slope, _] = table.evaluate(speed);
                [force, slope]
            }
            Characteristic::Formula(formula) => {
                let (force, [slope]) = formula.evaluate([speed]);
                [force, slope]
            }
        }
    }
}

impl ForceLaw for FrictionBySpeed {
    fn at(&self, value: f64, rate: f64, time: f64) -> ForceValue {
        let [force, slope] = self.sliding_at(rate.abs());
        let at_this_speed = RegularizedFriction { force, rate: self.rate }.at(value, rate, time);
        // At rest the force has no part of the slope, which may be infinite there.
        let by_slope = if rate == 0.0 { 0.0 } else { slope * rate.signum() * (rate / self.rate).tanh() };
        let by_rate = at_this_speed.by_rate + by_slope;
        ForceValue { by_rate, ..at_this_speed }
    }
}

/// Against a displacement it is a speed, against an angle a rate: the other has no effect.
fn refuse_other_transition(reader: &PartReader, used: &str) -> Result<(), ModelError> {
    let (other, unit) = match used {
        "transition-rate" => ("transition-speed", "rad/s"),
        _ => ("transition-rate", "m/s"),
    };
    if !reader.has(other) {
        return Ok(());
    }
    let mistake = Mistake::UnusedKey { key: other.to_string(), part: reader.description().to_string() };
    let error = ModelError::new(mistake, reader.place_of(other).clone());
    Err(error.with_hint(format!("this joint has `{used}`, in {unit}")))
}

/// Friction by the force that the joint transmits.
fn add_by_reaction(
    part: &Part,
    reader: &PartReader,
    builder: &mut MachineBuilder,
) -> Result<(), ModelErrors> {
    let joint = builder.frames().joint(&reader.reference("joint")?)?.clone();
    let Some(FrictionForm { motion, forces, moments }) = &joint.friction else {
        let found = format!("a {} joint", joint.kind);
        let error = reader.unsuitable("joint", "a prismatic, revolute or spherical joint", found);
        return Err(error.with_hint("give a `force` or a `torque` instead").into());
    };
    let sliding = matches!(motion, SlidingMotion::Along(coordinate) if !coordinate.is_angle());
    let arm = if sliding { 1.0 } else { reader.positive("radius")? };
    refuse_other_transition(reader, if sliding { "transition-speed" } else { "transition-rate" })?;
    let friction = contact_law::read_friction(reader, || match sliding {
        true => reader.positive("transition-speed"),
        false => Ok(arm * reader.positive("transition-rate")?),
    })?;
    let length = if moments.is_empty() { None } else { reader.optional_positive("bearing-length")? };
    let bearing = Bearing { friction, arm, length, forces: forces.clone(), moments: moments.clone() };
    let element = JointFriction::new(joint.nodes, joint.offsets, joint.index, *motion, bearing);
    let mut bristles = Vec::new();
    if let Friction::LuGre(law) = friction {
        let (name, scale) = (part.name(), contact_law::bristle_scale(&law));
        let axes = 0..motion.dimension();
        bristles.extend(
            axes.map(|axis| {
                builder.system_mut().fading_state(format!("{name} (bristle {axis})"), 0.0, scale)
            }),
        );
        builder.start_steady(contact_law::sliding_start(&law, &bristles));
    }
    let element = builder.add_element(part.name(), element.with_bristles(bristles));
    let sensor = match *motion {
        SlidingMotion::Along(coordinate) => {
            let unit = if coordinate.is_angle() { "rad" } else { "m" };
            let (nodes, offsets) = (joint.nodes, joint.offsets);
            let along = MeasuredCoordinate { nodes, offsets, coordinate, rate: false, unit };
            ForceAlong::named(part.name(), element, &along, Sign::Against)
        }
        SlidingMotion::AllAround => {
            let [_, torque] = ConnectionWrench::both(part.name(), element, joint.nodes, joint.offsets);
            torque
        }
    };
    builder.signals_mut().offer(Rank::OnDemand, sensor);
    Ok(())
}
