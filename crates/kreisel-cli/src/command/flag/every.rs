//! `--checkpoint 60s`: how often something is to be done, by the clock or by steps.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    /// After so many seconds of wall time.
    Seconds(f64),
    /// After so many steps.
    Steps(u64),
}

const WORDS: &str = "write it as 60s, 10min, 2h or 500steps";

impl Every {
    /// Reads `60s`, `10min`, `2h` or `500steps`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = || WORDS.to_owned();
        let split = text.find(|letter: char| letter.is_alphabetic()).ok_or_else(refuse)?;
        let (number, unit) = text.split_at(split);
        let number = number.trim();
        if matches!(unit, "step" | "steps") {
            return match number.parse() {
                Ok(steps) if steps > 0 => Ok(Self::Steps(steps)),
                _ => Err(refuse()),
            };
        }
        let factor = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(refuse()),
        };
        match number.parse::<f64>() {
            Ok(value) if value >= 0.0 && value.is_finite() => Ok(Self::Seconds(factor * value)),
            _ => Err(refuse()),
        }
    }
}

/// Tells after each step whether it is time.
#[derive(Debug)]
pub struct Period {
    every: Every,
    since: Instant,
    steps: u64,
}

impl Period {
    /// A period that begins now.
    pub fn new(every: Every) -> Self {
        Self { every, since: Instant::now(), steps: 0 }
    }

    /// Counts a step; tells whether it is time, and then begins anew.
    pub fn is_over(&mut self) -> bool {
        self.steps += 1;
        let is_over = match self.every {
            Every::Seconds(seconds) => {
                self.since.elapsed() >= Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            }
            Every::Steps(steps) => self.steps >= steps,
        };
        if is_over {
            *self = Self::new(self.every);
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_steps_are_told_apart_by_their_unit() {
        assert_eq!(Every::parse("60s"), Ok(Every::Seconds(60.0)));
        assert_eq!(Every::parse("1.5 min"), Ok(Every::Seconds(90.0)));
        assert_eq!(Every::parse("500steps"), Ok(Every::Steps(500)));
        for text in ["", "60", "s", "-1s", "0steps", "1.5steps", "1 day", "infs", "naNs", "1e999s"] {
            assert_eq!(Every::parse(text), Err(WORDS.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_interval_of_steps_ends_at_each_of_its_steps() {
        let mut period = Period::new(Every::Steps(3));
        let ends: Vec<bool> = (0..7).map(|_| period.is_over()).collect();
        assert_eq!(ends, [false, false, true, false, false, true, false]);
    }
}
