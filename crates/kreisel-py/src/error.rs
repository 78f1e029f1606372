//! Errors of the library as exceptions of the package, one class per stage, mapped here and nowhere else.

use crate::function::Failure;
use crate::guard::guarded;
use crate::nested;
use crate::stack::shortage;
use kreisel::integrate::{StartError, StepError};
use kreisel::machine::{self};
use kreisel::model::ModelErrors;
use kreisel::modes::ModesError;
use kreisel::results::WriteError;
use kreisel::run::RunError;
use kreisel::statics::StaticsError;
use kreisel::sweep::{MeasureError, SweepError};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// The classes, which are written in Python: `python/kreisel/_errors.py`.
#[allow(missing_docs, reason = "the macro makes types whose documentation is that of the Python classes")]
pub mod class {
    use pyo3::import_exception;

    import_exception!(kreisel._errors, Error);
    import_exception!(kreisel._errors, ModelError);
    import_exception!(kreisel._errors, StartError);
    import_exception!(kreisel._errors, StepError);
    import_exception!(kreisel._errors, StaticsError);
    import_exception!(kreisel._errors, ModesError);
    import_exception!(kreisel._errors, SweepError);
    import_exception!(kreisel._errors, WriteError);
    import_exception!(kreisel._errors, ArgumentError);
    import_exception!(kreisel._errors, InternalError);
}

/// Mistakes of a model, each with its line.
pub fn model(errors: &ModelErrors) -> PyErr {
    class::ModelError::new_err(errors.render(false))
}

/// A machine that cannot be started, with the lines of the parts to blame.
pub fn start(machine: &machine::Machine, error: &StartError) -> PyErr {
    class::StartError::new_err(machine.start_message(error))
}

/// A step that failed.
pub fn step(error: &StepError) -> PyErr {
    class::StepError::new_err(error.to_string())
}

/// An equilibrium that was not found.
pub fn statics(machine: &machine::Machine, error: &StaticsError) -> PyErr {
    match error {
        StaticsError::Start(error) => start(machine, &StartError::Initial(error.clone())),
        error => class::StaticsError::new_err(error.to_string()),
    }
}

/// Modes that were not found.
pub fn modes(error: &ModesError) -> PyErr {
    class::ModesError::new_err(error.to_string())
}

/// Files that could not be written, or records that there is no memory for.
pub fn write(error: &WriteError) -> PyErr {
    match error {
        WriteError::NoMemory { .. } => PyMemoryError::new_err(error.to_string()),
        error => class::WriteError::new_err(error.to_string()),
    }
}

/// Whatever ended a run in memory.
pub fn run(machine: &machine::Machine, error: &RunError) -> PyErr {
    match error {
        RunError::Settings(_) => match machine.plan() {
            Err(errors) => model(&errors),
            Ok(_) => class::ModelError::new_err(error.to_string()),
        },
        RunError::Start(error) => start(machine, error),
        RunError::Step(error) => step(error),
        RunError::Refused(error) => class::StepError::new_err(error.to_string()),
        RunError::Statics(error) => statics(machine, error),
        RunError::Modes(error) => modes(error),
        RunError::Write(error) => write(error),
        RunError::Checkpoint(error) => class::WriteError::new_err(error.to_string()),
        error => class::Error::new_err(error.to_string()),
    }
}

/// A sweep that makes no sense, or came to no end.
pub fn sweep(error: &SweepError) -> PyErr {
    match error {
        SweepError::NoMemory { .. } => PyMemoryError::new_err(error.to_string()),
        SweepError::Measure(MeasureError::Expression(error)) => {
            class::SweepError::new_err(error.render(false))
        }
        error => class::SweepError::new_err(format!("error: {error}")),
    }
}

/// An argument that makes no sense.
pub fn argument(words: impl Into<String>) -> PyErr {
    class::ArgumentError::new_err(words.into())
}

/// Refuses an array whose numbers do not lie where the processor reads them, as views into bytes of a file
/// may.
pub fn check_aligned(array: &Bound<'_, PyAny>) -> PyResult<()> {
    if array.getattr("flags")?.getattr("aligned")?.extract()? {
        return Ok(());
    }
    Err(argument("the array is not aligned in memory; make a copy of it"))
}

/// Stack of a thread that reads models: included files and expressions may nest.
const READING_STACK: usize = 16 << 20;

/// Reads something without the interpreter lock, on a thread whose stack is large enough whatever that of the
/// caller's is; see [`detached`].
pub fn reading<T: Send>(py: Python<'_>, failure: &Failure, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // Functions of the model may be asked for values here already.
    let depth = nested::depth();
    let work = || {
        nested::inherit(depth);
        work()
    };
    let threaded = || {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(READING_STACK);
            let started = thread.spawn_scoped(scope, || guarded(work));
            started.map(|running| running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    };
    let read = py.detach(threaded).map_err(|error| {
        PyMemoryError::new_err(format!("there is no thread to read the model on: {error}"))
    })?;
    match failure.take_endless(py) {
        Some(endless) => Err(endless),
        None => read.map_err(class::InternalError::new_err),
    }
}

/// Does something without the interpreter lock; a panic, which is a mistake of ours, becomes an exception.
///
/// What is done with the lock is guarded by PyO3, which raises its `PanicException`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if let Some(words) = shortage() {
        return Err(PyMemoryError::new_err(words));
    }
    py.detach(|| guarded(work)).map_err(class::InternalError::new_err)
}
