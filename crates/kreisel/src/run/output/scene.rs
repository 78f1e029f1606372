//! `scene.json`: what there is to be seen, written whole at the beginning.

use std::io::Write;

use super::{Opened, OutputEntry, OutputFile};
use crate::results::{WriteError, scene};
use crate::run::recorder::NullSink;

pub(in crate::run) const ENTRY: OutputEntry =
    OutputEntry { file: scene::FILE, static_file: "static-scene.json", begin, resume: None };

fn begin(OutputFile { mut file, path, contents }: OutputFile) -> Opened {
    let text = contents.scene.to_json();
    file.write_all(text.as_bytes()).map_err(|source| WriteError::io(path, source))?;
    Ok(Box::new(NullSink))
}
