//! The files of a run: `trajectory.csv`, `trajectory.vtkhdf` and `run.json` in one folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::recorder::{Record, Sink};
use super::{Machine, StaticRecorder};
use crate::results::vtkhdf::FLUSH_INTERVAL;
use crate::results::{Channel, CsvWriter, ModelIdentity, OutputFolder, RunSummary, VtkHdfWriter, WriteError};

const TABLE: &str = "trajectory.csv";
const SCENE: &str = "trajectory.vtkhdf";
const STATIC_TABLE: &str = "static.csv";
const STATIC_SCENE: &str = "static.vtkhdf";

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
        Self::begin_over(&Channel::time(), [TABLE, SCENE], path, identity, force, machine)
    }

    /// Takes a folder for equilibria: `static.csv` and `static.vtkhdf` over the load factor.
    pub fn begin_static(
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        let first = StaticRecorder::<Self>::axis();
        Self::begin_over(&first, [STATIC_TABLE, STATIC_SCENE], path, identity, force, machine)
    }

    fn begin_over(
        first: &Channel,
        [table_name, scene_name]: [&str; 2],
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
            let scene = folder.create(scene_name)?;
            Ok((table, VtkHdfWriter::new(scene, &path.join(scene_name), &machine.scene(), &channels)?))
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
