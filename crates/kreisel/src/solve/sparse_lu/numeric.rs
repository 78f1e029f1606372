//! Factors and triangular solves over the assembly tree.
//!
//! Both run as a whole with the widest vectors that the processor has: what they call is small and inlined.
//! Without fused operations every processor gives the same bits.

use std::ops::Range;

use faer::{Mat, Side};
use pulp::{Arch, Simd, WithSimd};

use super::kernel::{FrontMut, subtract};
use super::small::{self, SmallFront};
use super::symbolic::{Front, RowRange, Symbolic};

/// Longest column of the substitutions whose length is known to the compiler.
const PADDING: usize = 32;

/// The numbers of a factorisation, and the work space to renew it.
#[derive(Clone, Debug)]
pub(super) struct Numeric {
    /// Panel and right part of front after front, and room for a column of a small front behind the last.
    factors: Vec<f64>,
    schur: Vec<f64>,
    swaps: Vec<u32>,
    inverse_pivots: Vec<f64>,
    /// For each pivot, what its diagonal entry was added up from, in magnitudes: the diagonal of |A| + |L| |U|.
    magnitude: Vec<f64>,
    /// Unknowns in elimination order.
    ordered: Vec<f64>,
    local: Vec<f64>,
}

/// What a factorisation tells about itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct PivotReport {
    pub smallest_ratio: f64,
    /// Place of the smallest ratio in elimination order.
    pub worst: usize,
    pub largest_magnitude: f64,
    /// Largest entry on the diagonal of the matrix that is a number.
    pub largest_diagonal: f64,
}

impl Numeric {
    pub fn new(symbolic: &Symbolic) -> Self {
        let count = symbolic.unknown_at.len();
        Self {
            factors: vec![0.0; symbolic.factor_len + small::MAX_SIZE],
            schur: vec![0.0; symbolic.schur_len],
            swaps: vec![0; count],
            inverse_pivots: vec![0.0; count],
            magnitude: vec![0.0; count],
            ordered: vec![0.0; count],
            local: vec![0.0; symbolic.largest_front],
        }
    }

    /// |pivot| at a place in elimination order.
    pub fn pivot(&self, place: usize) -> f64 {
        1.0 / self.inverse_pivots[place].abs()
    }

    /// |pivot| / magnitude at a place in elimination order; zero for a pivot that is not a number.
    pub fn ratio(&self, place: usize) -> f64 {
        let pivot = self.pivot(place);
        // Row exchanges can make the pivot larger than everything that met on the old diagonal.
        let ratio = pivot / super::maximum(self.magnitude[place], pivot);
        if ratio.is_nan() { 0.0 } else { ratio }
    }

    /// Factors the matrix with the given block values; `shift` (in elimination order, or empty) is subtracted
    /// from the diagonal. A right-hand side that is not empty is substituted forward on the way, while the
    /// factors of a front are at hand; [`Self::finish`] makes it a solution.
    pub fn factor(
        &mut self,
        symbolic: &Symbolic,
        values: &[f64],
        shift: &[f64],
        right_side: &[f64],
    ) -> PivotReport {
        Arch::new().dispatch(Factorisation { numeric: self, symbolic, values, shift, right_side })
    }

    #[inline(always)]
    fn factor_fronts(
        &mut self,
        symbolic: &Symbolic,
        values: &[f64],
        shift: &[f64],
        right_side: &[f64],
    ) -> PivotReport {
        self.magnitude.fill(0.0);
        let solves = !right_side.is_empty();
        if solves {
            self.take(symbolic, right_side);
        }
        let mut report = PivotReport {
            smallest_ratio: f64::INFINITY,
            worst: 0,
            largest_magnitude: 0.0,
            largest_diagonal: 0.0,
        };
        for front in &symbolic.fronts {
            let largest = match front.height() {
                0..=8 => self.factor_small::<8>(symbolic, front, values, shift),
                9..=12 => self.factor_small::<12>(symbolic, front, values, shift),
                13..=16 => self.factor_small::<16>(symbolic, front, values, shift),
                17..=20 => self.factor_small::<20>(symbolic, front, values, shift),
                21..=24 => self.factor_small::<24>(symbolic, front, values, shift),
                25..=32 => self.factor_small::<32>(symbolic, front, values, shift),
                33..=40 => self.factor_small::<40>(symbolic, front, values, shift),
                41..=small::MAX_SIZE => {
                    self.factor_small::<{ small::MAX_SIZE }>(symbolic, front, values, shift)
                }
                _ => self.factor_large(symbolic, front, values, shift),
            };
            report.largest_diagonal = report.largest_diagonal.max(largest);
            self.judge(front, &mut report);
            if solves {
                self.forward(symbolic, front);
            }
        }
        report
    }

