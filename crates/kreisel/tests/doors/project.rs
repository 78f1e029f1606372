//! Tests about the project itself: citations, the paths that pages name, dependencies, leftovers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::dae::NoteKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are not part of the project, wherever they are.
const FOREIGN: [&str; 4] = [".git", ".venv", "node_modules", "target"];

/// Folders that are not part of the project at its root.
const FOREIGN_AT_ROOT: [&str; 2] = ["results", "worktrees"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text file under `folder`, with its content.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let is_foreign = |folders: &[&str]| folders.iter().any(|foreign| name == *foreign);
        if is_foreign(&FOREIGN) || folder == root() && is_foreign(&FOREIGN_AT_ROOT) {
            continue;
        }
        if path.is_dir() {
            texts.extend(self::texts(&path));
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push((path, text));
        }
    }
    texts
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

/// Keys of citations: a bracket, letters, a year, perhaps letters.
fn cited_keys(text: &str) -> BTreeSet<String> {
    let words = text.split('[').skip(1).map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    });
    words.filter(|word| is_key(word)).map(str::to_owned).collect()
}

fn is_key(word: &str) -> bool {
    let year = word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let suffix = year.trim_start_matches(|letter: char| letter.is_ascii_digit());
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && year.len() - suffix.len() == 4
        && suffix.chars().all(|letter| letter.is_ascii_alphabetic())
}

fn bibliography_keys() -> BTreeSet<String> {
    let bibliography = fs::read_to_string(root().join("references.bib")).unwrap();
    let entries = bibliography.lines().filter_map(|line| line.strip_prefix('@')?.split_once('{'));
    entries.map(|(_, key)| key.trim_end_matches(',').to_owned()).collect()
}

/// Sources and pages of the book with the keys that they cite.
fn citations() -> Vec<(PathBuf, BTreeSet<String>)> {
    let sources = texts(&root().join("crates")).into_iter().filter(|(path, _)| has_extension(path, "rs"));
    let pages = texts(&root().join("book/src")).into_iter().filter(|(path, _)| has_extension(path, "md"));
    sources.chain(pages).map(|(path, text)| (path, cited_keys(&text))).collect()
}

#[test]
fn every_citation_is_in_the_bibliography() {
    let known = bibliography_keys();
    for (path, keys) in citations() {
        let unknown: Vec<_> = keys.difference(&known).collect();
        assert!(unknown.is_empty(), "{} cites {unknown:?}", path.display());
    }
}

#[test]
fn every_entry_of_the_bibliography_is_cited() {
    let cited: BTreeSet<String> = citations().into_iter().flat_map(|(_, keys)| keys).collect();
    let unused: Vec<_> = bibliography_keys().into_iter().filter(|key| !cited.contains(key)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn citations_are_told_from_other_brackets() {
    // With another bracket here, so that this file cites nothing.
    let text = "<Abc2015, Eq. (1)>, <Abc2015Def; x>, <f64; 2000>, a<0>, <Word>, <x2015>, <Abc20155>";
    assert_eq!(
        cited_keys(&text.replace('<', "[")).into_iter().collect::<Vec<_>>(),
        ["Abc2015", "Abc2015Def"]
    );
}

/// Spans of `code` outside blocks that look like a path of the project.
fn named_paths(page: &str) -> Vec<&str> {
    let prose: Vec<&str> = page.split("```").step_by(2).collect();
    let spans = prose.into_iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    let is_file = |span: &&str| [".rs", ".md", ".toml", ".bib"].iter().any(|ending| span.ends_with(ending));
    spans.filter(|span| (span.contains('/') || is_file(span)) && !span.contains(' ')).collect()
}

#[test]
fn every_path_that_a_page_names_exists() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let paths = named_paths(&text);
        assert!(!paths.is_empty(), "{page} names no path");
        for path in paths {
            assert!(root().join(path).exists(), "{page} names `{path}`");
        }
    }
}

/// Words of a text: letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

#[test]
fn every_name_of_the_notation_is_in_the_source() {
    let page = fs::read_to_string(root().join("book/src/notation.md")).unwrap();
    let table = page.split("## Letters and names").nth(1).unwrap().split("## ").next().unwrap();
    let names = table
        .lines()
        .filter_map(|line| line.split('|').nth(2))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let source = texts(&root().join("crates/kreisel/src"));
    let known: BTreeSet<&str> = source.iter().flat_map(|(_, text)| words(text)).collect();
    let mut count = 0;
    for name in names.map(|name| words(name).next().unwrap()) {
        assert!(known.contains(name), "`{name}` of the notation is not in the source");
        count += 1;
    }
    assert!(count > 20, "the table of names was found: {count}");
}

#[test]
fn the_book_explains_every_kind_of_warning() {
    let page = fs::read_to_string(root().join("book/src/running.md")).unwrap();
    let table = page.split("## Warnings").nth(1).unwrap().split("## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.split('|').nth(1));
    let explained: Vec<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let words: Vec<&str> = NoteKind::ALL.iter().map(|kind| kind.word()).collect();
    assert_eq!(explained, words);
}

#[test]
fn every_link_of_the_readme_leads_somewhere() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    for (target, _) in targets.filter(|(target, _)| !target.contains("://")) {
        assert!(root().join(target).exists(), "{target}");
    }
}

/// Crates that a manifest of the workspace asks for, our own left out.
fn dependencies() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, manifest) in texts(&root()).into_iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            } else if section.ends_with("dependencies]") && section != "[workspace.dependencies]" {
                names.extend(line.split_once(['.', ' ', '=']).map(|(name, _)| name.to_owned()));
            }
        }
    }
    names.retain(|name| !name.starts_with("kreisel") && !name.starts_with('#'));
    names
}

#[test]
fn the_architecture_gives_a_reason_for_every_dependency() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = page.split_once("## Dependencies").expect("the page has a table of dependencies");
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next());
    let explained: BTreeSet<String> = cells
        .filter(|cell| cell.trim() != "crate")
        .flat_map(|cell| cell.split(','))
        .filter_map(|name| name.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert_eq!(explained, dependencies(), "left: ARCHITECTURE.md, right: the manifests");
}

#[test]
fn nothing_is_left_over_from_work_in_progress() {
    // Put together here, so that this file does not contain them.
    let notes = [["TO", "DO"], ["FIX", "ME"]].map(|parts| parts.concat());
    let places = ["home", "root", "tmp", "work", "Users"].map(|folder| format!("/{folder}/"));
    for (path, text) in texts(&root()) {
        for word in notes.iter().chain(&places) {
            let line = text.lines().position(|line| line.contains(word.as_str()));
            assert!(line.is_none(), "{}:{} contains {word}", path.display(), line.unwrap_or(0) + 1);
        }
    }
}
