//! `[[body]]`: a rigid body.

use crate::element::Body;
use crate::integrate::Words;
use crate::kinematics::{NodeId, join};
use crate::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use crate::machine::sensor::{BodyMomentum, FrameSensor, NamedSensor, SensorFrame};
use crate::machine::shape::{BodyLook, SeenShape};
use crate::machine::{BodyEntry, BodyGroup, MachineBuilder, PartEntry, Rank, placement};
use crate::model::{
    Dimension, Key, ModelError, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference,
    ValueKind, name,
};
use crate::part::plane;
use crate::part::shape::{self, Weight};
use crate::system::Stated;

static LUMP: &[Key] = &[
    Key::new("mass", ValueKind::Number(Dimension::MASS), Need::Required).doc("Mass."),
    Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
        .doc("Position from the origin of the body, in body axes."),
];

static MARKER: &[Key] = &[
    Key::new("name", ValueKind::Text, Need::Required)
        .doc("Name of the marker; it is referred to as `body.marker`."),
    Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
        .doc("Position from the origin of the body, in body axes."),
    Key::new("orientation", ValueKind::Orientation, Need::Optional)
        .doc("Rotation from marker axes to body axes."),
];

/// Keys of `[[body]]`.
static KIND: PartKind = PartKind {
    name: "body",
    doc: "A rigid body. It needs `mass` and `inertia`, or a `shape` or `shapes` with `density` or `mass`, or is `massless`; `lumps` add to these. `position`, markers, shapes and lumps count from its origin. With `mass` and `inertia`, or one `shape`, the origin is the centre of mass. With `shapes`, `lumps` or `centre-of-mass` it is the point from which these count: the centre of mass follows, and the marker `origin` stands at the origin. Sensors of the body show the centre of mass.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("mass", ValueKind::Number(Dimension::MASS), Need::Optional)
            .doc("Mass."),
        Key::new("inertia", ValueKind::Symmetric3(Dimension::INERTIA), Need::Optional)
            .doc("Inertia about the centre of mass (without `lumps`) in body axes: xx, yy, zz; or xx, yy, zz, xy, xz, yz (`[2, 3, 4, 0.1, 0, -0.2]`), the last three as in the matrix, so that products of inertia ∫xy dm come with a minus; or the rows of the matrix. That of the shape, filled evenly, if not given."),
        Key::new("density", ValueKind::Number(Dimension::DENSITY), Need::Optional)
            .doc("Density of the shape or shapes, in place of `mass` and `inertia`."),
        Key::new("centre-of-mass", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("Where the centre of mass of `mass` and `inertia` stands, from the origin of the body in body axes; at the origin if not given."),
        Key::new("lumps", ValueKind::Tables(LUMP), Need::Optional)
            .doc("Masses in points that move with the body; they add to its mass and inertia."),
        Key::new("massless", ValueKind::Boolean, Need::Default("false"))
            .doc("Whether the body has no inertia at all, such as the cross of a universal joint; joints must hold it in every direction."),
        Key::new("shape", ValueKind::Table(shape::KEYS), Need::Optional)
            .doc("What the body looks like, and what it weighs unless `inertia` is given."),
        Key::new("shapes", ValueKind::Tables(shape::PIECE_KEYS), Need::Optional)
            .doc("Several shapes, each with its own place, density and colour, in place of `shape`; masses and inertias add up. With `inertia` they are for pictures. With the `mass` of the body alone they share it evenly by volume."),
        shape::COLOUR,
        shape::VISIBLE,
        Key::new("position", ValueKind::Vector3(Dimension::LENGTH), Need::Default("[0, 0, 0]"))
            .doc("Initial position of the body's origin, which is the centre of mass unless `shapes`, `lumps` or `centre-of-mass` say otherwise; a guess, which assembly may change, if not given."),
        Key::new("orientation", ValueKind::Orientation, Need::Optional)
            .doc("Initial rotation from body axes to world axes; a guess if not given."),
        Key::new("velocity", ValueKind::Vector3(Dimension::SPEED), Need::Optional)
            .doc("Initial velocity of the centre of mass; what the joints and the stated velocities ask for if not given, zero where they ask for nothing."),
        Key::new(
            "angular-velocity",
            ValueKind::Vector3(Dimension::ANGULAR_SPEED),
            Need::Optional,
        )
        .doc("Initial angular velocity; likewise if not given."),
        Key::new("velocity-axes", ValueKind::Choice(&["world", "body"]), Need::Default("\"world\""))
            .doc("Axes in which the velocities are given."),
        Key::new("fixed", ValueKind::Boolean, Need::Default("false"))
            .doc("Whether assembly must leave the initial position and orientation, and the velocities that are given, exactly as they are."),
        Key::new("group", ValueKind::Choice(BodyGroup::WORDS), Need::Optional)
            .doc("Lie group of the body; that of the simulation if not given."),
        Key::new("markers", ValueKind::Tables(MARKER), Need::Optional).doc("Named frames on the body."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(&KIND, &add, on_body!(""))];

/// Adds a body, its element and its markers.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let Matter { mass, inertia, centre, mut look } = matter(&reader)?;
    // Not by the number: it may be zero by chance.
    let has_origin = ["shapes", "lumps", "centre-of-mass"].iter().any(|key| reader.has(key));
    let from_centre = |frame: &Pose| Pose::new(frame.rotation, frame.position - centre);
    look.shapes.iter_mut().for_each(|shape| shape.solid.frame = from_centre(&shape.solid.frame));
    let pose = initial_pose(&reader)?.compose(&Pose::new(UnitQuaternion::identity(), centre));
    let (angular, linear) = velocities(&reader, &pose)?;
    let group = builder.group(&reader)?;
    let name = part.name();
    let twist = join(&angular, &linear);
    let entry = BodyEntry { mass, inertia, origin: -centre, ..BodyEntry::new(name, group, pose) };
    let node = builder.add_body(entry, twist);
    builder.add_element(name, Body::new(node, mass, inertia, builder.gravity()));
    builder.set_stated(node, stated(&reader));
    let velocities = [angular, linear].map(|velocity| pose.transform_vector(&velocity));
    plane::hold(&reader, builder, (name, node), (group, pose), velocities)?;
    show(builder, node, look);
    if reader.boolean("fixed")? {
        builder.fix(node);
    }
    for marker in reader.tables("markers")? {
        let marker_name = marker.text("name")?;
        name::check(marker_name.content())
            .map_err(|mistake| ModelError::new(mistake, marker_name.place().clone()))?;
        let rotation = marker.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
        let frame = from_centre(&Pose::new(rotation, marker.vector3("position")?));
        builder.frames_mut().add_marker(
            Some(name),
            marker_name.content().to_string(),
            frame,
            marker_name.place(),
        )?;
        marker.finish()?;
    }
    if has_origin {
        let origin = Reference { name: format!("{name}.{ORIGIN}"), place: part.name_place().clone() };
        // A marker of the model may have the name.
        if builder.attachment(&origin).is_err() {
            let frame = from_centre(&Pose::identity());
            builder.frames_mut().add_marker(Some(name), ORIGIN.to_string(), frame, &origin.place)?;
            // Nobody has to attach something to it.
            builder.attachment(&origin)?;
        }
    }
    reader.finish()
}

/// Name of the marker at the origin of a body whose centre of mass is elsewhere.
const ORIGIN: &str = "origin";

/// Pose that `position` and `orientation` give, in the world of the model.
fn initial_pose(reader: &PartReader) -> Result<Pose, ModelErrors> {
    let position = reader.vector3("position")?;
    let rotation = reader.optional_orientation("orientation")?.unwrap_or_else(UnitQuaternion::identity);
    let placement = placement(reader);
    Ok(placement.compose(&Pose::new(rotation, position)))
}

/// Which initial values a part states by the keys of a body.
pub(super) fn stated(reader: &PartReader) -> Stated {
    Stated {
        position: reader.has("position"),
        orientation: reader.has("orientation"),
        velocity: reader.has("velocity"),
        angular_velocity: reader.has("angular-velocity"),
    }
}

/// Shows a body, its position and, if asked for, its momenta.
pub(super) fn show(builder: &mut MachineBuilder, node: NodeId, look: BodyLook) {
    builder.appearance_mut().show_body(node, look);
    let Some(BodyEntry { name, mass, inertia, .. }) = builder.frames().body_of(node).cloned() else { return };
    let of = SensorFrame { node: Some(node), offset: Pose::identity() };
    let position = NamedSensor::new(format!("{name}.position"), FrameSensor::position(of));
    builder.signals_mut().offer(Rank::Place, position);
    for sensor in BodyMomentum::both(&name, node, mass, inertia) {
        builder.signals_mut().offer(Rank::OnDemand, sensor);
    }
}

/// What a body is made of.
struct Matter {
    mass: f64,
    /// About the centre of mass.
    inertia: Matrix3,
    /// The centre of mass, from the origin of the body.
    centre: Vector3,
    /// Shapes, counted from the origin of the body.
    look: BodyLook,
}

/// Mass and inertia as given, or those of shapes, with lumps.
fn matter(reader: &PartReader) -> Result<Matter, ModelErrors> {
    let mut look = BodyLook {
        colour: shape::colour(reader)?,
        visible: reader.boolean("visible")?,
        ..BodyLook::default()
    };
    if reader.boolean("massless")? {
        // Reading nothing else lets `finish` refuse a mass that would have no effect.
        let (mass, inertia, centre) = (0.0, Matrix3::zeros(), Vector3::zeros());
        return Ok(Matter { mass, inertia, centre, look });
    }
    let lumps = lumps(reader)?;
    if reader.has("shape") && reader.has("shapes") {
        return Err(reader.ambiguous(&["shape", "shapes"], "both are given").into());
    }
    let mut weights = match (reader.optional_symmetric3("inertia")?, reader.table("shape")?) {
        (Some(inertia), table) => {
            check_inertia(reader, &inertia)?;
            let table = table.map(|table| shape::read(table, shape::Placing::Free)).transpose()?;
            look.shapes.extend(table.map(|(shape, _)| shape));
            for piece in reader.tables("shapes")? {
                look.shapes.push(shape::read_piece(piece, None, false)?.0);
            }
            let centre = reader.optional_vector3("centre-of-mass")?.unwrap_or_default();
            let mass = reader.positive("mass")?;
            check_gyration(reader, mass, &inertia)?;
            vec![Weight { mass, centre, inertia }]
        }
        (None, Some(table)) => {
            let (weight, shape) = filled(reader, table)?;
            look.shapes.push(shape);
            vec![weight]
        }
        (None, None) if reader.has("shapes") => {
            let (weights, shapes) = pieces(reader)?;
            look.shapes = shapes;
            weights
        }
        (None, None) if !lumps.is_empty() && !reader.has("mass") => Vec::new(),
        (None, None) => {
            let missing = reader.symmetric3("inertia").map(drop).err().unwrap_or_default();
            return Err(missing.map(|error| error.with_hint("or give a `shape` with `density`")));
        }
    };
    let only_lumps = weights.is_empty();
    weights.extend(lumps);
    let Weight { mass, centre, inertia } = Weight::sum(&weights);
    if only_lumps && inertia.symmetric_eigenvalues().min() <= 1e-12 * inertia.trace() {
        let error = reader.unsuitable(
            "lumps",
            "at least three points that do not lie on one line",
            "points without inertia about an axis",
        );
        return Err(error.with_hint("add a lump, or give the body `mass` and `inertia`").into());
    }
    Ok(Matter { mass, inertia, centre, look })
}

/// Masses in points.
fn lumps(reader: &PartReader) -> Result<Vec<Weight>, ModelErrors> {
    let mut lumps = Vec::new();
    for lump in reader.tables("lumps")? {
        let (mass, centre) = (lump.positive("mass")?, lump.vector3("position")?);
        lump.finish()?;
        lumps.push(Weight { mass, centre, inertia: Matrix3::zeros() });
    }
    Ok(lumps)
}

/// Several shapes: each of a density or mass of its own, of the density of the body, or sharing its mass
/// evenly by volume.
fn pieces(reader: &PartReader) -> Result<(Vec<Weight>, Vec<SeenShape>), ModelErrors> {
    let (density, mass) = match (reader.has("density"), reader.has("mass")) {
        (true, true) => return Err(reader.ambiguous(&["density", "mass"], "both are given").into()),
        (true, false) => (Some(reader.positive("density")?), None),
        // Shared at the end.
        (false, true) => (Some(1.0), Some(reader.positive("mass")?)),
        (false, false) => (None, None),
    };
    let (mut weights, mut shapes, mut volume) = (Vec::new(), Vec::new(), 0.0);
    for piece in reader.tables("shapes")? {
        if mass.is_some()
            && let Some(key) = ["density", "mass"].into_iter().find(|key| piece.has(key))
        {
            let error = piece.unsuitable(key, "left out", "given beside the `mass` of the whole body");
            return Err(error.with_hint("shapes share the mass of the body evenly by volume").into());
        }
        let (shape, own_volume, weight) = shape::read_piece(piece, density, true)?;
        volume += own_volume;
        shapes.push(shape);
        weights.extend(weight);
    }
    if weights.is_empty() {
        return Err(reader.unsuitable("shapes", "one shape at least", "none").into());
    }
    if let Some(mass) = mass {
        for weight in &mut weights {
            weight.mass *= mass / volume;
            weight.inertia *= mass / volume;
        }
    }
    Ok((weights, shapes))
}

/// A shape filled evenly, of a given density or mass.
fn filled(reader: &PartReader, table: PartReader) -> Result<(Weight, SeenShape), ModelErrors> {
    let density = match (reader.has("mass"), reader.has("density")) {
        (false, true) => Some(reader.positive("density")?),
        (true, false) => None,
        (both, _) => {
            let found = if both { "both are given" } else { "none is given" };
            return Err(reader.ambiguous(&["density", "mass"], found).at(table.place()).into());
        }
    };
    let (shape, properties) = shape::read(table, shape::Placing::AtCentre)?;
    let mass = match density {
        Some(density) => density * properties.volume,
        None => reader.positive("mass")?,
    };
    let inertia = mass / properties.volume * properties.inertia;
    if !(mass > 0.0 && mass.is_finite() && inertia.iter().all(|entry| entry.is_finite())) {
        return Err(reader.unsuitable("shape", "of a size that has a mass", format!("{mass} kg")).into());
    }
    Ok((Weight { mass, centre: Vector3::zeros(), inertia }, shape))
}

/// Angular and linear velocity in body axes.
fn velocities(reader: &PartReader, pose: &Pose) -> Result<(Vector3, Vector3), ModelErrors> {
    let given = |key: &str| Ok::<_, ModelErrors>(reader.optional_vector3(key)?.unwrap_or_default());
    let (angular, linear) = (given("angular-velocity")?, given("velocity")?);
    if reader.choice("velocity-axes")? == "body" {
        return Ok((angular, linear));
    }
    let to_body =
        |vector: &Vector3| pose.rotation.inverse_transform_vector(&(placement(reader).rotation * vector));
    Ok((to_body(&angular), to_body(&linear)))
}

/// Least and largest radius of gyration of a body, in m. Beyond them what the mass resists is round-off beside
/// what the inertia resists, or the other way round, and equations look as if they were not determined.
const GYRATION: [f64; 2] = [1e-9, 1e12];

/// Mass and inertia belong to a body of some size.
fn check_gyration(reader: &PartReader, mass: f64, inertia: &Matrix3) -> Result<(), ModelErrors> {
    let moments = inertia.symmetric_eigenvalues();
    let radii = [moments.min(), moments.max()].map(|moment| (moment / mass).sqrt());
    let Some(radius) = radii.into_iter().find(|radius| !(GYRATION[0]..=GYRATION[1]).contains(radius)) else {
        return Ok(());
    };
    let requirement = "the inertia of a body with a radius of gyration from 1e-9 m to 1e12 m beside its mass";
    let error = reader.unsuitable("inertia", requirement, format!("of {radius:.1e} m with {mass:e} kg"));
    Err(error
        .with_hint("a `[[point-mass]]` has no inertia, and what turns about an axis alone feels no mass")
        .into())
}

/// Principal moments are positive, and none is larger than the sum of the others.
fn check_inertia(reader: &PartReader, inertia: &Matrix3) -> Result<(), ModelErrors> {
    let moments = positive_moments(reader, "inertia", inertia)?;
    let (sum, largest) = (moments.sum(), moments.max());
    // A plate meets it with equality, but for rounding of moments that were computed elsewhere.
    let slack = 1e-9 * sum.abs();
    if largest > sum - largest + slack {
        let requirement = "the inertia of a body: no principal moment may exceed the sum of the other two";
        let found = format!("{largest:.4e} against {:.4e}", sum - largest);
        return Err(reader.unsuitable("inertia", requirement, found).into());
    }
    Ok(())
}

/// Principal moments of the inertia that a key gives; refuses those that are not positive.
pub(super) fn positive_moments(
    reader: &PartReader,
    key: &str,
    inertia: &Matrix3,
) -> Result<Vector3, ModelErrors> {
    let moments = inertia.symmetric_eigenvalues();
    if moments.min() <= 0.0 {
        let found = format!("principal moments {:.4e}, {:.4e}, {:.4e}", moments[0], moments[1], moments[2]);
        return Err(reader.unsuitable(key, "positive definite", found).into());
    }
    Ok(moments)
}
