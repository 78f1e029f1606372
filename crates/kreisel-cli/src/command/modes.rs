//! `kreisel modes`: frequencies, damping and shapes of small motions, and the matrices behind them.

use super::flag::{Json, Model, Results, json_text};
use super::run::value;
use super::summary::{Summary as Lines, verdict_words};
use super::{CommandError, Ending, counted, say_notes};
use crate::output::{Printer, brief, write_whole};
use clap::ValueEnum;
use kreisel::dae::{Note, NoteKind, Notes};
use kreisel::kinematics::NodeId;
use kreisel::machine::Machine;
use kreisel::modes::{Linearized, Mode, ModeSettings};
use kreisel::report::{self, RecordedMotion, Recording};
use kreisel::results::{
    Channel, Computation, CsvTable, CsvWriter, EndStatus, OutputFolder, RunSummary, VtkHdfWriter,
    make_folder, matrix_market,
};
use kreisel::run::{About, MachineModes};
use serde::Serialize;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Find frequencies, damping and shapes of small motions about a state.
///
/// Constraints are projected out. Writes `modes.html` (the machine moving in each mode; open it in a
/// browser), `modes.csv` (a row per mode), `mode-shapes.csv` (a row per coordinate), `modes.vtkhdf` (each
/// mode as one step, displaced by it; its shape in place of velocities) and `modes.json`; `overdamped.csv`
/// where motions decay without oscillation.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  kreisel modes models/princeton-beam.toml --about static --count 6
  kreisel modes models/heavy-top.toml --matrices matrices")]
pub struct Modes {
    #[command(flatten)]
    model: Model<false>,

    /// Number of modes, the slowest first; overdamped ones are listed apart and do not count
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = mode_count)]
    count: usize,

    /// The state about which the machine moves
    #[arg(long, value_enum, default_value_t = State::Initial)]
    about: State,

    /// Write the matrices M, C, K, B and the state space into the folder DIR, in the Matrix Market format
    #[arg(help_heading = "Results", long, value_name = "DIR")]
    matrices: Option<PathBuf>,

    #[command(flatten)]
    results: Results,

    #[command(flatten)]
    json: Json,
}

/// The state about which a machine moves, as a word.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// The initial state of the model, with its velocities
    Initial,
    /// The equilibrium under the loads at the start time
    Static,
}

fn mode_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("ask for at least one mode".to_owned()),
    }
}

/// Most velocity coordinates for which a state space is written: it is dense.
const MAX_DENSE: usize = 600;

impl Modes {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        self.json.check()?;
        let machine = self.model.read()?;
        let folder = self.results.folder(self.model.path(), Computation::Modes)?;
        let began = Instant::now();
        let about = match self.about {
            State::Initial => About::Initial,
            State::Static => About::Static,
        };
        let linearized = machine.linearize(about)?;
        let (mut paths, mut about_matrices) = (Vec::new(), Notes::default());
        // Before the search: whoever wants matrices gets them even if it fails.
        if let Some(matrices) = &self.matrices {
            paths.extend(write_matrices(matrices, &machine, &linearized.linearized, &mut about_matrices)?);
        }
        let found = linearized.modes(ModeSettings { count: self.count })?;
        let mut notes = found.notes.clone();
        notes.extend(about_matrices);
        let lines = |modes: &[Mode]| modes.iter().map(|mode| ModeLine::new(&machine, mode)).collect();
        let (lines, overdamped): (Vec<ModeLine>, Vec<ModeLine>) =
            (lines(&found.modes), lines(&found.overdamped));
        if !self.results.quiet {
            say_notes(&notes);
        }
        let mut summary = RunSummary::new(self.model.identity()?);
        summary.status = EndStatus::Done;
        summary.wall_time = began.elapsed().as_secs_f64();
        summary.settings = value(&SettingWords { count: self.count, about: self.about });
        summary.statistics = value(&Statistics {
            velocity_coordinates: found.linearized.velocity_count(),
            constraints: found.linearized.constraint_count(),
            modes: &lines,
            overdamped: &overdamped,
        });
        summary.add_notes(&notes);
        summary.judge();
        let page = report::page(&recording(&folder, &summary, &machine, &found));
        let mut output =
            OutputFolder::begin(&folder, Computation::Modes, summary.model.clone(), self.results.force)?;
        if let Err(error) = write_results(&mut output, &machine, &found, &page) {
            // The first error is the one worth telling.
            let _ = output.abandon();
            return Err(error.into());
        }
        paths.extend(output.finish(&mut summary)?);
        let report = Report { folder: &folder, summary: &summary };
        self.json.write(&report)?;
        let mut printer = Printer::new(io::stdout());
        if self.json.prints() {
            printer.print(&json_text(&report))?;
        } else if !self.results.quiet {
            printer.print(&match self.results.verbose {
                true => long_text(&lines, &overdamped, &summary, &paths),
                false => short_text(&lines, &overdamped, &summary, (&folder, &paths)),
            })?;
        }
        Ok(Ending::Done)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SettingWords {
    count: usize,
    about: State,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Statistics<'a> {
    velocity_coordinates: usize,
    constraints: usize,
    modes: &'a [ModeLine],
    overdamped: &'a [ModeLine],
}

#[derive(Serialize)]
struct Report<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    summary: &'a RunSummary,
}

