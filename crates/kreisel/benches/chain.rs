//! The chains of `models/` with h = 1e-3 s, as the peers' scripts in `benches/` run them.
//!
//! The error is that of the tip at the end, against a solution in joint angles with a method of high order.
//! Where the peer's error is another one at the same step, `index3` takes other steps for the same error, and
//! its time is that of the peer's step. The clock runs during the steps alone. Arguments that are no flags
//! name benchmarks.

mod measure;

use std::path::Path;

use kreisel::integrate::{INDEX2, INDEX3, Integrator, Parameters, Settings};
use kreisel::lie::{Vector3, pose};
use measure::{Measurement, Stopwatch, asked, machine};

/// Step of the peers.
const STEP: f64 = 1e-3;
const HALF_A_LINK: f64 = 0.05;
/// Joint, links, and number of steps of the peers and of `index3` for the same error: the long chains are cut
/// short, as with the peers.
const CASES: [(&str, usize, [usize; 2]); 7] = [
    ("spherical", 10, [1000, 860]),
    ("spherical", 100, [1000, 1110]),
    ("spherical", 1000, [100; 2]),
    ("spherical", 4000, [20; 2]),
    ("revolute", 100, [1000, 1110]),
    ("revolute", 1000, [100; 2]),
    ("revolute", 10_000, [20; 2]),
];

fn main() {
    let runs = measure::runs();
    let exact = reference();
    for (joint, count, [steps, own_steps]) in CASES {
        let benchmark = format!("chain-{joint}-{count}");
        let exact = exact.get(format!("{joint}-{count}")).unwrap_or(&serde_json::Value::Null);
        // Nobody knows where ten thousand joint angles lead.
        let exact = Vector3::from_fn(|axis, _| exact[axis].as_f64().unwrap_or(f64::NAN));
        for (program, method) in [("kreisel", INDEX3), ("kreisel index2", INDEX2)] {
            if !asked(&benchmark, program) {
                continue;
            }
            let parameters = Parameters::chung_hulbert(0.9).expect("0.9 is a spectral radius");
            let own_steps = if method == INDEX3 { own_steps } else { steps };
            let settings = Settings::new(method, parameters, STEP * steps as f64 / own_steps as f64);
            let repetition = || {
                let mut measured = repetition(joint, count, own_steps, settings, &exact);
                measured.steps = steps;
                measured
            };
            measure::report(&benchmark, program, runs, repetition);
        }
    }
}

fn reference() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/chain_reference.json");
    let text = std::fs::read_to_string(path).expect("the reference stands beside the scripts");
    serde_json::from_str(&text).expect("the reference is JSON")
}

fn repetition(joint: &str, count: usize, steps: usize, settings: Settings, exact: &Vector3) -> Measurement {
    let chain = machine(&format!("chain-{joint}"), &[("n", &count.to_string())]);
    let mut run = Integrator::with(settings)
        .start(chain.system(), chain.initial().clone())
        .expect("the initial values are consistent");
    let clock = Stopwatch::start();
    for _ in 0..steps {
        run.step().expect("the benchmark converges in every step");
    }
    let seconds = clock.seconds();
    let configuration = &run.values().configuration;
    let last = pose(&configuration[configuration.len() - 7..]);
    let error = (last.transform_point(&Vector3::new(HALF_A_LINK, 0.0, 0.0)) - exact).norm();
    Measurement { seconds, steps, error, work: run.statistics() }
}
