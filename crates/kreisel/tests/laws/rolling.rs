//! Parts that hold velocities, against closed forms: rolling disc, coin, sleigh, ball on a turntable.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::{column, difference, model as machine, read as text_machine, within};
use crate::system::check_derivatives;
use kreisel::machine::{Mobility, SettingTexts};

fn with(method: &str, spectral_radius: f64, step: Option<f64>) -> SettingTexts {
    let settings =
        SettingTexts::default().with("method", method).with("spectral-radius", spectral_radius.to_string());
    match step {
        Some(step) => settings.with("step", format!("{step:e}")),
        None => settings,
    }
}

const METHODS: [&str; 5] = ["index2", "index3", "soi2", "hht-i3", "hht-soi2"];

#[test]
fn a_tilted_disc_rolls_in_its_circle_with_every_method() {
    let (r, tilt, turning, g) = (0.2, 70_f64.to_radians(), 1.5, 9.81);
    let (s, c) = tilt.sin_cos();
    let w = (turning * turning * s * c / 4.0 - g / r * c) / (1.5 * turning * s);
    // The centre starts at the origin with velocity −r w along y and turns about the vertical.
    let radius = -r * w / turning;
    for method in METHODS {
        for group in ["se3", "so3xr3"] {
            let settings = with(method, 0.9, Some(2e-3)).with("group", group).with("end-time", "2");
            let run = machine("rolling-disc", &[], &settings).simulate().unwrap();
            // The axis turns at 18 rad/s, so that (ωh)²/12 = 1.1e-4; the error grows over three radians of
            // the circle. Forces and the height do not grow.
            let size = radius.abs();
            within(
                "x",
                difference(&run, "disc.position.x", |t| radius * ((turning * t).cos() - 1.0)),
                5e-4 * size,
            );
            within("y", difference(&run, "disc.position.y", |t| radius * (turning * t).sin()), 5e-4 * size);
            within("height", difference(&run, "disc.position.z", |_| r * s), 1e-5 * r);
            within("weight", difference(&run, "track.force.z", |_| g), 2e-4 * g);
            // The disc axis is β from the vertical and leans to x at the start: the lowest point of the rim is
            // r cos β beside the centre along x, and turns with it.
            let beside = r * c;
            let x = |t: f64| radius * ((turning * t).cos() - 1.0) + beside * (turning * t).cos();
            let y = |t: f64| (radius + beside) * (turning * t).sin();
            within("contact x", difference(&run, "track.contact-point.x", x), 5e-4 * size);
            within("contact y", difference(&run, "track.contact-point.y", y), 5e-4 * size);
            // Exact: the constraint's own residual.
            within("contact z", difference(&run, "track.contact-point.z", |_| 0.0), 1e-12);
            let across = |t: f64| r * w * turning * (turning * t).cos();
            within("force across", difference(&run, "track.force.x", across), 3e-4 * (r * w * turning).abs());
            // What Newton's iteration leaves; where only positions are kept it is divided by the step.
            let velocity = if matches!(method, "index3" | "hht-i3") { 1e-7 } else { 1e-12 };
            within("velocity constraints", difference(&run, "constraint.velocity", |_| 0.0), velocity);
            within("position constraint", difference(&run, "constraint.position", |_| 0.0), 1e-12);
        }
    }
}

