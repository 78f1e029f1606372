//! Functions given by points: straight lines or cubic splines between them, over one number or two.
//!
//! The smooth kind is the natural cubic spline: value, slope and curvature are continuous, and the
//! curvature vanishes at both ends. Outside of the points the function holds its end value, continues
//! along its end slope, or repeats itself; the spline of a function that repeats itself is smooth at the
//! seam as well. Over two numbers it is the product of two such splines.

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
    /// It begins anew: the last point has the value of the first.
    Repeat,
}

/// Why points do not make a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMistake {
    /// There are fewer than two points.
    TooFew,
    /// The point with this index does not lie to the right of the one before it.
    NotAscending(usize),
    /// The function repeats itself, but the last value is not the first.
    EndsDiffer,
}

/// Ascending arguments, and how a function goes on outside of them.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    knots: Vec<f64>,
    outside: Outside,
}

/// Where an argument lies on an axis.
#[derive(Clone, Copy)]
struct AxisPlace {
    /// Piece between two knots.
    piece: usize,
    width: f64,
    /// Part of the piece before the argument, from 0 to 1.
    s: f64,
    /// How far the argument lies outside of the knots; s is then that of the end.
    beyond: Option<f64>,
}

impl Axis {
    fn new(knots: Vec<f64>, outside: Outside) -> Result<Self, TableMistake> {
        if knots.len() < 2 {
            return Err(TableMistake::TooFew);
        }
        // Written so that not-a-number is refused too.
        match knots.windows(2).position(|pair| !matches!(pair, [a, b] if a < b)) {
            Some(index) => Err(TableMistake::NotAscending(index + 1)),
            None => Ok(Self { knots, outside }),
        }
    }

    fn ends(&self) -> [f64; 2] {
        [self.knots[0], self.knots[self.knots.len() - 1]]
    }

    /// After how much the function repeats itself.
    fn period(&self) -> Option<f64> {
        let [first, last] = self.ends();
        (self.outside == Outside::Repeat).then_some(last - first)
    }

    fn width(&self, piece: usize) -> f64 {
        self.knots[piece + 1] - self.knots[piece]
    }

    fn place(&self, argument: f64) -> AxisPlace {
        let [first, last] = self.ends();
        let argument = self.period().map_or(argument, |period| first + (argument - first).rem_euclid(period));
        let pieces = self.knots.len() - 1;
        let at = |piece: usize, s: f64, beyond: Option<f64>| AxisPlace {
            piece,
            width: self.width(piece),
            s,
            beyond,
        };
        if argument < first {
            return at(0, 0.0, Some(argument - first));
        }
        if argument > last {
            return at(pieces - 1, 1.0, Some(argument - last));
        }
        let piece = self.knots.partition_point(|&start| start <= argument).clamp(1, pieces) - 1;
        at(piece, (argument - self.knots[piece]) / self.width(piece), None)
    }

    /// What the values and the curvatures at both ends of the piece contribute to a derivative of the
    /// function there.
    fn weights(&self, place: &AxisPlace, order: u8) -> [f64; 4] {
        let Some(beyond) = place.beyond else { return cubic(place, order) };
        match (self.outside, order) {
            (Outside::Continue, 0) => {
                let (value, slope) = (cubic(place, 0), cubic(place, 1));
                std::array::from_fn(|k| value[k] + beyond * slope[k])
            }
            (Outside::Continue, 1) => cubic(place, 1),
            (_, 0) => cubic(place, 0),
            _ => [0.0; 4],
        }
    }

    /// Second derivatives at the knots of the spline through some values. Continuity of the slope,
    /// h₋ m₋ + 2(h₋ + h₊) m + h₊ m₊ = 6 (d₊ − d₋) with the slopes d of the chords, is tridiagonal and
    /// diagonally dominant, so elimination without pivoting is safe.
    fn curvatures(&self, values: &[f64]) -> Vec<f64> {
        let (rows, mut right) = self.smooth_slopes(values);
        let count = self.knots.len();
        if self.outside != Outside::Repeat {
            solve_tridiagonal(&rows, &mut right);
            return right;
        }
        let chord = |piece: usize| (values[piece + 1] - values[piece]) / self.width(piece);
        // The equation of the seam couples the two pieces beside it. The curvature there is found such that
        // it holds: with m₀ at both ends the others are those for m₀ = 0 and m₀ times those for m₀ = 1.
        let (before, after) = (self.width(count - 2), self.width(0));
        let mut by_seam = vec![0.0; count];
        (by_seam[0], by_seam[count - 1]) = (1.0, 1.0);
        solve_tridiagonal(&rows, &mut right);
        solve_tridiagonal(&rows, &mut by_seam);
        let at_seam = |m: &[f64]| before * m[count - 2] + 2.0 * (before + after) * m[0] + after * m[1];
        let seam = (6.0 * (chord(0) - chord(count - 2)) - at_seam(&right)) / at_seam(&by_seam);
        right.iter().zip(&by_seam).map(|(own, by_seam)| own + seam * by_seam).collect()
    }

