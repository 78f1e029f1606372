//! `[[knife-edge]]`: a blade that does not move sideways.

use super::joint::{BODIES, NORMAL, POINT, frames, refuse_point_masses, two_bodies};
use crate::joint::KnifeEdge;
use crate::machine::{JointEntry, MachineBuilder, PartEntry};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[knife-edge]]`.
static KIND: PartKind = PartKind {
    name: "knife-edge",
    doc: "A blade on the second body glides along itself and not sideways: skate, sleigh, runner. Joints such as `[[planar]]` keep it on its surface.",
    occurrence: Occurrence::Many,
    keys: &[
        BODIES,
        POINT,
        NORMAL,
        Key::new("x-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Direction of the blade in the world at the initial configuration, at right angles to the normal; x of the markers, or of the world, if not given."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!("[[knife-edge]]\nname = 'blade'\nbodies = ['ground', 'arm']\npoint = [1, 0, 0]\n"),
)
.spatial()];

/// Adds a blade.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (references, sides) = two_bodies(&reader, builder)?;
    refuse_point_masses(&reader, builder, &references, &sides)?;
    let nodes = sides.map(|side| side.node);
    let offsets = frames(&reader, part.kind(), &sides)?;
    builder.add_joint(KnifeEdge::new(nodes, offsets), JointEntry::new(part, nodes, offsets));
    reader.finish()
}
