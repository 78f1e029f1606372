//! `--checkpoint 60s`: how often something is to be done, by the clock or by steps.

use kreisel::run::Every;

const WORDS: &str = "write it as 60s, 10min, 2h or 500steps";

/// Reads `60s`, `10min`, `2h` or `500steps`.
pub fn parse(text: &str) -> Result<Every, String> {
    let refuse = || WORDS.to_owned();
    let split = text.find(|letter: char| letter.is_alphabetic()).ok_or_else(refuse)?;
    let (number, unit) = text.split_at(split);
    let number = number.trim();
    if matches!(unit, "step" | "steps") {
        return match number.parse() {
            Ok(steps) if steps > 0 => Ok(Every::Steps(steps)),
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
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(Every::Seconds(factor * value)),
        _ => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_steps_are_told_apart_by_their_unit() {
        assert_eq!(parse("60s"), Ok(Every::Seconds(60.0)));
        assert_eq!(parse("1.5 min"), Ok(Every::Seconds(90.0)));
        assert_eq!(parse("500steps"), Ok(Every::Steps(500)));
        for text in ["", "60", "s", "-1s", "0steps", "1.5steps", "1 day", "infs", "naNs", "1e999s"] {
            assert_eq!(parse(text), Err(WORDS.to_owned()), "{text}");
        }
    }
}
