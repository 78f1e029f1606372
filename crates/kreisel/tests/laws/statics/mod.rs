//! Equilibria against closed forms: springs, pendulums, limit points, machines that nothing holds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod beams;
mod loading;
mod models;
mod quadratic;
mod rod;
mod slender;

use crate::common::ROD_ON_PIN;
use kreisel::dae::{Control, Dae, Initial, Point, Residual, Shape, Wanted};
use kreisel::element::{Axes, Body, Bushing, MarkerForce, Quantity};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Matrix3, Matrix6, Pose, Space, UnitQuaternion, Vector3, Vector6};
use kreisel::machine::Machine;
use kreisel::statics::{self, Ending, Equilibrium, PathSettings, Solution, StaticSettings, StaticsError};
use kreisel::system::{System, SystemBuilder};

fn solve<D: Dae>(dae: &D, initial: &Initial, settings: &StaticSettings) -> Result<Solution, StaticsError> {
    statics::solve(dae, initial, settings, |_| Control::Continue)
}

/// Von Mises' truss: two bars of stiffness EA = 1 from (±1, 0) to a tip at height 0.2 − w, under a load μ F
/// downwards.
///
/// With the length l(w) = √(1 + (0.2 − w)²) and l₀ = l(0), the force of both bars is 2 (l₀ − l)/l₀ · (0.2 −
/// w)/l.
struct ShallowTruss {
    load: f64,
}

const HEIGHT: f64 = 0.2;

fn truss_force(w: f64) -> f64 {
    let (length, initial) = ((1.0 + (HEIGHT - w).powi(2)).sqrt(), (1.0 + HEIGHT * HEIGHT).sqrt());
    2.0 * (initial - length) / initial * (HEIGHT - w) / length
}

impl Dae for ShallowTruss {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(1))
    }
    fn residual(&self, at: &Point, out: &mut Residual) {
        out.equilibrium[0] = at.acceleration[0] + truss_force(at.configuration[0]) - self.load;
    }
    fn answer(&self, _: &Point, wanted: &mut Wanted) {
        if let Some(loads) = wanted.loads.take() {
            loads[0] = -self.load;
        }
    }
}

/// Height and load of the limit points: d/dz of z (1/l − 1/l₀) vanishes where l³ = l₀.
fn truss_limit() -> (f64, f64) {
    let initial = (1.0 + HEIGHT * HEIGHT).sqrt();
    let z = (initial.powf(2.0 / 3.0) - 1.0).sqrt();
    (HEIGHT - z, truss_force(HEIGHT - z))
}

#[test]
fn a_load_beyond_the_limit_point_is_refused_with_the_load_that_can_be_borne() {
    let (_, limit) = truss_limit();
    // Beyond the limit lies a far equilibrium with both bars stretched; it is not the one that the loads lead
    // to. The truss has no node that turns, so the jump is not noticed by its turn; a load just above the
    // limit has no equilibrium within reach.
    let truss = ShallowTruss { load: 1.0 };
    let settings = StaticSettings { load_steps: 2000, target: 1.05 * limit, ..StaticSettings::default() };
    let mut last = 0.0;
    let outcome = statics::solve(&truss, &Initial::new(0.0, [0.0], [0.0]), &settings, |at| {
        last = at.load_factor;
        if at.values.configuration[0] > HEIGHT { Control::Stop } else { Control::Continue }
    });
    match outcome {
        Err(StaticsError::LimitPoint { load_factor, .. }) => {
            // Two of the 2000 load steps.
            assert!((load_factor / limit - 1.0).abs() < 1e-3, "{load_factor} {limit}");
        }
        other => panic!("{other:?} {last}"),
    }
}

#[test]
fn the_arc_length_passes_both_limit_points_and_finds_their_loads() {
    let (w, limit) = truss_limit();
    let truss = ShallowTruss { load: 1.0 };
    let path = Some(PathSettings { max_points: 200, ..PathSettings::default() });
    let settings = StaticSettings { path, target: 2.0 * limit, ..StaticSettings::default() };
    let mut loads = Vec::new();
    let found = statics::solve(&truss, &Initial::new(0.0, [0.0], [0.0]), &settings, |at| {
        loads.push((at.values.configuration[0], at.load_factor));
        Control::Continue
    })
    .unwrap();
    assert_eq!(found.ending, Ending::Reached);
    assert_eq!(found.limit_points.len(), 2);
    // The load is flat there: its error is the square of the error of the place, which bisection finds to
    // 1e-6 or better.
    for (point, sign, place) in
        [(&found.limit_points[0], 1.0, w), (&found.limit_points[1], -1.0, 2.0 * HEIGHT - w)]
    {
        assert!((point.load_factor - sign * limit).abs() < 1e-11, "{} {limit}", point.load_factor);
        assert!((point.values.configuration[0] - place).abs() < 1e-5);
    }
    for (w, load) in loads {
        // Newton ends with corrections below 1e-8, whose squares remain.
        assert!((truss_force(w) - load).abs() < 1e-12, "{w} {load}");
    }
    assert!((found.equilibrium.load_factor - 2.0 * limit).abs() < 1e-15);
}

