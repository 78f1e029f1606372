//! How much work the benchmark models take: Newton iterations, residuals, matrices and factorisations.
//!
//! Seconds depend on the computer, counts do not. The table holds Kreisel's own numbers, to notice change: a
//! measure that makes steps cheaper changes it on purpose, and the benchmarks say whether it was worth it.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::dae::Dae;
use kreisel::integrate::{BDF2, INDEX2, INDEX3, Integrator, Method, SOI2, Statistics};
use kreisel::lie::Group;
use kreisel::machine::Machine;
use kreisel_papers::problem::HeavyTop;

/// A benchmark model with its steps, and how many iterations and matrices they took.
struct Entry {
    model: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    method: Method,
    step: f64,
    steps: u64,
    iterations: u64,
    matrices: u64,
}

const fn entry(
    model: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    method: Method,
    (step, steps): (f64, u64),
    (iterations, matrices): (u64, u64),
) -> Entry {
    Entry { model, parameters, method, step, steps, iterations, matrices }
}

const SNAPSHOT: [Entry; 8] = [
    entry("chain-spherical", &[("n", "10")], INDEX3, (1e-3, 200), (203, 201)),
    entry("chain-spherical", &[("n", "40")], INDEX3, (1e-3, 100), (102, 101)),
    entry("chain-revolute", &[("n", "20")], INDEX3, (1e-3, 100), (103, 101)),
    entry("chain-spherical", &[("n", "20")], INDEX2, (1e-3, 100), (102, 101)),
    entry("right-angle-beam", &[], INDEX3, (0.05, 60), (177, 86)),
    entry("four-bar-misaligned", &[], INDEX3, (0.02, 20), (64, 20)),
    entry("flying-beam", &[], INDEX3, (0.02, 50), (187, 65)),
    entry("grid", &[("n", "8")], INDEX3, (1e-3, 50), (52, 51)),
];

fn work(dae: &dyn Dae, initial: kreisel::dae::Initial, method: Method, step: f64, steps: u64) -> Statistics {
    let mut run = Integrator::new(method, 0.9, step).unwrap().start(dae, initial).unwrap();
    for _ in 0..steps {
        run.step().unwrap();
    }
    run.statistics()
}

fn work_of(entry: &Entry) -> Statistics {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{}.toml", entry.model));
    let machine = Machine::read(&path, entry.parameters).map_err(|errors| errors.render(false)).unwrap();
    work(machine.system(), machine.initial().clone(), entry.method, entry.step, entry.steps)
}

/// Rounding decides in a step or two whether one more iteration is made.
fn near(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= 2 + expected / 25
}

#[test]
fn benchmark_models_take_the_work_that_they_took() {
    let mut table = String::new();
    let mut changed = false;
    for entry in &SNAPSHOT {
        let work = work_of(entry);
        // One factorisation for each matrix.
        assert_eq!(work.factorisations, work.matrices, "{} {work:?}", entry.model);
        changed |= !(near(work.iterations, entry.iterations) && near(work.matrices, entry.matrices));
        let Entry { model, parameters, method, steps, iterations, matrices, .. } = entry;
        table += &format!(
            "{model} {parameters:?} {method:?}, {steps} steps: iterations {} ({iterations}), matrices {} ({matrices}), \
             residuals {}, cuts {}\n",
            work.iterations, work.matrices, work.residuals, work.line_search_cuts
        );
    }
    assert!(!changed, "found (expected):\n{table}");
}

/// Nothing is evaluated twice: one residual for each iteration, and no step is cut by the line search.
#[test]
fn chains_evaluate_one_residual_an_iteration() {
    for entry in SNAPSHOT.iter().filter(|entry| entry.model.starts_with("chain")) {
        let work = work_of(entry);
        assert_eq!((work.residuals, work.line_search_cuts), (work.iterations, 0), "{work:?}");
    }
}

/// Machines answer all that is asked of them: differences cost time and digits.
#[test]
fn no_model_is_differentiated_by_differences() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let machine = Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap();
        for method in [INDEX2, SOI2, BDF2] {
            let work = work(machine.system(), machine.initial().clone(), method, 1e-4, 2);
            assert_eq!(work.differenced, 0, "{} {method:?}", path.display());
        }
        models += 1;
    }
    assert!(models > 30, "{models}");
}

#[test]
fn steps_of_the_heavy_top_take_one_iteration_nearly_always() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in [INDEX3, INDEX2] {
        let work = work(&top, top.initial(), method, 1e-4, 2000);
        // Dense factors are cheap and renewed in every step; the first knows nothing yet and may need two.
        assert!(work.matrices <= work.steps + 2, "{work:?}");
        assert!(10 * work.iterations <= 13 * work.steps, "{work:?}");
        assert_eq!((work.residuals, work.line_search_cuts), (work.iterations, 0), "{work:?}");
    }
}

/// Positions in a chain of 300 m carry more rounding into the turns of links of 0.1 m than those in one of 1
/// m: no reason to iterate.
#[test]
fn a_long_chain_takes_as_many_iterations_a_step_as_a_short_one() {
    let [short, long] = [&[("n", "10")], &[("n", "3000")]].map(|parameters| {
        work_of(&entry("chain-spherical", parameters, INDEX2, (1e-3, 40), (0, 0))).iterations
    });
    assert!(near(long, short), "{long} against {short}");
}
