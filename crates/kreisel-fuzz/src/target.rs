//! What is fed: the readers of models, expressions, results and checkpoints, and runs of what passes the
//! check.

use crate::corpus;
use kreisel::dae::{Control, Values};
use kreisel::integrate::{Interval, Observer, Saved};
use kreisel::machine::{Machine, stl};
use kreisel::model::{Dimension, Document, Expression, Text};
use kreisel::part::{self, MachineReader};
use kreisel::report::RecordedMotion;
use kreisel::results::{CsvTable, RunSummary, Scene};
use kreisel::run::{Checkpoint, Recorder, Sink, Stepper, StepperState, Trajectory};
use kreisel::sweep::journal::Identity;
use kreisel::sweep::{Journal, SweepSummary};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// A reader that any bytes may be given to.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// How many executions are its, beside the shares of the others.
    pub share: usize,
    /// Reads the bytes.
    pub run: fn(&[u8]),
}

/// All targets; cheap ones are run more often.
pub const TARGETS: &[Target] = &[
    Target { name: "expression", share: 400, run: expression },
    Target { name: "results", share: 200, run: results },
    Target { name: "checkpoint", share: 140, run: checkpoint },
    Target { name: "surface", share: 60, run: surface },
    Target { name: "journal", share: 40, run: journal },
    Target { name: "table", share: 40, run: table },
    Target { name: "mesh", share: 40, run: mesh },
    Target { name: "state", share: 40, run: state },
    Target { name: "robot", share: 60, run: robot },
    Target { name: "motion", share: 60, run: motion },
    Target { name: "resume", share: 30, run: resume },
    Target { name: "model", share: 50, run: model },
    Target { name: "run", share: 20, run },
];

/// Any text is an expression that can be evaluated, or a mistake with a place.
fn expression(bytes: &[u8]) {
    let content = String::from_utf8_lossy(bytes).into_owned();
    let text = Text::standalone("expression", content);
    let constant = |name: &str| (name == "length").then_some(0.5);
    let variable = |name: &str| matches!(name, "x" | "y" | "t").then(|| name.to_owned());
    let candidates = || vec!["length".to_owned(), "x".to_owned()];
    match Expression::compile(&text, Dimension::NONE, &constant, &variable, &candidates) {
        Ok(expression) => {
            let count = expression.variables().len();
            let mut gradient = vec![0.0; count];
            for value in [0.0, -1.0, 0.5, 1e300, f64::INFINITY, f64::NAN] {
                let _ = expression.value_and_gradient(&vec![value; count], &mut gradient);
            }
        }
        Err(error) => drop(error.render(false)),
    }
}

/// Tables, scenes and summaries of runs and sweeps.
fn results(bytes: &[u8]) {
    let _ = SweepSummary::from_json(bytes);
    let _ = CsvTable::read_from(bytes, Path::new("trajectory.csv"));
    let _ = RunSummary::from_json(bytes);
    let _ = serde_json::from_slice::<Scene>(bytes).map(|scene| scene.is_consistent());
}

/// Checkpoints and states, also with a hash that fits, so that what comes behind it is reached.
fn checkpoint(bytes: &[u8]) {
    let _ = Saved::from_bytes(bytes);
    let _ = Checkpoint::from_bytes(bytes, Path::new("checkpoint.bin"));
    let _ = Checkpoint::from_bytes(&sealed(bytes), Path::new("checkpoint.bin"));
}

/// The same with a hash that fits.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes[..bytes.len().saturating_sub(32)].to_vec();
    sealed.extend_from_slice(&Sha256::digest(&sealed));
    sealed
}

/// Surfaces of triangles.
fn surface(bytes: &[u8]) {
    let _ = stl::read(bytes);
}

/// Robots of every format that is imported.
fn robot(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for importer in kreisel_import::IMPORTERS {
        let _ = kreisel_import::import_text(importer.ending, &text, kreisel_import::Choices::default());
    }
}

/// A folder of its own, for readers that want files; without one there is nothing to test.
fn with_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join(name);
    if std::fs::write(&path, bytes).is_ok() {
        read(&path);
    }
}

