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

mod watching;

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
    /// Whether it makes whole files beside those that they replace, under names that hold the number of its process.
    by_process: bool,
}

const RUN: &[&str] = &["run", "m.toml", "--quiet", "--out", "out"];

const CASES: &[Case] = &[
    Case {
        before: &[],
        command: &["run", "m.toml", "--quiet", "--out", "out", "--checkpoint", "3steps"],
        by_process: false,
    },
    // In a folder that is not empty, and ours: else a link is a file of somebody else already, and nothing is tried.
    Case {
        before: &[RUN],
        command: &["run", "m.toml", "--quiet", "--out", "out", "--checkpoint", "3steps"],
        by_process: false,
    },
    Case { before: &[RUN], command: &["static", "m.toml", "--quiet", "--out", "out"], by_process: false },
    Case { before: &[RUN], command: &["modes", "m.toml", "--quiet", "--out", "out"], by_process: false },
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
        by_process: true,
    },
    Case { before: &[RUN], command: &["report", "out"], by_process: true },
    Case { before: &[RUN], command: &["export", "out", "--gltf"], by_process: true },
    Case { before: &[RUN], command: &["render", "out", "--output", "out/picture.png"], by_process: true },
    Case {
        before: &[RUN],
        command: &["plot", "out", "--sensor", "bob.position.z", "--output", "out/plot.svg"],
        by_process: true,
    },
    Case {
        before: &[],
        command: &["run", "m.toml", "--quiet", "--out", "other", "--json=out/summary.json"],
        by_process: true,
    },
];

/// Names below a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Where a link is planted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    /// Under a name that is known before.
    Name(String),
    /// Under the name that a file has on its way to its own, with the number of the process that writes it.
    Process(String),
}

/// The names that files have, and those on their way to them.
fn spots(name: &str) -> [Spot; 3] {
    let partial = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}.partial.{ending}"),
        _ => format!("{name}.partial"),
    };
    [Spot::Name(name.to_owned()), Spot::Name(partial), Spot::Process(name.to_owned())]
}

/// Runs the program with a link that is planted by its own process, before it is the program.
fn kreisel_with_link(folder: &Path, name: &str, target: &Path, arguments: &[&str]) -> Output {
    let line = "ln -s \"$1\" \"out/.$2.$$.part\" && program=$0 && shift 2 && exec \"$program\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_kreisel")]).arg(target).arg(name).args(arguments);
    command.current_dir(folder).output().unwrap()
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
        let mut written = names(&done.path().join("out"));
        if ["static", "modes"].contains(&case.command[0]) {
            // Files of the run beside are nothing to them.
            written.retain(|name| !ready.path().join("out").join(name).exists());
        }
        assert!(!written.is_empty(), "{:?} writes nothing below `out`", case.command);
        let passing = PASSING.map(|name| Spot::Name(name.to_owned()));
        let is_used = |spot: &Spot| case.by_process || matches!(spot, Spot::Name(_));
        let all: BTreeSet<Spot> =
            written.iter().flat_map(|name| spots(name)).filter(is_used).chain(passing).collect();
        let mut stopped = 0;
        for spot in all {
            let here = place();
            copy(ready.path(), here.path());
            let target = here.path().join("precious.txt");
            fs::write(&target, PRECIOUS).unwrap();
            let (output, is_missing) = match &spot {
                Spot::Name(name) => {
                    let link = here.path().join("out").join(name);
                    // What is read has to be there; a link in its place is another test.
                    let was_read = link.exists() && case.by_process && !case.before.is_empty();
                    let _ = fs::remove_file(&link);
                    symlink(&target, &link).unwrap();
                    let output = kreisel(here.path(), case.command);
                    let is_link = link.symlink_metadata().is_ok_and(|data| data.is_symlink());
                    let is_left = PASSING.contains(&name.as_str()) || name.contains("partial");
                    (output, is_link && !is_left && !was_read)
                }
                Spot::Process(name) => (kreisel_with_link(here.path(), name, &target, case.command), false),
            };
            planted += 1;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let what = format!("{:?} with a link at {spot:?}", case.command);
            if fs::read_to_string(&target).unwrap() != PRECIOUS {
                faults.push(format!("{what} wrote through it"));
            }
            if said.contains("panicked") {
                faults.push(format!("{what}: {said}"));
            }
            // Either it says no, or its own file stands where the link was.
            if output.status.success() && is_missing {
                faults.push(format!("{what} said nothing, and its file is not there"));
            }
            if matches!(spot, Spot::Process(_)) && !output.status.success() {
                stopped += 1;
            }
        }
        // Names that nobody uses would test nothing.
        assert_eq!(stopped > 0, case.by_process, "{:?} meets {stopped} links on its way", case.command);
    }
    assert!(planted > 60, "{planted}");
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
        if !READ.contains(&name.as_str()) {
            continue;
        }
        for reader in READERS {
            let output = kreisel(here.path(), reader);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{name}, {reader:?}");
            assert!(said.contains("symbolic link") && said.contains(name), "{name}, {reader:?}: {said}");
        }
    }
}

/// Files of a run from which pictures are made, and what makes them.
const READ: [&str; 4] = ["run.json", "trajectory.csv", "scene.json", "trajectory.vtkhdf"];
const READERS: [&[&str]; 4] = [
    &["report", "out", "-o", "page.html"],
    &["plot", "out", "--sensor", "bob.*"],
    &["render", "out"],
    &["export", "out", "--gltf", "-o", "a.glb"],
];

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

/// A page that is a link is not shown: somebody else's file would be read, and given to a browser.
#[test]
fn a_page_that_is_a_link_is_not_viewed() {
    let here = place();
    succeed(here.path(), RUN);
    let target = here.path().join("precious.txt");
    fs::write(&target, PRECIOUS).unwrap();
    let page = here.path().join("out/report.html");
    fs::remove_file(&page).unwrap();
    symlink(&target, &page).unwrap();
    let viewed = || {
        let mut view = Command::new(env!("CARGO_BIN_EXE_kreisel"));
        view.args(["view", "out"]).env("BROWSER", "true").current_dir(here.path()).output().unwrap()
    };
    let output = viewed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("symbolic link") && said.contains("report.html"),
        "{said}"
    );
    assert!(output.stdout.is_empty());
    fs::remove_file(&page).unwrap();
    // One that is not there is made.
    assert!(viewed().status.success() && page.symlink_metadata().unwrap().is_file());
}

/// `watch` shows the page of its own run, also where a link was put in its place before.
#[test]
fn a_watched_run_neither_reads_nor_writes_through_links() {
    let all = [".kreisel-lock", "report.html", "report.partial.html", "run.json", "trajectory.csv"];
    for name in all {
        let here = place();
        succeed(here.path(), RUN);
        let target = here.path().join("precious.txt");
        fs::write(&target, PRECIOUS).unwrap();
        let link = here.path().join("out").join(name);
        let _ = fs::remove_file(&link);
        symlink(&target, &link).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
        command.args(["watch", "m.toml", "--out", "out", "--no-browser"]).current_dir(here.path());
        if let Some(mut watching) = watching::Watching::begun(command) {
            watching.until(|state| state["standing"] != "running");
            assert!(!watching.get("page").contains(PRECIOUS), "{name} is shown");
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), PRECIOUS, "{name} is written through");
    }
}
