//! The folder that a computation fills, with files that appear whole or not at all.
//!
//! A run, an equilibrium and the modes of one model live side by side in one folder. Each has a summary of
//! its own, `run.json`, `static.json` or `modes.json`, which lists its other files, and replaces only those.
//!
//! While a run lasts, `trajectory.csv` is called `trajectory.partial.csv`. [`OutputFolder::finish`] brings
//! the files to the disk and gives them their final names, `run.json` last. A run that is killed leaves its
//! partial files, which are readable up to their last flush, and whatever an earlier run had finished; the
//! next run sweeps the partial files away.
//!
//! A folder is taken over when it is new, empty, or holds a summary of the same model; only files that the
//! summary of the same computation lists are ever replaced or removed, and none is opened through a link. The
//! file `.kreisel-lock` (`.kreisel-lock-static`, `.kreisel-lock-modes`) keeps two runs apart, and lists the
//! files that are being written; the operating system frees the lock when a run dies.

use super::checksum::{ResultFile, SharedSum, checksum_of};
use super::error::{ReadError, WriteError};
use super::run_summary::{ModelIdentity, RunSummary};
use crate::file::{open_own, own_bytes, read_own};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

/// The file from which a run can go on.
pub const CHECKPOINT: &str = "checkpoint.bin";

/// Largest summary in bytes that is read: one of half a million events is smaller.
pub(crate) const MAX_SUMMARY: u64 = 256_000_000;

/// Largest lock in bytes that is read: it lists the files of one run.
const MAX_LOCK: u64 = 1_000_000;

/// What fills a folder: each has a summary, a lock and files of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computation {
    /// A motion over time.
    Run,
    /// Equilibria over a load factor.
    Static,
    /// Small motions about a state.
    Modes,
}

impl Computation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Run, Self::Static, Self::Modes];

    /// The file that says what was computed, how, and how it ended.
    pub fn summary_file(self) -> &'static str {
        match self {
            Self::Run => "run.json",
            Self::Static => "static.json",
            Self::Modes => "modes.json",
        }
    }

    fn lock_file(self) -> &'static str {
        match self {
            Self::Run => ".kreisel-lock",
            Self::Static => ".kreisel-lock-static",
            Self::Modes => ".kreisel-lock-modes",
        }
    }

    /// The summary that the last such computation left in a folder, if there is one.
    pub fn summary(self, folder: &Path) -> Option<RunSummary> {
        self.try_summary(folder).ok().flatten()
    }

    /// The same where a file that is no summary is an error.
    pub fn read_summary(self, folder: &Path) -> Result<Option<RunSummary>, ReadError> {
        let path = folder.join(self.summary_file());
        match own_bytes(&path, MAX_SUMMARY) {
            Ok(text) => match RunSummary::from_json(&text) {
                Some(summary) => Ok(Some(summary)),
                None => Err(ReadError::NoSummary { path }),
            },
            Err(source) if is_absent(&source) => Ok(None),
            Err(source) => Err(ReadError::io(&path, source)),
        }
    }

    fn try_summary(self, folder: &Path) -> Result<Option<RunSummary>, WriteError> {
        let path = folder.join(self.summary_file());
        match own_bytes(&path, MAX_SUMMARY) {
            Ok(text) => Ok(RunSummary::from_json(&text)),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WriteError::io(&path, source)),
        }
    }
}

/// A folder in which one computation has its files for itself until it is finished.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    computation: Computation,
    model: ModelIdentity,
    /// Files of the run before, which go when this run's files come.
    previous: Vec<String>,
    /// Files of this run, by their final names.
    files: Vec<String>,
    /// Their checksums while they are written.
    sums: BTreeMap<String, SharedSum>,
    /// Checksums of those that have their final names.
    crc32: BTreeMap<String, String>,
    /// Those that have their final names for good: what is still being written under them does not count.
    published: Vec<String>,
    /// Locked while the run lasts; lists `files`, one per line.
    lock: File,
}

impl OutputFolder {
    /// The folder for a model's results when the user names none: `results/<model>`.
    pub fn default_path(model: &Path) -> Result<PathBuf, WriteError> {
        let no_name = || WriteError::NoModelName { path: model.to_owned() };
        let stem = model.file_stem().ok_or_else(no_name)?;
        // `...toml` has the stem `..`, which would be the current folder itself.
        let is_plain = matches!(Path::new(stem).components().next(), Some(Component::Normal(_)));
        if is_plain { Ok(Path::new("results").join(stem)) } else { Err(no_name()) }
    }

