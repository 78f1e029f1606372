//! `kreisel watch`: runs a model again whenever it is saved, and shows that in an open page.

use super::flag::Model;
use super::summary::verdict_words;
use super::view::open;
use super::{CommandError, Ending, NO_SENSE, say, warn_of_replacement};
use crate::live::{Redirect, Server, Shown, Standing};
use crate::output::{Printer, WriteError, brief};
use crate::signals::interrupt_flag;
use kreisel::dae::Control;
use kreisel::machine::{Machine, RunPlan};
use kreisel::report::{self, RecordedMotion, Recording};
use kreisel::results::{Computation, CsvTable, EndStatus, OutputFolder, RunSummary};
use kreisel::run::{Job, JobObserver, JobOutcome, Moment, RunEnding, RunError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Run a model again whenever it is saved, and show it in a page that stays open.
///
/// The page shows progress and the motion so far while a run lasts, the report when it is done, and what is
/// wrong with a model that has a mistake. It is served to this computer alone, at an address that holds a
/// token. A run that is under way when the model is saved is given up. Results go where those of `kreisel run`
/// go. Files that the model names are watched, too: included ones, tables, surfaces. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(mut_arg("file", |file| file.help("The model file")))]
#[command(after_help = "Examples:
  kreisel watch swing.toml
  kreisel watch swing.toml --end-time \"2 s\" --no-browser")]
pub struct Watch {
    #[command(flatten)]
    model: Model,

    /// Write the results into the folder DIR; `results/<model>` if not given
    #[arg(help_heading = "Results", long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the folder even if it holds something else than results of this model
    #[arg(help_heading = "Results", long)]
    force: bool,

    /// Start no browser; the address is printed
    #[arg(help_heading = "Results", long)]
    no_browser: bool,
}

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(100);

impl Watch {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Ending, CommandError> {
        if self.model.is_standard_input() {
            return Err(CommandError::NothingToWatch);
        }
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => OutputFolder::default_path(self.model.path())?,
        };
        // What is wrong with the model is told below.
        let plan = self.model.read().ok().and_then(|machine| machine.plan().ok());
        warn_of_replacement(&folder, Computation::Run, plan.as_ref());
        let interrupt = interrupt_flag().map_err(CommandError::NoInterrupt)?;
        let title = self.model.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown = Arc::new(Shown::new(&title));
        let server = Server::start(Arc::clone(&shown)).map_err(CommandError::NoServer)?;
        let mut door = Door::new(server.url(), title, !self.no_browser);
        while !interrupt.load(Ordering::Relaxed) {
            shown.tell(Standing::Running, "reading the model", 0.0, "");
            // Before they are read: what is saved meanwhile has another time than this.
            let files = Files::new(self.model.named_files());
            let result = self.once(&folder, &shown, &interrupt, &files, &mut door);
            if let Err(error) = result {
                if !door.is_open && is_of_request(&error) {
                    return Err(error);
                }
                door.open();
                // The page has the message without the colours of a terminal.
                say(&error.message(super::is_colored()));
                shown.tell(Standing::Wrong, "no run", 0.0, &error.message(false));
            }
            std::mem::replace(&mut door.printed, Ok(()))?;
            while !interrupt.load(Ordering::Relaxed) && !files.have_changed() {
                std::thread::sleep(LOOK);
            }
            // An editor may write a file in pieces.
            std::thread::sleep(LOOK);
        }
        Ok(Ending::Interrupted)
    }

    /// Reads the model and runs it, until it is saved again.
    fn once(
        &self,
        folder: &Path,
        shown: &Shown,
        interrupt: &AtomicBool,
        files: &Files,
        door: &mut Door,
    ) -> Result<(), CommandError> {
        let machine = self.model.read()?;
        let plan = machine.plan()?;
        let mut live = Live::new(&machine, &plan, shown, interrupt, files, door);
        let job = Job::new(&machine, &plan).model(self.model.identity()?).force(self.force);
        let outcome = job.observe(&mut live).run_into(folder);
        let outcome = outcome.map_err(|error| CommandError::of_run(&machine, error))?;
        if outcome.ending != RunEnding::Stopped {
            tell_end(&outcome, folder, shown);
        }
        Ok(())
    }
}

