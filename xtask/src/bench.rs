//! `cargo xtask bench`: Kreisel and its peers side by side, as ratios.
//!
//! Programs take turns, round after round, so that what else the computer does falls on all of them; within a
//! round each runs a few times. A program prints one line per run, with tabs: benchmark, program, CPU time
//! per step in µs, error; or, instead of a time, the word `cannot` and why. Kreisel also prints what it
//! promises of itself: the word `limit`, what is measured, the value, the most it may be.

mod precision;

use crate::python::{environment, output};
use crate::{chart, root, say};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The program that ratios refer to.
const PEER: &str = "exudyn";

/// Models that Kreisel and its peers run in turn. A new one is one line.
struct Benchmark {
    /// Target of `cargo bench`.
    target: &'static str,
    /// Scripts in `benches/`, one per peer.
    scripts: &'static [&'static str],
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark { target: "heavy_top", scripts: &["heavy_top.py"] },
    Benchmark { target: "chain", scripts: &["chain.py", "mujoco_chain.py"] },
    Benchmark { target: "beam", scripts: &["beam.py"] },
    Benchmark { target: "balls", scripts: &["mujoco_balls.py"] },
];

/// Benchmarks that Exudyn does not run: what a step is measured in steps of, and how many of them it may take. Both
/// programs show a fortieth of a second up to the same time.
const BESIDE_MUJOCO: &[(&str, &str, &str)] = &[
    (
        "falling-balls-1000-0.050",
        "1000 balls, until 0.050 s: an attempted step in steps of MuJoCo of 0.5 ms",
        "3",
    ),
    ("falling-balls-1000-0.100", "the same until 0.100 s", "3"),
    ("falling-balls-1000-0.150", "the same until 0.150 s", "3"),
];

/// CPU time of a step of the peer in µs on the computer for which limits in ns and µs were set. How much
/// slower the present one is, is the median over the benchmarks.
const PEER_TIMES: &[(&str, f64)] = &[
    ("heavy-top", 9.3),
    ("chain-spherical-10", 130.0),
    ("chain-spherical-100", 1271.0),
    ("chain-spherical-1000", 10_380.0),
    ("chain-spherical-4000", 50_120.0),
    ("chain-revolute-100", 1500.0),
    ("chain-revolute-1000", 12_300.0),
    ("right-angle-10-coarse", 607.0),
    ("right-angle-10-fine", 414.0),
    ("right-angle-100", 5709.0),
    ("right-angle-1000", 39_234.0),
    ("four-bar-beams", 1654.0),
    ("flying-beam-50", 1927.0),
    ("flying-beam-500", 17_870.0),
];

/// Target of `cargo bench` that measures what Kreisel promises of itself, without peers.
const LIMITS: &str = "limits";

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    rounds: usize,
    runs: usize,
    /// Fewer steps of what Kreisel promises of itself.
    quick: bool,
    json: Option<PathBuf>,
    /// Only work against precision.
    only_precision: bool,
}

/// Runs every benchmark and prints the table.
pub fn run(words: &[&str]) -> ExitCode {
    let (failure, code) = match parse(words).map(measure) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => (failure, 1),
        Err(senseless) => (senseless, 2),
    };
    say(&format!("{failure}\n"));
    ExitCode::from(code)
}

fn measure(request: Request) -> Result<(), String> {
    let python = environment("peers", &[PEER, "mujoco", "numpy", "scipy"])?;
    if request.only_precision {
        return precision::measure(&python);
    }
    let runs = request.runs.to_string();
    let mut results = Results::default();
    for round in 0..request.rounds {
        for Benchmark { target, scripts } in BENCHMARKS {
            say(&format!("{target}: round {} of {}\n", round + 1, request.rounds));
            for script in *scripts {
                let script = root().join("benches").join(script);
                // -B: no compiled copies of the scripts beside them.
                let mut command = Command::new(&python);
                results.take(round, &output(command.arg("-B").arg(script).args(["--runs", &runs]))?);
            }
            results.take(round, &output(kreisel(target).args(["--runs", &runs]))?);
        }
    }
    let mut limits = kreisel(LIMITS);
    results.take(0, &output(limits.args(request.quick.then_some("--quick")))?);
    let rows = results.rows();
    say(&table(&rows));
    say(&results.remarks());
    if !request.quick {
        precision::measure(&python)?;
    }
    // Of the table that is kept, which takes over what was printed.
    chart::draw()?;
    say(
        "the README's chart is drawn from the table in benches/README.md; take over the numbers above and draw it by `cargo xtask chart`\n",
    );
    match request.json {
        None => Ok(()),
        Some(path) => std::fs::write(&path, json(&rows)).map_err(|e| format!("{}: {e}", path.display())),
    }
}

