//! The table of a sweep, as comma-separated values.

use super::run::{Outcome, Plan, Row};
use std::fmt::Write;

/// A line for each run: its number, parameters, measures, how it ended and why.
///
/// Numbers have 17 significant digits, as in `trajectory.csv`, which gives every bit back.
pub fn table(plan: &Plan, rows: &[Row]) -> String {
    let mut text = String::from("run");
    for variation in plan.variations {
        let unit = if variation.unit.is_empty() { String::new() } else { format!(" [{}]", variation.unit) };
        let _ = write!(text, ",{}", quoted(&format!("{}{unit}", variation.name)));
    }
    plan.measures.iter().for_each(|measure| {
        let _ = write!(text, ",{}", quoted(&measure.name));
    });
    text.push_str(",status,reason\n");
    for row in rows {
        let _ = write!(text, "{}", row.run);
        for value in plan.points[row.run].iter().chain(&row.measures) {
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
