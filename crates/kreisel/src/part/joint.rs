//! Joints that lock relative coordinates: `[[revolute]]`, `[[prismatic]]`, `[[universal]]`, ….
//!
//! A joint stands between a frame on its first and a frame on its second body. Markers give these frames as
//! they are; otherwise both lie on one frame of the configuration that is drawn, so that every coordinate is
//! zero there. Coordinates that are stated move the machine from the drawing.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::Rotation3;

use super::plane::{self, Stance};
use crate::dae::{Note, NoteKind};
use crate::element::SlidingMotion;
use crate::joint::{CoordinateJoint, Joint, Row, RowValues, Rows, lower_pair};
use crate::kinematics::Coordinate::{self, Angle, Distance, Translation, UniversalAngle};
use crate::kinematics::{Frame, Motion, NodeId, NodeMotion, Relative};
use crate::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use crate::machine::{
    Attachment, FrictionForm, JointEntry, JointStart, MachineBuilder, PartEntry, Prescribed, Thread,
    placement,
};
use crate::model::{
    Dimension, Key, Law, ModelError, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference,
    ValueKind,
};

pub(super) const BODIES: Key = Key::new("bodies", ValueKind::References(&[2]), Need::Required)
    .doc("The two bodies, or their markers (`crank.pin`), or `ground`; coordinates are those of the second relative to the first, the reaction is what acts on the second.");
pub(super) const POINT: Key = Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional).doc(
    "Where the joint stands, in the world at the initial configuration; needed where no marker says it.",
);
const REACTION_POINT: Key = Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
    .doc("Where the reaction is measured, in the world at the initial configuration; without it and without markers the second body's centre of mass. The motion does not depend on it.");
const ENDS: Key = Key::new("bodies", ValueKind::References(&[2]), Need::Required)
    .doc("The two bodies, or their markers (`crank.pin`), or `ground`; without a marker and `points` it ends at the centre of mass, on the ground at the origin.");
const POINTS: Key = Key::new("points", ValueKind::Matrix(Dimension::LENGTH, 2, 3), Need::Optional)
    .doc("The two ends, in the world at the initial configuration, in place of markers.");
