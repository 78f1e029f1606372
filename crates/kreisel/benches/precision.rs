//! Work against precision: CPU time and error of the same motion with finer and finer settings.
//!
//! For each machine of [`MACHINES`] that is asked for by name: `index2` with more and more steps of one size,
//! what Kreisel chooses by itself (`method = "auto"`) with smaller and smaller `rtol`, and, for each error that
//! is wanted (`--errors`), a run by `accuracy`. Every run is one line, with tabs: machine, program, CPU seconds,
//! error. The error is the largest one of all bodies (or nodes of a beam) at the end, of positions over the size
//! of the machine or of rotations in rad; the reference is that of `benches/precision_reference.json`, which
//! `--references` writes anew. The clock runs from the start of a run to its end, without the model's reading and
//! without records.

mod measure;

use std::f64::consts::FRAC_PI_2;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kreisel::lie::{Group, UnitQuaternion, Vector3, pose};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::results::WriteError;
use kreisel::run::{Job, Record, RunEnding, Sink};
use kreisel_papers::problem::{HeavyTop, ode};
use measure::Stopwatch;
use serde_json::{Value, json};

/// A machine of the table.
struct Entry {
    name: &'static str,
    model: Model,
    parameters: &'static [(&'static str, &'static str)],
    /// Seconds that are simulated. Pendulums end away from their turning points, where errors of time do not
    /// show; the free body before its flips have magnified rounding to 1e-10.
    end: f64,
    /// Length in m to which errors of positions refer.
    size: f64,
    /// Step counts are this times a power of two, so that corners of the inputs fall on steps.
    first_steps: usize,
    kind: Kind,
}

/// Where a machine comes from.
enum Model {
    /// A file of `models/`.
    File(&'static str),
    /// A file of `models/` without its drive, released from rest, and what is added to it. With the drive
    /// positions would follow from the constraints alone, without an error of time integration.
    Released(&'static str, &'static str),
}

/// What its reference is, and what its error.
#[derive(Clone, Copy)]
enum Kind {
    /// Bodies, against `explicit8` in the other group.
    Rigid,
    /// A body, against equations of its own without constraints, solved to rounding.
    Reduced(fn(f64) -> [f64; NODE]),
    /// Beams, against runs of `index2` extrapolated to steps of no length.
    Flexible,
    /// The energy against that at the start.
    Energy,
}

/// What turns the crank of a slider-crank that is released at its highest point.
const SIDEWAYS: &str = "[gravity]\nacceleration = [0, -9.81, 0]\n";

/// Name, model, parameters, end, size, first steps, kind.
const MACHINES: &[Entry] = &[
    entry("heavy-top", Model::File("heavy-top"), &[], [1.0, 1.0], 64, Kind::Reduced(heavy_top)),
    entry("free-body", Model::File("tennis-racket"), &[], [10.0, 0.3], 512, Kind::Reduced(free_body)),
    entry("free-body-energy", Model::File("tennis-racket"), &[], [100.0, 0.3], 512, Kind::Energy),
    entry("pendulum-100-periods", Model::File("pendulum"), &[], [194.0, 1.0], 1024, Kind::Reduced(pendulum)),
    entry("pendulum-1000-s", Model::File("pendulum"), &[], [1000.0, 1.0], 4096, Kind::Reduced(pendulum)),
    entry("chain-10-balls", Model::File("chain-spherical"), &[("n", "10")], [1.0, 1.0], 32, Kind::Rigid),
    entry("chain-7-hinges", Model::File("chain-revolute"), &[("n", "7")], [1.0, 0.7], 32, Kind::Rigid),
    entry(
        "slider-crank",
        Model::Released("slider-crank-spatial", SIDEWAYS),
        &[],
        [2.0, 0.4],
        64,
        Kind::Rigid,
    ),
    entry("four-bar", Model::Released("four-bar", ""), &[], [2.0, 0.4], 64, Kind::Rigid),
    entry("right-angle-beam", Model::File("right-angle-beam"), &[], [30.0, 10.0], 60, Kind::Flexible),
    entry("flexible-four-bar", Model::File("four-bar-misaligned"), &[], [5.0, 0.24], 40, Kind::Flexible),
];

const fn entry(
    name: &'static str,
    model: Model,
    parameters: &'static [(&'static str, &'static str)],
    [end, size]: [f64; 2],
    first_steps: usize,
    kind: Kind,
) -> Entry {
    Entry { name, model, parameters, end, size, first_steps, kind }
}

/// `index2` takes no more steps than this; finer errors are left to who reads the lines.
const MOST_STEPS: usize = 1_000_000;
/// Runs shorter than this, in s, are made several times, and the least time counts.
const SHORT: f64 = 0.05;
const REPETITIONS: usize = 5;
/// Tolerance of the references of rigid machines.
const FINEST: &str = "1e-13";
/// Steps of the finest run of the references of flexible machines, in first numbers of steps.
const REFERENCE_STEPS: usize = 4096;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--references") {
        write_references();
        return;
    }
    let references = references();
    let errors = errors(&words);
    for entry in MACHINES.iter().filter(|entry| measure::asked(entry.name, "kreisel")) {
        let reference = Reference::of(&references, entry);
        entry.by_steps(&reference, &errors);
        entry.by_tolerance(&reference, &errors);
        // An accuracy is one of positions and angles.
        for error in errors.iter().filter(|_| !matches!(entry.kind, Kind::Energy)) {
            entry.by_accuracy(&reference, error);
        }
    }
}

