//! Assembly of machines whose initial values do not fit, and the words about those that never can.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::collections::HashMap;
use std::path::Path;

use kreisel::constrained::ConsistencyError;
use kreisel::dae::Dae;
use kreisel::integrate::{INDEX3, Integrator, StartError, StepError};
use kreisel::lie::{Group, Pose, Vector6};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::run::RunError;
use kreisel::system::SystemBuilder;

fn machine(text: &str) -> Machine {
    Machine::from_text("m.toml", text).map_err(|errors| errors.render(false)).unwrap()
}

/// Positions of bodies by their names.
type Positions = HashMap<String, [f64; 3]>;

/// Positions of bodies after assembly, and the warnings.
fn assembled(machine: &Machine) -> Result<(Positions, Vec<String>), StartError> {
    let plan = machine.plan().map_err(|errors| errors.render(false)).unwrap();
    let run = machine.start(&plan)?;
    let configuration = &run.integration().values().configuration;
    let space = machine.system().shape().space;
    let positions = (machine.frames().bodies().iter())
        .map(|body| {
            let q = &configuration[space.coordinate_range(body.node.0)];
            // Positions are the last three coordinates.
            (body.name.clone(), q[q.len() - 3..].try_into().unwrap())
        })
        .collect();
    Ok((positions, machine.start_notes(&run).texts()))
}

