//! The quantities that a `[[sensor]]` may ask for, and how it asks.

use std::borrow::Cow;

use super::section_force::SectionSide;
use super::{NamedSensor, SensorFrame, energy, frame, momentum, section, wrench};
use crate::machine::beam::{BeamEntry, Station};
use crate::machine::{JointEntry, MachineBuilder};
use crate::model::error::{Mistake, ModelError};
use crate::model::{ModelErrors, PartReader, Place, Reference, Text};

/// A quantity that can be measured wherever there is something of a sort.
pub struct SensorEntry {
    /// Its word.
    pub word: &'static str,
    /// Of what it can be measured.
    pub of: SensorOf,
    /// Makes the sensor that is asked for.
    pub make: MakeSensor,
}

/// Makes the sensor that a `[[sensor]]` asks for.
type MakeSensor = fn(&SensorRequest) -> Result<NamedSensor, ModelErrors>;

impl SensorEntry {
    /// A quantity of a body, a marker or a section at a node of a beam.
    pub(super) const fn of_frame(word: &'static str, make: MakeSensor) -> Self {
        Self { word, of: SensorOf::Frame, make }
    }

    /// A quantity of any section of a beam.
    pub(super) const fn of_section(word: &'static str, make: MakeSensor) -> Self {
        Self { word, of: SensorOf::Section, make }
    }

    /// A quantity of a section between two nodes of a beam.
    pub(super) const fn within(word: &'static str, make: MakeSensor) -> Self {
        Self { word, of: SensorOf::Within, make }
    }
}

/// Of what something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorOf {
    /// Of the machine as a whole.
    Machine,
    /// Of a body, a marker or a section at a node of a beam.
    Frame,
    /// Of any section of a beam.
    Section,
    /// Of a section between two nodes of a beam.
    Within,
    /// Of a joint, a drive or another constraint.
    Joint,
}

/// The families of sensors; what else can be measured is offered by parts.
pub const SENSORS: &[&[SensorEntry]] =
    &[energy::LINES, momentum::LINES, frame::LINES, section::LINES, wrench::LINES];

/// Words for what can be measured of something.
fn words(of: SensorOf) -> impl Iterator<Item = &'static str> {
    lines(of).map(|entry| entry.word)
}

fn lines(of: SensorOf) -> impl Iterator<Item = &'static SensorEntry> {
    SENSORS.iter().copied().flatten().filter(move |entry| entry.of == of)
}

/// What a `[[sensor]]` asks for.
pub struct SensorRequest<'a> {
    /// None where the name of a signal says all.
    reader: Option<&'a PartReader<'a>>,
    builder: &'a MachineBuilder,
    quantity: Text,
    of: Option<Reference>,
}

impl<'a> SensorRequest<'a> {
    /// Reads what is asked for.
    pub fn read(reader: &'a PartReader<'a>, builder: &'a MachineBuilder) -> Result<Self, ModelErrors> {
        let (quantity, of) = (reader.text("quantity")?, reader.optional_reference("of")?);
        Ok(Self { reader: Some(reader), builder, quantity, of })
    }

    /// The sensor of a signal by its full name, such as `top.tip.acceleration.x`, and which of its values the
    /// signal is.
    pub(in crate::machine) fn of_signal(
        builder: &'a MachineBuilder,
        name: &str,
    ) -> Option<(NamedSensor, usize)> {
        let splits = [Some((name, "")), name.rsplit_once('.')];
        splits.into_iter().flatten().find_map(|(sensor, component)| {
            let (of, quantity) = match sensor.rsplit_once('.') {
                Some((of, quantity)) => (Some(of), quantity),
                None => (None, sensor),
            };
            let of = of.map(|of| Reference { name: of.to_string(), place: Place::default() });
            let request = Self { reader: None, builder, quantity: Text::new(quantity, Place::default()), of };
            let sensor = if request.is_known() { request.make().ok()? } else { return None };
            let place = sensor.sensor.channels().iter().position(|channel| channel.name == component)?;
            Some((sensor, place))
        })
    }

    /// Whether there is something of the name that has the quantity; markers are not looked at.
    fn is_known(&self) -> bool {
        let Some(of) = &self.of else { return self.find(&[SensorOf::Machine]).is_some() };
        if let Some(sorts) = self.sorts(of) {
            return self.find(&sorts).is_some() || self.offered().is_some();
        }
        let is_of = |joint: &JointEntry| {
            self.find(&[SensorOf::Joint]).is_some() || joint.measured(self.quantity.content()).is_some()
        };
        self.builder.frames().joint_named(&of.name).is_some_and(is_of) || self.offered().is_some()
    }