/// Errors that are wanted, the word after `--errors` with commas, from large to small.
fn errors(words: &[String]) -> Vec<String> {
    let list = words.iter().skip_while(|word| *word != "--errors").nth(1);
    list.map_or("1e-3,1e-5", |list| list).split(',').map(str::to_owned).collect()
}

fn smallest(errors: &[String]) -> f64 {
    errors.iter().filter_map(|error| error.parse().ok()).fold(f64::INFINITY, f64::min)
}

/// What one run gave.
struct Outcome {
    seconds: f64,
    configuration: Vec<f64>,
    energy: f64,
}

impl Entry {
    /// The machine with these settings in place of its own.
    fn machine(&self, settings: &[(&str, &str)]) -> Machine {
        let texts =
            settings.iter().fold(SettingTexts::default(), |texts, (key, text)| texts.with(*key, text));
        let texts = texts.with("end-time", self.end);
        let reader = MachineReader::new().with_parameters(self.parameters).with_settings(&texts);
        let path =
            |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
        let read = match &self.model {
            Model::File(name) => reader.read(path(name)),
            Model::Released(name, added) => {
                let text = std::fs::read_to_string(path(name)).expect("the model is there");
                let (parts, _) = text.split_once("[[drive]]").expect("the drive is its last part");
                reader.text(self.name, &format!("{parts}{added}"))
            }
        };
        read.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    }

    /// The group that the model does not have.
    fn other_group(&self) -> &'static str {
        let own = self.machine(&[]).settings().group();
        if format!("{own:?}") == "Se3" { "so3xr3" } else { "se3" }
    }

    /// The run with these settings, and its least time; nothing where a step fails.
    fn run(&self, settings: &[(&str, &str)]) -> Option<Outcome> {
        let machine = self.machine(settings);
        let plan = machine.plan().unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let mut least = f64::INFINITY;
        for repetition in 1.. {
            let clock = Stopwatch::start();
            let mut run = machine.start(&plan).ok()?;
            let ending = run.advance(&mut ());
            least = least.min(clock.seconds());
            if ending != RunEnding::Done {
                return None;
            }
            if least > SHORT || repetition == REPETITIONS {
                let values = run.integration().values();
                return Some(Outcome {
                    seconds: least,
                    configuration: values.configuration.clone(),
                    energy: machine.system().energies(&values.point()).total(),
                });
            }
        }
        None
    }

    fn by_steps(&self, reference: &Reference, errors: &[String]) {
        let smallest = smallest(errors);
        let mut steps = self.first_steps;
        while steps <= MOST_STEPS {
            let step = format!("{:e}", self.end / steps as f64);
            let settings = [("method", "index2"), ("step", &*step)];
            if let Some(outcome) = self.run(&settings) {
                let error = reference.error(&outcome);
                tell(self.name, "index2", outcome.seconds, error);
                if error < smallest {
                    return;
                }
            }
            steps *= 2;
        }
    }

    fn by_tolerance(&self, reference: &Reference, errors: &[String]) {
        let smallest = smallest(errors);
        let mut met = 0;
        for half_digits in 2..=26 {
            let rtol = format!("{:e}", 10f64.powf(-0.5 * f64::from(half_digits)));
            let settings = [("method", "auto"), ("step", "auto"), ("rtol", &*rtol)];
            let Some(outcome) = self.run(&settings) else { continue };
            let error = reference.error(&outcome);
            tell(self.name, "kreisel", outcome.seconds, error);
            met = if error < smallest { met + 1 } else { 0 };
            // A single one may have been good by chance.
            if met == 3 {
                return;
            }
        }
    }

    fn by_accuracy(&self, reference: &Reference, error: &str) {
        let machine = self.machine(&[("method", "auto"), ("step", "auto"), ("accuracy", error)]);
        let mut plan = machine.plan().unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        plan.output_step = Some(0.1 * self.end);
        let mut least = f64::INFINITY;
        for repetition in 1..=REPETITIONS {
            let clock = Stopwatch::start();
            let Ok((last, outcome)) = Job::new(&machine, &plan).record(Last::default()) else { return };
            least = least.min(clock.seconds());
            if outcome.ending != RunEnding::Done {
                return;
            }
            if least > SHORT || repetition == REPETITIONS {
                tell(self.name, &format!("accuracy {error}"), least, reference.distance(&last.0));
                return;
            }
        }
    }
}

