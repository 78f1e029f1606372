//! An experiment's results for people (text) and for programs (JSON).

use crate::figure::Series;
use kreisel_papers::experiment::{Check, Finished, Table};
use serde::Serialize;

/// What `--json` gives for one experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The experiment's name on the command line.
    pub id: &'static str,
    /// What is shown, in one line.
    pub title: &'static str,
    /// What must hold.
    pub checks: Vec<Check>,
    /// The curves of the figure.
    pub series: Vec<Series>,
}

impl Summary {
    /// The summary of an experiment that has been run.
    pub fn new(finished: Finished) -> Self {
        let Finished { experiment, outcome, .. } = finished;
        Self { id: experiment.id, title: experiment.title, checks: outcome.checks, series: outcome.series }
    }

    /// Whether every check holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }
}

/// The table a paper would print, then each check.
pub fn text_report(finished: &Finished) -> String {
    let Finished { experiment, outcome, elapsed } = finished;
    let key = experiment.paper.key();
    let mut text = format!("{}: {} [{key}]\n\n", experiment.id, experiment.title);
    if !outcome.table.is_empty() {
        text += &indented(&outcome.table);
        text += "\n";
    }
    let shown: Vec<&Check> =
        outcome.checks.iter().filter(|check| !(outcome.checks_are_in_the_table && check.pass)).collect();
    if !shown.is_empty() {
        text += &indented(&check_table(&shown));
    }
    let failed = outcome.checks.iter().filter(|check| !check.pass).count();
    let verdict = if failed == 0 { "all pass".to_owned() } else { format!("{failed} FAIL") };
    text += &format!("\n{} checks, {verdict} ({:.1} s)\n\n", outcome.checks.len(), elapsed.as_secs_f64());
    text
}

fn check_table(checks: &[&Check]) -> Table {
    let mut table = Table::new(["check", "expected", "measured", ""]);
    for check in checks {
        let verdict = if check.pass { "pass" } else { "FAIL" };
        table.row([
            check.name.clone(),
            check.expected_words(),
            check.measured.to_string(),
            verdict.to_owned(),
        ]);
    }
    table
}

fn indented(table: &Table) -> String {
    table.to_string().lines().map(|line| format!("  {line}\n")).collect()
}
