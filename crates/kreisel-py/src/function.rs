//! Functions written in Python that forces of a model call, with derivatives by differences.

use crate::nested::Nested;
use kreisel::element::SignalFunction;
use kreisel::machine::Functions;
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{PyTraverseError, PyVisit};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that a function raised while a machine ran; the run ends by it.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    kept: Arc<Mutex<Option<PyErr>>>,
    raised: Arc<AtomicBool>,
}

impl Failure {
    fn keep(&self, error: PyErr) {
        let mut later = Some(error);
        if let Ok(mut kept) = self.kept.lock()
            && kept.is_none()
        {
            *kept = later.take();
        }
        // Not under the lock: what an exception holds may run finalizers.
        drop(later);
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

    /// Takes it out if it tells of calls without end, which nothing mends.
    pub fn take_endless(&self, py: Python<'_>) -> Option<PyErr> {
        let is_endless = self.kept.lock().ok()?.as_ref()?.is_instance_of::<PyRecursionError>(py);
        is_endless.then(|| self.take()).flatten()
    }

    /// Takes it out.
    pub fn take(&self) -> Option<PyErr> {
        self.raised.store(false, Ordering::Relaxed);
        self.kept.lock().ok().and_then(|mut kept| kept.take())
    }
}

/// A function and what gives its derivatives by all arguments, if the user wrote that.
type Pair = (Py<PyAny>, Option<Py<PyAny>>);

/// The Python objects of the functions of one machine, where the collector of circles can see them and let them
/// go.
#[derive(Clone, Debug, Default)]
pub struct Held(Vec<Slot>);

/// The objects of one function, until they are let go.
type Slot = Arc<Mutex<Option<Pair>>>;

impl Held {
    /// Shows all objects; only for the one whose machine is nobody else's.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for slot in &self.0 {
            // Nobody holds it while the collector is at work, which has the interpreter's lock.
            let Ok(pair) = slot.try_lock() else { continue };
            if let Some((function, slopes)) = pair.as_ref() {
                visit.call(function)?;
                visit.call(slopes)?;
            }
        }
        Ok(())
    }

    /// Lets go of all objects.
    pub fn clear(&self) {
        for slot in &self.0 {
            let pair = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(pair);
        }
    }
}

/// A Python function of numbers.
#[derive(Debug)]
struct PythonFunction {
    slot: Slot,
    failure: Failure,
}

/// Central differences err least where the step is the cube root of the rounding error.
const DIFFERENCE: f64 = 6e-6;

impl PythonFunction {
    /// The objects; they are gone only when nobody can reach what would call them.
    fn pair(&self, py: Python<'_>) -> PyResult<Pair> {
        let pair = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let (function, slopes) =
            pair.as_ref().ok_or_else(|| crate::error::argument("the function was collected"))?;
        Ok((function.clone_ref(py), slopes.as_ref().map(|slopes| slopes.clone_ref(py))))
    }

    fn call(&self, py: Python<'_>, arguments: &[f64]) -> PyResult<f64> {
        let _nested = Nested::enter()?;
        self.pair(py)?.0.call1(py, PyTuple::new(py, arguments)?)?.extract(py)
    }

    fn derivatives(
        &self,
        py: Python<'_>,
        arguments: &[f64],
        wanted: &[bool],
        slopes: &mut [f64],
    ) -> PyResult<()> {
        if let Some(function) = self.pair(py)?.1 {
            let _nested = Nested::enter()?;
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
            if !wanted.get(index).is_none_or(|wanted| *wanted) {
                *slope = 0.0;
                continue;
            }
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

/// After an exception nothing is called until somebody takes it: a function that runs a machine by which it is called
/// again would do so from each of its levels as often as a machine asks.
impl SignalFunction for PythonFunction {
    fn evaluate(&self, time: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        self.evaluate_some(time, signals, &[], slopes)
    }

    fn evaluate_some(&self, _: f64, signals: &[f64], wanted: &[bool], slopes: &mut [f64]) -> f64 {
        if self.failure.is_some() {
            return f64::NAN;
        }
        Python::attach(|py| {
            let derivatives = self.derivatives(py, signals, wanted, slopes);
            self.kept(derivatives, ());
            let value = self.call(py, signals);
            self.kept(value, f64::NAN)
        })
    }

    fn value(&self, _: f64, signals: &[f64]) -> f64 {
        if self.failure.is_some() {
            return f64::NAN;
        }
        Python::attach(|py| {
            let value = self.call(py, signals);
            self.kept(value, f64::NAN)
        })
    }
}

/// Python functions by name, each with its slopes or none.
pub type Given = HashMap<String, (Py<PyAny>, Option<Py<PyAny>>)>;

/// The functions as the library takes them, where their exceptions go, and their objects.
pub fn functions(given: Given) -> (Functions, Failure, Held) {
    let (failure, mut held) = (Failure::default(), Held::default());
    let mut functions = Functions::default();
    for (name, pair) in given {
        let slot = Arc::new(Mutex::new(Some(pair)));
        held.0.push(Arc::clone(&slot));
        functions.insert(name, Arc::new(PythonFunction { slot, failure: failure.clone() }));
    }
    (functions, failure, held)
}
