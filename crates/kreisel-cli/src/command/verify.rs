//! `kreisel verify`: whether results are as they were written.

use super::{CommandError, Ending, counted};
use crate::output::Printer;
use kreisel::report::Recording;
use kreisel::results::{Computation, EndStatus};
use kreisel::sweep::SweepSummary;
use std::io;
use std::path::PathBuf;

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
        let found = Computation::ALL.map(|computation| computation.summary(&self.folder));
        let summaries: Vec<_> =
            found.into_iter().flatten().filter(|summary| summary.status != EndStatus::Running).collect();
        let sweep = SweepSummary::read(&self.folder);
        if summaries.is_empty() && sweep.is_none() {
            // Says what there is in place of results.
            Recording::read(&self.folder)?;
        }
        let mut printer = Printer::new(io::stdout());
        let of_runs = summaries
            .iter()
            .flat_map(|summary| summary.files.iter().map(|name| summary.check_file(&self.folder, name)));
        let of_sweep = sweep
            .iter()
            .flat_map(|sweep| sweep.crc32.keys().map(|name| sweep.check_file(&self.folder, name)));
        let (mut good, mut bad) = (0, 0);
        for checked in of_runs.chain(of_sweep) {
            match checked {
                Ok(()) => good += 1,
                Err(error) => {
                    bad += 1;
                    printer.print(&format!("{error}\n"))?;
                }
            }
        }
        if bad > 0 {
            return Ok(Ending::CheckFailed);
        }
        printer.print(&format!("{} as written\n", counted(good, "file is", "files are")))?;
        Ok(Ending::Done)
    }
}
