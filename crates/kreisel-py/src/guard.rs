//! Panics, which are mistakes of ours, become words.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does something; a panic gives the words of an error.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("a mistake in Kreisel, please report it: {}", text.as_deref().unwrap_or("unknown"))
    })
}
