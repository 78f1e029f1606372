//! Linear systems of heaps: bodies that touch others on all sides, met by iteration.

use std::sync::Arc;

use kreisel::solve::block::{BlockMatrix, BlockPattern};
use kreisel::solve::linear::{LinearSolver, Role};

/// A cube of `side`³ bodies of six unknowns with inertia 1, of which neighbours push and rub each other;
/// every second body along x is held to its left neighbour by three multipliers if there are `joints`.
fn heap(side: usize, stiffness: f64, joints: bool) -> (BlockMatrix, Vec<Role>) {
    let index = |x: usize, y: usize, z: usize| x + side * (y + side * z);
    let places = (0..side.pow(3)).map(|i| [i % side, i / side % side, i / side / side]);
    let mut pairs = Vec::new();
    for [x, y, z] in places {
        let ahead = [[x + 1, y, z], [x, y + 1, z], [x, y, z + 1]];
        let inside = ahead.into_iter().filter(|place| place.iter().all(|&k| k < side));
        pairs.extend(inside.map(|[a, b, c]| (index(x, y, z), index(a, b, c))));
    }
    let count = side.pow(3);
    let held: Vec<usize> = (0..count).filter(|body| joints && body % side % 2 == 1).collect();
    let sizes = [vec![6; count], vec![3; held.len()]].concat();
    let roles = [vec![Role::Primary; count], vec![Role::Multiplier; held.len()]].concat();
    let both = |&(i, j): &(usize, usize)| [(i, j), (j, i)];
    let dropped: Vec<(usize, usize)> = pairs.iter().flat_map(both).collect();
    let rows = |(row, &body): (usize, &usize)| [(count + row, body), (count + row, body - 1)];
    let gradient: Vec<(usize, usize)> = held.iter().enumerate().flat_map(rows).collect();
    let diagonal = (0..sizes.len()).map(|group| (group, group));
    let blocks = diagonal.chain(dropped.iter().copied()).chain(gradient.iter().flat_map(both));
    let pattern = Arc::new(BlockPattern::new(&sizes, &sizes, blocks).with_dropped(dropped));
    let mut matrix = BlockMatrix::zeros(Arc::clone(&pattern));
    let mut add = |row: usize, column: usize, entry: &dyn Fn(usize, usize) -> f64| {
        let mut block = matrix.block_mut(pattern.find(row, column).unwrap());
        let (rows, columns) = block.shape();
        (0..rows).for_each(|i| (0..columns).for_each(|j| block[(i, j)] += entry(i, j)));
    };
    for body in 0..count {
        add(body, body, &|i, j| if i == j { 1.0 } else { 0.0 });
    }
    for (pair, &(one, other)) in pairs.iter().enumerate() {
        // A spring along some direction, and friction that the other's approach makes: not symmetric.
        let along = |i: usize| ((3 * pair + 5 * i + 1) as f64).sin();
        let across = |i: usize| 0.3 * ((7 * pair + 2 * i) as f64).cos();
        let entry = |i: usize, j: usize| stiffness * (along(i) + across(i)) * along(j);
        for (row, column, sign) in
            [(one, one, 1.0), (one, other, -1.0), (other, one, -1.0), (other, other, 1.0)]
        {
            add(row, column, &|i, j| sign * entry(i, j));
        }
    }
    for &(row, body) in &gradient {
        // Three independent rows.
        let entry = |i: usize, j: usize| ((row + 3 * body) as f64 + 1.3 * ((i + 1) * (j + 2)) as f64).sin();
        add(row, body, &entry);
        add(body, row, &|i, j| entry(j, i));
    }
    (matrix, roles)
}

fn right_side(size: usize) -> Vec<f64> {
    (0..size).map(|i| (0.7 * i as f64).sin()).collect()
}

/// Largest difference of the solutions with and without iteration, relatively, and the iterations.
fn compare(side: usize, stiffness: f64, joints: bool) -> (f64, usize) {
    let (matrix, roles) = heap(side, stiffness, joints);
    let solve = |mut solver: LinearSolver| {
        let mut x = right_side(matrix.pattern().row_count());
        solver.factor(&matrix).unwrap();
        solver.solve(&mut x);
        (x, solver.iterations())
    };
    let (found, iterations) = solve(LinearSolver::with_dropped_blocks(matrix.pattern(), &roles));
    let (expected, none) = solve(LinearSolver::new(matrix.pattern(), &roles));
    assert_eq!(none, 0);
    let largest = |x: &[f64]| x.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let differences: Vec<f64> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
    (largest(&differences) / largest(&expected), iterations)
}

#[test]
fn iteration_gives_the_solution_of_the_factors_with_and_without_joints() {
    for joints in [false, true] {
        let (difference, iterations) = compare(4, 0.1, joints);
        // Residuals of 1e-6 of the first, times a condition of about ten.
        assert!(difference < 1e-5, "{difference:e}");
        assert!((1..40).contains(&iterations), "{iterations}");
    }
}

#[test]
fn contacts_much_stiffer_than_inertia_are_solved_as_well() {
    // The condition is about 1e8 · 6: eight digits are left of sixteen.
    let (difference, _) = compare(4, 1e8, true);
    assert!(difference < 1e-5, "{difference:e}");
}

#[test]
fn a_heap_eight_times_as_large_takes_hardly_more_iterations() {
    // How fast residuals shrink follows from stiffness over inertia: a condition below 1 + 12·0.1·4.5
    // whatever the size. Only the walls, where bodies have fewer neighbours, are rarer in the large heap. The
    // work per body is then the same.
    let [small, large] = [5, 10].map(|side| {
        let (matrix, roles) = heap(side, 0.1, false);
        let mut solver = LinearSolver::with_dropped_blocks(matrix.pattern(), &roles);
        solver.factor(&matrix).unwrap();
        solver.solve(&mut right_side(matrix.pattern().row_count()));
        solver.iterations()
    });
    assert!(small > 0 && 4 * large <= 5 * small, "{small} {large}");
}
