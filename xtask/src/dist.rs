//! `cargo xtask dist`: what users get, below `target/dist`: an archive with the command, models, completions,
//! manual pages and licences; a wheel that brings the command with the Python package; the notes of the
//! release.

use crate::{cargo, python, root, say, supply};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Largest size of the command in bytes; most of it is code of the library and of faer.
const MAX_SIZE: u64 = 17_000_000;
/// Most crates of others that the command is built from: each is waited for by whoever builds it first.
const MAX_CRATES: usize = 140;
/// Crates that the command did without to be built sooner: readers of fonts and of SVG, a reader of HDF5. None comes
/// back by way of another.
const UNWANTED: [&str; 9] =
    ["fontdb", "harfrust", "hdf5-pure", "read-fonts", "resvg", "rustybuzz", "skrifa", "svgtypes", "usvg"];
/// Longest way from the archive to the first page.
const MAX_WAY: Duration = Duration::from_secs(10);

/// Makes the archive, the wheel and the notes.
pub fn run() -> Result<(), String> {
    let archive = archive()?;
    let wheel = python::build_wheel()?;
    for path in [archive.path, wheel, archive.notes, archive.bill] {
        say(&format!("{}\n", path.display()));
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Makes the archive and goes the way of a new user with it, in a shell that has no Rust.
pub fn check() -> Result<(), String> {
    check_crates()?;
    let archive = archive()?;
    let place = cargo::target().join("dist/first-hour");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(failed(&place))?;
    let began = Instant::now();
    python::output(Command::new("tar").arg("-xf").arg(&archive.path).arg("-C").arg(&place))?;
    let folder = place.join(&archive.name);
    let program = folder.join(program_name());
    let size = fs::metadata(&program).map_err(failed(&program))?.len();
    let steps: [&[&str]; 4] =
        [&["--version"], &["new", "top", "--like", "heavy-top"], &["run", "top.toml"], &["view"]];
    let mut transcript =
        format!("$ tar -xf {}   # {:.2} s\n", name_of(&archive.path), began.elapsed().as_secs_f64());
    for step in steps {
        let started = Instant::now();
        let path = if cfg!(windows) { "C:\\Windows\\System32" } else { "/usr/bin:/bin" };
        let mut command = Command::new(&program);
        command.args(step).current_dir(&place).env("PATH", path).env("BROWSER", "true");
        let output = command.output().map_err(failed(&program))?;
        if !output.status.success() {
            return Err(format!("kreisel {}: {}", step.join(" "), String::from_utf8_lossy(&output.stderr)));
        }
        let _ =
            writeln!(transcript, "$ kreisel {}   # {:.2} s", step.join(" "), started.elapsed().as_secs_f64());
        for said in [&output.stdout, &output.stderr] {
            transcript += &String::from_utf8_lossy(said);
        }
    }
    let way = began.elapsed();
    say(&transcript);
    say(&format!(
        "the command has {:.1} MB; from the archive to the first page {:.1} s\n",
        size as f64 / 1e6,
        way.as_secs_f64()
    ));
    let page = place.join("results/top/report.html");
    let mut faults: Vec<String> = Vec::new();
    let wanted =
        ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt", supply::BILL];
    let wanted = wanted.iter().map(|name| folder.join(name)).chain([
        page,
        folder.join("models/four-bar.toml"),
        folder.join("completions/kreisel.bash"),
        folder.join("completions/_kreisel"),
        folder.join("completions/kreisel.fish"),
        folder.join("completions/_kreisel.ps1"),
        folder.join("man/kreisel.1"),
        folder.join("man/kreisel-run.1"),
    ]);
    faults.extend(wanted.filter(|path| !path.is_file()).map(|path| format!("{} is missing", path.display())));
    if size > MAX_SIZE {
        faults.push(format!("the command has {size} bytes, and {MAX_SIZE} are allowed"));
    }
    if way > MAX_WAY {
        faults.push(format!("the first page took {way:?}, and {MAX_WAY:?} are allowed"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

struct Archive {
    /// The folder inside of it.
    name: String,
    path: PathBuf,
    notes: PathBuf,
    /// What it is made of; the archive holds the same.
    bill: PathBuf,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

fn program_name() -> &'static str {
    if cfg!(windows) { "kreisel.exe" } else { "kreisel" }
}

fn archive() -> Result<Archive, String> {
    let changelog =
        fs::read_to_string(root().join("CHANGELOG.md")).map_err(failed(Path::new("CHANGELOG.md")))?;
    let release = Release::of(&changelog, env!("CARGO_PKG_VERSION"))?;
    cargo::run(&["build", "--release", "--locked", "--package", "kreisel-cli"])?;
    let dist = cargo::target().join("dist");
    let name = format!("kreisel-{}-{}-{}", release.version, std::env::consts::ARCH, std::env::consts::OS);
    let folder = dist.join(&name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("models")).map_err(failed(&folder))?;
    let program = cargo::target().join("release").join(program_name());
    copy(&program, &folder.join(program_name()))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    for entry in fs::read_dir(root().join("models")).map_err(failed(Path::new("models")))?.flatten() {
        copy(&entry.path(), &folder.join("models").join(entry.file_name()))?;
    }
    write(&folder.join("THIRD-PARTY.txt"), &licences()?)?;
    supply::write_bill(&folder.join(supply::BILL))?;
    let bill = dist.join(format!("{name}.cdx.json"));
    copy(&folder.join(supply::BILL), &bill)?;
    let pages = folder.to_string_lossy();
    cargo::run(&["run", "--quiet", "--package", "kreisel-cli", "--example", "pages", "--", &pages])?;
    let notes = dist.join("NOTES.md");
    write(&notes, &release.notes)?;
    let path = dist.join(format!("{name}.tar.gz"));
    python::output(Command::new("tar").arg("-czf").arg(&path).arg("-C").arg(&dist).arg(&name))?;
    Ok(Archive { name, path, notes, bill })
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(failed(from))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(failed(path))
}

/// What the newest part of the changelog says.
#[derive(Debug, PartialEq)]
struct Release {
    version: String,
    notes: String,
}

impl Release {
    /// The first part; its heading is the version of the program, or `Unreleased` for a version on the way.
    fn of(changelog: &str, version: &str) -> Result<Self, String> {
        let (_, rest) = changelog.split_once("\n## ").ok_or("CHANGELOG.md has no version")?;
        let part = rest.split("\n## ").next().unwrap_or(rest);
        let (heading, notes) = part.split_once('\n').unwrap_or((part, ""));
        let heading = heading.split_whitespace().next().unwrap_or_default();
        let version = match heading {
            "Unreleased" => format!("{version}-dev"),
            heading if heading == version => version.to_owned(),
            other => return Err(format!("CHANGELOG.md is at {other}, Cargo.toml at {version}")),
        };
        Ok(Self { version, notes: format!("{}\n", notes.trim()) })
    }
}

/// Crates of others that a package is built from, as name and version.
fn crates(package: &str) -> Result<BTreeSet<(String, String)>, String> {
    let arguments = ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--package", package];
    let listed = python::output(Command::new("cargo").args(arguments))?;
    let others = listed.lines().filter(|line| !line.contains(" (/") && !line.contains(" (*)"));
    Ok(others
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
        })
        .collect())
}

fn check_crates() -> Result<(), String> {
    let crates = crates("kreisel-cli")?;
    say(&format!("the command is built from {} crates of others\n", crates.len()));
    judge_crates(crates.iter().map(|(name, _)| name.as_str()))
}

/// What is wrong with the crates of others that the command is built from.
fn judge_crates<'c>(names: impl Iterator<Item = &'c str> + Clone) -> Result<(), String> {
    let unwanted: Vec<&str> = names.clone().filter(|name| UNWANTED.contains(name)).collect();
    let count = names.count();
    if !unwanted.is_empty() {
        return Err(format!("the command is not to be built from {}", unwanted.join(", ")));
    }
    match count {
        0 => Err("cargo names no crate of which the command is built".to_owned()),
        1..=MAX_CRATES => Ok(()),
        _ => Err(format!("the command is built from {count} crates of others, and {MAX_CRATES} are allowed")),
    }
}

/// Licences of all that is in the command, with their texts, each text once.
fn licences() -> Result<String, String> {
    let used = crates("kreisel-cli")?;
    let metadata = cargo::metadata()?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut list, mut texts) = (String::new(), BTreeSet::new());
    for package in packages {
        let word = |key: &str| package[key].as_str().unwrap_or_default();
        if !used.contains(&(word("name").to_owned(), word("version").to_owned())) {
            continue;
        }
        let _ = writeln!(
            list,
            "{} {}: {}  {}",
            word("name"),
            word("version"),
            word("license"),
            word("repository")
        );
        texts.extend(licence_texts(package));
    }
    let rule = "-".repeat(100);
    let texts: Vec<String> = texts.into_iter().collect();
    Ok(format!("{list}\n{rule}\n{}\n", texts.join(&format!("\n{rule}\n"))))
}

/// The texts of licences that lie beside the manifest of a package.
fn licence_texts(package: &Value) -> Vec<String> {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let files =
        manifest.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|word| name.starts_with(word))
    };
    let paths = files.map(|file| file.path()).filter(is_licence);
    paths.filter_map(|path| Some(fs::read_to_string(path).ok()?.trim().replace('\r', ""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_were_done_without_do_not_come_back() {
        let judge = |names: &[&'static str]| judge_crates(names.iter().copied());
        assert_eq!(judge(&["faer", "tiny-skia"]), Ok(()));
        assert!(judge(&["faer", "usvg", "skrifa"]).unwrap_err().ends_with("usvg, skrifa"));
        assert!(judge(&[]).is_err());
        assert!(judge(&["faer"; MAX_CRATES + 1]).unwrap_err().contains("141"));
    }

    #[test]
    fn the_version_and_the_notes_are_those_of_the_first_part_of_the_changelog() {
        let text = "# Changelog\n\nWords.\n\n## 0.2.0 (2030-01-02)\n\n- new\n\n## 0.1.0\n\n- old\n";
        let release = Release::of(text, "0.2.0").unwrap();
        assert_eq!(release, Release { version: "0.2.0".to_owned(), notes: "- new\n".to_owned() });
        assert!(Release::of(text, "0.3.0").unwrap_err().contains("0.3.0"));
        let open = Release::of("# C\n\n## Unreleased\n\n- x\n", "0.2.0").unwrap();
        assert_eq!(open.version, "0.2.0-dev");
    }
}
