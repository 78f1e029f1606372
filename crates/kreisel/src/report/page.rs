//! One HTML file: the viewer with a recording inside.
//!
//! Numbers are base64 of little-endian arrays, names are JSON texts. `<` never stands as itself within the
//! data, so that no name can end the element that holds them; the viewer shows names as text only.

use super::base64::{doubles, encode, singles};
use super::palette::Palette;
use super::thin::thinned;
use super::{FILE, RecordedMotion, Recording};
use crate::file::own_bytes;
use crate::results::folder::is_absent;
use crate::results::{Channel, CsvTable, ReadError, RunSummary, Scene};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::LazyLock;

/// The viewer, built from `viewer/` by `cargo xtask viewer`.
const VIEWER: &str = include_str!("viewer.html");
/// Where the title and the data go.
const TITLE: &str = "<!-- kreisel:title -->";
const DATA: &str = "<!-- kreisel:data -->";

/// What the viewer's policy says of scripts: any that stands in the page runs.
const ANY_SCRIPT: &str = "script-src 'unsafe-inline'";

/// The viewer with a policy by which its own script runs and no other: were a text ever taken for markup, a browser
/// would still not run what it holds.
static POLICED: LazyLock<String> = LazyLock::new(|| policed(VIEWER));

/// A page of one script whose policy lets any script run, with a policy by which that one runs and no other.
pub fn policed(page: &str) -> String {
    let hash = encode(&Sha256::digest(own_script(page)));
    let policy = format!("script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    page.replacen(ANY_SCRIPT, &policy, 1)
}

/// The script of a page.
fn own_script(page: &str) -> &str {
    let script = page.rsplit_once("<script>").and_then(|(_, rest)| rest.split_once("</script>"));
    script.expect("the viewer has a script").0
}

/// Version of the data's layout.
const FORMAT: u32 = 1;
/// Bytes of signals up to which nothing is thinned.
const EXACT_BYTES: usize = 4_000_000;
/// Bytes of signals that are aimed at beyond.
const MAX_BYTES: usize = 8_000_000;

/// Largest page that is read back; pages are thinned to a part of it.
const MAX_PAGE_BYTES: u64 = 512 << 20;

/// The page that stands in a folder of results, if there is one.
pub fn read_page(folder: &Path) -> Result<Option<String>, ReadError> {
    let path = folder.join(FILE);
    let text = match own_bytes(&path, MAX_PAGE_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error)),
        Err(source) if is_absent(&source) => return Ok(None),
        Err(source) => Err(source),
    };
    text.map(Some).map_err(|source| ReadError::io(&path, source))
}

/// A page that shows a recording.
pub fn page(recording: &Recording) -> String {
    page_of_all(recording, &[])
}

/// A page that shows a recording, with the curves of others beside its own.
pub fn page_of_all(recording: &Recording, others: &[Recording]) -> String {
    let data = Data::new(recording, others);
    let json = serde_json::to_string(&data).expect("all keys of the page's data are text");
    let (before, rest) = POLICED.split_once(TITLE).expect("the viewer has a place for the title");
    let (between, after) = rest.split_once(DATA).expect("the viewer has a place for the data");
    let mut page = String::with_capacity(POLICED.len() + json.len() + 1000);
    page += before;
    page += &escaped_text(&recording.scene.title);
    page += between;
    // Only texts hold such a letter, and there it may be written as a number.
    page += &json.replace('<', "\\u003c");
    page += after;
    page
}

fn escaped_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Data<'a> {
    format: u32,
    run: RunSummary,
    scene: &'a Scene,
    /// The colour of each body.
    colours: Vec<&'static str>,
    frames: PageFrames,
    groups: Vec<SignalGroup>,
    /// Number of output times of the run.
    record_count: usize,
    /// What stands to the right in plots, if it is not the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<&'a str>,
    /// What the run is called beside others.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherRun>,
}