/// Tables of numbers beside a model, of one argument and of two.
fn table(bytes: &[u8]) {
    with_file("table.csv", bytes, |path| {
        let model = path.with_file_name("m.toml");
        for keys in ["", "outside = 'constant'\n", "x-column = 'angle'\nvalue-column = 'pressure'\n"] {
            for call in ["f(t)", "f(t, 0.5)"] {
                let text = format!(
                    "{}[[table]]\nname = 'f'\nfile = 'table.csv'\n{keys}[[force]]\nname = 'push'\nbody = 'bob'\nforce = ['{call}', 0, 0]\n",
                    corpus::MODEL
                );
                if std::fs::write(&model, text).is_ok()
                    && let Err(errors) = MachineReader::new().read(&model)
                {
                    drop(errors.render(false));
                }
            }
        }
    });
}

/// Surfaces beside a robot, in every form that is read.
fn mesh(bytes: &[u8]) {
    for ending in ["obj", "dae", "stl"] {
        let name = format!("part.{ending}");
        with_file(&name, bytes, |path| {
            let robot = path.with_file_name("robot.urdf");
            let text = format!(
                "<robot name='r'><link name='base'><visual><geometry><mesh filename='{name}' scale='0.5 1 1'/></geometry></visual></link></robot>"
            );
            if std::fs::write(&robot, text).is_ok() {
                let _ = kreisel_import::import(&robot, kreisel_import::Choices::default());
            }
        });
    }
}

/// States of a stepper: it goes to those that it takes, and some steps on from there.
fn state(bytes: &[u8]) {
    let _ = StepperState::from_bytes(bytes);
    let _ = goes_to(bytes);
}

/// Whether a stepper of [`corpus::MODEL`] takes a state, with a hash that fits.
pub fn goes_to(bytes: &[u8]) -> bool {
    static STEPPER: OnceLock<Option<Mutex<Stepper>>> = OnceLock::new();
    let Ok(state) = StepperState::from_bytes(&sealed(bytes)) else { return false };
    let Some(stepper) = STEPPER.get_or_init(|| corpus::stepper().ok().map(Mutex::new)) else { return false };
    let mut stepper = stepper.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Err(error) = stepper.set_state(&state) {
        drop(error.to_string());
        return false;
    }
    let mut steps = 0;
    let until = stepper.time() + 3.0 * stepper.step_size();
    let _ = stepper.advance_to(until, |_| {
        steps += 1;
        steps < 10
    });
    true
}

/// The sweep to which journals are said to belong.
pub fn identity() -> Identity {
    Identity {
        version: "1".to_owned(),
        model: "0123".to_owned(),
        settings: Vec::new(),
        variations: vec!["mass = 1..2".to_owned()],
        sampling: "grid".to_owned(),
        measures: vec!["max(bob.position.z)".to_owned()],
    }
}

/// Runs that a journal is read for.
pub const JOURNAL_RUNS: usize = 4;

/// Journals of sweeps.
fn journal(bytes: &[u8]) {
    with_file("journal.jsonl", bytes, |path| drop(Journal::open(path, &identity(), JOURNAL_RUNS)));
}

/// Recorded motions, read back for the page.
fn motion(bytes: &[u8]) {
    with_file("trajectory.vtkhdf", bytes, |path| {
        for (nodes, poses) in [(1, 1000), (2, 2)] {
            if let Ok(motion) = RecordedMotion::read(path, nodes, poses) {
                let _ = motion.at(0.5);
            }
        }
    });
}

/// The machine of [`corpus::MODEL`], whose checkpoints are resumed, and the files of its run before the end.
fn interrupted() -> Option<&'static (Machine, corpus::NamedFiles)> {
    static RUN: OnceLock<Option<(Machine, corpus::NamedFiles)>> = OnceLock::new();
    let begin = || Some((Machine::from_text(corpus::SEED, corpus::MODEL).ok()?, corpus::unfinished().ok()?));
    RUN.get_or_init(begin).as_ref()
}

/// A run goes on from any checkpoint, or says why not; its files too.
fn resume(bytes: &[u8]) {
    let _ = go_on(bytes);
}

