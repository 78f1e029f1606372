//! `[simulation]`: how the machine is run.

use crate::machine::Assembler;
use crate::machine::settings::read;
use crate::model::{Document, ModelErrors, Part, PartReader, Place};

pub(super) use crate::machine::settings::KIND;

/// Reads the settings.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    assembler.settings = read(&reader)?;
    let off = assembler.settings.off_at_start.clone();
    assembler.defer(move |assembler| {
        let mut errors = ModelErrors::new();
        for name in &off {
            errors.keep(assembler.switch(name, false));
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
