//! What is measured: expressions of sensors, brought down to one number by what they do in time.
//!
//! `max(top.position.z)`, `rms(motor.torque.z) / 2`, `first(crank.angle, 2*pi)`. Inside of a measure in time
//! stand sensors and `t`; outside, measures are numbers like any others.

use crate::model::source::Text;
use crate::model::{Dimension, Expression, ModelError, name};
use crate::results::find_signal;
use crate::run::Trajectory;
use thiserror::Error;

/// A number that a run gives.
#[derive(Clone, Debug)]
pub struct Measure {
    /// What it is called in the table.
    pub name: String,
    whole: Expression,
    parts: Vec<Reduction>,
}

/// A measure in time and what it is taken of.
#[derive(Clone, Debug)]
struct Reduction {
    kind: MeasureKind,
    of: Expression,
    /// The time of `at`, the level of `first`.
    argument: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeasureKind {
    Max,
    Min,
    Mean,
    Rms,
    Last,
    At,
    First,
}

/// Words, numbers of arguments, and what they mean.
const KINDS: [(&str, usize, MeasureKind); 7] = [
    ("max", 1, MeasureKind::Max),
    ("min", 1, MeasureKind::Min),
    ("mean", 1, MeasureKind::Mean),
    ("rms", 1, MeasureKind::Rms),
    ("last", 1, MeasureKind::Last),
    ("at", 2, MeasureKind::At),
    ("first", 2, MeasureKind::First),
];

/// What the measures of an expression are called while its rest is read.
const PLACEHOLDER: &str = "measure-";

/// Why a measure makes no sense.
#[derive(Clone, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// A mistake in its words.
    #[error("{}", .0.render(false))]
    Expression(Box<ModelError>),
    /// Nothing in it looks at the motion in time.
    #[error("`{0}` is no measure of a run: use max, min, mean, rms, last, at(x, time) or first(x, level)")]
    NotInTime(String),
    /// A time or level that is not a number.
    #[error("the second value of `{0}` must be a number")]
    Argument(String),
    /// A parenthesis that is not closed.
    #[error("a parenthesis of `{0}` is not closed")]
    Open(String),
}

shown_by_message!(MeasureError);

impl From<ModelError> for MeasureError {
    fn from(error: ModelError) -> Self {
        Self::Expression(Box::new(error))
    }
}

impl Measure {
    /// Reads a measure of runs that record these `signals`; `name = …` before it names the column.
    pub fn parse(text: &str, signals: &[String]) -> Result<Self, MeasureError> {
        let (name, text) = split_name(text);
        let mut parts = Vec::new();
        let mut rest = String::new();
        let mut from = 0;
        while let Some(call) = next_call(text, from)? {
            rest.push_str(&text[from..call.start]);
            // Between blanks: a dash beside it is a minus, not a letter of its name.
            rest.push_str(&format!(" {PLACEHOLDER}{} ", parts.len()));
            from = call.end;
            parts.push(Reduction::new(&call, signals)?);
        }
        rest.push_str(&text[from..]);
        if parts.is_empty() {
            return Err(MeasureError::NotInTime(text.to_owned()));
        }
        let variable = |word: &str| word.strip_prefix(PLACEHOLDER).map(str::to_owned);
        let names = || KINDS.iter().map(|(word, ..)| (*word).to_owned()).collect();
        let whole = Expression::compile(&argument(&rest), Dimension::NONE, &|_| None, &variable, &names)?;
        Ok(Self { name: name.unwrap_or(text).trim().to_owned(), whole, parts })
    }

    /// The number that a run gives; not a number where it has none, as the first passage of a level never
    /// reached.
    pub fn of(&self, run: &Trajectory) -> f64 {
        let parts: Vec<f64> = self.parts.iter().map(|part| part.of(run)).collect();
        let place = |name: &String| name.parse().ok().and_then(|place: usize| parts.get(place).copied());
        let values: Vec<f64> =
            self.whole.variables().iter().map(|name| place(name).unwrap_or(f64::NAN)).collect();
        self.whole.value(&values)
    }
}

fn argument(text: &str) -> Text {
    Text::standalone("measure", text)
}

/// `peak = max(x)` is called `peak`; `max(x) == 3` has no name.
fn split_name(text: &str) -> (Option<&str>, &str) {
    let is_name = |word: &str| name::check(word).is_ok();
    match text.split_once('=') {
        Some((name, rest)) if !rest.starts_with('=') && is_name(name.trim()) => (Some(name.trim()), rest),
        _ => (None, text),
    }
}

