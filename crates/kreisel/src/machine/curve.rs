//! The axis of a beam: a line, an arc or a spline through points, cut into elements with a frame at each end.

use crate::lie::{Matrix3, Pose, UnitQuaternion, Vector3, so3};

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CurveKind {
    /// Straight from point to point, with corners.
    Line,
    /// The arc of a circle through three points.
    Arc,
    /// A smooth curve through all points: a natural cubic spline.
    Spline,
}

/// Why points make no axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CurveError {
    /// Two points that follow one another fall together.
    NoLength { first: usize, second: usize },
    /// Fewer elements than straight pieces.
    TooFewElements { pieces: usize },
    /// An arc has exactly three points.
    NotThreePoints { found: usize },
    /// The points of an arc lie on a line.
    Straight,
    /// The direction that the sections look up to is that of the axis.
    UpAlongAxis { part: f64 },
}

/// What says how the sections stand about the axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attitude {
    /// Direction to which every section's z axis points as nearly as it can; otherwise the first section's
    /// alone.
    pub up: Option<Vector3>,
    /// Angle about the axis at the start and at the end; between them it grows with the length.
    pub twist: [f64; 2],
}

/// Frames at the two ends of one piece between nodes; x is the tangent.
pub(crate) type PieceFrames = [Pose; 2];

/// A point of the axis with its tangents before and behind it, which differ at a corner.
struct AxisPoint {
    point: Vector3,
    tangents: [Vector3; 2],
    /// Length from the start.
    length: f64,
}

/// Distance in m below which points fall together: rounding of places a few kilometres away.
const SAME_POINT: f64 = 1e-12;
/// Sine of the angle below which two directions are one. Beyond, a normal made of their cross product would
/// have fewer than seven digits.
const SAME_DIRECTION: f64 = 1e-9;

/// Frames of the pieces along a curve: an element has as many pieces as its order, and no corner within it.
pub(crate) fn frames(
    kind: CurveKind,
    points: &[Vector3],
    [elements, order]: [usize; 2],
    attitude: &Attitude,
) -> Result<Vec<PieceFrames>, CurveError> {
    for second in 1..points.len() {
        let first = second - 1;
        let distance = (points[second] - points[first]).norm();
        if distance.is_nan() || distance < SAME_POINT {
            return Err(CurveError::NoLength { first, second });
        }
    }
    let stations = match kind {
        CurveKind::Line => lines(points, elements, order)?,
        CurveKind::Arc => arc(points, elements * order)?,
        CurveKind::Spline => spline(points, elements * order),
    };
    oriented(&stations, attitude)
}

/// Elements are shared out among the straight pieces by length, at least one each.
fn lines(points: &[Vector3], elements: usize, order: usize) -> Result<Vec<AxisPoint>, CurveError> {
    let pieces = points.len() - 1;
    if elements < pieces {
        return Err(CurveError::TooFewElements { pieces });
    }
    let lengths: Vec<f64> = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
    let counts = shared_out(&lengths, elements).into_iter().map(|count| order * count);
    let mut stations: Vec<AxisPoint> = Vec::with_capacity(order * elements + 1);
    let mut start = 0.0;
    for (piece, (&length, count)) in lengths.iter().zip(counts).enumerate() {
        let tangent = (points[piece + 1] - points[piece]) / length;
        if let Some(corner) = stations.last_mut() {
            corner.tangents[1] = tangent;
        } else {
            stations.push(AxisPoint { point: points[0], tangents: [tangent; 2], length: 0.0 });
        }
        for k in 1..=count {
            let along = length * k as f64 / count as f64;
            // The last station of a piece is the given point to the last digit.
            let point = if k == count { points[piece + 1] } else { points[piece] + along * tangent };
            stations.push(AxisPoint { point, tangents: [tangent; 2], length: start + along });
        }
        start += length;
    }
    Ok(stations)
}

/// Whole numbers that add up to `whole`, each at least one: whoever has the longest elements gets the next.
fn shared_out(lengths: &[f64], whole: usize) -> Vec<usize> {
    let sum: f64 = lengths.iter().sum();
    let spare = (whole - lengths.len()) as f64;
    let mut counts: Vec<usize> = lengths.iter().map(|length| 1 + (spare * length / sum) as usize).collect();
    while counts.iter().sum::<usize>() < whole {
        let element = |piece: &usize| lengths[*piece] / counts[*piece] as f64;
        let longest = (0..counts.len()).max_by(|a, b| element(a).total_cmp(&element(b)));
        counts[longest.unwrap_or(0)] += 1;
    }
    counts
}

