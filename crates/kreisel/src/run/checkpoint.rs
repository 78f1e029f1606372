//! Checkpoints: all that a run needs to go on after its process died, in one file of its folder.
//!
//! | part of the file | what |
//! |---|---|
//! | 8 bytes | the mark `KREISELC` |
//! | 4 bytes | version of the format |
//! | section | the header as JSON: program, model, texts, arguments, how far the run was |
//! | section | state of the integration, work so far, corners of the inputs ahead, events |
//! | section | the sums of the recorder: energy, turns, extremes |
//! | section | what was seen that casts doubt on the result; empty where nobody looked |
//! | section | coarser runs by which the tolerance was found; empty where no accuracy was asked for |
//! | section | where the result files stood, and the sum over what is kept of them |
//! | 32 bytes | SHA-256 of all that comes before |
//!
//! A section is its length in 8 bytes and its content. The files are brought to the disk before the
//! checkpoint gets its name, and only what the checkpoint counts is kept of them: a run that goes on writes
//! the same bytes behind it as one that was never interrupted.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::accuracy::{AccuracyWatch, Target};
use super::advance::Run;
use super::files::ResultFiles;
use super::output::OUTPUTS;
use super::recorder::{NullSink, Recorder, Sink};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::Note;
use crate::file::read_own;
use crate::integrate::{ResumeError, StartError};
use crate::machine::Machine;
use crate::machine::RunPlan;
use crate::results::folder::{CHECKPOINT, partial_name};
use crate::results::{Computation, EndStatus, ModelIdentity, WriteError};

const MAGIC: &[u8; 8] = b"KREISELC";
/// Raised with every change of the format.
const VERSION: u32 = 12;
const HASH: usize = 32;
/// Largest checkpoint that is read: more than any machine within the limits of a model has.
const MAX_SIZE: u64 = 4_000_000_000;

/// Which run a checkpoint belongs to, and how far it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CheckpointHeader {
    /// Version of the program that wrote it.
    pub version: String,
    /// The model that is run.
    pub model: ModelIdentity,
    /// The texts that make up the model, the model file first.
    pub sources: Vec<ModelIdentity>,
    /// SHA-256 of what there is to be seen: surfaces in files of their own are part of it.
    pub scene: String,
    /// What the run was asked for, in the words of whoever asked.
    pub arguments: serde_json::Value,
    /// What the model and the start of the run gave to know.
    pub notes: Vec<Note>,
    /// What was chosen because nobody said it.
    pub assumptions: Vec<String>,
    /// Time that the run had reached, in s.
    pub time: f64,
    /// Steps that it had taken.
    pub steps: u64,
    /// Wall time that it had taken, in s.
    pub wall_time: f64,
}

impl CheckpointHeader {
    /// The header for a run of a machine.
    pub fn new(model: ModelIdentity, machine: &Machine, arguments: serde_json::Value) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model,
            sources: machine.sources().to_vec(),
            scene: ModelIdentity::new("", machine.scene().to_json().as_bytes()).sha256,
            arguments,
            notes: Vec::new(),
            assumptions: Vec::new(),
            time: 0.0,
            steps: 0,
            wall_time: 0.0,
        }
    }
}

/// A run as it stood at some step.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    header: CheckpointHeader,
    run: Vec<u8>,
    recorder: Vec<u8>,
    accuracy: Vec<u8>,
    target: Vec<u8>,
    files: Vec<u8>,
}