const AXIS: Key = Key::new("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
    .doc("Direction of the joint's z axis in the world at the initial configuration; z of the markers, or of the world, if not given.");
pub(super) const NORMAL: Key = Key::new("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
    .doc("Normal of the plane (the joint's z axis) in the world at the initial configuration; z of the markers, or of the world, if not given.");
const X_AXIS: Key = Key::new("x-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
    .doc("Direction of the joint's x axis in the world at the initial configuration, as nearly as it stands at right angles to the z axis; the frame is turned the shortest way if not given.");
const FIRST_AXIS: Key = Key::new("first-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
    .doc("Axis on the first body about which the cross turns (the joint's x axis), in the world at the initial configuration; x of the markers, or of the world, if not given.");
const SECOND_AXIS: Key = Key::new("second-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
    .doc("Axis on the second body about which it turns on the cross (the joint's y axis), at right angles to the first; y of the markers, or of the world, if not given.");
const LEAD: Key = Key::new("lead", ValueKind::Number(Dimension::LENGTH), Need::Required)
    .doc("Displacement along z per turn about z; negative for a left-handed thread.");
const LENGTH: Key = Key::new("length", ValueKind::Law(Dimension::LENGTH), Need::Optional).doc(
    "Distance of the points, constant or by a law of time; that of the initial configuration if not given.",
);

/// Initial value of a coordinate.
const fn start(name: &'static str, dimension: Dimension) -> Key {
    Key::new(name, ValueKind::Number(dimension), Need::Optional)
        .doc("Initial value of the coordinate: what lies beyond the joint, seen from the ground, is moved until the joint shows it, and loops are closed. As it is drawn if not given.")
}

/// Initial rate of a coordinate.
const fn rate(name: &'static str, dimension: Dimension) -> Key {
    Key::new(name, ValueKind::Number(dimension), Need::Optional)
        .doc("Initial rate of the coordinate, a stated velocity. What the joints and the stated velocities ask for if not given.")
}

/// The same by its short name.
const fn short_rate(dimension: Dimension) -> Key {
    Key::new("rate", ValueKind::Number(dimension), Need::Optional)
        .doc("Another word for the initial rate of the only coordinate.")
}

const ANGLE: Key = start("angle", Dimension::ANGLE);
const ANGLE_RATE: Key = rate("angle-rate", Dimension::ANGULAR_SPEED);
const DISPLACEMENT: Key = start("displacement", Dimension::LENGTH);
const DISPLACEMENT_RATE: Key = rate("displacement-rate", Dimension::SPEED);
const ONLY_ANGLE_RATE: Key = short_rate(Dimension::ANGULAR_SPEED);
const ONLY_DISPLACEMENT_RATE: Key = short_rate(Dimension::SPEED);
const FIRST_ANGLE: Key = start("first-angle", Dimension::ANGLE);
const FIRST_ANGLE_RATE: Key = rate("first-angle-rate", Dimension::ANGULAR_SPEED);
const SECOND_ANGLE: Key = start("second-angle", Dimension::ANGLE);
const SECOND_ANGLE_RATE: Key = rate("second-angle-rate", Dimension::ANGULAR_SPEED);
const X: Key = start("x", Dimension::LENGTH);
const X_RATE: Key = rate("x-rate", Dimension::SPEED);
const Y: Key = start("y", Dimension::LENGTH);
const Y_RATE: Key = rate("y-rate", Dimension::SPEED);

/// A joint made of rows: all that is to be said of it.
pub struct JointKind {
    /// Its name, its words and its keys.
    pub part: PartKind,
    /// Free coordinates by name.
    pub coordinates: &'static [(&'static str, Coordinate)],
    /// Whether it holds rotations, which a point mass does not have.
    pub holds_rotation: bool,
    /// How friction follows from what it transmits.
    pub friction: Option<FrictionForm>,
    /// How it may stand in a machine that stays in a plane.
    pub stance: Stance,
    /// Its equations between frames that stand like this at the initial configuration.
    pub rows: fn(&PartReader, &Relative) -> Result<Vec<Row>, ModelErrors>,
    /// The smallest model with such a joint.
    pub sample: &'static str,
}

impl JointKind {
    /// Whether it allows no motion at all.
    fn welds(&self) -> bool {
        self.holds_rotation && self.coordinates.is_empty()
    }
}

const fn kind(name: &'static str, doc: &'static str, keys: &'static [Key]) -> PartKind {
    PartKind { name, doc, occurrence: Occurrence::Many, keys }
}

/// Every joint made of rows.
pub const JOINTS: &[JointKind] = &[
    JointKind {
        part: kind(
            "fixed",
            "No relative motion: the second body is welded to the first. Two markers are brought together; sections of beams are welded as they are drawn, at any angle.",
            &[BODIES, REACTION_POINT],
        ),
        coordinates: &[],
        holds_rotation: true,
        friction: None,
        stance: Stance::Free,
        rows: |_, _| Ok(lower_pair::fixed()),
        sample: on_body!("[[fixed]]\nname = 'joint'\nbodies = ['ground', 'arm']\n"),
    },
    JointKind {
        part: kind(
            "revolute",
            "Rotation about the joint's z axis; measures `angle`, full turns counted, and its rate `angle-rate`, for short `rate`.",
            &[BODIES, POINT, AXIS, X_AXIS, ANGLE, ANGLE_RATE, ONLY_ANGLE_RATE],
        ),
        coordinates: &[("angle", Angle)],
        holds_rotation: true,
        friction: Some(FrictionForm { motion: SlidingMotion::Along(Angle), forces: 0..3, moments: 3..5 }),
        stance: Stance::Across,
        rows: |_, _| Ok(lower_pair::revolute()),
        sample: on_body!("[[revolute]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n"),
    },
    JointKind {
        part: kind(
            "prismatic",
            "Displacement along the joint's z axis without rotation; measures `displacement` and its rate `displacement-rate`, for short `rate`.",
            &[BODIES, REACTION_POINT, AXIS, X_AXIS, DISPLACEMENT, DISPLACEMENT_RATE, ONLY_DISPLACEMENT_RATE],
        ),
        coordinates: &[("displacement", Translation(2))],
        holds_rotation: true,
        friction: Some(FrictionForm {
            motion: SlidingMotion::Along(Translation(2)),
            forces: 0..2,
            moments: 2..5,
        }),
        stance: Stance::Along,
        rows: |_, _| Ok(lower_pair::prismatic()),
        sample: on_body!("[[prismatic]]\nname = 'joint'\nbodies = ['ground', 'arm']\n"),
    },
    JointKind {
        part: kind(
            "cylindrical",
            "Rotation about and displacement along the joint's z axis; measures `angle` and `displacement` with the rates `angle-rate` and `displacement-rate`. Its torque counts about the joint's point on the second body, which slides along the axis with it: a force F across the axis after a displacement s has no moment s F there.",
            &[BODIES, POINT, AXIS, X_AXIS, ANGLE, ANGLE_RATE, DISPLACEMENT, DISPLACEMENT_RATE],
        ),
        coordinates: &[("angle", Angle), ("displacement", Translation(2))],
        holds_rotation: true,
        friction: None,
        stance: Stance::Either,
        rows: |_, _| Ok(lower_pair::cylindrical()),
        sample: on_body!("[[cylindrical]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n"),
    },
    JointKind {
        part: kind("spherical", "Rotation about a point.", &[BODIES, POINT]),
        coordinates: &[],
        holds_rotation: false,
        friction: Some(FrictionForm { motion: SlidingMotion::AllAround, forces: 0..3, moments: 0..0 }),
        stance: Stance::Free,
        rows: |_, _| Ok(lower_pair::spherical()),
        sample: on_body!("[[spherical]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n"),
    },
    JointKind {
        part: kind(
            "universal",
            "Two crossing axes at right angles, one on each body (Cardan, Hooke); measures `first-angle` of the cross on the first body and `second-angle` of the second body on the cross, with the rates `first-angle-rate` and `second-angle-rate`.",
            &[
                BODIES,
                POINT,
                FIRST_AXIS,
                SECOND_AXIS,
                FIRST_ANGLE,
                FIRST_ANGLE_RATE,
                SECOND_ANGLE,
                SECOND_ANGLE_RATE,
            ],
        ),
        coordinates: &[("first-angle", UniversalAngle(0)), ("second-angle", UniversalAngle(1))],
        holds_rotation: true,
        friction: None,
        stance: Stance::InSpace,
        rows: |_, _| Ok(lower_pair::universal()),
        sample: on_body!("[[universal]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n"),
    },
    JointKind {
        part: kind(
            "planar",
            "Displacement in a plane of the first body and rotation about its normal; measures `x`, `y` and `angle` with the rates `x-rate`, `y-rate` and `angle-rate`.",
            &[BODIES, REACTION_POINT, NORMAL, X_AXIS, X, X_RATE, Y, Y_RATE, ANGLE, ANGLE_RATE],
        ),
        coordinates: &[("x", Translation(0)), ("y", Translation(1)), ("angle", Angle)],
        holds_rotation: true,
        friction: None,
        stance: Stance::InSpace,
        rows: |_, _| Ok(lower_pair::planar()),
        sample: on_body!("[[planar]]\nname = 'joint'\nbodies = ['ground', 'arm']\n"),
    },
    JointKind {
        part: kind(
            "screw",
            "Rotation about the joint's z axis with a proportional displacement along it; measures `angle` and `displacement` with the rates `angle-rate` and `displacement-rate`.",
            &[BODIES, POINT, AXIS, X_AXIS, LEAD, ANGLE, ANGLE_RATE, DISPLACEMENT, DISPLACEMENT_RATE],
        ),
        coordinates: &[("angle", Angle), ("displacement", Translation(2))],
        holds_rotation: true,
        friction: None,
        stance: Stance::InSpace,
        rows: screw_rows,
        sample: on_body!(
            "[[screw]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\nlead = 0.1\n"
        ),
    },
    JointKind {
        part: kind(
            "distance",
            "Keeps the distance of two points, like a massless rod between ball joints; measures `length` and its rate `length-rate`, for short `rate`.",
            &[ENDS, POINTS, LENGTH],
        ),
        coordinates: &[("length", Distance)],
        holds_rotation: false,
        friction: None,
        stance: Stance::Whole,
        rows: distance_rows,
        sample: on_body!("[[distance]]\nname = 'joint'\nbodies = ['ground', 'arm']\n"),
    },
    JointKind {
        part: kind(
            "point-on-line",
            "Keeps a point of the second body on the joint's z axis, which moves with the first; measures `displacement` and its rate `displacement-rate`, for short `rate`.",
            &[BODIES, POINT, AXIS, X_AXIS, DISPLACEMENT, DISPLACEMENT_RATE, ONLY_DISPLACEMENT_RATE],
        ),
        coordinates: &[("displacement", Translation(2))],
        holds_rotation: false,
        friction: None,
        stance: Stance::Either,
        rows: |_, _| Ok(lower_pair::point_on_line()),
        sample: on_body!(
            "[[point-on-line]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [1, 0, 0]\n"
        ),
    },
    JointKind {
        part: kind(
            "point-on-plane",
            "Keeps a point of the second body in a plane of the first; measures `x` and `y` with the rates `x-rate` and `y-rate`.",
            &[BODIES, POINT, NORMAL, X_AXIS, X, X_RATE, Y, Y_RATE],
        ),
        coordinates: &[("x", Translation(0)), ("y", Translation(1))],
        holds_rotation: false,
        friction: None,
        stance: Stance::Along,
        rows: |_, _| Ok(lower_pair::point_on_plane()),
        sample: on_body!(
            "[[point-on-plane]]\nname = 'joint'\nbodies = ['ground', 'arm']\npoint = [1, 0, 0]\n"
        ),
    },
];

/// The joints of [`JOINTS`] as parts.
pub static PARTS: &[PartEntry] = &{
    let mut parts = [entry(&JOINTS[0]); JOINTS.len()];
    let mut index = 1;
    while index < parts.len() {
        parts[index] = entry(&JOINTS[index]);
        index += 1;
    }
    parts
};

const fn entry(joint: &'static JointKind) -> PartEntry {
    PartEntry::new(&joint.part, &add_row_joint, joint.sample)
}

/// The displacement of a screw follows its angle from where both begin.
fn screw_rows(reader: &PartReader, initial: &Relative) -> Result<Vec<Row>, ModelErrors> {
    let start = [Translation(2), Angle].map(|coordinate| coordinate.value(initial, 0.0));
    let lead = reader.number("lead")?;
    if lead == 0.0 {
        let error = reader.unsuitable("lead", "another number", lead);
        return Err(error.with_hint("a `[[revolute]]` turns without advancing").into());
    }
    Ok(lower_pair::screw(lead, start))
}

/// The distance of the initial configuration, or the given one.
fn distance_rows(reader: &PartReader, initial: &Relative) -> Result<Vec<Row>, ModelErrors> {
    let apart = initial.displacement.norm();
    let Some(law) = reader.optional_law("length")? else {
        // Closer than a millionth of a micrometre the line between the points has no direction.
        if apart > 1e-12 {
            return Ok(lower_pair::distance(apart));
        }
        let error = reader.unsuitable("bodies", "joined at two points that lie apart", "at one point");
        return Err(error.with_hint("a `[[spherical]]` keeps two points together").into());
    };
    match law {
        Law::Constant(length) if length > 0.0 => Ok(lower_pair::distance(length)),
        Law::Constant(length) => Err(reader.unsuitable("length", "positive", length).into()),
        law => Ok(vec![Row::lead(Distance, Arc::new(law))]),
    }
}

fn add_row_joint(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let kind = JOINTS.iter().find(|kind| kind.part.name == part.kind().name);
    add(kind.expect("only parts of the table are added so"), part, builder)
}

/// Adds a joint of a kind.
pub fn add(kind: &'static JointKind, part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (references, sides) = two_bodies(&reader, builder)?;
    if kind.holds_rotation {
        refuse_point_masses(&reader, builder, &references, &sides)?;
    }
    let nodes = sides.map(|side| side.node);
    let offsets = if kind.part.keys.contains(&POINTS) {
        let offsets = ends(&reader, &references, &sides)?;
        let [first, second] = [0, 1].map(|side| sides[side].body.transform_point(&offsets[side].position));
        builder.frames_mut().add_length((second - first).norm());
        offsets
    } else {
        match kind.welds().then(|| welded_as_drawn(builder, part.name(), &references, &sides)).flatten() {
            Some(offsets) => offsets,
            None => frames(&reader, &kind.part, &sides)?,
        }
    };
    if kind.part.keys.contains(&LENGTH)
        && let Some(law) = reader.optional_law("length")?
    {
        builder.prescribe(&reader, "length", Prescribed::Length, &law)?;
    }
    let bodies = sides.map(|side| side.body);
    let initial = initial_relative(bodies, offsets);
    let mut rows = (kind.rows)(&reader, &initial)?;
    let mut friction = kind.friction.clone();
    let mut frames = offsets;
    if let Some(flat) = plane::flat(&reader, builder, kind.stance, bodies, offsets)? {
        friction = friction.map(|form| form.of_rows_left(&rows, |row| flat.keeps(row)));
        rows.retain(|row| flat.keeps(row));
        frames = flat.offsets;
    }
    let mut joint = CoordinateJoint::between(nodes, frames, rows);
    builder.share_rows(&mut joint);
    warn_of_misfit(builder, part.name(), &joint);
    let entry = JointEntry::new(part, nodes, offsets);
    let drawn = [Angle, Translation(2)].map(|coordinate| coordinate.value(&initial, 0.0));
    let thread = match kind.part.keys.contains(&LEAD) {
        true => Some(Thread { advance: reader.number("lead")? / TAU, drawn }),
        false => None,
    };
    builder.add_joint(joint, JointEntry { coordinates: kind.coordinates, friction, thread, ..entry });
    for start in initial_coordinates(kind, &reader, part.name())? {
        builder.start_joint(start);
    }
    reader.finish()
}

/// What is stated of the coordinates of a joint.
fn initial_coordinates(
    kind: &JointKind,
    reader: &PartReader,
    name: &str,
) -> Result<Vec<JointStart>, ModelErrors> {
    // The length of a distance joint is its own condition, whether the file draws it so or not.
    if kind.part.keys.contains(&LENGTH) {
        return Ok(Vec::new());
    }
    let mut starts = Vec::new();
    for &(word, coordinate) in kind.coordinates {
        let value = reader.optional_number(word)?;
        let (long, mut rate_key) = (format!("{word}-rate"), format!("{word}-rate"));
        let mut rate = reader.optional_number(&long)?;
        if let ([_], Some(short)) = (kind.coordinates, short_rate_of(kind, reader)?) {
            if rate.is_some() {
                return Err(reader
                    .ambiguous(&[&long, "rate"], "both are given")
                    .at(reader.place_of("rate"))
                    .into());
            }
            (rate, rate_key) = (Some(short), "rate".to_string());
        }
        if value.is_some() || rate.is_some() {
            let at = |key: &str| reader.place_of(key).clone();
            starts.push(JointStart {
                joint: name.to_string(),
                word,
                coordinate,
                value: value.map(|value| (value, at(word))),
                rate: rate.map(|rate| (rate, at(&rate_key))),
            });
        }
    }
    Ok(starts)
}

/// `rate`, where a joint knows it.
fn short_rate_of(kind: &JointKind, reader: &PartReader) -> Result<Option<f64>, ModelErrors> {
    let known = kind.part.keys.iter().any(|key| key.name == "rate");
    if known { reader.optional_number("rate") } else { Ok(None) }
}

/// One frame for both sides of a weld to a section of a beam: the marker on the other side, or the second
/// section.
///
/// A section has the axes that its beam gives it, not axes that somebody chose for this weld.
fn welded_as_drawn(
    builder: &mut MachineBuilder,
    name: &str,
    references: &[Reference],
    sides: &[Attachment; 2],
) -> Option<[Pose; 2]> {
    let is_section = [0, 1].map(|side| builder.frames().beam_section(&references[side].name).is_some());
    let chosen = match is_section {
        [false, false] => return None,
        [false, true] => 0,
        _ => 1,
    };
    let [first, second] = sides.map(|side| side.marker.map(|marker| side.body.compose(&marker)));
    let distance = (second?.position - first?.position).norm();
    if distance > MISFIT {
        let [one, other] = [0, 1].map(|side| &references[side].name);
        let text = format!(
            "`{name}` joins `{one}` and `{other}` as they are drawn, {distance:.3e} m apart, like a rigid arm"
        );
        builder.note(Note::new(NoteKind::Misfit, text).about(name).number(distance));
    }
    let common = [first?, second?][chosen];
    Some(sides.map(|side| side.offset_of(&common)))
}

/// The two different bodies of `bodies`, or what stands for them.
pub(super) fn two_bodies(
    reader: &PartReader,
    builder: &MachineBuilder,
) -> Result<(Vec<Reference>, [Attachment; 2]), ModelErrors> {
    let references = reader.references("bodies")?;
    let sides = [builder.attachment(&references[0])?, builder.attachment(&references[1])?];
    if sides[0].node == sides[1].node {
        return Err(same_body(reader, &references).into());
    }
    Ok((references, sides))
}

/// The error of what would act between a body and itself.
pub(super) fn same_body(reader: &PartReader, references: &[Reference]) -> ModelError {
    let found = format!("`{}` and `{}`", references[0].name, references[1].name);
    reader.unsuitable("bodies", "two different bodies", found)
}

/// A point mass cannot turn, so that a joint that holds rotations has nothing to hold.
pub(super) fn refuse_point_masses(
    reader: &PartReader,
    builder: &MachineBuilder,
    references: &[Reference],
    sides: &[Attachment; 2],
) -> Result<(), ModelErrors> {
    let cannot_turn = |side: &Attachment| side.node.is_some_and(|node| builder.frames().is_point_mass(node));
    match references.iter().zip(sides).find(|(_, side)| cannot_turn(side)) {
        None => Ok(()),
        Some((reference, _)) => {
            let found = format!("the point mass `{}`, which has no orientation", reference.name);
            let error = reader.unsuitable("bodies", "bodies that can turn", found);
            Err(error.with_hint("use a spherical joint, or a body with an inertia").into())
        }
    }
}

/// Misfit in m or rad from which a user is told that bodies are moved at the start: rounded input stays
/// below.
const MISFIT: f64 = 1e-6;

/// Warns if equations do not hold at the initial configuration; the start then moves the bodies until they
/// do.
pub(super) fn warn_of_misfit(builder: &mut MachineBuilder, name: &str, joint: &impl Joint) {
    let facts = joint.facts();
    let at_start = |node: &NodeId| NodeMotion::at_rest(builder.frames().initial_pose(Some(*node)));
    let nodes: Vec<NodeMotion> = facts.nodes.iter().map(at_start).collect();
    let (memory, mut violation) = (vec![0.0; facts.memory], vec![0.0; facts.rows]);
    let motion = Motion { memory: &memory, ..Motion::new(builder.settings().start_time, &nodes) };
    let asked = RowValues { violation: Some(&mut violation), ..RowValues::default() };
    joint.evaluate(&motion, &mut Rows { holonomic: asked, ..Rows::default() });
    let largest = violation.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > MISFIT {
        let text = format!(
            "`{name}` does not fit the initial configuration: it is off by {largest:.3e} (m or rad), and bodies are moved at the start until it holds"
        );
        builder.note(Note::new(NoteKind::Misfit, text).about(name).number(largest));
    }
}

/// The second frame relative to the first at the initial configuration, without velocities.
pub(super) fn initial_relative(bodies: [Pose; 2], offsets: [Pose; 2]) -> Relative {
    let [first, second] = bodies.map(NodeMotion::at_rest);
    Relative::new(&offsets.map(Frame::new), [&first, &second])
}

/// Frames of a joint in body axes: markers as they are, otherwise a common frame at the initial
/// configuration.
pub(super) fn frames(
    reader: &PartReader,
    kind: &PartKind,
    sides: &[Attachment; 2],
) -> Result<[Pose; 2], ModelErrors> {
    let markers = sides.map(|side| side.marker.map(|marker| side.body.compose(&marker)));
    let positions = match markers {
        [Some(first), Some(second)] => [first.position, second.position],
        [Some(marker), None] | [None, Some(marker)] => [marker.position; 2],
        [None, None] => [joint_point(reader, kind, sides)?; 2],
    };
    let rotations = match (common_rotation(reader, kind)?, markers) {
        (Some(rotation), _) => [rotation; 2],
        (None, [Some(first), Some(second)]) => [first.rotation, second.rotation],
        (None, [Some(marker), None] | [None, Some(marker)]) => [marker.rotation; 2],
        (None, [None, None]) => [placement(reader).rotation; 2],
    };
    Ok(std::array::from_fn(|side| sides[side].offset_of(&Pose::new(rotations[side], positions[side]))))
}

/// `point` in the world of the model; where the motion does not depend on it, a body's centre of mass will
/// do.
fn joint_point(
    reader: &PartReader,
    kind: &PartKind,
    sides: &[Attachment; 2],
) -> Result<Vector3, ModelErrors> {
    if let Some(point) = reader.optional_vector3("point")? {
        return Ok(placement(reader).transform_point(&point));
    }
    if kind.keys.contains(&REACTION_POINT) {
        let body = if sides[1].node.is_some() { &sides[1] } else { &sides[0] };
        return Ok(body.body.position);
    }
    Err(reader.missing("point", "or name a marker in `bodies`, such as `crank.pin`").into())
}

/// Orientation of the joint in the world of the model, if the keys say one.
fn common_rotation(reader: &PartReader, kind: &PartKind) -> Result<Option<UnitQuaternion>, ModelErrors> {
    let rotation = if kind.keys.contains(&FIRST_AXIS) {
        cross_rotation(reader)?
    } else if kind.keys.iter().any(|key| key.name == X_AXIS.name) {
        axis_rotation(reader)?
    } else {
        None
    };
    Ok(rotation.map(|rotation| placement(reader).rotation * rotation))
}

/// z along `axis`, x as nearly along `x-axis` as it can be.
fn axis_rotation(reader: &PartReader) -> Result<Option<UnitQuaternion>, ModelErrors> {
    let (axis, wish) = (reader.optional_direction("axis")?, reader.optional_direction("x-axis")?);
    let (z, wish) = match (axis, wish) {
        (None, None) => return Ok(None),
        (Some(axis), None) => return Ok(Some(turn_z_to(&axis))),
        (axis, Some(wish)) => (axis.unwrap_or_else(Vector3::z), wish),
    };
    let x = wish - z * z.dot(&wish);
    // Six digits of the direction are gone below: no direction that anybody meant.
    reader.require(x.norm() >= 1e-6, "x-axis", "a direction other than the z axis", "parallel to it")?;
    let x = x.normalize();
    Ok(Some(from_axes(x, z.cross(&x), z)))
}

/// x along `first-axis` and y along `second-axis`.
fn cross_rotation(reader: &PartReader) -> Result<Option<UnitQuaternion>, ModelErrors> {
    let given = reader.has("first-axis") || reader.has("second-axis");
    if !given {
        return Ok(None);
    }
    let (x, y) = (reader.direction("first-axis")?, reader.direction("second-axis")?);
    let cosine = x.dot(&y);
    // Four digits are often copied from elsewhere; what is left is removed.
    if cosine.abs() > 1e-3 {
        let found = format!("at {:.4}°", cosine.clamp(-1.0, 1.0).acos().to_degrees());
        return Err(reader.unsuitable("second-axis", "at right angles to `first-axis`", found).into());
    }
    let y = (y - x * cosine).normalize();
    Ok(Some(from_axes(x, y, x.cross(&y))))
}

fn from_axes(x: Vector3, y: Vector3, z: Vector3) -> UnitQuaternion {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, z])))
}

