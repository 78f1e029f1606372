//! The updated Lagrangian method: order, energy, refusals.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::dae::Values;
use kreisel::integrate::{
    INDEX3, Integration, Integrator, Parameters, Parametrization, Saved, Settings, Start, StartError,
    UPDATED_LAGRANGIAN,
};
use kreisel::lie::{Group, vector3};
use kreisel::solve::newton::Refresh;
use kreisel_papers::problem::HeavyTop;

const CHARTS: [Parametrization; 2] = [Parametrization::RotationVector, Parametrization::Crv];

fn settings(parametrization: Parametrization, step: f64) -> Settings {
    let parameters = Parameters::chung_hulbert(0.9).unwrap();
    let settings = Settings::new(UPDATED_LAGRANGIAN, parameters, step).with_option(parametrization);
    settings.with_newton_tolerances(1e-13, 1e-14)
}

fn start(top: &HeavyTop, settings: Settings) -> Integration<'_> {
    Integrator::with(settings).start(top, top.initial()).unwrap()
}

/// Largest errors of x, Ω and λ, each relative to the size of the exact one.
fn errors(settings: Settings, end: f64, steps: impl Fn(usize) -> f64) -> [f64; 3] {
    let top = HeavyTop::new(Group::So3xR3);
    let mut run = start(&top, settings);
    let mut largest = [0.0_f64; 3];
    for n in 0.. {
        if run.values().time > end - 1e-9 {
            break;
        }
        run.step_by(steps(n)).unwrap();
        let state = run.values();
        let exact = top.reference(&[state.time])[0];
        let found = [&state.configuration[4..], &state.velocity[..3], &state.multipliers[..]].map(vector3);
        for ((largest, found), exact) in
            largest.iter_mut().zip(found).zip([exact.position, exact.angular_velocity, exact.multipliers])
        {
            *largest = largest.max((found - exact).norm() / exact.norm());
        }
    }
    largest
}

fn assert_second_order(name: &str, coarse: [f64; 3], fine: [f64; 3]) {
    for (component, (coarse, fine)) in ["x", "Ω", "λ"].iter().zip(coarse.iter().zip(fine)) {
        let order = (coarse / fine).log2();
        // Errors may still fall faster at these steps: terms of third order have the other sign.
        assert!(order > 1.85, "{name} {component}: {order}, errors {coarse} and {fine}");
    }
}

/// From the first step on: the starting values use the third derivative of the coordinates in the place of
/// v̈.
#[test]
fn the_heavy_top_converges_with_order_two_in_every_component() {
    for chart in CHARTS {
        let [coarse, fine] = [2.5e-4, 1.25e-4].map(|step| errors(settings(chart, step), 0.1, |_| step));
        assert_second_order(&format!("{chart:?}"), coarse, fine);
    }
}

#[test]
fn alternating_steps_keep_order_two_in_every_component() {
    for chart in CHARTS {
        let [coarse, fine] =
            [5e-4, 2.5e-4].map(|pair| {
                errors(settings(chart, pair / 3.0), 0.1, |n| {
                    if n % 2 == 0 { pair / 3.0 } else { 2.0 * pair / 3.0 }
                })
            });
        assert_second_order(&format!("{chart:?}"), coarse, fine);
    }
}

/// Energy change at t = 2 with h = 2e-3 in J, from an independent implementation.
#[test]
fn the_energy_of_the_heavy_top_changes_as_in_an_independent_implementation() {
    let top = HeavyTop::new(Group::So3xR3);
    let lie = settings(Parametrization::RotationVector, 2e-3).with_method(INDEX3);
    for (name, settings, expected, tolerance) in [
        ("Lie group", lie, -0.10, 0.005),
        ("rotation vector", settings(Parametrization::RotationVector, 2e-3), -3.63, 0.005),
        ("conformal rotation vector", settings(Parametrization::Crv, 2e-3), 172.9, 0.05),
    ] {
        let mut run = start(&top, settings.with_start(Start::Trivial));
        let energy = |state: &Values| top.energy(&state.configuration, &state.velocity);
        let before = energy(run.values());
        run.advance(2.0).unwrap();
        let change = energy(run.values()) - before;
        // Half a unit of the last digit that is known.
        assert!((change - expected).abs() <= tolerance, "{name}: {change} J instead of {expected} J");
    }
}

#[test]
fn nodes_on_se3_are_refused_with_a_way_out() {
    let top = HeavyTop::new(Group::Se3);
    let settings = settings(Parametrization::Crv, 1e-3);
    let refusal = Integrator::with(settings).start(&top, top.initial()).err().unwrap();
    assert!(matches!(refusal, StartError::NoLocalCoordinates { .. }));
    let words = refusal.to_string();
    assert!(words.contains("so3xr3") && words.contains("index3"), "{words}");
}

#[test]
fn a_restart_from_bytes_continues_to_the_same_bits() {
    let top = HeavyTop::new(Group::So3xR3);
    for chart in CHARTS {
        let mut settings = settings(chart, 1e-3);
        // The matrix in use is then one of an earlier step.
        settings = settings.with_refresh(Refresh::WhenSlow);
        let integrator = Integrator::with(settings);
        let mut whole = integrator.start(&top, top.initial()).unwrap();
        whole.advance(0.02).unwrap();
        let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
        let mut resumed = integrator.resume(&top, &saved).unwrap();
        whole.advance(0.05).unwrap();
        resumed.advance(0.05).unwrap();
        assert_eq!(whole.values(), resumed.values(), "{chart:?}");
    }
}
