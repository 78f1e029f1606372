//! What two nodes an element are worth: pulls, Euler's loads, large deflections, and loads so small that
//! theory is linear, against closed forms and shooting.

use super::beams::{BEND, LEE, add_beam, add_load, cantilever, frames, lee, section, tip};
use super::rod::Rod;
use super::solve;
use crate::common::{allowed_directions, read, taut_rope};
use kreisel::dae::{Control, Dae, Initial, NoteKind, Point, Tangent, TangentWeights};
use kreisel::element::beam::{Beam, BeamEnd, Section, Span, mass_about};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix3, Matrix6, Pose, UnitQuaternion, Vector3, Vector6, se3};
use kreisel::machine::Machine;
use kreisel::statics::StaticSettings;
use kreisel::system::{System, SystemBuilder};
use nalgebra::DMatrix;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Asserts that a number is what is expected to three digits.
#[track_caller]
fn three_digits(what: &str, found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 2e-3, "{what}: {found:.5e}, expected {expected:.5e}");
}

/// Asserts that errors are no larger than the two digits expected of them.
#[track_caller]
fn within_digits(what: &str, found: &[f64], expected: &[f64]) {
    for (found, expected) in found.iter().zip(expected) {
        let digits = 0.06 * expected;
        assert!((found - expected).abs() <= digits, "{what}: {found:.3e}, expected {expected:.1e}");
    }
}

fn tangent(system: &System, at: &Point) -> Tangent {
    let weights = TangentWeights { mass: 0.0, damping: 0.0, stiffness: true, remembered_forces: false };
    Tangent::at(system, &system.couplings(None), at, weights)
}

/// Number of unstable directions at a point: negative eigenvalues of the stiffness along what the joints
/// allow.
fn unstable_directions(system: &System, at: &Point) -> usize {
    let tangent = tangent(system, at);
    let (stiffness, basis) = (tangent.stiffness.to_dense(), allowed_directions(&tangent.gradient.to_dense()));
    let allowed = basis.transpose() * (0.5 * (&stiffness + stiffness.transpose())) * basis;
    // Stretch is stiffer than bending by many orders: a scaling that changes no sign.
    let scale = DMatrix::from_diagonal(&allowed.diagonal().map(|entry| 1.0 / entry.abs().sqrt()));
    (&scale * allowed * &scale).symmetric_eigenvalues().iter().filter(|value| **value < 0.0).count()
}

/// Where a node of that name is.
fn place(machine: &Machine, at: &Point, name: &str) -> Vector3 {
    let node =
        (0..machine.system().node_count()).map(NodeId).find(|node| machine.system().node_name(*node) == name);
    machine.system().motion(node.unwrap(), at).pose.position
}

#[test]
fn a_taut_rope_sags_as_a_string_and_no_section_turns_over() {
    // A string with a little bending stiffness: F l/(4 N) (1 − tanh(u)/u), u = √(N/EI) l/2, and F l/(4 GA) of
    // shear: 0.98876 mm with the rope's stretch. With n elements the hinge in the middle is rounded over one
    // element.
    for (elements, sag) in
        [(2, 0.88889), (4, 0.94103), (8, 0.96946), (16, 0.98239), (32, 0.98727), (64, 0.98855)]
    {
        let machine = read(&taut_rope(elements, 20e3, -10.0)).unwrap();
        let found = machine.equilibrium().unwrap().equilibrium;
        let point = found.point();
        let middle = format!("rope.node-{}", elements / 2);
        three_digits("sag", -1e3 * place(&machine, &point, &middle).z, sag);
        // F l/EA; the sag takes 3e-5 of it back.
        three_digits("stretch", place(&machine, &point, "carriage").x - 8.0, 0.01);
        if elements <= 40 {
            assert_eq!(unstable_directions(machine.system(), &point), 0, "{elements} elements");
        }
    }
}

#[test]
fn no_pull_below_the_shear_stiffness_turns_a_section_over() {
    for elements in [2, 4, 8, 16, 40] {
        for part in [0.004, 0.1, 0.5, 0.9] {
            let machine = read(&taut_rope(elements, part * 5e6, 0.0)).unwrap();
            let found = machine.equilibrium().unwrap().equilibrium;
            let count = unstable_directions(machine.system(), &found.point());
            assert_eq!(count, 0, "{elements} elements, {part} GA");
        }
    }
}

