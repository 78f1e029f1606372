//! Forces that drive a motion from a table, against closed forms and the balance of power.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use kreisel::machine::{LedMotion, Machine};
use kreisel::part::MachineReader;
use kreisel::run::{DrivingForces, Dynamics, LedMotionError};

const G: f64 = 9.80665;

/// Two links in the plane of x and z, the first turning about the origin.
const ARM: &str = r#"
    [[body]]
    name = "upper"
    mass = 3
    inertia = [0.01, 0.2, 0.2]
    position = [0.4, 0, 0]
    [[body]]
    name = "fore"
    mass = 2
    inertia = [0.01, 0.1, 0.1]
    position = [1.25, 0, 0]
    [[revolute]]
    name = "shoulder"
    bodies = ["ground", "upper"]
    point = [0, 0, 0]
    axis = [0, 1, 0]
    [[revolute]]
    name = "elbow"
    bodies = ["upper", "fore"]
    point = [1, 0, 0]
    axis = [0, 1, 0]
"#;

/// Torques of [`ARM`] by Lagrange's equations.
fn of_arm(q: [f64; 2], v: [f64; 2], a: [f64; 2]) -> [f64; 2] {
    let ([m1, m2], [c1, c2], [i1, i2], l) = ([3.0, 2.0], [0.4, 0.25], [0.2, 0.1], 1.0);
    let (cos, sin, both) = (q[1].cos(), q[1].sin(), (q[0] + q[1]).cos());
    let m11 = i1 + i2 + m1 * c1 * c1 + m2 * (l * l + c2 * c2 + 2.0 * l * c2 * cos);
    let (m12, m22) = (i2 + m2 * (c2 * c2 + l * c2 * cos), i2 + m2 * c2 * c2);
    let h = m2 * l * c2 * sin;
    [
        m11 * a[0] + m12 * a[1]
            - h * (2.0 * v[0] * v[1] + v[1] * v[1])
            - G * ((m1 * c1 + m2 * l) * q[0].cos() + m2 * c2 * both),
        m12 * a[0] + m22 * a[1] + h * v[0] * v[0] - G * m2 * c2 * both,
    ]
}

fn forces(model: &str, table: &str) -> Result<(LedMotion, DrivingForces), LedMotionError> {
    let machine = Machine::from_text("model.toml", model).unwrap();
    let motion = match LedMotion::from_text("motion.csv", table, &machine) {
        Ok(motion) => motion,
        Err(errors) => panic!("{}", errors.render(false)),
    };
    let led = MachineReader::new().led_text("model.toml", model, Some(motion.coordinates())).unwrap();
    let found = Dynamics::new(led).driving_forces(&motion)?;
    Ok((motion, found))
}

/// Numbers of a column.
fn column(found: &DrivingForces, name: &str) -> Vec<f64> {
    let place = found.channels.iter().position(|channel| channel.name == name);
    let place = place.unwrap_or_else(|| panic!("no {name}: {:?}", found.channels));
    found.rows.iter().map(|row| row[place]).collect()
}

/// A motion of the arm and its derivatives.
fn swing(t: f64) -> [[f64; 2]; 3] {
    let (a, b) = (2.0 * t, 3.0 * t + 0.5);
    [[0.3 + 0.8 * a.sin(), 0.6 * b.cos()], [1.6 * a.cos(), -1.8 * b.sin()], [-3.2 * a.sin(), -5.4 * b.cos()]]
}

#[test]
fn a_double_pendulum_is_driven_by_the_torques_of_lagranges_equations() {
    let mut table = "time [s], shoulder.angle [deg], elbow, shoulder.rate [deg/s], elbow.rate, \
                     elbow.acceleration, shoulder.angle-acceleration\n"
        .to_owned();
    for k in 0..40 {
        let t = 0.05 * f64::from(k);
        let [q, v, a] = swing(t);
        let [q0, v0] = [q[0], v[0]].map(f64::to_degrees);
        table += &format!("{t:?},{q0:?},{:?},{v0:?},{:?},{:?},{:?}\n", q[1], v[1], a[1], a[0]);
    }
    let (motion, found) = forces(ARM, &table).unwrap();
    assert_eq!(motion.coordinates(), ["shoulder.angle", "elbow.angle"]);
    let found = ["shoulder", "elbow"]
        .map(|joint| ["torque", "power"].map(|word| column(&found, &format!("{joint}.drive-{word}"))));
    for (k, &t) in motion.times().iter().enumerate() {
        let [q, v, a] = swing(t);
        let expected = of_arm(q, v, a);
        for joint in 0..2 {
            // Some hundred roundings of torques up to 60 Nm.
            assert!((found[joint][0][k] - expected[joint]).abs() < 1e-11, "{t} {joint}");
            assert!((found[joint][1][k] - expected[joint] * v[joint]).abs() < 1e-11, "{t} {joint}");
        }
    }
}

