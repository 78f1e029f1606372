//! Numbers that the book's tutorials name: each hand estimate beside what the shipped model does.
//!
//! Runs are those of a reader, with no setting of their own, so that they are accurate to 1e-3 at least;
//! tolerances are the digits that a page writes.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, model};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::modes::ModeSettings;
use kreisel::run::{About, RunEnding, Stepper, Trajectory};
use std::f64::consts::PI;
use std::sync::Arc;

/// Gravity of models that do not say one.
const G: f64 = 9.80665;

fn run_until(name: &str, end: &str) -> Trajectory {
    model(name, &[], &SettingTexts::default().with("end-time", end)).simulate().unwrap()
}

/// The value of a signal at a time, straight between records.
fn at(run: &Trajectory, signal: &str, time: f64) -> f64 {
    let values = column(run, signal);
    let after = run.times.partition_point(|other| *other < time).clamp(1, run.times.len() - 1);
    let part = (time - run.times[after - 1]) / (run.times[after] - run.times[after - 1]);
    values[after - 1] + part * (values[after] - values[after - 1])
}

/// The mean of a signal over a stretch of time, by the trapezoidal rule.
fn mean(run: &Trajectory, signal: &str, from: f64, to: f64) -> f64 {
    let values = column(run, signal);
    let inside = |k: &usize| run.times[*k] >= from - 1e-9 && run.times[k + 1] <= to + 1e-9;
    let areas = (0..values.len() - 1).filter(inside);
    areas.map(|k| 0.5 * (values[k] + values[k + 1]) * (run.times[k + 1] - run.times[k])).sum::<f64>()
        / (to - from)
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} in place of {expected} ± {tolerance}");
}

#[test]
fn the_engine_gives_the_work_of_its_diagram_and_its_piston_pulls_when_no_gas_pushes() {
    let run = run_until("engine", "80 ms");
    // ∮ p dV of the table's straight lines, by the midpoint rule with 72,000 points beside Kreisel: 264.69 J.
    assert_near(mean(&run, "flywheel.torque.z", 0.04, 0.08), -264.69 / (4.0 * PI), 0.01);
    let omega = 100.0 * PI;
    let inertia = 0.4 * 0.04 * omega * omega * (1.0 + 0.04 / 0.14);
    let gas = 2.5e6 * PI / 4.0 * 0.08_f64.powi(2);
    // 1e-3 of the largest force, 21.6 kN, as the run promises.
    assert_near(at(&run, "wrist.force.x", 0.04), inertia - gas, 21.6);
    assert_near(at(&run, "wrist.force.x", 0.02), inertia, 21.6);
    assert_near(inertia - gas, -10536.0, 0.5);
    assert_near(inertia, 2030.0, 0.5);
}

#[test]
fn four_cylinders_give_four_times_the_work_and_leave_the_second_harmonic() {
    let run = run_until("four-cylinder-engine", "80 ms");
    assert_near(mean(&run, "flywheel.torque.z", 0.04, 0.08), -4.0 * 264.69 / (4.0 * PI), 0.04);
    // x = r cos φ + l √(1 − λ² sin² φ): its second harmonic is r (λ + λ³/4 + 15 λ⁵/128)/4 cos 2φ.
    let (omega, ratio): (f64, f64) = (100.0 * PI, 0.04 / 0.14);
    let second = ratio + ratio.powi(3) / 4.0 + 15.0 * ratio.powi(5) / 128.0;
    let swing = 4.0 * (0.4 + 0.3 * 0.45) * 0.04 * omega * second / 2.0;
    assert_near(swing, 3.92, 0.005);
    let momentum = column(&run, "momentum.x");
    let largest = momentum.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    // Where it is largest no other harmonic of a crank drive has any momentum but the sixth, 2e-5 of the first.
    assert_near(largest, swing, 2e-3);
    // An eighth of a turn after the start, downwards.
    assert_near(at(&run, "momentum.x", 0.0025), -swing, 1e-2);
}

