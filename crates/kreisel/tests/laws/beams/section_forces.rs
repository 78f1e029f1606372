//! Section forces against the balance of what acts beyond a section, on random beams, and their order where a
//! beam is held more than statics needs.

use super::machine;
use crate::common::column;
use kreisel::dae::Control;
use kreisel::lie::Vector3;
use kreisel::machine::sensor::Reading;
use kreisel::machine::{EnergyBalance, Machine};
use kreisel::statics::StaticSettings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Length of the beams in m.
const LENGTH: f64 = 2.0;

/// Something that acts at one place: a force, and a torque beside it.
#[derive(Clone, Copy)]
struct Acts {
    place: f64,
    force: Vector3,
    torque: Vector3,
}

/// Force and torque in the section at x: all that acts beyond it, at x itself only on its side before.
fn balance(acts: &[Acts], per_length: Vector3, x: f64, before: bool) -> [Vector3; 2] {
    let beyond = LENGTH - x;
    let mut force = beyond * per_length;
    let mut torque = Vector3::new(0.5 * beyond, 0.0, 0.0).cross(&force);
    for act in acts {
        let arm = act.place - x;
        if arm > 1e-9 || (arm.abs() <= 1e-9 && before) {
            force += act.force;
            torque += act.torque + Vector3::new(arm, 0.0, 0.0).cross(&act.force);
        }
    }
    [force, torque]
}

/// What the supports of a hinged beam do: the left one holds the point and the turn about x, the right one
/// only y and z.
fn hinged(acts: &[Acts], per_length: Vector3) -> [Acts; 2] {
    let [force, torque] = balance(acts, per_length, 0.0, true);
    // About the left end r × F_right balances the rest: (0, −L F_z, L F_y).
    let right = Vector3::new(0.0, -torque.z / LENGTH, torque.y / LENGTH);
    let left = -force - right;
    [
        Acts { place: 0.0, force: left, torque: Vector3::new(-torque.x, 0.0, 0.0) },
        Acts { place: LENGTH, force: right, torque: Vector3::zeros() },
    ]
}

fn random_vector(random: &mut ChaCha8Rng) -> Vector3 {
    Vector3::from_fn(|_, _| random.random_range(-1.0..1.0))
}

fn triple(v: &Vector3) -> String {
    format!("[{}, {}, {}]", v.x, v.y, v.z)
}

/// Values of a sensor in an equilibrium.
fn read(machine: &Machine, name: &str) -> Vector3 {
    let found = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
    let solution = found.solution.unwrap_or_else(|error| panic!("{error}"));
    value(machine, &solution.equilibrium, name)
}

fn value(machine: &Machine, at: &kreisel::statics::Equilibrium, name: &str) -> Vector3 {
    let balance = EnergyBalance::default();
    let reading = Reading::new(machine.system(), at.point(), &balance);
    let sensor = machine.signals().recorded().iter().find(|sensor| sensor.name == name);
    let mut out = Vec::new();
    sensor.unwrap_or_else(|| panic!("{name}")).read(&reading, &[], &mut out);
    Vector3::from_column_slice(&out)
}

/// So stiff that a load of 1 N moves a beam by a millionth of its length, and so soft that forces are not
/// rounded by more.
const SECTION: &str = "section.stiffness-matrix = [
    [2e6, 0, 0, 0, 0, 0], [0, 3e6, 0, 0, 0, 0], [0, 0, 4e6, 0, 0, 0],
    [0, 0, 0, 5e7, 0, 0], [0, 0, 0, 0, 2e7, 0], [0, 0, 0, 0, 0, 1e7]]
    section.mass-per-length = 0.3
    section.inertia-per-length = [1e-3, 1e-3, 1e-3]";

