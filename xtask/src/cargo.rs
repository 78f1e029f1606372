//! Calls cargo at the root of the workspace.

use crate::root;
use std::process::Command;

/// Runs cargo with these arguments.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    run_with(arguments, &[])
}

/// Runs cargo with these arguments and environment variables.
pub fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = arguments.join(" ");
    let mut command = Command::new(program);
    let status = command.args(arguments).envs(variables.iter().copied()).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`cargo {words}` failed: {status}")),
        Err(error) => Err(format!("`cargo {words}` did not start: {error}")),
    }
}
