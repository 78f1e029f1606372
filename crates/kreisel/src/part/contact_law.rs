//! Keys about normal forces and friction that `[[contact]]` and its kin share.

use crate::element::StateId;
use crate::element::contact::{
    Contact, ContactGroup, CoulombFriction, Friction, LuGreFriction, NormalLaw, Surface,
};
use crate::lie::Pose;
use crate::machine::{STANDARD_GRAVITY, SteadyStates};
use crate::model::{Dimension, Key, ModelErrors, Need, PartReader, ValueKind};

pub(super) const LAW: Key =
    Key::new("law", ValueKind::Choice(&["linear", "hertz", "flores"]), Need::Default("\"linear\""))
        .doc("Normal force: `linear` is a spring and a damper; `hertz` that of rounded elastic bodies, with losses (Hunt, Crossley) such that rebounds have exactly the given restitution; `flores` the same with the losses of Flores.");
pub(super) const STIFFNESS: Key =
    Key::new("stiffness", ValueKind::Number(Dimension::STIFFNESS), Need::Optional)
        .doc("Force per depth of the linear law.");
pub(super) const DAMPING: Key =
    Key::new("damping", ValueKind::Number(Dimension::DAMPING), Need::Default("0"))
        .doc("Damping of the linear law; surfaces push but never pull.");
pub(super) const TRANSITION_DEPTH: Key =
    Key::new("transition-depth", ValueKind::Number(Dimension::LENGTH), Need::Default("1e-6"))
        .doc("Depth at which half of the damping of the linear law acts, so that it begins without a jump.");
pub(super) const YOUNGS_MODULUS: Key = Key::new(
    "youngs-modulus",
    ValueKind::Number(Dimension::PRESSURE),
    Need::Optional,
)
.doc(
    "Young's modulus of both bodies for `hertz` and `flores`; beside a rigid one the other's may be halved.",
);
pub(super) const POISSON_RATIO: Key =
    Key::new("poisson-ratio", ValueKind::Number(Dimension::NONE), Need::Default("0.3"))
        .doc("Poisson's ratio of both bodies for `hertz` and `flores`.");
pub(super) const RESTITUTION: Key =
    Key::new("restitution", ValueKind::Number(Dimension::NONE), Need::Default("1"))
        .doc("Speed after over speed before an impact, from 0 to 1, for `hertz` and `flores`; below 0.01 it is taken as 0.01.");
pub(super) const REST_SPEED: Key =
    Key::new("rest-speed", ValueKind::Number(Dimension::SPEED), Need::Default("1e-3"))
        .doc("Speed of meeting below which `hertz` and `flores` see no impact: the losses grow no further.");
pub(super) const EFFECTIVE_RADIUS: Key =
    Key::new("effective-radius", ValueKind::Number(Dimension::LENGTH), Need::Optional)
        .doc("R with 1/R = 1/R₁ + 1/R₂ for `hertz` and `flores`; from the shapes if not given, needed for corners and edges.");
pub(super) const FRICTION: Key = Key::new("friction", ValueKind::Number(Dimension::NONE), Need::Default("0"))
    .doc("Coefficient of sliding friction.");
pub(super) const STATIC_FRICTION: Key =
    Key::new("static-friction", ValueKind::Number(Dimension::NONE), Need::Optional).doc(
        "Coefficient of friction near rest, the same as `friction` or larger; that of sliding if not given.",
    );
pub(super) const STRIBECK_SPEED: Key =
    Key::new("stribeck-speed", ValueKind::Number(Dimension::SPEED), Need::Optional)
        .doc("Speed at which static friction has fallen by two thirds towards that of sliding; ten transition speeds, or 1 mm/s for `lugre`, if not given.");
pub(super) const TRANSITION_SPEED: Key =
    Key::new("transition-speed", ValueKind::Number(Dimension::SPEED), Need::Default("1e-3"))
        .doc("Speed at which 76 % of the friction act; below it surfaces creep.");

pub(super) const FRICTION_LAW: Key = Key::new("friction-law", ValueKind::Choice(&["coulomb", "lugre"]), Need::Default("\"coulomb\""))
            .doc("Law of friction: `coulomb` by the sliding velocity, made smooth around rest; `lugre` by bristles that bend, slip and spring back, so that surfaces stick: without creep if `bristle-damping` ends the swing of what they carry.");
pub(super) const BRISTLE_STIFFNESS: Key =
    Key::new("bristle-stiffness", ValueKind::Number(PER_LENGTH), Need::Default("1e5"))
        .doc("Stiffness of the bristles of `lugre`, per normal force, in 1/m.");
