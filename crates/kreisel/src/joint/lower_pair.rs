//! The named joints as sets of locked coordinates.
//!
//! Both frames have their origins at the joint's point and their z axes along the joint's axis; z is the axis
//! of a revolute, prismatic, cylindrical or screw joint and the normal of a plane. Locked rotations are
//! cosines between axes that stand at right angles.

use smallvec::smallvec;

use super::coordinate_joint::{Row, RowTarget, Term};
use crate::kinematics::Coordinate::{self, Angle, Direction, Distance, Translation};

/// z axes stay parallel: two rotations locked.
const PARALLEL: [Coordinate; 2] = [Direction(0, 2), Direction(1, 2)];
/// All rotations locked.
const ALIGNED: [Coordinate; 3] = [Direction(0, 2), Direction(1, 2), Direction(1, 0)];
/// Origins stay together.
const TOGETHER: [Coordinate; 3] = [Translation(0), Translation(1), Translation(2)];

fn locked(groups: &[&[Coordinate]]) -> Vec<Row> {
    groups.iter().flat_map(|group| group.iter()).map(|&coordinate| Row::lock(coordinate)).collect()
}

/// Coordinates that a fixed joint keeps at zero.
pub const FIXED: [Coordinate; 6] =
    [Translation(0), Translation(1), Translation(2), Direction(0, 2), Direction(1, 2), Direction(1, 0)];

/// No relative motion: six equations.
pub fn fixed() -> Vec<Row> {
    locked(&[&FIXED])
}

/// Rotation about z: five equations.
pub fn revolute() -> Vec<Row> {
    locked(&[&TOGETHER, &PARALLEL])
}

/// Displacement along z: five equations.
pub fn prismatic() -> Vec<Row> {
    locked(&[&TOGETHER[..2], &ALIGNED])
}

/// Rotation about and displacement along z: four equations.
pub fn cylindrical() -> Vec<Row> {
    locked(&[&TOGETHER[..2], &PARALLEL])
}

/// Rotation about a point: three equations.
pub fn spherical() -> Vec<Row> {
    locked(&[&TOGETHER])
}

/// Rotation about the first frame's x and the second frame's y axis, which stay at right angles: four
/// equations.
pub fn universal() -> Vec<Row> {
    locked(&[&TOGETHER, &[Direction(0, 1)]])
}

/// Displacement in the first frame's x-y plane and rotation about z: three equations.
pub fn planar() -> Vec<Row> {
    locked(&[&TOGETHER[2..], &PARALLEL])
}

/// Rotation about z with a displacement of `lead` metres per turn, counted from the displacement and angle at
/// the start: five equations.
pub fn screw(lead: f64, start: [f64; 2]) -> Vec<Row> {
    let [displacement, angle] = start;
    let pitch = lead / std::f64::consts::TAU;
    let mut rows = cylindrical();
    let advance = Term::new(Translation(2));
    let turn = Term { factor: -pitch, start: angle, ..Term::new(Angle) };
    rows.push(Row {
        terms: smallvec![advance, turn],
        target: RowTarget::Constant(displacement - pitch * angle),
    });
    rows
}

/// Fixed distance of the origins: one equation.
pub fn distance(length: f64) -> Vec<Row> {
    vec![Row::keep(Distance, length)]
}

/// The second origin stays on the first frame's z axis: two equations.
pub fn point_on_line() -> Vec<Row> {
    locked(&[&TOGETHER[..2]])
}

/// The second origin stays in the first frame's x-y plane: one equation.
pub fn point_on_plane() -> Vec<Row> {
    locked(&[&TOGETHER[2..]])
}
