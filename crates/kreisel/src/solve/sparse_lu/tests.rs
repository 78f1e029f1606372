//! Behaviour of the whole solver, against dense LU, pseudo-inverses and closed forms.

use nalgebra::{DMatrix, DVector, Vector3};

use super::samples::{Random, SampleMachine, SampleMatrix, SampleScales};
use super::*;

fn random_vector(size: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..size).map(|_| random.symmetric()).collect()
}

fn solver_of(sample: &SampleMatrix) -> SparseLu {
    SparseLu::new(sample.pattern.clone(), &sample.roles).unwrap()
}

/// Largest difference from a known solution, relative to its largest entry.
fn forward_error(sample: &SampleMatrix, solver: &mut SparseLu) -> f64 {
    let known = random_vector(sample.unknown_count(), 11);
    let mut solution = vec![0.0; known.len()];
    sample.matrix.multiply_add(1.0, &known, &mut solution);
    solver.solve(&mut solution);
    let error = solution.iter().zip(&known).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    error / largest(&known)
}

/// A hub whose arms are also joined in a ring: every arm closes loops at the hub.
fn wheel(arms: usize) -> SampleMatrix {
    let mut machine = SampleMachine { body_count: arms + 1, ..SampleMachine::default() };
    for arm in 1..=arms {
        machine.joints.push((vec![0, arm], 3));
        machine.joints.push((vec![arm, arm % arms + 1], 2));
    }
    SampleMatrix::new(machine)
}

fn samples() -> Vec<SampleMatrix> {
    let mut samples = vec![
        SampleMatrix::chain(1, 3),
        SampleMatrix::chain(30, 3),
        SampleMatrix::chain(30, 5),
        SampleMatrix::beam(40),
        SampleMatrix::tree(40, 5),
        SampleMatrix::ring(12, 3),
        SampleMatrix::hub(30, 5),
        SampleMatrix::grid(6),
        SampleMatrix::lattice(6),
        wheel(20),
    ];
    samples.extend((0..12).map(|seed| SampleMatrix::random(seed, 4 + 3 * seed as usize, 2 * seed as usize)));
    samples
}

#[test]
fn negative_eigenvalues_are_as_many_as_in_a_dense_matrix() {
    for sample in samples() {
        for shift in [0.0, 0.3, 5.0] {
            let mut matrix = sample.matrix.clone();
            let pattern = matrix.pattern().clone();
            let transposed = matrix.to_dense().transpose();
            for (block, row, column) in pattern.blocks() {
                let (rows, columns) = (pattern.row_range(row), pattern.column_range(column));
                let mirrored = transposed.view((rows.start, columns.start), (rows.len(), columns.len()));
                let symmetric = 0.5 * (matrix.block(block) + mirrored);
                matrix.block_mut(block).copy_from(&symmetric);
                if row == column && sample.roles[row] == Role::Primary {
                    let mut view = matrix.block_mut(block);
                    (0..view.nrows()).for_each(|i| view[(i, i)] -= shift * (1.0 + (i % 3) as f64));
                }
            }
            let dense = matrix.to_dense();
            let copy = faer::Mat::from_fn(dense.nrows(), dense.ncols(), |i, j| dense[(i, j)]);
            let values = copy.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            let expected = values.iter().filter(|value| **value < 0.0).count();
            let mut solver = solver_of(&sample);
            solver.adapt_and_factor(&matrix).unwrap();
            assert_eq!(solver.negative_eigenvalues(), Some(expected), "{shift}");
        }
    }
}

#[test]
fn a_solution_found_on_the_way_is_that_of_the_factors_to_the_bit() {
    for sample in samples() {
        let mut solver = solver_of(&sample);
        let right_side = random_vector(sample.unknown_count(), 3);
        let mut on_the_way = right_side.clone();
        let health = solver.factor_and_solve(&sample.matrix, &mut on_the_way).unwrap();
        let mut afterwards = right_side;
        assert_eq!(solver.factor(&sample.matrix).unwrap(), health);
        solver.solve(&mut afterwards);
        assert_eq!(on_the_way, afterwards);
    }
}

#[test]
fn a_right_side_whose_matrix_cannot_be_factored_stays_as_it_is() {
    let mut sample = SampleMatrix::chain(4, 3);
    sample.matrix.values_mut()[0] = f64::NAN;
    let mut solver = solver_of(&sample);
    let mut right_side = vec![1.0; sample.unknown_count()];
    assert!(solver.factor_and_solve(&sample.matrix, &mut right_side).is_err());
    assert!(right_side.iter().all(|value| *value == 1.0));
}

