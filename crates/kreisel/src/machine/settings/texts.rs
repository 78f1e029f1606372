//! Settings given from outside of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::table::AUTO;
use super::{KIND, SETTINGS};
use crate::model::{Document, Text};

/// Settings given from outside of the model, each by its key as a text in the language of the model file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingTexts {
    texts: BTreeMap<String, String>,
    allow_outside: bool,
}

impl SettingTexts {
    /// Puts a text, or a number in base units, in place of the model's value for a key.
    pub fn set(&mut self, key: impl Into<String>, value: impl ToString) {
        self.texts.insert(key.into(), value.to_string());
    }

    /// The same with a text, or a number in base units, in place of the model's value for a key.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.set(key, value);
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

    /// A document with what is given in place of its own settings.
    pub(crate) fn laid_over<'d>(&self, document: &'d Document) -> Cow<'d, Document> {
        let mut document = Cow::Borrowed(document);
        for (key, text) in &self.texts {
            let standalone = Text::standalone(format!("--{key}"), text);
            document.to_mut().overlay(&KIND, key, standalone, self.replaced_by(key, text));
        }
        document
    }

    /// What the model says that does not count beside a setting from outside: steps follow from one thing.
    fn replaced_by(&self, key: &str, text: &str) -> Vec<&'static str> {
        let rivals: &[&'static str] = match key {
            "accuracy" | "accuracy-of" => &["step", "rtol", "atol"],
            "rtol" | "atol" => &["accuracy", "accuracy-of"],
            "step" if text != AUTO => &["accuracy", "accuracy-of"],
            _ => &[],
        };
        rivals.iter().copied().filter(|rival| !self.texts.contains_key(*rival)).collect()
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
    use crate::machine::RunSettings;
    use crate::model::ModelError;
    use crate::part::{self, MachineReader};

    const BODY: &str = "[[body]]\nmass = 1\ninertia = [1, 1, 1]\n";

    /// The settings of a model, or what is wrong with them and the remedies.
    fn settings(model: &str, texts: &SettingTexts) -> Result<RunSettings, Vec<String>> {
        let machine = MachineReader::new().with_settings(texts).text("m.toml", model);
        let words = |error: &ModelError| format!("{} ({:?})", error.mistake(), error.hint());
        machine.map(|machine| machine.settings).map_err(|errors| errors.iter().map(words).collect())
    }

    #[test]
    fn a_flag_passes_the_checks_of_its_key_with_the_same_words() {
        for key in SETTINGS.iter().filter(|setting| setting.flag.is_some()).map(|setting| setting.key.name) {
            for text in ["0", "-1", "2", "1e-3", "1 m", "auto", "index3", "se2", "", "{", "2*"] {
                let by_key =
                    settings(&format!("[simulation]\n{key} = '{text}'\n{BODY}"), &SettingTexts::default());
                let texts = SettingTexts::default().with(key, text);
                assert_eq!(settings(BODY, &texts), by_key, "{key} = {text}");
                let other = format!("[simulation]\nend-time = 5\n{BODY}");
                assert_eq!(settings(&other, &texts).is_ok(), by_key.is_ok(), "{key} = {text}");
            }
        }
    }

    #[test]
    fn an_absolute_tolerance_of_zero_is_allowed_wherever_it_is_given() {
        let texts = SettingTexts::default().with("atol", "0");
        assert_eq!(settings(BODY, &texts).unwrap().atol, 0.0);
        assert_eq!(settings(&format!("[simulation]\natol = 1\n{BODY}"), &texts).unwrap().atol, 0.0);
    }

    #[test]
    fn an_accuracy_from_outside_takes_the_place_of_the_steps_of_a_model_and_they_of_it() {
        let read = |model: &str, key: &str, value: &str| {
            settings(&format!("[simulation]\n{model}\n{BODY}"), &SettingTexts::default().with(key, value))
        };
        for model in ["step = 0.1", "rtol = 1e-5", "step = 0.1\nrtol = 1e-5"] {
            assert_eq!(read(model, "accuracy", "1e-3").unwrap().accuracy(), Some(1e-3), "{model}");
            assert_eq!(read(model, "accuracy-of", "all").unwrap().accuracy(), Some(1e-3), "{model}");
            assert_eq!(read("accuracy-of = 'all'", "step", "0.1").unwrap().accuracy(), None);
        }
        for (key, value, accuracy) in
            [("step", "0.1", None), ("rtol", "1e-5", None), ("step", "auto", Some(1e-3))]
        {
            assert_eq!(read("accuracy = 1e-3", key, value).unwrap().accuracy(), accuracy, "{key} = {value}");
        }
        // Two things from outside contradict each other.
        let both = SettingTexts::default().with("accuracy", "1e-3").with("step", "0.1");
        let refusal = settings(BODY, &both).unwrap_err();
        assert!(refusal[0].contains("beside `step = 0.1`"), "{refusal:?}");
        let useless = settings(
            &format!("[simulation]\nrtol = 1e-4\naccuracy-of = 'all'\n{BODY}"),
            &SettingTexts::default(),
        );
        assert!(useless.unwrap_err()[0].contains("steps do not follow from `accuracy`"));
    }

    #[test]
    fn mistakes_are_shown_at_the_flag_and_all_at_once() {
        let texts = SettingTexts::default().with("step", "-1").with("rtol", "0").with("stp", "1");
        let document = Document::from_text("m.toml", BODY, &part::kinds(), &[]).unwrap();
        let mistakes =
            |texts: &SettingTexts| match MachineReader::new().with_settings(texts).document(&document) {
                Ok(_) => String::new(),
                Err(errors) => errors.to_string(),
            };
        let unknown = "--stp:1:1: `[simulation]` has no key `stp` (did you mean `step`?)";
        assert_eq!(mistakes(&texts), unknown);
        let texts = SettingTexts::default().with("step", "-1").with("rtol", "0");
        let both = "--step:1:1: `step` of `[simulation]` must be positive, not -1\n\
                    --rtol:1:1: `rtol` of `[simulation]` must be positive, not 0";
        assert_eq!(mistakes(&texts), both);
    }

    #[test]
    fn what_is_given_is_told_once_in_the_order_of_the_table() {
        let texts = SettingTexts::default().with("scaling", "left").with("form", "two-field");
        let texts = texts.with("method", "bdf2").with("end-time", "2*period").with("form", "three-field");
        let flags = ["--end-time=2*period", "--method=bdf2", "--form=three-field", "--scaling=left"];
        assert_eq!(texts.flags(), flags);
    }
}
