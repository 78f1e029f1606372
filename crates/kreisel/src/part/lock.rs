//! `[[lock]]`: holds a joint where it is, for events to switch on and off.

use super::joint_coordinate::{self, CoordinateChoice};
use crate::joint::Lock;
use crate::machine::{JointEntry, MachineBuilder, PartEntry};
use crate::model::{ModelErrors, Occurrence, Part, PartKind, PartReader};

/// Keys of `[[lock]]`.
static KIND: PartKind = PartKind {
    name: "lock",
    doc: "Holds a joint's coordinate where it is when the lock is switched on; one that is on at the start holds the initial value.",
    occurrence: Occurrence::Many,
    keys: &[joint_coordinate::JOINT],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_hinge!("[[lock]]\nname = 'brake'\njoint = 'hinge'\n"))];

/// Adds a lock.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let held = joint_coordinate::read(&reader, builder, CoordinateChoice::Any)?;
    let (nodes, offsets) = (held.nodes, held.offsets);
    let lock = Lock::new(nodes, offsets, held.coordinate, builder.frames().initial_value(&held));
    builder.add_joint(lock, JointEntry::new(part, nodes, offsets));
    reader.finish()
}
