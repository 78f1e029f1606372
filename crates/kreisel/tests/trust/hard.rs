//! Every example model with a hundredth of its step, its own, and a hundred times its step: it comes to its
//! end, or says when and where it failed and what to try.
//!
//! `cargo xtask hard` runs them to their ends; the short version is part of all tests.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]
#![allow(clippy::print_stderr, reason = "long runs tell what they did")]

use kreisel::dae::Control;
use kreisel::integrate::{ErrorControl, Interval, Observer};
use kreisel::machine::{Machine, RunPlan};
use kreisel::run::RunEnding;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far a run goes: to its end, unless it takes more steps or more time.
#[derive(Clone, Copy)]
struct Limit {
    steps: u64,
    until: Option<Instant>,
}

impl Observer for Limit {
    fn accepted(&mut self, last: &mut dyn Interval) -> Control {
        let state = last.ends().to;
        let numbers = state.configuration.iter().chain(&state.velocity).chain(&state.multipliers);
        assert!(
            numbers.into_iter().all(|value| value.is_finite()),
            "a state that is none at {} s",
            state.time
        );
        self.steps = self.steps.saturating_sub(1);
        let late = self.until.is_some_and(|until| Instant::now() > until);
        if self.steps == 0 || late { Control::Stop } else { Control::Continue }
    }
}

/// The plan with another step; where the error decides on the step, with another tolerance.
fn scaled(plan: &RunPlan, factor: f64) -> RunPlan {
    let mut plan = plan.clone();
    let settings = plan.integration;
    let control = settings.error_control().map(|control| ErrorControl {
        rtol: control.rtol * factor,
        atol: control.atol * factor,
        ..control
    });
    plan.integration = settings.with_step(settings.step() * factor).with_error_control(control);
    plan
}

/// How a run ended: the time that it reached and whether that is its end, or what it said.
fn outcome(machine: &Machine, plan: &RunPlan, mut limit: Limit) -> Result<(f64, bool), String> {
    let mut run = machine.start(plan).map_err(|error| error.to_string())?;
    let ending = run.advance(&mut limit);
    let time = run.integration().values().time;
    match ending {
        RunEnding::Failed(error) => Err(error.to_string()),
        RunEnding::Refused(error) => Err(error.to_string()),
        RunEnding::Done | RunEnding::Event(_) => Ok((time, true)),
        RunEnding::Stopped => Ok((time, false)),
    }
}

/// All model files that can be run, with their plans.
fn models() -> Vec<(String, Machine, RunPlan)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let machine = Machine::read(&path, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let plan = machine.plan().ok()?;
        Some((path.file_stem()?.to_str()?.to_owned(), machine, plan))
    };
    paths.into_iter().filter_map(read).collect()
}

/// A message names the time and a part or joint, and says what to try.
fn check_message(words: &str) {
    assert!(words.contains("t = ") && words.contains('`'), "no place: {words}");
    assert!(["Try", "try", "must"].iter().any(|word| words.contains(word)), "nothing to try: {words}");
}

/// Runs every model with a factor of its step, and judges how it ended.
fn run_all(factor: f64, steps: u64, seconds: Option<u64>) {
    for (name, machine, plan) in models() {
        let begun = Instant::now();
        let limit = Limit { steps, until: seconds.map(|seconds| begun + Duration::from_secs(seconds)) };
        let ended = outcome(&machine, &scaled(&plan, factor), limit);
        if let Err(words) = ended {
            // At its own step and below every model comes to its end.
            assert!(factor > 1.0, "{name} at {factor} h: {words}");
            check_message(&words);
        }
    }
}

#[test]
fn every_model_goes_some_steps_at_a_hundredth_and_a_hundred_of_its_step_or_says_what_to_do() {
    for (factor, steps) in [(0.01, 5), (1.0, 10), (100.0, 20)] {
        run_all(factor, steps, None);
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask hard` runs it"]
fn every_model_comes_to_its_end_with_its_own_step() {
    run_all(1.0, u64::MAX, None);
}

#[test]
#[ignore = "takes minutes; `cargo xtask hard` runs it"]
fn every_model_comes_to_its_end_with_a_hundred_times_its_step_or_says_what_to_do() {
    run_all(100.0, u64::MAX, None);
}

#[test]
#[ignore = "takes minutes; `cargo xtask hard` runs it"]
fn every_model_goes_far_with_a_hundredth_of_its_step() {
    run_all(0.01, 50_000, Some(10));
}
