//! `[[sensor]]`: what is recorded beyond the usual.

use crate::lie::{Pose, Vector6, se3};
use crate::machine::MachineBuilder;
use crate::machine::PartEntry;
use crate::machine::beam::{BeamNode, Station};
use crate::machine::sensor::{
    CONTACT_QUANTITIES, FrameQuantity, GroupQuantity, Measurement, REACTIONS, SectionQuantity, Sensor,
    SensorFrame, coordinate, coordinate_names,
};
use crate::model::error::{Mistake, ModelError};
use crate::model::kind::key;
use crate::model::{ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference, Text, ValueKind};

/// Keys of `[[sensor]]`.
static KIND: PartKind = PartKind {
    name: "sensor",
    doc: "A quantity to be recorded. Without a name its signals are called after what it measures: `top.tip.velocity.x`.",
    occurrence: Occurrence::Many,
    keys: &[
        key(
            "quantity",
            ValueKind::Text,
            Need::Required,
            "What is measured. Of a body or marker: `position`, `orientation`, `rotation-vector`, `velocity`, `angular-velocity`, `acceleration`, `angular-acceleration`. Of a section of a beam (`beam.end`, `beam.at-0.5`) also `displacement` and `rotation` from its initial place, `strain`, and `force` and `torque` in section axes. Of a joint: its coordinates and rates such as `angle` and `rate`, `force`, `torque`. Of a contact: `force` on its second body, `normal-force`, `depth`. Of a contact group: `contacts` (how many pairs touch), `normal-force` (the sum of all), `depth` (the largest). Of the machine: `energy`, `constraint`, `solver` (step size, Newton iterations and steps taken back since the last record).",
        ),
        key(
            "of",
            ValueKind::Reference,
            Need::Optional,
            "The body, marker (`top.tip`), joint or drive that is measured; nothing for quantities of the machine.",
        ),
        key(
            "relative-to",
            ValueKind::Reference,
            Need::Optional,
            "Body or marker from which a motion is observed; the ground if not given.",
        ),
        key(
            "axes",
            ValueKind::Text,
            Need::Optional,
            "Axes of the components: `world`, `joint` for reactions, or those of a body or marker; those of `relative-to` if not given.",
        ),
    ],
};

const FRAME_QUANTITIES: &[(&str, FrameQuantity)] = &[
    ("position", FrameQuantity::Position),
    ("orientation", FrameQuantity::Orientation),
    ("rotation-vector", FrameQuantity::RotationVector),
    ("velocity", FrameQuantity::Velocity),
    ("angular-velocity", FrameQuantity::AngularVelocity),
    ("acceleration", FrameQuantity::Acceleration),
    ("angular-acceleration", FrameQuantity::AngularAcceleration),
];

const GROUP_QUANTITIES: &[(&str, GroupQuantity)] = &[
    ("contacts", GroupQuantity::Contacts),
    ("normal-force", GroupQuantity::NormalForce),
    ("depth", GroupQuantity::Depth),
];

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry {
    kind: &KIND,
    add: &add,
    changeable: false,
    sample: on_body!(
        r#"[[sensor]]
quantity = "velocity"
of = "arm"
"#
    ),
}];

/// Adds a sensor.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let request = SensorRequest {
        quantity: reader.text("quantity")?,
        of: reader.optional_reference("of")?,
        relative_to: reader.has("relative-to"),
        axes: reader.has("axes"),
    };
    if !reader.has("name") && (request.relative_to || request.axes) {
        let mistake = Mistake::MissingKey { key: "name".to_string(), part: reader.description().to_string() };
        let hint = "signals seen from another frame need a name of their own";
        return Err(ModelError::new(mistake, reader.place().clone()).with_hint(hint).into());
    }
    let measurement = measurement(&reader, &request, builder)?;
    let owner = match (&request.of, reader.has("name")) {
        (_, true) => Some(part.name().to_string()),
        (Some(of), false) => Some(of.name.clone()),
        (None, false) => None,
    };
    let quantity = request.quantity.content();
    let name = owner.map_or(quantity.to_string(), |owner| format!("{owner}.{quantity}"));
    builder.add_sensor(Sensor { name, measurement });
    reader.finish()
}

/// What the user asks for.
struct SensorRequest {
    quantity: Text,
    of: Option<Reference>,
    relative_to: bool,
    axes: bool,
}

