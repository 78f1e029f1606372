//! Mistakes through `kreisel run`: one message with the place, the reason and the remedy, exit code 2, no
//! folder; and `kreisel check` accepts what `kreisel run` accepts and nothing else.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "bad_input/cases.rs"]
mod cases;

use cases::Case;
use std::path::Path;
use std::process::{Command, Output};

/// What is wrong with a refusal: it must be one error with these words, and nothing may be written.
fn faults(folder: &Path, output: &Output, words: &[&str], case: &str) -> Vec<String> {
    let message = String::from_utf8_lossy(&output.stderr);
    let one = message.starts_with("error: ") && message.matches("\nerror").count() == 0;
    let mut faults: Vec<String> = words
        .iter()
        .filter(|word| !message.contains(**word))
        .map(|word| format!("`{word}` is missing"))
        .collect();
    for (holds, fault) in [
        (output.status.code() == Some(2), "the exit code is not 2"),
        (output.stdout.is_empty(), "there is something on stdout"),
        (one, "there is not exactly one error"),
        (message.len() < 4000, "the message is too long"),
        (!folder.join("results").exists(), "a folder was made"),
    ] {
        if !holds {
            faults.push(fault.to_owned());
        }
    }
    faults.iter().map(|fault| format!("{fault} for\n{case}\nwith the message\n{message}")).collect()
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn assert_refused(cases: &[Case]) {
    let mut found = Vec::new();
    for case in cases {
        let (outer, output) = case.output();
        found.extend(faults(&Case::folder_in(&outer), &output, &case.words, &case.title));
    }
    assert_none(&found);
}

#[test]
fn every_mistake_in_a_model_is_one_message_with_place_reason_and_remedy() {
    let cases = cases::models();
    assert!(cases.len() >= 60, "{}", cases.len());
    assert_refused(&cases);
}

#[test]
fn files_that_are_no_models_are_refused() {
    assert_refused(&cases::files());
}

#[test]
fn a_file_that_is_not_there_and_a_folder_are_refused() {
    assert_refused(&cases::no_files());
}

#[test]
fn flags_without_sense_are_refused_before_anything_is_written() {
    assert_refused(&cases::flags());
}

#[test]
fn undamped_index3_with_joints_is_refused_with_the_way_out() {
    assert_refused(&[cases::undamped()]);
}

#[test]
fn machines_that_do_not_fit_name_their_joints_and_fail_with_exit_code_one() {
    for case in cases::misfits() {
        let (_folder, output) = case.output();
        // What `check` finds is its answer and goes to standard output.
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let message = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(1), "{}: {message}", case.title);
        assert!(case.words.iter().all(|word| message.contains(word)), "{}: {message}", case.title);
    }
}

#[test]
fn what_a_method_cannot_do_is_told_with_part_line_and_the_method_that_can() {
    assert_refused(&cases::unable());
}

/// What `run` says when it refuses: its error without what it says about the folder.
fn refusal(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    let error = said.find("error: ").map_or("", |start| &said[start + "error: ".len()..]);
    error.split("\nthe results up to").next().unwrap().trim_end().to_owned()
}

/// How `check` differs from `run`.
fn differences(title: &str, run: &Output, check: &Output) -> Vec<String> {
    let refusal = refusal(run);
    let said = [check.stdout.as_slice(), check.stderr.as_slice()].concat();
    let said = String::from_utf8(said).unwrap().replace("Usage: kreisel check", "Usage: kreisel run");
    let mut found = Vec::new();
    if run.status.code() != check.status.code() {
        found.push(format!("{title}: run ends with {:?}, check with {:?}", run.status, check.status));
    }
    if !said.contains(&refusal) {
        found.push(format!("{title}: run says\n{refusal}\nand check\n{said}"));
    }
    if run.status.success() != (refusal.is_empty() && !said.contains("cannot start")) {
        found.push(format!("{title}: the exit code does not fit the message\n{said}"));
    }
    found
}

#[test]
fn models_that_cannot_be_started_are_refused_before_anything_is_computed() {
    for case in cases::starts() {
        let (_folder, output) = case.output();
        let message = refusal(&output);
        assert!(!output.status.success(), "{}", case.title);
        assert!(case.words.iter().all(|word| message.contains(word)), "{}: {message}", case.title);
    }
}

#[test]
fn check_accepts_what_run_accepts_and_nothing_else() {
    type Table = fn() -> Vec<Case>;
    let tables: [Table; 6] =
        [cases::models, cases::files, cases::no_files, cases::flags, cases::starts, || {
            vec![cases::undamped()]
        }];
    let mut found = Vec::new();
    let mut count = 0;
    for table in tables {
        for (run, check) in table().into_iter().zip(table()).filter(|(run, _)| run.is_for_check()) {
            let title = run.title.clone();
            let outputs = [run, check.with_command("check")].map(|case| case.output().1);
            found.extend(differences(&title, &outputs[0], &outputs[1]));
            count += 1;
        }
    }
    assert!(count >= 140, "{count}");
    assert_none(&found);
}

#[test]
fn check_and_run_accept_every_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let model = path.to_str().unwrap();
        // One short step, since only the start is compared.
        let flags = ["--step", "1e-6", "--end-time", "1e-6"];
        let run = cases::kreisel(folder.path(), &[&["run", model, "--no-report"], &flags[..]].concat());
        let check = cases::kreisel(folder.path(), &[&["check", model], &flags[..]].concat());
        found.extend(differences(model, &run, &check));
        if !run.status.success() {
            found.push(format!("{model}: {}", refusal(&run)));
        }
    }
    assert_none(&found);
}

/// What the command answers to a model on its standard input.
fn piped(folder: &Path, arguments: &[&str], text: &[u8]) -> std::process::Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_kreisel"))
        .args(arguments)
        .current_dir(folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Who refuses the model may not read it to its end.
    let _ = child.stdin.take().unwrap().write_all(text);
    child.wait_with_output().unwrap()
}

#[test]
fn a_model_comes_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/right-angle-beam.toml");
    let text = std::fs::read(model).unwrap();
    let commands: [&[&str]; 4] =
        [&["run", "-", "--end-time", "0.4"], &["static", "-"], &["modes", "-"], &["check", "-"]];
    for command in commands {
        let output = piped(path, command, &text);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for name in ["trajectory.csv", "static.csv", "modes.csv"] {
        assert!(path.join("results/stdin").join(name).exists(), "{name}");
    }
    // Mistakes have their line, and one text has no other files.
    let include = "\n[[include]]\nfile = 'a.toml'\n";
    let mistakes: [(&[u8], &str); 3] = [
        (b"\n[[body]]\nmas = 1\n", "standard input:3:1"),
        (b"x = \xff", "not UTF-8"),
        (include.as_bytes(), "standard input:3"),
    ];
    for (text, words) in mistakes {
        let output = piped(path, &["run", "-"], text);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