    /// Factors a front in a local matrix with columns of `H` rows; gives the largest entry of the matrix on
    /// its diagonal.
    #[inline(always)]
    fn factor_small<const H: usize>(
        &mut self,
        symbolic: &Symbolic,
        front: &Front,
        values: &[f64],
        shift: &[f64],
    ) -> f64 {
        let (pivots, height) = (front.pivots(), front.height());
        let own = front.pivot_range();
        let mut local = SmallFront::<H>::zeros();
        for entry in &symbolic.entries[front.entries()] {
            local.set(entry.wide(), values);
        }
        let largest = local.largest_diagonal(pivots);
        if !shift.is_empty() {
            for (k, shift) in shift[own.clone()].iter().enumerate() {
                *local.diagonal(k) -= shift;
            }
        }
        for &child in &symbolic.children[front.children()] {
            let child = &symbolic.fronts[child as usize];
            local.add_schur(
                &symbolic.row_ranges[child.row_ranges()],
                &self.schur[child.schur_range()],
                child.border(),
            );
        }
        let magnitude = &mut self.magnitude[own.clone()];
        local.magnitude.iter_mut().zip(&*magnitude).for_each(|(local, passed)| *local = *passed);
        let search_ends = &symbolic.search_ends[own.clone()];
        let inverse_pivots = &mut self.inverse_pivots[own.clone()];
        local.eliminate(height, search_ends, &mut self.swaps[own], inverse_pivots);
        magnitude.iter_mut().zip(&local.magnitude).for_each(|(own, local)| *own = *local);
        let rows = &symbolic.border_rows[front.border_rows()];
        for (&row, terms) in rows.iter().zip(&local.magnitude[pivots..]) {
            self.magnitude[row as usize] += terms;
        }
        local.store_factors(pivots, height, &mut self.factors[front.panel..]);
        local.store_schur(pivots, height, &mut self.schur[front.schur_range()]);
        largest
    }

    /// Factors a front in its place; gives the largest entry of the matrix on its diagonal.
    #[inline(always)]
    fn factor_large(&mut self, symbolic: &Symbolic, front: &Front, values: &[f64], shift: &[f64]) -> f64 {
        let largest = self.assemble(symbolic, front, values, shift);
        self.eliminate(symbolic, front);
        self.pass_schur(symbolic, front);
        self.pass_magnitudes(symbolic, front);
        largest
    }

    /// Takes the pivots of a front into account.
    #[inline(always)]
    fn judge(&self, front: &Front, report: &mut PivotReport) {
        for place in front.pivot_range() {
            let magnitude = self.magnitude[place];
            report.largest_magnitude = super::maximum(report.largest_magnitude, magnitude);
            // A product instead of a division in the usual case.
            let limit = (report.smallest_ratio * magnitude * self.inverse_pivots[place]).abs();
            if limit < 1.0 {
                continue;
            }
            let ratio = self.ratio(place);
            if ratio < report.smallest_ratio {
                (report.smallest_ratio, report.worst) = (ratio, place);
            }
        }
    }

    /// Adds up the rows and columns of the pivots of a front from matrix blocks and the Schur complements of
    /// its children; gives the largest entry of the blocks on its diagonal.
    #[inline(always)]
    fn assemble(&mut self, symbolic: &Symbolic, front: &Front, values: &[f64], shift: &[f64]) -> f64 {
        self.factors[front.panel..front.panel + front.panel_len() + front.right_len()].fill(0.0);
        for entry in symbolic.entries[front.entries()].iter().map(|entry| entry.wide()) {
            let block = &values[entry.value..][..entry.rows * entry.columns];
            let (target, stride) = front.place(entry.row, entry.column);
            for (column, source) in block.chunks_exact(entry.rows.max(1)).enumerate() {
                self.factors[target + column * stride..][..entry.rows].copy_from_slice(source);
            }
        }
        let diagonal_step = front.height() + 1;
        let diagonal = self.factors[front.panel..][..front.panel_len()].iter().step_by(diagonal_step);
        let largest = diagonal.fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        if !shift.is_empty() {
            for (k, shift) in shift[front.pivot_range()].iter().enumerate() {
                self.factors[front.panel + k * diagonal_step] -= shift;
            }
        }
        for &child in &symbolic.children[front.children()] {
            let child = &symbolic.fronts[child as usize];
            let factors = &mut self.factors[front.panel..];
            add_to_pivots(
                front,
                &symbolic.row_ranges[child.row_ranges()],
                &self.schur[child.schur_range()],
                factors,
            );
        }
        largest
    }

