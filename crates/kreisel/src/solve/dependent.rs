//! Rows of a sparse matrix that follow from others, found by orthogonal transformations.
//!
//! The matrix comes in groups of rows (the equations of a joint) and groups of columns (the coordinates of
//! a body). Its transpose is brought to triangular form by Householder's reflections, a group of rows at a
//! time. What is left of a row below the diagonal is its distance from the rows before it. A row whose
//! distance vanishes follows from them; it is passed over, so that no reflection is made of round-off.
//! Nothing is squared and nothing is shifted: the distance is right to a few times round-off, however large
//! the factors are with which a row follows from others.
//!
//! Three things keep the work small:
//!
//! 1. A group with a full rank in columns that no other group meets is independent of all others, and so are
//!    those that it leaves behind in the same way: trees need no transformation.
//! 2. A group is eliminated together with the columns that it meets, which become one *part*; groups go in
//!    an order that keeps parts at few others.
//! 3. Of a part only those combinations of columns are kept that meet rows still to come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::block::BlockMatrix;

/// What is below this part of a row's length is round-off of the transformations.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// Part of the largest factor above which a row counts as one of those that depend on each other: rows at an
/// angle of 1e-5 rad count as dependent, so that less is no part of the sum.
const INVOLVED: f64 = 1e-6;

/// Rows that depend on others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependentRows {
    /// Rows that follow from others, ascending; without them the rest is independent.
    pub implied: Vec<usize>,
    /// Rows that take part in a combination that vanishes, ascending; the implied ones are among them.
    pub involved: Vec<usize>,
}

/// Finds the rows that are nearer than `limit` to a combination of others. Rows are meant to have length one.
pub fn dependent_rows(matrix: &BlockMatrix, limit: f64) -> DependentRows {
    let mut elimination = RowElimination::new(matrix, limit);
    let mut order = elimination.order();
    while let Some(Reverse((cost, group))) = order.pop() {
        // Costs grow as parts join; a cost that is out of date is put back in its place.
        let now = elimination.cost(group);
        if now > cost && order.peek().is_some_and(|Reverse((next, _))| *next < now) {
            order.push(Reverse((now, group)));
        } else {
            elimination.eliminate(group);
        }
    }
    elimination.found(matrix.pattern().row_count())
}

/// Combinations of columns, and what they hold in the rows that are still to come.
#[derive(Default)]
struct ColumnPart {
    /// Groups of rows that they meet, ascending.
    groups: Vec<usize>,
    /// A row for each combination, a column for each row of these groups.
    values: DMatrix<f64>,
}

/// A row of the triangular form.
struct TriangularRow {
    /// Rows of the matrix to which the values belong; its own is first.
    rows: Arc<Vec<usize>>,
    /// How many of these are left out.
    skipped: usize,
    values: Vec<f64>,
}

struct RowElimination {
    limit: f64,
    /// Rows of each group.
    rows: Vec<std::ops::Range<usize>>,
    /// Column groups that each group meets; none for groups that were found to be independent.
    meets: Vec<Vec<usize>>,
    parts: Vec<ColumnPart>,
    /// The part that each one joined; its own index if it did not.
    joined: Vec<usize>,
    triangle: Vec<TriangularRow>,
    implied: Vec<usize>,
}

impl RowElimination {
    fn new(matrix: &BlockMatrix, limit: f64) -> Self {
        let pattern = matrix.pattern();
        let mut meets = vec![Vec::new(); pattern.row_group_count()];
        for (_, row, column) in pattern.blocks() {
            meets[row].push(column);
        }
        leave_out_trees(matrix, limit, &mut meets);
        let rows: Vec<_> = (0..meets.len()).map(|group| pattern.row_range(group)).collect();
        let parts: Vec<ColumnPart> = (0..pattern.column_group_count())
            .map(|column| {
                let size = pattern.column_range(column).len();
                let blocks: Vec<_> =
                    pattern.column_blocks(column).filter(|(_, row)| !meets[*row].is_empty()).collect();
                let groups: Vec<usize> = blocks.iter().map(|(_, row)| *row).collect();
                let mut values = DMatrix::zeros(size, groups.iter().map(|group| rows[*group].len()).sum());
                let mut place = 0;
                for (block, row) in blocks {
                    values.columns_mut(place, rows[row].len()).copy_from(&matrix.block(block).transpose());
                    place += rows[row].len();
                }
                ColumnPart { groups, values }
            })
            .collect();
        let joined = (0..parts.len()).collect();
        Self { limit, rows, meets, parts, joined, triangle: Vec::new(), implied: Vec::new() }
    }

