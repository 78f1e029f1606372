//! What the benchmarks share: a clock of CPU time and the line in which a measurement is reported.

use std::io::{self, Write};
use std::time::Instant;

/// A stopwatch for the CPU time of this thread.
///
/// On a busy machine the time on the wall counts the work of others too; CPU time does not.
pub struct Stopwatch {
    cpu: Option<u64>,
    wall: Instant,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { cpu: thread_nanoseconds(), wall: Instant::now() }
    }

    /// Seconds since the start; where the system tells no CPU time, those on the wall.
    pub fn seconds(&self) -> f64 {
        match (self.cpu, thread_nanoseconds()) {
            (Some(start), Some(end)) => 1e-9 * (end - start) as f64,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// CPU time of this thread, on Linux.
fn thread_nanoseconds() -> Option<u64> {
    // The kernel brings the number up to date when it schedules; giving way makes it do so now.
    std::thread::yield_now();
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    line.split(' ').next()?.parse().ok()
}

/// Times a repetition `runs` times and reports every time in µs per step, with the error of the last.
pub fn report(benchmark: &str, program: &str, runs: usize, mut repetition: impl FnMut() -> Measurement) {
    for _ in 0..runs {
        let Measurement { seconds, steps, error } = repetition();
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
}

/// The number after `--runs`, or 5.
pub fn runs() -> usize {
    let mut words = std::env::args().skip_while(|word| word != "--runs").skip(1);
    words.next().and_then(|word| word.parse().ok()).unwrap_or(5)
}
