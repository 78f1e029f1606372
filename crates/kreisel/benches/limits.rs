//! What Kreisel promises of its own cost: growth with the size of the machine, set-up, memory, the worst of a
//! million steps. Prints the word `limit`, what was measured, the value and the limit, with tabs. Arguments
//! that are no flags name what is to be measured.

mod measure;

use std::io::{self, Write};
use std::path::Path;

use kreisel::integrate::{INDEX2, INDEX3, Integration, Integrator, Method};
use kreisel::lie::Group;
use kreisel::machine::{Machine, Mobility, SettingTexts};
use kreisel::part::MachineReader;
use kreisel::results::WriteError;
use kreisel::run::{Job, Record, Sink};
use kreisel::solve::sparse_lu::SparseLu;
use kreisel::solve::sparse_lu::samples::{SampleMatrix, SampleScales};
use kreisel_papers::problem::HeavyTop;
use measure::{Stopwatch, asked, machine, median, thread_time};

const STEP: f64 = 1e-3;

/// An arm of three links on three driven hinges: 18 coordinates, 18 equations.
const ARM: &str = "
[[body]]
name = 'column'
density = 2700
shape = { kind = 'box', size = [0.1, 0.1, 0.4] }
position = [0, 0, 0.2]
[[body]]
name = 'upper-arm'
density = 2700
shape = { kind = 'box', size = [0.5, 0.08, 0.08] }
position = [0.25, 0, 0.4]
[[body]]
name = 'forearm'
density = 2700
shape = { kind = 'box', size = [0.4, 0.06, 0.06] }
position = [0.7, 0, 0.4]
[[revolute]]
name = 'base'
bodies = ['ground', 'column']
point = [0, 0, 0]
[[revolute]]
name = 'shoulder'
bodies = ['column', 'upper-arm']
point = [0, 0, 0.4]
axis = [0, 1, 0]
[[revolute]]
name = 'elbow'
bodies = ['upper-arm', 'forearm']
point = [0.5, 0, 0.4]
axis = [0, 1, 0]
[[drive]]
name = 'base-motor'
joint = 'base'
angle = '0.8*(1 - cos(2*t))'
[[drive]]
name = 'shoulder-motor'
joint = 'shoulder'
angle = '0.4*(1 - cos(3*t))'
[[drive]]
name = 'elbow-motor'
joint = 'elbow'
angle = '-0.6*(1 - cos(5*t))'
";

/// A tree of N links on ball joints, two on the end of each, released from the horizontal.
const TREE: &str = "
[[body]]
name = 'link-{i}'
repeat = N
mass = 1
shape = { kind = 'box', size = [0.1, 0.05, 0.05] }
position = ['0.1*floor(ln(i + 1)/ln(2) + 1e-9) + 0.05', '0.02*mod(i, 2)', 0]
markers = [{ name = 'end', position = [0.05, 0, 0] }]
[[spherical]]
name = 'root'
bodies = ['ground', 'link-0']
point = [0, 0, 0]
[[spherical]]
name = 'joint-{i+1}'
repeat = 'N - 1'
bodies = ['link-{floor(i/2)}.end', 'link-{i+1}']
";

/// A chain of N bodies on joints of a kind, with what moves each joint.
const ROW: &str = "
[[body]]
name = 'link-{i}'
repeat = N
mass = 1
shape = { kind = 'box', size = [0.1, 0.05, 0.05] }
position = ['0.1*i + 0.05', 0, 0]
[[KIND]]
name = 'joint-0'
bodies = ['ground', 'link-0']
point = [0, 0, 0]
axis = [0, 0, 1]
[[KIND]]
name = 'joint-{i+1}'
repeat = 'N - 1'
bodies = ['link-{i}', 'link-{i+1}']
point = ['0.1*(i + 1)', 0, 0]
axis = [0, 0, 1]
";

/// What drives the joints of such a chain.
const DRIVES: &str = "
[[drive]]
name = 'drive-{i}'
repeat = N
joint = 'joint-{i}'
angle = '1e-3*(1 - cos(5*t))'
";