/// Poses of the last record, as a configuration.
#[derive(Default)]
struct Last(Vec<f64>);

impl Sink for Last {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        self.0.clear();
        for node in record.nodes {
            self.0.extend(node.rotation.iter().chain(&node.position));
        }
        Ok(())
    }
}

/// What a run should come to at the end.
struct Reference {
    size: f64,
    /// Quaternion and position of each node.
    configuration: Vec<f64>,
    /// The energy at the start, where that is what is looked at.
    energy: Option<f64>,
}

impl Reference {
    fn of(all: &Value, entry: &Entry) -> Self {
        let numbers = all[entry.name]["poses"].as_array().into_iter().flatten();
        let configuration: Vec<f64> = numbers
            .flat_map(|pose| pose.as_array().into_iter().flatten())
            .filter_map(Value::as_f64)
            .collect();
        let energy = all[entry.name]["energy"].as_f64();
        assert!(energy.is_some() || !configuration.is_empty(), "{} has a reference", entry.name);
        Self { size: entry.size, configuration, energy }
    }

    fn error(&self, outcome: &Outcome) -> f64 {
        match self.energy {
            Some(energy) => (outcome.energy / energy - 1.0).abs(),
            None => self.distance(&outcome.configuration),
        }
    }

    /// Largest distance of a node from where it should be, in sizes and in rad.
    fn distance(&self, configuration: &[f64]) -> f64 {
        assert_eq!(configuration.len(), self.configuration.len(), "as many nodes");
        let nodes = configuration.chunks(NODE).zip(self.configuration.chunks(NODE));
        nodes.map(|(node, exact)| difference(node, exact, self.size)).fold(0.0, f64::max)
    }
}

/// Numbers of a node: a quaternion and a position.
const NODE: usize = 7;

fn difference(node: &[f64], exact: &[f64], size: f64) -> f64 {
    let (node, exact) = (pose(node), pose(exact));
    let turn: UnitQuaternion = exact.rotation.inverse() * node.rotation;
    // Small angles are lost in the cosine.
    let angle = 2.0 * turn.imag().norm().min(1.0).asin();
    let way: Vector3 = node.position - exact.position;
    angle.max(way.norm() / size)
}

fn reference_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/precision_reference.json")
}

fn references() -> Value {
    let text = std::fs::read_to_string(reference_path()).expect("the references stand beside the scripts");
    serde_json::from_str(&text).expect("the references are JSON")
}

/// Writes where the machines are at the end, with the end time and size that the peers' scripts need and with the
/// difference of two such references: `explicit8` in the group that the model does not have beside reduced
/// equations, or beside itself in the model's group; for beams extrapolations from steps of one size and of half of
/// it.
fn write_references() {
    let mut all = serde_json::Map::new();
    for entry in MACHINES {
        let mut found = json!({ "end": entry.end, "size": entry.size });
        if let Some([exact, other]) = entry.ends() {
            let reference = Reference { size: entry.size, configuration: other, energy: None };
            let doubt = reference.distance(&exact);
            found["differs-by"] = json!(format!("{doubt:.1e}").parse::<f64>().unwrap_or(doubt));
            found["poses"] = exact.chunks(NODE).map(|node| json!(node)).collect();
            let _ = writeln!(io::stderr(), "{}: {doubt:.1e}", entry.name);
        } else {
            found["energy"] = json!(entry.energy_at_start());
        }
        all.insert(entry.name.to_owned(), found);
    }
    let text = serde_json::to_string(&Value::Object(all)).expect("numbers are JSON");
    // A node a line.
    let text = text.replace("[[", "[\n[").replace("],[", "],\n[").replace("]]", "]\n]").replace("},", "},\n");
    std::fs::write(reference_path(), text + "\n").expect("the folder can be written to");
}

impl Entry {
    fn energy_at_start(&self) -> f64 {
        let machine = self.machine(&[]);
        let plan = machine.plan().unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let run = machine.start(&plan).expect("the machine starts");
        machine.system().energies(&run.integration().values().point()).total()
    }

    /// Two references for the end, the better one first; none where the energy is what is looked at.
    fn ends(&self) -> Option<[Vec<f64>; 2]> {
        let other = self.other_group();
        let own = if other == "se3" { "so3xr3" } else { "se3" };
        match self.kind {
            Kind::Rigid => Some([self.explicit(other), self.explicit(own)]),
            Kind::Reduced(exact) => Some([exact(self.end).to_vec(), self.explicit(other)]),
            Kind::Flexible => Some(self.extrapolated()),
            Kind::Energy => None,
        }
    }

