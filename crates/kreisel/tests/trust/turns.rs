//! Steps in which a part turns too far are told.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common;
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
