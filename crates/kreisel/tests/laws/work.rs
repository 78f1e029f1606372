//! What a step costs, counted in multiplications and iterations: no clock, so that cliffs are seen on any
//! computer.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use crate::common::{self, model};
use kreisel::integrate::{INDEX2, INDEX3, Integration, Integrator, Method};
use kreisel::kinematics::NodeId;
use kreisel::machine::{Machine, SettingTexts};

fn start(machine: &Machine, method: Method, step: f64) -> Integration<'_> {
    let integrator = Integrator::new(method, 0.9, step).unwrap();
    integrator.start(machine.system(), machine.initial().clone()).unwrap()
}

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Redundant rows and nets without tension are not massless parts: fronts stay as they were analysed.
#[test]
fn no_model_is_factored_with_more_than_twice_the_multiplications_it_was_analysed_with() {
    for name in models() {
        let machine = model(&name, &[], &SettingTexts::default());
        for method in [INDEX3, INDEX2] {
            let mut run = start(&machine, method, 1e-4);
            for _ in 0..3 {
                run.step().unwrap();
            }
            let work = run.factor_work().unwrap();
            assert!(
                work.multiplications <= 2.0 * work.analysed && !work.general,
                "{name}, {method:?}: {work:?}"
            );
        }
    }
    // Longer rows of loops, in which ever more rows depend on others.
    for (name, n) in [("four-bar-chain", "15"), ("four-bar-chain", "60"), ("crank-row", "40"), ("grid", "30")]
    {
        let machine = model(name, &[("n", n)], &SettingTexts::default());
        for method in [INDEX3, INDEX2] {
            let mut run = start(&machine, method, 1e-4);
            run.step().unwrap();
            let work = run.factor_work().unwrap();
            assert!(work.multiplications <= 2.0 * work.analysed && !work.general, "{name}, {n}: {work:?}");
        }
    }
}

/// Work of ten steps of a model with so many bodies, or rows of them: multiplications of all factorisations, or of
/// one with `index3`, for each node, and iterations, of Newton's method and for blocks that are kept out of the
/// factors.
fn work_of_ten_steps(name: &str, n: usize, method: Method) -> [f64; 2] {
    let machine = model(name, &[("n", &n.to_string())], &SettingTexts::default());
    let mut run = start(&machine, method, 1e-4);
    let (before, dropped_before) = (run.statistics(), run.dropped_block_iterations());
    for _ in 0..10 {
        run.step().unwrap();
    }
    let (work, statistics) = (run.factor_work().unwrap(), run.statistics());
    assert!(!work.general, "{name}, {n}: {work:?}");
    assert_eq!(run.whole_factorisations(), 0, "{name}, {n}");
    let factorisations = if method == INDEX3 { 1 } else { statistics.factorisations - before.factorisations };
    let multiplications = factorisations as f64 * work.multiplications;
    let newton = statistics.iterations - before.iterations;
    let iterations = newton + run.dropped_block_iterations() - dropped_before;
    [multiplications / machine.system().node_count() as f64, iterations as f64]
}

/// Most times as much work for each body, and as many iterations, at twice the size.
const MAX_GROWTH: f64 = 1.3;
/// The same of a net: n × n knots have separators of n knots, which take a band n⁴ multiplications for n² knots,
/// four times as many per knot, and a good order fewer.
const MAX_GROWTH_OF_NETS: f64 = 4.0;

/// Every model that has an `n`: no limit, branch or order may cost much more from some size on.
///
/// Iterations of `index3` are not counted: in steps of 0.1 ms they grow where constraints depend on each other. Ten
/// steps of `crank-row` take 12, 16, 18 and 29 with 50, 100, 200 and 400 cranks.
#[test]
fn work_per_body_does_not_grow_when_n_is_doubled() {
    let (mut seen, mut cliffs) = (0, Vec::new());
    for name in models() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
        if !std::fs::read_to_string(path).unwrap().lines().any(|line| line.starts_with("n = ")) {
            continue;
        }
        seen += 1;
        let (first, most) = if name == "grid" { (10, MAX_GROWTH_OF_NETS) } else { (50, MAX_GROWTH) };
        for method in [INDEX3, INDEX2] {
            let mut before = work_of_ten_steps(&name, first, method);
            for doublings in 1..=3 {
                let n = first << doublings;
                if name == "grid" && doublings == 3 {
                    continue;
                }
                let work = work_of_ten_steps(&name, n, method);
                let [multiplications, iterations] = [0, 1].map(|kind| work[kind] / before[kind]);
                if multiplications > most || method == INDEX2 && iterations > MAX_GROWTH {
                    cliffs.push(format!(
                        "{name}, {n}, {method:?}: {multiplications} times the multiplications, {iterations} times the iterations"
                    ));
                }
                before = work;
            }
        }
    }
    assert!(seen >= 7, "{seen} models have an `n`");
    assert!(cliffs.is_empty(), "{}", cliffs.join("\n"));
}

