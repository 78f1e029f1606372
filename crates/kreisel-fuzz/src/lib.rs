//! Hostile input for every reader of Kreisel: a mutating generator and the targets that it feeds.
//!
//! A target must give a value or an error for any bytes: no panic, no more than a second of processor time,
//! no more than 1 GB of memory. Executions are numbered, and an input depends on nothing but the target and
//! its number, so that a number is all that is needed to see a failure again.

pub mod corpus;
pub mod mutate;
pub mod target;

pub use corpus::Corpus;
pub use target::{TARGETS, Target};

/// Most processor time of one execution, in s.
pub const MAX_SECONDS: f64 = 1.0;
/// Most memory of one execution, in bytes.
pub const MAX_BYTES: u64 = 1_000_000_000;

/// What went wrong with an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// It made the program panic.
    Panic(String),
    /// It took so many seconds.
    Slow(f64),
    /// It took so many bytes.
    Large(u64),
}

/// Feeds one input to a target and watches it.
pub fn execute(target: &Target, input: &[u8]) -> Result<(), Failure> {
    watched(target.run, input)
}

/// What a reader makes of an input, if it neither panics nor takes too much.
pub fn watched<T>(read: fn(&[u8]) -> T, input: &[u8]) -> Result<T, Failure> {
    let start = seconds();
    let mut outcome = None;
    let memory = allocation_counter::measure(|| {
        outcome = Some(std::panic::catch_unwind(|| read(input)));
    });
    let taken = seconds() - start;
    let value = match outcome {
        Some(Ok(value)) => value,
        Some(Err(panic)) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            return Err(Failure::Panic(text.unwrap_or_default()));
        }
        None => return Err(Failure::Panic("it was not run".to_owned())),
    };
    if taken > MAX_SECONDS {
        return Err(Failure::Slow(taken));
    }
    if memory.bytes_max > MAX_BYTES {
        return Err(Failure::Large(memory.bytes_max));
    }
    Ok(value)
}

/// Processor time of this thread in s: other programs do not count.
fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
