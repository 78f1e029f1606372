//! `[[joint-friction]]`: regularised Coulomb friction along a coordinate of a joint.

use std::sync::Arc;

use super::joint_coordinate::{self, JOINT, Wanted};
use crate::element::{CoordinateForce, RegularizedFriction};
use crate::machine::Assembler;
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::kind::key;
use crate::model::{Dimension, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[joint-friction]]`.
pub static KIND: PartKind = PartKind {
    name: "joint-friction",
    doc: "Coulomb friction in a joint, made smooth around rest: force × tanh(speed / transition speed) against a displacement, or torque × tanh(rate / transition rate) against an angle.",
    occurrence: Occurrence::Many,
    keys: &[
        JOINT,
        key(
            "force",
            ValueKind::Number(Dimension::FORCE),
            Need::Optional,
            "Force of sliding, against a displacement.",
        ),
        key(
            "torque",
            ValueKind::Number(Dimension::TORQUE),
            Need::Optional,
            "Torque of sliding, against an angle.",
        ),
        key(
            "transition-speed",
            ValueKind::Number(Dimension::SPEED),
            Need::Default("1e-3"),
            "Speed at which 76 % of the force act; below it the joint creeps.",
        ),
        key(
            "transition-rate",
            ValueKind::Number(Dimension::ANGULAR_SPEED),
            Need::Default("1e-2"),
            "Angular speed at which 76 % of the torque act; below it the joint creeps.",
        ),
    ],
};

/// Adds friction to a joint.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (measure, force, rate) = match (reader.has("force"), reader.has("torque")) {
        (true, false) => (Wanted::Displacement, "force", "transition-speed"),
        (false, true) => (Wanted::Angle, "torque", "transition-rate"),
        (both, _) => {
            let mistake = Mistake::Ambiguous {
                part: reader.description().to_string(),
                choices: "`force`, `torque`".to_string(),
                found: if both { "both are given" } else { "none is given" }.to_string(),
            };
            let error = ModelError::new(mistake, reader.place().clone());
            return Err(error.with_hint("`force` along a displacement, `torque` about an angle").into());
        }
    };
    let along = joint_coordinate::read(&reader, assembler, measure)?;
    let law = RegularizedFriction { force: reader.not_negative(force)?, rate: reader.positive(rate)? };
    let element = CoordinateForce::new(along.nodes, along.offsets, along.coordinate, vec![Arc::new(law)]);
    assembler.add_element(part.name(), element);
    reader.finish()
}
