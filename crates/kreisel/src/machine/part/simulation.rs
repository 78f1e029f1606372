//! `[simulation]`: how the machine is run.

use std::sync::Arc;

use crate::machine::settings::{AUTO, KEYS, parameters, read};
use crate::machine::{Assembler, SettingTexts, StepSize, Words};
use crate::model::error::{Mistake, ModelError};
use crate::model::{
    Context, Dimension, Document, ModelErrors, Occurrence, Part, PartKind, PartReader, Place, Scope, Text,
    name,
};

/// Keys of `[simulation]`.
pub static KIND: PartKind = PartKind {
    name: "simulation",
    doc: "How the machine is run; flags of the command line override it.",
    occurrence: Occurrence::Once,
    keys: &KEYS,
};

/// Reads the settings.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    assembler.settings = read(&reader)?;
    let off = assembler.settings.off_at_start.clone();
    assembler.defer(move |assembler| {
        let mut errors = ModelErrors::new();
        for name in &off {
            errors.keep(assembler.switch(name, false));
        }
        errors.into_result()
    });
    reader.finish()
}

/// Where a model says how it is run, or its beginning.
pub fn place(document: &Document) -> Place {
    let part = document.parts_of(KIND.name).next().map(|part| part.entries().place().clone());
    part.or_else(|| document.sources().first().map(|source| Place::new(source, 0..0))).unwrap_or_default()
}

/// Replaces settings by those given from outside; expressions may use the parameters of the model.
pub fn replace(
    texts: &SettingTexts,
    document: &Document,
    assembler: &mut Assembler,
) -> Result<(), ModelErrors> {
    let scope = Scope {
        parameters: document.parameters().clone(),
        prefix: String::new(),
        placement: Default::default(),
    };
    let given = |key: &str| texts.get(key).map(str::to_owned);
    let flags = Flags { context: Context::new(Arc::new(scope), None) };
    let settings = &mut assembler.settings;
    let mut errors = ModelErrors::new();
    if let Some(end) = errors.keep(flags.number("end-time", &given("end-time"), Dimension::TIME)).flatten() {
        settings.end_time = Some(end);
        if end <= settings.start_time {
            let requirement = format!("after the start at {} s", settings.start_time);
            errors.push(flags.unsuitable(
                "end-time",
                &given("end-time"),
                &requirement,
                "choose a later time",
            ));
        }
    }
    if texts.get("step") == Some(AUTO) {
        settings.step = Some(StepSize::Auto);
    } else {
        let mut step = None;
        errors.keep(flags.positive("step", &given("step"), Dimension::TIME, &mut step));
        settings.step = step.map(StepSize::Fixed).or(settings.step);
    }
    for (name, text, target) in [
        ("output-step", &given("output-step"), &mut settings.output_step),
        ("min-step", &given("min-step"), &mut settings.min_step),
        ("max-step", &given("max-step"), &mut settings.max_step),
        ("initial-step", &given("initial-step"), &mut settings.initial_step),
    ] {
        errors.keep(flags.positive(name, text, Dimension::TIME, target));
    }
    for (name, text, target) in
        [("rtol", &given("rtol"), &mut settings.rtol), ("atol", &given("atol"), &mut settings.atol)]
    {
        let mut value = None;
        errors.keep(flags.positive(name, text, Dimension::NONE, &mut value));
        *target = value.unwrap_or(*target);
    }
    if let Some(word) = errors.keep(flags.choice("method", &given("method"))).flatten() {
        settings.integrator.method = word;
    }
    let word = flags.choice("parametrization", &given("parametrization"));
    if let Some(word) = errors.keep(word).flatten() {
        settings.integrator.parametrization = word;
    }
    if let Some(word) = errors.keep(flags.choice("form", &given("form"))).flatten() {
        settings.integrator.form = word;
    }
    if let Some(word) = errors.keep(flags.choice("scaling", &given("scaling"))).flatten() {
        settings.integrator.scaling = word;
    }
    if let Some(word) = errors.keep(flags.choice("group", &given("group"))).flatten() {
        settings.group = word;
    }
    let radius = flags.number("spectral-radius", &given("spectral-radius"), Dimension::NONE);
    if let Some(radius) = errors.keep(radius).flatten() {
        settings.spectral_radius = radius;
    }
    match parameters(settings.integrator.method, settings.spectral_radius) {
        Ok(parameters) => settings.integrator.parameters = parameters,
        // What the model file says was checked there; a flag makes the difference.
        Err(possible) if given("spectral-radius").is_some() => errors.push(flags.unsuitable(
            "spectral-radius",
            &given("spectral-radius"),
            possible,
            "1 damps nothing, 0 most",
        )),
        Err(possible) => {
            let requirement =
                format!("a method that can have the spectral radius {}", settings.spectral_radius);
            let hint = format!("it must lie {possible}: give --spectral-radius too");
            errors.push(flags.unsuitable("method", &given("method"), &requirement, &hint));
        }
    }
    errors.into_result()
}

/// Reads flags of the command line in the language of the model file.
struct Flags {
    context: Context,
}

impl Flags {
    fn number(
        &self,
        name: &str,
        text: &Option<String>,
        dimension: Dimension,
    ) -> Result<Option<f64>, ModelError> {
        let Some(text) = text else { return Ok(None) };
        self.context.number(&flag(name, text), dimension).map(Some)
    }

    /// Reads a number that must be positive into its place.
    fn positive(
        &self,
        name: &str,
        text: &Option<String>,
        dimension: Dimension,
        target: &mut Option<f64>,
    ) -> Result<(), ModelError> {
        match self.number(name, text, dimension)? {
            None => Ok(()),
            Some(value) if value > 0.0 => {
                *target = Some(value);
                Ok(())
            }
            Some(_) if dimension == Dimension::TIME => {
                Err(self.unsuitable(name, text, "a positive time", "for instance \"1 ms\""))
            }
            Some(_) => Err(self.unsuitable(name, text, "positive", "for instance 1e-4")),
        }
    }

    fn choice<T: Words>(&self, name: &str, text: &Option<String>) -> Result<Option<T>, ModelError> {
        let Some(text) = text else { return Ok(None) };
        match T::from_word(text) {
            Some(value) => Ok(Some(value)),
            None => {
                let words = T::WORDS;
                let requirement = format!("one of {}", name::list(words));
                let shown: String = text.chars().take(60).collect();
                let mistake = Mistake::Unsuitable {
                    what: format!("`--{name}`"),
                    requirement,
                    found: format!("`{shown}`"),
                };
                Err(ModelError::new(mistake, flag(name, text).place().clone())
                    .with_nearest(text, words.iter().copied()))
            }
        }
    }

    fn unsuitable(&self, name: &str, text: &Option<String>, requirement: &str, hint: &str) -> ModelError {
        let text = flag(name, text.as_deref().unwrap_or_default());
        let mistake = Mistake::Unsuitable {
            what: format!("`--{name}`"),
            requirement: requirement.to_string(),
            found: format!("`{}`", text.content()),
        };
        ModelError::new(mistake, text.place().clone()).with_hint(hint)
    }
}

/// The text of a flag, with its place on the command line.
fn flag(name: &str, text: &str) -> Text {
    Text::standalone(format!("--{name}"), text)
}
