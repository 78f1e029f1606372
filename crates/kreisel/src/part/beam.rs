//! `[[beam]]`: a flexible beam along a line, an arc or a spline.

use crate::element::beam::{
    Beam, BeamEnd, Half, MAX_TURN, QuadraticBeam, QuadraticSpan, Section, Segment, SegmentLoad, Share, Span,
    SpanError,
};
use crate::element::{Axes, Quantity};
use crate::integrate::Words;
use crate::kinematics::{NodeId, join};
use crate::lie::{Group, Matrix3, Matrix6, Pose, Vector3, se3};
use crate::machine::beam::{BeamElement, BeamEntry, BeamNode, BeamPiece, SectionShare};
use crate::machine::curve::{self, Attitude, CurveError, CurveKind, PieceFrames};
use crate::machine::sensor::{FrameSensor, NamedSensor, SensorFrame};
use crate::machine::{
    Attachment, BodyEntry, BodyGroup, MachineBuilder, PartEntry, Rank, SignalCollector, placement,
};
use crate::memory::has_room;
use crate::model::{
    Dimension, Key, Law, ModelError, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference,
    SignalLaw, ValueKind,
};
use crate::part::beam_section;
use crate::system::Stated;

/// N/m and N: loads per length.
const FORCE_PER_LENGTH: Dimension = Dimension::STIFFNESS;
const TORQUE_PER_LENGTH: Dimension = Dimension::FORCE;

static DAMPING: &[Key] = &[
    Key::new("time", ValueKind::Number(Dimension::TIME), Need::Optional)
        .doc("Kelvin–Voigt damping: section forces grow by this time times the stiffness times the rate of strain."),
    Key::new("rate", ValueKind::Number(Dimension::FREQUENCY), Need::Optional)
        .doc("Damping by this rate times the momentum; it also brakes rigid motion."),
    Key::new("frequencies", ValueKind::Numbers(Dimension::FREQUENCY, &[2]), Need::Optional)
        .doc("Two frequencies in Hz whose damping ratios are given, in place of `time` and `rate`."),
    Key::new("ratios", ValueKind::Numbers(Dimension::NONE, &[2]), Need::Optional)
        .doc("Damping ratios at the two frequencies."),
];

static LOAD: &[Key] = &[
    Key::new("force", ValueKind::Signal3(FORCE_PER_LENGTH), Need::Optional)
        .doc("Force per length, of time and inputs."),
    Key::new("torque", ValueKind::Signal3(TORQUE_PER_LENGTH), Need::Optional)
        .doc("Torque per length, of time and inputs."),
    Key::new("axes", ValueKind::Choice(&["world", "section"]), Need::Default("\"world\""))
        .doc("Axes of the vectors: the world's, which keeps their direction, or those of the sections, which they follow."),
];

