//! What a model may repeat takes time linear in its number, and numbers have limits.
//!
//! Work of runs is counted by the bytes that are asked for, which are the same on every computer; that of reading
//! large models by the CPU time of the thread as well.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]
#![allow(clippy::print_stderr, reason = "the table tells what it found")]

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

/// Most times as many bytes for four times as many machines, or points of a table: 4 is linear, 16 quadratic.
const MAX_RATIO: f64 = 5.0;

/// The same for parts on one machine. Joints that hold two bodies by more equations than they have motions share a
/// matrix of all of them, which is why there are at most a hundred; the largest ratio is 8.8, of slides.
const MAX_RATIO_CROWDED: f64 = 12.0;

/// What reading a model, starting it and four steps take: bytes that were asked for, which are the same on every
/// computer, and seconds of this thread; or why it cannot be.
fn work(text: &str) -> Result<[f64; 2], String> {
    let functions = Functions::from([("given".to_owned(), given())]);
    let began = cpu_time();
    let mut outcome = Ok(());
    let measured = allocation_counter::measure(|| {
        let texts = SettingTexts::default().with("end-time", "0.004").with("step", "1e-3");
        let reader = MachineReader::new().with_functions(functions).with_settings(&texts);
        outcome = reader.text("m.toml", text).map_err(|errors| errors.render(false)).and_then(|machine| {
            assert!(!machine.scene().nodes.is_empty());
            let plan = machine.plan().map_err(|errors| errors.render(false))?;
            let mut run = machine.start(&plan).map_err(|error| error.to_string())?;
            match run.advance_to(plan.end_time, &mut ()) {
                RunEnding::Done | RunEnding::Event(_) => Ok(()),
                ending => Err(format!("{ending:?}")),
            }
        });
    });
    outcome.map(|()| [measured.bytes_total as f64, cpu_time() - began])
}

/// What is wrong with the work for some things and for four times as many; tells of it, too.
fn fault(what: &str, count: usize, most: f64, model: &dyn Fn(usize) -> String) -> Option<String> {
    let measured = [count, 4 * count].map(|count| work(&model(count)));
    let [Ok(few), Ok(many)] = &measured else { return Some(format!("{what}: {measured:?}")) };
    let ratio = many[0] / few[0];
    eprintln!("{what}: {ratio:.2} times the bytes, {:.2} times the seconds", many[1] / few[1]);
    (ratio > most)
        .then(|| format!("{what}: {few:?} bytes and s for {count}, {many:?} for four times as many"))
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

/// What grows, how many of it there are at first, the most that is allowed, and the model with so many.
type Family<'a> = (&'static str, usize, f64, &'a dyn Fn(usize) -> String);

#[test]
fn every_kind_of_part_takes_work_linear_in_its_number() {
    let mut found = Vec::new();
    for entry in parts() {
        let kind = entry.kind.name;
        if ONCE.contains(&kind) {
            continue;
        }
        // Machines side by side, and parts on one machine: joints of two bodies have a limit of a hundred, of which
        // the sample takes some.
        let shapes: [Family; 2] = [
            ("machines", 30, MAX_RATIO, &|count| many_machines(entry.sample, count)),
            ("parts of one machine", 20, MAX_RATIO_CROWDED, &|count| many_parts(kind, entry.sample, count)),
        ];
        found.extend(
            shapes.into_iter().filter_map(|(what, count, most, model)| {
                fault(&format!("{kind}, {what}"), count, most, model)
            }),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_table_of_a_hundred_thousand_points_is_read_and_run() {
    let (.., table) = KINDS[3];
    assert_eq!(fault("points of a table", 25_000, MAX_RATIO, &table), None);
}

#[test]
fn joints_between_two_bodies_have_a_limit() {
    let welds = |count: usize| {
        format!("{BODY}[[fixed]]\nname = 'weld{{i}}'\nrepeat = {count}\nbodies = ['ground', 'b']\n")
    };
    assert!(Machine::from_text("m.toml", &welds(100)).is_ok());
    let message = Machine::from_text("m.toml", &welds(101)).err().unwrap().to_string();
    assert!(
        message.contains("between the same two bodies must be at most 100") && message.contains("m.toml:8"),
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