/// Two balls that fall far away and meet nobody, with a group or without.
const BALLS: &str = "
[[body]]
name = 'ball-{i}'
repeat = 2
mass = 1
shape = { kind = 'sphere', radius = 0.1 }
position = ['100 + 10*i', 0, 0]
";

const GROUP: &str = "
[[contact-group]]
name = 'balls'
members = ['ball-*']
stiffness = 1e5
damping = 20
transition-depth = 1e-4
";

fn main() {
    let _ = measure::runs();
    let all: [(&str, fn()); 16] = [
        ("links", growth_with_the_number_of_links),
        ("tree", growth_with_the_size_of_a_tree),
        ("scaling", growth_of_all_kinds_with_index2),
        ("loops-in-a-row", redundant_loops),
        ("long-chains", long_chains_with_index2),
        ("net-at-rest", nets_at_rest),
        ("idle-group", idle_contact_group),
        ("no-settings", machines_without_settings),
        ("run", what_a_run_adds),
        ("files", what_files_add),
        ("elements", growth_with_the_number_of_elements),
        ("factors", factorisation),
        ("loops", analysis_of_many_loops),
        ("index2", cost_of_index2),
        ("grid", grid_of_bars),
        ("arm", driven_arm),
    ];
    for (name, measure) in all {
        if asked(name, "kreisel") {
            measure();
        }
    }
}

fn limit(what: &str, value: &str, most: &str) {
    // A closed stream leaves nobody to tell.
    let _ = io::stdout().write_all(format!("limit\t{what}\t{value}\t{most}\n").as_bytes());
}

fn start<'m>(machine: &'m Machine, method: Method, step: f64) -> Integration<'m> {
    let method = Integrator::new(method, 0.9, step).expect("the parameters are in range");
    method.start(machine.system(), machine.initial().clone()).expect("the initial values are consistent")
}

/// CPU time of a step and body of a large machine, in those of a small one: the median of ratios of runs that
/// take turns. Gives the time of a step of the large one in seconds as well.
///
/// Both are compared in the same steps of their motion, the first. Of the small one the mean over many runs
/// counts, which together take as long as one of the large: what else the computer does then falls on both
/// alike.
fn growth([small, large]: [&Machine; 2], method: Method) -> (f64, f64) {
    let (mut ratios, mut times) = (Vec::new(), Vec::new());
    for round in 0..5 {
        let seconds = seconds_of_first_steps(large, method, round == 0);
        let bodies = [small, large].map(|machine| machine.system().node_count() as f64);
        let count = (bodies[1] / bodies[0]) as usize;
        let runs = (0..count).map(|run| seconds_of_first_steps(small, method, (round, run) == (0, 0)));
        ratios.push(seconds / bodies[1] / (runs.sum::<f64>() / count as f64 / bodies[0]));
        times.push(seconds);
    }
    (median(ratios), median(times))
}

/// CPU time of a step in seconds at the start of the motion; shows the work on standard error.
fn seconds_of_first_steps(machine: &Machine, method: Method, show: bool) -> f64 {
    const STEPS: usize = 20;
    let mut run = start(machine, method, STEP);
    run.step().expect("every step converges");
    let clock = Stopwatch::start();
    for _ in 0..STEPS {
        run.step().expect("every step converges");
    }
    let seconds = clock.seconds() / STEPS as f64;
    if show {
        let (nodes, work) = (machine.system().node_count(), run.statistics());
        let (iterations, matrices) = (work.iterations, work.matrices);
        let words =
            format!("{nodes} bodies: {iterations} iterations, {matrices} matrices in {} steps\n", work.steps);
        let _ = io::stderr().write_all(words.as_bytes());
    }
    seconds
}

/// Median over a few rounds of the CPU time of a step, in seconds.
fn seconds_per_step(run: &mut Integration<'_>, steps: usize) -> f64 {
    let round = |run: &mut Integration<'_>| {
        let clock = Stopwatch::start();
        for _ in 0..steps {
            run.step().expect("every step converges");
        }
        clock.seconds() / steps as f64
    };
    round(run);
    median((0..3).map(|_| round(run)).collect())
}

/// Resident memory in bytes; nothing where the system does not tell.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(4096.0 * pages)
}

