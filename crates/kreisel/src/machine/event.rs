//! Events: times at which an expression of the motion passes zero.
//!
//! A passage is found by the signs within a step and located on the interpolated motion. Five values and the
//! polynomial through them show whether the expression passes and comes back before the step ends; what
//! passes more often, or for less than a hundredth of the step, goes unnoticed. The step is then computed
//! anew to end there, and the place is improved by the values that such steps end with, until its time is as
//! accurate as asked for: what counts is the motion, not its interpolation.

use std::ops::Range;

use serde::Serialize;

use super::balance::EnergyBalance;
use super::refusal::Refusal;
use super::sensor::{NamedSensor, Reading};
use super::variant::{ParameterChange, Variants};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Point, Values};
use crate::integrate::{Ends, Interval};
use crate::model::Expression;
use crate::system::{SwitchId, System};

/// Which passages through zero count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From below.
    Rising,
    /// From above.
    Falling,
    /// Both.
    Both,
}

impl Direction {
    /// Whether a passage to a sign counts.
    fn counts(self, to: f64) -> bool {
        match self {
            Self::Rising => to > 0.0,
            Self::Falling => to < 0.0,
            Self::Both => true,
        }
    }
}

/// A signal in an expression.
#[derive(Clone, Debug)]
pub struct EventInput {
    /// The sensor that shows it.
    pub sensor: NamedSensor,
    /// Which of its values.
    pub component: usize,
    /// The element that holds it, if it is an input of the machine.
    pub holder: Option<usize>,
}

/// The events of a machine, and what they may change.
pub(super) struct Events {
    /// What happens where an expression of the motion passes zero.
    pub(super) list: Vec<Event>,
    /// What events may change, and into what.
    pub(super) variants: Variants,
}

/// What happens where an expression passes zero.
#[derive(Debug)]
pub struct Event {
    /// Name.
    pub name: String,
    /// The expression.
    pub(crate) expression: Expression,
    /// Signal of each variable; `None` is time.
    pub(crate) inputs: Vec<Option<EventInput>>,
    /// Which passages count.
    pub direction: Direction,
    /// Accuracy of the time in s.
    pub tolerance: f64,
    /// Whether the run ends.
    pub stop: bool,
    /// What is switched on or off.
    pub(crate) switches: Vec<(SwitchId, bool)>,
    /// Parameters that it sets.
    pub(crate) settings: Vec<ParameterChange>,
}

impl Event {
    /// Whether its expression uses the input that an element holds.
    pub(crate) fn reads_input(&self, holder: usize) -> bool {
        self.inputs.iter().flatten().any(|input| input.holder == Some(holder))
    }

    /// Whether the machine is another one afterwards.
    fn changes(&self) -> bool {
        !self.switches.is_empty() || !self.settings.is_empty()
    }
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventRecord {
    /// Time in s.
    pub time: f64,
    /// Name of the event.
    pub event: String,
}

/// What is known of an event at the last accepted step.
#[derive(Clone, Debug, Default)]
struct WatchedEvent {
    value: f64,
    /// Sign on whose side the expression is; 0 if it has not left zero yet.
    side: f64,
    /// Largest absolute value so far, against which rounding is judged.
    largest: f64,
    /// Angles of its signals, from which turns are counted, and their rates.
    angles: Vec<[f64; 2]>,
}

/// The passage on which a step is to land, between the ends of steps from the same start.
#[derive(Clone, Copy, Debug)]
struct EventTarget {
    event: usize,
    /// Sign of the expression before the passage.
    from: f64,
    before: [f64; 2],
    after: [f64; 2],
    /// Whether the pending step ends there, accurately enough.
    reached: bool,
}

/// Watches the events of a run.
pub(crate) struct EventWatch<'m> {
    system: &'m System,
    events: &'m [Event],
    watched: Vec<WatchedEvent>,
    target: Option<EventTarget>,
    sample: Values,
    /// Events whose expression passes a pole within the pending step.
    poles: Vec<usize>,
    /// An event whose expression is not a number, and when, until the end of the pending step.
    no_value: Option<(usize, f64)>,
    /// Events that happened.
    pub records: Vec<EventRecord>,
    /// Events of the last accepted step, by index.
    pub fired: Vec<usize>,
}

