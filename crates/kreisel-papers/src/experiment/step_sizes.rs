//! What [BottassoBauchauCardona2007, §3.2, §4.2] show for a pendulum, for machines with joints and beams by
//! `index3` and
//! `index2`: with scaled equations and unknowns neither condition nor corrections depend on the step size.
//!
//! Multipliers are recovered from their scaled values: with `index3` they carry round-off of ε m/h², with
//! `index2`, which finds them at the level of velocities, of ε m/h at most. Their error is the distance to
//! the multipliers that belong to the same positions and velocities.

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::dae::Initial;
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, SaturationOptions, Settings};
use kreisel::machine::Machine;
use kreisel::report::figure::{FigureStyle, Panel, Series};

const STEPS: [f64; 7] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Steps of each size.
const COUNT: usize = 10;

/// Three links on a hinge and two ball joints.
const LINKS: &str = "
    [[body]]
    name = 'link-{i}'
    repeat = 3
    mass = 1
    inertia = [0.1, 0.1, 0.1]
    position = ['0.48*(i + 0.5)', '0.6*(i + 0.5)', '0.64*(i + 0.5)']
    [[revolute]]
    name = 'anchor'
    bodies = ['ground', 'link-0']
    point = [0, 0, 0]
    axis = [0, 1, 0]
    [[spherical]]
    name = 'joint-{i}'
    repeat = 2
    bodies = ['link-{i}', 'link-{i+1}']
    point = ['0.48*(i + 1)', '0.6*(i + 1)', '0.64*(i + 1)']
";

/// A soft beam on a body on a ball joint: one on its own node would hold without rounding errors. Two nodes
/// an element are as many unknowns as the chains have.
const BEAM: &str = "
    [[body]]
    name = 'hub'
    mass = 0.5
    inertia = [0.02, 0.02, 0.02]
    position = [1.1, 0.7, 0.9]
    [[beam]]
    name = 'beam'
    from = [1.1, 0.7, 0.9]
    to = [1.58, 1.3, 1.54]
    start = 'hub'
    elements = 2
    order = 1
    section.axial-stiffness = 100
    section.shear-stiffness = [50, 50]
    section.torsional-stiffness = 1
    section.bending-stiffness = [1, 1]
    section.mass-per-length = 1
    section.inertia-per-length = [0.02, 0.01, 0.01]
    [[spherical]]
    name = 'anchor'
    bodies = ['ground', 'hub']
    point = [0.8, 0.5, 0.6]
";

/// What steps of one size show.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    condition: f64,
    /// Largest of the last decreasing corrections in the scaled unknowns.
    correction: f64,
    /// Largest error of a multiplier, relative to the largest multiplier.
    multipliers: f64,
}

fn measure(machine: &Machine, method: Method, step: f64) -> Result<Measured, ExperimentError> {
    let integrator = Integrator::with(Settings::new(method, Parameters::chung_hulbert(0.8)?, step));
    let mut run = integrator.start(machine.system(), machine.initial().clone())?;
    let mut measured = Measured::default();
    for _ in 0..COUNT {
        let found = run.saturating_step(SaturationOptions::default())?;
        measured.condition = measured.condition.max(found.condition());
        measured.correction = measured.correction.max(found.last_decreasing);
        let state = run.values();
        let initial = Initial {
            internal_states: state.internal_states.clone(),
            ..Initial::new(state.time, state.configuration.clone(), state.velocity.clone())
        };
        let same = integrator.start(machine.system(), initial)?;
        let exact = &same.values().multipliers;
        let size = exact.iter().fold(f64::MIN_POSITIVE, |size, lambda| size.max(lambda.abs()));
        let errors = state.multipliers.iter().zip(exact).map(|(found, exact)| (found - exact).abs() / size);
        measured.multipliers = errors.fold(measured.multipliers, f64::max);
    }
    Ok(measured)
}

/// A machine and a method, with a name.
struct Case {
    name: &'static str,
    text: &'static str,
    method: Method,
}

