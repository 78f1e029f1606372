//! `cargo xtask instructions`: processor instructions that a step takes, counted by Valgrind, here and in a
//! commit.
//!
//! Two runs with different numbers of steps are counted and subtracted, so that reading the model and writing
//! results cancel. Counts do not depend on what else the computer does, but say nothing of memory: a row of
//! 10,000 bodies is measured by the clock, both programs in turns.
//!
//! Counts of one program agree to 1e-4. The compiler may inline otherwise in another folder: dev builds of
//! the same source were 0.4 % apart in a step of the heavy top, and 0.01 % in larger ones.

use crate::reference::{Profile, Reference, default_cache, present_program};
use crate::{root, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Name, model and flags, step in s, and two numbers of steps.
struct Benchmark {
    name: &'static str,
    arguments: &'static str,
    step: f64,
    steps: [usize; 2],
}

/// So many steps that the part of the count that changes from run to run, the order of hash tables, is below
/// a thousandth.
const BENCHMARKS: [Benchmark; 8] = [
    benchmark("heavy top, index3", "heavy-top --method index3", 5e-4, [200, 10_200]),
    benchmark("heavy top, index2", "heavy-top --method index2", 5e-4, [200, 10_200]),
    benchmark("100 ball joints, index3", "chain-spherical --set n=100 --method index3", 1e-3, [20, 220]),
    benchmark("100 ball joints, index2", "chain-spherical --set n=100 --method index2", 1e-3, [20, 220]),
    benchmark("100 hinges, index2", "chain-revolute --set n=100 --method index2", 1e-3, [20, 220]),
    benchmark("right-angle beam, index3", "right-angle-beam --method index3", 0.2, [20, 145]),
    benchmark("four-bar, index2", "four-bar --method index2", 1e-3, [100, 2100]),
    benchmark("net of 100 knots, index2", "grid --set n=10 --method index2", 5e-3, [5, 55]),
];

/// What only the clock sees.
const LARGE: Benchmark =
    benchmark("10,000 ball joints, index2", "chain-spherical --set n=10000 --method index2", 1e-3, [2, 42]);

/// The shortest of so many rounds is taken: others were disturbed.
const ROUNDS: usize = 3;

const fn benchmark(name: &'static str, arguments: &'static str, step: f64, steps: [usize; 2]) -> Benchmark {
    Benchmark { name, arguments, step, steps }
}

impl Benchmark {
    /// The call of `kreisel` with one record at the start and one at the end.
    fn call(&self, steps: usize, out: &Path) -> Vec<String> {
        let (model, flags) = self.arguments.split_once(' ').unwrap_or((self.arguments, ""));
        let end = self.step * steps as f64;
        let text = format!(
            "run models/{model}.toml {flags} --step {} --end-time {end} --output-step {end} --quiet --no-report --force --out",
            self.step
        );
        let out = out.to_string_lossy().into_owned();
        text.split_whitespace().map(str::to_owned).chain([out]).collect()
    }

    /// What a step adds to a measure of whole runs.
    fn per_step(&self, measured: [f64; 2]) -> f64 {
        (measured[1] - measured[0]) / (self.steps[1] - self.steps[0]) as f64
    }
}

#[derive(Debug, PartialEq)]
struct Request {
    commit: Option<String>,
    profile: Profile,
    only: String,
    cache: PathBuf,
}

/// Counts and prints a table.
pub fn run(words: &[&str]) -> ExitCode {
    let request = match parse(words) {
        Ok(request) => request,
        Err(words) => {
            say(&format!("{words}\n"));
            return ExitCode::from(2);
        }
    };
    match measure(&request) {
        Ok(rows) => {
            say(&table(&rows, request.commit.as_deref()));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            say(&format!("{failure}\n"));
            ExitCode::from(1)
        }
    }
}

fn parse(words: &[&str]) -> Result<Request, String> {
    let mut request =
        Request { commit: None, profile: Profile::Release, only: String::new(), cache: default_cache() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value =
            || words.next().map(|word| (*word).to_owned()).ok_or(format!("`{word}` needs a value"));
        match *word {
            "--against" => request.commit = Some(value()?),
            "--dev" => request.profile = Profile::Dev,
            "--only" => request.only = value()?,
            "--cache" => request.cache = std::path::absolute(value()?).map_err(|error| error.to_string())?,
            _ => {
                return Err(format!(
                    "`{word}` is no option; there are --against COMMIT, --dev, --only WORD and --cache DIR"
                ));
            }
        }
    }
    Ok(request)
}

/// A program, the folder with its `models/`, and a folder for what it writes.
struct Program {
    path: PathBuf,
    tree: PathBuf,
    folder: PathBuf,
}

/// One line of the table: unit, here, and in the commit.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    unit: &'static str,
    present: f64,
    reference: Option<f64>,
}

