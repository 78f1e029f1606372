//! Kreisel beside other programs, closed forms and experiments: the models and references of the folder
//! `validation/`, run as any user would.

use super::{Check, ExperimentError, Outcome, Progress, Table};
use kreisel::dae::Control;
use kreisel::machine::Machine;
use kreisel::modes::{Linearized, Mode, ModeSettings};
use kreisel::report::figure::FigureStyle;
use kreisel::run::{About, StaticRecorder, Trajectory};
use kreisel::statics::StaticSettings;
use rayon::prelude::*;
use serde::Deserialize;
use std::f64::consts::{PI, TAU};

/// The files of a folder with their names.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../validation/", $name)))),*]
    };
}

/// All that the program carries along, so that it needs no folder beside it.
static FILES: &[(&str, &str)] = files![
    "references.toml",
    "adams/cylindrical.csv",
    "adams/cylindrical.toml",
    "adams/distance-upright.csv",
    "adams/distance-upright.toml",
    "adams/distance.csv",
    "adams/distance.toml",
    "adams/link-oblique.csv",
    "adams/link-oblique.toml",
    "adams/link.csv",
    "adams/link.toml",
    "adams/prismatic.csv",
    "adams/prismatic.toml",
    "adams/revolute-oblique.csv",
    "adams/revolute-oblique.toml",
    "adams/revolute.csv",
    "adams/revolute.toml",
    "adams/spherical.csv",
    "adams/spherical.toml",
    "adams/spring.csv",
    "adams/spring.toml",
    "adams/torsional-spring.csv",
    "adams/torsional-spring.toml",
    "adams/universal.csv",
    "adams/universal.toml",
    "aerobeams/arch-pinned.toml",
    "aerobeams/arch-tangential.toml",
    "aerobeams/arch-transverse.toml",
    "aerobeams/blade.toml",
    "aerobeams/ends-cc.toml",
    "aerobeams/ends-cf.toml",
    "aerobeams/ends-cp.toml",
    "aerobeams/ends-cs.toml",
    "aerobeams/ends-ff.toml",
    "aerobeams/ends-pp.toml",
    "aerobeams/flying-beam-plane-converged.csv",
    "aerobeams/flying-beam-plane.csv",
    "aerobeams/flying-beam-plane.toml",
    "aerobeams/flying-beam-space-late.csv",
    "aerobeams/flying-beam-space.csv",
    "aerobeams/flying-beam-space.toml",
    "aerobeams/follower-force.toml",
    "aerobeams/right-angle.csv",
    "aerobeams/right-angle.toml",
    "aerobeams/root-spring.toml",
    "aerobeams/tapered.toml",
    "aerobeams/tip-spring.toml",
    "beamdyn/composite-late.csv",
    "beamdyn/composite.csv",
    "beamdyn/composite.toml",
    "exudyn/ball-chain.toml",
    "exudyn/bushing.toml",
    "exudyn/eccentric-body.toml",
    "exudyn/four-bar.toml",
    "exudyn/hinges-and-slider.toml",
    "exudyn/slider-crank-planar.toml",
    "exudyn/slider-crank-spatial.toml",
    "ross/rotor.toml",
];

/// The text of a file of the folder.
fn file(name: &str) -> Result<&'static str, ExperimentError> {
    let found = FILES.iter().find(|(file, _)| *file == name);
    found.map(|(_, text)| *text).ok_or_else(|| format!("there is no `validation/{name}`").into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct References {
    problem: Vec<Problem>,
}

/// A model, and what others say of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Problem {
    /// The model file without its ending.
    model: String,
    title: String,
    source: String,
    computes: Kind,
    #[serde(default)]
    rows: Vec<Row>,
    #[serde(default)]
    history: Vec<History>,
    /// How many modes are asked for.
    #[serde(default)]
    count: usize,
    /// Angular velocity about z in rad/s of the frame in which modes are sought.
    #[serde(default)]
    spin: f64,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Motion,
    Equilibrium,
    Modes,
}

/// One number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    quantity: String,
    /// What is compared at the end; the nearest frequency if nothing is given.
    signal: Option<String>,
    reference: f64,
    tolerance: f64,
    /// Where it is from, if that is not the source of the problem.
    source: Option<String>,
    /// Whether it is an angle that counts without full turns.
    #[serde(default)]
    turns: bool,
}

/// Numbers over time, of a file with a column a signal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    file: String,
    source: Option<String>,
    groups: Vec<Group>,
}

/// Signals that are judged together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Group {
    quantity: String,
    /// Beginning of their names.
    signals: String,
    /// Vectors whose sum has the size that the column holds.
    #[serde(default)]
    size_of_sum: Vec<String>,
    tolerance: f64,
    /// Part of the size of the reference, as a vector, that is allowed as well.
    #[serde(default)]
    relative: f64,
}

/// What came out beside a reference.
struct Compared {
    source: String,
    quantity: String,
    reference: f64,
    ours: f64,
    tolerance: f64,
}

