//! Steps by the error: how they begin, what they may not do, and that rounding does not end them.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::fmt::Write;

use kreisel::integrate::{ErrorControl, Family, INDEX2, Parameters, SCHEMES, Settings};
use kreisel::lie::Vector3;
use kreisel::machine::{Machine, SettingTexts};
use kreisel::results::Verdict;
use kreisel::run::{Job, RunEnding, Trajectory};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{self, column, difference, within};

/// An arm on a hinge that turns, and a filter of its angle: the rate of the filter's state is rounding at the
/// start.
const ARM: &str = r#"
[[body]]
name = "arm"
mass = 1
inertia = [0.02, 0.03, 0.04]
position = [0.3, 0.1, 0.2]
orientation = { axis = [1, 2, 3], angle = 0.3 }
velocity = [0.2, 0, -0.3]
angular-velocity = [0, 1, 0]
[[revolute]]
name = "hinge"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 1, 0]
"#;

const FILTER: &str = r#"
[[transfer-function]]
name = "filter"
input = "hinge.angle"
numerator = [1]
denominator = [0.01, 0.2, 1]
"#;

fn settings(lines: &[(&str, &str)]) -> SettingTexts {
    lines.iter().fold(SettingTexts::default(), |texts, (key, value)| texts.with(*key, *value))
}

fn auto(method: &str, end: f64) -> String {
    format!("[simulation]\nend-time = {end}\nstep = 'auto'\nrtol = 1e-6\nmethod = '{method}'\n")
}

/// The signals of a run to its end, or why there are none.
fn simulate(machine: &Machine) -> Result<Trajectory, String> {
    let plan = machine.plan().unwrap();
    let (trajectory, _) =
        Job::new(machine, &plan).record(Trajectory::new(machine)).map_err(|error| error.to_string())?;
    let end = trajectory.times.last().copied().unwrap_or_default();
    if end == plan.end_time { Ok(trajectory) } else { Err(format!("ended at {end} s")) }
}

/// A chain on hinges that turns about the first of them as one piece, and blocks that are fed by it and by
/// each other.
fn controlled_chain(random: &mut ChaCha8Rng) -> String {
    let mut vector = |size: f64| Vector3::from_fn(|_, _| size * random.random_range(-1.0..1.0));
    let list = |vector: Vector3| format!("{:?}", vector.as_slice());
    let mut text = String::new();
    let (mut pin, axis) = (vector(0.5), vector(1.0).normalize());
    let (start, spin) = (pin, vector(3.0).x * axis);
    let mut signals = vec!["0.3 + sin(5*t)".to_string()];
    for body in 0..3 {
        let (arm, hinge) = (vector(0.3), if body == 0 { axis } else { vector(1.0).normalize() });
        let (centre, before) =
            (pin + arm, if body == 0 { "ground".into() } else { format!("b{}", body - 1) });
        let (turned, velocity) = (list(vector(1.0).normalize()), spin.cross(&(centre - start)));
        let position = list(centre);
        let (velocity, spin) = (list(velocity), list(spin));
        writeln!(
            text,
            "[[body]]\nname = 'b{body}'\nmass = 1\ninertia = [0.02, 0.03, 0.04]\nposition = {position}\n\
             orientation = {{ axis = {turned}, angle = 0.7 }}\nvelocity = {velocity}\nangular-velocity = {spin}\n\
             [[revolute]]\nname = 'h{body}'\nbodies = ['{before}', 'b{body}']\npoint = {}\naxis = {}",
            list(pin),
            list(hinge)
        )
        .unwrap();
        signals.extend([format!("h{body}.angle"), format!("h{body}.rate"), format!("b{body}.position.z")]);
        pin = centre + arm;
    }
    for block in 0..3 {
        let input = signals[random.random_range(0..signals.len())].clone();
        let time = 10.0_f64.powf(random.random_range(-2.5..0.0));
        match random.random_range(0..3) {
            0 => write!(text, "[[pid]]\nname = 'c{block}'\nerror = '{input}'\nproportional = 2\nintegral = 1\nderivative = 0.1\nfilter-time = {time}\n"),
            1 => write!(text, "[[transfer-function]]\nname = 'c{block}'\ninput = '{input}'\nnumerator = [1]\ndenominator = [{time}, 1]\n"),
            _ => write!(
                text,
                "[[transfer-function]]\nname = 'c{block}'\ninput = '{input}'\nnumerator = [{time}, 1]\ndenominator = [{}, {}, 1]\n",
                time * time,
                1.4 * time
            ),
        }
        .unwrap();
        signals.push(format!("c{block}.output"));
    }
    text
}

