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

/// Multiplications of all factorisations and all other iterations of ten steps, for each node.
fn work_per_node(name: &str, n: usize, method: Method) -> f64 {
    let machine = model(name, &[("n", &n.to_string())], &SettingTexts::default());
    let mut run = start(&machine, method, 1e-4);
    for _ in 0..10 {
        run.step().unwrap();
    }
    let work = run.factor_work().unwrap();
    assert!(!work.general, "{name}, {n}: {work:?}");
    let factorisations = run.statistics().factorisations as f64 * work.multiplications;
    (factorisations + run.dropped_block_iterations() as f64) / machine.system().node_count() as f64
}

/// Rows and chains cost as much per body at twice the size. A net of n × n knots has separators of n knots: a
/// band of that width takes n⁴ multiplications for n² knots, four times as many per knot, and a good order
/// fewer.
#[test]
fn work_per_body_does_not_grow_when_n_is_doubled() {
    let with_n = models().into_iter().filter(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
        std::fs::read_to_string(path).unwrap().lines().any(|line| line.starts_with("n = "))
    });
    for name in with_n {
        let (first, most) = if name == "grid" { (10, 4.0) } else { (50, 1.3) };
        for method in [INDEX3, INDEX2] {
            let mut before = work_per_node(&name, first, method);
            for doublings in 1..=2 {
                let n = first << doublings;
                let work = work_per_node(&name, n, method);
                assert!(work <= most * before, "{name}, {n}, {method:?}: {} times", work / before);
                before = work;
            }
        }
    }
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
