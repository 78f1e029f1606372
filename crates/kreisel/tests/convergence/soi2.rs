//! `soi2` and its relatives on Lie groups and with holonomic constraints.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::dae::Values;
use kreisel::integrate::{
    Family, HHT_I3, HHT_SOI2, INDEX2, INDEX3, Integrator, Method, Parameters, SOI2, Settings,
};
use kreisel::lie::{Group, Space};
use kreisel_papers::problem::heavy_top::TopSolution;
use kreisel_papers::problem::{HeavyTop, SliderCrank, SpringPendulum};

fn parameters(method: Method) -> Parameters {
    if method.family() == Family::Hht {
        Parameters::hht(0.05).unwrap()
    } else {
        Parameters::chung_hulbert(0.9).unwrap()
    }
}

fn settings(method: Method, step: f64) -> Settings {
    Settings::new(method, parameters(method), step).with_newton_tolerances(1e-13, 1e-14)
}

/// Errors in q (Lie algebra), v, v̇ and λ, the last three relative.
fn compare(group: Group, state: &Values, exact: &TopSolution) -> [f64; 3] {
    let (q, x) = (exact.rotation, exact.position);
    let exact_q = [q.w, q.i, q.j, q.k, x.x, x.y, x.z];
    let mut difference = [0.0; 6];
    Space::new([group]).difference(&state.configuration, &exact_q, &mut difference).unwrap();
    let u = if group == Group::Se3 { q.inverse_transform_vector(&exact.velocity) } else { exact.velocity };
    let omega = exact.angular_velocity;
    let relative = |a: &[f64], b: &[f64]| {
        let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        let size: f64 = b.iter().map(|b| b * b).sum();
        (difference / size).sqrt()
    };
    let position = difference.iter().map(|d| d * d).sum::<f64>().sqrt();
    let velocity = relative(&state.velocity, &[omega.x, omega.y, omega.z, u.x, u.y, u.z]);
    [position, velocity, relative(&state.multipliers, exact.multipliers.as_slice())]
}

/// Largest errors of the heavy top on [0, 0.2] with steps h/3 and 2h/3 in turns, or of size h.
fn top_errors(group: Group, method: Method, h: f64, alternating: bool) -> [f64; 3] {
    let top = HeavyTop::new(group);
    let count = (0.2 / h).round() as usize;
    let pattern: Vec<f64> = match alternating {
        true => (0..2 * count).map(|n| if n % 2 == 0 { h / 3.0 } else { 2.0 * h / 3.0 }).collect(),
        false => vec![h; count],
    };
    let times: Vec<f64> = pattern
        .iter()
        .scan(0.0, |time, step| {
            *time += step;
            Some(*time)
        })
        .collect();
    let reference = top.reference(&times);
    let mut run = Integrator::with(settings(method, pattern[0])).start(&top, top.initial()).unwrap();
    let mut errors = [0.0_f64; 3];
    for (exact, step) in reference.iter().zip(&pattern) {
        run.step_by(*step).unwrap();
        let found = compare(group, run.values(), exact);
        errors.iter_mut().zip(found).for_each(|(error, found)| *error = error.max(found));
    }
    errors
}

#[test]
fn the_heavy_top_converges_with_order_two_on_both_groups() {
    for method in [SOI2, HHT_I3, HHT_SOI2] {
        for group in [Group::So3xR3, Group::Se3] {
            for alternating in [false, true] {
                let coarse = top_errors(group, method, 1e-3, alternating);
                let fine = top_errors(group, method, 2.5e-4, alternating);
                let slopes: Vec<f64> =
                    coarse.iter().zip(fine).map(|(coarse, fine)| (coarse / fine).log2() / 2.0).collect();
                // At h = 1e-3 the fast top turns by 0.15 rad a step, and the curves still bend a little.
                assert!(
                    slopes.iter().all(|slope| (slope - 2.0).abs() < 0.2),
                    "{method:?} {group:?} {alternating}: orders in q, v, λ are {slopes:.3?}"
                );
            }
        }
    }
}

