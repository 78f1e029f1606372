//! `[[drive]]`: motion as a function of time, of a joint's coordinate, of a point or of a whole body.

use std::sync::Arc;

use super::joint::warn_of_misfit;
use super::joint_coordinate::{CoordinateChoice, joint_coordinate};
use crate::integrate::Words;
use crate::joint::{CoordinateJoint, Guide, GuidedBody, Joint, Row, TimeLaw, Turn};
use crate::kinematics::{Coordinate, NodeId};
use crate::lie::{Pose, Vector3};
use crate::machine::sensor::AppliedPower;
use crate::machine::{JointEntry, MachineBuilder, PartEntry, Prescribed, Rank, placement};
use crate::model::error::{Mistake, ModelError};
use crate::model::{
    Dimension, Key, Law, LawValue, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind, name,
};

impl TimeLaw for Law {
    fn at(&self, time: f64) -> [f64; 3] {
        let LawValue { value, rate, acceleration } = self.evaluate(time);
        [value, rate, acceleration]
    }

    fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        Law::corners(self, from, to)
    }
}

/// Keys that say what is driven: one of them is given.
const DRIVEN: &[&str] = &["joint", "point", "body"];

/// Sequences of Euler angles.
const SEQUENCES: &[&str] =
    &["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"];

/// Keys of `[[drive]]`.
static KIND: PartKind = PartKind {
    name: "drive",
    doc: "Leads a joint's coordinate, the path of a point or the whole motion of a body by laws of time; its reaction is what the drive must exert, and it measures the `power` of that.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("joint", ValueKind::Reference, Need::Optional)
            .doc("The joint that is driven; with the coordinate after a dot (`table.x`) where `angle` or `displacement` could mean several."),
        Key::new("point", ValueKind::Reference, Need::Optional)
            .doc("The marker or body (its centre of mass) that is led along `path`."),
        Key::new("body", ValueKind::Reference, Need::Optional)
            .doc("The body that is led in all six coordinates: its centre of mass along `path`, its rotation by `axis` and `angle` or by `euler`; what is not given stays as it is initially."),
        Key::new("angle", ValueKind::Law(Dimension::ANGLE), Need::Optional)
            .doc("Angle of the joint, or of the body's turn about `axis` from its initial orientation; any number of turns."),
        Key::new("displacement", ValueKind::Law(Dimension::LENGTH), Need::Optional)
            .doc("Displacement of the joint."),
        Key::new("path", ValueKind::Law3(Dimension::LENGTH), Need::Optional)
            .doc("Coordinates of the point in the world."),
        Key::new("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Axis in the world about which the body turns; z if not given."),
        Key::new("euler", ValueKind::Law3(Dimension::ANGLE), Need::Optional)
            .doc("Three angles of turns from the initial orientation, about axes that are those of the world at first, not of the body, and are each carried along by the turns before: with `sequence = \"zxz\"` and `[a, b, c]` the body's rotation is Rz(a) Rx(b) Rz(c) times the initial one."),
        Key::new("sequence", ValueKind::Choice(SEQUENCES), Need::Optional)
            .doc("Axes of the Euler angles, first turn first."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_hinge!("[[drive]]\nname = 'motor'\njoint = 'hinge'\nangle = 't'\n"))];

/// Adds a drive.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let driven: Vec<&str> = DRIVEN.iter().copied().filter(|key| reader.has(key)).collect();
    if let (Some(plane), Some(key)) = (builder.settings().plane(), driven.iter().find(|key| **key != "joint"))
    {
        let found = "what is led in space";
        let error =
            reader.unsuitable(key, &format!("a joint of the machine in the plane {}", plane.word()), found);
        return Err(error.with_hint("drive a `joint`, such as a slide to the ground").into());
    }
    match driven.as_slice() {
        ["joint"] => drive_joint(&reader, part, builder)?,
        ["point"] => drive_point(&reader, part, builder)?,
        ["body"] => drive_body(&reader, part, builder)?,
        given => return Err(ambiguous(&reader, DRIVEN, given).into()),
    }
    reader.finish()
}

/// Explains a law that wants to follow a state or a measured quantity.
fn law_of_time<T>(law: Result<T, ModelErrors>) -> Result<T, ModelErrors> {
    law.map_err(|errors| {
        errors.map(|error| match error.mistake() {
            Mistake::UnknownName { name, .. } if name.contains('.') => error.with_hint(
                "a drive prescribes a motion whose rate and acceleration must be known in advance: it is a law of `t` alone. \
                 States and measured quantities can act through a force: use `[[joint-force]]`, for instance with a `[[pid]]` \
                 whose error is the wanted value less the joint's",
            ),
            _ => error,
        })
    })
}

/// The error of none or several of some keys.
fn ambiguous(reader: &PartReader, choices: &[&str], given: &[&str]) -> ModelError {
    let found = match given {
        [] => "none is given".to_string(),
        given => format!("{} are given", name::list(given)),
    };
    reader.ambiguous(choices, found)
}