/// How a column is held: which of (angle, deflection) are fixed at its foot and at its head.
const HELD: [(&str, [[bool; 2]; 2]); 3] = [
    ("clamped-free", [[true, true], [false, false]]),
    ("hinged", [[false, true], [false, true]]),
    ("clamped twice", [[true, true], [true, true]]),
];

/// Whether a column of length and bending stiffness 1 stays straight under a push: the straight state is
/// known, so that nothing is solved.
fn bears(held: [[bool; 2]; 2], elements: usize, push: f64) -> bool {
    let stiff = 1e8;
    let section = section([1.0, 1.0, 1.0, stiff, stiff, stiff]);
    let mut builder = SystemBuilder::new();
    let at = |x: f64| Pose::new(UnitQuaternion::identity(), Vector3::new(x, 0.0, 0.0));
    let length = 1.0 / elements as f64;
    let span = Span::between(&at(0.0), &at(length)).unwrap();
    let nodes: Vec<NodeId> = (0..=elements)
        .map(|k| {
            let place = at((1.0 - push / stiff) * k as f64 * length);
            builder.node(format!("node-{k}"), Group::Se3, place, Vector6::zeros())
        })
        .collect();
    for pair in nodes.windows(2) {
        let ends = [BeamEnd::on(pair[0]), BeamEnd::on(pair[1])];
        builder.element("column", Beam::new(ends, &span, &section, 0.0));
    }
    add_load(&mut builder, nodes[elements], Vector3::zeros(), Vector3::new(-push, 0.0, 0.0));
    let (system, initial) = builder.build(0.0).unwrap();
    let zeros = vec![0.0; initial.velocity.len()];
    let point = Point {
        time: 0.0,
        configuration: &initial.configuration,
        velocity: &zeros,
        acceleration: &zeros,
        multipliers: &[],
        nonholonomic_multipliers: &[],
        internal_states: &[],
        memory: &vec![0.0; system.shape().memory],
    };
    let stiffness = tangent(&system, &point).stiffness.to_dense();
    // Angle about z and deflection along y of each node.
    let free = |node: usize, coordinate: usize| match node {
        0 => !held[0][coordinate],
        node => node != elements || !held[1][coordinate],
    };
    let kept: Vec<usize> = (0..=elements)
        .flat_map(|node| [(node, 0), (node, 1)])
        .filter(|(node, coordinate)| free(*node, *coordinate))
        .map(|(node, coordinate)| 6 * node + [2, 4][coordinate])
        .collect();
    let part = stiffness.select_rows(&kept).select_columns(&kept);
    (0.5 * (&part + part.transpose())).cholesky().is_some()
}

#[test]
fn eulers_loads_are_those_of_cubic_elements() {
    // Cubic polynomials in each element, the exact ones of which the bow keeps the first two terms: for a
    // column of one element hinged 12, clamped twice with two 40 EI/L², and so on.
    let exact = [PI * PI / 4.0, PI * PI, 4.0 * PI * PI];
    let published = [[5.1e-4, 3.3e-5, 2.1e-6], [7.5e-3, 5.1e-4, 3.3e-5], [1.3e-2, 7.5e-3, 5.1e-4]];
    for ((name, held), (exact, published)) in HELD.iter().zip(exact.iter().zip(published)) {
        for (elements, published) in [2, 4, 8].iter().zip(published) {
            let (mut borne, mut lost) = (0.5 * exact, 2.0 * exact);
            while lost - borne > 1e-10 * exact {
                let push = 0.5 * (borne + lost);
                *(if bears(*held, *elements, push) { &mut borne } else { &mut lost }) = push;
            }
            within_digits(name, &[borne / exact - 1.0], &[published]);
        }
    }
}