#[test]
fn motors_of_the_six_axis_robot_hold_the_moments_of_its_weights() {
    let run = run_until("six-axis-robot", "1.2 s");
    let held = [
        ("motor-2", 20.0 * 0.3 + 12.0 * 0.9 + 3.0 * 1.2 + 2.0 * 1.25 + 1.3 + 5.0 * 1.4, 306.0),
        ("motor-3", 12.0 * 0.3 + 3.0 * 0.6 + 2.0 * 0.65 + 0.7 + 5.0 * 0.8, 111.8),
        ("motor-5", 2.0 * 0.05 + 0.1 + 5.0 * 0.2, 11.8),
    ];
    for (motor, moment, told) in held {
        let torque = column(&run, &format!("{motor}.torque.y"))[0];
        // Upwards, against positive angles; rounding of numbers up to 306.
        assert_near(torque, -G * moment, 1e-9);
        assert_near(G * moment, told, 0.05);
    }
    // Arms of 0.6 m each, the hand 0.2 m beyond the wrist; the way is over, so that the axes have turned by their angles.
    let turn = |axis: nalgebra::Vector3<f64>, angle: f64| {
        nalgebra::Rotation3::from_scaled_axis(axis * angle.to_radians())
    };
    let [x, y, z] = [nalgebra::Vector3::x(), nalgebra::Vector3::y(), nalgebra::Vector3::z()];
    let upper = turn(z, 120.0) * turn(y, -60.0);
    let fore = upper * turn(y, 80.0);
    let bend = fore * turn(x, 90.0) * turn(y, -45.0);
    let hand = upper * x * 0.6 + fore * x * 0.6 + bend * x * 0.2 + z * 0.4;
    for (axis, expected) in ["x", "y", "z"].iter().zip(hand.iter()) {
        assert_near(at(&run, &format!("hand.position.{axis}"), 1.2), *expected, 1e-9);
    }
}

#[test]
fn the_delta_robot_goes_its_way_without_turning_and_holds_its_weights() {
    let run = run_until("delta-robot", "1 s");
    let depth = (0.64_f64 - 0.45 * 0.45).sqrt();
    for time in [0.0, 0.3, 0.5, 0.8, 1.0_f64] {
        let way = time.powi(3) * (10.0 - 15.0 * time + 6.0 * time * time);
        for (axis, expected) in [("x", 0.15 * way), ("y", 0.05 * way), ("z", 0.1 * way - depth)] {
            // Records are 2 ms apart at most, and times are among them.
            assert_near(at(&run, &format!("platform.position.{axis}"), time), expected, 1e-8);
        }
        for axis in ["x", "y", "z"] {
            assert_near(at(&run, &format!("platform.rotation-vector.{axis}"), time), 0.0, 1e-10);
        }
    }
    let held = G * (1.5 / 3.0 + 2.0 * 0.1 + 0.8 / 2.0) * 0.3;
    assert_near(held, 3.24, 0.005);
    let torque = ["x", "y"].map(|axis| column(&run, &format!("motor-1.torque.{axis}"))[0]);
    assert_near(torque[0].hypot(torque[1]), held, 1e-9);
    assert_near(column(&run, "motor-0.torque.y")[0], -held, 1e-9);
}

#[test]
fn the_wind_turbine_finds_its_speed_and_bends_its_tower() {
    let run = run_until("wind-turbine", "40 s");
    // 2 ω² + 1.25 ω = 5.75.
    let speed = (-1.25 + (1.25_f64 * 1.25 + 8.0 * 5.75).sqrt()) / 4.0;
    assert_near(speed, 1.41, 0.005);
    assert_near(at(&run, "rotor-shaft.angle-rate", 40.0), speed, 1e-3);
    let bending = 210e9 * PI / 4.0 * (2.0_f64.powi(4) - 1.97_f64.powi(4));
    let (length, top, tower) = (80.0_f64, 140e3, 7850.0 * PI * (4.0 - 1.97 * 1.97) * 80.0);
    // The weight on a bent tower makes it give way more, by one over one less its part of Euler's load.
    let load = G * (top + 0.3 * tower);
    let more = 1.0 / (1.0 - load / (PI * PI * bending / (4.0 * length * length)));
    let bent = 4e5 * length.powi(3) / (3.0 * bending) - 4e4 * G * 5.0 * length * length / (2.0 * bending);
    // Eleven periods of the tower.
    let mean_of_swings = mean(&run, "nacelle.position.x", 7.0, 40.0);
    assert_near(mean_of_swings, more * bent, 0.02 * bent);
    let period = 2.0 * PI * ((top + 0.236 * tower) * length.powi(3) / (3.0 * bending) * more).sqrt();
    let places = column(&run, "nacelle.position.x");
    let passes =
        |k: &usize| run.times[*k] > 6.0 && places[k - 1] < mean_of_swings && places[*k] >= mean_of_swings;
    let times: Vec<f64> = (1..places.len()).filter(passes).map(|k| run.times[k]).collect();
    let found = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    // The nacelle and the rotor turn as well, which makes it slower.
    assert!(found > period && found < 1.05 * period, "{found} {period}");
}