    /// The end by `explicit8` in a group.
    fn explicit(&self, group: &str) -> Vec<f64> {
        let settings = [("method", "explicit8"), ("step", "auto"), ("rtol", FINEST), ("group", group)];
        self.run(&settings).expect("the reference is found").configuration
    }

    /// The end by `index2`, extrapolated from the finest two of three numbers of steps, and from the coarsest.
    fn extrapolated(&self) -> [Vec<f64>; 2] {
        let [coarse, middle, fine] = [1, 2, 4].map(|times| {
            let step = format!("{:e}", self.end / (self.first_steps * REFERENCE_STEPS * times / 4) as f64);
            let settings = [("method", "index2"), ("step", &*step)];
            self.run(&settings).expect("the reference is found").configuration
        });
        [extrapolate(&middle, &fine), extrapolate(&coarse, &middle)]
    }
}

/// The heavy top about its fixed point.
fn heavy_top(end: f64) -> [f64; NODE] {
    let solution = &HeavyTop::new(Group::So3xR3).reference(&[end])[0];
    node(&solution.rotation, &solution.position)
}

/// Euler's equations of the tennis racket of `models/`, with its orientation as a quaternion.
fn free_body(end: f64) -> [f64; NODE] {
    let [x, y, z] = [0.3, 0.2, 0.05].map(|side: f64| side * side);
    // Twelfths of the mass cancel.
    let [a, b, c] = [y + z, x + z, x + y];
    let rate = |_: f64, state: &[f64; 7]| {
        let &[w, i, j, k, p, q, r] = state;
        let turn =
            [-i * p - j * q - k * r, w * p + j * r - k * q, w * q + k * p - i * r, w * r + i * q - j * p];
        let [dw, di, dj, dk] = turn.map(|value| 0.5 * value);
        [dw, di, dj, dk, (b - c) / a * q * r, (c - a) / b * r * p, (a - b) / c * p * q]
    };
    let mut state = [1.0, 0.0, 0.0, 0.0, 0.1, 10.0, 0.0];
    ode::integrate(rate, 0.0, end, (20.0 * end) as usize, &mut state);
    let [w, i, j, k, ..] = state;
    let length = [w, i, j, k].iter().map(|value| value * value).sum::<f64>().sqrt();
    [w / length, i / length, j / length, k / length, 0.0, 0.0, 0.0]
}

/// The pendulum, a thin rod of 1 m under standard gravity, released from the horizontal: with ψ from where it hangs,
/// sin(ψ/2) = √m cd(ω t | m) of Jacobi with m = 1/2, by the arithmetic-geometric mean.
fn pendulum(end: f64) -> [f64; NODE] {
    let m: f64 = 0.5;
    let (mut a, mut b, mut ratios) = (1.0, (1.0 - m).sqrt(), Vec::new());
    while (a - b).abs() > 1e-15 {
        let (mean, root) = (0.5 * (a + b), f64::sqrt(a * b));
        ratios.push(0.5 * (a - b) / mean);
        (a, b) = (mean, root);
    }
    let mut amplitude = a * (1.5 * 9.80665f64).sqrt() * end * f64::from(1u32 << ratios.len());
    for ratio in ratios.iter().rev() {
        amplitude = 0.5 * (amplitude + (ratio * amplitude.sin()).asin());
    }
    let (sn, cn) = amplitude.sin_cos();
    let from_below = 2.0 * (m.sqrt() * cn / (1.0 - m * sn * sn).sqrt()).asin();
    let angle = FRAC_PI_2 - from_below;
    let ((sin, cos), (half_sin, half_cos)) = (angle.sin_cos(), (0.5 * angle).sin_cos());
    [half_cos, 0.0, half_sin, 0.0, 0.5 * cos, 0.0, -0.5 * sin]
}

fn node(rotation: &UnitQuaternion, position: &Vector3) -> [f64; NODE] {
    let (turn, place) = (rotation, position);
    [turn.w, turn.i, turn.j, turn.k, place.x, place.y, place.z]
}

/// Nodes without the error of second order, from runs with steps of one size and of half of it.
fn extrapolate(coarse: &[f64], fine: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for (coarse, fine) in coarse.chunks(NODE).zip(fine.chunks(NODE)) {
        let (a, b) = (pose(coarse), pose(fine));
        let turn = (a.rotation.inverse() * b.rotation).scaled_axis() / 3.0;
        let rotation = b.rotation * UnitQuaternion::from_scaled_axis(turn);
        let position = b.position + (b.position - a.position) / 3.0;
        out.extend(node(&rotation, &position));
    }
    out
}

/// Reports a run; a closed stream leaves nobody to tell.
fn tell(machine: &str, program: &str, seconds: f64, error: f64) {
    let _ = writeln!(io::stdout(), "{machine}\t{program}\t{seconds:.6e}\t{error:.6e}");
}
