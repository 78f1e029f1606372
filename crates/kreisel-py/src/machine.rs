//! A machine that was read from the text of a model.

use crate::error;
use crate::function::{Failure, Given, Held};
use crate::modes::{ModesOutcome, find_modes};
use crate::run::{Outcome, RunRequest, run};
use crate::source::Source;
use crate::statics::{StaticOutcome, StaticRequest, find_equilibrium};
use crate::stepper::Stepper;
use kreisel::machine::{self, SignalId};
use kreisel::model::ModelErrors;
use kreisel::results::{Channel, ModelIdentity, NodeState, RunSummary, WriteError};
use kreisel::run::ResultFiles;
use kreisel::run::{Record, Sink};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// A checked model, ready to be run.
#[pyclass(module = "kreisel._kreisel", frozen)]
pub struct Machine {
    machine: Arc<machine::Machine>,
    signals: Arc<HashMap<String, SignalId>>,
    identity: ModelIdentity,
    parameters: BTreeMap<String, f64>,
    failure: Failure,
    held: Held,
    /// Whether the model calls functions.
    has_functions: bool,
    /// Whether an end time was given to it, beside the model's own.
    has_end: bool,
    /// The arguments of which it was made.
    recipe: Py<PyTuple>,
}

impl Machine {
    /// The machine with the functions that it calls.
    pub fn parts(&self) -> (&Arc<machine::Machine>, &Failure, &Held) {
        (&self.machine, &self.failure, &self.held)
    }
}

#[pymethods]
impl Machine {
    /// Reads a model: its name in messages, its text, the file it stands for (so that it can include others),
    /// parameters and settings that replace its own, and the functions it calls.
    #[new]
    #[pyo3(signature = (name, text, path, parameters, settings, functions, initial=Vec::new()))]
    #[allow(clippy::too_many_arguments, reason = "the parts of a model")]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        path: Option<PathBuf>,
        parameters: Vec<(String, String)>,
        settings: HashMap<String, String>,
        functions: Given,
        initial: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let (has_functions, has_end) = (!functions.is_empty(), settings.contains_key("end_time"));
        let given = functions.iter().map(|(name, (function, slopes))| {
            let slopes = slopes.as_ref().map(|slopes| slopes.clone_ref(py));
            (name.clone(), (function.clone_ref(py), slopes))
        });
        let given: Given = given.collect();
        let recipe =
            (&name, &text, &path, &parameters, &settings, given, &initial).into_pyobject(py)?.unbind();
        let (source, failure) = Source::new(name, text, path, parameters, settings, functions)?;
        let source = source.with_initial(initial);
        let (identity, held) = (source.identity(), source.held.clone());
        // Only what is small comes back to the caller's stack.
        let read = || -> Result<_, Box<ModelErrors>> {
            let document = source.document(&[])?;
            let machine = Arc::new(source.assemble(&document)?);
            let signals = Arc::new(machine.signal_ids());
            Ok((machine, signals, document.parameters().clone()))
        };
        let read = error::reading(py, &failure, read)?;
        let (machine, signals, parameters) = read.map_err(|errors| error::model(&errors))?;
        Ok(Self { machine, signals, identity, parameters, failure, held, has_functions, has_end, recipe })
    }

    /// The title of the model.
    #[getter]
    fn title(&self) -> &str {
        self.machine.title()
    }

    /// Names and units of the signals.
    #[getter]
    fn channels(&self) -> Vec<(String, String)> {
        let pair = |channel: Channel| (channel.name, channel.unit);
        self.machine.channels().into_iter().map(pair).collect()
    }

    /// Parameters of the model and their values.
    #[getter]
    fn parameters(&self) -> BTreeMap<String, f64> {
        self.parameters.clone()
    }

    /// Inputs of the model and their initial values.
    #[getter]
    fn inputs(&self) -> Vec<(String, f64)> {
        self.machine.inputs().iter().map(|input| (input.name.clone(), input.value)).collect()
    }

    /// What looks like a mistake but is not one.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.machine.notes().texts()
    }

    /// What was assumed because the model does not say it.
    #[getter]
    fn assumptions(&self) -> Vec<String> {
        self.machine.assumptions().to_vec()
    }

    /// Runs the machine from its start to its end, and into a folder if one is given.
    fn simulate(
        &self,
        py: Python<'_>,
        observer: Option<Py<PyAny>>,
        motion: bool,
        folder: Option<PathBuf>,
        force: bool,
    ) -> PyResult<Outcome> {
        let request = RunRequest { observer, motion, folder, force, has_functions: self.has_functions };
        run(py, &self.machine, &self.signals, &self.identity, request, &self.failure)
    }

    /// Finds the equilibrium under the loads at the start time.
    fn equilibrium(
        &self,
        py: Python<'_>,
        factor: f64,
        load_steps: usize,
        arc_length: bool,
        points: usize,
        path_step: Option<f64>,
    ) -> PyResult<StaticOutcome> {
        let request = StaticRequest { factor, load_steps, arc_length, points, path_step };
        find_equilibrium(py, &self.machine, &self.identity, &request, &self.failure)
    }

    /// Finds the slowest modes about the initial state or the equilibrium.
    fn modes(&self, py: Python<'_>, about: &str, count: usize) -> PyResult<ModesOutcome> {
        find_modes(py, &self.machine, about, count, &self.failure)
    }

    /// Names of the beams.
    #[getter]
    fn beams(&self) -> Vec<String> {
        self.machine.frames().beams().iter().map(|beam| beam.name.clone()).collect()
    }

    /// For each node of a beam the place of its numbers in the motion, none for one on the ground, and where it
    /// stands in that frame.
    fn beam_nodes(&self, beam: &str) -> Vec<(Option<usize>, [f64; 3])> {
        let frame = |index: usize| self.machine.frames().frame(&format!("{beam}.node-{index}")).ok();
        let place =
            |frame: machine::NamedFrame| (frame.node.map(|node| node.0), frame.offset.position.into());
        (0..).map_while(frame).map(place).collect()
    }

    /// Starts the machine to be stepped from outside.
    pub fn stepper(&self, py: Python<'_>) -> PyResult<Stepper> {
        let end = if self.has_end { self.machine.plan().ok().map(|plan| plan.end_time) } else { None };
        let made_from = (self.recipe.clone_ref(py), end);
        Stepper::start(py, &self.machine, &self.failure, &self.held, made_from)
    }

    /// Writes a run of this machine that is in memory into a folder, by the same files as a run into it;
    /// gives their paths.
    #[allow(clippy::too_many_arguments, reason = "the parts of a result, which Python keeps apart")]
    fn save(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        force: bool,
        is_static: bool,
        times: PyReadonlyArray1<'_, f64>,
        columns: Vec<PyReadonlyArray1<'_, f64>>,
        nodes: PyReadonlyArray1<'_, f64>,
        summary: &str,
    ) -> PyResult<Vec<PathBuf>> {
        let Some(mut summary) = RunSummary::from_json(summary.as_bytes()) else {
            return Err(error::argument("this is no summary of a run"));
        };
        columns.iter().chain([&times, &nodes]).try_for_each(|array| error::check_aligned(array))?;
        let contiguous = |_| error::argument("the arrays of a result must be contiguous");
        let columns = columns.iter().map(|column| column.as_slice()).collect::<Result<Vec<_>, _>>();
        let (times, columns) = (times.as_slice().map_err(contiguous)?, columns.map_err(contiguous)?);
        let table = Table { times, columns, nodes: nodes.as_slice().map_err(contiguous)? };
        table.check(&self.machine)?;
        let write = || -> Result<Vec<PathBuf>, WriteError> {
            let (machine, identity) = (&self.machine, self.identity.clone());
            let files = if is_static {
                ResultFiles::begin_static(&folder, identity, force, machine)?
            } else {
                ResultFiles::begin(&folder, identity, force, machine)?
            };
            table.write(files)?.finish(&mut summary, !is_static)
        };
        error::detached(py, write)?.map_err(|error| error::write(&error))
    }
}