    /// Rows and right-hand sides of the equations for the curvatures; those of both ends say that they vanish.
    fn smooth_slopes(&self, values: &[f64]) -> (Vec<[f64; 3]>, Vec<f64>) {
        let count = self.knots.len();
        let chord = |piece: usize| (values[piece + 1] - values[piece]) / self.width(piece);
        let mut rows = vec![[0.0, 1.0, 0.0]; count];
        let mut right = vec![0.0; count];
        for knot in 1..count - 1 {
            let (before, after) = (self.width(knot - 1), self.width(knot));
            rows[knot] = [before, 2.0 * (before + after), after];
            right[knot] = 6.0 * (chord(knot) - chord(knot - 1));
        }
        (rows, right)
    }

    /// The curvatures where nothing is known of the ends: the two pieces at an end are one cubic, so that the
    /// curvature is a straight line over them. It then follows at the end from those of the next two knots and
    /// leaves the equations, which stay diagonally dominant. Three points are joined by a parabola.
    fn curvatures_of_open_ends(&self, values: &[f64]) -> Vec<f64> {
        let count = self.knots.len();
        let (mut rows, mut right) = self.smooth_slopes(values);
        if count < 4 {
            // m₀ = m₁ = m₂ in the only equation, 2(h₋ + h₊) m + (h₋ + h₊) m = 6 (d₊ − d₋).
            let curvature = if count == 3 { right[1] / (1.5 * rows[1][1]) } else { 0.0 };
            return vec![curvature; count];
        }
        let last = count - 1;
        // m₀ = (1 + r) m₁ − r m₂ with r = h₀/h₁, and the same from the other end.
        let ratios = [self.width(0) / self.width(1), self.width(last - 1) / self.width(last - 2)];
        let [left, _, next] = &mut rows[1];
        let (outer, inner) = (std::mem::take(left), next);
        *inner -= outer * ratios[0];
        rows[1][1] += outer * (1.0 + ratios[0]);
        let [inner, _, outer] = &mut rows[last - 1];
        let outer = std::mem::take(outer);
        *inner -= outer * ratios[1];
        rows[last - 1][1] += outer * (1.0 + ratios[1]);
        solve_tridiagonal(&rows, &mut right);
        right[0] = (1.0 + ratios[0]) * right[1] - ratios[0] * right[2];
        right[last] = (1.0 + ratios[1]) * right[last - 1] - ratios[1] * right[last - 2];
        right
    }
}

/// On a piece of width h with s = (x − x₀)/h from 0 to 1 and curvatures m₀, m₁ at its ends, the cubic
/// is (1−s) y₀ + s y₁ + h²/6 ((1−s)³ − (1−s)) m₀ + h²/6 (s³ − s) m₁. These are the factors of y₀, y₁, m₀
/// and m₁ in one of its derivatives.
fn cubic(place: &AxisPlace, order: u8) -> [f64; 4] {
    let (s, r, h) = (place.s, 1.0 - place.s, place.width);
    match order {
        0 => [r, s, h * h / 6.0 * (r * r * r - r), h * h / 6.0 * (s * s * s - s)],
        1 => [-1.0 / h, 1.0 / h, h / 6.0 * (1.0 - 3.0 * r * r), h / 6.0 * (3.0 * s * s - 1.0)],
        2 => [0.0, 0.0, r, s],
        3 => [0.0, 0.0, -1.0 / h, 1.0 / h],
        _ => [0.0; 4],
    }
}

