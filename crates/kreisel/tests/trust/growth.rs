//! What a model may repeat takes time linear in its number, and numbers have limits.
//!
//! Work is counted where it can be, by the bytes that are asked for, and otherwise by the CPU time of the thread,
//! which other programs do not change much.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use kreisel::machine::{Functions, Machine, SettingTexts};
use kreisel::part::{MachineReader, parts};
use kreisel::run::RunEnding;

use crate::common::given;

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

/// Most times as much work for four times as many: 4 is linear, 16 quadratic, and small numbers cost more each.
const MAX_RATIO: f64 = 8.0;

/// What reading a model, starting it and four steps take: bytes that were asked for, and seconds of this thread.
fn work(text: &str) -> [f64; 2] {
    let functions = Functions::from([("given".to_owned(), given())]);
    let mut seconds = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..2 {
        let began = cpu_time();
        let measured = allocation_counter::measure(|| {
            let texts = SettingTexts::default().with("end-time", "0.004").with("step", "1e-3");
            let reader = MachineReader::new().with_functions(functions.clone()).with_settings(&texts);
            let machine =
                reader.text("m.toml", text).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
            assert!(!machine.scene().nodes.is_empty());
            let plan = machine.plan().unwrap();
            let mut run = machine.start(&plan).unwrap_or_else(|error| panic!("{error}"));
            let ending = run.advance_to(plan.end_time, &mut ());
            assert!(matches!(ending, RunEnding::Done | RunEnding::Event(_)), "{ending:?}");
        });
        seconds = seconds.min(cpu_time() - began);
        bytes = measured.bytes_total;
    }
    [bytes as f64, seconds]
}

fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// The tables of a model file, each from its head to the next one.
fn tables(text: &str) -> Vec<String> {
    let mut tables = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            tables.push(String::new());
        }
        let table: &mut String = tables.last_mut().unwrap();
        table.push_str(line);
        table.push('\n');
    }
    tables
}

/// The sample of a kind with so many machines in it, each with names of its own, beside each other. Time and
/// gravity are those of all.
fn many_machines(sample: &str, count: usize) -> String {
    let tables = tables(sample);
    let quoted = |text: &str| {
        text.split("name = '").nth(1).and_then(|rest| rest.split('\'').next()).map(str::to_owned)
    };
    let names: Vec<String> = tables.iter().filter_map(|table| quoted(table)).collect();
    let mut text: String =
        tables.iter().filter(|table| !table.starts_with("[[")).map(String::as_str).collect();
    for copy in 0..count {
        for table in tables.iter().filter(|table| table.starts_with("[[")) {
            if table.starts_with("[[function]]") && copy > 0 {
                // A program gives it once.
                continue;
            }
            let mut table = table.clone();
            for name in names.iter().filter(|name| *name != "given") {
                // The name as a word: whole, and in front of what it has.
                for end in ["'", ".", " "] {
                    for start in ["'", "-", " "] {
                        let (from, to) = (format!("{start}{name}{end}"), format!("{start}{name}{copy}{end}"));
                        table = table.replace(&from, &to);
                    }
                }
            }
            text += &table;
        }
    }
    text
}

/// The sample with its part so many times, all on the same bodies.
fn many_parts(kind: &str, sample: &str, count: usize) -> String {
    let head = format!("[[{kind}]]\n");
    tables(sample)
        .into_iter()
        .map(|table| match table.strip_prefix(&head) {
            Some(rest) => {
                let named = match rest.split_once("name = '") {
                    Some((before, after)) => {
                        let (name, after) = after.split_once('\'').unwrap();
                        format!("{before}name = '{name}{{i}}'{after}")
                            .replace(&format!("{name}.value"), &format!("{name}{{i}}.value"))
                    }
                    None => format!("name = 'part{{i}}'\n{rest}"),
                };
                format!("{head}repeat = {count}\n{named}")
            }
            None => table,
        })
        .collect()
}

/// Kinds of which there is one, or which are given once from outside.
const ONCE: [&str; 3] = ["simulation", "gravity", "function"];

/// What grows, how many of it there are at first, and the model with so many.
type Family<'a> = (&'static str, usize, &'a dyn Fn(usize) -> String);

#[test]
#[ignore = "minutes: `cargo xtask soak`"]
fn every_kind_of_part_takes_work_linear_in_its_number() {
    let mut found = Vec::new();
    for entry in parts() {
        let kind = entry.kind.name;
        if ONCE.contains(&kind) {
            continue;
        }
        // Machines side by side, and parts on one machine: joints of two bodies have a limit of a hundred.
        let shapes: [Family; 2] = [
            ("machines", 60, &|count| many_machines(entry.sample, count)),
            ("parts of one machine", 25, &|count| many_parts(kind, entry.sample, count)),
        ];
        for (what, count, model) in shapes {
            let [few, many] = [count, 4 * count].map(|count| work(&model(count)));
            let [bytes, seconds] = [0, 1].map(|kind| many[kind] / few[kind]);
            // Clocks tell nothing of times that are as short as a slice of the system's.
            if bytes > MAX_RATIO || (seconds > MAX_RATIO && many[1] > 0.05) {
                found.push(format!(
                    "{kind}, {what}: {few:?} bytes and s for {count}, {many:?} for four times as many"
                ));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn joints_between_two_bodies_have_a_limit() {
    let welds = |count: usize| {
        format!("{BODY}[[fixed]]\nname = 'weld{{i}}'\nrepeat = {count}\nbodies = ['ground', 'b']\n")
    };
    assert!(Machine::from_text("m.toml", &welds(100)).is_ok());
    let message = Machine::from_text("m.toml", &welds(101)).err().unwrap().to_string();
    assert!(
        message.contains("at most 100 between the same two bodies") && message.contains("m.toml:8"),
        "{message}"
    );
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
