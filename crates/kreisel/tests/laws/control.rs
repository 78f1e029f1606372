//! States, blocks and controllers of the model file, and the models that use them.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use std::path::Path;

use kreisel::dae::{Dae, Values};
use kreisel::integrate::{
    BDF2, ErrorControl, INDEX2, INDEX3, Integrator, Method, Parameters, SOI2, Settings,
};
use kreisel::machine::Machine;
use kreisel::modes;
use kreisel::run::About;
use kreisel_papers::problem::ode;
use nalgebra::Complex;

fn machine(name: &str) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    Machine::read(&path, &[]).map_err(|errors| errors.render(false)).unwrap()
}

fn from_text(text: &str) -> Result<Machine, String> {
    Machine::from_text("model.toml", text).map_err(|errors| errors.render(false))
}

fn state(machine: &Machine, at: &Values, name: &str) -> f64 {
    let index = (0..machine.system().state_count()).find(|&i| machine.system().state_name(i) == name);
    at.internal_states[index.unwrap()]
}

fn settings(method: Method, step: f64) -> Settings {
    Settings::new(method, Parameters::chung_hulbert(0.8).unwrap(), step).with_newton_tolerances(1e-12, 1e-14)
}

/// Steps of one size h, or 2h/3 and 4h/3 in turns.
fn steps(count: u32, end: f64, alternating: bool) -> Vec<f64> {
    let h = end / f64::from(count);
    let size = |n: u32| if alternating { [2.0 / 3.0, 4.0 / 3.0][n as usize % 2] * h } else { h };
    (0..count).map(size).collect()
}

/// The planar slider-crank with motor and controller of `models/dc-motor-crank.toml`, in the crank's angle.
mod crank {
    pub const CRANK: f64 = 0.1;
    pub const ROD: f64 = 0.3;
    const MASSES: [f64; 3] = [0.8, 0.5, 0.6];
    const INERTIAS: [f64; 2] = [1e-3, 4e-3];
    const SPEED: f64 = 4.0 * std::f64::consts::PI;
    const FILTER: f64 = 0.02;
    const K: f64 = 0.35;

    /// Positions of the rod's centre (x, y) and the slider, the rod's angle, and their first and second
    /// derivatives by the crank's angle.
    fn kinematics(theta: f64) -> [[f64; 4]; 3] {
        let (sin, cos) = theta.sin_cos();
        let ratio = CRANK / ROD;
        // sin φ = −ratio sin θ.
        let phi = (-ratio * sin).asin();
        let first = -ratio * cos / phi.cos();
        let second = (ratio * sin + first * first * phi.sin()) / phi.cos();
        let slider = [
            CRANK * cos + ROD * phi.cos(),
            -CRANK * sin - ROD * phi.sin() * first,
            -CRANK * cos - ROD * (phi.cos() * first * first + phi.sin() * second),
        ];
        let centre_x = [
            CRANK * cos + 0.5 * ROD * phi.cos(),
            -CRANK * sin - 0.5 * ROD * phi.sin() * first,
            -CRANK * cos - 0.5 * ROD * (phi.cos() * first * first + phi.sin() * second),
        ];
        // The slider stays on the line y = 0, so the centre is half as high as the pin.
        let centre_y = [0.5 * CRANK * sin, 0.5 * CRANK * cos, -0.5 * CRANK * sin];
        std::array::from_fn(|i| [centre_x[i], centre_y[i], slider[i], [phi, first, second][i]])
    }

    /// Voltage of the controller: 1.5 e + 6 ∫e + 0.02 (e − f)/T.
    pub fn voltage(y: &[f64; 5]) -> f64 {
        let error = SPEED - y[1];
        1.5 * error + 6.0 * y[2] + 0.02 * (error - y[3]) / FILTER
    }