/// Names and sizes of what misses at position level.
fn misses(text: &str) -> Vec<(String, f64)> {
    match assembled(&machine(text)) {
        Err(StartError::Initial(ConsistencyError::Position { misses, .. })) => {
            misses.into_iter().map(|miss| (miss.name, miss.size)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// A slider-crank of a pin (2 kg) and a slider (1 kg), given where neither crank (1 m) nor rod (3 m) fits.
fn slider_crank(pin: &str, slider: &str) -> String {
    format!(
        "[simulation]\nend-time = 1\nstep = 0.01\n\
         [[point-mass]]\nname = 'pin'\nmass = 2\nposition = [0.9, 0.7, 0]\n{pin}\n\
         [[body]]\nname = 'slider'\nmass = 1\ninertia = [1, 1, 1]\nposition = [3.3, 0, 0]\n{slider}\n\
         [[distance]]\nname = 'crank'\nbodies = ['ground', 'pin']\npoints = [[0, 0, 0], [0.9, 0.7, 0]]\nlength = 1\n\
         [[distance]]\nname = 'rod'\nbodies = ['pin', 'slider']\npoints = [[0.9, 0.7, 0], [3.3, 0, 0]]\nlength = 3\n\
         [[prismatic]]\nname = 'guide'\nbodies = ['ground', 'slider']\naxis = [1, 0, 0]\n"
    )
}

#[test]
fn a_slider_crank_moves_as_little_as_its_masses_ask_for() {
    let (positions, warnings) = assembled(&machine(&slider_crank("", ""))).unwrap();
    // All assembled positions are a family of the crank's angle: the best one by golden section.
    let place = |angle: f64| {
        let pin = [angle.cos(), angle.sin()];
        (pin, pin[0] + (9.0 - pin[1] * pin[1]).sqrt())
    };
    let cost = |angle: f64| {
        let (pin, slider) = place(angle);
        2.0 * ((pin[0] - 0.9).powi(2) + (pin[1] - 0.7).powi(2)) + (slider - 3.3).powi(2)
    };
    let (mut low, mut high) = (0.0_f64, 2.0_f64);
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..60 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if cost(left) < cost(right) { high = right } else { low = left }
    }
    let (pin, slider) = place(0.5 * (low + high));
    let found = positions["pin"];
    // The search finds a minimum to half the digits; the iteration ends when the joints hold.
    for (value, expected) in [(found[0], pin[0]), (found[1], pin[1]), (positions["slider"][0], slider)] {
        assert!((value - expected).abs() < 1e-6, "{value} against {expected}");
    }
    assert!(found[2].abs() < 1e-15, "the pin leaves the plane");
    let report = warnings.join("\n");
    assert!(report.contains("assembly moved `slider` by") && report.contains("`pin` by"), "{report}");
}

#[test]
fn a_fixed_body_stays_where_it_is() {
    let (positions, warnings) = assembled(&machine(&slider_crank("", "fixed = true"))).unwrap();
    assert_eq!(positions["slider"], [3.3, 0.0, 0.0]);
    let pin = positions["pin"];
    // Where the circles of crank and rod meet.
    let x = (1.0 + 3.3 * 3.3 - 9.0) / (2.0 * 3.3);
    assert!((pin[0] - x).abs() < 1e-13, "{positions:?}");
    assert!((pin[1] - (1.0_f64 - x * x).sqrt()).abs() < 1e-13, "{positions:?}");
    assert!(!warnings.join("\n").contains("`slider` by"), "{warnings:?}");
}

#[test]
fn fixed_poses_that_contradict_a_joint_are_refused_with_its_name() {
    let misses = misses(&slider_crank("fixed = true", "fixed = true"));
    let expected = [("joint `rod`", 3.0 - 2.4_f64.hypot(0.7)), ("joint `crank`", 0.9_f64.hypot(0.7) - 1.0)];
    assert_eq!(misses.len(), 2, "{misses:?}");
    for ((name, size), (joint, miss)) in misses.iter().zip(expected) {
        assert_eq!(name, joint);
        // Some roundings of numbers of size one.
        assert!((size - miss).abs() < 1e-12, "{name}: {size} against {miss}");
    }
}

#[test]
fn a_loop_too_short_to_close_names_its_joints_and_gaps() {
    // Three bars of 1 m cannot span 4 m: they come closest when each is a third of a metre too short.
    let misses = misses(
        "[simulation]\nend-time = 1\nstep = 0.01\n\
         [[point-mass]]\nname = 'p'\nmass = 1\nposition = [0.8, 0.5, 0]\n\
         [[point-mass]]\nname = 'q'\nmass = 3\nposition = [3.1, 0.4, 0]\n\
         [[distance]]\nname = 'a'\nbodies = ['ground', 'p']\npoints = [[0, 0, 0], [0.8, 0.5, 0]]\nlength = 1\n\
         [[distance]]\nname = 'b'\nbodies = ['p', 'q']\npoints = [[0.8, 0.5, 0], [3.1, 0.4, 0]]\nlength = 1\n\
         [[distance]]\nname = 'c'\nbodies = ['q', 'ground']\npoints = [[3.1, 0.4, 0], [4, 0, 0]]\nlength = 1\n",
    );
    let mut names: Vec<&str> = misses.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["joint `a`", "joint `b`", "joint `c`"]);
    // The descent ends where the sum of squares falls by less than 1e-10: gaps to its root.
    assert!(misses.iter().all(|(_, size)| (size - 1.0 / 3.0).abs() < 1e-4), "{misses:?}");
}

fn two_drives(first: &str, second: &str) -> String {
    format!(
        "[simulation]\nend-time = 1\nstep = 0.01\n\
         [[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\n\
         [[revolute]]\nname = 'axle'\nbodies = ['ground', 'wheel']\npoint = [0, 0, 0]\n\
         [[drive]]\nname = 'one'\njoint = 'axle'\nangle = {first}\n\
         [[drive]]\nname = 'two'\njoint = 'axle'\nangle = {second}\n"
    )
}

#[test]
fn drives_to_different_angles_are_refused_with_their_names() {
    let misses = misses(&two_drives("0.1", "0.3"));
    assert_eq!(misses.len(), 2, "{misses:?}");
    assert!(misses.iter().any(|(name, _)| name == "joint `one`"), "{misses:?}");
    assert!(misses.iter().any(|(name, _)| name == "joint `two`"), "{misses:?}");
    // The closest angle lies between them.
    assert!(misses.iter().all(|(_, size)| (size - 0.1).abs() < 1e-6), "{misses:?}");
}

#[test]
fn drives_of_different_speeds_and_accelerations_are_refused() {
    for (first, second, wanted) in [("'t'", "'2*t'", "velocities"), ("'t^2'", "'2*t^2'", "accelerations")] {
        match assembled(&machine(&two_drives(first, second))) {
            Err(StartError::Initial(ConsistencyError::Contradiction { level, misses })) => {
                assert_eq!(level, wanted);
                assert_eq!(misses.len(), 2, "{misses:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// What misses in a run, and when.
fn contradiction(text: &str) -> (f64, Vec<(String, f64)>) {
    match machine(text).simulate().err() {
        Some(RunError::Step(StepError::Contradiction { time, misses, .. })) => {
            (time, misses.into_iter().map(|miss| (miss.name, miss.size)).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn drives_that_part_on_the_way_end_the_run_with_their_names_and_gaps() {
    // Apart from 0.505 s on by a tenth of what is over; the first step to see it ends at 0.51 s.
    for method in ["index3", "index2"] {
        for second in ["'t + 0.1*max(t - 0.505, 0)'", "'t + 100*max(t - 0.505, 0)^3'"] {
            let text = two_drives("'t'", second)
                .replace("step = 0.01", &format!("step = 0.01\nmethod = '{method}'"));
            let (time, misses) = contradiction(&text);
            let names: Vec<&str> = misses.iter().map(|(name, _)| name.as_str()).collect();
            assert!(names.contains(&"joint `one`") && names.contains(&"joint `two`"), "{names:?}");
            assert!((0.5..0.53).contains(&time), "{method}, {second}: {time}");
        }
    }
}

#[test]
fn a_drive_beyond_the_reach_of_the_machine_ends_the_run_with_its_name() {
    // A slider that is drawn away from a crank of 1 m with a rod of 3 m arrives at 4 m after 0.7 s.
    let text = slider_crank("", "").replace("name = 'slider'", "name = 'slider'\nvelocity = [1, 0, 0]")
        + "[[drive]]\nname = 'pull'\njoint = 'guide'\ndisplacement = 't'\n";
    let (time, misses) = contradiction(&text);
    assert!(misses.iter().any(|(name, _)| name == "joint `pull`"), "{misses:?}");
    assert!((0.7..0.75).contains(&time), "{time}");
}

#[test]
fn drives_that_agree_are_accepted() {
    assembled(&machine(&two_drives("'0.5*t^2'", "'t^2/2'"))).unwrap();
}

#[test]
fn a_direction_without_mass_that_nothing_holds_is_named() {
    let mut builder = SystemBuilder::new();
    builder.node("ghost", Group::Vector(3), Pose::identity(), Vector6::zeros());
    let (system, initial) = builder.build(0.0).unwrap();
    let error = Integrator::new(INDEX3, 0.9, 0.01).unwrap().start(&system, initial).err().unwrap();
    assert!(error.to_string().contains("the force balance of `ghost` along"), "{error}");
}

/// Angle from the upright of the pendulum that n windows of unit bars move like, at a time, by Runge and
/// Kutta.
fn pendulum_angle(n: f64, end: f64) -> f64 {
    let factor = 9.81 * ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n);
    let rates = |[angle, speed]: [f64; 2]| [speed, factor * angle.sin()];
    let (mut y, count) = ([0.0, 1.0], 20_000);
    let h = end / f64::from(count);
    let ahead = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    for _ in 0..count {
        let first = rates(y);
        let second = rates(ahead(y, first, 0.5 * h));
        let third = rates(ahead(y, second, 0.5 * h));
        let fourth = rates(ahead(y, third, h));
        for i in 0..2 {
            y[i] += h / 6.0 * (first[i] + 2.0 * second[i] + 2.0 * third[i] + fourth[i]);
        }
    }
    y[0]
}

/// A chain of n windows until an end time, and the height at which its bars end; panics if its bars leave
/// their level.
fn four_bar_chain(n: usize, method: &str, milliseconds: f64, end: f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/four-bar-chain.toml");
    let settings = SettingTexts::default()
        .with("method", method)
        .with("step", format!("{milliseconds} ms"))
        .with("end-time", end.to_string());
    let machine =
        MachineReader::new().with_parameters(&[("n", &n.to_string())]).with_settings(&settings).read(&path);
    let machine = machine.map_err(|errors| errors.render(false)).unwrap();
    let run = machine.simulate().unwrap_or_else(|error| panic!("n = {n}, {method}: {error}"));
    let energy = run.signal("energy.total").unwrap();
    let drift = energy.iter().map(|e| (e - energy[0]).abs()).fold(0.0, f64::max) / energy[0];
    let bars = machine.frames().bodies().iter().filter(|body| body.name.starts_with("bar-"));
    let heights: Vec<&[f64]> =
        bars.map(|bar| run.signal(&format!("{}.position.y", bar.name)).unwrap()).collect();
    assert_eq!(heights.len(), n);
    // A bar that leaves the level of its neighbours has taken another branch.
    let apart = |other: &&[f64]| other.iter().zip(heights[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let level = heights.iter().map(apart).fold(0.0, f64::max);
    let miss = (heights[0].last().unwrap() - pendulum_angle(n as f64, end).cos()).abs();
    // Below, the posts turn with up to ω = 7 rad/s: the energy is kept to about (ωh)², and a phase of 5 rad a
    // second to as much of itself.
    let square = (7.0 * milliseconds * 1e-3).powi(2);
    assert!(drift < 2.0 * square, "n = {n}, {method}: {drift}");
    assert!(miss < 5.0 * end * square, "n = {n}, {method}: {miss}");
    // A step through the position itself leaves the branch by what the end posts would fall behind in it
    // alone.
    assert!(level < 9.81 * (milliseconds * 1e-3).powi(2), "n = {n}, {method}: {level}");
}

#[test]
fn a_chain_of_four_bars_passes_its_singular_positions() {
    // Ten seconds are twelve passages.
    for (n, milliseconds) in [(2, 2.0), (2, 4.0), (3, 2.0)] {
        four_bar_chain(n, "index3", milliseconds, 10.0);
    }
}

#[test]
fn long_chains_pass_with_any_step_and_method() {
    // 1.3 s are two passages; some steps come to lie within 1e-4 rad of the line.
    for (method, n, milliseconds) in [
        ("index3", 4, 1.0),
        ("index3", 5, 4.0),
        ("index3", 10, 4.0),
        ("index3", 40, 10.0),
        ("index2", 4, 2.0),
        ("index2", 5, 1.0),
        ("index2", 40, 10.0),
    ] {
        four_bar_chain(n, method, milliseconds, 1.3);
    }
}
