//! Many runs of one model, on the cores of this computer or in batches for those of others.

use crate::error;
use crate::function::{Failure, Given};
use crate::nested;
use crate::source::Source;
use kreisel::sweep::{self, Journal, Outcome, Request, Sampling, Study, SweepRow, SweepSummary};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// What runs gave: for each point whether it is done, its measures one after the other, the reasons of those
/// that failed, how many were taken over from a journal, and the exception that ended the sweep, if one did.
type Runs = (Vec<bool>, Py<PyArray1<f64>>, Vec<(usize, String)>, usize, Option<Py<PyAny>>);

/// Runs of a journal: numbers, measures one after the other, reasons by number.
type Kept = (Vec<usize>, Py<PyArray1<f64>>, HashMap<usize, String>);

/// A sweep that was checked against its model.
#[pyclass(module = "kreisel._kreisel", frozen)]
pub struct Sweep {
    source: Source,
    study: Study,
    points: OnceLock<Vec<Vec<f64>>>,
    failure: Failure,
}

#[pymethods]
impl Sweep {
    /// Reads a model as `Machine` does, and what varies (`mass=10:20:8`), what is measured (`peak =
    /// max(top.position.z)`), how many samples are taken and how; a grid without their number.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "a model and a request, which Python keeps apart")]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        path: Option<PathBuf>,
        parameters: Vec<(String, String)>,
        settings: HashMap<String, String>,
        functions: Given,
        variations: Vec<String>,
        measures: Vec<String>,
        sample: Option<usize>,
        sampling: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let sampling = self::sampling(sample, sampling, seed)?;
        let (source, failure) = Source::new(name, text, path, parameters, settings, functions)?;
        let request = Request { variations, measures, sampling, settings: source.changes() };
        let study = error::reading(py, &failure, || -> PyResult<Study> {
            let model = |errors| error::model(&errors);
            let machine = source.assemble(&source.document(&[]).map_err(model)?).map_err(model)?;
            let document = source.own_document().map_err(model)?;
            machine.plan().map_err(model)?;
            Study::new(&document, &machine, request).map_err(|error| error::sweep(&error))
        })??;
        Ok(Self { source, study, points: OnceLock::new(), failure })
    }

    /// Number of runs.
    fn count(&self) -> PyResult<usize> {
        Ok(self.all_points()?.len())
    }

    /// Names of what varies, with units in brackets, and of what is measured.
    #[getter]
    fn columns(&self) -> (Vec<String>, Vec<String>) {
        let variations = self.study.variations.iter().map(sweep::Variation::column).collect();
        (variations, self.study.measures.iter().map(|measure| measure.name.clone()).collect())
    }

    /// What the sweep is, as JSON: runs of another one are not taken over.
    #[getter]
    fn identity(&self) -> String {
        serde_json::to_string(&self.study.identity).expect("texts have a form in JSON")
    }

    /// Values of what varies for the runs from `start` to before `stop`, one after the other.
    fn points(&self, py: Python<'_>, start: usize, stop: usize) -> PyResult<Py<PyArray1<f64>>> {
        let all = self.all_points()?;
        let chosen = all.get(start..stop).ok_or_else(|| error::argument("there are fewer runs than that"))?;
        Ok(PyArray1::from_vec(py, chosen.concat()).unbind())
    }

    /// Runs all points on `threads` threads (all cores if zero). With a `journal` finished runs are kept
    /// there and taken over from there; `progress` is called with the number of finished runs, now and then.
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        journal: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        self.execute(py, self.all_points()?, threads, journal, progress)
    }

    /// Runs these points, a row each, on one thread.
    fn batch(&self, py: Python<'_>, points: PyReadonlyArray2<'_, f64>) -> PyResult<Runs> {
        let points = self.rows_of(&points)?;
        self.execute(py, &points, 1, None, None)
    }

    /// Runs in a journal, which is begun if there is none: numbers, measures one after the other, reasons by
    /// number.
    fn kept(&self, py: Python<'_>, journal: PathBuf) -> PyResult<Kept> {
        let count = self.all_points()?.len();
        let (_, rows) = Journal::open(&journal, &self.study.identity, count)
            .map_err(|error| error::sweep(&error.into()))?;
        let numbers = rows.iter().flat_map(|row| row.measures.iter().copied()).collect();
        let reason = |row: &SweepRow| Some((row.run, reason(&row.outcome)?));
        let reasons = rows.iter().filter_map(reason).collect();
        Ok((rows.iter().map(|row| row.run).collect(), PyArray1::from_vec(py, numbers).unbind(), reasons))
    }

    /// The text of `sweep.json`, for files of these names with their CRC-32 in eight hexadecimal digits.
    fn summary(&self, failed: usize, crc32: BTreeMap<String, String>) -> PyResult<String> {
        let summary = SweepSummary::new(&self.study.identity, self.count()?, failed);
        Ok(SweepSummary { crc32, ..summary }.to_json())
    }

    /// The first line of the table.
    fn head(&self) -> String {
        sweep::head(&self.study.variations, &self.study.measures)
    }

    /// Lines of the table for some runs with their measures; runs with a reason failed.
    fn lines(
        &self,
        runs: Vec<usize>,
        measures: PyReadonlyArray2<'_, f64>,
        mut reasons: HashMap<usize, String>,
    ) -> PyResult<String> {
        let points = self.all_points()?;
        error::check_aligned(&measures)?;
        let (measures, width) = (measures.as_array(), self.study.measures.len());
        if measures.dim() != (runs.len(), width) || runs.iter().any(|run| *run >= points.len()) {
            return Err(error::argument("these measures are not those of the runs"));
        }
        let row = |(&run, numbers): (&usize, numpy::ndarray::ArrayView1<'_, f64>)| {
            let outcome = reasons.remove(&run).map_or(Outcome::Done, Outcome::Failed);
            SweepRow { run, measures: numbers.to_vec(), outcome }
        };
        let rows: Vec<SweepRow> = runs.iter().zip(measures.rows()).map(row).collect();
        Ok(sweep::lines(rows.iter().map(|row| (row, points[row.run].as_slice()))))
    }

    /// Values of what varies at parts, from 0 to 1, of its ranges.
    fn values(&self, parts: Vec<f64>) -> PyResult<Vec<f64>> {
        if parts.len() != self.study.variations.len() {
            return Err(error::argument("there must be one number for each parameter that varies"));
        }
        Ok(self.study.variations.iter().zip(parts).map(|(variation, part)| variation.at(part)).collect())
    }

    /// The part, from 0 to 1, of its range at which a parameter has a value; none if it has a list.
    fn part(&self, name: &str, value: f64) -> Option<f64> {
        self.study.variations.iter().find(|variation| variation.name == name)?.part(value)
    }

    /// Paths of the files that the model needs beside its own.
    fn other_files(&self) -> PyResult<Vec<PathBuf>> {
        Ok(self.source.own_document().map_err(|errors| error::model(&errors))?.other_files())
    }
}

