//! Beams, as the peers' scripts in `benches/` run them: the right-angle cantilever and the flexible four-bar of `models/`,
//! and a beam that flies freely.
//!
//! The error is that of the worst node's position at the end, estimated from a run with half the step; long models have
//! none. The clock runs during the steps alone. Arguments that are no flags name benchmarks.

mod measure;

use kreisel::integrate::{GeneralizedAlpha, Method, Parameters, Settings, Statistics};
use kreisel::lie::vector3;
use kreisel::machine::Machine;
use kreisel::solve::newton::Refresh;
use measure::{Measurement, Stopwatch, asked, machine};

/// HHT with α = 0.05 has this spectral radius.
const HHT: f64 = 0.95 / 1.05;

/// On SO(3)×R³, where a free flight has the smaller errors.
const FLYING_BEAM: &str = "
[simulation]
group = 'so3xr3'
[gravity]
acceleration = [0, 0, 0]
[[beam]]
name = 'beam'
from = [6, 0, 0]
to = [0, 8, 0]
elements = ELEMENTS
section.axial-stiffness = 1e4
section.shear-stiffness = [1e4, 1e4]
section.torsional-stiffness = 500
section.bending-stiffness = [500, 500]
section.mass-per-length = 1
section.inertia-per-length = [10, 10, 10]
[[force]]
name = 'throw'
body = 'beam.start'
force = ['8*max(0, min(t, 5 - t))', 0, 0]
torque = [0, '-40*max(0, min(t, 5 - t))', '-80*max(0, min(t, 5 - t))']
";

/// One benchmark: name, machine, step, number of steps, spectral radius, whether an error is found.
struct Case {
    name: &'static str,
    machine: fn() -> Machine,
    step: f64,
    steps: usize,
    radius: f64,
    with_error: bool,
}

fn right_angle(elements: &str) -> Machine {
    machine("right-angle-beam", &[("elements", elements)])
}

fn flying(elements: &str) -> Machine {
    let text = FLYING_BEAM.replace("ELEMENTS", elements);
    Machine::from_text("flying.toml", &text).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn cases() -> [Case; 7] {
    let case = |name, machine, step, steps, radius, with_error| Case {
        name,
        machine,
        step,
        steps,
        radius,
        with_error,
    };
    [
        case("right-angle-10-coarse", || right_angle("5"), 0.05, 600, HHT, true),
        case("right-angle-10-fine", || right_angle("5"), 0.01, 3000, HHT, true),
        case("right-angle-100", || right_angle("50"), 0.05, 200, HHT, false),
        case("right-angle-1000", || right_angle("500"), 0.05, 40, HHT, false),
        case("four-bar-beams", || machine("four-bar-misaligned", &[]), 0.02, 250, 0.9, true),
        case("flying-beam-50", || flying("50"), 0.01, 1000, 0.9, true),
        case("flying-beam-500", || flying("500"), 0.01, 100, 0.9, false),
    ]
}

fn main() {
    let runs = measure::runs();
    for case in &cases() {
        let mut finer = None;
        for (program, refresh) in
            [("kreisel", Refresh::default()), ("kreisel, matrix kept", Refresh::WhenCheaper)]
        {
            if !asked(case.name, program) {
                continue;
            }
            let wanted = finer.is_none() && case.with_error;
            finer = if wanted { Some(simulate(case, 2, Refresh::default()).1) } else { finer };
            measure::report(case.name, program, runs, || {
                let (seconds, end, work) = simulate(case, 1, refresh);
                // A method of second order: what is left at half the step is a quarter.
                let error = finer.as_ref().map_or(f64::NAN, |finer| distance(&end, finer) * 4.0 / 3.0);
                Measurement { seconds, steps: case.steps, error, work }
            });
        }
    }
}

/// CPU time of the steps, the configuration at the end and the work; each step is divided.
fn simulate(case: &Case, division: usize, refresh: Refresh) -> (f64, Vec<f64>, Statistics) {
    let machine = (case.machine)();
    let step = case.step / division as f64;
    let parameters = Parameters::chung_hulbert(case.radius).expect("a spectral radius");
    let mut settings = Settings::new(Method::Index3, parameters, step);
    settings.newton.refresh = refresh;
    let method = GeneralizedAlpha::with(settings);
    let mut run = method.start(&machine.system, machine.initial.clone()).expect("consistent initial values");
    let clock = Stopwatch::start();
    for _ in 0..case.steps * division {
        run.step().expect("the benchmark converges in every step");
    }
    (clock.seconds(), run.state().configuration.clone(), run.statistics())
}

/// Largest distance of a node's two positions: seven numbers a node, the last three its position.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    let nodes = one.chunks_exact(7).zip(other.chunks_exact(7));
    nodes.map(|(one, other)| (vector3(&one[4..]) - vector3(&other[4..])).norm()).fold(0.0, f64::max)
}
