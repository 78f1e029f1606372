//! Every pair of shapes with every law: tangents, balance of forces, turned worlds, energy.
//!
//! Where nothing else is said, tolerances are some hundred roundings of the largest force, torque or rate;
//! derivatives have a digit less, for stiffnesses multiply the roundings of depths.

use kreisel::element::StateId;
use kreisel::element::contact::{Contact, CoulombFriction, Friction, LuGreFriction, NormalLaw, Surface};
use kreisel::kinematics::{Motion, NodeId, NodeMotion, split};
use kreisel::lie::{Pose, UnitQuaternion, Vector3, Vector6, se3};
use num_dual::Dual64;

use super::answers::{ALL, Answers, answers};
use super::numbers::Node;
use super::oracle::ContactOracle;

const SHAPES: [Surface; 6] = [
    Surface::Plane,
    Surface::Sphere { radius: 0.3 },
    Surface::Sphere { radius: 0.0 },
    Surface::Capsule { radius: 0.2, half_length: 0.5 },
    Surface::Box { half_size: Vector3::new(0.3, 0.4, 0.5) },
    Surface::Cylinder { radius: 0.3, half_length: 0.4 },
];

const FRICTION: CoulombFriction =
    CoulombFriction { sliding: 0.4, sticking: 0.7, stribeck_speed: 1.5, transition_speed: 0.8 };

fn laws() -> [NormalLaw; 3] {
    [
        NormalLaw::Linear { stiffness: 400.0, damping: 5.0, transition: 0.01 },
        NormalLaw::hertz(500.0, 0.6, 1e-3),
        NormalLaw::flores(500.0, 0.6, 1e-3),
    ]
}

/// Numbers in [−1, 1] from a small generator, the same in every run.
pub struct Numbers(u64);

impl Numbers {
    /// From a seed, far enough from the next one.
    pub fn new(seed: u64) -> Self {
        let mut numbers = Self(seed);
        (0..20).for_each(|_| {
            numbers.next();
        });
        numbers
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vector3 {
        Vector3::from_fn(|_, _| self.next())
    }

    pub fn pose(&mut self) -> Pose {
        Pose::new(UnitQuaternion::from_scaled_axis(3.0 * self.vector()), self.vector())
    }

    pub fn twist(&mut self) -> Vector6 {
        Vector6::from_fn(|_, _| self.next())
    }
}

/// Two shapes that overlap a little, in a random arrangement.
struct Sample {
    contact: Contact,
    oracle: ContactOracle,
    motions: Vec<NodeMotion>,
    name: String,
}

const MEETING_SPEED: f64 = 2.0;

/// Depth to which the shapes of a sample overlap.
const DEPTH: f64 = 0.02;

fn sample(shapes: [Surface; 2], law: NormalLaw, friction: Friction, seed: u64, ground: bool) -> Sample {
    let mut numbers = Numbers::new(seed);
    let offsets = [numbers.pose(), numbers.pose()];
    let frames = [numbers.pose(), numbers.pose()];
    let nodes = [Some(0), if ground { None } else { Some(1) }];
    let name = format!("{} on {}, seed {seed}", shapes[0].word(), shapes[1].word());
    let make = || {
        let contact = Contact::new(nodes.map(|node| node.map(NodeId)), offsets, shapes, law, friction);
        // Corners and edges have no radius of their own.
        contact.with_radius(0.15)
    };
    let (twists, direction) = ([numbers.twist(), numbers.twist()], numbers.vector().normalize());
    // Shapes stand in `frames`; the first comes nearer along a direction until they overlap.
    let second = if ground { offsets[1] } else { frames[1] };
    let at = |distance: f64| -> Vec<NodeMotion> {
        let way = if shapes[1] == Surface::Plane { second.rotation * Vector3::z() } else { direction };
        let way = if shapes[0] == Surface::Plane { -(frames[0].rotation * Vector3::z()) } else { way };
        let first = Pose::new(frames[0].rotation, second.position + distance * way);
        let mut motions = vec![NodeMotion::at_rest(first.compose(&offsets[0].inverse()))];
        if !ground {
            motions.push(NodeMotion::at_rest(second.compose(&offsets[1].inverse())));
        }
        motions.iter_mut().zip(&twists).for_each(|(motion, twist)| motion.velocity = *twist);
        motions
    };
    let contact = make();
    let depth = |distance: f64| {
        let motions = at(distance);
        contact.contact(&Motion::new(0.0, &motions)).depth
    };
    let (mut near, mut far) = (1e-3, 3.0);
    for _ in 0..60 {
        let middle = 0.5 * (near + far);
        if depth(middle) > DEPTH { near = middle } else { far = middle }
    }
    let oracle = ContactOracle {
        nodes,
        offsets,
        couples: contact.couples().to_vec(),
        law,
        friction,
        speed: MEETING_SPEED,
    };
    Sample { motions: at(near), oracle, contact, name }
}

fn samples(friction: Friction, ground: bool) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (i, first) in SHAPES.iter().enumerate() {
        for (j, second) in SHAPES.iter().enumerate() {
            let nothing = |shape: &Surface| matches!(shape, Surface::Plane | Surface::Sphere { radius: 0.0 });
            // Planes do not meet planes, and two points have nothing to overlap with.
            if nothing(first) && nothing(second) && i == j {
                continue;
            }
            for law in laws() {
                for seed in 0..3 {
                    let seed = 100 * (6 * i + j) as u64 + seed;
                    samples.push(sample([*first, *second], law, friction, seed, ground));
                }
            }
        }
    }
    samples
}

