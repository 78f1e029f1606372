//! Checks the book without building it: every page is in the summary, every link leads somewhere, and code
//! comes from files that are compiled. Then builds it and looks at it in a browser.

use crate::python::{output, output_in};
use crate::{cargo, root, say, viewer};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The mdBook that builds the book; without what serves and searches it, which takes longer to build.
const MDBOOK: &str = "0.5.4";

/// Builds the book into `target/book` and opens every page in Chromium.
pub fn look() -> Result<(), String> {
    viewer::install()?;
    viewer::install_chromium()?;
    let (tool, built) = (mdbook()?, cargo::target().join("book"));
    let _ = fs::remove_dir_all(&built);
    output(Command::new(tool).arg("build").arg(root().join("book")).arg("--dest-dir").arg(&built))?;
    live_pages(&built.join("gallery"))?;
    say(&output(Command::new("node").arg("viewer/test/book.mjs").arg(&built))?);
    Ok(())
}

/// Runs every model that comes with the program: its page, and a small picture that leads there.
fn live_pages(pages: &Path) -> Result<(), String> {
    cargo::kreisel(&["--version"])?;
    let program = cargo::target().join("debug/kreisel");
    let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
    let work = cargo::target().join("gallery-pages");
    let _ = fs::remove_dir_all(&work);
    for folder in [&work, pages] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let kreisel = |words: &[&str]| output_in(Command::new(&program).args(words), &work);
    let list = kreisel(&["new", "--list"])?;
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let (file, results) = (format!("{name}.toml"), format!("results/{name}"));
        kreisel(&["new", name, "--like", name])?;
        kreisel(&["run", &file, "--quiet"])?;
        let picture = pages.join(format!("{name}.png"));
        kreisel(&["render", &results, "-o", &picture.to_string_lossy(), "--size", "180,120"])?;
        let page = pages.join(format!("{name}.html"));
        fs::copy(work.join(&results).join("report.html"), &page)
            .map_err(|error| format!("{}: {error}", page.display()))?;
    }
    Ok(())
}

/// The program that builds the book, which is built once.
fn mdbook() -> Result<PathBuf, String> {
    let tools = cargo::target().join("tools");
    let program = tools.join("bin").join(if cfg!(windows) { "mdbook.exe" } else { "mdbook" });
    let found = output(Command::new(&program).arg("--version")).unwrap_or_default();
    if found.trim() != format!("mdbook v{MDBOOK}") {
        say(&format!("installing mdbook {MDBOOK}\n"));
        let tools = tools.to_string_lossy();
        let place = ["--root", &tools, "--locked", "--no-default-features", "--force"];
        cargo::run(&[&["install", "mdbook", "--version", MDBOOK], &place[..]].concat())?;
    }
    Ok(program)
}

/// Checks the book in `folder`; the error lists everything that is wrong.
pub fn check(folder: &Path) -> Result<(), String> {
    let source = folder.join("src");
    let mut complaints = Vec::new();
    let summary = read(&source.join("SUMMARY.md"), &mut complaints);
    let mut listed = vec![source.join("SUMMARY.md")];
    listed.extend(links(&summary).into_iter().map(|link| source.join(link)));
    for page in pages(&source, &mut complaints) {
        if !listed.contains(&page) {
            complaints.push(format!("{}: not in SUMMARY.md", page.display()));
        }
        let text = read(&page, &mut complaints);
        complaints.extend(page_complaints(&page, &text));
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

fn read(path: &Path, complaints: &mut Vec<String>) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| {
        complaints.push(format!("{}: {error}", path.display()));
        String::new()
    })
}

/// The Markdown files of a folder and its folders.
fn pages(folder: &Path, complaints: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            complaints.push(format!("{}: {error}", folder.display()));
            return Vec::new();
        }
    };
    let mut pages = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            pages.extend(self::pages(&path, complaints));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

