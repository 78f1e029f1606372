//! Inputs that once made a reader fail, checkpoints damaged at every place, and some thousand new inputs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel_fuzz::corpus::{checkpoints, states};
use kreisel_fuzz::target::{Reached, go_on, goes_to};
use kreisel_fuzz::{Corpus, TARGETS, execute, watched};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn inputs_that_failed_once_fail_no_more() {
    for entry in std::fs::read_dir(root().join("found")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(target) = TARGETS.iter().find(|target| name.starts_with(target.name)) else { continue };
        let input = std::fs::read(&path).unwrap();
        assert_eq!(execute(target, &input), Ok(()), "{name}");
        if target.name == "resume" {
            // One of an old format is refused unread. What it found belongs to the damages below.
            assert!(
                go_on(&input) > Reached::Header,
                "{name} is of another format or model: it tests nothing"
            );
        }
    }
}

/// Numbers that no run writes: counts and lengths that overflow in sums and products, times and values that
/// are not finite, too large, or before all others.
const HOSTILE: [[u8; 8]; 5] = [
    u64::MAX.to_le_bytes(),
    (1_u64 << 61).to_le_bytes(),
    f64::NAN.to_le_bytes(),
    1e300_f64.to_le_bytes(),
    (-1.0_f64).to_le_bytes(),
];

/// Bytes from one damage to the next: every place within a number of eight bytes is met.
const STRIDE: usize = 7;

#[test]
fn checkpoints_damaged_behind_their_header_are_refused_or_go_on() {
    let whole = checkpoints().unwrap().pop().unwrap();
    assert_eq!(go_on(&whole), Reached::Steps, "without damage the run goes on");
    let mut reached = BTreeMap::new();
    for (number, at) in contents(&whole).into_iter().flatten().step_by(STRIDE).enumerate() {
        let mut damaged = whole.clone();
        damaged[at..at + 8].copy_from_slice(&HOSTILE[number % HOSTILE.len()]);
        let outcome = watched(go_on, &damaged).unwrap_or_else(|failure| panic!("byte {at}: {failure:?}"));
        *reached.entry(outcome).or_insert(0) += 1;
    }
    // All of them get beyond the header, and each kind of answer is among them.
    let kinds: Vec<Reached> = reached.keys().copied().collect();
    assert_eq!(kinds, [Reached::State, Reached::Files, Reached::Steps], "{reached:?}");
}

#[test]
fn states_of_steppers_damaged_anywhere_are_refused_or_gone_to() {
    let whole = states().unwrap().pop().unwrap();
    assert!(goes_to(&whole), "without damage the stepper takes it");
    let mut taken = [0, 0];
    for (number, at) in (12..whole.len() - 40).step_by(STRIDE).enumerate() {
        let mut damaged = whole.clone();
        damaged[at..at + 8].copy_from_slice(&HOSTILE[number % HOSTILE.len()]);
        let is_taken = watched(goes_to, &damaged).unwrap_or_else(|failure| panic!("byte {at}: {failure:?}"));
        taken[usize::from(is_taken)] += 1;
    }
    assert!(goes_to(&whole), "a state that was refused leaves the stepper as it was");
    assert!(taken.iter().all(|count| *count > 0), "refused and taken: {taken:?}");
}

/// Where eight bytes may be damaged in each section behind the header, its length left alone.
fn contents(checkpoint: &[u8]) -> Vec<Range<usize>> {
    // After mark and version.
    let mut at = 12;
    let mut contents = Vec::new();
    while at < checkpoint.len() - 32 {
        let length = u64::from_le_bytes(checkpoint[at..at + 8].try_into().unwrap()) as usize;
        contents.push(at + 8..at + 8 + length.saturating_sub(7));
        at += 8 + length;
    }
    contents.split_off(1)
}

#[test]
fn some_thousand_inputs_are_read_or_refused() {
    let corpus = Corpus::gather(&root().join("../../models")).unwrap();
    let count = std::env::var("KREISEL_EXECUTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000);
    for number in 0..count {
        let (target, input) = corpus.input(number);
        let outcome = execute(target, &input);
        assert_eq!(outcome, Ok(()), "execution {number} of `{}`", target.name);
    }
}
