//! Experiments of [BottassoBauchauCardona2007, §5]: a cam strikes a flexible beam, and steps become small.
//! The index-3 formulation is run with the scaling s = k_ave + m_ave/h² and with the constant one, m_ave = 0.
//!
//! The condition numbers are as the analysis says. The published failure with m_ave = 0 does not occur here,
//! for three reasons. Factors of rows and columns leave an elimination with a given order of pivots as it is:
//! every a_ij − a_ik a_kj/a_kk has the factors of its row and column, and only rounding differs; a run by an
//! elimination without any choice of pivots shows it. Pivots are chosen after rows and columns have been
//! balanced. And convergence is judged by tolerances of each unknown, not by a norm of all of them. So the
//! multipliers have the same round-off in newtons with both scalings.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::dae::{Control, Initial, Values};
use kreisel::integrate::{
    ErrorControl, INDEX3, Integrator, Interval, Observer, Parameters, Saturation, SaturationOptions, Saved,
    Settings,
};
use kreisel::machine::Machine;
use kreisel::report::figure::{FigureStyle, Panel, Series};
use kreisel::run::{Recorder, Trajectory};
use kreisel::solve::newton::{Elimination, NewtonSettings};

const MODEL: &str = include_str!("../../../../models/cam-beam.toml");

/// k_ave of the paper.
const STIFFNESS: f64 = 1e3;
/// m_ave of the paper's two runs.
const MASSES: [f64; 2] = [0.0, 1.0];
/// Step in s to which the published s at contact belongs, 1e13.
const PUBLISHED_STEP: f64 = 3.162e-7;
/// Condition numbers at this step: with m_ave = 0 at least 1/ε, which leaves no digit of an error that is
/// judged by norms; with m_ave = 1 at most this.
const WORST: f64 = 1.0 / f64::EPSILON;
const HARMLESS: f64 = 1e9;
/// When a run without choice of pivots ends in s: after the first impact, at which the published one fails.
const PLAIN_END: f64 = 0.55;
/// Step in s that the paper takes until steps are left to the error, and when that is.
const MAX_STEP: f64 = 1e-2;
const ADAPTIVE_FROM: f64 = 0.4;
/// The published local error, and the end of the run in s.
const LOCAL_ERROR: f64 = 1e-7;
const END: f64 = 1.0;
/// Smallest step in s, and damping: the paper prints neither.
const MIN_STEP: f64 = 1e-10;
const SPECTRAL_RADIUS: f64 = 0.9;
/// Stiffness in N/m of the contact, reduced mass in kg of the two bodies of 4 kg, and speed in m/s at which
/// they meet: that of the cam's end, 0.4 m from the hinge, at φ̇ = φ₀ W sin(W t) with φ₀ = π/3, W = 2π/3 and
/// t = 0.494.
const CONTACT_STIFFNESS: f64 = 2e9;
const REDUCED_MASS: f64 = 2.0;
const CONTACT_SPEED: f64 = 0.754;
/// How far the power of ten of s at contact may lie from that of a step with the published local error:
/// masses of the beams and the constant of the method change the step by a factor, not by an order of
/// magnitude.
const HALF_AN_ORDER: f64 = 0.5;
/// When contact begins in s, and how closely the parts are placed for that.
const CONTACT: (f64, f64) = (0.494, 1e-3);
/// The published range of s after the impact, from when on it is judged, and for which part of the time.
const BAND: [f64; 2] = [1e8, 1e11];
const BAND_FROM: f64 = 0.5;
const MIN_PART: f64 = 0.9;
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
    /// Largest s while surfaces meet for the first time, and the part of the time after the impact for which
    /// s is in the published band.
    scale_at_contact: f64,
    time_in_band: f64,
    /// Times with the smallest and the largest step around them.
    steps: Vec<[f64; 3]>,
}

/// What both figures show.
struct Strike {
    /// With constant s, and with s that grows as steps shrink.
    runs: [Run; 2],
    /// With constant s and an elimination without choice of pivots, as far as the first impact.
    plain: Run,
    /// What the smallest steps show with each of the two scalings: medians.
    own: [Iteration; 2],
    /// The same for steps of the published size.
    published: [Iteration; 2],
    /// Median of the ratios of the round-off in multipliers, m_ave = 0 over m_ave = 1, of single steps.
    round_off_ratio: f64,
}

/// What the iteration of a step shows.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    scale: f64,
    condition: f64,
    /// Power of h in it, from this step and from one of a tenth.
    power: f64,
    /// Round-off in the multipliers in N (or Nm): s times the largest entry of the last decreasing
    /// correction.
    round_off: f64,
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

