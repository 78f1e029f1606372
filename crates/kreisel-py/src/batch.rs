//! Many steppers of one machine that advance side by side, on all cores and without the interpreter's lock.

use crate::dynamics::interruptible;
use crate::error;
use crate::function::{Failure, Held};
use crate::guard::at_rest;
use crate::machine::Machine;
use crate::nested;
use crate::run::no_signal;
use crate::stepper::State;
use kreisel::machine::SignalId;
use kreisel::run::{RunEnding, RunError, Stepper, StepperStateError};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Steppers of one machine; each goes its own way.
#[pyclass(module = "kreisel._kreisel", name = "Batch", frozen)]
pub struct Batch {
    steppers: Mutex<Vec<Stepper>>,
    inputs: Vec<String>,
    failure: Failure,
    held: Held,
}

/// A signal or an input that is read.
#[derive(Clone, Copy)]
enum Source {
    Signal(SignalId),
    Input(usize),
}

/// Numbers of all steppers, a row each, and why some of them ended.
type Answer = (Py<PyArray2<f64>>, Vec<(usize, String)>);

#[pymethods]
impl Batch {
    /// Starts some steppers of a machine.
    #[new]
    fn new(py: Python<'_>, machine: &Machine, count: usize) -> PyResult<Self> {
        /// More would fill the memory of any computer.
        const MOST: usize = 100_000;
        if !(1..=MOST).contains(&count) {
            return Err(error::argument(format!("a batch has 1 to {MOST} machines, not {count}")));
        }
        let (owned, failure, held) = machine.parts();
        let start = |_| Stepper::start(Arc::clone(owned));
        let all = || -> Result<Vec<Stepper>, RunError> { (0..count).into_par_iter().map(start).collect() };
        let started = error::detached(py, || nested::spread(nested::depth(), all))?;
        let steppers =
            started.map_err(|error| failure.take().unwrap_or_else(|| error::run(owned, &error)))?;
        let inputs = owned.inputs().iter().map(|input| input.name.clone()).collect();
        Ok(Self { steppers: Mutex::new(steppers), inputs, failure: failure.clone(), held: held.clone() })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }

