//! `[gravity]`: the acceleration of gravity.

use crate::machine::{MachineBuilder, PartEntry, placement};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[gravity]`.
static KIND: PartKind = PartKind {
    name: "gravity",
    doc: "Acceleration of gravity; without this table it is 9.80665 m/s² along -z.",
    occurrence: Occurrence::Once,
    keys: &[Key::new("acceleration", ValueKind::Vector3(Dimension::ACCELERATION), Need::Required)
        .doc("Acceleration vector in world axes.")],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[gravity]\nacceleration = [0, 0, 0]\n"))];

/// Sets gravity.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    builder.set_gravity(placement(&reader).rotation * reader.vector3("acceleration")?);
    reader.finish()
}
