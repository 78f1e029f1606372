//! Machines in a plane: `planar = "xz"` of `[simulation]`.
//!
//! Every body is held in a plane of its own, parallel to that of the machine, by the rows of a planar joint to the
//! ground. Joints then keep what moves in the plane and nothing else, so that no row follows from others: of a
//! hinge the two displacements in the plane are left, of a slide the displacement and the turn. Which rows these
//! are is plain once one axis of the joint's frames stands across the plane.

use crate::element::Quantity;
use crate::joint::{CoordinateJoint, Row, lower_pair};
use crate::kinematics::Coordinate::{self, Direction, Translation};
use crate::kinematics::NodeId;
use crate::lie::{Group, Pose, UnitQuaternion, Vector3};
use crate::machine::MachineBuilder;
use crate::model::{ModelErrors, PartReader};

use super::joint::turn_z_to;

/// How a kind of joint may stand in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// With its z axis across the plane, as a hinge.
    Across,
    /// With its z axis in the plane, as a slide.
    Along,
    /// Either way.
    Either,
    /// It has no axis that moves: its frames may be turned.
    Free,
    /// It has no axes at all: its rows stay.
    Whole,
    /// Not at all.
    InSpace,
}

/// Distance in m and sine of an angle below which something lies in the plane: rounded input does.
const FLAT: f64 = 1e-6;

/// The normal of the plane in which a machine stays, if it does.
fn normal(builder: &MachineBuilder) -> Option<Vector3> {
    Some(builder.settings().plane()?.normal())
}

/// Keeps a body, or a point mass, in the plane in which it starts.
pub(super) fn hold(
    reader: &PartReader,
    builder: &mut MachineBuilder,
    (name, node): (&str, NodeId),
    (group, pose): (Group, Pose),
    [spin, velocity]: [Vector3; 2],
) -> Result<(), ModelErrors> {
    let Some(normal) = normal(builder) else { return Ok(()) };
    // Of the size of the vector: rounding of components that cancel.
    let across = velocity.dot(&normal).abs() > FLAT * velocity.norm();
    reader.require(!across, "velocity", "in the plane of the machine", "across it")?;
    let inclined = spin.cross(&normal).norm() > FLAT * spin.norm();
    reader.require(!inclined, "angular-velocity", "across the plane of the machine", "inclined to it")?;
    let frame = Pose::new(turn_z_to(&normal), pose.position);
    let offsets = [frame, pose.inverse().compose(&frame)];
    let rows = match group {
        Group::Vector(_) => lower_pair::point_on_plane(),
        _ => lower_pair::planar(),
    };
    let mut joint = CoordinateJoint::between([None, Some(node)], offsets, rows);
    builder.share_rows(&mut joint);
    // Under the name of the body: nobody measures it, and what is wrong with it is wrong with the body.
    builder.system_mut().joint(name, joint);
    Ok(())
}

/// Frames of a joint with an axis across the plane, and which coordinates are left of it there.
pub(super) struct Flat {
    /// Frames in body axes.
    pub offsets: [Pose; 2],
    left: &'static [Coordinate],
}

/// What moves in the plane where z stands across it.
const ACROSS: &[Coordinate] = &[Translation(0), Translation(1), Direction(1, 0)];
/// What does where z lies in it and y stands across.
const ALONG: &[Coordinate] = &[Translation(0), Translation(2), Direction(0, 2)];

impl Flat {
    /// Whether a row is left.
    pub fn keeps(&self, row: &Row) -> bool {
        row.terms.iter().all(|term| self.left.contains(&term.coordinate))
    }
}

/// How a joint stands in the plane of the machine; nothing in a machine that moves in space, and for joints that
/// are the same in a plane.
pub(super) fn flat(
    reader: &PartReader,
    builder: &MachineBuilder,
    stance: Stance,
    bodies: [Pose; 2],
    offsets: [Pose; 2],
) -> Result<Option<Flat>, ModelErrors> {
    let Some(normal) = normal(builder) else { return Ok(None) };
    let [first, second] = [0, 1].map(|side: usize| bodies[side].compose(&offsets[side]));
    let axis: Vector3 = first.transform_vector(&Vector3::z());
    let (is_across, is_along) = (axis.cross(&normal).norm() < FLAT, axis.dot(&normal).abs() < FLAT);
    let refuse = |requirement: &str, found: &str| Err(reader.unsuitable_part(requirement, found).into());
    let turn = match stance {
        Stance::Whole => return Ok(None),
        Stance::InSpace => {
            return refuse(
                "a joint that holds something in the plane of the machine",
                "one of a machine in space",
            );
        }
        // The axes of the ground, with z across the plane.
        Stance::Free => first.rotation.inverse() * turn_z_to(&normal),
        Stance::Across | Stance::Either if is_across => UnitQuaternion::identity(),
        // About z, until y stands across the plane.
        Stance::Along | Stance::Either if is_along => {
            let across = first.rotation.inverse_transform_vector(&normal);
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), (-across.x).atan2(across.y))
        }
        Stance::Across => {
            return refuse("a joint with its axis across the plane of the machine", "inclined to that");
        }
        Stance::Along => {
            return refuse("a joint with its axis in the plane of the machine", "inclined to it");
        }
        Stance::Either => {
            return refuse("a joint with its axis in or across the plane of the machine", "inclined to it");
        }
    };
    let left = if is_along && stance != Stance::Free { ALONG } else { ACROSS };
    let up = if left == ALONG { Vector3::y() } else { Vector3::z() };
    let turned = |pose: &Pose| Pose::new(pose.rotation * turn, pose.position);
    // What the plane holds must hold as it is drawn.
    let lean = turned(&first).transform_vector(&up) - turned(&second).transform_vector(&up);
    let apart = (second.position - first.position).dot(&normal).abs();
    if lean.norm() > FLAT || apart > FLAT {
        return refuse("drawn with both sides in one plane", "with one beside or inclined to the other");
    }
    Ok(Some(Flat { offsets: offsets.map(|offset| turned(&offset)), left }))
}

/// Refuses torque and force, by components along axes that are turned like this, that would leave the plane of the
/// machine. Axes of a body keep their angle to the normal.
pub(super) fn refuse_across(
    reader: &PartReader,
    builder: &MachineBuilder,
    axes: UnitQuaternion,
    [torque, force]: [&[Quantity; 3]; 2],
) -> Result<(), ModelErrors> {
    let Some(normal) = normal(builder) else { return Ok(()) };
    let acts = |quantity: &Quantity| !matches!(quantity, Quantity::Constant(value) if *value == 0.0);
    for axis in 0..3 {
        let direction: Vector3 = axes * Vector3::ith(axis, 1.0);
        let across = acts(&force[axis]) && direction.dot(&normal).abs() > FLAT;
        reader.require(!across, "force", "in the plane of the machine", "with a component across it")?;
        let inclined = acts(&torque[axis]) && direction.cross(&normal).norm() > FLAT;
        reader.require(
            !inclined,
            "torque",
            "about the normal of the plane of the machine",
            "about an axis in it",
        )?;
    }
    Ok(())
}
