//! Panics, which are mistakes of ours, become words, and what is in use is not waited for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Does something; a panic gives the words of an error.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("a mistake in Kreisel, please report it: {}", text.as_deref().unwrap_or("unknown"))
    })
}

/// What a mutex guards, unless somebody has it.
///
/// Nobody waits: who has it may want the interpreter's lock, which the one who waits may have. A panic became an
/// exception; what it left is no worse than a step that failed.
pub fn at_rest<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
