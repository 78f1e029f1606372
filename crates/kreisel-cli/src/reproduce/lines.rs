//! One line of progress per running experiment on a terminal, nothing into a pipe.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kreisel_papers::experiment::Progress;
use std::time::Duration;

/// The lines of all running experiments.
///
/// They are drawn on standard error, and only if that is a terminal.
#[derive(Clone, Debug, Default)]
pub struct ProgressLines {
    lines: MultiProgress,
}

impl ProgressLines {
    /// No lines yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows a line for `id` until the result is dropped.
    pub fn start(&self, id: &str) -> Progress {
        let style = ProgressStyle::with_template("{prefix:24} {bar:30} {pos}/{len} {elapsed}")
            .expect("the template is one of indicatif's own form");
        let line = self.lines.add(ProgressBar::new(1).with_style(style).with_prefix(id.to_owned()));
        line.enable_steady_tick(Duration::from_millis(200));
        let line = ProgressLine(line);
        Progress::new(move |done, parts| line.show(done, parts))
    }

    /// Runs `print` with the lines out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.lines.suspend(print)
    }
}

/// A line that disappears when its experiment is finished.
struct ProgressLine(ProgressBar);

impl ProgressLine {
    fn show(&self, done: usize, parts: usize) {
        self.0.set_length(parts as u64);
        self.0.set_position(done as u64);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
