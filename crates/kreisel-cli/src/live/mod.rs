//! A page that follows a computation: a server for this computer alone, and what it shows.
//!
//! The address holds a token that nobody can guess, requests from pages of other hosts are refused, and
//! nothing but reading is allowed. A browser waits at `state` until there is something new (one request at a
//! time), and then fetches the page of that number.

mod redirect;
mod server;

pub use redirect::Redirect;
pub use server::Server;

use serde::Serialize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How things stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// A run is under way.
    #[default]
    Running,
    /// The last run has ended.
    Done,
    /// There is no run: the model has a mistake, or the run failed.
    Wrong,
}

/// What a browser is told.
#[derive(Clone, Debug, Default, Serialize)]
pub struct State {
    /// Grows with every change.
    version: u64,
    /// Number of the page that is to be seen; 0 before there is one.
    page: u64,
    standing: Standing,
    /// The model's name.
    title: String,
    /// In a line.
    words: String,
    /// How much of the run is done, from 0 to 1.
    part: f64,
    /// What is wrong, as the terminal has it.
    message: String,
}

/// What is shown now; whoever holds it changes it, and browsers wait for that.
#[derive(Default)]
pub struct Shown {
    inner: Mutex<(State, Arc<str>)>,
    changed: Condvar,
}

impl Shown {
    /// What a model of this name shows.
    pub fn new(title: &str) -> Self {
        let shown = Self::default();
        title.clone_into(&mut shown.lock().0.title);
        shown
    }

    fn lock(&self) -> MutexGuard<'_, (State, Arc<str>)> {
        // Whatever was written last is worth showing.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells how things stand.
    pub fn tell(&self, standing: Standing, words: &str, part: f64, message: &str) {
        let mut inner = self.lock();
        let State { version, page, title, .. } = &inner.0;
        let (version, page, title) = (version + 1, *page, title.clone());
        let (words, message) = (words.to_owned(), message.to_owned());
        inner.0 = State { version, page, standing, title, words, part, message };
        drop(inner);
        self.changed.notify_all();
    }

    /// Shows another page.
    pub fn show(&self, page: String) {
        let mut inner = self.lock();
        inner.0.version += 1;
        inner.0.page += 1;
        inner.1 = page.into();
        drop(inner);
        self.changed.notify_all();
    }

    /// The state once it is newer than `after`, or after a while as it is.
    fn newer(&self, after: u64, patience: Duration) -> State {
        let inner = self.lock();
        let waited = self.changed.wait_timeout_while(inner, patience, |(state, _)| state.version <= after);
        waited.unwrap_or_else(PoisonError::into_inner).0.0.clone()
    }

    /// The page that is to be seen now.
    fn page(&self) -> Arc<str> {
        Arc::clone(&self.lock().1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_told_of_the_next_change_and_of_none_after_a_while() {
        let shown = Shown::new("swing");
        shown.tell(Standing::Running, "begun", 0.0, "");
        let state = shown.newer(0, Duration::from_secs(60));
        assert_eq!((state.version, state.page, state.words.as_str()), (1, 0, "begun"));
        assert_eq!(shown.newer(1, Duration::from_millis(10)).version, 1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| shown.newer(1, Duration::from_secs(60)));
            shown.show("<p>".to_owned());
            assert_eq!(waiting.join().unwrap().page, 1);
        });
        assert_eq!(&*shown.page(), "<p>");
    }
}
