//! `[simulation]`: how the machine is run.

use std::sync::Arc;

use crate::integrate::{Form, Method, Parameters, Parametrization, Scaling};
use crate::lie::Group;
use crate::machine::{Assembler, RunSettings, SettingTexts, StartFrom, StepSize};
use crate::model::error::{Mistake, ModelError};
use crate::model::kind::key;
use crate::model::reader::NumberOrWord;
use crate::model::{
    Context, Dimension, Document, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Place, Scope,
    Text, ValueKind, name,
};

/// Words for the methods.
pub const METHODS: &[&str] =
    &["index2", "index3", "soi2", "hht-i3", "hht-soi2", "updated-lagrangian", "bdf2"];
/// Words for the local coordinates of `updated-lagrangian`.
pub const PARAMETRIZATIONS: &[&str] = &["rotation-vector", "crv"];
/// Words for the unknowns of `bdf2`.
pub const FORMS: &[&str] = &["two-field", "three-field"];
/// Words for the scalings of `bdf2`.
pub const SCALINGS: &[&str] = &["left-right-velocities", "left-right", "left", "unscaled"];
/// Word for a step size that the error decides on.
const AUTO: &str = "auto";
/// Words for the groups.
pub const GROUPS: &[&str] = &["se3", "so3xr3"];
/// Words for where a run starts.
pub const STARTS: &[&str] = &["given", "static"];

/// Keys of `[simulation]`.
pub static KIND: PartKind = PartKind {
    name: "simulation",
    doc: "How the machine is run; flags of the command line override it.",
    occurrence: Occurrence::Once,
    keys: &[
        key(
            "start-time",
            ValueKind::Number(Dimension::TIME),
            Need::Default("0"),
            "Time at which the run starts.",
        ),
        key("end-time", ValueKind::Number(Dimension::TIME), Need::Optional, "Time at which the run ends."),
        key(
            "step",
            ValueKind::NumberOr(Dimension::TIME, &[AUTO]),
            Need::Optional,
            "Step size, or `auto` to let the local error decide on it; a thousandth of the run if not given.",
        ),
        key(
            "rtol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-4"),
            "With `step = \"auto\"`: error to which steps may add up in the run, relative to the machine's length (or the distance from the origin, if larger) and to 1 rad.",
        ),
        key(
            "atol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-8"),
            "With `step = \"auto\"`: error that is always allowed, in lengths of the machine and rad.",
        ),
        key(
            "min-step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "With `step = \"auto\"`: smallest step; 1e-10 of the run if not given.",
        ),
        key(
            "max-step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "With `step = \"auto\"`: largest step; a tenth of the run if not given.",
        ),
        key(
            "initial-step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "With `step = \"auto\"`: first step; chosen from the forces at the start if not given.",
        ),
        key(
            "output-step",
            ValueKind::Number(Dimension::TIME),
            Need::Optional,
            "Distance of output times; every step if not given.",
        ),
        key(
            "method",
            ValueKind::Choice(METHODS),
            Need::Default("\"index2\""),
            "Formulation of the constraints: `index2` keeps positions and velocities, `index3` positions only and is cheaper, \
             `soi2` keeps both and suits forces that depend on reactions; `hht-i3` and `hht-soi2` are relatives; \
             `updated-lagrangian` is `index3` in local coordinates of each step, to compare with (group `so3xr3`); \
             `bdf2` is the two-step backward differentiation formula, which damps more.",
        ),
        key(
            "parametrization",
            ValueKind::Choice(PARAMETRIZATIONS),
            Need::Default("\"rotation-vector\""),
            "Local coordinates of rotations in `updated-lagrangian`: the rotation vector or the conformal rotation vector.",
        ),
        key(
            "form",
            ValueKind::Choice(FORMS),
            Need::Default("\"two-field\""),
            "Unknowns of a step of `bdf2`: positions and multipliers, or velocities as well.",
        ),
        key(
            "scaling",
            ValueKind::Choice(SCALINGS),
            Need::Default("\"left-right-velocities\""),
            "Scaling of equations and unknowns of `bdf2`, to study: only the first (with two fields the first two) makes round-off \
             independent of the step.",
        ),
        key(
            "spectral-radius",
            ValueKind::Number(Dimension::NONE),
            Need::Default("0.9"),
            "Damping of high frequencies: 1 none, 0 strongest; `bdf2` always has 0.",
        ),
        key(
            "newton-rtol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-10"),
            "Relative tolerance of Newton's iteration.",
        ),
        key(
            "newton-atol",
            ValueKind::Number(Dimension::NONE),
            Need::Default("1e-12"),
            "Absolute tolerance of Newton's iteration, in units of the machine's length.",
        ),
        key(
            "mass-scale",
            ValueKind::Number(Dimension::MASS),
            Need::Optional,
            "m of the scaling k + m/h² of forces in Newton's iteration; the mean mass of the bodies if left out; 0 for a scaling by k alone.",
        ),
        key(
            "stiffness-scale",
            ValueKind::Number(Dimension::STIFFNESS),
            Need::Optional,
            "k of the scaling k + m/h² of forces in Newton's iteration; the mean stiffness at the start if left out.",
        ),
        key(
            "group",
            ValueKind::Choice(GROUPS),
            Need::Default("\"se3\""),
            "Lie group of bodies that do not name their own.",
        ),
        key(
            "off-at-start",
            ValueKind::References(&[]),
            Need::Optional,
            "Forces, springs, joints, drives and locks that are switched off when the run starts; events switch them on.",
        ),
        key(
            "default-sensors",
            ValueKind::Boolean,
            Need::Default("true"),
            "Whether positions, joint coordinates, reactions, energies and residuals are recorded beside the sensors of the model.",
        ),
        key(
            "start",
            ValueKind::Choice(STARTS),
            Need::Default("\"given\""),
            "Where the run starts: at the positions of the model, or (`static`) at the equilibrium under the loads at `start-time`.",
        ),
    ],
};

