//! `[[bushing]]`: an elastic, damped connection of two frames.

use super::joint::two_bodies;
use crate::element::Bushing;
use crate::lie::{Matrix3, Matrix6, Pose, UnitQuaternion};
use crate::machine::sensor::ConnectionWrench;
use crate::machine::{Attachment, MachineBuilder, PartEntry, Rank, placement};
use crate::model::{Dimension, Key, ModelErrors, Need, Occurrence, Part, PartKind, PartReader, ValueKind};

/// N/rad: force per rotation, and torque per displacement.
const COUPLING_STIFFNESS: Dimension = Dimension::from_exponents([1, 1, -2, -1]);
/// N·s/rad
const COUPLING_DAMPING: Dimension = Dimension::from_exponents([1, 1, -1, -1]);

const ZERO: Need = Need::Default("[0, 0, 0]");

/// Keys of `[[bushing]]`.
static KIND: PartKind = PartKind {
    name: "bushing",
    doc: "Springs and dampers against all six relative motions of two frames; rotations are measured by the rotation vector (axis times angle), which is followed beyond half a turn. Up to nearly a full turn any rotation will do; more than that only where a joint keeps the frames on one axis, and there a `[[torsional-spring-damper]]` in the joint is simpler. Measures the `force` and the `torque` on its second body, at the second frame, in world axes.",
    occurrence: Occurrence::Many,
    keys: &[
        Key::new("bodies", ValueKind::References(&[2]), Need::Required)
            .doc("The two bodies, or their markers (`crank.pin`), or `ground`; matrices are in axes of the frame on the first."),
        Key::new("point", ValueKind::Vector3(Dimension::LENGTH), Need::Optional)
            .doc("Where both frames stand, undeformed, in the world at the initial configuration; with two markers the frames are theirs."),
        Key::new("orientation", ValueKind::Orientation, Need::Optional)
            .doc("Rotation from the frames' axes to world axes at the initial configuration; that of the marker, or of the world, if not given."),
        Key::new("translational-stiffness", ValueKind::Symmetric3(Dimension::STIFFNESS), ZERO)
            .doc("Force per displacement."),
        Key::new("rotational-stiffness", ValueKind::Symmetric3(Dimension::TORSIONAL_STIFFNESS), ZERO)
            .doc("Torque per rotation."),
        Key::new("coupling-stiffness", ValueKind::Matrix(COUPLING_STIFFNESS, 3, 3), Need::Optional)
            .doc("Force (rows) per rotation (columns); its transpose is torque per displacement."),
        Key::new("translational-damping", ValueKind::Symmetric3(Dimension::DAMPING), ZERO)
            .doc("Force per velocity."),
        Key::new("rotational-damping", ValueKind::Symmetric3(Dimension::TORSIONAL_DAMPING), ZERO)
            .doc("Torque per rate of the rotation vector, not per angular velocity: the two agree where the frames turn about one axis or by small angles, `[0.5, 0.5, 0.5]` then being 0.5 Nm per rad/s."),
        Key::new("coupling-damping", ValueKind::Matrix(COUPLING_DAMPING, 3, 3), Need::Optional)
            .doc("Force (rows) per rate of the rotation vector (columns); its transpose is torque per velocity."),
    ],
};

/// What the file adds to the kinds of parts.
pub static PARTS: &[PartEntry] = &[PartEntry::new(
    &KIND,
    &add,
    on_body!(
        "[[bushing]]\nname = 'mount'\nbodies = ['ground', 'arm']\npoint = [1, 0, 0]\n\
         translational-stiffness = [1, 1, 1]\n"
    ),
)
.changeable()];

/// Adds a bushing.
fn add(part: &Part, builder: &mut MachineBuilder) -> Result<(), ModelErrors> {
    let reader = PartReader::new(part)?;
    let (_, attachments) = two_bodies(&reader, builder)?;
    let nodes = attachments.map(|attachment| attachment.node);
    let stiffness = matrix(&reader, "stiffness")?;
    let damping = matrix(&reader, "damping")?;
    if stiffness.amax() == 0.0 && damping.amax() == 0.0 {
        let error = reader.unsuitable_part("of some effect", "without any stiffness or damping");
        return Err(error.with_hint("add `translational-stiffness` or `rotational-stiffness`").into());
    }
    let turns = stiffness.rows(0, 3).amax() > 0.0 || damping.rows(0, 3).amax() > 0.0;
    if let (true, Some(node)) =
        (turns, nodes.into_iter().flatten().find(|node| builder.frames().is_point_mass(*node)))
    {
        let name = builder.frames().body_of(node).map_or("", |body| body.name.as_str());
        let found = format!("the point mass `{name}`");
        return Err(reader.unsuitable("bodies", "bodies that turn, for torques to act on", found).into());
    }
    let offsets = frames(&reader, &attachments)?;
    let element = builder.add_element(part.name(), Bushing::new(nodes, offsets, stiffness, damping));
    for sensor in ConnectionWrench::both(part.name(), element, nodes, offsets) {
        builder.signals_mut().offer(Rank::OnDemand, sensor);
    }
    builder.appearance_mut().show_line(part.name(), nodes, offsets.map(|offset| offset.position));
    reader.finish()
}

