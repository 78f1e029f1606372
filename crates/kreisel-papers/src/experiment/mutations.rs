//! The experiments can fail: each of a list of mistakes breaks at least one of them, and what is left alone
//! passes.

use super::{EXPERIMENTS, Outcome, Progress};
use crate::problem::mutation::{self, Mutation};

/// Mistakes, each with an experiment that must notice it. Not every experiment notices every one: with steps
/// of 0.2 s the cantilever of `lie-group-fig4` hardly changes with ρ∞ = 0.5 or with another first guess.
const NOTICED: &[(Mutation, &str)] = &[
    (Mutation::GyroscopicSign, "lie-algebra-slow-top"),
    (Mutation::Inertia, "lie-algebra-slow-top"),
    (Mutation::Weight, "lie-algebra-slow-top"),
    (Mutation::ReactionMoment, "lie-algebra-slow-top"),
    (Mutation::Curvature, "lie-algebra-slow-top"),
    (Mutation::TrivialStart, "lie-algebra-slow-top"),
    (Mutation::Damping, "projection-fig2"),
    (Mutation::EarlyStop, "lie-algebra-fig15"),
    (Mutation::Predictor, "lie-group-fig6"),
    (Mutation::Matrix, "lie-group-fig4"),
    (Mutation::BeamInertia, "lie-group-values"),
    (Mutation::BeamStiffness, "lie-group-values"),
    (Mutation::Load, "lie-group-values"),
    (Mutation::Drive, "lie-group-values"),
    (Mutation::Scale, "scaling-fig4"),
    (Mutation::Scale, "scaling-fig8"),
    (Mutation::ReactionSign, "soi2-fig1"),
    (Mutation::UncorrectedStep, "soi2-fig1"),
    (Mutation::Reference, "soi2-fig1"),
    (Mutation::Damping, "soi2-theorem1"),
    (Mutation::EarlyStop, "soi2-fig7"),
    (Mutation::Accuracy, "step-control-accuracy"),
];

fn outcome(id: &str) -> Option<Outcome> {
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.id == id).unwrap();
    (experiment.run)(&Progress::hidden()).ok()
}

#[test]
fn every_mistake_breaks_an_experiment_that_passes_without_it() {
    // A run that cannot be computed is noticed as well.
    let passes = |(mistake, id): &&(Mutation, &str)| {
        mutation::with(*mistake, || outcome(id)).is_some_and(|outcome| outcome.passed())
    };
    let unnoticed: Vec<_> = NOTICED.iter().filter(passes).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
    let ids: std::collections::BTreeSet<&str> = NOTICED.iter().map(|(_, id)| *id).collect();
    for id in ids {
        assert!(outcome(id).is_some_and(|outcome| outcome.passed()), "{id}");
    }
}
