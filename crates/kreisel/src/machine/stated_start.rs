//! Initial coordinates of joints and their rates, as the model states them or somebody from outside: one check
//! for both.

use std::f64::consts::PI;

use super::entry::{JointEntry, MeasuredCoordinate, Thread};
use super::frames::Frames;
use crate::kinematics::Coordinate;
use crate::model::error::ModelError;
use crate::model::expression::constant_value;
use crate::model::scope::ParameterValues;
use crate::model::{Dimension, Place, Text};

/// A coordinate of a joint whose initial value or rate the model states.
#[derive(Clone, Debug)]
pub struct JointStart {
    /// The joint.
    pub joint: String,
    /// The word for the coordinate.
    pub word: &'static str,
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Its value in m or rad, and where the model says it.
    pub value: Option<(f64, Place)>,
    /// Its rate per second, and where the model says it.
    pub rate: Option<(f64, Place)>,
}

/// Part by which displacement and angle of a screw may differ from what the thread says: both are typed, and
/// nine digits are more than anybody types without meaning them.
const SAME: f64 = 1e-9;

/// States initial coordinates and rates in place of what the model says of them: `elbow.angle`,
/// `elbow.angle-rate`, or the joint alone if it has one coordinate. Values are numbers in base units, or
/// expressions of the model's parameters with a unit.
pub(super) fn state(
    frames: &Frames,
    parameters: &ParameterValues,
    given: &[(String, String)],
    starts: &mut Vec<JointStart>,
) -> Result<(), ModelError> {
    let mut known: Vec<(&str, Coordinate, bool)> = Vec::with_capacity(given.len());
    for (name, text) in given {
        let (joint, measured) = coordinate_named(frames, name)?;
        let place = Place::default();
        if known.contains(&(&joint.name, measured.coordinate, measured.rate)) {
            let found = format!("another time as `{name}`");
            return Err(ModelError::unsuitable(
                "the initial value of a coordinate",
                "given once",
                found,
                &place,
            ));
        }
        let value = initial_value(name, text, &measured, parameters)?;
        let of_thread = |known: &(&str, Coordinate, bool)| known.0 == joint.name && known.2 == measured.rate;
        if joint.thread.is_some() && !known.iter().any(of_thread) {
            // The model's other coordinate of the screw would follow from its own angle.
            for start in starts.iter_mut().filter(|start| start.joint == joint.name) {
                *(if measured.rate { &mut start.rate } else { &mut start.value }) = None;
            }
        }
        known.push((&joint.name, measured.coordinate, measured.rate));
        let is_same =
            |start: &JointStart| start.joint == joint.name && start.coordinate == measured.coordinate;
        let index = starts.iter().position(is_same).unwrap_or_else(|| {
            starts.push(JointStart::new(joint, measured.coordinate));
            starts.len() - 1
        });
        *(if measured.rate { &mut starts[index].rate } else { &mut starts[index].value }) =
            Some((value, place));
    }
    Ok(())
}

/// The coordinate of a joint, or its rate, that a name means.
fn coordinate_named<'f>(
    frames: &'f Frames,
    name: &str,
) -> Result<(&'f JointEntry, MeasuredCoordinate), ModelError> {
    let alone = frames.joint_named(name).and_then(|joint| match joint.coordinates {
        [(word, _)] => Some((joint, *word)),
        _ => None,
    });
    let (owner, word) = name.rsplit_once('.').unwrap_or((name, ""));
    let found = alone.or_else(|| frames.joint_named(owner).map(|joint| (joint, word)));
    let found = found.filter(|(joint, _)| !joint.is_drive);
    found.and_then(|(joint, word)| Some((joint, joint.measured(word)?))).ok_or_else(|| {
        let known: Vec<String> = frames.coordinates().map(|(name, _)| format!("`{name}`")).collect();
        let found = if known.is_empty() {
            "there is none".to_owned()
        } else {
            format!("there is {}", known.join(", "))
        };
        let requirement = format!("given for coordinates of joints and their rates ({found})");
        let found = format!("for `{name}`");
        ModelError::unsuitable("an initial value", requirement, found, &Place::default())
    })
}

/// The number that a text means.
fn initial_value(
    name: &str,
    text: &str,
    measured: &MeasuredCoordinate,
    parameters: &ParameterValues,
) -> Result<f64, ModelError> {
    let what = format!("the initial value of `{name}`");
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => return Ok(value),
        Ok(_) => return Err(ModelError::unsuitable(what, "a finite number", text, &Place::default())),
        Err(_) => {}
    }
    let dimension = if measured.coordinate.is_angle() { Dimension::ANGLE } else { Dimension::LENGTH };
    let dimension = if measured.rate { dimension.per_time() } else { dimension };
    let known = || parameters.keys().cloned().collect();
    let value_of = |name: &str| parameters.get(name).copied();
    constant_value(&Text::standalone(what, text), Some(dimension), &value_of, None, &known)
}