/// Tip of a straight cantilever of length and bending stiffness 1 with a force at its tip, by shooting.
fn exact_tip(force: Vector3) -> Vector3 {
    let ones = Vector3::new(1.0, 1.0, 1.0);
    Rod {
        length: 1.0,
        curvature: Vector3::zeros(),
        bending: ones,
        stretching: STIFF * ones,
        root: Matrix3::identity(),
    }
    .tip(force)
}

/// Stretching and shear stiffness of a slender rod with the bending stiffness 1.
const STIFF: f64 = 1e6;

/// Tip of the same cantilever made of elements.
fn tip_of_elements(force: Vector3, elements: usize) -> Vector3 {
    let frames = frames(Pose::identity(), Vector3::zeros(), 1.0, elements);
    let stiffness = [1.0, 1.0, 1.0, STIFF, STIFF, STIFF];
    let (system, initial) = cantilever(&frames, stiffness, Vector3::zeros(), force, Group::Se3);
    let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
    tip(&system, &found.equilibrium).position
}

/// Errors of the tip, of its way, with some numbers of elements.
fn tip_errors(force: Vector3, exact: Vector3, elements: &[usize]) -> Vec<f64> {
    let way = (exact - Vector3::x()).norm();
    elements.iter().map(|elements| (tip_of_elements(force, *elements) - exact).norm() / way).collect()
}

#[test]
fn large_deflections_of_a_cantilever_have_small_errors() {
    let force = Vector3::new(0.0, 10.0, 0.0);
    let errors = tip_errors(force, exact_tip(force), &[2, 4, 8, 16]);
    within_digits("across", &errors, &[4.1e-3, 4.2e-4, 3.0e-5, 1.95e-6]);
    // Pulled as well shooting fails: moments grow as e²⁰ along the rod. Errors fall with the fourth power of
    // the element, which takes the next one off the last two.
    let force = Vector3::new(400.0, 100.0, 0.0);
    let [coarse, fine] = [32, 64].map(|elements| tip_of_elements(force, elements));
    let errors = tip_errors(force, fine + (fine - coarse) / 15.0, &[2, 4, 8, 16]);
    within_digits("pulled", &errors, &[2.6e-2, 6.3e-3, 9.3e-4, 8.9e-5]);
}

#[test]
fn the_45_degree_bend_agrees_with_shooting() {
    let rod = Rod {
        length: 100.0 * FRAC_PI_4,
        curvature: Vector3::new(0.0, 0.0, 0.01),
        bending: Vector3::new(BEND[0], BEND[1], BEND[2]),
        stretching: Vector3::new(BEND[3], BEND[4], BEND[5]),
        root: Matrix3::identity(),
    };
    let force = Vector3::new(0.0, 0.0, 600.0);
    let exact = rod.tip(force);
    let unloaded = Vector3::new(FRAC_PI_4.sin(), 1.0 - FRAC_PI_4.cos(), 0.0) * 100.0;
    for (group, elements, most) in [
        (Group::Se3, 4, 5.6e-4),
        (Group::Se3, 8, 1.1e-4),
        (Group::So3xR3, 8, 1.1e-4),
        (Group::Se3, 16, 2.6e-5),
    ] {
        let frames = frames(Pose::identity(), rod.curvature, rod.length, elements);
        let (system, initial) = cantilever(&frames, BEND, Vector3::zeros(), force, group);
        let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
        let error = (tip(&system, &found.equilibrium).position - exact).norm() / (exact - unloaded).norm();
        assert!(error < most, "{elements}: {error:e}");
    }
}

#[test]
fn lees_frame_below_its_limit_has_small_errors() {
    let places = [10, 20, 40].map(|elements: usize| {
        let (system, initial) = lee(elements);
        let settings = StaticSettings { target: 1.6, ..StaticSettings::default() };
        let found = solve(&system, &initial, &settings).unwrap().equilibrium;
        // Nodes: the foot, those of the column, then those of the beam; the load is on a fifth of it.
        system.motion(NodeId(elements + elements / 5), &found.point()).pose.position
    });
    let loaded = Vector3::new(0.2 * LEE.length, LEE.length, 0.0);
    // Fourth order in the element.
    let exact = places[2] + (places[2] - places[1]) / 15.0;
    let errors: Vec<f64> =
        places[..2].iter().map(|place| (place - exact).norm() / (exact - loaded).norm()).collect();
    within_digits("Lee", &errors, &[8.0e-5, 6.6e-6]);
}