    /// Takes the folder for a computation with `model`, making it if need be; `force` takes it whoever filled
    /// it.
    pub fn begin(
        path: &Path,
        computation: Computation,
        model: ModelIdentity,
        force: bool,
    ) -> Result<Self, WriteError> {
        make_folder(path)?;
        check_owner(path, &model, force)?;
        let summary = computation.try_summary(path)?;
        let lock = lock(path, computation)?;
        if computation == Computation::Run {
            if path.join(CHECKPOINT).exists() && !force {
                return Err(WriteError::Unfinished { path: path.to_owned() });
            }
            // It goes before the files that it speaks of.
            remove_if_there(&path.join(CHECKPOINT))?;
        }
        let mut folder = Self::taken(path, computation, model, summary, lock);
        folder.sweep()?;
        folder.mark()?;
        Ok(folder)
    }

    /// Takes the folder of a run that did not end, to go on with its files.
    pub fn resume(path: &Path, model: ModelIdentity) -> Result<Self, WriteError> {
        let computation = Computation::Run;
        let summary = computation.try_summary(path)?;
        let lock = lock(path, computation)?;
        lock.set_len(0).map_err(|source| WriteError::io(&path.join(computation.lock_file()), source))?;
        let was_interrupted =
            summary.as_ref().is_some_and(|summary| summary.status == super::EndStatus::Interrupted);
        let folder = Self::taken(path, computation, model, summary, lock);
        remove_if_there(&folder.partial_path(CHECKPOINT))?;
        // Beside the files of a complete run there are those of the one that goes on.
        let is_beside = folder.previous.iter().any(|name| folder.partial_path(name).exists());
        if was_interrupted && !is_beside {
            // From here on files that have their final names are being written again.
            folder.write_summary(&RunSummary::new(folder.model.clone()))?;
        }
        Ok(folder)
    }

    fn taken(
        path: &Path,
        computation: Computation,
        model: ModelIdentity,
        summary: Option<RunSummary>,
        lock: File,
    ) -> Self {
        let previous = summary.map_or_else(Vec::new, |summary| summary.files);
        let previous: Vec<_> = previous.into_iter().filter(|name| check_name(name).is_ok()).collect();
        Self {
            path: path.to_owned(),
            computation,
            model,
            previous,
            files: Vec::new(),
            sums: BTreeMap::new(),
            crc32: BTreeMap::new(),
            published: Vec::new(),
            lock,
        }
    }

