//! Initial values that the user states, beside those that are only guesses.
//!
//! Velocities that do not satisfy the constraints are corrected in two stages. The first one keeps what is
//! stated: of all changes Δ of the guesses alone with B (v + Δ) + Φ_t = 0 and κ(v + Δ) = 0 it takes the
//! smallest in the norm of the mass matrix,
//!
//! ```text
//! | M_gg  B_gᵀ | | Δ_g |   |  0              |
//! | B_g   −ε   | |  μ  | = | −(B v + Φ_t)    |        Δ_s = 0,
//! ```
//!
//! with g the guesses and s what is stated. What is stated may decide some of the constraints alone, so that
//! rows of B_g depend on each other: each gives way to the change of its multiplier by ε, and repeating that
//! leads to Δ where the rows agree, and to the smallest violation in the sense of least squares where not
//! (the proximal point iteration for μ). If they do not agree, what is stated contradicts itself. A second
//! stage then changes it too, as little as possible: it minimises Δᵀ(M + w M_ss)Δ with w ≫ 1, M_ss the part
//! of M on the stated coordinates of each node.

use super::closure::{misses, named, norm, violated};
use super::compliance::compliance_of;
use super::error::{Miss, StatedChange};
use super::kkt::{BlockSystem, Kkt, KktFailure, largest};
use super::layout::RowKind;
use crate::dae::{Dae, Equation, Initial, Shape, Wanted, ask};
use crate::lie::Group;
use crate::solve::linear::LinearSolver;

/// How much more the change of what is stated counts than that of guesses: it keeps six digits of the
/// smallest change, and leaves ten to the solution.
const EMPHASIS: f64 = 1e6;
/// Hidden residuals below this part of the velocities agree: numbers in model files have fewer digits, and
/// the factors lose fewer.
const AGREED: f64 = 1e-9;
/// The iteration for guesses ends where it cannot be better than this part of the velocities: a few ε.
const ROUNDING: f64 = 1e-15;
/// Rounds at the end: constraints that give way are met by the second one.
const POLISHING: usize = 2;
/// Most rounds of it; each takes the factor ε away from what is left.
const MAX_ROUNDS: usize = 12;
/// A stated speed that changes by more than this part of the largest stated one is refused. A choice: two
/// right digits may be a rounded number, fewer are another motion.
pub(crate) const REFUSED_CHANGE: f64 = 0.01;
/// Changes below this part of the largest stated speed are not worth a word: numbers typed with six digits.
const TOLD: f64 = 1e-6;

/// What became of the velocities that the user states.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VelocityOutcome {
    /// Largest violation of a constraint at velocity level before.
    pub violation: f64,
    /// Stated velocities that were changed, the largest change first.
    pub changes: Vec<StatedChange>,
    /// Constraints that what is stated violates whatever the guesses are, worst first.
    pub misses: Vec<Miss>,
    /// Constraints that velocities which must not change leave violated, worst first.
    pub unmet: Vec<(usize, f64)>,
}

/// The velocity coordinates of some nodes.
pub(crate) fn coordinates_of(shape: &Shape, nodes: &[usize]) -> Vec<bool> {
    let mut coordinates = Vec::new();
    if !nodes.is_empty() {
        coordinates.resize(shape.velocity_count(), false);
        nodes.iter().for_each(|&node| coordinates[shape.space.velocity_range(node)].fill(true));
    }
    coordinates
}

/// Compliance of every constraint, for rows that may depend on each other.
pub(super) fn all_compliant(system: &BlockSystem) -> Vec<f64> {
    let mut compliance: Vec<f64> =
        system.shape.weights_of_multipliers().into_iter().map(compliance_of).collect();
    // Constraints that are switched off have a larger one already.
    compliance.iter_mut().zip(&system.compliance).for_each(|(all, own)| *all = all.max(*own));
    compliance
}

