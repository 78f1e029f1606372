//! Machines run from their model files: sensors against closed forms, output times, corners of the inputs.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use crate::common::ROD_ON_PIN;
use kreisel::dae::{Dae, Initial, Point, Residual, Shape};
use kreisel::integrate::{INDEX2, INDEX3, Integrator, Method, Parameters, Settings};
use kreisel::lie::Space;
use kreisel::machine::Machine;
use kreisel::run::Trajectory;
use kreisel::solve::block::BlockMatrix;

fn simulate(text: &str) -> Trajectory {
    let machine = Machine::from_text("test.toml", text).map_err(|errors| errors.render(false)).unwrap();
    machine.simulate().unwrap()
}

/// Largest difference between a signal and a function of time.
fn difference(run: &Trajectory, signal: &str, expected: impl Fn(f64) -> f64) -> f64 {
    let values = run.signal(signal).unwrap_or_else(|| panic!("no signal {signal}"));
    assert_eq!(values.len(), run.times.len());
    values.iter().zip(&run.times).map(|(value, &t)| (value - expected(t)).abs()).fold(0.0, f64::max)
}

const NO_GRAVITY: &str = "[gravity]\nacceleration = [0, 0, 0]\n";

/// A wheel that turns about z with 3 rad/s, and a stone at rest.
fn wheel(sensors: &str) -> Trajectory {
    simulate(&format!(
        "{NO_GRAVITY}
        [simulation]
        end-time = 2
        step = 0.01
        [[body]]
        name = 'wheel'
        mass = 1
        inertia = [1, 1, 2]
        angular-velocity = [0, 0, 3]
        markers = [{{ name = 'rim', position = [0.5, 0, 0], orientation = {{ axis = [1, 0, 0], angle = 'pi/2' }} }}]
        [[body]]
        name = 'stone'
        mass = 1
        inertia = [1, 1, 1]
        position = [2, 0, 0]
        {sensors}"
    ))
}

#[test]
fn a_marker_on_a_turning_wheel_moves_on_a_circle() {
    let sensors: String =
        ["position", "velocity", "acceleration", "angular-velocity", "orientation", "rotation-vector"]
            .iter()
            .map(|quantity| format!("[[sensor]]\nof = 'wheel.rim'\nquantity = '{quantity}'\n"))
            .collect();
    let run = wheel(&sensors);
    // A constant angular velocity is integrated exactly on the group; 200 steps add roundings of 1e-16 each,
    // and Newton's tolerance of 1e-12 enters accelerations through 1/(βh²).
    let w = 3.0;
    assert!(difference(&run, "wheel.rim.position.x", |t| 0.5 * (w * t).cos()) < 1e-12);
    assert!(difference(&run, "wheel.rim.position.y", |t| 0.5 * (w * t).sin()) < 1e-12);
    assert!(difference(&run, "wheel.rim.velocity.x", |t| -0.5 * w * (w * t).sin()) < 1e-10);
    assert!(difference(&run, "wheel.rim.acceleration.y", |t| -0.5 * w * w * (w * t).sin()) < 1e-8);
    assert!(difference(&run, "wheel.rim.angular-velocity.z", |_| w) < 1e-10);
    // Turned by π/2 about x, then by 3t about z: q = (c, 0, 0, s)·(√½, √½, 0, 0), shown with w ≥ 0.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let sign = |t: f64| (0.5 * w * t).cos().signum();
    assert!(difference(&run, "wheel.rim.orientation.w", |t| (0.5 * w * t).cos().abs() * half) < 1e-12);
    assert!(difference(&run, "wheel.rim.orientation.z", |t| sign(t) * (0.5 * w * t).sin() * half) < 1e-12);
    // The rotation angle satisfies w = cos(angle/2).
    let vector =
        ["x", "y", "z"].map(|axis| run.signal(&format!("wheel.rim.rotation-vector.{axis}")).unwrap());
    for (row, t) in run.times.iter().enumerate() {
        let angle = vector.iter().map(|column| column[row] * column[row]).sum::<f64>().sqrt();
        assert!(((0.5 * angle).cos() - (0.5 * w * t).cos().abs() * half).abs() < 1e-12);
    }
}

