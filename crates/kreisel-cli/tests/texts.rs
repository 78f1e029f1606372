//! What the program says is what is recorded in `tests/texts/`: help, explanations of models, the schema of
//! model files, the words of `run.json`, and the messages about mistakes.
//!
//! With `KREISEL_REFRESH` set the files are rewritten instead; `cargo xtask refresh` does that.
//!
//! Numbers with a decimal point or an exponent are rounded to six significant digits, as processors differ in
//! the last ones. Of the statistics in `run.json` only the names are compared.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "bad_input/cases.rs"]
#[allow(dead_code, reason = "what a message must say at least is the question of bad_input.rs")]
mod cases;

use cases::{Case, kreisel};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Digits that every processor agrees on.
const DIGITS: usize = 6;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Compares a text with its file and shows the first line that differs.
fn assert_recorded(file: &str, fresh: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts").join(file);
    if std::env::var_os("KREISEL_REFRESH").is_some() {
        fs::write(&path, fresh).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&path).unwrap();
    if recorded == fresh {
        return;
    }
    let (mut old, mut new, mut heading) = (recorded.lines(), fresh.lines(), "");
    for number in 1.. {
        let (old, new) = (old.next(), new.next());
        assert_eq!(old, new, "texts/{file}:{number}, {heading}; if intended, run `cargo xtask refresh`");
        heading = new.filter(|line| line.starts_with("===")).unwrap_or(heading);
        assert!(old.is_some(), "texts/{file} has other ends of lines");
    }
}