/// Whether no change of a file can mend this: a model that is not there, a mistake on the command line, or a
/// folder that is not to be had.
fn is_of_request(error: &CommandError) -> bool {
    match error {
        CommandError::Model(errors) => {
            errors.iter().any(|error| !Path::new(error.place().file().name()).is_file())
        }
        CommandError::Run(RunError::Write(_)) | CommandError::Results(_) => error.exit_code() == NO_SENSE,
        _ => false,
    }
}

/// The address, which is told once there is something to be seen there.
struct Door {
    address: String,
    title: String,
    browser: bool,
    is_open: bool,
    /// Whether the address could be printed.
    printed: Result<(), WriteError>,
    /// Stays for as long as a browser may look for it.
    redirect: Option<Redirect>,
}

impl Door {
    fn new(address: String, title: String, browser: bool) -> Self {
        Self { address, title, browser, is_open: false, printed: Ok(()), redirect: None }
    }

    fn open(&mut self) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        self.printed = Printer::new(io::stdout()).print(&format!("{}\n", self.address));
        if self.browser {
            self.redirect = start_browser(&self.address);
        }
        say(&format!("watching {}; Ctrl-C ends it\n", self.title));
    }
}

/// Leads a browser to an address. Some browsers go on for as long as their window is open, so that nobody waits
/// for them.
fn start_browser(address: &str) -> Option<Redirect> {
    let failed = || say("no browser could be started; open the address above yourself\n");
    let Ok(redirect) = Redirect::to(address) else {
        failed();
        return None;
    };
    let path = redirect.path().as_os_str().to_owned();
    std::thread::spawn(move || {
        if !open(&path) {
            failed();
        }
    });
    Some(redirect)
}

/// Shows how a run ended, and its page.
fn tell_end(outcome: &JobOutcome, folder: &Path, shown: &Shown) {
    let summary = &outcome.summary;
    let words = format!("{}, in {} s", verdict_words(summary), brief(summary.wall_time));
    say(&format!("{words}\n"));
    match report::read_page(folder) {
        Ok(Some(page)) => shown.show(page),
        Ok(None) => {}
        Err(error) => say(&format!("{error}\n")),
    }
    match &summary.status {
        EndStatus::Failed { message } => shown.tell(Standing::Wrong, &words, 1.0, message),
        _ => shown.tell(Standing::Done, &words, 1.0, ""),
    }
}

/// Files and when they were saved last.
struct Files(Vec<(PathBuf, Option<(SystemTime, u64)>)>);

impl Files {
    fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), stamp(&path))).collect())
    }

    fn have_changed(&self) -> bool {
        self.0.iter().any(|(path, before)| stamp(path) != *before)
    }
}

/// When a file was saved, and how long it is; none of one that is not there just now.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// Shows a run while it lasts.
struct Live<'a> {
    machine: &'a Machine,
    shown: &'a Shown,
    interrupt: &'a AtomicBool,
    files: &'a Files,
    door: &'a mut Door,
    start: f64,
    length: f64,
    /// Which run it is, where one is made several times.
    number: usize,
    so_far: SoFar,
    last_look: Instant,
    next_page: Instant,
}

/// Moments of a motion so far, at most; then every other one goes.
const MAX_MOMENTS: usize = 400;
/// Poses and numbers of them, at most: pages of large machines have fewer moments.
const MAX_NUMBERS: usize = 400_000;
/// How long a run lasts before it is shown, and least time from page to page.
const PAGE_EVERY: Duration = Duration::from_secs(1);
/// Part of the time that goes into pages, at most.
const PAGE_SHARE: u32 = 20;

