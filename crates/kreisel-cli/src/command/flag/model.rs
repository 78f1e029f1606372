//! The model file of a command, with `--set name=value` and the flags that take the place of `[simulation]`.

use super::SettingFlags;
use crate::command::CommandError;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::model::{Document, ModelErrors};
use kreisel::part::{self, MachineReader};
use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The model file and what is changed in it from outside. All of it is the group `Model`, by which `kreisel
/// run` knows that a model is given; a run that goes on has none.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
pub struct Model<const IN_TIME: bool = true> {
    /// The model file
    #[arg(value_name = "FILE", group = "Model")]
    #[serde(serialize_with = "absolute")]
    file: PathBuf,

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
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Reads the machine.
    pub fn read(&self) -> Result<Machine, CommandError> {
        Ok(self.read_varied(&[])?)
    }

    /// Reads the machine with more parameters given from outside, as name and expression.
    pub fn read_varied(&self, more: &[(&str, &str)]) -> Result<Machine, ModelErrors> {
        let own = self.assignments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let all: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        MachineReader::new().with_parameters(&all).with_settings(&self.settings()).read(&self.file)
    }

    /// What is changed from outside, a text each: `mass=3`, `--step=1 ms`.
    pub fn changes(&self) -> Vec<String> {
        let own = self.assignments.iter().map(|(name, value)| format!("{name}={value}"));
        own.chain(self.settings().flags()).collect()
    }

    /// The model as it is written, without what is given from outside.
    pub fn document(&self) -> Result<Document, ModelErrors> {
        let read = if self.allow_outside { Document::read_unconfined } else { Document::read };
        read(&self.file, &part::kinds(), &[])
    }

    fn settings(&self) -> SettingTexts {
        self.settings.0.clone().allowing_outside(self.allow_outside)
    }
}

/// Where a file is, whatever the folder from which it is asked for later.
fn absolute<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
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
