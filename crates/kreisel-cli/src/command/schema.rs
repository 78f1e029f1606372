//! `kreisel schema`: the JSON Schema of model files, for editors.

use super::flag::json_text;
use super::{CommandError, Ending};
use crate::output::Printer;
use kreisel::model::schema;
use kreisel::part;
use std::io;

/// Print the JSON Schema of model files, so that editors complete and check them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  kreisel schema > kreisel.schema.json")]
pub struct Schema {}

impl Schema {
    /// Prints the schema.
    pub fn run(&self) -> Result<Ending, CommandError> {
        Printer::new(io::stdout()).print(&json_text(&schema::schema(&part::kinds())))?;
        Ok(Ending::Done)
    }
}
