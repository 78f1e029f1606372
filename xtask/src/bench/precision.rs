//! Work against precision: CPU time to reach an error, of Kreisel and its peers.
//!
//! Programs run each machine with finer and finer settings, one line a run, with tabs: machine, program, CPU
//! seconds, error; or, instead of a time, the word `cannot` and why. The time for an error lies between that of
//! the last run that misses it and the next one, on the line through both in logarithms: runs that are good by
//! chance, before others that are not, do not count.

use super::kreisel;
use crate::python::output;
use crate::{root, say};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A machine of the table. A new one is one line here, and its entry in `crates/kreisel/benches/precision.rs`.
struct Row {
    machine: &'static str,
    title: &'static str,
    errors: &'static [&'static str],
    /// Programs beside Kreisel, each a script `benches/precision_….py`.
    peers: &'static [&'static str],
    /// The most seconds that Kreisel may take for the smallest error.
    within: Option<f64>,
}

const FOUR: &[&str] = &["1e-3", "1e-5", "1e-7", "1e-9"];
const TWO: &[&str] = &["1e-3", "1e-5"];
const BOTH: &[&str] = &["exudyn", "mujoco"];

const ROWS: &[Row] = &[
    row("heavy-top", "heavy top, 1 s", FOUR, BOTH, None),
    row("free-body", "free body, 10 s", FOUR, BOTH, None),
    row("pendulum-100-periods", "pendulum, 100 periods", FOUR, BOTH, None),
    row("chain-10-balls", "chain of 10 ball joints, 1 s", FOUR, BOTH, None),
    row("chain-7-hinges", "chain of 7 hinges, 1 s", &["1e-3", "1e-5", "1e-6", "1e-7", "1e-9"], BOTH, None),
    row("slider-crank", "spatial slider-crank, 2 s", FOUR, BOTH, None),
    row("four-bar", "four-bar (3 redundant rows), 2 s", FOUR, BOTH, None),
    row("right-angle-beam", "right-angle beam, 30 s", TWO, BOTH, None),
    row("flexible-four-bar", "flexible four-bar, 5 s", TWO, BOTH, None),
    row("free-body-energy", "energy of the free body, 100 s", &["1e-10"], BOTH, Some(0.05)),
    row("pendulum-1000-s", "pendulum, 1000 s", &["1e-6"], BOTH, Some(1.0)),
];

const fn row(
    machine: &'static str,
    title: &'static str,
    errors: &'static [&'static str],
    peers: &'static [&'static str],
    within: Option<f64>,
) -> Row {
    Row { machine, title, errors, peers, within }
}

/// What the best steps of one size are taken with.
const FIXED: &str = "index2";
/// What Kreisel chooses by itself, with control of single steps.
const OWN: &str = "kreisel";

/// Errors from here on are asked of methods of high order: Kreisel may take a tenth of the time of steps of one
/// size.
const SMALL_ERROR: f64 = 3e-7;
/// Runs everything and prints the table.
pub(super) fn measure(python: &Path) -> Result<(), String> {
    let mut runs = Runs::default();
    for row in ROWS {
        say(&format!("{}\n", row.machine));
        let errors = row.errors.join(",");
        let arguments = [row.machine, "--errors", &errors];
        runs.take(&output(kreisel("precision").args(arguments))?);
        for peer in row.peers {
            let script = root().join(format!("benches/precision_{peer}.py"));
            runs.take(&output(Command::new(python).arg("-B").arg(script).args(arguments))?);
        }
    }
    say(&table(&runs));
    Ok(())
}

/// Seconds and error of runs with finer and finer settings.
type Curve = Vec<(f64, f64)>;

/// Everything that was printed so far, by machine and program.
#[derive(Default)]
struct Runs {
    curves: BTreeMap<(String, String), Curve>,
    refusals: BTreeMap<(String, String), String>,
}