/// Halvings of a step that locate a passage on the interpolated motion.
const HALVINGS: usize = 50;
/// Values below this part of the largest are on neither side: what is held at zero must not pass it by
/// rounding.
const ROUNDING: f64 = 1e-9;
/// Parts of a step at whose ends the expressions are looked at.
const PARTS: usize = 4;
/// Parts of a step in which the polynomial through these values is searched.
const FINE_PARTS: usize = 128;
/// How near to zero, beside the range of the values, the polynomial must come for a closer look. A choice:
/// the polynomial of a step that follows the motion is far better than a tenth.
const CLOSE: f64 = 0.1;
/// A passage is a pole if the values around it grow by more than this factor in the later half of the
/// halvings; those of a jump stay.
const POLE: f64 = 4.0;
/// Part of a bracket that a guess keeps from its ends, so that each guess shortens it by as much at least.
const MARGIN: f64 = 1e-3;

impl WatchedEvent {
    /// Takes up a value; its side counts only where it is not rounding. A pole has none.
    fn take(&mut self, value: f64) {
        self.value = value;
        if value.is_infinite() {
            self.side = 0.0;
            return;
        }
        self.largest = self.largest.max(value.abs());
        if self.leaves_zero(value) {
            self.side = if value > 0.0 { 1.0 } else { -1.0 };
        }
    }

    fn leaves_zero(&self, value: f64) -> bool {
        value.abs() > ROUNDING * self.largest
    }
}

impl<'m> EventWatch<'m> {
    pub fn new(system: &'m System, events: &'m [Event]) -> Self {
        Self {
            system,
            events,
            watched: vec![WatchedEvent::default(); events.len()],
            target: None,
            sample: Values::default(),
            poles: Vec::new(),
            no_value: None,
            records: Vec::new(),
            fired: Vec::new(),
        }
    }

    /// Saves what is known after an accepted step: no passage is being approached then.
    pub fn save(&self, out: &mut Writer) {
        for watched in &self.watched {
            [watched.value, watched.side, watched.largest].into_iter().for_each(|number| out.number(number));
            out.numbers(watched.angles.as_flattened());
        }
        out.whole(self.records.len() as u64);
        for record in &self.records {
            let index = self.events.iter().position(|event| event.name == record.event).unwrap_or_default();
            out.number(record.time);
            out.whole(index as u64);
        }
    }

    /// Takes up what was saved.
    pub fn restore(&mut self, reader: &mut Reader) -> Result<(), Damaged> {
        for (watched, event) in self.watched.iter_mut().zip(self.events) {
            [watched.value, watched.side, watched.largest] =
                [reader.number()?, reader.number()?, reader.number()?];
            let angles = reader.numbers()?;
            if angles.len() != 2 * event.inputs.len() {
                return Err(Damaged);
            }
            watched.angles = angles.as_chunks().0.to_vec();
        }
        // Whoever goes back in time forgets what came after.
        (self.target, self.no_value) = (None, None);
        self.poles.clear();
        self.records.clear();
        self.fired.clear();
        for _ in 0..reader.count(16)? {
            let (time, index) = (reader.number()?, reader.whole()?);
            let event =
                usize::try_from(index).ok().and_then(|index| self.events.get(index)).ok_or(Damaged)?;
            self.records.push(EventRecord { time, event: event.name.clone() });
        }
        Ok(())
    }

    /// Why the run cannot go on after the last accepted step, or from where it started.
    pub fn refusal(&self) -> Option<Refusal> {
        self.no_value.map(|(index, time)| Refusal::NoValue { event: self.events[index].name.clone(), time })
    }

    /// Takes up the values where the method starts, or starts anew: what the expressions show may jump there.
    pub fn started(&mut self, at: &Values) {
        self.no_value = None;
        let fired = std::mem::take(&mut self.fired);
        for index in 0..self.events.len() {
            let kept = self.watched[index].side;
            self.note(index, at);
            if fired.contains(&index) {
                // An event that has just happened is on its far side, whatever rounding says.
                self.watched[index].side = kept;
            }
        }
    }

