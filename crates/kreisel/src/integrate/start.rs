//! Starting values: consistent positions and velocities, then values that keep the method's order.

use super::error::StartError;
use super::estimate::{curvature_error, position_error_constant};
use super::settings::{Method, Settings, Start};
use super::state::State;
use crate::constrained::{Kkt, KktFailure, StartReport, refuse};
use crate::dae::{Dae, Initial, Shape, Values};

/// Offset s of the evaluations before and after t₀, in units of h [ArnoldCardonaBruls2015, Tables 1 and 2].
const OFFSET: f64 = 0.1;

/// Step size for which v̈ is differenced over a distance.
pub(super) fn jerk_distance(distance: f64) -> f64 {
    distance / OFFSET
}

/// From which side of the present time v̈ is differenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From both: the inputs are smooth here.
    Both,
    /// From later times only: the inputs may have a corner or jump here.
    After,
}

/// The state from which a method starts at a consistent configuration; reports what was changed in the user's
/// velocity.
pub(super) fn starting_state(
    dae: &dyn Dae,
    shape: &Shape,
    settings: &Settings,
    initial: &Initial,
    configuration: Vec<f64>,
    report: &mut StartReport,
    kkt: &mut Kkt,
) -> Result<State, StartError> {
    let failed = |failure: KktFailure| failure.at_start(dae, initial.time);
    let mut memory = vec![0.0; shape.memory];
    kkt.remember(dae, initial.time, &configuration, &mut memory);
    let mut velocity = initial.velocity.clone();
    report.velocity_violation =
        kkt.scale_hidden_residual(dae, initial.time, &configuration, &mut velocity, 0.0).map_err(failed)?;
    for (change, (new, old)) in report.velocity_change.iter_mut().zip(velocity.iter().zip(&initial.velocity))
    {
        *change = new - old;
    }
    let misses = kkt.contradicting_velocities(dae, initial.time, &configuration, &velocity);
    refuse(dae, "velocities", &misses)?;
    let mut now = Values::zeros(shape);
    now.time = initial.time;
    now.configuration = configuration;
    now.internal_states.copy_from_slice(&initial.internal_states);
    now.memory = memory;
    // Empty ones are no guess.
    now.multipliers.iter_mut().zip(&initial.multipliers).for_each(|(to, from)| *to = *from);
    let guesses = &initial.nonholonomic_multipliers;
    now.nonholonomic_multipliers.iter_mut().zip(guesses).for_each(|(to, from)| *to = *from);
    now.velocity.copy_from_slice(&velocity);
    let stabilizers = vec![0.0; shape.constraint_count()];
    let mut state = State { now, base_velocity: velocity, stabilizers, ..State::default() };
    let time = state.now.time;
    starting_values(dae, shape, settings, &mut state, time, Side::Both, kkt).map_err(failed)?;
    let Values { configuration, velocity, acceleration, .. } = &state.now;
    let misses = kkt.contradicting_accelerations(dae, time, configuration, velocity, acceleration);
    refuse(dae, "accelerations", &misses)?;
    Ok(state)
}