/// A target of `cargo bench`, ready for its own arguments.
fn kreisel(target: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--quiet", "--package", "kreisel", "--bench", target, "--"]);
    command
}

fn parse(words: &[&str]) -> Result<Request, String> {
    let mut request = Request { rounds: 7, runs: 5, quick: false, json: None, only_precision: false };
    for word in words {
        match word.split_once('=') {
            None if *word == "--quick" => (request.rounds, request.runs, request.quick) = (1, 1, true),
            Some(("--only", "precision")) => request.only_precision = true,
            Some(("--json", path)) if !path.is_empty() => request.json = Some(path.into()),
            Some((name @ ("--rounds" | "--runs"), number)) => {
                let count = if name == "--rounds" { &mut request.rounds } else { &mut request.runs };
                let number = number.parse().ok().filter(|&number| number > 0);
                *count = number.ok_or_else(|| format!("`{word}`: a whole number from 1 on is needed"))?;
            }
            _ => {
                return Err(format!(
                    "`{word}` is no option; there are --quick, --rounds=N, --runs=N, --json=FILE and \
                     --only=precision"
                ));
            }
        }
    }
    Ok(request)
}

/// Times of one program on one benchmark.
#[derive(Default)]
struct Runs {
    /// µs per step with the number of the round.
    times: Vec<(usize, f64)>,
    error: f64,
}

impl Runs {
    fn median(&self) -> f64 {
        median(self.times.iter().map(|&(_, time)| time).collect())
    }