fn growth_with_the_number_of_links() {
    let small = machine("chain-spherical", &[("n", "100")]);
    let before = resident();
    let timed = || {
        let clock = Stopwatch::start();
        let large = machine("chain-spherical", &[("n", "10000")]);
        let run = start(&large, INDEX3, STEP);
        let seconds = clock.seconds();
        drop(run);
        (seconds, large)
    };
    let (first_set_up, large) = timed();
    let mut run = start(&large, INDEX3, STEP);
    // Memory counts once it is written to.
    run.step().expect("every step converges");
    let after = resident();
    drop(run);
    let set_up = median(vec![first_set_up, timed().0, timed().0]);
    let (ratio, step) = growth([&small, &large], INDEX3);
    let what = "cost per body and step, chain of 10,000 links against 100";
    limit(what, &format!("{ratio:.2}"), "1.5");
    limit("set-up of 10,000 links, in steps", &format!("{:.1}", set_up / step), "20");
    if let (Some(before), Some(after)) = (before, after) {
        limit("memory per body of 10,000 links", &format!("{:.1} kB", 1e-7 * (after - before)), "20 kB");
    }
}

fn growth_with_the_size_of_a_tree() {
    let tree = |size: &str| from_text(&TREE.replace('N', size));
    let (ratio, _) = growth([&tree("100"), &tree("10000")], INDEX3);
    limit("cost per body and step, tree of 10,000 links against 100", &format!("{ratio:.2}"), "1.5");
}

fn from_text(text: &str) -> Machine {
    Machine::from_text("model.toml", text).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// Every kind of row goes on to 10,000 bodies.
fn growth_of_all_kinds_with_index2() {
    let of_model = |model: &str, parameter: &str, sizes: [&str; 2]| {
        sizes.map(|size| machine(model, &[(parameter, size)]))
    };
    let of_text = |text: String| ["100", "10000"].map(|size| from_text(&text.replace('N', size)));
    let sliders = ROW.replace("KIND", "prismatic");
    let drives = ROW.replace("KIND", "revolute") + DRIVES;
    let rows = [
        ("hinges", of_model("chain-revolute", "n", ["100", "10000"])),
        ("ball joints", of_model("chain-spherical", "n", ["100", "10000"])),
        ("bodies of four-bars", of_model("four-bar-chain", "n", ["50", "5000"])),
        ("nodes of a beam", of_model("right-angle-beam", "elements", ["50", "5000"])),
        ("sliders", of_text(sliders)),
        ("driven hinges", of_text(drives)),
    ];
    for (name, [small, large]) in &rows {
        let (ratio, _) = growth([small, large], INDEX2);
        let what = format!("cost per body and step with index2, 10,000 {name} against 100");
        limit(&what, &format!("{ratio:.2}"), "1.5");
    }
    let [small, large] = of_model("grid", "n", ["10", "100"]);
    let (ratio, _) = growth([&small, &large], INDEX2);
    // Separators of n knots take n³ multiplications for n² knots.
    limit("the same, grid of 10,000 knots against 100", &format!("{ratio:.2}"), "10");
}

/// Median of ratios of CPU times of two actions that take turns.
fn ratio_of(rounds: usize, one: impl Fn() -> f64, other: impl Fn() -> f64) -> f64 {
    median((0..rounds).map(|_| one() / other()).collect())
}

fn redundant_loops() {
    let [few, many] = ["15", "150"].map(|n| machine("four-bar-chain", &[("n", n)]));
    let chain = machine("chain-revolute", &[("n", "31")]);
    let time = |machine: &Machine, steps| seconds_per_step(&mut start(machine, INDEX2, STEP), steps);
    let ratio = ratio_of(5, || time(&few, 100), || time(&chain, 100));
    limit("a step of 15 four-bars in a row, in steps of 31 hinges", &format!("{ratio:.2}"), "2");
    let bodies = |machine: &Machine| machine.system().node_count() as f64;
    let ratio = ratio_of(5, || time(&many, 20) / bodies(&many), || time(&few, 100) / bodies(&few));
    limit("cost per body and step, 150 four-bars against 15", &format!("{ratio:.2}"), "1.6");
}

/// The machines of the two rows beside with no settings at all: the program chooses method and steps.
fn machines_without_settings() {
    let time = |name: &str, n: &str, end: f64| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
        let settings = SettingTexts::default().with("end-time", end);
        let reader = MachineReader::new().with_parameters(&[("n", n)]).with_settings(&settings);
        let machine = reader.read(&path).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let plan = machine.plan().expect("the settings are complete");
        let clock = Stopwatch::start();
        Job::new(&machine, &plan).record(Nowhere).expect("the run ends");
        clock.seconds()
    };
    let rows =
        [("four-bar-chain", "15", 0.1), ("chain-revolute", "31", 0.1), ("four-bar-chain", "150", 0.02)];
    for (name, n, end) in rows {
        let seconds = median((0..3).map(|_| time(name, n, end)).collect());
        let what = format!("`{name}`, n = {n}, without settings, a second of motion");
        limit(&what, &format!("{:.2} s", seconds / end), "");
    }
    for n in ["2000", "10000"] {
        let what = format!("`chain-revolute`, n = {n}, without settings, ten milliseconds of motion");
        limit(&what, &format!("{:.1} s", time("chain-revolute", n, 0.01)), "");
    }
}

