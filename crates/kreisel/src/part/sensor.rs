//! `[[sensor]]`: what is recorded beyond the usual.

use crate::machine::sensor::SensorRequest;
use crate::machine::{MachineBuilder, PartEntry};
use crate::model::{Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// Keys of `[[sensor]]`.
static KIND: PartKind = PartKind {
    name: "sensor",
    doc: "A quantity to be recorded. Without a name its signals are called after what it measures: `top.tip.velocity.x`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("quantity", ValueKind::Text, Need::Required)
            .doc("What is measured. Of a body or marker: `position`, `orientation`, `rotation-vector`, `velocity`, `angular-velocity`, `acceleration`, `angular-acceleration`. Of a section of a beam (`beam.end`, `beam.at-0.5`) also `displacement` and `rotation` from its initial place, `strain`, and `force` and `torque` in section axes. Of a joint: its coordinates and rates such as `angle` and `rate`, `force`, `torque`. Of a contact: `force` on its second body, `normal-force`, `depth`. Of a contact group: `contacts` (how many pairs touch), `normal-force` (the sum of all), `depth` (the largest). Of the machine: `energy`, `constraint`, `solver` (step size, Newton iterations and steps taken back since the last record)."),
        Key::new("of", ValueKind::Reference, Need::Optional)
            .doc("The body, marker (`top.tip`), joint or drive that is measured; nothing for quantities of the machine."),
        Key::new("relative-to", ValueKind::Reference, Need::Optional)
            .doc("Body or marker from which a motion is observed; the ground if not given."),
        Key::new("axes", ValueKind::Text, Need::Optional)
            .doc("Axes of the components: `world`, `joint` for reactions, or those of a body or marker; those of `relative-to` if not given."),
        Key::new("side", ValueKind::Choice(&["larger", "before", "after"]), Need::Default("\"larger\""))
            .doc("Of `strain`, `force` and `torque` at a node of a beam: on which side of it. What acts on the node makes the two differ; the larger one is shown if nothing is said."),
    ],
};

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
    let request = SensorRequest::read(&reader, builder)?;
    let mut sensor = request.make()?;
    sensor.name = match reader.has("name") {
        true => format!("{}.{}", part.name(), reader.text("quantity")?.content()),
        false => request.name(),
    };
    builder.signals_mut().ask(sensor);
    reader.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::sensor::SENSORS;

    #[test]
    fn every_quantity_of_the_table_is_documented() {
        let doc = KIND.key("quantity").unwrap().doc;
        for entry in SENSORS.iter().copied().flatten() {
            assert!(doc.contains(&format!("`{}`", entry.word)), "{}", entry.word);
        }
    }
}
