//! Drives, gears and couplings against closed forms, over many turns.
//!
//! What a drive, gear or coupling leads is exact but for Newton's tolerance (1e-12 of each increment, 1e-10
//! of what it belongs to) and the roundings of angles over many turns; other tolerances say their reason.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::f64::consts::TAU;

use crate::common::read;
use kreisel::dae::{Notes, Values};
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, Settings};
use kreisel::kinematics::{Coordinate, Frame, NodeMotion, Relative, split};
use kreisel::lie::{Matrix3, Pose, UnitQuaternion, Vector3};
use kreisel::machine::{JointEntry, Machine};
use kreisel::solve::newton::{NewtonSettings, Refresh, Stop};

const G: f64 = 9.80665;

fn joint<'m>(machine: &'m Machine, name: &str) -> &'m JointEntry {
    machine.frames().joints().iter().find(|joint| joint.name == name).unwrap()
}

fn motion(machine: &Machine, name: &str, state: &Values) -> NodeMotion {
    let body = machine.frames().bodies().iter().find(|body| body.name == name).unwrap();
    machine.system().motion(body.node, &state.point())
}

/// Torque and force of a joint or drive on its second body, in world axes.
fn reaction(machine: &Machine, name: &str, state: &Values) -> (Vector3, Vector3) {
    split(&machine.system().reaction(joint(machine, name).index, &state.point()))
}

/// A coordinate of a joint, near a value, and its rate.
fn coordinate(machine: &Machine, name: &str, which: &str, state: &Values, near: f64) -> (f64, f64) {
    let entry = joint(machine, name);
    let found: Coordinate = entry.coordinates.iter().find(|(known, _)| *known == which).unwrap().1;
    let ground = NodeMotion::at_rest(Pose::identity());
    let nodes =
        entry.nodes.map(|node| node.map_or(ground, |node| machine.system().motion(node, &state.point())));
    let relative = Relative::new(&entry.offsets.map(Frame::new), [&nodes[0], &nodes[1]]);
    (found.value(&relative, near), found.rate(&relative))
}

/// Runs a machine and looks at it at the start and after every step.
fn watch(machine: &Machine, method: Method, step: f64, end: f64, mut look: impl FnMut(&Values)) {
    // To round-off, so that what is led can be told from what is nearly so: a matrix kept over steps leaves
    // 1e-9.
    let newton = NewtonSettings {
        refresh: Refresh::EveryIteration,
        stop: Stop::SmallIncrement,
        ..NewtonSettings::default()
    };
    let settings = Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), step)
        .with_newton_tolerances(1e-12, 1e-14)
        .with_multiplier_slack(1.0)
        .with_newton(newton);
    let integrator = Integrator::with(settings);
    let mut run = integrator.start(machine.system(), machine.initial().clone()).unwrap();
    look(run.values());
    while run.values().time < end - 0.5 * step {
        run.step().unwrap();
        look(run.values());
    }
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

/// A crank on a horizontal hinge along y, its centre of mass 0.3 m along x.
fn crank(law: &str) -> Machine {
    read(&format!(
        r#"
        [[body]]
        name = "crank"
        mass = 2
        inertia = [0.01, 0.02, 0.03]
        position = [0.3, 0, 0]
        [[revolute]]
        name = "hinge"
        bodies = ["ground", "crank"]
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[drive]]
        name = "motor"
        joint = "hinge"
        angle = {law}
        "#
    ))
    .unwrap()
}

