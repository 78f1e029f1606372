//! Many bodies of which any two may touch.

use std::path::Path;

use kreisel::integrate::{GeneralizedAlpha, State};
use kreisel::machine::{Machine, point_of};

use super::read;

fn pile(count: &str) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/settling-balls.toml");
    Machine::read(&path, &[("n", count)]).map_err(|errors| errors.render(false)).unwrap()
}

#[test]
fn balls_settle_and_lose_what_they_fell() {
    let machine = pile("12");
    let run = machine.simulate().unwrap();
    let signal = |name: &str| run.signal(name).unwrap();
    let largest = |name: &str| signal(name).iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let fallen = signal("energy.potential")[0] - signal("energy.potential").last().unwrap();
    assert!(fallen > 0.0);
    // A tolerance of 1e-3 and a hundred impacts.
    assert!(largest("energy.balance") < 0.05 * fallen, "{} of {fallen}", largest("energy.balance"));
    assert!(*signal("energy.kinetic").last().unwrap() < 0.05 * fallen);
    for ball in 0..12 {
        let [x, y, z] =
            ["x", "y", "z"].map(|axis| *signal(&format!("ball-{ball}.position.{axis}")).last().unwrap());
        // Walls and floor hold to a few tenths of a millimetre: the weight of a ball is 0.8 N, the stiffness 20 N/mm.
        assert!(x.abs() < 0.0685 && y.abs() < 0.0685 && z > 0.0195, "ball {ball}: {x} {y} {z}");
    }
}

#[test]
fn the_number_of_candidates_grows_like_the_number_of_bodies() {
    let pairs = |count: &str| {
        let machine = pile(count);
        let plan = machine.plan().unwrap();
        let run =
            GeneralizedAlpha::with(plan.integration).start(&machine.system, machine.initial.clone()).unwrap();
        machine.system.crowd_pairs("pile", &point_of(run.state()))[0] as f64
    };
    let (small, large) = (pairs("64"), pairs("512"));
    // Planes are beside every ball: five pairs each; inner balls have six neighbours to share.
    assert!(large < 9.0 * small && large < 10.0 * 512.0, "{small} {large}");
}

#[test]
fn a_group_moves_like_single_contacts_and_a_restart_goes_on_to_the_same_bits() {
    let balls = "
        [simulation]
        end-time = 0.3
        step = 1e-3
        [gravity]
        acceleration = [0, 0, -10]
        [[body]]
        name = 'a'
        density = 1000
        shape = { kind = 'sphere', radius = 0.05 }
        position = [0, 0, 0.1]
        [[body]]
        name = 'b'
        density = 1000
        shape = { kind = 'sphere', radius = 0.05 }
        position = [0.01, 0, 0.25]
    ";
    let law =
        "stiffness = 1e5\ndamping = 30\ntransition-depth = 1e-4\nfriction = 0.2\ntransition-speed = 1e-2\n";
    let single = |name: &str, bodies: &str| format!("[[contact]]\nname = '{name}'\nbodies = {bodies}\n{law}");
    let apart = format!(
        "{balls}{}{}{}",
        single("one", "['a', 'ground']"),
        single("two", "['b', 'ground']"),
        single("three", "['a', 'b']")
    );
    let together = format!("{balls}[[contact-group]]\nname = 'all'\nmembers = ['a', 'b', 'ground']\n{law}");
    let end = |text: &str| -> Vec<f64> {
        let machine = read(text).unwrap();
        let plan = machine.plan().unwrap();
        let mut run =
            GeneralizedAlpha::with(plan.integration).start(&machine.system, machine.initial.clone()).unwrap();
        run.advance(0.3).unwrap();
        run.state().configuration.clone()
    };
    let (first, second) = (end(&apart), end(&together));
    let difference = first.iter().zip(&second).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()));
    // The same equations, solved to Newton's tolerance; impacts magnify it.
    assert!(difference < 1e-6, "{difference:e}");

    let machine = read(&together).unwrap();
    let method = GeneralizedAlpha::with(machine.plan().unwrap().integration);
    let mut run = method.start(&machine.system, machine.initial.clone()).unwrap();
    run.advance(0.15).unwrap();
    let bytes = run.state().to_bytes();
    run.advance(0.3).unwrap();
    let mut again = method.resume(&machine.system, State::from_bytes(&bytes).unwrap()).unwrap();
    again.advance(0.3).unwrap();
    assert_eq!(run.state().configuration, again.state().configuration);
}

#[test]
fn wrong_groups_are_explained() {
    let body = "[simulation]\nend-time = 1\n[[body]]\nname = 'a'\nmass = 1\nshape = { kind = 'sphere', radius = 0.1 }\n";
    for (keys, words) in [
        ("members = ['b-*', 'ground']\nstiffness = 1", ["no body `b-*`", "a"]),
        ("members = ['ground']\nstiffness = 1", ["two or more", "`members`"]),
        ("members = ['a', 'ground']\nstiffness = 1", ["overlap by 0.1000 m", "barely touch"]),
    ] {
        let message = read(&format!("{body}[[contact-group]]\nname = 'g'\n{keys}\n")).err().unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{keys}: {message}");
    }
}