pub(super) const BRISTLE_DAMPING: Key = Key::new("bristle-damping", ValueKind::Number(PER_SPEED), Need::Optional)
            .doc("Damping of the bristles of `lugre`, per normal force, in s/m; √(σ₀/g) with g = 9.80665 m/s² if not given, 101 s/m for the default stiffness, which ends the swing of what rests by its weight. With less bristles swing on, with √(g σ₀) rad/s, and what swings creeps.");
pub(super) const VISCOUS_FRICTION: Key =
    Key::new("viscous-friction", ValueKind::Number(PER_SPEED), Need::Default("0"))
        .doc("Friction of `lugre` that grows with the speed, per normal force, in s/m.");
pub(super) const STRIBECK_EXPONENT: Key =
    Key::new("stribeck-exponent", ValueKind::Number(Dimension::NONE), Need::Default("2"))
        .doc("Exponent of the fall from static friction to that of sliding, for `lugre`.");

/// 1/m
const PER_LENGTH: Dimension = Dimension::from_exponents([-1, 0, 0, 0]);
/// s/m
const PER_SPEED: Dimension = Dimension::from_exponents([-1, 0, 1, 0]);

/// Most different shapes of a group that are compared with each other.
const MAX_SURFACES: usize = 30;

/// What the keys say.
pub(super) struct Laws {
    pub normal: NormalLaw,
    pub friction: Friction,
    pub effective_radius: Option<f64>,
}

impl Laws {
    /// Laws of a contact.
    pub fn read(reader: &PartReader) -> Result<Self, ModelErrors> {
        let friction = read_friction(reader, || reader.positive("transition-speed"))?;
        Self::with_friction(reader, friction, "rest-speed")
    }

    /// Laws of a group, whose pairs come and go: no bristles, and one speed of meeting for all.
    pub fn read_for_group(reader: &PartReader) -> Result<Self, ModelErrors> {
        let law = reader.choice("friction-law")?;
        if law != "coulomb" {
            let requirement = "`coulomb` in a group, whose pairs come and go and keep no bristles";
            let error = reader.unsuitable("friction-law", requirement, law);
            return Err(error.with_hint("name the two bodies in a `[[contact]]`: it has bristles").into());
        }
        let friction = read_friction(reader, || reader.positive("transition-speed"))?;
        Self::with_friction(reader, friction, "impact-speed")
    }

    fn with_friction(reader: &PartReader, friction: Friction, speed: &str) -> Result<Self, ModelErrors> {
        let law = reader.choice("law")?;
        if law == "linear" {
            let normal = NormalLaw::Linear {
                stiffness: required(reader, "stiffness", "the linear law")?,
                damping: reader.not_negative("damping")?,
                transition: reader.positive("transition-depth")?,
            };
            return Ok(Self { normal, friction, effective_radius: None });
        }
        let ratio = reader.number("poisson-ratio")?;
        let exists = -1.0 < ratio && ratio <= 0.5;
        reader.require(exists, "poisson-ratio", "above -1 and at most 0.5", ratio)?;
        let restitution = reader.number("restitution")?;
        let exists = (0.0..=1.0).contains(&restitution);
        reader.require(exists, "restitution", "from 0 (no rebound) to 1 (no loss)", restitution)?;
        let modulus = required(reader, "youngs-modulus", "Hertz's law")? / (2.0 * (1.0 - ratio * ratio));
        let rest_speed = reader.positive(speed)?;
        let normal = match law {
            "hertz" => NormalLaw::hertz(modulus, restitution, rest_speed),
            _ => NormalLaw::flores(modulus, restitution, rest_speed),
        };
        Ok(Self { normal, friction, effective_radius: reader.optional_positive("effective-radius")? })
    }

    /// Whether Hertz's law misses a radius.
    fn is_sharp(&self, contact: &Contact) -> bool {
        let sharp = contact.couples().iter().any(|couple| !couple.radius.is_finite());
        sharp && matches!(self.normal, NormalLaw::Hertz { .. })
    }

