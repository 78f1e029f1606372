//! Curves with fewer points, to a stated error.
//!
//! Of curves that share their times some points are kept, such that straight lines between them pass all
//! points that were left out within a tolerance. From each kept point the directions that do so form a cone,
//! which each further point narrows; the last point that lies inside it is kept next. One pass, whatever the
//! tolerance.

/// Curves over common times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Times in s.
    pub times: Vec<f64>,
    /// Values of each curve.
    pub values: Vec<Vec<f64>>,
    /// Largest error of a curve as part of its range; zero if every point is there.
    pub error: f64,
}

/// The finest tolerance, as part of a curve's range: half a pixel of a plot 2,000 pixels high.
const FINEST: f64 = 2.5e-4;

/// Curves of at most `most` points, thinned as little as that allows.
pub fn thinned(times: &[f64], values: &[&[f64]], most: usize) -> Curves {
    let most = most.max(2);
    let (mut kept, mut error): (Vec<usize>, f64) = ((0..times.len()).collect(), 0.0);
    while kept.len() > most {
        error = if error == 0.0 { FINEST } else { 2.0 * error };
        kept = kept_points(times, values, error);
        if error >= 1.0 && kept.len() > most {
            // Values that are not finite must all be kept; of so many only a selection is.
            kept = (0..most).map(|k| k * (times.len() - 1) / (most - 1)).collect();
        }
    }
    let take = |column: &[f64]| kept.iter().map(|&row| column[row]).collect();
    Curves { times: take(times), values: values.iter().map(|column| take(column)).collect(), error }
}

fn kept_points(times: &[f64], values: &[&[f64]], error: f64) -> Vec<usize> {
    let Some(last) = times.len().checked_sub(1) else { return Vec::new() };
    let tolerances: Vec<f64> = values.iter().map(|column| error * range(column)).collect();
    let mut kept = vec![0];
    let mut cone = Cone::new(values.len());
    let mut anchor = 0;
    for row in 1..=last {
        let is_finite = values.iter().all(|column| column[row].is_finite());
        let step = |from: usize| (times[row] - times[from]).max(f64::MIN_POSITIVE);
        let slope = |from: usize, column: &[f64]| (column[row] - column[from]) / step(from);
        if !is_finite || !cone.holds(values.iter().map(|column| slope(anchor, column))) {
            anchor = row - 1;
            if kept.last() != Some(&anchor) {
                kept.push(anchor);
            }
            cone = Cone::new(values.len());
            if !is_finite {
                anchor = row;
                kept.push(row);
                continue;
            }
        }
        let bounds = values.iter().zip(&tolerances).map(|(column, tolerance)| {
            let (middle, half) = (slope(anchor, column), tolerance / step(anchor));
            (middle - half, middle + half)
        });
        cone.narrow(bounds);
    }
    if kept.last() != Some(&last) {
        kept.push(last);
    }
    kept
}

/// Highest less lowest of the finite numbers.
fn range(column: &[f64]) -> f64 {
    let finite = column.iter().copied().filter(|value| value.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if high > low { high - low } else { 0.0 }
}

/// Slopes that pass all points so far, one interval for each curve.
struct Cone(Vec<(f64, f64)>);

impl Cone {
    fn new(count: usize) -> Self {
        Self(vec![(f64::NEG_INFINITY, f64::INFINITY); count])
    }

    fn holds(&self, slopes: impl Iterator<Item = f64>) -> bool {
        // After a value that is not finite neither is the slope, and no line is drawn.
        self.0
            .iter()
            .zip(slopes)
            .all(|((low, high), slope)| slope.is_nan() || (*low..=*high).contains(&slope))
    }

    fn narrow(&mut self, bounds: impl Iterator<Item = (f64, f64)>) {
        for (known, (low, high)) in self.0.iter_mut().zip(bounds) {
            *known = (known.0.max(low), known.1.min(high));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interpolated(curves: &Curves, curve: usize, time: f64) -> f64 {
        let next = curves.times.partition_point(|&t| t < time).clamp(1, curves.times.len() - 1);
        let (t, y) = (&curves.times[next - 1..=next], &curves.values[curve][next - 1..=next]);
        y[0] + (y[1] - y[0]) * (time - t[0]) / (t[1] - t[0])
    }

    fn assert_within_stated_error(times: &[f64], values: &[&[f64]], most: usize) -> Curves {
        let curves = thinned(times, values, most);
        assert!(curves.times.len() <= most.max(2));
        for (index, column) in values.iter().enumerate() {
            let allowed = curves.error * range(column) * (1.0 + 1e-9) + 1e-12 * range(column);
            for (time, value) in times.iter().zip(*column) {
                let error = (interpolated(&curves, index, *time) - value).abs();
                assert!(error <= allowed, "at {time}: {error} > {allowed}");
            }
        }
        curves
    }

    #[test]
    fn few_points_are_all_kept() {
        let (times, values) = ([0.0, 1.0, 2.0], [3.0, 1.0, 4.0]);
        let curves = thinned(&times, &[&values], 3);
        assert_eq!((curves.times.as_slice(), curves.error), (&times[..], 0.0));
    }

    #[test]
    fn a_long_oscillation_is_kept_within_the_stated_error() {
        let times: Vec<f64> = (0..100_000).map(|k| 1e-3 * f64::from(k)).collect();
        let slow: Vec<f64> = times.iter().map(|t| (3.0 * t).sin()).collect();
        let fast: Vec<f64> = times.iter().map(|t| 1e-6 * (50.0 * t).cos() + 7.0).collect();
        let curves = assert_within_stated_error(&times, &[&slow, &fast], 10_000);
        assert!(curves.error < 0.02, "{}", curves.error);
    }

    #[test]
    fn straight_lines_need_two_points_and_a_peak_is_never_lost() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(thinned(&times, &[&times], 10).times.len(), 2);
        let mut peak = vec![0.0; 1000];
        peak[321] = 1.0;
        let curves = thinned(&times, &[&peak], 10);
        assert_eq!(curves.values[0].iter().filter(|value| **value == 1.0).count(), 1);
    }

    #[test]
    fn numbers_that_are_none_stay() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut values = vec![0.0; 1000];
        values[500] = f64::NAN;
        let curves = thinned(&times, &[&values], 10);
        assert_eq!(curves.values[0].iter().filter(|value| value.is_nan()).count(), 1);
        let noise = thinned(&times, &[&vec![f64::NAN; 1000]], 10);
        assert_eq!(noise.times.len(), 10);
    }

    proptest! {
        #[test]
        fn any_curve_is_within_its_stated_error(
            steps in proptest::collection::vec((1e-3..1.0, -1.0..1.0, -1e3..1e3), 3..200),
            most in 2_usize..60,
        ) {
            let mut time = 0.0;
            let times: Vec<f64> = steps.iter().map(|step| { time += step.0; time }).collect();
            let first: Vec<f64> = steps.iter().map(|step| step.1).collect();
            let second: Vec<f64> = steps.iter().map(|step| step.2).collect();
            assert_within_stated_error(&times, &[&first, &second], most);
        }
    }
}
