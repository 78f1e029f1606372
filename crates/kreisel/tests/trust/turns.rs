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

/// The largest turns that methods follow, in rad: on SE(3), and with positions and rotations side by side.
const LIMITS: [(&str, [Option<f64>; 2]); 7] = [
    ("index2", [Some(0.5), Some(0.8)]),
    ("index3", [Some(0.5), Some(1.4)]),
    ("soi2", [Some(0.5), Some(2.0)]),
    ("hht-i3", [Some(0.5), Some(1.4)]),
    ("hht-soi2", [Some(0.5), Some(2.0)]),
    ("updated-lagrangian", [None, Some(2.0)]),
    ("bdf2", [Some(0.45), Some(1.5)]),
];

/// Spin of the heavy top in rad/s.
const SPIN: f64 = 150.07;
/// Steps that are looked at.
const STEPS: f64 = 4.0;

/// Where the centre of the heavy top is after some time, and whether large turns were told.
fn heavy_top(method: &str, group: &str, step: f64, time: f64) -> (Vector3, bool) {
    let texts = [("method", method), ("group", group)];
    let texts = texts.iter().fold(SettingTexts::default(), |texts, (key, value)| texts.with(*key, *value));
    let texts = texts.with("step", format!("{step:e}")).with("end-time", format!("{time:e}"));
    let machine = common::model("heavy-top", &[], &texts);
    let (run, outcome) =
        Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap();
    let position =
        ["x", "y", "z"].map(|axis| *run.signal(&format!("top.position.{axis}")).unwrap().last().unwrap());
    (Vector3::from(position), outcome.summary.notes.iter().any(|note| note["kind"] == "large-turn"))
}

#[test]
fn methods_follow_the_turns_that_they_state() {
    for (method, limits) in LIMITS {
        for (group, limit) in ["se3", "so3xr3"].into_iter().zip(limits) {
            let Some(limit) = limit else { continue };
            let error_at = |turn: f64| {
                let (step, time) = (turn / SPIN, STEPS * turn / SPIN);
                let (right, _) = heavy_top("index2", "so3xr3", time / 4000.0, time);
                let (found, told) = heavy_top(method, group, step, time);
                ((found - right).norm() / (right - Vector3::y()).norm(), told)
            };
            let (error, told) = error_at(0.97 * limit);
            assert!(error < 0.05 && !told, "{method} {group}: {error} below {limit} rad, told: {told}");
            let (_, told) = error_at(1.03 * limit);
            assert!(told, "{method} {group}: beyond {limit} rad");
            // Beyond 2 rad a turn could have gone another way, however good the step is.
            if limit < 2.0 {
                let (error, _) = error_at(1.3 * limit);
                assert!(error > 0.05, "{method} {group}: {error} above {limit} rad");
            }
        }
    }
}
