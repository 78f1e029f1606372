//! Closing loops: the smallest change of a configuration, weighted by mass, that satisfies the constraints.
//!
//! A first iteration solves for the smallest change itself. Where it fails (constraints that depend on each
//! other, a way through a singular position, no solution at all) a second one, after Levenberg and Marquardt,
//! goes down the sum of squares of the violations in steps that are each the smallest weighted by mass. It
//! either finds a consistent configuration or the one that comes closest, and then says which constraints
//! miss by how much. Then positions that are only guesses are asked to close the loops alone.

use super::error::{ConsistencyError, Miss};
use super::kkt::{Kkt, KktFailure, MAX_ITERATIONS, largest};
use super::layout::RowKind;
use super::redundancy::lengths;
use super::stated::all_compliant;
use crate::dae::{Dae, Equation, Point, Shape, Wanted, ask};
use crate::solve::linear::LinearSolver;

/// What is to be reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosureGoal<'a> {
    pub time: f64,
    /// Largest violation that counts as none.
    pub tolerance: f64,
    /// Largest violation that is taken where no iteration comes nearer.
    pub accepted: f64,
    /// Velocity coordinates along which nothing must be moved; none if empty.
    pub fixed: &'a [bool],
    /// Those along which nothing is moved where the others can close the loops; none if empty.
    pub stated: &'a [bool],
}

/// Positions count as consistent when every constraint holds to this part of the largest coordinate: about a
/// hundred ε, the rounding of the few dozen operations of a constraint.
const POSITION_TOLERANCE: f64 = 2e-14;
/// What misses by less than this part of the largest coordinate still fits: redundant loops leave 1e-14 to
/// 1e-12 when round-off ends an iteration, and no number of a model means so little.
const ACCEPTED: f64 = 1e-10;

impl<'a> ClosureGoal<'a> {
    /// For a machine of an extent: the largest of its coordinates and its length. Coordinates far from the
    /// origin carry more rounding into the constraints.
    pub fn new(time: f64, extent: f64, fixed: &'a [bool], stated: &'a [bool]) -> Self {
        Self { time, tolerance: POSITION_TOLERANCE * extent, accepted: ACCEPTED * extent, fixed, stated }
    }
}

/// Why no consistent configuration was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClosureFailure {
    Kkt(KktFailure),
    /// Groups of constraints with what they miss by, worst first.
    Missed {
        misses: Vec<(usize, f64)>,
        iterations: usize,
    },
}

impl From<KktFailure> for ClosureFailure {
    fn from(failure: KktFailure) -> Self {
        Self::Kkt(failure)
    }
}

impl ClosureFailure {
    pub fn at_start(self, dae: &dyn Dae, time: f64) -> ConsistencyError {
        match self {
            Self::Kkt(failure) => failure.at_start(dae, time),
            Self::Missed { misses, iterations } => {
                ConsistencyError::Position { misses: named(dae, &misses), iterations }
            }
        }
    }
}

/// Misses in the words of the system's author.
pub(crate) fn named(dae: &dyn Dae, misses: &[(usize, f64)]) -> Vec<Miss> {
    let holonomic = dae.shape().constraints.len();
    let name = |group: usize| match group.checked_sub(holonomic) {
        None => dae.describe(Equation::ConstraintGroup(group)),
        Some(nonholonomic) => dae.describe(Equation::NonholonomicGroup(nonholonomic)),
    };
    misses.iter().map(|&(group, size)| Miss { name: name(group), size }).collect()
}

/// Groups of constraints whose residual is above a tolerance or a thousandth of the worst, worst first.
/// Residuals of nonholonomic constraints may follow the others, and their groups count on.
pub(crate) fn misses(shape: &Shape, residual: &[f64], tolerance: f64) -> Vec<(usize, f64)> {
    let threshold = tolerance.max(1e-3 * largest(residual).1);
    let mut misses = Vec::new();
    let mut rest = residual;
    for (group, &size) in shape.constraints.iter().chain(&shape.nonholonomic).enumerate() {
        if rest.is_empty() {
            break;
        }
        let (rows, after) = rest.split_at(size);
        rest = after;
        let norm = norm(rows);
        if norm > threshold {
            misses.push((group, norm));
        }
    }
    misses.sort_by(|a, b| b.1.total_cmp(&a.1));
    misses
}

