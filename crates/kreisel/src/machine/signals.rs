//! What can be measured and used in expressions: signals that parts offer, states, inputs and functions.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::entry::{FunctionEntry, Functions, InputEntry, StateSignal};
use super::frames::Named;
use super::sensor::{NamedSensor, of_machine};
use super::state::same_name;
use crate::element::SignalFunction;
use crate::model::ModelErrors;
use crate::model::error::Mistake;
use crate::model::expression::TIME;
use crate::results::Channel;
use crate::system::System;

/// Why an input may not stand where motion is prescribed, and what to do.
const INPUTS_JUMP: &str = "it is an input, which may jump: forces, loads of beams, states and events may use it, but not a motion that must be smooth; let a `[[joint-force]]` or a `[[pid]]` follow it";

/// Where a signal that a part offers stands among the others; whoever offers it, those of one rank stand
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Positions of bodies.
    Place,
    /// Coordinates of joints.
    Coordinate,
    /// Applied forces.
    Force,
    /// Contacts.
    Contact,
    /// Reactions.
    Reaction,
    /// States.
    State,
    /// Recorded only if a `[[sensor]]` asks for it.
    OnDemand,
}

/// Signals of a machine by name.
#[derive(Default)]
pub struct MachineSignals {
    offers: Named<(Rank, NamedSensor)>,
    asked: Vec<NamedSensor>,
    recorded: Vec<NamedSensor>,
    /// Where the angles of each recorded sensor begin among those of all, and their number.
    angle_starts: Vec<usize>,
    states: Vec<StateSignal>,
    inputs: Vec<InputEntry>,
    /// Which elements use which inputs, in the order of the element's own inputs.
    input_users: Vec<(usize, Vec<usize>)>,
    functions: Vec<FunctionEntry>,
    outside: Functions,
}

impl MachineSignals {
    /// Nothing yet, with the functions given from outside.
    pub(super) fn new(outside: Functions) -> Self {
        Self { outside, ..Self::default() }
    }

    /// Lets something be measured, recorded unless the model wants its own sensors only.
    pub fn offer(&mut self, rank: Rank, sensor: NamedSensor) {
        let name = sensor.name.clone();
        self.offers.push(&name, (rank, sensor));
    }

    /// What a part offers under a name.
    pub fn offered(&self, name: &str) -> Option<&NamedSensor> {
        self.offers.get(name).map(|(_, sensor)| sensor)
    }

    /// Words for what the part of a name offers.
    pub fn offered_by<'s>(&'s self, part: &'s str) -> impl Iterator<Item = &'s str> {
        let names = self.offers.items().iter().map(|(_, sensor)| sensor.name.as_str());
        let words = names.filter_map(move |name| name.strip_prefix(part)?.strip_prefix('.'));
        words.filter(|word| !word.contains('.'))
    }

    /// Records a sensor that the model asks for.
    pub fn ask(&mut self, sensor: NamedSensor) {
        self.asked.push(sensor);
    }

    /// Lets a state be measured and used in expressions.
    pub fn add_state(&mut self, state: StateSignal) {
        self.offer(Rank::State, state.sensor());
        self.states.push(state);
    }

    /// States so far.
    pub fn states(&self) -> &[StateSignal] {
        &self.states
    }

    /// The state whose signal has a name.
    pub fn state_named(&self, name: &str) -> Option<&StateSignal> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Adds an input that an element holds.
    pub(super) fn add_input(&mut self, name: &str, value: f64, holder: usize) {
        self.connect_inputs(holder, vec![self.inputs.len()]);
        self.inputs.push(InputEntry { name: name.to_string(), value, slots: Vec::new(), holder });
    }

    /// Numbers that are set from outside.
    pub fn inputs(&self) -> &[InputEntry] {
        &self.inputs
    }

    /// Tells which inputs an element uses, in the order of its own inputs.
    pub fn connect_inputs(&mut self, element: usize, inputs: Vec<usize>) {
        if !inputs.is_empty() {
            self.input_users.push((element, inputs));
        }
    }

    /// Finds where in the memory of the system the inputs are.
    pub(super) fn locate_inputs(&mut self, system: &System) {
        for (element, inputs) in &self.input_users {
            // The inputs are the last numbers that an element remembers.
            let first = system.element_memory(*element).end - inputs.len();
            for (index, &input) in inputs.iter().enumerate() {
                self.inputs[input].slots.push(first + index);
            }
        }
    }

    /// Says of a name that is not known where it stands, but is that of an input, where inputs may stand.
    pub(super) fn about_inputs(&self, errors: ModelErrors) -> ModelErrors {
        let is_input = |mistake: &Mistake| match mistake {
            Mistake::UnknownName { name, .. } => self.inputs.iter().any(|input| input.name == *name),
            _ => false,
        };
        errors.map(|error| if is_input(error.mistake()) { error.with_hint(INPUTS_JUMP) } else { error })
    }

