//! The three-step backward differentiation formula: orders in positions, velocities and multipliers, steps of
//! varying size, states, control of the error, saved runs, and what it damps.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{model, read};
use crate::explicit8::{
    DISC, DRIVEN_ARM, Errors, FOUR_BAR, SOFT_BEAM, end_of, errors, orders, run_machine, stiff_pendulum,
    top_errors, with_group,
};
use kreisel::dae::{Dae, Values};
use kreisel::integrate::{
    BDF2, BDF3, EXPLICIT8, ErrorControl, Integrator, Method, Parameters, Saved, Settings,
};
use kreisel::lie::{Group, vector3};
use kreisel::machine::{Machine, SettingTexts};
use kreisel_papers::problem::{DrivenTop, HeavyTop};

fn settings(method: Method, step: f64) -> Settings {
    Settings::new(method, Parameters::chung_hulbert(0.0).unwrap(), step).with_newton_tolerances(1e-13, 1e-14)
}

fn fixed(step: f64) -> Integrator {
    Integrator::with(settings(BDF3, step))
}

fn by_error(method: Method, rtol: f64, horizon: f64) -> Integrator {
    Integrator::with(settings(method, horizon).with_error_control(ErrorControl::new(rtol, horizon)))
}

/// Largest errors of the slow top over all steps, those of the first ones too.
fn slow_top_errors(group: Group, steps: &[f64]) -> Errors {
    let top = HeavyTop::slow(group);
    let mut run = fixed(steps[0]).start(&top, top.initial()).unwrap();
    let mut time = 0.0;
    let times: Vec<f64> = steps
        .iter()
        .map(|step| {
            time += step;
            time
        })
        .collect();
    let mut worst = [0.0; 3];
    for (step, exact) in steps.iter().zip(top.reference(&times)) {
        run.step_by(*step).unwrap();
        let found = top_errors(group, run.values(), &exact);
        worst = std::array::from_fn(|i| f64::max(worst[i], found[i]));
    }
    worst
}

/// Checks that errors of a run and of one with half the steps fall with the third power: a tenth less, since steps
/// are not small.
fn assert_order_three(case: &str, found: [Errors; 2]) {
    let seen = orders(found[0], found[1]);
    assert!(seen.iter().all(|order| *order > 2.7), "{case}: {found:?} {seen:?}");
}

#[test]
fn the_slow_top_has_order_three_on_both_groups_from_the_first_step_on() {
    for group in [Group::So3xR3, Group::Se3] {
        let found =
            [200, 400].map(|count| slow_top_errors(group, &vec![0.5 / f64::from(count); count as usize]));
        assert_order_three(&format!("{group:?}"), found);
    }
}

#[test]
fn so_it_has_with_steps_that_alternate_or_grow() {
    for group in [Group::So3xR3, Group::Se3] {
        let alternating = [200, 400].map(|count| {
            let h = 1.0 / f64::from(count);
            let steps: Vec<f64> = (0..count / 2).flat_map(|_| [0.4 * h, 0.6 * h]).collect();
            slow_top_errors(group, &steps)
        });
        assert_order_three(&format!("{group:?}, alternating"), alternating);
        let growing = [200, 400].map(|count| {
            let factor = 10f64.powf(1.0 / f64::from(count));
            let sum: f64 = (0..count).map(|n| factor.powi(n)).sum();
            let steps: Vec<f64> = (0..count).map(|n| 0.5 * factor.powi(n) / sum).collect();
            slow_top_errors(group, &steps)
        });
        assert_order_three(&format!("{group:?}, growing"), growing);
    }
}

/// An implementation in another language, which keeps velocity constraints too, found an error in q of 4.2e-4 with 200
/// steps on SO(3)×R³.
#[test]
fn the_heavy_top_has_the_error_of_an_independent_implementation() {
    let top = HeavyTop::new(Group::So3xR3);
    let mut run = fixed(0.25 / 200.0).start(&top, top.initial()).unwrap();
    run.advance(0.25).unwrap();
    let [q, ..] = top_errors(Group::So3xR3, run.values(), &top.reference(&[0.25])[0]);
    assert!((q / 4.2e-4 - 1.0).abs() < 0.1, "{q:e}");
}

#[test]
fn the_heavy_top_has_order_three() {
    for group in [Group::So3xR3, Group::Se3] {
        let top = HeavyTop::new(group);
        let exact = &top.reference(&[0.25])[0];
        let found = [1000.0, 2000.0].map(|count| {
            let mut run = fixed(0.25 / count).start(&top, top.initial()).unwrap();
            run.advance(0.25).unwrap();
            top_errors(group, run.values(), exact)
        });
        assert_order_three(&format!("{group:?}"), found);
    }
}

/// Values at four times of a run.
fn quarters(machine: &Machine, integrator: Integrator, end: f64) -> [Values; 4] {
    let mut run = run_machine(machine, integrator);
    [0.25, 0.5, 0.75, 1.0].map(|part| {
        run.advance(part * end).unwrap();
        run.values().clone()
    })
}

