//! Forces of model files move machines as closed forms say, and account for their energy.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

mod laws;
mod measured;
mod mistakes;
mod signals;
mod tables;

use crate::common::{difference, read, within};
use kreisel::integrate::{INDEX2, Integration, Integrator, Parameters, Settings};
use kreisel::kinematics::{Energies, NodeId, NodeMotion, Power};
use kreisel::lie::Vector3;
use kreisel::machine::Machine;

fn machine(text: &str) -> Machine {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn start(machine: &Machine, step: f64) -> Integration<'_> {
    // The trapezoidal rule: no numerical damping, so that energies tell.
    let settings = Settings::new(INDEX2, Parameters::chung_hulbert(1.0).unwrap(), step)
        .with_newton_tolerances(1e-12, 1e-14);
    Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap()
}

/// Motion of the first body after a run.
fn motion(machine: &Machine, step: f64, end: f64) -> NodeMotion {
    let mut run = start(machine, step);
    run.advance(end).unwrap();
    machine.system().motion(NodeId(0), &run.values().point())
}

/// Asserts that errors are small and fall with the square of the step.
fn assert_second_order(name: &str, error: impl Fn(f64) -> f64, step: f64, bound: f64) {
    let (coarse, fine) = (error(step), error(0.5 * step));
    assert!(coarse < bound, "{name}: error {coarse}");
    let ratio = coarse / fine;
    assert!((3.8..4.2).contains(&ratio), "{name}: errors {coarse} and {fine}, ratio {ratio}");
}

const NO_GRAVITY: &str = "[gravity]\nacceleration = [0, 0, 0]\n";