fn measure(request: &Request) -> Result<Vec<Row>, String> {
    if !Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        return Err(
            "instructions are counted by Valgrind, which is not installed; on Debian: `apt install valgrind`"
                .to_owned(),
        );
    }
    let Request { commit, profile, only, cache } = request;
    let reference = commit.as_ref().map(|commit| Reference::check_out(cache, commit)).transpose()?;
    let old = match &reference {
        None => None,
        Some(reference) => Some(Program {
            path: reference.program(*profile)?,
            tree: reference.tree(),
            folder: reference.folder.join("instructions"),
        }),
    };
    // Both run the models of the commit.
    let tree = old.as_ref().map_or_else(root, |old| old.tree.clone());
    let path = present_program(&default_cache(), *profile)?;
    let new = Program { path, tree, folder: default_cache().join("now/instructions") };
    for program in [Some(&new), old.as_ref()].into_iter().flatten() {
        fs::create_dir_all(&program.folder)
            .map_err(|error| format!("{}: {error}", program.folder.display()))?;
    }
    let mut rows = Vec::new();
    for benchmark in BENCHMARKS.iter().filter(|benchmark| benchmark.name.contains(&**only)) {
        say(&format!("{}\n", benchmark.name));
        rows.push(Row {
            name: benchmark.name.to_owned(),
            unit: "instructions",
            present: count(&new, benchmark)?,
            reference: old.as_ref().map(|old| kept_count(old, benchmark, *profile)).transpose()?,
        });
    }
    if LARGE.name.contains(&**only) {
        say(&format!("{}\n", LARGE.name));
        rows.push(clock(&new, old.as_ref())?);
    }
    Ok(rows)
}

/// The count of a commit, which stays the same.
fn kept_count(program: &Program, benchmark: &Benchmark, profile: Profile) -> Result<f64, String> {
    let file = program
        .folder
        .join(format!("{profile:?} {} {:?}", benchmark.name, benchmark.steps).replace(' ', "-"));
    if let Some(count) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(count);
    }
    let count = count(program, benchmark)?;
    fs::write(&file, count.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(count)
}

/// Instructions a step.
fn count(program: &Program, benchmark: &Benchmark) -> Result<f64, String> {
    let mut counts = [0.0; 2];
    for (count, steps) in counts.iter_mut().zip(benchmark.steps) {
        let log = program.folder.join("valgrind.log");
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(format!("--log-file={}", log.display())).arg(&program.path);
        finish(&mut command, program, &benchmark.call(steps, &program.folder.join("out")))?;
        let text = fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        *count = collected(&text).ok_or_else(|| format!("Valgrind says no count:\n{text}"))?;
    }
    Ok(benchmark.per_step(counts))
}

/// The number of instructions out of Valgrind's words.
fn collected(log: &str) -> Option<f64> {
    log.lines().find_map(|line| line.split_once("Collected : ")?.1.split_whitespace().next()?.parse().ok())
}

