//! Every command that README, book and `--help` show works as it stands there, and shows something.
//!
//! The lines of a page are run one after the other in a folder that has `models/` and `validation/` beside
//! it. Results that a line speaks of and nobody made yet are those of the model of that name. Experiments
//! that take long are left to `cargo xtask test reproduce`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod watching;

use kreisel::results::CsvTable;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use watching::Watching;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs a line in a shell.
fn shell(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}

/// A line in a shell that finds `kreisel` on its path, and no browser.
fn command(folder: &Path, line: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_kreisel")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path).env("BROWSER", "true");
    command
}

/// A folder in which the lines of a page are run.
fn place() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["models", "validation"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// Experiments of seconds, in place of those of minutes.
fn is_short(line: &str) -> bool {
    !line.contains("reproduce") || line.contains("--list") || line.contains("eq53")
}

/// Makes results that a line speaks of and that are not there.
fn prepare(folder: &Path, line: &str) {
    for word in line.split_whitespace().filter(|_| !line.contains("kreisel new")) {
        let Some(name) = word.strip_suffix(".toml").filter(|name| !name.contains('/')) else { continue };
        if !folder.join(word).exists() {
            assert!(
                shell(folder, &format!("kreisel new {name} --like heavy-top")).status.success(),
                "{name}"
            );
        }
    }
    for word in line.split_whitespace() {
        let Some(name) = word.strip_prefix("results/").filter(|name| !name.contains('.')) else { continue };
        let model = format!("models/{name}.toml");
        let is_written_by_line = line.contains("--out");
        if !is_written_by_line && !folder.join(word).exists() && folder.join(&model).exists() {
            assert!(shell(folder, &format!("kreisel run {model}")).status.success(), "{model}");
        }
    }
}

/// What goes on until it is stopped serves a page, and ends by Ctrl-C with the exit code for that.
fn watches(page: &str, folder: &Path, line: &str) {
    let mut watching = Watching::of(command(folder, &format!("exec {line}")));
    let state = watching.until(|state| state["standing"] != "running");
    assert_eq!(state["standing"], "done", "{page}: {line}\n{state}");
    watching.interrupt();
    assert_eq!(watching.ended(), Some(130), "{page}: {line}");
}

fn run_all(page: &str, lines: &[String]) {
    let folder = place();
    for line in lines.iter().filter(|line| is_short(line)) {
        prepare(folder.path(), line);
        if line.starts_with("kreisel watch") {
            watches(page, folder.path(), line);
            continue;
        }
        let output = shell(folder.path(), line);
        let [said, printed] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
        assert!(output.status.success(), "{page}: {line}\n{printed}{said}");
        assert!(!said.contains("is the same in all runs"), "{page}: {line} shows nothing\n{said}");
        let picture = line.split_whitespace().find(|word| word.ends_with(".svg"));
        if let Some(picture) = picture.filter(|_| line.starts_with("kreisel plot")) {
            let svg = fs::read_to_string(folder.path().join(picture)).unwrap();
            assert!(height_of_curves(&svg) > 50.0, "{page}: {line} draws flat lines");
        }
    }
}

/// How high the highest curve of a plot is, in pixels.
fn height_of_curves(svg: &str) -> f64 {
    let curves = svg
        .split("<path d=\"")
        .skip(1)
        .filter(|rest| rest.split_once('>').is_some_and(|(path, _)| path.contains("stroke-width=\"1.6\"")));
    let heights = curves.map(|curve| {
        let path = curve.split('"').next().unwrap();
        let numbers = path.split(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '-'));
        let numbers: Vec<f64> =
            numbers.filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect();
        let heights = numbers.chunks(2).map(|point| point[1]);
        let (low, high) =
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        high - low
    });
    heights.fold(0.0, f64::max)
}

/// Lines of blocks of shell commands that call the program, and whole commands among the things to try.
fn lines_of_page(text: &str) -> Vec<String> {
    let (mut is_shell, mut is_to_try) = (false, false);
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_to_try = heading == "Three things to try";
        }
        if line.starts_with("```") {
            is_shell = line == "```sh";
        } else if is_shell && line.starts_with("kreisel ") {
            lines.push(line.to_owned());
        } else if is_to_try {
            let code = line.split('`').skip(1).step_by(2);
            lines.extend(code.filter(|code| code.starts_with("kreisel ")).map(str::to_owned));
        }
    }
    lines
}

#[test]
fn commands_among_the_things_to_try_are_found() {
    let page = "`kreisel no`\n## Three things to try\n\n1. `kreisel run a.toml --set b=\"1 m\"`: see `b`.\n## More\n`kreisel no`\n";
    assert_eq!(lines_of_page(page), ["kreisel run a.toml --set b=\"1 m\""]);
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => pages.extend(self::pages(&path)),
            Some(ending) if ending == "md" => pages.push(path),
            _ => {}
        }
    }
    pages.sort();
    pages
}

#[test]
fn commands_of_the_readme_and_the_book_work() {
    let mut count = 0;
    for page in pages(&root().join("book/src")).into_iter().chain([root().join("README.md")]) {
        let lines = lines_of_page(&fs::read_to_string(&page).unwrap());
        count += lines.len();
        run_all(&page.display().to_string(), &lines);
    }
    assert!(count > 20, "{count} commands were found");
}

#[test]
fn commands_of_the_help_work() {
    let folder = place();
    let all = shell(folder.path(), "kreisel --help");
    let all = String::from_utf8(all.stdout).unwrap();
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| line.starts_with("  "));
    // What is wrapped stands further to the right.
    let firsts = commands.filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = firsts.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"sweep") && names.len() > 10, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let help = shell(folder.path(), &format!("kreisel {name} --help"));
        let help = String::from_utf8(help.stdout).unwrap().replace("\\\n", "");
        let lines: Vec<String> =
            help.lines().filter_map(|line| Some(line.strip_prefix("  ")?.to_owned())).collect();
        let examples: Vec<String> = lines.into_iter().filter(|line| line.starts_with("kreisel ")).collect();
        assert!(!examples.is_empty(), "`kreisel {name} --help` shows no example");
        run_all(&format!("kreisel {name} --help"), &examples);
    }
}

#[test]
fn the_linkage_of_the_page_for_beginners_swings_as_its_triangles_say() {
    let page = fs::read_to_string(root().join("book/src/first-paths.md")).unwrap();
    let model = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("linkage.toml"), model).unwrap();
    let output = shell(folder.path(), "kreisel run linkage.toml --quiet");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = CsvTable::read(&folder.path().join("results/linkage/trajectory.csv")).unwrap();
    let angle = table.column("pivot.angle").unwrap();
    let (least, most) =
        angle.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    // Crank 0.1, coupler √(0.3² + 0.2²), rocker 0.2 and ground 0.4: the rocker turns back where the first two lie on a line.
    let coupler = 0.3_f64.hypot(0.2);
    let at = |reach: f64| ((0.16 + 0.04 - reach * reach) / 0.16).acos();
    let swing = at(coupler + 0.1) - at(coupler - 0.1);
    assert!((swing.to_degrees() - 60.0).abs() < 0.05, "{swing}");
    // A thousandth of the run stands between two output times, and the accuracy is a thousandth.
    assert!((most - least - swing).abs() < 1e-3, "{}", most - least);
}
