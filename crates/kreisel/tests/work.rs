//! How much work the benchmark models take: iterations, matrices and factorisations per step, fill of the factors.
//!
//! Seconds depend on the computer, counts do not. The limits are Kreisel's own numbers, to notice change; each comment
//! says why the number is what it should be.

use std::path::Path;

use kreisel::integrate::{GeneralizedAlpha, Method, Statistics};
use kreisel::lie::Group;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::problem::HeavyTop;

fn chain(model: &str, links: usize, method: Method, steps: usize) -> Statistics {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    let machine = Machine::read_with(&path, &[("n", &links.to_string())], &SettingTexts::default())
        .map_err(|errors| errors.render(false))
        .expect("a sound model");
    let method = GeneralizedAlpha::new(method, 0.9, 1e-3).expect("the parameters are in range");
    let mut run = method.start(&machine.system, machine.initial.clone()).expect("consistent values");
    for _ in 0..steps {
        run.step().expect("every step converges");
    }
    run.statistics()
}

/// A factorisation for each matrix and a residual for each iteration: nothing is evaluated twice, and no step is cut by the
/// line search.
fn check(work: Statistics, most_iterations: f64, most_matrices: f64) {
    assert_eq!(work.factorisations, work.matrices, "{work:?}");
    assert_eq!(work.residuals, work.iterations, "{work:?}");
    assert_eq!(work.line_search_cuts, 0, "{work:?}");
    let per_step = |count: u64| count as f64 / work.steps as f64;
    let (iterations, matrices) = (per_step(work.iterations), per_step(work.matrices));
    assert!(iterations <= most_iterations && matrices <= most_matrices, "{iterations} {matrices}");
}

/// A matrix costs as much as six iterations in a chain: it is kept for several steps, each of which takes one or two
/// iterations more.
#[test]
fn steps_of_chains_take_few_iterations_and_fewer_matrices() {
    check(chain("chain-spherical", 10, Method::Index3, 200), 4.0, 0.4);
    check(chain("chain-spherical", 40, Method::Index3, 100), 4.0, 0.4);
    check(chain("chain-revolute", 20, Method::Index3, 100), 4.0, 0.4);
    check(chain("chain-spherical", 20, Method::Index2, 100), 5.0, 0.4);
}

#[test]
fn steps_of_the_heavy_top_take_one_iteration_nearly_always() {
    let top = HeavyTop::new(Group::So3xR3);
    for method in [Method::Index3, Method::Index2] {
        let method = GeneralizedAlpha::new(method, 0.9, 1e-4).expect("the parameters are in range");
        let mut run = method.start(&top, top.initial()).expect("consistent values");
        for _ in 0..2000 {
            run.step().expect("every step converges");
        }
        // Dense factors are cheap and renewed in every step; the first knows nothing yet and may need two.
        check(run.statistics(), 1.3, 1.001);
    }
}
