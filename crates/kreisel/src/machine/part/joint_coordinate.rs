//! The coordinate of a joint along which a spring, friction or a stop acts.

use crate::joint::Coordinate;
use crate::machine::{Assembler, JointEntry, MeasuredCoordinate};
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::name;
use crate::model::{Key, Need, PartReader, Reference, ValueKind};

/// The key that names a joint.
pub const JOINT: Key = Key {
    name: "joint",
    value: ValueKind::Reference,
    need: Need::Required,
    doc: "The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.",
};

/// What a coordinate measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// An angle in rad.
    Angle,
    /// A displacement in m.
    Displacement,
}

impl Measure {
    /// What a coordinate measures; a cosine is neither, and a distance is kept by the joint itself.
    fn of(coordinate: Coordinate) -> Option<Self> {
        match coordinate {
            Coordinate::Translation(_) => Some(Self::Displacement),
            Coordinate::Direction(..) | Coordinate::Distance => None,
            _ => Some(Self::Angle),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Angle => "a joint with an angle",
            Self::Displacement => "a joint with a displacement",
        }
    }
}

/// Reads `joint`: the name of a joint, perhaps with a coordinate.
pub fn read(
    reader: &PartReader,
    assembler: &Assembler,
    wanted: Measure,
) -> Result<MeasuredCoordinate, ModelErrors> {
    let reference = reader.reference("joint")?;
    let (owner, named) = match reference.name.split_once('.') {
        Some((owner, named)) => (owner, Some(named)),
        None => (reference.name.as_str(), None),
    };
    let joint = assembler.joint(&Reference { name: owner.to_string(), place: reference.place.clone() })?;
    let suitable: Vec<(&str, Coordinate)> = (joint.coordinates.iter())
        .filter(|(_, coordinate)| Measure::of(*coordinate) == Some(wanted))
        .map(|(name, coordinate)| (*name, *coordinate))
        .collect();
    if suitable.is_empty() {
        let found = format!("the {} joint `{}`, {}", joint.kind, joint.name, described(joint));
        return Err(reader.unsuitable("joint", wanted.words(), found).into());
    }
    let names: Vec<String> = suitable.iter().map(|(name, _)| format!("{owner}.{name}")).collect();
    let coordinate = match (named, suitable.as_slice()) {
        (None, [(_, only)]) => *only,
        (None, _) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mistake = Mistake::Ambiguous {
                part: reader.description().to_string(),
                choices: name::list(&names),
                found: "the joint alone is named".to_string(),
            };
            return Err(ModelError::new(mistake, reference.place).into());
        }
        (Some(named), _) => match suitable.iter().find(|(name, _)| *name == named) {
            Some((_, coordinate)) => *coordinate,
            None => {
                return Err(reference.unknown("joint coordinate", names.iter().map(String::as_str)).into());
            }
        },
    };
    let unit = if wanted == Measure::Angle { "rad" } else { "m" };
    Ok(MeasuredCoordinate { nodes: joint.nodes, offsets: joint.offsets, coordinate, rate: false, unit })
}

/// What a joint has, in words.
fn described(joint: &JointEntry) -> String {
    let names: Vec<&str> = joint.coordinates.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        "which has no free coordinate".to_string()
    } else {
        format!("which has {}", name::list(&names))
    }
}
