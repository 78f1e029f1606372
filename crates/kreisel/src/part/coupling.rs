//! `[[gear]]` and `[[coupling]]`: equations between coordinates of joints.
//!
//! A coordinate is named like its sensor, `slide.displacement`, or by the joint alone where only one can be
//! meant. Angles are counted over full turns.

use super::joint::{initial_relative, warn_of_misfit};
use super::joint_coordinate::{CoordinateChoice, joint_coordinate};
use crate::joint::{CoordinateJoint, CoupledCoordinate};
use crate::machine::{JointEntry, MachineBuilder, PartEntry};
use crate::model::{
    Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, Reference, ValueKind,
};

/// Keys of `[[gear]]`.
static GEAR: PartKind = PartKind {
    name: "gear",
    doc: "Keeps the angles of two joints in a ratio: wheels, belts, worms. Its torque is what acts on the second body of the second joint.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("joints", ValueKind::References(&[2]), Need::Required)
            .doc("The two joints; with the angle after a dot (`joint.second-angle`) where one has several."),
        Key::new("ratio", ValueKind::Number(Dimension::NONE), Need::Required)
            .doc("Turns of the second joint per turn of the first; negative if they turn against each other, like two wheels with outer teeth."),
        Key::new("offset", ValueKind::Number(Dimension::ANGLE), Need::Optional)
            .doc("Angle of the second joint where that of the first is zero; from the initial configuration if not given."),
    ],
};

/// Keys of `[[coupling]]`.
static COUPLING: PartKind = PartKind {
    name: "coupling",
    doc: "Keeps a weighted sum of joint coordinates constant: racks, pulleys, differentials. Its force and torque are what acts on the second body of the first joint.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("joints", ValueKind::References(&[]), Need::Required).doc(
            "The joints, each with its coordinate after a dot (`slide.displacement`) where it has several.",
        ),
        Key::new("factors", ValueKind::Numbers(Dimension::NONE, &[]), Need::Required)
            .doc("Factor of each coordinate in the sum; coordinates count in m and rad."),
        Key::new("offset", ValueKind::Number(Dimension::NONE), Need::Optional)
            .doc("Value of the sum; from the initial configuration if not given."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[
    PartEntry::new(
        &GEAR,
        &add_gear,
        on_body!(
            "[[universal]]\nname = 'cross'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n[[gear]]\n\
         name = 'gear'\njoints = ['cross.first-angle', 'cross.second-angle']\nratio = 1\n"
        ),
    ),
    PartEntry::new(
        &COUPLING,
        &add_coupling,
        on_body!(
            "[[cylindrical]]\nname = 'bolt'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\n\
         [[coupling]]\nname = 'coupling'\njoints = ['bolt.angle', 'bolt.displacement']\n\
         factors = [1, 1]\n"
        ),
    ),
];

/// Adds a gear: x₂ − r x₁ = offset.
fn add_gear(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let mut references = reader.references("joints")?;
    // The second comes first: the reaction is measured on the first body of a coupling.
    references.reverse();
    let ratio = reader.number("ratio")?;
    reader.require(ratio != 0.0, "ratio", "another number", "0, which would lock the second joint")?;
    let offset = reader.optional_number("offset")?;
    couple(&reader, builder, part, &references, &[1.0, -ratio], offset, CoordinateChoice::Angle)?;
    reader.finish()
}

/// Adds a coupling: Σ c_k x_k = offset.
fn add_coupling(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let references = reader.references("joints")?;
    reader.require(references.len() >= 2, "joints", "at least two names", references.len())?;
    let factors = factors(&reader, &references, "joints")?;
    let offset = reader.optional_number("offset")?;
    couple(&reader, builder, part, &references, &factors, offset, CoordinateChoice::Any)?;
    reader.finish()
}

/// The factors of a sum, one for each of what it is of.
pub(super) fn factors(
    reader: &PartReader,
    references: &[Reference],
    summands: &str,
) -> Result<Vec<f64>, ModelErrors> {
    let factors = reader.numbers("factors")?;
    if factors.len() != references.len() {
        let requirement = format!("as many numbers as there are {summands} ({})", references.len());
        return Err(reader.unsuitable("factors", &requirement, factors.len()).into());
    }
    reader.require(!factors.contains(&0.0), "factors", "numbers other than zero", "0")?;
    Ok(factors)
}

fn couple(
    reader: &PartReader,
    builder: &mut MachineBuilder,
    part: &Part,
    references: &[Reference],
    factors: &[f64],
    offset: Option<f64>,
    wanted: CoordinateChoice,
) -> Result<(), ModelErrors> {
    let mut coordinates = Vec::with_capacity(references.len());
    for (reference, &factor) in references.iter().zip(factors) {
        let (joint, coordinate) = joint_coordinate(reader, builder, reference, wanted)?;
        let (nodes, offsets) = (joint.nodes, joint.offsets);
        let bodies = nodes.map(|node| builder.frames().initial_pose(node));
        let start = coordinate.value(&initial_relative(bodies, offsets), 0.0);
        coordinates.push(CoupledCoordinate { nodes, offsets, coordinate, factor, start });
    }
    let repeated = |i: usize| {
        let same = |a: &CoupledCoordinate, b: &CoupledCoordinate| {
            a.nodes == b.nodes && a.offsets == b.offsets && a.coordinate == b.coordinate
        };
        coordinates[..i].iter().any(|other| same(other, &coordinates[i]))
    };
    if let Some(twice) = (0..coordinates.len()).find(|&i| repeated(i)) {
        let found = format!("`{}` twice", references[twice].name);
        return Err(reader.unsuitable("joints", "different coordinates", found).into());
    }
    let initial: f64 = coordinates.iter().map(|coupled| coupled.factor * coupled.start).sum();
    let value = offset.unwrap_or(initial);
    warn_of_misfit(builder, part.name(), &CoordinateJoint::coupling(&coordinates, value));
    let (nodes, offsets) = (coordinates[0].nodes, coordinates[0].offsets);
    let parts = CoordinateJoint::coupling_parts(&coordinates, value);
    builder.add_joint_in_parts(parts, JointEntry::new(part, nodes, offsets));
    Ok(())
}