    /// Rates of angle, speed, ∫e, filtered error and current.
    pub fn rate(y: &[f64; 5]) -> [f64; 5] {
        let [theta, omega, _, filtered, current] = *y;
        let [_, first, second] = kinematics(theta);
        let [crank, rod, slider] = MASSES;
        let sum = |a: [f64; 4], b: [f64; 4]| {
            rod * (a[0] * b[0] + a[1] * b[1]) + slider * a[2] * b[2] + INERTIAS[1] * a[3] * b[3]
        };
        let inertia = INERTIAS[0] + crank * 0.25 * CRANK * CRANK + sum(first, first);
        let torque = K * current - 0.02 * omega - sum(first, second) * omega * omega;
        let error = SPEED - omega;
        let current_rate = (voltage(y) - 0.8 * current - K * omega) / 4e-3;
        [omega, torque / inertia, error, (error - filtered) / FILTER, current_rate]
    }

    /// Force of the guide on the slider, across its line: balance of the rod's moments about its centre.
    pub fn guide_force(y: &[f64; 5]) -> f64 {
        let (omega, alpha) = (y[1], rate(y)[1]);
        let [position, first, second] = kinematics(y[0]);
        let acceleration: [f64; 4] = std::array::from_fn(|i| first[i] * alpha + second[i] * omega * omega);
        let [ax, ay, slider, turn] = acceleration;
        let (dx, dy) = (0.5 * ROD * position[3].cos(), 0.5 * ROD * position[3].sin());
        let across = (INERTIAS[1] * turn - dy * (2.0 * MASSES[2] * slider + MASSES[1] * ax)) / dx;
        0.5 * (across + MASSES[1] * ay)
    }
}

/// Angle, speed, guide force, ∫e, filtered error, current and voltage.
fn crank_values(machine: &Machine, at: &Values) -> [f64; 7] {
    // The crank lies along x at the start.
    let q = &at.configuration;
    let angle = 2.0 * q[3].atan2(q[0]);
    let joint = machine.frames().joints().iter().find(|joint| joint.name == "guide").unwrap().index;
    let point = at.point();
    let names = ["controller.integral", "controller.filtered-error", "current.value", "controller.output"];
    let [integral, filtered, current, voltage] = names.map(|name| state(machine, at, name));
    [angle, at.velocity[2], machine.system().reaction(joint, &point)[4], integral, filtered, current, voltage]
}

#[test]
fn the_motor_driven_crank_follows_its_reduced_equations_with_order_two() {
    let machine = machine("dc-motor-crank.toml");
    let end = 0.3;
    // At four times, so that no error is small by chance.
    let mut y = [0.0; 5];
    let exact = [1.0, 2.0, 3.0, 4.0].map(|quarter| {
        // Some ten steps of order 16 in the fastest time constant, which is 5 ms.
        ode::integrate(
            |_, y| crank::rate(y),
            0.25 * (quarter - 1.0) * end,
            0.25 * quarter * end,
            150,
            &mut y,
        );
        [y[0], y[1], crank::guide_force(&y), y[2], y[3], y[4], crank::voltage(&y)]
    });
    let methods = [INDEX3, INDEX2, SOI2, BDF2];
    for (method, alternating) in methods.into_iter().flat_map(|method| [(method, false), (method, true)]) {
        // With `bdf2` the third-order terms of the angle's error are still larger than those of second order.
        let (counts, excess) = if method == BDF2 { ([1200, 2400], 0.8) } else { ([600, 1200], 0.25) };
        let errors = counts.map(|count| {
            let steps = steps(count, end, alternating);
            let mut run = Integrator::with(settings(method, steps[0]))
                .start(machine.system(), machine.initial().clone())
                .unwrap();
            let turn = |difference: f64| (difference / std::f64::consts::TAU).round() * std::f64::consts::TAU;
            let mut largest = [0.0_f64; 7];
            for (quarter, exact) in steps.chunks(steps.len() / 4).zip(&exact) {
                quarter.iter().for_each(|&step| _ = run.step_by(step).unwrap());
                let found = crank_values(&machine, run.values());
                for (i, largest) in largest.iter_mut().enumerate() {
                    let difference = found[i] - exact[i];
                    let error = if i == 0 { difference - turn(difference) } else { difference };
                    *largest = largest.max(error.abs() / exact[i].abs().max(0.1));
                }
            }
            largest
        });
        for (i, (coarse, fine)) in errors[0].iter().zip(errors[1]).enumerate() {
            let order = (coarse / fine).log2();
            let case = format!("{method:?}, alternating {alternating}, value {i}");
            assert!((1.75..2.0 + excess).contains(&order), "{case}: order {order}, {errors:?}");
            // (h/T)²/12 with h = 0.25 ms and the fastest time constant of 5 ms.
            assert!(fine < 2e-4, "{case}: {fine}");
        }
    }
}