    /// Opens a file of a run that goes on, whether or not it had its final name already.
    pub fn reopen(&mut self, name: &str) -> Result<ResultFile, WriteError> {
        let (partial, path) = (self.partial_path(name), self.path.join(name));
        if !partial.exists() && path.exists() {
            fs::rename(&path, &partial).map_err(|source| WriteError::io(&partial, source))?;
        }
        self.list_file(name)?;
        let file = open_own(OpenOptions::new().read(true).write(true), &partial);
        let file = file.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => WriteError::NotResumable { path: partial, reason: "it is not there" },
            _ => WriteError::io(&partial, source),
        })?;
        Ok(self.summed(name, file))
    }

    fn summed(&mut self, name: &str, file: File) -> ResultFile {
        let (file, sum) = ResultFile::summed(file);
        self.sums.insert(name.to_owned(), sum);
        file
    }

    /// Replaces the checkpoint, as a whole or not at all.
    pub fn write_checkpoint(&self, content: &[u8]) -> Result<(), WriteError> {
        let path = self.partial_path(CHECKPOINT);
        remove_if_there(&path)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(content));
        let published =
            written.map_err(|source| WriteError::io(&path, source)).and_then(|()| self.publish(CHECKPOINT));
        match published {
            Ok(()) => sync_folder(&self.path),
            Err(error) => {
                // What is left of it only takes room.
                let _ = remove_if_there(&path);
                Err(error)
            }
        }
    }

    /// Removes the checkpoint: the files that it speaks of are begun anew.
    pub fn remove_checkpoint(&self) -> Result<(), WriteError> {
        remove_if_there(&self.path.join(CHECKPOINT))
    }

    /// What fills it.
    pub fn computation(&self) -> Computation {
        self.computation
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock_path(&self) -> PathBuf {
        self.path.join(self.computation.lock_file())
    }

    /// Where a file of this run is until the run is finished.
    pub fn partial_path(&self, name: &str) -> PathBuf {
        self.path.join(partial_name(name))
    }

    /// Opens a new file that will be called `name` once the run is finished.
    pub fn create(&mut self, name: &str) -> Result<ResultFile, WriteError> {
        self.list_file(name)?;
        let path = self.partial_path(name);
        remove_if_there(&path)?;
        // `create_new` never follows a symbolic link that someone put in our way.
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|source| WriteError::io(&path, source))?;
        Ok(self.summed(name, file))
    }

    fn list_file(&mut self, name: &str) -> Result<(), WriteError> {
        check_name(name)?;
        if !self.files.iter().any(|known| known == name) {
            writeln!(self.lock, "{name}").map_err(|source| WriteError::io(&self.lock_path(), source))?;
            self.files.push(name.to_owned());
        }
        Ok(())
    }

    /// Where a file of this run is now.
    pub fn present_path(&self, name: &str) -> PathBuf {
        if self.is_published(name) { self.path.join(name) } else { self.partial_path(name) }
    }

    fn is_published(&self, name: &str) -> bool {
        self.published.iter().any(|known| known == name)
    }

    /// Gives every file its final name and writes the summary; files of the same names can be begun beside
    /// them.
    ///
    /// Writers must have been finished before: what they still hold is not in the files.
    pub fn publish_all(&mut self, summary: &mut RunSummary) -> Result<(), WriteError> {
        summary.model = self.model.clone();
        summary.files.clone_from(&self.files);
        for (name, sum) in &self.sums {
            if !self.is_published(name) {
                self.crc32.insert(name.clone(), sum.get().digits());
            }
        }
        summary.crc32.clone_from(&self.crc32);
        for name in self.files.iter().filter(|name| !self.is_published(name)) {
            self.publish(name)?;
        }
        for name in self.previous.iter().filter(|name| !self.files.contains(name)) {
            remove_if_there(&self.path.join(name))?;
        }
        self.write_summary(summary)?;
        sync_folder(&self.path)
    }

    /// Goes back to the files that have their final names; what was begun beside them stays only for a
    /// checkpoint.
    pub fn take_back(&mut self) {
        self.published.clone_from(&self.files);
    }

    /// Gives every file its final name and writes the summary, however the run ended; tells the final paths.
    ///
    /// Writers must have been finished before: what they still hold is not in the files.
    pub fn finish(mut self, summary: &mut RunSummary) -> Result<Vec<PathBuf>, WriteError> {
        self.publish_all(summary)?;
        if self.computation == Computation::Run && summary.status != super::EndStatus::Interrupted {
            self.remove_checkpoint()?;
        }
        if !self.path.join(CHECKPOINT).exists() {
            self.published.iter().try_for_each(|name| remove_if_there(&self.partial_path(name)))?;
        }
        remove_if_there(&self.lock_path())?;
        let names = self.files.iter().map(String::as_str).chain([self.computation.summary_file()]);
        Ok(names.map(|name| self.path.join(name)).collect())
    }

    /// Gives up a run that has nothing to keep: its partial files go, and the folder too if nothing is left
    /// in it.
    pub fn abandon(self) -> Result<(), WriteError> {
        for name in &self.files {
            remove_if_there(&self.partial_path(name))?;
        }
        if self.previous_is_unfinished() {
            remove_if_there(&self.path.join(self.computation.summary_file()))?;
        }
        remove_if_there(&self.lock_path())?;
        match fs::remove_dir(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::DirectoryNotEmpty => {
                Err(WriteError::io(&self.path, source))
            }
            _ => Ok(()),
        }
    }

    fn previous_is_unfinished(&self) -> bool {
        let summary = self.computation.summary(&self.path);
        summary.is_some_and(|summary| summary.status == super::EndStatus::Running)
    }

    /// Marks a fresh folder as ours, so that a rerun may take it even if this run is killed.
    fn mark(&self) -> Result<(), WriteError> {
        let is_marked = self.computation.try_summary(&self.path)?.is_some();
        if is_marked { Ok(()) } else { self.write_summary(&RunSummary::new(self.model.clone())) }
    }

    /// Removes what a killed run left under temporary names, as its lock lists them.
    fn sweep(&mut self) -> Result<(), WriteError> {
        let mut names = String::new();
        (&self.lock)
            .take(MAX_LOCK)
            .read_to_string(&mut names)
            .and_then(|_| self.lock.set_len(0))
            .and_then(|()| self.lock.rewind())
            .map_err(|source| WriteError::io(&self.lock_path(), source))?;
        for name in names.lines().filter(|name| check_name(name).is_ok()) {
            remove_if_there(&self.partial_path(name))?;
        }
        remove_if_there(&self.partial_path(self.computation.summary_file()))
    }

    fn write_summary(&self, summary: &RunSummary) -> Result<(), WriteError> {
        let name = self.computation.summary_file();
        let path = self.partial_path(name);
        remove_if_there(&path)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        file.and_then(|mut file| file.write_all(summary.to_json().as_bytes()))
            .map_err(|source| WriteError::io(&path, source))?;
        self.publish(name)
    }

    /// Brings a partial file to the disk and renames it; the content must be there before the name is.
    fn publish(&self, name: &str) -> Result<(), WriteError> {
        let partial = self.partial_path(name);
        let target = self.path.join(name);
        read_own(&partial)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&partial, &target))
            .map_err(|source| WriteError::io(&target, source))
    }
}

