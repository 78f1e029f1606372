//! The method and its options as settings: here options of a method become keys.

use serde_json::json;

use super::StepSize;
use super::table::{Setting, choice, flag};
use crate::integrate::{Family, Method, OptionEntry, Parameters, SCHEMES, damps_enough, possible_radii};
use crate::model::const_text::{ConstText, const_text};
use crate::model::{Dimension, Key, Need, ValueKind};

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
    key: Key::new("method", choice::<Method>(), Need::Default("\"index2\"")).doc(METHOD_DOC),
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
    key: Key::new("spectral-radius", ValueKind::Number(Dimension::NONE), Need::Default("0.9"))
        .doc("Damping of high frequencies: 1 none, 0 strongest; at most 0.98 with `step = \"auto\"`."),
    flag: flag("NUMBER", "Spectral radius in place of the model's: 1 damps nothing, 0 most"),
    read: |given, run| {
        let radius = given.number()?;
        let method = run.integrator.method;
        run.integrator.parameters =
            parameters(method, radius).map_err(|possible| given.unsuitable(possible, radius))?;
        let by_error = run.step == Some(StepSize::Auto) && method.family() != Family::Fixed;
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

/// Parameters of a method by its spectral radius, or the radii that are possible.
fn parameters(method: Method, spectral_radius: f64) -> Result<Parameters, &'static str> {
    match method.family() {
        Family::Hht => {
            Parameters::hht_by_radius(spectral_radius).map_err(|_| "between 0.5 and 1 with the HHT methods")
        }
        _ => Parameters::chung_hulbert(spectral_radius).map_err(|_| "between 0 and 1"),
    }
}
