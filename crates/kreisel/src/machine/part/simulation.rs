//! `[simulation]`: how the machine is run.

use crate::machine::MachineBuilder;
use crate::machine::settings::read;
use crate::model::{Document, ModelErrors, Part, PartReader, Place};

pub(super) use crate::machine::settings::KIND;

/// Reads the settings.
pub fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    builder.settings = read(&reader)?;
    let off = builder.settings.off_at_start.clone();
    builder.defer(move |builder| {
        let mut errors = ModelErrors::new();
        for name in &off {
            errors.keep(builder.switch(name, false));
        }
        errors.into_result()
    });
    reader.finish()
}

/// Where a model says how it is run, or its beginning.
pub fn place(document: &Document) -> Place {
    let part = document.parts_of(KIND.name).next().map(|part| part.entries().place().clone());
    part.or_else(|| document.sources().first().map(|source| Place::new(source, 0..0))).unwrap_or_default()
}
