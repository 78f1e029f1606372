//! Finished runs on disk: a line each, in the order in which they came to their end.
//!
//! A line is written with one call, so that a process that dies loses at most the runs under way; a last line
//! that is not whole is left out. Numbers are written as the bits that they are.

use super::run::{Outcome, SweepRow};
use crate::file::open_own;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Longest line in bytes: one of a hundred thousand measures is shorter.
const MAX_LINE: u64 = 16_000_000;

/// The runs that have come to their end.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Why runs cannot be kept or read.
#[derive(Error)]
#[non_exhaustive]
pub enum JournalError {
    /// What the operating system said.
    #[error("cannot keep finished runs in {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Runs of something else.
    #[error(
        "{} holds runs of another sweep ({what}); choose another folder, or remove this one",
        path.display()
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A line that a sweep did not write.
    #[error("line {line} of {} cannot be read; remove the file to begin anew", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
}

shown_by_message!(JournalError);

/// What a sweep is: runs of another one are not taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Identity {
    /// Version of the program.
    pub version: String,
    /// SHA-256 of the model.
    pub model: String,
    /// Settings given from outside.
    pub settings: Vec<String>,
    /// What varies.
    pub variations: Vec<String>,
    /// How points are chosen.
    pub sampling: String,
    /// What is measured.
    pub measures: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    run: usize,
    /// Bits, because text has no word for all that is not a number.
    measures: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Journal {
    /// Opens the journal of a sweep of `count` runs, or begins it; gives the runs that are in it.
    pub fn open(
        path: &Path,
        identity: &Identity,
        count: usize,
    ) -> Result<(Self, Vec<SweepRow>), JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let file = open_own(OpenOptions::new().read(true).write(true).create(true).truncate(false), path);
        let file = file.map_err(failed)?;
        let broken = |line: usize| JournalError::Broken { path: path.to_owned(), line };
        let mut journal = Self { path: path.to_owned(), file };
        let (mut rows, mut seen) = (Vec::new(), vec![false; count]);
        let (mut whole, mut line) = (0, Vec::new());
        let mut lines = BufReader::new(&journal.file);
        for number in 1.. {
            line.clear();
            let length = (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)?;
            if line.last() != Some(&b'\n') {
                if length as u64 == MAX_LINE {
                    return Err(broken(number));
                }
                // It was not written whole.
                break;
            }
            whole += length as u64;
            if number == 1 {
                let known: Identity = serde_json::from_slice(&line).map_err(|_| broken(number))?;
                if let Some(what) = difference(&known, identity) {
                    return Err(JournalError::Other { path: path.to_owned(), what });
                }
                continue;
            }
            let line: Line = serde_json::from_slice(&line).map_err(|_| broken(number))?;
            let is_known = line.measures.len() == identity.measures.len();
            let seen = seen.get_mut(line.run).filter(|_| is_known).ok_or_else(|| broken(number))?;
            // A run counts once.
            if !std::mem::replace(seen, true) {
                rows.push(line.into());
            }
        }
        journal.cut(whole)?;
        if whole == 0 {
            journal.write(identity)?;
        }
        Ok((journal, rows))
    }

    /// Adds a run.
    pub fn push(&mut self, row: &SweepRow) -> Result<(), JournalError> {
        let reason = match &row.outcome {
            Outcome::Done => None,
            Outcome::Failed(reason) => Some(reason.clone()),
        };
        let measures = row.measures.iter().map(|value| value.to_bits()).collect();
        self.write(&Line { run: row.run, measures, reason })
    }

    fn cut(&mut self, length: u64) -> Result<(), JournalError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let mut text = serde_json::to_string(line).expect("numbers and texts have a form in JSON");
        text.push('\n');
        let failed = |source| JournalError::Io { path: self.path.clone(), source };
        self.file.write_all(text.as_bytes()).map_err(failed)
    }
}

impl From<Line> for SweepRow {
    fn from(line: Line) -> Self {
        let measures = line.measures.into_iter().map(f64::from_bits).collect();
        let outcome = line.reason.map_or(Outcome::Done, Outcome::Failed);
        Self { run: line.run, measures, outcome }
    }
}

/// What of two sweeps differs first.
fn difference(known: &Identity, wanted: &Identity) -> Option<String> {
    let words = |what: &str, known: &[String], wanted: &[String]| {
        (known != wanted).then(|| format!("{what} {}, not {}", known.join(" "), wanted.join(" ")))
    };
    let word = |what: &str, known: &str, wanted: &str| {
        (known != wanted).then(|| format!("{what} {known}, not {wanted}"))
    };
    word("Kreisel", &known.version, &wanted.version)
        .or_else(|| (known.model != wanted.model).then(|| "the model has changed".to_owned()))
        .or_else(|| words("settings", &known.settings, &wanted.settings))
        .or_else(|| words("variations", &known.variations, &wanted.variations))
        .or_else(|| word("points", &known.sampling, &wanted.sampling))
        .or_else(|| words("measures", &known.measures, &wanted.measures))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            version: "1".to_owned(),
            model: "ab".to_owned(),
            settings: Vec::new(),
            variations: vec!["a=1,2".to_owned()],
            sampling: "grid".to_owned(),
            measures: vec!["max(x)".to_owned()],
        }
    }

    fn rows() -> [SweepRow; 2] {
        [
            SweepRow { run: 1, measures: vec![0.1], outcome: Outcome::Done },
            SweepRow {
                run: 0,
                measures: vec![f64::NAN],
                outcome: Outcome::Failed("a \"reason\"".to_owned()),
            },
        ]
    }

    fn bits(rows: &[SweepRow]) -> Vec<(usize, u64, Outcome)> {
        rows.iter().map(|row| (row.run, row.measures[0].to_bits(), row.outcome.clone())).collect()
    }

    #[test]
    fn a_journal_cut_anywhere_gives_back_the_whole_lines_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, none) = Journal::open(&path, &identity(), 2).unwrap();
        assert!(none.is_empty());
        rows().iter().for_each(|row| journal.push(row).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, kept) = Journal::open(&path, &identity(), 2).unwrap();
            let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(bits(&kept), bits(&rows()[..lines.saturating_sub(1)]));
            rows()[kept.len()..].iter().for_each(|row| journal.push(row).unwrap());
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn runs_of_another_sweep_are_refused_with_the_difference() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        drop(Journal::open(&path, &identity(), 2).unwrap());
        let others = [
            (Identity { model: "cd".to_owned(), ..identity() }, "the model has changed"),
            (Identity { variations: vec!["a=1,3".to_owned()], ..identity() }, "a=1,2, not a=1,3"),
            (Identity { version: "2".to_owned(), ..identity() }, "Kreisel 1, not 2"),
            (Identity { sampling: "random".to_owned(), ..identity() }, "points grid, not random"),
        ];
        for (other, reason) in others {
            let words = Journal::open(&path, &other, 2).unwrap_err().to_string();
            assert!(words.contains(reason), "{words}");
        }
    }

    #[test]
    fn lines_of_something_else_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let head = serde_json::to_string(&identity()).unwrap();
        for (text, line) in [
            ("hello\n".to_owned(), 1),
            (format!("{head}\nhello\n"), 2),
            (format!("{head}\n{{\"run\":7,\"measures\":[0]}}\n"), 2),
            (format!("{head}\n{{\"run\":0,\"measures\":[]}}\n"), 2),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = Journal::open(&path, &identity(), 2).unwrap_err();
            assert!(
                matches!(error, JournalError::Broken { line: found, .. } if found == line),
                "{text}: {error}"
            );
        }
    }
}
