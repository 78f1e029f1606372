//! Flags that subcommands share: each file holds a flag's name, help, effect and tests.

mod json;
mod plot;

pub use json::{Json, text as json_text};
pub use plot::Plot;
