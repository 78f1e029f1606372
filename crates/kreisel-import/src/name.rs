//! Names of parts: those of the robot as far as model files allow, each once.

use kreisel::model::name::{GROUND, MAX_NAME_LENGTH};
use std::collections::HashSet;

/// Names that are given.
#[derive(Default)]
pub struct Names(HashSet<String>);

/// Letters of a name that is made longer to differ from others.
const ROOM: usize = 40;

impl Names {
    /// The name for a part that is called `wanted`; where that is taken, with `suffix` and then a number.
    pub fn give(&mut self, wanted: &str, suffix: &str) -> String {
        let plain = plain(wanted);
        let free = |name: &String| name != GROUND && !self.0.contains(name);
        let other = format!("{plain}_{suffix}");
        let numbered = || (2..).map(|number| format!("{other}_{number}")).find(free);
        let name =
            [plain.clone(), other.clone()].into_iter().find(free).or_else(numbered).unwrap_or(other.clone());
        self.0.insert(name.clone());
        name
    }
}

/// A name with `_` for every letter that model files do not allow.
pub fn plain(wanted: &str) -> String {
    let letters = wanted.chars().map(|letter| {
        let allowed = letter.is_alphanumeric() || letter == '_' || letter == '-';
        if allowed { letter } else { '_' }
    });
    let mut name = String::new();
    for letter in letters {
        if name.len() + letter.len_utf8() > MAX_NAME_LENGTH - ROOM {
            break;
        }
        name.push(letter);
    }
    if name.is_empty() { "part".to_owned() } else { name }
}