#[test]
fn a_stone_at_rest_circles_backwards_for_an_observer_on_the_wheel() {
    let sensors: String = ["position", "velocity", "acceleration", "angular-velocity"]
        .iter()
        .map(|quantity| {
            format!(
                "[[sensor]]\nname = 'seen-{quantity}'\nof = 'stone'\nquantity = '{quantity}'\nrelative-to = 'wheel'\n"
            )
        })
        .collect();
    let run = wheel(&sensors);
    let w = 3.0;
    // As above, for the same motion.
    assert!(difference(&run, "seen-position.position.x", |t| 2.0 * (w * t).cos()) < 1e-12);
    assert!(difference(&run, "seen-velocity.velocity.y", |t| -2.0 * w * (w * t).cos()) < 1e-10);
    // The acceleration of a circle, although nothing pushes: centrifugal and Coriolis terms together.
    assert!(difference(&run, "seen-acceleration.acceleration.x", |t| -2.0 * w * w * (w * t).cos()) < 1e-8);
    assert!(difference(&run, "seen-angular-velocity.angular-velocity.z", |_| -w) < 1e-10);
}

#[test]
fn components_can_be_shown_in_the_axes_of_a_body() {
    let run = wheel("[[sensor]]\nname = 'own'\nof = 'wheel.rim'\nquantity = 'velocity'\naxes = 'wheel'\n");
    // As above, for the same motion.
    assert!(difference(&run, "own.velocity.x", |_| 0.0) < 1e-10);
    assert!(difference(&run, "own.velocity.y", |_| 1.5) < 1e-10);
}

#[test]
fn reactions_of_a_hanging_rod_carry_its_weight() {
    let run = simulate(
        "[simulation]
        end-time = 0.1
        [[body]]
        name = 'rod'
        mass = 2
        inertia = [0.2, 0.2, 0.01]
        position = [0, 0, -0.5]
        [[revolute]]
        name = 'pin'
        bodies = ['ground', 'rod']
        point = [0, 0, 0]
        axis = [0, 1, 0]
        [[sensor]]
        name = 'own'
        of = 'pin'
        quantity = 'force'
        axes = 'joint'",
    );
    let weight = 2.0 * 9.80665;
    // Newton's tolerance of 1e-10 relative.
    assert!(difference(&run, "pin.force.z", |_| weight) < 1e-8);
    assert!(difference(&run, "pin.torque.y", |_| 0.0) < 1e-8);
    // The joint's z is the world's y; the shortest turn takes the joint's y to the world's −z.
    assert!(difference(&run, "own.force.y", |_| -weight) < 1e-8);
    assert!(difference(&run, "own.force.z", |_| 0.0) < 1e-8);
}

#[test]
fn turns_are_counted_even_if_a_step_makes_more_than_half_of_one() {
    let run = simulate(&format!(
        "{NO_GRAVITY}
        [simulation]
        end-time = 6
        step = 0.15
        output-step = 0.4
        [[body]]
        name = 'rotor'
        mass = 1
        inertia = [1, 1, 1]
        angular-velocity = [0, 0, 30]
        [[revolute]]
        name = 'shaft'
        bodies = ['ground', 'rotor']
        point = [0, 0, 0]"
    ));
    // 4.5 rad per step. Newton's tolerance in 40 steps, and 180 rad at the end.
    assert!(difference(&run, "shaft.angle", |t| 30.0 * t) < 1e-8);
    assert!(difference(&run, "shaft.rate", |_| 30.0) < 1e-8);
}

