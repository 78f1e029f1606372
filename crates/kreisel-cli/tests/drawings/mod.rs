//! The book's drawings of joints, forces, beams and sections.
//!
//! Each is a small model that the program starts: frames, coordinates and signs are those of the results, and
//! a drawing that says another sign fails. Its name is the kind of the part, or `section-` and the shape.

mod forces;
mod joints;
mod pen;
mod sections;
mod stage;

use pen::Pen;
use stage::Stage;
use std::path::Path;

/// One drawing.
pub struct Drawing {
    /// The kind of the part.
    pub kind: &'static str,
    /// What is drawn, without `[simulation]`.
    model: &'static str,
    /// From where it is seen: degrees about z from −y to the right, and degrees above the ground.
    view: [f64; 2],
    /// Axes, coordinates and forces over the bodies.
    marks: fn(&Stage, &mut Pen),
}

/// Kinds that nothing of their own is to be seen of, and why.
const WITHOUT: &[&str] = &[
    "simulation",
    "gravity",
    "table",
    "input", // no parts of a machine
    "body",
    "point-mass",
    "marker", // what all drawings are made of
    "state",
    "algebraic",
    "transfer-function",
    "state-space",
    "pid",
    "function", // numbers
    "lock",
    "sensor",
    "event", // what looks at other parts and switches them
];

/// A drawing as SVG; a model that does not start or has other signs fails.
fn drawn(drawing: &Drawing, folder: &Path) -> String {
    let mut pen = Pen::from(drawing.view);
    let stage = Stage::set(drawing.model, folder);
    stage.show(&mut pen);
    (drawing.marks)(&stage, &mut pen);
    pen.svg(drawing.kind)
}

/// Kinds with a drawing.
pub fn kinds() -> Vec<&'static str> {
    joints::ALL.iter().chain(forces::ALL).map(|drawing| drawing.kind).collect()
}

/// Sections with a drawing.
pub fn sections() -> Vec<String> {
    sections::all().map(|(name, _)| name).collect()
}

/// What of the library has neither a drawing nor a reason to have none.
pub fn missing() -> Vec<String> {
    use kreisel::model::ValueKind;
    use kreisel::part::{beam_section, kinds as parts};
    let drawn = kinds();
    let kinds = parts().into_iter().map(|kind| kind.name);
    let kinds = kinds.filter(|name| !drawn.contains(name) && !WITHOUT.contains(name)).map(str::to_owned);
    let shapes = beam_section::KEYS.iter().find(|key| key.name == "shape");
    let Some(ValueKind::Choice(shapes)) = shapes.map(|key| key.value) else { panic!("sections have shapes") };
    let sections = sections();
    let shapes =
        shapes.iter().map(|shape| format!("section-{shape}")).filter(|name| !sections.contains(name));
    kinds.chain(shapes).collect()
}

/// Whether two drawings are the same but for rounding of their places.
fn is_same(old: &str, new: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let is_border = |letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == '-');
        text.split_inclusive(is_border).map(str::to_owned).collect()
    };
    let (old, new) = (words(old), words(new));
    let number = |word: &str| {
        let end = word.char_indices().last().map_or(0, |(at, _)| at);
        word[..end].parse::<f64>().ok().map(|value| (value, word[end..].to_owned()))
    };
    old.len() == new.len()
        && old.iter().zip(&new).all(|(a, b)| match (number(a), number(b)) {
            (Some((a, after_a)), Some((b, after_b))) => (a - b).abs() < 0.25 && after_a == after_b,
            _ => a == b,
        })
}

/// Compares the drawings in a folder, or writes them.
pub fn check(folder: &Path) {
    let refresh = std::env::var_os("KREISEL_REFRESH").is_some();
    if refresh {
        std::fs::create_dir_all(folder).unwrap();
    }
    let place = tempfile::TempDir::new().unwrap();
    let parts = joints::ALL.iter().chain(forces::ALL).map(|drawing| {
        // All that fail are named at once.
        let svg = std::panic::catch_unwind(|| drawn(drawing, place.path())).unwrap_or_default();
        (drawing.kind.to_owned(), svg)
    });
    let mut faults = Vec::new();
    for (name, svg) in parts.chain(sections::all()) {
        let path = folder.join(format!("{name}.svg"));
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        if svg.is_empty() || svg.contains("NaN") || svg.contains("inf") {
            faults.push(format!("{name} cannot be drawn"));
        } else if !is_same(&known, &svg) && refresh {
            std::fs::write(&path, svg).unwrap();
        } else if !is_same(&known, &svg) {
            faults.push(format!("{name} is another: run `cargo xtask refresh`"));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}