#[test]
fn the_robot_sags_by_what_its_controllers_need_to_hold_it() {
    let run = run_until("robot-arm", "2 s");
    // The moments of the weights at the angles to which they lead, found by iteration.
    let (mut shoulder, mut elbow) = (-40.0_f64.to_radians(), 60.0_f64.to_radians());
    for _ in 0..50 {
        let (upper, lower) = (shoulder, shoulder + elbow);
        let held_by_elbow = (3.0 * 0.2 + 3.0 * 0.4) * G * lower.cos();
        let held = held_by_elbow + (6.0 * 0.25 + 6.0 * 0.5) * G * upper.cos();
        shoulder = -40.0_f64.to_radians() + held / 2000.0;
        elbow = 60.0_f64.to_radians() + held_by_elbow / 2000.0;
    }
    for time in [1.5, 2.0] {
        // Half of the last digit on the page.
        assert_near(at(&run, "shoulder.angle", time), shoulder, 0.005_f64.to_radians());
        assert_near(at(&run, "elbow.angle", time), elbow, 0.005_f64.to_radians());
    }
    assert_near(shoulder.to_degrees(), -38.54, 0.005);
    assert_near(elbow.to_degrees(), 60.47, 0.005);
    assert_near(at(&run, "payload.position.z", 2.0), 0.462, 0.0005);
}

#[test]
fn the_crane_brings_its_load_there_as_four_equal_poles_say() {
    let mut crane =
        Stepper::start(Arc::new(model("crane", &[], &SettingTexts::default().with("step", "10 ms"))))
            .unwrap();
    let push = crane.input("push").unwrap();
    let signals =
        ["rail.displacement", "rail.displacement-rate", "rope.angle", "rope.angle-rate", "load.position.x"];
    let signals = signals.map(|name| crane.signal(name).unwrap());
    for (seconds, shown) in [(5, 4.248), (7, 4.839)] {
        while crane.time() < f64::from(seconds) - 1e-9 {
            let [place, speed, swing, swing_rate, _] = signals.map(|signal| crane.value(signal));
            let force = 169.0 * (5.0 - place) - 524.0 * speed - 630.0 * swing + 1585.0 * swing_rate;
            crane.set_input(push, force);
            let next = crane.time() + 0.01;
            assert_eq!(crane.advance_to(next, |_| true), RunEnding::Done);
        }
        // A step of 10 ms is good to less than the millimetre that the page shows.
        let held = crane_by_hand(seconds, Some(0.01));
        assert_near(crane.value(signals[4]), held, 1e-3);
        assert_near(held, shown, 0.0005);
    }
    // What the page says of the difference to four equal poles, which end at 4.244 m: of the inertia and the
    // swings 1 mm, of rounded gains -3 mm, of forces that are held 6 mm.
    let tau = 1.2 * 5.0_f64;
    let poles = 5.0 * (1.0 - (-tau).exp() * (1.0 + tau + tau * tau / 2.0 + tau.powi(3) / 6.0));
    assert_near(poles, 4.244, 0.0005);
    let continuous = crane_by_hand(5, None);
    assert_near(continuous, 4.2417, 0.0001);
    assert_near(crane_by_hand(5, Some(0.01)) - continuous, 0.006, 0.0005);
    assert_near(crane_by_hand(5, Some(0.001)), 4.242, 0.0005);
}

