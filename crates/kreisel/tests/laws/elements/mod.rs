//! The contract of every element: its tangent is the derivative of its residual, forces turn with the world,
//! what is elastic comes from an energy, and power is accounted for.
//!
//! Where nothing else is said, tolerances are some hundred roundings of the largest number that is added up.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

pub mod answers;
pub mod oracle;
mod quadratic;
mod states;

use std::sync::Arc;

use answers::{ALL, answers};
use kreisel::dae::TangentWeights;
use kreisel::element::beam::{Beam, BeamEnd, Half, Section, Segment, SegmentLoad, Span, mass_about};
use kreisel::element::{
    Axes, Body, Bushing, CoordinateForce, Element, EndStop, ForceLaw, JointForce, LinearSpring, MarkerForce,
    MotionSignal, Quantity, RegularizedFriction, Signal, SignalFunction,
};
use kreisel::kinematics::{Coordinate, Frame, FramePair, LocalTangent, Motion, NodeId, NodeMotion};
use kreisel::lie::{Matrix3, Matrix6, Pose, UnitQuaternion, Vector3, Vector6, se3};
use num_dual::Dual64;
use oracle::{BeamOracle, Between, Law, Node, Oracle, mixed};
use proptest::prelude::*;

/// An element, its second computation and its nodes.
struct Sample {
    name: &'static str,
    element: Box<dyn Element>,
    oracle: Oracle,
}

const COORDINATES: [Coordinate; 6] = [
    Coordinate::RotationVector(0),
    Coordinate::RotationVector(1),
    Coordinate::RotationVector(2),
    Coordinate::Translation(0),
    Coordinate::Translation(1),
    Coordinate::Translation(2),
];

fn pose(x: [f64; 6]) -> Pose {
    Pose::new(
        UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2])),
        Vector3::new(x[3], x[4], x[5]),
    )
}

fn first_offset() -> Pose {
    pose([0.3, -0.2, 0.1, 0.4, -0.3, 0.2])
}

fn second_offset() -> Pose {
    pose([-0.1, 0.4, 0.2, -0.2, 0.1, 0.5])
}

/// A symmetric matrix with positive eigenvalues and every coupling.
fn full_matrix(size: f64) -> Matrix6 {
    let root = Matrix6::from_fn(|i, j| (1.0 + (3 * i + 5 * j) as f64).sin() + 2.0 * f64::from(i == j));
    size * root * root.transpose()
}

const SPRING: LinearSpring = LinearSpring { stiffness: 30.0, damping: 2.0, free_value: 0.2, preload: 1.5 };
const FRICTION: RegularizedFriction = RegularizedFriction { force: 3.0, rate: 0.5 };
const STOP: EndStop = EndStop { bounds: [-0.1, 0.1], stiffness: 40.0, damping: 3.0, transition: 0.05 };

fn along(
    name: &'static str,
    nodes: [Option<usize>; 2],
    offsets: [Pose; 2],
    coordinate: Coordinate,
    law: Law,
) -> Sample {
    let shared: Arc<dyn ForceLaw> = match &law {
        Law::Spring(law) => Arc::new(*law),
        Law::Friction(law) => Arc::new(*law),
        Law::Stop(law) => Arc::new(*law),
    };
    let ids = nodes.map(|node| node.map(NodeId));
    let element = CoordinateForce::new(ids, offsets, coordinate, vec![shared]);
    // The element counts its nodes from the first it meets, as the test does.
    Sample {
        name,
        element: Box::new(element),
        oracle: Oracle::Along { between: Between { nodes, offsets, coordinate }, law },
    }
}

fn bushing(name: &'static str, nodes: [Option<usize>; 2], offsets: [Pose; 2]) -> Sample {
    let (stiffness, damping) = (full_matrix(10.0), full_matrix(0.7));
    let element = Bushing::new(nodes.map(|node| node.map(NodeId)), offsets, stiffness, damping);
    let between = COORDINATES.map(|coordinate| Between { nodes, offsets, coordinate });
    Sample {
        name,
        element: Box::new(element),
        oracle: Oracle::Bushing {
            between: Box::new(between),
            stiffness: Box::new(stiffness),
            damping: Box::new(damping),
        },
    }
}

