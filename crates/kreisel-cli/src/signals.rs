//! Signals that end the program: Ctrl-C, a scheduler's SIGTERM, a closed terminal. The work stops after the
//! present step and keeps what was computed; a second signal ends the program at once.

use signal_hook::consts as signal;
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Signals that ask for an end.
#[cfg(unix)]
const ENDINGS: &[i32] = &[signal::SIGINT, signal::SIGTERM, signal::SIGHUP];
#[cfg(not(unix))]
const ENDINGS: &[i32] = &[signal::SIGINT, signal::SIGTERM];

/// The signal that came last, 0 before one did.
static LAST: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// A flag that such a signal raises.
pub fn interrupt_flag() -> io::Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    let last = LAST.get_or_init(Arc::default);
    for &number in ENDINGS {
        // In this order: the first signal finds the flag down, the second one up.
        flag::register_conditional_shutdown(number, i32::from(code(number)), Arc::clone(&raised))?;
        flag::register_usize(number, Arc::clone(last), number.unsigned_abs() as usize)?;
        flag::register(number, Arc::clone(&raised))?;
    }
    Ok(raised)
}

/// Exit code of a program that a signal ended, as shells count: 128 and the signal's number.
pub fn exit_code() -> u8 {
    let number = LAST.get().map_or(0, |last| last.load(Ordering::Relaxed));
    i32::try_from(number).ok().filter(|number| *number > 0).map_or(code(signal::SIGINT), code)
}

fn code(number: i32) -> u8 {
    u8::try_from(128 + number).unwrap_or(u8::MAX)
}

/// Makes a write beyond the limit of a file's size an error, in place of the end of the program.
pub fn outlive_file_limit() {
    #[cfg(unix)]
    // Without it the program ends there, as it would have.
    let _ = flag::register(signal::SIGXFSZ, Arc::default());
}
