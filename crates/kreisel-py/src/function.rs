//! Functions written in Python that forces of a model call, with derivatives by differences.

use kreisel::element::SignalFunction;
use kreisel::machine::Functions;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The first exception that a function raised while a machine ran; the run ends by it.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    kept: Arc<Mutex<Option<PyErr>>>,
    raised: Arc<AtomicBool>,
}

impl Failure {
    fn keep(&self, error: PyErr) {
        if let Ok(mut kept) = self.kept.lock() {
            kept.get_or_insert(error);
        }
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether there was one.
    pub fn is_some(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// A flag that is raised with the first one; whoever wants the runs to stop may raise it as well.
    pub fn flag(&self) -> &AtomicBool {
        &self.raised
    }

    /// Takes it out.
    pub fn take(&self) -> Option<PyErr> {
        self.raised.store(false, Ordering::Relaxed);
        self.kept.lock().ok().and_then(|mut kept| kept.take())
    }
}

/// A Python function of numbers.
#[derive(Debug)]
struct PythonFunction {
    function: Py<PyAny>,
    /// Gives the derivatives by all arguments, if the user wrote them.
    slopes: Option<Py<PyAny>>,
    failure: Failure,
}

/// Central differences err least where the step is the cube root of the rounding error.
const DIFFERENCE: f64 = 6e-6;

impl PythonFunction {
    fn call(&self, py: Python<'_>, arguments: &[f64]) -> PyResult<f64> {
        self.function.call1(py, PyTuple::new(py, arguments)?)?.extract(py)
    }

    fn derivatives(&self, py: Python<'_>, arguments: &[f64], slopes: &mut [f64]) -> PyResult<()> {
        if let Some(function) = &self.slopes {
            let given: Vec<f64> = function.call1(py, PyTuple::new(py, arguments)?)?.extract(py)?;
            if given.len() != slopes.len() {
                let (wanted, found) = (slopes.len(), given.len());
                return Err(crate::error::argument(format!(
                    "`slopes` must give {wanted} numbers, one for each argument, not {found}"
                )));
            }
            slopes.copy_from_slice(&given);
            return Ok(());
        }
        let mut moved = arguments.to_vec();
        for (index, slope) in slopes.iter_mut().enumerate() {
            let (at, step) = (arguments[index], DIFFERENCE * arguments[index].abs().max(1.0));
            moved[index] = at + step;
            let above = self.call(py, &moved)?;
            moved[index] = at - step;
            let below = self.call(py, &moved)?;
            moved[index] = at;
            *slope = (above - below) / (2.0 * step);
        }
        Ok(())
    }

    /// What a call gives; after an exception not a number, by which the step fails.
    fn kept<T>(&self, outcome: PyResult<T>, otherwise: T) -> T {
        outcome.unwrap_or_else(|error| {
            self.failure.keep(error);
            otherwise
        })
    }
}

impl SignalFunction for PythonFunction {
    fn evaluate(&self, _: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        Python::attach(|py| {
            let derivatives = self.derivatives(py, signals, slopes);
            self.kept(derivatives, ());
            let value = self.call(py, signals);
            self.kept(value, f64::NAN)
        })
    }

    fn value(&self, _: f64, signals: &[f64]) -> f64 {
        Python::attach(|py| {
            let value = self.call(py, signals);
            self.kept(value, f64::NAN)
        })
    }
}

/// Python functions by name, each with its slopes or none.
pub type Given = HashMap<String, (Py<PyAny>, Option<Py<PyAny>>)>;

/// The functions as the library takes them, and where their exceptions go.
pub fn functions(given: Given) -> (Functions, Failure) {
    let failure = Failure::default();
    let wrap = |(name, (function, slopes))| {
        let function: Arc<dyn SignalFunction> =
            Arc::new(PythonFunction { function, slopes, failure: failure.clone() });
        (name, function)
    };
    (given.into_iter().map(wrap).collect(), failure.clone())
}
