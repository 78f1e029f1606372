//! Experiments of [BottassoBauchauCardona2007, §3.3, §4.3]: a pendulum by the two-step backward
//! differentiation formula, how far Newton's corrections fall, and the condition of its matrix, with
//! equations and unknowns scaled in four ways.
//!
//! The analysis bounds the error of an elimination by the row sums of |A⁻¹| [BottassoBauchauCardona2007, Eq.
//! (6)]: what perturbations of one size in all equations do to the unknowns. These sums show the powers of h
//! of (11), (18), (26), (42), (46) and (51), and so do errors of solutions by reflections, which leave errors
//! of one size in all equations. The corrections themselves are smaller without any scaling: elimination with
//! partial pivoting makes errors in the constraint, whose row has the factor h, that are h times those of the
//! bound, so that they fall like those of the left scaling.

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use crate::problem::Pendulum;
use kreisel::dae::Initial;
use kreisel::integrate::{
    BDF2, Form, Integration, Integrator, Parameters, SaturationOptions, Scaling, Settings,
};
use kreisel::report::figure::{FigureStyle, Panel, Series};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// Step sizes of the paper.
const STEPS: [f64; 5] = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// End of each run in s.
const END: f64 = 1e-3;

/// How far an observed power of h may lie from the theory's where round-off is measured: it is the largest of
/// a number of steps that grows from 10 to 100 000, and each is a random number.
const ROUND_OFF_TOLERANCE: f64 = 0.35;

/// How far a power of h of a condition number may lie from the theory's, which is for small h.
const CONDITION_TOLERANCE: f64 = 0.05;

/// Name of a scaling in tables and legends.
fn name(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::Unscaled => "unscaled",
        Scaling::Left => "left",
        Scaling::LeftRight => "left and right",
        Scaling::LeftRightVelocities => "left and right, with velocities",
    }
}

/// What a run shows.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Largest of the last decreasing corrections.
    correction: f64,
    /// The same by field: positions, velocities, multipliers.
    by_field: [f64; 3],
    /// Condition number of the last matrix.
    condition: f64,
    /// Row sums of the absolute values of its inverse, the largest of each field.
    sums: [f64; 3],
}

/// A run from rest at an angle with m_ave = 1 and k_ave = 0, so that s = h⁻².
fn start(
    form: Form,
    scaling: Scaling,
    step: f64,
    angle: f64,
) -> Result<Integration<'static>, ExperimentError> {
    static PENDULUM: Pendulum = Pendulum { gravity: 1.0 };
    let initial = Initial::new(0.0, [angle.cos(), angle.sin()], [0.0, 0.0]);
    let settings = Settings::new(BDF2, Parameters::chung_hulbert(0.0)?, step)
        .with_option(form)
        .with_option(scaling)
        .with_mass_scale(1.0)
        .with_stiffness_scale(0.0);
    #[cfg(test)]
    let settings = crate::problem::mutation::settings(settings);
    Ok(Integrator::with(settings).start(&PENDULUM, initial)?)
}

fn measure(form: Form, scaling: Scaling, step: f64) -> Result<Measured, ExperimentError> {
    let mut run = start(form, scaling, step, 0.0)?;
    let mut measured = Measured::default();
    let count = (END / step).round() as usize;
    for index in 1..=count {
        let found = run.saturating_step(SaturationOptions::default())?;
        measured.correction = measured.correction.max(found.last_decreasing);
        for (largest, value) in measured.by_field.iter_mut().zip(found.last_by_field) {
            *largest = largest.max(value);
        }
        if index == count {
            measured.condition = found.condition();
            measured.sums = row_sums(form, &found.matrix)?;
        }
    }
    Ok(measured)
}

/// Unknowns of the pendulum by field: positions, velocities (with three fields) and multipliers, two, two and
/// one.
fn fields(form: Form) -> [Range<usize>; 3] {
    let velocities = if form == Form::ThreeField { 2..4 } else { 2..2 };
    [0..2, velocities.clone(), velocities.end..velocities.end + 1]
}

/// The largest row sum of the absolute values of the inverse in each field.
fn row_sums(form: Form, matrix: &DMatrix<f64>) -> Result<[f64; 3], ExperimentError> {
    let inverse = matrix.clone().try_inverse().ok_or("the iteration matrix is regular")?;
    let sum = |row: usize| inverse.row(row).iter().map(|entry| entry.abs()).sum::<f64>();
    Ok(fields(form).map(|rows| rows.map(sum).fold(0.0, f64::max)))
}

