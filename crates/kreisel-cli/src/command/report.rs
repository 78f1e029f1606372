//! `kreisel report`: makes the page of a run again from its results.

use super::{CommandError, Ending};
use crate::output::{Printer, write_whole};
use kreisel::report::{self, Recording};
use kreisel::results::{Computation, checksum};
use std::io;
use std::path::{Path, PathBuf};

/// Make the page of a run again from its results, or one page of several runs.
///
/// The page is one file that needs no network: the moving machine, plots of every sensor, and the run's
/// facts. Of several runs the first one moves; curves of the others are dashed over its own, and signals that
/// only one run has are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel report results/heavy-top
  kreisel report results/heavy-top -o heavy-top.html
  kreisel run models/heavy-top.toml --step 1ms --out results/coarse
  kreisel report results/heavy-top results/coarse -o both.html")]
pub struct Report {
    /// The folder of the results; several are shown in one page
    #[arg(value_name = "DIR", required = true, num_args = 1..)]
    folders: Vec<PathBuf>,

    /// Write the page to FILE; `DIR/report.html` if not given; required for several runs
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let path = match (self.folders.as_slice(), self.output.as_deref()) {
            ([folder], output) => write(folder, output)?,
            (folders, _) if folders.len() > MAX_RUNS => return Err(CommandError::TooManyRuns(MAX_RUNS)),
            (folders, Some(output)) => write_all(folders, output)?,
            (_, None) => return Err(CommandError::NoPageName),
        };
        Printer::new(io::stdout()).print(&format!("{}\n", path.display()))?;
        Ok(Ending::Done)
    }
}

/// Runs of one page, at most: more lines than that nobody tells apart.
const MAX_RUNS: usize = 4;

/// Writes one page of several runs.
fn write_all(folders: &[PathBuf], output: &Path) -> Result<PathBuf, CommandError> {
    let recordings = folders.iter().map(|folder| Recording::read(folder)).collect::<Result<Vec<_>, _>>()?;
    if let Some((first, others)) = recordings.split_first() {
        write_whole(output, report::page_of_all(first, others).as_bytes())?;
    }
    Ok(output.to_owned())
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
