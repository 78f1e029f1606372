//! One name for a quantity in expressions, sensors and events: what each of them shows is the same number.

use super::{NO_GRAVITY, machine, read};
use crate::common::{column, last, within};
use kreisel::run::Trajectory;

/// A body that flies and turns about all axes, with a marker, beside a hinge, a slide, a spring and a beam.
const MACHINE: &str = "
[simulation]
end-time = 0.3
step = 1e-3
method = 'index2'
[[body]]
name = 'top'
mass = 2
inertia = [0.1, 0.2, 0.25]
position = [0.1, 0.2, 0.3]
orientation = { axis = [1, 2, 3], angle = 0.7 }
velocity = [0.3, -0.2, 1]
angular-velocity = [2, -3, 4]
markers = [{ name = 'tip', position = [0.2, 0.1, -0.3], orientation = { axis = [0, 1, 1], angle = 0.5 } }]
[[body]]
name = 'arm'
mass = 1
inertia = [0.02, 0.03, 0.04]
position = [2.5, 0, 0]
[[revolute]]
name = 'hinge'
bodies = ['ground', 'arm']
point = [2, 0, 0]
axis = [0, 1, 0]
[[body]]
name = 'cart'
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0, 5, 0]
[[prismatic]]
name = 'slide'
bodies = ['ground', 'cart']
point = [0, 5, 0]
axis = [1, 0, 0]
[[spring-damper]]
name = 'spring'
bodies = ['ground', 'cart']
points = [[-1, 5, 0], [0, 5, 0]]
stiffness = 20
free-length = 0.7
";

/// Names of quantities that forces may use, each with the sensor that shows it.
fn quantities() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, of: &str, quantity: &str| {
        all.push((name, format!("[[sensor]]\nof = '{of}'\nquantity = '{quantity}'\n")));
    };
    for point in ["top", "top.tip", "arm", "cart"] {
        for quantity in ["position", "velocity", "angular-velocity", "rotation-vector"] {
            for axis in ["x", "y", "z"] {
                add(format!("{point}.{quantity}.{axis}"), point, quantity);
            }
        }
        for angle in ["angle-x", "angle-y", "angle-z"] {
            add(format!("{point}.{angle}"), point, angle);
        }
    }
    for (of, quantity) in [
        ("hinge", "angle"),
        ("hinge", "angle-rate"),
        ("slide", "displacement"),
        ("slide", "displacement-rate"),
        ("spring", "length"),
        ("spring", "length-rate"),
    ] {
        add(format!("{of}.{quantity}"), of, quantity);
    }
    all
}

#[test]
fn a_quantity_has_one_name_in_sensors_expressions_and_forces() {
    let (mut sensors, mut expressions, mut asked, mut forces) =
        (String::new(), String::new(), String::new(), String::new());
    for (index, (name, sensor)) in quantities().iter().enumerate() {
        if !sensors.contains(sensor.as_str()) {
            sensors.push_str(sensor);
        }
        expressions.push_str(&format!("e{index} = '2*{name} + t'\n"));
        asked.push_str(&format!("[[sensor]]\nquantity = 'e{index}'\n"));
        // It is far too small to move anything.
        forces.push_str(&format!("[[force]]\nbody = 'arm'\nforce = ['1e-30*{name}', 0, 0]\n"));
    }
    let text = format!("{MACHINE}[expressions]\n{expressions}\n{sensors}{asked}{forces}");
    let run = machine(&text).simulate().unwrap();
    let time = run.times.to_vec();
    for (index, (name, _)) in quantities().iter().enumerate() {
        let (shown, computed) = (column(&run, name).to_vec(), column(&run, &format!("e{index}")));
        for ((shown, computed), time) in shown.iter().zip(computed).zip(&time) {
            within(name, (2.0 * shown + time - computed).abs(), 1e-14 * (1.0 + shown.abs()));
        }
    }
}

#[test]
fn what_depends_on_forces_is_refused_in_forces_with_words_and_allowed_in_sensors() {
    for (name, hint) in [
        ("top.acceleration.x", "added mass"),
        ("top.tip.angular-acceleration.z", "added mass"),
        ("hinge.force.x", "reactions are known only after the forces"),
        ("hinge.torque.y", "reactions are known only after the forces"),
        ("top.momentum.x", "`velocity`"),
        ("top.orientation.w", "`rotation-vector`"),
        ("spring.force", "what it depends on"),
        ("momentum.x", "`velocity`"),
    ] {
        let force = format!("{MACHINE}[[force]]\nbody = 'arm'\nforce = ['{name}', 0, 0]\n");
        let message = read(&force).map(drop).unwrap_err();
        assert!(message.contains("of time, positions, velocities and states"), "{name}: {message}");
        assert!(message.contains(hint), "{name}: {message}");
        let shown = format!(
            "{MACHINE}[expressions]\nshown = '3*{name}'\n[[sensor]]\nquantity = 'shown'\nunit = 'N'\n"
        );
        let run = machine(&shown).simulate().unwrap();
        assert!(column(&run, "shown").iter().all(|value| value.is_finite()), "{name}");
    }
}

