//! `[[velocity-coupling]]`: a weighted sum of rates and velocities that is kept at a value.

use std::sync::Arc;

use super::coupling::factors;
use crate::joint::{Joint, Rate, RateTerm, VelocityCoupling};
use crate::kinematics::{Coordinate, MAX_NODES};
use crate::lie::Pose;
use crate::machine::{JointEntry, MachineBuilder, PartEntry, Prescribed};
use crate::model::{
    Dimension, Key, Law, ModelError, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference,
    ValueKind,
};

/// Words for the axes of velocities.
const AXES: &[&str] = &["world", "body"];

/// Keys of `[[velocity-coupling]]`.
static KIND: PartKind = PartKind {
    name: "velocity-coupling",
    doc: "Keeps a weighted sum of rates and velocities at a value, constant or by a law of time: steering, rolling without a wheel, prescribed speeds.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("rates", ValueKind::References(&[]), Need::Required)
            .doc("What the sum is of, named like a sensor: `crank.angle-rate`, `slide.displacement-rate`, `cart.velocity.x`, `cart.tip.velocity.y`, `cart.angular-velocity.z`."),
        Key::new("factors", ValueKind::Numbers(Dimension::NONE, &[]), Need::Required)
            .doc("Factor of each rate in the sum; rates count in m/s and rad/s."),
        Key::new("value", ValueKind::Law(Dimension::NONE), Need::Optional)
            .doc("Value of the sum, constant or by a law of time; 0 if not given."),
        Key::new("axes", ValueKind::Choice(AXES), Need::Default("\"world\""))
            .doc("Axes of the velocities of bodies and markers: `world`, or `body` for those of the body or marker itself."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!("[[velocity-coupling]]\nname = 'coupling'\nrates = ['arm.velocity.x']\nfactors = [1]\n"),
)];

/// Adds a velocity coupling.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let references = reader.references("rates")?;
    reader.require(!references.is_empty(), "rates", "at least one name", "none")?;
    let factors = factors(&reader, &references, "rates")?;
    let target = reader.optional_law("value")?.unwrap_or(Law::Constant(0.0));
    builder.prescribe(&reader, "value", Prescribed::Rate, &target)?;
    let own_axes = reader.choice("axes")? == "body";
    let mut terms = Vec::with_capacity(references.len());
    for (reference, &factor) in references.iter().zip(&factors) {
        terms.push(RateTerm { factor, ..term(builder, reference, own_axes)? });
    }
    let joint = VelocityCoupling::new(&terms, Arc::new(target));
    let count = joint.facts().nodes.len();
    if count > MAX_NODES {
        let requirement = format!("those of at most {MAX_NODES} bodies");
        return Err(reader.unsuitable("rates", &requirement, count).into());
    }
    let (nodes, offsets) = (terms[0].nodes, terms[0].offsets);
    builder.add_joint(joint, JointEntry::new(part, nodes, offsets));
    reader.finish()
}

/// What a name means, with factor one.
fn term(builder: &MachineBuilder, reference: &Reference, own_axes: bool) -> Result<RateTerm, ModelError> {
    if let Some((point, quantity, axis)) = component(&reference.name) {
        let owner = Reference { name: point.to_string(), place: reference.place.clone() };
        if builder.attachment(&owner).is_ok() && matches!(quantity, "velocity" | "angular-velocity") {
            let attachment = builder.attachment(&owner)?;
            if attachment.node.is_none() {
                return Err(unknown(builder, reference));
            }
            let rate = match (quantity, own_axes) {
                ("velocity", true) => Rate::OwnVelocity(axis),
                ("velocity", false) => Rate::Coordinate(Coordinate::Translation(axis)),
                (_, true) => Rate::OwnAngularVelocity(axis),
                (_, false) => Rate::AngularVelocity(axis),
            };
            let offsets = [Pose::identity(), attachment.marker.unwrap_or_default()];
            return Ok(RateTerm { nodes: [None, attachment.node], offsets, rate, factor: 1.0 });
        }
    }
    match builder.measured(&reference.name) {
        Some(measured) if measured.rate => Ok(RateTerm {
            nodes: measured.nodes,
            offsets: measured.offsets,
            rate: Rate::Coordinate(measured.coordinate),
            factor: 1.0,
        }),
        _ => Err(unknown(builder, reference)),
    }
}

/// `cart.tip.velocity.x` as point, quantity and axis.
fn component(name: &str) -> Option<(&str, &str, usize)> {
    let (rest, letter) = name.rsplit_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|axis| *axis == letter)?;
    let (point, quantity) = rest.rsplit_once('.')?;
    Some((point, quantity, axis))
}

fn unknown(builder: &MachineBuilder, reference: &Reference) -> ModelError {
    let names = builder.measured_names();
    let rates = names.iter().filter(|name| name.contains("rate") || name.contains("velocity"));
    let angular = builder
        .frames()
        .bodies()
        .iter()
        .flat_map(|body| ["x", "y", "z"].map(|axis| format!("{}.angular-velocity.{axis}", body.name)));
    let known: Vec<String> = rates.cloned().chain(angular).collect();
    reference.unknown("rate", known.iter().map(String::as_str))
}