/// From the first point through the second to the third.
fn arc(points: &[Vector3], elements: usize) -> Result<Vec<AxisPoint>, CurveError> {
    let &[a, b, c] = points else { return Err(CurveError::NotThreePoints { found: points.len() }) };
    let (to_b, to_c) = (b - a, c - a);
    let normal = to_b.cross(&to_c);
    let square = normal.norm_squared();
    if square <= (SAME_DIRECTION * to_b.norm() * to_c.norm()).powi(2) {
        return Err(CurveError::Straight);
    }
    // Centre of the circle through three points, from the first.
    let centre = a
        + (to_c.norm_squared() * normal.cross(&to_b) + to_b.norm_squared() * to_c.cross(&normal))
            / (2.0 * square);
    let axis = normal / square.sqrt();
    let (start, end) = (a - centre, c - centre);
    let turn = axis.dot(&start.cross(&end)).atan2(start.dot(&end));
    // The way through the second point is the one along which the normal is the axis.
    let turn = if turn <= 0.0 { turn + std::f64::consts::TAU } else { turn };
    let station = |k: usize| {
        let angle = turn * k as f64 / elements as f64;
        let radius = so3::exp(&(angle * axis)) * start;
        let point = if k == elements { c } else { centre + radius };
        let tangent = axis.cross(&radius) / start.norm();
        AxisPoint { point, tangents: [tangent; 2], length: angle * start.norm() }
    };
    Ok((0..=elements).map(station).collect())
}

/// A cubic in each interval of the chord length, with two continuous derivatives and no curvature at the
/// ends.
struct Spline<'a> {
    points: &'a [Vector3],
    chords: Vec<f64>,
    /// Second derivatives at the points.
    bends: Vec<Vector3>,
}

impl<'a> Spline<'a> {
    fn new(points: &'a [Vector3]) -> Self {
        let chords: Vec<f64> = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
        let n = points.len();
        let mut bends = vec![Vector3::zeros(); n];
        // Elimination of the tridiagonal system h₋ m₋ + 2 (h₋ + h) m + h m₊ = 6 (slope − slope₋).
        let mut factors = vec![0.0; n];
        for i in 1..n - 1 {
            let slope = |k: usize| (points[k + 1] - points[k]) / chords[k];
            let right = 6.0 * (slope(i) - slope(i - 1));
            let pivot = 2.0 * (chords[i - 1] + chords[i]) - chords[i - 1] * factors[i - 1];
            factors[i] = chords[i] / pivot;
            bends[i] = (right - chords[i - 1] * bends[i - 1]) / pivot;
        }
        for i in (1..n - 1).rev() {
            bends[i] = bends[i] - factors[i] * bends[i + 1];
        }
        Self { points, chords, bends }
    }

    /// Point and derivative at a part of an interval.
    fn at(&self, interval: usize, part: f64) -> (Vector3, Vector3) {
        let h = self.chords[interval];
        let (a, b) = (1.0 - part, part);
        let (from, to) = (self.points[interval], self.points[interval + 1]);
        let (bend, next) = (self.bends[interval], self.bends[interval + 1]);
        let sixth = h * h / 6.0;
        let point = a * from + b * to + sixth * ((a.powi(3) - a) * bend + (b.powi(3) - b) * next);
        let slope = (to - from) / h + h / 6.0 * ((1.0 - 3.0 * a * a) * bend + (3.0 * b * b - 1.0) * next);
        (point, slope)
    }

    /// Length of a part of an interval, by Simpson's rule on a fine division.
    fn length(&self, interval: usize, part: f64) -> f64 {
        const PIECES: usize = 16;
        let speed = |at: f64| self.at(interval, at).1.norm();
        let width = part / PIECES as f64;
        let simpson = |k: usize| {
            let start = k as f64 * width;
            speed(start) + 4.0 * speed(start + 0.5 * width) + speed(start + width)
        };
        self.chords[interval] * width / 6.0 * (0..PIECES).map(simpson).sum::<f64>()
    }
}

/// Stations at equal distances along the curve.
fn spline(points: &[Vector3], elements: usize) -> Vec<AxisPoint> {
    let spline = Spline::new(points);
    let lengths: Vec<f64> = (0..spline.chords.len()).map(|interval| spline.length(interval, 1.0)).collect();
    let whole: f64 = lengths.iter().sum();
    let station = |k: usize| {
        let wanted = whole * k as f64 / elements as f64;
        let (mut interval, mut before) = (0, 0.0);
        while interval + 1 < lengths.len() && before + lengths[interval] < wanted {
            before += lengths[interval];
            interval += 1;
        }
        let target = wanted - before;
        let mut part = (target / lengths[interval]).clamp(0.0, 1.0);
        // Newton's method for the length; the speed is that of the chord within a few percent.
        for _ in 0..20 {
            let speed = spline.at(interval, part).1.norm() * spline.chords[interval];
            let step = (target - spline.length(interval, part)) / speed;
            part = (part + step).clamp(0.0, 1.0);
            // Some ε of a part of the interval.
            if step.abs() < 1e-14 {
                break;
            }
        }
        let (point, slope) = spline.at(interval, part);
        let point = match k {
            0 => points[0],
            k if k == elements => points[points.len() - 1],
            _ => point,
        };
        AxisPoint { point, tangents: [slope.normalize(); 2], length: wanted }
    };
    (0..=elements).map(station).collect()
}

