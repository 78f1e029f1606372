//! A machine assembled from parts is the system it means.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::dae::{Dae, Hidden, Point, Residual, Shape, Tangent, TangentWeights, Wanted, ask};
use kreisel::element::{
    Axes, Body, CoordinateForce, EndStop, LinearSpring, MarkerForce, Quantity, RegularizedFriction,
};
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Parameters, Settings};
use kreisel::joint::{CoordinateJoint, Row, lower_pair};
use kreisel::kinematics::{Coordinate, NodeId};
use kreisel::lie::{Group, Matrix3, Pose, UnitQuaternion, Vector3, Vector6};
use kreisel::solve::block::BlockMatrix;
use kreisel::system::{System, SystemBuilder};
use kreisel_papers::problem::{
    DrivenTop, HeavyTop, NonlinearReactions, Pendulum, PrescribedCubic, SliderCrank, SpringPendulum,
};
use std::sync::Arc;

/// The same equations without derivatives of their own: everything by differences.
struct Differenced<'a, D>(&'a D);

impl<D: Dae> Dae for Differenced<'_, D> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn couplings(&self, memory: Option<&[f64]>) -> kreisel::dae::Couplings {
        self.0.couplings(memory)
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        self.0.residual(at, out);
    }
    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        self.0.gradient(at, out);
    }
}

/// d/dt (B v + Φ_t) − B v̇.
fn curvature(dae: &dyn Dae, at: &Point) -> Vec<f64> {
    let (mut curvature, mut wanted) = (vec![0.0; at.multipliers.len()], Wanted::default());
    wanted.curvature = Some(&mut curvature);
    ask(dae, at, wanted);
    curvature
}

/// dκ/dt − A v̇.
fn nonholonomic_curvature(dae: &dyn Dae, at: &Point) -> Vec<f64> {
    let (mut curvature, mut wanted) = (vec![0.0; at.nonholonomic_multipliers.len()], Wanted::default());
    wanted.nonholonomic_curvature = Some(&mut curvature);
    ask(dae, at, wanted);
    curvature
}

/// Numbers that look random but are the same in every run.
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }
}

fn random_pose(next: &mut impl FnMut() -> f64) -> Pose {
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(next(), next(), next()));
    Pose::new(rotation, Vector3::new(next(), next(), next()))
}

