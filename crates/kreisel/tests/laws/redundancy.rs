//! Redundant constraints are found, and the machine moves as without them.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::constrained::Redundancy;
use kreisel::dae::{Dae, Initial, Point, Scales};
use kreisel::element::Body;
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Parameters, Settings};
use kreisel::joint::{CoordinateJoint, Row, lower_pair};
use kreisel::kinematics::{Coordinate, NodeId};
use kreisel::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3, Vector6};
use kreisel::solve::block::BlockMatrix;
use kreisel::system::{System, SystemBuilder};
use std::time::Instant;

/// Joints at A and D on the ground, bars AB, BC, CD in the x-y plane; the joint at C has the given rows.
fn four_bar(group: Group, at_b: Vec<Row>, at_c: Vec<Row>) -> (System, Initial) {
    let points = [[0.0, 0.0], [0.0, 1.0], [2.0, 1.5], [2.0, 0.0]].map(|[x, y]| Vector3::new(x, y, 0.0));
    let mut builder = SystemBuilder::new();
    let bars: Vec<(NodeId, Pose)> = (0..3)
        .map(|i| {
            let centre = Pose::new(UnitQuaternion::identity(), 0.5 * (points[i] + points[i + 1]));
            let node = builder.node(format!("bar-{i}"), group, centre, Vector6::zeros());
            let inertia = Matrix3::from_diagonal(&Vector3::new(0.2, 0.3, 0.4));
            builder.element(format!("bar-{i}"), Body::new(node, 1.0, inertia, Vector3::new(0.0, -9.81, 0.0)));
            (node, centre)
        })
        .collect();
    let joint = |builder: &mut SystemBuilder,
                 name: &str,
                 point: Vector3,
                 first: Option<usize>,
                 second: usize,
                 rows| {
        let world = Pose::new(UnitQuaternion::identity(), point);
        let offset = |bar: Option<usize>| bar.map_or(world, |bar| bars[bar].1.inverse().compose(&world));
        let nodes = [first.map(|bar| bars[bar].0), Some(bars[second].0)];
        builder.joint(name, CoordinateJoint::between(nodes, [offset(first), offset(Some(second))], rows));
    };
    joint(&mut builder, "A", points[0], None, 0, lower_pair::revolute());
    joint(&mut builder, "B", points[1], Some(0), 1, at_b);
    joint(&mut builder, "C", points[2], Some(1), 2, at_c);
    joint(&mut builder, "D", points[3], None, 2, lower_pair::revolute());
    builder.scales(Scales { length: 2.0, arm: None, mass: 1.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

fn redundant(group: Group) -> (System, Initial) {
    four_bar(group, lower_pair::revolute(), lower_pair::revolute())
}

/// The same linkage with 17 independent equations.
fn independent(group: Group) -> (System, Initial) {
    let mut rows = lower_pair::spherical();
    rows.push(Row::lock(Coordinate::Direction(0, 2)));
    four_bar(group, lower_pair::spherical(), rows)
}

#[test]
fn a_planar_four_bar_has_three_implied_equations() {
    let (system, initial) = redundant(Group::Se3);
    let found = Redundancy::find(&system, 0.0, &initial.configuration);
    // 20 equations for 18 coordinates of a linkage with one degree of freedom.
    assert_eq!(found.implied.len(), 3, "{found:?}");
    // What holds the bars in their plane is shared; what acts in the plane is not.
    let out_of_plane = |row: usize| row % 5 >= 2;
    assert!(found.shared.iter().all(|&row| out_of_plane(row)), "{found:?}");
    assert!(found.implied.iter().all(|row| found.shared.contains(row)));
    let (system, initial) = independent(Group::Se3);
    assert!(Redundancy::find(&system, 0.0, &initial.configuration).is_none());
}

#[test]
fn the_motion_is_that_of_the_linkage_without_redundancy() {
    for group in [Group::Se3, Group::So3xR3] {
        for method in [INDEX3, INDEX2] {
            let settings = Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), 1e-3);
            let integrator = Integrator::with(settings);
            let (full, initial) = redundant(group);
            let mut with = integrator.start(&full, initial).unwrap();
            let (reduced, initial) = independent(group);
            let mut without = integrator.start(&reduced, initial).unwrap();
            with.advance(2.0).unwrap();
            without.advance(2.0).unwrap();
            let pairs = with.values().configuration.iter().zip(&without.values().configuration);
            let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Newton's tolerance over 2000 steps.
            assert!(difference < 1e-7, "{group:?} {method:?}: {difference}");
            assert!(with.position_residual() < 1e-12, "{group:?} {method:?}");
        }
    }
}

#[test]
fn the_multipliers_are_the_smallest_that_keep_the_motion() {
    let (system, initial) = redundant(Group::Se3);
    for method in [INDEX3, INDEX2] {
        let settings = Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), 1e-3);
        let mut run = Integrator::with(settings).start(&system, initial.clone()).unwrap();
        run.advance(0.5).unwrap();
        let state = run.values();
        let shape = system.shape();
        let mut gradient = BlockMatrix::zeros(system.couplings(None).constraint_node);
        let zeros = vec![0.0; shape.velocity_count()];
        let at = Point {
            time: state.time,
            configuration: &state.configuration,
            velocity: &zeros,
            acceleration: &zeros,
            multipliers: &state.multipliers,
            nonholonomic_multipliers: &[],
            internal_states: &[],
            memory: &state.memory,
        };
        system.gradient(&at, &mut gradient);
        let weights = nalgebra::DVector::from_vec(shape.weights_of_multipliers());
        // Least norm of w λ with Bᵀλ given: w λ lies in the range of W⁻¹B.
        let scaled = nalgebra::DMatrix::from_diagonal(&weights.map(|w| 1.0 / w)) * gradient.to_dense();
        let lambda = nalgebra::DVector::from_column_slice(&state.multipliers).component_mul(&weights);
        let inverse = scaled.clone().pseudo_inverse(1e-9).unwrap();
        let smallest = &scaled * inverse * &lambda;
        let deviation = (&lambda - smallest).norm() / lambda.norm();
        assert!(deviation < 1e-4, "{method:?}: {deviation}");
    }
}

