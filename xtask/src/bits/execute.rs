//! Runs `kreisel` with a limit of time and keeps what can be compared: tables, summaries and what was said.

use super::plan::Run;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What was said, beside the results.
pub const SAID: &str = "said.txt";

/// A run on a loaded machine may take so many times its limit.
const PATIENCE: f64 = 20.0;

/// Steps between checkpoints: each takes as long as the disk does.
const CHECKPOINT_EVERY: &str = "10steps";

/// Checkpoints after which a run is killed: methods of several steps have all their past.
const CHECKPOINTS: usize = 4;

/// A program and the folder in which it finds `models/`.
pub struct Program {
    pub path: PathBuf,
    pub tree: PathBuf,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code; none after a signal.
    Ended(Option<i32>),
    /// It was stopped after its time.
    OutOfTime,
}

/// Runs once; results that can be compared are then in `folder`.
pub fn whole(program: &Program, run: &Run, folder: &Path, limit: f64) -> Result<Ending, String> {
    let out = empty(folder)?;
    let mut child = spawn(program, &arguments(run, &out), folder)?;
    let ending = wait(&mut child, limit, || false)?;
    if let Ending::Ended(code) = ending {
        let said = [read(folder, "stdout")?, read(folder, "stderr")?].concat();
        let said = comparable_words(&said, &out.to_string_lossy());
        let code = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        write(&folder.join(SAID), &format!("exit code {code}\n{said}"))?;
        keep_results(&out, folder)?;
    }
    Ok(ending)
}

/// Runs with checkpoints, kills the run and lets it go on; tells also whether there was time to kill it.
pub fn resumed(program: &Program, run: &Run, folder: &Path, limit: f64) -> Result<(Ending, bool), String> {
    let out = empty(folder)?;
    let words: Vec<String> = ["--quiet", "--checkpoint", CHECKPOINT_EVERY].map(str::to_owned).into();
    let mut child = spawn(program, &[arguments(run, &out), words].concat(), folder)?;
    let checkpoint = out.join("checkpoint.bin");
    let (mut last, mut count) = (None, 0);
    let mut ending = wait(&mut child, limit, || {
        let now = fs::metadata(&checkpoint).and_then(|data| data.modified()).ok();
        count += usize::from(now.is_some() && now != last);
        last = now.or(last);
        count > CHECKPOINTS
    })?;
    let killed = count > CHECKPOINTS && ending == Ending::Ended(None);
    if killed {
        let place = out.to_string_lossy().into_owned();
        let words = ["run", "--resume", &place, "--quiet", "--no-report"].map(str::to_owned);
        ending = wait(&mut spawn(program, &words, folder)?, limit, || false)?;
    }
    if ending != Ending::OutOfTime {
        keep_results(&out, folder)?;
    }
    Ok((ending, killed))
}

fn arguments(run: &Run, out: &Path) -> Vec<String> {
    let mut arguments = run.arguments.clone();
    arguments.extend(["--out".to_owned(), out.to_string_lossy().into_owned()]);
    arguments.extend(run.end.iter().flat_map(|end| ["--end-time".to_owned(), end.to_string()]));
    arguments
}

/// Makes an empty folder and gives the place for results in it.
fn empty(folder: &Path) -> Result<PathBuf, String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder.join("out"))
}

fn spawn(program: &Program, arguments: &[String], folder: &Path) -> Result<Child, String> {
    // Into files: nobody empties a pipe while the program runs.
    let file = |name: &str| {
        File::create(folder.join(name)).map_err(|error| format!("{}: {error}", folder.display()))
    };
    Command::new(&program.path)
        .args(arguments)
        .current_dir(&program.tree)
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(file("stdout")?)
        .stderr(file("stderr")?)
        .spawn()
        .map_err(|error| format!("{} did not start: {error}", program.path.display()))
}

/// Waits until the program ends, its time is over or it is time to kill it.
fn wait(child: &mut Child, limit: f64, mut kill_now: impl FnMut() -> bool) -> Result<Ending, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(Ending::Ended(status.code()));
        }
        let waited = start.elapsed().as_secs_f64();
        let is_late =
            waited > limit && cpu_time(child.id()).unwrap_or(waited) > limit || waited > PATIENCE * limit;
        if is_late || kill_now() {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(if is_late { Ending::OutOfTime } else { Ending::Ended(None) });
        }
        std::thread::sleep(Duration::from_micros(if waited < 0.05 { 200 } else { 1000 }));
    }
}

/// Seconds that a process has computed, where the system tells.
fn cpu_time(process: u32) -> Option<f64> {
    cpu_time_of(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Out of the line that Linux writes: the name in brackets, then the state as field 3, then fields 14 and 15
/// in 1/100 s.
fn cpu_time_of(line: &str) -> Option<f64> {
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(14)? + ticks(15)?) / 100.0)
}

/// Keeps tables and summaries, and drops the rest.
fn keep_results(out: &Path, folder: &Path) -> Result<(), String> {
    for entry in fs::read_dir(out).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.ends_with(".csv") {
            fs::rename(&path, folder.join(&*name)).map_err(|error| format!("{}: {error}", path.display()))?;
        } else if name.ends_with(".json") {
            let text = read(out, &name)?;
            write(&folder.join(&*name), &comparable_words(&text, &out.to_string_lossy()))?;
        }
    }
    if out.exists() {
        fs::remove_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let _ = fs::remove_file(folder.join("stdout")).and_then(|()| fs::remove_file(folder.join("stderr")));
    Ok(())
}

/// Without clock times and the place of results.
fn comparable_words(text: &str, out: &str) -> String {
    let is_clock =
        |line: &&str| line.starts_with("wall time") || line.trim_start().starts_with("\"wall-time\"");
    text.lines().filter(|line| !is_clock(line)).map(|line| line.replace(out, "OUT") + "\n").collect()
}

fn read(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_times_and_places_are_not_compared() {
        let text = "work    3 steps\nwall time    0.1 s\nwritten    /a/out/run.json\n  \"wall-time\": 0.3,\n";
        assert_eq!(comparable_words(text, "/a/out"), "work    3 steps\nwritten    OUT/run.json\n");
    }

    #[test]
    fn the_system_tells_how_long_a_process_has_computed() {
        let line = "7 (a) b) R 1 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100";
        assert_eq!(cpu_time_of(line), Some(3.0));
        assert_eq!(cpu_time_of("7 (a) R 1"), None);
    }
}
