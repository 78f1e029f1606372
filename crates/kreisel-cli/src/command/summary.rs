//! What a computation prints at its end: at most seven lines of a name and words, more on request.

use crate::output::brief;
use kreisel::results::{RunSummary, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Lines of a summary.
#[derive(Default)]
pub struct Summary {
    text: String,
}

impl Summary {
    /// Adds a line.
    pub fn line(&mut self, name: &str, words: impl AsRef<str>) {
        let _ = writeln!(self.text, "{name:<18}{}", words.as_ref());
    }

    /// Adds all files in one line, and the page in its own.
    pub fn files(&mut self, folder: &Path, paths: &[PathBuf], page: &str) {
        let (pages, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.ends_with(page));
        // Those that were asked for by name may stand in other folders.
        let (inside, outside): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|path| path.starts_with(folder));
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let mut words = inside.into_iter().map(name).collect::<Vec<_>>().join(", ");
        let _ = write!(words, " in {}", folder.display());
        if let Some(other) = outside.first().and_then(|path| path.parent()) {
            let _ = write!(words, ", {} more in {}", outside.len(), other.display());
        }
        self.line("files", words);
        for path in pages {
            self.line("report", format!("{} (open it in a browser, or by `kreisel view`)", path.display()));
        }
    }

    /// Adds a line for each file, the page last.
    pub fn every_file(&mut self, paths: &[PathBuf], page: &str) {
        let (pages, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.ends_with(page));
        others.iter().for_each(|path| self.line("written", path.display().to_string()));
        for path in pages {
            self.line("report", format!("{} (open it in a browser)", path.display()));
        }
    }

    /// The lines.
    pub fn text(self) -> String {
        self.text
    }
}

/// A number as people write it, 0 where it is round-off beside a larger one of its kind.
pub fn rounded(number: f64, beside: f64) -> String {
    /// Digits of a double, less those that a long sum loses.
    const ROUND_OFF: f64 = 1e-12;
    if number.abs() <= ROUND_OFF * beside.abs() { "0".to_owned() } else { brief(number) }
}

/// What is thought of a result, in a line.
pub fn verdict_words(summary: &RunSummary) -> String {
    match summary.verdict {
        Some(Verdict::Good) => "good: nothing casts doubt on it".to_owned(),
        Some(Verdict::Doubtful) => {
            let doubts = summary.notes.iter().filter(|note| note["doubt"] == true);
            let kinds: Vec<&str> = doubts.filter_map(|note| note["kind"].as_str()).collect();
            format!("doubtful, see the warnings: {}", kinds.join(", "))
        }
        _ => "wrong: the run ended with an error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_off_beside_larger_numbers_is_zero() {
        let cases = [(8.49, 8.49, "8.49"), (3e-15, 8.49, "0"), (-3e-15, 8.49, "0"), (0.0, 0.0, "0")];
        for (number, beside, words) in cases {
            assert_eq!(rounded(number, beside), words);
        }
        assert_eq!(rounded(3e-15, 1e-9), "3e-15", "small, but nothing is larger");
    }

    #[test]
    fn files_stand_in_one_line_and_those_elsewhere_are_counted() {
        let mut summary = Summary::default();
        let paths = ["out/a.csv", "m/mass.mtx", "m/damping.mtx", "out/modes.html"].map(PathBuf::from);
        summary.files(Path::new("out"), &paths, "modes.html");
        assert_eq!(
            summary.text(),
            "files             a.csv in out, 2 more in m\n\
             report            out/modes.html (open it in a browser, or by `kreisel view`)\n"
        );
    }
}