impl Sweep {
    fn all_points(&self) -> PyResult<&[Vec<f64>]> {
        if self.points.get().is_none() {
            let points = self.study.points().map_err(|error| error::sweep(&error))?;
            let _ = self.points.set(points);
        }
        Ok(self.points.get().map_or(&[], Vec::as_slice))
    }

    fn rows_of(&self, points: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Vec<f64>>> {
        error::check_aligned(points)?;
        let points = points.as_array();
        if points.ncols() != self.study.variations.len() {
            let wanted = self.study.variations.len();
            return Err(error::argument(format!("a point has {wanted} numbers, not {}", points.ncols())));
        }
        Ok(points.rows().into_iter().map(|row| row.to_vec()).collect())
    }

    fn execute(
        &self,
        py: Python<'_>,
        points: &[Vec<f64>],
        threads: usize,
        journal: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        let opened = journal.map(|path| Journal::open(&path, &self.study.identity, points.len())).transpose();
        let opened = opened.map_err(|error| error::sweep(&error.into()))?;
        let (journal, mut rows) = opened.map_or((None, Vec::new()), |(journal, rows)| (Some(journal), rows));
        let taken_over = rows.len();
        let done = AtomicUsize::new(taken_over);
        let stop = self.failure.flag();
        let watch = || progress.as_ref().map_or(Ok(()), |call| tell(call, done.load(Ordering::Relaxed)));
        let depth = nested::depth();
        // Within a run there is no more than one at a time: each of many could begin as many again.
        let threads = if depth > 0 { 1 } else { threads };
        let build = |given: &[(&str, &str)]| {
            nested::inherit(depth);
            self.source.assemble(&self.source.document(given)?)
        };
        let plan = self.study.plan(&build, points);
        let ended = error::detached(py, || {
            // The runs have a thread of their own: this one listens for Ctrl-C, which Python tells its main
            // thread only.
            std::thread::scope(|scope| {
                let (told, end) = mpsc::channel::<()>();
                let (rows, plan, done) = (&mut rows, &plan, &done);
                let runs = scope.spawn(move || {
                    let _told = told;
                    let each = || {
                        done.fetch_add(1, Ordering::Relaxed);
                    };
                    plan.run_missing(journal, rows, threads, stop, &each)
                });
                let mut interrupted = None;
                // The channel closes with the last run.
                while let Err(mpsc::RecvTimeoutError::Timeout) = end.recv_timeout(PATIENCE) {
                    let heard = Python::attach(|py| py.check_signals()).and_then(|()| watch());
                    if let (None, Err(error)) = (&interrupted, heard) {
                        interrupted = Some(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                let ended = runs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (ended.map_err(|error| error::sweep(&error)), interrupted)
            })
        });
        let raised = self.failure.take();
        let (outcome, interrupted) = ended?;
        let failure = outcome.err().or(interrupted).or(raised);
        if failure.is_none() {
            watch()?;
        }
        Ok(self.gathered(py, points.len(), rows, taken_over, failure))
    }

    fn gathered(
        &self,
        py: Python<'_>,
        count: usize,
        rows: Vec<SweepRow>,
        taken_over: usize,
        failure: Option<PyErr>,
    ) -> Runs {
        let width = self.study.measures.len();
        let (mut is_done, mut measures) = (vec![false; count], vec![f64::NAN; count * width]);
        let mut reasons = Vec::new();
        for row in rows {
            is_done[row.run] = true;
            measures[row.run * width..(row.run + 1) * width].copy_from_slice(&row.measures);
            reasons.extend(reason(&row.outcome).map(|reason| (row.run, reason)));
        }
        reasons.sort_unstable();
        let failure = failure.map(|failure| failure.into_value(py).into_any());
        (is_done, PyArray1::from_vec(py, measures).unbind(), reasons, taken_over, failure)
    }
}

/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

fn tell(progress: &Py<PyAny>, done: usize) -> PyResult<()> {
    Python::attach(|py| progress.call1(py, (done,)).map(|_| ()))
}

fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Done => None,
        Outcome::Failed(reason) => Some(reason.clone()),
    }
}

fn sampling(sample: Option<usize>, word: &str, seed: u64) -> PyResult<Sampling> {
    let Some(count) = sample else { return Ok(Sampling::Grid) };
    if count == 0 {
        return Err(error::argument("`sample` must be positive"));
    }
    match word {
        "random" => Ok(Sampling::Random { count, seed }),
        "latin-hypercube" => Ok(Sampling::LatinHypercube { count, seed }),
        "sobol" => Ok(Sampling::Sobol { count, seed }),
        _ => {
            Err(error::argument(format!("samples are `random`, `latin-hypercube` or `sobol`, not `{word}`")))
        }
    }
}