#[test]
fn solutions_agree_with_dense_lu() {
    for (index, sample) in samples().into_iter().enumerate() {
        let mut solver = solver_of(&sample);
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

#[test]
fn small_random_machines_with_many_loops_never_need_the_fall_back() {
    for seed in 0..300 {
        let sample = SampleMatrix::random(seed, 2 + seed as usize % 12, seed as usize % 9);
        let mut solver = solver_of(&sample);
        let health = solver.factor(&sample.matrix).unwrap();
        assert!(!health.fallback_used, "{seed} {health:?}");
        // A random B of few freedoms is at times nearly dependent; 1e-6 leaves room for condition 1e10.
        let error = forward_error(&sample, &mut solver);
        assert!(error < 1e-6, "{seed}: {error} {health:?}");
    }
}

#[test]
fn wide_mass_ratios_and_large_steps_keep_eight_digits() {
    // Condition numbers grow to about 1e6 (masses) and 1e2 (stiffness 1e4 h²) times those of the samples.
    for scales in [
        SampleScales { mass_ratio: 1e6, ..SampleScales::default() },
        SampleScales { time_step: 0.1, ..SampleScales::default() },
        SampleScales { mass_ratio: 1e6, time_step: 0.1 },
    ] {
        for (index, mut sample) in samples().into_iter().enumerate() {
            sample.set_values(7, scales);
            let mut solver = solver_of(&sample);
            let health = solver.factor(&sample.matrix).unwrap();
            let error = forward_error(&sample, &mut solver);
            assert!(!health.fallback_used && error < 1e-8, "{index} {scales:?}: {error} {health:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_unknowns_are_solved() {
    for sample in [SampleMatrix::chain(11_112, 3), SampleMatrix::tree(9_100, 5), SampleMatrix::grid(82)] {
        assert!(sample.unknown_count() >= 100_000);
        let mut solver = solver_of(&sample);
        let health = solver.factor(&sample.matrix).unwrap();
        let error = forward_error(&sample, &mut solver);
        // Among ten thousand random joints some are nearly dependent: (B M⁻¹ Bᵀ)⁻¹ reaches 1e8.
        assert!(error < 1e-6, "{error} {health:?}");
    }
}

#[test]
fn the_same_matrix_gives_the_same_bits() {
    let mut sample = SampleMatrix::grid(7);
    let mut solver = solver_of(&sample);
    let solution_of = |solver: &mut SparseLu, sample: &SampleMatrix| {
        solver.factor(&sample.matrix).unwrap();
        let mut vector = random_vector(sample.unknown_count(), 5);
        solver.solve(&mut vector);
        vector
    };
    let first = solution_of(&mut solver, &sample);
    sample.set_values(9, SampleScales::default());
    solution_of(&mut solver, &sample);
    sample.set_values(1, SampleScales::default());
    assert_eq!(solution_of(&mut solver, &sample), first);
    assert_eq!(solution_of(&mut solver_of(&sample), &sample), first);
}

/// Groups without unknowns among fronts that are too large to be small: in a border by themselves, and as
/// only pivots.
#[test]
fn large_fronts_may_have_groups_without_unknowns() {
    let sizes = [30, 0, 30, 25, 0, 0, 60];
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 6), (4, 5), (4, 6), (2, 6), (5, 6), (0, 6)];
    let blocks = pairs.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
    let pattern = Arc::new(BlockPattern::new(&sizes, &sizes, blocks.chain((0..sizes.len()).map(|i| (i, i)))));
    let mut matrix = BlockMatrix::zeros(pattern.clone());
    let mut random = Random::new(4);
    for (block, row, column) in pattern.blocks() {
        let dominance = if row == column { 100.0 } else { 0.0 };
        let mut block = matrix.block_mut(block);
        block.iter_mut().for_each(|value| *value = random.symmetric());
        (0..block.nrows().min(block.ncols())).for_each(|i| block[(i, i)] += dominance);
    }
    let known = random_vector(pattern.row_count(), 11);
    for kind in [Role::Primary, Role::Multiplier] {
        let roles = sizes.map(|size| if size == 0 { kind } else { Role::Primary });
        let mut solver = SparseLu::new(pattern.clone(), &roles).unwrap();
        solver.factor(&matrix).unwrap();
        let mut solution = vec![0.0; known.len()];
        matrix.multiply_add(1.0, &known, &mut solution);
        solver.solve(&mut solution);
        let error = solution.iter().zip(&known).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(error < 1e-13, "{error:e}");
    }
}

#[test]
fn groups_without_unknowns_and_empty_patterns_are_accepted() {
    let pattern = BlockPattern::new(&[2, 0, 1, 0], &[2, 0, 1, 0], [(0, 0), (1, 0), (2, 0), (0, 2), (3, 1)]);
    let roles = [Role::Primary, Role::Primary, Role::Multiplier, Role::Multiplier];
    let mut matrix = BlockMatrix::zeros(Arc::new(pattern));
    // [[2, 0, 1], [0, 4, 1], [1, 1, 0]] (x) = (3, 5, 2) has the solution (1, 1, 1).
    let blocks = [((0, 0), vec![2.0, 0.0, 0.0, 4.0]), ((2, 0), vec![1.0; 2]), ((0, 2), vec![1.0; 2])];
    for ((row, column), values) in blocks {
        let block = matrix.pattern().find(row, column).unwrap();
        let range = matrix.pattern().value_range(block);
        matrix.values_mut()[range].copy_from_slice(&values);
    }
    let mut solver = SparseLu::new(matrix.pattern().clone(), &roles).unwrap();
    solver.factor(&matrix).unwrap();
    let mut vector = vec![3.0, 5.0, 2.0];
    solver.solve(&mut vector);
    // A 3 × 3 system of small integers: a few roundings.
    vector.iter().for_each(|value| assert!((value - 1.0).abs() < 1e-15));

    let empty = Arc::new(BlockPattern::new(&[], &[], []));
    let mut solver = SparseLu::new(empty.clone(), &[]).unwrap();
    solver.factor(&BlockMatrix::zeros(empty)).unwrap();
    solver.solve(&mut []);
}

#[test]
fn wrong_shapes_and_broken_numbers_are_refused() {
    let oblong = Arc::new(BlockPattern::new(&[2, 1], &[1, 2], []));
    assert_eq!(SparseLu::new(oblong, &[Role::Primary; 2]).unwrap_err(), SparseLuError::NotSquare);
    let mut sample = SampleMatrix::chain(3, 3);
    let error = SparseLu::new(sample.pattern.clone(), &[Role::Primary]).unwrap_err();
    assert_eq!(error, SparseLuError::RoleCount { groups: 6, roles: 1 });
    let mut solver = solver_of(&sample);
    assert_eq!(solver.factor(&SampleMatrix::chain(2, 3).matrix).unwrap_err(), SparseLuError::OtherPattern);
    let weights = Regularization { weights: vec![1.0], ..Regularization::default() };
    assert_eq!(solver.regularize(weights), Err(SparseLuError::WeightCount { unknowns: 27, weights: 1 }));
    let block = sample.pattern.find(1, 1).unwrap();
    sample.matrix.block_mut(block)[(2, 2)] = f64::NAN;
    assert_eq!(
        solver.factor(&sample.matrix).unwrap_err(),
        SparseLuError::NotFinite { row_group: 1, column_group: 1 }
    );
}

/// A machine of five-row or three-row joints, and the same in which the first `count` joints are repeated.
fn repeated(single: SampleMachine, count: usize) -> (SampleMatrix, SampleMatrix) {
    let (bodies, joints) = (single.body_count, single.joints.len());
    let mut double = single.clone();
    double.joints.extend_from_within(..count);
    let (single, mut double) = (SampleMatrix::new(single), SampleMatrix::new(double));
    // Bodies and joints are drawn in the same order, so that only the repeated joints differ.
    for joint in 0..count {
        let (first, again) = (bodies + joint, bodies + joints + joint);
        for (_, body) in single.pattern.column_blocks(first).collect::<Vec<_>>() {
            for (from, to) in [((first, body), (again, body)), ((body, first), (body, again))] {
                let from = single.pattern.find(from.0, from.1).unwrap();
                let to = double.pattern.find(to.0, to.1).unwrap();
                let values = single.matrix.block(from).clone_owned();
                double.matrix.block_mut(to).copy_from(&values);
            }
        }
    }
    (single, double)
}

/// A ring of five bodies in which the first joint is repeated, and the ring itself.
fn doubled() -> (SampleMatrix, SampleMatrix) {
    let joints = (0..5).map(|body| (vec![body, (body + 1) % 5], 3)).collect();
    repeated(SampleMachine { body_count: 5, beams: Vec::new(), joints }, 1)
}

#[test]
fn a_chain_with_every_joint_repeated_moves_like_the_chain() {
    let joints = (0..25_usize).map(|body| ((body.saturating_sub(1)..=body).collect(), 3)).collect();
    let (single, double) = repeated(SampleMachine { body_count: 25, beams: Vec::new(), joints }, 25);
    let (bodies, rows) = (150, single.unknown_count());
    let mut right_side = random_vector(rows, 2);
    let mut expected = right_side.clone();
    let mut solver = solver_of(&single);
    solver.factor(&single.matrix).unwrap();
    solver.solve(&mut expected);
    right_side.extend_from_within(bodies..);

    let mut solver = solver_of(&double);
    solver.regularize(Regularization::default()).unwrap();
    let health = solver.factor(&double.matrix).unwrap();
    assert!(!health.fallback_used, "{health:?}");
    solver.solve(&mut right_side);
    for unknown in 0..rows {
        // Bodies to the accuracy of the chain; shared multipliers keep 16 + log₁₀ ε digits at most.
        let (share, tolerance) = if unknown < bodies { (1.0, 1e-11) } else { (0.5, 1e-5) };
        let error = (right_side[unknown] - share * expected[unknown]).abs();
        assert!(error < tolerance * largest(&expected), "{unknown}: {error}");
    }
}

#[test]
fn a_repeated_joint_is_named_as_singular_without_regularization() {
    let (_, double) = doubled();
    let error = solver_of(&double).factor(&double.matrix).unwrap_err();
    let SparseLuError::Singular { group, ratio, .. } = error else { panic!("{error}") };
    assert!([5, 10].contains(&group) && ratio < 1e-13, "{error}");
}

#[test]
fn a_repeated_joint_shares_its_multipliers_by_the_weights() {
    let (single, double) = doubled();
    let rows = 5 * 6 + 5 * 3;
    let mut right_side = random_vector(rows, 21);
    let mut expected = right_side.clone();
    let mut solver = solver_of(&single);
    solver.factor(&single.matrix).unwrap();
    solver.solve(&mut expected);
    right_side.extend_from_within(30..33);

    // Least λ₁² + w² λ₂² with λ₁ + λ₂ = λ: λ₁ = λ w²/(1 + w²).
    for weight in [1.0, 2.0] {
        let mut weights = vec![1.0; rows + 3];
        weights[rows..].fill(weight);
        let mut solver = solver_of(&double);
        solver.regularize(Regularization { weights, ..Regularization::default() }).unwrap();
        let health = solver.factor(&double.matrix).unwrap();
        assert!(!health.fallback_used, "{health:?}");
        let mut solution = right_side.clone();
        solver.solve(&mut solution);
        let share = weight * weight / (1.0 + weight * weight);
        for unknown in 0..rows {
            let (factor, tolerance) = match unknown {
                0..30 => (1.0, 1e-12),   // bodies: refined to working precision
                30..33 => (share, 1e-6), // 16 + log₁₀ ε = 8 digits, two left for the condition
                _ => (1.0, 1e-12),
            };
            let error = (solution[unknown] - factor * expected[unknown]).abs();
            assert!(error < tolerance * largest(&expected), "{unknown}: {error}");
        }
        for row in 0..3 {
            let sum = solution[30 + row] + solution[rows + row];
            assert!((sum - expected[30 + row]).abs() < 1e-12 * largest(&expected));
        }
    }
}

/// Planar four-bar with four revolute joints in space: 18 freedoms, 20 equations of rank 17.
fn four_bar() -> (SampleMatrix, DMatrix<f64>) {
    let corners = [[0.0, 0.0], [0.3, 1.0], [2.0, 1.4], [1.8, 0.0]].map(|[x, y]| Vector3::new(x, y, 0.0));
    let joints = vec![(vec![0], 5), (vec![0, 1], 5), (vec![1, 2], 5), (vec![2], 5)];
    let mut sample = SampleMatrix::new(SampleMachine { body_count: 3, beams: Vec::new(), joints });
    sample.matrix.fill(0.0);
    for body in 0..3 {
        let block = sample.pattern.find(body, body).unwrap();
        let mass = 1.0 + body as f64;
        let diagonal = DVector::from_vec(vec![mass, mass, mass, 0.1 * mass, 0.2 * mass, 0.3 * mass]);
        sample.matrix.block_mut(block).copy_from(&DMatrix::from_diagonal(&diagonal));
        let centre = (corners[body] + corners[body + 1]) / 2.0;
        for (corner, sign) in [(body, -1.0), (body + 1, 1.0)] {
            // Displacement of the corner, u + θ × s, and the rotations about x and y.
            let arm = corners[corner] - centre;
            let mut gradient = DMatrix::zeros(5, 6);
            gradient.view_mut((0, 0), (3, 3)).fill_with_identity();
            gradient.view_mut((0, 3), (3, 3)).copy_from(&-arm.cross_matrix());
            gradient[(3, 3)] = 1.0;
            gradient[(4, 4)] = 1.0;
            gradient *= sign;
            let joint = 3 + corner;
            let block = sample.pattern.find(joint, body).unwrap();
            sample.matrix.block_mut(block).copy_from(&gradient);
            let block = sample.pattern.find(body, joint).unwrap();
            sample.matrix.block_mut(block).copy_from(&gradient.transpose());
        }
    }
    let dense = sample.matrix.to_dense();
    (sample, dense)
}

#[test]
fn a_planar_four_bar_has_three_redundant_rows_and_least_norm_multipliers() {
    let (sample, dense) = four_bar();
    assert!(matches!(solver_of(&sample).factor(&sample.matrix), Err(SparseLuError::Singular { .. })));

    let mut solver = solver_of(&sample);
    solver.regularize(Regularization::default()).unwrap();
    let health = solver.factor(&sample.matrix).unwrap();
    assert!(!health.fallback_used, "{health:?}");

    let right_side = &dense * DVector::from_vec(random_vector(38, 4));
    // The motion is unique, so the pseudo-inverse takes the multipliers of least norm.
    let expected = dense.pseudo_inverse(1e-10).unwrap() * &right_side;
    let mut solution = right_side.as_slice().to_vec();
    solver.solve(&mut solution);
    for (unknown, (value, expected)) in solution.iter().zip(expected.iter()).enumerate() {
        // Bodies to working precision; of multipliers 16 + log₁₀ ε = 8 digits, two left for the condition.
        let tolerance = if unknown < 18 { 1e-12 } else { 1e-6 };
        assert!((value - expected).abs() < tolerance, "{unknown}: {value} {expected}");
    }
}

/// A grid in which some bodies have lost their own blocks, so that they cannot be eliminated alone.
fn grid_with_a_hole() -> SampleMatrix {
    let mut sample = SampleMatrix::grid(6);
    for body in (0..36).step_by(5) {
        let block = sample.pattern.find(body, body).unwrap();
        sample.matrix.block_mut(block).fill(0.0);
    }
    sample
}

#[test]
fn a_primary_that_is_singular_alone_is_solved_by_the_fall_back() {
    let sample = grid_with_a_hole();
    let mut solver = solver_of(&sample);
    let health = solver.factor(&sample.matrix).unwrap();
    assert!(health.fallback_used && health.residual.unwrap() < RESIDUAL_LIMIT, "{health:?}");
    // Condition below 1e6: beams of this sample are a hundred times softer than its masses.
    assert!(forward_error(&sample, &mut solver) < 1e-9);

    // A sound matrix brings the fronts back.
    let sound = SampleMatrix::grid(6);
    assert!(!solver.factor(&sound.matrix).unwrap().fallback_used);
    assert!(forward_error(&sound, &mut solver) < 1e-11);
}

#[test]
fn adapting_merges_the_fronts_that_fail_and_makes_the_fall_back_unnecessary() {
    let sample = grid_with_a_hole();
    let mut solver = solver_of(&sample);
    assert!(solver.adapt(&sample.matrix).unwrap() > 0);
    let health = solver.factor(&sample.matrix).unwrap();
    assert!(!health.fallback_used, "{health:?}");
    assert!(forward_error(&sample, &mut solver) < 1e-9);
}

#[test]
fn merging_that_does_not_help_is_taken_back() {
    // Nothing holds the last body: no row that merging could bring makes up for it.
    let mut sample = SampleMatrix::grid(6);
    let pattern = sample.pattern.clone();
    for (block, row, column) in pattern.blocks() {
        if row == 35 || column == 35 {
            sample.matrix.block_mut(block).fill(0.0);
        }
    }
    let mut solver = solver_of(&sample);
    assert_eq!(solver.adapt(&sample.matrix), Ok(0));
    assert_eq!(solver.factor_work(), solver.analysed_work());
    assert!(matches!(solver.factor(&sample.matrix), Err(SparseLuError::Singular { group: 35, .. })));
}