impl Runs {
    fn take(&mut self, printed: &str) {
        for line in printed.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [machine, program, seconds, error] = words[..] else { continue };
            let key = (machine.to_owned(), program.to_owned());
            match (seconds.parse(), error.parse()) {
                (Ok(seconds), Ok(error)) => self.curves.entry(key).or_default().push((seconds, error)),
                _ if seconds == "cannot" => _ = self.refusals.insert(key, error.to_owned()),
                _ => {}
            }
        }
    }

    /// The least time of a program for an error, and by which of the ways in which it can be run: words after its
    /// name.
    fn best<'a>(&'a self, machine: &'a str, program: &'a str, error: f64) -> Option<(Time, &'a str)> {
        let times = self.curves.iter().filter_map(|((of, name), curve)| {
            let way = name.strip_prefix(program).filter(|way| way.is_empty() || way.starts_with(' '))?;
            (of == machine).then_some((time_for(curve, error)?, way.trim()))
        });
        times.min_by(|(a, _), (b, _)| a.order().total_cmp(&b.order()))
    }
}

/// Time for an error, in s.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    /// Measured on both sides of the error.
    Found(f64),
    /// Every run has a smaller error: the time of the coarsest.
    AtMost(f64),
    /// No run comes so far: the time and error of the finest.
    Beyond(f64, f64),
}

impl Time {
    /// Seconds of what was found; what was not found comes last.
    fn order(self) -> f64 {
        self.seconds().unwrap_or(f64::INFINITY)
    }

    fn seconds(self) -> Option<f64> {
        match self {
            Self::Found(seconds) | Self::AtMost(seconds) => Some(seconds),
            Self::Beyond(..) => None,
        }
    }
}

fn time_for(curve: &Curve, error: f64) -> Option<Time> {
    let &(last_seconds, last_error) = curve.last()?;
    let missed = curve.iter().rposition(|&(_, found)| found.is_nan() || found > error);
    Some(match missed {
        None => Time::AtMost(curve[0].0),
        Some(index) if index + 1 == curve.len() => Time::Beyond(last_seconds, last_error),
        Some(index) => {
            let ((t0, e0), (t1, e1)) = (curve[index], curve[index + 1]);
            let part = (e0 / error).ln() / (e0 / e1).ln();
            Time::Found((t0.ln() + part * (t1.ln() - t0.ln())).exp())
        }
    })
}

/// Time of a method of second order beyond what was measured.
fn extrapolated(time: Time, error: f64) -> (f64, bool) {
    match time {
        Time::Found(seconds) | Time::AtMost(seconds) => (seconds, false),
        Time::Beyond(seconds, last) => (seconds * (last / error).sqrt(), true),
    }
}

fn table(runs: &Runs) -> String {
    let mut text = String::from(
        "\nCPU time for an error, in ms. ≈: extrapolated by the order of the method; >: not reached in this time; \
         ≤: the coarsest run is better already.\n\n\
         | machine | error | `index2`, best fixed step | Kreisel, `rtol` | Kreisel, `accuracy` (error) | Exudyn | MuJoCo | missed |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        for (index, error) in row.errors.iter().enumerate() {
            let limit = row.within.filter(|_| index + 1 == row.errors.len());
            text += &line(runs, row, error, limit);
        }
    }
    for ((machine, program), why) in &runs.refusals {
        text += &format!("\n{program} does not run {machine}: {why}");
    }
    text + "\n"
}

fn line(runs: &Runs, row: &Row, error: &str, limit: Option<f64>) -> String {
    let (machine, word) = (row.machine, error);
    let error: f64 = word.parse().unwrap_or(f64::NAN);
    let own = runs.best(machine, OWN, error).map(|(time, _)| time);
    let fixed = runs.best(machine, FIXED, error).map(|(time, _)| extrapolated(time, error));
    let global = runs.curves.get(&(machine.to_owned(), format!("accuracy {word}")));
    let global = global.and_then(|curve| curve.last());
    let mut missed = Vec::new();
    let seconds = own.and_then(Time::seconds);
    if seconds.is_none() {
        missed.push("the error".to_owned());
    }
    if let (Some(seconds), Some((fixed, _))) = (seconds, fixed) {
        let is_flexible = row.errors == TWO;
        let part = if error < SMALL_ERROR && !is_flexible { 0.1 } else { 1.0 };
        if seconds > part * fixed {
            missed.push(format!("{:.2} of `{FIXED}`, {part} wanted", seconds / fixed));
        }
    }
    let mut peers = Vec::new();
    for peer in BOTH {
        let best = runs.best(machine, peer, error);
        let theirs = best.and_then(|(time, _)| time.seconds());
        if let (Some(seconds), Some(theirs)) = (seconds, theirs)
            && seconds > theirs
        {
            missed.push(format!("{:.1} of {peer}", seconds / theirs));
        }
        peers.push(
            best.map_or("–".to_owned(), |(time, way)| format!("{} {way}", shown(time)).trim().to_owned()),
        );
    }
    if let (Some(seconds), Some(limit)) = (seconds, limit)
        && seconds > limit
    {
        missed.push(format!("{limit} s"));
    }
    if let Some(&(_, found)) = global
        && found > error
    {
        missed.push("`accuracy`".to_owned());
    }
    format!(
        "| {} | {word} | {} | {} | {} | {} | {} |\n",
        row.title,
        fixed.map_or("–".to_owned(), |(time, beyond)| format!(
            "{}{}",
            if beyond { "≈ " } else { "" },
            milliseconds(time)
        )),
        own.map_or("–".to_owned(), shown),
        global.map_or("–".to_owned(), |(time, error)| format!("{} ({error:.0e})", milliseconds(*time))),
        peers.join(" | "),
        missed.join("; "),
    )
}

