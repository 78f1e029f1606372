//! Runs that are killed and go on: what is written is the same, byte for byte, as without interruption.
//!
//! `KREISEL_KILLS` is how often a run is killed in the long test, which `cargo xtask torture` runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::results::CsvTable;
use serde_json::Value;
use sha2::Digest;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    path.to_str().unwrap().to_owned()
}

fn succeed(folder: &Path, arguments: &[&str]) {
    let output = kreisel(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
}

/// Kills a run as soon as it has a checkpoint, or after a time; tells whether it was still running.
fn kill(folder: &Path, arguments: &[&str], after: Option<Duration>, checkpoint: &Path) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    // Read by `run -` only.
    let input = fs::File::open(folder.join("top.toml")).map_or_else(|_| Stdio::null(), Stdio::from);
    command.args(arguments).current_dir(folder).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{arguments:?}: {status}");
            return false;
        }
        let is_time = after.map_or_else(|| checkpoint.exists(), |after| start.elapsed() >= after);
        if is_time {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The signals of the table and of the file for ParaView, with the poses of all nodes.
fn content(results: &Path) -> (Vec<u8>, Vec<(String, Vec<u64>)>) {
    let table = fs::read(results.join("trajectory.csv")).unwrap();
    let file = hdf5_pure::File::open(results.join("trajectory.vtkhdf")).unwrap();
    let bits = |name: &str| -> Vec<u64> {
        file.dataset(name).unwrap().read_f64().unwrap().into_iter().map(f64::to_bits).collect()
    };
    let names = CsvTable::read(&results.join("trajectory.csv")).unwrap().signals;
    let signals =
        names.into_iter().map(|signal| (signal.name.clone(), bits(&format!("signals/{}", signal.name))));
    let nodes = ["position", "rotation", "velocity", "angular-velocity"]
        .map(|name| (name.to_owned(), bits(&format!("nodes/{name}"))));
    let times = ("times of drawings".to_owned(), bits("VTKHDF/Steps/Values"));
    let drawn = ["Points", "PointData/velocity"].map(|name| {
        let numbers = file.dataset(&format!("VTKHDF/{name}")).unwrap().read_f32().unwrap();
        (name.to_owned(), numbers.into_iter().map(|number| u64::from(number.to_bits())).collect())
    });
    (table, signals.chain(nodes).chain([times]).chain(drawn).collect())
}

/// What `run.json` says, without wall times and places, and without checksums of files in which such stand.
fn summary(results: &Path) -> Value {
    let mut summary: Value = serde_json::from_slice(&fs::read(results.join("run.json")).unwrap()).unwrap();
    summary.as_object_mut().unwrap().remove("wall-time");
    if let Some(checksums) = summary.get_mut("crc32").and_then(Value::as_object_mut) {
        checksums.retain(|name, _| !["trajectory.vtkhdf", "report.html"].contains(&name.as_str()));
    }
    summary
}

fn assert_same(folder: &Path, uninterrupted: &str, resumed: &str) {
    let [expected, found] = [uninterrupted, resumed].map(|name| content(&folder.join(name)));
    assert!(expected.0 == found.0, "{resumed}: trajectory.csv differs");
    for (expected, found) in expected.1.iter().zip(&found.1) {
        assert!(expected == found, "{resumed}: {} differs in trajectory.vtkhdf", expected.0);
    }
    assert_eq!(summary(&folder.join(uninterrupted)), summary(&folder.join(resumed)), "{resumed}");
    succeed(folder, &["verify", resumed]);
    assert!(
        !folder.join(resumed).join("checkpoint.bin").exists(),
        "{resumed}: the checkpoint is still there"
    );
}

/// Model, flags and steps between checkpoints: fixed and variable steps, events that switch joints and set
/// parameters, corners of inputs, friction that sticks, contact with a crowd, states and controllers,
/// rolling, a static start.
const CASES: &[(&str, &[&str], &str)] = &[
    ("heavy-top.toml", &["--end-time", "0.2"], "37steps"),
    ("heavy-top.toml", &["--end-time", "0.2", "--step", "auto", "--rtol", "1e-5"], "7steps"),
    // More output times than are drawn, a known number of them and one that nobody knows.
    ("heavy-top.toml", &["--end-time", "0.3", "--step", "1e-4"], "1010steps"),
    (
        "heavy-top.toml",
        &["--end-time", "0.3", "--step", "auto", "--rtol", "1e-3", "--max-step", "1e-4"],
        "1101steps",
    ),
    ("bouncing-ball.toml", &[], "11steps"),
    ("latch.toml", &[], "13steps"),
    ("door.toml", &[], "50steps"),
    ("flyball-governor.toml", &["--end-time", "0.3"], "29steps"),
    ("dc-motor-crank.toml", &["--end-time", "0.1"], "17steps"),
    ("active-suspension.toml", &["--end-time", "0.3"], "23steps"),
    ("slipping-ball.toml", &["--end-time", "0.3"], "19steps"),
    ("rolling-disc.toml", &["--end-time", "0.2"], "31steps"),
    ("settling-balls.toml", &["--end-time", "0.02"], "9steps"),
    ("beam-stop.toml", &["--end-time", "0.01"], "9steps"),
    ("screw-press.toml", &["--end-time", "0.2"], "21steps"),
];

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (number, (name, flags, every)) in CASES.iter().enumerate() {
        let file = model(name);
        let [whole, killed] = ["whole", "killed"].map(|kind| format!("{kind}-{number}"));
        let run = [&["run", &file, "--quiet", "--no-report"], *flags].concat();
        succeed(path, &[&run[..], &["--out", &whole]].concat());
        let checkpointed = [&run[..], &["--checkpoint", every, "--out", &killed]].concat();
        let checkpoint = path.join(&killed).join("checkpoint.bin");
        if kill(path, &checkpointed, None, &checkpoint) {
            succeed(path, &["run", "--resume", &killed, "--quiet", "--no-report"]);
        }
        assert_same(path, &whole, &killed);
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask torture` runs it"]
fn runs_killed_at_random_moments_lose_nothing() {
    let kills = std::env::var("KREISEL_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    killed_at_random(kills, 0x9e37_79b9_7f4a_7c15);
}

#[test]
fn some_runs_killed_at_random_moments_lose_nothing() {
    killed_at_random(6, 0x2545_f491_4f6c_dd1d);
}

/// Kills a run and its resumptions at moments spread over its whole length, the start and the end included.
fn killed_at_random(kills: usize, mut seed: u64) {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let file = model("bouncing-ball.toml");
    let run = ["run", &file, "--quiet", "--step", "0.1 ms"];
    let start = Instant::now();
    succeed(path, &[&run[..], &["--out", "whole"]].concat());
    let length = start.elapsed();
    let (mut done, mut round, mut without) = (0, 0, 0);
    while done < kills {
        round += 1;
        let out = format!("killed-{round}");
        let results = path.join(&out);
        let mut next: Vec<&str> = [&run[..], &["--checkpoint", "20steps", "--out", &out]].concat();
        loop {
            // xorshift64: the moments need no better numbers.
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let after = length.mul_f64(1.2 * (seed % 10_000) as f64 / 10_000.0);
            if done == kills || !kill(path, &next, Some(after), &results) {
                break;
            }
            done += 1;
            if results.join("checkpoint.bin").exists() {
                next = vec!["run", "--resume", &out, "--quiet"];
            } else {
                without += 1;
                let is_finished = results.join("run.json").exists() && summary(&results)["status"] == "done";
                if is_finished {
                    break;
                }
                let output = kreisel(path, &["run", "--resume", &out]);
                assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
                assert!(stderr(&output).contains("there is no checkpoint in"), "{}", stderr(&output));
            }
        }
        let is_done = results.join("run.json").exists() && summary(&results)["status"] == "done";
        if !is_done {
            succeed(path, &next);
        } else if results.join("checkpoint.bin").exists() {
            // Killed between the last file and the removal of the checkpoint.
            let output = kreisel(path, &["run", "--resume", &out]);
            assert!(stderr(&output).contains("has ended; there is nothing to resume"), "{}", stderr(&output));
            fs::remove_file(results.join("checkpoint.bin")).unwrap();
        }
        assert_same(path, "whole", &out);
        fs::remove_dir_all(&results).unwrap();
    }
    assert!(without < kills, "no run was killed after its first checkpoint");
}

/// A folder with a run that was killed after a checkpoint.
fn killed(folder: &Path) -> PathBuf {
    let text = fs::read_to_string(model("heavy-top.toml")).unwrap();
    fs::write(folder.join("top.toml"), text).unwrap();
    let results = folder.join("out");
    let run = ["run", "top.toml", "--quiet", "--checkpoint", "5steps", "--out", "out"];
    assert!(kill(folder, &run, None, &results.join("checkpoint.bin")));
    results
}

fn refused(folder: &Path, arguments: &[&str], code: i32, words: &str) {
    let output = kreisel(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}

#[test]
fn what_cannot_go_on_says_exactly_why_not() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let results = killed(path);
    let resume = ["run", "--resume", "out"];
    // A run that could go on is not thrown away by accident.
    refused(path, &["run", "top.toml", "--out", "out"], 2, "go on by `kreisel run --resume out`");
    // The model, changed.
    let text = fs::read_to_string(path.join("top.toml")).unwrap();
    fs::write(path.join("top.toml"), format!("{text}\n# changed\n")).unwrap();
    refused(path, &resume, 2, "top.toml` was changed since the checkpoint (SHA-256 then");
    fs::write(path.join("top.toml"), &text).unwrap();
    // The checkpoint: damaged, of another format, no checkpoint, none at all.
    let checkpoint = results.join("checkpoint.bin");
    let bytes = fs::read(&checkpoint).unwrap();
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&checkpoint, &other).unwrap();
    refused(path, &resume, 2, "checkpoint.bin` is damaged");
    fs::write(&checkpoint, &bytes[..bytes.len() / 2]).unwrap();
    refused(path, &resume, 2, "checkpoint.bin` is damaged");
    other[8] = 77;
    fs::write(&checkpoint, &other).unwrap();
    refused(path, &resume, 2, "has format 77; this program reads format 12");
    fs::write(&checkpoint, "something else").unwrap();
    refused(path, &resume, 2, "checkpoint.bin` is not a checkpoint");
    fs::remove_file(&checkpoint).unwrap();
    refused(path, &resume, 2, "there is no checkpoint in `out`");
    refused(path, &["run", "--resume", "nowhere"], 2, "there is no checkpoint in `nowhere`");
    // The table, cut or changed.
    fs::write(&checkpoint, &bytes).unwrap();
    let table = results.join("trajectory.partial.csv");
    let rows = fs::read(&table).unwrap();
    fs::write(&table, &rows[..rows.len().min(40)]).unwrap();
    refused(path, &resume, 2, "trajectory.partial.csv`: it is shorter than the checkpoint says");
    let mut changed = rows.clone();
    changed[0] = b'T';
    fs::write(&table, &changed).unwrap();
    refused(path, &resume, 2, "it has other columns than the model");
    fs::remove_file(&table).unwrap();
    refused(path, &resume, 2, "trajectory.partial.csv`: it is not there");
    fs::write(&table, &rows).unwrap();
    let motion = results.join("trajectory.partial.vtkhdf");
    let content = fs::read(&motion).unwrap();
    fs::write(&motion, &content[..content.len() / 2]).unwrap();
    refused(path, &resume, 2, "trajectory.partial.vtkhdf`: it is damaged");
    fs::write(&motion, &content).unwrap();
    // All in order again: it goes on, and then there is nothing to resume.
    succeed(path, &["run", "--resume", "out", "--quiet"]);
    refused(path, &resume, 2, "the run in `out` has ended; there is nothing to resume");
    succeed(path, &["run", "top.toml", "--quiet", "--out", "whole"]);
    assert_same(path, "whole", "out");
}

#[test]
fn a_model_from_standard_input_goes_on_without_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::copy(model("heavy-top.toml"), path.join("top.toml")).unwrap();
    let run = ["run", "-", "--quiet", "--no-report", "--checkpoint", "5steps"];
    assert!(kill(path, &run, None, &path.join("results/stdin/checkpoint.bin")));
    succeed(path, &["run", "--resume", "results/stdin", "--quiet"]);
    assert!(
        !path.join("results/stdin/report.html").exists(),
        "what was asked for holds when the run goes on"
    );
    succeed(path, &["run", "top.toml", "--quiet", "--no-report", "--out", "whole"]);
    let [expected, found] = ["whole", "results/stdin"].map(|name| content(&path.join(name)));
    assert!(expected == found);
}