#[test]
fn no_machine_with_blocks_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(60);
    let mut texts = vec![format!("{ARM}{FILTER}")];
    texts.extend((0..60).map(|_| controlled_chain(&mut random)));
    let mut refused = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        for method in SCHEMES.iter().filter(|method| !method.needs_one_size()).map(|method| method.word()) {
            let group = if method == "updated-lagrangian" { "group = 'so3xr3'\n" } else { "" };
            let machine = common::read(&format!("{}{group}{text}", auto(method, 0.05))).unwrap();
            match simulate(&machine) {
                Ok(run) => {
                    let first = column(&run, "solver.step")[1];
                    assert!(first > 1e-5 * 0.05, "{index}, {method}: the first step is {first} s");
                }
                Err(error) => refused.push(format!("{index}, {method}: {error}")),
            }
        }
    }
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn forces_with_whole_periods_in_the_run_are_seen() {
    for frequency in [10.0, 100.0, 200.0, 500.0] {
        let omega = std::f64::consts::TAU * frequency;
        let machine = common::read(&format!(
            "[simulation]\nend-time = 1\nrtol = 1e-6\n[gravity]\nacceleration = [0, 0, 0]\n\
             [[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\nmarkers = [{{ name = 'm', position = [1, 0, 0] }}]\n\
             [[force]]\nbody = 'b'\nforce = ['{amplitude}*sin({omega}*t)', 0, 0]\n",
            amplitude = omega * omega
        ))
        .unwrap();
        let run = simulate(&machine).unwrap();
        // ẍ = ω² sin ωt from rest.
        let error = difference(&run, "b.position.x", |t| omega * t - (omega * t).sin());
        within(&format!("{frequency} Hz"), error, 1e-2 * omega);
    }
}

#[test]
fn rounding_does_not_end_a_run_that_begins_with_a_tiny_step() {
    for (name, end) in [("four-bar", "0.3"), ("bricard-6r", "0.3")] {
        for method in ["index3", "hht-i3", "bdf2", "index2"] {
            for first in ["1e-9", "1e-10"] {
                let texts = settings(&[
                    ("step", "auto"),
                    ("rtol", "1e-6"),
                    ("end-time", end),
                    ("min-step", "1e-10"),
                    ("initial-step", first),
                    ("method", method),
                ]);
                let run = simulate(&common::model(name, &[], &texts));
                assert!(run.is_ok(), "{name}, {method}, {first}: {}", run.err().unwrap_or_default());
            }
        }
    }
}

#[test]
fn a_first_step_that_is_far_too_small_stops_no_method() {
    for name in ["four-bar", "bricard-6r"] {
        let settings = SettingTexts::default().with("method", "index3").with("end-time", 0.2);
        let settings = settings.with("step", "auto").with("rtol", "1e-6").with("initial-step", "1e-10");
        let run = simulate(&common::model(name, &[], &settings)).unwrap();
        assert_eq!(run.times.last().copied(), Some(0.2), "{name}");
    }
}

#[test]
fn rounding_does_not_end_a_run_far_from_the_origin() {
    let far = "
        [[body]]
        name = 'arm'
        mass = 1
        inertia = [0.02, 0.03, 0.04]
        position = [1000000.3, 0.1, 0.2]
        [[revolute]]
        name = 'hinge'
        bodies = ['ground', 'arm']
        point = [1000000, 0, 0]
        axis = [0, 1, 0]
    ";
    let near = far.replace("1000000.3", "0.3").replace("1000000", "0");
    for method in SCHEMES.iter().filter(|method| !method.needs_one_size()).map(|method| method.word()) {
        let group = if method == "updated-lagrangian" { "group = 'so3xr3'\n" } else { "" };
        let angle = |arm: &str| {
            let machine = common::read(&format!("{}{group}{arm}", auto(method, 0.2))).unwrap();
            let run = simulate(&machine).unwrap_or_else(|error| panic!("{method}: {error}"));
            common::last(&run, "hinge.angle")
        };
        // A position of 1e6 m is rounded by 1e-10 m.
        within(method, (angle(far) - angle(&near)).abs(), 1e-5);
    }
}

#[test]
fn no_step_turns_a_part_further_than_it_can_follow() {
    let texts = settings(&[("step", "auto"), ("rtol", "4e-3")]);
    let run = simulate(&common::model("gear-pair", &[], &texts)).unwrap();
    // Inertias ½ m r², that of the wheel by the square of the ratio; torque 5 N m against 0.08 N m s/rad at
    // the pinion.
    let inertia = 0.5 * 1.2 * 0.05 * 0.05 + 0.4 * 0.4 * 0.5 * 7.5 * 0.125 * 0.125;
    let (time, speed) = (inertia / 0.08, 5.0 / 0.08);
    let exact = |t: f64| speed * (t - time * (1.0 - (-t / time).exp()));
    within("angle of the pinion", difference(&run, "pinion-bearing.angle", exact), 1e-2);
}

