//! `[[knife-edge]]`: a blade that does not move sideways.

use super::joint::{BODIES, NORMAL, POINT, frames, refuse_point_masses};
use crate::joint::KnifeEdge;
use crate::machine::{JointEntry, MachineBuilder};
use crate::model::kind::key;
use crate::model::{Dimension, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[knife-edge]]`.
pub static KIND: PartKind = PartKind {
    name: "knife-edge",
    doc: "A blade on the second body glides along itself and not sideways: skate, sleigh, runner. Joints such as `[[planar]]` keep it on its surface.",
    occurrence: Occurrence::Many,
    keys: &[
        BODIES,
        POINT,
        NORMAL,
        key(
            "x-axis",
            ValueKind::Vector3(Dimension::NONE),
            Need::Optional,
            "Direction of the blade in the world at the initial configuration, at right angles to the normal; x of the markers, or of the world, if not given.",
        ),
    ],
};

/// Adds a blade.
pub fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let references = reader.references("bodies")?;
    let sides = [builder.attachment(&references[0])?, builder.attachment(&references[1])?];
    if sides[0].node == sides[1].node {
        let found = format!("`{}` and `{}`", references[0].name, references[1].name);
        return Err(reader.unsuitable("bodies", "two different bodies", found).into());
    }
    refuse_point_masses(&reader, builder, KIND.name, &references, &sides)?;
    let nodes = sides.map(|side| side.node);
    let offsets = frames(&reader, part.kind(), &sides)?;
    let (name, kind) = (part.name().to_string(), KIND.name);
    let entry = |index| JointEntry { name, kind, index, nodes, offsets, coordinates: &[] };
    builder.add_joint(KnifeEdge::new(nodes, offsets), entry, part.name());
    reader.finish()
}