/// Quarter car of `models/active-suspension.toml`: heights and speeds of body and wheel, the filter's states,
/// the force.
fn suspension_rate(t: f64, y: &[f64; 7]) -> [f64; 7] {
    let [body, wheel, body_speed, wheel_speed, x1, x2, force] = *y;
    let corner = 60.0_f64;
    let strut = 16_000.0 * (body - wheel) + 1000.0 * (body_speed - wheel_speed) - force;
    let tyre = 190_000.0 * (0.02 * (8.0 * t).sin().powi(2) - wheel);
    [
        body_speed,
        wheel_speed,
        -strut / 300.0,
        (strut + tyre) / 40.0,
        -1.4 * corner * x1 - corner * corner * x2 + body_speed,
        x1,
        (-3000.0 * corner * corner * x2 - force) / 0.01,
    ]
}

#[test]
fn the_active_suspension_follows_its_linear_equations() {
    let machine = machine("active-suspension.toml");
    let end = 0.5;
    let mut y = [0.0; 7];
    ode::integrate(suspension_rate, 0.0, end, 500, &mut y);
    let exact = [y[0], y[1], y[2], y[3], 3600.0 * y[5], y[6]];
    let found = |at: &Values| {
        let height = |node: usize| at.configuration[7 * node + 6];
        let velocity = |node: usize| at.velocity[6 * node + 5];
        [
            height(0) - 0.5,
            height(1),
            velocity(0),
            velocity(1),
            state(&machine, at, "speedometer.output"),
            state(&machine, at, "actuator.value"),
        ]
    };
    let scales = [0.01, 0.01, 0.1, 0.1, 0.1, 100.0];
    let methods = [INDEX2, INDEX3, BDF2];
    for (method, alternating) in methods.into_iter().flat_map(|method| [(method, false), (method, true)]) {
        let errors = [500, 1000].map(|count| {
            let steps = steps(count, end, alternating);
            let settings = settings(method, steps[0]);
            let mut run =
                Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
            steps.iter().for_each(|&step| _ = run.step_by(step).unwrap());
            let found = found(run.values());
            std::array::from_fn::<f64, 6, _>(|i| (found[i] - exact[i]).abs() / scales[i])
        });
        for (i, (coarse, fine)) in errors[0].iter().zip(errors[1]).enumerate() {
            let order = (coarse / fine).log2();
            let case = format!("{method:?}, alternating {alternating}, value {i}");
            // Linear equations: terms of third order are a few percent at ωh = 0.04 of the wheel.
            assert!((order - 2.0).abs() < 0.1, "{case}: order {order}, {errors:?}");
            // A few times (ωh)²/12 = 1e-4 of values of about their scales.
            assert!(fine < 3e-4, "{case}: {errors:?}");
        }
    }
    // Steps that the error decides on, states included.
    let control = ErrorControl::new(1e-4, end);
    let settings = Settings::auto(INDEX2, Parameters::chung_hulbert(0.8).unwrap(), control);
    let mut run = Integrator::with(settings).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(end).unwrap();
    let worst = found(run.values())
        .iter()
        .zip(exact)
        .zip(scales)
        .fold(0.0_f64, |worst, ((found, exact), scale)| worst.max((found - exact).abs() / scale));
    // A tolerance of 1e-4 of a machine of half a metre, in units of a centimetre.
    assert!(worst < 1e-2, "{worst}");
}

const BALL: &str = "
    [gravity]
    acceleration = [0, 0, 0]
    [[body]]
    name = 'ball'
    mass = 1
    inertia = [1, 1, 1]
    position = [0, 0, 0]
    velocity = [1, 0, 0]
";

/// Error of functions of size and rate one in [`after_a_second`]: a few times h²/12 = 8e-8.
const STEP_ERROR: f64 = 3e-7;

/// The value of a signal's state after a second in steps of 1 ms.
fn after_a_second(parts: &str, name: &str) -> f64 {
    let machine = from_text(&format!("{BALL}{parts}")).unwrap();
    let mut run =
        Integrator::with(settings(INDEX2, 1e-3)).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(1.0).unwrap();
    state(&machine, run.values(), name)
}

