//! Machines in a plane: they move as in space, without redundant equations, and parts that leave the plane are refused.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, read, within};
use kreisel::machine::{Machine, Mobility};
use kreisel::run::Trajectory;

/// The machine with a plane and without.
fn both(text: &str, plane: &str) -> [Machine; 2] {
    let flat = text.replace("[simulation]", &format!("[simulation]\nplanar = \"{plane}\""));
    [flat.as_str(), text].map(|text| read(text).unwrap())
}

fn implied(machine: &Machine) -> usize {
    let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
    mobility.implied.iter().map(|(_, count)| count).sum()
}

/// Signals are the same in the plane and in space: the equations are, and Newton's iteration leaves this much of them.
fn assert_same(runs: &[Trajectory; 2], signals: &[&str]) {
    for signal in signals {
        let [flat, spatial] = [0, 1].map(|run: usize| column(&runs[run], signal));
        let size = spatial.iter().fold(1e-3_f64, |size, value| size.max(value.abs()));
        assert_eq!(flat.len(), spatial.len());
        let apart = flat.iter().zip(spatial).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        within(signal, apart / size, 1e-7);
    }
}

fn run_both(machines: &[Machine; 2]) -> [Trajectory; 2] {
    [0, 1].map(|machine: usize| machines[machine].simulate().unwrap())
}

#[test]
fn a_four_bar_in_a_plane_has_no_redundant_equations_and_moves_as_in_space() {
    let text =
        include_str!("../../../../models/four-bar.toml").replace("end-time = 2", "end-time = 1\nstep = 2e-3");
    let machines = both(&text, "xy");
    // The spatial one has three for the plane; four hinges and three planes have 17, of 18 coordinates, and a motor.
    assert_eq!(machines.each_ref().map(implied), [0, 3]);
    let runs = run_both(&machines);
    let reactions = ["b.force.x", "b.force.y", "d.force.x", "motor.torque.z"];
    assert_same(
        &runs,
        &[&["d.angle", "c.angle", "coupler.position.x", "rocker.position.y"], &reactions[..]].concat(),
    );
}

/// A cart on a slide, with a pole on a hinge that rubs, in the plane of x and z; the slide's own x axis points anywhere.
const CART: &str = r#"
[simulation]
end-time = 1
step = 2e-3
[[body]]
name = "cart"
mass = 2
inertia = [1, 1, 1]
velocity = [0.5, 0, 0]
[[body]]
name = "pole"
mass = 1
inertia = [0.1, 0.2, 0.3]
position = [0.3, 0, 0.4]
orientation = { axis = [0, 1, 0], angle = 0.3 }
[[point-mass]]
name = "bob"
mass = 0.5
position = [0.6, 0, 0.1]
[[prismatic]]
name = "rail"
bodies = ["ground", "cart"]
axis = [1, 0, 0]
x-axis = [0, 0.6, 0.8]
[[revolute]]
name = "hinge"
bodies = ["cart", "pole"]
point = [0, 0, 0]
axis = [0, 1, 0]
[[distance]]
name = "rope"
bodies = ["pole", "bob"]
[[joint-friction]]
joint = "hinge"
friction = 0.2
radius = 0.05
transition-rate = 0.1
[[joint-friction]]
joint = "rail"
friction = 0.1
transition-speed = 0.01
"#;

#[test]
fn slides_point_masses_and_friction_are_the_same_in_a_plane() {
    let machines = both(CART, "xz");
    assert_eq!(machines.each_ref().map(implied), [0, 0]);
    // In space the bob may swing out of the plane, which it does not.
    let free = machines.each_ref().map(|machine| {
        Mobility::new(machine.system(), 0.0, &machine.initial().configuration).degrees_of_freedom()
    });
    assert_eq!(free, [3, 4]);
    let runs = run_both(&machines);
    let forces = ["hinge.force.x", "hinge.force.z", "rail.force.z", "rail.torque.y"];
    assert_same(&runs, &[&["rail.displacement", "hinge.angle", "bob.position.z"], &forces[..]].concat());
}

