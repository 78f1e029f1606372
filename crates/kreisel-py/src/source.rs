//! What a model is made of in Python: a text, and what replaces parts of it.

use crate::error;
use crate::function::{Failure, Given, Held, functions};
use kreisel::machine::{Functions, LedError, LedMachine, Machine, SETTINGS, Setting, SettingTexts};
use kreisel::model::{Document, ModelErrors};
use kreisel::part::{self, MachineReader};
use kreisel::results::ModelIdentity;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;

/// The text of a model with all that is given from outside.
pub struct Source {
    name: String,
    text: String,
    /// The file that the text stands for, so that it can include others.
    pub path: Option<PathBuf>,
    parameters: Vec<(String, String)>,
    settings: SettingTexts,
    functions: Functions,
    /// The Python objects of its functions.
    pub held: Held,
    /// Initial coordinates of joints and their rates.
    initial: Vec<(String, String)>,
}

impl Source {
    /// Takes the parts; gives also the place where exceptions of the functions go.
    pub fn new(
        name: String,
        text: String,
        path: Option<PathBuf>,
        parameters: Vec<(String, String)>,
        settings: HashMap<String, String>,
        given: Given,
    ) -> PyResult<(Self, Failure)> {
        let settings = setting_texts(settings)?;
        let (functions, failure, held) = functions(given);
        let initial = Vec::new();
        Ok((Self { name, text, path, parameters, settings, functions, held, initial }, failure))
    }

    /// With initial coordinates of joints and their rates in place of those of the model.
    pub fn with_initial(self, initial: Vec<(String, String)>) -> Self {
        Self { initial, ..self }
    }

    /// How results name the model.
    pub fn identity(&self) -> ModelIdentity {
        let shown = self.path.as_ref().map_or(self.name.clone(), |path| path.display().to_string());
        ModelIdentity::new(shown, self.text.as_bytes())
    }

    /// The model with its replaced parameters, and with more of them, as name and expression.
    pub fn document(&self, more: &[(&str, &str)]) -> Result<Document, ModelErrors> {
        let own = self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.read(&own.chain(more.iter().copied()).collect::<Vec<_>>())
    }

    /// The model as it is written.
    pub fn own_document(&self) -> Result<Document, ModelErrors> {
        self.read(&[])
    }

    /// The machine of one of its documents.
    pub fn assemble(&self, document: &Document) -> Result<Machine, ModelErrors> {
        let reader = MachineReader::new().with_settings(&self.settings);
        reader.with_functions(self.functions.clone()).with_initial(&self.initial).document(document)
    }

    /// The machine with driven coordinates.
    pub fn led(&self, coordinates: Option<&[String]>) -> Result<LedMachine, LedError> {
        let reader = MachineReader::new().with_settings(&self.settings);
        reader.with_functions(self.functions.clone()).led(&self.document(&[])?, coordinates)
    }

    /// What is given from outside, a text each, as the command says it.
    pub fn changes(&self) -> Vec<String> {
        let own = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        own.chain(self.settings.flags()).collect()
    }

    fn read(&self, given: &[(&str, &str)]) -> Result<Document, ModelErrors> {
        let kinds = part::kinds();
        match &self.path {
            Some(path) => Document::from_text_at(path, &self.text, &kinds, given),
            None => Document::from_text(&self.name, &self.text, &kinds, given),
        }
    }
}

fn setting_texts(given: HashMap<String, String>) -> PyResult<SettingTexts> {
    let mut texts = SettingTexts::default();
    for (name, text) in given {
        let is_meant =
            |setting: &&Setting| setting.flag.is_some() && setting.key.name.replace('-', "_") == name;
        let setting = SETTINGS.iter().find(is_meant);
        let setting = setting.ok_or_else(|| error::argument(format!("there is no setting `{name}`")))?;
        texts.set(setting.key.name, text);
    }
    Ok(texts)
}