    fn note(&mut self, index: usize, state: &Values) {
        let angles = self.angles_at(index, &state.point(), state.time);
        let value = self.value_at(index, &state.point(), state.time);
        if value.is_nan() {
            self.no_value = self.no_value.or(Some((index, state.time)));
        }
        self.watched[index].take(value);
        self.watched[index].angles = angles;
    }

    /// Angles and rates of the signals of an event.
    fn angles_at(&self, index: usize, point: &Point, since: f64) -> Vec<[f64; 2]> {
        let balance = EnergyBalance::default();
        let reading = Reading::new(self.system, *point, &balance);
        let inputs = self.events[index].inputs.iter().enumerate();
        let angle = |(slot, input): (usize, &Option<EventInput>)| match input {
            // What events read has one angle at most.
            Some(input) => {
                let near = |_| self.near(index, slot, point.time - since);
                let angle = input.sensor.angles(&reading, near).first().copied().unwrap_or(0.0);
                [angle, input.sensor.angle_rates(&reading).next().unwrap_or(0.0)]
            }
            None => [0.0; 2],
        };
        inputs.map(angle).collect()
    }

    /// The angle that a signal should be near to, some time after the last accepted step.
    fn near(&self, index: usize, slot: usize, elapsed: f64) -> f64 {
        self.watched[index].angles.get(slot).map_or(0.0, |[angle, rate]| angle + elapsed * rate)
    }

    fn value_at(&self, index: usize, point: &Point, since: f64) -> f64 {
        let balance = EnergyBalance::default();
        let reading = Reading::new(self.system, *point, &balance);
        let event = &self.events[index];
        let mut values = Vec::new();
        let variable = |(slot, input): (usize, &Option<EventInput>)| match input {
            None => point.time,
            Some(input) => {
                values.clear();
                let near = [self.near(index, slot, point.time - since)];
                input.sensor.read(&reading, &near, &mut values);
                values[input.component]
            }
        };
        let variables: Vec<f64> = event.inputs.iter().enumerate().map(variable).collect();
        event.expression.value(&variables)
    }

    fn pending_value(&mut self, index: usize, pending: &mut dyn Interval, time: f64) -> f64 {
        self.pending_values(index..index + 1, pending, time)[0]
    }

    /// Values of some events within the pending step.
    fn pending_values(&mut self, indices: Range<usize>, pending: &mut dyn Interval, time: f64) -> Vec<f64> {
        let mut sample = std::mem::take(&mut self.sample);
        pending.at(time, &mut sample);
        let since = pending.ends().from.time;
        let values = indices.map(|index| self.value_at(index, &sample.point(), since)).collect();
        self.sample = sample;
        values
    }

    /// Whether a value lies on the other side than the last one, in a direction that counts.
    fn passes(&self, index: usize, value: f64) -> bool {
        let watched = &self.watched[index];
        watched.side * value < 0.0 && watched.leaves_zero(value) && self.events[index].direction.counts(value)
    }

    /// Another time at which the pending step is to end.
    pub fn landing(&mut self, pending: &mut dyn Interval) -> Option<f64> {
        let ends = pending.ends();
        let (start, end) = (ends.from.time, ends.to.time);
        match self.target {
            Some(target) if target.before[0] >= start && target.holds(end) => {
                self.approach(target, pending, end)
            }
            _ => self.first_passage(pending, start, end),
        }
    }

