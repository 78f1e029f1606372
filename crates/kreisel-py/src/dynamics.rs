//! The dynamics of a machine as functions of its coordinates: states in, arrays out, many at once.

use crate::error;
use crate::function::Failure;
use crate::nested;
use crate::run::{Interrupt, PATIENCE};
use crate::source::Source;
use kreisel::machine::LedError;
use kreisel::run::{self, DynamicsError, Evaluator};
use numpy::{PyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;

/// The dynamics of a machine in the coordinates of its joints.
///
/// `Model.dynamics` makes it.
#[pyclass(module = "kreisel._kreisel", name = "Dynamics", frozen)]
pub struct Dynamics {
    dynamics: Arc<run::Dynamics>,
    failure: Failure,
}

/// What is asked at a state.
#[derive(Clone, Copy)]
enum Asked {
    Mass,
    Inverse,
    Forward,
    Reactions,
    Energies,
    Jacobian,
    Pose,
    Velocity,
    BodyMass,
    Constraints,
    Signals,
}

/// The questions by their words.
const ASKED: [(&str, Asked); 11] = [
    ("mass", Asked::Mass),
    ("inverse", Asked::Inverse),
    ("forward", Asked::Forward),
    ("reactions", Asked::Reactions),
    ("energies", Asked::Energies),
    ("jacobian", Asked::Jacobian),
    ("pose", Asked::Pose),
    ("velocity", Asked::Velocity),
    ("body-mass", Asked::BodyMass),
    ("constraints", Asked::Constraints),
    ("signals", Asked::Signals),
];

#[pymethods]
impl Dynamics {
    /// Reads a model as `Machine` does; `coordinates` are names of those that say how it moves, or as many of
    /// all as are independent.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "the parts of a model, and the coordinates")]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        path: Option<std::path::PathBuf>,
        parameters: Vec<(String, String)>,
        settings: std::collections::HashMap<String, String>,
        functions: crate::function::Given,
        coordinates: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let (source, failure) = Source::new(name, text, path, parameters, settings, functions)?;
        // Only what is small comes back to the caller's stack.
        let read = || -> Result<Arc<run::Dynamics>, Box<LedError>> {
            Ok(Arc::new(run::Dynamics::new(source.led(coordinates.as_deref())?)))
        };
        let made = error::reading(py, &failure, read)?;
        // What functions say of where the machine is drawn counts only if that is why there is none.
        let raised = failure.take();
        match made.map_err(|error| *error) {
            Ok(dynamics) => Ok(Self { dynamics, failure }),
            Err(LedError::Model(errors)) => Err(raised.unwrap_or_else(|| error::model(&errors))),
            Err(error) => Err(raised.unwrap_or_else(|| error::argument(error.to_string()))),
        }
    }

    /// Names of the coordinates.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.dynamics.led().coordinates().iter().map(|coordinate| coordinate.name.clone()).collect()
    }

    /// Names of the joints, in the order of reactions.
    #[getter]
    fn joints(&self) -> Vec<String> {
        self.dynamics.joint_names()
    }

    /// Names of the bodies, in the order of the velocity coordinates.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.dynamics.node_names()
    }

    /// Names and units of what the machine records.
    #[getter]
    fn signals(&self) -> Vec<(String, String)> {
        let channels = self.dynamics.machine().signals().channels();
        channels.into_iter().map(|channel| (channel.name, channel.unit)).collect()
    }

    /// Names and initial values of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<(String, f64)> {
        self.dynamics.machine().inputs().iter().map(|input| (input.name.clone(), input.value)).collect()
    }

    /// Asks one thing at each of some states, which stand in the rows of arrays; on all cores without the
    /// interpreter's lock if there are several. Gives the numbers of all states and the shape for one of them.
    /// Ctrl-C and exceptions of functions end it.
    #[allow(clippy::too_many_arguments, reason = "the parts of a state")]
    fn ask(
        &self,
        py: Python<'_>,
        asked: &str,
        coordinates: PyReadonlyArrayDyn<'_, f64>,
        rates: Option<PyReadonlyArrayDyn<'_, f64>>,
        third: Option<PyReadonlyArrayDyn<'_, f64>>,
        inputs: Vec<f64>,
        frame: Option<&str>,
    ) -> PyResult<(Py<PyArray1<f64>>, Vec<usize>)> {
        let known = ASKED.iter().find(|(word, _)| *word == asked);
        let (_, asked) = known.ok_or_else(|| error::argument(format!("nothing is called `{asked}`")))?;
        let count = self.dynamics.count();
        let rows = |array: &PyReadonlyArrayDyn<'_, f64>| -> PyResult<Vec<f64>> {
            error::check_aligned(array)?;
            Ok(array.as_slice().map_err(|_| error::argument("the array must be contiguous"))?.to_vec())
        };
        if coordinates.shape().len() != 2 || coordinates.shape()[1] != count {
            return Err(error::argument(format!("a state needs {count} coordinates")));
        }
        let states = coordinates.shape()[0];
        let coordinates = rows(&coordinates)?;
        let other = |array: Option<PyReadonlyArrayDyn<'_, f64>>| -> PyResult<Vec<f64>> {
            let numbers = array.as_ref().map(rows).transpose()?;
            let numbers = numbers.unwrap_or_else(|| vec![0.0; coordinates.len()]);
            if numbers.len() != coordinates.len() {
                return Err(error::argument(format!("a state needs {count} numbers of each kind")));
            }
            Ok(numbers)
        };
        let (rates, third) = (other(rates)?, other(third)?);
        if inputs.len() != self.dynamics.machine().inputs().len() {
            return Err(error::argument("one number is needed for each input"));
        }
        let frame = match frame.map(|name| self.dynamics.frame(name)) {
            None => None,
            Some(Ok(frame)) => Some(frame),
            Some(Err(error)) => return Err(PyKeyError::new_err(error.to_string())),
        };
        let row = |numbers: &[f64], state: usize| numbers[state * count..(state + 1) * count].to_vec();
        let begin = || {
            let mut at = self.dynamics.evaluator();
            at.set_inputs(&inputs);
            at
        };
        let evaluate = |at: &mut Evaluator<'_>, state: usize| -> Result<Answer, DynamicsError> {
            at.set_state(&row(&coordinates, state), &row(&rates, state))?;
            answer(at, *asked, &row(&third, state), frame.as_ref())
        };
        // Those that are left out because something was raised are nothing.
        let all = |is_over: &AtomicBool| -> Vec<Option<Result<Answer, DynamicsError>>> {
            let is_over = || is_over.load(Ordering::Relaxed) || self.failure.is_some();
            let begun = || (!is_over()).then(&begin);
            let one = |at: &mut Option<Evaluator<'_>>, state: usize| {
                at.as_mut().filter(|_| !is_over()).map(|at| evaluate(at, state))
            };
            (0..states).into_par_iter().map_init(begun, one).collect()
        };
        let found = loop {
            let (found, interrupted) = error::detached(py, || match states {
                1 => (vec![Some(evaluate(&mut begin(), 0))], None),
                _ => interruptible(all),
            })?;
            let raised = self.failure.take();
            if let Some(error) = interrupted.or(raised) {
                return Err(error);
            }
            // Another thread may have taken the exception, which was its own.
            if let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() {
                break found;
            }
        };
        let (mut numbers, mut shape) = (Vec::new(), Vec::new());
        for (state, found) in found.into_iter().enumerate() {
            let (more, size) = found.map_err(|error| match states {
                1 => error::argument(error.to_string()),
                _ => error::argument(format!("state {state}: {error}")),
            })?;
            numbers.extend(more);
            shape = size;
        }
        Ok((PyArray1::from_vec(py, numbers).unbind(), shape))
    }
}

