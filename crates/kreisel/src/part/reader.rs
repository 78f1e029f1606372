//! Model files become machines.

use std::path::{Path, PathBuf};

use super::{parts, sensor};
use crate::machine::{Functions, LedError, LedMachine, Machine, PartEntry, SettingTexts, build, build_led};
use crate::model::{Document, ModelErrors, PartKind};

/// Reads a model file.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml");
/// let machine = kreisel::read(path)?;
/// assert_eq!(machine.frames().bodies().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`MachineReader`] reads with other settings, parameters and kinds of parts.
pub fn read(path: impl AsRef<Path>) -> Result<Machine, ModelErrors> {
    MachineReader::new().read(path)
}

/// Reads machines, with what is given from outside of their models.
///
/// ```
/// use kreisel::part::MachineReader;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/pendulum.toml");
/// let reader = MachineReader::new().with_setting("end-time", 0.5).with_setting("method", "index3");
/// let machine = reader.read(path)?;
/// assert_eq!(machine.settings().end_time(), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MachineReader {
    parts: Vec<&'static PartEntry>,
    parameters: Vec<(String, String)>,
    settings: SettingTexts,
    functions: Functions,
    starts: Vec<(String, String)>,
}

impl MachineReader {
    /// Knows the kinds of parts of this library.
    pub fn new() -> Self {
        Self {
            parts: parts().collect(),
            parameters: Vec::new(),
            settings: SettingTexts::default(),
            functions: Functions::new(),
            starts: Vec::new(),
        }
    }

    /// Knows one more kind of part, which may refer to all kinds but sensors and events.
    #[must_use]
    pub fn with_part(mut self, entry: &'static PartEntry) -> Self {
        let is_last = |known: &&PartEntry| known.kind == sensor::PARTS[0].kind;
        let place = self.parts.iter().position(is_last).unwrap_or(self.parts.len());
        self.parts.insert(place, entry);
        self
    }

    /// Takes parameters, as name and expression, in place of those of models.
    #[must_use]
    pub fn with_parameters(mut self, parameters: &[(&str, &str)]) -> Self {
        self.parameters.extend(parameters.iter().map(|(name, text)| (name.to_string(), text.to_string())));
        self
    }

    /// Takes a setting, as a text or a number in base units, in place of that of models: what the keys of
    /// `[simulation]` mean, they mean here, with the same checks.
    #[must_use]
    pub fn with_setting(mut self, key: &str, value: impl ToString) -> Self {
        self.settings.set(key, value);
        self
    }

    /// Takes settings in place of those of models, and of those that were given before.
    #[must_use]
    pub fn with_settings(mut self, settings: &SettingTexts) -> Self {
        self.settings = settings.clone();
        self
    }

    /// Takes functions for the `[[function]]` parts of models.
    #[must_use]
    pub fn with_functions(mut self, functions: Functions) -> Self {
        self.functions = functions;
        self
    }

    /// Takes initial coordinates of joints and their rates, by full name, in place of those of models: numbers
    /// in base units, or texts such as `"30 deg"`.
    #[must_use]
    pub fn with_initial<V: ToString>(mut self, starts: &[(String, V)]) -> Self {
        self.starts.extend(starts.iter().map(|(name, value)| (name.clone(), value.to_string())));
        self
    }

    /// The kinds of parts that it knows, in the order in which they are read.
    pub fn kinds(&self) -> Vec<&'static PartKind> {
        self.parts.iter().map(|entry| entry.kind).collect()
    }

    /// Reads a model file.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Machine, ModelErrors> {
        let read = if self.settings.allows_outside() { Document::read_unconfined } else { Document::read };
        self.document(&read(path.as_ref(), &self.kinds(), &self.parameters())?)
    }

    /// The model file and every file that it names, whether they are there or not and whether the model makes
    /// sense or not.
    pub fn named_files(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        Document::named_files(path, &self.kinds(), &self.parameters(), !self.settings.allows_outside())
    }

    /// Reads a model from a text; `name` stands for the file in messages.
    pub fn text(&self, name: &str, text: &str) -> Result<Machine, ModelErrors> {
        self.document(&Document::from_text(name, text, &self.kinds(), &self.parameters())?)
    }

    /// Builds the machine that a document describes, with its own parameters.
    pub fn document(&self, document: &Document) -> Result<Machine, ModelErrors> {
        build(&self.settings.laid_over(document), &self.parts, &self.functions, &self.starts)
    }

    /// Builds the machine that a document describes with led coordinates: those of some names, or as many of
    /// all as are independent. Loops are followed from where the machine starts.
    pub fn led(&self, document: &Document, coordinates: Option<&[String]>) -> Result<LedMachine, LedError> {
        let document = self.settings.laid_over(document);
        build_led(&document, &self.parts, &self.functions, &self.starts, coordinates)
    }

    /// The same of a text; `name` stands for the file in messages.
    pub fn led_text(
        &self,
        name: &str,
        text: &str,
        coordinates: Option<&[String]>,
    ) -> Result<LedMachine, LedError> {
        let document = Document::from_text(name, text, &self.kinds(), &self.parameters())?;
        self.led(&document, coordinates)
    }

    /// The same of a model file.
    pub fn led_file(
        &self,
        path: impl AsRef<Path>,
        coordinates: Option<&[String]>,
    ) -> Result<LedMachine, LedError> {
        let read = if self.settings.allows_outside() { Document::read_unconfined } else { Document::read };
        self.led(&read(path.as_ref(), &self.kinds(), &self.parameters())?, coordinates)
    }

    fn parameters(&self) -> Vec<(&str, &str)> {
        self.parameters.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }
}

impl Default for MachineReader {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// Reads a model file; `overrides` are parameters given on the command line, as name and expression.
    pub fn read(path: impl AsRef<Path>, overrides: &[(&str, &str)]) -> Result<Self, ModelErrors> {
        MachineReader::new().with_parameters(overrides).read(path)
    }

    /// Reads a model from a text; `name` stands for the file in messages.
    pub fn from_text(name: &str, text: &str) -> Result<Self, ModelErrors> {
        MachineReader::new().text(name, text)
    }
}
