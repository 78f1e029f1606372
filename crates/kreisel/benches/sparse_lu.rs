//! Refactor and solve times of the block multifrontal LU beside faer's sparse LU on the same matrices.
//!
//! Prints nanoseconds per unknown, the best of several rounds, one thread. An argument that is not a flag
//! keeps only the cases whose name contains it.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMat, Triplet};
use kreisel::solve::sparse_lu::SparseLu;
use kreisel::solve::sparse_lu::samples::{SampleMatrix, SampleScales};

/// Time spent on each number at least.
const BUDGET: Duration = Duration::from_millis(150);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "case", "unknowns", "factor", "solve", "sum", "faer", "faer/sum", "fill/row"
    );
    for (name, make) in cases() {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            report(&name, make());
        }
    }
}

type Case = (String, Box<dyn Fn() -> SampleMatrix>);

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for count in [1, 10, 100, 1000, 10_000] {
        cases.push((format!("spherical chain {count}"), Box::new(move || SampleMatrix::chain(count, 3))));
    }
    for count in [100, 1000] {
        cases.push((format!("revolute chain {count}"), Box::new(move || SampleMatrix::chain(count, 5))));
        cases.push((format!("beam {count}"), Box::new(move || SampleMatrix::beam(count))));
        cases.push((format!("revolute tree {count}"), Box::new(move || SampleMatrix::tree(count, 5))));
        cases.push((format!("hub {count}"), Box::new(move || SampleMatrix::hub(count, 3))));
    }
    for side in [10, 32, 64] {
        cases.push((format!("lattice {side} x {side}"), Box::new(move || SampleMatrix::lattice(side))));
        cases.push((format!("grid {side} x {side}"), Box::new(move || SampleMatrix::grid(side))));
    }
    cases
}

fn report(name: &str, mut sample: SampleMatrix) {
    let size = sample.unknown_count();
    let mut solver = SparseLu::new(sample.pattern.clone(), &sample.roles).expect("a square pattern");
    sample.set_values(2, SampleScales::default());
    let factor = best(|| {
        black_box(solver.factor(&sample.matrix).expect("a regular matrix"));
    });
    let mut vector = vec![1.0; size];
    let solve = best(|| solver.solve(black_box(&mut vector)));
    let faer = faer_time(&sample);
    let per_unknown = |time: Duration| time.as_nanos() as f64 / size as f64;
    let sum = per_unknown(factor + solve);
    println!(
        "{name:<28} {size:>8} {:>8.1} {:>8.1} {sum:>8.1} {:>8.1} {:>9.1} {:>8.1}",
        per_unknown(factor),
        per_unknown(solve),
        per_unknown(faer),
        per_unknown(faer) / sum,
        solver.factor_value_count() as f64 / size as f64,
    );
}

/// Numeric factorisation and solve of faer's LU, its symbolic part done once.
fn faer_time(sample: &SampleMatrix) -> Duration {
    let size = sample.unknown_count();
    let mut triplets = Vec::new();
    for (block, row, column) in sample.pattern.blocks() {
        let (rows, columns) = (sample.pattern.row_range(row), sample.pattern.column_range(column));
        let values = sample.matrix.block(block);
        for (j, column) in columns.enumerate() {
            triplets
                .extend(rows.clone().enumerate().map(|(i, row)| Triplet::new(row, column, values[(i, j)])));
        }
    }
    let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &triplets)
        .expect("indices inside the matrix");
    let symbolic = SymbolicLu::try_new(matrix.symbolic()).expect("memory for the symbolic factors");
    let mut vector = vec![1.0; size];
    best(|| {
        let factors = Lu::try_new_with_symbolic(symbolic.clone(), matrix.as_ref()).expect("a regular matrix");
        factors.solve_in_place(faer::ColMut::from_slice_mut(black_box(&mut vector)));
        vector.fill(1.0);
    })
}

/// Shortest time of an action, repeated until the budget is spent but at least three times.
fn best(mut action: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    let mut repetitions = 0;
    while repetitions < 3 || begin.elapsed() < BUDGET {
        let start = Instant::now();
        action();
        shortest = shortest.min(start.elapsed());
        repetitions += 1;
    }
    shortest
}
