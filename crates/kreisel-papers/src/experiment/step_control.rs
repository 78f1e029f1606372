//! What a step size by the error achieves: work and precision, and the steps it saves.
//!
//! The step size keeps the error of a step at 0.3 tolerance^(3/2), with the estimate of
//! [ArnoldCardonaBruls2015, Eq. (69)] and the filter of [Soderlind2003, controller H211b].

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::problem::heavy_top::TopSolution;
use crate::problem::{HeavyTop, Kepler, SpringPendulum};
use kreisel::dae::{Control, Dae, Initial, Values};
use kreisel::integrate::{
    ErrorControl, INDEX2, INDEX3, Integrator, Interval, Method, Parameters, SOI2, Settings, Statistics,
};
use kreisel::lie::Group;
use kreisel::machine::Machine;
use kreisel::report::figure::{FigureStyle, Panel, Series};

/// A problem with its solution.
struct Case<'a> {
    name: &'a str,
    dae: &'a dyn Dae,
    initial: Initial,
    end: f64,
    spectral_radius: f64,
    /// Configuration and velocity at equally spaced times, the last one the end.
    solution: Samples,
}

/// A run: its work, and its errors in q (absolute, in the Lie algebra) and in v (relative).
#[derive(Clone, Copy)]
struct Achieved {
    steps: f64,
    taken_back: f64,
    errors: [f64; 2],
}

/// Configuration and velocity at equally spaced times.
type Samples = Vec<[Vec<f64>; 2]>;

impl Case<'_> {
    fn settings(&self, method: Method) -> Result<Settings, ExperimentError> {
        let parameters = Parameters::chung_hulbert(self.spectral_radius)?;
        Ok(Settings::new(method, parameters, self.end).with_newton_tolerances(1e-12, 1e-14))
    }

    /// A run, and its output at equally spaced times.
    fn motion(&self, settings: Settings, count: usize) -> Result<(Statistics, Samples), ExperimentError> {
        let mut run = Integrator::with(settings).start(self.dae, self.initial.clone())?;
        let mut motion = Vec::with_capacity(count);
        let mut sample = Values::default();
        let mut watch = |step: &mut dyn Interval| {
            // The last time is met exactly, the others are within a step.
            while motion.len() < count
                && self.end * ((motion.len() + 1) as f64 / count as f64) <= step.ends().to.time
            {
                step.at(self.end * ((motion.len() + 1) as f64 / count as f64), &mut sample);
                motion.push([sample.configuration.clone(), sample.velocity.clone()]);
            }
            Control::Continue
        };
        run.run(self.end, &mut watch)?;
        Ok((run.statistics(), motion))
    }

    /// Largest errors at the times of the solution.
    fn run(&self, settings: Settings) -> Result<Achieved, ExperimentError> {
        let (counts, motion) = self.motion(settings, self.solution.len())?;
        let space = self.dae.shape().space;
        let (mut errors, mut fastest) = ([0.0_f64; 2], 0.0_f64);
        for ([q, v], [exact_q, exact_v]) in motion.iter().zip(&self.solution) {
            let mut difference = vec![0.0; v.len()];
            space.difference(q, exact_q, &mut difference)?;
            let change: Vec<f64> = v.iter().zip(exact_v).map(|(v, exact)| v - exact).collect();
            errors = [errors[0].max(norm(&difference)), errors[1].max(norm(&change))];
            fastest = fastest.max(norm(exact_v));
        }
        Ok(Achieved {
            steps: counts.steps as f64,
            taken_back: (counts.rejections + counts.failures) as f64,
            errors: [errors[0], errors[1] / fastest],
        })
    }

    /// Takes a run with a small tolerance as the solution, at a number of times.
    fn solve(&mut self, tolerance: f64, count: usize) -> Result<(), ExperimentError> {
        let control = ErrorControl::new(tolerance, self.end);
        let settings = self.settings(INDEX2)?.with_error_control(control);
        self.solution = self.motion(settings, count)?.1;
        Ok(())
    }

    fn controlled(&self, method: Method, tolerance: f64) -> Result<Achieved, ExperimentError> {
        let control = ErrorControl::new(tolerance, self.end);
        self.run(self.settings(method)?.with_error_control(control))
    }

    /// Fixed steps that would give an error in q, from a run with as many steps and second order.
    fn fixed_steps(&self, method: Method, like: Achieved) -> Result<f64, ExperimentError> {
        let fixed = self.run(self.settings(method)?.with_step(self.end / like.steps))?;
        Ok(fixed.steps * (fixed.errors[0] / like.errors[0]).sqrt())
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Largest and smallest error over the tolerance may differ by this factor.
const PROPORTIONAL: f64 = 4.0;

/// Steps over fixed ones of equal error, geometric mean over all runs: nothing is to be gained on motions
/// that are equally fast all the time, and as much lost at most. The slider-crank alone is above it, with 1.8
/// to 2.2: errors that fixed steps make on one half of a turn cancel on the other, and the estimate counts
/// the part of the local error that the constraints take away again.
const EFFICIENT: f64 = 1.5;

/// Largest part of steps taken back, over all tolerances.
const TAKEN_BACK: f64 = 0.03;

/// Times at which errors are looked at: at a single one they may be nothing by chance.
const TIMES: usize = 40;

/// Rows of the work-precision table: tolerances for a problem and a method. Gives the steps over fixed ones
/// of equal error.
fn rows(
    outcome: &mut Outcome,
    panel: usize,
    case: &Case,
    method: Method,
    tolerances: &[f64],
    progress: &Progress,
) -> Result<Vec<f64>, ExperimentError> {
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    let mut ratios = [Vec::new(), Vec::new()];
    let (mut excess, mut taken_back) = (Vec::new(), 0.0);
    for &tolerance in tolerances {
        let run = case.controlled(method, tolerance)?;
        let fixed = case.fixed_steps(method, run)?;
        let [q, v] = run.errors;
        let cells =
            [tolerance, run.steps, run.taken_back, q, v, q / tolerance, fixed.round(), run.steps / fixed];
        let cells = cells.map(number);
        outcome.table.row([case.name.to_owned(), method.word().to_owned()].into_iter().chain(cells));
        ratios[0].push(q / tolerance);
        ratios[1].push(v / tolerance);
        excess.push(run.steps / fixed);
        taken_back += run.taken_back;
        steps.push(run.steps);
        errors.push(q);
        progress.advance();
    }
    for (component, ratios) in ["q", "v"].iter().zip(&ratios) {
        let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let name = format!("{}, {}: spread of error over tolerance in {component}", case.name, method.word());
        outcome.check(Check::at_most(name, PROPORTIONAL, high / low));
    }
    let label = |what: &str| format!("{}, {}: {what}", case.name, method.word());
    let part = taken_back / steps.iter().sum::<f64>();
    outcome.check(Check::at_most(label("part of steps taken back"), TAKEN_BACK, part));
    let curve = Series::new(method.word(), steps, errors);
    outcome.curve(curve.labelled("steps", "error in q").in_panel(panel));
    Ok(excess)
}

const METHODS: [Method; 3] = [INDEX3, INDEX2, SOI2];
const TOLERANCES: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];
const FINE: [f64; 7] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];

