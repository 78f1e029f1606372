//! `cargo xtask bits --against COMMIT`: does this tree compute the same bits as a commit?
//!
//! Builds both, runs every model with every method, and compares tables, summaries and words byte by byte. A
//! chore for changes that must not change results; no part of `cargo xtask test`, as other changes change
//! them on purpose.
//!
//! Both run the models of the commit. Results of the commit are kept; its first runs also choose the ends, so
//! that no run takes long. Runs that are killed and go on are compared with the commit's runs that were not.
//!
//! The stepper is reached from Rust only: the test `stepped` of `kreisel-cli` writes its tables, in each tree
//! with that tree's own words.

mod compare;
mod execute;
mod plan;

use crate::reference::{Profile, Reference, default_cache, present_program};
use crate::{cargo, say};
use execute::{Ending, Program, SAID};
use plan::{Model, Run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Seconds after which a run is given up.
const LIMIT: f64 = 60.0;

/// Seconds after which a run of the commit is tried again with an earlier end.
const CHOSEN_LIMIT: f64 = 4.0;

/// An earlier end is so much of the one before, so often.
const EARLIER: (f64, usize) = (0.2, 4);

/// The test that steps machines.
const STEPPED: &str = "crates/kreisel-cli/tests/stepped.rs";

/// The end of a chosen run stands in this file beside its results.
const CHOSEN: &str = "chosen";

struct Request {
    commit: String,
    quick: bool,
    only: String,
    cache: PathBuf,
}

/// Compares; exit code 1 if anything differs.
pub fn run(words: &[&str]) -> ExitCode {
    let request = match parse(words) {
        Ok(request) => request,
        Err(words) => {
            say(&format!("{words}\n"));
            return ExitCode::from(2);
        }
    };
    match compare(&request) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            say(&format!("{failure}\n"));
            ExitCode::from(1)
        }
    }
}

fn parse(words: &[&str]) -> Result<Request, String> {
    let mut request =
        Request { commit: String::new(), quick: false, only: String::new(), cache: default_cache() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value =
            || words.next().map(|word| (*word).to_owned()).ok_or(format!("`{word}` needs a value"));
        match *word {
            "--against" => request.commit = value()?,
            "--quick" => request.quick = true,
            "--only" => request.only = value()?,
            "--cache" => request.cache = std::path::absolute(value()?).map_err(|error| error.to_string())?,
            _ => {
                return Err(format!(
                    "`{word}` is no option; there are --against COMMIT, --quick, --only WORD and --cache DIR"
                ));
            }
        }
    }
    if request.commit.is_empty() { Err("`--against COMMIT` is needed".to_owned()) } else { Ok(request) }
}

/// What came out of the runs.
#[derive(Default)]
struct Tally {
    same: usize,
    /// Of the same ones: those that were refused or failed, in both.
    refused: usize,
    /// Of the same ones: those that were killed and went on.
    resumed: usize,
    /// Runs that ended before they could be killed.
    too_short: usize,
    differ: usize,
    /// Runs that took too long with the commit, or that it does not have.
    not_compared: usize,
}

fn compare(request: &Request) -> Result<bool, String> {
    let Request { commit, quick, only, cache } = request;
    let reference = Reference::check_out(cache, commit)?;
    let tree = reference.tree();
    let old = Program { path: reference.program(Profile::Dev)?, tree: tree.clone() };
    let new = Program { path: present_program(&default_cache(), Profile::Dev)?, tree };
    let start = Instant::now();
    let models = probe(&old, &reference.folder.join("probe"))?;
    let runs: Vec<Run> =
        plan::runs(&models, *quick).into_iter().filter(|run| run.name.contains(&**only)).collect();
    let (kept, fresh) = (reference.folder.join("runs"), default_cache().join("now/runs"));
    let tally = Mutex::new(Tally::default());
    side_by_side(&runs, |run| {
        let folder = run.name.replace(' ', "_");
        let verdict = compare_run((&old, &kept.join(&folder)), (&new, &fresh.join(&folder)), run)?;
        count(&mut tally.lock().expect("no thread panics"), run, verdict);
        Ok(())
    })?;
    let mut tally = tally.into_inner().expect("no thread panics");
    if "stepper".contains(&**only) {
        compare_stepped(&reference, &mut tally)?;
    }
    say(&summary(&tally, start.elapsed().as_secs_f64()));
    Ok(tally.differ == 0)
}