/// Keys of `[[beam]]`.
static KIND: PartKind = PartKind {
    name: "beam",
    doc: "A flexible beam whose sections have x along its axis. Joints, forces and sensors name its sections as `beam.start`, `beam.end`, `beam.node-3` (from 0 to the number of elements times `order`) or `beam.at-0.5` (part of its length).",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("from", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("Where a straight beam starts; at the marker of `start` if not given."),
        Key::new("to", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("Where a straight beam ends; at the marker of `end` if not given."),
        Key::new("points", ValueKind::Matrix(Dimension::LENGTH, 0, 3), Need::Optional)
            .doc("Points through which the axis runs, in place of `from` and `to`."),
        Key::new("curve", ValueKind::Choice(&["line", "arc", "spline"]), Need::Default("\"line\""))
            .doc("How the points are joined: straight with corners, by the arc of a circle through three, or smoothly."),
        Key::new("elements", ValueKind::Count, Need::Default("8"))
            .doc("Number of elements along the whole beam; if not given, at least one for each straight piece."),
        Key::new("order", ValueKind::Count, Need::Default("2"))
            .doc("2 for elements with three nodes, 1 for elements with two: half as many nodes, and larger errors of motions on as many."),
        Key::new("section", ValueKind::Table(beam_section::KEYS), Need::Required)
            .doc("What every section resists and weighs."),
        Key::new("up", ValueKind::Vector3(Dimension::NONE), Need::Optional)
            .doc("Direction to which the z axis of every section points as nearly as it can. If not given, that of the first section looks along z of the world (along x if the beam starts along z) and is carried along the axis without twist."),
        Key::new("twist", ValueKind::Numbers(Dimension::ANGLE, &[2]), Need::Default("[0, 0]"))
            .doc("Angles about the axis by which the first and the last section are turned; between them it grows with the length."),
        Key::new("start", ValueKind::Reference, Need::Optional)
            .doc("Body, marker, end of another beam or `ground` to which the start is clamped; free or held by joints if not given."),
        Key::new("end", ValueKind::Reference, Need::Optional)
            .doc("Body, marker, end of another beam or `ground` to which the end is clamped; free or held by joints if not given."),
        Key::new("damping", ValueKind::Table(DAMPING), Need::Optional).doc("Damping within the beam."),
        Key::new("load", ValueKind::Table(LOAD), Need::Optional).doc("A load spread evenly over the length."),
        Key::new("velocity", ValueKind::Vector3(Dimension::SPEED), Need::Optional)
            .doc("Initial velocity of the start in a rigid motion of the whole beam; zero if only `angular-velocity` is given. Without both its nodes start at rest where nothing moves them."),
        Key::new(
            "angular-velocity",
            ValueKind::Vector3(Dimension::ANGULAR_SPEED),
            Need::Optional,
        )
        .doc("Initial angular velocity of this motion; zero if only `velocity` is given."),
        Key::new("group", ValueKind::Choice(BodyGroup::WORDS), Need::Optional)
            .doc("Lie group of the nodes; that of the simulation if not given."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[beam]]\nname = 'rod'\nfrom = [0, 1, 0]\nto = [1, 1, 0]\nelements = 2\n\
         section = { shape = 'circle', radius = 0.1, youngs-modulus = 1e6, poisson-ratio = 0.3, density = 1000 }\n"
    ),
)
.spatial()];

/// Most elements of a beam.
const MAX_ELEMENTS: u32 = 100_000;
/// Memory that an element takes at least, with its rows and its share of the matrix.
const ELEMENT_BYTES: usize = 11_000;
/// Most bodies and nodes of a machine that has beams.
const MAX_NODES: usize = 400_000;

/// Adds a beam: nodes where it is not clamped, elements, inertia and loads.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let clamps = [clamp(&reader, builder, "start")?, clamp(&reader, builder, "end")?];
    let order = order(&reader)?;
    let elements = reader.count("elements")?;
    if elements > MAX_ELEMENTS {
        let requirement = format!("at most {MAX_ELEMENTS}");
        return Err(reader.unsuitable("elements", &requirement, elements).into());
    }
    let nodes = builder.frames().bodies().len() + elements as usize * order;
    if nodes > MAX_NODES {
        let requirement = format!("so few that bodies and nodes of beams are at most {MAX_NODES}");
        return Err(reader.unsuitable("elements", &requirement, elements).into());
    }
    if !has_room(elements as usize * ELEMENT_BYTES) {
        let requirement = "so few that there is memory for them";
        return Err(reader.unsuitable("elements", requirement, elements).into());
    }
    let frames = frames(&reader, order, &clamps)?;
    let section = reader.table("section")?.map(beam_section::read).transpose()?;
    let section = section.ok_or_else(|| reader.missing("section", "add `section = { … }`"))?;
    let (damping_time, damping_rate) = damping(&reader)?;
    let plan = BeamPlan {
        name: part.name(),
        spans: spans(&reader, &frames)?,
        shapes: if order == 2 { shapes(&reader, &frames)? } else { Vec::new() },
        is_even: reader.choice("curve")? != "line",
        frames,
        section,
        group: builder.group(&reader)?,
        motion: motion(&reader)?,
        damping_time,
        damping_rate,
    };
    let stations = plan.add_nodes(builder, &clamps);
    let masses = plan.masses(&stations);
    plan.add_inertia(builder, &stations, &masses);
    let load = reader.table("load")?.map(|load| plan.add_load(builder, &stations, load)).transpose()?;
    let entry = plan.entry(&stations, builder.gravity(), load.as_ref());
    offer_ends(builder, &entry);
    builder.frames_mut().add_beam(entry);
    plan.add_elements(builder);
    reader.finish()
}

