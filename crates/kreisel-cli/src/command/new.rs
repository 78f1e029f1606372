//! `kreisel new`: a small model to begin with.

use super::{CommandError, Ending, say};
use crate::output::WriteError;
use kreisel::model::name;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Write a small commented model to begin with.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  kreisel new swing && kreisel run swing.toml")]
pub struct New {
    /// Name of the model; the file is NAME.toml in the present folder
    #[arg(value_name = "NAME")]
    name: String,
}

/// The model, with `NAME` in place of its name.
const STARTER: &str = include_str!("starter.toml");

impl New {
    /// Writes the model, unless a file of its name is there.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let name = self.name.strip_suffix(".toml").unwrap_or(&self.name);
        name::check(name).map_err(|_| CommandError::BadModelName(self.name.clone()))?;
        let path = PathBuf::from(format!("{name}.toml"));
        let failed = |source| WriteError::File { path: path.clone(), source };
        // Never over a file that is there, not even one that appeared a moment ago.
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(CommandError::Exists(path)),
            opened => opened.map_err(failed)?,
        };
        file.write_all(STARTER.replace("NAME", name).as_bytes()).map_err(failed)?;
        say(&format!("{} is written; run it with: kreisel run {}\n", path.display(), path.display()));
        Ok(Ending::Done)
    }
}
