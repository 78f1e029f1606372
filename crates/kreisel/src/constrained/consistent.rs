//! Consistent values: positions and velocities that satisfy the constraints, from those that the user gives.

use super::closure::{ClosureGoal, named};
use super::compliance::compliance;
use super::error::{ConsistencyError, Miss, StatedChange, changes_in_words};
use super::kkt::{Kkt, largest};
use super::redundancy::Redundancy;
use super::stated::coordinates_of;
use crate::dae::{Dae, Equation, Initial, Point, ResidualValues, Shape, Values};
use crate::solve::block::BlockMatrix;

/// What had to be changed to make the user's initial values consistent.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StartReport {
    /// Largest violation of a constraint in the user's positions.
    pub position_violation: f64,
    /// Change of the configuration, as an element of the Lie algebra.
    pub position_change: Vec<f64>,
    /// Largest violation of a constraint at velocity level in the user's velocities.
    pub velocity_violation: f64,
    /// Change of the velocity.
    pub velocity_change: Vec<f64>,
    /// Stated velocities that were changed, the largest change first.
    pub stated_changes: Vec<StatedChange>,
    /// Constraints that the stated velocities violate whatever the others are, worst first.
    pub contradictions: Vec<Miss>,
}

impl StartReport {
    /// What was changed in velocities that contradict each other, in words; nothing if they agree.
    pub fn contradiction(&self) -> Option<String> {
        (!self.stated_changes.is_empty()).then(|| {
            let change = changes_in_words(&self.stated_changes, &self.contradictions, "changed");
            format!("the stated initial velocities contradict each other: {change}")
        })
    }
}

/// A configuration that satisfies the constraints, what was changed in the user's one, and which constraints
/// follow from others there.
pub(crate) fn fit_together(
    dae: &dyn Dae,
    initial: &Initial,
) -> Result<(Vec<f64>, StartReport, Redundancy), ConsistencyError> {
    let shape = dae.shape();
    check_initial(dae, &shape, initial)?;
    let mut kkt = Kkt::new(dae, shape.scales.mass);
    let found = Redundancy::find(dae, initial.time, &initial.configuration);
    kkt.set_compliance(&compliance(dae, &found));
    let (configuration, report) = closed(dae, &shape, initial, &vec![0.0; shape.memory], &mut kkt)?;
    let redundancy = Redundancy::find(dae, initial.time, &configuration);
    Ok((configuration, report, redundancy))
}

/// A configuration that satisfies the constraints near to what the system remembers, which is nothing at a
/// start, and what was changed in the user's one.
pub(crate) fn closed(
    dae: &dyn Dae,
    shape: &Shape,
    initial: &Initial,
    memory: &[f64],
    kkt: &mut Kkt,
) -> Result<(Vec<f64>, StartReport), ConsistencyError> {
    kkt.set_states(&initial.internal_states, memory);
    let mut report = StartReport {
        position_change: vec![0.0; shape.velocity_count()],
        velocity_change: vec![0.0; shape.velocity_count()],
        ..StartReport::default()
    };
    let mut configuration = initial.configuration.clone();
    shape.space.normalize(&mut configuration);
    let extent = configuration.iter().fold(shape.scales.length, |extent, value| extent.max(value.abs()));
    let fixed = coordinates_of(shape, &initial.fixed);
    let stated = with(&initial.stated_position, &fixed);
    let goal = ClosureGoal::new(initial.time, extent, &fixed, &stated);
    report.position_violation = kkt
        .project_position(dae, goal, &mut configuration, &mut report.position_change)
        .map_err(|failure| failure.at_start(dae, initial.time))?;
    Ok((configuration, report))
}

/// What is stated, and what is fixed whether it is stated or not.
fn with(stated: &[bool], fixed: &[bool]) -> Vec<bool> {
    let fixed = fixed.iter().copied().chain(std::iter::repeat(false));
    stated.iter().zip(fixed).map(|(stated, fixed)| *stated || fixed).collect()
}