/// An elbow of two legs of 10 m with 50 N across at its tip.
fn elbow_tip(elements: usize) -> Vector3 {
    let leg = format!(
        "elements = {elements}
        order = 1
        section.axial-stiffness = 1e6
        section.shear-stiffness = [1e6, 1e6]
        section.torsional-stiffness = 1e3
        section.bending-stiffness = [1e3, 1e3]
        section.mass-per-length = 1
        section.inertia-per-length = [20, 10, 10]"
    );
    let machine = read(&format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = \"arm\"
        from = [0, 0, 0]
        to = [10, 0, 0]
        start = \"ground\"
        {leg}
        [[beam]]
        name = \"forearm\"
        start = \"arm.end\"
        to = [10, 10, 0]
        {leg}
        [[force]]
        body = \"forearm.end\"
        force = [0, 0, 50]"
    ))
    .unwrap();
    let found = machine.equilibrium().unwrap().equilibrium;
    place(&machine, &found.point(), &format!("forearm.node-{elements}"))
}

#[test]
fn an_elbow_bent_and_twisted_far_has_small_errors() {
    let [coarse, fine] = [16, 32].map(elbow_tip);
    let exact = fine + (fine - coarse) / 15.0;
    let way = (exact - Vector3::new(10.0, 10.0, 0.0)).norm();
    let errors: Vec<f64> = [2, 4, 8].iter().map(|n| (elbow_tip(*n) - exact).norm() / way).collect();
    // Found by minimising the energy of the elements in another language, with derivatives by JAX. Without
    // the part of the bow that knows of twist they are 1.6e-3, 1.2e-4 and 8.4e-6.
    within_digits("elbow", &errors, &[1.30e-3, 1.07e-4, 7.38e-6]);
}

/// A section with every coupling, stiffer along than across.
fn coupled() -> Section {
    let root = Matrix6::from_fn(|i, j| {
        0.15 * (1.0 + (3 * i + 5 * j) as f64).sin()
            + if i == j { [1.0, 1.2, 0.8, 6.0, 4.0, 5.0][i] } else { 0.0 }
    });
    let mass = mass_about(1.0, &Matrix3::identity(), [0.0; 2]);
    Section::new(root * root.transpose(), mass).unwrap()
}

/// Tip of a curved and pretwisted cantilever of a coupled section.
fn coupled_tip(curvature: Vector3, elements: usize, load: &Vector6, group: Group) -> Pose {
    let mut builder = SystemBuilder::new();
    let frames = frames(Pose::identity(), curvature, 1.0, elements);
    let nodes = add_beam(&mut builder, None, &frames, &coupled(), group);
    let [torque, force] = [0, 3].map(|first| load.fixed_rows::<3>(first).into_owned());
    add_load(&mut builder, nodes[elements - 1], torque, force);
    builder.scales(kreisel::dae::Scales { length: 1.0, arm: None, mass: 1.0, stiffness: 0.0 });
    let (system, initial): (System, Initial) = builder.build(0.0).unwrap();
    let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
    tip(&system, &found.equilibrium)
}