    /// Adds to the Schur complement of a front what those of its children have for it.
    #[inline(always)]
    fn pass_schur(&mut self, symbolic: &Symbolic, front: &Front) {
        for &child in &symbolic.children[front.children()] {
            let child = &symbolic.fronts[child as usize];
            let (source, schur) = two_ranges(&mut self.schur, child, front);
            add_to_schur(front, &symbolic.row_ranges[child.row_ranges()], source, schur);
        }
    }

    #[inline(always)]
    fn eliminate(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let own = front.pivot_range();
        let (panel, right) = self.factors[front.panel..][..front.panel_len() + front.right_len()]
            .split_at_mut(front.panel_len());
        let magnitude = &mut self.magnitude[own.clone()];
        for (k, magnitude) in magnitude.iter_mut().enumerate() {
            *magnitude += panel[k * (height + 1)].abs();
        }
        FrontMut {
            pivots,
            border: front.border(),
            panel,
            right,
            schur: &mut self.schur[front.schur_range()],
            search_ends: &symbolic.search_ends[own.clone()],
            swaps: &mut self.swaps[own.clone()],
        }
        .eliminate();
        for (k, inverse) in self.inverse_pivots[own].iter_mut().enumerate() {
            *inverse = 1.0 / panel[k * (height + 1)];
        }
        for first in (0..pivots).step_by(CHUNK) {
            let end = (first + CHUNK).min(pivots);
            // The corner at the diagonal, and the rest of the chunk's columns of L.
            for k in first..end {
                for j in k + 1..end {
                    magnitude[j] += (panel[k * height + j] * panel[j * height + k]).abs();
                }
            }
            let lower = &panel[first * height..end * height];
            let upper = &panel[end * height..];
            add_terms(lower, height, end, (upper, first, height), &mut magnitude[end..]);
        }
    }

    /// Adds what a front subtracts from the diagonal of its border to the magnitudes there.
    #[inline(always)]
    fn pass_magnitudes(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let factors = &self.factors[front.panel..];
        let (panel, right) = factors.split_at(front.panel_len());
        let terms = &mut self.local[..front.border()];
        terms.fill(0.0);
        for (chunk, lower) in panel.chunks(CHUNK * height.max(1)).enumerate() {
            add_terms(lower, height, pivots, (right, chunk * CHUNK, pivots), terms);
        }
        for (&row, terms) in symbolic.border_rows[front.border_rows()].iter().zip(&*terms) {
            self.magnitude[row as usize] += terms;
        }
    }

    /// Solves for one right-hand side, in place.
    pub fn solve(&mut self, symbolic: &Symbolic, values: &mut [f64]) {
        Arch::new().dispatch(Substitution { numeric: self, symbolic, values, forward: true });
    }

    /// Ends the solution for the right-hand side that the factorisation was given.
    pub fn finish(&mut self, symbolic: &Symbolic, values: &mut [f64]) {
        Arch::new().dispatch(Substitution { numeric: self, symbolic, values, forward: false });
    }