/// A crank with a rod and a slider, turning freely under its weight.
const SLIDER_CRANK: &str = "
[[body]]
name = 'crank'
mass = 1
inertia = [1e-3, 1e-3, 1e-4]
position = [0, 0, 0.05]
velocity = [0.5, 0, 0]
angular-velocity = [0, 10, 0]

[[body]]
name = 'rod'
mass = 0.5
inertia = [1e-3, 7e-3, 7e-3]
position = ['sqrt(0.15)/2', 0, 0.05]
velocity = [1, 0, 0]

[[body]]
name = 'slider'
mass = 1
inertia = [1e-3, 1e-3, 1e-3]
position = ['sqrt(0.15)', 0, 0]
velocity = [1, 0, 0]

[[revolute]]
name = 'bearing'
bodies = ['ground', 'crank']
point = [0, 0, 0]
axis = [0, 1, 0]

[[revolute]]
name = 'pin'
bodies = ['crank', 'rod']
point = [0, 0, 0.1]
axis = [0, 1, 0]

[[spherical]]
name = 'ball'
bodies = ['rod', 'slider']
point = ['sqrt(0.15)', 0, 0]

[[prismatic]]
name = 'guide'
bodies = ['ground', 'slider']
point = ['sqrt(0.15)', 0, 0]
axis = [1, 0, 0]
";