fn measurement(
    reader: &PartReader,
    request: &SensorRequest,
    builder: &MachineBuilder,
) -> Result<Measurement, ModelErrors> {
    let quantity = request.quantity.content();
    let Some(of) = &request.of else {
        return match quantity {
            "energy" => Ok(Measurement::Energies),
            "constraint" => Ok(Measurement::Residuals),
            "solver" => Ok(Measurement::Solver),
            _ => Err(no_object(reader, &request.quantity).into()),
        };
    };
    if let Some(state) = builder.state_named(&format!("{}.{quantity}", of.name)) {
        return Ok(Measurement::State { state: state.state, unit: state.unit.clone() });
    }
    if let Some(index) = builder.constraint_named(&of.name) {
        return joint_measurement(reader, &request.quantity, of, index, builder);
    }
    if let Some(contact) = builder.contacts().iter().find(|contact| contact.name == of.name) {
        let found = CONTACT_QUANTITIES.iter().find(|(word, _)| *word == quantity);
        let words = CONTACT_QUANTITIES.iter().map(|(word, _)| *word);
        let (_, quantity) = found.ok_or_else(|| unknown_quantity(&request.quantity, words))?;
        return Ok(Measurement::Contact {
            elements: contact.elements.clone(),
            quantity: *quantity,
            shown_at: contact.shown_at,
        });
    }
    if builder.system().contact_group_names().any(|name| name == of.name) {
        let found = GROUP_QUANTITIES.iter().find(|(word, _)| *word == quantity);
        let words = GROUP_QUANTITIES.iter().map(|(word, _)| *word);
        let (_, quantity) = found.ok_or_else(|| unknown_quantity(&request.quantity, words))?;
        return Ok(Measurement::ContactGroup { group: of.name.clone(), quantity: *quantity });
    }
    if let Some(measurement) = beam_measurement(request, of, builder) {
        return measurement;
    }
    let attachment = builder.attachment(of).map_err(|error| with_joints(error, of, builder))?;
    let Some((_, frame_quantity)) = FRAME_QUANTITIES.iter().find(|(word, _)| *word == quantity) else {
        let words = FRAME_QUANTITIES.iter().map(|(word, _)| *word);
        return Err(unknown_quantity(&request.quantity, words).into());
    };
    let of = SensorFrame { node: attachment.node, offset: attachment.marker.unwrap_or_default() };
    let relative_to = match reader.optional_reference("relative-to")? {
        Some(reference) => frame_of(builder, &reference)?,
        None => SensorFrame::default(),
    };
    let turns = matches!(frame_quantity, FrameQuantity::Orientation | FrameQuantity::RotationVector);
    // A rotation has no components to be turned: `axes` has no effect on it, and the reader says so.
    let axes = if turns { relative_to } else { axes_of(reader, builder)?.unwrap_or(relative_to) };
    Ok(Measurement::Frame { quantity: *frame_quantity, of, relative_to, axes })
}

const SECTION_QUANTITIES: &[(&str, SectionQuantity)] = &[
    ("strain", SectionQuantity::Strain),
    ("force", SectionQuantity::Force),
    ("torque", SectionQuantity::Torque),
];

/// Words for how far a section of a beam went from its initial place.
const CHANGES: &[(&str, FrameQuantity)] =
    &[("displacement", FrameQuantity::Position), ("rotation", FrameQuantity::RotationVector)];

/// What can be measured at a section of a beam and nowhere else: strains, forces, the way from the initial
/// place, and the motion between nodes.
fn beam_measurement(
    request: &SensorRequest,
    of: &Reference,
    builder: &MachineBuilder,
) -> Option<Result<Measurement, ModelErrors>> {
    let (beam, word) = builder.beam_section(&of.name)?;
    let station = beam.station(word)?;
    let quantity = request.quantity.content();
    if let Some((_, quantity)) = SECTION_QUANTITIES.iter().find(|(word, _)| *word == quantity) {
        let points = beam.strain_points(word)?;
        return Some(Ok(Measurement::Section { points, quantity: *quantity }));
    }
    let change = CHANGES.iter().find(|(word, _)| *word == quantity);
    match (station, change) {
        (Station::Node(node), Some((_, quantity))) => {
            let of = SensorFrame { node: node.node, offset: node.offset };
            let relative_to = SensorFrame { node: None, offset: node.pose() };
            let axes = SensorFrame::default();
            Some(Ok(Measurement::Frame { quantity: *quantity, of, relative_to, axes }))
        }
        (Station::Node(_), None) if FRAME_QUANTITIES.iter().any(|(word, _)| *word == quantity) => None,
        (Station::Within { piece, part }, _) if WITHIN.iter().any(|(word, _)| *word == quantity) => {
            let (_, kind) = WITHIN.iter().find(|(word, _)| *word == quantity)?;
            let (base, others) = beam.interpolation(piece, part);
            let (first, mut path) = (base.pose(), Vector6::zeros());
            for (other, weight) in &others {
                path += *weight * se3::log(&first.inverse().compose(&other.pose())).ok()?;
            }
            let initial = first.compose(&se3::exp(&path));
            let relative_to = if change.is_some() { initial } else { Pose::identity() };
            let frame = |section: BeamNode| SensorFrame { node: section.node, offset: section.offset };
            let to = others.into_iter().map(|(section, weight)| (frame(section), weight)).collect();
            Some(Ok(Measurement::Within { quantity: *kind, from: frame(base), to, relative_to }))
        }
        (station, _) => {
            let frames = match station {
                Station::Node(_) => FRAME_QUANTITIES,
                Station::Within { .. } => WITHIN,
            };
            let words = SECTION_QUANTITIES.iter().map(|(word, _)| *word);
            let words = words.chain(CHANGES.iter().chain(frames).map(|(word, _)| *word));
            Some(Err(unknown_quantity(&request.quantity, words).into()))
        }
    }
}

