//! `[[end-stop]]` and `[[torsional-end-stop]]`: bounds of a joint's displacement or angle.

use std::sync::Arc;

use super::joint_coordinate::{self, CoordinateChoice, JOINT};
use super::spring::add_force;
use crate::element::EndStop;
use crate::machine::{MachineBuilder, PartEntry};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// The keys of both kinds, which differ in dimensions and in the transition depth that is usual.
const fn keys(along: Dimension, stiffness: Dimension, damping: Dimension, depth: &'static str) -> [Key; 6] {
    [
        JOINT,
        Key::new("lower", ValueKind::Number(along), Need::Optional).doc("Lower bound; none if not given."),
        Key::new("upper", ValueKind::Number(along), Need::Optional).doc("Upper bound; none if not given."),
        Key::new("stiffness", ValueKind::Number(stiffness), Need::Required).doc("Stiffness beyond a bound."),
        Key::new("damping", ValueKind::Number(damping), Need::Default("0"))
            .doc("Damping beyond a bound; the stop pushes back but never pulls."),
        Key::new("transition-depth", ValueKind::Number(along), Need::Default(depth))
            .doc("Depth beyond a bound at which half of the damping acts, so that it begins without a jump."),
    ]
}

/// Keys of `[[end-stop]]`.
static DISPLACEMENT: PartKind = PartKind {
    name: "end-stop",
    doc: "Elastic bounds of the displacement of a joint. Measures the `force` against it: positive beyond the upper bound, negative beyond the lower.",
    occurrence: Occurrence::Many,
    keys: &keys(Dimension::LENGTH, Dimension::STIFFNESS, Dimension::DAMPING, "1e-4"),
};

/// Keys of `[[torsional-end-stop]]`.
static ANGLE: PartKind = PartKind {
    name: "torsional-end-stop",
    doc: "Elastic bounds of the angle of a joint; full turns count. Measures the `torque` against it: positive beyond the upper bound, negative beyond the lower.",
    occurrence: Occurrence::Many,
    keys: &keys(Dimension::ANGLE, Dimension::TORSIONAL_STIFFNESS, Dimension::TORSIONAL_DAMPING, "1e-3"),
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[
    PartEntry::new(
        &DISPLACEMENT,
        &add_displacement,
        on_body!(
            "[[prismatic]]\nname = 'slide'\nbodies = ['ground', 'arm']\n[[end-stop]]\nname = 'stop'\n\
         joint = 'slide'\nupper = 1\nstiffness = 1000\n"
        ),
    )
    .changeable(),
    PartEntry::new(
        &ANGLE,
        &add_angle,
        on_hinge!("[[torsional-end-stop]]\nname = 'stop'\njoint = 'hinge'\nupper = 1\nstiffness = 1000\n"),
    )
    .changeable(),
];

/// Adds bounds of a displacement.
fn add_displacement(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    add(part, builder, CoordinateChoice::Displacement)
}

/// Adds bounds of an angle.
fn add_angle(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    add(part, builder, CoordinateChoice::Angle)
}

fn add(part: &Part, builder: &mut MachineBuilder, measure: CoordinateChoice) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let along = joint_coordinate::read(&reader, builder, measure)?;
    let (lower, upper) = (reader.optional_number("lower")?, reader.optional_number("upper")?);
    if lower.is_none() && upper.is_none() {
        return Err(reader.missing("upper", "or `lower`, or both").into());
    }
    let bounds = [lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)];
    if bounds[0] >= bounds[1] {
        let requirement = format!("above the lower bound {}", bounds[0]);
        return Err(reader.unsuitable("upper", &requirement, bounds[1]).into());
    }
    let law = EndStop {
        bounds,
        stiffness: reader.positive("stiffness")?,
        damping: reader.not_negative("damping")?,
        transition: reader.positive("transition-depth")?,
    };
    add_force(builder, part.name(), &along, vec![Arc::new(law)]);
    reader.finish()
}