/// Step sizes with which errors of solutions are measured: with the smallest, h⁻⁴ε is a thousandth.
const SOLVED_STEPS: [f64; 5] = [2e-2, 1e-2, 5e-3, 2e-3, 1e-3];

/// Places of the pendulum at which they are measured: what a single one shows is chance.
const PLACES: usize = 40;

/// How far a power of h of such an error may lie from the theory's: it is the mean of 40 random numbers.
const SOLVED_TOLERANCE: f64 = 0.2;

/// The error of a solution by Householder's reflections, with the rows of the constraints first, in each
/// field: root mean square in units of ε‖A‖‖z‖, whose bounds are the row sums [BottassoBauchauCardona2007,
/// Eq. (6)].
///
/// An elimination with partial pivoting does better than this bound: the row of the constraint has the factor
/// h, and so have the errors that it makes there. Reflections leave errors of size ε‖A‖ in every row, as the
/// analysis assumes in Eq. (8).
fn errors_of_solutions(form: Form, scaling: Scaling, step: f64) -> Result<[f64; 3], ExperimentError> {
    let mut squares = [0.0; 3];
    for place in 0..PLACES {
        // Irrational parts of a turn, so that nothing is a round number.
        let mut run = start(form, scaling, step, 0.1 + 2.4 * place as f64)?;
        let matrix = run.saturating_step(SaturationOptions::default())?.matrix;
        let size = matrix.nrows();
        let constraint_first = DMatrix::from_fn(size, size, |i, j| matrix[(size - 1 - i, j)]);
        let known = DVector::from_fn(size, |i, _| (1.0 + place as f64 + 0.7 * i as f64).sin());
        let solution = constraint_first.clone().qr().solve(&(&constraint_first * &known));
        let error = solution.ok_or("the iteration matrix is regular")? - &known;
        let norm = (0..size).map(|i| matrix.row(i).iter().map(|entry| entry.abs()).sum()).fold(0.0, f64::max);
        let unit = f64::EPSILON * norm * known.amax();
        for (square, rows) in squares.iter_mut().zip(fields(form)) {
            let largest = rows.map(|row| error[row].abs()).fold(0.0, f64::max);
            *square += (largest / unit).powi(2) / PLACES as f64;
        }
    }
    Ok(squares.map(f64::sqrt))
}

/// Step size of the figure that shows single iterations.
const WATCHED_STEP: f64 = 1e-7;

/// Steps of which the one with the largest round-off is shown.
const WATCHED_STEPS: usize = 10_000;

/// Iterations after corrections stopped decreasing, and how far off the iteration begins: from the predicted
/// values there would be nothing to correct.
const WATCHED: SaturationOptions = SaturationOptions { extra_iterations: 10, displacement: 0.1 };

/// Corrections of one step, unscaled: they fall until round-off stops them [BottassoBauchauCardona2007, Fig.
/// 1].
pub fn fig1(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(1);
    let mut run = start(Form::ThreeField, Unscaled, WATCHED_STEP, 0.0)?;
    let mut found = run.saturating_step(WATCHED)?;
    for _ in 1..WATCHED_STEPS {
        // Some steps end where the constraint happens to hold without a rounding error.
        let next = run.saturating_step(WATCHED)?;
        if next.last_decreasing > found.last_decreasing {
            found = next;
        }
    }
    progress.advance();
    let what = "norm of the correction";
    let style = FigureStyle::side_by_side([Panel::log_y("unscaled, h = 1e-7")]);
    let mut outcome = Outcome::new(Table::new(["iteration", what]), style);
    for (index, norm) in found.corrections.iter().enumerate() {
        outcome.table.row([(index + 1).to_string(), number(*norm)]);
    }
    let falling = found.corrections.windows(2).take_while(|pair| pair[1] < pair[0]).count() + 1;
    outcome.check(Check::within("iterations until corrections stop decreasing", 3.0..=8.0, falling as f64));
    // Round-off of ε in a position of size one is ε/h² = 0.02 in λ; the published run has 4e-3, a fifth of
    // it, where ε/h³ would be 2e5. A tenth of it to five times it.
    let round_off = f64::EPSILON / (WATCHED_STEP * WATCHED_STEP);
    let (last, tail) = (found.last_decreasing, &found.corrections[falling..]);
    outcome.check(Check::within("last decreasing correction", 0.1 * round_off..=5.0 * round_off, last));
    let largest = tail.iter().copied().fold(0.0, f64::max);
    let smallest = tail.iter().copied().fold(f64::INFINITY, f64::min);
    outcome.check(Check::at_most("largest correction after that", 5.0 * round_off, largest));
    outcome.check(Check::at_least("smallest correction after that", 0.1 * round_off, smallest));
    let iterations = (1..=found.corrections.len()).map(|index| index as f64).collect();
    outcome.curve(Series::new("unscaled", iterations, found.corrections).labelled("iteration", what));
    Ok(outcome)
}

