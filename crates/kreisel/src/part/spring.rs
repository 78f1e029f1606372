//! `[[spring-damper]]` between points or along a joint's displacement, and `[[torsional-spring-damper]]` in a
//! joint.

use std::sync::Arc;

use super::joint::same_body;
use super::joint_coordinate::{self, CoordinateChoice, JOINT};
use crate::element::{CoordinateForce, ForceLaw, ForceValue, LinearSpring};
use crate::kinematics::Coordinate;
use crate::lie::{Pose, UnitQuaternion, Vector3};
use crate::machine::sensor::{ForceAlong, NamedSensor, Sign};
use crate::machine::{MachineBuilder, MeasuredCoordinate, PartEntry, Rank, placement};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference, Table, ValueKind,
};

/// Keys of `[[spring-damper]]`.
static POINTS: PartKind = PartKind {
    name: "spring-damper",
    doc: "A spring and damper along the line between two points, or along the displacement of a joint; it pulls with stiffness × elongation + damping × rate + preload. Measures this `force` and, between points, its `length` and `length-rate`, for short `rate`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("bodies", ValueKind::References(&[2]), Need::Optional)
            .doc("The two bodies, or their markers (`crank.pin`), or `ground`; without a marker and `points` it ends at the centre of mass, on the ground at the origin."),
        Key::new("points", ValueKind::Matrix(Dimension::LENGTH, 2, 3), Need::Optional)
            .doc("The two ends, in the world at the initial configuration, in place of markers."),
        Key::new("joint", ValueKind::Reference, Need::Optional)
            .doc("In place of `bodies`: the joint along whose displacement it acts; with the coordinate after a dot (`table.x`) where several would do."),
        Key::new("stiffness", ValueKind::Number(Dimension::STIFFNESS), Need::Optional)
            .doc("Stiffness of a linear spring."),
        Key::new("damping", ValueKind::Number(Dimension::DAMPING), Need::Optional)
            .doc("Damping of a linear damper."),
        Key::new("free-length", ValueKind::Number(Dimension::LENGTH), Need::Optional)
            .doc("Length, or displacement of the joint, from which the elongation counts; the initial one if not given."),
        Key::new("preload", ValueKind::Number(Dimension::FORCE), Need::Optional)
            .doc("Force with which it pulls at the free length."),
        Key::new("force", ValueKind::Curve(Dimension::LENGTH, Dimension::FORCE), Need::Optional)
            .doc("Pulling force over the elongation, in place of `stiffness`: `{ points = [[-0.01, -200], [0, 0], [0.01, 300]] }`. A natural cubic spline runs through the points, which may swing beyond them where they turn sharply; `interpolation = \"linear\"` joins them by straight lines. Outside the force keeps its last value, with `outside = \"continue\"` its last slope."),
        Key::new("damping-force", ValueKind::Curve(Dimension::SPEED, Dimension::FORCE), Need::Optional)
            .doc("Pulling force over the rate of the length, in place of `damping`."),
    ],
};

