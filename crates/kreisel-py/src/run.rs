//! A run from start to end, with observers in Python and Ctrl-C.

use crate::error;
use crate::function::Failure;
use crate::machine::node_numbers;
use kreisel::dae::{Control, Values};
use kreisel::integrate::{Interval, Observer};
use kreisel::machine::{Machine, SignalId};
use kreisel::results::{EndStatus, ModelIdentity, RunSummary, WriteError};
use kreisel::run::{Record, Recorder, RunEnding, RunStatistics, Sink, Snapshot, Trajectory};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a run left behind: the output times, one array per signal, the motion of the nodes (empty if it was not wanted),
/// the summary as JSON, and the exception that ended it, if one did.
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

/// The words for a name that is none.
pub fn no_signal(name: &str) -> String {
    format!("there is no signal `{name}`; `names` lists all")
}

/// Looks for Ctrl-C from time to time.
pub struct Interrupt {
    last: Instant,
}

/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

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

/// Records, asks the observer and listens for Ctrl-C.
struct PythonObserver<'m> {
    recorder: Recorder<'m, Kept>,
    machine: &'m Arc<Machine>,
    signals: &'m Arc<HashMap<String, SignalId>>,
    observer: Option<Py<PyAny>>,
    functions: &'m Failure,
    interrupt: Interrupt,
    failure: Option<PyErr>,
}

impl PythonObserver<'_> {
    /// Whether the observer wants to go on: anything but `False`.
    fn ask(&self, now: &Values) -> PyResult<bool> {
        let Some(observer) = &self.observer else { return Ok(true) };
        let step = Step {
            machine: Arc::clone(self.machine),
            signals: Arc::clone(self.signals),
            snapshot: self.recorder.snapshot(now),
        };
        Python::attach(|py| {
            let answer = observer.call1(py, (step,))?;
            Ok(!answer.bind(py).is(&*pyo3::types::PyBool::new(py, false)))
        })
    }
}

impl Observer for PythonObserver<'_> {
    fn started(&mut self, at: &Values) {
        self.recorder.started(at);
    }

    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let control = self.recorder.accepted(last);
        if self.functions.is_some() {
            return Control::Stop;
        }
        self.failure = self.interrupt.check();
        if self.failure.is_some() {
            return Control::Stop;
        }
        match self.ask(last.ends().to) {
            Ok(true) => control,
            Ok(false) => Control::Stop,
            Err(failure) => {
                self.failure = Some(failure);
                Control::Stop
            }
        }
    }
}

/// Runs a machine; what was computed is given back however the run ended.
pub fn run(
    py: Python<'_>,
    machine: &Arc<Machine>,
    signals: &Arc<HashMap<String, SignalId>>,
    identity: &ModelIdentity,
    observer: Option<Py<PyAny>>,
    motion: bool,
    functions: &Failure,
) -> PyResult<Outcome> {
    let plan = machine.plan().map_err(|errors| error::model(&errors))?;
    let began = Instant::now();
    let (kept, mut summary, ending, failure) = error::detached(py, || -> PyResult<_> {
        let mut run = machine
            .start(&plan)
            .map_err(|error| functions.take().unwrap_or_else(|| error::start(machine, &error)))?;
        let mut watch = PythonObserver {
            recorder: Recorder::new(machine, plan.output_step, Kept::new(machine, motion)),
            machine,
            signals,
            observer,
            functions,
            interrupt: Interrupt::new(),
            failure: None,
        };
        let ending = run.advance(&mut watch);
        watch.recorder.close(run.integration().values()).map_err(|error| error::write(&error))?;
        let mut summary = RunSummary::new(identity.clone());
        summary.settings = machine.settings.words(&plan).into();
        summary.statistics = value(&RunStatistics::new(machine, &run, &watch.recorder));
        summary.events = run.events().iter().map(value).collect();
        summary.warnings = [machine.warnings().to_vec(), machine.start_warnings(&run)].concat();
        summary.assumptions = [machine.assumptions().to_vec(), plan.assumptions.clone()].concat();
        let PythonObserver { recorder, failure, .. } = watch;
        let kept = recorder.finish(run.integration().values()).map_err(|error| error::write(&error))?;
        Ok((kept, summary, ending, failure))
    })??;
    summary.wall_time = began.elapsed().as_secs_f64();
    let failure = failure.or_else(|| functions.take());
    let (status, failure) = conclude(&ending, failure);
    summary.status = status;
    Ok(kept.arrays(py, &summary, failure))
}

fn conclude(ending: &RunEnding, failure: Option<PyErr>) -> (EndStatus, Option<PyErr>) {
    if let Some(failure) = failure {
        let interrupted = Python::attach(|py| failure.is_instance_of::<PyKeyboardInterrupt>(py));
        let status = match interrupted {
            true => EndStatus::Interrupted,
            false => EndStatus::Failed { message: failure.to_string() },
        };
        return (status, Some(failure));
    }
    let failed = |message: String, failure: PyErr| (EndStatus::Failed { message }, Some(failure));
    match ending {
        RunEnding::Done | RunEnding::Event(_) => (EndStatus::Done, None),
        RunEnding::Stopped => (EndStatus::Interrupted, None),
        RunEnding::Failed(error) => failed(error.to_string(), error::step(error)),
        RunEnding::Refused(error) => {
            failed(error.to_string(), error::class::StepError::new_err(error.to_string()))
        }
    }
}

/// Anything as JSON.
pub fn value(content: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(content).expect("settings and statistics have text keys")
}