/// Two layers of balls a moment after the lower one met the floor, which takes 45 ms: contacts stay out of the factors.
#[test]
fn balls_that_touch_are_factored_one_by_one() {
    let machine = model("settling-balls", &[("n", "200"), ("side", "10")], &SettingTexts::default());
    for method in [INDEX3, INDEX2] {
        let mut run = start(&machine, method, 5e-4);
        run.advance(0.065).unwrap();
        let touching = machine.system().group_contact("pile", &run.values().point()).touching;
        assert!(touching >= 50, "{touching} contacts of 200 balls");
        let work = run.factor_work().unwrap();
        // Blocks of six rows: 6³/3 multiplications each.
        assert!(work.multiplications <= 200.0 * 72.0 && !work.general, "{method:?}: {work:?}");
        assert!(run.dropped_block_iterations() > 0);
        assert_eq!(run.whole_factorisations(), 0, "{method:?}");
    }
}

/// ζ is small wherever steps are, so that both formulations lead to the same place: of 200 m to twelve digits.
#[test]
fn two_thousand_hinges_fall_alike_with_positions_alone_and_with_velocities() {
    let machine = model("chain-revolute", &[("n", "2000")], &SettingTexts::default());
    let last = NodeId(machine.system().node_count() - 1);
    let tip = |method| {
        let mut run = start(&machine, method, 1e-3);
        for _ in 0..10 {
            run.step().unwrap();
        }
        machine.system().motion(last, &run.values().point()).pose.position
    };
    let [one, other] = [tip(INDEX3), tip(INDEX2)];
    // Half a unit of the twelfth digit.
    assert!((one - other).norm() < 5e-10, "{one} and {other}: {:e}", (one - other).norm());
}

/// Drives leave such a chain no freedom: its reactions add up moments of moments, and are known to three digits
/// only where positions are to ten. That is its condition and no reason to take its factors for lost.
#[test]
fn ten_thousand_driven_hinges_are_factored_as_they_were_analysed() {
    let machine = common::read(
        "
        [[body]]
        name = 'link-{i}'
        repeat = 10000
        mass = 1
        shape = { kind = 'box', size = [0.1, 0.05, 0.05] }
        position = ['0.1*i + 0.05', 0, 0]
        [[revolute]]
        name = 'joint-0'
        bodies = ['ground', 'link-0']
        point = [0, 0, 0]
        axis = [0, 0, 1]
        [[revolute]]
        name = 'joint-{i+1}'
        repeat = 9999
        bodies = ['link-{i}', 'link-{i+1}']
        point = ['0.1*(i + 1)', 0, 0]
        axis = [0, 0, 1]
        [[drive]]
        name = 'drive-{i}'
        repeat = 10000
        joint = 'joint-{i}'
        angle = '1e-3*(1 - cos(5*t))'
        ",
    )
    .unwrap();
    for method in [INDEX3, INDEX2] {
        let mut run = start(&machine, method, 1e-3);
        run.step().unwrap();
        let work = run.factor_work().unwrap();
        assert!(work.multiplications <= 2.0 * work.analysed && !work.general, "{method:?}: {work:?}");
        // All hinges turn alike, so the tip is where the sum of turning links leads.
        let angle = 1e-3 * (1.0 - (5.0 * run.values().time).cos());
        let tip: f64 = (1..=10000).map(|i| 0.1 * (f64::from(i) * angle).sin()).sum();
        let middle = tip - 0.05 * (1e4 * angle).sin();
        let last = NodeId(machine.system().node_count() - 1);
        let y = machine.system().motion(last, &run.values().point()).pose.position.y;
        // Of a kilometre, and rounding adds up over 10,000 hinges: ten digits.
        assert!((y - middle).abs() < 1e-7, "{method:?}: {y} in place of {middle}");
    }
}
