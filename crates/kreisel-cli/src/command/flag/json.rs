//! `--json` prints the summary as JSON, `--json=FILE` writes it.

use crate::command::CommandError;
use crate::output::{WriteError, write_whole};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The flag `--json[=FILE]`.
#[derive(Debug, clap::Args)]
pub struct Json {
    /// Print the summary as JSON in place of text; with `=FILE`, write it to FILE beside the text
    #[arg(help_heading = "Results", long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl Json {
    /// Whether JSON takes the place of text on standard output.
    pub fn prints(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// The file to write, if one was asked for.
    pub fn file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Finds out before any work that the file has a folder to stand in.
    pub fn check(&self) -> Result<(), CommandError> {
        let Some(file) = self.file() else { return Ok(()) };
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if folder.is_dir() {
            Ok(())
        } else {
            Err(CommandError::NoFolder { folder: folder.to_path_buf(), file: file.to_path_buf() })
        }
    }

    /// Writes `summary` to the file, if one was asked for.
    pub fn write(&self, summary: &impl Serialize) -> Result<(), WriteError> {
        match self.file() {
            Some(file) => write_whole(file, text(summary).as_bytes()),
            None => Ok(()),
        }
    }
}

/// The summary as indented JSON with a final line break.
pub fn text(summary: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(summary).expect("summaries have text keys and serialise without error");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        json: Json,
        names: Vec<String>,
    }

    #[test]
    fn alone_it_prints_and_takes_no_word_that_follows() {
        let only = Only::parse_from(["kreisel", "--json", "name"]);
        assert!(only.json.prints() && only.json.file().is_none());
        assert_eq!(only.names, ["name"]);
    }

    #[test]
    fn with_a_file_it_writes_and_the_text_stays() {
        let only = Only::parse_from(["kreisel", "--json=a/b.json"]);
        assert!(!only.json.prints());
        assert_eq!(only.json.file(), Some(Path::new("a/b.json")));
    }

    #[test]
    fn a_file_without_a_folder_is_refused_before_any_work() {
        let only = Only::parse_from(["kreisel", "--json=no-such-folder/b.json"]);
        assert!(matches!(only.json.check(), Err(CommandError::NoFolder { .. })));
        Only::parse_from(["kreisel", "--json=b.json"]).json.check().unwrap();
    }
}