    /// The earliest passage within the pending step, on the interpolated motion.
    fn first_passage(&mut self, pending: &mut dyn Interval, start: f64, end: f64) -> Option<f64> {
        (self.target, self.no_value) = (None, None);
        self.poles.clear();
        if self.events.is_empty() {
            return None;
        }
        let mut values: Vec<[f64; PARTS + 1]> =
            self.watched.iter().map(|watched| [watched.value; PARTS + 1]).collect();
        for part in 1..=PARTS {
            let time = if part == PARTS { end } else { start + (end - start) * part as f64 / PARTS as f64 };
            let present = self.pending_values(0..self.events.len(), pending, time);
            if let Some(index) = present.iter().position(|value| value.is_nan()) {
                self.no_value = self.no_value.or(Some((index, time)));
            }
            values.iter_mut().zip(present).for_each(|(values, value)| values[part] = value);
        }
        let mut earliest: Option<(f64, EventTarget)> = None;
        for (index, values) in values.iter().enumerate() {
            let Some(target) = self.bracket(index, pending, [start, end], values) else { continue };
            let Some(time) = self.locate(target, pending) else {
                self.poles.push(index);
                continue;
            };
            if earliest.is_none_or(|(known, _)| time < known) {
                earliest = Some((time, target));
            }
        }
        let (time, mut target) = earliest?;
        target.reached = (end - time).abs() <= self.events[target.event].tolerance;
        self.target = Some(target);
        (!target.reached).then(|| inside(time, target))
    }

    /// Times around the first passage of an event that counts, of those within the pending step.
    fn bracket(
        &mut self,
        index: usize,
        pending: &mut dyn Interval,
        [start, end]: [f64; 2],
        values: &[f64; PARTS + 1],
    ) -> Option<EventTarget> {
        let (side, direction) = (self.watched[index].side, self.events[index].direction);
        let [first, last] = [[start, values[0]], [end, values[PARTS]]];
        let target = |from, before, after| EventTarget { event: index, from, before, after, reached: false };
        if self.passes(index, last[1]) {
            return Some(target(side, first, last));
        }
        // It may pass and be back at the end.
        let away = self.excursion(index, pending, [start, end], values)?;
        if direction.counts(away[1]) {
            return Some(target(side, first, away));
        }
        let is_back = side * last[1] > 0.0 && self.watched[index].leaves_zero(last[1]);
        (is_back && direction.counts(last[1])).then(|| target(-side, away, last))
    }

    /// Time and value of an expression that is on the other side within a step and not at its end.
    fn excursion(
        &mut self,
        index: usize,
        pending: &mut dyn Interval,
        [start, end]: [f64; 2],
        values: &[f64; PARTS + 1],
    ) -> Option<[f64; 2]> {
        let side = self.watched[index].side;
        let is_away =
            |watch: &Self, value: f64| side * value < 0.0 && watch.watched[index].leaves_zero(value);
        let time = |part: f64| start + (end - start) * part;
        if is_away(self, values[PARTS]) {
            return None;
        }
        if let Some(part) = (1..PARTS).find(|&part| is_away(self, values[part])) {
            return Some([time(part as f64 / PARTS as f64), values[part]]);
        }
        let [low, high] = [f64::min, f64::max].map(|pick| values.iter().copied().reduce(pick).unwrap_or(0.0));
        let (part, least) = (1..FINE_PARTS)
            .map(|part| part as f64 / FINE_PARTS as f64)
            .map(|part| (part, side * through(values, part)))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        if side == 0.0 || least > CLOSE * (high - low) {
            return None;
        }
        let value = self.pending_value(index, pending, time(part));
        is_away(self, value).then_some([time(part), value])
    }

    /// When the expression passes zero, on the interpolated motion; nothing if it has a pole there.
    fn locate(&mut self, target: EventTarget, pending: &mut dyn Interval) -> Option<f64> {
        let ([mut low, mut below], [mut high, mut above]) = (target.before, target.after);
        let size = |below: f64, above: f64| below.abs().min(above.abs());
        let ends = size(below, above);
        let mut sizes = [ends; HALVINGS + 1];
        let mut halvings = 0;
        while halvings < HALVINGS {
            let middle = 0.5 * (low + high);
            let near = high - low <= 0.1 * self.events[target.event].tolerance;
            // What does not become smaller towards the passage may be a pole, and is followed to the last
            // digit.
            if (near && size(below, above) < 0.5 * ends) || middle <= low || middle >= high {
                break;
            }
            let value = self.pending_value(target.event, pending, middle);
            if target.from * value < 0.0 {
                (high, above) = (middle, value);
            } else {
                (low, below) = (middle, value);
            }
            halvings += 1;
            sizes[halvings] = size(below, above);
        }
        (sizes[halvings] <= POLE * sizes[halvings / 2]).then_some(high)
    }

