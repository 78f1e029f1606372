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
    Characteristic, Dimension, Key, ModelErrors, Need, Occurrence, OwnFormula, Part, PartKind, PartReader,
    Reference, Table, ValueKind,
};

/// Names in the laws of springs and dampers: between points or along a displacement, and about an angle. The
/// first is the argument of a curve.
const LENGTHS: &[&str] = &["elongation", "length"];
const LENGTH_RATES: &[&str] = &["rate", "elongation", "length"];
const ANGLES: &[&str] = &["deflection", "angle"];
const ANGLE_RATES: &[&str] = &["rate", "deflection", "angle"];

/// Keys of `[[spring-damper]]`.
static POINTS: PartKind = PartKind {
    name: "spring-damper",
    doc: "A spring and damper along the line between two points, or along the displacement of a joint; it pulls with stiffness × elongation + damping × rate + preload, or by expressions or curves of these. Measures this `force` and, between points, its `length` and `length-rate`, for short `rate`.",
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
        Key::new("force", ValueKind::Characteristic(Dimension::LENGTH, Dimension::FORCE, LENGTHS), Need::Optional)
            .doc("Pulling force over the elongation, in place of `stiffness`: an expression of `elongation` and `length` (or displacement of the joint) such as `\"2e4*elongation + 5e6*elongation^3\"`, or `{ points = [[-0.01, -200], [0, 0], [0.01, 300]] }`. A natural cubic spline runs through the points, which may swing beyond them where they turn sharply; `interpolation = \"linear\"` joins them by straight lines. Outside the force keeps its last value, with `outside = \"continue\"` its last slope."),
        Key::new("damping-force", ValueKind::Characteristic(Dimension::SPEED, Dimension::FORCE, LENGTH_RATES), Need::Optional)
            .doc("Pulling force over the rate of the length, in place of `damping`: a curve, or an expression of `rate`, `elongation` and `length` such as `\"800*rate*(1 + elongation/0.1)\"`. All of it is lost."),
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
        Key::new("torque", ValueKind::Characteristic(Dimension::ANGLE, Dimension::TORQUE, ANGLES), Need::Optional)
            .doc("Torque against the angle over the deflection, in place of `stiffness`: a curve, or an expression of `deflection` and `angle` such as `\"30*sin(deflection)\"`."),
        Key::new(
            "damping-torque",
            ValueKind::Characteristic(Dimension::ANGULAR_SPEED, Dimension::TORQUE, ANGLE_RATES),
            Need::Optional,
        )
        .doc("Torque against the angle over its rate, in place of `damping`: a curve, or an expression of `rate`, `deflection` and `angle`. All of it is lost."),
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

/// Spring and damper, each linear, by a table or by an expression.
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
        let found = "neither a stiffness, a damping, a preload, a table nor an expression";
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
    match reader.optional_characteristic(force)? {
        Some(Characteristic::Table(table)) => laws.push(Arc::new(TableSpring { table, free_value })),
        Some(Characteristic::Formula(formula)) => laws.push(Arc::new(FormulaSpring { formula, free_value })),
        None => {}
    }
    match reader.optional_characteristic(damping_force)? {
        Some(Characteristic::Table(table)) => laws.push(Arc::new(TableDamper(table))),
        Some(Characteristic::Formula(formula)) => laws.push(Arc::new(FormulaDamper { formula, free_value })),
        None => {}
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
        ForceValue { force, by_value, ..ForceValue::default() }
    }

    fn energy(&self, value: f64) -> f64 {
        self.table.integral(value - self.free_value) - self.table.integral(0.0)
    }
}

/// A spring by an expression: f(x − x₀, x).
#[derive(Debug)]
struct FormulaSpring {
    formula: OwnFormula,
    /// Value x₀ from which the elongation counts.
    free_value: f64,
}

impl FormulaSpring {
    fn force(&self, value: f64) -> (f64, f64) {
        let (force, [by_stretch, by_value]) = self.formula.evaluate([value - self.free_value, value]);
        (force, by_stretch + by_value)
    }
}

impl ForceLaw for FormulaSpring {
    fn at(&self, value: f64, _: f64, _: f64) -> ForceValue {
        let (force, by_value) = self.force(value);
        ForceValue { force, by_value, ..ForceValue::default() }
    }

    fn energy(&self, value: f64) -> f64 {
        let [from, to] = [self.free_value, value];
        let names = |value: f64| [value - self.free_value, value];
        let corners = self.formula.corners_between(names(from), names(to));
        let mut begin = from;
        let ends = corners.into_iter().map(|part| from + part * (to - from)).chain([to]);
        ends.map(|end| integral(&|value| self.force(value).0, std::mem::replace(&mut begin, end), end)).sum()
    }
}

/// A damper by an expression: f(ẋ, x − x₀, x).
#[derive(Debug)]
struct FormulaDamper {
    formula: OwnFormula,
    /// Value x₀ from which the elongation counts.
    free_value: f64,
}

impl ForceLaw for FormulaDamper {
    fn at(&self, value: f64, rate: f64, _: f64) -> ForceValue {
        let (force, [by_rate, by_stretch, by_value]) =
            self.formula.evaluate([rate, value - self.free_value, value]);
        ForceValue {
            force,
            by_rate,
            by_value: by_stretch + by_value,
            dissipative: force,
            ..ForceValue::default()
        }
    }
}

/// Integral of a function between two places, between which it is smooth.
///
/// Five points of Gauss and Legendre are exact for polynomials of degree nine; where halves say something
/// else than the whole they are looked at by themselves.
fn integral(function: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let whole = five_points(function, from, to);
    let size = five_points(&|place| function(place).abs(), from, to).abs();
    let mut left = MOST_PIECES;
    halves(function, [from, to], whole, SAME_INTEGRAL * size, &mut left)
}

/// Part of an integral by which it may change when a piece is taken in halves: some roundings of its terms.
const SAME_INTEGRAL: f64 = 1e-13;
/// Most pieces that are taken in halves. A choice: smooth functions need a few, a root at one of its ends some
/// fifty.
const MOST_PIECES: u32 = 100;

fn halves(
    function: &dyn Fn(f64) -> f64,
    [from, to]: [f64; 2],
    whole: f64,
    error: f64,
    left: &mut u32,
) -> f64 {
    let middle = 0.5 * (from + to);
    let parts = [five_points(function, from, middle), five_points(function, middle, to)];
    let sum = parts[0] + parts[1];
    // What is no number ends here too.
    let differs = (sum - whole).abs() > error;
    if *left == 0 || !differs || middle == from || middle == to {
        return sum;
    }
    *left -= 1;
    halves(function, [from, middle], parts[0], error, left)
        + halves(function, [middle, to], parts[1], error, left)
}

/// Gauss and Legendre's rule of five points: the places are 0 and ±√(5 ∓ 2√(10/7))/3, the weights 128/225 and
/// (322 ± 13√70)/900.
fn five_points(function: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let (centre, half) = (0.5 * (from + to), 0.5 * (to - from));
    let both = |place: f64| function(centre - half * place) + function(centre + half * place);
    let inner = (5.0 - 2.0 * (10.0_f64 / 7.0).sqrt()).sqrt() / 3.0;
    let outer = (5.0 + 2.0 * (10.0_f64 / 7.0).sqrt()).sqrt() / 3.0;
    let root = 13.0 * 70.0_f64.sqrt();
    let sum = (322.0 + root) * both(inner) + (322.0 - root) * both(outer);
    half * (128.0 / 225.0 * function(centre) + sum / 900.0)
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