fn long_chains_with_index2() {
    for n in ["2000", "10000"] {
        let chain = machine("chain-revolute", &[("n", n)]);
        let ten_steps = |method| {
            let mut run = start(&chain, method, STEP);
            let clock = Stopwatch::start();
            for _ in 0..10 {
                run.step().expect("every step converges");
            }
            clock.seconds()
        };
        let ratio = ratio_of(5, || ten_steps(INDEX2), || ten_steps(INDEX3));
        let what = format!("ten steps of index2 on a chain of {n} hinges, in those of index3");
        limit(&what, &format!("{ratio:.2}"), "2.2");
    }
}

fn nets_at_rest() {
    let [small, middle, large] = ["10", "20", "50"].map(|n| machine("grid", &[("n", n)]));
    let time = |net: &Machine| {
        let clock = Stopwatch::start();
        net.equilibrium().expect("the net hangs");
        clock.seconds()
    };
    let ratio = ratio_of(5, || time(&middle), || time(&small));
    limit("a net of 20 × 20 knots at rest, in nets of 10 × 10", &format!("{ratio:.1}"), "6");
    let ratio = ratio_of(3, || time(&large), || time(&middle));
    limit("a net of 50 × 50 knots at rest, in nets of 20 × 20", &format!("{ratio:.1}"), "60");
}

/// A group in which nobody meets anybody, beside a chain.
fn idle_contact_group() {
    let chain = ROW.replace("KIND", "revolute").replace('N', "100") + BALLS;
    let [without, with] = [from_text(&chain), from_text(&(chain.clone() + GROUP))];
    let time = |machine: &Machine| seconds_per_step(&mut start(machine, INDEX2, STEP), 100);
    let ratio = ratio_of(7, || time(&with), || time(&without));
    limit("a step beside an idle contact group, in steps without it", &format!("{ratio:.3}"), "1.08");
}

/// Records that are thrown away.
struct Nowhere;

impl Sink for Nowhere {
    fn push(&mut self, _: &Record) -> Result<(), WriteError> {
        Ok(())
    }
}

/// How a machine of `models/` is run with equal steps of `index2`.
fn equal_steps(model: &str, parameters: &[(&str, &str)], step: f64, end: f64, output_step: f64) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    let settings = SettingTexts::default()
        .with("method", "index2")
        .with("step", step)
        .with("end-time", end)
        .with("output-step", output_step);
    let reader = MachineReader::new().with_parameters(parameters).with_settings(&settings);
    reader.read(&path).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// A run with its statistics, without records, beside the loop of its steps.