    /// Functions given from outside.
    pub(super) fn outside(&self) -> &Functions {
        &self.outside
    }

    /// The function that was given from outside for a name.
    pub fn outside_function(&self, name: &str) -> Option<Arc<dyn SignalFunction>> {
        self.outside.get(name).cloned()
    }

    /// Adds a function that was given from outside.
    pub fn add_function(&mut self, entry: FunctionEntry) {
        self.functions.push(entry);
    }

    /// The function of a name.
    pub fn function_named(&self, name: &str) -> Option<&FunctionEntry> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Whether a name is that of an input or of a function from outside.
    pub fn is_outside_quantity(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.name == name) || self.function_named(name).is_some()
    }

    /// Whether a function from outside is asked about times.
    pub fn ask_outside_by_time(&self) -> bool {
        self.functions.iter().any(|function| function.arguments.iter().any(|argument| argument.name == TIME))
    }

    /// Names of states, inputs and functions.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let states = self.states.iter().map(|state| &state.name);
        let inputs = self.inputs.iter().map(|input| &input.name);
        states.chain(inputs).chain(self.functions.iter().map(|function| &function.name)).cloned()
    }

    /// Decides what is recorded: the usual signals if the model wants them, those of parts only in a `small`
    /// machine, and what it asks for; each once.
    pub(super) fn record(&mut self, usual: bool, small: bool) -> Result<(), ModelErrors> {
        let offers = self.offers.items().iter().filter(|(rank, _)| *rank != Rank::OnDemand);
        let mut offers: Vec<(Rank, NamedSensor)> = offers.cloned().collect();
        offers.sort_by_key(|(rank, _)| *rank);
        let (states, parts): (Vec<_>, Vec<_>) = (offers.into_iter())
            .map(|(rank, sensor)| (rank == Rank::State, sensor))
            .partition(|(is_state, _)| *is_state);
        if usual && small {
            self.recorded.extend(parts.into_iter().map(|(_, sensor)| sensor));
        }
        if usual {
            self.recorded.extend(of_machine());
        }
        self.recorded.append(&mut self.asked);
        let states: Vec<NamedSensor> = states.into_iter().map(|(_, sensor)| sensor).collect();
        self.check_state_names(&states)?;
        if usual {
            self.recorded.extend(states);
        }
        let mut names = HashSet::new();
        self.recorded.retain(|sensor| names.insert(sensor.name.clone()));
        self.count_angles();
        Ok(())
    }

    /// Lets go of what parts offer, once nobody asks any more.
    pub(super) fn forget_offers(&mut self) {
        self.offers = Named::default();
    }

    /// No other sensor may show something else under the name of a state.
    fn check_state_names(&self, sensors: &[NamedSensor]) -> Result<(), ModelErrors> {
        for (state, own) in self.states.iter().zip(sensors) {
            let shows_other = |sensor: &&NamedSensor| {
                !Arc::ptr_eq(&sensor.sensor, &own.sensor)
                    && sensor.channels().iter().any(|channel| channel.name == state.name)
            };
            if let Some(sensor) = self.recorded.iter().find(shows_other) {
                return Err(same_name(state, &format!("the sensor `{}`", sensor.name)).into());
            }
        }
        Ok(())
    }

    /// Records one more sensor, unless there is one of its name.
    pub(crate) fn record_also(&mut self, sensor: NamedSensor) {
        if self.recorded.iter().all(|known| known.name != sensor.name) {
            self.record_all(vec![sensor]);
        }
    }

    /// Records more sensors, whose names nobody has.
    pub(super) fn record_all(&mut self, sensors: Vec<NamedSensor>) {
        self.recorded.extend(sensors);
        self.count_angles();
    }

    fn count_angles(&mut self) {
        let mut count = 0;
        let starts = self.recorded.iter().map(|sensor| {
            count += sensor.angles.len();
            count
        });
        self.angle_starts = std::iter::once(0).chain(starts).collect();
    }

    /// Where the angles of a recorded sensor, whose turns are counted, stand among those of all.
    pub(crate) fn angles_of(&self, sensor: usize) -> Range<usize> {
        self.angle_starts[sensor]..self.angle_starts[sensor + 1]
    }

    /// Number of all angles whose turns are counted.
    pub(crate) fn angle_count(&self) -> usize {
        self.angle_starts.last().copied().unwrap_or(0)
    }

    /// What is recorded.
    pub fn recorded(&self) -> &[NamedSensor] {
        &self.recorded
    }

    /// Names and units of what is recorded.
    pub fn channels(&self) -> Vec<Channel> {
        self.recorded.iter().flat_map(NamedSensor::channels).collect()
    }
}
