//! Experiments of [BottassoBauchauCardona2007, §5]: a cam strikes a flexible beam, and steps become small.
//! With the scaling s = k_ave + m_ave/h² Newton's iteration does not mind; with a constant one round-off
//! stays in its corrections.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::dae::{Control, Values};
use kreisel::integrate::{ErrorControl, Integrator, Interval, Observer, Saved, Settings};
use kreisel::machine::Machine;
use kreisel::report::figure::{FigureStyle, Panel, Series};
use kreisel::run::{Recorder, Trajectory};

const MODEL: &str = include_str!("../../../../models/cam-beam.toml");

/// k_ave of the paper.
const STIFFNESS: f64 = 1e3;
/// m_ave of the paper's two runs.
const MASSES: [f64; 2] = [0.0, 1.0];
/// Largest step in s, which the paper takes until 0.4 s.
const MAX_STEP: f64 = 1e-2;
/// When contact begins in s, and how closely the parts are placed for that.
const CONTACT: (f64, f64) = (0.494, 1e-3);
/// Least s at the impact, and least ratio of the corrections with a constant scaling to those with the other.
const MIN_SCALE: f64 = 1e9;
const MIN_RATIO: f64 = 1e3;
/// How many of the smallest steps are looked at: what round-off leaves in one of them is chance.
const WATCHED: usize = 15;
/// Distance in s at which the depth of the contact is looked at.
const OUTPUT_STEP: f64 = 1e-4;

/// A run with one m_ave.
#[derive(Clone, Default)]
struct Run {
    mass: f64,
    /// Where it ended in s, and the reason if that is not the end of the model.
    reached: f64,
    failure: Option<String>,
    /// Time in s at which surfaces first touch.
    contact: Option<f64>,
    /// Smallest step in s, and when it was taken.
    smallest: f64,
    smallest_at: f64,
    count: usize,
    /// Times with the smallest and the largest step around them.
    steps: Vec<[f64; 3]>,
}

/// What both figures show.
struct Strike {
    /// With constant s, and with s that grows as steps shrink.
    runs: [Run; 2],
    /// Last decreasing corrections of the two scalings: medians over the same steps, the smallest ones.
    corrections: [f64; 2],
    /// Median of their ratios in each of these steps.
    ratio: f64,
}

/// Width in s of the bins in which steps are gathered for the curves.
const BIN: f64 = 2e-3;
/// The same around the first contact.
const FINE_BIN: f64 = 5e-5;

fn bin(time: f64) -> f64 {
    let fine = (time - CONTACT.0).abs() < 2e-3;
    let width = if fine { FINE_BIN } else { BIN };
    (time / width).floor() * width
}

fn settings(machine: &Machine, mass: f64) -> Result<Settings, ExperimentError> {
    let plan = machine.plan()?;
    let control = plan.integration.error_control().ok_or("the model leaves its steps to the error")?;
    let control = ErrorControl { max_step: MAX_STEP, initial_step: Some(MAX_STEP), ..control };
    let settings = plan.integration.with_error_control(control);
    Ok(settings.with_mass_scale(mass).with_stiffness_scale(STIFFNESS))
}

/// Watches the steps of a run.
struct CamObserver<'m> {
    recorder: Recorder<'m, Trajectory>,
    run: Run,
    /// The state before the step under way.
    before: Option<Saved>,
    /// The states before the last of the steps that were the smallest so far, and their sizes.
    states: VecDeque<(Saved, f64)>,
}

impl Observer for CamObserver<'_> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    /// Stops after each step, so that the state before the next one can be kept.
    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let (time, step) = (last.ends().to.time, last.report().step);
        let run = &mut self.run;
        if step < run.smallest {
            (run.smallest, run.smallest_at) = (step, time);
            self.states.extend(self.before.take().map(|before| (before, step)));
            if self.states.len() > WATCHED {
                self.states.pop_front();
            }
        }
        run.count += 1;
        match run.steps.last_mut() {
            Some([place, least, most]) if *place == bin(time) => {
                (*least, *most) = (least.min(step), most.max(step));
            }
            _ => run.steps.push([bin(time), step, step]),
        }
        self.recorder.accepted(last);
        Control::Stop
    }
}

/// Runs the model with one m_ave; gives the states before its smallest steps, with their sizes, as well.
fn run(machine: &Machine, mass: f64) -> Result<(Run, VecDeque<(Saved, f64)>), ExperimentError> {
    let end = machine.plan()?.end_time;
    let mut integration =
        Integrator::with(settings(machine, mass)?).start(machine.system(), machine.initial().clone())?;
    let mut watch = CamObserver {
        recorder: Recorder::new(machine, Some(OUTPUT_STEP), Trajectory::new(machine)),
        run: Run { mass, smallest: f64::INFINITY, ..Run::default() },
        before: None,
        states: VecDeque::new(),
    };
    watch.started(integration.values());
    let mut outcome = Ok(());
    while outcome.is_ok() && integration.values().time < end {
        watch.before = Some(integration.save());
        outcome = integration.run(end, &mut watch);
    }
    let CamObserver { recorder, mut run, states, .. } = watch;
    let trajectory = recorder.finish(integration.values())?;
    let depth = trajectory.signal("strike.depth").ok_or("the model has a contact `strike`")?;
    run.contact = depth.iter().position(|depth| *depth > 0.0).map(|index| trajectory.times[index]);
    run.reached = integration.values().time;
    run.failure = outcome.err().map(|error| error.to_string());
    Ok((run, states))
}

