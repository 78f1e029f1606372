//! The two-step backward differentiation formula: order, forms, scalings, steps of varying size.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::dae::{Dae, Initial, Values};
use kreisel::integrate::{
    BDF2, ErrorControl, Form, INDEX3, Integration, Integrator, Parameters, SaturationOptions, Saved, Scaling,
    Settings,
};
use kreisel::lie::{Group, Space, vector3};
use kreisel_papers::problem::{HeavyTop, NonlinearReactions, Pendulum};

const FORMS: [Form; 2] = [Form::ThreeField, Form::TwoField];
const SCALINGS: [Scaling; 4] =
    [Scaling::Unscaled, Scaling::Left, Scaling::LeftRight, Scaling::LeftRightVelocities];

fn settings(step: f64) -> Settings {
    Settings::new(BDF2, Parameters::chung_hulbert(0.0).unwrap(), step).with_newton_tolerances(1e-13, 1e-14)
}

fn start<D: Dae>(dae: &D, initial: Initial, settings: Settings) -> Integration<'_> {
    Integrator::with(settings).start(dae, initial).unwrap()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Checks that errors of a run and of one with half the steps fall with the square.
fn assert_order_two<const N: usize>(case: &str, errors: [[f64; N]; 2], tolerance: f64) {
    for (coarse, fine) in errors[0].iter().zip(errors[1]) {
        let order = (coarse / fine).log2();
        assert!((order - 2.0).abs() < tolerance, "{case}: {order} {errors:?}");
    }
}

#[test]
fn the_pendulum_converges_with_order_two_in_every_form_and_scaling() {
    let pendulum = Pendulum::default();
    let initial = pendulum.initial(0.2);
    let (q, v) = pendulum.reference(&initial, &[0.5])[0];
    let lambda = pendulum.multiplier(&q, &v);
    for form in FORMS {
        for scaling in SCALINGS {
            let errors = [200.0, 400.0].map(|count| {
                let settings = settings(0.5 / count).with_option(form).with_option(scaling);
                let mut run = start(&pendulum, initial.clone(), settings);
                run.advance(0.5).unwrap();
                let state = run.values();
                [
                    distance(&state.configuration, &q),
                    distance(&state.velocity, &v),
                    (state.multipliers[0] - lambda).abs(),
                ]
            });
            assert_order_two(&format!("{form:?} {scaling:?}"), errors, 0.1);
        }
    }
}

/// Largest errors of the slow top in q, Ω and λ over all steps: also those of the first.
fn top_errors(group: Group, settings: Settings, steps: &[f64]) -> [f64; 3] {
    let top = HeavyTop::slow(group);
    let mut run = start(&top, top.initial(), settings.with_step(steps[0]));
    let times: Vec<f64> = steps
        .iter()
        .scan(0.0, |time, step| {
            *time += step;
            Some(*time)
        })
        .collect();
    let mut errors = [0.0_f64; 3];
    for (step, exact) in steps.iter().zip(top.reference(&times)) {
        run.step_by(*step).unwrap();
        let (q, x) = (exact.rotation, exact.position);
        let mut difference = [0.0; 6];
        let exact_q = [q.w, q.i, q.j, q.k, x.x, x.y, x.z];
        Space::new([group]).difference(&run.values().configuration, &exact_q, &mut difference).unwrap();
        let found = [
            distance(&difference, &[0.0; 6]),
            (vector3(&run.values().velocity) - exact.angular_velocity).norm(),
            (vector3(&run.values().multipliers) - exact.multipliers).norm(),
        ];
        errors.iter_mut().zip(found).for_each(|(error, found)| *error = error.max(found));
    }
    errors
}

#[test]
fn the_heavy_top_converges_with_order_two_on_both_groups_from_the_first_step_on() {
    for group in [Group::So3xR3, Group::Se3] {
        for form in FORMS {
            let settings = settings(1.0).with_option(form);
            let errors = [200, 400]
                .map(|count| top_errors(group, settings, &vec![0.5 / f64::from(count); count as usize]));
            assert_order_two(&format!("{group:?} {form:?}"), errors, 0.2);
        }
    }
}

#[test]
fn steps_that_alternate_keep_order_two_also_in_the_multipliers() {
    for group in [Group::So3xR3, Group::Se3] {
        let errors = [200, 400].map(|count| {
            let h = 0.5 / f64::from(count);
            let steps: Vec<f64> = (0..count).flat_map(|_| [h / 3.0, 2.0 * h / 3.0]).collect();
            top_errors(group, settings(1.0), &steps)
        });
        assert_order_two(&format!("{group:?}"), errors, 0.2);
    }
}

