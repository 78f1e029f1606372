//! Results that were changed after they were written are found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = kreisel(folder, arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with all that can be computed of a model, some of it in several passes.
fn results(folder: &Path) -> Vec<String> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/right-angle-beam.toml");
    fs::copy(model, folder.join("m.toml")).unwrap();
    succeed(folder, &["run", "m.toml", "--quiet", "--end-time", "0.2", "--out", "out"]);
    succeed(folder, &["static", "m.toml", "--quiet", "--out", "out"]);
    succeed(folder, &["modes", "m.toml", "--quiet", "--out", "out"]);
    let summaries = ["run.json", "static.json", "modes.json"];
    summaries.iter().flat_map(|name| names(&summary(folder, name))).collect()
}

fn summary(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join("out").join(name)).unwrap()).unwrap()
}

fn names(summary: &Value) -> Vec<String> {
    summary["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// What makes something of a run.
const READERS: [&[&str]; 4] = [
    &["report", "out", "-o", "page.html"],
    &["plot", "out", "--sensor", "energy.*"],
    &["render", "out"],
    &["export", "out", "--gltf", "-o", "a.glb"],
];

#[test]
fn every_file_that_was_changed_is_named_and_no_longer_shown() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let files = results(path);
    assert!(files.len() > 8, "{files:?}");
    let words = succeed(path, &["verify", "out"]);
    assert_eq!(words, format!("{} files are as written\n", files.len()));
    for reader in READERS {
        succeed(path, reader);
    }
    for name in &files {
        let file = path.join("out").join(name);
        let content = fs::read(&file).unwrap();
        for place in [0, content.len() / 2, content.len() - 1] {
            let mut changed = content.clone();
            changed[place] ^= 1;
            fs::write(&file, changed).unwrap();
            let output = kreisel(path, &["verify", "out"]);
            let lines = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(1), "{lines}");
            assert_eq!(lines.lines().count(), 1, "{lines}");
            assert!(lines.contains(&format!("out/{name}` was changed or damaged")), "{lines}");
        }
        if ["trajectory.csv", "trajectory.vtkhdf", "scene.json"].contains(&name.as_str()) {
            for reader in READERS {
                let output = kreisel(path, reader);
                let words = String::from_utf8(output.stderr).unwrap();
                assert_eq!(output.status.code(), Some(2), "{reader:?}, {name}: {words}");
                assert!(words.contains(&format!("out/{name}` was changed or damaged")), "{words}");
            }
        }
        fs::remove_file(&file).unwrap();
        let output = kreisel(path, &["verify", "out"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stdout).unwrap().contains(&format!("out/{name}` is missing")));
        fs::write(&file, content).unwrap();
    }
    // A page that is made again belongs to the run.
    fs::remove_file(path.join("out/report.html")).unwrap();
    succeed(path, &["report", "out"]);
    assert_eq!(succeed(path, &["verify", "out"]), words);
}

#[test]
fn runs_in_several_passes_have_the_checksums_of_the_last_one() {
    let folder = TempDir::new().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    let model = model.to_str().unwrap();
    let run = ["run", model, "--quiet", "--no-report", "--accuracy", "1e-3", "--end-time", "0.2", "--out"];
    succeed(folder.path(), &[&run[..], &["out"]].concat());
    assert_eq!(succeed(folder.path(), &["verify", "out"]), "3 files are as written\n");
}

#[test]
fn folders_without_results_and_strange_summaries_are_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let refused = |folder: &str, code: i32, words: &str| {
        let output = kreisel(path, &["verify", folder]);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(words), "{said}");
    };
    refused("nowhere", 2, "there is no folder `nowhere`");
    fs::create_dir(path.join("empty")).unwrap();
    refused("empty", 2, "holds no results");
    results(path);
    fs::write(path.join("secret"), "secret").unwrap();
    let mut changed = summary(path, "run.json");
    changed["files"] = serde_json::json!(["../secret"]);
    changed["crc32"] = serde_json::json!({ "../secret": "00000000" });
    fs::write(path.join("out/run.json"), changed.to_string()).unwrap();
    refused("out", 1, "`../secret` cannot be the name of a result file");
    changed["files"] = serde_json::json!(["scene.json"]);
    fs::write(path.join("out/run.json"), changed.to_string()).unwrap();
    refused("out", 1, "scene.json` has no checksum");
}

/// A summary that says nothing is no proof that all is well.
#[test]
fn a_summary_that_was_cut_short_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let verified = |code: i32, words: &str| {
        let output = kreisel(path, &["verify", "out"]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(words), "{words}: {said}");
    };
    results(path);
    let sweep =
        ["--vary", "m=1e6,2e6", "--measure", "max(energy.kinetic)", "--end-time", "0.01", "--out", "out"];
    let model = "[simulation]\nend-time = 0.1\nstep = '1 ms'\n[parameters]\nm = 1e6\n[[body]]\nname = 'bob'\nmass = 'm'\ninertia = [1, 1, 1]\n";
    fs::write(path.join("s.toml"), model).unwrap();
    succeed(path, &[&["sweep", "s.toml", "--quiet"], &sweep[..]].concat());
    verified(0, "files are as written");
    for name in ["sweep.json", "run.json", "static.json", "modes.json"] {
        let file = path.join("out").join(name);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        verified(1, &format!("out/{name}` is not the summary that Kreisel writes"));
        fs::write(&file, &whole).unwrap();
    }
    // The sweep alone: cut short, without a file, without its summary.
    fs::rename(path.join("out"), path.join("all")).unwrap();
    succeed(path, &[&["sweep", "s.toml", "--quiet"], &sweep[..]].concat());
    let file = path.join("out/sweep.json");
    let mut changed = summary(path, "sweep.json");
    changed["crc32"] = serde_json::json!({});
    fs::write(&file, changed.to_string()).unwrap();
    verified(1, "names no file");
    fs::write(&file, "{").unwrap();
    verified(1, "out/sweep.json` is not the summary");
    fs::remove_file(&file).unwrap();
    verified(2, "holds a sweep without `sweep.json`");
}

#[test]
fn poses_that_are_no_numbers_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    results(path);
    let file = path.join("out/trajectory.vtkhdf");
    let position = hdf5_pure::File::open(&file).unwrap().dataset("nodes/position").unwrap();
    let number = position.read_f64().unwrap().into_iter().find(|x| x.to_bits() & 0xffff != 0).unwrap();
    let mut content = fs::read(&file).unwrap();
    let places: Vec<usize> = content
        .windows(8)
        .enumerate()
        .filter(|(_, bytes)| *bytes == number.to_le_bytes())
        .map(|(place, _)| place)
        .collect();
    for place in places {
        content[place..place + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    }
    fs::write(&file, content).unwrap();
    // As it was written before there were checksums.
    let mut changed = summary(path, "run.json");
    changed.as_object_mut().unwrap().remove("crc32");
    fs::write(path.join("out/run.json"), changed.to_string()).unwrap();
    for reader in READERS {
        let output = kreisel(path, reader);
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains("has a pose that is no number"), "{words}");
    }
}
