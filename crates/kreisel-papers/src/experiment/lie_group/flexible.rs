//! Runs of flexible machines as [BrulsCardonaArnold2012, §7] describes them, and how their errors fall.

use super::super::{Check, ExperimentError, Outcome, Progress, number};
use kreisel::integrate::{
    INDEX3, Integrator, IterationMatrix, Method, Observer, Parameters, Parametrization, Predictor, Settings,
    Start, Statistics, UPDATED_LAGRANGIAN,
};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::report::figure::Series;
use kreisel::run::{Recorder, Trajectory};
use kreisel::solve::newton::{NewtonSettings, Refresh};

/// The methods of the paper with its names.
pub const METHODS: [(&str, Method); 2] = [("Lie-α", INDEX3), ("UL-CRV", UPDATED_LAGRANGIAN)];

/// The machine of a model with all nodes on SO(3)×R³, like the paper's.
pub fn machine(name: &str, text: &str, parameters: &[(&str, &str)]) -> Result<Machine, ExperimentError> {
    let group = SettingTexts::default().with("group", "so3xr3");
    Ok(MachineReader::new().with_parameters(parameters).with_settings(&group).text(name, text)?)
}

/// Settings of a method.
pub fn settings(method: Method, parameters: Parameters, step: f64) -> Settings {
    Settings::new(method, parameters, step).with_option(Parametrization::Crv)
}

/// tol_r in N and N m, and tol_Φ in m and rad. The paper prints none; these were chosen because they give its
/// mean iterations in all three examples: the check shows that one pair can, not that it is the paper's. Of
/// the powers of ten from 100 to 1e-7 and from 1e-3 to 1e-12, those that do within ±0.15 are tol_r = 1 with
/// tol_Φ from 1e-7 to 1e-9: another tol_r changes the count of the second example, a smaller tol_Φ that of
/// the third, a larger one that of the first.
pub const TOLERANCES: [f64; 2] = [1.0, 1e-8];

/// The same with the iteration of [BrulsCardonaArnold2012, Table 1]: its start, its first guess, a new matrix
/// every time, corrections taken whole, and its end as soon as ‖r‖ < tol_r and ‖Φ‖ < tol_Φ.
pub fn as_published(settings: Settings) -> Settings {
    let newton = NewtonSettings { refresh: Refresh::EveryIteration, line_search: false, ..settings.newton() };
    settings
        .with_start(Start::Trivial)
        .with_predictor(Predictor::ZeroAcceleration)
        .with_iteration_matrix(IterationMatrix::Exact)
        .with_newton(newton)
        .with_residual_tolerances(TOLERANCES[0], TOLERANCES[1])
}

/// Runs a machine until a time, and keeps its signals at multiples of `output_step`.
pub fn run(
    machine: &Machine,
    settings: Settings,
    end: f64,
    output_step: f64,
) -> Result<(Trajectory, Statistics), ExperimentError> {
    #[cfg(test)]
    let settings = crate::problem::mutation::settings(settings);
    super::super::run_into(machine, settings, end, output_step, Trajectory::new(machine))
}

/// The same without a new start at corners of the inputs, which lie on steps: with steps far above the
/// periods of the fast vibrations, accelerations found anew would be those of vibrations that the method has
/// long damped.
pub fn run_through(
    machine: &Machine,
    settings: Settings,
    end: f64,
    output_step: f64,
) -> Result<(Trajectory, Statistics), ExperimentError> {
    #[cfg(test)]
    let settings = crate::problem::mutation::settings(settings);
    let mut integration = Integrator::with(settings).start(machine.system(), machine.initial().clone())?;
    let mut recorder = Recorder::new(machine, Some(output_step), Trajectory::new(machine));
    recorder.started(integration.values());
    integration.run(end, &mut recorder)?;
    Ok((recorder.finish(integration.values())?, integration.statistics()))
}

/// Newton iterations a step.
pub fn iterations(statistics: &Statistics) -> f64 {
    statistics.iterations as f64 / statistics.steps as f64
}