/// Factors of the six components of the test's force.
const FACTORS: [f64; 6] = [0.7, -1.1, 0.4, 1.3, -0.6, 0.9];

/// One component of [`mixed`].
#[derive(Debug)]
struct Component(usize);

impl SignalFunction for Component {
    fn evaluate(&self, _: f64, signals: &[f64], slopes: &mut [f64]) -> f64 {
        for (k, slope) in slopes.iter_mut().enumerate() {
            let duals: Vec<Dual64> =
                signals.iter().enumerate().map(|(i, s)| Dual64::new(*s, f64::from(i == k))).collect();
            *slope = mixed(FACTORS, &duals)[self.0].eps;
        }
        mixed(FACTORS, signals)[self.0]
    }
}

/// An angle, a position and a velocity in a world that was moved.
fn signals(world: &Pose) -> (Vec<(Between, bool)>, Vec<Signal>) {
    let (both, offsets) = ([Some(0), Some(1)], [first_offset(), second_offset()]);
    let angle = Between { nodes: both, offsets, coordinate: Coordinate::Angle };
    let height = Coordinate::Translation(2);
    let place = Between { nodes: [None, Some(1)], offsets: [*world, second_offset()], coordinate: height };
    let speed = Coordinate::Translation(0);
    let speed = Between { nodes: [None, Some(0)], offsets: [*world, first_offset()], coordinate: speed };
    let between = vec![(angle, false), (place, false), (speed, true)];
    let signals = between.iter().map(|(b, rate)| {
        Signal::Motion(Box::new(MotionSignal {
            pair: FramePair { nodes: b.nodes, frames: b.offsets.map(Frame::new) },
            coordinate: b.coordinate,
            rate: *rate,
        }))
    });
    let signals = signals.collect();
    (between, signals)
}

/// A force at a marker; dead ones are given in axes turned with the world.
fn push(name: &'static str, axes: Axes, world: &Pose) -> Sample {
    let (between, signals) = signals(world);
    let components = std::array::from_fn(|i| Quantity::Function(Arc::new(Component(i))));
    let nodes = vec![NodeId(0), NodeId(1)];
    let element = MarkerForce::new(nodes, second_offset(), axes, components, signals)
        .in_axes_turned_by(&world.rotation);
    let dead = (axes == Axes::World).then(|| world.rotation.to_rotation_matrix().into_inner());
    let oracle = Oracle::Push { marker: second_offset(), dead, factors: FACTORS, signals: between };
    Sample { name, element: Box::new(element), oracle }
}

fn actuator(name: &'static str, coordinate: Coordinate, world: &Pose) -> Sample {
    let (measured, signals) = signals(world);
    let (nodes, offsets) = ([Some(0), Some(1)], [first_offset(), second_offset()]);
    let pair = FramePair { nodes, frames: offsets.map(Frame::new) };
    let force = Quantity::Function(Arc::new(Component(0)));
    let element = JointForce::new(vec![NodeId(0), NodeId(1)], pair, coordinate, force, signals);
    let between = Between { nodes, offsets, coordinate };
    let oracle = Oracle::Actuator { between, factors: FACTORS, signals: measured };
    Sample { name, element: Box::new(element), oracle }
}