/// A drive is kept among the joints, so that its reaction can be measured.
fn keep(
    builder: &mut MachineBuilder,
    part: &Part,
    joint: impl Joint + 'static,
    nodes: [Option<NodeId>; 2],
    offsets: [Pose; 2],
) {
    warn_of_misfit(builder, part.name(), &joint);
    let index =
        builder.add_joint(joint, JointEntry { is_drive: true, ..JointEntry::new(part, nodes, offsets) });
    builder.signals_mut().offer(Rank::OnDemand, AppliedPower::Joint(index).named(part.name()));
}

fn drive_joint(reader: &PartReader, part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reference = reader.reference("joint")?;
    let choices = ["angle", "displacement"];
    let (key, wanted) = match choices.map(|key| reader.has(key)) {
        [true, false] => ("angle", CoordinateChoice::Angle),
        [false, true] => ("displacement", CoordinateChoice::Displacement),
        given => {
            let given = if given[0] { choices.as_slice() } else { &[] };
            return Err(ambiguous(reader, &choices, given).into());
        }
    };
    let law = law_of_time(reader.law(key))?;
    let quantity = if key == "angle" { Prescribed::Angle } else { Prescribed::Length };
    builder.prescribe(reader, key, quantity, &law)?;
    let (joint, coordinate) = joint_coordinate(reader, builder, &reference, wanted)?;
    let (nodes, offsets) = (joint.nodes, joint.offsets);
    let led = CoordinateJoint::between(nodes, offsets, vec![Row::lead(coordinate, Arc::new(law))]);
    keep(builder, part, led, nodes, offsets);
    Ok(())
}

fn drive_point(reader: &PartReader, part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let at = builder.attachment(&reader.reference("point")?)?;
    reader.require(at.node.is_some(), "point", "a point of a body", "one of the ground")?;
    let path = law_of_time(reader.law3("path"))?;
    path.iter().try_for_each(|law| builder.prescribe(reader, "path", Prescribed::Length, law))?;
    let rows = path.into_iter().enumerate();
    let rows = rows.map(|(axis, law)| Row::lead(Coordinate::Translation(axis), Arc::new(law))).collect();
    // The path is given in axes of the part's file, which may be placed anywhere.
    let (nodes, offsets) = ([None, at.node], [placement(reader), at.marker.unwrap_or_default()]);
    keep(builder, part, CoordinateJoint::between(nodes, offsets, rows), nodes, offsets);
    Ok(())
}

fn drive_body(reader: &PartReader, part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let body = builder.frames().body(&reader.reference("body")?)?;
    let (node, pose) = (body.node, body.pose);
    let base = placement(reader);
    let path: [Arc<dyn TimeLaw>; 3] = match law_of_time(reader.optional_law3("path"))? {
        Some(path) => {
            path.iter().try_for_each(|law| builder.prescribe(reader, "path", Prescribed::Length, law))?;
            path.map(|law| Arc::new(law) as Arc<dyn TimeLaw>)
        }
        None => {
            let position = base.inverse().transform_point(&pose.position);
            [position.x, position.y, position.z].map(|x| Arc::new(Law::Constant(x)) as Arc<dyn TimeLaw>)
        }
    };
    let turns = turns(reader, builder, &base)?;
    let guide = Guide { base, path, turns, rotation: pose.rotation };
    let (nodes, offsets) = ([None, Some(node)], [pose, Pose::identity()]);
    keep(builder, part, GuidedBody::new(node, guide), nodes, offsets);
    Ok(())
}

/// The turns of a body, about axes in the world of the model.
fn turns(reader: &PartReader, builder: &mut MachineBuilder, base: &Pose) -> Result<Vec<Turn>, ModelErrors> {
    let mut prescribe = |key: &str, law: &Law| builder.prescribe(reader, key, Prescribed::Angle, law);
    let turn =
        |axis: Vector3, angle: Law| Turn { axis: base.transform_vector(&axis), angle: Arc::new(angle) };
    match ["angle", "euler"].map(|key| reader.has(key)) {
        [true, true] => Err(ambiguous(reader, &["angle", "euler"], &["angle", "euler"]).into()),
        [true, false] => {
            let axis = reader.optional_direction("axis")?.unwrap_or_else(Vector3::z);
            let law = law_of_time(reader.law("angle"))?;
            prescribe("angle", &law)?;
            Ok(vec![turn(axis, law)])
        }
        [false, true] => {
            let sequence = reader.choice("sequence")?;
            let axes = sequence.chars().map(|letter| match letter {
                'x' => Vector3::x(),
                'y' => Vector3::y(),
                _ => Vector3::z(),
            });
            let laws = law_of_time(reader.law3("euler"))?;
            laws.iter().try_for_each(|law| prescribe("euler", law))?;
            Ok(axes.zip(laws).map(|(axis, law)| turn(axis, law)).collect())
        }
        [false, false] => Ok(Vec::new()),
    }
}
