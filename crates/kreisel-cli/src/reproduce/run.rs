//! Runs many experiments at once and hands them back in the order asked for.

use super::{Experiment, Outcome, ProgressLines};
use rayon::prelude::*;
use std::collections::BTreeMap;
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
/// The results come in the order of `experiments`, each as soon as it and those before it are there. Whoever stops
/// listening leaves the rest unstarted.
pub fn run_all(
    experiments: Vec<&'static Experiment>,
    lines: ProgressLines,
) -> impl Iterator<Item = Finished> {
    let (sender, receiver) = mpsc::channel();
    // A thread of its own, not a scope: when the listener leaves, the program ends without waiting for it.
    thread::spawn(move || {
        experiments
            .into_par_iter()
            .enumerate()
            .with_max_len(1)
            .try_for_each_with(sender, |sender, (place, experiment)| {
                sender.send((place, run(experiment, &lines))).ok()
            })
    });
    in_order(receiver)
}

fn run(experiment: &'static Experiment, lines: &ProgressLines) -> Finished {
    let line = lines.start(experiment.id);
    let start = Instant::now();
    let outcome = (experiment.run)(&line.progress).unwrap_or_else(|error| Outcome::failed(&error));
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

    #[test]
    fn an_experiment_that_cannot_be_computed_fails_its_check() {
        static BROKEN: Experiment = Experiment {
            id: "broken",
            title: "Cannot be computed",
            paper: super::super::Paper::LieAlgebra,
            run_time: super::super::RunTime::Instant,
            run: |_| Err("Newton stopped at t = 0.1 s".into()),
        };
        let finished: Vec<Finished> = run_all(vec![&BROKEN], ProgressLines::new()).collect();
        assert!(!finished[0].outcome.passed());
        assert_eq!(finished[0].outcome.checks[0].measured.to_string(), "Newton stopped at t = 0.1 s");
    }
}
