//! What the tests of whole machines share: models by name or by text, and signals against what is expected.

#![allow(dead_code, reason = "every test takes a part of it")]
#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use kreisel::element::SignalFunction;
use kreisel::machine::{Functions, Machine, PartEntry, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::run::Trajectory;

/// A rod of 1 m that lies in the x axis and turns about y at its end.
pub const ROD_ON_PIN: &str = "
    [[body]]
    name = 'rod'
    mass = 2
    inertia = [0.2, 0.2, 0.01]
    position = [0.5, 0, 0]
    [[revolute]]
    name = 'pin'
    bodies = ['ground', 'rod']
    point = [0, 0, 0]
    axis = [0, 1, 0]
";

/// The machine of a text, or what is wrong with it.
pub fn read(text: &str) -> Result<Machine, String> {
    Machine::from_text("model.toml", text).map_err(|errors| errors.render(false))
}

/// A file of `models/` with other parameters and settings.
pub fn model(name: &str, parameters: &[(&str, &str)], settings: &SettingTexts) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    let reader = MachineReader::new().with_parameters(parameters).with_settings(settings);
    reader.read(&path).map_err(|errors| errors.render(false)).unwrap()
}

/// Steps for models that name none, in s, for tests of what steps of one size do.
const STEPS: [(&str, f64); 32] = [
    ("active-suspension", 2e-3),
    ("bathe-45", 1e-2),
    ("bricard-6r", 2e-3),
    ("cantilever-roll", 1e-2),
    ("chain-revolute", 1e-3),
    ("chain-spherical", 1e-3),
    ("chaplygin-sleigh", 5e-3),
    ("coin", 2e-4),
    ("crank-row", 2e-3),
    ("dc-motor-crank", 2e-3),
    ("door", 1e-2),
    ("double-pendulum", 1e-3),
    ("flyball-governor", 2e-3),
    ("flying-beam", 2e-2),
    ("foucault-pendulum", 1e-1),
    ("four-bar-chain", 1e-3),
    ("four-bar", 1e-3),
    ("gear-pair", 1e-3),
    ("grid", 5e-3),
    ("latch", 5e-4),
    ("lee-frame", 1e-2),
    ("pendulum", 2e-3),
    ("princeton-beam", 1e-2),
    ("rolling-disc", 2e-3),
    ("screw-press", 2e-3),
    ("slider-crank-spatial", 2e-3),
    ("slipping-ball", 1e-3),
    ("spin-up-beam", 5e-2),
    ("stewart-platform", 5e-3),
    ("tennis-racket", 1e-3),
    ("turntable-ball", 2e-3),
    ("universal-joint", 5e-4),
];

/// The step of the table for a model.
pub fn step_of(name: &str) -> Option<f64> {
    STEPS.iter().find(|(known, _)| *known == name).map(|(_, step)| *step)
}

/// Settings with that step, if there is one.
pub fn stepping(name: &str) -> SettingTexts {
    step_of(name)
        .map_or_else(SettingTexts::default, |step| SettingTexts::default().with("step", format!("{step:e}")))
}

/// What the sample of `[[function]]` needs.
#[derive(Debug)]
struct Given;

impl SignalFunction for Given {
    fn evaluate(&self, _: f64, _: &[f64], slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        0.0
    }
}

/// A function that gives nothing.
pub fn given() -> Arc<dyn SignalFunction> {
    Arc::new(Given)
}

/// The machine of the sample of a kind of part, or of a text made from it.
pub fn sample_machine(entry: &PartEntry, text: &str) -> Machine {
    let functions = Functions::from([("given".to_string(), given())]);
    let machine = MachineReader::new().with_functions(functions).text(entry.kind.name, text);
    machine.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// A signal at all output times.
pub fn column<'a>(run: &'a Trajectory, signal: &str) -> &'a [f64] {
    run.signal(signal).unwrap_or_else(|| panic!("no signal {signal}"))
}

/// A signal at the end.
pub fn last(run: &Trajectory, signal: &str) -> f64 {
    *column(run, signal).last().unwrap()
}

/// Largest difference between a signal and a function of time.
pub fn difference(run: &Trajectory, signal: &str, expected: impl Fn(f64) -> f64) -> f64 {
    let rows = column(run, signal).iter().zip(&run.times);
    rows.map(|(value, time)| (value - expected(*time)).abs()).fold(0.0, f64::max)
}

/// Asserts that an error is within its tolerance, and shows it.
#[track_caller]
pub fn within(what: &str, error: f64, tolerance: f64) {
    assert!(error <= tolerance, "{what}: error {error:.3e}, tolerance {tolerance:.1e}");
}

/// A basis of what constraints with a gradient of full rank allow: the rest of the space beside its rows.
pub fn allowed_directions(gradient: &nalgebra::DMatrix<f64>) -> nalgebra::DMatrix<f64> {
    let (m, n) = gradient.shape();
    let mut rows = nalgebra::DMatrix::identity(n, n + m);
    rows.columns_mut(0, m).copy_from(&gradient.transpose());
    rows.columns_mut(m, n).fill_with_identity();
    rows.qr().q().columns(m, n - m).into_owned()
}

/// 8 m of steel rope in two-node elements between a universal joint on the ground and one on a carriage,
/// which pulls it.
pub fn taut_rope(elements: usize, pull: impl Display, across: impl Display) -> String {
    format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = \"rope\"
        from = [0, 0, 0]
        to = [8, 0, 0]
        order = 1
        elements = {elements}
        section.axial-stiffness = 1.6e7
        section.shear-stiffness = [5e6, 5e6]
        section.torsional-stiffness = 50
        section.bending-stiffness = [50, 50]
        section.mass-per-length = 1.6
        section.inertia-per-length = [1.6e-4, 8e-5, 8e-5]
        [[body]]
        name = \"carriage\"
        mass = 100
        inertia = [1, 1, 1]
        position = [8, 0, 0]
        [[universal]]
        bodies = [\"ground\", \"rope.start\"]
        first-axis = [0, 1, 0]
        second-axis = [0, 0, 1]
        [[universal]]
        bodies = [\"carriage\", \"rope.end\"]
        first-axis = [0, 1, 0]
        second-axis = [0, 0, 1]
        [[prismatic]]
        bodies = [\"ground\", \"carriage\"]
        axis = [1, 0, 0]
        [[force]]
        body = \"carriage\"
        force = [{pull}, 0, 0]
        [[force]]
        body = \"rope.at-0.5\"
        force = [0, 0, {across}]"
    )
}
