//! The method and its options as settings: here options of a method become keys.

use serde_json::json;

use super::RunSettings;
use super::table::{Given, Setting, choice, flag};
use crate::integrate::{
    Family, Method, OptionEntry, ParameterError, Parameters, SCHEMES, damps_enough, possible_radii,
};
use crate::model::const_text::{ConstText, const_text};
use crate::model::{Dimension, Key, ModelErrors, Need, ValueKind};

/// What each method does: "Formulation of the constraints: `index2` keeps …; `index3` …."
const METHOD_DOC: &str = const_text!(write_doc);

const fn write_doc<const ROOM: usize>() -> ConstText<ROOM> {
    let mut doc = ConstText::new("Formulation of the constraints: ");
    let mut place = 0;
    while place < SCHEMES.len() {
        let method = SCHEMES[place];
        place += 1;
        let end = if place < SCHEMES.len() { "; " } else { "." };
        doc = doc.add_word(method.word()).add(" ").add(method.doc()).add(end);
    }
    doc
}

pub(super) const METHOD: Setting = Setting {
    key: Key::new("method", choice::<Method>(), Need::Default("\"auto\"")).doc(METHOD_DOC),
    flag: flag("METHOD", "Method in place of the model's"),
    read: |given, run| given.word().map(|method| run.integrator.method = method),
    show: |run, _| Some(json!(run.integrator.method.word())),
};

/// Comes after [`METHOD`], whose entries list the options.
pub(super) const fn option(entry: &'static OptionEntry) -> Setting {
    Setting {
        key: Key::new(entry.key, ValueKind::Choice(entry.words), Need::Default(entry.default)).doc(entry.doc),
        flag: flag("WORD", entry.help),
        read: |given, run| given.option(&mut run.integrator),
        show: |_, _| None,
    }
}

/// Comes after [`METHOD`], which decides on the possible radii.
pub(super) const SPECTRAL_RADIUS: Setting = Setting {
    key: Key::new("spectral-radius", ValueKind::Number(Dimension::NONE), Need::Default("0.9")).doc(
        "Damping of high frequencies: 1 none, 0 strongest; at most 0.98 where the error decides on steps.",
    ),
    flag: flag("NUMBER", "Spectral radius in place of the model's: 1 damps nothing, 0 most"),
    read: |given, run| {
        let radius = given.number()?;
        let method = run.integrator.method;
        run.integrator.parameters =
            parameters(method, radius).map_err(|possible| given.unsuitable(possible, radius))?;
        let by_error = run.is_by_error() && method.family() != Family::Fixed;
        if by_error && !damps_enough(radius) {
            return Err(given.unsuitable(&possible_radii(), radius));
        }
        run.spectral_radius = radius;
        Ok(())
    },
    // What damps the highest frequencies: `bdf2` has no choice.
    show: |run, _| {
        let has_choice = run.integrator.method.family() != Family::Fixed;
        Some(json!(if has_choice { run.spectral_radius } else { 0.0 }))
    },
};

/// Comes after [`SPECTRAL_RADIUS`], in whose place it stands.
pub(super) const HHT_ALPHA: Setting = Setting {
    key: Key::new("hht-alpha", ValueKind::Number(Dimension::NONE), Need::Optional).doc(
        "α of the method of Hilber, Hughes and Taylor, 0 to 1/3, in place of `spectral-radius`, which then is (1 − α)/(1 + α).",
    ),
    flag: flag("NUMBER", "α of the HHT method in place of the model's parameters"),
    read: |given, run| match given.optional_number()? {
        Some(alpha) => take(given, run, Parameters::hht(alpha)),
        None => Ok(()),
    },
    show: |_, _| None,
};

/// Comes after [`SPECTRAL_RADIUS`] and [`HHT_ALPHA`], in whose place it stands.
pub(super) const ALPHA_PARAMETERS: Setting = Setting {
    key: Key::new("alpha-parameters", ValueKind::Numbers(Dimension::NONE, &[4]), Need::Optional).doc(
        "α_m, α_f, β and γ of the generalized-α methods, in place of those that `spectral-radius` gives.",
    ),
    flag: flag("NUMBERS", "`[α_m, α_f, β, γ]` in place of the model's parameters"),
    read: |given, run| {
        let Some(numbers) = given.optional_numbers()? else { return Ok(()) };
        let [alpha_m, alpha_f, beta, gamma] = numbers[..] else { return Ok(()) };
        take(given, run, Parameters::new(alpha_m, alpha_f, beta, gamma))
    },
    show: |run, _| {
        let parameters = &run.integrator.parameters;
        let (m, f) = (parameters.alpha_m(), parameters.alpha_f());
        let has_choice = run.integrator.method.family() != Family::Fixed;
        has_choice.then(|| json!([m, f, parameters.beta(), parameters.gamma()]))
    },
};

/// Takes parameters that stand in place of those by the spectral radius.
fn take(
    given: &Given,
    run: &mut RunSettings,
    parameters: Result<Parameters, ParameterError>,
) -> Result<(), ModelErrors> {
    given.alone([SPECTRAL_RADIUS.key.name, HHT_ALPHA.key.name, ALPHA_PARAMETERS.key.name])?;
    let method = run.integrator.method;
    if method.family() == Family::Fixed {
        let requirement = format!("left out with `{}`, which has no parameters", method.word());
        return Err(given.unsuitable(&requirement, "given"));
    }
    let parameters = parameters.map_err(|error| match error {
        ParameterError::Hht(alpha) => given.unsuitable("between 0 and 1/3", alpha),
        ParameterError::Order { gamma, required } => {
            let requirement = format!("of second order, with γ = 1/2 - (α_m - α_f) = {required}");
            given.unsuitable(&requirement, format!("γ = {gamma}"))
        }
        _ => given.unsuitable("such that α_m < 1, α_f < 1 and β > 0", "others"),
    })?;
    if method.family() == Family::Hht && parameters.alpha_m() != 0.0 {
        let requirement = format!("with α_m = 0 for `{}`", method.word());
        return Err(given.unsuitable(&requirement, parameters.alpha_m()));
    }
    let radius = parameters.spectral_radius();
    if run.is_by_error() && !damps_enough(radius) {
        let requirement = format!("such that the spectral radius is {}", possible_radii());
        return Err(given.unsuitable(&requirement, radius));
    }
    (run.integrator.parameters, run.spectral_radius) = (parameters, radius);
    Ok(())
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
