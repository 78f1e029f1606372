//! The files of a run in one folder: `trajectory.csv`, `trajectory.vtkhdf`, `scene.json`, `report.html`,
//! `run.json`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::StaticRecorder;
use super::recorder::{Record, Sink};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Note, NoteKind};
use crate::machine::Machine;
use crate::report::{self, Recording, ReportError};
use crate::results::vtkhdf::FLUSH_INTERVAL;
use crate::results::{
    Channel, CsvWriter, ModelIdentity, OutputFolder, RunSummary, VtkHdfWriter, WriteError, scene,
};

const TABLE: &str = "trajectory.csv";
const MOTION: &str = "trajectory.vtkhdf";
const STATIC_TABLE: &str = "static.csv";
const STATIC_MOTION: &str = "static.vtkhdf";

/// Writes records to the files of a run; they get their final names when it ends.
#[derive(Debug)]
pub struct ResultFiles {
    folder: OutputFolder,
    table: CsvWriter<File>,
    motion: VtkHdfWriter,
    last_flush: Instant,
}

impl ResultFiles {
    /// Takes a folder and begins its files; `force` takes it whoever filled it.
    pub fn begin(
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        Self::begin_over(&Channel::time(), [TABLE, MOTION], path, identity, force, machine)
    }

    /// Takes a folder for equilibria: `static.csv` and `static.vtkhdf` over the load factor.
    pub fn begin_static(
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        let first = StaticRecorder::<Self>::axis();
        Self::begin_over(&first, [STATIC_TABLE, STATIC_MOTION], path, identity, force, machine)
    }

    fn begin_over(
        first: &Channel,
        [table_name, motion_name]: [&str; 2],
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        let mut folder = OutputFolder::begin(path, identity, force)?;
        let channels = machine.channels();
        let opened = (|| {
            let table = folder.create(table_name)?;
            let table = CsvWriter::over(first, table, &path.join(table_name), &channels)?;
            let motion = folder.create(motion_name)?;
            let scene = machine.scene();
            write_text(&mut folder, scene::FILE, &scene.to_json())?;
            Ok((table, VtkHdfWriter::new(motion, &path.join(motion_name), &scene, &channels)?))
        })();
        match opened {
            Ok((table, motion)) => Ok(Self { folder, table, motion, last_flush: Instant::now() }),
            Err(error) => {
                // The first error is the one worth telling.
                let _ = folder.abandon();
                Err(error)
            }
        }
    }

    /// Takes the folder of a run that did not end and goes on with its files from a checkpoint.
    pub(super) fn resume(
        path: &Path,
        identity: ModelIdentity,
        machine: &Machine,
        reader: &mut Reader,
    ) -> Result<Self, WriteError> {
        let mut folder = OutputFolder::resume(path, identity)?;
        let (channels, scene) = (machine.channels(), machine.scene());
        let table = folder.reopen(TABLE)?;
        let table_path = folder.partial_path(TABLE);
        let position = reader.whole().map_err(|Damaged| WriteError::unknown_place(&table_path))?;
        let table = CsvWriter::resume(table, &table_path, &channels, position)?;
        let motion = folder.reopen(MOTION)?;
        let motion = VtkHdfWriter::resume(motion, &folder.partial_path(MOTION), &scene, &channels, reader)?;
        write_text(&mut folder, scene::FILE, &scene.to_json())?;
        Ok(Self { folder, table, motion, last_flush: Instant::now() })
    }

    /// Brings all records to the disk and saves where the files stand.
    pub(super) fn save(&mut self, out: &mut Writer) -> Result<(), WriteError> {
        out.whole(self.table.sync()?);
        self.motion.flush()?;
        self.motion.sync()?;
        self.motion.save(out);
        Ok(())
    }

    /// The folder.
    pub(super) fn folder(&self) -> &OutputFolder {
        &self.folder
    }

    /// Gives the files their final names, however the run ended; tells the final paths.
    ///
    /// A page that cannot be made is a note in the summary, not a reason to lose the numbers.
    pub fn finish(self, summary: &mut RunSummary, with_report: bool) -> Result<Vec<PathBuf>, WriteError> {
        let Self { mut folder, table, motion, .. } = self;
        table.finish()?;
        motion.finish()?;
        if with_report {
            match page(&folder, summary) {
                Ok(page) => write_text(&mut folder, report::FILE, &page)?,
                Err(error) => {
                    let text = format!("no report was made: {error}");
                    summary.add_notes([&Note::new(NoteKind::NoReport, text)]);
                }
            }
        }
        folder.finish(summary)
    }
}

fn page(folder: &OutputFolder, summary: &RunSummary) -> Result<String, ReportError> {
    let [table, scene, motion] = [TABLE, scene::FILE, MOTION].map(|name| folder.partial_path(name));
    let table = report::read_table(&table)?;
    Ok(report::page(&Recording::with(folder.path(), summary.clone(), table, &scene, &motion)?))
}

fn write_text(folder: &mut OutputFolder, name: &str, text: &str) -> Result<(), WriteError> {
    let mut file = folder.create(name)?;
    file.write_all(text.as_bytes()).map_err(|source| WriteError::io(&folder.partial_path(name), source))
}

impl Sink for ResultFiles {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.table.push(record.time, record.values)?;
        self.motion.push(record.time, record.nodes, record.values)?;
        if self.last_flush.elapsed() >= FLUSH_INTERVAL {
            self.last_flush = Instant::now();
            self.table.flush()?;
        }
        Ok(())
    }
}