/// Rate of exponential growth, or frequency, of small leans: (5/4) φ'' + (3 ω² − g/r) φ = 0.
#[test]
fn a_fast_coin_wobbles_and_a_slow_one_falls() {
    let (r, g) = (0.012, 9.80665);
    let square = |speed: f64| (3.0 * (speed / r).powi(2) - g / r) / 1.25;
    let run = |speed: &str, end: &str| {
        let settings = with("index2", 0.9, Some(2e-4)).with("end-time", end.to_string());
        let run = machine("coin", &[("speed", speed)], &settings).simulate().unwrap();
        let heights = column(&run, "coin.axle.position.z").iter().zip(column(&run, "coin.position.z"));
        (run.times.clone(), heights.map(|(tip, centre)| tip - centre).collect::<Vec<f64>>())
    };
    // A spinning coin leans about an angle at which it also turns: the mean is not zero, the frequency is the
    // same.
    let (times, lean) = run("0.5", "200 ms");
    let frequency = square(0.5).sqrt();
    let periods = crossings(&times, &lean);
    assert!(periods.len() > 3, "{periods:?}");
    let measured =
        std::f64::consts::PI * (periods.len() - 1) as f64 / (periods[periods.len() - 1] - periods[0]);
    // (ωh)²/12 = 1.2e-5 at 59 rad/s in steps of 0.2 ms; the square of a lean of 1e-4 is far less.
    within("frequency of the wobble", (measured / frequency - 1.0).abs(), 3e-5);
    // Below the limit of 0.198 m/s. Without a yaw rate at the lean φ₀ the right side is 3 ω² φ₀: cosh(κ t)
    // from rest, about 3 ω² φ₀/(3 ω² − g/r).
    let (times, lean) = run("0.1", "60 ms");
    let growth = (-square(0.1)).sqrt();
    let (first, last) = (lean.len() / 2, lean.len() - 1);
    let middle = 3.0 * (0.1_f64 / r).powi(2) / (1.25 * square(0.1));
    let at = |time: f64| middle + (1.0 - middle) * (growth * time).cosh();
    let expected = (at(times[last]) / at(times[first])).ln();
    let measured = (lean[last] / lean[first]).ln();
    // As above, with κ = 22/s.
    within("growth of the lean", (measured / expected - 1.0).abs(), 3e-5);
}

/// Times at which a signal crosses its mean.
fn crossings(times: &[f64], values: &[f64]) -> Vec<f64> {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
    let mean = 0.5 * (low + high);
    let pairs = values.windows(2).zip(times.windows(2));
    pairs
        .filter(|(values, _)| (values[0] - mean) * (values[1] - mean) < 0.0)
        .map(|(values, times)| {
            times[0] + (times[1] - times[0]) * (mean - values[0]) / (values[1] - values[0])
        })
        .collect()
}

#[test]
fn chaplygins_sleigh_turns_until_it_glides_straight() {
    let (m, j, a, w) = (2.0, 0.3, 0.4_f64, 3.0);
    let u = w * (j / m + a * a).sqrt();
    let k = a * w * w / u;
    for method in METHODS {
        let run = machine("chaplygin-sleigh", &[], &with(method, 0.9, Some(5e-3))).simulate().unwrap();
        // (ωh)²/12 = 2e-5 at 3 rad/s in steps of 5 ms.
        let tolerance = 5e-5;
        let rate = |t: f64| w / (k * t).cosh();
        within("rate", difference(&run, "sleigh.angular-velocity.z", rate), tolerance * w);
        let (x, y) = (column(&run, "sleigh.velocity.x"), column(&run, "sleigh.velocity.y"));
        for (row, time) in run.times.iter().enumerate() {
            let (along, turning) = (u * (k * time).tanh(), rate(*time));
            let speed = along.hypot(a * turning);
            within("speed", (x[row].hypot(y[row]) - speed).abs(), tolerance * u);
            // The blade's force is that of the centre's acceleration across: a ω' + u ω.
            let force = m * (-a * w * k * (k * time).tanh() / (k * time).cosh() + along * turning);
            let (fx, fy) = (column(&run, "blade.force.x")[row], column(&run, "blade.force.y")[row]);
            within("force", (fx.hypot(fy) - force.abs()).abs(), tolerance * m * u * w);
        }
    }
}

#[test]
fn a_ball_on_a_turntable_circles_at_two_sevenths_of_its_rate() {
    let (speed, v, x) = (4.0, 0.3, 0.5);
    let rate = 2.0 / 7.0 * speed;
    let radius = v / rate;
    for method in METHODS {
        let run = machine("turntable-ball", &[], &with(method, 0.9, Some(2e-3))).simulate().unwrap();
        // The ball turns at 17 rad/s and more: (ωh)²/12 = 1e-4 of a circle of 0.26 m, over nine radians.
        within("x", difference(&run, "ball.position.x", |t| x - radius * (1.0 - (rate * t).cos())), 5e-4);
        within("y", difference(&run, "ball.position.y", |t| radius * (rate * t).sin()), 5e-4);
        let force = |t: f64| -0.5 * radius * rate * rate * (rate * t).cos();
        // The same part of forces, and of the weight.
        within("force", difference(&run, "contact.force.x", force), 1e-3 * 0.5 * radius * rate * rate);
        within("weight", difference(&run, "contact.force.z", |_| 0.5 * 9.80665), 2e-3);
        // And of the energy.
        within("balance", difference(&run, "energy.balance", |_| 0.0), 3e-5);
    }
}

