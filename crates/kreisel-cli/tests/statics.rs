//! `kreisel static`, `kreisel modes` and `start = "static"` from outside: files, summaries, exit codes,
//! mistakes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::results::CsvTable;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A pendulum held at the horizontal by a torsional spring that gravity winds up, and by its dampers in runs.
const PENDULUM: &str = r#"
[simulation]
end-time = 0.5
step = "1 ms"

[[body]]
name = "bob"
mass = 2
inertia = [0.01, 0.03, 0.02]
position = [0.5, 0, 0]

[[revolute]]
name = "hinge"
bodies = ["ground", "bob"]
point = [0, 0, 0]
axis = [0, 1, 0]
"#;

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs a command on a model in a folder of its own.
fn on(model: &str, arguments: &[&str]) -> (TempDir, Output) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("pendulum.toml"), model).unwrap();
    let output = kreisel(folder.path(), arguments);
    (folder, output)
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

fn summary(folder: &TempDir, file: &str) -> Value {
    let path = folder.path().join("results/pendulum").join(file);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn static_writes_its_files_and_says_what_it_found() {
    let (folder, output) = on(PENDULUM, &["static", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let words = text(&output.stdout);
    for word in ["load factor", "load step", "displacement", "of `bob`", "reaction", "`hinge`", "static.csv"]
    {
        assert!(words.contains(word), "`{word}` is missing in\n{words}");
    }
    let results = folder.path().join("results/pendulum");
    let table = fs::read_to_string(results.join("static.csv")).unwrap();
    assert!(table.starts_with("load-factor [1],"), "{table}");
    assert!(results.join("static.vtkhdf").exists());
    let summary = summary(&folder, "static.json");
    assert_eq!(summary["status"], "done");
    assert_eq!(summary["statistics"]["load-factor"], 1.0);
    // It hangs down: displaced by the diagonal of a square of its length, and the hinge bears the weight.
    let displacement = summary["statistics"]["largest-displacement"].as_f64().unwrap();
    assert!((displacement - 0.5_f64.sqrt()).abs() < 1e-9, "{displacement}");
    let force = summary["statistics"]["reactions"][0]["force"][2].as_f64().unwrap();
    assert!((force - 2.0 * 9.80665).abs() < 1e-9, "{force}");
}

#[test]
fn what_nothing_holds_fails_with_its_name_and_without_a_folder() {
    let free = format!("{PENDULUM}\n[gravity]\nacceleration = [0, 0, 0]\n");
    let (folder, output) = on(&free, &["static", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("nothing holds") && message.contains("`bob`"), "{message}");
    assert!(!folder.path().join("results").exists());
}

#[test]
fn a_run_that_starts_static_stays_where_it_is() {
    let model = PENDULUM.replace("[simulation]\n", "[simulation]\nstart = \"static\"\n");
    let (folder, output) = on(&model, &["run", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = CsvTable::read(&folder.path().join("results/pendulum/trajectory.csv")).unwrap();
    for position in table.column("bob.position.z").unwrap() {
        // What Newton's iterations of the equilibrium and of the run leave; nothing moves.
        assert!((position + 0.5).abs() < 1e-9, "{position}");
    }
    assert_eq!(summary(&folder, "run.json")["settings"]["start"], "static");
    let wrong = PENDULUM.replace("[simulation]\n", "[simulation]\nstart = \"statics\"\n");
    let (_folder, output) = on(&wrong, &["run", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("pendulum.toml:3") && message.contains("static"), "{message}");
}

#[test]
fn modes_writes_its_files_and_the_matrices() {
    let arguments = ["modes", "pendulum.toml", "--about", "static", "--matrices", "matrices", "--json"];
    let (folder, output) = on(PENDULUM, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mode = &printed["statistics"]["modes"][0];
    let exact = (2.0 * 9.80665 * 0.5 / 0.53_f64).sqrt() / std::f64::consts::TAU;
    // The equilibrium is found to 1e-10, and the frequency with it.
    assert!((mode["frequency"].as_f64().unwrap() - exact).abs() < 1e-9, "{mode}");
    assert_eq!(mode["dominant-part"], "bob");
    let results = folder.path().join("results/pendulum");
    for name in ["modes.csv", "mode-shapes.csv", "modes.vtkhdf", "modes.json"] {
        assert!(results.join(name).exists(), "{name}");
    }
    let matrices = folder.path().join("matrices");
    let mass = fs::read_to_string(matrices.join("mass.mtx")).unwrap();
    assert!(
        mass.starts_with("%%MatrixMarket matrix coordinate real general\n") && mass.contains("\n6 6 "),
        "{mass}"
    );
    let state = fs::read_to_string(matrices.join("state-matrix.mtx")).unwrap();
    assert!(state.contains("\n2 2\n"), "{state}");
    let names = fs::read_to_string(matrices.join("coordinates.txt")).unwrap();
    assert!(names.starts_with("bob.rotation.x [rad]\n"), "{names}");
    assert_eq!(fs::read_to_string(matrices.join("free-coordinates.txt")).unwrap().lines().count(), 1);
}

#[test]
fn matrices_are_written_even_if_no_modes_are_found() {
    let rigid = PENDULUM.replace("[[revolute]]", "[[fixed]]").replace("axis = [0, 1, 0]\n", "");
    let (folder, output) = on(&rigid, &["modes", "pendulum.toml", "--matrices", "matrices"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot move"), "{}", text(&output.stderr));
    for name in ["mass.mtx", "damping.mtx", "stiffness.mtx", "gradient.mtx", "coordinates.txt"] {
        assert!(folder.path().join("matrices").join(name).exists(), "{name}");
    }
}

#[test]
fn overdamped_modes_are_listed_apart() {
    let damped = format!(
        "{PENDULUM}\n[[torsional-spring-damper]]\nname = 'damper'\njoint = 'hinge'\nstiffness = 0\ndamping = 100\n"
    );
    let (folder, output) = on(&damped, &["modes", "pendulum.toml", "--about", "static", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["statistics"]["modes"].as_array().unwrap().len(), 0);
    // 0.53 s² + 100 s + m g l = 0.
    let torque = 2.0 * 9.80665 * 0.5;
    let root = (100.0_f64 * 100.0 - 4.0 * 0.53 * torque).sqrt();
    let slow = (-100.0 + root) / (2.0 * 0.53);
    let found = printed["statistics"]["overdamped"][0]["real"].as_f64().unwrap();
    assert!((found / slow - 1.0).abs() < 1e-9, "{found} {slow}");
    assert!(folder.path().join("results/pendulum/overdamped.csv").exists());
}

#[test]
fn a_table_of_modes_is_printed_and_a_state_that_moves_is_warned_of() {
    let (_folder, output) = on(PENDULUM, &["modes", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // In the state of the model the rod is level, and a small push does not bring it back.
    assert!(text(&output.stdout).contains("1, at 0 Hz"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("not of an equilibrium"), "{}", text(&output.stderr));
    // Where it hangs, sqrt(m g l / I) / 2 pi with the inertia 0.03 + 2 * 0.5^2 kg m^2.
    let (_folder, output) = on(PENDULUM, &["modes", "pendulum.toml", "--about", "static"]);
    let frequency = (2.0 * 9.80665 * 0.5 / 0.53_f64).sqrt() / (2.0 * std::f64::consts::PI);
    let words = format!("1, at {frequency:.4} Hz");
    assert!(text(&output.stdout).contains(&words), "{words} in {}", text(&output.stdout));
    assert!(!text(&output.stdout).contains("damping"), "{}", text(&output.stdout));
}

#[test]
fn requests_that_make_no_sense_are_refused_before_anything_is_written() {
    let unloaded = format!(
        "{PENDULUM}\n[gravity]\nacceleration = [0, 0, 0]\n[[torsional-spring-damper]]\nname = 's'\njoint = 'hinge'\nstiffness = 1\n"
    );
    let rigid = PENDULUM.replace("[[revolute]]", "[[fixed]]").replace("axis = [0, 1, 0]\n", "");
    let cases: &[(&str, &[&str], &str)] = &[
        (PENDULUM, &["static", "pendulum.toml", "--factor", "0"], "load factor must be finite and not zero"),
        (PENDULUM, &["static", "pendulum.toml", "--factor", "nan"], "load factor must be finite"),
        (PENDULUM, &["static", "pendulum.toml", "--load-steps", "0"], "at least one load step"),
        (PENDULUM, &["static", "pendulum.toml", "--load-steps", "-3"], "--load-steps"),
        (PENDULUM, &["static", "pendulum.toml", "--points", "20"], "--arc-length"),
        (PENDULUM, &["modes", "pendulum.toml", "--count", "0"], "--count"),
        (PENDULUM, &["modes", "pendulum.toml", "--count", "-1"], "-1"),
        (PENDULUM, &["modes", "pendulum.toml", "--about", "rest"], "possible values: initial, static"),
        (&rigid, &["modes", "pendulum.toml"], "cannot move"),
        (&unloaded, &["static", "pendulum.toml", "--arc-length"], "no load to follow"),
    ];
    for (model, arguments, word) in cases {
        let (folder, output) = on(model, arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?}: `{word}` is missing in {message}");
        assert!(!folder.path().join("results").exists(), "{arguments:?}");
    }
}

/// What each command leaves behind.
const FILES: [(&str, &[&str]); 3] = [
    ("run", &["run.json", "trajectory.csv", "trajectory.vtkhdf", "scene.json", "report.html"]),
    ("static", &["static.json", "static.csv", "static.vtkhdf", "static-scene.json", "static.html"]),
    ("modes", &["modes.json", "modes.csv", "modes.vtkhdf", "mode-shapes.csv", "modes.html"]),
];

#[test]
fn run_static_and_modes_of_a_model_live_side_by_side_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("pendulum.toml"), PENDULUM).unwrap();
        let results = folder.path().join("results/pendulum");
        // Twice, so that each also replaces its own.
        for place in order.iter().chain(&order) {
            let before = contents(&results);
            let (command, own) = FILES[*place];
            let output = kreisel(folder.path(), &[command, "pendulum.toml"]);
            assert_eq!(output.status.code(), Some(0), "{order:?}: {}", text(&output.stderr));
            let after = contents(&results);
            for (name, content) in before.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
                assert!(after.contains(&(name.clone(), content.clone())), "{command} touched {name}");
            }
        }
        let names: Vec<String> = contents(&results).into_iter().map(|(name, _)| name).collect();
        let mut expected: Vec<&str> = FILES.iter().flat_map(|(_, files)| *files).copied().collect();
        expected.sort_unstable();
        assert_eq!(names, expected, "{order:?}");
    }
}

/// Names and contents of the files of a folder, by name.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_a_folder_without_a_run_holds_is_told() {
    let (folder, output) = on(PENDULUM, &["static", "pendulum.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    kreisel(folder.path(), &["modes", "pendulum.toml"]);
    for command in ["view", "report", "plot", "render"] {
        let output = kreisel(folder.path(), &[command, "results/pendulum"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {message}");
        for words in ["holds an equilibrium and modes but no run", "kreisel run", "pendulum.toml"] {
            assert!(message.contains(words), "{command}: {message}");
        }
        assert!(!message.contains("os error"), "{message}");
    }
    for (place, words) in
        [("nowhere", "there is no folder `nowhere`"), ("pendulum.toml", "such as `results/pendulum`")]
    {
        let output = kreisel(folder.path(), &["report", place]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
    kreisel(folder.path(), &["run", "pendulum.toml", "--out", "all/first"]);
    let output = kreisel(folder.path(), &["report", "all"]);
    assert!(text(&output.stderr).contains("name one of them: `all/first`"), "{}", text(&output.stderr));
}

#[test]
fn summaries_have_seven_lines_and_the_rest_is_for_those_who_ask() {
    let damper =
        "\n[[torsional-spring-damper]]\nname = 'damper'\njoint = 'hinge'\nstiffness = 0\ndamping = 1\n";
    let damped = format!("{PENDULUM}{damper}");
    for (command, detail) in [("static", "Newton iteration"), ("modes", "frequency [Hz]")] {
        let (folder, output) = on(&damped, &[command, "pendulum.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let words = text(&output.stdout);
        assert!(words.lines().count() <= 7, "{words}");
        for part in ["verdict           good", "files             ", ".csv, ", ".html (open it"] {
            assert!(words.contains(part), "`{part}` is missing in {words}");
        }
        assert!(!words.contains("written") && !words.contains(detail), "{words}");
        let output = kreisel(folder.path(), &[command, "pendulum.toml", "--verbose"]);
        let more = text(&output.stdout);
        for part in [detail, "wall time", "written           "] {
            assert!(more.contains(part), "`{part}` is missing in {more}");
        }
        // No number as machines write it, and none of which only round-off is left.
        for word in words.split_whitespace().chain(more.split_whitespace()) {
            let number = word.trim_matches(|letter: char| !letter.is_ascii_digit());
            let digits = number.trim_start_matches(['0', '.']);
            let exponent = word
                .split_once('e')
                .and_then(|(_, power)| power.trim_end_matches([',', ')']).parse::<i32>().ok());
            assert!(exponent.is_none_or(|power| power > -9) && digits.len() < 9, "{word} in {words}{more}");
        }
    }
}