    /// Number of negative eigenvalues of the pivot blocks, which are symmetric if the matrix is: each is
    /// multiplied together from its factors. `None` if one is not made of numbers.
    pub fn negative_eigenvalues(&self, symbolic: &Symbolic) -> Option<usize> {
        let mut count = 0;
        for front in &symbolic.fronts {
            let (pivots, height) = (front.pivots(), front.height());
            let panel = &self.factors[front.panel..][..front.panel_len()];
            let entry = |row: usize, column: usize| panel[column * height + row];
            let product = |row: usize, column: usize| {
                let lower = |k: usize| if k == row { 1.0 } else { entry(row, k) };
                (0..=row.min(column)).map(|k| lower(k) * entry(k, column)).sum::<f64>()
            };
            let mut rows: Vec<usize> = (0..pivots).collect();
            for (row, &other) in self.swaps[front.pivot_range()].iter().enumerate() {
                rows.swap(row, other as usize);
            }
            // Row `rows[i]` of the block became row i of the factors.
            let mut block = Mat::<f64>::zeros(pivots, pivots);
            for (i, &row) in rows.iter().enumerate() {
                for column in 0..pivots {
                    let half = 0.5 * product(i, column);
                    block[(row, column)] += half;
                    block[(column, row)] += half;
                }
            }
            if pivots > 0 {
                let finite = (0..pivots).all(|j| (0..pivots).all(|i| block[(i, j)].is_finite()));
                let values = finite.then(|| block.self_adjoint_eigenvalues(Side::Lower).ok()).flatten()?;
                count += values.iter().filter(|value| **value < 0.0).count();
            }
        }
        Some(count)
    }

    #[inline(always)]
    fn take(&mut self, symbolic: &Symbolic, values: &[f64]) {
        for (ordered, &unknown) in self.ordered.iter_mut().zip(&symbolic.unknown_at) {
            *ordered = values[unknown as usize];
        }
    }

    #[inline(always)]
    fn solve_fronts(&mut self, symbolic: &Symbolic, values: &mut [f64], forward: bool) {
        if forward {
            self.take(symbolic, values);
            for front in &symbolic.fronts {
                self.forward(symbolic, front);
            }
        }
        for front in symbolic.fronts.iter().rev() {
            self.backward(symbolic, front);
        }
        for (ordered, &unknown) in self.ordered.iter().zip(&symbolic.unknown_at) {
            values[unknown as usize] = *ordered;
        }
    }

    #[inline(always)]
    fn forward(&mut self, symbolic: &Symbolic, front: &Front) {
        match front.height() {
            0..=8 => self.forward_padded::<8>(symbolic, front),
            9..=12 => self.forward_padded::<12>(symbolic, front),
            13..=16 => self.forward_padded::<16>(symbolic, front),
            17..=20 => self.forward_padded::<20>(symbolic, front),
            21..=24 => self.forward_padded::<24>(symbolic, front),
            25..=PADDING => self.forward_padded::<PADDING>(symbolic, front),
            _ => self.forward_large(symbolic, front),
        }
    }

    /// Forward substitution with columns of `H` rows, a length known to the compiler. What it reads above the
    /// diagonal and behind the front changes only values that are already taken out or never looked at.
    #[inline(always)]
    fn forward_padded<const H: usize>(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let panel = &self.factors[front.panel..];
        let ordered = swapped(&mut self.ordered, &self.swaps, front.pivot_range());
        let mut local = [0.0; H];
        local.iter_mut().zip(&*ordered).for_each(|(local, value)| *local = *value);
        for (k, value) in ordered.iter_mut().enumerate() {
            let column = &panel[k * height..][..H];
            *value = local[k];
            let factor = local[k];
            for i in 0..H {
                local[i] -= factor * column[i];
            }
        }
        let rows = &symbolic.border_rows[front.border_rows()];
        for (value, &row) in local[pivots..height].iter().zip(rows) {
            self.ordered[row as usize] += value;
        }
    }

    #[inline(always)]
    fn forward_large(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let panel = &self.factors[front.panel..][..front.panel_len()];
        let ordered = swapped(&mut self.ordered, &self.swaps, front.pivot_range());
        // Pivots and border side by side, so that each column is one run.
        let local = &mut self.local[..height];
        local.iter_mut().zip(&*ordered).for_each(|(local, value)| *local = *value);
        local[pivots..].fill(0.0);
        for (k, column) in panel.chunks_exact(height.max(1)).enumerate() {
            let (head, tail) = local.split_at_mut(k + 1);
            subtract(tail, &column[k + 1..], head[k]);
        }
        ordered.iter_mut().zip(&*local).for_each(|(value, local)| *value = *local);
        let rows = &symbolic.border_rows[front.border_rows()];
        for (value, &row) in local[pivots..].iter().zip(rows) {
            self.ordered[row as usize] += value;
        }
    }