/// How far the bytes of a checkpoint lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Not beyond the header: another format, program or model.
    Header,
    /// To the state of the run, which is refused.
    State,
    /// To the files of the run, which are refused.
    Files,
    /// To at most ten further steps.
    Steps,
}

/// Goes on from a checkpoint of the run of [`corpus::MODEL`], with a hash that fits.
pub fn go_on(bytes: &[u8]) -> Reached {
    let sealed = sealed(bytes);
    let checkpoint = Checkpoint::from_bytes(&sealed, Path::new("checkpoint.bin"));
    let (Some((machine, files)), Ok(checkpoint)) = (interrupted(), checkpoint) else {
        return Reached::Header;
    };
    let Ok(plan) = machine.plan() else { return Reached::Header };
    if let Err(error) = checkpoint.check(machine) {
        drop(error.to_string());
        return Reached::Header;
    }
    let mut run = match machine.resume(&plan, &checkpoint) {
        Ok(run) => run,
        Err(error) => {
            drop(error.to_string());
            return Reached::State;
        }
    };
    let Ok(folder) = tempfile::tempdir() else { return Reached::Header };
    if files.iter().any(|(name, content)| std::fs::write(folder.path().join(name), content).is_err()) {
        return Reached::Header;
    }
    match Recorder::resume(machine, &plan, folder.path(), &checkpoint) {
        Ok(recorder) => {
            let _ = run.advance(&mut TenSteps { recorder, steps: 0 });
            Reached::Steps
        }
        Err(error) => {
            drop(error.to_string());
            Reached::Files
        }
    }
}

/// Most parts, and most velocity coordinates, of a model that is run: larger ones may take more than a second
/// honestly.
const MAX_PARTS: usize = 200;

fn document(bytes: &[u8]) -> Option<Document> {
    let text = String::from_utf8_lossy(bytes);
    if has_large_count(&text) {
        return None;
    }
    match Document::from_text("fuzz.toml", &text, &part::kinds(), &[]) {
        Ok(document) => Some(document).filter(|document| document.parts().len() <= MAX_PARTS),
        Err(errors) => {
            let _ = errors.render(false);
            None
        }
    }
}

/// Whether something is repeated or divided more than 999 times: allowed, and honestly slow.
fn has_large_count(text: &str) -> bool {
    let counts = ["repeat", "elements", "segments", "count", "order"];
    text.lines().any(|line| {
        let digits = line.split(|letter: char| !letter.is_ascii_digit()).map(str::len).max().unwrap_or(0);
        let is_count = counts.iter().any(|word| line.contains(word)) && (digits > 3 || line.contains('e'));
        is_count || line.contains("1e9")
    })
}

fn machine(bytes: &[u8]) -> Option<Machine> {
    match MachineReader::new().document(&document(bytes)?) {
        Ok(machine) => Some(machine),
        Err(errors) => {
            let _ = errors.render(false);
            None
        }
    }
}

/// Any text is a machine or a list of mistakes.
fn model(bytes: &[u8]) {
    let _ = machine(bytes);
}

/// Any model that passes the check runs ten steps or fails with an error.
fn run(bytes: &[u8]) {
    let Some(machine) = machine(bytes).filter(|machine| machine.frames().bodies().len() <= MAX_PARTS) else {
        return;
    };
    let Ok(plan) = machine.plan() else { return };
    let mut run = match machine.start(&plan) {
        Ok(run) => run,
        Err(error) => return drop(error.to_string()),
    };
    let recorder = Recorder::new(&machine, plan.output_step, Trajectory::new(&machine));
    let mut observer = TenSteps { recorder, steps: 0 };
    let _ = run.advance(&mut observer);
    let _ = observer.recorder.finish(run.integration().values());
}

struct TenSteps<'m, S> {
    recorder: Recorder<'m, S>,
    steps: usize,
}

impl<S: Sink> Observer for TenSteps<'_, S> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        self.steps += 1;
        let control = self.recorder.accepted(last);
        if self.steps < 10 { control } else { Control::Stop }
    }
}