const CASES: [Case; 4] = [
    Case { name: "links, `index3`", text: LINKS, method: INDEX3 },
    Case { name: "links, `index2`", text: LINKS, method: INDEX2 },
    Case { name: "beam, `index3`", text: BEAM, method: INDEX3 },
    Case { name: "beam, `index2`", text: BEAM, method: INDEX2 },
];

impl Case {
    fn run(&self, progress: &Progress) -> Result<Vec<Measured>, ExperimentError> {
        let machine = Machine::from_text("model.toml", self.text)?;
        let mut all = Vec::new();
        for step in STEPS {
            all.push(measure(&machine, self.method, step)?);
            progress.advance();
        }
        Ok(all)
    }

    /// Round-off that multipliers may carry, relatively, beside the error of the method: some dozen rounding
    /// errors of positions of size one, or of velocities, over forces that are not smaller than a tenth of
    /// m/s².
    fn round_off(&self, step: f64) -> f64 {
        let power = if self.method == INDEX3 { 2 } else { 1 };
        100.0 * f64::EPSILON / step.powi(power)
    }

    fn checks(&self, measured: &[Measured], outcome: &mut Outcome) {
        let low = measured.iter().map(|one| one.condition).fold(f64::INFINITY, f64::min);
        let high = measured.iter().map(|one| one.condition).fold(0.0, f64::max);
        let name = self.name;
        outcome.check(Check::within(
            format!("largest over smallest condition number, {name}"),
            1.0..=2.0,
            high / low,
        ));
        let correction = measured.iter().map(|one| one.correction).fold(0.0, f64::max);
        outcome.check(Check::at_most(format!("last correction at every h, {name}"), 1e-13, correction));
        // The error of the method is of second order, and none any more where h is 1e-5.
        let method = measured[0].multipliers / (STEPS[0] * STEPS[0]);
        let excess = measured
            .iter()
            .zip(STEPS)
            .map(|(one, step)| one.multipliers / (10.0 * method * step * step + self.round_off(step)));
        let worst = excess.fold(0.0, f64::max);
        outcome.check(Check::at_most(format!("error of the multipliers over its bound, {name}"), 1.0, worst));
        if self.method == INDEX3 {
            let units = measured[6].multipliers * STEPS[6] * STEPS[6] / f64::EPSILON;
            let label = format!("error of the multipliers at h = 1e-8 in ε/h², {name}");
            outcome.check(Check::within(label, 0.01..=100.0, units));
        }
    }
}

/// Condition, corrections and multipliers over h.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(CASES.len() * STEPS.len());
    let panels = ["condition number", "last decreasing correction", "error of the multipliers"];
    let columns = ["quantity", "h in s"].into_iter().chain(CASES.iter().map(|case| case.name));
    let style = FigureStyle::side_by_side(panels.map(Panel::log_log));
    let mut outcome = Outcome::new(Table::new(columns), style);
    let mut all = Vec::new();
    for case in &CASES {
        let measured = case.run(progress)?;
        case.checks(&measured, &mut outcome);
        all.push(measured);
    }
    let reads: [fn(&Measured) -> f64; 3] = [|one| one.condition, |one| one.correction, |one| one.multipliers];
    for (panel, (what, read)) in panels.into_iter().zip(reads).enumerate() {
        for (index, step) in STEPS.iter().enumerate() {
            let cells = all.iter().map(|measured| short(read(&measured[index])));
            outcome.table.row([what.to_owned(), number(*step)].into_iter().chain(cells));
        }
        for (case, measured) in CASES.iter().zip(&all) {
            let values = measured.iter().map(read).collect();
            let series = Series::new(case.name, STEPS.to_vec(), values).in_panel(panel);
            outcome.curve(series.labelled("step size h [s]", what));
        }
    }
    Ok(outcome)
}

/// A number of which few digits count.
fn short(value: f64) -> String {
    if (1.0..1e4).contains(&value) { format!("{value:.1}") } else { format!("{value:.0e}") }
}

/// The numbers as the table of the book.
pub fn markdown_table() -> Result<String, ExperimentError> {
    Ok(run(&Progress::hidden())?.table.markdown())
}
