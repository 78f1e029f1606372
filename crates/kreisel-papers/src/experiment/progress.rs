//! How far an experiment is.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far one experiment is; experiments report to it while they compute.
pub struct Progress {
    parts: AtomicUsize,
    done: AtomicUsize,
    show: Box<dyn Fn(usize, usize) + Send + Sync>,
}

impl Progress {
    /// Progress in one part that is handed to `show`, after each change, as the parts that are done and all
    /// parts.
    pub fn new(show: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self { parts: AtomicUsize::new(1), done: AtomicUsize::new(0), show: Box::new(show) }
    }

    /// Progress that nobody sees.
    pub fn hidden() -> Self {
        Self::new(|_, _| {})
    }

    /// Announces into how many parts the work is divided.
    pub fn expect(&self, parts: usize) {
        self.parts.store(parts, Ordering::Relaxed);
        (self.show)(self.done.load(Ordering::Relaxed), parts);
    }

    /// One part is done.
    pub fn advance(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.show)(done, self.parts.load(Ordering::Relaxed));
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parts, done, show: _ } = self;
        formatter.debug_struct("Progress").field("parts", parts).field("done", done).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_change_is_shown() {
        let (sender, receiver) = mpsc::channel();
        let progress = Progress::new(move |done, parts| sender.send((done, parts)).unwrap());
        progress.expect(3);
        progress.advance();
        progress.advance();
        drop(progress);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [(0, 3), (1, 3), (2, 3)]);
    }
}