/// Keys of `[[torsional-spring-damper]]`.
static TORSIONAL: PartKind = PartKind {
    name: "torsional-spring-damper",
    doc: "A spring and damper about the angle of a joint; it turns the second body back with stiffness × (angle − free angle) + damping × rate + preload. Measures this `torque`.",
    occurrence: Occurrence::Many,
    keys: &[
        JOINT,
        Key::new("stiffness", ValueKind::Number(Dimension::TORSIONAL_STIFFNESS), Need::Optional)
            .doc("Stiffness of a linear spring."),
        Key::new("damping", ValueKind::Number(Dimension::TORSIONAL_DAMPING), Need::Optional)
            .doc("Damping of a linear damper."),
        Key::new("free-angle", ValueKind::Number(Dimension::ANGLE), Need::Optional).doc(
            "Angle from which the deflection counts, full turns included; the initial one if not given.",
        ),
        Key::new("preload", ValueKind::Number(Dimension::TORQUE), Need::Optional)
            .doc("Torque against the angle at the free angle."),
        Key::new("torque", ValueKind::Curve(Dimension::ANGLE, Dimension::TORQUE), Need::Optional)
            .doc("Torque against the angle over the deflection, in place of `stiffness`."),
        Key::new(
            "damping-torque",
            ValueKind::Curve(Dimension::ANGULAR_SPEED, Dimension::TORQUE),
            Need::Optional,
        )
        .doc("Torque against the angle over its rate, in place of `damping`."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[
    PartEntry::new(
        &POINTS,
        &add_between_points,
        on_body!("[[spring-damper]]\nname = 'spring'\nbodies = ['ground', 'arm']\nstiffness = 1\n"),
    )
    .changeable(),
    PartEntry::new(
        &TORSIONAL,
        &add_torsional,
        on_hinge!("[[torsional-spring-damper]]\nname = 'spring'\njoint = 'hinge'\nstiffness = 1\n"),
    )
    .changeable(),
];

/// Adds a spring-damper between points or along a joint.
fn add_between_points(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let along = match (reader.has("bodies"), reader.has("joint")) {
        (true, false) => between_points(&reader, builder)?,
        (false, true) => joint_coordinate::read(&reader, builder, CoordinateChoice::Displacement)?,
        (both, _) => {
            let found = if both { "both are given" } else { "none is given" };
            return Err(reader.ambiguous(&["bodies", "joint"], found).into());
        }
    };
    let initial = builder.frames().initial_value(&along);
    let free = reader.optional_number("free-length")?;
    if let (Some(free), Coordinate::Distance) = (free, along.coordinate)
        && free < 0.0
    {
        return Err(reader.unsuitable("free-length", "zero or positive", free).into());
    }
    if free.is_none() {
        assume_free(&reader, builder, &format!("length of {initial} m"));
    }
    let laws = laws(&reader, free.unwrap_or(initial), "force", "damping-force")?;
    add_force(builder, part.name(), &along, laws);
    if reader.has("bodies") {
        offer_coordinate(builder, part.name(), "length", along);
    }
    if along.coordinate == Coordinate::Distance {
        builder.appearance_mut().show_line(
            part.name(),
            along.nodes,
            along.offsets.map(|offset| offset.position),
        );
    }
    reader.finish()
}

/// Adds a torsional spring-damper.
fn add_torsional(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let about = joint_coordinate::read(&reader, builder, CoordinateChoice::Angle)?;
    let (initial, free) = (builder.frames().initial_value(&about), reader.optional_number("free-angle")?);
    if free.is_none() {
        assume_free(&reader, builder, &format!("angle of {initial} rad"));
    }
    let laws = laws(&reader, free.unwrap_or(initial), "torque", "damping-torque")?;
    add_force(builder, part.name(), &about, laws);
    reader.finish()
}

/// Adds forces that resist a coordinate, which can be measured.
pub(super) fn add_force(
    builder: &mut MachineBuilder,
    part: &str,
    along: &MeasuredCoordinate,
    laws: Vec<Arc<dyn ForceLaw>>,
) {
    let element = CoordinateForce::new(along.nodes, along.offsets, along.coordinate, laws);
    let element = builder.add_element(part, element);
    let sensor = ForceAlong::named(part, element, along, Sign::Against);
    builder.signals_mut().offer(Rank::OnDemand, sensor);
}

/// Lets a coordinate of the part's own be measured, with its rate.
fn offer_coordinate(builder: &mut MachineBuilder, part: &str, word: &str, along: MeasuredCoordinate) {
    let rate = MeasuredCoordinate { rate: true, unit: "m/s", ..along };
    for (word, measured) in
        [(word.to_owned(), along), (format!("{word}-rate"), rate), ("rate".to_owned(), rate)]
    {
        let sensor = NamedSensor::of_coordinate(format!("{part}.{word}"), measured);
        builder.signals_mut().offer(Rank::OnDemand, sensor);
    }
}

/// Tells the user that a spring is free where it begins.
fn assume_free(reader: &PartReader, builder: &mut MachineBuilder, place: &str) {
    if ["stiffness", "preload", "force", "torque"].iter().any(|key| reader.has(key)) {
        builder.assume(format!("{} is free at its initial {place}", reader.description()));
    }
}

/// The distance of the two ends.
fn between_points(reader: &PartReader, builder: &MachineBuilder) -> Result<MeasuredCoordinate, ModelErrors> {
    let references = reader.references("bodies")?;
    let points = reader.optional_matrix("points")?;
    let point =
        |end: usize| points.as_ref().map(|rows| Vector3::new(rows[(end, 0)], rows[(end, 1)], rows[(end, 2)]));
    let first = end(reader, builder, &references[0], point(0))?;
    let second = end(reader, builder, &references[1], point(1))?;
    let along = MeasuredCoordinate {
        nodes: [first.0, second.0],
        offsets: [first.1, second.1],
        coordinate: Coordinate::Distance,
        rate: false,
        unit: "m",
    };
    if first.0 == second.0 {
        return Err(same_body(reader, &references).into());
    }
    // Closer than a millionth of a micrometre the line between the points has no direction.
    if builder.frames().initial_value(&along) < 1e-12 {
        let key = if points.is_some() { "points" } else { "bodies" };
        let error = reader.unsuitable(key, "two points apart", "in one place");
        return Err(error.with_hint("a `[[bushing]]` acts between points in one place").into());
    }
    Ok(along)
}

/// Node and point of one end in body axes.
fn end(
    reader: &PartReader,
    builder: &MachineBuilder,
    reference: &Reference,
    point: Option<Vector3>,
) -> Result<(Option<crate::kinematics::NodeId>, Pose), ModelErrors> {
    let attachment = builder.attachment(reference)?;
    if point.is_some() && attachment.marker.is_some() {
        let found = format!("beside the marker `{}`", reference.name);
        return Err(reader.unsuitable("points", "given only where no marker is named", found).into());
    }
    let placement = placement(reader);
    let offset = match (attachment.marker, point, attachment.node) {
        (Some(marker), ..) => marker,
        (None, Some(point), _) => {
            let world = Pose::new(UnitQuaternion::identity(), placement.transform_point(&point));
            attachment.offset_of(&world)
        }
        (None, None, Some(_)) => Pose::identity(),
        // The ground of an included file is where the file is placed.
        (None, None, None) => placement,
    };
    Ok((attachment.node, offset))
}

/// Spring and damper, each linear or by a table.
fn laws(
    reader: &PartReader,
    free_value: f64,
    force: &str,
    damping_force: &str,
) -> Result<Vec<Arc<dyn ForceLaw>>, ModelErrors> {
    let not_negative = |key: &str| -> Result<f64, ModelErrors> {
        if reader.has(key) { reader.not_negative(key) } else { Ok(0.0) }
    };
    let exclusive = |linear: &str, table: &str| match (reader.has(linear), reader.has(table)) {
        (true, true) => Err(reader.ambiguous(&[linear, table], "both are given")),
        _ => Ok(()),
    };
    exclusive("stiffness", force)?;
    exclusive("damping", damping_force)?;
    let keys = ["stiffness", "damping", "preload", force, damping_force];
    if !keys.iter().any(|key| reader.has(key)) {
        let found = "neither a stiffness, a damping, a preload nor a table";
        let error = reader.unsuitable_part("of some effect", found);
        return Err(error.with_hint("add `stiffness`").into());
    }
    let linear = LinearSpring {
        stiffness: not_negative("stiffness")?,
        damping: not_negative("damping")?,
        free_value,
        preload: reader.optional_number("preload")?.unwrap_or(0.0),
    };
    let mut laws: Vec<Arc<dyn ForceLaw>> = vec![Arc::new(linear)];
    if let Some(table) = reader.optional_curve(force)? {
        laws.push(Arc::new(TableSpring { table, free_value }));
    }
    if let Some(table) = reader.optional_curve(damping_force)? {
        laws.push(Arc::new(TableDamper(table)));
    }
    Ok(laws)
}

/// A spring by a table: f = table(x − x₀).
#[derive(Debug)]
struct TableSpring {
    /// Force over the elongation.
    table: Table,
    /// Value x₀ from which the elongation counts.
    free_value: f64,
}

impl ForceLaw for TableSpring {
    fn at(&self, value: f64, _: f64, _: f64) -> ForceValue {
        let stretch = value - self.free_value;
        let [force, by_value, _] = self.table.evaluate(stretch);
        let energy = self.table.integral(stretch) - self.table.integral(0.0);
        ForceValue { force, by_value, energy, ..ForceValue::default() }
    }
}

/// A damper by a table: f = table(ẋ).
#[derive(Debug)]
struct TableDamper(Table);

impl ForceLaw for TableDamper {
    fn at(&self, _: f64, rate: f64, _: f64) -> ForceValue {
        let [force, by_rate, _] = self.0.evaluate(rate);
        ForceValue { force, by_rate, dissipative: force, ..ForceValue::default() }
    }
}