    /// Groups that are to be eliminated, cheapest first; groups of rows without any entry are among them.
    fn order(&self) -> BinaryHeap<Reverse<(usize, usize)>> {
        let groups = (0..self.rows.len()).filter(|group| !self.meets[*group].is_empty());
        groups.map(|group| Reverse((self.cost(group), group))).collect()
    }

    fn part_of(&self, column: usize) -> usize {
        let mut part = column;
        while self.joined[part] != part {
            part = self.joined[part];
        }
        part
    }

    /// Parts that a group meets, ascending.
    fn parts_of(&self, group: usize) -> Vec<usize> {
        let mut parts: Vec<usize> = self.meets[group].iter().map(|column| self.part_of(*column)).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// How many entries the parts hold that a group would join.
    fn cost(&self, group: usize) -> usize {
        self.parts_of(group).into_iter().map(|part| self.parts[part].values.ncols()).sum()
    }

    /// Joins the parts that a group meets, and takes its rows out of them.
    fn eliminate(&mut self, group: usize) {
        let joining = self.parts_of(group);
        let parts: Vec<ColumnPart> =
            joining.iter().map(|part| std::mem::take(&mut self.parts[*part])).collect();
        let mut others: Vec<usize> = parts.iter().flat_map(|part| part.groups.iter().copied()).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|other| *other != group);
        let order = std::iter::once(group).chain(others.iter().copied());
        let rows: Arc<Vec<usize>> = Arc::new(order.flat_map(|group| self.rows[group].clone()).collect());
        let mut front = self.stacked(&parts, group, &others, rows.len());
        let own = self.rows[group].len();
        let mut top = 0;
        for column in 0..own {
            if front.view_range(top.., column).norm() <= self.limit {
                self.implied.push(rows[column]);
                continue;
            }
            reflect(&mut front, top, column, column);
            let values = front.view_range(top, column..).iter().copied().collect();
            self.triangle.push(TriangularRow { rows: Arc::clone(&rows), skipped: column, values });
            top += 1;
        }
        let values = condensed(front.view_range(top.., own..).into_owned());
        for part in &joining {
            self.joined[*part] = joining[0];
        }
        self.parts[joining[0]] = ColumnPart { groups: others, values };
    }

    /// Parts above each other; columns of one group come first, then those of the others.
    fn stacked(&self, parts: &[ColumnPart], first: usize, others: &[usize], columns: usize) -> DMatrix<f64> {
        let mut starts = Vec::with_capacity(others.len());
        let mut start = self.rows[first].len();
        for other in others {
            starts.push(start);
            start += self.rows[*other].len();
        }
        let mut front = DMatrix::zeros(parts.iter().map(|part| part.values.nrows()).sum(), columns);
        let mut top = 0;
        for part in parts {
            let (height, mut from) = (part.values.nrows(), 0);
            for group in &part.groups {
                let size = self.rows[*group].len();
                let to = others.binary_search(group).map_or(0, |place| starts[place]);
                front.view_mut((top, to), (height, size)).copy_from(&part.values.columns(from, size));
                from += size;
            }
            top += height;
        }
        front
    }

    fn found(self, row_count: usize) -> DependentRows {
        let Self { triangle, mut implied, .. } = self;
        implied.sort_unstable();
        let mut involved = vec![false; row_count];
        // A factor that vanishes by chance in one random combination does not in a second one.
        for seed in 1..=2 {
            let factors = vanishing_combination(&triangle, &implied, row_count, seed);
            let largest = factors.iter().fold(0.0_f64, |largest, factor| largest.max(factor.abs()));
            for (involved, factor) in involved.iter_mut().zip(&factors) {
                *involved |= factor.abs() > INVOLVED * largest;
            }
        }
        let involved = involved.iter().enumerate().filter(|(_, involved)| **involved);
        DependentRows { involved: involved.map(|(row, _)| row).collect(), implied }
    }
}

/// Leaves out groups that are independent of all others: those with full rank in columns that none of the
/// others meets. What they alone kept others from is looked at again.
fn leave_out_trees(matrix: &BlockMatrix, limit: f64, meets: &mut [Vec<usize>]) {
    let pattern = matrix.pattern();
    let mut counts = vec![0_usize; pattern.column_group_count()];
    meets.iter().flatten().for_each(|column| counts[*column] += 1);
    let mut ends: Vec<usize> = (0..counts.len()).filter(|column| counts[*column] == 1).collect();
    while let Some(column) = ends.pop() {
        let alone = pattern.column_blocks(column).find(|(_, row)| !meets[*row].is_empty());
        let Some((block, row)) = alone.filter(|_| counts[column] == 1) else { continue };
        let mut rows = matrix.block(block).transpose();
        if !(0..rows.ncols()).all(|k| take_out(&mut rows, k, limit)) {
            continue;
        }
        for column in std::mem::take(&mut meets[row]) {
            counts[column] -= 1;
            if counts[column] == 1 {
                ends.push(column);
            }
        }
    }
}

