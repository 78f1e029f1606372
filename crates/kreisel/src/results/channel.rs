//! Named, united columns of numbers.
//!
//! A channel's name is a sensor name `part.quantity.component`; with its unit it makes a column head of the
//! CSV file, `top.position.z [m]`. Time is a channel like any other, always the first: `time [s]`.

use super::error::{ReadError, WriteError};
use std::collections::HashSet;
use std::fmt;

/// One recorded quantity: its name and its unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Sensor name, `part.quantity.component`.
    pub name: String,
    /// SI unit as it is printed, `m/s`; `1` for a pure number.
    pub unit: String,
}

/// Whether a text can stand in the head of a table.
pub(crate) fn is_writable(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, ',' | '"' | '[' | ']'))
}

impl Channel {
    /// A channel of that name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    /// The channel of the first column, `time [s]`.
    pub fn time() -> Self {
        Self::new("time", "s")
    }

    /// The channel that a column head such as `top.position.z [m]` names.
    pub fn parse(head: &str) -> Result<Self, ReadError> {
        let bad = || ReadError::ColumnHead { head: head.to_owned() };
        let (name, rest) = head.split_once(" [").ok_or_else(bad)?;
        let unit = rest.strip_suffix(']').ok_or_else(bad)?;
        let channel = Self::new(name, unit);
        channel.fault().map_or(Ok(channel), |_| Err(bad()))
    }

    /// Why this channel cannot stand in a result file, if it cannot.
    ///
    /// Commas and quotes would need quoting in CSV, which many readers get wrong; a slash is a folder in
    /// HDF5.
    fn fault(&self) -> Option<&'static str> {
        if self.name.is_empty() {
            Some("it is empty")
        } else if self.name.trim() != self.name {
            Some("it begins or ends with a blank")
        } else if matches!(self.name.as_str(), "." | "..") || self.name.contains('/') {
            Some("HDF5 reads it as a path")
        } else if !is_writable(&self.name) || !is_writable(&self.unit) {
            Some("it or its unit has a comma, a quote, a bracket or a control character")
        } else {
            None
        }
    }
}

/// Place of the signal of a name among all names. The rate of a joint's only coordinate may be called `rate`
/// alone: `crank.rate` is `crank.angle-rate`.
pub fn find_signal<'n>(names: impl Iterator<Item = &'n str> + Clone, wanted: &str) -> Option<usize> {
    if let Some(index) = names.clone().position(|name| name == wanted) {
        return Some(index);
    }
    let owner = wanted.strip_suffix(".rate")?;
    let is_rate = |name: &str| {
        let word = name.strip_prefix(owner).and_then(|rest| rest.strip_prefix('.'));
        word.is_some_and(|word| word.ends_with("-rate") && !word.contains('.'))
    };
    let mut rates = names.enumerate().filter(|(_, name)| is_rate(name)).map(|(index, _)| index);
    rates.next().filter(|_| rates.next().is_none())
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.name, self.unit)
    }
}

/// Checks that the signals beside the time column have usable, distinct names.
pub(super) fn check(signals: &[Channel]) -> Result<(), WriteError> {
    let mut names = HashSet::from(["time"]);
    for signal in signals {
        if let Some(reason) = signal.fault() {
            return Err(WriteError::BadName { name: signal.name.clone(), reason });
        }
        if !names.insert(&signal.name) {
            return Err(WriteError::DuplicateName { name: signal.name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_rate_of_a_joint_may_be_called_rate() {
        let names =
            ["crank.angle", "crank.angle-rate", "screw.angle-rate", "screw.displacement-rate", "a.b-rate.x"];
        let found = |wanted: &str| find_signal(names.into_iter(), wanted);
        assert_eq!(found("crank.angle-rate"), Some(1));
        assert_eq!(found("crank.rate"), Some(1));
        for wanted in ["screw.rate", "a.rate", "nobody.rate", "crank", "rate"] {
            assert_eq!(found(wanted), None, "{wanted}");
        }
    }

    #[test]
    fn head_is_name_blank_and_unit_in_brackets() {
        assert_eq!(Channel::new("top.position.z", "m").to_string(), "top.position.z [m]");
        assert_eq!(Channel::time().to_string(), "time [s]");
    }

    #[test]
    fn a_printed_head_parses_to_the_same_channel() {
        for channel in [Channel::new("energy.total", "J"), Channel::new("crank.torque.z", "N m")] {
            assert_eq!(Channel::parse(&channel.to_string()).unwrap(), channel);
        }
    }

    #[test]
    fn heads_without_a_unit_are_refused() {
        for head in ["", "time", "time [s", "time s]", " [m]", "a,b [m]"] {
            assert!(matches!(Channel::parse(head), Err(ReadError::ColumnHead { .. })), "{head}");
        }
    }

    #[test]
    fn names_that_a_file_cannot_hold_are_refused() {
        for name in ["", ".", "..", "a/b", "a,b", "a\nb", " a", "a\"", "a]"] {
            assert!(matches!(check(&[Channel::new(name, "m")]), Err(WriteError::BadName { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_name_used_twice_is_refused_and_time_is_taken() {
        let twice = [Channel::new("a", "m"), Channel::new("a", "s")];
        assert!(matches!(check(&twice), Err(WriteError::DuplicateName { .. })));
        assert!(matches!(check(&[Channel::time()]), Err(WriteError::DuplicateName { .. })));
    }
}
