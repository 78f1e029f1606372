//! Dimensions and units of the numbers in a model file.
//!
//! A plain number is in the base unit (m, kg, s, rad and what they make). A text may end in a unit, and a
//! unit must have the dimension of its field. The angle counts as a dimension of its own, so that degrees
//! are refused for a length and a torsional stiffness says `Nm/rad`.
//!
//! A unit is made of the named units by `*` (or `·`), `/`, `^` with a whole number (or ², ³) and
//! parentheses: `"5 N/mm"`, `"2 kg*m^2"`, `"10 deg/s"`, `"0.1 Nm/(rad/s)"`. As in writing, `/` and `*` act
//! from left to right.

use std::fmt;
use std::ops::Range;

use super::error::Mistake;
use super::name;

/// Exponents of metre, kilogram, second and radian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    length: i8,
    mass: i8,
    time: i8,
    angle: i8,
}

macro_rules! dimensions {
    ($($(#[$doc:meta])* $constant:ident = $exponents:expr, $word:literal, $unit:literal;)*) => {
        impl Dimension {
            $($(#[$doc])* pub const $constant: Dimension = Dimension::from_exponents($exponents);)*
        }

        /// Every named dimension with its word and its base unit.
        const NAMED: &[(Dimension, &str, &str)] = &[$((Dimension::$constant, $word, $unit),)*];
    };
}

dimensions! {
    /// A pure number.
    NONE = [0, 0, 0, 0], "pure number", "";
    /// m
    LENGTH = [1, 0, 0, 0], "length", "m";
    /// kg
    MASS = [0, 1, 0, 0], "mass", "kg";
    /// s
    TIME = [0, 0, 1, 0], "time", "s";
    /// rad
    ANGLE = [0, 0, 0, 1], "angle", "rad";
    /// m²
    AREA = [2, 0, 0, 0], "area", "m^2";
    /// m³
    VOLUME = [3, 0, 0, 0], "volume", "m^3";
    /// m/s
    SPEED = [1, 0, -1, 0], "speed", "m/s";
    /// m/s²
    ACCELERATION = [1, 0, -2, 0], "acceleration", "m/s^2";
    /// rad/s
    ANGULAR_SPEED = [0, 0, -1, 1], "angular speed", "rad/s";
    /// rad/s²
    ANGULAR_ACCELERATION = [0, 0, -2, 1], "angular acceleration", "rad/s^2";
    /// 1/s, cycles per second
    FREQUENCY = [0, 0, -1, 0], "frequency", "Hz";
    /// N
    FORCE = [1, 1, -2, 0], "force", "N";
    /// N·m, also energy
    TORQUE = [2, 1, -2, 0], "torque", "Nm";
    /// N·m/s
    POWER = [2, 1, -3, 0], "power", "Nm/s";
    /// N/m
    STIFFNESS = [0, 1, -2, 0], "stiffness", "N/m";
    /// N·s/m
    DAMPING = [0, 1, -1, 0], "damping", "N*s/m";
    /// N·m/rad
    TORSIONAL_STIFFNESS = [2, 1, -2, -1], "torsional stiffness", "Nm/rad";
    /// N·m·s/rad
    TORSIONAL_DAMPING = [2, 1, -1, -1], "torsional damping", "Nm*s/rad";
    /// kg·m²
    INERTIA = [2, 1, 0, 0], "moment of inertia", "kg*m^2";
    /// kg/m³
    DENSITY = [-3, 1, 0, 0], "density", "kg/m^3";
    /// kg/m
    MASS_PER_LENGTH = [-1, 1, 0, 0], "mass per length", "kg/m";
    /// Pa
    PRESSURE = [-1, 1, -2, 0], "pressure", "Pa";
    /// N·m²
    BENDING_STIFFNESS = [3, 1, -2, 0], "bending stiffness", "N*m^2";
    /// m⁴
    SECOND_MOMENT_OF_AREA = [4, 0, 0, 0], "second moment of area", "m^4";
    /// 1/m
    CURVATURE = [-1, 0, 0, 0], "curvature", "m^-1";
    /// m/rad, the pitch of a screw
    PITCH = [1, 0, 0, -1], "pitch", "m/rad";
}

impl Dimension {
    /// Dimension with the exponents of metre, kilogram, second and radian.
    pub const fn from_exponents([length, mass, time, angle]: [i8; 4]) -> Self {
        Self { length, mass, time, angle }
    }

    /// Exponents of metre, kilogram, second and radian.
    pub const fn exponents(self) -> [i8; 4] {
        [self.length, self.mass, self.time, self.angle]
    }

    /// The dimension of a change per second.
    pub fn per_time(self) -> Self {
        self.combined(Self::TIME, -1)
    }

    /// The base unit as it may be written in a model file; empty for a pure number.
    pub fn unit(self) -> String {
        if let Some((_, _, unit)) = NAMED.iter().find(|(dimension, ..)| *dimension == self) {
            return (*unit).to_string();
        }
        let factors = ["m", "kg", "s", "rad"].iter().zip(self.exponents());
        let written: Vec<String> = factors
            .filter(|(_, exponent)| *exponent != 0)
            .map(|(unit, exponent)| if exponent == 1 { (*unit).into() } else { format!("{unit}^{exponent}") })
            .collect();
        written.join("*")
    }

    /// This dimension times a power of another; exponents stop at the ends of their range, far beyond
    /// any field.
    fn combined(self, other: Self, power: i8) -> Self {
        let mut exponents = self.exponents();
        for (exponent, change) in exponents.iter_mut().zip(other.exponents()) {
            *exponent = exponent.saturating_add(change.saturating_mul(power));
        }
        Self::from_exponents(exponents)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(dimension, ..)| dimension == self) {
            Some((_, word, "")) => write!(formatter, "a {word}"),
            Some((_, word, unit)) => write!(formatter, "{word} ({unit})"),
            None => write!(formatter, "{}", self.unit()),
        }
    }
}

/// A unit: its size in base units and its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// How many base units it is.
    pub factor: f64,
    /// What it measures.
    pub dimension: Dimension,
}

/// Named units with their size in base units. Inch, foot and pound are exact by the international yard and
/// pound agreement; a pound of force is the pound times standard gravity 9.80665 m/s².
const UNITS: &[(&str, f64, Dimension)] = &[
    ("m", 1.0, Dimension::LENGTH),
    ("mm", 1e-3, Dimension::LENGTH),
    ("cm", 1e-2, Dimension::LENGTH),
    ("km", 1e3, Dimension::LENGTH),
    ("in", 0.0254, Dimension::LENGTH),
    ("ft", 0.3048, Dimension::LENGTH),
    ("kg", 1.0, Dimension::MASS),
    ("g", 1e-3, Dimension::MASS),
    ("t", 1e3, Dimension::MASS),
    ("lb", 0.453_592_37, Dimension::MASS),
    ("s", 1.0, Dimension::TIME),
    ("ms", 1e-3, Dimension::TIME),
    ("min", 60.0, Dimension::TIME),
    ("N", 1.0, Dimension::FORCE),
    ("kN", 1e3, Dimension::FORCE),
    ("lbf", 0.453_592_37 * 9.806_65, Dimension::FORCE),
    ("rad", 1.0, Dimension::ANGLE),
    ("deg", std::f64::consts::PI / 180.0, Dimension::ANGLE),
    ("rpm", std::f64::consts::PI / 30.0, Dimension::ANGULAR_SPEED),
    ("Pa", 1.0, Dimension::PRESSURE),
    ("kPa", 1e3, Dimension::PRESSURE),
    ("MPa", 1e6, Dimension::PRESSURE),
    ("GPa", 1e9, Dimension::PRESSURE),
    ("Nm", 1.0, Dimension::TORQUE),
    ("Hz", 1.0, Dimension::FREQUENCY),
];

/// A unit that cannot be read: where in its text, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitMistake {
    /// Bytes of the unit's text.
    pub range: Range<usize>,
    /// What is wrong.
    pub mistake: Mistake,
    /// The remedy.
    pub hint: Option<String>,
}

/// Where units stand among names.
pub(super) const IN_EXPRESSION: &str =
    "the unit of an expression stands at its end, `360*t deg`, or in brackets, `360[deg]*t`";

/// Largest exponent that can be written, so that products stay in range.
const MAX_EXPONENT: i8 = 9;
/// Deepest nesting of parentheses in a unit.
const MAX_DEPTH: usize = 4;
/// Longest text of a unit in bytes.
const MAX_LENGTH: usize = 100;

impl Unit {
    /// The unit a text means.
    pub fn parse(text: &str) -> Result<Self, UnitMistake> {
        if text.len() > MAX_LENGTH {
            let shown = text.chars().take(20).collect();
            return Err(UnitMistake { range: 0..text.len(), mistake: Mistake::BadUnit(shown), hint: None });
        }
        let mut parser = UnitParser { text, position: 0 };
        let unit = parser.product(0)?;
        parser.skip_blanks();
        if parser.position < text.len() {
            return Err(parser.mistake(parser.position..text.len()));
        }
        Ok(unit)
    }

    /// Whether all units in a text are those of results, each by itself: `1`, `N*m` and `1/s` are, `mm*km` is not.
    pub fn is_of_results(text: &str) -> bool {
        // Results have these, although model files write them as N*m and N*m/s.
        if matches!(text, "1" | "J" | "W") {
            return true;
        }
        let whole = match text.strip_prefix("1/") {
            Some(rest) => Self::parse(rest),
            None => Self::parse(text),
        };
        let words = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
        whole.is_ok() && words.map(Self::parse).all(|unit| unit.is_ok_and(|unit| unit.factor == 1.0))
    }

    /// All named units, with what they measure.
    pub fn named() -> impl Iterator<Item = (&'static str, Self)> {
        UNITS.iter().map(|&(name, factor, dimension)| (name, Self { factor, dimension }))
    }

    /// Names of all units that make a dimension by themselves, for messages.
    pub fn names_of(dimension: Dimension) -> Vec<&'static str> {
        UNITS.iter().filter(|unit| unit.2 == dimension).map(|unit| unit.0).collect()
    }

    fn times(self, other: Self, power: i8) -> Self {
        Self {
            factor: self.factor * other.factor.powi(power.into()),
            dimension: self.dimension.combined(other.dimension, power),
        }
    }
}

