//! The flexible four-bar linkage with a misaligned hinge [BrulsCardonaArnold2012, Fig. 6]: iterations and
//! order.
//!
//! Multipliers are judged by the reactions that they stand for, at the misaligned hinge.

use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use super::flexible::{
    Convergence, METHODS, Quantity, as_published, check_counts, iterations, machine, over_time,
    published_iterations, run, settings, signal,
};
use kreisel::integrate::{Parameters, Settings};
use kreisel::machine::Machine;
use kreisel::report::figure::{FigureStyle, Panel};

const MODEL: &str = include_str!("../../../../../models/four-bar-misaligned.toml");

/// Elements a bar as the model has them.
const MODEL_ELEMENTS: &str = "elements = 10";

const SPECTRAL_RADIUS: f64 = 0.9;

/// Step size of the long runs.
const STEP: f64 = 0.02;

/// Steps for the order in time, and those of its reference.
const STEPS: [f64; 3] = [0.01, 0.005, 0.0025];
const FINER_STEPS: [f64; 3] = [6.25e-4, 3.125e-4, 1.5625e-4];

/// How the drive starts: as published, and over the whole run. The fourth derivative of the published drive
/// jumps at 0.5 s and sets off vibrations of 5e-10 of the motion, which some steps follow and others do not:
/// extrapolations from ever finer steps differ by as much afterwards, and no reference is 1000 times better
/// than the finest run. So the order is judged with the other drive.
const PUBLISHED_DRIVE: &str = "smooth-start = 0.5";
const SMOOTH_DRIVE: &str = "smooth-start = 1";

/// End of all runs but the long ones.
const END: f64 = 1.0;

const MIDDLE: [&str; 3] =
    ["bc.at-0.5.displacement.x", "bc.at-0.5.displacement.y", "bc.at-0.5.displacement.z"];
const REACTION: [&str; 3] = ["c.force.x", "c.force.y", "c.force.z"];

fn linkage(elements: usize, drive: &str) -> Result<Machine, ExperimentError> {
    let text = MODEL.replace(MODEL_ELEMENTS, &format!("elements = {elements}"));
    let text = text.replace(PUBLISHED_DRIVE, drive);
    machine("four-bar-misaligned", &text, &[])
}

/// Mean iterations a step.
const PUBLISHED: [f64; 2] = [3.05, 3.06];

/// Runs the experiment.
pub fn run_all(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 * METHODS.len() * (STEPS.len() + 4) + LENGTHS.len() + 3);
    let mut outcome = Outcome::new(
        Table::new([
            "errors on [0, 1]",
            "h or elements' length",
            "displacement",
            "order",
            "reaction",
            "order",
        ]),
        FigureStyle::side_by_side([
            Panel::linear("out-of-plane displacement of the middle of BC"),
            Panel::linear("reaction at C"),
            Panel::log_log("errors over h").with_slopes([2.0]),
        ]),
    );
    let (published, smooth) = (linkage(10, PUBLISHED_DRIVE)?, linkage(10, SMOOTH_DRIVE)?);
    let parameters = Parameters::chung_hulbert(SPECTRAL_RADIUS)?;
    let mut counts = Vec::new();
    for ((name, method), count) in METHODS.into_iter().zip(PUBLISHED) {
        let settings = settings(method, parameters, STEP);
        counts.push(long_run(&mut outcome, &published, name, settings, count, progress)?);
        in_time(&mut outcome, &published, name, settings, progress)?;
        let name = format!("{name}, smooth drive");
        in_time(&mut outcome, &smooth, &name, settings, progress)?.check_every_order(&mut outcome, TOLERANCE);
    }
    check_counts(&mut outcome, [counts[0], counts[1]], PUBLISHED);
    in_space(&mut outcome, settings(METHODS[0].1, parameters, 0.005), progress)?;
    Ok(outcome)
}

/// Iterations of the published run, and with Kreisel's own settings.
fn long_run(
    outcome: &mut Outcome,
    linkage: &Machine,
    name: &str,
    settings: Settings,
    published: f64,
    progress: &Progress,
) -> Result<f64, ExperimentError> {
    let (trajectory, statistics) = run(linkage, as_published(settings), 5.0, STEP)?;
    progress.advance();
    let counted = published_iterations(&statistics);
    let cells = [format!("iterations a step, {name}"), number(STEP), number(counted)];
    let published_cells = [String::new(), format!("published {published}"), String::new()];
    outcome.table.row(cells.into_iter().chain(published_cells));
    let (_, statistics) = run(linkage, settings, 5.0, STEP)?;
    progress.advance();
    let measured = iterations(&statistics);
    outcome.check(Check::at_most(format!("iterations a step by default, {name}"), published, measured));
    outcome.curve(over_time(&trajectory, signal(&trajectory, MIDDLE[2])?, name, "displacement [m]"));
    outcome.curve(over_time(&trajectory, signal(&trajectory, REACTION[2])?, name, "force [N]").in_panel(1));
    Ok(counted)
}

/// What is judged.
const QUANTITIES: [Quantity; 2] = [("displacement", &MIDDLE), ("reaction", &REACTION)];

/// How far an observed order may lie from two.
const TOLERANCE: f64 = 0.1;

fn in_time(
    outcome: &mut Outcome,
    linkage: &Machine,
    name: &str,
    settings: Settings,
    progress: &Progress,
) -> Result<Convergence, ExperimentError> {
    let motion = |step: f64| run(linkage, settings.with_step(step), END, STEPS[0]).map(|(run, _)| run);
    let convergence = Convergence::measure(name, &QUANTITIES, &STEPS, FINER_STEPS, progress, motion)?;
    convergence.tabulate(outcome, 6);
    convergence.draw(outcome, 2, "step size h [s]");
    Ok(convergence)
}

/// Elements a bar, even numbers so that one ends in the middle, and those of the reference, as lengths.
const LENGTH: f64 = 0.24;
const LENGTHS: [f64; 3] = [LENGTH / 6.0, LENGTH / 10.0, LENGTH / 20.0];
const FINER_LENGTHS: [f64; 3] = [LENGTH / 20.0, LENGTH / 40.0, LENGTH / 80.0];

fn in_space(outcome: &mut Outcome, settings: Settings, progress: &Progress) -> Result<(), ExperimentError> {
    let motion = |length: f64| {
        let elements = (LENGTH / length).round() as usize;
        run(&linkage(elements, PUBLISHED_DRIVE)?, settings, END, settings.step()).map(|(run, _)| run)
    };
    let name = format!("in space, h = {}", number(settings.step()));
    let convergence = Convergence::measure(name, &QUANTITIES, &LENGTHS, FINER_LENGTHS, progress, motion)?;
    convergence.tabulate(outcome, 6);
    convergence.check_order(outcome, TOLERANCE);
    Ok(())
}
