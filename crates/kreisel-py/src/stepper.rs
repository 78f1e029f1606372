//! A machine that is stepped from Python.

use crate::error;
use crate::function::{Failure, Held};
use crate::guard::at_rest;
use crate::run::{Interrupt, no_signal};
use kreisel::machine::{Machine, MovingFrame};
use kreisel::results::Channel;
use kreisel::run::{RunEnding, StepperState, StepperStateError};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::{Arc, Mutex, MutexGuard};

/// Where a stepper stands between two steps: all that it needs to go on from there, to the same bits.
///
/// `Stepper.state` makes it. It can be pickled, and taken up by any stepper of the same model and settings.
#[pyclass(module = "kreisel", name = "State", frozen)]
pub struct State {
    state: StepperState,
}

#[pymethods]
impl State {
    /// Reads the bytes of a state.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        match StepperState::from_bytes(bytes) {
            Ok(state) => Ok(Self { state }),
            Err(error) => Err(error::argument(error.to_string())),
        }
    }

    /// Time that was reached, in s.
    #[getter]
    fn time(&self) -> f64 {
        self.state.time()
    }

    /// The state as bytes, for a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.to_bytes())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.state == other.state
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().into_any(), (slf.get().to_bytes(slf.py()),)))
    }

    fn __repr__(&self) -> String {
        format!("<kreisel.State at {} s>", self.state.time())
    }
}

impl State {
    /// A state as Python has it.
    pub fn of(state: StepperState) -> Self {
        Self { state }
    }

    /// The state itself.
    pub fn inner(&self) -> &StepperState {
        &self.state
    }
}

/// What makes a stepper again, and its arguments.
type Pickled<'py> = (Bound<'py, PyAny>, (Py<PyTuple>, State));

/// A machine under way, for control and co-simulation: set inputs, advance, read signals.
///
/// `stepper["motor"] = 2.0` sets an input, `stepper.advance()` takes one step, `stepper["shaft.angle-rate"]`
/// reads a signal. `Model.stepper` makes it.
#[pyclass(module = "kreisel", name = "Stepper", frozen)]
pub struct Stepper {
    /// Taken while it is asked or advanced; nobody waits for it.
    inner: Mutex<Inner>,
}

/// What a stepper holds.
struct Inner {
    stepper: kreisel::run::Stepper,
    failure: Failure,
    held: Held,
    /// What its machine is made from, for copies in other processes.
    recipe: Py<PyTuple>,
    /// The end that was asked for, in s.
    end: Option<f64>,
}

impl Stepper {
    /// The stepper itself, unless somebody advances it: another thread, or what it calls on its way.
    fn inner(&self) -> PyResult<MutexGuard<'_, Inner>> {
        at_rest(&self.inner).ok_or_else(|| {
            error::class::StepError::new_err(
                "the stepper is under way: another thread uses it, or a function of its own model asks it while it \
                 advances; wait until the other call comes back, or take a `copy` before",
            )
        })
    }

    /// Starts a machine, which a recipe makes again.
    pub fn start(
        py: Python<'_>,
        machine: &Arc<Machine>,
        failure: &Failure,
        held: &Held,
        (recipe, end): (Py<PyTuple>, Option<f64>),
    ) -> PyResult<Self> {
        let started = error::detached(py, || kreisel::run::Stepper::start(Arc::clone(machine)))?;
        let stepper =
            started.map_err(|error| failure.take().unwrap_or_else(|| error::run(machine, &error)))?;
        let inner = Inner { stepper, failure: failure.clone(), held: held.clone(), recipe, end };
        Ok(Self { inner: Mutex::new(inner) })
    }
}

impl Inner {
    /// Lets the machine have the inputs that were set, so that what is read follows from them.
    fn take_inputs(&mut self) -> PyResult<()> {
        let (stepper, failure) = (&mut self.stepper, &self.failure);
        stepper.take_inputs().map_err(|error| failure.take().unwrap_or_else(|| error::step(&error)))
    }

    /// The value of a signal or an input.
    fn one(&mut self, name: &str) -> Option<f64> {
        if let Some(signal) = self.stepper.signal(name) {
            return Some(self.stepper.value(signal));
        }
        let input = self.stepper.input(name)?;
        Some(self.stepper.input_value(input))
    }

