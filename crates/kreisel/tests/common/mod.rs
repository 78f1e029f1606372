//! What the tests of whole machines share: models by name or by text, and signals against what is expected.

#![allow(dead_code, reason = "every test takes a part of it")]
#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::run::Trajectory;

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
