//! Springs, dampers and friction with a law by expression: they move as closed forms and as the same law by
//! other keys, and account for their energy.

use super::{NO_GRAVITY, assert_second_order, flywheel, machine, mass_on_line, motion, read, start};
use crate::common::{column, within};
use kreisel::integrate::Integration;

#[test]
fn a_linear_expression_is_the_linear_spring_and_damper() {
    let end = |rest: &str| motion(&mass_on_line(0.4, rest), 1e-2, 3.0).pose.position.x;
    let common = "[[spring-damper]]\nbodies = ['ground', 'mass']\nfree-length = 1\n";
    let by_keys = end(&format!("{common}stiffness = 50\ndamping = 3\n"));
    for law in [
        "force = '50*elongation'\ndamping-force = '3*rate'\n",
        "force = '50*(length - 1)'\ndamping-force = '3*rate'\n",
        "force = '0.05*elongation kN'\ndamping = 3\n",
        "stiffness = 50\ndamping-force = 'if(rate > 0, 3, 3)*rate*(1 + 0*elongation)'\n",
    ] {
        // The same equations, solved to Newton's tolerance of 1e-12.
        within(law, (end(&format!("{common}{law}")) - by_keys).abs(), 1e-10);
    }
}

#[test]
fn a_hardening_spring_by_an_expression_keeps_its_energy() {
    // The kink of the second law lies within the swing.
    for law in ["50*elongation + 400*elongation^3", "50*elongation + 200*max(elongation - 0.1, 0)^3"] {
        let machine = mass_on_line(
            1.0,
            &format!("[[spring-damper]]\nbodies = ['ground', 'mass']\nfree-length = 1\nforce = '{law}'"),
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
}

#[test]
fn what_a_spring_by_expression_stores_is_the_closed_form() {
    // E = 25 s² + 100 s⁴ with s the elongation, and 40 (1 − cos φ) about an angle; beyond a kink at 0.05 m.
    let spring = |law: &str, position: f64| {
        let machine = mass_on_line(
            0.0,
            &format!(
                "[[spring-damper]]\nbodies = ['ground', 'mass']\nfree-length = {position}\nforce = '{law}'"
            ),
        );
        machine.system().energies(&start(&machine, 1e-3).values().point()).strain
    };
    let s: f64 = 1.1 - 0.8;
    within(
        "quartic",
        (spring("50*elongation + 400*elongation^3", 0.8) - 25.0 * s * s - 100.0 * s.powi(4)).abs(),
        1e-12,
    );
    // Roundings; kinks and jumps are found by halving. A kink that is cut off its place costs the square of the
    // distance, a jump the distance itself.
    let beyond = 0.5 * 300.0 * (s - 0.05).powi(2);
    within("kink", (spring("300*max(elongation - 0.05, 0)", 0.8) - beyond).abs(), 1e-11);
    let jump = 7.0 * (s - 0.123);
    within("jump", (spring("7*step(elongation - 0.123)", 0.8) - jump).abs(), 1e-8);
    let wheel = flywheel(
        0.0,
        "[[torsional-spring-damper]]\njoint = 'axle'\nfree-angle = -2\ntorque = '40*sin(deflection)'\n",
    );
    let stored = wheel.system().energies(&start(&wheel, 1e-3).values().point()).strain;
    within("pendulum", (stored - 40.0 * (1.0 - 2.0_f64.cos())).abs(), 1e-11);
}

#[test]
fn a_damper_by_an_expression_loses_what_the_motion_loses() {
    let machine = machine(&format!(
        "{NO_GRAVITY}[simulation]\nend-time = 1\nstep = 1e-3\nmethod = 'index2'\nspectral-radius = 1\n\
         [[point-mass]]\nname = 'mass'\nmass = 2\nposition = [1, 0, 0]\nvelocity = [3, 0, 0]\n\
         [[spring-damper]]\nbodies = ['ground', 'mass']\ndamping-force = '4*rate*abs(rate)'\n\
         [[sensor]]\nof = 'mass'\nquantity = 'velocity'\n"
    ));
    let run = machine.simulate().unwrap();
    for (velocity, time) in column(&run, "mass.velocity.x").iter().zip(&run.times) {
        // 2 v̇ = −4 v²: v = 3/(1 + 6 t). The trapezoidal rule is off by h² v⃛/12 at first.
        within("velocity", (velocity - 3.0 / (1.0 + 6.0 * time)).abs(), 3e-5);
    }
    let balance = column(&run, "energy.balance").iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(balance < 1e-4, "{balance} J of 9 J");
}

#[test]
fn friction_that_falls_with_speed_stops_a_flywheel_as_its_closed_form_says() {
    // 2 ω̇ = −(5 + 3 ω): ω = (10 + 5/3) exp(−3t/2) − 5/3, as long as it turns far faster than 0.01 rad/s.
    for law in ["'5 + 3*speed'", "{ points = [[0, 5], [100, 305]] }"] {
        let wheel = flywheel(10.0, &format!("[[joint-friction]]\njoint = 'axle'\ntorque = {law}\n"));
        let found = motion(&wheel, 1e-3, 1.0).angular_velocity().z;
        let expected = (10.0 + 5.0 / 3.0) * (-1.5_f64).exp() - 5.0 / 3.0;
        within(law, (found - expected).abs(), 1e-5);
    }
    let by_number = motion(&flywheel(10.0, "[[joint-friction]]\njoint = 'axle'\ntorque = 5\n"), 1e-3, 1.0);
    within("number", (by_number.angular_velocity().z - 7.5).abs(), 1e-9);
}

#[test]
fn mistakes_in_laws_by_expression_are_told() {
    let on = |rest: &str| {
        format!(
            "[parameters]\nrate = 3\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\nposition = [1, 0, 0]\n\
             [[revolute]]\nname = 'hinge'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n{rest}"
        )
    };
    for (law, words) in [
        (
            "[[spring-damper]]\nbodies = ['ground', 'arm']\nforce = '5*elongatoin'\n",
            ["elongation", "[[force]]"],
        ),
        (
            "[[spring-damper]]\nbodies = ['ground', 'arm']\nforce = '5*hinge.angle'\n",
            ["hinge.angle", "`length`"],
        ),
        ("[[spring-damper]]\nbodies = ['ground', 'arm']\nforce = '5*t'\n", ["`t`", "`elongation`"]),
        (
            "[[spring-damper]]\nbodies = ['ground', 'arm']\ndamping-force = '5*rate'\n",
            ["`rate`", "another name"],
        ),
        (
            "[[spring-damper]]\nbodies = ['ground', 'arm']\nforce = '5*elongation'\nstiffness = 1\n",
            ["`stiffness`", "`force`"],
        ),
        ("[[spring-damper]]\nbodies = ['ground', 'arm']\nforce = '5*elongation Nm'\n", ["force", "N"]),
        ("[[joint-friction]]\njoint = 'hinge'\ntorque = '-1 + speed'\n", ["`torque`", "zero or positive"]),
        ("[[joint-friction]]\njoint = 'hinge'\ntorque = '1 + sped'\n", ["sped", "`speed`"]),
    ] {
        let message = read(&on(law)).map(drop).unwrap_err();
        for words in words {
            assert!(message.contains(words), "{law}: {message}");
        }
    }
}