/// Numbers of a node in the flat form of a result.
pub const NODE_NUMBERS: usize = 13;

/// A result as its arrays.
struct Table<'a> {
    times: &'a [f64],
    columns: Vec<&'a [f64]>,
    nodes: &'a [f64],
}

impl Table<'_> {
    fn check(&self, machine: &machine::Machine) -> PyResult<()> {
        let rows = self.times.len();
        let node_numbers = rows * machine.system().node_count() * NODE_NUMBERS;
        let fits = self.columns.len() == machine.channels().len()
            && self.columns.iter().all(|column| column.len() == rows)
            && self.nodes.len() == node_numbers;
        if fits { Ok(()) } else { Err(error::argument("these arrays are not those of a run of this model")) }
    }

    fn write<'f>(&self, mut files: ResultFiles<'f>) -> Result<ResultFiles<'f>, WriteError> {
        let per_row = self.nodes.len() / self.times.len().max(1);
        let mut values = vec![0.0; self.columns.len()];
        for (row, &time) in self.times.iter().enumerate() {
            values.iter_mut().zip(&self.columns).for_each(|(value, column)| *value = column[row]);
            let numbers = &self.nodes[row * per_row..(row + 1) * per_row];
            let nodes: Vec<NodeState> = numbers.chunks_exact(NODE_NUMBERS).map(node_state).collect();
            files.push(&Record { time, values: &values, nodes: &nodes })?;
        }
        Ok(files)
    }
}

fn node_state(numbers: &[f64]) -> NodeState {
    let three = |first: usize| [numbers[first], numbers[first + 1], numbers[first + 2]];
    NodeState {
        position: three(0),
        rotation: [numbers[3], numbers[4], numbers[5], numbers[6]],
        velocity: three(7),
        angular_velocity: three(10),
    }
}

/// A node in the flat form of a result.
pub fn node_numbers(node: &NodeState) -> [f64; NODE_NUMBERS] {
    let mut numbers = [0.0; NODE_NUMBERS];
    let parts =
        node.position.iter().chain(&node.rotation).chain(&node.velocity).chain(&node.angular_velocity);
    numbers.iter_mut().zip(parts).for_each(|(number, part)| *number = *part);
    numbers
}
