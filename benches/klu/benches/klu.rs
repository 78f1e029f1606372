//! Kreisel's block LU and KLU on the same matrices, taking turns: ns per unknown for factors and one solve,
//! and ratios.
//!
//! KLU keeps the pivots of its first factorisation, Kreisel chooses them anew inside its fronts each time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kreisel::solve::sparse_lu::SparseLu;
use kreisel::solve::sparse_lu::samples::{SampleMatrix, SampleScales};
use kreisel_klu::{Columns, Klu};

/// Turns of each program, and the time spent on one at least.
const ROUNDS: usize = 7;
const BUDGET: Duration = Duration::from_millis(60);

fn main() {
    println!(
        "{:<22} {:>8} {:>9} {:>9} {:>8} {:>17} {:>9}",
        "case", "unknowns", "kreisel", "KLU", "ratio", "single rounds", "error"
    );
    for (name, sample) in cases() {
        report(&name, sample);
    }
}

fn cases() -> Vec<(String, SampleMatrix)> {
    let mut cases = Vec::new();
    for count in [100, 1000, 10_000] {
        cases.push((format!("chain {count}"), SampleMatrix::chain(count, 3)));
    }
    for count in [100, 1000] {
        cases.push((format!("revolute chain {count}"), SampleMatrix::chain(count, 5)));
        cases.push((format!("beam {count}"), SampleMatrix::beam(count)));
        cases.push((format!("tree {count}"), SampleMatrix::tree(count, 5)));
    }
    for side in [10, 32] {
        cases.push((format!("lattice {side} x {side}"), SampleMatrix::lattice(side)));
        cases.push((format!("grid {side} x {side}"), SampleMatrix::grid(side)));
    }
    cases
}

fn report(name: &str, mut sample: SampleMatrix) {
    let size = sample.unknown_count();
    sample.set_values(2, SampleScales::default());
    let mut ours = SparseLu::new(sample.pattern.clone(), &sample.roles).expect("a square pattern");
    ours.factor(&sample.matrix).expect("a regular matrix");
    let mut klu = Klu::new(columns(&sample)).expect("a regular matrix");
    let mut vector = vec![1.0; size];
    let (mut times, mut ratios) = ([Duration::MAX; 2], Vec::new());
    for _ in 0..ROUNDS {
        let kreisel = best(|| {
            black_box(ours.factor(&sample.matrix).expect("a regular matrix"));
            vector.fill(1.0);
            ours.solve(black_box(&mut vector));
        });
        let theirs = best(|| {
            assert!(klu.refactor());
            vector.fill(1.0);
            assert!(klu.solve(black_box(&mut vector)));
        });
        times = [times[0].min(kreisel), times[1].min(theirs)];
        ratios.push(kreisel.as_secs_f64() / theirs.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let per_unknown = |time: Duration| time.as_nanos() as f64 / size as f64;
    println!(
        "{name:<22} {size:>8} {:>9.1} {:>9.1} {:>8.2} {:>17} {:>9.1e}",
        per_unknown(times[0]),
        per_unknown(times[1]),
        ratios[ROUNDS / 2],
        format!("{:.2} to {:.2}", ratios[0], ratios[ROUNDS - 1]),
        difference(&mut ours, &mut klu, size),
    );
}

/// Largest difference of the two solutions, relative to the largest value.
fn difference(ours: &mut SparseLu, klu: &mut Klu, size: usize) -> f64 {
    let (mut one, mut other) = (vec![1.0; size], vec![1.0; size]);
    ours.solve(&mut one);
    assert!(klu.solve(&mut other));
    let largest = other.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    one.iter().zip(&other).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs())) / largest
}

fn columns(sample: &SampleMatrix) -> Columns {
    let pattern = &sample.pattern;
    let mut columns = Columns { starts: vec![0], ..Columns::default() };
    for group in 0..pattern.column_group_count() {
        for column in 0..pattern.column_range(group).len() {
            for (block, row) in pattern.column_blocks(group) {
                let values = sample.matrix.block(block);
                let rows = pattern.row_range(row).enumerate();
                for (index, row) in rows.filter(|(index, _)| values[(*index, column)] != 0.0) {
                    columns.rows.push(row as i32);
                    columns.values.push(values[(index, column)]);
                }
            }
            columns.starts.push(columns.rows.len() as i32);
        }
    }
    columns
}

/// Shortest time of an action, repeated until the budget is spent.
fn best(mut action: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    while shortest == Duration::MAX || begin.elapsed() < BUDGET {
        let start = Instant::now();
        action();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}
