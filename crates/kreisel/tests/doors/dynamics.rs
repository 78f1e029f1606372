//! Machines as functions of the coordinates of their joints, against closed forms and against steppers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::machine::Machine;
use kreisel::part::MachineReader;
use kreisel::run::{Dynamics, DynamicsError, Evaluator, RunEnding, Stepper};
use std::sync::Arc;

const G: f64 = 9.80665;

fn dynamics_in(text: &str, coordinates: Option<&[&str]>) -> Dynamics {
    let names: Option<Vec<String>> =
        coordinates.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    Dynamics::new(MachineReader::new().led_text("model.toml", text, names.as_deref()).unwrap())
}

fn dynamics(text: &str) -> Dynamics {
    dynamics_in(text, None)
}

/// An evaluator at a state.
fn at<'d>(dynamics: &'d Dynamics, q: &[f64], v: &[f64]) -> Evaluator<'d> {
    let mut at = dynamics.evaluator();
    at.set_state(q, v).unwrap();
    at
}

/// The forces that hold a machine at rest.
fn holding(dynamics: &Dynamics, q: &[f64]) -> Vec<f64> {
    let rest = vec![0.0; q.len()];
    at(dynamics, q, &rest).inverse(&rest).unwrap().forces
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// A parallelogram of rockers of 1 m without mass on a base of 2 m, whose coupler of 3 kg stays level. Its four
/// hinges have parallel axes: three equations of the loop follow from the others.
const FOUR_BAR: &str = r#"
    [[body]]
    name = "left"
    mass = 1e-9
    inertia = [1e-9, 1e-9, 1e-9]
    position = [0, 0, 0.5]
    [[body]]
    name = "right"
    mass = 1e-9
    inertia = [1e-9, 1e-9, 1e-9]
    position = [2, 0, 0.5]
    [[body]]
    name = "coupler"
    mass = 3
    inertia = [0.1, 0.2, 0.1]
    position = [1, 0, 1]
    [[revolute]]
    name = "a"
    bodies = ["ground", "left"]
    point = [0, 0, 0]
    axis = [0, 1, 0]
    [[revolute]]
    name = "b"
    bodies = ["ground", "right"]
    point = [2, 0, 0]
    axis = [0, 1, 0]
    [[revolute]]
    name = "c"
    bodies = ["left", "coupler"]
    point = [0, 0, 1]
    axis = [0, 1, 0]
    [[revolute]]
    name = "d"
    bodies = ["right", "coupler"]
    point = [2, 0, 1]
    axis = [0, 1, 0]
"#;

#[test]
fn a_machine_with_redundant_loops_is_held_at_rest_and_without_acceleration() {
    // The coupler moves on a circle of 1 m without turning: a m − m g sin φ, whatever the rate.
    let four_bar = dynamics(FOUR_BAR);
    for angle in [0.0_f64, 0.4, -1.1, 2.0] {
        let expected = -3.0 * G * angle.sin();
        near(holding(&four_bar, &[angle])[0], expected, 1e-6);
        for rate in [0.8, -20.0] {
            let mut moving = at(&four_bar, &[angle], &[rate]);
            near(moving.inverse(&[0.0]).unwrap().forces[0], expected, 1e-5);
            near(moving.inverse(&[0.5]).unwrap().forces[0], expected + 1.5, 1e-5);
        }
    }
    // Without gravity nothing pulls at all.
    let floating = dynamics(&format!("{FOUR_BAR}\n[gravity]\nacceleration = [0, 0, 0]\n"));
    near(holding(&floating, &[0.4])[0], 0.0, 1e-9);
}

#[test]
fn accelerations_that_contradict_each_other_are_refused_however_small() {
    let both = dynamics_in(FOUR_BAR, Some(&["a", "b"]));
    let mut moving = at(&both, &[0.4, 0.4], &[0.8, 0.8]);
    near(moving.inverse(&[0.0, 0.0]).unwrap().forces.iter().sum(), -3.0 * G * 0.4_f64.sin(), 1e-5);
    for wrong in [[0.5, 1.0], [0.0, 1e-3], [1e-3, -1e-3]] {
        assert!(matches!(moving.inverse(&wrong), Err(DynamicsError::Contradiction(_))), "{wrong:?}");
    }
}

/// A wheel of 2 kg m² on a shaft with a spring, which an input turns.
const SPRUNG: &str = r#"
    [simulation]
    step = "1 ms"
    [gravity]
    acceleration = [0, 0, 0]
    [[input]]
    name = "motor"
    [[body]]
    name = "wheel"
    mass = 1
    inertia = [2, 2, 2]
    [[revolute]]
    name = "hinge"
    bodies = ["ground", "wheel"]
    point = [0, 0, 0]
    axis = [0, 0, 1]
    [[joint-force]]
    joint = "hinge"
    torque = "motor"
    [[torsional-spring-damper]]
    name = "spring"
    joint = "hinge"
    stiffness = 10
    damping = 0
"#;

#[test]
fn springs_count_full_turns() {
    let sprung = dynamics(SPRUNG);
    for angle in [3.0, std::f64::consts::PI, 4.0, -7.0, 40.0, 1000.5] {
        near(holding(&sprung, &[angle])[0], 10.0 * angle, 1e-9);
        let mut free = at(&sprung, &[angle], &[0.0]);
        near(free.forward(&[0.0]).unwrap()[0], -5.0 * angle, 1e-9);
        near(free.energies().strain + free.energies().potential, 5.0 * angle * angle, 1e-6);
    }
    // One state after the other is the same as each alone.
    let mut one = sprung.evaluator();
    for angle in [40.0, 0.1, -40.0] {
        one.set_state(&[angle], &[0.0]).unwrap();
        near(one.inverse(&[0.0]).unwrap().forces[0], 10.0 * angle, 1e-9);
    }
}

#[test]
fn a_stepper_beyond_half_a_turn_and_the_functions_agree() {
    let machine = Machine::from_text("sprung.toml", SPRUNG).unwrap();
    let mut stepper = Stepper::start(Arc::new(machine)).unwrap();
    stepper.set_input(0, 30.0);
    assert_eq!(stepper.advance_to(1.3, |_| true), RunEnding::Done);
    let (q, v) = (stepper.coordinates(), stepper.coordinate_rates());
    // θ = 3 (1 − cos √5 t).
    near(q[0], 3.0 * (1.0 - (5.0_f64.sqrt() * 1.3).cos()), 1e-4);
    assert!(q[0] > 4.0);
    let sprung = dynamics(SPRUNG);
    let mut here = sprung.evaluator();
    here.set_inputs(&[30.0]);
    here.set_state(&q, &v).unwrap();
    near(here.forward(&[0.0]).unwrap()[0], (30.0 - 10.0 * q[0]) / 2.0, 1e-9);
}

#[test]
fn turns_of_joints_that_follow_in_a_loop_are_counted() {
    let text = format!(
        "{FOUR_BAR}\n[[torsional-spring-damper]]\nname = 'spring'\njoint = 'b'\nstiffness = 10\ndamping = 0\n"
    );
    let four_bar = dynamics_in(&text, Some(&["a"]));
    for angle in [1.0_f64, 4.0, -8.0] {
        near(holding(&four_bar, &[angle])[0], 10.0 * angle - 3.0 * G * angle.sin(), 1e-5);
    }
}

/// Two wheels of 1 kg m² on parallel shafts; the second turns back fifty times as fast.
const GEARS: &str = r#"
    [gravity]
    acceleration = [0, 0, 0]
    [[body]]
    name = "slow"
    mass = 1
    inertia = [1, 1, 1]
    [[body]]
    name = "fast"
    mass = 1
    inertia = [1, 1, 1]
    position = [1, 0, 0]
    [[revolute]]
    name = "one"
    bodies = ["ground", "slow"]
    point = [0, 0, 0]
    axis = [0, 0, 1]
    [[revolute]]
    name = "two"
    bodies = ["ground", "fast"]
    point = [1, 0, 0]
    axis = [0, 0, 1]
    [[gear]]
    name = "gear"
    joints = ["one", "two"]
    ratio = -50
    [[torsional-spring-damper]]
    name = "spring"
    joint = "two"
    stiffness = 2
    damping = 0
"#;

#[test]
fn gears_are_followed_over_many_turns() {
    let gears = dynamics_in(GEARS, Some(&["one"]));
    for angle in [0.03, 0.5, 7.0, -4.0] {
        let mut at = at(&gears, &[angle], &[0.0]);
        // The spring's torque 2 · 50 φ pulls with a lever of 50.
        near(at.inverse(&[0.0]).unwrap().forces[0], 5000.0 * angle, 1e-6 * 5000.0);
        near(at.mass_matrix().unwrap()[(0, 0)], 1.0 + 2500.0, 1e-6);
    }
}

/// A sledge of 3 kg and 0.5 kg m² on a plane with a blade at its centre that does not slide sideways.
const SLEDGE: &str = r#"
    [[body]]
    name = "sledge"
    mass = 3
    inertia = [0.5, 0.5, 0.5]
    [[planar]]
    name = "ice"
    bodies = ["ground", "sledge"]
    point = [0, 0, 0]
    axis = [0, 0, 1]
    [[knife-edge]]
    name = "blade"
    bodies = ["ground", "sledge"]
    point = [0, 0, 0]
    x-axis = [1, 0, 0]
    axis = [0, 0, 1]
"#;

#[test]
fn positions_of_a_sledge_need_three_coordinates_and_its_rates_two() {
    let sledge = dynamics(SLEDGE);
    let names: Vec<&str> = sledge.led().coordinates().iter().map(|led| led.name.as_str()).collect();
    assert_eq!(names, ["ice.x", "ice.y", "ice.angle"]);
    // Two coordinates leave the third open.
    let names = ["ice.x".to_owned(), "ice.angle".to_owned()];
    let refused = MachineReader::new().led_text("sledge.toml", SLEDGE, Some(&names)).err().unwrap();
    assert!(refused.to_string().contains("1 more degree"), "{refused}");

    let (angle, speed, turning) = (0.7_f64, 2.0, -1.5);
    let (along, across) = ([angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]);
    let v = [speed * along[0], speed * along[1], turning];
    let mut at = at(&sledge, &[4.0, -3.0, angle], &v);
    // The blade alone turns the velocity: a = u ω across.
    let free = at.forward(&[0.0; 3]).unwrap();
    near(free[0], speed * turning * across[0], 1e-9);
    near(free[1], speed * turning * across[1], 1e-9);
    near(free[2], 0.0, 1e-9);
    // Speeding up by 0.4 m/s² and 0.3 rad/s². The smallest forces share what lies across with the blade.
    let a = [free[0] + 0.4 * along[0], free[1] + 0.4 * along[1], 0.3];
    let forces = at.inverse(&a).unwrap().forces;
    near(forces[0] * along[0] + forces[1] * along[1], 3.0 * 0.4, 1e-6);
    near(forces[0] * across[0] + forces[1] * across[1], 0.5 * 3.0 * speed * turning, 1e-5);
    near(forces[2], 0.5 * 0.3, 1e-6);
    let refused = at.mass_matrix().unwrap_err();
    assert!(refused.to_string().contains("rates"), "{refused}");
    // Sideways it does not go.
    let sideways = sledge.evaluator().set_state(&[4.0, -3.0, angle], &[across[0], across[1], 0.0]);
    assert!(matches!(sideways, Err(DynamicsError::Contradiction("rates"))), "{sideways:?}");
}

#[test]
fn initial_coordinates_choose_where_functions_begin() {
    // Nearly three radians from the drawing the machine begins, and is followed from there.
    let reader = MachineReader::new().with_initial(&[("a".to_owned(), 3.0)]);
    let four_bar = Dynamics::new(reader.led_text("four.toml", FOUR_BAR, None).unwrap());
    let begun = four_bar.led().machine().initial().configuration.clone();
    let drawn = dynamics(FOUR_BAR).led().machine().initial().configuration.clone();
    assert_ne!(begun, drawn);
    // The left rocker stands at (sin 3)/2, (cos 3)/2.
    near(begun[4], 0.5 * 3.0_f64.sin(), 1e-9);
    near(holding(&four_bar, &[3.0])[0], -3.0 * G * 3.0_f64.sin(), 1e-5);
}

#[test]
fn a_chain_of_hundreds_of_hinges_is_independent() {
    let mut text = String::new();
    for link in 0..700 {
        let (before, end) =
            if link == 0 { ("ground".to_owned(), 0) } else { (format!("link-{}", link - 1), link) };
        text += &format!(
            "[[body]]\nname = 'link-{link}'\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [{link}.5, 0, 0]\n\
             [[revolute]]\nname = 'hinge-{link}'\nbodies = ['{before}', 'link-{link}']\npoint = [{end}, 0, 0]\n\
             axis = [0, 1, 0]\n"
        );
    }
    let chain = dynamics(&text);
    assert_eq!(chain.count(), 700);
    assert!(chain.is_independent());
}

#[test]
fn screws_turn_on_and_on() {
    let screw = SPRUNG
        .replace("[[revolute]]", "[[screw]]\n    lead = 0.1")
        .replace("joint = \"hinge\"\n    stiffness", "joint = \"hinge.angle\"\n    stiffness")
        .replace("[[joint-force]]\n    joint = \"hinge\"", "[[joint-force]]\n    joint = \"hinge.angle\"");
    let advance = 0.1 / std::f64::consts::TAU;
    for coordinate in ["hinge.angle", "hinge.displacement"] {
        let screw = dynamics_in(&screw, Some(&[coordinate]));
        let wheel = screw.frame("wheel").unwrap();
        for angle in [0.5, 4.0, -20.0] {
            let (q, lever) = match coordinate {
                "hinge.angle" => (angle, 1.0),
                _ => (advance * angle, 1.0 / advance),
            };
            let mut at = at(&screw, &[q], &[0.0]);
            near(at.frame_motion(&wheel).pose.position.z, advance * angle, 1e-9);
            near(at.inverse(&[0.0]).unwrap().forces[0] / lever, 10.0 * angle, 1e-7);
        }
    }
}

#[test]
fn what_cannot_be_answered_is_said_in_words() {
    let sprung = dynamics(SPRUNG);
    let refused = sprung.evaluator().set_state(&[1e7], &[0.0]).unwrap_err();
    assert!(refused.to_string().contains("full turns"), "{refused}");
    let refused = sprung.evaluator().set_state(&[f64::NAN], &[0.0]).unwrap_err();
    assert!(matches!(refused, DynamicsError::NotFinite { .. }), "{refused}");
    let DynamicsError::Frame(unknown) = sprung.frame("whel").unwrap_err() else { panic!("another error") };
    assert_eq!(unknown.name, "whel");
    assert!(unknown.to_string().contains("there is no body `whel`"), "{unknown}");
    assert!(unknown.to_string().contains("`wheel`"), "{unknown}");
    // What still moves is named.
    let text = format!("{FOUR_BAR}\n[[body]]\nname = 'stone'\nmass = 1\ninertia = [1, 1, 1]\n");
    let refused = MachineReader::new().led_text("stone.toml", &text, None).err().unwrap().to_string();
    assert!(refused.contains("6 more degrees of freedom, in which `stone` can move"), "{refused}");
    let refused = MachineReader::new().led_text("four.toml", FOUR_BAR, Some(&[])).err().unwrap().to_string();
    assert!(refused.contains("1 more degree") && refused.contains("`coupler`"), "{refused}");
}