#[test]
fn a_driven_crank_turns_beyond_a_full_turn_with_the_torque_of_its_weight() {
    let machine = crank(r#"{ speed = "90 rpm" }"#);
    for method in [INDEX2, INDEX3] {
        watch(&machine, method, 0.01, 4.0, |state| {
            let angle = 1.5 * TAU * state.time;
            let centre = motion(&machine, "crank", state).pose.position;
            let expected = 0.3 * Vector3::new(angle.cos(), 0.0, -angle.sin());
            // The constraint is solved to the round-off of an increment.
            assert!((centre - expected).norm() < 1e-10, "{method:?} at {}: {centre}", state.time);
            // Constant speed about y, which turns x towards −z: only the weight needs a torque, −m g r cos φ.
            // With constant velocity on SE(3) the method is exact. Times are rounded by ε t/2 = 4e-16 s,
            // angles by 4e-15 rad, and `index3` divides second differences of that by β h² and magnifies them
            // ten times in its transients.
            let tolerance = if method == INDEX3 { 4e-9 } else { 1e-9 };
            let (torque, _) = reaction(&machine, "motor", state);
            close(torque.y, -2.0 * G * 0.3 * angle.cos(), tolerance, "torque");
            assert!(torque.xz().norm() < 1e-9);
        });
    }
}

#[test]
fn the_torque_of_a_smooth_start_is_exact_at_the_start_and_of_second_order_later() {
    let machine = crank(r#"{ speed = "10 rad/s", smooth-start = 0.5 }"#);
    // About the hinge: J = 0.02 + 2 · 0.3².
    let inertia = 0.2;
    let error = |step: f64| {
        let mut largest = 0.0_f64;
        watch(&machine, INDEX2, step, 1.0, |state| {
            let t = state.time;
            let (angle, acceleration) = if t < 0.5 {
                let (phase, radius) = (TAU * t / 0.5, 0.5 / TAU);
                (20.0 * (0.5 * t * t + radius * radius * (phase.cos() - 1.0)), 20.0 * (1.0 - phase.cos()))
            } else {
                (10.0 * (t - 0.25), 0.0)
            };
            let expected = inertia * acceleration - 2.0 * G * 0.3 * angle.cos();
            let found = reaction(&machine, "motor", state).0.y;
            if t == 0.0 {
                // Accelerations of the start solve linear equations: rounding.
                close(found, expected, 1e-10, "torque at the start");
            }
            largest = largest.max((found - expected).abs());
        });
        largest
    };
    let (coarse, fine) = (error(0.005), error(0.0025));
    assert!((3.0..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
}

#[test]
fn a_point_led_along_a_path_needs_the_force_of_its_acceleration() {
    let machine = read(
        r#"
        [[body]]
        name = "bob"
        mass = 3
        inertia = [0.1, 0.1, 0.1]
        position = [0.5, 0, 0]
        [[drive]]
        name = "hand"
        point = "bob"
        path = ["0.5*cos(2*t)", "0.3*sin(3*t)", { points = [[0, 0], [1, 0.2], [2, 0.1], [3, 0.4]] }]
        "#,
    )
    .unwrap();
    let step = 0.01;
    watch(&machine, INDEX3, step, 3.0, |state| {
        let t = state.time;
        let position = motion(&machine, "bob", state).pose.position;
        // What Newton's iteration leaves in the constraints.
        close(position.x, 0.5 * (2.0 * t).cos(), 1e-11, "x");
        close(position.y, 0.3 * (3.0 * t).sin(), 1e-11, "y");
        let (torque, force) = reaction(&machine, "hand", state);
        // The method finds accelerations to second order; exactly at the start.
        let tolerance = if t == 0.0 { 1e-10 } else { 200.0 * step * step };
        close(force.x, -3.0 * 2.0 * (2.0 * t).cos(), tolerance, "force along x");
        close(force.y, -3.0 * 2.7 * (3.0 * t).sin(), tolerance, "force along y");
        assert!(torque.norm() < 1e-9);
        if t == 3.0 {
            close(position.z, 0.4, 1e-11, "z");
        }
    });
}

#[test]
fn a_led_body_goes_through_many_turns_with_the_torque_of_its_gyration() {
    for group in ["se3", "so3xr3"] {
        check_led_body(group);
    }
}

fn check_led_body(group: &str) {
    let simulation = format!("[simulation]\ngroup = \"{group}\"\n");
    let machine = read(
        &(simulation
            + r#"
        [[body]]
        name = "table"
        mass = 4
        inertia = [1, 2, 3]
        position = [1, 0, 0]
        orientation = { axis = [0, 0, 1], angle = "90 deg" }
        [[drive]]
        name = "robot"
        body = "table"
        path = ["cos(t)", "sin(t)", 0]
        euler = ["4*t", "0.5 + 0*t", "7*t"]
        sequence = "zxz"
        "#),
    )
    .unwrap();
    let turn = |axis: Vector3, angle: f64| UnitQuaternion::from_scaled_axis(angle * axis);
    watch(&machine, INDEX2, 0.01, 5.0, |state| {
        let t = state.time;
        let found = motion(&machine, "table", state);
        let initial = turn(Vector3::z(), 0.25 * TAU);
        let expected =
            turn(Vector3::z(), 4.0 * t) * turn(Vector3::x(), 0.5) * turn(Vector3::z(), 7.0 * t) * initial;
        // What Newton's iteration leaves in the constraints.
        assert!(found.pose.rotation.angle_to(&expected) < 1e-9, "t = {t}");
        assert!((found.pose.position - Vector3::new(t.cos(), t.sin(), 0.0)).norm() < 1e-10);
        // Steady precession: Ω = p z + s e with e the spin axis, which p carries along, so Ω̇ = p s z × e in
        // the world.
        let spin_axis = (turn(Vector3::z(), 4.0 * t) * turn(Vector3::x(), 0.5)) * Vector3::z();
        let omega = 4.0 * Vector3::z() + 7.0 * spin_axis;
        assert!((found.rotation * found.angular_velocity() - omega).norm() < 1e-9, "t = {t}");
        if t == 0.0 {
            let inertia = found.rotation
                * Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0))
                * found.rotation.transpose();
            let omega_dot = 28.0 * Vector3::z().cross(&spin_axis);
            let expected = inertia * omega_dot + omega.cross(&(inertia * omega));
            let (torque, force) = reaction(&machine, "robot", state);
            // At the start: linear equations, rounding.
            assert!((torque - expected).norm() < 1e-9, "{torque} {expected}");
            assert!((force - Vector3::new(-4.0, 0.0, 4.0 * G)).norm() < 1e-9, "{force}");
        }
    });
}

#[test]
fn a_universal_joint_has_the_cardan_error() {
    // Both shafts pass through the origin; the second leans by β towards y. Its far end is kept on its line:
    // a second bearing would say twice what the cross already says.
    let beta = 0.6_f64;
    let (sin, cos) = beta.sin_cos();
    let machine = read(&format!(
        r#"
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = "input"
        mass = 1
        inertia = [0.01, 0.01, 0.02]
        position = [0, 0, -0.5]
        [[body]]
        name = "output"
        mass = 1
        inertia = [0.01, 0.01, 0.02]
        position = [0, {y:?}, {z:?}]
        orientation = {{ axis = [1, 0, 0], angle = {angle:?} }}
        [[revolute]]
        name = "bearing"
        bodies = ["ground", "input"]
        point = [0, 0, -1]
        [[universal]]
        name = "cross"
        bodies = ["input", "output"]
        point = [0, 0, 0]
        first-axis = [0, 1, 0]
        second-axis = [1, 0, 0]
        [[point-on-line]]
        name = "end"
        bodies = ["ground", "output"]
        point = [0, {far_y:?}, {far_z:?}]
        axis = [0, {sin:?}, {cos:?}]
        [[drive]]
        name = "motor"
        joint = "bearing"
        angle = {{ speed = "2 rad/s" }}
        "#,
        y = 0.5 * sin,
        z = 0.5 * cos,
        angle = -beta,
        far_y = sin,
        far_z = cos,
    ))
    .unwrap();
    let shaft = Vector3::new(0.0, sin, cos);
    let (mut turns, mut last) = (0.0_f64, 0.0_f64);
    watch(&machine, INDEX2, 0.01, 10.0, |state| {
        let output = motion(&machine, "output", state);
        // Angle of the output about its shaft: how far x has turned, with full turns counted.
        let x = output.rotation * Vector3::x();
        let y_start = shaft.cross(&Vector3::x());
        let angle = x.dot(&y_start).atan2(x.x);
        let angle = angle + TAU * ((last - angle) / TAU).round();
        (turns, last) = (angle / TAU, angle);
        // The input's arm of the cross starts in the plane of the shafts: tan φ₂ = tan φ₁/cos β.
        let input = 2.0 * state.time;
        let expected = input.sin().atan2(input.cos() * cos);
        let expected = expected + TAU * ((angle - expected) / TAU).round();
        close(angle, expected, 1e-9, "angle of the output");
        close((output.rotation * Vector3::z() - shaft).norm(), 0.0, 1e-9, "lean of the shaft");
        // Its derivative: ω₂/ω₁ = cos β/(1 − sin²β cos²φ₁).
        let ratio = cos / (1.0 - (sin * input.cos()).powi(2));
        let rate = (output.rotation * output.angular_velocity()).dot(&shaft);
        close(rate, 2.0 * ratio, 1e-9, "speed of the output");
        // The arms in the world, and where they were at the start as seen from each shaft.
        let turn = |axis: &Vector3, angle: f64| UnitQuaternion::from_scaled_axis(angle * axis);
        let (on_input, on_output) = (turn(&Vector3::z(), input), turn(&shaft, expected));
        let (first_arm, second_arm) = (on_input * Vector3::y(), on_output * Vector3::x());
        let about =
            |axis: &Vector3, from: Vector3, to: Vector3| axis.dot(&from.cross(&to)).atan2(from.dot(&to));
        let first = about(&first_arm, on_input * Vector3::x(), second_arm);
        let second = about(&second_arm, first_arm, on_output * Vector3::y());
        close(coordinate(&machine, "cross", "first-angle", state, first).0, first, 1e-9, "first angle");
        // What Newton's iteration leaves in the constraints.
        close(coordinate(&machine, "cross", "second-angle", state, second).0, second, 1e-9, "second angle");
    });
    assert!(turns > 3.0, "{turns}");
}

/// A wheel of 1 kg whose inertia about z is 0.02 kg m², with more keys.
fn wheel(name: &str, keys: &str) -> String {
    format!("[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [0.01, 0.01, 0.02]\n{keys}\n")
}

/// Turns a wheel about z on the ground.
fn axle(name: &str, x: u8) -> String {
    format!("[[revolute]]\nname = \"{name}-axle\"\nbodies = [\"ground\", \"{name}\"]\npoint = [{x}, 0, 0]\n")
}

#[test]
fn a_gear_keeps_its_ratio_over_many_turns() {
    // The markers stand half a turn apart at the start, where the count of turns could slip.
    let turned = r#"
        position = [1, 0, 0]
        orientation = { axis = [0, 0, 1], angle = "180 deg" }
        markers = [{ name = "hub" }, { name = "other", position = [0, 0, 0.1] }]"#;
    let held = r#"
        position = [1, 0, 0]
        markers = [{ name = "hub" }]"#;
    let wheels = [wheel("pinion", ""), wheel("wheel", turned), wheel("carrier", held)].concat();
    let machine = read(
        &(wheels
            + r#"
        [gravity]
        acceleration = [0, 0, 0]
        [[fixed]]
        name = "mount"
        bodies = ["ground", "carrier"]
        [[revolute]]
        name = "first"
        bodies = ["ground", "pinion"]
        point = [0, 0, 0]
        [[revolute]]
        name = "second"
        bodies = ["carrier.hub", "wheel.hub"]
        [[gear]]
        name = "mesh"
        joints = ["first", "second"]
        ratio = -0.4
        [[drive]]
        name = "motor"
        joint = "first"
        angle = "3*t^2"
        "#),
    )
    .unwrap();
    let mut wheel = 0.5 * TAU;
    for method in [INDEX2, INDEX3] {
        wheel = 0.5 * TAU;
        watch(&machine, method, 0.01, 6.0, |state| {
            let pinion = 3.0 * state.time * state.time;
            wheel = coordinate(&machine, "second", "angle", state, wheel).0;
            // What Newton's iteration leaves in the constraints. The angle grows to 43 rad.
            close(wheel - 0.5 * TAU, -0.4 * pinion, 1e-9, "angle of the wheel");
            // The wheel's inertia, seen through the gear: 0.4² J α on top of the pinion's own.
            let torque = reaction(&machine, "motor", state).0.z;
            close(torque, (0.02 + 0.16 * 0.02) * 6.0, 1e-6, "torque of the motor");
        });
    }
    close(wheel, 0.5 * TAU - 0.4 * 108.0, 1e-9, "last angle");
}

#[test]
fn a_gear_keeps_its_digits_over_thousands_of_turns() {
    let wheel = |name: &str, x: u8| wheel(name, &format!("position = [{x}, 0, 0]")) + &axle(name, x);
    let gear = r#"
        [[gear]]
        joints = ["a-axle", "b-axle"]
        ratio = 0.7
        [[drive]]
        joint = "a-axle"
        angle = { speed = "200 rad/s" }
        "#;
    let machine = read(&(wheel("a", 0) + &wheel("b", 1) + gear)).unwrap();
    let mut angle = 0.0;
    watch(&machine, INDEX2, 0.01, 100.0, |state| {
        angle = coordinate(&machine, "b-axle", "angle", state, angle).0;
        // Numbers of this size are spaced by 1.8e-12.
        close(angle, 140.0 * state.time, 1e-10, "angle of the second wheel");
    });
    assert!(angle > 2000.0 * TAU);
}

#[test]
fn a_rack_and_a_differential_follow_their_couplings() {
    let drive = |joint: &str, law: &str| {
        format!("[[drive]]\nname = \"{joint}-motor\"\njoint = \"{joint}\"\nangle = \"{law}\"\n")
    };
    let text = ["left", "right", "cage"].map(|name| wheel(name, "") + &axle(name, 0)).concat()
        + &wheel("rack", "")
        + "[[prismatic]]\nname = \"rail\"\nbodies = [\"ground\", \"rack\"]\naxis = [1, 0, 0]\n"
        + "[[coupling]]\nname = \"differential\"\njoints = [\"left-axle\", \"right-axle\", \"cage-axle\"]\nfactors = [0.5, 0.5, -1]\n"
        + "[[coupling]]\nname = \"teeth\"\njoints = [\"cage-axle.angle\", \"rail.displacement\"]\nfactors = [0.05, -1]\n"
        + &drive("left-axle", "6*t")
        + &drive("right-axle", "10*t");
    let machine = read(&text).unwrap();
    watch(&machine, INDEX2, 0.01, 3.0, |state| {
        let t = state.time;
        // What Newton's iteration leaves in the constraints.
        close(coordinate(&machine, "cage-axle", "angle", state, 8.0 * t).0, 8.0 * t, 1e-9, "cage");
        close(coordinate(&machine, "rail", "displacement", state, 0.0).0, 0.4 * t, 1e-9, "rack");
    });
}

#[test]
fn a_screw_advances_by_its_lead_over_many_turns() {
    let machine = read(
        r#"
        [[body]]
        name = "nut"
        mass = 2
        inertia = [0.01, 0.01, 0.02]
        [[screw]]
        name = "spindle"
        bodies = ["ground", "nut"]
        point = [0, 0, 0]
        lead = "5 mm"
        [[drive]]
        name = "motor"
        joint = "spindle"
        angle = { speed = "120 rpm" }
        "#,
    )
    .unwrap();
    watch(&machine, INDEX2, 0.01, 6.0, |state| {
        let turns = 2.0 * state.time;
        let nut = motion(&machine, "nut", state);
        // What Newton's iteration leaves in the constraints.
        close(nut.pose.position.z, 0.005 * turns, 1e-11, "advance");
        // Virtual work: torque times a turn is weight times the lead.
        close(reaction(&machine, "motor", state).0.z, 2.0 * G * 0.005 / TAU, 1e-6, "torque");
    });
}

#[test]
fn a_drive_that_begins_elsewhere_moves_the_machine_there_and_says_so() {
    let machine = crank(r#""30 deg""#);
    let warnings = machine.notes().texts();
    assert!(warnings[0].contains("`motor` does not fit"), "{warnings:?}");
    watch(&machine, INDEX2, 0.01, 0.0, |state| {
        let height = motion(&machine, "crank", state).pose.position.z;
        // Positions are made consistent to 1e-14 of the machine's length.
        close(height, -0.3 * 0.5, 1e-13, "height");
    });
    assert_eq!(*crank("0").notes(), Notes::default());
}

#[test]
fn a_distance_may_be_a_law_of_time() {
    let machine = read(
        r#"
        [[body]]
        name = "load"
        mass = 2
        inertia = [0.1, 0.1, 0.1]
        position = [0, 0, -2]
        [[distance]]
        name = "rope"
        bodies = ["ground", "load"]
        length = "2 - 0.1*t^2"
        "#,
    )
    .unwrap();
    watch(&machine, INDEX2, 0.01, 1.0, |state| {
        let height = motion(&machine, "load", state).pose.position.z;
        // What Newton's iteration leaves in the constraints.
        close(height, -2.0 + 0.1 * state.time * state.time, 1e-10, "height");
        close(reaction(&machine, "rope", state).1.z, 2.0 * (G + 0.2), 1e-6, "pull");
    });
}

#[test]
fn wrong_joints_gears_and_drives_are_explained() {
    let bodies = r#"
        [[body]]
        name = "a"
        mass = 1
        inertia = [1, 1, 1]
        [[body]]
        name = "b"
        mass = 1
        inertia = [1, 1, 1]
        position = [1, 0, 0]
        markers = [{ name = "tip" }]
        [[revolute]]
        name = "hinge"
        bodies = ["ground", "a"]
        point = [0, 0, 0]
        [[spherical]]
        name = "ball"
        bodies = ["ground", "b"]
        point = [0, 0, 0]
        [[planar]]
        name = "table"
        bodies = ["a", "b"]
        [[distance]]
        name = "rod"
        bodies = ["a", "b.tip"]
    "#;
    assert!(read(bodies).is_ok());
    let cases = [
        ("[[fixed]]\nbodies = [\"a\", \"a\"]", "must be two different bodies, not `a` and `a`"),
        ("[[fixed]]\nbodies = [\"b.tip\", \"b\"]", "must be two different bodies"),
        ("[[fixed]]\nbodies = [\"a\"]", "2 names"),
        ("[[revolute]]\nbodies = [\"a\", \"b\"]", "needs the key `point`"),
        ("[[revolute]]\nbodies = [\"a\", \"b.tip\"]\npoint = [0, 0, 0]", "`point` of the revolute"),
        ("[[revolute]]\nbodies = [\"a\", \"c\"]\npoint = [0, 0, 0]", "there is no body `c`"),
        ("[[revolute]]\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]\naxis = [0, 0, 0]", "of length zero"),
        ("[[planar]]\nbodies = [\"a\", \"b\"]\naxis = [0, 0, 1]\nx-axis = [0, 0, 2]", "parallel to it"),
        (
            "[[universal]]\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]\nfirst-axis = [1, 0, 0]",
            "needs the key `second-axis`",
        ),
        (
            "[[universal]]\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]\nfirst-axis = [1, 0, 0]\nsecond-axis = [1, 1, 0]",
            "at right angles to `first-axis`, not at 45.0000°",
        ),
        ("[[screw]]\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]", "needs the key `lead`"),
        ("[[screw]]\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]\nlead = 0", "a `[[revolute]]` turns without"),
        (
            "[[distance]]\nbodies = [\"a\", \"b.tip\"]\npoints = [[0, 0, 0], [1, 0, 0]]",
            "only where no marker is named, not beside the marker `b.tip`",
        ),
        (
            "[[distance]]\nbodies = [\"a\", \"b\"]\npoints = [[0, 0, 0], [0, 0, 0]]",
            "two points that lie apart",
        ),
        ("[[distance]]\nbodies = [\"a\", \"b\"]\nlength = -1", "must be positive, not -1"),
        ("[[gear]]\njoints = [\"hinge\", \"table\"]\nratio = 0", "must be another number"),
        ("[[gear]]\njoints = [\"hinge\", \"hinge\"]\nratio = 1", "`hinge` twice"),
        ("[[gear]]\njoints = [\"hinge\", \"hing\"]\nratio = 1", "there is no joint `hing`"),
        (
            "[[gear]]\njoints = [\"hinge\", \"ball\"]\nratio = 1",
            "the joint `ball` must be one with an angle, not a spherical joint, which has no free coordinate",
        ),
        ("[[coupling]]\njoints = [\"hinge\"]\nfactors = [1]", "at least two names"),
        (
            "[[coupling]]\njoints = [\"hinge\", \"table.x\"]\nfactors = [1]",
            "as many numbers as there are joints (2)",
        ),
        ("[[coupling]]\njoints = [\"hinge\", \"table.x\"]\nfactors = [1, 0]", "other than zero"),
        ("[[coupling]]\njoints = [\"hinge\", \"table\"]\nfactors = [1, 1]", "`table.x`, `table.y`"),
        ("[[drive]]\nangle = 1", "needs exactly one of `joint`, `point`"),
        ("[[drive]]\njoint = \"hinge\"\npoint = \"b.tip\"\nangle = 1", "are given"),
        ("[[drive]]\njoint = \"hinge\"", "needs exactly one of `angle`"),
        ("[[drive]]\njoint = \"crank\"\nangle = 1", "there is no joint `crank`"),
        (
            "[[drive]]\njoint = \"hinge\"\ndisplacement = 1",
            "must be one with a displacement, not a revolute joint, which has `angle`",
        ),
        (
            "[[drive]]\njoint = \"hinge.displacement\"\ndisplacement = 1",
            "there is no joint coordinate `hinge.displacement`",
        ),
        ("[[drive]]\njoint = \"hinge.displacement\"\ndisplacement = 1", "`hinge.angle`"),
        ("[[drive]]\njoint = \"ball\"\nangle = 1", "a spherical joint, which has no free coordinate"),
        ("[[drive]]\njoint = \"rod\"\ndisplacement = 1", "`length` of a distance joint may itself be a law"),
        ("[[drive]]\njoint = \"table\"\ndisplacement = 1", "needs exactly one of `table.x`"),
        ("[[drive]]\njoint = \"hinge\"\nangle = \"3 m\"", "angle (rad)"),
        ("[[drive]]\njoint = \"hinge\"\nangle = 1\npath = [0, 0, 0]", "`path` of the drive"),
        ("[[drive]]\npoint = \"ground\"\npath = [0, 0, 0]", "must be a point of a body"),
        ("[[drive]]\npoint = \"b.tip\"", "needs the key `path`"),
        ("[[drive]]\nbody = \"a\"\nangle = \"t\"\neuler = [0, 0, 0]", "exactly one of `angle`"),
        ("[[drive]]\nbody = \"a\"\neuler = [0, 0, 0]", "needs the key `sequence`"),
        ("[[drive]]\nbody = \"a\"\naxis = [0, 0, 0]\nangle = \"t\"", "of length zero"),
    ];
    for (text, expected) in cases {
        match read(&format!("{bodies}\n{text}")) {
            Ok(_) => panic!("accepted: {text}"),
            Err(message) => assert!(message.contains(expected), "{text}\n{message}\nlacks: {expected}"),
        }
    }
}
