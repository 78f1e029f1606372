//! Python environments under `target/`, each set up once.

use crate::{root, say};
use std::path::PathBuf;
use std::process::Command;

/// The Python of an environment with these packages, which are installed the first time.
pub fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = root().join("target").join(name);
    let binaries = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let (python, done) = (binaries.join("python"), folder.join("installed"));
    if !done.exists() {
        say(&format!("installing {}\n", packages.join(", ")));
        output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        output(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
        std::fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))?;
    }
    Ok(python)
}

/// What a command prints; its own words about a failure become the error.
pub fn output(command: &mut Command) -> Result<String, String> {
    let name = format!("{:?}", command.get_program());
    let output =
        command.current_dir(root()).output().map_err(|error| format!("{name} did not start: {error}"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} failed: {}\n{words}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
