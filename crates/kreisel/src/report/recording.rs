//! A results folder, read back.

use super::motion::{MotionError, RecordedMotion};
use super::{FILE, ReportError};
use crate::file::{JsonLimit, own_bytes, read_own};
use crate::results::{
    Channel, Computation, CsvTable, EndStatus, Hdf5Reader, ReadError, ReadFault, RunSummary, Scene, csv,
    scene, vtkhdf,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Everything that a run left behind, as far as a picture of it needs.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The folder.
    pub folder: PathBuf,
    /// Which model was run, how, and how it ended.
    pub summary: RunSummary,
    /// What there is to be seen.
    pub scene: Scene,
    /// Every signal.
    pub table: CsvTable,
    /// Poses of the nodes, thinned.
    pub motion: RecordedMotion,
    /// The signal over which all others stand, if it is not the time; times are then numbers of points.
    pub over: Option<String>,
}

/// Poses of one picture, at most: 28 bytes each on the page.
const MAX_POSES: usize = 180_000;

impl Recording {
    /// Reads the folder of a run that has ended; files that were changed since are refused.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let Some(summary) = Computation::Run.read_summary(folder)? else { return Err(without_run(folder)) };
        if summary.status == EndStatus::Running {
            return Err(ReportError::NotEnded { path: folder.to_owned() });
        }
        // Folders without checksums were written before there were any.
        for name in [csv::FILE, scene::FILE, vtkhdf::FILE].iter().filter(|_| !summary.crc32.is_empty()) {
            summary.check_file(folder, name)?;
        }
        Self::with(folder, summary, |name| folder.join(name))
    }

    /// Puts a recording together from files that may still have their temporary names; `path` tells where
    /// each of them is.
    pub fn with(
        folder: &Path,
        summary: RunSummary,
        path: impl Fn(&str) -> PathBuf,
    ) -> Result<Self, ReportError> {
        let table = read_signals(&path(csv::FILE), &path(vtkhdf::FILE))?;
        let scene = read_scene(&path(scene::FILE))?;
        let motion = RecordedMotion::read(&path(vtkhdf::FILE), scene.nodes.len(), MAX_POSES)?;
        Ok(Self { folder: folder.to_owned(), summary, scene, table, motion, over: None })
    }

    /// The same of equilibria, whose table, scene and motion are in files of these names, over `axis`.
    ///
    /// A path may turn back in its load factor, so that its points are counted.
    pub(crate) fn with_path(
        folder: &Path,
        summary: RunSummary,
        axis: Channel,
        [table, scene, motion]: [PathBuf; 3],
    ) -> Result<Self, ReportError> {
        let mut table = read_table(&axis, &table)?;
        let scene = read_scene(&scene)?;
        let motion = RecordedMotion::read_numbered(&motion, scene.nodes.len(), MAX_POSES)?;
        let numbers = (0..table.times.len()).map(|point| point as f64).collect();
        let over = Some(axis.name.clone());
        table.columns.insert(0, std::mem::replace(&mut table.times, numbers));
        table.signals.insert(0, axis);
        Ok(Self { folder: folder.to_owned(), summary, scene, table, motion, over })
    }

    /// Where the page of this recording belongs.
    pub fn page_path(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// What a place holds in which there is no run.
fn without_run(folder: &Path) -> ReportError {
    let path = folder.to_owned();
    if folder.is_file() {
        return ReportError::NotAFolder { path };
    }
    let Ok(entries) = fs::read_dir(folder) else { return ReportError::NoFolder { path } };
    let others = [(Computation::Static, "an equilibrium"), (Computation::Modes, "modes")];
    let found = others.map(|(computation, words)| Some((computation.summary(folder)?.model.path, words)));
    let found: Vec<(String, &str)> = found.into_iter().flatten().collect();
    if let Some((model, _)) = found.first() {
        let what = found.iter().map(|(_, words)| *words).collect::<Vec<_>>().join(" and ");
        return ReportError::NoRun { path, what, model: model.clone() };
    }
    if folder.join("sweep.csv").is_file() {
        return ReportError::IsSweep { path };
    }
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut inside: Vec<PathBuf> =
        folders.filter(|path| Computation::Run.summary(path).is_some()).take(MAX_FOLDERS).collect();
    inside.sort();
    match inside.is_empty() {
        true => ReportError::NotResults { path },
        false => ReportError::Inside { path, inside },
    }
}

/// Most folders that a message names.
const MAX_FOLDERS: usize = 5;

/// Most bytes of signals, as a table or in memory, of which a page is made.
const MAX_TABLE_BYTES: u64 = 1 << 29;

/// Largest scene in bytes: an element of a beam takes less than 2 kB, and a machine has at most 400 000 nodes.
const MAX_SCENE_BYTES: u64 = 800_000_000;
/// Memory that a scene may take: its keys are known, and go to fields of their own.
const SCENE_LIMIT: JsonLimit = JsonLimit { most: 2_000_000_000, object: 160, value: 16 };

/// Reads the signals of a run: what they are from its table, their numbers from its motion, which has the same and
/// needs no parsing.
fn read_signals(table: &Path, motion: &Path) -> Result<CsvTable, ReportError> {
    let signals = CsvTable::read_signals(table)?;
    let unreadable = |error: ReadFault| MotionError::unreadable(motion, error);
    let file = read_own(motion).map_err(|error| unreadable(error.into()))?;
    let mut file = Hdf5Reader::new(file).map_err(unreadable)?;
    let times = file.table("signals/time").map_err(unreadable)?;
    let size = times.rows.saturating_mul(8 * (signals.len() as u64 + 1));
    if size > MAX_TABLE_BYTES {
        return Err(ReportError::TooLarge { path: motion.to_owned(), size, most: MAX_TABLE_BYTES });
    }
    let names: Vec<&str> = signals.iter().map(|signal| signal.name.as_str()).collect();
    let columns = file.columns("signals", &names, times.rows).map_err(unreadable)?;
    let times = file.rows(&times, 0, times.rows).map_err(unreadable)?;
    Ok(CsvTable { times, signals, columns })
}

/// Reads a table of equilibria for a page.
fn read_table(first: &Channel, path: &Path) -> Result<CsvTable, ReportError> {
    let size = fs::metadata(path).map_or(0, |data| data.len());
    if size > MAX_TABLE_BYTES {
        return Err(ReportError::TooLarge { path: path.to_owned(), size, most: MAX_TABLE_BYTES });
    }
    Ok(CsvTable::read_over(first, path)?)
}

fn read_scene(path: &Path) -> Result<Scene, ReportError> {
    let text = own_bytes(path, MAX_SCENE_BYTES).map_err(|source| ReadError::io(path, source))?;
    if !SCENE_LIMIT.fits(&text) {
        return Err(ReportError::BrokenScene { path: path.to_owned() });
    }
    let scene: Scene = serde_json::from_slice(&text)
        .map_err(|error| ReportError::BadScene { path: path.to_owned(), line: error.line() })?;
    if !scene.is_consistent() {
        return Err(ReportError::BrokenScene { path: path.to_owned() });
    }
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_would_fill_the_memory_is_refused_unread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trajectory.csv");
        // A file with a hole takes no room on the disk.
        fs::File::create(&path).unwrap().set_len(MAX_TABLE_BYTES + 1).unwrap();
        let message = read_table(&Channel::time(), &path).unwrap_err().to_string();
        assert!(message.contains("output-step") && message.contains("537 MB"), "{message}");
    }
}