/// A curved and twisted beam element with coupled stiffness; an end without a node stands on the ground.
fn beam(name: &'static str, nodes: [Option<usize>; 2], offsets: [Option<Pose>; 2]) -> Sample {
    let span = Span::between(&Pose::identity(), &pose([0.2, -0.3, 0.4, 0.9, 0.1, -0.2])).unwrap();
    let mass = mass_about(1.0, &Matrix3::identity(), [0.0; 2]);
    let section = Section::new(full_matrix(10.0), mass).unwrap();
    let ends = std::array::from_fn(|side| BeamEnd { node: nodes[side].map(NodeId), offset: offsets[side] });
    let beam = BeamOracle {
        nodes,
        offsets: offsets.map(Option::unwrap_or_default),
        reference: (*span.twist()).into(),
        length: span.length(),
        stiffness: span.stiffness(&section.flexibility()),
        bending: section.flexibility().fixed_view::<3, 3>(0, 0).into(),
        damping_time: 0.3,
    };
    let element = Box::new(Beam::new(ends, &span, &section, 0.3));
    Sample { name, element, oracle: Oracle::Beam { beam: Box::new(beam) } }
}

/// Inertia of half an element with its centre of mass off the axis.
fn segment(gravity: Vector3) -> Sample {
    let span = Span::between(&Pose::identity(), &pose([0.2, -0.3, 0.4, 0.9, 0.1, -0.2])).unwrap();
    let inertia = Matrix3::new(2.0, 0.1, 0.2, 0.1, 3.0, -0.3, 0.2, -0.3, 2.5);
    let mass = span.half_mass(Half::Second, &mass_about(1.7, &inertia, [0.3, -0.2]));
    let moment = Vector3::new(mass[(4, 2)], mass[(5, 0)], mass[(3, 1)]);
    let oracle = Oracle::Segment {
        mass: mass[(3, 3)],
        moment,
        inertia: mass.fixed_view::<3, 3>(0, 0).into(),
        gravity,
        damping: 0.4,
    };
    Sample { name: "segment", element: Box::new(Segment::new(NodeId(0), mass, gravity, 0.4)), oracle }
}

/// A dead load per length in a world that was moved.
fn segment_load(world: &Pose) -> Sample {
    let span = Span::between(&Pose::identity(), &pose([0.2, -0.3, 0.4, 0.9, 0.1, -0.2])).unwrap();
    let wrench = span.half_dead_load(Half::First);
    let (torque, force) = (world.rotation * Vector3::new(0.3, 1.0, -0.5), world.rotation * Vector3::x());
    let load = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
    let moment = Vector3::new(wrench[(2, 4)], wrench[(0, 5)], wrench[(1, 3)]);
    let element = SegmentLoad::new(NodeId(0), Axes::World, load.map(Quantity::Constant), wrench);
    let oracle = Oracle::Load { length: wrench[(0, 0)], moment, load };
    Sample { name: "load per length", element: Box::new(element), oracle }
}

/// Every element, in a world that was moved.
fn samples(world: &Pose) -> Vec<Sample> {
    let inertia = Matrix3::new(2.0, 0.1, 0.2, 0.1, 3.0, -0.3, 0.2, -0.3, 2.5);
    let gravity = world.rotation * Vector3::new(1.0, -2.0, -9.0);
    let (both, offsets) = ([Some(0), Some(1)], [first_offset(), second_offset()]);
    let on_ground = [world.compose(&first_offset()), second_offset()];
    vec![
        Sample {
            name: "body",
            element: Box::new(Body::new(NodeId(0), 1.5, inertia, gravity)),
            oracle: Oracle::Body { mass: 1.5, inertia, gravity },
        },
        along("spring", both, offsets, Coordinate::Distance, Law::Spring(SPRING)),
        along("grounded spring", [None, Some(0)], on_ground, Coordinate::Distance, Law::Spring(SPRING)),
        along("torsional spring", both, offsets, Coordinate::Angle, Law::Spring(SPRING)),
        along("friction", both, offsets, Coordinate::Angle, Law::Friction(FRICTION)),
        along("sliding friction", both, offsets, Coordinate::Translation(2), Law::Friction(FRICTION)),
        along("stop", both, offsets, Coordinate::Translation(2), Law::Stop(STOP)),
        along("torsional stop", both, offsets, Coordinate::Angle, Law::Stop(STOP)),
        bushing("bushing", both, offsets),
        bushing("grounded bushing", [None, Some(0)], on_ground),
        actuator("motor", Coordinate::Angle, world),
        actuator("ram", Coordinate::Translation(1), world),
        push("dead force", Axes::World, world),
        push("following force", Axes::Marker, world),
        beam("beam", [Some(0), Some(1)], [None, None]),
        beam("beam on bodies", [Some(0), Some(1)], [Some(first_offset()), Some(second_offset())]),
        beam("clamped beam", [None, Some(0)], [Some(world.compose(&first_offset())), None]),
        quadratic::sample("beam of three nodes", [0, 1, 2].map(Some), [None; 3]),
        quadratic::sample(
            "beam of three nodes on bodies",
            [0, 1, 2].map(Some),
            [Some(first_offset()), None, Some(second_offset())],
        ),
        quadratic::sample(
            "clamped beam of three nodes",
            [None, Some(0), Some(1)],
            [Some(world.compose(&first_offset())), None, None],
        ),
        segment(gravity),
        segment_load(world),
    ]
}