#[test]
fn output_times_are_multiples_of_the_output_step_and_the_end() {
    let run = simulate(&format!("[simulation]\nend-time = 1\nstep = 0.03\noutput-step = 0.12\n{ROD_ON_PIN}"));
    let expected = [0.0, 0.12, 0.24, 0.36, 0.48, 0.6, 0.72, 0.84, 0.96, 1.0];
    assert_eq!(run.times.len(), expected.len(), "{:?}", run.times);
    // Roundings of sums of steps.
    assert!(run.times.iter().zip(expected).all(|(time, expected)| (time - expected).abs() < 1e-12));
    let run = simulate(&format!("[simulation]\nend-time = 1\nstep = 0.25\noutput-step = 0.1\n{ROD_ON_PIN}"));
    assert_eq!(run.times.len(), 11, "{:?}", run.times);
    assert_eq!(*run.times.last().unwrap(), 1.0);
}

#[test]
fn interpolated_output_agrees_with_the_steps_to_second_order() {
    // The same steps; only the output differs. Within a step a signal bends by h²/8 of its second derivative.
    // The rate of the rod is at most √28 rad/s (energy), so with z = −½ cos, m = 2 kg the second derivatives
    // are at most 14 m/s², 75 rad/s³ and a few thousand N/s².
    let steps = simulate(&format!("[simulation]\nend-time = 1\nstep = 0.01\n{ROD_ON_PIN}"));
    let between =
        simulate(&format!("[simulation]\nend-time = 1\nstep = 0.01\noutput-step = 0.005\n{ROD_ON_PIN}"));
    for (signal, tolerance) in [("rod.position.z", 2e-4), ("pin.rate", 1e-3), ("pin.force.z", 5e-2)] {
        let (coarse, fine) = (steps.signal(signal).unwrap(), between.signal(signal).unwrap());
        for row in 0..coarse.len() - 1 {
            // The ends of steps are as they are, to rounding.
            assert!((coarse[row] - fine[2 * row]).abs() < 1e-9, "{signal}");
            let middle = 0.5 * (coarse[row] + coarse[row + 1]);
            assert!(
                (fine[2 * row + 1] - middle).abs() < tolerance,
                "{signal} at {}",
                between.times[2 * row + 1]
            );
        }
    }
}

#[test]
fn energy_is_kept_in_balance() {
    // With ρ∞ = 1 and index2 the error of the energy is bounded and falls with h².
    let balance = |step: f64| {
        let settings =
            format!("[simulation]\nend-time = 2\nstep = {step}\nspectral-radius = 1\n{ROD_ON_PIN}");
        difference(&simulate(&settings), "energy.balance", |_| 0.0)
    };
    let (coarse, fine) = (balance(0.01), balance(0.005));
    // Of 10 J, with (ωh)² = 2.8e-3.
    assert!(coarse < 1e-2 && (3.0..5.0).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}

#[test]
fn the_first_record_shows_the_velocity_that_the_user_gave() {
    // `index3` starts from a perturbed velocity, which is not shown.
    let run = simulate(&format!(
        "[simulation]\nend-time = 0.1\nstep = 0.01\nmethod = 'index3'\nspectral-radius = 0.9\n{}
        [[sensor]]\nof = 'rod'\nquantity = 'velocity'",
        ROD_ON_PIN.replace(
            "position = [0.5, 0, 0]",
            "position = [0.5, 0, 0]\nvelocity = [0, 0, -1]\nangular-velocity = [0, 2, 0]"
        )
    ));
    assert_eq!(run.signal("rod.velocity.z").unwrap()[0], -1.0);
    // Rounding: the model's velocities fit its joint exactly.
    assert!(run.signal("constraint.velocity").unwrap()[0] < 1e-14);
}

#[test]
fn many_bodies_are_not_recorded_one_by_one() {
    let text = "[simulation]\nend-time = 0.001\n[[body]]\nrepeat = 51\nmass = 1\ninertia = [1, 1, 1]\n";
    let machine = Machine::from_text("test.toml", text).unwrap();
    assert!(
        machine
            .channels()
            .iter()
            .all(|it| ["energy", "constraint", "solver"].iter().any(|whole| it.name.starts_with(whole)))
    );
    assert!(machine.assumptions().iter().any(|assumption| assumption.contains("50 bodies")));
}

#[test]
fn the_usual_sensors_can_be_left_out() {
    let text = format!(
        "[simulation]\nend-time = 0.1\ndefault-sensors = false\n{ROD_ON_PIN}\n[[sensor]]\nof = 'pin'\nquantity = 'angle'\n"
    );
    let machine = Machine::from_text("test.toml", &text).unwrap();
    assert_eq!(machine.channels().iter().map(ToString::to_string).collect::<Vec<_>>(), ["pin.angle [rad]"]);
}

/// A pendulum of length and mass one in the plane, pushed along x from a certain time on.
struct Pushed;

/// A third of a step after the grid with 128 steps, and with 512.
const CORNER: f64 = (60.0 + 1.0 / 3.0) / 128.0;
const PUSH: f64 = 5.0;
const GRAVITY: f64 = 9.81;

impl Dae for Pushed {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(2)).with_constraints([1])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let (q, a, lambda) = (at.configuration, at.acceleration, at.multipliers[0]);
        let push = if at.time >= CORNER { PUSH } else { 0.0 };
        out.equilibrium.copy_from_slice(&[a[0] - push + q[0] * lambda, a[1] + GRAVITY + q[1] * lambda]);
        out.violation[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        out.values_mut().copy_from_slice(at.configuration);
    }
}

