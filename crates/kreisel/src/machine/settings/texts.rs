//! Settings given from outside of the model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SETTINGS;

/// Settings given from outside of the model, each by its key as a text in the language of the model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingTexts {
    texts: BTreeMap<String, String>,
    allow_outside: bool,
}

impl SettingTexts {
    /// Puts a text in place of the model's value for a key.
    pub fn set(&mut self, key: impl Into<String>, text: impl Into<String>) {
        self.texts.insert(key.into(), text.into());
    }

    /// The same with a text in place of the model's value for a key.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.set(key, text);
        self
    }

    /// The same, and whether the model may use files outside of its folder.
    #[must_use]
    pub fn allowing_outside(self, allow_outside: bool) -> Self {
        Self { allow_outside, ..self }
    }

    /// Whether the model may use files outside of its folder.
    pub fn allows_outside(&self) -> bool {
        self.allow_outside
    }

    /// The text for a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// What is given, as the flags of the command, in the order of the table: `--step=1 ms`.
    pub fn flags(&self) -> Vec<String> {
        let keys = SETTINGS.iter().map(|setting| setting.key.name);
        keys.filter_map(|key| Some(format!("--{key}={}", self.get(key)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_told_once_in_the_order_of_the_table() {
        let texts = SettingTexts::default().with("scaling", "left").with("form", "two-field");
        let texts = texts.with("method", "bdf2").with("end-time", "2*period").with("form", "three-field");
        let flags = ["--end-time=2*period", "--method=bdf2", "--form=three-field", "--scaling=left"];
        assert_eq!(texts.flags(), flags);
    }
}
