//! `[[marker]]`: a named frame on a body or on the ground.

use crate::lie::{Pose, UnitQuaternion};
use crate::machine::{MachineBuilder, PartEntry, placement};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[marker]]`.
static KIND: PartKind = PartKind {
    name: "marker",
    doc: "A named frame on a body or on the ground; other parts refer to it as `body.marker` or `ground.marker`.",
    occurrence: Occurrence::ManyOn("body"),
    keys: &[
        Key::new("body", ValueKind::Reference, Need::Default("\"ground\""))
            .doc("The body that carries it, or `ground`."),
        Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
            .doc("Position, in the axes that `axes` names: from the origin of the body, or of the world."),
        Key::new("orientation", ValueKind::Orientation, Need::Optional)
            .doc("Rotation from marker axes to the axes that `axes` names."),
        Key::new("axes", ValueKind::Choice(&["body", "world"]), Need::Default("\"body\""))
            .doc("Axes of `position` and `orientation`: those of the body, or the world at the initial configuration."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[marker]]\nname = 'tip'\nbody = 'arm'\n"))];

/// Adds a marker.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let body = reader.reference("body")?;
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let given = Pose::new(rotation, reader.vector3("position")?);
    let in_world = reader.choice("axes")? == "world";
    let world = placement(&reader).compose(&given);
    if body.is_ground() {
        builder.frames_mut().add_marker(None, part.name().to_string(), world, part.name_place())?;
        return reader.finish();
    }
    let owner = builder.frames().body(&body)?;
    let from_origin = || Pose::new(given.rotation, owner.origin + given.position);
    let frame = if in_world { owner.pose.inverse().compose(&world) } else { from_origin() };
    // The body's name already has the prefix of an included file.
    let prefix = &reader.context().scope().prefix;
    let name = part.name().strip_prefix(prefix.as_str()).unwrap_or(part.name()).to_string();
    builder.frames_mut().add_marker(Some(&body.name), name, frame, part.name_place())?;
    reader.finish()
}
