//! Starting values that keep the order of a method of the generalized-α family.

use super::super::settings::Start;
use super::super::state::State;
use super::alpha::{Formulation, Past};
use super::{Side, StartPoint, Tools};
use crate::constrained::KktFailure;
use crate::dae::Values;

/// Offset s of the evaluations before and after t₀, in units of h [ArnoldCardonaBruls2015, Tables 1 and 2].
const OFFSET: f64 = 0.1;
/// The same for third derivatives, which are divided by its square: rounding is magnified by less.
const WIDE_OFFSET: f64 = 0.25;

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
        let mut found = slopes_at(on, &now, OFFSET * step, at.side)?;
        if F::NEEDS_THIRD_DERIVATIVES {
            found.add_third(on, &now, WIDE_OFFSET * step, at.side)?;
        }
        let shift = settings.parameters.offset() * step;
        a.iter_mut().zip(&found.velocity).for_each(|(a, jerk)| *a += shift * jerk);
        let motion = (now.velocity.as_slice(), now.acceleration.as_slice());
        F::add_jerk_excess(&settings, &on.shape.space, shift, motion, &mut a);
        if settings.start == Start::OrderPreserving && F::LEAVES_HIDDEN_RESIDUAL {
            state.base_velocity = perturbed_velocity::<F>(on, state, &now, &found, step)?;
        }
        slopes = Some(found);
    }
    state.now.acceleration.clone_from(&now.acceleration);
    past.step = step;
    past.a.iter_mut().for_each(|values| values.copy_from_slice(&a));
    past.multipliers.start(&now, slopes.as_ref().map(|slopes| slopes.multipliers.each_ref()), step);
    let second_derivatives = slopes.as_ref().map(|slopes| slopes.internal_states.as_slice());
    past.rates.start(&now.internal_rates, second_derivatives, &settings.parameters, step);
    state.now.internal_rates = now.internal_rates;
    form.start(on, state, step, slopes.as_ref());
    state.now.multipliers = now.multipliers;
    state.now.nonholonomic_multipliers = now.nonholonomic_multipliers;
    Ok(())
}

/// Second derivatives of velocities and of first-order states, and what comes with them.
pub(super) struct Slopes {
    pub velocity: Vec<f64>,
    pub internal_states: Vec<f64>,
    /// First derivatives of multipliers, and of those of nonholonomic constraints.
    pub multipliers: [Vec<f64>; 2],
    /// Third derivatives of velocities and of states, where they are needed.
    pub third: Option<[Vec<f64>; 2]>,
}

/// Difference approximation (v̇_{sh} − v̇_{−sh})/(2sh) of v̈(t₀), and likewise of c̈(t₀)
/// [ArnoldCardonaBruls2015, Table 1, Steps 3 to 5].
///
/// With [`Side::After`] it is (v̇_{sh} − v̇_0)/(sh), whose error of order h enters a₀ and v₀ in second order
/// only.
fn slopes_at(on: &mut Tools, now: &Values, distance: f64, side: Side) -> Result<Slopes, KktFailure> {
    let after = accelerations_at(on, now, None, distance)?;
    let (before, width) = match side {
        Side::Both => (accelerations_at(on, now, None, -distance)?, 2.0 * distance),
        Side::After => (now.clone(), distance),
    };
    let slopes = |after: &[f64], before: &[f64]| {
        after.iter().zip(before).map(|(after, before)| (after - before) / width).collect()
    };
    Ok(Slopes {
        velocity: slopes(&after.acceleration, &before.acceleration),
        internal_states: slopes(&after.internal_rates, &before.internal_rates),
        multipliers: [
            slopes(&after.multipliers, &before.multipliers),
            slopes(&after.nonholonomic_multipliers, &before.nonholonomic_multipliers),
        ],
        third: None,
    })
}

