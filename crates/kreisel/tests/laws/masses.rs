//! Masses from 1e-9 kg to 1e9 kg in one machine, against equations written down and solved apart from the
//! library.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, difference, read, within};
use kreisel::run::Trajectory;

const GRAVITY: f64 = 10.0;

/// Two bars of 1 m in a row, hinged to the ground and to each other, from the horizontal.
fn bars([first, second]: [f64; 2], method: &str, end: f64) -> String {
    let bar = |name: &str, mass: f64, x: f64| {
        let inertia = mass / 12.0;
        format!(
            "[[body]]\nname = '{name}'\nmass = {mass:e}\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\nposition = [{x}, 0, 0]\n"
        )
    };
    format!(
        "[simulation]\n{method}\nend-time = {end}\nstep = '1 ms'\ndefault-sensors = false\n\
         [gravity]\nacceleration = [0, -{GRAVITY}, 0]\n{}{}\
         [[revolute]]\nname = 'p'\nbodies = ['ground', 'a']\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n\
         [[revolute]]\nname = 'q'\nbodies = ['a', 'b']\npoint = [1, 0, 0]\naxis = [0, 0, 1]\n\
         [[sensor]]\nof = 'p'\nquantity = 'angle'\n[[sensor]]\nof = 'q'\nquantity = 'angle'\n\
         [[sensor]]\nof = 'p'\nquantity = 'force'\n[[sensor]]\nof = 'q'\nquantity = 'force'\n",
        bar("a", first, 0.5),
        bar("b", second, 1.5),
    )
}

fn simulate(text: &str) -> Trajectory {
    read(text).unwrap_or_else(|words| panic!("{words}")).simulate().unwrap_or_else(|error| panic!("{error}"))
}

/// Angles of both bars to the horizontal and their rates.
type Bars = [f64; 4];

/// Lagrange's equations of the two bars; the two rows are divided by their masses, so that no digit is lost.
fn rates([first, second]: [f64; 2], [one, two, one_rate, two_rate]: Bars) -> Bars {
    let (share, turn) = (second / (first + second), one - two);
    let a = [first / (first + second) / 3.0 + share, 0.5 * share * turn.cos()];
    let b = [0.5 * turn.cos(), 1.0 / 3.0];
    let weight = GRAVITY * (0.5 * first / (first + second) + share);
    let right = [
        -0.5 * share * turn.sin() * two_rate * two_rate - weight * one.cos(),
        0.5 * turn.sin() * one_rate * one_rate - 0.5 * GRAVITY * two.cos(),
    ];
    let determinant = a[0] * b[1] - a[1] * b[0];
    [
        one_rate,
        two_rate,
        (right[0] * b[1] - a[1] * right[1]) / determinant,
        (a[0] * right[1] - b[0] * right[0]) / determinant,
    ]
}

