//! The model file of a command, with `--set name=value` and the flags that take the place of `[simulation]`.

use super::SettingFlags;
use crate::command::CommandError;
use kreisel::machine::{LedError, LedMachine, Machine, SettingTexts};
use kreisel::model::document::{MAX_FILE_SIZE, read_bytes};
use kreisel::model::{Document, ModelErrors};
use kreisel::part::{self, MachineReader};
use kreisel::results::ModelIdentity;
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The model file and what is changed in it from outside. All of it is the group `Model`, by which `kreisel
/// run` knows that a model is given; a run that goes on has none.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
pub struct Model<const IN_TIME: bool = true> {
    /// The model file; `-` reads the model from standard input
    #[arg(value_name = "FILE", group = "Model")]
    #[serde(serialize_with = "absolute")]
    file: PathBuf,

    /// What standard input gave, once it was read; a run that goes on has it from its checkpoint.
    #[arg(skip)]
    #[serde(default, with = "given_text")]
    text: OnceLock<String>,

    /// Give a parameter of the model another value; may be repeated
    #[arg(help_heading = "Model", long = "set", value_name = "NAME=VALUE", value_parser = assignment, group = "Model")]
    assignments: Vec<(String, String)>,

    #[command(flatten)]
    settings: SettingFlags<IN_TIME>,

    /// Let the model use files (includes, surfaces) outside of its own folder; only for models that you trust
    #[arg(help_heading = "Model", long, group = "Model")]
    #[serde(default)]
    allow_outside: bool,
}

impl<const IN_TIME: bool> Model<IN_TIME> {
    /// Where the file is, or what stands for it: results have its name.
    pub fn path(&self) -> &Path {
        if is_standard_input(&self.file) { Path::new("stdin") } else { &self.file }
    }

    /// Whether the model comes from standard input.
    pub fn is_standard_input(&self) -> bool {
        is_standard_input(&self.file)
    }

    /// The model file and every file that it names, whether they are there or not.
    pub fn named_files(&self) -> Vec<PathBuf> {
        self.reader(&[]).named_files(&self.file)
    }

    /// Reads machines with what is given from outside, and more parameters, as name and expression.
    fn reader(&self, more: &[(&str, &str)]) -> MachineReader {
        let own = self.assignments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let all: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        MachineReader::new().with_parameters(&all).with_settings(&self.settings())
    }

    /// The text of a model that is no file.
    fn text(&self) -> Result<Option<&str>, ModelErrors> {
        if !is_standard_input(&self.file) {
            return Ok(None);
        }
        if self.text.get().is_none() {
            let text = Document::take_text(STANDARD_INPUT, std::io::stdin().lock())?;
            // Nobody else reads it meanwhile, and if so the first one counts.
            let _ = self.text.set(text);
        }
        Ok(self.text.get().map(String::as_str))
    }

    /// Which model it is.
    pub fn identity(&self) -> Result<ModelIdentity, CommandError> {
        if let Some(text) = self.text()? {
            return Ok(ModelIdentity::new(STANDARD_INPUT, text.as_bytes()));
        }
        let unreadable = |source| CommandError::ModelGone { path: self.file.clone(), source };
        let content = read_bytes(&self.file, MAX_FILE_SIZE)
            .map_err(|mistake| unreadable(std::io::Error::other(mistake.to_string())))?;
        let absolute = std::path::absolute(&self.file).map_err(unreadable)?;
        Ok(ModelIdentity::new(absolute.display().to_string(), &content))
    }

    /// Reads the machine.
    pub fn read(&self) -> Result<Machine, CommandError> {
        Ok(self.read_varied(&[])?)
    }

    /// Reads the machine with more parameters given from outside, as name and expression.
    pub fn read_varied(&self, more: &[(&str, &str)]) -> Result<Machine, ModelErrors> {
        let reader = self.reader(more);
        match self.text()? {
            Some(text) => reader.text(STANDARD_INPUT, text),
            None => reader.read(&self.file),
        }
    }

    /// Reads the machine with these of its coordinates led.
    pub fn read_led(&self, coordinates: &[String]) -> Result<LedMachine, LedError> {
        let reader = self.reader(&[]);
        match self.text()? {
            Some(text) => reader.led_text(STANDARD_INPUT, text, Some(coordinates)),
            None => reader.led_file(&self.file, Some(coordinates)),
        }
    }

    /// What is changed from outside, a text each: `mass=3`, `--step=1 ms`.
    pub fn changes(&self) -> Vec<String> {
        let own = self.assignments.iter().map(|(name, value)| format!("{name}={value}"));
        own.chain(self.settings().flags()).collect()
    }

    /// The model as it is written, without what is given from outside.
    pub fn document(&self) -> Result<Document, ModelErrors> {
        if let Some(text) = self.text()? {
            return Document::from_text(STANDARD_INPUT, text, &part::kinds(), &[]);
        }
        let read = if self.allow_outside { Document::read_unconfined } else { Document::read };
        read(&self.file, &part::kinds(), &[])
    }

    fn settings(&self) -> SettingTexts {
        self.settings.0.clone().allowing_outside(self.allow_outside)
    }
}

/// What messages call a model that is no file.
const STANDARD_INPUT: &str = "standard input";

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// The text of standard input as checkpoints keep it.
mod given_text {
    use super::OnceLock;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(text: &OnceLock<String>, serializer: S) -> Result<S::Ok, S::Error> {
        text.get().serialize(serializer)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<OnceLock<String>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map_or_else(OnceLock::new, OnceLock::from))
    }
}

/// Where a file is, whatever the folder from which it is asked for later.
fn absolute<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    if is_standard_input(path) {
        return path.serialize(serializer);
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    serializer.serialize_str(&path.to_string_lossy())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("write it as name=value, for instance --set length=\"20 cm\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_split_at_the_first_equals_sign() {
        assert_eq!(assignment("a=1 m").unwrap(), ("a".to_owned(), "1 m".to_owned()));
        assert_eq!(assignment("a=b==c").unwrap().1, "b==c");
        for text in ["", "a", "=1", " =1"] {
            assert!(assignment(text).unwrap_err().contains("name=value"), "{text}");
        }
    }
}