    /// The three values of a vector.
    fn vector(&mut self, name: &str) -> Option<[f64; 3]> {
        let [x, y, z] = ["x", "y", "z"].map(|axis| self.one(&format!("{name}.{axis}")));
        Some([x?, y?, z?])
    }

    fn input_of(&self, name: &str) -> PyResult<usize> {
        self.stepper.input(name).ok_or_else(|| {
            let known = self.inputs().join("`, `");
            let known =
                if known.is_empty() { "there is none".to_owned() } else { format!("there is `{known}`") };
            PyKeyError::new_err(format!("there is no input `{name}`; {known}"))
        })
    }

    fn go_to(&mut self, py: Python<'_>, state: &StepperState) -> PyResult<()> {
        let stepper = &mut self.stepper;
        error::detached(py, || stepper.set_state(state))?.map_err(|error| unfit(&error))
    }
}

/// A state that a stepper does not take.
fn unfit(error: &StepperStateError) -> PyErr {
    error::argument(error.to_string())
}

/// A number for an input.
fn checked(name: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(error::argument(format!("the input `{name}` must be a finite number, not {value}")))
}

#[pymethods]
impl Stepper {
    /// Time that was reached, in s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.inner()?.stepper.time())
    }

    /// What was chosen because it was not given: how steps are controlled.
    #[getter]
    fn assumptions(&self) -> PyResult<Vec<String>> {
        Ok(self.inner()?.stepper.assumptions().to_vec())
    }

    /// Size of a step in s; where the error decides, how far `advance` goes at once.
    #[getter]
    fn step_size(&self) -> PyResult<f64> {
        Ok(self.inner()?.stepper.step_size())
    }

    /// Number of steps so far.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.inner()?.stepper.statistics().steps)
    }

    /// Names of the signals.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        Ok(self.inner()?.stepper.channels().into_iter().map(|channel| channel.name).collect())
    }

    /// Unit of each signal, by name.
    #[getter]
    fn units(&self) -> PyResult<std::collections::HashMap<String, String>> {
        let pair = |channel: Channel| (channel.name, channel.unit);
        Ok(self.inner()?.stepper.channels().into_iter().map(pair).collect())
    }

    /// Names of the inputs.
    #[getter]
    fn inputs(&self) -> PyResult<Vec<String>> {
        Ok(self.inner()?.inputs())
    }

    /// Times and names of the events so far.
    #[getter]
    fn events(&self) -> PyResult<Vec<(f64, String)>> {
        Ok(self.inner()?.stepper.events().into_iter().map(|event| (event.time, event.event)).collect())
    }

    /// Takes one step, or steps until the time `until` in s; gives the time that was reached.
    ///
    /// An event of the model that stops a run ends the advance there. It does not go beyond the `end_time` of the
    /// stepper, if that was given.
    #[pyo3(signature = (until=None))]
    fn advance(&self, py: Python<'_>, until: Option<f64>) -> PyResult<f64> {
        let mut inner = self.inner()?;
        let until = inner.target(until)?;
        let Inner { stepper, failure, .. } = &mut *inner;
        let failure = &*failure;
        let (ending, interrupted) = error::detached(py, || {
            let (mut interrupt, mut interrupted) = (Interrupt::new(), None);
            let ending = stepper.advance_to(until, |_| {
                interrupted = interrupt.check();
                interrupted.is_none() && !failure.is_some()
            });
            (ending, interrupted)
        })?;
        if let Some(failure) = interrupted.or_else(|| failure.take()) {
            return Err(failure);
        }
        match ending {
            RunEnding::Failed(error) => Err(error::step(&error)),
            RunEnding::Refused(error) => Err(error::class::StepError::new_err(error.to_string())),
            RunEnding::Done | RunEnding::Event(_) | RunEnding::Stopped => Ok(stepper.time()),
        }
    }

    /// Values of some signals as one array; a vector gives its three components.
    fn values(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray1<f64>>> {
        let mut inner = self.inner()?;
        inner.take_inputs()?;
        let mut values = Vec::with_capacity(names.len());
        for name in &names {
            match inner.one(name) {
                Some(value) => values.push(value),
                None => {
                    let vector = inner.vector(name);
                    values.extend(vector.ok_or_else(|| PyKeyError::new_err(no_signal(name)))?);
                }
            }
        }
        Ok(PyArray1::from_vec(py, values).unbind())
    }

    /// Sets several inputs: numbers by name, or one for each input in the order of `inputs`.
    ///
    /// Nothing is set if one of them is wrong.
    fn set_inputs(&self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let inputs: Vec<(usize, f64)> = if values.hasattr("items")? {
            let pairs: Vec<(String, f64)> = values
                .call_method0("items")?
                .try_iter()?
                .map(|pair| pair?.extract())
                .collect::<PyResult<_>>()?;
            // What is given may be a program of its own, so that the stepper is taken behind it.
            let inner = self.inner()?;
            let input = |(name, value): &(String, f64)| Ok((inner.input_of(name)?, checked(name, *value)?));
            pairs.iter().map(input).collect::<PyResult<_>>()?
        } else {
            let (values, names): (Vec<f64>, Vec<String>) = (values.extract()?, self.inner()?.inputs());
            if values.len() != names.len() {
                let (found, wanted, names) = (values.len(), names.len(), names.join("`, `"));
                return Err(error::argument(format!(
                    "{found} numbers for {wanted} inputs; there is one for each of `{names}`"
                )));
            }
            let input =
                |(place, (name, value)): (usize, (&String, &f64))| Ok((place, checked(name, *value)?));
            names.iter().zip(&values).enumerate().map(input).collect::<PyResult<_>>()?
        };
        let mut inner = self.inner()?;
        inputs.into_iter().for_each(|(input, value)| inner.stepper.set_input(input, value));
        Ok(())
    }

    /// Names of the coordinates of all joints but drives.
    #[getter]
    fn coordinate_names(&self) -> PyResult<Vec<String>> {
        Ok(self.inner()?.stepper.coordinate_names())
    }

    /// Coordinates of the joints in rad or m, in the order of `coordinate_names`.
    fn coordinates(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        let mut inner = self.inner()?;
        inner.take_inputs()?;
        Ok(PyArray1::from_vec(py, inner.stepper.coordinates()).unbind())
    }

    /// Rates of the coordinates, in the same order.
    fn coordinate_rates(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.inner()?.stepper.coordinate_rates()).unbind())
    }

    /// Poses of bodies, markers and nodes of beams in the world, a row each: position x, y, z in m, and the
    /// unit quaternion w, x, y, z.
    fn poses(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray2<f64>>> {
        self.inner()?.frames(py, &names, |frame| {
            let (at, q) = (frame.pose.position, frame.pose.rotation);
            [at.x, at.y, at.z, q.w, q.i, q.j, q.k]
        })
    }

    /// Velocities of bodies, markers and nodes of beams in world axes, a row each: angular velocity in rad/s,
    /// then velocity in m/s.
    fn velocities(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray2<f64>>> {
        self.inner()?.frames(py, &names, |frame| {
            let (turn, go) = (frame.angular_velocity, frame.velocity);
            [turn.x, turn.y, turn.z, go.x, go.y, go.z]
        })
    }

    /// All that is needed to go on from here, to the same bits; a value that can be kept and pickled.
    fn state(&self) -> PyResult<State> {
        self.inner()?.state()
    }

    /// Goes to a state of this model with these settings, back in time or ahead.
    fn set_state(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.inner()?.go_to(py, &state.state)
    }

    /// Goes back to the start; inputs have their initial values again.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.inner()?;
        let stepper = &mut inner.stepper;
        error::detached(py, || stepper.reset())?.map_err(|error| unfit(&error))
    }

    /// Another stepper of the same machine at the same state, which goes its own way.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let mut inner = self.inner()?;
        let machine = Arc::clone(inner.stepper.machine());
        let State { state } = inner.state()?;
        let made_from = (inner.recipe.clone_ref(py), inner.end);
        let other = Self::start(py, &machine, &inner.failure, &inner.held, made_from)?;
        other.inner()?.go_to(py, &state)?;
        Ok(other)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let again = py.import("kreisel._kreisel")?.getattr("_stepper_at")?;
        let mut inner = self.inner()?;
        Ok((again, (inner.recipe.clone_ref(py), inner.state()?)))
    }

    /// Value of a signal or of an input; of a vector, `"top.position"`, an array of three.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.inner()?;
        inner.take_inputs()?;
        if let Some(value) = inner.one(name) {
            return Ok(value.into_pyobject(py)?.into_any());
        }
        let vector = inner.vector(name).ok_or_else(|| PyKeyError::new_err(no_signal(name)))?;
        Ok(PyArray1::from_slice(py, &vector).into_any())
    }

    /// Sets an input; it keeps its value until it is set again. The next step or reading refuses what the
    /// machine cannot go on with, and the values before stay.
    fn __setitem__(&self, name: &str, value: f64) -> PyResult<()> {
        let mut inner = self.inner()?;
        let (input, value) = (inner.input_of(name)?, checked(name, value)?);
        inner.stepper.set_input(input, value);
        Ok(())
    }

    /// Shows the collector of circles the functions that the machine calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // One that is under way is used by somebody, and so is all that it holds.
        let Some(inner) = at_rest(&self.inner) else { return Ok(()) };
        visit.call(&inner.recipe)?;
        // Where somebody else has the machine, too, they are not this stepper's alone.
        if Arc::strong_count(inner.stepper.machine()) == 1 { inner.held.traverse(&visit) } else { Ok(()) }
    }

    fn __clear__(&self) {
        let Some(mut inner) = at_rest(&self.inner) else { return };
        let held = inner.held.clone();
        let nothing = Python::attach(|py| PyTuple::empty(py).unbind());
        let recipe = std::mem::replace(&mut inner.recipe, nothing);
        // What is let go may run finalizers, and those may ask the stepper.
        drop(inner);
        held.clear();
        drop(recipe);
    }

    fn __repr__(&self) -> String {
        match self.inner() {
            Ok(inner) => format!("<kreisel.Stepper at {} s>", inner.stepper.time()),
            Err(_) => "<kreisel.Stepper under way>".to_owned(),
        }
    }
}