/// Accelerations and what comes with them at a distance in time, where Taylor's formula leads: with second
/// derivatives of velocities one order further.
fn accelerations_at(
    on: &mut Tools,
    now: &Values,
    slopes: Option<&Slopes>,
    distance: f64,
) -> Result<Values, KktFailure> {
    let Tools { dae, shape, kkt, .. } = on;
    let (v, v_dot) = (&now.velocity, &now.acceleration);
    let mut increment: Vec<f64> =
        v.iter().zip(v_dot).map(|(v, v_dot)| distance * (v + 0.5 * distance * v_dot)).collect();
    let mut there = now.clone();
    there.time = now.time + distance;
    there.velocity.iter_mut().zip(v_dot).for_each(|(v, v_dot)| *v += distance * v_dot);
    there.internal_states.iter_mut().zip(&now.internal_rates).for_each(|(c, rate)| *c += distance * rate);
    if let Some(slopes) = slopes {
        let mut bracket = vec![0.0; v.len()];
        shape.space.hat_multiply(v, v_dot, &mut bracket);
        let square = 0.5 * distance * distance;
        for (i, jerk) in slopes.velocity.iter().enumerate() {
            increment[i] += square * distance / 3.0 * (jerk + 0.5 * bracket[i]);
            there.velocity[i] += square * jerk;
        }
        let states = there.internal_states.iter_mut().zip(&slopes.internal_states);
        states.for_each(|(c, second)| *c += square * second);
    }
    shape.space.compose_exp(&now.configuration, &increment, &mut there.configuration);
    kkt.accelerations(*dae, &mut there)?;
    Ok(there)
}

impl Slopes {
    /// Second derivatives once more, with errors of second order from either side, and third ones with errors of
    /// first order at most, from parabolas through three accelerations.
    fn add_third(
        &mut self,
        on: &mut Tools,
        now: &Values,
        distance: f64,
        side: Side,
    ) -> Result<(), KktFailure> {
        let far = if side == Side::Both { -distance } else { 2.0 * distance };
        let near = accelerations_at(on, now, Some(self), distance)?;
        let far = accelerations_at(on, now, Some(self), far)?;
        let mut third = [vec![0.0; now.acceleration.len()], vec![0.0; now.internal_rates.len()]];
        let [velocities, states] = &mut third;
        for (second, third, [now, near, far]) in [
            (&mut self.velocity, velocities, [&now.acceleration, &near.acceleration, &far.acceleration]),
            (
                &mut self.internal_states,
                states,
                [&now.internal_rates, &near.internal_rates, &far.internal_rates],
            ),
        ] {
            for i in 0..third.len() {
                let [near, far] = [near[i] - now[i], far[i] - now[i]];
                (second[i], third[i]) = match side {
                    Side::Both => (0.5 * (near - far) / distance, (near + far) / (distance * distance)),
                    Side::After => {
                        (0.5 * (4.0 * near - far) / distance, (far - 2.0 * near) / (distance * distance))
                    }
                };
            }
        }
        self.third = Some(third);
        Ok(())
    }
}

/// v₀ = v(t₀) + Δ₀ᵛ [ArnoldCardonaBruls2015, Table 2, Steps 6 and 7, Eq. (142)].
fn perturbed_velocity<F: Formulation>(
    on: &mut Tools,
    state: &State,
    now: &Values,
    slopes: &Slopes,
    step: f64,
) -> Result<Option<Vec<f64>>, KktFailure> {
    if on.shape.constraint_count() == 0 {
        return Ok(None);
    }
    let Tools { dae, shape, settings, kkt, .. } = on;
    let mut local_error = vec![0.0; shape.velocity_count()];
    let factor = F::perturbation(step);
    if let Some([third, _]) = &slopes.third {
        // x⁗ = v⃛ + v̂ v̈.
        shape.space.hat_multiply(&now.velocity, &slopes.velocity, &mut local_error);
        local_error.iter_mut().zip(third).for_each(|(error, third)| *error = factor * (third + *error));
    } else {
        F::curvature_error(settings, &shape.space, (&now.velocity, &now.acceleration), &mut local_error);
        let constant = F::position_error_constant(&settings.parameters);
        for (error, jerk) in local_error.iter_mut().zip(&slopes.velocity) {
            *error = factor * (constant * jerk + *error);
        }
    }
    let mut velocity = now.velocity.clone();
    let mut change = vec![0.0; shape.velocity_count()];
    let Values { time, configuration, .. } = &state.now;
    kkt.constrained_part(*dae, *time, configuration, &velocity, &local_error, &mut change)?;
    velocity.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
    Ok(Some(velocity))
}
