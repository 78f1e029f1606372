//! Beams, as the peers' scripts in `benches/` run them: the right-angle cantilever and the flexible four-bar
//! of `models/`, and a beam that flies freely.
//!
//! The error is that of the worst node's position, its mean square over time, estimated from a run with half
//! the step; long models have none. Where a peer's error is smaller at the same step, Kreisel takes shorter
//! steps, and its time is that of the peer's step. The clock runs during the steps alone. Arguments that are
//! no flags name benchmarks.

mod measure;

use kreisel::integrate::{INDEX3, Integrator, Parameters, Settings, Statistics};
use kreisel::lie::vector3;
use kreisel::machine::Machine;
use kreisel::solve::newton::Refresh;
use measure::{Measurement, Stopwatch, asked, machine};

/// HHT with α = 0.05 has this spectral radius.
const HHT: f64 = 0.95 / 1.05;

/// On SO(3)×R³, where a free flight has the smaller errors; two nodes an element, as the peers have.
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
order = 1
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

/// One benchmark.
struct Case {
    name: &'static str,
    machine: fn() -> Machine,
    /// Seconds that are simulated.
    duration: f64,
    /// Number of steps of the peers, and of Kreisel for an error that is not larger; kinks of the loads fall
    /// on both.
    steps: [usize; 2],
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
    let case = |name, machine, duration, steps, radius, with_error| Case {
        name,
        machine,
        duration,
        steps,
        radius,
        with_error,
    };
    [
        case("right-angle-10-coarse", || right_angle("5"), 30.0, [600, 630], HHT, true),
        case("right-angle-10-fine", || right_angle("5"), 30.0, [3000, 3240], HHT, true),
        case("right-angle-100", || right_angle("50"), 10.0, [200; 2], HHT, false),
        case("right-angle-1000", || right_angle("500"), 2.0, [40; 2], HHT, false),
        case("four-bar-beams", || machine("four-bar-misaligned", &[]), 5.0, [250; 2], 0.9, true),
        case("flying-beam-50", || flying("50"), 10.0, [1000, 1040], 0.9, true),
        case("flying-beam-500", || flying("500"), 1.0, [100; 2], 0.9, false),
    ]
}

fn main() {
    let runs = measure::runs();
    for case in &cases() {
        let mut error = None;
        for (program, refresh) in
            [("kreisel", Refresh::default()), ("kreisel, matrix every step", Refresh::EveryStep)]
        {
            if !asked(case.name, program) {
                continue;
            }
            let error = *error.get_or_insert_with(|| if case.with_error { error_of(case) } else { f64::NAN });
            measure::report(case.name, program, runs, || {
                let clock = Stopwatch::start();
                let mut seconds = 0.0;
                let work = simulate(case, 1, refresh, |step, _| {
                    if step == 0 {
                        seconds = -clock.seconds();
                    } else if step == case.steps[1] {
                        seconds += clock.seconds();
                    }
                });
                Measurement { seconds, steps: case.steps[0], error, work }
            });
        }
    }
}

/// Error of the worst node: the root of the mean square over time of its distance from the motion with half
/// the step.
///
/// A method of second order: what is left at half the step is a quarter.
fn error_of(case: &Case) -> f64 {
    let motion = |division: usize| {
        let mut motion = Vec::new();
        simulate(case, division, Refresh::default(), |step, configuration| {
            if step % division == 0 {
                motion.push(configuration.to_vec());
            }
        });
        motion
    };
    let (coarse, fine) = (motion(1), motion(2));
    let nodes = coarse[0].len() / 7;
    let mean_square = |node: usize| {
        let position = |configuration: &[f64]| vector3(&configuration[7 * node + 4..]);
        let squares = coarse.iter().zip(&fine).map(|(a, b)| (position(a) - position(b)).norm_squared());
        squares.sum::<f64>() / coarse.len() as f64
    };
    (0..nodes).map(mean_square).fold(0.0, f64::max).sqrt() * 4.0 / 3.0
}

/// Simulates with each step divided, showing the configuration after every step, and gives the work.
fn simulate(
    case: &Case,
    division: usize,
    refresh: Refresh,
    mut show: impl FnMut(usize, &[f64]),
) -> Statistics {
    let machine = (case.machine)();
    let steps = case.steps[1] * division;
    let step = case.duration / steps as f64;
    let parameters = Parameters::chung_hulbert(case.radius).expect("a spectral radius");
    let settings = Settings::new(INDEX3, parameters, step).with_refresh(refresh);
    let method = Integrator::with(settings);
    let mut run =
        method.start(machine.system(), machine.initial().clone()).expect("consistent initial values");
    show(0, &run.values().configuration);
    for step in 1..=steps {
        run.step().expect("the benchmark converges in every step");
        show(step, &run.values().configuration);
    }
    run.statistics()
}
