//! The table of experiments: one line each, in the order in which they are listed and run.

use super::Paper::LieAlgebra;
use super::RunTime::Instant;
use super::{Experiment, ExperimentError, Outcome, Paper, Progress, RunTime, lie_algebra};
use std::fmt::Write;

/// Every experiment there is.
#[rustfmt::skip] // a table: one line an experiment
pub static EXPERIMENTS: &[Experiment] = &[
    row("lie-algebra-eq53", "Error constants of the transient phase", LieAlgebra, Instant, lie_algebra::eq53::run),
];

const fn row(
    id: &'static str,
    title: &'static str,
    paper: Paper,
    run_time: RunTime,
    run: fn(&Progress) -> Result<Outcome, ExperimentError>,
) -> Experiment {
    Experiment { id, title, paper, run_time, run }
}

/// The experiments as the table of the book.
pub fn markdown_table() -> String {
    let mut table = String::from("| id | what it shows | run time |\n|---|---|---|\n");
    for Experiment { id, title, run_time, .. } in EXPERIMENTS {
        let _ = writeln!(table, "| `{id}` | {title} | {} |", run_time.words());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_begin_with_their_papers_word() {
        for (place, experiment) in EXPERIMENTS.iter().enumerate() {
            assert!(experiment.id.starts_with(&format!("{}-", experiment.paper.word())), "{}", experiment.id);
            let is_kebab =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            assert!(experiment.id.chars().all(is_kebab), "{}", experiment.id);
            assert!(
                EXPERIMENTS[..place].iter().all(|earlier| earlier.id != experiment.id),
                "{}",
                experiment.id
            );
        }
    }

    #[test]
    fn titles_fit_a_line_and_end_without_a_stop() {
        for experiment in EXPERIMENTS {
            assert!((10..=80).contains(&experiment.title.chars().count()), "{}", experiment.title);
            assert!(!experiment.title.ends_with('.'), "{}", experiment.title);
        }
    }
}