/// Three bodies with random motions, turned against each other by less than half a turn, where the rotation
/// vector ends, and so that the angle between their frames is defined.
fn node_strategy() -> impl Strategy<Value = [NodeMotion; 3]> {
    let numbers = |size: f64| proptest::array::uniform6(-size..size);
    let turn = proptest::array::uniform3(-0.6..0.6);
    let node = (turn, numbers(1.0), numbers(2.0), numbers(3.0));
    let node = node.prop_map(|(turn, place, velocity, acceleration)| {
        let place = pose([turn[0], turn[1], turn[2], place[3], place[4], place[5]]);
        let (velocity, acceleration) = (Vector6::from(velocity), Vector6::from(acceleration));
        NodeMotion { velocity, acceleration, ..NodeMotion::at_rest(place) }
    });
    proptest::array::uniform3(node).prop_filter("the x axis of one frame along z of the other", |nodes| {
        let frames = [(0, first_offset()), (1, second_offset())];
        let [first, second] = frames.map(|(node, offset)| nodes[node].pose.compose(&offset).rotation);
        let x_axis = first.inverse() * (second * Vector3::x());
        x_axis.xy().norm_squared() > 0.1
    })
}

fn residual(element: &dyn Element, nodes: &[NodeMotion]) -> Vec<Vector6> {
    let at = Motion { memory: &[0.0; 4], ..Motion::new(0.0, &nodes[..element.facts().nodes.len()]) };
    answers(element, &at, ALL).wrenches
}

/// Size of the numbers in a residual's derivatives, by which roundings are judged.
fn scale(tangent: &LocalTangent) -> f64 {
    let n = tangent.node_count();
    let blocks = (0..n * n).map(|k| tangent.block(k / n, k % n));
    blocks.map(|(m, d, k)| m.amax().max(d.amax()).max(k.amax())).fold(1.0, f64::max)
}

/// Duals of a node along one direction of pose, velocity or acceleration.
fn seeded(node: &NodeMotion, what: usize, k: usize) -> Node<Dual64> {
    let mut dual: Node<Dual64> = Node::constant(node);
    let mut twist = [Dual64::from_re(0.0); 6];
    match what {
        0 => dual.acceleration[k].eps = 1.0,
        1 => dual.velocity[k].eps = 1.0,
        _ => twist[k].eps = 1.0,
    }
    dual.moved(&twist)
}