#[test]
fn blocks_answer_as_their_closed_forms_say() {
    // A step into 2/(s² + 3 s + 2): 1 − 2 e^(−t) + e^(−2t).
    let second = "[[transfer-function]]\nname = 'lag'\ninput = 1\nnumerator = [2]\ndenominator = [1, 3, 2]\n";
    let e = (-1.0_f64).exp();
    assert!((after_a_second(second, "lag.output") - (1.0 - 2.0 * e + e * e)).abs() < STEP_ERROR);
    // As many zeros as poles: (2 s + 6)/(2 s + 2) = 1 + 2/(s + 1) answers a step with 1 + 2 (1 − e^(−t)).
    let lead = "[[transfer-function]]\nname = 'lead'\ninput = 1\nnumerator = [2, 6]\ndenominator = [2, 2]\n";
    assert!((after_a_second(lead, "lead.output") - (3.0 - 2.0 * e)).abs() < STEP_ERROR);
    // The same block in state space, with the ball's position as input: x = t, so y = x + 2 (t − 1 + e^(−t)).
    let space =
        "[[state-space]]\nname = 'space'\ninput = 'ball.position.x'\na = [-1]\nb = [1]\nc = [2]\nd = [1]\n";
    assert!((after_a_second(space, "space.output") - (1.0 + 2.0 * e)).abs() < STEP_ERROR);
    // Two inputs u = (t, 2) and two outputs: ẋ₁ = −x₁ + 5, ẋ₂ = −2 x₂ + 3 t.
    let several = "[[state-space]]\nname = 'mixer'\ninputs = ['ball.position.x', 2]\na = [-1, 0, 0, -2]\n\
                   b = [0, 2.5, 3, 0]\nc = [1, 1, 1, -1]\nd = [0, 1, 4, 0]\n";
    // x₁ = 5 (1 − e^(−t)), x₂ = 3 (t/2 − 1/4 + e^(−2t)/4); y₁ = x₁ + x₂ + 2, y₂ = x₁ − x₂ + 4 t.
    let (first, second) = (5.0 * (1.0 - e), 3.0 * (0.25 + 0.25 * e * e));
    assert!((after_a_second(several, "mixer.output-1") - (first + second + 2.0)).abs() < 5.0 * STEP_ERROR);
    assert!((after_a_second(several, "mixer.output-2") - (first - second + 4.0)).abs() < 5.0 * STEP_ERROR);
    // ∫ t dt = 1/2 and the filtered rate 1 − e^(−t/T) of e = t, T = 0.1: u = 2 t + 3 t²/2 + 5 (1 − e^(−10)).
    let pid = "[[pid]]\nname = 'pid'\nerror = 'ball.position.x'\nproportional = 2\nintegral = 3\nderivative = 5\nfilter-time = 0.1\n";
    let exact = 2.0 + 1.5 + 5.0 * (1.0 - (-10.0_f64).exp());
    assert!((after_a_second(pid, "pid.output") - exact).abs() < STEP_ERROR);
    // s + s³ = x has the root 0.6823278038280193 at x = 1. It is solved for to Newton's tolerance, not
    // integrated.
    let cubic = "[[algebraic]]\nname = 's'\nzero-of = 's.value + s.value^3 - ball.position.x'\n";
    assert!((after_a_second(cubic, "s.value") - 0.682_327_803_828_019_3).abs() < 1e-12);
}

#[test]
fn states_may_use_each_other_in_any_order() {
    // ẋ = y, ẏ = −x with y(0) = 1: x = sin t.
    let parts = "
        [[state]]
        name = 'x'
        rate = 'y.value'
        [[state]]
        name = 'y'
        initial = 1
        rate = '-x.value'
    ";
    assert!((after_a_second(parts, "x.value") - 1.0_f64.sin()).abs() < STEP_ERROR);
}

fn mistake(parts: &str) -> String {
    from_text(&format!("{BALL}{parts}")).map(|_| ()).unwrap_err()
}

