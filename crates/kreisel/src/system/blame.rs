//! Which part gave a number that is not finite: parts are asked one by one, which costs time only where a run
//! has failed.

use super::{System, SystemElement, SystemJoint};
use crate::dae::Point;
use crate::element::{Forces, MAX_STATES};
use crate::joint::RowValues;
use crate::kinematics::{LocalGradient, MAX_NODES, MAX_ROWS};
use crate::lie::Vector6;

/// Squares of larger numbers overflow where norms are taken.
const MAX_MAGNITUDE: f64 = 1e100;

/// Name of the part whose forces, rates or constraints are not finite, or too large to be squared, at a point
/// whose motion is finite. Where several are too large it is the worst: the others answer to it.
pub(super) fn part_not_finite(system: &System, at: &Point) -> Option<String> {
    let motion = [at.configuration, at.velocity, at.acceleration, at.multipliers, at.internal_states];
    if motion.into_iter().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let elements = system.active_elements(at).map(|entry| (&entry.name, element_size(system, entry, at)));
    let joints = system.active_joint_parts(at).map(|entry| (&entry.name, joint_size(system, entry, at)));
    let mut worst: Option<(&String, f64)> = None;
    for (name, size) in elements.chain(joints).filter(|(_, size)| *size > MAX_MAGNITUDE) {
        if worst.is_none_or(|(_, known)| size > known) {
            worst = Some((name, size));
        }
    }
    worst.map(|(name, _)| name.clone())
}

/// The largest absolute value; infinity if one is not a number.
fn size(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let size = |number: f64| if number.is_nan() { f64::INFINITY } else { number.abs() };
    numbers.into_iter().map(size).fold(0.0, f64::max)
}

fn element_size(system: &System, entry: &SystemElement, at: &Point) -> f64 {
    system.with_element(entry, at, |motion| {
        let (mut wrenches, mut rates) = ([Vector6::zeros(); MAX_NODES], [0.0; MAX_STATES]);
        let rate_count = entry.links.as_ref().map_or(0, |links| links.rate_count);
        let asked = Forces {
            wrenches: Some(&mut wrenches[..motion.nodes.len()]),
            rates: Some(&mut rates[..rate_count]),
            ..Forces::default()
        };
        entry.element.ask(motion, asked);
        size(wrenches.iter().flat_map(|wrench| wrench.iter().copied()).chain(rates))
    })
}

fn joint_size(system: &System, entry: &SystemJoint, at: &Point) -> f64 {
    system.with_motion(&entry.nodes, at, &entry.memory, |motion| {
        let (mut violation, mut by_time) = ([0.0; MAX_ROWS], [[0.0; MAX_ROWS]; 2]);
        let mut gradient = LocalGradient::zeros();
        let asked = RowValues {
            violation: Some(&mut violation[..entry.rows.len()]),
            gradient: Some(&mut gradient),
            by_time: Some(&mut by_time),
            ..RowValues::default()
        };
        entry.joint.ask_holonomic(motion, asked);
        let rows = gradient.rows.iter().take(entry.rows.len()).flatten();
        size(rows.flat_map(|row| row.iter().copied()).chain(violation).chain(by_time.into_iter().flatten()))
    })
}