/// Least damping: ρ∞ = 1 where the velocity constraints hold, and as near to it as the others allow.
#[test]
fn the_energy_error_stays_bounded_and_falls_with_the_square_of_the_step() {
    for (method, radius) in [("index2", 1.0), ("soi2", 1.0), ("hht-soi2", 1.0), ("index3", 0.95)] {
        for (model, step) in [("rolling-disc", 2e-3), ("chaplygin-sleigh", 2e-2)] {
            let error = |step: f64, end: f64| {
                let settings = with(method, radius, Some(step)).with("end-time", format!("{end}"));
                let run = machine(model, &[], &settings).simulate().unwrap();
                let energy = column(&run, "energy.total");
                energy.iter().map(|e| (e / energy[0] - 1.0).abs()).fold(0.0, f64::max)
            };
            let (coarse, fine) = (error(step, 2.0), error(step / 2.0, 2.0));
            // (ωh)² at 18 and 3 rad/s is 1.3e-3 and 3.6e-3.
            assert!(coarse < 4e-3, "{method} {model}: {coarse:e}");
            if coarse > 1e-12 {
                // Steady motions may do better than the order of the method.
                assert!((coarse / fine).log2() > 1.7, "{method} {model}: {coarse:e} {fine:e}");
            }
            if radius == 1.0 {
                let long = error(step, 8.0);
                assert!(long < 3.0 * coarse + 1e-12, "{method} {model}: {coarse:e} in 2 s, {long:e} in 8 s");
            }
        }
    }
}

#[test]
fn freedoms_count_conditions_on_velocities() {
    for (name, expected) in [("rolling-disc", 3), ("coin", 3), ("chaplygin-sleigh", 2), ("turntable-ball", 3)]
    {
        let machine = machine(name, &[], &SettingTexts::default());
        let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
        assert_eq!(mobility.degrees_of_freedom(), expected, "{name}: {mobility:?}");
    }
}

const WHEEL: &str = r#"
[simulation]
end-time = 1
[[body]]
name = "wheel"
mass = 1
inertia = [0.01, 0.01, 0.02]
position = [0, 0, 0.25]
orientation = { z-axis = [0, 1, 0] }
[[rolling]]
name = "road"
bodies = ["ground", "wheel"]
radius = 0.2
"#;

#[test]
fn a_wheel_above_or_in_the_plane_is_refused_with_the_distance_and_the_line() {
    let error = text_machine(WHEEL).err().unwrap();
    for part in ["0.050000 m above", "model.toml:12", "[0, 0, 0.2]"] {
        assert!(error.contains(part), "{error}");
    }
    let sunk = text_machine(&WHEEL.replace("0.25]", "0.15]")).err().unwrap();
    assert!(sunk.contains("0.050000 m below"), "{sunk}");
    let flat = WHEEL.replace("orientation = { z-axis = [0, 1, 0] }", "");
    let flat = text_machine(&flat).err().unwrap();
    assert!(flat.contains("flat"), "{flat}");
    assert!(text_machine(&WHEEL.replace("0.25]", "0.2]")).is_ok());
}

#[test]
fn a_disc_that_falls_flat_is_told_so() {
    let leaning = WHEEL.replace("position = [0, 0, 0.25]", "position = [0, 0, 0.16]");
    // sin = 0.8: the axis leans by 0.6 towards the normal.
    let leaning = leaning.replace("z-axis = [0, 1, 0]", "z-axis = [0, 0.8, 0.6]");
    for (method, step) in [("index2", "1e-3"), ("index3", "1e-3"), ("index2", "auto")] {
        let text =
            leaning.replace("end-time = 1", &format!("end-time = 1\nmethod = '{method}'\nstep = '{step}'"));
        let text = text.replace("step = '1e-3'", "step = 1e-3");
        let error = text_machine(&text).unwrap().simulate().map(drop).unwrap_err().to_string();
        assert!(
            error.contains("`road` cannot go on") && error.contains("falls flat"),
            "{method} {step}: {error}"
        );
        assert!(!error.contains("bars on one line"), "{error}");
    }
}