/// One mode in the table.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ModeLine {
    /// In Hz.
    frequency: f64,
    damping_ratio: f64,
    /// Eigenvalue in 1/s.
    real: f64,
    imaginary: f64,
    dominant_part: String,
    /// Of the kinetic energy.
    share: f64,
    /// Size of the mode's correction beside its own.
    residual: f64,
}

impl ModeLine {
    fn new(machine: &Machine, mode: &Mode) -> Self {
        let node = mode.dominant_node();
        let share = mode.shares.get(node).copied().unwrap_or(0.0);
        let part = if share > 0.0 {
            machine.system().node_name(NodeId(node)).to_owned()
        } else {
            let largest =
                mode.internal_states.iter().enumerate().max_by(|a, b| a.1.norm().total_cmp(&b.1.norm()));
            largest.map(|(state, _)| machine.system().state_names().swap_remove(state)).unwrap_or_default()
        };
        Self {
            frequency: mode.frequency(),
            damping_ratio: mode.damping_ratio(),
            real: mode.eigenvalue.re,
            imaginary: mode.eigenvalue.im,
            dominant_part: part,
            share,
            residual: mode.residual,
        }
    }
}

/// The slowest modes, whether they die away or grow, and where they are: seven lines at most.
fn short_text(
    lines: &[ModeLine],
    overdamped: &[ModeLine],
    summary: &RunSummary,
    (folder, paths): (&Path, &[PathBuf]),
) -> String {
    /// Frequencies that are named, at most.
    const NAMED: usize = 8;
    let mut text = Lines::default();
    let fastest = fastest(lines);
    let mut named: Vec<String> =
        lines.iter().take(NAMED).map(|line| rounded_mode(line.frequency, fastest)).collect();
    if lines.len() > NAMED {
        named.push("…".to_owned());
    }
    let count = match lines.len() {
        0 => "none that oscillates".to_owned(),
        1 => format!("1, at {} Hz", named.join(", ")),
        count => format!("{count}, at {} Hz", named.join(", ")),
    };
    text.line("modes", count);
    // A ratio says nothing of a mode that does not oscillate.
    let ratios =
        lines.iter().filter(|line| line.frequency > ROUND_OFF * fastest).map(|line| line.damping_ratio);
    let (least, most) = ratios
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    if least.abs().max(most.abs()) > ROUND_OFF && least <= most {
        let percent = |ratio: f64| rounded_mode(100.0 * ratio, 100.0);
        text.line("damping", format!("{} % to {} % of the critical", percent(least), percent(most)));
    }
    let growth = lines.iter().map(|line| line.real).fold(0.0, f64::max);
    if growth > ROUND_OFF * fastest {
        text.line("unstable", format!("it grows by up to {} 1/s", brief(growth)));
    }
    if let Some(slowest) = overdamped.iter().map(|line| -line.real).reduce(f64::min) {
        let count = counted(overdamped.len() as u64, "motion dies", "motions die");
        text.line(
            "overdamped",
            format!("{count} away without oscillating, the slowest by {} 1/s", brief(slowest)),
        );
    }
    text.line("verdict", verdict_words(summary));
    text.files(folder, paths, PAGE);
    text.text()
}

/// Part of the fastest frequency, or of a critical damping, that is round-off: eigenvalues are squares of
/// frequencies.
const ROUND_OFF: f64 = 1e-8;

/// A number of a mode, 0 where it is round-off beside the largest.
fn rounded_mode(number: f64, largest: f64) -> String {
    if number.abs() <= ROUND_OFF * largest { "0".to_owned() } else { brief(number) }
}