/// Solves a diagonally dominant system; a row holds what stands left of, on and right of the diagonal.
fn solve_tridiagonal(rows: &[[f64; 3]], right: &mut [f64]) {
    let mut upper = vec![0.0; rows.len()];
    for (row, &[left, middle, next]) in rows.iter().enumerate() {
        let (before, solved) = if row > 0 { (upper[row - 1], right[row - 1]) } else { (0.0, 0.0) };
        let pivot = middle - left * before;
        upper[row] = next / pivot;
        right[row] = (right[row] - left * solved) / pivot;
    }
    for row in (0..rows.len() - 1).rev() {
        right[row] -= upper[row] * right[row + 1];
    }
}

/// A function of one number given by points.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    axis: Axis,
    values: Vec<f64>,
    /// Second derivative at each point; zero for straight lines.
    curvatures: Vec<f64>,
    /// Integral from the first point to each point.
    integrals: Vec<f64>,
    interpolation: Interpolation,
}

impl Table {
    /// Function through points (argument, value) with ascending arguments; two at least.
    pub fn new(
        points: &[(f64, f64)],
        interpolation: Interpolation,
        outside: Outside,
    ) -> Result<Self, TableMistake> {
        let (arguments, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let axis = Axis::new(arguments, outside)?;
        if outside == Outside::Repeat && values[0] != values[values.len() - 1] {
            return Err(TableMistake::EndsDiffer);
        }
        let curvatures = match interpolation {
            Interpolation::Smooth => axis.curvatures(&values),
            Interpolation::Linear => vec![0.0; points.len()],
        };
        Ok(Self::of_curvatures(axis, values, curvatures, interpolation))
    }

    /// The smooth function through points of which nothing is known at the ends: slope and curvature there
    /// follow from the points beside, as those of a motion whose part was recorded. A natural spline has no
    /// curvature there.
    pub fn recorded(points: &[(f64, f64)]) -> Result<Self, TableMistake> {
        let (arguments, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let axis = Axis::new(arguments, Outside::Continue)?;
        let curvatures = axis.curvatures_of_open_ends(&values);
        Ok(Self::of_curvatures(axis, values, curvatures, Interpolation::Smooth))
    }

    fn of_curvatures(
        axis: Axis,
        values: Vec<f64>,
        curvatures: Vec<f64>,
        interpolation: Interpolation,
    ) -> Self {
        let pieces = values.len() - 1;
        let mut table = Self { axis, values, curvatures, integrals: vec![0.0], interpolation };
        for piece in 0..pieces {
            let part = table.part_of_piece(piece, 1.0);
            table.integrals.push(table.integrals[piece] + part);
        }
        table
    }

    /// Integral from the first point to an argument; allocates nothing.
    pub fn integral(&self, argument: f64) -> f64 {
        let [first, last] = self.axis.ends();
        let whole = self.integrals[self.integrals.len() - 1];
        let (argument, before) = match self.axis.period() {
            Some(period) => {
                let turns = ((argument - first) / period).floor();
                (argument - turns * period, turns * whole)
            }
            None => (argument, 0.0),
        };
        let beyond = |end: f64| 0.5 * (self.evaluate(end)[0] + self.evaluate(argument)[0]) * (argument - end);
        if argument < first {
            return before + beyond(first);
        }
        if argument > last {
            return before + whole + beyond(last);
        }
        let place = self.axis.place(argument);
        before + self.integrals[place.piece] + self.part_of_piece(place.piece, place.s)
    }

    /// Integral from the start of a piece; Simpson's rule is exact for its cubic.
    fn part_of_piece(&self, piece: usize, s: f64) -> f64 {
        let width = self.axis.width(piece);
        let value = |s: f64| self.sum(piece, &cubic(&AxisPlace { piece, width, s, beyond: None }, 0));
        s * width / 6.0 * (self.values[piece] + 4.0 * value(0.5 * s) + value(s))
    }

    fn sum(&self, piece: usize, weights: &[f64; 4]) -> f64 {
        let [y0, y1] = [self.values[piece], self.values[piece + 1]];
        let [m0, m1] = [self.curvatures[piece], self.curvatures[piece + 1]];
        weights[0] * y0 + weights[1] * y1 + (weights[2] * m0 + weights[3] * m1)
    }

    /// Value, first and second derivative; allocates nothing.
    pub fn evaluate(&self, argument: f64) -> [f64; 3] {
        let place = self.axis.place(argument);
        [0, 1, 2].map(|order| self.sum(place.piece, &self.axis.weights(&place, order)))
    }

    /// The value, or a derivative of it.
    fn derivative(&self, argument: f64, order: u8) -> f64 {
        let place = self.axis.place(argument);
        self.sum(place.piece, &self.axis.weights(&place, order))
    }

    fn slope_at(&self, piece: usize, s: f64) -> f64 {
        self.sum(piece, &cubic(&AxisPlace { piece, width: self.axis.width(piece), s, beyond: None }, 1))
    }

    /// Arguments between two others at which the function or its slope jumps, ascending.
    pub fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        let kinks = self.kinks();
        let Some(period) = self.axis.period() else {
            return kinks.into_iter().filter(|at| (from..=to).contains(at)).collect();
        };
        let first = self.axis.ends()[0];
        let turns = [from, to].map(|end| ((end - first) / period).floor());
        // A function with more corners is noise to any step size.
        let count = turns[1] - turns[0];
        if count.is_nan() || count * (kinks.len() as f64) > MAX_CORNERS {
            return Vec::new();
        }
        let count = count as usize;
        (0..=count)
            .flat_map(|turn| kinks.iter().map(move |at| at + (turns[0] + turn as f64) * period))
            .filter(|at| (from..=to).contains(at))
            .collect()
    }

    /// Points at which the function has a corner; of a function that repeats itself those of one period.
    fn kinks(&self) -> Vec<f64> {
        let knots = &self.axis.knots;
        let last = knots.len() - 1;
        let bends = |before: usize, after: usize| self.slope_at(before, 1.0) != self.slope_at(after, 0.0);
        let mut kinks = Vec::new();
        match self.axis.outside {
            Outside::Hold if self.slope_at(0, 0.0) != 0.0 => kinks.push(knots[0]),
            Outside::Repeat if self.interpolation == Interpolation::Linear && bends(last - 1, 0) => {
                kinks.push(knots[0]);
            }
            _ => {}
        }
        if self.interpolation == Interpolation::Linear {
            kinks.extend((1..last).filter(|&knot| bends(knot - 1, knot)).map(|knot| knots[knot]));
        }
        if self.axis.outside == Outside::Hold && self.slope_at(last - 1, 1.0) != 0.0 {
            kinks.push(knots[last]);
        }
        kinks
    }
}

/// Most corners that are reported of one function of time; one with more is noise to any step size.
pub(crate) const MAX_CORNERS: f64 = 100_000.0;

/// A function of two numbers x and y given on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct TableGrid {
    axes: [Axis; 2],
    /// Value, its curvatures along x and along y, and the curvature along y of the curvature along x, at each
    /// point of the grid: all y of the first x come first.
    points: Vec<[f64; 4]>,
    interpolation: Interpolation,
}

