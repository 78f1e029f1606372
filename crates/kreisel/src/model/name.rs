//! Names of parts, and the nearest valid name to one that was misspelt.

use super::error::Mistake;

/// The name of the inertial frame, which no part may have.
pub const GROUND: &str = "ground";

/// Longest name in bytes; it also bounds the search for names with dashes in expressions.
pub const MAX_NAME_LENGTH: usize = 200;

/// Checks a name: letters, digits, `-` and `_`, no dots (they separate in sensor names), not `ground`.
pub fn check(name: &str) -> Result<(), Mistake> {
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME_LENGTH {
        "it is too long"
    } else if name == GROUND {
        "`ground` is the inertial frame"
    } else if name.contains('.') {
        "dots separate parts and quantities in sensor names"
    } else if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_') {
        "only letters, digits, `-` and `_` are allowed"
    } else {
        return Ok(());
    };
    let shown = name.chars().take(60).collect();
    Err(Mistake::BadName { name: shown, reason })
}

/// Names that are listed in full when none is near.
const MAX_LISTED: usize = 12;

/// A hint for a misspelt name: the nearest one, or the list of all if they are few.
pub fn suggestion<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut names: Vec<&str> = names.into_iter().collect();
    if let Some(nearest) = nearest(written, names.iter().copied()) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() || names.len() > MAX_LISTED {
        return None;
    }
    Some(format!("known: {}", list(&names)))
}

/// Names in backticks, separated by commas.
pub fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The name nearest to a misspelt one, if any is near enough to be meant.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = written.chars().take(MAX_NAME_LENGTH).flat_map(char::to_lowercase).collect();
    // A third of the letters may be wrong, and one always.
    let limit = (letters.len() / 3).max(1);
    names
        .into_iter()
        .filter(|name| name.len() <= MAX_NAME_LENGTH)
        .filter_map(|name| {
            let other: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
            if letters.len().abs_diff(other.len()) > limit {
                return None;
            }
            let distance = edit_distance(&letters, &other);
            (distance <= limit && distance < letters.len().max(2)).then_some((distance, name))
        })
        .min_by_key(|&(distance, name)| (distance, name))
        .map(|(_, name)| name)
}

/// Number of insertions, deletions, changes and swaps of neighbours that turn one word into the other.
fn edit_distance(first: &[char], second: &[char]) -> usize {
    let mut before_last = vec![0; second.len() + 1];
    let mut last: Vec<usize> = (0..=second.len()).collect();
    for row in 1..=first.len() {
        let mut current = vec![row; second.len() + 1];
        for column in 1..=second.len() {
            let change = usize::from(first[row - 1] != second[column - 1]);
            let mut distance = (last[column] + 1).min(current[column - 1] + 1).min(last[column - 1] + change);
            let swapped = row > 1
                && column > 1
                && first[row - 1] == second[column - 2]
                && first[row - 2] == second[column - 1];
            if swapped {
                distance = distance.min(before_last[column - 2] + 1);
            }
            current[column] = distance;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[second.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_dashes_and_underscores() {
        for good in ["top", "link-3", "Kurbel_ä", "3"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "a.b", "a b", "ground", "x{i}", &"x".repeat(201)] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_nearest_name_is_found_despite_swaps_and_case() {
        let names = ["mass", "inertia", "position"];
        assert_eq!(nearest("amss", names), Some("mass"));
        assert_eq!(nearest("Mass", names), Some("mass"));
        assert_eq!(nearest("postion", names), Some("position"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", ["y"]), Some("y"));
        assert_eq!(suggestion("colour", names).unwrap(), "known: `inertia`, `mass`, `position`");
    }
}