/// The largest of all frequencies.
fn fastest(lines: &[ModeLine]) -> f64 {
    lines.iter().map(|line| line.frequency).fold(0.0, f64::max)
}

/// A line for each mode and each file.
fn long_text(lines: &[ModeLine], overdamped: &[ModeLine], summary: &RunSummary, paths: &[PathBuf]) -> String {
    let row = |cells: [&str; 4]| format!("{:>4}  {:>14}  {:>13}  {}", cells[0], cells[1], cells[2], cells[3]);
    let mut text = row(["mode", "frequency [Hz]", "damping ratio", "dominant part"]) + "\n";
    let fastest = fastest(lines);
    for (index, line) in lines.iter().enumerate() {
        let grows = match line.real > 0.0 && line.imaginary == 0.0 {
            true => format!(", unstable: grows by {} 1/s", brief(line.real)),
            false => String::new(),
        };
        let part = format!("{} ({:.0} %{grows})", line.dominant_part, 100.0 * line.share);
        let (frequency, ratio) =
            (rounded_mode(line.frequency, fastest), rounded_mode(line.damping_ratio, 1.0));
        let _ = writeln!(text, "{}", row([&(index + 1).to_string(), &frequency, &ratio, &part]));
    }
    if !overdamped.is_empty() {
        let _ = writeln!(text, "overdamped, decay rate [1/s]");
    }
    for (index, line) in overdamped.iter().enumerate() {
        let part = format!("{} ({:.0} %)", line.dominant_part, 100.0 * line.share);
        let _ = writeln!(text, "{}", row([&(index + 1).to_string(), &brief(-line.real), "", &part]));
    }
    let mut rest = Lines::default();
    rest.line("wall time", format!("{} s", brief(summary.wall_time)));
    rest.line("verdict", verdict_words(summary));
    rest.every_file(paths, PAGE);
    text + &rest.text()
}

fn write_results(
    output: &mut OutputFolder,
    machine: &Machine,
    found: &MachineModes,
    page: &str,
) -> Result<(), kreisel::results::WriteError> {
    let folder = output.path().to_owned();
    let mut write_text = |name: &str, text: &str| {
        let mut file = output.create(name)?;
        io::Write::write_all(&mut file, text.as_bytes())
            .map_err(|source| kreisel::results::WriteError::io(&folder.join(name), source))
    };
    write_text(PAGE, page)?;
    write_text("mode-shapes.csv", &shapes(machine, found))?;
    let channels = [
        Channel::new("frequency", "Hz"),
        Channel::new("damping-ratio", "1"),
        Channel::new("eigenvalue.real", "1/s"),
        Channel::new("eigenvalue.imaginary", "1/s"),
        Channel::new("residual", "1"),
    ];
    let row = |mode: &Mode| {
        let Mode { eigenvalue, residual, .. } = mode;
        [mode.frequency(), mode.damping_ratio(), eigenvalue.re, eigenvalue.im, *residual]
    };
    let first = Channel::new("mode", "1");
    let file = output.create("modes.csv")?;
    let mut table = CsvWriter::over(&first, file, &folder.join("modes.csv"), &channels)?;
    let file = output.create("modes.vtkhdf")?;
    let mut scene = VtkHdfWriter::new(file, &folder.join("modes.vtkhdf"), &machine.scene(), &channels)?;
    for (index, mode) in found.modes.iter().enumerate() {
        let number = (index + 1) as f64;
        table.push(number, &row(mode))?;
        scene.push(number, &machine.mode_picture(found, mode), &row(mode))?;
    }
    table.finish()?;
    scene.finish()?;
    if !found.overdamped.is_empty() {
        let file = output.create("overdamped.csv")?;
        let mut table = CsvWriter::over(&first, file, &folder.join("overdamped.csv"), &channels)?;
        for (index, mode) in found.overdamped.iter().enumerate() {
            table.push((index + 1) as f64, &row(mode))?;
        }
        table.finish()?;
    }
    Ok(())
}

/// The page with the moving shapes.
const PAGE: &str = "modes.html";