/// Groups of constraints that velocities of a size violate.
pub(super) fn violated(shape: &Shape, residual: &[f64], size: f64) -> Vec<(usize, f64)> {
    misses(shape, residual, CONTRADICTION * (size + AT_REST * shape.scales.length))
}

/// A step may let the violation grow up to this part of the first one: it moves along the constraints. A
/// choice: near the solution Newton's iteration converges whatever a single step does.
const NEAR: f64 = 0.01;
/// How much farther guesses may go to spare what is stated: a rod that is drawn too short by its last digit
/// is not to be turned by a degree because its orientation is left out.
const FARTHER: f64 = 10.0;
/// Most halvings of one step.
const MAX_HALVINGS: usize = 10;
/// Damping of Levenberg and Marquardt against rows of B M⁻¹ Bᵀ, scaled to masses of about one: first,
/// smallest, largest.
const DAMPING: [f64; 3] = [1e-6, 1e-12, 1e6];
/// A violation that falls by less than this part is at its minimum: another thousand steps would not change
/// it by a millionth.
const STALLED: f64 = 1e-10;
/// Compliant constraints give way to reactions by parts of 1e-9; what misses by more than this part
/// contradicts another.
const CONTRADICTION: f64 = 1e-5;

/// Rates of a machine at rest, in lengths per second (squared), that count as none: machines in which nothing
/// moves need a size to compare with.
const AT_REST: f64 = 1e-6;

impl Kkt {
    /// Moves q as little as possible, weighted by mass, so that the constraints hold: the smallest x
    /// in the sense of xᵀMx with Φ(q ∘ exp(x̃)) = 0 [ArnoldCardonaBruls2015Projection, Eqs. (6)].
    ///
    /// Writes x into `change`; gives the largest violation found before.
    pub fn project_position(
        &mut self,
        dae: &dyn Dae,
        goal: ClosureGoal,
        configuration: &mut [f64],
        change: &mut [f64],
    ) -> Result<f64, ClosureFailure> {
        change.fill(0.0);
        self.base.copy_from_slice(configuration);
        self.violate(dae, goal.time, configuration);
        let (worst, before) = largest(&self.system.residual.violation);
        if !before.is_finite() {
            return Err(KktFailure::NotFinite(Equation::Constraint(worst)).into());
        }
        if before <= goal.tolerance {
            return Ok(before);
        }
        let merged = self.system.solver.merged();
        self.system.held = goal.fixed.to_vec();
        let mut found = self.smallest_change(dae, goal, configuration, change).or_else(|_| {
            change.fill(0.0);
            configuration.copy_from_slice(&self.base);
            self.descend(dae, goal, configuration, change)
        });
        if goal.stated.contains(&true) && goal.stated.contains(&false) {
            let other = (configuration.to_vec(), change.to_vec());
            let kept = found.is_ok().then(|| self.distance(&other.1));
            if self.change_guessed_positions(dae, goal, configuration, change, kept) {
                found = Ok(());
            } else {
                configuration.copy_from_slice(&other.0);
                change.copy_from_slice(&other.1);
            }
        }
        self.system.held.clear();
        // Factors were adapted to coordinates that are held and to damped steps.
        self.system.solver = LinearSolver::new(&self.system.layout.pattern, &self.system.layout.roles);
        if let Some(merged) = merged {
            self.system.solver.merge(&merged);
        }
        found.map(|()| before)
    }

    /// Closes the loops by changing only the positions that are not stated. Tells whether that is possible
    /// without moving them much farther than if all positions changed.
    fn change_guessed_positions(
        &mut self,
        dae: &dyn Dae,
        goal: ClosureGoal,
        configuration: &mut [f64],
        change: &mut [f64],
        other_distance: Option<f64>,
    ) -> bool {
        change.fill(0.0);
        configuration.copy_from_slice(&self.base);
        self.system.held = goal.stated.to_vec();
        let compliant = all_compliant(&self.system);
        let kept = std::mem::replace(&mut self.system.compliance, compliant);
        let found = self.smallest_change(dae, goal, configuration, change);
        self.system.compliance = kept;
        found.is_ok() && other_distance.is_none_or(|distance| self.distance(change) <= FARTHER * distance)
    }

    /// How far a change moves points at most.
    fn distance(&self, change: &[f64]) -> f64 {
        let shape = &self.system.shape;
        let distances =
            change.iter().zip(lengths(shape, shape.scales.length)).map(|(x, length)| x.abs() * length);
        distances.fold(0.0, f64::max)
    }

