//! Tyres against closed forms: the brush's curves, a car that turns, brakes, stands on a slope and drives over waves.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, last, read, within};
use kreisel::lie::Vector3;
use kreisel::results::mesh::rotated;
use kreisel::results::scene::{Geometry, Scene, SceneFrame, SceneMesh, SceneSurface};
use kreisel::run::Trajectory;

const RADIUS: f64 = 0.3;
const STIFFNESS: f64 = 2e5;
const ALONG: f64 = 8e4;
const ACROSS: f64 = 6e4;

fn run(text: &str) -> Trajectory {
    read(text).unwrap().simulate().unwrap()
}

/// Keys of the tyre of these tests.
fn tyre(wheel: &str, more: &str) -> String {
    format!(
        "[[tyre]]
        name = '{wheel}-tyre'
        bodies = ['ground', '{wheel}']
        radius = {RADIUS}
        vertical-stiffness = {STIFFNESS}
        longitudinal-stiffness = {ALONG}
        cornering-stiffness = {ACROSS}
        {more}
        "
    )
}

/// A wheel that is led along x at 10 m/s with a slip and a slip angle in degrees, pressed in by 20 mm: what the tyre
/// carries along, across and about the normal.
fn led(slip: f64, angle: f64, more: &str) -> [f64; 3] {
    let (deflection, speed) = (0.02, 10.0);
    let (sine, cosine) = angle.to_radians().sin_cos();
    // Slip counts by the rolling speed.
    let turning = speed * cosine / (1.0 - slip) / (RADIUS - deflection / 3.0);
    let height = RADIUS - deflection;
    let model = format!(
        "[simulation]
        end-time = 0.5
        step = 1e-3
        [[body]]
        name = 'car'
        mass = 1
        inertia = [1, 1, 1]
        position = [0, 0, {height}]
        [[body]]
        name = 'wheel'
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        position = [0, 0, {height}]
        [[prismatic]]
        name = 'way'
        bodies = ['ground', 'car']
        axis = [1, 0, 0]
        [[revolute]]
        name = 'axle'
        bodies = ['car', 'wheel']
        point = [0, 0, {height}]
        axis = [{}, {cosine}, 0]
        [[drive]]
        joint = 'way'
        displacement = '{speed}*t'
        [[drive]]
        joint = 'axle'
        angle = '{turning}*t'
        {}",
        -sine,
        tyre("wheel", &format!("wheel-axis = [{}, {cosine}, 0]\n{more}", -sine))
    );
    let run = run(&model);
    ["longitudinal-force", "lateral-force", "aligning-torque"]
        .map(|signal| last(&run, &format!("wheel-tyre.{signal}")))
}

/// The brush in its classical form, with sliding from 3 μ N on, for a contact of 160 mm.
fn brush(slip: f64, angle: f64, friction: f64) -> [f64; 3] {
    let load = STIFFNESS * 0.02;
    // The rolling speed is V cos α/(1 − slip).
    let wanted = [ALONG * slip, ACROSS * angle.to_radians().tan() * (1.0 - slip)];
    let theta = wanted[0].hypot(wanted[1]) / (3.0 * friction * load);
    let sliding = (1.0 - theta).max(0.0).powi(3);
    let force = friction * load * (1.0 - sliding);
    let [along, across] = wanted.map(|part| part / wanted[0].hypot(wanted[1]));
    [force * along, force * across, -friction * load * 0.08 * theta * sliding * across]
}

#[test]
fn steady_forces_are_those_of_the_brush() {
    for (slip, angle) in
        [(0.0, 1.0), (0.0, 6.0), (0.04, 0.0), (-0.05, 2.0), (0.1, -5.0), (0.5, 0.0), (0.1, 25.0)]
    {
        let found = led(slip, angle, "friction = 0.9\ncontact-length = '160 mm'");
        let expected = brush(slip, angle, 0.9);
        for (found, expected) in found.iter().zip(expected) {
            // Sixteen relaxation lengths have passed, e^-16.
            within(&format!("{slip} {angle}"), (found - expected).abs(), 1e-5 * 3600.0);
        }
    }
}

#[test]
fn slip_stiffnesses_follow_the_load_where_one_is_named() {
    let small = "friction = 50\ncontact-length = '160 mm'";
    let fixed = led(0.001, 0.1, small);
    let followed = led(0.001, 0.1, &format!("{small}\nnominal-load = 2000"));
    for k in 0..3 {
        // 4000 N are twice the nominal load; of g = 3e-4 the brush leaves out as much.
        within("twice", (followed[k] / fixed[k] - 2.0).abs(), 2e-3);
    }
}