    #[inline(always)]
    fn backward(&mut self, symbolic: &Symbolic, front: &Front) {
        match front.pivots() {
            0..=4 => self.backward_padded::<4>(symbolic, front),
            5..=8 => self.backward_padded::<8>(symbolic, front),
            9..=12 => self.backward_padded::<12>(symbolic, front),
            13..=16 => self.backward_padded::<16>(symbolic, front),
            17..=24 => self.backward_padded::<24>(symbolic, front),
            25..=PADDING => self.backward_padded::<PADDING>(symbolic, front),
            _ => self.backward_large(symbolic, front),
        }
    }

    /// Backward substitution with columns of `P` rows, see [`Self::forward_padded`].
    #[inline(always)]
    fn backward_padded<const P: usize>(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let (panel, right) = (&self.factors[front.panel..], &self.factors[front.panel + front.panel_len()..]);
        let behind = front.pivot_start() + pivots;
        let (before, after) = self.ordered.split_at_mut(behind);
        let own = &mut before[front.pivot_start()..];
        let mut local = [0.0; P];
        local.iter_mut().zip(&*own).for_each(|(local, value)| *local = *value);
        for (j, &row) in symbolic.border_rows[front.border_rows()].iter().enumerate() {
            let column = &right[j * pivots..][..P];
            let factor = after[row as usize - behind];
            for i in 0..P {
                local[i] -= factor * column[i];
            }
        }
        for k in (0..pivots).rev() {
            let column = &panel[k * height..][..P];
            let value = local[k] * self.inverse_pivots[front.pivot_start() + k];
            own[k] = value;
            for i in 0..P {
                local[i] -= value * column[i];
            }
        }
    }

    #[inline(always)]
    fn backward_large(&mut self, symbolic: &Symbolic, front: &Front) {
        let (pivots, height) = (front.pivots(), front.height());
        let factors = &self.factors[front.panel..][..front.panel_len() + front.right_len()];
        let (panel, right) = factors.split_at(front.panel_len());
        let (before, after) = self.ordered.split_at_mut(front.pivot_start() + pivots);
        let own = &mut before[front.pivot_start()..];
        let rows = &symbolic.border_rows[front.border_rows()];
        let behind = front.pivot_start() + pivots;
        for (&row, column) in rows.iter().zip(right.chunks_exact(pivots.max(1))) {
            let value = after[row as usize - behind];
            subtract(own, column, value);
        }
        for k in (0..pivots).rev() {
            let column = &panel[k * height..][..=k];
            let value = own[k] * self.inverse_pivots[front.pivot_start() + k];
            own[k] = value;
            subtract(&mut own[..k], &column[..k], value);
        }
    }
}

/// A factorisation to be run with the processor's vectors.
struct Factorisation<'a> {
    numeric: &'a mut Numeric,
    symbolic: &'a Symbolic,
    values: &'a [f64],
    shift: &'a [f64],
    right_side: &'a [f64],
}

impl WithSimd for Factorisation<'_> {
    type Output = PivotReport;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> PivotReport {
        self.numeric.factor_fronts(self.symbolic, self.values, self.shift, self.right_side)
    }
}

/// A solution to be found with the processor's vectors.
struct Substitution<'a> {
    numeric: &'a mut Numeric,
    symbolic: &'a Symbolic,
    values: &'a mut [f64],
    /// Whether the right-hand side is still to be substituted forward.
    forward: bool,
}

impl WithSimd for Substitution<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.numeric.solve_fronts(self.symbolic, self.values, self.forward);
    }
}

/// The right-hand sides of a front's pivots, in the order of its rows after their exchange.
#[inline(always)]
fn swapped<'a>(ordered: &'a mut [f64], swaps: &[u32], own: Range<usize>) -> &'a mut [f64] {
    let ordered = &mut ordered[own.clone()];
    for (row, &other) in swaps[own].iter().enumerate() {
        ordered.swap(row, other as usize);
    }
    ordered
}

