//! `[[event]]`: what happens where an expression of the motion passes zero.

use crate::machine::MachineBuilder;
use crate::machine::event::{Direction, Event, EventInput};
use crate::machine::part::sensor::coordinate;
use crate::machine::sensor::{Measurement, Sensor};
use crate::machine::variant::Variants;
use crate::model::expression::TIME;
use crate::model::kind::key;
use crate::model::{
    Dimension, GivenParameter, MeasuredExpression, ModelErrors, Need, Occurrence, Part, PartKind, PartReader,
    Quantities, Reference, ValueKind,
};

const DIRECTIONS: &[&str] = &["both", "rising", "falling"];

/// Keys of `[[event]]`.
pub static KIND: PartKind = PartKind {
    name: "event",
    doc: "A time at which an expression passes zero: steps land on it, `run.json` lists it, and it can stop the run, switch parts and change parameters.",
    occurrence: Occurrence::Many,
    keys: &[
        key(
            "zero-of",
            ValueKind::Text,
            Need::Required,
            "Expression of `t`, joint coordinates (`crank.angle - pi/2`), positions, velocities and reactions, by the names of their signals, and of inputs; setting an input is no passage.",
        ),
        key(
            "direction",
            ValueKind::Choice(DIRECTIONS),
            Need::Default("\"both\""),
            "Which passages count: from below zero (`rising`), from above (`falling`) or `both`.",
        ),
        key(
            "tolerance",
            ValueKind::Number(Dimension::TIME),
            Need::Default("1e-9"),
            "Accuracy of the time at which it is located.",
        ),
        key("stop", ValueKind::Boolean, Need::Default("false"), "Whether the run ends here."),
        key(
            "switch-on",
            ValueKind::References(&[]),
            Need::Optional,
            "Forces, springs, joints, drives and locks to switch on; joints must fit without an impulse.",
        ),
        key(
            "switch-off",
            ValueKind::References(&[]),
            Need::Optional,
            "Forces, springs, joints, drives and locks to switch off.",
        ),
        key(
            "set",
            ValueKind::Parameters,
            Need::Optional,
            "New values of parameters (`{ k = 200 }`), numbers or expressions of the values at the start; only forces, springs, dampers, bushings, friction and stops may use such a parameter, so that nothing jumps but forces.",
        ),
    ],
};

/// An event whose expression waits for the sensors to be known.
pub struct EventDraft {
    name: String,
    expression: MeasuredExpression,
    direction: Direction,
    tolerance: f64,
    stop: bool,
    switched: Vec<(Reference, bool)>,
    set: Vec<GivenParameter>,
}

/// Reads an event.
pub fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
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
    builder.events.push(EventDraft {
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

impl EventDraft {
    /// Parameters that it changes, with their new values.
    pub(in crate::machine) fn set(&self) -> &[GivenParameter] {
        &self.set
    }

    /// The event, once sensors and parts are known.
    pub(in crate::machine) fn finish(
        self,
        builder: &mut MachineBuilder,
        sensors: &[Sensor],
        variants: &Variants,
    ) -> Result<Event, ModelErrors> {
        let known = |name: &str| input(name, builder, sensors).is_some();
        let candidates = || {
            let readable = sensors.iter().filter(|sensor| readable(sensor));
            let signals = readable.flat_map(Sensor::channels).map(|channel| channel.name);
            signals.chain(builder.measured_names()).collect()
        };
        let quantities = Quantities { known: &known, candidates: &candidates };
        let expression = self.expression.compile(quantities)?;
        let find = |name: &String| if name == TIME { None } else { input(name, builder, sensors) };
        let inputs = expression.variables().iter().map(find).collect();
        let mut errors = ModelErrors::new();
        let mut switches = Vec::new();
        for (reference, on) in &self.switched {
            let switch = errors.keep(builder.switch(reference, true));
            switches.extend(switch.map(|switch| (switch, *on)));
        }
        errors.into_result()?;
        let settings = variants.settings(&self.set);
        let Self { name, direction, tolerance, stop, .. } = self;
        Ok(Event { name, expression, inputs, direction, tolerance, stop, switches, settings })
    }
}

/// Whether a sensor shows the motion of a moment and nothing of the past.
fn readable(sensor: &Sensor) -> bool {
    matches!(
        sensor.measurement,
        Measurement::Frame { .. }
            | Measurement::Coordinate { .. }
            | Measurement::Reaction { .. }
            | Measurement::State { .. }
    )
}

/// Where the value of a name comes from.
fn input(name: &str, builder: &MachineBuilder, sensors: &[Sensor]) -> Option<EventInput> {
    if let Some(measured) = builder.measured(name) {
        let sensor = Sensor { name: name.to_string(), measurement: coordinate(&measured) };
        return Some(EventInput { sensor, component: 0 });
    }
    if let Some(state) = builder.state_named(name) {
        let measurement = Measurement::State { state: state.state, unit: state.unit.clone() };
        return Some(EventInput { sensor: Sensor { name: name.to_string(), measurement }, component: 0 });
    }
    if let Some(input) = builder.inputs().iter().find(|input| input.name == name) {
        let measurement = Measurement::Input { element: input.holder, initial: input.value };
        return Some(EventInput { sensor: Sensor { name: name.to_string(), measurement }, component: 0 });
    }
    sensors.iter().filter(|sensor| readable(sensor)).find_map(|sensor| {
        let component = sensor.channels().iter().position(|channel| channel.name == name)?;
        Some(EventInput { sensor: sensor.clone(), component })
    })
}
