//! Tests of the language layer with two kinds of parts that exist only here.

mod expansion;
mod mistakes;
mod reading;

use super::kind::{Key, Need, Occurrence, PartKind, ValueKind};
use super::{Dimension, Document, ModelErrors, PartReader};

const fn key(name: &'static str, value: ValueKind, need: Need) -> Key {
    Key { name, value, need, doc: "A key of the sample." }
}

static MARKER: &[Key] = &[
    key("name", ValueKind::Text, Need::Required),
    key("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]")),
];

static GADGET: PartKind = PartKind {
    name: "gadget",
    doc: "A part that has a key of every type.",
    occurrence: Occurrence::Many,
    keys: &[
        key("mass", ValueKind::Number(Dimension::MASS), Need::Default("1")),
        key("stiffness", ValueKind::Number(Dimension::STIFFNESS), Need::Optional),
        key("teeth", ValueKind::Count, Need::Optional),
        key("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]")),
        key("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional),
        key("inertia", ValueKind::Symmetric3(Dimension::INERTIA), Need::Optional),
        key("lengths", ValueKind::Numbers(Dimension::LENGTH, &[]), Need::Optional),
        key("bushing", ValueKind::Matrix(Dimension::NONE, 2, 2), Need::Optional),
        key("title", ValueKind::Text, Need::Optional),
        key("fixed", ValueKind::Boolean, Need::Default("false")),
        key("group", ValueKind::Choice(&["se3", "so3xr3"]), Need::Default("\"se3\"")),
        key("body", ValueKind::Reference, Need::Optional),
        key("bodies", ValueKind::References(&[2]), Need::Optional),
        key("orientation", ValueKind::Orientation, Need::Optional),
        key("motion", ValueKind::Law(Dimension::ANGLE), Need::Optional),
        key("force", ValueKind::Signal(Dimension::FORCE), Need::Optional),
        key("path", ValueKind::Law3(Dimension::LENGTH), Need::Optional),
        key("load", ValueKind::Signal3(Dimension::FORCE), Need::Optional),
        key("curve", ValueKind::Curve(Dimension::LENGTH, Dimension::FORCE), Need::Optional),
        key("shape", ValueKind::Table(MARKER), Need::Optional),
        key("marker", ValueKind::Tables(MARKER), Need::Optional),
        key("density", ValueKind::Number(Dimension::DENSITY), Need::Optional),
    ],
};

static SETTINGS: PartKind = PartKind {
    name: "settings",
    doc: "A table that a model has once.",
    occurrence: Occurrence::Once,
    keys: &[
        key("end-time", ValueKind::Number(Dimension::TIME), Need::Required),
        key("step", ValueKind::NumberOr(Dimension::TIME, &["auto"]), Need::Default("\"auto\"")),
        key("quiet", ValueKind::Boolean, Need::Default("false")),
    ],
};

static KINDS: &[&PartKind] = &[&GADGET, &SETTINGS];

fn document(text: &str) -> Document {
    Document::from_text("test.toml", text, KINDS, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Reads every key of every part, as a builder would.
fn read_all(document: &Document) -> Result<(), ModelErrors> {
    let mut errors = ModelErrors::new();
    for part in document.parts() {
        let result = PartReader::new(part).and_then(|reader| {
            if part.kind() == &GADGET { read_gadget(reader) } else { read_settings(reader) }
        });
        errors.keep(result);
    }
    errors.into_result()
}

fn read_gadget(reader: PartReader<'_>) -> Result<(), ModelErrors> {
    reader.positive("mass")?;
    reader.optional_number("stiffness")?;
    reader.optional_count("teeth")?;
    reader.vector3("position")?;
    reader.optional_direction("axis")?;
    reader.optional_symmetric3("inertia")?;
    reader.optional_numbers("lengths")?;
    reader.optional_matrix("bushing")?;
    reader.optional_text("title")?;
    reader.boolean("fixed")?;
    reader.choice("group")?;
    reader.optional_reference("body")?;
    reader.optional_references("bodies")?;
    reader.optional_orientation("orientation")?;
    reader.optional_law("motion")?;
    reader.optional_signal("force")?;
    reader.optional_curve("curve")?;
    reader.optional_law3("path")?;
    reader.optional_signal3("load")?;
    if let Some(shape) = reader.table("shape")? {
        shape.text("name")?;
        shape.vector3("position")?;
        shape.finish()?;
    }
    for marker in reader.tables("marker")? {
        marker.text("name")?;
        marker.vector3("position")?;
        marker.finish()?;
    }
    // The density counts only where no mass is given.
    if !reader.has("mass") {
        reader.optional_number("density")?;
    }
    reader.finish()
}

fn read_settings(reader: PartReader<'_>) -> Result<(), ModelErrors> {
    reader.number("end-time")?;
    reader.number_or_word("step")?;
    reader.boolean("quiet")?;
    reader.finish()
}
