//! What the book lists is what the program has: experiments and the keys of the model file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "drawings/mod.rs"]
mod drawings;

use kreisel::machine::SETTINGS;
use kreisel::model::Need;
use kreisel::model::schema::reference_page;
use kreisel::part;
use kreisel_cli::shipped::MODELS;
use kreisel_papers::experiment::{markdown_table, step_sizes_table, validation_table};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Compares the part of a page between its marks with fresh text.
///
/// With `KREISEL_REFRESH` set the part is rewritten instead; `cargo xtask refresh` does that.
fn assert_fresh(page: &str, mark: &str, fresh: &str) {
    assert_fresh_by(page, mark, fresh, |part| assert_eq!(part, fresh, "run `cargo xtask refresh`"));
}

/// The same with another comparison.
fn assert_fresh_by(page: &str, mark: &str, fresh: &str, compare: impl Fn(&str)) {
    let start = format!("<!-- {mark}: written by `cargo xtask refresh` -->\n");
    let end = format!("<!-- end of {mark} -->\n");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src").join(page);
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(&start).expect("the page has the mark where the part starts");
    let (part, after) = rest.split_once(&end).expect("the page has the mark where the part ends");
    if std::env::var_os("KREISEL_REFRESH").is_some() {
        fs::write(&page, format!("{before}{start}{fresh}{end}{after}")).unwrap();
    } else {
        compare(part);
    }
}

/// Compares tables of measured numbers: words are the same, numbers within a factor.
fn assert_near(part: &str, fresh: &str, factor: f64) {
    let cells = |text: &str| -> Vec<String> { text.split('|').map(|cell| cell.trim().to_owned()).collect() };
    let (part, fresh) = (cells(part), cells(fresh));
    assert_eq!(part.len(), fresh.len(), "run `cargo xtask refresh`");
    for (old, new) in part.iter().zip(&fresh) {
        match (old.parse::<f64>(), new.parse::<f64>()) {
            (Ok(a), Ok(b)) if a != b => {
                let ratio = a / b;
                assert!(ratio < factor && ratio > 1.0 / factor, "{old} in the book, {new} now");
            }
            _ => assert_eq!(old, new, "run `cargo xtask refresh`"),
        }
    }
}

#[test]
fn the_book_lists_every_experiment() {
    assert_fresh("reproducing.md", "experiments", &markdown_table());
}

#[test]
fn the_gallery_shows_every_model() {
    // Pages and pictures are made where the book is built.
    let mut table = "| | model | what it is |\n|---|---|---|\n".to_owned();
    for model in MODELS {
        let name = model.name;
        let picture = format!(
            "<img src=\"gallery/{name}.png\" width=\"180\" style=\"min-width: 110px\" alt=\"{name}\">"
        );
        let link = format!("<a href=\"gallery/{name}.html\">{picture}</a>");
        let _ = writeln!(table, "| {link} | `{name}` | {} |", model.title());
    }
    assert_fresh("gallery.md", "gallery", &table);
}

/// Messages that the page about failures explains, from the first column of its tables.
#[test]
fn messages_that_the_book_explains_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A line that ends with a backslash goes on with the next word.
    let source = all_source(&root.join("crates/kreisel/src"));
    let source: String = source.split("\\\n").map(str::trim_start).collect();
    for message in rows_about_failures(&root) {
        assert!(source.contains(&message), "nothing says `{message}`");
    }
}

/// The first column of the page about failures.
fn rows_about_failures(root: &Path) -> Vec<String> {
    let page = fs::read_to_string(root.join("book/src/failures.md")).unwrap();
    let rows = page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned()));
    let rows: Vec<String> = rows.collect();
    assert!(rows.len() > 15, "{rows:?}");
    rows
}

/// Files with reasons why a computation does not start or go on.
const FAILURES: [(&str, &str); 15] = [
    ("machine/settings/mod.rs", "SettingsError"),
    ("integrate/scheme/parameters.rs", "ParameterError"),
    ("constrained/error.rs", "ConsistencyError"),
    ("integrate/error.rs", "StartError"),
    ("integrate/error.rs", "StepError"),
    ("machine/refusal.rs", "Refusal"),
    ("system/switch.rs", "SwitchError"),
    ("statics/error.rs", "StaticsError"),
    ("modes/mod.rs", "ModesError"),
    ("sweep/study.rs", "SweepError"),
    ("sweep/vary.rs", "VaryError"),
    ("sweep/journal.rs", "JournalError"),
    ("run/checkpoint.rs", "CheckpointError"),
    ("machine/led.rs", "LedError"),
    ("results/error.rs", "WriteError"),
];

/// Reasons that need no row.
const WITHOUT_ROW: &[(&str, &[&str])] = &[
    (
        "only a system of one's own in Rust can have it",
        &[
            "ConsistencyError::Count",
            "ConsistencyError::Values",
            "ConsistencyError::UndeclaredTime",
            "ConsistencyError::NoGradient",
            "StepError::EndBeforeNow",
        ],
    ),
    (
        "the model file and the flags refuse such a number with its key before anything runs",
        &[
            "StartError::Step",
            "StartError::Tolerance",
            "StepError::Step",
            "StaticsError::Target",
            "StaticsError::PathStep",
            "StaticsError::NoSteps",
            "ModesError::NoModes",
        ],
    ),
    (
        "words of one flag, which the message quotes with what is wrong about them",
        &[
            "SweepError::VariesTwice",
            "SweepError::Measure",
            "VaryError::NotANumber",
            "VaryError::Empty",
            "VaryError::NotPositive",
            "VaryError::TooMany",
        ],
    ),
    (
        "names that the model file refuses before anything runs",
        &["WriteError::BadFileName", "WriteError::BadName", "WriteError::DuplicateName"],
    ),
    (
        "the operating system's own words, or a fault of ours",
        &[
            "WriteError::RowLength",
            "WriteError::UnknownNode",
            "WriteError::Io",
            "SweepError::Threads",
            "CheckpointError::Io",
            "CheckpointError::State",
        ],
    ),
];