#[test]
fn a_locked_wheel_brakes_by_friction_and_then_stands() {
    // 400 kg on a wheel that does not turn: the way is v²/(2 μ g).
    let (speed, friction, g) = (10.0, 0.8, 9.80665);
    let sunk = RADIUS - 400.0 * g / STIFFNESS;
    let sledge = sledge(sunk, speed, "", friction);
    let run = run(&format!("[simulation]\nend-time = 8\nrtol = 1e-5\n{sledge}"));
    let way = speed * speed / (2.0 * friction * g);
    // On the first 3 μ N σ/C = 35 mm less than all friction acts, a quarter less if nothing is damped.
    let farthest = column(&run, "wheel.position.x").iter().copied().fold(f64::MIN, f64::max);
    assert!((-1e-3..0.25 * 0.036).contains(&(farthest - way)), "{farthest} {way}");
    // It swings back, and has stood for eleven times the time in which the swing falls to 37 %.
    within("rest", last(&run, "v.velocity.x").abs(), 1e-4);
    let middle = run.times.iter().position(|time| *time > 0.5).unwrap();
    let middle = column(&run, "wheel-tyre.longitudinal-force")[middle];
    within("force", (middle / (-friction * 400.0 * g) - 1.0).abs(), 1e-3);
}

/// A wheel of 400 kg that moves along x and does not turn.
fn sledge(height: f64, speed: f64, more: &str, friction: f64) -> String {
    format!(
        "{more}
        [[body]]
        name = 'wheel'
        mass = 400
        inertia = [10, 10, 10]
        position = [0, 0, {height}]
        velocity = [{speed}, 0, 0]
        [[prismatic]]
        bodies = ['ground', 'wheel']
        axis = [1, 0, 0]
        [[sensor]]
        name = 'v'
        of = 'wheel'
        quantity = 'velocity'
        {}",
        tyre("wheel", &format!("friction = {friction}\nwheel-axis = [0, 1, 0]"))
    )
}

#[test]
fn a_wheel_on_a_slope_stands_without_creep() {
    let (friction, load, push) = (0.8, 4000.0, 400.0);
    let slope = "[gravity]\nacceleration = [1, 0, -9.8]";
    let sledge = sledge(RADIUS - load / STIFFNESS, 0.0, slope, friction);
    let run = run(&format!("[simulation]\nend-time = 12\nrtol = 1e-5\n{sledge}"));
    // φ F̂ = 400 N: 1 − (1 − g)³ is the part of μ N, and the carcass is bent by 3 μ N g σ/C.
    let part = 1.0 - (1.0 - push / (friction * load)).cbrt();
    let bent = 3.0 * friction * load * part * RADIUS / ALONG;
    within("place", (last(&run, "wheel.position.x") - bent).abs(), 1e-3 * bent);
    // At 10 s the swing has fallen by e^-16; friction by the speed alone would creep.
    let since = run.times.iter().position(|time| *time > 10.0).unwrap();
    let way = last(&run, "wheel.position.x") - column(&run, "wheel.position.x")[since];
    within("creep", way.abs() / (12.0 - run.times[since]), 1e-8);
}

