//! Loops whose equations depend on each other: their rank is what theory says, and they fit together.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::constrained::Redundancy;
use kreisel::dae::{Initial, Scales};
use kreisel::element::Body;
use kreisel::integrate::{INDEX2, Integrator};
use kreisel::joint::{CoordinateJoint, Row, lower_pair};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3, Vector6};
use kreisel::system::{System, SystemBuilder};
use nalgebra::Unit;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common;

/// A hinge or slide: the two bodies that it joins (none is the ground), a point, an axis, and its equations.
type Pair = ([Option<usize>; 2], Vector3, Vector3, fn() -> Vec<Row>);

fn direction(rng: &mut ChaCha8Rng) -> Vector3 {
    loop {
        let vector = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.1..1.0).contains(&vector.norm()) {
            return vector.normalize();
        }
    }
}

fn point(rng: &mut ChaCha8Rng) -> Vector3 {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// Bodies somewhere, with hinges and slides where they are given; bodies are then moved by up to `off`.
fn machine(rng: &mut ChaCha8Rng, bodies: usize, pairs: &[Pair], off: f64) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let poses: Vec<Pose> = (0..bodies)
        .map(|_| Pose::new(UnitQuaternion::from_scaled_axis(3.0 * point(rng)), point(rng)))
        .collect();
    let nodes: Vec<NodeId> = poses
        .iter()
        .enumerate()
        .map(|(index, pose)| {
            let turn = UnitQuaternion::from_scaled_axis(off * point(rng));
            let moved = Pose::new(pose.rotation * turn, pose.position + off * point(rng));
            let name = format!("b{index}");
            let node = builder.node(name.clone(), Group::Se3, moved, Vector6::zeros());
            let inertia = Matrix3::from_diagonal(&Vector3::new(0.1, 0.12, 0.14));
            builder.element(name, Body::new(node, rng.random_range(0.2..2.0), inertia, Vector3::zeros()));
            node
        })
        .collect();
    for (index, (joined, point, axis, rows)) in pairs.iter().enumerate() {
        let axis = Unit::new_normalize(*axis);
        let turn = UnitQuaternion::rotation_between_axis(&Vector3::z_axis(), &axis);
        let world = Pose::new(turn.unwrap_or_else(UnitQuaternion::identity), *point);
        let offset = |body: Option<usize>| body.map_or(world, |body| poses[body].inverse().compose(&world));
        let joint = CoordinateJoint::between(
            joined.map(|body| body.map(|body| nodes[body])),
            joined.map(offset),
            rows(),
        );
        builder.joint(format!("j{index}"), joint);
    }
    builder.scales(Scales { length: 1.0, arm: None, mass: 1.0, stiffness: 0.0 });
    builder.build(0.0).unwrap()
}

/// Bodies one after the other, from the ground to the ground, with hinges at the given points and axes
/// between.
fn ring(lines: &[(Vector3, Vector3)]) -> Vec<Pair> {
    let last = lines.len() - 1;
    let body = |index: usize| (index > 0 && index <= last).then(|| index - 1);
    let lines = lines.iter().enumerate();
    let hinge = |(index, (point, axis)): (usize, &(Vector3, Vector3))| -> Pair {
        ([body(index), body(index + 1)], *point, *axis, lower_pair::revolute)
    };
    lines.map(hinge).collect()
}

/// Six hinges of which each is the image of another by half a turn about one line: such a loop,
/// Bricard's line-symmetric one, moves, though its 30 equations hold 30 coordinates.
fn bricard(rng: &mut ChaCha8Rng) -> Vec<Pair> {
    let half_turn = Vector3::new(-1.0, -1.0, 1.0);
    let lines: Vec<_> = (0..3).map(|_| (point(rng), direction(rng))).collect();
    let images =
        lines.iter().map(|(point, axis)| (point.component_mul(&half_turn), axis.component_mul(&half_turn)));
    ring(&lines.iter().copied().chain(images).collect::<Vec<_>>())
}

/// Four hinges with axes through one point.
fn spherical_four_bar(rng: &mut ChaCha8Rng) -> Vec<Pair> {
    let centre = point(rng);
    let lines: Vec<_> = (0..4)
        .map(|_| {
            let axis = direction(rng);
            (centre + rng.random_range(-1.0..1.0) * axis, axis)
        })
        .collect();
    ring(&lines)
}

/// Three parallel rockers of one length under a coupler: bodies 0, 1 and 2, and 3.
fn parallelogram(rng: &mut ChaCha8Rng) -> Vec<Pair> {
    let turn = UnitQuaternion::from_scaled_axis(3.0 * point(rng));
    let (origin, axis) = (point(rng), turn * Vector3::z());
    let rocker = turn * Vector3::new(rng.random_range(-0.5..0.5), rng.random_range(0.3..1.0), 0.0);
    (0..3)
        .flat_map(|index| -> [Pair; 2] {
            let out_of_plane = rng.random_range(-0.3..0.3);
            let along = Vector3::new(rng.random_range(0.2..0.5) + index as f64, 0.0, out_of_plane);
            let foot = origin + turn * along;
            let hinge = lower_pair::revolute;
            [([None, Some(index)], foot, axis, hinge), ([Some(index), Some(3)], foot + rocker, axis, hinge)]
        })
        .collect()
}