    /// Newton's iteration for M x + Bᵀμ = 0, Φ(q ∘ exp(x̃)) = 0 without the derivatives of B.
    fn smallest_change(
        &mut self,
        dae: &dyn Dae,
        goal: ClosureGoal,
        configuration: &mut [f64],
        change: &mut [f64],
    ) -> Result<(), ClosureFailure> {
        let mut multipliers = vec![0.0; self.system.residual.violation.len()];
        let mut violation = self.violate(dae, goal.time, configuration);
        let near = NEAR * violation;
        for _ in 0..MAX_ITERATIONS {
            if largest(&self.system.residual.violation).1 <= goal.tolerance {
                return Ok(());
            }
            let system = &mut self.system;
            system.factor(
                dae,
                &self.rest.point_at(goal.time, configuration, &self.rest.velocity),
                Some(change),
            )?;
            // Rows of motion: M (x + δ) + Bᵀμ = 0; compliant rows: B δ − ε (μ − μ_old) = −Φ.
            system.unknowns.fill(0.0);
            let motion = &mut system.unknowns[..change.len()];
            system.tangent.dynamic.multiply_add(-1.0 / system.mass_scale, change, motion);
            system.clear_held();
            for ((value, compliance), multiplier) in
                system.residual.violation.iter_mut().zip(&system.compliance).zip(&multipliers)
            {
                *value += compliance * multiplier;
            }
            system.residual.nonholonomic.fill(0.0);
            system.constraint_rows(-1.0);
            system.solve()?;
            system.layout.gather(RowKind::Holonomic, 0, &system.unknowns, &mut multipliers);
            let step = system.unknowns[..change.len()].to_vec();
            let mut part = 1.0;
            for halvings in 0.. {
                let trial = self.trial(change, &step, part, configuration);
                let there = self.violate(dae, goal.time, configuration);
                if there <= violation.max(near) {
                    change.copy_from_slice(&trial);
                    violation = there;
                    break;
                }
                if halvings == MAX_HALVINGS {
                    self.trial(change, &step, 0.0, configuration);
                    self.violate(dae, goal.time, configuration);
                    return self.ended(goal, MAX_ITERATIONS);
                }
                part *= 0.5;
            }
        }
        self.ended(goal, MAX_ITERATIONS)
    }

    /// Levenberg and Marquardt's iteration: M δ + Bᵀμ = 0, B δ − ε μ = −Φ, with ε fitted to the success of
    /// the steps.
    fn descend(
        &mut self,
        dae: &dyn Dae,
        goal: ClosureGoal,
        configuration: &mut [f64],
        change: &mut [f64],
    ) -> Result<(), ClosureFailure> {
        let [mut damping, smallest, largest_damping] = DAMPING;
        let kept = std::mem::take(&mut self.system.compliance);
        let mut violation = self.violate(dae, goal.time, configuration);
        let mut iterations = 0;
        let outcome = loop {
            if largest(&self.system.residual.violation).1 <= goal.tolerance {
                break Ok(());
            }
            if iterations == 2 * MAX_ITERATIONS || damping > largest_damping {
                break self.ended(goal, iterations);
            }
            iterations += 1;
            if let Err(failure) = self.damped_step(dae, goal.time, configuration, change, damping) {
                break Err(failure.into());
            }
            let step = self.system.unknowns[..change.len()].to_vec();
            let trial = self.trial(change, &step, 1.0, configuration);
            let there = self.violate(dae, goal.time, configuration);
            if there < violation {
                let stalled = violation - there <= STALLED * violation;
                change.copy_from_slice(&trial);
                violation = there;
                damping = (0.1 * damping).max(smallest);
                if stalled && self.system.residual.violation.iter().any(|value| value.abs() > goal.tolerance)
                {
                    break self.ended(goal, iterations);
                }
            } else {
                self.trial(change, &step, 0.0, configuration);
                self.violate(dae, goal.time, configuration);
                damping *= 10.0;
            }
        };
        self.system.compliance = kept;
        outcome
    }