fn what_a_run_adds() {
    const STEPS: usize = 200;
    let rows = [
        ("100 hinges", "chain-revolute", "n", "100", STEP),
        ("100 elements", "right-angle-beam", "elements", "50", 0.05),
    ];
    for (name, model, parameter, count, step) in rows {
        let end = step * STEPS as f64;
        let machine = equal_steps(model, &[(parameter, count)], step, end, end);
        let plan = machine.plan().expect("the settings are complete");
        let run = || {
            let clock = Stopwatch::start();
            Job::new(&machine, &plan).record(Nowhere).expect("the run ends");
            clock.seconds()
        };
        let bare = || {
            let clock = Stopwatch::start();
            let method = Integrator::with(plan.integration);
            let mut run = method.start(machine.system(), machine.initial().clone()).expect("it can start");
            run.advance(end).expect("every step converges");
            clock.seconds()
        };
        let ratio = ratio_of(9, run, bare);
        limit(&format!("a run without records, in bare steps, {name}"), &format!("{ratio:.3}"), "1.05");
    }
}

/// Files and page of 50,000 records of the heavy top.
fn what_files_add() {
    const RECORDS: f64 = 50_000.0;
    let (step, end) = (1e-4, 1e-4 * RECORDS);
    let [without, with] =
        [end, step].map(|output_step| equal_steps("heavy-top", &[], step, end, output_step));
    let folder = std::env::temp_dir().join(format!("kreisel-bench-{}", std::process::id()));
    let time = |machine: &Machine, page: bool| {
        let plan = machine.plan().expect("the settings are complete");
        let clock = Stopwatch::start();
        let job = Job::new(machine, &plan).report(page).force(true);
        job.run_into(&folder).expect("the run ends");
        clock.seconds()
    };
    let records = ratio_of(3, || time(&with, false), || time(&without, false));
    // The last one of these wrote no records.
    time(&with, false);
    let sizes = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let bytes: u64 = sizes.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let page = ratio_of(3, || time(&with, true), || time(&without, false));
    let _ = std::fs::remove_dir_all(&folder);
    limit("a run with files of 50,000 records, in runs without", &format!("{records:.2}"), "1.6");
    limit("the same with the page", &format!("{page:.2}"), "2.2");
    limit("files of a record of the heavy top", &format!("{:.0} bytes", bytes as f64 / RECORDS), "600 bytes");
}

fn growth_with_the_number_of_elements() {
    let per_element = |elements_of_a_leg: &str, steps| {
        let beam = machine("right-angle-beam", &[("elements", elements_of_a_leg)]);
        let mut run = start(&beam, INDEX3, 0.05);
        // The beam is loaded from the start: as many steps of the same motion with both.
        let clock = Stopwatch::start();
        for _ in 0..steps {
            run.step().expect("every step converges");
        }
        clock.seconds() / steps as f64 / beam.system().node_count() as f64
    };
    let ratios = (0..3).map(|_| per_element("500", 40) / per_element("50", 40)).collect();
    let what = "cost per element and step, beam of 1000 elements against 100";
    limit(what, &format!("{:.2}", median(ratios)), "1.5");
}

/// Factors and one solution with matrices like those of machines.
fn factorisation() {
    let cases = [
        ("chain of 1000 links, 9,000 unknowns", SampleMatrix::chain(1000, 3), 80),
        ("grid of 32 × 32, 15,072 unknowns", SampleMatrix::lattice(32), 500),
        ("grid of 115 × 115, 197,000 unknowns", SampleMatrix::lattice(115), 1400),
    ];
    for (name, mut sample, most) in cases {
        sample.set_values(2, SampleScales::default());
        let mut solver = SparseLu::new(sample.pattern.clone(), &sample.roles).expect("a square pattern");
        let mut vector = vec![1.0; sample.unknown_count()];
        // As in a step: the first solution is found along with the factors.
        let mut round = || {
            let clock = Stopwatch::start();
            solver.factor_and_solve(&sample.matrix, &mut vector).expect("a regular matrix");
            clock.seconds()
        };
        round();
        let nanoseconds = 1e9 * median((0..5).map(|_| round()).collect()) / sample.unknown_count() as f64;
        let what = format!("factors and a solution per unknown, {name}");
        limit(&what, &format!("{nanoseconds:.0} ns"), &format!("{most} ns"));
    }
}

