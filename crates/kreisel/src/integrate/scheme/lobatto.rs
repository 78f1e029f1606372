//! Polynomials through values at the points of Chebyshev and Lobatto, for what is dear to compute at each
//! time within a step.
//!
//! The points x_k = (1 − cos(kπ/n))/2 of a step, with both ends, have the barycentric weights (−1)^k, halved
//! at the ends [BerrutTrefethen2004]. Every second of them is such a set of its own, of half the degree: what
//! it misses at the others shows whether the values are smooth within the step. The error of the whole degree
//! is about the square of that.

use std::f64::consts::PI;

/// Degree, an even number.
const DEGREE: usize = 10;
/// Half the degree may miss the values by this part of their range.
const RESOLVED: f64 = 0.03;
/// What is below this part of the largest value is rounding.
const ROUNDING: f64 = 1e-9;

/// Polynomials of some numbers.
pub(super) struct Lobatto {
    count: usize,
    /// The numbers at all points, one point after the other.
    values: Vec<f64>,
}

impl Lobatto {
    /// Of so many numbers.
    pub fn new(count: usize) -> Self {
        Self { count, values: vec![0.0; (DEGREE + 1) * count] }
    }

    /// Indices of the points between the ends, and of the last one.
    pub const INNER: std::ops::Range<usize> = 1..DEGREE;
    pub const LAST: usize = DEGREE;

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

    /// Whether the polynomials show what is between the points.
    pub fn is_resolved(&self) -> bool {
        let largest = self.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let others: [_; DEGREE / 2] = std::array::from_fn(|place| {
            let point = 2 * place + 1;
            (point, Self::weights(Self::part(point), 2))
        });
        (0..self.count).all(|index| {
            let values = (0..=DEGREE).map(|point| self.value(point, index));
            let [low, high] =
                values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
            let allowed = RESOLVED * (high - low) + ROUNDING * largest;
            // Written so that what is not a number is not resolved.
            others.iter().all(|(point, weights)| {
                (self.interpolate(index, weights) - self.value(*point, index)).abs() <= allowed
            })
        })
    }

    /// All numbers at a part of the step.
    pub fn evaluate(&self, part: f64) -> impl Iterator<Item = f64> + '_ {
        let weights = Self::weights(part, 1);
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
            // The error of the degree n is near 2 J_(n+1)(ω/2), for ω = 5 at n = 10 some 5e-7.
            assert!(largest_error(&found, swing) < 2e-6, "{phase}");
        }
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
