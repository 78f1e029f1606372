//! A machine that is stepped from Python.

use crate::error;
use crate::function::{Failure, Held};
use crate::run::{Interrupt, no_signal};
use kreisel::machine::Machine;
use kreisel::results::Channel;
use kreisel::run::RunEnding;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// A machine under way, for control and co-simulation: set inputs, advance, read signals.
///
/// `stepper["motor"] = 2.0` sets an input, `stepper.advance()` takes one step, `stepper["shaft.angle-rate"]`
/// reads a signal. `Model.stepper` makes it.
#[pyclass(module = "kreisel", name = "Stepper")]
pub struct Stepper {
    stepper: kreisel::run::Stepper,
    failure: Failure,
    held: Held,
}

impl Stepper {
    /// Starts a machine.
    pub fn start(py: Python<'_>, machine: &Arc<Machine>, failure: &Failure, held: &Held) -> PyResult<Self> {
        let started = error::detached(py, || kreisel::run::Stepper::start(Arc::clone(machine)))?;
        let stepper =
            started.map_err(|error| failure.take().unwrap_or_else(|| error::run(machine, &error)))?;
        Ok(Self { stepper, failure: failure.clone(), held: held.clone() })
    }

    fn read(&mut self, name: &str) -> PyResult<f64> {
        self.stepper.take_inputs().map_err(|error| error::step(&error))?;
        if let Some(signal) = self.stepper.signal(name) {
            return Ok(self.stepper.value(signal));
        }
        match self.stepper.input(name) {
            Some(input) => Ok(self.stepper.input_value(input)),
            None => Err(PyKeyError::new_err(no_signal(name))),
        }
    }
}

#[pymethods]
impl Stepper {
    /// Time that was reached, in s.
    #[getter]
    fn time(&self) -> f64 {
        self.stepper.time()
    }

    /// What was chosen because it was not given: how steps are controlled.
    #[getter]
    fn assumptions(&self) -> Vec<String> {
        self.stepper.assumptions().to_vec()
    }

    /// Size of a step in s; where the error decides, how far `advance` goes at once.
    #[getter]
    fn step_size(&self) -> f64 {
        self.stepper.step_size()
    }

    /// Number of steps so far.
    #[getter]
    fn steps(&self) -> u64 {
        self.stepper.statistics().steps
    }

    /// Names of the signals.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.stepper.channels().into_iter().map(|channel| channel.name).collect()
    }

    /// Unit of each signal, by name.
    #[getter]
    fn units(&self) -> std::collections::HashMap<String, String> {
        let pair = |channel: Channel| (channel.name, channel.unit);
        self.stepper.channels().into_iter().map(pair).collect()
    }

    /// Names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.stepper.machine().inputs().iter().map(|input| input.name.clone()).collect()
    }

    /// Times and names of the events so far.
    #[getter]
    fn events(&self) -> Vec<(f64, String)> {
        self.stepper.events().into_iter().map(|event| (event.time, event.event)).collect()
    }

    /// Takes one step, or steps until the time `until` in s; gives the time that was reached.
    ///
    /// An event of the model that stops a run ends the advance there.
    #[pyo3(signature = (until=None))]
    fn advance(&mut self, py: Python<'_>, until: Option<f64>) -> PyResult<f64> {
        let stepper = &mut self.stepper;
        let until = until.unwrap_or_else(|| stepper.time() + stepper.step_size());
        let failure = &self.failure;
        let (ending, interrupted) = error::detached(py, || {
            let (mut interrupt, mut interrupted) = (Interrupt::new(), None);
            let ending = stepper.advance_to(until, |_| {
                interrupted = interrupt.check();
                interrupted.is_none() && !failure.is_some()
            });
            (ending, interrupted)
        })?;
        if let Some(failure) = interrupted.or_else(|| self.failure.take()) {
            return Err(failure);
        }
        match ending {
            RunEnding::Failed(error) => Err(error::step(&error)),
            RunEnding::Refused(error) => Err(error::class::StepError::new_err(error.to_string())),
            RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => Ok(self.stepper.time()),
        }
    }

    /// Values of some signals as one array.
    fn values(&mut self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray1<f64>>> {
        let values = names.iter().map(|name| self.read(name)).collect::<PyResult<Vec<f64>>>()?;
        Ok(PyArray1::from_vec(py, values).unbind())
    }

    /// Value of a signal, or of an input.
    fn __getitem__(&mut self, name: &str) -> PyResult<f64> {
        self.read(name)
    }

    /// Sets an input; it keeps its value until it is set again. The next step or reading refuses what the
    /// machine cannot go on with, and the values before stay.
    fn __setitem__(&mut self, name: &str, value: f64) -> PyResult<()> {
        let Some(input) = self.stepper.input(name) else {
            let known = self.inputs().join("`, `");
            let known =
                if known.is_empty() { "there is none".to_owned() } else { format!("there is `{known}`") };
            return Err(PyKeyError::new_err(format!("there is no input `{name}`; {known}")));
        };
        if !value.is_finite() {
            return Err(error::argument(format!("the input `{name}` must be a finite number, not {value}")));
        }
        self.stepper.set_input(input, value);
        Ok(())
    }

    /// Shows the collector of circles the functions that the machine calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Where somebody else has the machine, too, they are not this stepper's alone.
        if Arc::strong_count(self.stepper.machine()) == 1 { self.held.traverse(&visit) } else { Ok(()) }
    }

    fn __clear__(&mut self) {
        self.held.clear();
    }

    fn __repr__(&self) -> String {
        format!("<kreisel.Stepper at {} s>", self.stepper.time())
    }
}