impl RunSummary {
    /// Whether a file of this computation is as it was written.
    pub fn check_file(&self, folder: &Path, name: &str) -> Result<(), ReadError> {
        check_file(folder, name, self.crc32.get(name))
    }
}

/// Whether a file of a folder has the CRC-32 that it had when it was written.
pub(crate) fn check_file(folder: &Path, name: &str, was: Option<&String>) -> Result<(), ReadError> {
    check_name(name).map_err(|_| ReadError::BadFileName { name: name.to_owned() })?;
    let path = folder.join(name);
    let Some(was) = was else { return Err(ReadError::NoChecksum { path }) };
    let is = read_own(&path).and_then(checksum_of).map_err(|source| ReadError::io(&path, source))?;
    if *was == is { Ok(()) } else { Err(ReadError::Differs { path, was: was.clone(), is }) }
}

/// Whether a file is not there, and not merely unreadable.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Makes a folder for results, and those above it.
pub fn make_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => WriteError::NotAFolder { path: path.to_owned() },
        io::ErrorKind::NotFound | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => {
            WriteError::NoPlace { path: path.to_owned(), source }
        }
        _ => WriteError::io(path, source),
    })
}

fn check_owner(folder: &Path, model: &ModelIdentity, force: bool) -> Result<(), WriteError> {
    if force {
        return Ok(());
    }
    let summaries = Computation::ALL.map(|computation| computation.try_summary(folder));
    let summaries: Vec<RunSummary> =
        summaries.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
    match summaries.iter().find(|summary| !summary.model.is_same_model(model)) {
        Some(other) => {
            Err(WriteError::OtherModel { path: folder.to_owned(), model: other.model.path.clone() })
        }
        None if !summaries.is_empty() || is_empty(folder)? => Ok(()),
        None => Err(WriteError::NotOurs { path: folder.to_owned() }),
    }
}

/// Whether a folder holds nothing but, perhaps, what an early death left behind: locks, and a summary that had
/// no final name yet.
fn is_empty(folder: &Path) -> Result<bool, WriteError> {
    let io = |source| WriteError::io(folder, source);
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let is_ours = |computation: &Computation| {
            name == computation.lock_file() || *name == *partial_name(computation.summary_file())
        };
        if !Computation::ALL.iter().any(is_ours) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lock(folder: &Path, computation: Computation) -> Result<File, WriteError> {
    let path = folder.join(computation.lock_file());
    let file = open_own(OpenOptions::new().read(true).write(true).create(true).truncate(false), &path);
    let file = file.map_err(|source| WriteError::io(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(WriteError::Busy { path: folder.to_owned() }),
        // Some network file systems have no locks; there, two runs at once are the user's own care.
        Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(source)) => Err(WriteError::io(&path, source)),
    }
}

/// `trajectory.partial.csv` for `trajectory.csv`: the ending stays, so that programs still know the format.
pub(crate) fn partial_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.partial.{ending}"),
        None => format!("{name}.partial"),
    }
}

/// A name is one plain path component that hides nothing and is not one of ours.
fn check_name(name: &str) -> Result<(), WriteError> {
    let mut components = Path::new(name).components();
    let is_plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    let is_strange =
        name.starts_with('.') || name.contains(['/', '\\', ':']) || name.contains(char::is_control);
    let is_ours = name == CHECKPOINT || Computation::ALL.iter().any(|ours| name == ours.summary_file());
    if is_plain && !is_strange && !is_ours {
        Ok(())
    } else {
        Err(WriteError::BadFileName { name: name.to_owned() })
    }
}

fn remove_if_there(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(WriteError::io(path, source)),
        _ => Ok(()),
    }
}

/// Brings the new names themselves to the disk, where folders can be opened as files.
fn sync_folder(path: &Path) -> Result<(), WriteError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| WriteError::io(path, source))?;
    }
    Ok(())
}
