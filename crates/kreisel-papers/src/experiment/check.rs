//! A check: a published value or property, the measured one, and whether they agree.

use super::{log_log_slope, table::number};
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;

/// One comparison of an experiment with its paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is compared.
    pub name: String,
    /// What must come out.
    pub expected: Expected,
    /// What came out.
    pub measured: Measured,
    /// How far, absolutely, the measured number may lie from the expected one or outside the expected range.
    pub tolerance: f64,
    /// Whether it holds.
    pub pass: bool,
}

/// What must come out: a number, a range or words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Expected {
    /// A number.
    Number(f64),
    /// From the first number to the second.
    Range([f64; 2]),
    /// Words.
    Text(String),
}

/// What came out: a number or words.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

impl Check {
    /// `measured` is `expected` to within a part `relative` of it.
    pub fn near(name: impl Into<String>, expected: f64, measured: f64, relative: f64) -> Self {
        Self::close(name, expected, measured, relative * expected.abs())
    }

    /// `measured` is `expected` to within the absolute `tolerance`.
    pub fn close(name: impl Into<String>, expected: f64, measured: f64, tolerance: f64) -> Self {
        // Not `error > tolerance`, so that NaN fails.
        let pass = (measured - expected).abs() <= tolerance;
        Self {
            name: name.into(),
            expected: Expected::Number(expected),
            measured: measured.into(),
            tolerance,
            pass,
        }
    }

    /// `measured` rounds to the number that the paper prints, such as `"31.9"` or `"2.48e-1"`.
    ///
    /// # Panics
    /// If `printed` is not a decimal number.
    pub fn printed(name: impl Into<String>, printed: &str, measured: f64) -> Self {
        let expected: f64 = printed.parse().expect("an experiment quotes a decimal number");
        let (mantissa, exponent) = printed.split_once(['e', 'E']).unwrap_or((printed, "0"));
        let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        let exponent: i32 = exponent.parse().expect("an experiment quotes a decimal number");
        // Half a unit of the last digit, and a rounding error more, since 0.5 units away may be printed
        // either way.
        let tolerance = 0.5 * 10_f64.powi(exponent - decimals) + 4.0 * f64::EPSILON * expected.abs();
        Self::close(name, expected, measured, tolerance)
    }

    /// `measured` rounds to a number that no paper prints: that of an independent implementation, or one
    /// derived from a paper.
    ///
    /// # Panics
    /// If `derived` is not a decimal number.
    pub fn rounds_to(name: impl Into<String>, derived: &str, measured: f64) -> Self {
        Self::printed(name, derived, measured)
    }

    /// Two counts are the same.
    pub fn count(name: impl Into<String>, expected: usize, measured: usize) -> Self {
        Self::close(name, expected as f64, measured as f64, 0.0)
    }

    /// `measured` lies in `expected`.
    pub fn within(name: impl Into<String>, expected: RangeInclusive<f64>, measured: f64) -> Self {
        let pass = expected.contains(&measured);
        let expected = Expected::Range([*expected.start(), *expected.end()]);
        Self { name: name.into(), expected, measured: measured.into(), tolerance: 0.0, pass }
    }

    /// The size `measured`, which cannot be negative, is at most `limit`.
    pub fn at_most(name: impl Into<String>, limit: f64, measured: f64) -> Self {
        Self::within(name, 0.0..=limit, measured)
    }

    /// `measured` is at least `limit`.
    pub fn at_least(name: impl Into<String>, limit: f64, measured: f64) -> Self {
        Self {
            name: name.into(),
            expected: Expected::Text(format!("at least {}", number(limit))),
            measured: measured.into(),
            tolerance: 0.0,
            pass: measured >= limit,
        }
    }

    /// The slope of `y` over `x` in double-logarithmic scale is `expected` to within the absolute
    /// `tolerance`.
    pub fn slope(name: impl Into<String>, expected: f64, x: &[f64], y: &[f64], tolerance: f64) -> Self {
        Self::close(name, expected, log_log_slope(x, y), tolerance)
    }

    /// Two texts are the same.
    pub fn text(name: impl Into<String>, expected: impl Into<String>, measured: impl Into<String>) -> Self {
        let (expected, measured) = (expected.into(), measured.into());
        let pass = expected == measured;
        Self {
            name: name.into(),
            expected: Expected::Text(expected),
            measured: Measured::Text(measured),
            tolerance: 0.0,
            pass,
        }
    }

    /// The expected value with its tolerance, for a person to read.
    pub fn expected_words(&self) -> String {
        match &self.expected {
            Expected::Number(value) if self.tolerance == 0.0 => number(*value),
            Expected::Number(value) => format!("{} ± {}", number(*value), number(self.tolerance)),
            Expected::Range([low, high]) => format!("{} … {}", number(*low), number(*high)),
            Expected::Text(text) => text.clone(),
        }
    }
}

impl From<f64> for Measured {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => formatter.write_str(&number(*value)),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl Serialize for Measured {
    /// JSON has no infinity and no NaN; they become words.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(value) if value.is_finite() => serializer.serialize_f64(*value),
            Self::Number(value) => serializer.serialize_str(&value.to_string()),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_relative_and_reports_the_absolute_tolerance() {
        let check = Check::near("a", 200.0, 203.0, 0.02);
        assert!(check.pass);
        assert_eq!(check.tolerance, 4.0);
        assert!(!Check::near("a", 200.0, 205.0, 0.02).pass);
        assert!(Check::near("a", -200.0, -203.0, 0.02).pass);
    }

    #[test]
    fn a_printed_number_allows_what_rounds_to_it() {
        for (printed, measured, pass) in [
            ("6.8", 6.82, true),
            ("6.8", 6.86, false),
            ("334.3", 334.34, true),
            ("2.48e-1", 0.24830, true),
            ("2.48e-1", 0.24860, false),
            ("15", 15.4, true),
            ("0.5", 0.55, true),
        ] {
            assert_eq!(Check::printed("a", printed, measured).pass, pass, "{printed} {measured}");
        }
    }

    #[test]
    fn not_a_number_never_passes() {
        let nan = f64::NAN;
        for check in [
            Check::near("a", 1.0, nan, 1.0),
            Check::within("a", 0.0..=1.0, nan),
            Check::at_most("a", 1.0, nan),
            Check::at_least("a", 1.0, nan),
            Check::slope("a", 2.0, &[1.0, 2.0], &[0.0, 1.0], 0.1),
        ] {
            assert!(!check.pass, "{check:?}");
        }
        let json = serde_json::to_value(Check::near("a", 1.0, nan, 1.0)).unwrap();
        assert_eq!(json["measured"], "NaN");
    }

    #[test]
    fn a_slope_is_measured_over_all_points() {
        let x = [1e-3, 2e-3, 4e-3];
        let y = x.map(|h| 3.0 * h * h);
        assert!(Check::slope("order", 2.0, &x, &y, 1e-12).pass);
    }

    #[test]
    fn json_has_numbers_pairs_and_texts() {
        let json = |check: Check| serde_json::to_value(check).unwrap();
        let near = json(Check::close("a", 2.0, 2.5, 1.0));
        assert_eq!(
            near,
            serde_json::json!({"name": "a", "expected": 2.0, "measured": 2.5, "tolerance": 1.0, "pass": true})
        );
        assert_eq!(json(Check::within("a", 1.0..=3.0, 2.0))["expected"], serde_json::json!([1.0, 3.0]));
        assert_eq!(json(Check::text("a", "none", "none"))["measured"], "none");
    }
}