/// Why a grid does not make a function, and along which axis.
pub type GridMistake = (usize, TableMistake);

impl TableGrid {
    /// Function through the values of a grid: one row for each x, one number in it for each y.
    pub fn new(
        arguments: [Vec<f64>; 2],
        rows: &[Vec<f64>],
        interpolation: Interpolation,
        outside: [Outside; 2],
    ) -> Result<Self, GridMistake> {
        let [x, y] = arguments;
        let x = Axis::new(x, outside[0]).map_err(|mistake| (0, mistake))?;
        let y = Axis::new(y, outside[1]).map_err(|mistake| (1, mistake))?;
        let (count, width) = (x.knots.len(), y.knots.len());
        debug_assert!(rows.len() == count && rows.iter().all(|row| row.len() == width), "one value a point");
        if outside[0] == Outside::Repeat && rows[0] != rows[count - 1] {
            return Err((0, TableMistake::EndsDiffer));
        }
        if outside[1] == Outside::Repeat && rows.iter().any(|row| row[0] != row[width - 1]) {
            return Err((1, TableMistake::EndsDiffer));
        }
        let mut points: Vec<[f64; 4]> = rows.iter().flatten().map(|value| [*value, 0.0, 0.0, 0.0]).collect();
        if interpolation == Interpolation::Smooth {
            for column in 0..width {
                let values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
                for (row, curvature) in x.curvatures(&values).into_iter().enumerate() {
                    points[row * width + column][1] = curvature;
                }
            }
            for row in points.chunks_mut(width) {
                for (of, to) in [(0, 2), (1, 3)] {
                    let values: Vec<f64> = row.iter().map(|point| point[of]).collect();
                    let curvatures = y.curvatures(&values);
                    row.iter_mut().zip(curvatures).for_each(|(point, curvature)| point[to] = curvature);
                }
            }
        }
        Ok(Self { axes: [x, y], points, interpolation })
    }

