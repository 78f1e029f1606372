//! RATTLE on Lie groups: a variational method of second order whose energy does not drift [HanteArnold2021].
//!
//! ```text
//! T⁻ᵀ(−x) M x/h = M v_n − ½ h (F(q_n, v_n) + Bᵀ(q_n) λ⁺),   q_{n+1} = q_n ∘ exp(x̃),   Φ(q_{n+1}) = 0
//! M v_{n+1} = T⁻ᵀ(x) M x/h − ½ h (F(q_{n+1}, v_{n+1}) + Bᵀ(q_{n+1}) λ⁻),   B(q_{n+1}) v_{n+1} + Φ_t = 0
//! ```
//!
//! with the forces F = g + v̂ᵀ M v, from which those are taken that momenta have because they are seen in
//! axes that turn. M is that of rigid bodies, the same everywhere. For forces of a potential the method is
//! symplectic and reversible: its energy keeps to that of a motion nearby for as long as anyone waits, if all
//! steps have one size. Both systems are solved to round-off with factors of M and B at the start and at the
//! end of the step: one factorisation a step. Accelerations and multipliers that are shown belong to q_{n+1}
//! and v_{n+1} and have their order.

use super::super::control::ErrorControl;
use super::super::error::{StartError, StepError, Task};
use super::super::judge::ErrorSize;
use super::super::state::State;
use super::implicit::{contradiction, kkt_error};
use super::parameters::Parameters;
use super::{Family, Method, Scheme, SchemeEntry, StartPoint, Tools, Trial};
use crate::constrained::{KktFailure, RowKind};
use crate::dae::{Equation, Point, Reactions, Values};

/// A variational method for long conservative motions, with steps of one size.
pub const SYMPLECTIC: Method = Method(&SchemeEntry {
    word: "symplectic",
    doc: "keeps the energy of rigid machines without friction over any time, with a number for `step`: for long motions; it damps nothing, \
          and `spectral-radius` has no say",
    family: Family::Fixed,
    leaves_hidden_residual: false,
    // Positions follow velocities at the middle of steps, as in Verlet's method: ∫v dt = h v + h³ v̈/24
    // there.
    order: 2,
    error_constant: Some(|_| 1.0 / 24.0),
    max_turn: 0.5,
    max_turn_se3: 0.5,
    one_size: true,
    options: &[],
    suit: |settings| settings.parameters = Parameters::chung_hulbert(0.0).unwrap_or(settings.parameters),
    new: |on, _| Ok(Box::new(Symplectic::new(on)?)),
});

/// Most rounds of an iteration, which shrinks errors by the turn of a step.
const MAX_ROUNDS: usize = 60;
/// Changes that no longer shrink below this, in rad and in lengths of the machine, are rounding.
const ROUNDING: f64 = 1e-11;
/// Changes below this are none: less than one rounding of a number of size one.
const NOTHING: f64 = 1e-16;
/// Masses that differ by more than this part are not the same everywhere. Rounding of a rotated inertia is
/// 1e-15; what a moving part changes is far more.
const SAME_MASS: f64 = 1e-9;

struct Symplectic {
    /// Entries of M, once known.
    mass: Vec<f64>,
    /// What momenta are to be.
    wanted: Vec<f64>,
    forces: Vec<f64>,
    product: Vec<f64>,
    residual: Vec<f64>,
    multipliers: Vec<f64>,
    rest: Vec<f64>,
    no_multipliers: Vec<f64>,
}