/// A cart on a rail along an axis, for some time.
fn cart_on_rail(time: &str, mass: f64, axis: &str) -> String {
    format!(
        r#"
[simulation]
{time}
[[prismatic]]
name = "rail"
bodies = ["ground", "cart"]
axis = {axis}
[[body]]
name = "cart"
mass = {mass}
inertia = [1, 1, 1]
"#
    )
}

/// A blade on the cart along x.
const BLADE: &str = r#"
[[knife-edge]]
name = "blade"
bodies = ["ground", "cart"]
point = [0, 0, 0]
"#;

/// A second, in steps that the error does not decide on.
const SECOND: &str = "end-time = 1\nstep = 0.01";

#[test]
fn a_condition_on_velocities_that_a_joint_holds_already_is_named() {
    let text = cart_on_rail(SECOND, 1.0, "[1, 0, 0]") + "velocity = [1, 0, 0]" + BLADE;
    let machine = text_machine(&text).unwrap();
    let mobility = Mobility::new(machine.system(), 0.0, &machine.initial().configuration);
    assert_eq!(mobility.degrees_of_freedom(), 1);
    let warnings = machine.mobility_notes(&mobility).texts().join("\n");
    assert!(warnings.contains("`blade`") || warnings.contains("`rail`"), "{warnings}");
    // The motion is that without the blade.
    for method in METHODS {
        let text = text.replace("step = 0.01", &format!("step = 0.01\nmethod = \"{method}\""));
        let run = text_machine(&text).unwrap().simulate().unwrap();
        // A constant velocity is integrated exactly: Newton's tolerance.
        within("x", difference(&run, "cart.position.x", |t| t), 1e-12);
    }
}

/// A cart that is driven across a blade.
fn across_a_blade(displacement: &str) -> String {
    let drive = format!("[[drive]]\nname = \"motor\"\njoint = \"rail\"\ndisplacement = \"{displacement}\"");
    cart_on_rail(SECOND, 1.0, "[0, 1, 0]") + &drive + BLADE
}

#[test]
fn a_condition_on_velocities_that_contradicts_a_drive_is_refused_by_name() {
    let machine = text_machine(&across_a_blade("0.5*t")).unwrap();
    let error = machine.start(&machine.settings().plan().unwrap()).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("contradict") && message.contains("`blade`"), "{message}");
    let places = machine.places_of(&error);
    assert!(places.contains(&"model.toml:17:1: `blade`".to_string()), "{places:?}");
}

/// The drive starts to move after a while.
#[test]
fn a_contradiction_on_the_way_is_named() {
    let text = across_a_blade("0.5*t^4");
    for method in METHODS {
        let text = text.replace("step = 0.01", &format!("step = 0.01\nmethod = \"{method}\""));
        let error = text_machine(&text).unwrap().simulate().err().unwrap().to_string();
        assert!(error.contains("cannot all hold"), "{method}: {error}");
        assert!(error.contains("`blade`") || error.contains("`motor`"), "{method}: {error}");
    }
}

/// Tangents of a machine with every part that holds velocities, against differences, on both groups.
#[test]
fn tangents_of_nonholonomic_parts_are_the_derivatives_of_their_equations() {
    use kreisel::dae::{Dae, Point};

    let text = r#"
[simulation]
end-time = 1
group = "GROUP"
[[body]]
name = "table"
mass = 2
inertia = [1, 2, 3]
orientation = { axis = [1, 2, 3], angle = 0.4 }
angular-velocity = [0.3, -0.2, 0.9]
velocity = [0.1, 0.5, -0.4]
[[body]]
name = "wheel"
mass = 1
inertia = [0.3, 0.4, 0.6]
position = [0.2, 0.1, 0.4]
orientation = { axis = [0, 1, 0.2], angle = 1.1 }
angular-velocity = [1.3, -0.7, 2.9]
velocity = [0.6, -0.5, 0.2]
[[rolling]]
name = "sphere"
bodies = ["table", "wheel"]
radius = 0.4
shape = "sphere"
point = [0, 0, 0]
axis = [0, 0, 1]
[[knife-edge]]
name = "blade"
bodies = ["table", "wheel"]
point = [0.3, 0.2, 0.1]
axis = [0, 0.2, 1]
[[velocity-coupling]]
name = "rope"
rates = ["table.velocity.x", "wheel.angular-velocity.y", "wheel.velocity.z"]
factors = [1, 0.4, -0.8]
value = "sin(t)"
"#;
    for group in ["se3", "so3xr3"] {
        let machine = text_machine(&text.replace("GROUP", group)).unwrap();
        let (system, initial) = (machine.system(), machine.initial());
        let shape = system.shape();
        let acceleration: Vec<f64> = (0..12).map(|i| (1.0 + i as f64).sin()).collect();
        let (multipliers, psi) = (vec![0.7; shape.constraint_count()], [1.1, -0.4, 0.9, 0.3]);
        assert_eq!(shape.nonholonomic_count(), psi.len());
        let at = Point {
            time: 0.3,
            configuration: &initial.configuration,
            velocity: &initial.velocity,
            acceleration: &acceleration,
            multipliers: &multipliers,
            nonholonomic_multipliers: &psi,
            internal_states: &[],
            memory: &vec![0.0; shape.memory],
        };
        check_derivatives(group, system, &at, 0.0);
    }
}

