//! Files that would fill the memory are refused by whatever reads them: each command runs in a process that is
//! granted three gigabytes of addresses, and has to end with words in place of an abort.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const KILOBYTES: u64 = 3_000_000;

/// The exit code, and what was said on standard error and, behind it, on standard output.
fn limited(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    within(KILOBYTES, folder, arguments)
}

/// The same within so many kilobytes.
fn within(kilobytes: u64, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let script = format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_kreisel")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [output.stderr, output.stdout].concat();
    (output.status.code(), String::from_utf8_lossy(&said).chars().take(2000).collect())
}

/// Commands that read a folder of results must end by themselves, with an error.
fn assert_refused(folder: &Path, what: &str, readers: &[&[&str]]) {
    assert_ended(folder, what, readers, &[1, 2]);
}

/// They must end by themselves with one of these codes, and say something.
fn assert_ended(folder: &Path, what: &str, readers: &[&[&str]], codes: &[i32]) {
    for arguments in readers {
        let (code, said) = limited(folder, arguments);
        assert!(code.is_some_and(|code| codes.contains(&code)), "{what}, {arguments:?}: {code:?}, {said}");
        assert!(!said.contains("panicked") && !said.is_empty(), "{what}, {arguments:?}: {said}");
    }
}

const MODEL: &str = "[simulation]\nend-time = 0.05\nstep = 1e-3\n[parameters]\nm = 1\n\
    [[body]]\nname = 'b'\nmass = 'm'\ninertia = [1, 1, 1]\n\
    [[body]]\nname = 'c'\nmass = 1\ninertia = [1, 1, 1]\n";

const READERS: [&[&str]; 5] = [
    &["verify", "out"],
    &["report", "out", "-o", "page.html"],
    &["plot", "out", "--sensor", "b.*"],
    &["render", "out"],
    &["export", "out", "--gltf", "-o", "a.glb"],
];

/// A folder with a model and its results.
fn results() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("m.toml"), MODEL).unwrap();
    let (code, said) = limited(folder.path(), &["run", "m.toml", "--quiet", "--no-report", "--out", "out"]);
    assert_eq!(code, Some(0), "{said}");
    // With the memory that is granted nothing that is honest fails.
    for reader in READERS {
        let (code, said) = limited(folder.path(), reader);
        assert_eq!(code, Some(0), "{reader:?}: {said}");
    }
    folder
}

/// Bytes of a bomb that is written out.
const LARGE: usize = 180_000_000;

/// Writes `head`, then `again` until there are so many bytes, then `tail`.
fn write(path: &Path, head: &str, again: &str, size: usize, tail: &str) {
    let block = again.repeat(1_000_000 / again.len());
    let mut file = File::create(path).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    (0..size / block.len()).for_each(|_| file.write_all(block.as_bytes()).unwrap());
    file.write_all(tail.as_bytes()).unwrap();
}

/// A file of 20 GB that takes no room.
fn write_hole(path: &Path, head: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(head).unwrap();
    file.set_len(20_000_000_000).unwrap();
}

/// Summaries that are valid JSON and would take tens of times their length.
fn summaries(summary: &str) -> Vec<(&'static str, String, &'static str, String)> {
    let cut = |key: &str| {
        let (before, rest) = summary.split_once(&format!("\"{key}\": ")).unwrap();
        let end = rest.find("],").unwrap_or_else(|| rest.find("},").unwrap()) + 1;
        (format!("{before}\"{key}\": "), rest[end..].to_owned())
    };
    let (files, behind_files) = cut("files");
    let (events, behind_events) = cut("events");
    let open = |key: &str| summary.replacen('{', &format!("{{\n\"{key}\": "), 1);
    let (unknown, behind_unknown) = {
        let text = open("unknown");
        let (before, rest) = text.split_once("\"unknown\": ").unwrap();
        (format!("{before}\"unknown\": "), format!(",{rest}"))
    };
    vec![
        ("a list of names", files.clone() + "[", "\"\",", format!("\"\"]{behind_files}")),
        ("numbers for events", events.clone() + "[", "0,", format!("0]{behind_events}")),
        ("objects for events", events.clone() + "[", "{\"\":0},", format!("{{}}]{behind_events}")),
        ("lists for events", events + "[", "[],", format!("[]]{behind_events}")),
        ("an unknown key", unknown.clone() + "[", "{},", format!("{{}}]{behind_unknown}")),
        ("nesting", unknown.clone(), "[", behind_unknown.clone()),
        ("nested objects", unknown, "{\"a\":", behind_unknown),
        ("a long text", files + "[\"", "aaaaaaaa", format!("\"]{behind_files}")),
    ]
}