/// Steps of all models, by runs that end at once.
fn probe(program: &Program, folder: &Path) -> Result<Vec<Model>, String> {
    let names = plan::model_names(&program.tree)?;
    let models = Mutex::new(Vec::new());
    side_by_side(&names, |name| {
        let folder = folder.join(name);
        let summary = folder.join("run.json");
        if !summary.exists() {
            let words = format!("run models/{name}.toml --no-report");
            let arguments = words.split_whitespace().map(str::to_owned).collect();
            let run = Run { name: name.clone(), arguments, end: Some(1e-7), resumed: false };
            execute::whole(program, &run, &folder, LIMIT)?;
        }
        let text = fs::read_to_string(&summary)
            .map_err(|error| format!("models/{name}.toml does not run for a moment: {error}"))?;
        let summary =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", summary.display()))?;
        models.lock().expect("no thread panics").push(Model::from_summary(name, &summary));
        Ok(())
    })?;
    let mut models = models.into_inner().expect("no thread panics");
    models.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(models)
}

/// Does the work for every item, on all cores; the first failure ends it.
fn side_by_side<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) -> Result<(), String> {
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(Ok(())));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(words) = work(item) {
                        next.store(items.len(), Ordering::Relaxed);
                        *failure.lock().expect("no thread panics") = Err(words);
                    }
                }
            });
        }
    });
    failure.into_inner().expect("no thread panics")
}

/// What came out of one run.
#[derive(Debug, PartialEq)]
enum Verdict {
    Same { refused: bool, killed: Option<bool> },
    Differs(String),
    TooLong,
}

/// Each program comes with the folder for its results.
fn compare_run(old: (&Program, &Path), new: (&Program, &Path), run: &Run) -> Result<Verdict, String> {
    let Some(run) = keep(old.0, run, old.1)? else { return Ok(Verdict::TooLong) };
    if execute::whole(new.0, &run, new.1, LIMIT)? == Ending::OutOfTime {
        return Ok(Verdict::Differs(format!("not done in {LIMIT} s, as it was")));
    }
    if let Some(difference) = compare::folders(old.1, new.1, None)? {
        return Ok(Verdict::Differs(difference));
    }
    let refused = !fs::read_to_string(new.1.join(SAID)).unwrap_or_default().starts_with("exit code 0\n");
    let mut killed = None;
    if run.resumed && !refused {
        let (ending, was_killed) = execute::resumed(new.0, &run, new.1, LIMIT)?;
        if ending == Ending::OutOfTime {
            return Ok(Verdict::Differs(format!("resumed: not done in {LIMIT} s, as it was")));
        }
        if let Some(difference) = compare::folders(old.1, new.1, Some(SAID))? {
            return Ok(Verdict::Differs(format!("resumed: {difference}")));
        }
        killed = Some(was_killed);
    }
    // What is the same is kept once.
    fs::remove_dir_all(new.1).map_err(|error| format!("{}: {error}", new.1.display()))?;
    Ok(Verdict::Same { refused, killed })
}

