//! `[simulation]`: how the machine is run.

use crate::machine::settings::{KIND, read};
use crate::machine::{MachineBuilder, PartEntry};
use crate::model::{ModelErrors, Part, PartReader};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(&KIND, &add, on_body!(""))];

/// Reads the settings.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let settings = read(&reader)?;
    let off = settings.off_at_start.clone();
    builder.set_settings(settings);
    builder.defer(move |builder| {
        let mut errors = ModelErrors::new();
        for name in &off {
            errors.keep(builder.switch(name, false));
        }
        errors.into_result()
    });
    reader.finish()
}