fn shown(time: Time) -> String {
    match time {
        Time::Found(seconds) => milliseconds(seconds),
        Time::AtMost(seconds) => format!("≤ {}", milliseconds(seconds)),
        Time::Beyond(seconds, _) => format!("> {}", milliseconds(seconds)),
    }
}

/// Two digits, or all before the point.
fn milliseconds(seconds: f64) -> String {
    let value = 1e3 * seconds;
    let digits = (1.0 - value.abs().log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_lies_on_the_line_between_two_runs_in_logarithms() {
        let curve = vec![(1.0, 1e-2), (2.0, 1e-4), (4.0, 1e-6)];
        let Some(Time::Found(time)) = time_for(&curve, 1e-5) else { panic!() };
        assert!((time - 8f64.sqrt()).abs() < 1e-12, "{time}");
        assert_eq!(time_for(&curve, 1e-1), Some(Time::AtMost(1.0)));
        assert_eq!(time_for(&curve, 1e-7), Some(Time::Beyond(4.0, 1e-6)));
        assert_eq!(time_for(&Vec::new(), 1e-7), None);
    }

    #[test]
    fn a_run_that_is_good_by_chance_does_not_count() {
        let curve = vec![(1.0, 1e-9), (2.0, 1e-2), (4.0, 1e-6)];
        let Some(Time::Found(time)) = time_for(&curve, 1e-6) else { panic!() };
        assert!((time - 4.0).abs() < 1e-12, "{time}");
    }

    #[test]
    fn order_two_takes_ten_times_as_long_for_a_hundredth() {
        assert!(extrapolated(Time::Beyond(3.0, 1e-5), 1e-7).1);
        assert!((extrapolated(Time::Beyond(3.0, 1e-5), 1e-7).0 - 30.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_missed_is_marked_and_the_best_way_of_a_peer_is_named() {
        let mut runs = Runs::default();
        runs.take("heavy-top\tindex2\t1e-2\t1e-2\nheavy-top\tindex2\t1e-1\t1e-4\n");
        runs.take("heavy-top\tkreisel\t1e-2\t1e-1\nheavy-top\tkreisel\t2e-2\t1e-3\nnoise\n");
        runs.take("heavy-top\taccuracy 1e-3\t5e-2\t2e-3\n");
        runs.take("heavy-top\texudyn RK44\t5e-2\t1e-3\nheavy-top\texudyn RK67\t1e-3\t1e-2\n");
        runs.take("heavy-top\texudyn RK67\t1e-2\t1e-3\nheavy-top\tmujoco\tcannot\tno tops\n");
        let text = line(&runs, &ROWS[0], "1e-3", Some(0.01));
        assert_eq!(
            text,
            "| heavy top, 1 s | 1e-3 | 32 | 20 | 50 (2e-3) | 10 RK67 | – | 2.0 of exudyn; 0.01 s; `accuracy` |\n"
        );
        let text = line(&runs, &ROWS[0], "1e-5", None);
        assert!(text.contains("| ≈ 316 | > 20 |") && text.contains("| the error |"), "{text}");
        assert!(table(&runs).contains("mujoco does not run heavy-top: no tops"));
    }

    #[test]
    fn every_peer_of_a_row_has_a_script() {
        for peer in ROWS.iter().flat_map(|row| row.peers) {
            assert!(root().join(format!("benches/precision_{peer}.py")).exists(), "{peer}");
        }
    }
}