/// Group that a word names.
pub fn group(word: &str) -> Group {
    if word == "so3xr3" { Group::So3xR3 } else { Group::Se3 }
}

/// Method that a word names.
fn method(word: &str) -> Method {
    match word {
        "index3" => Method::Index3,
        "soi2" => Method::Soi2,
        "hht-i3" => Method::HhtI3,
        "hht-soi2" => Method::HhtSoi2,
        "updated-lagrangian" => Method::UpdatedLagrangian,
        "bdf2" => Method::Bdf2,
        _ => Method::Index2,
    }
}

/// Local coordinates that a word names.
fn parametrization(word: &str) -> Parametrization {
    if word == "crv" { Parametrization::Crv } else { Parametrization::RotationVector }
}

/// Unknowns that a word names.
fn form(word: &str) -> Form {
    if word == "three-field" { Form::ThreeField } else { Form::TwoField }
}

/// Scaling that a word names.
fn scaling(word: &str) -> Scaling {
    match word {
        "unscaled" => Scaling::Unscaled,
        "left" => Scaling::Left,
        "left-right" => Scaling::LeftRight,
        _ => Scaling::LeftRightVelocities,
    }
}

/// Parameters of a method by its spectral radius, or the radii that are possible.
fn parameters(method: Method, spectral_radius: f64) -> Result<Parameters, &'static str> {
    match method {
        Method::HhtI3 | Method::HhtSoi2 => {
            Parameters::hht_by_radius(spectral_radius).map_err(|_| "between 0.5 and 1 with the HHT methods")
        }
        _ => Parameters::chung_hulbert(spectral_radius).map_err(|_| "between 0 and 1"),
    }
}

/// Reads the settings.
pub fn add(part: &Part, assembler: &mut Assembler) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let start_time = reader.number("start-time")?;
    let end_time = reader.optional_number("end-time")?;
    if let Some(end) = end_time
        && end <= start_time
    {
        let error = reader.unsuitable("end-time", &format!("after the start at {start_time} s"), end);
        return Err(error.with_hint("choose a later `end-time`").into());
    }
    let positive = |key: &str| -> Result<Option<f64>, ModelErrors> {
        match reader.optional_number(key)? {
            Some(value) if value <= 0.0 => Err(reader.unsuitable(key, "positive", value).into()),
            value => Ok(value),
        }
    };
    let spectral_radius = reader.number("spectral-radius")?;
    let method = method(reader.choice("method")?);
    let parameters = parameters(method, spectral_radius)
        .map_err(|possible| reader.unsuitable("spectral-radius", possible, spectral_radius))?;
    assembler.settings = Some(RunSettings {
        start_time,
        end_time,
        step: step(&reader)?,
        rtol: reader.positive("rtol")?,
        atol: reader.not_negative("atol")?,
        min_step: positive("min-step")?,
        max_step: positive("max-step")?,
        initial_step: positive("initial-step")?,
        output_step: positive("output-step")?,
        method,
        parametrization: parametrization(reader.choice("parametrization")?),
        form: form(reader.choice("form")?),
        scaling: scaling(reader.choice("scaling")?),
        parameters,
        spectral_radius,
        newton_rtol: reader.positive("newton-rtol")?,
        newton_atol: reader.positive("newton-atol")?,
        mass_scale: not_negative(&reader, "mass-scale")?,
        stiffness_scale: not_negative(&reader, "stiffness-scale")?,
        group: group(reader.choice("group")?),
        default_sensors: reader.boolean("default-sensors")?,
        start: if reader.choice("start")? == "static" { StartFrom::Static } else { StartFrom::Given },
    });
    check_limits(&reader)?;
    check_scales(&reader)?;
    if let Some(names) = reader.optional_references("off-at-start")? {
        assembler.defer(move |assembler| {
            let mut errors = ModelErrors::new();
            for name in &names {
                errors.keep(assembler.switch(name, false));
            }
            errors.into_result()
        });
    }
    reader.finish()
}

