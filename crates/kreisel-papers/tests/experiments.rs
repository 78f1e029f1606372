//! The experiments from outside: every one that a paper's figure promises is there, and the quick ones come out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel_papers::experiment::{EXPERIMENTS, RunTime};
use std::process::Command;

#[test]
fn every_result_of_the_papers_has_its_experiment() {
    let figures = (3..=21).map(|figure| format!("lie-algebra-fig{figure:02}"));
    let others = ["lie-algebra-eq53", "lie-algebra-sec35", "lie-algebra-slow-top"];
    let papers = ["lie-group-fig2", "lie-group-fig4", "lie-group-fig6", "projection-fig1", "projection-fig2"];
    let soi2 = ["soi2-fig1", "soi2-fig2", "soi2-fig4", "soi2-fig6", "soi2-fig7"];
    let scaling = (1..=8).map(|figure| format!("scaling-fig{figure}"));
    for id in figures.chain(scaling).chain(others.into_iter().chain(papers).chain(soi2).map(str::to_owned)) {
        assert!(EXPERIMENTS.iter().any(|experiment| experiment.id == id), "{id}");
    }
}

/// Those that take longer run with `cargo xtask test`, in release mode.
#[test]
fn the_quick_experiments_pass_every_check() {
    let is_quick = |run_time: RunTime| run_time == RunTime::Instant;
    let ids = EXPERIMENTS.iter().filter(|experiment| is_quick(experiment.run_time)).map(|one| one.id);
    let output = Command::new(env!("CARGO_BIN_EXE_kreisel")).arg("reproduce").args(ids).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
}
