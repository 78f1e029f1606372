//! `kreisel view`: opens the page of a run in a browser.

use super::{CommandError, Ending, report, say};
use crate::output::Printer;
use kreisel::report::{ReportError, read_page};
use kreisel::results::Computation;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Open the page of a run in a browser.
///
/// Makes the page if the folder has none. The variable BROWSER names a program in place of the usual one;
/// where there is none, the path of the page is all that is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel view results/heavy-top
  kreisel view")]
pub struct View {
    /// The folder of the results; the newest run in `results` if not given
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl View {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => newest_run().ok_or(CommandError::NoRuns)?,
        };
        // What is no page of ours, such as a link, is not opened.
        let page = match read_page(&folder).map_err(ReportError::Read)? {
            Some(_) => folder.join(kreisel::report::FILE),
            None => report::write(&folder, None)?,
        };
        Printer::new(io::stdout()).print(&format!("{}\n", page.display()))?;
        // A browser does not know our present folder.
        if !std::path::absolute(&page).is_ok_and(|whole| open(whole.as_os_str())) {
            say(
                "no browser could be started; open the page yourself, or name a program by the variable BROWSER\n",
            );
        }
        Ok(Ending::Done)
    }
}

/// The run in `results`, or in the present folder, that ended last.
fn newest_run() -> Option<PathBuf> {
    let inside = std::fs::read_dir("results").into_iter().flatten().flatten().map(|entry| entry.path());
    let times = inside.chain([PathBuf::from(".")]).filter_map(|folder| {
        let summary = folder.join(Computation::Run.summary_file());
        Some((std::fs::metadata(summary).ok()?.modified().ok()?, folder))
    });
    times.max().map(|(_, folder)| folder)
}

/// Whether a browser took the page at a path or an address.
pub(super) fn open(page: &OsStr) -> bool {
    let mut command = match std::env::var_os("BROWSER").filter(|name| !name.is_empty()) {
        Some(name) => Command::new(name),
        None if cfg!(target_os = "macos") => Command::new("open"),
        None if cfg!(windows) => Command::new("explorer"),
        None => Command::new("xdg-open"),
    };
    let quiet = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The file manager of Windows answers 1 even when all went well.
    quiet.status().is_ok_and(|status| status.success() || cfg!(windows))
}
