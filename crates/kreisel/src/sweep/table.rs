//! The table of a sweep, as comma-separated values.

use super::measure::Measure;
use super::run::{Outcome, SweepPlan, SweepRow};
use super::vary::Variation;
use std::fmt::Write;

/// A line for each run: its number, parameters, measures, how it ended and why.
pub fn table(plan: &SweepPlan, rows: &[SweepRow]) -> String {
    let mut text = head(plan.variations, plan.measures);
    text.push_str(&lines(rows.iter().map(|row| (row, plan.points[row.run].as_slice()))));
    text
}

/// The first line of a table.
pub fn head(variations: &[Variation], measures: &[Measure]) -> String {
    let mut text = String::from("run");
    for name in variations.iter().map(Variation::column).chain(measures.iter().map(|one| one.name.clone())) {
        let _ = write!(text, ",{}", quoted(&name));
    }
    text.push_str(",status,reason\n");
    text
}

/// The lines of some runs, each with its point.
///
/// Numbers have 17 significant digits, as in `trajectory.csv`, which gives every bit back.
pub fn lines<'a>(rows: impl Iterator<Item = (&'a SweepRow, &'a [f64])>) -> String {
    let mut text = String::new();
    for (row, point) in rows {
        let _ = write!(text, "{}", row.run);
        for value in point.iter().chain(&row.measures) {
            let _ = if value.is_nan() { write!(text, ",NaN") } else { write!(text, ",{value:.16e}") };
        }
        let _ = match &row.outcome {
            Outcome::Done => writeln!(text, ",done,"),
            Outcome::Failed(reason) => writeln!(text, ",failed,{}", quoted(reason)),
        };
    }
    text
}

/// A field in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
