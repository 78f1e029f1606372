//! Machines stepped from outside: inputs, functions given from outside, signals, corners.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::element::SignalFunction;
use kreisel::machine::{Functions, Machine};
use kreisel::part::MachineReader;
use kreisel::run::{RunEnding, Stepper};
use std::sync::Arc;

/// A wheel of 2 kg m² on a shaft with two torques, both of the same input.
const WHEEL: &str = r#"
    [simulation]
    step = "10 ms"
    [gravity]
    acceleration = [0, 0, 0]
    [[input]]
    name = "motor"
    value = 1
    [[body]]
    name = "wheel"
    mass = 1
    inertia = [2, 2, 2]
    [[revolute]]
    name = "shaft"
    bodies = ["ground", "wheel"]
    point = [0, 0, 0]
    [[joint-force]]
    joint = "shaft"
    torque = "3*motor + 0*shaft.angle"
    [[force]]
    body = "wheel"
    torque = [0, 0, "motor"]
"#;

fn stepper(text: &str) -> Stepper {
    Stepper::start(Arc::new(Machine::from_text("wheel.toml", text).unwrap())).unwrap()
}

fn advance(stepper: &mut Stepper, until: f64) {
    assert_eq!(stepper.advance_to(until, |_| true), RunEnding::Done);
}

fn value(stepper: &mut Stepper, name: &str) -> f64 {
    let signal = stepper.signal(name).unwrap();
    stepper.value(signal)
}

#[test]
fn an_input_acts_on_every_force_that_uses_it_from_the_moment_it_is_set() {
    let mut stepper = stepper(WHEEL);
    let motor = stepper.input("motor").unwrap();
    // 4 Nm of the initial value for half a second, then −8 Nm for a quarter, on 2 kg m².
    advance(&mut stepper, 0.5);
    assert!((value(&mut stepper, "shaft.rate") - 1.0).abs() < 1e-12);
    stepper.set_input(motor, -2.0);
    assert_eq!(stepper.input_value(motor), -2.0);
    advance(&mut stepper, 0.75);
    assert!(value(&mut stepper, "shaft.rate").abs() < 1e-12);
    // Two parabolas: ½ · 1 · ½ and ½ · 1 · ¼.
    assert!((value(&mut stepper, "shaft.angle") - 0.375).abs() < 1e-12);
    // What the torques did is in the wheel, and the energies balance: 4 · 0.25 − 8 · 0.125 = 0.
    assert!(value(&mut stepper, "energy.balance").abs() < 1e-9);
    assert!(value(&mut stepper, "energy.work").abs() < 1e-9);
}

#[test]
fn setting_the_same_value_again_changes_nothing() {
    let (mut first, mut second) = (stepper(WHEEL), stepper(WHEEL));
    for step in 1..20 {
        let until = 0.01 * f64::from(step);
        second.set_input(0, 1.0);
        advance(&mut first, until);
        advance(&mut second, until);
    }
    assert_eq!(value(&mut first, "shaft.angle"), value(&mut second, "shaft.angle"));
}

#[test]
fn a_stepped_machine_passes_the_states_of_a_run() {
    let text = format!("{}\n[[event]]\nname = \"turn\"\nzero-of = \"shaft.angle - 0.3\"\n", WHEEL);
    let text = text.replace("step = \"10 ms\"", "step = \"10 ms\"\nend-time = 1");
    let machine = Machine::from_text("wheel.toml", &text).unwrap();
    let run = machine.simulate().unwrap();
    let mut stepper = stepper(&text);
    for &time in &run.times {
        advance(&mut stepper, time);
    }
    let expected = *run.signal("shaft.angle").unwrap().last().unwrap();
    // Steps that land on a time differ from the usual one by rounding, ε/h of a step.
    assert!((value(&mut stepper, "shaft.angle") - expected).abs() < 1e-9);
    assert_eq!(stepper.events().len(), 1);
}

#[test]
fn times_before_now_and_endless_ones_are_refused_and_nothing_moves() {
    let mut stepper = stepper(WHEEL);
    advance(&mut stepper, 0.1);
    for time in [0.05, f64::NAN, f64::INFINITY] {
        assert!(matches!(stepper.advance_to(time, |_| true), RunEnding::Failed(_)), "{time}");
    }
    assert_eq!(stepper.time(), 0.1);
    assert_eq!(stepper.advance_to(0.2, |_| false), RunEnding::Stopped);
    // Roundings of sums of steps.
    assert!((stepper.time() - 0.11).abs() < 1e-12);
}

/// −k x and its derivative.
#[derive(Debug)]
struct Spring(f64);

impl SignalFunction for Spring {
    fn evaluate(&self, _: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        slopes[0] = -self.0;
        -self.0 * signals[0]
    }
}

const OSCILLATOR: &str = r#"
    [simulation]
    end-time = 1
    step = "1 ms"
    [gravity]
    acceleration = [0, 0, 0]
    [[point-mass]]
    name = "mass"
    mass = 2
    position = [1, 0, 0]
    [[function]]
    name = "pull"
    arguments = ["mass.position.x", "t"]
    [[force]]
    body = "mass"
    force = ["2*pull", 0, 0]
"#;

fn oscillator(functions: Functions) -> Result<Machine, String> {
    let reader = MachineReader::new().with_functions(functions);
    reader.text("oscillator.toml", OSCILLATOR).map_err(|errors| errors.render(false))
}

#[test]
fn a_function_from_outside_is_a_force_with_its_derivatives() {
    let spring: Arc<dyn SignalFunction> = Arc::new(Spring(25.0));
    let machine = oscillator(Functions::from([("pull".to_string(), spring)])).unwrap();
    let run = machine.simulate().unwrap();
    // 2 ẍ = −50 x: x = cos 5 t, to second order in h ω = 5e-3.
    let last = *run.signal("mass.position.x").unwrap().last().unwrap();
    assert!((last - 5.0_f64.cos()).abs() < 1e-4, "{last}");
}

#[test]
fn a_model_without_its_function_says_who_gives_it() {
    let message = oscillator(Functions::new()).err().unwrap();
    assert!(message.contains("oscillator.toml:11:"), "{message}");
    assert!(message.contains("given by the program that runs the model"), "{message}");
}

#[test]
fn names_that_mean_something_else_are_refused() {
    for (name, more) in [("t", ""), ("pi", ""), ("length", "[parameters]\nlength = 1\n")] {
        let text = format!("{more}[[input]]\nname = \"{name}\"\n[[body]]\nmass = 1\ninertia = [1, 1, 1]\n");
        let errors = Machine::from_text("x.toml", &text).err().unwrap();
        assert!(errors.to_string().contains("already has a meaning"), "{errors}");
    }
}
