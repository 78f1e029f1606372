//! `[[rolling]]`: a disc or sphere that rolls on a plane without slipping.

use super::joint::{BODIES, refuse_point_masses, turn_z_to, two_bodies};
use crate::joint::{Joint, Rolling, RowValues, Rows, Wheel};
use crate::kinematics::{Motion, NodeId, NodeMotion, Relative};
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::sensor::{NamedSensor, Reading, Sensor, SensorFrame, xyz};
use crate::machine::{Attachment, JointEntry, MachineBuilder, PartEntry, Rank, placement};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference, ValueKind,
};
use crate::results::Channel;

/// Words for what rolls.
const SHAPES: &[&str] = &["disc", "sphere"];

/// Keys of `[[rolling]]`.
static KIND: PartKind = PartKind {
    name: "rolling",
    doc: "A thin disc or a sphere of the second body rolls without slipping on a plane of the first, and never leaves it. The force is that of the plane on the wheel, the torque is taken about the wheel's centre. `contact-point` is where it touches, in the world.",
    occurrence: Occurrence::Many,
    keys: &[
        BODIES,
        Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Required)
            .doc("Radius of the wheel about its centre: the second body's marker, or its centre of mass."),
        Key::new("shape", ValueKind::Choice(SHAPES), Need::Default("\"disc\""))
            .doc("What rolls: `disc` or `sphere`."),
        Key::new("wheel-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Axis of a disc in the world at the initial configuration; z of the second body's marker, or of the body, if not given."),
        Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("A point of the plane, in the world at the initial configuration; the origin of the first body's marker, or of the ground, if not given."),
        Key::new("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Normal of the plane, towards the wheel, in the world at the initial configuration; z of the first body's marker, or of the world, if not given."),
    ],
};

/// Distance from the plane, in radii, that is rounding of the input.
const ROUNDING: f64 = 1e-6;
/// Sine of the angle between disc and plane below which a disc lies flat: less than the rounding of an
/// orientation that is typed.
const FLAT: f64 = 1e-6;

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[rolling]]\nname = 'wheel'\nbodies = ['ground', 'arm']\nshape = 'sphere'\nradius = 1\n\
         point = [0, 0, -1]\n"
    ),
)
.spatial()];

/// Adds a rolling wheel.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (references, sides) = two_bodies(&reader, builder)?;
    if sides[1].node.is_none() {
        let error =
            reader.unsuitable("bodies", "a plane and then a wheel that can move", "the ground second");
        return Err(error.with_hint("name the plane first: bodies = [\"ground\", \"wheel\"]").into());
    }
    refuse_point_masses(&reader, builder, &references, &sides)?;
    let radius = reader.positive("radius")?;
    let wheel = if reader.choice("shape")? == "sphere" { Wheel::Sphere } else { Wheel::Disc };
    let frames = [plane(&reader, &sides[0])?, wheel_frame(&reader, wheel, &sides[1])?];
    let offsets = [sides[0].offset_of(&frames[0]), sides[1].offset_of(&frames[1])];
    let nodes = sides.map(|side| side.node);
    let joint = Rolling::new(nodes, offsets, wheel, radius);
    refuse_gap(&reader, &references, &sides, &frames, wheel, &joint, radius)?;
    builder.frames_mut().add_length(radius);
    let limit: Option<fn(&Relative, f64) -> Option<String>> = match wheel {
        Wheel::Disc => Some(falls_flat),
        Wheel::Sphere => None,
    };
    let plane = SensorFrame { node: nodes[0], offset: offsets[0] };
    let touch = ContactPoint { joint: joint.clone(), plane, wheel: nodes[1] };
    let sensor = NamedSensor::new(format!("{}.contact-point", part.name()), touch);
    builder.signals_mut().offer(Rank::Contact, sensor);
    builder.add_joint(joint, JointEntry { limit, ..JointEntry::new(part, nodes, offsets) });
    reader.finish()
}

/// Shows where a wheel touches, in the world.
struct ContactPoint {
    joint: Rolling,
    plane: SensorFrame,
    wheel: Option<NodeId>,
}

impl Sensor for ContactPoint {
    fn channels(&self) -> Vec<Channel> {
        xyz("m")
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        let nodes = [self.plane.node, self.wheel].map(|node| at.node(node));
        // The ground is no node of the joint.
        let moving = &nodes[usize::from(self.plane.node.is_none())..];
        let point = self.joint.contact_point(&Motion::new(at.point.time, moving));
        let plane = nodes[0].pose.compose(&self.plane.offset);
        out.extend_from_slice(plane.transform_point(&point).as_slice());
    }
}

/// Sine of the angle to the plane below which a failed step is put down to a disc that falls flat. A choice:
/// six degrees are near enough to name the disc, and the words give the angle.
const NEARLY_FLAT: f64 = 0.1;