/// Where the load of the page's crane is after some seconds, with the force all the time that of its place or held
/// for a time: the equations of a trolley and a pendulum with an inertia of its own, written down here and solved by
/// the classical Runge-Kutta method with steps of 1 ms, whose error is far below a micrometre.
fn crane_by_hand(seconds: i32, hold: Option<f64>) -> f64 {
    const STEP: f64 = 1e-3;
    let (trolley, load, rope) = (200.0, 500.0, 4.0);
    let inertia = load * rope * rope + load * 0.8 * 0.8 / 6.0;
    // Place, swing and their rates.
    let force = |[x, swing, v, rate]: [f64; 4]| 169.0 * (5.0 - x) - 524.0 * v - 630.0 * swing + 1585.0 * rate;
    let rates = |state: [f64; 4], held: Option<f64>| {
        let [_, swing, v, rate] = state;
        let push = held.unwrap_or_else(|| force(state)) - 40.0 * v + load * rope * swing.sin() * rate * rate;
        let turn = -load * G * rope * swing.sin();
        let coupling = load * rope * swing.cos();
        let determinant = (trolley + load) * inertia - coupling * coupling;
        let accelerations = [push * inertia - coupling * turn, (trolley + load) * turn - coupling * push];
        [v, rate, accelerations[0] / determinant, accelerations[1] / determinant]
    };
    let moved = |state: [f64; 4], by: [f64; 4], h: f64| [0, 1, 2, 3].map(|k| state[k] + h * by[k]);
    let per_hold = hold.map_or(1, |time| (time / STEP).round() as i32);
    let (mut state, mut held) = ([0.0; 4], 0.0);
    for step in 0..seconds * 1000 {
        if step % per_hold == 0 {
            held = force(state);
        }
        let held = hold.map(|_| held);
        let a = rates(state, held);
        let b = rates(moved(state, a, STEP / 2.0), held);
        let c = rates(moved(state, b, STEP / 2.0), held);
        let d = rates(moved(state, c, STEP), held);
        state = moved(state, [0, 1, 2, 3].map(|k| (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]) / 6.0), STEP);
    }
    state[0] + rope * state[1].sin()
}

#[test]
fn the_motor_of_the_linkage_has_the_torque_of_the_page() {
    let run = run_until("four-bar", "1.5 s");
    // 1e-3 of the largest torque, as the run promises.
    assert_near(mean(&run, "motor.torque.z", 1.0, 1.5), 0.0, 1e-3 * 0.31);
    let turn = run.times.iter().zip(column(&run, "motor.torque.z")).filter(|(time, _)| **time >= 1.0);
    let (low, high) =
        turn.fold((f64::MAX, f64::MIN), |(low, high), (_, torque)| (low.min(*torque), high.max(*torque)));
    assert_near(low, -0.31, 0.005);
    assert_near(high, 0.28, 0.005);
    let forces = ["x", "y", "z"].map(|axis| column(&run, &format!("a.force.{axis}")));
    let largest =
        (0..run.times.len()).map(|k| forces.iter().map(|force| force[k] * force[k]).sum::<f64>().sqrt());
    assert_near(largest.fold(0.0, f64::max), 5.9, 0.05);
}

#[test]
fn the_flexible_arm_lags_and_stretches_as_the_page_says() {
    let run = run_until("spin-up-beam", "20 s");
    let lag = column(&run, "tip.position.y").iter().copied().fold(f64::MAX, f64::min);
    assert_near(lag, -0.57, 0.005);
    let k: f64 = (1.2 * 36.0_f64 / 2.8e7).sqrt();
    assert_near((10.0 * k).tan() / k, 10.00051, 5e-6);
    assert_near(mean(&run, "tip.position.x", 18.0, 20.0), 10.00051, 1e-5);
}

#[test]
fn the_quarter_car_has_the_modes_of_the_page() {
    let machine = model("active-suspension", &[("skyhook", "0")], &SettingTexts::default());
    let found = machine.modes(About::Initial, ModeSettings { count: 4 }).unwrap();
    let all: Vec<(f64, f64)> =
        found.modes.iter().map(|mode| (mode.frequency(), mode.damping_ratio())).collect();
    // Roots of (300 s² + 1000 s + 16000)(40 s² + 1000 s + 206000) = (1000 s + 16000)².
    for (frequency, damping) in [(1.10047, 0.202972), (11.1617, 0.178646)] {
        let near =
            |(f, d): &&(f64, f64)| (f - frequency).abs() < 1e-4 * frequency && (d - damping).abs() < 1e-5;
        assert!(all.iter().find(near).is_some(), "{frequency} Hz with {damping} in {all:?}");
    }
}