    /// Makes the sensor.
    pub fn make(&self) -> Result<NamedSensor, ModelErrors> {
        let Some(of) = &self.of else {
            return match self.find(&[SensorOf::Machine]) {
                Some(entry) => (entry.make)(self),
                None => Err(self.no_object()),
            };
        };
        if let Some(sorts) = self.sorts(of) {
            if sorts.contains(&SensorOf::Frame) {
                self.frame()?;
            }
            return match self.find(&sorts) {
                Some(entry) => (entry.make)(self),
                None => self.offered().ok_or_else(|| self.unknown_quantity()),
            };
        }
        let joint = self.builder.frames().joint_named(&of.name);
        if let Some(joint) = joint {
            if let Some(entry) = self.find(&[SensorOf::Joint]) {
                return (entry.make)(self);
            }
            if let Some(measured) = joint.measured(self.quantity.content()) {
                return Ok(NamedSensor::of_coordinate(self.name(), measured));
            }
        }
        let is_known = joint.is_some() || self.builder.signals().offered_by(&of.name).next().is_some();
        match self.offered() {
            Some(offered) => Ok(offered),
            None if is_known => Err(self.unknown_quantity()),
            None => Err(self.nothing_of_this_name(of).into()),
        }
    }

    /// What the part itself offers.
    fn offered(&self) -> Option<NamedSensor> {
        self.builder.signals().offered(&self.name()).cloned()
    }

