//! `kreisel export`: results and models for other programs.

use super::flag::chosen_signals;
use super::{CommandError, Ending, say};
use crate::output::{Printer, write_whole};
use kreisel::model::Document;
use kreisel::part::MachineReader;
use kreisel::report::{Recording, gltf};
use kreisel::results::{Channel, CsvWriter, make_folder};
use std::io;
use std::path::{Path, PathBuf};

/// Write for other programs: results as an animation (glTF) or a table of chosen signals, a model as URDF.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true),
    after_help = "Examples:
  kreisel export results/heavy-top --gltf
  kreisel export results/heavy-top --csv \"top.position.*\" energy.total -o height.csv
  kreisel import models/arm.urdf --out robot && kreisel export robot/arm.toml --urdf -o back.urdf"
)]
pub struct Export {
    /// The folder of the results, or for URDF the model file
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the moving machine as binary glTF 2.0; `DIR/animation.glb` if no file is named
    #[arg(long, group = "what")]
    gltf: bool,

    /// Write a table of these signals, or of those that a pattern with `*` names; printed if no file is named
    #[arg(long, value_name = "SENSOR", num_args = 1.., group = "what")]
    csv: Vec<String>,

    /// Write a model as URDF, with surfaces beside: a tree of bodies on hinges, slides and fixed joints, with end
    /// stops as limits and dampers; what URDF cannot say is refused or told. `MODEL.urdf` if no file is named
    #[arg(long, group = "what")]
    urdf: bool,

    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        if self.urdf {
            return self.write_urdf();
        }
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

    fn write_urdf(&self) -> Result<Ending, CommandError> {
        let (model, reader) = (&self.folder, MachineReader::new());
        let document = Document::read(model, &reader.kinds(), &[])?;
        let machine = reader.document(&document)?;
        let name =
            model.file_stem().map_or_else(|| "robot".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let robot = kreisel_import::to_urdf(&name, &document, &machine)?;
        let path = self.output.clone().unwrap_or_else(|| model.with_extension("urdf"));
        let beside = path.parent().unwrap_or_else(|| Path::new(""));
        for (file, bytes) in &robot.surfaces {
            let surface = beside.join(file);
            make_folder(surface.parent().unwrap_or(beside))?;
            write_whole(&surface, bytes)?;
        }
        write_whole(&path, robot.text.as_bytes())?;
        for what in &robot.left {
            say(&format!("not in the file: {what}\n"));
        }
        Printer::new(io::stdout()).print(&format!("{}\n", path.display()))?;
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