/// The same for runs as published: passes of the loop of [BrulsCardonaArnold2012, Table 1], the last of which
/// only finds that the residuals are small.
pub fn published_iterations(statistics: &Statistics) -> f64 {
    iterations(statistics) + 1.0
}

/// How far mean iterations may lie from the published ones: elements and tolerances are not the paper's.
const COUNT_TOLERANCE: f64 = 0.3;

/// Checks mean iterations of both methods against the published ones, and what the paper concludes from them:
/// both methods need as many. The tolerances are printed with them.
pub fn check_counts(outcome: &mut Outcome, found: [f64; 2], published: [f64; 2]) {
    let [balance, violation] = TOLERANCES;
    for (((name, _), found), published) in METHODS.into_iter().zip(found).zip(published) {
        let label = format!("iterations a step, {name}, tol_r = {balance}, tol_Φ = {violation:e}");
        outcome.check(Check::close(label, published, found, COUNT_TOLERANCE));
    }
    let difference = (found[0] - found[1]).abs();
    outcome.check(Check::at_most("difference in iterations a step, Lie-α and UL-CRV", 0.1, difference));
}

/// A signal by name.
pub fn signal<'a>(trajectory: &'a Trajectory, name: &str) -> Result<&'a [f64], ExperimentError> {
    trajectory.signal(name).ok_or_else(|| format!("there is no signal `{name}`").into())
}

/// A quantity over time.
pub fn over_time(trajectory: &Trajectory, values: &[f64], name: &str, label: &str) -> Series {
    Series::new(name, trajectory.times.clone(), values.to_vec()).labelled("t [s]", label)
}

/// Some signals of a run.
type Values = Vec<Vec<f64>>;

fn values(run: &Trajectory, names: &[&str]) -> Result<Values, ExperimentError> {
    names.iter().map(|name| signal(run, name).map(<[f64]>::to_vec)).collect()
}

/// The limit of two runs of second order, the second with half the size.
fn extrapolated(coarse: &Values, fine: &Values) -> Values {
    let limit = |(coarse, fine): (&f64, &f64)| fine + (fine - coarse) / 3.0;
    coarse.iter().zip(fine).map(|(coarse, fine)| coarse.iter().zip(fine).map(limit).collect()).collect()
}

/// Largest distance between vectors of two runs, relative to the largest size of the second; not a number
/// where they were not recorded as often.
fn error(run: &Values, reference: &Values) -> f64 {
    let count = reference.iter().chain(run).map(Vec::len).max().unwrap_or(0);
    let norm = |square: &dyn Fn(usize, usize) -> f64| {
        let at = |time: usize| (0..reference.len()).map(|row| square(row, time)).sum::<f64>();
        (0..count).map(at).fold(0.0, |largest, next| if next <= largest { largest } else { next }).sqrt()
    };
    let at = |values: &Values, row: usize, time: usize| values[row].get(time).copied().unwrap_or(f64::NAN);
    let distance = norm(&|row, time| (at(run, row, time) - at(reference, row, time)).powi(2));
    distance / norm(&|row, time| at(reference, row, time).powi(2))
}

/// Errors of several quantities over a step size or a length of elements.
pub struct Convergence {
    name: String,
    quantities: Vec<&'static str>,
    sizes: Vec<f64>,
    errors: Vec<Vec<f64>>,
    /// How much more accurate the reference is than the finest run, for each quantity.
    better: Vec<f64>,
}

/// A quantity: its name and its signals.
pub type Quantity<'a> = (&'static str, &'a [&'a str]);

/// How much more accurate a reference should be than the finest run that is judged by it.
const BETTER: f64 = 1000.0;