/// Largest errors at four times with so many steps and twice as many: at one time an error may vanish by chance.
fn machine_errors(machine: &Machine, end: f64, steps: u32) -> [Errors; 2] {
    let space = machine.system().shape().space;
    let exact = quarters(machine, by_error(EXPLICIT8, 1e-12, end), end);
    [1, 2].map(|times| {
        let mut worst = [0.0; 3];
        for (found, exact) in quarters(machine, fixed(end / f64::from(times * steps)), end).iter().zip(&exact)
        {
            let found = errors(&space, found, exact);
            worst = std::array::from_fn(|i| f64::max(worst[i], found[i]));
        }
        worst
    })
}

fn check_machine(name: &str, machine: &Machine, end: f64, steps: u32) {
    assert_order_three(name, machine_errors(machine, end, steps));
}

#[test]
fn loops_rolling_and_driven_machines_have_order_three() {
    for group in ["so3xr3", "se3"] {
        check_machine(&format!("redundant loop, {group}"), &with_group(FOUR_BAR, group), 0.25, 100);
        check_machine(&format!("rolling disc, {group}"), &with_group(DISC, group), 0.5, 200);
        check_machine(&format!("driven arm, {group}"), &with_group(DRIVEN_ARM, group), 0.5, 100);
    }
}

#[test]
fn a_spatial_loop_has_order_three() {
    for group in ["so3xr3", "se3"] {
        let texts = SettingTexts::default().with("group", group);
        check_machine(&format!("spatial loop, {group}"), &model("bricard-6r", &[], &texts), 1.0, 100);
    }
}

#[test]
fn a_beam_has_order_three() {
    check_machine("beam", &read(SOFT_BEAM).unwrap(), 0.2, 400);
}

#[test]
fn first_order_states_have_order_three() {
    for group in [Group::So3xR3, Group::Se3] {
        let driven = DrivenTop::new(group);
        let exact = driven.reference(0.5);
        let found = [400.0, 800.0].map(|steps| {
            let mut run = fixed(0.5 / steps).start(&driven, driven.initial()).unwrap();
            run.advance(0.5).unwrap();
            let [q, v, lambda] = top_errors(group, run.values(), &exact.top);
            let states = run.values().internal_states.iter().zip(&exact.internal_states);
            [q, v, lambda, states.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)]
        });
        let seen: Vec<f64> =
            found[0].iter().zip(found[1]).map(|(coarse, fine)| (coarse / fine).log2()).collect();
        assert!(seen.iter().all(|order| *order > 2.7), "{group:?}: {found:?} {seen:?}");
    }
}

/// Steps far longer than a vibration, and far shorter. Reactions of long ones ring out from the start, by a tenth a
/// step.
#[test]
fn damped_stiff_springs_cost_positions_and_velocities_no_order() {
    for (stiffness, steps) in [(1e4, 200), (1e6, 100), (1e8, 100)] {
        let found = machine_errors(&stiff_pendulum(stiffness), 0.5, steps);
        let [q, v, _] = orders(found[0], found[1]);
        assert!(q > 2.7 && v > 2.7, "{stiffness:e}: {found:?}");
    }
}

/// Roots of the formula on ẏ = iω y: vibrations without damping of 1.14/h rad/s grow by 4.56 % a step, the most of
/// all; those of 2.5/h rad/s shrink to 0.9427.
#[test]
fn vibrations_grow_and_shrink_as_the_formula_has_it() {
    for (turn, growth) in [(1.14, 1.0456), (2.5, 0.9427)] {
        let machine = read(
            "[gravity]
            acceleration = [0, 0, 0]
            [[body]]
            name = 'bob'
            mass = 1
            inertia = [1, 1, 1]
            position = [1, 0, 0]
            velocity = [1e-3, 0, 0]
            [[prismatic]]
            name = 'slide'
            bodies = ['ground', 'bob']
            axis = [1, 0, 0]
            [[joint-force]]
            name = 'spring'
            joint = 'slide'
            force = '-slide.displacement'
            ",
        );
        let machine = machine.unwrap();
        let mut run = run_machine(&machine, fixed(turn));
        let mut amplitude = || {
            for _ in 0..40 {
                run.step().unwrap();
            }
            let (x, v) = (run.values().configuration[4] - 1.0, run.values().velocity[3]);
            (x * x + v * v).sqrt()
        };
        let (first, second) = (amplitude(), amplitude());
        let seen = (second / first).powf(1.0 / 40.0);
        // Digits of the roots.
        assert!((seen - growth).abs() < 2e-4, "{turn}: {seen}");
    }
}

#[test]
fn the_error_decides_on_the_step_and_a_small_one_costs_less_than_with_two_steps() {
    let top = HeavyTop::slow(Group::So3xR3);
    let exact = top.reference(&[1.0])[0];
    let measure = |method: Method, tolerance: f64| {
        let mut run = by_error(method, tolerance, 1.0).start(&top, top.initial()).unwrap();
        run.advance(1.0).unwrap();
        let error = (vector3(&run.values().configuration[4..]) - exact.position).norm();
        (error / tolerance, run.statistics().steps)
    };
    let errors = [1e-4, 1e-6, 1e-8].map(|tolerance| measure(BDF3, tolerance).0);
    // Errors add up to the tolerance, times what the motion makes of them; as with `bdf2`.
    assert!(errors.iter().all(|error| (0.01..10.0).contains(error)), "{errors:?}");
    let [two, three] = [BDF2, BDF3].map(|method| measure(method, 1e-7).1);
    assert!(three < two / 2, "{three} {two}");
}