#[test]
fn a_hundred_random_beams_have_the_section_forces_of_closed_form_moment_lines() {
    let mut random = ChaCha8Rng::seed_from_u64(36);
    let settings = StaticSettings { tolerance: 1e-13, ..StaticSettings::default() };
    for case in 0..100 {
        let (order, elements) = (random.random_range(1..=2), random.random_range(1..=8));
        let nodes = order * elements;
        let (per_length, gravity) = (random_vector(&mut random), random_vector(&mut random));
        let is_hinged = random.random_bool(0.5);
        let mut acts: Vec<Acts> = Vec::new();
        let mut text = format!(
            "[gravity]
            acceleration = {}
            [[beam]]
            name = 'b'
            from = [0, 0, 0]
            to = [{LENGTH}, 0, 0]
            {}
            elements = {elements}
            order = {order}
            load.force = {}
            {SECTION}\n",
            triple(&gravity),
            if is_hinged { "" } else { "start = 'ground'" },
            triple(&per_length),
        );
        for index in 0..random.random_range(0..4) {
            let node = random.random_range(if is_hinged { 0 } else { 1 }..=nodes);
            let (force, torque) = (random_vector(&mut random), random_vector(&mut random));
            acts.push(Acts { place: LENGTH * node as f64 / nodes as f64, force, torque });
            text += &format!(
                "[[force]]\nname = 'f{index}'\nbody = 'b.node-{node}'\nforce = {}\ntorque = {}\n",
                triple(&force),
                triple(&torque)
            );
        }
        if is_hinged {
            text += "[[universal]]\nname = 'left'\nbodies = ['ground', 'b.start']\nfirst-axis = [0, 1, 0]\nsecond-axis = [0, 0, 1]\n\
                     [[point-on-line]]\nname = 'right'\nbodies = ['ground', 'b.end']\naxis = [1, 0, 0]\n";
        }
        let all = per_length + 0.3 * gravity;
        let reactions = if is_hinged { hinged(&acts, all).to_vec() } else { Vec::new() };
        acts.extend(reactions);
        // Both sides of every node, and places between them.
        let mut expected = Vec::new();
        for (index, side) in (0..=nodes).flat_map(|node| [(node, "before"), (node, "after")]) {
            if (index, side) == (0, "before") || (index, side) == (nodes, "after") {
                continue;
            }
            let x = LENGTH * index as f64 / nodes as f64;
            expected.push((format!("b.node-{index}"), side, balance(&acts, all, x, side == "before")));
        }
        for _ in 0..4 {
            let part: f64 = random.random_range(0.01..0.99);
            expected.push((format!("b.at-{part}"), "larger", balance(&acts, all, part * LENGTH, false)));
        }
        for (index, (of, side, _)) in expected.iter().enumerate() {
            for quantity in ["force", "torque"] {
                text += &format!(
                    "[[sensor]]\nname = '{quantity}{index}'\nof = '{of}'\nside = '{side}'\nquantity = '{quantity}'\n"
                );
            }
        }
        let machine = machine(&text);
        let found = machine.find_equilibrium(&settings, |_| Control::Continue);
        let at = found.solution.unwrap_or_else(|error| panic!("{case}: {error}")).equilibrium;
        let size =
            |which: usize| expected.iter().fold(1e-3_f64, |most, (_, _, it)| most.max(it[which].norm()));
        let sizes = [size(0), size(1)];
        for (index, (of, side, closed)) in expected.iter().enumerate() {
            for (which, quantity) in ["force", "torque"].iter().enumerate() {
                let shown = value(&machine, &at, &format!("{quantity}{index}.{quantity}"));
                let error = (shown - closed[which]).norm() / sizes[which];
                // Loads are so small that deflections change arms by less.
                assert!(
                    error < 1e-5,
                    "{case}: order {order}, {elements} elements, hinged {is_hinged}: {quantity} {side} {of} is {shown:?}, \
                     not {:?}",
                    closed[which]
                );
            }
        }
    }
}

/// A hinged beam of 8 elements with a load of 1 N at a quarter, and sensors there.
fn loaded(order: usize, sensors: &str) -> Machine {
    machine(&format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = 'b'
        from = [0, 0, 0]
        to = [1, 0, 0]
        elements = 8
        order = {order}
        section = {{ shape = 'circle', radius = 0.02, youngs-modulus = 1e9, poisson-ratio = 0.3, density = 1000 }}
        [[revolute]]
        name = 'left'
        bodies = ['ground', 'b.start']
        axis = [0, 1, 0]
        [[point-on-plane]]
        name = 'right'
        bodies = ['ground', 'b.end']
        axis = [0, 0, 1]
        [[force]]
        name = 'f'
        body = 'b.node-{}'
        force = [0, 0, -1]
        {sensors}",
        2 * order
    ))
}