/// Compares tables of the stepper.
fn compare_stepped(reference: &Reference, tally: &mut Tally) -> Result<(), String> {
    let (old, new) = (reference.folder.join("stepped"), default_cache().join("now/stepped"));
    if !reference.tree().join(STEPPED).exists() {
        say(&format!("stepper: not compared, the commit has no {STEPPED}\n"));
        tally.not_compared += 1;
        return Ok(());
    }
    if !old.exists() {
        let partial = old.with_extension("partial");
        write_stepped(&partial, |variable| reference.test("stepped", variable))?;
        fs::rename(&partial, &old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    write_stepped(&new, |variable| cargo::test("stepped", &["--quiet"], &[variable]))?;
    let run = Run { name: "stepper".to_owned(), arguments: Vec::new(), end: None, resumed: false };
    let verdict = match compare::folders(&old, &new, None)? {
        Some(difference) => Verdict::Differs(difference),
        None => Verdict::Same { refused: false, killed: None },
    };
    count(tally, &run, verdict);
    Ok(())
}

/// Lets the test write its tables into an empty folder.
fn write_stepped(folder: &Path, test: impl Fn((&str, &str)) -> Result<(), String>) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    test(("KREISEL_STEPPED", &folder.to_string_lossy()))
}

/// Runs the commit, unless its results are kept, and gives the run with the end that was chosen; none if all
/// ends are too far.
fn keep(program: &Program, run: &Run, folder: &Path) -> Result<Option<Run>, String> {
    // With its arguments: a plan that changed makes new results.
    let head = format!("{} {:?}", run.arguments.join(" "), run.end);
    let chosen = fs::read_to_string(folder.join(CHOSEN)).unwrap_or_default();
    if let Some((kept, end)) = chosen.split_once('\n')
        && kept == head
    {
        let end = end.trim();
        return Ok((end != "none").then(|| Run { end: end.parse().ok(), ..run.clone() }));
    }
    let mut tried = run.clone();
    let mut ending = Ending::OutOfTime;
    for attempt in 0..EARLIER.1 {
        let can_shorten = tried.end.is_some() && attempt + 1 < EARLIER.1;
        ending = execute::whole(program, &tried, folder, if can_shorten { CHOSEN_LIMIT } else { LIMIT })?;
        if ending != Ending::OutOfTime || !can_shorten {
            break;
        }
        tried.end = tried.end.map(|end| end * EARLIER.0);
    }
    let end = match (ending, tried.end) {
        (Ending::OutOfTime, _) => "none".to_owned(),
        (_, None) => String::new(),
        (_, Some(end)) => end.to_string(),
    };
    fs::write(folder.join(CHOSEN), format!("{head}\n{end}\n"))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok((end != "none").then_some(tried))
}

fn count(tally: &mut Tally, run: &Run, verdict: Verdict) {
    match verdict {
        Verdict::Same { refused, killed } => {
            tally.same += 1;
            tally.refused += usize::from(refused);
            tally.resumed += usize::from(killed == Some(true));
            tally.too_short += usize::from(killed == Some(false));
        }
        Verdict::Differs(difference) => {
            tally.differ += 1;
            say(&format!("{}: {difference}\n", run.name));
        }
        Verdict::TooLong => {
            tally.not_compared += 1;
            say(&format!("{}: not compared, the commit takes longer than {LIMIT} s\n", run.name));
        }
    }
}

fn summary(tally: &Tally, seconds: f64) -> String {
    let Tally { same, refused, resumed, too_short, differ, not_compared } = tally;
    format!(
        "{differ} differ, {same} are the same ({refused} of them refused or failed in both, {resumed} killed and resumed, \
         {too_short} too short for that), {not_compared} not compared; {seconds:.0} s\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_needed_and_unknown_options_are_refused() {
        let request = parse(&["--against", "HEAD~1", "--quick", "--only", "top"]).unwrap();
        assert_eq!((&*request.commit, request.quick, &*request.only), ("HEAD~1", true, "top"));
        assert!(parse(&[]).is_err() && parse(&["--against"]).is_err());
        assert!(parse(&["--against", "HEAD", "--fast"]).is_err());
    }

    #[test]
    fn all_items_are_worked_on_and_a_failure_is_told() {
        let sum = AtomicUsize::new(0);
        let add = |item: &usize| {
            sum.fetch_add(*item, Ordering::Relaxed);
            Ok(())
        };
        side_by_side(&[1, 2, 3, 4], add).unwrap();
        assert_eq!(sum.into_inner(), 10);
        assert_eq!(side_by_side(&[1, 2], |_| Err("no".to_owned())), Err("no".to_owned()));
    }

    #[test]
    fn verdicts_are_counted() {
        let run = Run { name: "top".to_owned(), arguments: Vec::new(), end: None, resumed: false };
        let mut tally = Tally::default();
        count(&mut tally, &run, Verdict::Same { refused: true, killed: None });
        count(&mut tally, &run, Verdict::Same { refused: false, killed: Some(true) });
        count(&mut tally, &run, Verdict::Differs("x.csv is new".to_owned()));
        let words = summary(&tally, 3.0);
        assert!(words.starts_with("1 differ, 2 are the same (1 of them refused"), "{words}");
    }
}
