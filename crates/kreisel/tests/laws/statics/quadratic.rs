//! The classical problems with elements of three nodes.

use super::beams::{BEND, add_load, bent_rod, frames, rolls_into_circles, section, tip};
use super::rod::Rod;
use super::solve;
use kreisel::dae::Initial;
use kreisel::element::beam::{BeamEnd, QuadraticBeam, QuadraticSpan, Segment};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix3, Pose, Vector3, Vector6};
use kreisel::statics::StaticSettings;
use kreisel::system::{System, SystemBuilder};

/// A cantilever along frames, of which every second one is the middle of an element.
fn cantilever(
    frames: &[Pose],
    stiffness: [f64; 6],
    torque: Vector3,
    force: Vector3,
    group: Group,
) -> (System, Initial) {
    let (mut builder, section) = (SystemBuilder::new(), section(stiffness));
    let mut last = BeamEnd { node: None, offset: Some(frames[0]) };
    for first in (0..frames.len() - 1).step_by(2) {
        let shape = [&frames[first], &frames[first + 1], &frames[first + 2]];
        let span = QuadraticSpan::through(shape).unwrap();
        let [middle, end] = [1, 2].map(|k| {
            let node =
                builder.node(format!("node-{}", first + k), group, frames[first + k], Vector6::zeros());
            builder.element(
                "beam",
                Segment::new(node, section.mass() * span.node_lengths()[k], Vector3::zeros(), 0.0),
            );
            BeamEnd::on(node)
        });
        builder.element("beam", QuadraticBeam::new([last, middle, end], &span, &section, 0.0));
        last = end;
    }
    add_load(&mut builder, NodeId(frames.len() - 2), torque, force);
    builder.scales(kreisel::dae::Scales { length: 1.0, arm: None, mass: 1.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

fn loaded_tip(frames: &[Pose], stiffness: [f64; 6], force: Vector3) -> Vector3 {
    let (system, initial) = cantilever(frames, stiffness, Vector3::zeros(), force, Group::Se3);
    let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
    tip(&system, &found.equilibrium).position
}

#[test]
fn three_nodes_an_element_roll_into_one_and_two_circles() {
    rolls_into_circles(cantilever);
}

#[test]
fn the_45_degree_bend_converges_with_fourth_order_to_what_shooting_finds() {
    let rod = bent_rod();
    for load in [300.0, 600.0] {
        let force = Vector3::new(0.0, 0.0, load);
        let exact = rod.tip(force);
        let errors: Vec<f64> = [4, 8, 16]
            .iter()
            .map(|pieces| {
                let frames = frames(Pose::identity(), rod.curvature, rod.length, *pieces);
                (loaded_tip(&frames, BEND, force) - exact).norm()
            })
            .collect();
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1]).log2() > 3.7, "{errors:?}");
        }
        // On as many nodes elements with two nodes leave 8e-3 at 600 N.
        assert!(errors[1] < 3e-3, "{errors:?}");
    }
}

#[test]
fn the_princeton_beam_of_five_elements_agrees_with_shooting() {
    let (length, width, thickness, young, shear) = (0.508, 12.7e-3, 3.2024e-3, 71.7e9, 26.9e9);
    let area: f64 = width * thickness;
    let [thick, wide] = [width * thickness.powi(3) / 12.0, thickness * width.powi(3) / 12.0];
    let torsion: f64 = 0.281 * width * thickness.powi(3);
    let sheared = shear * area * 5.0 / 6.0;
    let stiffness = [shear * torsion, young * wide, young * thick, young * area, sheared, sheared];
    let rod = Rod {
        length,
        curvature: Vector3::zeros(),
        bending: Vector3::new(stiffness[0], stiffness[1], stiffness[2]),
        stretching: Vector3::new(stiffness[3], stiffness[4], stiffness[5]),
        root: Matrix3::identity(),
    };
    for angle in [0.0_f64, 45.0, 90.0].map(f64::to_radians) {
        let force = 13.345 * Vector3::new(0.0, angle.sin(), angle.cos());
        let exact = rod.tip(force);
        let frames = frames(Pose::identity(), Vector3::zeros(), length, 10);
        let error = (loaded_tip(&frames, stiffness, force) - exact).norm();
        let deflection = (exact - Vector3::new(length, 0.0, 0.0)).norm();
        // Fourth order: (1/5)⁴/16 of the deflection.
        assert!(error < 1e-4 * deflection, "{angle} {error:e} of {deflection}");
    }
}