/// Two bodies and a point mass with every kind of element and joint between them.
fn tangle(groups: [Group; 2]) -> (System, kreisel::dae::Initial) {
    let mut next = noise(7);
    let mut builder = SystemBuilder::new();
    let gravity = Vector3::new(1.0, -2.0, -9.0);
    let nodes: Vec<NodeId> = (groups.iter().enumerate())
        .map(|(i, &group)| {
            let twist = Vector6::from_fn(|_, _| next());
            let node = builder.node(format!("body-{i}"), group, random_pose(&mut next), twist);
            let inertia = Matrix3::new(2.0, 0.1, 0.2, 0.1, 3.0, -0.3, 0.2, -0.3, 2.5);
            builder.element(format!("body-{i}"), Body::new(node, 1.5 + i as f64, inertia, gravity));
            node
        })
        .collect();
    let point =
        builder.node("point", Group::Vector(3), random_pose(&mut next), Vector6::from_fn(|_, _| next()));
    builder.element("point", Body::new(point, 0.7, Matrix3::zeros(), gravity));
    let pair = [Some(nodes[0]), Some(nodes[1])];
    let rows = [
        lower_pair::fixed(),
        lower_pair::revolute(),
        lower_pair::universal(),
        lower_pair::screw(0.3, [0.0, 0.0]),
        lower_pair::distance(0.4),
        vec![Row::lock(Coordinate::RotationVector(0)), Row::lock(Coordinate::RotationVector(2))],
    ];
    for (index, rows) in rows.into_iter().enumerate() {
        let offsets = [random_pose(&mut next), random_pose(&mut next)];
        builder.joint(format!("joint-{index}"), CoordinateJoint::between(pair, offsets, rows));
    }
    let grounded = [[None, Some(nodes[0])], [Some(nodes[1]), None], [Some(point), Some(nodes[0])]];
    for (index, nodes) in grounded.into_iter().enumerate() {
        let offsets = [random_pose(&mut next), random_pose(&mut next)];
        builder.joint(
            format!("anchor-{index}"),
            CoordinateJoint::between(nodes, offsets, lower_pair::spherical()),
        );
        for coordinate in [Coordinate::Distance, Coordinate::Angle, Coordinate::RotationVector(1)] {
            let offsets = [random_pose(&mut next), random_pose(&mut next)];
            let spring = LinearSpring { stiffness: 30.0, damping: 2.0, free_value: 0.2, preload: 1.0 };
            let friction = RegularizedFriction { force: 3.0, rate: 0.5 };
            let stop = EndStop { bounds: [-0.1, 0.1], stiffness: 40.0, damping: 3.0, transition: 0.05 };
            let force = CoordinateForce::new(
                nodes,
                offsets,
                coordinate,
                vec![Arc::new(spring), Arc::new(friction), Arc::new(stop)],
            );
            builder.element(format!("spring-{index}"), force);
        }
    }
    for axes in [Axes::World, Axes::Marker] {
        let components = std::array::from_fn(|i| Quantity::Constant(i as f64 - 2.5));
        let force = MarkerForce::new(vec![nodes[1]], random_pose(&mut next), axes, components, Vec::new());
        builder.element("force", force);
    }
    builder.build(0.0).unwrap()
}

fn assert_close(name: &str, exact: &BlockMatrix, differenced: &BlockMatrix) {
    assert_close_for(name, exact, differenced, 0.0);
}

/// The same for equations of which values of some size are left where larger ones cancel.
fn assert_close_for(name: &str, exact: &BlockMatrix, differenced: &BlockMatrix, size: f64) {
    let (exact, differenced) = (exact.to_dense(), differenced.to_dense());
    let scale = exact.amax().max(1.0);
    let error = (&exact - &differenced).amax();
    // Central differences with a step of 6e-6 are good to some 1e-10 of the values; springs and stops are
    // stiff. Of forces that are much larger than their derivatives 30 roundings of 2e-16 are seen over 6e-6.
    assert!(error <= 1e-8 * scale + 1e-9 * size, "{name}: error {error} of {scale}, values of {size}");
}

#[test]
fn tangents_are_the_derivatives_of_the_equations_on_every_group() {
    for groups in [[Group::Se3, Group::Se3], [Group::So3xR3, Group::So3xR3], [Group::Se3, Group::So3xR3]] {
        let (system, initial) = tangle(groups);
        let shape = system.shape();
        let mut next = noise(11);
        let acceleration: Vec<f64> = (0..shape.velocity_count()).map(|_| next()).collect();
        let multipliers: Vec<f64> = (0..shape.constraint_count()).map(|_| 5.0 * next()).collect();
        let memory = vec![0.3; shape.memory];
        let at = Point {
            time: 0.2,
            configuration: &initial.configuration,
            velocity: &initial.velocity,
            acceleration: &acceleration,
            multipliers: &multipliers,
            nonholonomic_multipliers: &[],
            internal_states: &[],
            memory: &memory,
        };
        let weights = TangentWeights { mass: 0.7, damping: 1.3, stiffness: true, remembered_forces: false };
        let couplings = system.couplings(None);
        let exact = Tangent::at(&system, &couplings, &at, weights);
        let differenced = Tangent::at(&Differenced(&system), &couplings, &at, weights);
        assert_close("dynamic", &exact.dynamic, &differenced.dynamic);
        assert_close("stiffness", &exact.stiffness, &differenced.stiffness);
        assert_close("gradient rate", &exact.gradient_rate, &differenced.gradient_rate);
        let by_differences = curvature(&Differenced(&system), &at);
        for (exact, differenced) in curvature(&system, &at).iter().zip(&by_differences) {
            // Differences of velocities of 1 over 6e-6 s are good to some 1e-10; frames at a distance have
            // more.
            assert!((exact - differenced).abs() < 1e-7, "{groups:?}: curvature {exact}, {differenced}");
        }
        check_gradient(&system, &at, &exact.gradient);
    }
}

