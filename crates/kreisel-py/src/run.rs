//! A run from start to end, with observers in Python and Ctrl-C.

use crate::error;
use crate::function::Failure;
use crate::machine::{NODE_NUMBERS, node_numbers};
use crate::nested::Nested;
use kreisel::dae::Control;
use kreisel::machine::{Machine, SignalId};
use kreisel::results::{EndStatus, ModelIdentity, RunSummary, WriteError};
use kreisel::run::{
    Job, JobObserver, Moment, Record, RunEnding, RunError, Sink, Snapshot, Trajectory, let_grow,
};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a run left behind: the output times, one array per signal, the motion of the nodes (empty if it was
/// not wanted), the summary as JSON, and the exception that ended it, if one did.
pub type Outcome = (Py<PyArray1<f64>>, Vec<Py<PyArray1<f64>>>, Py<PyArray1<f64>>, String, Option<Py<PyAny>>);

/// Signals, and the motion of the nodes if it is wanted.
pub struct Kept {
    trajectory: Trajectory,
    motion: Option<Vec<f64>>,
}

impl Kept {
    /// Nothing yet.
    pub fn new(machine: &Machine, motion: bool) -> Self {
        Self { trajectory: Trajectory::new(machine), motion: motion.then(Vec::new) }
    }

    /// The arrays, which take over the numbers without a copy.
    pub fn arrays(self, py: Python<'_>, summary: &RunSummary, failure: Option<PyErr>) -> Outcome {
        let array = |numbers: Vec<f64>| PyArray1::from_vec(py, numbers).unbind();
        let Trajectory { times, columns, .. } = self.trajectory;
        (
            array(times),
            columns.into_iter().map(array).collect(),
            array(self.motion.unwrap_or_default()),
            summary.to_json(),
            failure.map(|failure| failure.into_value(py).into_any()),
        )
    }
}

impl Sink for Kept {
    fn push(&mut self, record: &Record) -> Result<(), WriteError> {
        if let Some(motion) = &mut self.motion {
            if !let_grow(motion, record.nodes.len() * NODE_NUMBERS) {
                return Err(WriteError::NoMemory { count: self.trajectory.times.len() });
            }
            record.nodes.iter().for_each(|node| motion.extend(node_numbers(node)));
        }
        self.trajectory.push(record)
    }
}

/// One accepted step of a run, as an observer sees it.
#[pyclass(module = "kreisel", frozen)]
pub struct Step {
    machine: Arc<Machine>,
    signals: Arc<HashMap<String, SignalId>>,
    snapshot: Snapshot,
}

#[pymethods]
impl Step {
    /// Time that was reached, in s.
    #[getter]
    fn time(&self) -> f64 {
        self.snapshot.time()
    }

    /// Size of the step, in s.
    #[getter]
    fn size(&self) -> f64 {
        self.snapshot.step()
    }

    /// Value of a signal.
    fn __getitem__(&self, name: &str) -> PyResult<f64> {
        let signal = self.signals.get(name).ok_or_else(|| PyKeyError::new_err(no_signal(name)))?;
        Ok(self.snapshot.value(&self.machine, *signal))
    }

    fn __repr__(&self) -> String {
        format!("<kreisel.Step at {} s>", self.snapshot.time())
    }
}

/// The words for a name that does not exist.
pub fn no_signal(name: &str) -> String {
    format!("there is no signal `{name}`; `names` lists all")
}

/// Looks for Ctrl-C from time to time.
pub struct Interrupt {
    last: Instant,
}

/// How long Ctrl-C may go unnoticed.
pub const PATIENCE: Duration = Duration::from_millis(50);

impl Interrupt {
    /// Not yet.
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// The exception of Ctrl-C, or of another signal that a Python handler took; takes the lock now and then.
    pub fn check(&mut self) -> Option<PyErr> {
        if self.last.elapsed() < PATIENCE {
            return None;
        }
        self.last = Instant::now();
        Python::attach(|py| py.check_signals()).err()
    }
}

/// Asks the observer and listens for Ctrl-C.
struct PythonObserver<'m> {
    machine: &'m Arc<Machine>,
    signals: &'m Arc<HashMap<String, SignalId>>,
    observer: Option<Py<PyAny>>,
    functions: &'m Failure,
    interrupt: Interrupt,
    failure: Option<PyErr>,
}

