//! The flags that take the place of `[simulation]`, one for each row of the library's table of settings that has one.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use kreisel::machine::{SETTINGS, SettingTexts};
use kreisel::model::ValueKind;
use serde::{Deserialize, Serialize};

/// What the flags say.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingFlags(pub SettingTexts);

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().filter_map(|setting| {
            let flag = setting.flag.as_ref()?;
            let argument = Arg::new(setting.key.name).long(setting.key.name).value_name(flag.value);
            let argument = argument.help(setting.help()?).group("Model");
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

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches).map(|()| flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS.iter().filter(|setting| setting.flag.is_some()) {
            if let Some(text) = matches.get_one::<String>(setting.key.name) {
                self.0.set(setting.key.name, text);
            }
        }
        Ok(())
    }
}
