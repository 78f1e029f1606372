//! Flags that subcommands share: each file holds a flag's name, help, effect and tests.

mod every;
mod json;
mod model;
mod plot;
mod results;
mod sensors;
mod settings;

pub use every::parse as parse_every;
pub use json::{Json, text as json_text};
pub use model::Model;
pub use plot::Plot;
pub use results::Results;
pub use sensors::{chosen as chosen_signals, own as own_signals};
pub use settings::SettingFlags;