impl Symplectic {
    fn new(on: &Tools) -> Result<Self, StartError> {
        let shape = &on.shape;
        let refuse = |task: Task, part: Option<Equation>, instead: &'static str| {
            let part = part.map(|equation| on.dae.describe(equation));
            Err(StartError::CannotDo { method: SYMPLECTIC.word(), task, part, instead })
        };
        if on.settings.error_control.is_some() {
            let instead = "give a number for `step`, or take the method `explicit8`";
            return refuse(Task::StepsByError, None, instead);
        }
        if shape.nonholonomic_count() > 0 {
            return refuse(Task::Nonholonomic, Some(Equation::NonholonomicGroup(0)), INSTEAD);
        }
        if shape.state_count() > 0 {
            return refuse(Task::States, Some(Equation::State(0)), INSTEAD);
        }
        // The equations do not tell which force or beam it is: who made them does.
        if shape.reactions == Reactions::General {
            return refuse(Task::ReactionFriction, None, INSTEAD);
        }
        if shape.costly_tangent {
            return refuse(Task::Beams, None, "take the method `index2`");
        }
        let zeros = |count: usize| vec![0.0; count];
        let (count, constraints) = (shape.velocity_count(), shape.constraint_count());
        Ok(Self {
            mass: Vec::new(),
            wanted: zeros(count),
            forces: zeros(count),
            product: zeros(count),
            residual: zeros(count),
            multipliers: zeros(constraints),
            rest: zeros(count),
            no_multipliers: zeros(constraints),
        })
    }

    /// Factors M and B; M must be the one that is known.
    fn factor(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        at: &Values,
        trial: &Trial,
    ) -> Result<(), StepError> {
        on.kkt.factor_moving(on.dae, at).map_err(|failure| kkt_error(on.dae, failure, state, step, trial))?;
        let mass = on.kkt.system.tangent.dynamic.values();
        if self.mass.is_empty() {
            self.mass.extend_from_slice(mass);
            return Ok(());
        }
        let largest = self.mass.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let differs = |(now, known): (&f64, &f64)| (now - known).abs() > SAME_MASS * largest;
        if mass.iter().zip(&self.mass).any(differs) {
            return Err(StepError::ChangingMass { time: at.time });
        }
        Ok(())
    }

    /// Forces F at given values.
    fn evaluate_forces(&mut self, on: &mut Tools, at: &Values) {
        let Self { forces, product, rest, no_multipliers, .. } = self;
        let system = &mut on.kkt.system;
        system.evaluate(on.dae, &Point { acceleration: rest, multipliers: no_multipliers, ..at.point() });
        forces.copy_from_slice(&system.residual.equilibrium);
        product.fill(0.0);
        system.tangent.dynamic.multiply_add(1.0, &at.velocity, product);
        on.shape.space.hat_transpose_multiply_add(&at.velocity, product, forces);
    }

    /// Solves for a change with the residual at hand and the violation that the system has; adds it to the
    /// multipliers.
    fn solve(&mut self, on: &mut Tools) -> Result<f64, KktFailure> {
        let system = &mut on.kkt.system;
        let scale = -1.0 / system.mass_scale;
        system.unknowns.fill(0.0);
        system.unknowns.iter_mut().zip(&self.residual).for_each(|(out, r)| *out = scale * r);
        system.constraint_rows(-1.0);
        system.solve()?;
        system.layout.gather(RowKind::Holonomic, 0, &system.unknowns, &mut system.residual.violation);
        let changes = &system.residual.violation;
        self.multipliers.iter_mut().zip(changes).for_each(|(mu, change)| *mu += system.mass_scale * change);
        Ok(on.judge.speed(&on.shape, &system.unknowns[..self.residual.len()]))
    }

    /// Finds x: the new position.
    fn solve_position(
        &mut self,
        on: &mut Tools,
        base: &Values,
        trial: &mut Trial,
    ) -> Result<bool, KktFailure> {
        let shape = std::sync::Arc::clone(&on.shape);
        let space = &shape.space;
        self.multipliers.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            let Trial { values, increment } = &mut *trial;
            space.compose_exp(&base.configuration, increment, &mut values.configuration);
            let system = &mut on.kkt.system;
            self.product.fill(0.0);
            system.tangent.dynamic.multiply_add(1.0, increment, &mut self.product);
            increment.iter_mut().for_each(|x| *x = -*x);
            let exists =
                space.inverse_tangent_transpose_multiply(increment, &self.product, &mut self.residual);
            increment.iter_mut().for_each(|x| *x = -*x);
            if exists.is_err() {
                return Ok(false);
            }
            self.residual.iter_mut().zip(&self.wanted).for_each(|(r, wanted)| *r -= wanted);
            system.tangent.gradient.transpose_multiply_add(1.0, &self.multipliers, &mut self.residual);
            system.evaluate(on.dae, &values.point());
            let size = self.solve(on)?;
            let change = &on.kkt.system.unknowns;
            trial.increment.iter_mut().zip(change).for_each(|(x, d)| *x += d);
            if size <= NOTHING || size <= ROUNDING && size >= 0.5 * last {
                let Trial { values, increment } = &mut *trial;
                space.compose_exp(&base.configuration, increment, &mut values.configuration);
                return Ok(true);
            }
            last = size;
        }
        Ok(false)
    }

    /// Finds v at the new position, whose factors are at hand, from the momentum that is wanted.
    fn solve_velocity(&mut self, on: &mut Tools, step: f64, values: &mut Values) -> Result<bool, KktFailure> {
        self.multipliers.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            // Leaves M v behind.
            self.evaluate_forces(on, values);
            let sums = self.product.iter().zip(&self.forces).zip(&self.wanted);
            self.residual
                .iter_mut()
                .zip(sums)
                .for_each(|(r, ((p, f), wanted))| *r = p + 0.5 * step * f - wanted);
            let system = &mut on.kkt.system;
            system.tangent.gradient.transpose_multiply_add(1.0, &self.multipliers, &mut self.residual);
            system.hidden_residual(on.dae, &values.point());
            let size = step * self.solve(on)?;
            let change = &on.kkt.system.unknowns;
            values.velocity.iter_mut().zip(change).for_each(|(v, d)| *v += d);
            if size <= NOTHING || size <= ROUNDING && size >= 0.5 * last {
                return Ok(true);
            }
            last = size;
        }
        Ok(false)
    }
}