/// A call of a measure in time: its word, its arguments, and where it stands.
struct Call<'a> {
    kind: MeasureKind,
    arguments: Vec<&'a str>,
    text: &'a str,
    start: usize,
    end: usize,
}

/// The next call of a measure in time; `max` and `min` of two are ordinary functions.
fn next_call(text: &str, from: usize) -> Result<Option<Call<'_>>, MeasureError> {
    let bytes = text.as_bytes();
    // No function has a dash in its name: before one it is a minus.
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    for open in (from..text.len()).filter(|place| bytes[*place] == b'(') {
        let start = (from..open).rev().take_while(|place| is_letter(bytes[*place])).last().unwrap_or(open);
        let word = &text[start..open];
        if !KINDS.iter().any(|(known, ..)| *known == word) {
            continue;
        }
        let (arguments, end) = arguments(text, open)?;
        let found = KINDS.iter().find(|(known, count, _)| *known == word && *count == arguments.len());
        if let Some((_, _, kind)) = found {
            return Ok(Some(Call { kind: *kind, arguments, text: &text[start..end], start, end }));
        }
    }
    Ok(None)
}

/// The arguments in parentheses that open at a place, and where these end.
fn arguments(text: &str, open: usize) -> Result<(Vec<&str>, usize), MeasureError> {
    let mut depth = 0_usize;
    let mut start = open + 1;
    let mut arguments = Vec::new();
    for (place, letter) in text.char_indices().skip_while(|(place, _)| *place < open) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && letter == ',') {
            arguments.push(&text[start..place]);
            start = place + 1;
        }
        if depth == 0 {
            return Ok((arguments, place + 1));
        }
    }
    Err(MeasureError::Open(text.to_owned()))
}

impl Reduction {
    fn new(call: &Call, signals: &[String]) -> Result<Self, MeasureError> {
        let known = |word: &str| match word {
            "t" => Some(word.to_owned()),
            _ => find_signal(signals.iter().map(String::as_str), word).map(|index| signals[index].clone()),
        };
        let compile = |text: &str, variable: &dyn Fn(&str) -> Option<String>| {
            Expression::compile(&argument(text), Dimension::NONE, &|_| None, variable, &|| signals.to_vec())
        };
        let of = compile(call.arguments[0], &known)?;
        let argument = match call.arguments.get(1) {
            None => 0.0,
            Some(text) => compile(text, &|_| None)?
                .constant()
                .filter(|number| number.is_finite())
                .ok_or_else(|| MeasureError::Argument(call.text.to_owned()))?,
        };
        Ok(Self { kind: call.kind, of, argument })
    }

    fn of(&self, run: &Trajectory) -> f64 {
        let columns: Vec<&[f64]> = (self.of.variables().iter())
            .map(|name| if name == "t" { &run.times[..] } else { run.signal(name).unwrap_or_default() })
            .collect();
        if columns.iter().any(|column| column.len() != run.times.len()) {
            return f64::NAN;
        }
        let mut row = vec![0.0; columns.len()];
        let values: Vec<f64> = (0..run.times.len())
            .map(|time| {
                row.iter_mut().zip(&columns).for_each(|(value, column)| *value = column[time]);
                self.of.value(&row)
            })
            .collect();
        if values.is_empty() || values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        match self.kind {
            MeasureKind::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            MeasureKind::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            MeasureKind::Mean => mean(&run.times, &values),
            MeasureKind::Rms => {
                let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
                mean(&run.times, &squares).sqrt()
            }
            MeasureKind::Last => values[values.len() - 1],
            MeasureKind::At => at(&run.times, &values, self.argument),
            MeasureKind::First => first(&run.times, &values, self.argument),
        }
    }
}

/// Mean over time by the trapezoidal rule.
fn mean(times: &[f64], values: &[f64]) -> f64 {
    let length = times[times.len() - 1] - times[0];
    if length <= 0.0 {
        return values[0];
    }
    let pieces = times.windows(2).zip(values.windows(2));
    pieces.map(|(time, value)| 0.5 * (time[1] - time[0]) * (value[0] + value[1])).sum::<f64>() / length
}

