//! The files of a run in one folder: `trajectory.csv`, `trajectory.vtkhdf`, `scene.json`, `report.html`,
//! `run.json`.

#[cfg(feature = "report")]
use std::io::Write;
use std::path::{Path, PathBuf};

use super::StaticRecorder;
#[cfg(feature = "report")]
use super::output;
use super::output::{Contents, OUTPUTS, Opened, OutputEntry, OutputFile};
use super::passes::{Held, PassSink};
use super::recorder::{Record, Sink};
use crate::bytes::Reader;
#[cfg(feature = "report")]
use crate::dae::{Note, NoteKind};
use crate::machine::Machine;
#[cfg(feature = "report")]
use crate::report::{self, Recording, ReportError};
use crate::results::{Channel, Computation, ModelIdentity, OutputFolder, RunSummary, WriteError};

/// Writes records to the files of a run; they get their final names when it ends.
pub struct ResultFiles<'a> {
    folder: OutputFolder,
    outputs: Vec<Box<dyn Sink>>,
    /// Where records go besides.
    also: Option<Held<&'a mut dyn Sink>>,
}

impl<'a> ResultFiles<'a> {
    /// Takes a folder and begins its files; `force` takes it whoever filled it.
    pub fn begin(
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        let folder = OutputFolder::begin(path, Computation::Run, identity, force)?;
        Self::begin_all(folder, |output| output.file, &Contents::new(machine, Channel::time()))
    }

    /// Takes a folder for equilibria: `static.csv` and `static.vtkhdf` over the load factor.
    pub fn begin_static(
        path: &Path,
        identity: ModelIdentity,
        force: bool,
        machine: &Machine,
    ) -> Result<Self, WriteError> {
        let folder = OutputFolder::begin(path, Computation::Static, identity, force)?;
        let contents = Contents::new(machine, StaticRecorder::<Self>::axis());
        Self::begin_all(folder, |output| output.static_file, &contents)
    }

    fn begin_all(
        mut folder: OutputFolder,
        name: fn(&OutputEntry) -> &'static str,
        contents: &Contents,
    ) -> Result<Self, WriteError> {
        let begin = |output| Ok(begin(&mut folder, output, name(output), contents)? as Box<dyn Sink>);
        match OUTPUTS.iter().map(begin).collect() {
            Ok(outputs) => Ok(Self { folder, outputs, also: None }),
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
        let contents = Contents::new(machine, Channel::time());
        let go_on = |output: &OutputEntry| match output.resume {
            Some(resume) => {
                let (file, path) = (folder.reopen(output.file)?, folder.partial_path(output.file));
                resume(OutputFile { file, path: &path, contents: &contents }, reader)
            }
            None => begin(&mut folder, output, output.file, &contents),
        };
        let outputs = OUTPUTS.iter().map(go_on).collect::<Result<_, _>>()?;
        Ok(Self { folder, outputs, also: None })
    }

    /// Lets records go elsewhere, too: those of one run, or of the one that counts of several.
    pub(super) fn also(&mut self, sink: &'a mut dyn Sink, several: bool) {
        self.also = Some(Held::new(sink, several));
    }

    /// The files, and where records go besides.
    fn all(&mut self) -> impl Iterator<Item = &mut dyn Sink> {
        let also = self.also.as_mut().map(|sink| sink as &mut dyn Sink);
        self.outputs.iter_mut().map(|output| &mut **output as &mut dyn Sink).chain(also)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &OutputFolder {
        &self.folder
    }

    /// Gives the files their final names, however the run ended; tells the final paths.
    ///
    /// A page that cannot be made is a note in the summary, not a reason to lose the numbers.
    pub fn finish(mut self, summary: &mut RunSummary, with_report: bool) -> Result<Vec<PathBuf>, WriteError> {
        self.all().try_for_each(Sink::finish)?;
        let Self { folder, outputs, also } = self;
        drop(outputs);
        also.map_or(Ok(()), |sink| sink.release()?.finish())?;
        #[cfg(feature = "report")]
        let folder = if with_report { with_page(folder, summary)? } else { folder };
        #[cfg(not(feature = "report"))]
        let _ = with_report;
        folder.finish(summary)
    }
}

fn begin(folder: &mut OutputFolder, output: &OutputEntry, name: &str, contents: &Contents) -> Opened {
    let (file, path) = (folder.create(name)?, folder.path().join(name));
    (output.begin)(OutputFile { file, path: &path, contents })
}

/// The folder with the page of what was computed in it.
#[cfg(feature = "report")]
fn with_page(mut folder: OutputFolder, summary: &mut RunSummary) -> Result<OutputFolder, WriteError> {
    let (file, made) = match folder.computation() {
        Computation::Static => (report::STATIC_FILE, static_page(&folder, summary)),
        _ => (report::FILE, page(&folder, summary)),
    };
    match made {
        Ok(page) => write_text(&mut folder, file, &page)?,
        Err(error) => {
            let text = format!("no report was made: {error}");
            summary.add_notes([&Note::new(NoteKind::NoReport, text)]);
        }
    }
    Ok(folder)
}

#[cfg(feature = "report")]
fn page(folder: &OutputFolder, summary: &RunSummary) -> Result<String, ReportError> {
    let recording = Recording::with(folder.path(), summary.clone(), |name| folder.present_path(name))?;
    Ok(report::page(&recording))
}

/// The page of equilibria over the load factor.
#[cfg(feature = "report")]
fn static_page(folder: &OutputFolder, summary: &RunSummary) -> Result<String, ReportError> {
    let files =
        [output::TABLE, output::SCENE, output::MOTION].map(|output| folder.present_path(output.static_file));
    let axis = StaticRecorder::<ResultFiles>::axis();
    Ok(report::page(&Recording::with_path(folder.path(), summary.clone(), axis, files)?))
}

#[cfg(feature = "report")]
fn write_text(folder: &mut OutputFolder, name: &str, text: &str) -> Result<(), WriteError> {
    let mut file = folder.create(name)?;
    file.write_all(text.as_bytes()).map_err(|source| WriteError::io(&folder.partial_path(name), source))
}

impl Sink for ResultFiles<'_> {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.all().try_for_each(|sink| sink.push(record))
    }

    fn save(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.all().try_for_each(|sink| sink.save(out))
    }
}

impl PassSink for ResultFiles<'_> {
    fn begin_anew(
        &mut self,
        machine: &Machine,
        mut complete: Option<&mut RunSummary>,
    ) -> Result<(), WriteError> {
        if complete.is_some() {
            self.outputs.iter_mut().try_for_each(|output| output.finish())?;
        }
        // The old ones let go of their files first. A checkpoint speaks of them, too.
        self.outputs.clear();
        self.folder.remove_checkpoint()?;
        if let Some(summary) = &mut complete {
            self.folder.publish_all(summary)?;
        }
        let contents = Contents::new(machine, Channel::time());
        for output in OUTPUTS {
            self.outputs.push(begin(&mut self.folder, output, output.file, &contents)?);
        }
        self.also.as_mut().map_or(Ok(()), |sink| sink.begin_anew(machine, complete))
    }

    fn take_back(&mut self) -> Result<(), WriteError> {
        self.outputs.clear();
        self.folder.take_back();
        self.also.as_mut().map_or(Ok(()), Held::take_back)
    }
}
