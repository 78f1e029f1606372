//! Starting values that keep the order of a method of the generalized-α family.

use super::super::settings::Start;
use super::super::state::State;
use super::alpha::{Formulation, Past};
use super::{Side, StartPoint, Tools};
use crate::constrained::KktFailure;
use crate::dae::Values;

/// Offset s of the evaluations before and after t₀, in units of h [ArnoldCardonaBruls2015, Tables 1 and 2].
const OFFSET: f64 = 0.1;

/// v̇₀, λ₀, a₀ and, where velocity constraints are left to a residual, the perturbed v₀, at consistent q and
/// v of the state.
pub(super) fn starting_values<F: Formulation>(
    past: &mut Past,
    form: &mut F,
    on: &mut Tools,
    state: &mut State,
    step: f64,
    at: StartPoint,
) -> Result<(), KktFailure> {
    state.base_velocity = None;
    let mut now = Values { time: at.time, ..state.now.clone() };
    now.acceleration.fill(0.0);
    now.internal_rates.fill(0.0);
    on.kkt.accelerations(on.dae, &mut now)?;
    state.now.internal_states.copy_from_slice(&now.internal_states);
    on.kkt.set_states(&now.internal_states, &state.now.memory);
    let settings = on.settings;
    let mut slopes = None;
    let mut a = now.acceleration.clone();
    let without_slopes = matches!(settings.start, Start::Trivial | Start::Implicit);
    if !without_slopes || F::HAS_PAST_VALUES {
        let found = jerk(on, &now, OFFSET * step, at.side)?;
        let shift = settings.parameters.offset() * step;
        a.iter_mut().zip(&found.velocity).for_each(|(a, jerk)| *a += shift * jerk);
        let motion = (now.velocity.as_slice(), now.acceleration.as_slice());
        F::add_jerk_excess(&settings, &on.shape.space, shift, motion, &mut a);
        if settings.start == Start::OrderPreserving && F::LEAVES_HIDDEN_RESIDUAL {
            state.base_velocity = perturbed_velocity::<F>(on, state, &now, &found.velocity, step)?;
        }
        slopes = Some(found);
    }
    state.now.acceleration.clone_from(&now.acceleration);
    let jerk = slopes.as_ref().map(|slopes| slopes.velocity.as_slice());
    form.start(on, state, step, jerk);
    past.step = step;
    past.a.iter_mut().for_each(|values| values.copy_from_slice(&a));
    past.multipliers.start(&now, slopes.as_ref().map(|slopes| slopes.multipliers.each_ref()), step);
    let second_derivatives = slopes.as_ref().map(|slopes| slopes.internal_states.as_slice());
    past.rates.start(&now.internal_rates, second_derivatives, &settings.parameters, step);
    state.now.internal_rates = now.internal_rates;
    state.now.multipliers = now.multipliers;
    state.now.nonholonomic_multipliers = now.nonholonomic_multipliers;
    Ok(())
}

/// Second derivatives of velocities and of first-order states, and what comes with them.
struct Jerks {
    velocity: Vec<f64>,
    internal_states: Vec<f64>,
    /// First derivatives of multipliers, and of those of nonholonomic constraints.
    multipliers: [Vec<f64>; 2],
}

/// Difference approximation (v̇_{sh} − v̇_{−sh})/(2sh) of v̈(t₀), and likewise of c̈(t₀)
/// [ArnoldCardonaBruls2015, Table 1, Steps 3 to 5].
///
/// With [`Side::After`] it is (v̇_{sh} − v̇_0)/(sh), whose error of order h enters a₀ and v₀ in second order
/// only.
fn jerk(on: &mut Tools, now: &Values, distance: f64, side: Side) -> Result<Jerks, KktFailure> {
    let Tools { dae, shape, kkt, .. } = on;
    let mut accelerations_at = |distance: f64| {
        let (v, v_dot) = (&now.velocity, &now.acceleration);
        let increment: Vec<f64> =
            v.iter().zip(v_dot).map(|(v, v_dot)| distance * (v + 0.5 * distance * v_dot)).collect();
        let mut there = now.clone();
        there.time = now.time + distance;
        there.velocity.iter_mut().zip(v_dot).for_each(|(v, v_dot)| *v += distance * v_dot);
        shape.space.compose_exp(&now.configuration, &increment, &mut there.configuration);
        there.internal_states.iter_mut().zip(&now.internal_rates).for_each(|(c, rate)| *c += distance * rate);
        kkt.accelerations(*dae, &mut there)?;
        Ok(there)
    };
    let after = accelerations_at(distance)?;
    let (before, width) = match side {
        Side::Both => (accelerations_at(-distance)?, 2.0 * distance),
        Side::After => (now.clone(), distance),
    };
    let slopes = |after: &[f64], before: &[f64]| {
        after.iter().zip(before).map(|(after, before)| (after - before) / width).collect()
    };
    Ok(Jerks {
        velocity: slopes(&after.acceleration, &before.acceleration),
        internal_states: slopes(&after.internal_rates, &before.internal_rates),
        multipliers: [
            slopes(&after.multipliers, &before.multipliers),
            slopes(&after.nonholonomic_multipliers, &before.nonholonomic_multipliers),
        ],
    })
}

/// v₀ = v(t₀) + Δ₀ᵛ [ArnoldCardonaBruls2015, Table 2, Steps 6 and 7, Eq. (142)].
fn perturbed_velocity<F: Formulation>(
    on: &mut Tools,
    state: &State,
    now: &Values,
    jerk: &[f64],
    step: f64,
) -> Result<Option<Vec<f64>>, KktFailure> {
    if on.shape.constraint_count() == 0 {
        return Ok(None);
    }
    let Tools { dae, shape, settings, kkt, .. } = on;
    let mut local_error = vec![0.0; shape.velocity_count()];
    F::curvature_error(settings, &shape.space, (&now.velocity, &now.acceleration), &mut local_error);
    let square = F::perturbation(step);
    let constant = F::position_error_constant(&settings.parameters);
    for (error, jerk) in local_error.iter_mut().zip(jerk) {
        *error = square * (constant * jerk + *error);
    }
    let mut velocity = now.velocity.clone();
    let mut change = vec![0.0; shape.velocity_count()];
    let Values { time, configuration, .. } = &state.now;
    kkt.constrained_part(*dae, *time, configuration, &velocity, &local_error, &mut change)?;
    velocity.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
    Ok(Some(velocity))
}