impl Kkt {
    /// Makes initial velocities consistent at a consistent configuration; see the top of the file. Where
    /// nothing is said about what is stated every velocity counts alike, and where the velocities agree there
    /// is nothing to decide: then the smallest change is taken, which is rounding.
    pub fn start_velocity(
        &mut self,
        dae: &dyn Dae,
        initial: &Initial,
        configuration: &[f64],
        velocity: &mut [f64],
    ) -> Result<VelocityOutcome, KktFailure> {
        let (time, stated) = (initial.time, &initial.stated_velocity[..]);
        if !stated.contains(&true) {
            let violation = self.scale_hidden_residual(dae, time, configuration, velocity, 0.0)?;
            return Ok(VelocityOutcome { violation, ..VelocityOutcome::default() });
        }
        let given = velocity.to_vec();
        let (residual, size) = self.hidden_violation(dae, time, configuration, velocity);
        let violation = largest(&residual).1;
        if violation <= AGREED * size {
            self.scale_hidden_residual(dae, time, configuration, velocity, 0.0)?;
            return Ok(VelocityOutcome { violation, ..VelocityOutcome::default() });
        }
        let merged = self.system.solver.merged();
        let kept = self.system.compliance.clone();
        let found = self.decide(dae, initial, configuration, velocity, residual);
        self.system.compliance = kept;
        self.system.stressed.clear();
        self.system.held.clear();
        // Factors were adapted to coordinates that are held and stressed.
        self.system.solver = LinearSolver::new(&self.system.layout.pattern, &self.system.layout.roles);
        if let Some(merged) = merged {
            self.system.solver.merge(&merged);
        }
        let misses = named(dae, &found?);
        let changes = stated_changes(dae, &self.system.shape, stated, [&given, velocity]);
        let unmet = match initial.fixed.is_empty() {
            true => Vec::new(),
            false => {
                let (left, size) = self.hidden_violation(dae, time, configuration, velocity);
                violated(&self.system.shape, &left, size)
            }
        };
        Ok(VelocityOutcome { violation, changes, misses, unmet })
    }

    /// Both stages, for velocities that do not agree; gives what the guesses could not meet.
    fn decide(
        &mut self,
        dae: &dyn Dae,
        initial: &Initial,
        configuration: &[f64],
        velocity: &mut [f64],
        mut left: Vec<f64>,
    ) -> Result<Vec<(usize, f64)>, KktFailure> {
        let (time, stated) = (initial.time, &initial.stated_velocity[..]);
        let (given, some_guessed) = (velocity.to_vec(), stated.contains(&false));
        if some_guessed {
            left = self.change_guesses(dae, time, configuration, velocity, stated);
        }
        let size = self.hidden_violation(dae, time, configuration, velocity).1;
        let agree = largest(&left).1 <= AGREED * size;
        let mut fixed = coordinates_of(&self.system.shape, &initial.fixed);
        fixed.iter_mut().zip(stated).for_each(|(fixed, stated)| *fixed &= *stated);
        if fixed.contains(&true) {
            self.system.held = fixed;
            self.system.compliance = all_compliant(&self.system);
        }
        if !agree {
            velocity.copy_from_slice(&given);
            if some_guessed {
                self.system.stressed = stated.to_vec();
            }
            self.scale_hidden_residual(dae, time, configuration, velocity, 0.0)?;
            self.system.stressed.clear();
        }
        for _ in 0..POLISHING {
            self.scale_hidden_residual(dae, time, configuration, velocity, 0.0)?;
        }
        Ok(if agree { Vec::new() } else { misses(&self.system.shape, &left, AGREED * size) })
    }

