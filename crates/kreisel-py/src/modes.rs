//! Small motions of a machine as arrays.

use crate::error;
use crate::function::Failure;
use kreisel::kinematics::NodeId;
use kreisel::machine::Machine;
use kreisel::modes::ModeSettings;
use kreisel::run::{About, RunError};
use kreisel::solve::block::BlockMatrix;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers of an array and its two sizes.
type Matrix = Py<PyArray2<f64>>;

/// Real and imaginary parts of the eigenvalues, of the shapes (coordinates × modes), the part that moves most
/// with its share, the residuals, how many of the last modes are overdamped, the names of the coordinates,
/// the linearised matrices by name, and notes as JSON.
pub type ModesOutcome = (
    [Py<PyArray1<f64>>; 2],
    [Matrix; 2],
    Vec<(String, f64)>,
    (Py<PyArray1<f64>>, usize),
    Vec<String>,
    HashMap<&'static str, Matrix>,
    String,
);

/// Finds the slowest modes about the initial state or the equilibrium.
pub fn find_modes(
    py: Python<'_>,
    machine: &Arc<Machine>,
    about: &str,
    count: usize,
    functions: &Failure,
) -> PyResult<ModesOutcome> {
    let about = match about {
        "initial" => About::Initial,
        "static" => About::Static,
        _ => {
            return Err(error::argument(format!(
                "`about` must be \"initial\" or \"static\", not \"{about}\""
            )));
        }
    };
    let settings = ModeSettings { count };
    let found = error::detached(py, || machine.modes(about, settings))?;
    let found =
        found.map_err(|error: RunError| functions.take().unwrap_or_else(|| error::run(machine, &error)))?;
    let modes: Vec<_> = found.modes.iter().chain(&found.overdamped).cloned().collect();
    let modes = &modes;
    let vector = |part: fn(&kreisel::modes::Mode) -> f64| {
        PyArray1::from_vec(py, modes.iter().map(part).collect()).unbind()
    };
    let names = machine.coordinate_names();
    let shapes = |is_real: bool| {
        let entry = |row: usize, mode: &kreisel::modes::Mode| {
            if is_real { mode.shape[row].re } else { mode.shape[row].im }
        };
        let rows = 0..names.len();
        let numbers = rows.flat_map(|row| modes.iter().map(move |mode| entry(row, mode))).collect();
        matrix(py, numbers, [names.len(), modes.len()])
    };
    let dominant = modes.iter().map(|mode| {
        let node = mode.dominant_node();
        let name = machine.system().node_name(NodeId(node)).to_owned();
        (name, mode.shares.get(node).copied().unwrap_or(0.0))
    });
    let linearized = &found.linearized;
    let matrices = HashMap::from([
        ("mass", dense(py, &linearized.mass)?),
        ("damping", dense(py, &linearized.damping)?),
        ("stiffness", dense(py, &linearized.stiffness)?),
        ("gradient", dense(py, &linearized.gradient)?),
    ]);
    Ok((
        [vector(|mode| mode.eigenvalue.re), vector(|mode| mode.eigenvalue.im)],
        [shapes(true)?, shapes(false)?],
        dominant.collect(),
        (vector(|mode| mode.residual), found.overdamped.len()),
        names.clone(),
        matrices,
        serde_json::to_string(&found.notes.into_iter().collect::<Vec<_>>())
            .expect("all keys of a note are text"),
    ))
}

fn matrix(py: Python<'_>, numbers: Vec<f64>, sizes: [usize; 2]) -> PyResult<Matrix> {
    Ok(PyArray1::from_vec(py, numbers).reshape(sizes)?.unbind())
}

fn dense(py: Python<'_>, blocks: &BlockMatrix) -> PyResult<Matrix> {
    let dense = blocks.to_dense();
    let sizes = [dense.nrows(), dense.ncols()];
    // Rows first, as NumPy has them.
    matrix(py, dense.transpose().as_slice().to_vec(), sizes)
}
