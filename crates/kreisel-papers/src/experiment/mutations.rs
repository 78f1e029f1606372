//! The experiments can fail: each of a list of mistakes breaks at least one of them, and what is left alone passes.

use super::{EXPERIMENTS, Outcome, Progress};
use crate::problem::mutation::{self, Mutation};

/// Mistakes, each with an experiment that must notice it.
const NOTICED: [(Mutation, &str); 8] = [
    (Mutation::GyroscopicSign, "lie-algebra-slow-top"),
    (Mutation::Inertia, "lie-algebra-slow-top"),
    (Mutation::Weight, "lie-algebra-slow-top"),
    (Mutation::ReactionMoment, "lie-algebra-slow-top"),
    (Mutation::Curvature, "lie-algebra-slow-top"),
    (Mutation::TrivialStart, "lie-algebra-slow-top"),
    (Mutation::Damping, "projection-fig2"),
    (Mutation::EarlyStop, "lie-algebra-fig15"),
];

fn outcome(id: &str) -> Option<Outcome> {
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.id == id).unwrap();
    (experiment.run)(&Progress::hidden()).ok()
}

#[test]
fn every_mistake_breaks_an_experiment_that_passes_without_it() {
    for (mistake, id) in NOTICED {
        // A run that cannot be computed is noticed as well.
        let noticed = mutation::with(mistake, || outcome(id)).is_none_or(|outcome| !outcome.passed());
        assert!(noticed, "{id} does not notice {mistake:?}");
    }
    for id in ["lie-algebra-slow-top", "projection-fig2", "lie-algebra-fig15"] {
        assert!(outcome(id).is_some_and(|outcome| outcome.passed()), "{id}");
    }
}
