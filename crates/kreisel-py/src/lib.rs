//! The compiled half of the Python package `kreisel`: arguments in, arrays out, no physics.
//!
//! The half that users see is written in Python beside it (`python/kreisel/`). It turns builder calls into
//! the text of a model file and the arrays from here into results; so a model in Python means what the same
//! words mean in a file.

mod batch;
mod dynamics;
mod error;
mod function;
mod guard;
mod machine;
mod modes;
mod nested;
mod run;
mod source;
mod stack;
mod statics;
mod stepper;
mod sweep;

use kreisel::model::Document;
use kreisel::model::document::{MAX_FILE_SIZE, read_bytes};
use kreisel::part;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Names of the kinds of parts, as in a model file.
#[pyfunction]
fn kinds() -> Vec<&'static str> {
    part::kinds().iter().map(|kind| kind.name).collect()
}

/// The JSON Schema of model files.
#[pyfunction]
fn schema() -> String {
    kreisel::model::schema::schema(&part::kinds()).to_string()
}

/// The text of a model file; the exception says why it cannot be read, as the command does.
#[pyfunction]
fn read_text(path: PathBuf) -> PyResult<String> {
    let bytes = read_bytes(&path, MAX_FILE_SIZE).ok();
    if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        return Ok(text);
    }
    match Document::read(&path, &part::kinds(), &[]) {
        Err(errors) => Err(error::model(&errors)),
        // It was not there a moment ago.
        Ok(_) => Err(error::argument(format!("`{}` could not be read", path.display()))),
    }
}

/// Runs the command `kreisel` with these arguments, the program's name first, and tells its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| kreisel_cli::command::run(arguments))
}

/// The compiled half of the package.
#[pymodule]
fn _kreisel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(kinds, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(read_text, module)?)?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<run::Step>()?;
    module.add_class::<dynamics::Dynamics>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<stepper::State>()?;
    module.add_class::<stepper::Stepper>()?;
    module.add_class::<batch::Batch>()?;
    module.add_function(wrap_pyfunction!(stepper::_stepper_at, module)?)
}
