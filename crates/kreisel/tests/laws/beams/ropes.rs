//! Ropes: beams with next to no bending stiffness, pulled, hanging and swinging.

use super::{last, machine, tangent};
use crate::common::{self, allowed_directions, column};
use kreisel::dae::{Control, Note, NoteKind, Point};
use kreisel::kinematics::NodeId;
use kreisel::lie::Vector3;
use kreisel::machine::Machine;
use kreisel::modes::ModeSettings;
use kreisel::run::{About, Job, Trajectory};
use kreisel::statics::StaticSettings;
use nalgebra::DMatrix;
use std::f64::consts::{PI, TAU};

/// Frequencies in Hz at an equilibrium, the smallest first: stiffness and mass along what the joints allow.
/// None if a direction is unstable.
fn frequencies(machine: &Machine, point: &Point) -> Option<Vec<f64>> {
    let tangent = tangent(machine.system(), point);
    let basis = allowed_directions(&tangent.gradient.to_dense());
    let part = |matrix: DMatrix<f64>| {
        let part = basis.transpose() * matrix * &basis;
        0.5 * (&part + part.transpose())
    };
    // The largest 1/ω² of K⁻¹ M keep their digits; K has a factor if it is positive.
    let factor = part(tangent.stiffness.to_dense()).cholesky()?.l();
    let inner = factor.solve_lower_triangular(&part(tangent.dynamic.to_dense())).unwrap();
    let symmetric = factor.solve_lower_triangular(&inner.transpose()).unwrap();
    let inverse = (0.5 * (&symmetric + symmetric.transpose())).symmetric_eigenvalues();
    let mut found: Vec<f64> = inverse.iter().map(|square| 1.0 / (TAU * square.max(0.0).sqrt())).collect();
    found.sort_by(f64::total_cmp);
    Some(found)
}

pub(super) fn node(machine: &Machine, name: &str) -> NodeId {
    let mut nodes = (0..machine.system().node_count()).map(NodeId);
    nodes.find(|node| machine.system().node_name(*node) == name).unwrap()
}

/// A taut rope that is pulled by 20 kN, with some 10 N across its middle, from its equilibrium on.
fn taut_rope(elements: usize) -> String {
    rope_pulled_by(elements, "20e3")
}

/// The same with another pull.
fn rope_pulled_by(elements: usize, pull: &str) -> String {
    let rope = common::taut_rope(elements, pull, "\"-10*(1 + 0.01*sin(20*t))\"");
    let damped = rope.replace("order = 1", "order = 1\n        damping.time = \"2 ms\"");
    let sensor = "[[sensor]]\nof = \"rope.at-0.5\"\nquantity = \"displacement\"";
    format!("[simulation]\nend-time = 2\nstep = \"2 ms\"\nstart = \"static\"\n{damped}\n{sensor}\n")
}

#[test]
fn a_taut_rope_stretches_by_a_centimetre_and_stays_there() {
    let run = machine(&taut_rope(16)).simulate().unwrap();
    // F l/EA = 10 mm.
    let off = column(&run, "carriage.position.x").iter().fold(0.0_f64, |most, x| most.max((x - 8.01).abs()));
    assert!(off < 1e-4, "{off}");
    // The force across changes by a hundredth at a seventh of the first frequency in square: it is followed.
    let sag: Vec<f64> = column(&run, "rope.at-0.5.displacement.z").iter().map(|z| -1e3 * z).collect();
    assert!(sag.iter().all(|sag| (sag / 0.9824 - 1.0).abs() < 0.05), "{:?}", sag.last());
}