/// The equations and hidden constraints of a system, one after the other.
fn equations(shape: &Shape, fill: impl FnOnce(Residual, &mut [f64])) -> Vec<f64> {
    let (mut equilibrium, mut violation) =
        (vec![0.0; shape.velocity_count()], vec![0.0; shape.constraint_count()]);
    let (mut nonholonomic, mut internal_rates) =
        (vec![0.0; shape.nonholonomic_count()], vec![0.0; shape.state_count()]);
    let mut rates = vec![0.0; shape.constraint_count()];
    let out = Residual {
        equilibrium: &mut equilibrium,
        violation: &mut violation,
        nonholonomic: &mut nonholonomic,
        internal_rates: &mut internal_rates,
    };
    fill(out, &mut rates);
    [equilibrium, violation, nonholonomic, internal_rates, rates].concat()
}

/// All equations of a system and its hidden constraints B v + Φ_t.
pub fn all_equations(system: &System, at: &Point) -> Vec<f64> {
    let shape = system.shape();
    equations(&shape, |out, rates| {
        let mut wanted = Wanted::default();
        wanted.residual = Some(out);
        wanted.hidden = Some(Hidden { rates, room: None, rheonomic: shape.rheonomic });
        ask(system, at, wanted);
    })
}

/// Reactions and hidden constraints are then products with the gradient: they are the same but for roundings.
#[test]
fn one_pass_finds_the_equations_and_derivatives_that_two_passes_find() {
    let driven = crate::common::model("four-bar", &[], &Default::default());
    let tangled = [[Group::Se3, Group::Se3], [Group::So3xR3, Group::Se3], [Group::So3xR3, Group::So3xR3]];
    let systems = tangled.map(tangle).into_iter().chain([driven.into_system()]);
    for (system, initial) in systems {
        let (shape, couplings) = (system.shape(), system.couplings(None));
        let mut next = noise(11);
        let mut numbers = |count: usize| (0..count).map(|_| next()).collect::<Vec<f64>>();
        let (acceleration, multipliers) =
            (numbers(shape.velocity_count()), numbers(shape.constraint_count()));
        let (velocity, nonholonomic_multipliers) =
            (numbers(shape.velocity_count()), numbers(shape.nonholonomic_count()));
        let (states, memory) = (numbers(shape.state_count()), vec![0.0; shape.memory]);
        let at = Point {
            time: 0.3,
            configuration: &initial.configuration,
            velocity: &velocity,
            acceleration: &acceleration,
            multipliers: &multipliers,
            nonholonomic_multipliers: &nonholonomic_multipliers,
            internal_states: &states,
            memory: &memory,
        };
        for stiffness in [false, true] {
            let weights = TangentWeights { mass: 3.0, damping: 2.0, stiffness, remembered_forces: false };
            let expected = all_equations(&system, &at);
            let apart = Tangent::at(&system, &couplings, &at, weights);
            let mut together = Tangent::zeros(&couplings);
            let found = equations(&shape, |out, rates| {
                let mut wanted = Wanted::default();
                wanted.residual = Some(out);
                wanted.hidden = Some(Hidden { rates, room: None, rheonomic: shape.rheonomic });
                wanted.tangent = Some((weights, &mut together));
                ask(&system, &at, wanted);
            });
            let size = expected.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
            for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
                // A dozen roundings of terms of the size of the largest.
                let error = (expected - found).abs();
                assert!(error < 1e-14 * size, "equation {index}: {expected} {found}");
            }
            for (one, other) in [
                (&apart.dynamic, &together.dynamic),
                (&apart.stiffness, &together.stiffness),
                (&apart.gradient, &together.gradient),
                (&apart.gradient_rate, &together.gradient_rate),
            ] {
                assert_eq!(one.values(), other.values());
            }
        }
    }
}