impl PythonObserver<'_> {
    /// Whether the observer wants to go on: anything but `False`, Python's or NumPy's.
    fn ask(&self, now: &Moment) -> PyResult<bool> {
        let Some(observer) = &self.observer else { return Ok(true) };
        let step = Step {
            machine: Arc::clone(self.machine),
            signals: Arc::clone(self.signals),
            snapshot: now.snapshot(),
        };
        Python::attach(|py| {
            let _nested = Nested::enter()?;
            let answer = observer.call1(py, (step,))?;
            Ok(!matches!(answer.bind(py).extract::<bool>(), Ok(false)))
        })
    }
}

impl JobObserver for PythonObserver<'_> {
    fn accepted(&mut self, now: &Moment) -> Control {
        if self.functions.is_some() {
            return Control::Stop;
        }
        self.failure = self.interrupt.check();
        if self.failure.is_some() {
            return Control::Stop;
        }
        match self.ask(now) {
            Ok(true) => Control::Continue,
            Ok(false) => Control::Stop,
            Err(failure) => {
                self.failure = Some(failure);
                Control::Stop
            }
        }
    }

    fn estimating(&mut self, _: f64) -> Control {
        self.failure = self.interrupt.check();
        if self.failure.is_some() || self.functions.is_some() { Control::Stop } else { Control::Continue }
    }

    /// An exception tells more than the end that it brought about.
    fn ended(&mut self) -> Option<EndStatus> {
        self.failure = self.failure.take().or_else(|| self.functions.take());
        let failure = self.failure.as_ref()?;
        let is_interrupt = Python::attach(|py| failure.is_instance_of::<PyKeyboardInterrupt>(py));
        Some(match is_interrupt {
            true => EndStatus::Interrupted,
            false => EndStatus::Failed { message: failure.to_string() },
        })
    }
}

/// How a machine is to be run.
pub struct RunRequest {
    /// Called with every accepted step.
    pub observer: Option<Py<PyAny>>,
    /// Whether the motion of the nodes is kept.
    pub motion: bool,
    /// Where the files go, if any are wanted.
    pub folder: Option<PathBuf>,
    /// Takes the folder whoever filled it.
    pub force: bool,
    /// Whether the model calls functions.
    pub has_functions: bool,
}

/// Runs a machine; what was computed is given back however the run ended.
pub fn run(
    py: Python<'_>,
    machine: &Arc<Machine>,
    signals: &Arc<HashMap<String, SignalId>>,
    identity: &ModelIdentity,
    request: RunRequest,
    functions: &Failure,
) -> PyResult<Outcome> {
    let RunRequest { observer, motion, folder, force, has_functions } = request;
    let mut plan = machine.plan().map_err(|errors| error::model(&errors))?;
    if observer.is_some() {
        plan = plan.locally("an observer sees one run");
    } else if has_functions {
        plan = plan.locally("functions in Python are called in one run");
    }
    let (kept, outcome, failure) = error::detached(py, || -> PyResult<_> {
        let interrupt = Interrupt::new();
        let mut watch = PythonObserver { machine, signals, observer, functions, interrupt, failure: None };
        let mut kept = Kept::new(machine, motion);
        let job = Job::new(machine, &plan).model(identity.clone()).observe(&mut watch);
        let done = match folder {
            Some(folder) => job.force(force).also(&mut kept).run_into(&folder),
            None => job.record(&mut kept).map(|(_, outcome)| outcome),
        };
        let outcome = done.map_err(|error| match error {
            RunError::Start(_) => functions.take().unwrap_or_else(|| error::run(machine, &error)),
            error => error::run(machine, &error),
        })?;
        Ok((kept, outcome, watch.failure))
    })??;
    Ok(kept.arrays(py, &outcome.summary, failure.or_else(|| failure_of(&outcome.ending))))
}

/// The exception of a run that failed by itself.
fn failure_of(ending: &RunEnding) -> Option<PyErr> {
    match ending {
        RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => None,
        RunEnding::Failed(error) => Some(error::step(error)),
        RunEnding::Refused(error) => Some(error::class::StepError::new_err(error.to_string())),
    }
}
