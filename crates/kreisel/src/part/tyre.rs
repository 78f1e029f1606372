//! `[[tyre]]`: a wheel's tyre on a road, with load, slip and a carcass.

use super::joint::{refuse_point_masses, two_bodies};
use super::rolling;
use crate::element::contact::Surface;
use crate::element::{RoadProfile, Tyre, TyreData};
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::sensor::{AppliedWrench, SensorFrame, TyreSensor, WrenchPart};
use crate::machine::shape::{Geometry, Solid};
use crate::machine::{Attachment, MachineBuilder, PartEntry, Rank, placement};
use crate::model::{
    Characteristic, Dimension, Key, ModelErrors, Need, Occurrence, OwnFormula, Part, PartKind, PartReader,
    Table, ValueKind,
};
use crate::results::scene::SceneMesh;
use nalgebra::{Matrix3, Rotation3};

/// The name on which the height of a road depends.
const WAY: &[&str] = &["x"];
/// N/rad: lateral force by slip angle.
const CORNERING: Dimension = Dimension::from_exponents([1, 1, -2, -1]);

/// Keys of `[[tyre]]`.
static KIND: PartKind = PartKind {
    name: "tyre",
    doc: "A tyre on a road: it springs, and carries by slip along and across as a brush of even stiffness does, up to `friction` times the load in any direction. Forces build up over `relaxation-length`, so that a wheel also stands, brakes to rest and is parked. Camber turns the load, and makes no side force of its own. Forward is where `wheel-axis` × normal points: a wheel whose axis points to the left rolls forward by positive angular rates. Measures the `force` and `torque` on the wheel about its centre, `load`, `deflection` (negative for the gap), `slip`, `slip-angle`, `longitudinal-force`, `lateral-force` (to the left) and `aligning-torque`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("bodies", ValueKind::References(&[2]), Need::Required)
            .doc("The road, a body or `ground`, and the wheel, or their markers; the centre of the wheel is its marker or its centre of mass."),
        Key::new("radius", ValueKind::Number(Dimension::LENGTH), Need::Required).doc("Radius of the wheel without load."),
        Key::new("vertical-stiffness", ValueKind::Number(Dimension::STIFFNESS), Need::Required)
            .doc("Load by deflection."),
        Key::new("vertical-damping", ValueKind::Number(Dimension::DAMPING), Need::Default("0"))
            .doc("Load by the rate of the deflection; the road pushes and never pulls."),
        Key::new("friction", ValueKind::Number(Dimension::NONE), Need::Default("1"))
            .doc("Largest force along the road in parts of the load."),
        Key::new("longitudinal-stiffness", ValueKind::Number(Dimension::FORCE), Need::Required)
            .doc("Longitudinal force by slip, where slip is small: slip is (V_r − V)/V_r of the rolling speed V_r."),
        Key::new("cornering-stiffness", ValueKind::Number(CORNERING), Need::Required)
            .doc("Lateral force by slip angle, where it is small."),
        Key::new("nominal-load", ValueKind::Number(Dimension::FORCE), Need::Optional)
            .doc("Load at which both slip stiffnesses are those: they are in proportion to the load then, and do not depend on it if this is not given."),
        Key::new("relaxation-length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
            .doc("Way along which forces come within 37 % of what the slip wants; the radius if not given."),
        Key::new("damping-time", ValueKind::Number(Dimension::TIME), Need::Default("5e-3"))
            .doc("Damping of the carcass along the road in parts of its stiffness, which ends the swing of a wheel that stands."),
        Key::new("contact-length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
            .doc("Length of the contact, a sixth of which is the lever of small lateral forces; the chord that the road cuts from the circle if not given."),
        Key::new("rolling-resistance", ValueKind::Number(Dimension::NONE), Need::Default("0"))
            .doc("Resistance against rolling in parts of the load."),
        Key::new("height", ValueKind::Characteristic(Dimension::LENGTH, Dimension::LENGTH, WAY), Need::Optional)
            .doc("Height of the road over its plane, over the way `x` along `direction` from `point`: an expression such as `\"0.05*sin(2*x)\"`, or `{ points = [[0, 0], [1, 0.1]] }`. The wheel follows the height and slope below its centre: bumps are longer than the contact."),
        Key::new("direction", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Direction along which `x` counts, in the world at the initial configuration; x of the first body's marker, or of the world, if not given."),
        Key::new("wheel-axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Axis of the wheel in the world at the initial configuration; z of the second body's marker, or of the body, if not given."),
        Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("A point of the road's plane, in the world at the initial configuration; the origin of the first body's marker, or of the ground, if not given."),
        Key::new("axis", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Normal of the road's plane, towards the wheel, in the world at the initial configuration; z of the first body's marker, or of the world, if not given."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[tyre]]\nname = 'tyre'\nbodies = ['ground', 'arm']\nwheel-axis = [0, 1, 0]\nradius = 1\n\
         point = [0, 0, -0.9]\nvertical-stiffness = 1000\nlongitudinal-stiffness = 500\n\
         cornering-stiffness = 400\nheight = '0.1*sin(x)'\n"
    ),
)
.changeable()
.spatial()];

/// Sine of the angle between two directions that are taken as one: rounding of what is typed.
const SAME_DIRECTION: f64 = 1e-6;

/// Width of a tyre as it is drawn, in radii: that of ordinary cars. Nothing is computed from it.
const WIDTH: f64 = 0.6;
/// Length of a piece of a wavy road as it is drawn, in radii: bumps are longer than the contact.
const PIECE: f64 = 0.5;
/// How many pieces are drawn to each side of the wheel's start.
const PIECES: i32 = 200;

/// Adds a tyre.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (references, sides) = two_bodies(&reader, builder)?;
    let Some(wheel) = sides[1].node else {
        let error = reader.unsuitable("bodies", "a road and then a wheel that can move", "the ground second");
        return Err(error.with_hint("name the road first: bodies = [\"ground\", \"wheel\"]").into());
    };
    refuse_point_masses(&reader, builder, &references, &sides)?;
    let radius = reader.positive("radius")?;
    let road = road(&reader, rolling::plane(&reader, &sides[0])?)?;
    let frames = [road, rolling::axle(&reader, &sides[1])?];
    let axis: Vector3 = frames[1].transform_vector(&Vector3::z());
    if road.transform_vector(&Vector3::z()).cross(&axis).norm() < SAME_DIRECTION {
        let found = format!("`{}` flat on it", references[1].name);
        let error = reader.unsuitable("bodies", "a wheel that stands on the road", found);
        return Err(error.with_hint("give its axis by `wheel-axis`").into());
    }
    let offsets = [sides[0].offset_of(&frames[0]), sides[1].offset_of(&frames[1])];
    let data = TyreData {
        radius,
        vertical_stiffness: reader.positive("vertical-stiffness")?,
        vertical_damping: reader.not_negative("vertical-damping")?,
        friction: reader.positive("friction")?,
        slip_stiffness: [reader.positive("longitudinal-stiffness")?, reader.positive("cornering-stiffness")?],
        nominal_load: reader.optional_positive("nominal-load")?,
        relaxation_length: reader.optional_positive("relaxation-length")?.unwrap_or(radius),
        damping_time: reader.not_negative("damping-time")?,
        contact_length: reader.optional_positive("contact-length")?,
        rolling_resistance: reader.not_negative("rolling-resistance")?,
    };
    let profile = reader.optional_characteristic("height")?.map(|height| -> Box<dyn RoadProfile> {
        match height {
            Characteristic::Table(table) => Box::new(TableProfile(table)),
            Characteristic::Formula(formula) => Box::new(FormulaProfile(formula)),
        }
    });
    show(builder, part.name(), &sides, &offsets, radius, profile.as_deref());
    // A hundredth of the relaxation length is the slip that a wheel in use has.
    let scale = 0.01 * data.relaxation_length;
    let states = ["along", "across"].map(|axis| {
        builder.system_mut().fading_state(format!("{} (carcass, {axis})", part.name()), 0.0, scale)
    });
    let nodes = sides.map(|side| side.node);
    let element = builder.add_element(part.name(), Tyre::new(nodes, offsets, states, data, profile));
    builder.frames_mut().add_length(radius);
    let at = SensorFrame { node: Some(wheel), offset: offsets[1] };
    for of in [WrenchPart::Force, WrenchPart::Torque] {
        let wrench = AppliedWrench { element, part: of, at }.named(part.name());
        builder.signals_mut().offer(Rank::Force, wrench);
    }
    for sensor in TyreSensor::all(part.name(), element) {
        builder.signals_mut().offer(Rank::Contact, sensor);
    }
    reader.finish()
}

/// Shows the wheel with its tyre, unless it has a shape as large, and its road: a plane, or what lies near the wheel's
/// start of one with a height.
fn show(
    builder: &mut MachineBuilder,
    name: &str,
    sides: &[Attachment; 2],
    offsets: &[Pose; 2],
    radius: f64,
    profile: Option<&dyn RoadProfile>,
) {
    let [road, wheel] = sides;
    let appearance = builder.appearance_mut();
    if let Some(node) = wheel.node {
        let geometry = Geometry::Cylinder { radius, length: WIDTH * radius };
        appearance.show_on(name, node, radius, Solid { geometry, frame: offsets[1] });
    }
    let Some(profile) = profile else {
        appearance.show_surface(name, road.node, Surface::Plane, &offsets[0]);
        return;
    };
    let start = wheel.body.compose(&offsets[1]).position;
    let start = road.body.compose(&offsets[0]).inverse().transform_point(&start);
    appearance.show_mesh(name, road.node, strip(profile, &start, radius), &offsets[0]);
}

/// A piece of road below the wheel's start, twice as wide as the tyre; where it has no height nothing is drawn.
fn strip(profile: &dyn RoadProfile, start: &Vector3, radius: f64) -> SceneMesh {
    let mut mesh = SceneMesh { points: Vec::new(), triangles: Vec::new() };
    let mut is_joined = false;
    for piece in -PIECES..=PIECES {
        let way = start.x + f64::from(piece) * PIECE * radius;
        let height = profile.height(way)[0] as f32;
        if !height.is_finite() {
            is_joined = false;
            continue;
        }
        let next = mesh.points.len() as u32;
        let edge = |side: f64| [way as f32, (start.y + side * WIDTH * radius) as f32, height];
        mesh.points.extend([edge(-1.0), edge(1.0)]);
        if is_joined {
            let [right, left] = [next - 2, next - 1];
            mesh.triangles.extend([[right, next, next + 1], [right, next + 1, left]]);
        }
        is_joined = true;
    }
    mesh
}

/// The road's frame with x along `direction`, as far as the plane allows.
fn road(reader: &PartReader, plane: Pose) -> Result<Pose, ModelErrors> {
    let Some(direction) = reader.optional_direction("direction")? else { return Ok(plane) };
    let normal: Vector3 = plane.transform_vector(&Vector3::z());
    let left = normal.cross(&(placement(reader).rotation * direction));
    if left.norm() < SAME_DIRECTION {
        return Err(reader.unsuitable("direction", "along the road", "along its normal").into());
    }
    let left = left.normalize();
    let columns = Matrix3::from_columns(&[left.cross(&normal), left, normal]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(columns));
    Ok(Pose::new(rotation, plane.position))
}

/// A height by points.
#[derive(Debug)]
struct TableProfile(Table);

impl RoadProfile for TableProfile {
    fn height(&self, way: f64) -> [f64; 2] {
        let [height, slope, _] = self.0.evaluate(way);
        [height, slope]
    }
}

/// A height by an expression.
#[derive(Debug)]
struct FormulaProfile(OwnFormula);

impl RoadProfile for FormulaProfile {
    fn height(&self, way: f64) -> [f64; 2] {
        let (height, [slope]) = self.0.evaluate([way]);
        [height, slope]
    }
}