/// Seconds of the processor a step, in turns.
fn clock(new: &Program, old: Option<&Program>) -> Result<Row, String> {
    let mut shortest = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (program, shortest) in [Some(new), old].into_iter().zip(&mut shortest) {
            let Some(program) = program else { continue };
            let mut times = [0.0; 2];
            for (time, steps) in times.iter_mut().zip(LARGE.steps) {
                let before = children_time()?;
                let call = LARGE.call(steps, &program.folder.join("out"));
                finish(&mut Command::new(&program.path), program, &call)?;
                *time = children_time()? - before;
            }
            *shortest = shortest.min(LARGE.per_step(times));
        }
    }
    let [present, reference] = shortest.map(|seconds| 1e3 * seconds);
    let reference = old.is_some().then_some(reference);
    Ok(Row { name: LARGE.name.to_owned(), unit: "ms of a processor", present, reference })
}

/// Seconds of the processor that ended children of this program have taken.
fn children_time() -> Result<f64, String> {
    let line = fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("only Linux tells how long programs have computed: {error}"))?;
    children_time_of(&line).ok_or_else(|| format!("/proc/self/stat is of another form: {line}"))
}

/// Fields 16 and 17 of the line, in 1/100 s; the name in brackets is field 2.
fn children_time_of(line: &str) -> Option<f64> {
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / 100.0)
}

fn finish(command: &mut Command, program: &Program, call: &[String]) -> Result<(), String> {
    let output = command
        .args(call)
        .current_dir(&program.tree)
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .map_err(|error| format!("{} did not start: {error}", program.path.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`kreisel {}`: {}", call.join(" "), String::from_utf8_lossy(&output.stderr)))
}

fn table(rows: &[Row], commit: Option<&str>) -> String {
    let mut text = match commit {
        None => "\n| a step of | in | here |\n|---|---|---|\n".to_owned(),
        Some(commit) => format!("\n| a step of | in | here | {commit} | ratio |\n|---|---|---|---|---|\n"),
    };
    for Row { name, unit, present, reference } in rows {
        text += &format!("| {name} | {unit} | {}", shown(*present));
        if let Some(reference) = reference {
            text += &format!(" | {} | {:.4}", shown(*reference), present / reference);
        }
        text += " |\n";
    }
    text
}

/// A large number whole, with its thousands apart; a small one with two digits behind the point.
fn shown(number: f64) -> String {
    if number < 1e4 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_run_cancels() {
        let benchmark = benchmark("top", "heavy-top --method index3", 0.5, [10, 30]);
        assert_eq!(benchmark.per_step([1000.0 + 10.0 * 7.0, 1000.0 + 30.0 * 7.0]), 7.0);
        let call = benchmark.call(10, Path::new("out")).join(" ");
        assert!(
            call.starts_with("run models/heavy-top.toml --method index3 --step 0.5 --end-time 5"),
            "{call}"
        );
        assert!(call.ends_with("--out out"), "{call}");
    }

    #[test]
    fn counts_and_times_are_read_from_what_others_write() {
        assert_eq!(
            collected("==7== Events    : Ir\n==7== Collected : 20942053\n==7==\n"),
            Some(20_942_053.0)
        );
        assert_eq!(collected("==7== no count\n"), None);
        assert_eq!(children_time_of("7 (x) R 1 1 1 0 -1 4194304 100 0 0 0 250 50 30 20 20 0 1"), Some(0.5));
    }

    #[test]
    fn the_table_has_ratios_to_the_commit() {
        let row =
            |reference| Row { name: "top".to_owned(), unit: "instructions", present: 1_234_567.0, reference };
        assert!(table(&[row(None)], None).ends_with("| top | instructions | 1,234,567 |\n"));
        let text = table(&[row(Some(1_000_000.0))], Some("abc"));
        assert!(text.ends_with("| top | instructions | 1,234,567 | 1,000,000 | 1.2346 |\n"), "{text}");
        assert_eq!((shown(81.234), shown(12_345.6)), ("81.23".to_owned(), "12,346".to_owned()));
    }

    #[test]
    fn unknown_options_are_refused() {
        assert_eq!(parse(&["--dev"]).unwrap().profile, Profile::Dev);
        assert_eq!(parse(&["--against", "HEAD"]).unwrap().commit.as_deref(), Some("HEAD"));
        assert!(parse(&["--against"]).is_err() && parse(&["--fast"]).is_err());
    }
}
