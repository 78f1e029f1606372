//! Order of convergence, measured against solutions of another kind.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, Settings, Start};
use kreisel::lie::{Group, Space};
use kreisel_papers::problem::HeavyTop;
use kreisel_papers::problem::heavy_top::TopSolution;

/// Largest errors of a run: the Lie algebra error in q (absolute), v and λ relative.
#[derive(Debug)]
struct Errors {
    position: f64,
    velocity: f64,
    multiplier: f64,
}

fn settings(method: Method, step: f64, start: Start) -> Settings {
    let settings = Settings::new(method, Parameters::chung_hulbert(0.9).unwrap(), step);
    settings.with_start(start).with_newton_tolerances(1e-13, 1e-14)
}

fn heavy_top_errors(group: Group, settings: Settings, end: f64) -> Errors {
    let top = HeavyTop::new(group);
    let steps = (end / settings.step()).round() as usize;
    let times: Vec<f64> = (1..=steps).map(|n| n as f64 * settings.step()).collect();
    let reference = top.reference(&times);
    let mut run = Integrator::with(settings).start(&top, top.initial()).unwrap();
    let mut errors = Errors { position: 0.0, velocity: 0.0, multiplier: 0.0 };
    for exact in &reference {
        run.step().unwrap();
        compare(group, run.values(), exact, &mut errors);
    }
    errors
}

fn compare(group: Group, state: &kreisel::dae::Values, exact: &TopSolution, errors: &mut Errors) {
    let q = exact.rotation;
    let x = exact.position;
    let exact_q = [q.w, q.i, q.j, q.k, x.x, x.y, x.z];
    let mut difference = [0.0; 6];
    Space::new([group]).difference(&state.configuration, &exact_q, &mut difference).unwrap();
    let u = if group == Group::Se3 { q.inverse_transform_vector(&exact.velocity) } else { exact.velocity };
    let omega = exact.angular_velocity;
    let exact_v = [omega.x, omega.y, omega.z, u.x, u.y, u.z];
    let relative = |a: &[f64], b: &[f64]| {
        let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        let size: f64 = a.iter().map(|a| a * a).sum();
        (difference / size).sqrt()
    };
    errors.position = errors.position.max(difference.iter().map(|d| d * d).sum::<f64>().sqrt());
    errors.velocity = errors.velocity.max(relative(&state.velocity, &exact_v));
    errors.multiplier = errors.multiplier.max(relative(&state.multipliers, exact.multipliers.as_slice()));
}

/// Errors that an independent implementation found, with Newton to round-off and a reference of 15 digits.
#[test]
fn heavy_top_errors_are_those_of_an_independent_implementation() {
    use Group::{Se3, So3xR3};
    let cases = [
        (So3xR3, INDEX3, Start::Trivial, 1e-3, [1.280e-2, 8.121e-4, 3.064e-1]),
        (So3xR3, INDEX3, Start::Trivial, 5e-4, [3.192e-3, 2.023e-4, 1.425e-1]),
        (So3xR3, INDEX3, Start::OrderPreserving, 1e-3, [1.279e-2, 8.120e-4, 1.094e-2]),
        (So3xR3, INDEX3, Start::OrderPreserving, 5e-4, [3.192e-3, 2.023e-4, 2.733e-3]),
        (So3xR3, INDEX2, Start::OrderPreserving, 1e-3, [8.220e-3, 2.237e-4, 2.965e-3]),
        (So3xR3, INDEX2, Start::OrderPreserving, 5e-4, [2.036e-3, 5.549e-5, 7.304e-4]),
        (Se3, INDEX3, Start::Trivial, 1e-3, [1.573e-1, 1.185e-2, 1.286e-1]),
        (Se3, INDEX3, Start::Trivial, 5e-4, [3.948e-2, 2.961e-3, 3.266e-2]),
        (Se3, INDEX2, Start::Trivial, 1e-3, [1.573e-1, 1.185e-2, 1.286e-1]),
        (Se3, INDEX2, Start::Trivial, 5e-4, [3.948e-2, 2.961e-3, 3.266e-2]),
    ];
    for (group, method, start, step, expected) in cases {
        let errors = heavy_top_errors(group, settings(method, step, start), 1.0);
        let measured = [errors.position, errors.velocity, errors.multiplier];
        for (measured, expected) in measured.iter().zip(expected) {
            // Four digits are printed.
            let tolerance = 1e-3;
            let deviation = (measured / expected - 1.0).abs();
            assert!(
                deviation < tolerance,
                "{group:?} {method:?} {start:?} h = {step}: {errors:?}, expected {expected}"
            );
        }
    }
}
