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

/// The wheel where nothing is recorded unasked.
fn silent(text: &str) -> String {
    text.replace("[simulation]", "[simulation]\n    default-sensors = false")
}

#[test]
fn coordinates_count_turns_whether_they_are_recorded_or_not() {
    let (mut recorded, mut silent) = (stepper(WHEEL), stepper(&silent(WHEEL)));
    assert!(recorded.signal("shaft.angle").is_some() && silent.signal("shaft.angle").is_none());
    for stepper in [&mut recorded, &mut silent] {
        let half_way = {
            advance(stepper, 3.0);
            stepper.state()
        };
        advance(stepper, 6.0);
        // 4 Nm on 2 kg m²: ½ · 2 · 36 rad.
        assert!((stepper.coordinates()[0] - 36.0).abs() < 1e-9, "{:?}", stepper.coordinates());
        stepper.set_state(&half_way).unwrap();
        assert!((stepper.coordinates()[0] - 9.0).abs() < 1e-9, "{:?}", stepper.coordinates());
        let mut other = stepper.another().unwrap();
        advance(&mut other, 6.0);
        assert!((other.coordinates()[0] - 36.0).abs() < 1e-9, "{:?}", other.coordinates());
        stepper.reset().unwrap();
        assert_eq!(stepper.coordinates(), [0.0]);
    }
    // A step may turn a joint by several turns.
    let fast = silent_start("rate = 1000");
    assert!((fast - 1000.0 * 0.1).abs() < 1e-9, "{fast}");
}

/// Angle after 0.1 s of the silent wheel without its torques.
fn silent_start(joint: &str) -> f64 {
    let text = silent(WHEEL).replace("value = 1", "value = 0").replace(
        "bodies = [\"ground\", \"wheel\"]\n",
        &format!("bodies = [\"ground\", \"wheel\"]\n    {joint}\n"),
    );
    let mut stepper = stepper(&text);
    advance(&mut stepper, 0.1);
    stepper.coordinates()[0]
}

#[test]
fn states_belong_to_one_group_and_one_set_of_records() {
    let with = |line: &str| stepper(&WHEEL.replace("[simulation]", &format!("[simulation]\n    {line}")));
    // One source for all: settings are laid over it.
    let laid = |key: &str, value: &str| {
        let machine = MachineReader::new().with_setting(key, value).text("wheel.toml", WHEEL).unwrap();
        Stepper::start(Arc::new(machine)).unwrap()
    };
    let state = laid("group", "se3").state();
    for (key, value) in [("group", "so3xr3"), ("default-sensors", "false"), ("step", "5 ms")] {
        let refused = laid(key, value).set_state(&state).unwrap_err();
        assert!(refused.to_string().contains("another setting"), "{key}: {refused}");
    }
    laid("group", "se3").set_state(&state).unwrap();
    let refused = with("group = \"se3\"").set_state(&state).unwrap_err();
    assert!(refused.to_string().contains("another model"), "{refused}");
    // Where a machine starts does not matter.
    let elsewhere =
        MachineReader::new().with_initial(&[("shaft", 0.5)].map(|(name, at)| (name.to_owned(), at)));
    let mut elsewhere = Stepper::start(Arc::new(elsewhere.text("wheel.toml", WHEEL).unwrap())).unwrap();
    elsewhere.set_state(&stepper(WHEEL).state()).unwrap();
    assert_eq!(elsewhere.coordinates(), [0.0]);
}

/// The wheel with its shaft as another joint, started from outside.
fn started(joint: &str, initial: &[(&str, &str)]) -> Result<Vec<f64>, String> {
    let text = WHEEL
        .replace("[[revolute]]", joint)
        .replace("torque = \"3*motor + 0*shaft.angle\"", "torque = \"3*motor\"");
    let initial: Vec<(String, String)> =
        initial.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let machine = MachineReader::new().with_initial(&initial).text("wheel.toml", &text);
    let machine = machine.map_err(|errors| errors.render(false))?;
    Ok(Stepper::start(Arc::new(machine)).map_err(|error| error.to_string())?.coordinates())
}

#[test]
fn starts_from_outside_are_checked_like_those_of_the_model() {
    for wrong in ["4", "-3.2", "200 deg"] {
        let refused = started("[[revolute]]", &[("shaft", wrong)]).unwrap_err();
        assert!(refused.contains("half a turn"), "{refused}");
    }
    assert_eq!(started("[[revolute]]", &[("shaft", "1.25")]).unwrap(), [1.25]);
    assert!(
        (started("[[revolute]]", &[("shaft", "30 deg")]).unwrap()[0] - 30_f64.to_radians()).abs() < 1e-15
    );
    for (wrong, word) in [("NaN", "finite"), ("inf", "finite"), ("30 mm", "mm"), ("", "empty"), ("x", "`x`")]
    {
        let refused = started("[[revolute]]", &[("shaft", wrong)]).unwrap_err();
        assert!(refused.contains(word) && refused.contains("initial"), "{wrong}: {refused}");
    }
    let refused = started("[[revolute]]", &[("shaft", "0.3"), ("shaft.angle", "0.4")]).unwrap_err();
    assert!(refused.contains("once"), "{refused}");
    let refused = started("[[revolute]]", &[("shaft.rate", "0.3"), ("shaft.angle-rate", "0.4")]).unwrap_err();
    assert!(refused.contains("once"), "{refused}");
    started("[[revolute]]", &[("shaft", "0.3"), ("shaft.rate", "0.4")]).unwrap();
}

#[test]
fn screws_and_rods_start_from_outside_as_in_the_model() {
    let screw = "[[screw]]\n    lead = 0.1";
    let near = |found: Vec<f64>, angle: f64| {
        let expected = [angle, 0.1 * angle / std::f64::consts::TAU];
        found.iter().zip(expected).for_each(|(found, expected)| assert!((found - expected).abs() < 1e-12));
    };
    near(started(screw, &[("shaft.angle", "0.5")]).unwrap(), 0.5);
    near(started(screw, &[("shaft.displacement", "0.025")]).unwrap(), std::f64::consts::FRAC_PI_2);
    // In place of what the model says of either.
    for model in ["angle = 1", "displacement = \"20 mm\""] {
        near(started(&format!("{screw}\n    {model}"), &[("shaft.angle", "0.5")]).unwrap(), 0.5);
    }
    let refused = started(screw, &[("shaft.displacement", "0.08")]).unwrap_err();
    assert!(refused.contains("half a turn of the screw"), "{refused}");
    let refused = started(screw, &[("shaft.angle", "0.5"), ("shaft.displacement", "0.02")]).unwrap_err();
    assert!(refused.contains("follows from the angle"), "{refused}");
    let rod = "[[distance]]\n    points = [[1, 0, 0], [0, 0, 0]]\n";
    let text = WHEEL.replace("[[revolute]]", rod).replace("point = [0, 0, 0]\n", "\n");
    let text =
        text.replace("[[joint-force]]\n    joint = \"shaft\"\n    torque = \"3*motor + 0*shaft.angle\"", "");
    let machine = MachineReader::new().with_initial(&[("shaft.length".to_owned(), 2.0)]);
    let refused = machine.text("rod.toml", &text).err().unwrap().render(false);
    assert!(refused.contains("shaft.length") && refused.contains("keeps itself"), "{refused}");
}