impl Convergence {
    /// Errors of runs of some sizes against what is extrapolated from finer ones, each with half the size of
    /// the one before.
    pub fn measure(
        name: impl Into<String>,
        quantities: &[Quantity],
        sizes: &[f64],
        finer: [f64; 3],
        progress: &Progress,
        run: impl Fn(f64) -> Result<Trajectory, ExperimentError>,
    ) -> Result<Self, ExperimentError> {
        let mut runs: Vec<(f64, Vec<Values>)> = Vec::new();
        for size in sizes.iter().chain(&finer) {
            if runs.iter().all(|(known, _)| known != size) {
                let found = run(*size)?;
                let of_quantities = quantities.iter().map(|(_, names)| values(&found, names));
                runs.push((*size, of_quantities.collect::<Result<_, _>>()?));
            }
            progress.advance();
        }
        let of = |size: f64, quantity: usize| {
            runs.iter().find(|(known, _)| *known == size).map(|(_, found)| &found[quantity])
        };
        let (mut errors, mut better) = (Vec::new(), Vec::new());
        for quantity in 0..quantities.len() {
            let at = |size: f64| of(size, quantity).ok_or("every size was run");
            let earlier = extrapolated(at(finer[0])?, at(finer[1])?);
            let reference = extrapolated(at(finer[1])?, at(finer[2])?);
            let found: Vec<f64> = sizes
                .iter()
                .map(|size| Ok(error(at(*size)?, &reference)))
                .collect::<Result<_, ExperimentError>>()?;
            // The earlier of the two references is the worse one, so that their distance bounds the error of
            // the later.
            better.push(found[found.len() - 1] / error(&earlier, &reference));
            errors.push(found);
        }
        let names = quantities.iter().map(|(name, _)| *name).collect();
        Ok(Self { name: name.into(), quantities: names, sizes: sizes.to_vec(), errors, better })
    }

    /// Adds rows of a table: name, size, and error and order for each quantity.
    pub fn tabulate(&self, outcome: &mut Outcome, columns: usize) {
        for (place, size) in self.sizes.iter().enumerate() {
            let mut cells = vec![self.name.clone(), number(*size)];
            for errors in &self.errors {
                cells.push(number(errors[place]));
                cells.push(match place {
                    0 => "–".to_owned(),
                    _ => {
                        number((errors[place - 1] / errors[place]).ln() / (self.sizes[place - 1] / size).ln())
                    }
                });
            }
            cells.resize(columns, "–".to_owned());
            outcome.table.row(cells);
        }
    }

    /// Adds the curves to a panel.
    pub fn draw(&self, outcome: &mut Outcome, panel: usize, label: &str) {
        for (quantity, errors) in self.quantities.iter().zip(&self.errors) {
            let series =
                Series::new(format!("{quantity}, {}", self.name), self.sizes.clone(), errors.clone());
            outcome.curve(series.labelled(label, "largest relative error").in_panel(panel));
        }
    }

    /// Checks that every quantity converges with second order, over all sizes, and that the reference is
    /// better enough.
    pub fn check_order(&self, outcome: &mut Outcome, tolerance: f64) {
        for (quantity, errors) in self.quantities.iter().zip(&self.errors) {
            let name = format!("order in {quantity}, {}", self.name);
            outcome.check(Check::slope(name, 2.0, &self.sizes, errors, tolerance));
        }
        self.check_reference(outcome);
    }

    /// The same between neighbouring sizes.
    pub fn check_every_order(&self, outcome: &mut Outcome, tolerance: f64) {
        for (quantity, errors) in self.quantities.iter().zip(&self.errors) {
            for (errors, sizes) in errors.windows(2).zip(self.sizes.windows(2)) {
                let name = format!("order in {quantity} at h = {}, {}", sizes[1], self.name);
                outcome.check(Check::slope(name, 2.0, sizes, errors, tolerance));
            }
        }
        self.check_reference(outcome);
    }

    fn check_reference(&self, outcome: &mut Outcome) {
        for (quantity, better) in self.quantities.iter().zip(&self.better) {
            let label =
                format!("error of the finest run over that of the reference, {quantity}, {}", self.name);
            outcome.check(Check::at_least(label, BETTER, *better));
        }
    }
}