#[test]
fn under_a_load_the_moment_has_its_peak_and_the_shear_its_jump_and_the_larger_is_shown() {
    for order in [1, 2] {
        let node = 2 * order;
        let sensors = format!(
            "[[sensor]]\nof = 'b.node-{node}'\nquantity = 'torque'\n\
             [[sensor]]\nof = 'b.node-{node}'\nquantity = 'force'\n\
             [[sensor]]\nname = 'behind'\nside = 'after'\nof = 'b.node-{node}'\nquantity = 'force'\n\
             [[sensor]]\nof = 'b.at-0.26'\nquantity = 'force'\n"
        );
        let machine = loaded(order, &sensors);
        // a b/L = 3/16 of the load times the length; 3/4 of it before, 1/4 behind.
        let close = |name: &str, component: usize, expected: f64| {
            let found = read(&machine, name)[component];
            assert!((found - expected).abs() < 1e-6, "order {order}: {name} {found}, not {expected}");
        };
        close(&format!("b.node-{node}.torque"), 1, -0.1875);
        close(&format!("b.node-{node}.force"), 2, -0.75);
        close("behind.force", 2, 0.25);
        close("b.at-0.26.force", 2, 0.25);
    }
}

#[test]
fn section_forces_of_a_beam_clamped_twice_converge_with_the_order_of_the_motion() {
    // q L²/12 at the clamps, q L²/24 in the middle, with the opposite sign.
    let errors = |order: usize, elements: usize| {
        let machine = machine(&format!(
            "[gravity]
            acceleration = [0, 0, 0]
            [[beam]]
            name = 'b'
            from = [0, 0, 0]
            to = [{LENGTH}, 0, 0]
            start = 'ground'
            end = 'ground'
            elements = {elements}
            order = {order}
            load.force = [0, 0, -1]
            {SECTION}
            [[sensor]]
            of = 'b.start'
            quantity = 'torque'
            [[sensor]]
            of = 'b.at-0.5'
            quantity = 'torque'"
        ));
        let [clamp, middle] = ["b.start.torque", "b.at-0.5.torque"].map(|name| read(&machine, name).y);
        [(clamp - LENGTH * LENGTH / 12.0).abs(), (middle + LENGTH * LENGTH / 24.0).abs()]
    };
    for (order, wanted) in [(1, 1.9), (2, 3.6)] {
        let [coarse, fine] = [errors(order, 2), errors(order, 4)];
        for (coarse, fine) in coarse.iter().zip(fine) {
            // Errors at round-off have no order.
            let found = (coarse / fine).log2();
            assert!(found > wanted || fine < 1e-7, "order {order}: {coarse:e}, {fine:e}");
        }
    }
}

#[test]
fn the_force_at_a_swinging_hinge_is_its_reaction_and_at_the_free_end_there_is_none() {
    for order in [1, 2] {
        let run = machine(&format!(
            "[simulation]
            end-time = 0.3
            step = 1e-3
            [[beam]]
            name = 'b'
            from = [0, 0, 0]
            to = [{LENGTH}, 0, 0]
            elements = 3
            order = {order}
            damping.time = 1e-4
            section = {{ shape = 'circle', radius = 0.02, youngs-modulus = 1e9, poisson-ratio = 0.3, density = 1000 }}
            [[revolute]]
            name = 'hinge'
            bodies = ['ground', 'b.start']
            axis = [0, 1, 0]
            [[sensor]]
            of = 'b.start'
            quantity = 'force'
            [[sensor]]
            of = 'b.end'
            quantity = 'force'"
        ))
        .simulate()
        .unwrap();
        let size = |name: &str, row: usize| {
            let component = |axis: &str| column(&run, &format!("{name}.{axis}"))[row];
            Vector3::new(component("x"), component("y"), component("z")).norm()
        };
        for row in 0..run.times.len() {
            let (shown, reaction) = (size("b.start.force", row), size("hinge.force", row));
            // Newton's tolerance, divided by the square of the step in accelerations.
            assert!((shown - reaction).abs() < 1e-6 * (1.0 + reaction), "{row}: {shown} {reaction}");
            assert!(size("b.end.force", row) < 1e-6, "{row}");
        }
    }
}
