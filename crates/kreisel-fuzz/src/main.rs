//! `kreisel-fuzz [--executions N] [--first NUMBER]`: feeds numbered inputs to every reader on all cores.
//!
//! A failure is written to `found/TARGET-NUMBER` of this crate, where a test feeds it to its target from then
//! on. An input that never ends is shown by a watchdog; one that ends the process has its number in the last
//! line `at NUMBER`.

use kreisel_fuzz::{Corpus, execute};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Executions that a thread takes at once.
const CHUNK: u64 = 2_000;
/// Time after which an execution is given up, in s of wall time: other programs may hold it up.
const WATCHDOG: u64 = 120;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str, otherwise: u64| {
        let at = arguments.iter().position(|word| word == flag);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(otherwise)
    };
    let (count, first) = (number("--executions", 100_000), number("--first", 0));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = match Corpus::gather(&root.join("../../models")) {
        Ok(corpus) => corpus,
        Err(error) => {
            say(&format!("there is nothing to begin with: {error}\n"));
            return ExitCode::from(2);
        }
    };
    // Panics are caught and told by number.
    std::panic::set_hook(Box::new(|_| ()));
    let failures = all(&corpus, first, count, &root.join("found"));
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Runs the executions; gives the number of failures.
fn all(corpus: &Corpus, first: u64, count: u64, found: &Path) -> usize {
    let (next, done, failures) = (AtomicU64::new(first), AtomicU64::new(0), AtomicUsize::new(0));
    let end = first + count;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let present: Vec<AtomicU64> = (0..cores).map(|_| AtomicU64::new(u64::MAX)).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for present in &present {
            let work = || {
                loop {
                    let chunk = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if chunk >= end {
                        break;
                    }
                    for number in chunk..(chunk + CHUNK).min(end) {
                        present.store(number, Ordering::Relaxed);
                        if !one(corpus, number, found) {
                            failures.fetch_add(1, Ordering::Relaxed);
                        }
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
                present.store(u64::MAX, Ordering::Relaxed);
            };
            // Expressions may nest as deep as their limit on the stack of any thread.
            scope.spawn(work);
        }
        watch(&present, &done, count, start);
    });
    let failures = failures.into_inner();
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("{count} executions from {first} in {seconds:.0} s, {failures} failures\n"));
    failures
}

/// One execution; a failure is kept.
fn one(corpus: &Corpus, number: u64, found: &Path) -> bool {
    let (target, input) = corpus.input(number);
    let Err(failure) = execute(target, &input) else { return true };
    let path: PathBuf = found.join(format!("{}-{number}", target.name));
    let kept = std::fs::write(&path, &input);
    say(&format!("execution {number}, {}: {failure:?}; kept as {}: {kept:?}\n", target.name, path.display()));
    false
}

/// Tells now and then how far it is, and ends the process if an execution does not.
fn watch(present: &[AtomicU64], done: &AtomicU64, count: u64, start: Instant) {
    let mut last: Vec<(u64, Instant)> = present.iter().map(|_| (u64::MAX, Instant::now())).collect();
    let mut told = Instant::now();
    while done.load(Ordering::Relaxed) < count {
        std::thread::sleep(Duration::from_millis(50));
        for (present, last) in present.iter().zip(&mut last) {
            let number = present.load(Ordering::Relaxed);
            if number != last.0 {
                *last = (number, Instant::now());
            } else if number != u64::MAX && last.1.elapsed() > Duration::from_secs(WATCHDOG) {
                say(&format!("execution {number} does not end\n"));
                std::process::exit(1);
            }
        }
        if told.elapsed() > Duration::from_secs(20) {
            told = Instant::now();
            let at: Vec<u64> = present.iter().map(|number| number.load(Ordering::Relaxed)).collect();
            let seconds = start.elapsed().as_secs();
            say(&format!("{} executions after {seconds} s, at {at:?}\n", done.load(Ordering::Relaxed)));
        }
    }
}

fn say(words: &str) {
    let _ = std::io::stdout().write_all(words.as_bytes());
}
