//! The coordinate of a joint that a drive leads, a gear couples, or a spring, friction or a stop acts along.
//!
//! A coordinate is named like its sensor, `slide.displacement`, or by the joint alone where only one can be
//! meant.

use crate::kinematics::Coordinate;
use crate::machine::{JointEntry, MachineBuilder, MeasuredCoordinate};
use crate::model::{Key, ModelError, ModelErrors, Need, PartReader, Reference, ValueKind, name};

/// The key that names a joint.
pub const JOINT: Key = Key::new("joint", ValueKind::Reference, Need::Required)
    .doc("The joint in which it acts; with the coordinate after a dot (`table.x`) where several would do.");

/// Reads `joint`: the name of a joint, perhaps with a coordinate.
pub fn read(
    reader: &PartReader,
    builder: &MachineBuilder,
    wanted: CoordinateChoice,
) -> Result<MeasuredCoordinate, ModelErrors> {
    let reference = reader.reference("joint")?;
    let (joint, coordinate) = joint_coordinate(reader, builder, &reference, wanted)?;
    let unit = if coordinate.is_angle() { "rad" } else { "m" };
    Ok(MeasuredCoordinate { nodes: joint.nodes, offsets: joint.offsets, coordinate, rate: false, unit })
}

/// Which coordinates will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinateChoice {
    /// Any.
    Any,
    /// An angle.
    Angle,
    /// A displacement.
    Displacement,
}

impl CoordinateChoice {
    fn suits(self, coordinate: Coordinate) -> bool {
        match self {
            Self::Any => true,
            Self::Angle => coordinate.is_angle(),
            Self::Displacement => !coordinate.is_angle(),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Any => "one with a free coordinate",
            Self::Angle => "one with an angle",
            Self::Displacement => "one with a displacement",
        }
    }
}

/// The joint and the coordinate that a name such as `crank` or `slide.displacement` means.
pub fn joint_coordinate<'a>(
    reader: &PartReader,
    builder: &'a MachineBuilder,
    reference: &Reference,
    wanted: CoordinateChoice,
) -> Result<(&'a JointEntry, Coordinate), ModelError> {
    let (owner, quantity) = match reference.name.split_once('.') {
        Some((owner, quantity)) => (owner, Some(quantity)),
        None => (reference.name.as_str(), None),
    };
    let joint =
        builder.frames().joint(&Reference { name: owner.to_string(), place: reference.place.clone() })?;
    // The length of a distance joint is no freedom: the joint itself keeps it.
    let free: Vec<(&str, Coordinate)> =
        joint.coordinates.iter().copied().filter(|(_, x)| *x != Coordinate::Distance).collect();
    let suitable: Vec<(&str, Coordinate)> = match quantity {
        Some(quantity) => free.iter().copied().filter(|(name, _)| *name == quantity).collect(),
        None => free.iter().copied().filter(|(_, coordinate)| wanted.suits(*coordinate)).collect(),
    };
    match (suitable.as_slice(), quantity) {
        ([(_, coordinate)], _) if wanted.suits(*coordinate) => Ok((joint, *coordinate)),
        ([], Some(_)) if !free.is_empty() => {
            let names: Vec<String> = free.iter().map(|(name, _)| format!("{owner}.{name}")).collect();
            Err(reference.unknown("joint coordinate", names.iter().map(String::as_str)))
        }
        ([_, _, ..], _) => Err(several(reader, reference, &suitable)),
        _ => Err(unsuitable(joint, reference, wanted, &free)),
    }
}

fn unsuitable(
    joint: &JointEntry,
    reference: &Reference,
    wanted: CoordinateChoice,
    free: &[(&str, Coordinate)],
) -> ModelError {
    let names: Vec<&str> = free.iter().map(|(name, _)| *name).collect();
    let has = if names.is_empty() { "no free coordinate".to_string() } else { name::list(&names) };
    let found = format!("a {} joint, which has {has}", joint.kind);
    let what = format!("the joint `{}`", reference.name);
    let error = ModelError::unsuitable(what, wanted.noun(), found, &reference.place);
    match joint.coordinates {
        [(_, Coordinate::Distance)] => {
            error.with_hint("the `length` of a distance joint may itself be a law of time")
        }
        _ => error,
    }
}

fn several(reader: &PartReader, reference: &Reference, suitable: &[(&str, Coordinate)]) -> ModelError {
    let names: Vec<String> = suitable.iter().map(|(name, _)| format!("{}.{name}", reference.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    reader.ambiguous(&names, "the joint alone is named").at(&reference.place)
}