/// Frames in body axes: markers as they are, otherwise a common frame at the initial configuration.
fn frames(reader: &PartReader, attachments: &[Attachment; 2]) -> Result<[Pose; 2], ModelErrors> {
    let (point, rotation) = (reader.optional_vector3("point")?, reader.optional_orientation("orientation")?);
    if let ([Some(first), Some(second)], None, None) = (attachments.map(|a| a.marker), point, rotation) {
        return Ok([first, second]);
    }
    let placement = placement(reader);
    let marker = attachments.iter().find_map(|a| a.marker.map(|marker| a.body.compose(&marker)));
    let Some(position) = point.map(|point| placement.transform_point(&point)).or(marker.map(|m| m.position))
    else {
        let found = "neither a `point` nor a marker";
        return Err(reader.unsuitable("bodies", "joined at a place", found).into());
    };
    let rotation: UnitQuaternion = match (rotation, marker) {
        (Some(rotation), _) => placement.rotation * rotation,
        (None, Some(marker)) => marker.rotation,
        (None, None) => placement.rotation,
    };
    let world = Pose::new(rotation, position);
    Ok(attachments.map(|attachment| attachment.offset_of(&world)))
}

/// The full matrix over (rotation, displacement); it must store or lose energy in every direction.
fn matrix(reader: &PartReader, word: &str) -> Result<Matrix6, ModelErrors> {
    let translational_key = format!("translational-{word}");
    let translational = reader.symmetric3(&translational_key)?;
    let rotational = reader.symmetric3(&format!("rotational-{word}"))?;
    let coupling_key = format!("coupling-{word}");
    let coupling = reader.optional_matrix(&coupling_key)?;
    for (key, part) in [(&translational_key, &translational), (&format!("rotational-{word}"), &rotational)] {
        let least = part.symmetric_eigenvalues().min();
        // Zero in a direction is allowed, and comes out of rounded entries.
        if least < -1e-9 * part.amax() {
            let found = format!("one with the eigenvalue {least:.4e}");
            return Err(reader.unsuitable(key, "zero or positive in every direction", found).into());
        }
    }
    let mut matrix = Matrix6::zeros();
    matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&rotational);
    matrix.fixed_view_mut::<3, 3>(3, 3).copy_from(&translational);
    if let Some(coupling) = coupling {
        let coupling = Matrix3::from_fn(|row, column| coupling[(row, column)]);
        matrix.fixed_view_mut::<3, 3>(3, 0).copy_from(&coupling);
        matrix.fixed_view_mut::<3, 3>(0, 3).copy_from(&coupling.transpose());
        check_coupling(reader, &coupling_key, &matrix)?;
    }
    Ok(matrix)
}

/// The coupled matrix must be semidefinite; scaled to unit diagonal so that N/m and Nm/rad can be compared.
fn check_coupling(reader: &PartReader, key: &str, matrix: &Matrix6) -> Result<(), ModelErrors> {
    let scale = matrix.diagonal().map(|entry| if entry > 0.0 { entry.sqrt().recip() } else { 0.0 });
    let loose = (0..6).any(|i| scale[i] == 0.0 && matrix.row(i).amax() > 0.0);
    let scaled = Matrix6::from_fn(|i, j| scale[i] * matrix[(i, j)] * scale[j]);
    let least = scaled.symmetric_eigenvalues().min();
    // As above, on a diagonal of ones.
    if loose || least < -1e-9 {
        let requirement = "small enough beside the translational and rotational parts";
        let found = format!("so large that some motion gives energy (scaled eigenvalue {least:.4e})");
        return Err(reader.unsuitable(key, requirement, found).into());
    }
    Ok(())
}
