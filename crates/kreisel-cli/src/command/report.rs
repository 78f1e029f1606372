//! `kreisel report`: makes the page of a run again from its results.

use super::{CommandError, Ending};
use crate::output::{Printer, write_whole};
use kreisel::report::{self, Recording};
use kreisel::results::{Computation, checksum};
use std::io;
use std::path::{Path, PathBuf};

/// Make the page of a run again from its results.
///
/// The page is one file that needs no network: the moving machine, plots of every sensor, and the run's
/// facts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel report results/heavy-top
  kreisel report results/heavy-top -o heavy-top.html")]
pub struct Report {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the page to FILE; `DIR/report.html` if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let path = write(&self.folder, self.output.as_deref())?;
        Printer::new(io::stdout()).print(&format!("{}\n", path.display()))?;
        Ok(Ending::Done)
    }
}

/// Writes the page of a folder and tells where it is.
pub fn write(folder: &Path, output: Option<&Path>) -> Result<PathBuf, CommandError> {
    let mut recording = Recording::read(folder)?;
    let path = output.map_or_else(|| recording.page_path(), Path::to_path_buf);
    let page = report::page(&recording);
    write_whole(&path, page.as_bytes())?;
    // A page in the folder belongs to the run: the next one replaces it.
    if output.is_none() {
        let summary = &mut recording.summary;
        if !summary.files.iter().any(|name| name == report::FILE) {
            summary.files.push(report::FILE.to_owned());
        }
        summary.crc32.insert(report::FILE.to_owned(), checksum(page.as_bytes()));
        write_whole(&folder.join(Computation::Run.summary_file()), recording.summary.to_json().as_bytes())?;
    }
    Ok(path)
}