/// The Schur complement of a child to read, and that of its parent to write.
#[inline(always)]
fn two_ranges<'a>(schur: &'a mut [f64], child: &Front, parent: &Front) -> (&'a [f64], &'a mut [f64]) {
    let (read, write) = (child.schur_range(), parent.schur_range());
    if write.is_empty() {
        (&schur[read], &mut [])
    } else if read.start < write.start {
        let (low, high) = schur.split_at_mut(write.start);
        (&low[read], &mut high[..write.len()])
    } else {
        let (low, high) = schur.split_at_mut(write.end);
        let offset = write.end;
        (&high[read.start - offset..read.end - offset], &mut low[write])
    }
}

/// Adds the Schur complement of a child to the rows and columns of its parent's pivots; `factors` begins at
/// the panel.
#[inline(always)]
fn add_to_pivots(front: &Front, row_ranges: &[RowRange], source: &[f64], factors: &mut [f64]) {
    let (pivots, height, size) = (front.pivots(), front.height(), column_len(row_ranges));
    let (panel, right) = factors.split_at_mut(front.panel_len());
    let pivot_ranges = &row_ranges[..row_ranges.partition_point(|run| (run.to as usize) < pivots)];
    for columns in row_ranges.iter().map(|run| run.wide()) {
        let sources = source[columns.from * size..].chunks_exact(size).take(columns.len);
        match columns.to.checked_sub(pivots) {
            None => {
                let targets = panel[columns.to * height..].chunks_exact_mut(height);
                targets.zip(sources).for_each(|(target, source)| add_ranges(row_ranges, 0, source, target));
            }
            Some(first) => {
                let targets = right[first * pivots..].chunks_exact_mut(pivots.max(1));
                targets.zip(sources).for_each(|(target, source)| add_ranges(pivot_ranges, 0, source, target));
            }
        }
    }
}

/// Adds the Schur complement of a child to that of its parent.
#[inline(always)]
fn add_to_schur(front: &Front, row_ranges: &[RowRange], source: &[f64], schur: &mut [f64]) {
    let (pivots, border, size) = (front.pivots(), front.border(), column_len(row_ranges));
    let row_ranges = &row_ranges[row_ranges.partition_point(|run| (run.to as usize) < pivots)..];
    for columns in row_ranges.iter().map(|run| run.wide()) {
        let sources = source[columns.from * size..].chunks_exact(size).take(columns.len);
        let targets = schur[(columns.to - pivots) * border..].chunks_exact_mut(border.max(1));
        targets.zip(sources).for_each(|(target, source)| add_ranges(row_ranges, pivots, source, target));
    }
}

/// Length of a column of the Schur complement that these runs make up; one if it is empty.
#[inline(always)]
fn column_len(row_ranges: &[RowRange]) -> usize {
    row_ranges.last().map_or(1, |run| (run.from + run.len).max(1) as usize)
}

/// Adds a column of a child to one of its parent that begins with row `first`.
#[inline(always)]
fn add_ranges(row_ranges: &[RowRange], first: usize, source: &[f64], target: &mut [f64]) {
    for run in row_ranges.iter().map(|run| run.wide()) {
        let (target, source) = (&mut target[run.to - first..][..run.len], &source[run.from..][..run.len]);
        target.iter_mut().zip(source).for_each(|(target, value)| *target += value);
    }
}

/// Columns of L whose products are added at a time.
const CHUNK: usize = 4;

/// Adds |L U| on the diagonal, of some columns of L from a row on. The columns of U have their numbers at
/// `upper.1` and a distance of `upper.2`.
#[inline(always)]
fn add_terms(lower: &[f64], height: usize, row: usize, upper: (&[f64], usize, usize), terms: &mut [f64]) {
    let (upper, first, stride) = upper;
    let columns = lower.len() / height.max(1);
    let column = |k: usize| &lower[k * height + row..][..terms.len()];
    if columns == CHUNK {
        let (l0, l1, l2, l3) = (column(0), column(1), column(2), column(3));
        for (i, terms) in terms.iter_mut().enumerate() {
            let u = &upper[i * stride + first..][..CHUNK];
            let sum =
                ((l0[i] * u[0]).abs() + (l1[i] * u[1]).abs()) + ((l2[i] * u[2]).abs() + (l3[i] * u[3]).abs());
            *terms += sum;
        }
        return;
    }
    for k in 0..columns {
        let lower = &lower[k * height + row..];
        for (i, terms) in terms.iter_mut().enumerate() {
            *terms += (lower[i] * upper[i * stride + first + k]).abs();
        }
    }
}