#[test]
fn the_car_turns_as_its_bicycle_does_and_leans_on_its_springs() {
    let run = run_until("car", "3 s");
    let [x, y] = ["x", "y"].map(|axis| at(&run, &format!("chassis.velocity.{axis}"), 3.0));
    let (speed, base, cornering) = (x.hypot(y), 2.6, 120e3);
    // Uprights and wheels, 90 kg at each axle, move the centre of mass by 12 mm.
    let to_front = (1320.0 * 1.2 + 90.0 * 2.6) / 1500.0;
    assert_near(to_front, 1.212, 1e-9);
    let (front, rear) = (to_front - 0.03, base - to_front + 0.03);
    let understeer = 1500.0 / (base * cornering) * (rear - front);
    assert_near(understeer, 1.13e-3, 5e-6);
    let expected = speed * 0.5_f64.to_radians() / (base + understeer * speed * speed);
    assert_near(expected, 57e-3, 5e-4);
    // At slip angles of half a degree a brush has lost 4 % of its stiffness, and the understeer is a seventh of the
    // whole: 0.6 %. Without the understeer the car would turn by 17 % more.
    assert_near(at(&run, "chassis.angular-velocity.z", 3.0), expected, 0.01 * expected);
    let across = speed * expected;
    let spring = 1.0 / (1.0 / 25e3 + 1.0 / 200e3);
    let lean = (1320.0 * 0.55 + 180.0 * 0.28) * across / (4.0 * spring * 0.75 * 0.75 - 1320.0 * G * 0.55);
    assert_near(lean, 0.021, 5e-4);
    // What leans with the body is more than the body: wheels and uprights, 180 kg of 1500 kg half as high.
    assert_near(at(&run, "chassis.rotation-vector.x", 3.0), lean, 0.03 * lean);
    // The outer tyres carry what leans: N of both sides add up to the weight.
    let loads: f64 = ["front-tyre-0", "front-tyre-1", "rear-tyre-0", "rear-tyre-1"]
        .iter()
        .map(|tyre| at(&run, &format!("{tyre}.load"), 3.0))
        .sum();
    assert_near(loads, 1500.0 * G, 2e-3 * 1500.0 * G);
}

#[test]
fn the_first_ball_reaches_the_floor_and_turns_just_below_its_radius() {
    let run = run_until("settling-balls", "80 ms");
    let heights = column(&run, "ball-0.position.z");
    let touch = (2.0 * 0.01 / G).sqrt();
    assert_near(touch, 0.045, 5e-4);
    // Just before, and at an output time: between them straight lines miss the parabola by 0.1 mm.
    assert_near(at(&run, "ball-0.position.z", 0.04), 0.030 - 0.5 * G * 0.04 * 0.04, 2e-5);
    let lowest = heights.iter().copied().fold(f64::MAX, f64::min);
    assert!(lowest < 0.020 && lowest > 0.020 - 9e-4, "{lowest}");
}

#[test]
fn the_swing_of_the_first_page_and_of_the_study_takes_its_time() {
    let text = include_str!("../../../kreisel-cli/src/command/starter.toml");
    let passes = |length: &str| {
        let text = text.replace("length = 1", &format!("length = {length}"));
        let run = Machine::from_text("swing.toml", &text).unwrap().simulate().unwrap();
        let x = column(&run, "rod.position.x");
        let after = x.iter().position(|x| *x <= 0.0).unwrap();
        let part = x[after - 1] / (x[after - 1] - x[after]);
        run.times[after - 1] + part * (run.times[after] - run.times[after - 1])
    };
    for (length, quarter) in [("0.25", 0.2083), ("1", 0.4167), ("2", 0.589)] {
        assert_near(passes(length), quarter, 5e-4);
    }
}