fn page_complaints(page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().unwrap_or(Path::new(""));
    let mut complaints = Vec::new();
    for link in links(text) {
        if !folder.join(&link).exists() {
            complaints.push(format!("the link to {link} leads nowhere"));
        }
    }
    complaints.extend(includes(text).iter().filter_map(|include| include_complaint(folder, include)));
    complaints.extend(code_complaints(text));
    if text.matches("$$").count() % 2 == 1 {
        complaints.push("a formula opened by $$ is not closed".to_owned());
    }
    complaints.into_iter().map(|complaint| format!("{}: {complaint}", page.display())).collect()
}

/// Targets of `[words](target)` within the book, without the part after `#`.
fn links(text: &str) -> Vec<String> {
    let targets = without_code(text);
    let targets = targets.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let paths = targets.map(|(target, _)| target.split('#').next().unwrap_or(""));
    paths.filter(|path| !path.is_empty() && !path.contains("://")).map(str::to_owned).collect()
}

/// The text without fenced blocks and without `code`, in which brackets are no links.
fn without_code(text: &str) -> String {
    let prose = text.split("```").step_by(2).collect::<String>();
    prose.split('`').step_by(2).collect()
}

/// Arguments of `{{#include …}}` and its relatives.
fn includes(text: &str) -> Vec<String> {
    let calls = text.split("{{#").skip(1).filter_map(|rest| rest.split_once("}}"));
    calls
        .filter_map(|(call, _)| call.split_once(' '))
        .filter(|(name, _)| name.ends_with("include"))
        .map(|(_, argument)| argument.trim().to_owned())
        .collect()
}

/// An include names a file and perhaps an anchor or lines: `../../path.rs:anchor`.
fn include_complaint(folder: &Path, include: &str) -> Option<String> {
    let (path, part) = include.split_once(':').unwrap_or((include, ""));
    let Ok(included) = fs::read_to_string(folder.join(path)) else {
        return Some(format!("the included file {path} cannot be read"));
    };
    let is_anchor = part.chars().next().is_some_and(char::is_alphabetic);
    let has_anchor = included.lines().any(|line| line.trim_end().ends_with(&format!("ANCHOR: {part}")));
    (is_anchor && !has_anchor).then(|| format!("{path} has no anchor `{part}`"))
}

/// Rust code on a page is included from a file that is compiled.
fn code_complaints(text: &str) -> Vec<String> {
    let blocks = text.split("```").skip(1).step_by(2);
    let is_rust = |block: &&str| block.starts_with("rust") && !block.contains("include ");
    blocks
        .filter(is_rust)
        .map(|block| format!("Rust code is not included from a file: {}", block.lines().nth(1).unwrap_or("")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        page_complaints(&Path::new(env!("CARGO_MANIFEST_DIR")).join("page.md"), text)
    }

    #[test]
    fn links_to_files_are_followed_and_others_left_alone() {
        assert!(
            complaints("[a](Cargo.toml) [b](#part) [c](https://example.org/x) `[d](gone.md)`").is_empty()
        );
        assert_eq!(complaints("[a](gone.md#part)").len(), 1);
    }

    #[test]
    fn included_files_and_anchors_must_exist() {
        assert!(complaints("```rust\n{{#include src/main.rs}}\n```").is_empty());
        assert!(complaints("{{#include src/main.rs:3:5}}").is_empty());
        assert_eq!(complaints("{{#rustdoc_include src/gone.rs}}").len(), 1);
        assert_eq!(complaints("{{#include src/main.rs:gone}}").len(), 1);
    }

    #[test]
    fn rust_code_comes_from_compiled_files() {
        assert_eq!(complaints("```rust\nlet x = 1;\n```").len(), 1);
        assert!(complaints("```sh\ncargo run\n```").is_empty());
    }

    #[test]
    fn formulas_are_closed() {
        assert_eq!(complaints("$$ a = b").len(), 1);
        assert!(complaints("$$ a = b $$").is_empty());
    }
}
