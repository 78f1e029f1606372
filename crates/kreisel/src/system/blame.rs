//! Who made a number that is none: parts are asked one by one, which costs time only where a run has failed.

use super::{ElementEntry, JointEntry, System};
use crate::dae::Point;
use crate::element::{LocalForces, MOST_STATES};
use crate::joint::{LocalGradient, MOST_ROWS};

/// Squares of larger numbers overflow where norms are taken.
const LARGEST: f64 = 1e100;

fn is_useless(number: f64) -> bool {
    !(number.abs() <= LARGEST)
}

/// Name of the first part whose forces, rates or constraints are not finite, or too large to be squared, at a point whose motion is.
pub(super) fn part_not_finite(system: &System, at: &Point) -> Option<String> {
    let motion = [at.configuration, at.velocity, at.acceleration, at.multipliers, at.states];
    if motion.into_iter().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let element = system.elements_on(at).find(|entry| is_element_not_finite(system, entry, at));
    let element = element.map(|entry| entry.name.as_str());
    let joint = || system.joints_on(at).find(|entry| is_joint_not_finite(system, entry, at));
    element.or_else(|| joint().map(|entry| entry.name.as_str())).map(str::to_owned)
}

fn is_element_not_finite(system: &System, entry: &ElementEntry, at: &Point) -> bool {
    system.with_element(entry, at, |motion| {
        let mut forces = LocalForces::zeros();
        entry.element.residual(motion, &mut forces);
        let mut rates = [0.0; MOST_STATES];
        if entry.links.is_some() {
            entry.element.rates(motion, &mut rates[..entry.element.rate_count()]);
        }
        let wrenches = &forces.wrenches[..motion.nodes.len()];
        let numbers = wrenches.iter().flat_map(|wrench| wrench.iter().copied()).chain(rates);
        numbers.into_iter().any(is_useless)
    })
}

fn is_joint_not_finite(system: &System, entry: &JointEntry, at: &Point) -> bool {
    system.with_motion(entry.joint.nodes(), at, &entry.memory, |motion| {
        let mut violation = [0.0; MOST_ROWS];
        entry.joint.violation(motion, &mut violation[..entry.rows.len()]);
        let mut gradient = LocalGradient::zeros();
        entry.joint.gradient(motion, &mut gradient);
        let (rates, second) = entry.joint.time_derivatives(motion);
        let rows = gradient.rows.iter().take(entry.rows.len()).flatten();
        let numbers = rows.flat_map(|row| row.iter().copied()).chain(violation).chain(rates).chain(second);
        numbers.into_iter().any(is_useless)
    })
}
