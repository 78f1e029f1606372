//! Joints that lock relative coordinates: `[[revolute]]`, `[[spherical]]`, ….

use crate::joint::{Coordinate, CoordinateJoint, Row, lower_pair};
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::assembler::placement;
use crate::machine::{Assembler, Attachment, JointEntry};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

const fn key(name: &'static str, value: ValueKind, need: Need, doc: &'static str) -> Key {
    Key { name, value, need, doc }
}

const BODIES: Key = key(
    "bodies",
    ValueKind::References(&[2]),
    Need::Required,
    "The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first.",
);
const POINT: Key = key(
    "point",
    ValueKind::Vector3(Dimension::LENGTH),
    Need::Optional,
    "Where the joint stands, in the world at the initial configuration; needed where no marker says it.",
);
const AXIS: Key = key(
    "axis",
    ValueKind::Vector3(Dimension::NONE),
    Need::Optional,
    "Direction of the joint's z axis in the world at the initial configuration; z of the marker, or of the world, if not given.",
);

/// Keys of `[[revolute]]`.
pub static REVOLUTE: PartKind = PartKind {
    name: "revolute",
    doc: "Rotation about the joint's z axis.",
    occurrence: Occurrence::Many,
    keys: &[BODIES, POINT, AXIS],
};

/// Keys of `[[spherical]]`.
pub static SPHERICAL: PartKind = PartKind {
    name: "spherical",
    doc: "Rotation about a point.",
    occurrence: Occurrence::Many,
    keys: &[BODIES, POINT],
};

/// Rows and free coordinates of a kind.
fn equations(kind: &str) -> (Vec<Row>, &'static [(&'static str, Coordinate)]) {
    match kind {
        "revolute" => (lower_pair::revolute(), &[("angle", Coordinate::Angle)]),
        _ => (lower_pair::spherical(), &[]),
    }
}

/// Adds a joint.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (nodes, offsets) = frames(&reader, assembler, part.kind().key("axis").is_some())?;
    let (rows, coordinates) = equations(part.kind().name);
    let joint = CoordinateJoint::between(nodes, offsets, rows);
    let name = part.name();
    let entry = |index| JointEntry {
        name: name.to_string(),
        kind: part.kind().name,
        index,
        nodes,
        offsets,
        coordinates,
    };
    assembler.add_joint(joint, entry, name);
    reader.finish()
}

/// Nodes and frames of a joint: markers as they are, otherwise a common frame at the initial configuration.
fn frames(
    reader: &PartReader,
    assembler: &Assembler,
    has_axis: bool,
) -> Result<([Option<crate::element::NodeId>; 2], [Pose; 2]), ModelErrors> {
    let references = reader.references("bodies")?;
    let attachments = [assembler.attachment(&references[0])?, assembler.attachment(&references[1])?];
    if attachments[0].node == attachments[1].node {
        let found = format!("`{}` twice", references[0].name);
        return Err(reader.unsuitable("bodies", "two different bodies", found).into());
    }
    let nodes = attachments.map(|attachment| attachment.node);
    let point = reader.optional_vector3("point")?;
    let axis = if has_axis { reader.optional_direction("axis")? } else { None };
    if let ([Some(first), Some(second)], None, None) = (attachments.map(|a| a.marker), point, axis) {
        return Ok((nodes, [first, second]));
    }
    let world = common_frame(reader, &attachments, point, axis)?;
    Ok((nodes, attachments.map(|attachment| attachment.offset_of(&world))))
}

/// The joint's frame in the world: at `point` with z along `axis`, or that of the only marker.
fn common_frame(
    reader: &PartReader,
    attachments: &[Attachment; 2],
    point: Option<Vector3>,
    axis: Option<Vector3>,
) -> Result<Pose, ModelErrors> {
    let placement = placement(reader);
    let marker = attachments.iter().find_map(|a| a.marker.map(|marker| a.body.compose(&marker)));
    let position = match (point, marker) {
        (Some(point), _) => placement.transform_point(&point),
        (None, Some(marker)) => marker.position,
        (None, None) => {
            let found = "neither a `point` nor a marker";
            return Err(reader.unsuitable("bodies", "joined at a place", found).into());
        }
    };
    let rotation = match (axis, marker) {
        (Some(axis), _) => turn_z_to(&placement.transform_vector(&axis)),
        (None, Some(marker)) => marker.rotation,
        (None, None) => placement.rotation,
    };
    Ok(Pose::new(rotation, position))
}

/// The shortest rotation that takes z to a direction.
fn turn_z_to(axis: &Vector3) -> UnitQuaternion {
    UnitQuaternion::rotation_between(&Vector3::z(), axis)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI))
}
