//! `run.json`: which model was run, how, at what cost, and how it ended.
//!
//! The same file marks a folder as ours: a rerun replaces only a folder whose `run.json` names the same
//! model.

use crate::file::JsonLimit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The mark that Kreisel wrote a folder.
const PROGRAM: &str = "kreisel";

/// Most files of a summary: no computation writes nearly as many.
const MAX_FILES: usize = 10_000;

/// Everything about a run except its trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct RunSummary {
    /// Always `kreisel`.
    pub(crate) program: String,
    /// Version of the program that ran.
    pub version: String,
    /// The model that was run.
    pub model: ModelIdentity,
    /// How the run ended.
    #[serde(flatten)]
    pub status: EndStatus,
    /// Whether the result can be trusted, as far as the program knows; absent while the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How accurate the result is, if that was estimated.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub accuracy: Value,
    /// Time the run took, in s.
    pub wall_time: f64,
    /// Settings in use, defaults included.
    pub settings: Value,
    /// Counts of steps, iterations and the like.
    pub statistics: Value,
    /// Events in order of time, each with `time` in s and the name of the `event`, and with the `error` of
    /// the time in s where coarser runs tell.
    #[serde(default)]
    pub events: Vec<Value>,
    /// What the user should know, in the order it was noticed.
    pub warnings: Vec<String>,
    /// The same as data, each with its `kind` and `text`, and `time`, `subject`, `number` and `advice` where
    /// there are any; those with `doubt` cast doubt on the result.
    #[serde(default)]
    pub notes: Vec<Value>,
    /// What was assumed because the model did not say it.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// The other files of this run, filled in by [`OutputFolder::finish`](super::OutputFolder::finish).
    #[serde(default)]
    pub files: Vec<String>,
    /// The CRC-32 of each of them, in eight hexadecimal digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub crc32: BTreeMap<String, String>,
}

impl RunSummary {
    /// The summary of a run that has just begun.
    pub fn new(model: ModelIdentity) -> Self {
        Self {
            program: PROGRAM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model,
            status: EndStatus::Running,
            verdict: None,
            accuracy: Value::Null,
            wall_time: 0.0,
            settings: Value::Null,
            statistics: Value::Null,
            events: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            assumptions: Vec::new(),
            files: Vec::new(),
            crc32: BTreeMap::new(),
        }
    }

    /// The summary as indented JSON with a final line end; numbers that are not finite become `null`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("all keys of a summary are text");
        text.push('\n');
        text
    }

    /// The summary that a `run.json` of ours holds; `None` for any other text, and for one that would fill
    /// the memory.
    pub fn from_json(text: &[u8]) -> Option<Self> {
        if !JsonLimit::FREE.fits(text) {
            return None;
        }
        let is_ours = |summary: &Self| {
            summary.program == PROGRAM && summary.files.len().max(summary.crc32.len()) <= MAX_FILES
        };
        serde_json::from_slice(text).ok().filter(is_ours)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EndStatus {
    /// Not yet; a run that was killed leaves this behind.
    Running,
    /// At its end time.
    Done,
    /// On the user's wish, with all results so far.
    Interrupted,
    /// By an error, with all results so far.
    Failed {
        /// What went wrong.
        message: String,
    },
}

/// Whether a result can be trusted, as far as the program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing was noticed that casts doubt on it.
    Good,
    /// Something was: the notes that are a doubt say what.
    Doubtful,
    /// The run ended with an error.
    Wrong,
}

/// Which model a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ModelIdentity {
    /// Where the model file is; best the absolute path, which tells models of one name apart.
    pub path: String,
    /// SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
}

impl ModelIdentity {
    /// The identity of a model of that path and content.
    pub fn new(path: impl Into<String>, content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: path.into(), sha256 }
    }

    /// Whether `other` is this model, edited since or moved, but not both.
    pub fn is_same_model(&self, other: &Self) -> bool {
        self.path == other.path || self.sha256 == other.sha256
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hash_is_the_published_sha_256_of_abc() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ModelIdentity::new("m.toml", b"abc").sha256, expected);
    }

    #[test]
    fn summary_comes_back_from_its_json() {
        let mut summary = RunSummary::new(ModelIdentity::new("models/top.toml", b"x"));
        summary.status = EndStatus::Failed { message: "Newton stopped".to_owned() };
        summary.wall_time = 0.25;
        summary.settings = json!({ "end-time": 2.0, "method": "index3" });
        summary.statistics = json!({ "steps": 2000 });
        summary.warnings = vec!["`top` has no markers".to_owned()];
        summary.notes = vec![json!({ "kind": "no-markers", "text": "`top` has no markers" })];
        assert_eq!(RunSummary::from_json(summary.to_json().as_bytes()), Some(summary));
    }

    #[test]
    fn keys_are_kebab_case_and_the_end_is_told_by_status_and_message() {
        let mut summary = RunSummary::new(ModelIdentity::new("top.toml", b"x"));
        summary.status = EndStatus::Failed { message: "no".to_owned() };
        let value: Value = serde_json::from_str(&summary.to_json()).unwrap();
        assert_eq!((&value["status"], &value["message"]), (&json!("failed"), &json!("no")));
        assert_eq!((&value["wall-time"], &value["program"]), (&json!(0.0), &json!("kreisel")));
    }

    #[test]
    fn other_json_is_not_a_summary() {
        let mut other: Value =
            serde_json::from_str(&RunSummary::new(ModelIdentity::new("a", b"")).to_json()).unwrap();
        other["program"] = json!("other");
        for text in ["", "{}", "[1]", "\u{0}", &other.to_string()] {
            assert_eq!(RunSummary::from_json(text.as_bytes()), None, "{text}");
        }
    }
}
