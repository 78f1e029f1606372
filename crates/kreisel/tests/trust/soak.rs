//! Random machines of all kinds of parts run a hundred steps with two methods and in both groups: errors that
//! are estimated are those that there are, energies balance, and a run that was interrupted goes on to the same
//! bytes.
//!
//! `cargo xtask soak --machines N --first K` runs as many as one likes.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]
#![allow(clippy::print_stderr, reason = "the table tells what it found")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use kreisel::dae::Control;
use kreisel::machine::{Functions, Machine, SettingTexts};
use kreisel::part::{MachineReader, parts};
use kreisel::results::{Verdict, WriteError};
use kreisel::run::{
    Accuracy, Checkpoint, ErrorEstimate, Every, Job, JobOutcome, Moment, Record, RunEnding, Sink, Trajectory,
};

use crate::common::given;
use crate::machines::{END, Varied, varied};
use crate::poses::Poses;

/// Steps of a run.
const STEPS: f64 = 100.0;
const GROUPS: [&str; 2] = ["se3", "so3xr3"];
/// `index2` runs beside one of these.
const OTHERS: [&str; 4] = ["index3", "bdf2", "soi2", "bdf3"];
/// An estimate may be too small by 2, as everywhere, and runs differ by the sum of their errors.
const FACTOR: f64 = 2.0;
/// Differences below these, in m and in rad, are rounding and Newton's tolerance.
const ROUNDING: [f64; 2] = [1e-8, 1e-8];
/// Part of the machines that may be refused with a reason; a generator knows not all that makes no sense.
const REFUSED: f64 = 0.05;
/// Part of the runs that may end with an error on their way: a generator makes machines that lock or fly apart, too.
const BROKEN_OFF: f64 = 0.05;
/// The limits of `energy-lost`, for energy that comes from nowhere and energy that is gone, in parts of that in play.
const GAINED: f64 = 0.03;
const LOST: f64 = 0.1;
/// Part of the runs whose estimate may miss by more than the factor: 2 of 100, as for machines that are smooth.
const MISSED: f64 = 0.02;

/// What came of machines.
#[derive(Default)]
struct Soak {
    machines: usize,
    runs: usize,
    compared: usize,
    /// Machines of which a run was refused.
    refused: Vec<String>,
    missed: Vec<String>,
    /// Runs that ended with an error on their way.
    broken_off: Vec<String>,
    /// What must never be.
    failures: Vec<String>,
}

/// Signals and poses.
struct Both(Trajectory, Poses);

impl Sink for Both {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.0.push(record)?;
        self.1.push(record)
    }
}

fn machine(text: &str, method: &str, group: &str, estimate: bool) -> Result<Machine, String> {
    let texts = SettingTexts::default()
        .with("method", method)
        .with("group", group)
        .with("step", format!("{:e}", END / STEPS))
        .with("error-estimate", estimate.to_string());
    let functions = Functions::from([("given".to_owned(), given())]);
    let reader = MachineReader::new().with_functions(functions).with_settings(&texts);
    reader.text("soak.toml", text).map_err(|errors| errors.render(false))
}

/// A run that came to its end.
struct Run {
    name: String,
    both: Both,
    outcome: JobOutcome,
}

impl Soak {
    /// Runs and compares a machine.
    fn add(&mut self, seed: u64) {
        self.machines += 1;
        let model = varied(seed);
        let methods = ["index2", OTHERS[(seed / 8) as usize % OTHERS.len()]];
        let mut runs = Vec::new();
        // A machine counts once, for whatever of its runs is refused.
        let mut refused = None;
        for (method, group) in methods.iter().flat_map(|method| GROUPS.map(|group| (method, group))) {
            let name = format!("machine {seed}, {method}, {group}");
            let planned = machine(&model.text, method, group, true).and_then(|machine| {
                let plan = machine.plan().map_err(|errors| errors.render(false))?;
                Ok((machine, plan))
            });
            let (machine, plan) = match planned {
                Ok(planned) => planned,
                Err(message) => {
                    refused = Some(format!("{name}: {message}"));
                    continue;
                }
            };
            self.runs += 1;
            let sink = Both(Trajectory::new(&machine), Poses::default());
            match Job::new(&machine, &plan).record(sink) {
                Ok((both, outcome)) if matches!(outcome.ending, RunEnding::Done | RunEnding::Event(_)) => {
                    self.check_numbers(&name, &model, &both.0, &outcome);
                    runs.push(Run { name, both, outcome });
                }
                Ok((_, outcome)) => self.broken_off.push(format!("{name}: {:?}", outcome.ending)),
                // What cannot be started.
                Err(error) => refused = Some(format!("{name}: {}", short(&error.to_string()))),
            }
        }
        self.refused.extend(refused);
        for (index, run) in runs.iter().enumerate() {
            runs[..index].iter().for_each(|other| self.compare(run, other));
        }
        // One restart of a machine: each method and group has its turn.
        let (method, group) = (methods[(seed / 32) as usize % 2], GROUPS[(seed / 64) as usize % 2]);
        if let Err(difference) = restart(&model.text, method, group) {
            self.failures.push(format!("machine {seed}, {method}, {group}: {difference}"));
        }
    }