impl Compared {
    /// The difference in units of the tolerance; NaN stays NaN.
    fn deviation(&self) -> f64 {
        (self.ours - self.reference).abs() / self.tolerance
    }
}

/// A table of signals over time, read from text.
struct Columns {
    times: Vec<f64>,
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Columns {
    fn read(text: &str) -> Result<Self, ExperimentError> {
        let mut lines = text.lines();
        let head = lines.next().ok_or("a history begins with the names of its columns")?;
        let names = head.split(',').skip(1).map(str::to_owned).collect();
        let (mut times, mut rows) = (Vec::new(), Vec::new());
        for line in lines {
            let numbers: Vec<f64> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
            let (time, values) = numbers.split_first().ok_or("a row of a history begins with its time")?;
            times.push(*time);
            rows.push(values.to_vec());
        }
        Ok(Self { times, names, rows })
    }
}

/// A signal of a history at some of its times.
pub fn column(name: &str, signal: &str, times: &[f64]) -> Result<Vec<f64>, ExperimentError> {
    let columns = Columns::read(file(name)?)?;
    let place = columns.names.iter().position(|name| name == signal);
    let place = place.ok_or_else(|| format!("`validation/{name}` has no `{signal}`"))?;
    let at = |time: &f64| {
        let row = columns.times.iter().position(|t| (t - time).abs() < SAME_TIME);
        Ok(columns.rows[row.ok_or_else(|| format!("`validation/{name}` has no row at {time} s"))?][place])
    };
    times.iter().map(at).collect()
}

/// Distance in s at which two times are the same.
const SAME_TIME: f64 = 1e-9;

fn row_at(run: &Trajectory, time: f64) -> Result<usize, ExperimentError> {
    let row = run.times.iter().position(|t| (t - time).abs() < SAME_TIME * time.abs().max(1.0));
    row.ok_or_else(|| format!("the run has no output at {time} s").into())
}

fn value(run: &Trajectory, signal: &str, row: usize) -> Result<f64, ExperimentError> {
    let column = run.signal(signal).ok_or_else(|| format!("the model measures no `{signal}`"))?;
    Ok(column[row])
}

/// Size of the sum of some vectors at an output time.
fn size_of_sum(run: &Trajectory, vectors: &[String], row: usize) -> Result<f64, ExperimentError> {
    let mut square = 0.0;
    for axis in ["x", "y", "z"] {
        let mut sum = 0.0;
        for vector in vectors {
            sum += value(run, &format!("{vector}.{axis}"), row)?;
        }
        square += sum * sum;
    }
    Ok(square.sqrt())
}

impl Group {
    /// The worst of all times and signals.
    fn compare(
        &self,
        columns: &Columns,
        run: &Trajectory,
        source: &str,
    ) -> Result<Compared, ExperimentError> {
        let is_ours =
            |name: &String| *name == self.signals || name.starts_with(&format!("{}.", self.signals));
        let places: Vec<usize> =
            (0..columns.names.len()).filter(|&place| is_ours(&columns.names[place])).collect();
        let mut worst: Option<Compared> = None;
        for (time, references) in columns.times.iter().zip(&columns.rows) {
            let row = row_at(run, *time)?;
            let given: Vec<f64> = places.iter().map(|&place| references[place]).collect();
            let mut found = Vec::new();
            for &place in &places {
                found.push(match &self.size_of_sum[..] {
                    [] => value(run, &columns.names[place], row)?,
                    vectors => size_of_sum(run, vectors, row)?,
                });
            }
            // A quaternion and its negative are the same rotation.
            let turned = self.signals.ends_with("orientation")
                && given.iter().zip(&found).map(|(a, b)| a * b).sum::<f64>() < 0.0;
            let size = given.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (reference, ours) in given.iter().zip(&found) {
                let compared = Compared {
                    source: source.to_owned(),
                    quantity: format!("{} at {time} s", self.quantity),
                    reference: *reference,
                    ours: if turned { -ours } else { *ours },
                    tolerance: self.tolerance + self.relative * size,
                };
                // Not `>`, so that NaN is the worst.
                if !worst.as_ref().is_some_and(|worst| compared.deviation() <= worst.deviation()) {
                    worst = Some(compared);
                }
            }
        }
        worst.ok_or_else(|| format!("nothing to compare `{}` with", self.signals).into())
    }
}

impl Problem {
    fn machine(&self) -> Result<Machine, ExperimentError> {
        let name = format!("{}.toml", self.model);
        Ok(Machine::from_text(&name, file(&name)?)?)
    }

    /// Signals over time, or over the load factor.
    fn trajectory(&self, machine: &Machine) -> Result<Trajectory, ExperimentError> {
        if self.computes == Kind::Motion {
            return Ok(machine.simulate()?);
        }
        let mut recorder = StaticRecorder::new(machine, Trajectory::new(machine));
        machine.find_equilibrium(&StaticSettings::default(), |at| recorder.record(at)).solution?;
        Ok(recorder.finish()?)
    }