/// Frames with x along the tangents.
fn oriented(stations: &[AxisPoint], attitude: &Attitude) -> Result<Vec<PieceFrames>, CurveError> {
    let whole = stations.last().map_or(1.0, |station| station.length);
    let mut carried = upright(&stations[0].tangents[1], attitude.up, 0.0)?;
    let (mut point, mut tangent) = (stations[0].point, stations[0].tangents[1]);
    let mut turned = |at: &Vector3, to: &Vector3, part: f64| -> Result<UnitQuaternion, CurveError> {
        carried = match attitude.up {
            Some(_) => upright(to, attitude.up, part)?,
            // At a corner the rotation that takes one tangent to the other and nothing else.
            None if *at == point => between(&tangent, to) * carried,
            None => along(&(at - point), &tangent, to, &carried),
        };
        (point, tangent) = (*at, *to);
        let angle = attitude.twist[0] + part * (attitude.twist[1] - attitude.twist[0]);
        Ok(so3::compose(&carried, &so3::exp(&(angle * Vector3::x()))))
    };
    let mut elements = Vec::with_capacity(stations.len() - 1);
    for pair in stations.windows(2) {
        let [first, second] = pair else { continue };
        let start = Pose::new(turned(&first.point, &first.tangents[1], first.length / whole)?, first.point);
        let end = Pose::new(turned(&second.point, &second.tangents[0], second.length / whole)?, second.point);
        elements.push([start, end]);
    }
    Ok(elements)
}

/// Carries a frame along a curve without twist, to fourth order in the way: reflected in the plane halfway
/// between two points and in the one halfway between their tangents then, it is on a helix nearly where the
/// curve carries it [WangJuttlerZhengLiu2008].
fn along(way: &Vector3, tangent: &Vector3, to: &Vector3, frame: &UnitQuaternion) -> UnitQuaternion {
    let reflected =
        |v: Vector3, normal: &Vector3| v - normal * (2.0 * normal.dot(&v) / normal.norm_squared());
    let normal = to - reflected(*tangent, way);
    if normal.norm_squared() < SAME_DIRECTION {
        return between(tangent, to) * frame;
    }
    let z = reflected(reflected(frame * Vector3::z(), way), &normal);
    let axes = Matrix3::from_columns(&[*to, z.cross(to), z]);
    UnitQuaternion::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(axes))
}

/// The shortest rotation from one direction to another; about any normal if they are opposite.
fn between(from: &Vector3, to: &Vector3) -> UnitQuaternion {
    UnitQuaternion::rotation_between(from, to).unwrap_or_else(|| {
        let normal =
            from.cross(&Vector3::x()).try_normalize(0.1).unwrap_or_else(|| from.cross(&Vector3::y()));
        so3::exp(&(std::f64::consts::PI * normal.normalize()))
    })
}