/// Two bars in layers of their own, 5 cm apart.
const BARS: &str = r#"
[simulation]
end-time = 1
step = 2e-3
[[body]]
name = "upper"
mass = 1
inertia = [1, 1, 1]
position = [0.5, 0, 0]
[[body]]
name = "lower"
mass = 1
inertia = [1, 1, 1]
position = [1.5, 0.05, 0]
[[revolute]]
name = "shoulder"
bodies = ["ground", "upper"]
point = [0, 0, 0]
axis = [0, 1, 0]
angle = 0.3
[[revolute]]
name = "elbow"
bodies = ["upper", "lower"]
point = [1, 0.02, 0]
axis = [0, -1, 0]
angle = 1.0
rate = 2
"#;

#[test]
fn coordinates_are_stated_in_a_plane_as_in_space() {
    let runs = run_both(&both(BARS, "xz"));
    within("shoulder", (column(&runs[0], "shoulder.angle")[0] - 0.3).abs(), 1e-12);
    within("elbow", (column(&runs[0], "elbow.angle")[0] - 1.0).abs(), 1e-12);
    assert_same(
        &runs,
        &["shoulder.angle", "elbow.angle-rate", "lower.position.x", "lower.position.y", "elbow.force.z"],
    );
}

#[test]
fn a_plane_of_every_name_is_that_of_its_axes() {
    // A body that falls in its plane and is held across it.
    for (plane, falls) in [("xz", true), ("yz", true), ("xy", false)] {
        let text = format!(
            "[simulation]\nend-time = 1\nplanar = '{plane}'\n[[body]]\nname = 'stone'\nmass = 1\ninertia = [1, 2, 3]"
        );
        let machine = read(&text).unwrap();
        let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
        assert_eq!(mobility.degrees_of_freedom(), 3, "{plane}");
        let run = machine.simulate().unwrap();
        let fallen = column(&run, "stone.position.z").last().unwrap() + 0.5 * 9.80665;
        // Parabolas are exact.
        within(plane, if falls { fallen.abs() } else { (fallen - 0.5 * 9.80665).abs() }, 1e-9);
    }
}

#[test]
fn what_leaves_the_plane_is_refused_by_name_and_line() {
    let base =
        "[simulation]\nend-time = 1\nplanar = 'xz'\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\n";
    assert!(read(base).is_ok());
    let cases = [
        ("velocity = [0, 1, 0]", "`velocity`"),
        ("angular-velocity = [0, 1, 0.1]", "`angular-velocity`"),
        (
            "[[revolute]]\nname = 'odd'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0.1]",
            "`odd`",
        ),
        ("[[prismatic]]\nname = 'odd'\nbodies = ['ground', 'arm']\naxis = [0, 1, 0]", "`odd`"),
        ("[[universal]]\nname = 'odd'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]", "`odd`"),
        (
            "[[screw]]\nname = 'odd'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\nlead = 1",
            "`odd`",
        ),
        ("[[rolling]]\nname = 'odd'\nbodies = ['ground', 'arm']\nshape = 'sphere'\nradius = 1", "`odd`"),
        ("[[knife-edge]]\nname = 'odd'\nbodies = ['ground', 'arm']\npoint = [1, 0, 0]", "`odd`"),
        ("[[force]]\nname = 'odd'\nbody = 'arm'\nforce = [1, 't', 0]", "`odd`"),
        ("[[force]]\nname = 'odd'\nbody = 'arm'\ntorque = [1, 0, 0]", "`odd`"),
        ("[[drive]]\nname = 'odd'\npoint = 'arm'\npath = ['t', 0, 0]", "`odd`"),
    ];
    for (more, name) in cases {
        let error = read(&format!("{base}{more}\n")).err().unwrap_or_default();
        assert!(
            error.contains(name) && error.contains("plane") && error.contains("model.toml:"),
            "{more}: {error}"
        );
    }
    let beam = "[[beam]]\nname = 'rod'\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nelements = 2\n\
        section = { shape = 'circle', radius = 0.1, youngs-modulus = 1e6, poisson-ratio = 0.3, density = 1000 }";
    let error = read(&format!("{base}{beam}\n")).err().unwrap();
    assert!(error.contains("`rod`") && error.contains("plane xz"), "{error}");
    let good = "[[force]]\nname = 'push'\nbody = 'arm'\nforce = [1, 0, 't']\ntorque = [0, 2, 0]\n";
    assert!(read(&format!("{base}{good}")).is_ok());
}