#[test]
fn summaries_that_would_fill_the_memory_are_refused() {
    let folder = results();
    let path = folder.path().join("out/run.json");
    let summary = fs::read_to_string(&path).unwrap();
    for (what, head, again, tail) in summaries(&summary) {
        write(&path, &head, again, LARGE, &tail);
        // A name may be as long as one likes for those that do not open the file.
        let readers = if what == "a long text" { &READERS[..1] } else { &READERS[..3] };
        assert_refused(folder.path(), what, readers);
    }
    write_hole(&path, summary.as_bytes());
    assert_refused(folder.path(), "a hole", &READERS);
    // Who runs the model again or goes on meets it as well.
    let again: [&[&str]; 2] =
        [&["run", "m.toml", "--quiet", "--out", "out"], &["run", "--resume", "out", "--quiet"]];
    assert_refused(folder.path(), "a hole", &again);
}

/// Replaces a file of the results together with its checksum, as one who wants to deceive would.
fn forge(folder: &Path, name: &str) {
    let path = folder.join("out/run.json");
    let mut summary: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    // Without any checksums folders count as older than these.
    summary.as_object_mut().unwrap().remove("crc32");
    assert!(summary["files"].as_array().unwrap().iter().any(|file| file == name), "{name}");
    fs::write(&path, summary.to_string()).unwrap();
}

#[test]
fn scenes_that_would_fill_the_memory_are_refused() {
    let folder = results();
    forge(folder.path(), "scene.json");
    let path = folder.path().join("out/scene.json");
    let scene = fs::read_to_string(&path).unwrap();
    let (before, rest) = scene.split_once("\"nodes\":").unwrap();
    let behind = &rest[rest.find(']').unwrap() + 1..];
    for (what, head, again, tail) in [
        ("nodes without end", format!("{before}\"nodes\":["), "{\"name\":\"\"},", "{\"name\":\"\"}]"),
        ("nesting", format!("{before}\"nodes\":"), "[", "]"),
        ("a long name", format!("{before}\"nodes\":[{{\"name\":\""), "aaaaaaaa", "\"}]"),
    ] {
        write(&path, &head, again, LARGE, &format!("{tail}{behind}"));
        assert_refused(folder.path(), what, &READERS[1..]);
    }
    write_hole(&path, scene.as_bytes());
    assert_refused(folder.path(), "a hole", &READERS[1..]);
}

#[test]
fn tables_that_would_fill_the_memory_are_refused() {
    let folder = results();
    forge(folder.path(), "trajectory.csv");
    let path = folder.path().join("out/trajectory.csv");
    let table = fs::read_to_string(&path).unwrap();
    for (what, head, again) in [
        ("columns without end", "time [s]", ",a [m]"),
        ("a head without end", "time [s],", "aaaaaaaa"),
        ("a row without end", "time [s],a [m]\n", "0,"),
        ("a number without end", "time [s],a [m]\n", "00000000"),
    ] {
        write(&path, head, again, LARGE, "\n");
        assert_refused(folder.path(), what, &READERS[1..3]);
    }
    // Rows are not read: their numbers stand in the motion, too.
    write(&path, &table, "0\n", LARGE, "\n");
    assert_ended(folder.path(), "rows without end", &READERS[1..], &[0, 1, 2]);
    write_hole(&path, table.as_bytes());
    assert_ended(folder.path(), "a hole", &READERS[1..], &[0, 1, 2]);
}

#[test]
fn motions_that_would_fill_the_memory_are_refused() {
    let folder = results();
    forge(folder.path(), "trajectory.vtkhdf");
    let path = folder.path().join("out/trajectory.vtkhdf");
    let good = fs::read(&path).unwrap();
    write_hole(&path, &[]);
    assert_refused(folder.path(), "nothing but a hole", &READERS[1..]);
    // Numbers of eight bytes that could be counts or lengths become huge, in a file that is long enough.
    let rows = 51u64;
    let mut tried = 0;
    for place in 0..good.len() - 8 {
        if good[place..place + 8] == rows.to_le_bytes() && tried < 12 {
            tried += 1;
            let mut changed = good.clone();
            changed[place..place + 8].copy_from_slice(&800_000_000u64.to_le_bytes());
            write_hole(&path, &changed);
            let (code, said) = limited(folder.path(), READERS[1]);
            assert!(matches!(code, Some(0..=2)), "{place}: {code:?}, {said}");
        }
    }
    assert!(tried > 2, "{tried}");
}