    /// Frequencies in rad/s.
    fn frequencies(&self, machine: &Machine) -> Result<Vec<f64>, ExperimentError> {
        let settings = ModeSettings { count: self.count };
        let modes = if self.spin == 0.0 {
            machine.modes(About::Initial, settings)?.modes
        } else {
            let mut turning = StaticSettings::default();
            turning.spin[2] = self.spin;
            let steady = machine.find_equilibrium(&turning, |_| Control::Continue).solution?.equilibrium;
            Linearized::at(machine.system(), &steady.point())?.modes(settings)?.modes
        };
        Ok(modes.iter().map(|mode: &Mode| TAU * mode.frequency()).collect())
    }

    fn compare(&self) -> Result<Vec<Compared>, ExperimentError> {
        let machine = self.machine()?;
        let compared = |row: &Row, ours: f64| Compared {
            source: row.source.clone().unwrap_or_else(|| self.source.clone()),
            quantity: row.quantity.clone(),
            reference: row.reference,
            ours: if row.turns { row.reference + half_turn(ours - row.reference) } else { ours },
            tolerance: row.tolerance,
        };
        if self.computes == Kind::Modes {
            let found = self.frequencies(&machine)?;
            let near = |reference: f64| {
                let off = |ours: &&f64| (**ours - reference).abs();
                found.iter().min_by(|a, b| off(a).total_cmp(&off(b))).copied().unwrap_or(f64::NAN)
            };
            return Ok(self.rows.iter().map(|row| compared(row, near(row.reference))).collect());
        }
        let run = self.trajectory(&machine)?;
        let last = run.times.len().checked_sub(1).ok_or("the run has no output")?;
        let mut all = Vec::new();
        for row in &self.rows {
            let signal = row.signal.as_deref().ok_or("a row names its signal")?;
            all.push(compared(row, value(&run, signal, last)?));
        }
        for history in &self.history {
            let columns = Columns::read(file(&history.file)?)?;
            let source = history.source.as_deref().unwrap_or(&self.source);
            for group in &history.groups {
                all.push(group.compare(&columns, &run, source)?);
            }
        }
        Ok(all)
    }
}

/// The same angle between −π and π.
fn half_turn(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

fn references() -> Result<References, ExperimentError> {
    Ok(toml::from_str(file("references.toml")?)?)
}

/// As many digits as the tolerance leaves, and one more.
fn digits(value: f64, tolerance: f64) -> String {
    let decimals = (1.0 - tolerance.log10().floor()).clamp(0.0, 15.0);
    format!("{value:.*}", decimals as usize)
}

/// Runs all problems and compares.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    let references = references()?;
    progress.expect(references.problem.len());
    let found: Vec<_> = references
        .problem
        .par_iter()
        .map(|problem| {
            let compared = problem.compare().map_err(|error| format!("{}: {error}", problem.model));
            progress.advance();
            compared
        })
        .collect();
    let columns = ["problem", "source", "quantity", "reference", "ours", "tolerance"];
    let mut outcome = Outcome::new(Table::new(columns), FigureStyle::linear());
    outcome.checks_are_in_the_table = true;
    for (problem, compared) in references.problem.iter().zip(found) {
        for Compared { source, quantity, reference, ours, tolerance } in compared? {
            outcome.table.row([
                problem.title.clone(),
                source,
                quantity.clone(),
                digits(reference, tolerance),
                digits(ours, tolerance),
                format!("{tolerance:.1e}"),
            ]);
            let name = format!("{}: {quantity}", problem.title);
            outcome.check(Check::close(name, reference, ours, tolerance));
        }
    }
    Ok(outcome)
}

/// The table of the book.
pub fn markdown_table() -> Result<String, ExperimentError> {
    Ok(run(&Progress::hidden())?.table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_file_of_the_folder_is_carried_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation");
        for source in
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
        {
            for path in fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
                // What a test of the library or an experiment of a paper reads.
                if name.ends_with(".json") || name.starts_with("lie-group/") {
                    continue;
                }
                assert!(FILES.iter().any(|(file, _)| *file == name), "{name}");
            }
        }
    }

    #[test]
    fn every_problem_compares_something_and_every_file_is_used() {
        let references = references().unwrap();
        let mut used = vec!["references.toml".to_owned()];
        for problem in &references.problem {
            assert!(!problem.rows.is_empty() || !problem.history.is_empty(), "{}", problem.model);
            used.push(format!("{}.toml", problem.model));
            used.extend(problem.history.iter().map(|history| history.file.clone()));
        }
        for (file, _) in FILES {
            assert!(used.iter().any(|name| name == file), "{file}");
        }
    }

    #[test]
    fn angles_are_compared_without_full_turns() {
        // Some roundings of 2π.
        assert!((half_turn(-6.2) - (TAU - 6.2)).abs() < 1e-12);
        assert!((half_turn(0.3) - 0.3).abs() < 1e-12);
    }
}