/// Lets the ends be measured that something carries.
fn offer_ends(builder: &mut MachineBuilder, beam: &BeamEntry) {
    let ends = [("start", beam.node(0)), ("end", beam.node(beam.node_count() - 1))];
    for (word, end) in ends.into_iter().filter_map(|(word, end)| Some((word, end?))) {
        if end.node.is_some() {
            let of = SensorFrame { node: end.node, offset: end.offset };
            let name = format!("{}.{word}.position", beam.name);
            let position = NamedSensor::new(name, FrameSensor::position(of));
            builder.signals_mut().offer(Rank::Place, position);
        }
    }
}

/// What an end is clamped to.
struct Clamp {
    reference: Reference,
    attachment: Attachment,
}

impl Clamp {
    /// Where the marker stands, if one is named.
    fn place(&self) -> Option<Vector3> {
        self.attachment.marker.map(|marker| self.attachment.body.compose(&marker).position)
    }
}

fn clamp(reader: &PartReader, builder: &MachineBuilder, end: &str) -> Result<Option<Clamp>, ModelErrors> {
    let Some(reference) = reader.optional_reference(end)? else { return Ok(None) };
    let attachment = builder.attachment(&reference)?;
    if attachment.node.is_some_and(|node| builder.frames().is_point_mass(node)) {
        let found = format!("the point mass `{}`, which has no orientation", reference.name);
        let error = reader.unsuitable(end, "a body that can turn", found);
        return Err(error.with_hint("leave the end free and join it by a `[[spherical]]`").into());
    }
    Ok(Some(Clamp { reference, attachment }))
}

/// Points of the axis in the world of the model.
fn points(reader: &PartReader, clamps: &[Option<Clamp>; 2]) -> Result<Vec<Vector3>, ModelErrors> {
    let placement = placement(reader);
    if let Some(rows) = reader.optional_matrix("points")? {
        let points: Vec<Vector3> = rows
            .row_iter()
            .map(|row| placement.transform_point(&Vector3::new(row[0], row[1], row[2])))
            .collect();
        reader.require(points.len() >= 2, "points", "at least two points", points.len())?;
        return Ok(points);
    }
    let end = |key: &str, clamp: &Option<Clamp>, other: &str| -> Result<Vector3, ModelErrors> {
        let given = reader.optional_vector3(key)?.map(|point| placement.transform_point(&point));
        let point = given.or_else(|| clamp.as_ref().and_then(Clamp::place));
        let hint = || format!("or name a marker in `{other}`, or give `points`");
        Ok(point.ok_or_else(|| reader.missing(key, hint()))?)
    };
    Ok(vec![end("from", &clamps[0], "start")?, end("to", &clamps[1], "end")?])
}

/// Share of a beam's length by which an end may miss the marker to which it is clamped: places in files are
/// often given with six digits.
const MISFIT: f64 = 1e-6;

/// Pieces in an element.
fn order(reader: &PartReader) -> Result<usize, ModelErrors> {
    match reader.count("order")? {
        order @ (1 | 2) => Ok(order as usize),
        other => Err(reader.unsuitable("order", "1 or 2", other).into()),
    }
}

fn frames(
    reader: &PartReader,
    order: usize,
    clamps: &[Option<Clamp>; 2],
) -> Result<Vec<PieceFrames>, ModelErrors> {
    let points = points(reader, clamps)?;
    let kind = match reader.choice("curve")? {
        "arc" => CurveKind::Arc,
        "spline" => CurveKind::Spline,
        _ => CurveKind::Line,
    };
    let mut elements = reader.count("elements")? as usize;
    if elements == 0 {
        return Err(reader.unsuitable("elements", "at least 1", 0).into());
    }
    if kind == CurveKind::Line && !reader.has("elements") {
        elements = elements.max(points.len() - 1);
    }
    let twist = reader.numbers("twist")?;
    let turn = (twist[1] - twist[0]).abs() / (elements * order) as f64;
    if turn > MAX_TURN {
        // Frames alone cannot tell a twist from one with a full turn less.
        return Err(too_much_turn(reader, turn).into());
    }
    let up = reader.optional_direction("up")?.map(|up| placement(reader).rotation * up);
    let attitude = Attitude { up, twist: [twist[0], twist[1]] };
    let frames = curve::frames(kind, &points, [elements, order], &attitude)
        .map_err(|error| no_axis(reader, &error, &points))?;
    let length = (points[points.len() - 1] - points[0]).norm().max((points[1] - points[0]).norm());
    let ends = [("start", points[0]), ("end", points[points.len() - 1])];
    for ((end, point), clamp) in ends.iter().zip(clamps) {
        let Some((clamp, place)) = clamp.as_ref().and_then(|clamp| Some((clamp, clamp.place()?))) else {
            continue;
        };
        let distance = (point - place).norm();
        if distance > MISFIT * length {
            let requirement = format!("where the beam {end}s");
            let found = format!("`{}`, which is {distance:.4e} m away", clamp.reference.name);
            let error = reader.unsuitable(end, &requirement, found);
            return Err(error.with_hint("move the point or the marker, or leave `from` or `to` out").into());
        }
    }
    Ok(frames)
}