/// A velocity that satisfies the constraints at a configuration that does, and what was changed in the one
/// that the user gave.
pub(crate) fn moving_together(
    dae: &dyn Dae,
    initial: &Initial,
) -> Result<(Vec<f64>, StartReport), ConsistencyError> {
    let shape = dae.shape();
    check_initial(dae, &shape, initial)?;
    let mut kkt = Kkt::new(dae, shape.scales.mass);
    let found = Redundancy::find_moving(dae, initial.time, &initial.configuration, &initial.velocity);
    kkt.set_compliance(&compliance(dae, &found));
    kkt.set_states(&initial.internal_states, &vec![0.0; shape.memory]);
    kkt.remember(dae, initial.time, &initial.configuration, &mut vec![0.0; shape.memory]);
    let mut report =
        StartReport { velocity_change: vec![0.0; shape.velocity_count()], ..StartReport::default() };
    let mut velocity = start_velocity(dae, initial, &initial.configuration, &mut report, &mut kkt)?;
    if !found.is_none() {
        // Constraints that give way to reactions are met by a second round.
        kkt.scale_hidden_residual(dae, initial.time, &initial.configuration, &mut velocity, 0.0)
            .map_err(|failure| failure.at_start(dae, initial.time))?;
    }
    Ok((velocity, report))
}

/// Compliance of conditions that give way to constraints, and still weigh more than any mass. Six digits lie
/// to either side of it.
const SOFT: f64 = 1e-6;

/// A velocity that satisfies the constraints of a system, and the conditions that another one adds to them at
/// the end as well as they can be in the sense of least squares.
pub(crate) fn moving_nearly(
    dae: &dyn Dae,
    with_conditions: &dyn Dae,
    initial: &Initial,
) -> Result<Vec<f64>, ConsistencyError> {
    let (own, shape) = (dae.shape(), with_conditions.shape());
    let found = Redundancy::find_moving(dae, initial.time, &initial.configuration, &initial.velocity);
    let mut soft = compliance(dae, &found);
    soft.resize(own.constraint_count() + own.nonholonomic_count(), 0.0);
    soft.resize(shape.constraint_count() + shape.nonholonomic_count(), SOFT);
    let mut kkt = Kkt::new(with_conditions, shape.scales.mass);
    kkt.set_compliance(&soft);
    kkt.set_states(&initial.internal_states, &vec![0.0; shape.memory]);
    kkt.remember(with_conditions, initial.time, &initial.configuration, &mut vec![0.0; shape.memory]);
    let mut velocity = initial.velocity.clone();
    kkt.scale_hidden_residual(with_conditions, initial.time, &initial.configuration, &mut velocity, 0.0)
        .map_err(|failure| failure.at_start(dae, initial.time))?;
    Ok(moving_together(dae, &Initial { velocity, ..initial.clone() })?.0)
}

/// The velocity with which a motion starts at a consistent configuration; reports what was changed in the
/// user's one, and refuses too large changes of what is stated.
pub(crate) fn start_velocity(
    dae: &dyn Dae,
    initial: &Initial,
    configuration: &[f64],
    report: &mut StartReport,
    kkt: &mut Kkt,
) -> Result<Vec<f64>, ConsistencyError> {
    let mut velocity = initial.velocity.clone();
    let outcome = kkt
        .start_velocity(dae, initial, configuration, &mut velocity)
        .map_err(|failure| failure.at_start(dae, initial.time))?;
    report.velocity_violation = outcome.violation;
    let velocities = velocity.iter().zip(&initial.velocity);
    report.velocity_change.iter_mut().zip(velocities).for_each(|(change, (new, old))| *change = new - old);
    if outcome.changes.iter().any(|change| change.refused) {
        return Err(ConsistencyError::Velocities { changes: outcome.changes, misses: outcome.misses });
    }
    (report.stated_changes, report.contradictions) = (outcome.changes, outcome.misses);
    let misses = kkt.contradicting_velocities(dae, initial.time, configuration, &velocity);
    refuse(dae, "velocities", if misses.is_empty() { &outcome.unmet } else { &misses })?;
    Ok(velocity)
}

