//! What can go wrong when results are written or read back.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why results could not be written.
#[derive(Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder or file system does not let us write.
    #[error("cannot write `{}`: no permission, or a read-only disk", path.display())]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
    },
    /// No room is left, on the disk, in the user's quota or below the limit of a file's size.
    #[error("cannot write `{}`: the disk is full", path.display())]
    DiskFull {
        /// What was to be written.
        path: PathBuf,
    },
    /// The place for the folder is taken by a file.
    #[error("`{}` is a file, not a folder", path.display())]
    NotAFolder {
        /// The place.
        path: PathBuf,
    },
    /// There can be no folder at this place.
    #[error("there can be no folder `{}`: {source}", path.display())]
    NoPlace {
        /// The place.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder holds files and no `run.json` of Kreisel.
    #[error("`{}` holds files that Kreisel did not write; choose another folder or use --force", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds the results of another model.
    #[error(
        "`{}` holds results of another model, `{model}`; choose another folder or use --force",
        path.display()
    )]
    OtherModel {
        /// The folder.
        path: PathBuf,
        /// The model it belongs to.
        model: String,
    },
    /// The folder holds a run that can go on.
    #[error(
        "`{folder}` holds a run that did not end and has a checkpoint; go on by `kreisel run --resume {folder}`, or start over with --force",
        folder = path.display()
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// A file of a run that cannot be continued.
    #[error("cannot go on with `{}`: {reason}", path.display())]
    NotResumable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// Another run is writing to the folder now.
    #[error("another run is writing to `{}`", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file name that would leave the folder, or one we keep for ourselves.
    #[error("`{name}` cannot be the name of a result file")]
    BadFileName {
        /// The name.
        name: String,
    },
    /// A model path without a file name, so there is no default folder.
    #[error("`{}` has no name that could name a results folder; use --out", path.display())]
    NoModelName {
        /// The model's path.
        path: PathBuf,
    },
    /// A signal or node whose name no result file can hold.
    #[error("the name `{name}` cannot stand in a result file: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Two signals of one name.
    #[error("two signals are called `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// More signals than one file holds.
    #[error("{count} signals are more than the {most} that one trajectory can hold")]
    TooManySignals {
        /// How many were asked for.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// No memory is left for records.
    #[error(
        "there is no memory for more than {count} records; choose a larger `output-step`, or write files"
    )]
    NoMemory {
        /// Records that are kept.
        count: usize,
    },
    /// A row with more or fewer numbers than columns.
    #[error("a row has {got} {what} where {expected} were announced")]
    RowLength {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many came.
        got: usize,
    },
    /// A line of the scene through a node that is not there.
    #[error("line {line} of the scene passes through node {node}, but there are {node_count} nodes")]
    UnknownNode {
        /// Index of the line.
        line: usize,
        /// The node it asks for.
        node: usize,
        /// How many nodes there are.
        node_count: usize,
    },
    /// Any other failure of the operating system.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

shown_by_message!(WriteError);

/// Why a run does not go on with a file whose content or checksum is another one.
pub(super) const DAMAGED: &str =
    "it is damaged, since it is not as it was at the checkpoint; start over with --force";

impl WriteError {
    /// A file of which a checkpoint does not say how far it was.
    pub(crate) fn unknown_place(path: &Path) -> Self {
        Self::NotResumable { path: path.to_owned(), reason: "the checkpoint does not say how far it was" }
    }

    /// The variant that tells best what `source` means for writing `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull { path }
            }
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            _ => Self::Io { path, source },
        }
    }
}

/// Why a result file could not be read.
#[derive(Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file that is gone.
    #[error("`{}` is missing; run the model again", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The operating system cannot give us the file.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file that was changed since it was written.
    #[error("`{}` was changed or damaged after it was written (its CRC-32 was {was} and is {is})", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// Its checksum then.
        was: String,
        /// Its checksum now.
        is: String,
    },
    /// A file without a checksum to compare it with.
    #[error("`{}` has no checksum, so that nobody can tell whether it was changed", path.display())]
    NoChecksum {
        /// The file.
        path: PathBuf,
    },
    /// A summary that names a file outside of its folder, or one that no computation writes.
    #[error("`{name}` cannot be the name of a result file")]
    BadFileName {
        /// The name.
        name: String,
    },
    /// A file without a line.
    #[error("`{}` is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A summary that was cut short, or is something else.
    #[error("`{}` is not the summary that Kreisel writes: it was changed or cut short", path.display())]
    NoSummary {
        /// The file.
        path: PathBuf,
    },
    /// A table that would fill the memory.
    #[error("`{}` has more than {most} columns or numbers in it, the most that is read; a larger `output-step` makes fewer", path.display())]
    TooManyNumbers {
        /// The file.
        path: PathBuf,
        /// Columns or numbers.
        most: usize,
    },
    /// A column head that is not `name [unit]`.
    #[error("the column head `{head}` is not of the form `name [unit]`")]
    ColumnHead {
        /// The head.
        head: String,
    },
    /// A first column that is not `time [s]`.
    #[error("the first column of `{}` is `{head}`, not `time [s]`", path.display())]
    NoTime {
        /// The file.
        path: PathBuf,
        /// What stands there.
        head: String,
    },
    /// A row with more or fewer numbers than there are columns.
    #[error("`{}`, line {line}: {got} numbers where {expected} columns were announced", path.display())]
    RowLength {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// How many columns there are.
        expected: usize,
        /// How many numbers there are.
        got: usize,
    },
    /// A cell that is not a number.
    #[error("`{}`, line {line}, column `{column}`: `{text}` is not a number", path.display())]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The column's name.
        column: String,
        /// What stands there.
        text: String,
    },
}

shown_by_message!(ReadError);

impl ReadError {
    /// The variant that tells best what `source` means for reading `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Io { path, source },
        }
    }
}
