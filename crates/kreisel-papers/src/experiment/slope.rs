//! The observed order of convergence.

/// The slope of the straight line that fits ln y over ln x best in the least-squares sense.
///
/// NaN with fewer than two different x, or with a value that is not positive, so that a check of it fails.
pub fn log_log_slope(x: &[f64], y: &[f64]) -> f64 {
    if x.len() != y.len() || x.iter().chain(y).any(|value| *value <= 0.0) {
        return f64::NAN;
    }
    let mean = |values: &[f64]| values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let distance = x.ln() - mean_x;
        covariance += distance * (y.ln() - mean_y);
        variance += distance * distance;
    }
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_gives_its_exponent() {
        let x = [0.1, 0.2, 0.5, 3.0];
        for exponent in [-1.0, 0.0, 1.0, 2.5] {
            let y = x.map(|x: f64| 7.0 * x.powf(exponent));
            // A few roundings of logarithms of size 3.
            assert!((log_log_slope(&x, &y) - exponent).abs() < 1e-13);
        }
    }

    #[test]
    fn data_without_a_slope_give_nan() {
        assert!(log_log_slope(&[], &[]).is_nan());
        assert!(log_log_slope(&[1.0], &[1.0]).is_nan());
        assert!(log_log_slope(&[1.0, 2.0], &[0.0, 1.0]).is_nan());
        assert!(log_log_slope(&[1.0, 2.0], &[1.0]).is_nan());
    }
}
