//! The page of a sweep: how each measure answers to each parameter, and what failed.

use crate::figure::{self, FigureStyle, Panel, Scale, Series};
use crate::output::brief;
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
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\
         <title>{}</title><style>{STYLE}</style><main>{body}</main></html>\n",
        escaped(&title)
    )
}

/// The look of the page of a run; in the dark plots are turned over, and their hues kept.
const STYLE: &str = ":root{--page:#f4f6f9;--card:#fff;--ink:#1b2430;--muted:#5a6675;--line:#dfe4ea;color-scheme:light dark}\
@media(prefers-color-scheme:dark){:root{--page:#0c0f13;--card:#151a21;--ink:#e6ebf1;--muted:#98a5b3;--line:#28313c}\
.plots svg{filter:invert(.91) hue-rotate(180deg)}main .card{background:#171717}}\
body{margin:0;background:var(--page);color:var(--ink);font:14px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
main{max-width:80rem;margin:auto;padding:4px 20px 40px}h1{font-size:1.25rem;margin:14px 0 2px}h2{font-size:1.05rem;margin:26px 0 10px}\
p{margin:0;color:var(--muted)}.plots{display:flex;flex-wrap:wrap;gap:16px}.plots svg{max-width:100%;height:auto;display:block}\
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:10px;overflow:hidden;\
box-shadow:0 1px 2px rgba(20,30,45,.06),0 6px 22px rgba(20,30,45,.06)}\
path.point{cursor:crosshair}path.point:hover{stroke-width:5}table{border-collapse:collapse;margin-top:12px;font-variant-numeric:tabular-nums}\
td,th{padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{color:var(--muted);font-weight:400}\
.wide{overflow-x:auto}";

/// A measure over a parameter: a line if nothing else varies, else points.
fn response(
    plan: &SweepPlan,
    done: &[&SweepRow],
    axis: usize,
    variation: &Variation,
    measure: usize,
) -> String {
    let stride = done.len().div_ceil(MAX_POINTS).max(1);
    let mut points: Vec<(f64, f64, usize)> = (done.iter().step_by(stride))
        .map(|row| (plan.points[row.run][axis], row.measures[measure], row.run))
        .filter(|(_, value, _)| value.is_finite())
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (x, y) = points.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let hints: Vec<String> = points.iter().map(|(_, value, run)| hint(plan, *run, measure, *value)).collect();

    let curve = Series::new("", x, y).labelled(variation.column(), plan.measures[measure].name.clone());
    let curve = if plan.variations.len() == 1 { curve } else { curve.as_points() };
    let is_log = matches!(variation.spread, Spread::Range { logarithmic: true, .. });
    let scale = if is_log { Scale::Logarithmic } else { Scale::Linear };
    let panel = Panel { x: scale, ..Panel::linear("") };
    let svg = figure::svg(&variation.name, &FigureStyle::side_by_side([panel]), &[curve]);
    format!("<div class=card>{}</div>", with_hints(&svg, &hints))
}

/// A run in words: its number, what varies, what was measured.
fn hint(plan: &SweepPlan, run: usize, measure: usize, value: f64) -> String {
    let values = plan.variations.iter().zip(&plan.points[run]);
    let values = values.map(|(variation, value)| format!("{} = {}", variation.name, variation.text(*value)));
    let measured = format!("{} = {}", plan.measures[measure].name, brief(value));
    format!("run {run}: {}", values.chain([measured]).collect::<Vec<_>>().join(", "))
}

/// Lets the marker of each point tell its run where the pointer rests on it. Where points were thinned none
/// does.
fn with_hints(svg: &str, hints: &[String]) -> String {
    const MARKER: &str = "<path transform";
    let mut pieces = svg.split(MARKER);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let markers: Vec<&str> = pieces.collect();
    let is_whole = markers.len() == hints.len();
    for (place, marker) in markers.into_iter().enumerate() {
        match marker.split_once("/>").filter(|_| is_whole) {
            Some((look, rest)) => {
                let hint = escaped(&hints[place]);
                let _ =
                    write!(text, "<path class=\"point\" transform{look}><title>{hint}</title></path>{rest}");
            }
            None => text += &[MARKER, marker].concat(),
        }
    }
    text
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
            let _ = write!(text, "<td>{} {}", brief(*value), escaped(&variation.unit));
        }
        let _ = write!(text, "<td>{}", brief(row.measures[measure]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_tell_their_runs_unless_some_are_missing() {
        let curve = || Series::new("", vec![1.0, 2.0, 3.0], vec![1.0, 4.0, 9.0]);
        let svg = figure::svg("x", &FigureStyle::linear(), &[curve()]);
        let hints = ["run 0: <a>", "run 1", "run 2"].map(str::to_owned);
        let told = with_hints(&svg, &hints);
        for words in ["<title>run 0: &lt;a&gt;</title>", "<title>run 1</title>", "<title>run 2</title>"] {
            assert!(told.contains(words), "{words} is missing in {told}");
        }
        assert_eq!(with_hints(&svg, &hints[..2]), svg);
    }
}