    /// The value, or a derivative of some orders by x and y; allocates nothing.
    fn derivative(&self, arguments: [f64; 2], orders: [u8; 2]) -> f64 {
        let [x, y] = [0, 1].map(|axis: usize| self.axes[axis].place(arguments[axis]));
        let along_x = self.axes[0].weights(&x, orders[0]);
        let along_y = self.axes[1].weights(&y, orders[1]);
        let width = self.axes[1].knots.len();
        let mut sum = 0.0;
        for i in 0..2 {
            for j in 0..2 {
                let [value, by_x, by_y, by_both] = self.points[(x.piece + i) * width + y.piece + j];
                sum += along_y[j] * (along_x[i] * value + along_x[2 + i] * by_x)
                    + along_y[2 + j] * (along_x[i] * by_y + along_x[2 + i] * by_both);
            }
        }
        sum
    }

    /// Knots along an axis at which the function may have a corner.
    fn kinks(&self, axis: usize) -> Vec<f64> {
        let Axis { knots, outside } = &self.axes[axis];
        match (self.interpolation, outside) {
            (Interpolation::Linear, Outside::Continue) => knots[1..knots.len() - 1].to_vec(),
            (Interpolation::Linear, Outside::Repeat) => knots[..knots.len() - 1].to_vec(),
            (Interpolation::Linear, Outside::Hold) => knots.clone(),
            (Interpolation::Smooth, Outside::Hold) => self.axes[axis].ends().to_vec(),
            (Interpolation::Smooth, _) => Vec::new(),
        }
    }
}

/// A function that a model gives by points, of one number or of two.
#[derive(Clone, Debug, PartialEq)]
pub enum TableFunction {
    /// Of one number.
    Line(Table),
    /// Of two numbers.
    Grid(TableGrid),
}

impl TableFunction {
    /// Number of arguments.
    pub fn arity(&self) -> usize {
        match self {
            Self::Line(_) => 1,
            Self::Grid(_) => 2,
        }
    }

    /// The value, or a derivative of some orders by both arguments; a function of one number looks at the
    /// first alone. Allocates nothing.
    pub fn derivative(&self, arguments: [f64; 2], orders: [u8; 2]) -> f64 {
        match self {
            Self::Line(table) => table.derivative(arguments[0], orders[0]),
            Self::Grid(surface) => surface.derivative(arguments, orders),
        }
    }

