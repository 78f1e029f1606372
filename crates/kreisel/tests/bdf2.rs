//! The two-step backward differentiation formula: order, forms, scalings.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::integrate::{Bdf2, Bdf2Settings, Form, Initial, Scaling, StepError};
use kreisel::lie::{Group, Space, vector3};
use kreisel::problem::{HeavyTop, Pendulum};

const FORMS: [Form; 2] = [Form::ThreeField, Form::TwoField];
const SCALINGS: [Scaling; 4] =
    [Scaling::Unscaled, Scaling::Left, Scaling::LeftRight, Scaling::LeftRightVelocities];

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
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
                let settings = Bdf2Settings { scaling, ..Bdf2Settings::new(form, 0.5 / count) };
                let mut run = Bdf2::start(&pendulum, initial.clone(), settings).unwrap();
                run.advance(0.5).unwrap();
                [
                    distance(run.configuration(), &q),
                    distance(run.velocity(), &v),
                    (run.multipliers()[0] - lambda).abs(),
                ]
            });
            for (coarse, fine) in errors[0].iter().zip(errors[1]) {
                let order = (coarse / fine).log2();
                assert!((order - 2.0).abs() < 0.1, "{form:?} {scaling:?}: {order} {errors:?}");
            }
        }
    }
}

#[test]
fn the_heavy_top_converges_with_order_two_on_both_groups() {
    for group in [Group::So3xR3, Group::Se3] {
        let top = HeavyTop::slow(group);
        let exact = top.reference(&[0.5])[0];
        for form in FORMS {
            let errors = [200.0, 400.0].map(|count| {
                let mut run = Bdf2::start(&top, top.initial(), Bdf2Settings::new(form, 0.5 / count)).unwrap();
                run.advance(0.5).unwrap();
                let (q, x) = (exact.rotation, exact.position);
                let exact_q = [q.w, q.i, q.j, q.k, x.x, x.y, x.z];
                let mut difference = [0.0; 6];
                Space::new([group]).difference(run.configuration(), &exact_q, &mut difference).unwrap();
                [
                    distance(&difference, &[0.0; 6]),
                    (vector3(run.velocity()) - exact.angular_velocity).norm(),
                    (vector3(run.multipliers()) - exact.multipliers).norm(),
                ]
            });
            for (coarse, fine) in errors[0].iter().zip(errors[1]) {
                let order = (coarse / fine).log2();
                assert!((order - 2.0).abs() < 0.2, "{group:?} {form:?}: {order} {errors:?}");
            }
        }
    }
}

#[test]
fn the_condition_number_of_the_full_scaling_does_not_depend_on_the_step() {
    let pendulum = Pendulum { gravity: 1.0 };
    let initial = Initial::new(0.0, [1.0, 0.0], [0.0, 0.0]);
    for form in FORMS {
        let conditions = [1e-3, 1e-5, 1e-7].map(|step| {
            let mut run = Bdf2::start(&pendulum, initial.clone(), Bdf2Settings::new(form, step)).unwrap();
            run.step().unwrap();
            run.condition()
        });
        // Terms of order h are all that may differ.
        assert!((conditions[0] / conditions[2] - 1.0).abs() < 0.01, "{form:?}: {conditions:?}");
    }
}

#[test]
fn corrections_that_stay_large_are_an_error() {
    let pendulum = Pendulum::default();
    let initial = pendulum.initial(0.2);
    let settings = Bdf2Settings { scaling: Scaling::Unscaled, ..Bdf2Settings::new(Form::ThreeField, 1e-8) };
    let mut run = Bdf2::start(&pendulum, initial, settings).unwrap();
    // The multiplier carries round-off of ε/h², which is about one.
    let outcome = (0..20).try_for_each(|_| run.step().map(|_| ()));
    assert!(matches!(outcome, Err(StepError::NotConverged { .. })), "{outcome:?}");
}
