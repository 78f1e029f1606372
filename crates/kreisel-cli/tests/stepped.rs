//! Machines stepped from outside, with an input that jumps: the same program gives the same bits again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::integrate::SCHEMES;
use kreisel::machine::Machine;
use kreisel::run::Stepper;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Model, the body that an input turns, and the distance of times at which signals are read, in s: no
/// multiple of the step.
const EVERY_METHOD: [(&str, &str, f64); 2] = [("heavy-top", "top", 0.0017), ("four-bar", "crank", 0.0033)];

/// The same with the model's own method: contact with a step by error, events, states, friction, a beam.
const OWN_METHOD: [(&str, &str, f64); 5] = [
    ("bouncing-ball", "ball", 0.011),
    ("latch", "flap", 0.019),
    ("dc-motor-crank", "rod", 0.007),
    ("slipping-ball", "ball", 0.013),
    ("flying-beam", "beam.node-1", 0.05),
];

const READINGS: usize = 50;

/// The model with an input, and with another method.
fn text(model: &str, body: &str, method: Option<&str>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    let mut text = fs::read_to_string(path).unwrap();
    if let Some(method) = method {
        // `updated-lagrangian` refuses SE(3), the others take either group; `symplectic` needs steps of one
        // size.
        let given = ["method =", "group =", "step ="];
        let own = |line: &&str| !given.iter().any(|key| line.starts_with(key));
        let settings = format!("[simulation]\nmethod = \"{method}\"\ngroup = \"so3xr3\"\nstep = \"0.5 ms\"");
        text = text.lines().filter(own).collect::<Vec<_>>().join("\n").replace("[simulation]", &settings);
    }
    format!(
        "{text}\n[[input]]\nname = \"push\"\nvalue = 0.1\n[[force]]\nname = \"pushed\"\nbody = \"{body}\"\n\
         torque = [0, 0, \"push\"]\n"
    )
}

/// All signals at all times, and how it ended if that was early.
fn table(model: &str, body: &str, method: Option<&str>, distance: f64) -> String {
    let machine = Machine::from_text("model.toml", &text(model, body, method)).unwrap();
    let mut stepper = match Stepper::start(Arc::new(machine)) {
        Ok(stepper) => stepper,
        Err(error) => return format!("{error}\n"),
    };
    let channels = stepper.channels();
    let signals: Vec<_> = channels.iter().map(|channel| stepper.signal(&channel.name).unwrap()).collect();
    let names: Vec<String> = channels.iter().map(ToString::to_string).collect();
    let mut table = format!("time [s],{}\n", names.join(","));
    let push = stepper.input("push").unwrap();
    for reading in 1..=READINGS {
        // The input jumps twice, and once to the value that it has.
        if reading.is_multiple_of(READINGS / 4) {
            stepper.set_input(push, if reading < READINGS / 2 { -0.2 } else { 0.3 });
        }
        let ending = stepper.advance_to(distance * reading as f64, |_| true);
        let values: Vec<String> = signals.iter().map(|&signal| stepper.value(signal).to_string()).collect();
        table += &format!("{},{}\n", stepper.time(), values.join(","));
        if format!("{ending:?}") != "Done" {
            return format!("{table}{ending:?}\n");
        }
    }
    table
}

#[test]
fn stepped_machines_give_the_same_bits_again() {
    let every =
        EVERY_METHOD.iter().flat_map(|case| SCHEMES.iter().map(move |method| (case, Some(method.word()))));
    let own = OWN_METHOD.iter().map(|case| (case, None));
    let mut complete = 0;
    for (&(model, body, distance), method) in every.chain(own) {
        let first = table(model, body, method, distance);
        assert!(first == table(model, body, method, distance), "{model} {method:?}");
        complete += usize::from(first.lines().count() == READINGS + 1);
    }
    assert_eq!(complete, EVERY_METHOD.len() * SCHEMES.len() + OWN_METHOD.len(), "all run to their end");
}