#[test]
fn small_loads_are_exact_at_the_nodes_of_curved_and_pretwisted_elements_too() {
    // The twist of the tip by a wrench on it: ∫ Ad F Adᵀ along the beam, here by 4000 midpoints.
    let size = 1e-6;
    let load = size * Vector6::new(0.3, -0.5, 0.7, 0.4, 0.9, -0.6);
    for curvature in
        [Vector3::new(FRAC_PI_2, 0.0, 0.0), Vector3::new(0.0, 0.3, FRAC_PI_4), Vector3::new(1.2, -0.8, 0.9)]
    {
        let screw = Vector6::new(curvature.x, curvature.y, curvature.z, 1.0, 0.0, 0.0);
        let (end, flexibility) = (se3::exp(&screw), coupled().flexibility());
        // The dead wrench seen in the axes of the tip.
        let turned = end.rotation.inverse();
        let wrench: Vector6 = {
            let (torque, force) = (
                turned * load.fixed_rows::<3>(0).into_owned(),
                turned * load.fixed_rows::<3>(3).into_owned(),
            );
            Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z)
        };
        let mut expected = Vector6::zeros();
        for k in 0..4000 {
            // Twist of the tip from a strain at a place: Ad of the place seen from the tip.
            let back = se3::exp(&((k as f64 + 0.5) / 4000.0 * screw - screw));
            let carried = se3::adjoint(&back);
            expected += carried * flexibility * carried.transpose() * wrench / 4000.0;
        }
        for elements in [1, 2, 4] {
            for group in [Group::Se3, Group::So3xR3] {
                let found = coupled_tip(curvature, elements, &load, group);
                let moved = se3::log(&end.inverse().compose(&found)).unwrap();
                // Squares of loads, which are 1e-6 of them; the midpoints leave 1e-7.
                let error = (moved - expected).norm() / expected.norm();
                assert!(error < 5e-6, "{elements} elements, {curvature}: {error:e}");
            }
        }
    }
}

/// A straight or curved cantilever of length and bending stiffness 1 with other keys.
fn loaded_cantilever(mesh: &str, axis: &str, rest: &str) -> String {
    format!(
        "[gravity]
        acceleration = [0, 0, 0]
        [[beam]]
        name = \"rod\"
        start = \"ground\"
        {axis}
        {mesh}
        section.axial-stiffness = 1e6
        section.shear-stiffness = [4e5, 4e5]
        section.torsional-stiffness = 0.8
        section.bending-stiffness = [1, 1]
        section.mass-per-length = 1
        section.inertia-per-length = [2e-6, 1e-6, 1e-6]
        {rest}"
    )
}

/// Places of the nodes of the first beam in equilibrium, and the estimate of their error with the way.
fn judged(text: &str) -> (Vec<Vector3>, f64, f64) {
    let machine = read(text).unwrap();
    let found = machine.equilibrium().unwrap().equilibrium;
    let point = found.point();
    let beam = &machine.frames().beams()[0];
    let place = |k: usize| {
        let station = beam.node(k).unwrap();
        station
            .node
            .map_or(station.pose().position, |node| machine.system().motion(node, &point).pose.position)
    };
    let errors = machine.mesh_errors(&point, 0.0);
    let (error, displacement) = errors.first().map_or((0.0, 1.0), |found| (found.error, found.displacement));
    ((0..beam.node_count()).map(place).collect(), error, displacement)
}

#[test]
fn the_error_of_a_mesh_is_estimated_to_a_factor_of_three() {
    type Case = Box<dyn Fn(usize, usize) -> String>;
    let mesh = |pieces: usize, order: usize| format!("elements = {}\norder = {order}", pieces / order);
    let line = "from = [0, 0, 0]\nto = [1, 0, 0]";
    let arc = "points = [[0, 0, 0], [0.48, 0.12, 0], [0.84, 0.46, 0]]\ncurve = \"arc\"";
    let at_end = |force: &str| format!("[[force]]\nbody = \"rod.end\"\nforce = {force}");
    let mut cases: Vec<Case> = vec![Box::new(move |pieces, order| {
        let mesh = mesh(pieces, order);
        taut_rope(pieces, 20e3, -10.0)
            .replace("order = 1", "")
            .replace(&format!("elements = {pieces}"), &mesh)
    })];
    for (axis, keys, rest) in [
        (line, "", at_end("[0, 10, 0]")),
        (line, "", at_end("[400, 100, 0]")),
        (line, "", at_end("[-5, 0.1, 3]")),
        (line, "load.force = [0, 0, 4]", String::new()),
        (line, "load.force = [0, 2, 20]\ntwist = [0, 1]", String::new()),
        (arc, "", at_end("[0, 0, 8]")),
        (arc, "load.force = [1, 0, 3]", at_end("[0, -2, 1]")),
        (line, "", "[[force]]\nbody = \"rod.at-0.5\"\nforce = [0, 0, 30]\n[[spherical]]\nbodies = [\"ground\", \"rod.end\"]".to_string()),
    ] {
        cases.push(Box::new(move |pieces, order| {
            loaded_cantilever(&mesh(pieces, order), &format!("{axis}\n{keys}"), &rest)
        }));
    }
    let mut ratios = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let (exact, ..) = judged(&case(64, 2));
        for (pieces, order) in [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (4, 2), (8, 2), (16, 2)] {
            // One element has no node in its middle.
            let text = case(pieces, order);
            if pieces == 1 && text.contains("at-0.5") {
                continue;
            }
            let (places, estimate, way) = judged(&text);
            let distance = |(k, place): (usize, &Vector3)| (place - exact[k * 64 / pieces]).norm();
            let error = places.iter().enumerate().map(distance).fold(0.0, f64::max);
            // Smaller ones are those of the reference.
            if error > 1e-6 * way {
                ratios.push((index, pieces, order, error / way, estimate / error));
            }
        }
    }
    let wrong: Vec<_> = ratios.iter().filter(|(.., ratio)| !(1.0 / 3.0..3.0).contains(ratio)).collect();
    assert!(
        ratios.len() > 40 && 10 * wrong.len() <= ratios.len(),
        "{} of {}: {wrong:?}",
        wrong.len(),
        ratios.len()
    );
}