/// Numbers in rows, and their shape.
type Answer = (Vec<f64>, Vec<usize>);

/// Does something on another thread, while this one, on which alone Python handles signals, waits for Ctrl-C; then
/// it tells the other one that it is over.
pub fn interruptible<T: Send>(work: impl FnOnce(&AtomicBool) -> T + Send) -> (T, Option<PyErr>) {
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let (is_over, depth) = (AtomicBool::new(false), nested::depth());
    let (mut interrupt, mut interrupted) = (Interrupt::new(), None);
    let done = std::thread::scope(|scope| {
        let working = scope.spawn(|| {
            // Nothing is sent: that it is gone tells that the work is done.
            let _tell = tell;
            nested::spread(depth, || work(&is_over))
        });
        while interrupted.is_none() && told.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            interrupted = interrupt.check();
            is_over.store(interrupted.is_some(), Ordering::Relaxed);
        }
        working.join()
    });
    match done {
        Ok(done) => (done, interrupted),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What is asked at a state, as numbers in rows, and their shape.
fn answer(
    at: &mut Evaluator<'_>,
    asked: Asked,
    third: &[f64],
    frame: Option<&kreisel::machine::NamedFrame>,
) -> Result<Answer, DynamicsError> {
    let matrix = |matrix: nalgebra::DMatrix<f64>| {
        let shape = vec![matrix.nrows(), matrix.ncols()];
        (matrix.transpose().as_slice().to_vec(), shape)
    };
    let list = |numbers: Vec<f64>| {
        let shape = vec![numbers.len()];
        (numbers, shape)
    };
    let ground = kreisel::machine::NamedFrame { node: None, offset: kreisel::lie::Pose::identity() };
    let frame = frame.unwrap_or(&ground);
    Ok(match asked {
        Asked::Mass => matrix(at.mass_matrix()?),
        Asked::Inverse => list(at.inverse(third)?.forces),
        Asked::Forward => list(at.forward(third)?),
        Asked::Reactions => {
            let reactions = at.inverse(third)?.reactions;
            let shape = vec![reactions.len(), 6];
            (reactions.into_iter().flatten().collect(), shape)
        }
        Asked::Energies => {
            let energies = at.energies();
            list(vec![energies.kinetic, energies.potential, energies.strain])
        }
        Asked::Jacobian => matrix(at.jacobian(frame)?),
        Asked::Pose => {
            let pose = at.frame_motion(frame).pose;
            let (x, q) = (pose.position, pose.rotation);
            list(vec![x.x, x.y, x.z, q.w, q.i, q.j, q.k])
        }
        Asked::Velocity => {
            let motion = at.frame_motion(frame);
            let (turn, go) = (motion.angular_velocity, motion.velocity);
            list(vec![turn.x, turn.y, turn.z, go.x, go.y, go.z])
        }
        Asked::BodyMass => matrix(at.body_mass_matrix()),
        Asked::Constraints => matrix(at.constraint_jacobian()),
        Asked::Signals => list(at.signals(third)?),
    })
}
