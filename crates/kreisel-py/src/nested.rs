//! How deep runs stand within runs: functions and observers of one may start another, until the stack is full.

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use std::cell::Cell;

/// Calls within calls that the stack of a thread has room for, also where it is small.
const MAX_NESTED: usize = 16;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Counts a call from a machine into Python for as long as it lasts.
pub struct Nested;

impl Nested {
    /// Refuses a call that stands within too many others.
    pub fn enter() -> PyResult<Self> {
        let depth = depth();
        if depth >= MAX_NESTED {
            let words = format!(
                "a machine was run within {MAX_NESTED} others, by their observers or functions; one that calls \
                 itself without end needs a condition"
            );
            return Err(PyRecursionError::new_err(words));
        }
        DEPTH.set(depth + 1);
        Ok(Self)
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// How many calls this thread is in.
pub fn depth() -> usize {
    DEPTH.get()
}

/// Lets this thread count as one that was started within so many calls.
pub fn inherit(depth: usize) {
    DEPTH.set(self::depth().max(depth));
}

/// Does work that spreads over threads: over those that all share, or within a call on one of its own, which counts
/// on. Those that all share may be waiting for it, each in a call.
pub fn spread<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> T {
    let own =
        || rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(move |_| inherit(depth)).build().ok();
    match (depth > 0).then(own).flatten() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
