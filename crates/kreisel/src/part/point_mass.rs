//! `[[point-mass]]`: a mass without rotation.

use super::{body, plane, shape};
use crate::element::Body;
use crate::kinematics::join;
use crate::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3};
use crate::machine::shape::BodyLook;
use crate::machine::{BodyEntry, MachineBuilder, PartEntry, placement};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[point-mass]]`.
static KIND: PartKind = PartKind {
    name: "point-mass",
    doc: "A mass in a point; its axes stay those of the world, and torques on it have no effect.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("mass", ValueKind::Number(Dimension::MASS), Need::Required).doc("Mass."),
        Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
            .doc("Initial position; a guess, which assembly may change, if not given."),
        Key::new("velocity", ValueKind::Vector3(Dimension::SPEED), Need::Optional)
            .doc("Initial velocity in world axes; what the joints and the stated velocities ask for if not given, zero where they ask for nothing."),
        Key::new("fixed", ValueKind::Boolean, Need::Default("false"))
            .doc("Whether assembly must leave the initial position, and the velocity if it is given, exactly as they are."),
        shape::COLOUR,
        shape::VISIBLE,
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[point-mass]]\nname = 'bob'\nmass = 1\n"))];

/// Adds a point mass; other parts refer to it as to a body.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let mass = reader.positive("mass")?;
    let placement = placement(&reader);
    let position = placement.transform_point(&reader.vector3("position")?);
    let velocity = placement.transform_vector(&reader.optional_vector3("velocity")?.unwrap_or_default());
    let (name, group) = (part.name(), Group::Vector(3));
    let pose = Pose::new(UnitQuaternion::identity(), position);
    let inertia = Matrix3::zeros();
    let body = BodyEntry { mass, ..BodyEntry::new(name, group, pose) };
    let node = builder.add_body(body, join(&Vector3::zeros(), &velocity));
    builder.add_element(name, Body::new(node, mass, inertia, builder.gravity()));
    builder.set_stated(node, body::stated(&reader));
    plane::hold(&reader, builder, (name, node), (group, pose), [Vector3::zeros(), velocity])?;
    let (colour, visible) = (shape::colour(&reader)?, reader.boolean("visible")?);
    body::show(builder, node, BodyLook { colour, visible, ..BodyLook::default() });
    if reader.boolean("fixed")? {
        builder.fix(node);
    }
    reader.finish()
}