fn no_axis(reader: &PartReader, error: &CurveError, points: &[Vector3]) -> ModelErrors {
    let whole = if reader.has("points") { "points" } else { "to" };
    let point = |index: usize| {
        let p = points[index];
        format!("({}, {}, {})", p.x, p.y, p.z)
    };
    let (key, requirement, found) = match error {
        CurveError::NoLength { first, second } if reader.has("points") => (
            whole,
            "points that lie apart".to_string(),
            format!("point {} and point {} at {}", first + 1, second + 1, point(*second)),
        ),
        CurveError::NoLength { .. } => (whole, "away from where it starts".to_string(), point(1)),
        CurveError::TooFewElements { pieces } => (
            "elements",
            format!("at least {pieces}, one for each straight piece"),
            reader.count("elements").map_or_else(|_| String::new(), |count| count.to_string()),
        ),
        CurveError::NotThreePoints { found } => {
            (whole, "three points for an arc: start, between, end".to_string(), found.to_string())
        }
        CurveError::Straight => (whole, "three points of a circle".to_string(), "on a line".to_string()),
        CurveError::UpAlongAxis { part } => (
            "up",
            "another direction than that of the axis".to_string(),
            format!("along it at {part:.3} of the length"),
        ),
    };
    reader.unsuitable(key, &requirement, found).into()
}

fn too_much_turn(reader: &PartReader, angle: f64) -> ModelError {
    let found = format!("{angle:.2} rad between two nodes");
    let requirement = format!("so many that nodes are turned by less than {MAX_TURN} rad against each other");
    reader.unsuitable("elements", &requirement, found)
}

fn refused(reader: &PartReader, error: SpanError) -> ModelErrors {
    let error = match error {
        SpanError::NoLength { distance } => {
            reader.unsuitable("elements", "so few that each has a length", format!("{distance:e} m each"))
        }
        SpanError::TooMuchTurn { angle } => too_much_turn(reader, angle),
    };
    error.into()
}

fn spans(reader: &PartReader, frames: &[PieceFrames]) -> Result<Vec<Span>, ModelErrors> {
    let span = |[first, second]: &PieceFrames| Span::between(first, second);
    frames.iter().map(|frames| span(frames).map_err(|error| refused(reader, error))).collect()
}

/// Shapes of elements with three nodes.
fn shapes(reader: &PartReader, frames: &[PieceFrames]) -> Result<Vec<QuadraticSpan>, ModelErrors> {
    let shape = |pair: &[PieceFrames]| QuadraticSpan::through([&pair[0][0], &pair[0][1], &pair[1][1]]);
    frames.chunks_exact(2).map(|pair| shape(pair).map_err(|error| refused(reader, error))).collect()
}

/// Time η and rate α of the damping.
fn damping(reader: &PartReader) -> Result<(f64, f64), ModelErrors> {
    let Some(table) = reader.table("damping")? else { return Ok((0.0, 0.0)) };
    let damping = if table.has("ratios") || table.has("frequencies") {
        rayleigh(&table)?
    } else {
        let or_none = |key: &str| if table.has(key) { table.not_negative(key) } else { Ok(0.0) };
        (or_none("time")?, or_none("rate")?)
    };
    table.finish()?;
    Ok(damping)
}

