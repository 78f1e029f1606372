//! `kreisel verify`: whether results are as they were written.

use super::{CommandError, Ending, counted};
use crate::output::Printer;
use kreisel::report::Recording;
use kreisel::results::{Computation, EndStatus, ReadError};
use kreisel::sweep::SweepSummary;
use std::io;
use std::path::{Path, PathBuf};

/// Check whether the files of a folder are as they were written.
///
/// Runs, equilibria, modes and sweeps keep a CRC-32 of each of their files in `run.json`, `static.json`,
/// `modes.json` and `sweep.json`. A file that is missing or differs has a line, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel verify results/heavy-top")]
pub struct Verify {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Verify {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let (mut good, mut bad) = (0, Vec::new());
        let found = Computation::ALL.map(|computation| computation.read_summary(&self.folder));
        let found: Vec<_> = found.into_iter().filter_map(|read| kept(read, &mut bad)).collect();
        let summaries: Vec<_> =
            found.into_iter().filter(|summary| summary.status != EndStatus::Running).collect();
        let sweep = kept(SweepSummary::read(&self.folder), &mut bad);
        let checked: Vec<_> = summaries
            .iter()
            .flat_map(|summary| summary.files.iter().map(|name| summary.check_file(&self.folder, name)))
            .chain(
                sweep
                    .iter()
                    .flat_map(|sweep| sweep.crc32.keys().map(|name| sweep.check_file(&self.folder, name))),
            )
            .collect();
        if checked.is_empty() && bad.is_empty() {
            let folder = self.folder.clone();
            if sweep.is_none() && summaries.is_empty() {
                if is_sweep(&folder) {
                    return Err(CommandError::NoSweepSummary(folder));
                }
                // Says what there is in place of results.
                Recording::read(&folder)?;
            }
            return Err(CommandError::NothingToVerify(folder));
        }
        for result in checked {
            match result {
                Ok(()) => good += 1,
                Err(error) => bad.push(error),
            }
        }
        let mut printer = Printer::new(io::stdout());
        for error in &bad {
            printer.print(&format!("{error}\n"))?;
        }
        if !bad.is_empty() {
            return Ok(Ending::CheckFailed);
        }
        printer.print(&format!("{} as written\n", counted(good, "file is", "files are")))?;
        Ok(Ending::Done)
    }
}

/// A summary that was read; what is wrong with one that was not is kept.
fn kept<T>(read: Result<Option<T>, ReadError>, bad: &mut Vec<ReadError>) -> Option<T> {
    read.unwrap_or_else(|error| {
        bad.push(error);
        None
    })
}

/// Whether a folder holds what a sweep leaves.
fn is_sweep(folder: &Path) -> bool {
    ["sweep.csv", "sweep.journal"].iter().any(|name| folder.join(name).is_file())
}
