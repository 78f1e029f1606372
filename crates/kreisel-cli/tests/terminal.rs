//! Nothing that is said commands a terminal or turns its writing round, whatever files, names and arguments hold.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A title for the window, a bell, a sequence in one letter, writing from right to left, a line over another.
const HOSTILE: &str = "a\u{1b}]0;HACK\u{7}\u{9b}2J\u{202e}b\u{61c}\rc\u{8}\u{7f}";

/// The same as TOML and JSON write it.
const ESCAPED: &str = "a\\u001b]0;HACK\\u0007\\u009b2J\\u202eb\\u061c\\u000dc\\u0008\\u007f";

/// Runs the command; what it says must be letters, spaces and line ends, and speak of `named` somehow.
fn check(folder: &Path, arguments: &[&str], named: &str) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_kreisel")).args(arguments).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    let is_wrong = |letter: &char| {
        let turns = matches!(
            letter,
            '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        turns || letter.is_control() && !matches!(letter, '\n' | '\t')
    };
    if let Some(letter) = said.chars().find(is_wrong) {
        panic!("{arguments:?} says {letter:?}: {said:?}");
    }
    assert!(said.contains(named), "{arguments:?}: {said:?}");
    (output.status.code(), said)
}

const COMMANDS: [&str; 5] = ["run", "check", "verify", "plot", "sweep"];

#[test]
fn unknown_flags_and_words_are_quoted_without_harm() {
    let folder = TempDir::new().unwrap();
    for command in COMMANDS {
        let flag = format!("--bad{HOSTILE}");
        let (code, _) = check(folder.path(), &[command, &flag], "--bad");
        assert_eq!(code, Some(2));
    }
    let setting = format!("--step={HOSTILE}");
    let set = format!("{HOSTILE}=1");
    for arguments in [
        &[HOSTILE][..],
        &["run", "m.toml", &setting],
        &["run", "m.toml", "--set", &set],
        &["sweep", "m.toml", "--vary", &set],
        &["verify", HOSTILE],
        &["plot", HOSTILE],
        &["new", HOSTILE],
        &["reproduce", HOSTILE],
    ] {
        let (code, _) = check(folder.path(), arguments, "");
        assert_eq!(code, Some(2), "{arguments:?}");
    }
}

#[test]
fn help_and_version_go_to_stdout_with_exit_code_zero() {
    let folder = TempDir::new().unwrap();
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["help", "sweep"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_kreisel"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
    }
    let none = Command::new(env!("CARGO_BIN_EXE_kreisel")).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(none.stdout.is_empty() && !none.stderr.is_empty());
}

#[test]
fn hostile_names_of_files_bodies_and_titles_are_shown_without_harm() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let text = |body: &str, title: &str| {
        format!(
            "[simulation]\ntitle = \"{title}\"\nend-time = 0.01\nstep = 1e-3\n[parameters]\nm = 1\n\
             [[body]]\nname = \"{body}\"\nmass = \"m\"\ninertia = [1, 1, 1]\n"
        )
    };
    let file = format!("m{HOSTILE}.toml");
    let out = format!("out{HOSTILE}");
    let variation = "m=1,2";
    let measure = "max(b.position.z)";
    let untitled = text("b", "").replace("title = \"\"\n", "");
    fs::write(path.join(&file), &untitled).unwrap();
    // A good model in a file of that name, into a folder of that name.
    let (code, said) = check(path, &["run", &file, "--out", &out], "out");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(check(path, &["check", &file], "").0, Some(0));
    assert_eq!(check(path, &["verify", &out], "as written").0, Some(0));
    assert_eq!(check(path, &["plot", &out, "--sensor", HOSTILE], "no signal").0, Some(2));
    let picture = format!("p{HOSTILE}.svg");
    assert_eq!(check(path, &["plot", &out, "--sensor", "b.*", "-o", &picture], "").0, Some(0));
    let swept = format!("swept{HOSTILE}");
    let sweep = ["sweep", &file, "--vary", variation, "--measure", measure, "--out", &swept];
    assert_eq!(check(path, &sweep, "").0, Some(0));
    // A table that was changed is named, and so is its folder.
    fs::write(path.join(&out).join("trajectory.csv"), format!("{HOSTILE}\n")).unwrap();
    assert_eq!(check(path, &["verify", &out], "was changed").0, Some(1));
    check(path, &["plot", &out, "--sensor", "b.*"], "was changed");
    // Names within files, as they are and as TOML escapes them.
    for (number, (body, title)) in
        [(ESCAPED, "t"), ("b", ESCAPED), (HOSTILE, "t"), ("b", HOSTILE)].into_iter().enumerate()
    {
        let file = format!("{number}{file}");
        fs::write(path.join(&file), text(body, title)).unwrap();
        for command in ["run", "check"] {
            check(path, &[command, &file], "error");
        }
        check(path, &["sweep", &file, "--vary", variation, "--measure", measure], "error");
    }
    // A summary that names what it likes.
    let summary = fs::read_to_string(path.join(&out).join("run.json")).unwrap();
    let summary = summary.replacen("\"trajectory.csv\"", &format!("\"{ESCAPED}\""), 1);
    fs::write(path.join(&out).join("run.json"), summary).unwrap();
    assert_eq!(check(path, &["verify", &out], "").0, Some(1));
}
