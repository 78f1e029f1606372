//! The sensors of a machine: the usual ones, and those that its model names.

use std::collections::HashSet;

use super::{ContactQuantity, FrameQuantity, Measurement, Sensor, SensorFrame, WrenchPart};
use crate::kinematics::Frame;
use crate::lie::{Pose, UnitQuaternion};
use crate::machine::state::same_name;
use crate::machine::{JointEntry, MachineBuilder, MeasuredCoordinate, StateSignal};
use crate::model::ModelErrors;

/// What joints and forces exert, by words.
pub(crate) const REACTIONS: &[(&str, WrenchPart)] =
    &[("force", WrenchPart::Force), ("torque", WrenchPart::Torque)];

/// What can be measured of a contact, by words.
pub(crate) const CONTACT_QUANTITIES: &[(&str, ContactQuantity)] = &[
    ("force", ContactQuantity::Force),
    ("normal-force", ContactQuantity::NormalForce),
    ("depth", ContactQuantity::Depth),
];

/// Words for the coordinates of a joint and their rates.
pub(crate) fn coordinate_names(joint: &JointEntry) -> Vec<String> {
    let single = joint.coordinates.len() == 1;
    let rate = |name: &str| if single { "rate".to_string() } else { format!("{name}-rate") };
    joint.coordinates.iter().flat_map(|(name, _)| [name.to_string(), rate(name)]).collect()
}

/// The measurement of a coordinate.
pub(crate) fn coordinate(measured: &MeasuredCoordinate) -> Measurement {
    Measurement::Coordinate {
        nodes: measured.nodes,
        frames: Box::new(measured.offsets.map(Frame::new)),
        coordinate: measured.coordinate,
        rate: measured.rate,
        unit: measured.unit,
    }
}

/// Bodies up to which each has sensors of its own when the model names none.
const MAX_WATCHED_BODIES: usize = 50;

/// The usual sensors and those of the model, each once.
pub(crate) fn all(builder: &mut MachineBuilder, usual: bool) -> Result<Vec<Sensor>, ModelErrors> {
    let mut sensors = if usual { self::usual(builder) } else { Vec::new() };
    sensors.append(builder.own_sensors());
    for state in builder.states() {
        let measures = |sensor: &&Sensor| {
            let same =
                matches!(sensor.measurement, Measurement::State { state: id, .. } if id == state.state);
            !same && sensor.channels().iter().any(|channel| channel.name == state.name)
        };
        if let Some(sensor) = sensors.iter().find(measures) {
            return Err(same_name(state, &format!("the sensor `{}`", sensor.name)).into());
        }
    }
    if usual {
        let sensor = |state: &StateSignal| Sensor {
            name: state.name.clone(),
            measurement: Measurement::State { state: state.state, unit: state.unit.clone() },
        };
        sensors.extend(builder.states().iter().map(sensor));
    }
    let mut names = HashSet::new();
    sensors.retain(|sensor| names.insert(sensor.name.clone()));
    Ok(sensors)
}

/// Positions of bodies, joint coordinates with their rates, applied forces, reactions, energies and
/// residuals.
fn usual(builder: &mut MachineBuilder) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    let watched = || builder.bodies().iter().filter(|body| !body.beam_node);
    if watched().count() + builder.beams().len() <= MAX_WATCHED_BODIES {
        let position = |name: &str, of: SensorFrame| {
            let (relative_to, axes) = (SensorFrame::default(), SensorFrame::default());
            let measurement = Measurement::Frame { quantity: FrameQuantity::Position, of, relative_to, axes };
            Sensor { name: format!("{name}.position"), measurement }
        };
        let bodies = watched().map(|body| {
            position(&body.name, SensorFrame { node: Some(body.node), offset: Pose::identity() })
        });
        sensors.extend(bodies);
        for beam in builder.beams() {
            let ends = [("start", beam.node(0)), ("end", beam.node(beam.node_count() - 1))];
            for (word, node) in ends.into_iter().filter_map(|(word, node)| Some((word, node?))) {
                if node.node.is_some() {
                    let of = SensorFrame { node: node.node, offset: node.offset };
                    sensors.push(position(&format!("{}.{word}", beam.name), of));
                }
            }
        }
        for joint in builder.joints() {
            let names = coordinate_names(joint).into_iter().map(|name| format!("{}.{name}", joint.name));
            let measured = names.filter_map(|name| builder.measured(&name).map(|measured| (name, measured)));
            sensors.extend(measured.map(|(name, it)| Sensor { name, measurement: coordinate(&it) }));
        }
        for force in builder.forces() {
            let given = [force.has_force, force.has_torque];
            let of = SensorFrame {
                node: Some(force.node),
                offset: Pose::new(UnitQuaternion::identity(), force.point),
            };
            for (&(word, part), _) in REACTIONS.iter().zip(given).filter(|(_, given)| *given) {
                let measurement = Measurement::Applied { element: force.element, part, of };
                sensors.push(Sensor { name: format!("{}.{word}", force.name), measurement });
            }
        }
        for contact in builder.contacts() {
            sensors.extend(CONTACT_QUANTITIES.iter().map(|&(word, quantity)| {
                let (elements, shown_at) = (contact.elements.clone(), contact.shown_at);
                let measurement = Measurement::Contact { elements, quantity, shown_at };
                Sensor { name: format!("{}.{word}", contact.name), measurement }
            }));
        }
        for (joint, name) in builder.constraint_names().enumerate() {
            sensors.extend(REACTIONS.iter().map(|&(word, part)| {
                let measurement = Measurement::Reaction { joint, part, axes: SensorFrame::default() };
                Sensor { name: format!("{name}.{word}"), measurement }
            }));
        }
    } else {
        builder.assume(format!(
            "with more than {MAX_WATCHED_BODIES} bodies only energies and residuals are recorded beside the sensors of the model"
        ));
    }
    sensors.push(Sensor { name: "energy".to_string(), measurement: Measurement::Energies });
    sensors.push(Sensor { name: "constraint".to_string(), measurement: Measurement::Residuals });
    sensors.push(Sensor { name: "solver".to_string(), measurement: Measurement::Solver });
    sensors
}