#[test]
fn mistakes_are_told_with_their_line() {
    let zeros = mistake(
        "[[transfer-function]]\nname = 'f'\ninput = 1\nnumerator = [1, 0, 0]\ndenominator = [1, 2]\n",
    );
    assert!(zeros.contains("no more zeros than poles") && zeros.contains("numerator = [1, 0, 0]"), "{zeros}");
    let undetermined = mistake("[[algebraic]]\nname = 's'\nzero-of = 'ball.position.x'\n");
    assert!(undetermined.contains("unique solution") && undetermined.contains("guess"), "{undetermined}");
    let flat = mistake("[[algebraic]]\nname = 's'\nzero-of = 's.value^2 - 4'\n");
    assert!(flat.contains("unique solution"), "{flat}");
    let twice = mistake("[[state]]\nname = 'ball'\nrate = 1\n");
    assert!(twice.contains("ball"), "{twice}");
    let sensor = "[[sensor]]\nname = 'speed'\nof = 'ball'\nquantity = 'velocity'\n[[state]]\nname = 'speed'\nrate = 1\n";
    assert!(mistake(sensor).contains("speed"), "{}", mistake(sensor));
    let unknown = mistake("[[state]]\nname = 'x'\nrate = 'y.value'\n");
    assert!(unknown.contains("y.value"), "{unknown}");
    let pid = mistake("[[pid]]\nname = 'c'\nerror = '1 - ball.position.x'\nderivative = 1\n");
    assert!(pid.contains("filter-time"), "{pid}");
    let size = mistake("[[state-space]]\nname = 'c'\ninput = 1\na = [1, 2]\nb = [1, 2]\nc = [1, 2]\n");
    assert!(size.contains("a square matrix") && size.contains("a = [1, 2]"), "{size}");
    let rows =
        mistake("[[state-space]]\nname = 'c'\ninputs = [1, 2]\na = [1, 2, 3, 4]\nb = [1, 2]\nc = [1, 2]\n");
    assert!(rows.contains("4 numbers, 2 × 2") && rows.contains("b = [1, 2]"), "{rows}");
    // A gain without states: rounding.
    let gain = "[[state-space]]\nname = 'g'\ninput = 3\na = []\nb = []\nc = []\nd = [2]\n";
    assert!((after_a_second(gain, "g.output") - 6.0).abs() < 1e-12);
    let none = mistake("[[state-space]]\nname = 'c'\na = [1]\nb = [1]\nc = [1]\n");
    assert!(none.contains("`input`, `inputs`"), "{none}");
    let drive = mistake(
        "[[state]]\nname = 'x'\nrate = 1\n[[prismatic]]\nname = 'rail'\nbodies = ['ground', 'ball']\naxis = [1, 0, 0]\n\
         [[drive]]\nname = 'pull'\njoint = 'rail'\ndisplacement = '0.1*x.value'\n",
    );
    let said = ["x.value", "a law of `t` alone", "joint-force", "displacement = '0.1*x.value'"];
    assert!(said.iter().all(|words| drive.contains(words)), "{drive}");
}

#[test]
fn states_are_recorded_and_the_sparse_solver_carries_them() {
    // Enough bodies for sparse factors, each with a damper by a state of its own.
    let text = "
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'ball-{i}'
        repeat = 12
        mass = 1
        inertia = [1, 1, 1]
        position = ['i', 0, 0]
        velocity = [1, 0, 0]
        [[state]]
        name = 'lag-{i}'
        repeat = 12
        rate = 'ball-{i}.velocity.x - lag-{i}.value'
        [[force]]
        name = 'drag-{i}'
        repeat = 12
        body = 'ball-{i}'
        force = ['-lag-{i}.value', 0, 0]
    ";
    let machine = from_text(text).unwrap();
    assert!(machine.signals().recorded().iter().any(|sensor| sensor.name == "lag-3.value"));
    assert_eq!(machine.system().shape().state_count(), 12);
    let mut run =
        Integrator::with(settings(INDEX2, 1e-3)).start(machine.system(), machine.initial().clone()).unwrap();
    run.advance(1.0).unwrap();
    // v̇ = −c, ċ = v − c: v'' + v' + v = 0 with v(0) = 1, v'(0) = 0.
    let w = 0.75_f64.sqrt();
    let exact = (-0.5_f64).exp() * (w.cos() + 0.5 / w * w.sin());
    assert!((run.values().velocity[3] - exact).abs() < STEP_ERROR);
    assert!((run.values().velocity[6 * 11 + 3] - exact).abs() < STEP_ERROR);
}