/// Brings the k-th column to triangular form; false if nothing is left of it.
fn take_out(matrix: &mut DMatrix<f64>, k: usize, limit: f64) -> bool {
    let is_left = k < matrix.nrows() && matrix.view_range(k.., k).norm() > limit;
    if is_left {
        reflect(matrix, k, k, k);
    }
    is_left
}

/// Reflects rows from `top` on so that what a column holds in them is at `top` alone; columns before `first`
/// are left as they are.
fn reflect(matrix: &mut DMatrix<f64>, top: usize, column: usize, first: usize) {
    let mut mirror = matrix.view_range(top.., column).into_owned();
    let length = mirror.norm();
    if length == 0.0 {
        return;
    }
    let end = if mirror[0] > 0.0 { -length } else { length };
    mirror[0] -= end;
    let half = 0.5 * mirror.norm_squared();
    for c in first..matrix.ncols() {
        let mut values = matrix.view_range_mut(top.., c);
        let factor = values.dot(&mirror) / half;
        values.axpy(-factor, &mirror, 1.0);
    }
    matrix.view_range_mut(top + 1.., column).fill(0.0);
    matrix[(top, column)] = end;
}

/// As few rows as span those of a matrix.
fn condensed(mut matrix: DMatrix<f64>) -> DMatrix<f64> {
    let mut top = 0;
    while top < matrix.nrows() {
        let norms = (0..matrix.ncols()).map(|column| matrix.view_range(top.., column).norm());
        let largest = norms.enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((column, _)) = largest.filter(|(_, norm)| *norm > ROUND_OFF) else { break };
        reflect(&mut matrix, top, column, 0);
        top += 1;
    }
    matrix.resize_vertically(top, 0.0)
}

