//! The command from outside: exit codes, what goes to which stream, the shape of JSON, figures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn kreisel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kreisel-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_list_has_id_run_time_and_title() {
    let output = kreisel(&["reproduce", "--list"]);
    assert!(output.status.success());
    let line = stdout(&output).lines().find(|line| line.starts_with("lie-algebra-eq53 ")).unwrap();
    assert!(
        line.contains("under a second") && line.ends_with("Error constants of the transient phase"),
        "{line}"
    );
}

#[test]
fn an_experiment_prints_its_table_and_each_check() {
    let output = kreisel(&["reproduce", "lie-algebra-eq53"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let check = text.lines().find(|line| line.contains("max |c_n / C_q|, ρ∞ = 0.99")).unwrap();
    for part in ["334.3 ± 0.05", "334.31", "pass"] {
        assert!(check.contains(part), "{part} in {check}");
    }
    assert_eq!(stderr(&output), "", "nothing to say into a pipe");
}

#[test]
fn an_unknown_id_exits_with_two_and_names_the_nearest() {
    let output = kreisel(&["reproduce", "lie-algebra-eq35"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`lie-algebra-eq53`"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_request_without_sense_exits_with_two() {
    for arguments in [
        &["reproduce"][..],
        &["reproduce", "--no-such-flag"],
        &["no-such-command"],
        &["reproduce", "lie-algebra-eq53", "--json=no-such-folder/x.json"],
        &["reproduce", "lie-algebra-eq53", "--plot", env!("CARGO_BIN_EXE_kreisel")],
    ] {
        let output = kreisel(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!stderr(&output).is_empty() && stdout(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn json_of_one_id_is_an_object_with_exactly_the_promised_keys() {
    let output = kreisel(&["reproduce", "--json", "lie-algebra-eq53"]);
    let summary: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(keys(&summary), ["checks", "id", "series", "title"]);
    assert_eq!(summary["id"], "lie-algebra-eq53");
    for check in summary["checks"].as_array().unwrap() {
        assert_eq!(keys(check), ["expected", "measured", "name", "pass", "tolerance"]);
        assert_eq!(check["pass"], true);
    }
    for series in summary["series"].as_array().unwrap() {
        assert_eq!(keys(series), ["name", "x", "x_label", "y", "y_label"]);
        assert_eq!(series["x"].as_array().unwrap().len(), series["y"].as_array().unwrap().len());
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn json_of_several_names_is_an_array_with_each_experiment_once() {
    let output = kreisel(&["reproduce", "--json", "lie-algebra-eq53", "lie-algebra-eq53"]);
    let summaries: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(summaries.as_array().unwrap().len(), 1);
    assert_eq!(summaries[0]["id"], "lie-algebra-eq53");
}

#[test]
fn json_into_a_file_leaves_the_text_on_stdout() {
    let folder = Folder::new("json");
    let file = folder.path("eq53.json");
    let output = kreisel(&["reproduce", "lie-algebra-eq53", &format!("--json={file}")]);
    assert!(stdout(&output).contains("pass"));
    let summary: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(summary["id"], "lie-algebra-eq53");
}

#[test]
fn a_figure_is_a_well_formed_svg_named_after_the_experiment() {
    let folder = Folder::new("figure");
    let output = kreisel(&["reproduce", "lie-algebra-eq53", "--plot", &folder.path("figures")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let svg = fs::read_to_string(folder.path("figures/lie-algebra-eq53.svg")).unwrap();
    assert_well_formed(&svg);
    for words in ["step n", "ρ∞ = 0.99", "Error constants"] {
        assert!(svg.contains(words), "{words}");
    }
}

/// Every tag is closed in order, and no text holds a bare `&` or `<`.
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, false) => open.push(name),
            (false, true) => {}
        }
        for entity in text.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)),
                "{entity}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(["reproduce", "lie-algebra-eq53", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(process.stdout.take());
    let output = process.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[test]
fn help_shows_how_to_begin() {
    let output = kreisel(&["reproduce", "--help"]);
    assert!(output.status.success());
    for words in ["kreisel reproduce --list", "--json[=<FILE>]", "--plot <DIR>"] {
        assert!(stdout(&output).contains(words), "{words} in {}", stdout(&output));
    }
}
