//! What guards Python from panics, without Python.

#[path = "../src/guard.rs"]
mod guard;

use guard::{at_rest, guarded};
use std::sync::Mutex;

#[test]
fn a_panic_becomes_words_and_what_works_is_given_back() {
    assert_eq!(guarded(|| 3), Ok(3));
    let number = 7;
    for (outcome, words) in [
        (guarded(|| panic!("index {number} out of range")), "report it: index 7 out of range"),
        (guarded(|| panic!("plain words")), "report it: plain words"),
        (guarded(|| std::panic::panic_any(3.5)), "report it: unknown"),
    ] {
        let said: Result<(), String> = outcome;
        assert!(said.as_ref().is_err_and(|said| said.ends_with(words)), "{said:?}");
    }
}

#[test]
fn a_panic_in_another_thread_of_the_work_becomes_words_as_well() {
    let outcome = guarded(|| {
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| panic!("far away"));
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    let said: Result<(), String> = outcome;
    assert!(said.is_err_and(|said| said.ends_with("far away")));
}

#[test]
fn what_is_in_use_is_not_waited_for_and_a_panic_does_not_lock_it_for_good() {
    let number = Mutex::new(3);
    let taken = at_rest(&number);
    assert!(taken.is_some() && at_rest(&number).is_none());
    drop(taken);
    let outcome: Result<(), String> = guarded(|| {
        let _taken = at_rest(&number);
        panic!("while it was taken");
    });
    assert!(outcome.is_err() && number.is_poisoned());
    assert_eq!(at_rest(&number).map(|guard| *guard), Some(3));
}