/// Compares the tangents of all samples with dual numbers.
fn compare_tangents(nodes: &[NodeMotion; 3]) -> Result<(), TestCaseError> {
    for Sample { name, element, oracle } in samples(&Pose::identity()) {
        let count = element.facts().nodes.len();
        let at = Motion { memory: &[0.0; 4], ..Motion::new(0.0, &nodes[..count]) };
        let tangent = answers(&*element, &at, ALL).tangent;
        let size = scale(&tangent);
        for j in 0..count {
            for (what, k) in (0..18).map(|index| (index / 6, index % 6)) {
                let duals: Vec<Node<Dual64>> = (0..count)
                    .map(|n| if n == j { seeded(&nodes[n], what, k) } else { Node::constant(&nodes[n]) })
                    .collect();
                let expected = oracle.residual(&duals);
                for (i, expected) in expected.iter().enumerate() {
                    let (mass, damping, stiffness) = tangent.block(i, j);
                    let found = [mass, damping, stiffness][what].column(k).into_owned();
                    for row in 0..6 {
                        // Some hundred roundings; near half a turn the rotation vector's curvature is large,
                        // and so is `size`.
                        prop_assert!(
                            (found[row] - expected[row].eps).abs() < 1e-11 * size,
                            "{name}: block ({i}, {j}), derivative {what}, ({row}, {k}): {} {}",
                            found[row],
                            expected[row].eps
                        );
                    }
                }
            }
        }
        let plain: Vec<Node<f64>> = nodes[..count].iter().map(Node::constant).collect();
        for (found, expected) in residual(&*element, nodes).iter().zip(oracle.residual(&plain)) {
            prop_assert!((found - Vector6::from(expected)).amax() < 1e-11 * size, "{name}: residual");
        }
    }
    Ok(())
}