    /// The word for what is measured, not its short form.
    pub fn word(&self) -> Cow<'_, str> {
        let joint = self.of.as_ref().and_then(|of| self.builder.frames().joint_named(&of.name));
        let written = self.quantity.content();
        joint.map_or(Cow::Borrowed(written), |joint| joint.full_word(written))
    }

    /// The name of its signals, if it gets no other.
    pub fn name(&self) -> String {
        match &self.of {
            Some(of) => format!("{}.{}", of.name, self.word()),
            None => self.quantity.content().to_string(),
        }
    }

    /// What can be measured where `of` is a frame.
    fn sorts(&self, of: &Reference) -> Option<Vec<SensorOf>> {
        if let Some((beam, word)) = self.builder.frames().beam_section(&of.name)
            && let Some(station) = beam.station(word)
        {
            return Some(match station {
                Station::Node(_) => vec![SensorOf::Section, SensorOf::Frame],
                Station::Within { .. } => vec![SensorOf::Section, SensorOf::Within],
            });
        }
        self.builder.frames().has_frame(&of.name).then(|| vec![SensorOf::Frame])
    }

    fn find(&self, sorts: &[SensorOf]) -> Option<&'static SensorEntry> {
        sorts.iter().flat_map(|sort| lines(*sort)).find(|entry| entry.word == self.quantity.content())
    }

    /// The joint that is meant.
    pub(super) fn joint(&self) -> Result<&'a JointEntry, ModelErrors> {
        Ok(self.builder.frames().joint(self.object()?)?)
    }

    /// The frame that is meant.
    pub(super) fn frame(&self) -> Result<SensorFrame, ModelErrors> {
        Ok(self.frame_of(self.object()?)?)
    }

    /// The section of a beam that is meant, with its word.
    pub(super) fn section(&self) -> Result<(&'a BeamEntry, &str, Station), ModelErrors> {
        let of = self.object()?;
        let section = self.builder.frames().beam_section(&of.name);
        let found = section.and_then(|(beam, word)| Some((beam, word, beam.station(word)?)));
        found.ok_or_else(|| self.nothing_of_this_name(of).into())
    }

    /// The side of a section that is meant, if one is named.
    pub(super) fn side(&self) -> Result<Option<SectionSide>, ModelErrors> {
        let Some(reader) = self.reader else { return Ok(None) };
        Ok(match reader.choice("side")? {
            "before" => Some(SectionSide::Before),
            "after" => Some(SectionSide::After),
            _ => None,
        })
    }

    /// From where a motion is seen; the ground if nothing is said.
    pub(super) fn relative_to(&self) -> Result<SensorFrame, ModelErrors> {
        match self.reader.map_or(Ok(None), |reader| reader.optional_reference("relative-to"))? {
            Some(reference) => Ok(self.frame_of(&reference)?),
            None => Ok(SensorFrame::default()),
        }
    }

    /// The axes of a reaction: `joint` are those of the frame on the first body.
    pub(super) fn reaction_axes(&self, joint: &JointEntry) -> Result<SensorFrame, ModelErrors> {
        match self.reader.map_or(Ok(None), |reader| reader.optional_text("axes"))? {
            Some(text) if text.content() == "joint" => {
                Ok(SensorFrame { node: joint.nodes[0], offset: joint.offsets[0] })
            }
            _ => Ok(self.axes()?.unwrap_or_default()),
        }
    }

    /// The frame whose axes components belong to, if one is named.
    pub(super) fn axes(&self) -> Result<Option<SensorFrame>, ModelErrors> {
        let Some(reader) = self.reader else { return Ok(None) };
        let Some(text) = reader.optional_text("axes")? else { return Ok(None) };
        if matches!(text.content(), "world" | "ground") {
            return Ok(Some(SensorFrame::default()));
        }
        let name = reader.context().full_name(text.content());
        let reference = Reference { name, place: text.place().clone() };
        match self.frame_of(&reference) {
            Ok(frame) => Ok(Some(frame)),
            Err(error) if reference.name.contains('.') => Err(error.into()),
            Err(_) => {
                let words = ["world", "joint"].into_iter();
                let names = self.builder.frames().bodies().iter().map(|body| body.name.as_str());
                Err(reference.unknown("body", words.chain(names)).into())
            }
        }
    }

    fn frame_of(&self, reference: &Reference) -> Result<SensorFrame, ModelError> {
        let attachment = self.builder.attachment(reference)?;
        Ok(SensorFrame { node: attachment.node, offset: attachment.marker.unwrap_or_default() })
    }

    fn object(&self) -> Result<&Reference, ModelErrors> {
        self.of.as_ref().ok_or_else(|| self.no_object())
    }

    /// The error that nothing of the name can be measured, with the names of bodies and joints.
    fn nothing_of_this_name(&self, of: &Reference) -> ModelError {
        match self.builder.attachment(of) {
            Err(error) if of.name.contains('.') => error,
            _ => {
                let bodies = self.builder.frames().bodies().iter().map(|body| body.name.as_str());
                let joints = self.builder.frames().joints().iter().map(|joint| joint.name.as_str());
                of.unknown("body or joint", bodies.chain(joints))
            }
        }
    }

    /// The error of a quantity that there is not, with those that there are.
    pub(super) fn unknown_quantity(&self) -> ModelErrors {
        let Some(of) = &self.of else { return self.no_object() };
        let sorts = self.sorts(of).unwrap_or_default();
        let joint = self.builder.frames().joint_named(&of.name);
        let mut known = joint.map(JointEntry::coordinate_names).unwrap_or_default();
        let sorts = sorts.iter().chain(&joint.map(|_| SensorOf::Joint)).copied().collect::<Vec<_>>();
        known.extend(sorts.into_iter().flat_map(words).map(str::to_string));
        known.extend(self.builder.signals().offered_by(&of.name).map(str::to_string));
        self.unknown(known.iter().map(String::as_str)).into()
    }

    fn unknown<'n>(&self, words: impl IntoIterator<Item = &'n str>) -> ModelError {
        let name = self.quantity.content().chars().take(60).collect();
        let mistake = Mistake::UnknownName { what: "quantity", name };
        ModelError::new(mistake, self.quantity.place().clone()).with_nearest(self.quantity.content(), words)
    }

    /// The error of a quantity that belongs to a part which is not named.
    fn no_object(&self) -> ModelErrors {
        let mut known = words(SensorOf::Frame).chain(words(SensorOf::Joint));
        if let Some(reader) = self.reader
            && known.any(|word| word == self.quantity.content())
        {
            let hint = "name the body, marker or joint that is measured: `of = \"…\"`";
            return reader.missing("of", hint).into();
        }
        let sorts = [SensorOf::Frame, SensorOf::Joint, SensorOf::Machine];
        let mut known: Vec<String> = sorts.into_iter().flat_map(words).map(str::to_string).collect();
        if let Some(reader) = self.reader {
            known.extend(reader.context().scope().named.expressions.keys().cloned());
        }
        self.unknown(known.iter().map(String::as_str)).into()
    }
}