/// ζ = α/(2ω) + η ω/2 at two frequencies.
fn rayleigh(table: &PartReader) -> Result<(f64, f64), ModelErrors> {
    let (frequencies, ratios) = (table.numbers("frequencies")?, table.numbers("ratios")?);
    let [first, second] = [frequencies[0], frequencies[1]].map(|f| std::f64::consts::TAU * f);
    if first <= 0.0 || second <= first {
        let found = format!("{} and {}", frequencies[0], frequencies[1]);
        return Err(table.unsuitable("frequencies", "positive and in rising order", found).into());
    }
    let squares = second * second - first * first;
    let time = 2.0 * (ratios[1] * second - ratios[0] * first) / squares;
    let rate = 2.0 * first * second * (ratios[0] * second - ratios[1] * first) / squares;
    if time < 0.0 || rate < 0.0 {
        let (low, high) = (ratios[0] * first / second, ratios[0] * second / first);
        let requirement = format!("such that nothing is driven: the second between {low:.4} and {high:.4}");
        return Err(table.unsuitable("ratios", &requirement, ratios[1]).into());
    }
    Ok((time, rate))
}

/// Initial velocity of the start and angular velocity, in the world of the model, if one of them is given.
fn motion(reader: &PartReader) -> Result<Option<[Vector3; 2]>, ModelErrors> {
    let turn = placement(reader).rotation;
    let given = [reader.optional_vector3("velocity")?, reader.optional_vector3("angular-velocity")?];
    let stated = given.iter().any(Option::is_some);
    Ok(stated.then(|| given.map(|vector| turn * vector.unwrap_or_default())))
}

/// A beam that is being added.
struct BeamPlan<'a> {
    name: &'a str,
    frames: Vec<PieceFrames>,
    /// Initial shapes of the pieces.
    spans: Vec<Span>,
    /// Initial shapes of elements with three nodes; none of elements with two.
    shapes: Vec<QuadraticSpan>,
    /// Whether nodes lie at equal lengths of the curve.
    is_even: bool,
    section: Section,
    group: Group,
    /// Initial velocity of the start, and angular velocity.
    motion: Option<[Vector3; 2]>,
    damping_time: f64,
    damping_rate: f64,
}

/// The load along a beam.
struct BeamLoad {
    axes: Axes,
    /// Torque and force per length.
    components: [Quantity; 6],
    /// World axes from the axes in which a dead load is given.
    turn: Matrix3,
    /// Initial values of its inputs.
    inputs: Vec<f64>,
    /// One of its elements in the system.
    element: Option<usize>,
}

impl BeamLoad {
    /// What a node bears of it, by the wrench per load.
    fn on(&self, node: NodeId, wrench: Matrix6) -> SegmentLoad {
        let load = SegmentLoad::new(node, self.axes, self.components.clone(), wrench);
        load.in_axes_turned_by(self.turn).with_inputs(self.inputs.clone())
    }
}

/// Sections at the two ends of each piece.
type Stations = Vec<[BeamNode; 2]>;

