//! Runs many experiments at once and hands them back in the order asked for.

use super::{Check, Experiment, Outcome, Progress};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// An experiment that has been run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which one.
    pub experiment: &'static Experiment,
    /// What came out.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs `experiments` in parallel on the cores.
///
/// Each reports to the progress that `start` gives for its id, which is dropped when it is finished. The
/// results come in the order of `experiments`, each as soon as it and those before it are there. Whoever
/// stops listening leaves the rest unstarted.
pub fn run_all(
    experiments: Vec<&'static Experiment>,
    start: impl Fn(&str) -> Progress + Send + Sync + 'static,
) -> impl Iterator<Item = Finished> {
    let (sender, receiver) = mpsc::channel();
    // A thread of its own, not a scope: when the listener leaves, the program ends without waiting for it.
    thread::spawn(move || {
        experiments
            .into_par_iter()
            .enumerate()
            .with_max_len(1)
            .try_for_each_with(sender, |sender, (place, experiment)| {
                sender.send((place, run(experiment, start(experiment.id)))).ok()
            })
    });
    in_order(receiver)
}

fn run(experiment: &'static Experiment, progress: Progress) -> Finished {
    let start = Instant::now();
    // A panic is a bug of ours; it must not take the other experiments along, nor pass for success.
    let result = catch_unwind(AssertUnwindSafe(|| (experiment.run)(&progress)));
    let result = result.unwrap_or_else(|_| Err("stopped by a bug, see the message above".into()));
    let mut outcome = result.unwrap_or_else(|error| Outcome::failed(&error));
    if outcome.checks.is_empty() {
        outcome.check(Check::text("checks", "at least one", "none"));
    }
    Finished { experiment, outcome, elapsed: start.elapsed() }
}

/// Keeps what comes too early until its turn.
fn in_order<T>(receiver: mpsc::Receiver<(usize, T)>) -> impl Iterator<Item = T> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    std::iter::from_fn(move || {
        while !early.contains_key(&next) {
            let (place, item) = receiver.recv().ok()?;
            early.insert(place, item);
        }
        next += 1;
        early.remove(&(next - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{ExperimentError, Paper, RunTime, Table};
    use super::*;

    #[test]
    fn results_come_in_the_order_asked_for() {
        let (sender, receiver) = mpsc::channel();
        for place in [2, 0, 3, 1] {
            sender.send((place, place)).unwrap();
        }
        drop(sender);
        assert_eq!(in_order(receiver).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    const fn experiment(run: fn(&Progress) -> Result<Outcome, ExperimentError>) -> Experiment {
        Experiment { id: "id", title: "Title", paper: Paper::LieAlgebra, run_time: RunTime::Instant, run }
    }

    /// The only check of an experiment that cannot succeed.
    fn failed_check(experiment: &'static Experiment) -> String {
        let finished: Vec<Finished> = run_all(vec![experiment], |_| Progress::hidden()).collect();
        assert!(!finished[0].outcome.passed());
        finished[0].outcome.checks[0].measured.to_string()
    }

    #[test]
    fn an_experiment_that_cannot_be_computed_fails() {
        static BROKEN: Experiment = experiment(|_| Err("Newton stopped at t = 0.1 s".into()));
        assert_eq!(failed_check(&BROKEN), "Newton stopped at t = 0.1 s");
    }

    #[test]
    fn an_experiment_that_panics_fails() {
        static PANICKING: Experiment = experiment(|_| panic!("on purpose"));
        assert!(failed_check(&PANICKING).contains("bug"));
    }

    #[test]
    fn an_experiment_that_cannot_fail_fails() {
        static IDLE: Experiment = experiment(|_| {
            Ok(Outcome::new(Table::new(["nothing"]), kreisel::report::figure::FigureStyle::linear()))
        });
        assert_eq!(failed_check(&IDLE), "none");
    }
}