#[test]
fn a_pull_beyond_the_shear_stiffness_is_told() {
    let soft = |shear: &str| machine(&taut_rope(16).replace("[5e6, 5e6]", shear));
    let told = |machine: &Machine| {
        let outcome = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
        let notes = machine.static_notes(&outcome);
        (&notes).into_iter().find(|note| note.kind == NoteKind::PullBeyondShear).cloned()
    };
    assert_eq!(told(&soft("[5e6, 2.1e4]")), None);
    let note = told(&soft("[5e6, 1.9e4]")).unwrap();
    assert_eq!(note.subject.as_deref(), Some("rope"));
    // 20 kN, less the cosine of a slope of 1e-4.
    assert!((note.number.unwrap() / 20e3 - 1.0).abs() < 1e-6, "{note:?}");
    assert!(note.text.contains("1.900e4 N") && note.advice.is_some(), "{note:?}");
    // Modes about such an equilibrium tell it as well.
    let modes = soft("[5e6, 1.9e4]").modes(About::Static, ModeSettings { count: 2 }).unwrap();
    assert!(
        (&modes.notes).into_iter().any(|note| note.kind == NoteKind::PullBeyondShear),
        "{:?}",
        modes.notes
    );
    // A run tells it too, although it starts without a pull.
    let text = rope_pulled_by(4, "\"20e3*min(1, 10*t)\"").replace("[5e6, 5e6]", "[5e6, 1.9e4]");
    let machine = machine(&text.replace("end-time = 2", "end-time = 0.2"));
    let (_, outcome) =
        Job::new(&machine, &machine.plan().unwrap()).record(Trajectory::new(&machine)).unwrap();
    let notes = &outcome.summary.notes;
    let told = notes.iter().find(|note| note["kind"] == "pull-beyond-shear").unwrap();
    assert!(told["time"].as_f64().unwrap() > 0.0, "{notes:?}");
}

#[test]
fn a_taut_rope_has_the_frequencies_of_a_string() {
    // k/(2 l) √(N/m) √(1 + k² π² EI/(N l²)), with the stretched rope's length and mass per length; each
    // twice, in both planes.
    let [length, mass] = [8.01, 1.6 * 8.0 / 8.01];
    let string = |k: f64| {
        k / (2.0 * length) * (20e3 / mass).sqrt() * (1.0 + (k * PI / length).powi(2) * 50.0 / 20e3).sqrt()
    };
    for elements in [8, 16, 32] {
        let machine = machine(&taut_rope(elements));
        let found = machine.equilibrium().unwrap().equilibrium;
        let found = frequencies(&machine, &found.point()).unwrap();
        for k in 1..=3 {
            let [first, second] = [found[2 * k - 2], found[2 * k - 1]];
            // The load across bends it in one of the planes only.
            assert!((first / second - 1.0).abs() < 1e-4, "{first} {second}");
            // Masses at nodes take (kπ/n)²/24 of it, and the next term a tenth of that.
            let masses = (k as f64 * PI / elements as f64).powi(2) / 24.0;
            let error = first / string(k as f64) - 1.0;
            assert!((error + masses).abs() < 0.1 * masses, "{elements}, mode {k}: {error}, not -{masses}");
        }
    }
}