/// The shortest rotation that takes z to a direction.
pub(super) fn turn_z_to(axis: &Vector3) -> UnitQuaternion {
    UnitQuaternion::rotation_between(&Vector3::z(), axis)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI))
}

/// Frames at the two points of a distance joint, with z along the line between them.
fn ends(
    reader: &PartReader,
    references: &[Reference],
    sides: &[Attachment; 2],
) -> Result<[Pose; 2], ModelErrors> {
    let placement = placement(reader);
    let given = reader.optional_matrix("points")?;
    let mut points = [Vector3::zeros(); 2];
    for (side, point) in points.iter_mut().enumerate() {
        let Attachment { node, body, marker } = sides[side];
        *point = match (marker, &given) {
            (Some(_), Some(_)) => {
                let found = format!("beside the marker `{}`", references[side].name);
                return Err(reader.unsuitable("points", "given only where no marker is named", found).into());
            }
            (Some(marker), None) => body.transform_point(&marker.position),
            (None, Some(rows)) => {
                placement.transform_point(&rows.row(side).transpose().fixed_rows::<3>(0).into())
            }
            (None, None) if node.is_some() => body.position,
            // The ground of an included file is where the file is placed.
            (None, None) => placement.position,
        };
    }
    let along = (points[1] - points[0]).try_normalize(0.0).unwrap_or_else(Vector3::z);
    let rotation = turn_z_to(&along);
    Ok(std::array::from_fn(|side| sides[side].offset_of(&Pose::new(rotation, points[side]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coordinate_and_its_rate_can_be_given_at_the_start() {
        for joint in JOINTS {
            let has = |name: &str| joint.part.keys.iter().any(|key| key.name == name);
            for (word, _) in joint.coordinates.iter().filter(|(_, coordinate)| *coordinate != Distance) {
                assert!(has(word) && has(&format!("{word}-rate")), "{} {word}", joint.part.name);
                assert_eq!(has("rate"), joint.coordinates.len() == 1, "{}", joint.part.name);
            }
        }
    }
}
