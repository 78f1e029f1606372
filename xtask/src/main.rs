//! Chores of the project: `cargo xtask test` runs everything that must hold, `cargo xtask refresh` writes
//! what is generated.
//!
//! A chore needs the Rust toolchain and nothing else; a step that needs more installs it.

mod bench;
mod book;
mod cargo;
mod chart;
mod dist;
mod house;
mod installed;
mod instructions;
mod python;
mod reference;
mod steps;
mod supply;
mod viewer;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test           run every step that must hold
cargo xtask test STEP…     run some of them
cargo xtask test --list    list them
cargo xtask refresh        rewrite what is generated
cargo xtask house          count arrows, methods, names and lines of the library; --arrows, --names, --files
cargo xtask viewer         build the page that shows a run, from viewer/
cargo xtask gallery        photograph reports for the book, in Chromium
cargo xtask chart          draw the README's chart of speed from benches/README.md
cargo xtask wheel          build the Python package as a wheel into target/wheels
cargo xtask dist           archive, wheel and notes of a release into target/dist
cargo xtask supply-chain   licences, versions and build scripts of dependencies against deny.toml
cargo xtask sbom           list all dependencies as CycloneDX into target/kreisel.cdx.json
cargo xtask torture        kill runs at 200 random moments, let every write of a run fail once, and let them go on
cargo xtask soak           random machines of all kinds of parts: --machines N, --first K, --seconds S
cargo xtask fuzz           feed hostile input to every reader; --executions N, --first NUMBER
cargo xtask long           ten million steps of the heavy top, and of a pendulum that keeps its energy
cargo xtask hard           every model to its end with its step and a hundred times its step, and far with a hundredth
cargo xtask accuracy       smooth models and random machines: accuracies that are claimed are met
cargo xtask silence        every model with large steps, every method and both groups: bad runs must say so
cargo xtask steps          steps by the error against the fewest fixed ones of equal error, 66 runs
cargo xtask instructions   count instructions a step by Valgrind: --against COMMIT, --dev, --only WORD, --cache DIR
cargo xtask bench          measure Kreisel beside its peers; --quick, --rounds=N, --runs=N, --json=FILE, --only=precision
cargo xtask bench-python   measure what the Python package costs; --quick
";

/// The program of tests that asks whether results can be trusted.
const TRUST: [&str; 3] = ["kreisel", "--test", "trust"];

/// Runs what takes long of a program of tests without debugging aids, which would take hours.
fn run_long(program: &[&str], names: &str) -> Result<(), String> {
    run_long_with(program, names, &[])
}

/// The same with environment variables.
fn run_long_with(program: &[&str], names: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    let how = [names, "--", "--ignored", "--nocapture", "--test-threads=1"];
    cargo::run_with(&[&["test", "--release", "--package"], program, &how].concat(), variables)
}

/// Random machines from a number on, as many as are begun in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Soak {
    machines: u64,
    first: u64,
    seconds: Option<u64>,
}

impl Soak {
    /// How many machines, and from which number on; nothing else is an option.
    fn of(options: &[&str]) -> Result<Self, String> {
        let mut soak = Self { machines: 10_000, first: 0, seconds: None };
        for pair in options.chunks(2) {
            let [flag, value] = *pair else { return Err(format!("`{}` needs a number", pair[0])) };
            let number = value.parse().map_err(|_| format!("`{flag} {value}`: a number is wanted"));
            match flag {
                "--machines" => soak.machines = number?,
                "--first" => soak.first = number?,
                "--seconds" => soak.seconds = Some(number?),
                _ => {
                    return Err(format!(
                        "`cargo xtask soak` has no option `{flag}`, only --machines, --first and --seconds"
                    ));
                }
            }
        }
        Ok(soak)
    }

