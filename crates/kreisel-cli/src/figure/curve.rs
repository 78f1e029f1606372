//! From points to a polyline of moderate length.

use super::axis::Axis;

/// The pixels of a curve, cut where a point cannot be shown, and thinned to what the eye would see of a line.
pub fn polylines(x: &[f64], y: &[f64], horizontal: &Axis, vertical: &Axis) -> Vec<Vec<[f64; 2]>> {
    pixels(x, y, horizontal, vertical).iter().map(|line| thinned(line)).collect()
}

/// The same with every point.
pub fn pixels(x: &[f64], y: &[f64], horizontal: &Axis, vertical: &Axis) -> Vec<Vec<[f64; 2]>> {
    let mut lines = vec![Vec::new()];
    for (x, y) in x.iter().zip(y) {
        match (horizontal.pixel(*x), vertical.pixel(*y), lines.last_mut()) {
            (Some(x), Some(y), Some(line)) => line.push([x, y]),
            (_, _, Some(line)) if !line.is_empty() => lines.push(Vec::new()),
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Keeps of each run of points in one pixel column the first, lowest, highest and last: what the eye would
/// see.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    points.chunk_by(|a, b| a[0].floor() == b[0].floor()).flat_map(column_outline).collect()
}

fn column_outline(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() <= 4 {
        return points.to_vec();
    }
    let extreme = |sign: f64| {
        (0..points.len()).max_by(|a, b| (sign * points[*a][1]).total_cmp(&(sign * points[*b][1])))
    };
    let mut kept = vec![0, points.len() - 1];
    kept.extend(extreme(1.0));
    kept.extend(extreme(-1.0));
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|place| points[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_extremes() {
        let x: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut y = vec![0.0; x.len()];
        y[54_321] = 1.0;
        let horizontal = Axis::new(Scale::Linear, x.iter().copied(), 0.0, 400.0);
        let vertical = Axis::new(Scale::Linear, y.iter().copied(), 300.0, 0.0);
        let lines = polylines(&x, &y, &horizontal, &vertical);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() <= 4 * 401);
        assert!(lines[0].iter().any(|[_, y]| *y < 20.0));
    }

    #[test]
    fn a_curve_is_cut_where_it_cannot_be_shown() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0, 2.0]);
        let axis = Axis::new(Scale::Logarithmic, y.into_iter(), 0.0, 400.0);
        let lines = polylines(&x, &y, &axis, &axis);
        assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    }
}
