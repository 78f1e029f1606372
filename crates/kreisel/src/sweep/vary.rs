//! What varies: `mass=10:20:8`, `k=log(1e3,1e6,20)`, `legs=3,4,6`.

use thiserror::Error;

/// A parameter of the model and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Name of the parameter.
    pub name: String,
    /// Unit in which the values are written, as in the model file; empty for SI units.
    pub unit: String,
    /// Its values.
    pub spread: Spread,
}

/// Values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// These, in this order.
    List(Vec<f64>),
    /// From one number to another, both included.
    Range {
        /// First and last.
        ends: [f64; 2],
        /// How many on a grid; none if only samples are taken.
        count: Option<usize>,
        /// Whether ratios of neighbours are alike, and not their differences.
        logarithmic: bool,
    },
}

/// Why a variation makes no sense.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VaryError {
    /// Not `name=values`.
    #[error("`{0}` varies nothing; write it as name=10:20:8, name=log(1e3,1e6,20) or name=3,4,6")]
    NoValues(String),
    /// A word where a number is due.
    #[error("`{word}` in `{text}` is not a number with a unit")]
    NotANumber {
        /// The word.
        word: String,
        /// All of it.
        text: String,
    },
    /// Two units in one range or list.
    #[error("the values of `{text}` have different units, `{first}` and `{second}`; write all in one unit")]
    TwoUnits {
        /// All of it.
        text: String,
        /// One unit.
        first: String,
        /// The other.
        second: String,
    },
    /// A range without values.
    #[error("the range `{0}` is empty: it needs two different ends and at least two values")]
    Empty(String),
    /// A logarithmic range through zero.
    #[error("the range `{0}` is logarithmic, so that both ends must be positive")]
    NotPositive(String),
    /// A range on a grid that does not say how many values.
    #[error("`{0}` does not say how many values; write it as name=10:20:8, or take samples of it")]
    NoCount(String),
    /// More parameters than Sobol's sequence is known for.
    #[error(
        "{count} parameters vary; Sobol points are known for {most}, take random ones or a Latin hypercube"
    )]
    TooMany {
        /// How many vary.
        count: usize,
        /// How many may.
        most: usize,
    },
}

shown_by_message!(VaryError);

impl Variation {
    /// Reads `name=values`.
    pub fn parse(text: &str) -> Result<Self, VaryError> {
        let (name, values) = text
            .split_once('=')
            .map(|(name, values)| (name.trim(), values.trim()))
            .filter(|(name, values)| !name.is_empty() && !values.is_empty())
            .ok_or_else(|| VaryError::NoValues(text.to_owned()))?;
        let inner = values.strip_prefix("log(").and_then(|rest| rest.strip_suffix(')'));
        let (spread, unit) = match inner {
            Some(inner) => range(inner.split(','), true, text)?,
            None if values.contains(':') => range(values.split(':'), false, text)?,
            None => list(values, text)?,
        };
        Ok(Self { name: name.to_owned(), unit, spread })
    }

    /// How many values a grid has.
    pub fn count(&self) -> Result<usize, VaryError> {
        match &self.spread {
            Spread::List(values) => Ok(values.len()),
            Spread::Range { count, .. } => count.ok_or_else(|| VaryError::NoCount(self.name.clone())),
        }
    }

    /// The values on a grid.
    pub fn grid(&self) -> Result<Vec<f64>, VaryError> {
        match &self.spread {
            Spread::List(values) => Ok(values.clone()),
            Spread::Range { count: None, .. } => Err(VaryError::NoCount(self.name.clone())),
            Spread::Range { ends, count: Some(count), .. } => {
                let part = |place: usize| place as f64 / (count - 1) as f64;
                // The end itself, and not what rounding makes of it.
                let value = |place| if place + 1 == *count { ends[1] } else { self.at(part(place)) };
                Ok((0..*count).map(value).collect())
            }
        }
    }

    /// The value at a part, from 0 to 1, of the spread.
    pub fn at(&self, part: f64) -> f64 {
        match &self.spread {
            Spread::List(values) => values[((part * values.len() as f64) as usize).min(values.len() - 1)],
            Spread::Range { ends: [from, to], logarithmic: false, .. } => from + part * (to - from),
            Spread::Range { ends: [from, to], logarithmic: true, .. } => from * (to / from).powf(part),
        }
    }

    /// The part, from 0 to 1, at which a range has this value or its nearest; none of a list.
    pub fn part(&self, value: f64) -> Option<f64> {
        let part = match &self.spread {
            Spread::List(_) => return None,
            Spread::Range { ends: [from, to], logarithmic: false, .. } => (value - from) / (to - from),
            Spread::Range { ends: [from, to], .. } => (value / from).ln() / (to / from).ln(),
        };
        Some(if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) })
    }

    /// Head of its column in a table: the name, and the unit in brackets.
    pub fn column(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }

    /// A value as the model file would say it.
    pub fn text(&self, value: f64) -> String {
        if self.unit.is_empty() { format!("{value:?}") } else { format!("{value:?} {}", self.unit) }
    }
}

