//! The index-1 equations along a motion: accelerations and multipliers at any position and velocity, and the
//! way back onto the constraints with the same factors.
//!
//! Redundant constraints have a compliance ε in the factors of [`Kkt`]. Here it is none of the equations: one
//! sweep of iterative refinement against ε = 0 takes it out of accelerations and reactions. What is left in
//! the kernel of Bᵀ is rounding divided by ε; it moves nothing and is taken out of the multipliers, so that
//! the smallest remain.

use super::kkt::{BlockSystem, Kkt, KktFailure, MAX_ITERATIONS, REFINEMENTS, largest};
use super::layout::RowKind;
use crate::dae::{Dae, Equation, Point, Reactions, Values, Wanted, ask};
use crate::lie::Space;

/// Changes below this part of what they change are rounding: a few ε.
const ROUNDING: f64 = 1e-15;
/// Changes of multipliers that no longer shrink are rounding below this part of them: that of redundant
/// constraints is magnified by the inverse of their compliance.
const SHARED_ROUNDING: f64 = 1e-6;
/// Most rounds with factors of a point nearby; they shrink errors by the distance to it.
const MAX_ROUNDS: usize = 8;
/// What does not come closer than this is not on the constraints: parts of the machine's length, or of the
/// velocity. Far above rounding, far below the errors of steps.
const MISSED: f64 = 1e-9;

impl Kkt {
    /// Accelerations, multipliers, algebraic states and rates of the others at any q and v, with new factors;
    /// what the values hold is the first guess [ArnoldCardonaBruls2015, Eq. (19)].
    pub fn accelerate(&mut self, dae: &dyn Dae, at: &mut Values) -> Result<(), KktFailure> {
        self.accelerate_for(dae, at, true)
    }

    /// The same where nobody sees the multipliers: those of redundant constraints keep what no motion feels.
    pub fn accelerate_unseen(&mut self, dae: &dyn Dae, at: &mut Values) -> Result<(), KktFailure> {
        self.accelerate_for(dae, at, false)
    }

    fn accelerate_for(&mut self, dae: &dyn Dae, at: &mut Values, is_seen: bool) -> Result<(), KktFailure> {
        let (mut last, mut rounds) = (f64::INFINITY, 0);
        loop {
            let before = self.system.differenced;
            self.factor_moving(dae, at)?;
            if self.system.is_linear() {
                // The second correction refines the first.
                self.system.correct_refined(dae, at, true, 0)?;
                if !self.system.compliance.is_empty() || self.system.differenced > before {
                    self.system.correct_refined(dae, at, false, 0)?;
                }
                return self.system.complete(dae, at, is_seen);
            }
            let size = self.system.correct(dae, at, true)?;
            rounds += 1;
            if size <= ROUNDING || size <= SHARED_ROUNDING && size >= 0.5 * last {
                self.system.correct(dae, at, false)?;
                break;
            }
            if rounds == MAX_ITERATIONS {
                return Err(self.system.undecided());
            }
            last = size;
        }
        self.system.complete(dae, at, true)
    }

    /// Factors [M Bᵀ; B −ε] at q and v.
    pub fn factor_moving(&mut self, dae: &dyn Dae, at: &Values) -> Result<(), KktFailure> {
        self.system.factor_with(dae, &at.point(), None, false, 0.0)
    }