#[test]
fn rates_and_accelerations_of_the_spline_converge_with_order_two_up_to_the_ends() {
    let error = |count: u32| {
        let mut table = "time,shoulder,elbow\n".to_owned();
        for k in 0..=count {
            let t = f64::from(k) / f64::from(count);
            let [q, ..] = swing(t);
            table += &format!("{t:?},{:?},{:?}\n", q[0], q[1]);
        }
        let (motion, found) = forces(ARM, &table).unwrap();
        let torque = column(&found, "shoulder.drive-torque");
        let off = motion.times().iter().zip(torque).map(|(&t, torque)| {
            let [q, v, a] = swing(t);
            (torque - of_arm(q, v, a)[0]).abs()
        });
        off.fold(0.0, f64::max)
    };
    // Curvatures of a cubic spline are off by the square of the distance between points.
    let order = (error(40) / error(80)).log2();
    assert!((order - 2.0).abs() < 0.2, "{order}");
}

#[test]
fn joints_transmit_what_newton_and_euler_ask_for() {
    // A bob of 2 kg on 0.5 m that turns with 3 rad/s: weight, and m r ω² towards the hinge.
    let model = "[[body]]\nname = 'bob'\nmass = 2\ninertia = [0.1, 0.1, 0.1]\nposition = [0.5, 0, 0]\n\
        [[revolute]]\nname = 'hinge'\nbodies = ['ground', 'bob']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n";
    let (_, found) =
        forces(model, "time\thinge\thinge.rate\thinge.acceleration\n0\t0\t3\t0\n1.5\t7.2\t-3\t4\n").unwrap();
    let expected = [2.0 * 0.5 * 9.0, 2.0 * G];
    for (axis, expected) in [("x", -expected[0]), ("y", 0.0), ("z", expected[1])] {
        assert!((column(&found, &format!("hinge.force.{axis}"))[0] - expected).abs() < 1e-12, "{axis}");
    }
    let torque = column(&found, "hinge.drive-torque");
    assert!((torque[0] + 2.0 * G * 0.5).abs() < 1e-12);
    assert!((torque[1] - (0.6 * 4.0 - 2.0 * G * 0.5 * 7.2_f64.cos())).abs() < 1e-11, "{torque:?}");
}

#[test]
fn laws_of_time_count_at_the_times_of_the_table() {
    let model = "[[body]]\nname = 'cart'\nmass = 2\ninertia = [1, 1, 1]\nposition = [0, 0, 0]\n\
        [[prismatic]]\nname = 'rail'\nbodies = ['ground', 'cart']\npoint = [0, 0, 0]\naxis = [1, 0, 0]\n\
        [[force]]\nname = 'wind'\nbody = 'cart'\nforce = ['3*t', 0, 0]\n";
    let (_, found) =
        forces(model, "time,rail [mm],rail.rate,rail.acceleration\n0,0,0,1\n2,500,0,1\n").unwrap();
    // 2 kg · 1 m/s² without the wind, which pushes with 6 N at 2 s.
    let force = column(&found, "rail.drive-force");
    assert!((force[0] - 2.0).abs() < 1e-12 && (force[1] + 4.0).abs() < 1e-12, "{force:?}");
}

/// A crank-rocker with its weight, about skewed axes of a spherical and a universal joint, so that nothing follows
/// from anything else.
const CRANK_ROCKER: &str = r#"
    [[body]]
    name = "crank"
    mass = 2
    inertia = [0.02, 0.03, 0.04]
    position = [0, 0, 0.1]
    [[body]]
    name = "coupler"
    mass = 3
    inertia = [0.02, 0.3, 0.3]
    position = [0.5, 0, 0.3]
    [[body]]
    name = "rocker"
    mass = 4
    inertia = [0.1, 0.2, 0.1]
    position = [1, 0, 0.2]
    [[revolute]]
    name = "a"
    bodies = ["ground", "crank"]
    point = [0, 0, 0]
    axis = [0, 1, 0]
    [[revolute]]
    name = "b"
    bodies = ["ground", "rocker"]
    point = [1, 0, 0]
    axis = [0, 1, 0]
    [[universal]]
    name = "c"
    bodies = ["crank", "coupler"]
    point = [0, 0, 0.2]
    first-axis = [0, 1, 0]
    second-axis = [0, 0, 1]
    [[spherical]]
    name = "d"
    bodies = ["coupler", "rocker"]
    point = [1, 0, 0.4]
"#;