/// A door on one or three hinges, 1 m apart, pushed by its weight: the hinges lean.
fn door(hinges: usize) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let lean = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.3);
    let pose = Pose::new(lean, lean * Vector3::new(0.45, 0.0, 1.0));
    let node = builder.node("door", Group::Se3, pose, Vector6::zeros());
    let inertia = Matrix3::from_diagonal(&Vector3::new(8.3, 10.0, 1.7));
    builder.element("door", Body::new(node, 25.0, inertia, Vector3::new(0.0, 0.0, -9.81)));
    for hinge in 0..hinges {
        let world = Pose::new(lean, lean * Vector3::new(0.0, 0.0, hinge as f64));
        let offsets = [world, pose.inverse().compose(&world)];
        let joint = CoordinateJoint::between([None, Some(node)], offsets, lower_pair::revolute());
        builder.joint(format!("hinge-{hinge}"), joint);
    }
    builder.scales(Scales { length: 2.0, arm: None, mass: 25.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

/// Runs a machine with redundant equations beside one without: the largest violation on the way, and the
/// difference of the two configurations at the end.
fn drift(full: (System, Initial), reduced: (System, Initial), steps: usize) -> (f64, f64) {
    let integrator = Integrator::new(INDEX3, 0.8, 1e-3).unwrap();
    let mut with = integrator.start(&full.0, full.1).unwrap();
    let mut without = integrator.start(&reduced.0, reduced.1).unwrap();
    let mut violation = 0.0_f64;
    for step in 1..=steps {
        with.step().unwrap();
        without.step().unwrap();
        if step % 1000 == 0 {
            violation = violation.max(with.position_residual());
        }
    }
    let pairs = with.values().configuration.iter().zip(&without.values().configuration);
    (violation, pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}

/// Checks machines with implied equations over many steps: they hold to the rounding of some metres.
fn assert_no_drift(steps: usize) -> [f64; 2] {
    let cases = [("four-bar", redundant(Group::Se3), independent(Group::Se3)), ("door", door(3), door(1))];
    cases.map(|(name, full, reduced)| {
        let (violation, difference) = drift(full, reduced, steps);
        assert!(violation < 1e-13, "{name}: {violation}");
        difference
    })
}

#[test]
fn implied_equations_do_not_drift_and_leave_the_motion_alone() {
    let steps = 5000;
    // Newton's tolerance of 1e-12 per step lets two motions part by its random walk in velocity: 1e-12/h √N
    // in rate, times N h in angle. The linkage passes dead points, where neighbouring motions part for good:
    // longer runs cannot be compared.
    let apart = 1e-12 * (steps as f64).powf(1.5);
    for difference in assert_no_drift(steps) {
        assert!(difference < apart, "{difference}");
    }
}

#[test]
#[ignore = "takes half a minute; a step of `cargo xtask test` runs it"]
fn implied_equations_do_not_drift_over_a_hundred_thousand_steps() {
    assert_no_drift(100_000);
}

#[test]
fn a_large_machine_with_many_loops_is_analysed_quickly() {
    // A ladder of square cells: 3334 cells with three bars each and two joints at each corner.
    let cells = 3334;
    let mut builder = SystemBuilder::new();
    let bar = |builder: &mut SystemBuilder, name: String, centre: Vector3| {
        let pose = Pose::new(UnitQuaternion::identity(), centre);
        let node = builder.node(name.clone(), Group::Se3, pose, Vector6::zeros());
        builder.element(name, Body::new(node, 1.0, Matrix3::identity(), Vector3::zeros()));
        (node, pose)
    };
    let mut previous = None;
    for cell in 0..cells {
        let x = cell as f64;
        let top = bar(&mut builder, format!("top-{cell}"), Vector3::new(x + 0.5, 1.0, 0.0));
        let bottom = bar(&mut builder, format!("bottom-{cell}"), Vector3::new(x + 0.5, 0.0, 0.0));
        let rung = bar(&mut builder, format!("rung-{cell}"), Vector3::new(x + 1.0, 0.5, 0.0));
        let mut revolute = |first: Option<(NodeId, Pose)>, second: (NodeId, Pose), point: Vector3| {
            let world = Pose::new(UnitQuaternion::identity(), point);
            let offset =
                |bar: Option<(NodeId, Pose)>| bar.map_or(world, |bar| bar.1.inverse().compose(&world));
            let nodes = [first.map(|bar| bar.0), Some(second.0)];
            let joint = CoordinateJoint::between(
                nodes,
                [offset(first), offset(Some(second))],
                lower_pair::revolute(),
            );
            builder.joint("joint", joint);
        };
        revolute(previous, top, Vector3::new(x, 1.0, 0.0));
        revolute(previous, bottom, Vector3::new(x, 0.0, 0.0));
        revolute(Some(top), rung, Vector3::new(x + 1.0, 1.0, 0.0));
        revolute(Some(bottom), rung, Vector3::new(x + 1.0, 0.0, 0.0));
        previous = Some(rung);
    }
    let (system, initial) = builder.build(0.0).unwrap();
    let begin = Instant::now();
    let found = Redundancy::find(&system, 0.0, &initial.configuration);
    let duration = begin.elapsed();
    // Each planar loop of revolute joints has three equations too many.
    assert_eq!(found.implied.len(), 3 * cells);
    // Two seconds are promised for the release build; tests are compiled with less optimisation.
    assert!(duration.as_secs_f64() < 10.0, "{duration:?}");
}