/// Refuses constraints that contradict each other.
pub(crate) fn refuse(
    dae: &dyn Dae,
    level: &'static str,
    misses: &[(usize, f64)],
) -> Result<(), ConsistencyError> {
    if misses.is_empty() {
        return Ok(());
    }
    Err(ConsistencyError::Contradiction { level, misses: named(dae, misses) })
}

/// Whether the user's initial values are usable at all.
pub(crate) fn check_initial(dae: &dyn Dae, shape: &Shape, initial: &Initial) -> Result<(), ConsistencyError> {
    for (what, expected, given) in [
        ("configuration coordinates", shape.space.coordinate_count(), initial.configuration.len()),
        ("velocity coordinates", shape.velocity_count(), initial.velocity.len()),
        ("states", shape.state_count(), initial.internal_states.len()),
    ] {
        if expected != given {
            return Err(ConsistencyError::Count { what, expected, given });
        }
    }
    for stated in [&initial.stated_position, &initial.stated_velocity] {
        if !stated.is_empty() && stated.len() != shape.velocity_count() {
            let (what, expected, given) = ("velocity coordinates", shape.velocity_count(), stated.len());
            return Err(ConsistencyError::Count { what, expected, given });
        }
    }
    for (what, expected, guesses) in [
        ("constraints", shape.constraint_count(), &initial.multipliers),
        ("nonholonomic constraints", shape.nonholonomic_count(), &initial.nonholonomic_multipliers),
    ] {
        if !guesses.is_empty() && guesses.len() != expected {
            return Err(ConsistencyError::Count { what, expected, given: guesses.len() });
        }
    }
    shape
        .space
        .validate(&initial.configuration)
        .map_err(|error| ConsistencyError::Values(error.to_string()))?;
    let numbers = initial.velocity.iter().chain(&initial.internal_states).chain([&initial.time]);
    if numbers.into_iter().any(|value| !value.is_finite()) {
        return Err(ConsistencyError::Values(
            "a velocity, a state or the time is not a finite number".to_string(),
        ));
    }
    if initial.fixed.iter().any(|&node| node >= shape.space.factor_count()) {
        return Err(ConsistencyError::Values("a node that is to be fixed does not exist".to_string()));
    }
    let rest = Values { internal_states: initial.internal_states.clone(), ..Values::zeros(shape) };
    let at = rest.point_at(initial.time, &initial.configuration, &initial.velocity);
    check_gradient(dae, shape, &at)?;
    check_time_dependence(dae, shape, &at)
}

/// Constraints push along their gradient, which [`Dae::gradient`] does not give unless it is written.
fn check_gradient(dae: &dyn Dae, shape: &Shape, at: &Point) -> Result<(), ConsistencyError> {
    if shape.constraint_count() == 0 {
        return Ok(());
    }
    let mut gradient = BlockMatrix::zeros(dae.couplings(None).constraint_node);
    dae.gradient(at, &mut gradient);
    let [first, ..] = gradient.values() else { return Ok(()) };
    match first.is_nan() && gradient.values().iter().all(|value| value.is_nan()) {
        true => Err(ConsistencyError::NoGradient { equation: dae.describe(Equation::Constraint(0)) }),
        false => Ok(()),
    }
}

/// A moment in s, or in parts of the time, after which what moves has moved by more than rounding: soon enough that
/// forces, which are evaluated as well, are asked at a time of the run.
const MOMENT: f64 = 1e-6;

/// Constraints that move with time but were not declared so would be violated at velocity level without
/// notice.
fn check_time_dependence(dae: &dyn Dae, shape: &Shape, at: &Point) -> Result<(), ConsistencyError> {
    if shape.rheonomic {
        return Ok(());
    }
    let violation_at = |time: f64| ResidualValues::at(dae, shape, &Point { time, ..*at }).violation;
    let (now, later) = (violation_at(at.time), violation_at(at.time + MOMENT * at.time.abs().max(1.0)));
    let changes: Vec<f64> = now.iter().zip(&later).map(|(now, later)| later - now).collect();
    match largest(&changes) {
        (index, size) if size > 0.0 && size.is_finite() => {
            Err(ConsistencyError::UndeclaredTime { equation: dae.describe(Equation::Constraint(index)) })
        }
        _ => Ok(()),
    }
}