#[test]
fn machines_keep_to_a_tolerance() {
    for (name, machine, end) in [
        ("four-bar", &with_group(FOUR_BAR, "so3xr3"), 1.0),
        ("disc", &with_group(DISC, "so3xr3"), 1.0),
        ("driven arm", &with_group(DRIVEN_ARM, "se3"), 1.0),
        ("stiff pendulum", &stiff_pendulum(1e6), 0.5),
    ] {
        let exact = end_of(machine, by_error(EXPLICIT8, 1e-12, end), end);
        let space = machine.system().shape().space;
        for rtol in [1e-3, 1e-5] {
            let mut run = run_machine(machine, by_error(BDF3, rtol, end));
            run.advance(end).unwrap();
            let found = errors(&space, run.values(), &exact);
            // As for the other methods.
            assert!(found[0] < 100.0 * rtol, "{name} {rtol:e}: {found:?}");
        }
    }
}

#[test]
fn a_run_from_saved_bytes_goes_on_to_the_same_bits() {
    let driven = DrivenTop::new(Group::Se3);
    let mut whole = fixed(1e-3).start(&driven, driven.initial()).unwrap();
    // Steps of other sizes: all of the past counts.
    for step in [1e-3, 2e-3, 1e-3, 1.5e-3] {
        whole.step_by(step).unwrap();
    }
    let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
    let mut resumed = fixed(1e-3).resume(&driven, &saved).unwrap();
    for _ in 0..5 {
        whole.step().unwrap();
        resumed.step().unwrap();
    }
    assert_eq!(whole.values(), resumed.values());
    assert!(Integrator::with(settings(BDF2, 1e-3)).resume(&driven, &saved).is_err());
}

/// Logarithms of more than half a turn would go another way round.
#[test]
fn steady_spin_is_exact_with_any_step() {
    for group in ["so3xr3", "se3"] {
        let machine = with_group(
            "[gravity]\nacceleration = [0, 0, 0]\n[[body]]\nname = 'rotor'\nmass = 1\ninertia = [1, 2, 3]\n\
             angular-velocity = [0, 0, 25]\n",
            group,
        );
        for steps in [10.0, 12.0, 20.0, 40.0] {
            let mut run = run_machine(&machine, fixed(2.0 / steps));
            run.advance(2.0).unwrap();
            let q = &run.values().configuration;
            let (half, angle) = (25.0f64, 2.0 * q[3].atan2(q[0]));
            let miss = (angle - 2.0 * half) / std::f64::consts::TAU;
            // Rounding of 50 rad.
            assert!((miss - miss.round()).abs() < 1e-12, "{group} {steps}: {miss}");
        }
    }
}

/// A flap that is caught, tightened and let go, and a ball after its third impact, on its way to the next peak: an
/// error of a thousandth is what an accuracy is by default.
#[test]
fn contact_and_events_are_followed() {
    for (name, signal, end) in
        [("latch", "hinge.angle", None), ("bouncing-ball", "ball.position.z", Some("1.2"))]
    {
        let last = |method: &str, rtol: &str| {
            let texts = SettingTexts::default().with("method", method).with("rtol", rtol);
            let texts = end.into_iter().fold(texts, |texts, end| texts.with("end-time", end));
            *model(name, &[], &texts).simulate().unwrap().signal(signal).unwrap().last().unwrap()
        };
        let miss = (last("bdf3", "1e-4") - last("index2", "1e-6")).abs();
        println!("{name}: {miss:e}");
        assert!(miss < 1e-3, "{name}: {miss:e}");
    }
}

/// Each impact leaves 0.7 of the speed, so that the ball, which fell from half a metre, rises to 0.49 of the height
/// before: what the model promises.
#[test]
fn a_ball_rises_as_high_as_its_impacts_let_it() {
    let run =
        model("bouncing-ball", &[], &SettingTexts::default().with("method", "bdf3").with("rtol", "1e-4"));
    let run = run.simulate().unwrap();
    let heights = run.signal("ball.position.z").unwrap();
    let peaks: Vec<f64> = heights
        .windows(3)
        .filter(|near| near[1] >= near[0] && near[1] > near[2])
        .map(|near| near[1] - 0.1)
        .collect();
    println!("{peaks:?}");
    for (number, peak) in peaks.iter().take(4).enumerate() {
        let expected = 0.5 * 0.49_f64.powi(number as i32 + 1);
        // Half of the distance of two records, 5 ms, from the peak: 31 µm.
        assert!((peak - expected).abs() < 1e-3, "peak {number}: {peak} for {expected}");
    }
    assert!(peaks.len() >= 4, "{peaks:?}");
}