#[test]
fn nonholonomic_constraints_and_nonlinear_reactions_keep_order_two() {
    for form in FORMS {
        let errors = [100, 200].map(|count| {
            let settings = settings(1.0 / f64::from(count)).with_option(form);
            let mut run = start(&NonlinearReactions, NonlinearReactions.initial(), settings);
            run.advance(1.0).unwrap();
            let ([q, v, _], [lambda, psi]) =
                (NonlinearReactions.motion(1.0), NonlinearReactions.multipliers(1.0));
            let Values { configuration, velocity, multipliers, nonholonomic_multipliers, .. } = run.values();
            [
                distance(configuration, &q),
                distance(velocity, &v),
                (multipliers[0] - lambda).abs(),
                (nonholonomic_multipliers[0] - psi).abs(),
            ]
        });
        assert_order_two(&format!("{form:?}"), errors, 0.15);
    }
}

#[test]
fn the_error_decides_on_the_step() {
    let top = HeavyTop::slow(Group::So3xR3);
    let exact = top.reference(&[1.0])[0];
    let errors = [1e-4, 1e-6].map(|tolerance| {
        let control = ErrorControl::new(tolerance, 1.0);
        let settings = settings(1.0).with_error_control(control);
        let mut run = start(&top, top.initial(), settings);
        run.advance(1.0).unwrap();
        (vector3(&run.values().configuration[4..]) - exact.position).norm() / tolerance
    });
    // Errors add up to the tolerance, times what the motion makes of them.
    assert!(errors.iter().all(|error| (0.01..10.0).contains(error)), "{errors:?}");
    assert!((errors[0] / errors[1]).log10().abs() < 0.7, "{errors:?}");
}

#[test]
fn a_run_from_saved_bytes_goes_on_to_the_same_bits() {
    let top = HeavyTop::slow(Group::Se3);
    for form in FORMS {
        let integrator = Integrator::with(settings(1e-3).with_option(form));
        let mut whole = integrator.start(&top, top.initial()).unwrap();
        // The second step is of another size: the past counts.
        for step in [1e-3, 2e-3, 1e-3] {
            whole.step_by(step).unwrap();
        }
        let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
        let mut resumed = integrator.resume(&top, &saved).unwrap();
        for _ in 0..5 {
            whole.step().unwrap();
            resumed.step().unwrap();
        }
        assert_eq!(whole.values(), resumed.values(), "{form:?}");
    }
}

#[test]
fn a_state_without_a_past_is_refused() {
    let top = HeavyTop::slow(Group::Se3);
    let other = Integrator::new(INDEX3, 0.8, 1e-3).unwrap();
    let state = other.start(&top, top.initial()).unwrap().save();
    assert!(Integrator::with(settings(1e-3)).resume(&top, &state).is_err());
}

#[test]
fn the_condition_number_of_the_full_scaling_does_not_depend_on_the_step() {
    let pendulum = Pendulum { gravity: 1.0 };
    let initial = Initial::new(0.0, [1.0, 0.0], [0.0, 0.0]);
    for form in FORMS {
        let conditions = [1e-3, 1e-5, 1e-7].map(|step| {
            let mut run = start(&pendulum, initial.clone(), settings(step).with_option(form));
            run.saturating_step(SaturationOptions::default()).unwrap().condition()
        });
        // Terms of order h are all that may differ.
        assert!((conditions[0] / conditions[2] - 1.0).abs() < 0.01, "{form:?}: {conditions:?}");
    }
}

#[test]
fn corrections_of_unscaled_unknowns_stay_large_where_steps_are_small() {
    let pendulum = Pendulum::default();
    let last = [Scaling::Unscaled, Scaling::LeftRightVelocities].map(|scaling| {
        let settings = settings(1e-8).with_option(Form::ThreeField).with_option(scaling);
        let mut run = start(&pendulum, pendulum.initial(0.2), settings);
        (0..20)
            .map(|_| run.saturating_step(SaturationOptions::default()).unwrap().last_decreasing)
            .fold(0.0, f64::max)
    });
    // The multiplier itself carries round-off of ε/h², which is about one; scaled by h² it carries ε.
    assert!(last[0] > 1e-3 && last[1] < 1e-14, "{last:?}");
}