#[test]
fn a_car_turns_as_the_bicycle_says() {
    let (mass, front, rear, steer, speed) = (1500.0, 1.2, 1.4, 0.5_f64.to_radians(), 20.0);
    let height = RADIUS - 0.02;
    let turning = speed / (RADIUS - 0.02 / 3.0);
    let wheel = |name: &str, place: f64, angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        format!(
            "[[body]]
            name = '{name}'
            mass = 1
            inertia = [0.05, 0.05, 0.05]
            position = [{place}, 0, {height}]
            velocity = [{speed}, 0, 0]
            angular-velocity = [{}, {}, 0]
            [[revolute]]
            bodies = ['car', '{name}']
            point = [{place}, 0, {height}]
            axis = [{}, {cosine}, 0]
            {}",
            -sine * turning,
            cosine * turning,
            -sine,
            tyre(
                name,
                &format!("friction = 500\ncontact-length = '1 mm'\nwheel-axis = [{}, {cosine}, 0]", -sine)
            )
        )
    };
    let run = run(&format!(
        "[simulation]
        end-time = 5
        rtol = 1e-5
        [[body]]
        name = 'car'
        mass = {mass}
        inertia = [500, 2000, 2200]
        position = [0, 0, {height}]
        velocity = [{speed}, 0, 0]
        [[planar]]
        bodies = ['ground', 'car']
        axis = [0, 0, 1]
        [[sensor]]
        name = 'v'
        of = 'car'
        quantity = 'velocity'
        [[sensor]]
        name = 'w'
        of = 'car'
        quantity = 'angular-velocity'
        {}{}",
        wheel("front", front, steer),
        wheel("rear", -rear, 0.0)
    ));
    let [x, y] = ["x", "y"].map(|axis| last(&run, &format!("v.velocity.{axis}")));
    let (speed, base, mass) = (x.hypot(y), front + rear, mass + 2.0);
    let understeer = mass / base * (rear / ACROSS - front / ACROSS);
    let expected = speed * steer / (base + understeer * speed * speed);
    // Angles of 1.5°, and what the brush leaves out, 1e-4.
    within("yaw rate", (last(&run, "w.angular-velocity.z") / expected - 1.0).abs(), 2e-3);
    within(
        "slip angle",
        (last(&run, "rear-tyre.slip-angle") * ACROSS / (mass * speed * expected * front / base) - 1.0).abs(),
        5e-3,
    );
}

#[test]
fn a_wheel_follows_waves_of_the_road_as_a_spring_and_a_damper_do() {
    let (mass, damping, speed, number, wave) = (100.0, 500.0, 10.0, std::f64::consts::PI, 1e-4);
    let sunk = mass * 9.80665 / STIFFNESS;
    let height = RADIUS - sunk;
    let run = run(&format!(
        "[simulation]
        end-time = 5
        rtol = 1e-6
        [[body]]
        name = 'car'
        mass = 1
        inertia = [1, 1, 1]
        position = [0, 0, {height}]
        [[body]]
        name = 'axle'
        mass = {}
        inertia = [1, 1, 1]
        position = [0, 0, {height}]
        [[body]]
        name = 'wheel'
        mass = 1
        inertia = [0.02, 0.02, 0.02]
        position = [0, 0, {height}]
        angular-velocity = [0, {}, 0]
        [[prismatic]]
        name = 'way'
        bodies = ['ground', 'car']
        axis = [1, 0, 0]
        [[prismatic]]
        bodies = ['car', 'axle']
        axis = [0, 0, 1]
        [[revolute]]
        bodies = ['axle', 'wheel']
        point = [0, 0, {height}]
        axis = [0, 1, 0]
        [[drive]]
        joint = 'way'
        displacement = '{speed}*t'
        {}",
        mass - 1.0,
        speed / (RADIUS - sunk / 3.0),
        tyre(
            "wheel",
            &format!(
                "vertical-damping = {damping}\nwheel-axis = [0, 1, 0]\nheight = '{wave}*sin({number}*x)'"
            )
        )
    ));
    // Damping begins within a thousandth of the radius.
    let damping = damping * sunk / (sunk + 1e-3 * RADIUS);
    let rate = number * speed;
    let (stiff, lossy) = (STIFFNESS - mass * rate * rate, damping * rate);
    let ratio = STIFFNESS.hypot(lossy) / stiff.hypot(lossy);
    let heights = column(&run, "axle.position.z");
    let last = &heights[heights.len() * 9 / 10..];
    let size =
        0.5 * (last.iter().fold(f64::MIN, |a, b| a.max(*b)) - last.iter().fold(f64::MAX, |a, b| a.min(*b)));
    // Damping changes with the deflection by 0.2 %, and 25 output times stand in a wave.
    within("height", (size / (ratio * wave) - 1.0).abs(), 0.02);
}

#[test]
fn a_tyre_needs_a_wheel_that_can_move_and_stands() {
    let model = |bodies: &str, axis: &str| {
        let tyre = tyre("wheel", &format!("wheel-axis = {axis}")).replace("['ground', 'wheel']", bodies);
        format!(
            "[[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, {RADIUS}]\n{tyre}"
        )
    };
    for (bodies, axis, words) in [
        ("['wheel', 'ground']", "[0, 1, 0]", "name the road first"),
        ("['ground', 'wheel']", "[0, 0, 1]", "a wheel that stands on the road"),
    ] {
        let Err(message) = read(&model(bodies, axis)) else { panic!("{bodies} {axis} is taken") };
        assert!(message.contains(words), "{message}");
    }
}

