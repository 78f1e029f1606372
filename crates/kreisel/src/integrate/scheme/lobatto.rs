//! Polynomials through values at the points of Chebyshev and Lobatto, for what is dear to compute at each
//! time within a step.
//!
//! The points x_k = (1 − cos(kπ/n))/2 of a step, with both ends, have the barycentric weights (−1)^k, halved
//! at the ends [BerrutTrefethen2004]. Every second of them is such a set of its own, of half the degree: what
//! it misses at the others shows whether the values are smooth within the step. The error of the whole degree
//! is about the square of that. So degree 6 comes first, checked by degree 3, whose square is of order 8 like
//! the error of a step; degree 12, checked by degree 6, follows where that does not do.

use std::f64::consts::PI;

use smallvec::SmallVec;

/// The whole degree, a multiple of four.
const DEGREE: usize = 12;
/// Half the degree may miss the values by this part of their range.
const RESOLVED: f64 = 0.03;
/// What is below this part of the largest value is rounding.
const ROUNDING: f64 = 1e-9;

/// Polynomials of some numbers.
pub(super) struct Lobatto {
    count: usize,
    /// The numbers at all points, one point after the other.
    values: Vec<f64>,
    /// Whether every point counts, or every second one.
    every: usize,
}

impl Lobatto {
    /// Of so many numbers.
    pub fn new(count: usize) -> Self {
        Self { count, values: vec![0.0; (DEGREE + 1) * count], every: 1 }
    }

    /// Index of the point at the end.
    pub const LAST: usize = DEGREE;

    /// Indices of the points between the ends, those of half the degree or the others.
    pub fn inner(of_half: bool) -> impl Iterator<Item = usize> {
        (1..DEGREE).filter(move |point| point.is_multiple_of(2) == of_half)
    }

    /// Where a point lies within the step, as a part of it.
    pub fn part(point: usize) -> f64 {
        0.5 * (1.0 - (PI * point as f64 / DEGREE as f64).cos())
    }

    /// The numbers at a point.
    pub fn at_mut(&mut self, point: usize) -> &mut [f64] {
        &mut self.values[point * self.count..][..self.count]
    }

    fn value(&self, point: usize, index: usize) -> f64 {
        self.values[point * self.count + index]
    }

    /// Weights of the points at a part of the step: of every one, or of every second.
    fn weights(part: f64, every: usize) -> [f64; DEGREE + 1] {
        let (mut weights, mut sum) = ([0.0; DEGREE + 1], 0.0);
        for (place, point) in (0..=DEGREE).step_by(every).enumerate() {
            let distance = part - Self::part(point);
            if distance == 0.0 {
                weights.fill(0.0);
                weights[point] = 1.0;
                return weights;
            }
            let end = if point == 0 || point == DEGREE { 0.5 } else { 1.0 };
            weights[point] = if place % 2 == 0 { end } else { -end } / distance;
            sum += weights[point];
        }
        weights.map(|weight| weight / sum)
    }

    /// One of the numbers with weights.
    fn interpolate(&self, index: usize, weights: &[f64; DEGREE + 1]) -> f64 {
        weights.iter().enumerate().map(|(point, weight)| weight * self.value(point, index)).sum()
    }

    /// Whether polynomials of half the degree, through every second point, are good to this part of the range
    /// of the numbers; they are shown then.
    pub fn does_half(&mut self, error: f64) -> bool {
        self.every = if self.misses_less(2, error.sqrt().min(RESOLVED)) { 2 } else { 1 };
        self.every == 2
    }

    /// Whether the polynomials show what is between the points.
    pub fn is_resolved(&self) -> bool {
        self.misses_less(1, RESOLVED)
    }

    /// Whether half of these points, every one or every second, miss less than this part of the range of the
    /// numbers at the other half.
    fn misses_less(&self, every: usize, part: f64) -> bool {
        let points = || (0..=DEGREE).step_by(every);
        let of_points = points().flat_map(|point| &self.values[point * self.count..][..self.count]);
        let largest = of_points.fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let others = || points().skip(1).step_by(2);
        let weights: SmallVec<[_; DEGREE / 2]> =
            others().map(|point| (point, Self::weights(Self::part(point), 2 * every))).collect();
        (0..self.count).all(|index| {
            let values = points().map(|point| self.value(point, index));
            let [low, high] =
                values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
            let allowed = part * (high - low) + ROUNDING * largest;
            // Written so that what is not a number is not resolved.
            weights.iter().all(|(point, weights)| {
                (self.interpolate(index, weights) - self.value(*point, index)).abs() <= allowed
            })
        })
    }

    /// All numbers at a part of the step.
    pub fn evaluate(&self, part: f64) -> impl Iterator<Item = f64> + '_ {
        let weights = Self::weights(part, self.every);
        (0..self.count).map(move |index| self.interpolate(index, &weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(f64) -> f64) -> Lobatto {
        let mut polynomials = Lobatto::new(1);
        for point in 0..=Lobatto::LAST {
            polynomials.at_mut(point)[0] = function(Lobatto::part(point));
        }
        polynomials
    }

    fn largest_error(of: &Lobatto, function: impl Fn(f64) -> f64) -> f64 {
        let parts = (0..=100).map(|i| f64::from(i) / 100.0);
        parts.map(|part| (of.evaluate(part).next().unwrap() - function(part)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn what_swings_slowly_is_resolved_and_shown() {
        for phase in [0.1, 1.0, 3.0, 5.0] {
            let swing = |part: f64| 7.0 + (phase * part).sin();
            let found = of(swing);
            assert!(found.is_resolved(), "{phase}");
            // The error of the degree n is near 2 J_(n+1)(ω/2), for ω = 5 at n = 12 some 5e-9.
            assert!(largest_error(&found, swing) < 2e-8, "{phase}");
        }
    }

    #[test]
    fn half_the_degree_is_shown_where_it_is_as_good_as_is_wanted() {
        let swing = |phase: f64| move |part: f64| 7.0 + (phase * part).sin();
        for error in [1e-4, 1e-6, 1e-8] {
            // Steps of order 8 turn a vibration by so much.
            let phase = 4.0 * f64::powf(error, 0.125);
            for part in [1.0, 0.5, 0.1] {
                let swing = swing(part * phase);
                let mut found = of(swing);
                assert!(found.does_half(error), "{error} {part}");
                assert!(largest_error(&found, swing) < error, "{error} {part}");
            }
            assert!(!of(swing(4.0 * phase)).does_half(error));
        }
        assert!(!of(|part| if part < 0.4 { 0.0 } else { 1.0 }).does_half(1e-3));
        assert!(!of(|part| if part < 0.4 { f64::NAN } else { 1.0 }).does_half(1e-3));
    }

    #[test]
    fn polynomials_of_its_degree_are_exact() {
        let power = |part: f64| part.powi(DEGREE as i32) - 3.0 * part;
        // A few roundings of numbers up to 3.
        assert!(largest_error(&of(power), power) < 1e-14);
    }

    #[test]
    fn what_jumps_or_swings_fast_is_not_resolved() {
        assert!(!of(|part| if part < 0.4 { 0.0 } else { 1.0 }).is_resolved());
        assert!(!of(|part| (14.0 * part).sin()).is_resolved());
        assert!(!of(|part| ((part - 0.4) / 1e-3).tanh()).is_resolved());
        assert!(!of(|part| if part < 0.4 { f64::NAN } else { 1.0 }).is_resolved());
    }
}