    /// Values of an argument at which there may be a corner, and after how much they repeat themselves.
    pub(crate) fn kinks(&self, argument: usize) -> (Vec<f64>, Option<f64>) {
        match self {
            Self::Line(table) => (table.kinks(), table.axis.period()),
            Self::Grid(surface) => (surface.kinks(argument), surface.axes[argument].period()),
        }
    }
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
        assert!(table.corners(-9.0, 9.0).is_empty());
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
    fn a_recorded_function_keeps_its_order_at_the_ends_and_is_exact_for_cubics() {
        let cubic = |x: f64| 2.0 - x + 3.0 * x * x - 0.5 * x * x * x;
        for count in [4, 5, 9] {
            let points: Vec<(f64, f64)> =
                (0..count).map(|k| f64::from(k * k + k) / 7.0).map(|x| (x, cubic(x))).collect();
            let table = Table::recorded(&points).unwrap();
            let [first, last] = [points[0].0, points[points.len() - 1].0];
            for x in [first, 0.3 * last, 0.77 * last, last] {
                let expected = [cubic(x), -1.0 + 6.0 * x - 1.5 * x * x, 6.0 - 3.0 * x];
                for (found, expected) in table.evaluate(x).into_iter().zip(expected) {
                    // Rounding of values up to 300 over the square of the first step of 2/7.
                    assert!((found - expected).abs() < 1e-11, "{count} {x}: {found} {expected}");
                }
            }
        }
        let parabola = Table::recorded(&[(0.0, 1.0), (1.0, 2.0), (3.0, 10.0)]).unwrap();
        assert!((parabola.evaluate(2.0)[0] - 5.0).abs() < 1e-14 && parabola.evaluate(0.0)[2] == 2.0);
        // Curvature is off by the square of the step, at the ends too; the natural spline has none there.
        let error = |count: usize| {
            let step = 2.0 / count as f64;
            let points: Vec<(f64, f64)> =
                (0..=count).map(|k| step * k as f64).map(|x| (x, x.cos())).collect();
            let table = Table::recorded(&points).unwrap();
            [0.0, 2.0].map(|x: f64| (table.evaluate(x)[2] + x.cos()).abs()).into_iter().fold(0.0, f64::max)
        };
        let order = (error(40) / error(80)).log2();
        assert!((order - 2.0).abs() < 0.1, "{order}");
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
        assert_eq!(held.corners(-9.0, 9.0), [0.0, 1.0, 1.5, 4.0, 5.0]);
        let continued = Table::new(POINTS, Interpolation::Linear, Outside::Continue).unwrap();
        assert_eq!(continued.evaluate(-1.0), [-1.0, 2.0, 0.0]);
        assert_eq!(continued.evaluate(7.0), [-7.0, -3.0, 0.0]);
        assert_eq!(continued.corners(-9.0, 9.0), [1.0, 1.5, 4.0]);
    }

    #[test]
    fn points_that_make_no_function_are_refused() {
        let build = |points: &[(f64, f64)]| Table::new(points, Interpolation::Smooth, Outside::Hold);
        assert_eq!(build(&[(0.0, 1.0)]), Err(TableMistake::TooFew));
        assert_eq!(build(&[(0.0, 1.0), (0.0, 2.0)]), Err(TableMistake::NotAscending(1)));
        assert_eq!(build(&[(0.0, 1.0), (1.0, 1.0), (f64::NAN, 2.0)]), Err(TableMistake::NotAscending(2)));
    }

    /// Points of a function with period 2, the last of which repeats the first.
    const CLOSED: &[(f64, f64)] = &[(0.0, 1.0), (0.5, 3.0), (0.7, 2.0), (1.4, -1.0), (2.0, 1.0)];

    #[test]
    fn a_table_that_repeats_itself_is_smooth_at_the_seam_and_the_same_in_every_period() {
        for points in [CLOSED, &[(0.0, 1.0), (2.0, 1.0)], &[(0.0, 1.0), (0.4, 2.0), (2.0, 1.0)]] {
            let table = Table::new(points, Interpolation::Smooth, Outside::Repeat).unwrap();
            for seam in [-2.0, 0.0, 2.0, 14.0] {
                let [before, after] = [-1e-9, 1e-9].map(|shift| table.evaluate(seam + shift));
                for (before, after) in before.into_iter().zip(after) {
                    // Third derivatives of these points stay below 500.
                    assert!((before - after).abs() < 1e-6, "{seam}: {before} {after}");
                }
            }
            for k in 0..40 {
                let x = 0.05 * f64::from(k) + 0.01;
                let whole = table.integral(2.0);
                for turns in [-3.0, 1.0, 8.0] {
                    let again = x + 2.0 * turns;
                    // Rounding of an argument of 16 at slopes below 20.
                    assert!((table.evaluate(again)[0] - table.evaluate(x)[0]).abs() < 1e-13);
                    let integral = table.integral(x) + turns * whole;
                    assert!((table.integral(again) - integral).abs() < 1e-12);
                }
            }
            assert!(table.corners(-9.0, 9.0).is_empty());
        }
        let differ = [(0.0, 1.0), (1.0, 2.0)];
        let refused = Table::new(&differ, Interpolation::Linear, Outside::Repeat);
        assert_eq!(refused, Err(TableMistake::EndsDiffer));
        let saw = [(0.0, 0.0), (0.5, 1.0), (2.0, 0.0)];
        let saw = Table::new(&saw, Interpolation::Linear, Outside::Repeat).unwrap();
        assert_eq!(saw.corners(-2.1, 2.6), [-2.0, -1.5, 0.0, 0.5, 2.0, 2.5]);
    }