/// Error of the algorithmic acceleration at the end of [0, 0.1], relative: a_n against v̇(t_n + Δ_α h).
fn acceleration_error(group: Group, method: Method, h: f64) -> f64 {
    let top = HeavyTop::new(group);
    let mut run = Integrator::with(settings(method, h)).start(&top, top.initial()).unwrap();
    run.advance(0.1).unwrap();
    let time = 0.1 + parameters(method).offset() * h;
    // Central differences of a solution exact to round-off: δ² (150 rad/s)² = 2e-6 is far below the errors.
    let distance = 1e-5;
    let around = top.reference(&[time - distance, time + distance]);
    let velocity = |exact: &TopSolution| {
        let (omega, u) = (exact.angular_velocity, exact.velocity);
        let u = if group == Group::Se3 { exact.rotation.inverse_transform_vector(&u) } else { u };
        [omega.x, omega.y, omega.z, u.x, u.y, u.z]
    };
    let (before, after) = (velocity(&around[0]), velocity(&around[1]));
    let exact: Vec<f64> = after.iter().zip(before).map(|(a, b)| (a - b) / (2.0 * distance)).collect();
    let found = &run.carried("algorithmic acceleration").unwrap();
    let difference: f64 = found.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b)).sum();
    (difference / exact.iter().map(|value| value * value).sum::<f64>()).sqrt()
}

#[test]
fn algorithmic_accelerations_of_the_heavy_top_converge_with_order_two() {
    for method in [SOI2, HHT_I3, HHT_SOI2] {
        for group in [Group::So3xR3, Group::Se3] {
            let (coarse, fine) =
                (acceleration_error(group, method, 1e-3), acceleration_error(group, method, 2.5e-4));
            let slope = (coarse / fine).log2() / 2.0;
            assert!((slope - 2.0).abs() < 0.2, "{method:?} {group:?}: {coarse:e} {fine:e}, order {slope:.3}");
        }
    }
}

/// With a constant mass matrix `index3` and `hht-i3` with the same parameters are the same method.
#[test]
fn with_a_constant_mass_matrix_forces_at_two_times_and_accelerations_at_two_times_are_the_same() {
    let crank = SliderCrank::default();
    let run = |method: Method| {
        let settings =
            Settings::new(method, Parameters::hht(0.1).unwrap(), 2e-3).with_newton_tolerances(1e-13, 1e-14);
        let mut run = Integrator::with(settings).start(&crank, crank.initial(0.4, 5.0)).unwrap();
        run.advance(0.5).unwrap();
        run.values().clone()
    };
    let (index3, hht) = (run(INDEX3), run(HHT_I3));
    for (a, b) in [
        (&index3.configuration, &hht.configuration),
        (&index3.velocity, &hht.velocity),
        (&index3.acceleration, &hht.acceleration),
        (&index3.multipliers, &hht.multipliers),
    ] {
        for (a, b) in a.iter().zip(b) {
            // Multipliers of an index-3 method carry the rounding of positions divided by h².
            assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

#[test]
fn the_spring_pendulum_converges_with_order_two_for_every_method() {
    let pendulum = SpringPendulum::default();
    for method in [INDEX3, INDEX2, SOI2, HHT_I3, HHT_SOI2] {
        let errors = |pairs: usize| {
            let h = 0.5 / pairs as f64;
            let mut run =
                Integrator::with(settings(method, h / 3.0)).start(&pendulum, pendulum.initial()).unwrap();
            let distance =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            let mut largest = [0.0_f64; 4];
            for n in 0..2 * pairs {
                run.step_by(if n % 2 == 0 { h / 3.0 } else { 2.0 * h / 3.0 }).unwrap();
                let state = run.values();
                let exact = pendulum.reference(state.time);
                let found = [
                    distance(&state.configuration, &exact.position),
                    distance(&state.velocity, &exact.velocity),
                    distance(&state.acceleration, &exact.acceleration),
                    distance(&state.multipliers, &exact.multipliers),
                ];
                largest.iter_mut().zip(found).for_each(|(largest, found)| *largest = largest.max(found));
            }
            largest
        };
        let (coarse, fine) = (errors(100), errors(400));
        let slopes: Vec<f64> = coarse.iter().zip(fine).map(|(a, b)| (a / b).log2() / 2.0).collect();
        assert!(slopes.iter().all(|slope| (slope - 2.0).abs() < 0.15), "{method:?}: {slopes:.3?}");
    }
}