impl Sample {
    fn memory(&self) -> Vec<f64> {
        vec![MEETING_SPEED; self.contact.couples().len()]
    }

    fn residual(&self, motions: &[NodeMotion]) -> Vec<Vector6> {
        let memory = self.memory();
        answers(&self.contact, &Motion { memory: &memory, ..Motion::new(0.0, motions) }, ALL).wrenches
    }

    /// Tangent by dual numbers: derivative of wrench i by direction k of node j's configuration or velocity.
    fn slopes(&self, j: usize, k: usize, velocity: bool) -> Vec<Vector6> {
        let mut nodes: Vec<Node<Dual64>> = self.motions.iter().map(Node::constant).collect();
        if velocity {
            nodes[j].velocity[k].eps = 1.0;
        } else {
            let twist = std::array::from_fn(|i| Dual64::new(0.0, f64::from(i == k)));
            nodes[j] = nodes[j].moved(&twist);
        }
        let wrenches = self.oracle.residual(&nodes);
        wrenches.iter().map(|wrench| Vector6::from_fn(|i, _| wrench[i].eps)).collect()
    }
}

#[test]
fn the_tangent_is_the_derivative_of_the_force_for_every_pair_and_law() {
    let all = samples(Friction::Coulomb(FRICTION), false).into_iter().chain(samples(Friction::None, true));
    let mut touched = 0;
    for sample in all {
        let memory = sample.memory();
        let motion = Motion { memory: &memory, ..Motion::new(0.0, &sample.motions) };
        let n = sample.motions.len();
        let nodes: Vec<Node<f64>> = sample.motions.iter().map(Node::constant).collect();
        let size = sample.residual(&sample.motions).iter().map(Vector6::amax).fold(0.0, f64::max);
        touched += usize::from(size > 0.0);
        for (own, other) in sample.residual(&sample.motions).iter().zip(sample.oracle.residual(&nodes)) {
            // Rounding of some hundred operations.
            assert!((own - Vector6::from(other)).amax() < 1e-10 * size.max(1.0), "{}", sample.name);
        }
        let tangent = answers(&sample.contact, &motion, ALL).tangent;
        let largest = (0..n * n).map(|b| tangent.block(b / n, b % n).2.amax()).fold(1.0, f64::max);
        for j in 0..n {
            for k in 0..6 {
                let (by_pose, by_twist) = (sample.slopes(j, k, false), sample.slopes(j, k, true));
                for i in 0..n {
                    let (_, damping, stiffness) = tangent.block(i, j);
                    // Rounding again, now of derivatives; inverse distances lose a few digits more.
                    let tolerance = 1e-9 * largest;
                    assert!((damping.column(k) - by_twist[i]).amax() < tolerance, "{}: damping", sample.name);
                    let error = (stiffness.column(k) - by_pose[i]).amax();
                    assert!(
                        error < tolerance,
                        "{}: stiffness misses by {error:e} of {largest:e}",
                        sample.name
                    );
                }
            }
        }
    }
    // Nearly all arrangements push; those that part fast do not.
    assert!(touched > 300, "{touched}");
}

#[test]
fn action_is_reaction() {
    for sample in samples(Friction::Coulomb(FRICTION), false) {
        let (mut force, mut torque, mut size) = (Vector3::zeros(), Vector3::zeros(), 0.0_f64);
        for (wrench, motion) in sample.residual(&sample.motions).iter().zip(&sample.motions) {
            let (own_torque, own_force) = split(wrench);
            let own_force = motion.rotation * own_force;
            force += own_force;
            torque += motion.rotation * own_torque + motion.pose.position.cross(&own_force);
            size = size.max(own_force.norm());
        }
        // Rounding; torques are those of forces at distances of up to some metres.
        assert!(force.norm() < 1e-12 * size.max(1.0), "{}: {force}", sample.name);
        assert!(torque.norm() < 1e-11 * size.max(1.0), "{}: {torque}", sample.name);
    }
}