/// Without m and k there is nothing to divide forces by.
fn check_scales(reader: &PartReader) -> Result<(), ModelErrors> {
    let zero = |key: &str| reader.optional_number(key).map(|value| value == Some(0.0));
    if zero("mass-scale")? && zero("stiffness-scale")? {
        let error = reader.unsuitable("mass-scale", "positive where `stiffness-scale` is zero", 0.0);
        return Err(error.with_hint("leave out one of them").into());
    }
    Ok(())
}

fn not_negative(reader: &PartReader, key: &str) -> Result<Option<f64>, ModelErrors> {
    match reader.optional_number(key)? {
        Some(value) if value < 0.0 => Err(reader.unsuitable(key, "not negative", value).into()),
        value => Ok(value),
    }
}

fn step(reader: &PartReader) -> Result<Option<StepSize>, ModelErrors> {
    match reader.optional_number_or_word("step")? {
        Some(NumberOrWord::Number(step)) if step <= 0.0 => {
            Err(reader.unsuitable("step", "positive", step).into())
        }
        Some(NumberOrWord::Number(step)) => Ok(Some(StepSize::Fixed(step))),
        Some(NumberOrWord::Word(_)) => Ok(Some(StepSize::Auto)),
        None => Ok(None),
    }
}

fn check_limits(reader: &PartReader) -> Result<(), ModelErrors> {
    match (reader.optional_number("min-step")?, reader.optional_number("max-step")?) {
        (Some(min), Some(max)) if min > max => {
            let requirement = format!("at least `min-step`, which is {min} s");
            Err(reader.unsuitable("max-step", &requirement, format!("{max} s")).into())
        }
        _ => Ok(()),
    }
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
    let flags = Flags { context: Context::new(Arc::new(scope), None) };
    let settings = assembler.settings.get_or_insert_default();
    let mut errors = ModelErrors::new();
    if let Some(end) = errors.keep(flags.number("end-time", &texts.end_time, Dimension::TIME)).flatten() {
        settings.end_time = Some(end);
        if end <= settings.start_time {
            let requirement = format!("after the start at {} s", settings.start_time);
            errors.push(flags.unsuitable("end-time", &texts.end_time, &requirement, "choose a later time"));
        }
    }
    if texts.step.as_deref() == Some(AUTO) {
        settings.step = Some(StepSize::Auto);
    } else {
        let mut step = None;
        errors.keep(flags.positive("step", &texts.step, Dimension::TIME, &mut step));
        settings.step = step.map(StepSize::Fixed).or(settings.step);
    }
    for (name, text, target) in [
        ("output-step", &texts.output_step, &mut settings.output_step),
        ("min-step", &texts.min_step, &mut settings.min_step),
        ("max-step", &texts.max_step, &mut settings.max_step),
        ("initial-step", &texts.initial_step, &mut settings.initial_step),
    ] {
        errors.keep(flags.positive(name, text, Dimension::TIME, target));
    }
    for (name, text, target) in
        [("rtol", &texts.rtol, &mut settings.rtol), ("atol", &texts.atol, &mut settings.atol)]
    {
        let mut value = None;
        errors.keep(flags.positive(name, text, Dimension::NONE, &mut value));
        *target = value.unwrap_or(*target);
    }
    if let Some(word) = errors.keep(flags.choice("method", &texts.method, METHODS)).flatten() {
        settings.method = method(word);
    }
    let word = flags.choice("parametrization", &texts.parametrization, PARAMETRIZATIONS);
    if let Some(word) = errors.keep(word).flatten() {
        settings.parametrization = parametrization(word);
    }
    if let Some(word) = errors.keep(flags.choice("form", &texts.form, FORMS)).flatten() {
        settings.form = form(word);
    }
    if let Some(word) = errors.keep(flags.choice("scaling", &texts.scaling, SCALINGS)).flatten() {
        settings.scaling = scaling(word);
    }
    if let Some(word) = errors.keep(flags.choice("group", &texts.group, GROUPS)).flatten() {
        settings.group = group(word);
    }
    let radius = flags.number("spectral-radius", &texts.spectral_radius, Dimension::NONE);
    if let Some(radius) = errors.keep(radius).flatten() {
        settings.spectral_radius = radius;
    }
    match parameters(settings.method, settings.spectral_radius) {
        Ok(parameters) => settings.parameters = parameters,
        // What the model file says was checked there; a flag makes the difference.
        Err(possible) if texts.spectral_radius.is_some() => errors.push(flags.unsuitable(
            "spectral-radius",
            &texts.spectral_radius,
            possible,
            "1 damps nothing, 0 most",
        )),
        Err(possible) => {
            let requirement =
                format!("a method that can have the spectral radius {}", settings.spectral_radius);
            let hint = format!("it must lie {possible}: give --spectral-radius too");
            errors.push(flags.unsuitable("method", &texts.method, &requirement, &hint));
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

    fn choice(
        &self,
        name: &str,
        text: &Option<String>,
        words: &'static [&'static str],
    ) -> Result<Option<&'static str>, ModelError> {
        let Some(text) = text else { return Ok(None) };
        match words.iter().find(|word| *word == text) {
            Some(word) => Ok(Some(word)),
            None => {
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