/// Refuses what no joint can start at, whoever states it, and completes screws: of their angle and displacement
/// the second follows from the first, with their rates.
pub(super) fn checked(frames: &Frames, starts: Vec<JointStart>) -> Result<Vec<JointStart>, ModelError> {
    let mut done: Vec<JointStart> = Vec::with_capacity(starts.len());
    for start in &starts {
        start.check()?;
        match frames.joint_named(&start.joint).and_then(|joint| Some((joint, joint.thread?))) {
            None => done.push(start.clone()),
            Some((joint, _)) if done.iter().any(|known| known.joint == joint.name) => {}
            Some((joint, thread)) => done.extend(on_thread(joint, thread, &starts)?),
        }
    }
    Ok(done)
}

impl JointStart {
    /// Nothing is stated of a coordinate yet.
    fn new(joint: &JointEntry, coordinate: Coordinate) -> Self {
        let own = joint.coordinates.iter().find(|(_, own)| *own == coordinate);
        let word = own.map_or("", |(word, _)| word);
        Self { joint: joint.name.clone(), word, coordinate, value: None, rate: None }
    }

    /// Joints move along their displacements and turn by their angles, from where half a turn is counted.
    fn check(&self) -> Result<(), ModelError> {
        let Self { joint, word, coordinate, value, rate } = self;
        let refused = |what: String, requirement: &str, found: String, place: &Place| {
            Err(ModelError::unsuitable(what, requirement, found, place))
        };
        if !(coordinate.counts_turns() || matches!(coordinate, Coordinate::Translation(_))) {
            let place = value.iter().chain(rate).map(|(_, place)| place.clone()).next().unwrap_or_default();
            let found = format!("given for `{joint}.{word}`, which the joint keeps itself");
            return refused("an initial value".into(), "given for free coordinates", found, &place);
        }
        match value {
            Some((angle, place)) if coordinate.is_angle() && angle.abs() > PI => {
                let requirement = "between −π and π: a joint starts within half a turn";
                refused(format!("`{word}` of `{joint}`"), requirement, format!("{angle} rad"), place)
            }
            _ => Ok(()),
        }
    }
}

/// A number of a model and its place.
type StatedNumber = Option<(f64, Place)>;

/// Angle and displacement of a screw, each from the other where one is stated.
fn on_thread(
    joint: &JointEntry,
    thread: Thread,
    starts: &[JointStart],
) -> Result<Vec<JointStart>, ModelError> {
    let coordinates = [Coordinate::Angle, Coordinate::Translation(2)];
    let stated = |part: fn(&JointStart) -> &StatedNumber| {
        coordinates.map(|coordinate| {
            let of = |start: &&JointStart| start.joint == joint.name && start.coordinate == coordinate;
            starts.iter().find(of).and_then(|start| part(start).clone())
        })
    };
    let from_rest = Thread { drawn: [0.0; 2], ..thread };
    let values = both(&joint.name, "displacement", thread, stated(|start| &start.value))?;
    let rates = both(&joint.name, "displacement-rate", from_rest, stated(|start| &start.rate))?;
    if let [Some((angle, _)), Some((displacement, place))] = &values
        && angle.abs() > PI
    {
        let requirement = "within half a turn of the screw: the joint counts its turns from there";
        let (what, found) = (format!("`displacement` of `{}`", joint.name), format!("{displacement} m"));
        return Err(ModelError::unsuitable(what, requirement, found, place));
    }
    let starts = coordinates.into_iter().zip(values.into_iter().zip(rates));
    let starts = starts.map(|(coordinate, (value, rate))| JointStart {
        value,
        rate,
        ..JointStart::new(joint, coordinate)
    });
    Ok(starts.filter(|start| start.value.is_some() || start.rate.is_some()).collect())
}

/// Angle and displacement of a thread where one of them is stated, or their rates.
fn both(
    joint: &str,
    word: &str,
    thread: Thread,
    stated: [StatedNumber; 2],
) -> Result<[StatedNumber; 2], ModelError> {
    match stated {
        [None, None] => Ok([None, None]),
        [Some((angle, place)), None] => {
            Ok([Some((angle, place.clone())), Some((thread.displacement(angle), place))])
        }
        [None, Some((displacement, place))] => {
            Ok([Some((thread.angle(displacement), place.clone())), Some((displacement, place))])
        }
        [Some((angle, at)), Some((displacement, place))] => {
            let follows = thread.displacement(angle);
            if (displacement - follows).abs() <= SAME * follows.abs().max(thread.advance.abs()) {
                return Ok([Some((angle, at)), Some((displacement, place))]);
            }
            let requirement = format!("{follows}, which follows from the angle and `lead`");
            let what = format!("`{word}` of `{joint}`");
            let error = ModelError::unsuitable(what, requirement, displacement, &place);
            Err(error.with_hint("give one of them"))
        }
    }
}