/// A run of which the page shows curves only.
#[derive(Serialize)]
struct OtherRun {
    name: String,
    run: RunSummary,
    groups: Vec<SignalGroup>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct PageFrames {
    times: String,
    /// For each time and node x, y, z and the quaternion's w, x, y, z.
    poses: String,
    position_error: f64,
    rotation_error: f64,
}

/// Signals that share their times and, as a rule, a plot.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SignalGroup {
    /// What the names have in common.
    name: String,
    signals: Vec<PlotSignal>,
    times: String,
    /// Largest error as part of a curve's range.
    error: f64,
}

#[derive(Serialize)]
struct PlotSignal {
    name: String,
    unit: String,
    values: String,
}

impl<'a> Data<'a> {
    fn new(recording: &'a Recording, others: &[Recording]) -> Self {
        let share = 1 + others.len();
        let mut names = run_names(recording, others).into_iter();
        let name = names.next().filter(|_| !others.is_empty());
        let others = others.iter().zip(names).map(|(other, name)| OtherRun {
            name,
            run: shown_summary(other),
            groups: groups(&other.table, share),
        });
        Self {
            format: FORMAT,
            run: shown_summary(recording),
            scene: &recording.scene,
            colours: Palette::new(&recording.scene).bodies,
            frames: frames(&recording.motion),
            groups: groups(&recording.table, share),
            record_count: recording.table.times.len(),
            over: recording.over.as_deref(),
            name,
            others: others.collect(),
        }
    }
}

/// What the page knows of a run: the files lie beside the page, and the page is one of them.
fn shown_summary(recording: &Recording) -> RunSummary {
    let mut run = recording.summary.clone();
    // Those of the page itself cannot be in it.
    run.crc32.clear();
    run.files.clear();
    run
}

