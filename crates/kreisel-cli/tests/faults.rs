//! Every call that writes a file, brings it to the disk or gives it its name fails once: there is one message, it
//! names the file, nothing half-written has a final name, and the same command comes to the same bytes afterwards.
//!
//! The calls fail in a library of C that is put before the system's, so that the program is the one that users
//! have. It is compiled with `cc`; without one nothing is tested, which is said, and is a failure where the variable
//! `CI` is set.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Ten steps with an event.
const MODEL: &str = "[simulation]\nend-time = 0.01\nstep = '1 ms'\n[parameters]\nm = 1\n[[body]]\nname = 'bob'\nmass = 'm'\n\
    inertia = [1, 1, 1]\nposition = [1, 0, 0]\n[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'bob']\npoint = [0, 0, 0]\n\
    axis = [0, 1, 0]\n[[event]]\nname = 'low'\nzero-of = 'bob.position.z + 0.0001'\n";

/// The shim, or nothing where there is no compiler.
#[allow(clippy::print_stderr, reason = "a test that was left out says so")]
fn shim(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path).arg(source).arg("-ldl");
    let Ok(status) = compiler.status() else {
        let is_required = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!is_required, "there is no `cc`, without which nothing is tested here");
        eprintln!("NOT TESTED: there is no `cc` to compile calls that fail");
        return None;
    };
    assert!(status.success(), "the shim does not compile");
    Some(path)
}

/// A folder with a model, a place for results and the shim.
struct Place {
    folder: TempDir,
    shim: PathBuf,
}

/// A call that failed.
struct Fault {
    /// Which call, on which file.
    what: String,
    /// The name of that file.
    name: String,
    output: Output,
}

impl Place {
    fn new() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("m.toml"), MODEL).unwrap();
        let shim = shim(folder.path())?;
        Some(Self { folder, shim })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    fn succeed(&self, arguments: &[&str]) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The command with its `at`-th call failing, or every other one; nothing if there are fewer.
    fn failing(&self, arguments: &[&str], out: &str, at: usize, kind: &str) -> Option<Fault> {
        let mark = self.path("mark");
        let _ = fs::remove_file(&mark);
        let mut command = self.command(arguments);
        command.env("FAULT_FOLDER", self.path(out).canonicalize().unwrap_or_else(|_| self.path(out)));
        command.env("FAULT_AT", at.to_string()).env("FAULT_KIND", kind).env("FAULT_MARK", &mark);
        let output = command.env("LD_PRELOAD", &self.shim).output().unwrap();
        let what = fs::read_to_string(&mark).ok()?;
        let name = Path::new(&what).file_name().unwrap().to_str().unwrap().to_owned();
        Some(Fault { what: format!("{kind} at call {at}, {what}"), name, output })
    }

    /// Files of a folder without those that have no final name.
    fn files(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.path(out)) else { return BTreeMap::new() };
        let files = entries.map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        });
        files.filter(|(name, _)| !name.starts_with('.') && !name.contains(".partial.")).collect()
    }
}

/// The words for a failure, one of them.
fn words(kind: &str) -> &'static [&'static str] {
    if kind == "ENOSPC" { &["the disk is full", "No space left on device"] } else { &["Input/output error"] }
}

/// The name that a file on its way is to have: `table.csv` of `table.partial.csv` and of `.table.csv.1234.part`.
fn final_name(name: &str) -> String {
    match name.strip_prefix('.').and_then(|name| name.strip_suffix(".part")) {
        Some(name) => name.rsplit_once('.').map_or(name, |(name, _)| name).to_owned(),
        None => name.replacen(".partial", "", 1),
    }
}

/// What the user is told: one error with the file and the reason, and exit code 1.
fn assert_told(fault: &Fault, kind: &str) {
    let message = String::from_utf8_lossy(&fault.output.stderr);
    let what = &fault.what;
    assert_eq!(fault.output.status.code(), Some(1), "{what}: {message}");
    assert_eq!(message.matches("error: ").count(), 1, "{what}: {message}");
    assert!(words(kind).iter().any(|word| message.contains(word)), "{what}: {message}");
    // By the name that it has on its way, or the one that it is to have.
    assert!(
        message.contains(&fault.name) || message.contains(&final_name(&fault.name)),
        "{what}: no word of `{}` in: {message}",
        fault.name
    );
    assert!(!message.contains("panicked"), "{what}: {message}");
}

/// How the calls fail: with a full disk or a broken one. Where only some of them fail they do so in turn, so that
/// all tests together take seconds; where all do, each does so twice.
fn faults(stride: usize) -> impl Iterator<Item = (usize, &'static str)> {
    let both = move |at: usize| {
        let [full, broken] = ["ENOSPC", "EIO"].map(|kind| (at, kind));
        if stride == 1 {
            vec![full, broken]
        } else if at.is_multiple_of(2) {
            vec![full]
        } else {
            vec![broken]
        }
    };
    (1..).step_by(stride).flat_map(both)
}

const RUN: [&str; 7] = ["run", "m.toml", "--quiet", "--out", "out", "--checkpoint", "3steps"];

/// Tables must be those of `whole` to the byte wherever they have their final names; a summary can be read, and where
/// it says that all is done the files have its checksums, those too whose bytes differ from run to run.
fn assert_whole(place: &Place, fault: &str) {
    let whole = place.files("whole");
    for (name, content) in place.files("out") {
        match name.as_str() {
            "run.json" | "sweep.json" => {
                let summary: serde_json::Value = serde_json::from_slice(&content)
                    .unwrap_or_else(|error| panic!("{fault}: {name}: {error}"));
                if name == "sweep.json" || summary["status"] == "done" {
                    place.succeed(&["verify", "out"]);
                }
            }
            "trajectory.csv" | "scene.json" | "sweep.csv" | "sweep.html" => {
                assert!(whole[&name] == content, "{fault}: {name} is not whole");
            }
            _ => {}
        }
    }
}