#[test]
fn meshes_of_large_and_of_redundant_machines_are_judged_alike() {
    let line = "from = [0, 0, 0]\nto = [1, 0, 0]\nload.force = [0, 0, 4]";
    let judge = |rest: &str| {
        let machine = read(&loaded_cantilever("elements = 3\norder = 1", line, rest)).unwrap();
        let found = machine.equilibrium().unwrap().equilibrium;
        machine.mesh_errors(&found.point(), 0.0).remove(0).relative()
    };
    // Beside it stands a beam of 1440 unknowns; the mean stiffness changes, and with it some roundings.
    let beside = "[[beam]]\nname = 'other'\nstart = 'ground'\nfrom = [0, 5, 0]\nto = [1, 5, 0]\nelements = 120\norder = 2\n\
        section = { axial-stiffness = 1e4, shear-stiffness = [4e3, 4e3], torsional-stiffness = 1, bending-stiffness = [1, 1], \
        mass-per-length = 1, inertia-per-length = [2e-4, 1e-4, 1e-4] }\n";
    let (alone, in_company) = (judge(""), judge(beside));
    assert!(alone > 0.01 && (in_company / alone - 1.0).abs() < 1e-6, "{alone} {in_company}");
    // What holds the end holds it twice.
    let held = |count: usize| judge(&"[[spherical]]\nbodies = ['ground', 'rod.end']\n".repeat(count));
    assert!((held(2) / held(1) - 1.0).abs() < 1e-6, "{} {}", held(1), held(2));
}

#[test]
fn a_coarse_mesh_is_told_with_the_elements_that_would_do() {
    let text = |elements: usize| {
        let mesh = format!("elements = {elements}\norder = 1");
        loaded_cantilever(&mesh, "from = [0, 0, 0]\nto = [1, 0, 0]\nload.force = [0, 0, 4]", "")
    };
    let told = |elements: usize| {
        let machine = read(&text(elements)).unwrap();
        let outcome = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
        let notes = machine.static_notes(&outcome);
        (&notes).into_iter().find(|note| note.kind == NoteKind::CoarseMesh).cloned()
    };
    // Of a load spread over a cantilever two-node elements miss 1/(4n²) for small deflections.
    for elements in [1, 2] {
        // For large ones less; a factor of three is what the estimate promises.
        let part = told(elements).unwrap().number.unwrap() * (4 * elements * elements) as f64;
        assert!((1.0 / 3.0..3.0).contains(&part), "{elements} elements: {part}");
    }
    let note = told(3).unwrap();
    assert!(note.subject.as_deref() == Some("rod") && note.number.unwrap() > 0.01, "{note:?}");
    let enough: usize =
        note.advice.unwrap().split('`').nth(1).unwrap().replace("elements = ", "").parse().unwrap();
    assert!((4..=8).contains(&enough), "{enough}");
    assert_eq!(told(enough), None);
}
