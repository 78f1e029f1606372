//! Where results leave the program: stdout that may close early, and files that appear whole or not at all.

use kreisel::model::is_printable;
use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A result that could not be delivered.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Standard output refused, for a reason other than a reader that has had enough.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[source] io::Error),
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The file asked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// A number as people write it: four digits, no zeros at the end, an exponent where there would be many
/// before.
pub fn brief(number: f64) -> String {
    if number != 0.0 && number.is_finite() && !(1e-4..1e7).contains(&number.abs()) {
        let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
        return format!("{rounded:e}");
    }
    let digits = (3 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Prints to a stream whose reader may leave at any time, as `head` does; that is not an error.
pub struct Printer<W> {
    stream: W,
    closed: bool,
}

impl<W: Write> Printer<W> {
    /// Prints to `stream`.
    pub fn new(stream: W) -> Self {
        Self { stream, closed: false }
    }

    /// Prints `text` and flushes; does nothing once the reader has gone.
    pub fn print(&mut self, text: &str) -> Result<(), WriteError> {
        if self.closed {
            return Ok(());
        }
        let text = harmless(text, false);
        match self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result.map_err(WriteError::Stdout),
        }
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
}

/// A text without what would command a terminal or turn its writing round, whatever names and files it
/// quotes; colours are kept where they are wanted.
pub fn harmless(text: &str, colors: bool) -> Cow<'_, str> {
    if text.chars().all(|letter| letter == '\n' || is_printable(letter)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if colors { color_length(rest) } else { 0 };
        if length > 0 {
            shown.push_str(&rest[..length]);
        } else if matches!(letter, '\n' | '\t') || is_printable(letter) {
            shown.push(letter);
        } else {
            shown.push(char::REPLACEMENT_CHARACTER);
        }
        rest = &rest[length.max(letter.len_utf8())..];
    }
    Cow::Owned(shown)
}

/// Length of the sequence at the start of a text that chooses a colour; 0 if there is none.
fn color_length(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\x1b[") else { return 0 };
    match codes.find(|letter: char| !letter.is_ascii_digit() && letter != ';') {
        Some(end) if codes[end..].starts_with('m') => end + 3,
        _ => 0,
    }
}

/// Writes a file so that readers see the old content or the new one, never a part.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    let failed = |source| WriteError::File { path: path.to_path_buf(), source };
    let Some(name) = path.file_name() else {
        return Err(failed(io::Error::new(ErrorKind::InvalidInput, "not the name of a file")));
    };
    // Beside the target, because a rename is atomic only within one file system.
    let mut partial_name = std::ffi::OsString::from(".");
    partial_name.push(name);
    partial_name.push(format!(".{}.part", std::process::id()));
    let partial = path.with_file_name(partial_name);
    let result = write_and_sync(&partial, content).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        // Best effort: the first error is the one worth reporting.
        let _ = fs::remove_file(&partial);
    }
    result.map_err(failed)
}

fn write_and_sync(path: &Path, content: &[u8]) -> io::Result<()> {
    // Never through a link that somebody put in our way.
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_at_most() {
        let numbers = [0.0, 1.0, 1.0 / 3.0, 0.62, 12.5, 3600.0, 123456.0, 1.0 / 3e3, -2.5, 1.5e-7, 2e9 / 3.0];
        let shown =
            ["0", "1", "0.3333", "0.62", "12.5", "3600", "123456", "0.0003333", "-2.5", "1.5e-7", "6.667e8"];
        assert_eq!(numbers.map(brief), shown);
    }

    struct ClosedPipe;

    impl Write for ClosedPipe {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_leaves_is_not_an_error() {
        let mut printer = Printer::new(ClosedPipe);
        printer.print("one").unwrap();
        assert!(printer.is_closed());
        printer.print("two").unwrap();
    }

    #[test]
    fn nothing_that_is_printed_commands_a_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\r\u{1b}[31mred\n";
        let shown = harmless(hostile, true);
        assert_eq!(shown, "a\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}b\u{fffd}\u{1b}[31mred\n");
        assert!(!harmless(hostile, false).contains('\u{1b}'));
        let plain = "ρ∞ = 0.9\tm/s²\n";
        assert_eq!(harmless(plain, false), plain);
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_remains() {
        let folder = std::env::temp_dir().join(format!("kreisel-write-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.json");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_in_a_missing_folder_is_an_error_that_names_the_file() {
        let path = std::env::temp_dir().join("kreisel-no-such-folder/x.json");
        let message = write_whole(&path, b"").unwrap_err().to_string();
        assert!(message.contains("x.json"), "{message}");
    }
}
