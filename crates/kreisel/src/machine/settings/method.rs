//! The method and its options as settings: here options of a method become keys.

use serde_json::{Value, json};

use super::RunSettings;
use super::table::{Setting, flag};
use super::words::Words;
use crate::integrate::{Family, Form, Method, Parameters, Parametrization, Scaling};
use crate::model::kind::key;
use crate::model::{Dimension, Need, ValueKind};

pub(super) const METHOD: Setting = Setting {
    key: key(
        "method",
        ValueKind::Choice(Method::WORDS),
        Need::Default("\"index2\""),
        "Formulation of the constraints: `index2` keeps positions and velocities, `index3` positions only and is cheaper, \
         `soi2` keeps both and suits forces that depend on reactions; `hht-i3` and `hht-soi2` are relatives; \
         `updated-lagrangian` is `index3` in local coordinates of each step, to compare with (group `so3xr3`); \
         `bdf2` is the two-step backward differentiation formula, which damps more.",
    ),
    flag: flag("METHOD", "Method in place of the model's"),
    read: |given, run| given.word().map(|method| run.integrator.method = method),
    show: |run, _| Some(json!(run.integrator.method.word())),
};

pub(super) const PARAMETRIZATION: Setting = Setting {
    key: key(
        "parametrization",
        ValueKind::Choice(Parametrization::WORDS),
        Need::Default("\"rotation-vector\""),
        "Local coordinates of rotations in `updated-lagrangian`: the rotation vector or the conformal rotation vector.",
    ),
    flag: flag("WORD", "Local coordinates of `updated-lagrangian` in place of the model's"),
    read: |given, run| given.word().map(|chosen| run.integrator.parametrization = chosen),
    show: |run, _| option(run, "parametrization", run.integrator.parametrization),
};

pub(super) const FORM: Setting = Setting {
    key: key(
        "form",
        ValueKind::Choice(Form::WORDS),
        Need::Default("\"two-field\""),
        "Unknowns of a step of `bdf2`: positions and multipliers, or velocities as well.",
    ),
    flag: flag("WORD", "Unknowns of `bdf2` in place of the model's"),
    read: |given, run| given.word().map(|form| run.integrator.form = form),
    show: |run, _| option(run, "form", run.integrator.form),
};

pub(super) const SCALING: Setting = Setting {
    key: key(
        "scaling",
        ValueKind::Choice(Scaling::WORDS),
        Need::Default("\"left-right-velocities\""),
        "Scaling of equations and unknowns of `bdf2`, to study: only the first (with two fields the first two) makes round-off \
         independent of the step.",
    ),
    flag: flag("WORD", "Scaling of `bdf2` in place of the model's"),
    read: |given, run| given.word().map(|scaling| run.integrator.scaling = scaling),
    show: |run, _| option(run, "scaling", run.integrator.scaling),
};

/// Comes after [`METHOD`], which decides on the possible radii.
pub(super) const SPECTRAL_RADIUS: Setting = Setting {
    key: key(
        "spectral-radius",
        ValueKind::Number(Dimension::NONE),
        Need::Default("0.9"),
        "Damping of high frequencies: 1 none, 0 strongest; `bdf2` always has 0.",
    ),
    flag: flag("NUMBER", "Spectral radius in place of the model's: 1 damps nothing, 0 most"),
    read: |given, run| {
        let radius = given.number()?;
        let parameters = parameters(run.integrator.method, radius);
        run.integrator.parameters = parameters.map_err(|possible| given.unsuitable(possible, radius))?;
        run.spectral_radius = radius;
        Ok(())
    },
    // What damps the highest frequencies: `bdf2` has no choice.
    show: |run, _| {
        let has_choice = run.integrator.method.family() != Family::Fixed;
        Some(json!(if has_choice { run.spectral_radius } else { 0.0 }))
    },
};

/// What is shown of an option, by methods that have it.
fn option(run: &RunSettings, key: &str, chosen: impl Words) -> Option<Value> {
    run.integrator.method.has_option(key).then(|| json!(chosen.word()))
}

/// Parameters of a method by its spectral radius, or the radii that are possible.
fn parameters(method: Method, spectral_radius: f64) -> Result<Parameters, &'static str> {
    match method.family() {
        Family::Hht => {
            Parameters::hht_by_radius(spectral_radius).map_err(|_| "between 0.5 and 1 with the HHT methods")
        }
        _ => Parameters::chung_hulbert(spectral_radius).map_err(|_| "between 0 and 1"),
    }
}