    /// Every number is one, and energies balance as well as the run says that it is accurate.
    fn check_numbers(&mut self, name: &str, model: &Varied, signals: &Trajectory, outcome: &JobOutcome) {
        for (channel, column) in signals.channels.iter().zip(&signals.columns) {
            if column.iter().any(|value| !value.is_finite()) {
                self.failures.push(format!("{name}: {} is not finite", channel.name));
            }
        }
        let Some(balance) = signals.signal("energy.balance") else { return };
        let off = largest(balance);
        let gained = balance.iter().copied().fold(0.0, f64::max);
        let play = signals.signal("energy.kinetic").map_or(0.0, largest)
            + ["potential", "strain", "work", "dissipated"]
                .map(|word| signals.signal(&format!("energy.{word}")).map_or(0.0, range))
                .into_iter()
                .fold(0.0, f64::max);
        let is_good = outcome.summary.verdict == Some(Verdict::Good);
        // Beyond these limits a run must say so.
        if is_good && (off > LOST * play + 1e-9 || gained > GAINED * play + 1e-9) {
            self.failures.push(format!(
                "{name}: energies are off by {off:e} of {play:e} J, {gained:e} J of it gained, without a word"
            ));
        }
        // A quadratic form of velocities, and forces along a way, are off by twice the parts of both; estimates
        // are good to a factor of two. Stiff contacts and the fast vibrations of beams hold energy in motions
        // too small to count among positions.
        let Some(accuracy) = outcome.accuracy.as_ref().filter(|_| is_good && !model.jumps && !model.bends)
        else {
            return;
        };
        let part =
            |estimate: &ErrorEstimate| if estimate.size > 0.0 { estimate.error / estimate.size } else { 0.0 };
        let parts =
            [&accuracy.positions, &accuracy.angles, &accuracy.velocities, &accuracy.angular_velocities];
        let allowed = 4.0 * parts.map(part).into_iter().fold(0.0, f64::max) + 1e-6;
        if off > allowed * play + 1e-9 {
            self.failures.push(format!(
                "{name}: energies are off by {off:e} of {play:e} J, where {allowed:e} is said"
            ));
        }
    }

    /// Two runs of a machine differ by no more than their errors.
    fn compare(&mut self, run: &Run, other: &Run) {
        let [Some(first), Some(second)] = [run, other].map(|run| resolved(&run.outcome)) else { return };
        self.compared += 1;
        let differences = run.both.1.differences(&other.both.1);
        let allowed = [
            FACTOR * (first.positions.error + second.positions.error) + ROUNDING[0],
            FACTOR * (first.angles.error + second.angles.error) + ROUNDING[1],
        ];
        if (0..2).any(|kind| differences[kind] > allowed[kind]) {
            let names = format!("{} and {}", run.name, other.name);
            self.missed.push(format!("{names}: differ by {differences:?}, {allowed:?} are said"));
        }
    }

    fn merge(&mut self, other: Self) {
        self.machines += other.machines;
        self.runs += other.runs;
        self.compared += other.compared;
        self.refused.extend(other.refused);
        self.broken_off.extend(other.broken_off);
        self.missed.extend(other.missed);
        self.failures.extend(other.failures);
    }