    fn median_of_round(&self, round: usize) -> f64 {
        median(self.times.iter().filter(|&&(of, _)| of == round).map(|&(_, time)| time).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Everything that was printed so far.
#[derive(Default)]
struct Results {
    /// By benchmark and program.
    runs: BTreeMap<(String, String), Runs>,
    /// Why a program cannot run a benchmark, by benchmark and program.
    refusals: BTreeMap<(String, String), String>,
    /// What Kreisel promises: what, value, limit.
    limits: Vec<[String; 3]>,
}

/// One line of the table.
#[derive(Debug, PartialEq)]
struct Row {
    benchmark: String,
    program: String,
    cpu_us_per_step: f64,
    error: f64,
    /// Against the peer's median.
    ratio: f64,
    /// Smallest and largest ratio of a single round in which both ran.
    spread: (f64, f64),
}

impl Results {
    /// Takes the measurements out of what a program printed; other lines are its own talk.
    fn take(&mut self, round: usize, printed: &str) {
        for line in printed.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [benchmark, program, time, error] = words[..] else { continue };
            let key = (benchmark.to_owned(), program.to_owned());
            match (benchmark, time, time.parse(), error.parse()) {
                ("limit", ..) => self.limits.push([program, time, error].map(str::to_owned)),
                (_, "cannot", ..) => {
                    self.refusals.insert(key, error.to_owned());
                }
                (_, _, Ok(time), Ok(error)) => {
                    let runs = self.runs.entry(key).or_default();
                    runs.times.push((round, time));
                    runs.error = error;
                }
                _ => {}
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |((benchmark, program), runs): (&(String, String), &Runs)| {
            let peer = self.runs.get(&(benchmark.clone(), PEER.to_owned()))?;
            let rounds: Vec<usize> = runs.times.iter().map(|&(round, _)| round).collect();
            let ratios =
                rounds.iter().map(|&round| runs.median_of_round(round) / peer.median_of_round(round));
            let spread =
                ratios.fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
            Some(Row {
                benchmark: benchmark.clone(),
                program: program.clone(),
                cpu_us_per_step: runs.median(),
                error: runs.error,
                ratio: runs.median() / peer.median(),
                spread,
            })
        };
        self.runs.iter().filter_map(row).collect()
    }

    /// What a peer cannot do, and what Kreisel keeps to.
    fn remarks(&self) -> String {
        let mut text = String::new();
        for ((benchmark, program), why) in &self.refusals {
            text += &format!("\n{program} does not run {benchmark}: {why}");
        }
        let limits: Vec<[String; 3]> = self.beside_mujoco().chain(self.limits.iter().cloned()).collect();
        if limits.is_empty() {
            return text;
        }
        let slowness = self.slowness();
        if slowness.is_finite() {
            text += &format!(
                "\n\nA step of Exudyn takes {slowness:.2} times as long as on the computer for which limits in ns and µs were set; \
                 they are multiplied by that."
            );
        }
        text += "\n\n| what | measured | at most | at most here |\n|---|---|---|---|\n";
        for [what, value, limit] in &limits {
            text += &format!("| {what} | {value} | {limit} | {} |\n", here(limit, slowness));
        }
        text
    }

    /// Steps of Kreisel in steps of MuJoCo, medians of all rounds.
    fn beside_mujoco(&self) -> impl Iterator<Item = [String; 3]> + '_ {
        let median = |benchmark: &str, program: &str| {
            self.runs.get(&(benchmark.to_owned(), program.to_owned())).map(Runs::median)
        };
        BESIDE_MUJOCO.iter().filter_map(move |(benchmark, what, most)| {
            let mujoco = median(benchmark, "mujoco")?;
            let own = ["kreisel", "kreisel, equal steps"].map(|program| median(benchmark, program));
            let [by_error, equal] = own.map(|time| time.map_or(f64::NAN, |time| time / mujoco));
            Some([
                (*what).to_owned(),
                format!("{by_error:.2} ({equal:.2} with equal steps)"),
                (*most).to_owned(),
            ])
        })
    }

    /// How much slower this computer is than the one that limits were set for; not a number without the
    /// peer's times.
    fn slowness(&self) -> f64 {
        let ratio = |&(benchmark, there): &(&str, f64)| {
            let runs = self.runs.get(&(benchmark.to_owned(), PEER.to_owned()))?;
            Some(runs.median() / there)
        };
        median(PEER_TIMES.iter().filter_map(ratio).collect())
    }
}

/// A limit as it is on this computer: times in ns and µs depend on it.
fn here(limit: &str, slowness: f64) -> String {
    match limit.split_once(' ') {
        Some((number, unit @ ("ns" | "µs"))) if slowness.is_finite() => number
            .parse()
            .map_or_else(|_| limit.to_owned(), |number: f64| format!("{:.0} {unit}", number * slowness)),
        _ => limit.to_owned(),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n| benchmark | program | ratio to Exudyn | of single rounds | CPU µs a step | error |\n|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let Row { benchmark, program, cpu_us_per_step, error, ratio, spread: (low, high) } = row;
        text += &format!(
            "| {benchmark} | {program} | {ratio:.3} | {low:.3} to {high:.3} | {cpu_us_per_step:.2} | {} |\n",
            shown(*error)
        );
    }
    text
}

/// An error in few digits; what was not measured is not a number.
fn shown(error: f64) -> String {
    if error.is_finite() { format!("{error:.2e}") } else { "–".to_owned() }
}

/// The rows as JSON; names hold no characters that JSON escapes.
fn json(rows: &[Row]) -> String {
    let object = |row: &Row| {
        let error = if row.error.is_finite() { format!("{:e}", row.error) } else { "null".to_owned() };
        format!(
            "  {{\"benchmark\": \"{}\", \"program\": \"{}\", \"cpu_us_per_step\": {}, \"error\": {error}, \
             \"ratio_to_exudyn\": {}}}",
            row.benchmark, row.program, row.cpu_us_per_step, row.ratio
        )
    };
    format!("[\n{}\n]\n", rows.iter().map(object).collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rounds() -> Vec<Row> {
        let mut results = Results::default();
        results.take(
            0,
            "Imported exudyn\ntop\texudyn\t10\t2e-5\ntop\texudyn\t12\t2e-5\ntop\texudyn\t11\t2e-5\n",
        );
        results.take(0, "top\tkreisel\t1.1\t1e-5\n");
        results.take(1, "top\texudyn\t22\t2e-5\n");
        results.take(1, "top\tkreisel\t4.4\t1e-5\n");
        results.rows()
    }

    #[test]
    fn ratios_are_those_of_medians_and_their_spread_that_of_rounds() {
        let rows = two_rounds();
        let kreisel = rows.iter().find(|row| row.program == "kreisel").unwrap();
        // Upper medians of an even number of values: 4.4 of (1.1, 4.4) and 12 of (10, 11, 12, 22).
        assert!((kreisel.ratio - 4.4 / 12.0).abs() < 1e-12);
        assert!((kreisel.spread.0 - 0.1).abs() < 1e-12 && (kreisel.spread.1 - 0.2).abs() < 1e-12);
        assert_eq!(rows.iter().find(|row| row.program == PEER).unwrap().ratio, 1.0);
    }

    #[test]
    fn the_json_is_a_list_with_one_object_per_program() {
        let text = json(&two_rounds());
        assert_eq!(text.matches("\"benchmark\": \"top\"").count(), 2);
        assert!(text.contains("\"program\": \"kreisel\", \"cpu_us_per_step\": 4.4, \"error\": 1e-5,"));
    }

    #[test]
    fn what_a_peer_cannot_do_is_stated_and_what_kreisel_promises_is_listed() {
        let mut results = Results::default();
        results.take(0, "top\tmujoco\tcannot\tno such joint\nlimit\tmemory a body\t3 kB\t20 kB\n");
        assert_eq!(results.rows(), []);
        let text = results.remarks();
        assert!(text.contains("mujoco does not run top: no such joint"), "{text}");
        assert!(text.contains("| memory a body | 3 kB | 20 kB | 20 kB |"), "{text}");
    }

    #[test]
    fn balls_are_measured_in_steps_of_mujoco() {
        let mut results = Results::default();
        let lines =
            "falling-balls-1000-0.150\tmujoco\t2000\tnan\nfalling-balls-1000-0.150\tkreisel\t5000\tnan\n";
        results.take(0, lines);
        assert_eq!(results.rows(), []);
        let text = results.remarks();
        assert!(text.contains("| the same until 0.150 s | 2.50 (NaN with equal steps) | 3 | 3 |"), "{text}");
    }

    #[test]
    fn limits_of_time_grow_with_what_the_peer_takes_here() {
        let mut results = Results::default();
        results.take(
            0,
            "four-bar-beams\texudyn\t3308\t1\nlimit\ta step\t20 µs\t15 µs\nlimit\tsteps\t14.1\t20\n",
        );
        let text = results.remarks();
        assert!(text.contains("takes 2.00 times as long"), "{text}");
        assert!(text.contains("| a step | 20 µs | 15 µs | 30 µs |"), "{text}");
        assert!(text.contains("| steps | 14.1 | 20 | 20 |"), "{text}");
    }

    #[test]
    fn an_error_that_was_not_measured_is_null() {
        let mut results = Results::default();
        results.take(0, "top\texudyn\t10\tnan\n");
        assert!(json(&results.rows()).contains("\"error\": null"));
        assert!(table(&results.rows()).contains("| – |"));
    }

    #[test]
    fn unknown_options_are_refused() {
        assert!(parse(&["--quick"]).unwrap().quick && !parse(&[]).unwrap().quick);
        assert_eq!(parse(&["--json=a.json"]).unwrap().json, Some("a.json".into()));
        assert!(parse(&["--json"]).is_err() && parse(&["--json="]).is_err() && parse(&["quick"]).is_err());
        let request = parse(&["--rounds=3", "--runs=2"]).unwrap();
        assert_eq!((request.rounds, request.runs), (3, 2));
        assert!(parse(&["--only=precision"]).unwrap().only_precision && parse(&["--only=all"]).is_err());
        assert!(parse(&["--rounds=0"]).is_err() && parse(&["--rounds=x"]).is_err());
    }
}
