//! What a model may repeat takes time linear in its number, and numbers have limits.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use kreisel::machine::Machine;

const BODY: &str = "[simulation]\nend-time = 1\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n";

/// A model with a number of things.
type Repeated = fn(usize) -> String;

/// What is repeated, and how often at first.
const KINDS: &[(&str, usize, Repeated)] = &[
    ("markers of a body", 10_000, |count| {
        (0..count).fold(BODY.to_owned(), |mut text, k| {
            let _ = write!(text, "[[marker]]\nname = 'm{k}'\nbody = 'b'\nposition = [{k}, 0, 0]\n");
            text
        })
    }),
    ("markers of the ground that forces name", 4_000, |count| {
        (0..count).fold(BODY.to_owned(), |mut text, k| {
            let _ = write!(
                text,
                "[[marker]]\nname = 'm{k}'\nposition = [{k}, 1, 0]\n\
                 [[spring-damper]]\nname = 's{k}'\nbodies = ['b', 'ground.m{k}']\nstiffness = 1\n"
            );
            text
        })
    }),
    ("bodies with joints", 2_000, |count| {
        (0..count).fold("[simulation]\nend-time = 1\n".to_owned(), |mut text, k| {
            let _ = write!(
                text,
                "[[body]]\nname = 'c{k}'\nmass = 1\ninertia = [1, 1, 1]\nposition = [{k}, 0, 0]\n\
                 [[revolute]]\nname = 'j{k}'\nbodies = ['ground', 'c{k}']\npoint = [{k}, 0, 0]\n"
            );
            text
        })
    }),
    ("points of a table", 20_000, |count| {
        let points: Vec<String> = (0..count).map(|k| format!("[{k}, {}]", k % 7)).collect();
        format!(
            "{BODY}[[table]]\nname = 'f'\npoints = [{}]\n\
             [[force]]\nname = 'push'\nbody = 'b'\nforce = ['f(t)', 0, 0]\n",
            points.join(", ")
        )
    }),
];

/// Reading a model and showing what it describes, the fastest of three.
fn time(text: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        let scene = Machine::from_text("m.toml", text).unwrap().scene();
        assert!(!scene.nodes.is_empty());
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap()
}

/// Four times as many take four times as long; nine times are allowed, and sixteen would be quadratic.
#[test]
fn four_times_as_many_things_take_no_sixteen_times_as_long() {
    for (what, count, model) in KINDS {
        let [few, many] = [*count, 4 * count].map(|count| time(&model(count)));
        assert!(many < 9 * few, "{what}: {few:?} for {count}, {many:?} for four times as many");
    }
}

#[test]
fn numbers_of_elements_have_a_limit() {
    let beam = |elements: u64| {
        format!(
            "[simulation]\nend-time = 1\n[[beam]]\nname = 'rod'\nfrom = [0, 1, 0]\nto = [1, 1, 0]\nelements = {elements}\n\
             section = {{ shape = 'circle', radius = 0.1, youngs-modulus = 1e6, poisson-ratio = 0.3, density = 1000 }}\n"
        )
    };
    for count in [100_001, 1_000_001, 1_000_000_000] {
        let message = Machine::from_text("m.toml", &beam(count)).err().unwrap().to_string();
        assert!(message.contains("must be at most 100000") && message.contains("m.toml:7"), "{message}");
    }
}
