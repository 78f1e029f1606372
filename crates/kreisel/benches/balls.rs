//! A thousand balls that fall into a box (`models/settling-balls.toml`), beside `benches/mujoco_balls.py`: the time of
//! an attempted step in each fortieth of a second, so that both have as many contacts.
//!
//! With steps by the error, as the model has them, and with equal steps of 0.5 ms, which are those of MuJoCo. Nobody knows
//! the error: a pile soon forgets how it began.

mod measure;

use std::io::{self, Write};
use std::path::Path;

use kreisel::integrate::{INDEX2, Integrator, Statistics};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use measure::{Measurement, Stopwatch, asked};

/// Parts of the motion, each a fortieth of a second.
const PARTS: usize = 6;
const STEP: f64 = 5e-4;

fn main() {
    let settings = SettingTexts::default().with("end-time", PARTS as f64 / 40.0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/settling-balls.toml");
    let reader = MachineReader::new().with_parameters(&[("n", "1000")]).with_settings(&settings);
    let balls = reader.read(&path).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let by_error = balls.plan().expect("the settings are complete").integration;
    for (program, integrator) in [
        ("kreisel", Some(Integrator::with(by_error))),
        ("kreisel, equal steps", Integrator::new(INDEX2, 0.9, STEP).ok()),
    ] {
        if asked("falling-balls", program) {
            fall(&balls, program, &integrator.expect("the parameters are in range"));
        }
    }
}

fn fall(balls: &Machine, program: &str, integrator: &Integrator) {
    let attempts = |work: &Statistics| work.steps + work.rejections + work.failures;
    let started = integrator.start(balls.system(), balls.initial().clone());
    let mut run = started.expect("the initial values are consistent");
    for part in 1..=PARTS {
        let before = run.statistics();
        let time = part as f64 / 40.0;
        measure::report(&format!("falling-balls-1000-{:.3}", time), program, 1, || {
            let clock = Stopwatch::start();
            run.advance(time).expect("every step converges");
            let (seconds, work) = (clock.seconds(), run.statistics());
            let steps = (attempts(&work) - attempts(&before)) as usize;
            Measurement { seconds, steps, error: f64::NAN, work }
        });
        let contact = balls.system().group_contact("pile", &run.values().point());
        let words =
            format!("{} pairs, {} contacts, {:?}\n", contact.pairs, contact.touching, run.statistics());
        let _ = io::stderr().write_all(words.as_bytes());
    }
}