#[test]
fn a_turned_world_feels_the_same_forces() {
    let world = se3::exp(&Vector6::new(0.7, -1.1, 0.4, 3.0, -2.0, 1.0));
    for sample in samples(Friction::Coulomb(FRICTION), false) {
        let moved: Vec<NodeMotion> = (sample.motions.iter())
            .map(|motion| NodeMotion {
                velocity: motion.velocity,
                ..NodeMotion::at_rest(world.compose(&motion.pose))
            })
            .collect();
        for (before, after) in sample.residual(&sample.motions).iter().zip(sample.residual(&moved)) {
            // Rounding of positions of size 4 against stiffnesses of 1e3.
            assert!((before - after).amax() < 1e-10 * before.amax().max(1.0), "{}", sample.name);
        }
    }
}

#[test]
fn without_losses_the_force_is_the_gradient_of_the_stored_energy() {
    let lossless = [
        NormalLaw::Linear { stiffness: 400.0, damping: 0.0, transition: 1.0 },
        NormalLaw::hertz(500.0, 1.0, 1.0),
    ];
    for (i, first) in SHAPES.iter().enumerate() {
        for (j, second) in SHAPES.iter().enumerate().filter(|(j, _)| *j != i) {
            for law in lossless {
                let sample = sample([*first, *second], law, Friction::None, 7 + (6 * i + j) as u64, false);
                let energy = |motions: &[NodeMotion]| {
                    answers(&sample.contact, &Motion::new(0.0, motions), ALL).energies.strain
                };
                let residual = sample.residual(&sample.motions);
                for (node, wrench) in residual.iter().enumerate() {
                    for k in 0..6 {
                        let [forth, back] = [1e-6, -1e-6].map(|step| {
                            let mut twist = Vector6::zeros();
                            twist[k] = step;
                            let mut motions = sample.motions.clone();
                            let pose = motions[node].pose.compose(&se3::exp(&twist));
                            motions[node] =
                                NodeMotion { velocity: motions[node].velocity, ..NodeMotion::at_rest(pose) };
                            energy(&motions)
                        });
                        // Differences over 1e-6 are good to (1e-6)² times the third derivative, 1e4, and to
                        // rounding.
                        let slope = (forth - back) / 2e-6;
                        assert!(
                            (slope - wrench[k]).abs() < 1e-6 * residual[0].amax().max(1.0),
                            "{}",
                            sample.name
                        );
                    }
                }
            }
        }
    }
}

const BRISTLES: LuGreFriction = LuGreFriction {
    stiffness: 1.0,
    damping: 0.3,
    viscosity: 0.1,
    sliding: 0.4,
    sticking: 0.7,
    stribeck_speed: 1.5,
    exponent: 1.7,
};

#[test]
fn the_tangent_of_bristles_is_the_derivative_of_forces_and_rates() {
    let bent = [0.05, -0.08, 0.03];
    let mut touched = 0;
    for mut sample in samples(Friction::LuGre(BRISTLES), false) {
        let states = [0, 1, 2].map(StateId);
        for contact in sample.contact.clone().with_bristles(|_| states) {
            sample.oracle.couples = contact.couples().to_vec();
            let memory = [MEETING_SPEED];
            let motion =
                Motion { memory: &memory, internal_states: &bent, ..Motion::new(0.0, &sample.motions) };
            let found = answers(&contact, &motion, ALL);
            if found.wrenches[0].amax() == 0.0 {
                continue;
            }
            touched += 1;
            let nodes: Vec<Node<f64>> = sample.motions.iter().map(Node::constant).collect();
            let (wrenches, rate) = sample.oracle.with_bristles(&nodes, &bent);
            let scale = found.wrenches[0].amax().max(1.0);
            for (i, wrench) in wrenches.iter().enumerate() {
                // Rounding, as above.
                assert!(
                    (found.wrenches[i] - Vector6::from(*wrench)).amax() < 1e-10 * scale,
                    "{}",
                    sample.name
                );
            }
            assert!((0..3).all(|i| (found.rates[i] - rate[i]).abs() < 1e-10), "{}", sample.name);
            let Answers { tangent, internal_tangent: state_tangent, .. } = found;
            let constant: Vec<Node<Dual64>> = sample.motions.iter().map(Node::constant).collect();
            let fixed = bent.map(Dual64::from_re);
            let tolerance = 1e-9 * (0..4).map(|b| tangent.block(b / 2, b % 2).2.amax()).fold(1.0, f64::max);
            for k in 0..3 {
                let mut bristles = fixed;
                bristles[k].eps = 1.0;
                let (wrenches, rate) = sample.oracle.with_bristles(&constant, &bristles);
                for (i, wrench) in wrenches.iter().enumerate() {
                    let slope = Vector6::from_fn(|row, _| wrench[row].eps);
                    assert!(
                        (state_tangent.force_by_state[k][i] - slope).amax() < tolerance,
                        "{}",
                        sample.name
                    );
                }
                // Rounding of some hundred operations.
                (0..3).for_each(|i| assert!((state_tangent.rate_by_state[i][k] - rate[i].eps).abs() < 1e-9));
            }
            for (j, k) in (0..12).map(|index| (index / 6, index % 6)) {
                let mut moved = constant.clone();
                moved[j].velocity[k].eps = 1.0;
                let (wrenches, rate) = sample.oracle.with_bristles(&moved, &fixed);
                let twist = std::array::from_fn(|i| Dual64::new(0.0, f64::from(i == k)));
                let mut turned = constant.clone();
                turned[j] = turned[j].moved(&twist);
                let (turned_wrenches, turned_rate) = sample.oracle.with_bristles(&turned, &fixed);
                for i in 0..2 {
                    let (_, damping, stiffness) = tangent.block(i, j);
                    let column = |wrench: &[Dual64; 6]| Vector6::from_fn(|row, _| wrench[row].eps);
                    assert!((damping.column(k) - column(&wrenches[i])).amax() < tolerance, "{}", sample.name);
                    assert!(
                        (stiffness.column(k) - column(&turned_wrenches[i])).amax() < tolerance,
                        "{}",
                        sample.name
                    );
                }
                for i in 0..3 {
                    let own = &state_tangent;
                    // As above.
                    assert!((own.rate_by_velocity[i][j][k] - rate[i].eps).abs() < 1e-9, "{}", sample.name);
                    let error = own.rate_by_configuration[i][j][k] - turned_rate[i].eps;
                    // Straightening makes slopes of 1e3/s · z over the depth of engagement, some thousands.
                    assert!(error.abs() < 1e-7, "{}: {error:e}", sample.name);
                }
            }
        }
    }
    assert!(touched > 200, "{touched}");
}