/// The second computation lost digits where the frames stand at a quarter turn, and failed here by chance.
#[test]
fn tangents_are_compared_at_a_quarter_turn_too() {
    let node = |x: f64, y: f64, z: f64, w: f64| {
        let rotation = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
        NodeMotion::at_rest(Pose::new(rotation, Vector3::zeros()))
    };
    let first = node(0.2558915005279497, 0.22902389289866407, 0.1379437110861179, 0.928998993008542);
    let second = node(-0.24970941479734438, -0.24706106349326923, -0.19416713783518347, 0.9159176609565052);
    compare_tangents(&[first, second, node(0.0, 0.0, 0.0, 1.0)]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn tangents_are_the_derivatives_of_residuals_by_dual_numbers(
        nodes in node_strategy(),
    ) {
        compare_tangents(&nodes)?;
    }

    #[test]
    fn turning_and_moving_the_world_turns_the_forces_and_nothing_else(
        nodes in node_strategy(),
        motion in proptest::array::uniform6(-2.0..2.0),
    ) {
        let world = pose(motion);
        let moved = nodes.map(|node| NodeMotion {
            velocity: node.velocity,
            acceleration: node.acceleration,
            ..NodeMotion::at_rest(world.compose(&node.pose))
        });
        for (here, there) in samples(&Pose::identity()).iter().zip(samples(&world)) {
            let (a, b) = (residual(&*here.element, &nodes), residual(&*there.element, &moved));
            for (a, b) in a.iter().zip(&b) {
                // Wrenches are in body axes, so they stay; stiffnesses of some hundred multiply the roundings
                // of positions.
                prop_assert!((a - b).amax() < 1e-11 * (1.0 + a.amax()), "{}: {a} {b}", here.name);
            }
        }
    }

    #[test]
    fn elastic_forces_are_the_gradient_of_the_stored_energy(nodes in node_strategy()) {
        let resting = nodes.map(|node| NodeMotion::at_rest(node.pose));
        for Sample { name, element, oracle } in samples(&Pose::identity()) {
            if matches!(oracle, Oracle::Push { .. } | Oracle::Actuator { .. } | Oracle::Load { .. }) {
                continue;
            }
            let count = element.facts().nodes.len();
            let at = Motion { memory: &[0.0; 4], ..Motion::new(0.0, &resting[..count]) };
            let plain: Vec<Node<f64>> = resting[..count].iter().map(Node::constant).collect();
            let stored = answers(&*element, &at, ALL).energies.total();
            // Rounding of some hundred operations.
            prop_assert!((stored - oracle.energy(&plain)).abs() < 1e-12 * (1.0 + stored.abs()), "{name}: energy");
            let wrenches = residual(&*element, &resting);
            for (j, wrench) in wrenches.iter().enumerate() {
                for k in 0..6 {
                    let duals: Vec<Node<Dual64>> = (0..count)
                        .map(|n| if n == j { seeded(&resting[n], 2, k) } else { Node::constant(&resting[n]) })
                        .collect();
                    let slope = oracle.energy(&duals).eps;
                    let size = 1.0 + wrench.amax();
                    // Rounding of some hundred operations, and of their derivatives.
                    prop_assert!((wrench[k] - slope).abs() < 1e-11 * size, "{name}: {} {slope}", wrench[k]);
                }
            }
        }
    }

    #[test]
    fn power_is_stored_lost_or_applied(nodes in node_strategy()) {
        for Sample { name, element, oracle } in samples(&Pose::identity()) {
            let count = element.facts().nodes.len();
            // Along the motion: the pose moves with the twist, the twist with its rate.
            let duals: Vec<Node<Dual64>> = (nodes[..count].iter())
                .map(|node| {
                    let mut dual: Node<Dual64> = Node::constant(node);
                    (0..6).for_each(|k| dual.velocity[k].eps = node.acceleration[k]);
                    dual.moved(&std::array::from_fn(|k| Dual64::new(0.0, node.velocity[k])))
                })
                .collect();
            let storing = oracle.energy(&duals).eps;
            let at = Motion { memory: &[0.0; 4], ..Motion::new(0.0, &nodes[..count]) };
            let power = answers(&*element, &at, ALL).power;
            let wrenches = residual(&*element, &nodes);
            let taken: f64 = wrenches.iter().zip(&nodes).map(|(wrench, node)| wrench.dot(&node.velocity)).sum();
            let size: f64 = 1.0 + wrenches.iter().zip(&nodes).map(|(w, n)| w.norm() * n.velocity.norm()).sum::<f64>();
            let difference = taken - (storing + power.dissipated - power.applied);
            // Rounding of some hundred operations.
            prop_assert!(difference.abs() < 1e-11 * size, "{name}: {difference} of {taken}");
            prop_assert!(power.dissipated >= 0.0, "{name} dissipates {}", power.dissipated);
        }
    }

    #[test]
    fn masses_are_symmetric_and_not_negative(nodes in node_strategy()) {
        for Sample { name, element, .. } in samples(&Pose::identity()) {
            let count = element.facts().nodes.len();
            let at = Motion { memory: &[0.0; 4], ..Motion::new(0.0, &nodes[..count]) };
            let tangent = answers(&*element, &at, TangentWeights { damping: 0.0, stiffness: false, ..ALL }).tangent;
            for i in 0..count {
                for j in 0..count {
                    let difference = tangent.block(i, j).0 - tangent.block(j, i).0.transpose();
                    prop_assert!(difference.amax() == 0.0, "{name}");
                }
                prop_assert!(tangent.block(i, i).0.symmetric_eigenvalues().min() >= 0.0, "{name}");
            }
        }
    }

    #[test]
    fn at_rest_in_the_reference_shape_nothing_pulls(place in proptest::array::uniform6(-1.0..1.0)) {
        let (offsets, both) = ([first_offset(), second_offset()], [Some(NodeId(0)), Some(NodeId(1))]);
        let first = NodeMotion::at_rest(pose(place));
        // The second body stands where both frames fall together.
        let second = NodeMotion::at_rest(first.pose.compose(&offsets[0]).compose(&offsets[1].inverse()));
        let bushing = Bushing::new(both, offsets, full_matrix(10.0), full_matrix(0.7));
        let elsewhere = NodeMotion::at_rest(pose([0.1, 0.2, 0.3, 3.0, 0.0, 1.0]));
        let ends = [first, elsewhere].map(|node| node.pose).iter().zip(&offsets)
            .map(|(body, offset)| body.transform_point(&offset.position)).collect::<Vec<_>>();
        let law = LinearSpring { free_value: (ends[1] - ends[0]).norm(), preload: 0.0, ..SPRING };
        let spring = CoordinateForce::new(both, offsets, Coordinate::Distance, vec![Arc::new(law)]);
        for wrench in residual(&bushing, &[first, second]).iter().chain(&residual(&spring, &[first, elsewhere])) {
            // Stiffnesses of some hundred times roundings of positions of order one.
            prop_assert!(wrench.amax() < 1e-12, "{wrench}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn no_rigid_motion_strains_a_beam(
        place in proptest::array::uniform6(-50.0..50.0_f64),
        velocity in proptest::array::uniform6(-5.0..5.0_f64),
    ) {
        let ends = [Pose::identity(), pose([0.2, -0.3, 0.4, 0.9, 0.1, -0.2])];
        let span = Span::between(&ends[0], &ends[1]).unwrap();
        let mass = mass_about(1.0, &Matrix3::identity(), [0.0; 2]);
        let section = Section::new(full_matrix(10.0), mass).unwrap();
        let beam = Beam::new([0, 1].map(|node| BeamEnd::on(NodeId(node))), &span, &section, 0.3);
        let world = pose(place);
        let nodes = ends.map(|end| NodeMotion {
            velocity: se3::adjoint(&end.inverse()) * Vector6::from(velocity),
            ..NodeMotion::at_rest(world.compose(&end))
        });
        for wrench in residual(&beam, &nodes) {
            // Positions of 100 m are rounded at 1e-14 m; stiffnesses of some hundred multiply this.
            prop_assert!(wrench.amax() < 1e-10, "{wrench}");
        }
    }

    #[test]
    fn remembered_section_forces_follow_a_motion_to_second_order(
        nodes in node_strategy(),
        moves in proptest::array::uniform2(proptest::array::uniform6(-1.0..1.0_f64)),
    ) {
        let span = Span::between(&Pose::identity(), &pose([0.2, -0.3, 0.4, 0.9, 0.1, -0.2])).unwrap();
        let mass = mass_about(1.0, &Matrix3::identity(), [0.0; 2]);
        let section = Section::new(full_matrix(10.0), mass).unwrap();
        let offsets = [Some(first_offset()), None];
        let ends = std::array::from_fn(|side| BeamEnd { node: Some(NodeId(side)), offset: offsets[side] });
        let beam = Beam::new(ends, &span, &section, 0.0);
        let before = Motion::new(0.0, &nodes[..2]);
        let error = |size: f64| {
            let moved: [NodeMotion; 2] = std::array::from_fn(|side| {
                NodeMotion::at_rest(nodes[side].pose.compose(&se3::exp(&(size * Vector6::from(moves[side])))))
            });
            let after = Motion::new(0.0, &moved);
            let mut followed = [0.0; 6];
            let moves = moves.map(|twist| size * Vector6::from(twist));
            beam.remember(&after, Some((&before, &moves)), &mut followed);
            (Vector6::from(followed) - beam.strain(&after).force).norm()
        };
        let [coarse, fine] = [1e-2, 1e-3].map(error);
        // A hundredth, and what is of third order; forces of some hundred N are rounded at 1e-13 of them.
        prop_assert!(fine < 0.02 * coarse + 1e-9, "{coarse:e} {fine:e}");
        prop_assert!(error(0.0) < 1e-10);
    }

    #[test]
    fn a_beam_in_rigid_motion_has_the_momentum_and_energy_of_a_rigid_body(
        velocity in proptest::array::uniform6(-5.0..5.0_f64),
    ) {
        // A quarter of a ring of radius 2 m, in three elements, with a mass of 1.5 kg/m and thin sections.
        let section = mass_about(1.5, &Matrix3::zeros(), [0.0; 2]);
        let angle = |part: f64| part * std::f64::consts::FRAC_PI_2;
        let frame = |part: f64| {
            let at = angle(part);
            pose([0.0, 0.0, at + std::f64::consts::FRAC_PI_2, 2.0 * at.cos(), 2.0 * at.sin(), 0.0])
        };
        let twist = Vector6::from(velocity);
        let mut whole = Matrix6::zeros();
        for element in 0..3 {
            let ends = [element, element + 1].map(|node| frame(f64::from(node) / 3.0));
            let span = Span::between(&ends[0], &ends[1]).unwrap();
            for (end, half) in ends.iter().zip([Half::First, Half::Second]) {
                let carried = se3::adjoint(&end.inverse());
                whole += carried.transpose() * span.half_mass(half, &section) * carried;
            }
        }
        // Of an arc about its centre: mass ρ r π/2, first moment ρ r² (1, 1), inertia m r² about z and half
        // of it about x and y.
        let (mass, moment) = (1.5 * 2.0 * angle(1.0), 1.5 * 4.0);
        let inertia = mass * 4.0;
        let product = -0.5 * 1.5 * 8.0;
        let half = 0.5 * inertia;
        let inertia = Matrix3::new(half, product, 0.0, product, half, 0.0, 0.0, 0.0, inertia);
        let mut expected = mass_about(mass, &Matrix3::zeros(), [0.0; 2]);
        expected.fixed_view_mut::<3, 3>(0, 0).copy_from(&inertia);
        let coupling = kreisel::lie::skew(&Vector3::new(moment, moment, 0.0));
        expected.fixed_view_mut::<3, 3>(0, 3).copy_from(&coupling);
        expected.fixed_view_mut::<3, 3>(3, 0).copy_from(&-coupling);
        // Four Gauss points on sines over 15° leave an error of 1e-12.
        prop_assert!((whole * twist - expected * twist).amax() < 1e-11 * (1.0 + (expected * twist).amax()));
    }
}

#[test]
fn a_beam_bent_to_a_circle_carries_the_moment_of_its_curvature_at_every_node() {
    // M = EI/r: a straight beam of 4 elements, rolled into a full circle; the nodes lie on it exactly.
    let section = Section::new(
        Matrix6::from_diagonal(&Vector6::new(3.0, 5.0, 7.0, 1e4, 2e4, 3e4)),
        mass_about(1.0, &Matrix3::identity(), [0.0; 2]),
    )
    .unwrap();
    let length = std::f64::consts::TAU / 4.0;
    let span = Span::between(&Pose::identity(), &pose([0.0, 0.0, 0.0, length, 0.0, 0.0])).unwrap();
    let beam = Beam::new([0, 1].map(|node| BeamEnd::on(NodeId(node))), &span, &section, 0.0);
    let quarter = [pose([0.0; 6]), pose([0.0, 0.0, std::f64::consts::FRAC_PI_2, 1.0, 1.0, 0.0])];
    let wrenches = residual(&beam, &quarter.map(NodeMotion::at_rest));
    let expected = Vector6::new(0.0, 0.0, 7.0, 0.0, 0.0, 0.0);
    // Rounding of strains, times stiffnesses of up to 3e4.
    assert!((wrenches[1] - expected).amax() < 1e-10 && (wrenches[0] + expected).amax() < 1e-10);
}

#[test]
fn a_stop_pushes_but_never_pulls() {
    let stop = EndStop { bounds: [-1.0, 1.0], stiffness: 100.0, damping: 50.0, transition: 0.01 };
    assert_eq!(stop.at(0.5, -3.0, 0.0).force, 0.0);
    assert!(stop.at(1.1, 0.0, 0.0).force > 0.0 && stop.at(-1.1, 0.0, 0.0).force < 0.0);
    assert_eq!(stop.at(1.1, -10.0, 0.0).force, 0.0);
    assert_eq!(stop.at(-1.1, 10.0, 0.0).force, 0.0);
    assert_eq!(stop.at(1.0, -10.0, 0.0).force, 0.0);
}
