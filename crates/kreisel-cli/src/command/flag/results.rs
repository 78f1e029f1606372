//! `--out`, `--force`, `--verbose`, `--quiet`: where results go, and how much is said.

use crate::command::{CommandError, warn_of_replacement};
use kreisel::results::{Computation, OutputFolder};
use std::path::{Path, PathBuf};

/// The flags of a computation that writes a folder.
#[derive(Debug, clap::Args)]
pub struct Results {
    /// Write the results into the folder DIR; `results/<model>` if not given
    #[arg(help_heading = "Results", long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the folder even if it holds something else than results of this model
    #[arg(help_heading = "Results", long)]
    pub force: bool,

    /// Print all that was found: every mode or reaction, the work, a line for each file
    #[arg(help_heading = "Results", long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Print nothing but errors
    #[arg(help_heading = "Results", long, short)]
    pub quiet: bool,
}

impl Results {
    /// The folder for results of a model; warns before it replaces some that took long.
    pub fn folder(&self, model: &Path, computation: Computation) -> Result<PathBuf, CommandError> {
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => OutputFolder::default_path(model)?,
        };
        if !self.quiet {
            warn_of_replacement(&folder, computation, None);
        }
        Ok(folder)
    }
}
