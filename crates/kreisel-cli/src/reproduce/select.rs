//! From the words of the user to experiments, with the nearest known word for a typo.

use kreisel_papers::experiment::{Experiment, Paper};

/// The experiments that were asked for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// In the order asked for, each once.
    pub experiments: Vec<&'static Experiment>,
    /// Whether exactly one id was given, and not a word that stands for several.
    pub is_single: bool,
}

/// A name that stands for no experiment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no experiment `{name}`; the nearest is `{nearest}` (`kreisel reproduce --list` shows all)")]
pub struct UnknownName {
    /// What was asked for.
    pub name: String,
    /// The known id or word that is most like it.
    pub nearest: String,
}

/// Finds the experiments that ids, papers' words and `all` stand for.
pub fn select(known: &'static [Experiment], names: &[String]) -> Result<Selection, UnknownName> {
    let mut experiments: Vec<&'static Experiment> = Vec::new();
    let mut has_word = false;
    for name in names {
        let by_id: Vec<_> = known.iter().filter(|experiment| experiment.id == name).collect();
        let by_word = known.iter().filter(|experiment| name == "all" || experiment.paper.word() == name);
        let found = if by_id.is_empty() { by_word.collect() } else { by_id.clone() };
        if found.is_empty() {
            return Err(UnknownName { name: name.clone(), nearest: nearest(known, name) });
        }
        has_word |= by_id.is_empty();
        for experiment in found {
            if !experiments.iter().any(|chosen| chosen.id == experiment.id) {
                experiments.push(experiment);
            }
        }
    }
    Ok(Selection { experiments, is_single: names.len() == 1 && !has_word })
}

fn nearest(known: &'static [Experiment], name: &str) -> String {
    let words = Paper::ALL.iter().map(|paper| paper.word());
    let words = words.filter(|word| known.iter().any(|experiment| experiment.paper.word() == *word));
    let names = known.iter().map(|experiment| experiment.id).chain(words).chain(["all"]);
    names.min_by_key(|candidate| edit_distance(candidate, name)).unwrap_or("all").to_owned()
}

/// How many letters must be inserted, deleted or replaced to turn `a` into `b` (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreisel_papers::experiment::{Progress, RunTime};

    const fn experiment(id: &'static str, paper: Paper) -> Experiment {
        Experiment {
            id,
            title: "",
            paper,
            run_time: RunTime::Instant,
            run: |_: &Progress| Err("only a name".into()),
        }
    }

    static KNOWN: [Experiment; 3] = [
        experiment("lie-algebra-fig06", Paper::LieAlgebra),
        experiment("lie-algebra-fig11", Paper::LieAlgebra),
        experiment("projection-fig1", Paper::Projection),
    ];

    fn ids(names: &[&str]) -> Result<(Vec<&'static str>, bool), UnknownName> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let selection = select(&KNOWN, &names)?;
        Ok((selection.experiments.iter().map(|experiment| experiment.id).collect(), selection.is_single))
    }

    #[test]
    fn an_id_a_word_and_all_select_what_they_say() {
        assert_eq!(ids(&["projection-fig1"]).unwrap(), (vec!["projection-fig1"], true));
        assert_eq!(ids(&["projection"]).unwrap(), (vec!["projection-fig1"], false));
        assert_eq!(ids(&["lie-algebra"]).unwrap().0, ["lie-algebra-fig06", "lie-algebra-fig11"]);
        assert_eq!(ids(&["all"]).unwrap().0.len(), 3);
    }

    #[test]
    fn the_order_is_the_one_asked_for_and_nothing_comes_twice() {
        let (ids, is_single) = ids(&["projection-fig1", "lie-algebra", "all"]).unwrap();
        assert_eq!(ids, ["projection-fig1", "lie-algebra-fig06", "lie-algebra-fig11"]);
        assert!(!is_single);
    }

    #[test]
    fn a_typo_gets_the_nearest_name() {
        for (typo, nearest) in [
            ("lie-algebra-fig6", "lie-algebra-fig06"),
            ("lie-algbra", "lie-algebra"),
            ("projecton-fig1", "projection-fig1"),
            ("al", "all"),
        ] {
            assert_eq!(ids(&[typo]).unwrap_err().nearest, nearest, "{typo}");
        }
    }

    #[test]
    fn edit_distance_counts_letters() {
        for (a, b, distance) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("ρ∞", "ρ", 1), ("same", "same", 0)]
        {
            assert_eq!(edit_distance(a, b), distance);
            assert_eq!(edit_distance(b, a), distance);
        }
    }
}
