//! `[[force]]`: a force and a torque on a body.

use super::plane;
use crate::element::{Axes, MarkerForce, Quantity};
use crate::lie::{Pose, UnitQuaternion};
use crate::machine::sensor::{AppliedPower, AppliedWrench, SensorFrame, WrenchPart};
use crate::machine::{MachineBuilder, PartEntry, Rank, SignalCollector, placement};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, SignalLaw, ValueKind,
};

/// Keys of `[[force]]`.
static KIND: PartKind = PartKind {
    name: "force",
    doc: "A force, a torque or both on a body; each component is a number, a law of time, or an expression of `t`, joint coordinates (`crank.angle`, `crank.angle-rate`) and positions and velocities (`arm.tip.position.z`). Measures the vectors `force` and `torque` in world axes, and its `power`.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("body", ValueKind::Reference, Need::Required)
            .doc("The body on which it acts, at its centre of mass, or a marker (`crank.pin`)."),
        Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("Where it acts, in the world at the initial configuration, in place of a marker."),
        Key::new("force", ValueKind::Signal3(Dimension::FORCE), Need::Optional).doc("Force vector."),
        Key::new("torque", ValueKind::Signal3(Dimension::TORQUE), Need::Optional).doc("Torque vector."),
        Key::new("axes", ValueKind::Choice(&["world", "body"]), Need::Default("\"world\""))
            .doc("Axes of the vectors: the world's, which keeps their direction, or those of the marker or body, which they follow."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] =
    &[PartEntry::new(&KIND, &add, on_body!("[[force]]\nname = 'push'\nbody = 'arm'\nforce = [0, 0, 1]\n"))
        .changeable()];

/// Adds a force.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let reference = reader.reference("body")?;
    let attachment = builder.attachment(&reference)?;
    let Some(node) = attachment.node else {
        return Err(reader.unsuitable("body", "a body that can move", "the ground").into());
    };
    let (force, torque) = (reader.optional_signal3("force")?, reader.optional_signal3("torque")?);
    if force.is_none() && torque.is_none() {
        return Err(reader.missing("force", "or `torque`").into());
    }
    let turns = !builder.frames().is_point_mass(node);
    let requirement = "left out for a point mass, which does not turn";
    reader.require(turns || torque.is_none(), "torque", requirement, "given")?;
    let axes = if reader.choice("axes")? == "body" { Axes::Marker } else { Axes::World };
    let marker = match reader.optional_vector3("point")? {
        None => attachment.marker.unwrap_or_default(),
        Some(_) if attachment.marker.is_some() => {
            let found = format!("beside the marker `{}`", reference.name);
            return Err(reader.unsuitable("point", "given only where no marker is named", found).into());
        }
        Some(point) => {
            let point = placement(&reader).transform_point(&point);
            let offset = attachment.offset_of(&Pose::new(UnitQuaternion::identity(), point));
            // A following force keeps to the axes of the body.
            Pose::new(UnitQuaternion::identity(), offset.position)
        }
    };
    let mut collector = SignalCollector::new(builder, reader.description(), vec![node]);
    let torque = components(&mut collector, torque)?;
    let force = components(&mut collector, force)?;
    let used = collector.finish();
    let turned = match axes {
        Axes::World => placement(&reader).rotation,
        Axes::Marker => attachment.body.rotation * marker.rotation,
    };
    plane::refuse_across(&reader, builder, turned, [&torque, &force])?;
    let ([a, b, c], [d, e, f]) = (torque, force);
    let element = MarkerForce::new(used.nodes, marker, axes, [a, b, c, d, e, f], used.signals)
        .with_inputs(used.initial)
        .in_axes_turned_by(&placement(&reader).rotation);
    let at = SensorFrame { node: Some(node), offset: Pose::new(UnitQuaternion::identity(), marker.position) };
    let element = builder.add_element(part.name(), element);
    builder.signals_mut().connect_inputs(element, used.inputs);
    builder.signals_mut().offer(Rank::OnDemand, AppliedPower::Element(element).named(part.name()));
    for (key, of) in [("force", WrenchPart::Force), ("torque", WrenchPart::Torque)] {
        if reader.has(key) {
            let sensor = AppliedWrench { element, part: of, at }.named(part.name());
            builder.signals_mut().offer(Rank::Force, sensor);
        }
    }
    reader.finish()
}

fn components(
    collector: &mut SignalCollector,
    signals: Option<[SignalLaw; 3]>,
) -> Result<[Quantity; 3], ModelErrors> {
    let Some([x, y, z]) = signals else { return Ok(std::array::from_fn(|_| Quantity::Constant(0.0))) };
    Ok([collector.quantity(&x)?, collector.quantity(&y)?, collector.quantity(&z)?])
}