    #[test]
    fn the_spline_of_a_periodic_function_converges_with_order_four() {
        // Its curvature does not vanish at the seam, which the natural spline would assume.
        let function = |x: f64| (x + 0.7).sin() + 0.3 * (2.0 * x).cos();
        let error = |count: usize| {
            let step = std::f64::consts::TAU / count as f64;
            let mut points: Vec<(f64, f64)> =
                (0..=count).map(|k| step * k as f64).map(|x| (x, function(x))).collect();
            points[count].1 = points[0].1;
            let table = Table::new(&points, Interpolation::Smooth, Outside::Repeat).unwrap();
            (-500..1500)
                .map(|k| f64::from(k) * 6e-3)
                .map(|x| (table.evaluate(x)[0] - function(x)).abs())
                .fold(0.0, f64::max)
        };
        let order = (error(20) / error(40)).log2();
        assert!((order - 4.0).abs() < 0.1, "{order}");
    }

    /// A grid of a function, with arguments that are not equally spaced.
    fn grid(
        function: impl Fn(f64, f64) -> f64,
        interpolation: Interpolation,
        outside: Outside,
    ) -> TableFunction {
        let (x, y) = (vec![0.0, 0.4, 1.0, 1.7], vec![-1.0, 0.0, 0.5, 2.0, 2.2]);
        let rows: Vec<Vec<f64>> = x.iter().map(|&x| y.iter().map(|&y| function(x, y)).collect()).collect();
        TableFunction::Grid(TableGrid::new([x, y], &rows, interpolation, [outside; 2]).unwrap())
    }

    #[test]
    fn a_grid_has_the_values_of_its_points_and_the_derivatives_of_differences() {
        let function = |x: f64, y: f64| (1.3 * x).sin() * (0.8 * y).cos() + x * y;
        for interpolation in [Interpolation::Smooth, Interpolation::Linear] {
            for outside in [Outside::Hold, Outside::Continue] {
                let table = grid(function, interpolation, outside);
                for (x, y) in [(0.0, -1.0), (0.4, 0.5), (1.7, 2.2), (1.0, 2.0)] {
                    // Some roundings of numbers below 5.
                    assert!((table.derivative([x, y], [0, 0]) - function(x, y)).abs() < 1e-14);
                }
                for x in [-0.3, 0.11, 0.77, 1.52, 2.3] {
                    for y in [-1.4, -0.33, 0.21, 1.1, 2.15, 2.9] {
                        for orders in [[0, 0], [1, 0], [0, 1], [1, 1]] {
                            for (axis, (dx, dy)) in [(0, (1e-5, 0.0)), (1, (0.0, 1e-5))] {
                                let at = |sign: f64| table.derivative([x + sign * dx, y + sign * dy], orders);
                                let difference = (at(1.0) - at(-1.0)) / 2e-5;
                                let mut higher = orders;
                                higher[axis] += 1;
                                let slope = table.derivative([x, y], higher);
                                // Third derivatives times 1e-10, and ε/1e-5 of rounding.
                                assert!((slope - difference).abs() < 1e-8, "{x} {y} {higher:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_grid_of_a_product_of_straight_lines_is_the_product() {
        let table = grid(|x, y| (2.0 * x - 1.0) * (3.0 - y), Interpolation::Smooth, Outside::Continue);
        for (x, y) in [(0.2, 0.3), (1.6, -0.9), (-1.0, 3.0), (4.0, 0.0)] {
            // Roundings of numbers below 50.
            let found = table.derivative([x, y], [0, 0]);
            assert!((found - (2.0 * x - 1.0) * (3.0 - y)).abs() < 1e-13, "{x} {y}");
        }
    }

    #[test]
    fn not_a_number_stays_not_a_number() {
        let line = Table::new(POINTS, Interpolation::Smooth, Outside::Hold).unwrap();
        assert!(line.evaluate(f64::NAN)[0].is_nan());
        let grid = grid(|x, y| x + y, Interpolation::Linear, Outside::Hold);
        assert!(grid.derivative([f64::NAN, 0.0], [0, 0]).is_nan());
        let closed = Table::new(CLOSED, Interpolation::Smooth, Outside::Repeat).unwrap();
        assert!(closed.evaluate(f64::INFINITY)[0].is_nan());
    }
}