/// Reads a unit from left to right.
struct UnitParser<'a> {
    text: &'a str,
    position: usize,
}

impl UnitParser<'_> {
    fn product(&mut self, depth: usize) -> Result<Unit, UnitMistake> {
        let mut unit = self.power(depth)?;
        loop {
            self.skip_blanks();
            let power = match self.peek() {
                Some('*' | '·') => 1,
                Some('/') => -1,
                _ => return Ok(unit),
            };
            self.advance();
            unit = unit.times(self.power(depth)?, power);
        }
    }

    fn power(&mut self, depth: usize) -> Result<Unit, UnitMistake> {
        let base = self.base(depth)?;
        self.skip_blanks();
        let exponent = match self.peek() {
            Some('²') => {
                self.advance();
                2
            }
            Some('³') => {
                self.advance();
                3
            }
            Some('^') => {
                self.advance();
                self.exponent()?
            }
            _ => return Ok(base),
        };
        let one = Unit { factor: 1.0, dimension: Dimension::NONE };
        Ok(one.times(base, exponent))
    }

    fn exponent(&mut self) -> Result<i8, UnitMistake> {
        self.skip_blanks();
        let start = self.position;
        if self.peek() == Some('-') {
            self.advance();
        }
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.advance();
        }
        match self.text[start..self.position].parse::<i8>() {
            Ok(exponent) if exponent.abs() <= MAX_EXPONENT => Ok(exponent),
            _ => Err(self.mistake(start..self.position)),
        }
    }

    fn base(&mut self, depth: usize) -> Result<Unit, UnitMistake> {
        self.skip_blanks();
        let start = self.position;
        if self.peek() == Some('(') && depth < MAX_DEPTH {
            self.advance();
            let unit = self.product(depth + 1)?;
            self.skip_blanks();
            if self.peek() != Some(')') {
                return Err(self.mistake(start..self.position));
            }
            self.advance();
            return Ok(unit);
        }
        while self.peek().is_some_and(char::is_alphabetic) {
            self.advance();
        }
        let word = &self.text[start..self.position];
        if word.is_empty() {
            return Err(self.mistake(start..self.text.len()));
        }
        match UNITS.iter().find(|unit| unit.0 == word) {
            Some(&(_, factor, dimension)) => Ok(Unit { factor, dimension }),
            None => Err(unknown_unit(word, start..self.position)),
        }
    }

    fn mistake(&self, range: Range<usize>) -> UnitMistake {
        let hint = "one unit may stand at the end, made with `*`, `/`, `^` and parentheses: `N/mm`, `kg*m^2`; inside an expression it stands in brackets: `30[deg]`";
        UnitMistake {
            range: if range.is_empty() { 0..self.text.len() } else { range },
            mistake: Mistake::BadUnit(self.text.trim().into()),
            hint: Some(hint.into()),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn advance(&mut self) {
        self.position += self.peek().map_or(0, char::len_utf8);
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.advance();
        }
    }
}

