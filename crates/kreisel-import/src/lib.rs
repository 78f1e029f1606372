//! Robots of other programs as folders with a model file that a person can read.
//!
//! [`IMPORTERS`] is the table of formats, one file each: an importer makes a [`Robot`] of a text, links in the
//! world where every joint is at zero. `folder` writes it down, the same way for all. What is not taken over
//! is listed, on top of the file and for the caller; what cannot be meant is a mistake with its line.
//! [`to_urdf`] goes the other way.

mod collada;
mod export;
mod folder;
mod mesh;
mod mjcf;
mod name;
mod number;
mod robot;
mod sdf;
mod urdf;
mod xml;

pub use export::{Exported, to_urdf};
pub use folder::Folder;
pub use robot::Robot;

use kreisel::model::document::read_bytes;
use kreisel::model::{Mistake, ModelError, ModelErrors, Place, SourceFile};
use std::path::Path;
use std::sync::Arc;

/// A format that is read.
pub struct Importer {
    /// How names of its files end, without the dot.
    pub ending: &'static str,
    /// What it is called.
    pub format: &'static str,
    /// Makes a robot of a file.
    read: fn(&Request<'_>) -> Result<Robot, ModelErrors>,
}

/// All formats.
pub const IMPORTERS: &[Importer] = &[
    Importer { ending: "urdf", format: "URDF", read: urdf::read },
    Importer { ending: "xml", format: "MJCF", read: mjcf::read },
    Importer { ending: "mjcf", format: "MJCF", read: mjcf::read },
    Importer { ending: "sdf", format: "SDF", read: sdf::read },
];

/// What the user decides where the file does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choices {
    /// Whether the first link of a URDF file is free; it is fixed to the ground otherwise.
    pub floating: bool,
}

/// A file to read.
struct Request<'a> {
    file: &'a Arc<SourceFile>,
    /// The folder of the file, from which those of its meshes are found; without it no other file is read.
    beside: Option<&'a Path>,
    choices: Choices,
}

/// Largest file of a robot, in bytes.
const MAX_SIZE: u64 = 16 << 20;

/// Reads the file of a robot and the surfaces that it names.
pub fn import(path: &Path, choices: Choices) -> Result<Folder, ModelErrors> {
    let name = path.display().to_string();
    let nowhere = SourceFile::new(name.clone(), "");
    let refused = |mistake| ModelErrors::from(ModelError::new(mistake, Place::new(&nowhere, 0..0)));
    let importer = importer_of(path).ok_or_else(|| {
        let known = IMPORTERS.iter().map(|importer| format!("`.{}` ({})", importer.ending, importer.format));
        let known = known.collect::<Vec<_>>().join(", ");
        refused(Mistake::Foreign(format!("files of this kind are not read; those that are end in {known}")))
    })?;
    let bytes = read_bytes(path, MAX_SIZE).map_err(refused)?;
    let text = String::from_utf8(bytes).map_err(|_| refused(Mistake::NotText("it is not UTF-8")))?;
    read(importer, &SourceFile::new(name, text), path.parent(), choices)
}

/// Reads the text of a robot in the format of an ending, without the files that it names.
pub fn import_text(ending: &str, text: &str, choices: Choices) -> Option<Result<Folder, ModelErrors>> {
    let importer = IMPORTERS.iter().find(|importer| importer.ending == ending)?;
    Some(read(importer, &SourceFile::new(format!("robot.{ending}"), text), None, choices))
}

fn importer_of(path: &Path) -> Option<&'static Importer> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    IMPORTERS.iter().find(|importer| importer.ending == ending)
}

fn read(
    importer: &Importer,
    file: &Arc<SourceFile>,
    beside: Option<&Path>,
    choices: Choices,
) -> Result<Folder, ModelErrors> {
    let robot = (importer.read)(&Request { file, beside, choices })?;
    folder::write(&robot, importer.format)
}
