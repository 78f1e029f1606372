//! Accuracies that are claimed are met, and errors that are reported are true.
//!
//! Smooth models of the project and machines made at random are run with accuracies from 1e-3 to 1e-7 in both
//! groups, with no other settings, and compared with the explicit method of order 8 at a tolerance of 1e-11
//! in the other group. Most of them run with that method themselves: `models.rs` compares with implicit ones.
//! `cargo xtask accuracy` makes the whole table, and one of what an accuracy costs; a tenth of the first is
//! part of all tests.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]
#![allow(clippy::print_stderr, reason = "the table tells what it found")]

use std::time::Duration;

use crate::common;
use crate::machines::smooth;
use crate::poses::Poses;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::results::WriteError;
use kreisel::run::{Job, JobOutcome, Record, Sink};

/// At most so many of the claims may be false, and so many of the reported errors be less than half of the
/// true ones.
const FALSE_CLAIMS: f64 = 1.0 / 100.0;
const TOO_SMALL: f64 = 1.0 / 50.0;
/// References in both groups must agree to this part of the accuracy, and of an error for it to be compared
/// with what is reported.
const REFERENCE: f64 = 0.1;
/// Their tolerance.
const TOLERANCE: &str = "1e-11";
/// Errors below these, in lengths and rad and in parts of the largest force, are those of the reference:
/// nobody counts them.
const ROUNDING: f64 = 1e-8;
/// Times at which motions are compared.
const TIMES: f64 = 100.0;
const ACCURACIES: [f64; 5] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7];
const GROUPS: [&str; 2] = ["se3", "so3xr3"];
/// Random machines, by seeds from 0 on.
const MACHINES: u64 = 100;
/// Models whose motion is smooth.
const SMOOTH: [&str; 20] = [
    "bricard-6r",
    "chain-revolute",
    "chain-spherical",
    "chaplygin-sleigh",
    "coin",
    "crank-row",
    "door",
    "double-pendulum",
    "flyball-governor",
    "four-bar",
    "gear-pair",
    "heavy-top",
    "pendulum",
    "rolling-disc",
    "screw-press",
    "slider-crank-spatial",
    "stewart-platform",
    "tennis-racket",
    "turntable-ball",
    "universal-joint",
];

/// Poses of nodes and forces of joints at equal times.
struct Motion {
    poses: Poses,
    /// Which signals are components of forces, three after the other.
    columns: Vec<usize>,
    forces: Vec<Vec<f64>>,
}

impl Motion {
    fn new(machine: &Machine) -> Self {
        let is_force =
            |name: &str| [".force.x", ".force.y", ".force.z"].iter().any(|end| name.ends_with(end));
        let channels = machine.channels();
        let named =
            channels.iter().enumerate().filter(|(_, channel)| channel.unit == "N" && is_force(&channel.name));
        let columns = named.map(|(index, _)| index).collect();
        Self { poses: Poses::default(), columns, forces: Vec::new() }
    }

    /// Largest difference of a force to another motion, and the largest force there.
    fn force_error(&self, other: &Self) -> [f64; 2] {
        let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut largest = [0.0_f64; 2];
        for (mine, others) in self.forces.iter().zip(&other.forces) {
            for (a, b) in mine.chunks_exact(3).zip(others.chunks_exact(3)) {
                let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
                largest = [largest[0].max(norm(&difference)), largest[1].max(norm(b))];
            }
        }
        largest
    }
}

impl Sink for Motion {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.forces.push(self.columns.iter().map(|&column| record.values[column]).collect());
        self.poses.push(record)
    }
}

/// A machine that can be read with settings.
struct Subject {
    name: String,
    text: Option<String>,
}

impl Subject {
    fn model(name: &str) -> Self {
        Self { name: name.to_owned(), text: None }
    }

    fn random(seed: u64) -> Self {
        Self { name: format!("machine {seed}"), text: Some(smooth(seed)) }
    }

