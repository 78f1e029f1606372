//! The page that shows a run: a moving machine, plots and facts in one file that needs nothing else.
//!
//! A [`Recording`] is what a results folder holds, read back. [`page`] puts it into the viewer (TypeScript in
//! `viewer/`, built into `viewer.html` beside this file); [`gltf`] makes an animated scene of it for other
//! programs. Large runs are thinned to a stated error so that the page stays below 20 MB; the full data lie
//! beside it.

mod base64;
pub mod figure;
pub mod gltf;
mod motion;
mod page;
mod palette;
mod recording;
mod shape;
mod symbol;
mod thin;

pub use motion::{MotionError, RecordedMotion};
pub use page::{page, page_of_all, policed, read_page};
pub use palette::{COLOURS, Palette};
pub use recording::Recording;
pub use shape::beam_halves;
pub use symbol::{symbol, symbol_size};
pub use thin::{Curves, thinned};

use crate::results::ReadError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Name of the page in a results folder.
pub const FILE: &str = "report.html";
/// Name of the page of equilibria.
pub const STATIC_FILE: &str = "static.html";

/// Bytes in whole megabytes.
fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// Why a run cannot be shown.
#[derive(Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A folder without a `run.json` of ours.
    #[error("`{}` holds no results of Kreisel; `kreisel run` makes them", path.display())]
    NotResults {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that is not there.
    #[error("there is no folder `{}`; `kreisel run` writes results, and says where", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file in place of a folder.
    #[error("`{}` is a file; name the folder that holds results, such as `results/{}`", path.display(), stem(path))]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder with results that are not a run.
    #[error("`{}` holds {what} but no run; `kreisel run {model}` makes one", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        what: String,
        /// The model that was computed with.
        model: String,
    },
    /// The folder of a sweep.
    #[error("`{folder}` holds a sweep, not a run; open `{folder}/sweep.html` in a browser", folder = path.display())]
    IsSweep {
        /// The folder.
        path: PathBuf,
    },
    /// A folder of results folders.
    #[error("`{}` holds the results of several runs; name one of them: {}", path.display(), list(inside))]
    Inside {
        /// The folder.
        path: PathBuf,
        /// Some of the folders in it.
        inside: Vec<PathBuf>,
    },
    /// A run that is under way, or was killed.
    #[error("the run in `{}` has not ended; run the model again", path.display())]
    NotEnded {
        /// The folder.
        path: PathBuf,
    },
    /// A table that would fill the memory.
    #[error(
        "`{}` has {} MB of signals, and a page is made of at most {} MB; run the model with a larger `output-step`", path.display(),
        megabytes(*size), megabytes(*most)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// A table or scene that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A scene that cannot be read.
    #[error("`{}` is not a scene of Kreisel (line {line}); run the model again", path.display())]
    BadScene {
        /// The file.
        path: PathBuf,
        /// Where reading stopped.
        line: usize,
    },
    /// A scene whose parts do not fit together.
    #[error("`{}` names nodes or corners that it does not have; run the model again", path.display())]
    BrokenScene {
        /// The file.
        path: PathBuf,
    },
    /// A trajectory that cannot be read, or belongs to another scene.
    #[error(transparent)]
    RecordedMotion(#[from] MotionError),
}

shown_by_message!(ReportError);