/// What was said, under a heading, without what depends on the folder and on the processor.
fn section(heading: &str, said: &str, folder: &Path) -> String {
    let place = |path: &Path| path.to_str().unwrap().to_owned();
    let said = said.replace(&place(folder), "FOLDER").replace(&place(&root()), "ROOT");
    format!("\n=== {heading}\n{}", rounded(&said))
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The answer on standard output of a command that succeeds.
fn answer(arguments: &[&str]) -> String {
    let output = kreisel(&root(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// Exit code and everything that was said.
fn words(output: &Output) -> String {
    let code = output.status.code().unwrap();
    format!("exit code {code}\n{}{}", without_clock(text(&output.stdout)), text(&output.stderr))
}

/// A summary without the time that the run took.
fn without_clock(text: &str) -> String {
    const WORDS: &str = "computed in ";
    match text.split_once(WORDS).and_then(|(before, rest)| Some((before, rest.split_once(" s")?.1))) {
        Some((before, after)) => format!("{before}{WORDS}… s{after}"),
        None => text.to_owned(),
    }
}

/// Rounds numbers with more digits than processors agree on; whole numbers, names and hashes stay.
fn rounded(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let follows_name = result.ends_with(|last: char| last.is_alphanumeric() || "._".contains(last));
        let token = if first.is_ascii_digit() && !follows_name { number(rest) } else { "" };
        if token.is_empty() {
            result.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            result += &short(token);
            rest = &rest[token.len()..];
        }
    }
    result
}

/// The number at the start of a text, without a sign.
fn number(text: &str) -> &str {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with('e') {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        if digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    &text[..end]
}

/// A number in so few digits that processors agree on them.
fn short(token: &str) -> String {
    let mantissa = token.split('e').next().unwrap_or_default();
    let digits = mantissa.replace('.', "").trim_start_matches('0').len();
    if digits <= DIGITS || !token.contains(['.', 'e']) {
        return token.to_owned();
    }
    let value: f64 = token.parse().unwrap();
    let value: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap();
    if token.contains('e') { format!("{value:e}") } else { value.to_string() }
}

#[test]
fn long_numbers_are_rounded_and_all_else_stays() {
    for (before, after) in [
        ("t = 0.25000083273 s, 1.23456789e-16.", "t = 0.250001 s, 1.23457e-16."),
        ("0.9999999, -12.3456789", "1, -12.3457"),
        ("12345678 steps, 9.80665 m/s²", "12345678 steps, 9.80665 m/s²"),
        ("a1.23456789, m.toml:5:3, 5., 3e, 1e-8", "a1.23456789, m.toml:5:3, 5., 3e, 1e-8"),
        ("c13cd40761257b7b8908380e1", "c13cd40761257b7b8908380e1"),
    ] {
        assert_eq!(rounded(before), after);
    }
}

#[test]
fn help_is_as_recorded() {
    let whole = answer(&["--help"]);
    let list = whole.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // What is wrapped stands further to the right.
    let firsts = list.lines().filter(|line| !line.starts_with("   "));
    let commands: Vec<&str> = firsts.map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(commands.contains(&"run") && commands.contains(&"schema"), "{commands:?}");
    let mut fresh = String::from("What `--help` says; written by `cargo xtask refresh`.\n");
    fresh += &section("kreisel --help", &whole, &root());
    for command in commands.into_iter().filter(|command| *command != "help") {
        fresh += &section(&format!("kreisel {command} --help"), &answer(&[command, "--help"]), &root());
    }
    assert_recorded("help.txt", &fresh);
}

#[test]
fn explanations_of_models_are_as_recorded() {
    let mut names: Vec<String> = fs::read_dir(root().join("models"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let mut fresh = String::from(
        "What `kreisel check` says about every model; written by `cargo xtask refresh`. Numbers have six digits at most.\n",
    );
    let mut check = |arguments: &[&str]| {
        let output = kreisel(&root(), &[&["check"], arguments].concat());
        fresh += &section(&format!("kreisel check {}", arguments.join(" ")), &words(&output), &root());
    };
    for name in &names {
        check(&[&format!("models/{name}")]);
    }
    check(&["models/four-bar.toml", "--json"]);
    assert_recorded("check.txt", &fresh);
}

#[test]
fn the_schema_is_as_recorded() {
    assert_recorded("schema.json", &answer(&["schema"]));
}

/// Models and flags whose `run.json` have between them every key: events, warnings, assumptions, a step by
/// error, options of methods, a static start, a parameter.
const RUNS: &[&[&str]] = &[
    &["four-bar", "--end-time", "0.02", "--step", "1 ms"],
    &["heavy-top", "--end-time", "0.002", "--step", "auto", "--rtol", "1e-4", "--condition"],
    &[
        "bouncing-ball",
        "--end-time",
        "0.1",
        "--output-step",
        "0.05",
        "--min-step",
        "1e-9",
        "--max-step",
        "0.01",
        "--rtol",
        "1e-5",
    ],
    &["latch", "--step", "2 ms"],
    &["right-angle-beam", "--end-time", "1", "--method", "bdf2", "--form", "two-field", "--scaling", "left"],
    &["heavy-top", "--end-time", "0.01", "--method", "updated-lagrangian", "--parametrization", "crv"],
    &["lee-frame", "--end-time", "0.02", "--step", "10 ms"],
    &[
        "chain-spherical",
        "--set",
        "n=3",
        "--end-time",
        "0.02",
        "--group",
        "so3xr3",
        "--spectral-radius",
        "0.8",
        "--step",
        "1 ms",
    ],
];

/// `run.json` without versions, hashes, clock times and the numbers of the statistics.
fn without_measurements(summary: &str) -> String {
    let (mut is_measured, mut is_checksum) = (false, false);
    let mut result = String::new();
    for line in summary.lines() {
        let indent = line.len() - line.trim_start().len();
        if indent == 2 {
            (is_measured, is_checksum) =
                (line.ends_with("\"statistics\": {"), line.ends_with("\"crc32\": {"));
        }
        let changes = ["\"version\": ", "\"sha256\": ", "\"wall-time\": "];
        let (name, value) = line.split_at(line.find(": ").map_or(indent, |at| at + 2));
        let is_value = value.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        if changes.contains(&name.trim_start()) || is_measured && is_value || is_checksum && indent == 4 {
            let comma = if line.ends_with(',') { "," } else { "" };
            result += &format!("{name}…{comma}\n");
        } else {
            result += &format!("{line}\n");
        }
    }
    result
}

#[test]
fn words_of_run_summaries_are_as_recorded() {
    let mut fresh = String::from(
        "What `run.json` says; written by `cargo xtask refresh`. Versions, hashes, clock times and numbers of the statistics \
         are left out, others have six digits at most.\n",
    );
    for arguments in RUNS {
        let folder = TempDir::new().unwrap();
        let (model, flags) = (format!("models/{}.toml", arguments[0]), &arguments[1..]);
        let out = folder.path().join("out");
        let run = ["run", &model, "--quiet", "--no-report", "--out", out.to_str().unwrap()];
        answer(&[&run, flags].concat());
        let summary = without_measurements(&fs::read_to_string(out.join("run.json")).unwrap());
        fresh += &section(&format!("kreisel run {model} {}", flags.join(" ")), &summary, folder.path());
    }
    assert_recorded("run-json.txt", &fresh);
}

#[test]
fn messages_about_mistakes_are_as_recorded() {
    let mut fresh = String::from("What is said about every mistake; written by `cargo xtask refresh`.\n");
    let groups: [(&str, Vec<Case>); 7] = [
        ("model", cases::models()),
        ("file", cases::files()),
        ("no file", cases::no_files()),
        ("flags", cases::flags()),
        ("method", vec![cases::undamped()]),
        ("start", cases::starts()),
        ("misfit", cases::misfits()),
    ];
    for (group, cases) in groups {
        for case in cases {
            let (folder, output) = case.output();
            let title = case.title.trim_end().replace('\n', "\\n");
            fresh += &section(&format!("{group}: {title}"), &words(&output), folder.path());
        }
    }
    assert_recorded("bad-input.txt", &fresh);
}
