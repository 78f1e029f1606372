//! `[gravity]`: the acceleration of gravity.

use crate::machine::MachineBuilder;
use crate::machine::builder::placement;
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Standard acceleration of gravity in m/s²; it acts along −z when nothing is said.
pub const STANDARD: f64 = 9.80665;

/// Keys of `[gravity]`.
pub static KIND: PartKind = PartKind {
    name: "gravity",
    doc: "Acceleration of gravity; without this table it is 9.80665 m/s² along -z.",
    occurrence: Occurrence::Once,
    keys: &[Key {
        name: "acceleration",
        value: ValueKind::Vector3(Dimension::ACCELERATION),
        need: Need::Required,
        doc: "Acceleration vector in world axes.",
    }],
};

/// Sets gravity.
pub fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    builder.gravity = placement(&reader).rotation * reader.vector3("acceleration")?;
    reader.finish()
}