fn range<'a>(
    mut words: impl Iterator<Item = &'a str>,
    logarithmic: bool,
    text: &str,
) -> Result<(Spread, String), VaryError> {
    let empty = || VaryError::Empty(text.to_owned());
    let (Some(from), Some(to)) = (words.next(), words.next()) else { return Err(empty()) };
    let count = match words.next() {
        None => None,
        Some(word) => Some(word.trim().parse::<usize>().map_err(|_| not_a_number(word, text))?),
    };
    if let Some(word) = words.next() {
        return Err(not_a_number(word, text));
    }
    let (ends, unit) = numbers([from, to].into_iter(), text)?;
    let [from, to] = ends[..] else { return Err(empty()) };
    if from == to || count.is_some_and(|count| count < 2) {
        return Err(empty());
    }
    if logarithmic && !(from > 0.0 && to > 0.0) {
        return Err(VaryError::NotPositive(text.to_owned()));
    }
    Ok((Spread::Range { ends: [from, to], count, logarithmic }, unit))
}

fn list(values: &str, text: &str) -> Result<(Spread, String), VaryError> {
    let inner = values.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(values);
    let (values, unit) = numbers(inner.split(','), text)?;
    Ok((Spread::List(values), unit))
}

/// Numbers of one unit; those without a unit have that of the others.
fn numbers<'a>(words: impl Iterator<Item = &'a str>, text: &str) -> Result<(Vec<f64>, String), VaryError> {
    let mut unit = String::new();
    let mut values = Vec::new();
    for word in words {
        let (value, its_unit) = number(word.trim()).ok_or_else(|| not_a_number(word, text))?;
        if !its_unit.is_empty() && !unit.is_empty() && unit != its_unit {
            let (first, second) = (unit, its_unit.to_owned());
            return Err(VaryError::TwoUnits { text: text.to_owned(), first, second });
        }
        if !its_unit.is_empty() {
            unit = its_unit.to_owned();
        }
        values.push(value);
    }
    Ok((values, unit))
}

/// A finite number, and the unit that follows it.
fn number(word: &str) -> Option<(f64, &str)> {
    // The longest beginning that is a number: `1e3 N` and `2e`.
    let ends = (1..=word.len()).rev().filter(|end| word.is_char_boundary(*end));
    let (value, rest) =
        ends.filter_map(|end| Some((word[..end].parse::<f64>().ok()?, word[end..].trim()))).next()?;
    value.is_finite().then_some((value, rest))
}

fn not_a_number(word: &str, text: &str) -> VaryError {
    VaryError::NotANumber { word: word.trim().to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lists_and_logarithms_give_their_values() {
        let grid = |text: &str| Variation::parse(text).unwrap().grid().unwrap();
        assert_eq!(grid("m=10:20:3"), [10.0, 15.0, 20.0]);
        assert_eq!(grid("m = 3, 4,6"), [3.0, 4.0, 6.0]);
        assert_eq!(grid("m=[2]"), [2.0]);
        assert_eq!(grid("m=1:-1:3"), [1.0, 0.0, -1.0]);
        let powers = grid("k=log(1e3,1e6,4)");
        // Powers are rounded once or twice.
        powers.iter().zip([1e3, 1e4, 1e5, 1e6]).for_each(|(value, expected)| {
            assert!((value / expected - 1.0).abs() < 1e-14, "{value}");
        });
        assert_eq!((powers[0], powers[3]), (1e3, 1e6), "ends are kept bit for bit");
    }

    #[test]
    fn units_stay_with_the_values() {
        let length = Variation::parse("l=10 cm:20 cm:2").unwrap();
        assert_eq!((length.unit.as_str(), length.text(15.0).as_str()), ("cm", "15.0 cm"));
        assert_eq!(Variation::parse("l=1,2 cm").unwrap().unit, "cm");
        assert_eq!(Variation::parse("l=1,2").unwrap().text(1e-7), "1e-7");
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (text, reason) in [
            ("mass", "varies nothing"),
            ("=1,2", "varies nothing"),
            ("mass=", "varies nothing"),
            ("m=heavy", "`heavy` in `m=heavy` is not a number"),
            ("m=1,,2", "`` in `m=1,,2` is not a number"),
            ("m=nan", "not a number"),
            ("m=1:2:few", "`few`"),
            ("m=1:2:3:4", "`4`"),
            ("m=1:1:3", "is empty"),
            ("m=1:2:1", "is empty"),
            ("m=1:2:0", "is empty"),
            ("m=log(1)", "is empty"),
            ("m=log(0,1,3)", "must be positive"),
            ("m=1 m:2 cm:3", "different units, `m` and `cm`"),
        ] {
            let words = Variation::parse(text).unwrap_err().to_string();
            assert!(words.contains(reason), "{text}: {words}");
        }
        let open = Variation::parse("m=1:2").unwrap();
        assert!(open.grid().unwrap_err().to_string().contains("how many values"));
        assert_eq!(open.at(0.5), 1.5);
    }

    #[test]
    fn a_value_of_a_range_has_its_part() {
        for (text, value, part) in [
            ("m=10:30", 15.0, 0.25),
            ("m=30:10", 15.0, 0.75),
            ("k=log(1,100)", 10.0, 0.5),
            ("m=10:30", 99.0, 1.0),
            ("k=log(1,100)", -1.0, 0.5),
        ] {
            let found = Variation::parse(text).unwrap().part(value).unwrap();
            // A few roundings of numbers of size one.
            assert!((found - part).abs() < 1e-15, "{text}: {found}");
        }
        assert_eq!(Variation::parse("m=1,2").unwrap().part(1.0), None);
    }
}