/// What can be measured between two nodes of a beam.
const WITHIN: &[(&str, FrameQuantity)] = &[
    ("displacement", FrameQuantity::Position),
    ("rotation", FrameQuantity::RotationVector),
    ("position", FrameQuantity::Position),
    ("orientation", FrameQuantity::Orientation),
    ("rotation-vector", FrameQuantity::RotationVector),
    ("velocity", FrameQuantity::Velocity),
    ("angular-velocity", FrameQuantity::AngularVelocity),
];

fn joint_measurement(
    reader: &PartReader,
    quantity: &Text,
    of: &Reference,
    index: usize,
    builder: &MachineBuilder,
) -> Result<Measurement, ModelErrors> {
    if let Some((_, part)) = REACTIONS.iter().find(|(word, _)| *word == quantity.content()) {
        let axes = match reader.optional_text("axes")? {
            Some(text) if text.content() == "joint" => joint_axes(reader, of, builder)?,
            _ => axes_of(reader, builder)?.unwrap_or_default(),
        };
        return Ok(Measurement::Reaction { joint: index, part: *part, axes });
    }
    match builder.measured(&format!("{}.{}", of.name, quantity.content())) {
        Some(measured) => Ok(coordinate(&measured)),
        None => {
            let entry = builder.joint(of).ok();
            let names = entry.map(coordinate_names).unwrap_or_default();
            let words = names.iter().map(String::as_str).chain(REACTIONS.iter().map(|(word, _)| *word));
            Err(unknown_quantity(quantity, words).into())
        }
    }
}

fn frame_of(builder: &MachineBuilder, reference: &Reference) -> Result<SensorFrame, ModelError> {
    let attachment = builder.attachment(reference)?;
    Ok(SensorFrame { node: attachment.node, offset: attachment.marker.unwrap_or_else(Pose::identity) })
}

/// The frame on the joint's first body.
fn joint_axes(
    reader: &PartReader,
    of: &Reference,
    builder: &MachineBuilder,
) -> Result<SensorFrame, ModelErrors> {
    match builder.joint(of) {
        Ok(joint) => Ok(SensorFrame { node: joint.nodes[0], offset: joint.offsets[0] }),
        Err(_) => Err(reader
            .unsuitable("axes", "`world` or a body for what has no axes of its own", "`joint`")
            .into()),
    }
}

fn axes_of(reader: &PartReader, builder: &MachineBuilder) -> Result<Option<SensorFrame>, ModelErrors> {
    let Some(text) = reader.optional_text("axes")? else { return Ok(None) };
    if matches!(text.content(), "world" | "ground") {
        return Ok(Some(SensorFrame::default()));
    }
    let reference =
        Reference { name: reader.context().full_name(text.content()), place: text.place().clone() };
    match frame_of(builder, &reference) {
        Ok(frame) => Ok(Some(frame)),
        Err(error) if reference.name.contains('.') => Err(error.into()),
        Err(_) => {
            let words = ["world", "joint"].into_iter();
            let names = builder.bodies().iter().map(|body| body.name.as_str());
            Err(reference.unknown("body", words.chain(names)).into())
        }
    }
}

/// The error that nothing of the name can be measured, with the names of bodies and joints.
fn with_joints(error: ModelError, of: &Reference, builder: &MachineBuilder) -> ModelError {
    if of.name.contains('.') {
        return error;
    }
    let bodies = builder.bodies().iter().map(|body| body.name.as_str());
    let joints = builder.joints().iter().map(|joint| joint.name.as_str());
    of.unknown("body or joint", bodies.chain(joints))
}

fn unknown_quantity<'n>(quantity: &Text, words: impl Iterator<Item = &'n str>) -> ModelError {
    let name = quantity.content().chars().take(60).collect();
    let error = ModelError::new(Mistake::UnknownName { what: "quantity", name }, quantity.place().clone());
    error.with_nearest(quantity.content(), words)
}

/// The error of a quantity that belongs to a part which is not named.
fn no_object(reader: &PartReader, quantity: &Text) -> ModelError {
    let belongs =
        FRAME_QUANTITIES.iter().map(|(word, _)| *word).chain(REACTIONS.iter().map(|(word, _)| *word));
    let known: Vec<&str> = belongs.collect();
    if known.contains(&quantity.content()) {
        let mistake = Mistake::MissingKey { key: "of".to_string(), part: reader.description().to_string() };
        return ModelError::new(mistake, reader.place().clone())
            .with_hint("name the body, marker or joint that is measured: `of = \"…\"`");
    }
    unknown_quantity(quantity, known.into_iter().chain(["energy", "constraint", "solver"]))
}
