//! The model that a machine comes from: its texts, where it says what, and what it left open.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::PartEntry;
use crate::dae::Notes;
use crate::model::{Document, Place, SourceFile};
use crate::results::ModelIdentity;

/// What is known of the model of a machine.
pub(super) struct Provenance {
    /// What it is called, in one line.
    pub(super) title: String,
    /// What its author says about it.
    pub(super) description: String,
    /// What its user should know of it.
    pub(super) remarks: Remarks,
    /// Where it says how it is run, or its beginning.
    pub(super) settings_place: Place,
    /// Where it says each part.
    pub(super) places: HashMap<String, Place>,
    /// Its texts, the model file first.
    pub(super) sources: Vec<ModelIdentity>,
    /// Its parameters with their values.
    pub(super) parameters: BTreeMap<String, f64>,
}

/// What the user of a model should know of how it was read.
#[derive(Default)]
pub(super) struct Remarks {
    /// What was assumed because the model did not say it.
    pub(super) assumptions: Vec<String>,
    /// What looks like a mistake but is not one.
    pub(super) notes: Notes,
}

impl Provenance {
    /// What a document says.
    pub(super) fn new(document: &Document, parts: &[&PartEntry], remarks: Remarks) -> Self {
        let (title, description) = title_and_description(document);
        Self {
            title,
            description,
            remarks,
            settings_place: settings_place(document),
            places: places(document, parts),
            sources: sources(document),
            parameters: document.parameters().clone(),
        }
    }
}

/// The texts of a document.
fn sources(document: &Document) -> Vec<ModelIdentity> {
    let identity = |source: &Arc<SourceFile>| ModelIdentity::new(source.name(), source.text().as_bytes());
    document.sources().iter().map(identity).collect()
}

/// Where a document says each part.
fn places(document: &Document, parts: &[&PartEntry]) -> HashMap<String, Place> {
    let parts = parts.iter().flat_map(|entry| document.parts_of(entry.kind.name));
    parts.map(|part| (part.unique_name(), part.entries().place().clone())).collect()
}

/// Where a model says how it is run, or its beginning.
fn settings_place(document: &Document) -> Place {
    let part =
        document.parts_of(super::settings::KIND.name).next().map(|part| part.entries().place().clone());
    part.or_else(|| document.sources().first().map(|source| Place::new(source, 0..0))).unwrap_or_default()
}

/// Title and description of a model: the first sentence or line of its opening comment, and the rest; without
/// a comment the name of the file.
fn title_and_description(document: &Document) -> (String, String) {
    let sources = document.sources();
    let Some(source) = sources.first() else { return Default::default() };
    let lines = source.text().lines().map_while(|line| line.strip_prefix('#'));
    // `#:schema` speaks to editors.
    let comment: Vec<&str> = lines.filter(|line| !line.starts_with(':')).map(str::trim).collect();
    let comment = comment.join("\n");
    let paragraphs: Vec<String> =
        comment.split("\n\n").map(|text| text.replace('\n', " ").trim().to_owned()).collect();
    match paragraphs.split_first() {
        Some((title, rest)) if !title.is_empty() => {
            (title.trim_end_matches('.').to_owned(), rest.join("\n\n"))
        }
        _ => {
            let stem = Path::new(source.name()).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            (stem.unwrap_or_default(), String::new())
        }
    }
}