/// A flywheel of 2 kg m² about z.
fn flywheel(rate: f64, rest: &str) -> Machine {
    machine(&format!(
        "{NO_GRAVITY}
        [[body]]
        name = \"wheel\"
        mass = 1
        inertia = [1.5, 1.5, 2]
        angular-velocity = [0, 0, {rate}]
        [[revolute]]
        name = \"axle\"
        bodies = [\"ground\", \"wheel\"]
        point = [0, 0, 0]
        axis = [0, 0, 1]
        {rest}"
    ))
}

/// Angle about z, up to half a turn.
fn angle(motion: &NodeMotion) -> f64 {
    motion.pose.rotation.scaled_axis().z
}

/// A mass of 2 kg at 1.1 m on the x axis.
fn mass_on_line(velocity: f64, rest: &str) -> Machine {
    machine(&format!(
        "{NO_GRAVITY}
        [[point-mass]]
        name = \"mass\"
        mass = 2
        position = [1.1, 0, 0]
        velocity = [{velocity}, 0, 0]
        {rest}"
    ))
}

#[test]
fn a_mass_on_a_spring_swings_with_its_closed_form_frequency() {
    let machine = mass_on_line(
        0.0,
        r#"[[spring-damper]]
        bodies = ["ground", "mass"]
        stiffness = "50 N/m"
        free-length = "1 m""#,
    );
    // x = 1 + 0.1 cos(5 t): ω² = 50/2.
    let error = |step: f64| (motion(&machine, step, 1.0).pose.position.x - (1.0 + 0.1 * 5f64.cos())).abs();
    // The trapezoidal rule turns slower by (ωh)²/12: 5 (5e-3)²/12 · 0.1 = 1e-6 at most.
    assert_second_order("spring", error, 1e-3, 1.1e-6);
}

#[test]
fn a_damped_mass_loses_its_swing_as_the_closed_form_says() {
    let machine = mass_on_line(
        0.0,
        r#"[[spring-damper]]
        bodies = ["mass", "ground"]
        points = [[1.1, 0, 0], [0, 0, 0]]
        stiffness = 50
        damping = 4
        free-length = 1"#,
    );
    // δ = c/2m = 1, ω = √(25 − 1).
    let (delta, omega, t) = (1.0_f64, 24f64.sqrt(), 1.0_f64);
    let exact = 1.0 + 0.1 * (-delta * t).exp() * ((omega * t).cos() + delta / omega * (omega * t).sin());
    let error = |step: f64| (motion(&machine, step, t).pose.position.x - exact).abs();
    assert_second_order("damped spring", error, 1e-3, 1e-6);
}

#[test]
fn a_preloaded_spring_pulls_at_its_free_length() {
    let machine = mass_on_line(
        0.0,
        r#"[[spring-damper]]
        bodies = ["ground", "mass"]
        preload = 6"#,
    );
    assert_eq!(
        machine.assumptions(),
        ["the spring-damper `spring-damper-1` is free at its initial length of 1.1 m"]
    );
    // A constant pull of 6 N on 2 kg; the method is exact for constant accelerations.
    let moved = motion(&machine, 0.01, 0.1).pose.position.x - 1.1;
    assert!((moved + 0.5 * 3.0 * 0.01).abs() < 1e-12, "{moved}");
}

#[test]
fn a_spring_by_a_table_of_a_line_is_the_linear_spring() {
    let linear = mass_on_line(
        0.5,
        "[[spring-damper]]\nbodies = [\"ground\", \"mass\"]\nstiffness = 50\ndamping = 3\nfree-length = 1",
    );
    let table = mass_on_line(
        0.5,
        r#"[[spring-damper]]
        bodies = ["ground", "mass"]
        free-length = 1
        force = { points = [[-1, -50], [0, 0], [1, 50]], interpolation = "linear" }
        damping-force = { points = [[-1, -3], [1, 3]], outside = "continue" }"#,
    );
    let [a, b] = [&linear, &table].map(|machine| motion(machine, 1e-3, 0.7).pose.position.x);
    // The same equations up to rounding, solved to 1e-12.
    // The same torque in two ways: Newton's tolerance over a thousand steps.
    assert!((a - b).abs() < 1e-11, "{a} {b}");
}

#[test]
fn a_hardening_spring_by_a_smooth_table_keeps_its_energy() {
    let points: Vec<String> = (-8..=8)
        .map(|k| 0.05 * f64::from(k))
        .map(|x| format!("[{x}, {}]", 50.0 * x + 400.0 * x * x * x))
        .collect();
    let machine = mass_on_line(
        1.0,
        &format!(
            "[[spring-damper]]\nbodies = [\"ground\", \"mass\"]\nfree-length = 1\nforce = {{ points = [{}] }}",
            points.join(", ")
        ),
    );
    let energy = |run: &Integration| machine.system().energies(&run.values().point()).total();
    let drift = |step: f64| {
        let mut run = start(&machine, step);
        let before = energy(&run);
        let mut worst: f64 = 0.0;
        while run.values().time < 2.0 - 0.5 * step {
            run.step().unwrap();
            worst = worst.max((energy(&run) - before).abs());
        }
        worst
    };
    assert_second_order("energy", drift, 4e-3, 1e-3);
}

#[test]
fn a_torsional_pendulum_swings_with_its_closed_form_frequency() {
    let machine = flywheel(
        0.0,
        r#"[[torsional-spring-damper]]
        joint = "axle"
        stiffness = "18 Nm/rad"
        free-angle = "-20 deg""#,
    );
    // θ = θ₀ (1 − cos(3 t)): ω² = 18/2.
    let free = -20f64.to_radians();
    let exact = free * (1.0 - 3f64.cos());
    let error = |step: f64| (angle(&motion(&machine, step, 1.0)) - exact).abs();
    assert_second_order("torsional pendulum", error, 2e-3, 1e-6);
}

#[test]
fn a_torsional_spring_counts_full_turns() {
    // Two turns away from its free angle the spring still turns back: 1 Nm/rad · 4π on 2 kg m².
    let text = "[[torsional-spring-damper]]\njoint = \"axle\"\nstiffness = 1\nfree-angle = \"-720 deg\"";
    let machine = flywheel(0.0, text);
    let rate = motion(&machine, 1e-3, 0.01).angular_velocity().z;
    let omega = 0.5f64.sqrt();
    let exact = -4.0 * std::f64::consts::PI * omega * (omega * 0.01).sin();
    // Second order in 1e-3 of an acceleration of 6.
    assert!((rate - exact).abs() < 1e-6, "{rate} {exact}");
}

/// A body on a bushing, held by strong dampers, under a load.
fn on_bushing(bushing: &str, load: &str) -> NodeMotion {
    let machine = machine(&format!(
        "{NO_GRAVITY}
        [[body]]
        name = \"block\"
        mass = 1
        inertia = [1, 1, 1]
        [[bushing]]
        bodies = [\"ground\", \"block\"]
        point = [0, 0, 0]
        translational-damping = [40, 40, 40]
        rotational-damping = [40, 40, 40]
        {bushing}
        [[force]]
        body = \"block\"
        {load}"
    ));
    // The slowest motion is that of the coupled one: stiffness 91 over damping 40 kills it with 2.3 /s, to
    // 1e-12 here.
    motion(&machine, 0.02, 12.0)
}

#[test]
fn a_bushing_deflects_by_load_over_stiffness() {
    let stiffness = "translational-stiffness = [400, 500, 800]\nrotational-stiffness = [400, 500, 600]";
    let moved = on_bushing(stiffness, "force = [4, -10, 16]").pose.position;
    // Settled to rounding of the iteration.
    assert!((moved - Vector3::new(0.01, -0.02, 0.02)).norm() < 1e-9, "{moved}");
    let turned = on_bushing(stiffness, "torque = [0, 0, \"300 Nm\"]").pose.rotation.scaled_axis();
    assert!((turned - Vector3::new(0.0, 0.0, 0.5)).norm() < 1e-9, "{turned}");
}

#[test]
fn a_coupled_bushing_deflects_like_the_tip_of_a_beam() {
    // A cantilever along x: [F, M] = EI/l³ [12, −6l; −6l, 4l²] [d_y, θ_z] with EI/l³ = 50 N/m and l = 2 m. A
    // rotation about one axis is exact however large.
    let coupled = "translational-stiffness = [400, 600, 600]
        rotational-stiffness = [500, 500, 800]
        coupling-stiffness = [[0, 0, 0], [0, 0, -600], [0, 0, 0]]";
    let tip = on_bushing(coupled, "force = [0, 30, 0]");
    // F l³/3EI and F l²/2EI: 30/(3·50) and 30/(2·2·50).
    assert!((tip.pose.position - Vector3::new(0.0, 0.2, 0.0)).norm() < 1e-9, "{}", tip.pose.position);
    assert!((angle(&tip) - 0.15).abs() < 1e-9, "{}", angle(&tip));
}

#[test]
fn friction_stops_a_flywheel_after_its_closed_form_angle() {
    let (rate, v) = (10.0, 0.1);
    let machine = flywheel(rate, "[[joint-friction]]\njoint = \"axle\"\ntorque = 4\ntransition-rate = 0.1");
    let mut run = start(&machine, 1e-3);
    run.advance(5.5).unwrap();
    // J ω̇ = −T tanh(ω/v) stops after J/T ∫ω coth(ω/v) dω = J/T (ω₀²/2 + π²v²/12), four turns here.
    let exact = 0.5 * (0.5 * rate * rate + std::f64::consts::PI.powi(2) * v * v / 12.0);
    // The friction remembers the angle with its turns. Rates fall by e every J v/T = 0.05 s, so that 0.5 s
    // are enough.
    let turned = run.values().memory[0];
    assert!((turned - exact).abs() < 1e-4, "{turned} {exact}");
}

#[test]
fn an_elastic_stop_throws_a_flywheel_back() {
    let machine =
        flywheel(1.0, "[[torsional-end-stop]]\njoint = \"axle\"\nupper = 0.5\nstiffness = \"800 Nm/rad\"");
    // It meets the stop after 0.5 s, half a swing of √(J/k) lasts π/20 s; then it turns back with the same
    // rate.
    let contact = std::f64::consts::PI / 20.0;
    let after = motion(&machine, 5e-4, 1.0);
    // Steps do not land on the contact: the force begins up to a step late, an error of (h ω)² of the rate.
    assert!((after.angular_velocity().z + 1.0).abs() < 1e-3, "{}", after.angular_velocity().z);
    let expected = 0.5 - (1.0 - 0.5 - contact);
    assert!((angle(&after) - expected).abs() < 1e-3, "{} {expected}", angle(&after));
}

#[test]
fn a_dead_force_keeps_its_direction_and_a_following_one_turns() {
    let body = |axes: &str| {
        machine(&format!(
            "{NO_GRAVITY}
            [[body]]
            name = \"disc\"
            mass = 2
            inertia = [1, 1, 1]
            angular-velocity = [0, 0, 3]
            [[force]]
            body = \"disc\"
            force = [6, 0, 0]
            axes = \"{axes}\""
        ))
    };
    let dead = body("world");
    // Constant acceleration 3 m/s²; on SE(3) steps are screws, which err by (ωh)² of the way.
    let error = |step: f64| (motion(&dead, step, 1.0).pose.position - Vector3::new(1.5, 0.0, 0.0)).norm();
    assert_second_order("dead force", error, 2e-3, 5e-5);
    // v = F/(mω) (sin ωt, 1 − cos ωt).
    let exact = Vector3::new(3f64.sin(), 1.0 - 3f64.cos(), 0.0);
    let machine = body("body");
    let error = |step: f64| (motion(&machine, step, 1.0).point_velocity(&Vector3::zeros()) - exact).norm();
    assert_second_order("following force", error, 2e-3, 1e-5);
}

#[test]
fn a_constant_torque_spins_a_flywheel_up() {
    let machine = flywheel(0.0, "[[force]]\nbody = \"wheel\"\ntorque = [0, 0, \"4 Nm\"]");
    let after = motion(&machine, 0.01, 1.0);
    // ω = T t/J = 2 rad/s and θ = 1 rad; constant accelerations are exact.
    assert!((after.angular_velocity().z - 2.0).abs() < 1e-10 && (angle(&after) - 1.0).abs() < 1e-10);
}

#[test]
fn a_motor_turns_the_second_body_forward_and_the_first_one_back() {
    let machine = machine(&format!(
        "{NO_GRAVITY}
        [[body]]
        name = \"stator\"
        mass = 1
        inertia = [1, 1, 2]
        [[body]]
        name = \"rotor\"
        mass = 1
        inertia = [1, 1, 0.5]
        [[revolute]]
        name = \"shaft\"
        bodies = [\"stator\", \"rotor\"]
        point = [0, 0, 0]
        [[joint-force]]
        joint = \"shaft\"
        torque = \"3 - 0.1*shaft.rate\""
    ));
    let mut run = start(&machine, 1e-3);
    run.advance(1.0).unwrap();
    let rate =
        |node: usize| machine.system().motion(NodeId(node), &run.values().point()).angular_velocity().z;
    // The relative rate obeys ω̇ = (3 − 0.1 ω)(1/2 + 1/0.5), so ω = 30 (1 − exp(−t/4)).
    let exact = 30.0 * (1.0 - (-0.25f64).exp());
    // Second order in 1e-3/4.
    assert!((rate(1) - rate(0) - exact).abs() < 1e-6, "{} {exact}", rate(1) - rate(0));
    assert!((2.0 * rate(0) + 0.5 * rate(1)).abs() < 1e-10, "angular momentum");
}

#[test]
fn a_force_at_a_point_turns_the_body_about_its_centre() {
    let body = |place: &str| {
        machine(&format!(
            "{NO_GRAVITY}
            [[body]]
            name = \"rod\"
            mass = 2
            inertia = [3, 3, 4]
            position = [1, 1, 0]
            orientation = {{ axis = [0, 0, 1], angle = \"90 deg\" }}
            markers = [{{ name = \"tip\", position = [0, -0.5, 0] }}]
            [[marker]]
            name = \"end\"
            body = \"rod\"
            position = [1.5, 1, 0]
            axes = \"world\"
            [[force]]
            {place}
            force = [0, 8, 0]"
        ))
    };
    // Arm of 0.5 m along x, angular acceleration 8 · 0.5/4 = 1 rad/s² at the start.
    for place in ["body = \"rod.tip\"", "body = \"rod.end\"", "body = \"rod\"\npoint = [1.5, 1, 0]"] {
        let after = motion(&body(place), 1e-4, 0.01);
        // The arm turns by 5e-5 rad in this time.
        assert!((after.angular_velocity().z - 0.01).abs() < 1e-9, "{place}: {}", after.angular_velocity().z);
        assert!((after.point_velocity(&Vector3::zeros()).y - 0.04).abs() < 1e-9, "{place}");
    }
}

#[test]
fn an_expression_of_the_position_is_a_spring_and_damper() {
    let spring = mass_on_line(
        0.3,
        "[[spring-damper]]\nbodies = [\"ground\", \"mass\"]\nstiffness = 50\ndamping = 4\nfree-length = 1",
    );
    let expression = mass_on_line(
        0.3,
        r#"[[force]]
        body = "mass"
        force = ["-50*(mass.position.x - 1) - 4*mass.velocity.x", 0, 0]"#,
    );
    let [a, b] = [&spring, &expression].map(|machine| motion(machine, 1e-3, 1.0).pose.position.x);
    // The same discrete equations, solved to 1e-12.
    assert!((a - b).abs() < 1e-11, "{a} {b}");
}

#[test]
fn an_expression_of_joint_coordinates_is_a_torsional_spring_and_damper() {
    let spring = flywheel(
        2.0,
        "[[torsional-spring-damper]]\njoint = \"axle\"\nstiffness = 18\ndamping = 1\nfree-angle = 0",
    );
    let expression =
        flywheel(2.0, "[[force]]\nbody = \"wheel\"\ntorque = [0, 0, \"-18*axle.angle - axle.rate\"]");
    let [a, b] = [&spring, &expression].map(|machine| angle(&motion(machine, 1e-3, 1.0)));
    // The same equations by another way: Newton's tolerance, over a thousand steps that damp it.
    assert!((a - b).abs() < 1e-11, "{a} {b}");
}

#[test]
fn forces_follow_laws_of_time() {
    let machine = mass_on_line(0.0, "[[force]]\nbody = \"mass\"\nforce = [\"2*cos(4*t) N\", 0, 0]");
    // x = F/(m ω²)(1 − cos ωt).
    let exact = 1.1 + (1.0 - 4f64.cos()) / 16.0;
    let error = |step: f64| (motion(&machine, step, 1.0).pose.position.x - exact).abs();
    // Twice the trapezoidal rule: each errs by h²/12 times the change of the acceleration, 4e-6/12 · 1.65.
    assert_second_order("harmonic force", error, 2e-3, 1.2e-6);
}

#[test]
fn steps_land_where_a_force_jumps_in_time() {
    let machine = mass_on_line(
        0.0,
        r#"[[force]]
        body = "mass"
        force = ["if(t < 0.0505, 4, 0)*(1 + mass.velocity.x)", 0, { points = [[0, 0], [0.2, 1]], interpolation = "linear" }]"#,
    );
    // The table begins with a bend at 0, jumps and bends follow.
    assert_eq!(machine.system().corners(0.0, 1.0), [0.0, 0.0505, 0.2]);
}

/// Everything that stores, loses or gives energy, around a free body and a swinging one.
const BUSY: &str = r#"
[[body]]
name = "arm"
mass = 2
shape = { kind = "box", size = [1, 0.1, 0.1] }
position = [0.5, 0, 0]
markers = [{ name = "tip", position = [0.5, 0, 0] }]

[[body]]
name = "ball"
density = 500
shape = { kind = "sphere", radius = 0.1 }
position = [1.5, 0.2, 0]
angular-velocity = [1, 2, 3]

[[revolute]]
name = "hinge"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 1, 0]

[[spring-damper]]
bodies = ["arm.tip", "ball"]
stiffness = 80
damping = 2
free-length = 0.4

[[bushing]]
bodies = ["arm", "ball"]
point = [1, 0, 0]
translational-stiffness = [30, 20, 40]
rotational-stiffness = [3, 2, 4]
translational-damping = [1, 1, 1]
rotational-damping = [0.1, 0.1, 0.1]

[[torsional-spring-damper]]
joint = "hinge"
stiffness = 4
damping = 0.3

[[joint-friction]]
joint = "hinge"
torque = 0.5
transition-rate = 0.5

[[force]]
body = "ball"
force = ["3*sin(5*t)", 0, "2 - ball.velocity.z*hinge.rate"]
torque = [0, 0.1, 0]
axes = "body"
"#;

#[test]
fn what_forces_do_is_stored_or_lost() {
    for group in ["se3", "so3xr3"] {
        let machine = machine(&format!("[simulation]\ngroup = \"{group}\"\n{BUSY}"));
        let measure = |run: &Integration| -> (Energies, Power) {
            let point = run.values().point();
            (machine.system().energies(&point), machine.system().power(&point))
        };
        let imbalance = |step: f64| {
            let mut run = start(&machine, step);
            let (before, mut last) = measure(&run);
            let (mut net, mut worst) = (0.0, 0.0_f64);
            while run.values().time < 1.0 - 0.5 * step {
                run.step().unwrap();
                let (energies, power) = measure(&run);
                let sum = |power: &Power| power.applied - power.dissipated;
                net += 0.5 * step * (sum(&last) + sum(&power));
                last = power;
                worst = worst.max((energies.total() - before.total() - net).abs());
            }
            worst
        };
        // Energies of some ten joules and rates of some ten per second: (10 · 2e-3)² of 10 J.
        let (coarse, fine) = (imbalance(2e-3), imbalance(1e-3));
        assert!(coarse < 4e-3, "{group}: {coarse}");
        assert!((3.5..4.5).contains(&(coarse / fine)), "{group}: {coarse} {fine}");
    }
}

#[test]
fn both_groups_give_the_same_motion_to_second_order() {
    let [se3, so3xr3] =
        ["se3", "so3xr3"].map(|group| machine(&format!("[simulation]\ngroup = \"{group}\"\n{BUSY}")));
    let difference = |step: f64| {
        let [a, b] = [&se3, &so3xr3].map(|machine| {
            let mut run = start(machine, step);
            run.advance(1.0).unwrap();
            machine.system().motion(NodeId(1), &run.values().point()).pose
        });
        (a.position - b.position).norm() + a.rotation.angle_to(&b.rotation)
    };
    // The ball turns some radians with rates of some ten per second: (10 · 2e-3)² of that.
    assert_second_order("groups", difference, 2e-3, 1e-3);
}

#[test]
fn a_damped_stop_loses_what_its_damper_takes() {
    let machine = flywheel(
        1.0,
        "[[torsional-end-stop]]\njoint = \"axle\"\nupper = 0.1\nstiffness = 800\ndamping = 5\ntransition-depth = 0.01",
    );
    let (mut run, step) = (start(&machine, 1e-4), 1e-4);
    let (mut lost, mut last) = (0.0, 0.0);
    while run.values().time < 0.5 {
        run.step().unwrap();
        let power = machine.system().power(&run.values().point()).dissipated;
        assert!(power >= 0.0);
        lost += 0.5 * step * (last + power);
        last = power;
    }
    let rate = machine.system().motion(NodeId(0), &run.values().point()).angular_velocity().z;
    assert!(rate < 0.0 && rate > -0.99, "{rate}");
    // 1 J before; the contact begins within a step, of whose power of some 5 W a part of 1e-4 is missed.
    assert!((rate * rate + lost - 1.0).abs() < 5e-4, "{rate} {lost}");
}

#[test]
fn shapes_give_mass_and_inertia_about_the_centre() {
    let machine = |keys: &str| machine(&format!("[[body]]\nname = \"it\"\n{keys}"));
    let body = |keys: &str| machine(keys).frames().bodies()[0].clone();
    let shape = |keys: &str| machine(keys).scene().bodies[0].shapes[0].clone();
    let box_ = body("density = 1000\nshape = { kind = \"box\", size = [\"10 cm\", 0.2, 0.3] }");
    // Roundings only, here and below.
    assert!((box_.mass - 6.0).abs() < 1e-14);
    assert!((box_.inertia[(0, 0)] - 6.0 * (0.04 + 0.09) / 12.0).abs() < 1e-15);
    let turned = body(
        "mass = 3\nshape = { kind = \"cylinder\", radius = 0.1, length = 1, orientation = { z-axis = [1, 0, 0] } }",
    );
    assert!((turned.inertia[(0, 0)] - 3.0 * 0.01 / 2.0).abs() < 1e-15);
    assert!((turned.inertia[(1, 1)] - 3.0 * (0.01 / 4.0 + 1.0 / 12.0)).abs() < 1e-15);
    let cone = shape("mass = 3\nshape = { kind = \"cone\", radius = 0.1, length = 0.4 }");
    // Its base stands a quarter of its height below the centre of mass.
    assert!((Vector3::from(cone.frame.position) - Vector3::new(0.0, 0.0, -0.1)).norm() < 1e-16);
    let keys =
        "mass = 3\ninertia = [1, 1, 1]\nshape = { kind = \"sphere\", radius = 0.1, position = [0, 0, 0.5] }";
    assert_eq!(body(keys).inertia[(0, 0)], 1.0);
    assert_eq!(shape(keys).frame.position[2], 0.5);
}

#[test]
fn a_body_may_be_an_stl_file_beside_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let mut surface = String::from("solid tetrahedron\n");
    let corners = ["0 0 0", "60 0 0", "0 60 0", "0 0 60"];
    for face in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        surface.push_str("facet normal 0 0 0\nouter loop\n");
        face.iter().for_each(|corner| surface.push_str(&format!("vertex {}\n", corners[*corner])));
        surface.push_str("endloop\nendfacet\n");
    }
    std::fs::write(folder.path().join("part.stl"), surface).unwrap();
    let path = folder.path().join("model.toml");
    let model = |file: &str| {
        let shape = format!("shape = {{ kind = \"stl\", file = \"{file}\", unit = \"1 mm\" }}");
        std::fs::write(&path, format!("[[body]]\nname = \"part\"\ndensity = 1000\n{shape}\n")).unwrap();
        Machine::read(&path, &[]).map_err(|errors| errors.render(false))
    };
    let body = model("part.stl").unwrap().scene().bodies.remove(0);
    // A corner of a cube: a³/6 in volume, its centroid a quarter along each edge.
    assert!((body.mass - 1000.0 * 0.06f64.powi(3) / 6.0).abs() < 1e-15);
    let corner = Vector3::from(body.shapes[0].frame.position);
    assert!((corner + Vector3::repeat(0.015)).norm() < 1e-15, "{corner}");
    for (file, reason) in
        [("none.stl", "cannot be read"), ("../part.stl", "cannot be read"), ("model.toml", "closed surface")]
    {
        let message = model(file).err().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn forces_and_markers_of_an_included_file_turn_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let part = r#"
        [[point-mass]]
        name = "mass"
        mass = 2
        position = [1, 0, 0]
        [[marker]]
        name = "wall"
        position = [3, 0, 0]
        [[force]]
        body = "mass"
        force = [6, 0, 0]
        [[spring-damper]]
        bodies = ["mass", "ground.wall"]
        preload = 2
    "#;
    std::fs::write(folder.path().join("part.toml"), part).unwrap();
    let model = format!(
        "{NO_GRAVITY}
        [[include]]
        file = \"part.toml\"
        prefix = \"left-\"
        position = [0, 0, 1]
        rotation = {{ axis = [0, 0, 1], angle = \"90 deg\" }}
        "
    );
    let path = folder.path().join("model.toml");
    std::fs::write(&path, model).unwrap();
    let machine = Machine::read(&path, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    // x of the file is y of the model: 8 N on 2 kg from (0, 1, 1).
    let place = motion(&machine, 0.01, 0.5).pose.position;
    assert!((place - Vector3::new(0.0, 1.5, 1.0)).norm() < 1e-12, "{place}");
}

/// A body that swings about an axis on a bushing: with moment of inertia and stiffness 1 its angle is
/// ω sin(t), far beyond half a turn.
#[test]
fn a_bushing_follows_rotations_beyond_half_a_turn() {
    let hinge =
        "[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'body']\npoint = [0, 0, 0]\naxis = [1, 2, 2]\n";
    for (joint, speed) in [("", 5.0), (hinge, 5.0), (hinge, 20.0)] {
        let omega = Vector3::new(1.0, 2.0, 2.0) / 3.0 * speed;
        let machine = read(&format!(
            r#"
            [simulation]
            end-time = 6
            step = 0.002
            [gravity]
            acceleration = [0, 0, 0]
            [[body]]
            name = "body"
            mass = 1
            inertia = [1, 1, 1]
            angular-velocity = [{}, {}, {}]
            {joint}
            [[bushing]]
            name = "mount"
            bodies = ["ground", "body"]
            point = [0, 0, 0]
            rotational-stiffness = [1, 1, 1]
            translational-stiffness = [1, 1, 1]
            "#,
            omega.x, omega.y, omega.z
        ))
        .unwrap();
        let run = machine.simulate().unwrap();
        let strain = difference(&run, "energy.strain", |t| 0.5 * (speed * t.sin()).powi(2));
        // Second order: the angle is off by its amplitude times (ωh)²/12 t or so, which is 2e-6.
        within(&format!("{joint} {speed}"), strain, 1e-5 * speed * speed);
        if !joint.is_empty() {
            within("angle", difference(&run, "hinge.angle", |t| speed * t.sin()), 1e-5 * speed);
        }
    }
}