    /// The same as [`Kkt::accelerate`] with the factors of a point nearby; with new ones where that does not
    /// do. B and A must be those of the point.
    pub fn accelerate_nearby(&mut self, dae: &dyn Dae, at: &mut Values) -> Result<(), KktFailure> {
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            let size = self.system.correct(dae, at, true)?;
            if size.min(next_size(size, last)) <= ROUNDING || size <= SHARED_ROUNDING && size >= 0.5 * last {
                if !self.system.compliance.is_empty() {
                    self.system.correct(dae, at, false)?;
                }
                return self.system.complete(dae, at, true);
            }
            if size >= 0.5 * last {
                break;
            }
            last = size;
        }
        self.accelerate(dae, at)
    }

    /// Moves q = base ∘ exp(x̃) and v onto the constraints with factors of a point nearby, by changes that
    /// are the smallest in the norm of its mass matrix; `room` is as long as v. Gives false where that leads
    /// nowhere.
    pub fn project_nearby(
        &mut self,
        dae: &dyn Dae,
        base: &[f64],
        at: &mut Values,
        increment: &mut [f64],
        room: &mut [f64],
    ) -> Result<bool, KktFailure> {
        let system = &mut self.system;
        let (is_held, is_rolling) =
            (!system.residual.violation.is_empty(), !system.residual.nonholonomic.is_empty());
        if is_held {
            let found = rounds(MISSED, || system.position_round(dae, base, at, increment, room));
            if !found? {
                return Ok(false);
            }
            system.tangent.gradient.fill(0.0);
            dae.gradient(&at.point(), &mut system.tangent.gradient);
        }
        if is_held || is_rolling {
            // Rounding is that of the velocity as it comes in: of one that the constraints take away nothing is left
            // to compare with.
            let speed = distance(&system.shape.space, system.shape.scales.length, &at.velocity);
            let found = rounds(MISSED, || system.velocity_round(dae, at, speed));
            if !found? {
                return Ok(false);
            }
        }
        if is_rolling {
            system.tangent.nonholonomic.fill(0.0);
            let nonholonomic_gradient = Some(&mut system.tangent.nonholonomic);
            let wanted = Wanted { nonholonomic_gradient, ..Wanted::default() };
            system.differenced += ask(dae, &at.point(), wanted).count();
        }
        Ok(true)
    }

    /// Violation Φ of compliant constraints: what is left of them where the others hold. Empty without any.
    pub fn yielding_violation(&mut self, dae: &dyn Dae, at: &Values) -> &[f64] {
        if self.system.compliance.is_empty() {
            return &[];
        }
        self.system.evaluate(dae, &at.point());
        &self.system.residual.violation
    }

    /// The constraint that was violated most when that was last looked at.
    pub fn worst_violation(&self) -> usize {
        largest(&self.system.residual.violation).0
    }

    /// How accelerations and rates of first-order states differ at another point, to first order with the
    /// factors at hand: F⁻¹ (r(here) − r(there)) without the constraints' own part. Values and multipliers
    /// are those of the point where the equations hold.
    pub fn change_of_accelerations(
        &mut self,
        dae: &dyn Dae,
        there: &Point,
        out: &mut [f64],
        rates: &mut [f64],
    ) -> Result<(), KktFailure> {
        let system = &mut self.system;
        system.evaluate(dae, there);
        system.unknowns.fill(0.0);
        let scale = -1.0 / system.mass_scale;
        system.unknowns.iter_mut().zip(&system.residual.equilibrium).for_each(|(u, r)| *u = scale * r);
        system.solve()?;
        out.copy_from_slice(&system.unknowns[..out.len()]);
        rates.copy_from_slice(&system.residual.internal_rates);
        Ok(())
    }
}

/// What the next round would change, if it shrinks changes as this one did.
fn next_size(size: f64, last: f64) -> f64 {
    if last.is_finite() { size * (size / last) } else { f64::INFINITY }
}

/// Rounds until changes are rounding; false if they stop shrinking at more than `missed`.
fn rounds(missed: f64, mut round: impl FnMut() -> Result<f64, KktFailure>) -> Result<bool, KktFailure> {
    let mut last = f64::INFINITY;
    for _ in 0..MAX_ROUNDS {
        let size = round()?;
        if size.min(next_size(size, last)) <= ROUNDING {
            return Ok(true);
        }
        if size >= 0.5 * last {
            return Ok(size <= missed);
        }
        last = size;
    }
    Ok(last <= missed)
}

/// The largest entry of a change, positions in units of a length.
fn distance(space: &Space, length: f64, change: &[f64]) -> f64 {
    let size = |values: &[f64]| largest(values).1;
    let blocks = space.norm_blocks();
    blocks.fold(0.0, |distance: f64, block| {
        let unit = if block.is_rotation { 1.0 } else { length };
        distance.max(size(&change[block.velocities]) / unit)
    })
}

impl BlockSystem {
    /// Whether the multipliers enter linearly, and nothing else is solved for.
    fn is_linear(&self) -> bool {
        self.shape.reactions == Reactions::Gradient && !self.has_algebraic_states()
    }

    /// One correction of accelerations, multipliers and algebraic states by the residual of the equations at
    /// hand, in which redundant constraints are compliant or not; gives its relative size.
    fn correct(&mut self, dae: &dyn Dae, at: &mut Values, compliant: bool) -> Result<f64, KktFailure> {
        let refinements = if self.compliance.is_empty() { 0 } else { REFINEMENTS };
        self.correct_refined(dae, at, compliant, refinements)
    }

    /// The same with so many refinements of the solution.
    fn correct_refined(
        &mut self,
        dae: &dyn Dae,
        at: &mut Values,
        compliant: bool,
        refinements: usize,
    ) -> Result<f64, KktFailure> {
        let point = at.point();
        self.evaluate(dae, &point);
        let scale = -1.0 / self.mass_scale;
        self.unknowns.iter_mut().zip(&self.residual.equilibrium).for_each(|(u, r)| *u = scale * r);
        if compliant {
            self.acceleration_rows(dae, &point);
        } else {
            let compliance = std::mem::take(&mut self.compliance);
            self.acceleration_rows(dae, &point);
            self.compliance = compliance;
        }
        self.algebraic_rows();
        self.solve_refined(refinements)?;
        Ok(self.apply(at))
    }

