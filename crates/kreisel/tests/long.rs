//! Long runs of the heavy top: rotations stay rotations, constraints stay kept, energy does what theory says,
//! memory stays as it is.
//!
//! `cargo xtask long` runs ten million steps of each method; the short versions are part of all tests.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]
#![allow(clippy::print_stderr, reason = "long runs tell what they measured")]

use kreisel::dae::{Control, Point};
use kreisel::integrate::Interval;
use kreisel::kinematics::NodeId;
use kreisel::lie::Matrix3;
use kreisel::machine::SettingTexts;
use kreisel::part::MachineReader;
use kreisel::run::RunEnding;
use kreisel::system::System;
use std::path::Path;

/// Steps between looks.
const EVERY: u64 = 100;

/// The worst that was seen so far.
#[derive(Default)]
struct Book {
    steps: u64,
    first_energy: f64,
    orthogonality: f64,
    position: f64,
    velocity: f64,
    /// Largest and smallest energy of each tenth of the run, against the first.
    energies: Vec<[f64; 2]>,
    total: u64,
    /// Resident memory in kB after a tenth of the run and at its end.
    memory: [u64; 2],
}

impl Book {
    fn accepted(&mut self, system: &System, last: &mut dyn Interval) -> Control {
        self.steps += 1;
        if self.steps.is_multiple_of(EVERY) {
            self.look(system, &last.ends().to.point());
        }
        if self.steps == self.total / 10 {
            self.memory[0] = resident();
        }
        Control::Continue
    }

    fn look(&mut self, system: &System, at: &Point) {
        let rotation = system.motion(NodeId(0), at).rotation;
        let defect = (rotation.transpose() * rotation - Matrix3::identity()).abs().max();
        let [position, velocity] = system.constraint_residuals(at);
        self.orthogonality = self.orthogonality.max(defect);
        self.position = self.position.max(position);
        self.velocity = self.velocity.max(velocity);
        let energy = system.energies(at).total();
        if self.energies.is_empty() {
            self.first_energy = energy;
        }
        let tenth = (10 * (self.steps - 1) / self.total) as usize;
        self.energies.resize(tenth + 1, [f64::NEG_INFINITY, f64::INFINITY]);
        let change = energy / self.first_energy - 1.0;
        let range = &mut self.energies[tenth];
        *range = [range[0].max(change), range[1].min(change)];
    }
}

/// Resident memory of the process in kB, where the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Step of the long runs in s.
const STEP: f64 = 5e-4;

fn run(method: &str, radius: &str, step: f64, steps: u64) -> Book {
    let settings = SettingTexts::default()
        .with("method", method)
        .with("spectral-radius", radius)
        .with("step", format!("{step:e}"))
        .with("end-time", format!("{:e}", steps as f64 * step));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    let machine = MachineReader::new().with_settings(&settings).read(&path).unwrap();
    let plan = machine.plan().unwrap();
    let mut book = Book { total: steps, ..Book::default() };
    let mut watch = |last: &mut dyn Interval| book.accepted(machine.system(), last);
    let ending = machine.start(&plan).unwrap().advance(&mut watch);
    assert_eq!(ending, RunEnding::Done);
    assert_eq!(book.steps, steps);
    book.memory[1] = resident();
    book
}

/// What must hold however long the run: round-off of numbers of size 1 (positions).
fn check(book: &Book) {
    assert!(book.orthogonality < 1e-13, "{:e}", book.orthogonality);
    // Newton's absolute tolerance.
    assert!(book.position < 1e-12, "{:e}", book.position);
    let [early, late] = book.memory;
    assert!(late <= early + 1000, "memory grew from {early} to {late} kB");
}

/// ρ∞ < 1 damps: energy is lost, never gained, apart from what a nodding of the top shows.
fn check_damped(book: &Book) {
    check(book);
    let tops: Vec<f64> = book.energies.iter().map(|range| range[0]).collect();
    assert!(tops.windows(2).all(|pair| pair[1] <= pair[0] + 1e-4), "{tops:?}");
}

/// Drift of the energy of `index2` at ρ∞ = 1 per second, and how far it swings about that, relative to the
/// energy.
fn drift_and_swing(book: &Book, step: f64) -> [f64; 2] {
    let middle = |range: &[f64; 2]| 0.5 * (range[0] + range[1]);
    let (first, last) = (&book.energies[0], &book.energies[book.energies.len() - 1]);
    let between = 0.9 * book.steps as f64 * step;
    [(middle(last) - middle(first)).abs() / between, first[0] - first[1]]
}

/// ρ∞ = 1 damps nothing, but a method of second order that is not symplectic lets energy drift slowly.
///
/// It keeps the energy of a neighbouring problem, which differs from that of the machine by h² times a
/// function of the state: what it swings and drifts by falls with h² at least. So a run with twice the step
/// bounds both: by a quarter, and a half more for what is of higher order there.
fn check_undamped(book: &Book) {
    check(book);
    // With the hidden constraints in the equations they hold to round-off as well: of velocities of 150, and
    // Newton's tolerance over h.
    assert!(book.velocity < 1e-9, "{:e}", book.velocity);
    let [coarse_drift, coarse_swing] = drift_and_swing(&run("index2", "1", 2.0 * STEP, 60_000), 2.0 * STEP);
    let [drift, swing] = drift_and_swing(book, STEP);
    let allowed = 1.5 * 0.25;
    // What a tenth of the run swings by hides a drift that is smaller.
    let between = 0.9 * book.steps as f64 * STEP;
    assert!(drift <= allowed * (coarse_drift + coarse_swing / between), "{drift:e} {coarse_drift:e}");
    assert!(swing <= allowed * coarse_swing + coarse_drift * between / 9.0, "{swing:e} {coarse_swing:e}");
}

#[test]
fn forty_thousand_steps_keep_what_must_be_kept() {
    check_damped(&run("index3", "0.9", STEP, 40_000));
    check_undamped(&run("index2", "1", STEP, 40_000));
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn ten_million_steps_of_index3_keep_what_must_be_kept() {
    check_damped(&run("index3", "0.9", STEP, 10_000_000));
}

#[test]
#[ignore = "takes minutes; `cargo xtask long` runs it"]
fn ten_million_steps_of_index2_keep_what_must_be_kept() {
    check_undamped(&run("index2", "1", STEP, 10_000_000));
}