/// A name for each of several runs: the one of its folder, with a number where two share it.
fn run_names(first: &Recording, others: &[Recording]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, Recording { folder, .. }) in std::iter::once(first).chain(others).enumerate() {
        // `.` and `..` have no name of their own.
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let name = whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let plain = |letter: char| if letter.is_alphanumeric() || letter == '_' { letter } else { '-' };
        let name: String = name.chars().map(plain).collect();
        // Formulas of signals know names by their first letter.
        let name = match name.trim_start_matches('-') {
            "" => format!("run-{}", place + 1),
            name if name.starts_with(char::is_alphabetic) => name.to_owned(),
            name => format!("run-{name}"),
        };
        let twins = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(twins).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

fn frames(motion: &RecordedMotion) -> PageFrames {
    let numbers = motion.poses.iter().flat_map(|pose| {
        let (p, q) = (pose.position, pose.rotation);
        [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
    });
    PageFrames {
        times: doubles(motion.times.iter().copied()),
        poses: singles(numbers),
        position_error: motion.position_error,
        rotation_error: motion.rotation_error,
    }
}

/// The curves of a table, thinned to its share of the page.
fn groups(table: &CsvTable, share: usize) -> Vec<SignalGroup> {
    let (rows, signals) = (table.times.len(), table.signals.len());
    let is_exact = rows * signals * 4 <= EXACT_BYTES / share;
    let bytes_per_signal = MAX_BYTES / share / signals.max(1);
    let mut first = 0;
    let groups = table.signals.chunk_by(|a, b| group_name(a) == group_name(b)).map(|channels| {
        let columns: Vec<&[f64]> =
            table.columns[first..first + channels.len()].iter().map(Vec::as_slice).collect();
        first += channels.len();
        // Each point has a time of 8 bytes and a value of 4 for each signal.
        let most = channels.len() * bytes_per_signal / (8 + 4 * channels.len());
        let curves = thinned(&table.times, &columns, if is_exact { rows } else { most });
        let signals = channels.iter().zip(&curves.values).map(|(channel, values)| PlotSignal {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            values: singles(values.iter().copied()),
        });
        SignalGroup {
            name: group_name(&channels[0]).to_owned(),
            signals: signals.collect(),
            times: doubles(curves.times.iter().copied()),
            error: curves.error,
        }
    });
    groups.collect()
}

/// The name without its last word: `top.position` of `top.position.z`.
fn group_name(channel: &Channel) -> &str {
    channel.name.rsplit_once('.').map_or(channel.name.as_str(), |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ModelIdentity;

    fn recording(title: &str, rows: usize, signals: usize) -> Recording {
        let times: Vec<f64> = (0..rows).map(|row| 1e-3 * row as f64).collect();
        let columns = (0..signals)
            .map(|k| times.iter().map(|t| ((1.0 + k as f64) * t).sin() + 0.1 * (517.0 * t).cos()).collect())
            .collect();
        let signals =
            (0..signals).map(|k| Channel::new(format!("p{}.force.{}", k / 3, k % 3), "N")).collect();
        Recording {
            folder: "results/x".into(),
            summary: RunSummary::new(ModelIdentity::new("x.toml", b"")),
            scene: Scene { title: title.to_owned(), ..Scene::default() },
            table: CsvTable { times, signals, columns },
            motion: RecordedMotion::default(),
            over: None,
        }
    }

    #[test]
    fn a_hostile_title_is_nowhere_in_the_page_as_markup() {
        let hostile = "</script><script>alert('&')</script>";
        let page = page(&recording(hostile, 3, 2));
        assert!(!page.contains("<script>alert") && !page.contains("</script><script>alert"));
        assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert('&amp;')"));
        assert!(page.contains("\\u003c/script>"));
    }

    #[test]
    fn the_policy_of_the_page_names_its_own_script_and_no_other() {
        let page = page(&recording("own", 3, 2));
        let hash = encode(&Sha256::digest(own_script(&page)));
        assert!(page.contains(&format!("script-src 'sha256-{hash}'")));
        let policy =
            page.split("Content-Security-Policy").nth(1).and_then(|rest| rest.split('>').next()).unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("script-src 'unsafe"), "{policy}");
        // Handlers within elements would need a policy of their own.
        assert!(!VIEWER.contains(" onclick=") && !VIEWER.contains(" onload="));
    }

    #[test]
    fn long_runs_of_many_sensors_stay_below_twenty_megabytes() {
        let page = page(&recording("long", 100_000, 100));
        assert!(page.len() < 20_000_000, "{} bytes", page.len());
    }

    #[test]
    fn short_runs_are_not_thinned() {
        let groups = groups(&recording("short", 1000, 9).table, 1);
        assert_eq!(groups.len(), 3);
        assert!(groups.iter().all(|group| group.error == 0.0 && group.signals.len() == 3));
        assert_eq!(groups[0].name, "p0.force");
    }

    #[test]
    fn runs_are_called_by_their_folders_and_apart() {
        let names = |folders: &[&str]| {
            let runs =
                folders.iter().map(|folder| Recording { folder: folder.into(), ..recording("x", 3, 2) });
            let runs: Vec<_> = runs.collect();
            run_names(&runs[0], &runs[1..])
        };
        assert_eq!(names(&["/a/coarse run", "/b/fine"]), ["coarse-run", "fine"]);
        // Digits are what tells many apart.
        assert_eq!(names(&["results/2ms", "results/1ms"]), ["run-2ms", "run-1ms"]);
        assert_eq!(names(&["2026-11-19", "0.5", "/b/2 fine"]), ["run-2026-11-19", "run-0-5", "run-2-fine"]);
        // A number that tells twins apart may be a name that is taken.
        assert_eq!(names(&["a", "b/x-2", "c/x", "d/x", "e/x"]), ["a", "x-2", "x", "x-3", "x-4"]);
        assert_eq!(names(&["/", "/b/..."]), ["run-1", "run-2"]);
    }

    #[test]
    fn the_page_names_no_other_host() {
        for word in ["src=\"http", "href=\"http", "url(http", "@import"] {
            assert!(!VIEWER.contains(word), "{word}");
        }
    }
}