/// The variants of an enum with their messages; those that hand on the message of another have none.
fn variants(source: &str, name: &str) -> Vec<(String, String)> {
    let (_, rest) = source.split_once(&format!("pub enum {name} {{")).unwrap();
    let body = rest.split("\n}").next().unwrap();
    let mut variants = Vec::new();
    for part in body.split("#[error(").skip(1) {
        let (message, after) = part.split_once(")]").unwrap();
        let variant = after.trim_start().split(|letter: char| !letter.is_alphanumeric()).next().unwrap();
        // A line that ends with a backslash goes on with the next word.
        let lines = message.split("\\\n").map(str::trim_start);
        variants.push((format!("{name}::{variant}"), lines.collect::<Vec<_>>().concat()));
    }
    variants.retain(|(_, message)| message.contains('"'));
    variants
}

#[test]
fn every_failure_of_a_computation_has_a_row_in_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rows = rows_about_failures(&root);
    let listed: Vec<&str> = WITHOUT_ROW.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut without = Vec::new();
    for (file, name) in FAILURES {
        let source = fs::read_to_string(root.join("crates/kreisel/src").join(file)).unwrap();
        let found = variants(&source, name);
        assert!(!found.is_empty(), "{name} has no messages");
        for (variant, message) in found {
            let has_row = rows.iter().any(|row| message.contains(row.as_str()));
            let is_listed = listed.contains(&variant.as_str());
            assert!(!(has_row && is_listed), "{variant} has a row and is listed without one");
            if is_listed {
                without.push(variant);
            } else {
                assert!(has_row, "book/src/failures.md does not say what to do about {variant}: {message}");
            }
        }
    }
    assert_eq!(without.len(), listed.len(), "{listed:?} names variants that are no more");
}

fn all_source(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &all_source(&path);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all += &fs::read_to_string(&path).unwrap();
        }
    }
    all
}

/// The reference with the drawing of each part below its heading, and those of sections where beams are.
fn illustrated(reference: &str) -> String {
    let kinds = drawings::kinds();
    let mut page = String::new();
    for line in reference.lines() {
        let _ = writeln!(page, "{line}");
        let kind = line.strip_prefix("## `[[").and_then(|rest| rest.strip_suffix("]]`"));
        let Some(kind) = kind.filter(|kind| kinds.contains(kind)) else { continue };
        let _ = writeln!(page, "\n![The axes and signs of a {kind}](figures/parts/{kind}.svg)");
        if kind == "beam" {
            for section in drawings::sections() {
                let _ = writeln!(page, "![The keys of {section}](figures/parts/{section}.svg)");
            }
        }
    }
    page
}

#[test]
fn the_book_lists_every_part_and_its_keys() {
    assert_fresh("model-file.md", "reference", &illustrated(&reference_page(&part::kinds())));
}

/// Joints, forces, beams and their sections.
#[test]
fn the_book_draws_every_part_with_its_axes_and_signs() {
    assert_eq!(drawings::missing(), Vec::<String>::new(), "a part needs a drawing in tests/drawings");
    drawings::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/figures/parts"));
}

#[test]
fn the_book_lists_every_flag_of_a_setting() {
    let mut table = "| flag | default | meaning |\n|---|---|---|\n".to_owned();
    for setting in SETTINGS {
        let (Some(flag), key) = (&setting.flag, &setting.key) else { continue };
        let default = match key.need {
            Need::Default(text) => format!("`{}`", text.trim_matches('"')),
            Need::Required | Need::Optional => String::new(),
        };
        let _ = writeln!(table, "| `--{} {}` | {default} | {} |", key.name, flag.value, key.doc);
    }
    assert_fresh("running.md", "flags", &table);
}

#[test]
fn the_book_shows_how_round_off_depends_on_the_step() {
    let fresh = step_sizes_table().unwrap();
    // Rounding differs from processor to processor.
    assert_fresh_by("tables.md", "step sizes", &fresh, |part| assert_near(part, &fresh, 30.0));
}

/// Compares two tables of Kreisel beside others: our numbers may differ by a tenth of the tolerance of their
/// row.
fn assert_same_validation(part: &str, fresh: &str) {
    assert_eq!(part.lines().count(), fresh.lines().count(), "run `cargo xtask refresh`");
    for (old, new) in part.lines().zip(fresh.lines()) {
        let cells =
            |line: &str| -> Vec<String> { line.split('|').map(|cell| cell.trim().to_owned()).collect() };
        let (mut old, mut new) = (cells(old), cells(new));
        if let (Ok(a), Ok(b), Ok(tolerance)) =
            (old[5].parse::<f64>(), new[5].parse::<f64>(), new[6].parse::<f64>())
        {
            assert!((a - b).abs() <= 0.1 * tolerance, "{old:?} in the book, {new:?} now");
            (old[5], new[5]) = (String::new(), String::new());
        }
        assert_eq!(old, new, "run `cargo xtask refresh`");
    }
}

#[test]
fn the_book_shows_kreisel_beside_others() {
    let fresh = validation_table().unwrap();
    assert_fresh_by("validation.md", "validation", &fresh, |part| assert_same_validation(part, &fresh));
}