impl BeamPlan<'_> {
    /// Pose of a node: that of the section behind it, and of the last section at the end.
    fn node_pose(&self, index: usize) -> Pose {
        match self.frames.get(index) {
            Some([first, _]) => *first,
            None => self.frames[self.frames.len() - 1][1],
        }
    }

    /// Adds the nodes that are not clamped.
    fn add_nodes(&self, builder: &mut MachineBuilder, clamps: &[Option<Clamp>; 2]) -> Stations {
        let last = self.frames.len();
        let carriers: Vec<(Option<NodeId>, Pose)> = (0..=last)
            .map(|index| {
                let clamp = match index {
                    0 => &clamps[0],
                    index if index == last => &clamps[1],
                    _ => &None,
                };
                match clamp {
                    Some(Clamp { attachment, .. }) => (attachment.node, attachment.body),
                    None => (Some(self.add_node(builder, index)), self.node_pose(index)),
                }
            })
            .collect();
        let station = |index: usize, frame: &Pose| {
            let (node, body) = carriers[index];
            // A section that is the node itself stands on it to the last digit.
            let offset = if body == *frame { Pose::identity() } else { body.inverse().compose(frame) };
            BeamNode { node, body, offset }
        };
        let ends = |(index, [first, second]): (usize, &PieceFrames)| {
            [station(index, first), station(index + 1, second)]
        };
        self.frames.iter().enumerate().map(ends).collect()
    }

    fn add_node(&self, builder: &mut MachineBuilder, index: usize) -> NodeId {
        let pose = self.node_pose(index);
        let [velocity, angular] = self.motion.unwrap_or_default();
        let arm = pose.position - self.node_pose(0).position;
        let to_body = |vector: Vector3| pose.rotation.inverse_transform_vector(&vector);
        let twist = join(&to_body(angular), &to_body(velocity + angular.cross(&arm)));
        let (name, group) = (format!("{}.node-{index}", self.name), self.group);
        let node = builder.add_body(BodyEntry::new(&name, group, pose), twist);
        let moves = self.motion.is_some();
        builder.set_stated(node, Stated { velocity: moves, angular_velocity: moves, ..Stated::ALL });
        node
    }

    /// What of its elements each node carries, with the section at which it does.
    fn shares(&self, stations: &Stations) -> Vec<(usize, BeamNode, Share)> {
        if self.shapes.is_empty() {
            let halves = |(index, (span, [first, second])): (usize, (&Span, &[BeamNode; 2]))| {
                let share = |half: Half| Share::Half(*span, half);
                [(index, *first, share(Half::First)), (index + 1, *second, share(Half::Second))]
            };
            return self.spans.iter().zip(stations).enumerate().flat_map(halves).collect();
        }
        let thirds = |(index, (shape, pair)): (usize, (&QuadraticSpan, &[[BeamNode; 2]]))| {
            let sections = [pair[0][0], pair[0][1], pair[1][1]];
            let lengths = shape.node_lengths();
            [0, 1, 2].map(|k| (2 * index + k, sections[k], Share::Length(lengths[k])))
        };
        self.shapes.iter().zip(stations.chunks_exact(2)).enumerate().flat_map(thirds).collect()
    }

    /// Sums something over the shares of each node, carried from the section to the node.
    fn at_nodes(&self, stations: &Stations, part: impl Fn(&Share, &Matrix6) -> Matrix6) -> Vec<Matrix6> {
        let mut sums = vec![Matrix6::zeros(); self.frames.len() + 1];
        for (index, section, share) in self.shares(stations) {
            sums[index] += part(&share, &se3::adjoint(&section.offset.inverse()));
        }
        sums
    }

    fn masses(&self, stations: &Stations) -> Vec<Matrix6> {
        let section = self.section.mass();
        let mass = |share: &Share, carried: &Matrix6| carried.transpose() * share.mass(section) * carried;
        let sums = self.at_nodes(stations, mass);
        sums.into_iter().map(|mass| 0.5 * (mass + mass.transpose())).collect()
    }

    fn add_inertia(&self, builder: &mut MachineBuilder, stations: &Stations, masses: &[Matrix6]) {
        let gravity = builder.gravity();
        for (index, mass) in masses.iter().enumerate() {
            let name = format!("{}.node-{index}", self.name);
            let inertia = mass.fixed_view::<3, 3>(0, 0).into();
            builder.frames_mut().add_beam_mass(&name, mass[(3, 3)], inertia);
            let Some(node) = carrier(stations, index) else { continue };
            builder.add_element(&name, Segment::new(node, *mass, gravity, self.damping_rate));
        }
    }

    fn add_load(
        &self,
        builder: &mut MachineBuilder,
        stations: &Stations,
        reader: PartReader,
    ) -> Result<BeamLoad, ModelErrors> {
        let (force, torque) = (reader.optional_signal3("force")?, reader.optional_signal3("torque")?);
        if force.is_none() && torque.is_none() {
            return Err(reader.missing("force", "or `torque`").into());
        }
        let axes = if reader.choice("axes")? == "section" { Axes::Marker } else { Axes::World };
        let wrenches = self.at_nodes(stations, |share, carried| match axes {
            Axes::Marker => carried.transpose() * share.following(),
            // The load is in axes of the node already, the moment arm in those of the section.
            Axes::World => {
                let dead = share.dead();
                let mut turned = Matrix6::zeros();
                for block in [0, 3] {
                    turned.fixed_view_mut::<3, 3>(block, block).copy_from(&carried.fixed_view::<3, 3>(0, 0));
                }
                carried.transpose() * dead * turned
            }
        });
        let (components, used) = {
            let mut collector = SignalCollector::new(builder, reader.description(), Vec::new());
            let mut three = |signals: Option<[SignalLaw; 3]>| -> Result<[Quantity; 3], ModelErrors> {
                let nothing = || std::array::from_fn(|_| SignalLaw::Law(Law::Constant(0.0)));
                let [x, y, z] = signals.unwrap_or_else(nothing);
                Ok([collector.quantity(&x)?, collector.quantity(&y)?, collector.quantity(&z)?])
            };
            let ([a, b, c], [d, e, f]) = (three(torque)?, three(force)?);
            ([a, b, c, d, e, f], collector.finish())
        };
        if !used.signals.is_empty() {
            let key = if reader.has("force") { "force" } else { "torque" };
            let found = "of measured quantities or states";
            return Err(reader.unsuitable(key, "of time and inputs only", found).into());
        }
        // A dead load of an included file is given in the axes of that file.
        let turn = placement(&reader).rotation.to_rotation_matrix().into_inner();
        let mut load = BeamLoad { axes, components, turn, inputs: used.initial, element: None };
        for (index, wrench) in wrenches.iter().enumerate() {
            let Some(node) = carrier(stations, index) else { continue };
            let element = builder.add_element(&format!("{}.load", self.name), load.on(node, *wrench));
            builder.signals_mut().connect_inputs(element, used.inputs.clone());
            load.element = Some(element);
        }
        reader.finish()?;
        Ok(load)
    }

    /// What the sections carry for each element, as parts of their own about the sections.
    fn section_shares(
        &self,
        stations: &Stations,
        gravity: Vector3,
        load: Option<&BeamLoad>,
    ) -> Vec<Vec<SectionShare>> {
        // Their motion is handed over section by section: each has one node, which is the section.
        let section = NodeId(0);
        let share = |(_, _, share): &(usize, BeamNode, Share)| SectionShare {
            inertia: Segment::new(section, share.mass(self.section.mass()), gravity, self.damping_rate),
            load: load.map(|load| match load.axes {
                Axes::Marker => load.on(section, share.following()),
                Axes::World => load.on(section, share.dead()),
            }),
        };
        let sections = if self.shapes.is_empty() { 2 } else { 3 };
        let shares: Vec<SectionShare> = self.shares(stations).iter().map(share).collect();
        shares.chunks_exact(sections).map(<[SectionShare]>::to_vec).collect()
    }

    fn elements(&self, stations: &Stations) -> Vec<BeamElement> {
        let end = |station: &BeamNode| BeamEnd {
            node: station.node,
            offset: (station.offset != Pose::identity()).then_some(station.offset),
        };
        let (section, time) = (&self.section, self.damping_time);
        if self.shapes.is_empty() {
            let screw = |(ends, span): (&[BeamNode; 2], &Span)| {
                BeamElement::Screw(Box::new(Beam::new(ends.each_ref().map(end), span, section, time)))
            };
            return stations.iter().zip(&self.spans).map(screw).collect();
        }
        let quadratic = |(pair, shape): (&[[BeamNode; 2]], &QuadraticSpan)| {
            let sections = [&pair[0][0], &pair[0][1], &pair[1][1]];
            BeamElement::Quadratic(Box::new(QuadraticBeam::new(sections.map(end), shape, section, time)))
        };
        stations.chunks_exact(2).zip(&self.shapes).map(quadratic).collect()
    }

    fn entry(&self, stations: &Stations, gravity: Vector3, load: Option<&BeamLoad>) -> BeamEntry {
        let piece = |(span, ends): (&Span, &[BeamNode; 2])| BeamPiece { span: *span, ends: *ends };
        BeamEntry {
            name: self.name.to_string(),
            pieces: self.spans.iter().zip(stations).map(piece).collect(),
            elements: self.elements(stations),
            shares: self.section_shares(stations, gravity, load),
            load_element: load.and_then(|load| load.element),
            order: if self.shapes.is_empty() { 1 } else { 2 },
            section: self.section,
            is_even: self.is_even,
        }
    }

    fn add_elements(&self, builder: &mut MachineBuilder) {
        let Some(entry) = builder.frames().beams().last() else { return };
        for (index, element) in entry.elements.clone().into_iter().enumerate() {
            let name = format!("{}.element-{index}", self.name);
            match element {
                BeamElement::Screw(element) => builder.add_element(&name, *element),
                BeamElement::Quadratic(element) => builder.add_element(&name, *element),
            };
        }
    }
}

/// Node that carries the section at a node of the beam; `None` is the ground.
fn carrier(stations: &Stations, index: usize) -> Option<NodeId> {
    match stations.get(index) {
        Some(ends) => ends[0].node,
        None => stations.last().and_then(|ends| ends[1].node),
    }
}