/// Angle from the vertical and its rate by the classical Runge–Kutta method, with a step at the corner.
fn reference(end: f64) -> [f64; 2] {
    let mut state = [0.3, 0.0];
    for (from, to, push) in [(0.0, CORNER.min(end), 0.0), (CORNER, end, PUSH)] {
        let count = 20_000;
        let h = (to - from).max(0.0) / f64::from(count);
        let rate = |[angle, rate]: [f64; 2]| [rate, push * angle.cos() - GRAVITY * angle.sin()];
        let moved = |[a, b]: [f64; 2], [c, d]: [f64; 2], h: f64| [a + h * c, b + h * d];
        for _ in 0..count {
            let k1 = rate(state);
            let k2 = rate(moved(state, k1, 0.5 * h));
            let k3 = rate(moved(state, k2, 0.5 * h));
            let k4 = rate(moved(state, k3, h));
            state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
    }
    state
}

/// Errors of position and multiplier one step after the corner and at the end, with a restart at the corner.
fn errors(method: Method, steps: u32) -> [f64; 4] {
    let settings = Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), 1.0 / f64::from(steps));
    let (sin, cos) = 0.3_f64.sin_cos();
    let initial = Initial::new(0.0, [sin, -cos], [0.0, 0.0]);
    let mut run = Integrator::with(settings).start(&Pushed, initial).unwrap();
    run.run_to_corner(CORNER, &mut ()).unwrap();
    assert_eq!(run.values().time, CORNER);
    run.restart().unwrap();
    let error = |state: &kreisel::dae::Values| {
        let [angle, rate] = reference(state.time);
        let (sin, cos) = angle.sin_cos();
        let q = &state.configuration;
        // λ = q·f + |v|², from the acceleration along the rod.
        let lambda = PUSH * sin + GRAVITY * cos + rate * rate;
        [(q[0] - sin).hypot(q[1] + cos), (state.multipliers[0] - lambda).abs()]
    };
    run.step().unwrap();
    let [first, first_lambda] = error(run.values());
    run.advance(1.0).unwrap();
    let [last, last_lambda] = error(run.values());
    [first, first_lambda, last, last_lambda]
}

#[test]
fn after_a_restart_at_a_jump_of_the_force_position_and_multiplier_stay_of_second_order() {
    for method in [INDEX3, INDEX2] {
        let (coarse, fine) = (errors(method, 128), errors(method, 512));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = (coarse / fine).log2() / 2.0;
            // Errors that happen to be smaller than second order asks for are welcome.
            assert!(order > 1.8, "{method:?}: {coarse:e} {fine:e} order {order}");
        }
    }
}
