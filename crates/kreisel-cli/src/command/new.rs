//! `kreisel new`: a model to begin with, and the schema by which editors help to write it.

use super::flag::json_text;
use super::{CommandError, Ending, say};
use crate::output::{Printer, WriteError};
use crate::shipped::{MODELS, ShippedModel};
use kreisel::model::{name, schema};
use kreisel::part;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Write a model to begin with: a small commented one, or a copy of one that comes with the program.
///
/// Beside it `kreisel.schema.json` is written, unless it is there, with which editors complete and check the
/// model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel new swing && kreisel run swing.toml
  kreisel new linkage --like four-bar
  kreisel new --list")]
pub struct New {
    /// Name of the model; the file is NAME.toml in the present folder
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<String>,

    /// Copy this model of those that `--list` shows
    #[arg(long, value_name = "MODEL")]
    like: Option<String>,

    /// List the models that come with the program
    #[arg(long, conflicts_with_all = ["name", "like"])]
    list: bool,
}

/// The model, with `NAME` in place of its name.
const STARTER: &str = include_str!("starter.toml");

/// The schema beside a model, and the first line of the model, by which editors find it.
const SCHEMA: &str = "kreisel.schema.json";
const SCHEMA_LINE: &str = "#:schema ./kreisel.schema.json\n";

impl New {
    /// Writes the model, unless a file of its name is there, or lists what can be copied.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let Some(given) = &self.name else {
            let line = |model: &ShippedModel| format!("{:<22}{}\n", model.name, model.title());
            Printer::new(io::stdout()).print(&MODELS.iter().map(line).collect::<String>())?;
            return Ok(Ending::Done);
        };
        let name = given.strip_suffix(".toml").unwrap_or(given);
        name::check(name).map_err(|_| CommandError::BadModelName(given.clone()))?;
        let text = match &self.like {
            Some(like) => shipped(like)?.text.to_owned(),
            None => STARTER.replace("NAME", name),
        };
        let path = PathBuf::from(format!("{name}.toml"));
        if !create(&path, &format!("{SCHEMA_LINE}{text}"))? {
            return Err(CommandError::Exists(path));
        }
        create(Path::new(SCHEMA), &json_text(&schema::schema(&part::kinds())))?;
        say(&format!("{} is written; run it with: kreisel run {}\n", path.display(), path.display()));
        Ok(Ending::Done)
    }
}

fn shipped(like: &str) -> Result<&'static ShippedModel, CommandError> {
    let wanted = like.strip_suffix(".toml").unwrap_or(like);
    MODELS.iter().find(|model| model.name == wanted).ok_or_else(|| CommandError::UnknownModel {
        name: like.to_owned(),
        hint: name::suggestion(wanted, MODELS.iter().map(|model| model.name)),
    })
}

/// Writes a file; false if one is there, which stays as it is, even if it appeared only a moment ago.
fn create(path: &Path, text: &str) -> Result<bool, WriteError> {
    let failed = |source| WriteError::File { path: path.to_owned(), source };
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        opened => opened.and_then(|mut file| file.write_all(text.as_bytes())).map(|()| true).map_err(failed),
    }
}
