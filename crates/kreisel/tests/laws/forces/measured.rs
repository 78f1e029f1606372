//! Every force can be measured: what sensors show is what closed forms and balances say.

use super::{NO_GRAVITY, flywheel, machine, mass_on_line};
use crate::common::{column, difference, last, within};
use kreisel::machine::Machine;
use kreisel::run::Trajectory;

const SIMULATION: &str = "[simulation]\nend-time = 1\nstep = 1e-3\nmethod = \"index2\"\n";

/// One sensor a quantity of a part.
fn sensors(of: &str, quantities: &[&str]) -> String {
    let sensor = |quantity: &&str| format!("[[sensor]]\nquantity = \"{quantity}\"\nof = \"{of}\"\n");
    quantities.iter().map(sensor).collect()
}

fn simulate(machine: &Machine) -> Trajectory {
    machine.simulate().unwrap_or_else(|error| panic!("{error}"))
}

/// Largest difference of two signals.
fn apart(run: &Trajectory, signal: &str, expected: impl Fn(usize) -> f64) -> f64 {
    let rows = column(run, signal).iter().enumerate();
    rows.map(|(row, value)| (value - expected(row)).abs()).fold(0.0, f64::max)
}

#[test]
fn a_spring_damper_shows_its_length_its_rate_and_its_pull() {
    for bodies in [["ground", "mass"], ["mass", "ground"]] {
        let machine = mass_on_line(
            0.4,
            &format!(
                "[[spring-damper]]\nname = \"spring\"\nbodies = {bodies:?}\nstiffness = 50\ndamping = 3\npreload = 0.7\nfree-length = 1\n{}{SIMULATION}",
                sensors("spring", &["force", "length", "length-rate"])
            ),
        );
        let run = simulate(&machine);
        let length = column(&run, "mass.position.x").to_vec();
        within("length", apart(&run, "spring.length", |row| length[row]), 1e-15);
        let rate = column(&run, "spring.length-rate").to_vec();
        // The law itself; a few roundings of numbers of size 10.
        let pull = |row: usize| 50.0 * (length[row] - 1.0) + 3.0 * rate[row] + 0.7;
        within("force", apart(&run, "spring.force", pull), 1e-13);
        assert!(column(&run, "spring.force")[0] > 5.0, "it pulls at first: 5 + 1.2 + 0.7 N");
    }
}

#[test]
fn length_and_rate_of_a_spring_can_be_used_in_a_force() {
    // A damper by an expression beside the same damper by its key.
    let run = |rest: &str| {
        let spring =
            "[[spring-damper]]\nname = \"spring\"\nbodies = [\"ground\", \"mass\"]\nfree-length = 1\n";
        last(&simulate(&mass_on_line(0.4, &format!("{spring}{rest}{SIMULATION}"))), "mass.position.x")
    };
    let by_key = run("stiffness = 50\ndamping = 3\n");
    let by_expression = run(
        "stiffness = 50\n[[force]]\nname = \"damper\"\nbody = \"mass\"\nforce = [\"-3*spring.rate\", 0, 0]\n",
    );
    // The same equations; Newton's tolerance of 1e-8 a step at most, over a thousand steps.
    within("damped mass", (by_key - by_expression).abs(), 1e-7);
}

