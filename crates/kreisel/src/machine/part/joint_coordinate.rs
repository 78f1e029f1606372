//! The coordinate of a joint along which a spring, friction or a stop acts.

use crate::joint::Coordinate;
use crate::machine::{Assembler, JointEntry, MeasuredCoordinate};
use crate::model::error::{Mistake, ModelError, ModelErrors};
use crate::model::name;
use crate::model::{Key, Need, PartReader, ValueKind};

/// The key that names a joint.
pub const JOINT: Key = Key {
    name: "joint",
    value: ValueKind::Reference,
    need: Need::Required,
    doc: "The joint in which it acts.",
};

/// The key that names a coordinate of the joint.
pub const COORDINATE: Key = Key {
    name: "coordinate",
    value: ValueKind::Text,
    need: Need::Optional,
    doc: "Which of the joint's coordinates is meant, if there are several that would do.",
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
    /// What a coordinate measures; a cosine is neither.
    pub fn of(coordinate: Coordinate) -> Option<Self> {
        match coordinate {
            Coordinate::Angle | Coordinate::RotationVector(_) => Some(Self::Angle),
            Coordinate::Translation(_) | Coordinate::Distance => Some(Self::Displacement),
            Coordinate::Direction(..) => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Angle => "a joint with an angle",
            Self::Displacement => "a joint with a displacement",
        }
    }
}

/// Reads `joint` and `coordinate`.
pub fn read(
    reader: &PartReader,
    assembler: &Assembler,
    wanted: Measure,
) -> Result<MeasuredCoordinate, ModelErrors> {
    let reference = reader.reference("joint")?;
    let joint = assembler.joint(&reference)?;
    let suitable: Vec<(&str, Coordinate)> = (joint.coordinates.iter())
        .filter(|(_, coordinate)| Measure::of(*coordinate) == Some(wanted))
        .map(|(name, coordinate)| (*name, *coordinate))
        .collect();
    if suitable.is_empty() {
        let found = format!("the {} joint `{}`, {}", joint.kind, joint.name, described(joint));
        return Err(reader.unsuitable("joint", wanted.words(), found).into());
    }
    let names: Vec<&str> = suitable.iter().map(|(name, _)| *name).collect();
    let named = reader.optional_text("coordinate")?;
    let coordinate = match (&named, suitable.as_slice()) {
        (Some(text), _) => suitable.iter().find(|(name, _)| *name == text.content()).map(|found| found.1),
        (None, [(_, only)]) => Some(*only),
        (None, _) => {
            let mistake =
                Mistake::MissingKey { key: "coordinate".to_string(), part: reader.description().to_string() };
            let hint = format!("the joint has {}", name::list(&names));
            return Err(ModelError::new(mistake, reader.place_of("joint").clone()).with_hint(hint).into());
        }
    };
    let Some(coordinate) = coordinate else {
        let written = named.as_ref().map_or("", |text| text.content());
        let requirement = format!("one of {}", name::list(&names));
        let error = reader.unsuitable("coordinate", &requirement, format!("`{written}`"));
        return Err(error.with_nearest(written, names).into());
    };
    let unit = if wanted == Measure::Angle { "rad" } else { "m" };
    Ok(MeasuredCoordinate { nodes: joint.nodes, offsets: joint.offsets, coordinate, rate: false, unit })
}

/// What a joint has, in words.
fn described(joint: &JointEntry) -> String {
    let names: Vec<&str> = joint.coordinates.iter().map(|(name, _)| *name).collect();
    if names.is_empty() { "which has none".to_string() } else { format!("which has {}", name::list(&names)) }
}