fn run_with_faults(stride: usize) -> Option<usize> {
    let place = Place::new()?;
    place.succeed(&["run", "m.toml", "--quiet", "--out", "whole"]);
    for (at, kind) in faults(stride) {
        let _ = fs::remove_dir_all(place.path("out"));
        let Some(fault) = place.failing(&RUN, "out", at, kind) else { return Some(at) };
        assert_told(&fault, kind);
        assert_whole(&place, &fault.what);
        // What cannot go on was finished, or is begun again; neither needs more than the same words.
        let again: &[&str] = &["run", "--quiet", "--resume", "out"];
        let is_finished = fs::read(place.path("out/run.json"))
            .is_ok_and(|text| String::from_utf8(text).unwrap().contains("\"status\": \"done\""));
        if is_finished {
            place.succeed(&["verify", "out"]);
        } else if place.path("out/checkpoint.bin").exists() {
            place.succeed(again);
        } else {
            place.succeed(&RUN);
        }
        assert!(
            fs::read(place.path("out/trajectory.csv")).unwrap() == place.files("whole")["trajectory.csv"],
            "{}",
            fault.what
        );
        place.succeed(&["verify", "out"]);
    }
    unreachable!("there are finitely many calls")
}

/// One of thirteen calls; all of them by `cargo xtask torture`.
#[test]
fn a_run_survives_some_calls_that_fail() {
    let Some(calls) = run_with_faults(13) else { return };
    assert!(calls > 100, "{calls}");
}

#[test]
#[ignore = "minutes: `cargo xtask torture`"]
fn a_run_survives_any_call_that_fails() {
    let Some(calls) = run_with_faults(1) else { return };
    assert!(calls > 100, "{calls}");
}

/// A run that was interrupted goes on, and that fails as well; it goes on once more.
fn resume_with_faults(stride: usize) {
    let Some(place) = Place::new() else { return };
    place.succeed(&["run", "m.toml", "--quiet", "--out", "whole"]);
    let interrupt = |place: &Place| {
        let _ = fs::remove_dir_all(place.path("out"));
        // A disk that is full after the second checkpoint.
        for at in (60..).step_by(5) {
            let _ = fs::remove_dir_all(place.path("out"));
            place.failing(&RUN, "out", at, "ENOSPC").unwrap();
            if place.path("out/checkpoint.bin").exists() {
                return;
            }
        }
    };
    let resume = ["run", "--quiet", "--resume", "out"];
    for (at, kind) in faults(stride) {
        interrupt(&place);
        let Some(fault) = place.failing(&resume, "out", at, kind) else {
            assert!(at > 40, "{at}");
            return;
        };
        assert_told(&fault, kind);
        assert_whole(&place, &fault.what);
        if place.path("out/checkpoint.bin").exists() {
            let again = place.command(&resume).output().unwrap();
            let message = String::from_utf8_lossy(&again.stderr).into_owned();
            // A run whose last words could not be written had come to its end.
            assert!(again.status.success() || message.contains("has ended"), "{}: {message}", fault.what);
        }
        let is_same =
            fs::read(place.path("out/trajectory.csv")).unwrap() == place.files("whole")["trajectory.csv"];
        assert!(is_same, "{}", fault.what);
        place.succeed(&["verify", "out"]);
    }
}

#[test]
fn a_run_that_goes_on_survives_some_calls_that_fail() {
    resume_with_faults(29);
}

#[test]
#[ignore = "minutes: `cargo xtask torture`"]
fn a_run_that_goes_on_survives_any_call_that_fails() {
    resume_with_faults(1);
}

#[test]
fn a_sweep_survives_any_call_that_fails() {
    let Some(place) = Place::new() else { return };
    let sweep = |out| {
        ["sweep", "m.toml", "--quiet", "--vary", "m=1,2", "--measure", "min(bob.position.z)", "--out", out]
    };
    place.succeed(&sweep("whole"));
    for (at, kind) in faults(1) {
        let _ = fs::remove_dir_all(place.path("out"));
        let Some(fault) = place.failing(&sweep("out"), "out", at, kind) else {
            assert!(at > 8, "{at}");
            return;
        };
        assert_told(&fault, kind);
        assert_whole(&place, &fault.what);
        place.succeed(&sweep("out"));
        assert!(place.files("out")["sweep.csv"] == place.files("whole")["sweep.csv"], "{}", fault.what);
        place.succeed(&["verify", "out"]);
    }
}

#[test]
fn writes_that_are_interrupted_or_short_are_taken_up_again() {
    let Some(place) = Place::new() else { return };
    place.succeed(&["run", "m.toml", "--quiet", "--out", "whole"]);
    for kind in ["EINTR", "SHORT"] {
        let _ = fs::remove_dir_all(place.path("out"));
        let fault = place.failing(&RUN, "out", 0, kind).unwrap();
        let message = String::from_utf8_lossy(&fault.output.stderr);
        assert!(fault.output.status.success(), "{}: {message}", fault.what);
        assert_whole(&place, kind);
        assert_eq!(place.files("out").len(), place.files("whole").len(), "{kind}");
        place.succeed(&["verify", "out"]);
    }
}
