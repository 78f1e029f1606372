//! An axis: the range of its data, its ticks, and where a number lies on it.

use super::Scale;

/// A range of numbers laid along a stretch of pixels.
#[derive(Clone, Debug)]
pub struct Axis {
    scale: Scale,
    /// Range in the coordinate that is linear along the axis: the number or its decimal logarithm.
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

/// A mark on an axis; minor ones have no label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Pixels.
    pub at: f64,
    /// What stands beside it.
    pub label: Option<String>,
}

impl Axis {
    /// An axis that shows all `values`, from the pixel `start` to the pixel `end`.
    pub fn new(scale: Scale, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let coordinates = values.filter_map(|value| coordinate(scale, value));
        let (low, high) =
            coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(c), high.max(c)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let size = low.abs().max(high.abs());
        // A single value, or rounding noise around one, still gets a range around it.
        let margin = match scale {
            Scale::Linear if size == 0.0 => 1.0,
            Scale::Linear if high - low < 1e-9 * size => 0.05 * size,
            Scale::Logarithmic if high - low < 0.3 => 0.3,
            _ => 0.04 * (high - low),
        };
        Self { scale, low: low - margin, high: high + margin, start, end }
    }

    /// The pixel of `value`, or nothing if the axis cannot show it.
    pub fn pixel(&self, value: f64) -> Option<f64> {
        coordinate(self.scale, value).map(|c| self.pixel_of_coordinate(c))
    }

    fn pixel_of_coordinate(&self, coordinate: f64) -> f64 {
        self.start + (coordinate - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// The marks, and a factor such as `×10⁻⁶` that their labels share.
    pub fn ticks(&self) -> (Vec<Tick>, Option<String>) {
        match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Logarithmic => (self.logarithmic_ticks(), None),
        }
    }

    fn linear_ticks(&self) -> (Vec<Tick>, Option<String>) {
        let step = nice_step((self.high - self.low) / 6.0);
        let size = self.low.abs().max(self.high.abs());
        let exponent = size.log10().floor() as i32;
        let shared = if (-2..5).contains(&exponent) { 0 } else { exponent };
        let decimals = (shared - step.log10().floor() as i32).max(0) as usize;
        let ticks = ((self.low / step).ceil() as i64..=(self.high / step).floor() as i64).map(|multiple| {
            let value = multiple as f64 * step;
            let label = minus(&format!("{:.decimals$}", value / 10_f64.powi(shared)));
            Tick { at: self.pixel_of_coordinate(value), label: Some(label) }
        });
        (ticks.collect(), (shared != 0).then(|| format!("×{}", power_of_ten(shared))))
    }

    fn logarithmic_ticks(&self) -> Vec<Tick> {
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let visible_decades = decades.clone().filter(|decade| self.shows(f64::from(*decade))).count();
        // Labels need about 40 pixels each; few decades get labels between.
        let every = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|n| visible_decades < 9 * n).unwrap_or(200);
        let with_labels: &[i32] = if visible_decades < 2 { &[1, 2, 5] } else { &[1] };
        let mut ticks = Vec::new();
        for decade in decades {
            for digit in 1..=9 {
                let coordinate = f64::from(decade) + f64::from(digit).log10();
                let is_labelled = with_labels.contains(&digit) && decade % every as i32 == 0;
                if self.shows(coordinate) && (is_labelled || visible_decades <= 12) {
                    let label = is_labelled.then(|| decade_label(digit, decade));
                    ticks.push(Tick { at: self.pixel_of_coordinate(coordinate), label });
                }
            }
        }
        ticks
    }

    fn shows(&self, coordinate: f64) -> bool {
        (self.low..=self.high).contains(&coordinate)
    }
}

fn coordinate(scale: Scale, value: f64) -> Option<f64> {
    let coordinate = match scale {
        Scale::Linear => value,
        Scale::Logarithmic if value > 0.0 => value.log10(),
        Scale::Logarithmic => f64::NAN,
    };
    coordinate.is_finite().then_some(coordinate)
}

/// A step near `step` that is 1, 2 or 5 times a power of ten.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    // A step may be a fifth finer than asked for: 1 rather than 2 where 1.2 would be ideal.
    power * [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= 0.8 * step).unwrap_or(10.0)
}

fn decade_label(digit: i32, decade: i32) -> String {
    if digit == 1 { power_of_ten(decade) } else { format!("{digit}·{}", power_of_ten(decade)) }
}

fn power_of_ten(exponent: i32) -> String {
    let exponent = exponent.to_string();
    let raised = exponent.chars().map(|letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(u32::from('⁰') + u32::from(digit) - u32::from('0')).unwrap_or(digit),
    });
    format!("10{}", raised.collect::<String>())
}

/// The typographic minus, which is as wide as a plus.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> (Vec<String>, Option<String>) {
        let (ticks, factor) = Axis::new(scale, values.iter().copied(), 0.0, 400.0).ticks();
        (ticks.into_iter().filter_map(|tick| tick.label).collect(), factor)
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0]).0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, &[-3.0, 3.0]).0, ["−3", "−2", "−1", "0", "1", "2", "3"]);
    }

    #[test]
    fn very_small_and_large_numbers_share_a_factor() {
        let (labels, factor) = labels(Scale::Linear, &[0.0, 3e-9]);
        assert_eq!(factor.as_deref(), Some("×10⁻⁹"));
        assert_eq!(labels.last().map(String::as_str), Some("3.0"));
    }

    #[test]
    fn logarithmic_ticks_label_decades_and_mark_digits_between() {
        assert_eq!(labels(Scale::Logarithmic, &[1e-4, 4e-3]).0, ["10⁻⁴", "10⁻³"]);
        assert_eq!(labels(Scale::Logarithmic, &[3.0, 30.0]).0, ["5·10⁰", "10¹", "2·10¹"]);
        let (ticks, _) = Axis::new(Scale::Logarithmic, [1.0, 100.0].into_iter(), 0.0, 400.0).ticks();
        assert!(ticks.iter().filter(|tick| tick.label.is_none()).count() >= 16);
    }

    #[test]
    fn numbers_that_cannot_be_shown_have_no_pixel() {
        let axis = Axis::new(Scale::Logarithmic, [1.0, 10.0, 0.0, f64::NAN].into_iter(), 0.0, 400.0);
        assert_eq!(axis.pixel(0.0), None);
        assert_eq!(axis.pixel(-1.0), None);
        assert_eq!(axis.pixel(f64::INFINITY), None);
        assert!(axis.pixel(1.0).is_some_and(|pixel| (0.0..20.0).contains(&pixel)));
    }

    #[test]
    fn constant_missing_and_huge_data_still_give_an_axis() {
        for values in [&[][..], &[0.0], &[5.0, 5.0], &[1e300, -1e300], &[1e-300], &[1.0, 1.0 + 1e-16]] {
            for scale in [Scale::Linear, Scale::Logarithmic] {
                let axis = Axis::new(scale, values.iter().copied(), 0.0, 400.0);
                let (ticks, _) = axis.ticks();
                assert!(
                    ticks.len() < 3000 && ticks.iter().all(|tick| tick.at.is_finite()),
                    "{values:?} {scale:?}"
                );
            }
        }
    }
}
