//! Which order of beam elements has the smaller errors of position on as many nodes, and how many elements a
//! beam needs: beams made at random, by a fixed seed, against 48 elements of order 2.
//!
//! A beam has the length 1, the larger bending stiffness 1 and the mass per length 1; everything else is
//! drawn: slenderness (length over radius of gyration, 20 to 400), ratio of the bending stiffnesses (1 to
//! 10), axis (a line, a line that is twisted, an arc), supports (clamped; clamped and on a ball joint;
//! clamped twice; hinged and pulled on a slide), and loads (at the end, at the middle, along the length) of
//! 0.1 to 30 EI/L². Every third beam moves: its loads come at once, and it is looked at after a time of 1.
//! The error is the largest distance of the quarter points from where the reference has them, in parts of the
//! largest way of these. Left out and counted are beams that have no answer at some mesh, that do not move at
//! all (a load on a clamped end), and those of which two fine meshes, of order 1 and 2, differ by more than a
//! hundredth: beyond a critical load there is more than one equilibrium, and some motions follow from the
//! smallest differences.

#![allow(clippy::print_stdout)]

use kreisel::dae::Point;
use kreisel::integrate::{INDEX2, Integrator, Parameters, Settings};
use kreisel::lie::Vector3;
use kreisel::machine::Machine;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEED: u64 = 35;
const BEAMS: usize = 300;
/// Pieces between nodes of the reference.
const REFERENCE: usize = 96;

/// What is drawn of a beam: its keys without the mesh, and the rest of the machine.
struct Drawn {
    keys: String,
    rest: String,
    moves: bool,
}

fn logarithmic(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (random.random_range(low.ln()..high.ln())).exp()
}