/// What `kreisel check` does: reading, and finding the equations that others imply.
fn analysis_of_many_loops() {
    let clock = Stopwatch::start();
    let row = machine("crank-row", &[("n", "2000")]);
    let read = clock.seconds();
    let clock = Stopwatch::start();
    let found = Mobility::new(row.system(), 0.0, &row.initial().configuration);
    let analysed = clock.seconds();
    assert_eq!(found.degrees_of_freedom(), 6000, "three links hang from each coupler");
    limit("reading 10,001 bodies with 2,000 loops", &format!("{read:.2} s"), "");
    limit("finding their 6,000 implied equations", &format!("{analysed:.2} s"), "2 s");
}

fn cost_of_index2() {
    let top = HeavyTop::new(Group::So3xR3);
    let of_top = |method| {
        let method = Integrator::new(method, 0.9, 1e-4).expect("the parameters are in range");
        let mut run = method.start(&top, top.initial()).expect("the initial values are consistent");
        let clock = Stopwatch::start();
        for _ in 0..5000 {
            run.step().expect("every step converges");
        }
        clock.seconds()
    };
    let ratios = (0..5).map(|_| of_top(INDEX2) / of_top(INDEX3)).collect();
    limit("a step of index2 on the heavy top, in steps of index3", &format!("{:.2}", median(ratios)), "1.6");
    for (model, joint) in [("chain-spherical", "ball joints"), ("chain-revolute", "hinges")] {
        let chain = machine(model, &[("n", "100")]);
        let of_chain = |method| seconds_per_step(&mut start(&chain, method, STEP), 100);
        let ratios = (0..5).map(|_| of_chain(INDEX2) / of_chain(INDEX3)).collect();
        let what = format!("a step of index2 on a chain of 100 {joint}, in steps of index3");
        limit(&what, &format!("{:.2}", median(ratios)), "2.2");
    }
}

fn grid_of_bars() {
    let chain = machine("chain-spherical", &[("n", "1000")]);
    let per_link = 1e-3 * seconds_per_step(&mut start(&chain, INDEX3, STEP), 10);
    let grid = machine("grid", &[("n", "50")]);
    let per_knot = seconds_per_step(&mut start(&grid, INDEX3, STEP), 3) / 2500.0;
    let what = "cost per knot of a grid of 50 × 50 linked by bars, in links of a chain";
    limit(what, &format!("{:.1}", per_knot / per_link), "20");
}

/// A control loop must finish every step in time, so the slow ones count.
///
/// Thread time includes what interrupts the thread, and what others do on the same processor: for seconds at
/// a time everything may take twice as long. So the same steps are made again and again, bit for bit, and the
/// least of their times is that of the step itself; how much the computer adds in a single run is shown as
/// well. What it takes to read the clock is subtracted.
fn driven_arm() {
    const PASSES: usize = 5;
    let arm = from_text(ARM);
    let count = if std::env::args().any(|word| word == "--quick") { 50_000 } else { 1_000_000 };
    let timed = |action: &mut dyn FnMut()| {
        let begin = thread_time();
        action();
        thread_time() - begin
    };
    let clock = median((0..1001).map(|_| timed(&mut || ())).collect());
    let pass = || -> Vec<f64> {
        let mut run = start(&arm, INDEX3, STEP);
        let mut step = || {
            run.step().expect("every step converges");
        };
        (0..count).map(|_| timed(&mut step) - clock).collect()
    };
    let mut single = pass();
    let mut least = single.clone();
    for _ in 1..PASSES {
        least.iter_mut().zip(pass()).for_each(|(least, time)| *least = least.min(time));
    }
    let at = |times: &mut Vec<f64>, part: f64| {
        times.sort_by(f64::total_cmp);
        format!("{:.1} µs", 1e6 * times[(part * (times.len() - 1) as f64) as usize])
    };
    let what = "CPU time of a step of a driven arm of three links";
    limit(&format!("{what}, median"), &at(&mut least, 0.5), "");
    limit(&format!("{what}, 99.9th percentile of {count} steps"), &at(&mut least, 0.999), "15 µs");
    limit("the same in a single run, with what the computer adds", &at(&mut single, 0.999), "");
}