    /// Solves for one step of [`Self::descend`]; needs the violation at the configuration.
    fn damped_step(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        change: &[f64],
        damping: f64,
    ) -> Result<(), KktFailure> {
        let system = &mut self.system;
        system.compliance =
            vec![damping; system.residual.violation.len() + system.residual.nonholonomic.len()];
        system.factor(dae, &self.rest.point_at(time, configuration, &self.rest.velocity), Some(change))?;
        system.unknowns.fill(0.0);
        system.residual.nonholonomic.fill(0.0);
        system.constraint_rows(-1.0);
        system.solve()
    }

    /// Moves to q ∘ exp(x + part · δ) and gives x + part · δ.
    fn trial(&self, change: &[f64], step: &[f64], part: f64, configuration: &mut [f64]) -> Vec<f64> {
        let trial: Vec<f64> = change.iter().zip(step).map(|(x, d)| x + part * d).collect();
        self.system.shape.space.compose_exp(&self.base, &trial, configuration);
        trial
    }

    /// Evaluates the violation and gives its norm; not finite counts as infinite.
    fn violate(&mut self, dae: &dyn Dae, time: f64, configuration: &[f64]) -> f64 {
        let at = self.rest.point_at(time, configuration, &self.rest.velocity);
        self.system.evaluate(dae, &at);
        let norm = norm(&self.system.residual.violation);
        if norm.is_finite() { norm } else { f64::INFINITY }
    }

    /// Constraints whose velocities contradict each other: compliant ones that a projected velocity does not
    /// meet.
    pub fn contradicting_velocities(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
    ) -> Vec<(usize, f64)> {
        if self.system.compliance.is_empty() && self.system.residual.nonholonomic.is_empty() {
            return Vec::new();
        }
        let (residual, size) = self.hidden_violation(dae, time, configuration, velocity);
        violated(&self.system.shape, &residual, size)
    }

    /// Constraints whose accelerations contradict each other: compliant ones that the accelerations do not
    /// meet.
    pub fn contradicting_accelerations(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
    ) -> Vec<(usize, f64)> {
        if self.system.compliance.is_empty() {
            return Vec::new();
        }
        let (residual, size) = self.acceleration_violation(dae, time, configuration, velocity, acceleration);
        misses(&self.system.shape, &residual, CONTRADICTION * size)
    }

    /// What accelerations leave of the constraints, holonomic and nonholonomic, and the size of what it is made
    /// of: accelerations, curvatures, and forces over the mass, whose rounding the accelerations share.
    pub fn acceleration_violation(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
    ) -> (Vec<f64>, f64) {
        let system = &mut self.system;
        let at = Point { acceleration, ..self.rest.point_at(time, configuration, velocity) };
        system.evaluate(dae, &at);
        let forces = largest(&system.residual.equilibrium).1 / system.mass_scale;
        let mut residual = vec![0.0; system.residual.violation.len()];
        let curvature = Some(&mut residual[..]);
        system.differenced += ask(dae, &at, Wanted { curvature, ..Wanted::default() }).count();
        let (length, speed) = (system.shape.scales.length, largest(velocity).1);
        // Reactions of a steady motion vanish from the sum but not from its rounding.
        let size = forces
            + largest(&residual).1
            + largest(acceleration).1
            + speed * speed / length.max(1.0)
            + AT_REST * length;
        system.tangent.gradient.fill(0.0);
        dae.gradient(&at, &mut system.tangent.gradient);
        system.tangent.gradient.multiply_add(1.0, acceleration, &mut residual);
        let mut nonholonomic = vec![0.0; system.residual.nonholonomic.len()];
        if !nonholonomic.is_empty() {
            system.tangent.nonholonomic.fill(0.0);
            let wanted = Wanted {
                nonholonomic_curvature: Some(&mut nonholonomic),
                nonholonomic_gradient: Some(&mut system.tangent.nonholonomic),
                ..Wanted::default()
            };
            system.differenced += ask(dae, &at, wanted).count();
            system.tangent.nonholonomic.multiply_add(1.0, acceleration, &mut nonholonomic);
        }
        residual.extend_from_slice(&nonholonomic);
        (residual, size)
    }

    /// What becomes of an iteration that comes no nearer; needs the violation where it ended.
    fn ended(&self, goal: ClosureGoal, iterations: usize) -> Result<(), ClosureFailure> {
        let system = &self.system;
        if largest(&system.residual.violation).1 <= goal.accepted {
            return Ok(());
        }
        Err(ClosureFailure::Missed {
            misses: misses(&system.shape, &system.residual.violation, goal.tolerance),
            iterations,
        })
    }
}

pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