/// A byte of a table that is no longer what it was is found, unless it is one that is written again anyway.
#[test]
fn a_damaged_table_is_named_or_written_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let results = killed(path);
    succeed(path, &["run", "top.toml", "--quiet", "--out", "whole"]);
    let files = ["checkpoint.bin", "run.json", "scene.partial.json", ".kreisel-lock"];
    let tables = ["trajectory.partial.csv", "trajectory.partial.vtkhdf"];
    let mut refusals = [0; 2];
    for (number, table) in tables.iter().enumerate() {
        let content = fs::read(results.join(table)).unwrap();
        for part in 0..30 {
            let other = path.join("other");
            fs::create_dir(&other).unwrap();
            for name in files.iter().chain(&tables).filter(|name| results.join(name).exists()) {
                fs::copy(results.join(name), other.join(name)).unwrap();
            }
            let mut changed = content.clone();
            changed[(content.len() - 1) * part / 29] ^= 1;
            fs::write(other.join(table), changed).unwrap();
            let output = kreisel(path, &["run", "--resume", "other", "--quiet"]);
            if output.status.code() == Some(0) {
                assert_same(path, "whole", "other");
            } else {
                let words = stderr(&output);
                assert_eq!(output.status.code(), Some(2), "{words}");
                assert!(words.contains(table), "{words}");
                refusals[number] += 1;
            }
            fs::remove_dir_all(&other).unwrap();
        }
    }
    assert!(refusals[0] > 0 && refusals[1] > 0, "{refusals:?}");
}

