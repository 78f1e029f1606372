//! `kreisel export`: results for other programs.

use super::flag::chosen_signals;
use super::{CommandError, Ending};
use crate::output::{Printer, write_whole};
use kreisel::report::{Recording, gltf};
use kreisel::results::{Channel, CsvWriter};
use std::io;
use std::path::{Path, PathBuf};

/// Write results for other programs: an animation as glTF, or a table of chosen signals.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true),
    after_help = "Examples:
  kreisel export results/heavy-top --gltf
  kreisel export results/heavy-top --csv \"top.position.*\" energy.total -o height.csv"
)]
pub struct Export {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the moving machine as binary glTF 2.0; `DIR/animation.glb` if no file is named
    #[arg(long, group = "what")]
    gltf: bool,

    /// Write a table of these signals, or of those that a pattern with `*` names; printed if no file is named
    #[arg(long, value_name = "SENSOR", num_args = 1.., group = "what")]
    csv: Vec<String>,

    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        let recording = Recording::read(&self.folder)?;
        let mut printer = Printer::new(io::stdout());
        if self.gltf {
            let path = self.output.clone().unwrap_or_else(|| self.folder.join("animation.glb"));
            write_whole(&path, &gltf::glb(&recording))?;
            printer.print(&format!("{}\n", path.display()))?;
            return Ok(Ending::Done);
        }
        let table = self.table(&recording)?;
        match &self.output {
            Some(path) => write_whole(path, &table)?,
            None => printer.print(&String::from_utf8_lossy(&table))?,
        }
        Ok(Ending::Done)
    }

    fn table(&self, recording: &Recording) -> Result<Vec<u8>, CommandError> {
        let table = &recording.table;
        let signals = chosen_signals(table, &self.csv)?;
        let channels: Vec<Channel> = signals.iter().map(|&index| table.signals[index].clone()).collect();
        let path = self.output.as_deref().unwrap_or_else(|| Path::new("standard output"));
        let mut writer = CsvWriter::new(Vec::new(), path, &channels)?;
        for (row, &time) in table.times.iter().enumerate() {
            let values: Vec<f64> = signals.iter().map(|&index| table.columns[index][row]).collect();
            writer.push(time, &values)?;
        }
        Ok(writer.finish()?)
    }
}