    /// Takes what is rounding out of shared multipliers if they are seen, and finds the rates of first-order
    /// states.
    fn complete(&mut self, dae: &dyn Dae, at: &mut Values, is_seen: bool) -> Result<(), KktFailure> {
        if is_seen && !self.compliance.is_empty() {
            self.least_multipliers(at)?;
        }
        if at.internal_states.is_empty() {
            return Ok(());
        }
        self.evaluate(dae, &at.point());
        let rates = self.residual.internal_rates.iter().zip(self.shape.algebraic_states());
        for (out, (rate, algebraic)) in at.internal_rates.iter_mut().zip(rates) {
            *out = if algebraic { 0.0 } else { *rate };
        }
        Ok(())
    }

    /// Takes the part of the multipliers out that no motion feels.
    ///
    /// M x + Bᵀμ = 0 and B x − ε μ = −ε λ give μ = ε (B M⁻¹ Bᵀ + ε)⁻¹ λ: all of what lies in the kernel of
    /// Bᵀ, and some ε of the rest, of which a second solution leaves ε².
    fn least_multipliers(&mut self, at: &mut Values) -> Result<(), KktFailure> {
        let count = self.residual.violation.len();
        let scale = 1.0 / self.mass_scale;
        self.residual.violation.iter_mut().zip(&at.multipliers).for_each(|(to, from)| *to = from * scale);
        let from = &at.nonholonomic_multipliers;
        self.residual.nonholonomic.iter_mut().zip(from).for_each(|(to, from)| *to = from * scale);
        for _ in 0..2 {
            let (holonomic, nonholonomic) = self.compliance.split_at(count);
            self.residual.violation.iter_mut().zip(holonomic).for_each(|(value, c)| *value *= c);
            self.residual.nonholonomic.iter_mut().zip(nonholonomic).for_each(|(value, c)| *value *= c);
            self.unknowns.fill(0.0);
            self.constraint_rows(-1.0);
            self.solve()?;
            self.layout.gather(RowKind::Holonomic, 0, &self.unknowns, &mut self.residual.violation);
            self.layout.gather(RowKind::Nonholonomic, 0, &self.unknowns, &mut self.residual.nonholonomic);
        }
        let mass = self.mass_scale;
        at.multipliers.iter_mut().zip(&self.residual.violation).for_each(|(l, mu)| *l -= mass * mu);
        let multipliers = at.nonholonomic_multipliers.iter_mut();
        multipliers.zip(&self.residual.nonholonomic).for_each(|(l, mu)| *l -= mass * mu);
        Ok(())
    }

    /// One change of the position; gives its size.
    fn position_round(
        &mut self,
        dae: &dyn Dae,
        base: &[f64],
        at: &mut Values,
        increment: &mut [f64],
        room: &mut [f64],
    ) -> Result<f64, KktFailure> {
        self.evaluate(dae, &at.point());
        self.residual.nonholonomic.fill(0.0);
        self.unknowns.fill(0.0);
        self.constraint_rows(-1.0);
        self.solve()?;
        let change = &self.unknowns[..increment.len()];
        let space = &self.shape.space;
        // exp(x̃) exp(δ̃) ≈ exp(x̃ + T⁻¹(x) δ); the next round sees the rest.
        if space.inverse_tangent_multiply(increment, change, room).is_err() {
            return Ok(f64::INFINITY);
        }
        increment.iter_mut().zip(&*room).for_each(|(x, d)| *x += d);
        space.compose_exp(base, increment, &mut at.configuration);
        Ok(distance(space, self.shape.scales.length, change))
    }

    /// One change of the velocity; gives its size in parts of the larger of a speed and its own.
    fn velocity_round(&mut self, dae: &dyn Dae, at: &mut Values, speed: f64) -> Result<f64, KktFailure> {
        if !self.residual.nonholonomic.is_empty() {
            self.evaluate(dae, &at.point());
        }
        self.hidden_residual(dae, &at.point());
        self.unknowns.fill(0.0);
        self.constraint_rows(-1.0);
        self.solve()?;
        let (space, length) = (&self.shape.space, self.shape.scales.length);
        let change = &self.unknowns[..at.velocity.len()];
        at.velocity.iter_mut().zip(change).for_each(|(v, d)| *v += d);
        let (size, left) = (distance(space, length, change), distance(space, length, &at.velocity));
        Ok(if size == 0.0 { 0.0 } else { size / speed.max(left).max(size) })
    }

    /// What is not determined where an iteration finds no end.
    pub(super) fn undecided(&self) -> KktFailure {
        if self.has_algebraic_states() && self.shape.reactions == Reactions::Gradient {
            let mut states = self.shape.algebraic_states().zip(0..);
            let first = states.find(|(algebraic, _)| *algebraic);
            return KktFailure::Singular(Equation::State(first.map_or(0, |(_, index)| index)));
        }
        KktFailure::Singular(Equation::Equilibrium(0))
    }
}
