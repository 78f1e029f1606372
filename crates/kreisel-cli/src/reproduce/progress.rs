//! One line of progress per running experiment on a terminal, nothing into a pipe.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::time::Duration;

/// How far one experiment is; experiments report to it while they compute.
#[derive(Clone, Debug)]
pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    /// Progress that nobody sees, for tests.
    pub fn hidden() -> Self {
        Self { line: ProgressBar::hidden() }
    }

    /// Announces into how many parts the work is divided.
    pub fn expect(&self, parts: usize) {
        self.line.set_length(parts as u64);
    }

    /// One part is done.
    pub fn advance(&self) {
        self.line.inc(1);
    }
}

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
    pub(super) fn start(&self, id: &str) -> ProgressLine {
        let style = ProgressStyle::with_template("{prefix:24} {bar:30} {pos}/{len} {elapsed}")
            .expect("the template is one of indicatif's own form");
        let line = self.lines.add(ProgressBar::new(1).with_style(style).with_prefix(id.to_owned()));
        line.enable_steady_tick(Duration::from_millis(200));
        ProgressLine { progress: Progress { line } }
    }

    /// Runs `print` with the lines out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.lines.suspend(print)
    }
}

/// A line that disappears when its experiment is finished.
pub(super) struct ProgressLine {
    pub(super) progress: Progress,
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.progress.line.finish_and_clear();
    }
}