    /// Refuses Hertz's law for members of a group that have corners or edges, or that are flat on flat.
    pub fn fit_group(&self, reader: &PartReader, contact_group: &ContactGroup) -> Result<(), ModelErrors> {
        let mut surfaces: Vec<(Surface, bool)> = Vec::new();
        for member in contact_group.members() {
            let kind = (member.surface, member.node.is_none());
            if !surfaces.contains(&kind) && surfaces.len() < MAX_SURFACES {
                surfaces.push(kind);
            }
        }
        for (first, ground) in &surfaces {
            for (second, _) in surfaces.iter().filter(|(_, other)| !(*ground && *other)) {
                let none = Pose::identity();
                let contact =
                    Contact::new([None, None], [none, none], [*first, *second], self.normal, self.friction);
                if self.effective_radius.is_none() && self.is_sharp(&contact) {
                    let found = format!("a {} and a {}", first.word(), second.word());
                    let error = reader.unsuitable("law", "for rounded surfaces", found);
                    let hint = "give an `effective-radius`, or take `law = \"linear\"`";
                    return Err(error.with_hint(hint).into());
                }
            }
        }
        Ok(())
    }

    /// The contact with its effective radius, which Hertz's law needs.
    pub fn fit(
        &self,
        reader: &PartReader,
        contact: Contact,
        words: [&str; 2],
    ) -> Result<Contact, ModelErrors> {
        if let Some(radius) = self.effective_radius {
            return Ok(contact.with_radius(radius));
        }
        if self.is_sharp(&contact) {
            let found =
                format!("a {} and a {}, which meet at corners, edges or flat sides", words[0], words[1]);
            let error = reader.unsuitable("law", "for rounded surfaces", found);
            return Err(error.with_hint("give an `effective-radius`, or take `law = \"linear\"`").into());
        }
        Ok(contact)
    }
}

fn required(reader: &PartReader, key: &str, law: &str) -> Result<f64, ModelErrors> {
    if !reader.has(key) {
        return Err(reader
            .unsuitable("law", &format!("given with `{key}`, which {law} needs"), "none")
            .into());
    }
    reader.positive(key)
}

/// Bristles that slide at the start are bent as by steady sliding, z = g(v)/σ₀ along v. A speed below a tenth
/// of the one at which sticking ends says nothing of a direction.
pub(super) fn sliding_start(friction: &LuGreFriction, states: &[StateId]) -> SteadyStates {
    SteadyStates { states: states.to_vec(), min_rate: 0.1 * friction.stribeck_speed }
}

/// Size of the bristles' deflection that Newton's tolerance of 1e-12 multiplies.
///
/// Sliding bends bristles by μ/σ₀, and after a way of this length nothing is left of an error. A millionth of
/// μ/σ₀ is small enough, and positions can resolve it.
pub(super) fn bristle_scale(friction: &LuGreFriction) -> f64 {
    1e6 * friction.sliding / friction.stiffness
}

/// The law of friction, with the speed at which 76 % of regularised friction act.
pub(super) fn read_friction(
    reader: &PartReader,
    transition_speed: impl FnOnce() -> Result<f64, ModelErrors>,
) -> Result<Friction, ModelErrors> {
    let bristles = reader.choice("friction-law")? == "lugre";
    let sliding = reader.not_negative("friction")?;
    let sticking = match reader.has("static-friction") {
        true => reader.not_negative("static-friction")?,
        false => sliding,
    };
    if sticking < sliding {
        let requirement = format!("at least the `friction` {sliding} of sliding");
        return Err(reader.unsuitable("static-friction", &requirement, sticking).into());
    }
    let stribeck_speed = reader.optional_positive("stribeck-speed")?;
    if bristles {
        let stiffness = reader.positive("bristle-stiffness")?;
        let damping =
            reader.has("bristle-damping").then(|| reader.not_negative("bristle-damping")).transpose()?;
        return Ok(Friction::LuGre(LuGreFriction {
            stiffness,
            // On bristles of σ₀ and σ₁ per force what rests by its weight swings like a mass of 1/g: this is
            // half of critical damping, as for the mass of 1 kg in [CanudasDeWit1995, Table I].
            damping: damping.unwrap_or((stiffness / STANDARD_GRAVITY).sqrt()),
            viscosity: reader.not_negative("viscous-friction")?,
            sliding: if sliding > 0.0 { sliding } else { reader.positive("friction")? },
            sticking,
            stribeck_speed: stribeck_speed.unwrap_or(1e-3),
            exponent: reader.positive("stribeck-exponent")?,
        }));
    }
    if sticking == 0.0 {
        return Ok(Friction::None);
    }
    let transition_speed = transition_speed()?;
    let stribeck_speed = stribeck_speed.unwrap_or(10.0 * transition_speed);
    Ok(Friction::Coulomb(CoulombFriction { sliding, sticking, stribeck_speed, transition_speed }))
}