#[test]
fn the_scaling_of_forces_can_be_set_and_changes_no_result() {
    let motion = |simulation: &str| {
        let machine =
            from_text(&format!("[simulation]\nend-time = 1\nstep = 0.1\n{simulation}\n{BALL}")).unwrap();
        let plan = machine.settings().plan().unwrap();
        let scales = (plan.integration.mass_scale(), plan.integration.stiffness_scale());
        (scales, machine.simulate().unwrap().signal("ball.position.x").unwrap().to_vec())
    };
    let (usual, expected) = motion("");
    let (given, found) = motion("mass-scale = 5\nstiffness-scale = '20 N/m'");
    assert_eq!((usual, given), ((None, None), (Some(5.0), Some(20.0))));
    // Scales change roundings and nothing else.
    assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-12));
    // m = 0 is a scaling that does not know the step [BottassoBauchauCardona2007, §5].
    let (given, found) = motion("mass-scale = 0\nstiffness-scale = '1 kN/m'");
    assert_eq!(given, (Some(0.0), Some(1000.0)));
    assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn a_scaling_without_size_is_refused() {
    let simulation = |keys: &str| format!("[simulation]\nend-time = 1\nstep = 0.1\n{keys}\n{BALL}");
    let message = from_text(&simulation("mass-scale = 0\nstiffness-scale = 0")).err().unwrap();
    assert!(message.contains("positive where `stiffness-scale` is zero"), "{message}");
    let message = from_text(&simulation("mass-scale = -1")).err().unwrap();
    assert!(message.contains("not negative"), "{message}");
    // Nothing is stiff in a ball alone, so that k is zero where it is left out.
    let machine = from_text(&simulation("mass-scale = 0")).unwrap();
    let message = machine.simulate().err().unwrap().to_string();
    assert!(message.contains("one must be positive"), "{message}");
}

#[test]
fn an_event_may_change_what_a_controller_aims_at() {
    // ċ = goal − c, with the goal at 1 until c = 0.5 and at 0 from then on.
    let text = format!(
        "[parameters]\ngoal = 1\n[simulation]\nend-time = 2\nstep = 0.01\n{BALL}
        [[state]]\nname = 'c'\nrate = 'goal - c.value'
        [[event]]\nname = 'turn'\nzero-of = 'c.value - 0.5'\ndirection = 'rising'\nset = {{ goal = 0 }}"
    );
    let machine = from_text(&text).unwrap();
    let trajectory = machine.simulate().unwrap();
    let last = *trajectory.signal("c.value").unwrap().last().unwrap();
    // It rises for ln 2 and falls from 1/2 for the rest.
    let exact = 0.5 * (2.0_f64.ln() - 2.0).exp();
    // h²/12 = 8e-6 of a function below one.
    assert!((last - exact).abs() < 1e-5, "{last} {exact}");
}

/// A spring along x and one that turns the ball about z.
const SPRINGS: &str = "
    [[bushing]]
    name = 'spring'
    bodies = ['ground', 'ball']
    point = [0, 0, 0]
    translational-stiffness = [800, 0, 0]
    rotational-stiffness = [0, 0, 200]
    [[body]]
    name = 'weight'
    mass = 3
    inertia = [1, 1, 1]
    position = [0, 2, 0]
    markers = [{ name = 'tip', position = [0, 2, 0] }]
";

#[test]
fn the_scaling_of_forces_is_the_mean_mass_and_stiffness_of_the_machine() {
    let machine = from_text(&format!("{BALL}{SPRINGS}")).unwrap();
    let scales = machine.system().scales();
    // Twelve coordinates; the length is that of the marker's arm, at which a torque of 200 Nm/rad is 50 N/m.
    assert_eq!((scales.length, scales.mass), (2.0, 2.0));
    // Rounding of a sum.
    assert!((scales.stiffness - (800.0 + 50.0) / 12.0).abs() < 1e-12, "{scales:?}");
    // Nothing is stiff in a ball alone.
    assert_eq!(from_text(BALL).unwrap().system().scales().stiffness, 0.0);
}