#[test]
fn a_checkpoint_of_another_version_is_refused_with_both_versions() {
    let folder = TempDir::new().unwrap();
    let results = killed(folder.path());
    let path = results.join("checkpoint.bin");
    let bytes = fs::read(&path).unwrap();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let at = bytes.windows(version.len()).position(|part| part == version.as_bytes()).unwrap();
    let mut other = bytes[..bytes.len() - 32].to_vec();
    other[at + version.len() - 2] = b'9';
    let hash = sha2::Sha256::digest(&other);
    other.extend_from_slice(&hash);
    fs::write(&path, other).unwrap();
    let words = format!("this is kreisel {}", env!("CARGO_PKG_VERSION"));
    refused(folder.path(), &["run", "--resume", "out"], 2, &words);
}

/// Limits the size of files to some blocks of 512 bytes, as a full disk would, and says so when it is
/// reached.
#[cfg(unix)]
fn kreisel_with_little_room(folder: &Path, blocks: usize, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_kreisel")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_run_that_found_no_room_goes_on_when_there_is_some() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::copy(model("heavy-top.toml"), path.join("top.toml")).unwrap();
    let run = ["run", "top.toml", "--quiet", "--checkpoint", "50steps", "--out", "out"];
    let output = kreisel_with_little_room(path, 2000, &run);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write `"), "{}", stderr(&output));
    assert!(path.join("out/checkpoint.bin").exists());
    // Still no room: it says so again and loses nothing.
    let output = kreisel_with_little_room(path, 2000, &["run", "--resume", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    succeed(path, &["run", "--resume", "out", "--quiet"]);
    succeed(path, &["run", "top.toml", "--quiet", "--out", "whole"]);
    assert_same(path, "whole", "out");
}

/// Mounting needs rights that not every user has; without them this test says so and passes.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_read_only_one_are_named() {
    let folder = TempDir::new().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&disk)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !mount("size=2m") {
        eprintln!("skipped: this user may not mount");
        return;
    }
    struct Unmount<'a>(&'a Path);
    impl Drop for Unmount<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    let _unmount = Unmount(&disk);
    fs::copy(model("heavy-top.toml"), folder.path().join("top.toml")).unwrap();
    let run = ["run", "top.toml", "--quiet", "--checkpoint", "50steps", "--out", "disk/out"];
    refused(folder.path(), &run, 1, "the disk is full");
    assert!(disk.join("out/checkpoint.bin").exists());
    let resume = ["run", "--resume", "disk/out", "--quiet"];
    refused(folder.path(), &resume, 1, "the disk is full");
    let remount = |options: &str| {
        let status = Command::new("mount").args(["-o", options]).arg(&disk).status();
        status.is_ok_and(|status| status.success())
    };
    assert!(remount("remount,ro"));
    refused(folder.path(), &resume, 2, "no permission, or a read-only disk");
    assert!(remount("remount,rw,size=100m"));
    succeed(folder.path(), &resume);
    succeed(folder.path(), &["run", "top.toml", "--quiet", "--out", "whole"]);
    assert_same(folder.path(), "whole", "disk/out");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_results_that_can_go_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::copy(model("heavy-top.toml"), path.join("top.toml")).unwrap();
    let run = ["run", "top.toml", "--quiet", "--no-report", "--checkpoint", "1h", "--out", "out"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(run)
        .current_dir(path)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !path.join("out/trajectory.partial.csv").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(20));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code();
    if code == Some(130) {
        assert_eq!(summary(&path.join("out"))["status"], "interrupted");
        assert!(path.join("out/trajectory.csv").exists());
        succeed(path, &["run", "--resume", "out", "--quiet"]);
        assert!(!path.join("out/report.html").exists(), "what was asked for holds when the run goes on");
    }
    succeed(path, &["run", "top.toml", "--quiet", "--no-report", "--out", "whole"]);
    assert_same(path, "whole", "out");
}
