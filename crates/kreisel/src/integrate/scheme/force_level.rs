//! Balance of forces at two times: what `soi2`, `hht-soi2` and `hht-i3` have in place of equilibrium at
//! t_{n+1}.
//!
//! With f = −(g + Bᵀλ + Aᵀψ) the balance is [JayNegrut2008, Eqs. (13e), (17d)]
//!
//! ```text
//! (1 − α_m) M_{1+α} a_{n+1} + α_m M_α a_n = (1 − α_f) f_{n+1} + α_f f_n
//! M_{1+α} = M(t_n + (1 + α) h, q_n ∘ exp((1 + α) h ṽ_n)),   M_α alike or as in the step before
//! ```
//!
//! On a Lie group only the way to the point where M is evaluated differs from the paper: along the
//! exponential. An acceleration v̇ goes along by (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) v̇_{n+1} + α_f v̇_n,
//! to which sensors and predictors are used; then
//!
//! ```text
//! M_{1+α} v̇_{n+1} − f_{n+1} + (M_{1+α}(α_f v̇_n − α_m a_n) + α_m M_α a_n − α_f f_n)/(1 − α_f) = 0
//! ```
//!
//! and the last term is known before the step.

use std::sync::Arc;

use super::super::state::State;
use super::alpha::{Alpha, Base, Formulation};
use super::implicit::{MatrixPoint, Room, Step, StepEquations};
use super::index3::Index3Step;
use super::option::option;
use super::start::Slopes;
use super::{Family, Item, Method, MethodOption, SchemeEntry, Tools, Trial};
use crate::constrained::{Copies, Layout};
use crate::dae::{Couplings, Point, Residual, Shape, Tangent, TangentWeights, Values, Wanted, ask};
use crate::solve::block::BlockMatrix;
use crate::solve::newton::NonlinearSystem;

/// The index-3 method of Hilber, Hughes and Taylor's family with forces balanced at two times: α_m = 0,
/// position constraints hold [JayNegrut2008, Eqs. (17) without (17c), (17f)].
pub const HHT_I3: Method = Method(&SchemeEntry {
    word: "hht-i3",
    doc: "is a relative of `index3`",
    family: Family::Hht,
    leaves_hidden_residual: ForceLevel::LEAVES_HIDDEN_RESIDUAL,
    order: 2,
    error_constant: Some(ForceLevel::position_error_constant),
    max_turn: 1.4,
    max_turn_se3: 0.5,
    one_size: false,
    options: &[PastMass::ENTRY],
    suit: |_| {},
    new: Alpha::<ForceLevel>::boxed,
});

/// M_α, the mass matrix that goes with a_n in methods that balance forces at two times [JayNegrut2008, §3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastMass {
    /// That of the step before, M_{(1+α)−1}.
    Kept,
    /// Evaluated anew: M(t_n + αh, q_n ∘ exp(αh ṽ_n)).
    Renewed,
}

option! {
    PastMass,
    "past-mass",
    "Mass matrix that goes with the acceleration of the step before in `soi2`, `hht-i3` and `hht-soi2`: that of that step, or a new one.",
    "Mass matrix of the step before in place of the model's",
    Kept = "kept",
    Renewed = "renewed",
}

/// The mass matrix of a step and what the balance of forces takes over from the step before; with the
/// equations of `index3` it is `hht-i3`.
#[derive(Clone, Debug)]
pub(super) struct ForceLevel {
    /// M_{1+α}.
    pub mass: BlockMatrix,
    /// v_n, with which the way to M begins.
    pub base_velocity: Vec<f64>,
    /// M a of the last step.
    last: Vec<f64>,
    /// M a before the last step, for a change of step size.
    previous: Vec<f64>,
    /// Whether there was a step since the start.
    known: bool,
    /// M_α a_n in the step that is computed.
    inertia: Vec<f64>,
    /// The term that is known before the step.
    term: Vec<f64>,
    tangent: Tangent,
    /// Requests that were answered by differences, until a step counts them.
    pub differenced: u64,
    increment: Vec<f64>,
    /// Where M is evaluated: at rest, without multipliers.
    there: Values,
    /// Equations at t_n; the balance is −f_n.
    now: Values,
}

impl ForceLevel {
    pub fn new(shape: &Shape, couplings: &Couplings) -> Self {
        let zeros = vec![0.0; shape.velocity_count()];
        Self {
            mass: BlockMatrix::zeros(Arc::clone(&couplings.force_node)),
            base_velocity: zeros.clone(),
            last: zeros.clone(),
            previous: zeros.clone(),
            known: false,
            inertia: zeros.clone(),
            term: zeros.clone(),
            tangent: Tangent::zeros(couplings),
            differenced: 0,
            increment: zeros,
            there: Values::zeros(shape),
            now: Values::zeros(shape),
        }
    }

    /// Evaluates M a distance in time after a point, at q_n ∘ exp(distance ṽ_n).
    fn set_mass(&mut self, on: &Tools, base: &Point, distance: f64) {
        self.increment.iter_mut().zip(base.velocity).for_each(|(x, v)| *x = distance * v);
        let there = &mut self.there;
        on.shape.space.compose_exp(base.configuration, &self.increment, &mut there.configuration);
        self.tangent.clear();
        let at = Point {
            time: base.time + distance,
            velocity: base.velocity,
            internal_states: base.internal_states,
            memory: base.memory,
            ..there.point()
        };
        let weights = TangentWeights { mass: 1.0, damping: 0.0, stiffness: false, remembered_forces: false };
        let tangent = Some((weights, &mut self.tangent));
        self.differenced += ask(on.dae, &at, Wanted { tangent, ..Wanted::default() }).count();
        self.mass.values_mut().copy_from_slice(self.tangent.dynamic.values());
    }

