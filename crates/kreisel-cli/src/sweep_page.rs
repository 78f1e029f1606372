//! The page of a sweep: how each measure answers to each parameter, and what failed.

use crate::figure::{self, FigureStyle, Panel, Scale, Series};
use kreisel::sweep::journal::Identity;
use kreisel::sweep::{Outcome, Spread, SweepPlan, SweepRow, Variation};
use std::fmt::Write;
use std::path::Path;

/// Most points of one plot; more are thinned evenly.
const MAX_POINTS: usize = 4_000;
/// Most failed runs that are named.
const MAX_FAILED: usize = 50;

/// The page, in one file that needs nothing else.
pub fn page(model: &Path, plan: &SweepPlan, rows: &[SweepRow], identity: &Identity) -> String {
    let done: Vec<&SweepRow> = rows.iter().filter(|row| row.outcome == Outcome::Done).collect();
    let title = format!("Sweep of {}", model.file_name().unwrap_or_default().to_string_lossy());
    let mut body = String::new();
    let _ = write!(
        body,
        "<h1>{}</h1><p>{} runs, {} failed. The numbers are in <code>sweep.csv</code> beside this page.</p>",
        escaped(&title),
        rows.len(),
        rows.len() - done.len()
    );
    for (place, measure) in plan.measures.iter().enumerate() {
        let _ = write!(body, "<h2>{}</h2><div class=plots>", escaped(&measure.name));
        for (axis, variation) in plan.variations.iter().enumerate() {
            body.push_str(&response(plan, &done, axis, variation, place));
        }
        body.push_str("</div>");
        body.push_str(&extremes(plan, &done, place));
    }
    body.push_str(&failures(plan, rows));
    body.push_str(&facts(identity));
    format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style><main>{body}</main></html>\n",
        escaped(&title)
    )
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}\
main{max-width:76rem;margin:auto;padding:1rem}.plots{display:flex;flex-wrap:wrap;gap:1rem}\
.plots svg{max-width:100%;height:auto}table{border-collapse:collapse}td,th{padding:.15rem .7rem;text-align:left;\
border-bottom:1px solid #8884}.wide{overflow-x:auto}";

/// A measure over a parameter: a line if nothing else varies, else points.
fn response(
    plan: &SweepPlan,
    done: &[&SweepRow],
    axis: usize,
    variation: &Variation,
    measure: usize,
) -> String {
    let stride = done.len().div_ceil(MAX_POINTS).max(1);
    let mut points: Vec<(f64, f64)> = (done.iter().step_by(stride))
        .map(|row| (plan.points[row.run][axis], row.measures[measure]))
        .filter(|(_, value)| value.is_finite())
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (x, y) = points.into_iter().unzip();

    let curve = Series::new("", x, y).labelled(variation.column(), plan.measures[measure].name.clone());
    let curve = if plan.variations.len() == 1 { curve } else { curve.as_points() };
    let is_log = matches!(variation.spread, Spread::Range { logarithmic: true, .. });
    let scale = if is_log { Scale::Logarithmic } else { Scale::Linear };
    let panel = Panel { x: scale, ..Panel::linear("") };
    figure::svg(&variation.name, &FigureStyle::side_by_side([panel]), &[curve])
}

/// The runs with the least and the most of a measure.
fn extremes(plan: &SweepPlan, done: &[&SweepRow], measure: usize) -> String {
    let finite = || done.iter().filter(|row| row.measures[measure].is_finite());
    let order = |a: &&&SweepRow, b: &&&SweepRow| a.measures[measure].total_cmp(&b.measures[measure]);
    let (Some(least), Some(most)) = (finite().min_by(order), finite().max_by(order)) else {
        return "<p>No run has this measure.</p>".to_owned();
    };
    let mut text = String::from("<div class=wide><table><tr><th><th>run");
    plan.variations.iter().for_each(|one| {
        let _ = write!(text, "<th>{}", escaped(&one.name));
    });
    text.push_str("<th>measure");
    for (word, row) in [("least", least), ("most", most)] {
        let _ = write!(text, "<tr><td>{word}<td>{}", row.run);
        for (variation, value) in plan.variations.iter().zip(&plan.points[row.run]) {
            let _ = write!(text, "<td>{:.6} {}", value, escaped(&variation.unit));
        }
        let _ = write!(text, "<td>{:.9e}", row.measures[measure]);
    }
    text.push_str("</table></div>");
    text
}

fn failures(plan: &SweepPlan, rows: &[SweepRow]) -> String {
    let failed: Vec<(&SweepRow, &String)> = (rows.iter())
        .filter_map(|row| match &row.outcome {
            Outcome::Failed(reason) => Some((row, reason)),
            Outcome::Done => None,
        })
        .collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Failed runs</h2><div class=wide><table>");
    for (row, reason) in failed.iter().take(MAX_FAILED) {
        let values: Vec<String> = (plan.variations.iter().zip(&plan.points[row.run]))
            .map(|(variation, value)| format!("{} = {}", variation.name, variation.text(*value)))
            .collect();
        let _ = write!(text, "<tr><td>{}<td>{}<td>{}", row.run, escaped(&values.join(", ")), escaped(reason));
    }
    text.push_str("</table></div>");
    if failed.len() > MAX_FAILED {
        let _ = write!(text, "<p>{} more are in the table.</p>", failed.len() - MAX_FAILED);
    }
    text
}

fn facts(identity: &Identity) -> String {
    let rows = [
        ("model (SHA-256)", identity.model.clone()),
        ("changed", identity.settings.join(", ")),
        ("varied", identity.variations.join(", ")),
        ("points", identity.sampling.clone()),
        ("made by", format!("Kreisel {}", identity.version)),
    ];
    let mut text = String::from("<h2>Facts</h2><div class=wide><table>");
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(text, "<tr><th>{name}<td>{}", escaped(value));
    }
    text.push_str("</table></div>");
    text
}

/// Text that stays text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