/// Value at a time, on a straight line between output times; not a number outside.
fn at(times: &[f64], values: &[f64], time: f64) -> f64 {
    let after = times.partition_point(|known| *known < time);
    match (after.checked_sub(1), values.get(after)) {
        (_, Some(value)) if times[after] == time => *value,
        (Some(before), Some(value)) => {
            let part = (time - times[before]) / (times[after] - times[before]);
            values[before] + part * (value - values[before])
        }
        _ => f64::NAN,
    }
}

/// The first time at which a level is reached or passed; not a number if it never is.
fn first(times: &[f64], values: &[f64], level: f64) -> f64 {
    if values[0] == level {
        return times[0];
    }
    let side = values[0] > level;
    let after = values.iter().position(|value| *value == level || (*value > level) != side);
    after.map_or(f64::NAN, |after| {
        let part = (level - values[after - 1]) / (values[after] - values[after - 1]);
        times[after - 1] + part * (times[after] - times[after - 1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Channel;
    use std::f64::consts::PI;

    /// A whole period of sin and of cos.
    fn run() -> Trajectory {
        let times: Vec<f64> = (0..=1000).map(|step| 2.0 * PI * f64::from(step) / 1000.0).collect();
        let columns = vec![times.iter().map(|t| t.sin()).collect(), times.iter().map(|t| t.cos()).collect()];
        Trajectory {
            times,
            channels: vec![Channel::new("a.x", "m"), Channel::new("long-name.y", "m")],
            columns,
        }
    }

    fn measured(text: &str) -> f64 {
        let signals: Vec<String> = run().channels.iter().map(|channel| channel.name.clone()).collect();
        Measure::parse(text, &signals).unwrap_or_else(|error| panic!("{text}: {error}")).of(&run())
    }

    #[test]
    fn measures_of_a_sine_are_those_of_the_book() {
        // Straight lines between 1000 points miss the sine by (2π/1000)²/8 = 5e-6.
        for (text, expected) in [
            ("max(a.x)", 1.0),
            ("min(a.x)", -1.0),
            ("mean(a.x)", 0.0),
            ("rms(a.x)", 0.5_f64.sqrt()),
            ("last(long-name.y)", 1.0),
            ("at(a.x, pi/6)", 0.5),
            ("first(long-name.y, 0)", PI / 2.0),
            ("first(a.x, 0.5) * 6 / pi", 1.0),
            ("max(a.x) - min(a.x)", 2.0),
            ("max(a.x)-min(a.x)", 2.0),
            ("3-max(a.x)-min(a.x)", 3.0),
            ("-max(a.x)", -1.0),
            ("2*max(a.x)-1", 1.0),
            ("max(max(a.x)-min(long-name.y),1)", 2.0),
            ("max(max(a.x, long-name.y))", 1.0),
            ("max(max(a.x), 3)", 3.0),
            ("sqrt(mean(a.x^2 + long-name.y^2))", 1.0),
            ("mean(t)", PI),
            ("peak = max(abs(a.x))", 1.0),
        ] {
            assert!((measured(text) - expected).abs() < 1e-5, "{text}: {}", measured(text));
        }
    }

    #[test]
    fn what_a_run_does_not_have_is_not_a_number() {
        for text in ["at(a.x, 100)", "at(a.x, -1)", "first(a.x, 2)"] {
            assert!(measured(text).is_nan(), "{text}");
        }
        assert_eq!(measured("at(a.x, 0)"), 0.0);
        assert_eq!(measured("first(a.x, 0)"), 0.0);
    }

    #[test]
    fn a_measure_is_called_what_it_says_or_what_it_is_named() {
        let signals = ["a.x".to_owned()];
        assert_eq!(Measure::parse("max(a.x)", &signals).unwrap().name, "max(a.x)");
        assert_eq!(Measure::parse("peak=max(a.x)", &signals).unwrap().name, "peak");
        assert_eq!(Measure::parse("max(a.x) == 1", &signals).unwrap().name, "max(a.x) == 1");
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let signals = ["top.position.z".to_owned()];
        for (text, reason) in [
            ("top.position.z", "is no measure of a run"),
            ("max(top.position.q)", "top.position.z"),
            ("max(top.position.z", "not closed"),
            ("at(top.position.z, t)", "t"),
            ("first(top.position.z, 1/0)", "must be a number"),
            ("max(top.position.z) +", ""),
            ("", "is no measure"),
            ("largest(top.position.z)", "is no measure"),
        ] {
            let words = Measure::parse(text, &signals).unwrap_err().to_string();
            assert!(words.contains(reason), "{text}: {words}");
        }
    }
}