/// Crank, rod and slider in a plane, whose slide closes the loop.
fn slider_crank(rng: &mut ChaCha8Rng) -> Vec<Pair> {
    let turn = UnitQuaternion::from_scaled_axis(3.0 * point(rng));
    let (origin, axis) = (point(rng), turn * Vector3::z());
    let crank = turn * Vector3::new(rng.random_range(0.1..0.3), rng.random_range(0.1..0.3), 0.0);
    let rod = turn * Vector3::new(rng.random_range(0.5..1.0), rng.random_range(-0.5..0.0), 0.0);
    let slide = turn * Vector3::new(1.0, rng.random_range(-0.3..0.3), 0.0);
    let mut lines = vec![(origin, axis), (origin + crank, axis), (origin + crank + rod, axis)];
    // Where a hinge lies along its axis changes nothing.
    lines.iter_mut().for_each(|(point, axis)| *point += rng.random_range(-0.3..0.3) * *axis);
    let (pin, _) = lines[2];
    lines.push((pin, slide));
    let mut pairs = ring(&lines);
    pairs[3].3 = lower_pair::prismatic;
    pairs
}

type Family = fn(&mut ChaCha8Rng) -> Vec<Pair>;
/// Name, hinges and slides, bodies and the number of equations that follow from others: one degree of freedom
/// each.
const FAMILIES: [(&str, Family, usize, usize); 4] = [
    ("Bricard", bricard, 5, 1),
    ("spherical four-bar", spherical_four_bar, 3, 3),
    ("parallelogram", parallelogram, 4, 7),
    ("slider-crank", slider_crank, 3, 3),
];

#[test]
fn a_thousand_random_loops_have_one_degree_of_freedom() {
    let mut rng = ChaCha8Rng::seed_from_u64(36);
    for (name, pairs, bodies, implied) in FAMILIES {
        for number in 0..250 {
            let pairs = pairs(&mut rng);
            let (system, initial) = machine(&mut rng, bodies, &pairs, 0.0);
            let found = Redundancy::find(&system, 0.0, &initial.configuration);
            assert_eq!(found.implied.len(), implied, "{name} {number}: {found:?}");
            assert!(found.implied.iter().all(|row| found.shared.contains(row)), "{name} {number}");
        }
    }
}

#[test]
fn a_thousand_random_loops_fit_together_and_start() {
    let mut rng = ChaCha8Rng::seed_from_u64(37);
    let mut refused = Vec::new();
    for (name, pairs, bodies, _) in FAMILIES {
        for number in 0..250 {
            let pairs = pairs(&mut rng);
            // As they are drawn, to round-off, or a little beside.
            let off = [0.0, 1e-12, 1e-6, 1e-3][number % 4];
            let (system, initial) = machine(&mut rng, bodies, &pairs, off);
            let integrator = Integrator::new(INDEX2, 0.9, 1e-3).unwrap();
            if let Err(error) = integrator.start(&system, initial) {
                refused.push(format!("{name} {number}, off by {off:.0e}: {error}"));
            }
        }
    }
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

/// A loop of which `check` once said that it cannot move: a row follows from others with factors of about 13.
const MOBILE: &str = "
[simulation]
end-time = 0.1
step = 1e-3
[[body]]
name = 'b0'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [-0.2, 0.1, 0.0]
[[body]]
name = 'b1'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [-0.1, -0.2, 0.2]
[[body]]
name = 'b2'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.1, -0.3, 0.0]
[[body]]
name = 'b3'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.2, -0.1, 0.0]
[[body]]
name = 'b4'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.1, 0.2, 0.2]
[[revolute]]
name = 'j0'
bodies = ['ground', 'b0']
point = [-0.5, 0.6, -0.2]
axis = [-2, 0, 3]
[[revolute]]
name = 'j1'
bodies = ['b0', 'b1']
point = [0.1, -0.4, 0.2]
axis = [0, 3, 3]
[[revolute]]
name = 'j2'
bodies = ['b1', 'b2']
point = [-0.3, 0.0, 0.2]
axis = [3, 2, 2]
[[revolute]]
name = 'j3'
bodies = ['b2', 'b3']
point = [0.5, -0.6, -0.2]
axis = [2, 0, 3]
[[revolute]]
name = 'j4'
bodies = ['b3', 'b4']
point = [-0.1, 0.4, 0.2]
axis = [0, -3, 3]
[[revolute]]
name = 'j5'
bodies = ['b4', 'ground']
point = [0.3, 0.0, 0.2]
axis = [-3, -2, 2]
";

#[test]
fn a_line_symmetric_bricard_loop_runs() {
    let machine = common::read(MOBILE).unwrap();
    let run = machine.simulate().unwrap();
    // Gravity moves it, slower than it would a free body: g t²/2.
    let fall = common::difference(&run, "b2.position.z", |_| 0.0);
    assert!((1e-4..0.5 * 9.80665 * 0.01).contains(&fall), "{fall}");
}
