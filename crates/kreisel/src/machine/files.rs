//! The files of a run: `trajectory.csv`, `trajectory.vtkhdf` and `run.json` in one folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Machine;
use super::recorder::{Record, Sink};
use crate::results::vtkhdf::FLUSH_INTERVAL;
use crate::results::{CsvWriter, ModelIdentity, OutputFolder, RunSummary, VtkHdfWriter, WriteError};

const TABLE: &str = "trajectory.csv";
const SCENE: &str = "trajectory.vtkhdf";

/// Writes records to the files of a run; they get their final names when it ends.
#[derive(Debug)]
pub struct ResultFiles {
    folder: OutputFolder,
    table: CsvWriter<File>,
    scene: VtkHdfWriter,
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
        let mut folder = OutputFolder::begin(path, identity, force)?;
        let channels = machine.channels();
        let opened = (|| {
            let table = folder.create(TABLE)?;
            let table = CsvWriter::new(table, &path.join(TABLE), &channels)?;
            let scene = folder.create(SCENE)?;
            Ok((table, VtkHdfWriter::new(scene, &path.join(SCENE), &machine.scene(), &channels)?))
        })();
        match opened {
            Ok((table, scene)) => Ok(Self { folder, table, scene, last_flush: Instant::now() }),
            Err(error) => {
                // The first error is the one worth telling.
                let _ = folder.abandon();
                Err(error)
            }
        }
    }

    /// Gives the files their final names, however the run ended; tells the final paths.
    pub fn finish(self, summary: RunSummary) -> Result<Vec<PathBuf>, WriteError> {
        self.table.finish()?;
        self.scene.finish()?;
        self.folder.finish(summary)
    }
}

impl Sink for ResultFiles {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.table.push(record.time, record.values)?;
        self.scene.push(record.time, record.nodes, record.values)?;
        if self.last_flush.elapsed() >= FLUSH_INTERVAL {
            self.last_flush = Instant::now();
            self.table.flush()?;
        }
        Ok(())
    }
}
