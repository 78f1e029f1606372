//! `--sensor NAME` chooses signals by name or by a pattern with `*`.

use crate::command::CommandError;
use kreisel::report::Recording;
use kreisel::results::{CsvTable, find_signal};

/// The signals that whoever names none wants to see: the model's own sensors, or joint coordinates, or
/// positions.
pub fn own(recording: &Recording) -> Vec<usize> {
    let names: Vec<&str> = recording.table.signals.iter().map(|signal| signal.name.as_str()).collect();
    let indices = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|&index| wanted(names[index])).take(MAX_OWN).collect()
    };
    // Sensors of the model are recorded after the usual ones, of which the solver's are the last.
    let usual = names.iter().rposition(|name| name.starts_with("solver."));
    let sensors: Vec<usize> = usual.map_or(0..0, |last| last + 1..names.len()).take(MAX_OWN).collect();
    let joints = &recording.scene.joints;
    let is_coordinate = |name: &str| match name.split_once('.') {
        Some((part, word)) => {
            !word.contains('.') && !word.ends_with("rate") && joints.iter().any(|joint| joint.name == part)
        }
        None => false,
    };
    let all = [sensors, indices(&is_coordinate), indices(&|name| name.contains(".position."))];
    all.into_iter().find(|found| !found.is_empty()).unwrap_or_else(|| indices(&|_| true))
}

/// Most signals that are shown without being asked for: a colour each.
const MAX_OWN: usize = 7;

/// Signals of a table, as indices, that the patterns name; each once, in the order of the table within a
/// pattern.
///
/// A name without its last words stands for all components.
pub fn chosen(table: &CsvTable, patterns: &[String]) -> Result<Vec<usize>, CommandError> {
    let mut found: Vec<usize> = Vec::new();
    for pattern in patterns {
        let before = found.len();
        let names = table.signals.iter().map(|signal| signal.name.as_str());
        let alone = find_signal(names.clone(), pattern);
        let of_pattern = names.enumerate().filter(|(_, name)| matches(pattern, name)).map(|(index, _)| index);
        let mut fits = alone.into_iter().chain(of_pattern.filter(|index| Some(*index) != alone)).peekable();
        if fits.peek().is_none() {
            return Err(unknown(table, pattern));
        }
        fits.for_each(|index| {
            if !found[..before].contains(&index) {
                found.push(index);
            }
        });
    }
    Ok(found)
}

/// Whether a name is a pattern's, in which `*` stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        let end = name.strip_prefix(pattern);
        return end.is_some_and(|end| end.is_empty() || end.starts_with('.'));
    };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match name.find(piece) {
            Some(at) => name = &name[at + piece.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

/// The error of a pattern that fits nothing, with names that share most of its words.
fn unknown(table: &CsvTable, pattern: &str) -> CommandError {
    let words: Vec<&str> = pattern.split(['.', '*']).filter(|word| !word.is_empty()).collect();
    let shared = |name: &str| words.iter().filter(|word| name.split('.').any(|part| part == **word)).count();
    let mut names: Vec<&str> = table.signals.iter().map(|signal| signal.name.as_str()).collect();
    names.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    let names = names.iter().take(5).map(|name| (*name).to_owned()).collect();
    CommandError::UnknownSensor { pattern: pattern.to_owned(), names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreisel::results::Channel;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, fits) in [
            ("energy.*", "energy.total", true),
            ("energy.*", "my.energy.total", false),
            ("*.z", "top.position.z", true),
            ("*.position.*", "top.position.z", true),
            ("t*p.*on.z", "top.position.z", true),
            ("top.position.z", "top.position.z", true),
            ("top.position", "top.position.z", true),
            ("top.pos", "top.position.z", false),
            ("*", "anything", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    fn table() -> CsvTable {
        let names = ["top.position.x", "top.position.z", "energy.total"];
        let signals = names.map(|name| Channel::new(name, "m")).to_vec();
        CsvTable { times: vec![0.0], columns: vec![vec![0.0]; signals.len()], signals }
    }

    #[test]
    fn each_signal_is_chosen_once_in_the_order_asked_for() {
        let patterns = ["energy.total", "*"].map(str::to_owned);
        assert_eq!(chosen(&table(), &patterns).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_its_likes() {
        let error = chosen(&table(), &["top.position.y".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("top.position.x"), "{error}");
    }
}
