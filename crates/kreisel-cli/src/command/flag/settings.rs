//! The flags that take the place of `[simulation]`, one for each row of the library's table of settings that
//! has one.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use kreisel::machine::{SETTINGS, Setting, SettingTexts};
use kreisel::model::ValueKind;
use serde::{Deserialize, Serialize};

/// What the flags say; without `IN_TIME` only those that matter where nothing moves.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingFlags<const IN_TIME: bool = true>(pub SettingTexts);

/// Settings that equilibria and modes know.
const TIMELESS: [&str; 1] = ["group"];

/// The part of the help in which the flag of a setting stands.
fn heading(setting: &str) -> &'static str {
    match setting {
        "end-time" | "step" | "accuracy" | "accuracy-of" | "rtol" | "atol" | "error-estimate" => "Time",
        "min-step" | "max-step" | "initial-step" => "Time",
        "output-step" => "Results",
        "group" => "Model",
        _ => "Method",
    }
}

/// Settings that have a flag.
fn flagged<const IN_TIME: bool>() -> impl Iterator<Item = &'static Setting> {
    let settings = SETTINGS.iter().filter(|setting| setting.flag.is_some());
    settings.filter(|setting| IN_TIME || TIMELESS.contains(&setting.key.name))
}

impl<const IN_TIME: bool> Args for SettingFlags<IN_TIME> {
    fn augment_args(command: Command) -> Command {
        command.args(flagged::<IN_TIME>().filter_map(|setting| {
            let flag = setting.flag.as_ref()?;
            let argument = Arg::new(setting.key.name).long(setting.key.name).value_name(flag.value);
            let argument =
                argument.help(setting.help()?).group("Model").help_heading(heading(setting.key.name));
            Some(match setting.key.value {
                ValueKind::Choice(_) => argument,
                // A flag alone means yes; the model's yes is taken back by `=false`.
                ValueKind::Boolean => {
                    argument.num_args(0..=1).require_equals(true).default_missing_value("true")
                }
                _ => argument.allow_hyphen_values(true),
            })
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const IN_TIME: bool> FromArgMatches for SettingFlags<IN_TIME> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches).map(|()| flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in flagged::<IN_TIME>() {
            if let Some(text) = matches.get_one::<String>(setting.key.name) {
                self.0.set(setting.key.name, text);
            }
        }
        Ok(())
    }
}
