//! `kreisel import`: a robot of another program as a folder with a model file.

use super::{CommandError, Ending, counted, say};
use crate::output::write_whole;
use kreisel::results::{WriteError, make_folder};
use kreisel_import::{Choices, Folder};
use std::path::{Path, PathBuf};

/// Make a model of a robot that was written for another program, in URDF (.urdf), MJCF (.xml, .mjcf) or SDF
/// (.sdf).
///
/// The folder holds a model file and the surfaces of the links. What is not taken over is told, and stands on
/// top of the model file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel import models/arm.urdf && kreisel run arm/arm.toml
  kreisel import models/arm.urdf --floating --out free-arm")]
pub struct Import {
    /// File of the robot; its format follows from how its name ends
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Folder to make [default: the name of the robot]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Leave the first link of a URDF file free; it is fixed to the ground otherwise. Other files say it themselves
    #[arg(long)]
    floating: bool,
}

impl Import {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let folder = kreisel_import::import(&self.file, Choices { floating: self.floating })?;
        let place = self.out.clone().unwrap_or_else(|| PathBuf::from(&folder.name));
        let path = write(&folder, &place)?;
        for what in &folder.left {
            say(&format!("not taken over: {what}\n"));
        }
        // What was written is a model like any other, and is held to the same.
        kreisel::read(&path)?;
        let [bodies, joints] = folder.counts.map(|count| count as u64);
        let [bodies, joints] = [counted(bodies, "body", "bodies"), counted(joints, "joint", "joints")];
        let shown = path.display();
        say(&format!("{shown} is written: {bodies}, {joints}; run it with: kreisel run {shown}\n"));
        Ok(Ending::Done)
    }
}

/// Writes the files into a new folder, or an empty one; the path of the model.
fn write(folder: &Folder, place: &Path) -> Result<PathBuf, CommandError> {
    make_folder(place)?;
    if std::fs::read_dir(place).map_err(|source| WriteError::io(place, source))?.next().is_some() {
        return Err(CommandError::Exists(place.to_owned()));
    }
    for (file, bytes) in &folder.surfaces {
        let path = place.join(file);
        let above = path.parent().unwrap_or(place);
        make_folder(above)?;
        write_whole(&path, bytes)?;
    }
    let path = place.join(format!("{}.toml", folder.name));
    write_whole(&path, folder.model.as_bytes())?;
    Ok(path)
}