/// Why a run cannot go on from a checkpoint.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// There is none.
    #[error("there is no checkpoint in `{}`; a run makes some with `--checkpoint 60s`", folder.display())]
    None {
        /// The folder.
        folder: PathBuf,
    },
    /// The run has come to its end.
    #[error("the run in `{}` has ended; there is nothing to resume", folder.display())]
    Ended {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system cannot give us the file.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Something else than a checkpoint.
    #[error("`{}` is not a checkpoint", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the format.
    #[error("`{}` has format {found}; this program reads format {expected}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u32,
        /// Version that can be read.
        expected: u32,
    },
    /// The content is not what was written.
    #[error("`{}` is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Written by another version of the program, whose numbers may differ.
    #[error(
        "the checkpoint was written by kreisel {found}, this is kreisel {expected}: results of two versions are not mixed in one file"
    )]
    Version {
        /// Version that wrote it.
        found: String,
        /// Version that runs.
        expected: &'static str,
    },
    /// A text of the model is another one now.
    #[error(
        "`{}` was changed since the checkpoint (SHA-256 then {}…, now {}…); undo the change, or start over with --force",
        name,
        beginning(then),
        beginning(now)
    )]
    OtherText {
        /// The text.
        name: String,
        /// Hash at the checkpoint.
        then: String,
        /// Hash now.
        now: String,
    },
    /// The model is made of other files.
    #[error("the model was read from {then} files at the checkpoint and is from {now} now")]
    OtherFiles {
        /// Files at the checkpoint.
        then: usize,
        /// Files now.
        now: usize,
    },
    /// A shape is another one now.
    #[error(
        "the shapes of the model were changed since the checkpoint; undo the change, or start over with --force"
    )]
    OtherShapes,
    /// The machine cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The state does not fit the machine.
    #[error("the checkpoint does not fit the model: {0}")]
    State(#[from] ResumeError),
    /// The files of the run cannot be continued.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// As much of a hash as tells it from others; the text in a file may be anything.
fn beginning(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

impl Checkpoint {
    /// Reads the checkpoint of a folder.
    pub fn read(folder: &Path) -> Result<Self, CheckpointError> {
        use std::io::Read;
        let path = folder.join(CHECKPOINT);
        let io = |source: std::io::Error| CheckpointError::Io { path: path.clone(), source };
        let file = match read_own(&path) {
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                return Err(CheckpointError::missing(folder));
            }
            opened => opened.map_err(io)?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_SIZE).read_to_end(&mut bytes).map_err(io)?;
        let resumable = OUTPUTS.iter().filter(|output| output.resume.is_some());
        let is_open =
            resumable.map(|output| partial_name(output.file)).any(|name| folder.join(name).exists());
        let ended = Computation::Run.summary(folder).is_some_and(|summary| {
            matches!(summary.status, EndStatus::Done | EndStatus::Failed { .. }) && !is_open
        });
        if ended {
            return Err(CheckpointError::Ended { folder: folder.to_owned() });
        }
        Self::from_bytes(&bytes, &path)
    }

    /// Reads a checkpoint from its bytes; `path` is only named in errors.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, CheckpointError> {
        let path = || path.to_owned();
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| CheckpointError::Unknown { path: path() })?;
        let damaged = |Damaged| CheckpointError::Damaged { path: path() };
        let found = u32::from_le_bytes(Reader(rest).bytes().map_err(damaged)?);
        if found != VERSION {
            return Err(CheckpointError::Format { path: path(), found, expected: VERSION });
        }
        let (content, hash) = bytes.split_last_chunk::<HASH>().ok_or_else(|| damaged(Damaged))?;
        if Sha256::digest(content).as_slice() != hash {
            return Err(damaged(Damaged));
        }
        let mut reader = Reader(content.get(MAGIC.len() + 4..).ok_or_else(|| damaged(Damaged))?);
        let mut section = || reader.section().map_err(damaged);
        let header = serde_json::from_slice(section()?).map_err(|_| damaged(Damaged))?;
        let [run, recorder, accuracy, target, files] =
            [section()?, section()?, section()?, section()?, section()?].map(<[u8]>::to_vec);
        reader.end().map_err(damaged)?;
        Ok(Self { header, run, recorder, accuracy, target, files })
    }

    /// The checkpoint as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).expect("all keys of a header are text");
        let mut out = Writer::default();
        out.0.extend_from_slice(MAGIC);
        out.0.extend_from_slice(&VERSION.to_le_bytes());
        for part in [&header, &self.run, &self.recorder, &self.accuracy, &self.target, &self.files] {
            out.section(part);
        }
        let hash = Sha256::digest(&out.0);
        out.0.extend_from_slice(&hash);
        out.0
    }

    /// Which run it belongs to.
    pub fn header(&self) -> &CheckpointHeader {
        &self.header
    }

    /// Whether a machine is the one that was run, by the same program.
    pub fn check(&self, machine: &Machine) -> Result<(), CheckpointError> {
        let expected = env!("CARGO_PKG_VERSION");
        if self.header.version != expected {
            return Err(CheckpointError::Version { found: self.header.version.clone(), expected });
        }
        let (then, now) = (&self.header.sources, machine.sources());
        if let Some((then, now)) = then.iter().zip(now).find(|(then, now)| then.sha256 != now.sha256) {
            return Err(CheckpointError::OtherText {
                name: now.path.clone(),
                then: then.sha256.clone(),
                now: now.sha256.clone(),
            });
        }
        if then.len() != now.len() {
            return Err(CheckpointError::OtherFiles { then: then.len(), now: now.len() });
        }
        let header = CheckpointHeader::new(self.header.model.clone(), machine, serde_json::Value::Null);
        if header.scene == self.header.scene { Ok(()) } else { Err(CheckpointError::OtherShapes) }
    }
}