/// 10 m of rope of 1 kg/m on a universal joint.
fn hanging_rope(keys: &str, bending: f64, rest: &str) -> Machine {
    machine(&format!(
        "[simulation]
        end-time = 2
        step = \"2 ms\"
        [[beam]]
        name = \"rope\"
        from = [0, 0, 0]
        to = [0, 0, -10]
        {keys}
        section.axial-stiffness = 1e5
        section.shear-stiffness = [1e5, 1e5]
        section.torsional-stiffness = {bending}
        section.bending-stiffness = [{bending}, {bending}]
        section.mass-per-length = 1
        section.inertia-per-length = [1e-4, 1e-4, 1e-4]
        [[universal]]
        bodies = [\"ground\", \"rope.start\"]
        first-axis = [1, 0, 0]
        second-axis = [0, 1, 0]
        {rest}"
    ))
}

#[test]
fn a_hanging_rope_is_stable_with_any_number_of_elements() {
    // With half its own weight at its end.
    let load = "[[force]]\nbody = \"rope.end\"\nforce = [0, 0, -50]";
    for elements in [2, 4, 8, 16, 40] {
        let machine = hanging_rope(&format!("elements = {elements}\norder = 1"), 0.01, load);
        let found = machine.equilibrium().unwrap().equilibrium;
        assert!(frequencies(&machine, &found.point()).is_some(), "{elements} elements");
        // F L/EA and m g L²/(2 EA).
        let end = machine.system().motion(node(&machine, &format!("rope.node-{elements}")), &found.point());
        let stretch = (50.0 * 10.0 + 9.80665 * 100.0 / 2.0) / 1e5;
        assert!((-end.pose.position.z - 10.0 - stretch).abs() < 1e-6, "{}", end.pose.position.z);
    }
}

#[test]
fn a_rope_that_carries_nothing_swings_as_a_chain() {
    // First zero of J₀ over 2, times √(g/L). The half of the last element stands on the end section, which
    // a bending stiffness of 0.06 m g h³ has to hold: 0.0092 N m² here.
    let chain = 2.404_825_6 / 2.0 * (9.80665_f64 / 10.0).sqrt() / TAU;
    let machine = hanging_rope("elements = 40\norder = 1", 0.01, "");
    let found = machine.equilibrium().unwrap().equilibrium;
    let first = frequencies(&machine, &found.point()).unwrap()[0];
    // Elements of a fortieth of the length; the rope is stretched by 5e-3 of it.
    assert!((first / chain - 1.0).abs() < 1e-3, "{first} {chain}");
}

#[test]
fn a_section_that_turns_over_is_told_with_the_mesh_that_holds_it() {
    let told = |keys: &str| {
        let machine = hanging_rope(keys, 1e-4, "");
        let outcome = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
        let notes = machine.static_notes(&outcome);
        let unstable = notes.into_iter().find(|note| note.kind == NoteKind::UnstableEquilibrium);
        unstable.map(|note| note.text)
    };
    // The end section, about both axes.
    let text = told("elements = 8\norder = 1").unwrap();
    for words in ["unstable in 2 directions", "`rope.node-8`", "`order = 2`"] {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(told("elements = 8\norder = 2"), None);
}

/// 10 m of limp rope of 1 kg/m, drawn level between two clamps: (elements, order, EA, EI, GJ).
fn clamped_rope((elements, order, axial, bending, torsion): (usize, usize, f64, f64, f64)) -> Machine {
    machine(&format!(
        "[[beam]]
        name = \"rope\"
        from = [0, 0, 0]
        to = [10, 0, 0]
        start = \"ground\"
        end = \"ground\"
        elements = {elements}
        order = {order}
        section.axial-stiffness = {axial}
        section.shear-stiffness = [{shear}, {shear}]
        section.torsional-stiffness = {torsion}
        section.bending-stiffness = [{bending}, {bending}]
        section.mass-per-length = 1
        section.inertia-per-length = [1e-4, 5e-5, 5e-5]",
        shear = axial / 2.5
    ))
}

/// Ropes that sag by 9 and by 2 % of their length: with tensions of some 120 and 480 N.
fn clamped_ropes(order: usize) -> Vec<(usize, usize, f64, f64, f64)> {
    let mut ropes = Vec::new();
    for axial in [6860.0, 6e5] {
        for elements in [8, 16, 32] {
            for bending in [1e-3, 1e-1] {
                let torsion = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5].into_iter();
                ropes.extend(torsion.map(|torsion| (elements, order, axial, bending, torsion)));
            }
        }
    }
    ropes
}

/// Notes of a kind at the equilibrium.
fn static_notes(machine: &Machine, kind: NoteKind) -> Vec<Note> {
    let outcome = machine.find_equilibrium(&StaticSettings::default(), |_| Control::Continue);
    assert!(outcome.solution.is_ok(), "{:?}", outcome.solution);
    machine.static_notes(&outcome).into_iter().filter(|note| note.kind == kind).collect()
}

#[test]
fn a_sagging_rope_of_two_node_elements_does_not_twist_however_limp_it_is() {
    // Untwisted it is stable: the rope lies in a plane, and its section is the same all round.
    for rope in clamped_ropes(1) {
        let told = static_notes(&clamped_rope(rope), NoteKind::UnstableEquilibrium);
        assert!(told.is_empty(), "{rope:?}: {told:?}");
    }
}

#[test]
fn a_mesh_of_three_node_elements_that_twists_is_told_as_too_coarse_with_one_that_does_not() {
    let mut count = 0;
    for rope in clamped_ropes(2) {
        let told = static_notes(&clamped_rope(rope), NoteKind::UnstableEquilibrium);
        assert!(told.is_empty(), "{rope:?}: {told:?}");
        let twists = |rope| {
            let told = static_notes(&clamped_rope(rope), NoteKind::CoarseMesh);
            told.into_iter().find(|note| note.text.contains("torsional stiffness"))
        };
        let Some(note) = twists(rope) else { continue };
        count += 1;
        // Finer meshes than some dozens take long here.
        let (_, order, axial, bending, torsion) = rope;
        if torsion >= 1e-4 {
            let advice = note.advice.as_deref().unwrap();
            let enough: usize = advice.split([' ', '`']).find_map(|word| word.parse().ok()).unwrap();
            let fine = (enough, order, axial, bending, torsion);
            assert!(twists(fine).is_none(), "{rope:?}: {advice}");
            assert!(static_notes(&clamped_rope(fine), NoteKind::UnstableEquilibrium).is_empty(), "{fine:?}");
        }
    }
    assert!(count > 0);
}

#[test]
fn a_limp_rope_of_two_node_elements_that_is_drawn_across_its_load_is_told_what_would_do() {
    let text = "[[beam]]
        name = 'rope'
        from = [0, 0, 0]
        to = [10, 0, 0]
        elements = 4
        order = 1
        section.axial-stiffness = 1e6
        section.shear-stiffness = [3e5, 3e5]
        section.torsional-stiffness = 1e-2
        section.bending-stiffness = [1e-2, 1e-2]
        section.mass-per-length = 1
        section.inertia-per-length = [2e-4, 1e-4, 1e-4]
        [[universal]]
        bodies = ['ground', 'rope.start']
        first-axis = [0, 1, 0]
        second-axis = [0, 0, 1]";
    let error = machine(text).equilibrium().err().unwrap().to_string();
    assert!(error.contains("`order = 2`"), "{error}");
    let machine = machine(&text.replace("order = 1", "order = 2"));
    let hangs = machine.equilibrium().unwrap().equilibrium;
    let end = machine.system().motion(node(&machine, "rope.node-8"), &hangs.point()).pose.position;
    // m g L²/(2 EA) longer than 10 m.
    assert!((end - Vector3::new(0.0, 0.0, -10.0 - 9.80665 * 50.0 / 1e6)).norm() < 1e-6, "{end}");
}

#[test]
fn a_swinging_rope_keeps_its_energy_and_agrees_with_elements_of_three_nodes() {
    let thrown = |keys: &str| {
        let keys = format!("{keys}\nangular-velocity = [0, 0.5, 0]");
        hanging_rope(&keys, 1.0, "[[sensor]]\nof = \"rope.end\"\nquantity = \"position\"").simulate().unwrap()
    };
    let found = thrown("elements = 16\norder = 1");
    let reference = thrown("elements = 32\norder = 2");
    let [x, z] = ["x", "z"].map(|axis| last(&found, &format!("rope.end.position.{axis}")));
    let [x2, z2] = ["x", "z"].map(|axis| last(&reference, &format!("rope.end.position.{axis}")));
    // Way of some metres, second order in the masses.
    assert!((x - x2).abs() < 0.05 && (z - z2).abs() < 0.05, "{x} {z}, not {x2} {z2}");
    // Thrown with ½ · m L²/3 · 0.25 = 41.7 J.
    let lost = column(&found, "energy.balance").iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    assert!(lost < 0.01 * 41.7, "{lost}");
}

#[test]
fn a_slack_cable_hangs_in_a_catenary() {
    // A half circle of 10 m chord: its length is 5π m.
    let machine = machine(
        "[[beam]]
        name = \"cable\"
        points = [[0, 0, 0], [5, 0, -5], [10, 0, 0]]
        curve = \"arc\"
        elements = 32
        order = 1
        section.axial-stiffness = 1e6
        section.shear-stiffness = [1e6, 1e6]
        section.torsional-stiffness = 1
        section.bending-stiffness = [1, 1]
        section.mass-per-length = 1
        section.inertia-per-length = [1e-3, 1e-3, 1e-3]
        [[universal]]
        bodies = [\"ground\", \"cable.start\"]
        first-axis = [0, 1, 0]
        second-axis = [0, 0, 1]
        [[spherical]]
        bodies = [\"ground\", \"cable.end\"]",
    );
    let found = machine.equilibrium().unwrap().equilibrium;
    // 2 a sinh(5/a) = 5π, sag a (cosh(5/a) − 1).
    let (mut low, mut high) = (1.0_f64, 10.0_f64);
    for _ in 0..100 {
        let a = 0.5 * (low + high);
        *(if 2.0 * a * (5.0 / a).sinh() > 5.0 * PI { &mut low } else { &mut high }) = a;
    }
    let sag = low * ((5.0 / low).cosh() - 1.0);
    let middle = machine.system().motion(node(&machine, "cable.node-16"), &found.point()).pose.position;
    // Bending stiffness of 1 N m² against a weight of 10 N/m over metres, and the elements: thousandths.
    assert!((-middle.z / sag - 1.0).abs() < 5e-3, "{} {sag}", middle.z);
    assert!((middle - Vector3::new(5.0, 0.0, middle.z)).norm() < 1e-6, "{middle}");
}
