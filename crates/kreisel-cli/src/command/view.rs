//! `kreisel view`: opens the page of a run in a browser.

use super::{CommandError, Ending, report};
use crate::output::Printer;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Open the page of a run in a browser.
///
/// Makes the page if the folder has none. The variable BROWSER names a program in place of the usual one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  kreisel view results/heavy-top")]
pub struct View {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl View {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let page = self.folder.join(kreisel::report::FILE);
        let page = if page.is_file() { page } else { report::write(&self.folder, None)? };
        Printer::new(io::stdout()).print(&format!("{}\n", page.display()))?;
        open(&page)?;
        Ok(Ending::Done)
    }
}

fn open(page: &Path) -> Result<(), CommandError> {
    let no_browser = || CommandError::NoBrowser { page: page.to_owned() };
    let page = std::path::absolute(page).map_err(|_| no_browser())?;
    let mut command = match std::env::var_os("BROWSER").filter(|name| !name.is_empty()) {
        Some(name) => Command::new(name),
        None if cfg!(target_os = "macos") => Command::new("open"),
        None if cfg!(windows) => Command::new("explorer"),
        None => Command::new("xdg-open"),
    };
    let quiet = command.arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = quiet.status().map_err(|_| no_browser())?;
    // The file manager of Windows answers 1 even when all went well.
    if status.success() || cfg!(windows) { Ok(()) } else { Err(no_browser()) }
}