/// The motion at whole milliseconds by the classical Runge–Kutta method with steps of 0.1 ms.
fn motion(masses: [f64; 2], end: f64) -> Vec<Bars> {
    let h = 1e-4;
    let add = |x: Bars, factor: f64, k: Bars| -> Bars { std::array::from_fn(|i| x[i] + factor * k[i]) };
    let mut x = [0.0; 4];
    let mut out = vec![x];
    for _ in 0..(end / 1e-3).round() as usize {
        for _ in 0..10 {
            let k1 = rates(masses, x);
            let k2 = rates(masses, add(x, 0.5 * h, k1));
            let k3 = rates(masses, add(x, 0.5 * h, k2));
            let k4 = rates(masses, add(x, h, k3));
            x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
        out.push(x);
    }
    out
}

/// What the hinges must carry: forces on the first bar and on the second one, from the accelerations of the
/// bars' centres.
fn hinge_forces(masses: [f64; 2], x: Bars) -> [[f64; 2]; 2] {
    let [one, two, one_rate, two_rate] = x;
    let [.., one_jerk, two_jerk] = rates(masses, x);
    // Second derivative of (cos, sin) of an angle.
    let turned = |angle: f64, rate: f64, jerk: f64| {
        [-rate * rate * angle.cos() - jerk * angle.sin(), jerk * angle.cos() - rate * rate * angle.sin()]
    };
    let (first, second) = (turned(one, one_rate, one_jerk), turned(two, two_rate, two_jerk));
    let gravity = [0.0, GRAVITY];
    let on_second: [f64; 2] = std::array::from_fn(|i| masses[1] * (first[i] + 0.5 * second[i] + gravity[i]));
    let on_first = std::array::from_fn(|i| masses[0] * (0.5 * first[i] + gravity[i]) + on_second[i]);
    [on_first, on_second]
}

/// Largest errors of the angles, and of the hinges' forces as parts of the largest force there.
fn errors(masses: [f64; 2], method: &str) -> [f64; 4] {
    let end = 0.5;
    let (run, expected) = (simulate(&bars(masses, method, end)), motion(masses, end));
    assert_eq!(run.times.len(), expected.len());
    let mut errors = [0.0_f64; 4];
    let mut largest = [0.0_f64; 2];
    for (row, x) in expected.iter().enumerate() {
        errors[0] = errors[0].max((column(&run, "p.angle")[row] - x[0]).abs());
        errors[1] = errors[1].max((column(&run, "q.angle")[row] - (x[1] - x[0])).abs());
        for (hinge, force) in hinge_forces(masses, *x).iter().enumerate() {
            for (axis, value) in ["x", "y"].iter().zip(force) {
                let found = column(&run, &format!("{}.force.{axis}", ["p", "q"][hinge]))[row];
                errors[2 + hinge] = errors[2 + hinge].max((found - value).abs());
                largest[hinge] = largest[hinge].max(value.abs());
            }
        }
    }
    errors[2] /= largest[0];
    errors[3] /= largest[1];
    errors
}

/// Every method that keeps position constraints.
const METHODS: [&str; 8] = [
    "method = 'index3'",
    "method = 'index2'",
    "method = 'soi2'",
    "method = 'hht-i3'",
    "method = 'hht-soi2'",
    "method = 'bdf2'",
    "method = 'bdf3'",
    "method = 'updated-lagrangian'\ngroup = 'so3xr3'",
];

#[test]
fn bars_of_a_microgram_and_a_million_tonnes_swing_as_lagrange_says() {
    for method in METHODS {
        // A ratio of 1e6 shows the error of the step; at a ratio of 1e18 there must be no other.
        for mass in [1e3, 1e-3] {
            let usual = errors([mass, 1.0 / mass], method);
            let extreme = errors([mass.powi(3), mass.powi(-3)], method);
            for (what, (usual, extreme)) in
                ["angle of p", "angle of q", "force of p", "force of q"].iter().zip(usual.iter().zip(extreme))
            {
                let words = format!("{method}, {mass}: {what}");
                // Second order: some (ωh)² ωt for a motion of ω ≈ 6 rad/s, and three times as much for
                // `bdf2`.
                within(&words, *usual, 4e-4);
                within(&words, (extreme - usual).abs(), 0.01 * usual);
            }
        }
    }
}

/// All orders of three masses.
fn orders([a, b, c]: [f64; 3]) -> [[f64; 3]; 6] {
    [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
}

#[test]
fn hinges_of_a_hanging_chain_carry_the_weights_below_them() {
    for masses in orders([1e-9, 1.0, 1e9]) {
        for method in METHODS {
            let mut text = format!(
                "[simulation]\n{method}\nend-time = 0.02\nstep = '1 ms'\n[gravity]\nacceleration = [0, -{GRAVITY}, 0]\n"
            );
            for (index, mass) in masses.iter().enumerate() {
                let (inertia, y) = (mass / 12.0, -(index as f64));
                let above = if index == 0 { "ground".to_owned() } else { format!("link-{}", index - 1) };
                text += &format!(
                    "[[body]]\nname = 'link-{index}'\nmass = {mass:e}\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\n\
                     position = [0, {}, 0]\n\
                     [[revolute]]\nname = 'hinge-{index}'\nbodies = ['{above}', 'link-{index}']\npoint = [0, {y}, 0]\naxis = [0, 0, 1]\n",
                    y - 0.5
                );
            }
            let run = simulate(&text);
            for index in 0..3 {
                let weight = GRAVITY * masses[index..].iter().sum::<f64>();
                let signal = format!("hinge-{index}.force.y");
                // Rounding of positions of 1 m, over h², is 1e-10 m/s² beside 10 m/s².
                let error = difference(&run, &signal, |_| weight) / weight;
                within(&format!("{method}, {masses:?}: {signal}"), error, 1e-9);
            }
        }
    }
}

#[test]
fn a_parallelogram_with_redundant_hinges_swings_whatever_its_masses() {
    let start = -0.25 * std::f64::consts::PI;
    let (x, y) = (start.cos(), start.sin());
    for masses in orders([1e-9, 1.0, 1e9]) {
        let [left, bar, right] = masses;
        let body = |name: &str, mass: f64, x: f64, y: f64| {
            let inertia = mass / 12.0;
            format!(
                "[[body]]\nname = '{name}'\nmass = {mass:e}\ninertia = [{inertia:e}, {inertia:e}, {inertia:e}]\nposition = [{x}, {y}, 0]\n"
            )
        };
        let hinge = |name: &str, bodies: [&str; 2], x: f64, y: f64| {
            format!(
                "[[revolute]]\nname = '{name}'\nbodies = {bodies:?}\npoint = [{x}, {y}, 0]\naxis = [0, 0, 1]\n"
            )
        };
        let text = [
            format!("[gravity]\nacceleration = [0, -{GRAVITY}, 0]\n"),
            body("left", left, 0.5 * x, 0.5 * y),
            body("bar", bar, x + 1.0, y),
            body("right", right, 2.0 + 0.5 * x, 0.5 * y),
            hinge("a", ["ground", "left"], 0.0, 0.0),
            hinge("b", ["left", "bar"], x, y),
            hinge("c", ["bar", "right"], 2.0 + x, y),
            hinge("d", ["ground", "right"], 2.0, 0.0),
        ]
        .concat();
        // One angle: (m₁/3 + m₂ + m₃/3) φ̈ = −g cos φ (m₁/2 + m₂ + m₃/2).
        let sum = left + bar + right;
        let inertia = (left / 3.0 + bar + right / 3.0) / sum;
        let moment = GRAVITY * (left / 2.0 + bar + right / 2.0) / sum;
        let rate = |angle: f64| -moment / inertia * angle.cos();
        let (mut angle, mut speed, h) = (start, 0.0, 1e-4);
        for _ in 0..4_000 {
            let k1 = [speed, rate(angle)];
            let k2 = [speed + 0.5 * h * k1[1], rate(angle + 0.5 * h * k1[0])];
            let k3 = [speed + 0.5 * h * k2[1], rate(angle + 0.5 * h * k2[0])];
            let k4 = [speed + h * k3[1], rate(angle + h * k3[0])];
            angle += h / 6.0 * (k1[0] + 2.0 * (k2[0] + k3[0]) + k4[0]);
            speed += h / 6.0 * (k1[1] + 2.0 * (k2[1] + k3[1]) + k4[1]);
        }
        for method in ["index3", "index2", "soi2"] {
            let run = simulate(&format!(
                "[simulation]\nmethod = '{method}'\nend-time = 0.4\nstep = '1 ms'\n{text}"
            ));
            let turned = crate::common::last(&run, "a.angle");
            // (ωh)² ωt/12 with ω ≈ 4 rad/s is 2e-6.
            within(&format!("{method}, {masses:?}"), (turned - (angle - start)).abs(), 5e-5);
        }
    }
}
