//! No command writes through a link, whatever name it stands under: for each name that a command leaves or that
//! it uses on its way a link is planted that leads to a file of somebody else, and that file stays as it is.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const MODEL: &str = "[simulation]\nend-time = 0.02\nstep = '1 ms'\n[parameters]\nm = 1\n[[body]]\nname = 'bob'\nmass = 'm'\n\
    inertia = [1, 1, 1]\nposition = [1, 0, 0]\n[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'bob']\npoint = [0, 0, 0]\n\
    axis = [0, 1, 0]\n[[spring-damper]]\nname = 'spring'\nbodies = ['ground', 'bob']\nstiffness = 10\n";

/// What stands in the file of somebody else.
const PRECIOUS: &str = "precious";

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) {
    let output = kreisel(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn place() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("m.toml"), MODEL).unwrap();
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A command that writes to `out`, and what must be there before.
struct Case {
    /// What is done first, in the same folder.
    before: &'static [&'static [&'static str]],
    /// The command, whose files are below `out`.
    command: &'static [&'static str],
}

const RUN: &[&str] = &["run", "m.toml", "--quiet", "--out", "out"];

const CASES: &[Case] = &[
    Case { before: &[], command: &["run", "m.toml", "--quiet", "--out", "out", "--checkpoint", "3steps"] },
    Case { before: &[], command: &["static", "m.toml", "--quiet", "--out", "out"] },
    Case { before: &[], command: &["modes", "m.toml", "--quiet", "--out", "out"] },
    Case {
        before: &[],
        command: &[
            "sweep",
            "m.toml",
            "--quiet",
            "--vary",
            "m=1,2",
            "--measure",
            "min(bob.position.z)",
            "--out",
            "out",
        ],
    },
    Case { before: &[RUN], command: &["report", "out"] },
    Case { before: &[RUN], command: &["export", "out", "--gltf"] },
    Case { before: &[RUN], command: &["render", "out", "--output", "out/picture.png"] },
    Case {
        before: &[RUN],
        command: &["plot", "out", "--sensor", "bob.position.z", "--output", "out/plot.svg"],
    },
    Case { before: &[], command: &["run", "m.toml", "--quiet", "--out", "other", "--json=out/summary.json"] },
];

/// Names below a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Names that files have on their way to their own.
fn on_the_way(name: &str) -> Vec<String> {
    let partial = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}.partial.{ending}"),
        _ => format!("{name}.partial"),
    };
    vec![name.to_owned(), partial, format!("{name}.part"), format!(".{name}.part")]
}

/// Names of files that are gone when all went well.
const PASSING: [&str; 4] = [".kreisel-lock", ".kreisel-lock-static", ".kreisel-lock-modes", "checkpoint.bin"];

#[test]
fn no_command_writes_through_a_link() {
    let mut faults = Vec::new();
    let mut planted = 0;
    for case in CASES {
        let ready = place();
        fs::create_dir(ready.path().join("out")).unwrap();
        case.before.iter().for_each(|arguments| succeed(ready.path(), arguments));
        let done = place();
        copy(ready.path(), done.path());
        succeed(done.path(), case.command);
        let written = names(&done.path().join("out"));
        assert!(!written.is_empty(), "{:?} writes nothing below `out`", case.command);
        let ways = written.iter().flat_map(|name| on_the_way(name));
        let all: BTreeSet<String> = ways.chain(PASSING.map(str::to_owned)).collect();
        for name in all {
            let here = place();
            copy(ready.path(), here.path());
            let (link, target) = (here.path().join("out").join(&name), here.path().join("precious.txt"));
            // What is read has to be there; a link in its place is another test.
            let was_read =
                link.exists() && case.before.len() == 1 && ready.path().join("out").join(&name).exists();
            let _ = fs::remove_file(&link);
            fs::write(&target, PRECIOUS).unwrap();
            symlink(&target, &link).unwrap();
            let output = kreisel(here.path(), case.command);
            planted += 1;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let what = format!("{:?} with a link in place of `{name}`", case.command);
            if fs::read_to_string(&target).unwrap() != PRECIOUS {
                faults.push(format!("{what} wrote through it"));
            }
            if said.contains("panicked") {
                faults.push(format!("{what}: {said}"));
            }
            // Either it says no, or its own file stands where the link was.
            let is_own = !link.symlink_metadata().is_ok_and(|data| data.is_symlink());
            let is_left = PASSING.contains(&name.as_str()) || name.contains("part");
            if output.status.success() && !is_own && !is_left && !was_read {
                faults.push(format!("{what} said nothing, and its file is not there"));
            }
        }
    }
    assert!(planted > 80, "{planted}");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Files that a command reads: a link among them is refused with its name.
#[test]
fn results_that_are_links_are_not_read() {
    let ready = place();
    succeed(ready.path(), RUN);
    for name in names(&ready.path().join("out")).iter().filter(|name| *name != "report.html") {
        let here = place();
        copy(ready.path(), here.path());
        let (own, elsewhere): (PathBuf, PathBuf) =
            (here.path().join("out").join(name), here.path().join("elsewhere"));
        fs::rename(&own, &elsewhere).unwrap();
        symlink(&elsewhere, &own).unwrap();
        let output = kreisel(here.path(), &["verify", "out"]);
        assert!(!output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_run_does_not_go_on_with_links() {
    let ready = place();
    // A limit on the size of files (blocks of 512 bytes) ends it after some checkpoints, as a full disk would.
    let run = "ulimit -f 3000; exec \"$0\" run m.toml --quiet --no-report --out out --end-time 4 --checkpoint 50steps";
    let program = env!("CARGO_BIN_EXE_kreisel");
    let ended = Command::new("sh").args(["-c", run, program]).current_dir(ready.path()).output().unwrap();
    assert!(!ended.status.success());
    let left = names(&ready.path().join("out"));
    assert!(left.contains("checkpoint.bin"), "{left:?}: {}", String::from_utf8_lossy(&ended.stderr));
    for name in left.iter().filter(|name| !name.starts_with('.')) {
        let here = place();
        copy(ready.path(), here.path());
        let (own, elsewhere) = (here.path().join("out").join(name), here.path().join("elsewhere"));
        fs::rename(&own, &elsewhere).unwrap();
        let before = fs::read(&elsewhere).unwrap();
        symlink(&elsewhere, &own).unwrap();
        let output = kreisel(here.path(), &["run", "--quiet", "--resume", "out"]);
        assert_eq!(fs::read(&elsewhere).unwrap(), before, "{name}");
        let message = String::from_utf8_lossy(&output.stderr);
        // A scene and a summary are begun anew; tables and the checkpoint are not taken from elsewhere.
        if name.starts_with("trajectory") || name == "checkpoint.bin" {
            assert!(!output.status.success() && message.contains("symbolic link"), "{name}: {message}");
        }
    }
}
