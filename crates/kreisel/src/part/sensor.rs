//! `[[sensor]]`: what is recorded beyond the usual.

use crate::machine::sensor::{SENSORS, SensorEntry, SensorOf, SensorRequest};
use crate::machine::{ExpressionDraft, MachineBuilder, PartEntry};
use crate::model::const_text::{ConstText, const_text};
use crate::model::quantity::Unit;
use crate::model::{
    Dimension, Key, MeasuredExpression, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind,
};

/// Keys of `[[sensor]]`.
static KIND: PartKind = PartKind {
    name: "sensor",
    doc: "A quantity to be recorded. Without a name its signals are called after what it measures: `top.tip.velocity.x`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("quantity", ValueKind::Text, Need::Required)
            .doc(const_text!(write_quantities)),
        Key::new("of", ValueKind::Reference, Need::Optional)
            .doc("The body, marker (`top.tip`), joint, drive, force or other part that is measured; nothing for quantities of the machine."),
        Key::new("relative-to", ValueKind::Reference, Need::Optional)
            .doc("Body or marker from which a motion is observed; the ground if not given."),
        Key::new("axes", ValueKind::Text, Need::Optional)
            .doc("Axes of the components: `world`, `joint` for reactions, or those of a body or marker; those of `relative-to` if not given."),
        Key::new("unit", ValueKind::Text, Need::Optional)
            .doc("Of a named expression: the unit of its value in tables and plots, a base unit such as `N*m`; `1` if not given."),
        Key::new("side", ValueKind::Choice(&["larger", "before", "after"]), Need::Default("\"larger\""))
            .doc("Of `strain`, `force` and `torque` at a node of a beam: on which side of it. What acts on the node makes the two differ; the larger one is shown if nothing is said."),
    ],
};

/// What can be measured: the quantities of the table, and what parts offer.
const fn write_quantities<const ROOM: usize>() -> ConstText<ROOM> {
    let doc = ConstText::new("What is measured. Of a body or marker: ");
    let doc =
        add_words(doc, SensorOf::Frame).add(". Of a section of a beam (`beam.end`, `beam.at-0.5`) also ");
    let doc = add_words(doc, SensorOf::Section).add(
        " (strain, force and torque in section axes, the others from its initial place). Of a joint: its coordinates and rates such as `angle` and `angle-rate`, ",
    );
    let doc = add_words(doc, SensorOf::Joint).add(
        ". Of a contact: `force` on its second body, `normal-force`, `depth`. Of a contact group: `contacts` (how many pairs touch), `normal-force` (the sum of all), `depth` (the largest). Of a spring-damper, joint force, end stop or friction in a joint: its `force` along a displacement or `torque` about an angle; of a spring-damper between points also `length` and `length-rate`. Of a bushing: `force` and `torque` on its second body. Of a force, joint force or drive: its `power`. `angle-x` of a body or marker is the angle by which it has turned about the x axis of `relative-to`, full turns counted (that of its y axis in the plane across). Of a body also its `momentum`, and its `angular-momentum` about its centre of mass. Of the machine: ",
    );
    add_words(doc, SensorOf::Machine).add(
        " (the solver: step size, Newton iterations and steps taken back since the last record; the angular momentum: about the origin of the world). Without `of` also the name of an expression of `[expressions]`.",
    )
}

/// The text with the words of the table for what can be measured of something.
const fn add_words<const ROOM: usize>(mut doc: ConstText<ROOM>, wanted: SensorOf) -> ConstText<ROOM> {
    let (mut family, mut place, mut between) = (0, 0, "");
    while family < SENSORS.len() {
        if place == SENSORS[family].len() {
            (family, place) = (family + 1, 0);
            continue;
        }
        let SensorEntry { word, of, .. } = SENSORS[family][place];
        if of as u8 == wanted as u8 {
            doc = doc.add(between).add_word(word);
            between = ", ";
        }
        place += 1;
    }
    doc
}

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[sensor]]\nquantity = 'velocity'\nof = 'arm'\n"))];

/// Adds a sensor.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    if !reader.has("name") && ["relative-to", "axes", "side"].iter().any(|key| reader.has(key)) {
        let hint = "signals seen from another frame or side need a name of their own";
        return Err(reader.missing("name", hint).into());
    }
    if !reader.has("of") && is_expression(&reader)? {
        add_expression(part, &reader, builder)?;
        return reader.finish();
    }
    let request = SensorRequest::read(&reader, builder)?;
    let mut sensor = request.make()?;
    sensor.name = match reader.has("name") {
        true => format!("{}.{}", part.name(), request.word()),
        false => request.name(),
    };
    builder.signals_mut().ask(sensor);
    reader.finish()
}

/// Whether the quantity is a named expression.
fn is_expression(reader: &PartReader) -> Result<bool, ModelErrors> {
    let quantity = reader.text("quantity")?;
    Ok(reader.context().scope().named.expressions.contains_key(quantity.content()))
}

/// Adds a sensor of a named expression.
fn add_expression(part: &Part, reader: &PartReader, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let quantity = reader.text("quantity")?;
    let name = match reader.has("name") {
        true => format!("{}.{}", part.name(), quantity.content()),
        false => reader.context().full_name(quantity.content()),
    };
    let unit = match reader.optional_text("unit")? {
        None => "1".to_owned(),
        Some(text) if Unit::is_of_results(text.content()) => text.content().to_owned(),
        Some(text) => {
            let error = reader.unsuitable("unit", "a base unit, as all results are in", text.content());
            return Err(error
                .with_hint("such as `N`, `N*m`, `rad/s`, `1/s`, or `1` for a number alone")
                .into());
        }
    };
    let expression = MeasuredExpression::new(&quantity, reader.context(), Dimension::NONE)?.of_any_unit();
    let place = quantity.place().clone();
    builder.ask_expression(ExpressionDraft { name, expression, unit, place });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_of_the_table_is_documented() {
        let doc = KIND.key("quantity").unwrap().doc;
        for entry in SENSORS.iter().copied().flatten() {
            assert!(doc.contains(&format!("`{}`", entry.word)), "{}", entry.word);
        }
    }
}