/// A wheel on its tyre, with what the model says about its shape and more keys of the tyre.
fn wheel(shape: &str, more: &str) -> Scene {
    let tyre = tyre("wheel", &format!("wheel-axis = [0, 1, 0]\n{more}"));
    read(&format!(
        "[[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nposition = [2, 0, {RADIUS}]\n{shape}\n{tyre}"
    ))
    .unwrap()
    .scene()
}

/// The cylinder of a tyre: its radius, as wide as tyres are, about y.
fn assert_tyre(geometry: &Geometry<SceneMesh>, frame: &SceneFrame) {
    let Geometry::Cylinder { radius, length } = geometry else { panic!("{geometry:?}") };
    assert!(*radius == RADIUS && *length > 0.4 * RADIUS && *length < RADIUS, "{geometry:?}");
    assert_eq!(frame.position, [0.0; 3]);
    let axis = Vector3::from(rotated(frame.rotation, [0.0, 0.0, 1.0]));
    within("axis", (axis - Vector3::y()).norm(), 1e-15);
}

#[test]
fn a_wheel_is_drawn_with_its_tyre_on_its_road() {
    // One ball of the inertia would be five times as large.
    let scene = wheel("", "");
    let [shape] = scene.bodies[0].shapes.as_slice() else { panic!("{scene:?}") };
    assert_tyre(&shape.geometry, &shape.frame);
    let [SceneSurface { geometry: None, node: None, frame, .. }] = scene.surfaces.as_slice() else {
        panic!("{scene:?}")
    };
    assert_eq!(*frame, SceneFrame::default());
    // A rim lies inside of its tyre.
    let cylinder =
        |part: f64| format!("shape = {{ kind = 'cylinder', radius = {}, length = 0.1 }}", part * RADIUS);
    let scene = wheel(&cylinder(0.7), "");
    assert!(
        matches!(scene.bodies[0].shapes[0].geometry, Geometry::Cylinder { radius, .. } if radius < RADIUS)
    );
    let [SceneSurface { geometry: Some(geometry), node: Some(0), frame, .. }, _] = scene.surfaces.as_slice()
    else {
        panic!("{scene:?}")
    };
    assert_tyre(geometry, frame);
    // What is as large is seen as it is, with the road alone beside it.
    assert_eq!(wheel(&cylinder(1.0), "").surfaces.len(), 1);
}

#[test]
fn a_wavy_road_is_drawn_at_its_height_under_the_wheel() {
    let strip = |height: &str| {
        let tyre = tyre(
            "wheel",
            &format!("wheel-axis = [0, 1, 0]\ndirection = [0, -1, 0]\npoint = [0, 0, 1]\nheight = {height}"),
        )
        .replace("wheel-axis = [0, 1, 0]", "wheel-axis = [1, 0, 0]");
        let scene = read(&format!(
            "[[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nposition = [2, 3, {}]\n{tyre}",
            1.0 + RADIUS
        ))
        .unwrap()
        .scene();
        let [SceneSurface { geometry: Some(Geometry::Mesh(mesh)), node: None, .. }] =
            scene.surfaces.as_slice()
        else {
            panic!("{scene:?}")
        };
        mesh.clone()
    };
    // x counts along −y from the point, so that the wheel starts at −3 and, to the left of that way, at 2.
    let mesh = strip("'0.05*sin(2*x)'");
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for [x, y, z] in mesh.points.iter().map(|point| point.map(f64::from)) {
        (least, most) = (least.min(x), most.max(x));
        within("side", ((y - 2.0).abs() - 0.6 * RADIUS).abs(), 1e-6);
        // Single precision of x at 60 m, times the slope.
        within("height", (z - 0.05 * (2.0 * x).sin()).abs(), 1e-6);
    }
    within("middle", (0.5 * (least + most) + 3.0).abs(), 1e-5);
    assert_eq!(mesh.triangles.len(), mesh.points.len() - 2);
    // Seen from above.
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|corner| Vector3::from(mesh.points[corner as usize].map(f64::from)));
        assert!((b - a).cross(&(c - a)).z > 0.0, "{corners:?}");
    }
    // Where there is no height there is no road.
    let half = strip("'sqrt(x)'");
    assert!(half.points.iter().all(|point| point[0] >= 0.0) && !half.triangles.is_empty());
}
