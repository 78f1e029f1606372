//! The files that a run writes while it lasts: one file here for each, and one line in [`OUTPUTS`].

mod motion;
mod scene;
mod table;

use std::path::Path;

use super::recorder::Sink;
use crate::bytes::Reader;
use crate::machine::Machine;
use crate::results::{Channel, ResultFile, Scene, WriteError};

/// A file that a run writes.
pub(super) struct OutputEntry {
    /// Its name.
    pub file: &'static str,
    /// Its name where results stand over a load factor.
    pub static_file: &'static str,
    /// Begins an empty file.
    pub begin: fn(OutputFile) -> Opened,
    /// Goes on with a file from where [`Sink::save`] said that it stood; absent where it is begun anew.
    pub resume: Option<fn(OutputFile, &mut Reader) -> Opened>,
}

/// A file that is to take records.
pub(super) struct OutputFile<'a> {
    /// The file itself.
    pub file: ResultFile,
    /// What errors call it.
    pub path: &'a Path,
    /// What stays the same.
    pub contents: &'a Contents,
}

/// What takes the records.
pub(super) type Opened = Result<Box<dyn Sink>, WriteError>;

/// In the order in which `run.json` lists them.
pub(super) const OUTPUTS: &[OutputEntry] = &[TABLE, MOTION, SCENE];
pub(super) use {motion::ENTRY as MOTION, scene::ENTRY as SCENE, table::ENTRY as TABLE};

/// What is the same in every record of a run.
pub(super) struct Contents {
    /// What results stand over.
    pub axis: Channel,
    /// The signals.
    pub channels: Vec<Channel>,
    /// What there is to be seen.
    pub scene: Scene,
    /// How many records there will be, about; absent where nobody knows.
    pub records: Option<u64>,
}

impl Contents {
    /// What a machine shows over time or over a load factor.
    pub fn new(machine: &Machine, axis: Channel) -> Self {
        let plan = machine.settings.plan().ok().filter(|_| axis == Channel::time());
        let records = plan.and_then(|plan| {
            let fixed = plan.integration.error_control.is_none().then_some(plan.integration.step);
            let distance = plan.output_step.or(fixed)?;
            Some(((plan.end_time - plan.start_time) / distance) as u64)
        });
        Self { axis, channels: machine.channels(), scene: machine.scene(), records }
    }
}