/// The last decreasing correction of a step from a state, with one m_ave.
fn correction(machine: &Machine, mass: f64, state: &Saved, step: f64) -> Result<f64, ExperimentError> {
    let fixed = settings(machine, mass)?.with_step(step).with_error_control(None);
    let mut from = Integrator::with(fixed).resume(machine.system(), state)?;
    Ok(from.saturating_step(kreisel::integrate::Watch::default())?.last_decreasing)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Both runs, computed once for both figures.
fn strike() -> Result<&'static Strike, ExperimentError> {
    static STRIKE: OnceLock<Result<Strike, String>> = OnceLock::new();
    let compute = || -> Result<Strike, ExperimentError> {
        let machine = Machine::from_text("cam-beam.toml", MODEL)?;
        let (constant, _) = run(&machine, MASSES[0])?;
        let (scaled, states) = run(&machine, MASSES[1])?;
        let (mut corrections, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for (state, step) in &states {
            let [constant, scaled] = [0, 1].map(|index| correction(&machine, MASSES[index], state, *step));
            let (constant, scaled) = (constant?, scaled?);
            corrections[0].push(constant);
            corrections[1].push(scaled);
            ratios.push(constant / scaled);
        }
        let corrections = corrections.map(median);
        Ok(Strike { runs: [constant, scaled], corrections, ratio: median(ratios) })
    };
    let outcome = STRIKE.get_or_init(|| compute().map_err(|error| error.to_string()));
    outcome.as_ref().map_err(|error| error.clone().into())
}

impl Run {
    fn name(&self) -> String {
        format!("m_ave = {}", self.mass)
    }

    /// s at a step size.
    fn scale(&self, step: f64) -> f64 {
        STIFFNESS + self.mass / (step * step)
    }

    /// A curve through the smallest and largest value of each bin.
    fn curve(&self, label: &str, value: impl Fn(f64) -> f64) -> Series {
        let ends = |[time, least, most]: &[f64; 3]| [(*time, value(*least)), (*time, value(*most))];
        let (times, values) = self.steps.iter().flat_map(ends).unzip();
        Series::new(self.name(), times, values).labelled("t [s]", label)
    }
}

fn outcome(
    label: &str,
    value: impl Fn(&Run, f64) -> f64,
    progress: &Progress,
) -> Result<Outcome, ExperimentError> {
    progress.expect(1);
    let strike = strike()?;
    progress.advance();
    let columns = [
        "m_ave",
        "reached [s]",
        "contact [s]",
        "steps",
        "smallest step [s]",
        "at [s]",
        "s there",
        "correction",
    ];
    let mut outcome = Outcome::new(Table::new(columns), FigureStyle::side_by_side([Panel::log_y("")]));
    for (run, correction) in strike.runs.iter().zip(strike.corrections) {
        let contact = run.contact.map_or_else(|| "none".to_owned(), number);
        let scale = run.scale(run.smallest);
        outcome.table.row([
            number(run.mass),
            number(run.reached),
            contact,
            run.count.to_string(),
            number(run.smallest),
            number(run.smallest_at),
            number(scale),
            number(correction),
        ]);
        outcome.curve(run.curve(label, |step| value(run, step)));
    }
    let [constant, scaled] = &strike.runs;
    let contact = scaled.contact.unwrap_or(f64::NAN);
    outcome.check(Check::close("first contact, m_ave = 1 [s]", CONTACT.0, contact, CONTACT.1));
    let end = scaled.failure.clone().unwrap_or_else(|| "completes".to_owned());
    outcome.check(Check::text("run with m_ave = 1", "completes", end));
    outcome.check(Check::at_least("largest s, m_ave = 1", MIN_SCALE, scaled.scale(scaled.smallest)));
    // A run that fails is what the paper shows; corrections tell why, whether it fails or not.
    let name = format!("correction with m_ave = 0 over that with m_ave = 1, {WATCHED} smallest steps");
    outcome.check(match constant.failure {
        Some(_) => Check::at_most("end of the run with m_ave = 0 [s]", 1.0 - f64::EPSILON, constant.reached),
        None => Check::at_least(name, MIN_RATIO, strike.ratio),
    });
    Ok(outcome)
}

/// Step sizes over time [BottassoBauchauCardona2007, Fig. 10].
pub fn fig10(progress: &Progress) -> Result<Outcome, ExperimentError> {
    outcome("step size h [s]", |_, step| step, progress)
}

/// The scaling s over time [BottassoBauchauCardona2007, Fig. 11].
pub fn fig11(progress: &Progress) -> Result<Outcome, ExperimentError> {
    outcome("s = k_ave + m_ave/h²", Run::scale, progress)
}
