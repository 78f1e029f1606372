//! Blocks without initial values start where their inputs stand.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::lie::Vector3;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{column, difference, read, within};

/// A pendulum that moves at the start: its centre goes with ω × r.
const PENDULUM: &str = r#"
[simulation]
end-time = 0.05
step = "1 ms"
[[body]]
name = "rod"
mass = 2
inertia = [0.1, 0.1, 0.1]
position = [0.4, 0, -0.3]
velocity = [-0.6, 0, -0.8]
angular-velocity = [0, 2, 0]
markers = [{ name = "end", position = [-0.4, 0, 0.3] }]
[[revolute]]
name = "pin"
bodies = ["ground", "rod.end"]
axis = [0, 1, 0]
"#;

#[test]
fn a_controller_begins_without_a_kick() {
    let pid = "[[pid]]\nname = 'c'\nerror = '1'\nproportional = 2\nderivative = 0.5\nfilter-time = 0.05\n";
    let run = read(&format!("{PENDULUM}{pid}")).unwrap().simulate().unwrap();
    // Nothing moves: rounding of the states.
    within("output of a constant error", difference(&run, "c.output", |_| 2.0), 1e-12);
    let given = read(&format!("{PENDULUM}{pid}initial = [0, 0]\n")).unwrap().simulate().unwrap();
    // As asked for: 2 + 0.5/0.05 at the start.
    assert!((column(&given, "c.output")[0] - 12.0).abs() < 1e-12);
    let wrong = read(&format!("{PENDULUM}{pid}initial = [0]\n")).err().unwrap();
    assert!(wrong.contains("`initial` of the pid `c`") && wrong.contains(": 2"), "{wrong}");
}

#[test]
fn an_integrator_starts_at_zero_and_given_values_are_kept() {
    let blocks = "[[transfer-function]]\nname = 'sum'\ninput = '3'\nnumerator = [1]\ndenominator = [1, 0]\n\
                  [[transfer-function]]\nname = 'low'\ninput = '3'\nnumerator = [2]\ndenominator = [0.1, 1]\n\
                  [[transfer-function]]\nname = 'rise'\ninput = '3'\nnumerator = [2]\ndenominator = [0.1, 1]\ninitial = [0]\n";
    let run = read(&format!("{PENDULUM}{blocks}")).unwrap().simulate().unwrap();
    // The rate is constant, which is integrated exactly: Newton's tolerance of 50 steps is left.
    within("integrator", difference(&run, "sum.output", |t| 3.0 * t), 1e-9);
    within("steady", difference(&run, "low.output", |_| 6.0), 1e-12);
    // Second order in h/T = 0.01.
    within("step response", difference(&run, "rise.output", |t| 6.0 * (1.0 - (-10.0 * t).exp())), 1e-4);
}

/// Where no steady start exists, the fastest state of the start is told with its rate: 2 (−x + u) at x = 0,
/// with u = 1 + 3·2 + x (an integrator in disguise, singular) or u = 1 + 3·2 + x² (no real root of −x + u).
#[test]
fn a_steady_start_that_does_not_exist_is_told() {
    let feeder = "[[state-space]]\nname = 'feeder'\ninputs = ['2']\na = [-1]\nb = [0]\nc = [0]\nd = [3]\n";
    for feedback in ["loop.output", "loop.output^2"] {
        let text = format!(
            "{PENDULUM}{feeder}[[state-space]]\nname = 'loop'\ninputs = ['1 + feeder.output + {feedback}']\n\
             a = [-2]\nb = [2]\nc = [1]\nd = [0]\n"
        );
        let machine = read(&text).unwrap();
        let plan = machine.plan().unwrap();
        let notes = machine.start_notes(&machine.start(&plan).unwrap());
        let note = notes.into_iter().find(|note| note.kind.word() == "no-steady-start").unwrap();
        assert_eq!(note.subject.as_deref(), Some("loop.state-1"));
        // Exact but for the rounding of one sum.
        within("rate of the start", (note.number.unwrap() - 14.0).abs(), 1e-12);
        assert!(note.text.ends_with("give the block `initial` values"), "{}", note.text);
        let given = read(&format!("{text}initial = [0]\n")).unwrap();
        assert_eq!(given.steady_note(), None);
    }
    // What is found, and bristles that rest, say nothing.
    assert_eq!(read(&format!("{PENDULUM}{feeder}")).unwrap().steady_note(), None);
}

/// A random block: its text, and its output if it is steady with the inputs.
fn block(random: &mut ChaCha8Rng, name: &str, inputs: &[(&str, f64)]) -> (String, f64) {
    let order = random.random_range(1..=4);
    let count = random.random_range(1..=2);
    let chosen: Vec<(&str, f64)> = (0..count).map(|_| inputs[random.random_range(0..inputs.len())]).collect();
    let mut matrix = |rows: usize, columns: usize| {
        DMatrix::from_fn(rows, columns, |_, _| (random.random_range(-2.0..2.0_f64) * 100.0).round() / 100.0)
    };
    // Every eigenvalue left of −1 by Gershgorin's circles.
    let a = matrix(order, order) - DMatrix::identity(order, order) * (2.0 * order as f64 + 1.0);
    let (b, c, d) = (matrix(order, count), matrix(1, order), matrix(1, count));
    let list = |matrix: &DMatrix<f64>| format!("{:?}", matrix.transpose().as_slice());
    let names: Vec<String> = chosen.iter().map(|(name, _)| format!("'{name}'")).collect();
    let text = format!(
        "[[state-space]]\nname = '{name}'\ninputs = [{}]\na = {}\nb = {}\nc = {}\nd = {}\n",
        names.join(", "),
        list(&a),
        list(&b),
        list(&c),
        list(&d)
    );
    let u = DVector::from_iterator(count, chosen.iter().map(|(_, value)| *value));
    let x = -a.lu().solve(&(&b * &u)).unwrap();
    (text, (c * x + d * u)[0])
}

#[test]
fn a_hundred_random_blocks_start_steady_one_after_the_other() {
    let mut random = ChaCha8Rng::seed_from_u64(36);
    let angle = Vector3::new(0.4, 0.0, -0.3);
    for machine in 0..10 {
        // What the inputs are at the start: the arm's place and speed, laws of time, states with values.
        let mut known: Vec<(String, f64)> = vec![
            ("rod.position.x".to_string(), angle.x),
            ("pin.rate".to_string(), 2.0),
            ("2 + sin(30*t)".to_string(), 2.0),
            ("rod.position.x*pin.rate + 1".to_string(), 2.0 * angle.x + 1.0),
        ];
        let mut text = PENDULUM.to_string();
        for index in 0..10 {
            let name = format!("block-{index}");
            let inputs: Vec<(&str, f64)> =
                known.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let (block, output) = block(&mut random, &name, &inputs);
            text += &block;
            known.push((format!("{name}.output"), output));
        }
        let run = read(&text).unwrap().simulate().unwrap();
        for (name, expected) in &known[4..] {
            let found = column(&run, name)[0];
            // Found to 1e-12 of a block's own states; ten blocks in a row magnify that.
            assert!(
                (found - expected).abs() < 1e-10 * (1.0 + expected.abs()),
                "{machine} {name}: {found} {expected}"
            );
        }
    }
}