/// What else to take.
const INSTEAD: &str = "take the method `explicit8` or `index2`";

impl Scheme for Symplectic {
    fn start(&mut self, on: &mut Tools, state: &mut State, _: f64, at: StartPoint) -> Result<(), KktFailure> {
        state.base_velocity = None;
        let mut values = state.now.clone();
        values.time = at.time;
        values.acceleration.fill(0.0);
        on.kkt.accelerate(on.dae, &mut values)?;
        values.time = state.now.time;
        state.now.copy_from(&values);
        Ok(())
    }

    fn attempt(
        &mut self,
        on: &mut Tools,
        state: &State,
        step: f64,
        trial: &mut Trial,
    ) -> Result<usize, StepError> {
        let (now, time) = (&state.now, state.now.time);
        self.factor(on, state, step, now, trial)?;
        self.evaluate_forces(on, now);
        let sums = self.product.iter().zip(&self.forces);
        self.wanted.iter_mut().zip(sums).for_each(|(out, (p, f))| *out = step * (p - 0.5 * step * f));
        let failed = |on: &Tools, failure, trial: &Trial| kkt_error(on.dae, failure, state, step, trial);
        let motion = now.velocity.iter().zip(&now.acceleration);
        trial.increment.iter_mut().zip(motion).for_each(|(x, (v, a))| *x = step * (v + 0.5 * step * a));
        trial.values.copy_from(now);
        trial.values.time = state.time_after(step);
        let found = self.solve_position(on, now, trial).map_err(|failure| failed(on, failure, trial))?;
        let (angle, node) = on.judge.turns.largest(&trial.increment);
        if !found || angle > std::f64::consts::PI {
            if let Some(contradiction) = contradiction(on, state, step) {
                return Err(contradiction);
            }
            let part = on.dae.describe(Equation::Node(node));
            let most = on.judge.turns.limit(node).unwrap_or(SYMPLECTIC.0.max_turn);
            return Err(StepError::TurnTooFar { time, step, angle, most, part });
        }
        // Momentum before the second half of the impulse.
        self.product.fill(0.0);
        on.kkt.system.tangent.dynamic.multiply_add(1.0 / step, &trial.increment, &mut self.product);
        let space = &on.shape.space;
        if space
            .inverse_tangent_transpose_multiply(&trial.increment, &self.product, &mut self.wanted)
            .is_err()
        {
            let part = on.dae.describe(Equation::Node(node));
            return Err(StepError::TurnTooFar { time, step, angle, most: SYMPLECTIC.0.max_turn, part });
        }
        let speeds = trial.values.velocity.iter_mut().zip(&trial.increment);
        speeds.for_each(|(v, x)| *v = x / step);
        let values = std::mem::take(&mut trial.values);
        let outcome = self.factor(on, state, step, &values, trial);
        trial.values = values;
        outcome?;
        let found =
            self.solve_velocity(on, step, &mut trial.values).map_err(|failure| failed(on, failure, trial))?;
        if !found {
            let unknown = on.dae.describe(Equation::Equilibrium(0));
            return Err(StepError::Singular { time, step, unknown });
        }
        on.kkt.accelerate_nearby(on.dae, &mut trial.values).map_err(|failure| failed(on, failure, trial))?;
        Ok(0)
    }

    fn error(&mut self, _: &Tools, _: &State, _: f64, _: &Trial, _: &ErrorControl) -> ErrorSize {
        ErrorSize { size: 0.0, worst: Equation::Equilibrium(0), order: 3 }
    }
}