/// Redundant hinges and massless links work with `soi2` as with `index2`.
#[test]
fn soi2_handles_redundant_joints_and_massless_bodies() {
    for (model, signal, step) in [
        ("four-bar", "a.rate", 1e-3),
        ("flyball-governor", "energy.total", 2e-3),
        ("door", "energy.total", 1e-2),
    ] {
        let run = |method: &str| {
            let settings = with(method, 0.9, Some(step)).with("end-time", "0.3");
            machine(model, &[], &settings).simulate().unwrap()
        };
        let (index2, soi2) = (run("index2"), run("soi2"));
        let size = column(&index2, signal).iter().fold(1e-3_f64, |size, value| size.max(value.abs()));
        let pairs = column(&index2, signal).iter().zip(column(&soi2, signal));
        let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Two methods of second order; that of the governor differs most, with (ωh)²/12 = 7e-5 at 14 rad/s.
        within(model, difference / size, 1e-4);
    }
}

#[test]
fn a_velocity_coupling_keeps_a_sum_of_rates() {
    let text = cart_on_rail("end-time = 2\nstep = 0.005", 2.0, "[1, 0, 0]")
        + r#"
[gravity]
acceleration = [0, 0, 0]
[[body]]
name = "wheel"
mass = 1
inertia = [0.1, 0.1, 0.2]
[[revolute]]
name = "hub"
bodies = ["cart", "wheel"]
point = [0, 0, 0]
[[velocity-coupling]]
name = "rope"
rates = ["cart.velocity.x", "hub.rate"]
factors = [1, -0.3]
value = "0.1*t"
[[force]]
name = "pull"
body = "cart"
force = [6, 0, 0]
"#;
    for method in METHODS {
        let text = text.replace("step = 0.005", &format!("step = 0.005\nmethod = \"{method}\""));
        let run = text_machine(&text).unwrap().simulate().unwrap();
        // (3 + J/ρ²) x'' = 6 + 0.1 J/ρ² with ρ = 0.3, J = 0.2 and ω = (x' − 0.1 t)/ρ.
        let inertia = 0.2 / 0.09;
        let acceleration = (6.0 + 0.1 * inertia) / (3.0 + inertia);
        // The wheel moves in its own axes, which turn at up to 7 rad/s: (ωh)²/12 = 1e-4 of two metres.
        within("x", difference(&run, "cart.position.x", |t| 0.5 * acceleration * t * t), 1e-3);
        let rate = |t: f64| (acceleration - 0.1) * t / 0.3;
        // And of up to 7 rad/s.
        within("rate", difference(&run, "hub.rate", rate), 3e-3);
        // What the law of time puts in is accounted for; energies are up to 15 J.
        within("balance", difference(&run, "energy.balance", |_| 0.0), 1e-2);
    }
    let wrong = text.replace("hub.rate", "hub.rat");
    let error = text_machine(&wrong).err().unwrap();
    assert!(error.contains("hub.rate"), "{error}");
    // In axes of the cart itself.
    let own = text.replace("value = \"0.1*t\"", "value = \"0.1*t\"\naxes = \"body\"");
    assert!(text_machine(&own).unwrap().simulate().is_ok());
}