#[test]
fn a_controlled_slider_has_the_modes_of_its_characteristic_polynomial() {
    let text = "
        [gravity]
        acceleration = [0, 0, 0]
        [[body]]
        name = 'slider'
        mass = 2
        inertia = [1, 1, 1]
        [[prismatic]]
        name = 'rail'
        bodies = ['ground', 'slider']
        axis = [1, 0, 0]
        [[pid]]
        name = 'controller'
        error = '-rail.displacement'
        proportional = 50
        integral = 30
        derivative = 4
        filter-time = 0.05
        [[joint-force]]
        name = 'motor'
        joint = 'rail'
        force = 'controller.output'
    ";
    let machine = from_text(text).unwrap();
    let found = machine.modes(About::Initial, modes::ModeSettings::default()).unwrap();
    // m s³ (1 + T s) + p s (1 + T s) + i (1 + T s) + d s² = 0.
    let polynomial = |s: Complex<f64>| {
        let filter = 1.0 + 0.05 * s;
        (2.0 * s * s * s + 50.0 * s + 30.0) * filter + 4.0 * s * s
    };
    let slope = |s: Complex<f64>| {
        let filter = 1.0 + 0.05 * s;
        (6.0 * s * s + 50.0) * filter + 0.05 * (2.0 * s * s * s + 50.0 * s + 30.0) + 8.0 * s
    };
    // Four roots: the slow one of the integral, a pair, and the filter.
    assert_eq!((found.modes.len(), found.overdamped.len()), (1, 2));
    for mode in found.modes.iter().chain(&found.overdamped) {
        let s = mode.eigenvalue;
        let error = (polynomial(s) / slope(s)).norm();
        // Rounding: the eigenvalues of a matrix of four rows are well apart.
        assert!(error < 1e-12 * s.norm(), "{s}: {error:e}");
    }
    // The same system of first order, with its states named.
    let space = found.linearized.state_space().unwrap().unwrap();
    assert_eq!(space.state.nrows(), 4);
    let trace: f64 = (found.modes.iter().chain(&found.overdamped))
        .map(|mode| mode.eigenvalue.re * if mode.eigenvalue.im > 0.0 { 2.0 } else { 1.0 })
        .sum();
    assert!((space.state.trace() - trace).abs() < 1e-12 * trace.abs());
    // A force of 1 N accelerates 2 kg, to rounding.
    assert!((space.input.row(1).amax() - 0.5).abs() < 1e-12);
}

#[test]
fn a_model_may_ask_for_bdf2_with_its_form_and_scaling() {
    // A ball on a spring that is let go by an event; states, sensors and events as with other methods.
    let run = |simulation: &str| {
        let text = format!(
            "[parameters]\ngoal = 1\n[simulation]\nend-time = 2\n{simulation}\n{BALL}
            [[state]]\nname = 'c'\nrate = 'goal - c.value'
            [[event]]\nname = 'turn'\nzero-of = 'c.value - 0.5'\ndirection = 'rising'\nset = {{ goal = 0 }}"
        );
        let machine = from_text(&text).unwrap();
        let trajectory = machine.simulate().unwrap();
        *trajectory.signal("c.value").unwrap().last().unwrap()
    };
    let exact = 0.5 * (2.0_f64.ln() - 2.0).exp();
    let step = "step = 0.005";
    let auto = "step = 'auto'\nrtol = 1e-6";
    for words in
        [step.to_string(), format!("{step}\nform = 'three-field'\nscaling = 'left'"), auto.to_string()]
    {
        let words = format!("method = 'bdf2'\n{words}");
        let found = run(&words);
        // h²/3 = 8e-6 of a function below one, or the tolerance of 1e-6.
        assert!((found - exact).abs() < 1e-5, "{words}: {found} {exact}");
    }
    let wrong =
        from_text(&format!("[simulation]\nend-time = 1\nscaling = 'right'\n{BALL}")).map(|_| ()).unwrap_err();
    assert!(wrong.contains("left-right-velocities") && wrong.contains("scaling = 'right'"), "{wrong}");
}