#[test]
fn checkpoints_and_locks_with_holes_are_refused() {
    let folder = results();
    let out = folder.path().join("out");
    write_hole(&out.join("checkpoint.bin"), b"");
    assert_refused(folder.path(), "a hole", &[&["run", "--resume", "out", "--quiet"]]);
    fs::remove_file(out.join("checkpoint.bin")).unwrap();
    write_hole(&out.join(".kreisel-lock"), b"trajectory.csv\n");
    let (code, said) = limited(folder.path(), &["run", "m.toml", "--quiet", "--no-report", "--out", "out"]);
    assert!(matches!(code, Some(0..=2)), "{code:?}, {said}");
}

fn sweep(folder: &Path) -> (Option<i32>, String) {
    let words = ["sweep", "m.toml", "--quiet", "--out", "swept", "--vary", "m=1,2,3"];
    limited(folder, &[&words[..], &["--measure", "max(b.position.z)"]].concat())
}

#[test]
fn journals_and_summaries_of_sweeps_that_would_fill_the_memory_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("m.toml"), MODEL).unwrap();
    let (code, said) = sweep(folder.path());
    assert_eq!(code, Some(0), "{said}");
    let place = |name: &str| -> PathBuf { folder.path().join("swept").join(name) };
    let summary = fs::read_to_string(place("sweep.json")).unwrap();
    let (before, rest) = summary.split_once("\"variations\": [").unwrap();
    write(&place("sweep.json"), &format!("{before}\"variations\": ["), "\"\",", LARGE, rest);
    assert_refused(folder.path(), "variations without end", &[&["verify", "swept"]]);
    write_hole(&place("sweep.json"), summary.as_bytes());
    assert_refused(folder.path(), "a hole", &[&["verify", "swept"]]);
    fs::write(place("sweep.json"), &summary).unwrap();
    let sweep: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let head = sweep["sweep"].to_string();
    for (what, head, again) in [
        ("a line without end", head.clone() + "\n{\"run\":0,\"measures\":[", "0,"),
        ("a head without end", "{\"version\":\"".to_owned(), "aaaaaaaa"),
        ("nesting", head.clone() + "\n", "["),
    ] {
        write(&place("sweep.journal"), &head, again, LARGE, "\n");
        let (code, said) = self::sweep(folder.path());
        assert!(matches!(code, Some(1 | 2)), "{what}: {code:?}, {said}");
        assert!(said.contains("cannot be read"), "{what}: {said}");
    }
    write_hole(&place("sweep.journal"), format!("{head}\n").as_bytes());
    let (code, said) = self::sweep(folder.path());
    assert!(matches!(code, Some(1 | 2)) && said.contains("cannot be read"), "{code:?}, {said}");
}

/// Hundreds of thousands of parts take gigabytes.
#[test]
fn more_parts_than_there_is_memory_for_are_refused_at_their_line() {
    let folder = TempDir::new().unwrap();
    let hinges = "[[revolute]]\nname = 'h{i}'\nrepeat = 150000\nbodies = ['ground', 'b{i}']\npoint = [0, 0, 0]\n\
        axis = [0, 1, 0]\n";
    let forces = "[[force]]\nname = 'f{i}'\nrepeat = 300000\nbody = 'b0'\nforce = [0, 0, 1]\n";
    let model = |bodies: usize, more: &str| {
        let text = format!(
            "[simulation]\nend-time = 0.002\nstep = 1e-3\n[[body]]\nname = 'b{{i}}'\nrepeat = {bodies}\nmass = 1\n\
             inertia = [1, 1, 1]\nposition = ['i', 0, 0]\n{more}"
        );
        fs::write(folder.path().join("m.toml"), text).unwrap();
    };
    let most = 800_000;
    for (command, bodies, more, line) in
        [("check", 300_000, "", 4), ("run", 40_000, hinges, 10), ("check", 1, forces, 10)]
    {
        model(bodies, more);
        let (code, said) = within(most, folder.path(), &[command, "m.toml"]);
        assert_eq!(code, Some(2), "{command}, {bodies}: {said}");
        assert!(said.contains("there is no memory for so many parts"), "{command}, {bodies}: {said}");
        assert!(said.contains(&format!("m.toml:{line}:")), "{command}, {bodies}: {said}");
    }
    // As many as are let in have room until the end of their run.
    model(18_000, &hinges.replace("150000", "18000"));
    let (code, said) =
        within(most, folder.path(), &["run", "m.toml", "--quiet", "--no-report", "--out", "out"]);
    assert_eq!(code, Some(0), "{said}");
}