    /// Everything that is known before a step of size h.
    pub fn prepare(&mut self, on: &Tools, base: &Base, step: f64) {
        let parameters = &on.settings.parameters;
        let (alpha_m, alpha_f) = (parameters.alpha_m(), parameters.alpha_f());
        let alpha = parameters.offset();
        let now = base.state.values();
        let at = Point { velocity: base.velocity, ..now.point() };
        if !self.known || on.settings.option::<PastMass>() == PastMass::Renewed {
            self.set_mass(on, &at, alpha * step);
            self.inertia.fill(0.0);
            self.mass.multiply_add(1.0, base.a, &mut self.inertia);
        } else {
            self.inertia.copy_from_slice(&self.last);
            if let Some(shift) = base.shift {
                let past = self.last.iter().zip(&self.previous);
                self.inertia.iter_mut().zip(past).for_each(|(out, (m, before))| *out += shift * (m - before));
            }
        }
        self.evaluate_forces(on, &at);
        self.base_velocity.copy_from_slice(base.velocity);
        self.set_mass(on, &at, (1.0 + alpha) * step);
        for (i, value) in self.increment.iter_mut().enumerate() {
            *value = alpha_f * now.acceleration[i] - alpha_m * base.a[i];
        }
        let factor = 1.0 / (1.0 - alpha_f);
        for (i, term) in self.term.iter_mut().enumerate() {
            *term = factor * (alpha_m * self.inertia[i] + alpha_f * self.now.acceleration[i]);
        }
        self.mass.multiply_add(factor, &self.increment, &mut self.term);
    }

    /// Puts −f_n into the place of v̇ in `now`.
    fn evaluate_forces(&mut self, on: &Tools, at: &Point) {
        let Values {
            acceleration: equilibrium, multipliers, nonholonomic_multipliers, internal_rates, ..
        } = &mut self.now;
        let (violation, nonholonomic) = (multipliers, nonholonomic_multipliers);
        for values in [&mut *equilibrium, violation, nonholonomic, internal_rates] {
            values.fill(0.0);
        }
        let at = Point { acceleration: &self.there.acceleration, ..*at };
        on.dae.residual(&at, &mut Residual { equilibrium, violation, nonholonomic, internal_rates });
    }

    /// Adds inertia and what is known to forces at the end of the step.
    pub fn add(&self, acceleration: &[f64], out: &mut [f64]) {
        self.mass.multiply_add(1.0, acceleration, out);
        out.iter_mut().zip(&self.term).for_each(|(out, term)| *out += term);
    }

    /// Begins anew: M a belongs to the time before.
    pub fn start(&mut self) {
        self.known = false;
    }

    /// Takes M_{1+α} a_{n+1} after a step that led there.
    pub fn accept(&mut self, next: &[f64]) {
        std::mem::swap(&mut self.previous, &mut self.inertia);
        self.last.fill(0.0);
        self.mass.multiply_add(1.0, next, &mut self.last);
        self.known = true;
    }

    /// Takes up the mass matrix of a noted step.
    pub fn restore(&mut self, on: &Tools, point: &MatrixPoint) {
        let Some(velocity) = point.extras.first() else { return };
        let values = &point.trial.values;
        let at =
            Point { time: values.time - point.step, configuration: &point.base, velocity, ..values.point() };
        self.base_velocity.copy_from_slice(velocity);
        self.set_mass(on, &at, (1.0 + on.settings.parameters.offset()) * point.step);
    }

    pub fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        each("whether M a is known", Item::Flag(&mut self.known));
        each("inertia forces", Item::Numbers(&mut self.last));
        each("previous inertia forces", Item::Numbers(&mut self.previous));
    }
}

impl StepEquations for ForceLevel {
    fn show(&mut self, step: Step, visit: &mut dyn FnMut(&mut dyn NonlinearSystem)) {
        step.work.differenced += std::mem::take(&mut self.differenced);
        visit(&mut Index3Step { step, force_level: Some(self) });
    }

    fn restore(&mut self, on: &Tools, point: &MatrixPoint) {
        Self::restore(self, on, point);
    }
}

impl Formulation for ForceLevel {
    const LEAVES_HIDDEN_RESIDUAL: bool = true;

    fn new(on: &Tools, couplings: &Couplings) -> (Room, Self) {
        let layout = Layout::new(&on.shape, couplings, Copies::ONE, []);
        let extras = vec![on.shape.velocity_count()];
        (Room { layout, extras }, Self::new(&on.shape, couplings))
    }

    fn start(&mut self, _: &Tools, _: &State, _: f64, _: Option<&Slopes>) {
        Self::start(self);
    }

    fn prepare(&mut self, on: &Tools, base: &Base, step: f64) {
        Self::prepare(self, on, base, step);
    }

    fn accept(&mut self, _: &Base, _: f64, _: &Trial, next: &[f64]) {
        Self::accept(self, next);
    }

    fn history(&mut self, each: &mut dyn FnMut(&'static str, Item)) {
        Self::history(self, each);
    }
}
