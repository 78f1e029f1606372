//! Inputs that once made a reader fail, and some thousand new ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel_fuzz::{Corpus, TARGETS, execute};
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
    }
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
