//! Functions given by points: straight lines or a cubic spline between them.
//!
//! The smooth kind is the natural cubic spline: value, slope and curvature are continuous, and the
//! curvature vanishes at both ends. Outside of the points the function holds its end value or continues
//! along its end slope; for the natural spline the continued function is smooth everywhere.

/// How the function runs between its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Natural cubic spline with continuous curvature.
    Smooth,
    /// Straight lines.
    Linear,
}

/// How the function runs outside of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It keeps the value of the end.
    Hold,
    /// It keeps the slope of the end.
    Continue,
}

/// Why points do not make a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMistake {
    /// There are fewer than two points.
    TooFew,
    /// The point with this index does not lie to the right of the one before it.
    NotAscending(usize),
}

/// A function of one number given by points.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    arguments: Vec<f64>,
    values: Vec<f64>,
    /// Second derivative at each point; zero for straight lines.
    curvatures: Vec<f64>,
    /// Integral from the first point to each point.
    integrals: Vec<f64>,
    interpolation: Interpolation,
    outside: Outside,
}

impl Table {
    /// Function through points (argument, value) with ascending arguments; two at least.
    pub fn new(
        points: &[(f64, f64)],
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Self, TableMistake> {
        if points.len() < 2 {
            return Err(TableMistake::TooFew);
        }
        let (arguments, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        // Written so that not-a-number is refused too.
        if let Some(index) = arguments.windows(2).position(|pair| !matches!(pair, [a, b] if a < b)) {
            return Err(TableMistake::NotAscending(index + 1));
        }
        let curvatures = match interpolation {
            Interpolation::Smooth => natural_curvatures(&arguments, &values),
            Interpolation::Linear => vec![0.0; points.len()],
        };
        let mut table = Self { arguments, values, curvatures, integrals: vec![0.0], interpolation, outside };
        for piece in 0..points.len() - 1 {
            let part = table.part_of_piece(piece, table.arguments[piece + 1]);
            table.integrals.push(table.integrals[piece] + part);
        }
        Ok(table)
    }

    /// Integral from the first point to an argument; allocates nothing.
    pub fn integral(&self, argument: f64) -> f64 {
        let last = self.arguments.len() - 1;
        let beyond = |end: usize| {
            let distance = argument - self.arguments[end];
            0.5 * (self.values[end] + self.evaluate(argument)[0]) * distance
        };
        if argument < self.arguments[0] {
            return beyond(0);
        }
        if argument > self.arguments[last] {
            return self.integrals[last] + beyond(last);
        }
        let piece = self.arguments.partition_point(|&start| start <= argument).clamp(1, last) - 1;
        self.integrals[piece] + self.part_of_piece(piece, argument)
    }

    /// Integral from the start of a piece; Simpson's rule is exact for its cubic.
    fn part_of_piece(&self, piece: usize, argument: f64) -> f64 {
        let start = self.arguments[piece];
        let middle = self.inside(piece, 0.5 * (start + argument))[0];
        let end = self.inside(piece, argument)[0];
        (argument - start) / 6.0 * (self.values[piece] + 4.0 * middle + end)
    }

    /// Value, first and second derivative; allocates nothing.
    pub fn evaluate(&self, argument: f64) -> [f64; 3] {
        let last = self.arguments.len() - 1;
        if argument < self.arguments[0] {
            return self.outside(0, self.slope_at(0, 0.0), argument);
        }
        if argument > self.arguments[last] {
            return self.outside(last, self.slope_at(last - 1, 1.0), argument);
        }
        let piece = self.arguments.partition_point(|&start| start <= argument).clamp(1, last) - 1;
        self.inside(piece, argument)
    }

    /// Arguments at which the function or its slope jumps, ascending.
    pub fn corners(&self) -> Vec<f64> {
        let last = self.arguments.len() - 1;
        let mut corners = Vec::new();
        let held = self.outside == Outside::Hold;
        if held && self.slope_at(0, 0.0) != 0.0 {
            corners.push(self.arguments[0]);
        }
        if self.interpolation == Interpolation::Linear {
            let bends = (1..last).filter(|&knot| self.slope_at(knot - 1, 1.0) != self.slope_at(knot, 0.0));
            corners.extend(bends.map(|knot| self.arguments[knot]));
        }
        if held && self.slope_at(last - 1, 1.0) != 0.0 {
            corners.push(self.arguments[last]);
        }
        corners
    }

    /// On a piece of width h with s = (x − x₀)/h from 0 to 1 and curvatures m₀, m₁ at its ends, the cubic
    /// is (1−s) y₀ + s y₁ + h²/6 ((1−s)³ − (1−s)) m₀ + h²/6 (s³ − s) m₁.
    fn inside(&self, piece: usize, argument: f64) -> [f64; 3] {
        let width = self.arguments[piece + 1] - self.arguments[piece];
        let s = (argument - self.arguments[piece]) / width;
        let r = 1.0 - s;
        let [y0, y1] = [self.values[piece], self.values[piece + 1]];
        let [m0, m1] = [self.curvatures[piece], self.curvatures[piece + 1]];
        let value = r * y0 + s * y1 + width * width / 6.0 * ((r * r * r - r) * m0 + (s * s * s - s) * m1);
        [value, self.slope_at(piece, s), r * m0 + s * m1]
    }

    fn slope_at(&self, piece: usize, s: f64) -> f64 {
        let width = self.arguments[piece + 1] - self.arguments[piece];
        let r = 1.0 - s;
        let [m0, m1] = [self.curvatures[piece], self.curvatures[piece + 1]];
        (self.values[piece + 1] - self.values[piece]) / width
            + width / 6.0 * ((1.0 - 3.0 * r * r) * m0 + (3.0 * s * s - 1.0) * m1)
    }

    fn outside(&self, end: usize, slope: f64, argument: f64) -> [f64; 3] {
        match self.outside {
            Outside::Hold => [self.values[end], 0.0, 0.0],
            Outside::Continue => [self.values[end] + slope * (argument - self.arguments[end]), slope, 0.0],
        }
    }
}

/// Second derivatives of the natural spline: continuity of the slope at the inner points,
/// h₋ m₋ + 2(h₋ + h₊) m + h₊ m₊ = 6 (d₊ − d₋) with the slopes d of the chords, is tridiagonal and
/// diagonally dominant, so elimination without pivoting is safe.
fn natural_curvatures(arguments: &[f64], values: &[f64]) -> Vec<f64> {
    let count = arguments.len();
    let width = |piece: usize| arguments[piece + 1] - arguments[piece];
    let chord = |piece: usize| (values[piece + 1] - values[piece]) / width(piece);
    let mut curvatures = vec![0.0; count];
    let mut upper = vec![0.0; count];
    for knot in 1..count - 1 {
        let (left, right) = (width(knot - 1), width(knot));
        let pivot = 2.0 * (left + right) - left * upper[knot - 1];
        upper[knot] = right / pivot;
        curvatures[knot] = (6.0 * (chord(knot) - chord(knot - 1)) - left * curvatures[knot - 1]) / pivot;
    }
    for knot in (1..count - 1).rev() {
        curvatures[knot] -= upper[knot] * curvatures[knot + 1];
    }
    curvatures
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: &[(f64, f64)] = &[(0.0, 1.0), (1.0, 3.0), (1.5, 2.0), (4.0, 2.0), (5.0, -1.0)];

    #[test]
    fn every_table_passes_through_its_points() {
        for interpolation in [Interpolation::Smooth, Interpolation::Linear] {
            let table = Table::new(POINTS, interpolation, Outside::Hold).unwrap();
            for &(argument, value) in POINTS {
                // Some roundings of the polynomials at their ends.
                assert!((table.evaluate(argument)[0] - value).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn the_smooth_table_has_continuous_slope_and_curvature() {
        let table = Table::new(POINTS, Interpolation::Smooth, Outside::Continue).unwrap();
        for &(argument, _) in POINTS {
            let [before, after] = [-1e-9, 1e-9].map(|shift| table.evaluate(argument + shift));
            for (before, after) in before.into_iter().zip(after) {
                // Third derivatives of these points stay below 50.
                assert!((before - after).abs() < 1e-7, "{argument}: {before} {after}");
            }
        }
        assert!(table.corners().is_empty());
    }

    #[test]
    fn the_spline_of_a_straight_line_is_the_line() {
        let points: Vec<(f64, f64)> = [0.0, 0.1, 3.0, 4.0].map(|x| (x, 2.0 * x - 1.0)).to_vec();
        let table = Table::new(&points, Interpolation::Smooth, Outside::Continue).unwrap();
        for argument in [-2.0, 0.05, 1.0, 3.5, 9.0] {
            let [value, slope, curvature] = table.evaluate(argument);
            // Roundings of numbers below 20.
            assert!((value - (2.0 * argument - 1.0)).abs() < 1e-13);
            assert!((slope - 2.0).abs() < 1e-13 && curvature.abs() < 1e-13);
        }
    }

    #[test]
    fn the_spline_converges_to_a_smooth_function_with_order_four() {
        // sin has no curvature at 0 and π, as the natural spline assumes.
        let error = |count: usize| {
            let step = std::f64::consts::PI / count as f64;
            let points: Vec<(f64, f64)> =
                (0..=count).map(|k| step * k as f64).map(|x| (x, x.sin())).collect();
            let table = Table::new(&points, Interpolation::Smooth, Outside::Hold).unwrap();
            (0..1000)
                .map(|k| std::f64::consts::PI * f64::from(k) / 1000.0)
                .map(|x| (table.evaluate(x)[0] - x.sin()).abs())
                .fold(0.0, f64::max)
        };
        let order = (error(20) / error(40)).log2();
        assert!((order - 4.0).abs() < 0.1, "{order}");
    }

    #[test]
    fn the_integral_has_the_function_as_its_slope() {
        for interpolation in [Interpolation::Smooth, Interpolation::Linear] {
            for outside in [Outside::Hold, Outside::Continue] {
                let table = Table::new(POINTS, interpolation, outside).unwrap();
                assert_eq!(table.integral(POINTS[0].0), 0.0);
                for k in -10..70 {
                    let (x, h) = (0.1 * f64::from(k) + 0.013, 1e-3);
                    // Simpson's rule over a short way between the points is exact for a cubic.
                    let [a, b, c] = [x - h, x, x + h].map(|x| table.evaluate(x)[0]);
                    let expected = h / 3.0 * (a + 4.0 * b + c);
                    let found = table.integral(x + h) - table.integral(x - h);
                    assert!((found - expected).abs() < 1e-13, "{interpolation:?} {outside:?} {x}");
                }
            }
        }
    }

    #[test]
    fn outside_of_the_points_the_table_holds_or_continues() {
        let held = Table::new(POINTS, Interpolation::Linear, Outside::Hold).unwrap();
        assert_eq!(held.evaluate(-1.0), [1.0, 0.0, 0.0]);
        assert_eq!(held.evaluate(7.0), [-1.0, 0.0, 0.0]);
        assert_eq!(held.corners(), [0.0, 1.0, 1.5, 4.0, 5.0]);
        let continued = Table::new(POINTS, Interpolation::Linear, Outside::Continue).unwrap();
        assert_eq!(continued.evaluate(-1.0), [-1.0, 2.0, 0.0]);
        assert_eq!(continued.evaluate(7.0), [-7.0, -3.0, 0.0]);
        assert_eq!(continued.corners(), [1.0, 1.5, 4.0]);
    }

    #[test]
    fn points_that_make_no_function_are_refused() {
        let build = |points: &[(f64, f64)]| Table::new(points, Interpolation::Smooth, Outside::Hold);
        assert_eq!(build(&[(0.0, 1.0)]), Err(TableMistake::TooFew));
        assert_eq!(build(&[(0.0, 1.0), (0.0, 2.0)]), Err(TableMistake::NotAscending(1)));
        assert_eq!(build(&[(0.0, 1.0), (1.0, 1.0), (f64::NAN, 2.0)]), Err(TableMistake::NotAscending(2)));
    }
}
