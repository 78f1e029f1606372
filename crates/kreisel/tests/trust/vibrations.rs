//! Vibrations that are faster than the steps can follow are told, and nothing else is taken for one.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::run::{Job, Trajectory};
use serde_json::Value;

fn vibrations(machine: &Machine) -> Vec<Value> {
    let (_, outcome) = Job::new(machine, &machine.plan().unwrap()).record(Trajectory::new(machine)).unwrap();
    let kinds = ["unresolved-vibrations", "small-vibrations"];
    let notes = outcome.summary.notes.into_iter();
    notes.filter(|note| kinds.contains(&note["kind"].as_str().unwrap())).collect()
}

/// Two masses of 1 kg on springs along guides: one swings at 1000 rad/s with an amplitude, the other at 1
/// rad/s with 1 m.
fn springs(amplitude: f64, settings: &str) -> Machine {
    let spring = |name: &str, y: f64, amplitude: f64, stiffness: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, {y}, 0]\n\
             [[prismatic]]\nname = 'guide-{name}'\nbodies = ['ground', '{name}']\npoint = [0, {y}, 0]\naxis = [1, 0, 0]\n\
             displacement = {amplitude}\n\
             [[spring-damper]]\nname = 'spring-{name}'\njoint = 'guide-{name}'\nstiffness = {stiffness}\n",
        )
    };
    let text = format!(
        "[gravity]\nacceleration = [0, 0, 0]\n[simulation]\n{settings}\n{}{}",
        spring("stiff", 0.0, amplitude, 1e6),
        spring("soft", 1.0, 1.0, 1.0)
    );
    common::read(&text).unwrap()
}

#[test]
fn what_alternates_from_step_to_step_is_told_with_its_amplitude() {
    // ωh = 100: each step turns it round. The range is 2 m.
    let told = vibrations(&springs(0.1, "step = 0.1\nend-time = 10"));
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["kind"], &told[0]["subject"]), (&"unresolved-vibrations".into(), &"stiff".into()));
    assert_eq!(told[0]["doubt"], true);
    // An amplitude of 0.1 m is 5 % of the range; the method damps by a tenth a step, and ten steps are looked
    // at.
    let part = told[0]["number"].as_f64().unwrap();
    assert!((0.01..0.06).contains(&part), "{part}");
    // A thousandth of it moves nothing, and rules the accelerations: 100 m/s² beside 1 m/s².
    let told = vibrations(&springs(1e-4, "step = 0.1\nend-time = 10"));
    assert_eq!((told.len(), &told[0]["kind"]), (1, &"small-vibrations".into()), "{told:?}");
    assert!(told[0]["doubt"].is_null(), "{told:?}");
    // Rounding, and steps that follow it, are none.
    assert_eq!(vibrations(&springs(1e-9, "step = 0.1\nend-time = 10")), Vec::<Value>::new());
    assert_eq!(vibrations(&springs(0.1, "step = 3e-4\nend-time = 0.3")), Vec::<Value>::new());
}

#[test]
fn motions_that_are_resolved_are_no_vibrations() {
    for name in
        ["heavy-top", "pendulum", "chain-revolute", "chain-spherical", "spin-up-beam", "bouncing-ball"]
    {
        let machine = common::model(name, &[], &SettingTexts::default());
        assert_eq!(vibrations(&machine), Vec::<Value>::new(), "{name}");
    }
}

#[test]
fn rounding_is_no_vibration() {
    // A body that a drive turns steadily: in its own axes nothing accelerates but by rounding.
    let machine = common::read(
        "[gravity]
        acceleration = [0, 0, 0]
        [simulation]
        end-time = 0.2
        step = 1e-3
        [[body]]
        name = 'arm'
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        position = [0.5, 0, 0]
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'arm']
        point = [0, 0, 0]
        axis = [0, 0, 1]
        [[drive]]
        name = 'motor'
        joint = 'pin'
        angle = { points = [[0, 0], [0.05, 0], [0.1, 1], [0.2, 1]], interpolation = 'linear' }",
    );
    assert_eq!(vibrations(&machine.unwrap()), Vec::<Value>::new());
}
