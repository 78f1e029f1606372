//! `[[event]]`: what happens where an expression of the motion passes zero.

use crate::machine::{Direction, EventDraft, MachineBuilder, PartEntry};
use crate::model::{
    Dimension, Key, MeasuredExpression, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind,
};

const DIRECTIONS: &[&str] = &["both", "rising", "falling"];

/// Keys of `[[event]]`.
static KIND: PartKind = PartKind {
    name: "event",
    doc: "A time at which an expression passes zero: steps land on it, `run.json` lists it, and it can stop the run, switch parts and change parameters.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("zero-of", ValueKind::Text, Need::Required)
            .doc("Expression of `t`, joint coordinates (`crank.angle - pi/2`), positions, velocities and reactions, by the names of their signals, and of inputs; setting an input is no passage."),
        Key::new("direction", ValueKind::Choice(DIRECTIONS), Need::Default("\"both\""))
            .doc("Which passages count: from below zero (`rising`), from above (`falling`) or `both`."),
        Key::new("tolerance", ValueKind::Number(Dimension::TIME), Need::Default("1e-9"))
            .doc("Accuracy of the time at which it is located."),
        Key::new("stop", ValueKind::Boolean, Need::Default("false")).doc("Whether the run ends here."),
        Key::new("switch-on", ValueKind::References(&[]), Need::Optional)
            .doc("Forces, springs, joints, drives and locks to switch on; joints must fit without an impulse."),
        Key::new("switch-off", ValueKind::References(&[]), Need::Optional)
            .doc("Forces, springs, joints, drives and locks to switch off."),
        Key::new("set", ValueKind::Parameters, Need::Optional)
            .doc("New values of parameters (`{ k = 200 }`), numbers or expressions of the values at the start; only forces, springs, dampers, bushings, friction and stops may use such a parameter, so that nothing jumps but forces."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[event]]\nname = 'low'\nzero-of = 'arm.position.z + 1'\n"))];

/// Reads an event.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let text = reader.text("zero-of")?;
    let direction = match reader.choice("direction")? {
        "rising" => Direction::Rising,
        "falling" => Direction::Falling,
        _ => Direction::Both,
    };
    let mut switched = Vec::new();
    for (key, on) in [("switch-off", false), ("switch-on", true)] {
        let names = reader.optional_references(key)?.unwrap_or_default();
        switched.extend(names.into_iter().map(|name| (name, on)));
    }
    builder.add_event(EventDraft {
        name: part.name().to_string(),
        expression: MeasuredExpression::new(&text, reader.context(), Dimension::NONE)?,
        direction,
        tolerance: reader.positive("tolerance")?,
        stop: reader.boolean("stop")?,
        switched,
        set: reader.optional_parameters("set")?.unwrap_or_default(),
    });
    reader.finish()
}
