//! The Python package, installed as users do: its command works from the path of an environment of its own.
//!
//! The wheel is packed here from the library that the tests have built already, with the name, the dependencies and the
//! command of `pyproject.toml`; a wheel of a release, which maturin packs, would be built anew.

use crate::python::{environment, output, output_in};
use crate::{cargo, root, say};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

/// Installs the files of a package and goes the way of a new user with the command that comes with it.
pub fn check(package: &Path) -> Result<(), String> {
    let text = read(&root().join("crates/kreisel-py/pyproject.toml"))?;
    let project: Table = text.parse().map_err(|error| format!("pyproject.toml: {error}"))?;
    let python = environment("python-command", &["numpy"])?;
    let wheel = pack(&python, package, &files_about(&project["project"])?)?;
    // Without an index nothing else is brought along; `pip check` asks for what it depends on.
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", "--no-deps"])
        .arg(&wheel);
    output(&mut install)?;
    output(Command::new(&python).args(["-m", "pip", "check"]))?;
    let place = cargo::target().join("python/first-hour");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(failed(&place))?;
    let program = python.with_file_name(if cfg!(windows) { "kreisel.exe" } else { "kreisel" });
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        output_in(command.args(arguments).env_remove("PYTHONPATH"), &place)
    };
    let version = run(&["--version"])?;
    let wanted = format!("kreisel {}", env!("CARGO_PKG_VERSION"));
    if version.trim() != wanted {
        return Err(format!("`kreisel --version` says {version}, and {wanted} was installed"));
    }
    run(&["new", "linkage", "--like", "four-bar"])?;
    say(&run(&["run", "linkage.toml"])?);
    let page = place.join("results/linkage/report.html");
    if page.is_file() { Ok(()) } else { Err(format!("{} is missing", page.display())) }
}

/// The files that tell an installer about a package, by name; the folder that they lie in is the first.
struct About {
    folder: String,
    files: [(&'static str, String); 3],
}

fn files_about(project: &Value) -> Result<About, String> {
    let missing = |key: &str| format!("pyproject.toml has no `project.{key}`");
    let name = project.get("name").and_then(Value::as_str).ok_or_else(|| missing("name"))?;
    let scripts = project.get("scripts").and_then(Value::as_table).ok_or_else(|| missing("scripts"))?;
    let needed =
        project.get("dependencies").and_then(Value::as_array).ok_or_else(|| missing("dependencies"))?;
    let version = env!("CARGO_PKG_VERSION");
    let mut metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    for needed in needed.iter().filter_map(Value::as_str) {
        let _ = writeln!(metadata, "Requires-Dist: {needed}");
    }
    let mut commands = "[console_scripts]\n".to_owned();
    for (command, function) in scripts.iter().filter_map(|(name, value)| Some((name, value.as_str()?))) {
        let _ = writeln!(commands, "{command} = {function}");
    }
    let wheel =
        "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: py3-none-any\n".to_owned();
    Ok(About {
        folder: format!("{name}-{version}.dist-info"),
        files: [("METADATA", metadata), ("WHEEL", wheel), ("entry_points.txt", commands)],
    })
}

/// Packs a wheel, which is an archive with a list of what is in it.
fn pack(python: &Path, package: &Path, about: &About) -> Result<PathBuf, String> {
    let folder = package.join(&about.folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let inside = package.join("kreisel");
    let mut list = String::new();
    for entry in
        fs::read_dir(&inside).map_err(failed(&inside))?.flatten().filter(|entry| entry.path().is_file())
    {
        let _ = writeln!(list, "kreisel/{},,", entry.file_name().to_string_lossy());
    }
    for (name, text) in &about.files {
        fs::write(folder.join(name), text).map_err(failed(&folder))?;
        let _ = writeln!(list, "{}/{name},,", about.folder);
    }
    let _ = writeln!(list, "{}/RECORD,,", about.folder);
    fs::write(folder.join("RECORD"), list).map_err(failed(&folder))?;
    let wheel = package.with_file_name(about.folder.replace(".dist-info", "-py3-none-any.whl"));
    let mut archive = Command::new(python);
    archive.args(["-m", "zipfile", "-c"]).arg(&wheel).args(["kreisel", &about.folder]);
    output_in(&mut archive, package)?;
    // Beside the package it would be found by whoever imports that.
    fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    Ok(wheel)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(failed(path))
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_has_the_dependencies_and_the_command_of_the_project() {
        let text = "name = \"top\"\ndependencies = [\"numpy>=1.23\"]\n[scripts]\nspin = \"top.main:run\"\n";
        let about = files_about(&Value::Table(text.parse().unwrap())).unwrap();
        let [(_, metadata), _, (_, commands)] = &about.files;
        assert!(about.folder.starts_with("top-"));
        assert!(metadata.contains("\nRequires-Dist: numpy>=1.23\n"));
        assert_eq!(commands, "[console_scripts]\nspin = top.main:run\n");
        assert!(files_about(&Value::Table(Table::new())).is_err());
    }
}
