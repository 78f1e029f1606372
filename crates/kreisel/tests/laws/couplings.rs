//! Sums of coordinates of many bodies, whose equation is assembled in parts.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::fmt::Write;

use kreisel::dae::{Dae, Point};
use kreisel::machine::Mobility;

use crate::common::{column, difference, read, within};
use crate::system::check_derivatives;

/// Factor c, mass or inertia m, and force or torque F of four slides and four wheels.
const COORDINATES: [[f64; 3]; 8] = [
    [1.0, 2.0, 3.0],
    [-0.5, 1.0, 0.0],
    [2.0, 0.7, -1.0],
    [0.3, 1.5, 2.0],
    [-1.0, 0.2, 5.0],
    [0.7, 0.4, 0.0],
    [0.25, 0.1, 1.0],
    [-1.5, 0.3, -2.0],
];

fn name(index: usize) -> String {
    if index < 4 { format!("slide-{index}.displacement") } else { format!("wheel-{index}.angle") }
}

/// Slides along x and wheels about z, each on the ground, that one sum holds together.
fn slides_and_wheels(simulation: &str) -> String {
    let mut text = format!(
        "[simulation]\nend-time = 2\nstep = 0.01\n{simulation}\n[gravity]\nacceleration = [0, 0, 0]\n"
    );
    for (index, [_, mass, force]) in COORDINATES.iter().enumerate() {
        let slides = index < 4;
        let (mass, inertia) = if slides { (*mass, 1.0) } else { (1.0, *mass) };
        write!(text, "[[body]]\nname = 'body-{index}'\nmass = {mass}\ninertia = [1, 1, {inertia}]\nposition = [{index}, 0, 0]\n").unwrap();
        let (kind, word, axis) =
            if slides { ("prismatic", "slide", "[1, 0, 0]") } else { ("revolute", "wheel", "[0, 0, 1]") };
        write!(
            text,
            "[[{kind}]]\nname = '{word}-{index}'\nbodies = ['ground', 'body-{index}']\naxis = {axis}\n"
        )
        .unwrap();
        if !slides {
            writeln!(text, "point = [{index}, 0, 0]").unwrap();
        }
        let load =
            if slides { format!("force = [{force}, 0, 0]") } else { format!("torque = [0, 0, {force}]") };
        write!(text, "[[force]]\nname = 'load-{index}'\nbody = 'body-{index}'\n{load}\n").unwrap();
    }
    let names: Vec<String> = (0..8).map(|index| format!("'{}'", name(index))).collect();
    let factors = COORDINATES.map(|[factor, ..]| factor);
    write!(text, "[[coupling]]\nname = 'sum'\njoints = [{}]\nfactors = {factors:?}\n", names.join(", "))
        .unwrap();
    text
}

#[test]
fn a_sum_over_eight_bodies_moves_them_as_its_multiplier_says() {
    // m x″ = F − c λ with Σ c x″ = 0.
    let sum = |of: fn(f64, f64, f64) -> f64| COORDINATES.iter().map(|&[c, m, f]| of(c, m, f)).sum::<f64>();
    let lambda = sum(|c, m, f| c * f / m) / sum(|c, m, _| c * c / m);
    for method in ["index2", "index3", "soi2", "hht-i3"] {
        let machine = read(&slides_and_wheels(&format!("method = '{method}'"))).unwrap();
        let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
        assert_eq!(mobility.degrees_of_freedom(), 7);
        let run = machine.simulate().unwrap();
        for (index, [c, m, f]) in COORDINATES.into_iter().enumerate() {
            let acceleration = (f - c * lambda) / m;
            // Constant accelerations are integrated exactly: Newton's tolerance over 200 steps, on up to 30
            // rad.
            within(&name(index), difference(&run, &name(index), |t| 0.5 * acceleration * t * t), 1e-8);
        }
        // The reaction on the first slide, with the same tolerance divided by h².
        within("reaction", difference(&run, "sum.force.x", |_| -COORDINATES[0][0] * lambda), 1e-4);
        // Rounding of a sum of numbers up to 30.
        within("violation", difference(&run, "constraint.position", |_| 0.0), 1e-12);
    }
    let turns = column(&read(&slides_and_wheels("")).unwrap().simulate().unwrap(), &name(4)).last().copied();
    assert!(turns.unwrap().abs() > 4.0 * std::f64::consts::TAU, "{turns:?}");
}

#[test]
fn a_sum_over_eight_bodies_can_be_switched_off() {
    let machine = read(&slides_and_wheels("off-at-start = ['sum']")).unwrap();
    let run = machine.simulate().unwrap();
    for (index, [_, m, f]) in COORDINATES.into_iter().enumerate() {
        // As above.
        within(&name(index), difference(&run, &name(index), |t| 0.5 * f / m * t * t), 1e-8);
    }
}

/// A chain of eight bodies, each on the one before, and a sum of all coordinates: its parts share bodies.
#[test]
fn the_derivatives_of_a_sum_along_a_chain_are_those_of_its_equation() {
    let joints = ["revolute", "prismatic", "cylindrical"];
    for group in ["se3", "so3xr3"] {
        let mut text = format!("[simulation]\nend-time = 1\ngroup = '{group}'\n");
        let mut names = Vec::new();
        for index in 0..8 {
            let kind = joints[index % 3];
            let before = if index == 0 { "ground".to_string() } else { format!("body-{}", index - 1) };
            write!(
                text,
                "[[body]]\nname = 'body-{index}'\nmass = 1\ninertia = [0.1, 0.2, 0.25]\nposition = [{index}, 0.3, 0.1]\n\
                 orientation = {{ axis = [1, {index}, 3], angle = 0.4 }}\n\
                 [[{kind}]]\nname = 'joint-{index}'\nbodies = ['{before}', 'body-{index}']\naxis = [0.3, {index}, 1]\n"
            )
            .unwrap();
            if kind != "prismatic" {
                writeln!(text, "point = [{index}, 0, 0.2]").unwrap();
            }
            let word = if kind == "prismatic" { "displacement" } else { "angle" };
            names.push(format!("'joint-{index}.{word}'"));
        }
        write!(
            text,
            "[[coupling]]\nname = 'sum'\njoints = [{}]\nfactors = [1, -0.5, 2, 0.3, -1, 0.7, 0.25, -1.5]\n",
            names.join(", ")
        )
        .unwrap();
        let machine = read(&text).unwrap();
        let (system, shape) = (machine.system(), machine.system().shape());
        let numbers =
            |count: usize, phase: f64| -> Vec<f64> { (0..count).map(|i| (phase + i as f64).sin()).collect() };
        let (velocity, acceleration) = (numbers(48, 0.3), numbers(48, 1.0));
        let at = Point {
            time: 0.0,
            configuration: &machine.initial().configuration,
            velocity: &velocity,
            acceleration: &acceleration,
            multipliers: &numbers(shape.constraint_count(), 2.0),
            nonholonomic_multipliers: &[],
            internal_states: &[],
            memory: &vec![0.0; shape.memory],
        };
        check_derivatives(group, system, &at, 1.0);
    }
}
