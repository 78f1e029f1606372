//! The heavy top on SO(3)×R³ with h = 1e-4 s over 1 s, as the peers' scripts in `benches/` run it.
//!
//! The error is that of the position at t = 1 s. The clock runs during the steps alone.

mod measure;

use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method};
use kreisel::lie::{Group, Vector3, vector3};
use kreisel_papers::problem::HeavyTop;
use measure::{Measurement, Stopwatch};

const STEP: f64 = 1e-4;
const STEPS: usize = 10_000;

fn main() {
    let runs = measure::runs();
    let exact = HeavyTop::new(Group::So3xR3).reference(&[STEP * STEPS as f64])[0].position;
    measure::report("heavy-top", "kreisel", runs, || repetition(INDEX3, &exact));
    measure::report("heavy-top", "kreisel index2", runs, || repetition(INDEX2, &exact));
}

fn repetition(method: Method, exact: &Vector3) -> Measurement {
    let top = HeavyTop::new(Group::So3xR3);
    let method = Integrator::new(method, 0.9, STEP).expect("the parameters are in range");
    let mut run = method.start(&top, top.initial()).expect("the initial values are consistent");
    let clock = Stopwatch::start();
    for _ in 0..STEPS {
        run.step().expect("the benchmark converges in every step");
    }
    let seconds = clock.seconds();
    let error = (vector3(&run.values().configuration[4..]) - exact).norm();
    Measurement { seconds, steps: STEPS, error, work: run.statistics() }
}