#[test]
fn an_expression_of_a_reaction_is_the_reaction_and_counts_turns() {
    let text = format!(
        "{MACHINE}[expressions]\npull = 'hinge.force.z - top.acceleration.z'\nturns = 'hinge.angle/(2*pi) + top.angle-z'\n\
         [[joint-force]]\njoint = 'hinge'\ntorque = 400\n\
         [[sensor]]\nof = 'top'\nquantity = 'acceleration'\n[[sensor]]\nof = 'top'\nquantity = 'angle-z'\n\
         [[sensor]]\nquantity = 'pull'\nunit = 'N'\n[[sensor]]\nname = 'count'\nquantity = 'turns'\n"
    )
    .replace("end-time = 0.3", "end-time = 1");
    let run = machine(&text).simulate().unwrap();
    let pull = column(&run, "pull").to_vec();
    let parts = [column(&run, "hinge.force.z").to_vec(), column(&run, "top.acceleration.z").to_vec()];
    for (row, pull) in pull.iter().enumerate() {
        within("pull", (parts[0][row] - parts[1][row] - pull).abs(), 1e-9 * (1.0 + pull.abs()));
    }
    let turns = last(&run, "hinge.angle") / std::f64::consts::TAU;
    assert!(turns > 50.0, "400 N m turn 0.29 kg m² by 690 rad in a second: {turns}");
    within("turns", (last(&run, "count.turns") - turns - last(&run, "top.angle-z")).abs(), 1e-9);
}

/// The largest difference of a signal from an angle over time.
fn off(run: &Trajectory, signal: &str, expected: impl Fn(f64) -> f64) -> f64 {
    let rows = column(run, signal).iter().zip(&run.times);
    rows.map(|(value, time)| (value - expected(*time)).abs()).fold(0.0, f64::max)
}

#[test]
fn angles_of_a_body_count_its_turns_about_each_axis() {
    for (axis, word) in ["angle-x", "angle-y", "angle-z"].into_iter().enumerate() {
        let rate = |index: usize| if index == axis { 30.0 } else { 0.0 };
        let text = format!(
            "{NO_GRAVITY}[simulation]\nend-time = 2\nstep = 1e-2\nmethod = 'index2'\n\
             [[body]]\nname = 'wheel'\nmass = 1\ninertia = [1, 1, 1]\nangular-velocity = [{}, {}, {}]\n\
             [[body]]\nname = 'frame'\nmass = 1\ninertia = [1, 1, 1]\nangular-velocity = [{}, {}, {}]\n\
             [[sensor]]\nof = 'wheel'\nquantity = '{word}'\n\
             [[sensor]]\nname = 'spin'\nof = 'wheel'\nquantity = '{word}'\nrelative-to = 'frame'\n",
            rate(0),
            rate(1),
            rate(2),
            -rate(0),
            -rate(1),
            -rate(2),
        );
        let run = machine(&text).simulate().unwrap();
        // A ball turns evenly; the method adds equal increments about one axis: rounding of 200 steps.
        within(word, off(&run, &format!("wheel.{word}"), |time| 30.0 * time), 1e-9);
        within(word, off(&run, &format!("spin.{word}"), |time| 60.0 * time), 1e-9);
    }
}

#[test]
fn a_torque_against_an_angular_velocity_slows_a_ball_down_as_the_closed_form_says() {
    let text = format!(
        "{NO_GRAVITY}[simulation]\nend-time = 1\nstep = 1e-3\nmethod = 'index2'\nspectral-radius = 1\n\
         [[body]]\nname = 'ball'\nmass = 1\ninertia = [2, 2, 2]\norientation = {{ axis = [1, 1, 0], angle = 1 }}\n\
         angular-velocity = [1, -2, 3]\n\
         [[force]]\nbody = 'ball'\ntorque = ['-3*ball.angular-velocity.x', '-3*ball.angular-velocity.y', '-3*ball.angular-velocity.z']\n\
         [[sensor]]\nof = 'ball'\nquantity = 'angular-velocity'\n"
    );
    let run = machine(&text).simulate().unwrap();
    for (axis, start) in [("x", 1.0), ("y", -2.0), ("z", 3.0)] {
        // ω̇ = −(3/2) ω; the trapezoidal rule is off by (3/2)³h²/12 = 2.8e-7 of it after a second.
        let found = last(&run, &format!("ball.angular-velocity.{axis}"));
        within(axis, (found / (start * (-1.5_f64).exp()) - 1.0).abs(), 1e-6);
    }
}

#[test]
fn the_unit_of_an_expression_is_shown_as_it_is_written() {
    for (unit, shown) in
        [("", "1"), ("unit = '1'", "1"), ("unit = '1/s'", "1/s"), ("unit = 'N*m/s'", "N*m/s")]
    {
        let text = format!("{MACHINE}[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\n{unit}\n");
        let channels = machine(&text).channels();
        let channel = channels.iter().find(|channel| channel.name == "shown").unwrap();
        assert_eq!(channel.unit, shown);
    }
}

#[test]
fn mistakes_in_sensors_of_expressions_are_told() {
    for (more, words) in [
        ("[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shwon'\n", "shown"),
        ("[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\nunit = 'kN'\n", "base unit"),
        ("[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\nunit = 'bananas'\n", "base unit"),
        ("[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\nunit = 'mm*km'\n", "base unit"),
        (
            "[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\n[[sensor]]\nquantity = 'shown'\nunit = 'W'\n",
            "give the sensor a `name`",
        ),
        ("[expressions]\nshown = '2*hinge.angel'\n[[sensor]]\nquantity = 'shown'\n", "hinge.angle"),
        ("[expressions]\nshown = '2*t'\n[[sensor]]\nquantity = 'shown'\nside = 'before'\n", "side"),
        ("[[sensor]]\nof = 'top'\nquantity = 'angle-z'\nunit = 'rad'\n", "unit"),
    ] {
        let message = read(&format!("{MACHINE}{more}")).map(drop).unwrap_err();
        assert!(message.contains(words), "{more}: {message}");
    }
}
