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

use super::settings::{PastMass, Settings};
use super::state::State;
use crate::dae::{Couplings, Dae, Equations, Point, Shape, Tangent, TangentWeights};
use crate::solve::block::BlockMatrix;

/// The mass matrix of a step and what the balance of forces takes over from the step before.
#[derive(Clone, Debug)]
pub(super) struct ForceLevel {
    /// M_{1+α}.
    pub mass: BlockMatrix,
    /// v_n, with which the way to M begins.
    pub base_velocity: Vec<f64>,
    /// The term that is known before the step.
    history: Vec<f64>,
    tangent: Tangent,
    configuration: Vec<f64>,
    increment: Vec<f64>,
    forces: Vec<f64>,
    violation: Vec<f64>,
    nonholonomic: Vec<f64>,
    internal_rates: Vec<f64>,
    multipliers: Vec<f64>,
    nonholonomic_multipliers: Vec<f64>,
}

impl ForceLevel {
    pub fn new(shape: &Shape, couplings: &Couplings) -> Self {
        let (k, m, p) = (shape.velocity_count(), shape.constraint_count(), shape.nonholonomic_count());
        Self {
            mass: BlockMatrix::zeros(Arc::clone(&couplings.force_node)),
            base_velocity: vec![0.0; k],
            history: vec![0.0; k],
            tangent: Tangent::zeros(couplings),
            configuration: vec![0.0; shape.space.coordinate_count()],
            increment: vec![0.0; k],
            forces: vec![0.0; k],
            violation: vec![0.0; m],
            nonholonomic: vec![0.0; p],
            internal_rates: vec![0.0; shape.state_count()],
            multipliers: vec![0.0; m],
            nonholonomic_multipliers: vec![0.0; p],
        }
    }

    /// Evaluates M a distance in time after a state, at q_n ∘ exp(distance ṽ_n).
    pub fn set_mass(&mut self, dae: &dyn Dae, shape: &Shape, base: &MassBase, distance: f64) {
        self.increment.iter_mut().zip(base.velocity).for_each(|(x, v)| *x = distance * v);
        shape.space.compose_exp(base.configuration, &self.increment, &mut self.configuration);
        self.tangent.clear();
        self.increment.fill(0.0);
        let at = Point {
            time: base.time + distance,
            configuration: &self.configuration,
            velocity: base.velocity,
            acceleration: &self.increment,
            multipliers: &self.multipliers,
            nonholonomic_multipliers: &self.nonholonomic_multipliers,
            internal_states: base.internal_states,
            memory: base.memory,
        };
        let weights = TangentWeights { mass: 1.0, damping: 0.0, stiffness: false, remembered_forces: false };
        dae.tangent(&at, weights, &mut self.tangent);
        self.mass.values_mut().copy_from_slice(self.tangent.dynamic.values());
    }

    /// Everything that is known before a step of size h from a state; fills the state's M a where it has
    /// none.
    pub fn prepare(
        &mut self,
        dae: &dyn Dae,
        shape: &Shape,
        settings: &Settings,
        step: f64,
        state: &mut State,
    ) {
        let (alpha_m, alpha_f) = (settings.parameters.alpha_m(), settings.parameters.alpha_f());
        let alpha = settings.parameters.offset();
        if state.inertia_force.is_empty() || settings.past_mass == PastMass::Renewed {
            self.set_mass(dae, shape, &MassBase::of(state), alpha * step);
            state.inertia_force.clear();
            state.inertia_force.resize(shape.velocity_count(), 0.0);
            self.mass.multiply_add(1.0, &state.algorithmic_acceleration, &mut state.inertia_force);
        }
        if state.previous_inertia_force.is_empty() {
            state.previous_inertia_force = state.inertia_force.clone();
        }
        self.evaluate_forces(dae, state);
        self.base_velocity.copy_from_slice(&state.base_velocity);
        self.set_mass(dae, shape, &MassBase::of(state), (1.0 + alpha) * step);
        for (i, value) in self.increment.iter_mut().enumerate() {
            *value = alpha_f * state.now.acceleration[i] - alpha_m * state.algorithmic_acceleration[i];
        }
        let factor = 1.0 / (1.0 - alpha_f);
        for (i, history) in self.history.iter_mut().enumerate() {
            *history = factor * (alpha_m * state.inertia_force[i] + alpha_f * self.forces[i]);
        }
        self.mass.multiply_add(factor, &self.increment, &mut self.history);
    }

    /// Puts −f_n into `forces`.
    fn evaluate_forces(&mut self, dae: &dyn Dae, state: &State) {
        for values in
            [&mut self.forces, &mut self.violation, &mut self.nonholonomic, &mut self.internal_rates]
        {
            values.fill(0.0);
        }
        self.increment.fill(0.0);
        let at = Point {
            time: state.now.time,
            configuration: &state.now.configuration,
            velocity: &state.base_velocity,
            acceleration: &self.increment,
            multipliers: &state.now.multipliers,
            nonholonomic_multipliers: &state.now.nonholonomic_multipliers,
            internal_states: &state.now.internal_states,
            memory: &state.now.memory,
        };
        dae.evaluate(
            &at,
            &mut Equations {
                equilibrium: &mut self.forces,
                violation: &mut self.violation,
                nonholonomic: &mut self.nonholonomic,
                internal_rates: &mut self.internal_rates,
            },
        );
    }

    /// Adds inertia and history to forces at the end of the step.
    pub fn add(&self, acceleration: &[f64], out: &mut [f64]) {
        self.mass.multiply_add(1.0, acceleration, out);
        out.iter_mut().zip(&self.history).for_each(|(out, history)| *out += history);
    }

    /// Takes M_{1+α} a_{n+1} into the state after a step that led there.
    pub fn accept(&self, state: &mut State) {
        let State { inertia_force, previous_inertia_force, algorithmic_acceleration, .. } = state;
        std::mem::swap(inertia_force, previous_inertia_force);
        inertia_force.fill(0.0);
        self.mass.multiply_add(1.0, algorithmic_acceleration, inertia_force);
    }
}

/// Where the way to a mass matrix begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct MassBase<'a> {
    pub time: f64,
    pub configuration: &'a [f64],
    pub velocity: &'a [f64],
    pub internal_states: &'a [f64],
    pub memory: &'a [f64],
}

impl<'a> MassBase<'a> {
    fn of(state: &'a State) -> Self {
        Self {
            time: state.now.time,
            configuration: &state.now.configuration,
            velocity: &state.base_velocity,
            internal_states: &state.now.internal_states,
            memory: &state.now.memory,
        }
    }
}