    /// The machine with settings in place of its own, but for its times.
    fn machine(&self, settings: &[(&str, &str)]) -> Machine {
        let texts =
            settings.iter().fold(SettingTexts::default(), |texts, (key, value)| texts.with(*key, value));
        match &self.text {
            Some(text) => MachineReader::new().with_settings(&texts).text("random.toml", text).unwrap(),
            None => common::model(&self.name, &[], &texts),
        }
    }

    /// A run of it.
    fn run(&self, settings: &[(&str, &str)]) -> Option<(Motion, JobOutcome, f64)> {
        self.timed(settings).0
    }

    /// A run of it, and the CPU time that it took.
    fn timed(&self, settings: &[(&str, &str)]) -> (Option<(Motion, JobOutcome, f64)>, Duration) {
        let machine = self.machine(settings);
        let mut plan = machine.plan().unwrap();
        plan.output_step = Some((plan.end_time - plan.start_time) / TIMES);
        let began = cpu_time();
        let ran = Job::new(&machine, &plan).record(Motion::new(&machine));
        let time = cpu_time() - began;
        let length = machine.system().scales().length;
        let whole = ran.ok().filter(|(_, outcome)| outcome.statistics.time >= plan.end_time - 1e-9);
        (whole.map(|(motion, outcome)| (motion, outcome, length)), time)
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What came of the runs with an accuracy in a group.
#[derive(Default)]
struct Row {
    runs: usize,
    claims: usize,
    false_claims: Vec<String>,
    /// Errors of positions and angles, and of forces, that are reported, and those that are too small by more
    /// than 2.
    reported: [usize; 2],
    too_small: [Vec<String>; 2],
    without_reference: Vec<String>,
    failed: Vec<String>,
}

impl Row {
    /// Runs a machine in one of the groups and compares it with the reference in the other one.
    fn add(
        &mut self,
        subject: &Subject,
        references: &[Option<(Motion, f64)>; 2],
        accuracy: f64,
        group: usize,
    ) {
        let word = GROUPS[group];
        let case = format!("{}, {word}, {accuracy:e}", subject.name);
        let [Some((check, _)), Some((reference, length))] =
            [group, 1 - group].map(|group| &references[group])
        else {
            self.without_reference.push(case);
            return;
        };
        let size = reference.poses.ranges()[0].max(*length);
        let worst = |motion: &Motion| {
            let [position, angle] = motion.poses.differences(&reference.poses);
            (position / size).max(angle)
        };
        if worst(check) > REFERENCE * accuracy {
            self.without_reference.push(case);
            return;
        }
        let wanted = format!("{accuracy:e}");
        let Some((motion, outcome, _)) = subject.run(&[("accuracy", &wanted), ("group", word)]) else {
            self.failed.push(case);
            return;
        };
        self.runs += 1;
        let error = worst(&motion);
        let is_told = outcome.summary.notes.iter().any(|note| note["kind"] == "accuracy-missed");
        let Some(found) = outcome.accuracy else {
            self.failed.push(case);
            return;
        };
        if !is_told {
            self.claims += 1;
            if error > accuracy {
                self.false_claims.push(format!("{case}: {error:.2e}"));
            }
        }
        let [force, largest] = motion.force_error(reference);
        let forces =
            [found.forces.error, force].map(|error| if largest > 0.0 { error / largest } else { 0.0 });
        let positions = [(found.positions.error / size).max(found.angles.error), error];
        eprintln!(
            "{case}: {error:.1e}, {:.1e} reported{}; forces {:.1e}, {:.1e} reported; {} runs",
            positions[0],
            if is_told { ", missed" } else { "" },
            forces[1],
            forces[0],
            found.runs
        );
        let [force, largest] = check.force_error(reference);
        let doubts = [worst(check), if largest > 0.0 { force / largest } else { 0.0 }];
        for (kind, ([told, is], doubt)) in [positions, forces].into_iter().zip(doubts).enumerate() {
            if is > ROUNDING && doubt < REFERENCE * is {
                self.reported[kind] += 1;
                if told < 0.5 * is {
                    self.too_small[kind].push(format!("{case}: {told:.2e} of {is:.2e}"));
                }
            }
        }
    }
}

/// Makes the table, and asks for what was promised.
fn judge(subjects: &[Subject], accuracies: &[f64]) {
    let mut rows: Vec<[Row; 2]> = accuracies.iter().map(|_| Default::default()).collect();
    for subject in subjects {
        let references = GROUPS.map(|group| {
            let run = subject.run(&[("method", "explicit8"), ("rtol", TOLERANCE), ("group", group)]);
            run.map(|(motion, _, length)| (motion, length))
        });
        for (accuracy, rows) in accuracies.iter().zip(&mut rows) {
            let pair = rows.iter_mut().enumerate();
            pair.for_each(|(group, row)| row.add(subject, &references, *accuracy, group));
        }
    }
    let mut all = Row::default();
    eprintln!("accuracy group runs claims false | q reported, too small | forces reported, too small");
    for (accuracy, rows) in accuracies.iter().zip(rows) {
        for (group, row) in GROUPS.iter().zip(rows) {
            let Row { runs, claims, false_claims, reported, too_small, without_reference, failed } = row;
            eprintln!(
                "{accuracy:e} {group} {runs} {claims} {} | {} {} | {} {}",
                false_claims.len(),
                reported[0],
                too_small[0].len(),
                reported[1],
                too_small[1].len()
            );
            for line in false_claims.iter().chain(&too_small[0]).chain(&too_small[1]) {
                eprintln!("    {line}");
            }
            for (what, lines) in [("without a reference", &without_reference), ("failed", &failed)] {
                lines.iter().for_each(|line| eprintln!("    {what}: {line}"));
            }
            all.claims += claims;
            all.false_claims.extend(false_claims);
            for kind in 0..2 {
                all.reported[kind] += reported[kind];
                all.too_small[kind].extend_from_slice(&too_small[kind]);
            }
        }
    }
    assert!(all.claims > 0);
    assert!(
        all.false_claims.len() as f64 <= (FALSE_CLAIMS * all.claims as f64).ceil(),
        "{:#?}",
        all.false_claims
    );
    for (reported, too_small) in all.reported.iter().zip(&all.too_small) {
        assert!(too_small.len() as f64 <= (TOO_SMALL * *reported as f64).ceil(), "{too_small:#?}");
    }
}

#[test]
fn accuracies_that_are_claimed_are_met() {
    let machines = (0..MACHINES / 10).map(Subject::random);
    let models = ["pendulum", "rolling-disc"].map(Subject::model);
    judge(&machines.chain(models).collect::<Vec<_>>(), &[1e-3, 1e-5]);
}

#[test]
#[ignore = "takes ten minutes: cargo xtask accuracy"]
fn all_accuracies_that_are_claimed_are_met() {
    let subjects: Vec<Subject> =
        (0..MACHINES).map(Subject::random).chain(SMOOTH.map(Subject::model)).collect();
    judge(&subjects, &ACCURACIES);
}

/// Accuracies whose price is looked at.
const PRICED: [f64; 2] = [1e-3, 1e-5];
/// The largest price in CPU time of the best fixed steps, in the median. It guards what there is: 3.7 was measured
/// at 1e-3, where two runs of order 8 are dear beside a hundred steps of second order, on a busy computer; 4.0 and
/// 4.1 before a step that is looked into took 20 factorisations in place of 24.
const MEDIAN_PRICE: f64 = 4.5;
/// What the price is to be one day; printed beside what it is.
const GOAL: f64 = 3.0;
/// Above this price a model is listed with its cause.
const HIGH_PRICE: f64 = 6.0;
/// The fewest and the most fixed steps that are tried.
const FEWEST: f64 = 64.0;
const MOST: f64 = 3e5;
/// So many hardly cost anything.
const FEW: f64 = 256.0;
/// Each run is timed so many times; the fastest counts.
const TIMINGS: usize = 3;

/// The time of the fastest of some runs.
fn fastest(subject: &Subject, settings: &[(&str, &str)]) -> f64 {
    (0..TIMINGS).map(|_| subject.timed(settings).1.as_secs_f64()).fold(f64::INFINITY, f64::min)
}

/// The fewest fixed steps with which a model has an accuracy, and its error with these.
fn best_fixed(subject: &Subject, reference: &Motion, size: f64, accuracy: f64) -> Option<(String, f64, f64)> {
    let end = subject.machine(&[]).plan().unwrap().end_time;
    let try_steps = |count: f64| {
        let step = format!("{:e}", end / count);
        let (motion, ..) = subject.run(&[("step", &step)])?;
        let [position, angle] = motion.poses.differences(&reference.poses);
        let error = (position / size).max(angle);
        (error <= accuracy).then_some((step, count, error))
    };
    let mut count = FEWEST;
    let met = loop {
        if let Some(met) = try_steps(count) {
            break met;
        }
        count *= 2.0;
        if count > MOST {
            return None;
        }
    };
    // Down to a tenth more than the fewest.
    let finer = [0.55, 0.65, 0.75, 0.87].iter().filter(|_| count > FEWEST);
    Some(finer.map(|part| (part * count).round()).find_map(try_steps).unwrap_or(met))
}

#[test]
#[ignore = "takes minutes, and a quiet computer: cargo xtask accuracy"]
fn an_accuracy_costs_a_few_times_the_best_fixed_steps() {
    let medians = PRICED.map(|accuracy| {
        let mut prices = Vec::new();
        let mut high = Vec::new();
        eprintln!(
            "accuracy {accuracy:e}: model, fixed steps, all steps of all runs, runs, time of all over time of fixed"
        );
        for subject in SMOOTH.map(Subject::model) {
            let fine = [("method", "explicit8"), ("rtol", TOLERANCE), ("group", "so3xr3")];
            let Some((reference, _, length)) = subject.run(&fine) else { continue };
            let size = reference.poses.ranges()[0].max(length);
            let Some((step, count, error)) = best_fixed(&subject, &reference, size, accuracy) else {
                eprintln!("{}: no fixed steps", subject.name);
                continue;
            };
            let wanted = format!("{accuracy:e}");
            let Some((_, outcome, _)) = subject.run(&[("accuracy", &wanted)]) else { continue };
            let found = outcome.accuracy.unwrap();
            let times = [fastest(&subject, &[("accuracy", &wanted)]), fastest(&subject, &[("step", &step)])];
            let price = times[0] / times[1];
            let line = format!(
                "{}: {count} {} {} {price:.2}; {:.1e} s, {:.1e} s; error {error:.1e} with fixed ones",
                subject.name, found.work.steps, found.runs, times[0], times[1]
            );
            eprintln!("{line}");
            if price > HIGH_PRICE {
                let cause = match found.limited_by {
                    _ if count <= FEW => "fewer fixed steps do than two runs of order 8 need",
                    Some(limit) => limit,
                    None => "cause unknown",
                };
                high.push(format!("{line}: {cause}"));
            }
            prices.push(price);
        }
        prices.sort_by(f64::total_cmp);
        let middle = prices.len() / 2;
        let median = 0.5 * (prices[(prices.len() - 1) / 2] + prices[middle]);
        eprintln!(
            "accuracy {accuracy:e}: median {median:.2} of {} models, the goal is {GOAL}; above {HIGH_PRICE}: {high:#?}",
            prices.len()
        );
        median
    });
    assert!(medians.iter().all(|median| *median <= MEDIAN_PRICE), "{medians:?}");
}