    /// The first stage; gives the violation that is left.
    fn change_guesses(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &mut [f64],
        stated: &[bool],
    ) -> Vec<f64> {
        let given = velocity.to_vec();
        let kept = self.system.compliance.clone();
        self.system.held = stated.to_vec();
        self.system.compliance = all_compliant(&self.system);
        let mut multipliers = vec![0.0; self.system.residual.violation.len()];
        let mut others = vec![0.0; self.system.residual.nonholonomic.len()];
        let (mut best, mut best_velocity) = (f64::INFINITY, given.clone());
        let mut left = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let (residual, size) = self.hidden_violation(dae, time, configuration, velocity);
            let now = norm(&residual);
            // What comes no nearer is rounding, or a contradiction.
            let nearer = now < 0.5 * best;
            if now < best {
                (best, left) = (now, residual);
                best_velocity.copy_from_slice(velocity);
            }
            if !nearer || now <= ROUNDING * size {
                break;
            }
            // Where the guesses alone are not determined, the second stage has the last word.
            let both = [&mut multipliers, &mut others];
            if self.guess_step(dae, (time, configuration), velocity, &given, both).is_err() {
                break;
            }
        }
        velocity.copy_from_slice(&best_velocity);
        self.system.held.clear();
        self.system.compliance = kept;
        left
    }

    /// One round of the first stage.
    fn guess_step(
        &mut self,
        dae: &dyn Dae,
        (time, configuration): (f64, &[f64]),
        velocity: &mut [f64],
        given: &[f64],
        multipliers: [&mut Vec<f64>; 2],
    ) -> Result<(), KktFailure> {
        let system = &mut self.system;
        let at = self.rest.point_at(time, configuration, velocity);
        system.factor(dae, &at, None)?;
        system.evaluate(dae, &at);
        system.hidden_residual(dae, &at);
        // Rows of motion: M (v + Δ − v₀) + Bᵀμ = 0; those of constraints: B Δ − ε (μ − μ_old) = −r.
        system.unknowns.fill(0.0);
        let change: Vec<f64> = velocity.iter().zip(given).map(|(now, then)| now - then).collect();
        let motion = &mut system.unknowns[..change.len()];
        system.tangent.dynamic.multiply_add(-1.0 / system.mass_scale, &change, motion);
        system.clear_held();
        let (first, second) = system.compliance.split_at(system.residual.violation.len());
        let rows = system.residual.violation.iter_mut().zip(first).zip(multipliers[0].iter());
        let more = system.residual.nonholonomic.iter_mut().zip(second).zip(multipliers[1].iter());
        rows.chain(more).for_each(|((row, compliance), multiplier)| *row += compliance * multiplier);
        system.constraint_rows(-1.0);
        system.solve()?;
        system.layout.gather(RowKind::Holonomic, 0, &system.unknowns, multipliers[0]);
        system.layout.gather(RowKind::Nonholonomic, 0, &system.unknowns, multipliers[1]);
        velocity.iter_mut().zip(&system.unknowns).for_each(|(v, d)| *v += d);
        Ok(())
    }

    /// B v + Φ_t, then κ, and the size of the velocities against which they are judged.
    pub fn hidden_violation(
        &mut self,
        dae: &dyn Dae,
        time: f64,
        configuration: &[f64],
        velocity: &[f64],
    ) -> (Vec<f64>, f64) {
        let system = &mut self.system;
        let at = self.rest.point_at(time, configuration, velocity);
        system.evaluate(dae, &at);
        let mut rates = vec![0.0; system.residual.violation.len()];
        if system.shape.rheonomic {
            let violation_rate = Some(&mut rates[..]);
            system.differenced += ask(dae, &at, Wanted { violation_rate, ..Wanted::default() }).count();
        }
        let size = largest(&rates).1 + largest(velocity).1;
        system.tangent.gradient.fill(0.0);
        dae.gradient(&at, &mut system.tangent.gradient);
        system.tangent.gradient.multiply_add(1.0, velocity, &mut rates);
        rates.extend_from_slice(&system.residual.nonholonomic);
        (rates, size)
    }
}

impl BlockSystem {
    /// Cuts coordinates that are held off the matrix, so that their unknowns vanish.
    pub fn hold(&mut self) {
        let pattern = self.layout.pattern.clone();
        let held = |unknown: usize| self.held.get(unknown).is_some_and(|held| *held);
        for (block, row, column) in pattern.blocks() {
            let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
            if !rows.clone().chain(columns.clone()).any(held) {
                continue;
            }
            let mut view = self.matrix.block_mut(block);
            let [rows, columns] = [rows, columns].map(|range| {
                range
                    .enumerate()
                    .filter(|(_, unknown)| held(*unknown))
                    .map(|(local, _)| local)
                    .collect::<Vec<_>>()
            });
            rows.iter().for_each(|&i| view.row_mut(i).fill(0.0));
            columns.iter().for_each(|&j| view.column_mut(j).fill(0.0));
            if row == column {
                rows.iter().for_each(|&i| view[(i, i)] = 1.0);
            }
        }
        self.free_held_constraints();
    }

