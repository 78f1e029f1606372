//! What the benchmarks share: a clock of CPU time, model files, and the line in which a measurement is
//! reported.

#![allow(dead_code, reason = "every benchmark takes a part of it")]

use std::io::{self, Write};
use std::path::Path;

use kreisel::integrate::Statistics;
use kreisel::machine::Machine;

/// A stopwatch for the CPU time of this thread.
///
/// On a busy machine the time on the wall counts the work of others too; CPU time does not.
pub struct Stopwatch(f64);

impl Stopwatch {
    pub fn start() -> Self {
        Self(thread_time())
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        thread_time() - self.0
    }
}

/// CPU time of this thread in seconds.
#[cfg(unix)]
pub fn thread_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Where the system tells no CPU time, the time on the wall in seconds.
#[cfg(not(unix))]
pub fn thread_time() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// A machine of `models/` with parameters of its own.
pub fn machine(model: &str, parameters: &[(&str, &str)]) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    Machine::read(&path, parameters).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// The middle one of some values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times a repetition `runs` times and reports every time in µs per step, with its error; and, on standard
/// error, the work.
pub fn report(benchmark: &str, program: &str, runs: usize, mut repetition: impl FnMut() -> Measurement) {
    for run in 0..runs {
        let Measurement { seconds, steps, error, work } = repetition();
        if run == 0 {
            let of = |count: u64| count as f64 / work.steps.max(1) as f64;
            let (iterations, matrices) = (of(work.iterations), of(work.matrices));
            let words = format!(
                "{benchmark}, {program}: {iterations:.2} iterations, {matrices:.2} matrices a step\n"
            );
            let _ = io::stderr().write_all(words.as_bytes());
        }
        let line = format!("{benchmark}\t{program}\t{:.6}\t{error:.6e}\n", 1e6 * seconds / steps as f64);
        // A closed stream leaves nobody to tell.
        let _ = io::stdout().write_all(line.as_bytes());
    }
}

/// One repetition of a benchmark.
pub struct Measurement {
    pub seconds: f64,
    pub steps: usize,
    pub error: f64,
    pub work: Statistics,
}

/// The number after `--runs`, or 5.
pub fn runs() -> usize {
    let mut words = std::env::args().skip_while(|word| word != "--runs").skip(1);
    words.next().and_then(|word| word.parse().ok()).unwrap_or(5)
}

/// Whether a benchmark is asked for: those named in the arguments, alone or with a program behind a slash, or
/// all.
pub fn asked(benchmark: &str, program: &str) -> bool {
    let mut words = std::env::args().skip(1).peekable();
    let mut any = false;
    while let Some(word) = words.next() {
        if ["--runs", "--errors"].contains(&&*word) {
            words.next();
        } else if !word.starts_with("--") {
            any = true;
            let (name, only) = word.split_once('/').unwrap_or((&word, program));
            if (name, only) == (benchmark, program) {
                return true;
            }
        }
    }
    !any
}
