//! The element with three nodes: its sample for the contract, and laws of its own.

use kreisel::element::Element;
use kreisel::element::beam::{BeamEnd, QuadraticBeam, QuadraticSpan, Section, mass_about};
use kreisel::kinematics::{Motion, NodeId, NodeMotion};
use kreisel::lie::{Matrix3, Matrix6, Pose, Vector3, Vector6, se3};
use proptest::prelude::*;

use super::oracle::{Node, Oracle, QuadraticOracle};
use super::{Sample, full_matrix, node_strategy, pose, residual};

/// Frames of a curved and twisted element, which is not the same on both sides of its middle.
fn reference() -> [Pose; 3] {
    [pose([-0.1, 0.2, -0.3, -0.5, 0.05, 0.1]), Pose::identity(), pose([0.2, -0.1, 0.15, 0.6, 0.1, -0.1])]
}

fn section() -> Section {
    Section::new(full_matrix(10.0), mass_about(1.0, &Matrix3::identity(), [0.0; 2])).unwrap()
}

fn element(ends: [BeamEnd; 3], damping_time: f64) -> QuadraticBeam {
    let frames = reference();
    let span = QuadraticSpan::through(frames.each_ref()).unwrap();
    QuadraticBeam::new(ends, &span, &section(), damping_time)
}

fn on_nodes() -> [BeamEnd; 3] {
    [0, 1, 2].map(|node| BeamEnd::on(NodeId(node)))
}

/// The element on nodes and on frames off them; a section without a node stands on the ground.
pub fn sample(name: &'static str, nodes: [Option<usize>; 3], offsets: [Option<Pose>; 3]) -> Sample {
    let ends = std::array::from_fn(|side| BeamEnd { node: nodes[side].map(NodeId), offset: offsets[side] });
    let mut oracle = QuadraticOracle {
        nodes,
        offsets: offsets.map(Option::unwrap_or_default),
        reference: [[0.0; 6]; 2],
        stiffness: [Matrix6::zeros(); 2],
        damping_time: 0.3,
    };
    let still = reference().map(|frame| Node::constant(&NodeMotion::at_rest(frame)));
    let plain =
        QuadraticOracle { nodes: [Some(0), Some(1), Some(2)], offsets: [Pose::identity(); 3], ..oracle };
    oracle.reference = plain.strains(&still);
    let metric = |e: &[f64; 6]| Vector3::new(e[3], e[4], e[5]).norm();
    oracle.stiffness = oracle.reference.each_ref().map(|e| *section().stiffness() / metric(e));
    Sample {
        name,
        element: Box::new(element(ends, 0.3)),
        oracle: Oracle::Quadratic { beam: Box::new(oracle) },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn no_rigid_motion_strains_an_element_with_three_nodes(
        place in proptest::array::uniform6(-50.0..50.0_f64),
        velocity in proptest::array::uniform6(-5.0..5.0_f64),
    ) {
        let (world, frames) = (pose(place), reference());
        let nodes = frames.map(|frame| NodeMotion {
            velocity: se3::adjoint(&frame.inverse()) * Vector6::from(velocity),
            ..NodeMotion::at_rest(world.compose(&frame))
        });
        for wrench in residual(&element(on_nodes(), 0.3), &nodes) {
            // Positions of 100 m are rounded at 1e-14 m; stiffnesses of some hundred multiply this.
            prop_assert!(wrench.amax() < 1e-10, "{wrench}");
        }
    }

    #[test]
    fn forces_do_not_depend_on_which_end_is_the_first(nodes in node_strategy()) {
        let still = nodes.map(|node| NodeMotion::at_rest(node.pose));
        let forth = residual(&element(on_nodes(), 0.0), &still);
        // The other way round every frame is turned by half a turn about z: x and y change their signs.
        let turn = pose([0.0, 0.0, std::f64::consts::PI, 0.0, 0.0, 0.0]);
        let turned = se3::adjoint(&turn.inverse());
        let [a, m, b] = reference().map(|frame| frame.compose(&turn));
        let span = QuadraticSpan::through([&b, &m, &a]).unwrap();
        let stiffness = turned * section().stiffness() * turned.transpose();
        let section = Section::new(stiffness, *section().mass()).unwrap();
        let back = QuadraticBeam::new(on_nodes(), &span, &section, 0.0);
        let [a, m, b] = still.map(|node| NodeMotion::at_rest(node.pose.compose(&turn)));
        let found = residual(&back, &[b, m, a]);
        for (forth, back) in forth.iter().zip(found.iter().rev()) {
            let back = turned.transpose() * back;
            // Rounding of some hundred operations.
            prop_assert!((forth - back).amax() < 1e-11 * (1.0 + forth.amax()), "{forth} {back}");
        }
    }

    #[test]
    fn section_forces_of_three_nodes_follow_a_motion_to_second_order(
        nodes in node_strategy(),
        moves in proptest::array::uniform3(proptest::array::uniform6(-1.0..1.0_f64)),
    ) {
        let beam = element(on_nodes(), 0.0);
        let before = Motion::new(0.0, &nodes);
        let error = |size: f64| {
            let moved: [NodeMotion; 3] = std::array::from_fn(|side| {
                NodeMotion::at_rest(nodes[side].pose.compose(&se3::exp(&(size * Vector6::from(moves[side])))))
            });
            let after = Motion::new(0.0, &moved);
            let (mut followed, mut exact) = ([0.0; 12], [0.0; 12]);
            let moves = moves.map(|twist| size * Vector6::from(twist));
            beam.remember(&after, Some((&before, &moves)), &mut followed);
            beam.remember(&after, None, &mut exact);
            followed.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let [coarse, fine] = [1e-2, 1e-3].map(error);
        // A hundredth, and what is of third order; forces of some hundred N are rounded at 1e-13 of them.
        prop_assert!(fine < 0.02 * coarse + 1e-9, "{coarse:e} {fine:e}");
        prop_assert!(error(0.0) < 1e-10);
    }
}

#[test]
fn an_arc_of_three_nodes_carries_the_moment_of_its_curvature() {
    // M = EI/r: a straight element of length π/2, bent to a quarter of a circle.
    let quarter = std::f64::consts::FRAC_PI_2;
    let section = Section::new(
        Matrix6::from_diagonal(&Vector6::new(3.0, 5.0, 7.0, 1e4, 2e4, 3e4)),
        mass_about(1.0, &Matrix3::identity(), [0.0; 2]),
    )
    .unwrap();
    let straight = [0.0, 0.5, 1.0].map(|part| pose([0.0, 0.0, 0.0, part * quarter, 0.0, 0.0]));
    let span = QuadraticSpan::through(straight.each_ref()).unwrap();
    let beam = QuadraticBeam::new(on_nodes(), &span, &section, 0.0);
    let bent = [0.0, 0.5 * quarter, quarter]
        .map(|angle| NodeMotion::at_rest(pose([0.0, 0.0, angle, angle.sin(), 1.0 - angle.cos(), 0.0])));
    let wrenches = residual(&beam, &bent);
    let expected = Vector6::new(0.0, 0.0, 7.0, 0.0, 0.0, 0.0);
    let errors = [wrenches[0] + expected, wrenches[1], wrenches[2] - expected].map(|error| error.amax());
    // Stretches are rounded at 1e-16, and 3e4 N multiply this.
    assert!(errors.iter().all(|error| *error < 1e-10), "{errors:?}");
}
