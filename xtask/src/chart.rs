//! The README's chart of speed, drawn from the table of `benches/README.md`.

use crate::root;
use std::fmt::Write;
use std::fs;

/// Rows of the table that the chart shows, and what it calls them.
const SHOWN: [(&str, &str); 7] = [
    ("heavy top, h = 1e-4 s", "heavy top"),
    ("spherical chain, 10 links", "10 ball joints"),
    ("spherical chain, 100 links", "100 ball joints"),
    ("spherical chain, 1000 links", "1000 ball joints"),
    ("revolute chain, 100 links", "100 hinges"),
    ("right-angle beam, 10 elements, h = 0.05 s", "beam of 10 elements"),
    ("flying beam, 500 elements, h = 0.01 s", "beam of 500 elements"),
];

/// Programs with the head of their column and their colour.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("Kreisel", "ratio to Exudyn", "#0072b2"),
    ("Exudyn", "", "#b5b5b5"),
    ("MuJoCo", "MuJoCo, ratio", "#e69f00"),
];

const FILE: &str = "book/src/figures/speed.svg";

/// Draws the chart.
pub fn draw() -> Result<(), String> {
    fs::write(root().join(FILE), fresh()?).map_err(|error| format!("{FILE}: {error}"))
}

fn fresh() -> Result<String, String> {
    let path = root().join("benches/README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    chart(&text)
}

/// The chart of the first table of a text: a group of bars for each row that is shown.
fn chart(text: &str) -> Result<String, String> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table: Vec<Vec<String>> = text
        .lines()
        .skip_while(|line| !line.starts_with("| benchmark"))
        .take_while(|line| line.starts_with('|'))
        .map(cells)
        .collect();
    let head = table.first().ok_or("benches/README.md has no table of benchmarks")?;
    let mut groups = Vec::new();
    for (name, shown) in SHOWN {
        let row = table.iter().find(|row| row[0] == name).ok_or(format!("there is no benchmark `{name}`"))?;
        let time = |column: &str| -> Option<f64> {
            let place = head.iter().position(|word| word == column)?;
            row.get(place)?.parse().ok()
        };
        // Exudyn is the measure.
        let times = PROGRAMS.map(|(_, column, _)| if column.is_empty() { Some(1.0) } else { time(column) });
        if times[0].is_none() {
            return Err(format!("`{name}` has no ratio"));
        }
        groups.push((shown, times));
    }
    Ok(svg(&groups))
}

fn svg(groups: &[(&str, [Option<f64>; 3])]) -> String {
    const LEFT: f64 = 170.0;
    const BAR: f64 = 12.0;
    let most = groups
        .iter()
        .flat_map(|(_, times)| times.iter().flatten())
        .fold(1.0_f64, |most, time| most.max(*time));
    let unit = 430.0 / most;
    let mut body = String::new();
    let mut y = 40.0;
    for (place, (name, _, colour)) in PROGRAMS.iter().enumerate() {
        let x = LEFT + 110.0 * place as f64;
        let _ = writeln!(body, "<rect x=\"{x}\" y=\"12\" width=\"12\" height=\"12\" fill=\"{colour}\"/>");
        let _ = writeln!(body, "<text x=\"{}\" y=\"22\">{name}</text>", x + 18.0);
    }
    for (name, times) in groups {
        let count = times.iter().flatten().count() as f64;
        let middle = y + BAR * count / 2.0 + 4.0;
        let _ =
            writeln!(body, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{name}</text>", LEFT - 10.0);
        for (time, (_, _, colour)) in times.iter().zip(&PROGRAMS) {
            let Some(time) = time else { continue };
            let width = unit * time;
            let _ = writeln!(
                body,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>",
                BAR - 2.0
            );
            let _ = writeln!(
                body,
                "<text x=\"{:.1}\" y=\"{}\" font-size=\"10\" fill=\"#777\">{time}</text>",
                LEFT + width + 5.0,
                y + BAR - 3.0
            );
            y += BAR;
        }
        y += 10.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"{y}\" viewBox=\"0 0 660 {y}\" \
         font-family=\"'DejaVu Sans', Arial, Helvetica, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <title>CPU time of a step, in parts of Exudyn's</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_chart_is_that_of_the_table() {
        let drawn = fs::read_to_string(root().join(FILE)).unwrap();
        assert_eq!(drawn, fresh().unwrap(), "run `cargo xtask refresh`");
    }

    #[test]
    fn a_longer_time_is_a_longer_bar() {
        let text = svg(&[("a", [Some(0.1), Some(1.0), None]), ("b", [Some(0.2), Some(1.0), Some(2.0)])]);
        let widths: Vec<f64> = text
            .split("width=\"")
            .filter_map(|rest| rest.split('"').next()?.parse().ok())
            .filter(|width| *width != 12.0 && *width != 660.0)
            .collect();
        assert_eq!(widths, [21.5, 215.0, 43.0, 215.0, 430.0]);
    }
}
