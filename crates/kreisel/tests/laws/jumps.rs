//! Prescribed motions that jump: refused with their line where it can be seen, in the step where it cannot.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{difference, read, within};
use kreisel::dae::NoteKind;

const MACHINE: &str = r#"
[simulation]
end-time = 1
step = "1 ms"
[gravity]
acceleration = [0, 0, 0]
[[body]]
name = "crank"
mass = 2
inertia = [0.01, 0.02, 0.03]
position = [0.3, 0, 0]
"#;

const HINGE: &str = r#"
[[revolute]]
name = "hinge"
bodies = ["ground", "crank"]
point = [0, 0, 0]
"#;

fn driven(angle: &str) -> String {
    format!("{MACHINE}{HINGE}[[drive]]\nname = \"motor\"\njoint = \"hinge\"\nangle = {angle}\n")
}

#[test]
fn a_law_that_is_seen_to_jump_is_refused_with_its_line_the_time_and_the_values() {
    for (angle, words) in [
        ("'step(t - 0.05)'", ["from 0 to 1 at t = 0.05 s", "`angle` of the drive `motor`"]),
        ("'floor(100*t)'", ["from 0 to 1 at t = 0.01 s", "without jumps"]),
        ("'if(t < 0.5, sin(t), 0)'", ["from 0.479426 to 0 at t = 0.5 s", "joint-force"]),
        ("'mod(3*t, 2)'", ["from 2 to 0 at t = 0.666667 s", "smooth-start"]),
        ("{ points = [[0, 0], [0.1, 0], [0.1, 1], [1, 1]] }", ["0.1 after 0.1", "ascending"]),
    ] {
        let error = read(&driven(angle)).err().unwrap();
        for part in words.into_iter().chain(["model.toml:20"]) {
            assert!(error.contains(part), "{angle}: {error}");
        }
    }
    for (part, words) in [
        (
            "[[drive]]\nname = 'hand'\npoint = 'crank'\npath = ['0.3', '0.2*step(t - 0.5)', 0]\n",
            "`path` of the drive `hand`",
        ),
        (
            "[[drive]]\nname = 'robot'\nbody = 'crank'\nsequence = 'zxz'\neuler = ['t', 'sign(t - 0.5)', 0]\n",
            "`euler` of the drive `robot`",
        ),
        (
            "[[distance]]\nname = 'rod'\nbodies = ['ground', 'crank']\nlength = '0.3 + 0.1*step(t - 0.5)'\n",
            "`length` of the distance `rod`",
        ),
        (
            "[[velocity-coupling]]\nname = 'pull'\nrates = ['crank.velocity.x']\nfactors = [1]\nvalue = 'step(t - 0.5)'\n",
            "`value` of the velocity-coupling `pull`",
        ),
    ] {
        let error = read(&format!("{MACHINE}{part}")).err().unwrap();
        assert!(error.contains(words) && error.contains("at t = 0.5 s"), "{error}");
    }
}

#[test]
fn what_does_not_jump_while_the_machine_runs_is_taken() {
    for angle in [
        "'step(t - 2)'",
        "'max(0, t - 0.5)'",
        "'step(t - 0.5)*(t - 0.5)^2'",
        "{ points = [[0, 0], [0.1, 0], [0.2, 1]], interpolation = 'linear' }",
        "{ speed = 3, smooth-start = 0.02, start-time = 0.1234 }",
    ] {
        let machine = read(&driven(angle)).unwrap();
        machine.simulate().unwrap_or_else(|error| panic!("{angle}: {error}"));
    }
}