    fn judge(&self) {
        let Self { machines, runs, compared, refused, broken_off, missed, failures } = self;
        eprintln!(
            "{machines} machines, {} refused, {runs} runs: {} broken off, {compared} pairs compared, {} off, {} failures",
            refused.len(),
            broken_off.len(),
            missed.len(),
            failures.len()
        );
        refused.iter().chain(broken_off).chain(missed).chain(failures).for_each(|line| eprintln!("  {line}"));
        assert!(failures.is_empty(), "{failures:#?}");
        let is_few = |count: usize, part: f64, all: usize| count as f64 <= 1.0 + part * all as f64;
        assert!(is_few(refused.len(), REFUSED, *machines), "{} machines are refused", refused.len());
        assert!(is_few(broken_off.len(), BROKEN_OFF, *runs), "{} runs are broken off", broken_off.len());
        assert!(missed.len() as f64 <= 1.0 + MISSED * *compared as f64, "{} pairs are off", missed.len());
    }
}

/// The estimate of a run that was resolved to its end and that nothing casts doubt on.
fn resolved(outcome: &JobOutcome) -> Option<&Accuracy> {
    let accuracy = outcome.accuracy.as_ref()?;
    (outcome.summary.verdict == Some(Verdict::Good) && accuracy.resolved_until.is_none()).then_some(accuracy)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

fn range(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min)
}

fn short(message: &str) -> String {
    message.chars().take(300).collect()
}

/// Where short files are written: to memory, where there is a disk in it.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// A run that is interrupted between two checkpoints and goes on has the bytes of one that is not.
fn restart(text: &str, method: &str, group: &str) -> Result<(), String> {
    let Ok(machine) = machine(text, method, group, false) else { return Ok(()) };
    let Ok(plan) = machine.plan() else { return Ok(()) };
    let place = scratch();
    let (whole, cut) = (place.path().join("whole"), place.path().join("cut"));
    let run = Job::new(&machine, &plan).report(false).run_into(&whole);
    if !run.is_ok_and(|outcome| matches!(outcome.ending, RunEnding::Done | RunEnding::Event(_))) {
        return Ok(());
    }
    let mut steps = 0;
    let mut stop = |_: &Moment| {
        steps += 1;
        if steps < 61 { Control::Continue } else { Control::Stop }
    };
    let job = Job::new(&machine, &plan).report(false).checkpoint(Every::Steps(37)).observe(&mut stop);
    job.run_into(&cut).map_err(|error| error.to_string())?;
    let checkpoint = Checkpoint::read(&cut).map_err(|error| error.to_string())?;
    let again = Job::new(&machine, &plan).report(false).resume(&cut, &checkpoint);
    again.map_err(|error| error.to_string())?;
    let table = |folder: &Path| std::fs::read(folder.join("trajectory.csv")).unwrap();
    if table(&whole) == table(&cut) {
        Ok(())
    } else {
        Err("the table of a run that went on differs".to_owned())
    }
}

/// Machines from a seed on, on all cores.
fn soak(first: u64, count: u64) -> Soak {
    let (next, all) = (AtomicU64::new(first), Mutex::new(Soak::default()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    let mut own = Soak::default();
                    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| own.add(seed)));
                    if panicked.is_err() {
                        own.failures.push(format!("machine {seed}: a panic"));
                    }
                    own.missed.iter().chain(&own.failures).for_each(|line| eprintln!("{line}"));
                    let mut all = all.lock().unwrap();
                    all.merge(own);
                    if all.machines.is_multiple_of(1000) {
                        eprintln!(
                            "{} machines, {} off, {} failures",
                            all.machines,
                            all.missed.len(),
                            all.failures.len()
                        );
                    }
                }
            });
        }
    });
    all.into_inner().unwrap()
}

fn variable(name: &str, otherwise: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return otherwise };
    text.parse().unwrap_or_else(|_| panic!("{name} is to be a number, not `{text}`"))
}

#[test]
#[ignore = "as long as one likes: `cargo xtask soak`"]
fn many_random_machines_agree_with_what_is_said_of_them() {
    soak(variable("KREISEL_FIRST", 0), variable("KREISEL_MACHINES", 10_000)).judge();
}

#[test]
fn the_generator_knows_every_kind_of_part() {
    let mut seen: BTreeMap<&str, usize> = parts().map(|entry| (entry.kind.name, 0)).collect();
    for seed in 0..2000 {
        let text = varied(seed).text;
        for (kind, count) in &mut seen {
            if text.contains(&format!("[{kind}]")) {
                *count += 1;
            }
        }
    }
    let missing: Vec<&str> = seen.iter().filter(|(_, count)| **count == 0).map(|(kind, _)| *kind).collect();
    assert!(missing.is_empty(), "no machine has {missing:?}");
}