/// Flexible bars, one hinge out of line; the model has ten elements a bar.
const FOUR_BAR: &str = include_str!("../../../../models/four-bar-misaligned.toml");
/// Elements a bar here: with them a tolerance of 1e-6 takes seconds.
const BAR_ELEMENTS: &str = "elements = 4";
/// Errors of the heavy top, a slider-crank, a flexible four-bar and the stiff pendulum over the tolerance,
/// and the fixed steps that they would take.
pub fn work_precision(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(3 * METHODS.len() * TOLERANCES.len() + 2 * TOLERANCES.len() + FINE.len());
    let panels = ["heavy top", "slider-crank", "flexible four-bar", "stiff pendulum"]
        .map(|title| Panel::log_log(title).with_slopes([-2.0]));
    let headings = [
        "problem",
        "method",
        "tolerance",
        "steps",
        "taken back",
        "q",
        "v",
        "q/tolerance",
        "fixed steps",
        "ratio",
    ];
    let mut outcome = Outcome::new(Table::new(headings), FigureStyle::side_by_side(panels));

    let top = HeavyTop::new(Group::So3xR3);
    let times: Vec<f64> = (1..=TIMES).map(|n| n as f64 / TIMES as f64).collect();
    let sample = |exact: &TopSolution| {
        let (r, x, omega, u) = (exact.rotation, exact.position, exact.angular_velocity, exact.velocity);
        [vec![r.w, r.i, r.j, r.k, x.x, x.y, x.z], vec![omega.x, omega.y, omega.z, u.x, u.y, u.z]]
    };
    let case = Case {
        name: "heavy top",
        dae: &top,
        initial: top.initial(),
        end: 1.0,
        spectral_radius: 0.9,
        solution: top.reference(&times).iter().map(sample).collect(),
    };
    let mut excess = Vec::new();
    for method in METHODS {
        excess.extend(rows(&mut outcome, 0, &case, method, &TOLERANCES, progress)?);
    }
    excess.extend(machines(&mut outcome, progress)?);

    let pendulum = SpringPendulum::default();
    let sample = |time: &f64| {
        let exact = pendulum.reference(0.5 * time);
        [exact.position.to_vec(), exact.velocity.to_vec()]
    };
    let case = Case {
        name: "stiff pendulum",
        dae: &pendulum,
        initial: pendulum.initial(),
        end: 0.5,
        spectral_radius: 0.2,
        solution: times.iter().map(sample).collect(),
    };
    for (method, tolerances) in [(INDEX3, &TOLERANCES[..]), (INDEX2, &FINE), (SOI2, &TOLERANCES)] {
        excess.extend(rows(&mut outcome, 3, &case, method, tolerances, progress)?);
    }
    let mean = (excess.iter().map(|ratio| ratio.ln()).sum::<f64>() / excess.len() as f64).exp();
    let label = "steps over fixed ones of equal error, mean of all runs";
    outcome.check(Check::at_most(label, EFFICIENT, mean));
    Ok(outcome)
}

/// The machines, whose solutions nobody knows in closed form: more accurate runs serve as such.
fn machines(outcome: &mut Outcome, progress: &Progress) -> Result<Vec<f64>, ExperimentError> {
    let mut excess = Vec::new();
    let crank = Machine::from_text("slider-crank", SLIDER_CRANK)?;
    let four_bar = FOUR_BAR.replace("elements = 10", BAR_ELEMENTS);
    let four_bar = Machine::from_text("four-bar", &four_bar)?;
    // The fastest vibrations of the bars, which no step resolves, would ring on in v with less damping.
    for (panel, name, machine, spectral_radius, tolerance) in
        [(1, "slider-crank", &crank, 0.9, 1e-8), (2, "flexible four-bar", &four_bar, 0.6, 1e-7)]
    {
        let (dae, initial) = (machine.system(), machine.initial().clone());
        let mut case = Case { name, dae, initial, end: 1.0, spectral_radius, solution: Vec::new() };
        case.solve(tolerance, TIMES)?;
        for method in METHODS {
            excess.extend(rows(outcome, panel, &case, method, &TOLERANCES, progress)?);
        }
    }
    Ok(excess)
}

/// A flat ellipse, slow when far and fast when near: steps by the error against the best fixed step.
pub fn two_scales(progress: &Progress) -> Result<Outcome, ExperimentError> {
    const ECCENTRICITIES: [f64; 3] = [0.5, 0.9, 0.97];
    progress.expect(ECCENTRICITIES.len());
    let headings = ["eccentricity", "tolerance", "steps", "taken back", "q", "fixed steps", "ratio"];
    let mut outcome = Outcome::new(Table::new(headings), FigureStyle::log_log());
    let tolerance = 1e-5;
    let mut ratios = Vec::new();
    for eccentricity in ECCENTRICITIES {
        let orbit = Kepler { eccentricity };
        let end = 2.0 * std::f64::consts::PI;
        let (q, v) = orbit.solution(end);
        let case = Case {
            name: "ellipse",
            dae: &orbit,
            initial: orbit.initial(),
            end,
            spectral_radius: 0.9,
            solution: vec![[q.to_vec(), v.to_vec()]],
        };
        let run = case.controlled(INDEX2, tolerance)?;
        let fixed = case.fixed_steps(INDEX2, run)?;
        let cells = [eccentricity, tolerance, run.steps, run.taken_back, run.errors[0], fixed.round()];
        outcome.table.row(cells.into_iter().chain([fixed / run.steps]).map(number));
        ratios.push(fixed / run.steps);
        progress.advance();
    }
    outcome.check(Check::at_least("fixed steps per step by the error, e = 0.9", 2.0, ratios[1]));
    outcome.check(Check::at_least("fixed steps per step by the error, e = 0.97", 2.0, ratios[2]));
    let curve = Series::new("fixed steps per step by the error", ECCENTRICITIES.to_vec(), ratios);
    outcome.curve(curve.labelled("eccentricity", "ratio of steps"));
    Ok(outcome)
}