#[test]
fn forces_in_a_joint_show_their_torque_and_power() {
    let rest = format!(
        "[[torsional-spring-damper]]\nname = \"spring\"\njoint = \"axle\"\nstiffness = 30\ndamping = 0.4\n
        [[joint-force]]\nname = \"motor\"\njoint = \"axle\"\ntorque = \"5*sin(3*t) - 0.2*axle.rate\"\n
        [[joint-friction]]\nname = \"brake\"\njoint = \"axle\"\ntorque = 1.5\n
        [[torsional-end-stop]]\nname = \"stop\"\njoint = \"axle\"\nupper = 0.1\nstiffness = 400\n{}{}{}{}{SIMULATION}",
        sensors("spring", &["torque"]),
        sensors("motor", &["torque", "power"]),
        sensors("brake", &["torque"]),
        sensors("stop", &["torque"]),
    );
    let run = simulate(&flywheel(2.0, &rest));
    let (angle, rate) = (column(&run, "axle.angle").to_vec(), column(&run, "axle.angle-rate").to_vec());
    let time = run.times.clone();
    let motor = |row: usize| 5.0 * (3.0 * time[row]).sin() - 0.2 * rate[row];
    // Laws of the parts at the recorded motion; roundings of numbers of size 100.
    within("spring", apart(&run, "spring.torque", |row| 30.0 * angle[row] + 0.4 * rate[row]), 1e-12);
    within("motor", apart(&run, "motor.torque", motor), 1e-12);
    within("power", apart(&run, "motor.power", |row| motor(row) * rate[row]), 1e-12);
    within("brake", apart(&run, "brake.torque", |row| 1.5 * (rate[row] / 1e-2).tanh()), 1e-12);
    let stop = |row: usize| 400.0 * (angle[row] - 0.1).max(0.0);
    within("stop", apart(&run, "stop.torque", stop), 1e-11);
    assert!(column(&run, "stop.torque").iter().any(|torque| *torque > 10.0), "the stop is reached");
}

#[test]
fn the_power_of_a_drive_is_what_the_energy_grows_by() {
    // The wheel is led as a = sin t, so that the drive does 2 kg m² a' a''.
    let rest = format!(
        "[[drive]]\nname = \"motor\"\njoint = \"axle\"\nangle = \"sin(t)\"\n{}{SIMULATION}",
        sensors("motor", &["power"])
    );
    let run = simulate(&flywheel(1.0, &rest));
    // Reactions of generalized-α are of second order: h² = 1e-6 times derivatives of size 2.
    within("power", difference(&run, "motor.power", |t| -2.0 * t.cos() * t.sin()), 1e-5);
}

#[test]
fn a_bushing_shows_what_it_does_to_its_second_body() {
    // A body of 2 kg hangs at rest 0.3 m beside its mount: the mount carries its weight and moment.
    for (bodies, sign) in [(["ground", "arm"], 1.0), (["arm", "ground"], -1.0)] {
        let text = format!(
            "[gravity]\nacceleration = [0, 0, -10]\n
            [[body]]\nname = \"arm\"\nmass = 2\ninertia = [0.1, 0.1, 0.1]\nposition = [0.3, 0, 0]\n
            [[bushing]]\nname = \"mount\"\nbodies = {bodies:?}\npoint = [0, 0, 0]\n
            translational-stiffness = [1e6, 1e6, 1e6]\nrotational-stiffness = [1e5, 1e5, 1e5]\n
            translational-damping = [1e3, 1e3, 1e3]\nrotational-damping = [100, 100, 100]\n{}
            [simulation]\nend-time = 0.01\nstep = 1e-3\nmethod = \"index2\"\nstart = \"static\"\n",
            sensors("mount", &["force", "torque"])
        );
        let run = simulate(&machine(&text));
        // The arm sinks by 20 N/1e6 N/m and turns by 6 Nm/1e5 Nm/rad: its lever changes by 1e-8 of itself.
        within("force", (last(&run, "mount.force.z") - sign * 20.0).abs(), 1e-6);
        within("torque", (last(&run, "mount.torque.y") + sign * 6.0).abs(), 1e-6);
    }
}

#[test]
fn friction_in_a_ball_joint_shows_its_torque_against_the_spin() {
    let text = format!(
        "[[body]]\nname = \"ball\"\nmass = 2\ninertia = [0.1, 0.1, 0.1]\nangular-velocity = [0, 0, 50]\n
        [[spherical]]\nname = \"socket\"\nbodies = [\"ground\", \"ball\"]\npoint = [0, 0, 0]\n
        [[joint-friction]]\nname = \"grip\"\njoint = \"socket\"\nfriction = 0.2\nradius = 0.05\n{}
        [simulation]\nend-time = 0.1\nstep = 1e-3\nmethod = \"index2\"\n",
        sensors("grip", &["torque"])
    );
    let run = simulate(&machine(&text));
    // μ r m g against the spin, which stays fast; pressing is smoothed by 1e-6 of itself at most.
    within("torque", (last(&run, "grip.torque.z") + 0.2 * 0.05 * 2.0 * 9.80665).abs(), 1e-5);
}