/// x along the tangent and z as nearly up as it can be; without a wish up is z, or x for an axis along z.
fn upright(tangent: &Vector3, up: Option<Vector3>, part: f64) -> Result<UnitQuaternion, CurveError> {
    // A choice: closer to z, its part across the axis would have lost three digits.
    let wish = up.unwrap_or_else(|| if tangent.xy().norm() > 1e-3 { Vector3::z() } else { Vector3::x() });
    let z = wish - tangent * tangent.dot(&wish);
    // Six digits of the direction are gone below: no direction that anybody meant.
    let z = z.try_normalize(1e-6).ok_or(CurveError::UpAlongAxis { part })?;
    let axes = Matrix3::from_columns(&[*tangent, z.cross(tangent), z]);
    Ok(UnitQuaternion::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(axes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::beam::Span;

    const PLAIN: Attitude = Attitude { up: None, twist: [0.0; 2] };

    fn length(elements: &[PieceFrames]) -> f64 {
        elements.iter().map(|[first, second]| Span::between(first, second).unwrap().length()).sum()
    }

    #[test]
    fn an_arc_has_the_length_and_tangents_of_its_circle() {
        let points = [Vector3::x(), Vector3::y(), -Vector3::x()];
        let elements = frames(CurveKind::Arc, &points, [7, 1], &PLAIN).unwrap();
        // Rounding of seven logarithms and their sum.
        assert!((length(&elements) - std::f64::consts::PI).abs() < 1e-13);
        let middle = elements[3][0].compose(&Pose::identity());
        let tangent = middle.rotation * Vector3::x();
        assert!(tangent.dot(&middle.position).abs() < 1e-13 && (middle.position.norm() - 1.0).abs() < 1e-13);
        // The long way round if the second point lies there.
        let points = [Vector3::x(), Vector3::new(-1.0, 0.0, 0.0), Vector3::y()];
        let long = frames(CurveKind::Arc, &points, [9, 1], &PLAIN).unwrap();
        assert!((length(&long) - 1.5 * std::f64::consts::PI).abs() < 1e-13);
        let straight = [Vector3::zeros(), Vector3::x(), 2.0 * Vector3::x()];
        assert_eq!(frames(CurveKind::Arc, &straight, [2, 1], &PLAIN), Err(CurveError::Straight));
    }

    #[test]
    fn a_line_through_points_has_corners_where_they_are() {
        let points = [Vector3::zeros(), 3.0 * Vector3::x(), Vector3::new(3.0, 1.0, 0.0)];
        let elements = frames(CurveKind::Line, &points, [4, 1], &PLAIN).unwrap();
        assert_eq!(elements.len(), 4);
        // A few roundings of numbers of size one.
        assert!((elements[2][1].position - points[1]).norm() < 1e-15);
        assert!((elements[3][0].rotation * Vector3::x() - Vector3::y()).norm() < 1e-15);
        assert!((elements[3][0].rotation * Vector3::z() - Vector3::z()).norm() < 1e-15);
        let few = frames(CurveKind::Line, &points, [1, 1], &PLAIN);
        assert_eq!(few, Err(CurveError::TooFewElements { pieces: 2 }));
    }

    #[test]
    fn a_spline_through_points_of_a_circle_is_nearly_one_and_divided_evenly() {
        let points: Vec<Vector3> = (0..=8)
            .map(|k| std::f64::consts::FRAC_PI_2 * f64::from(k) / 8.0)
            .map(|angle| Vector3::new(angle.cos(), angle.sin(), 0.0))
            .collect();
        let elements = frames(CurveKind::Spline, &points, [10, 1], &PLAIN).unwrap();
        // The ends of a natural spline are too straight, which costs the length little.
        assert!((length(&elements) - std::f64::consts::FRAC_PI_2).abs() < 1e-3);
        let chords: Vec<f64> = elements.iter().map(|[a, b]| (b.position - a.position).norm()).collect();
        assert!(chords.iter().all(|chord| (chord / chords[0] - 1.0).abs() < 1e-2), "{chords:?}");
    }

    #[test]
    fn twist_turns_the_sections_about_the_axis_and_up_holds_them() {
        let points = [Vector3::zeros(), 2.0 * Vector3::x()];
        let attitude = Attitude { up: Some(Vector3::y()), twist: [0.0, 0.5] };
        let elements = frames(CurveKind::Line, &points, [2, 1], &attitude).unwrap();
        let z = elements[1][1].rotation * Vector3::z();
        // Some dozen roundings of numbers of size one.
        assert!((z - Vector3::new(0.0, 0.5_f64.cos(), 0.5_f64.sin())).norm() < 1e-14, "{z}");
        let along = Attitude { up: Some(Vector3::x()), twist: [0.0; 2] };
        let refused = frames(CurveKind::Line, &points, [2, 1], &along);
        assert_eq!(refused, Err(CurveError::UpAlongAxis { part: 0.0 }));
    }

    #[test]
    fn sections_are_carried_along_a_spline_with_fourth_order() {
        let points =
            [[0.0, 0.0, 0.0], [0.3, 0.1, 0.1], [0.6, -0.1, 0.1], [1.0, 0.1, -0.1]].map(Vector3::from);
        let end = |elements: usize| {
            let frames = frames(CurveKind::Spline, &points, [elements, 1], &PLAIN).unwrap();
            frames[elements - 1][1].rotation
        };
        let exact = end(512);
        let errors = [8, 16, 32].map(|elements| end(elements).angle_to(&exact));
        // By the shortest rotations 8 were 0.02 rad off. Where pieces meet the third derivative of the spline
        // jumps, so that the error does not fall evenly.
        assert!(
            errors[0] < 2e-4 && errors[1] < errors[0] / 8.0 && errors[2] < errors[0] / 64.0,
            "{errors:?}"
        );
    }

    #[test]
    fn points_that_fall_together_are_named() {
        let points = [Vector3::zeros(), Vector3::x(), Vector3::x()];
        let refused = frames(CurveKind::Line, &points, [2, 1], &PLAIN);
        assert_eq!(refused, Err(CurveError::NoLength { first: 1, second: 2 }));
    }
}
