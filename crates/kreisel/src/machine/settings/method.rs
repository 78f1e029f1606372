//! The method and its options as settings: here options of a method become keys.

use serde_json::json;

use super::StepSize;
use super::table::{Setting, choice, flag};
use crate::integrate::{Family, Method, OptionEntry, POSSIBLE_RADII, Parameters, SCHEMES, damps_enough};
use crate::model::kind::key;
use crate::model::{Dimension, Need, ValueKind};

/// What each method does: "Formulation of the constraints: `index2` keeps …; `index3` …."
const METHOD_DOC: &str = {
    const LENGTH: usize = write_doc::<0>().1;
    const TEXT: [u8; LENGTH] = write_doc::<LENGTH>().0;
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => panic!("texts in a row are a text"),
    }
};

/// The bytes of [`METHOD_DOC`] as far as there is room, and how many there are.
const fn write_doc<const ROOM: usize>() -> ([u8; ROOM], usize) {
    const fn add<const ROOM: usize>(
        (mut text, mut length): ([u8; ROOM], usize),
        piece: &str,
    ) -> ([u8; ROOM], usize) {
        let mut at = 0;
        while at < piece.len() {
            if length < ROOM {
                text[length] = piece.as_bytes()[at];
            }
            (at, length) = (at + 1, length + 1);
        }
        (text, length)
    }
    let mut doc = add(([0; ROOM], 0), "Formulation of the constraints: ");
    let mut place = 0;
    while place < SCHEMES.len() {
        let method = SCHEMES[place];
        doc = add(add(add(add(doc, "`"), method.word()), "` "), method.doc());
        place += 1;
        doc = add(doc, if place < SCHEMES.len() { "; " } else { "." });
    }
    doc
}

pub(super) const METHOD: Setting = Setting {
    key: key("method", choice::<Method>(), Need::Default("\"index2\""), METHOD_DOC),
    flag: flag("METHOD", "Method in place of the model's"),
    read: |given, run| given.word().map(|method| run.integrator.method = method),
    show: |run, _| Some(json!(run.integrator.method.word())),
};

/// Comes after [`METHOD`], whose entries list the options.
pub(super) const fn option(entry: &'static OptionEntry) -> Setting {
    Setting {
        key: key(entry.key, ValueKind::Choice(entry.words), Need::Default(entry.default), entry.doc),
        flag: flag("WORD", entry.help),
        read: |given, run| given.option(&mut run.integrator),
        show: |_, _| None,
    }
}

/// Comes after [`METHOD`], which decides on the possible radii.
pub(super) const SPECTRAL_RADIUS: Setting = Setting {
    key: key(
        "spectral-radius",
        ValueKind::Number(Dimension::NONE),
        Need::Default("0.9"),
        "Damping of high frequencies: 1 none, 0 strongest; at most 0.98 with `step = \"auto\"`.",
    ),
    flag: flag("NUMBER", "Spectral radius in place of the model's: 1 damps nothing, 0 most"),
    read: |given, run| {
        let radius = given.number()?;
        let method = run.integrator.method;
        run.integrator.parameters =
            parameters(method, radius).map_err(|possible| given.unsuitable(possible, radius))?;
        let by_error = run.step == Some(StepSize::Auto) && method.family() != Family::Fixed;
        if by_error && !damps_enough(radius) {
            return Err(given.unsuitable(POSSIBLE_RADII, radius));
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
