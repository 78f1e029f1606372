//! Estimates of the error, doubts and verdicts.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common;
use crate::poses::Poses;
use kreisel::dae::Control;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::results::Verdict;
use kreisel::run::{Accuracy, Checkpoint, Every, Job, JobOutcome, Moment, RunEnding, Trajectory};

fn model(name: &str, settings: &[(&str, &str)]) -> Machine {
    let texts = settings.iter().fold(SettingTexts::default(), |texts, (key, text)| texts.with(*key, text));
    common::model(name, &[], &texts)
}

fn run(machine: &Machine) -> JobOutcome {
    Job::new(machine, &machine.plan().unwrap()).record(Trajectory::new(machine)).unwrap().1
}

/// Where parts are at equal times, and what is said of the run.
fn poses(machine: &Machine, pause: f64) -> (Poses, JobOutcome) {
    let mut plan = machine.plan().unwrap();
    plan.output_step = Some(pause);
    Job::new(machine, &plan).record(Poses::default()).unwrap()
}

fn doubts(outcome: &JobOutcome) -> Vec<&str> {
    let doubts = outcome.summary.notes.iter().filter(|note| note["doubt"] == true);
    doubts.filter_map(|note| note["kind"].as_str()).collect()
}

/// Estimated over true errors of positions and angles, the true ones against a run of other settings.
fn calibration(name: &str, own: &[(&str, &str)], fine: &[(&str, &str)], pause: f64) -> ([f64; 2], Accuracy) {
    let asked = [own, &[("error-estimate", "true")]].concat();
    let (motion, outcome) = poses(&model(name, &asked), pause);
    let (reference, _) = poses(&model(name, fine), pause);
    let [position, angle] = motion.differences(&reference);
    let accuracy = outcome.accuracy.unwrap();
    ([accuracy.positions.error / position, accuracy.angles.error / angle], accuracy)
}

#[test]
fn estimates_of_smooth_motions_are_sharp() {
    // The reference has an error of 1/256 of the run's, beside which a twentieth is left for terms of higher order and for
    // the times at which motions are compared.
    for (name, step, fine, pause) in [
        ("heavy-top", "0.5 ms", "0.03125 ms", 0.004),
        ("rolling-disc", "2 ms", "0.125 ms", 0.016),
        ("turntable-ball", "2 ms", "0.125 ms", 0.016),
    ] {
        let (quotients, accuracy) = calibration(name, &[("step", step)], &[("step", fine)], pause);
        assert!(quotients.iter().all(|quotient| (0.95..1.05).contains(quotient)), "{name}: {quotients:?}");
        let quotient = accuracy.positions.quotient.unwrap();
        assert!((3.8..4.2).contains(&quotient), "{name}: {quotient}");
    }
}

#[test]
fn the_estimate_of_a_bouncing_ball_is_never_too_small_and_sharp_where_it_converges() {
    for rtol in ["1e-3", "4e-3"] {
        let own = [("step", "auto"), ("rtol", rtol)];
        let fine = [("step", "auto"), ("rtol", "1e-6")];
        let ([quotient, _], accuracy) = calibration("bouncing-ball", &own, &fine, 0.0095);
        let positions = accuracy.positions;
        // The difference to the first companion alone says it within a factor of 2.
        let converging = positions.error.min(positions.error * (positions.quotient.unwrap() - 1.0) / 3.0);
        let sharp = quotient * converging / positions.error;
        assert!(quotient > 0.5 && (0.5..2.0).contains(&sharp), "{rtol}: {quotient}, {sharp}, {positions:?}");
    }
}

#[test]
fn what_is_led_through_its_motion_has_no_error() {
    let outcome = run(&model("four-bar", &[("error-estimate", "true")]));
    let accuracy = outcome.accuracy.unwrap();
    // Drives decide where the parts are: what is left is the tolerance of Newton's iteration.
    assert!(accuracy.positions.relative() < 1e-9 && accuracy.angles.relative() < 1e-9, "{accuracy:?}");
    assert_eq!((outcome.summary.verdict, doubts(&outcome)), (Some(Verdict::Good), Vec::new()));
}

#[test]
fn steps_that_are_too_large_make_a_result_doubtful() {
    for (name, step) in [("heavy-top", "4 ms"), ("chain-revolute", "10 ms"), ("dc-motor-crank", "20 ms")] {
        let outcome = run(&model(name, &[("step", step)]));
        assert_eq!(outcome.summary.verdict, Some(Verdict::Doubtful), "{name}");
        let told = outcome.summary.notes.iter().filter(|note| note["doubt"] == true);
        assert!(told.clone().all(|note| note["number"].is_f64() && note["advice"].is_string()), "{name}");
        assert!(told.count() > 0, "{name}");
    }
}

#[test]
fn a_run_with_more_energy_than_there_ever_was_ends_with_an_error() {
    // An impact takes a millisecond: a ball that goes deep into the ground in one step is thrown out by it.
    let outcome = run(&model("bouncing-ball", &[("step", "27.5 ms")]));
    assert_eq!(outcome.summary.verdict, Some(Verdict::Wrong));
    let RunEnding::Refused(refusal) = outcome.ending else { panic!("{:?}", outcome.ending) };
    assert!(refusal.to_string().contains("came from nowhere"), "{refusal}");
}

#[test]
fn an_estimate_beyond_a_fiftieth_of_the_range_is_a_doubt_with_the_time_from_which_on() {
    let outcome = run(&model("double-pendulum", &[("step", "10 ms"), ("error-estimate", "true")]));
    assert!(doubts(&outcome).contains(&"large-error"), "{:?}", doubts(&outcome));
    let until = outcome.accuracy.unwrap().resolved_until.unwrap();
    assert!((1.0..5.0).contains(&until), "{until}");
}

#[test]
fn doubts_of_a_run_that_goes_on_are_kept() {
    let machine = model("heavy-top", &[("step", "4 ms")]);
    let plan = machine.plan().unwrap();
    let whole = run(&machine);
    let folder = tempfile::tempdir().unwrap();
    let mut stop = |now: &Moment| if now.time() < 0.5 { Control::Continue } else { Control::Stop };
    let job = || Job::new(&machine, &plan).report(false);
    job().checkpoint(Every::Steps(3)).observe(&mut stop).run_into(folder.path()).unwrap();
    let checkpoint = Checkpoint::read(folder.path()).unwrap();
    let outcome = job().resume(folder.path(), &checkpoint).unwrap();
    assert_eq!(outcome.ending, RunEnding::Done);
    assert_eq!(doubts(&outcome), doubts(&whole));
    let numbers = |outcome: &JobOutcome| -> Vec<f64> {
        outcome.summary.notes.iter().filter_map(|note| note["number"].as_f64()).collect()
    };
    assert_eq!(numbers(&outcome), numbers(&whole));
}