/// The modes as a motion, each with a cycle from its number, counted from 0, to the next.
fn recording(folder: &Path, summary: &RunSummary, machine: &Machine, found: &MachineModes) -> Recording {
    /// Poses of one page, at most.
    const MAX_POSES: usize = 180_000;
    /// Part of the time between two numbers that a cycle fills, so that the next one begins after it.
    const CYCLE: f64 = 0.999;
    let node_count = machine.system().node_count();
    let frames = (MAX_POSES / (node_count * found.modes.len()).max(1)).clamp(8, 32);
    let mut motion = RecordedMotion { node_count, ..RecordedMotion::default() };
    for (number, mode) in found.modes.iter().enumerate() {
        for frame in 0..=frames {
            let part = frame as f64 / frames as f64;
            motion.times.push(number as f64 + CYCLE * part);
            let nodes = machine.mode_moment(found, mode, part * std::f64::consts::TAU);
            motion.poses.extend(nodes.iter().map(|node| RecordedMotion::pose(node.position, node.rotation)));
        }
    }
    let table = CsvTable { times: Vec::new(), signals: Vec::new(), columns: Vec::new() };
    let (folder, summary, scene) = (folder.to_owned(), summary.clone(), machine.scene());
    Recording { folder, summary, scene, table, motion, over: None }
}

/// A row per coordinate: its name, then real and imaginary part of each mode, overdamped ones last.
fn shapes(machine: &Machine, found: &MachineModes) -> String {
    let mut text = "coordinate".to_owned();
    for index in 1..=found.modes.len() {
        let _ = write!(text, ",mode-{index}.real,mode-{index}.imaginary");
    }
    for index in 1..=found.overdamped.len() {
        let _ = write!(text, ",overdamped-{index}.real,overdamped-{index}.imaginary");
    }
    text.push('\n');
    let states = machine.system().state_names();
    for (row, name) in machine.coordinate_names().iter().chain(&states).enumerate() {
        text.push_str(name);
        for mode in found.modes.iter().chain(&found.overdamped) {
            let value = mode.shape.iter().chain(&mode.internal_states).nth(row).copied().unwrap_or_default();
            let _ = write!(text, ",{:.16e},{:.16e}", value.re, value.im);
        }
        text.push('\n');
    }
    text
}

/// Writes the matrices and what their rows mean.
fn write_matrices(
    folder: &Path,
    machine: &Machine,
    linearized: &Linearized,
    notes: &mut Notes,
) -> Result<Vec<PathBuf>, CommandError> {
    make_folder(folder)?;
    let names = machine.coordinate_names();
    let list = |names: &[String]| names.join("\n") + "\n";
    let mut files = vec![
        ("mass.mtx", matrix_market::sparse(&linearized.mass, "M of M x'' + C x' + K x + B^T l = 0, B x = 0")),
        ("damping.mtx", matrix_market::sparse(&linearized.damping, "C, with gyroscopic terms")),
        ("stiffness.mtx", matrix_market::sparse(&linearized.stiffness, "K, with derivatives of reactions")),
        ("gradient.mtx", matrix_market::sparse(&linearized.gradient, "B, the constraint Jacobian")),
        ("coordinates.txt", list(&names)),
    ];
    if linearized.velocity_count() > MAX_DENSE {
        let text = format!(
            "no state space is written: it would be dense, and there are more than {MAX_DENSE} velocity coordinates"
        );
        notes.add(Note::new(NoteKind::NoStateSpace, text));
    } else {
        match linearized.state_space() {
            Ok(Some(space)) => {
                let free: Vec<String> = space.coordinates.iter().map(|&index| names[index].clone()).collect();
                let all = machine.system().state_names();
                let states: Vec<String> =
                    space.internal_states.iter().map(|&index| all[index].clone()).collect();
                if !states.is_empty() {
                    files.push(("states.txt", list(&states)));
                }
                let state = matrix_market::dense(&space.state, "A of y' = A y + E f, y = (z, z', c)");
                let input = matrix_market::dense(&space.input, "E; f are forces on all coordinates");
                files.extend([
                    ("state-matrix.mtx", state),
                    ("input-matrix.mtx", input),
                    ("free-basis.mtx", matrix_market::dense(&space.basis, "N of x = N z")),
                    ("free-coordinates.txt", list(&free)),
                ]);
            }
            Ok(None) => {
                let text = "no state space is written: a free direction has no mass";
                notes.add(Note::new(NoteKind::NoStateSpace, text));
            }
            Err(error) => {
                let text = format!("no state space is written: {error}");
                notes.add(Note::new(NoteKind::NoStateSpace, text));
            }
        }
    }
    let mut paths = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        write_whole(&path, content.as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}