fn unknown_unit(word: &str, range: Range<usize>) -> UnitMistake {
    let names: Vec<&str> = UNITS.iter().map(|unit| unit.0).collect();
    let other_case = names.iter().copied().find(|name| name.eq_ignore_ascii_case(word));
    // A changed letter of a one- or two-letter unit is another unit: only longer words are guessed.
    let nearest = other_case
        .or_else(|| (word.chars().count() > 2).then(|| name::nearest(word, names.iter().copied())).flatten());
    let hint = match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        // After a first unit: most often a name of the expression.
        None if range.start > 0 => format!("{IN_EXPRESSION}; known units: {}", names.join(" ")),
        None => format!("known units: {}", names.join(" ")),
    };
    UnitMistake { range, mistake: Mistake::UnknownUnit(word.into()), hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_their_size_in_base_units() {
        let cases = [
            ("mm", 1e-3, Dimension::LENGTH),
            ("in", 0.0254, Dimension::LENGTH),
            ("lbf", 4.448_221_615_260_5, Dimension::FORCE),
            ("rpm", std::f64::consts::TAU / 60.0, Dimension::ANGULAR_SPEED),
            ("N/mm", 1e3, Dimension::STIFFNESS),
            ("kg*m^2", 1.0, Dimension::INERTIA),
            ("kg·m²", 1.0, Dimension::INERTIA),
            ("g/cm^3", 1e3, Dimension::DENSITY),
            ("g / cm³", 1e3, Dimension::DENSITY),
            ("km/min", 1e3 / 60.0, Dimension::SPEED),
            ("deg/s", std::f64::consts::PI / 180.0, Dimension::ANGULAR_SPEED),
            ("deg/s^2", std::f64::consts::PI / 180.0, Dimension::ANGULAR_ACCELERATION),
            ("Nm/rad", 1.0, Dimension::TORSIONAL_STIFFNESS),
            ("Nm/deg", 180.0 / std::f64::consts::PI, Dimension::TORSIONAL_STIFFNESS),
            ("Nm/(rad/s)", 1.0, Dimension::TORSIONAL_DAMPING),
            ("N*s/m", 1.0, Dimension::DAMPING),
            ("kN*m", 1e3, Dimension::TORQUE),
            ("N*mm^2", 1e-6, Dimension::BENDING_STIFFNESS),
            ("GPa", 1e9, Dimension::PRESSURE),
            ("N/mm^2", 1e6, Dimension::PRESSURE),
            ("s^-1", 1.0, Dimension::FREQUENCY),
            ("t", 1e3, Dimension::MASS),
        ];
        for (text, factor, dimension) in cases {
            let unit = Unit::parse(text).unwrap();
            assert_eq!(unit.dimension, dimension, "{text}");
            // A few roundings of factors and powers.
            assert!((unit.factor / factor - 1.0).abs() < 1e-14, "{text}: {}", unit.factor);
        }
    }

    #[test]
    fn every_named_dimension_reads_its_own_unit() {
        for (dimension, word, unit) in NAMED {
            if !unit.is_empty() {
                let read = Unit::parse(unit).unwrap();
                assert_eq!((read.dimension, read.factor), (*dimension, 1.0), "{word}");
            }
        }
    }

    #[test]
    fn what_is_no_unit_is_refused_with_a_hint() {
        let cases = [
            ("mn", "known units"),
            ("MM", "`mm`"),
            ("kgs", "`kg`"),
            ("m^", "one unit"),
            ("m^99", "one unit"),
            ("m^2.5", "one unit"),
            ("m + 1", "one unit"),
            ("m//s", "one unit"),
            ("(m", "one unit"),
            ("((((((m))))))", "one unit"),
            ("", "one unit"),
        ];
        for (text, hint) in cases {
            let mistake = Unit::parse(text).unwrap_err();
            assert!(mistake.hint.as_deref().unwrap_or("").contains(hint), "{text}: {mistake:?}");
        }
        assert!(Unit::parse(&"m*".repeat(1000)).is_err());
    }
}