fn settings(mass: f64, elimination: Elimination) -> Result<Settings, ExperimentError> {
    let control = ErrorControl {
        rtol: ErrorControl::tolerance_of_a_step(LOCAL_ERROR),
        atol: 0.0,
        min_step: MIN_STEP,
        max_step: MAX_STEP,
        initial_step: Some(MAX_STEP),
        ..ErrorControl::new(LOCAL_ERROR, END)
    };
    let settings = Settings::auto(INDEX3, Parameters::chung_hulbert(SPECTRAL_RADIUS)?, control);
    let newton = NewtonSettings { elimination, ..settings.newton() };
    Ok(settings.with_mass_scale(mass).with_stiffness_scale(STIFFNESS).with_newton(newton))
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
        let scale = run.scale(step);
        if (time - CONTACT.0).abs() < CONTACT.1 {
            run.scale_at_contact = run.scale_at_contact.max(scale);
        }
        if time > BAND_FROM && (BAND[0]..=BAND[1]).contains(&scale) {
            run.time_in_band += step;
        }
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
fn run(
    machine: &Machine,
    mass: f64,
    elimination: Elimination,
    end: f64,
) -> Result<(Run, VecDeque<(Saved, f64)>), ExperimentError> {
    let adaptive = settings(mass, elimination)?;
    let fixed = adaptive.with_step(MAX_STEP).with_error_control(None);
    let mut calm = Integrator::with(fixed).start(machine.system(), machine.initial().clone())?;
    calm.advance(ADAPTIVE_FROM)?;
    // Nothing has touched yet, and the method starts anew.
    let now = calm.values();
    let (configuration, velocity) = (now.configuration.clone(), now.velocity.clone());
    let initial = Initial { time: now.time, configuration, velocity, ..machine.initial().clone() };
    let mut integration = Integrator::with(adaptive).start(machine.system(), initial)?;
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

/// The iteration of a step from a state, with one m_ave.
fn iterate(machine: &Machine, mass: f64, state: &Saved, step: f64) -> Result<Iteration, ExperimentError> {
    let own = settings(mass, Elimination::Careful)?;
    let saturate = |step: f64| -> Result<Saturation, ExperimentError> {
        let fixed = own.with_step(step).with_error_control(None);
        let mut from = Integrator::with(fixed).resume(machine.system(), state)?;
        Ok(from.saturating_step(SaturationOptions::default())?)
    };
    let (found, smaller) = (saturate(step)?, saturate(0.1 * step)?);
    let (scale, condition) = (STIFFNESS + mass / (step * step), found.condition());
    Ok(Iteration {
        scale,
        condition,
        power: -(smaller.condition() / condition).log10(),
        round_off: scale * found.last_by_field[2],
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Medians of what steps from some states show with each of the two scalings, and the median of the ratios of
/// the round-off in multipliers, m_ave = 0 over m_ave = 1.
fn both_scalings(
    machine: &Machine,
    states: &VecDeque<(Saved, f64)>,
    size: impl Fn(f64) -> f64,
) -> Result<([Iteration; 2], f64), ExperimentError> {
    let mut found = [Vec::new(), Vec::new()];
    for (state, step) in states {
        for (found, mass) in found.iter_mut().zip(MASSES) {
            found.push(iterate(machine, mass, state, size(*step))?);
        }
    }
    // What is left in a step is chance, and the same chance for both scalings: they are compared step by
    // step.
    let [constant, scaled] = &found;
    let ratio = median(constant.iter().zip(scaled).map(|(a, b)| a.round_off / b.round_off).collect());
    let middle = |of: fn(&Iteration) -> f64, all: &[Iteration]| median(all.iter().map(of).collect());
    let medians = found.map(|all| Iteration {
        scale: middle(|one| one.scale, &all),
        condition: middle(|one| one.condition, &all),
        power: middle(|one| one.power, &all),
        round_off: middle(|one| one.round_off, &all),
    });
    Ok((medians, ratio))
}

/// All runs, computed once for both figures.
fn strike() -> Result<&'static Strike, ExperimentError> {
    static STRIKE: OnceLock<Result<Strike, String>> = OnceLock::new();
    let compute = || -> Result<Strike, ExperimentError> {
        let machine = Machine::from_text("cam-beam.toml", MODEL)?;
        let (constant, _) = run(&machine, MASSES[0], Elimination::Careful, END)?;
        let (scaled, states) = run(&machine, MASSES[1], Elimination::Careful, END)?;
        let (plain, _) = run(&machine, MASSES[0], Elimination::Plain, PLAIN_END)?;
        let (own, round_off_ratio) = both_scalings(&machine, &states, |step| step)?;
        let (published, _) = both_scalings(&machine, &states, |_| PUBLISHED_STEP)?;
        Ok(Strike { runs: [constant, scaled], plain, own, published, round_off_ratio })
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

/// An outcome with the checks of both figures.
fn outcome<const N: usize>(
    strike: &Strike,
    columns: [&str; N],
    label: &str,
    value: impl Fn(&Run, f64) -> f64,
) -> Outcome {
    let mut outcome = Outcome::new(Table::new(columns), FigureStyle::side_by_side([Panel::log_y("")]));
    for run in &strike.runs {
        outcome.curve(run.curve(label, |step| value(run, step)));
        let end = run.failure.clone().unwrap_or_else(|| "completes".to_owned());
        outcome.check(Check::text(format!("run with {}", run.name()), "completes", end));
        let contact = run.contact.unwrap_or(f64::NAN);
        let name = format!("first contact, {} [s]", run.name());
        outcome.check(Check::close(name, CONTACT.0, contact, CONTACT.1));
    }
    outcome
}

/// Step sizes over time [BottassoBauchauCardona2007, Fig. 10], and the linear equations of the smallest
/// steps.
pub fn fig10(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(1);
    let strike = strike()?;
    progress.advance();
    let columns = [
        "steps of",
        "m_ave",
        "steps",
        "smallest step [s]",
        "at [s]",
        "s",
        "condition (none is printed)",
        "round-off of λ [N]",
    ];
    let mut outcome = outcome(strike, columns, "step size h [s]", |_, step| step);
    for (whose, iterations) in [("this run", strike.own), ("the paper's size", strike.published)] {
        for (run, found) in strike.runs.iter().zip(iterations) {
            let of_run = [run.count.to_string(), number(run.smallest), number(run.smallest_at)];
            let of_run = if whose == "this run" { of_run } else { [(); 3].map(|()| String::new()) };
            let numbers = [found.scale, found.condition, found.round_off].map(number);
            let cells = [whose.to_owned(), number(run.mass)];
            outcome.table.row(cells.into_iter().chain(of_run).chain(numbers));
        }
    }
    let plain = strike.plain.failure.clone().unwrap_or_else(|| "completes".to_owned());
    let name = format!("run with m_ave = 0 and pivots as they come, until {PLAIN_END} s (published: fails)");
    outcome.check(Check::text(name, "completes", plain));
    let [constant, scaled] = strike.own;
    // Entries of the dynamic part grow with h⁻² beside those of the constraints if s is constant, and the
    // largest and the smallest singular value with them [BottassoBauchauCardona2007, Eqs. (43), (52)]. What
    // else depends on h, the stiff friction in a contact, is in both matrices.
    let power = constant.power - scaled.power;
    outcome.check(Check::close("power of h in the ratio of the condition numbers", -4.0, power, 0.1));
    let ratio = strike.round_off_ratio;
    outcome.check(Check::within("round-off of λ in N, m_ave = 0 over m_ave = 1", 0.1..=10.0, ratio));
    let [constant, scaled] = strike.published;
    let name = "condition number at the published step, m_ave = 0";
    outcome.check(Check::at_least(name, WORST, constant.condition));
    let name = "condition number at the published step, m_ave = 1";
    outcome.check(Check::at_most(name, HARMLESS, scaled.condition));
    Ok(outcome)
}

/// The scaling s over time [BottassoBauchauCardona2007, Fig. 11].
pub fn fig11(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(1);
    let strike = strike()?;
    progress.advance();
    let columns =
        ["m_ave", "s at contact (published: order 1e13)", "largest s", "part of the time in 1e8 … 1e11"];
    let mut outcome = outcome(strike, columns, "s = k_ave + m_ave/h²", Run::scale);
    for run in &strike.runs {
        let part = run.time_in_band / (run.reached - BAND_FROM);
        let scale = run.scale(run.smallest);
        outcome.table.row([run.mass, run.scale_at_contact, scale, part].map(number));
    }
    // A force k v t that begins within a step leaves an error of k v h³/(6 m) in a position. It is 1e-7 m for
    // a step of 1e-5 s; the published s of order 1e13 belongs to one of 3e-7 s, whose error is 4e-12 m: it
    // cannot follow from a local error of 1e-7 in positions, and which measure of it the paper takes is not
    // printed.
    let step = (6.0 * LOCAL_ERROR * REDUCED_MASS / (CONTACT_STIFFNESS * CONTACT_SPEED)).cbrt();
    let scaled = &strike.runs[1];
    let (expected, found) = (scaled.scale(step).log10(), scaled.scale_at_contact.log10());
    let name = "power of ten of s at contact, by a local error of 1e-7 m (published: 13)";
    outcome.check(Check::close(name, expected, found, HALF_AN_ORDER));
    let part = scaled.time_in_band / (scaled.reached - BAND_FROM);
    outcome.check(Check::at_least("part of the time after 0.5 s with s in 1e8 … 1e11", MIN_PART, part));
    Ok(outcome)
}