    fn run(self) -> Result<(), String> {
        let numbers =
            [("MACHINES", Some(self.machines)), ("FIRST", Some(self.first)), ("SECONDS", self.seconds)];
        let variables: Vec<(String, String)> = numbers
            .into_iter()
            .filter_map(|(name, number)| Some((format!("KREISEL_{name}"), number?.to_string())))
            .collect();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        run_long_with(&TRUST, "soak::many", &variables)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["test", "--list"] => {
            steps::list();
            ExitCode::SUCCESS
        }
        ["test", ref names @ ..] => match steps::choose(names) {
            Ok(chosen) if steps::run(&chosen, say) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::from(1),
            Err(unknown) => {
                say(&format!("there is no step `{unknown}`; `cargo xtask test --list` shows all\n"));
                ExitCode::from(2)
            }
        },
        ["refresh"] => conclude(refresh()),
        ["viewer"] => conclude(viewer::build()),
        ["house", ref options @ ..] => conclude(house::run(options)),
        ["chart"] => conclude(chart::draw()),
        ["gallery"] => conclude(viewer::gallery()),
        ["dist"] => conclude(dist::run()),
        ["wheel"] => conclude(python::wheel()),
        ["supply-chain"] => conclude(supply::check()),
        ["supply-chain", "--advisories"] => conclude(supply::check_with(true)),
        ["sbom"] => conclude(supply::bill_of_materials()),
        ["torture"] => conclude(
            cargo::test("checkpoint", &["--", "--ignored"], &[])
                .and_then(|()| cargo::test("faults", &["--", "--ignored"], &[])),
        ),
        ["soak", ref options @ ..] => match Soak::of(options) {
            Ok(soak) => conclude(soak.run()),
            Err(unknown) => {
                say(&format!("{unknown}\n"));
                ExitCode::from(2)
            }
        },
        ["fuzz", ref options @ ..] => conclude(cargo::run_release("kreisel-fuzz", options)),
        ["long"] => conclude(
            run_long(&["kreisel", "--test", "long"], "")
                .and_then(|()| run_long(&["kreisel", "--test", "convergence"], "over_ten_million_steps")),
        ),
        ["hard"] => conclude(run_long(&TRUST, "hard::")),
        ["accuracy"] => conclude(run_long(&TRUST, "promises::")),
        ["silence"] => conclude(run_long(&TRUST, "silence::")),
        ["steps"] => conclude(run_long(&["kreisel-papers", "--lib"], "equal_error::")),
        ["instructions", ref options @ ..] => instructions::run(options),
        ["bench", ref options @ ..] => bench::run(options),
        ["bench-python", ref options @ ..] => conclude(python::bench(options)),
        _ => {
            say(USAGE);
            ExitCode::from(2)
        }
    }
}

fn conclude(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&format!("{failure}\n"));
            ExitCode::from(1)
        }
    }
}

/// Experiments whose figures the book shows.
const FIGURES: [&str; 20] = [
    "lie-algebra-eq53",
    "lie-algebra-fig06",
    "lie-algebra-fig07",
    "lie-algebra-fig11",
    "lie-algebra-fig18",
    "lie-group-fig2",
    "lie-group-fig4",
    "lie-group-fig6",
    "projection-fig1",
    "projection-fig2",
    "scaling-fig3",
    "scaling-fig4",
    "scaling-fig8",
    "scaling-fig10",
    "scaling-fig11",
    "soi2-fig1",
    "soi2-fig2",
    "soi2-fig4",
    "soi2-fig6",
    "soi2-fig7",
];

/// Tests that compare what is generated write it when asked to; the command draws the book's figures.
fn refresh() -> Result<(), String> {
    for test in ["book", "parts", "texts"] {
        cargo::test(test, &["--quiet"], &[("KREISEL_REFRESH", "1")])?;
    }
    for id in FIGURES {
        cargo::kreisel(&["reproduce", id, "--plot", "book/src/figures"])?;
    }
    chart::draw()
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// Words on standard output; a closed stream leaves nobody to tell.
fn say(words: &str) {
    let mut stdout = io::stdout();
    let _ = stdout.write_all(words.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_soak_are_known_or_refused() {
        let all = Soak { machines: 10_000, first: 0, seconds: None };
        assert_eq!(Soak::of(&[]), Ok(all));
        let some = ["--first", "7", "--machines", "5", "--seconds", "60"];
        assert_eq!(Soak::of(&some), Ok(Soak { machines: 5, first: 7, seconds: Some(60) }));
        for wrong in
            [&["--machine", "5"][..], &["--machines"], &["--machines", "abc"], &["5"], &["--first", "-1"]]
        {
            assert!(Soak::of(wrong).is_err(), "{wrong:?}");
        }
    }
}