#[test]
fn a_path_without_loads_is_refused() {
    struct Spring;
    impl Dae for Spring {
        fn shape(&self) -> Shape {
            Shape::new(Space::vector(1))
        }
        fn residual(&self, at: &Point, out: &mut Residual) {
            out.equilibrium[0] = at.acceleration[0] + at.configuration[0] - 1.0;
        }
    }
    let initial = Initial::new(0.0, [0.0], [0.0]);
    let settings = StaticSettings { path: Some(PathSettings::default()), ..StaticSettings::default() };
    assert_eq!(solve(&Spring, &initial, &settings), Err(StaticsError::NoLoad));
    for target in [0.0, f64::NAN, f64::INFINITY] {
        let settings = StaticSettings { target, ..StaticSettings::default() };
        assert!(matches!(solve(&Spring, &initial, &settings), Err(StaticsError::Target(_))));
    }
    let settings = StaticSettings { load_steps: 0, ..StaticSettings::default() };
    assert_eq!(solve(&Spring, &initial, &settings), Err(StaticsError::NoSteps));
}

/// A body on a bushing at the origin with a dead force at a lever.
fn mounted(group: Group, force: Vector3, gravity: Vector3) -> (System, Initial) {
    let mut builder = SystemBuilder::new();
    let node = builder.node("mass", group, Pose::identity(), Vector6::zeros());
    builder.element("mass", Body::new(node, 2.0, Matrix3::identity(), gravity));
    let stiffness = Matrix6::from_diagonal(&Vector6::new(3.0, 4.0, 5.0, 100.0, 200.0, 300.0));
    builder.element(
        "mount",
        Bushing::new([None, Some(node)], [Pose::identity(); 2], stiffness, Matrix6::zeros()),
    );
    let lever = Pose::new(UnitQuaternion::identity(), Vector3::new(0.5, 0.1, 0.0));
    let components = [0.0, 0.0, 0.0, force.x, force.y, force.z].map(Quantity::Constant);
    builder.element("push", MarkerForce::new(vec![node], lever, Axes::World, components, Vec::new()));
    builder.build(0.0).unwrap()
}

fn position(system: &System, at: &Equilibrium) -> Pose {
    system.motion(NodeId(0), &at.point()).pose
}

#[test]
fn both_groups_give_the_same_equilibrium_and_newton_converges_quadratically() {
    let force = Vector3::new(-2.0, 4.0, 3.0);
    let found = [Group::Se3, Group::So3xR3].map(|group| {
        let (system, initial) = mounted(group, force, Vector3::new(0.0, 0.0, -9.81));
        let found = solve(&system, &initial, &StaticSettings::default()).unwrap();
        let pose = position(&system, &found.equilibrium);
        (pose, found)
    });
    // Both solve the same equations to round-off: 1e-8 squared.
    assert!((found[0].0.position - found[1].0.position).norm() < 1e-12);
    assert!(found[0].0.rotation.angle_to(&found[1].0.rotation) < 1e-12);
    for (_, found) in &found {
        // Each correction is about the square of the last, until round-off.
        let corrections: Vec<f64> =
            found.corrections.iter().copied().filter(|c| *c < 0.1 && *c > 1e-12).collect();
        assert!(corrections.len() >= 2, "{:?}", found.corrections);
        for pair in corrections.windows(2) {
            assert!(pair[1] <= 10.0 * pair[0] * pair[0], "{:?}", found.corrections);
        }
    }
}

#[test]
fn the_load_factor_scales_forces_and_gravity_but_not_springs() {
    let force = Vector3::new(0.0, 0.0, 6.0);
    let settings = StaticSettings { target: 0.5, ..StaticSettings::default() };
    let (system, initial) = mounted(Group::Se3, force, Vector3::new(0.0, 0.0, -9.81));
    let half = solve(&system, &initial, &settings).unwrap();
    let (system, initial) = mounted(Group::Se3, 0.5 * force, Vector3::new(0.0, 0.0, -4.905));
    let whole = solve(&system, &initial, &StaticSettings::default()).unwrap();
    let difference =
        position(&system, &half.equilibrium).position - position(&system, &whole.equilibrium).position;
    // The same equations by another way: rounding.
    assert!(difference.norm() < 1e-13);
}

#[test]
fn gravity_alone_holds_a_pendulum_and_the_hinge_bears_its_weight() {
    let machine = Machine::from_text("pendulum.toml", ROD_ON_PIN).unwrap();
    let found = solve(machine.system(), machine.initial(), &StaticSettings::default()).unwrap();
    let pose = position(machine.system(), &found.equilibrium);
    // The last increment is below 1e-8, and what Newton's iteration leaves is its square.
    assert!((pose.position - Vector3::new(0.0, 0.0, -0.5)).norm() < 1e-10, "{}", pose.position);
    let reaction = machine.system().reaction(0, &found.equilibrium.point());
    let expected = Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.80665);
    assert!((reaction - expected).norm() < 1e-9, "{reaction}");
}

#[test]
fn what_nothing_holds_is_named() {
    let free = format!("{ROD_ON_PIN}\n[gravity]\nacceleration = [0, 0, 0]\n");
    let machine = Machine::from_text("free.toml", &free).unwrap();
    let message =
        solve(machine.system(), machine.initial(), &StaticSettings::default()).unwrap_err().to_string();
    assert!(message.contains("nothing holds") && message.contains("`rod`"), "{message}");

    let vertical = ROD_ON_PIN.replace("axis = [0, 1, 0]", "axis = [0, 0, 1]");
    let machine = Machine::from_text("vertical.toml", &vertical).unwrap();
    let message =
        solve(machine.system(), machine.initial(), &StaticSettings::default()).unwrap_err().to_string();
    assert!(message.contains("nothing holds") && message.contains("`rod`"), "{message}");
}