impl CheckpointError {
    /// A folder without a checkpoint: it was never asked for, or the run has ended.
    fn missing(folder: &Path) -> Self {
        let folder = folder.to_owned();
        match Computation::Run.summary(&folder).map(|summary| summary.status) {
            Some(EndStatus::Done | EndStatus::Failed { .. }) => Self::Ended { folder },
            _ => Self::None { folder },
        }
    }
}

impl Machine {
    /// Goes on from a checkpoint, to the same bits as without interruption.
    pub fn resume(&self, plan: &RunPlan, checkpoint: &Checkpoint) -> Result<Run<'_>, CheckpointError> {
        checkpoint.check(self)?;
        let mut run = self.start(plan)?;
        run.restore(&mut Reader(&checkpoint.run))?;
        // Nothing of the folder is touched before all is known to fit.
        let mut recorder = Recorder::new(self, plan.output_step, NullSink);
        restore_recorder(&mut recorder, checkpoint)?;
        let mut watch = AccuracyWatch::new(self, plan, run.integration().values(), None);
        checkpoint.restore_accuracy(self, &run, &mut watch)?;
        Ok(run)
    }
}

impl Checkpoint {
    /// Goes on with what was seen that casts doubt on the result.
    pub(super) fn restore_accuracy(
        &self,
        machine: &Machine,
        run: &Run,
        watch: &mut AccuracyWatch,
    ) -> Result<(), CheckpointError> {
        if self.accuracy.is_empty() {
            return Ok(());
        }
        let restored = watch.restore(machine, run.integration().values(), &mut Reader(&self.accuracy));
        Ok(restored.map_err(|damaged| ResumeError::State(damaged.into()))?)
    }

    /// The coarser runs by which the tolerance of a run was found, if it was.
    pub(super) fn target(
        &self,
        machine: &Machine,
        plan: &RunPlan,
    ) -> Result<Option<Target>, CheckpointError> {
        let Some(target) = Target::new(plan).filter(|_| !self.target.is_empty()) else { return Ok(None) };
        let target = target.restore(machine, plan, &mut Reader(&self.target));
        Ok(Some(target.map_err(|damaged| ResumeError::State(damaged.into()))?))
    }
}

fn restore_recorder<S: Sink>(
    recorder: &mut Recorder<'_, S>,
    checkpoint: &Checkpoint,
) -> Result<(), CheckpointError> {
    let restored = recorder.restore(&mut Reader(&checkpoint.recorder));
    Ok(restored.map_err(|damaged| ResumeError::State(damaged.into()))?)
}

impl<'m> Recorder<'m, ResultFiles<'_>> {
    /// Takes the folder of a run that did not end, and goes on with its files.
    pub fn resume(
        machine: &'m Machine,
        plan: &RunPlan,
        folder: &Path,
        checkpoint: &Checkpoint,
    ) -> Result<Self, CheckpointError> {
        let mut reader = Reader(&checkpoint.files);
        let files = ResultFiles::resume(folder, checkpoint.header.model.clone(), machine, &mut reader)?;
        let mut recorder = Self::new(machine, plan.output_step, files);
        restore_recorder(&mut recorder, checkpoint)?;
        Ok(recorder)
    }

    /// Brings all records to the disk and writes a checkpoint of the run as it stands; the run must not be
    /// within a step.
    pub fn write_checkpoint(
        &mut self,
        run: &mut Run,
        header: &mut CheckpointHeader,
    ) -> Result<(), WriteError> {
        self.write_watched(run, None, header)
    }

    /// The same with what a watch has seen.
    pub(super) fn write_watched(
        &mut self,
        run: &mut Run,
        watch: Option<&AccuracyWatch>,
        header: &mut CheckpointHeader,
    ) -> Result<(), WriteError> {
        header.time = run.integration().values().time;
        header.steps = run.statistics().steps;
        let [mut saved, mut recorder, mut accuracy, mut target, mut files] =
            [(); 5].map(|()| Writer::default());
        run.save(&mut saved);
        self.save(&mut recorder);
        if let Some(watch) = watch {
            watch.save(&mut accuracy);
            watch.save_target(&mut target);
        }
        self.sink_mut().save(&mut files.0)?;
        let checkpoint = Checkpoint {
            header: header.clone(),
            run: saved.0,
            recorder: recorder.0,
            accuracy: accuracy.0,
            target: target.0,
            files: files.0,
        };
        self.sink_mut().folder().write_checkpoint(&checkpoint.to_bytes())
    }
}
