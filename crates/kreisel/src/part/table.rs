//! `[[table]]`: a function given by points. Its keys stand in the language layer, where expressions are read.

use crate::machine::{MachineBuilder, PartEntry};
use crate::model::{ModelErrors, Part, TABLE};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&TABLE, &add, on_body!("[[table]]\nname = 'pull'\npoints = [[0, 0], [1, 2]]\n"))];

/// Expressions know the table already.
fn add(_: &Part, _: &mut MachineBuilder) -> Result<(), ModelErrors> {
    Ok(())
}
