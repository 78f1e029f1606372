//! The experiments from outside: every one that a paper's figure promises is there, and the quick ones come
//! out.

use kreisel_papers::experiment::{EXPERIMENTS, Finished, Progress, RunTime, run_all};

/// Every id, so that none is lost and none comes unseen.
const IDS: [&str; 51] = [
    "lie-algebra-eq53",
    "lie-algebra-fig03",
    "lie-algebra-fig04",
    "lie-algebra-fig05",
    "lie-algebra-fig06",
    "lie-algebra-fig07",
    "lie-algebra-fig08",
    "lie-algebra-fig09",
    "lie-algebra-fig10",
    "lie-algebra-fig11",
    "lie-algebra-fig12",
    "lie-algebra-fig13",
    "lie-algebra-fig14",
    "lie-algebra-fig15",
    "lie-algebra-fig16",
    "lie-algebra-fig17",
    "lie-algebra-fig18",
    "lie-algebra-fig19",
    "lie-algebra-fig20",
    "lie-algebra-fig21",
    "lie-algebra-radii",
    "lie-algebra-sec35",
    "lie-algebra-slow-top",
    "lie-group-fig2",
    "lie-group-fig4",
    "lie-group-fig6",
    "lie-group-values",
    "projection-fig1",
    "projection-fig2",
    "scaling-fig1",
    "scaling-fig2",
    "scaling-fig3",
    "scaling-fig4",
    "scaling-fig5",
    "scaling-fig6",
    "scaling-fig7",
    "scaling-fig8",
    "scaling-fig10",
    "scaling-fig11",
    "scaling-step-sizes",
    "soi2-fig1",
    "soi2-fig2",
    "soi2-fig4",
    "soi2-theorem1",
    "soi2-fig6",
    "soi2-fig7",
    "step-control-work-precision",
    "step-control-two-scales",
    "step-control-equal-error",
    "step-control-accuracy",
    "validation-other-programs",
];

#[test]
fn every_result_of_the_papers_has_its_experiment() {
    let found: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    assert_eq!(found, IDS);
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