    /// Names of the inputs, in the order of their columns.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.inputs.clone()
    }

    /// Time that each has reached, in s.
    #[getter]
    fn times(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        let times = self.lock()?.iter().map(Stepper::time).collect();
        Ok(PyArray1::from_vec(py, times).unbind())
    }

    /// Size of a step in s; where the error decides, how far one goes at once.
    #[getter]
    fn step_size(&self) -> PyResult<f64> {
        Ok(self.lock()?[0].step_size())
    }

    /// Sets the inputs of each, a row of numbers in the order of `inputs`, lets it advance by a time in s, and
    /// reads signals. One that cannot go on has rows of not-a-number and says why; it goes on after `set_state`.
    fn advance(
        &self,
        py: Python<'_>,
        inputs: Option<PyReadonlyArrayDyn<'_, f64>>,
        duration: f64,
        signals: Vec<String>,
    ) -> PyResult<Answer> {
        let mut locked = self.lock()?;
        // What the lock guards may be sent to other threads, the lock itself not.
        let steppers: &mut Vec<Stepper> = &mut locked;
        let sources = Self::sources(&steppers[0], &signals)?;
        let width = self.inputs.len();
        let given = match &inputs {
            None => None,
            Some(array) => {
                error::check_aligned(array)?;
                if array.shape() != [steppers.len(), width] {
                    let (count, found) = (steppers.len(), array.shape());
                    let wanted = format!("inputs need {count} rows of {width} numbers, not {found:?}");
                    return Err(error::argument(wanted));
                }
                let numbers =
                    array.as_slice().map_err(|_| error::argument("the array must be contiguous"))?;
                if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
                    let (row, name) = (place / width, &self.inputs[place % width]);
                    return Err(error::argument(format!(
                        "the input `{name}` of machine {row} must be a finite number, not {}",
                        numbers[place]
                    )));
                }
                Some(numbers.to_vec())
            }
        };
        if !(duration.is_finite() && duration >= 0.0) {
            return Err(error::argument(format!("a duration must be a finite number of s, not {duration}")));
        }
        let work = |is_over: &AtomicBool| {
            let goes_on = || !is_over.load(Ordering::Relaxed) && !self.failure.is_some();
            let one = |(place, stepper): (usize, &mut Stepper)| {
                if let Some(numbers) = &given {
                    let row = &numbers[place * width..(place + 1) * width];
                    row.iter().enumerate().for_each(|(input, value)| stepper.set_input(input, *value));
                }
                let ending = if duration > 0.0 {
                    let until = stepper.time() + duration;
                    stepper.advance_to(until, |_| goes_on())
                } else {
                    stepper.take_inputs().map_or_else(RunEnding::Failed, |()| RunEnding::Done)
                };
                let reason = match ending {
                    RunEnding::Failed(error) => Some(error.to_string()),
                    RunEnding::Refused(error) => Some(error.to_string()),
                    RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => None,
                };
                let mut read = |source: &Source| match source {
                    Source::Signal(signal) => stepper.value(*signal),
                    Source::Input(input) => stepper.input_value(*input),
                };
                let values: Vec<f64> = match reason {
                    None => sources.iter().map(&mut read).collect(),
                    Some(_) => vec![f64::NAN; sources.len()],
                };
                (values, reason)
            };
            steppers.par_iter_mut().enumerate().map(one).collect::<Vec<_>>()
        };
        let (found, interrupted) = error::detached(py, || interruptible(work))?;
        if let Some(error) = interrupted.or_else(|| self.failure.take()) {
            return Err(error);
        }
        let (count, columns) = (found.len(), sources.len());
        let (mut numbers, mut failed) = (Vec::with_capacity(count * columns), Vec::new());
        for (place, (values, reason)) in found.into_iter().enumerate() {
            numbers.extend(values);
            failed.extend(reason.map(|reason| (place, reason)));
        }
        let array = PyArray1::from_vec(py, numbers).reshape([count, columns])?;
        Ok((array.unbind(), failed))
    }

    /// Where one of them stands.
    fn state(&self, place: usize) -> PyResult<State> {
        let mut steppers = self.lock()?;
        let count = steppers.len();
        let stepper = steppers.get_mut(place).ok_or_else(|| missing(place, count))?;
        stepper.take_inputs().map_err(|error| error::step(&error))?;
        Ok(State::of(stepper.state()))
    }

    /// Brings some of them to states, one each, or all of these to the start.
    fn set_states(
        &self,
        py: Python<'_>,
        places: Vec<usize>,
        states: Option<Vec<PyRef<'_, State>>>,
    ) -> PyResult<()> {
        let mut steppers = self.lock()?;
        let count = steppers.len();
        if let Some(place) = places.iter().find(|place| **place >= count) {
            return Err(missing(*place, count));
        }
        let states: Option<Vec<_>> =
            states.map(|states| states.iter().map(|state| state.inner().clone()).collect());
        if states.as_ref().is_some_and(|states| states.len() != places.len()) {
            return Err(error::argument("one state is needed for each machine"));
        }
        let steppers = &mut *steppers;
        let done: Result<(), StepperStateError> = error::detached(py, || {
            places.iter().enumerate().try_for_each(|(number, place)| match &states {
                Some(states) => steppers[*place].set_state(&states[number]),
                None => steppers[*place].reset(),
            })
        })?;
        done.map_err(|error| error::argument(error.to_string()))
    }

    /// Shows the collector of circles the functions that the machine calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Steppers hold the machine, which others may have too.
        let alone = at_rest(&self.steppers).is_some_and(|steppers| {
            steppers.first().is_some_and(|first| Arc::strong_count(first.machine()) == steppers.len())
        });
        if alone { self.held.traverse(&visit) } else { Ok(()) }
    }

    fn __clear__(&self) {
        self.held.clear();
    }
}

impl Batch {
    /// The steppers, unless somebody advances them: another thread, or what they call on their way.
    fn lock(&self) -> PyResult<MutexGuard<'_, Vec<Stepper>>> {
        at_rest(&self.steppers).ok_or_else(|| {
            error::class::StepError::new_err(
                "these machines are under way: another thread uses them, or a function of their own model asks them \
                 while they advance; wait until the other call comes back",
            )
        })
    }

    /// Where signals are found; a vector is its three components.
    fn sources(stepper: &Stepper, names: &[String]) -> PyResult<Vec<Source>> {
        let one = |name: &str| {
            let signal = stepper.signal(name).map(Source::Signal);
            signal.or_else(|| stepper.input(name).map(Source::Input))
        };
        let mut sources = Vec::with_capacity(names.len());
        for name in names {
            match one(name) {
                Some(source) => sources.push(source),
                None => {
                    let vector: Option<Vec<Source>> =
                        ["x", "y", "z"].iter().map(|axis| one(&format!("{name}.{axis}"))).collect();
                    sources.extend(vector.ok_or_else(|| PyKeyError::new_err(no_signal(name)))?);
                }
            }
        }
        Ok(sources)
    }
}

fn missing(place: usize, count: usize) -> PyErr {
    error::argument(format!("there is no machine {place} among {count}"))
}
