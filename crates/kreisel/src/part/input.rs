//! `[[input]]`: a number that is set from outside while the machine runs.

use crate::machine::{MachineBuilder, PartEntry};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[input]]`.
static KIND: PartKind = PartKind {
    name: "input",
    doc: "A number that is set from outside while the machine runs, by a controller or another program. Expressions of forces, loads of beams, states and events use it by its name; whoever steps the machine sets it, and it keeps its value until it is set again.",
    occurrence: Occurrence::Many,
    keys: &[Key::new("value", ValueKind::Number(Dimension::NONE), Need::Default("0"))
        .doc("Value until it is set, in the base unit of where it is used.")],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(&KIND, &add, on_body!("[[input]]\nname = 'push'\n"))];

/// Adds an input.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    super::function::check_name(part, &reader)?;
    builder.add_input(part.name(), reader.number("value")?);
    reader.finish()
}