/// A quantity over h for some scalings, with the power of h that each must follow.
struct Curves<'a> {
    form: Form,
    what: &'a str,
    of: fn(&Measured) -> f64,
    powers: &'a [(Scaling, f64)],
    tolerance: f64,
    /// The row sums that bound it, with their powers of h in the order of the scalings.
    bound: Option<Bound<'a>>,
}

/// A bound of the analysis.
#[derive(Clone, Copy)]
struct Bound<'a> {
    of: fn(&Measured) -> f64,
    powers: &'a [f64],
}

impl Curves<'_> {
    fn run(&self, progress: &Progress) -> Result<Outcome, ExperimentError> {
        progress.expect(self.powers.len() * STEPS.len());
        let panel = Panel::log_log(self.what).with_slopes([-1.0, -2.0]);
        let columns = ["h"].into_iter().chain(self.powers.iter().map(|(scaling, _)| name(*scaling)));
        let mut outcome = Outcome::new(Table::new(columns), FigureStyle::side_by_side([panel]));
        let (mut curves, mut bounds) = (Vec::new(), Vec::new());
        for (scaling, _) in self.powers {
            let (mut curve, mut bound) = (Vec::new(), Vec::new());
            for step in STEPS {
                let measured = measure(self.form, *scaling, step)?;
                curve.push((self.of)(&measured));
                bound.extend(self.bound.map(|bound| (bound.of)(&measured)));
                progress.advance();
            }
            curves.push(curve);
            bounds.push(bound);
        }
        if let Some(bound) = self.bound {
            for (((scaling, _), power), sums) in self.powers.iter().zip(bound.powers).zip(&bounds) {
                let label = format!("power of h in the bound of the {}, {}", self.what, name(*scaling));
                outcome.check(Check::slope(label, *power, &STEPS, sums, CONDITION_TOLERANCE));
                let mut errors = Vec::new();
                for step in SOLVED_STEPS {
                    let sums = errors_of_solutions(self.form, *scaling, step)?;
                    errors.push((bound.of)(&Measured { sums, ..Measured::default() }));
                }
                let label = format!(
                    "power of h in the {} by reflections, in ε‖A‖, {}",
                    self.what
                        .replace("last decreasing correction", "error of a solution")
                        .replace("correction of", "error in"),
                    name(*scaling)
                );
                outcome.check(Check::slope(label, *power, &SOLVED_STEPS, &errors, SOLVED_TOLERANCE));
            }
        }
        for (i, step) in STEPS.iter().enumerate() {
            let cells = [*step].into_iter().chain(curves.iter().map(|curve| curve[i]));
            outcome.table.row(cells.map(number));
        }
        for ((scaling, power), curve) in self.powers.iter().zip(curves) {
            let label = format!("power of h in the {}, {}", self.what, name(*scaling));
            outcome.check(Check::slope(label, *power, &STEPS, &curve, self.tolerance));
            let series = Series::new(name(*scaling), STEPS.to_vec(), curve);
            outcome.curve(series.labelled("step size h [s]", self.what));
        }
        Ok(outcome)
    }
}

use Scaling::{Left, LeftRight, LeftRightVelocities, Unscaled};

/// The largest row sum of all.
fn largest_sum(measured: &Measured) -> f64 {
    measured.sums.into_iter().fold(0.0, f64::max)
}

/// Last decreasing corrections [BottassoBauchauCardona2007, Fig. 2].
pub fn fig2(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let powers = &[(Unscaled, -2.0), (Left, -2.0), (LeftRight, -1.0)];
    let of = |measured: &Measured| measured.correction;
    let bound = Some(Bound { of: largest_sum, powers: &[-3.0, -2.0, -1.0] });
    let what = "last decreasing correction";
    Curves { form: Form::ThreeField, what, of, powers, tolerance: ROUND_OFF_TOLERANCE, bound }.run(progress)
}