#[test]
fn momenta_of_bodies_add_up_to_that_of_the_machine() {
    let asked = sensors("a", &["momentum", "angular-momentum", "position"])
        + &sensors("b", &["momentum", "angular-momentum", "position"])
        + "[[sensor]]\nquantity = \"momentum\"\n[[sensor]]\nquantity = \"angular-momentum\"\n";
    let text = format!(
        "{NO_GRAVITY}
        [[body]]\nname = \"a\"\nmass = 2\ninertia = [0.3, 0.2, 0.4]\nvelocity = [1, 0.2, 0]\nangular-velocity = [1, 2, 3]\n
        [[body]]\nname = \"b\"\nmass = 3\ninertia = [0.1, 0.5, 0.45]\nposition = [1, 0.5, 0.2]\nangular-velocity = [0, -1, 2]\n
        [[spring-damper]]\nname = \"spring\"\nbodies = [\"a\", \"b\"]\npoints = [[0.1, 0, 0], [0.8, 0.4, 0]]\nstiffness = 40\ndamping = 1\n{asked}{SIMULATION}"
    );
    let run = simulate(&machine(&text));
    for axis in ["x", "y", "z"] {
        let sum: Vec<f64> = (column(&run, &format!("a.momentum.{axis}")).iter())
            .zip(column(&run, &format!("b.momentum.{axis}")))
            .map(|(a, b)| a + b)
            .collect();
        let total = format!("momentum.{axis}");
        within("sum", apart(&run, &total, |row| sum[row]), 1e-13);
        let start = column(&run, &total)[0];
        // Nothing outside pushes. The method keeps momenta up to its order: 1 s of steps of 1 ms.
        within("linear momentum", apart(&run, &total, |_| start), 1e-5);
        let total = format!("angular-momentum.{axis}");
        let start = column(&run, &total)[0];
        within("angular momentum", apart(&run, &total, |_| start), 1e-4);
    }
    // At the start by hand: 2 kg at (1, 0.2, 0) m/s, J ω + r × p.
    assert_eq!(column(&run, "momentum.x")[0], 2.0);
    assert_eq!(column(&run, "a.angular-momentum.z")[0], 0.4 * 3.0);
    within("about the origin", (column(&run, "angular-momentum.x")[0] - 0.3).abs(), 1e-14);
}

#[test]
fn the_momentum_of_a_beam_is_the_impulse_of_what_pushes_it() {
    let errors = ["2 ms", "1 ms"].map(|step| {
        let text = format!(
            "{NO_GRAVITY}
            [[beam]]\nname = \"rod\"\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nelements = 4\n
            section.axial-stiffness = 1e6\nsection.shear-stiffness = [1e6, 1e6]\nsection.torsional-stiffness = 100\n
            section.bending-stiffness = [100, 100]\nsection.mass-per-length = 3\n
            section.inertia-per-length = [0.02, 0.01, 0.01]\n
            [[force]]\nname = \"push\"\nbody = \"rod.end\"\nforce = [0, 4, 0]\n{}
            [[sensor]]\nquantity = \"momentum\"\n[[sensor]]\nquantity = \"angular-momentum\"\n
            [simulation]\nend-time = 1\nstep = \"{step}\"\nmethod = \"index2\"\n",
            sensors("rod.end", &["position"])
        );
        let run = simulate(&machine(&text));
        // The moment of the force about the origin, by the trapezoidal rule over the records.
        let (x, t) = (column(&run, "rod.end.position.x"), &run.times);
        let impulse: f64 = (1..t.len()).map(|k| 2.0 * (t[k] - t[k - 1]) * (x[k] + x[k - 1])).sum();
        let angular = (last(&run, "angular-momentum.z") - impulse).abs();
        [difference(&run, "momentum.y", |t| 4.0 * t), angular]
    });
    for (coarse, fine) in errors[0].into_iter().zip(errors[1]) {
        // Momenta of up to 4: the method and the rule are of second order.
        within("impulse", fine, 1e-4);
        assert!(coarse / fine > 3.0, "{coarse:e}, {fine:e}");
    }
}