/// Factors of a combination of rows that vanishes, with random ones for the rows that follow from others.
fn vanishing_combination(
    triangle: &[TriangularRow],
    implied: &[usize],
    row_count: usize,
    seed: u64,
) -> Vec<f64> {
    let mut factors = vec![0.0; row_count];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for row in implied {
        // A linear congruence is random enough: what counts is that nothing cancels by chance.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        factors[*row] = (state >> 33) as f64 / (1_u64 << 31) as f64 + 0.5;
    }
    for TriangularRow { rows, skipped, values } in triangle.iter().rev() {
        let rows = &rows[*skipped..];
        let sum: f64 = values[1..].iter().zip(&rows[1..]).map(|(value, row)| value * factors[*row]).sum();
        factors[rows[0]] = -sum / values[0];
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::block::BlockPattern;
    use nalgebra::DVector;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A matrix with the given sizes of groups and blocks of random numbers, rows scaled to length one.
    fn random(
        rng: &mut ChaCha8Rng,
        rows: &[usize],
        columns: &[usize],
        blocks: &[(usize, usize)],
    ) -> BlockMatrix {
        let pattern = Arc::new(BlockPattern::new(rows, columns, blocks.iter().copied()));
        let mut matrix = BlockMatrix::zeros(pattern);
        matrix.values_mut().iter_mut().for_each(|value| *value = rng.random_range(-1.0..1.0));
        matrix
    }

    fn scale_rows(matrix: &mut BlockMatrix) {
        let norms: Vec<f64> = matrix.to_dense().row_iter().map(|row| row.norm()).collect();
        let pattern = Arc::clone(matrix.pattern());
        for (block, row, _) in pattern.blocks() {
            let mut values = matrix.block_mut(block);
            for (r, norm) in norms[pattern.row_range(row)].iter().enumerate() {
                values.row_mut(r).scale_mut(1.0 / norm);
            }
        }
    }

    /// Rank by singular values, an independent way.
    fn rank(matrix: &DMatrix<f64>, limit: f64) -> usize {
        matrix.singular_values().iter().filter(|value| **value > limit).count()
    }

    #[test]
    fn rows_of_random_loops_are_counted_as_by_singular_values() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let bodies = rng.random_range(1..8);
            let mut blocks = vec![(0, 0)];
            blocks.extend((1..bodies).flat_map(|body| [(body, body - 1), (body, body)]));
            let closures = rng.random_range(0..4);
            for closure in 0..closures {
                let row = bodies + closure;
                blocks.push((row, rng.random_range(0..bodies)));
                blocks.push((row, rng.random_range(0..bodies)));
            }
            let rows: Vec<usize> = (0..bodies + closures).map(|_| rng.random_range(1..6)).collect();
            let mut matrix = random(&mut rng, &rows, &vec![6; bodies], &blocks);
            scale_rows(&mut matrix);
            let dense = matrix.to_dense();
            let found = dependent_rows(&matrix, 1e-7);
            assert_eq!(dense.nrows() - found.implied.len(), rank(&dense, 1e-9));
            let rest: Vec<usize> = (0..dense.nrows()).filter(|row| !found.implied.contains(row)).collect();
            assert_eq!(rank(&dense.select_rows(&rest), 1e-9), rest.len(), "the rest is independent");
            assert!(found.implied.iter().all(|row| found.involved.contains(row)));
        }
    }

    #[test]
    fn a_row_that_follows_with_large_factors_is_found() {
        // Three nearly parallel rows: the last is a thousand times their difference.
        let (one, other) =
            (DVector::from_vec(vec![1.0, 0.0]), DVector::from_vec(vec![1.0, 1e-3]).normalize());
        let third = (&other - &one).normalize();
        let pattern = Arc::new(BlockPattern::new(&[1, 1, 1], &[2], [(0, 0), (1, 0), (2, 0)]));
        let mut matrix = BlockMatrix::zeros(pattern);
        let values: Vec<f64> = (0..2).flat_map(|c| [one[c], other[c], third[c]]).collect();
        let pattern = Arc::clone(matrix.pattern());
        for (block, row, _) in pattern.blocks() {
            matrix.block_mut(block).copy_from_slice(&[values[row], values[3 + row]]);
        }
        let found = dependent_rows(&matrix, 1e-5);
        assert_eq!(found.implied.len(), 1);
        assert_eq!(found.involved, [0, 1, 2]);
    }

    #[test]
    fn only_rows_of_the_loop_are_involved() {
        // A chain of four; the third and fourth bodies are held by the same equations twice.
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let blocks = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 2), (4, 3)];
        let mut matrix = random(&mut rng, &[3, 3, 3, 3, 3], &[6; 4], &blocks);
        for column in [2, 3] {
            let pattern = Arc::clone(matrix.pattern());
            let same = matrix.block(pattern.find(3, column).unwrap()).into_owned();
            matrix.block_mut(pattern.find(4, column).unwrap()).copy_from(&same);
        }
        scale_rows(&mut matrix);
        let found = dependent_rows(&matrix, 1e-7);
        assert_eq!(found.implied.len(), 3);
        assert_eq!(found.involved, (9..15).collect::<Vec<_>>());
    }

    #[test]
    fn empty_rows_follow_from_nothing_and_count_as_dependent() {
        let pattern = Arc::new(BlockPattern::new(&[2], &[3], [(0, 0)]));
        let mut matrix = BlockMatrix::zeros(pattern);
        matrix.values_mut()[0] = 1.0;
        let found = dependent_rows(&matrix, 1e-7);
        assert_eq!((found.implied, found.involved), (vec![1], vec![1]));
    }

    #[test]
    fn a_long_chain_and_a_hub_take_work_in_proportion() {
        // No clock: the triangle holds all that was worked on, and trees leave nothing to it.
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let count = 1000;
        let hub: Vec<(usize, usize)> = (0..count).flat_map(|arm| [(arm, 0), (arm, arm + 1)]).collect();
        let matrix = random(&mut rng, &vec![5; count], &vec![6; count + 1], &hub);
        assert!(RowElimination::new(&matrix, 1e-7).order().is_empty());
        // A ring is a loop that no tree leaves out.
        let ring: Vec<(usize, usize)> = (0..count).flat_map(|k| [(k, k), (k, (k + 1) % count)]).collect();
        let mut matrix = random(&mut rng, &vec![5; count], &vec![6; count], &ring);
        scale_rows(&mut matrix);
        let mut elimination = RowElimination::new(&matrix, 1e-7);
        let mut order = elimination.order();
        while let Some(Reverse((_, group))) = order.pop() {
            elimination.eliminate(group);
        }
        let work: usize = elimination.triangle.iter().map(|row| row.values.len()).sum();
        assert!(work < 20 * 5 * count, "{work}");
    }
}