#[test]
fn steady_spin_takes_steps_of_any_turn() {
    for method in ["index2", "auto"] {
        let machine = common::read(&format!(
            "[simulation]\nend-time = 100\nrtol = 1e-4\nmethod = '{method}'\n[gravity]\nacceleration = [0, 0, 0]\n\
             [[body]]\nname = 'rotor'\nmass = 1\ninertia = [1, 2, 3]\nangular-velocity = [0, 0, 100]\n",
        ));
        let run = simulate(&machine.unwrap()).unwrap();
        assert!(run.times.len() < 100, "{method}: {} steps", run.times.len());
    }
}

#[test]
fn a_turn_that_the_smallest_step_does_not_follow_ends_the_run_with_a_name() {
    let machine = common::read(
        "[simulation]\nend-time = 1\nstep = 'auto'\nrtol = 1e6\nmin-step = 0.1\nmax-step = 0.1\n[gravity]\nacceleration = [0, 0, 0]\n\
         [[body]]\nname = 'rotor'\nmass = 1\ninertia = [1, 1, 1]\n[[force]]\nbody = 'rotor'\ntorque = [0, 0, 600]\n",
    )
    .unwrap();
    let mut run = machine.start_with(machine.plan().unwrap().integration).unwrap();
    let error = run.advance(1.0).unwrap_err().to_string();
    assert!(
        error.contains("turns by") && error.contains("`rotor`") && error.contains("`min-step`"),
        "{error}"
    );
}

#[test]
fn reactions_between_corners_that_nearly_coincide_are_no_rounding() {
    let force = "[[force]]\nbody = 'arm'\nforce = [0, 0, '1e-3*(abs(t - 0.05) - abs(t - 0.050000005))']\n";
    for (method, step) in [("index3", "'auto'"), ("hht-i3", "'auto'"), ("bdf2", "'auto'"), ("index3", "1e-3")]
    {
        let head = format!("[simulation]\nend-time = 0.1\nstep = {step}\nrtol = 1e-6\nmethod = '{method}'\n");
        let run = simulate(&common::read(&format!("{head}{ARM}{force}")).unwrap()).unwrap();
        let close = run.times.windows(2).filter(|pair| pair[1] - pair[0] < 1e-8 && pair[1] > pair[0]).count();
        assert!(close > 0, "{method}, {step}: nothing landed on both corners");
        let reaction = column(&run, "hinge.force.z");
        // The arm turns by less than 0.01 rad in a step; the force itself is below 1e-11 N.
        let jump = reaction.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        within(&format!("{method}, {step}"), jump, 0.5);
    }
}

#[test]
fn steps_by_the_error_need_damping() {
    let text = |method: &str, radius: &str, step: &str| {
        format!(
            "[simulation]\nend-time = 1\nstep = {step}\nmethod = '{method}'\nspectral-radius = {radius}\n{ARM}"
        )
    };
    for method in SCHEMES {
        let has_choice = method.family() != Family::Fixed;
        let refused = common::read(&text(method.word(), "1", "'auto'")).err();
        assert_eq!(refused.is_some(), has_choice, "{method:?}");
        if let Some(error) = refused {
            assert!(error.contains("at most 0.98") && error.contains("alternate"), "{error}");
        }
        assert!(common::read(&text(method.word(), "0.98", "'auto'")).is_ok());
        assert!(common::read(&text(method.word(), "1", "1e-3")).is_ok());
    }
    // Who names α, or gives settings by himself, reads the same words.
    let machine = common::read(&text("index2", "0.9", "1e-3")).unwrap();
    for parameters in [Parameters::hht(0.0), Parameters::chung_hulbert(1.0)] {
        let settings = Settings::auto(INDEX2, parameters.unwrap(), ErrorControl::new(1e-4, 1.0));
        let error = machine.start_with(settings).err().unwrap().to_string();
        assert!(error.contains("at most 0.98") && error.contains("alternate"), "{error}");
    }
}