#[test]
fn a_speed_that_jumps_is_told_and_moves_the_machine_as_an_impact() {
    // A slide of 2 kg that is moved by 3 m/s from 0.5 s on, with a bar of 1 kg hinged to it.
    let text = |law: &str| {
        format!(
            "[simulation]\nend-time = 1\nstep = '1 ms'\n[gravity]\nacceleration = [0, 0, 0]\n\
            [[body]]\nname = 'slide'\nmass = 2\ninertia = [1, 1, 1]\n\
            [[prismatic]]\nname = 'rail'\nbodies = ['ground', 'slide']\naxis = [1, 0, 0]\n\
            [[body]]\nname = 'bar'\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [0, 0, -0.5]\n\
            [[revolute]]\nname = 'hinge'\nbodies = ['slide', 'bar']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n\
            [[drive]]\nname = 'motor'\njoint = 'rail'\ndisplacement = {law}\n"
        )
    };
    let machine = read(&text("'3*max(0, t - 0.5)'")).unwrap();
    let told: Vec<_> = machine.notes().into_iter().filter(|note| note.kind == NoteKind::SpeedJump).collect();
    let [note] = told[..] else { panic!("{told:?}") };
    assert!((note.number.unwrap() - 3.0).abs() < 1e-9 && note.time == Some(0.5) && !note.doubt, "{note:?}");
    assert!(note.text.contains("`displacement` of the drive `motor`"), "{}", note.text);
    assert!(note.text.contains("from 0 to 3 m/s at once at t = 0.5 s:"), "{}", note.text);
    // The impulse m l v turns the bar about its hinge by m l v/(J + m l²) = 1.5/0.35, and it goes on with
    // that speed: nothing but the hinge acts, whose slide moves steadily. Steps of h make an error of
    // (ωh)²/12 of the angle, 2.1 rad, at most.
    let run = machine.simulate().unwrap();
    let turned = |t: f64| 1.5 / 0.35 * (t - 0.5).max(0.0);
    within("bar", difference(&run, "hinge.angle", turned), 3.3e-6);
    for law in ["{ speed = 3, smooth-start = 0.2 }", "'3*max(0, t - 0.5)^2'", "'3*t'", "'3*max(0, t - 2)'"] {
        let machine = read(&text(law)).unwrap();
        assert!(machine.notes().into_iter().all(|note| note.kind != NoteKind::SpeedJump), "{law}");
    }
}

#[test]
fn whole_turns_at_once_are_no_jump() {
    for angle in ["'mod(20*t, 2*pi)'", "'atan2(sin(20*t), cos(20*t))'"] {
        let run = read(&driven(angle)).unwrap().simulate().unwrap();
        // What Newton's iteration leaves in the constraints.
        within(angle, difference(&run, "hinge.angle", |t| 20.0 * t), 1e-9);
    }
    let far = read(&format!(
        "{MACHINE}[[drive]]\nname = 'hand'\npoint = 'crank'\npath = ['mod(20*t, 2*pi)', 0, 0]\n"
    ));
    assert!(far.err().unwrap().contains("jumps from 6.28319 to 0"));
}

#[test]
fn a_jump_that_only_the_run_shows_ends_it_with_drive_time_and_values() {
    for (angle, [before, after, time]) in [
        // The cut of the arc tangent, halved: half a turn.
        ("'0.5*atan2(sin(5*t), cos(5*t))'", ["1.5708", "-1.5708", "0.628319"]),
        ("'tan(3*t)'", ["e", "-", "0.523599"]),
        // Smooth, but within a nanosecond.
        ("'tanh(1e9*(t - 0.5005))'", ["-1", "to 1 rad", "0.501"]),
    ] {
        let error = read(&driven(angle)).unwrap().simulate().map(drop).unwrap_err().to_string();
        for part in ["`angle` of the drive `motor`", before, after, time, "jump"] {
            assert!(error.contains(part), "{angle}: no {part} in {error}");
        }
    }
    // Without an end the corners of `floor` are not known in advance.
    let open = driven("'0.1*floor(100*t)'").replace("end-time = 1\n", "");
    let machine = read(&open).unwrap();
    let mut stepper = kreisel::run::Stepper::start(std::sync::Arc::new(machine)).unwrap();
    let ending = stepper.advance_to(0.1, |_| true);
    let kreisel::run::RunEnding::Refused(refusal) = ending else { panic!("{ending:?}") };
    assert!(refusal.to_string().contains("goes from 0 to 0.1 rad at once at t = 0.01 s"), "{refusal}");
}