#[test]
fn a_led_four_bar_is_given_the_power_that_its_energy_gains() {
    let machine = Machine::from_text("model.toml", CRANK_ROCKER).unwrap();
    // Two turns and a half, faster and faster; steps so fine that Simpson's rule is exact to 1e-8.
    let (count, end) = (1600, 2.0);
    let angle = |t: f64| [3.0 * t + 2.4 * t * t, 3.0 + 4.8 * t, 4.8];
    let mut table = "time,a,a.rate,a.acceleration\n".to_owned();
    for k in 0..=count {
        let t = end * f64::from(k) / f64::from(count);
        let [q, v, a] = angle(t);
        table += &format!("{t:?},{q:?},{v:?},{a:?}\n");
    }
    let motion = LedMotion::from_text("motion.csv", &table, &machine).unwrap();
    let led = MachineReader::new().led_text("model.toml", CRANK_ROCKER, Some(motion.coordinates())).unwrap();
    let dynamics = Dynamics::new(led);
    let found = dynamics.driving_forces(&motion).unwrap();
    let power = column(&found, "a.drive-power");
    let mut at = dynamics.evaluator();
    let mut energy = |place: usize| {
        let [q, v, _] = angle(motion.times()[place]);
        at.set_state(&[q], &[v]).unwrap();
        let energies = at.energies();
        energies.kinetic + energies.potential
    };
    let first = energy(0);
    let (mut work, mut largest) = (0.0, 0.0_f64);
    for place in (2..=count as usize).step_by(2) {
        let step = motion.times()[place] - motion.times()[place - 2];
        work += step / 6.0 * (power[place - 2] + 4.0 * power[place - 1] + power[place]);
        let gained = energy(place) - first;
        largest = largest.max(gained);
        assert!((work - gained).abs() < 1e-6, "{place}: {work} {gained}");
    }
    // The test would hold for a machine that gains nothing.
    assert!(largest > 10.0, "{largest}");
}

#[test]
fn forces_of_coordinates_that_depend_on_each_other_are_the_smallest() {
    // Two hinges on one axis in line hold the same wheel: each takes half.
    let model = "[[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 0]\n\
        [[revolute]]\nname = 'left'\nbodies = ['ground', 'wheel']\npoint = [0, -1, 0]\naxis = [0, 1, 0]\n\
        [[revolute]]\nname = 'right'\nbodies = ['ground', 'wheel']\npoint = [0, 1, 0]\naxis = [0, 1, 0]\n";
    let (_, found) = forces(
        model,
        "time;left;right;left.rate;right.rate;left.acceleration;right.acceleration\n0;0;0;0;0;5;5\n",
    )
    .unwrap();
    for joint in ["left", "right"] {
        let torque = column(&found, &format!("{joint}.drive-torque"));
        assert!((torque[0] - 2.5).abs() < 1e-9, "{torque:?}");
    }
}

#[test]
fn tables_that_make_no_sense_are_refused_with_their_line() {
    let machine = Machine::from_text("model.toml", ARM).unwrap();
    let refused = |table: &str, line: usize, words: &[&str]| {
        let message = LedMotion::from_text("motion.csv", table, &machine).unwrap_err().render(false);
        assert!(message.contains(&format!("motion.csv:{line}:")), "{message}");
        words.iter().for_each(|word| assert!(message.contains(word), "{word}: {message}"));
    };
    refused("", 1, &["empty"]);
    refused("time,sholder.angle\n0,1\n", 1, &["no coordinate `sholder.angle`", "`shoulder.angle`"]);
    refused("time,mast\n0,1\n", 1, &["no coordinate `mast`", "`elbow.angle`"]);
    refused("time\n0\n", 1, &["no column is a coordinate"]);
    refused("elbow\n0\n", 1, &["no column `time`"]);
    refused("time,elbow,elbow.angle\n0,1,1\n", 1, &["there twice"]);
    refused("time,elbow [m]\n0,1\n1,1\n", 1, &["cannot be in m", "rad"]);
    refused("time,elbow.rate\n0,1\n1,1\n", 1, &["not the coordinate itself"]);
    refused("time,elbow\n# a comment\n0,1\n1,NaN\n", 4, &["finite number", "`NaN`"]);
    refused("time,elbow\n0,1\n1,2\n0.5,3\n", 4, &["ascend", "0.5 follows 1"]);
    refused("time,elbow\n0,1\n0,2\n", 3, &["ascend"]);
    refused("time,elbow\n0,1\n1\n", 3, &["2 columns", "here are 1"]);
    refused("time,elbow\n0,1\n", 1, &["two times"]);
}

#[test]
fn loops_that_cannot_reach_are_told_with_time_and_line() {
    // The rocker of the crank-rocker cannot turn round.
    let error = forces(CRANK_ROCKER, "time,b\n0,0\n1,0.1\n2,3.1\n").unwrap_err();
    assert_eq!(error.line, 4, "{error}");
    let message = error.to_string();
    assert!(message.contains("t = 2 s") && message.contains("cannot reach"), "{message}");
}