/// 5 kg on a steel wire of 2 m and 0.8 mm, pushed sideways.
fn wire(settings: &str) -> Machine {
    let text = format!(
        "
        [simulation]
        end-time = 0.4
        {settings}
        output-step = 0.01
        start = 'static'
        [[body]]
        name = 'weight'
        shape = {{ kind = 'sphere', radius = 0.05 }}
        mass = 5
        position = [0, 0, -2]
        velocity = [0.2, 0, 0]
        [[beam]]
        name = 'wire'
        from = [0, 0, 0]
        to = [0, 0, -2]
        start = 'ground'
        end = 'weight'
        elements = 20
        order = 2
        section = {{ shape = 'circle', radius = 0.0004, youngs-modulus = 210e9, poisson-ratio = 0.3, density = 7850 }}
        "
    );
    common::read(&text).unwrap()
}

#[test]
fn a_weight_on_a_thin_wire_swings_like_a_pendulum() {
    // Vibrations of the wire's sections are far faster than any step that the swing needs. Whether the method
    // damps them all (a radius of 0) or hardly, and whoever chooses the steps, the swing must come out.
    for settings in ["rtol = 1e-2\nspectral-radius = 0", "accuracy = 1e-2"] {
        let run = simulate(&wire(settings)).unwrap();
        // v₀/ω sin ωt with ω² = g/L: the wire has 1.6e-3 of the mass, and stretches by 5e-4 of its length.
        let omega = (9.80665_f64 / 2.0).sqrt();
        let error = difference(&run, "weight.position.x", |t| 0.2 / omega * (omega * t).sin());
        within(settings, error, 5e-4);
    }
}

#[test]
fn a_thin_wire_whose_sections_spin_wildly_ends_with_an_error() {
    // Steps that turn sections by many turns: the weight seems to stay where it is.
    for step in ["step = 1e-3", "step = 1e-4"] {
        let machine = wire(step);
        let (_, outcome) =
            Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap();
        assert_eq!(outcome.summary.verdict, Some(Verdict::Wrong), "{step}");
        let RunEnding::Refused(refusal) = outcome.ending else { panic!("{step}: {:?}", outcome.ending) };
        assert!(refusal.to_string().contains("came from nowhere"), "{step}: {refusal}");
    }
}

#[test]
fn an_explicit_step_into_a_contact_that_gives_no_numbers_ends_with_an_error() {
    // The ball is pushed out of the floor by more energy than a number can hold.
    let text = "
        [simulation]
        end-time = 1.9
        method = 'explicit8'
        step = 0.95
        [[body]]
        name = 'ball'
        density = 1000
        shape = { kind = 'sphere', radius = 0.1 }
        position = [0, 0, 0.6]
        [[contact]]
        name = 'floor'
        bodies = ['ground', 'ball']
        law = 'hertz'
        youngs-modulus = 1e10
        restitution = 0.7
        ";
    let machine = common::read(text).unwrap();
    let (trajectory, outcome) =
        Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap();
    let RunEnding::Refused(refusal) = outcome.ending else { panic!("{:?}", outcome.ending) };
    assert!(refusal.to_string().starts_with("More energy than a number can hold"), "{refusal}");
    assert_eq!(outcome.summary.verdict, Some(Verdict::Wrong));
    assert!(trajectory.columns.iter().flatten().all(|value| value.is_finite()));
}

#[test]
fn methods_of_high_order_tell_of_fixed_steps_that_are_too_large_by_their_own_estimate() {
    // A pendulum that swings far: the steps are compared with small ones.
    let text = |method: &str, step: f64| {
        format!(
            "
            [simulation]
            end-time = 4
            output-step = 1
            method = '{method}'
            step = {step}
            [[body]]
            name = 'bob'
            mass = 1
            inertia = [0.01, 0.01, 0.01]
            position = [1, 0, 0]
            [[revolute]]
            name = 'hinge'
            bodies = ['ground', 'bob']
            point = [0, 0, 0]
            axis = [0, 1, 0]
            "
        )
    };
    let kinds = |method: &str, step: f64| {
        let machine = common::read(&text(method, step)).unwrap();
        let (motion, outcome) =
            Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap();
        let told = outcome.summary.notes.iter().any(|note| note["kind"] == "large-steps");
        (column(&motion, "bob.position.z").to_vec(), told)
    };
    for (method, good, bad) in [("explicit8", 0.2, 1.0), ("extrapolated", 0.01, 0.8)] {
        let (exact, _) = kinds(method, good / 8.0);
        let far =
            |values: &[f64]| values.iter().zip(&exact).fold(0.0_f64, |far, (a, b)| far.max((a - b).abs()));
        let (values, told) = kinds(method, good);
        assert!(far(&values) < 1e-3 && !told, "{method}: {}", far(&values));
        let (values, told) = kinds(method, bad);
        assert!(far(&values) > 0.02 && told, "{method}: {}", far(&values));
    }
}
