//! Events as a model gives them, until it is known what their expressions are of.

use super::MachineBuilder;
use super::event::{Direction, Event, EventInput};
use super::sensor::{InputSensor, NamedSensor, SensorRequest};
use super::variant::Variants;
use crate::model::expression::TIME;
use crate::model::{GivenParameter, MeasuredExpression, ModelErrors, Quantities, Reference};

/// An event whose expression waits for the sensors to be known.
pub struct EventDraft {
    /// Name.
    pub name: String,
    /// The expression.
    pub expression: MeasuredExpression,
    /// Which passages count.
    pub direction: Direction,
    /// Accuracy of the time in s.
    pub tolerance: f64,
    /// Whether the run ends.
    pub stop: bool,
    /// Parts that are switched on or off.
    pub switched: Vec<(Reference, bool)>,
    /// Parameters that it changes, with their new values.
    pub set: Vec<GivenParameter>,
}

impl EventDraft {
    /// The event, once sensors and parts are known.
    pub(super) fn finish(
        self,
        builder: &mut MachineBuilder,
        variants: &Variants,
    ) -> Result<Event, ModelErrors> {
        let known = |name: &str| is_shown(name, builder);
        let candidates = || shown_names(builder);
        let quantities = Quantities { known: &known, candidates: &candidates };
        let expression = self.expression.compile(quantities)?;
        let find = |name: &String| if name == TIME { None } else { input(name, builder) };
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

/// Whether a name shows the motion at a moment.
pub(super) fn is_shown(name: &str, builder: &MachineBuilder) -> bool {
    input(name, builder).is_some()
}

/// Names of what shows the motion at a moment.
pub(super) fn shown_names(builder: &MachineBuilder) -> Vec<String> {
    let readable = builder.signals().recorded().iter().filter(|sensor| sensor.of_moment);
    let signals = readable.flat_map(NamedSensor::channels).map(|channel| channel.name);
    signals.chain(builder.measured_names()).collect()
}

/// Where the value of a name comes from.
pub(super) fn input(name: &str, builder: &MachineBuilder) -> Option<EventInput> {
    let number = |sensor: NamedSensor| EventInput { sensor, component: 0, holder: None };
    if let Some(measured) = builder.measured(name) {
        return Some(number(NamedSensor::of_coordinate(name, measured)));
    }
    let signals = builder.signals();
    if let Some(state) = signals.state_named(name) {
        return Some(number(state.sensor()));
    }
    if let Some(input) = signals.inputs().iter().find(|input| input.name == name) {
        let sensor = InputSensor { element: input.holder, initial: input.value };
        return Some(EventInput { holder: Some(input.holder), ..number(NamedSensor::new(name, sensor)) });
    }
    let asked = SensorRequest::of_signal(builder, name).filter(|(sensor, _)| sensor.of_moment);
    if let Some((sensor, component)) = asked {
        return Some(EventInput { sensor, component, holder: None });
    }
    signals.recorded().iter().filter(|sensor| sensor.of_moment).find_map(|sensor| {
        let component = sensor.channels().iter().position(|channel| channel.name == name)?;
        Some(EventInput { sensor: sensor.clone(), component, holder: None })
    })
}
