//! Calls cargo at the root of the workspace.

use crate::root;
use std::path::PathBuf;
use std::process::Command;

/// Runs cargo with these arguments.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    run_with(arguments, &[])
}

/// Runs cargo with these arguments and environment variables.
pub fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().copied());
    finish(&mut command, &format!("cargo {}", arguments.join(" ")))
}

/// Runs tests with the crates of the whole workspace, as the step `test` builds them: other choices of crates
/// have other features, and all that depends on them would be built anew.
pub fn test(test: &str, more: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    run_with(&[&["test", "--workspace", "--test", test], more].concat(), variables)
}

/// Runs the `kreisel` that the tests use.
pub fn kreisel(arguments: &[&str]) -> Result<(), String> {
    run(&["test", "--quiet", "--workspace", "--test", "run", "--no-run"])?;
    let mut command = Command::new(target().join("debug/kreisel"));
    finish(command.args(arguments), &format!("kreisel {}", arguments.join(" ")))
}

/// Builds a program of the workspace without debugging aids and runs it.
pub fn run_release(package: &str, arguments: &[&str]) -> Result<(), String> {
    run(&[&["run", "--release", "--quiet", "--package", package, "--"], arguments].concat())
}

/// All packages and who needs whom.
pub fn metadata() -> Result<serde_json::Value, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("`cargo metadata` did not start: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("`cargo metadata`: {error}; {}", String::from_utf8_lossy(&output.stderr)))
}

/// Whether cargo knows a command.
pub fn has(command: &str) -> bool {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(program).args([command, "--version"]).output();
    asked.is_ok_and(|output| output.status.success())
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn finish(command: &mut Command, words: &str) -> Result<(), String> {
    match command.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{words}` failed: {status}")),
        Err(error) => Err(format!("`{words}` did not start: {error}")),
    }
}