impl Inner {
    /// Names of the inputs.
    fn inputs(&self) -> Vec<String> {
        self.stepper.machine().inputs().iter().map(|input| input.name.clone()).collect()
    }

    /// The time to which the stepper goes for one that is asked for, or for none; not beyond a stated end.
    fn target(&self, until: Option<f64>) -> PyResult<f64> {
        let now = self.stepper.time();
        let Some(end) = self.end else { return Ok(until.unwrap_or_else(|| now + self.stepper.step_size())) };
        // Times that a caller adds up are off by round-off.
        let slack = 1e-9 * (end.abs() + self.stepper.step_size());
        match until {
            Some(until) if until > end + slack => Err(error::class::StepError::new_err(format!(
                "t = {until} s lies beyond the end of the stepper, `end_time = {end}`"
            ))),
            None if now >= end - slack => Err(error::class::StepError::new_err(format!(
                "the stepper is at its end, `end_time = {end}`"
            ))),
            Some(until) => Ok(until),
            None => Ok((now + self.stepper.step_size()).min(end)),
        }
    }

    fn state(&mut self) -> PyResult<State> {
        self.take_inputs()?;
        Ok(State { state: self.stepper.state() })
    }

    /// Numbers of the frames of some names, a row each.
    fn frames<const N: usize>(
        &self,
        py: Python<'_>,
        names: &[String],
        numbers: impl Fn(&MovingFrame) -> [f64; N],
    ) -> PyResult<Py<PyArray2<f64>>> {
        let rows = names.iter().map(|name| {
            let motion = self.stepper.frame_motion(name);
            let motion = motion.map_err(|errors| PyKeyError::new_err(errors.to_string()))?;
            Ok(numbers(&motion).to_vec())
        });
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let filled = rows.into_iter().flatten().collect();
        Ok(PyArray1::from_vec(py, filled).reshape([names.len(), N])?.unbind())
    }
}

/// The stepper of a recipe at a state: how steppers are unpickled.
#[pyfunction]
pub fn _stepper_at(py: Python<'_>, recipe: Bound<'_, PyTuple>, state: &State) -> PyResult<Stepper> {
    let machine = py.get_type::<crate::machine::Machine>().call1(recipe)?;
    let stepper: Stepper = machine.cast::<crate::machine::Machine>()?.get().stepper(py)?;
    stepper.inner()?.go_to(py, &state.state)?;
    Ok(stepper)
}