/// B against differences of Φ along the group.
fn check_gradient(system: &System, at: &Point, gradient: &BlockMatrix) {
    let shape = system.shape();
    let violation = |configuration: &[f64]| {
        let mut equilibrium = vec![0.0; shape.velocity_count()];
        let mut violation = vec![0.0; shape.constraint_count()];
        let mut out = Residual {
            equilibrium: &mut equilibrium,
            violation: &mut violation,
            nonholonomic: &mut [],
            internal_rates: &mut [],
        };
        system.residual(&Point { configuration, ..*at }, &mut out);
        violation
    };
    let dense = gradient.to_dense();
    for j in 0..shape.velocity_count() {
        let moved = |distance: f64| {
            let mut increment = vec![0.0; shape.velocity_count()];
            increment[j] = distance;
            let mut configuration = at.configuration.to_vec();
            shape.space.compose_exp(at.configuration, &increment, &mut configuration);
            violation(&configuration)
        };
        let (forth, back) = (moved(6e-6), moved(-6e-6));
        for (i, (forth, back)) in forth.iter().zip(&back).enumerate() {
            let slope = (forth - back) / 1.2e-5;
            // Central differences with a step of 6e-6: 4e-11 of third derivatives, 2e-16 over the step.
            assert!((slope - dense[(i, j)]).abs() < 1e-9, "row {i}, column {j}: {slope} {}", dense[(i, j)]);
        }
    }
}

/// The heavy top as a body and a spherical joint.
fn assembled_top(group: Group) -> (System, kreisel::dae::Initial) {
    let top = HeavyTop::new(group);
    let mut builder = SystemBuilder::new();
    let omega = top.angular_velocity;
    let u = omega.cross(&top.centre);
    let twist = Vector6::new(omega.x, omega.y, omega.z, u.x, u.y, u.z);
    let node = builder.node("top", group, Pose::new(UnitQuaternion::identity(), top.centre), twist);
    builder.element("top", Body::new(node, top.mass, Matrix3::from_diagonal(&top.inertia), top.gravity));
    let offsets = [Pose::new(UnitQuaternion::identity(), -top.centre), Pose::identity()];
    builder.joint("tip", CoordinateJoint::between([Some(node), None], offsets, lower_pair::spherical()));
    builder.build(0.0).unwrap()
}