/// Says that a disc lies flat, or will within a moment.
fn falls_flat(relative: &Relative, moment: f64) -> Option<String> {
    let sine = relative.rotation[(2, 0)].hypot(relative.rotation[(2, 1)]);
    // n_z is the cosine of the angle.
    // Against division by zero: below it the disc is flat anyway.
    let turn = moment * (relative.direction_gradient(2, 2).dot(&relative.twist()) / sine.max(1e-9)).abs();
    (sine < NEARLY_FLAT.max(2.0 * turn)).then(|| {
        format!(
            "the disc falls flat, {:.2}° from the plane and turning by {:.2}° in a step: flat it would touch with its whole rim, \
             and a disc that rolls on one point has no motion beyond. End the run by an event before that, take smaller steps to \
             come closer, or model the rim by a `[[contact]]`",
            sine.min(1.0).asin().to_degrees(),
            turn.to_degrees()
        )
    })
}

/// The plane's frame in the world of the initial configuration: z along the normal.
pub(super) fn plane(reader: &PartReader, side: &Attachment) -> Result<Pose, ModelErrors> {
    let marker = side.marker.map(|marker| side.body.compose(&marker));
    let position = match (reader.optional_vector3("point")?, marker) {
        (Some(point), _) => placement(reader).transform_point(&point),
        (None, Some(marker)) => marker.position,
        (None, None) if side.node.is_none() => placement(reader).position,
        (None, None) => {
            let hint = "say where the plane of the first body lies, or name a marker on it";
            return Err(reader.missing("point", hint).into());
        }
    };
    let rotation = match (reader.optional_direction("axis")?, marker) {
        (Some(axis), _) => placement(reader).rotation * turn_z_to(&axis),
        (None, Some(marker)) => marker.rotation,
        (None, None) => placement(reader).rotation,
    };
    Ok(Pose::new(rotation, position))
}

/// The wheel's frame in the world of the initial configuration: z along a disc's axis.
fn wheel_frame(reader: &PartReader, wheel: Wheel, side: &Attachment) -> Result<Pose, ModelErrors> {
    // A sphere has no axis: the key would be unused, and the reader says so.
    match wheel {
        Wheel::Disc => axle(reader, side),
        Wheel::Sphere => Ok(side.body.compose(&side.marker.unwrap_or_default())),
    }
}

/// A frame in the world of the initial configuration at the wheel's centre: z along `wheel-axis`.
pub(super) fn axle(reader: &PartReader, side: &Attachment) -> Result<Pose, ModelErrors> {
    let own = side.body.compose(&side.marker.unwrap_or_default());
    let axis = reader.optional_direction("wheel-axis")?;
    let rotation =
        axis.map_or(own.rotation, |axis| -> UnitQuaternion { placement(reader).rotation * turn_z_to(&axis) });
    Ok(Pose::new(rotation, own.position))
}

/// A wheel that does not touch at the start is a mistake: nothing says how it should come to the plane.
fn refuse_gap(
    reader: &PartReader,
    references: &[Reference],
    sides: &[Attachment; 2],
    frames: &[Pose; 2],
    wheel: Wheel,
    joint: &Rolling,
    radius: f64,
) -> Result<(), ModelErrors> {
    let normal: Vector3 = frames[0].transform_vector(&Vector3::z());
    let axis: Vector3 = frames[1].transform_vector(&Vector3::z());
    if wheel == Wheel::Disc && normal.cross(&axis).norm() < FLAT {
        let found = format!("`{}` flat on it, touching with its whole rim", references[1].name);
        let error = reader.unsuitable("bodies", "a disc that stands on the plane", found);
        return Err(error.with_hint("tilt the disc, or give its axis by `wheel-axis`").into());
    }
    let moving = sides.iter().filter(|side| side.node.is_some());
    let nodes: Vec<NodeMotion> = moving.map(|side| NodeMotion::at_rest(side.body)).collect();
    let mut gap = [0.0_f64];
    let asked = RowValues { violation: Some(&mut gap), ..RowValues::default() };
    joint.evaluate(&Motion::new(0.0, &nodes), &mut Rows { holonomic: asked, ..Rows::default() });
    let [gap] = gap;
    if gap.abs() <= ROUNDING * radius {
        return Ok(());
    }
    let name = &references[1].name;
    let found = match gap > 0.0 {
        true => format!("`{name}` {:.6} m above it", gap),
        false => format!("`{name}` {:.6} m below it", -gap),
    };
    let centre = frames[1].position - gap * normal;
    // Minus zero would look like a mistake of ours.
    let [x, y, z] = [centre.x, centre.y, centre.z].map(|value| (value * 1e9).round() / 1e9 + 0.0);
    let hint = format!("move its centre to [{x}, {y}, {z}], or change `radius`");
    let error = reader.unsuitable("bodies", "a wheel that touches the plane at the start", found);
    Err(error.with_hint(hint).into())
}
