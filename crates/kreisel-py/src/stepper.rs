//! A machine that is stepped from Python.

use crate::error;
use crate::function::{Failure, Held};
use crate::run::{Interrupt, no_signal};
use kreisel::machine::{Machine, MovingFrame};
use kreisel::results::Channel;
use kreisel::run::{RunEnding, StepperState, StepperStateError};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

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
#[pyclass(module = "kreisel", name = "Stepper")]
pub struct Stepper {
    stepper: kreisel::run::Stepper,
    failure: Failure,
    held: Held,
    /// What its machine is made from, for copies in other processes.
    recipe: Py<PyTuple>,
}

impl Stepper {
    /// Starts a machine, which a recipe makes again.
    pub fn start(
        py: Python<'_>,
        machine: &Arc<Machine>,
        failure: &Failure,
        held: &Held,
        recipe: Py<PyTuple>,
    ) -> PyResult<Self> {
        let started = error::detached(py, || kreisel::run::Stepper::start(Arc::clone(machine)))?;
        let stepper =
            started.map_err(|error| failure.take().unwrap_or_else(|| error::run(machine, &error)))?;
        Ok(Self { stepper, failure: failure.clone(), held: held.clone(), recipe })
    }

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

    /// Values of some signals as one array; a vector gives its three components.
    fn values(&mut self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray1<f64>>> {
        self.take_inputs()?;
        let mut values = Vec::with_capacity(names.len());
        for name in &names {
            match self.one(name) {
                Some(value) => values.push(value),
                None => {
                    let vector = self.vector(name);
                    values.extend(vector.ok_or_else(|| PyKeyError::new_err(no_signal(name)))?);
                }
            }
        }
        Ok(PyArray1::from_vec(py, values).unbind())
    }

    /// Sets several inputs: numbers by name, or one for each input in the order of `inputs`.
    ///
    /// Nothing is set if one of them is wrong.
    fn set_inputs(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let inputs: Vec<(usize, f64)> = if values.hasattr("items")? {
            let pairs: Vec<(String, f64)> = values
                .call_method0("items")?
                .try_iter()?
                .map(|pair| pair?.extract())
                .collect::<PyResult<_>>()?;
            let input = |(name, value): &(String, f64)| Ok((self.input_of(name)?, checked(name, *value)?));
            pairs.iter().map(input).collect::<PyResult<_>>()?
        } else {
            let (values, names): (Vec<f64>, Vec<String>) = (values.extract()?, self.inputs());
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
        inputs.into_iter().for_each(|(input, value)| self.stepper.set_input(input, value));
        Ok(())
    }

    /// Names of the coordinates of all joints but drives.
    #[getter]
    fn coordinate_names(&self) -> Vec<String> {
        self.stepper.coordinate_names()
    }

    /// Coordinates of the joints in rad or m, in the order of `coordinate_names`.
    fn coordinates(&mut self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        self.take_inputs()?;
        Ok(PyArray1::from_vec(py, self.stepper.coordinates()).unbind())
    }

    /// Rates of the coordinates, in the same order.
    fn coordinate_rates(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        PyArray1::from_vec(py, self.stepper.coordinate_rates()).unbind()
    }

    /// Poses of bodies, markers and nodes of beams in the world, a row each: position x, y, z in m, and the
    /// unit quaternion w, x, y, z.
    fn poses(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray2<f64>>> {
        self.frames(py, &names, |frame| {
            let (at, q) = (frame.pose.position, frame.pose.rotation);
            [at.x, at.y, at.z, q.w, q.i, q.j, q.k]
        })
    }

    /// Velocities of bodies, markers and nodes of beams in world axes, a row each: angular velocity in rad/s,
    /// then velocity in m/s.
    fn velocities(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Py<PyArray2<f64>>> {
        self.frames(py, &names, |frame| {
            let (turn, go) = (frame.angular_velocity, frame.velocity);
            [turn.x, turn.y, turn.z, go.x, go.y, go.z]
        })
    }

    /// All that is needed to go on from here, to the same bits; a value that can be kept and pickled.
    fn state(&mut self) -> PyResult<State> {
        self.take_inputs()?;
        Ok(State { state: self.stepper.state() })
    }

    /// Goes to a state of this model with these settings, back in time or ahead.
    fn set_state(&mut self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.go_to(py, &state.state)
    }

    /// Goes back to the start; inputs have their initial values again.
    fn reset(&mut self, py: Python<'_>) -> PyResult<()> {
        let stepper = &mut self.stepper;
        error::detached(py, || stepper.reset())?.map_err(|error| unfit(&error))
    }

    /// Another stepper of the same machine at the same state, which goes its own way.
    fn copy(&mut self, py: Python<'_>) -> PyResult<Self> {
        let machine = Arc::clone(self.stepper.machine());
        let State { state } = self.state()?;
        let mut other = Self::start(py, &machine, &self.failure, &self.held, self.recipe.clone_ref(py))?;
        other.go_to(py, &state)?;
        Ok(other)
    }

    fn __copy__(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&mut self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __reduce__<'py>(&mut self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let again = py.import("kreisel._kreisel")?.getattr("_stepper_at")?;
        Ok((again, (self.recipe.clone_ref(py), self.state()?)))
    }

    /// Value of a signal or of an input; of a vector, `"top.position"`, an array of three.
    fn __getitem__<'py>(&mut self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.take_inputs()?;
        if let Some(value) = self.one(name) {
            return Ok(value.into_pyobject(py)?.into_any());
        }
        let vector = self.vector(name).ok_or_else(|| PyKeyError::new_err(no_signal(name)))?;
        Ok(PyArray1::from_slice(py, &vector).into_any())
    }

    /// Sets an input; it keeps its value until it is set again. The next step or reading refuses what the
    /// machine cannot go on with, and the values before stay.
    fn __setitem__(&mut self, name: &str, value: f64) -> PyResult<()> {
        let (input, value) = (self.input_of(name)?, checked(name, value)?);
        self.stepper.set_input(input, value);
        Ok(())
    }

    /// Shows the collector of circles the functions that the machine calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.recipe)?;
        // Where somebody else has the machine, too, they are not this stepper's alone.
        if Arc::strong_count(self.stepper.machine()) == 1 { self.held.traverse(&visit) } else { Ok(()) }
    }

    fn __clear__(&mut self) {
        self.held.clear();
        self.recipe = Python::attach(|py| PyTuple::empty(py).unbind());
    }

    fn __repr__(&self) -> String {
        format!("<kreisel.Stepper at {} s>", self.stepper.time())
    }
}

impl Stepper {
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
    let mut stepper: Stepper = machine.cast::<crate::machine::Machine>()?.get().stepper(py)?;
    stepper.go_to(py, &state.state)?;
    Ok(stepper)
}
