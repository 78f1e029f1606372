//! `kreisel run`, `check`, `new` and `schema` from outside: files, streams, exit codes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::results::CsvTable;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn heavy_top() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/heavy-top.toml");
    path.to_str().unwrap().to_owned()
}

/// Runs the heavy top for a short time.
fn short_run(folder: &Path, more: &[&str]) -> Output {
    let output = kreisel(folder, &[&["run", &heavy_top(), "--end-time", "20 ms"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    output
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn steps_by_the_error_and_events_are_told_in_the_summary() {
    let folder = TempDir::new().unwrap();
    let text = "[simulation]\nend-time = 1\n[[point-mass]]\nname = 'ball'\nmass = 1\nposition = [0, 0, 1]
        [[event]]\nname = 'floor'\nzero-of = 'ball.position.z'\nstop = true\n";
    fs::write(folder.path().join("ball.toml"), text).unwrap();
    let output = kreisel(folder.path(), &["run", "ball.toml", "--step", "auto", "--rtol", "1e-6"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("`floor` at 0.45"), "{}", stdout(&output));
    let output = kreisel(folder.path(), &["run", "ball.toml", "--step", "auto", "--rtol", "1e-6", "-v"]);
    assert!(stdout(&output).contains("rtol 0.000001"), "{}", stdout(&output));
    let summary = json(folder.path().join("results/ball/run.json"));
    assert_eq!((&summary["status"], &summary["settings"]["step"]), (&"done".into(), &"auto".into()));
    assert_eq!(summary["events"][0]["event"], "floor");
    let time = summary["events"][0]["time"].as_f64().unwrap();
    // √(2/g) with standard gravity.
    assert!((time - (2.0_f64 / 9.80665).sqrt()).abs() < 2e-9, "{time}");
    assert_eq!(summary["statistics"]["events"], 1);
}

#[test]
fn a_longer_run_is_not_replaced_without_a_word() {
    let folder = TempDir::new().unwrap();
    let summary = folder.path().join("results/heavy-top/run.json");
    let said = |more: &[&str]| {
        let output = kreisel(folder.path(), &[&["run", &heavy_top()], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output).to_owned()
    };
    let kept = "`--out DIR` keeps them";
    // Nothing there, the same again, and a longer one.
    for end in ["20 ms", "20 ms", "40 ms"] {
        let words = said(&["--end-time", end, "--output-step", "1 ms"]);
        assert!(!words.contains(kept), "{words}");
    }
    let words = said(&["--end-time", "20 ms", "--output-step", "1 ms"]);
    let wanted = "results in `results/heavy-top` over 0.04 s are replaced by 0.02 s when this is done";
    assert!(words.contains(wanted) && words.contains(kept), "{words}");
    // Twenty steps of 1 ms, and four of 5 ms.
    let words = said(&["--end-time", "20 ms", "--output-step", "5 ms"]);
    assert!(words.contains("at 21 times are replaced by 5 when this is done"), "{words}");
    let words = said(&["--end-time", "20 ms", "--output-step", "1 ms", "--quiet"]);
    assert_eq!(words, "");
    // A summary that says that it took more than a minute, whatever its end.
    let mut long = json(summary.clone());
    long["wall-time"] = 75.0.into();
    fs::write(&summary, long.to_string()).unwrap();
    let words = said(&["--end-time", "40 ms", "--output-step", "1 ms"]);
    assert!(words.contains("that took 75 s are replaced when this is done"), "{words}");
}

#[test]
fn a_run_leaves_its_files_and_a_readable_summary() {
    let folder = TempDir::new().unwrap();
    let output = short_run(folder.path(), &[]);
    let results = folder.path().join("results/heavy-top");
    assert_eq!(
        names(&results),
        ["report.html", "run.json", "scene.json", "trajectory.csv", "trajectory.vtkhdf"]
    );
    for words in ["1 body", "3 degrees of freedom", "40 steps", "verdict", "trajectory.csv"] {
        assert!(stdout(&output).contains(words), "{words} in {}", stdout(&output));
    }
    // A method is told of where nobody named it.
    let chosen = short_run(folder.path(), &["--method", "auto"]);
    let choice = "; the method is `index2`, since steps are of one size";
    assert!(stdout(&chosen).contains(choice), "{}", stdout(&chosen));
    assert!(!stdout(&output).contains("the method is"), "{}", stdout(&output));
    let last = stdout(&output).lines().last().unwrap();
    assert!(last.starts_with("report ") && last.contains("results/heavy-top/report.html"), "{last}");
    assert!(stdout(&output).lines().count() <= 7, "{}", stdout(&output));
    let verbose = short_run(folder.path(), &["--verbose"]);
    for words in ["Newton iterations per step", "energy balance", "constraints  "] {
        assert!(stdout(&verbose).contains(words), "{words} in {}", stdout(&verbose));
    }
    assert_eq!(stderr(&output), "", "nothing to say into a pipe");
    let summary = json(results.join("run.json"));
    assert_eq!((&summary["status"], &summary["settings"]["step"]), (&"done".into(), &0.0005.into()));
    assert_eq!(summary["statistics"]["steps"], 40);
    assert_eq!(summary["model"]["sha256"].as_str().unwrap().len(), 64);
    let scene = fs::read(results.join("trajectory.vtkhdf")).unwrap();
    assert!(scene.starts_with(b"\x89HDF\r\n\x1a\n"));
}

#[test]
fn the_table_has_time_first_and_names_with_units() {
    let folder = TempDir::new().unwrap();
    short_run(folder.path(), &["--output-step", "5 ms"]);
    let path = folder.path().join("results/heavy-top/trajectory.csv");
    let text = fs::read_to_string(&path).unwrap();
    let heads: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(heads[0], "time [s]");
    for head in ["top.position.z [m]", "tip.force.x [N]", "energy.total [J]", "constraint.velocity [1/s]"] {
        assert!(heads.contains(&head), "{head} in {heads:?}");
    }
    let table = CsvTable::read(&path).unwrap();
    let expected = [0.0, 0.005, 0.01, 0.015, 0.02];
    assert_eq!(table.times.len(), expected.len());
    // Times of 0.02 are written with all their digits: some units in the last place.
    assert!(table.times.iter().zip(expected).all(|(time, expected)| (time - expected).abs() < 1e-15));
    assert_eq!(table.column("top.position.y").unwrap()[0], 1.0);
}

#[test]
fn without_a_report_there_is_none_and_an_older_one_goes() {
    let folder = TempDir::new().unwrap();
    short_run(folder.path(), &[]);
    let output = short_run(folder.path(), &["--no-report"]);
    assert!(!folder.path().join("results/heavy-top/report.html").exists());
    assert!(!stdout(&output).contains("report.html"));
}

#[test]
fn bdf2_runs_in_the_form_and_scaling_asked_for() {
    let folder = TempDir::new().unwrap();
    let flags = ["--method", "bdf2", "--form", "three-field", "--scaling", "left-right", "--condition"];
    short_run(folder.path(), &[&flags[..], &["--out", "asked"]].concat());
    let settings = &json(folder.path().join("asked/run.json"))["settings"];
    assert_eq!(
        (&settings["method"], &settings["form"], &settings["scaling"]),
        (&"bdf2".into(), &"three-field".into(), &"left-right".into())
    );
    short_run(folder.path(), &["--method", "bdf2", "--condition", "--out", "usual"]);
    let condition = |run: &str| {
        json(folder.path().join(run).join("run.json"))["statistics"]["condition"][0].as_f64().unwrap()
    };
    // Velocities that are not scaled cost a factor of 1/h, which is 1e3 or more.
    assert!(condition("asked") > 10.0 * condition("usual"));
}

#[test]
fn the_condition_of_the_iteration_matrix_is_reported_on_request() {
    let folder = TempDir::new().unwrap();
    short_run(folder.path(), &["--out", "plain"]);
    assert!(json(folder.path().join("plain/run.json"))["statistics"]["condition"].is_null());
    short_run(folder.path(), &["--out", "asked", "--condition"]);
    let range = &json(folder.path().join("asked/run.json"))["statistics"]["condition"];
    let (low, high) = (range[0].as_f64().unwrap(), range[1].as_f64().unwrap());
    assert!(1.0 < low && low <= high, "{range}");
    let table = CsvTable::read(&folder.path().join("asked/trajectory.csv")).unwrap();
    let column = table.column("solver.condition").unwrap();
    assert!(column[1..].iter().all(|condition| (low..=high).contains(condition)), "{column:?}");
}

#[test]
fn the_error_is_estimated_on_request() {
    let folder = TempDir::new().unwrap();
    let plain = short_run(folder.path(), &[]);
    assert!(stdout(&plain).contains("verdict           good"), "{}", stdout(&plain));
    let output = short_run(folder.path(), &["--error-estimate", "--step", "0.1 ms"]);
    assert!(stdout(&output).contains("accuracy          positions to"), "{}", stdout(&output));
    let summary = json(folder.path().join("results/heavy-top/run.json"));
    assert_eq!((&summary["verdict"], &summary["settings"]["error-estimate"]), (&"good".into(), &true.into()));
    for quantity in ["positions", "angles", "velocities", "angular-velocities", "forces", "torques"] {
        let found = &summary["accuracy"][quantity];
        let part = found["error"].as_f64().unwrap() / found["size"].as_f64().unwrap();
        // 0.015 rad a step: some 1e-4 a step in velocities and forces, and all of it is of second order.
        assert!(part < 1e-3, "{quantity}: {found}");
    }
}

#[test]
fn a_doubtful_result_is_an_error_to_those_who_are_strict() {
    let folder = TempDir::new().unwrap();
    let run =
        |more: &[&str]| kreisel(folder.path(), &[&["run", &heavy_top(), "--step", "4 ms"], more].concat());
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("verdict           doubtful"), "{}", stdout(&output));
    assert!(stderr(&output).contains("steps of 4.0e-3 s are large"), "{}", stderr(&output));
    let output = run(&["--strict"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("error: the result is doubtful"), "{}", stderr(&output));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    short_run(folder.path(), &["--out", "a"]);
    short_run(folder.path(), &["--out", "b"]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a/trajectory.csv") == read("b/trajectory.csv"));
}

#[test]
fn a_rerun_replaces_its_own_folder_and_no_other() {
    let folder = TempDir::new().unwrap();
    short_run(folder.path(), &["--out", "mine"]);
    short_run(folder.path(), &["--out", "mine", "--step", "1 ms"]);
    assert_eq!(json(folder.path().join("mine/run.json"))["statistics"]["steps"], 20);
    // A folder of someone else's.
    fs::create_dir(folder.path().join("thesis")).unwrap();
    fs::write(folder.path().join("thesis/chapter.tex"), "years of work").unwrap();
    let refused = |out: &str, model: &str| {
        let output = kreisel(folder.path(), &["run", model, "--end-time", "20 ms", "--out", out]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("--force"), "{}", stderr(&output));
    };
    refused("thesis", &heavy_top());
    // The results of another model.
    assert!(kreisel(folder.path(), &["new", "swing"]).status.success());
    refused("mine", "swing.toml");
    assert_eq!(names(&folder.path().join("thesis")), ["chapter.tex"]);
    short_run(folder.path(), &["--out", "thesis", "--force"]);
    assert!(
        folder.path().join("thesis/chapter.tex").exists() && folder.path().join("thesis/run.json").exists()
    );
}

#[test]
fn quiet_runs_say_nothing() {
    let folder = TempDir::new().unwrap();
    let output = short_run(folder.path(), &["--quiet"]);
    assert_eq!((stdout(&output), stderr(&output)), ("", ""));
    assert!(folder.path().join("results/heavy-top/run.json").exists());
}

#[test]
fn json_takes_the_place_of_the_text_or_goes_to_a_file() {
    let folder = TempDir::new().unwrap();
    let output = short_run(folder.path(), &["--json"]);
    let summary: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((&summary["status"], &summary["folder"]), (&"done".into(), &"results/heavy-top".into()));
    assert_eq!(
        summary["files"],
        serde_json::json!(["trajectory.csv", "trajectory.vtkhdf", "scene.json", "report.html"])
    );
    for key in ["settings", "statistics", "warnings", "wall-time", "model", "version"] {
        assert!(!summary[key].is_null(), "{key}");
    }
    let output = short_run(folder.path(), &["--json=summary.json"]);
    assert!(stdout(&output).contains("degrees of freedom"));
    assert_eq!(json(folder.path().join("summary.json"))["status"], "done");
}

#[test]
fn flags_take_the_place_of_settings_and_parameters() {
    let folder = TempDir::new().unwrap();
    assert!(kreisel(folder.path(), &["new", "swing"]).status.success());
    let arguments = [
        "run",
        "swing.toml",
        "--set",
        "length=50 cm",
        "--end-time",
        "2*length s",
        "--step",
        "10 ms",
        "--method",
        "index3",
        "--spectral-radius",
        "0.8",
        "--group",
        "so3xr3",
        "--json",
    ];
    let output = kreisel(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(stdout(&output)).unwrap();
    let settings = &summary["settings"];
    assert_eq!((settings["end-time"].as_f64(), settings["step"].as_f64()), (Some(1.0), Some(0.01)));
    assert_eq!((&settings["method"], &settings["group"]), (&"index3".into(), &"so3xr3".into()));
    assert_eq!(settings["spectral-radius"], 0.8);
    // The rod is half as long: its centre starts at −0.25 cos 30°.
    let table = CsvTable::read(&folder.path().join("results/swing/trajectory.csv")).unwrap();
    let start = table.column("rod.position.z").unwrap()[0];
    assert!((start + 0.25 * 0.75_f64.sqrt()).abs() < 1e-12, "{start}");
}

#[test]
fn a_run_that_fails_keeps_what_was_computed_and_exits_with_one() {
    let folder = TempDir::new().unwrap();
    // So stiff a motion with so large a step that Newton cannot converge.
    let output = kreisel(folder.path(), &["run", &heavy_top(), "--step", "100 ms"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("error") && stderr(&output).contains("on disk"), "{}", stderr(&output));
    let results = folder.path().join("results/heavy-top");
    let summary = json(results.join("run.json"));
    assert_eq!(summary["status"], "failed");
    assert!(summary["message"].as_str().unwrap().contains("Newton"), "{summary}");
    assert!(!CsvTable::read(&results.join("trajectory.csv")).unwrap().times.is_empty());
}

#[test]
#[cfg(unix)]
fn a_run_that_a_signal_ends_tells_which_and_its_files_are_whole() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        interrupted_by(signal, code);
    }
}

#[cfg(unix)]
fn interrupted_by(signal: &str, code: i32) {
    let folder = TempDir::new().unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(["run", &heavy_top(), "--step", "1e-4 ms", "--output-step", "1e-2 ms"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let results = folder.path().join("results/heavy-top");
    let patience = Instant::now();
    while !results.join("trajectory.partial.vtkhdf").exists() {
        assert!(process.try_wait().unwrap().is_none(), "the run ends before it begins");
        assert!(patience.elapsed() < Duration::from_secs(60), "the run does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted"), "{}", stderr(&output));
    assert_eq!(
        names(&results),
        ["report.html", "run.json", "scene.json", "trajectory.csv", "trajectory.vtkhdf"]
    );
    let summary = json(results.join("run.json"));
    assert_eq!(summary["status"], "interrupted");
    let table = CsvTable::read(&results.join("trajectory.csv")).unwrap();
    let reached = summary["statistics"]["time"].as_f64().unwrap();
    // The JSON reader rounds in the last digit.
    assert!((table.times.last().unwrap() - reached).abs() < 1e-15);
    assert!(reached < 1.0 && table.times.len() as u64 == summary["statistics"]["records"].as_u64().unwrap());
}

#[test]
#[cfg(unix)]
fn a_file_that_may_not_grow_is_a_full_disk() {
    let folder = TempDir::new().unwrap();
    // 64 blocks of 512 bytes, or of 1024 with some shells.
    let script =
        format!("ulimit -f 64; exec '{}' run '{}' --quiet", env!("CARGO_BIN_EXE_kreisel"), heavy_top());
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("the disk is full"), "{}", stderr(&output));
}

#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_a_model_or_include_is_refused_and_not_waited_for() {
    let folder = TempDir::new().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status().unwrap().success());
    fs::write(folder.path().join("main.toml"), "include = ['pipe.toml']\n[simulation]\nend-time = 1\n")
        .unwrap();
    let ball = "[simulation]\nend-time = 1\n[[body]]\nname = 'a'\ndensity = 1\nshape = { kind = 'stl', file = 'pipe.toml' }\n";
    fs::write(folder.path().join("ball.toml"), ball).unwrap();
    let table = "[simulation]\nend-time = 1\n[[table]]\nname = 'f'\nfile = 'pipe.toml'\n";
    fs::write(folder.path().join("table.toml"), table).unwrap();
    for model in ["pipe.toml", "main.toml", "ball.toml", "table.toml"] {
        for command in ["check", "run"] {
            let output = kreisel(folder.path(), &[command, model]);
            assert_eq!(output.status.code(), Some(2), "{model}: {}", stderr(&output));
            assert!(stderr(&output).contains("not a regular file"), "{model}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_new_model_runs_as_it_is_and_is_never_overwritten() {
    let folder = TempDir::new().unwrap();
    let output = kreisel(folder.path(), &["new", "swing"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let path = folder.path().join("swing.toml");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "# mine\n").unwrap();
    let output = kreisel(folder.path(), &["new", "swing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there already"), "{}", stderr(&output));
    assert!(fs::read_to_string(&path).unwrap().ends_with("# mine\n"));
    let output = kreisel(folder.path(), &["run", "swing.toml"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    for name in ["../swing", "", "a b"] {
        assert_eq!(kreisel(folder.path(), &["new", name]).status.code(), Some(2), "{name}");
    }
}

#[test]
fn a_model_that_is_not_there_is_one_line_with_the_nearest_name() {
    let folder = TempDir::new().unwrap();
    assert_eq!(kreisel(folder.path(), &["new", "swing"]).status.code(), Some(0));
    for (asked, line) in [
        ("swing", "error: there is no file `swing`; did you mean `swing.toml`?\n"),
        ("sving.toml", "error: there is no file `sving.toml`; did you mean `swing.toml`?\n"),
        ("none/of/this.toml", "error: there is no file `none/of/this.toml`\n"),
    ] {
        let output = kreisel(folder.path(), &["run", asked]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), line));
    }
}

#[test]
fn a_new_model_has_its_schema_in_its_first_line_and_beside_it() {
    let folder = TempDir::new().unwrap();
    for arguments in [&["new", "swing"][..], &["new", "linkage", "--like", "four-bar"]] {
        let output = kreisel(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = fs::read_to_string(folder.path().join(arguments[1]).with_extension("toml")).unwrap();
        let schema = text.lines().next().unwrap().strip_prefix("#:schema ").unwrap();
        let schema = json(folder.path().join(schema));
        assert!(schema["properties"]["body"].is_object());
    }
    let output = kreisel(folder.path(), &["new", "other", "--like", "four-baar"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `four-bar`?"), "{}", stderr(&output));
    assert!(!folder.path().join("other.toml").exists());
    let listed = kreisel(folder.path(), &["new", "--list"]);
    assert!(stdout(&listed).lines().any(|line| line.starts_with("four-bar ") && line.len() > 30));
}

#[test]
fn check_explains_a_model_without_running_it() {
    let folder = TempDir::new().unwrap();
    let output = kreisel(folder.path(), &["check", &heavy_top()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for words in ["15 kg", "3 = 6 velocity coordinates − 3", "spherical `tip`: 3 equations", "1 m"] {
        assert!(stdout(&output).contains(words), "{words} in {}", stdout(&output));
    }
    assert!(names(folder.path()).is_empty());
    let output = kreisel(folder.path(), &["check", &heavy_top(), "--json"]);
    let explanation: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(explanation["degrees-of-freedom"], 3);
    assert_eq!(explanation["joints"][0]["equations"], 3);
}

#[test]
fn check_warns_of_what_looks_like_a_mistake() {
    let folder = TempDir::new().unwrap();
    let body = |name: &str| format!("[[body]]\nname = '{name}'\nmass = 1\ninertia = [1, 1, 1]\n");
    let text = format!(
        "{}markers = [{{ name = 'hook' }}]\n{}{}{}",
        body("held"),
        body("lost"),
        "[[spherical]]\nname = 'first'\nbodies = ['ground', 'held']\npoint = [0, 0, 1]\n",
        "[[revolute]]\nname = 'second'\nbodies = ['ground', 'held']\npoint = [0, 0, 1]\n[simulation]\nend-time = 1\n",
    );
    fs::write(folder.path().join("m.toml"), text).unwrap();
    let output = kreisel(folder.path(), &["check", "m.toml"]);
    for words in [
        "nothing is attached to the marker `held.hook`",
        "no joint or force touches the body `lost`",
        "equations are implied by the others",
        "reactions are shared arbitrarily among `second`, `first`",
        "the run is accurate to 1e-3",
        "gravity is 9.80665",
    ] {
        assert!(stdout(&output).contains(words), "{words} in {}{}", stdout(&output), stderr(&output));
    }
}

#[test]
fn the_schema_is_json_and_knows_every_kind() {
    let output = kreisel(Path::new("."), &["schema"]);
    let schema: Value = serde_json::from_str(stdout(&output)).unwrap();
    for kind in ["body", "spherical", "simulation", "sensor", "gravity", "parameters", "include"] {
        assert!(schema["properties"][kind].is_object(), "{kind}");
    }
}

/// Arithmetic-geometric mean.
fn mean(a: f64, b: f64) -> f64 {
    (0..10).fold((a, b), |(a, b), _| (0.5 * (a + b), (a * b).sqrt())).0
}

#[test]
fn the_pendulum_of_the_tutorial_has_the_period_of_the_closed_form() {
    let folder = TempDir::new().unwrap();
    assert!(kreisel(folder.path(), &["new", "swing"]).status.success());
    assert!(kreisel(folder.path(), &["run", "swing.toml", "--quiet"]).status.success());
    let table = CsvTable::read(&folder.path().join("results/swing/trajectory.csv")).unwrap();
    let x = table.column("rod.position.x").unwrap();
    let row = x.windows(2).position(|pair| pair[0] > 0.0 && pair[1] <= 0.0).unwrap();
    let part = x[row] / (x[row] - x[row + 1]);
    let crossing = table.times[row] + part * (table.times[row + 1] - table.times[row]);
    // T = 2π √(2ℓ/3g) / agm(1, cos(φ/2)) for the amplitude φ = 30° (J = mℓ²/3 about the pin).
    let small = std::f64::consts::TAU * (2.0 / (3.0 * 9.80665_f64)).sqrt();
    let period = small / mean(1.0, (std::f64::consts::PI / 12.0).cos());
    assert!((small - 1.638).abs() < 5e-4 && (period - 1.667).abs() < 5e-4, "the numbers of the book");
    // Without settings angles are right to 1e-3 rad, and the rod passes below the pin with φω = 2 rad/s.
    assert!((crossing - 0.25 * period).abs() < 5e-4, "{crossing} {}", 0.25 * period);
}
