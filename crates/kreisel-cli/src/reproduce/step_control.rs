//! What a step size by the error achieves: work and precision, and the steps it saves.
//!
//! The step size keeps the error per unit of time at the tolerance, with the estimate of
//! [ArnoldCardonaBruls2015, Eq. (69)] and the filter of [Soderlind2003, controller H211b].

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::figure::{FigureStyle, Panel, Series};
use kreisel::dae::Dae;
use kreisel::integrate::{ErrorControl, GeneralizedAlpha, Initial, Method, Parameters, Settings};
use kreisel::lie::Group;
use kreisel::machine::{Machine, method_word};
use kreisel::problem::{HeavyTop, Kepler, SpringPendulum};

/// A problem with its solution at the end.
struct Case<'a> {
    name: &'a str,
    dae: &'a dyn Dae,
    initial: Initial,
    end: f64,
    spectral_radius: f64,
    configuration: Vec<f64>,
    velocity: Vec<f64>,
}

/// A run: its work, and its errors in q (absolute, in the Lie algebra) and in v (relative).
#[derive(Clone, Copy)]
struct Achieved {
    steps: f64,
    taken_back: f64,
    errors: [f64; 2],
}

impl Case<'_> {
    fn settings(&self, method: Method) -> Result<Settings, ExperimentError> {
        let mut settings = Settings::new(method, Parameters::chung_hulbert(self.spectral_radius)?, self.end);
        (settings.newton_rtol, settings.newton_atol) = (1e-12, 1e-14);
        Ok(settings)
    }

    fn run(&self, settings: Settings) -> Result<Achieved, ExperimentError> {
        let mut run = GeneralizedAlpha::with(settings).start(self.dae, self.initial.clone())?;
        run.advance(self.end)?;
        let (state, counts) = (run.state(), run.statistics());
        let mut difference = vec![0.0; state.velocity.len()];
        let space = self.dae.shape().space;
        space.difference(&state.configuration, &self.configuration, &mut difference)?;
        let change: Vec<f64> =
            state.velocity.iter().zip(&self.velocity).map(|(v, exact)| v - exact).collect();
        Ok(Achieved {
            steps: counts.steps as f64,
            taken_back: (counts.rejections + counts.failures) as f64,
            errors: [norm(&difference), norm(&change) / norm(&self.velocity)],
        })
    }

    fn controlled(&self, method: Method, tolerance: f64) -> Result<Achieved, ExperimentError> {
        let control = ErrorControl::new(tolerance, self.end);
        self.run(Settings { error_control: Some(control), ..self.settings(method)? })
    }

    /// Fixed steps that would give an error in q, from a run with as many steps and second order.
    fn fixed_steps(&self, method: Method, like: Achieved) -> Result<f64, ExperimentError> {
        let fixed = self.run(Settings { step: self.end / like.steps, ..self.settings(method)? })?;
        Ok(fixed.steps * (fixed.errors[0] / like.errors[0]).sqrt())
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Largest and smallest error over the tolerance may differ by this factor.
const PROPORTIONAL: f64 = 10.0;

/// A column of the work-precision table: tolerances for a problem and a method.
fn rows(
    outcome: &mut Outcome,
    panel: usize,
    case: &Case,
    method: Method,
    tolerances: &[f64],
    progress: &Progress,
) -> Result<(), ExperimentError> {
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    let mut ratios = [Vec::new(), Vec::new()];
    for &tolerance in tolerances {
        let run = case.controlled(method, tolerance)?;
        let fixed = case.fixed_steps(method, run)?;
        let [q, v] = run.errors;
        let cells = [tolerance, run.steps, run.taken_back, q, v, q / tolerance, fixed.round()].map(number);
        outcome.table.row([case.name.to_owned(), method_word(method).to_owned()].into_iter().chain(cells));
        ratios[0].push(q / tolerance);
        ratios[1].push(v / tolerance);
        steps.push(run.steps);
        errors.push(q);
        progress.advance();
    }
    for (component, ratios) in ["q", "v"].iter().zip(&ratios) {
        let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let name =
            format!("{}, {}: spread of error over tolerance in {component}", case.name, method_word(method));
        outcome.check(Check::at_most(name, PROPORTIONAL, high / low));
    }
    let curve = Series::new(method_word(method), steps, errors);
    outcome.curve(curve.labelled("steps", "error in q").in_panel(panel));
    Ok(())
}

const METHODS: [Method; 3] = [Method::Index3, Method::Index2, Method::Soi2];
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

/// Errors of the heavy top, a slider-crank and the stiff pendulum over the tolerance, and the fixed steps that they would take.
pub fn work_precision(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 * METHODS.len() * TOLERANCES.len() + TOLERANCES.len() + FINE.len());
    let panels = ["heavy top", "slider-crank", "stiff pendulum"]
        .map(|title| Panel::log_log(title).with_slopes([-2.0]));
    let headings =
        ["problem", "method", "tolerance", "steps", "taken back", "q", "v", "q/tolerance", "fixed steps"];
    let mut outcome = Outcome::new(Table::new(headings), FigureStyle::side_by_side(panels));

    let top = HeavyTop::new(Group::So3xR3);
    let exact = top.reference(&[1.0])[0];
    let (r, x, omega, u) = (exact.rotation, exact.position, exact.angular_velocity, exact.velocity);
    let case = Case {
        name: "heavy top",
        dae: &top,
        initial: top.initial(),
        end: 1.0,
        spectral_radius: 0.9,
        configuration: vec![r.w, r.i, r.j, r.k, x.x, x.y, x.z],
        velocity: vec![omega.x, omega.y, omega.z, u.x, u.y, u.z],
    };
    for method in METHODS {
        rows(&mut outcome, 0, &case, method, &TOLERANCES, progress)?;
    }

    let machine = Machine::from_text("slider-crank", SLIDER_CRANK)?;
    let mut case = Case {
        name: "slider-crank",
        dae: &machine.system,
        initial: machine.initial.clone(),
        end: 1.0,
        spectral_radius: 0.9,
        configuration: Vec::new(),
        velocity: Vec::new(),
    };
    // Nobody knows the solution in closed form: two digits more than the finest run serve as one.
    let finer = ErrorControl::new(1e-8, case.end);
    let settings = Settings { error_control: Some(finer), ..case.settings(Method::Index2)? };
    let mut reference = GeneralizedAlpha::with(settings).start(case.dae, case.initial.clone())?;
    reference.advance(case.end)?;
    case.configuration.clone_from(&reference.state().configuration);
    case.velocity.clone_from(&reference.state().velocity);
    for method in METHODS {
        rows(&mut outcome, 1, &case, method, &TOLERANCES, progress)?;
    }

    let pendulum = SpringPendulum::default();
    let exact = pendulum.reference(0.5);
    let case = Case {
        name: "stiff pendulum",
        dae: &pendulum,
        initial: pendulum.initial(),
        end: 0.5,
        spectral_radius: 0.2,
        configuration: exact.position.to_vec(),
        velocity: exact.velocity.to_vec(),
    };
    rows(&mut outcome, 2, &case, Method::Index3, &TOLERANCES, progress)?;
    rows(&mut outcome, 2, &case, Method::Index2, &FINE, progress)?;
    Ok(outcome)
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
            configuration: q.to_vec(),
            velocity: v.to_vec(),
        };
        let run = case.controlled(Method::Index2, tolerance)?;
        let fixed = case.fixed_steps(Method::Index2, run)?;
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
