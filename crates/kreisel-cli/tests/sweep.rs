//! `kreisel sweep` from outside.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A mass on a spring, on a rail, from rest at 1 m: the first passage of zero is after a quarter of 2π
/// √(m/k).
const MODEL: &str = "\
[parameters]
mass = 2
stiffness = \"8 N/m\"

[simulation]
end-time = 2
step = \"1 ms\"

[[body]]
name = \"bob\"
mass = \"mass\"
inertia = [1, 1, 1]
position = [1, 0, 0]

[[prismatic]]
name = \"rail\"
bodies = [\"ground\", \"bob\"]
point = [0, 0, 0]
axis = [1, 0, 0]

[[spring-damper]]
name = \"spring\"
bodies = [\"ground\", \"bob\"]
points = [[-10, 0, 0], [1, 0, 0]]
stiffness = \"stiffness\"
free-length = 10
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bob.toml"), MODEL).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    command.arg("sweep").arg("bob.toml").args(arguments).current_dir(folder);
    command
}

fn sweep(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = sweep(folder, arguments);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

const QUARTER: &str = "quarter = first(bob.position.x, 0)";

#[test]
fn a_grid_gives_the_periods_of_the_book_in_order() {
    let folder = folder();
    let said = done(
        folder.path(),
        &["--vary", "mass=1:3:3", "--vary", "stiffness=4 N/m,8 N/m", "--measure", QUARTER, "--out", "s"],
    );
    assert!(said.contains("6 done"), "{said}");
    let table = fs::read_to_string(folder.path().join("s/sweep.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("run,mass,stiffness [N/m],quarter,status,reason"));
    for (number, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let [run, mass, stiffness, quarter] = [0, 1, 2, 3].map(|place| fields[place].parse::<f64>().unwrap());
        assert_eq!(run, number as f64);
        let expected = 0.5 * std::f64::consts::PI * (mass / stiffness).sqrt();
        // The method's own error in a quarter of a period is some (ω h)²/12, below 1e-6.
        assert!((quarter - expected).abs() < 2e-6, "{line}: {expected}");
        assert_eq!(fields[4], "done");
    }
    assert_eq!(table.lines().count(), 7);
    let page = fs::read_to_string(folder.path().join("s/sweep.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("quarter"));
}

#[test]
fn a_table_has_the_same_bits_at_any_number_of_threads() {
    let folder = folder();
    let table = |threads: &str| {
        let out = format!("t{threads}");
        let all = [
            "--vary",
            "mass=1:3",
            "--sample",
            "20",
            "--sampling",
            "sobol",
            "--measure",
            QUARTER,
            "--end-time",
            "0.2",
            "--measure",
            "rms(bob.position.x)",
            "--threads",
            threads,
            "--out",
            &out,
        ];
        done(folder.path(), &all);
        fs::read(folder.path().join(out).join("sweep.csv")).unwrap()
    };
    let one = table("1");
    assert_eq!(one, table("3"));
    assert_eq!(one, table("8"));
}

#[test]
fn runs_that_fail_say_why_and_the_others_go_on() {
    let folder = folder();
    done(folder.path(), &["--vary", "mass=-1,1", "--measure", QUARTER, "--out", "s"]);
    let table = fs::read_to_string(folder.path().join("s/sweep.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].contains(",NaN,failed,") && lines[1].contains("mass"), "{}", lines[1]);
    assert!(lines[2].ends_with(",done,"), "{}", lines[2]);
}

#[test]
fn a_sweep_that_was_killed_goes_on_without_repeating_what_is_done() {
    let folder = folder();
    let arguments = ["--vary", "mass=1:3:60", "--measure", QUARTER, "--out", "s", "--end-time", "0.3"];
    let mut child = command(folder.path(), &arguments).stderr(Stdio::null()).spawn().unwrap();
    let journal = folder.path().join("s/sweep.journal");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let start = Instant::now();
    while lines() < 5 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = fs::read_to_string(&journal).unwrap();
    let whole = &before[..before.rfind('\n').unwrap() + 1];
    done(folder.path(), &arguments);
    assert!(fs::read_to_string(&journal).unwrap().starts_with(whole), "finished runs are kept as they are");
    let resumed = fs::read(folder.path().join("s/sweep.csv")).unwrap();
    let mut fresh = arguments;
    fresh[5] = "fresh";
    done(folder.path(), &fresh);
    assert_eq!(resumed, fs::read(folder.path().join("fresh/sweep.csv")).unwrap());
    let said = done(folder.path(), &arguments);
    assert!(said.contains("60 done, 60 of them before"), "{said}");
}

#[test]
fn requests_that_make_no_sense_are_refused_with_a_reason() {
    let folder = folder();
    for (arguments, reason) in [
        (&["--vary", "weight=1,2", "--measure", QUARTER][..], "the model has no parameter `weight`"),
        (&["--vary", "mas=1,2", "--measure", QUARTER], "did you mean `mass`?"),
        (&["--vary", "mass=1:1:4", "--measure", QUARTER], "is empty"),
        (&["--vary", "mass=1:2", "--measure", QUARTER], "how many values"),
        (&["--vary", "mass=1,2", "--vary", "mass=3,4", "--measure", QUARTER], "varies twice"),
        (&["--vary", "mass=1,2", "--measure", "max(bob.position.q)"], "bob.position"),
        (&["--vary", "mass=1,2", "--measure", "bob.position.x"], "is no measure of a run"),
        (&["--vary", "mass=1:2:99999", "--vary", "stiffness=1:2:99999", "--measure", QUARTER], "more than"),
    ] {
        let output = sweep(folder.path(), arguments);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {words}");
        assert!(words.contains(reason), "{arguments:?}: {words}");
    }
    done(folder.path(), &["--vary", "mass=1,2", "--measure", QUARTER, "--out", "s", "--end-time", "0.1"]);
    let other = sweep(
        folder.path(),
        &["--vary", "mass=1,3", "--measure", QUARTER, "--out", "s", "--end-time", "0.1"],
    );
    let words = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(words.contains("another sweep (variations mass=1,2, not mass=1,3)"), "{words}");
}

#[test]
fn a_measure_that_nothing_changes_is_told() {
    let folder = folder();
    // The bob starts where it is furthest, whatever its mass.
    let measures = ["--measure", "top = max(bob.position.x)", "--measure", QUARTER];
    let output = sweep(folder.path(), &[&["--vary", "mass=1:3:3", "--out", "s"][..], &measures].concat());
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("the measure `top` is the same in all runs, 1"), "{words}");
    assert!(!words.contains("quarter"), "{words}");
}

#[test]
#[cfg(unix)]
fn a_sweep_that_a_scheduler_ends_keeps_its_runs_and_goes_on() {
    let folder = folder();
    let arguments =
        ["--vary", "mass=1:3:100", "--measure", QUARTER, "--threads", "1", "--end-time", "0.3", "--out", "s"];
    let mut child = command(folder.path(), &arguments).stderr(Stdio::piped()).spawn().unwrap();
    let journal = folder.path().join("s/sweep.journal");
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    let start = Instant::now();
    // A head and two runs.
    while lines() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "the sweep ends before it begins");
        assert!(start.elapsed() < Duration::from_secs(60), "the sweep does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(143), "{words}");
    let kept = lines() - 1;
    assert!((2..100).contains(&kept), "{kept}");
    let whole = done(folder.path(), &arguments);
    let table = fs::read_to_string(folder.path().join("s/sweep.csv")).unwrap();
    assert_eq!(table.lines().count(), 101, "{whole}");
    done(folder.path(), &[&arguments[..8], &["--out", "whole"]].concat());
    assert_eq!(table, fs::read_to_string(folder.path().join("whole/sweep.csv")).unwrap());
}

/// Whatever a journal says, the page shows it as text; its policy lets nothing run anyway.
#[test]
fn markup_in_the_reason_of_a_run_stays_text() {
    let folder = folder();
    let arguments = ["--vary", "mass=-1,1", "--measure", QUARTER, "--out", "s"];
    done(folder.path(), &arguments);
    let journal = folder.path().join("s/sweep.journal");
    let whole = fs::read_to_string(&journal).unwrap();
    let (before, rest) = whole.split_once("\"reason\":\"").unwrap();
    let behind = &rest[rest.find("\"}").unwrap()..];
    fs::write(
        &journal,
        format!("{before}\"reason\":\"<script>hacked()</script><img src=x onerror=hacked()>{behind}"),
    )
    .unwrap();
    done(folder.path(), &arguments);
    let page = fs::read_to_string(folder.path().join("s/sweep.html")).unwrap();
    assert!(page.contains("&lt;img src=x onerror=hacked()"), "{page}");
    assert!(!page.contains("<img") && !page.contains("<script"), "{page}");
}
