//! What a run leaves behind: named signals, the motion of every node, and a summary.
//!
//! Plain numbers and names come in, files go out; nothing here knows of integrators or mechanics.
//!
//! | file | what | written by |
//! |---|---|---|
//! | `trajectory.csv` | every signal, one row per output time | [`csv::CsvWriter`] |
//! | `trajectory.vtkhdf` | every node and every signal, for ParaView and h5py | [`vtkhdf::VtkHdfWriter`] |
//! | `scene.json` | what there is to be seen | [`scene::Scene`] |
//! | `run.json` | model, settings, statistics, how it ended | [`run_summary::RunSummary`] |
//! | `static.json`, `modes.json` | the same of equilibria and modes, which have files of their own | [`run_summary::RunSummary`] |
//!
//! An [`folder::OutputFolder`] hands out the files under temporary names and gives them their final names
//! when the run ends, so a reader never meets half a file under a final name.

pub mod channel;
mod checksum;
pub mod csv;
pub mod error;
mod film;
pub mod folder;
mod hdf5;
#[cfg(feature = "report")]
pub(crate) use hdf5::{Hdf5Reader, ReadFault};
pub mod matrix_market;
pub mod mesh;
pub mod run_summary;
pub mod scene;
mod skin;
pub mod vtkhdf;

pub use channel::{Channel, find_signal};
pub use checksum::{ResultFile, checksum};
pub use csv::{CsvTable, CsvWriter};
pub use error::{ReadError, WriteError};
pub use folder::{Computation, OutputFolder, make_folder};
pub use run_summary::{EndStatus, ModelIdentity, RunSummary, Verdict};
pub use scene::{Scene, SceneNode};
pub use vtkhdf::{NodeState, VtkHdfWriter};
