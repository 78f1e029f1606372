//! Behaviour of the whole solver, against dense LU and closed forms.

use nalgebra::DVector;

use super::samples::{Random, Sample, Scales};
use super::*;

fn random_vector(size: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..size).map(|_| random.symmetric()).collect()
}

/// Largest difference from a known solution, relative to its largest entry.
fn forward_error(sample: &Sample, solver: &mut SparseLu) -> f64 {
    let known = random_vector(sample.unknown_count(), 11);
    let mut solution = vec![0.0; known.len()];
    sample.matrix.multiply_add(1.0, &known, &mut solution);
    solver.solve(&mut solution);
    let error = solution.iter().zip(&known).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    error / largest(&known)
}

fn samples() -> Vec<Sample> {
    let mut samples = vec![
        Sample::chain(1, 3),
        Sample::chain(30, 3),
        Sample::chain(30, 5),
        Sample::beam(40),
        Sample::tree(40, 5),
        Sample::ring(12, 3),
        Sample::hub(30, 5),
        Sample::grid(6),
    ];
    samples.extend((0..12).map(|seed| Sample::random(seed, 4 + 3 * seed as usize, seed as usize)));
    samples
}

#[test]
fn solutions_agree_with_dense_lu() {
    for (index, sample) in samples().into_iter().enumerate() {
        let mut solver = SparseLu::new(sample.pattern.clone(), &sample.roles).unwrap();
        let health = solver.factor(&sample.matrix).unwrap();
        assert!(!health.fallback_used, "{index} {health:?}");
        let right_side = random_vector(sample.unknown_count(), 3);
        let mut solution = right_side.clone();
        solver.solve(&mut solution);
        let expected = sample.matrix.to_dense().lu().solve(&DVector::from_vec(right_side)).unwrap();
        let error = (DVector::from_vec(solution) - &expected).amax();
        // Condition numbers of these samples stay below 1e5.
        assert!(error < 1e-10 * (1.0 + expected.amax()), "{index}: {error} {health:?}");
    }
}