#[test]
fn a_top_of_parts_moves_like_the_problem_of_the_literature() {
    for group in [Group::Se3, Group::So3xR3] {
        for method in [INDEX3, INDEX2] {
            let top = HeavyTop::new(group);
            let settings = Settings::new(method, Parameters::chung_hulbert(0.9).unwrap(), 1e-3)
                .with_newton_tolerances(1e-13, 1e-14);
            let integrator = Integrator::with(settings);
            let mut direct = integrator.start(&top, top.initial()).unwrap();
            let (system, initial) = assembled_top(group);
            let mut assembled = integrator.start(&system, initial).unwrap();
            direct.advance(0.2).unwrap();
            assembled.advance(0.2).unwrap();
            let pairs = direct.values().configuration.iter().zip(&assembled.values().configuration);
            for (a, b) in pairs {
                // The same discrete equations: rounding of 1e-13 in an increment is 2e-10 rad/s in a
                // velocity, and 200 steps carry it on.
                assert!((a - b).abs() < 1e-8, "{group:?} {method:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn tangents_of_the_papers_problems_are_the_derivatives_of_their_equations() {
    let mut next = noise(3);
    let Pose { rotation: r, position: x } = random_pose(&mut next);
    let pose = [r.w, r.i, r.j, r.k, x.x, x.y, x.z];
    for group in [Group::Se3, Group::So3xR3] {
        check_problem(&HeavyTop::new(group), &pose);
        check_problem(&DrivenTop::new(group), &pose);
    }
    check_problem(&NonlinearReactions, &[0.9, 1.2]);
    check_problem(&Pendulum::default(), &[0.3, -0.8]);
    check_problem(&PrescribedCubic, &[0.4]);
    check_problem(&SliderCrank::default(), &[0.1, 0.2, 0.7, 0.4, 0.1, -0.5, 0.9, 0.1, 0.2]);
    check_problem(&SpringPendulum::default(), &[0.3, -0.8, 0.4]);
}

/// Every derivative of a problem against differences, at a configuration off its constraints.
fn check_problem<D: Dae>(problem: &D, configuration: &[f64]) {
    let shape = problem.shape();
    let mut next = noise(5);
    let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| 3.0 * next()).collect() };
    let (velocity, acceleration) = (numbers(shape.velocity_count()), numbers(shape.velocity_count()));
    let multipliers = numbers(shape.constraint_count());
    let (nonholonomic_multipliers, states) =
        (numbers(shape.nonholonomic_count()), numbers(shape.state_count()));
    let at = Point {
        time: 0.7,
        configuration,
        velocity: &velocity,
        acceleration: &acceleration,
        multipliers: &multipliers,
        nonholonomic_multipliers: &nonholonomic_multipliers,
        internal_states: &states,
        memory: &[],
    };
    check_derivatives(std::any::type_name::<D>(), problem, &at, 0.0);
}

/// Every derivative of a system against differences; its equations have values of some size.
pub fn check_derivatives<D: Dae>(system: &str, problem: &D, at: &Point, size: f64) {
    let weights = TangentWeights { mass: 0.7, damping: 1.3, stiffness: true, remembered_forces: false };
    let couplings = problem.couplings(None);
    let exact = Tangent::at(problem, &couplings, at, weights);
    let differenced = Tangent::at(&Differenced(problem), &couplings, at, weights);
    for (what, exact, differenced) in [
        ("dynamic", &exact.dynamic, &differenced.dynamic),
        ("stiffness", &exact.stiffness, &differenced.stiffness),
        ("gradient", &exact.gradient, &differenced.gradient),
        ("gradient rate", &exact.gradient_rate, &differenced.gradient_rate),
        ("reaction", &exact.reaction, &differenced.reaction),
        ("nonholonomic", &exact.nonholonomic, &differenced.nonholonomic),
        ("nonholonomic stiffness", &exact.nonholonomic_stiffness, &differenced.nonholonomic_stiffness),
        ("nonholonomic reaction", &exact.nonholonomic_reaction, &differenced.nonholonomic_reaction),
        ("state force", &exact.state_force, &differenced.state_force),
        ("state damping", &exact.state_damping, &differenced.state_damping),
        ("state stiffness", &exact.state_stiffness, &differenced.state_stiffness),
        ("states", &exact.state_state, &differenced.state_state),
        ("state reaction", &exact.state_reaction, &differenced.state_reaction),
    ] {
        assert_close_for(&format!("{system}: {what}"), exact, differenced, size);
    }
    let by_differences = curvature(&Differenced(problem), at);
    for (exact, differenced) in curvature(problem, at).iter().zip(&by_differences) {
        // Differences of velocities of 1 over 6e-6 s are good to some 1e-10, of the tenfold to 1e-8.
        assert!((exact - differenced).abs() < 1e-7, "{system}: curvature {exact}, {differenced}");
    }
    let by_differences = nonholonomic_curvature(&Differenced(problem), at);
    for (exact, differenced) in nonholonomic_curvature(problem, at).iter().zip(&by_differences) {
        // As above.
        assert!(
            (exact - differenced).abs() < 1e-7,
            "{system}: nonholonomic curvature {exact}, {differenced}"
        );
    }
}