/// Reads one of the measured numbers.
type Read = fn(&Measured) -> f64;

/// Last decreasing corrections by field [BottassoBauchauCardona2007, Fig. 3].
pub fn fig3(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let fields: [(&str, [Read; 2], [f64; 3]); 3] = [
        ("correction of positions", [|found| found.by_field[0], |found| found.sums[0]], [-1.0, 0.0, 0.0]),
        ("correction of velocities", [|found| found.by_field[1], |found| found.sums[1]], [-2.0, -1.0, -1.0]),
        ("correction of multipliers", [|found| found.by_field[2], |found| found.sums[2]], [-3.0, -2.0, 0.0]),
    ];
    let mut all: Option<Outcome> = None;
    for (panel, (what, [of, sums], bounds)) in fields.into_iter().enumerate() {
        let [_, left, both] = bounds;
        let powers = &[(Unscaled, left), (Left, left), (LeftRight, both)];
        let bound = Some(Bound { of: sums, powers: &bounds });
        let tolerance = ROUND_OFF_TOLERANCE;
        let curves = Curves { form: Form::ThreeField, what, of, powers, tolerance, bound };
        let found = curves.run(progress)?;
        let all = all.get_or_insert_with(|| {
            let panels = fields.map(|(what, _, _)| Panel::log_log(what));
            let columns = ["field", "h"].into_iter().chain([Unscaled, Left, LeftRight].map(name));
            Outcome::new(Table::new(columns), FigureStyle::side_by_side(panels))
        });
        for (i, step) in STEPS.iter().enumerate() {
            let values = found.series.iter().map(|series| number(series.y[i]));
            all.table.row([what.to_string(), number(*step)].into_iter().chain(values));
        }
        found.checks.into_iter().for_each(|check| all.check(check));
        found.series.into_iter().for_each(|series| all.curve(Series { panel, ..series }));
    }
    all.ok_or_else(|| "there are no fields".into())
}

/// Condition numbers [BottassoBauchauCardona2007, Fig. 4].
pub fn fig4(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let powers = &[(Unscaled, -3.0), (Left, -2.0), (LeftRight, -1.0)];
    condition(Form::ThreeField, powers, progress)
}

/// Last decreasing corrections with velocities scaled as well [BottassoBauchauCardona2007, Fig. 5].
pub fn fig5(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let powers = &[(Left, -2.0), (LeftRightVelocities, 0.0)];
    let of = |measured: &Measured| measured.correction;
    let bound = Some(Bound { of: largest_sum, powers: &[-2.0, 0.0] });
    let what = "last decreasing correction";
    Curves { form: Form::ThreeField, what, of, powers, tolerance: ROUND_OFF_TOLERANCE, bound }.run(progress)
}

/// Condition numbers with velocities scaled as well [BottassoBauchauCardona2007, Fig. 6].
pub fn fig6(progress: &Progress) -> Result<Outcome, ExperimentError> {
    condition(Form::ThreeField, &[(Left, -2.0), (LeftRightVelocities, 0.0)], progress)
}

/// Last decreasing corrections of the two-field form [BottassoBauchauCardona2007, Fig. 7].
pub fn fig7(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let powers = &[(Unscaled, -2.0), (Left, -2.0), (LeftRight, 0.0)];
    let of = |measured: &Measured| measured.correction;
    let bound = Some(Bound { of: largest_sum, powers: &[-3.0, -2.0, 0.0] });
    let what = "last decreasing correction";
    Curves { form: Form::TwoField, what, of, powers, tolerance: ROUND_OFF_TOLERANCE, bound }.run(progress)
}

/// Condition numbers of the two-field form [BottassoBauchauCardona2007, Fig. 8].
pub fn fig8(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let powers = &[(Unscaled, -4.0), (Left, -3.0), (LeftRight, 0.0)];
    condition(Form::TwoField, powers, progress)
}

fn condition(form: Form, powers: &[(Scaling, f64)], progress: &Progress) -> Result<Outcome, ExperimentError> {
    let of = |measured: &Measured| measured.condition;
    Curves { form, what: "condition number", of, powers, tolerance: CONDITION_TOLERANCE, bound: None }
        .run(progress)
}