impl<'a> Live<'a> {
    fn new(
        machine: &'a Machine,
        plan: &RunPlan,
        shown: &'a Shown,
        interrupt: &'a AtomicBool,
        files: &'a Files,
        door: &'a mut Door,
    ) -> Self {
        let length = plan.end_time - plan.start_time;
        let now = Instant::now();
        Self {
            machine,
            shown,
            interrupt,
            files,
            door,
            start: plan.start_time,
            length,
            number: 1,
            so_far: SoFar::new(machine, length),
            last_look: now,
            next_page: now + PAGE_EVERY,
        }
    }

    fn control(&self) -> Control {
        let ends = self.interrupt.load(Ordering::Relaxed) || self.files.have_changed();
        if ends { Control::Stop } else { Control::Continue }
    }

    /// Tells how far the run is, now and then, and whether it goes on.
    fn tell(&mut self, part: f64, words: impl Fn() -> String) -> Control {
        if self.last_look.elapsed() < LOOK {
            return Control::Continue;
        }
        self.last_look = Instant::now();
        self.shown.tell(Standing::Running, &words(), part, "");
        self.control()
    }
}

impl JobObserver for Live<'_> {
    fn begun(&mut self) {
        self.door.open();
    }

    fn accepted(&mut self, now: &Moment) -> Control {
        self.so_far.take(self.machine, now);
        if Instant::now() >= self.next_page {
            let began = Instant::now();
            self.shown.show(self.so_far.page(self.machine));
            self.next_page = began + PAGE_EVERY.max(PAGE_SHARE * began.elapsed());
        }
        let (time, number) = (now.time(), self.number);
        self.tell((time - self.start) / self.length, || match number {
            1 => format!("t = {} s", brief(time)),
            _ => format!("run {number}, t = {} s", brief(time)),
        })
    }

    fn begun_anew(&mut self, number: usize) {
        self.number = number;
        self.so_far = SoFar::new(self.machine, self.length);
    }

    fn estimating(&mut self, part: f64) -> Control {
        self.tell(part, || "estimating the error".to_owned())
    }
}

/// The motion so far, at moments about evenly apart.
struct SoFar {
    motion: RecordedMotion,
    table: CsvTable,
    most: usize,
    /// Least time from one moment to the next.
    apart: f64,
}

impl SoFar {
    fn new(machine: &Machine, length: f64) -> Self {
        let (signals, node_count) = (machine.channels(), machine.system().node_count());
        let most = (MAX_NUMBERS / (7 * node_count + signals.len()).max(1)).clamp(8, MAX_MOMENTS);
        Self {
            motion: RecordedMotion { node_count, ..RecordedMotion::default() },
            table: CsvTable { times: Vec::new(), columns: vec![Vec::new(); signals.len()], signals },
            most,
            apart: length / (2 * most) as f64,
        }
    }

    fn take(&mut self, machine: &Machine, now: &Moment) {
        let time = now.time();
        if self.table.times.last().is_some_and(|last| time < last + self.apart) {
            return;
        }
        let (values, nodes) = now.record(machine);
        self.table.times.push(time);
        self.table.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        self.motion.times.push(time);
        self.motion.poses.extend(nodes.iter().map(|node| RecordedMotion::pose(node.position, node.rotation)));
        if self.table.times.len() > self.most {
            self.thin();
        }
    }

    /// Lets every other moment go.
    fn thin(&mut self) {
        self.apart *= 2.0;
        for column in self.table.columns.iter_mut().chain([&mut self.table.times, &mut self.motion.times]) {
            let mut place = 0;
            column.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        let (mut place, count) = (0, self.motion.node_count.max(1));
        self.motion.poses.retain(|_| {
            place += 1;
            (place - 1) / count % 2 == 0
        });
    }

    fn page(&self, machine: &Machine) -> String {
        let model = machine.sources().first().cloned();
        let Some(model) = model else { return String::new() };
        report::page(&Recording {
            folder: PathBuf::new(),
            summary: RunSummary::new(model),
            scene: machine.scene(),
            table: self.table.clone(),
            motion: self.motion.clone(),
            over: None,
        })
    }
}