    /// Gives multipliers of constraints that touch only nodes that are held an equation of their own.
    fn free_held_constraints(&mut self) {
        let gradient = self.tangent.gradient.pattern().clone();
        let mut held = vec![true; self.shape.constraints.len()];
        for (_, row, column) in gradient.blocks() {
            held[row] &= self.held[self.shape.space.velocity_range(column)].iter().all(|held| *held);
        }
        for (index, _) in held.iter().enumerate().filter(|(_, held)| **held) {
            let group = self.layout.constraint_group(RowKind::Holonomic, index);
            if let Some(block) = self.layout.pattern.find(group, group) {
                self.matrix.block_mut(block).fill_diagonal(-1.0);
            }
        }
    }

    /// What is held has nothing to move for.
    pub(super) fn clear_held(&mut self) {
        let held = self.unknowns.iter_mut().zip(&self.held).filter(|(_, held)| **held);
        held.for_each(|(unknown, _)| *unknown = 0.0);
    }

    /// Lets changes of stressed coordinates count [`EMPHASIS`] times.
    pub(super) fn stress(&mut self) {
        for node in 0..self.shape.space.factor_count() {
            let stressed = &self.stressed[self.shape.space.velocity_range(node)];
            let places =
                (self.layout.pattern.find(node, node), self.tangent.dynamic.pattern().find(node, node));
            let ((Some(place), Some(mass)), true) = (places, stressed.contains(&true)) else { continue };
            let (mass, mut view) = (self.tangent.dynamic.block(mass), self.matrix.block_mut(place));
            for (i, j) in (0..stressed.len()).flat_map(|i| (0..stressed.len()).map(move |j| (i, j))) {
                if stressed[i] && stressed[j] {
                    view[(i, j)] += EMPHASIS / self.mass_scale * mass[(i, j)];
                }
            }
        }
    }
}

/// Velocities of a node that belong together: their place in it, and whether they are angular.
fn velocity_kinds(group: Group) -> Vec<(std::ops::Range<usize>, bool)> {
    match group {
        Group::Vector(size) => vec![(0..size, false)],
        Group::So3 => vec![(0..3, true)],
        Group::So3xR3 | Group::Se3 => vec![(0..3, true), (3..6, false)],
    }
}

/// Stated velocities that were changed by more than rounding, the largest change first.
fn stated_changes(
    dae: &dyn Dae,
    shape: &Shape,
    stated: &[bool],
    [before, after]: [&[f64]; 2],
) -> Vec<StatedChange> {
    let length = shape.scales.length;
    let mut changes = Vec::new();
    let mut fastest = 0.0_f64;
    for node in 0..shape.space.factor_count() {
        let first = shape.space.velocity_range(node).start;
        for (range, angular) in velocity_kinds(shape.space.group(node)) {
            let range = first + range.start..first + range.end;
            if !stated[range.clone()].contains(&true) {
                continue;
            }
            let arm = if angular { length } else { 1.0 };
            let (before, after) = (&before[range.clone()], &after[range]);
            fastest = fastest.max(arm * norm(before));
            let change: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
            changes.push((node, angular, arm * norm(&change), before, after));
        }
    }
    changes.retain(|(_, _, change, ..)| *change > TOLD * fastest);
    changes.sort_by(|a, b| b.2.total_cmp(&a.2));
    let change = |(node, angular, change, before, after): (usize, bool, f64, &[f64], &[f64])| StatedChange {
        name: dae.describe(Equation::Node(node)),
        angular,
        before: norm(before),
        after: norm(after),
        turned: angle(before, after),
        refused: change > REFUSED_CHANGE * fastest,
    };
    changes.into_iter().map(change).collect()
}

/// The angle between two vectors; none where one of them vanishes.
fn angle(first: &[f64], second: &[f64]) -> f64 {
    let product: f64 = first.iter().zip(second).map(|(a, b)| a * b).sum();
    let sizes = norm(first) * norm(second);
    if sizes > 0.0 { (product / sizes).clamp(-1.0, 1.0).acos() } else { 0.0 }
}
