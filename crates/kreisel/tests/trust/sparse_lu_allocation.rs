//! Factoring and solving allocate nothing once a pattern is analysed.

#![allow(clippy::unwrap_used)]

use kreisel::solve::sparse_lu::samples::{SampleMatrix, SampleScales};
use kreisel::solve::sparse_lu::{Regularization, SparseLu};

fn allocations_of_a_refactorisation(mut sample: SampleMatrix, regularization: Option<Regularization>) -> u64 {
    let mut solver = SparseLu::new(sample.pattern.clone(), &sample.roles).unwrap();
    if let Some(regularization) = regularization {
        solver.regularize(regularization).unwrap();
    }
    solver.factor(&sample.matrix).unwrap();
    sample.set_values(2, SampleScales { mass_ratio: 100.0, time_step: 1e-2 });
    let mut vector = vec![1.0; sample.unknown_count()];
    allocation_counter::measure(|| {
        let health = solver.factor(&sample.matrix).unwrap();
        assert!(!health.fallback_used);
        solver.solve(&mut vector);
    })
    .count_total
}

#[test]
fn factoring_and_solving_a_chain_allocates_nothing() {
    assert_eq!(allocations_of_a_refactorisation(SampleMatrix::chain(50, 3), None), 0);
}

#[test]
fn factoring_and_solving_a_grid_with_large_fronts_allocates_nothing() {
    assert_eq!(allocations_of_a_refactorisation(SampleMatrix::grid(16), None), 0);
}

#[test]
fn refining_a_regularized_solution_allocates_nothing() {
    let regularization = Some(Regularization::default());
    assert_eq!(allocations_of_a_refactorisation(SampleMatrix::ring(20, 5), regularization), 0);
}