/// What a capsule of 0.1 m by 1 m and a shape on the ground do to each other.
fn capsule_on(surface: Surface, capsule: Pose) -> kreisel::element::contact::ContactResult {
    let law = NormalLaw::Linear { stiffness: 1e4, damping: 0.0, transition: 1.0 };
    let shapes = [surface, Surface::Capsule { radius: 0.1, half_length: 0.5 }];
    let offsets = [Pose::identity(), Pose::identity()];
    let contact = Contact::new([None, Some(NodeId(0))], offsets, shapes, law, Friction::None);
    contact.contact(&Motion::new(0.0, &[NodeMotion::at_rest(capsule)]))
}

#[test]
fn a_capsule_touches_boxes_and_cylinders_with_its_side() {
    let level = |x: f64, height: f64| {
        // The axis along x, with the middle at x.
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        Pose::new(turn, Vector3::new(x, 0.0, height))
    };
    let box_shape = Surface::Box { half_size: Vector3::new(0.2, 0.3, 0.1) };
    // Both ends stand over, and no corner is near: depth 0.01 m at the middle, where the bulge lacks nothing.
    let contact = capsule_on(box_shape, level(0.0, 0.19));
    assert!((contact.depth - 0.01).abs() < 1e-12, "{contact:?}");
    assert!((contact.force - Vector3::new(0.0, 0.0, 100.0)).norm() < 1e-9, "{contact:?}");
    // Pushed along its axis until only the last 0.1 m lie on the box: there the sides are bulged by 2.5 mm ·
    // s²/(0.5 m)².
    let contact = capsule_on(box_shape, level(0.6, 0.19));
    assert!((contact.depth - 0.01).abs() < 2.5e-3 && (contact.point.x - 0.15).abs() < 0.051, "{contact:?}");
    // Over the edge of the box at y = 0.3: the nearest point is on the edge.
    let mut beside = level(0.0, 0.15);
    beside.position.y = 0.36;
    let contact = capsule_on(box_shape, beside);
    assert!((contact.depth - (0.1 - 0.05_f64.hypot(0.06))).abs() < 1e-12, "{contact:?}");
    // Across a cylinder that lies along y, of 0.2 m, at an angle of 70 degrees between the axes.
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let mut crossed = level(0.0, 0.29);
    let skew = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 20.0_f64.to_radians());
    crossed.rotation = skew * crossed.rotation;
    let cylinder = Surface::Cylinder { radius: 0.2, half_length: 0.4 };
    let seen = Pose::new(lying, Vector3::zeros()).inverse().compose(&crossed);
    let contact = capsule_on(cylinder, seen);
    // Rounding.
    assert!((contact.depth - 0.01).abs() < 1e-12, "{contact:?}");
    // On the flat end of a cylinder that stands.
    let contact = capsule_on(cylinder, level(0.0, 0.49));
    assert!((contact.depth - 0.01).abs() < 1e-12 && (contact.force.z - 100.0).abs() < 1e-9, "{contact:?}");
}
