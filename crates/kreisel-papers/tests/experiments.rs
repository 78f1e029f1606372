//! The experiments from outside: every one that a paper's figure promises is there, and the quick ones come out.

use kreisel_papers::experiment::{EXPERIMENTS, Finished, Progress, RunTime, run_all};

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

/// Those that take longer run with `cargo xtask test`.
#[test]
fn the_quick_experiments_pass_every_check() {
    let quick = EXPERIMENTS.iter().filter(|experiment| experiment.run_time == RunTime::Instant).collect();
    for Finished { experiment, outcome, .. } in run_all(quick, |_| Progress::hidden()) {
        let failed: Vec<_> = outcome.checks.iter().filter(|check| !check.pass).collect();
        assert!(failed.is_empty(), "{}: {failed:#?}", experiment.id);
    }
}