/// v̇₀, λ₀, a₀ and, for `index3` and `updated-lagrangian`, the perturbed v₀, at consistent q and v of the
/// state.
///
/// The equations are evaluated at `time`, which may lie a rounding error after the state's own.
pub(super) fn starting_values(
    dae: &dyn Dae,
    shape: &Shape,
    settings: &Settings,
    state: &mut State,
    time: f64,
    side: Side,
    kkt: &mut Kkt,
) -> Result<(), KktFailure> {
    let mut now = Values { time, ..state.now.clone() };
    now.velocity.copy_from_slice(&state.base_velocity);
    now.acceleration.fill(0.0);
    now.internal_rates.fill(0.0);
    kkt.accelerations(dae, &mut now)?;
    state.now.internal_states.copy_from_slice(&now.internal_states);
    kkt.set_states(&now.internal_states, &state.now.memory);
    state.algorithmic_acceleration = now.acceleration.clone();
    let mut second_derivatives = None;
    let without_slopes = matches!(settings.start, Start::Trivial | Start::Implicit);
    if !without_slopes || settings.method == Method::Bdf2 {
        let Jerks { velocity: jerk, internal_states } = jerk(dae, shape, settings, &now, side, kkt)?;
        second_derivatives = Some(internal_states);
        let shift = settings.parameters.offset() * settings.step;
        for (a, jerk) in state.algorithmic_acceleration.iter_mut().zip(&jerk) {
            *a += shift * jerk;
        }
        if settings.method == Method::UpdatedLagrangian {
            let State { base_velocity, algorithmic_acceleration: a, .. } = state;
            let (v, v_dot) = (&*base_velocity, &now.acceleration);
            settings.parametrization.add_jerk_excess(&shape.space, shift, v, v_dot, a);
        }
        if settings.start == Start::OrderPreserving && settings.method.leaves_hidden_residual() {
            perturb_velocity(dae, shape, settings, state, &now, &jerk, kkt)?;
        }
        if settings.method == Method::Bdf2 {
            state.start_past(&shape.space, &now.acceleration, &jerk, settings.step);
        }
    }
    state.previous_algorithmic_acceleration = state.algorithmic_acceleration.clone();
    state.earlier_algorithmic_acceleration = state.algorithmic_acceleration.clone();
    state.earliest_algorithmic_acceleration = state.algorithmic_acceleration.clone();
    state.now.acceleration = now.acceleration;
    state.start_states(
        now.internal_rates,
        second_derivatives.as_deref(),
        &settings.parameters,
        settings.step,
    );
    state.previous_multipliers = now.multipliers.clone();
    state.earlier_multipliers = now.multipliers.clone();
    state.earliest_multipliers = now.multipliers.clone();
    state.now.multipliers = now.multipliers;
    state.now.nonholonomic_multipliers = now.nonholonomic_multipliers;
    // M a belongs to the time before.
    state.inertia_force.clear();
    state.previous_inertia_force.clear();
    Ok(())
}

/// Second derivatives of velocities and of first-order states.
pub(super) struct Jerks {
    pub velocity: Vec<f64>,
    pub internal_states: Vec<f64>,
}

/// Difference approximation (v̇_{sh} − v̇_{−sh})/(2sh) of v̈(t₀), and likewise of c̈(t₀)
/// [ArnoldCardonaBruls2015, Table 1, Steps 3 to 5].
///
/// With [`Side::After`] it is (v̇_{sh} − v̇_0)/(sh), whose error of order h enters a₀ and v₀ in second order
/// only.
pub(super) fn jerk(
    dae: &dyn Dae,
    shape: &Shape,
    settings: &Settings,
    now: &Values,
    side: Side,
    kkt: &mut Kkt,
) -> Result<Jerks, KktFailure> {
    let mut accelerations_at = |distance: f64| {
        let (v, v_dot) = (&now.velocity, &now.acceleration);
        let increment: Vec<f64> =
            v.iter().zip(v_dot).map(|(v, v_dot)| distance * (v + 0.5 * distance * v_dot)).collect();
        let mut there = now.clone();
        there.time = now.time + distance;
        there.velocity.iter_mut().zip(v_dot).for_each(|(v, v_dot)| *v += distance * v_dot);
        shape.space.compose_exp(&now.configuration, &increment, &mut there.configuration);
        there.internal_states.iter_mut().zip(&now.internal_rates).for_each(|(c, rate)| *c += distance * rate);
        kkt.accelerations(dae, &mut there)?;
        Ok(there)
    };
    let distance = OFFSET * settings.step;
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
    })
}

/// v₀ = v(t₀) + Δ₀ᵛ [ArnoldCardonaBruls2015, Table 2, Steps 6 and 7, Eq. (142)].
fn perturb_velocity(
    dae: &dyn Dae,
    shape: &Shape,
    settings: &Settings,
    state: &mut State,
    now: &Values,
    jerk: &[f64],
    kkt: &mut Kkt,
) -> Result<(), KktFailure> {
    if shape.constraint_count() == 0 {
        return Ok(());
    }
    let mut local_error = vec![0.0; shape.velocity_count()];
    curvature_error(settings, &shape.space, &state.base_velocity, &now.acceleration, &mut local_error);
    let square = match settings.method {
        // v of the formula lacks h² x⃛/3, of which the local error 2/9 h³ x⃛ is the 3/2-th part.
        Method::Bdf2 => -1.5 * settings.step * settings.step,
        _ => settings.step * settings.step,
    };
    let constant = position_error_constant(settings);
    for (error, jerk) in local_error.iter_mut().zip(jerk) {
        *error = square * (constant * jerk + *error);
    }
    let mut change = vec![0.0; shape.velocity_count()];
    let Values { time, configuration, .. } = &state.now;
    kkt.constrained_part(dae, *time, configuration, &state.base_velocity, &local_error, &mut change)?;
    state.base_velocity.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
    Ok(())
}
