//! `kreisel report`, `view`, `plot`, `render` and `export` from outside.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::results::CsvTable;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;
use tiny_skia::Pixmap;

fn kreisel(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(arguments)
        .current_dir(folder)
        .env("BROWSER", "true")
        .output()
        .unwrap()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = kreisel(folder, arguments);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

/// Results of a short run of the four-bar linkage, made once and only read.
fn results() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/four-bar.toml");
        done(folder.path(), &["run", model.to_str().unwrap(), "--end-time", "100 ms", "--out", "four-bar"]);
        folder
    });
    folder.path().join("four-bar")
}

/// A copy that a test may change.
fn copy(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in files {
        fs::copy(results().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// Changes a file of JSON.
fn change(path: &Path, how: impl FnOnce(&mut serde_json::Value)) {
    let mut content = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    how(&mut content);
    fs::write(path, content.to_string()).unwrap();
}

const ALL: [&str; 4] = ["run.json", "scene.json", "trajectory.csv", "trajectory.vtkhdf"];

#[test]
fn the_page_of_a_folder_is_the_page_of_its_run() {
    let folder = copy(&ALL);
    let said = done(folder.path(), &["report", "."]);
    assert_eq!(said.trim(), Path::new(".").join("report.html").to_str().unwrap());
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page == fs::read_to_string(results().join("report.html")).unwrap(), "the pages differ");
    assert!(page.contains("<title>A planar four-bar linkage on four hinges"));
}

#[test]
fn several_runs_share_a_page_that_is_asked_for_by_name() {
    let (first, second) = (copy(&ALL), copy(&ALL));
    let folders = [first.path().to_str().unwrap(), second.path().to_str().unwrap()];
    let page = first.path().join("both.html");
    done(first.path(), &["report", folders[0], folders[1], "-o", page.to_str().unwrap()]);
    let text = fs::read_to_string(&page).unwrap();
    let one = fs::read_to_string(results().join("report.html")).unwrap();
    let signal = "\"name\":\"energy.total\"";
    assert_eq!((one.matches(signal).count(), text.matches(signal).count()), (1, 2));
    let refused = |arguments: &[&str]| {
        let output = kreisel(first.path(), arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, words) = refused(&["report", folders[0], folders[1]]);
    assert!(code == Some(2) && words.contains("-o both.html"), "{words}");
    let (code, words) = refused(&[&["report"][..], &[folders[0]; 5], &["-o", "x.html"]].concat());
    assert!(code == Some(2) && words.contains("at most 4 runs"), "{words}");
}

#[test]
fn a_page_made_later_belongs_to_the_run() {
    let folder = copy(&ALL);
    let summary = folder.path().join("run.json");
    change(&summary, |run| {
        run["files"].as_array_mut().unwrap().retain(|file| file != "report.html");
        run["crc32"].as_object_mut().unwrap().remove("report.html");
    });
    assert!(!fs::read_to_string(&summary).unwrap().contains("report.html"));
    done(folder.path(), &["report", "."]);
    assert!(fs::read_to_string(&summary).unwrap().contains("report.html"));
}

#[test]
fn view_makes_the_page_that_is_missing_and_opens_it() {
    let folder = copy(&ALL);
    done(folder.path(), &["view", "."]);
    assert!(folder.path().join("report.html").is_file());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kreisel"));
    let output =
        command.args(["view", "."]).current_dir(folder.path()).env("BROWSER", "no-such-program").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "the page is there, and its path is printed");
    assert!(String::from_utf8_lossy(&output.stdout).contains("report.html"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no browser"));
}

#[test]
fn view_without_a_folder_opens_the_newest_run() {
    let folder = TempDir::new().unwrap();
    let output = kreisel(folder.path(), &["view"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no run in `results` yet"));
    for name in ["older", "newer"] {
        let to = folder.path().join("results").join(name);
        fs::create_dir_all(&to).unwrap();
        for file in ALL {
            fs::copy(results().join(file), to.join(file)).unwrap();
        }
        // Clocks of file systems tick by up to 10 ms.
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert!(done(folder.path(), &["view"]).contains("newer"));
}

#[test]
fn a_plot_without_a_sensor_shows_the_coordinates_of_joints_and_one_word_all_components() {
    let folder = TempDir::new().unwrap();
    let results = results();
    let results = results.to_str().unwrap();
    done(folder.path(), &["plot", results]);
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(svg.contains(">d.angle<") && !svg.contains("angle-rate"), "{svg}");
    done(folder.path(), &["plot", results, "--sensor", "crank.position"]);
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(
        [">crank.position.x<", ">crank.position.y<", ">crank.position.z<"]
            .iter()
            .all(|name| svg.contains(name))
    );
}

#[test]
fn folders_that_hold_no_results_are_refused_with_a_reason() {
    let empty = TempDir::new().unwrap();
    for command in [&["report", "."][..], &["plot", ".", "--sensor", "a"], &["export", ".", "--gltf"]] {
        let output = kreisel(empty.path(), command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("no results of Kreisel"), "{command:?}");
    }
    for (missing, rest) in [(1, [0, 2, 3]), (2, [0, 1, 3]), (3, [0, 1, 2])] {
        let folder = copy(&rest.map(|index: usize| ALL[index]));
        let output = kreisel(folder.path(), &["report", "."]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(ALL[missing]), "{}", ALL[missing]);
    }
}

#[test]
fn broken_results_are_errors_and_not_panics() {
    for (name, content) in
        [("scene.json", "{"), ("trajectory.vtkhdf", "no HDF5"), ("trajectory.csv", "a,b\n1,2\n")]
    {
        let folder = copy(&ALL);
        fs::write(folder.path().join(name), content).unwrap();
        let output = kreisel(folder.path(), &["report", "."]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(name), "{name}");
    }
}

#[test]
fn a_plot_has_axes_units_and_a_legend() {
    let folder = TempDir::new().unwrap();
    let results = results();
    let results = results.to_str().unwrap();
    done(folder.path(), &["plot", results, "--sensor", "d.angle", "--sensor", "energy.*", "-o", "plot.svg"]);
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    for word in ["time [s]", "d.angle [rad]", "[J]", "energy.kinetic", "A planar four-bar linkage"] {
        assert!(svg.contains(word), "{word}");
    }
    done(folder.path(), &["plot", results, "--sensor", "d.angle", "-o", "plot.png"]);
    assert!(fs::read(folder.path().join("plot.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn plots_that_make_no_sense_are_refused() {
    let folder = TempDir::new().unwrap();
    let results = results();
    let results = results.to_str().unwrap();
    for (arguments, word) in [
        (["--sensor", "d.angel", "-o", "plot.svg"], "d.angle"),
        (["--sensor", "d.angle", "-o", "plot.pdf"], "`.svg` or `.png`"),
    ] {
        let output = kreisel(folder.path(), &[&["plot", results][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{word}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_chosen_table_has_the_numbers_of_the_whole_one() {
    let folder = TempDir::new().unwrap();
    let results = results();
    let text = results.to_str().unwrap();
    let printed = done(folder.path(), &["export", text, "--csv", "crank.position.*", "energy.total"]);
    done(folder.path(), &["export", text, "--csv", "crank.position.*", "energy.total", "-o", "part.csv"]);
    assert_eq!(fs::read_to_string(folder.path().join("part.csv")).unwrap(), printed);
    let part = CsvTable::read(&folder.path().join("part.csv")).unwrap();
    let whole = CsvTable::read(&results.join("trajectory.csv")).unwrap();
    assert_eq!(part.signals.len(), 4);
    assert_eq!(part.times, whole.times);
    for signal in &part.signals {
        assert_eq!(part.column(&signal.name), whole.column(&signal.name));
    }
}

#[test]
fn an_animation_is_binary_gltf_with_a_node_for_each_body() {
    let folder = TempDir::new().unwrap();
    done(folder.path(), &["export", results().to_str().unwrap(), "--gltf", "-o", "a.glb"]);
    let bytes = fs::read(folder.path().join("a.glb")).unwrap();
    assert!(bytes.starts_with(b"glTF\x02\0\0\0"));
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(word(8), bytes.len());
    let scene: serde_json::Value = serde_json::from_slice(&bytes[20..20 + word(12)]).unwrap();
    let names: Vec<&str> =
        scene["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    for body in ["crank", "coupler", "rocker"] {
        assert!(names.contains(&body), "{names:?}");
    }
    assert_eq!(scene["animations"][0]["channels"].as_array().unwrap().len(), 6);
}

fn picture(folder: &Path, arguments: &[&str]) -> Pixmap {
    let out = folder.join("picture.png");
    let results = results();
    let all = [&["render", results.to_str().unwrap(), "-o", out.to_str().unwrap()], arguments].concat();
    assert_eq!(done(folder, &all).trim(), out.to_str().unwrap());
    Pixmap::decode_png(&fs::read(out).unwrap()).unwrap()
}

fn coloured(picture: &Pixmap, columns: std::ops::Range<u32>) -> Vec<(u32, u32)> {
    // The line below each frame is grey: red, green and blue alike.
    let is_coloured = |x: u32, y: u32| {
        let pixel = picture.pixel(x, y).unwrap();
        pixel.red().abs_diff(pixel.blue()) > 40 || pixel.red().abs_diff(pixel.green()) > 40
    };
    (0..picture.height())
        .flat_map(|y| columns.clone().map(move |x| (x, y)))
        .filter(|(x, y)| is_coloured(*x, *y))
        .collect()
}

#[test]
fn a_picture_shows_the_machine_and_a_strip_shows_it_moving() {
    let folder = TempDir::new().unwrap();
    let one = picture(folder.path(), &["--frame", "0.05", "--view", "front", "--size", "200,150"]);
    assert_eq!((one.width(), one.height()), (200, 186));
    let bars = coloured(&one, 0..200);
    assert!(bars.len() > 300, "{} coloured pixels", bars.len());
    // The whole motion fits and fills the frame.
    assert!(bars.iter().all(|(x, y)| (1..199).contains(x) && (1..149).contains(y)));

    let strip = picture(folder.path(), &["--strip", "3", "--view", "front", "--size", "200,150"]);
    assert_eq!(strip.width(), 600);
    let frame = |place: u32| -> Vec<(u32, u32)> {
        coloured(&strip, 200 * place..200 * (place + 1))
            .into_iter()
            .map(|(x, y)| (x - 200 * place, y))
            .collect()
    };
    assert!(frame(0) != frame(2), "the crank turns");
    assert_eq!(frame(1), bars, "the middle of the strip is the picture at the middle of the run");
}

#[test]
fn pictures_that_make_no_sense_are_refused() {
    let folder = TempDir::new().unwrap();
    let results = results();
    for (arguments, reason) in [
        (["--frame", "7", "-o", "x.png"], "nothing is recorded at t = 7 s; the run goes from 0 s to 0.1 s"),
        (["--frame", "nan", "-o", "x.png"], "nothing is recorded at t = NaN s"),
        (["--frame", "0", "-o", "x.svg"], "a picture of a machine is `.png`"),
        (["--size", "300", "-o", "x.png"], "the size of a picture is two numbers"),
        (["--size", "1,1", "-o", "x.png"], "16..=4096"),
    ] {
        let output =
            kreisel(folder.path(), &[&["render", results.to_str().unwrap()], &arguments[..]].concat());
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {words}");
        assert!(words.contains(reason), "{arguments:?}: {words}");
    }
}

#[test]
fn scenes_that_name_what_is_not_there_are_refused() {
    let folder = copy(&ALL);
    let path = folder.path().join("scene.json");
    change(&path, |scene| scene["bodies"][0]["node"] = 99.into());
    // A folder without checksums, as others may write it.
    change(&folder.path().join("run.json"), |run| run["crc32"] = serde_json::json!({}));
    for command in [&["render", "."][..], &["report", "."], &["export", ".", "--gltf"]] {
        let output = kreisel(folder.path(), command);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {words}");
        assert!(words.contains("names nodes or corners that it does not have"), "{words}");
    }
}
