//! Steps in which a part turns too far are told.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common;
use kreisel::lie::Vector3;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::run::{Job, Trajectory};
use serde_json::Value;

fn large_turns(machine: &Machine) -> Vec<Value> {
    let (_, outcome) = Job::new(machine, &machine.plan().unwrap()).record(Trajectory::new(machine)).unwrap();
    outcome.summary.notes.into_iter().filter(|note| note["kind"] == "large-turn").collect()
}

#[test]
fn a_top_that_turns_once_a_step_is_told_with_the_step_that_would_do() {
    let with_step = |step: &str| common::model("heavy-top", &[], &SettingTexts::default().with("step", step));
    let told = large_turns(&with_step("0.05"));
    assert_eq!(told.len(), 1);
    // 150 rad/s for 50 ms, and what gravity adds.
    assert!((told[0]["number"].as_f64().unwrap() - 7.5).abs() < 0.5, "{told:?}");
    assert_eq!(told[0]["subject"], "top");
    assert_eq!(large_turns(&with_step("0.002")), Vec::<Value>::new());
}

#[test]
fn steady_spin_is_followed_at_any_step() {
    let machine = common::read(
        "[simulation]\nend-time = 1\nstep = 0.1\n[gravity]\nacceleration = [0, 0, 0]\n\
         [[body]]\nname = \"rotor\"\nmass = 1\ninertia = [1, 2, 3]\nangular-velocity = [0, 0, 100]\n",
    );
    let machine = machine.unwrap();
    assert_eq!(large_turns(&machine), Vec::<Value>::new());
    // Ten rad a step about an axis that is none of inertia is another thing.
    let tumbling = common::read(
        "[simulation]\nend-time = 1\nstep = 0.1\n[gravity]\nacceleration = [0, 0, 0]\n\
         [[body]]\nname = \"rotor\"\nmass = 1\ninertia = [1, 2, 3]\nangular-velocity = [10, 60, 20]\n",
    );
    assert_eq!(large_turns(&tumbling.unwrap()).len(), 1);
}

/// The largest turns that methods follow, in rad, as their entries state them: on SE(3), and with positions
/// and rotations side by side.
const LIMITS: [(&str, [Option<f64>; 2]); 8] = [
    ("index2", [Some(0.5), Some(0.75)]),
    ("index3", [Some(0.5), Some(1.4)]),
    ("soi2", [Some(0.5), Some(2.0)]),
    ("hht-i3", [Some(0.5), Some(1.4)]),
    ("hht-soi2", [Some(0.5), Some(2.0)]),
    ("updated-lagrangian", [None, Some(2.0)]),
    ("bdf2", [Some(0.45), Some(1.5)]),
    ("bdf3", [Some(0.7), Some(1.5)]),
];

/// Spin of the heavy top in rad/s.
const SPIN: f64 = 150.07;
/// Steps that are looked at.
const STEPS: f64 = 4.0;

/// Where the centre of the heavy top is after some time.
fn heavy_top(method: &str, group: &str, step: f64, time: f64) -> Vector3 {
    let texts = [("method", method), ("group", group)];
    let texts = texts.iter().fold(SettingTexts::default(), |texts, (key, value)| texts.with(*key, *value));
    let texts = texts.with("step", format!("{step:e}")).with("end-time", format!("{time:e}"));
    let run = common::model("heavy-top", &[], &texts).simulate().unwrap();
    let last = |axis: &str| *run.signal(&format!("top.position.{axis}")).unwrap().last().unwrap();
    Vector3::from(["x", "y", "z"].map(last))
}

#[test]
fn methods_follow_the_turns_that_they_state() {
    for (method, limits) in LIMITS {
        for (group, limit) in ["se3", "so3xr3"].into_iter().zip(limits) {
            let Some(limit) = limit else { continue };
            let error_at = |turn: f64| {
                let (step, time) = (turn / SPIN, STEPS * turn / SPIN);
                let right = heavy_top("index2", "so3xr3", time / 4000.0, time);
                let found = heavy_top(method, group, step, time);
                (found - right).norm() / (right - Vector3::y()).norm()
            };
            let error = error_at(limit);
            assert!(error < 0.05, "{method} {group}: {error} at {limit} rad");
            // Beyond 2 rad a turn could have gone another way, however good the step is.
            if limit < 2.0 {
                let error = error_at(1.3 * limit);
                assert!(error > 0.05, "{method} {group}: {error} above {limit} rad");
            }
        }
    }
}

#[test]
fn turns_beyond_what_the_method_follows_are_told() {
    // A part that is driven to and fro turns by 1 rad in some steps, with speeds that change by as much.
    for (method, group, is_told) in [
        ("index2", "so3xr3", true),
        ("index2", "se3", true),
        ("soi2", "so3xr3", false),
        ("soi2", "se3", true),
    ] {
        let machine = common::read(&format!(
            "[simulation]\nend-time = 3\nstep = 0.05\nmethod = '{method}'\ngroup = '{group}'\n\
             [[body]]\nname = 'rotor'\nmass = 1\ninertia = [1, 2, 3]\n\
             [[revolute]]\nname = 'axle'\nbodies = ['ground', 'rotor']\npoint = [0, 0, 0]\n\
             [[drive]]\nname = 'motor'\njoint = 'axle'\nangle = '2*sin(10*t)'\n"
        ));
        let told = large_turns(&machine.unwrap());
        assert_eq!(!told.is_empty(), is_told, "{method} {group}: {told:?}");
    }
}

#[test]
fn explicit_steps_keep_count_of_the_turns_of_a_screw() {
    for rtol in ["1e-2", "1e-4", "1e-6", "1e-8"] {
        let settings = SettingTexts::default().with("method", "explicit8").with("rtol", rtol);
        let run =
            common::model("screw-press", &[], &settings.with("output-step", "10 ms")).simulate().unwrap();
        let way = run.signal("guide.displacement").unwrap();
        // The flywheel turns to and fro like a mass of J (2π/lead)² on a spring: 27.1 mm down and back.
        let lowest = way.iter().copied().fold(0.0, f64::max);
        assert!((lowest - 27.1e-3).abs() < 1e-4, "{rtol}: {lowest}");
        // A lead of 10 mm in each turn, as exact as the tolerance.
        let turns = run.signal("thread.angle").unwrap();
        let miss =
            turns.iter().zip(way).map(|(angle, way)| (0.01 * angle / std::f64::consts::TAU - way).abs());
        assert!(miss.fold(0.0, f64::max) < 1e-5, "{rtol}");
    }
}

/// A wheel that spins up, whose turns bound the steps: the next step is chosen so that it does not turn too
/// far. It was taken back in 53 of 113 tries.
#[test]
fn explicit_steps_that_turns_bound_are_hardly_taken_back() {
    let machine = common::model("gear-pair", &[], &SettingTexts::default().with("accuracy", "1e-3"));
    let outcome = Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap().1;
    let work = outcome.statistics;
    assert!(outcome.summary.assumptions.iter().any(|text| text.contains("`explicit8`")));
    assert!(100 * work.rejected_steps <= 15 * work.steps, "{work:?}");
}
