//! What a sweep leaves beside its tables: what it was, and checksums of its files.

use super::journal::Identity;
use crate::file::{JsonLimit, own_bytes};
use crate::results::folder::{self, MAX_SUMMARY, is_absent};
use crate::results::{ReadError, checksum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file with a [`SweepSummary`].
pub const SWEEP_SUMMARY: &str = "sweep.json";

/// What a finished sweep was, and which files it wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SweepSummary {
    /// What was run.
    pub sweep: Identity,
    /// Number of runs.
    pub runs: usize,
    /// How many of them failed.
    pub failed: usize,
    /// CRC-32 of each file, in eight hexadecimal digits.
    pub crc32: BTreeMap<String, String>,
}

impl SweepSummary {
    /// A sweep without files.
    pub fn new(sweep: &Identity, runs: usize, failed: usize) -> Self {
        Self { sweep: sweep.clone(), runs, failed, crc32: BTreeMap::new() }
    }

    /// With a file.
    #[must_use]
    pub fn with_file(mut self, name: &str, content: &[u8]) -> Self {
        self.crc32.insert(name.to_owned(), checksum(content));
        self
    }

    /// The summary of a folder, if there is one; a file that is none is an error.
    pub fn read(folder: &Path) -> Result<Option<Self>, ReadError> {
        let path = folder.join(SWEEP_SUMMARY);
        match own_bytes(&path, MAX_SUMMARY) {
            Ok(text) => match Self::from_json(&text) {
                Some(summary) => Ok(Some(summary)),
                None => Err(ReadError::NoSummary { path }),
            },
            Err(source) if is_absent(&source) => Ok(None),
            Err(source) => Err(ReadError::io(&path, source)),
        }
    }

    /// The summary that a `sweep.json` holds; `None` for any other text, and for one that would fill the
    /// memory.
    pub fn from_json(text: &[u8]) -> Option<Self> {
        if JsonLimit::FREE.fits(text) { serde_json::from_slice(text).ok() } else { None }
    }

    /// The text of its file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("all keys are texts") + "\n"
    }

    /// Whether a file is as it was written.
    pub fn check_file(&self, folder: &Path, name: &str) -> Result<(), ReadError> {
        folder::check_file(folder, name, self.crc32.get(name))
    }
}