fn direction(random: &mut ChaCha8Rng) -> Vector3 {
    loop {
        let v = Vector3::from_fn(|_, _| random.random_range(-1.0..1.0));
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

fn numbers(v: &Vector3) -> String {
    format!("[{:e}, {:e}, {:e}]", v.x, v.y, v.z)
}

fn draw(random: &mut ChaCha8Rng, index: usize) -> Drawn {
    let slenderness = logarithmic(random, 20.0, 400.0);
    let ratio = logarithmic(random, 1.0, 10.0);
    let axial = slenderness * slenderness;
    let torsion = random.random_range(0.2..1.0);
    let inertia = 1.0 / axial;
    let section = format!(
        "section.axial-stiffness = {axial:e}
        section.shear-stiffness = [{shear:e}, {shear:e}]
        section.torsional-stiffness = {torsion:e}
        section.bending-stiffness = [1, {weak:e}]
        section.mass-per-length = 1
        section.inertia-per-length = [{polar:e}, {inertia:e}, {inertia:e}]",
        shear = axial / 3.0,
        weak = 1.0 / ratio,
        polar = 2.0 * inertia,
    );
    let turn: f64 = random.random_range(0.3..2.5);
    let twist = random.random_range(0.2..1.6);
    let (axis, end) = match random.random_range(0..3) {
        0 => ("from = [0, 0, 0]\nto = [1, 0, 0]".to_string(), Vector3::x()),
        1 => (format!("from = [0, 0, 0]\nto = [1, 0, 0]\ntwist = [0, {twist:e}]"), Vector3::x()),
        _ => {
            let on_arc = |part: f64| Vector3::new((part * turn).sin(), 1.0 - (part * turn).cos(), 0.0) / turn;
            let points = [0.0, 0.5, 1.0].map(|part| numbers(&on_arc(part))).join(", ");
            (format!("points = [{points}]\ncurve = \"arc\""), on_arc(1.0))
        }
    };
    let load = logarithmic(random, 0.1, 30.0);
    let push = numbers(&(load * direction(random)));
    let loads = match random.random_range(0..3) {
        0 => format!("[[force]]\nbody = \"beam.end\"\nforce = {push}"),
        1 => format!("[[force]]\nbody = \"beam.at-0.5\"\nforce = {push}"),
        _ => String::new(),
    };
    let spread = if loads.is_empty() { format!("load.force = {push}") } else { String::new() };
    // A real beam is never stretched by more than some hundredths.
    let pull = logarithmic(random, 1.0, 1000.0).min(0.03 * axial);
    let straight = end.y == 0.0;
    let (ends, supports) = match random.random_range(0..10) {
        0..5 => ("start = \"ground\"", String::new()),
        5 | 6 => ("start = \"ground\"", "[[spherical]]\nbodies = [\"ground\", \"beam.end\"]".to_string()),
        7 => ("start = \"ground\"\nend = \"ground\"", String::new()),
        _ if !straight => ("start = \"ground\"", String::new()),
        _ => (
            "",
            format!(
                "[[universal]]
                bodies = [\"ground\", \"beam.start\"]
                first-axis = [0, 1, 0]
                second-axis = [0, 0, 1]
                [[body]]
                name = \"carriage\"
                mass = 1
                inertia = [1, 1, 1]
                position = [1, 0, 0]
                [[prismatic]]
                bodies = [\"ground\", \"carriage\"]
                axis = [1, 0, 0]
                [[universal]]
                bodies = [\"carriage\", \"beam.end\"]
                first-axis = [0, 1, 0]
                second-axis = [0, 0, 1]
                [[force]]
                body = \"carriage\"
                force = [{pull:e}, 0, 0]"
            ),
        ),
    };
    Drawn {
        keys: format!("{axis}\n{section}\n{ends}\n{spread}"),
        rest: format!("{supports}\n{loads}"),
        moves: index % 3 == 2,
    }
}

/// Quarter points of a drawn beam with a mesh: before, and loaded.
fn quarters(drawn: &Drawn, pieces: usize, order: usize) -> Option<[[Vector3; 4]; 2]> {
    let text = format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = \"beam\"
        elements = {}
        order = {order}
        {}
        {}",
        pieces / order,
        drawn.keys,
        drawn.rest
    );
    let machine = Machine::from_text("beam.toml", &text).map_err(|errors| errors.render(false)).ok()?;
    let beam = machine.frames().beams().first()?;
    let nodes: Vec<_> = (1..=4).map(|quarter| beam.node(quarter * pieces / 4)).collect::<Option<_>>()?;
    let at = |point: &Point| -> [Vector3; 4] {
        std::array::from_fn(|index| match nodes[index].node {
            Some(node) => machine.system().motion(node, point).pose.compose(&nodes[index].offset).position,
            None => nodes[index].pose().position,
        })
    };
    let before = std::array::from_fn(|index| nodes[index].pose().position);
    let after = if drawn.moves {
        let settings = Settings::new(INDEX2, Parameters::chung_hulbert(0.6).ok()?, 5e-3);
        let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).ok()?;
        run.advance(1.0).ok()?;
        at(&run.values().point())
    } else {
        at(&machine.equilibrium().ok()?.equilibrium.point())
    };
    Some([before, after])
}

fn distance(a: &[Vector3; 4], b: &[Vector3; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The reference, if fine meshes agree on it.
fn well_posed(drawn: &Drawn) -> Option<[[Vector3; 4]; 2]> {
    let [before, exact] = quarters(drawn, REFERENCE, 2)?;
    let [_, other] = quarters(drawn, REFERENCE, 1)?;
    let way = distance(&before, &exact);
    (way > 1e-9 && distance(&exact, &other) < 0.01 * way).then_some([before, exact])
}

fn percentile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn main() {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let beams: Vec<Drawn> = (0..BEAMS).map(|index| draw(&mut random, index)).collect();
    let meshes = [(4, 1), (4, 2), (8, 1), (8, 2), (16, 1), (16, 2), (32, 1), (32, 2)];
    let mut errors = vec![[Vec::new(), Vec::new()]; meshes.len()];
    let mut left_out = 0;
    for drawn in &beams {
        let found = well_posed(drawn).and_then(|reference| {
            let all: Option<Vec<_>> =
                meshes.iter().map(|(pieces, order)| quarters(drawn, *pieces, *order)).collect();
            Some((reference, all?))
        });
        let Some(([before, exact], all)) = found else {
            left_out += 1;
            continue;
        };
        let way = distance(&before, &exact);
        for (errors, [_, after]) in errors.iter_mut().zip(&all) {
            errors[usize::from(drawn.moves)].push(distance(after, &exact) / way);
        }
    }
    println!("{BEAMS} beams, {left_out} left out; errors of position in parts of the way");
    println!(
        "pieces order |    statics: median, 90 %, 95 %, most |    motions: median, 90 %, 95 %, most | all: 95 %"
    );
    for ((pieces, order), errors) in meshes.iter().zip(&mut errors) {
        let mut all: Vec<f64> = errors.iter().flatten().copied().collect();
        let row = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            [0.5, 0.9, 0.95, 1.0].map(|part| format!("{:.1e}", percentile(values, part))).join(" ")
        };
        let [statics, motions] = errors.each_mut().map(row);
        all.sort_by(f64::total_cmp);
        println!("{pieces:6} {order:5} | {statics} | {motions} | {:.1e}", percentile(&all, 0.95));
    }
}