    /// Improves the end of a step that was computed to land on a passage.
    fn approach(&mut self, mut target: EventTarget, pending: &mut dyn Interval, end: f64) -> Option<f64> {
        let value = self.pending_value(target.event, pending, end);
        let passed = target.from * value < 0.0;
        *(if passed { &mut target.after } else { &mut target.before }) = [end, value];
        let ([t0, g0], [t1, g1]) = (target.before, target.after);
        let tolerance = self.events[target.event].tolerance;
        let slope = (g1 - g0).abs() / (t1 - t0);
        // Where the values at both ends are known, |g|/slope is how far the passage is.
        let distance = if slope > 0.0 { value.abs() / slope } else { 0.0 };
        target.reached = distance <= tolerance || (passed && t1 - t0 <= tolerance);
        self.target = Some(target);
        if target.reached {
            return None;
        }
        if t1 - t0 <= tolerance {
            return Some(t1);
        }
        Some(inside(t0 + (t1 - t0) * (g0 / (g0 - g1)), target))
    }

    /// Notes which events the accepted step has met.
    pub fn accepted(&mut self, last: &dyn Interval) {
        let Ends { from, to, .. } = last.ends();
        let since = from.time;
        let target = self.target.take();
        self.fired.clear();
        self.no_value = self.no_value.filter(|(_, time)| *time <= to.time);
        for index in 0..self.events.len() {
            let point = to.point();
            let value = self.value_at(index, &point, since);
            let angles = self.angles_at(index, &point, since);
            let landed = target.filter(|target| target.reached && target.event == index);
            let at_pole = self.poles.contains(&index);
            let fires = landed.is_some() || (!at_pole && self.passes(index, value));
            if value.is_nan() {
                self.no_value = self.no_value.or(Some((index, to.time)));
            }
            let watched = &mut self.watched[index];
            if at_pole {
                // The values beside a pole say nothing of rounding.
                watched.largest = 0.0;
            }
            watched.take(value);
            watched.angles = angles;
            if let Some(target) = landed {
                watched.side = -target.from;
            }
            if fires {
                self.fired.push(index);
                self.records.push(EventRecord { time: to.time, event: self.events[index].name.clone() });
            }
        }
    }

    /// Whether an event of the last step changes how the run goes on.
    pub fn interrupts(&self) -> bool {
        self.stopping().is_some() || self.changes()
    }

    /// Whether an event of the last step changes the machine.
    pub fn changes(&self) -> bool {
        self.last().any(Event::changes)
    }

    /// The event of the last step that ends the run.
    pub fn stopping(&self) -> Option<&'m Event> {
        self.last().find(|event| event.stop)
    }

    /// Events of the last step, in their order.
    pub fn last(&self) -> impl Iterator<Item = &'m Event> {
        let events = self.events;
        self.fired.iter().map(move |&index| &events[index])
    }
}

impl EventTarget {
    /// Whether a time is within the bracket.
    fn holds(&self, time: f64) -> bool {
        (self.before[0]..=self.after[0]).contains(&time)
    }
}

/// The polynomial through values at the ends of equal parts, at a part of the whole.
fn through(values: &[f64; PARTS + 1], part: f64) -> f64 {
    let x = part * PARTS as f64;
    let basis = |at: usize| -> f64 {
        let others = (0..=PARTS).filter(|&other| other != at);
        others.map(|other| (x - other as f64) / (at as f64 - other as f64)).product()
    };
    (0..=PARTS).map(|at| values[at] * basis(at)).sum()
}

/// A guess kept from the ends of its bracket.
fn inside(time: f64, target: EventTarget) -> f64 {
    let ([low, _], [high, _]) = (target.before, target.after);
    let margin = MARGIN * (high - low);
    time.max(low + margin).min(high - margin)
}
